# SPDX-License-Identifier: GPL-2.0-only
"""ghyvictl doctor, with each requirement missing in turn."""

import gzip
import os
import shutil

from ktap import test
from toolslib import DONE, ERROR, ctl, require, tree
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
        os.makedirs(f"{made.top}/proc")
        with gzip.open(f"{made.top}/proc/config.gz", "wt") as file:
            file.write("CONFIG_KVM_EXTERNAL_WRITE_TRACKING=y\nCONFIG_VFIO_MDEV=m\n")
        is_result(made, "kernel", "PASS")


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
