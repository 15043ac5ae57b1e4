# SPDX-License-Identifier: GPL-2.0-only
"""Interrupts a test that makes no progress for a time limit.

Progress is a line of output or the start of a process. The time of a test as a whole is not
limited, because a busy machine makes tests slow. The limit is for seconds of patience.now(). Each
wait for one process has its own, shorter time-out."""

import os
import signal
import sys
import threading
import time

import patience

NOTE_EVERY_S = 60
LOOK_EVERY_S = 1
# A test that ignores the interrupt for so long is blocked in the kernel, and the whole run is
# aborted.
INTERRUPT_GRACE_S = 60


class Stuck(Exception):
    """The test made no progress."""


class Watchdog:
    def __init__(self, limit_s, say):
        self.limit_s = limit_s
        self.say = say
        self.name = None  # of the running test
        self.begun, self.last = time.monotonic(), patience.now()
        self.interrupted = False
        signal.signal(signal.SIGUSR1, self.raise_stuck)
        sys.addaudithook(self.on_audit)
        threading.Thread(target=self.watch, daemon=True).start()

    def on_audit(self, event, _):
        if event == "subprocess.Popen":
            self.progress()

    def progress(self):
        self.last = patience.now()

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
            still = patience.now() - self.last
            if still > self.limit_s + INTERRUPT_GRACE_S:
                print(f"# {self.name}: stuck and cannot be interrupted: the run is aborted",
                      flush=True)
                os._exit(1)
            if still > self.limit_s and not self.interrupted:
                self.interrupted = True
                signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            if now - max(self.begun, noted) > NOTE_EVERY_S:
                noted = now
                self.say(f"{self.name}: {now - self.begun:.0f} s, load {os.getloadavg()[0]:.1f}")
