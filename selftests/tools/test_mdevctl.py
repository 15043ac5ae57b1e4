# SPDX-License-Identifier: GPL-2.0-only
"""Definitions and mdevctl's callout, with a fake mdevctl. selftests/lab uses the real mdevctl."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess

import patience
from ktap import Skip, test
from toolslib import BUSY, DONE, ERROR, NOT_FOUND, USAGE, ctl, environment, require, tree, where
from tree import DRIVER, PARENT, UUIDS

UUID, OTHER = UUIDS
HERE = os.path.dirname(os.path.abspath(__file__))
CALLOUT = f"{HERE}/../../userspace/mdevctl/callout"
LIVE = {"policy/mode": "segmented", "policy/oos_threshold": "2", "policy/self_check": "0", "policy/static_pages": "200", "policy/tables_max": "16384"}


def with_mdevctl(made, status=0):
    """Returns an environment with a fake mdevctl.

    It appends its arguments to @made's file "log", copies a definition to "definition", and lists
    the file "defined"."""
    made.write("mdevctl", "#!/bin/sh\nif [ $1 = list ]; then cat \"$LOG/defined\"; exit; fi\necho \"$@\" >>\"$LOG/log\"\n"
                          "while [ $# -gt 0 ]; do [ \"$1\" = --jsonfile ] && cat \"$2\" >\"$LOG/definition\"; shift; done\n"
                          f"exit {status}\n", 0o755)
    return {"GHYVI_MDEVCTL": f"{made.top}/mdevctl", "LOG": made.top}


@test
def define_passes_a_definition_to_mdevctl():
    with tree() as made:
        env = with_mdevctl(made)
        out = ctl(made, "define", "gen9_4", "-u", UUID, "--auto", "-m", "strict", "-s", "policy/static_pages=7", expect=DONE, **env).out
        require(out == f"{UUID}\n", out)
        definition = {"mdev_type": f"{DRIVER}-gen9_4", "start": "auto",
                      "attrs": [{"policy/static_pages": "7"}, {"policy/mode": "strict"}]}
        require(json.loads(made.read("definition")) == definition, made.read("definition"))
        require(re.fullmatch(rf"define -u {UUID} -p {PARENT} --jsonfile /proc/self/fd/\d+\n", made.read("log")), made.read("log"))
        got = ctl(made, "define", "gen8_1", "--json", expect=DONE, **env).json()
        require(got["parent"] == PARENT and got["definition"]["start"] == "manual" and not got["definition"]["attrs"], f"{got}")
        require(json.loads(made.read("definition")) == got["definition"], made.read("definition"))


@test
def define_saves_the_settings_of_a_vgpu():
    with tree() as made:
        made.add_vgpu(UUID, "gen8_2")
        ctl(made, "define", UUID, "-s", "policy/static_pages=9", expect=DONE, **with_mdevctl(made))
        got = json.loads(made.read("definition"))
        require(got["mdev_type"] == f"{DRIVER}-gen8_2" and got["start"] == "manual", f"{got}")
        require(got["attrs"] == [{name: value} for name, value in LIVE.items()] + [{"policy/static_pages": "9"}], f"{got}")


@test
def settings_that_cannot_be_read_are_not_defined():
    with tree() as made:
        path = made.add_vgpu(UUID)
        # Longer than any value of the kernel, so that reading it fails.
        made.write(f"{path}/policy/newer", "[" * 5000)
        ctl(made, "define", UUID, expect=DONE, **with_mdevctl(made))
        attrs = [{name: value} for name, value in LIVE.items()]
        require(json.loads(made.read("definition"))["attrs"] == attrs, made.read("definition"))
        require(json.loads(ctl(made, "show", "--attributes", UUID, expect=DONE).out) == attrs, "show --attributes")
        out = ctl(made, "show", "-r", "-n", "-o", "SETTING,VALUE", UUID, expect=DONE).out
        require("policy/newer ?\n" in out, out)


@test
def define_needs_mdevctl_but_no_available_instance():
    with tree() as made:
        made.write(f"{made.type_path('gen9_1')}/available_instances", "0\n")
        env = with_mdevctl(made)
        ctl(made, "define", "gen9_1", expect=DONE, **env)
        ctl(made, "create", "gen9_1", expect=BUSY, **env)
        require("list -d" in ctl(made, "define", "gen9_1", expect=ERROR, **with_mdevctl(made, status=1)).err, "no next step")
        require("apt install mdevctl" in ctl(made, "define", "gen9_1", expect=ERROR).err, "no next step")


def defined(made, uuid, *attrs, start="manual", parent=PARENT):
    definition = {"mdev_type": f"{DRIVER}-gen9_4", "start": start, "attrs": [dict([each]) for each in attrs]}
    made.write("defined", json.dumps([{"0000:00:02.0": []}, {parent: [{"other": {}}, {uuid: definition}]}]))
    made.write("log", "")


def commands(made):
    return [line.split()[0] for line in made.read("log").splitlines()]


@test
def define_checks_names_and_ranges_at_once():
    with tree() as made:
        made.add_vgpu(UUID)
        made.write(f"{made.parent_path()}/{UUID}/policy/newer", "1\n")
        env = with_mdevctl(made)
        for setting, status, words in (("sched/weight=0", ERROR, "sched/weight=0: 0 is not in 1..1000"),
                                       ("sched/weight=lots", ERROR, '"lots" is not a number; 1..1000'),
                                       ("sched/weight=5\n", ERROR, '"5?" has more than one line'),
                                       ("policy/mode=loose", ERROR, '"loose" is not one of: strict full'),
                                       ("policy/mode=", ERROR, "is not one of"), ("policy/mode=stric", ERROR, "is not one of"),
                                       ("policy/mod=strict", NOT_FOUND, 'did you mean "policy/mode"?'),
                                       ("weight=1", NOT_FOUND, 'did you mean "sched/weight"?'),
                                       ("stats/workloads=1", NOT_FOUND, "there is no setting"),
                                       ("ghyvi/scheduler=fifo", NOT_FOUND, '"ghyvi/scheduler" is a setting of pGPUs')):
            for what in ("gen9_4", UUID):
                result = ctl(made, "define", what, "--set", setting, expect=status, **env)
                require(words in result.err and result.err.count("\n") == 1, f"{setting}: {result}")
        require(not os.path.exists(f"{made.top}/log"), "mdevctl was called")
        ctl(made, "define", UUID, "--set", "policy/newer=2", "--set", "sched/weight=0x10", expect=DONE, **env)


@test
def define_replaces_only_when_asked():
    with tree() as made:
        made.add_vgpu(UUID)
        env = with_mdevctl(made)
        other = "0000:00:03.0"
        defined(made, UUID, ("sched/weight", "1"), start="auto", parent=other)
        for what in ([UUID], ["gen9_4", "-u", UUID]):
            result = ctl(made, "define", *what, expect=BUSY, **env)
            require(f"{UUID} is defined for {other} already; --replace" in result.err and not commands(made), f"{result}")
        for options, start in (([], "auto"), (["--manual"], "manual"), (["--auto"], "auto")):
            made.write("log", "")
            ctl(made, "define", "--replace", UUID, *options, expect=DONE, **env)
            require(made.read("log").startswith(f"undefine -u {UUID} -p {other}\ndefine -u {UUID} -p {PARENT} "), made.read("log"))
            require(json.loads(made.read("definition"))["start"] == start, made.read("definition"))
        # The old definition is restored if the new one is refused.
        made.write("mdevctl", made.read("mdevctl").replace("while", f'case "$*" in *{PARENT}*) exit 1 ;; esac\nwhile'), 0o755)
        made.write("log", "")
        ctl(made, "define", "--replace", UUID, expect=ERROR, **env)
        require(commands(made) == ["undefine", "define", "define"] and other in made.read("log").splitlines()[2], made.read("log"))
        require(json.loads(made.read("definition"))["attrs"] == [{"sched/weight": "1"}], made.read("definition"))


@test
def ignored_signals_of_the_caller_do_not_hide_a_status():
    """A program that ignores SIGCHLD passes that on, and the kernel then keeps no status of a child."""
    with tree() as made:
        for status, expect in ((0, DONE), (3, ERROR)):
            env = with_mdevctl(made, status)
            command = f"trap '' CHLD; exec {where['build']}/ghyvictl define gen9_4"
            result = ctl(made, "-c", command, program="../../../../../../../../bin/bash", expect=expect, **env)
            require(f"status {status}" in result.err or not status, f"{result}")


@test
def definition_reaches_mdevctl_without_standard_output():
    """The definition's file must not get the number of a standard file: mdevctl's are others."""
    with tree() as made:
        made.add_vgpu(UUID)
        env = with_mdevctl(made)
        defined(made, UUID, ("policy/mode", "full"))
        shell = "../../../../../../../../bin/sh"
        result = ctl(made, "-c", f"exec {where['build']}/ghyvictl set --save {UUID} policy/static_pages=9 >&-", program=shell, expect=DONE, **env)
        kept = made.read("definition")
        require(kept and json.loads(kept)["attrs"] == [{"policy/mode": "full"}, {"policy/static_pages": "9"}], f"'{kept}' {result}")
        # What cannot be printed is still an error.
        ctl(made, "-c", f"exec {where['build']}/ghyvictl list >&-", program=shell, expect=ERROR)


@test
def interrupted_replacement_is_completed():
    """Between undefine and define there is no definition."""
    with tree() as made:
        made.add_vgpu(UUID)
        env = with_mdevctl(made)
        # As systemd ends a service: all of its programs get the signal, mdevctl among them.
        made.write("mdevctl", made.read("mdevctl").replace("while", '[ $1 = undefine ] && kill -TERM $PPID $$\nwhile', 1), 0o755)
        for arguments in (["define", "--replace", UUID], ["set", "--save", UUID, "policy/static_pages=9"]):
            defined(made, UUID, ("policy/static_pages", "7"))
            result = ctl(made, *arguments, expect=-signal.SIGTERM, **env)
            require(commands(made) == ["undefine", "define"], f"{arguments}: {made.read('log')} {result}")


@test
def set_save_changes_the_vgpu_and_its_definition():
    with tree() as made:
        path = made.add_vgpu(UUID, refusing=["policy/oos_threshold"])
        env = with_mdevctl(made)
        defined(made, UUID, ("policy/static_pages", "7"), ("policy/mode", "full"), ("policy/static_pages", "8"), start="auto")
        got = ctl(made, "set", "--save", UUID[:8], "policy/static_pages=9", "policy/self_check=1", "--json", expect=DONE, **env).json()
        require(got["saved"] == [{"policy/static_pages": "9"}, {"policy/self_check": "1"}], f"{got}")
        kept = json.loads(made.read("definition"))
        require(kept == {"mdev_type": f"{DRIVER}-gen9_4", "start": "auto",
                         "attrs": [{"policy/mode": "full"}, {"policy/static_pages": "9"}, {"policy/self_check": "1"}]}, f"{kept}")
        require(made.read(f"{path}/policy/static_pages").startswith("9\n"), "the vGPU was not changed")
        made.write("log", "")
        ctl(made, "set", "--save", UUID, "policy/oos_threshold=x", expect=ERROR, **env)
        require(not commands(made), "a refused value was saved")
        # A vGPU without a definition, a definition without a vGPU, and neither.
        made.add_vgpu(OTHER)
        result = ctl(made, "set", "--save", OTHER, "policy/static_pages=9", expect=NOT_FOUND, **env)
        require(f"ghyvictl define {OTHER}" in result.err, f"{result}")
        require(made.read(f"{made.parent_path()}/{OTHER}/policy/static_pages") == "200\n", "changed, but not saved")
        made.drop_vgpu(OTHER)
        defined(made, OTHER)
        require("0 is not in 1..1000" in ctl(made, "set", "--save", OTHER, "sched/weight=0", expect=ERROR, **env).err, "no range")
        ctl(made, "set", "--save", OTHER, "sched/weight=5", expect=DONE, **env)
        require(json.loads(made.read("definition"))["attrs"] == [{"sched/weight": "5"}], made.read("definition"))
        os.remove(f"{made.top}/defined")
        ctl(made, "set", "--save", OTHER, "sched/weight=5", expect=NOT_FOUND, **env)
        require("apt install mdevctl" in ctl(made, "set", "--save", UUID, "policy/static_pages=9", expect=ERROR).err, "no next step")


@test
def set_save_of_a_pgpu_writes_a_file_that_restore_applies():
    with tree() as made:
        file, live = f"saved/{PARENT}.conf", f"{made.parent_path()}/ghyvi"
        ctl(made, "set", "--save", PARENT, "ghyvi/scheduler=credit", "ghyvi/timeslice_us=500", expect=DONE)
        require(made.read(f"{live}/timeslice_us").startswith("500\n"), "not changed at once")
        require(made.read(file).splitlines()[1:] == ["ghyvi/scheduler=credit", "ghyvi/timeslice_us=500"], made.read(file))
        made.write(file, "# why\n ghyvi/scheduler = fifo # short\nghyvi/timeslice_us=500\nghyvi/scheduler=band\n")
        ctl(made, "set", "--save", PARENT, "ghyvi/scheduler=fair", "ghyvi/timeslice_us=", "ghyvi/window_us=", expect=DONE)
        require(made.read(file) == "# why\nghyvi/scheduler=fair\n", made.read(file))
        require(made.read(f"{live}/timeslice_us").startswith("500\n"), "a removal changed the pGPU")
        require(ctl(made, "show", PARENT, "-j", expect=DONE).json()["parents"][0]["saved"] == {"ghyvi/scheduler": "fair"}, "show")
        require("(saved)" in ctl(made, "show", PARENT, expect=DONE).out, "show")
        # A pGPU that is absent now.
        absent = "1000:00:07.0"
        require("7 is not in 100..1000000" in ctl(made, "set", "--save", absent, "ghyvi/timeslice_us=7", expect=ERROR).err, "no range")
        ctl(made, "set", "--save", absent, "sched/weight=7", expect=NOT_FOUND)
        require(not os.path.exists(f"{made.top}/saved/{absent}.conf"), "wrong values were saved")
        ctl(made, "set", "--save", absent, "ghyvi/timeslice_us=700", expect=DONE)
        ctl(made, "set", "--restore", absent, expect=NOT_FOUND)
        # restore continues after a value that is refused, and names it.
        made.write(file, "ghyvi/scheduler=fifo\nghyvi/tmeslice_us=1\nghyvi/timeslice_us=900\n")
        result = ctl(made, "set", "--restore", PARENT, expect=NOT_FOUND)
        require('did you mean "ghyvi/timeslice_us"' in result.err, f"{result}")
        require(made.read(f"{live}/timeslice_us").startswith("900\n"), "did not continue")
        for text in ("ghyvi/scheduler", "=1", "\n\nGHYVI/X=1", "ghyvi/x\xff=1"):
            made.write(file, f"{text}\n")
            result = ctl(made, "set", "--restore", PARENT, expect=ERROR)
            require(f"{PARENT}.conf, line {text.count(chr(10)) + 1}: not ATTRIBUTE=VALUE" in result.err, f"{result}")
        os.remove(f"{made.top}/{file}")
        ctl(made, "set", "--restore", PARENT, expect=DONE)
        for wrong in (["gen9_4"], [], [PARENT, "ghyvi/scheduler=fifo"], [PARENT, "--save"]):
            ctl(made, "set", "--restore", *wrong, expect=USAGE)


@test
def saved_settings_of_a_type_are_defaults_of_new_vgpus():
    with tree() as made:
        env = with_mdevctl(made)
        for wrong, status in (("policy/static_pages=x", ERROR), ("policy/static=1", NOT_FOUND), ("ghyvi/scheduler=fifo", NOT_FOUND)):
            ctl(made, "set", "--save", "gen9_4", wrong, expect=status)
        ctl(made, "set", "--save", "ghyvi-gen9_4", "policy/static_pages=7", "policy/self_check=1", expect=DONE)
        require("--save saves defaults" in ctl(made, "set", "gen9_4", "policy/static_pages=7", expect=USAGE).err, "no remedy")
        got = ctl(made, "show", "gen9_4", "--json", expect=DONE).json()
        require(got["types"] == [{"type": "gen9_4", "saved": {"policy/static_pages": "7", "policy/self_check": "1"}}], f"{got}")
        made.listen(f"{made.type_path('gen9_4')}/create", lambda uuid: made.add_vgpu(uuid, "gen9_4"))
        ctl(made, "create", "gen9_4", "-u", UUID, "--set", "policy/self_check=0", expect=DONE)
        path = f"{made.parent_path()}/{UUID}/policy"
        require(made.read(f"{path}/static_pages").startswith("7\n"), "the profile was not applied")
        require(made.read(f"{path}/self_check").startswith("0\n"), "the command line did not win")
        ctl(made, "define", "gen9_4", "-m", "full", expect=DONE, **env)
        got = json.loads(made.read("definition"))["attrs"]
        require(got == [{"policy/static_pages": "7"}, {"policy/self_check": "1"}, {"policy/mode": "full"}], f"{got}")
        ctl(made, "define", "gen9_8", expect=DONE, **env)
        require(not json.loads(made.read("definition"))["attrs"], "of another type")


@test
def names_and_choices_match_the_kernels_sources():
    with tree() as made:
        ranges = ctl(made, "show", "--ranges", "--json", expect=DONE).json()["ranges"]
    kernel = f"{HERE}/../../kernel"
    for setting, files in (("policy/mode", glob.glob(f"{kernel}/shadow/policy_*.c")),
                           ("ghyvi/scheduler", glob.glob(f"{kernel}/sched/policy_*.c"))):
        names = set()
        for path in files:
            with open(path) as file:
                names.update(re.findall(r'^\t\.name = "(\w+)"', file.read(), re.M))
        require(names == set(ranges[setting].split()), f"{setting}: {names}, {ranges[setting]}")
    with open(f"{HERE}/../../Documentation/ABI/testing/sysfs-bus-mdev-ghyvi") as file:
        abi = re.sub(r"\s+", " ", file.read())
    for setting, values in ranges.items():
        lowest, to, highest = values.split(" and ")[-1].partition("..")
        entry = abi.partition(f"/{setting} ")[2].partition(" What:")[0]
        words = [f"{lowest} to {highest}"] if to and highest != "1" else re.split(r"\W+", values)
        require(entry and all(word in entry for word in words), f"{setting}: {words} not in its ABI entry")


@test
def set_applies_a_definition_file():
    with tree() as made:
        path = made.add_vgpu(UUID)
        for text in ('[{"policy/oos_threshold": "9"}, {"policy/self_check": "1"}]',
                     '{"mdev_type": "x", "start": "auto", "attrs": [{"policy/oos_threshold": "9"}, {"policy/self_check": "1"}]}'):
            made.write(f"{path}/policy/oos_threshold", "2\n")
            made.write("settings.json", text)
            ctl(made, "set", UUID, "-f", "settings.json", "policy/static_pages=3", expect=DONE)
            for name, value in (("oos_threshold", "9"), ("self_check", "1"), ("static_pages", "3")):
                require(made.read(f"{path}/policy/{name}").startswith(f"{value}\n"), name)
        for text, status in (("", USAGE), ("7", USAGE), ('{"attrs": 7}', USAGE), ('[{"policy/mode": 7}]', USAGE),
                             ("[7, {}]", USAGE), ('[{"policy/mod": "x"}]', NOT_FOUND)):
            made.write("settings.json", text)
            ctl(made, "set", UUID, "-f", "settings.json", expect=status)


def callout(made, event, action, state="none", kind=f"{DRIVER}-gen9_4", stdin="{}"):
    """Returns (status, standard output, standard error)."""
    env = environment(made)
    env["PATH"] = f"{where['build']}:{env['PATH']}"
    done = patience.run([CALLOUT, "-t", kind, "-e", event, "-a", action, "-s", state, "-u", UUID, "-p", PARENT], 20, input=stdin,
                        env=env, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@test
def callout_shows_and_changes_live_settings():
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.write(f"{path}/policy/mode", "strict [adaptive]\n")
        status, out, err = callout(made, "get", "attributes")
        require(status == 0 and {"policy/mode": "adaptive"} in json.loads(out), f"{status} {out} {err}")
        names = [name for each in json.loads(out) for name in each]
        require(names == sorted(LIVE), f"{names}: no counters, nothing read-only")
        status, out, err = callout(made, "live", "modify", stdin='{"attrs": [{"policy/static_pages": "11"}]}')
        require(status == 0 and made.read(f"{path}/policy/static_pages").startswith("11\n"), f"{status} {out} {err}")
        status, out, err = callout(made, "live", "modify", stdin='{"attrs": [{"policy/static_page": "11"}]}')
        require(status not in (0, 2) and 'did you mean "policy/static_pages"' in err, f"{status} {out} {err}")
        supports = json.loads(callout(made, "get", "capabilities")[1])["supports"]
        require("live" in supports["events"] and "attributes" in supports["actions"], f"{supports}")


@test
def slot_is_a_setting_where_the_kernel_has_it():
    """`slot` is in no group, and absent where each vGPU has a private GGTT."""
    with tree() as made:
        path = made.add_vgpu(UUID)
        result = ctl(made, "set", UUID, "slot=1", expect=NOT_FOUND)
        require('there is no setting "slot" here: this vGPU\'s pGPU' in result.err, result.err)
        require("slot" not in ctl(made, "show", "--json", UUID, expect=DONE).json()["vgpus"][0]["settings"], "slot does not exist")
        made.write(f"{path}/slot", "0\n")
        ctl(made, "set", UUID, "slot=3", "policy/static_pages=3", expect=DONE)
        require(made.read(f"{path}/slot").startswith("3\n"), made.read(f"{path}/slot"))
        shown = ctl(made, "show", "--json", UUID, expect=DONE).json()["vgpus"][0]
        require(shown["settings"]["slot"] == "3" and "slot" not in shown["read_only"], f"{shown}")
        _, out, _ = callout(made, "get", "attributes")
        require({"slot": "3"} in json.loads(out), out)
        made.write(f"{path}/slot", "3\n", 0o444)
        ctl(made, "set", UUID, "slot=1", expect=ERROR)
        for name in ("lot", "mode"):
            require("did you mean" in ctl(made, "set", UUID, f"{name}=1", expect=NOT_FOUND).err, name)
            require("did you mean" in ctl(made, "set", "--save", "gen9_4", f"{name}=1", expect=NOT_FOUND).err, name)
        require("32 is not in 0..31" in ctl(made, "set", "--save", "gen9_4", "slot=32", expect=ERROR).err, "not in the range")


@test
def slot_of_a_definition_must_be_one_of_its_type():
    with tree() as made:
        env = with_mdevctl(made)
        result = ctl(made, "define", "gen9_4", "-s", "slot=4", expect=ERROR, **env)
        require(f"slot=4: a {DRIVER}-gen9_4 has slot 0 to 3" in result.err, f"{result}")
        require(not os.path.exists(f"{made.top}/log"), "mdevctl was called")
        ctl(made, "define", "gen9_4", "-s", "slot=0x3", expect=DONE, **env)
        require(json.loads(made.read("definition"))["attrs"] == [{"slot": "0x3"}], made.read("definition"))
        made.write("defined", json.dumps([{PARENT: [{OTHER: {"mdev_type": f"{DRIVER}-gen9_8", "start": "auto", "attrs": []}}]}]))
        require("has slot 0 to 7" in ctl(made, "set", "--save", OTHER, "slot=8", expect=ERROR, **env).err, "the type's range")
        ctl(made, "set", "--save", OTHER, "slot=7", expect=DONE, **env)
        # Leading zeros are decimal to the kernel.
        made.write("defined", json.dumps([{PARENT: [{OTHER: {"mdev_type": f"{DRIVER}-gen9_16", "start": "auto", "attrs": []}}]}]))
        require("has slot 0 to 15" in ctl(made, "set", "--save", OTHER, "slot=017", expect=ERROR, **env).err, "017 is 17")
        ctl(made, "set", "--save", OTHER, "slot=015", expect=DONE, **env)
        result = ctl(made, "set", "--save", "gen9_4", "slot=1", expect=ERROR)
        require("no two vGPUs can have the same slot" in result.err, f"{result}")
        ctl(made, "set", "--save", "gen9_4", "slot=", expect=DONE)


@test
def callout_ignores_other_events_and_types():
    with tree() as made:
        made.add_foreign()
        # The input is larger than a pipe's buffer: mdevctl 1.2 fails if the callout does not read
        # it.
        for event, action in (("pre", "start"), ("post", "start"), ("pre", "define"), ("post", "stop"), ("pre", "modify")):
            require(callout(made, event, action, stdin=" " * 100000) == (0, "", ""), f"{event} {action}")
        status, out, err = callout(made, "post", "start", state="failure")
        require(status == 0 and not out and "dmesg" in err, f"{status} {out} {err}")
        made.add_vgpu(UUID)
        status, out, err = callout(made, "post", "start", state="failure")
        require(status == 0 and not out and "dmesg" not in err and "has started it" in err, f"{status} {out} {err}")
        for kind in ("i915-GVTg_V5_4", "", f"{DRIVER}-gen7_1", "../../x"):
            require(callout(made, "get", "attributes", kind=kind)[0] == 2, f"{kind} is not ours")


# What mdevctl's own rule does where the program that it runs exists.
MDEVCTL_RULE = 'ACTION=="change", SUBSYSTEM=="pci", RUN+="/usr/sbin/mdevctl start-parent-mdevs %k"\n'
UDEV_TEST = """
mount -t tmpfs none /run && mkdir -p /run/udev/rules.d /run/saved /run/defined
for hidden in /usr/lib/udev/rules.d /etc/udev; do mount -t tmpfs none $hidden || exit; done
cp "$1"/*.rules /run/udev/rules.d/ && mount -t tmpfs none /etc && mkdir /etc/ghyvi && touch /etc/ghyvi/$2.conf || exit
exec udevadm test --action=change /devices/pci${2%:*}/$2
"""


@test
def settings_of_a_pgpu_are_restored_before_vgpus_are_started():
    """ghyvi/type_share is about new vGPUs only, and udev runs the programs in the order of the rules' files."""
    if os.getuid() or not shutil.which("udevadm"):
        raise Skip("needs root and udevadm")
    with tree() as made:
        done = subprocess.run(["make", "--no-print-directory", "-C", f"{HERE}/../../userspace/mdevctl", "install", f"DESTDIR={made.top}/root",
                               "PREFIX=/usr", "UDEV_DIR=/rules"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        require(done.returncode == 0, done.stdout)
        made.write("root/rules/60-mdevctl.rules", MDEVCTL_RULE)
        done = patience.run(["unshare", "--mount", "sh", "-c", UDEV_TEST, "sh", f"{made.top}/root/rules", PARENT], env=environment(made),
                            capture_output=True, text=True, limit_s=60)
        if "Operation not permitted" in done.stderr:
            raise Skip(done.stderr)
        found = re.findall(r"^run: '(.*)'$", done.stdout, re.M)
        require(found == [f"/usr/bin/ghyvictl set --restore {PARENT}", f"/usr/sbin/mdevctl start-parent-mdevs {PARENT}"],
                f"{found}: {done.stdout} {done.stderr}")
        require("@" not in "".join(made.read(f"root/rules/{name}") for name in os.listdir(f"{made.top}/root/rules")).replace("@$kernel", ""),
                "a placeholder is left")
