# SPDX-License-Identifier: GPL-2.0-only
"""Bounds the time in which a test makes no progress. A busy machine makes tests slow, and slow tests pass; a test that
neither starts a command nor prints a line for the limit is stuck.

Progress is a line of output or the start of a process. Each wait for one process has a time-out of its own, below the limit."""

import os
import signal
import sys
import threading
import time

NOTE_EVERY_S = 60
LOOK_EVERY_S = 1
INTERRUPT_GRACE_S = 60  # afterwards the test waits in the kernel, and only the end of the run is left


class Stuck(Exception):
    """The test made no progress."""


class Watchdog:
    def __init__(self, limit_s, say):
        self.limit_s = limit_s
        self.say = say
        self.name = None  # of the test that runs
        self.begun = self.last = time.monotonic()
        self.interrupted = False
        signal.signal(signal.SIGUSR1, self.raise_stuck)
        sys.addaudithook(self.on_audit)
        threading.Thread(target=self.watch, daemon=True).start()

    def on_audit(self, event, _):
        if event == "subprocess.Popen":
            self.progress()

    def progress(self):
        self.last = time.monotonic()

    def start(self, name):
        self.begun = time.monotonic()
        self.interrupted = False
        self.progress()
        self.name = name

    def stop(self):
        self.name = None

    def raise_stuck(self, *_):
        if self.name:
            self.progress()
            raise Stuck(f"no progress for {self.limit_s:g} s")

    def watch(self):
        noted = 0.0
        while True:
            time.sleep(LOOK_EVERY_S)
            if not self.name:
                continue
            now = time.monotonic()
            still = now - self.last
            if still > self.limit_s + INTERRUPT_GRACE_S:
                print(f"# {self.name}: stuck, and cannot be interrupted: the run ends here", flush=True)
                os._exit(1)
            if still > self.limit_s and not self.interrupted:
                self.interrupted = True
                signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            if now - max(self.begun, noted) > NOTE_EVERY_S:
                noted = now
                self.say(f"{self.name}: {now - self.begun:.0f} s, load {os.getloadavg()[0]:.1f}")
