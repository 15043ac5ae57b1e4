# SPDX-License-Identifier: GPL-2.0-only
"""A fake sysfs with ghyvi's software pGPU, complete enough for libudev, and a fake root for doctor.

Everything is in one directory: <top>/sys, <top>/boot, ... Files are plain files, except attributes
that shall refuse a value: these are links to real files of the kernel that refuse it."""

import os
import shutil
import threading

PARENT = "1000:00:00.0"
DRIVER = "ghyvi_softgpu"
DEVICES = {"gen9": "1912", "gen8": "1612"}
POLICIES = "strict full static dynamic [segmented] oos adaptive nested"
RELEASE = "6.1.0-99-amd64"

# Files of the kernel whose writes fail.
NO_ROOM = "/dev/full"  # ENOSPC
REFUSING = "/proc/self/oom_score_adj"  # EINVAL, unless the value is a number in -1000..1000

UUIDS = ("00000000-0000-0000-0000-000000000100", "c0ffee00-1234-4000-8000-000000000001")


# A subset of the kernel's counters, so that golden files do not change when a counter is added.
COUNTERS = ("table_write_traps", "relaxes", "syncs", "submissions_rcs", "submissions_bcs", "workloads", "busy_ns_rcs", "busy_ns_bcs",
            "relaxed_now", "protected_now", "pinned_pages_now", "zz_of_a_newer_kernel")


