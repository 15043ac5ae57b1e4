# SPDX-License-Identifier: GPL-2.0-only
"""OpenCL in guests: Debian's Intel runtime and the stock i915, both unmodified, on the software pGPU.

The disk and what PoCL computes are made by mkopencl, outside of the host VM."""

import contextlib
import importlib.machinery
import os
import re
import tarfile

import hostlib
from hostlib import require
from ktap import Skip, long_test, say
from test_compute import be_patient, computing_guests, execution_units, workers

judges = importlib.machinery.SourceFileLoader("judges", f"{hostlib.TREE}/selftests/eu/judges/run").load_module()

# Of opencl_run's: shared memory, atomics, many dispatches, doubles, images, copies. All take twice as long.
SOME = ("matmul", "reduce", "atomics", "transcendental", "doubles", "sort", "image", "copies")
GUEST_MB = 1024
SYSTEM = "PATH=/usr/bin HOME=/tmp chroot /system"
RUN_S = 300
COMPILE_S = 900


def opencl():
    paths = os.environ.get("GHYVI_OPENCL", "").split()
    if len(paths) != 2:
        raise Skip("no disk with OpenCL: tools/setup opencl")
    return paths


def opencl_options():
    """Of a guest, for a second disk, with OpenCL."""
    disk = f"if=none,id=opencl,format=raw,readonly=on,file.locking=off,file={opencl()[0]}"
    return "--qemu-args", "-drive", disk, "-device", "virtio-blk-pci,drive=opencl,addr=12.0"


def mount_system(guest):
    guest.must_run("mkdir /system /tmp/results && mount -t erofs -o ro /dev/vdb /system && "
                   "for d in dev proc sys tmp run; do mount -o rbind /$d /system/$d; done")


@contextlib.contextmanager
def opencl_guests(*names):
    with execution_units() as eud, computing_guests(*names, mem=GUEST_MB, extra=opencl_options()) as (vgpus, guests):
        for guest in guests:
            be_patient(guest)  # the runtime does not survive a reset of its context
            mount_system(guest)
        yield eud, vgpus, guests


def results_of(guest):
    """File name -> content."""
    path = f"/tmp/{guest.name}.tar"
    guest.must_run("tar -cf /tmp/results.tar -C /tmp/results .")
    hostlib.must_run(hostlib.GUEST, "get", guest.name, "/tmp/results.tar", path)
    return contents(path)


def contents(path):
    with tarfile.open(path) as archive:
        return {os.path.basename(file.name): archive.extractfile(file).read() for file in archive if file.isfile()}


def require_right(guest, out, tests=None):
    """All @tests, or those of opencl_run, have PoCL's results."""
    wanted, got = contents(opencl()[1]), results_of(guest)
    listed = guest.must_run(f"{SYSTEM} opencl_run --list").splitlines()
    for name, kind, ulps in map(str.split, listed):
        if tests and name not in tests:
            continue
        require(f"{name}.bin" in got, f"{guest.name}: {name} has no result: {out}")
        why = judges.difference(got[f"{name}.bin"], wanted[f"{name}.bin"], kind, int(ulps))
        require(not why, f"{guest.name}: {name}: {why}")
    say(f"{guest.name}: " + ", ".join(f"{name} {ms} ms" for name, ms in re.findall(r"(\w+) done (\d+)", out)))


@long_test
def opencl_programs_of_two_guests_compute():
    """Debian's OpenCL runtime computes what PoCL does, in two guests at the same time."""
    with opencl_guests("left", "right") as (eud, vgpus, guests):
        for guest in guests:
            guest.must_run(f"({SYSTEM} opencl_run Intel /opt/kernels.bin /tmp/results {' '.join(SOME)}; "
                           "echo $? >/tmp/status) >/tmp/out 2>&1 &")
        for guest in guests:
            out = guest.must_run("until test -s /tmp/status; do sleep 0.1; done; cat /tmp/out", RUN_S)
            require_right(guest, out, SOME)
        require(len(workers(eud)) == 2, f"processes: {workers(eud)}")


@long_test
def a_guest_compiles_opencl():
    """The compiler runs in the guest, too, and all kernels compute what they should."""
    with opencl_guests("left") as (_, _, (guest,)):
        out = guest.must_run(f"{SYSTEM} clinfo", RUN_S)
        require("HD Graphics 530" in out, out[-1500:])
        out = guest.must_run(f"{SYSTEM} opencl_run Intel /opt/kernels.cl /tmp/results", COMPILE_S)
        require_right(guest, out)
