# SPDX-License-Identifier: GPL-2.0-only
"""QEMU moves guests with a vGPU, idle and under load."""

import contextlib
import os
import time

import fixture
import hostlib
import migrate
import opencllib
import picture
import test_compute
from hostlib import eventually, require
from ktap import long_test, say, test

CHECKS = "blitcheck --rounds 1 --contexts 1"
PARKED_BYTES = 4096  # a workload in the state has more, its context alone
SNAPSHOTS = "/tmp/ghyvi-snapshots.qcow2"
MANY_MOVES = int(os.environ.get("GHYVI_MOVES") or 100)
MOVES_PER_WORK = 10
FLIPS = 600  # 10 s
FLIP_MOVES = 2
KERNELS = "eucheck --groups 100000 --preemptible"  # a second or more
LONG_GROUPS = f"eucheck --kernel shares --groups 64 --rounds {round(hostlib.SLOWNESS)} --preemptible"  # each group many timeslices
GROUP_BYTES = 16384  # the registers of a group in progress
COMPUTE_MOVES = 2  # of each
OPENCL_S = 300
SCREEN = (1024, 768)


class Traveller:
    """A guest with i915 that moves from one vGPU to another.

    ahead: the QEMU of the next move starts as soon as the last one has ended, while the guest works."""

    def __init__(self, vgpus, arguments=(), mem=migrate.MEMORY_MB, ahead=False):
        self.vgpus, self.arguments, self.mem, self.ahead = vgpus, arguments, mem, ahead
        self.moves = 0
        self.guest = migrate.start("moving0", vgpus[0], arguments=arguments, mem=mem)
        self.target = None
        self.guest.load_driver()
        self.guest.clear_log()
        self.moved = time.monotonic()

    def vgpu(self, ahead=0):
        return self.vgpus[(self.moves + ahead) % len(self.vgpus)]

    def start_target(self):
        self.target = migrate.incoming(f"moving{self.moves + 1}", self.vgpu(1), arguments=self.arguments, mem=self.mem)

    def move(self, what):
        if not self.target:
            self.start_target()
        info = migrate.move(self.guest, self.target)
        left, left_vgpu = self.guest, self.vgpu()
        self.guest, self.target = self.target, None
        self.moves += 1
        migrate.forget(left.name)
        left_vgpu.wait_released("moved away", migrate.START_S)
        require(self.vgpu().state() == "open", f"{what}: the target is {self.vgpu().state()}")
        last, self.moved = self.moved, time.monotonic()
        say(f"move {self.moves}, {what}: {migrate.describe(info)}; {self.moved - last:.1f} s since the last one")
        if self.ahead:
            self.start_target()
        return info

    def move_idle(self):
        self.idle_bytes = self.move("idle")["vfio"]["transferred"]
        self.guest.must_run(CHECKS)
        self.guest.require_no_trouble()

    def move_under(self, name, moves):
        """Moves while a command runs, which verifies its results. Checks it, and i915's log."""
        self.begin_work(name)
        most = 0
        for _ in range(moves):
            most = max(most, self.move(name)["vfio"]["transferred"])
            self.require_going_on(name)
        self.end_work()
        require(name != migrate.BUSY or most > self.idle_bytes + PARKED_BYTES,
                f"{most} bytes of state at most, {self.idle_bytes} when idle: no workload was under way in any move")

    def begin_work(self, name):
        self.work = migrate.Work(self.guest, migrate.LOADS[name])
        eventually(lambda: self.vgpu().stat("queued_bcs_now"), f"{name} to be under way", migrate.START_S)

    def require_going_on(self, what):
        before = self.vgpu().stat("workloads")
        eventually(lambda: self.vgpu().stat("workloads") > before, f"{what}: the work to go on", migrate.START_S)

    def require_progress(self, what):
        self.require_going_on(what)
        require(self.work.running(self.guest), f"{what}: the work ended: {self.guest.run('cat /tmp/work.out')[1]}")

    def end_work(self):
        require(self.work.running(self.guest), f"the work ended: {self.guest.run('cat /tmp/work.out')[1]}")
        self.guest.must_run("touch /tmp/end")
        self.work.finish(self.guest)
        self.guest.require_no_trouble()


