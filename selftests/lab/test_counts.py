# SPDX-License-Identifier: GPL-2.0-only
"""What a submission costs in traps, comparisons, interrupts and audited bytes does not grow unnoticed (counts.txt).

Counts in the unit build are exact (selftests/unit/counts_test.c). Here a stock i915 submits, so they depend a little on
which requests it merges."""

import os

import counts
import fixture
import hostlib
from hostlib import require, require_figure
from ktap import Skip, say, test

WORK = "blitcheck --rounds 4 --seed 1"
RUNS = 3


def counted_run(vgpu, guest):
    before = vgpu.stats()
    guest.must_run(WORK)
    return counts.spent(before, vgpu.stats())


@test
def fixed_work_costs_no_more_than_it_did():
    if hostlib.PGPU != "softgpu" or hostlib.SLOWNESS > 1 or os.environ.get("GHYVI_BAR_REMAP", "on") != "on":
        raise Skip("the table is of the software pGPU, with bar_remap, on a kernel without debugging")
    vgpu, guest = fixture.guest("gen9")
    mode = vgpu.mode()
    for policy, rows in counts.table().items():
        vgpu.set("policy/mode", policy)
        guest.must_run(WORK)  # the policy gets to know the pages
        worse, better = counts.compare(rows, [counted_run(vgpu, guest) for _ in range(RUNS)])
        for line in better:
            say(f"{policy}: {line}: better, change counts.txt")
        require_figure(not worse, f"{policy}: " + "; ".join(worse))
    vgpu.set("policy/mode", mode)
    require(vgpu.stat("check_differences") == 0, vgpu.last_error())
