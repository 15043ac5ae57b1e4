# SPDX-License-Identifier: GPL-2.0-only
"""Moves a guest with its vGPU from one QEMU of the host VM to another, by QMP."""

import contextlib
import glob
import json
import os
import shutil
import signal
import socket
import time

import hostlib
import patience
from hostlib import Guest, Problem, require
from ktap import Skip

UNPACKED = f"{hostlib.TREE}/build/qemu"
QEMU = os.environ.get("GHYVI_MIGRATING_QEMU", f"{UNPACKED}/usr/bin/qemu-system-x86_64")
WHY_NO_QEMU = f"{hostlib.TREE}/build/no-qemu"  # by tools/lab/fetch-qemu
MODULES = "/usr/lib/x86_64-linux-gnu/qemu"
GUESTS = "/run/ghyvi/guests"
MEMORY_MB = 512
# For many moves: QEMU reads all memory on both sides, which takes more time than what is in it.
SMALL_MB = 256
# On a busy machine, where QEMU alone takes half a minute to start.
START_S = 120
MOVE_S = 300
DOWNTIME_LIMIT_MS = 2000
# Without ghyvi's log, all pinned pages are sent while the VM is stopped.
DOWNTIME_LIMIT_PINNED_MS = 20000
ENDED = ("completed", "failed", "cancelled")
BUSY = "busy blitter"
# Commands that run until the file /tmp/end exists. i915 would report work that does not complete.
LOADS = {
    "blitcheck": "n=0; until [ -e /tmp/end ]; do n=$((n + 1)); blitcheck --seed $n --time 3 || exit 1; done",
    "gmedia": "until [ -e /tmp/end ]; do gmedia --case heavy --resolution 480p --threads 2 --frames 1000 --seconds 3 "
              "--verify || exit 1; done",
    "gem_blt": f"until [ -e /tmp/end ]; do {hostlib.IGT}/gem_blt -s 262144 -t 1000 -r 1 || exit 1; done",
    # Copies keep the blitter busy, so that most moves cut a batch in the middle; others wait behind it. gem_blt has a
    # child, and no other signal ends both.
    BUSY: f"{hostlib.IGT}/gem_blt -s 4194304 -b 4 -t 600000 -r 1 >/dev/null 2>&1 & "
          "until [ -e /tmp/end ]; do blitcheck --rounds 1 --contexts 2 || exit 1; done; kill -9 $(pidof gem_blt); true",
}


class Qmp:
    """QEMU's monitor. One client at a time: keep it open only while it is used."""

    def __init__(self, guest):
        end = patience.now() + START_S * hostlib.SLOWNESS
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(f"{GUESTS}/{guest.name}/monitor")
                break
            except OSError as problem:
                require(patience.now() < end, f"monitor of {guest.name}: {problem}")
                time.sleep(0.1)
        self.socket.settimeout(START_S * hostlib.SLOWNESS)
        self.file = self.socket.makefile("rw")
        self.file.readline()
        self.ask("qmp_capabilities")

    def close(self):
        with contextlib.suppress(OSError):  # data that QEMU did not read before it died
            self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, command, **arguments):
        """Returns the answer. Raises Problem with QEMU's text for a refusal, OSError if QEMU is gone."""
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while line := self.file.readline():
            reply = json.loads(line)
            if "error" in reply:
                raise Problem(f"{command}: {reply['error']['desc']}")
            if "return" in reply:
                return reply["return"]
        raise ConnectionResetError("QEMU has exited")


def require_qemu():
    if not os.path.exists(QEMU):
        why = "run tools/lab/fetch-qemu"
        with contextlib.suppress(FileNotFoundError), open(WHY_NO_QEMU) as file:
            why = file.read().strip()
        raise Skip(f"no QEMU that migrates VFIO devices: {why}")


@contextlib.contextmanager
def modules():
    """QEMU's modules in place of those of the installed QEMU.

    When libvirt asks for all devices, QEMU would find those, and abort."""
    hostlib.must_run("mount", "--bind", f"{UNPACKED}{MODULES}", MODULES)
    try:
        yield
    finally:
        hostlib.must_run("umount", MODULES)


def has_dirty_log():
    """Whether ghyvi logs the pages it writes (Linux 6.1). Otherwise QEMU needs enable-migration=on."""
    return os.uname().release.startswith("6.1.")


def start(name, *vgpus, arguments=(), wait=True, mem=MEMORY_MB, **options):
    flags = () if wait else ("--no-wait",)
    forced = () if has_dirty_log() else ("-global", "vfio-pci.enable-migration=on")
    return Guest(name, *vgpus, mem=mem, **options,
                 extra=("--qemu", QEMU, *flags, "--qemu-args", *forced, *arguments))


def incoming(name, *vgpus, arguments=(), mem=MEMORY_MB):
    """A QEMU that waits for an incoming migration. It need not be ready on return."""
    return start(name, *vgpus, arguments=("-incoming", "defer", *arguments), wait=False, mem=mem)


def socket_of(guest):
    return f"unix:{GUESTS}/{guest.name}/incoming"


def downtime_limit():
    return DOWNTIME_LIMIT_MS if has_dirty_log() else DOWNTIME_LIMIT_PINNED_MS


def begin(source, target, uri, limit=None):
    """Begins a migration between two QMPs, which may stop the VM for limit ms."""
    for side in (source, target):
        # The source learns that the target failed, and goes on itself.
        side.ask("migrate-set-capabilities", capabilities=[{"capability": "return-path", "state": True}])
    target.ask("migrate-incoming", uri=uri)
    source.ask("migrate-set-parameters", **{"downtime-limit": limit or downtime_limit(), "max-bandwidth": 0})
    source.ask("migrate", uri=uri)


