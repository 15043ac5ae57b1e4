# SPDX-License-Identifier: GPL-2.0-only
"""Removal of a vGPU that a VM uses: the name of the VM, the unplug request, and the time-out."""

import contextlib
import os
import signal
import subprocess
import threading
import time

import patience
from ktap import test
from toolslib import BUSY, DONE, USAGE, ctl, environment, require, tree, where
from tree import UUIDS

UUID = UUIDS[1]
SOON_S = 10
SYSFSDEV = f"sysfsdev=/sys/bus/mdev/devices/{UUID}"
QEMU = "/usr/bin/qemu-system-x86_64"
Q35 = (QEMU, "-name", "guest=demo,debug-threads=on", "-machine", "pc-q35-7.2,usb=off,accel=kvm", "-m", "1024")
PORT = ("-device", "pcie-root-port,id=port,chassis=1")
BEHIND_PORT = (*Q35, *PORT, "-device", f"vfio-pci,{SYSFSDEV},bus=port")
IN_DEMO = "VM demo (pid 4711)"
ON_ROOT_BUS = "it is on the root bus of a q35 machine"
WITH_RAMFB = "it is a vfio-pci-nohotplug device, as ramfb requires"


def removed(made, path):
    return made.read(f"{path}/remove") == "1\n"


def asked(made, path):
    return made.read(f"{path}/unplug") == "1\n"


def unplugs(made, path, after_s):
    """Acts as the guest: completes the unplug after @after_s seconds."""
    timer = threading.Timer(after_s, made.write, (f"{path}/state", "created\n", 0o444))
    timer.start()
    return timer


@test
def remove_names_the_vm_that_uses_a_vgpu():
    with tree() as made:
        path = made.add_vgpu(UUID)
        for command, holder in ((BEHIND_PORT, IN_DEMO), ((QEMU, "-name", "a,,b"), "VM a,b (pid 4711)"),
                                ((QEMU, "--name", "process=x,guest=y"), "VM y (pid 4711)"),
                                ((QEMU, "-m", "-name"), "qemu-system-x86_64 (pid 4711)"), ((QEMU,), "qemu-system-x86_64 (pid 4711)"),
                                ((QEMU, "-name", "\x1b[2Jx"), "VM ?[2Jx (pid 4711)"), ((), "a program (pid 4711)")):
            made.use_vgpu(UUID, *command)
            result = ctl(made, "remove", UUID, expect=BUSY)
            require(result.err == f"ghyvictl: {UUID} is used by {holder}; "
                    "stop it, or request the unplug with --force\n", f"{result}")
        os.remove(f"{made.top}/proc/4711/fd/9")
        require("is not visible from here" in ctl(made, "remove", UUID, expect=BUSY).err,
                "a holder is named that has closed the vGPU")
        require(not asked(made, path) and not removed(made, path), "unplug requested, or removed")


@test
def process_that_poses_as_the_vm_is_not_named():
    """Any user can open a file whose path ends as that of the vGPU's group."""
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.use_vgpu(UUID, *BEHIND_PORT)
        made.write("home/mallory/dev/vfio/7", "")
        for pid in (*range(100, 120), *range(9000, 9020)):
            made.write(f"proc/{pid}/cmdline", "\0".join((*Q35, "-name", "mallory", "-device", f"vfio-pci,{SYSFSDEV}", "")))
            os.makedirs(f"{made.top}/proc/{pid}/fd")
            made.link(f"{made.top}/home/mallory/dev/vfio/7", f"proc/{pid}/fd/3")
        made.write(f"{path}/open_pid", "4711\n", 0o444)
        require(IN_DEMO in ctl(made, "remove", UUID, expect=BUSY).err, "another process is named")
        timer = unplugs(made, path, 0.5)
        ctl(made, "remove", "--force", UUID, expect=DONE)
        timer.join()
        require(asked(made, path) and removed(made, path), "no unplug request, or not removed")


@test
def opener_that_has_closed_the_vgpu_is_not_named():
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.use_vgpu(UUID, *BEHIND_PORT)
        made.write("proc/4000/cmdline", "launcher\0")
        os.makedirs(f"{made.top}/proc/4000/fd")
        for pid in (4000, 4001):
            made.write(f"{path}/open_pid", f"{pid}\n", 0o444)
            require(IN_DEMO in ctl(made, "remove", UUID, expect=BUSY).err, f"{pid}")


@test
def remove_force_requests_unplug_and_removes():
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.use_vgpu(UUID, *BEHIND_PORT)
        timer = unplugs(made, path, 0.5)
        result = ctl(made, "remove", "--force", UUID, "--json", expect=DONE)
        timer.join()
        require(result.json() == {"removed": [UUID]}, f"{result}")
        require(f"asked {IN_DEMO} to unplug {UUID}" in result.err and "60 s at most; Ctrl-C" in result.err, f"{result}")
        require(asked(made, path) and removed(made, path), "no unplug request, or not removed")


