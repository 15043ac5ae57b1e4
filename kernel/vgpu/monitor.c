// SPDX-License-Identifier: GPL-2.0-only
/*
 * The monitor of a vGPU: its resolution, and the EDID that describes it.
 *
 * Timings are those of VESA's CVT with reduced blanking at 60 Hz: a horizontal blank of 160 pixels,
 * and a vertical blank of at least 460 us.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <ghyvi/settings.h>
#include "vgpu_types.h"

struct mode {
	u16 width;
	u16 height;
	u8 vblank; /* lines */
	u8 vsync; /* lines; the standard derives it from the aspect ratio */
	const char *name;
};

/* In the order of GHYVI_RESOLUTION_CHOICES. */
static const struct mode modes[] = {
	{ 1024, 768, 22, 4, "1024x768" },   { 1280, 720, 21, 5, "1280x720" },
	{ 1280, 800, 23, 6, "1280x800" },   { 1280, 1024, 30, 7, "1280x1024" },
	{ 1600, 900, 26, 5, "1600x900" },   { 1600, 1200, 35, 4, "1600x1200" },
	{ 1680, 1050, 30, 6, "1680x1050" }, { 1920, 1080, 31, 5, "1920x1080" },
	{ 1920, 1200, 35, 6, "1920x1200" }, { 2560, 1440, 41, 5, "2560x1440" },
};

#define HBLANK 160 /* pixels */
#define HSYNC_OFFSET 48
#define HSYNC 32
#define VSYNC_OFFSET 3
#define REFRESH_HZ 60
#define CLOCK_STEP_10KHZ 25
#define CLOCK_STEP_HZ (10000 * CLOCK_STEP_10KHZ)

const char *ghyvi_display_resolution(unsigned int i)
{
	return i < ARRAY_SIZE(modes) ? modes[i].name : NULL;
}

u32 ghyvi_vgpu_picture_pixels(const struct ghyvi_vgpu *vgpu)
{
	const struct mode *mode = &modes[READ_ONCE(vgpu->display.resolution)];

	return mode->width * mode->height;
}

/* The detailed timing of @mode: 18 bytes. */
static void put_timing(const struct mode *mode, u8 *at)
{
	u32 clock = (mode->width + HBLANK) * (mode->height + mode->vblank) * REFRESH_HZ /
		    CLOCK_STEP_HZ * CLOCK_STEP_10KHZ;
	u32 width_mm = mode->width * 254 / 960, height_mm = mode->height * 254 / 960;

	at[0] = clock;
	at[1] = clock >> 8;
	at[2] = (u8)mode->width;
	at[3] = HBLANK;
	at[4] = mode->width >> 8 << 4;
	at[5] = (u8)mode->height;
	at[6] = mode->vblank;
	at[7] = mode->height >> 8 << 4;
	at[8] = HSYNC_OFFSET;
	at[9] = HSYNC;
	at[10] = VSYNC_OFFSET << 4 | mode->vsync;
	at[12] = width_mm;
	at[13] = height_mm;
	at[14] = width_mm >> 8 << 4 | height_mm >> 8;
	at[17] = 0x1a; /* digital separate sync, horizontal positive */
}

/* EDID 1.4 of a DisplayPort monitor with one detailed timing. */
void vgpu_monitor_edid(unsigned int resolution, u8 *edid)
{
	static const u8 header[] = {
		0x00, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0x00, 0x1d, 0x19, /* manufacturer "GHY", five bits a letter */
		0x01, 0x00, 0x01, 0x00, 0x00, 0x00, /* product and serial number */
		0x00, 36, /* made in 2026 */
		1,    4, /* EDID 1.4 */
		0xa5, /* digital, 8 bits per colour, DisplayPort */
	};
	/* sRGB */
	static const u8 chromaticity[] = { 0xee, 0x91, 0xa3, 0x54, 0x4c,
					   0x99, 0x26, 0x0f, 0x50, 0x54 };
	static const u8 name[] = { 0,	0,    0,   0xfc, 0,   'g', 'h', 'y', 'v',
				   'i', '\n', ' ', ' ',	 ' ', ' ', ' ', ' ', ' ' };
	const struct mode *mode = &modes[resolution];
	u8 sum = 0;
	unsigned int i;

	memset(edid, 0, GHYVI_EDID_BYTES);
	memcpy(edid, header, sizeof(header));
	edid[21] = mode->width * 254 / 9600; /* cm */
	edid[22] = mode->height * 254 / 9600;
	edid[23] = 120; /* gamma 2.2 */
	edid[24] = 0x06; /* RGB 4:4:4, sRGB, the first timing is the native one */
	memcpy(edid + 25, chromaticity, sizeof(chromaticity));
	edid[35] = 0x21; /* 640x480 and 800x600 at 60 Hz */
	edid[36] = 0x08; /* 1024x768 at 60 Hz */
	memset(edid + 38, 1, 16); /* no standard timings */
	put_timing(mode, edid + 54);
	memcpy(edid + 72, name, sizeof(name));
	edid[90 + 3] = 0x10; /* dummy descriptors */
	edid[108 + 3] = 0x10;
	for (i = 0; i < GHYVI_EDID_BYTES - 1; i++)
		sum += edid[i];
	edid[GHYVI_EDID_BYTES - 1] = -sum;
}

