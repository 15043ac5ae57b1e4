# SPDX-License-Identifier: GPL-2.0-only
"""Error states: of guests whose stock i915 runs a batch that never ends, and without a guest."""

import re
import struct

import fixture
import hostlib
import vfiolib
from hostlib import require
from ktap import say, test
from test_ctl import ctl, ctl_json
from uevents import Uevents

HUNG = "blitcheck --exec loop"
LOOP, LOOP_BYTES = 0x40000000, 16  # where blitcheck's batch is: MI_ARB_CHECK, and a jump to the begin
LOOP_HEADERS = ("0x02800000", "0x18800101")
NO_STATE = "no error state"
RENDER_ELSP = 0x2230


def path_of(vgpu, name="error_state"):
    return f"/sys/kernel/debug/ghyvi/{vgpu.uuid}/{name}"


def read_state(vgpu):
    return hostlib.read(path_of(vgpu))


def clear(vgpu):
    require(hostlib.write(path_of(vgpu), "") is None, f"{path_of(vgpu)} cannot be written")
    require(read_state(vgpu) == NO_STATE, read_state(vgpu))


def submit(device, descriptor):
    """Submits a context through VFIO."""
    for word in (0, 0, descriptor >> 32, descriptor & 0xffffffff):
        device.write(vfiolib.BAR0_REGION, RENDER_ELSP, struct.pack("I", word))


def without_count(text):
    """Later errors are counted, and change nothing else."""
    return text.partition("\n")[2]


def value(text, name):
    found = re.search(rf"^{name}: (.*)$", text, re.M)
    require(found, f"no {name} in:\n{text}")
    return found.group(1)


def check(text, reason, status):
    """The error state is that of the batch."""
    say(text)
    require(value(text, "errors") == "1" and value(text, "engine") == "rcs", "not one error of rcs")
    require(reason in value(text, "reason"), f"reason: {value(text, 'reason')}")
    require(LOOP <= int(value(text, "fault_address"), 0) < LOOP + LOOP_BYTES, "the engine was not in the batch")
    require(value(text, "fault_header") in LOOP_HEADERS, f"header {value(text, 'fault_header')}")
    require(int(value(text, "head"), 0) != int(value(text, "tail"), 0), "the ring was empty")
    submitted = re.findall(r"^submission: rcs .*$", text, re.M)
    require(any(value(text, "descriptor") in line and line.endswith(status) for line in submitted), f"{submitted}")


@test
def error_state_of_a_vgpu_without_a_driver():
    """Submissions through VFIO, of contexts that do not exist."""
    with fixture.vgpus("gen9_4") as (vgpu,), vfiolib.Device(vgpu) as device:
        require(read_state(vgpu) == NO_STATE, read_state(vgpu))
        for context, descriptor in enumerate((0x1200000001, 0x3400000001), 1):
            submit(device, descriptor)
            text = read_state(vgpu)
            say(text)
            require(f"errors: {context}\n" in text, text)
            for part in ("engine: rcs", "reason: rcs: context descriptor 0x1200000001 is not valid", "error: -22",
                         "RING_EIR: 0x00000001", "RING_EXECLIST_STATUS_HI: 0x00000012", "descriptor 0x0000001200000001 failed"):
                require(part in text, f"no {part}")
            with Uevents() as events:
                device.reset()
                got = events.wait(vgpu.uuid, "reset", 60)
                require(got.get("GHYVI_ERROR_STATE") == path_of(vgpu), f"{got}")
        clear(vgpu)
        submit(device, 0x5600000001)
        require("errors: 1\n" in read_state(vgpu) and "0x5600000001 is not" in read_state(vgpu), read_state(vgpu))
        device.reset()


@test
def error_state_of_a_hang_outlasts_the_guest():
    """i915 finds the hang by its heartbeat, and resets the engine."""
    with fixture.vgpus("gen9_4") as (vgpu,):
        with fixture.guests(vgpu, names=["hung"]) as (guest,):
            guest.load_driver()
            require(read_state(vgpu) == NO_STATE, read_state(vgpu))
            guest.must_run(HUNG, 150)
            first = read_state(vgpu)
            check(first, "the guest reset an engine that had work", "dropped")
            require("audited commands" not in first, "the guest's commands without with_guest_data")
            require(ctl("dump", "-w", "error_state", vgpu.uuid).endswith(f"error_state\n{first}\n"), "ghyvictl dump differs")
            dumped = ctl_json("dump", "-w", "error_state", vgpu.uuid)["vgpus"][0]["error_state"]
            require(dumped == [line for line in first.splitlines() if line], f"ghyvictl dump --json: {dumped}")
        vgpu.wait_released("the guest's end", 60)
        require(without_count(read_state(vgpu)) == without_count(first), "the guest's end changed it")
        with vfiolib.Device(vgpu) as device:
            count = int(value(read_state(vgpu), "errors"))
            submit(device, 0x1200000001)  # no such context
            last = read_state(vgpu)
            require(without_count(last) == without_count(first), "an error of the next user replaced it")
            require(int(value(last, "errors")) == count + 1, "the next error was not counted")
            clear(vgpu)
            device.reset()
            submit(device, 0x3400000001)
            require("0x3400000001 is not valid" in value(read_state(vgpu), "reason"), read_state(vgpu))
            device.reset()


@test
def event_of_a_used_up_budget_names_the_error_state():
    """ghyvi ends the batch; the administrator may want to see its commands."""
    vgpu, guest = fixture.guest("gen9")
    budget, mode = hostlib.read(f"{vgpu.path}/containment/budget_ms"), hostlib.read(f"{vgpu.path}/audit/mode")
    mode = re.search(r"\[([\w-]+)\]", mode).group(1)
    vgpu.set("containment/budget_ms", 300)
    vgpu.set("audit/mode", "full")
    try:
        for with_data in (0, 1):
            require(hostlib.write(path_of(vgpu, "with_guest_data"), with_data) is None, "with_guest_data cannot be set")
            clear(vgpu)
            with Uevents() as events:
                guest.must_run(HUNG, 150)
                got = events.wait(vgpu.uuid, "budget", 60)
            require(got.get("GHYVI_ERROR_STATE") == path_of(vgpu), f"{got}")
            text = read_state(vgpu)
            check(text, "GPU time of 300 ms used up", "failed")
            commands = dict(re.findall(r"^(0x[0-9a-f]{12}): (0x[0-9a-f]{8})$", text, re.M))
            require(bool(commands) == bool(with_data), f"with_guest_data {with_data}: {commands}")
        require(tuple(commands.get(f"0x{LOOP + at:012x}") for at in (0, 4)) == LOOP_HEADERS, f"not the batch: {commands}")
    finally:
        hostlib.write(path_of(vgpu, "with_guest_data"), 0)
        vgpu.set("containment/budget_ms", budget)
        vgpu.set("audit/mode", mode)
    clear(vgpu)
