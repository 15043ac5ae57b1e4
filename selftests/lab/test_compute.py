# SPDX-License-Identifier: GPL-2.0-only
"""Kernels of guests on the software pGPU: ghyvi-eud executes them, in a process for each vGPU."""

import contextlib
import glob
import os
import re
import signal
import subprocess

import fixture
import hostlib
from hostlib import eventually, require
from ktap import long_test, say, test

RESULT = "eucheck --rounds 3 | grep 'hash ac2c1dc5'"  # as on the emulated GPU: selftests/native/test_native.py
MANY_GROUPS = "eucheck --contexts 3 --groups 20000 --preemptible"
LONG_GROUPS = f"eucheck --kernel shares --groups 40 --rounds {round(2 * hostlib.SLOWNESS)} --preemptible"
READ_ONLY = "eucheck --kernel copies"
TIMEOUT_S = 120
LONG_S = 300
HOSTILE_ROUNDS = 2
# Of eucheck's kinds of hostile dispatches, one after the other.
SOME_HOSTILE = 22
MANY_HOSTILE = int(os.environ.get("GHYVI_HOSTILE_DISPATCHES") or 2000)
HOSTILE_AT_ONCE = 50
HOSTILE_S = 600
HASTY_MS = 100  # heartbeat interval of i915


def start(guest, command):
    """In the background; finish() waits for its end."""
    guest.must_run(f"rm -f /tmp/status; ( ({command}); echo $? >/tmp/status) >/tmp/out 2>&1 &")


def finish(guest, seconds):
    """What the started command has printed. It must have succeeded."""
    return guest.must_run("until test -s /tmp/status; do sleep 0.1; done; cat /tmp/out; grep -qx 0 /tmp/status", seconds)


def workers(eud):
    """Processes of ghyvi-eud that execute kernels. Kernels without CONFIG_PROC_CHILDREN have no list."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if hostlib.read(path).rpartition(")")[2].split()[1] == str(eud.pid):
                found.append(int(path.split("/")[2]))
    return sorted(found)


@contextlib.contextmanager
def execution_units():
    """With no more rights than userspace/eud/ghyvi-eud.service gives them."""
    eud = subprocess.Popen(["setpriv", "--bounding-set=-all,+kill,+setuid,+setgid", "--no-new-privs", hostlib.EUD], stdout=subprocess.PIPE, text=True)
    try:
        require(eud.stdout.readline() == "ready\n", "ghyvi-eud does not begin")
        yield eud
        require(eud.poll() in (None, -signal.SIGTERM), f"ghyvi-eud has ended: {eud.poll()}")
    finally:
        eud.kill()
        eud.wait()
        eud.stdout.close()


@contextlib.contextmanager
def computing_guests(*names, **options):
    with fixture.vgpus(*["gen9_4"] * len(names)) as vgpus, fixture.guests(*vgpus, names=list(names), **options) as guests:
        for guest in guests:
            guest.load_driver()
        yield vgpus, guests
        for vgpu, guest in zip(vgpus, guests):
            guest.require_no_trouble()
            require(not vgpu.stats()["engine_errors"], vgpu.last_error())


def share_long_groups(vgpus, guests):
    """A dispatch gives way within a thread group. So a guest whose group does not end holds up no other one."""
    for guest in guests:
        start(guest, LONG_GROUPS)
    for guest in guests:
        finish(guest, LONG_S)
    shared = [vgpu.stat("preemptions_rcs") for vgpu in vgpus]
    say(f"long groups: {shared} preemptions")
    require(all(shared), f"preemptions: {shared}")
    vgpus[0].set("containment/budget_ms", 0)
    guests[0].must_run("eucheck --kernel endless --groups 1 >/tmp/out 2>&1 &")
    eventually(lambda: vgpus[0].stat("queued_rcs_now"), "the endless group")
    # New page tables take the pages of the endless group away, again and again.
    guests[0].must_run("(while :; do blitcheck --rounds 4 --seed 1; done) >/tmp/blits 2>&1 &")
    guests[1].must_run(f"{RESULT} && {LONG_GROUPS}", LONG_S)
    shared = [vgpu.stat("preemptions_rcs") - before for vgpu, before in zip(vgpus, shared)]
    say(f"beside an endless group: {shared} preemptions")
    require(shared[0] and vgpus[0].stat("queued_rcs_now"), "the endless group did not give way, or has ended")


@test
def kernels_of_two_guests_compute():
    """The right answer in both at the same time, each in a process of its own, in the VM's control group, and no engine
    error."""
    with execution_units() as eud, computing_guests("left", "right") as (vgpus, guests):
        for guest in guests:
            hostlib.put_into_group(guest.name, guest.pid())
            guest.be_patient()
            start(guest, f"{RESULT} && {MANY_GROUPS}")
        for guest in guests:
            finish(guest, TIMEOUT_S)
        require(len(workers(eud)) == 2, f"processes: {workers(eud)}")
        for pid in workers(eud):
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                lines = dict(line.split(":", 1) for line in status)
            require(lines["Seccomp"].strip() == "2" and lines["Uid"].split()[1] != "0", f"not confined: {lines}")
            say(f"user {lines['Uid'].split()[1]}, memory {lines['VmRSS'].strip()}")
        groups = sorted(hostlib.read(f"/proc/{pid}/cgroup") for pid in workers(eud))
        require(groups == ["0::/left", "0::/right"], f"control groups: {groups}")
        guests[0].must_run(READ_ONLY, TIMEOUT_S)
        share_long_groups(vgpus, guests)


@test
def lost_execution_units_cost_only_their_guest():
    """A process that is killed costs its vGPU a job, and the next dispatch gets a new one."""
    with execution_units() as eud, computing_guests("left", "right") as (vgpus, guests):
        for guest in guests:
            guest.must_run(RESULT, TIMEOUT_S)
        first, second = workers(eud)
        start(guests[1], f"{MANY_GROUPS} --rounds 3")
        os.kill(first, signal.SIGKILL)
        eventually(lambda: first not in workers(eud), "the process is gone")
        guests[0].must_run(RESULT, TIMEOUT_S)
        finish(guests[1], TIMEOUT_S)
        require(second in workers(eud) and len(workers(eud)) == 2, f"processes: {workers(eud)}")


@test
def the_end_of_the_daemon_is_not_held_against_a_guest():
    """A process that is killed alone may have been ended by what its guest did; one that ends with all others not."""
    with execution_units() as eud, fixture.vgpus("gen9_4") as (vgpu,), fixture.guests(vgpu, names=["left"]) as (guest,):
        guest.load_driver()
        vgpu.set("containment/budget_ms", 0)
        for errors, end in ((1, lambda: os.kill(workers(eud)[0], signal.SIGKILL)), (2, eud.terminate)):
            guest.must_run("while pidof eucheck; do sleep 0.1; done; eucheck --kernel endless --groups 1 >/tmp/out 2>&1 &", TIMEOUT_S)
            eventually(lambda: workers(eud) and vgpu.stat("queued_rcs_now"), "the endless group")
            end()
            eventually(lambda errors=errors: vgpu.stats()["engine_errors"] == errors, f"error {errors}")
            require(vgpu.stats()["violations"] == 1, f"{vgpu.stats()['violations']} violations: {vgpu.last_error()}")
        eud.wait()


@contextlib.contextmanager
def hostile_and_good_guest():
    """The good guest's answers are right meanwhile, and it has no error. Afterwards both compute."""
    with execution_units(), fixture.vgpus("gen9_4", "gen9_4") as vgpus, \
            fixture.guests(*vgpus, names=["hostile", "good"]) as (hostile, good):
        for guest in (hostile, good):
            guest.load_driver()
        good.be_patient()
        start(good, f"until test -e /tmp/end; do {RESULT} || exit; done")
        yield vgpus[0], hostile
        good.must_run("touch /tmp/end")
        answers = finish(good, TIMEOUT_S).count("hash")
        require(answers, "no answer meanwhile")
        say(f"{answers} right answers meanwhile; {vgpus[0].stat('engine_errors')} engine errors, {vgpus[0].last_error()}")
        for guest in (hostile, good):
            guest.must_run(RESULT, TIMEOUT_S)
        good.require_no_trouble()
        require(vgpus[0].stats()["engine_errors"], "no engine error of the hostile guest")
        require(not vgpus[1].stats()["engine_errors"], vgpus[1].last_error())


