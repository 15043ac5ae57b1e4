// SPDX-License-Identifier: GPL-2.0-only
/* The device as a whole: creation, reset, and the accesses to its BARs. */
#include <linux/string.h>
#include "emu.h"

int emu_init(struct emu *emu)
{
	unsigned int i;

	emu->platform = emu->platform ?: emu_platform_find(NULL);
	emu->regs = calloc(1, EMU_REGISTERS_BYTES);
	emu->ggtt = calloc(SOFTGPU_GGTT_ENTRIES, sizeof(u64));
	emu->ggtt_live = calloc(SOFTGPU_GGTT_ENTRIES, sizeof(u64));
	emu->ggtt_dirty = calloc(SOFTGPU_GGTT_ENTRIES, sizeof(u32));
	emu->ggtt_is_dirty = calloc(SOFTGPU_GGTT_ENTRIES, sizeof(bool));
	emu->images.notes = calloc(EMU_IMAGE_NOTES, sizeof(*emu->images.notes));
	if (!emu->regs || !emu->ggtt || !emu->ggtt_live || !emu->ggtt_dirty ||
	    !emu->ggtt_is_dirty || !emu->images.notes)
		return -ENOMEM;
	for (i = 0; i < GHYVI_ENGINES; i++)
		if (emu_engine_init(emu, i))
			return -ENOMEM;
	emu_device_reset(emu);
	return 0;
}

void emu_device_reset(struct emu *emu)
{
	unsigned int i;

	emu_config_init(emu);
	emu_regs_init(emu);
	memset(emu->ggtt, 0, SOFTGPU_GGTT_ENTRIES * sizeof(u64));
	memset(emu->ggtt_live, 0, SOFTGPU_GGTT_ENTRIES * sizeof(u64));
	emu_ggtt_flush(emu);
	emu->irq_line = false;
	for (i = 0; i < GHYVI_ENGINES; i++)
		emu_engine_reset(&emu->engines[i]);
}

/* Registers have 32 bits; other sizes access parts of them, or two of them. */
static u64 register_read(struct emu *emu, u32 offset, unsigned int bytes)
{
	u64 value = emu_reg_read(emu, offset & ~3u, EMU_CPU);

	if (bytes == 8)
		value |= (u64)emu_reg_read(emu, offset + 4, EMU_CPU) << 32;
	return value >> 8 * (offset & 3);
}

static void register_write(struct emu *emu, u32 offset, u64 value, unsigned int bytes)
{
	u32 shift = 8 * (offset & 3), mask;

	if (bytes < 4) {
		mask = ((1u << 8 * bytes) - 1) << shift;
		value = (emu_reg_read(emu, offset & ~3u, EMU_CPU) & ~mask) |
			(value << shift & mask);
	}
	emu_reg_write(emu, offset & ~3u, value, EMU_CPU);
	if (bytes == 8)
		emu_reg_write(emu, offset + 4, value >> 32, EMU_CPU);
}

static u64 aperture_read(struct emu *emu, u32 offset, unsigned int bytes)
{
	u8 *memory = emu_aperture_at(emu, offset);
	u64 value = 0;

	emu->aperture_accesses++;
	if (memory)
		memcpy(&value, memory, bytes);
	return value;
}

static void aperture_write(struct emu *emu, u32 offset, u64 value, unsigned int bytes)
{
	u8 *memory = emu_aperture_at(emu, offset);

	emu->aperture_accesses++;
	if (memory)
		memcpy(memory, &value, bytes);
}

static bool powered(struct emu *emu, unsigned int bar, u32 offset)
{
	if (emu_config_powered(emu))
		return true;
	emu_violation(emu, EMU_SUSPENDED, "BAR %u offset %#x", bar, offset);
	return false;
}

u64 emu_region_read(struct emu *emu, unsigned int bar, u32 offset, unsigned int bytes)
{
	u64 value;

	if (!powered(emu, bar, offset))
		return ~0ull;
	if (bar)
		return aperture_read(emu, offset, bytes);
	emu->reads++;
	if (offset >= EMU_GGTT_OFFSET) {
		value = emu_ggtt_read(emu, offset, bytes);
		emu_trace(emu, 'r', offset, value);
		return value;
	}
	return offset < EMU_REGISTERS_BYTES ? register_read(emu, offset, bytes) : 0;
}

void emu_region_write(struct emu *emu, unsigned int bar, u32 offset, u64 value, unsigned int bytes)
{
	if (!powered(emu, bar, offset))
		return;
	if (bar) {
		aperture_write(emu, offset, value, bytes);
		return;
	}
	emu->writes++;
	if (offset >= EMU_GGTT_OFFSET) {
		emu_trace(emu, 'w', offset, value);
		emu_ggtt_write(emu, offset, value, bytes);
	} else if (offset < EMU_REGISTERS_BYTES) {
		register_write(emu, offset, value, bytes);
	}
}

/* Find the BAR at @address. Returns its number, or -1. */
static int find_bar(const struct emu *emu, u64 address, u32 *offset)
{
	u64 at = address - emu_config_bar(emu, 0);

	*offset = at;
	if (at < EMU_GTTMMADR_BYTES)
		return 0;
	at = address - emu_config_bar(emu, 2);
	*offset = at;
	return at < EMU_GMADR_BYTES ? 2 : -1;
}

u64 emu_bar_read(struct emu *emu, u64 address, unsigned int bytes)
{
	u32 offset;
	int bar = find_bar(emu, address, &offset);

	return bar < 0 ? ~0ull : emu_region_read(emu, bar, offset, bytes);
}

void emu_bar_write(struct emu *emu, u64 address, u64 value, unsigned int bytes)
{
	u32 offset;
	int bar = find_bar(emu, address, &offset);

	if (bar >= 0)
		emu_region_write(emu, bar, offset, value, bytes);
}
