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
HOOKS = "/etc/libvirt/hooks/qemu.d"
OTHER = "/run/ghyvi-other-libvirt"  # /etc/libvirt of another host
STOCK_UNITS = "/lib/systemd/system"
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
    """Starts the stock systemd as process 1 of a PID namespace, with no units but ours."""
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
    """Starts libvirtd, without systemd and D-Bus. @hook is installed as a QEMU hook."""
    if "libvirtd" in started:
        return
    if hook:
        os.makedirs(HOOKS, exist_ok=True)
        shutil.copy(hook, HOOKS)
    for name in ("virtlogd", "libvirtd"):
        with open(f"{hostlib.OUT}/{name}.log", "w") as log:
            started[name] = subprocess.Popen([f"/usr/sbin/{name}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    hostlib.eventually(lambda: os.path.exists("/run/libvirt/libvirt-sock"), "libvirtd", 60)


@contextlib.contextmanager
def other_libvirt():
    """A second libvirtd with a host name, an identity and files of its own, as on another host.

    Yields its connection's URI and the path of its root directory."""
    shutil.rmtree(OTHER, ignore_errors=True)
    shutil.copytree("/etc/libvirt", OTHER)
    with open(f"{OTHER}/libvirtd.conf", "a") as file:
        file.write('host_uuid = "0badcafe-1234-4000-8000-000000000002"\n')
    folders = "/run/libvirt /var/lib/libvirt /var/log/libvirt /var/cache/libvirt"
    with open(f"{hostlib.OUT}/other-libvirtd.log", "w") as log:
        process = subprocess.Popen(
            ["unshare", "--mount", "--uts", "sh", "-ec",
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
    for name, process in reversed(started.items()):
        # unshare ignores SIGTERM while it waits for its child. When it dies, so does the child.
        process.kill() if name == "systemd" else process.terminate()
        process.wait()
    started.clear()
    if os.path.exists("/run/systemd/private"):
        os.remove("/run/systemd/private")