def attack(hostile, dispatches):
    """Hostile dispatches of all kinds, some with random faults."""
    hostile.set_heartbeat_ms(HASTY_MS)
    for seed in range(0, dispatches, HOSTILE_AT_ONCE):
        count = min(HOSTILE_AT_ONCE, dispatches - seed)
        out = hostile.must_run(f"dmesg -c >/dev/null; eucheck --groups 16 --hostile {count} --seed {seed}", HOSTILE_S)
        say(f"{seed + count} hostile dispatches: {'; '.join(re.findall('eucheck: (.*)', out))}")
    hostile.set_heartbeat_ms(hostlib.HEARTBEAT_MS)


def limit_instructions(vgpu, hostile):
    """A kernel that does not end costs its workload when the budget is used up. Its GPU time is not limited."""
    limits = {"containment/points_max": 0, "containment/budget_ms": 0, "containment/budget_minsn": 1}
    before = {name: hostlib.read(f"{vgpu.path}/{name}") for name in limits}
    for name, limit in limits.items():
        vgpu.set(name, limit)
    out = hostile.must_run("eucheck --kernel endless --groups 64", TIMEOUT_S)
    require("guilty" in out and "1 million instructions used up" in vgpu.last_error(), f"{out}, {vgpu.last_error()}")
    for name, limit in before.items():
        vgpu.set(name, limit)


@test
def hostile_kernels_do_not_affect_another_guest():
    with hostile_and_good_guest() as (vgpu, hostile):
        for kernel, blamed in (("wild", "innocent"), ("unsupported", "guilty"), ("endless", "guilty")):
            for _ in range(HOSTILE_ROUNDS):
                out = hostile.must_run(f"eucheck --kernel {kernel} --groups 64", TIMEOUT_S)
                require(blamed in out, f"{kernel}: {out}")
        attack(hostile, SOME_HOSTILE)
        limit_instructions(vgpu, hostile)


@long_test
def many_hostile_kernels_do_not_affect_another_guest():
    with hostile_and_good_guest() as (vgpu, hostile):
        vgpu.set("containment/points_max", 0)  # it would soon stop them
        attack(hostile, MANY_HOSTILE)


@test
def kernels_without_execution_units_have_no_effect():
    """As hardware without any: the dispatch ends, nothing is written, and one line says why."""
    with computing_guests("left") as ((vgpu,), (guest,)):
        status, out = guest.run("eucheck", TIMEOUT_S)
        require(status == 1, f"status {status}: {out}")
        require("ghyvi-eud" in vgpu.last_error(), vgpu.last_error())

