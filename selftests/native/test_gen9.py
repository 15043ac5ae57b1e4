# SPDX-License-Identifier: GPL-2.0-only
"""The backend for hardware (ghyvi-gen9) on the emulated GPU, and guests on its vGPUs."""

import os

import hostlib
import ktap
import nativelib
from ktap import test
from nativelib import ENGINES, GPU, IGT, TREE, require, require_no_defect, run, take_log, write

MODULES = os.environ.get("GHYVI_MODULES") or f"{TREE}/build/module"
DRIVER = "/sys/bus/pci/drivers/ghyvi_gen9"
FUNCTION = os.path.basename(GPU)
GUEST_S = 300


def bound():
    return os.path.realpath(f"{GPU}/driver") == DRIVER


def load():
    if not os.path.isdir("/sys/module/ghyvi"):
        run("modprobe", "--all", "mdev", "vfio", "kvm", "irqbypass")
        run("insmod", f"{MODULES}/ghyvi.ko")
    if not os.path.isdir("/sys/module/ghyvi_gen9"):
        run("insmod", f"{MODULES}/ghyvi-gen9.ko")
    if not bound():
        write(f"{GPU}/driver_override", "ghyvi_gen9")
        write(f"{DRIVER}/bind", FUNCTION)


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


def guest_with_i915(*programs):
    vgpu = hostlib.VGPU("gen9_8")
    guest = None
    try:
        guest = hostlib.Guest("gen9", vgpu, extra=("--append", f"tsc_early_khz={os.environ['GHYVI_TSC_KHZ']}",
                                                    "--timeout", str(2 * GUEST_S)),
                              timeout=3 * GUEST_S)
        seconds, trouble = guest.load_driver(GUEST_S)
        ktap.say(f"guest: i915 loaded in {seconds:.1f} s; {vgpu.stats()}")
        require(not trouble, "\n".join(trouble))
        for program in programs:
            ktap.progress()
            out = guest.must_run(program, GUEST_S)
            ktap.say(f"{program}: {' '.join(out.split())[-80:]}")
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


@test
def guest_with_i915_works():
    guest_with_i915("blitcheck --rounds 2 --contexts 2", f"{IGT}/gem_blt -s 65536 -t 20 -r 1",
                    *(f"{IGT}/gem_exec_nop -e {engine} -r 1" for engine in ENGINES))
    require_no_defect(take_log())
