# SPDX-License-Identifier: GPL-2.0-only
"""Wrong inputs of all programs: each ends with a message that names the value, the range or the remedy.

selftests/lab/test_wrong.py has those that need the kernel's attributes."""

import os
import subprocess

import patience
from ktap import test
from toolslib import BUSY, ERROR, NOT_FOUND, USAGE, ctl, environment, require, tree, where
from tree import DRIVER, PARENT, UUIDS

FIRST, SECOND = UUIDS
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNKNOWN = "deadbeef-dead-dead-dead-deadbeefdead"
LINES_MAX = 4  # a message of argp has a second line, "Try ..."
INPUTS = 200

# (arguments, exit status, parts of the message)
GHYVICTL = (
    # Commands and options
    ((), USAGE, "Usage:"),
    (("lst",), USAGE, 'no command "lst"; did you mean "list"?'),
    (("frobnicate",), USAGE, 'no command "frobnicate"; ghyvictl --help'),
    (("",), USAGE, 'no command ""'),
    (("LIST",), USAGE, 'no command "LIST"'),
    (("\x1b[31m",), USAGE, 'no command "?[31m"'),
    (("modify", FIRST), USAGE, 'no command "modify": use set'),
    (("delete", FIRST), USAGE, "use remove"),
    (("undefine", FIRST), USAGE, "use mdevctl undefine"),
    (("stop",), USAGE, "UUID missing"),
    (("list", "-o", "COLOUR"), USAGE, 'there is no column "COLOUR"; columns: UUID,TYPE,'),
    (("list", "-o", "uuid,"), USAGE, 'there is no column ""; columns:'),
    (("list", "-o", "uuid " * 40), USAGE, "there is no column"),
    (("list", "-o", ",".join(["uuid"] * 33)), USAGE, "more than 32 columns"),
    (("list", "-r", "--json"), USAGE, "--json prints all keys"),
    (("show", "-o", "SINCE"), USAGE, "columns: NAME,SETTING,VALUE"),
    (("show", "-r", "gen9_4"), USAGE, "gen9_4 is a type"),
    (("stat", "-o", "x"), USAGE, "columns: UUID,COUNTER"),
    (("top", "-b", "1", "--sort", "x"), USAGE, 'there is no column "x"'),
    (("top", "-b", "1", "--sort", "uuid,type"), USAGE, "--sort takes one column"),
    (("event", FIRST), USAGE, "$GHYVI_EVENT is not one of: failsafe budget reset"),
    (("event",), USAGE, "event takes one UUID"),
    (("--frob",), USAGE, "unrecognized option '--frob'"),
    (("-Z", "list"), USAGE, "invalid option -- 'Z'"),
    (("list", "--frob"), USAGE, "unrecognized option '--frob'"),
    (("list", "--json=1"), USAGE, "doesn't allow an argument"),
    (("list", "-Z"), USAGE, "invalid option -- 'Z'"),
    (("types", "gen9_4"), USAGE, "Too many arguments"),
    # Names of vGPUs
    (("list", UNKNOWN), NOT_FOUND, f"there is no vGPU {UNKNOWN}; ghyvictl list shows all"),
    (("list", "x"), USAGE, '"x" is not a UUID; ghyvictl list'),
    (("list", ""), USAGE, '"" is not a UUID'),
    (("list", "c0f"), USAGE, "c0f"),
    (("list", SECOND[:-1] + "2"), NOT_FOUND, f"did you mean {SECOND}?"),
    (("list", SECOND + "0"), USAGE, f"did you mean {SECOND}?"),
    (("list", "0000"), USAGE, "2 vGPUs have a UUID that begins with 0000"),
    (("list", "\n"), USAGE, '"?" is not a UUID'),
    (("list", "../" + SECOND), USAGE, SECOND),
    (("list", "x" * 4000), USAGE, "is not a UUID"),
    (("list", "11111111-2222-3333-4444-555555555555"), NOT_FOUND, "there is no vGPU 11111111"),
    (("show", UNKNOWN), NOT_FOUND, f"there is no vGPU {UNKNOWN}"),
    (("show", "1000:00:09.0"), NOT_FOUND, "there is no pGPU 1000:00:09.0; ghyvictl types"),
    (("show", "1000:00:00"), USAGE, '"1000:00:00" is not a UUID'),
    (("show", "gen9"), USAGE, '"gen9" is not a UUID'),
    (("show", "--attributes"), USAGE, "exactly one UUID"),
    (("show", "--attributes", FIRST, SECOND), USAGE, "exactly one UUID"),
    (("show", "--attributes", UNKNOWN), NOT_FOUND, UNKNOWN),
    (("show", "--attributes", "-r", FIRST), USAGE, "--attributes and --ranges are no tables"),
    (("show", "--ranges", "-o", "VALUES"), USAGE, "--attributes and --ranges are no tables"),
    (("show", "--ranges", FIRST), USAGE, "--ranges takes no name"),
    (("show", "--ranges", "--attributes", FIRST), USAGE, "--ranges takes no name"),
    (("stat", UNKNOWN), NOT_FOUND, UNKNOWN),
    (("dump", UNKNOWN), NOT_FOUND, UNKNOWN),
    (("reset", UNKNOWN), NOT_FOUND, UNKNOWN),
    (("remove", UNKNOWN), NOT_FOUND, UNKNOWN),
    (("reset",), USAGE, "UUID missing; ghyvictl list shows them"),
    (("remove",), USAGE, "UUID missing"),
    (("reset", ""), USAGE, '"" is not a UUID'),
    (("remove", PARENT), USAGE, f'"{PARENT}" is not a UUID'),
    (("remove", "gen9_4"), USAGE, '"gen9_4" is not a UUID'),
    (("remove", "--force"), USAGE, "UUID missing"),
    (("remove", "--timeout", "5"), USAGE, "UUID missing"),
    # create and its options
    (("create",), USAGE, "TYPE missing; ghyvictl types lists them"),
    (("create", "gen7_4"), NOT_FOUND, "there is no type gen7_4; did you mean gen"),
    (("create", "gen9_3"), NOT_FOUND, "there is no type gen9_3; did you mean gen9_"),
    (("create", "gen9_0"), NOT_FOUND, "there is no type gen9_0; did you mean gen9_"),
    (("create", "GEN9_4"), NOT_FOUND, "there is no type GEN9_4"),
    (("create", ""), NOT_FOUND, "ghyvictl types lists them"),
    (("create", "4"), NOT_FOUND, "there is no type 4"),
    (("create", "i915-GVTg_V5_4"), NOT_FOUND, "there is no type i915-GVTg_V5_4"),
    (("create", "ghyvi-gen9_5"), NOT_FOUND, "did you mean ghyvi-gen9_"),
    (("create", "gen9_4", "gen8_4"), USAGE, 'more than one TYPE: "gen8_4"'),
    (("create", "gen9_4", "-p", "1000:00:01.0"), NOT_FOUND, f"there is no parent 1000:00:01.0; did you mean {PARENT}?"),
    (("create", "gen9_4", "-p", "gpu"), NOT_FOUND, "there is no parent gpu"),
    (("create", "gen9_4", "-p", ""), NOT_FOUND, "there is no parent "),
    (("create", "gen9_4", "-p"), USAGE, "option requires an argument -- 'p'"),
    (("create", "gen9_4", "-u", "1234"), USAGE, '"1234" is not a UUID'),
    (("create", "gen9_4", "-u", ""), USAGE, '"" is not a UUID'),
    (("create", "gen9_4", "-u", FIRST.replace("-", "")), USAGE, "is not a UUID"),
    (("create", "gen9_4", "-u", "{" + FIRST + "}"), USAGE, "is not a UUID"),
    (("create", "gen9_4", "-u", FIRST), BUSY, f"there is a vGPU {FIRST} already"),
    (("create", "gen9_4", "-u", SECOND.upper()), BUSY, "already"),
    (("create", "gen9_1"), BUSY, f"No available instances of {DRIVER}-gen9_1 on {PARENT}", "remove a vGPU"),
    (("create", "gen9_4", "-s", "weight"), USAGE, '"weight" is not ATTRIBUTE=VALUE, such as policy/mode=segmented'),
    (("create", "gen9_4", "-s", "=1"), USAGE, '"=1" is not ATTRIBUTE=VALUE'),
    (("create", "gen9_4", "-s", ""), USAGE, '"" is not ATTRIBUTE=VALUE'),
    (("create", "gen9_4", "-s"), USAGE, "option requires an argument -- 's'"),
    (("create", "gen9_4", *["-s", "policy/mode=full"] * 33), USAGE, "more than 32 settings"),
    # set
    (("set",), USAGE, "give a UUID (or a pGPU) and at least one ATTRIBUTE=VALUE"),
    (("set", FIRST), USAGE, "at least one ATTRIBUTE=VALUE"),
    (("set", UNKNOWN, "policy/mode=full"), NOT_FOUND, UNKNOWN),
    (("set", "1000:00:09.0", "ghyvi/scheduler=fifo"), NOT_FOUND, "there is no pGPU 1000:00:09.0"),
    (("set", "policy/mode=full", FIRST), USAGE, "is not "),
    (("set", FIRST, "policy/mode"), USAGE, '"policy/mode" is not ATTRIBUTE=VALUE'),
    (("set", FIRST, "="), USAGE, '"=" is not ATTRIBUTE=VALUE'),
    (("set", FIRST, "\xff=\xff"), USAGE, '"?=?" is not ATTRIBUTE=VALUE'),
    (("set", FIRST, "mode=full"), NOT_FOUND, 'did you mean "policy/mode"?'),
    (("set", FIRST, "policy/mod=full"), NOT_FOUND, 'did you mean "policy/mode"?'),
    (("set", FIRST, "policy/Mode=full"), NOT_FOUND, 'did you mean "policy/mode"?'),
    (("set", FIRST, "policy=full"), NOT_FOUND, 'there is no setting "policy"'),
    (("set", FIRST, "policy/=full"), NOT_FOUND, 'there is no setting "policy/"'),
    (("set", FIRST, "/policy/mode=full"), NOT_FOUND, 'there is no setting "/policy/mode"'),
    (("set", FIRST, "../remove=1"), NOT_FOUND, 'there is no setting "../remove"'),
    (("set", FIRST, "policy/trap_ns=1"), ERROR, "policy/trap_ns=1: it is read-only"),
    (("set", FIRST, "stats/workloads=0"), ERROR, "stats/workloads=0: it is read-only"),
    (("set", FIRST, "state=open"), ERROR, "state=open: it is read-only"),
    (("set", FIRST, "ghyvi/scheduler=fifo"), NOT_FOUND, 'there is no setting "ghyvi/scheduler"'),
    (("set", PARENT, "policy/mode=full"), NOT_FOUND, 'there is no setting "policy/mode"'),
    (("set", PARENT, "ghyvi/schedule=fifo"), NOT_FOUND, 'did you mean "ghyvi/scheduler"?'),
    (("set", PARENT, "power/control=on"), ERROR, "it is read-only"),
    (("set", "gen9_4", "sched/weight=1"), USAGE, "gen9_4 is a type", "--save"),
    (("set", FIRST, "policy/static_pages=-5000"), ERROR, "policy/static_pages=-5000: -5000 is not in 0..65536"),
    (("set", FIRST, "policy/static_pages=lots"), ERROR, '"lots" is not a number; 0..65536 are possible'),
    (("set", FIRST, "policy/static_pages="), ERROR, "policy/static_pages="),
    (("set", FIRST, "policy/mode=" + "x" * 5000), ERROR, "too long"),
    (("set", FIRST, "--file", "none.json"), USAGE, "none.json"),
    (("set", FIRST, "--file", "empty.json"), USAGE, "empty.json, line 1"),
    (("set", FIRST, "--file", "number.json"), USAGE, "number.json, line 1"),
    (("set", FIRST, "--file", "other.json"), USAGE, "other.json: neither a definition nor a list of attributes; man 5 ghyvi-mdev"),
    (("set", FIRST, "--file", "broken.json"), USAGE, "broken.json, line 2"),
    (("set", FIRST, "--file", "value.json"), USAGE, 'value.json: the value of "policy/mode" is not a string'),
    (("set", FIRST, "--file", "unknown.json"), NOT_FOUND, 'did you mean "policy/mode"?'),
    (("set", FIRST, "--file", "."), USAGE, "."),
    (("set", FIRST, "--file"), USAGE, "requires an argument"),
    # set --save and --restore: the ranges of the kernel
    (("set", "--save", "gen9_4", "sched/weight=0"), ERROR, "sched/weight=0: 0 is not in 1..1000"),
    (("set", "--save", "gen9_4", "sched/weight=1001"), ERROR, "1001 is not in 1..1000"),
    (("set", "--save", "gen9_4", "sched/weight=1 "), ERROR, '"1 " is not a number; 1..1000 are possible'),
    (("set", "--save", "gen9_4", "sched/weight=1e2"), ERROR, '"1e2" is not a number'),
    (("set", "--save", "gen9_4", "sched/weight=+5"), ERROR, '"+5" is not a number'),
    (("set", "--save", "gen9_4", "sched/weight=-1"), ERROR, '"-1" is not a number'),
    (("set", "--save", "gen9_4", "sched/weight=0x3e9"), ERROR, "0x3e9 is not in 1..1000"),
    (("set", "--save", "gen9_4", "sched/weight=4294967297"), ERROR, "4294967297 is not in 1..1000"),
    (("set", "--save", "gen9_4", "sched/weight=99999999999999999999"), ERROR, "is not a number; 1..1000 are possible"),
    (("set", "--save", "gen9_4", "sched/cap=101"), ERROR, "101 is not in 0..100"),
    (("set", "--save", "gen9_4", "sched/cap=50%"), ERROR, '"50%" is not a number; 0..100'),
    (("set", "--save", "gen9_4", "sched/priority=8"), ERROR, "8 is not in 0..7"),
    (("set", "--save", "gen9_4", "sched/priority=high"), ERROR, '"high" is not a number; 0..7'),
    (("set", "--save", "gen9_4", "policy/self_check=yes"), ERROR, '"yes" is not a number; 0..1'),
    (("set", "--save", "gen9_4", "policy/self_check=2"), ERROR, "2 is not in 0..1"),
    (("set", "--save", "gen9_4", "policy/static_pages=65537"), ERROR, "65537 is not in 0..65536"),
    (("set", "--save", "gen9_4", "policy/oos_threshold=0"), ERROR, "0 is not in 1..65535"),
    (("set", "--save", "gen9_4", "policy/idle_pins=16777217"), ERROR, "16777217 is not in 0..16777216"),
    (("set", "--save", "gen9_4", "policy/idle_pins=1G"), ERROR, '"1G" is not a number'),
    (("set", "--save", "gen9_4", "policy/tables_max=255"), ERROR, "255 is not in 256..1048576"),
    (("set", "--save", "gen9_4", "policy/mode=loose"), ERROR, '"loose" is not one of: strict full static'),
    (("set", "--save", "gen9_4", "policy/mode=STRICT"), ERROR, '"STRICT" is not one of: strict'),
    (("set", "--save", "gen9_4", "policy/mode=strict full"), ERROR, '"strict full" is not one of'),
    (("set", "--save", "gen9_4", "policy/mode=relax"), ERROR, '"relax" is not one of: strict'),
    (("set", "--save", "gen9_4", "policy/bar_remap=1"), ERROR, '"1" is not one of: off on'),
    (("set", "--save", "gen9_4", "remap=on"), NOT_FOUND, "ghyvictl show --ranges lists them"),
    (("set", "--save", "gen9_4", "bar_remap=on"), NOT_FOUND, 'did you mean "policy/bar_remap"?'),
    (("set", "--save", "gen9_4", "slot=32"), ERROR, "32 is not in 0..31"),
    (("set", "--save", "gen9_4", "slots=1"), NOT_FOUND, 'did you mean "slot"?'),
    (("set", FIRST, "slot=1"), NOT_FOUND, 'there is no setting "slot" here'),
    (("set", PARENT, "slot=1"), NOT_FOUND, 'there is no setting "slot"'),
    (("migrate-check",), USAGE, "migrate-check takes two vGPUs"),
    (("migrate-check", FIRST, SECOND, FIRST), USAGE, "migrate-check takes two vGPUs"),
    (("migrate-check", FIRST, "./none.json"), USAGE, "none.json: No such file or directory"),
    (("migrate-check", FIRST, "broken.json"), USAGE, "broken.json, line 2"),
    (("migrate-check", FIRST, "other.json"), USAGE, "other.json: not the output of ghyvictl show --json UUID"),
    (("migrate-check", FIRST, UNKNOWN), NOT_FOUND, UNKNOWN),
    (("set", "--save", "gen9_4", "audit/mode=off"), ERROR, '"off" is not one of: privileged full log'),
    (("set", "--save", "gen9_4", "audit/budget_bytes=1"), ERROR, "1 is not in 65536..67108864"),
    (("set", "--save", "gen9_4", "audit/budget_commands=1"), ERROR, "1 is not in 1024..16777216"),
    (("set", "--save", "gen9_4", "audit/budget_batches=1025"), ERROR, "1025 is not in 1..1024"),
    (("set", "--save", "gen9_4", "audit/budget_us=999"), NOT_FOUND, 'there is no setting "audit/budget_us"'),
    (("set", "--save", "gen9_4", "containment/budget_ms=3600001"), ERROR, "3600001 is not in 0..3600000"),
    (("set", "--save", "gen9_4", "containment/points_max=1000001"), ERROR, "1000001 is not in 0..1000000"),
    (("set", "--save", "gen9_4", "containment/window_ms=99"), ERROR, "99 is not in 100..3600000"),
    (("set", "--save", "gen9_4", "policy/trap_ns=1"), NOT_FOUND, 'there is no setting "policy/trap_ns"'),
    (("set", "--save", "gen9_4", "ghyvi/scheduler=fifo"), NOT_FOUND, '"ghyvi/scheduler" is a setting of pGPUs, not of vGPUs'),
    (("set", "--save", "gen9_4", "weight=1"), NOT_FOUND, 'did you mean "sched/weight"?'),
    (("set", "--save", "gen9_4", "cpu=1"), NOT_FOUND, "ghyvictl show --ranges lists them"),
    (("set", "--save", "1000:00:09.0", "ghyvi/scheduler=cfs"), ERROR, '"cfs" is not one of: fifo credit band fair'),
    (("set", "--save", "1000:00:09.0", "ghyvi/timeslice_us=99"), ERROR, "99 is not in 100..1000000"),
    (("set", "--save", "1000:00:09.0", "ghyvi/preempt_timeout_us=9"), ERROR, "9 is not in 0 and 1000..60000000"),
    (("set", "--save", "1000:00:09.0", "ghyvi/window_us=0"), ERROR, "0 is not in 1000..1000000"),
    (("set", "--save", "1000:00:09.0", "ghyvi/type_share=all"), ERROR, '"all" is not one of: none weight cap'),
    (("set", "--save", "1000:00:09.0", "sched/weight=1"), NOT_FOUND, '"sched/weight" is a setting of vGPUs, not of pGPUs'),
    (("set", "--save", "gen9_4"), USAGE, "at least one ATTRIBUTE=VALUE"),
    (("set", "--save", "hello", "sched/weight=1"), USAGE, '"hello" is not a UUID'),
    (("set", "--save", UNKNOWN, "sched/weight=1"), NOT_FOUND, UNKNOWN),
    (("set", "--save", FIRST, "policy/mode=full"), NOT_FOUND, f"ghyvictl define {FIRST}"),
    (("set", "--restore"), USAGE, "--restore takes one pGPU"),
    (("set", "--restore", PARENT, "ghyvi/scheduler=fifo"), USAGE, "--restore takes one pGPU"),
    (("set", "--restore", FIRST), USAGE, "is not a pGPU, such as 1000:00:00.0"),
    (("set", "--restore", "gen9_4"), USAGE, '"gen9_4" is not a pGPU'),
    (("set", "--restore", "1000:00:09.0"), NOT_FOUND, "there is no pGPU 1000:00:09.0"),
    # define
    (("define",), USAGE, "TYPE missing"),
    (("define", "gen7_4"), NOT_FOUND, "there is no type gen7_4"),
    (("define", "hello"), USAGE, '"hello" is not a UUID'),
    (("define", UNKNOWN), NOT_FOUND, UNKNOWN),
    (("define", FIRST, "-u", SECOND), USAGE, "without --uuid and --parent"),
    (("define", FIRST, "-p", PARENT), USAGE, "without --uuid and --parent"),
    (("define", "gen9_4", "-p", "1000:00:01.0"), NOT_FOUND, "there is no parent 1000:00:01.0"),
    (("define", "gen9_4", "-m", "loose"), ERROR, '"loose" is not one of: strict'),
    (("define", "gen9_4", "-s", "sched/weight=0"), ERROR, "0 is not in 1..1000"),
    (("define", "gen9_4", "-s", "sched/wait=1"), NOT_FOUND, 'did you mean "sched/weight"?'),
    (("define", "gen9_4", "-s", "sched/weight"), USAGE, "is not ATTRIBUTE=VALUE"),
    (("define", FIRST, "-u", "x"), USAGE, '"x" is not a UUID'),
    # Times and counts
    (("stat", "-s", "0"), USAGE, '"0" is not a time in seconds, more than 0 and at most 86400'),
    (("stat", "-s", "-1"), USAGE, '"-1" is not a time'),
    (("stat", "-s", "fast"), USAGE, '"fast" is not a time'),
    (("stat", "-s", "1s"), USAGE, '"1s" is not a time'),
    (("stat", "-s", "nan"), USAGE, '"nan" is not a time'),
    (("stat", "-s", "inf"), USAGE, '"inf" is not a time'),
    (("stat", "-s", "86401"), USAGE, "at most 86400"),
    (("stat", "-s", ""), USAGE, '"" is not a time'),
    (("stat", "-s", "1", "-c", "0"), USAGE, '"0" is not a count of 1 or more'),
    (("stat", "-s", "1", "-c", "1.5"), USAGE, '"1.5" is not a count'),
    (("stat", "-s", "1", "-c", "99999999999999999999"), USAGE, "is not a count"),
    (("stat", "-c", "3"), USAGE, "--count needs --seconds"),
    (("top",), USAGE, "not a terminal; use --batch N"),
    (("top", "--json"), USAGE, "top --json needs --batch N"),
    (("top", "-b", "0"), USAGE, '"0" is not a count'),
    (("top", "-b", "x"), USAGE, '"x" is not a count'),
    (("top", "-b", "1", "-s", "0"), USAGE, '"0" is not a time'),
    (("top", "-b", "1", "x"), USAGE, "Too many arguments"),
    (("remove", FIRST, "-f", "-t", "0"), USAGE, '"0" is not a time'),
    (("remove", FIRST, "-t", "never"), USAGE, '"never" is not a time'),
    # Files and other programs
    (("dump", "--what", "regs"), USAGE, "regs", "engines"),
    (("dump", "--what", ""), USAGE, "engines"),
    (("export", "--json"), USAGE, "ghyvictl stat --json"),
    (("export", "-o", "/proc/none/x.prom"), ERROR, "/proc/none/x.prom: No such file"),
    (("export", "-o", "none/x.prom"), ERROR, "none/x.prom"),
    (("export", "-o", "."), ERROR, "."),
    (("export", "x"), USAGE, "Too many arguments"),
    (("report",), USAGE, "--output"),
    (("report", "-o", "x", "-f", "none"), ERROR, "none"),
    (("report", "-o", "x", "-f", "empty.json"), ERROR, "stat --seconds --json"),
    (("report", "-o", "x", "-f", "broken.json"), ERROR, "round 1"),
    (("report", "-o", "x", "-f", "number.json"), ERROR, "round 1"),
    (("report", "-o", "x", "-f", "other.json"), ERROR, "no round has a vGPU"),
    (("report", "-o", "x", "-f", "number.json", "--policies"), USAGE, "--from"),
    (("report", "-o", "x", "-c", "0"), USAGE, '"0" is not a count'),
    (("report", "-o", "x", "-s", "0"), USAGE, '"0" is not a time'),
    (("report", "-o", "x", UNKNOWN), NOT_FOUND, UNKNOWN),
    (("record",), USAGE, "give one UUID and -o FILE"),
    (("record", FIRST), USAGE, "give one UUID and -o FILE"),
    (("record", "-o", "x.trc"), USAGE, "give one UUID"),
    (("record", FIRST, SECOND, "-o", "x.trc"), USAGE, "give one UUID"),
    (("record", UNKNOWN, "-o", "x.trc"), NOT_FOUND, UNKNOWN),
    (("record", FIRST, "-o", "x.trc", "-s", "0"), USAGE, '"0" is not a time'),
    (("doctor", "-k", ""), USAGE, '"" is not a kernel release'),
    (("doctor", "-k", "/boot/vmlinuz"), USAGE, '"/boot/vmlinuz" is not a kernel release'),
    (("doctor", "-r", "/no/such/root"), USAGE, "--root=/no/such/root: No such file"),
    (("doctor", "x"), USAGE, "Too many arguments"),
)

