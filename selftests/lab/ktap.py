# SPDX-License-Identifier: GPL-2.0-only
"""Runs a list of tests in order and writes KTAP to standard output."""

import sys
import time
import traceback

from watchdog import Watchdog

REPEATS = 2
# Longer than the longest wait of a test for one process, which is 300 s.
NO_PROGRESS_S = 400

tests = []  # in the order of definition
watchdog = None  # while run() runs


class Skip(Exception):
    """The test cannot run here; the text is the reason."""


def test(function):
    tests.append(function)
    return function


def long_test(function):
    """A test that takes minutes. It runs only if its whole name, or --long, is given."""
    function.long = True
    return test(function)


def note(text):
    """Prints a diagnostic line that does not count as progress of the test."""
    for line in str(text).splitlines() or [""]:
        print(f"# {line}", flush=True)


def progress():
    if watchdog:
        watchdog.progress()


def say(text):
    note(text)
    progress()


def chosen(words):
    """Tests whose name contains one of the words; all tests if there are no words. A word test_FILE chooses the tests of
    that file, -test_FILE leaves them out. --long adds the long tests."""
    left_out = [word[1:] for word in words if word.startswith("-test_")]
    words = [word for word in words if word[1:] not in left_out]

    def wanted(function):
        if function.__module__ in left_out:
            return False
        if getattr(function, "long", False):
            return "--long" in words or function.__name__ in words
        return not words or any(word in function.__name__ or word == function.__module__ for word in words)

    return [function for function in tests if wanted(function)]


def attempt(function, before, after, again):
    """Runs one test once.

    Returns (reason of the failure or None, reason of the skip or None, whether to repeat it). If before() skips or fails,
    the test does not run."""
    reason = skip = None
    repeat = False
    for step in (before, function, after):
        try:
            step()
        except Skip as why:
            skip = str(why)
            if step is before:
                break
        except Exception as error:  # other tests must still run
            repeat = repeat or isinstance(error, again)
            reason = reason or f"{type(error).__name__}: {error}"
            if not isinstance(error, (OSError, ValueError, *again)) and type(error).__name__ != "Problem":
                reason += "\n" + traceback.format_exc()
            if step is before:
                break
    return reason, skip, repeat


def run(functions, before, after, end, again=(), clean_up=None, slowness=1):
    """Runs the tests and exits with status 1 if one failed.

    before() and after() run around each test; after() may raise, too. end() runs last, as a
    separate test. A test that raises one of the classes @again is repeated after clean_up(), at
    most REPEATS times. A test without progress for NO_PROGRESS_S times @slowness fails; the whole
    run has no time limit."""
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
            say(f"REPEATED: {name}: {reason}")
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
    say(f"{time.monotonic() - started:.0f} s, {skipped} skipped, "
        f"{len(repeated)} repeated {' '.join(repeated)}")
    print(f"# Totals: pass:{passed} fail:{failed} skip:{skipped}")
    print(closing(passed, failed, skipped), flush=True)
    sys.exit(1 if failed else 0)


def closing(passed, failed, skipped):
    """The last line of each program of tests."""
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def skip_all(reason):
    """Ends a program whose tests cannot run here."""
    print(f"KTAP version 1\n1..0 # SKIP {reason}\n{closing(0, 0, 1)}", flush=True)
    sys.exit(0)
