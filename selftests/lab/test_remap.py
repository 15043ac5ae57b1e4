# SPDX-License-Identifier: GPL-2.0-only
"""policy/bar_remap: registers as memory that the guest maps, and all of them trapped."""

import errno

import fixture
import hostlib
from hostlib import read, require, write
from ktap import say, test

LOAD_READS_MAX = 100  # that trap while i915 loads; some thousands do without the mapping


def attribute(vgpu):
    return f"{vgpu.path}/policy/bar_remap"


@test
def bar_remap_is_off_and_is_set_before_open():
    new = hostlib.VGPU("gen9_8")
    require(read(attribute(new)) == "[off] on", f"default: {read(attribute(new))}")
    new.remove()
    with fixture.vgpus("gen9_8") as (vgpu,):
        require(read(attribute(vgpu)) == "off [on]", f"set: {read(attribute(vgpu))}")
        for value in ("", "1", "maybe", "onn"):
            error = write(attribute(vgpu), value)
            require(error and error.errno == errno.EINVAL, f"'{value}' gives {error}")
        vgpu.set("policy/bar_remap", "off")
        require(read(attribute(vgpu)) == "[off] on", read(attribute(vgpu)))
        with fixture.guests(vgpu, names=["remap"]):
            error = write(attribute(vgpu), "on")
            require(error and error.errno == errno.EBUSY, f"a change while open gives {error}")
            require("while the vGPU is open" in vgpu.last_error(), vgpu.last_error())
            vgpu.set("policy/bar_remap", "off")
        vgpu.settle()
        vgpu.set("policy/bar_remap", "on")


def work(mode):
    """Loads i915, submits, and checks blits. Returns the counters after the load, and of the work."""
    with fixture.vgpus("gen9_4") as (vgpu,):
        vgpu.set("policy/bar_remap", mode)
        with fixture.guests(vgpu, names=[f"remap-{mode}"]) as (guest,):
            seconds, trouble = guest.load_driver()
            require(not trouble, "\n".join(trouble))
            loaded = vgpu.stats()
            status, micros = guest.igt("gem_exec_nop", "-r 1 -e rcs")
            require(status == 0, f"gem_exec_nop: status {status}")
            guest.must_run("blitcheck --rounds 2 --contexts 2")
            done = vgpu.stats()
            guest.require_no_trouble()
            require(done["engine_errors"] == 0, f"engine_errors {done['engine_errors']}: {vgpu.last_error()}")
            guest.stop()
        vgpu.settle()
    worked = {name: done[name] - loaded[name] for name in done}
    say(f"{mode}: loaded in {seconds:.2f} s with {loaded['mmio_reads']} trapped reads, {loaded['mmio_writes']} writes; "
        f"gem_exec_nop {micros} us; then {worked['mmio_reads']} reads, {worked['mmio_writes']} writes, "
        f"{worked['mmio_writes_in_kernel']} of them in the kernel, for {worked['workloads']} workloads")
    return loaded, worked


@test
def guest_works_with_trapped_registers():
    loaded, worked = work("off")
    require(loaded["mmio_reads"] > LOAD_READS_MAX, f"{loaded['mmio_reads']} reads trap while i915 loads")
    in_kernel = loaded["mmio_writes_in_kernel"] + worked["mmio_writes_in_kernel"]
    require(in_kernel == 0, "stores were handled without the VMM")


@test
def guest_works_without_register_exits():
    loaded, worked = work("on")
    require(loaded["mmio_reads"] <= LOAD_READS_MAX, f"{loaded['mmio_reads']} reads trap while i915 loads")
    require(worked["mmio_reads"] * 100 < worked["workloads"], f"{worked['mmio_reads']} reads trap during the work")
    through_vmm = worked["mmio_writes"] - worked["mmio_writes_in_kernel"]
    require(through_vmm * 10 < worked["workloads"], f"{through_vmm} writes went through the VMM")
