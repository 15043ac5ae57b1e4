# SPDX-License-Identifier: GPL-2.0-only
"""Debian's libvirt, unmodified: node devices, a domain whose guest loads i915, hot-plug, by the files of qemu-glue/."""

import os
import re
import shutil
import xml.etree.ElementTree as xml

import fixture
import hostlib
import services
from hostlib import Guest, eventually, require
from ktap import Skip, say, test

GLUE = f"{hostlib.TREE}/qemu-glue/libvirt"
DOMAIN = "ghyvi-guest"
MEMORY_MIB = 768
BESIDE_MEMORY_MIB = 1024  # what libvirt lets QEMU lock beside the guest's memory
BOOT = "/run/ghyvi-boot"
FIRST_HOSTDEV = f"{BOOT}/hostdev.xml"  # as in the domain
QEMU_USER = ("libvirt-qemu", "kvm")
# What nested TCG lacks (tools/lab/README.md).
TCG_LACKS = ("xsave", "avx", "avx2", "fma", "f16c")
FIRST, SECOND = "c0ffee00-1234-4000-8000-000000000001", "c0ffee00-1234-4000-8000-000000000002"


def virsh(*arguments, timeout=120):
    return hostlib.must_run("virsh", "-q", "-c", "qemu:///system", *arguments, timeout=timeout)


def virsh_try(*arguments):
    """Cleaning up: what is gone already is fine."""
    hostlib.run("virsh", "-q", "-c", "qemu:///system", *arguments)


def node_device(uuid):
    """libvirt's name for it."""
    found = [name for name in virsh("nodedev-list", "--cap", "mdev", "--all").split()
             if uuid in virsh("nodedev-dumpxml", name)]
    return found[0] if found else None


def path(uuid):
    return f"/sys/bus/mdev/devices/{uuid}"


def setup():
    if not shutil.which("libvirtd"):
        raise Skip("no libvirtd: tools/setup")
    fixture.drop_all()
    services.install()
    services.start_udev()
    services.start_libvirt(hook=f"{GLUE}/qemu-hook")
    # Once, with what it asks QEMU for.
    virsh("version")


def boot_file(name):
    """A copy of a file of the lab's that libvirt may give to QEMU's user."""
    os.makedirs(BOOT, exist_ok=True)
    return shutil.copy(os.environ[f"GHYVI_GUEST_{name}"], f"{BOOT}/{name}")


def domain_xml(machine):
    """The example, with the lab's guest instead of a disk, and its command channels."""
    tree = xml.parse(f"{GLUE}/domain.xml")
    root, devices = tree.getroot(), tree.find("devices")
    root.find("memory").text = str(MEMORY_MIB)
    root.find("vcpu").text = "1"
    root.find("os/type").set("machine", machine)
    for tag, text in (("kernel", boot_file("KERNEL")), ("initrd", boot_file("INITRD")),
                      ("cmdline", "console=ttyS0 loglevel=5 panic=-1 mitigations=off nokaslr no_timer_check tsc=reliable")):
        xml.SubElement(root.find("os"), tag).text = text
    if os.environ.get("GHYVI_ACCEL") == "tcg":
        for name in TCG_LACKS:
            xml.SubElement(root.find("cpu"), "feature", policy="disable", name=name)
    disk = devices.find("disk")
    disk.find("driver").set("type", "raw")
    disk.find("source").set("file", boot_file("IMAGE"))
    xml.SubElement(disk, "readonly")
    channels = f"/run/ghyvi/guests/{DOMAIN}"
    os.makedirs(channels, exist_ok=True)
    shutil.chown(channels, *QEMU_USER)
    for index in range(4):
        channel = xml.SubElement(devices, "channel", type="unix")
        xml.SubElement(channel, "source", mode="bind", path=f"{channels}/cmd.{index}")
        xml.SubElement(channel, "target", type="virtio", name=f"cmd{index}")
    xml.ElementTree(devices.find("hostdev")).write(FIRST_HOSTDEV)
    tree.write(f"{BOOT}/domain.xml")
    return f"{BOOT}/domain.xml"


def start_domain():
    """Returns the guest, for `guest run`."""
    virsh("start", DOMAIN)
    lab = f"/run/ghyvi/guests/{DOMAIN}"
    # A line, unlike libvirt's.
    with open(f"{lab}/pid", "w") as file:
        print(hostlib.read(f"/run/libvirt/qemu/{DOMAIN}.pid"), file=file)
    shutil.copy(f"/var/log/libvirt/qemu/{DOMAIN}.log", f"{lab}/qemu.log")
    return Guest.running(DOMAIN)


def driver_ready(guest):
    """PCI addresses of the GPUs that i915 drives in the guest."""
    return guest.must_run("ls /sys/bus/pci/drivers/i915 | grep : || true").split()


