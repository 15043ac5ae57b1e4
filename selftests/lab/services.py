# SPDX-License-Identifier: GPL-2.0-only
"""Installs and starts what the host VM lacks: our files, Debian's udev, systemd and libvirt."""

import contextlib
import os
import shutil
import signal
import subprocess

import hostlib
from ktap import Skip

UNITS = "/run/ghyvi-units"
INIT = "/run/ghyvi/init"  # as in tools/lab/agent.c
RULES = "/run/udev/rules.d"
# libvirt is that of a system of tools/lab/fetch-libvirt, or the host VM's own. ROOT has its files.
SYSTEM = os.environ.get("GHYVI_LIBVIRT")
MOUNTS = "/run/ghyvi-libvirt"
ROOT = f"{MOUNTS}/root" if SYSTEM else ""
ENTER = ("nsenter", f"--mount={MOUNTS}/namespace") if SYSTEM else ()
ETC = f"{ROOT}/etc/libvirt"
QEMU_DEVICES = [f"/dev/{name}" for name in ("null", "full", "zero", "random", "urandom", "ptmx", "kvm")]  # libvirt's default
# Directories that the host VM and the system share.
SHARED = ("/dev", "/proc", "/sys", "/run", "/etc/mdevctl.d", "/usr/local", hostlib.TREE)
OTHER = "/run/ghyvi-other-libvirt"  # /etc/libvirt of another host
STOCK_UNITS = "/lib/systemd/system"
# The bus, by which libvirt asks for a scope of each VM in machine.slice.
BUS = ("dbus.socket", "dbus.service", "systemd-machined.service")
BUS_UNITS = (*BUS, "machine.slice", "dbus-org.freedesktop.machine1.service")
EUD = "ghyvi-eud.service"
started = {}


def install():
    """Installs ghyvictl and the files for mdevctl into the host VM's root, which is in memory."""
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
    """Lets the stock systemd become process 1, with no units but ours. It stays until the host VM ends."""
    if hostlib.read("/proc/1/comm") == "systemd":
        return
    os.makedirs(UNITS, exist_ok=True)
    for name in ("sysinit.target", "basic.target", "shutdown.target", "umount.target"):
        shutil.copy(f"{STOCK_UNITS}/{name}", UNITS)
    with open(f"{UNITS}/lab.target", "w") as file:
        file.write("[Unit]\nDescription=Nothing\nDefaultDependencies=no\n")
    with open(INIT, "w") as file:
        file.write(f"#!/bin/sh\nSYSTEMD_UNIT_PATH={UNITS} SYSTEMD_GENERATOR_PATH={UNITS}/none exec /lib/systemd/systemd --system "
                   "--unit=lab.target --log-target=kmsg --show-status=0\n")
    os.chmod(INIT, 0o755)
    os.kill(1, signal.SIGUSR1)
    hostlib.eventually(lambda: os.path.exists("/run/systemd/private"), "systemd", 60)


def systemctl(*arguments):
    return hostlib.must_run("systemctl", *arguments)


@contextlib.contextmanager
def bus():
    """The system's bus, and systemd-machined."""
    if not all(os.path.exists(f"{STOCK_UNITS}/{name}") for name in BUS_UNITS):
        raise Skip("no D-Bus or systemd-machined: tools/setup")
    start_systemd()
    for name in BUS_UNITS:
        shutil.copy(f"{STOCK_UNITS}/{name}", f"{UNITS}/{name}", follow_symlinks=False)
    systemctl("daemon-reload")
    systemctl("start", *BUS)
    try:
        yield
    finally:
        systemctl("stop", *reversed(BUS))


@contextlib.contextmanager
def execution_units():
    """ghyvi-eud as packages install it. udev starts it when ghyvi-softgpu is loaded, so the modules are loaded again."""
    start_udev()
    start_systemd()
    hostlib.must_run("make", "-s", "-C", f"{hostlib.TREE}/userspace/eud", "install", f"SYSTEMD_DIR={UNITS}", f"UDEV_DIR={RULES}")
    systemctl("daemon-reload")
    hostlib.must_run("udevadm", "control", "--reload")
    hostlib.unload_modules()
    hostlib.load_modules()
    try:
        hostlib.eventually(lambda: systemctl("show", "-p", "ActiveState", "--value", EUD).strip() == "active", EUD, 60)
        yield
    finally:
        os.remove(f"{RULES}/61-ghyvi-eud.rules")
        hostlib.must_run("udevadm", "control", "--reload")
        systemctl("stop", EUD)


