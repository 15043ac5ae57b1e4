# SPDX-License-Identifier: GPL-2.0-only
"""Migrations that are cancelled, refused or cut off by the death of a QEMU; snapshots in files."""

import contextlib
import os
import random
import time

import fixture
import migrate
from hostlib import Problem, require
from ktap import long_test, say, test
from migrate import Qmp
from test_moves import traveller

SNAPSHOT = "/run/ghyvi-snapshot"
TRIALS = int(os.environ.get("GHYVI_KILLS") or 1)


@contextlib.contextmanager
def attempt(guest, vgpu):
    """A migration to vgpu that has begun. Yields both QMPs and the target, which is killed at the end."""
    target = migrate.incoming("moving-away", vgpu)
    try:
        with Qmp(guest) as here, Qmp(target) as there:
            migrate.begin(here, there, migrate.socket_of(target))
            yield here, there, target
    finally:
        target.kill()
        vgpu.wait_released("target killed", migrate.START_S)


def moment(here, number, seconds):
    """Waits for a moment of a migration: every other time the switch to the target, else a random one."""
    if number % 2:
        info = migrate.wait(here, ("device", *migrate.ENDED))
        return info["status"]
    time.sleep(random.uniform(0, seconds))
    return here.ask("query-migrate").get("status")


def require_back(here, what):
    """Requires that the source runs, or, if all was sent, that it can go on."""
    info = migrate.wait(here)
    if info["status"] == "completed":
        here.ask("cont")
    migrate.wait_running(here)
    say(f"{what}: {info['status']} {info.get('error-desc', '')}")
    return info


@test
def guest_goes_on_after_migrations_that_end_early():
    fixture.drop_all()
    with traveller(None, None) as guest, fixture.vgpus("gen9_8") as (other,):
        guest.begin_work("blitcheck")
        seconds = 8
        for number in range(TRIALS):
            with attempt(guest.guest, guest.vgpu(1)) as (here, _, _):
                when = moment(here, number, seconds)
                here.ask("migrate_cancel")
                require_back(here, f"cancelled while {when}")
            guest.require_progress("cancelled")
        for number in range(TRIALS):
            with attempt(guest.guest, guest.vgpu(1)) as (here, _, target):
                when = moment(here, number + 1, seconds)
                target.kill()
                require_back(here, f"target killed while {when}")
            guest.require_progress("target killed")
        with attempt(guest.guest, other) as (here, _, _):
            info = require_back(here, "another type")
            require(info["status"] == "failed", f"another type: {info}")
            require("gen9_4" in other.last_error() and "gen9_8" in other.last_error(),
                    f"last_error is '{other.last_error()}'")
        guest.require_progress("another type")
        guest.move("after all failures")
        guest.require_progress("moved")
        guest.end_work()


def kill_source(guest, number):
    """Kills the source at some moment. Returns the target if it has everything and runs, else None."""
    target = migrate.incoming("moving-away", guest.vgpu(1))
    with Qmp(guest.guest) as here, Qmp(target) as there:
        migrate.begin(here, there, migrate.socket_of(target))
        when = moment(here, number, 8)
        guest.guest.kill()
        guest.vgpu().wait_released(f"source killed while {when}", migrate.START_S)
        try:
            migrate.wait_incoming(there)
            migrate.wait_running(there)
            runs = True
        except (Problem, OSError) as problem:
            say(f"source killed while {when}: {str(problem)[:100]}")
            runs = False
    if runs:
        say(f"source killed while {when}: the target runs")
        return target
    target.kill()
    guest.vgpu(1).wait_released("target without its source", migrate.START_S)
    return None


@long_test
def guest_comes_back_from_a_file():
    """Saves a guest at work, and continues it several times, also after deaths of the source."""
    fixture.drop_all()
    with traveller(None, None) as guest:
        guest.begin_work("blitcheck")
        guest.require_progress("started")
        try:
            say(f"saved: {migrate.describe(migrate.save(guest.guest, SNAPSHOT))}")
            guest.vgpu().wait_released("saved", migrate.START_S)
            for number in range(TRIALS + 1):
                guest.guest = migrate.restore(SNAPSHOT, f"moving-back{number}", guest.vgpu())
                guest.require_progress("restored")
                target = kill_source(guest, number)
                if target:
                    guest.guest, guest.moves = target, guest.moves + 1
                    guest.end_work()
                    target.kill()
                    guest.vgpu().wait_released("ended", migrate.START_S)
            guest.guest = migrate.restore(SNAPSHOT, "moving-last", guest.vgpu(1))
            guest.moves += 1
            guest.require_progress("restored again")
            guest.end_work()
            guest.guest.must_run("blitcheck --rounds 1")
            guest.guest.require_no_trouble()
        finally:
            with contextlib.suppress(OSError):
                os.unlink(SNAPSHOT)
