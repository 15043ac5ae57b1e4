# SPDX-License-Identifier: GPL-2.0-only
"""Private GGTTs: all vGPUs of a type have the same addresses, and keep out of each other's way."""

import contextlib
import errno
import os
import re
import struct

import fixture
import hostlib
import patience
import vfiolib
from hostlib import VGPU, available, require, types, write
from ktap import Skip, say, test

# From include/ghyvi/gen8_regs.h.
PVINFO_MAPPABLE_BASE = 0x78040
PVINFO_RANGES_BYTES = 16  # base and size of the mappable part, then of the hidden one

SMALLEST, SMALLEST_COUNT = "gen9_32", 32
MIB = 1 << 20
APERTURE_BYTES = 256 * MIB

SEEDS = (11, 12)
WORK_S = 10


def need_private_ggtts():
    if hostlib.PGPU != "softgpu":
        raise Skip("all vGPUs share the GGTT of this pGPU")


def ranges(device):
    """(base, bytes) of the mappable part of the GGTT and of the hidden one."""
    words = struct.unpack("4I", device.read(vfiolib.BAR0_REGION, PVINFO_MAPPABLE_BASE, PVINFO_RANGES_BYTES))
    return words[:2], words[2:]


@test
def thirty_two_vgpus_have_the_same_addresses():
    """All of a pGPU's vGPUs exist and are open at once."""
    need_private_ggtts()
    fixture.drop_all()
    with contextlib.ExitStack() as stack:
        vgpus = stack.enter_context(fixture.vgpus(*[SMALLEST] * SMALLEST_COUNT))
        for kind in types():
            require(available(kind) == 0, f"{kind}: {available(kind)} more are available")
        try:
            VGPU(SMALLEST).remove()
            require(False, f"one more than {SMALLEST_COUNT} was created")
        except OSError as error:
            require(error.errno in (errno.ENOSPC, errno.EUSERS), f"one more: {error}")
        seen = {ranges(stack.enter_context(vfiolib.Device(vgpu))) for vgpu in vgpus}
        require(len(seen) == 1, f"ranges {sorted(seen)}")
        (base, size), hidden = seen.pop()
        say(f"mappable {base:#x} + {size >> 20} MiB, hidden {hidden[0]:#x} + {hidden[1] >> 20} MiB")
        require((base, size) == (0, APERTURE_BYTES // SMALLEST_COUNT), f"mappable {base:#x}, {size:#x} bytes")
        require(hidden[0] == APERTURE_BYTES and hidden[1], f"hidden {hidden}")


@test
def addresses_depend_on_the_type_only():
    need_private_ggtts()
    with fixture.vgpus("gen9_8", "gen9_4", "gen8_8", "gen9_8") as vgpus:
        for vgpu in vgpus:
            with vfiolib.Device(vgpu) as device:
                (base, size), hidden = ranges(device)
            divisor = 4 if vgpu is vgpus[1] else 8
            require((base, size, hidden[0]) == (0, APERTURE_BYTES // divisor, APERTURE_BYTES), f"{(base, size, hidden)}")


@test
def slot_is_absent_with_private_ggtts():
    need_private_ggtts()
    with fixture.vgpus("gen9_8") as (vgpu,):
        require(not os.path.exists(f"{vgpu.path}/slot"), "there is a slot")
        error = write(f"{vgpu.path}/slot", 1)
        require(error and error.errno in (errno.ENOENT, errno.EACCES), f"a write gives {error}")


def balloon(guest):
    """What i915 logs about the parts of the GGTT that it owns."""
    return re.findall(r"((?:M|Unm)appable graphic memory: .*)", guest.log())


@test
def two_guests_at_the_same_addresses_work_side_by_side():
    """Contexts, rings and batches of both are at the same GGTT addresses all the time."""
    need_private_ggtts()
    fixture.drop_all()
    with fixture.vgpus("gen9_4", "gen9_4") as vgpus, fixture.guests(*vgpus) as guests:
        seen = []
        for guest in guests:
            _, trouble = guest.load_driver()
            require(not trouble, "\n".join(trouble))
            seen.append(balloon(guest))
        say("; ".join(seen[0]))
        require(len(seen[0]) == 2 and seen[0] == seen[1], f"{seen}")
        work = [guest.begin(f"blitcheck --seed {seed} --time {WORK_S} --contexts 2") for guest, seed in zip(guests, SEEDS)]
        for process, guest in zip(work, guests):
            out = patience.communicate(process, 200)[0].decode(errors="replace")
            require(process.returncode == 0, f"{guest.name}: status {process.returncode}\n{out.strip()}")
            say(f"{guest.name}: {out.strip().splitlines()[-1]}")
        for guest, vgpu in zip(guests, vgpus):
            guest.require_no_trouble()
            require(not vgpu.stat("engine_errors") and not vgpu.stat("engine_resets"), f"{guest.name}: {vgpu.last_error()}")
