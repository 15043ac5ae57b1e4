# SPDX-License-Identifier: GPL-2.0-only
"""Compares the attributes of the ABI file with those of the kernel's sources, by name, in both directions."""

import glob
import itertools
import os
import re

ABI = "Documentation/ABI/testing/sysfs-bus-mdev-ghyvi"
VGPU, PGPU, MODULE = "/sys/bus/mdev/devices/<uuid>/", "/sys/class/mdev_bus/<parent>/", "/sys/module/"
# Of the mdev core and the driver core. ghyvi only says what is in them.
OF_THE_CORE = (f"{PGPU}mdev_supported_types/", f"{VGPU}uevent")
MODULES = {"softgpu": "ghyvi_softgpu", "gen9": "ghyvi_gen9"}  # by folder of kernel/; ghyvi has the others


def read(path):
    with open(path) as file:
        return file.read()


def expanded(name):
    """{a,b}c stands for ac and bc."""
    parts = [part.strip("{}").split(",") for part in re.split(r"(\{[^}]*\})", name)]
    return {"".join(words) for words in itertools.product(*parts)}


def documented(text):
    names = set()
    for lines in re.findall(r"^What:\t\t(.*(?:\n\t\t/.*)*)", text, re.M):
        for name in lines.split():
            if not name.startswith(OF_THE_CORE):
                names |= expanded(name)
    return names


def settings(text, macro):
    """The names in the list @macro of settings.h."""
    return re.findall(r"X\((\w+),", re.search(rf"#define {macro}\(X\)(.*?[^\\])\n", text, re.S).group(1))


def counters(text):
    engine, every = (re.search(rf"#define {macro}\(.*?\)(.*?[^\\])\n", text, re.S).group(1) for macro in ("GHYVI_ENGINE_STATS", "GHYVI_STATS"))
    for name in re.findall(r"\bX\((\w+),", every):
        yield name
    for suffix in re.findall(r"GHYVI_ENGINE_STATS\(X, (\w+),", every):
        for name, end in re.findall(r"\bX\((\w+)##suffix(?:##(\w+))?,", engine):
            yield name + suffix + end


def binaries(text, array):
    """The names of the binary attributes in the group of the attributes in @array."""
    if not re.search(rf"\.attrs = {array},\n\t\.bin_attrs = ", text):
        return []
    return re.findall(r'struct bin_attribute \w+ = \{\n\t\.attr = \{ \.name = "(\w+)"', text)


def of_vgpus(text, stats):
    """The arrays of attributes in one source file, with the names of the groups that they are in."""
    for array, entries in re.findall(r"static struct attribute \*(\w+)\[\] = \{(.*?)\};", text, re.S):
        group = re.search(rf"struct attribute_group \w+ = \{{([^}}]*?\.attrs = {array}\b[^}}]*)\}}", text).group(1)
        folder = re.search(r'\.name = "(\w+)"', group)
        names = list(stats) if "GHYVI_STATS(" in entries else re.findall(r"&(?:dev_attr|setting)_(\w+)\.attr", entries)
        for name in names + binaries(text, array):
            yield f"{VGPU}{folder.group(1) + '/' if folder else ''}{name}"


def of_modules(tree):
    for path in glob.glob(f"{tree}/kernel/**/*.c", recursive=True):
        folder = os.path.relpath(path, f"{tree}/kernel").split(os.sep)[0]
        for name in re.findall(r"^module_param(?:_cb)?\((\w+),", read(path), re.M):
            yield f"{MODULE}{MODULES.get(folder, 'ghyvi')}/parameters/{name}"


def implemented(tree):
    stats = set(counters(read(f"{tree}/include/ghyvi/stats.h")))
    names = set(of_modules(tree))
    for path in glob.glob(f"{tree}/kernel/vfio/sysfs*.c"):
        names.update(of_vgpus(read(path), stats))
    of_pgpu = re.findall(r"__ATTR(?:_RO)?\((\w+)", read(f"{tree}/kernel/vfio/sysfs_sched.c").partition("templates[")[2])
    of_pgpu += re.findall(r"^static .*(?:DEVICE_ATTR_R[OW]|__ATTR)\((\w+)", read(f"{tree}/kernel/gen9/sysfs.c"), re.M)
    names.update(f"{PGPU}ghyvi/{name}" for name in of_pgpu + settings(read(f"{tree}/include/ghyvi/settings.h"), "GHYVI_PGPU_SETTINGS"))
    return names


def differences(tree):
    """Yields the attributes that only one side has."""
    abi, code = documented(read(f"{tree}/{ABI}")), implemented(tree)
    for name in sorted(code - abi):
        yield f"{name}: the kernel has it, {ABI} does not"
    for name in sorted(abi - code):
        yield f"{name}: {ABI} has it, the kernel does not"