/*
 * The AUX channel. A message has a command and an address of 20 bits, then the length minus one,
 * and the data of a write. The first byte of a reply is its status.
 */
#define AUX_NATIVE_WRITE 0x8
#define AUX_NATIVE_READ 0x9
#define AUX_I2C_READ 0x1
#define AUX_I2C_MOT 0x4 /* the transaction goes on with the next message */
#define AUX_ACK 0x00
#define AUX_I2C_NACK 0x40
#define AUX_HEADER_BYTES 4
#define AUX_DATA_BYTES 16

#define I2C_EDID 0x50
#define I2C_EDID_SEGMENT 0x30

/* Registers of the DPCD, by DRM's names (drm_dp.h). */
#define DP_LINK_BW_SET 0x100
#define DP_LANE_COUNT_SET 0x101
#define DP_LANE_COUNT_MASK 0x1f
#define DP_SINK_COUNT 0x200
#define DP_LANE0_1_STATUS 0x202
#define DP_LANE2_3_STATUS 0x203
#define DP_LANE_ALIGN_STATUS_UPDATED 0x204
#define DP_SINK_STATUS 0x205
#define DP_SET_POWER 0x600
#define DP_SET_POWER_D0 1

void vgpu_monitor_reset(struct vgpu_monitor *monitor, unsigned int resolution)
{
	memset(monitor, 0, sizeof(*monitor));
	monitor->power = DP_SET_POWER_D0;
	vgpu_monitor_edid(resolution, monitor->edid);
}

/* Two lanes: clock recovered, equalised and symbols locked, if the source drives the lane. */
static u8 lane_status(const struct vgpu_monitor *monitor, unsigned int first)
{
	unsigned int lanes = monitor->link[1] & DP_LANE_COUNT_MASK;

	if (!monitor->link[0])
		return 0;
	return (lanes > first ? 0x07 : 0) | (lanes > first + 1 ? 0x70 : 0);
}

static u8 dpcd_read(const struct vgpu_monitor *monitor, u32 address)
{
	/* DPCD 1.2; 5.4 Gbit/s; four lanes, pattern 3, enhanced framing; down-spread; 8b/10b */
	static const u8 capabilities[] = { 0x12, 0x14, 0xc4, 0x01, 0x00, 0x00, 0x01 };

	if (address < ARRAY_SIZE(capabilities))
		return capabilities[address];
	if (address >= DP_LINK_BW_SET && address - DP_LINK_BW_SET < sizeof(monitor->link))
		return monitor->link[address - DP_LINK_BW_SET];
	switch (address) {
	case DP_SINK_COUNT:
	case DP_LANE_ALIGN_STATUS_UPDATED:
	case DP_SINK_STATUS:
		return 1;
	case DP_LANE0_1_STATUS:
		return lane_status(monitor, 0);
	case DP_LANE2_3_STATUS:
		return lane_status(monitor, 2);
	case DP_SET_POWER:
		return monitor->power;
	}
	return 0;
}

static void dpcd_write(struct vgpu_monitor *monitor, u32 address, u8 value)
{
	if (address >= DP_LINK_BW_SET && address - DP_LINK_BW_SET < sizeof(monitor->link))
		monitor->link[address - DP_LINK_BW_SET] = value;
	else if (address == DP_SET_POWER)
		monitor->power = value;
}

static u8 edid_next(struct vgpu_monitor *monitor)
{
	return monitor->edid[monitor->edid_at++ % GHYVI_EDID_BYTES];
}

unsigned int vgpu_monitor_transfer(struct vgpu_monitor *monitor, const u8 *message,
				   unsigned int bytes, u8 *reply)
{
	unsigned int i, count = bytes >= AUX_HEADER_BYTES ? message[3] + 1u : 0;
	u32 address = (message[0] & 0xfu) << 16 | message[1] << 8 | message[2];
	u8 command = message[0] >> 4;
	bool native = command == AUX_NATIVE_READ || command == AUX_NATIVE_WRITE;
	bool read = (command & ~AUX_I2C_MOT) == AUX_I2C_READ || command == AUX_NATIVE_READ;

	if (bytes < AUX_HEADER_BYTES - 1 || count > AUX_DATA_BYTES ||
	    (!read && count && bytes < AUX_HEADER_BYTES + count))
		return 0;
	reply[0] = AUX_ACK;
	if (!native && address != I2C_EDID && address != I2C_EDID_SEGMENT)
		reply[0] = AUX_I2C_NACK;
	if (reply[0] != AUX_ACK)
		return 1;
	for (i = 0; i < count; i++) {
		u8 value = read ? 0 : message[AUX_HEADER_BYTES + i];

		if (native && read)
			reply[1 + i] = dpcd_read(monitor, address + i);
		else if (native)
			dpcd_write(monitor, address + i, value);
		else if (read)
			reply[1 + i] = edid_next(monitor);
		else if (address == I2C_EDID)
			monitor->edid_at = value;
	}
	return read ? 1 + count : 1;
}
