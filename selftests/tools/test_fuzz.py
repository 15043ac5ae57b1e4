# SPDX-License-Identifier: GPL-2.0-only
"""ghyvictl with random arguments and random sysfs content must exit with one of its statuses."""

import os
import random

from ktap import say, test
from toolslib import ctl, require, tree
from tree import UUIDS

ROUNDS = int(os.environ.get("FUZZ", "250"))
COMMANDS = ("list", "types", "create", "define", "show", "set", "stat", "top", "dump", "reset", "remove", "doctor", "export",
            "record", "report", "migrate-check", "silicon-report", "help", "lis", "ls", "start", "stop", "rm", "event")
WORDS = (*UUIDS, UUIDS[0].upper(), UUIDS[0][:-1], "--json", "-j", "--no-mdevctl",
         "-s", "-c", "-b", "-o", "out", "-p", "-u", "-m", "-f", "-a", "-w", "-k", "-r", "--force", "--batch", "--batch=1",
         "--seconds=0.001", "-c1", "-s0.001", "0", "-1", "1e400", "nan", "99999999999999999999", "", "-", "--", "---",
         "=", "=x", "a=", "policy/mode=", "policy/mode=strict", "policy/=1", "/=1", "policy//mode=1", "../../x=1",
         "policy/../remove=1", "gen9_4", "ghyvi-gen9_4", "-gen9_4", "ghyvi-", "%s%n%s", "x" * 5000, "policy/mode=" + "x" * 5000,
         "--save", "--restore", "--replace", "--manual", "--ranges", "-n", "--raw", "-S", "uuid,state", "pinned", UUIDS[1][:6],
         "ghyvi/scheduler=fifo", "sched/weight=5", "1000:00:00.0",
         "--help", "--usage", "--version", "-?", "tables", "engines")
TEXTS = ("", "\n", "[", "]", "[]", "[x", "x] [", "[a] [b]", "open", "ghyvi-", "ghyvi-gen9_4\nx", "-1", "1e9", "\0\0", "a=b=c, =, ,",
         "\x1b[2J", "x" * 4096, "y" * 5000, "99999999999999999999999", " " * 100)


def seed():
    value = int(os.environ.get("SEED") or random.randrange(1 << 32))
    say(f"SEED={value}")
    return random.Random(value)


def word(rng):
    if rng.random() < 0.8:
        return rng.choice(WORDS)
    # Without "/", a file name stays inside of the working directory.
    return bytes(rng.choice([c for c in range(1, 256) if c != ord("/")]) for _ in range(rng.randrange(12)))


def arguments(rng):
    words = [word(rng) for _ in range(rng.randrange(7))]
    if rng.random() < 0.9:
        words.insert(0 if rng.random() < 0.8 else rng.randrange(len(words) + 1), rng.choice(COMMANDS))
    # The commands that sample get a short interval and a count.
    return [*words, "-c", "1", "-s", "0.001"] if {"stat", "report"} & set(words) else words


def end_well(made, words):
    result = ctl(made, *words, timeout=10, GHYVI_RECORD="/bin/true")
    # A time-out is right for stat without a count, which never ends, and for report, which samples
    # for half a minute.
    require(result.status in range(5) or (result.status == 124 and {"stat", "report"} & set(words)), f"{words}: {result}")


@test
def random_arguments_never_crash():
    rng = seed()
    for _ in range(max(1, ROUNDS // 50)):
        with tree() as made:
            for uuid in UUIDS:
                made.add_vgpu(uuid)
            for _ in range(50):
                end_well(made, arguments(rng))


def spoil(rng, made):
    """Replaces a random file of the tree by another text or a directory, or removes it."""
    files = [os.path.join(base, name) for base, _, names in os.walk(made.sys) for name in names]
    path = os.path.relpath(rng.choice(files), made.top)
    kind = rng.random()
    if kind < 0.7:
        made.write(path, rng.choice(TEXTS), 0o644)
    elif kind < 0.85:
        os.remove(f"{made.top}/{path}")
    else:
        os.remove(f"{made.top}/{path}")
        os.mkdir(f"{made.top}/{path}")


@test
def random_sysfs_never_crashes():
    rng = seed()
    readers = (["list"], ["types"], ["show", "-j"], ["show"], ["stat"], ["stat", "-j"], ["top", "-b1", "-s0.001"], ["export"],
               ["dump", "-j"], ["doctor"], ["create", "gen9_4", "-u", UUIDS[1]], ["remove", UUIDS[0]],
               ["set", UUIDS[0], "policy/mode=x", "policy/static_pages=1"])
    for _ in range(max(1, ROUNDS // 25)):
        with tree() as made:
            made.add_vgpu(UUIDS[0])
            for _ in range(12):
                spoil(rng, made)
            for words in rng.sample(readers, 5):
                end_well(made, words)
