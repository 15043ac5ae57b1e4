# SPDX-License-Identifier: GPL-2.0-only
"""Tables for scripts, columns and keys of top, synonyms, and journal entries."""

import os
import socket

from ktap import test
from screen import Screen
from toolslib import DONE, USAGE, ctl, environment, require, tree, where
from tree import DRIVER, PARENT, UUIDS

UUID, OTHER = UUIDS
SOON_S = 10
NARROW = 80


def rows(made, *arguments):
    return [line.split(" ") for line in ctl(made, *arguments, expect=DONE).out.splitlines()]


@test
def list_shows_the_vm_its_pid_and_since_when():
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.add_vgpu(OTHER)
        made.write(f"{path}/open_time", "1795363200\n", 0o444)
        made.use_vgpu(UUID, "/usr/bin/qemu-system-x86_64", "-name", "guest=my vm,debug-threads=on")
        made.write(f"{path}/state", "failsafe\n", 0o444)
        got = rows(made, "list", "--raw", "-n")
        require(got == [[UUID, "ghyvi-gen9_4", PARENT, "failsafe", "segmented", "4711", "my\\x20vm", "2026-11-22T16:00:00"],
                        [OTHER, "ghyvi-gen9_4", PARENT, "created", "segmented", "-", "-", "-"]], f"{got}")
        one = ctl(made, "list", UUID, "--json", expect=DONE).json()["vgpus"][0]
        require((one["pid"], one["vm"], one["open_time"]) == (4711, "my vm", 1795363200), f"{one}")
        shown = ctl(made, "show", UUID, expect=DONE).out
        require("VM my vm (pid 4711)" in shown and "2026-11-22 16:00:00" in shown, shown)


@test
def times_without_a_date_are_not_printed():
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.write(f"{path}/last_error", "no memory\n", 0o444)
        for text in ("9223372036854775807", "-9223372036854775808", "0"):
            for attribute in ("open_time", "last_error_time"):
                made.write(f"{path}/{attribute}", f"{text}\n", 0o444)
            shown = ctl(made, "show", UUID, expect=DONE).out
            require("last_error " in shown and "_time" not in shown, shown)
            require(rows(made, "list", "-r", "-n", "-o", "SINCE") == [["-"]], "SINCE")


@test
def tables_have_the_columns_that_were_asked_for():
    with tree() as made:
        path = made.add_vgpu(UUID, "gen8_8", workloads=42, relaxed_now=3)
        made.write(f"{path}/last_error", "an \x1b[31merror\n", 0o444)
        require(rows(made, "list", "-r", "-o", "state,TYPE-ID,path,error") ==
                [["STATE", "TYPE-ID", "PATH", "ERROR"],
                 ["created", f"{DRIVER}-gen8_8", f"/sys/bus/mdev/devices/{UUID}", "an\\x20?[31merror"]], "list")
        require(ctl(made, "ls", "-n", "-o", "uuid,uuid", expect=DONE).out == f"{UUID} {UUID}\n", "the same column twice")
        got = rows(made, "show", "-r", "-n", UUID, PARENT)
        require([UUID, "policy/mode", "segmented", "rw"] in got and [UUID, "policy/trap_ns", "5400", "ro"] in got, f"{got}")
        require([PARENT, "ghyvi/scheduler", "fair", "rw"] in got, f"{got}")
        require(["policy/tables_max", "256..1048576"] in rows(made, "show", "-r", "-o", "setting,values", UUID), "ranges")
        require(rows(made, "stat", "-r", "-n") == [[UUID, "workloads", "42"], [UUID, "relaxed_now", "3"]], "stat")
        got = rows(made, "stat", "-r", "--all", "-s", "0.01", "-c", "1", UUID)
        require(got[0] == ["UUID", "COUNTER", "VALUE", "RATE"] and [UUID, "workloads", "42", "0.0"] in got and
                [UUID, "relaxed_now", "3", "-"] in got, f"{got}")
        for command in ("list", "show", "stat"):
            result = ctl(made, command, "-o", "COLOUR", expect=USAGE)
            require('there is no column "COLOUR"; columns: ' in result.err and not result.out, f"{result}")
            ctl(made, command, "-o", "", expect=USAGE)
            require("--json prints all keys" in ctl(made, command, "-r", "--json", expect=USAGE).err, command)


@test
def synonyms_are_commands():
    with tree() as made:
        path = made.add_vgpu(UUID)
        require(ctl(made, "ls", expect=DONE).out == ctl(made, "list", expect=DONE).out, "ls")
        made.listen(f"{made.type_path('gen9_4')}/create", lambda uuid: made.add_vgpu(uuid, "gen9_4"))
        require(ctl(made, "start", "gen9_4", "-u", OTHER, expect=DONE).out == f"{OTHER}\n", "start")
        ctl(made, "stop", UUID, expect=DONE)
        ctl(made, "rm", OTHER, expect=DONE)
        require(made.read(f"{path}/remove") == made.read(f"{made.parent_path()}/{OTHER}/remove") == "1\n", "stop, rm")


