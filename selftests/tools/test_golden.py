# SPDX-License-Identifier: GPL-2.0-only
"""Compares the output of each command, as text and as JSON, with golden/<name>.

A golden file contains the command, its output and its status."""

import difflib
import os
import re

from ktap import test
from toolslib import ctl, require, tree
from tree import PARENT, RELEASE, UUIDS

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = f"{HERE}/golden"
FIRST, SECOND = UUIDS
update = False

CASES = {
    "list": ["list"],
    "list.json": ["list", "--json"],
    "list-one": ["list", SECOND.upper()],
    "types": ["types"],
    "types.json": ["types", "--json"],
    "show": ["show"],
    "show.json": ["--json", "show", SECOND],
    "show-parent": ["show", PARENT],
    "show-parent.json": ["show", PARENT, "--json"],
    "show-attributes": ["show", "--attributes", SECOND],
    "show-attributes-of-all": ["show", "--attributes"],
    "define-without-mdevctl": ["define", "gen9_4"],
    "define-unknown-type": ["define", "gen7_4"],
    "define-twice-named": ["define", SECOND, "--uuid", FIRST],
    "set-file-missing": ["set", SECOND, "--file", "not-there.json"],
    "stat": ["stat"],
    "stat-all": ["stat", "--all", FIRST],
    "stat.json": ["stat", "--json"],
    "stat-rates": ["stat", "-s", "0.01", "-c", "2", SECOND],
    "stat-rates.json": ["stat", "-s", "0.01", "-c", "2", "-j", SECOND],
    "top": ["top", "--batch", "2", "-s", "0.01"],
    "top.json": ["top", "--batch", "1", "-s", "0.01", "--json"],
    "dump": ["dump", FIRST],
    "dump.json": ["dump", "--what", "tables", "--json"],
    "export": ["export"],
    "doctor": ["doctor", "--root", "@TREE@", "--kernel", RELEASE],
    "doctor.json": ["doctor", "--root", "@TREE@", "--kernel", RELEASE, "--json"],
    "help": ["--help"],
    "usage-none": [],
    "unknown-command": ["shwo"],
    "command-of-mdevctl": ["delete"],
    "unknown-option": ["list", "--jsn=1"],
    "unknown-uuid": ["show", "c0ffee00-1234-4000-8000-000000000002"],
    "unknown-uuid-far": ["show", "deadbeef-dead-dead-dead-deadbeefdead"],
    "not-a-uuid": ["stat", "hello"],
    "begun-uuid": ["list", "c0ffee"],
    "unknown-type": ["create", "gen7_1"],
    "unknown-parent": ["create", "gen9_1", "-p", "1000:00:01.0"],
    "unknown-setting": ["set", SECOND, "policy/mod=strict"],
    "setting-without-group": ["set", SECOND, "mode=strict"],
    "setting-outside": ["set", SECOND, "../x=1"],
    "setting-read-only": ["set", SECOND, "policy/trap_ns=1"],
    "setting-of-a-link": ["set", SECOND, "mdev_type/create=1"],
    "setting-of-no-parent": ["set", "0000:00:02.0", "ghyvi/scheduler=fifo"],
    "setting-unknown-of-a-parent": ["set", PARENT, "schedulr=fifo"],
    "setting-not-of-a-parent": ["set", PARENT, "power/control=on"],
    "setting-is-a-counter": ["set", SECOND, "stats/workloads=1"],
    "setting-without-value": ["set", SECOND, "policy/mode"],
    "set-nothing": ["set", SECOND],
    "remove-nothing": ["remove"],
    "remove-in-use": ["remove", SECOND],
    "remove-help": ["remove", "--help"],
    "reset-help": ["reset", "--help"],
    "top-json-on-screen": ["top", "--json"],
    "top-without-terminal": ["top"],
    "export-help": ["export", "--help"],
    "export-json": ["export", "--json"],
    "record-nothing": ["record", SECOND],
    "report-nowhere": ["report"],
    "wrong-seconds": ["stat", "-s", "-1"],
}


