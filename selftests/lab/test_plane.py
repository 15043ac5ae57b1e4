# SPDX-License-Identifier: GPL-2.0-only
"""What VFIO shows of a vGPU's display. No guest driver: this program stores to the registers itself."""

import errno
import mmap
import time

import fixture
import screenlib
import vfiolib
from hostlib import eventually, require, require_figure
from ktap import say, test
from screenlib import LINEAR, X_TILED, Y_TILED, Screen

WIDTH, HEIGHT = 300, 100
LAYOUTS = ((LINEAR, 20, "linear"), (X_TILED, 3, "X tiled"), (Y_TILED, 10, "Y tiled"))
PAGES = 64
IDLE_CPU = 0.01  # of a CPU; 1/256 is allowed
FULL_HD = (1920, 1080)


def draw(screen, tiling, stride, seed):
    """Shows a pattern. Returns its pixels."""
    rows = screenlib.pattern(WIDTH, HEIGHT, seed)
    screen.put(0, screenlib.surface(rows, tiling, stride, PAGES * screenlib.PAGE))
    screen.show(WIDTH, HEIGHT, tiling, stride)
    return screenlib.packed(rows)


def raises(code, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except OSError as error:
        require(error.errno == code, f"{error}")
    else:
        require(False, f"no error {errno.errorcode[code]}")


@test
def plane_shows_each_layout_of_each_vgpu():
    """Two vGPUs have each its own picture, through a GGTT that reverses the order of the pages."""
    with fixture.vgpus("gen9_4", "gen9_4") as vgpus:
        for vgpu in vgpus:
            fixture.with_display(vgpu)
        with vfiolib.Device(vgpus[0]) as first, vfiolib.Device(vgpus[1]) as second:
            screens = [Screen(device, PAGES) for device in (first, second)]
            require(not any(screen.query()[0] for screen in screens), "a plane is on at first")
            for tiling, stride, name in LAYOUTS:
                expected = [draw(screen, tiling, stride, seed) for seed, screen in enumerate(screens)]
                for screen, pixels in zip(screens, expected):
                    eventually(lambda s=screen, p=pixels: s.picture() == (WIDTH, HEIGHT, p), f"the {name} picture", 30)
            require(all(vgpu.stat("display_faults") == 0 for vgpu in vgpus), "pages were not found")
            # A page that is not mapped is black.
            draw(screens[0], LINEAR, 20, 5)
            screens[0].map_page(1, 0)
            eventually(lambda: not any(screens[0].picture()[2][1024 * 4:1200 * 4]), "an absent page is black", 30)
            require(vgpus[0].stat("display_faults"), "it was not counted")
            first.reset()
            require(screens[0].query()[0] == 0 and screens[1].query()[0], "a reset switches off its own screen")
        for vgpu in vgpus:
            vgpu.settle()


@test
def plane_blends_the_cursor():
    with fixture.vgpus("gen9_4") as (vgpu,):
        fixture.with_display(vgpu)
        with vfiolib.Device(vgpu) as device:
            screen = Screen(device, PAGES)
            rows = screenlib.pattern(WIDTH, HEIGHT, 1)
            draw(screen, LINEAR, 20, 1)
            at = 48 * screenlib.PAGE
            screen.put(at, b"\x10\x20\x30\x40" * 64 * 64)  # premultiplied blue, green, red; alpha
            screen.poke(screenlib.CURACNTR, screenlib.CURSOR_64_ARGB)
            for x, y in ((10, 20), (-30, -40), (WIDTH - 5, HEIGHT - 7)):
                screen.poke(screenlib.CURAPOS, (abs(y) | (y < 0) << 15) << 16 | abs(x) | (x < 0) << 15)
                screen.poke(screenlib.CURABASE, screen.base + at)
                blended = [row[:] for row in rows]
                for line in range(max(y, 0), min(y + 64, HEIGHT)):
                    for column in range(max(x, 0), min(x + 64, WIDTH)):
                        below = rows[line][column]
                        blended[line][column] = sum(
                            min(255, part + int((below >> shift & 255) * (255 - 0x40) / 255 + 0.5)) << shift
                            for part, shift in ((0x10, 0), (0x20, 8), (0x30, 16)))
                require(screen.picture()[2] == screenlib.packed(blended), f"the cursor at {x}, {y}")
        vgpu.settle()


@test
def plane_region_is_only_there_with_a_display():
    with fixture.vgpus("gen9_4") as (vgpu,):
        with vfiolib.Device(vgpu) as device:
            screen = Screen(device, PAGES)
            draw(screen, LINEAR, 20, 1)
            require(screen.query() == (0,) * 6, "a plane is on without a display")
            raises(errno.EINVAL, device.read, vfiolib.DISPLAY_REGION, 0)
        fixture.with_display(vgpu)
        with vfiolib.Device(vgpu) as device:
            screen = Screen(device, PAGES)
            draw(screen, LINEAR, 20, 1)
            screen.picture()
            where = vfiolib.DISPLAY_REGION << vfiolib.REGION_SHIFT
            raises(errno.EPERM, mmap.mmap, device.fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=where)
            raises(errno.EINVAL, mmap.mmap, device.fd, 16 << 20, mmap.MAP_SHARED, mmap.PROT_READ, offset=where)
            raises(errno.EINVAL, screen.query, screenlib.DMABUF)
        # Another program opens it: the picture is gone.
        with vfiolib.Device(vgpu) as device:
            require(not any(device.read(vfiolib.DISPLAY_REGION, 0, 65536)), "the former picture is still there")
        vgpu.settle()


@test
def plane_that_is_idle_costs_little():
    """A Full HD screen, polled as QEMU does, compared with queries that do not look at it."""
    width, height = FULL_HD
    with fixture.vgpus("gen9_4") as (vgpu,):
        fixture.with_display(vgpu)
        with vfiolib.Device(vgpu) as device:
            screen = Screen(device, width * height * 4 // screenlib.PAGE + 1)
            screen.put(0, bytes(range(256)) * (screen.pages * screenlib.PAGE // 256))
            screen.show(width, height, LINEAR, width * 4 // 64)
            began = time.thread_time()
            screen.query()
            say(f"the whole picture takes {1000 * (time.thread_time() - began):.1f} ms")
            time.sleep(2)
            screen.query()
            time.sleep(2)
            exits = vgpu.stat("mmio_reads") + vgpu.stat("mmio_writes")
            without = screenlib.share_of_cpu(screen, screenlib.PROBE | screenlib.REGION)
            share = screenlib.share_of_cpu(screen, screenlib.REGION) - without
            say(f"an idle screen takes {100 * share:.2f} % of a CPU, its queries and this program {100 * without:.2f} %")
            require_figure(share < IDLE_CPU, f"an idle screen takes {100 * share:.2f} % of a CPU")
            require(vgpu.stat("mmio_reads") + vgpu.stat("mmio_writes") == exits, "queries access registers")
        vgpu.settle()
