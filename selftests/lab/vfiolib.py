# SPDX-License-Identifier: GPL-2.0-only
"""Opens a vGPU through VFIO as QEMU does, without QEMU: an empty KVM VM, a container, a group."""

import array
import fcntl
import os
import struct

KVM_CREATE_VM = 0xAE01
KVM_CREATE_DEVICE = 0xC00CAEE0
KVM_SET_DEVICE_ATTR = 0x4018AEE1
KVM_DEV_TYPE_VFIO = 4
KVM_DEV_VFIO_GROUP, KVM_DEV_VFIO_GROUP_ADD = 1, 1

VFIO_SET_IOMMU = 0x3B66
VFIO_GROUP_SET_CONTAINER = 0x3B68
VFIO_GROUP_GET_DEVICE_FD = 0x3B6A
VFIO_DEVICE_RESET = 0x3B6F
VFIO_DEVICE_FEATURE = 0x3B75
VFIO_TYPE1V2_IOMMU = 3

FEATURE_GET, FEATURE_SET, FEATURE_PROBE = 1 << 16, 1 << 17, 1 << 18
MIGRATION, MIG_DEVICE_STATE, MIG_DATA_SIZE = 1, 2, 9
STOP_COPY_FLAG, P2P_FLAG, PRE_COPY_FLAG = 1, 2, 4
ERROR, STOP, RUNNING, STOP_COPY, RESUMING, RUNNING_P2P, PRE_COPY, PRE_COPY_P2P = range(8)

CONFIG_REGION, BAR0_REGION, DISPLAY_REGION = 7, 0, 9
REGION_SHIFT = 40


class Device:
    def __init__(self, vgpu):
        self.kvm = os.open("/dev/kvm", os.O_RDWR)
        self.vm = fcntl.ioctl(self.kvm, KVM_CREATE_VM, 0)
        device = bytearray(struct.pack("III", KVM_DEV_TYPE_VFIO, 0, 0))
        fcntl.ioctl(self.vm, KVM_CREATE_DEVICE, device)
        self.kvm_vfio = struct.unpack("III", device)[1]
        self.container = os.open("/dev/vfio/vfio", os.O_RDWR)
        number = os.path.basename(os.readlink(f"{vgpu.path}/iommu_group"))
        self.group = os.open(f"/dev/vfio/{number}", os.O_RDWR)
        group = array.array("i", [self.group])
        fcntl.ioctl(self.kvm_vfio, KVM_SET_DEVICE_ATTR,
                    struct.pack("IIQQ", 0, KVM_DEV_VFIO_GROUP, KVM_DEV_VFIO_GROUP_ADD, group.buffer_info()[0]))
        fcntl.ioctl(self.group, VFIO_GROUP_SET_CONTAINER, struct.pack("i", self.container))
        fcntl.ioctl(self.container, VFIO_SET_IOMMU, VFIO_TYPE1V2_IOMMU)
        # Only with a mutable argument the result is the number that the ioctl returns.
        self.fd = fcntl.ioctl(self.group, VFIO_GROUP_GET_DEVICE_FD, bytearray(vgpu.uuid.encode() + b"\0"))

    def close(self):
        for fd in (self.fd, self.group, self.container, self.kvm_vfio, self.vm, self.kvm):
            os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def feature(self, number, flags, data=b""):
        """Returns the data; raises OSError."""
        request = bytearray(struct.pack("II", 8 + len(data), number | flags) + data)
        fcntl.ioctl(self.fd, VFIO_DEVICE_FEATURE, request)
        return bytes(request[8:])

    def flags(self):
        return struct.unpack("Q", self.feature(MIGRATION, FEATURE_GET, bytes(8)))[0]

    def state(self):
        return struct.unpack("Ii", self.feature(MIG_DEVICE_STATE, FEATURE_GET, bytes(8)))[0]

    def go(self, state):
        """Returns the file of a transfer that begins, or None; raises OSError."""
        fd = struct.unpack("Ii", self.feature(MIG_DEVICE_STATE, FEATURE_SET, struct.pack("Ii", state, -1)))[1]
        return None if fd < 0 else os.fdopen(fd, "wb" if state == RESUMING else "rb", buffering=0)

    def data_size(self):
        return struct.unpack("Q", self.feature(MIG_DATA_SIZE, FEATURE_GET, bytes(8)))[0]

    def reset(self):
        fcntl.ioctl(self.fd, VFIO_DEVICE_RESET)

    def read(self, region, offset, count=4):
        return os.pread(self.fd, count, region << REGION_SHIFT | offset)

    def write(self, region, offset, data):
        return os.pwrite(self.fd, data, region << REGION_SHIFT | offset)
