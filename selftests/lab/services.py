# SPDX-License-Identifier: GPL-2.0-only
"""What an installed host has and the host VM has not: our files in their places, Debian's udev and systemd."""

import os
import shutil
import subprocess

import hostlib
from ktap import Skip

UNITS = "/run/ghyvi-units"
HOOKS = "/etc/libvirt/hooks/qemu.d"
STOCK_UNITS = "/lib/systemd/system"
started = {}


def install():
    """`make install` of ghyvictl and what belongs to mdevctl. The host VM's root forgets it when it ends."""
    if not shutil.which("mdevctl"):
        raise Skip("no mdevctl: tools/setup")
    ctl = os.environ.get("GHYVI_CTL") or f"{hostlib.TREE}/build/ghyvictl"
    shutil.copy(ctl, "/usr/local/bin/ghyvictl")
    hostlib.must_run("make", "-s", "-C", f"{hostlib.TREE}/userspace/mdevctl", "install", f"SYSTEMD_DIR={UNITS}")


def start_udev():
    if "udev" not in started:
        started["udev"] = subprocess.Popen(["/lib/systemd/systemd-udevd"], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        hostlib.eventually(lambda: os.path.exists("/run/udev/control"), "udev", 30)


def start_systemd():
    """The stock systemd as process 1 of a PID namespace, with our units and no others: it boots nothing."""
    os.makedirs(UNITS, exist_ok=True)
    for name in ("sysinit.target", "basic.target", "shutdown.target", "umount.target"):
        shutil.copy(f"{STOCK_UNITS}/{name}", UNITS)
    with open(f"{UNITS}/lab.target", "w") as file:
        file.write("[Unit]\nDescription=Nothing\nDefaultDependencies=no\n")
    started["systemd"] = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "/lib/systemd/systemd", "--system",
         "--unit=lab.target", "--log-target=kmsg"], env={**os.environ, "SYSTEMD_UNIT_PATH": UNITS},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    hostlib.eventually(lambda: os.path.exists("/run/systemd/private"), "systemd", 60)


def start_libvirt(hook=None):
    """Without systemd and D-Bus, which libvirt does not need. @hook is installed as one of its hooks."""
    if "libvirtd" in started:
        return
    if hook:
        os.makedirs(HOOKS, exist_ok=True)
        shutil.copy(hook, HOOKS)
    for name in ("virtlogd", "libvirtd"):
        with open(f"{hostlib.OUT}/{name}.log", "w") as log:
            started[name] = subprocess.Popen([f"/usr/sbin/{name}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    hostlib.eventually(lambda: os.path.exists("/run/libvirt/libvirt-sock"), "libvirtd", 60)


def stop():
    for name, process in reversed(started.items()):
        # unshare waits for its child, whatever it is told; the child dies with it.
        process.kill() if name == "systemd" else process.terminate()
        process.wait()
    started.clear()
    if os.path.exists("/run/systemd/private"):
        os.remove("/run/systemd/private")
