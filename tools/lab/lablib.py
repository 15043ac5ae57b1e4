# SPDX-License-Identifier: GPL-2.0-only
"""Code shared by the programs of the lab: paths, the choice of the kernel, cached artefacts."""

import contextlib
import fcntl
import glob
import hashlib
import lzma
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time

LAB = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(LAB))
BUILD = os.path.join(TREE, "build")
CACHE = os.path.join(BUILD, "lab-cache")
UNPACKED_KERNELS = os.path.join(BUILD, "kernels")  # by tools/kernels/fetch, one directory per suite
MIGRATING_QEMU = os.path.join(BUILD, "qemu/usr/bin/qemu-system-x86_64")  # by tools/lab/fetch-qemu
NO_QEMU = os.path.join(BUILD, "no-qemu")  # why it could not; the tests that need it are skipped with this reason

# Modules that the initrd of each machine loads before it mounts the root file system.
HOST_MODULES = ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay",
                "kvm_amd", "kvm_intel", "vfio", "vfio_iommu_type1", "mdev"]
GUEST_MODULES = ["virtio_pci", "virtio_console", "virtio_blk", "crc32c_generic",
                 "erofs", "overlay"]
# Others, in its root file system.
MORE_GUEST_MODULES = ["i915", "vgem", "msr", "nvme", "virtio_net", "vmw_vsock_virtio_transport", "qemu_fw_cfg",
                      "bochs", "virtio_gpu", "virtio_input", "evdev"]

STARTED = time.monotonic()


class LabError(Exception):
    pass


class HalfSynced(LabError):
    """The mirror of the packages is being updated: its files do not match its own lists. A test that needs them is
    skipped, with this reason."""


# What apt says then, also through mmdebstrap.
HALF_SYNCED = re.compile(r"File has unexpected size|Hash Sum mismatch|Size mismatch|Mirror sync in progress")


def half_synced(text):
    """The reason in the output of apt, or None."""
    found = next((line for line in text.splitlines() if HALF_SYNCED.search(line)), None)
    return found and f"the mirror is half synced: {found.strip()}"


def stage(text):
    print(f"lab: [{time.monotonic() - STARTED:5.1f} s] {text}", file=sys.stderr, flush=True)


def main(function):
    """Runs function() as a program: prints a LabError as one line and exits with status 125, or 4 (a skip) for
    HalfSynced."""
    try:
        sys.exit(function())
    except HalfSynced as error:
        print(f"lab: {error}", file=sys.stderr)
        sys.exit(4)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        sys.exit(125)
    except KeyboardInterrupt:
        sys.exit(130)


# ---- the kernel ----

class Kernel:
    """A kernel package: installed (prefix "") or unpacked in the directory prefix."""

    def __init__(self, version, prefix=""):
        self.version = version
        self.prefix = prefix
        self.vmlinuz = f"{prefix}/boot/vmlinuz-{version}"
        self.modules = f"{prefix}/lib/modules/{version}"
        if prefix and not os.path.isdir(self.modules):
            self.modules = f"{prefix}/usr/lib/modules/{version}"

    def is_standard(self):
        """True for Debian's flavour amd64, false for cloud-amd64 and rt-amd64."""
        return bool(re.search(r"(?<!cloud)(?<!rt)-amd64$", self.version))

    def headers(self):
        for path in (f"{self.prefix}/usr/src/linux-headers-{self.version}", f"{self.modules}/build"):
            if os.path.exists(f"{path}/Makefile"):
                return path
        return None

    def config(self, option):
        """The value of a CONFIG_ option ("y", "m", ...), or None."""
        for path in (f"{self.prefix}/boot/config-{self.version}", f"{self.headers()}/.config"):
            with contextlib.suppress(OSError), open(path) as file:
                found = re.search(rf"^{option}=(.*)$", file.read(), re.M)
                return found and found.group(1)
        return None


def version_key(version):
    return [(0, int(part), "") if part.isdigit() else (1, 0, part)
            for part in re.findall(r"\d+|[^\d.+-]+", version)]


def installed_kernels(prefix):
    for path in glob.glob(f"{glob.escape(prefix)}/boot/vmlinuz-*"):
        kernel = Kernel(os.path.basename(path)[len("vmlinuz-"):], prefix)
        if os.path.isfile(f"{kernel.modules}/modules.dep"):
            yield kernel


def unpacked_kernels():
    """The kernels that tools/kernels/fetch has unpacked; some of them have only headers."""
    for path in glob.glob(f"{glob.escape(UNPACKED_KERNELS)}/*/usr/src/linux-headers-*/.config"):
        prefix, _, headers = path[:-len("/.config")].partition("/usr/src/linux-headers-")
        yield Kernel(headers, prefix)


