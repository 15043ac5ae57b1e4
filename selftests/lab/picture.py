# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of a VM's screen, as QEMU's screendump and ghyvictl write them. One is (width, height, RGB bytes)."""

import array
import os

import hostlib
import png
from hostlib import require

CTL = os.environ.get("GHYVI_CTL") or f"{hostlib.TREE}/build/ghyvictl"
PNG = "/run/ghyvi-screen.png"


def read_ppm(path):
    with open(path, "rb") as file:
        magic, size, depth, pixels = file.read().split(b"\n", 3)
    width, height = (int(word) for word in size.split())
    require((magic, depth, len(pixels)) == (b"P6", b"255", 3 * width * height), f"{path}: {magic} {size} {depth}")
    return width, height, pixels


def from_xrgb(pixels):
    """RGB bytes of a frame buffer of 32-bit little-endian words 0x..RRGGBB."""
    rgb = bytearray(len(pixels) // 4 * 3)
    for index in range(3):
        rgb[index::3] = pixels[2 - index::4]
    return bytes(rgb)


def from_rgb565(pixels):
    """RGB bytes of a frame buffer of 16-bit little-endian words; the upper bits of a colour are repeated below."""
    five, six = (bytes(value << 8 - bits | value >> 2 * bits - 8 for value in range(1 << bits)) for bits in (5, 6))
    words, rgb = array.array("H", pixels), bytearray(len(pixels) // 2 * 3)
    rgb[0::3] = bytes(five[word >> 11] for word in words)
    rgb[1::3] = bytes(six[word >> 5 & 63] for word in words)
    rgb[2::3] = bytes(five[word & 31] for word in words)
    return bytes(rgb)


def differs(shown, blank):
    """Whether a picture is neither black nor @blank, which QEMU shows as long as there is no other."""
    return shown != blank and any(shown[2])


def screenshot(vgpu):
    hostlib.must_run(CTL, "screenshot", vgpu.uuid, "-o", PNG)
    return png.read(PNG)


def of_flips(width, height, number):
    """What flips (selftests/guest) draws in buffer @number."""
    red = bytes((number << 7 | x >> 4) & 255 for x in range(width))
    rgb = bytearray(3 * width * height)
    for y in range(height):
        row = slice(3 * width * y, 3 * width * (y + 1))
        line = bytearray(3 * width)
        line[0::3] = red
        line[1::3] = bytes((x & 15) << 4 | y >> 8 for x in range(16)) * (width // 16)
        line[2::3] = bytes([y & 255]) * width
        rgb[row] = line
    return width, height, bytes(rgb)


def begin_flips(guest, arguments):
    """A program in the guest draws; the last picture stays."""
    guest.must_run(f"killall flips 2>/dev/null; rm -f /tmp/flips; (flips {arguments} --hold 600 >/tmp/flips 2>&1 &)")


def await_flips(guest):
    return guest.must_run("i=0; until grep -q ' flips in' /tmp/flips || [ $((i += 1)) -gt 600 ]; do sleep 0.1; done; "
                          "cat /tmp/flips; grep -q ' flips in' /tmp/flips", 120)
