# SPDX-License-Identifier: GPL-2.0-only
"""Code shared by the lab benchmarks. One part runs in the host VM and measures; the other part runs
outside, starts the host VM and reads the result."""

import contextlib
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
KTHREADD = "2"
CPU = "cpu_us"  # in results: of the host, for one run
CPU_ONLY = "a loop on its CPU"  # what a neighbour does that has no use for the GPU
WHAT = {"us": "", CPU: ", CPU"}

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
    return [{**min(pair, key=lambda one: one["us"]), **{key: min(one[key] for one in pair) for key in pair[0] if key == CPU}}
            for pair in zip(found or new, new)]


def cpu_us(group):
    """CPU time of a control group's processes, and of all threads of the kernel, ghyvi's among them, in us."""
    total = int(re.search(r"usage_usec (\d+)", hostlib.read(f"{group}/cpu.stat")).group(1))
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if hostlib.read(path).rpartition(")")[2].split()[1] == KTHREADD:
                total += int(hostlib.read(f"{os.path.dirname(path)}/schedstat").split()[0]) // 1000
    return total


class Case:
    """A program of tools/compare that has checked its operation and waits to be told to begin."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.out, self.spent = "", []
        hostlib.require(self.says("ready"), f"{command}: {self.out.strip()[-1000:]}")

    def says(self, word):
        """Waits for a line; false if the program has ended."""
        for line in self.process.stdout:
            self.out += line
            if line == f"{word}\n":
                return True
        return False

    def go_on(self):
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()

    def step(self, group):
        """With --step, the next measurement; false after the last one."""
        before = cpu_us(group)
        self.go_on()
        if not self.says("done"):
            return False
        self.spent.append(cpu_us(group) - before)
        self.go_on()
        return self.says("ready")

    def end_of_steps(self):
        """The results. Each has the CPU time of the group for one run, in us."""
        self.process.stdin.close()
        return [{**one, CPU: round(us / one["runs"], 1)} for one, us in zip(self.end(), self.spent)]

    def begin(self):
        self.process.stdin.write("begin\n")
        self.process.stdin.close()

    def end(self):
        self.out += self.process.stdout.read()
        status = self.process.wait()
        hostlib.require(status == 0, f"{self.process.args}: status {status}: {self.out.strip()[-1000:]}")
        return results(self.out)


def steps_in_turn(*cases):
    """The results of each (case, control group). One measures after the other, each time: the speed of this machine drifts."""
    while all([case.step(group) for case, group in cases]):
        pass
    return [case.end_of_steps() for case, _ in cases]


def case_in_guest(guest, command, seconds):
    """A program with --step, and its control group."""
    group = hostlib.put_into_group(guest.name, guest.pid())
    return Case([hostlib.GUEST, "run", guest.name, "--stdin", "--timeout", str(seconds), "--", f"{command} --step"]), group


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


def relative(found, base, what):
    """Kernel and size -> level, and time in @found relative to that in @base."""
    least = {(one["kernel"], one["size"]): one[what] for one in base if what in one}
    return {(one["kernel"], one["size"]): (one["level"], one[what] / least[one["kernel"], one["size"]])
            for one in found if (one["kernel"], one["size"]) in least}


def ratios(systems, pairs):
    """For each pair of systems, by level and of all: geometric mean, best and worst ratio of times."""
    result = {}
    for of, to, what in pairs:
        rows = list(relative(systems.get(of, []), systems.get(to, []), what).values())
        levels = {"all": rows, **{str(level): [row for row in rows if row[0] == level] for level in sorted({level for level, _ in rows})}}
        if rows:
            result[f"{of}/{to}{WHAT[what]}"] = {name: ratio_of([value for _, value in some]) for name, some in levels.items()}
    return result


def ratio_of(values):
    return {"mean": round(statistics.geometric_mean(values), 3), "best": round(min(values), 3), "worst": round(max(values), 3)}


def show_ratios(found):
    for pair, levels in found.items():
        for level, one in levels.items():
            print(f"{pair}, {'all' if level == 'all' else f'level {level}'}: mean {one['mean']}, best {one['best']}, worst {one['worst']}")


def write_report(name, report):
    with open(f"{TREE}/build/{name}.json", "w") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
