# SPDX-License-Identifier: GPL-2.0-only
"""The kernels that ghyvi supports. A kernel that is not installed is unpacked in build/kernels/:
apt, with a separate state directory, downloads its packages. The machine's apt sources and
installed packages do not change."""

import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lab"))

import lablib  # noqa: E402
from lablib import LabError, stage  # noqa: E402

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
COMPONENT = "main"

# suite -> the lab tests that run on its kernel: "all", "smoke" (selftests/kernels/run), or None
# (the modules are only built)
SUITES = {
    "bookworm": "all",
    "bookworm-backports": "smoke",
    "trixie-backports": "smoke",
}

# Runs a system's QEMU with the libraries of that.
LAUNCHER = """#!/bin/sh
root={root}
libraries=$root/usr/lib/x86_64-linux-gnu
QEMU_MODULE_DIR=$libraries/qemu exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$libraries" \\
	"$root/usr/bin/qemu-system-x86_64" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" "$@"
"""


def release_of(suite):
    return suite.split("-")[0]


def this_release():
    with open("/etc/os-release") as file:
        found = re.search(r"^VERSION_CODENAME=(\w+)", file.read(), re.M)
    return found.group(1) if found else ""


def debian_sources():
    """(mirror, suite) of each Debian source of this machine's apt."""
    out = lablib.run_tool("apt-get", "indextargets", "--format", "$(SITE) $(ORIGIN) $(RELEASE)").decode()
    found = [line.split() for line in out.splitlines()]
    return list(dict.fromkeys((words[0], words[2]) for words in found if len(words) == 3 and words[1] == "Debian"))


def mirror():
    for site, suite in debian_sources():
        if suite == this_release():
            return site
    raise LabError(f"apt has no Debian mirror for {this_release()}: run apt-get update")


def minimal_system(name, release, packages, sources=None):
    """Returns an archive with a minimal system of a release, for chroot, which is created once. Needs root.

    sources: lines for apt, of the release in this machine's mirror if there are none"""
    sources = sources or [f"deb [signed-by={KEYRING}] {mirror()} {release} {COMPONENT}"]

    def make(path):
        stage(f"creating a minimal {release}")
        lablib.run_tool("mmdebstrap", "--quiet", "--variant=apt", f"--include={','.join(packages)}", release, path, *sources)

    return lablib.cached(f"{name}.tar", lablib.digest(*packages, *sources), make, keep=1)


class Apt:
    """apt-get for one suite, with a separate state directory."""

    def __init__(self, suite):
        self.suite = suite
        self.sources = [f"deb [signed-by={KEYRING}] {mirror()} {name} {COMPONENT}"
                        for name in dict.fromkeys((release_of(suite), suite))]
        self.state = f"{lablib.UNPACKED_KERNELS}/.apt-{suite}"
        for name in ("lists/partial", "cache/archives/partial", "debs"):
            os.makedirs(f"{self.state}/{name}", exist_ok=True)
        with open(f"{self.state}/sources.list", "w") as file:
            file.write("\n".join(self.sources) + "\n")
        open(f"{self.state}/status", "a").close()
        self.options = [word for name, value in (
            ("Dir::Etc::sourcelist", f"{self.state}/sources.list"), ("Dir::Etc::sourceparts", "-"),
            ("Dir::Etc::preferences", "-"), ("Dir::Etc::preferencesparts", "-"), ("Dir::State", self.state),
            ("Dir::State::status", f"{self.state}/status"), ("Dir::Cache", f"{self.state}/cache"),
            ("APT::Sandbox::User", "root"), ("Debug::NoLocking", "true"),
        ) for word in ("-o", f"{name}={value}")]

    def update(self):
        lablib.run_tool("apt-get", *self.options, "-q", "update")

    def names(self, prefix):
        """The names of the packages that begin with prefix."""
        return lablib.run_tool("apt-cache", *self.options, "pkgnames", prefix).decode().split()

    def newest(self):
        """The version in the package names of the newest kernel of flavour amd64."""
        versions = [name[len("linux-headers-"):] for name in self.names("linux-headers-")
                    if re.search(r"-\d[^-]*(-\d+)?-amd64$", name)]
        if not versions:
            raise LabError(f"{self.suite}: no linux-headers-VERSION-amd64 on {mirror()}")
        return max(versions, key=lablib.version_key)

    def image_names(self, version):
        """The packages with a kernel's image, configuration and modules.

        linux-image has all of them, or (seen in 7.3) only depends on the others."""
        wanted = [f"linux-{part}-{version}" for part in ("image", "base", "binary", "modules")]
        return [name for name in wanted if name in self.names(name)]

    def download(self, names):
        """Downloads packages and returns their paths."""
        folder = f"{self.state}/debs"
        for old in glob.glob(f"{glob.escape(folder)}/*.deb"):
            os.unlink(old)
        lablib.run_tool("apt-get", *self.options, "-q", "download", *names, cwd=folder)
        return glob.glob(f"{glob.escape(folder)}/*.deb")


def package_names(apt, suite, version):
    """(packages to unpack, the package whose programs must be able to run)"""
    base = version[:-len("-amd64")]
    names = [f"linux-headers-{version}", f"linux-headers-{base}-common"]
    if SUITES[suite]:
        names += apt.image_names(version)
    return names, f"linux-kbuild-{base}"


def relocate(prefix, version):
    """Adapts the one absolute path with which Debian's headers refer to each other."""
    path = f"{prefix}/usr/src/linux-headers-{version}/Makefile"
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(re.sub(r"^include /usr/src/", f"include {prefix}/usr/src/", text, flags=re.M))


