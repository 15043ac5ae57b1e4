# SPDX-License-Identifier: GPL-2.0-only
"""ghyvictl doctor, with each requirement missing in turn."""

import gzip
import os
import re
import shutil

from ktap import Skip, test
from toolslib import DONE, ERROR, USAGE, ctl, require, tree
from tree import RELEASE


def results(made, *arguments, expect=None):
    """Maps each check to its worst (result, detail, remedy)."""
    got = ctl(made, "doctor", "--root", made.top, "--kernel", RELEASE, "--json", *arguments, expect=expect).json()
    order = ("PASS", "WARN", "FAIL")
    worst = {}
    for each in got["checks"]:
        if each["check"] not in worst or order.index(each["result"]) > order.index(worst[each["check"]][0]):
            worst[each["check"]] = (each["result"], each["detail"], each["remedy"])
        require((each["result"] == "PASS") == (each["remedy"] is None), f"{each}")
    require(got["passed"] + got["warnings"] + got["failed"] == len(got["checks"]), f"{got}")
    return worst


def is_result(made, check, result, *words):
    """The check has this result; the exit status is 1 exactly if the result is FAIL."""
    got = results(made, expect=ERROR if result == "FAIL" else DONE)
    require(got[check][0] == result, f"{check}: {got[check]}, not {result}")
    for word in words:
        require(word in " ".join(filter(None, got[check])), f"{check}: nothing of {word} in {got[check]}")


@test
def doctor_passes_on_a_good_host():
    with tree() as made:
        made.add_host()
        got = results(made, expect=DONE)
        require({value[0] for name, value in got.items() if name != "memlock"} == {"PASS"}, f"{got}")


@test
def doctor_reads_the_kernels_configuration():
    with tree() as made:
        made.add_host()
        config = f"boot/config-{RELEASE}"
        made.write(config, "# CONFIG_KVM_EXTERNAL_WRITE_TRACKING is not set\nCONFIG_VFIO_MDEV=m\n")
        is_result(made, "kernel", "WARN", "CONFIG_KVM_EXTERNAL_WRITE_TRACKING", "optional")
        made.write(config, "CONFIG_KVM_EXTERNAL_WRITE_TRACKING=y\nCONFIG_VFIO_MDEVX=m\n")
        is_result(made, "kernel", "FAIL", "CONFIG_VFIO_MDEV", "cloud")
        os.remove(f"{made.top}/{config}")
        is_result(made, "kernel", "WARN", RELEASE)
        os.makedirs(f"{made.top}/proc", exist_ok=True)
        with gzip.open(f"{made.top}/proc/config.gz", "wt") as file:
            file.write("CONFIG_KVM_EXTERNAL_WRITE_TRACKING=y\nCONFIG_VFIO_MDEV=m\n")
        is_result(made, "kernel", "PASS")


@test
def doctor_says_how_to_migrate_on_newer_kernels():
    with tree() as made:
        made.add_host()
        is_result(made, "migration", "PASS", RELEASE)
        for release, result in (("6.6.0-1-amd64", "PASS"), ("6.7.0-1-amd64", "WARN"), ("7.0.1-amd64", "WARN")):
            made.write(f"boot/config-{release}", "CONFIG_VFIO_MDEV=m\n")
            got = ctl(made, "doctor", "--root", made.top, "--kernel", release, "--json").json()
            found = [each for each in got["checks"] if each["check"] == "migration"]
            require(len(found) == 1 and found[0]["result"] == result, f"{release}: {found}")
            require(result == "PASS" or "enable-migration=on" in found[0]["remedy"], f"{found}")


@test
def doctor_distinguishes_loaded_installed_and_missing_modules():
    with tree() as made:
        made.add_host()
        shutil.rmtree(f"{made.sys}/module/ghyvi")
        is_result(made, "modules", "WARN", "modprobe ghyvi")
        made.write(f"lib/modules/{RELEASE}/modules.dep", "")
        is_result(made, "modules", "FAIL", "ghyvi-dkms")
        made.write(f"lib/modules/{RELEASE}/modules.builtin", "kernel/ghyvi.ko\n")
        is_result(made, "modules", "WARN")


