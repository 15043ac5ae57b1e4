# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's uevents, received as udev receives them."""

import os
import socket
import time

from hostlib import require

NETLINK_KOBJECT_UEVENT, KERNEL_GROUP = 15, 1


class Uevents:
    def __enter__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_KOBJECT_UEVENT)
        self.socket.bind((0, KERNEL_GROUP))
        return self

    def __exit__(self, *_):
        self.socket.close()

    def wait(self, uuid, event, seconds):
        """Returns the properties of the next GHYVI_EVENT=@event of the vGPU."""
        until = time.monotonic() + seconds
        seen = []
        while time.monotonic() < until:
            self.socket.settimeout(max(0.01, until - time.monotonic()))
            try:
                words = self.socket.recv(65536).decode(errors="replace").split("\0")
            except TimeoutError:
                break
            found = dict(word.split("=", 1) for word in words if "=" in word)
            seen.append(words[0])
            if os.path.basename(found.get("DEVPATH", "")) == uuid and found.get("GHYVI_EVENT") == event:
                return found
        require(False, f"no uevent '{event}' of {uuid} in {seconds} s, but {seen[-5:]}")
        return None
