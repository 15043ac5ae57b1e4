# SPDX-License-Identifier: GPL-2.0-only
"""Guests with i915 that tests share.

The first test that needs a guest starts it: a boot takes 10 to 20 s on nested TCG."""

import contextlib
import itertools
import os

from hostlib import Guest, Problem, VGPU

kept = {}  # generation -> (vGPU, guest)


def remapped(kind, uuid=None, pgpu=None):
    """A vGPU with bar_remap on, which runs more of the code, or as $GHYVI_BAR_REMAP says.

    Tests of libvirt and mdevctl have the default."""
    vgpu = VGPU(kind, uuid, pgpu)
    vgpu.set("policy/bar_remap", os.environ.get("GHYVI_BAR_REMAP", "on"))
    return vgpu


def guest(generation):
    """A guest with i915 loaded on a vGPU of type <generation>_4. Returns (vGPU, guest)."""
    if generation not in kept:
        vgpu = remapped(f"{generation}_4")
        try:
            booted = Guest(generation, vgpu)
        except Problem:
            vgpu.remove()
            raise
        kept[generation] = (vgpu, booted)
    vgpu, booted = kept[generation]
    if not booted.pid():
        drop(generation)
        return guest(generation)
    with_driver(booted)
    return vgpu, booted


def bare_guest(generation):
    """Like guest(), but i915 may be loaded or not."""
    if generation not in kept:
        return guest(generation)
    return kept[generation]


def with_driver(booted):
    if booted.run("test -d /sys/module/i915")[0]:
        booted.load_driver()


def drop(generation):
    if generation in kept:
        vgpu, booted = kept.pop(generation)
        booted.stop()
        vgpu.remove()


def drop_all():
    for generation in list(kept):
        drop(generation)


@contextlib.contextmanager
def vgpus(*kinds, uuids=()):
    """vGPUs for one test. A vGPU without a UUID in uuids gets a random one."""
    made = []
    try:
        for kind, uuid in itertools.zip_longest(kinds, uuids):
            made.append(remapped(kind, uuid))
        yield made
    finally:
        for vgpu in made:
            vgpu.remove()


@contextlib.contextmanager
def guests(*made, names=None, **options):
    """Guests for one test, one per vGPU."""
    booted = []
    try:
        for index, vgpu in enumerate(made):
            booted.append(Guest(names[index] if names else f"guest{index}", vgpu, **options))
        yield booted
    finally:
        for one in booted:
            one.kill()


def with_display(vgpu, resolution="1920x1080"):
    vgpu.set("display/resolution", resolution)
    vgpu.set("display/enabled", "1")
