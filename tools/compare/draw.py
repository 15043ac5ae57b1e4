# SPDX-License-Identifier: GPL-2.0-only
"""Figures like those of the papers, from the results of `make compare`, by gnuplot."""

import os
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{TREE}/tools/bench")
import figures  # noqa: E402


def plot(path, title, xlabel, ylabel, curves, extra=""):
    """Draws the curves, each a name and its points."""
    data = "".join(f"$data{i} << EOD\n" + "".join(f"{x} {y}\n" for x, y in points) + "EOD\n" for i, (_, points) in enumerate(curves))
    drawn = ", ".join(f"$data{i} using 1:2 with linespoints pointsize 0.4 title {figures.quoted(name)}" for i, (name, _) in enumerate(curves))
    return figures.gnuplot(path, f"{data}set title '{title}'\nset xlabel '{xlabel}'\nset ylabel '{ylabel}'\nset key outside\n{extra}plot {drawn}\n")


def multicall(section, out):
    for trace in section["traces"]:
        batches = [int(batch) for batch in trace["multicall"]]
        curves = [("multicall", [(batch, trace["multicall"][str(batch)]["exits_per_update"]) for batch in batches])]
        for name, result in trace["policies"].items():
            if result["exits_per_update"]:  # 0 has no place on a logarithmic axis
                curves.append((name, [(batch, result["exits_per_update"]) for batch in (batches[0], batches[-1])]))
        name = trace["name"].replace(",", "").replace(" ", "-")
        yield plot(f"{out}/multicall-{name}.svg", f"exits for each update, {trace['name']}", "updates in a batch of multicall", "exits",
                   curves, "set logscale xy\n")


def bars(path, title, ylabel, cases, names, value):
    """@cases: pairs of a name and the results by policy."""
    report = {"cases": [{"name": name, "policies": results} for name, results in cases]}
    return figures.bars(path, title, ylabel, report, names, lambda result, case: value(result))


def ghyvi(section, out):
    for resolution, speed in section["speed"].items():
        native = [("native", [(threads, section["model"]["native_fps"][resolution]) for threads in section["threads"]])]
        yield plot(f"{out}/ghyvi-04-{resolution}.svg", f"{resolution}: speed by threads, modelled (paper: figure 4)", "threads", "frames/s",
                   native + [(name, list(zip(section["threads"], fps))) for name, fps in speed.items()], "set yrange [0:*]\n")
    counts = section["updates"]
    yield figures.lines(f"{out}/ghyvi-06-pages.svg", "720p heavy: updates of each table page (paper: figure 6)", "table page", "updates",
                        list(enumerate(counts["pages"])))
    yield figures.lines(f"{out}/ghyvi-07-time.svg", "720p heavy under strict: updates in 0.1 s (paper: figure 7)", "seconds", "updates",
                        [(i / 10, count) for i, count in enumerate(counts["per_100_ms"])])
    yield figures.lines(f"{out}/ghyvi-08-time.svg", "720p heavy under strict: updates in 2 ms (paper: figure 8)", "seconds", "updates",
                        [(i / 500, count) for i, count in enumerate(counts["per_2_ms"])])
    cases = [(f"{case['resolution']} {case['threads']}t", {"native": case["native"], **case["fps"]}) for case in section["cases"]]
    statics = [name for name in cases[0][1] if name.startswith("static")]
    for number, name, title, names in (
            (12, "full", "full reconstruction", ["native", "strict", "full"]),
            (13, "static", "static partial reconstruction", ["native", "strict", *statics]),
            (14, "dynamic-segmented", "dynamic and segmented", ["native", "dynamic", "segmented", "oos", "adaptive", "multicall 64", "multicall 512"])):
        yield bars(f"{out}/ghyvi-{number}-{name}.svg", f"{title}, modelled (paper: figure {number})", "frames/s", cases, names, lambda fps: fps)
    names = list(section["exits"]["15t-720p"])
    yield bars(f"{out}/ghyvi-table-1.svg", "EPT violations among all exits, modelled (paper: table 1)", "percent",
               section["exits"].items(), names, lambda result: result["ept_percent"])


def schedulers(section, out):
    rows = {}
    for row in section["rows"]:
        rows.setdefault(f"{row['guests']} guests", {})[row["policy"]] = row
    for name, title, key in (("utilisation", "utilisation", "utilisation"),
                             ("shares", "share of the half of the guests with short requests", "short_share"),
                             ("fairness-500ms", "Jain index over 500 ms, 5th percentile", "jain_500ms_p5"),
                             ("fairness-100ms", "Jain index over 100 ms, 5th percentile", "jain_100ms_p5")):
        yield bars(f"{out}/gpuvm-{name}.svg", f"requests of 1.0 and 5.9 ms: {title}", title, rows.items(),
                   ["fifo", "credit", "band", "fair"], lambda row, key=key: row[key])


def pocl(section, out):
    for operation in ("write", "read", "copy", "fill"):
        curves = [(system, [(int(kib) / 1024, ratio) for kib, ratio in operations[operation].items()])
                  for system, operations in section["relative"].items() if operation in operations]
        yield plot(f"{out}/pocl-{operation}.svg", f"{operation}: time over native", "MiB", "time over native", curves, "set logscale xy\n")
    rows = {}
    for one in section["clients"]:
        rows.setdefault(one["system"], []).append((one["clients"], one["total"]))
    yield plot(f"{out}/pocl-clients.svg", "blocks of 4 MiB: all clients, relative to one", "clients", "throughput over one client",
               rows.items(), "set yrange [0:*]\n")


def whole(section, out):
    cases = [(case, {system: 1 / found[case] for system, found in section["ratios"].items()})
             for case in next(iter(section["ratios"].values()))]
    yield bars(f"{out}/ghyvi-15-linux.svg", "speed over native, all of the GPU (paper: figure 15)", "speed over native", cases,
               list(section["ratios"]), lambda speed: speed)


PARTS = {"multicall": multicall, "ghyvi": ghyvi, "schedulers": schedulers, "pocl": pocl, "whole": whole}
