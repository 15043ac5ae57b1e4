# SPDX-License-Identifier: GPL-2.0-only
"""How ghyvi-eud is installed. What it does is tested in the lab: selftests/lab/test_compute.py."""

import mmap
import os
import re
import shutil
import subprocess

from ktap import Skip, test
from toolslib import require, tree

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXPOSURE_MOST = 20  # of 100, as systemd-analyze counts; without any confinement 96
TARGETS = ("sysinit", "basic", "shutdown", "network", "paths", "slices", "sockets")


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def installed(made):
    """Installs it, and returns the root directory."""
    root = f"{made.top}/root"
    done = run("make", "--no-print-directory", "-C", f"{TREE}/userspace/eud", "install", f"DESTDIR={root}", "PREFIX=/usr",
               "SYSTEMD_DIR=/lib/systemd/system", "SYSUSERS_DIR=/usr/lib/sysusers.d", "UDEV_DIR=/lib/udev/rules.d")
    require(done.returncode == 0, done.stdout)
    return root


@test
def service_of_execution_units_is_confined():
    with tree() as made:
        root = installed(made)
        service = made.read("root/lib/systemd/system/ghyvi-eud.service")
        require("@BINDIR@" not in service, service)
        if not shutil.which("systemd-analyze"):
            raise Skip("no systemd-analyze")
        made.write("root/usr/bin/systemd-sysusers", "#!/bin/sh\n", 0o755)
        for target in TARGETS:
            made.write(f"root/lib/systemd/system/{target}.target", "[Unit]\nDescription=x\n")
        done = run("systemd-analyze", "verify", "--man=no", f"--root={root}", "ghyvi-eud.service")
        complaints = [line for line in done.stdout.splitlines() if "ghyvi-eud" in line]
        require(not complaints, "\n".join(complaints))
        done = run("systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE_MOST}", "--no-pager", f"--root={root}",
                   "ghyvi-eud.service")
        require(done.returncode == 0, done.stdout)


def allowed(name):
    """System calls of a set, as systemd has it."""
    if not name.startswith("@"):
        return {name}
    lines = [line.strip() for line in run("systemd-analyze", "syscall-filter", name).stdout.splitlines()[1:]]
    return {call for line in lines if line and line[0] != "#" for call in allowed(line)}


def with_device(made):
    """Installs it beside a device that is played. Returns the program."""
    made.write("device", "")
    done = run("gcc", "-shared", "-fPIC", "-o", f"{made.top}/device.so", f"{TREE}/selftests/tools/eud_device.c")
    require(done.returncode == 0, done.stdout)
    return f"{installed(made)}/usr/bin/ghyvi-eud"


def traced(made, program, hostile_map=""):
    """Its system calls."""
    run("strace", "-f", "-o", f"{made.top}/trace", "-E", f"LD_PRELOAD={made.top}/device.so", "-E", f"HOSTILE_MAP={hostile_map}", program,
        f"--device={made.top}/device", "--user=nobody")
    return made.read("trace")


@test
def system_calls_of_execution_units_are_allowed():
    """From the start to the first dispatch of a process of a vGPU: the device is a file, and its ioctls are played."""
    if not (shutil.which("strace") and shutil.which("systemd-analyze")):
        raise Skip("no strace or systemd-analyze")
    with tree() as made:
        program = with_device(made)
        trace = traced(made, program)
        require("SECCOMP_SET_MODE_FILTER" in trace and "exit_group(1)" in trace, f"no process for a vGPU: {trace[-1500:]}")
        words = re.search(r"^SystemCallFilter=(.*)", made.read("root/lib/systemd/system/ghyvi-eud.service"), re.M).group(1).split()
        refused = set(re.findall(r"^\d+ +(\w+)\(", trace, re.M)) - set().union(*map(allowed, ["@default", *words]))
        require(not refused, f"refused: {refused}")


@test
def execution_units_map_nothing_past_their_limit_of_memory():
    """RLIMIT_DATA bounds private memory alone, and no control group has huge pages."""
    if not shutil.which("strace"):
        raise Skip("no strace")
    anonymous, private = mmap.MAP_ANONYMOUS, mmap.MAP_PRIVATE
    huge, stack = 0x40000, 0x100  # MAP_HUGETLB, MAP_GROWSDOWN
    refused = "+++ killed by SIGSYS"
    with tree() as made:
        program = with_device(made)
        for flags, of_device, end in (
                (anonymous | private, 0, "ENOMEM"),
                (anonymous | private, 1, "ENOMEM"),
                (anonymous | mmap.MAP_SHARED, 1, refused),
                (anonymous | mmap.MAP_SHARED, 0, refused),
                (anonymous | private | huge, 1, refused),
                (anonymous | private | stack, 0, refused),
                (mmap.MAP_SHARED, 1, "exit_group(1)")):
            trace = traced(made, program, f"{flags} {of_device}")
            after = trace[trace.index("SECCOMP_SET_MODE_FILTER"):]
            require(end in after and (refused in after) == (end == refused), f"{flags:#x} {of_device}: {after}")


@test
def execution_units_have_a_user_of_their_own():
    with tree() as made:
        root = installed(made)
        if not shutil.which("systemd-sysusers"):
            raise Skip("no systemd-sysusers")
        os.makedirs(f"{root}/etc")
        done = run("systemd-sysusers", f"--root={root}", "ghyvi-eud.conf")
        require(done.returncode == 0, done.stdout)
        user = re.search(r"^ExecStart=.* --user=(\S+)$", made.read("root/lib/systemd/system/ghyvi-eud.service"), re.M)
        users = [line.split(":")[0] for line in made.read("root/etc/passwd").splitlines()]
        require(user and user.group(1) in users and user.group(1) != "nobody", f"{user}, {users}")


@test
def execution_units_are_built_with_guards():
    """Position independent, with guarded stacks and copies, and no table of functions that can be written."""
    with tree() as made:
        program = f"{installed(made)}/usr/bin/ghyvi-eud"
        facts = run("readelf", "--wide", "--file-header", "--dynamic", "--dyn-syms", program).stdout
        for fact in (r"Type: +DYN", r"__stack_chk_fail", r"__\w+_chk@", r"NOW"):
            require(re.search(fact, facts), f"no {fact}")
