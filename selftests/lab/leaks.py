# SPDX-License-Identifier: GPL-2.0-only
"""Checks for leaks with kmemleak, if the host's kernel has it (make test-debug)."""

import os
import re
import time

from hostlib import read, require, write

KMEMLEAK = "/sys/kernel/debug/kmemleak"
AGE_S = 6  # kmemleak does not report objects younger than 5 s
SHOWN = 3


def command(word):
    error = write(KMEMLEAK, word)
    require(not error, f"kmemleak: {word}: {error}")


def ignore_existing_objects():
    if os.path.exists(KMEMLEAK):
        command("clear")


class OurModules:
    """Recognises functions of our modules in a backtrace.

    The address ranges are saved, because addresses have no symbol once the modules are unloaded."""

    def __init__(self):
        self.ranges = []
        for line in read("/proc/modules").splitlines():
            name, size, *_, address = line.split()[:6]
            if name.startswith("ghyvi"):
                self.ranges.append((int(address, 16), int(address, 16) + int(size)))

    def in_backtrace(self, text):
        addresses = [int(found, 16) for found in re.findall(r"\] 0x([0-9a-f]{16})", text)]
        return "[ghyvi" in text or any(first <= address < end for address in addresses for first, end in self.ranges)


def require_none(ours):
    """Fails if an object that our modules allocated is unreferenced.

    kmemleak scans twice: the first scan of an object only computes its checksum."""
    if not os.path.exists(KMEMLEAK):
        return
    time.sleep(AGE_S)
    command("scan")
    command("scan")
    found = [entry for entry in read(KMEMLEAK).split("unreferenced object ")[1:] if ours.in_backtrace(entry)]
    require(not found, f"{len(found)} leaked objects; the first:\n" + "\n".join(found[:SHOWN]))
