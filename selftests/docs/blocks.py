# SPDX-License-Identifier: GPL-2.0-only
"""Finds commands in documents.

A ```console block has lines "$ command". The lines below a command, if any, are its expected
output: "..." within a line matches any text, "..." alone on a line matches any lines. A comment
above a block names the other test that runs its commands (<!-- elsewhere: WHERE -->), or requests
that they run after all documents (<!-- last -->)."""

import re

BLOCK = re.compile(r"(?:<!-- (elsewhere: .+?|last) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
SHELL = ("console", "sh", "bash", "shell")


class Command:
    def __init__(self, text):
        self.text = text
        self.expected = []


def commands(text):
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:]))
        elif found and found[-1].text.endswith("\\"):
            found[-1].text += f"\n{line}"
        elif found:
            found[-1].expected.append(line)
    return found


def blocks(path):
    """Yields (heading, mark, commands) of each block, in order."""
    with open(path) as file:
        text = file.read()
    for found in BLOCK.finditer(text):
        mark, language, body = found.groups()
        if language not in SHELL:
            continue
        headings = re.findall(r"^#+ (.+)$", text[:found.start()], re.M)
        yield (headings or [path])[-1], mark or "", commands(body)


def matches(expected, printed):
    """Whether the printed lines match the expected ones. No expected lines match any output."""
    if not expected:
        return True
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else
                      ".*".join(map(re.escape, line.split("..."))).replace(r"\ ", r"\s+") + r"[ \t]*\n"
                      for line in expected)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed.splitlines())) is not None
