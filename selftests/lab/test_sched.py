# SPDX-License-Identifier: GPL-2.0-only
"""Scheduling of two guests on one engine, and several pGPUs."""

import contextlib
import glob
import statistics
import time

import fixture
import hostlib
import patience
from hostlib import must_run, read, require, require_figure, write
from ktap import long_test, say, test

POLICIES = ("fifo", "credit", "band", "fair")
SWITCH_FOR_S = 8
SWITCH_EVERY_S = 0.3
SAMPLES = 3
SAMPLE_BUSY_S = 1
SAMPLE_MAX_S = 60
# The weights move a guest's share by 0.6; without weights it moves by 0. Less than 0.6 is measured
# here: guests and engine share a CPU, and a guest that briefly has no work loses its turn. The
# exact shares are measured under a virtual clock (make bench-sched).
SHARE_MOVES_MIN = 0.25
PREEMPT_TIMEOUT_US = 150000  # one copy of 1 MiB has taken 65 ms on a machine with few CPUs
WAIT_MAX_S = 0.05  # mean wait for the end of a timeslice of 2 ms, on a machine with few CPUs
LONG_BATCH_MB = 128
# About ten preemptions happen between batches. Preemption inside of batches adds one per timeslice,
# in all more than a hundred.
BETWEEN_BATCHES_MAX = 50
LONG_BATCHES = f"{hostlib.IGT}/gem_blt -s 262144 -b {4 * LONG_BATCH_MB} -t 1 -r 1 2>/dev/null"
PGPUS = 3
DRAIN_MAX_S = 120


def setting(name):
    return f"{hostlib.parent()}/ghyvi/{name}"


@contextlib.contextmanager
def changed(path, value, back):
    """Writes @value to an attribute for one test, and then @back."""
    error = write(path, value)
    require(not error, f"writing {value} to {path}: {error}")
    try:
        yield
    finally:
        write(path, back)


def pair():
    return fixture.guest("gen9"), fixture.guest("gen8")


@contextlib.contextmanager
def full_rings(made, command):
    """Runs @command, which fills the blitter's ring, in all guests.

    i915's heartbeat is queued behind these requests, and they take long
    (Documentation/scheduling.md, Limits); so both time-outs are raised. The requests of a killed
    gem_blt still run: the end waits for them, so that they do not affect the next test."""
    for _, guest in made:
        guest.set_heartbeat_ms(hostlib.PATIENT_HEARTBEAT_MS)
        guest.set_request_timeout_ms(hostlib.NO_REQUEST_TIMEOUT_MS)
    work = [guest.begin(command) for _, guest in made]
    try:
        yield work
    finally:
        for _, guest in made:
            guest.run("killall gem_blt 2>/dev/null")
        for one in work:
            one.wait(timeout=60)
        for vgpu, guest in made:
            hostlib.eventually(lambda: not vgpu.stat("queued_bcs_now"), "the ring to drain",
                               DRAIN_MAX_S)
            guest.set_heartbeat_ms(hostlib.HEARTBEAT_MS)
            guest.set_request_timeout_ms(hostlib.REQUEST_TIMEOUT_MS)


def finished(work, what):
    out = patience.communicate(work, 200)[0].decode(errors="replace")
    require(work.returncode == 0, f"{what}: status {work.returncode}\n{out.strip()}")
    say(f"{what}: {out.strip().splitlines()[-1]}")


@long_test
def blitcheck_passes_while_the_scheduler_changes():
    made = pair()
    for _, guest in made:
        guest.clear_log()
    work = [guest.begin(f"blitcheck --seed {seed} --time {SWITCH_FOR_S}") for seed, (_, guest) in enumerate(made)]
    switches = 0
    try:
        while any(one.poll() is None for one in work):
            name = POLICIES[switches % len(POLICIES)]
            error = write(setting("scheduler"), name)
            require(not error, f"scheduler = {name}: {error}")
            require(f"[{name}]" in read(setting("scheduler")), f"{name} written, {read(setting('scheduler'))} read")
            switches += 1
            time.sleep(SWITCH_EVERY_S)
    finally:
        write(setting("scheduler"), "fair")
    for (_, guest), one in zip(made, work):
        finished(one, guest.name)
        guest.require_no_trouble()
    require(switches > SWITCH_FOR_S, f"only {switches} switches")
    say(f"{switches} switches")


