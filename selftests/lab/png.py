# SPDX-License-Identifier: GPL-2.0-only
"""Reads PNG files of 8 bits of red, green and blue per pixel, as ghyvictl screenshot writes them."""

import struct
import zlib


def read(path):
    """(width, height, RGB bytes); raises ValueError for another kind of file."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed, header = 8, b"", (0, 0)
    while data[:8] == b"\x89PNG\r\n\x1a\n" and at < len(data):
        count, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at + 8:at + 8 + count]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", chunk)
        packed += chunk if kind == b"IDAT" else b""
        at += 12 + count
    width, height = header[:2]
    if header[2:] != (8, 2, 0, 0, 0):
        raise ValueError(f"{path}: no PNG file, or {header}")
    out, before, lines = bytearray(), bytes(3 * width), zlib.decompress(packed)
    for y in range(height):
        filtered, line = lines[y * (3 * width + 1)], bytearray(lines[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        if filtered:
            unfilter(filtered, line, before)
        before = bytes(line)
        out += before
    return width, height, bytes(out)


def unfilter(filtered, line, before):
    if filtered == 2:  # most lines of a screen; a loop takes minutes in the lab
        line[:] = bytes((value + above) & 255 for value, above in zip(line, before))
        return
    for x, value in enumerate(line):
        left, above, corner = (line[x - 3] if x > 2 else 0), before[x], (before[x - 3] if x > 2 else 0)
        if filtered == 4:  # Paeth, without calls
            to_left, to_above, to_corner = above - corner, left - corner, left + above - 2 * corner
            to_left, to_above, to_corner = to_left * to_left, to_above * to_above, to_corner * to_corner
            near = left if to_left <= to_above and to_left <= to_corner else above if to_above <= to_corner else corner
        else:
            near = left if filtered == 1 else (left + above) // 2
        line[x] = (value + near) & 255