@test
def remove_force_times_out_and_removes_nothing():
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.use_vgpu(UUID, *BEHIND_PORT)
        began = time.monotonic()
        result = ctl(made, "remove", "--force", "--timeout", "0.5", UUID, expect=BUSY)
        require(0.5 <= time.monotonic() - began < SOON_S, f"{time.monotonic() - began} s")
        require(f"{IN_DEMO} did not unplug {UUID} in 0.5 s" in result.err and "--timeout" in result.err, f"{result}")
        require(asked(made, path) and not removed(made, path), "no unplug request, or removed")
        for wrong in ("0", "-1", "soon", "nan"):
            ctl(made, "remove", "--force", "--timeout", wrong, UUID, expect=USAGE)


@test
def remove_force_stops_on_a_signal_and_removes_nothing():
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.use_vgpu(UUID, *BEHIND_PORT)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            made.write(f"{path}/unplug", "")
            # nohup(1) may have started the tests.
            with subprocess.Popen([f"{where['build']}/ghyvictl", "remove", "--force", UUID, UUIDS[0]], env=environment(made), cwd=made.top,
                                  stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)) as process:
                # The message is printed before the wait.
                first = process.stderr.readline()
                require(f"asked {IN_DEMO} to unplug" in first, first)
                process.send_signal(number)
                try:
                    err = patience.communicate(process, SOON_S)[1]
                finally:
                    with contextlib.suppress(ProcessLookupError):
                        process.kill()
            require(process.returncode == BUSY and f"stopped waiting for {IN_DEMO}" in err, f"{process.returncode}: {err}")
            require(asked(made, path) and not removed(made, path), "no unplug request, or removed")


@test
def remove_force_refuses_a_device_without_hot_unplug():
    json = '{"driver":"vfio-pci","id":"hostdev0","sysfsdev":"/sys/bus/mdev/devices/%s","bus":"%s","addr":"0x2"}'
    cases = (
        ((*Q35, "-device", f"vfio-pci,{SYSFSDEV},addr=02.0"), ON_ROOT_BUS),
        # The path differs, so it is not this vGPU's device.
        ((*Q35, "-device", f"vfio-pci,{SYSFSDEV.upper()},bus=pcie.0"), None),
        ((*Q35, "-device", f"vfio-pci,{SYSFSDEV},bus=pcie.0,addr=5"), ON_ROOT_BUS),
        ((*Q35, "-device", json % (UUID, "pcie.0")), ON_ROOT_BUS),
        ((*Q35, "-device", json % (UUID, "pci.5")), None),
        ((QEMU, "-M", "q35", "-device", f"vfio-pci,{SYSFSDEV}"), ON_ROOT_BUS),
        ((QEMU, "-machine", "accel=kvm,type=q35", "-machine", "usb=off", "-device", f"vfio-pci,{SYSFSDEV}"), ON_ROOT_BUS),
        ((QEMU, "-machine", "q35", "-machine", "pc", "-device", f"vfio-pci,{SYSFSDEV}"), None),
        ((QEMU, "-machine", "pc", "-device", f"vfio-pci,{SYSFSDEV},addr=02.0"), None),
        ((QEMU, "-device", f"vfio-pci,{SYSFSDEV}"), None),
        (BEHIND_PORT, None),
        (Q35, None),  # the device was hot-plugged
        ((*Q35, "-device", "pcie-root-port,id=port,hotplug=off", "-device", f"vfio-pci,{SYSFSDEV},bus=port"), "its port has hotplug=off"),
        ((*Q35, *PORT, "-device", f"vfio-pci-nohotplug,{SYSFSDEV},bus=port,display=on,ramfb=on"), WITH_RAMFB),
        ((*Q35, "-device", (json % (UUID, "pci.5")).replace("vfio-pci", "vfio-pci-nohotplug")), WITH_RAMFB),
    )
    with tree() as made:
        path = made.add_vgpu(UUID)
        for command, reason in cases:
            made.write(f"{path}/unplug", "")
            made.use_vgpu(UUID, *command)
            result = ctl(made, "remove", "--force", "--timeout", "0.01", UUID, expect=BUSY)
            require(asked(made, path) == (reason is None), f"{command}: {result}")
            require(reason is None or (f"cannot unplug {UUID}: {reason}" in result.err and "stop the VM" in result.err), f"{result}")
            require(result.err.count("\n") == (2 if reason is None else 1), f"{command}: {result}")
            require(not removed(made, path), "the vGPU was removed")


@test
def remove_force_reports_why_it_cannot_request_unplug():
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.use_vgpu(UUID, "/usr/bin/other")
        os.remove(f"{made.top}/{path}/unplug")
        result = ctl(made, "remove", "--force", UUID, expect=BUSY)
        require("is older than this program" in result.err and "other (pid 4711)" in result.err, f"{result}")
        # During a removal, the kernel removes a driver's attributes before it waits.
        for name in ("state", "reset"):
            os.remove(f"{made.top}/{path}/{name}")
        result = ctl(made, "remove", "--force", UUID, expect=BUSY)
        require("is being removed already" in result.err and "other (pid 4711)" in result.err, f"{result}")
        require(not removed(made, path), "the vGPU was removed")
