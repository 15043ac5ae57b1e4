# SPDX-License-Identifier: GPL-2.0-only
"""Boots the stick in QEMU with UEFI firmware and the emulated Skylake, until it has shown its report."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
BUILD = f"{TREE}/build"
OUT = f"{BUILD}/{os.environ.get('GHYVI_LAB_NAME', 'silicon')}"

FIRMWARE = "/usr/share/OVMF"
PARTITION = "@@1M"
# What the report must not have: the machine's, and the stick's own.
PLANTED = {"serial": "PLNT0SERIAL77", "board": "BRD-9912-PLNT", "chassis": "CHS55PLNT1", "asset": "ASSETPLNT42",
           "uuid": "1b4e28ba-2fa1-11d2-883f-0016d3cca427", "usb": "USBPLNT0001"}
BOOTS_MAX = 12
MEMORY_MB = 3072  # memory below 4 GiB then ends at 2 GiB, the last 4 MiB of which are stolen memory


class Failure(Exception):
    pass


def die_with_parent():
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode:
        raise Failure(f"{' '.join(command)}: {done.stdout.decode(errors='replace').strip()[-600:]}")
    return done.stdout


class Stick:
    def __init__(self, image, options):
        os.makedirs(OUT, exist_ok=True)
        self.image = f"{OUT}/stick.img"
        self.variables = f"{OUT}/variables.fd"
        run("cp", "--sparse=always", image, self.image)
        shutil.copyfile(f"{FIRMWARE}/OVMF_VARS_4M.fd", self.variables)
        self.put("options.cfg", f"set options='{options}'\n")
        self.emulator_logs, self.serial_logs = [], []

    def put(self, name, text):
        path = f"{OUT}/{os.path.basename(name)}"
        with open(path, "w") as file:
            file.write(text)
        run("mcopy", "-o", "-i", self.image + PARTITION, path, f"::/ghyvi/{name}")

    def get(self, name):
        """The text of a file of the stick, or None."""
        done = subprocess.run(["mtype", "-i", self.image + PARTITION, f"::/ghyvi/{name}"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        return None if done.returncode else done.stdout.decode(errors="replace")

    def command(self, number):
        accel = ["-accel", "kvm", "-cpu", "host"] if os.environ.get("GHYVI_LAB_ACCEL") == "kvm" else \
            ["-accel", "tcg,thread=multi", "-cpu", "EPYC,+svm,+npt"]
        emulator, serial = f"{OUT}/emulator-{number}.log", f"{OUT}/serial-{number}.log"
        self.emulator_logs.append(emulator)
        self.serial_logs.append(serial)
        # A panic or a watchdog resets the machine, which ends QEMU, too.
        return [f"{BUILD}/pgpu-emu/pgpu-emu", "--display", "--log", emulator, "--",
                "qemu-system-x86_64", "-name", "ghyvi-silicon", "-no-user-config", "-nodefaults", "-display", "none", "-no-reboot",
                "-machine", "q35", "-m", str(MEMORY_MB), "-smp", "1", *accel,
                "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={FIRMWARE}/OVMF_CODE_4M.fd",
                "-drive", f"if=pflash,unit=1,format=raw,file={self.variables}",
                "-smbios", f"type=1,manufacturer=Test,product=Model 7,serial={PLANTED['serial']},uuid={PLANTED['uuid']}",
                "-smbios", f"type=2,serial={PLANTED['board']}",
                "-smbios", f"type=3,serial={PLANTED['chassis']},asset={PLANTED['asset']}",
                "-device", "qemu-xhci,addr=05.0", "-drive", f"if=none,id=stick,format=raw,cache=unsafe,file={self.image}",
                "-device", f"usb-storage,drive=stick,removable=on,serial={PLANTED['usb']},bootindex=0",
                "-chardev", f"file,id=serial,path={serial}", "-serial", "chardev:serial"]

    def boot(self, number, limit_s, say):
        log = f"{OUT}/qemu-{number}.log"
        with open(log, "w") as file, subprocess.Popen(self.command(number), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                                      start_new_session=True, preexec_fn=die_with_parent) as machine:
            began = time.monotonic()
            shown = 0
            try:
                while machine.poll() is None:
                    time.sleep(1)
                    shown = self.show(number, shown, say)
                    if time.monotonic() - began > limit_s:
                        raise Failure(f"boot {number} did not end in {limit_s} s; see {self.serial_logs[-1]}")
            finally:
                if machine.poll() is None:
                    machine.terminate()
                    machine.wait(30)
            self.show(number, shown, say)
            if machine.returncode:
                raise Failure(f"boot {number}: QEMU ended with status {machine.returncode}; see {log}")

    def show(self, number, shown, say):
        """Prints the steps as they come."""
        try:
            with open(self.serial_logs[-1], errors="replace") as file:
                lines = file.read().splitlines()[:-1]
        except OSError:
            return 0
        for line in lines[shown:]:
            if re.search(r"^ *\d+ of \d+  |^ {12}(passed|failed|hung|skipped)|silicon stick|Kernel panic|watchdog:.*stop", line):
                say(f"boot {number}: {line.rstrip()}")
        return max(shown, len(lines))

    def screen(self):
        """What all boots have shown."""
        text = ""
        for path in self.serial_logs:
            with open(path, errors="replace") as file:
                text += file.read()
        return text

    def run_all(self, limit_s, say):
        """Boots until the stick has nothing left to do. Returns how often."""
        for number in range(1, BOOTS_MAX + 1):
            self.boot(number, limit_s, say)
            if self.get("report.txt"):
                return number
        raise Failure(f"no end after {BOOTS_MAX} boots")
