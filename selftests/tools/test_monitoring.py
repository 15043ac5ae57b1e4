# SPDX-License-Identifier: GPL-2.0-only
"""The metrics of ghyvictl export, the alert rules, the Grafana dashboard and the systemd units."""

import json
import os
import re
import shutil
import subprocess
import sys

from ktap import Skip, test
from toolslib import DONE, ctl, require, tree
from tree import PARENT, UUIDS

UUID, OTHER = UUIDS
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{TREE}/tools/lab")
import lablib  # noqa: E402

MONITORING = f"{TREE}/userspace/monitoring"
PLACEHOLDERS = (("$__rate_interval", "5m"), ("$instance", ".*"), ("$uuid", ".*"))
GRID_COLUMNS = 24


def promtool(*arguments, **options):
    found = subprocess.run([f"{TREE}/tools/promtool"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                           env=options.get("env"))
    if found.returncode:
        raise Skip(lablib.half_synced(found.stderr) or f"no promtool, and the package prometheus cannot be fetched: {found.stderr[-300:]}")
    return subprocess.run([found.stdout.strip(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          **options)


def kernel_counters():
    """All counters of the kernel's list."""
    with open(f"{TREE}/include/ghyvi/stats.h") as file:
        text = file.read()
    engine = re.findall(r"X\((\w+)##suffix(##_now)?,", text)
    names = [f"{name}_{suffix}{'_now' if now else ''}" for suffix in ("rcs", "bcs", "vcs", "vecs") for name, now in engine]
    return names + re.findall(r"\bX\((\w+),\s", text.partition("#define GHYVI_STATS(X)")[2])


def with_all_counters(made, uuid, **values):
    path = made.add_vgpu(uuid)
    for name in kernel_counters():
        made.write(f"{path}/stats/{name}", f"{values.get(name, 0)}\n", 0o444)
    return path


def metrics(text):
    return set(re.findall(r"^# TYPE (\w+)", text, re.M))


@test
def export_is_in_seconds_and_bytes_with_engines_as_labels():
    with tree() as made:
        path = with_all_counters(made, UUID, busy_ns_rcs=1500000001, busy_ns_vecs=2, submissions_bcs=7, audit_ns=10**18, queued_vcs_now=3,
                                 pinned_pages_now=2, audited_bytes=9)
        made.write(f"{path}/open_time", "1795363200\n", 0o444)
        made.use_vgpu(UUID, "/usr/bin/qemu-system-x86_64", "-name", 'a"b\\c')
        made.write(f"{path}/state", "failsafe\n", 0o444)
        text = ctl(made, "export", expect=DONE).out
        labels = f'uuid="{UUID}",type="ghyvi-gen9_4",parent="{PARENT}"'
        for line in (f'ghyvi_engine_busy_seconds_total{{{labels},engine="rcs"}} 1.500000001',
                     f'ghyvi_engine_busy_seconds_total{{{labels},engine="vecs"}} 0.000000002',
                     f'ghyvi_engine_submissions_total{{{labels},engine="bcs"}} 7', f'ghyvi_engine_queued{{{labels},engine="vcs"}} 3',
                     f"ghyvi_audit_seconds_total{{{labels}}} 1000000000.000000000", f"ghyvi_pinned_bytes{{{labels}}} 8192",
                     f"ghyvi_audited_bytes_total{{{labels}}} 9", f'ghyvi_vgpu_state{{{labels},state="failsafe"}} 1',
                     f'ghyvi_vgpu_state{{{labels},state="open"}} 0', f"ghyvi_vgpu_open_timestamp_seconds{{{labels}}} 1795363200",
                     f'ghyvi_vgpu_info{{{labels},policy="segmented",vm="a\\"b\\\\c"}} 1'):
            require(f"{line}\n" in text, f"no {line} in {text}")
        help_text = dict(re.findall(r"^# HELP (\w+) (.*)$", text, re.M))
        wrong = [f"{name}: {words}" for name, words in help_text.items()
                 if not name.startswith("ghyvi_zz_") and
                 (re.search(r"nanosec|render|unknown", words) or re.search(r"_(ns|us|ms|now|rcs|bcs|vcs|vecs)(_|$)", name))]
        require(not wrong and help_text["ghyvi_engine_busy_seconds_total"] == "seconds on the engine", f"{wrong} {help_text}")
        require(len(re.findall(r"^ghyvi_engine_busy_seconds_total", text, re.M)) == 4, "engines")


@test
def promtool_is_silent_about_the_metrics():
    with tree() as made:
        with_all_counters(made, UUID, busy_ns_rcs=5)
        with_all_counters(made, OTHER)
        text = ctl(made, "export", expect=DONE).out
        done = promtool("check", "metrics", input=text)
        require(done.returncode == 0 and not done.stdout, done.stdout)
        done = promtool("check", "metrics", input=text.replace("busy_seconds_total", "busy_milliseconds"))
        require(done.returncode, "promtool accepts a wrong unit")
        # Also without vGPUs.
    with tree(parents=()) as made:
        done = promtool("check", "metrics", input=ctl(made, "export", expect=DONE).out)
        require(done.returncode == 0 and not done.stdout, done.stdout)


def unknown_metrics(text, exported):
    return {name for name in re.findall(r"\bghyvi_\w+", text)} - exported


@test
def alert_rules_are_valid_and_fire():
    with open(f"{MONITORING}/ghyvi.rules.yml") as file:
        text = file.read()
    with tree() as made:
        with_all_counters(made, UUID)
        exported = metrics(ctl(made, "export", expect=DONE).out)
    expressions = "\n".join(re.findall(r"expr:([\s\S]*?)\n\s+(?:for|labels):", text))
    require(not unknown_metrics(expressions, exported), f"{unknown_metrics(expressions, exported)}")
    done = promtool("check", "rules", f"{MONITORING}/ghyvi.rules.yml")
    require(done.returncode == 0, done.stdout)
    done = promtool("test", "rules", f"{MONITORING}/ghyvi.rules.test.yml")
    require(done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout)


@test
def dashboard_shows_existing_metrics():
    with open(f"{MONITORING}/grafana.json") as file:
        dashboard = json.load(file)
    with tree() as made:
        with_all_counters(made, UUID)
        exported = metrics(ctl(made, "export", expect=DONE).out)
        panels = dashboard["panels"]
        require(len({panel["id"] for panel in panels}) == len(panels) and len({panel["title"] for panel in panels}) == len(panels), "ids")
        taken = set()
        for panel in panels:
            grid = panel["gridPos"]
            cells = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])}
            require(not cells & taken and grid["x"] + grid["w"] <= GRID_COLUMNS, f"{panel['title']} overlaps")
            taken |= cells
            require(panel["targets"] and panel["datasource"]["uid"] == "${datasource}", panel["title"])
        expressions = [target["expr"] for panel in panels for target in panel["targets"]]
        queries = [each["query"]["query"] for each in dashboard["templating"]["list"] if each["type"] == "query"]
        wrong = unknown_metrics("\n".join(expressions + queries), exported)
        require(not wrong, f"no such metrics: {wrong}")
        variables = {each["name"] for each in dashboard["templating"]["list"]}
        used = set(re.findall(r"\$\{?(\w+)", "\n".join(expressions + queries))) - {"__rate_interval"}
        require(used <= variables, f"{used - variables}")
        rules = []
        for number, expression in enumerate(expressions):
            for name, value in PLACEHOLDERS:
                expression = expression.replace(name, value)
            rules.append({"record": f"panel:{number}", "expr": expression})
        # YAML includes JSON.
        made.write("panels.yml", json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
        done = promtool("check", "rules", f"{made.top}/panels.yml")
        require(done.returncode == 0 and f"{len(rules)} rules found" in done.stdout, done.stdout)


@test
def timer_is_installed_and_valid():
    with tree() as made:
        done = subprocess.run(["make", "--no-print-directory", "-C", MONITORING, "install", f"DESTDIR={made.top}/root", "PREFIX=/usr",
                               "SYSTEMD_DIR=/lib/systemd/system"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        require(done.returncode == 0, done.stdout)
        service = made.read("root/lib/systemd/system/ghyvi-export.service")
        command = re.search(r"^ExecStart=/usr/bin/ghyvictl (.*)$", service, re.M)
        require(command and "@" not in service, service)
        folder = re.search(r"ConditionPathIsDirectory=(.*)", service).group(1)
        made.add_vgpu(UUID)
        os.makedirs(f"{made.top}/metrics")
        ctl(made, *command.group(1).replace(folder, f"{made.top}/metrics").split(), expect=DONE)
        require("ghyvi_vgpu_info" in made.read("metrics/ghyvi.prom"), "nothing was exported")
        for name in ("grafana.json", "ghyvi.rules.yml"):
            require(os.path.exists(f"{made.top}/root/usr/share/ghyvi/monitoring/{name}"), name)
        if not shutil.which("systemd-analyze"):
            raise Skip("no systemd-analyze")
        made.write("root/usr/bin/ghyvictl", "#!/bin/sh\n", 0o755)
        for target in ("sysinit", "basic", "shutdown", "timers", "network", "paths", "slices", "sockets"):
            made.write(f"root/lib/systemd/system/{target}.target", "[Unit]\nDescription=x\n")
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", f"--root={made.top}/root", "ghyvi-export.timer", "ghyvi-export.service"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        complaints = [line for line in done.stdout.splitlines() if "ghyvi-export" in line]
        require(not complaints, "\n".join(complaints))