@contextlib.contextmanager
def two_pgpus():
    fixture.drop_all()
    hostlib.unload_modules()
    hostlib.load_modules(backend=("pgpus=2",))
    try:
        yield hostlib.parents()
    finally:
        hostlib.unload_modules()


@contextlib.contextmanager
def traveller(*pgpus, settings=(), **options):
    """A guest on the first of several vGPUs, one on each of pgpus. options are Traveller's."""
    migrate.require_qemu()
    vgpus, guest = [], None
    try:
        for pgpu in pgpus:
            vgpus.append(fixture.remapped("gen9_4", pgpu=pgpu))
            for name, value in settings:
                vgpus[-1].set(name, value)
        guest = Traveller(vgpus, **options)
        yield guest
    finally:
        migrate.kill_all()
        for vgpu in vgpus:
            vgpu.remove()


@test
def guest_moves_idle_and_under_load():
    """On one pGPU, to another one, and back."""
    with two_pgpus() as (here, there), traveller(here, here, there) as guest:
        guest.move_idle()
        for name in ("blitcheck", "gmedia", "gem_blt"):
            guest.move_under(name, 1)


@test
def guest_moves_while_it_flips():
    """The flip that the guest waits for is done on the other side, and its count of blanks does not go back."""
    pgpu = hostlib.parent()
    with traveller(pgpu, pgpu, settings=(("display/enabled", "1"),)) as guest:
        eventually(lambda: "i915" in guest.guest.run("cat /proc/fb")[1], "the console's frame buffer", 120)
        guest.work = migrate.Work(guest.guest, f"while test ! -e /tmp/end; do flips --flips {FLIPS} || exit; done")
        eventually(lambda: guest.guest.run("grep Hz /tmp/work.out")[0] == 0, "a mode", migrate.START_S)
        for _ in range(FLIP_MOVES):
            guest.move("flips")
            before = guest.vgpu().stat("interrupts")
            eventually(lambda: guest.vgpu().stat("interrupts") > before + 60, "vertical blanks", migrate.START_S)
        guest.end_work()


@contextlib.contextmanager
def computing_traveller(**options):
    pgpu = hostlib.parent()
    with test_compute.execution_units(), traveller(pgpu, pgpu, mem=migrate.SMALL_MB, **options) as guest:
        guest.guest.be_patient()
        guest.move_idle()
        yield guest


def move_computing(guest, command, moves, least):
    """Moves while a command computes, and gives right answers. Returns how often the state had so many bytes more."""
    guest.work = migrate.Work(guest.guest, f"while test ! -e /tmp/end; do {command} || exit; echo computed; done")
    within = 0
    for _ in range(moves):
        eventually(lambda: guest.guest.run("grep computed /tmp/work.out")[0] == 0, "a right answer", migrate.START_S)
        within += guest.move("eucheck")["vfio"]["transferred"] > guest.idle_bytes + least
        guest.guest.must_run(": >/tmp/work.out")
        eventually(lambda: guest.guest.run("grep computed /tmp/work.out")[0] == 0, "a right answer", migrate.START_S)
    guest.end_work()
    return within


@test
def guest_moves_while_it_computes():
    """Each group of a dispatch that gives way is executed once, here or there: it adds to memory."""
    with computing_traveller() as guest:
        parked = move_computing(guest, KERNELS, COMPUTE_MOVES, PARKED_BYTES)
        within = move_computing(guest, LONG_GROUPS, COMPUTE_MOVES, GROUP_BYTES)
        say(f"{parked} moves within a dispatch, {within} within a thread group of another kernel")
        require(within, "no move came within a thread group")


