#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""What a driver does with each register, from a trace of the emulated GPU (pgpu-emu --trace).

trace.py summary TRACE [OTHER]     prints one line per register that was written; with OTHER, a
                                   summary, those lines that differ
trace.py compare TRACE SUMMARY     compares the backend's trace with the summary of i915's

A line has the register, the values that were written, and "rmw" if each write came after a read of
the register, "posted" if each was followed by one. Registers that each engine has are one, ring+OFFSET;
"xN" says on how many engines it was written. Addresses, clocks and sets of events are "*". A summary
that begins with "like OTHER" has the lines that differ from OTHER, and "-" for what was not written.

The backend must write what i915 writes, but for OMITTED, and nothing else, but for OTHER_VALUES. It
must read a register before or after each write where i915 does, and access no domain that is not
awake. Each exception has its reason.
"""

import os
import sys
from collections import defaultdict

ENGINES = (0x2000, 0x12000, 0x1A000, 0x22000)
ENGINE_BYTES = 0x800
VALUES_MAX = 24  # of a register with states; more are data

# Registers whose values are addresses, positions or sets of events.
DYNAMIC = {"ring+030", "ring+080", "ring+0b0", "ring+230", "044308", "044318", "044328", "044338"}

# Registers of i915 that the backend leaves alone: first, last, reason.
OMITTED = (
    (0x009044, 0x009044, "display: compression of frame buffers"),
    (0x00A008, 0x00A0FF, "neither RC6 nor changes of the frequency"),
    (0x00A168, 0x00A168, "as above"),
    (0x00C3E4, 0x00C3E4, "as above"),
    (0x042080, 0x043224, "display"),
    (0x044328, 0x044328, "power management raises no interrupts"),
    (0x044400, 0x0444DF, "display"),
    (0x0444F0, 0x046FFF, "display and its power"),
    (0x0C2020, 0x0C2020, "display"),
    (0x0C4010, 0x0C6204, "display"),
    (0x138124, 0x13812C, "PCODE: frequencies"),
)
OMITTED_OF_ENGINES = {"ring+054"}  # RC6

# Values that the backend writes in addition to those of i915, or instead.
OTHER_VALUES = {
    "00941c": ({"4", "8", "10"}, "the tests of i915 that were recorded reset no engine but the render engine"),
    "004024": ({"0"}, "the shadow tables have entries of 2 MiB"),
    "00a024": ({"0"}, "no turbo"),
    # Guests use the notify interrupt of flushes. A wait for a semaphore needs no interrupt.
    "044304": ({"fee6fee6"}, "notify interrupt"),
    "04430c": ({"1190119"}, "notify interrupt"),
    "044314": ({"fffffee6"}, "notify interrupt"),
    "04431c": ({"119"}, "notify interrupt"),
    "044334": ({"fffffee6"}, "notify interrupt"),
    "04433c": ({"119"}, "notify interrupt"),
    "ring+0a8": ({"fee6ffff", "fffffee6", "fef7ffff", "fffffef7"}, "notify interrupt; too many interrupts"),
    "ring+4e0": ({"2094"}, "NONPRIV: L3SQCREG4 is not saved with contexts, so user batches do not get it"),
}
for slot in range(0x4D0, 0x500, 4):  # i915 leaves those of an engine that it gives none
    values, why = OTHER_VALUES.get(f"ring+{slot:03x}", (set(), "NONPRIV: no slot of any engine is open"))
    OTHER_VALUES[f"ring+{slot:03x}"] = values | {"12094", "1a094", "22094"}, why


def register(offset):
    for base in ENGINES:
        if base <= offset < base + ENGINE_BYTES:
            return f"ring+{offset - base:03x}"
    return f"{offset:06x}"


REGISTER_FIELDS = 5  # of a line of the trace: tools/pgpu-emu/log.c


class Register:
    def __init__(self):
        self.values = set()
        self.rmw = True
        self.posted = True
        self.engines = set()  # their bases
        self.read = defaultdict(bool)  # by offset: since the last write


class Trace:
    def __init__(self, path):
        self.registers = defaultdict(Register)
        self.asleep = defaultdict(set)  # (register, operation): domains
        last = None  # offset of the last access, if that was a write
        with open(path, encoding="ascii") as file:
            for line in file:
                fields = line.split()
                if len(fields) == REGISTER_FIELDS:  # not the GGTT, nor configuration space
                    last = self.access(fields, last)
        self.not_posted(last, None)

    def not_posted(self, last, offset):
        if last is not None and last != offset:
            self.registers[register(last)].posted = False

    def access(self, fields, last):
        operation, offset, value = fields[0], int(fields[1], 16), int(fields[2], 16)
        awake, needed = fields[3:5]
        name = register(offset)
        missing = set(needed) - set(awake) - {"-"}
        if missing:
            self.asleep[name, operation] |= missing
        if operation == "r":
            self.not_posted(last, offset)
            self.registers[name].read[offset] = True
            return None
        self.not_posted(last, None)
        entry = self.registers[name]
        entry.values.add(value)
        if "+" in name:
            entry.engines.add(offset - int(name.split("+")[1], 16))
        entry.rmw &= entry.read[offset]
        entry.read[offset] = False
        return offset

    def summary(self):
        """Yields (register, values, flags) of the registers that were written."""
        for name, entry in sorted(self.registers.items()):
            if not entry.values:
                continue
            dynamic = name in DYNAMIC or len(entry.values) > VALUES_MAX
            values = {"*"} if dynamic else {f"{value:x}" for value in entry.values}
            flags = {flag for flag in ("rmw", "posted") if getattr(entry, flag)}
            yield name, values, flags | ({f"x{len(entry.engines)}"} if entry.engines else set())


def load_summary(path):
    table = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            name, values, *flags = line.split() or ("#", "")
            if name == "like":
                table = load_summary(os.path.join(os.path.dirname(path), values))
            elif values == "-":
                del table[name]
            elif name[0] != "#":
                table[name] = set(values.split(",")), set(flags)
    return table


def engines_of(flags):
    return max((int(flag[1:]) for flag in flags if flag[0] == "x"), default=0)


def print_line(name, values, flags):
    print(" ".join([name, ",".join(sorted(values)), *sorted(flags)]))


def print_summary(trace, other):
    """Prints the registers of @trace, or with the path of a summary, how they differ from it."""
    table = {name: (values, flags) for name, values, flags in trace.summary()}
    known = load_summary(other) if other else {}
    if other:
        print(f"like {os.path.basename(other)}")
    for name in sorted(table.keys() | known.keys()):
        if name not in table:
            print(name, "-")
        elif table[name] != known.get(name):
            print_line(name, *table[name])


def omitted(name):
    if name in OMITTED_OF_ENGINES:
        return True
    return "+" not in name and any(first <= int(name, 16) <= last for first, last, _ in OMITTED)


def differences(trace, reference):
    written = set()
    for name, values, flags in trace.summary():
        written.add(name)
        if name not in reference:
            yield f"{name}: i915 does not write it; {','.join(sorted(values))} was written"
            continue
        known, order = reference[name]
        if engines_of(flags) < engines_of(order):
            yield f"{name}: written on {engines_of(flags)} engines; i915 writes it on {engines_of(order)}"
        order = order & {"rmw", "posted"}
        other = values - known - OTHER_VALUES.get(name, (set(), ""))[0]
        if other and "*" not in known:
            yield f"{name}: {','.join(sorted(other))} was written; i915 writes {','.join(sorted(known))}"
        if order - flags:
            yield f"{name}: not {' '.join(sorted(order - flags))} as in i915"
    for name in sorted(reference.keys() - written):
        if not omitted(name):
            yield f"{name}: i915 writes {','.join(sorted(reference[name][0]))}; nothing was written"
    for (name, operation), domains in sorted(trace.asleep.items()):
        yield f"{name}: {'read' if operation == 'r' else 'write'} while {''.join(sorted(domains))} is not held"


def main(arguments):
    if len(arguments) in (2, 3) and arguments[0] == "summary":
        print_summary(Trace(arguments[1]), arguments[2] if len(arguments) == 3 else None)
        return 0
    if len(arguments) != 3 or arguments[0] != "compare":
        sys.exit(__doc__)
    found = list(differences(Trace(arguments[1]), load_summary(arguments[2])))
    for line in found:
        print(f"# {line}")
    print(f"{'not ok' if found else 'ok'} 1 the backend accesses registers as i915 does")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
