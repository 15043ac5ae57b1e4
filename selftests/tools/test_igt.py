# SPDX-License-Identifier: GPL-2.0-only
"""The list of IGT's subtests (selftests/igt/expected.txt), and how results are judged."""

import os
import sys
import tempfile

sys.path.append(f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/igt")

import igtlib  # noqa: E402
from ktap import test  # noqa: E402
from toolslib import require  # noqa: E402

LIST = f"{os.path.dirname(os.path.abspath(igtlib.__file__))}/expected.txt"


def failed(status, wanted, reason="reason", **counters):
    result = {"name": "gem_x@y", "status": status, **counters}
    return bool(igtlib.judge(result, {"gem_x@y": (wanted, reason)}))


@test
def igt_result_fails_unless_it_is_the_expected_one_or_better():
    for status, wanted, fails in (("pass", "pass", False), ("skip", "pass", True), ("fail", "pass", True),
                                  ("pass", "fail", False), ("timeout", "fail", True), ("pass", "skip", True),
                                  ("skip", "skip", False), ("lost", "pass", True), ("fail", "?", False),
                                  ("pass", "flake", False), ("fail", "flake", False), ("timeout", "flake", False),
                                  ("skip", "flake", True), ("lost", "flake", True), ("fail", "omit", False)):
        require(failed(status, wanted) == fails, f"{status}, expected {wanted}")
    for status, limit_s, fails in (("timeout", 239, False), ("timeout", 240, True), ("pass", 60, False), ("fail", 60, True)):
        require(failed(status, "slow", "240 s, reason", limit_s=limit_s) == fails, f"{status} at a limit of {limit_s} s")


@test
def igt_result_fails_for_a_defect_whatever_is_expected():
    for name in ("check_differences", "oracle_violations", "failsafes", "kernel", "host"):
        for wanted in ("pass", "?"):
            require(failed("pass", wanted, **{name: 1}), f"{name}, expected {wanted}")
    require(not failed("pass", "pass", check_differences=0, checks=9), "no defect")


OUTPUT = """IGT-Version: 2.2 (x86_64)
Starting subtest: b
Starting dynamic subtest: rcs0
Dynamic subtest rcs0: SUCCESS (0.1s)
Subtest b: SUCCESS (0.2s)
Starting subtest: a
(gem_x:12) CRITICAL: Test assertion failure function f, file x.c:1:
(gem_x:12) CRITICAL: Failed assertion: x == 0
Subtest a failed.
Subtest a: FAIL (1.234s)
Test requirement not met in function g, file x.c:2:
Subtest c: SKIP (0.000s)
Subtest not-asked-for: SKIP (0.000s)
Subtest d: SKIP (0.000s)
Starting subtest: f
Received signal SIGSEGV.
"""


@test
def igt_output_is_divided_among_subtests():
    output = igtlib.Output(["a", "b", "c", "d", "e", "f"])
    found = [result for result in map(output.feed, OUTPUT.splitlines(keepends=True)) if result]
    statuses = [(name, status) for name, status, _ in found]
    require(statuses == [("b", "pass"), ("a", "fail"), ("c", "skip"), ("d", "skip")], statuses)
    reasons = [reason for _, _, reason in found]
    require(reasons[0] == "" and "x == 0" in reasons[1] and "function g" in reasons[2], reasons)
    require(reasons[3] == reasons[2], "the reason of a skipped program")
    name, status, reason = output.end(139)
    require((name, status) == ("f", "fail") and "SIGSEGV" in reason, f"{name} {status} {reason}")


@test
def igt_program_without_a_result_has_not_passed():
    for subtest, ended, wanted in (("a", 0, "invalid"), ("a", 77, "invalid"), ("a", 98, "fail"), ("a", 79, "invalid"),
                                   ("a", "timeout", "timeout"), ("a", "lost", "lost"), ("", 0, "pass"),
                                   ("", 77, "skip"), ("", 139, "fail")):
        _, status, _ = igtlib.Output([subtest]).end(ended)
        require(status == wanted, f"'{subtest}' ended with {ended}: {status}, expected {wanted}")
    require(igtlib.Output([]).end(0) is None, "a result more than asked for")
    require(igtlib.Output(["a"]).end("timeout")[2], "the list needs a reason for each that does not pass")


@test
def igt_subtest_that_ran_out_of_time_runs_again_with_more():
    results = {"a": {"status": "timeout", "limit_s": 20}, "b": {"status": "fail", "limit_s": 20},
               "c": {"status": "timeout", "limit_s": 60}}
    require(igtlib.to_run("abcd", results, 60) == ["a", "d"], igtlib.to_run("abcd", results, 60))
    require(igtlib.to_run("abcd", results, 20) == ["d"], igtlib.to_run("abcd", results, 20))


@test
def igt_list_is_valid_and_an_update_changes_only_what_has_not_run():
    require(len(igtlib.load_expected(LIST)) >= 500, "fewer than 500 subtests")
    with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
        file.write("# a comment\na@b ?\na@c pass\na@d ?\n")
        file.flush()
        igtlib.update_expected(file.name, {"a@b": {"status": "skip", "reason": "no\nfences\n"},
                                           "a@d": {"status": "timeout", "limit_s": igtlib.LIMIT_S - 1},
                                           "a@c": {"status": "fail", "reason": "of today"}}, {})
        file.seek(0)
        text = file.read()
        require(text == "# a comment\na@b skip no fences\na@c pass\na@d ?\n", text)
        file.seek(0)
        file.truncate()
        file.write("a@b timeout the emulator\n")
        file.flush()
        for seconds, row in ((59, "timeout"), (61.2, "slow 180 s,")):
            igtlib.update_expected(file.name, {"a@b": {"status": "pass", "seconds": seconds}}, {})
            file.seek(0)
            text = file.read()
            require(text.startswith(f"a@b {row} the emulator\n"), text)
        for bad in ("a@b slow why\n", "a@b slow 60 s, why\n", "a@b slow 90 s\n", "a@b skip\n", "a@b maybe\n", "a@b\n", "a@b pass\na@b pass\n", "a@b omit\n", "a@b flake why\n",
                    "a@b flake 1/4\n", "a@b flake 0/4 why\n", "a@b flake 4/4 why\n", "[full]\na@b pass\n",
                    "a@b pass\n[full]\na@b ?\n", "a@b pass\n[full]\na@b omit why\na@b omit why\n"):
            file.seek(0)
            file.truncate()
            file.write(bad)
            file.flush()
            try:
                igtlib.load_expected(file.name)
            except igtlib.ListError:
                continue
            require(False, f"accepted: {bad}")


ROWS = """a@b pass
a@c fail no fences
a@d omit it hangs the guest
a@e flake 1/4 a race of the test
[full]
a@b omit too slow
a@d pass
[nested]
a@c pass
"""


def listed(text, policy):
    with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
        file.write(text)
        file.flush()
        return igtlib.load_expected(file.name, policy)


@test
def igt_list_has_exceptions_by_policy():
    statuses = {policy: [status for status, _ in listed(ROWS, policy).values()] for policy in ("", "full", "nested")}
    require(statuses == {"": ["pass", "fail", "omit", "flake"], "full": ["omit", "fail", "pass", "flake"],
                         "nested": ["pass", "pass", "omit", "flake"]}, statuses)


@test
def igt_runs_what_is_omitted_only_by_its_whole_name():
    expected = listed(ROWS, "")
    for words, names in (((), ["a@b", "a@c", "a@e"]), (("a@",), ["a@b", "a@c", "a@e"]), (("a@d",), ["a@d"]),
                         (("a@d", "@c"), ["a@c", "a@d"])):
        require(igtlib.wanted(expected, words) == names, f"{words}: {igtlib.wanted(expected, words)}")


def tally_of(*runs):
    """What runs of a@e leave, each with the results that it prints."""
    tally = {}
    for results in runs:
        run = {}
        for status in results:
            igtlib.count(tally, run, {"name": "a@e", "status": status})
    return tally


@test
def igt_flake_has_a_rate_and_passes_now_and_then():
    expected = listed(ROWS, "")
    # A second result in one run replaces the first.
    found = list(igtlib.flakes(tally_of(["pass"], ["pass", "fail"], ["pass"]), expected))
    require(found == [("a@e", "failed in 1 of 3 runs, listed with 1/4", None)], found)
    never = [["fail"]] * igtlib.FLAKE_RUNS
    require(not list(igtlib.flakes(tally_of(*never[1:]), expected))[0][2], "too few runs to tell")
    require(list(igtlib.flakes(tally_of(*never), expected))[0][2], "a flake that never passes")
    # One that the list does not know.
    found = list(igtlib.flakes(tally_of(["pass"], ["timeout"]), {"a@e": ("pass", "")}))
    require(found == [("a@e", "failed in 1 of 2 runs, listed as pass", None)], found)
    require(not list(igtlib.flakes(tally_of(["pass"], ["pass"]), {"a@e": ("pass", "")})), "it always passes")


@test
def igt_update_writes_the_rate_of_a_flake():
    with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
        file.write("a@e ?\n")
        file.flush()
        igtlib.update_expected(file.name, {"a@e": {"status": "pass"}}, tally_of(["fail"], ["pass"], ["pass"]))
        file.seek(0)
        text = file.read()
        require(text == "a@e flake 1/3 not explained\n", text)
        igtlib.load_expected(file.name)