def kernels_named(name):
    """The installed and unpacked kernels of a version or of a series ("6.12")."""
    found = [*installed_kernels(""), *unpacked_kernels()]
    return [kernel for kernel in found if kernel.version == name] or \
        [kernel for kernel in found if kernel.version.startswith(f"{name}.") and kernel.is_standard()]


def find_kernel(variable="KERNEL"):
    """The kernel that $KERNEL selects (a version, a series, or a directory with boot/ and
    lib/modules/). The default is the newest kernel of flavour amd64 with headers."""
    wanted = os.environ.get(variable, "")
    if "/" in wanted:
        found = list(installed_kernels(os.path.abspath(wanted)))
        if not found:
            raise LabError(f"{variable}={wanted}: no boot/vmlinuz-VERSION with lib/modules/VERSION/modules.dep in it")
    elif wanted:
        found = kernels_named(wanted)
        if not found:
            raise LabError(f"{variable}={wanted}: neither installed nor in build/kernels/ (tools/kernels/fetch)")
    else:
        found = [kernel for kernel in installed_kernels("")
                 if kernel.is_standard() and kernel.headers()]
        if not found:
            raise LabError("no kernel package of flavour amd64 with headers is installed: run tools/setup")
    return max(found, key=lambda kernel: version_key(kernel.version))


def find_guest_kernel(host_kernel):
    """The kernel that $GUEST_KERNEL selects, as in find_kernel(), or that of the host."""
    return find_kernel("GUEST_KERNEL") if os.environ.get("GUEST_KERNEL") else host_kernel


# ---- cached artefacts ----

@contextlib.contextmanager
def lock(path, wait=True):
    """Holds an exclusive lock. If wait is false and the lock is held, yields False instead of
    waiting."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


def digest(*parts):
    value = hashlib.sha256()
    for part in parts:
        value.update(part if isinstance(part, bytes) else str(part).encode())
        value.update(b"\0")
    return value.hexdigest()[:16]


def file_stamp(path):
    if path.startswith(CACHE):
        return path  # the name has a digest of the content
    info = os.stat(path)
    return f"{path} {info.st_size} {info.st_mtime_ns}"


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def cached(name, key, make, keep=3):
    """Returns the path of CACHE/name-KEY. If it does not exist, make(temporary path) creates it.
    Deletes all but the newest @keep files."""
    stem, suffix = os.path.splitext(name)
    path = f"{CACHE}/{stem}-{key}{suffix}"
    if os.path.exists(path):
        with contextlib.suppress(OSError):
            os.utime(path)
        return path
    with lock(f"{CACHE}/{stem}.lock"):
        if not os.path.exists(path):
            temporary = f"{CACHE}/.{stem}-{os.getpid()}{suffix}"
            try:
                make(temporary)
                os.rename(temporary, path)
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            pattern = f"{glob.escape(CACHE)}/{glob.escape(stem)}-{'[0-9a-f]' * len(key)}{suffix}"
            for old in sorted(glob.glob(pattern), key=os.path.getmtime)[:-keep]:
                # A run that started within the last hour may still use an older file.
                if time.time() - os.path.getmtime(old) > 3600:
                    os.unlink(old)
    return path


def run_tool(*command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if result.returncode:
        text = result.stderr.decode(errors="replace").strip() or f"status {result.returncode}"
        if half_synced(text):
            raise HalfSynced(half_synced(text))
        raise LabError(f"{' '.join(command[:4])}: {text}")
    return result.stdout


def program(name, what):
    source = f"{LAB}/{name}.c"

    def make(path):
        stage(f"building {what}")
        run_tool(os.environ.get("HOSTCC", "gcc"), "-static", "-O2", "-Wall", "-s", "-o", path, source)

    return cached(name, digest(read_bytes(source)), make)


def agent():
    return program("agent", "the command channel agent")


def tsc_khz():
    """The frequency of this machine's TSC, which VMs under TCG see."""
    return int(run_tool(program("tsckhz", "the measurement of the TSC")))


def decompress(data):
    if data[:6] == b"\xfd7zXZ\0":
        return lzma.LZMADecompressor().decompress(data)
    if data[:2] == b"\x1f\x8b":
        import zlib
        return zlib.decompressobj(31).decompress(data)
    for magic, command in ((b"\x28\xb5\x2f\xfd", ["zstd", "-dcq"]), (b"\x02\x21\x4c\x18", ["lz4", "-dcq"])):
        if data[:4] == magic:
            # Ignore errors: the tool complains about the data after the end of the stream.
            return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    raise LabError("unknown kernel or module compression")


