# SPDX-License-Identifier: GPL-2.0-only
"""Programs, the driver and the kernel log of the host VM with the emulated GPU."""

import glob
import os
import re
import subprocess
import sys
import time

TREE = os.environ["GHYVI_TREE"]
OUT = os.environ["GHYVI_OUT"]
sys.path.insert(0, f"{TREE}/selftests/lab")
import hostlib  # noqa: E402
import ktap  # noqa: E402
import opencllib  # noqa: E402
import patience  # noqa: E402

IGT = "/usr/libexec/igt-gpu-tools/benchmarks"
ENGINES = ("rcs", "bcs", "vcs", "vecs")
GPU = "/sys/bus/pci/devices/0000:00:02.0"
PROGRAM_S = 150  # the limit of one program
OPENCL_S = 1200
# What the drivers print when something is wrong. A test that provokes a reset takes these lines
# out of the log itself.
DEFECTS = re.compile(r"WARNING: |\*ERROR\*|GPU HANG|Resetting |BUG: |Call Trace|timed out|time-out|wedged|Oops|"
                     r"soft lockup|blocked for more than|Fence expiration", re.I)


class Problem(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Problem(text)


def run(*command, timeout=PROGRAM_S, status=0):
    """Runs a program; returns its output."""
    try:
        done = patience.run(command, timeout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                            cwd="/")
    except subprocess.TimeoutExpired as late:
        raise Problem(f"{' '.join(command)}: no end after {timeout} s") from late
    ktap.progress()
    require(done.returncode == status,
            f"{' '.join(command)}: status {done.returncode}, not {status}\n{done.stdout[-1500:]}")
    return done.stdout


def take_log():
    return subprocess.run(["dmesg", "-c"], stdout=subprocess.PIPE, text=True, errors="replace").stdout.splitlines()


def require_no_defect(log, known=()):
    """Fails if the log has a line of DEFECTS, except those that contain one of @known."""
    defects = [line for line in log if DEFECTS.search(line) and not any(text in line for text in known)]
    require(not defects, "\n".join(defects[:20]))


def loaded():
    return os.path.isdir("/sys/module/i915")


def load(*parameters):
    if not loaded():
        run("modprobe", "i915", *parameters)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def begin_opencl(disk=None):
    """The runtime of a disk for guests, on this machine's i915."""
    for path in glob.glob("/sys/class/drm/card0/engine/*/heartbeat_interval_ms"):
        write(path, str(hostlib.PATIENT_HEARTBEAT_MS))
    run("modprobe", "-a", "loop", "erofs")
    run("sh", "-c", opencllib.mount_command(disk or opencllib.opencl()[0]))


def interrupts():
    with open("/proc/interrupts") as file:
        return sum(int(line.split()[1]) for line in file if "i915" in line)


def debugfs():
    return os.path.dirname(glob.glob("/sys/kernel/debug/dri/*/i915_wedged")[0])


def expect_log(pattern, seconds=30):
    """Waits for a line in the kernel log, and takes the log."""
    lines = []
    deadline = patience.now() + seconds
    while patience.now() < deadline:
        lines += take_log()
        if any(re.search(pattern, line) for line in lines):
            return
        time.sleep(0.5)
    raise Problem(f"no line with '{pattern}' in the log:\n" + "\n".join(lines[-10:]))