@test
def doctor_checks_the_udev_rule_of_mdevctl():
    with tree() as made:
        made.add_host()
        os.remove(f"{made.top}/usr/sbin/mdevctl")
        is_result(made, "mdevctl", "WARN", "/usr/sbin/mdevctl, which does not exist",
                  "make install")
        made.write("etc/udev/rules.d/61-ghyvi-restore.rules", "")
        is_result(made, "mdevctl", "PASS", "/usr/sbin/mdevctl, which does not exist",
                  "ghyvi-restore@.service")
        os.remove(f"{made.top}/lib/udev/rules.d/60-mdevctl.rules")
        is_result(made, "mdevctl", "WARN", "udev rule is missing")
        os.remove(f"{made.top}/usr/bin/mdevctl")
        is_result(made, "mdevctl", "WARN", "apt install mdevctl")


@test
def doctor_checks_headers_kvm_parent_and_secure_boot():
    with tree() as made:
        made.add_host()
        os.remove(f"{made.top}/lib/modules/{RELEASE}/build/Makefile")
        is_result(made, "headers", "WARN", f"linux-headers-{RELEASE}")
        os.remove(f"{made.top}/dev/kvm")
        is_result(made, "kvm", "FAIL", "kvm_intel")
    with tree(parents=()) as made:
        made.add_host()
        is_result(made, "parent", "FAIL", "modprobe ghyvi_softgpu")
        efi = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        made.write(efi, "\6\0\0\0\1")
        require(results(made)["secureboot"][0] == "PASS", "signed and loaded")
        shutil.rmtree(f"{made.sys}/module/ghyvi")
        require(results(made)["secureboot"][0] == "WARN", f"{results(made)['secureboot']}")


@test
def doctor_says_whether_ghyvi_supports_the_gpu():
    with tree() as made:
        made.add_host()
        require("gpu" not in results(made), "a host without a GPU")
        gpu = "sys/bus/pci/devices/0000:00:02.0"
        for name, value in (("vendor", "0x8086"), ("class", "0x030000"), ("device", "0x1912")):
            made.write(f"{gpu}/{name}", f"{value}\n")
        is_result(made, "gpu", "PASS", "Skylake GT2", "if it is bound")
        os.symlink("../../../bus/pci/drivers/i915", f"{made.top}/{gpu}/driver")
        is_result(made, "gpu", "PASS", "but i915 has it", "driver_override")
        os.remove(f"{made.top}/{gpu}/driver")
        os.symlink("../../../bus/pci/drivers/ghyvi_gen9", f"{made.top}/{gpu}/driver")
        is_result(made, "gpu", "PASS", "ghyvi-gen9 drives 0000:00:02.0", "without display")
        made.write(f"{gpu}/device", "0x3185\n")
        is_result(made, "gpu", "WARN", "3185) is no GT2", "ghyvi_softgpu")


@test
def doctor_names_the_kernels_if_the_wanted_one_is_missing():
    with tree() as made:
        made.add_host()
        os.makedirs(f"{made.top}/lib/modules/6.12.9-amd64")
        result = ctl(made, "doctor", "-r", made.top, "-k", "6.1.0-98-amd64", expect=ERROR)
        require(f"there is no kernel 6.1.0-98-amd64 in {made.top}/lib/modules; installed: {RELEASE}, 6.12.9-amd64" in result.out, f"{result}")
        require("CONFIG" not in result.out and "loaded" not in result.out, f"checks of a kernel that does not exist: {result}")
        for wrong in ("", "../x"):
            ctl(made, "doctor", "-k", wrong, expect=USAGE)
        # A kernel that does not run: what is loaded does not matter.
        got = {each["detail"] for each in ctl(made, "doctor", "-r", made.top, "-k", "6.12.9-amd64", "-j", expect=ERROR).json()["checks"]}
        require("ghyvi is not installed for kernel 6.12.9-amd64" in got and not any("is loaded" in each for each in got), f"{got}")
        made.write("lib/modules/6.12.9-amd64/modules.dep", "x/ghyvi.ko:\n")
        got = {each["detail"] for each in ctl(made, "doctor", "-r", made.top, "-k", "6.12.9-amd64", "-j", expect=ERROR).json()["checks"]}
        require("ghyvi is installed for 6.12.9-amd64" in got, f"{got}")


