# SPDX-License-Identifier: GPL-2.0-only
"""Runs ghyvictl on a fake tree, which umockdev's preloaded library shows to it as /sys."""

import atexit
import contextlib
import json
import os
import subprocess
import threading

import patience
from tree import Tree

SANITIZER_STATUS = 99
PRELOAD = "libumockdev-preload.so.0"
DONE, ERROR, USAGE, NOT_FOUND, BUSY = range(5)

sanitizer_reports = []
where = {}


class Problem(Exception):
    """A check failed."""


def require(condition, text):
    if not condition:
        raise Problem(text)


def start(build):
    where["build"] = build
    where["testbed"] = Testbed()


class Testbed:
    """The process `testbed`, which has one bed at a time and removes it when it exits."""

    def __init__(self):
        self.lock = threading.Lock()
        self.process = subprocess.Popen([f"{os.path.dirname(os.path.abspath(__file__))}/testbed"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, "LD_PRELOAD": PRELOAD})
        atexit.register(self.end)

    def ask(self, line):
        with self.lock:
            print(line, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline().strip()
        require(answer, f"the test bed ended at '{line}'; is umockdev installed (tools/setup)?")
        return answer

    def end(self):
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def tree(**options):
    bed = where["testbed"]
    yield Tree(bed.ask("new"), lambda action, device: bed.ask(f"{action} {device}"), **options)


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return f"status {self.status}\nout: {self.out[-800:]}\nerr: {self.err[-800:]}"

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise Problem(f"no JSON ({error}): {self}") from error


def environment(made, **more):
    env = {"PATH": "/usr/bin:/bin", "TZ": "UTC", "TERM": "xterm", "LD_PRELOAD": PRELOAD, "UMOCKDEV_DIR": made.top, "GHYVI_MDEVCTL": "",
           "GHYVI_CONFIG": f"{made.top}/saved",
           "ASAN_OPTIONS": f"exitcode={SANITIZER_STATUS}",
           "UBSAN_OPTIONS": f"halt_on_error=1:print_stacktrace=1:exitcode={SANITIZER_STATUS}"}
    env.update(more)
    return env


def ctl(made, *arguments, expect=None, timeout=20, user=None, program="ghyvictl", **env):
    """Runs ghyvictl. If @expect is given, the exit status must match. A time-out is status 124."""
    command = [f"{where['build']}/{program}", *arguments]
    try:
        done = patience.run(command, timeout, env=environment(made, **env), cwd=made.top, stdin=subprocess.DEVNULL,
                            capture_output=True, user=user)
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        status, out, err = 124, error.stdout or b"", error.stderr or b""
    result = Result(status, out.decode(errors="backslashreplace"), err.decode(errors="backslashreplace"))
    if status == SANITIZER_STATUS or "Sanitizer" in result.err or "runtime error" in result.err:
        sanitizer_reports.append(f"{arguments}: {result.err[:2000]}")
        raise Problem(f"sanitizer report for {arguments}: {result.err[:2000]}")
    require(expect is None or status == expect, f"{' '.join(map(str, arguments))}: not status {expect}: {result}")
    return result
