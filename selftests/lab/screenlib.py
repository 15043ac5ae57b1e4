# SPDX-License-Identifier: GPL-2.0-only
"""A vGPU's display without a driver: a program maps memory for the VM and the device, and stores to its registers.

Expected pictures are computed here, pixel by pixel."""

import ctypes
import fcntl
import mmap
import struct
import time

import vfiolib
from hostlib import require

KVM_SET_USER_MEMORY_REGION = 0x4020AE46
VFIO_IOMMU_MAP_DMA = 0x3B71
VFIO_DEVICE_QUERY_GFX_PLANE = 0x3B72
READ, WRITE = 1, 2
PROBE, DMABUF, REGION = 1, 2, 4
XRGB8888 = int.from_bytes(b"XR24", "little")
PLANE = "IIIIQIIIIIIIIII"  # struct vfio_device_gfx_plane_info

PIPEASRC, PIPEACONF = 0x6001C, 0x70008
CURACNTR, CURABASE, CURAPOS = 0x70080, 0x70084, 0x70088
PLANE_CTL, PLANE_STRIDE, PLANE_POS, PLANE_SIZE, PLANE_SURF, PLANE_OFFSET = (0x70180, 0x70188, 0x7018C, 0x70190, 0x7019C,
                                                                            0x701A4)
PVINFO_HIDDEN_BASE = 0x78048
ENABLE = 1 << 31
FORMAT_XRGB, CURSOR_64_ARGB = 4 << 24, 0x27
LINEAR, X_TILED, Y_TILED = 0, 1 << 10, 4 << 10
GGTT_OFFSET = 8 << 20
PCI_COMMAND, PCI_COMMAND_MEMORY, PCI_BAR0, BAR0_GPA = 4, 2, 0x10, 0xC0000000
PAGE = 4096
IOVA = 1 << 20
IDLE_S, POLL_S = 10, 0.033


class Screen:
    """An open vGPU whose GGTT maps @pages pages of memory at @base, in the reverse order."""

    def __init__(self, device, pages):
        self.device = device
        self.pages = pages
        self.memory = mmap.mmap(-1, pages * PAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        fcntl.ioctl(device.vm, KVM_SET_USER_MEMORY_REGION, struct.pack("IIQQQ", 0, 0, IOVA, pages * PAGE, address))
        fcntl.ioctl(device.container, VFIO_IOMMU_MAP_DMA,
                    struct.pack("IIQQQ", 32, READ | WRITE, address, IOVA, pages * PAGE))
        # Without an address of BAR 0 there is no GGTT.
        device.write(vfiolib.CONFIG_REGION, PCI_BAR0, struct.pack("I", BAR0_GPA))
        device.write(vfiolib.CONFIG_REGION, PCI_COMMAND, struct.pack("H", PCI_COMMAND_MEMORY))
        self.base = struct.unpack("I", device.read(vfiolib.BAR0_REGION, PVINFO_HIDDEN_BASE))[0]
        for page in range(pages):
            self.map_page(page, IOVA + (pages - 1 - page) * PAGE | 3)

    def map_page(self, page, entry):
        self.device.write(vfiolib.BAR0_REGION, GGTT_OFFSET + (self.base // PAGE + page) * 8, struct.pack("Q", entry))

    def poke(self, register, value):
        self.device.write(vfiolib.BAR0_REGION, register, struct.pack("I", value))

    def put(self, offset, data):
        """Stores behind the GGTT, from @offset of the mapped part on."""
        while data:
            page, start = divmod(offset, PAGE)
            part = data[:PAGE - start]
            at = (self.pages - 1 - page) * PAGE + start
            self.memory[at:at + len(part)] = part
            data, offset = data[len(part):], offset + len(part)

    def show(self, width, height, tiling, stride):
        self.poke(PIPEASRC, (width - 1) << 16 | height - 1)
        self.poke(PLANE_POS, 0)
        self.poke(PLANE_OFFSET, 0)
        self.poke(PLANE_SIZE, (height - 1) << 16 | width - 1)
        self.poke(PLANE_STRIDE, stride)
        self.poke(PLANE_CTL, ENABLE | FORMAT_XRGB | tiling)
        self.poke(PLANE_SURF, self.base)
        self.poke(PIPEACONF, ENABLE)

    def query(self, flags=REGION):
        """(format, width, height, stride, size, region) of the plane; raises OSError."""
        plane = bytearray(struct.pack(PLANE, struct.calcsize(PLANE), flags, *[0] * 13))
        fcntl.ioctl(self.device.fd, VFIO_DEVICE_QUERY_GFX_PLANE, plane)
        words = struct.unpack(PLANE, plane)
        return (words[3], *words[5:9], words[13])

    def picture(self):
        """(width, height, pixels) of the region as a mapping shows it."""
        form, width, height, stride, size, region = self.query()
        require((form, stride, size) == (XRGB8888, width * 4, width * height * 4), f"plane {form:#x} {stride} {size}")
        with mmap.mmap(self.device.fd, (size + PAGE - 1) // PAGE * PAGE, mmap.MAP_SHARED, mmap.PROT_READ,
                       offset=region << vfiolib.REGION_SHIFT) as mapped:
            pixels = mapped[:size]
        require(self.device.read(region, 0, PAGE) == pixels[:PAGE], "a read differs from the mapping")
        return width, height, pixels


def pattern(width, height, seed):
    """Rows of pixels 0x00RRGGBB, no two neighbours alike."""
    return [[(x * 0x10305 + y * 0x70b01 + seed * 0x11111) & 0xFFFFFF for x in range(width)] for y in range(height)]


def place(tiling, stride, x, y):
    """The offset of pixel (x, y) in a surface."""
    x *= 4
    if tiling == LINEAR:
        return y * stride * 64 + x
    if tiling == X_TILED:
        return (y // 8 * stride + x // 512) * PAGE + y % 8 * 512 + x % 512
    return (y // 32 * stride + x // 128) * PAGE + x % 128 // 16 * 512 + y % 32 * 16 + x % 16


def surface(rows, tiling, stride, size):
    memory = bytearray(size)
    for y, row in enumerate(rows):
        for x, pixel in enumerate(row):
            struct.pack_into("I", memory, place(tiling, stride, x, y), pixel)
    return bytes(memory)


def packed(rows):
    return b"".join(struct.pack(f"{len(row)}I", *row) for row in rows)


def share_of_cpu(screen, flags):
    """What polling as often as QEMU does takes of a CPU: the queries, and this program."""
    began, used = time.monotonic(), time.thread_time()
    while time.monotonic() < began + IDLE_S:
        time.sleep(POLL_S)
        screen.query(flags)
    return (time.thread_time() - used) / (time.monotonic() - began)
