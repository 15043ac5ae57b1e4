# SPDX-License-Identifier: GPL-2.0-only
"""GVT-g (mainline kvmgt) on the emulated GPU, with a guest on one of its vGPUs."""

import os
import re
import types

import fixture
import ktap
import opencllib
import patience
from ktap import long_test, test
from nativelib import GPU, OPENCL_S, TREE, load, require, require_no_defect, run, take_log, write

GUEST = f"{TREE}/tools/lab/guest"
TYPE = "i915-GVTg_V5_8"
UUID = "6d3f4b8a-0c3e-4b9e-9e55-0d1d5a6f0a01"
OPENCL_UUID = "6d3f4b8a-0c3e-4b9e-9e55-0d1d5a6f0a02"
# The GPU has no firmware, no VBT and no panel. None of that concerns the engines.
NO_DISPLAY = ("firmware", "VBT", "eDP", "DMC", "pcode", "Mailbox", "DP AUX", "connector")
# The guest does not see a hypervisor: otherwise its i915 fills the whole GGTT, entry by entry.
CPU = "host,-xsave,-avx,-avx2,-fma,-f16c,-hypervisor"
# The display that GVT-g emulates makes the guest's i915 warn (SAGV, flips), so only what concerns
# the engines counts there.
ENGINE_TROUBLE = re.compile(r"GPU HANG|Resetting |wedged|Fence expiration")
# A console on the emulated display would be drawn through the aperture, and each of its stores is
# an access to the emulated GPU.
NO_CONSOLE = "drm_kms_helper.fbdev_emulation=0"
GUEST_S = 500


def in_guest(command, timeout=GUEST_S):
    return run(GUEST, "run", "gvtg", "--timeout", str(patience.stretched(timeout)), "--", command, timeout=timeout + 30)


# A conventional PCI bus: the vGPU has a config space of 256 bytes, and QEMU would search the extended
# capabilities of a PCIe function for ever.
GUEST_OPTIONS = ("--machine", "pc", "--timeout", str(GUEST_S), "--append",
                 f"tsc_early_khz={os.environ['GHYVI_TSC_KHZ']} {NO_CONSOLE}", "--qemu-args", "-cpu", CPU)


def load_kvmgt():
    # GVT-g writes some 100 000 GGTT entries in one go. On a busy machine that takes long.
    write("/proc/sys/kernel/watchdog_thresh", "60")
    load("enable_gvt=1")
    # kvmgt reads the registers of an idle GPU without waking it up.
    write(f"{GPU}/power/control", "on")
    run("modprobe", "kvmgt")


def create(uuid):
    write(f"{GPU}/mdev_supported_types/{TYPE}/create", uuid)


@test
def kvmgt_loads():
    load_kvmgt()
    log = take_log()
    require_no_defect(log, NO_DISPLAY)
    require(os.path.isdir(f"{GPU}/mdev_supported_types/{TYPE}"), f"no type {TYPE}:\n" + "\n".join(log[-10:]))


@test
def vgpu_is_created():
    create(UUID)
    require(os.path.isdir(f"/sys/bus/mdev/devices/{UUID}"), "no device")
    require_no_defect(take_log(), NO_DISPLAY)


@test
def guest_with_i915_works():
    run(GUEST, "start", "gvtg", "--vgpu", UUID, *GUEST_OPTIONS, timeout=2 * GUEST_S)
    in_guest("modprobe i915")
    log = in_guest("dmesg")
    require("Virtual GPU for Intel GVT-g detected" in log, log[-1500:])
    require("Initialized i915" in log, log[-1500:])
    ktap.say(in_guest("$IGT/gem_exec_nop -e rcs -r 1").strip())
    in_guest("$IGT/gem_blt -s 65536 -t 20 -r 1")
    log = in_guest("dmesg")
    require(not ENGINE_TROUBLE.search(log), log[-1500:])


@test
def guest_powers_off():
    run(GUEST, "stop", "gvtg", timeout=60)
    write(f"/sys/bus/mdev/devices/{UUID}/remove", "1")
    require_no_defect(take_log(), NO_DISPLAY)


@long_test
def opencl_programs_of_a_guest_compute():
    """Debian's OpenCL runtime computes what PoCL does, on the guest's i915."""
    disk = opencllib.disk()
    create(OPENCL_UUID)
    try:
        with fixture.guests(types.SimpleNamespace(uuid=OPENCL_UUID), names=["opencl"], mem=opencllib.GUEST_MB,
                            timeout=2 * GUEST_S, extra=(*GUEST_OPTIONS, *disk)) as (guest,):
            guest.load_driver(GUEST_S)
            opencllib.compute_in(guest, OPENCL_S)
    finally:
        write(f"/sys/bus/mdev/devices/{OPENCL_UUID}/remove", "1")
