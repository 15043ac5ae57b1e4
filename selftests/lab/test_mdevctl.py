# SPDX-License-Identifier: GPL-2.0-only
"""Debian's mdevctl with our callout and unit: definitions, live settings, restore with the pGPU."""

import json
import os
import re

import fixture
import hostlib
import services
from hostlib import eventually, must_run, require
from ktap import test

RULES = "/run/udev/rules.d/62-ghyvi.rules"


def definition(uuid):
    """mdevctl's definition of the vGPU, from disk."""
    return json.loads(must_run("mdevctl", "list", "--defined", "--dumpjson", "-u", uuid))


def attributes(entry):
    return {name: value for each in entry["attrs"] for name, value in each.items()}


def live(uuid):
    """Attributes of an existing vGPU, as mdevctl shows them."""
    return attributes(json.loads(must_run("mdevctl", "list", "--dumpjson", "-u", uuid)))


def setting(uuid, name):
    return hostlib.read(f"/sys/bus/mdev/devices/{uuid}/{name}")


@test
def mdevctl_starts_a_definition_with_its_settings():
    fixture.drop_all()
    services.install()
    uuid = must_run("ghyvictl", "define", "gen9_8", "--policy", "strict", "--set", "policy/static_pages=7").strip()
    try:
        require(not os.path.exists(f"/sys/bus/mdev/devices/{uuid}"), "define created the vGPU")
        kept = definition(uuid)
        require(attributes(kept) == {"policy/static_pages": "7", "policy/mode": "strict"}, f"{kept}")
        must_run("mdevctl", "start", "-u", uuid)
        require("[strict]" in setting(uuid, "policy/mode") and setting(uuid, "policy/static_pages") == "7", "settings")
        must_run("mdevctl", "stop", "-u", uuid)
        require(not os.path.exists(f"/sys/bus/mdev/devices/{uuid}"), "stop did not remove the vGPU")
        must_run("mdevctl", "modify", "-u", uuid, "--addattr", "policy/mode", "--value", "loose")
        status, out = hostlib.run("mdevctl", "start", "-u", uuid)
        require(status and "Invalid argument" in out and "dmesg" in out, f"a bad value: status {status}: {out}")
        require("loose" in hostlib.run("dmesg")[1], "the kernel's log has no reason")
        require(not os.path.exists(f"/sys/bus/mdev/devices/{uuid}"), "the failed start left a vGPU")
    finally:
        must_run("mdevctl", "undefine", "-u", uuid)


@test
def mdevctl_shows_live_settings_and_keeps_them():
    services.install()
    uuid = must_run("ghyvictl", "create", "gen8_8", "--policy", "oos").strip()
    try:
        require(uuid in must_run("mdevctl", "list"), "mdevctl does not list the vGPU of ghyvictl")
        now = live(uuid)
        require(now["policy/mode"] == "oos", f"{now}")
        must_run("ghyvictl", "set", uuid, "policy/mode=full", "policy/static_pages=9")
        now = live(uuid)
        require(now["policy/mode"] == "full" and now["policy/static_pages"] == "9", f"{now}")
        shown = must_run("mdevctl", "list", "-v")
        require('{"policy/mode":"full"}' in shown, shown)
        # `define` saves the attributes that the callout returns. For a defined vGPU, mdevctl 1.2
        # lists the saved attributes only.
        must_run("mdevctl", "define", "-u", uuid)
        kept = definition(uuid)
        require(attributes(kept) == now, f"{kept}")
        must_run("mdevctl", "undefine", "-u", uuid)
        # ghyvictl must save the same.
        must_run("ghyvictl", "define", uuid, "--auto")
        kept = definition(uuid)
        require(attributes(kept) == now and kept["start"] == "auto", f"{kept}")
        must_run("mdevctl", "undefine", "-u", uuid)
    finally:
        must_run("ghyvictl", "remove", uuid)


def write_rule(text):
    os.makedirs(os.path.dirname(RULES), exist_ok=True)
    with open(RULES, "w") as file:
        file.write(text + "\n")
    must_run("udevadm", "control", "--reload")


def rule_in_documentation():
    with open(f"{hostlib.TREE}/Documentation/admin.md") as file:
        return re.search(r'^ACTION.*ATTR\{ghyvi/timeslice_us\}="(\d+)"$', file.read(), re.M)


@test
def udev_rule_restores_pgpu_settings():
    services.start_udev()
    rule = rule_in_documentation()
    setting = f"{hostlib.parent()}/ghyvi/timeslice_us"
    require(hostlib.read(setting) != rule[1], "the example sets the default")
    try:
        write_rule(rule[0])
        hostlib.unload_modules()
        hostlib.load_modules()
        eventually(lambda: hostlib.read(setting) == rule[1], "the setting")
    finally:
        write_rule("")
        hostlib.unload_modules()
        hostlib.load_modules()


@test
def autostart_vgpus_are_restored_with_their_pgpu():
    """Debian's udev and systemd restore the vGPUs as after a reboot.

    mdevctl's own udev rule is installed, but runs a program that does not exist."""
    services.install()
    services.start_udev()
    services.start_systemd()
    own = must_run("ghyvictl", "define", "gen9_8", "--auto", "--policy", "strict").strip()
    manual = must_run("ghyvictl", "define", "gen9_8").strip()
    try:
        for _ in range(2):
            hostlib.unload_modules()
            hostlib.load_modules()
            eventually(lambda: os.path.exists(f"/sys/bus/mdev/devices/{own}/policy"),
                       "the autostart vGPU", 60)
            eventually(lambda: "[strict]" in setting(own, "policy/mode"), "its settings")
            require(not os.path.exists(f"/sys/bus/mdev/devices/{manual}"),
                    "the manual vGPU was started")
            # restore does not fail if all vGPUs exist.
            must_run("/usr/local/libexec/ghyvi/restore", os.path.basename(hostlib.parent()))
    finally:
        hostlib.run("mdevctl", "stop", "-u", own)
        for uuid in (own, manual):
            must_run("mdevctl", "undefine", "-u", uuid)
        services.stop()
