# SPDX-License-Identifier: GPL-2.0-only
"""The screen of a VM whose vGPU has display=on,ramfb=on: QEMU shows the firmware's frame buffer."""

import contextlib
import errno
import os
import shutil
import struct
import tempfile
import time

import fixture
import hostlib
import picture
from hostlib import Guest, eventually, require
from ktap import long_test, say, test

NAME = "screen"
VBE_MODE = 0x340  # Linux' number for the only graphics mode of QEMU's vgabios-ramfb
SHOT = "/run/ghyvi-screen.ppm"
PATTERN = "/run/ghyvi-pattern"
FLIPS = 1000
QUIET_S = 2
CONSOLE_NEEDS = (6, 1)  # or less: none between was tried
VGPU_AT = "0000:00:02.0"
PCI_ASLS = 0xFC
OPREGION_GPA = 256 << 20
OPREGION_FILE = "/sys/firmware/qemu_fw_cfg/by_name/etc/igd-opregion/raw"
I915_DEBUGFS = f"{hostlib.GUEST_DEBUGFS}/dri/0"
FRAME_BUFFER = "/sys/class/graphics/fb0"
CONSOLE = (1024, 768)


def screen(guest):
    guest.monitor(f"screendump {SHOT}")
    return picture.read_ppm(SHOT)


def paint(guest, pixels):
    with open(PATTERN, "wb") as file:
        file.write(pixels)
    hostlib.must_run(hostlib.GUEST, "put", guest.name, PATTERN, "/tmp/pattern")
    guest.must_run("test -c /dev/fb0 && cat /tmp/pattern >/dev/fb0")


@test
def screen_shows_firmware_and_boot():
    with fixture.vgpus("gen9_4") as (vgpu,):
        # Only the kernel's 16-bit entry, which vmlinux lacks, sets the VBE mode.
        guest = Guest(NAME, extra=("--no-wait", "--append", f"vga={VBE_MODE} vt.global_cursor_default=0", "--qemu-args",
                                   "-S", "-kernel", os.environ["GHYVI_GUEST_VMLINUZ"], *hostlib.screen_device(vgpu)))
        try:
            eventually(lambda: os.path.exists(f"/run/ghyvi/guests/{NAME}/monitor"), "QEMU's monitor", 60)
            blank = screen(guest)
            guest.monitor("cont")
            try:
                eventually(lambda: picture.differs(screen(guest), blank), "the firmware's picture", 60)
            except hostlib.Problem:
                Guest.running(NAME, 240)  # a guest that is lost draws nothing
                raise
            guest = Guest.running(NAME, 240)
            width, height, _ = screen(guest)
            say(f"QEMU's own picture: {blank[0]}x{blank[1]}, the guest's: {width}x{height}")
            # The kernel may use only a part of the frame buffer: vesafb takes this mode for 320x200.
            pattern = os.urandom(min(int(guest.must_run("wc -c </dev/fb0")), 4 * width * height))
            paint(guest, pattern)
            shown = screen(guest)
            expected = picture.from_xrgb(pattern)
            require(len(expected) >= width * height, f"the guest's frame buffer has {len(pattern)} bytes")
            require(shown[2].startswith(expected), "the screen is not what the guest drew")
            _, trouble = guest.load_driver()
            require(not trouble, "\n".join(trouble))
            guest.must_run("blitcheck --rounds 1 --contexts 1")
            # i915 finds no display, and leaves the frame buffer to the kernel's other driver.
            require(screen(guest) == shown, "i915 changed the screen")
        finally:
            guest.kill()
        vgpu.settle()


@test
def nomodeset_leaves_the_screen_to_the_firmware():
    with fixture.vgpus("gen9_4") as (vgpu,):
        fixture.with_display(vgpu)
        guest = Guest("nomodeset", extra=("--append", "nomodeset", "--qemu-args", *hostlib.screen_device(vgpu)))
        try:
            before = screen(guest)
            require(any(before[2]), "the firmware shows nothing")
            guest.clear_log()
            status, out = guest.run("modprobe i915")
            require(not status or "No such device" in out, out)  # i915 7.3 does not stay
            guest.must_run("test ! -e /dev/dri/card0")
            require(screen(guest) == before, "i915 changed the screen")
            guest.must_run("test ! -d /sys/module/i915 || rmmod i915")
            guest.require_no_trouble()
        finally:
            guest.kill()
        vgpu.settle()


