# SPDX-License-Identifier: GPL-2.0-only
"""The judgement of what fixed work costs in the lab (selftests/lab/counts.py)."""

import counts
from ktap import test
from toolslib import require


@test
def each_count_that_grows_is_noticed():
    """For each line of counts.txt: what the tolerance allows passes; one run of three does not count; more is worse."""
    table = counts.table()
    require({"strict", "full", "adaptive"} <= set(table), f"policies {sorted(table)}")
    for policy, rows in table.items():
        usual = {counter: count for counter, (count, _) in rows.items()}
        for counter, (count, tolerance) in rows.items():
            require(0 < count and 0 < tolerance < 50, f"{policy} {counter}: {count} +- {tolerance} %")
            high = {**usual, counter: count * (1 + (tolerance + 1) / 100)}
            low = {**usual, counter: count * (1 - (tolerance + 1) / 100)}
            require(counts.compare(rows, [usual, high, usual]) == ([], []), f"{policy} {counter}: one high run")
            for run, found in ((high, 0), (low, 1)):
                lines = counts.compare(rows, [run, usual, run])
                require([len(line) for line in lines] == [1 - found, found] and counter in lines[found][0],
                        f"{policy} {counter}: {lines}")


@test
def exits_to_the_vmm_are_counted():
    spent = counts.spent({"mmio_writes": 10, "mmio_writes_in_kernel": 4}, {"mmio_writes": 30, "mmio_writes_in_kernel": 20})
    require(spent == {"mmio_writes": 20, "mmio_writes_in_kernel": 16, "mmio_writes_by_vmm": 4}, f"{spent}")
