# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of a VM's screen, as QEMU's screendump writes them."""

from hostlib import require


def read_ppm(path):
    """Returns (width, height, RGB bytes)."""
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


def differs(shown, blank):
    """Whether a picture is neither black nor @blank, which QEMU shows as long as there is no other."""
    return shown != blank and any(shown[2])