def install_opregion(guest):
    """What UEFI firmware does (VfioIgdPkg). SeaBIOS does it for VGA controllers, which a vGPU is not."""
    address = "".join(f"\\{byte:03o}" for byte in struct.pack("<I", OPREGION_GPA))
    page = OPREGION_GPA // 4096
    guest.must_run(f"modprobe qemu_fw_cfg && dd if={OPREGION_FILE} of=/dev/mem bs=4096 seek={page} conv=notrunc && "
                   f"printf '{address}' | dd of=/sys/bus/pci/devices/{VGPU_AT}/config bs=1 seek={PCI_ASLS} conv=notrunc")


@test
def driver_reads_the_opregion_that_qemu_offers():
    """With the VBT, i915 tries no port but the monitor's."""
    with fixture.vgpus("gen9_4") as (vgpu,):
        fixture.with_display(vgpu, "1024x768")
        device = f"vfio-pci,sysfsdev={vgpu.path},addr=02.0,x-igd-opregion=on"
        guest = Guest("opregion", extra=("--append", f"memmap=64K${OPREGION_GPA:#x}", "--qemu-args", "-device", device))
        try:
            install_opregion(guest)
            _, trouble = guest.load_driver()
            log = guest.log()
            trouble += [line for line in log.splitlines() if "VBT" in line or "VBIOS" in line]
            require(not trouble, "\n".join(trouble))
            guest.must_run(f"cmp {OPREGION_FILE} {I915_DEBUGFS}/i915_opregion")
            vbt = guest.must_run(f"intel_vbt_decode --file={I915_DEBUGFS}/i915_vbt 2>&1")
            for line in ("Child device count: 1", "DVO Port: DP-B (0x07)", "Aux channel: AUX-B (0x10)"):
                require(f"\t{line}\n" in vbt, f"no '{line}' in {vbt}")
            ports = guest.must_run("cd /sys/class/drm && echo card0-*").split()
            require(ports == ["card0-DP-1"], f"connectors: {ports}")
            guest.must_run("flips --flips 10", 300)
            guest.require_no_trouble()
        finally:
            guest.kill()
        vgpu.settle()


def is_quiet(vgpu):
    before = vgpu.stat("interrupts")
    time.sleep(QUIET_S)
    return vgpu.stat("interrupts") == before


def suspend(guest):
    """i915 switches the display off and on, and restores it; nothing wakes this guest from more than that. The device
    that carries commands is suspended, too, and may lose one that is under way: the serial log tells the end."""
    path = hostlib.must_run(hostlib.GUEST, "log", guest.name).strip()

    def exits():
        with open(path, errors="replace") as file:
            return file.read().count("PM: suspend exit")

    before = exits()
    guest.must_run("(sleep 2; echo devices >/sys/power/pm_test; echo 0 >/sys/module/suspend/parameters/pm_test_delay; "
                   "echo freeze >/sys/power/state) >/dev/null 2>&1 &")
    eventually(lambda: exits() > before, "the end of the suspend", 240)
    guest.must_run("flips --flips 10", 120)


def with_extension(edid):
    """An EDID with a second block: an extension of CTA-861 that has the timing of the first block."""
    extension = bytes((2, 3, 7, 0x80, 0xe2, 0, 0x4f)) + edid[54:72]
    blocks = edid[:126] + b"\1", extension.ljust(127, b"\0")
    return b"".join(block + bytes((-sum(block) & 255,)) for block in blocks)


def read_edid(vgpu):
    with open(f"{vgpu.path}/display/edid", "rb") as file:
        return file.read()


def write_edid(vgpu, edid):
    """Returns None or the errno."""
    try:
        with open(f"{vgpu.path}/display/edid", "wb", buffering=0) as file:
            require(file.write(edid) == len(edid), "only a part of the EDID was written")
    except OSError as error:
        return error.errno
    return None


def check_edid(edid):
    """By another program, if it is there."""
    if not shutil.which("edid-decode"):
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(edid)
        file.flush()
        out = hostlib.must_run("edid-decode", "--check", file.name)
    require("EDID conformity: PASS" in out, out[-600:])


