# SPDX-License-Identifier: GPL-2.0-only
"""A host whose KVM tracks no stores: write_tracking=0, as on kernels without that option."""

import contextlib

import fixture
import hostlib
from hostlib import require
from ktap import say, test
from test_work import blitcheck, gmedia, self_check

KIND = "gen9_8"
GGTT_PAGES = 256  # of this type: 512 MiB, 2 MiB each
FRAMES = 20


@contextlib.contextmanager
def no_write_tracking():
    fixture.drop_all()
    hostlib.unload_modules()
    try:
        hostlib.load_modules("write_tracking=0")
        yield
    finally:
        if hostlib.loaded():
            hostlib.unload_modules()
        hostlib.load_modules()


@contextlib.contextmanager
def guest_with_driver(name):
    with fixture.vgpus(KIND) as (vgpu,), fixture.guests(vgpu, names=[name]) as (guest,):
        seconds, trouble = guest.load_driver()
        require(not trouble, "\n".join(trouble))
        say(f"i915 loaded in {seconds:.1f} s")
        yield vgpu, guest


@test
def guests_work_without_write_tracking():
    with no_write_tracking(), guest_with_driver("untracked") as (vgpu, guest):
        require(vgpu.mode() == "relaxed", f"the policy of a new vGPU is {vgpu.mode()}")
        with self_check(vgpu):
            guest.must_run(gmedia(2))
        for mode in ("strict", "adaptive", "relaxed"):
            vgpu.set("policy/mode", mode)
            with self_check(vgpu):
                blitcheck(guest, "--rounds 1")
        require(not vgpu.stat("table_write_traps"), f"{vgpu.stat('table_write_traps')} stores trapped")
        guest.require_no_trouble()


@test
def relaxed_does_not_compare_the_idle_ggtt():
    """Its pages are unmapped when they were not written for some time, and compared after a fault."""
    with guest_with_driver("relaxed") as (vgpu, guest):
        vgpu.set("policy/mode", "relaxed")
        guest.must_run(gmedia(FRAMES))
        before = vgpu.stats()
        guest.must_run(gmedia(FRAMES))
        now = {name: value - before[name] for name, value in vgpu.stats().items()}
        submissions = sum(value for name, value in now.items() if name.startswith("submissions_"))
        scans = now["scans"] / submissions
        say(f"{scans:.1f} pages compared per submission, {now['relaxes']} faults, {now['protects']} pages unmapped, "
            f"{submissions} submissions")
        require(not now["table_write_traps"], f"{now['table_write_traps']} stores trapped")
        require(scans < GGTT_PAGES / 2, f"{scans:.1f} pages compared per submission")
