# SPDX-License-Identifier: GPL-2.0-only
"""Runs the simulators and reduces their results to the figures of Documentation/results/compared.md. Each
of the functions in PARTS returns one section of compared.json there."""

import csv
import json
import lzma
import os
import statistics
import subprocess
import tempfile

import page

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = f"{TREE}/build"
SIM = f"{BUILD}/sim/ghyvi-sim"
RECORDED = f"{TREE}/tools/sim/traces/gmedia-480p-heavy.trc.xz"
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
POLICIES = ("strict", "full", "static", "dynamic", "segmented", "oos", "adaptive", "relaxed")


class Skipped(Exception):
    """A part that this machine cannot run, and the reason."""


def build(folder, setup):
    """Builds the programs of tools/@folder, which need the packages of the part @setup."""
    checked = subprocess.run([f"{TREE}/tools/setup", "--check", setup], capture_output=True, text=True, check=False)
    if checked.returncode:
        raise Skipped(checked.stderr.strip())
    made = subprocess.run(["make", "-s", "-C", f"{TREE}/tools/{folder}", f"BUILD={BUILD}"], capture_output=True, text=True, check=False)
    if made.returncode:
        raise RuntimeError(f"tools/{folder} does not build:\n{made.stderr}")


def simulate(*arguments):
    return json.loads(subprocess.run([SIM, *arguments, "--json"], check=True, stdout=subprocess.PIPE).stdout)


def significant(value):
    """Four significant digits: no figure is more accurate, and the file has no noise."""
    return float(f"{value:.4g}")


# ---- multicall ----

def exits_of(result):
    """What one policy, or one batch size of multicall, takes for each update."""
    updates = result["table_writes"]
    return {"exits_per_update": significant(result["exits_per_write"]),
            "cost_ns_per_update": significant(result["cost_ns"] / updates),
            "entries_ns_per_update": significant(result["entries_ns"] / updates)}


def multicall_on(name, *source):
    result = simulate(*source, "--policy", "all")
    one = {"name": name, "updates": result["trace"]["table_writes"], "submissions": result["trace"]["submissions"],
           "policies": {policy: exits_of(result["policies"][policy]) for policy in POLICIES}, "multicall": {}}
    for batch in BATCHES:
        counts = simulate(*source, "--policy", "multicall", "--batch", str(batch))
        one["multicall"][str(batch)] = exits_of(counts["policies"]["multicall"])
    return one, result["tuning"]


def multicall(say):
    build("sim", "sim")
    traces = []
    for resolution, case in (("480p", "heavy"), ("720p", "heavy"), ("1080p", "heavy"), ("720p", "normal")):
        say(f"multicall: {resolution} {case}")
        one, tuning = multicall_on(f"{resolution} {case}", "--gmedia", resolution, "--case", case, "--entry-bytes", "8")
        traces.append(one)
    say("multicall: recorded trace")
    with tempfile.NamedTemporaryFile(suffix=".trc") as trace, lzma.open(RECORDED) as source:
        trace.write(source.read())
        trace.flush()
        traces.append(multicall_on("480p heavy, recorded", "--trace", trace.name)[0])
    return {"tuning": {key: tuning[key] for key in ("trap_ns", "scan_ns", "protect_ns", "entry_ns")}, "traces": traces}


# ---- gHyvi ----

# The model of a frame: 1 / native + traps * TRAP + pages * PAGE + entries * ENTRY. The three costs
# were fitted to three statements of the paper (13 times gVirt, 85 % of native, 100 to 200 frames/s
# under full); the other figures follow from them. PAGE includes the protection.
TRAP_NS, PAGE_NS, ENTRY_NS = 14900, 1880, 121
NATIVE_FPS = {"480p": 800, "720p": 355, "1080p": 158}
# The number of threads from which surfaces of 50 for each thread exceed 672 MB.
ONSET = {"480p": 28, "720p": 11, "1080p": 5}
HEAVY_FRAMES = {"480p": 617, "720p": 232, "1080p": 103}
NORMAL_FRAMES = 1000
THREADS = range(4, 31)
CASES = (("480p", 20), ("480p", 30), ("720p", 7), ("720p", 15), ("1080p", 4), ("1080p", 10))
STATIC_PAGES = (50, 100, 200, 300)
# VM exits of a frame that page tables do not cause: EPT violations of registers, and others.
OTHER_EXITS = {("720p", 15): (555, 1964), ("1080p", 10): (1645, 2008)}