@test
def edid_is_of_the_resolution_or_what_was_written():
    with fixture.vgpus("gen9_4") as (vgpu,):
        for resolution in ("1024x768", "2560x1440", "1920x1080"):
            vgpu.set("display/resolution", resolution)
            own = read_edid(vgpu)
            require(len(own) == 128, f"{resolution}: an EDID of {len(own)} bytes")
            check_edid(own)
        long = with_extension(own)
        check_edid(long)
        require(write_edid(vgpu, long) is None and read_edid(vgpu) == long, "the EDID was not stored")
        require(write_edid(vgpu, own) is None and read_edid(vgpu) == own, "the shorter EDID was not stored")
        wrong = {"size": (own[:127], own + b"\0", long + b"\0", long[128:] + long), "header": (bytes(128),),
                 "checksum": (own[:60] + b"\xff" + own[61:], long[:-1] + b"\0"), "extensions": (long[:128],)}
        for cause, edids in wrong.items():
            for edid in edids:
                require(write_edid(vgpu, edid) == errno.EINVAL, f"an EDID with a wrong {cause} was taken")
                require("display/edid: " in vgpu.last_error() and cause in vgpu.last_error(), vgpu.last_error())
                require(read_edid(vgpu) == own, f"an EDID with a wrong {cause} was stored")
        fd = os.open(f"{vgpu.path}/display/edid", os.O_WRONLY)
        try:
            os.pwrite(fd, own, 128)
            require(False, "an EDID was written at byte 128")
        except OSError as error:
            require(error.errno == errno.EINVAL, f"at byte 128: {error}")
        finally:
            os.close(fd)
        require(write_edid(vgpu, long) is None, "the EDID was refused")
        vgpu.set("display/resolution", "1920x1080")
        require(read_edid(vgpu) == own, "a write to display/resolution does not restore its EDID")


def crc_of(guest, flips, frames=3):
    """The CRC that i915 reads while a picture stands still, the same in successive frames."""
    picture.begin_flips(guest, f"--flips {flips}")
    picture.await_flips(guest)
    out = guest.must_run("cd /sys/kernel/debug/dri/0/crtc-0/crc && echo auto >control && head -n %d data" % frames, 120)
    lines = [[int(word, 16) for word in line.split()] for line in out.replace("\0", "").splitlines()]
    require(len(lines) == frames and all(len(line) == 6 for line in lines), out)
    first, crc = lines[0][:2]
    require([line[:2] for line in lines] == [[first + i, crc] for i in range(frames)], f"not one CRC per frame: {out}")
    return crc


def has_console(guest):
    """i915 5.10 writes its console only through GTT mappings. A vGPU with a display has none if its aperture is not mapped
    (test_aperture.py), and this i915 crashes if it is not told to do without."""
    if guest.release() >= CONSOLE_NEEDS:
        return True
    guest.must_run("modprobe drm_kms_helper fbdev_emulation=0")
    return False


def await_console(guest, console):
    """After the driver is loaded. What has no console must ask for the monitor."""
    if not console:
        guest.must_run("echo detect >/sys/class/drm/card0-DP-1/status")
        return
    eventually(lambda: "i915" in guest.run("cat /proc/fb")[1], "the console's frame buffer", 120)
    guest.must_run("test -c /dev/fb0")
    if guest.release() > CONSOLE_NEEDS:  # 7.3 waits for a vertical blank after each change
        guest.must_run("echo 0 >/sys/class/graphics/fbcon/cursor_blink")


def require_edid(guest, edid):
    seen = guest.must_run("hexdump -v -e '1/1 \"%02x\"' /sys/class/drm/card0-DP-1/edid")
    require(bytes.fromhex(seen) == edid, f"the guest's EDID is {seen}")


def unbind_console(guest):
    guest.must_run("for c in /sys/class/vtconsole/*; do grep -q frame $c/name && echo 0 >$c/bind; done; true")


def unload_driver(guest):
    """fbcon keeps the driver in use."""
    unbind_console(guest)
    guest.unload_driver()


