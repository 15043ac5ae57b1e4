# SPDX-License-Identifier: GPL-2.0-only
"""Code shared by the lab benchmarks. One part runs in the host VM and measures; the other part runs
outside, starts the host VM and reads the result."""

import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time

TREE = os.environ.get("GHYVI_TREE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# At the end: tests of other folders have the names of some of the lab's.
sys.path.append(f"{TREE}/selftests/lab")
import hostlib  # noqa: E402

HOST_LOST = 125  # status of tools/lab/run
TRACING = "/sys/kernel/tracing"

started = time.monotonic()


# ---- in the host VM ----

def say(text):
    print(f"bench: [{time.monotonic() - started:6.1f} s] {text}", flush=True)


def machine():
    with open("/proc/cpuinfo") as file:
        cpu = re.search(r"model name\s*:\s*(.*)", file.read()).group(1)
    return {"cpu": cpu, "accel": os.environ.get("GHYVI_ACCEL"), "kernel": os.uname().release}


def exits_now():
    """KVM's statistics, summed over all VMs of this host."""
    total = {}
    for path in glob.glob("/sys/kernel/debug/kvm/*"):
        if os.path.isfile(path):
            total[os.path.basename(path)] = int(hostlib.read(path))
    return total


def counters_of_vm(pid, names):
    """KVM's statistics of one VM: the directory is named after its process."""
    return {name: sum(int(hostlib.read(path)) for path in glob.glob(f"/sys/kernel/debug/kvm/{pid}-*/{name}")) for name in names}


def difference(after, before, names):
    return {name: after[name] - before[name] for name in names if name in after}


def results(output):
    """What a program of tools/compare printed: an object for each operation and size."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def faster(found, new):
    """Of two rounds of results: other work on this machine can only make a kernel slower."""
    return [min(pair, key=lambda one: one["us"]) for pair in zip(found or new, new)]


class Case:
    """A program of tools/compare that has checked its operation and waits to be told to begin."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.out = ""
        while "ready\n" not in self.out:
            line = self.process.stdout.readline()
            hostlib.require(line, f"{command}: {self.out.strip()[-1000:]}")
            self.out += line

    def begin(self):
        self.process.stdin.write("begin\n")
        self.process.stdin.close()

    def end(self):
        self.out += self.process.stdout.read()
        status = self.process.wait()
        hostlib.require(status == 0, f"{self.process.args}: status {status}: {self.out.strip()[-1000:]}")
        return results(self.out)


def exit_names():
    """KVM's names of the exit reasons of this host's CPUs, from the format of the event. It lists
    those of VMX first."""
    text = hostlib.read(f"{TRACING}/events/kvm/kvm_exit/format")
    lists = re.findall(r"__print_symbolic\([^,]*,(.*?)\}\)", text, re.S)[:2]
    with open("/proc/cpuinfo") as file:
        of_cpu = lists[0 if re.search(r"^flags.*\bvmx\b", file.read(), re.M) else -1]
    return {int(number, 0): name for number, name in re.findall(r"\{\s*(\w+),\s*\"(\w+)\"", of_cpu)}


def start_histogram(event, key):
    """Counts @event by its field @key, in the kernel."""
    error = hostlib.write(f"{TRACING}/events/{event}/trigger", f"hist:keys={key}")
    hostlib.require(not error, f"histogram of {event}: {error}")


def stop_histogram(event, key):
    hostlib.write(f"{TRACING}/events/{event}/trigger", f"!hist:keys={key}")


def histogram_rows(text):
    """The values of the keys, as text, and the count, for each entry of the text of a histogram."""
    dropped = re.search(r"^\s*Dropped: (\d+)", text, re.M)
    hostlib.require(not dropped or not int(dropped.group(1)), "a histogram had no room")
    return [([part.split(":", 1)[1].strip() for part in keys.split(", ")], int(count))
            for keys, count in re.findall(r"^\{ (.*?) \} hitcount:\s*(\d+)", text, re.M)]


def histogram_of(text):
    """Counts by the number that is the key, from the text of a histogram."""
    return {int(key): count for (key,), count in histogram_rows(text)}


def histogram_now(event):
    return histogram_of(hostlib.read(f"{TRACING}/events/{event}/hist"))


def increase(after, before):
    return {key: count - before.get(key, 0) for key, count in after.items() if count != before.get(key, 0)}


def save(result):
    with open(f"{hostlib.OUT}/raw.json.new", "w") as file:
        json.dump(result, file)
    os.replace(f"{hostlib.OUT}/raw.json.new", f"{hostlib.OUT}/raw.json")


def note_host_log(result):
    defects = hostlib.log_defects(hostlib.take_host_log())
    if defects:
        result["problems"].append(f"host kernel log: {defects[:1000]}")


# ---- outside of the host VM ----

def in_host(name, timeout, lab_options, command, boot=("tools/lab/run",)):
    """Runs @command in a new host VM, called @name unless $GHYVI_LAB_NAME is set, which the program
    @boot starts. Returns the result that it saved, or None, and the status."""
    name = os.environ.get("GHYVI_LAB_NAME") or name
    raw_path = f"{TREE}/build/lab/{name}/raw.json"
    if os.path.exists(raw_path):
        os.unlink(raw_path)
    status = subprocess.run([*boot, "--name", name, "--timeout", str(timeout), *lab_options, "--", *command],
                            cwd=TREE).returncode
    if not os.path.exists(raw_path):
        return None, status
    with open(raw_path) as file:
        return json.load(file), status


def over_rounds(values):
    return {"median": round(statistics.median(values), 4), "least": round(min(values), 4), "most": round(max(values), 4),
            "rounds": [round(value, 4) for value in values]}


def write_report(name, report):
    with open(f"{TREE}/build/{name}.json", "w") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