def blitter_time(made):
    return [vgpu.stat("busy_ns_bcs") for vgpu, _ in made]


def since(before, now):
    return [later - earlier for earlier, later in zip(before, now)]


def share(made):
    """Samples until the blitter was busy for SAMPLE_BUSY_S.

    Returns (the first guest's share of the busy time, the busy part of the elapsed time)."""
    begun, before = time.monotonic(), blitter_time(made)
    hostlib.eventually(lambda: sum(since(before, blitter_time(made))) > SAMPLE_BUSY_S * 1e9,
                       f"{SAMPLE_BUSY_S} s of blitter time", SAMPLE_MAX_S)
    used = since(before, blitter_time(made))
    return used[0] / sum(used), sum(used) / (time.monotonic() - begun) / 1e9


def wanted_s(vgpu, before):
    """Seconds since @before in which the vGPU ran on the blitter or waited for it."""
    return sum(vgpu.stat(name) - before[name] for name in ("busy_ns_bcs", "wait_ns_bcs")) / 1e9


@test
def weights_divide_an_engine():
    made = pair()
    resets = [vgpu.stat("engine_resets") for vgpu, _ in made]
    shares = []
    starts = blitter_time(made)
    with full_rings(made, hostlib.BUSY_BLITTER):
        for (vgpu, _), start in zip(made, starts):
            hostlib.eventually(lambda: vgpu.stat("busy_ns_bcs") > start + 1e8, "the blitter's first work", SAMPLE_MAX_S)
        for weights in ((100, 400), (400, 100)):
            with contextlib.ExitStack() as stack:
                for (vgpu, _), weight in zip(made, weights):
                    stack.enter_context(changed(f"{vgpu.path}/sched/weight", weight, 100))
                share(made)  # ignored: the transition to the new weights
                begun, before = time.monotonic(), [vgpu.stats() for vgpu, _ in made]
                parts, busy = zip(*(share(made) for _ in range(SAMPLES)))
                wanted = [wanted_s(vgpu, then) / (time.monotonic() - begun) for (vgpu, _), then in zip(made, before)]
            shares.append(statistics.mean(parts))
            say(f"weights {weights[0]}:{weights[1]}: share {shares[-1]:.3f} of the blitter ("
                f"{', '.join(f'{part:.3f}' for part in parts)}), busy {statistics.mean(busy):.2f} "
                f"of the time; guests had work {wanted[0]:.2f} and {wanted[1]:.2f} of the time")
    require([vgpu.stat("engine_resets") for vgpu, _ in made] == resets, "an engine was reset")
    require_figure(shares[1] - shares[0] >= SHARE_MOVES_MIN,
                   f"shares {shares}, expected 0.2 and 0.8")


@test
def long_batches_are_preempted_mid_batch():
    """A batch contains many short copies, which in sum take much longer than a timeslice.

    Except on a fast machine, a batch also takes longer than the preempt time-out."""
    made = pair()
    before = [vgpu.stats() for vgpu, _ in made]
    for _, guest in made:
        guest.clear_log()
    rates = []
    with (changed(setting("preempt_timeout_us"), PREEMPT_TIMEOUT_US, read(setting("preempt_timeout_us"))),
          full_rings(made, LONG_BATCHES) as work):
        for (_, guest), one in zip(made, work):
            out = patience.communicate(one, 200)[0].decode(errors="replace")
            require(one.returncode == 0, f"{guest.name}: status {one.returncode}\n{out}")
            rates.append(float(out.split()[-1]))
    for (vgpu, guest), then, rate in zip(made, before, rates):
        now = {name: vgpu.stat(name) - then[name] for name in ("preemptions_bcs", "preempt_timeouts_bcs", "engine_resets")}
        say(f"{guest.name}: {rate} MB/s, {LONG_BATCH_MB / rate:.2f} s a batch; {now}")
        require(now["preemptions_bcs"] > BETWEEN_BATCHES_MAX, "no preemption inside of batches")
        require(not now["preempt_timeouts_bcs"] and not now["engine_resets"],
                f"{guest.name} was reset: {vgpu.last_error() or 'by its own driver'}")
        guest.require_no_trouble()


