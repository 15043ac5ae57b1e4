# SPDX-License-Identifier: GPL-2.0-only
"""ghyvictl report: a self-contained page, from a recording or from live vGPUs."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import threading
import time
import xml.etree.ElementTree as xml

from ktap import Skip, test
from toolslib import DONE, ERROR, NOT_FOUND, USAGE, ctl, require, tree, where
from tree import REFUSING, UUIDS

CHARTS = 7
NOBODY = 65534
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SVG = "{http://www.w3.org/2000/svg}"


def vgpu(uuid, policy, exits, submissions):
    rates = {"table_write_traps": exits, "submissions_rcs": submissions, "submissions_bcs": 0, "syncs": submissions,
             "entries_compared": 512 * submissions, "busy_ns_rcs": 1e6 * submissions}
    return {"uuid": uuid, "name": "ghyvi-gen9_4", "policy": policy, "rates_per_s": rates,
            "counters": {**{name: 10 * value for name, value in rates.items()}, "relaxed_now": 7, "pinned_pages_now": 4711}}


def recording(made, *rounds):
    made.write("rounds", "".join(json.dumps({"vgpus": each, "interval_s": 2}) + "\n" for each in rounds))


def need_programs():
    if not shutil.which("gnuplot") or not importlib.util.find_spec("jinja2"):
        raise Skip("no gnuplot or python3-jinja2: tools/setup")


def page(made, *arguments, **options):
    need_programs()
    ctl(made, "report", "-o", "page.html", *arguments, expect=DONE, timeout=60, **options)
    return made.read("page.html")


def drawings(text):
    """The parsed drawings of a page; each must be well-formed XML."""
    return [xml.fromstring(each) for each in re.findall(r"<svg.*?</svg>", text, re.S)]


def policies(text):
    table = re.search(r'<table id="policies">(.*?)</table>', text, re.S).group(1)
    rows = re.findall(r"<tr><td>(.*?)</td></tr>", table)
    return {row.split("</td><td>")[0]: [float(each) for each in row.split("</td><td>")[1:]] for row in rows}


@test
def report_compares_policies_per_submission():
    with tree() as made:
        recording(made, [vgpu(UUIDS[0], "strict", 1000, 10)], [vgpu(UUIDS[0], "strict", 3000, 10), vgpu(UUIDS[1], "strict", 0, 0)],
                  [vgpu(UUIDS[0], "segmented", 50, 25)])
        got = policies(page(made, "--from", "rounds"))
        # vGPU seconds, submissions/s, exits/s; per submission: exits, syncs, entries, microseconds.
        require(got == {"strict": [6, 6.7, 1333.3, 200, 1, 512, 1000], "segmented": [2, 25, 50, 2, 1, 512, 1000]}, f"{got}")


@test
def report_page_is_self_contained_and_draws_every_vgpu():
    with tree() as made:
        recording(made, *[[vgpu(uuid, "full", index, 1) for uuid in UUIDS] for index in range(5)])
        text = page(made, "--from", "rounds")
        made_of = drawings(text)
        require(len(made_of) == CHARTS, f"{len(made_of)} drawings")
        for each in made_of:
            words = "".join(each.itertext())
            require(all(uuid in words for uuid in UUIDS), f"a vGPU is missing: {words}")
            lines = [path.get("d") for path in each.iter(f"{SVG}path")]
            require(any(len(re.findall("[ML]", line or "")) >= 5 for line in lines), "no line of five points")
        outside = re.findall(r'(?:src|href)="(?!#)[^"]*"|url\((?!#)[^)]*\)|@import|<script|<link', text)
        require(not outside, f"{outside}")
        require("guest pages pinned, now" in text and "4711" in text, "no table of counters")


@test
def report_ignores_the_users_settings_of_gnuplot():
    with tree() as made:
        recording(made, [vgpu(UUIDS[0], "strict", 10, 10)])
        made.write(".gnuplot", "set output 'elsewhere'\nset datafile separator ','\n")
        text = page(made, "--from", "rounds", HOME=made.top)
        require(len(drawings(text)) == CHARTS and not os.path.exists(f"{made.top}/elsewhere"), "a setting had an effect")


@test
def report_escapes_markup_and_commands():
    bad = "<script>alert(1)</script>' ; system 'touch hacked' # `touch hacked` \\"
    with tree() as made:
        odd = vgpu(bad, bad, 1, 1)
        odd["name"], odd["counters"][bad] = bad, 3
        recording(made, [odd])
        text = page(made, "--from", "rounds")
        require("<script" not in text and len(drawings(text)) == CHARTS, "markup was not escaped")
        require(not os.path.exists(f"{made.top}/hacked"), "a command was run")


@test
def report_samples_live_vgpus_and_tries_policies():
    with tree() as made:
        path = made.add_vgpu(UUIDS[0])
        made.add_vgpu(UUIDS[1])
        before = made.read(f"{path}/policy/mode")
        text = page(made, "-s", "0.01", "-c", "3")
        require(list(policies(text)) == ["segmented"] and policies(text)["segmented"][0] == 0.1, f"{policies(text)}")
        ctl(made, "report", "-o", "x", "--policies", expect=NOT_FOUND)
        made.write(f"{path}/state", "open\n", 0o444)
        tried = set()
        stop = threading.Event()

        def kernel():
            """Acts as the kernel: marks the policy that was written as active."""
            while not stop.is_set():
                written = made.read(f"{path}/policy/mode").split("\n")[0]
                if "[" not in written and written:
                    tried.add(written)
                    words = before.replace("[", "").replace("]", "").split()
                    made.write(f"{path}/policy/mode", " ".join(f"[{w}]" if w == written else w for w in words) + "\n")
                time.sleep(0.01)

        thread = threading.Thread(target=kernel, daemon=True)
        thread.start()
        text = page(made, "-s", "0.1", "-c", "2", "--policies")
        time.sleep(0.1)
        stop.set()
        thread.join()
        every = set(before.replace("[", "").replace("]", "").split())
        require(tried == every and every <= set(policies(text)), f"tried {tried}, {policies(text)}")
        require("[segmented]" in made.read(f"{path}/policy/mode"), "the policy was not restored")


@test
def report_names_policies_it_could_not_set():
    need_programs()
    with tree() as made:
        path = made.add_vgpu(UUIDS[0])
        mode = f"{made.top}/{path}/policy/mode"
        made.write(f"{path}/state", "open\n", 0o444)

        def refuse_after_the_first():
            while made.read(f"{path}/policy/mode").split("\n")[0] != "strict":
                time.sleep(0.01)
            os.symlink(REFUSING, f"{mode}.new")
            os.rename(f"{mode}.new", mode)

        thread = threading.Thread(target=refuse_after_the_first, daemon=True)
        thread.start()
        result = ctl(made, "report", "-o", "page.html", "-s", "1", "-c", "1", "--policies", expect=ERROR, timeout=60)
        thread.join()
        for each in ("full", "nested"):
            require(f"policy/mode={each}: Invalid argument; skipped" in result.err,
                    f"{each}: {result}")
        require("policy/mode=strict:" not in result.err, f"{result}")
        require(f"{UUIDS[0]} keeps another policy; policy/mode=segmented: Invalid argument" in result.err, f"{result}")
        require(os.path.exists(f"{made.top}/page.html"), "no page with the tried policies")


@test
def report_tries_no_policies_without_root():
    if os.getuid():
        raise Skip("only root can become another user")
    with tree() as made:
        path = made.add_vgpu(UUIDS[0])
        made.write(f"{path}/state", "open\n", 0o444)
        os.chmod(made.top, 0o777)
        if ctl(made, "--version", user=NOBODY).status:
            raise Skip("user 65534 cannot read the build directory")
        result = ctl(made, "report", "-o", "x", "-s", "0.01", "-c", "1", "--policies", user=NOBODY, expect=ERROR)
        require(result.err == "ghyvictl: no policy could be tried; not permitted; run this as root\n", f"{result}")
        require(not os.path.exists(f"{made.top}/x"), "an empty page was written")


@test
def report_escapes_its_file_name_in_json():
    need_programs()
    with tree() as made:
        recording(made, [vgpu(UUIDS[0], "full", 1, 1)])
        got = ctl(made, "report", "-f", "rounds", "--json", "-o", b"x\xff.html", expect=DONE).json()
        require(got == {"file": "x?.html", "rounds": 1} and os.path.exists(f"{made.top}/x".encode() + b"\xff.html"), f"{got}")


@test
def report_names_the_reason_of_a_failure():
    with tree() as made:
        recording(made, [])
        for text, words in (("", "stat --seconds --json"), ("{", "round 1"), ("[]\n7", "round 2"), ("[]\n{}\n", "no round has a vGPU"), ("{}{", "no round has a vGPU")):
            made.write("rounds", text)
            require(words in ctl(made, "report", "-o", "x", "-f", "rounds", expect=ERROR).err, f"{text}: {words}")
        ctl(made, "report", expect=USAGE)
        ctl(made, "report", "-o", "x", "-f", "rounds", "-p", expect=USAGE)
        recording(made, [vgpu(UUIDS[0], "full", 1, 1)])
        require("apt install gnuplot-nox" in ctl(made, "report", "-o", "x", "-f", "rounds", expect=ERROR, PATH=where["build"]).err,
                "no next step without gnuplot")
        require("/proc/none/x" in ctl(made, "report", "-o", "/proc/none/x", "-f", "rounds", expect=ERROR).err, "no name")
        # A jinja2 of its own takes the place of the one that is not installed.
        made.write("jinja2.py", "raise ImportError\n")
        result = ctl(made, "report", "-o", "x", "-f", "rounds", expect=ERROR, PYTHONPATH=made.top)
        require("apt install python3-jinja2" in result.err, f"no next step without Jinja: {result}")


@test
def report_takes_any_json_as_rounds():
    with tree() as made:
        odd = [3, None, [], {"uuid": 7}, {"uuid": UUIDS[0], "policy": [], "counters": 3, "rates_per_s": None, "name": {}}]
        made.write("rounds", json.dumps({"vgpus": odd, "interval_s": "long"}) + '[]\n{"vgpus": 3}\n')
        text = page(made, "--from", "rounds")
        require(len(drawings(text)) == CHARTS and not policies(text), text[:500])


@test
def report_finds_the_installed_program():
    need_programs()
    with tree() as made:
        prefix = f"{made.top}/installed"
        done = subprocess.run(["make", "--no-print-directory", "-C", f"{TREE}/userspace/ghyvictl", f"BUILD={where['build']}",
                               f"PREFIX={prefix}", "-o", "all", "install"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        require(done.returncode == 0, done.stdout)
        recording(made, [vgpu(UUIDS[0], "full", 1, 1)])
        command = f"exec {prefix}/bin/ghyvictl report -f rounds -o page.html"
        ctl(made, "-c", command, program="../../../../../../../../bin/sh", expect=DONE, timeout=60)
        require(len(drawings(made.read("page.html"))) == CHARTS, "no page")
