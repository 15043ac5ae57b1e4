# SPDX-License-Identifier: GPL-2.0-only
"""Debian's unmodified libvirt with the files of qemu-glue/: node devices, domains, hot-plug."""

import contextlib
import os
import re
import shutil
import xml.etree.ElementTree as xml

import fixture
import hostlib
import migrate
import picture
import png
import services
from hostlib import Guest, eventually, require
from ktap import Skip, long_test, say, test

GLUE = f"{hostlib.TREE}/qemu-glue/libvirt"
DOMAIN = "ghyvi-guest"
MEMORY_MIB = 768
BESIDE_MEMORY_MIB = 1024  # what libvirt allows QEMU to lock in addition to the guest's memory
BOOT = "/run/ghyvi-boot"
MOVED = "ghyvi-moved"  # its name on another host
GUESTS = "/run/ghyvi/guests"
CHANNELS = f"{GUESTS}/{DOMAIN}"
MIGRATE_URI = "tcp://127.0.0.1:49300"
FIRST_HOSTDEV = f"{BOOT}/hostdev.xml"  # as in the domain
QEMU_USER = ("libvirt-qemu", "kvm")
# CPU features that do not work on nested TCG (tools/lab/README.md).
TCG_LACKS = ("xsave", "avx", "avx2", "fma", "f16c")
FIRST, SECOND = "c0ffee00-1234-4000-8000-000000000001", "c0ffee00-1234-4000-8000-000000000002"


def virsh(*arguments, timeout=120):
    return hostlib.must_run(*services.virsh(), *arguments, timeout=timeout)


def virsh_try(*arguments):
    """Runs virsh for cleanup and ignores errors: the object may not exist any more."""
    hostlib.run(*services.virsh(), *arguments)


def node_device(uuid):
    """libvirt's name of the node device with this UUID, or None."""
    found = [name for name in virsh("nodedev-list", "--cap", "mdev", "--all").split()
             if uuid in virsh("nodedev-dumpxml", name)]
    return found[0] if found else None


def path(uuid):
    return f"/sys/bus/mdev/devices/{uuid}"


def setup():
    if not (services.SYSTEM or shutil.which("libvirtd")):
        raise Skip("no libvirtd: tools/setup")
    fixture.drop_all()
    services.install()
    services.start_udev()
    services.start_libvirt(hook=f"{GLUE}/qemu-hook")
    # The first command takes long: libvirt queries QEMU's capabilities once.
    say("; ".join(virsh("version", "--daemon").strip().splitlines()[-2:]))


def boot_file(name):
    """Copies a file of the lab to a folder where libvirt may make it accessible to QEMU's user."""
    os.makedirs(BOOT, exist_ok=True)
    return shutil.copy(os.environ[f"GHYVI_GUEST_{name}"], f"{BOOT}/{name}")


def domain_xml(machine, screen=False, emulator=None):
    """Writes the example domain with the lab's guest instead of a disk, and command channels.

    Without a screen, the vGPU can be unplugged. emulator is a QEMU other than the installed one."""
    tree = xml.parse(f"{GLUE}/domain.xml")
    root, devices = tree.getroot(), tree.find("devices")
    root.find("memory").text = str(MEMORY_MIB)
    root.find("vcpu").text = "1"
    root.find("os/type").set("machine", machine)
    for tag, text in (("kernel", boot_file("KERNEL")), ("initrd", boot_file("INITRD")),
                      ("cmdline", "console=ttyS0 loglevel=5 panic=-1 mitigations=off nokaslr no_timer_check tsc=reliable "
                                  "cryptomgr.notests")):
        xml.SubElement(root.find("os"), tag).text = text
    if os.environ.get("GHYVI_ACCEL") == "tcg":
        for name in TCG_LACKS:
            xml.SubElement(root.find("cpu"), "feature", policy="disable", name=name)
    if emulator:
        for old in devices.findall("emulator"):
            devices.remove(old)
        xml.SubElement(devices, "emulator").text = emulator
    if not screen:
        for tag in ("graphics", "video"):
            devices.remove(devices.find(tag))
        for attribute in ("display", "ramfb"):
            del devices.find("hostdev").attrib[attribute]
    disk = devices.find("disk")
    disk.find("driver").set("type", "raw")
    disk.find("source").set("file", boot_file("IMAGE"))
    xml.SubElement(disk, "readonly")
    make_channels(DOMAIN)
    for index in range(4):
        channel = xml.SubElement(devices, "channel", type="unix")
        xml.SubElement(channel, "source", mode="bind", path=f"{CHANNELS}/cmd.{index}")
        xml.SubElement(channel, "target", type="virtio", name=f"cmd{index}")
    xml.ElementTree(devices.find("hostdev")).write(FIRST_HOSTDEV)
    tree.write(f"{BOOT}/domain.xml")
    return f"{BOOT}/domain.xml"