def virsh(uri="qemu:///system"):
    return (*ENTER, "virsh", "-q", "-c", uri)


def set_up_system():
    """Mounts the system of libvirt at ROOT, with changes kept in memory, the host VM's users, and what it shares with it.

    libvirtd joins its QEMUs' mount namespaces, which ends a chroot. So the system is the root of a namespace."""
    if not SYSTEM or os.path.exists(MOUNTS):
        return
    os.mkdir(MOUNTS)
    hostlib.must_run("mount", "-t", "tmpfs", "-o", "mode=755", "libvirt", MOUNTS)
    hostlib.must_run("mount", "--make-private", MOUNTS)
    upper, work = f"{MOUNTS}/upper", f"{MOUNTS}/work"
    for folder in (ROOT, upper, work):
        os.mkdir(folder)
    hostlib.must_run("mount", "-t", "overlay", "-o", f"lowerdir={SYSTEM},upperdir={upper},workdir={work}", "libvirt", ROOT)
    for name in ("passwd", "group"):
        shutil.copy(f"/etc/{name}", f"{ROOT}/etc/{name}")
    for path in SHARED:
        os.makedirs(ROOT + path, exist_ok=True)
        hostlib.must_run("mount", "--bind" if path == "/run" else "--rbind", path, ROOT + path)
    open(f"{MOUNTS}/namespace", "w").close()
    hostlib.must_run("unshare", f"--mount={MOUNTS}/namespace", "sh", "-ec", f"cd {ROOT}; pivot_root . mnt; umount -l /mnt")


def let_qemu_open(*paths):
    """Device files that libvirt, which does not run yet, gives to QEMUs in addition, with an administrator's permissions."""
    set_up_system()
    names = ", ".join(f'"{path}"' for path in (*QEMU_DEVICES, *paths))
    with open(f"{ETC}/qemu.conf", "w") as file:
        file.write(f"cgroup_device_acl = [ {names} ]\n")
    for path in paths:
        shutil.chown(path, group="kvm")
        os.chmod(path, 0o660)


def start_libvirt(hook=None):
    """Starts libvirtd, without systemd and D-Bus. @hook is installed as a QEMU hook."""
    if "libvirtd" in started:
        return
    set_up_system()
    if hook:
        os.makedirs(f"{ETC}/hooks/qemu.d", exist_ok=True)
        shutil.copy(hook, f"{ETC}/hooks/qemu.d")
    for name in ("virtlogd", "libvirtd"):
        with open(f"{hostlib.OUT}/{name}.log", "w") as log:
            started[name] = subprocess.Popen([*ENTER, f"/usr/sbin/{name}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    hostlib.eventually(lambda: os.path.exists("/run/libvirt/libvirt-sock"), "libvirtd", 60)


@contextlib.contextmanager
def other_libvirt():
    """A second libvirtd with a host name, an identity and files of its own, as on another host.

    Yields its connection's URI and the path of its root directory."""
    shutil.rmtree(OTHER, ignore_errors=True)
    shutil.copytree(ETC, OTHER)
    with open(f"{OTHER}/libvirtd.conf", "a") as file:
        file.write('host_uuid = "0badcafe-1234-4000-8000-000000000002"\n')
    folders = "/run/libvirt /var/lib/libvirt /var/log/libvirt /var/cache/libvirt"
    with open(f"{hostlib.OUT}/other-libvirtd.log", "w") as log:
        process = subprocess.Popen(
            [*ENTER, "unshare", "--mount", "--uts", "sh", "-ec",
             f"hostname other; mkdir -p {folders}; for f in {folders}; do mount -t tmpfs none $f; done; "
             f"mount --bind {OTHER} /etc/libvirt; /usr/sbin/virtlogd --pid-file /run/libvirt/virtlogd.pid & "
             "exec /usr/sbin/libvirtd --pid-file /run/libvirt/libvirtd.pid"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    root = f"/proc/{process.pid}/root"
    try:
        # Until its own /run/libvirt is mounted, the socket there is that of the first one.
        hostlib.eventually(lambda: all(os.path.exists(f"{root}/run/libvirt/{name}") for name in ("libvirtd.pid", "libvirt-sock")),
                           "the other libvirtd", 60)
        yield f"qemu+unix:///system?socket={root}/run/libvirt/libvirt-sock", root
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def stop():
    for process in reversed(started.values()):
        process.terminate()
        process.wait()
    started.clear()
