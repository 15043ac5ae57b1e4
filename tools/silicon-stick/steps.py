# SPDX-License-Identifier: GPL-2.0-only
"""The steps of the stick, in their order. A step prints what it finds, and returns figures; a figure that a guest's step
has in common with a native one is compared with it by `ghyvictl silicon-report`.

The boots, in this order:
  i915  stock i915, without ghyvi: what the GPU is, and what it does natively
  pt    ghyvi from the state that firmware has left, the IOMMU passing addresses through
  dmar  the same with the IOMMU translating
  gvt   i915 with GVT-g
"""

import collections
import glob
import json
import os
import re
import signal
import subprocess

import hostlib
import registers
from hostlib import Problem, require

GPU = hostlib.GPU
FUNCTION = os.path.basename(GPU)
DRIVER = "/sys/bus/pci/drivers/ghyvi_gen9"
TREE = hostlib.TREE
TRANSFER = f"{TREE}/build/compare-programs/transfer-i915"
ENGINES = ("rcs", "bcs", "vcs", "vecs")
BOOTS = ("i915", "pt", "dmar", "gvt")
TYPE = "gen9_8"
VGPUS = {"first": "6d3f4b8a-0c3e-4b9e-9e55-0d1d5a6f0a01", "second": "6d3f4b8a-0c3e-4b9e-9e55-0d1d5a6f0a02"}
GVTG_TYPE = "i915-GVTg_V5_8"
SUSPEND_S = 30
GUEST_S = 200
GIB = 1 << 30
FAULTS = re.compile(r"DMAR:.*(?:fault|\[DMA )", re.I)

with open("/proc/cmdline") as cmdline_file:
    CMDLINE = cmdline_file.read().split()
QUICK = "ghyvi.quick" in CMDLINE
EMULATED = os.path.exists("/run/ghyvi/emulated")

STEPS = []  # in their order


class Skip(Exception):
    """The step cannot run here; the text is the reason."""


class Step:
    def __init__(self, boot, name, limit_s, function, arguments):
        self.boot, self.name, self.limit_s = boot, f"{boot}-{name}", limit_s
        self.function, self.arguments = function, arguments
        self.says = (function.__doc__ or "").split("\n")[0]

    def run(self):
        return self.function(*self.arguments) or {}


def step(*boots, limit_s=120, cases=(None,)):
    """A step for each of @boots and, if there are some, each of @cases, which the function gets."""
    def add(function):
        name = function.__name__.replace("_", "-")
        for boot in boots:
            for case in cases:
                STEPS.append(Step(boot, f"{name}-{case}" if case else name, limit_s, function, [case] if case else []))
        return function
    return add


def option(name):
    """The values of an option of the kernel's command line."""
    return [word.partition("=")[2] for word in CMDLINE if word.startswith(f"{name}=")]


def show(title, text):
    print(f"== {title}\n{text.rstrip()}\n", flush=True)


def show_file(path, binary=False):
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        show(path, f"({error.strerror})")
        return b""
    if binary:
        show(path, "\n".join(f"{at:04x} {data[at:at + 16].hex(' ')}" for at in range(0, len(data), 16)))
    else:
        show(path, data.decode(errors="replace"))
    return data


def show_output(*command, timeout=60):
    status, out = hostlib.run(*command, timeout=timeout)
    show(" ".join(command), out + (f"\n(status {status})" if status else ""))
    return status


def write(path, value):
    error = hostlib.write(path, value)
    require(not error, f"{value} to {path}: {error}")


def vendor():
    return hostlib.read(f"{GPU}/vendor") if os.path.exists(f"{GPU}/vendor") else ""


# ---- what the machine is ----

