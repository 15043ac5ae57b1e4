# SPDX-License-Identifier: GPL-2.0-only
"""What the modules and ghyvictl say to people, taken from the source, each "%..." as "...". Documentation/troubleshooting.md
has them all."""

import glob
import re

SPOKEN_BY = {
    "kernel/**/*.c": r"ghyvi_report|pr_(?:err|warn|notice|info)(?:_ratelimited|_once)?|dev_(?:err|warn|notice)(?:_ratelimited)?",
    "userspace/ghyvictl/*.c": r"complain",
}
LITERAL = r'"((?:[^"\\]|\\.)*)"'
CONVERSION = re.compile(r"%[-+ #0]*[0-9*]*(?:\.[0-9*]+)?(?:hh|h|ll|l|z)?(?:pbl|[a-zA-Z])")
# Such messages of ghyvictl name the next step themselves. The kernel's are always listed.
HELPFUL = re.compile(r";|ghyvictl |apt install|did you mean|; see |: use |use --batch|needs --batch|give one with|such as|only root|\(ulimit")
# Fewer letters than this are a frame around something that another message says ("%s: %s").
LETTERS_MIN = 8


def plain(format_text):
    text = format_text.replace('\\"', '"').replace("\\n", "").replace("%%", "%")
    return CONVERSION.sub("...", text).strip()


def spoken(tree):
    """(file, message) of all, in the order of the files."""
    for pattern, functions in SPOKEN_BY.items():
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
    return [f"{path}: \"{message}\"" for path, message in spoken(tree)
            if f"`{message}`" not in known and not (path.startswith("userspace/") and HELPFUL.search(message))]
