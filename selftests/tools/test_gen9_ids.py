# SPDX-License-Identifier: GPL-2.0-only
"""The GPUs that ghyvi-gen9 binds, against i915's table of PCI ids in the kernel's public headers."""

import glob
import os
import re

import ktap
from ktap import test
from toolslib import require

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Up to Linux 6.12, and newer.
HEADERS = ("/usr/src/linux-headers-*/include/drm/i915_pciids.h", "/usr/src/linux-headers-*/include/drm/intel/pciids.h")
# The lists of i915's that have GPUs of each platform (i915_pci.c: pciidlist).
LISTS = {
    "SKYLAKE": r"SKL\w*_GT2",
    "KABYLAKE": r"KBL\w*_GT2|AML_KBL_GT2",
    "COFFEELAKE": r"CFL\w*_GT2|WHL\w*_GT2|AML_CFL_GT2",
    "COMETLAKE": r"CML\w*_GT2",
}
REFUSED = {}  # id: the reason


def ids_of_i915(text, lists):
    """The ids in the definitions of the macros INTEL_..._IDS whose name is one of @lists."""
    text = text.replace("\\\n", " ")
    found = re.findall(rf"#define INTEL_(?:{lists})_IDS\(.*?\)(.*)", text)
    return {int(number, 16) for body in found for number in re.findall(r"\b0x[0-9A-Fa-f]{4}\b", body)}


def ids_of_ghyvi():
    with open(f"{TREE}/include/ghyvi/gen9_ids.h", encoding="ascii") as file:
        return {int(number, 16): platform for number, platform in re.findall(r"X\((0x[0-9a-f]{4}), (\w+),", file.read())}


@test
def each_gt2_of_i915s_table_is_bound_or_refused_by_name():
    headers = [path for pattern in HEADERS for path in sorted(glob.glob(pattern))]
    if not headers:
        raise ktap.Skip("no kernel headers with i915's ids")
    with open(headers[-1], encoding="ascii") as file:
        text = file.read()
    bound, known = ids_of_ghyvi(), set()
    for platform, lists in LISTS.items():
        ids = ids_of_i915(text, lists)
        require(ids, f"{headers[-1]} has no GT2 of {platform}")
        known |= ids
        for number in ids - REFUSED.keys():
            require(bound.get(number) == platform, f"{number:04x} of {platform}: {bound.get(number, 'not bound')}")
    require(not REFUSED.keys() & bound.keys(), "an id is both bound and refused")
    require(not bound.keys() - known, f"no GT2 of i915's: {[f'{number:04x}' for number in bound.keys() - known]}")
