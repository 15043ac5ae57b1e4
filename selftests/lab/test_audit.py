# SPDX-License-Identifier: GPL-2.0-only
"""The auditor accepts the commands of drivers and programs, and refuses unknown commands."""

import contextlib

import fixture
import hostlib
from hostlib import read, require
from ktap import long_test, say, test

GMEDIA = "gmedia --frames 4 --resolution 480p --seconds 8"


@contextlib.contextmanager
def auditing(vgpu, mode):
    vgpu.set("audit/mode", mode)
    try:
        yield vgpu.stats()
    finally:
        vgpu.set("audit/mode", "privileged")


def nothing_refused(vgpu, before):
    after = vgpu.stats()
    commands = after["audited_commands"] - before["audited_commands"]
    copied = after["audited_bytes"] - before["audited_bytes"]
    spent_ms = (after["audit_ns"] - before["audit_ns"]) / 1e6
    say(f"{commands} commands, {copied >> 10} KiB, {spent_ms:.1f} ms")
    require(commands > 0, "nothing was audited")
    require(after["audit_rejects"] == before["audit_rejects"], f"refused: {vgpu.last_error()}")
    require(after["engine_errors"] == before["engine_errors"], f"engine error: {vgpu.last_error()}")


def works_fully_audited(generation, programs, rounds):
    vgpu, guest = fixture.guest(generation)
    with auditing(vgpu, "full") as before:
        guest.unload_driver()
        _, trouble = guest.load_driver()
        require(not trouble, "\n".join(trouble))
        for program in programs:
            status, _ = guest.igt(program)
            require(status == 0, f"{program}: status {status}")
        guest.must_run(f"blitcheck --rounds {rounds}", 200)
        guest.must_run(GMEDIA, 200)
        nothing_refused(vgpu, before)


@test
def full_auditing_refuses_nothing_on_gen9():
    works_fully_audited("gen9", hostlib.IGT_PROGRAMS, 3)


@long_test
def full_auditing_refuses_nothing_on_gen8():
    works_fully_audited("gen8", ["gem_exec_nop"], 1)


@test
def refused_command_stops_only_its_context():
    """The submitting program continues in a new context; another program is not affected."""
    vgpu, guest = fixture.guest("gen9")
    with auditing(vgpu, "full") as before:
        other = guest.begin("blitcheck --seed 5 --time 8")
        status, out = guest.run("blitcheck --exec unknown", 150)
        say(out.strip())
        require(status == 0, f"status {status}")
        require(other.wait() == 0, other.stdout.read().decode())
        after = vgpu.stats()
    require(after["audit_rejects"] > before["audit_rejects"], "nothing was refused")
    require("unknown-command" in vgpu.last_error(), f"last_error: {vgpu.last_error()}")
    dump = read(f"/sys/kernel/debug/ghyvi/{vgpu.uuid}/audit")
    say(dump.splitlines()[-1])
    require("engine=rcs" in dump and "rule=unknown-command" in dump, dump)