def frame_of(result, frames, native_fps):
    """What a frame takes under one policy."""
    traps = result.get("traps", result["exits"])
    entries = result["entries"] if "entries" in result else result["entries_found"]
    cost = traps * TRAP_NS + result.get("pages_scanned", 0) * PAGE_NS + entries * ENTRY_NS
    return {"fps": significant(1 / (1 / native_fps + cost / frames / 1e9)), "exits": significant(result["exits"] / frames)}


def policies_of(resolution, heavy):
    """The frames of all policies, by name."""
    source = ["--gmedia", resolution, "--case", "heavy" if heavy else "normal", "--entry-bytes", "4"]
    frames = HEAVY_FRAMES[resolution] if heavy else NORMAL_FRAMES
    found = {}
    result = simulate(*source, "--policy", "all")["policies"]
    for name in ("strict", "full", "dynamic", "segmented", "oos", "adaptive"):
        found[name] = frame_of(result[name], frames, NATIVE_FPS[resolution])
    for pages in STATIC_PAGES:
        result = simulate(*source, "--policy", "static", "--static-pages", str(pages))["policies"]["static"]
        found[f"static {pages}"] = frame_of(result, frames, NATIVE_FPS[resolution])
    for batch in (64, 512):
        result = simulate(*source, "--policy", "multicall", "--batch", str(batch))["policies"]["multicall"]
        found[f"multicall {batch}"] = frame_of(result, frames, NATIVE_FPS[resolution])
    return found


def table_1(resolution, threads, frames):
    """The share of EPT violations in all exits, and all exits relative to strict."""
    registers, others = OTHER_EXITS[resolution, threads]
    total = {name: frame["exits"] + registers + others for name, frame in frames.items()}
    return {name: {"ept_percent": significant(100 * (frame["exits"] + registers) / total[name]),
                   "exits_over_strict": significant(total[name] / total["strict"])}
            for name, frame in frames.items() if not name.startswith("multicall")}


def updates_720p():
    """The stores to each table page, and the time of each under strict, from the trace."""
    frame_ns = 1e9 / NATIVE_FPS["720p"]
    pages, times, now = {}, [], 0
    with tempfile.NamedTemporaryFile(suffix=".trc") as trace:
        subprocess.run([SIM, "--gmedia", "720p", "--write-trace", trace.name], check=True)
        text = subprocess.run([f"{TREE}/tools/sim/trace-csv", trace.name], check=True, capture_output=True, text=True).stdout
    for row in csv.DictReader(text.splitlines()):
        if row["record"] == "submission":
            now += frame_ns / 4
            continue
        pages[int(row["page"])] = pages.get(int(row["page"]), 0) + int(row["n"])
        times += [now + TRAP_NS * i for i in range(int(row["n"]))]
        now += TRAP_NS * int(row["n"])
    return pages, times


def histogram(times, step_ns, end_ns):
    counts = [0] * round(end_ns / step_ns)
    for time in times:
        if time < end_ns:
            counts[int(time / step_ns)] += 1
    return counts


def ghyvi(say):
    build("sim", "sim")
    frames = {}
    for resolution in NATIVE_FPS:
        for heavy in (False, True):
            say(f"gHyvi: {resolution} {'heavy' if heavy else 'normal'}")
            frames[resolution, heavy] = policies_of(resolution, heavy)
    say("gHyvi: updates by page and time")
    pages, times = updates_720p()
    cases = []
    for resolution, threads in CASES:
        heavy = threads >= ONSET[resolution]
        cases.append({"resolution": resolution, "threads": threads, "heavy": heavy, "native": NATIVE_FPS[resolution],
                      "fps": {name: frame["fps"] for name, frame in frames[resolution, heavy].items()}})
    speed = {resolution: {name: [frames[resolution, threads >= ONSET[resolution]][name]["fps"] for threads in THREADS]
                          for name in ("strict", "segmented", "adaptive")} for resolution in NATIVE_FPS}
    return {"model": {"trap_ns": TRAP_NS, "page_ns": PAGE_NS, "entry_ns": ENTRY_NS, "native_fps": NATIVE_FPS, "onset_threads": ONSET},
            "cases": cases, "threads": list(THREADS), "speed": speed,
            "exits": {f"{threads}t-{resolution}": table_1(resolution, threads, frames[resolution, True])
                      for resolution, threads in OTHER_EXITS},
            "updates": {"total": len(times), "seconds": significant(times[-1] / 1e9), "pages": [pages.get(page, 0) for page in range(512)],
                        "per_100_ms": histogram(times, 1e8, 1e10), "per_2_ms": histogram(times, 2e6, 2e8)}}