@step("i915")
def machine():
    """processor, memory, firmware and what ghyvictl doctor says"""
    for name in ("sys_vendor", "product_name", "product_version", "board_vendor", "board_name", "bios_vendor", "bios_version",
                 "bios_date"):
        show_file(f"/sys/class/dmi/id/{name}")
    for name in ("/proc/cmdline", "/proc/version", "/proc/meminfo", "/proc/iomem"):
        show_file(name)
    with open("/proc/cpuinfo") as file:
        show("the first CPU", file.read().split("\n\n")[0])
    for path in sorted(glob.glob("/sys/devices/system/cpu/vulnerabilities/*")):
        show_file(path)
    show_output("ghyvictl", "doctor")
    show_output("lspci", "-nn")
    require(vendor() == "0x8086", f"no Intel GPU at {FUNCTION}: vendor {vendor() or 'none'}")


@step("i915")
def configuration():
    """configuration space of the GPU"""
    show_output("lspci", "-nnvvxxxxs", FUNCTION)
    for name in ("resource", "config"):
        show_file(f"{GPU}/{name}", binary=name == "config")
    show_output("lspci", "-nnxxxs", "0000:00:00.0")


@step("i915")
def iommu():
    """the table that describes the IOMMU"""
    show("IOMMUs", "\n".join(sorted(os.listdir("/sys/class/iommu"))) or "none")
    show_output("sh", "-c", "dmesg | grep -iE 'dmar|iommu|remapping'")
    path = "/sys/firmware/acpi/tables/DMAR"
    if not os.path.exists(path):
        raise Skip("firmware has no DMAR table: VT-d is off or missing")
    show_file(path, binary=True)


@step("i915")
def firmware_state():
    """registers as firmware has left them, of the parts that are always awake"""
    enable = f"{GPU}/enable"
    before = hostlib.read(enable)
    if before == "0":
        write(enable, "1")
    try:
        values = registers.read_registers(registers.AWAKE)
    finally:
        if before == "0":
            write(enable, "0")
    show("registers", registers.table(values, registers.AWAKE))
    require(set(values.values()) != {0xffffffff}, "all registers read as ones")


# ---- i915 on the machine itself ----

def load_i915(*parameters):
    if os.path.exists("/sys/module/i915"):
        return
    write(f"{GPU}/driver_override", "\n")
    hostlib.must_run("modprobe", "i915", *parameters, timeout=120)
    hostlib.eventually(lambda: glob.glob("/dev/dri/renderD*"), "a device of i915", 60)


def debugfs():
    found = glob.glob("/sys/kernel/debug/dri/*/i915_wedged")
    require(found, "i915 has no files in debugfs")
    return os.path.dirname(found[0])


def native(*command, timeout=150):
    """Runs a program on the GPU of the machine; returns what it prints."""
    out = hostlib.must_run(*command, timeout=timeout)
    show(" ".join(command), out)
    return out


def in_guest(guest, command, timeout=GUEST_S):
    out = guest.must_run(command, timeout)
    show(f"{guest.name}: {command}", out)
    return out


class Machine:
    """Runs programs like a Guest, without one."""
    name, transfer = "native", TRANSFER

    def must_run(self, command, timeout):
        return hostlib.must_run("sh", "-c", f"PATH=$PATH:{TREE}/build/guest; {command}", timeout=timeout)


def last_number(out):
    numbers = re.findall(r"^\s*(\d+(?:\.\d+)?)\s*$", out, re.M)
    require(numbers, f"no number in: {out[-300:]}")
    return float(numbers[-1])


def measure_engines(where):
    """The time of an empty batch on each engine, and of copies."""
    figures = {f"nop_{engine}_us": last_number(in_guest(where, f"{hostlib.IGT}/gem_exec_nop -e {engine} -r 1"))
               for engine in ENGINES}
    kib, rounds = ("256", "-r 4") if QUICK else ("16384", "-m 500")
    for line in in_guest(where, f"{where.transfer} --operations copy,fill,launch --kib {kib} {rounds}").splitlines():
        if line.startswith("{"):
            one = json.loads(line)
            if one["operation"] == "launch":
                figures["launch_us"] = one["median_s"] * 1e6
            else:
                figures[f"{one['operation']}_gib_s"] = one["bytes"] / one["median_s"] / GIB
    return {name: round(value, 4) for name, value in figures.items()}