def wait(qmp, states=ENDED):
    """Waits until a migration is in one of the states and returns QEMU's description of it."""
    end = patience.now() + MOVE_S * hostlib.SLOWNESS
    while True:
        info = qmp.ask("query-migrate")
        if info.get("status") in states:
            return info
        require(patience.now() < end, f"migration: still {info} after {MOVE_S} s")
        time.sleep(0.05)


def let_stop_after(qmp, syncs):
    """Lets a migration with a limit of 1 ms stop its VM once QEMU has read the log so many times."""
    def is_time():
        info = qmp.ask("query-migrate")
        return info.get("status") in ENDED or info.get("ram", {}).get("dirty-sync-count", 0) >= syncs

    hostlib.eventually(is_time, f"read number {syncs} of the log", MOVE_S)
    qmp.ask("migrate-set-parameters", **{"downtime-limit": downtime_limit()})


def wait_running(qmp):
    hostlib.eventually(lambda: qmp.ask("query-status")["status"] == "running", "the VM to run", MOVE_S)


def process_of(name):
    """The number of a guest's QEMU if it runs. Other processes may have got the numbers of old ones."""
    try:
        pid = int(hostlib.read(f"{GUESTS}/{name}/pid"))
        with open(f"/proc/{pid}/cmdline") as file:
            return pid if f"\0-name\0{name}\0" in file.read() else None
    except (OSError, ValueError):
        return None


def end(name):
    """Kills a guest's QEMU, without a program that would have to start first."""
    pid = process_of(name)
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        hostlib.eventually(lambda: process_of(name) is None, f"{name}: the end of QEMU", START_S)


def forget(name):
    """Deletes the files of a guest that has ended."""
    shutil.rmtree(f"{GUESTS}/{name}", ignore_errors=True)


def kill_all():
    for path in glob.glob(f"{GUESTS}/moving*"):
        end(os.path.basename(path))


def output_of(guest):
    """The output of its QEMU."""
    with contextlib.suppress(OSError):
        return hostlib.read(f"{GUESTS}/{guest.name}/qemu.log")
    return ""


def move(source, target, syncs=0):
    """Migrates a guest to a QEMU that incoming() has started. The old one exits.

    With syncs, the VM runs until QEMU has read the log so many times, unless nothing is left to send
    before. Otherwise QEMU stops it as soon as it expects to send the rest within the limit, which may
    be in the middle of the first pass.
    Returns QEMU's description of the migration."""
    try:
        with Qmp(source) as here, Qmp(target) as there:
            begin(here, there, socket_of(target), 1 if syncs else None)
            if syncs:
                let_stop_after(here, syncs)
            info = wait(here)
            require(info["status"] == "completed", f"migration: {info}")
            wait_running(there)
    except (Problem, OSError) as problem:
        text = f"{problem}\nsource: {output_of(source)[-1500:]}\ntarget: {output_of(target)[-1500:]}"
        end(target.name)
        raise Problem(text) from problem
    end(source.name)
    return info


def save(source, path):
    """Stops a guest, writes its state to a file, and ends its QEMU. Returns QEMU's description."""
    with Qmp(source) as here:
        here.ask("stop")
        here.ask("migrate-set-parameters", **{"max-bandwidth": 0})
        here.ask("migrate", uri=f"file:{path}")
        info = wait(here)
        require(info["status"] == "completed", f"writing {path}: {info}")
    source.kill()
    return info


def restore(path, name, *vgpus):
    """A guest from a file that save() wrote."""
    guest = incoming(name, *vgpus)
    with Qmp(guest) as here:
        here.ask("migrate-incoming", uri=f"file:{path}")
        wait_incoming(here)
        here.ask("cont")
        wait_running(here)
    return guest


def snapshot_disk(path):
    """QEMU's arguments for a disk that keeps the snapshots of savevm."""
    hostlib.must_run("qemu-img", "create", "-q", "-f", "qcow2", path, "16M")
    return "-drive", f"if=none,id=snapshots,format=qcow2,file={path}"


def command(guest, line):
    """Gives a command without output to QEMU's human monitor."""
    with Qmp(guest) as qmp:
        text = qmp.ask("human-monitor-command", **{"command-line": line})
    require(not text.strip(), f"{line}: {text}")


def wait_incoming(qmp):
    info = wait(qmp)
    require(info["status"] == "completed", f"incoming: {info}")


def describe(info):
    """One line about a completed migration."""
    ram, vfio = info.get("ram", {}), info.get("vfio", {})
    return f"{info['total-time']} ms, downtime {info['downtime']} ms, {ram.get('transferred', 0) >> 20} MiB, " \
        f"{vfio.get('transferred', 0)} bytes of vGPU"


class Work:
    """A command that runs in a guest while the guest moves; its output is in a file of the guest."""

    def __init__(self, guest, command):
        self.command = command
        # In a session of its own: the channel's commands end with the source's QEMU.
        guest.must_run(f"rm -f /tmp/work.* /tmp/end; setsid sh -c '({command}) >/tmp/work.out 2>&1; echo $? >/tmp/work.status' "
                       "</dev/null >/dev/null 2>&1 &")

    def running(self, guest):
        return guest.run("test -e /tmp/work.status")[0] != 0

    def finish(self, guest, timeout=120):
        """Waits for the end of the command and returns its output."""
        hostlib.eventually(lambda: not self.running(guest), self.command, timeout)
        out = guest.must_run("cat /tmp/work.out; exit $(cat /tmp/work.status)")
        return out.strip()
