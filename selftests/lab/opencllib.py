# SPDX-License-Identifier: GPL-2.0-only
"""OpenCL of this machine's Debian packages: Intel's runtime, unmodified, and what PoCL computes. The disk for guests
and the archive of results are made by mkopencl, outside of the host VM."""

import glob
import hashlib
import importlib.machinery
import os
import pathlib
import re
import tarfile
import time

import hostlib
from hostlib import require
from ktap import Skip, say

judges = importlib.machinery.SourceFileLoader("judges", f"{hostlib.TREE}/selftests/eu/judges/run").load_module()

# Of opencl_run's: shared memory, atomics, many dispatches, doubles, images, copies. All take twice as long.
SOME = ("matmul", "reduce", "atomics", "transcendental", "doubles", "sort", "image", "copies")
GUEST_MB = 1024
OTHERS_MB = 2048  # of a guest whose programs are hashcat, too
OTHER_S = 1800  # the tests of a library
SYSTEM = "PATH=/usr/bin:/usr/sbin HOME=/tmp chroot /system"
RESULTS = "/tmp/results"
RUN = f"opencl_run Intel /opt/kernels.bin {RESULTS} {' '.join(SOME)}"
BENCH = f"{SYSTEM} compute Intel /opt/compute.bin"


def opencl():
    paths = os.environ.get("GHYVI_OPENCL", "").split()
    if len(paths) != 2:
        raise Skip("no disk with OpenCL: tools/setup opencl")
    return paths


def others():
    path = os.environ.get("GHYVI_OTHERS")
    if not path:
        raise Skip("no disk with OpenCL programs of others: tools/setup eu-judges")
    return path


def disk(path=None):
    """QEMU's arguments for a guest's second disk, with OpenCL."""
    return hostlib.second_disk(path or opencl()[0])


def mount_command(disk_path):
    return f"mkdir -p {RESULTS} && {hostlib.mount_system(disk_path)}"


def results_of(guest):
    """File name -> content."""
    path = f"/tmp/{guest.name}.tar"
    guest.must_run(f"tar -cf {RESULTS}.tar -C {RESULTS} .")
    hostlib.must_run(hostlib.GUEST, "get", guest.name, f"{RESULTS}.tar", path)
    return contents(path)


def contents(path):
    with tarfile.open(path) as archive:
        return {os.path.basename(file.name): archive.extractfile(file).read() for file in archive if file.isfile()}


def require_right(name, got, listed, out, tests=None):
    """All @tests, or those that are @listed, have PoCL's results. @got: file name -> content"""
    wanted = contents(opencl()[1])
    known = {test: how for test, *how in map(str.split, listed.splitlines())}
    for test in tests or known:
        kind, ulps = known[test]
        require(f"{test}.bin" in got, f"{name}: {test} has no result: {out}")
        why = judges.difference(got[f"{test}.bin"], wanted[f"{test}.bin"], kind, int(ulps))
        require(not why, f"{name}: {test}: {why}")
    say(f"{name}: " + ", ".join(f"{test} {ms} ms" for test, ms in re.findall(r"(\w+) done (\d+)", out)))


def begin(guest):
    guest.be_patient()  # the runtime does not survive a reset of its context
    guest.must_run(mount_command("/dev/vdb"))


def compute_in(guest, seconds):
    """SOME of the programs compute in @guest what PoCL does."""
    begin(guest)
    require_right_in(guest, guest.must_run(f"{SYSTEM} {RUN}", seconds), SOME)


def require_right_in(guest, out, tests=None):
    require_right(guest.name, results_of(guest), guest.must_run(f"{SYSTEM} opencl_run --list"), out, tests)


def computing():
    """A digest of what executes kernels in this build."""
    paths = (f"{hostlib.MODULES}/*.ko", hostlib.EUD, f"{hostlib.TREE}/build/pgpu-emu/pgpu-emu")
    files = [pathlib.Path(path).read_bytes() for pattern in paths for path in sorted(glob.glob(pattern))]
    return hashlib.sha256(b"".join(files)).hexdigest()[:12]


def others_pass(where, run):
    """@run runs a command where the disk of others is mounted. Goes on where the last run @where with this disk and build
    ended early."""
    lines = [line.split("\t") for line in run("cat /system/opt/others", OTHER_S)[1].splitlines()]
    notes = f"{hostlib.OUT}/{where}-{os.path.basename(others())}-{computing()}.done"
    with open(notes, "a+", encoding="ascii") as file:
        file.seek(0)
        done = dict(line.rstrip("\n").split("\t") for line in file)
        for name, command, wanted in lines:
            if name in done:
                continue
            begun = time.monotonic()
            _, out = run(f"export $(cat /system/opt/environment); {SYSTEM} {command}", OTHER_S)
            done[name] = "pass" if re.search(wanted, out) else "FAIL"
            print(name, done[name], sep="\t", file=file, flush=True)
            say(f"{len(done)} of {len(lines)}: {name}: {done[name]}, {time.monotonic() - begun:.1f} s{': ' + out[-500:] if done[name] == 'FAIL' else ''}")
    os.unlink(notes)
    failed = [name for name, result in done.items() if result != "pass"]
    require(not failed, f"{len(failed)} of {len(lines)} failed: {failed}")