def measure_gmedia(where):
    size = "--case normal --resolution 480p --frames 3" if QUICK else "--case heavy --resolution 720p --frames 400"
    out = in_guest(where, f"gmedia --json --seconds 60 {size}")
    result = json.loads(out[out.index("{"):].splitlines()[0])
    require(result["ok"], "gmedia failed")
    return {"gmedia_fps": result["fps_total"]}


def check_blits(where, seed=1):
    size = "--rounds 1 --contexts 2" if QUICK else "--rounds 40 --contexts 4"
    in_guest(where, f"blitcheck {size} --seed {seed}")


@step("i915", limit_s=200)
def driver():
    """stock i915 loads; what it says about the GPU"""
    load_i915()
    for name in ("i915_capabilities", "i915_frequency_info", "i915_wa_registers", "i915_engine_info", "gt0/uc/guc_info",
                 "gt0/uc/huc_info", "gt0/drpc"):
        if os.path.exists(f"{debugfs()}/{name}"):
            show_file(f"{debugfs()}/{name}")
    for path in sorted(glob.glob("/sys/class/drm/card0/gt*_*_mhz")):
        show_file(path)
    show_file("/sys/kernel/debug/pmc_core/package_cstate_show")


@step("i915")
def register_dump():
    """registers of i915 at work, the GPU kept awake"""
    load_i915()
    with open(f"{debugfs()}/i915_forcewake_user", "rb"):
        names = {**registers.AWAKE, **registers.ASLEEP}
        values = registers.read_registers(names)
    show("registers", registers.table(values, names))


@step("i915", limit_s=300)
def copies():
    """speed of empty batches, copies and fills"""
    load_i915()
    return measure_engines(Machine())


@step("i915", limit_s=300)
def gmedia():
    """frames of a pipeline whose surfaces are rebound"""
    load_i915()
    return measure_gmedia(Machine())


@step("i915", limit_s=300)
def checks():
    """right bytes, saved registers and preemption"""
    load_i915()
    check_blits(Machine())
    native(f"{TREE}/build/native/registers")
    for mode in ("priority", "timeslice", "semaphore"):
        native(f"{TREE}/build/native/spin", mode)


@step("i915", limit_s=200)
def error_state():
    """the error state, with the image of the context, of a render engine that i915 resets"""
    load_i915()
    path = "/sys/class/drm/card0/error"
    hostlib.write(path, "1")  # forget an old one
    native(f"{TREE}/build/native/spin", "stubborn")  # until i915 resets the engine
    hostlib.eventually(lambda: "HW context" in hostlib.read(path), "an error state with the image of a context", 30)
    show_file(path)
    clear_log()  # the reset was asked for


@step("i915", limit_s=200)
def handover():
    """i915 gives the GPU up, and ghyvi-gen9 binds it"""
    load_i915()
    for path in glob.glob("/sys/class/vtconsole/vtcon*"):
        if "frame buffer" in hostlib.read(f"{path}/name"):
            hostlib.write(f"{path}/bind", "0")
    write(f"{GPU}/driver/unbind", FUNCTION)
    bind()
    show("types", "\n".join(sorted(hostlib.types())))
    unbind()


# ---- ghyvi ----

def clear_log():
    hostlib.run("dmesg", "-C")


def bound():
    return os.path.realpath(f"{GPU}/driver") == os.path.realpath(DRIVER)


def bind():
    if not os.path.isdir("/sys/module/ghyvi_gen9"):
        hostlib.must_run("modprobe", "-a", "mdev", "vfio", "vfio_iommu_type1", "kvm", "kvm_amd" if amd() else "kvm_intel")
        for name in ("ghyvi", "ghyvi-gen9"):
            if not os.path.isdir(f"/sys/module/{name.replace('-', '_')}"):
                hostlib.must_run("insmod", f"{hostlib.MODULES}/{name}.ko")
        hold_kvm()
    if not bound():
        write(f"{GPU}/driver_override", "ghyvi_gen9")
        write(f"{DRIVER}/bind", FUNCTION)