@test
def endless_batch_is_preempted_for_another_guest():
    (hog, bad), (victim, good) = pair()
    good.clear_log()
    before, victim_before = hog.stats(), victim.stats()
    endless = bad.begin("blitcheck --exec loop")
    while endless.poll() is None:
        status, value = good.igt("gem_exec_nop", "-r 1")
        require(status == 0 and value, f"the other guest's gem_exec_nop: status {status}, {value}")
    finished(endless, bad.name)
    preempted = hog.stat("preemptions_rcs") - before["preemptions_rcs"]
    waited_s = (victim.stat("wait_ns_rcs") - victim_before["wait_ns_rcs"]) / 1e9
    runs = victim.stat("switches_rcs") - victim_before["switches_rcs"]
    say(f"preempted {preempted} times; the other vGPU was switched to {runs} times and waited "
        f"{waited_s:.2f} s in all")
    require(preempted > 0, "the endless batch was never preempted")
    require(hog.stat("preempt_timeouts_rcs") == before["preempt_timeouts_rcs"],
            "a preemption of the endless batch timed out")
    require_figure(waited_s < runs * WAIT_MAX_S,
                   f"the other vGPU waited {waited_s / runs:.3f} s per switch")
    require(victim.stat("engine_resets") == victim_before["engine_resets"],
            "the other vGPU was reset")
    good.require_no_trouble()


@test
def usage_matches_busy_counters():
    vgpu, guest = fixture.guest("gen9")
    guest.must_run("blitcheck --rounds 1")
    usage = dict(line.split(":\t") for line in read(f"{vgpu.path}/usage").splitlines())
    require(usage["drm-driver"] == "ghyvi", f"{usage}")
    require(usage["drm-pdev"] == hostlib.parent().rpartition("/")[2], f"{usage}")
    for name, engine in (("render", "rcs"), ("copy", "bcs"), ("video", "vcs"), ("video-enhance", "vecs")):
        ns = vgpu.stat(f"busy_ns_{engine}")
        require(0 <= ns - int(usage[f"drm-engine-{name}"].removesuffix(" ns")) < 1e9, f"{name}: {usage}, counter {ns}")
    require(vgpu.stat("switches_bcs") > 0, "the blitter was never switched to the vGPU")


@test
def each_pgpu_is_an_mdev_parent():
    fixture.drop_all()
    hostlib.unload_modules()
    try:
        must_run("insmod", f"{hostlib.MODULES}/ghyvi.ko")
        must_run("insmod", f"{hostlib.MODULES}/ghyvi-softgpu.ko", f"pgpus={PGPUS}")
        parents = sorted(glob.glob("/sys/class/mdev_bus/*"))
        require(len(parents) == PGPUS, f"{parents}")
        require(not write(f"{parents[1]}/ghyvi/scheduler", "band"),
                "cannot set the scheduler of the second")
        made = [glob.glob(f"{path}/mdev_supported_types/*gen9_1")[0] for path in parents]
        for number, path in enumerate(made):
            error = write(f"{path}/create", f"c0ffee00-0000-4000-8000-00000000000{number}")
            require(not error, f"{path}: {error}")
            free = [int(read(f"{other}/available_instances")) for other in made]
            require(free == [0] * (number + 1) + [1] * (PGPUS - number - 1), f"free: {free}")
        active = [read(f"{path}/ghyvi/scheduler") for path in parents]
        require([("[band]" in text) for text in active] == [False, True, False], f"{active}")
    finally:
        for path in glob.glob("/sys/bus/mdev/devices/c0ffee00-*"):
            write(f"{path}/remove", "1")
        hostlib.unload_modules()
