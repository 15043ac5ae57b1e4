#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""table.py --check | --write: checks or updates the table of supported kernels in README.md, which
is generated from Documentation/kernels.json (written by selftests/kernels/run --update)."""

import json
import os
import re
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FACTS = f"{TREE}/Documentation/kernels.json"
README = f"{TREE}/README.md"
BEGIN, END = "<!-- kernels: made by tools/kernels/table.py -->\n", "<!-- end of kernels -->\n"
LAB = {"all": "all (`make test`)", "smoke": "driver, IGT, every byte, self-check (`make test-kernels`)", None: "builds only"}


def series(version):
    return ".".join(version.split(".")[:2])


def load():
    if not os.path.exists(FACTS):
        return []
    with open(FACTS) as file:
        return json.load(file)


def store(rows):
    with open(FACTS, "w") as file:
        json.dump(rows, file, indent=1)
        file.write("\n")


def modes(row):
    if not row["builds"] or not row["mdev"]:
        return "not usable"
    return "all policies" if row["write_tracking"] else "relaxed only"


def render(rows):
    lines = ["| Linux | Debian suite, flavour amd64 | shadowing | tested in the lab |", "| --- | --- | --- | --- |"]
    lines += [f"| {row['kernel']} | {row['suite']} | {modes(row)} | {LAB[row['lab']]} |" for row in rows]
    return "\n".join(lines) + "\n"


def readme():
    """(text before the table, the table, text after it)"""
    with open(README) as file:
        parts = re.split(f"{re.escape(BEGIN)}|{re.escape(END)}", file.read())
    if len(parts) != 3:
        sys.exit(f"README.md: no single table between {BEGIN.strip()} and {END.strip()}")
    return parts


def write_readme():
    before, _, after = readme()
    with open(README, "w") as file:
        file.write(before + BEGIN + render(load()) + END + after)


def main():
    if sys.argv[1:] == ["--write"]:
        write_readme()
    elif sys.argv[1:] == ["--check"]:
        if readme()[1] != render(load()):
            sys.exit("README.md: the table of kernels does not match Documentation/kernels.json: "
                     "run tools/kernels/table.py --write")
    else:
        sys.exit("usage: table.py --check | --write")


if __name__ == "__main__":
    main()
