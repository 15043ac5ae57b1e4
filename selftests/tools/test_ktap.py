# SPDX-License-Identifier: GPL-2.0-only
"""The runner of the lab tests (selftests/lab/ktap.py) with a test that makes no progress, and long tests that go on."""

import os
import subprocess
import sys
import tempfile
from types import SimpleNamespace
from unittest import mock

import hostlib
import ktap
import opencllib
import patience
from ktap import test
from toolslib import require

RUN = """
import sys, time
import ktap
ktap.NO_PROGRESS_S = 1
@ktap.test
def is_stuck():
    time.sleep(60)
@ktap.test
def is_slow_and_prints():
    for _ in range(4):
        time.sleep(0.6)
        ktap.say("a step")
@ktap.test
def is_slow_and_starts_processes():
    import subprocess
    for _ in range(4):
        time.sleep(0.6)
        subprocess.run(["true"])
ktap.run(ktap.tests, lambda: None, lambda: None, lambda: None)
"""


@test
def stuck_lab_test_fails_and_later_tests_run():
    """A slow test that makes progress passes, independent of its total time."""
    done = patience.run([sys.executable, "-B", "-c", RUN], limit_s=60, stdout=subprocess.PIPE, text=True,
                        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.abspath(ktap.__file__))})
    for line in ("not ok 1 is_stuck", "ok 2 is_slow_and_prints",
                 "ok 3 is_slow_and_starts_processes", "Stuck: no progress for 1 s"):
        require(line in done.stdout, f"no '{line}' in {done.stdout}")
    require("\nok 1" not in done.stdout and done.returncode == 1, f"status {done.returncode}: {done.stdout}")


@test
def tests_are_chosen_by_name_and_file():
    """No test is in both halves of make test's lab tests, and none is in neither."""
    before = ktap.tests
    try:
        ktap.tests = [SimpleNamespace(__name__=name, __module__=module, long=name == "slow")
                      for name, module in (("one", "test_a"), ("two", "test_b"), ("slow", "test_b"))]
        for words, names in (("", "one two"), ("wo", "two"), ("test_b", "two"), ("-test_b", "one"), ("-test_a wo", "two"),
                             ("slow", "slow"), ("--long", "slow"), ("--long -test_b", ""), ("low", "")):
            got = " ".join(function.__name__ for function in ktap.chosen(words.split()))
            require(got == names, f"'{words}' chooses '{got}'")
    finally:
        ktap.tests = before


@test
def limits_of_time_grow_with_the_load():
    """The clock of the limits counts less while the same work takes longer."""
    clock = patience.Clock()
    for took_s, counted_s in ((0.001, 2), (0.004, 0.5), (0.1, 2 / patience.SLOWEST)):
        for _ in range(patience.AVERAGED):
            clock.add(took_s)
        before, clock.last = clock.counted, clock.last - 2
        clock.add(took_s)
        require(abs(clock.counted - before - counted_s) < 0.1, f"{clock.counted - before} s, not {counted_s} s")


@test
def limit_of_a_program_that_hangs_ends_it():
    begun = patience.now()
    try:
        patience.run(["sleep", "600"], 1)
        require(False, "no exception")
    except subprocess.TimeoutExpired as late:
        require(late.timeout == 1 and 1 <= patience.now() - begun < 60, f"{late} after {patience.now() - begun} s")
    require(patience.run(["cat"], 20, input="text", capture_output=True, text=True).stdout == "text", "no input or output")


@test
def limit_of_a_program_counts_its_cpu_time():
    """While it, or a child of it, could run."""
    able, used = patience.tree_of(os.getpid())
    require(able and used > 0, f"this process can run, and has used {used} s")
    real, patience.tree_of = patience.tree_of, lambda pid: (True, 0.1)
    try:
        patience.run(["sleep", "4"], 1)  # as if it waited for a CPU
    finally:
        patience.tree_of = real
    try:
        patience.run(["sh", "-c", "while :; do :; done"], 1)
        require(False, "a program that runs for ever ended")
    except subprocess.TimeoutExpired:
        pass


@test
def programs_that_have_passed_run_again_after_a_rebuild():
    """What an interrupted run has noted counts for the same build only."""
    ran = []

    def run(command, _seconds):
        if command.startswith("cat"):
            return 0, "first\tone\tright\nsecond\ttwo\tright"
        ran.append(command.split()[-1])
        if ran == ["one", "two"]:
            raise InterruptedError
        return 0, "right"

    with tempfile.TemporaryDirectory() as out, mock.patch.multiple(hostlib, OUT=out, MODULES=out, EUD=f"{out}/eud"), \
            mock.patch.dict(os.environ, GHYVI_OTHERS="/disk"):
        for build, expected in (("old", "one two"), ("new", "one two one two"), ("old", "one two one two two")):
            with open(f"{out}/ghyvi.ko", "w", encoding="ascii") as module:
                module.write(build)
            try:
                opencllib.others_pass("guest", run)
            except InterruptedError:
                pass
            require(" ".join(ran) == expected, f"{build} build: {ran}")