# ---- schedulers ----

def schedulers(say):
    build("sched-sim", "sim")
    say("schedulers: all experiments under a virtual clock (half a minute)")
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        done = subprocess.run([f"{BUILD}/sched-sim/sched-sim", "--json", out.name], stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 1):  # 1: a goal of make bench-sched was missed
            raise RuntimeError(f"sched-sim: status {done.returncode}")
        experiments = json.load(out)["experiments"]
    found = []
    for one in experiments:
        if one["name"] == "isolation 1:5.9" and one["depth"] == 1 and one["vgpus"] in (2, 4, 8):
            half = one["vgpus"] // 2
            found.append({"policy": one["policy"], "guests": one["vgpus"], "short_share": significant(sum(one["shares"][:half])),
                          **{key: significant(one[key]) for key in ("utilisation", "jain_1s", "jain_500ms_p5", "jain_100ms_p5")}})
    return {"request_ms": [1.0, 5.9], "think_us": 50, "rows": found}


# ---- results of benchmarks in the lab ----

def report_of(bench):
    """What the last `make bench-...` on this machine found."""
    path = f"{BUILD}/{bench}.json"
    if not os.path.exists(path):
        raise Skipped(f"needs build/{bench}.json: run make {bench}")
    with open(path) as file:
        report = json.load(file)
    if report["problems"]:
        raise Skipped(f"the last make {bench} had problems: {report['problems'][0]}")
    return report


def gvtg(say):
    report = report_of(LAB["gvtg"])
    left_out = set(page.load()["gvtg"]["systems"]) - set(report["systems"])
    if left_out:
        raise Skipped(f"the last make {LAB['gvtg']} left out {', '.join(sorted(left_out))}")
    say("gvtg: figures of the last make bench-gvtg")
    return {"machine": report["machine"], "systems": {system: {case: {key: value for key, value in one.items() if key not in ("mark", "said")}
                                                               for case, one in cases.items()}
                                                      for system, cases in report["systems"].items()}}


# What each system is relative to: the same program in the host VM, in the same boot.
NATIVE_OF = {"tcp": "opencl", "vsock": "opencl", "ghyvi": "memory"}


def relative_times(report):
    """Time over the native time, by system, operation and size in KiB."""
    native = {(system, one["operation"], one["bytes"]): one["median_s"] for system, found in report["native"].items() for one in found}
    ratios = {}
    for system, found in report["guest"].items():
        # The costs have the block's size, also where a program failed at another one.
        for one in [*report["costs"][system], *found]:
            base = native.get((NATIVE_OF[system], one["operation"], one["bytes"]))
            if base:
                sizes = ratios.setdefault(system, {}).setdefault(one["operation"], {})
                sizes[str(one["bytes"] >> 10)] = significant(one["median_s"] / base)
    return ratios


def costs_of(report):
    """Exits and CPU time for each MiB, or for each launch. The unit of CPU time is that of memcpy() for as much."""
    copy_s = next(one["median_s"] / one["bytes"] for one in report["native"]["memory"]
                  if one["operation"] == "copy" and one["bytes"] == BLOCK_BYTES)
    for system, found in report["costs"].items():
        for one in found:
            work = one["rounds"] * one["bytes"] / MIB or one["rounds"]
            cost = {"system": system, "operation": one["operation"], "exits": significant(one["exits"] / work),
                    "host_cpu_s": one["cpu_s"] - one["guest_cpu_s"], "rounds": one["rounds"]}
            if one["bytes"]:
                for key, seconds in (("host_copies", cost["host_cpu_s"]), ("all_copies", one["cpu_s"])):
                    cost[key] = significant(seconds / (one["rounds"] * one["bytes"] * copy_s))
            cost["host_cpu_s"] = significant(cost["host_cpu_s"])
            yield cost


