# SPDX-License-Identifier: GPL-2.0-only
"""Figures like those of the gHyvi paper (USENIX ATC '15), drawn by gnuplot from the benchmark's
report."""

import subprocess

HEAD = "set terminal svg size 900,420 font 'sans,12' background 'white'\nset grid ytics\n"


def gnuplot(path, script):
    subprocess.run(["gnuplot"], input=f"{HEAD}set output '{path}'\n{script}", text=True, check=True)
    return path


def quoted(text):
    return '"' + text.replace("_", "\\\\_") + '"'


def bars(path, title, ylabel, report, policies, value):
    """Draws a group of bars per case and a bar per policy; value(policy result, case) may be
    None."""
    rows = []
    for case in report["cases"]:
        cells = []
        for name in policies:
            result = case["policies"].get(name)
            number = value(result, case) if result else None
            cells.append("NaN" if number is None else f"{number:.6g}")
        rows.append(f"{quoted(case['name'])} " + " ".join(cells))
    data = "$data << EOD\n" + "\n".join(rows) + "\nEOD\n"
    plots = ", ".join(f"$data using {column + 2}:xtic(1) title {quoted(name)}" for column, name in enumerate(policies))
    return gnuplot(path, f"{data}set title '{title}'\nset ylabel '{ylabel}'\nset style data histogram\n"
                         f"set style histogram cluster gap 1\nset style fill solid 0.8\nset boxwidth 0.9\n"
                         f"set yrange [0:*]\nset key outside\nset xtics rotate by -20\nplot {plots}\n")


def lines(path, title, xlabel, ylabel, points):
    data = "$data << EOD\n" + "\n".join(f"{x} {y}" for x, y in points) + "\nEOD\n"
    return gnuplot(path, f"{data}set title '{title}'\nset xlabel '{xlabel}'\nset ylabel '{ylabel}'\nset nokey\n"
                         "plot $data using 1:2 with impulses\n")


def relative(result, case):
    """Speed relative to `nested` if it was measured, else to the best policy of the case."""
    base = case["policies"].get("nested") or max(case["policies"].values(), key=lambda one: one["fps"])
    return result["fps"] / base["fps"] if base["fps"] else None


def exit_share(name):
    def value(result, case):
        exits = result["exits"].get("exits")
        return 100.0 * result["exits"].get(name, 0) / exits if exits else None
    return value


def per_submission(counter):
    return lambda result, case: result[counter] / result["submissions"] if result["submissions"] else None


def draw(report, pattern, out):
    """Returns the paths of the figures; skips a figure if none of its policies was measured."""
    names = []
    for case in report["cases"]:
        names += [name for name in case["policies"] if name not in names]

    def some(*wanted):
        return [name for name in wanted if name in names]

    wanted = [
        (f"{out}/figure-04-strict.svg", "speed under strict and segmented (paper: figure 4)", "relative to the best",
         report, some("strict", "segmented", "nested"), relative),
        (f"{out}/figure-12-full.svg", "full reconstruction (paper: figure 12)", "relative to the best", report,
         some("strict", "full"), relative),
        (f"{out}/figure-13-static.svg", "static partial reconstruction (paper: figure 13)", "relative to the best",
         report, some("strict", "static", "full"), relative),
        (f"{out}/figure-14-dynamic-segmented.svg", "dynamic and segmented (paper: figure 14)",
             "relative to the best", report, some("dynamic", "segmented", "oos", "adaptive", "relaxed"), relative),
        (f"{out}/policies.svg", "every policy", "relative to the best", report, names, relative),
        (f"{out}/table-1-exits.svg", "share of VM exits that are page faults (paper: table 1)", "percent", report,
         names, exit_share("pf_taken")),
        (f"{out}/traps.svg", "trapped stores per submission", "stores", report, names, per_submission("traps")),
        (f"{out}/scans.svg", "table pages compared per submission", "pages", report, names,
         per_submission("pages_scanned")),
    ]
    made = [bars(*figure) for figure in wanted if figure[4]]
    if pattern and pattern["pages"]:
        made.append(lines(f"{out}/figure-06-pages.svg", "stores to each table page (paper: figure 6)",
                          "table page, by guest address", "stores", list(enumerate(pattern["pages"]))))
        for number, step, span in ((7, 0.1, None), (8, 0.002, 0.2)):
            counts = {}
            for moment in pattern["times"]:
                if span is None or moment < span:
                    counts[int(moment / step)] = counts.get(int(moment / step), 0) + 1
            made.append(lines(f"{out}/figure-{number:02}-time.svg",
                              f"stores over time, {step} s steps (paper: figure {number})", "seconds", "stores",
                              [(round(at * step, 4), count) for at, count in sorted(counts.items())]))
    return made
