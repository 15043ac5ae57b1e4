# SPDX-License-Identifier: GPL-2.0-only
"""ghyvi-gen9 on the emulated GPU, for the tests of it."""

import os

import hostlib
import patience
from nativelib import GPU, TREE, run, write

MODULES = os.environ.get("GHYVI_MODULES") or f"{TREE}/build/module"
DRIVER = "/sys/bus/pci/drivers/ghyvi_gen9"
FUNCTION = os.path.basename(GPU)
GUEST_S = 300


def bound():
    return os.path.realpath(f"{GPU}/driver") == DRIVER


def load():
    if not os.path.isdir("/sys/module/ghyvi"):
        run("modprobe", "--all", "mdev", "vfio", "kvm", "irqbypass")
        run("insmod", f"{MODULES}/ghyvi.ko")
    if not os.path.isdir("/sys/module/ghyvi_gen9"):
        run("insmod", f"{MODULES}/ghyvi-gen9.ko")
    if not bound():
        write(f"{GPU}/driver_override", "ghyvi_gen9")
        write(f"{DRIVER}/bind", FUNCTION)


def start_guest(name, vgpu, extra=(), **options):
    return hostlib.Guest(name, vgpu, timeout=3 * GUEST_S, **options, extra=(
        "--append", f"tsc_early_khz={os.environ['GHYVI_TSC_KHZ']}", "--timeout", str(patience.stretched(2 * GUEST_S)), *extra))
