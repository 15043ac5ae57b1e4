# SPDX-License-Identifier: GPL-2.0-only
"""Stock i915 and IGT's programs on the emulated GPU itself."""

import glob
import os
import pathlib
import subprocess
import time

import hostlib
import ktap
import opencllib
import patience
from ktap import long_test, test
from nativelib import (ENGINES, GPU, IGT, OPENCL_S, OUT, PROGRAM_S, TREE, begin_opencl, debugfs, expect_log, interrupts, load, require,
                       require_no_defect, run, take_log, write)


@test
def driver_binds():
    load()
    log = take_log()
    require(any("Initialized i915" in line for line in log), "no 'Initialized i915' in the log")
    require_no_defect(log)
    with open("/proc/iomem") as file:
        require("Graphics Stolen Memory" in file.read(), "no stolen memory")
    require(interrupts() > 0, "no interrupts")


@test
def every_engine_executes_empty_batches():
    for engine in ENGINES:
        us = run(f"{IGT}/gem_exec_nop", "-e", engine, "-r", "1").strip()
        ktap.say(f"{engine}: {us} us")


@test
def blitter_copies():
    run(f"{IGT}/gem_blt", "-r", "1")


@test
def every_byte_of_random_blits_is_right():
    run(f"{TREE}/build/guest/blitcheck", "--rounds", "30", "--contexts", "3", "--seed", "7")


@test
def moving_addresses_are_bound():
    run(f"{IGT}/gem_exec_fault", "-r", "1")


@test
def latencies_are_measured():
    run(f"{IGT}/gem_latency", "-t", "2")
    run(f"{IGT}/gem_syslatency", "-t", "2")


@test
def contexts_switch():
    run(f"{IGT}/gem_exec_ctx", "-b", "switch", "-r", "1")
    run(f"{IGT}/gem_exec_ctx", "-b", "create", "-r", "1")


@test
def registers_of_a_context_survive_others():
    run(f"{TREE}/build/native/registers")


@test
def kernels_compute():
    answer = run(f"{TREE}/build/guest/eucheck", "--rounds", "3")
    ktap.say(answer.strip())
    require("hash ac2c1dc5" in answer, answer)
    run(f"{TREE}/build/guest/eucheck", "--contexts", "3", "--groups", "20000", "--preemptible")


@long_test
def opencl_programs_compute():
    """Debian's OpenCL runtime computes what PoCL does, on the host's i915."""
    begin_opencl()
    out = run("sh", "-c", f"{opencllib.SYSTEM} {opencllib.RUN}", timeout=OPENCL_S)
    got = {os.path.basename(path): pathlib.Path(path).read_bytes() for path in glob.glob(f"{opencllib.RESULTS}/*")}
    listed = run("sh", "-c", f"{opencllib.SYSTEM} opencl_run --list")
    opencllib.require_right("the host", got, listed, out, opencllib.SOME)


@long_test
def opencl_programs_of_others_pass():
    """On the host's i915."""
    begin_opencl(opencllib.others())
    opencllib.others_pass("host", lambda command, timeout: hostlib.run("sh", "-c", command, timeout=timeout))


@test
def objects_are_read_and_written():
    run(f"{IGT}/gem_prw")


@test
def workload_with_dependencies_completes():
    workload = f"{OUT}/workload.wsim"
    write(workload, "1.RCS.1000-2000.0.0\n1.BCS.500.-1.0\n1.VCS.700.-1.0\n1.VECS.500.-1.1\n2.RCS.500.0.1\n")
    run(f"{IGT}/gem_wsim", "-w", workload, "-r", "10", "-c", "2")


@test
def higher_priority_preempts():
    run(f"{TREE}/build/native/spin", "priority")


@test
def equals_share_by_time_slices():
    run(f"{TREE}/build/native/spin", "timeslice")


@test
def waiter_for_a_semaphore_yields():
    run(f"{TREE}/build/native/spin", "semaphore")


@test
def batch_that_does_not_yield_is_reset():
    run(f"{TREE}/build/native/spin", "stubborn")
    expect_log(r"Resetting rcs0 for preemption time out")
    run(f"{IGT}/gem_exec_nop", "-e", "rcs", "-r", "1")


@test
def full_reset_recovers():
    """Without engine resets, a hang of one engine makes the driver reset the whole GPU."""
    write(f"{debugfs()}/i915_params/reset", "1")
    with subprocess.Popen([f"{IGT}/gem_exec_nop", "-e", "rcs", "-r", "3"], stdout=subprocess.DEVNULL) as work:
        time.sleep(1)
        write(f"{debugfs()}/i915_wedged", "0xffffffff")
        work.wait(PROGRAM_S)
    expect_log(r"Resetting chip for")
    write(f"{debugfs()}/i915_params/reset", "3")
    for engine in ENGINES:
        run(f"{IGT}/gem_exec_nop", "-e", engine, "-r", "1")


@test
def idle_gpu_sleeps():
    """Runtime power management suspends the function, and the next batch wakes it up."""
    if not os.path.exists(f"{GPU}/power/runtime_status"):
        raise ktap.Skip("no runtime power management")
    write(f"{GPU}/power/control", "auto")
    write(f"{GPU}/power/autosuspend_delay_ms", "100")
    deadline = patience.now() + 30
    status = ""
    while status != "suspended" and patience.now() < deadline:
        time.sleep(0.5)
        with open(f"{GPU}/power/runtime_status") as file:
            status = file.read().strip()
    ktap.say(f"runtime status: {status}")
    run(f"{IGT}/gem_exec_nop", "-e", "rcs", "-r", "1")


@test
def driver_reloads():
    for _ in range(2):
        run("rmmod", "i915")
        run("modprobe", "i915")
    run(f"{IGT}/gem_exec_nop", "-e", "bcs", "-r", "1")
