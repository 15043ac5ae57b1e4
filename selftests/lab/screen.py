# SPDX-License-Identifier: GPL-2.0-only
"""Runs a program on a pseudo-terminal and reads its screen."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

ROWS, COLUMNS = 24, 200


class Screen:
    def __init__(self, *command, env, columns=COLUMNS, **options):
        self.master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        # On a vt100, ncurses does not abbreviate repeated characters such as "0000".
        self.process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal,
                                        env={**env, "TERM": "vt100"}, **options)
        os.close(terminal)

    def show(self, words, seconds):
        """Waits at most @seconds until the program has written @words."""
        seen, until = "", time.monotonic() + seconds
        while words not in seen:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                raise TimeoutError(f"no '{words}' in {seconds} s: {seen}")
            seen += os.read(self.master, 65536).decode(errors="replace")

    def press(self, key):
        os.write(self.master, key.encode())

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
