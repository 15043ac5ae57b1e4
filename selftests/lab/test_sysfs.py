# SPDX-License-Identifier: GPL-2.0-only
"""mdev types, instances and attributes in sysfs, without a guest."""

import errno
import os
import re
import time

import fixture
import hostlib
from hostlib import Problem, VGPU, available, read, require, types, write
from ktap import test
from uevents import Uevents

DIVISORS = (1, 2, 4, 8, 16, 32)
GENERATIONS = ("gen9",) if hostlib.PGPU == "gen9" else ("gen9", "gen8")
OTHER = GENERATIONS[-1]  # than gen9, if there is another one
KINDS = [f"{generation}_{n}" for generation in GENERATIONS for n in DIVISORS]
LOAD_ROUNDS = 10
REMOVE_ROUNDS = 3


def all_available():
    return {kind: available(kind) for kind in KINDS}


@test
def modules_load_and_unload_ten_times():
    fixture.drop_all()
    for _ in range(LOAD_ROUNDS):
        if hostlib.loaded():
            hostlib.unload_modules()
        hostlib.load_modules()
        require(set(KINDS) == set(types()), f"types {sorted(types())}")


@test
def types_have_name_api_and_description():
    for kind in KINDS:
        path = types()[kind]
        require(read(f"{path}/name") == f"ghyvi-{kind}", f"{kind}: name '{read(f'{path}/name')}'")
        require(read(f"{path}/device_api") == "vfio-pci", f"{kind}: device_api '{read(f'{path}/device_api')}'")
        description = read(f"{path}/description")
        require(re.fullmatch(r"[\w.-]+=[^\s,]+(,? [\w.-]+=[^\s,]+)*", description), f"{kind}: description '{description}'")
    parent = os.path.realpath(hostlib.parent())
    require("/pci" in parent, f"the parent {parent} is not a PCI function")


@test
def available_instances_match_what_can_be_created():
    fixture.drop_all()
    empty = all_available()
    for n in DIVISORS:
        for generation in GENERATIONS:
            kind = f"{generation}_{n}"
            require(empty[kind] == n, f"{kind}: {empty[kind]} available of an unused pGPU")
    made = []
    try:
        # Half of the pGPU and an eighth, then as many as possible of each type, largest first.
        for kind in ("gen9_2", f"{OTHER}_8"):
            made.append(VGPU(kind))
        for kind in KINDS:
            count = available(kind)
            room = [VGPU(kind) for _ in range(count)]
            require(available(kind) == 0, f"{kind}: {available(kind)} available after creating all {count}")
            try:
                made.append(VGPU(kind))
                raise Problem(f"{kind}: created one more than the {count} available")
            except OSError as error:
                require(error.errno in (errno.ENOSPC, errno.EUSERS, errno.EBUSY, errno.ENODEV),
                        f"{kind}: create without room gives {error}")
            for vgpu in room:
                vgpu.remove()
        left = [available(f"gen9_{n}") for n in DIVISORS]
        require(left == [0, 0, 1, 3, 6, 12], f"half and an eighth taken: {all_available()}")
    finally:
        for vgpu in made:
            vgpu.remove()
    require(all_available() == empty, f"after removing all: {all_available()}, before {empty}")


@test
def create_refuses_bad_requests():
    with fixture.vgpus("gen9_8") as (vgpu,):
        before = all_available()
        error = write(f"{types()['gen9_8']}/create", vgpu.uuid)
        require(error and error.errno == errno.EEXIST, f"a duplicate UUID gives {error}")
        error = write(f"{types()[f'{OTHER}_8']}/create", vgpu.uuid)
        require(error and error.errno == errno.EEXIST, f"a duplicate UUID of another type gives {error}")
        for text in ("hello", "", vgpu.uuid[:-1], vgpu.uuid + "0"):
            error = write(f"{types()['gen9_8']}/create", text)
            require(error and error.errno == errno.EINVAL, f"UUID '{text}' gives {error}")
        unknown = types()["gen9_8"].replace("gen9_8", "gen9_3") + "/create"
        error = write(unknown, "c0ffee00-0000-4000-8000-000000000000")
        require(error and error.errno in (errno.ENOENT, errno.EACCES), f"an unknown type gives {error}")
        require(all_available() == before, "a refused create changed available_instances")


@test
def bad_values_are_refused_with_name_value_and_range():
    """Settings of a vGPU and of its pGPU have the same parser and messages."""
    with fixture.vgpus("gen9_8") as (vgpu,):
        pgpu = f"{hostlib.parent()}/ghyvi"
        vgpu.set("sched/weight", "0100")
        require(read(f"{vgpu.path}/sched/weight") == "100", "0100 is not decimal")
        vgpu.set("sched/weight", "0x10")
        require(read(f"{vgpu.path}/sched/weight") == "16", "0x10 is not 16")
        since = int(time.time())
        for path, value, reason in (
                (f"{vgpu.path}/sched/weight", "0", "sched/weight: 0 is not in 1..1000"),
                (f"{vgpu.path}/sched/weight", "8\0", 'sched/weight: "8" is not a number; 1..1000 are possible'),
                (f"{vgpu.path}/policy/self_check", "nonsense", 'policy/self_check: "nonsense" is not a number; 0..1 are possible'),
                (f"{vgpu.path}/policy/mode", "strict ", 'policy/mode: there is no policy "strict "'),
                (f"{vgpu.path}/audit/mode", "full ", 'audit/mode: there is no mode "full "'),
                (f"{pgpu}/scheduler", "fifo ", 'ghyvi/scheduler: there is no policy "fifo "'),
                (f"{pgpu}/timeslice_us", "99", "ghyvi/timeslice_us: 99 is not in 100..1000000"),
                (f"{pgpu}/preempt_timeout_us", "9", "ghyvi/preempt_timeout_us: 9 is not in 0 and 1000..60000000")):
            before = read(path)
            error = write(path, value)
            require(error and error.errno == errno.EINVAL, f"{path}: {value!r} gives {error}")
            said = read(f"{pgpu}/last_error") if path.startswith(pgpu) else vgpu.last_error()
            require(said == reason, f"{path}: {value!r}: {said}")
            require(read(path) == before, f"{path} changed")
        at = int(read(f"{vgpu.path}/last_error_time"))
        require(since <= at <= time.time(), f"last_error_time {at}")


