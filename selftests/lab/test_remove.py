# SPDX-License-Identifier: GPL-2.0-only
"""Removing a vGPU that a running guest uses; what is said, and that no wait is for ever."""

import errno
import os
import signal
import subprocess

import fixture
import hostlib
from hostlib import require
from ktap import say, test
from test_ctl import BUSY, CTL, DONE, ctl

LAUNCHER = f"{hostlib.TREE}/qemu-glue/ghyvi-qemu"
DISPLAYS = "cat /sys/bus/pci/devices/*/vendor /sys/bus/pci/devices/*/class | grep -c 0x038000 || true"
SOON_S = 50  # less than ctl() waits for its command


def used(vgpu):
    return os.path.isdir(vgpu.path) and hostlib.read(f"{vgpu.path}/state") == "open"


@test
def removal_takes_the_vgpu_from_a_guest_of_ghyvi_qemu():
    """Twice: its port has room for another one."""
    with fixture.vgpus("gen9_8", "gen9_8") as (vgpu, second):
        with fixture.guests(vgpu, names=["launched"], extra=["--launcher", LAUNCHER]) as (guest,):
            guest.load_driver()
            guest.must_run("blitcheck --rounds 1 --contexts 1")
            pid = guest.pid()
            out = ctl("remove", "--force", "--no-mdevctl", "--timeout", str(SOON_S), vgpu.uuid, expect=DONE)
            require(f"asked VM launched (pid {pid}) to unplug {vgpu.uuid}" in out, out)
            require(not os.path.exists(vgpu.path), "it is still there")
            require(guest.must_run(DISPLAYS).strip() == "0", "the guest still has the device")
            guest.monitor(f"device_add vfio-pci,sysfsdev={second.path},bus=ghyvi-port,id=second")
            hostlib.eventually(lambda: second.stat("submissions_rcs") > 0, "i915's work on the second vGPU", SOON_S)
            guest.must_run("blitcheck --rounds 1 --contexts 1")
            ctl("remove", "--force", "--no-mdevctl", "--timeout", str(SOON_S), second.uuid, expect=DONE)
            require(guest.pid() == pid, "QEMU is gone")


@test
def removal_from_q35s_root_bus_is_refused():
    vgpu, guest = fixture.guest("gen9")
    out = ctl("remove", "--no-mdevctl", vgpu.uuid, expect=BUSY)
    require(f"is used by VM gen9 (pid {guest.pid()})" in out and "--force" in out, out)
    out = ctl("remove", "--force", "--no-mdevctl", vgpu.uuid, expect=BUSY)
    require("root bus of a q35 machine" in out and "stop the VM" in out, out)
    require(used(vgpu), "the vGPU is gone")
    guest.must_run("blitcheck --rounds 1 --contexts 1")


@test
def removal_from_a_guest_that_does_not_answer_ends():
    """After its time, and on Ctrl-C; the guest goes on with its vGPU if it never saw the request."""
    with fixture.vgpus("gen9_8") as (vgpu,), fixture.guests(vgpu, names=["deaf"], extra=["--launcher", LAUNCHER]) as (guest,):
        guest.monitor("stop")
        out = ctl("remove", "--force", "--no-mdevctl", "--timeout", "2", vgpu.uuid, expect=BUSY)
        require(f"VM deaf (pid {guest.pid()}) did not unplug {vgpu.uuid} in 2 s" in out, out)
        require(used(vgpu), "the vGPU is gone")
        with subprocess.Popen([CTL, "remove", "--force", "--no-mdevctl", vgpu.uuid], stderr=subprocess.PIPE, text=True) as process:
            first = process.stderr.readline()
            require("asked VM deaf" in first, first)
            process.send_signal(signal.SIGINT)
            rest = process.communicate(timeout=SOON_S)[1]
        require(process.returncode == BUSY and "stopped waiting" in rest, f"{process.returncode}: {rest}")
        require(used(vgpu), "the vGPU is gone")
        guest.monitor("cont")
        # It has been asked, and answers now.
        hostlib.eventually(lambda: not used(vgpu), "the guest to let go", SOON_S)
        require(os.path.isdir(vgpu.path), "it was removed all the same")
        say("asked twice while it stood still, it let go afterwards")


@test
def asking_a_vgpu_that_no_vm_uses_is_refused():
    with fixture.vgpus("gen9_8") as (vgpu,):
        for value, error in ((1, errno.ENXIO), ("please", errno.EINVAL)):
            got = hostlib.write(f"{vgpu.path}/unplug", value)
            require(got and got.errno == error, f"{value}: {got}")
