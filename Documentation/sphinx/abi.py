# SPDX-License-Identifier: GPL-2.0-only
"""The directive `abi`: a file in the format of the kernel's Documentation/ABI, one section for each attribute."""

import os
import re

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

TAB = 8


def entries(text):
    """Each block between blank-line separated "What:" lines as {field: text}, in order."""
    found = []
    field = None
    for line in text.splitlines():
        start = re.match(r"(\w+):\s*(.*)", line)
        if start and start.group(1) == "What":
            if not found or found[-1].keys() != {"What"}:
                found.append({})
        if start:
            field = start.group(1)
            previous = found[-1].get(field)
            found[-1][field] = f"{previous}\n{start.group(2)}" if previous else start.group(2)
        elif found and field:
            found[-1][field] += "\n" + re.sub(r"^\t\t", "", line).expandtabs(TAB)
    return found


def described(text):
    """A description's paragraphs; a word with a colon alone on its line heads what is indented below it."""
    lines = []
    for line in text.strip("\n").splitlines():
        head = re.match(r"(\S[^:]*):$", line)
        lines.append(f"``{head.group(1)}``" if head else re.sub(r"([*|\\])", r"\\\1", line))
    return lines


class Abi(Directive):
    required_arguments = 1

    def run(self):
        env = self.state.document.settings.env
        path = os.path.join(env.srcdir, self.arguments[0])
        env.note_dependency(path)
        with open(path) as file:
            found = entries(file.read())
        if not found:
            raise self.error(f"{path}: no What: in it")
        return [self.section(entry, path) for entry in found]

    def section(self, entry, path):
        names = entry["What"].split("\n")
        section = nodes.section(ids=[nodes.make_id(names[0])])
        section += nodes.title(text=re.sub(r"^.*?(?=[^/]+/?$)", "", names[0]) if names[0].count("/") > 1 else names[0])
        where = nodes.paragraph()
        for index, name in enumerate(names):
            where += ([nodes.Text(", ")] if index else []) + [nodes.literal(text=name)]
        section += where
        content = StringList(described(entry.get("Description", "")), source=path)
        self.state.nested_parse(content, 0, section)
        note = "; ".join(f"{field}: {entry[field].strip()}" for field in ("Date", "Users") if entry.get(field, "").strip())
        section += nodes.paragraph("", "", nodes.emphasis(text=note))
        return section


def setup(app):
    app.add_directive("abi", Abi)
    return {"parallel_read_safe": True}
