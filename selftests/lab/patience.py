# SPDX-License-Identifier: GPL-2.0-only
"""A clock for time limits of tests: now() counts seconds as long as they would be on an idle machine.

A thread measures every few seconds how long a small, fixed amount of work takes. While it takes five
times as long as at best, the clock runs at a fifth of its speed. This finds other work on this
machine and, in the host VM, other work beside the emulator: that takes CPUs from it unseen.

communicate() and run() know more: they count no more than the CPU time of the program and its
children, as long as one of these could run."""

import collections
import glob
import hashlib
import os
import subprocess
import threading
import time

EVERY_S = 5
LOOK_S = 5
AVERAGED = 20  # measurements; one is either in a timeslice of its own or waits for it
SLOWEST = 10  # a limit becomes at most so many times as long
WORK = bytes(1 << 19)  # large: hashlib lets other threads run meanwhile


class Clock:
    def __init__(self):
        self.lock = threading.Lock()  # protects the members below
        self.best = None
        self.slowness = collections.deque(maxlen=AVERAGED)
        self.counted = 0.0
        self.last = time.monotonic()

    def run(self):
        for _ in range(AVERAGED):
            self.measure()
        while True:
            time.sleep(EVERY_S)
            self.measure()

    def measure(self):
        begun = time.perf_counter()
        hashlib.sha256(WORK)
        self.add(time.perf_counter() - begun)

    def add(self, took):
        with self.lock:
            self.count()
            self.best = min(took, self.best or took)
            self.slowness.append(took)

    def slower(self):
        """How many times as long as at best the work takes."""
        return min(sum(self.slowness) / len(self.slowness) / self.best, SLOWEST) if self.slowness else 1

    def count(self):
        now = time.monotonic()
        self.counted += (now - self.last) / self.slower()
        self.last = now

    def now(self):
        with self.lock:
            self.count()
            return self.counted


clock = None


def started():
    global clock
    if not clock:
        clock = Clock()
        threading.Thread(target=clock.run, daemon=True).start()
    return clock


def now():
    return started().now()


def stretched(limit_s):
    """A limit for a program that has another clock."""
    with started().lock:
        return limit_s * clock.slower()


def processes():
    """PID -> (parent, state, seconds of CPU time with its waited-for children)"""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        found[int(path.split("/")[2])] = int(fields[1]), fields[0], sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return found


def tree_of(pid):
    """(could a process of the tree run, its CPU time)"""
    known = processes()
    tree, left = set(), [pid] if pid in known else []
    while left:
        tree.add(left.pop())
        left += [child for child, (parent, *_) in known.items() if parent in tree and child not in tree and child not in left]
    return any(known[each][1] in "RDTt" for each in tree), sum(known[each][2] for each in tree)


def communicate(process, limit_s, text=None):
    """As process.communicate(), which raises TimeoutExpired after so many counted seconds."""
    counted, last, used = 0.0, now(), 0.0
    while True:
        try:
            return process.communicate(text, timeout=LOOK_S)
        except subprocess.TimeoutExpired as error:
            text = None
            (can_run, cpu), at = tree_of(process.pid), now()
            counted += min(at - last, max(0, cpu - used)) if can_run else at - last
            last, used = at, cpu
            if counted > limit_s:
                raise subprocess.TimeoutExpired(process.args, limit_s, error.output, error.stderr) from None


def run(command, limit_s, input=None, capture_output=False, **more):
    """As subprocess.run()."""
    if input is not None:
        more["stdin"] = subprocess.PIPE
    if capture_output:
        more["stdout"] = more["stderr"] = subprocess.PIPE
    with subprocess.Popen(command, **more) as process:
        try:
            out, err = communicate(process, limit_s, input)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