RECORD, QEMU, SIM = f"{TREE}/tools/sim/ghyvi-record", f"{TREE}/qemu-glue/ghyvi-qemu", "ghyvi-sim"
OTHERS = (
    ((RECORD,), 2, "the following arguments are required: uuid, -o/--output"),
    ((RECORD, FIRST), 2, "required: -o/--output"),
    ((RECORD, "hello", "-o", "x.trc"), 1, '"hello" is not a UUID; ghyvictl list'),
    ((RECORD, "", "-o", "x.trc"), 1, '"" is not a UUID'),
    ((RECORD, UNKNOWN, "-o", "x.trc"), 1, f"there is no vGPU {UNKNOWN}; ghyvictl list"),
    ((RECORD, FIRST, "-o", "none/x.trc"), 1, "none/x.trc: No such file"),
    ((RECORD, FIRST, "-o", "."), 1, ".: Is a directory"),
    ((RECORD, FIRST, "-o", "x.trc", "-s", "0"), 2, '"0" is not a number above 0'),
    ((RECORD, FIRST, "-o", "x.trc", "-s", "soon"), 2, '"soon" is not a number'),
    ((RECORD, FIRST, "-o", "x.trc", "-s", "inf"), 2, '"inf" is not a number'),
    ((RECORD, FIRST, "-o", "x.trc", "--buffer-kib", "0"), 2, '"0" is not a number above 0'),
    ((RECORD, FIRST, "-o", "x.trc", "--buffer-kib", "1e9"), 2, '"1e9" is not a number'),
    ((RECORD, FIRST, "-o", "x.trc", "--entry-bytes", "5"), 2, "choose from 4, 8"),
    ((RECORD, FIRST, "-o", "x.trc", "--from", "none"), 1, "none: No such file"),
    ((QEMU,), 1, "usage: ghyvi-qemu UUID|TYPE [QEMU-OPTION...]"),
    ((QEMU, UNKNOWN), 1, f"there is no vGPU {UNKNOWN}", "mdevctl start"),
    ((QEMU, "gen7_4"), 1, "there is no type gen7_4"),
    ((QEMU, "hello"), 1, "there is no type hello"),
    ((QEMU, ""), 1, "usage"),
    ((QEMU, "-m"), 1, 'the vGPU comes first, not "-m"'),
    ((QEMU, FIRST, "no-such-option"), 1, "no-such-option"),
    ((SIM,), 64, "give one of --trace, --gmedia and --rhythm"),
    ((SIM, "--gmedia", "480p", "--trace", "x"), 64, "give one of --trace, --gmedia and --rhythm"),
    ((SIM, "--gmedia", "4k"), 64, "4k", "480p"),
    ((SIM, "--gmedia", ""), 64, "480p"),
    ((SIM, "--gmedia", "480p", "--case", "light"), 64, "light", "heavy"),
    ((SIM, "--gmedia", "480p", "--frames", "0"), 64, '"0" is not a number in 1..10000000'),
    ((SIM, "--gmedia", "480p", "--frames", "many"), 64, '"many" is not a number in 1..10000000'),
    ((SIM, "--gmedia", "480p", "--frames", "-1"), 64, '"-1" is not a number in 1..10000000'),
    ((SIM, "--gmedia", "480p", "--entry-bytes", "6"), 64, '"6" is not one of: 4 8'),
    ((SIM, "--gmedia", "480p", "--policy", "loose"), 64, "loose", "strict"),
    ((SIM, "--gmedia", "480p", "--policy", "nested"), 64, "nested", "strict"),
    ((SIM, "--gmedia", "480p", "--trap-ns", "x"), 64, '"x" is not a number in 0..1000000000'),
    ((SIM, "--gmedia", "480p", "--scan-ns", "99999999999"), 64, '"99999999999" is not a number in 0..1000000000'),
    ((SIM, "--gmedia", "480p", "--static-pages", "65537"), 64, '"65537" is not a number in 0..65536'),
    ((SIM, "--gmedia", "480p", "--static-profile", "x"), 64, "x", "pages"),
    ((SIM, "--gmedia", "480p", "--oos-threshold", "0"), 64, '"0" is not a number in 1..65535'),
    ((SIM, "--trace", "none.trc"), 1, "none.trc: No such file"),
    ((SIM, "--trace", "empty.json"), 1, "empty.json: "),
    ((SIM, "--trace", "number.json"), 1, "number.json: "),
    ((SIM, "--trace", "."), 1, ".: "),
    ((SIM, "--gmedia", "480p", "--frames", "2", "--write-trace", "none/x.trc"), 1, "none/x.trc: "),
    ((SIM, "--gmedia", "480p", "x"), 64, "Too many arguments"),
    ((SIM, "--frob"), 64, "unrecognized option '--frob'"),
    ((f"{TREE}/tools/setup", "frob"), 2, "usage: setup", "parts: demo"),
    ((f"{TREE}/selftests/tools/run", "no-such-test"), 1, "no test matches no-such-test"),
)