@test
def libvirt_knows_types_and_keeps_definitions():
    setup()
    parent = virsh("nodedev-list", "--cap", "mdev_types").split()
    require(parent == ["pci_1000_00_00_0"], f"{parent}")
    offered = xml.fromstring(virsh("nodedev-dumpxml", parent[0])).findall(".//capability[@type='mdev_types']/type")
    names = {each.get("id").rpartition("-")[2]: each.findtext("name") for each in offered}
    require(names == {kind: f"ghyvi-{kind}" for kind in hostlib.types()}, f"{names}")
    virsh("nodedev-define", f"{GLUE}/node-device.xml")
    name = node_device(FIRST)
    require(name and not os.path.exists(path(FIRST)), f"defined as {name}")
    virsh("nodedev-start", name)
    try:
        require("[adaptive]" in hostlib.read(f"{path(FIRST)}/policy/mode"), "policy/mode is not the definition's")
        require(hostlib.read(f"{path(FIRST)}/sched/weight") == "200", "sched/weight is not the definition's")
        virsh("nodedev-autostart", name)
        require("auto" in hostlib.must_run("mdevctl", "list", "-d", "-u", FIRST), "not for mdevctl")
    finally:
        virsh("nodedev-destroy", name)
    require(not os.path.exists(path(FIRST)), "destroyed, and still there")
    virsh("nodedev-undefine", name)
    require(not node_device(FIRST), "undefined, and still listed")


@test
def libvirt_runs_a_guest_with_i915_and_hot_plugs():
    setup()
    virsh("nodedev-define", f"{GLUE}/node-device.xml")
    second = fixture.vgpus("gen9_4", uuids=[SECOND])
    # A pc machine: the aperture fits its root bus without asking the firmware.
    virsh("define", domain_xml("pc"))
    try:
        # The hook starts what is defined.
        guest = start_domain()
        require("[adaptive]" in hostlib.read(f"{path(FIRST)}/policy/mode"), "the hook did not start the vGPU")
        limit = re.search(r"Max locked memory +(\d+)", hostlib.read(f"/proc/{guest.pid()}/limits")).group(1)
        require(int(limit) >= (MEMORY_MIB + BESIDE_MEMORY_MIB) << 20, f"libvirt lets it lock {limit} bytes")
        seconds, trouble = guest.load_driver()
        require(not trouble, "\n".join(trouble))
        # Where libvirt put it; i915 does not care.
        require(len(driver_ready(guest)) == 1, f"{driver_ready(guest)}")
        say(f"the vGPU is at {driver_ready(guest)[0]}")
        guest.must_run("blitcheck --rounds 1 --contexts 1")
        say(f"i915 loaded in {seconds:.2f} s")
        # One after the other: i915 shares one balloon among all its devices (Documentation/troubleshooting.md).
        virsh("detach-device", DOMAIN, FIRST_HOSTDEV, "--live")
        eventually(lambda: hostlib.read(f"{path(FIRST)}/state") == "created", "the first vGPU given back", 60)
        require(not driver_ready(guest), f"{driver_ready(guest)}")
        with second as (vgpu,):
            guest.clear_log()
            virsh("attach-device", DOMAIN, f"{GLUE}/hostdev.xml", "--live")
            eventually(lambda: vgpu.stat("submissions_rcs") > 0, "i915's work on the second vGPU", 60)
            guest.must_run("blitcheck --rounds 1 --contexts 1")
            require(not hostlib.driver_trouble(guest.log()), f"{hostlib.driver_trouble(guest.log())}")
            virsh("detach-device", DOMAIN, f"{GLUE}/hostdev.xml", "--live")
            eventually(lambda: hostlib.read(f"{vgpu.path}/state") == "created", "the second vGPU given back", 60)
            vgpu.settle()
        virsh("attach-device", DOMAIN, FIRST_HOSTDEV, "--live")
        eventually(lambda: len(driver_ready(guest)) == 1, "i915 on the first vGPU again", 60)
        virsh("destroy", DOMAIN)
        # Its definition says "manual", so the hook took it away again.
        eventually(lambda: not os.path.exists(path(FIRST)), "the hook's stop")
    finally:
        virsh_try("destroy", DOMAIN)
        virsh("undefine", DOMAIN)
        virsh_try("nodedev-destroy", node_device(FIRST))
        virsh("nodedev-undefine", node_device(FIRST))


@test
def virt_install_makes_the_same_domain():
    setup()
    disk = f"{BOOT}/disk.img"
    os.makedirs(BOOT, exist_ok=True)
    with open(disk, "wb") as file:
        file.truncate(1 << 20)
    hostlib.must_run("ghyvictl", "create", "gen9_8", "-u", FIRST)
    try:
        made = xml.fromstring(hostlib.must_run(f"{GLUE}/virt-install", disk, "--print-xml", timeout=120))
        wanted = xml.parse(f"{GLUE}/domain.xml").getroot()
        for place in ("devices/hostdev", "devices/hostdev/source/address"):
            require(made.find(place).attrib.items() >= wanted.find(place).attrib.items(), f"{place}: {made.find(place).attrib}")
        # libvirt gives it an address where it can be unplugged.
        require(made.find("devices/hostdev/address") is None, "virt-install says where the vGPU goes")
        require("q35" in made.find("os/type").get("machine"), made.find("os/type").get("machine"))
    finally:
        hostlib.must_run("ghyvictl", "remove", FIRST)
        services.stop()