def console_is_shown(arguments=("--qemu-args",)):
    """With video=, in RGB565. What a program draws is there again after DPMS has switched the screen off, and a suspend."""
    width, height = CONSOLE
    with fixture.vgpus("gen9_4") as (vgpu,):
        fixture.with_display(vgpu)
        guest = Guest("console", extra=("--append", f"video=DP-1:{width}x{height}-16 vt.global_cursor_default=0",
                                        *arguments, *hostlib.screen_device(vgpu)))
        try:
            _, trouble = guest.load_driver()
            require(not trouble, "\n".join(trouble))
            await_console(guest, True)
            mode = guest.must_run(f"cat {FRAME_BUFFER}/virtual_size {FRAME_BUFFER}/bits_per_pixel").split()
            require(mode == [f"{width},{height}", "16"], f"the console's mode: {mode}")
            eventually(lambda: screen(guest)[:2] == CONSOLE, "the console's mode", 60)
            before = screen(guest)
            guest.must_run("echo Hello >/dev/tty1")
            eventually(lambda: screen(guest) != before, "text on the screen", 60)
            unbind_console(guest)
            pixels = os.urandom(2 * width * height)
            paint(guest, pixels)
            expected = width, height, picture.from_rgb565(pixels)
            eventually(lambda: screen(guest) == expected, "what a program draws", 60)
            for blank, state in ((4, "Off"), (0, "On")):
                guest.must_run(f"echo {blank} >{FRAME_BUFFER}/blank && grep -qx {state} /sys/class/drm/card0-DP-1/dpms")
                eventually(lambda: (screen(guest) == expected) == (state == "On"), f"the screen is {state}", 60)
            suspend(guest)
            eventually(lambda: screen(guest) == expected, "the screen after a suspend", 60)
            unload_driver(guest)
            guest.require_no_trouble()
        finally:
            guest.kill()
        vgpu.settle()


@test
def console_is_shown_as_video_asks():
    console_is_shown()


@test
def guest_sets_a_mode_and_flips():
    """fbcon takes the screen over; a program sets a mode, and gets an event for each flip, in their order."""
    with fixture.vgpus("gen9_4") as (vgpu,):
        fixture.with_display(vgpu)
        edid = with_extension(read_edid(vgpu))
        require(write_edid(vgpu, edid) is None, "the EDID was refused")
        with fixture.guests(vgpu, names=["monitor"]) as (guest,):
            require(write_edid(vgpu, edid) == errno.EBUSY, "the monitor of a running guest was exchanged")
            error = hostlib.write(f"{vgpu.path}/display/resolution", "1920x1080")
            require(error and error.errno == errno.EBUSY, "a write to display/resolution exchanged the monitor")
            console = has_console(guest)
            for flips in (FLIPS, 10):
                guest.clear_log()
                seconds, trouble = guest.load_driver()
                require(not trouble, "\n".join(trouble))
                await_console(guest, console)
                status = guest.must_run("cat /sys/class/drm/card0-DP-1/status /sys/class/drm/card0-DP-1/modes")
                require(status.split()[:2] == ["connected", "1920x1080"], status)
                require_edid(guest, edid)
                before = vgpu.stat("interrupts")
                out = guest.must_run(f"flips --flips {flips}", 300)
                say(f"loaded in {seconds:.2f} s; {out.strip()}; {vgpu.stat('interrupts') - before} interrupts")
                eventually(lambda: is_quiet(vgpu), "no interrupts for a still picture", 60)
                guest.require_no_trouble()
                unload_driver(guest)
            guest.require_no_trouble()
            guest.load_driver()
            suspend(guest)
            guest.require_no_trouble()
            guest.stop()
        vgpu.settle()


@test
def frames_have_crcs():
    """Each frame has one. They tell a picture that has changed."""
    with fixture.vgpus("gen9_4") as (vgpu,):
        fixture.with_display(vgpu, "1280x720")
        with fixture.guests(vgpu, names=["crcs"]) as (guest,):
            guest.load_driver()
            crcs = [crc_of(guest, flips) for flips in (2, 3, 4)]
            say("CRCs " + " ".join(f"{crc:#x}" for crc in crcs))
            require(crcs[0] == crcs[2] != crcs[1], f"the CRCs of two pictures in turn: {crcs}")
            guest.must_run("killall flips")
            eventually(lambda: is_quiet(vgpu), "no interrupts after the last CRC", 60)
            guest.require_no_trouble()
            guest.stop()
        vgpu.settle()


