# SPDX-License-Identifier: GPL-2.0-only
"""What kmemleak finds, where the host's kernel has it (make test-debug)."""

import os
import re
import time

from hostlib import read, require, write

KMEMLEAK = "/sys/kernel/debug/kmemleak"
AGE_S = 6  # kmemleak says nothing of objects younger than 5 s
SHOWN = 3


def command(word):
    error = write(KMEMLEAK, word)
    require(not error, f"kmemleak: {word}: {error}")


def forget_what_is_there():
    if os.path.exists(KMEMLEAK):
        command("clear")


class OurModules:
    """Recognises our functions in a backtrace, also when the modules are gone and their addresses have no names."""

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
    """No object of ours that nothing points to. The first scan of an object only notes what it contains."""
    if not os.path.exists(KMEMLEAK):
        return
    time.sleep(AGE_S)
    command("scan")
    command("scan")
    found = [entry for entry in read(KMEMLEAK).split("unreferenced object ")[1:] if ours.in_backtrace(entry)]
    require(not found, f"{len(found)} leaked objects; the first:\n" + "\n".join(found[:SHOWN]))
