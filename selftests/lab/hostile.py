# SPDX-License-Identifier: GPL-2.0-only
"""Runs attacks in the hostile guest (selftests/guest/hostile) and measures what they cost."""

import glob
import json
import os
import re

from hostlib import GUEST, KCSAN, SLOWNESS, Guest, GuestLost, read, require, run

BUSY = ["busy_ns_rcs", "busy_ns_bcs", "busy_ns_vcs", "busy_ns_vecs"]
REPORT = "/tmp/hostile.json"  # in the guest
# SMM is on by default in QEMU; SMRAM replaces the memory of a display adapter in the CPU's view.
SYSTEM_MANAGEMENT = ("--qemu-args", "-machine", "smm=on", "-device", "VGA,romfile=")


def can_measure():
    """CPU times need CONFIG_SCHED_INFO in the host's kernel, and KCSAN, which delays accesses, off."""
    return os.path.exists("/proc/self/schedstat") and not os.path.exists(KCSAN)


def cpu_ns(path):
    """CPU time of the thread at @path in /proc; 0 if the thread has exited."""
    try:
        return int(read(f"{path}/schedstat").split()[0])
    except FileNotFoundError:
        return 0


def host_threads():
    """Kernel threads that work for vGPUs.

    These are the engine threads of the software pGPU, which also prepare workloads, and the
    kernel's unbound workers. Workers complete workloads, but also run unrelated work."""
    for path in glob.glob("/proc/[0-9]*"):
        try:
            if read(f"{path}/comm").startswith(("ghyvi/", "kworker/u")):
                yield path
        except OSError:
            pass


class Attacker(Guest):
    """A guest without i915 on a vGPU whose violations do not put it into failsafe state.

    @second: a second vGPU of the same guest, which pins the memory that the attacks of the first
    one remove."""

    def __init__(self, name, vgpu, second=None, mem=384):
        vgpus = [vgpu, second] if second else [vgpu]
        for each in vgpus:
            each.set("containment/points_max", 0)
            each.set("policy/multicall", "on")
        self.vgpu = vgpu
        self.options = "--second-vgpu" if second else ""
        super().__init__(name, *vgpus, mem=mem, smp=2, extra=[*SYSTEM_MANAGEMENT])
        cpus = run(GUEST, "monitor", name, "info cpus")[1]
        self.vcpus = {int(thread) for thread in re.findall(r"thread_id=(\d+)", cpus)}
        require(len(self.vcpus) == 2, f"vCPU threads: {cpus}")

    def classes(self):
        return [line.split()[0] for line in self.must_run("hostile --list").splitlines()]

    def attack(self, trials, seed, chosen=None, timeout=280):
        """Runs trials and returns the program's summary.

        A trial with an effect, or a vGPU that is not usable afterwards, raises Problem."""
        only = f"--class {chosen}" if chosen else ""
        only += f" --slowness {SLOWNESS:.0f} {self.options}"
        status, out = self.run(f"hostile --trials {trials} --seed {seed} {only} --json {REPORT} && cat {REPORT}", timeout)
        require(status == 0, f"hostile --trials {trials} --seed {seed} {only}: status {status}\n{out.strip()[-3000:]}")
        found = re.search(r"^\{.*^\]\}$", out, re.M | re.S)
        require(found, f"no summary: {out.strip()[-1500:]}")
        if self.options:
            rounds = re.search(r"^# second vGPU: (\d+) rounds$", out, re.M)
            require(rounds and int(rounds.group(1)) > 0, "the second vGPU did nothing")
        return json.loads(found.group(0))["classes"]

    def cpu(self):
        """CPU time of the vCPUs, other QEMU threads and kernel threads, and GPU time, all in ns."""
        pid = self.pid()
        if not pid:
            raise GuestLost(f"guest {self.name} has exited")
        threads = {int(os.path.basename(path)): path for path in glob.glob(f"/proc/{pid}/task/*")}
        return {"vcpus": sum(cpu_ns(path) for thread, path in threads.items() if thread in self.vcpus),
                "qemu": sum(cpu_ns(path) for thread, path in threads.items() if thread not in self.vcpus),
                "host": sum(cpu_ns(path) for path in host_threads()),
                "gpu": sum(self.vgpu.stat(name) for name in BUSY)}

    def amplification(self, chosen, trials, seed):
        """Cost of one class of attacks for the host, in seconds of CPU. The pGPU has no other user.

        guest: vCPU threads, including exits; the host's scheduler charges this to QEMU;
        gpu: engine time, charged to the vGPU as GPU time;
        other: the rest, which is not charged to any process or vGPU;
        ratio: (guest + other) / guest."""
        before = self.cpu()
        self.attack(trials, seed, chosen)
        after = self.cpu()
        spent = {name: (after[name] - before[name]) / 1e9 for name in after}
        other = spent["qemu"] + max(0.0, spent["host"] - spent["gpu"])
        return {"name": chosen, "trials": trials, "guest_s": spent["vcpus"], "gpu_s": spent["gpu"], "other_s": other,
                "ratio": (spent["vcpus"] + other) / spent["vcpus"],
                "ratio_with_gpu": (spent["vcpus"] + other + spent["gpu"]) / spent["vcpus"]}


def add_up(totals, classes):
    """Adds the summaries of one run to @totals; slowest_reset_ms becomes the maximum."""
    for entry in classes:
        total = totals.setdefault(entry["name"], {"name": entry["name"], "trials": 0, "seconds": 0.0, "effects": 0,
                                                  "errors": 0, "timeouts": 0, "resets": 0, "slowest_reset_ms": 0.0})
        for name in ("trials", "seconds", "effects", "errors", "timeouts", "resets"):
            total[name] += entry[name]
        total["slowest_reset_ms"] = max(total["slowest_reset_ms"], entry["slowest_reset_ms"])
        total["trials_per_s"] = total["trials"] / total["seconds"] if total["seconds"] else 0