@long_test
def guest_of_gen8_has_a_screen():
    """i915 drives a Broadwell's display with other registers: at load, for flips and CRCs, over a suspend, at unload."""
    with fixture.vgpus("gen8_4") as (vgpu,):
        fixture.with_display(vgpu, "1280x720")
        guest = Guest("broadwell", extra=("--qemu-args", *hostlib.screen_device(vgpu)))
        try:
            console = has_console(guest)
            _, trouble = guest.load_driver()
            require(not trouble, "\n".join(trouble))
            await_console(guest, console)
            require_edid(guest, read_edid(vgpu))
            for tiling, flips in (("linear", 20), ("x", 3)):
                picture.begin_flips(guest, f"--flips {flips} --tiling {tiling}")
                say(picture.await_flips(guest).strip())
                expected = picture.of_flips(1280, 720, flips % 2)
                eventually(lambda e=expected: screen(guest) == e, f"{tiling}: the screen", 60)
            crcs = [crc_of(guest, flips) for flips in (2, 3, 4)]
            require(crcs[0] == crcs[2] != crcs[1], f"the CRCs of two pictures in turn: {crcs}")
            guest.must_run("killall flips")
            suspend(guest)
            eventually(lambda: is_quiet(vgpu), "no interrupts for a still picture", 60)
            unload_driver(guest)
            guest.require_no_trouble()
            require(not vgpu.stat("display_faults"), "the host did not find pages of the screen")
        finally:
            guest.kill()
        vgpu.settle()


@test
def guest_sees_its_monitor_unplugged():
    """i915 tells it by a hotplug event, and polls nothing."""
    def status():
        return guest.must_run("cat /sys/class/drm/card0-DP-1/status").strip()

    with fixture.vgpus("gen9_4") as (vgpu,):
        fixture.with_display(vgpu, "1280x720")
        with fixture.guests(vgpu, names=["plugged"]) as (guest,):
            guest.load_driver()
            require(status() == "connected", f"at first: {status()}")
            guest.must_run("echo N >/sys/module/drm_kms_helper/parameters/poll")
            for value, expected in (("0", "disconnected"), ("1", "connected")):
                vgpu.set("display/connected", value)
                eventually(lambda e=expected: status() == e, f"display/connected {value}: {expected}", 60)
            require(guest.must_run("head -n 1 /sys/class/drm/card0-DP-1/modes").strip() == "1280x720", "not its mode")
            guest.require_no_trouble()
            guest.stop()
        vgpu.settle()


@test
def host_sees_what_each_guest_draws():
    """QEMU's screen and ghyvictl's picture equal the guest's, for each layout and for each of two guests."""
    sizes = (("1024x768", 2), ("1280x720", 3))
    with fixture.vgpus("gen9_4", "gen9_4") as vgpus, contextlib.ExitStack() as stack:
        guests = []
        for vgpu, (resolution, flips), name in zip(vgpus, sizes, ("left", "right")):
            fixture.with_display(vgpu, resolution)
            guests.append(Guest(name, extra=("--qemu-args", *hostlib.screen_device(vgpu))))
            stack.callback(guests[-1].kill)
            _, trouble = guests[-1].load_driver()
            require(not trouble, "\n".join(trouble))
        for tiling in ("linear", "x", "y"):
            for guest, (_, flips) in zip(guests, sizes):
                picture.begin_flips(guest, f"--flips {flips} --tiling {tiling}")
            for guest, vgpu, (resolution, flips) in zip(guests, vgpus, sizes):
                picture.await_flips(guest)
                width, height = (int(side) for side in resolution.split("x"))
                expected = picture.of_flips(width, height, flips % 2)
                eventually(lambda g=guest, e=expected: screen(g) == e, f"{guest.name}, {tiling}: the screen", 60)
                if tiling == "x" and os.path.exists(picture.CTL):
                    require(picture.screenshot(vgpu) == expected, f"{guest.name}, {tiling}: the screenshot differs")
                require(not vgpu.stat("display_faults"), "the host did not find pages of the screen")
        for guest in guests:
            guest.require_no_trouble()
            guest.stop()
        for vgpu in vgpus:
            vgpu.settle()
