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


def allows(made, *names):
    got = ctl(made, "migrate-check", *names, "--json", expect=DONE).json()
    require(got == {"source": SOURCE, "target": TARGET, "possible": True, "reasons": []}, f"{got}")
    require("can be migrated" in ctl(made, "migrate-check", *names, expect=DONE).out, "text")


def set_file(made, uuid, attribute, text):
    made.write(f"{made.parent_path()}/{uuid}/{attribute}", text)


@test
def migrate_check_allows_what_works():
    with tree() as made:
        vgpus(made)
        allows(made, SOURCE, TARGET)
        shown = f"{made.top}/other-host.json"
        with open(shown, "w") as file:
            file.write(ctl(made, "show", "--json", TARGET, expect=DONE).out)
        allows(made, SOURCE, shown)


@test
def migrate_check_names_the_reason():
    with tree() as made:
        vgpus(made, target="gen9_8")
        refuses(made, "ghyvi-gen9_4", "ghyvi-gen9_8")
    with tree() as made:
        vgpus(made)
        refuses(made, "same vGPU", names=(SOURCE, SOURCE))
        set_file(made, SOURCE, "audit/mode", "off strict [log]\n")
        set_file(made, TARGET, "audit/mode", "off [strict]\n")
        refuses(made, "audit/mode", "log")
        set_file(made, TARGET, "audit/mode", "off [strict] log\n")
        allows(made, SOURCE, TARGET)
        set_file(made, TARGET, "state", "open\n")
        refuses(made, "in use")


@test
def migrate_check_says_what_is_wrong_with_its_arguments():
    with tree() as made:
        vgpus(made)
        ctl(made, "migrate-check", SOURCE, expect=USAGE)
        ctl(made, "migrate-check", SOURCE, "deadbeef-dead-dead-dead-deadbeefdead", expect=NOT_FOUND)
        for text in ("", "{}", json.dumps({"vgpus": [{}]}), json.dumps({"vgpus": []}), "[1]"):
            made.write("wrong.json", text)
            ctl(made, "migrate-check", SOURCE, f"{made.top}/wrong.json", expect=NOT_FOUND)
        made.write("odd.json", json.dumps({"vgpus": [{"settings": {"policy/mode": 1}, "choices": [], "uuid": 5}]}))
        ctl(made, "migrate-check", SOURCE, f"{made.top}/odd.json", expect=ERROR)
