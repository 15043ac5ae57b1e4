# SPDX-License-Identifier: GPL-2.0-only
"""A Debian 12 with drivers and programs of user space, as the second disk of a guest, and the
programs of this folder. For scripts that start the host VM; systemlib.py is the part that runs in
it."""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [f"{TREE}/tools/lab", f"{TREE}/selftests/lab"]

import ktap  # noqa: E402
import lablib  # noqa: E402
from lablib import LabError  # noqa: E402

SUITE = "bookworm"
PACKAGES = ("libegl-mesa0", "libegl1", "libgles2", "libgl1-mesa-dri", "intel-media-va-driver", "i965-va-driver",
            "vainfo", "ffmpeg", "xserver-xorg-core", "xserver-xorg-video-intel", "libx11-6", "xkb-data",
            "x11-xkb-utils", "weston", "netsurf-gtk", "fonts-dejavu-core")
# Of the guest whose screen is a desktop.
DESKTOP = ("weston", "udev", "fonts-dejavu-core", "xserver-xorg-core")
BROWSER = ("chromium-headless-shell", "novnc")
PROGRAMS = {
    "draw": ("-lEGL", "-lGLESv2"),
    "xdraw": ("-lX11",),
    "headless": ("-I/usr/include/libdrm", "-shared", "-fPIC"),  # in fact a library
}
OWN = f"{lablib.BUILD}/drivers"


def make_root(packages=PACKAGES):
    os.makedirs(OWN, exist_ok=True)
    root = f"{OWN}/root-{lablib.digest(' '.join(packages))}"
    if not os.path.isdir(root):
        lablib.stage(f"a Debian {SUITE} with {packages[0]} and others in {root}")
        lablib.run_tool("mmdebstrap", "--quiet", "--variant=apt", "--aptopt=APT::Install-Recommends \"false\"",
                        f"--include={','.join(packages)}", SUITE, f"{root}.new")
        os.rename(f"{root}.new", root)
    return root


def find_root(root, packages=PACKAGES):
    return os.path.abspath(root) if root else make_root(packages)


def root_for_test(root, packages=PACKAGES):
    """As find_root(), but ends the program, as skipped, while the mirror is half synced."""
    try:
        return find_root(root, packages)
    except lablib.HalfSynced as why:
        return ktap.skip_all(why)


def disk(root, name="drivers"):
    """An image of the system. The compiler and documentation are not needed."""
    status = f"{root}/var/lib/dpkg/status"
    if not os.path.isfile(status):
        raise LabError(f"{root}: no Debian system")

    def make(path):
        lablib.stage(f"building an image of {root}")
        lablib.run_tool("mkfs.erofs", "-zlz4", "-T0", "--exclude-regex=^(usr/share/(doc|man|locale)|var/cache|boot)/.*",
                        path, root)

    return lablib.cached(f"{name}.erofs", lablib.digest(lablib.file_stamp(status)), make)


def run_script(script, name, image, programs, lab=(), call=subprocess.call, **more):
    """Runs the script in a host VM of that name with a file of what systemlib.py needs, and more, and
    returns its status. lab: options of tools/lab/run. call starts it."""
    os.makedirs(OWN, exist_ok=True)
    path = f"{OWN}/{os.path.basename(script)}.json"
    with open(path, "w") as file:
        json.dump({"disk": image, "programs": programs, **more}, file)
    return call([f"{TREE}/tools/lab/run", "--name", name, "--mem", "4096", "--timeout", "0", *lab, "--", script, path],
                stdin=None if lab else subprocess.DEVNULL)


def run_in_host(script, name, root, **more):
    """Builds the image of root, and the programs, for run_script()."""
    os.makedirs(OWN, exist_ok=True)
    image = disk(root)
    for program, options in PROGRAMS.items():
        lablib.run_tool("gcc", "-std=gnu11", "-O2", "-Wall", "-o", f"{OWN}/{program}", f"{HERE}/{program}.c", *options)
    programs = [*(f"{OWN}/{program}" for program in PROGRAMS), f"{HERE}/with-x", f"{HERE}/with-weston"]
    return run_script(script, name, image, programs, **more)
