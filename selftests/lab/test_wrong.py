# SPDX-License-Identifier: GPL-2.0-only
"""Wrong values for every attribute: the kernel refuses each, changes nothing and says why.

selftests/tools/test_wrong.py has the wrong inputs of the programs."""

import errno
import json
import os
import subprocess

import fixture
import hostlib
from hostlib import eventually, read, require, types, write
from ktap import Skip, say, test

CTL = os.environ.get("GHYVI_CTL") or f"{hostlib.TREE}/build/ghyvictl"
WORDS = ("", " ", "x", "-1", "+1", "1 ", " 1", "1.0", "1e1", "0x", "0xg", "1\n1", "1\0", "1,2", "nan", "y", "99999999999999999999", "9" * 4000)


def settings(vgpu):
    """Yields (directory, name, valid values) of each setting of a vGPU and of its pGPU."""
    if not os.path.exists(CTL):
        raise Skip("no build/ghyvictl: make tools")
    ranges = json.loads(hostlib.must_run(CTL, "show", "--ranges", "--json"))["ranges"]
    del ranges["slot"]  # only pGPUs whose vGPUs share one GGTT have it
    for name, values in ranges.items():
        yield (hostlib.parent() if name.startswith("ghyvi/") else vgpu.path), name, values


@test
def wrong_values_of_all_attributes_are_explained():
    wrong = []
    with fixture.vgpus("gen9_8") as (vgpu,):
        for path, name, values in settings(vgpu):
            error_file = f"{path}/ghyvi/last_error" if name.startswith("ghyvi/") else f"{path}/last_error"
            before = read(f"{path}/{name}")
            words = list(WORDS)
            if ".." in values:
                lowest, highest = (int(each) for each in values.split(" and ")[-1].split(".."))
                words += [str(highest + 1), hex(highest + 1)] + ([str(lowest - 1)] if lowest > 1 else [])
            else:
                words += [values, values.split()[0].upper(), f"{values.split()[0]} ", f"[{values.split()[0]}]"]
            for word in words:
                error = write(f"{path}/{name}", word)
                said = read(error_file)
                why = values in said or "there is no " in said
                if not error or error.errno != errno.EINVAL or not said.startswith(f"{name}: ") or not why or read(f"{path}/{name}") != before:
                    wrong.append(f"{name}={word[:30]!r}: {error}: {said}")
    require(not wrong, "\n".join(wrong))


@test
def wrong_requests_are_refused():
    uuid = "c0ffee00-0000-4000-8000-000000000000"
    with fixture.vgpus("gen9_8") as (vgpu,):
        for path, word, number in ((f"{vgpu.path}/reset", "0", errno.EINVAL), (f"{vgpu.path}/reset", "", errno.EINVAL),
                                   (f"{vgpu.path}/reset", "2", errno.EINVAL), (f"{vgpu.path}/reset", "yes please", errno.EINVAL),
                                   (f"{vgpu.path}/unplug", "0", errno.EINVAL), (f"{vgpu.path}/unplug", "1", errno.ENXIO),
                                   (f"{vgpu.path}/audit/mode", "log", errno.EPERM),
                                   (f"{types()['gen9_8']}/create", uuid.replace("-", ""), errno.EINVAL),
                                   (f"{types()['gen9_8']}/create", uuid[:-1] + "g", errno.EINVAL),
                                   (f"{types()['gen9_1']}/create", uuid, errno.ENOSPC)):
            error = write(path, word)
            require(error and error.errno == number, f"{path}: {word!r} gives {error}")
        require("audit_may_log=1" in vgpu.last_error(), vgpu.last_error())
        require(not os.path.exists(f"/sys/bus/mdev/devices/{uuid}"), "a vGPU was created")


# The options and messages of QEMU; Documentation/troubleshooting.md quotes each.
QEMU = ("qemu-system-x86_64", "-S", "-machine", "q35,accel=kvm", "-nodefaults", "-display", "none", "-m", "64", "-device")
ENDS_QEMU = {
    "x-igd-opregion=on": "does not support requested IGD OpRegion feature: No such device",
    "x-vga=on": "device does not support requested feature x-vga",
    None: ": Device or resource busy",  # another VM uses it
}


@test
def messages_of_qemu_for_options_of_gvtg_guides_are_in_troubleshooting():
    wrong = []
    with open(f"{hostlib.TREE}/Documentation/troubleshooting.md") as file:
        rows = file.read()
    with fixture.vgpus("gen9_8") as (vgpu,):
        device = f"vfio-pci,sysfsdev={vgpu.path}"
        for option, message in ENDS_QEMU.items():
            first = None if option else subprocess.Popen([*QEMU, device])
            try:
                if first:
                    eventually(lambda: vgpu.state() == "open", "the first VM", 60)
                status, out = hostlib.run(*QEMU, ",".join(filter(None, (device, option))))
            finally:
                if first:
                    first.terminate()
                    first.wait()
            say(out.strip())
            wrong += [] if status == 1 and message in out else [f"{option}: status {status}: {out}"]
            wrong += [] if message in rows else [f"{message}: no row"]
    require(not wrong, "\n".join(wrong))
