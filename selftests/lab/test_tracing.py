# SPDX-License-Identifier: GPL-2.0-only
"""The scripts of tools/bpf, perf and trace-cmd record the activity of a guest's driver."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time

import fixture
import hostlib
import patience
from hostlib import must_run, require
from ktap import Skip, test

SCRIPTS = f"{hostlib.TREE}/tools/bpf"
SECOND_CPU = "/sys/devices/system/cpu/cpu1/online"
ATTACHING = "Attaching"
STABLE_S = 4
END_S = 60
EPOLL_WAIT = "232 "  # the system call's number


@contextlib.contextmanager
def one_cpu():
    """Takes the second CPU offline.

    Tracepoints are enabled by patching kernel code, and a CPU under TCG may miss that another one
    patched code (tools/lab/README.md)."""
    error = hostlib.write(SECOND_CPU, "0")
    try:
        yield
    finally:
        if not error:
            hostlib.write(SECOND_CPU, "1")


def start(script):
    """Starts bpftrace with a script and waits until its probes are attached."""
    process = subprocess.Popen(["bpftrace", f"{SCRIPTS}/{script}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    line = process.stdout.readline()
    require(ATTACHING in line, f"{script}: {line}{process.stdout.read() if process.poll() is not None else ''}")
    # bpftrace prints this line before it attaches. Each attached probe is an open file.
    files, since = 0, time.monotonic()
    while time.monotonic() - since < STABLE_S:
        now = len(os.listdir(f"/proc/{process.pid}/fd"))
        if now != files:
            files, since = now, time.monotonic()
        time.sleep(0.2)
    return process


def end(process):
    """bpftrace ends only if SIGINT interrupts its wait for events: one that comes while it handles some is lost."""
    hostlib.eventually(lambda: hostlib.read(f"/proc/{process.pid}/syscall").startswith(EPOLL_WAIT), "bpftrace's wait", END_S)
    process.send_signal(signal.SIGINT)
    return patience.communicate(process, END_S)[0]


@contextlib.contextmanager
def tracing(*names):
    """A script that stayed would keep the modules, which the tests after this one reload."""
    scripts = {}
    try:
        for name in names:
            scripts[name] = start(f"{name}.bt")
        yield scripts
    finally:
        for process in scripts.values():
            process.kill()


def value(text, name, *keys):
    """The value of @name[keys] in the output of bpftrace."""
    found = re.search(rf"@{name}\[{re.escape(', '.join(keys))}\]: (\d+)", text)
    require(found, f"no @{name}[{', '.join(keys)}] in {text[-1500:]}")
    return int(found.group(1))


@test
def bpftrace_scripts_see_a_driver_load():
    if not shutil.which("bpftrace"):
        raise Skip("no bpftrace: tools/setup")
    vgpu, guest = fixture.bare_guest("gen9")
    if not guest.run("test -d /sys/module/i915")[0]:
        guest.unload_driver()
    vgpu.set("policy/mode", "segmented")
    with one_cpu(), tracing("exits", "latency", "sync") as scripts:
        before = vgpu.stats()
        guest.load_driver()
        guest.must_run("blitcheck --rounds 1 --contexts 1")
        now = vgpu.stats()
        seen = {name: end(process) for name, process in scripts.items()}
    grew = {name: now[name] - before[name] for name in now}
    require(value(seen["sync"], "pages", vgpu.uuid, "segmented") >= grew["scans"], f"{grew}")
    require(value(seen["sync"], "entries_changed", vgpu.uuid, "segmented") >= grew["entries_changed"], f"{grew}")
    require("@sync_us" in seen["sync"], seen["sync"][-600:])
    require(f"@latency_us[{vgpu.uuid}, 0]" in seen["latency"] and f"@waited_us[{vgpu.uuid}, 0]" in seen["latency"],
            seen["latency"][-1500:])
    exits = re.findall(rf"@exits_per_s\[{vgpu.uuid}, segmented\]: (\d+)", seen["exits"])
    # bpftrace clears a map some time after it has printed it, and loses what is counted in between.
    require(sum(map(int, exits)) >= 0.9 * grew["table_write_traps"], f"{exits}, {grew}")
    require(f"[{vgpu.uuid}, relax]" in seen["exits"], seen["exits"][-600:])


@test
def perf_and_trace_cmd_record_submissions():
    for program in ("perf", "trace-cmd"):
        if not shutil.which(program):
            raise Skip(f"no {program}: tools/setup")
    vgpu, guest = fixture.guest("gen9")
    with one_cpu():
        work = guest.begin("while :; do blitcheck --rounds 1 --contexts 1 || exit 1; done")
        try:
            out = must_run("perf", "stat", "-a", "-x", ",", "-e", "ghyvi:ghyvi_submit", "-e",
                           "ghyvi:ghyvi_relax_sync", "--", "sleep", "3")
            counts = {fields[2]: int(fields[0]) for fields in (line.split(",") for line in out.splitlines()) if len(fields) > 2}
            require(counts.get("ghyvi:ghyvi_submit"), f"{out}")
            must_run("trace-cmd", "record", "-q", "-o", "/run/trace.dat", "-e", "ghyvi", "sleep", "2", timeout=120)
            report = must_run("trace-cmd", "report", "-i", "/run/trace.dat", timeout=120)
            require(re.search(rf"ghyvi_submit: +vgpu={vgpu.uuid} engine=\d lrca=0x", report), report[-800:])
        finally:
            work.kill()
            work.wait()
