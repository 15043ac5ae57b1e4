# SPDX-License-Identifier: GPL-2.0-only
"""Checks that Documentation/troubleshooting.md lists all messages of the modules and of ghyvictl.

The messages are taken from the source. Each conversion ("%...") becomes "..."."""

import glob
import re

PRINTED_BY = {
    "kernel/**/*.c": r"ghyvi_report(?:_stop)?|pr_(?:err|warn|notice|info)(?:_ratelimited|_once)?|dev_(?:err|warn|notice)(?:_ratelimited)?",
    "userspace/ghyvictl/*.c": r"complain",
}
LITERAL = r'"((?:[^"\\]|\\.)*)"'
CONVERSION = re.compile(r"%[-+ #0]*[0-9*]*(?:\.[0-9*]+)?(?:hh|h|ll|l|z)?(?:pbl|[a-zA-Z])")
# Messages of ghyvictl that match name the next step and need no entry. Messages of the kernel
# always need one.
HELPFUL = re.compile(r";|ghyvictl |apt install|did you mean|; see |: use |use --batch|needs --batch"
                     r"|give one with|such as|only root|\(ulimit")
# A text with fewer letters only frames another message ("%s: %s").
LETTERS_MIN = 8


def plain(format_text):
    text = format_text.replace('\\"', '"').replace("\\n", "").replace("%%", "%")
    return CONVERSION.sub("...", text).strip()


def printed(tree):
    """Yields (file, message) of all messages, in the order of the files."""
    for pattern, functions in PRINTED_BY.items():
        for path in sorted(glob.glob(f"{tree}/{pattern}", recursive=True)):
            with open(path) as file:
                text = file.read()
            for call in re.finditer(rf"\b(?:{functions})\((?:[^;\"]*?,)?\s*(?:[A-Z_]+ )?((?:{LITERAL}\s*)+)", text):
                message = plain("".join(re.findall(LITERAL, call.group(1))))
                if len(re.findall(r"[A-Za-z]", message.replace("...", ""))) >= LETTERS_MIN:
                    yield path[len(tree) + 1:], message


def missing(tree):
    with open(f"{tree}/Documentation/troubleshooting.md") as file:
        known = file.read()
    return [f"{path}: \"{message}\"" for path, message in printed(tree)
            if f"`{message}`" not in known and not (path.startswith("userspace/") and HELPFUL.search(message))]
