# SPDX-License-Identifier: GPL-2.0-only
"""API remoting by PoCL, in the host VM: servers there, behind which is Debian's OpenCL driver of the CPU, and guests
with PoCL's driver of remote devices. build/pocl is made by tools/compare/build-pocl."""

import contextlib
import os
import subprocess
import time

import hostlib
from hostlib import require

POCL = f"{os.environ['GHYVI_TREE']}/build/pocl"
IN_GUEST = "/run/pocl"
TCP_PORT, VSOCK_PORT, HOST_CID, FIRST_CID = 17000, 18000, 2, 10
SERVERS_S = 3
CPU = dict(os.environ, POCL_CACHE_DIR="/tmp/pocl", OCL_ICD_VENDORS="/etc/OpenCL/vendors/pocl.icd")
TRANSPORTS = {"tcp": lambda number: f"10.0.{number}.1:{TCP_PORT}", "vsock": lambda _: f"vsock:{HOST_CID}:{VSOCK_PORT}"}


@contextlib.contextmanager
def servers():
    """One for each kind of socket."""
    found = []
    try:
        for arguments in (("-a", "0.0.0.0", "-p", str(TCP_PORT)), ("-s", "-p", str(VSOCK_PORT))):
            with open(f"{hostlib.OUT}/pocld{arguments[-1]}.log", "w") as log:
                found.append(subprocess.Popen([f"{POCL}/pocld", *arguments], stdin=subprocess.DEVNULL, stdout=log,
                                              stderr=subprocess.STDOUT, env=CPU))
        time.sleep(SERVERS_S)
        yield
        for server in found:
            require(server.poll() is None, f"{server.args}: ended with status {server.returncode}")
    finally:
        for server in found:
            server.kill()


def devices(number):
    """QEMU's arguments for guest @number: a network, a vsock, and a disk with the driver and programs."""
    tap = f"tap{number}"
    hostlib.must_run("modprobe", "-a", "tun", "vhost_net", "vhost_vsock")
    hostlib.must_run("busybox", "tunctl", "-t", tap)
    hostlib.must_run("busybox", "ip", "addr", "add", f"10.0.{number}.1/24", "dev", tap)
    hostlib.must_run("busybox", "ip", "link", "set", tap, "up")
    return ("-netdev", f"tap,id=net,ifname={tap},script=no,downscript=no,vhost=on",
            "-device", "virtio-net-pci,netdev=net,romfile=,addr=13.0",
            "-device", f"vhost-vsock-pci,guest-cid={FIRST_CID + number},addr=14.0",
            "-drive", f"if=none,id=pocl,format=raw,readonly=on,file.locking=off,file={POCL}/client.tar",
            "-device", "virtio-blk-pci,drive=pocl,addr=15.0")


def prepare(guest, number, disk):
    """@disk: the guest's name of the one that devices() adds."""
    guest.must_run(f"mkdir -p {IN_GUEST} && tar xf /dev/{disk} -C {IN_GUEST} && modprobe -a virtio_net vmw_vsock_virtio_transport && "
                   f"ip addr add 10.0.{number}.2/24 dev eth0 && ip link set eth0 up")


def command(transport, number, program):
    """What guest @number runs to have @program use the server. PoCL's thread that sends a command then stores the time in
    it, also if the answer came first, and the command was on the stack of a function that has returned. That does not happen
    if on one CPU no thread of the program preempts another."""
    return (f"LD_LIBRARY_PATH={IN_GUEST} OCL_ICD_VENDORS={IN_GUEST} POCL_DEVICES=remote POCL_CACHE_DIR=/tmp/pocl "
            f"POCL_REMOTE0_PARAMETERS={TRANSPORTS[transport](number)}/0 {IN_GUEST}/chrt -f 1 {IN_GUEST}/{program}")
