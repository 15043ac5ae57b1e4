# SPDX-License-Identifier: GPL-2.0-only
"""GTT mappings: programs of a guest that access objects through the aperture (BAR 2)."""

import re

import fixture
import hostlib
import test_display
from hostlib import eventually, read, require
from ktap import long_test, say, test

SLOW = "--objects 2 --kib 16 --stride 512"
WINDOW_MIB = 64  # of a vGPU of type _4
SMALL_PAGES = ("--timeout", "600", "--qemu-args", *hostlib.small_pages(hostlib.MEMORY_MB))


def modes(vgpu):
    return re.findall(r"\w+", read(f"{vgpu.path}/policy/mode"))


def mappings_work(generation):
    vgpu, guest = fixture.guest(generation)
    guest.clear_log()
    before = vgpu.mode()
    for mode in modes(vgpu):
        vgpu.set("policy/mode", mode)
        say(f"{mode}: {guest.must_run(f'gttmap {SLOW}').strip()}")
    vgpu.set("policy/mode", before)


@test
def gtt_mappings_reach_their_objects_under_all_policies_on_gen9():
    mappings_work("gen9")


@long_test
def gtt_mappings_reach_their_objects_under_all_policies_on_gen8():
    mappings_work("gen8")


@test
def objects_that_exceed_the_aperture_move_in_it():
    """Each access to another object evicts one: its place in the aperture gets other pages."""
    vgpu, guest = fixture.guest("gen9")
    kib = (WINDOW_MIB << 10) // 2
    say(guest.must_run(f"gttmap --objects 3 --kib {kib} --stride 262144 --rounds 2", 200).strip())


@test
def program_that_accesses_a_mapping_can_be_killed():
    vgpu, guest = fixture.guest("gen9")
    guest.must_run("gttmap --hold >/tmp/hold 2>&1 & echo $! >/tmp/held")
    eventually(lambda: "accessing" in guest.run("cat /tmp/hold")[1], "the program accesses its mapping")
    guest.must_run("kill -9 $(cat /tmp/held)")
    eventually(lambda: guest.run("test -d /proc/$(cat /tmp/held)")[0], "the end of the killed program")
    say(guest.must_run(f"gttmap {SLOW}").strip())
    require(guest.run("gttmap --kib 4")[0] == 0, "no mapping after a program was killed")


@test
def mapped_aperture_does_not_exit():
    fixture.drop_all()
    hostlib.unload_modules()
    hostlib.load_modules("aperture=map")
    with fixture.vgpus("gen9_4") as (vgpu,), fixture.guests(vgpu, names=["mapped"], extra=SMALL_PAGES) as (guest,):
        _, trouble = guest.load_driver()
        require(not trouble, "\n".join(trouble))
        for mode in modes(vgpu):
            vgpu.set("policy/mode", mode)
            before = vgpu.stat("aperture_accesses")
            out = guest.must_run("gttmap --objects 2 --kib 128 --stride 256 --rounds 2")
            exits = vgpu.stat("aperture_accesses") - before
            say(f"{mode}: {exits} exits; {out.strip()}")
            accesses = int(re.search(r"(\d+) accesses", out).group(1))
            require(0 < exits <= accesses / 16, f"{mode}: {exits} exits for {accesses} accesses")
        vgpu.set("reset", 1)
        guest.stop()
        vgpu.settle()
    hostlib.unload_modules()


@long_test
def console_is_shown_through_a_mapped_aperture():
    """i915 5.10 has no other way to write it."""
    fixture.drop_all()
    hostlib.unload_modules()
    hostlib.load_modules("aperture=map")
    test_display.console_is_shown(SMALL_PAGES)
    hostlib.unload_modules()
