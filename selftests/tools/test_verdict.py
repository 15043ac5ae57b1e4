# SPDX-License-Identifier: GPL-2.0-only
"""The judgement of the emulated GPU's reports (selftests/native/verdict)."""

import os
import subprocess
import tempfile

from ktap import test
from toolslib import require

VERDICT = f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/native/verdict"
STALE = ("PPGTT entry changed and used without TLB invalidation", "ppgtt-stale")
ABSENT = ("engine access to a PPGTT address without an entry", "not-present")
GLOBAL = ("engine access to a GGTT address without an entry", "ggtt-not-present")
HOSTILE = "ok 1 hostile_guest_does_not_affect_other_guest # 9.0 s\nok 2 no_isolation_violation_and_no_leak # 1.0 s\n"
MIXED = "ok 1 guest_works_after_bad_batches # 2.0 s\n" + HOSTILE


def verdict(ktap, *found, end=True):
    """The status and the output for reports of the classes @found, three of each."""
    log = "".join(f"[    1.000000] VIOLATION {name}: rcs: address 0x1000\n" for _, name in found)
    log += "".join(f"[    2.000000] 3 times: {text} ({name})\n" for text, name in found)
    if end:
        log += f"[    2.000000] {3 * len(found)} violations\n"
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("log", log), ("ktap", ktap)):
            with open(f"{folder}/{name}", "w") as file:
                file.write(text)
        done = subprocess.run([VERDICT, f"{folder}/log", f"{folder}/ktap"], check=False,
                              stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


@test
def emulator_reports_count_except_two_of_a_hostile_guest():
    for ktap, found, status in ((HOSTILE, (), 0), (MIXED, (), 0), (HOSTILE, (STALE, ABSENT), 0), (MIXED, (STALE,), 1),
                                (MIXED, (ABSENT,), 1), ("", (ABSENT,), 1), (HOSTILE, (STALE, GLOBAL), 1)):
        got, out = verdict(ktap, *found)
        require(got == status, f"{found}: status {got}\n{out}")
        for _, name in found:
            require(f"# 3 times {name}" in out, out)
    require("VIOLATION ggtt-not-present" in out and "VIOLATION ppgtt-stale" not in out, out)


@test
def emulator_log_without_an_end_is_a_failure():
    for found in ((), (STALE,)):
        status, out = verdict(HOSTILE, *found, end=False)
        require(status == 1 and "no summary" in out, out)
