# SPDX-License-Identifier: GPL-2.0-only
"""vGPUs by IOMMUFD: the character device of each, in place of a group in a VFIO container."""

import contextlib
import glob
import os
import stat

import fixture
import hostlib
import migrate
from hostlib import require
from ktap import Skip, long_test, say

DEVICES = "/dev/vfio/devices"
OBJECT = ("-object", "iommufd,id=iommufd0")
WRAPPER = "/tmp/qemu-with-descriptors"
MEMORY_MB = 512


@contextlib.contextmanager
def vgpu_with_device():
    """A vGPU and the path of its character device."""
    migrate.require_qemu()
    if not os.path.exists("/dev/iommu"):
        raise Skip("no IOMMUFD: the kernel of tools/kernels/fetch-iommufd has it")
    with fixture.vgpus("gen9_4") as (vgpu,):
        entry, = glob.glob(f"{vgpu.path}/vfio-dev/vfio*")
        path = f"{DEVICES}/{os.path.basename(entry)}"
        require(stat.S_ISCHR(os.stat(path).st_mode), f"{path} is no character device")
        yield vgpu, path


def at(vgpu):
    return f"sysfsdev=/sys/bus/mdev/devices/{vgpu.uuid}"


def device(source):
    return (*OBJECT, "-device", f"vfio-pci,id=vgpu0,{source},iommufd=iommufd0,addr=2.0")


def users(path):
    """The processes that have a file open."""
    found = []
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(link) == path:
                found.append(link.split("/")[2])
    return found


def work(guest, vgpu, path):
    """i915 works in the guest, again after a reboot, and its pins go with the guest."""
    require(guest.pid() in map(int, users(path)), f"QEMU {guest.pid()} is none of {users(path)}, which have {path}")
    require(not users("/dev/vfio/vfio"), "a VFIO container is in use")
    for _ in range(2):
        seconds, trouble = guest.load_driver()
        require(not trouble, "\n".join(trouble))
        for engine in ("rcs", "bcs"):
            status, micros = guest.igt("gem_exec_nop", f"-r 1 -e {engine}")
            require(status == 0, f"gem_exec_nop: status {status}")
            say(f"i915 loaded in {seconds:.2f} s; gem_exec_nop on {engine}: {micros} us")
        guest.must_run("blitcheck --rounds 3 --contexts 2")
        require(vgpu.now_counters(), "nothing is pinned")
        hostlib.must_run(hostlib.GUEST, "reboot", guest.name, timeout=120)
    stats = vgpu.stats()
    require(stats["pin_failures"] == 0, f"pin_failures {stats['pin_failures']}: {vgpu.last_error()}")
    require(stats["engine_errors"] == 0, f"engine_errors {stats['engine_errors']}: {vgpu.last_error()}")


def require_works(vgpu, path, qemu, arguments):
    guest = hostlib.Guest("iommufd", mem=MEMORY_MB, extra=("--qemu", qemu, "--qemu-args", *arguments))
    try:
        work(guest, vgpu, path)
    finally:
        guest.kill()
    vgpu.wait_released("the guest is gone", hostlib.SETTLE_S)


@long_test
def iommufd_guest_gets_the_device_by_path():
    with vgpu_with_device() as (vgpu, path):
        require_works(vgpu, path, migrate.QEMU, device(at(vgpu)))


@long_test
def iommufd_guest_gets_the_device_by_descriptor():
    """A VMM that may open neither of the files. Without the path, too, QEMU takes the device for a physical one."""
    with vgpu_with_device() as (vgpu, path):
        with open(WRAPPER, "w") as file:
            file.write(f'#!/bin/sh\nexec 8<>/dev/iommu 9<>{path}\nexec {migrate.QEMU} "$@"\n')
        os.chmod(WRAPPER, 0o755)
        arguments = [word.replace("iommufd,id=iommufd0", "iommufd,id=iommufd0,fd=8") for word in device(f"fd=9,{at(vgpu)}")]
        require_works(vgpu, path, WRAPPER, arguments)


@long_test
def iommufd_device_and_group_exclude_each_other():
    """While a VMM has the character device, another one cannot have the group, and the other way round."""
    with vgpu_with_device() as (vgpu, _):
        by_path = device(at(vgpu))
        for first, second in ((by_path, None), (None, by_path)):
            options = [("--qemu", migrate.QEMU, "--no-wait", *(("--qemu-args", *way) if way else ())) for way in (first, second)]
            vgpus = [() if way else (vgpu,) for way in (first, second)]
            guest = hostlib.Guest("first", *vgpus[0], mem=MEMORY_MB, extra=options[0])
            try:
                hostlib.eventually(lambda: vgpu.state() != "created", "the first guest has the vGPU", hostlib.SETTLE_S)
                other = hostlib.Guest("second", *vgpus[1], mem=MEMORY_MB, extra=options[1])
                try:
                    hostlib.eventually(lambda: not other.pid(), "the second QEMU ends", hostlib.SETTLE_S)  # pylint: disable=W0640
                finally:
                    other.kill()
                require(guest.pid(), "the first QEMU has ended, too")
            finally:
                guest.kill()
            vgpu.wait_released("the guests are gone", hostlib.SETTLE_S)
