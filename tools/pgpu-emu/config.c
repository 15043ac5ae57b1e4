// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration space: two memory BARs, and the capabilities of real machines. QEMU's proxy device
 * shows the first 256 bytes of it, vfio-user all.
 *
 * The function resets at FLR. It has NoSoftRst-, but i915's runtime suspend relies on registers
 * that survive D3hot, so they do.
 *
 * The MSI capability is that of Skylake (at 0xac, one vector, 32-bit address, no masking). GVT-g
 * copies it to its vGPUs and accepts no other format.
 */
#include <linux/pci_regs.h>
#include <linux/string.h>
#include "emu.h"

#define VENDOR_INTEL 0x8086
#define CLASS_VGA 0x0300
#define VENDOR_CAP 0x40
#define VENDOR_CAP_BYTES 0x0c
#define EXPRESS_CAP 0x70
#define EXPRESS_VERSION 2
#define EXPRESS_DEVCAP (PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR)
#define MSI_CAP 0xac
#define PM_CAP 0xd0
#define PM_VERSION 0x0022 /* D0 and D3hot, version 2 */
#define PASID_CAP 0x100
#define ATS_CAP 0x200
#define PRI_CAP 0x300
#define BAR_PREFETCHABLE PCI_BASE_ADDRESS_MEM_PREFETCH

static void put16(u8 *config, unsigned int at, u16 value)
{
	memcpy(config + at, &value, sizeof(value));
}

static u32 get32(const u8 *config, unsigned int at)
{
	u32 value;

	memcpy(&value, config + at, sizeof(value));
	return value;
}

static void put32(u8 *config, unsigned int at, u32 value)
{
	memcpy(config + at, &value, sizeof(value));
}

static u16 get16(const u8 *config, unsigned int at)
{
	return get32(config, at) & 0xffff;
}

/* Bits of each dword that software can write. */
static u32 writable(unsigned int at)
{
	switch (at) {
	case PCI_COMMAND:
		return PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
		       PCI_COMMAND_INTX_DISABLE;
	case PCI_BASE_ADDRESS_0:
		return ~(EMU_GTTMMADR_BYTES - 1);
	case PCI_BASE_ADDRESS_2:
		return ~(EMU_GMADR_BYTES - 1);
	case PCI_INTERRUPT_LINE:
		return 0xff;
	case EXPRESS_CAP + PCI_EXP_DEVCTL:
		return PCI_EXP_DEVCTL_BCR_FLR;
	case MSI_CAP:
		return PCI_MSI_FLAGS_ENABLE << 16;
	case MSI_CAP + PCI_MSI_ADDRESS_LO:
		return ~3u;
	case MSI_CAP + PCI_MSI_DATA_32:
		return 0xffff;
	case PM_CAP + PCI_PM_CTRL:
		return PCI_PM_CTRL_STATE_MASK;
	default:
		return 0;
	}
}

static void put_capabilities(u8 *config)
{
	config[PCI_CAPABILITY_LIST] = VENDOR_CAP;
	put16(config, VENDOR_CAP, PCI_CAP_ID_VNDR | EXPRESS_CAP << 8);
	config[VENDOR_CAP + PCI_CAP_FLAGS] = VENDOR_CAP_BYTES;
	put16(config, EXPRESS_CAP, PCI_CAP_ID_EXP | MSI_CAP << 8);
	put16(config, EXPRESS_CAP + PCI_EXP_FLAGS, EXPRESS_VERSION | PCI_EXP_TYPE_RC_END << 4);
	put32(config, EXPRESS_CAP + PCI_EXP_DEVCAP, EXPRESS_DEVCAP);
	put16(config, MSI_CAP, PCI_CAP_ID_MSI | PM_CAP << 8);
	put16(config, PM_CAP, PCI_CAP_ID_PM);
	put16(config, PM_CAP + PCI_PM_PMC, PM_VERSION);
	put32(config, PASID_CAP, PCI_EXT_CAP_ID_PASID | 1 << 16 | ATS_CAP << 20);
	put32(config, ATS_CAP, PCI_EXT_CAP_ID_ATS | 1 << 16 | PRI_CAP << 20);
	put32(config, PRI_CAP, PCI_EXT_CAP_ID_PRI | 1 << 16);
}