@test
def type_share_sets_weight_and_cap_of_new_vgpus():
    share = f"{hostlib.parent()}/ghyvi/type_share"

    def knobs(kind):
        with fixture.vgpus(kind) as (vgpu,):
            return tuple(int(read(f"{vgpu.path}/sched/{name}")) for name in ("weight", "cap"))

    require(read(share) == "[none] weight cap", read(share))
    try:
        for value, eighth, whole, thirtysecond in (("none", (100, 0), (100, 0), (100, 0)), ("weight", (120, 0), (960, 0), (30, 0)),
                                                   ("cap", (120, 13), (960, 100), (30, 4))):
            require(not write(share, value) and f"[{value}]" in read(share), read(share))
            for kind, wanted in (("gen9_8", eighth), (f"{OTHER}_1", whole), ("gen9_32", thirtysecond)):
                require(knobs(kind) == wanted, f"{value}: {kind}: {knobs(kind)}, not {wanted}")
        error = write(share, "caps")
        require(error and error.errno == errno.EINVAL and "[cap]" in read(share), f"{error}, {read(share)}")
        require(read(f"{hostlib.parent()}/ghyvi/last_error") == 'ghyvi/type_share: there is no share "caps"', "no reason")
    finally:
        write(share, "none")


@test
def policies_are_listed_and_bad_ones_refused():
    with fixture.vgpus("gen9_8") as (vgpu,):
        text = read(f"{vgpu.path}/policy/mode")
        require(vgpu.mode() == "adaptive", f"policy/mode of a new vGPU reads '{text}'")
        listed = set(text.replace("[", "").replace("]", "").split())
        require({"strict", "segmented", "adaptive"} <= listed, f"policy/mode reads '{text}'")
        for value in ("loose", "", "strictly", "strict segmented", "s" * 5000):
            error = write(f"{vgpu.path}/policy/mode", value)
            require(error and error.errno == errno.EINVAL, f"policy/mode = '{value[:20]}' gives {error}")
            require(read(f"{vgpu.path}/policy/mode") == text, f"policy/mode changed by a refused '{value[:20]}'")
        for mode in ("strict", "segmented"):
            vgpu.set("policy/mode", mode)
            require(vgpu.mode() == mode, f"{mode} written, {vgpu.mode()} read")
        for value in ("2", "-1", "maybe"):
            error = write(f"{vgpu.path}/policy/self_check", value)
            require(error and error.errno == errno.EINVAL, f"policy/self_check = '{value}' gives {error}")
        for name in ("state", "last_error"):
            read(f"{vgpu.path}/{name}")


@test
def resets_send_one_uevent_for_many():
    with fixture.vgpus("gen9_8") as (vgpu,), Uevents() as events:
        begun = time.monotonic()
        for _ in range(20):
            vgpu.set("reset", 1)
        counts = [0]
        while counts[-1] < 20:
            got = events.wait(vgpu.uuid, "reset", 60)
            require(got["ACTION"] == "change" and got["SUBSYSTEM"] == "mdev" and got["GHYVI_STATE"] == "created", f"{got}")
            counts.append(int(got["GHYVI_COUNT"]))
        require(counts == sorted(set(counts)) and counts[-1] == vgpu.stat("device_resets") == 20, f"{counts}")
        # One event a second, however many resets there are; the first one waits for that time, too.
        require(len(counts) - 1 <= time.monotonic() - begun + 1, f"{counts} in {time.monotonic() - begun:.1f} s")
        for name in ("open_time", "open_pid"):
            require(read(f"{vgpu.path}/{name}") == "0", f"{name}: {read(f'{vgpu.path}/{name}')}")
        # An event is pending while the vGPU is removed.
        vgpu.set("reset", 1)


@test
def counters_of_a_new_vgpu_are_zero():
    with fixture.vgpus("gen9_8") as (vgpu,):
        wrong = {name: value for name, value in vgpu.stats().items() if value}
        require(not wrong, f"{wrong}")


@test
def open_without_kvm_is_refused():
    with fixture.vgpus("gen9_8") as (vgpu,):
        command = ["qemu-system-x86_64", "-no-user-config", "-nodefaults", "-display", "none", "-machine", "q35",
                   "-accel", "tcg", "-m", "64", "-device", f"vfio-pci,sysfsdev={vgpu.path}"]
        status, out = hostlib.run(*command, timeout=40)
        require(status not in (0, 124), f"QEMU without KVM: status {status}: {out.strip()[-300:]}")
        require("vfio" in out, f"QEMU says '{out.strip()[-300:]}'")
        require(vgpu.uuid in hostlib.run("dmesg")[1] or vgpu.last_error(), "no reason is reported")
        require(not vgpu.now_counters(), f"{vgpu.now_counters()}")


@test
def vgpus_can_be_removed_right_after_create():
    fixture.drop_all()
    for _ in range(REMOVE_ROUNDS):
        with fixture.vgpus(*["gen9_8"] * 4, *[f"{OTHER}_8"] * 4):
            require(available("gen9_8") == 0, f"{available('gen9_8')} left")
    require(available("gen9_1") == 1, "the pGPU is not completely free again")
