# SPDX-License-Identifier: GPL-2.0-only
"""ghyvictl with the real modules, without a guest. Its other tests are in selftests/tools."""

import json
import os
import shutil
import tempfile

import fixture
import hostlib
from hostlib import available, read, require, types
from ktap import Skip, test
from screen import Screen

CTL = os.environ.get("GHYVI_CTL") or f"{hostlib.TREE}/build/ghyvictl"
DONE, ERROR, USAGE, NOT_FOUND, BUSY = range(5)
NOBODY = 65534
SOON_S = 60


def ctl(*arguments, expect=DONE):
    if not os.path.exists(CTL):
        raise Skip("no build/ghyvictl: make tools")
    status, out = hostlib.run(CTL, *arguments)
    require(status == expect, f"ghyvictl {' '.join(arguments)}: status {status}, not {expect}: {out.strip()[-600:]}")
    return out


def ctl_json(*arguments):
    return json.loads(ctl(*arguments, "--json"))


def listed():
    return {each["uuid"]: each for each in ctl_json("list")["vgpus"]}


@test
def ghyvictl_create_and_remove_match_sysfs():
    fixture.drop_all()
    offered = {each["name"]: each for each in ctl_json("types")["types"]}
    require(set(offered) == {f"ghyvi-{kind}" for kind in types()}, f"{sorted(offered)}")
    for kind in types():
        require(offered[f"ghyvi-{kind}"]["available"] == available(kind), f"{kind}: {offered[f'ghyvi-{kind}']}")
    uuid = ctl("create", "gen9_8", "--policy", "strict", "--set", "policy/static_pages=7").strip()
    path = f"/sys/bus/mdev/devices/{uuid}"
    try:
        require("[strict]" in read(f"{path}/policy/mode"), read(f"{path}/policy/mode"))
        require(read(f"{path}/policy/static_pages") == "7", read(f"{path}/policy/static_pages"))
        require(listed()[uuid]["name"] == "ghyvi-gen9_8" and listed()[uuid]["state"] == "created", f"{listed()}")
        require(os.path.basename(hostlib.parent()) == listed()[uuid]["parent"], f"{listed()}")
        require("already" in ctl("create", "gen9_8", "-u", uuid, expect=BUSY), "the UUID is taken")
        require("No available instances" in ctl("create", "gen9_1", expect=BUSY), "there is no room for gen9_1")
    finally:
        ctl("remove", uuid)
    require(not os.path.exists(path) and uuid not in listed(), "the vGPU still exists")
    require("nor any other" in ctl("remove", uuid, expect=NOT_FOUND), "there is no vGPU at all")


@test
def ghyvictl_set_and_show_match_sysfs_of_a_vgpu():
    with fixture.vgpus("gen9_8") as (vgpu,):
        got = ctl_json("show", vgpu.uuid)["vgpus"][0]
        require(got["settings"]["policy/mode"] == vgpu.mode(), f"{got}")
        require("policy/trap_ns" in got["read_only"], f"{got}")
        for mode in got["choices"]["policy/mode"]:
            ctl("set", vgpu.uuid, f"policy/mode={mode}")
            require(vgpu.mode() == mode, f"{mode} set, {vgpu.mode()} active")
        out = ctl("set", vgpu.uuid, "policy/mode=segmentd", expect=ERROR)
        require('there is no policy "segmentd"' in out and 'did you mean "segmented"' in out, out)
        require("segmentd" in vgpu.last_error(), out)
        out = ctl("set", vgpu.uuid, "policy/oos_threshold=0", expect=ERROR)
        require("0 is not in 1..65535" in out, out)
        for name, reason in (("sched/weight", '"lots" is not a number; 1..1000'), ("policy/self_check", '"lots" is not a number; 0..1'),
                             ("audit/mode", 'there is no mode "lots"')):
            out = ctl("set", vgpu.uuid, f"{name}=lots", expect=ERROR)
            require(reason in out, out)


@test
def ghyvictl_set_and_show_match_sysfs_of_a_pgpu():
    name = os.path.basename(hostlib.parent())
    before = ctl_json("show", name)["parents"][0]
    have = {f"ghyvi/{each}" for each in os.listdir(f"{hostlib.parent()}/ghyvi")}
    require(set(before["settings"]) == have, f"{before}, not {have}")
    try:
        for scheduler in before["choices"]["ghyvi/scheduler"]:
            ctl("set", name, f"ghyvi/scheduler={scheduler}")
            require(f"[{scheduler}]" in read(f"{hostlib.parent()}/ghyvi/scheduler"), f"{scheduler} is not active")
    finally:
        ctl("set", name, f"ghyvi/scheduler={before['settings']['ghyvi/scheduler']}")
    out = ctl("set", name, "ghyvi/timeslice_us=0", expect=ERROR)
    require("ghyvi/timeslice_us=0: 0 is not in 100..1000000" in out, out)


@test
def ghyvictl_stat_reset_top_export_dump_and_doctor_work():
    with fixture.vgpus("gen9_8", "gen8_8") as made:
        vgpu = made[0]
        for each in ctl_json("stat")["vgpus"]:
            require(set(each["counters"]) == set(vgpu.unused), f"{each}")
        before = vgpu.stat("device_resets")
        ctl("reset", vgpu.uuid)
        require(vgpu.stat("device_resets") == before + 1, "not reset")
        require("device_resets" in ctl("stat", vgpu.uuid), "stat does not show the reset")
        for one in made:
            require(one.uuid in ctl("top", "--batch", "1", "-s", "0.1"), "top does not show it")
        require(f'ghyvi_device_resets_total{{uuid="{vgpu.uuid}",type="ghyvi-gen9_8"' in ctl("export"), "not exported")
        require(set(ctl_json("dump", vgpu.uuid)["vgpus"][0]) == {"uuid", "engines", "tables", "audit", "config", "error_state"}, "dump")
        got = {each["check"]: each for each in json.loads(hostlib.run(CTL, "doctor", "--json")[1])["checks"]}
        require(got["parent"]["result"] == "PASS" and got["kvm"]["result"] == "PASS", f"{got}")
        if hostlib.PGPU == "gen9":
            require("ghyvi-gen9 drives 0000:00:02.0 (Skylake GT2" in got["gpu"]["detail"], f"{got['gpu']}")


@test
def ghyvictl_top_follows_create_and_remove_at_once():
    """top runs without privileges. No udev daemon runs unless another test has started it."""
    fixture.drop_all()
    ctl("--version")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copy(CTL, f"{folder}/ghyvictl")
        screen = Screen(f"{folder}/ghyvictl", "top", "-s", "3600", env=os.environ, cwd="/", user=NOBODY, group=NOBODY, extra_groups=[])
        try:
            screen.show("ghyvictl create makes one", SOON_S)
            uuid = ctl("create", "gen9_8").strip()
            screen.show(uuid, SOON_S)
            ctl("remove", uuid)
            screen.show("ghyvictl create makes one", SOON_S)
            screen.press("q")
            require(screen.process.wait(SOON_S) == DONE, "q did not end it")
        finally:
            screen.end()