@contextlib.contextmanager
def replaced(prefix):
    """Yields an empty directory that replaces prefix when the block ends without an exception."""
    temporary = f"{os.path.dirname(prefix)}/.{os.path.basename(prefix)}"
    shutil.rmtree(prefix, ignore_errors=True)
    shutil.rmtree(temporary, ignore_errors=True)
    os.makedirs(temporary)
    yield temporary
    os.rename(temporary, prefix)


def install_qemu(suite, root, packages=()):
    """Makes a system for chroot with a suite's QEMU and more packages of it, and a launcher that runs that QEMU outside of
    the system. Needs root, and changes nothing else."""
    names = " ".join(("qemu-system-x86", "seabios", *packages))
    stage(f"{names} of {suite}")
    install = f'chroot "$1" apt-get install -q -y --no-install-recommends -t {suite} {names}'
    with replaced(root) as folder:
        lablib.run_tool("mmdebstrap", "--quiet", "--variant=apt", f"--customize-hook={install}", release_of(suite), folder,
                        *Apt(suite).sources)
        path = f"{folder}/qemu-system-x86_64"
        with open(path, "w") as file:
            file.write(LAUNCHER.format(root=root))
        os.chmod(path, 0o755)


def unpack(apt, names, folder):
    for file in apt.download(names):
        lablib.run_tool("dpkg", "-x", file, folder)
        os.unlink(file)


def unpack_source(apt, name, folder, paths):
    """Unpacks @paths of the kernel's sources in the package @name, linux-source-VERSION. Returns the package's file name."""
    package, = apt.download([name])
    with tempfile.TemporaryDirectory(dir=lablib.BUILD) as whole:
        lablib.run_tool("dpkg", "-x", package, whole)
        os.unlink(package)
        archive, = glob.glob(f"{whole}/usr/src/*.tar.xz")
        top = os.path.basename(archive)[:-len(".tar.xz")]
        lablib.run_tool("tar", "-xf", archive, "-C", folder, "--strip-components=1", *(f"{top}/{path}" for path in paths))
    return os.path.basename(package)


def arrange(folder, version):
    """Links an unpacked kernel's files to the places of older packages, and makes modules.dep."""
    if not os.path.exists(f"{folder}/lib"):  # since Debian 13 packages have only usr/lib
        os.symlink("usr/lib", f"{folder}/lib")
    os.makedirs(f"{folder}/boot", exist_ok=True)
    for name in ("vmlinuz", "config"):  # seen in 7.3: beside the modules
        if not os.path.exists(f"{folder}/boot/{name}-{version}"):
            os.symlink(f"../lib/modules/{version}/{name}", f"{folder}/boot/{name}-{version}")
    lablib.run_tool("depmod", "-b", folder, version)


@contextlib.contextmanager
def newest_of(suite, name):
    """Yields (Apt of the suite, its newest version, prefix in build/kernels/) with prefix locked."""
    with lablib.lock(f"{lablib.UNPACKED_KERNELS}/.{name}.lock"):
        apt = Apt(suite)
        apt.update()
        yield apt, apt.newest(), f"{lablib.UNPACKED_KERNELS}/{name}"


def fetch(suite):
    """Unpacks the newest kernel of a suite in build/kernels/SUITE, unless it is there already.
    Returns a lablib.Kernel. For a suite of another release, the compiler of that release is
    installed beside it, in a minimal system for chroot (needs root)."""
    with newest_of(suite, suite) as (apt, version, prefix):
        names, kbuild_package = package_names(apt, suite, version)
        if not os.path.isdir(f"{prefix}/usr/src/linux-headers-{version}"):
            foreign = release_of(suite) != this_release()
            with replaced(prefix) as folder:
                if foreign:
                    stage(f"{suite}: the compiler of {release_of(suite)}")
                    lablib.run_tool("mmdebstrap", "--quiet", "--variant=apt", f"--include=make,gcc,{kbuild_package}",
                                    release_of(suite), folder, *apt.sources)
                stage(f"{suite}: linux {version}")
                unpack(apt, names if foreign else [*names, kbuild_package], folder)
                if SUITES[suite]:
                    arrange(folder, version)
            if not foreign:
                relocate(prefix, version)
        return lablib.Kernel(version, prefix)


def fetch_for_guests(suite):
    """Unpacks only the image and the modules of the newest kernel of a suite, in
    build/kernels/guest-SUITE. Returns a lablib.Kernel."""
    with newest_of(suite, f"guest-{suite}") as (apt, version, prefix):
        if not os.path.exists(f"{prefix}/boot/vmlinuz-{version}"):
            with replaced(prefix) as folder:
                stage(f"{suite}: linux {version}, for guests")
                unpack(apt, apt.image_names(version), folder)
                arrange(folder, version)
        return lablib.Kernel(version, prefix)


def find(suite):
    """The installed kernel if the suite is that of this machine, else a fetched one."""
    return lablib.find_kernel("") if suite == this_release() else fetch(suite)


def kbuild_command(kernel, folder, arguments):
    """The command that runs kbuild on folder for kernel, with the matching compiler."""
    headers = kernel.headers()
    if not headers:
        raise LabError(f"no headers for {kernel.version}")
    if not os.path.exists(f"{kernel.prefix}/usr/bin/make") or not kernel.prefix:
        return ["make", "-C", headers, f"M={folder}", *arguments]
    inside = headers[len(kernel.prefix):]
    script = f'''mount -t proc proc "$1/proc" && mkdir -p "$1$2" && mount --bind "$2" "$1$2" || exit 1
root=$1 folder=$2 headers=$3; shift 3; exec chroot "$root" make -C "$headers" M="$folder" "$@"'''
    return ["unshare", "--mount", "sh", "-c", script, "sh", kernel.prefix, folder, inside, *arguments]


def kbuild(kernel, folder, arguments, **options):
    return subprocess.run(kbuild_command(kernel, folder, arguments), **options).returncode
