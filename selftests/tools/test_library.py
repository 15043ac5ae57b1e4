# SPDX-License-Identifier: GPL-2.0-only
"""libghyvi as other programs use it, installed and found by pkg-config; its symbols and header."""

import os
import re
import subprocess

from ktap import test
from toolslib import DONE, ctl, environment, require, tree, where
from tree import PARENT, UUIDS

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = f"{TREE}/userspace/libghyvi"

PROGRAM = r"""
#include <errno.h>
#include <ghyvi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel removes the group while the library iterates over it. */
static int remove_group(void *group, const char *attribute, bool writable)
{
	(void)writable;
	return strcmp(attribute, "policy/mode") ? 0 : rename(group, "gone");
}

int main(int argc, char **argv)
{
	char value[GHYVI_VALUE_BYTES], small[2];
	struct ghyvi_stats *stats;
	struct ghyvi_watch *watch;
	struct ghyvi_vgpu *vgpu;
	struct ghyvi *ghyvi;
	struct pollfd file;

	if (ghyvi_open(&ghyvi, "/proc") != -ENOENT || ghyvi_open(&ghyvi, NULL) || ghyvi_vgpu_find(ghyvi, "%(uuid)s", &vgpu))
		return 1;
	ghyvi_close(ghyvi); /* the vGPU stays usable */
	if (ghyvi_vgpu_policy(vgpu, value, sizeof(value)) || strcmp(value, "segmented"))
		return 2;
	if (ghyvi_vgpu_read(vgpu, "nothing", value, sizeof(value)) != -ENOENT ||
	    ghyvi_vgpu_read(vgpu, "../x", value, sizeof(value)) != -EINVAL ||
	    ghyvi_vgpu_read(vgpu, "policy", value, sizeof(value)) != -ENOENT ||
	    ghyvi_vgpu_read(vgpu, "state", small, sizeof(small)) != -ENOSPC)
		return 3;
	if (ghyvi_vgpu_write(vgpu, "policy/trap_ns", "1") != -EROFS ||
	    ghyvi_vgpu_write(vgpu, "remove", "1") != -EROFS ||
	    ghyvi_vgpu_write(vgpu, "stats/workloads", "1") != -EROFS ||
	    ghyvi_vgpu_write(vgpu, "policy/none", "1") != -ENOENT)
		return 4;
	if (ghyvi_stats_read(vgpu, &stats) || ghyvi_stats_get(stats, "workloads") != 42 ||
	    ghyvi_stats_get(stats, "none"))
		return 5;
	ghyvi_stats_free(stats);
	ghyvi_vgpu_free(vgpu);

	if (ghyvi_watch_open(&watch) || ghyvi_watch_take(watch))
		return 6;
	puts("watching");
	fflush(stdout);
	file = (struct pollfd){ .fd = ghyvi_watch_fd(watch), .events = POLLIN };
	if (poll(&file, 1, 10000) != 1 || !ghyvi_watch_take(watch) || ghyvi_watch_take(watch))
		return 7;
	ghyvi_watch_close(watch);

	if (argc != 2 || ghyvi_open(&ghyvi, NULL) || ghyvi_vgpu_find(ghyvi, "%(uuid)s", &vgpu))
		return 8;
	if (ghyvi_vgpu_each_attribute(vgpu, remove_group, argv[1]) != -ENODEV)
		return 9;
	ghyvi_vgpu_free(vgpu);
	ghyvi_close(ghyvi);
	return 0;
}
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    require(done.returncode == 0, f"{' '.join(command)}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


@test
def program_builds_and_runs_with_the_installed_library():
    with tree() as made:
        made.add_vgpu(UUIDS[0], workloads=42)
        prefix = f"{made.top}/installed"
        run("make", "--no-print-directory", "-C", LIBRARY, f"BUILD={made.top}/build", f"PREFIX={prefix}", "install")
        made.write("program.c", PROGRAM.replace("%(uuid)s", UUIDS[0]))
        group = f"{made.top}/{made.parent_path()}/{UUIDS[0]}/policy"
        env = {**os.environ, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
        flags = run("pkg-config", "--cflags", "--libs", "ghyvi", env=env).split()
        run("gcc", "-Wall", "-Wextra", "-Werror", f"{made.top}/program.c", "-o", f"{made.top}/program", *flags)
        env = environment(made, LD_LIBRARY_PATH=f"{prefix}/lib")
        with subprocess.Popen([f"{made.top}/program", group], cwd=made.top, stdout=subprocess.PIPE, text=True, env=env) as program:
            if program.stdout.readline() == "watching\n":
                made.add_vgpu(UUIDS[1])
            status = program.wait(20)
            require(status == 0, f"status {status}")


@test
def header_declares_the_exported_symbols():
    with open(f"{LIBRARY}/ghyvi.h") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    declared = set(re.findall(r"\b(ghyvi_\w+)\(", text))
    symbols = run("nm", "-D", "--defined-only", f"{where['build']}/libghyvi/libghyvi.so")
    exported = {name.split("@")[0] for name in re.findall(r" T (\S+)", symbols)}
    require(declared == exported, f"only declared: {declared - exported}, only exported: {exported - declared}")


@test
def header_compiles_as_cplusplus():
    run("gcc", "-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"{LIBRARY}/ghyvi.h")


@test
def ghyvictl_version_matches_debian_changelog():
    with open(f"{TREE}/debian/changelog") as file:
        version = re.match(r"ghyvi \(([^-)]+)", file.readline()).group(1)
    with tree() as made:
        said = ctl(made, "--version", expect=DONE).out
    require(said == f"ghyvictl {version}\n", f"{said}, debian/changelog: {version}")


COMPLETE = """
compopt() { :; }
. "$1"
shift
COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_ghyvictl
printf '%s\\n' "${COMPREPLY[@]}"
"""


@test
def bash_completion_offers_commands_uuids_types_and_settings():
    script = f"{TREE}/userspace/ghyvictl/ghyvictl.bash"
    with tree() as made:
        made.add_vgpu(UUIDS[0])
        for name in ("other.json", "$(false)"):
            made.write(name, "")
        env = environment(made, PATH=f"{where['build']}:/usr/bin:/bin")
        commands = re.findall(r"^  ([\w-]+) ", run("ghyvictl", "--help", env=env).partition("Commands")[2], re.M)
        for words, wanted in ((["ghyvictl", ""], commands), (["ghyvictl", "show", ""], [UUIDS[0]]),
                              (["ghyvictl", "set", UUIDS[0], "policy/mo"], ["policy/mode=", "policy/mode=strict"]),
                              (["ghyvictl", "set", PARENT, "ghyvi/sch"], ["ghyvi/scheduler=", "ghyvi/scheduler=band"]),
                              (["ghyvictl", "set", UUIDS[0], "--"], ["--file", "--json"]),
                              (["ghyvictl", "dump", "--what", ""], ["engines", "tables", "audit", "config", "error_state"]),
                              (["ghyvictl", "list", "-o", "S"], ["STATE", "SINCE"]),
                              (["ghyvictl", "top", "-o", "UUID,PI"], ["UUID,PINNED"]),
                              (["ghyvictl", "set", "--save", "gen9_4", "sched/"], ["sched/weight=", "sched/cap="]),
                              (["ghyvictl", "create", "gen9"], ["gen9_1", "gen9_8"]),
                              (["ghyvictl", "migrate-check", UUIDS[0], ""], [UUIDS[0], "$(false)"]),
                              (["ghyvictl", "migrate-check", UUIDS[0], "oth"], ["other.json"])):
            got = run("bash", "-c", COMPLETE, "-", script, *words, env=env, cwd=made.top).split()
            require(set(wanted) <= set(got), f"{words}: {got}")
            require(all(each.startswith(words[-1]) for each in got), f"{words}: {got}")
