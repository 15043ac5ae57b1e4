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


def failed(status, wanted, **counters):
    result = {"name": "gem_x@y", "status": status, **counters}
    return bool(igtlib.judge(result, {"gem_x@y": (wanted, "reason")}))


@test
def igt_result_fails_unless_it_is_the_expected_one_or_better():
    for status, wanted, fails in (("pass", "pass", False), ("skip", "pass", True), ("fail", "pass", True),
                                  ("pass", "fail", False), ("timeout", "fail", True), ("pass", "skip", True),
                                  ("skip", "skip", False), ("lost", "pass", True), ("fail", "?", False)):
        require(failed(status, wanted) == fails, f"{status}, expected {wanted}")


@test
def igt_result_fails_for_a_defect_whatever_is_expected():
    for name in ("check_differences", "oracle_violations", "failsafes", "kernel", "host"):
        for wanted in ("pass", "?"):
            require(failed("pass", wanted, **{name: 1}), f"{name}, expected {wanted}")
    require(not failed("pass", "pass", check_differences=0, checks=9), "no defect")


@test
def igt_list_is_valid_and_an_update_changes_only_what_has_not_run():
    require(len(igtlib.load_expected(LIST)) >= 500, "fewer than 500 subtests")
    with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
        file.write("# a comment\na@b ?\na@c pass\na@d ?\n")
        file.flush()
        igtlib.update_expected(file.name, {"a@b": {"status": "skip", "reason": "no fences"},
                                           "a@c": {"status": "fail", "reason": "of today"}})
        file.seek(0)
        text = file.read()
        require(text == "# a comment\na@b skip no fences\na@c pass\na@d ?\n", text)
        for bad in ("a@b skip\n", "a@b maybe\n", "a@b\n", "a@b pass\na@b pass\n"):
            file.seek(0)
            file.truncate()
            file.write(bad)
            file.flush()
            try:
                igtlib.load_expected(file.name)
            except igtlib.ListError:
                continue
            require(False, f"accepted: {bad}")
