# SPDX-License-Identifier: GPL-2.0-only
"""Tests that need packages of a mirror: what they do while it is half synced. apt's errors are planted."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

import ktap
import patience
import test_monitoring
from ktap import test
from toolslib import require

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZE = "E: Failed to fetch http://mirror/x.deb  File has unexpected size (1 != 2). Mirror sync in progress?"
HASH = "W: Failed to fetch http://mirror/y.deb  Hash Sum mismatch"
OTHER_SIZE = "E: Failed to fetch http://mirror/z.deb  Size mismatch"
ABSENT = "E: Unable to locate package linux-headers-amd64"
# apt-get, apt-cache and mmdebstrap. The sources of the machine's apt can be listed.
APT = """#!/bin/sh
case $* in
*indextargets*) echo "http://mirror Debian $(. /etc/os-release && echo "$VERSION_CODENAME")" ;;
*) echo "$ERROR" >&2; exit 100 ;;
esac
"""
# With an empty cache.
RUN = """
import os, runpy, sys
sys.path.insert(0, f"{sys.argv[1]}/tools/lab")
import lablib
lablib.CACHE = lablib.UNPACKED_KERNELS = lablib.BUILD = sys.argv[2]
lablib.MIGRATING_QEMU, lablib.NO_QEMU = f"{lablib.BUILD}/qemu", f"{lablib.BUILD}/no-qemu"
sys.argv = sys.argv[3:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@contextlib.contextmanager
def planted(error):
    """Yields a folder whose programs fail with @error, and an environment in which they are found first."""
    with tempfile.TemporaryDirectory(prefix="ghyvi-mirror.") as folder:
        os.mkdir(f"{folder}/build")
        for name in ("apt-get", "apt-cache", "mmdebstrap"):
            with open(f"{folder}/{name}", "w") as file:
                file.write(APT)
            os.chmod(f"{folder}/{name}", 0o755)
        yield folder, {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "ERROR": error}


def run_in(folder, env, program, *arguments):
    """Returns (status, last line, output)."""
    done = patience.run([sys.executable, "-B", "-c", RUN, TREE, f"{folder}/build", f"{TREE}/{program}", *arguments], 60,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    return done.returncode, done.stdout.splitlines()[-1], done.stdout


def run_with(error, program, *arguments):
    with planted(error) as (folder, env):
        return run_in(folder, env, program, *arguments)


@test
def tests_of_packages_are_skipped_while_the_mirror_is_half_synced():
    programs = (("selftests/kernels/run", "--no-lab", "trixie-backports"), ("selftests/kernels/run", "--guests", "trixie-backports"),
                ("selftests/packages/run",), ("selftests/releases/run",),
                ("selftests/prove/run",), ("selftests/drivers/run",), ("tools/demo-display", "--check"))
    for command in programs:
        for error in (SIZE, HASH, OTHER_SIZE):
            status, last, out = run_with(error, *command)
            require(status == 0 and last == "0 passed, 0 failed, 1 skipped" and f"SKIP the mirror is half synced: {error}" in out,
                    f"{command}: status {status}: {out}")
        status, last, out = run_with(ABSENT, *command)
        require(status == 125 and ABSENT in last, f"{command}: status {status}: {out}")
    for program in ("tools/lab/fetch-qemu", "tools/lab/fetch-libvirt", "tools/kernels/fetch", "tools/demo-display", "tools/sim/record-traces"):
        status, last, out = run_with(SIZE, program)
        require(status == 4 and last == f"lab: the mirror is half synced: {SIZE}", f"{program}: status {status}: {out}")


@test
def migration_is_skipped_with_what_the_mirror_said():
    with planted(HASH) as (folder, env):
        run_in(folder, env, "tools/lab/fetch-qemu")
        done = patience.run([sys.executable, "-B", "-c", "import migrate; migrate.require_qemu()"], 60, stderr=subprocess.PIPE, text=True,
                            env={**env, "GHYVI_TREE": folder, "PYTHONPATH": f"{TREE}/selftests/lab"})
    require(done.stderr.endswith(f"Skip: no QEMU that migrates VFIO devices: the mirror is half synced: {HASH}\n"), done.stderr)


@test
def tests_of_metrics_are_skipped_with_what_the_mirror_said():
    if shutil.which("promtool"):
        raise ktap.Skip("promtool is installed")
    with planted(HASH) as (folder, env):
        env["GHYVI_PROMTOOL_DIR"] = os.path.relpath(folder, TREE)
        try:
            test_monitoring.promtool("check", env=env)
        except ktap.Skip as why:
            require(str(why) == f"the mirror is half synced: {HASH}", f"{why}")
            return
    require(False, "promtool without its package")


SKIPPED_IN_A_TEST = """
import ktap
def before():
    if done:
        raise ktap.Skip("the same")
done = []
@ktap.test
def fails_to_install():
    done.append(1)
    raise ktap.Skip("half synced")
@ktap.test
def needs_what_was_installed():
    raise ValueError("it runs")
ktap.run(ktap.tests, before, lambda: None, lambda: None)
"""


@test
def skips_are_counted_in_the_closing_line():
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.abspath(ktap.__file__))}
    done = patience.run([sys.executable, "-B", "-c", SKIPPED_IN_A_TEST], 60, stdout=subprocess.PIPE, text=True, env=env)
    require(done.stdout.endswith("\n0 passed, 0 failed, 3 skipped\n") and done.returncode == 0, done.stdout)
    require(ktap.closing(3, 1, 0) == "3 passed, 1 failed", "without skips")
    # The sums of `make test`.
    count = """eval "$(sed -n '/^closing()/,/^}/p; /^count()/,/^}/p' "$1")"
        SECONDS=0 passed=1 failed=0 skipped=1
        printf 'x\\n7 passed, 0 failed, 2 skipped\\n' >"$2"; count one 0 "$2" 0
        printf '5 passed, 0 failed\\n' >"$2"; count two 0 "$2" 0
        closing $passed $failed $skipped"""
    with tempfile.TemporaryDirectory(prefix="ghyvi-count.") as folder:
        done = patience.run(["bash", "-uc", count, "bash", f"{TREE}/selftests/run", f"{folder}/log"], 60, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.split("\n")
    require(lines[0].startswith("== one: 7 passed, 0 failed, 2 skipped, ") and lines[2].startswith("== two: 5 passed, 0 failed, ") and
            lines[4] == "13 passed, 0 failed, 3 skipped", done.stdout)
