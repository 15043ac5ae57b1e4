# SPDX-License-Identifier: GPL-2.0-only
"""The directive `kernel-doc`: the kernel-doc comments of a source file, as the kernel's own script turns them into
reStructuredText. The script comes with Debian's linux-kbuild."""

import glob
import os
import subprocess

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

SCRIPTS = "/usr/lib/linux-kbuild-*/scripts/kernel-doc"


class KernelDoc(Directive):
    required_arguments = 1  # relative to the top of the tree

    def run(self):
        env = self.state.document.settings.env
        path = os.path.join(env.srcdir, "..", self.arguments[0])
        env.note_dependency(path)
        scripts = sorted(glob.glob(SCRIPTS))
        if not scripts:
            raise self.error(f"no {SCRIPTS}: run tools/setup")
        done = subprocess.run([scripts[0], "-Werror", "-rst", "-sphinx-version", "3.0", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode or not done.stdout.strip():
            raise self.error(f"{path}: kernel-doc fails (status {done.returncode}): {done.stderr}")
        node = nodes.section()
        self.state.nested_parse(StringList(done.stdout.splitlines(), source=path), 0, node, match_titles=1)
        return node.children


def setup(app):
    app.add_directive("kernel-doc", KernelDoc)
    return {"parallel_read_safe": True}
