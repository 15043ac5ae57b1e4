# SPDX-License-Identifier: GPL-2.0-only
"""Registers of the GPU that a read does not change, and their ranges that need the GPU awake.

The register file is mapped for reading only, so that nothing here can write."""

import mmap

GPU = "/sys/bus/pci/devices/0000:00:02.0"
FILE_BYTES = 2 << 20

# No domain has to be awake for these.
AWAKE = {"RPM_CONFIG0": 0xd00, "FORCEWAKE_ACK_RENDER": 0xd84, "FORCEWAKE_ACK_MEDIA": 0xd88, "MCR_SELECTOR": 0xfdc,
         "TIMESTAMP_OVERRIDE": 0x44074, "MASTER_IRQ": 0x44200, "DFSM": 0x51000, "SWF_BOOT": 0x4f000, "PWR_WELL_CTL1": 0x45400,
         "PWR_WELL_CTL2": 0x45404, "LCPLL1_CTL": 0x46010, "CDCLK_CTL": 0x46000, "DBUF_CTL": 0x45008,
         "PIPECONF_A": 0x70008, "PIPECONF_B": 0x71008, "PIPECONF_C": 0x72008, "PIPECONF_EDP": 0x7f008,
         "PLANE_CTL_A": 0x70180, "PLANE_SURF_A": 0x7019c, "TRANS_DDI_EDP": 0x6f400,
         "FORCEWAKE_ACK_GT": 0x130044, "RC6_RESIDENCY": 0x138108, "RP_STATE_LIMITS": 0x138148, "RP_STATE_CAP": 0x145998,
         "PCODE_MAILBOX": 0x138124}

ENGINES = {"RCS": 0x2000, "BCS": 0x22000, "VCS": 0x12000, "VECS": 0x1a000}
OF_ENGINE = {"TAIL": 0x30, "HEAD": 0x34, "START": 0x38, "CTL": 0x3c, "PSMI_CTL": 0x50, "IPEIR": 0x64, "IPEHR": 0x68,
             "INSTDONE": 0x6c, "ACTHD": 0x74, "HWS_PGA": 0x80, "NOPID": 0x94, "HWSTAM": 0x98, "MI_MODE": 0x9c, "IMR": 0xa8,
             "EIR": 0xb0, "EMR": 0xb4, "ESR": 0xb8, "INSTPM": 0xc0, "RESET_CTL": 0xd0, "BBADDR": 0x140, "EXECLIST_STATUS_LO": 0x234,
             "EXECLIST_STATUS_HI": 0x238, "CONTEXT_CONTROL": 0x244, "MODE": 0x29c, "TIMESTAMP": 0x358, "CSB_POINTER": 0x3a0}

# These need the GPU awake: the steps read them while i915 keeps it so.
ASLEEP = {"FUSE1": 0x42014, "FUSE2": 0x9120, "EU_DISABLE0": 0x9134, "EU_DISABLE1": 0x9138, "EU_DISABLE2": 0x913c,
          "FF_SLICE_CHICKEN": 0x2088, "3D_CHICKEN3": 0x2090, "CSFE_CHICKEN1": 0x20d4, "CS_DEBUG_MODE2": 0x20d8,
          "FF_SLICE_CS_CHICKEN1": 0x20e0, "FF_SLICE_CS_CHICKEN2": 0x20e4, "CS_DEBUG_MODE1": 0x20ec, "CTX_PREEMPT": 0x2248,
          "CS_CHICKEN1": 0x2580, "GTT_CACHE_EN": 0x4024, "GAMW_ECO_DEV_RW_IA": 0x4080, "GAM_ECOCHK": 0x4090, "RING_FAULT": 0x4094,
          "ERROR_GEN6": 0x40a0, "PRIVATE_PAT_LO": 0x40e0, "PRIVATE_PAT_HI": 0x40e4, "GAMT_ECO_REG_RW_IA": 0x4ab0,
          "GAMT_CHKN": 0x4ab8, "FAULT_TLB_DATA0": 0x4b10, "FAULT_TLB_DATA1": 0x4b14, "L3_LRA_1_GPGPU": 0x4dd4,
          "MMCD_MISC_CTRL": 0x4ddc, "CACHE_MODE_0": 0x7000, "CACHE_MODE_1": 0x7004, "COMMON_SLICE_CHICKEN2": 0x7014,
          "HIZ_CHICKEN": 0x7018, "L3CNTLREG": 0x7034, "HDC_CHICKEN0": 0x7300, "HDC_CHICKEN1": 0x7304, "ECO_CHICKEN1": 0x731c,
          "VF_PREEMPTION": 0x83a4, "SLICE_PGCTL": 0x804c, "UCGCTL1": 0x9400, "UCGCTL4": 0x940c, "GDRST": 0x941c,
          "MISCCPCTL": 0x9424, "UCGCTL6": 0x9430, "RPNSWREQ": 0xa008, "RPSTAT1": 0xa01c, "RP_CONTROL": 0xa024, "RC_CONTROL": 0xa090,
          "RC_STATE": 0xa094, "PG_ENABLE": 0xa210, "CTC_MODE": 0xa26c, "GARBCNTL": 0xb004, "SCRATCH_LNCF1": 0xb008,
          "L3SQCREG1": 0xb100, "L3SQCREG4": 0xb118, "SCRATCH1": 0xb11c, "GUC_STATUS": 0xc000, "GUC_WOPCM_SIZE": 0xc050,
          "DMA_GUC_WOPCM_OFFSET": 0xc340, "HUC_STATUS2": 0xd3b0, "ROW_CHICKEN2": 0xe4f4, "ROW_CHICKEN3": 0xe49c,
          "HALF_SLICE_CHICKEN2": 0xe180, "HALF_SLICE_CHICKEN3": 0xe184, "HALF_SLICE_CHICKEN5": 0xe188}
ASLEEP.update({f"{engine}_{name}": base + offset for engine, base in ENGINES.items() for name, offset in OF_ENGINE.items()})
ASLEEP.update({f"MOCS{index}": 0xc800 + 4 * index for index in range(64)})
ASLEEP.update({f"LNCFCMOCS{index}": 0xb020 + 4 * index for index in range(32)})
ASLEEP.update({f"RCS_FORCE_TO_NONPRIV{index}": 0x24d0 + 4 * index for index in range(12)})


def read_registers(names):
    """Name -> value. The map of the PCI function is read in words of 32 bits."""
    with open(f"{GPU}/resource0", "rb") as file, mmap.mmap(file.fileno(), FILE_BYTES, prot=mmap.PROT_READ) as mapped, \
            memoryview(mapped) as everything, everything.cast("I") as words:
        return {name: words[offset // 4] for name, offset in names.items()}


def table(values, names):
    return "\n".join(f"{names[name]:06x} {value:08x} {name}" for name, value in values.items())
