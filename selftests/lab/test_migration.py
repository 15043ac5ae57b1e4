# SPDX-License-Identifier: GPL-2.0-only
"""The migration protocol of a vGPU, spoken without QEMU: every arc, a transfer, refusals."""

import errno
import os
import time

import fixture
import vfiolib
from hostlib import require
from ktap import say, test
from vfiolib import (BAR0_REGION, CONFIG_REGION, ERROR, PRE_COPY, PRE_COPY_FLAG, PRE_COPY_P2P, RESUMING, RUNNING, RUNNING_P2P,
                     STOP, STOP_COPY)

SCRATCH = 0x81234  # a register that is plain storage
STATES = range(10)  # two more than there are
IDENTITY_BYTES = 104
TICK_S = 0.1  # of the clocks in registers, at most


def read_all(file):
    parts = []
    while part := file.read(1000):
        parts.append(part)
    return b"".join(parts)


def write_all(file, state):
    for at in range(0, len(state), 777):
        file.write(state[at:at + 777])


def saved(device):
    """The state of a device in RUNNING, which goes on."""
    with device.go(STOP_COPY) as file:
        state = read_all(file)
    device.go(RUNNING)
    return state


def is_legal(begin, end, precopy):
    """By the table of states in <linux/vfio.h>."""
    if begin == end:
        return True
    if end in (PRE_COPY, PRE_COPY_P2P):
        return precopy and begin != STOP_COPY
    return end in (STOP, RUNNING, STOP_COPY, RESUMING, RUNNING_P2P)


def step(device, begin, end, state, precopy):
    device.reset()
    file = device.go(begin)
    if begin == RESUMING:
        write_all(file, state)
    try:
        other = device.go(end)
        legal = True
    except OSError as problem:
        require(problem.errno == errno.EINVAL, f"{begin} to {end}: {problem}")
        other, legal = None, False
    expected = is_legal(begin, end, precopy)
    require(legal == expected, f"{begin} to {end}: {'works' if legal else 'is refused'}")
    now = device.state()
    require(now == (end if legal else begin), f"{begin} to {end}: the state is {now}")
    for each in (file, other):
        if each:
            each.close()
    return legal


@test
def migration_takes_every_arc():
    with fixture.vgpus("gen9_4") as (vgpu,), vfiolib.Device(vgpu) as device:
        flags = device.flags()
        precopy = bool(flags & PRE_COPY_FLAG)
        require(flags & 3 == 3, f"flags {flags:#x}")
        require(device.state() == RUNNING, f"state {device.state()}")
        state = saved(device)
        begins = [s for s in STATES if s != ERROR and s < (8 if precopy else PRE_COPY)]
        legal = sum(step(device, begin, end, state, precopy) for begin in begins for end in STATES)
        device.reset()
        time.sleep(TICK_S)  # the first tick shows the clocks, so that more registers are not 0
        say(f"flags {flags:#x}, {legal} arcs, {len(state)} bytes of state, {device.data_size()} announced")
        require(device.data_size() == len(saved(device)), "the announced size is another")


@test
def migration_moves_registers_and_configuration():
    with fixture.vgpus("gen9_4") as (vgpu,), vfiolib.Device(vgpu) as device:
        device.write(BAR0_REGION, SCRATCH, b"ghyv")
        device.write(CONFIG_REGION, 0x10, bytes.fromhex("000000e0"))
        device.write(CONFIG_REGION, 4, b"\2\0")
        config = device.read(CONFIG_REGION, 0, 256)
        state = saved(device)
        device.reset()
        require(device.read(BAR0_REGION, SCRATCH) == bytes(4), "a reset keeps the register")
        with device.go(RESUMING) as file:
            write_all(file, state)
        device.go(RUNNING)
        require(device.read(BAR0_REGION, SCRATCH) == b"ghyv", "the register is not as it was")
        require(device.read(CONFIG_REGION, 0, 256) == config, "the configuration space is not as it was")


def refuses(vgpu, device, state, where, text):
    device.reset()
    with device.go(RESUMING) as file:
        try:
            write_all(file, state)
            device.go(STOP)
            require(False, f"{where}: accepted")
        except OSError as problem:
            require(problem.errno == errno.EINVAL, f"{where}: {problem}")
    require(text in vgpu.last_error(), f"{where}: last_error is '{vgpu.last_error()}'")


@test
def migration_refuses_what_does_not_fit():
    with fixture.vgpus("gen9_4", "gen9_8") as (vgpu, other):
        with vfiolib.Device(vgpu) as device, vfiolib.Device(other) as target:
            state = saved(device)
            refuses(other, target, state, "another type", "gen9_4")
            require("gen9_8" in other.last_error(), f"only one side: '{other.last_error()}'")
            refuses(vgpu, device, state[:-8], "cut off", "is not valid")
            for state_wanted in STATES:  # the kernel warns of a driver that asks VFIO for a way out
                try:
                    device.go(state_wanted)
                    require(state_wanted == ERROR, f"ERROR to {state_wanted} works")
                except OSError as problem:
                    require(problem.errno == errno.EINVAL, f"ERROR to {state_wanted}: {problem}")
            require(device.state() == ERROR, f"state {device.state()}")
            refuses(vgpu, device, b"x" + state[1:], "foreign", "not the state of a ghyvi vGPU")
            refuses(vgpu, device, state[:8] + b"\2" + state[9:], "newer", "format 2")
            refuses(vgpu, device, b"", "empty", "ends after 0 bytes")
            for at in range(IDENTITY_BYTES, len(state), 41):
                device.reset()
                with device.go(RESUMING) as file:
                    write_all(file, state[:at] + bytes([state[at] ^ 1 << at % 8]) + state[at + 1:])
                try:
                    device.go(RUNNING)
                except OSError:
                    require(device.state() == ERROR, f"byte {at}: state {device.state()}")
            device.reset()


@test
def migration_ends_when_the_program_does():
    with fixture.vgpus("gen9_4") as (vgpu,):
        for state in (STOP, STOP_COPY, RESUMING, RUNNING_P2P):
            if not (child := os.fork()):
                device = vfiolib.Device(vgpu)
                device.go(state)
                os._exit(0)  # the kernel closes all files, in any order
            require(not os.waitpid(child, 0)[1], f"state {state}: the child failed")
        with vfiolib.Device(vgpu) as device:
            require(device.state() == RUNNING, f"state {device.state()}")
        vgpu.settle()
