# SPDX-License-Identifier: GPL-2.0-only
"""Removal of a vGPU that a running guest uses: messages, hot-unplug, and time limits."""

import errno
import os
import signal
import subprocess

import fixture
import hostlib
import patience
from hostlib import require
from ktap import say, test
from test_ctl import BUSY, CTL, DONE, ctl

LAUNCHER = f"{hostlib.TREE}/qemu-glue/ghyvi-qemu"
DISPLAYS = "cat /sys/bus/pci/devices/*/vendor /sys/bus/pci/devices/*/class | grep -c 0x038000 || true"
SOON_S = 50  # below the time-out of ctl()


def used(vgpu):
    return os.path.isdir(vgpu.path) and vgpu.state() == "open"


@test
def forced_removal_unplugs_the_vgpu_of_a_ghyvi_qemu_guest():
    """Afterwards a second vGPU is plugged into the port that is free again, and removed, too."""
    with fixture.vgpus("gen9_8", "gen9_8") as (vgpu, second):
        with fixture.guests(vgpu, names=["launched"], extra=["--launcher", LAUNCHER]) as (guest,):
            guest.load_driver()
            guest.must_run("blitcheck --rounds 1 --contexts 1")
            pid = guest.pid()
            out = ctl("remove", "--force", "--no-mdevctl", "--timeout", str(SOON_S), vgpu.uuid, expect=DONE)
            require(f"asked VM launched (pid {pid}) to unplug {vgpu.uuid}" in out, out)
            require(not os.path.exists(vgpu.path), "the vGPU still exists")
            require(guest.must_run(DISPLAYS).strip() == "0", "the guest still has the device")
            guest.monitor(f"device_add vfio-pci,sysfsdev={second.path},bus=ghyvi-port,id=second")
            hostlib.eventually(lambda: second.stat("submissions_rcs") > 0, "i915's work on the second vGPU", SOON_S)
            guest.must_run("blitcheck --rounds 1 --contexts 1")
            ctl("remove", "--force", "--no-mdevctl", "--timeout", str(SOON_S), second.uuid, expect=DONE)
            require(guest.pid() == pid, "QEMU has exited")


@test
def forced_removal_from_q35_root_bus_is_refused():
    vgpu, guest = fixture.guest("gen9")
    out = ctl("remove", "--no-mdevctl", vgpu.uuid, expect=BUSY)
    require(f"is used by VM gen9 (pid {guest.pid()})" in out and "--force" in out, out)
    out = ctl("remove", "--force", "--no-mdevctl", vgpu.uuid, expect=BUSY)
    require("root bus of a q35 machine" in out and "stop the VM" in out, out)
    require(used(vgpu), "the vGPU was removed")
    guest.must_run("blitcheck --rounds 1 --contexts 1")


@test
def forced_removal_from_a_stopped_guest_times_out():
    """ghyvictl gives up after its time-out, or on SIGINT, and does not remove the vGPU.

    The guest gets the request when it runs again, and releases its vGPU."""
    with fixture.vgpus("gen9_8") as (vgpu,), fixture.guests(vgpu, names=["deaf"], extra=["--launcher", LAUNCHER]) as (guest,):
        guest.monitor("stop")
        out = ctl("remove", "--force", "--no-mdevctl", "--timeout", "2", vgpu.uuid, expect=BUSY)
        require(f"VM deaf (pid {guest.pid()}) did not unplug {vgpu.uuid} in 2 s" in out, out)
        require(used(vgpu), "the vGPU was removed")
        with subprocess.Popen([CTL, "remove", "--force", "--no-mdevctl", vgpu.uuid], stderr=subprocess.PIPE, text=True) as process:
            first = process.stderr.readline()
            require("asked VM deaf" in first, first)
            process.send_signal(signal.SIGINT)
            rest = patience.communicate(process, SOON_S)[1]
        require(process.returncode == BUSY and "stopped waiting" in rest, f"{process.returncode}: {rest}")
        require(used(vgpu), "the vGPU was removed")
        guest.monitor("cont")
        # The request is pending, and the running guest handles it.
        hostlib.eventually(lambda: not used(vgpu), "the guest to release the vGPU", SOON_S)
        require(os.path.isdir(vgpu.path), "the vGPU was removed")
        say("the guest got two requests while stopped and released the vGPU afterwards")


@test
def unplug_of_an_unused_vgpu_is_refused():
    with fixture.vgpus("gen9_8") as (vgpu,):
        for value, error in ((1, errno.ENXIO), ("please", errno.EINVAL)):
            got = hostlib.write(f"{vgpu.path}/unplug", value)
            require(got and got.errno == error, f"{value}: {got}")