@test
def doctor_checks_a_root_directory_that_does_not_run():
    with tree() as made:
        for wrong in ("/no/such/root", f"{made.top}/sys/none"):
            result = ctl(made, "doctor", "--root", wrong, expect=USAGE)
            require(wrong in result.err and "No such file" in result.err and not result.out, f"{result}")
        os.makedirs(f"{made.top}/root/lib/modules/6.1.0-5-amd64")
        os.makedirs(f"{made.top}/root/lib/modules/6.1.0-40-amd64")
        got = ctl(made, "doctor", "--root", f"{made.top}/root", "-j", expect=ERROR).json()["checks"]
        details = " ".join(each["detail"] for each in got)
        require("6.1.0-40-amd64" in details and "6.1.0-5-" not in details, f"not the newest kernel: {details}")
        require("not the root of a running host" in details and "/dev/kvm" not in details and "parent" not in [each["check"] for each in got],
                f"{details}")


@test
def doctor_checks_the_versions_of_qemu_and_libvirt():
    with tree() as made:
        made.add_host()
        status = made.read("var/lib/dpkg/status")
        made.write("var/lib/dpkg/status", status.replace("7.2+dfsg", "5.2+dfsg").replace("Version: 9.0.0-4", "Version: 10.0.0-1"))
        is_result(made, "qemu", "WARN", "version 5.2 is older than 7.2", "apt install")
        is_result(made, "libvirt", "PASS", "version 10.0.0")
        made.write("var/lib/dpkg/status", status.replace("Status: install ok installed", "Status: deinstall ok config-files"))
        is_result(made, "qemu", "WARN", "it is not installed", "apt install qemu-system-x86")
        # Of this host, programs that are not from packages are asked.
        made.write("bin/dpkg-query", "#!/bin/sh\nexit 1\n", 0o755)
        made.write("bin/qemu-system-x86_64", "#!/bin/sh\necho 'QEMU emulator version 9.2.1 (Debian 1:9.2.1+ds-1)'\n", 0o755)
        made.write("bin/virtqemud", "#!/bin/sh\necho 'virtqemud (libvirt) 8.9.0'\n", 0o755)
        made.write("bin/libvirtd", "#!/bin/sh\nexit 1\n", 0o755)
        result = ctl(made, "doctor", PATH=f"{made.top}/bin:/usr/bin:/bin")
        require("PASS  qemu         version 9.2.1" in result.out, f"{result}")
        require("WARN  libvirt      version 8.9.0 is older than 9.0" in result.out, f"{result}")


@test
def programs_in_sbin_are_found_without_it_in_the_path():
    """su(1) keeps the PATH of a user, which has no sbin; mdevctl and libvirtd are there on some systems."""
    if not os.path.exists("/usr/sbin/libvirtd"):
        raise Skip("no libvirtd: tools/setup")
    with tree() as made:
        made.add_host()
        made.write("bin/dpkg-query", "#!/bin/sh\nexit 1\n", 0o755)
        for path in ("/usr/bin:/bin", ""):
            result = ctl(made, "doctor", PATH=f"{made.top}/bin:{path}")
            require(re.search(r"^PASS  libvirt +version \d", result.out, re.M), f"{path}: {result}")
