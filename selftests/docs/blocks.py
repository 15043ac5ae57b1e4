# SPDX-License-Identifier: GPL-2.0-only
"""Finds commands in documents.

A ```console block has lines "$ command". The lines below a command, if any, are its output, as a
person may see it. What the tests expect is looser where runs differ: expected/DOCUMENT has the same
command with a pattern below it. There and in documents "..." within a line matches any text, and
"..." alone on a line matches any lines.

marks.json names the blocks that are special, by document and heading: "elsewhere: WHERE" for those
whose commands another test runs, "last" for those that run after all documents."""

import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
MARKS = f"{HERE}/marks.json"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SHELL = ("console", "sh", "bash", "shell")


class Command:
    def __init__(self, text):
        self.text = text
        self.shown = []  # by the document
        self.expected = []  # by the tests


def commands(text):
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:]))
        elif found and found[-1].text.endswith("\\"):
            found[-1].text += f"\n{line}"
        elif found:
            found[-1].shown.append(line)
    return found


def patterns(name):
    """The expected lines of the commands of a document for which they are not those that it shows."""
    path = f"{HERE}/expected/{name}"
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return {command.text: command.shown for command in commands(file.read())}


def blocks(path):
    """Yields (heading, mark, commands) of each block, in order."""
    name = os.path.basename(path)
    expected = patterns(name)
    with open(MARKS) as file:
        marks = json.load(file)
    with open(path) as file:
        text = file.read()
    for found in BLOCK.finditer(text):
        language, body = found.groups()
        if language not in SHELL:
            continue
        heading = (re.findall(r"^#+ (.+)$", text[:found.start()], re.M) or [path])[-1]
        there = commands(body)
        for command in there:
            command.expected = expected.get(command.text, command.shown)
        yield heading, marks.get(f"{name}: {heading}", ""), there


def unlike(path):
    """Yields the commands whose output in the document is not what the tests expect, and patterns without a command."""
    there = [command for _, _, found in blocks(path) for command in found]
    for command in there:
        if command.shown and not matches(command.expected, "\n".join(command.shown)):
            yield f"{path}: $ {command.text}: the output there is not what selftests/docs/expected says"
    for text in patterns(os.path.basename(path)).keys() - {command.text for command in there}:
        yield f"{path}: no command $ {text}, which selftests/docs/expected has"


def matches(expected, printed):
    """Whether the printed lines match the expected ones. No expected lines match any output."""
    if not expected:
        return True
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else
                      ".*".join(map(re.escape, line.split("..."))).replace(r"\ ", r"\s+") + r"[ \t]*\n"
                      for line in expected)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed.splitlines())) is not None