def clients_of(report):
    """What the clients move until the last of them ends, relative to one client, and what the slowest gets of its equal share."""
    def together(clients):
        return sum(one["bytes"] * one["rounds"] for one in clients) / max(one["seconds"] for one in clients)

    for system, found in report["clients"].items():
        for number, clients in found.items():
            if clients and found.get("1"):
                speeds = [one["bytes"] * one["rounds"] / one["seconds"] for one in clients]
                yield {"system": system, "clients": int(number), "total": significant(together(clients) / together(found["1"])),
                       "least_share": significant(min(speeds) * len(speeds) / sum(speeds))}


MIB = 1 << 20
BLOCK_BYTES = 4 * MIB


def pocl(say):
    report = report_of(LAB["pocl"])
    say("pocl: figures of the last make bench-pocl")
    return {"machine": report["machine"], "pocl": report["pocl"], "relative": relative_times(report),
            "costs": list(costs_of(report)), "clients": list(clients_of(report)),
            "failed": report["failed"]}


KINDS_OF_TIME = {"us": "", "cpu_us": ", CPU"}


def compute(say):
    """Kernels in a guest, relative to those of a device that is not shared."""
    report = report_of(LAB["compute"])
    if set(report["systems"]) != {"pocl", "whole", "vgpu", "tcp", "vsock"} or not report["beside"]:
        raise Skipped(f"the last make {LAB['compute']} left something out")
    say("compute: figures of the last make bench-compute")
    times = {name: {f"{one['kernel']} {one['size']}": one for one in found} for name, found in report["systems"].items()}
    return {"machine": report["machine"],
            "kernels": [{"kernel": one["kernel"], "size": one["size"], "level": one["level"],
                         **{f"{name}{suffix}": significant(found[key][what]) for name, found in times.items()
                            for what, suffix in KINDS_OF_TIME.items() if what in found.get(key, ())}}
                        for key, one in times["vgpu"].items()],
            **{key: report[key] for key in ("ratios", "behind", "clients", "beside", "costs")}}


def per_submission(case):
    """What the programs of OpenCL cost: they run for a time, not for a number of kernels."""
    return {"submissions": case["submissions"], **{key: significant(case[key] / case["submissions"]) for key in ("exits", "registers", "ggtt")}}


def compute_gen9(say):
    """Kernels on the emulated Skylake: times relative to those of the host itself, and counts."""
    report = report_of(LAB["compute_gen9"])
    say("compute_gen9: figures of the last make bench-compute-gen9")
    computed = {system: cases.get("compute", {}) for system, cases in report["systems"].items()}
    found = {system: {f"{one['kernel']} {one['size']}": one for one in case.get("kernels", ())} for system, case in computed.items()}
    if not found.get("native") or not all(found.values()):
        raise Skipped(f"the last make {LAB['compute_gen9']} left something out")
    native = found.pop("native")
    ratios = {f"{system}{suffix}": {key: significant(one[what] / native[key][what]) for key, one in kernels.items() if key in native}
              for system, kernels in found.items() for what, suffix in KINDS_OF_TIME.items()}
    added = {system: [one["us"] - native[key]["us"] for key, one in kernels.items() if native[key]["level"]] for system, kernels in found.items()}
    return {"machine": report["machine"], "ratios": ratios, "summary": {system: summary(one) for system, one in ratios.items()},
            "added_us": {system: [significant(value) for value in statistics.quantiles(values, n=4)] for system, values in added.items()},
            "kernels": [{"kernel": one["kernel"], "size": one["size"], "level": one["level"], "native_us": significant(one["us"])}
                        for one in native.values()],
            "costs": {system: per_submission(case) for system, case in computed.items()}}


# What the programs of make bench-whole print, as seconds.
TIMES = {
    "load": lambda one: one["driver_s"],
    "gem_exec_nop": lambda one: float(one["said"].split()[-1]) / 1e6,
    "blitcheck": lambda one: json.loads(one["said"])["seconds"],
    "gmedia": lambda one: 1 / json.loads(one["said"])["fps_total"],
    **dict.fromkeys(("launch", "copy", "fill", "write", "read"), lambda one: json.loads(one["said"])["median_s"]),
}


def summary(ratios):
    """The geometric mean of times over native, and the names of the least and of the most."""
    return {"mean": significant(statistics.geometric_mean(ratios.values())), "least": min(ratios, key=ratios.get),
            "most": max(ratios, key=ratios.get)}


