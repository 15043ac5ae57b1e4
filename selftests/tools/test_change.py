# SPDX-License-Identifier: GPL-2.0-only
"""Commands of ghyvictl that change something: the files that they write, and error messages."""

import contextlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import threading
import time

import patience
import png
from ktap import Skip, test
from screen import Screen
from toolslib import BUSY, DONE, ERROR, NOT_FOUND, USAGE, ctl, environment, require, tree, where
from tree import DRIVER, NO_ROOM, PARENT, REFUSING, UUIDS

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UUID, OTHER = UUIDS
NOBODY = 65534
SOON_S = 10


def said(result, *texts):
    for text in texts:
        require(text in result.err, f"stderr lacks '{text}': {result}")


def creates(made, kind="gen9_4", parent=PARENT):
    """Acts as the kernel: creates a vGPU with the next UUID that is written to create."""
    return made.listen(f"{made.type_path(kind, parent)}/create", lambda uuid: made.add_vgpu(uuid, kind, parent))


@test
def create_makes_a_vgpu_and_prints_its_uuid():
    with tree() as made:
        creates(made)
        out = ctl(made, "create", "gen9_4", expect=DONE).out.strip()
        require(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", out), out)
        require(os.path.isdir(f"{made.sys}/bus/mdev/devices/{out}"), "no vGPU")
        creates(made, "gen8_8")
        got = ctl(made, "create", "ghyvi-gen8_8", "-u", UUID, "--json", expect=DONE).json()
        require(got == {"uuid": UUID, "type": f"{DRIVER}-gen8_8", "name": "ghyvi-gen8_8", "parent": PARENT,
                        "state": "created", "policy": "segmented"}, f"{got}")


@test
def create_applies_policy_and_settings():
    with tree() as made:
        creates(made)
        ctl(made, "create", "gen9_4", "-u", UUID, "--policy", "strict", "--set", "policy/static_pages=7", expect=DONE)
        path = f"{made.parent_path()}/{UUID}"
        # The fake attribute is a plain file, which keeps the end of its old text.
        require(made.read(f"{path}/policy/mode").startswith("strict\n"), made.read(f"{path}/policy/mode"))
        require(made.read(f"{path}/policy/static_pages").startswith("7\n"), "static_pages")


@test
def create_with_a_refused_setting_leaves_no_vgpu():
    with tree() as made:
        creates(made)
        made.listen(f"{made.type_path('gen9_8')}/create", lambda uuid: made.add_vgpu(uuid, refusing=["policy/static_pages"]))
        result = ctl(made, "create", "gen9_8", "-u", UUID, "--set", "policy/static_pages=99999", expect=ERROR)
        said(result, "Invalid argument", "nothing was created")
        require(made.read(f"{made.parent_path()}/{UUID}/remove") == "1\n", "the vGPU is left")


@test
def create_uses_a_parent_with_available_instances():
    second = "1000:00:01.0"
    with tree(parents=(PARENT, second)) as made:
        made.write(f"{made.type_path('gen9_4')}/available_instances", "0\n")
        creates(made, parent=second)
        got = ctl(made, "create", "gen9_4", "-j", expect=DONE).json()
        require(got["parent"] == second, "the full parent was used")
        said(ctl(made, "create", "gen9_4", "-p", PARENT, expect=BUSY),
             f"No available instances of {DRIVER}-gen9_4 on {PARENT}", "ghyvictl types")


@test
def create_reports_the_reason_of_a_failure():
    with tree() as made:
        made.add_vgpu(UUID)
        said(ctl(made, "create", "gen9_4", "-u", UUID, expect=BUSY), "already")
        said(ctl(made, "create", "gen9_4", "-u", "hello", expect=USAGE), "not a UUID")
        said(ctl(made, "create", expect=USAGE), "ghyvictl types")
        said(ctl(made, "create", "gen9_4", "gen9_8", expect=USAGE), "more than one TYPE")
        made.link(NO_ROOM, f"{made.type_path('gen9_1')}/create")
        said(ctl(made, "create", "gen9_1", expect=BUSY), "no room", "dmesg")


@test
def set_writes_in_order_until_one_is_refused():
    with tree() as made:
        path = made.add_vgpu(UUID, refusing=["policy/static_pages"])
        result = ctl(made, "set", UUID, "policy/oos_threshold=9", "policy/static_pages=x", "policy/self_check=1",
                     expect=ERROR)
        said(result, "policy/static_pages=x", "Invalid argument")
        require(made.read(f"{path}/policy/oos_threshold") == "9\n", "the first was not written")
        require(made.read(f"{path}/policy/self_check") == "0\n", "the third was written")


@test
def set_accepts_a_file_with_a_definition_or_a_list():
    with tree() as made:
        path = made.add_vgpu(UUID)
        attrs = '[{"policy/oos_threshold": "9"}]'
        for text in (attrs, f'{{"attrs": {attrs}}}', f'{{"mdev_type": "x", "start": "auto", "attrs": {attrs}}}'):
            made.write(f"{path}/policy/oos_threshold", "2\n")
            made.write("file", text)
            ctl(made, "set", UUID, "--file", "file", expect=DONE)
            require(made.read(f"{path}/policy/oos_threshold") == "9\n", text)
        for text in ("[]", '{"mdev_type": "x", "start": "auto"}'):
            made.write("file", text)
            ctl(made, "set", UUID, "--file", "file", expect=DONE)
        made.write(f"{path}/policy/oos_threshold", "2\n")
        # A file of another structure is refused, and none of its settings is applied.
        for text in ('{"policy/oos_threshold": "9"}', '["policy/oos_threshold"]', f'{{"attr": {attrs}}}', "{}",
                     '[{"policy/oos_threshold": "9"}, "policy/self_check"]', '{"attrs": {"policy/oos_threshold": "9"}}', '{"attrs": ["x"]}'):
            made.write("file", text)
            said(ctl(made, "set", UUID, "--file", "file", expect=USAGE), "man 5 ghyvi-mdev")
            require(made.read(f"{path}/policy/oos_threshold") == "2\n", text)
        made.write("file", '[{"policy/oos_threshold": 9}]')
        said(ctl(made, "set", UUID, "--file", "file", expect=USAGE), "is not a string")


@test
def set_reports_the_kernels_reason():
    with tree() as made:
        path = made.add_vgpu(UUID, refusing=["policy/static_pages"])
        made.write(f"{path}/last_error", "policy/static_pages: 99999 is not in 0..65536\n")
        said(ctl(made, "set", UUID, "policy/static_pages=99999", expect=ERROR), "policy/static_pages=99999: 99999 is not in 0..65536")
        # An older last_error of another event is not reported as the reason.
        made.write(f"{path}/last_error", "opened without KVM\n")
        result = ctl(made, "set", UUID, "policy/static_pages=99999", expect=ERROR)
        require("without KVM" not in result.err, f"{result}")


@test
def set_changes_settings_of_a_pgpu():
    with tree() as made:
        path = f"{made.parent_path()}/ghyvi"
        got = ctl(made, "set", PARENT, "ghyvi/scheduler=credit", "ghyvi/timeslice_us=500", "--json", expect=DONE).json()
        require(got["name"] == PARENT and got["settings"]["ghyvi/timeslice_us"].startswith("500"), f"{got}")
        require(made.read(f"{path}/scheduler").startswith("credit\n"), made.read(f"{path}/scheduler"))
        made.write(f"{path}/scheduler", "fifo credit band [fair]\n")
        made.link(REFUSING, f"{path}/timeslice_us")
        said(ctl(made, "set", PARENT, "ghyvi/timeslice_us=x", expect=ERROR), "Invalid argument", PARENT)
        said(ctl(made, "set", "1000:00:01.0", "ghyvi/timeslice_us=1", expect=NOT_FOUND), "there is no pGPU 1000:00:01.0")


@test
def reset_in_failsafe_asks_for_a_driver_reload():
    with tree() as made:
        path = made.add_vgpu(UUID)
        for state, warned in (("created", False), ("open", False), ("failsafe", True)):
            made.write(f"{path}/state", f"{state}\n", 0o444)
            result = ctl(made, "reset", UUID, expect=DONE)
            require(("reload the guest's driver or restart the VM" in result.err) == warned, f"{state}: {result}")
            require(made.read(f"{path}/reset") == "1\n", "the vGPU was not reset")


@test
def remove_and_reset_continue_after_an_unknown_uuid():
    with tree() as made:
        paths = [made.add_vgpu(uuid) for uuid in UUIDS]
        for command in ("reset", "remove"):
            key = {"reset": "reset", "remove": "removed"}[command]
            unknown = "deadbeef-dead-dead-dead-deadbeefdead"
            result = ctl(made, command, UUID, unknown, OTHER, "--json", expect=NOT_FOUND)
            require(result.json() == {key: [UUID, OTHER]}, f"{result}")
            require([made.read(f"{path}/{command}") for path in paths] == ["1\n", "1\n"], command)


@test
def create_and_remove_use_mdevctl_if_installed():
    with tree() as made:
        made.write("mdevctl", "#!/bin/sh\necho \"$@\" >>\"$LOG\"\necho noise\n", 0o755)
        env = {"GHYVI_MDEVCTL": f"{made.top}/mdevctl", "LOG": f"{made.top}/log"}
        made.add_vgpu(OTHER)
        # This mdevctl succeeds, but creates no vGPU; ghyvictl must report that.
        said(ctl(made, "create", "gen9_4", "-u", UUID, expect=ERROR, **env),
             "does not appear in sysfs")
        require(ctl(made, "remove", OTHER, expect=DONE, **env).out == "", "mdevctl's output leaked")
        require(made.read("log").splitlines() == [f"start -u {UUID} -p {PARENT} -t {DRIVER}-gen9_4", f"stop -u {OTHER}"],
                made.read("log"))
        made.write("mdevctl", "#!/bin/sh\necho its reason >&2\nexit 3\n", 0o755)
        said(ctl(made, "create", "gen9_4", expect=ERROR, **env), "its reason", "status 3")
        ctl(made, "--no-mdevctl", "remove", OTHER, expect=DONE, **env)
        require(made.read(f"{made.parent_path()}/{OTHER}/remove") == "1\n", "sysfs was not used")


@test
def stat_rates_are_differences_per_second():
    with tree() as made:
        counter = f"{made.add_vgpu(UUID)}/stats/workloads"
        made.on_read(counter, "1000\n", lambda: made.write(counter, "3000\n"))
        got = ctl(made, "stat", "-s", "1", "-c", "1", "--json", expect=DONE).json()
        per_s = got["vgpus"][0]["rates_per_s"]["workloads"]
        require(1000 < per_s <= 2000, f"2000 in a little more than 1 s are {per_s}/s")
        # The counters of a removed and recreated vGPU decrease: the rate is 0, not negative.
        made.on_read(counter, "3000\n", lambda: made.write(counter, "5\n"))
        got = ctl(made, "stat", "-s", "0.5", "-c", "1", "--json", expect=DONE).json()
        require(got["vgpus"][0]["rates_per_s"]["workloads"] == 0, "a decreased counter has a rate")


@test
def top_adds_the_busy_time_of_all_engines():
    with tree() as made:
        path = made.add_vgpu(UUID)
        for counter in (f"{path}/stats/busy_ns_rcs", f"{path}/stats/busy_ns_bcs"):
            made.on_read(counter, "0\n", lambda counter=counter: made.write(counter, f"{600 * 1000 * 1000}\n"))
        got = ctl(made, "top", "-s", "1", "-b", "1", "--json", expect=DONE).json()["vgpus"][0]
        require(60 < got["busy_percent"] <= 120, f"two engines at 60% are {got['busy_percent']}%")


@test
def top_follows_uevents_at_once():
    with tree() as made:
        screen = Screen(f"{where['build']}/ghyvictl", "top", "-s", "3600", env=environment(made), cwd=made.top)
        try:
            screen.show("ghyvictl create makes one", SOON_S)
            made.add_vgpu(OTHER)
            screen.show(OTHER, SOON_S)
            made.drop_vgpu(OTHER)
            screen.show("ghyvictl create makes one", SOON_S)
            screen.press("q")
            require(screen.process.wait(SOON_S) == 0, "q did not end it")
        finally:
            screen.end()


@test
def export_replaces_its_file_atomically():
    with tree() as made:
        made.add_vgpu(UUID, workloads=3)
        out = f"{made.top}/ghyvi.prom"
        made.write("ghyvi.prom", "old\n")
        with open(out) as old:
            ctl(made, "export", "-o", out, expect=DONE)
            require(old.read() == "old\n", "the file was overwritten, not replaced by rename")
        text = made.read("ghyvi.prom")
        require(f'ghyvi_workloads_total{{uuid="{UUID}",type="ghyvi-gen9_4",parent="{PARENT}"}} 3\n' in text, text)
        require(os.stat(out).st_mode & 0o777 == 0o644, "the exporter cannot read it")
        temporary = [name for name in os.listdir(made.top) if name.startswith(".ghyvictl")]
        require(not temporary, f"temporary files left: {temporary}")
        names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
        require(len(names) == len(set(names)), "duplicate metric")
        line = re.compile(r'(# (HELP|TYPE) ghyvi_\w+ .+|ghyvi_\w+(\{(\w+="[^"]*",?)+\})? [\d.]+)')
        wrong = [each for each in text.splitlines() if not line.fullmatch(each)]
        require(not wrong, f"{wrong}")
        said(ctl(made, "export", "-o", "/proc/not/there", expect=ERROR), "/proc/not/there")
        said(ctl(made, "list", expect=DONE))


def add_frequencies(made):
    for name, mhz in (("act", 1150), ("min", 350), ("max", 1200)):
        made.write(f"{made.parent_path()}/ghyvi/freq_{name}", f"{mhz}\n")


@test
def top_has_the_frequency_of_pgpus_that_tell_it():
    shown = f"{PARENT}: 1150 MHz (min 350, max 1200)"
    with tree() as made:
        made.add_vgpu(UUID)
        require("MHz" not in ctl(made, "top", "-s", "0.01", "-b", "1", expect=DONE).out, "a frequency that is not there")
        add_frequencies(made)
        lines = ctl(made, "top", "-s", "0.01", "-b", "2", expect=DONE).out.splitlines()
        require(lines[0] == f"# pGPU {shown}" and lines.count(lines[0]) == 2 and lines[1].startswith("UUID"), f"{lines}")
        got = ctl(made, "top", "-s", "0.01", "-b", "1", "--json", expect=DONE).json()["pgpus"]
        require(got == [{"parent": PARENT, "freq_act_mhz": 1150, "freq_min_mhz": 350, "freq_max_mhz": 1200}], f"{got}")
        screen = Screen(f"{where['build']}/ghyvictl", "top", "-s", "3600", env=environment(made), cwd=made.top)
        try:
            screen.show(shown, SOON_S)
        finally:
            screen.end()


@test
def export_has_the_frequency_of_pgpus_that_tell_it():
    with tree() as made:
        require("frequency" not in ctl(made, "export", expect=DONE).out, "a frequency that is not there")
        add_frequencies(made)
        out = ctl(made, "export", expect=DONE).out
        require(f'gauge\nghyvi_frequency_hertz{{parent="{PARENT}"}} 1150000000\n' in out, out)


@test
def only_regular_files_are_replaced():
    """As root, a rename to /dev/null or /dev/stdout would take it from all programs."""
    with tree() as made:
        made.add_vgpu(UUID)
        made.write("regular", "old\n")
        os.mkfifo(f"{made.top}/pipe")
        os.mkdir(f"{made.top}/folder")
        made.write(f"saved/{PARENT}.target", "ghyvi/scheduler=fifo\n")
        for target, name in (("regular", "link"), ("pipe", "device"), ("nowhere", "dangling"),
                             (f"{PARENT}.target", f"saved/{PARENT}.conf")):
            os.symlink(target, f"{made.top}/{name}")
        before = {name: os.lstat(f"{made.top}/{name}").st_ino for name in ("pipe", "link", "device", "dangling", "folder")}
        for name in before:
            said(ctl(made, "export", "-o", name, expect=ERROR), f"{name}: ")
        said(ctl(made, "export", "-o", "device", expect=ERROR), "device: it is not a regular file, and is kept")
        said(ctl(made, "set", "--save", PARENT, "ghyvi/scheduler=fair", expect=ERROR), "not a regular file", "nothing was saved")
        require({name: os.lstat(f"{made.top}/{name}").st_ino for name in before} == before, "one was replaced")
        require(made.read("regular") == "old\n" and os.path.islink(f"{made.top}/saved/{PARENT}.conf"), "a link was followed or replaced")
        require(not [name for name in os.listdir(made.top) if name.startswith(".ghyvictl")], "a temporary file is left")


REPLACING = r"""
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"

/* The disk is full for one write of several, as when another program deletes a file. */
static int put(void *data, FILE *out)
{
	int file = dup(fileno(out)), full = open("/dev/full", O_WRONLY);

	(void)data;
	fputs("lost\n", out);
	dup2(full, fileno(out));
	fflush(out);
	dup2(file, fileno(out));
	fputs("rest\n", out);
	return 0;
}

int main(int argc, char **argv)
{
	int ret = argc == 2 ? replace_file(argv[1], put, NULL) : 0;

	printf("%s\n", strerror(-ret));
	return 0;
}
"""


@test
def file_is_kept_if_one_write_of_the_new_one_failed():
    with tree() as made:
        made.write("file", "old\n")
        made.write("replacing.c", REPLACING)
        command = ["gcc", f"-I{TREE}/userspace/ghyvictl", f"-I{TREE}/userspace/libghyvi", f"{made.top}/replacing.c",
                   f"{TREE}/userspace/ghyvictl/output.c", "-o", f"{made.top}/replacing"]
        subprocess.run(command, check=True)
        done = subprocess.run([f"{made.top}/replacing", f"{made.top}/file"], capture_output=True, text=True, check=True)
        require(made.read("file") == "old\n", f"a truncated file replaced it: {made.read('file')}")
        require(done.stdout == "Input/output error\n", done.stdout)
        require(not [name for name in os.listdir(made.top) if name.startswith(".ghyvictl")], "a temporary file is left")


@test
def write_to_a_full_disk_fails():
    with tree() as made:
        made.add_vgpu(UUID)
        # Without an end of their own, stat and top must end at the first round that cannot be written.
        for arguments in ("list", "list --json", "show", "types", "dump", "export", "--help", "stat --help", "--version", "stat -s 0.01",
                          "stat -s 0.01 --json", "stat -s 0.01 -r", "top -b 9999 -s 0.01", "top -b 9999 -s 0.01 --json"):
            command = f"exec {where['build']}/ghyvictl {arguments} >/dev/full"
            result = ctl(made, "-c", command, program="../../../../../../../../bin/sh", expect=ERROR)
            require(result.err == "ghyvictl: cannot write to standard output\n", f"{arguments}: {result}")
        command = f"{where['build']}/ghyvictl list {OTHER} >/dev/full"
        ctl(made, "-c", command, program="../../../../../../../../bin/sh", expect=NOT_FOUND)


@test
def repeated_output_ends_with_its_reader():
    """systemd starts services with SIGPIPE ignored, and so do other programs."""
    with tree() as made:
        made.add_vgpu(UUID)
        for arguments in ("stat -s 0.01", "top -b 9999 -s 0.01"):
            command = f"trap '' PIPE; {{ {where['build']}/ghyvictl {arguments}; echo status $? >&2; }} | head -n 1 >/dev/null"
            result = ctl(made, "-c", command, program="../../../../../../../../bin/sh", expect=DONE)
            said(result, "cannot write to standard output", f"status {ERROR}")


@test
def record_runs_the_recorder():
    with tree() as made:
        made.add_vgpu(UUID)
        made.write("rec", "#!/bin/sh\necho \"$@\" >\"$LOG\"\n", 0o755)
        env = {"GHYVI_RECORD": f"{made.top}/rec", "LOG": f"{made.top}/log"}
        for extra in ([], ["--json"]):
            ctl(made, "record", UUID, "-o", "x.trace", "-s", "1.5", *extra, expect=DONE, **env)
            require(made.read("log") == f"{UUID} -o x.trace -s 1.5\n", made.read("log"))
        ctl(made, "record", "deadbeef-dead-dead-dead-deadbeefdead", "-o", "x", expect=NOT_FOUND, **env)
        said(ctl(made, "record", UUID, "-o", "x", expect=NOT_FOUND), "tools/sim/ghyvi-record")


@test
def record_finds_the_installed_recorder():
    with tree() as made:
        made.add_vgpu(UUID)
        prefix = f"{made.top}/installed"
        done = subprocess.run(["make", "--no-print-directory", "-C", f"{TREE}/tools/sim", f"BUILD={where['build']}", f"PREFIX={prefix}",
                               "install"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        require(done.returncode == 0, done.stdout)
        shutil.copy(f"{where['build']}/ghyvictl", f"{prefix}/bin")
        command = f"exec {prefix}/bin/ghyvictl record {UUID} -o x -s 0.1"
        # The error message of the recorder shows that it was found: it needs tracing.
        said(ctl(made, "-c", command, program="../../../../../../../../bin/sh", expect=ERROR), "ghyvi-record:", "/sys/kernel/tracing")
        done = subprocess.run([f"{prefix}/bin/ghyvi-sim", "--gmedia", "480p", "--frames", "2", "--json"], stdout=subprocess.PIPE, check=True)
        require("adaptive" in json.loads(done.stdout)["policies"], "ghyvi-sim")


@test
def recorder_keeps_the_old_file_if_it_fails():
    recorder = f"{TREE}/tools/sim/ghyvi-record"
    with tree() as made:
        made.write("old.trc", "precious")
        made.write("text", "x [000] 1.0: ghyvi_trap: vgpu=%s gpa=0x1000 bytes=8 policy=strict\n" % UUID)
        for arguments, words in (([OTHER], f"there is no vGPU {OTHER}"), (["hello"], '"hello" is not a UUID'),
                                 ([UUID, "-s", "0"], '"0" is not a number above 0'), ([UUID, "-s", "nan"], "is not a number above 0"),
                                 ([UUID, "--buffer-kib", "-4"], '"-4" is not'), ([UUID, "--from", "none"], "none"),
                                 ([UUID, "--from", "."], "Is a directory")):
            done = patience.run([recorder, *arguments, "-o", "old.trc"], cwd=made.top, capture_output=True, text=True, limit_s=20)
            require(done.returncode and words in done.stderr and "Traceback" not in done.stderr, f"{arguments}: {done}")
            require(made.read("old.trc") == "precious", f"{arguments}: the old file was truncated")
        for output in ("none/x.trc", "/proc/x.trc", "."):
            done = subprocess.run([recorder, UUID, "--from", "text", "-o", output], cwd=made.top, capture_output=True, text=True, check=False)
            require(done.returncode and output in done.stderr and "Traceback" not in done.stderr, f"{output}: {done}")
        for output in ("old.trc", "/dev/null", "new.trc"):
            done = subprocess.run([recorder, UUID, "--from", "text", "-o", output], cwd=made.top, capture_output=True, text=True, check=False)
            require(done.returncode == 0 and done.stdout.startswith("1 stores"), f"{output}: {done}")
        left = [name for name in os.listdir(made.top) if ".trc" in name]
        require(sorted(left) == ["new.trc", "old.trc"] and os.path.getsize(f"{made.top}/old.trc") > 24, f"{left}")
        require(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"), "/dev/null was replaced")


RECORDER_ON_A_TREE = """
import importlib.machinery, importlib.util, os, shutil, sys, threading, time, types

def make(path):
    for event in recorder.EVENTS:
        os.makedirs(f"{path}/events/ghyvi/{event}")
    with open(f"{path}/trace_pipe", "w") as file:
        file.write(f"x [000] 1.0: ghyvi_trap: vgpu={sys.argv[1]} gpa=0x1000 bytes=8 policy=strict\\n")
    threading.Thread(target=end, daemon=True).start()

def end():
    while recorder.read(f"devices/{sys.argv[1]}/policy/mode") != "strict":
        time.sleep(0.01)
    shutil.rmtree(f"devices/{sys.argv[1]}")
    if instead:
        os.makedirs(f"{recorder.DEVICES}/{sys.argv[1]}/policy/mode")

script, instead = sys.argv.pop(1), sys.argv.pop(1) == "refuse"
loader = importlib.machinery.SourceFileLoader("recorder", script)
recorder = importlib.util.module_from_spec(importlib.util.spec_from_loader("recorder", loader))
loader.exec_module(recorder)
recorder.DEVICES, recorder.TRACING = "devices", "tracing"
recorder.os = types.SimpleNamespace(**{**vars(os), "mkdir": make, "rmdir": shutil.rmtree})
recorder.main()
"""


@test
def recorder_cleans_up_when_the_vgpu_is_removed():
    for ending, status, words in (("go", 0, "the vGPU has been removed"),
                                  ("refuse", 1, "Is a directory")):
        with tree() as made:
            made.write(f"devices/{UUID}/policy/mode", "strict [segmented]\n")
            os.makedirs(f"{made.top}/tracing/instances")
            done = patience.run(["python3", "-B", "-c", RECORDER_ON_A_TREE, f"{TREE}/tools/sim/ghyvi-record", ending, UUID, "-s", "0.5",
                                 "-o", "x.trc"], cwd=made.top, capture_output=True, text=True, limit_s=20)
            require(done.returncode == status and words in done.stderr, f"{ending}: status {done.returncode}: {done.stderr}")
            left = os.listdir(f"{made.top}/tracing/instances")
            require(not left, f"{ending}: tracing instances left: {left}")
            with open(f"{made.top}/x.trc", "rb") as file:
                # One store record, the end record with the number of stores, and the checksum.
                require(file.read()[24:-8] == b"\1\1\0\1" + b"\0\1\0", f"{ending}: the trace has no end")


@test
def record_prints_json_when_interrupted():
    with tree() as made:
        made.add_vgpu(UUID)
        made.write("rec", "#!/bin/sh\ntrap 'echo end >>\"$LOG\"; exit 0' INT TERM\necho begin >\"$LOG\"\nwhile :; do sleep 0.05; done\n", 0o755)
        env = environment(made, GHYVI_RECORD=f"{made.top}/rec", LOG=f"{made.top}/log")
        # Ctrl-C signals all processes of the terminal's foreground group; kill(1) signals one.
        for number, send in ((signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)):
            made.write("log", "")
            with subprocess.Popen([f"{where['build']}/ghyvictl", "record", "--json", UUID, "-o", "x.trace"], env=env, cwd=made.top,
                                  stdout=subprocess.PIPE, start_new_session=True, text=True) as process:
                end = time.monotonic() + SOON_S
                while made.read("log") != "begin\n" and time.monotonic() < end:
                    time.sleep(0.01)
                send(process.pid, number)
                try:
                    out = patience.communicate(process, SOON_S)[0]
                finally:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
            require(process.returncode == DONE and made.read("log").startswith("begin\nend\n"), f"{number}: {process.returncode} {made.read('log')}")
            require(json.loads(out) == {"uuid": UUID, "file": "x.trace"}, out)


@test
def screenshot_writes_the_screen():
    width, height, stride = 37, 11, 160
    pixels = os.urandom(stride * height)
    with tree() as made:
        made.add_vgpu(UUID)
        screen = f"{made.sys}/kernel/debug/ghyvi/{UUID}/screen"

        def show(header, data):
            with open(screen, "wb") as file:
                file.write(struct.pack("4I", *header) + data)

        show((0x34325258, width, height, stride), pixels)
        out = ctl(made, "screenshot", "--json", UUID, "-o", f"{made.top}/x.png", expect=DONE).json()
        require(out == {"uuid": UUID, "file": f"{made.top}/x.png", "width": width, "height": height}, f"{out}")
        expected = b"".join(pixels[y * stride + 4 * x:][2::-1] for y in range(height) for x in range(width))
        require(png.read(f"{made.top}/x.png") == (width, height, expected), "the picture differs")

        for header, data in (((0x34325258, width, height, stride), pixels[1:]), ((0x34325259, width, height, stride), pixels),
                             ((0x34325258, 1 << 30, height, stride), pixels), ((0x34325258, 0, height, stride), pixels),
                             ((0x34325258, width, 1 << 31, stride), pixels), ((0x34325258, width, height, 4), pixels)):
            show(header, data)
            said(ctl(made, "screenshot", UUID, "-o", f"{made.top}/y.png", expect=ERROR), "Protocol error")
            require(not os.path.exists(f"{made.top}/y.png"), f"{header}: there is a picture")
        show((0x34325258, width, height, stride), pixels)
        said(ctl(made, "screenshot", UUID, "-o", f"{made.top}/none/y.png", expect=ERROR), "none/y.png")
        said(ctl(made, "screenshot", UUID, expect=USAGE), "-o FILE")
        said(ctl(made, "screenshot", "-o", "y.png", expect=USAGE), "one UUID")
        os.remove(screen)
        said(ctl(made, "screenshot", UUID, "-o", "y.png", expect=ERROR), "screen does not exist")


@test
def dump_fails_without_debugfs_but_not_for_a_removed_vgpu():
    with tree() as made:
        path = made.add_vgpu(UUID)
        shutil.rmtree(f"{made.sys}/kernel/debug/ghyvi")
        for arguments in ([], [UUID]):
            result = ctl(made, "dump", "--json", *arguments, expect=ERROR)
            said(result, "is debugfs mounted?")
            require(result.json() == {"vgpus": []}, f"{result}")
        shutil.rmtree(f"{made.top}/{path}")
        os.remove(f"{made.sys}/bus/mdev/devices/{UUID}")

        path = made.add_vgpu(UUID)
        made.add_vgpu(OTHER)
        engines = f"{made.sys}/kernel/debug/ghyvi/{UUID}/engines"
        os.remove(engines)
        os.mkfifo(engines)

        def go_away():
            """Removes the vGPU while dump reads its first file."""
            with open(engines, "w") as pipe:
                shutil.rmtree(f"{made.top}/{path}")
                shutil.rmtree(os.path.dirname(engines))
                pipe.write("last words\n")

        thread = threading.Thread(target=go_away, daemon=True)
        thread.start()
        result = ctl(made, "dump", "--json", expect=DONE)
        thread.join()
        said(result, f"{UUID}: it has been removed")
        require([each["uuid"] for each in result.json()["vgpus"]] == [OTHER], f"{result}")


@test
def vgpu_that_is_removed_meanwhile_is_left_out():
    # The first vGPU's attribute that each command reads before it reads anything of the second.
    for attribute, arguments in (("state", ["list", "-r", "-n"]), ("state", ["list", "--json"]), ("state", ["show"]), ("state", ["show", "--json"]),
                                 ("policy/mode", ["show", "-r"]), ("stats/busy_ns_bcs", ["export"])):
        with tree() as made:
            name = f"{made.add_vgpu(UUID)}/{attribute}"
            made.add_vgpu(OTHER)

            def act(made=made, name=name):
                made.drop_vgpu(OTHER)
                made.write(name, "1\n")

            made.on_read(name, "1\n", act)
            result = ctl(made, *arguments, expect=DONE)
            require(UUID in result.out and OTHER not in result.out, f"{arguments}: {result}")


@test
def vgpu_whose_removal_waits_for_its_vm_has_no_counters():
    """The kernel deletes the attributes, then waits for the VM, then deletes the directory."""
    with tree() as made:
        path = made.add_vgpu(UUID)
        made.on_read(f"{path}/stats/busy_ns_bcs", "1\n", lambda: shutil.rmtree(f"{made.top}/{path}/stats"))
        said(ctl(made, "stat", UUID, expect=NOT_FOUND), f"{UUID}: it has been removed")


@test
def dump_prints_as_many_tables_as_a_vgpu_may_have():
    with tree() as made:
        made.add_vgpu(UUID)
        line = "table 0xfffffffff000 levels 1 2 3 parents 1024 present 512 write-protected\n"
        # policy/tables_max is 1048576 at most; umockdev and ASan make a fourth of it slow enough.
        made.write(f"sys/kernel/debug/ghyvi/{UUID}/tables", line * (1 << 18))
        out = ctl(made, "dump", "-w", "tables", UUID, expect=DONE).out
        require(out.count("\n") == (1 << 18) + 1, f"{out.count(chr(10))} lines")
        made.link("/dev/zero", f"sys/kernel/debug/ghyvi/{UUID}/tables")
        said(ctl(made, "dump", "-w", "tables", UUID, expect=ERROR), "/tables: File too large")


@test
def reading_needs_no_root():
    if os.getuid():
        raise Skip("not root: all tests run without privileges already")
    with tree() as made:
        made.add_vgpu(UUID)
        if ctl(made, "--version", user=NOBODY).status:
            raise Skip("user 65534 cannot read the build directory")
        made.add_vgpu(OTHER)
        for command in (["list"], ["types"], ["show"], ["stat"], ["top", "-b", "1", "-s", "0.01"], ["export"], ["migrate-check", UUID, OTHER]):
            ctl(made, *command, user=NOBODY, expect=DONE)
        ctl(made, "doctor", user=NOBODY)
        os.chmod(made.top, 0o777)
        ctl(made, "report", "-o", "x", "-c", "1", "-s", "0.01", user=NOBODY, expect=DONE)
        said(ctl(made, "dump", user=NOBODY, expect=ERROR), "only root")
        said(ctl(made, "set", UUID, "policy/mode=strict", user=NOBODY, expect=ERROR), "as root")
        said(ctl(made, "create", "gen9_4", user=NOBODY, expect=ERROR), "as root")
        said(ctl(made, "remove", UUID, user=NOBODY, expect=ERROR), "as root")