def running_domain(name, root=services.ROOT):
    """The Guest of a domain that runs. root is the root directory of its libvirtd."""
    channels = f"{GUESTS}/{name}"
    # libvirt's pid file has no newline at the end, which tools/lab/guest needs.
    with open(f"{channels}/pid", "w") as file:
        print(hostlib.read(f"{root}/run/libvirt/qemu/{name}.pid"), file=file)
    shutil.copy(f"{root}/var/log/libvirt/qemu/{name}.log", f"{channels}/qemu.log")
    return Guest.running(name)


@contextlib.contextmanager
def migrating_qemu():
    """The QEMU of domains that move: None is libvirt's own."""
    if services.SYSTEM:
        yield None
        return
    migrate.require_qemu()
    with migrate.modules():
        yield migrate.QEMU


def start_domain():
    """Starts the domain and returns its Guest."""
    virsh("start", DOMAIN)
    return running_domain(DOMAIN)


def make_channels(name):
    os.makedirs(f"{GUESTS}/{name}", exist_ok=True)
    shutil.chown(f"{GUESTS}/{name}", *QEMU_USER)


def moved_xml():
    """Writes the running domain with the vGPU and the channels that it has on the other host."""
    make_channels(MOVED)
    text = virsh("dumpxml", "--migratable", DOMAIN)
    for here, there in ((FIRST, SECOND), (CHANNELS, f"{GUESTS}/{MOVED}")):
        require(here in text, f"{here} is not in {text}")
        text = text.replace(here, there)
    with open(f"{BOOT}/moved.xml", "w") as file:
        file.write(text)
    return f"{BOOT}/moved.xml"


def driver_ready(guest):
    """PCI addresses of the GPUs that i915 drives in the guest."""
    return guest.must_run("ls /sys/bus/pci/drivers/i915 | grep : || true").split()


@test
def libvirt_lists_types_and_keeps_definitions():
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
        require("auto" in hostlib.must_run("mdevctl", "list", "-d", "-u", FIRST),
                "mdevctl does not show autostart")
    finally:
        virsh("nodedev-destroy", name)
    require(not os.path.exists(path(FIRST)), "the vGPU still exists after nodedev-destroy")
    virsh("nodedev-undefine", name)
    require(not node_device(FIRST), "the node device is still listed after nodedev-undefine")


@test
def libvirt_runs_a_guest_with_i915_and_hot_plugs():
    setup()
    virsh("nodedev-define", f"{GLUE}/node-device.xml")
    second = fixture.vgpus("gen9_4", uuids=[SECOND])
    # On a pc machine, the aperture fits on the root bus without a setting for the firmware.
    virsh("define", domain_xml("pc"))
    try:
        # The hook starts the vGPU from its definition.
        guest = start_domain()
        require("[adaptive]" in hostlib.read(f"{path(FIRST)}/policy/mode"), "the hook did not start the vGPU")
        limit = re.search(r"Max locked memory +(\d+)", hostlib.read(f"/proc/{guest.pid()}/limits")).group(1)
        require(int(limit) >= (MEMORY_MIB + BESIDE_MEMORY_MIB) << 20, f"libvirt lets it lock {limit} bytes")
        seconds, trouble = guest.load_driver()
        require(not trouble, "\n".join(trouble))
        # libvirt chose the PCI address; i915 works at any.
        require(len(driver_ready(guest)) == 1, f"{driver_ready(guest)}")
        say(f"the vGPU is at {driver_ready(guest)[0]}")
        guest.must_run("blitcheck --rounds 1 --contexts 1")
        say(f"i915 loaded in {seconds:.2f} s")
        # One vGPU at a time: all devices of an i915 share one balloon
        # (Documentation/troubleshooting.md).
        virsh("detach-device", DOMAIN, FIRST_HOSTDEV, "--live")
        eventually(lambda: hostlib.read(f"{path(FIRST)}/state") == "created",
                   "release of the first vGPU", 60)
        require(not driver_ready(guest), f"{driver_ready(guest)}")
        with second as (vgpu,):
            guest.clear_log()
            virsh("attach-device", DOMAIN, f"{GLUE}/hostdev.xml", "--live")
            eventually(lambda: vgpu.stat("submissions_rcs") > 0, "i915's work on the second vGPU", 60)
            guest.must_run("blitcheck --rounds 1 --contexts 1")
            guest.require_no_trouble()
            virsh("detach-device", DOMAIN, f"{GLUE}/hostdev.xml", "--live")
            vgpu.wait_released("unplugged", 60)
        virsh("attach-device", DOMAIN, FIRST_HOSTDEV, "--live")
        eventually(lambda: len(driver_ready(guest)) == 1, "i915 on the first vGPU again", 60)
        virsh("destroy", DOMAIN)
        # The definition has no autostart, so the hook stops the vGPU.
        eventually(lambda: not os.path.exists(path(FIRST)), "the hook to stop the vGPU")
    finally:
        virsh_try("destroy", DOMAIN)
        virsh("undefine", DOMAIN)
        virsh_try("nodedev-destroy", node_device(FIRST))
        virsh("nodedev-undefine", node_device(FIRST))


