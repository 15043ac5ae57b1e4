# SPDX-License-Identifier: GPL-2.0-only
"""Bad batches and the hostile guest: the host and other guests must not be affected."""

import glob
import json
import os
import time

import fixture
import hostlib
import patience
from hostile import Attacker, add_up, can_measure
from hostlib import Guest, driver_trouble, require, require_figure
from ktap import long_test, say, test

SHORT_HEARTBEAT_MS = 1000
HOST_LINES_MAX = 12  # DEFAULT_RATELIMIT_BURST, and the kernel's line about suppressed messages
MEMLOCK_BYTES = 512 << 10  # i915 needs about twice as much to load

# `make test-hostile` and `make test-long` set these. If MINUTES is set, the attacks end after TRIALS or after MINUTES,
# whichever is first.
TRIALS = int(os.environ.get("GHYVI_HOSTILE_TRIALS") or 200)
MINUTES = float(os.environ.get("GHYVI_HOSTILE_MINUTES") or "inf")
SEED = int(os.environ.get("GHYVI_HOSTILE_SEED") or 1)
TWO_TRIALS = TRIALS if "GHYVI_HOSTILE_TRIALS" in os.environ else 100  # with two vGPUs in the attacker
UNMAP_TRIALS = max(100, TWO_TRIALS // 20)  # of class d-unmap alone
# Trials per call: half a minute, and ten times as long on the debug kernel.
CHUNK = 250 if hostlib.PGPU == "gen9" else 5000
MODEST = 5  # nice value of the other guest's QEMU in a long run: it gets less than half of the CPU
MEASURED_TRIALS = 20  # of each class, to measure its cost for the host
AMPLIFICATION_MAX = 2.0


def bad_batch(kind, counters):
    """Runs one kind of bad batch.

    The guest must recover. The host must count the event and log it in few lines."""
    vgpu, guest = fixture.guest("gen9")
    if kind == "bogus-ggtt":
        guest.unload_driver()
    else:
        guest.set_heartbeat_ms(SHORT_HEARTBEAT_MS)
    before = vgpu.stats()
    hostlib.take_host_log()
    status, out = guest.run(f"blitcheck --exec {kind}", 150)
    say(out.strip())
    require(status == 0, f"status {status}")
    after = vgpu.stats()
    for name in counters:
        require(after[name] > before[name], f"{name} did not grow")
    log = hostlib.take_host_log()
    defects = hostlib.log_defects(log)
    require(not defects, defects)
    lines = [line for line in log.splitlines() if vgpu.uuid in line]
    require(len(lines) <= HOST_LINES_MAX, f"{len(lines)} lines in the host's log")
    return lines, vgpu


@test
def unknown_command_stops_only_its_context():
    lines, vgpu = bad_batch("unknown", ["engine_errors", "engine_resets"])
    require(lines, "the host's log does not name the vGPU")
    require(vgpu.last_error(), "last_error is empty")
    say(lines[0])


@test
def endless_batch_ends_by_engine_reset():
    bad_batch("loop", ["engine_resets"])


@test
def jump_to_unmapped_address_ends_by_engine_reset():
    bad_batch("nowhere", ["engine_resets"])


@test
def store_to_unmapped_address_is_harmless():
    bad_batch("badaddr", [])


@test
def bogus_ggtt_entries_are_rejected():
    lines, vgpu = bad_batch("bogus-ggtt", [])
    require(vgpu.stat("entries_rejected") > 0, "no entry was rejected")
    require(vgpu.stat("oracle_violations") == 0, "oracle violations")


@test
def guest_works_after_bad_batches():
    _, guest = fixture.guest("gen9")
    guest.must_run("blitcheck --rounds 3")


@test
def rlimit_memlock_limits_pinned_pages():
    """QEMU runs without CAP_IPC_LOCK and with a low limit of locked memory."""
    with fixture.vgpus("gen9_8") as (vgpu,):
        limited = ["prlimit", f"--memlock={MEMLOCK_BYTES}:{MEMLOCK_BYTES}", "setpriv", "--bounding-set=-ipc_lock",
                   "--inh-caps=-ipc_lock"]
        guest = Guest("limited", vgpu, prefix=limited)
        loading = guest.begin("modprobe i915; blitcheck --rounds 2 --size 512")
        end = time.monotonic() + 40
        while vgpu.stat("pin_failures") == 0 and loading.poll() is None and time.monotonic() < end:
            time.sleep(0.5)
        pinned, failures = vgpu.stat("pinned_pages_now"), vgpu.stat("pin_failures")
        guest.kill()
        loading.wait()
        vgpu.settle()
        say(f"{failures} failures, {pinned} pages pinned")
        require(pinned * 4096 <= MEMLOCK_BYTES, f"{pinned} pages pinned")
        require(failures > 0, "nothing failed to be pinned")


def checksums(guest):
    """Starts work with checksums in the other guest. The returned function stops and checks it."""
    guest.set_heartbeat_ms(hostlib.PATIENT_HEARTBEAT_MS)
    guest.must_run("rm -f /tmp/stop; dmesg -c >/dev/null")
    work = guest.begin("n=0; while [ ! -e /tmp/stop ]; do blitcheck --rounds 2 --contexts 2 --seed $n || exit 1; "
                       "n=$((n + 1)); done; echo $n rounds", timeout=0)

    def finish():
        guest.run("touch /tmp/stop")
        out = patience.communicate(work, 200)[0].decode(errors="replace").strip()
        require(work.returncode == 0, f"the other guest's sums are wrong: status {work.returncode}\n{out[-1500:]}")
        trouble = driver_trouble(guest.log())
        require(not trouble, "the other guest: " + "\n".join(trouble))
        return out.splitlines()[-1]

    return finish


def set_nice(guest, nice):
    for path in glob.glob(f"/proc/{guest.pid()}/task/*"):
        os.setpriority(os.PRIO_PROCESS, int(os.path.basename(path)), nice)


def attack_beside(other, attacker, totals, trials=TRIALS):
    """Repeats all classes for @trials or MINUTES. The other guest's checksums must stay right."""
    finish = checksums(other)
    if trials > CHUNK:
        set_nice(other, MODEST)
    done, seed = 0, SEED
    started = time.monotonic()
    try:
        while done < trials and time.monotonic() - started < MINUTES * 60:
            classes = attacker.attack(min(CHUNK, trials - done), seed)
            add_up(totals, classes)
            done += sum(entry["trials"] for entry in classes)
            seed += 1
            if trials > CHUNK:
                say(f"{done} of {trials} trials, {time.monotonic() - started:.0f} s")
    finally:
        set_nice(other, 0)
        rounds = finish()
    return rounds


@test
def hostile_guest_does_not_affect_other_guest():
    """Every class of attacks runs twice, and the results are written to hostile.json.

    First the attacker is the only user of the pGPU, to measure the cost for the host. Then another
    guest computes checksums at the same time."""
    report = {"seed": SEED, "trials": TRIALS, "accelerator": os.environ.get("GHYVI_ACCEL")}
    totals = {}
    vgpu, other = fixture.guest("gen9")
    before = vgpu.stats()
    with fixture.vgpus("gen9_8") as (victim,):
        attacker = Attacker("hostile", victim)
        try:
            report["policy"] = victim.mode()
            report["amplification"] = [attacker.amplification(name, MEASURED_TRIALS, SEED)
                                       for name in attacker.classes() if can_measure()]
            report["other_guest"] = attack_beside(other, attacker, totals)
        finally:
            attacker.kill()
            report["classes"] = list(totals.values())
            with open(f"{hostlib.OUT}/hostile.json", "w") as file:
                json.dump(report, file, indent=1)
        victim.settle()
        for entry in report["amplification"]:
            say("{name}: guest {guest_s:.2f} s, GPU {gpu_s:.2f} s, not charged {other_s:.2f} s, ratio {ratio:.2f}, "
                "with GPU {ratio_with_gpu:.2f}".format(**entry))
        for entry in report["classes"]:
            say("{name}: {trials} trials, {trials_per_s:.0f}/s, {errors} errors, {resets} resets, slowest "
                "{slowest_reset_ms:.1f} ms".format(**entry))
        say(f"the other guest: {report['other_guest']}")
        for name in ("oracle_violations", "check_differences"):
            require(victim.stat(name) == 0, f"{name}: {victim.last_error()}")
    after = vgpu.stats()
    for name in ("engine_errors", "engine_resets", "oracle_violations"):
        require(after[name] == before[name], f"the other vGPU: {name} grew")
    for entry in report["amplification"]:
        require_figure(entry["ratio"] <= AMPLIFICATION_MAX,
                       f"{entry['name']} costs the host {entry['ratio']:.2f} times its own time")


@long_test
def hostile_guest_with_two_vgpus_does_not_affect_other_guest():
    """The same attacks from one vGPU of a guest that has two; the results are written to
    hostile-two.json.

    The second vGPU pins and unpins the memory that the attacks unmap. VFIO notifies both vGPUs of
    an unmap in one system call. Afterwards class d-unmap runs alone."""
    report = {"seed": SEED, "trials": TWO_TRIALS}
    totals = {}
    vgpu, other = fixture.guest("gen9")
    before = vgpu.stats()
    with fixture.vgpus("gen9_8", "gen9_8") as (victim, second):
        attacker = Attacker("two", victim, second)
        try:
            report["other_guest"] = attack_beside(other, attacker, totals, TWO_TRIALS)
            add_up(totals, attacker.attack(UNMAP_TRIALS, SEED, "d-unmap"))
        finally:
            attacker.kill()
            report["classes"] = list(totals.values())
            with open(f"{hostlib.OUT}/hostile-two.json", "w") as file:
                json.dump(report, file, indent=1)
        for each in (victim, second):
            each.settle()
            for name in ("oracle_violations", "check_differences"):
                require(each.stat(name) == 0, f"{name}: {each.last_error()}")
        require(second.stat("entries_changed") > 0, "the second vGPU translated nothing")
        say(f"the other guest: {report['other_guest']}")
    after = vgpu.stats()
    for name in ("engine_errors", "engine_resets", "oracle_violations"):
        require(after[name] == before[name], f"the other vGPU: {name} grew")