def whole(say):
    """Programs with all of the GPU: counts, and times relative to those of the host itself."""
    report = report_of(LAB["whole"])
    say("whole: figures of the last make bench-whole")
    times = {system: {case: TIMES[case](one) for case, one in cases.items() if case in TIMES and "failed" not in one}
             for system, cases in report["systems"].items()}
    native = times.pop("native")
    ratios = {system: {case: significant(seconds / native[case]) for case, seconds in found.items() if case in native}
              for system, found in times.items()}
    return {"machine": report["machine"], "ratios": ratios,
            "summary": {system: summary(found) for system, found in ratios.items()},
            "counts": {system: {case: {key: one[key] for key in ("exits", "registers", "ggtt", "submissions")}
                                for case, one in cases.items() if case not in ("create", "replace")} for system, cases in report["systems"].items()}}


def passthrough(say):
    """A device that is passed through, and all of the software pGPU: times over native, and counts for each operation."""
    report = report_of(LAB["passthrough"])
    say("passthrough: figures of the last make bench-passthrough")
    systems = {}
    for system, native in (("block", "block"), ("i915", "memory")):
        base = {(one["operation"], one["bytes"]): one["median_s"] for one in report["native"][native]}
        systems[system] = {"operations": [
            {"operation": one["operation"], "bytes": one["bytes"], "rounds": one["rounds"],
             "ratio": significant(one["median_s"] / base[one["operation"], one["bytes"]]),
             "native_us": significant(base[one["operation"], one["bytes"]] * 1e6),
             **{key: significant(one[key] / one["rounds"]) for key in ("exits", "interrupts")}} for one in report["guest"][system]]}
        ratios = {f"{one['operation']} {one['bytes']}": one["ratio"] for one in systems[system]["operations"]}
        systems[system]["summary"] = summary(ratios)
    return {"machine": report["machine"], "systems": systems}


def gen9(say):
    """The policies on ghyvi-gen9: speed relative to strict, and counts. The median round of each."""
    report = report_of(LAB["gen9"])
    say("gen9: figures of the last GHYVI_PGPU=gen9 make bench")
    return {"machine": report["machine"], "rounds": report["rounds"],
            "cases": [{"name": case["name"], "policies": {
                name: {"speed": significant(one["fps"] / case["policies"]["strict"]["fps"]), "exits": one["exits"]["exits"],
                       **{key: one[key] for key in ("traps", "entries_compared", "submissions")}}
                for name, one in case["policies"].items()}} for case in report["cases"]]}


def isolation(say):
    """What a guest could do on each system that it must not: the verdicts, without the texts."""
    report = report_of(LAB["isolation"])
    say("isolation: figures of the last make bench-isolation")
    return {"machine": report["machine"], "systems": {
        system: {"tries": {name: one["verdict"] for name, one in found["tries"].items() if name != "registers_of_the_host"},
                 "registers": found["registers"], "reports": found["reports"]}
        for system, found in report["systems"].items()}}


def declared(say):
    report = report_of(LAB["declared"])
    say("declared: figures of the last make bench-multicall")
    return {"machine": report["machine"], "rounds": report["rounds"], "found": report["found"]}


PARTS = {"multicall": multicall, "declared": declared, "ghyvi": ghyvi, "schedulers": schedulers, "gvtg": gvtg, "pocl": pocl, "compute": compute, "compute_gen9": compute_gen9,
         "whole": whole, "passthrough": passthrough, "gen9": gen9, "isolation": isolation}
# Parts with other figures in each run, and the target of make that measures them.
LAB = {"declared": "bench-multicall", "gvtg": "bench-gvtg", "pocl": "bench-pocl", "compute": "bench-compute",
       "compute_gen9": "bench-compute-gen9", "whole": "bench-whole", "passthrough": "bench-passthrough", "gen9": "bench-gen9", "isolation": "bench-isolation"}


def in_lab(parts, say):
    """Runs the benchmarks of @parts that are in the lab; each takes minutes. Yields the parts whose benchmark failed: their report,
    if there is one, is of an earlier run."""
    for name in parts:
        if name not in LAB:
            continue
        say(f"{name}: make {LAB[name]}")
        status = subprocess.run(["make", "--no-print-directory", "-C", TREE, LAB[name]], check=False).returncode
        if status:
            say(f"{name}: skipped: make {LAB[name]} failed with status {status}; the page keeps the earlier results")
            yield name
