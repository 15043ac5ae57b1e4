# SPDX-License-Identifier: GPL-2.0-only
"""ghyvictl silicon-report, and what the silicon stick masks in its report."""

import json
import os
import sys

from ktap import test
from toolslib import DONE, ERROR, USAGE, ctl, require, tree

sys.path.insert(0, f"{os.path.dirname(os.path.abspath(__file__))}/../../tools/silicon-stick")
import masking  # noqa: E402


def step(name, boot, result="passed", reason="", **figures):
    return {"name": name, "boot": boot, "result": result, "reason": reason, "seconds": 1.25, "figures": figures,
            "output": "much", "log": "more"}


def report(*steps, **more):
    return {"format": 1, "kind": "ghyvi-silicon-report", "ghyvi": "v1-2", "machine": {"cpu": "Some CPU", "board_name": ""},
            "boots": [], "steps": list(steps), **more}


def show(made, given, *options, expect=DONE):
    made.write("report.json", json.dumps(given))
    return ctl(made, "silicon-report", "report.json", *options, expect=expect)


NATIVE = step("i915-copies", "i915", copy_gib_s=8.0, nop_rcs_us=5)
GUEST = step("pt-one-guest", "pt", copy_gib_s=6.0, nop_rcs_us=10, other=3)


@test
def silicon_report_compares_guests_with_native_figures():
    with tree() as made:
        got = show(made, report(NATIVE, GUEST), "--json").json()
        require(got["counts"] == {"passed": 2, "failed": 0, "hung": 0, "skipped": 0}, f"{got['counts']}")
        native, guest = (one["figures"] for one in got["steps"])
        require(native["copy_gib_s"] == {"value": 8.0}, f"{native}")
        require(guest["copy_gib_s"] == {"value": 6.0, "native": 8.0, "percent_of_native": 75.0}, f"{guest}")
        require(guest["nop_rcs_us"]["percent_of_native"] == 200.0 and guest["other"] == {"value": 3}, f"{guest}")
        require("output" not in got["steps"][0], "the output is in the summary")
        text = show(made, report(NATIVE, GUEST)).out
        require("cpu: Some CPU" in text and "board_name" not in text, text)
        row = next(line.split() for line in text.splitlines() if line.startswith("copy_gib_s") and "pt-" in line)
        require(row == ["copy_gib_s", "pt-one-guest", "6", "8", "75.0"], f"{row}")
        require(text.splitlines()[-1] == "2 passed, 0 failed, 0 hung, 0 skipped", text)


@test
def silicon_report_counts_only_steps_that_passed():
    with tree() as made:
        failed = step("pt-one-guest", "pt", "failed", "no guest\nand more", copy_gib_s=6.0)
        hung = step("pt-resets", "pt", "hung", "the machine stopped")
        got = show(made, report(step("i915-copies", "i915", "failed", copy_gib_s=8.0), failed, hung), "--json", expect=ERROR).json()
        require(all(not one["figures"] for one in got["steps"]), f"{got}")
        require(got["counts"]["failed"] == 2 and got["counts"]["hung"] == 1, f"{got['counts']}")
        lines = show(made, report(NATIVE, failed, hung), expect=ERROR).out.splitlines()
        require(any(line.split()[:2] == ["pt-resets", "hung"] for line in lines), f"{lines}")
        require(any("no guest" in line for line in lines) and not any("and more" in line for line in lines), f"{lines}")
        show(made, report(NATIVE, hung), expect=ERROR)
        show(made, report(NATIVE, step("dmar-end", "dmar", "skipped", "no IOMMU")), expect=DONE)


@test
def silicon_report_distrusts_its_file():
    with tree() as made:
        for wrong in ({}, [], {"kind": "ghyvi-silicon-report"}, {**report(), "format": 2}, {**report(), "kind": "x"}):
            text = show(made, wrong, expect=USAGE)
            require("report.json" in text.err or "format" in text.err, f"{text}")
        odd = {"name": 7, "boot": None, "result": [], "seconds": "x", "figures": {"a": "b", "\x1b[2J": 1}}
        for steps in ([odd], {"a": 1}, 5, [3, None], [{**NATIVE, "figures": [1]}], [step("\x1b[2Jx", "pt", "passed", "\x1b")]):
            for machine in ({"\x1b[2J": "\x1b"}, [], None):
                out = ctl_output(made, {**report(), "steps": steps, "machine": machine})
                require("\x1b" not in out, repr(out))
        ctl(made, "silicon-report", expect=USAGE)
        ctl(made, "silicon-report", "none.json", expect=USAGE)


def ctl_output(made, given):
    return show(made, given).out


def require_masked(text, *gone, kept=()):
    masked = masking.mask(text, SECRETS)
    for word in gone:
        require(word not in masked, f"{word} is in: {masked}")
    for word in kept:
        require(word in masked, f"{word} is not in: {masked}")


SECRETS = {"PF0ABCDE", "4C530001"}


@test
def stick_masks_what_identifies_a_machine():
    require_masked("usb 1-1: SerialNumber: 4C530001230", "4C530001230", "4C530001", kept=["usb 1-1"])
    require_masked("System PF0ABCDE, pf0abcde.", "PF0ABCDE", "pf0abcde", kept=["System"])
    require_masked("Serial Number: XY 12", "XY", kept=["Serial Number: xxxx"])
    require_masked('host name="some-host", hostname: other', "some-host", "other")
    require_masked("asset tag: A-17, S/N: 99812", "A-17", "99812")
    require_masked("root=UUID=6d3f4b8a-0c3e-4b9e-9e55-0d1d5a6f0a01 x", "6d3f4b8a", "0d1d5a6f0a01", kept=["root=UUID="])
    require_masked("link 00:1b:21:3c:9d:f8, DE:AD:BE:EF:00:01.", "1b:21", "DE:AD")
    require_masked("Device Serial Number 00-1b-21-ff-ff-3c-9d-f8", "1b-21", "9d-f8")


@test
def stick_keeps_what_tells_of_the_gpu():
    text = ("0000:00:02.0 [8086:1912] rev 06, 00:02.0, c000-cfff\n0040: 09 00 0c 01 8b 00 00 62\n"
            "00002090 12345678 3D_CHICKEN3\nDMAR: [DMA Write] fault addr fffffffef8004000\nserial8250: ttyS0\n"
            "[    1.234567] 12:34:56\nbios_version N1CET63W (1.31 )")
    require(masking.mask(text, SECRETS) == text, masking.mask(text, SECRETS))
    nested = {"a": ["PF0ABCDE", 5], "b": {"c": "pf0abcde", "d": None}}
    require(masking.mask_all(nested, SECRETS) == {"a": ["xxxx", 5], "b": {"c": "xxxx", "d": None}}, "not in all of it")


@test
def stick_takes_placeholders_of_firmware_for_no_secret():
    for value in ("", "0", "None", "Default string", "To be filled by O.E.M.", "Not Specified", "00:00:00:00:00:00", "000000000"):
        require(not masking.is_secret(value), value)
    for value in ("PF0ABCDE", "1234", "Default string 7"):
        require(masking.is_secret(value), value)
