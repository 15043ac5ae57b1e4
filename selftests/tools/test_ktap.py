# SPDX-License-Identifier: GPL-2.0-only
"""The runner of the lab tests (selftests/lab/ktap.py) with a test that makes no progress."""

import os
import subprocess
import sys

import ktap
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
    done = subprocess.run([sys.executable, "-B", "-c", RUN], timeout=60, stdout=subprocess.PIPE, check=False, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.abspath(ktap.__file__))})
    for line in ("not ok 1 is_stuck", "ok 2 is_slow_and_prints",
                 "ok 3 is_slow_and_starts_processes", "Stuck: no progress for 1 s"):
        require(line in done.stdout, f"no '{line}' in {done.stdout}")
    require("\nok 1" not in done.stdout and done.returncode == 1, f"status {done.returncode}: {done.stdout}")