@long_test
def an_opencl_program_moves():
    """Debian's OpenCL runtime goes on after a move, and computes what PoCL does."""
    pgpu = hostlib.parent()
    with test_compute.execution_units(), traveller(pgpu, pgpu, mem=opencllib.GUEST_MB, arguments=opencllib.disk()) as guest:
        opencllib.begin(guest.guest)
        for _ in range(COMPUTE_MOVES):
            guest.work = migrate.Work(guest.guest, f"until test -e /tmp/end; do {opencllib.SYSTEM} {opencllib.RUN} || exit; done")
            eventually(lambda: guest.vgpu().stat("queued_rcs_now"), "a kernel", OPENCL_S)
            guest.move("OpenCL")
            guest.end_work()  # with the run that was under way
            opencllib.require_right_in(guest.guest, guest.guest.must_run("cat /tmp/work.out"), opencllib.SOME)


@test
def picture_is_the_same_after_a_move():
    """In each layout. The program that has drawn it sleeps, so nothing is drawn on the other side."""
    pgpu = hostlib.parent()
    settings = (("display/resolution", "{}x{}".format(*SCREEN)), ("display/enabled", "1"))
    with traveller(pgpu, pgpu, settings=settings, mem=migrate.SMALL_MB) as guest:
        for flips, tiling in enumerate(("linear", "x", "y")):
            guest.work = migrate.Work(guest.guest, f"flips --flips {flips} --tiling {tiling} --hold 3600 & "
                                                   "until [ -e /tmp/end ]; do sleep 0.2; done; killall flips")
            eventually(lambda: guest.guest.run("grep ' flips in' /tmp/work.out")[0] == 0, tiling, migrate.START_S)
            before = picture.screenshot(guest.vgpu())
            require(before == picture.of_flips(*SCREEN, flips % 2), f"{tiling}: the picture is wrong before the move")
            guest.move(tiling)
            require(picture.screenshot(guest.vgpu()) == before, f"{tiling}: the move changed the picture")
            require(not guest.vgpu().stat("display_faults"), f"{tiling}: pages of the screen were not found")
            guest.end_work()


@long_test
def guest_moves_many_times():
    with two_pgpus() as (here, there), traveller(here, there, mem=migrate.SMALL_MB, ahead=True) as guest:
        guest.move_idle()
        while guest.moves < MANY_MOVES:
            for name in migrate.LOADS:
                guest.move_under(name, min(MOVES_PER_WORK, max(MANY_MOVES // len(migrate.LOADS), 1)))
        say(f"{guest.moves} moves")


@long_test
def guest_moves_many_times_while_it_computes():
    """In the middle of thread groups, mostly. Each answer is compared with what it should be, to the byte."""
    with computing_traveller(ahead=True) as guest:
        within = 0
        while guest.moves <= MANY_MOVES:
            within += move_computing(guest, LONG_GROUPS, MOVES_PER_WORK, GROUP_BYTES)
        say(f"{guest.moves} moves, {within} of them within a thread group")
        require(within > MANY_MOVES / 2, f"{within} moves within a thread group")


@long_test
def guest_returns_to_a_snapshot():
    """savevm and loadvm of a guest at work, more than once."""
    fixture.drop_all()
    arguments = migrate.snapshot_disk(SNAPSHOTS)
    try:
        with traveller(None, arguments=arguments) as guest:
            guest.begin_work("blitcheck")
            guest.require_progress("started")
            migrate.command(guest.guest, "savevm work")
            guest.require_progress("saved")
            for number in range(2):
                guest.guest.must_run("touch /tmp/later")
                migrate.command(guest.guest, "loadvm work")
                require(guest.guest.run("test -e /tmp/later")[0] == 1, "the guest is not as it was when saved")
                guest.require_progress(f"loaded {number + 1} times")
                say(f"loaded, {guest.vgpu().stat('workloads')} workloads")
            guest.end_work()
            guest.guest.must_run(CHECKS)
            guest.guest.require_no_trouble()
    finally:
        os.unlink(SNAPSHOTS)
