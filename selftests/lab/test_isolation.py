# SPDX-License-Identifier: GPL-2.0-only
"""Isolation of two guests and of sixteen guests, and removal of a vGPU in use."""

import os
import signal
import time

import fixture
import hostlib
import patience
from hostlib import driver_trouble, require
from ktap import long_test, say, test

PATTERNS = (0xAA, 0x55)
HOLD_S = 8
REMOVE_TIMEOUT_S = 60
KILLS = 2
KILL_AFTER_S = 2
SCALE_GUESTS = 16
SCALE_TYPE = "gen9_32"
SCALE_WORK = ("blitcheck --seed {seed} --time 15 --contexts 2",
              "gmedia --case normal --resolution 480p --threads 2 --scale 8 --frames 1000 --seconds 15")
SCALE_MEMORY_MIB = 384


def finish(process, what):
    out = patience.communicate(process, 200)[0].decode(errors="replace")
    require(process.returncode == 0, f"{what}: status {process.returncode}\n{out.strip()}")
    return out.strip().splitlines()[-1]


@test
def two_guests_are_isolated():
    """No guest changes memory of the other, and bad batches of one do not affect the other."""
    fixture.drop_all()
    with fixture.vgpus("gen9_2", "gen9_2") as vgpus, fixture.guests(*vgpus) as guests:
        for guest in guests:
            _, trouble = guest.load_driver()
            require(not trouble, "\n".join(trouble))
        work = [guest.begin(f"blitcheck --pattern {pattern} --hold {HOLD_S}; one=$?; blitcheck --seed {pattern}; two=$?; "
                            "exit $((one + two))") for guest, pattern in zip(guests, PATTERNS)]
        for process, guest in zip(work, guests):
            say(finish(process, guest.name))
        for guest in guests:
            guest.require_no_trouble()

        bad, good = guests
        bad.set_heartbeat_ms(1000)
        good.clear_log()
        work = good.begin("blitcheck --time 20 --contexts 2")
        for kind in ("unknown", "badaddr", "loop"):
            status, out = bad.run(f"blitcheck --exec {kind}", 150)
            require(status == 0, f"--exec {kind}: status {status}\n{out.strip()}")
            say(out.strip())
        say(finish(work, "the other guest's blitcheck"))
        trouble = driver_trouble(good.log())
        require(not trouble, "the other guest: " + "\n".join(trouble))
        require(vgpus[1].stat("engine_errors") == 0 and vgpus[1].stat("engine_resets") == 0, "the other vGPU was reset")


@long_test
def killing_a_busy_guest_does_not_affect_the_other():
    """At the kill, a thread of its QEMU may be dispatching a workload of the other guest."""
    vgpu, good = fixture.guest("gen9")
    good.clear_log()
    before = {name: vgpu.stat(name) for name in ("engine_errors", "engine_resets")}
    for kill in range(KILLS):
        with fixture.vgpus("gen9_4") as vgpus, \
                fixture.guests(*vgpus, names=[f"killed{kill}"]) as (bad,):
            bad.load_driver()
            victim = bad.begin("blitcheck --time 300 --contexts 4")
            work = good.begin(f"blitcheck --seed {kill} --time {3 * KILL_AFTER_S} --contexts 4")
            time.sleep(KILL_AFTER_S)
            os.kill(bad.pid(), signal.SIGKILL)
            say(finish(work, f"the other guest's blitcheck, kill {kill}"))
            victim.kill()
            victim.communicate()
            vgpus[0].settle()
    trouble = driver_trouble(good.log())
    require(not trouble, "the other guest: " + "\n".join(trouble))
    for name, value in before.items():
        more = vgpu.stat(name) - value
        require(not more, f"{name} of the other vGPU: {more} more")


