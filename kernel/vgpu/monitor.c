// SPDX-License-Identifier: GPL-2.0-only
/*
 * The monitor of a vGPU: its resolution, and the EDID that describes it, unless an administrator
 * has written another one.
 *
 * Timings of a resolution are those of VESA's CVT with reduced blanking at 60 Hz: a horizontal
 * blank of 160 pixels, and a vertical blank of at least 460 us.
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
	return READ_ONCE(vgpu->display.pixels);
}

/* The detailed timing of @mode: 18 bytes. */
static void put_timing(const struct mode *mode, u8 *timing)
{
	u32 clock = (mode->width + HBLANK) * (mode->height + mode->vblank) * REFRESH_HZ /
		    CLOCK_STEP_HZ * CLOCK_STEP_10KHZ;
	u32 width_mm = mode->width * 254 / 960, height_mm = mode->height * 254 / 960;

	timing[0] = clock;
	timing[1] = clock >> 8;
	timing[2] = (u8)mode->width;
	timing[3] = HBLANK;
	timing[4] = mode->width >> 8 << 4;
	timing[5] = (u8)mode->height;
	timing[6] = mode->vblank;
	timing[7] = mode->height >> 8 << 4;
	timing[8] = HSYNC_OFFSET;
	timing[9] = HSYNC;
	timing[10] = VSYNC_OFFSET << 4 | mode->vsync;
	timing[12] = width_mm;
	timing[13] = height_mm;
	timing[14] = width_mm >> 8 << 4 | height_mm >> 8;
	timing[17] = 0x1a; /* digital separate sync, horizontal positive */
}

static u8 sum_of(const u8 *bytes, unsigned int count)
{
	u8 sum = 0;

	while (count--)
		sum += *bytes++;
	return sum;
}

/* EDID 1.4 of a DisplayPort monitor with one detailed timing. */
static void make_edid(unsigned int resolution, u8 *edid)
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
	edid[GHYVI_EDID_BYTES - 1] = -sum_of(edid, GHYVI_EDID_BYTES - 1);
}

#define EDID_TIMINGS 54 /* where the base block has its descriptors */
#define EDID_TIMING_BYTES 18
#define EDID_EXTENSIONS 126 /* number of blocks that follow the base block */
#define CTA_TAG 0x02
#define CTA_TIMINGS 2 /* where an extension of CTA-861 says its timings begin, 0: it has none */

const char *vgpu_monitor_check_edid(const u8 *edid, size_t bytes)
{
	static const u8 header[] = { 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00 };
	size_t offset;

	if (bytes != GHYVI_EDID_BYTES && bytes != GHYVI_EDID_BYTES_MAX)
		return "the size is neither 128 nor 256 bytes";
	if (memcmp(edid, header, sizeof(header)))
		return "it does not begin with the header of an EDID";
	for (offset = 0; offset < bytes; offset += GHYVI_EDID_BYTES)
		if (sum_of(edid + offset, GHYVI_EDID_BYTES))
			return "the checksum of a block is wrong";
	if (edid[EDID_EXTENSIONS] != bytes / GHYVI_EDID_BYTES - 1)
		return "it has another number of extensions than it says";
	return NULL;
}

/* The number of pixels of the largest of the detailed timings from @timing on. */
static u32 largest_timing(const u8 *timing, const u8 *end, u32 pixels)
{
	/* A pixel clock of 0: this is another descriptor, or padding. */
	for (; timing + EDID_TIMING_BYTES <= end; timing += EDID_TIMING_BYTES)
		if (timing[0] | timing[1])
			pixels = max(pixels, ((u32)timing[2] | (timing[4] & 0xf0) << 4) *
						     ((u32)timing[5] | (timing[7] & 0xf0) << 4));
	return pixels;
}

static u32 edid_pixels(const u8 *edid, size_t bytes, u32 pixels)
{
	const u8 *extension = edid + GHYVI_EDID_BYTES;

	pixels = largest_timing(edid + EDID_TIMINGS, edid + EDID_EXTENSIONS, pixels);
	if (bytes > GHYVI_EDID_BYTES && extension[0] == CTA_TAG && extension[CTA_TIMINGS] > 3 &&
	    extension[CTA_TIMINGS] < GHYVI_EDID_BYTES)
		pixels = largest_timing(extension + extension[CTA_TIMINGS],
					extension + GHYVI_EDID_BYTES - 1, pixels);
	return pixels;
}

void vgpu_monitor_choose(struct vgpu_display *display, unsigned int resolution, const u8 *edid,
			 size_t bytes)
{
	const struct mode *mode = &modes[resolution];

	memset(display->edid, 0, sizeof(display->edid));
	display->edid_bytes = GHYVI_EDID_BYTES;
	make_edid(resolution, display->edid);
	if (edid) {
		memcpy(display->edid, edid, bytes);
		display->edid_bytes = bytes;
	}
	WRITE_ONCE(display->edid_written, !!edid);
	WRITE_ONCE(display->resolution, resolution);
	WRITE_ONCE(display->pixels,
		   edid_pixels(display->edid, display->edid_bytes, mode->width * mode->height));
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
#define DP_LANE_COUNT_MASK 0x1f
#define DP_SINK_COUNT 0x200
#define DP_LANE0_1_STATUS 0x202
#define DP_LANE2_3_STATUS 0x203
#define DP_LANE_ALIGN_STATUS_UPDATED 0x204
#define DP_SINK_STATUS 0x205
#define DP_SET_POWER 0x600
#define DP_SET_POWER_D0 1

void vgpu_monitor_plug(struct vgpu_monitor *monitor)
{
	memset(monitor->link, 0, sizeof(monitor->link));
	monitor->power = DP_SET_POWER_D0;
	monitor->edid_offset = 0;
}

void vgpu_monitor_reset(struct vgpu_display *display)
{
	struct vgpu_monitor *monitor = &display->monitor;

	vgpu_monitor_plug(monitor);
	memcpy(monitor->edid, display->edid, sizeof(monitor->edid));
	monitor->edid_bytes = display->edid_bytes;
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
	return monitor->edid[monitor->edid_offset++ % monitor->edid_bytes];
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
			monitor->edid_offset = value;
	}
	return read ? 1 + count : 1;
}