def fill(made):
    made.add_foreign()
    made.add_vgpu(SECOND)
    path = made.add_vgpu(FIRST, refusing=["policy/static_pages"])
    made.add_vgpu(FIRST[:-1] + "1")
    made.write(f"{made.type_path('gen9_1')}/available_instances", "0\n")
    for name, text in (("empty", ""), ("number", "7"), ("other", '{"a": 1}'), ("broken", '[\n{"policy/mode"]'), ("value", '[{"policy/mode": 7}]'),
                       ("unknown", '[{"policy/mod": "full"}]')):
        made.write(f"{name}.json", text)
    made.write("mdevctl", "#!/bin/sh\necho '[]'\n", 0o755)
    return path


def judge(command, result, status, parts):
    """Returns a complaint about the message, or None."""
    text = result.err
    if result.status != status:
        return f"{command}: status {result.status}, not {status}: {text[-300:]}"
    missing = [each for each in parts if each not in text]
    if missing:
        return f"{command}: no {missing} in: {text[:600]}"
    if text.count("\n") > LINES_MAX or "Traceback" in text:
        return f"{command}: too long: {text[:1500]}"
    if not text.isprintable() and not text.replace("\n", "").isprintable():
        return f"{command}: control characters: {text!r}"
    return None


@test
def wrong_inputs_of_ghyvictl_are_explained():
    complaints = []
    with tree() as made:
        path = fill(made)
        for arguments, status, *parts in GHYVICTL:
            # What the kernel would say.
            if "policy/static_pages" in " ".join(arguments) and "--save" not in arguments:
                value = arguments[2].partition("=")[2]
                made.write(f"{path}/last_error", f"policy/static_pages: {value} is not in 0..65536\n" if value[1:].isdigit() else
                           f'policy/static_pages: "{value}" is not a number; 0..65536 are possible\n')
            shown = [each if len(each) < 60 else each[:60] + "..." for each in arguments]
            result = ctl(made, *(each.encode("latin-1") for each in arguments), GHYVI_MDEVCTL=f"{made.top}/mdevctl",
                         GHYVI_RECORD="/bin/false")
            complaints.append(judge(shown, result, status, parts))
    require(not any(complaints), "\n".join(filter(None, complaints)))