@test
def top_fits_eighty_columns():
    with tree() as made:
        made.add_vgpu(UUID, "gen9_8", relaxed_now=7)
        made.add_vgpu(OTHER, "gen8_4", pinned_pages_now=99999999)
        screen = Screen(f"{where['build']}/ghyvictl", "top", "-s", "3600", env=environment(made), cwd=made.top, columns=NARROW)
        try:
            screen.show("99999999", SOON_S)
            screen.press("h")
            screen.show("time on the engines", SOON_S)
            screen.press("h")
            screen.press(">")
            screen.show("TYPE", SOON_S)
            screen.press("r")
            screen.show("-TYPE", SOON_S)
            for _ in range(2):
                screen.press("<")
            screen.show("PINNED", SOON_S)
            screen.press("q")
            require(screen.process.wait(SOON_S) == 0, "q did not end it")
        finally:
            screen.end()
        columns = "UUID,TYPE,STATE,POLICY,JOBS/s,BUSY%,EXITS/s,SYNCS/s,PINNED"
        out = ctl(made, "top", "-b", "1", "-s", "0.01", "-o", columns, expect=DONE).out
        # On a narrow screen the UUID takes 12 columns instead of 36.
        require(max(map(len, out.splitlines())) == NARROW + 36 - 12, out)


@test
def top_sorts_by_any_column():
    with tree() as made:
        made.add_vgpu(UUID, "gen9_8", pinned_pages_now=5)
        made.add_vgpu(OTHER, "gen8_4", pinned_pages_now=500)
        for sort, first in (("uuid", UUID), ("-UUID", OTHER), ("pinned", OTHER), ("-pinned", UUID), ("type", OTHER), ("-type", UUID),
                            ("JOBS/s", UUID), ("parent", UUID)):
            out = ctl(made, "top", "-b", "1", "-s", "0.01", "-S", sort, "-o", "uuid,pinned", expect=DONE).out
            require(out.splitlines()[1].startswith(first), f"{sort}: {out}")
        for wrong in (["-S", "x"], ["-S", ""], ["-S", "uuid,type"], ["-o", "x"], ["-o", ","]):
            result = ctl(made, "top", "-b", "1", *wrong, expect=USAGE)
            require("column" in result.err, f"{result}")
        got = ctl(made, "top", "-b", "1", "-s", "0.01", "-S", "pinned", "--json", expect=DONE).json()
        require([each["uuid"] for each in got["vgpus"]] == [OTHER, UUID], f"{got}")


@test
def uevents_become_journal_entries_with_fields():
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.use_vgpu(UUID, "/usr/bin/qemu-system-x86_64", "-name", "web\n1")
        made.write(f"{path}/state", "failsafe\n", 0o444)
        address = f"{made.top}/journal"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
            journal.bind(address)
            journal.settimeout(SOON_S)
            env = {"GHYVI_JOURNAL": address, "GHYVI_COUNT": "2", "GHYVI_STATE": "failsafe", "GHYVI_REASON": "failsafe: why\nPRIORITY=0"}
            for event, priority in (("failsafe", "3"), ("budget", "4"), ("reset", "6")):
                ctl(made, "event", UUID, GHYVI_EVENT=event, expect=DONE, **env)
                lines = journal.recv(65536).decode().splitlines()
                fields = dict(line.split("=", 1) for line in lines)
                require(len(fields) == len(lines), f"a field twice: {lines}")
                require(fields["PRIORITY"] == priority and fields["GHYVI_EVENT"] == event and fields["GHYVI_UUID"] == UUID and
                        fields["GHYVI_COUNT"] == "2" and fields["GHYVI_VM"] == "web?1" and fields["GHYVI_PID"] == "4711" and
                        fields["GHYVI_TYPE"] == "ghyvi-gen9_4" and fields["GHYVI_PARENT"] == PARENT, f"{fields}")
                require(f"vGPU {UUID} of VM web?1 (pid 4711)" in fields["MESSAGE"], f"{fields}")
                require(("GHYVI_REASON" in fields) == (event != "reset"), f"{fields}")
            ctl(made, "event", UUID, GHYVI_EVENT="party", expect=USAGE, **env)
            ctl(made, "event", "x", GHYVI_EVENT="reset", expect=USAGE, **env)
            ctl(made, "event", expect=USAGE, **env)
        os.remove(address)
        ctl(made, "event", UUID, GHYVI_EVENT="reset", expect=DONE, **env)
