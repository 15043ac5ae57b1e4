# SPDX-License-Identifier: GPL-2.0-only
"""Containment of guests that exceed their budget or violate rules, and cleanup after their end."""

import time

import fixture
import hostlib
from hostlib import eventually, require
from ktap import say, test
from uevents import Uevents

ENDS = ("kill", "reset", "reboot")
BUSY_WORKLOADS = 30


@test
def endless_batch_ends_when_its_gpu_budget_is_used_up():
    vgpu, guest = fixture.guest("gen9")
    before = vgpu.stats()
    vgpu.set("containment/budget_ms", 300)
    try:
        guest.must_run("blitcheck --exec loop", 150)
    finally:
        vgpu.set("containment/budget_ms", 60000)
    overruns = vgpu.stat("budget_overruns") - before["budget_overruns"]
    require(overruns > 0, f"no overrun was counted; last_error: {vgpu.last_error()}")
    require(vgpu.stat("violations") > before["violations"], "no violation was counted")
    guest.must_run("blitcheck --rounds 2")


@test
def failsafe_after_too_many_bad_batches_is_lifted_by_reboot():
    vgpu, guest = fixture.guest("gen9")
    vgpu.set("containment/points_max", 1)
    vgpu.set("containment/window_ms", 3600000)  # no point drains meanwhile
    before = vgpu.stat("failsafes")
    try:
        opened = int(hostlib.read(f"{vgpu.path}/open_time"))
        require(0 < opened <= time.time(), f"open_time {opened}")
        require(int(hostlib.read(f"{vgpu.path}/open_pid")) == guest.pid(), "open_pid")
        with Uevents() as events:
            attack = guest.begin("for i in 1 2 3 4; do blitcheck --exec unknown; done")
            eventually(lambda: vgpu.state() == "failsafe", "failsafe state", 60)
            got = events.wait(vgpu.uuid, "failsafe", 60)
            require(got["GHYVI_STATE"] == "failsafe" and got["GHYVI_REASON"].startswith("failsafe: "), f"{got}")
            require(int(got["GHYVI_COUNT"]) == before + 1, f"{got}")
        vgpu.settle()
        require("failsafe" in vgpu.last_error(), f"last_error: {vgpu.last_error()}")
        require(vgpu.stat("failsafes") == before + 1, f"failsafes {before}, then {vgpu.stat('failsafes')}")
        require(guest.pid(), "QEMU has exited")
        attack.kill()
        attack.wait()
        resets = vgpu.stat("device_resets")
        guest.monitor("system_reset")
        eventually(lambda: vgpu.stat("device_resets") > resets, "the machine's reset to reset the vGPU", 60)
        hostlib.must_run(hostlib.GUEST, "wait", guest.name, timeout=200)
        require(vgpu.state() == "failsafe", "the reboot lifted failsafe before the points had drained")
        vgpu.set("containment/window_ms", 100)
        guest.load_driver()
        require(vgpu.state() == "open", "failsafe outlasts the points")
        guest.must_run("blitcheck --rounds 2")
    finally:
        vgpu.set("containment/points_max", 256)
        vgpu.set("containment/window_ms", 60000)


@test
def kill_reset_and_reboot_of_a_busy_guest_leak_nothing():
    """Guests are killed, killed after a reset through sysfs, and killed after a reboot.

    The same vGPU serves one guest after the other."""
    with fixture.vgpus("gen9_8") as (vgpu,):
        for how in ENDS:
            with fixture.guests(vgpu, names=["busy"]) as (guest,):
                guest.load_driver()
                resets, workloads = vgpu.stat("device_resets"), vgpu.stat("workloads")
                load = guest.begin("blitcheck --time 60 --contexts 2")
                eventually(lambda: vgpu.stat("workloads") > workloads + BUSY_WORKLOADS, "work to be under way", 60)
                if how == "reset":
                    vgpu.set("reset", 1)
                elif how == "reboot":
                    guest.monitor("system_reset")
                    eventually(lambda: vgpu.stat("device_resets") > resets, "the machine's reset to reset the vGPU", 60)
                say(f"{how}: after {vgpu.stat('workloads') - workloads} workloads, {vgpu.now_counters()}")
            load.kill()
            load.wait()
            vgpu.settle()