void emu_config_init(struct emu *emu)
{
	u8 *config = emu->config;

	memset(config, 0, EMU_CONFIG_BYTES);
	put16(config, PCI_VENDOR_ID, VENDOR_INTEL);
	put16(config, PCI_DEVICE_ID, emu->platform->device);
	put16(config, PCI_STATUS, PCI_STATUS_CAP_LIST);
	config[PCI_REVISION_ID] = emu->platform->revision;
	put16(config, PCI_CLASS_DEVICE, CLASS_VGA);
	put32(config, PCI_BASE_ADDRESS_2, BAR_PREFETCHABLE);
	put16(config, PCI_SUBSYSTEM_VENDOR_ID, VENDOR_INTEL);
	put16(config, PCI_SUBSYSTEM_ID, 0x2212);
	config[PCI_INTERRUPT_PIN] = 1;
	put_capabilities(config);
	put16(config, SNB_GMCH_CTRL,
	      BDW_GMCH_GGMS_8MB << BDW_GMCH_GGMS_SHIFT | (emu->stolen_base ? GEN9_GMCH_GMS_4MB : 0)
								 << BDW_GMCH_GMS_SHIFT);
	put32(config, GEN6_BSM, emu->stolen_base);
}

u32 emu_config_read(struct emu *emu, u32 offset, unsigned int bytes)
{
	u32 value = 0;

	if (offset >= EMU_CONFIG_BYTES || bytes > 4 || bytes > EMU_CONFIG_BYTES - offset)
		return ~0u;
	memcpy(&value, emu->config + offset, bytes);
	emu_trace(emu, 'c', offset, value);
	return value;
}

void emu_config_write(struct emu *emu, u32 offset, u32 value, unsigned int bytes)
{
	unsigned int i;

	if (offset >= EMU_CONFIG_BYTES || bytes > 4 || bytes > EMU_CONFIG_BYTES - offset)
		return;
	emu_trace(emu, 'd', offset, value);
	for (i = 0; i < bytes; i++) {
		unsigned int at = offset + i;
		u8 mask = writable(at & ~3u) >> 8 * (at & 3);

		emu->config[at] = (emu->config[at] & ~mask) | (value >> 8 * i & mask);
	}
	if (get16(emu->config, EXPRESS_CAP + PCI_EXP_DEVCTL) & PCI_EXP_DEVCTL_BCR_FLR)
		emu_device_reset(emu);
}

u32 emu_config_bar(const struct emu *emu, unsigned int bar)
{
	return get32(emu->config, PCI_BASE_ADDRESS_0 + 4 * bar) & PCI_BASE_ADDRESS_MEM_MASK;
}

bool emu_config_powered(const struct emu *emu)
{
	return !(get16(emu->config, PM_CAP + PCI_PM_CTRL) & PCI_PM_CTRL_STATE_MASK);
}

bool emu_config_intx(const struct emu *emu)
{
	return !(get16(emu->config, MSI_CAP + PCI_MSI_FLAGS) & PCI_MSI_FLAGS_ENABLE) &&
	       !(get16(emu->config, PCI_COMMAND) & PCI_COMMAND_INTX_DISABLE);
}

bool emu_config_msi(const struct emu *emu, u64 *address, u32 *data)
{
	const u8 *config = emu->config;

	*address = get32(config, MSI_CAP + PCI_MSI_ADDRESS_LO);
	*data = get16(config, MSI_CAP + PCI_MSI_DATA_32);
	return get16(config, MSI_CAP + PCI_MSI_FLAGS) & PCI_MSI_FLAGS_ENABLE &&
	       get16(config, PCI_COMMAND) & PCI_COMMAND_MASTER;
}
