# SPDX-License-Identifier: GPL-2.0-only
"""ghyvi-eud as packages install it: started by udev and systemd, confined by its unit, for a guest under libvirt."""

import contextlib
import os
import pwd
import re
import shutil
import signal

import fixture
import hostlib
import services
import test_libvirt as libvirt
from hostlib import eventually, require
from ktap import Skip, say, test
from test_compute import RESULT, TIMEOUT_S, workers

CAPABILITIES = 1 << 5 | 1 << 6 | 1 << 7  # CAP_KILL, CAP_SETGID, CAP_SETUID
SCOPE = "0::/machine.slice/machine-qemu"


class Service:
    """The first process, as systemd knows it now."""

    def __init__(self):
        self.pid = int(services.systemctl("show", "-p", "MainPID", "--value", services.EUD))


@contextlib.contextmanager
def domain():
    """A guest of libvirt, which has systemd-machined make its scope."""
    libvirt.virsh("nodedev-define", f"{libvirt.GLUE}/node-device.xml")
    libvirt.virsh("define", libvirt.domain_xml("pc"))
    try:
        guest = libvirt.start_domain()
        guest.load_driver()
        guest.be_patient()
        yield guest
        guest.require_no_trouble()
    finally:
        libvirt.virsh_try("destroy", libvirt.DOMAIN)
        libvirt.virsh("undefine", libvirt.DOMAIN)
        libvirt.virsh_try("nodedev-destroy", libvirt.node_device(libvirt.FIRST))
        libvirt.virsh("nodedev-undefine", libvirt.node_device(libvirt.FIRST))


def status(pid):
    lines = hostlib.read(f"/proc/{pid}/status").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def mount_options(pid, place):
    """Of the topmost mount there, as the process sees it."""
    mounts = map(str.split, hostlib.read(f"/proc/{pid}/mountinfo").splitlines())
    return [fields[5] for fields in mounts if fields[4] == place][-1].split(",")


def require_confined(group):
    """The first process is confined by the unit; that of the vGPU is in the VM's group, another user, and filtered.

    Returns both."""
    service = Service()
    found = workers(service)
    require(len(found) == 1, f"processes of vGPUs: {found}")
    worker = found[0]
    for pid, wanted in ((service.pid, f"0::/system.slice/{services.EUD}"), (worker, group)):
        facts = status(pid)
        require(hostlib.read(f"/proc/{pid}/cgroup") == wanted, f"{pid}: {hostlib.read(f'/proc/{pid}/cgroup')}, not {wanted}")
        require(int(facts["CapBnd"], 16) == CAPABILITIES, f"{pid}: capabilities {facts['CapBnd']}")
        require(facts["NoNewPrivs"] == "1" and facts["Seccomp"] == "2", f"{pid}: {facts}")
        require(os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net"), f"{pid}: a network")
        require("ro" in mount_options(pid, "/") and "ro" in mount_options(pid, "/sys"), f"{pid}: / or /sys can be written")
    facts = status(worker)
    user = pwd.getpwnam("ghyvi-eud")
    require(facts["Uid"].split() == [str(user.pw_uid)] * 4 and facts["Gid"].split() == [str(user.pw_gid)] * 4, f"user {facts['Uid']}")
    require(int(facts["CapEff"], 16) == int(facts["CapPrm"], 16) == 0, f"capabilities {facts['CapEff']}")
    require(int(facts["Seccomp_filters"]) > int(status(service.pid)["Seccomp_filters"]), "no filter of its own")
    say(f"{user.pw_name}, {facts['Seccomp_filters']} filters, in {group}")
    return service.pid, worker


@test
def packaged_service_computes_for_a_guest_of_libvirt():
    """Also after the first process was killed, and it ends when the service is stopped."""
    if not shutil.which("libvirtd"):
        raise Skip("no libvirtd: tools/setup")
    fixture.drop_all()
    services.stop()
    with contextlib.ExitStack() as stack:
        stack.callback(services.stop)
        stack.enter_context(services.execution_units())
        stack.enter_context(services.bus())
        libvirt.setup()
        say("libvirt runs")
        with domain() as guest:
            group = hostlib.read(f"/proc/{guest.pid()}/cgroup")
            require(re.match(SCOPE, group), f"QEMU is in {group}")
            say("the guest runs")
            guest.must_run(RESULT, TIMEOUT_S)
            first, worker = require_confined(group)
            os.kill(first, signal.SIGKILL)
            eventually(lambda: not os.path.exists(f"/proc/{worker}"), "the end of its process for the vGPU")
            eventually(lambda: Service().pid not in (0, first), "a new first process", 30)
            eventually(lambda: not guest.run(RESULT, TIMEOUT_S)[0], "a right answer after it", TIMEOUT_S)
            _, worker = require_confined(group)
            services.systemctl("stop", services.EUD)
            eventually(lambda: not os.path.exists(f"/proc/{worker}"), "the end of the last process")
