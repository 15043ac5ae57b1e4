# SPDX-License-Identifier: GPL-2.0-only
"""Two guests at work on ghyvi-gen9, and a note of their memory for judge-oracle.

These are the only guests of the boot: the oracle does not know when a page of the host has changed
its owner."""

import json
import os
import struct

import gen9lib
import hostlib
import ktap
from ktap import test
from nativelib import ENGINES, IGT, OUT, require, require_no_defect, take_log

PAGE = os.sysconf("SC_PAGE_SIZE")
# Of /proc/PID/pagemap: Documentation/admin-guide/mm/pagemap.rst of the kernel
PRESENT, FRAME = 1 << 63, (1 << 55) - 1
LOADS = ("blitcheck --rounds 2 --contexts 2", f"{IGT}/gem_blt -s 65536 -t 20 -r 1",
         "eucheck --kernel shares --groups 40 --rounds 3 --within",
         *(f"{IGT}/gem_exec_nop -e {engine} -r 1" for engine in ENGINES))


def frames_of(guest):
    """The page frames behind the memory of the guest's QEMU that is not of a file."""
    pid = hostlib.read(f"/run/ghyvi/guests/{guest.name}/pid")
    frames = set()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/pagemap", "rb") as pagemap:
        for line in maps:
            area, flags, _, _, inode, *_ = line.split()
            if "w" not in flags or inode != "0":
                continue
            start, end = (int(word, 16) // PAGE for word in area.split("-"))
            pagemap.seek(8 * start)
            data = pagemap.read(8 * (end - start))
            frames.update(word & FRAME for word, in struct.iter_unpack("Q", data) if word & PRESENT)
    return frames - {0}


def note(guests, owners):
    """Adds the frames that the guests have now. The kernel moves pages that are not pinned."""
    for guest in guests:
        owners.setdefault(guest.name, set()).update(frames_of(guest))


def compute_beside_an_endless_group(guests, vgpus, owners):
    """It gives way: each of its turns is saved in its guest's memory."""
    vgpus[0].set("containment/budget_ms", 0)
    guests[0].be_patient()  # the driver would take it for a hang
    guests[0].must_run("eucheck --kernel endless --groups 1 --within >/tmp/out 2>&1 &")
    hostlib.eventually(lambda: vgpus[0].stat("queued_rcs_now"), "the endless group")
    before = vgpus[0].stat("preemptions_rcs")
    note(guests, owners)
    guests[1].must_run("eucheck --rounds 3 | grep 'hash ac2c1dc5'", gen9lib.GUEST_S)
    given_way = vgpus[0].stat("preemptions_rcs") - before
    note(guests, owners)
    ktap.say(f"an endless group gave way {given_way} times")
    require(given_way and vgpus[0].stat("queued_rcs_now"), "the endless group did not give way, or has ended")


@test
def two_guests_at_work_are_noted():
    gen9lib.load()
    vgpus = [hostlib.VGPU("gen9_8") for _ in range(2)]
    guests, owners = [], {}
    try:
        for vgpu, name in zip(vgpus, ("oracle0", "oracle1")):
            guests.append(gen9lib.start_guest(name, vgpu))
        for guest in guests:
            _, trouble = guest.load_driver(gen9lib.GUEST_S)
            require(not trouble, "\n".join(trouble))
            note(guests, owners)
        for program in LOADS:
            ktap.progress()
            works = [guest.begin(program, gen9lib.GUEST_S * hostlib.SLOWNESS) for guest in guests]
            note(guests, owners)
            for guest, work in zip(guests, works):
                out = work.communicate()[0].decode(errors="replace")
                require(work.returncode == 0, f"{guest.name}: {program}: {out[-500:]}")
            note(guests, owners)
        compute_beside_an_endless_group(guests, vgpus, owners)
        for guest, vgpu in zip(guests, vgpus):
            trouble = hostlib.driver_trouble(guest.log())
            require(not trouble, "\n".join(trouble[:8]))
            ktap.say(f"{guest.name}: {len(owners[guest.name])} pages, {vgpu.stat('submissions_bcs')} submissions of bcs")
        with open(f"{OUT}/owners.json", "w") as file:
            json.dump({name: sorted(frames) for name, frames in owners.items()}, file)
    finally:
        for guest in guests:
            guest.kill()
        for vgpu in vgpus:
            vgpu.remove()
    require_no_defect(take_log())
