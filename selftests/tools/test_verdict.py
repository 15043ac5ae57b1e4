# SPDX-License-Identifier: GPL-2.0-only
"""The judgements of what the emulated GPU reports (selftests/native: verdict and judge-oracle)."""

import json
import os
import subprocess
import tempfile

from ktap import test
from toolslib import require

NATIVE = f"{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}/native"
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
        done = subprocess.run([f"{NATIVE}/verdict", f"{folder}/log", f"{folder}/ktap"], check=False,
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


HOST_PAGE = 0x9000  # belongs to no guest
OWNERS = {"a": list(range(0x1000, 0x1100)), "b": list(range(0x2000, 0x2100))}


def accesses(lrca, life, frames, space="ppgtt", access="rw"):
    return [f"bcs {lrca:08x} {life} 0000001000 {space} {frame << 12:010x} {access}" for frame in frames]


# Each guest has a context, the second one at the place where the first one was.
ORDINARY = accesses(0xf8001000, 1, OWNERS["a"]) + accesses(0xf8001000, 2, OWNERS["b"]) + \
    accesses(0xf8001000, 1, [HOST_PAGE], "ppgtt", "rt") + accesses(0xf8001000, 2, [HOST_PAGE], "ggtt", "w")


def judge_oracle(lines, owners):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/oracle", "w") as file:
            file.write("".join(f"{line}\n" for line in lines))
        with open(f"{folder}/owners", "w") as file:
            json.dump(owners, file)
        done = subprocess.run([f"{NATIVE}/judge-oracle", f"{folder}/oracle", f"{folder}/owners"], check=False,
                              stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


@test
def oracle_finds_contexts_that_reach_another_guest():
    for lines, owners, status, text in (
            (ORDINARY, OWNERS, 0, "2 contexts"),
            (ORDINARY + accesses(0xf8001000, 1, [0x2000], access="r"), OWNERS, 1, "has reached pages of a, b"),
            (ORDINARY + accesses(0xf8001000, 2, [0x1000], "ggtt", "w"), OWNERS, 1, "has reached pages of a, b"),
            (ORDINARY + accesses(0xf8001000, 2, [0x1000], access="t"), OWNERS, 1, "has reached pages of a, b"),
            (ORDINARY + accesses(0xf8001000, 2, [HOST_PAGE + 1]), OWNERS, 1, "has written 0x9001000, a page of no guest"),
            # The kernel has moved a page, so it had two owners.
            (ORDINARY, {"a": OWNERS["a"], "b": OWNERS["b"] + [0x1000]}, 0, "1 pages had both"),
            # Nothing to judge by.
            (accesses(0xf8001000, 1, OWNERS["a"]), OWNERS, 1, "b: less than"),
            (accesses(0xf8001000, 1, OWNERS["a"]), {"a": OWNERS["a"]}, 1, "1 contexts"),
            ([], OWNERS, 1, "0 contexts")):
        got, out = judge_oracle(lines, owners)
        require(got == status and text in out, f"{text}: status {got}\n{out}")
