# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx: `make doc`. Warnings are errors there."""

import os
import sys

sys.path.insert(0, os.path.abspath("sphinx"))

project = "ghyvi"
copyright = "GPL-2.0-only"
extensions = ["myst_parser", "abi", "kernel_doc"]
myst_heading_anchors = 3
root_doc = "index"
exclude_patterns = ["man", "ABI"]
html_theme = "alabaster"
html_theme_options = {"description": "many KVM guests, one GPU", "page_width": "1100px", "sidebar_width": "240px"}
html_show_copyright = False
html_show_sphinx = False