def boot_image(kernel):
    """The file for QEMU's -kernel: the ELF image in vmlinuz (PVH boot, seconds faster), or
    vmlinuz."""
    if not os.path.exists(kernel.vmlinuz):
        raise LabError(f"{kernel.version}: only the headers are there, no kernel image to boot")
    if kernel.config("CONFIG_PVH") != "y" or kernel.config("CONFIG_KASAN") == "y":
        return kernel.vmlinuz

    def make(path):
        stage(f"extracting vmlinux {kernel.version}")
        image = read_bytes(kernel.vmlinuz)
        # Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length
        start = (image[0x1f1] + 1) * 512 + int.from_bytes(image[0x248:0x24c], "little")
        length = int.from_bytes(image[0x24c:0x250], "little")
        elf = decompress(image[start:start + length])
        if elf[:4] != b"\x7fELF":
            raise LabError(f"{kernel.vmlinuz}: no ELF image inside")
        with open(path, "wb") as file:
            file.write(elf)

    return cached("vmlinux", digest(file_stamp(kernel.vmlinuz)), make, keep=6)


def module_files(kernel, names):
    """The files of the named modules and of their dependencies, in load order; without those that
    are built in or unknown."""
    depends = {}
    with open(f"{kernel.modules}/modules.dep") as file:
        for line in file:
            path, _, needs = line.strip().partition(":")
            depends[module_name(path)] = (path, needs.split())
    order = []
    for name in names:
        if name.replace("-", "_") not in depends:
            continue
        path, needs = depends[name.replace("-", "_")]
        for item in reversed(needs):
            if item not in order:
                order.append(item)
        if path not in order:
            order.append(path)
    return order


def module_name(path):
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


def module_content(kernel, path):
    data = read_bytes(f"{kernel.modules}/{path}")
    return data if path.endswith(".ko") else decompress(data)


class Cpio:
    """A newc archive, the format of an initramfs."""

    def __init__(self):
        self.data = bytearray()
        self.inode = 1
        self.directories = set()

    def add(self, name, mode, content=b""):
        header = b"070701" + b"".join(b"%08X" % value for value in (
            self.inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0))
        self.inode += 1
        self.data += header + name.encode() + b"\0"
        self.data += b"\0" * (-len(self.data) % 4)
        self.data += content
        self.data += b"\0" * (-len(self.data) % 4)

    def directory(self, name):
        if name and name not in self.directories:
            self.directory(os.path.dirname(name))
            self.directories.add(name)
            self.add(name, stat.S_IFDIR | 0o755)

    def file(self, name, content, mode=0o644):
        self.directory(os.path.dirname(name))
        self.add(name, stat.S_IFREG | mode, content)

    def link(self, name, target):
        self.directory(os.path.dirname(name))
        self.add(name, stat.S_IFLNK | 0o777, target.encode())

    def finish(self):
        self.add("TRAILER!!!", 0)
        self.data += b"\0" * (-len(self.data) % 512)
        return bytes(self.data)


def interpreter(path):
    """True if an ELF file needs a dynamic loader, i.e. has a PT_INTERP program header."""
    data = read_bytes(path)
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return any(struct.unpack_from("<I", data, offset + index * size)[0] == 3 for index in range(count))


def busybox():
    for path in ("/usr/bin/busybox", "/bin/busybox"):
        if os.path.exists(path) and not interpreter(path):
            return path
    raise LabError("no static busybox: run tools/setup")


def initrd(kernel, which, names=None, init_path=None):
    """The initrd of "host" or "guest": busybox, agent, modules, and init-WHICH as /init. Others say which modules they
    load and where their /init is."""
    init = read_bytes(init_path or f"{LAB}/init-{which}")
    programs = {"agent": agent(), "bin/busybox": busybox()}
    modules = module_files(kernel, names or (HOST_MODULES if which == "host" else GUEST_MODULES))
    key = digest(init, read_bytes(__file__), *map(file_stamp, programs.values()),
                 *(file_stamp(f"{kernel.modules}/{path}") for path in modules))

    def make(path):
        stage(f"building the initrd of the {which}")
        archive = Cpio()
        for name in ("proc", "sys", "dev", "lower", "new"):
            archive.directory(name)
        for name, source in programs.items():
            archive.file(name, read_bytes(source), 0o755)
        archive.link("bin/sh", "busybox")
        for module in modules:
            archive.file(f"modules/{module_name(module)}.ko", module_content(kernel, module))
        archive.file("modules/order", "".join(f"{module_name(module)}\n" for module in modules).encode())
        archive.file("init", init, 0o755)
        with open(path, "wb") as file:
            file.write(archive.finish())

    return cached(f"initrd-{which}.cpio", key, make, keep=6)


# ---- the guest's root file system ----