@test
def bar_0_pages_cannot_be_pinned():
    """A page reference would still give access when the next guest uses the page.

    A read of /proc/PID/mem pins pages like other users of get_user_pages() do, and must fail."""
    vgpu, guest = fixture.bare_guest("gen9")
    del vgpu
    areas = {"[vfio-device]": [], "[stack]": []}
    for line in hostlib.read(f"/proc/{guest.pid()}/maps").splitlines():
        for name, starts in areas.items():
            if name in line:
                starts.append((int(line.split("-")[0], 16), line))
    require(all(areas.values()), f"QEMU has no such memory: {areas}")
    with open(f"/proc/{guest.pid()}/mem", "rb", buffering=0) as memory:
        for start, line in areas["[stack]"]:
            require(len(os.pread(memory.fileno(), 8, start)) == 8, f"cannot be read: {line}")
        for start, line in areas["[vfio-device]"]:
            try:
                os.pread(memory.fileno(), 8, start)
            except OSError:
                continue
            raise hostlib.Problem(f"pages can be pinned: {line}")


def work_of_all(guests, vgpus, command):
    """
    All guests work at the same time. Says what a submission cost, and how equal their progress was (Jain's index,
    1 at best); returns what each counter of each vGPU has grown by.
    """
    before = [vgpu.stats() for vgpu in vgpus]
    work = [guest.begin(command.format(seed=seed)) for seed, guest in enumerate(guests)]
    outputs = [finish(process, guest.name) for process, guest in zip(work, guests)]
    say("\n".join(outputs))
    grown = [{name: vgpu.stat(name) - then[name] for name in then} for vgpu, then in zip(vgpus, before)]

    def total(*names):
        return sum(each[name] for each in grown for name in names)

    progress = [each["workloads"] for each in grown]
    submissions = total("submissions_bcs", "submissions_rcs")
    exits = total("table_write_traps", "mmio_reads", "mmio_writes", "aperture_accesses")
    say(f"{command.split()[0]}: {submissions} submissions, {sum(progress)} workloads; each submission: "
        f"{total('syncs') / submissions:.3f} syncs, {exits / submissions:.2f} exits, "
        f"{total('lite_restores') / submissions:.3f} lite restores, "
        f"{total('prepare_ns_bcs', 'prepare_ns_rcs') / submissions / 1000:.0f} us of preparation; "
        f"Jain of workloads {sum(progress) ** 2 / len(progress) / sum(each ** 2 for each in progress):.3f}")
    return grown


@long_test
def sixteen_guests_share_one_pgpu():
    """The guests have vGPUs of the smallest type and work at the same time, one job and many jobs in flight."""
    fixture.drop_all()
    with fixture.vgpus(*[SCALE_TYPE] * SCALE_GUESTS) as vgpus, fixture.guests(*vgpus, mem=SCALE_MEMORY_MIB) as guests:
        for guest in guests:
            _, trouble = guest.load_driver()
            require(not trouble, "\n".join(trouble))
        for command in SCALE_WORK:
            grown = work_of_all(guests, vgpus, command)
            for guest in guests:
                trouble = driver_trouble(guest.log())
                require(not trouble, f"{guest.name}: " + "\n".join(trouble))
            busy, waited = ([each[name] for each in grown] for name in ("busy_ns_bcs", "wait_ns_bcs"))
            say(f"blitter time {' '.join(f'{ns / 1e9:.2f}' for ns in busy)} s, waited "
                f"{' '.join(f'{ns / 1e9:.2f}' for ns in waited)} s")
            require(all(busy), "a vGPU did nothing")
            for name in ("engine_errors", "engine_resets", "preempt_timeouts_bcs"):
                require(not any(each[name] for each in grown), f"{name}: {[each[name] for each in grown]}")


@test
def removing_a_vgpu_in_use_unplugs_it():
    before = hostlib.available("gen9_8")
    with fixture.vgpus("gen9_8") as (vgpu,), \
            fixture.guests(vgpu, names=["unplugged"], extra=["--machine", "pc"]) as (guest,):
        guest.load_driver()
        guest.must_run("blitcheck --rounds 1 --contexts 1")
        vgpu.remove(REMOVE_TIMEOUT_S)
        require(guest.run("test -e /sys/bus/pci/devices/0000:00:02.0")[0] != 0, "the guest still has the device")
        require(guest.pid(), "QEMU has exited")
    require(hostlib.available("gen9_8") == before, "the instance is not available again")
