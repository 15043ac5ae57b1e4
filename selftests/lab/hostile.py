# SPDX-License-Identifier: GPL-2.0-only
"""The hostile guest (selftests/guest/hostile): starts it, has it attack, and measures what the attacks cost the host."""

import glob
import json
import os
import re

from hostlib import GUEST, Guest, GuestLost, read, require, run

BUSY = ["busy_ns_rcs", "busy_ns_bcs", "busy_ns_vcs", "busy_ns_vecs"]
REPORT = "/tmp/hostile.json"  # in the guest
# On with QEMU's defaults, and seen by the CPU in place of a display adapter's memory.
SYSTEM_MANAGEMENT = ("--qemu-args", "-machine", "smm=on", "-device", "VGA,romfile=")


def can_measure():
    """Not on a kernel without CONFIG_SCHED_INFO."""
    return os.path.exists("/proc/self/schedstat")


def cpu_ns(path):
    """CPU time of the thread at /proc/..., 0 when it is gone."""
    try:
        return int(read(f"{path}/schedstat").split()[0])
    except FileNotFoundError:
        return 0


def host_threads():
    """The software pGPU's engines, which also prepare workloads, and the kernel's workers, which complete them, and more."""
    for path in glob.glob("/proc/[0-9]*"):
        try:
            if read(f"{path}/comm").startswith(("ghyvi/", "kworker/u")):
                yield path
        except OSError:
            pass


class Attacker(Guest):
    """A guest without i915 on a vGPU whose violations do not put it into failsafe state.

    @second: a second vGPU of the same guest, which pins the memory that the attacks of the first one
    remove."""

    def __init__(self, name, vgpu, second=None, mem=384):
        vgpus = [vgpu, second] if second else [vgpu]
        for each in vgpus:
            each.set("containment/points_max", 0)
        self.vgpu = vgpu
        self.options = "--second-vgpu" if second else ""
        super().__init__(name, *vgpus, mem=mem, smp=2, extra=[*SYSTEM_MANAGEMENT])
        cpus = run(GUEST, "monitor", name, "info cpus")[1]
        self.vcpus = {int(thread) for thread in re.findall(r"thread_id=(\d+)", cpus)}
        require(len(self.vcpus) == 2, f"vCPU threads: {cpus}")

    def classes(self):
        return [line.split()[0] for line in self.must_run("hostile --list").splitlines()]

    def attack(self, trials, seed, chosen=None, timeout=280):
        """Returns the program's summary; a trial with an effect, or a vGPU that is not usable afterwards, is a Problem."""
        only = f"--class {chosen}" if chosen else ""
        only += f" {self.options}"
        status, out = self.run(f"hostile --trials {trials} --seed {seed} {only} --json {REPORT} && cat {REPORT}", timeout)
        require(status == 0, f"hostile --trials {trials} --seed {seed} {only}: status {status}\n{out.strip()[-3000:]}")
        found = re.search(r"^\{.*^\]\}$", out, re.M | re.S)
        require(found, f"no summary: {out.strip()[-1500:]}")
        if self.options:
            rounds = re.search(r"^# second vGPU: (\d+) rounds$", out, re.M)
            require(rounds and int(rounds.group(1)) > 0, "the second vGPU did nothing")
        return json.loads(found.group(0))["classes"]

    def cpu(self):
        """Nanoseconds of CPU: of the vCPUs, of QEMU's other threads, of the host's threads, and GPU time charged."""
        pid = self.pid()
        if not pid:
            raise GuestLost(f"guest {self.name} is gone")
        threads = {int(os.path.basename(path)): path for path in glob.glob(f"/proc/{pid}/task/*")}
        return {"vcpus": sum(cpu_ns(path) for thread, path in threads.items() if thread in self.vcpus),
                "qemu": sum(cpu_ns(path) for thread, path in threads.items() if thread not in self.vcpus),
                "host": sum(cpu_ns(path) for path in host_threads()),
                "gpu": sum(self.vgpu.stat(name) for name in BUSY)}

    def amplification(self, chosen, trials, seed):
        """What one class of attacks costs the host, with nobody else on the pGPU. All in seconds of CPU.

        guest: the vCPUs' threads, which the host's scheduler charges to the guest's process, exits included;
        gpu: on engines, charged to the vGPU as GPU time;
        other: everything else, which nobody is charged for; ratio: (guest + other) / guest."""
        before = self.cpu()
        self.attack(trials, seed, chosen)
        after = self.cpu()
        spent = {name: (after[name] - before[name]) / 1e9 for name in after}
        other = spent["qemu"] + max(0.0, spent["host"] - spent["gpu"])
        return {"name": chosen, "trials": trials, "guest_s": spent["vcpus"], "gpu_s": spent["gpu"], "other_s": other,
                "ratio": (spent["vcpus"] + other) / spent["vcpus"],
                "ratio_with_gpu": (spent["vcpus"] + other + spent["gpu"]) / spent["vcpus"]}


def add_up(totals, classes):
    """Summaries of several runs: counts are added, the slowest reset is the slowest."""
    for entry in classes:
        total = totals.setdefault(entry["name"], {"name": entry["name"], "trials": 0, "seconds": 0.0, "effects": 0,
                                                  "errors": 0, "timeouts": 0, "resets": 0, "slowest_reset_ms": 0.0})
        for name in ("trials", "seconds", "effects", "errors", "timeouts", "resets"):
            total[name] += entry[name]
        total["slowest_reset_ms"] = max(total["slowest_reset_ms"], entry["slowest_reset_ms"])
        total["trials_per_s"] = total["trials"] / total["seconds"] if total["seconds"] else 0
