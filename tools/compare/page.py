# SPDX-License-Identifier: GPL-2.0-only
"""The tables of Documentation/results/compared.md, made from compared.json beside it."""

import collections
import json
import os
import re

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = f"{TREE}/Documentation/results/compared.json"
PAGE = f"{TREE}/Documentation/results/compared.md"
MARKED = re.compile(r"(<!-- made by make compare: (\w+) -->\n).*?(<!-- end -->\n)", re.S)
COMPARED = ("strict", "full", "segmented", "oos", "adaptive", "relaxed")
BATCHES = ("1", "8", "64", "512")
MODELLED = ("strict", "full", "static 50", "static 100", "static 200", "static 300", "dynamic", "segmented", "oos",
            "adaptive", "multicall 64", "multicall 512")
TIMED_STORES = 64  # before a submission: with fewer, the time of the submission hides theirs
# What the gHyvi paper prints.
PAPER_EPT_PERCENT = {"15t-720p": 62.40, "10t-1080p": 79.45}
PAPER_UPDATES, PAPER_HOTTEST, PAPER_HOT_PAGES = "627 thousand", "7.5 thousand", "150 to 320"

GVTG_CASES = (("create", "creation of the first vGPU", False), ("replace", "its removal after use, creation of the next", False),
              ("load", "load of i915", False),
              ("gem_exec_nop", "gem_exec_nop, for each submission", True), ("gem_blt", "gem_blt, for each submission", True),
              ("blitcheck", "blitcheck", False), ("gmedia", "gmedia", False))


