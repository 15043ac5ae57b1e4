# SPDX-License-Identifier: GPL-2.0-only
"""What a report must not tell about its sender: serial numbers, UUIDs, MAC addresses and host names.

mask() replaces what looks like one, and each of the values that secrets_of_machine() has found. Models, firmware versions,
PCI ids and addresses stay."""

import glob
import re

# Their letters and digits become x.
SHAPES = re.compile(
    # UUID
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    # MAC address, or an identifier of 8 bytes such as a PCI function's serial number
    r"|(?<![\w:-])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?:(?::[0-9a-f]{2}){2})?(?![\w:])"
    r"|(?<![\w:-])[0-9a-f]{2}(?:-[0-9a-f]{2}){5}(?:(?:-[0-9a-f]{2}){2})?(?![\w-])", re.I)
# The rest of the word that such a label has, with its quotes
LABELS = re.compile(r"((?:\bserial(?:[ _-]?(?:number|no\.?|nr))?|\bserialnumber|\bs/n|\basset[ _-]?tag|\bhost[ _]?name|\bnodename)"
                    r"\s*(?:is|[:=])\s*)(\"[^\"\n]*\"|'[^'\n]*'|[^\s,;]+)", re.I)
# Files of the machine whose values are masked wherever they appear
SECRETS = ("/sys/class/dmi/id/product_serial", "/sys/class/dmi/id/product_uuid", "/sys/class/dmi/id/board_serial",
           "/sys/class/dmi/id/chassis_serial", "/sys/class/dmi/id/board_asset_tag", "/sys/class/dmi/id/chassis_asset_tag",
           "/sys/bus/usb/devices/*/serial", "/sys/class/net/*/address", "/sys/class/block/*/device/wwid",
           "/sys/class/block/*/device/serial")
SECRET_CHARACTERS_MIN = 4
# What firmware has in place of a value
EMPTY = re.compile(r"(?i)^(?:not (?:specified|available|applicable)|to be filled.*|default string|none|unknown|o\.?e\.?m\.?|"
                   r"system serial number|no asset tag.*|[0x.:-]*)$")
MASKED = "xxxx"


def hidden(text):
    return re.sub(r"[^\W_]", "x", text)


def is_secret(value):
    return len(value) >= SECRET_CHARACTERS_MIN and not EMPTY.match(value)


def secrets_of_machine():
    found = set()
    for pattern in SECRETS:
        for path in glob.glob(pattern):
            try:
                with open(path, errors="replace") as file:
                    value = file.read().strip()
            except OSError:
                continue
            if is_secret(value):
                found.add(value)
    return found


def mask(text, secrets=()):
    """Secrets come first, and the longest one: a part of it may be another one, or look like a UUID."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = re.sub(re.escape(secret), MASKED, text, flags=re.I)
    text = LABELS.sub(lambda found: found.group(1) + MASKED, text)
    return SHAPES.sub(lambda found: hidden(found.group(0)), text)


def mask_all(value, secrets=()):
    """The same for each text in what JSON can say."""
    if isinstance(value, str):
        return mask(value, secrets)
    if isinstance(value, list):
        return [mask_all(each, secrets) for each in value]
    if isinstance(value, dict):
        return {key: mask_all(each, secrets) for key, each in value.items()}
    return value
