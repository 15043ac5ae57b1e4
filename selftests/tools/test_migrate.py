# SPDX-License-Identifier: GPL-2.0-only
"""ghyvictl migrate-check: each reason, by itself."""

import json

from ktap import test
from toolslib import DONE, ERROR, NOT_FOUND, USAGE, ctl, require, tree
from tree import UUIDS

SOURCE, TARGET = UUIDS


def vgpus(made, target="gen9_4"):
    made.add_vgpu(SOURCE, "gen9_4")
    made.add_vgpu(TARGET, target)


def refuses(made, *words, names=(SOURCE, TARGET)):
    """There is one reason, with these words."""
    got = ctl(made, "migrate-check", *names, "--json", expect=ERROR).json()
    require(not got["possible"] and len(got["reasons"]) == 1, f"{got}")
    for word in words:
        require(word in got["reasons"][0], f"nothing of {word} in {got}")
    text = ctl(made, "migrate-check", *names, expect=ERROR)
    require(text.out.strip() == got["reasons"][0], f"{text}")


def allows(made, *names, notes=()):
    got = ctl(made, "migrate-check", *names, "--json", expect=DONE).json()
    require(got == {"source": SOURCE, "target": TARGET, "possible": True, "reasons": [], "notes": list(notes)}, f"{got}")
    text = ctl(made, "migrate-check", *names, expect=DONE).out.splitlines()
    require("can be migrated" in text[0] and text[1:] == [f"note: {note}" for note in notes], f"{text}")


def set_file(made, uuid, attribute, text):
    made.write(f"{made.parent_path()}/{uuid}/{attribute}", text)


@test
def migrate_check_allows_what_works():
    with tree() as made:
        vgpus(made)
        allows(made, SOURCE, TARGET)
        for name in ("other-host.json", "other-host", TARGET):
            made.write(name, ctl(made, "show", "--json", TARGET, expect=DONE).out)
        for name in ("other-host.json", "other-host", f"./{TARGET}", TARGET):
            allows(made, SOURCE, name)


@test
def migrate_check_prints_no_control_characters_of_a_file():
    with tree() as made:
        vgpus(made)
        other = ctl(made, "show", "--json", TARGET, expect=DONE).json()
        other["vgpus"][0]["uuid"] = "\x1b[2Jx\ny"
        made.write("other.json", json.dumps(other))
        out = ctl(made, "migrate-check", SOURCE, "other.json", expect=DONE).out
        require(out == f"{SOURCE} can be migrated to ?[2Jx?y\n", repr(out))
        require(ctl(made, "migrate-check", SOURCE, "other.json", "--json", expect=DONE).json()["target"] == "\x1b[2Jx\ny", "JSON")


@test
def migrate_check_notes_settings_that_would_change():
    with tree() as made:
        vgpus(made)
        for name, source, target in (("sched/weight", 100, 200), ("policy/tables_max", 512, 256), ("policy/static_pages", 1, 2),
                                     ("policy/self_check", 1, 0), ("policy/trap_ns", 1, 2)):
            set_file(made, SOURCE, name, f"{source}\n")
            set_file(made, TARGET, name, f"{target}\n")
        set_file(made, SOURCE, "policy/mode", "strict adaptive [nested]\n")
        set_file(made, TARGET, "policy/mode", "strict [adaptive] nested\n")
        allows(made, SOURCE, TARGET, notes=(
            "policy/mode will be adaptive, that of the target, not nested",
            "policy/tables_max is 512 at the source, 256 at the target; the stricter one will apply",
            "sched/weight is 100 at the source, 200 at the target; the stricter one will apply"))
        set_file(made, SOURCE, "policy/mode", "[strict] adaptive nested\n")
        set_file(made, TARGET, "sched/weight", "100\n")
        set_file(made, TARGET, "policy/tables_max", "512\n")
        allows(made, SOURCE, TARGET)


@test
def migrate_check_names_the_reason():
    with tree() as made:
        vgpus(made, target="gen9_8")
        refuses(made, "ghyvi-gen9_4", "ghyvi-gen9_8")
    with tree() as made:
        vgpus(made)
        refuses(made, "same vGPU", names=(SOURCE, SOURCE))
        set_file(made, SOURCE, "audit/mode", "privileged [full] newer\n")
        set_file(made, TARGET, "audit/mode", "privileged [full]\n")
        allows(made, SOURCE, TARGET)
        set_file(made, SOURCE, "audit/mode", "privileged full [newer]\n")
        refuses(made, "audit/mode", "newer")
        set_file(made, TARGET, "audit/mode", "privileged full [newer]\n")
        allows(made, SOURCE, TARGET)
        set_file(made, SOURCE, "policy/multicall", "off [on]\n")
        refuses(made, "policy/multicall is on at the source, off at the target")
        set_file(made, TARGET, "policy/multicall", "[off] on\n")
        refuses(made, "policy/multicall is on at the source, off at the target")
        set_file(made, TARGET, "policy/multicall", "off [on]\n")
        allows(made, SOURCE, TARGET)
        # A ghyvi that knows no displays has no such files.
        set_file(made, SOURCE, "display/enabled", "0\n")
        allows(made, SOURCE, TARGET)
        set_file(made, SOURCE, "display/enabled", "1\n")
        refuses(made, "display/enabled is 1 at the source, 0 at the target")
        set_file(made, TARGET, "display/enabled", "1\n")
        allows(made, SOURCE, TARGET)
        set_file(made, TARGET, "state", "open\n")
        refuses(made, "in use")


@test
def migrate_check_says_what_is_wrong_with_its_arguments():
    with tree() as made:
        vgpus(made)
        ctl(made, "migrate-check", SOURCE, expect=USAGE)
        ctl(made, "migrate-check", SOURCE, "deadbeef-dead-dead-dead-deadbeefdead", expect=NOT_FOUND)
        both = ctl(made, "show", "--json", SOURCE, TARGET, expect=DONE).out
        other = "not the output of ghyvictl show --json UUID"
        for text, words in (("", "wrong.json, line 1: "), ("{}", other), (json.dumps({"vgpus": [{}]}), other),
                            (json.dumps({"vgpus": []}), other), ("[1]", other),
                            (both, "wrong.json has 2 vGPUs; use the output of ghyvictl show --json UUID")):
            made.write("wrong.json", text)
            result = ctl(made, "migrate-check", SOURCE, "wrong.json", expect=USAGE)
            require(words in result.err, f"{text[:40]}: {result}")
        result = ctl(made, "migrate-check", SOURCE, "./none", expect=USAGE)
        require("./none: No such file or directory" in result.err, f"{result}")
        result = ctl(made, "migrate-check", SOURCE, "none", expect=USAGE)
        require('"none" is not a UUID' in result.err, f"{result}")
        made.write("odd.json", json.dumps({"vgpus": [{"settings": {"policy/mode": 1}, "choices": [], "uuid": 5}]}))
        ctl(made, "migrate-check", SOURCE, f"{made.top}/odd.json", expect=ERROR)