def table(*rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return lines


def number(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def multicall(section):
    columns = [*COMPARED, *(f"multicall {batch}" for batch in BATCHES)]

    def rows(value):
        for trace in section["traces"]:
            results = [trace["policies"][name] for name in COMPARED] + [trace["multicall"][batch] for batch in BATCHES]
            yield trace["name"], *(number(value(result)) for result in results)

    return ["Exits for each update:", "",
            *table(("trace", *columns), *rows(lambda result: result["exits_per_update"])), "",
            "Cost of each update in us, translations included, at T {trap_ns}, S {scan_ns}, P {protect_ns} and {entry_ns} ns "
            "for a translation:".format(**section["tuning"]), "",
            *table(("trace", *columns), *rows(lambda one: (one["cost_ns_per_update"] + one["entries_ns_per_update"]) / 1e3))]


def declared(section):
    """What ghyvi counts has no noise; the exits of all causes, and times, have."""
    found = {(one["stores"], one["way"]): one for one in section["found"]}
    ways = list(dict.fromkeys(way for _, way in found))

    def row(stores, what, value):
        values = (value(found[stores, way]) for way in ways)
        return f"{stores} stores to a page{what}", *(value if value == "" else number(value) for value in values)

    rows = [("before a submission", *(way if " " in way else f"`{way}`" for way in ways))]
    for stores in dict.fromkeys(stores for stores, _ in found):
        rows.append(row(stores, ": VM exits for each", lambda one: one["exits"]["median"]))
        rows.append(row(stores, ": traps and batches for each", lambda one: one["traps"] + one["multicalls"]))
        if stores >= TIMED_STORES:
            rows.append(row(stores, ": us for each", lambda one: one["us"]["median"] if one["us"]["least"] > 0 else ""))
    return table(*rows)


def speeds(cases):
    for case in cases:
        fps = case["fps"]
        yield (f"{case['resolution']}, {case['threads']} threads, {'heavy' if case['heavy'] else 'normal'}", case["native"],
               *(number(fps[name]) for name in MODELLED), f"{fps['segmented'] / fps['strict']:.2f}",
               f"{100 * fps['segmented'] / case['native']:.1f} %")


def exits(section):
    cases = section["exits"]
    yield "policy", *(f"{case}: {what}" for case in cases for what in ("EPT violations, %", "exits over strict"))
    for name in cases["15t-720p"]:
        yield name, *(f"{cases[case][name][key]:.4g}" for case in cases for key in ("ept_percent", "exits_over_strict"))
    yield "gVirt, printed in the paper", *(cell for case in cases for cell in (f"{PAPER_EPT_PERCENT[case]:.2f}", ""))


def updates(section):
    pages = section["updates"]["pages"]
    hot = [page for page, count in enumerate(pages) if count]
    return table(("", "here", "paper"), ("updates in 10 s", section["updates"]["total"], PAPER_UPDATES),
                 ("seconds that they take", section["updates"]["seconds"], 10),
                 ("most to one page", max(pages), PAPER_HOTTEST), ("pages with updates", f"{hot[0]} to {hot[-1]}", PAPER_HOT_PAGES))


def model(section):
    """The formula of the time of a frame, with the costs that made these results."""
    costs = section["model"]
    native = ", ".join(f"{fps} at {resolution}" for resolution, fps in costs["native_fps"].items())
    trap, scan, entry = (f"{costs[key] / 1e3:.3g} us" for key in ("trap_ns", "page_ns", "entry_ns"))
    return [f"    1 / native + traps * {trap} + compared pages * {scan} + changed entries * {entry}", "", f"Native frames per second: {native}."]


def ghyvi(section):
    return [*model(section), "", "Frames per second by the model, and for segmented the ratio to strict and to native:", "",
            *table(("case", "native", *MODELLED, "/strict", "/native"), *speeds(section["cases"])), "",
            "VM exits of a frame (table 1 of the paper):", "", *table(*exits(section)), "",
            "The updates of 720p heavy under strict (figures 6 to 8 of the paper):", "", *updates(section)]


def schedulers(section):
    return table(("guests", "policy", "utilisation", "share of the half with short requests", "Jain's index, 1 s",
                  "500 ms, 5th percentile", "100 ms, 5th percentile"),
                 *((row["guests"], f"`{row['policy']}`", f"{row['utilisation']:.3f}", f"{row['short_share']:.3f}",
                    *(f"{row[key]:.4f}" for key in ("jain_1s", "jain_500ms_p5", "jain_100ms_p5"))) for row in section["rows"]))


def gvtg_name(system):
    policy, _, trapped = system.partition(":")
    return "GVT-g" if system == "gvtg" else f"`{policy}`, `bar_remap` off" if trapped else f"`{policy}`"


GVTG_TIMES = ("Time over that of GVT-g in the same run. The times are those of the emulators of the GPU, the host and",
              "the guest, so a ratio shows the order of magnitude, and of cases under a second not even that:")
GVTG_EXITS = ("The VM exits by KVM's reason. `npf` is a fault in the nested page tables: an access to a trapped",
              "register, a store to a write-protected page, or the first access to a page:")
GVTG_COPIES = ("Bytes that the CPU copies from and to memory of the guest, for each submission. A copy of 8 bytes or",
               "less is a *word*: a table entry, a pointer or a register. Longer copies are commands and context images.",
               "Of GVT-g, what it copies by `vfio_dma_rw()` is counted; of ghyvi, what it copies at addresses of the",
               "guest's GGTT and page tables. Not counted are copies from one place in the host to another, which both",
               "make, and the entries that ghyvi reads in table pages, which it has mapped:")


def per(one, value, per_submission):
    return f"{value / max(one['submissions'], 1):.1f}" if per_submission else value


def gvtg_counts(section):
    """A row per case and system. The number of submissions of some programs depends on the time they take."""
    keys = ("exits", "mmio_exits", "write_protected", "registers", "ggtt")
    yield ("case", "system", "VM exits", "exits to QEMU for registers", "stores to write-protected pages", "register accesses",
           "GGTT accesses", "submissions")
    for case, what, per_submission in GVTG_CASES:
        for system, cases in section["systems"].items():
            one = cases[case]
            yield (what, gvtg_name(system), *(per(one, one[key], per_submission) if key in one else "" for key in keys),
                   "failed" if "failed" in one else one["submissions"])


def gvtg_in_guest(section):
    """The cases in which a guest runs: what it is, a system, its counts, whether they are for each submission."""
    for case, what, per_submission in GVTG_CASES:
        if case not in ("create", "replace"):
            for system, cases in section["systems"].items():
                yield what, gvtg_name(system), cases[case], per_submission


def gvtg_exits(section):
    """A column per reason that a hundredth of all exits have; the others together."""
    total = collections.Counter()
    for _, _, one, _ in gvtg_in_guest(section):
        total.update(one["reasons"])
    shown = [reason for reason, count in total.most_common() if count * 100 >= total.total()]
    yield "case", "system", *(f"`{reason}`" for reason in shown), "others"
    for what, system, one, per_submission in gvtg_in_guest(section):
        found = one["reasons"]
        others = sum(count for reason, count in found.items() if reason not in shown)
        yield what, system, *(per(one, found.get(reason, 0), per_submission) for reason in shown), per(one, others, per_submission)


def gvtg_copies(section):
    """Bytes for each submission, also of the cases that are counted as a whole."""
    yield "case", "system", "read", "read in words", "written", "written in words"
    for what, system, one, _ in gvtg_in_guest(section):
        yield (what.partition(",")[0], system,
               *(number(one[key] / max(one["submissions"], 1))
                 for key in ("guest_read_bytes", "guest_read_words_bytes", "guest_written_bytes", "guest_written_words_bytes")))


def gvtg_seconds(one, per_submission):
    """The driver's own time if the case loads it; otherwise with the start of the program."""
    return one.get("driver_s", one["seconds"]) / (max(one["submissions"], 1) if per_submission else 1)


def gvtg_times(section):
    base = section["systems"]["gvtg"]
    systems = [system for system in section["systems"] if system != "gvtg"]
    yield "case", *(gvtg_name(system) for system in systems)
    for case, what, per_submission in GVTG_CASES:
        both = ((section["systems"][system][case], base[case]) for system in systems)
        yield what, *("failed" if "failed" in one or "failed" in other else
                      number(gvtg_seconds(one, per_submission) / gvtg_seconds(other, per_submission)) for one, other in both)


def gvtg(section):
    """Without the tables of reasons and copies if the results do not have those."""
    lines = [*table(*gvtg_counts(section)), "", *GVTG_TIMES, "", *table(*gvtg_times(section))]
    if all("reasons" in one for _, _, one, _ in gvtg_in_guest(section)):
        lines += ["", *GVTG_EXITS, "", *table(*gvtg_exits(section)), "", *GVTG_COPIES, "", *table(*gvtg_copies(section))]
    return lines


BLOCK_KIB = "4096"
REMOTING = {"tcp": "PoCL, TCP", "vsock": "PoCL, vsock", "ghyvi": "ghyvi"}


def size(kib):
    return f"{int(kib) >> 10} MiB" if int(kib) >> 10 else f"{kib} KiB"


def relative(section):
    columns = [(system, operation) for system in REMOTING for operation in ("write", "read", "copy", "fill")]
    sizes = sorted({int(kib) for operations in section["relative"].values() for found in operations.values() for kib in found} - {0})
    yield "size", *(f"{REMOTING[system]}: {operation}" for system, operation in columns)
    for kib in sizes:
        cells = (section["relative"].get(system, {}).get(operation, {}).get(str(kib)) for system, operation in columns)
        yield f"**{size(kib)}**" if str(kib) == BLOCK_KIB else size(kib), *("" if cell is None else number(cell) for cell in cells)
    launches = (section["relative"].get(system, {}).get("launch", {}).get("0") if operation == "write" else None
                for system, operation in columns)
    yield "launch", *("" if cell is None else number(cell) for cell in launches)


def costs(section):
    yield "system", "operation", "VM exits", "CPU of the host, in copies", "CPU of host and guest, in copies"
    for one in section["costs"]:
        unit = "each" if one["operation"] == "launch" else "for each MiB"
        yield (REMOTING[one["system"]], f"{one['operation']}, {unit}", number(one["exits"]),
               *(number(one[key]) if key in one else "" for key in ("host_copies", "all_copies")))


def clients(section):
    numbers = sorted({one["clients"] for one in section["clients"]})
    yield "clients", *(f"{name}: {what}" for name in REMOTING.values() for what in ("all", "least share"))
    for count in numbers:
        found = {one["system"]: one for one in section["clients"] if one["clients"] == count}
        yield count, *(f"{found[system][key]:.2f}" if system in found else "" for system in REMOTING for key in ("total", "least_share"))


def span(values):
    values = sorted(values)
    return f"{number(values[0])} to {number(values[-1])}"


def block(section):
    """What writes and reads of a block of the papers cost, in a sentence for each system."""
    by_cpu = ("write", "read")
    for what, systems in (("With PoCL", ("tcp", "vsock")), ("With ghyvi", ("ghyvi",))):
        found = [section["relative"].get(system, {}).get(operation, {}).get(BLOCK_KIB) for system in systems for operation in by_cpu]
        taken = [ratio for ratio in found if ratio is not None]
        spent = [one["host_copies"] for one in section["costs"] if one["system"] in systems and one["operation"] in by_cpu]
        if taken and spent:
            yield (f"{what}, writes and reads of 4 MiB take {span(taken)} times as long as native, and the host spends the CPU time of "
                   f"{span(spent)} copies on them.")


def pocl(section):
    return ["Time over that of the native case, by size (4 MiB is the block of the papers):", "", *table(*relative(section)), "",
            "Costs, on blocks of 4 MiB:", "", *table(*costs(section)), "",
            "All clients together, relative to one client, and the least share of a client, relative to an equal share:", "",
            *table(*clients(section)), "", *block(section), "",
            "Tries that failed in this run: " + (", ".join(section["failed"]) or "none") + "."]


# The device that a system shares, or reaches, and what each of the two is.
SHARED = {"vgpu": "whole", "vgpu, CPU": "whole, CPU", "tcp": "pocl", "vsock": "pocl"}
COMPUTING = {"vgpu": "vGPU", "vgpu, CPU": "vGPU, the host's CPU time", "tcp": "PoCL, TCP", "vsock": "PoCL, vsock"}
LEVELS = {"all": "all", "0": "0: launches and copies", "1": "1: algorithms", "2": "2: applications"}


def shared(section):
    """System -> its ratios to the device, and the device."""
    found = ((system, device, section["ratios"].get(f"{system.partition(',')[0]}/{device}")) for system, device in SHARED.items())
    return {system: (ratios, device) for system, device, ratios in found if ratios}


def computing_kernels(section):
    found = shared(section)
    yield "kernel", "size", *(f"{name}, us" for name in ("all of the GPU", "PoCL in the host")), *(COMPUTING[system] for system in found)
    for one in section["kernels"]:
        yield (f"`{one['kernel']}`", one["size"], number(one["whole"]), number(one["pocl"]),
               *(number(one[system] / one[device]) if system in one else "" for system, (_, device) in found.items()))


def computing_levels(section):
    found = shared(section)
    yield "level", *(f"{COMPUTING[system]}: {what}" for system in found for what in ("geometric mean", "best", "worst"))
    for level, name in LEVELS.items():
        yield name, *(number(ratios[level][key]) for ratios, _ in found.values() for key in ("mean", "best", "worst"))


def computing_neighbour(section):
    yield ("kernel", "the other guest's work", "alone: P50, us", "P99, us", "wait for the engine, us", "beside it: P50, us", "P99, us",
           "wait, us", *(f"P99 over (2 x {base} + one time slice)" for base in section["beside"][0]["p99_over"]))
    for one in section["beside"]:
        keys = [f"{when}_{what}_us" for when in ("alone", "beside") for what in ("p50", "p99", "wait")]
        yield (f"`{one['kernel']}`", one["neighbour"], *(number(one[key]) for key in keys),
               *map(number, one["p99_over"].values()))


def compute(section):
    launches = section["costs"]
    return ["Time of each kernel over that of the device that is shared or reached:", "", *table(*computing_kernels(section)), "",
            *table(*computing_levels(section)), "",
            *(f"{COMPUTING[system]}, adds less to its device's time than the vGPU for: {', '.join(kernels) or 'no kernel'}."
              for system, kernels in section["behind"].items()), "",
            "`matmul` in several guests at once, relative to one:", "",
            *table(("guests", "all together", "Jain's index"),
                   *((count, one["total"], one["jain"]) for count, one in section["clients"].items())), "",
            "A guest's small kernels beside another guest, and how long its workloads wait for the engine in the mean:", "", *table(*computing_neighbour(section)), "",
            f"A launch costs {number(launches['exits'])} VM exits, {number(launches['mmio_exits'])} of them for registers, and "
            f"{number(launches['irq_injections'])} interrupts of the guest."]


COMPUTING_GEN9 = {"native": "i915 on the host", "adaptive:whole": "ghyvi, all of the GPU", "adaptive": "ghyvi, an eighth", "gvtg": "GVT-g, an eighth"}


def computing_gen9(system):
    name, _, cpu = system.partition(",")
    return COMPUTING_GEN9[name] + (", the host's CPU time" if cpu else "")


def compute_gen9(section):
    guests = list(section["ratios"])
    rows = [("kernel", "size", "native, us", *map(computing_gen9, guests))]
    for one in section["kernels"]:
        ratios = (section["ratios"][system].get(f"{one['kernel']} {one['size']}") for system in guests)
        rows.append((f"`{one['kernel']}`", one["size"], number(one["native_us"]), *("" if ratio is None else number(ratio) for ratio in ratios)))
    summary = section["summary"]
    return ["Time of each kernel over the native one:", "", *table(*rows), "",
            *table(("system", "geometric mean", "best", "worst"), *(
                (computing_gen9(system), number(summary[system]["mean"]),
                 *(f"{number(section['ratios'][system][summary[system][key]])} (`{summary[system][key]}`)" for key in ("least", "most")))
                for system in guests)), "",
            "What a kernel of level 1 or 2 takes longer than natively, in us:", "",
            *table(("system", "25 % of the kernels", "median", "75 %"), *((COMPUTING_GEN9[system], *map(number, values)) for system, values in section["added_us"].items())), "",
            "For each submission of these programs:", "",
            *table(("system", "VM exits", "register accesses", "GGTT accesses", "submissions"), *(
                (COMPUTING_GEN9[system], *(number(one[key]) for key in ("exits", "registers", "ggtt")), one["submissions"])
                for system, one in section["costs"].items()))]


WHOLE_CASES = (("load", "load of i915", False), ("gem_exec_nop", "gem_exec_nop", True), ("gem_blt", "gem_blt", True),
               ("blitcheck", "blitcheck", False), ("gmedia", "gmedia", False), ("launch", "empty batch, waited for", True),
               ("copy", "copy of 256 KiB", True), ("fill", "fill of 256 KiB", True), ("write", "write of 4 MiB by the CPU", False),
               ("read", "read of 4 MiB by the CPU", False))


def whole_name(system):
    return "native" if system == "native" else f"`{system.partition(':')[0]}`"


def whole(section):
    """A row per program, and the programs of each system in one."""
    def count(one, key, per_submission):
        return f"{one[key] / max(one['submissions'], 1):.1f}" if per_submission else one[key]

    systems = list(section["counts"])
    guests = list(section["ratios"])
    rows = [("program", *(f"time over native, {whole_name(system)}" for system in guests),
             *(f"VM exits, {whole_name(system)}" for system in guests),
             *(f"{what}, {whole_name(system)}" for what in ("register accesses", "GGTT accesses") for system in systems))]
    for case, what, per_submission in WHOLE_CASES:
        ratios = (section["ratios"][system].get(case) for system in guests)
        rows.append((what + (", counts for each submission" if per_submission else ""),
                     *("" if ratio is None else number(ratio) for ratio in ratios),
                     *(count(section["counts"][system][case], "exits", per_submission) for system in guests),
                     *(count(section["counts"][system][case], key, per_submission) for key in ("registers", "ggtt") for system in systems)))
    summary = section["summary"]
    names = {case: what for case, what, _ in WHOLE_CASES}
    return [*table(*rows), "", *table(("policy", "geometric mean", "best", "worst"), *(
        (whole_name(system), number(summary[system]["mean"]),
         *(f"{number(section['ratios'][system][summary[system][key]])} ({names[summary[system][key]]})" for key in ("least", "most")))
        for system in guests))]


PASSED = {"block": ("NVMe, passed through", {"launch": "flush"}), "i915": ("`gen9_1`, `nested`", {})}


def operation_name(system, one):
    name = PASSED[system][1].get(one["operation"], one["operation"])
    return f"{name} of {size(one['bytes'] >> 10)}" if one["bytes"] else name


def passthrough(section):
    """A row per operation of each device; then the operations of each in one."""
    rows = [("device", "operation", "native, us", "time over native", "VM exits for each", "interrupts of the device for each")]
    totals = [("device", "geometric mean", "best", "worst")]
    for system, (name, _) in PASSED.items():
        found = section["systems"][system]
        known = {f"{one['operation']} {one['bytes']}": one for one in found["operations"]}
        for one in known.values():
            rows.append((name, operation_name(system, one), number(one["native_us"]), number(one["ratio"]), number(one["exits"]),
                         number(one["interrupts"]) if system == "block" else ""))
        extremes = (known[found["summary"][key]] for key in ("least", "most"))
        totals.append((name, number(found["summary"]["mean"]), *(f"{number(one['ratio'])} ({operation_name(system, one)})" for one in extremes)))
    return [*table(*rows), "", *table(*totals)]


def gen9(section):
    """Counts for each submission: the programs run for a time, not for a number of submissions."""
    rows = [("program", "policy", "speed over `strict`", "VM exits", "exits for table writes", "entries compared", "submissions")]
    for case in section["cases"]:
        for name, one in case["policies"].items():
            rows.append((case["name"], f"`{name}`", f"{one['speed']:.2f}",
                         *(number(one[key] / max(one["submissions"], 1)) for key in ("exits", "traps", "entries_compared")),
                         one["submissions"]))
    return [f"Rounds: {section['rounds']}. VM exits, those for table writes, and entries compared, for each submission:", "",
            *table(*rows)]


# The tries of selftests/guest/isolation, in the order of the list in gen9_isolation_test.c.
TRIES = (("late_ring", "a command of a ring, changed after the submission, is executed"),
         ("late_kernel_batch", "the same in a batch of the GGTT"),
         ("image_batch", "the batch that the guest's context image names is executed"),
         ("blitter_writes_register", "a user batch of the blitter writes a register of the render engine"),
         ("blitter_reads_register", "it reads the address of the host's status page"),
         ("store_index", "a store to the status page (MI_FLUSH_DW) is in none of the guest's pages"),
         ("register_of_another_context", "a new context reads a register (GPR) of the context before it"),
         ("unmapped_address", "a vGPU loads what another one stored to an unmapped address of the GGTT"),
         ("foreign_address", "a ring loads from the GGTT outside of the vGPU's part"))
REGISTERS_WHAT = "a value that the guest wrote to {} is written to the GPU's"
FETCHED = "ggtt-not-present", "an engine fetches from an address of the GGTT without an entry"


def isolation(section):
    systems = [section["systems"].get(name) for name in ("gen9", "gvtg")]

    def row(what, cell):
        return (what, *("not measured" if system is None else cell(system) for system in systems))

    rows = [("what a guest tries", "ghyvi-gen9", "GVT-g")]
    rows += [row(what, lambda system, name=name: system["tries"].get(name, "not reached")) for name, what in TRIES]
    registers = next(system["registers"] for system in systems if system)
    rows += [row(REGISTERS_WHAT.format(name), lambda system, name=name: "broken" if system["registers"][name] else "kept")
             for name in registers]
    name, what = FETCHED
    rows.append(row(what, lambda system: "broken" if system["reports"].get(name) else "kept"))
    return table(*rows)


SECTIONS = {"multicall": multicall, "declared": declared, "ghyvi": ghyvi, "schedulers": schedulers, "gvtg": gvtg, "pocl": pocl, "compute": compute,
            "compute_gen9": compute_gen9, "whole": whole, "passthrough": passthrough, "gen9": gen9, "isolation": isolation}


def load():
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS) as file:
        return json.load(file)


def rewritten(text, results):
    """The page @text with the tables of @results."""
    def section(found):
        begin, name, end = found.groups()
        if name not in results:
            return begin + end
        return begin + "\n" + "\n".join(SECTIONS[name](results[name])) + "\n\n" + end

    return MARKED.sub(section, text)


def differences(name, old, new):
    """Yields where the page @name is not what the results say."""
    old, new = old.splitlines(), new.splitlines()
    for number_of_line, line in enumerate(old):
        if number_of_line >= len(new) or line != new[number_of_line]:
            yield f"{name}:{number_of_line + 1}: not what compared.json says; run make compare"
            return
    if len(old) != len(new):
        yield f"{name}: shorter than compared.json says; run make compare"


def disagreements():
    """Yields what the page does not have as the results say."""
    known = load()
    with open(PAGE) as file:
        text = file.read()
    yield from differences(os.path.basename(PAGE), text, rewritten(text, known))
    for name in sorted(set(SECTIONS) - {found.group(2) for found in MARKED.finditer(text)}):
        yield f"the page has no marks for {name}"
    for name in sorted(set(SECTIONS) - set(known)):
        yield f"compared.json: no results of {name}"
