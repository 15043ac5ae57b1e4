# SPDX-License-Identifier: GPL-2.0-only
"""A vGPU behind a guest IOMMU: DMA addresses of the device are not guest-physical addresses."""

import fixture
import hostlib
from hostlib import Guest, eventually, require
from ktap import say, test

WITH_IOMMU = ["--iommu", "--timeout", "280", "--append", "intel_iommu=on"]
BOOT_S = 300  # interrupts through a split irqchip are slow on nested TCG
MANY = 20
LINE = "behind a guest IOMMU, which is not supported"


@test
def guest_iommu_is_refused_and_logged():
    """The guest enables DMA translation: pins fail, the host logs the reason, and nothing leaks."""
    with fixture.vgpus("gen9_8") as (vgpu,):
        hostlib.take_host_log()
        guest = Guest("iommu", vgpu, mem=512, extra=WITH_IOMMU, timeout=BOOT_S)
        try:
            # The driver finds its GPU hung for as long as it tries.
            guest.must_run("modprobe i915 >/dev/null 2>&1 &")
            eventually(lambda: vgpu.stat("pin_failures") >= MANY, f"{MANY} pins that fail", 150)
            log = hostlib.take_host_log()
            lines = [line for line in log.splitlines() if vgpu.uuid in line and LINE in line]
            require(lines, "the host's log has no such line: "
                    f"{vgpu.stat('pin_failures')} pins failed; {log[-1500:]}")
            require(len(lines) == 1, f"the host's log has the line {len(lines)} times")
            say(lines[0])
            defects = hostlib.log_defects(log)
            require(not defects, defects)
        finally:
            guest.kill()
        vgpu.settle()
