# SPDX-License-Identifier: GPL-2.0-only
"""OpenCL in guests: Debian's Intel runtime and the stock i915, both unmodified, on the software pGPU."""

import contextlib

from hostlib import require
from ktap import long_test
from opencllib import GUEST_MB, OTHERS_MB, RESULTS, RUN, SOME, SYSTEM, begin, disk, others, others_pass, require_right_in
from test_compute import computing_guests, execution_units, finish, start, workers

RUN_S = 300
COMPILE_S = 900


@contextlib.contextmanager
def opencl_guests(*names, path=None, mem=GUEST_MB):
    extra = ("--qemu-args", *disk(path))
    with execution_units() as eud, computing_guests(*names, mem=mem, extra=extra) as (vgpus, guests):
        for guest in guests:
            begin(guest)
        yield eud, vgpus, guests


@long_test
def opencl_programs_of_two_guests_compute():
    """Debian's OpenCL runtime computes what PoCL does, in two guests at the same time."""
    with opencl_guests("left", "right") as (eud, vgpus, guests):
        for guest in guests:
            start(guest, f"{SYSTEM} {RUN}")
        for guest in guests:
            require_right_in(guest, finish(guest, RUN_S), SOME)
        require(len(workers(eud)) == 2, f"processes: {workers(eud)}")


@long_test
def a_guest_compiles_opencl():
    """The compiler runs in the guest, too, and all kernels compute what they should."""
    with opencl_guests("left") as (_, _, (guest,)):
        out = guest.must_run(f"{SYSTEM} clinfo", RUN_S)
        require("HD Graphics 530" in out, out[-1500:])
        out = guest.must_run(f"{SYSTEM} opencl_run Intel /opt/kernels.cl {RESULTS}", COMPILE_S)
        require_right_in(guest, out)


@long_test
def opencl_programs_of_others_pass():
    """Programs of piglit, CLBlast, ffmpeg, IGT, clpeak and hashcat. Each says itself whether it passes. The compiler's results
    come from the disk: with the same driver and PCI identity, the runtime accepts what it cached on ghyvi-i915."""
    with opencl_guests("left", path=others(), mem=OTHERS_MB) as (_, vgpus, (guest,)):
        before = vgpus[0].stat("workloads")
        others_pass(guest.name, guest.run)
        require(vgpus[0].stat("workloads") != before, "no work for the vGPU")
