// SPDX-License-Identifier: GPL-2.0-only
/*
 * The OpRegion of a vGPU with a display: what a machine's firmware tells the driver of its GPU.
 *
 * A VMM reads it from a region and hands it to the VM's firmware (QEMU: x-igd-opregion=on), which
 * copies it to memory and stores the address in ASLS, a register of the configuration space that
 * the VMM emulates. The copy is the guest's own. Without one, drivers find the monitor by the
 * straps.
 *
 * DOC: what is in it
 *
 * A header, and the VBT in mailbox 4. The header announces no other mailbox: those are for ACPI
 * methods and system control interrupts, which the firmware of a VM does not have for the vGPU. The
 * VBT describes one port, the DisplayPort of DDI B (kernel/vgpu/display.c). All is little endian.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include "device.h"

#define VBT_OFFSET 0x400
#define MAILBOX_VBT BIT(3)
#define VERSION_MAJOR 2

#define VBT_VERSION 100
#define BDB_VERSION 205 /* a Skylake's; it decides the layout of struct port */
#define BDB_GENERAL_FEATURES 1
#define BDB_GENERAL_DEFINITIONS 2
#define FEATURE_DIGITAL_PORTS BIT(2) /* of the last byte of the features; no analog monitor */

#define PORT_HANDLE_FIRST_DIGITAL BIT(2)
/* hotplug, power management, not HDMI, fast link, DisplayPort, digital */
#define PORT_TYPE_DISPLAYPORT 0x68c6
#define PORT_IS_DP_B 7
#define PORT_AUX_B 0x10
#define PORT_SUPPORTS_DP BIT(1)
#define PORT_OF_GPU BIT(5)

struct header {
	char signature[16];
	u32 kib;
	u8 reserved;
	u8 revision;
	u8 minor;
	u8 major;
	char system_firmware[32];
	char video_firmware[16];
	char driver[16];
	u32 mailboxes;
	u32 driver_model;
	u32 platform;
	char driver_version[32];
	u8 unused[124];
} __packed;

struct port {
	u16 handle;
	u16 type;
	u8 unused[12];
	u8 port;
	u8 i2c[3];
	u16 edid;
	u8 config;
	u8 flags;
	u8 supports;
	u8 aux_channel;
	u8 dongle;
	u8 capabilities;
	u8 more[10];
} __packed;

struct block {
	u8 id;
	u16 bytes; /* without this structure */
} __packed;

struct features {
	struct block block;
	u8 features[5];
} __packed;

struct definitions {
	struct block block;
	u8 analog_ddc;
	u8 dpms;
	u8 boot_display[2];
	u8 port_bytes;
	struct port ports[1];
} __packed;

/* The blocks of data, as they are in memory. */
struct bdb {
	char signature[16];
	u16 version;
	u16 header_bytes;
	u16 bytes;
	struct features features;
	struct definitions definitions;
} __packed;

struct vbt {
	char signature[20];
	u16 version;
	u16 header_bytes;
	u16 bytes;
	u8 checksum; /* makes the sum of all bytes 0 */
	u8 reserved;
	u32 bdb_offset;
	u32 add_ins[4];
	struct bdb bdb;
} __packed;

static const struct header header = {
	.signature = "IntelGraphicsMem", /* without a 0 */
	.kib = GHYVI_OPREGION_BYTES / 1024,
	.major = VERSION_MAJOR,
	.system_firmware = "ghyvi",
	.mailboxes = MAILBOX_VBT,
};

static const struct vbt vbt = {
	.signature = "$VBT SKYLAKE        ",
	.version = VBT_VERSION,
	.header_bytes = offsetof(struct vbt, bdb),
	.bytes = sizeof(struct vbt),
	.bdb_offset = offsetof(struct vbt, bdb),
	.bdb = {
		.signature = "BIOS_DATA_BLOCK ",
		.version = BDB_VERSION,
		.header_bytes = offsetof(struct bdb, features),
		.bytes = sizeof(struct bdb),
		.features = {
			.block = { BDB_GENERAL_FEATURES,
				   sizeof(struct features) - sizeof(struct block) },
			.features = { [4] = FEATURE_DIGITAL_PORTS },
		},
		.definitions = {
			.block = { BDB_GENERAL_DEFINITIONS,
				   sizeof(struct definitions) - sizeof(struct block) },
			.port_bytes = sizeof(struct port),
			.ports = { {
				.handle = PORT_HANDLE_FIRST_DIGITAL,
				.type = PORT_TYPE_DISPLAYPORT,
				.port = PORT_IS_DP_B,
				.supports = PORT_SUPPORTS_DP,
				.aux_channel = PORT_AUX_B,
				.capabilities = PORT_OF_GPU,
			} },
		},
	},
};

static u8 vbt_byte(u32 offset)
{
	const u8 *bytes = (const u8 *)&vbt;
	u8 sum = 0;
	unsigned int i;

	if (offset != offsetof(struct vbt, checksum))
		return bytes[offset];
	for (i = 0; i < sizeof(vbt); i++)
		sum += bytes[i];
	return -sum;
}

static u8 opregion_byte(u32 offset)
{
	static_assert(sizeof(header) == 0x100);
	static_assert(sizeof(struct port) == 38);
	static_assert(VBT_OFFSET + sizeof(vbt) <= GHYVI_OPREGION_BYTES);

	if (offset < sizeof(header))
		return ((const u8 *)&header)[offset];
	if (offset >= VBT_OFFSET && offset - VBT_OFFSET < sizeof(vbt))
		return vbt_byte(offset - VBT_OFFSET);
	return 0;
}

void ghyvi_opregion_read(u32 offset, void *to, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		((u8 *)to)[i] = opregion_byte(offset + i);
}
