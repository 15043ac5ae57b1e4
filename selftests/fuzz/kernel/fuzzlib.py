# SPDX-License-Identifier: GPL-2.0-only
"""What the programs that fuzz the running kernel share in the host VM."""

import array
import os
import subprocess
import sys
import threading

OUT = os.environ["GHYVI_OUT"]
sys.path.insert(0, f"{os.environ['GHYVI_TREE']}/selftests/lab")

import hostlib  # noqa: E402

LOOK_EVERY_S = 30  # a look costs an input's time


POINTS = "/dev/points"  # points/points.c


def write_points(path, sections):
    """Appends "MODULE OFFSET" of each executed point to coverage.txt. @path has what POINTS has. An address belongs
    to the module before it: @sections maps the modules that are traced to the address of their code."""
    bases = sorted((base, name) for name, base in sections.items())
    with open(path, "rb") as file:
        pcs = array.array("Q", file.read())
    with open(f"{OUT}/coverage.txt", "a") as to:
        for pc in pcs:
            below = [(base, name) for base, name in bases if base <= pc]
            if below:
                print(below[-1][1], pc - below[-1][0], file=to)


def text_section(name):
    return f"/sys/module/{name}/sections/.text"


def load_modules():
    os.makedirs(f"{OUT}/corpus", exist_ok=True)
    hostlib.must_run("insmod", f"{hostlib.MODULES}/points.ko", f"plant={os.environ.get('GHYVI_PLANT') or 0}")
    hostlib.load_modules()


def unload_modules():
    write_points(POINTS, {name: int(hostlib.read(text_section(name)), 16) for name in ("ghyvi", "ghyvi_softgpu")})
    hostlib.unload_modules()


def corpora(options, corpus):
    """Folders for libFuzzer: none if @options name an input, which it then executes alone."""
    return [] if any(map(os.path.isfile, options)) else [f"{OUT}/corpus", corpus]


def run_fuzzer(command, environment, look):
    """Runs the fuzzer, and ends it when look(), which is called at times, returns a text. Returns its status and
    the text."""
    found, ended = [], threading.Event()

    def watch(process):
        while not ended.wait(LOOK_EVERY_S):
            text = look()
            if text:
                found.append(text)
                process.kill()
                return

    with subprocess.Popen(command, env=dict(os.environ, **environment)) as process:
        watcher = threading.Thread(target=watch, args=(process,))
        watcher.start()
        status = process.wait()
        ended.set()
        watcher.join()
    text = look()
    return status, "\n".join(found + ([text] if text else []))


def host_defects():
    """What comes after the first defect says nothing."""
    return hostlib.log_defects(hostlib.take_host_log())