def guest_programs():
    """Path in the image -> path on this machine."""
    programs = {}
    for name in ("kmod", "bash", "strace"):
        path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
        if path:
            programs[f"usr/bin/{name}"] = path
    for path in glob.glob("/usr/libexec/igt-gpu-tools/**", recursive=True) + glob.glob("/usr/bin/intel_*") + \
            glob.glob("/usr/libexec/intel-gpu-tools/**", recursive=True) + ["/usr/bin/lsgpu", "/usr/bin/igt_stats"]:
        if os.path.isfile(path):
            programs[path[1:]] = path
    own = f"{BUILD}/guest"
    for path in sorted(glob.glob(f"{glob.escape(own)}/*")):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            programs[f"usr/bin/{os.path.basename(path)}"] = path
    return programs


def shared_libraries(paths):
    libraries = set()
    elves = [path for path in paths if read_bytes(path)[:4] == b"\x7fELF"]
    output = subprocess.run(["ldd"] + elves, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    for line in output.splitlines():
        if "not found" in line:
            stage(f"guest image: {line.strip()}")
        found = re.search(r"(?:=>\s+|^\s+)(/\S+) \(0x", line)
        if found:
            libraries.add(found.group(1))
    return libraries


def make_tree(kernel, programs, root, module_names, prompt):
    """Fills the directory @root with a system: busybox, @programs with their libraries, and modules of the kernel."""
    for name in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "proc", "sys", "dev", "tmp", "run",
                 "root", "var/tmp", "mnt"):
        os.makedirs(f"{root}/{name}")
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink(f"usr/{name}", f"{root}/{name}")

    def install(source, target):
        os.makedirs(os.path.dirname(f"{root}/{target}"), exist_ok=True)
        shutil.copyfile(source, f"{root}/{target}")
        os.chmod(f"{root}/{target}", 0o755)

    install(busybox(), "usr/bin/busybox")
    for applet in run_tool(busybox(), "--list").decode().split():
        if not os.path.lexists(f"{root}/usr/bin/{applet}"):
            os.symlink("busybox", f"{root}/usr/bin/{applet}")
    for target, source in programs.items():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{root}/{target}")
        install(source, target)
    for path in shared_libraries(programs.values()):
        directory = os.path.realpath(os.path.dirname(path))
        install(path, f"{directory[1:]}/{os.path.basename(path)}")
    if "usr/bin/kmod" in programs:
        for name in ("insmod", "rmmod", "lsmod", "modprobe", "modinfo", "depmod"):
            for directory in ("usr/bin", "usr/sbin"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{root}/{directory}/{name}")
                os.symlink("/usr/bin/kmod", f"{root}/{directory}/{name}")

    modules = f"{root}/usr/lib/modules/{kernel.version}"
    for path in module_files(kernel, module_names):
        os.makedirs(os.path.dirname(f"{modules}/{path}"), exist_ok=True)
        shutil.copyfile(f"{kernel.modules}/{path}", f"{modules}/{path}")
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(f"{kernel.modules}/{name}", f"{modules}/{name}")
    depmod = shutil.which("depmod", path="/usr/sbin:/sbin:/usr/bin:/bin")
    run_tool(depmod, "-b", f"{root}/usr", "-C", "/dev/null", kernel.version)

    files = {"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\nvideo:x:44:\nrender:x:106:\n",
             "etc/hosts": "127.0.0.1 localhost\n", "etc/fstab": "",
             "etc/profile": f"export PS1='{prompt}# ' PATH=/usr/sbin:/usr/bin:/usr/libexec/igt-gpu-tools/benchmarks\n"}
    for name, content in files.items():
        with open(f"{root}/{name}", "w") as file:
            file.write(content)


def guest_image(kernel):
    programs = guest_programs()
    own = f"{BUILD}/guest/"
    key = digest(kernel.version, file_stamp(f"{kernel.modules}/modules.dep"), read_bytes(__file__),
                 file_stamp("/var/lib/dpkg/status"), file_stamp(busybox()),
                 *(digest(target, read_bytes(source)) if source.startswith(own) else file_stamp(source)
                   for target, source in sorted(programs.items())))

    def make(path):
        stage("building the guest's root file system")
        with tempfile.TemporaryDirectory(prefix="ghyvi-guest.") as scratch:
            root = f"{scratch}/root"
            make_tree(kernel, programs, root, GUEST_MODULES + MORE_GUEST_MODULES, "guest")
            run_tool("mkfs.erofs", "-zlz4", "-T0", "--all-root", path, root)
        stage(f"guest image: {os.path.getsize(path) >> 20} MiB, {len(programs)} programs")

    return cached("guest.erofs", key, make)