class Done:
    def __init__(self, done):
        self.status, self.err = done.returncode, done.stdout + done.stderr


@test
def wrong_inputs_of_other_programs_are_explained():
    complaints = []
    done = subprocess.run(["make", "--no-print-directory", "-C", f"{TREE}/tools/sim", f"BUILD={where['build']}"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    require(done.returncode == 0, done.stdout)
    with tree() as made:
        fill(made)
        env = environment(made, GHYVICTL=f"{where['build']}/ghyvictl", QEMU=f"{made.top}/qemu")
        env["PATH"] = f"{where['build']}/sim:{env['PATH']}"
        made.write("qemu", "#!/bin/sh\nfor last; do :; done; echo \"$last: bad option\" >&2; exit 1\n", 0o755)
        for command, status, *parts in OTHERS:
            done = patience.run(command, env=env, cwd=made.top, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                limit_s=60)
            complaints.append(judge(command, Done(done), status, parts))
    require(not any(complaints), "\n".join(filter(None, complaints)))


@test
def list_of_wrong_inputs_has_two_hundred():
    every = [(each[0], tuple(each[2:])) for each in (*GHYVICTL, *OTHERS)]
    require(len(every) >= INPUTS and len({each[0] for each in every}) == len(every), f"{len(every)} inputs, or some are twice")
    require(all(any(part) for _, part in every), "an entry expects no words")