class Tree:
    def __init__(self, top, event, parents=(PARENT,)):
        """@event(action, device) sends a uevent as the kernel would."""
        self.top = top
        self.sys = f"{top}/sys"
        self.event = event
        os.chmod(top, 0o755)
        for directory in ("class/mdev_bus", "bus/mdev/devices", "bus/pci/devices", "module", "kernel/debug"):
            os.makedirs(f"{self.sys}/{directory}")
        for parent in parents:
            self.add_parent(parent)

    def write(self, path, text, mode=0o644):
        """Creates or replaces a file; @path is relative to the top."""
        path = f"{self.top}/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.remove(path)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def read(self, path):
        with open(f"{self.top}/{path}") as file:
            return file.read()

    def link(self, target, path):
        path = f"{self.top}/{path}"
        if os.path.lexists(path):
            os.remove(path)
        os.symlink(target, path)

    def parent_path(self, parent=PARENT):
        return f"sys/devices/pci{parent[:7]}/{parent}"

    def type_path(self, kind, parent=PARENT):
        return f"{self.parent_path(parent)}/mdev_supported_types/{DRIVER}-{kind}"

    def add_parent(self, parent):
        for generation, device in DEVICES.items():
            for n in (1, 2, 4, 8):
                kind = f"{generation}_{n}"
                path = self.type_path(kind, parent)
                self.write(f"{path}/name", f"ghyvi-{kind}\n")
                self.write(f"{path}/device_api", "vfio-pci\n")
                self.write(f"{path}/available_instances", f"{n}\n")
                self.write(f"{path}/description",
                           f"device=8086:{device}, aperture={256 // n}M, ggtt={3840 // n}M, "
                           f"engines=rcs+bcs+vcs+vecs, fences=0, max_instance={n}\n")
                self.write(f"{path}/create", "", 0o200)
        for name, value in (("scheduler", "fifo credit band [fair]"), ("timeslice_us", "2000")):
            self.write(f"{self.parent_path(parent)}/ghyvi/{name}", f"{value}\n")
        self.write(f"{self.parent_path(parent)}/power/control", "auto\n")
        self.add_device("pci", self.parent_path(parent))
        os.symlink(f"../../devices/pci{parent[:7]}/{parent}", f"{self.sys}/class/mdev_bus/{parent}")

    def add_device(self, bus, path):
        """Turns the directory @path into a device of @bus."""
        self.write(f"{path}/uevent", "")
        up = "../" * (path.count("/") - 1)
        self.link(f"{up}../bus/{bus}", f"{path}/subsystem")
        os.symlink(f"../../../{path.partition('/')[2]}", f"{self.sys}/bus/{bus}/devices/{os.path.basename(path)}")

    def add_vgpu(self, uuid, kind="gen9_4", parent=PARENT, refusing=(), **stats):
        """@refusing: attributes that refuse all values but numbers in -1000..1000."""
        path = f"{self.parent_path(parent)}/{uuid}"
        self.write(f"{path}/state", "created\n", 0o444)
        self.write(f"{path}/last_error", "\n", 0o444)
        self.write(f"{path}/last_error_time", "0\n", 0o444)
        self.write(f"{path}/open_time", "0\n", 0o444)
        self.write(f"{path}/open_pid", "0\n", 0o444)
        self.write(f"{path}/reset", "", 0o200)
        self.write(f"{path}/remove", "", 0o200)
        self.write(f"{path}/unplug", "", 0o200)
        self.write(f"{path}/policy/mode", f"{POLICIES}\n")
        for name, value in (("self_check", 0), ("static_pages", 200), ("oos_threshold", 2), ("tables_max", 16384)):
            self.write(f"{path}/policy/{name}", f"{value}\n")
        for name, value in (("trap_ns", 5400), ("scan_ns", 900), ("protect_ns", 2100)):
            self.write(f"{path}/policy/{name}", f"{value}\n", 0o444)
        self.write(f"{path}/power/control", "auto\n")
        for name in COUNTERS:
            self.write(f"{path}/stats/{name}", f"{stats.get(name, 0)}\n", 0o444)
        self.link(f"../mdev_supported_types/{DRIVER}-{kind}", f"{path}/mdev_type")
        for name in ("tables", "engines", "audit", "config", "error_state"):
            self.write(f"sys/kernel/debug/ghyvi/{uuid}/{name}", f"{name} of {uuid}\nsecond line\n", 0o400)
        for name in refusing:
            self.link(REFUSING, f"{path}/{name}")
        self.add_device("mdev", path)
        self.event("add", f"/{path}")
        return path

    def drop_vgpu(self, uuid, parent=PARENT):
        path = f"{self.parent_path(parent)}/{uuid}"
        os.remove(f"{self.sys}/bus/mdev/devices/{uuid}")
        # umockdev sends no event for a device that does not exist, so the event precedes the
        # removal.
        self.event("remove", f"/{path}")
        shutil.rmtree(f"{self.top}/{path}")

    def use_vgpu(self, uuid, *command_line, pid=4711, group=7, parent=PARENT):
        """Adds a process with this command line that has the vGPU open."""
        path = f"{self.parent_path(parent)}/{uuid}"
        self.write(f"{path}/state", "open\n", 0o444)
        self.link(f"../../../../kernel/iommu_groups/{group}", f"{path}/iommu_group")
        self.write(f"proc/{pid}/cmdline", "".join(f"{word}\0" for word in command_line))
        os.makedirs(f"{self.top}/proc/{pid}/fd", exist_ok=True)
        # umockdev does not show dangling links.
        for fd, file in (("3", "dev/kvm"), ("9", f"dev/vfio/{group}")):
            self.write(file, "")
            self.link(f"{self.top}/{file}", f"proc/{pid}/fd/{fd}")

    def add_foreign(self):
        """Adds an mdev of another vendor, with its type."""
        path = "sys/devices/pci0000:00/0000:00:02.0"
        self.write(f"{path}/mdev_supported_types/i915-GVTg_V5_4/name", "GVTg_V5_4\n")
        self.write(f"{path}/mdev_supported_types/i915-GVTg_V5_4/available_instances", "1\n")
        self.add_device("pci", path)
        os.symlink("../../devices/pci0000:00/0000:00:02.0", f"{self.sys}/class/mdev_bus/0000:00:02.0")
        uuid = "11111111-2222-3333-4444-555555555555"
        self.write(f"{path}/{uuid}/remove", "", 0o200)
        self.link("../mdev_supported_types/i915-GVTg_V5_4", f"{path}/{uuid}/mdev_type")
        self.add_device("mdev", f"{path}/{uuid}")
        return uuid

    def add_host(self):
        """Adds a root directory that passes all checks of doctor."""
        self.write(f"boot/config-{RELEASE}", "CONFIG_KVM_EXTERNAL_WRITE_TRACKING=y\nCONFIG_VFIO_MDEV=m\n")
        self.write("proc/sys/kernel/osrelease", f"{RELEASE}\n")
        self.write("var/lib/dpkg/status", "Package: qemu-system-x86-xen\nStatus: install ok installed\nVersion: 1:1.0\n\n"
                   "Package: qemu-system-x86\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:7.2+dfsg-7+deb12u16\n\n"
                   "Package: libvirt-daemon\nStatus: install ok installed\nVersion: 9.0.0-4+deb12u2\n\n")
        modules = f"lib/modules/{RELEASE}"
        self.write(f"{modules}/build/Makefile", "")
        self.write(f"{modules}/modules.dep", "kernel/arch/x86/kvm/kvm.ko:\nupdates/dkms/ghyvi.ko: kernel/x.ko\n"
                                             "kernel/drivers/vfio/mdev/mdev.ko.xz:\nkernel/vfio_iommu_type1.ko:\n")
        for module in ("kvm", "mdev", "vfio_iommu_type1", "ghyvi"):
            os.makedirs(f"{self.sys}/module/{module}", exist_ok=True)
        self.write("dev/kvm", "", 0o666)
        self.write("usr/bin/mdevctl", "", 0o755)
        self.write("usr/sbin/mdevctl", "", 0o755)
        self.write("lib/udev/rules.d/60-mdevctl.rules",
                   # As in Debian 12's package 1.2.0-3.
                   '# try to start any persistent devices\nACTION=="change", ENV{MDEV_STATE}=="registered", '
                   'TEST=="/etc/mdevctl.d/$kernel", RUN+="/bin/sh -c \'{ /usr/sbin/mdevctl start-parent-mdevs %k 2>&3 '
                   '| logger -t mdevctl; } 3>&1 1>&2 | logger -t mdevctl -p 2\'"\n')

    def listen(self, path, act):
        """Passes the next line that is written to @path to act(line), like to a store callback."""
        full = f"{self.top}/{path}"
        os.remove(full)
        os.mkfifo(full, 0o200)

        def serve():
            with open(full) as pipe:
                line = pipe.readline().strip()
            if line:
                act(line)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        return thread

    def on_read(self, path, text, act):
        """The next read of @path returns @text, after act(), which may replace or remove the file."""
        full = f"{self.top}/{path}"
        os.remove(full)
        os.mkfifo(full)

        def serve():
            with open(full, "w") as pipe:
                act()
                pipe.write(text)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        return thread
