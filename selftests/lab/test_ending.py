# SPDX-License-Identifier: GPL-2.0-only
"""Stopped guests and unloaded modules leave nothing behind."""

import fixture
import hostlib
from hostlib import require
from ktap import test


@test
def stopped_guests_leave_nothing_pinned_or_tracked():
    for generation in ("gen9", "gen8"):
        vgpu, guest = fixture.bare_guest(generation)
        guest.stop()
        vgpu.settle()
        fixture.drop(generation)


@test
def modules_unload_after_use():
    fixture.drop_all()
    hostlib.unload_modules()
    require(not hostlib.loaded(), "ghyvi_softgpu is still loaded")
    hostlib.load_modules()
