# SPDX-License-Identifier: GPL-2.0-only
"""Controls modules, vGPUs (through sysfs) and guests (through tools/lab/guest) in the host VM.

Used by the lab tests (host-tests) and by the demo (demo-host)."""

import glob
import os
import re
import subprocess
import time
import uuid as uuids

import patience

TREE = os.environ.get("GHYVI_TREE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.environ.get("GHYVI_OUT", "/tmp")
MODULES = os.environ.get("GHYVI_MODULES") or f"{TREE}/build/module"
EUD = os.environ.get("GHYVI_EUD") or f"{TREE}/build/ghyvi-eud"
GUEST = f"{TREE}/tools/lab/guest"
CHECK_LOG = f"{TREE}/tools/lab/check-log"
IGT = "/usr/libexec/igt-gpu-tools/benchmarks"

# Options for short runs: with the defaults, a program takes minutes on nested TCG.
IGT_PROGRAMS = {
    "gem_exec_nop": "-r 1",
    "gem_blt": "-s 262144 -t 100 -r 1",
    "gem_exec_fault": "-r 1",
}

# i915 before this version cannot run a program: gem_exec_fault asks for memory regions.
IGT_NEEDS = {"gem_exec_fault": (5, 13)}

# Copies so large that the blitter limits their rate. They use one context, and at least one is
# always queued in its ring.
BUSY_BLITTER = f"{IGT}/gem_blt -s 4194304 -b 4 -t 60000 -r 1 >/dev/null 2>&1"

# i915 logs none of these when it finds no problem.
DRIVER_TROUBLE = re.compile(r"WARN|\bERROR\b|GPU HANG|timed out|wedged|Call Trace|BUG:|Resetting|time out")

# Factor for all time-outs, for slow kernels (selftests/lab/run-debug).
SLOWNESS = float(os.environ.get("GHYVI_LAB_SLOWNESS", "1"))

# Defaults of i915, and values for guests whose queues take longer than the defaults allow: a longer
# heartbeat interval, and no request time-out.
HEARTBEAT_MS = 2500
PATIENT_HEARTBEAT_MS = 60000
REQUEST_TIMEOUT_MS = 20000
NO_REQUEST_TIMEOUT_MS = 0
GUEST_DEBUGFS = "/sys/kernel/debug"
CGROUPS = "/sys/fs/cgroup"

# The counters of KCSAN, if the host's kernel has it (make test-kcsan).
KCSAN = "/sys/kernel/debug/kcsan"

MEMORY_MB = 768  # of a Guest

# Time limit of `guest start`. That of a Guest is shorter, unless the test starts a slow one.
START_S = 180

# Time limit for counters to return to 0 after QEMU has exited.
SETTLE_S = 10


class Problem(Exception):
    """A check failed."""


class GuestLost(Problem):
    """The guest did not start, or exited: nested TCG loses guests (tools/lab/README.md, Limits)."""


class MissedFigure(Problem):
    """A measured time or share is out of bounds.

    Other load on this machine can cause one such result; a defect causes it in every repetition."""


GUEST_GONE = 125  # status of `guest run`


def require(condition, text):
    if not condition:
        raise Problem(text)


def require_figure(condition, text):
    if not condition:
        raise MissedFigure(text)


def read(path):
    with open(path) as file:
        return file.read().strip()


def write(path, value):
    """Returns None or the OSError."""
    try:
        fd = os.open(path, os.O_WRONLY)
        try:
            os.write(fd, f"{value}\n".encode())
        finally:
            os.close(fd)
        return None
    except OSError as error:
        return error


def run(*command, timeout=60, env=None):
    """Returns (status, standard output and standard error); the status is 124 on time-out."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=env) as process:
        try:
            out, _ = patience.communicate(process, timeout * SLOWNESS)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            return 124, out.decode(errors="replace")
    return process.returncode, out.decode(errors="replace")


def must_run(*command, timeout=60):
    status, out = run(*command, timeout=timeout)
    require(status == 0, f"{' '.join(command)}: status {status}: {out.strip()[-600:]}")
    return out


def eventually(function, what, timeout=SETTLE_S):
    """Waits until function() is true."""
    end = patience.now() + timeout * SLOWNESS
    while not function():
        require(patience.now() < end, f"{what}: not within {timeout} s")
        time.sleep(0.1)


def put_into_group(name, pid):
    """Gives a process a control group of its own, as libvirt gives each VM one. ghyvi-eud's process for the VM joins it."""
    if not os.path.exists(f"{CGROUPS}/cgroup.procs"):
        must_run("mount", "-t", "cgroup2", "none", CGROUPS)
    os.makedirs(f"{CGROUPS}/{name}", exist_ok=True)
    require(not write(f"{CGROUPS}/{name}/cgroup.procs", pid), f"{name}: no control group")
    return f"{CGROUPS}/{name}"


# ---- the host's kernel log ----

def take_host_log():
    """Returns and clears the host's kernel log."""
    return run("dmesg", "--read-clear")[1]


def log_defects(text):
    """Returns the lines that report a kernel defect (tools/lab/check-log)."""
    path = "/tmp/ghyvi-host-log"
    with open(path, "w") as file:
        file.write(text)
    status, out = run(CHECK_LOG, path)
    return out.strip() if status else ""


# ---- modules and types ----

# The backend: the software GPU, or that for hardware on the emulated Skylake (tools/lab/run).
PGPU = os.environ.get("GHYVI_PGPU", "softgpu")
GPU = "/sys/bus/pci/devices/0000:00:02.0"


def loaded():
    return os.path.isdir(f"/sys/module/ghyvi_{PGPU}")


def bind_gpu():
    write(f"{GPU}/driver_override", "ghyvi_gen9")
    error = write("/sys/bus/pci/drivers/ghyvi_gen9/bind", os.path.basename(GPU))
    require(not error, f"the GPU cannot be bound: {error}")


def load_modules(*parameters, backend=()):
    """Loads ghyvi with parameters, and the backend with those in @backend."""
    must_run("insmod", f"{MODULES}/ghyvi.ko", *parameters)
    must_run("insmod", f"{MODULES}/ghyvi-{PGPU}.ko", *backend)
    if PGPU == "gen9":
        bind_gpu()
    eventually(lambda: glob.glob("/sys/class/mdev_bus/*/mdev_supported_types"), "an mdev parent")


def unload_modules():
    must_run("rmmod", f"ghyvi_{PGPU}")
    must_run("rmmod", "ghyvi")


def parents():
    return sorted(glob.glob("/sys/class/mdev_bus/*"))


def parent():
    found = parents()
    require(len(found) == 1, f"mdev parents: {found}")
    return found[0]


def types(pgpu=None):
    """Maps the short name of each type ("gen9_4") to its sysfs directory.

    pgpu is an mdev parent; it can be left out if there is only one."""
    return {os.path.basename(path).rpartition("-")[2]: path
            for path in sorted(glob.glob(f"{pgpu or parent()}/mdev_supported_types/*"))}


def available(name):
    return int(read(f"{types()[name]}/available_instances"))


# ---- vGPUs ----

violations = []  # of all vGPUs of this run; recorded when a vGPU is removed


class VGPU:
    def __init__(self, kind, uuid=None, pgpu=None):
        self.uuid = uuid or str(uuids.uuid4())
        self.path = f"/sys/bus/mdev/devices/{self.uuid}"
        error = write(f"{types(pgpu)[kind]}/create", self.uuid)
        if error:
            raise error
        require(os.path.isdir(self.path), f"{self.path} does not exist after create")
        self.unused = self.stats()

    def stat(self, name):
        return int(read(f"{self.path}/stats/{name}"))

    def stats(self):
        return {name: self.stat(name) for name in sorted(os.listdir(f"{self.path}/stats"))}

    def now_counters(self):
        """Counters of current use that differ from those of a new vGPU.

        test_sysfs checks that a new vGPU's counters are 0."""
        return {name: value for name, value in self.stats().items()
                if name.endswith("_now") and value != self.unused[name]}

    def settle(self):
        """Waits until the vGPU has no pinned pages and no tracked tables."""
        end = patience.now() + SETTLE_S * SLOWNESS
        while self.now_counters():
            require(patience.now() < end, f"counters not back at 0: {self.now_counters()}")
            time.sleep(0.1)

    def state(self):
        return read(f"{self.path}/state")

    def wait_released(self, what, timeout):
        """Waits until no program has the vGPU open, and nothing of it is left pinned or tracked."""
        eventually(lambda: self.state() == "created", f"{what}: release of the vGPU", timeout)
        self.settle()

    def mode(self):
        text = read(f"{self.path}/policy/mode")
        found = re.search(r"\[(\w+)\]", text)
        require(found, f"policy/mode reads '{text}': no policy in brackets")
        return found.group(1)

    def set(self, attribute, value):
        error = write(f"{self.path}/{attribute}", value)
        require(not error, f"writing {value} to {attribute}: {error}")

    def last_error(self):
        return read(f"{self.path}/last_error")

    def note_violations(self):
        for name in ("oracle_violations", "check_differences"):
            value = self.stat(name)
            if value:
                violations.append(f"{self.uuid}: {name} {value} ({self.last_error()})")

    def remove(self, timeout=20):
        """Removes the vGPU if it exists. A child does the write, because it may block."""
        if not os.path.isdir(self.path):
            return
        self.note_violations()
        status, out = run("sh", "-c", f"echo 1 >{self.path}/remove", timeout=timeout)
        require(status == 0, f"removing {self.uuid}: status {status} {out.strip()}")
        require(not os.path.exists(self.path), f"{self.path} still exists")


# ---- guests ----

def driver_trouble(log):
    return [line.strip() for line in log.splitlines() if DRIVER_TROUBLE.search(line)]


def screen_device(vgpu):
    """QEMU's arguments for a vGPU whose display QEMU shows."""
    return "-device", f"vfio-pci-nohotplug,sysfsdev={vgpu.path},display=on,ramfb=on"


def second_disk(path):
    """QEMU's arguments for a file system of the guest, /dev/vdb."""
    drive = f"if=none,id=disk,format=raw,readonly=on,file.locking=off,file={path}"
    return "-drive", drive, "-device", "virtio-blk-pci,drive=disk,addr=12.0"


def mount_system(disk="/dev/vdb"):
    """The shell command that mounts a disk with a system at /system, with what a program of it needs of this one."""
    return (f"mkdir -p /system && mount -t erofs -o ro {disk} /system && "
            "for d in dev proc sys tmp run; do mount -o rbind /$d /system/$d; done")


def small_pages(mb):
    """QEMU's arguments for @mb of memory, all of it: KVM before 6.13 maps no part of a huge page through the aperture.
    Files in memory have none by default."""
    return "-object", f"memory-backend-memfd,id=ram,size={mb}M,share=on", "-machine", "memory-backend=ram"


class Guest:
    def __init__(self, name, *vgpus, mem=MEMORY_MB, smp=1, extra=(), prefix=(), timeout=120):
        self.name = name
        arguments = [word for vgpu in vgpus for word in ("--vgpu", vgpu.uuid)]
        status, out = run(*prefix, GUEST, "start", name, *arguments, "--mem", str(mem), "--smp", str(smp),
                          "--timeout", str(patience.stretched(START_S)), *extra, timeout=timeout)
        if status:
            self.kill()  # QEMU may run, and would keep the vGPU in use
            raise GuestLost(f"guest {name} did not start: {out.strip()[-1500:]}")

    @classmethod
    def running(cls, name, timeout=120):
        """A guest that another program started.

        Its channels and its pid file are in /run/ghyvi/guests/NAME, like those of the lab."""
        guest = cls.__new__(cls)
        guest.name = name
        status, out = run(GUEST, "wait", name, "--timeout", str(patience.stretched(timeout)), timeout=timeout + 10)
        if status:
            raise GuestLost(f"guest {name} does not answer: {out.strip()[-1500:]}")
        return guest

    def run(self, command, timeout=120):
        status, out = run(GUEST, "run", self.name, "--timeout", str(patience.stretched(timeout * SLOWNESS)), "--", command,
                          timeout=timeout + 10)
        if status == GUEST_GONE:
            raise GuestLost(f"guest {self.name} exited during {command}: {out.strip()[-600:]}")
        return status, out

    def must_run(self, command, timeout=120):
        status, out = self.run(command, timeout)
        require(status == 0, f"guest {self.name}: {command}: status {status}: {out.strip()[-1500:]}")
        return out

    def begin(self, command, timeout=300):
        """Starts a command and returns its process; stdout is a pipe. timeout 0 means no limit."""
        return subprocess.Popen([GUEST, "run", self.name, "--timeout", str(patience.stretched(timeout)), "--", command],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def require_no_trouble(self):
        trouble = driver_trouble(self.log())
        require(not trouble, "\n".join(trouble))

    def clear_log(self):
        self.run("dmesg -c >/dev/null")

    def log(self):
        return self.run("dmesg")[1]

    def load_driver(self, timeout=150):
        """Returns (seconds from modprobe to "Initialized", log lines that report trouble)."""
        status, log = self.run("dmesg -c >/dev/null; echo 'ghyvi: driver load' >/dev/kmsg; modprobe i915; "
                               "status=$?; dmesg; exit $status", timeout)
        stamps = {}
        for line in log.splitlines():
            found = re.search(r"\[\s*(\d+\.\d+)\].*(ghyvi: driver load|Initialized i915)", line)
            if found:
                stamps[found.group(2)] = float(found.group(1))
        trouble = driver_trouble(log)
        require(status == 0 and "Initialized i915" in stamps,
                f"i915 did not load (status {status}): {'; '.join(trouble[:8]) or log.strip()[-1500:]}")
        return stamps["Initialized i915"] - stamps["ghyvi: driver load"], trouble

    def set_heartbeat_ms(self, interval):
        """Sets the heartbeat interval of all engines.

        A heartbeat is a request behind the queued ones. i915 resets an engine if it does not
        complete within five intervals."""
        self.must_run(f"for f in /sys/class/drm/card0/engine/*/heartbeat_interval_ms; do echo {interval} >$f; done")

    def set_request_timeout_ms(self, timeout):
        """Sets the time after which i915 cancels a request of a context that is opened later."""
        self.must_run(f"test -d {GUEST_DEBUGFS}/dri || mount -t debugfs none {GUEST_DEBUGFS}; "
                      f"echo {timeout} >{GUEST_DEBUGFS}/dri/0/i915_params/request_timeout_ms")

    def be_patient(self):
        """Dispatches take seconds where execution units are emulated twice: i915 is not to take them for hangs."""
        self.set_heartbeat_ms(PATIENT_HEARTBEAT_MS)
        self.set_request_timeout_ms(NO_REQUEST_TIMEOUT_MS)

    def unload_driver(self):
        self.must_run("rmmod i915", 60)

    def igt(self, program, arguments=None, timeout=120):
        """Returns (status, result); the result is the last number printed, or None."""
        arguments = IGT_PROGRAMS[program] if arguments is None else arguments
        status, out = self.run(f"{IGT}/{program} {arguments} 2>&1", timeout)
        numbers = re.findall(r"^\s*(\d+(?:\.\d+)?)\s*$", out, re.M)
        if status or not numbers:
            print(f"# {program} {arguments}: status {status}: {out.strip()[-600:]}", flush=True)
        return status, float(numbers[-1]) if numbers else None

    def release(self):
        """The version of its kernel, as (6, 1)."""
        return tuple(int(word) for word in self.must_run("uname -r").split(".")[:2])

    def igt_programs(self):
        """Those of IGT_PROGRAMS that the guest's i915 can run."""
        release = self.release()
        return [program for program in IGT_PROGRAMS if release >= IGT_NEEDS.get(program, (0, 0))]

    def stop(self):
        run(GUEST, "stop", self.name, timeout=60)

    def kill(self):
        run(GUEST, "kill", self.name, timeout=30)

    def monitor(self, command):
        must_run(GUEST, "monitor", self.name, command)

    def pid(self):
        out = run(GUEST, "pid", self.name)[1].strip()
        return int(out) if out.isdigit() else None
