# SPDX-License-Identifier: GPL-2.0-only
"""How ghyvi-eud is installed. What it does is tested in the lab: selftests/lab/test_compute.py."""

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
