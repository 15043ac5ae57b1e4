# SPDX-License-Identifier: GPL-2.0-only
"""The table counts.txt: what fixed work costs, and what it may cost."""

import os
import statistics

TABLE = f"{os.path.dirname(os.path.abspath(__file__))}/counts.txt"


def table(path=TABLE):
    """policy -> counter -> (count, tolerance in percent)"""
    rows = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            if not line.startswith("#"):
                policy, counter, count, tolerance = line.split()
                rows.setdefault(policy, {})[counter] = int(count), int(tolerance)
    return rows


def spent(before, after):
    """counter -> growth, from two readings of stats/"""
    counts = {name: after[name] - before[name] for name in after}
    counts["mmio_writes_by_vmm"] = counts["mmio_writes"] - counts["mmio_writes_in_kernel"]
    return counts


def compare(rows, runs):
    """Compares the medians of @runs with the @rows of their policy. Returns two lists of lines: what is worse, and what
    is better by more than the tolerance."""
    worse, better = [], []
    for counter, (count, tolerance) in rows.items():
        median = statistics.median(run[counter] for run in runs)
        line = f"{counter} {median:.0f}, {count} +- {tolerance} %"
        if median > count * (1 + tolerance / 100):
            worse.append(line)
        elif median < count * (1 - tolerance / 100):
            better.append(line)
    return worse, better