@test
def start_of_a_second_domain_leaves_the_vgpu_to_the_first():
    """QEMU cannot unplug a vGPU with ramfb, so its removal would last as long as the domain."""
    setup()
    hostlib.must_run("ip", "link", "set", "lo", "up")  # for VNC
    virsh("nodedev-define", f"{GLUE}/node-device.xml")
    virsh("define", domain_xml("q35", screen=True))
    tree = xml.parse(f"{BOOT}/domain.xml")
    tree.find("name").text = f"{DOMAIN}-2"
    for channel in tree.findall("devices/channel"):
        tree.find("devices").remove(channel)
    tree.write(f"{BOOT}/second.xml")
    virsh("define", f"{BOOT}/second.xml")
    try:
        virsh("start", "--paused", DOMAIN)
        status, out = hostlib.run(*services.virsh(), "start", f"{DOMAIN}-2", timeout=60)
        say(out.strip())
        require(status == 1 and "in use by driver QEMU" in out, f"status {status}: {out}")
        require(virsh("domstate", DOMAIN).split() == ["paused"] and hostlib.read(f"{path(FIRST)}/state") == "open", "the first lost its vGPU")
        require("[adaptive]" in hostlib.read(f"{path(FIRST)}/policy/mode"), "the vGPU is being removed")
        virsh("destroy", DOMAIN)
        eventually(lambda: not os.path.exists(path(FIRST)), "the hook to stop the vGPU after the first domain")
    finally:
        for name in (DOMAIN, f"{DOMAIN}-2"):
            virsh_try("destroy", name)
            virsh_try("undefine", name)
        virsh_try("nodedev-destroy", node_device(FIRST))
        virsh("nodedev-undefine", node_device(FIRST))


@long_test
def libvirt_saves_and_restores_a_guest_at_work():
    setup()
    with migrating_qemu() as qemu, fixture.vgpus("gen9_4", uuids=[FIRST]) as (vgpu,):
        virsh("define", domain_xml("pc", emulator=qemu))
        try:
            guest = start_domain()
            guest.load_driver()
            guest.clear_log()
            work = migrate.Work(guest, migrate.LOADS["blitcheck"])
            eventually(lambda: vgpu.stat("queued_bcs_now"), "blitcheck to be under way", migrate.START_S)
            virsh("managedsave", DOMAIN)
            vgpu.wait_released("saved", 60)
            before = vgpu.stat("workloads")
            guest = start_domain()
            eventually(lambda: vgpu.stat("workloads") > before, "blitcheck to go on", migrate.START_S)
            require(work.running(guest), "blitcheck ended early")
            guest.must_run("touch /tmp/end")
            say(work.finish(guest).splitlines()[-1])
            guest.require_no_trouble()
        finally:
            virsh_try("destroy", DOMAIN)
            virsh("undefine", "--managed-save", DOMAIN)
        eventually(lambda: vgpu.state() == "created", "release of the vGPU", 60)


