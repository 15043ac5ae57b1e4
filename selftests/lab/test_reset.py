# SPDX-License-Identifier: GPL-2.0-only
"""Resets a vGPU that i915 uses, in every possible way; the guest must work afterwards."""

import re
import time

import fixture
import hostlib
from hostlib import eventually, require
from ktap import say, test
from test_ctl import DONE, ctl

LOOKS = 10  # samples in a row; eventually() takes one every 0.1 s
NOTICE_S = 60
RESETS = 5  # until one comes while an engine is active
GIVEN_UP = "Failed to reset chip"
ALL_ENGINES = "0xffffffff"
PARAMETERS = f"{hostlib.GUEST_DEBUGFS}/dri/0/i915_params"
FULL_RESETS, ENGINE_RESETS = 1, 3  # i915's parameter "reset"
CHECKS = "blitcheck --rounds 2 --contexts 2"
HUNG = "blitcheck --exec loop"


def busy(vgpu, guest, command=hostlib.BUSY_BLITTER):
    """Starts a command in the guest and waits until it keeps an engine busy."""
    work = guest.begin(command)
    in_a_row = 0

    def looks_busy():
        nonlocal in_a_row
        in_a_row = in_a_row + 1 if vgpu.stat("queued_bcs_now") + vgpu.stat("queued_rcs_now") else 0
        return in_a_row >= LOOKS

    # A short job would be seen by fewer samples in a row.
    eventually(looks_busy, "work to be under way", 60)
    return work


def end(work, guest):
    guest.run("kill $(busybox pidof gem_blt blitcheck)")
    work.wait(60)


def works(vgpu, guest, how):
    begin = time.monotonic()
    guest.must_run(CHECKS, 60)
    require(vgpu.state() == "open", f"{how}: {vgpu.state()}")
    require(GIVEN_UP not in guest.log(), f"{how}: i915 declared the GPU wedged")
    say(f"{how}: checks passed after {time.monotonic() - begin:.1f} s")


def engines(vgpu):
    """Lines of debugfs for the engines that are busy or halted."""
    lines = hostlib.read(f"/sys/kernel/debug/ghyvi/{vgpu.uuid}/engines").splitlines()
    return [line for line in lines if re.match(r"\w+: (halted|busy) ", line)]


def resets_of(guest):
    return [line for line in guest.log().splitlines() if "Resetting" in line]


def halts(vgpu, how, what, reset):
    """Resets the vGPU. Returns whether an engine lost its contexts, which i915 must notice."""
    before, noticed = vgpu.stat("device_resets"), vgpu.stat("engine_resets")
    reset()
    found = engines(vgpu)
    say(f"{how}, {what}: {found}")
    require(vgpu.stat("device_resets") == before + 1, f"{how}: not one device reset")
    return any(": halted " in line for line in found) or vgpu.stat("engine_resets") > noticed


def reset_from_outside(vgpu, guest, how, reset):
    """Resets the vGPU while an engine hangs, while one is busy, and while all are idle."""
    vgpu.set("policy/self_check", 1)
    for what, command in (("hung", HUNG), ("busy", hostlib.BUSY_BLITTER)):
        guest.clear_log()
        work = busy(vgpu, guest, command)
        noticed = vgpu.stat("engine_resets")
        # Between two submissions no engine is active, and a reset loses nothing.
        require(any(halts(vgpu, how, what, reset) for _ in range(RESETS)), f"{how}, {what}: no engine halted")
        eventually(lambda: vgpu.stat("engine_resets") > noticed, f"{how}, {what}: i915 to notice", NOTICE_S)
        eventually(lambda: resets_of(guest), f"{how}, {what}: i915 to log it", NOTICE_S)
        # i915 resets on the error interrupt. Its heartbeat would take 15 s or more.
        require("CS error" in resets_of(guest)[0], resets_of(guest)[0])
        end(work, guest)
        works(vgpu, guest, f"{how}, {what}")
    reset()
    works(vgpu, guest, f"{how}, idle")
    vgpu.set("policy/self_check", 0)


@test
def guest_works_after_resets_by_its_driver():
    vgpu, guest = fixture.guest("gen9")
    guest.must_run(f"test -d {hostlib.GUEST_DEBUGFS}/dri || mount -t debugfs none {hostlib.GUEST_DEBUGFS}")
    for kind, counter in ((FULL_RESETS, "device_resets"), (ENGINE_RESETS, "engine_resets")):
        guest.must_run(f"echo {kind} >{PARAMETERS}/reset")
        work = busy(vgpu, guest)
        before = vgpu.stat(counter)
        guest.must_run(f"echo {ALL_ENGINES} >{hostlib.GUEST_DEBUGFS}/dri/0/i915_wedged")
        require(vgpu.stat(counter) > before, f"{counter} did not grow")
        end(work, guest)
        works(vgpu, guest, counter)


@test
def guest_works_after_a_reset_through_sysfs():
    vgpu, guest = fixture.guest("gen9")
    reset_from_outside(vgpu, guest, "sysfs", lambda: vgpu.set("reset", 1))


@test
def guest_works_after_ghyvictl_reset():
    vgpu, guest = fixture.guest("gen8")
    reset_from_outside(vgpu, guest, "ghyvictl", lambda: ctl("reset", vgpu.uuid, expect=DONE))


@test
def guest_works_after_failsafe_is_lifted_and_its_driver_reloaded():
    vgpu, guest = fixture.guest("gen9")
    vgpu.set("containment/points_max", 1)
    try:
        attack = guest.begin("for i in 1 2 3 4; do blitcheck --exec unknown; done")
        eventually(lambda: vgpu.state() == "failsafe", "failsafe state", 60)
        # i915 declares a GPU wedged that does not respond.
        eventually(lambda: GIVEN_UP in guest.log(), "i915 to declare the GPU wedged", 180)
        attack.wait(180)
    finally:
        vgpu.set("containment/points_max", 256)
    out = ctl("reset", vgpu.uuid, expect=DONE)
    require("reload the guest's driver or restart the VM" in out, f"ghyvictl reset says: {out}")
    guest.unload_driver()
    guest.load_driver()
    works(vgpu, guest, "failsafe lifted")


@test
def guest_works_after_a_device_reset_by_vfio():
    """QEMU resets its VFIO devices when the machine is reset; i915 then probes the vGPU again."""
    vgpu, guest = fixture.guest("gen9")
    before = vgpu.stat("device_resets")
    work = busy(vgpu, guest)
    guest.monitor("system_reset")
    eventually(lambda: vgpu.stat("device_resets") > before, "the machine's reset to reset the vGPU", 60)
    work.kill()
    work.wait()
    hostlib.must_run(hostlib.GUEST, "wait", guest.name, timeout=200)
    guest.load_driver()
    works(vgpu, guest, "VFIO")
