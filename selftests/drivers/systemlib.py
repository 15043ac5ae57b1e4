# SPDX-License-Identifier: GPL-2.0-only
"""A guest with the system of driverslib.py in /system; for scripts in the host VM."""

import os
import sys

sys.path.insert(0, f"{os.path.dirname(os.path.abspath(__file__))}/../lab")

import hostlib  # noqa: E402
from hostlib import Guest, Problem, require  # noqa: E402

GUEST_MB = 1536
NODE = "/dev/dri/renderD128"
FFMPEG = "ffmpeg -nostdin -v warning"
DECODE = f"LIBVA_DRIVER_NAME=iHD {FFMPEG} -hwaccel vaapi -hwaccel_device {NODE} -hwaccel_output_format vaapi"


class SystemGuest(Guest):
    """With i915 loaded. todo: the file of driverslib.run_script(), parsed."""

    def __init__(self, name, vgpu, todo, screen=()):
        """screen: QEMU's options to show the vGPU's display."""
        display = ("-device", f"vfio-pci-nohotplug,sysfsdev={vgpu.path},addr=02.0,display=on,ramfb=on", *screen)
        super().__init__(name, *(() if screen else (vgpu,)), mem=GUEST_MB, extra=(
            "--qemu-args", *hostlib.second_disk(todo["disk"]),
            *(display if screen else ())))
        try:
            _, trouble = self.load_driver()
            require(not trouble, "\n".join(trouble))
            self.must_run(hostlib.mount_system())
            for file in todo["programs"]:
                hostlib.must_run(hostlib.GUEST, "put", name, file, f"/tmp/{os.path.basename(file)}")
        except Problem:
            self.kill()
            raise

    def run_in_system(self, command, timeout):
        """Returns (status, standard output and standard error). The command has no single quotes."""
        return self.run("chroot /system /usr/bin/env PATH=/usr/bin:/bin:/tmp HOME=/tmp LC_ALL=C.UTF-8 sh -c "
                        f"'{command}' 2>&1", timeout)