def hold_kvm():
    """Without this, the emulator of a test hangs (tools/lab/README.md, Limits)."""
    if EMULATED:
        with open("/dev/kmsg", "w") as log:
            subprocess.Popen([os.environ["GHYVI_AGENT"], "hold"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                             start_new_session=True)


def unbind():
    write(f"{DRIVER}/unbind", FUNCTION)
    write(f"{GPU}/driver_override", "\n")


def amd():
    with open("/proc/cpuinfo") as file:
        return " svm " in file.read()


def existing_vgpu(name):
    vgpu = hostlib.VGPU.__new__(hostlib.VGPU)
    vgpu.uuid = VGPUS[name]
    vgpu.path = f"/sys/bus/mdev/devices/{vgpu.uuid}"
    vgpu.unused = collections.defaultdict(int)
    return vgpu


def pid_of(name):
    out = hostlib.run(hostlib.GUEST, "pid", name)[1].strip()
    return out if out.isdigit() else ""


def remove(name):
    hostlib.run(hostlib.GUEST, "kill", name, timeout=30)
    existing_vgpu(name).remove(timeout=120)


def start_guest(name, vgpu, *options):
    append = " ".join(word for word in CMDLINE if word.startswith("tsc_early_khz="))
    # As the lab's guests have it: no other guest of the same name is left.
    return hostlib.Guest(name, vgpu, extra=("--append", append, *options), timeout=2 * GUEST_S)


def guest_of(name):
    """A vGPU and a guest with i915 on it. They stay for the steps that follow."""
    bind()
    vgpu = existing_vgpu(name)
    if pid_of(name):
        return vgpu, with_programs(hostlib.Guest.running(name))
    remove(name)
    vgpu = hostlib.VGPU(TYPE, VGPUS[name])
    guest = start_guest(name, vgpu)
    seconds, trouble = guest.load_driver(GUEST_S)
    print(f"{name}: i915 loaded in {seconds:.1f} s; {vgpu.stats()}", flush=True)
    require(not trouble, "\n".join(trouble[:8]))
    hostlib.must_run(hostlib.GUEST, "put", name, TRANSFER, "/run/transfer-i915")
    return vgpu, with_programs(guest)


def with_programs(guest):
    guest.transfer = "/run/transfer-i915"
    return guest


def no_trouble(vgpu, *guests):
    for guest in guests:
        trouble = hostlib.driver_trouble(guest.log())
        require(not trouble, f"{guest.name}: " + "\n".join(trouble[:8]))
    show("counters of the vGPU", "\n".join(f"{name} {value}" for name, value in vgpu.stats().items() if value))
    show("last error", vgpu.last_error() or "none")


@step("pt", "dmar", limit_s=200)
def self_test():
    """ghyvi-gen9 binds, its self-test passes, twice"""
    try:
        bind()
        write(f"{DRIVER}/unbind", FUNCTION)
        require(not bound(), "still bound")
        write(f"{DRIVER}/bind", FUNCTION)
        require(bound(), "not bound again")
    finally:
        show_file(f"/sys/kernel/debug/ghyvi-gen9/{FUNCTION}")
    log = hostlib.run("dmesg")[1]
    show("what ghyvi says", "\n".join(line for line in log.splitlines() if "ghyvi" in line))
    show("types", "\n".join(f"{name}: {hostlib.available(name)}" for name in sorted(hostlib.types())))
    for path in sorted(glob.glob(f"{GPU}/ghyvi/*")):
        if os.path.isfile(path):
            show_file(path)
    wrong = [line for line in log.splitlines() if "self-test" in line]
    require(not wrong, "\n".join(wrong[:10]))


@step("pt", "dmar", limit_s=500)
def one_guest():
    """a guest with i915: speed of empty batches, copies and fills"""
    vgpu, guest = guest_of("first")
    figures = measure_engines(guest)
    in_guest(guest, f"{hostlib.IGT}/gem_blt -s 65536 -t 20 -r 1")
    no_trouble(vgpu, guest)
    return figures


@step("pt", "dmar", limit_s=400)
def right_bytes():
    """every byte of a guest's blits"""
    vgpu, guest = guest_of("first")
    check_blits(guest)
    no_trouble(vgpu, guest)


@step("pt", "dmar", limit_s=400, cases=("strict", "segmented", "adaptive"))
def gmedia_of_guest(policy):
    """the pipeline in a guest; nested shadowing, which hardware has not, is refused"""
    vgpu, guest = guest_of("first")
    vgpu.set("policy/mode", policy)
    require(hostlib.write(f"{vgpu.path}/policy/mode", "nested") is not None, "the policy nested was accepted")
    require(vgpu.mode() == policy, f"the policy is {vgpu.mode()}")
    figures = measure_gmedia(guest)
    no_trouble(vgpu, guest)
    return figures


@step("pt", "dmar", limit_s=600)
def two_guests():
    """two guests blit at once, every byte is right"""
    (vgpu, guest), (other_vgpu, other) = guest_of("first"), guest_of("second")
    size = "--rounds 1 --contexts 2" if QUICK else "--rounds 40 --contexts 4"
    work = other.begin(f"blitcheck {size} --seed 2", GUEST_S)
    check_blits(guest)
    out = work.communicate()[0].decode(errors="replace")
    require(work.returncode == 0, f"second: status {work.returncode}: {out[-500:]}")
    show("second", out)
    no_trouble(vgpu, guest)
    no_trouble(other_vgpu, other)


@step("pt", "dmar", limit_s=500)
def preemption():
    """a guest's empty batches while another keeps the same engine busy"""
    (vgpu, guest), (other_vgpu, other) = guest_of("first"), guest_of("second")
    work = other.begin(hostlib.BUSY_BLITTER, 0)
    try:
        hostlib.eventually(lambda: other_vgpu.stat("queued_bcs_now"), "work of the second guest", 60)
        us = last_number(in_guest(guest, f"{hostlib.IGT}/gem_exec_nop -e bcs -r 1"))
    finally:
        other.run("kill $(busybox pidof gem_blt)")
        work.wait(60)
    no_trouble(vgpu, guest, other)
    return {"nop_bcs_shared_us": us}


@step("pt", "dmar", limit_s=500)
def resets():
    """a batch that hangs, one with an unknown command, and a reset of the PCI function"""
    vgpu, guest = guest_of("first")
    for kind in ("unknown", "loop"):
        in_guest(guest, f"blitcheck --exec {kind}")
        print(f"{kind}: {vgpu.stat('engine_resets')} resets, {vgpu.stat('engine_errors')} errors", flush=True)
    require(vgpu.stat("engine_resets"), "no engine was reset")
    guest.clear_log()  # these resets were asked for
    write(f"{GPU}/reset", "1")
    check_blits(guest)
    no_trouble(vgpu, guest)


@step("pt", "dmar", limit_s=300)
def suspend():
    """the machine sleeps, with a guest"""
    if "ghyvi.suspend" not in CMDLINE:
        raise Skip("not asked for by ghyvi.suspend in options.cfg")
    vgpu, guest = guest_of("first")
    write("/sys/class/rtc/rtc0/wakealarm", "0")
    write("/sys/class/rtc/rtc0/wakealarm", f"+{SUSPEND_S}")
    write("/sys/power/state", "mem")
    check_blits(guest)
    no_trouble(vgpu, guest)


@step("pt", "dmar", limit_s=200)
def end():
    """guests and vGPUs end, and the module gives the GPU back"""
    for name in VGPUS:
        if os.path.isdir(existing_vgpu(name).path):
            hostlib.run(hostlib.GUEST, "stop", name, timeout=60)
            hostlib.eventually(lambda name=name: not pid_of(name), "the end of the guest", 60)
            existing_vgpu(name).settle()
            remove(name)
    require(not hostlib.violations, "\n".join(hostlib.violations))
    if bound():
        unbind()
    hostlib.must_run("rmmod", "ghyvi_gen9")


# ---- GVT-g ----

def gvtg_trouble():
    """GVT-g is beside ghyvi for comparison: that it does not bind is no failure of ghyvi."""
    load_i915("enable_gvt=1")
    hostlib.write(f"{GPU}/power/control", "on")
    status, out = hostlib.run("modprobe", "kvmgt")
    if status or not os.path.isdir(f"{GPU}/mdev_supported_types/{GVTG_TYPE}"):
        raise Skip(f"GVT-g does not bind: {out.strip() or 'no types'}")


@step("gvt", limit_s=1000)
def gvtg():
    """the same guest on a vGPU of GVT-g"""
    hostlib.must_run("modprobe", "-a", "kvm_amd" if amd() else "kvm_intel", "vfio_iommu_type1")
    hold_kvm()
    hostlib.write("/proc/sys/kernel/watchdog_thresh", "60")  # it writes all entries of the GGTT in one go
    gvtg_trouble()
    write(f"{GPU}/mdev_supported_types/{GVTG_TYPE}/create", VGPUS["first"])
    vgpu = existing_vgpu("first")
    try:
        # A conventional PCI bus, and no hypervisor for the guest's driver to see (selftests/native/test_gvtg.py).
        cpu = "host,-hypervisor" + (",-xsave,-avx,-avx2,-fma,-f16c" if EMULATED else "")
        append = "drm_kms_helper.fbdev_emulation=0 " + " ".join(word for word in CMDLINE if word.startswith("tsc_early_khz="))
        guest = hostlib.Guest("first", vgpu, timeout=500,
                              extra=("--machine", "pc", "--append", append, "--qemu-args", "-cpu", cpu))
        guest.must_run("modprobe i915", 400)
        hostlib.must_run(hostlib.GUEST, "put", "first", TRANSFER, "/run/transfer-i915")
        figures = measure_engines(with_programs(guest))
        figures.update(measure_gmedia(guest))
        return figures
    finally:
        hostlib.run(hostlib.GUEST, "kill", "first", timeout=30)
        hostlib.write(f"{vgpu.path}/remove", "1")


# ---- after a step that did not end well ----

def clean_up():
    """Ends guests and removes vGPUs. The next steps make theirs."""
    for name in VGPUS:
        hostlib.run(hostlib.GUEST, "kill", name, timeout=30)
        vgpu = existing_vgpu(name)
        if os.path.isdir(vgpu.path):
            status, out = hostlib.run("sh", "-c", f"echo 1 >{vgpu.path}/remove", timeout=60)
            require(status == 0, f"removing {vgpu.uuid}: {out.strip()}")
    for process in glob.glob("/proc/[0-9]*/comm"):
        try:
            name = hostlib.read(process)
        except OSError:
            continue
        if name in ("gem_exec_nop", "gem_blt", "blitcheck", "gmedia", "spin", "transfer-i915"):
            os.kill(int(process.split("/")[2]), signal.SIGKILL)


def judge_log(boot):
    """Raises a Problem for defects in the kernel's log of the step."""
    log = hostlib.take_host_log()
    defects = hostlib.log_defects(log)
    require(not defects, f"kernel log: {defects[:1500]}")
    if boot in ("pt", "dmar"):
        faults = [line for line in log.splitlines() if FAULTS.search(line)]
        require(not faults, "faults of the IOMMU: " + "\n".join(faults[:10]))


# A boot has its steps in one go.
STEPS.sort(key=lambda each: BOOTS.index(each.boot))

__all__ = ["BOOTS", "Problem", "STEPS", "Skip", "Step", "clean_up", "clear_log", "judge_log", "option"]