def fill(made):
    made.add_host()
    made.add_foreign()
    made.add_vgpu(FIRST, "gen8_8")
    path = made.add_vgpu(SECOND, "gen9_4", table_write_traps=12345678901234, relaxes=7, workloads=42, relaxed_now=3,
                         pinned_pages_now=4711, zz_of_a_newer_kernel=1)
    made.write(f"{path}/state", "open\n", 0o444)
    made.write(f"{path}/last_error", 'policy/mode: there is no policy "l\x1b[31mse\xff"\n', 0o444)
    made.write(f"{path}/last_error_time", "1795363200\n", 0o444)
    made.write(f"{path}/policy/mode", "[strict] full static dynamic segmented oos adaptive nested\n")


def compare(name, text):
    path = f"{GOLDEN}/{name}"
    if update:
        os.makedirs(GOLDEN, exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return ""
    if not os.path.exists(path):
        return f"{path} does not exist (run --update)"
    with open(path) as file:
        wanted = file.read()
    return "".join(difflib.unified_diff(wanted.splitlines(True), text.splitlines(True), path, "now", n=1))


def check(names):
    wrong = []
    with tree() as made:
        fill(made)
        for name in names:
            arguments = [word.replace("@TREE@", made.top) for word in CASES[name]]
            result = ctl(made, *arguments)
            text = f"$ ghyvictl {' '.join(CASES[name])}\n{result.out}{result.err}status {result.status}\n"
            wrong.append(compare(name, text.replace(made.top, "@TREE@")))
    require(not any(wrong), "".join(wrong))


@test
def text_matches_the_golden_files():
    check(name for name in CASES if not name.endswith(".json"))


@test
def json_matches_the_golden_files():
    check(name for name in CASES if name.endswith(".json"))


@test
def json_of_all_commands_is_an_object():
    with tree() as made:
        fill(made)
        for command in (["list"], ["types"], ["show"], ["stat"], ["stat", "-s", "0.01", "-c", "1"], ["dump"],
                        ["top", "-b", "1", "-s", "0.01"], ["doctor", "--root", made.top],
                        ["migrate-check", FIRST, SECOND], ["set", FIRST, "policy/self_check=1"], ["set", PARENT, "ghyvi/scheduler=fifo"], ["reset", FIRST]):
            require(isinstance(ctl(made, *command, "--json").json(), dict), f"{command}: not an object")


@test
def lists_are_empty_without_vgpus():
    with tree(parents=()) as made:
        for command, empty in (("list", {"vgpus": []}), ("types", {"types": []}), ("show", {"vgpus": [], "parents": [], "types": []}),
                               ("stat", {"vgpus": []})):
            require(ctl(made, command, "--json", expect=0).json() == empty, command)
        ctl(made, "create", "gen9_4", expect=3)
        require("doctor" in ctl(made, "types", expect=0).err, "types does not name the next step")


COMMON_OPTIONS = {"json", "no-mdevctl", "help", "usage", "version", "output", "noheadings", "raw"}


def manual():
    """The entries of ghyvictl(8) by command, without most of the markup."""
    with open(f"{HERE}/../../Documentation/man/ghyvictl.8") as file:
        commands = file.read().partition(".SH COMMANDS\n")[2].partition(".SH JSON\n")[0]
    text = re.sub(r"\\f.|\"", "", commands.replace("\\-", "-"))
    for entry in text.split(".TP\n")[1:]:
        yield entry.split()[1], entry


@test
def manual_page_has_every_option():
    entries = dict(manual())
    with tree() as made:
        commands = re.findall(r"^  ([a-z-]+) ", ctl(made, "--help", expect=0).out.partition("Commands")[2], re.M)
        require(set(commands) | {"event"} == set(entries), f"{commands}: {sorted(entries)}")
        for command in commands:
            for short, long in re.findall(r"^  (?:-(\w), |    )--([\w-]+)", ctl(made, command, "--help", expect=0).out, re.M):
                documented = f"--{long}" in entries[command] or (short and f"-{short} " in entries[command])
                require(documented or long in COMMON_OPTIONS, f"{command}: --{long}")


@test
def every_command_has_help():
    with tree() as made:
        for line in ctl(made, "--help", expect=0).out.partition("Commands")[2].splitlines()[2:]:
            if not line.startswith("  "):
                break
            out = ctl(made, line.split()[0], "--help", expect=0).out
            has_json = line.split()[0] != "export"
            require(("--json" in out) == has_json and "Usage: ghyvictl " in out, f"{line}: {out}")
