# SPDX-License-Identifier: GPL-2.0-only
"""The backend for hardware (ghyvi-gen9) on the emulated GPU, and guests on its vGPUs."""

import contextlib
import errno
import os
import re
import struct

import fixture
import hostlib
import ktap
import nativelib
import opencllib
import vfiolib
from ktap import long_test, test
from gen9lib import DRIVER, FUNCTION, GUEST_S, MODULES, bound, load, start_guest
from nativelib import ENGINES, GPU, IGT, OPENCL_S, require, require_no_defect, run, take_log, write

PVINFO_MAPPABLE_BASE = 0x78040  # include/ghyvi/gen8_regs.h
PVINFO_RANGES_BYTES = 16


def types():
    return sorted(os.listdir(f"{GPU}/mdev_supported_types"))


@test
def module_binds_by_driver_override_only():
    run("modprobe", "--all", "mdev", "vfio", "kvm", "irqbypass")
    run("insmod", f"{MODULES}/ghyvi.ko")
    run("insmod", f"{MODULES}/ghyvi-gen9.ko")
    require(not bound(), "the function was bound without driver_override")
    load()
    log = take_log()
    require(bound(), "not bound:\n" + "\n".join(log[-10:]))
    require(any("Skylake GT2" in line for line in log), "no line that names the GPU:\n" + "\n".join(log[-10:]))
    require("ghyvi_gen9-gen9_4" in types(), f"types: {types()}")
    require(not any("-gen8_" in name for name in types()), f"types that the GPU cannot run: {types()}")
    require_no_defect(log)


@test
def other_functions_are_refused():
    """The host bridge has no driver. driver_override makes the kernel offer it to ours."""
    bridge = "0000:00:00.0"
    write(f"/sys/bus/pci/devices/{bridge}/driver_override", "ghyvi_gen9")
    try:
        write(f"{DRIVER}/bind", bridge)
        require(False, "the host bridge was bound")
    except OSError:
        pass
    finally:
        write(f"/sys/bus/pci/devices/{bridge}/driver_override", "\n")
    log = take_log()
    require(any("is not supported: only GT2 of" in line for line in log), "\n".join(log[-10:]))


@test
def driver_unbinds_and_binds_again():
    for _ in range(2):
        write(f"{DRIVER}/unbind", FUNCTION)
        require(not bound(), "still bound")
        write(f"{DRIVER}/bind", FUNCTION)
        require(bound(), "not bound again:\n" + "\n".join(take_log()[-10:]))
    run("rmmod", "ghyvi_gen9")
    load()
    require(bound(), "not bound after a reload:\n" + "\n".join(take_log()[-10:]))
    require_no_defect(take_log())


@test
def report_of_the_self_test_outlasts_the_driver():
    """A GPU that fails the test has no driver: the text is for the report of that."""
    path = f"/sys/kernel/debug/ghyvi-gen9/{FUNCTION}"
    text = hostlib.read(path)
    require("self-test: 0\n" in text and text.count(": the default image, in dwords; ") == len(ENGINES), text[:2000])
    require(not re.search("wrong|not saved|not come to", text), text[:2000])
    require(re.search(r"^0000 [0-9a-f]{8} 1100101b ", text, re.M), "no list of registers in an image")
    write(f"{DRIVER}/unbind", FUNCTION)
    require(hostlib.read(path) == text, "it has changed with the end of the driver")
    write(f"{DRIVER}/bind", FUNCTION)
    require("self-test: 0\n" in hostlib.read(path), "no new one")
    write(f"{DRIVER}/unbind", FUNCTION)
    run("rmmod", "ghyvi_gen9")
    require(not os.path.exists(os.path.dirname(path)), "it outlasts the module")
    load()
    require_no_defect(take_log())


@test
def frequencies_are_attributes():
    lowest, highest = (int(hostlib.read(f"{GPU}/ghyvi/freq_{name}")) for name in ("min", "max"))
    require(0 < lowest < highest, f"{lowest} to {highest} MHz")
    require(int(hostlib.read(f"{GPU}/ghyvi/freq_act")) in range(lowest, highest + 1), "not within them")
    write(f"{GPU}/ghyvi/freq_max", str(lowest + 50))
    require(int(hostlib.read(f"{GPU}/ghyvi/freq_max")) == lowest + 50, "not written")
    for name, value in (("min", lowest + 100), ("min", lowest - 50), ("max", highest + 50), ("max", "fast")):
        try:
            write(f"{GPU}/ghyvi/freq_{name}", str(value))
            require(False, f"freq_{name} took {value}")
        except OSError as error:
            require(error.errno == errno.EINVAL, f"{error}")
    write(f"{GPU}/ghyvi/freq_max", str(highest))


def slot_of(vgpu):
    return int(hostlib.read(f"{vgpu.path}/slot"))


def ranges(vgpu):
    """Base and size of the mappable part of the GGTT and of the hidden one, as a guest reads them."""
    with vfiolib.Device(vgpu) as device:
        return struct.unpack("4I", device.read(vfiolib.BAR0_REGION, PVINFO_MAPPABLE_BASE, PVINFO_RANGES_BYTES))


