# SPDX-License-Identifier: GPL-2.0-only
"""A list of tests, run in order, with KTAP on standard output."""

import sys
import time
import traceback

from watchdog import Watchdog

REPEATS = 2
# The longest wait for one process in a test is 300 s.
NO_PROGRESS_S = 400

tests = []  # in the order of definition
watchdog = None  # while run() runs


class Skip(Exception):
    """The test cannot be made here; the text says why."""


def test(function):
    tests.append(function)
    return function


def long_test(function):
    """Takes minutes: made only when it is asked for by its whole name."""
    function.long = True
    return test(function)


def note(text):
    """For the reader; the test got no further by it."""
    for line in str(text).splitlines() or [""]:
        print(f"# {line}", flush=True)


def progress():
    if watchdog:
        watchdog.progress()


def say(text):
    note(text)
    progress()


def chosen(words):
    """Tests whose name contains one of the words; all without words."""
    def wanted(function):
        if getattr(function, "long", False):
            return function.__name__ in words
        return not words or any(word in function.__name__ for word in words)

    return [function for function in tests if wanted(function)]


def attempt(function, before, after, again):
    """One test. Returns (why it failed or None, why it was skipped or None, whether another try makes sense)."""
    reason = skip = None
    repeat = False
    for step in (before, function, after):
        try:
            step()
        except Skip as why:
            skip = str(why)
        except Exception as error:  # a test must not take the others with it
            repeat = repeat or isinstance(error, again)
            reason = reason or f"{type(error).__name__}: {error}"
            if not isinstance(error, (OSError, ValueError, *again)) and type(error).__name__ != "Problem":
                reason += "\n" + traceback.format_exc()
            if step is before:
                break
    return reason, skip, repeat


def run(functions, before, after, end, again=(), clean_up=None, slowness=1):
    """before() and after() surround each test; after() may raise too; end() comes last, as a test of its own. A test that
    ends with an exception of one of the classes `again` is made again after clean_up(), REPEATS times at most. A test that
    makes no progress for NO_PROGRESS_S times `slowness` fails; the sum of all has no limit."""
    global watchdog
    passed = failed = skipped = 0
    repeated = []
    started = time.monotonic()
    functions = [*functions, end]
    watchdog = Watchdog(NO_PROGRESS_S * slowness, note)
    print(f"KTAP version 1\n1..{len(functions)}", flush=True)
    for number, function in enumerate(functions, 1):
        name = function.__name__
        begun = time.monotonic()
        say(f"{name} ...")
        watchdog.start(name)
        reason, skip, repeat = attempt(function, before, after, again)
        for _ in range(REPEATS):
            if not (reason and repeat):
                break
            repeated.append(name)
            say(f"MADE AGAIN: {name}: {reason}")
            watchdog.stop()
            clean_up()
            watchdog.start(name)
            reason, skip, repeat = attempt(function, before, after, again)
        watchdog.stop()
        seconds = f"{time.monotonic() - begun:.1f} s"
        if reason:
            failed += 1
            say(reason)
            print(f"not ok {number} {name} # {seconds}", flush=True)
        elif skip:
            skipped += 1
            print(f"ok {number} {name} # SKIP {skip}", flush=True)
        else:
            passed += 1
            print(f"ok {number} {name} # {seconds}", flush=True)
    say(f"{time.monotonic() - started:.0f} s, {skipped} skipped, {len(repeated)} made again {' '.join(repeated)}")
    print(f"# Totals: pass:{passed} fail:{failed} skip:{skipped}")
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)
