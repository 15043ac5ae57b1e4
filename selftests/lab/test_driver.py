# SPDX-License-Identifier: GPL-2.0-only
"""The guest's unmodified i915: load, unload, reboot, and kill of QEMU."""

import os
import statistics

import fixture
import hostlib
from hostlib import Guest, eventually, require, require_figure
from ktap import Skip, long_test, say, test

RELOADS = 10
LOAD_RATIO_MAX = 1.5
LOADS_TIMED = 2  # per boot; each kind boots twice, and the median counts
KILL_WHEN = ("mmio_writes", "protects", "workloads")  # these grow early, in the middle and late
UNTRACKED = "/sys/module/ghyvi/parameters/untracked_ggtt"


def load_clean(generation):
    fixture.drop(generation)
    with fixture.vgpus(f"{generation}_4") as (vgpu,), fixture.guests(vgpu, names=[generation]) as (guest,):
        seconds, trouble = guest.load_driver()
        require(not trouble, "\n".join(trouble))
        interrupts = guest.must_run("grep i915 /proc/interrupts")
        require(any(int(word) for word in interrupts.split()[1:2]), f"no interrupts: {interrupts}")
        say(f"{generation}: loaded in {seconds:.2f} s; {vgpu.stats()}")
        guest.stop()
        vgpu.settle()


@test
def driver_loads_clean_on_gen9():
    load_clean("gen9")


@test
def driver_loads_clean_on_gen8():
    load_clean("gen8")


def reload(generation):
    vgpu, guest = fixture.guest(generation)
    times = []
    for _ in range(RELOADS):
        guest.unload_driver()
        seconds, trouble = guest.load_driver()
        require(not trouble, "\n".join(trouble))
        times.append(f"{seconds:.1f}")
    say(f"{generation}: {' '.join(times)} s; tables_now {vgpu.stat('tables_now')}, "
        f"pinned_pages_now {vgpu.stat('pinned_pages_now')}")


@test
def driver_reloads_ten_times_on_gen9():
    reload("gen9")


@long_test
def driver_reloads_ten_times_on_gen8():
    reload("gen8")


@test
def guest_survives_reboot():
    vgpu, guest = fixture.guest("gen9")
    pid = guest.pid()
    hostlib.must_run(hostlib.GUEST, "reboot", guest.name, timeout=120)
    require(guest.pid() == pid, "QEMU did not survive the reboot")
    resets = vgpu.stat("device_resets")
    require(resets > 0, "the reboot did not reset the vGPU")
    _, trouble = guest.load_driver()
    require(not trouble, "\n".join(trouble))
    guest.must_run("blitcheck --rounds 2 --contexts 2")


@long_test
def killing_qemu_during_driver_load_leaks_nothing():
    """The same vGPU serves one guest after the other."""
    with fixture.vgpus("gen9_4") as (vgpu,):
        for counter in KILL_WHEN:
            guest = Guest("killed", vgpu)
            before = vgpu.stat(counter)
            loading = guest.begin("modprobe i915")
            try:
                eventually(lambda: vgpu.stat(counter) > before, f"{counter} to grow", 60)
            finally:
                busy = vgpu.stats()
                guest.kill()
                loading.wait()
            vgpu.settle()
            say(f"killed after {counter} grew: {busy['tables_now']} tables, {busy['pinned_pages_now']} pages pinned then")


@long_test
def driver_load_costs_at_most_half_more_than_untracked():
    if not os.path.exists(UNTRACKED):
        raise Skip("ghyvi has no parameter untracked_ggtt")
    fixture.drop_all()
    times = {0: [], 1: []}
    # The kinds alternate, so that a change of the machine's load affects both.
    for untracked in (1, 0, 1, 0):
        hostlib.unload_modules()
        hostlib.load_modules(f"untracked_ggtt={untracked}")
        with fixture.vgpus("gen9_4") as (vgpu,), fixture.guests(vgpu, names=["timed"]) as (guest,):
            for _ in range(LOADS_TIMED):
                times[untracked].append(guest.load_driver()[0])
                guest.unload_driver()
    hostlib.unload_modules()
    say(f"tracked {times[0]}, untracked {times[1]}")
    # The median ignores a single load that ran while the machine was otherwise idle.
    times = {untracked: statistics.median(values) for untracked, values in times.items()}
    say(f"tracked {times[0]:.2f} s, untracked {times[1]:.2f} s")
    require_figure(times[0] <= LOAD_RATIO_MAX * times[1], f"{times[0]:.2f} s against {times[1]:.2f} s untracked")
