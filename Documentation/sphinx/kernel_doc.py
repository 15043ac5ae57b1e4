# SPDX-License-Identifier: GPL-2.0-only
"""The directive `kernel-doc`: the kernel-doc comments of a source file, which the kernel's own
script converts to reStructuredText. The script is in Debian's linux-kbuild."""

import glob
import os
import re
import subprocess

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

SCRIPTS = "/usr/lib/linux-kbuild-*/scripts/kernel-doc"


def adapted(text):
    """The lines of the script's output, adapted to Sphinx."""
    # "@dwords[0]" becomes "**dwords**[0]", but markup must not end before a bracket.
    text = re.sub(r"(\*\*\w+\*\*)(?=\[)", r"\1\\ ", text)
    structs = set(re.findall(r"^\.\. c:struct:: (\w+)$", text, re.M))
    out = []
    pop = False
    for line in text.splitlines():
        if pop and line and not line.startswith(" "):
            out += [".. c:namespace-pop::", ""]
            pop = False
        function = re.match(r"\.\. c:function:: .*?(\w+) \(", line)
        # Sphinx takes a function and a struct of one name for the same declaration.
        if function and function.group(1) in structs:
            out += [".. c:namespace-push:: function", ""]
            pop = True
        out.append(line)
    return out + ([".. c:namespace-pop::"] if pop else [])


class KernelDoc(Directive):
    required_arguments = 1  # relative to the top of the tree

    def run(self):
        env = self.state.document.settings.env
        path = os.path.join(env.srcdir, "..", self.arguments[0])
        env.note_dependency(path)
        scripts = sorted(glob.glob(SCRIPTS))
        if not scripts:
            raise self.error(f"no {SCRIPTS}: run tools/setup")
        done = subprocess.run([scripts[0], "-Werror", "-rst", "-sphinx-version", "3.0", path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode or not done.stdout.strip():
            raise self.error(f"{path}: kernel-doc fails (status {done.returncode}): {done.stderr}")
        node = nodes.section()
        lines = StringList(adapted(done.stdout), source=path)
        self.state.nested_parse(lines, 0, node, match_titles=1)
        return node.children


def setup(app):
    app.add_directive("kernel-doc", KernelDoc)
    return {"parallel_read_safe": True}
