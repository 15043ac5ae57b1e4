# SPDX-License-Identifier: GPL-2.0-only
"""Tests of tools/compare that need no benchmark. selftests/docs compares the page with its results."""

import os
import subprocess
import sys
from unittest import mock

from ktap import test
from toolslib import require

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [f"{TREE}/tools/compare", f"{TREE}/tools/bench"]
import benchlib  # noqa: E402
import measure  # noqa: E402
import page  # noqa: E402


@test
def failed_benchmark_is_named_and_its_old_report_is_not_used():
    def make(command, **_):
        return subprocess.CompletedProcess(command, 2 if measure.LAB["whole"] in command else 0)

    said = []
    with mock.patch.object(measure.subprocess, "run", make):
        failed = list(measure.in_lab(["ghyvi", "whole", "pocl"], said.append))
    require(failed == ["whole"], f"{failed}")
    require(any("whole: skipped: make bench-whole failed with status 2" in line for line in said), f"{said}")
    require(not any("ghyvi:" in line for line in said), f"a part without the lab was measured: {said}")


@test
def part_without_a_report_is_skipped_with_the_command_that_makes_it():
    with mock.patch.object(measure, "BUILD", "/nowhere"):
        for name, target in measure.LAB.items():
            try:
                measure.PARTS[name](lambda _: None)
            except measure.Skipped as reason:
                require(f"make {target}" in str(reason), f"{name}: {reason}")
            else:
                require(False, f"{name} has results without a report")


@test
def sentence_about_a_failed_system_is_left_out():
    section = page.load()["pocl"]
    require([line.split(",")[0] for line in page.block(section)] == ["With PoCL", "With ghyvi"], "a sentence is missing")
    without = {**section, "relative": {"ghyvi": section["relative"]["ghyvi"]}}
    require([line.split(",")[0] for line in page.block(without)] == ["With ghyvi"], f"{list(page.block(without))}")


@test
def every_part_has_a_table():
    require(set(measure.PARTS) == set(page.SECTIONS), f"{set(measure.PARTS) ^ set(page.SECTIONS)}")


HISTOGRAM = """# event histogram
#
# trigger info: hist:keys=exit_reason:vals=hitcount:sort=hitcount:size=2048 [active]
#

{ exit_reason:         96 } hitcount:          2
{ exit_reason:       1024 } hitcount:         40

Totals:
    Hits: 42
    Entries: 2
    Dropped: %d
"""


@test
def histogram_is_read_and_one_without_room_is_refused():
    found = benchlib.histogram_of(HISTOGRAM % 0)
    require(found == {96: 2, 1024: 40}, f"{found}")
    require(benchlib.histogram_of("# event histogram") == {}, "an empty histogram has counts")
    require(benchlib.increase(found, {96: 2, 1024: 30}) == {1024: 10}, "what did not change is counted")
    try:
        benchlib.histogram_of(HISTOGRAM % 1)
    except benchlib.hostlib.Problem:
        return
    require(False, "a histogram that dropped events was read")


def gvtg_section():
    """GVT-g and one policy: 2 submissions for each case, and the counts of the policy half as large."""
    def one(half, **others):
        return {"seconds": 4 / half, "exits": 200 // half, "mmio_exits": 0, "write_protected": 0, "registers": 0, "ggtt": 0,
                "submissions": 2, "reasons": {"npf": 199 // half, "hlt": 1}, "guest_read_bytes": 8192 // half,
                "guest_read_words_bytes": 16, "guest_written_bytes": 4096, "guest_written_words_bytes": 0, **others}

    cases = [case for case, _, _ in page.GVTG_CASES]
    return {"machine": {}, "problems": [], "systems": {"gvtg": {case: one(1) for case in cases},
                                                       "adaptive:trapped": {case: one(2) for case in cases}}}


@test
def exits_are_listed_by_reason_and_rare_reasons_together():
    rows = list(page.gvtg_exits(gvtg_section()))
    require(rows[0] == ("case", "system", "`npf`", "others"), f"{rows[0]}")
    require(("load of i915", "GVT-g", 199, 1) in rows, f"{rows}")
    require(("gem_blt, for each submission", "`adaptive`, `bar_remap` off", "49.5", "0.5") in rows, f"{rows}")
    require(not any("creation" in row[0] for row in rows), "a case without a guest has exits")


@test
def copies_are_bytes_for_each_submission():
    rows = list(page.gvtg_copies(gvtg_section()))
    require(("gmedia", "GVT-g", "4096", "8", "2048", "0") in rows, f"{rows}")
    require(("gmedia", "`adaptive`, `bar_remap` off", "2048", "8", "2048", "0") in rows, f"{rows}")


@test
def times_are_relative_to_gvtg():
    section = gvtg_section()
    ours = section["systems"]["adaptive:trapped"]
    ours["gmedia"]["failed"] = "status 1"
    ours["gem_blt"]["submissions"] = 4
    ours["load"]["driver_s"] = section["systems"]["gvtg"]["load"]["driver_s"] = 3
    rows = list(page.gvtg_times(section))
    require(rows[0] == ("case", "`adaptive`, `bar_remap` off"), f"{rows[0]}")
    require(("blitcheck", "0.5") in rows, f"the time of the case: {rows}")
    require(("gem_blt, for each submission", "0.25") in rows, f"the time of a submission: {rows}")
    require(("load of i915", "1") in rows, f"the time of the driver: {rows}")
    require(("gmedia", "failed") in rows, f"{rows}")


@test
def results_without_reasons_have_the_other_tables():
    section = gvtg_section()
    whole = page.gvtg(section)
    require(sum(line.startswith("| case |") for line in whole) == 4, f"{whole}")
    for cases in section["systems"].values():
        for one in cases.values():
            del one["reasons"]
    fewer = page.gvtg(section)
    require(sum(line.startswith("| case |") for line in fewer) == 2 and fewer == whole[:len(fewer)], f"{fewer}")


@test
def a_run_of_some_systems_only_is_no_result():
    everything = {"machine": {}, "problems": [], "systems": {name: {} for name in page.load()["gvtg"]["systems"]}}
    some = {**everything, "systems": {"adaptive": {}}}
    with mock.patch.object(measure, "report_of", lambda bench: everything):
        require(set(measure.gvtg(print)["systems"]) == set(everything["systems"]), "a complete run is refused")
    with mock.patch.object(measure, "report_of", lambda bench: some):
        try:
            measure.gvtg(print)
        except measure.Skipped as reason:
            require("gvtg" in str(reason), f"{reason}")
            return
    require(False, "an incomplete run was taken for a result")