@long_test
def libvirt_migrates_a_guest_at_work():
    """virsh migrate to a libvirtd with a host name, an identity, files and a vGPU of its own."""
    setup()
    hostlib.must_run("ip", "link", "set", "lo", "up")
    with migrating_qemu() as qemu, fixture.vgpus("gen9_4", "gen9_4", uuids=[FIRST, SECOND]) as (first, second), \
            services.other_libvirt() as (uri, root):
        hostlib.must_run(*services.virsh(uri), "list", timeout=120)
        virsh("define", domain_xml("pc", emulator=qemu))
        try:
            guest = start_domain()
            guest.load_driver()
            guest.clear_log()
            work = migrate.Work(guest, migrate.LOADS["blitcheck"])
            eventually(lambda: first.stat("queued_bcs_now"), "blitcheck to be under way", migrate.START_S)
            virsh("migrate-setmaxdowntime", DOMAIN, str(migrate.DOWNTIME_LIMIT_MS))
            virsh("migrate", "--live", DOMAIN, uri, "--migrateuri", MIGRATE_URI, "--dname", MOVED, "--xml", moved_xml(),
                  timeout=migrate.MOVE_S)
            first.wait_released("moved away", 60)
            require(second.state() == "open", f"the target is {second.state()}")
            guest = running_domain(MOVED, root)
            before = second.stat("workloads")
            eventually(lambda: second.stat("workloads") > before, "blitcheck to go on", migrate.START_S)
            require(work.running(guest), "blitcheck ended early")
            guest.must_run("touch /tmp/end")
            say(work.finish(guest).splitlines()[-1])
            guest.require_no_trouble()
        finally:
            hostlib.run(*services.virsh(uri), "destroy", MOVED)
            virsh_try("destroy", DOMAIN)
            virsh("undefine", DOMAIN)
        second.wait_released("destroyed", 60)


@test
def libvirt_shows_the_firmware_of_the_example_domain():
    setup()
    hostlib.must_run("ip", "link", "set", "lo", "up")  # for VNC
    shot = f"{CHANNELS}/screen.ppm"

    def screen():
        # virsh screenshot writes PNG.
        virsh("qemu-monitor-command", DOMAIN, "--hmp", f"screendump {shot}")
        return picture.read_ppm(shot)

    with fixture.vgpus("gen9_4", uuids=[FIRST]) as (vgpu,):
        virsh("define", domain_xml("q35", screen=True))
        try:
            virsh("start", "--paused", DOMAIN)
            blank = screen()
            virsh("resume", DOMAIN)
            eventually(lambda: picture.differs(screen(), blank), "the firmware's picture", 60)
            width, height, _ = screen()
            say(f"{width}x{height} at {virsh('domdisplay', DOMAIN).strip()}")
        finally:
            virsh_try("destroy", DOMAIN)
            virsh("undefine", DOMAIN)
        eventually(lambda: vgpu.state() == "created", "release of the vGPU", 60)


@long_test
def libvirt_shows_what_i915_draws():
    """virsh screenshot is the picture that a program in the guest draws."""
    setup()
    hostlib.must_run("ip", "link", "set", "lo", "up")  # for VNC
    shot = f"{BOOT}/shot.png"
    with fixture.vgpus("gen9_4", uuids=[FIRST]) as (vgpu,):
        fixture.with_display(vgpu, "1024x768")
        virsh("define", domain_xml("pc", screen=True))
        try:
            guest = start_domain()
            _, trouble = guest.load_driver()
            for flips in (2, 3):
                picture.begin_flips(guest, f"--flips {flips}")
                picture.await_flips(guest)
                virsh("screenshot", DOMAIN, shot)
                require(png.read(shot) == picture.of_flips(1024, 768, flips % 2), f"not the picture of {flips} flips")
            trouble += hostlib.driver_trouble(guest.log())
            require(not trouble, "\n".join(trouble))
        finally:
            virsh_try("destroy", DOMAIN)
            virsh("undefine", DOMAIN)
        eventually(lambda: vgpu.state() == "created", "release of the vGPU", 60)


@test
def virt_install_writes_the_hostdev_of_the_example():
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
        # Without an address, libvirt chooses one that allows hot-unplug.
        require(made.find("devices/hostdev/address") is None, "virt-install sets an address")
        require("q35" in made.find("os/type").get("machine"), made.find("os/type").get("machine"))
    finally:
        hostlib.must_run("ghyvictl", "remove", FIRST)
        services.stop()
