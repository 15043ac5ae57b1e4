// SPDX-License-Identifier: GPL-2.0-only
/* The PCI configuration space that a guest sees. */
#include <linux/kernel.h>
#include <linux/pci_regs.h>
#include <linux/pci_ids.h>
#include <linux/string.h>
#include <ghyvi/compat.h>
#include "config.h"

/* Offsets of the capabilities. The guest finds them through the capability list. */
#define CAP_MSI 0xac
#define CAP_PM 0xd0

/*
 * GMCH control; i915 reads it from the GPU's own PCI function. GGMS (bits 7:6) = 3: the GGTT table
 * has 8 MiB. GMS (bits 15:8) = 0: no stolen memory.
 */
#define GMCH_CONTROL 0x50
#define GMCH_CONTROL_VALUE 0x00c0
#define BSM 0x5c
#define ASLS 0xfc

/*
 * Maximum width of physical addresses of x86 CPUs. Firmware may place 64-bit BARs at the end of
 * what the CPU of the VM addresses. The value that a guest writes to size a BAR is above.
 */
#define GUEST_PHYSICAL_BITS 52

struct config_field {
	u8 offset;
	u8 bytes;
	u32 value;
	u32 writable;
};

static const struct config_field common_fields[] = {
	{ PCI_VENDOR_ID, 2, PCI_VENDOR_ID_INTEL, 0 },
	/* MSI does not depend on INTX_DISABLE. */
	{ PCI_COMMAND, 2, 0,
	  PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE },
	{ PCI_STATUS, 2, PCI_STATUS_CAP_LIST, 0 },
	/* "Other display": avoids VGA arbitration, console takeover, and IGD quirks in QEMU. */
	{ PCI_CLASS_DEVICE, 2, PCI_CLASS_DISPLAY_OTHER, 0 },
	{ PCI_CACHE_LINE_SIZE, 1, 0, 0xff },
	{ PCI_SUBSYSTEM_VENDOR_ID, 2, PCI_VENDOR_ID_INTEL, 0 },
	{ PCI_CAPABILITY_LIST, 1, CAP_MSI, 0 },
	{ PCI_INTERRUPT_LINE, 1, 0, 0xff },
	{ PCI_INTERRUPT_PIN, 1, 0, 0 }, /* MSI only */

	{ PCI_BASE_ADDRESS_0, 4, PCI_BASE_ADDRESS_MEM_TYPE_64, ~(u32)(GHYVI_BAR0_BYTES - 1) },
	{ PCI_BASE_ADDRESS_1, 4, 0, ~0u },
	{ PCI_BASE_ADDRESS_3, 4, 0, ~0u }, /* upper half of BAR 2 */

	{ GMCH_CONTROL, 2, GMCH_CONTROL_VALUE, 0 },
	{ BSM, 4, 0, 0 },
	{ ASLS, 4, 0, 0 },

	{ CAP_MSI + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_MSI, 0 },
	{ CAP_MSI + PCI_CAP_LIST_NEXT, 1, CAP_PM, 0 },
	{ CAP_MSI + PCI_MSI_FLAGS, 2, PCI_MSI_FLAGS_64BIT, PCI_MSI_FLAGS_ENABLE },
	{ CAP_MSI + PCI_MSI_ADDRESS_LO, 4, 0, ~3u },
	{ CAP_MSI + PCI_MSI_ADDRESS_HI, 4, 0, ~0u },
	{ CAP_MSI + PCI_MSI_DATA_64, 2, 0, 0xffff },

	{ CAP_PM + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_PM, 0 },
	{ CAP_PM + PCI_CAP_LIST_NEXT, 1, 0, 0 },
	{ CAP_PM + PCI_PM_PMC, 2, 2 | PCI_PM_CAP_DSI, 0 },
	{ CAP_PM + PCI_PM_CTRL, 2, PCI_PM_CTRL_NO_SOFT_RESET, PCI_PM_CTRL_STATE_MASK },
};

static void set_field(struct ghyvi_config *config, const struct config_field *field)
{
	unsigned int i;

	for (i = 0; i < field->bytes; i++) {
		config->space[field->offset + i] = field->value >> (8 * i);
		config->writable[field->offset + i] = field->writable >> (8 * i);
	}
}

void ghyvi_config_reset(struct ghyvi_config *config, const struct ghyvi_device_profile *profile,
			u64 aperture_bytes)
{
	const struct config_field variable[] = {
		{ PCI_DEVICE_ID, 2, ghyvi_profile_device_id(profile), 0 },
		{ PCI_REVISION_ID, 1, ghyvi_profile_revision(profile), 0 },
		{ PCI_SUBSYSTEM_ID, 2, ghyvi_profile_device_id(profile), 0 },
		{ PCI_BASE_ADDRESS_2, 4,
		  PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH,
		  ~(u32)(aperture_bytes - 1) },
	};
	unsigned int i;

	memset(config, 0, sizeof(*config));
	for (i = 0; i < ARRAY_SIZE(common_fields); i++)
		set_field(config, &common_fields[i]);
	for (i = 0; i < ARRAY_SIZE(variable); i++)
		set_field(config, &variable[i]);
}

void ghyvi_config_read(const struct ghyvi_config *config, u32 offset, void *buffer, u32 bytes)
{
	memcpy(buffer, config->space + offset, bytes);
}

void ghyvi_config_write(struct ghyvi_config *config, u32 offset, const void *buffer, u32 bytes)
{
	const u8 *value = buffer;
	u32 i;

	for (i = 0; i < bytes; i++) {
		u8 writable = config->writable[offset + i];
		u8 *byte = &config->space[offset + i];

		*byte = (*byte & ~writable) | (value[i] & writable);
	}
}

u64 ghyvi_config_bar0(const struct ghyvi_config *config)
{
	u16 command = get_unaligned_le16(config->space + PCI_COMMAND);
	u64 address = get_unaligned_le64(config->space + PCI_BASE_ADDRESS_0) &
		      ~(u64)(GHYVI_BAR0_BYTES - 1);

	if (!(command & PCI_COMMAND_MEMORY) || !address || address >= BIT_ULL(GUEST_PHYSICAL_BITS))
		return GHYVI_BAR_UNMAPPED;
	return address;
}
