# SPDX-License-Identifier: GPL-2.0-only
"""Work that a guest submits has correct results under every policy."""

import contextlib
import time

import fixture
import hostlib
from hostlib import require
from ktap import long_test, say, test

SWITCH_FOR_S = 12
SWITCH_EVERY_S = 0.4


def igt_runs(generation):
    vgpu, guest = fixture.guest(generation)
    guest.clear_log()
    for program in guest.igt_programs():
        status, value = guest.igt(program)
        require(status == 0 and value is not None, f"{program}: status {status}, result {value}")
        say(f"{generation}: {program} {value}")
    guest.require_no_trouble()
    stats = vgpu.stats()
    require(stats["submissions_rcs"] and stats["submissions_bcs"] and stats["workloads"], f"nothing submitted: {stats}")
    require(stats["engine_errors"] == 0, f"engine_errors {stats['engine_errors']}: {vgpu.last_error()}")


@test
def igt_runs_on_gen9():
    igt_runs("gen9")
    _, guest = fixture.guest("gen9")
    for engine in ("bcs", "vcs", "vecs"):
        status, value = guest.igt("gem_exec_nop", f"-r 1 -e {engine}")
        require(status == 0, f"gem_exec_nop -e {engine}: status {status}")
        say(f"gem_exec_nop -e {engine} {value}")


@test
def igt_runs_on_gen8():
    igt_runs("gen8")


def blitcheck(guest, arguments="", timeout=120):
    status, out = guest.run(f"blitcheck {arguments}", timeout)
    require(status == 0, f"blitcheck {arguments}: status {status}\n{out.strip()}")
    say(out.strip().splitlines()[-1])


@long_test
def many_contexts_run_in_few_table_pages():
    """512 contexts that map 16 GiB fit into the default number of table pages.

    With fewer table pages, each context evicts the trees of others."""
    with fixture.vgpus("gen9_4") as (vgpu,), fixture.guests(vgpu, names=["manyctx"]) as (guest,):
        guest.load_driver()
        for arguments, tables_max in (("-c 512 -m 32 -r 1", 16384), ("-c 128 -m 32 -r 3", 1024)):
            vgpu.set("policy/tables_max", tables_max)
            before = vgpu.stats()
            say(guest.must_run(f"manyctx {arguments}", timeout=300).strip())
            after = vgpu.stats()
            evicted = after["evicted_trees"] - before["evicted_trees"]
            say(f"tables_max {tables_max}: {evicted} trees evicted, {after['tables_now']} tables now")
            require(after["engine_errors"] == before["engine_errors"], f"engine errors: {vgpu.last_error()}")
            require(after["tables_now"] <= tables_max, f"{after['tables_now']} tables")
            require(tables_max > 1024 or evicted > 128, "trees were not evicted")


def blitcheck_passes(generation):
    vgpu, guest = fixture.guest(generation)
    guest.clear_log()
    for seed, mode in enumerate(("strict", "segmented"), 1):
        vgpu.set("policy/mode", mode)
        blitcheck(guest, f"--seed {seed}")
    guest.require_no_trouble()


@test
def blitcheck_passes_on_gen9():
    blitcheck_passes("gen9")


@test
def blitcheck_passes_on_gen8():
    blitcheck_passes("gen8")


@test
def blitcheck_passes_while_the_policy_changes():
    vgpu, guest = fixture.guest("gen9")
    work = guest.begin(f"blitcheck --seed 7 --time {SWITCH_FOR_S}")
    switches = 0
    while work.poll() is None:
        vgpu.set("policy/mode", ("strict", "segmented")[switches % 2])
        switches += 1
        time.sleep(SWITCH_EVERY_S)
    out = work.stdout.read().decode()
    vgpu.set("policy/mode", "segmented")
    require(work.returncode == 0, f"status {work.returncode}\n{out.strip()}")
    require(switches > SWITCH_FOR_S, f"only {switches} switches")
    say(f"{switches} switches; {out.strip().splitlines()[-1]}")


def gmedia(frames):
    """A command that rebinds surfaces in every frame and verifies every pixel."""
    return f"gmedia --case heavy --resolution 480p --threads 2 --frames {frames} --verify"


def modes_of(vgpu):
    return hostlib.read(f"{vgpu.path}/policy/mode").replace("[", "").replace("]", "").split()


@contextlib.contextmanager
def self_check(vgpu):
    """At each submission, ghyvi compares the context's shadow with the translation of the guest's
    tables."""
    before = vgpu.stats()
    vgpu.set("policy/self_check", 1)
    try:
        yield
        after = vgpu.stats()
        say(f"{after['checks'] - before['checks']} checks, {after['table_write_traps'] - before['table_write_traps']} traps, "
            f"{after['entries_changed'] - before['entries_changed']} entries found changed")
        say(f"page tables of 64 KiB pages: {after['tables_64k'] - before['tables_64k']}, "
            f"kept {after['ips_set'] - before['ips_set']} times, {after['ips_set_now']} now")
        require(after["checks"] > before["checks"], "the self-check did not run")
        require(after["check_differences"] == 0, f"{after['check_differences']} differences: {vgpu.last_error()}")
    finally:
        vgpu.set("policy/self_check", 0)


@test
def shadow_equals_translation_at_every_submission():
    vgpu, guest = fixture.guest("gen9")
    programs = guest.igt_programs()
    for mode in modes_of(vgpu):
        vgpu.set("policy/mode", mode)
        if mode == "nested":
            continue  # there is no shadow to compare
        say(mode)
        with self_check(vgpu):
            status, out = guest.run(gmedia(2), 120)
            require(status == 0, f"{mode}: gmedia: status {status}\n{out.strip()}")
            for program in programs if mode in ("strict", "adaptive") else programs[-1:]:
                status, _ = guest.igt(program, timeout=200)
                require(status == 0, f"{mode}: {program}: status {status}")


@test
def shadow_equals_translation_while_the_policy_changes():
    vgpu, guest = fixture.guest("gen9")
    modes = modes_of(vgpu)
    switches = 0
    with self_check(vgpu):
        work = guest.begin(f"{gmedia(1000)} --seconds {SWITCH_FOR_S}")
        while work.poll() is None:
            vgpu.set("policy/mode", modes[switches % len(modes)])
            switches += 1
            time.sleep(SWITCH_EVERY_S)
        out = work.stdout.read().decode()
        require(work.returncode == 0, f"status {work.returncode}\n{out.strip()}")
    vgpu.set("policy/mode", "adaptive")
    require(switches > SWITCH_FOR_S, f"only {switches} switches")
    say(f"{switches} switches")