def refuses_slot(vgpu, value, number, reason):
    before = slot_of(vgpu)
    error = hostlib.write(f"{vgpu.path}/slot", value)
    require(error and error.errno == number, f"slot {value!r} gives {error}")
    require(vgpu.last_error() == f"slot: {reason}", f"slot {value!r}: '{vgpu.last_error()}'")
    require(slot_of(vgpu) == before, f"slot {value!r}: refused, and now {slot_of(vgpu)}")


@test
def slot_chooses_the_addresses_of_a_vgpu_that_is_not_open():
    with fixture.vgpus("gen9_4", "gen9_4", "gen9_8") as (first, second, small):
        require([slot_of(vgpu) for vgpu in (first, second, small)] == [0, 1, 4], "not the first free slots")
        for value in ("4", "-1", "x"):
            refuses_slot(first, value, errno.EINVAL, f"{value} is not in 0..3" if value == "4" else
                         f'"{value}" is not a number; 0..3 are possible')
        taken = "another vGPU has a part of slot {}; move or remove that one"
        refuses_slot(first, 1, errno.EBUSY, taken.format(1))
        refuses_slot(first, 2, errno.EBUSY, taken.format(2))  # half of it
        refuses_slot(small, 3, errno.EBUSY, taken.format(3))
        room = hostlib.available("gen9_8")
        before = ranges(first)
        first.set("slot", 3)
        after = ranges(first)
        require(slot_of(first) == 3 and hostlib.available("gen9_8") == room, f"slot {slot_of(first)}")
        ktap.say(f"slot 0: {[hex(word) for word in before]}, slot 3: {[hex(word) for word in after]}")
        require(after[2] - before[2] == 3 * before[3] and after[3] == before[3], f"{before}, {after}")
        with vfiolib.Device(first):
            refuses_slot(first, 0, errno.EBUSY, "cannot change while a VM uses the vGPU; stop the VM")
            first.set("slot", 3)  # its own
        small.set("slot", 1)  # where the first one was
        with fixture.vgpus("gen9_8") as (new,):
            require(slot_of(new) == 0, f"a new vGPU has slot {slot_of(new)}")
            first.set("slot", 3)
            refuses_slot(first, 0, errno.EBUSY, taken.format(0))
    require(hostlib.available("gen9_1") == 1, "slots are left")
    require_no_defect(take_log())


@test
def guest_works_in_a_chosen_slot():
    """And each submission finds the translations that it should."""
    run_in_guest("blitcheck --rounds 1", slot=5, check=1)
    require_no_defect(take_log())


@contextlib.contextmanager
def guest_with_i915(slot=None, check=0, **options):
    vgpu = hostlib.VGPU("gen9_8")
    guest = None
    try:
        vgpu.set("policy/self_check", check)
        if slot is not None:
            vgpu.set("slot", slot)
        guest = start_guest("gen9", vgpu, **options)
        seconds, trouble = guest.load_driver(GUEST_S)
        ktap.say(f"guest: i915 loaded in {seconds:.1f} s; {vgpu.stats()}")
        require(not trouble, "\n".join(trouble))
        yield guest
        trouble = hostlib.driver_trouble(guest.log())
        require(not trouble, "\n".join(trouble[:8]))
        ktap.say(f"{vgpu.stats()}")
        guest.stop()
        vgpu.settle()
    except hostlib.Problem as problem:
        log = guest.log()[-3000:] if guest else ""
        raise nativelib.Problem(f"{problem}\nlast error: {vgpu.last_error()}\n{vgpu.stats()}\n{log}") from problem
    finally:
        if guest:
            guest.kill()
        vgpu.remove()


def run_in_guest(*programs, **options):
    with guest_with_i915(**options) as guest:
        for program in programs:
            ktap.progress()
            out = guest.must_run(program, GUEST_S)
            ktap.say(f"{program}: {' '.join(out.split())[-80:]}")


@test
def kernels_of_a_guest_compute():
    """The same answer as natively; see test_native.py."""
    run_in_guest("eucheck --rounds 3 | grep 'hash ac2c1dc5'", "eucheck --contexts 3 --groups 20000 --preemptible")
    require_no_defect(take_log())


@long_test
def opencl_programs_of_a_guest_compute():
    """Debian's OpenCL runtime computes what PoCL does, on the guest's i915."""
    with guest_with_i915(mem=opencllib.GUEST_MB, extra=("--qemu-args", *opencllib.disk())) as guest:
        opencllib.compute_in(guest, OPENCL_S)
    require_no_defect(take_log())


@long_test
def opencl_programs_of_others_pass():
    with guest_with_i915(mem=opencllib.OTHERS_MB, extra=("--qemu-args", *opencllib.disk(opencllib.others()))) as guest:
        opencllib.begin(guest)
        opencllib.others_pass(guest.name, guest.run)
    require_no_defect(take_log())


@test
def guest_with_i915_works():
    run_in_guest("blitcheck --rounds 2 --contexts 2", f"{IGT}/gem_blt -s 65536 -t 20 -r 1",
                 *(f"{IGT}/gem_exec_nop -e {engine} -r 1" for engine in ENGINES))
    require_no_defect(take_log())
