# SPDX-License-Identifier: GPL-2.0-only
"""Definitions and mdevctl's callout, with a fake mdevctl. selftests/lab uses the real mdevctl."""

import json
import os
import re
import subprocess

from ktap import test
from toolslib import BUSY, DONE, ERROR, NOT_FOUND, USAGE, ctl, environment, require, tree, where
from tree import DRIVER, PARENT, UUIDS

UUID, OTHER = UUIDS
HERE = os.path.dirname(os.path.abspath(__file__))
CALLOUT = f"{HERE}/../../userspace/mdevctl/callout"
LIVE = {"policy/mode": "segmented", "policy/oos_threshold": "2", "policy/self_check": "0", "policy/static_pages": "200", "policy/tables_max": "16384"}


def with_mdevctl(made, status=0):
    """Returns an environment with a fake mdevctl.

    It appends its arguments to @made's file "log" and copies a definition to "definition"."""
    made.write("mdevctl", "#!/bin/sh\necho \"$@\" >>\"$LOG/log\"\n"
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
def define_needs_mdevctl_but_no_available_instance():
    with tree() as made:
        made.write(f"{made.type_path('gen9_1')}/available_instances", "0\n")
        env = with_mdevctl(made)
        ctl(made, "define", "gen9_1", expect=DONE, **env)
        ctl(made, "create", "gen9_1", expect=BUSY, **env)
        require("list -d" in ctl(made, "define", "gen9_1", expect=ERROR, **with_mdevctl(made, status=1)).err, "no next step")
        require("apt install mdevctl" in ctl(made, "define", "gen9_1", expect=ERROR).err, "no next step")


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
    done = subprocess.run([CALLOUT, "-t", kind, "-e", event, "-a", action, "-s", state, "-u", UUID, "-p", PARENT],
                          input=stdin, env=env, capture_output=True, text=True, timeout=20, check=False)
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
def callout_ignores_other_events_and_types():
    with tree() as made:
        made.add_foreign()
        # The input is larger than a pipe's buffer: mdevctl 1.2 fails if the callout does not read
        # it.
        for event, action in (("pre", "start"), ("post", "start"), ("pre", "define"), ("post", "stop"), ("pre", "modify")):
            require(callout(made, event, action, stdin=" " * 100000) == (0, "", ""), f"{event} {action}")
        status, out, err = callout(made, "post", "start", state="failure")
        require(status == 0 and not out and "dmesg" in err, f"{status} {out} {err}")
        for kind in ("i915-GVTg_V5_4", "", f"{DRIVER}-gen7_1", "../../x"):
            require(callout(made, "get", "attributes", kind=kind)[0] == 2, f"{kind} is not ours")
