# SPDX-License-Identifier: GPL-2.0-only
"""vGPUs by IOMMUFD: the character device of each, in place of a group in a VFIO container."""

import contextlib
import glob
import os
import stat

import fixture
import hostlib
import migrate
import services
import test_libvirt as libvirt
from hostlib import require
from ktap import Skip, long_test, say

DEVICES = "/dev/vfio/devices"
CONTAINER = "/dev/vfio/vfio"
OBJECT = ("-object", "iommufd,id=iommufd0")
WRAPPER = "/tmp/qemu-with-descriptors"
MEMORY_MB = 512


@contextlib.contextmanager
def vgpu_with_device(uuid=None):
    """A vGPU and the path of its character device."""
    migrate.require_qemu()
    if not os.path.exists("/dev/iommu"):
        raise Skip("no IOMMUFD: the kernel of tools/kernels/fetch-iommufd has it")
    with fixture.vgpus("gen9_4", uuids=[uuid]) as (vgpu,):
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
    found = set()
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(link) == path:
                found.add(link.split("/")[2])
    return found


def work(guest, vgpu, path):
    """i915 works in the guest, again after a reboot, and its pins go with the guest."""
    require(users(path) == users("/dev/iommu") == {str(guest.pid())}, f"{users(path)}, not QEMU {guest.pid()}, have {path}")
    require(not users(CONTAINER), "a VFIO container is in use")
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


# What libvirt does not know QEMU is told beside it.
OVERRIDE = """
<qemu:commandline xmlns:qemu="http://libvirt.org/schemas/domain/qemu/1.0">
  <qemu:arg value="-object"/>
  <qemu:arg value="iommufd,id=iommufd0"/>
</qemu:commandline>
<qemu:override xmlns:qemu="http://libvirt.org/schemas/domain/qemu/1.0">
  <qemu:device alias="hostdev0">
    <qemu:frontend>
      <qemu:property name="iommufd" type="string" value="iommufd0"/>
    </qemu:frontend>
  </qemu:device>
</qemu:override>"""


@contextlib.contextmanager
def libvirt_with_device():
    """As vgpu_with_device(), with a libvirt whose QEMUs may open the device."""
    if not services.SYSTEM:
        raise Skip("no libvirt with IOMMUFD: run tools/lab/fetch-libvirt")
    services.stop()
    with vgpu_with_device(libvirt.FIRST) as (vgpu, path):
        services.let_qemu_open("/dev/iommu", path)
        libvirt.setup()
        try:
            yield vgpu, path
        finally:
            libvirt.virsh_try("destroy", libvirt.DOMAIN)
            libvirt.virsh_try("undefine", libvirt.DOMAIN)
            services.stop()


def domain_with(text, before):
    """Writes the domain with more text in front of the last @before."""
    path = libvirt.domain_xml("pc")
    with open(path) as file:
        head, tag, tail = file.read().rpartition(before)
    with open(path, "w") as file:
        file.write(head + text + tag + tail)
    return path


@long_test
def iommufd_of_libvirt_is_not_for_mdevs():
    """Neither the schema nor the parser has it for them, and the domain's switch leaves a vGPU in a container."""
    with libvirt_with_device() as (vgpu, path):
        xml = domain_with("<driver iommufd='yes'/>", "</hostdev>")
        status, out = hostlib.run(*services.virsh(), "define", "--validate", xml)
        say(out.strip())
        require(status == 1 and "schema" in out, f"status {status}: {out}")
        libvirt.virsh("define", xml)
        require("iommufd" not in libvirt.virsh("dumpxml", libvirt.DOMAIN), "libvirt knows IOMMUFD of an mdev")
        libvirt.virsh("undefine", libvirt.DOMAIN)
        libvirt.virsh("define", "--validate", domain_with("<iommufd enabled='yes'/>", "<devices>"))
        libvirt.virsh("start", "--paused", libvirt.DOMAIN)
        require("<iommufd enabled='yes'/>" in libvirt.virsh("dumpxml", libvirt.DOMAIN), "the domain has no IOMMUFD")
        require(users(CONTAINER) and not users(path) and vgpu.state() == "open", "the vGPU is not in a container")


@long_test
def iommufd_guest_of_libvirt():
    with libvirt_with_device() as (vgpu, path):
        libvirt.virsh("define", domain_with(OVERRIDE, "</domain>"))
        work(libvirt.start_domain(), vgpu, path)
        libvirt.virsh("destroy", libvirt.DOMAIN)
        vgpu.wait_released("the guest is gone", hostlib.SETTLE_S)


@long_test
def iommufd_guest_moves():
    """There is no log of its pages, neither of ghyvi nor of IOMMUFD for mdevs, so QEMU sends all memory while the VM is stopped."""
    with vgpu_with_device() as (here, _), vgpu_with_device() as (there, path):
        guest = migrate.start("moving0", arguments=device(at(here)), mem=migrate.SMALL_MB)
        try:
            guest.load_driver()
            guest.clear_log()
            guest.must_run("blitcheck --rounds 1 --contexts 2")
            target = migrate.incoming("moving1", arguments=device(at(there)), mem=migrate.SMALL_MB)
            say(migrate.describe(migrate.move(guest, target)))
            here.wait_released("moved away", migrate.START_S)
            require(users(path) == {str(target.pid())} and not users(CONTAINER), f"{users(path)} have the target")
            target.must_run("blitcheck --rounds 3 --contexts 2")
            target.require_no_trouble()
            require(there.now_counters(), "nothing is pinned")
        finally:
            migrate.kill_all()
