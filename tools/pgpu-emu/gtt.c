// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation: the GGTT array, the PPGTT walker, and the TLBs.
 *
 * The command code has a TLB of its own (softgpu_map()), which is emptied at each slice. Behind it
 * is a model of the hardware's TLBs: what an engine has translated stays there until something
 * architectural drops it. When a walk finds something else than the model holds, hardware might
 * have used the old translation. That is reported, and with the adversary mode stale-tlb the old
 * one is used.
 */
#include <linux/compiler.h>
#include <linux/string.h>
#include <softgpu/surface.h>
#include "emu.h"

#define LEVELS_4 4
#define LEVELS_3 3

/* ---- the GGTT array ---- */

/* Addresses in the GGTT have 32 bits, so the first entry follows the last one. */
static u32 ggtt_index(u32 offset)
{
	return (offset - EMU_GGTT_OFFSET) / sizeof(u64) % SOFTGPU_GGTT_ENTRIES;
}

u64 emu_ggtt_read(struct emu *emu, u32 offset, unsigned int bytes)
{
	u64 entry = emu->ggtt[ggtt_index(offset)] >> 8 * (offset & 7);

	return bytes == 8 ? entry : entry & ((1ull << 8 * bytes) - 1);
}

/* Software may change an entry as often as it likes before it flushes. */
static void ggtt_mark_dirty(struct emu *emu, u32 index)
{
	if (emu->ggtt_is_dirty[index])
		return;
	emu->ggtt_is_dirty[index] = true;
	emu->ggtt_dirty[emu->nr_ggtt_dirty++] = index;
}

void emu_ggtt_write(struct emu *emu, u32 offset, u64 value, unsigned int bytes)
{
	u32 index = ggtt_index(offset);
	u64 entry = emu->ggtt[index];

	memcpy((u8 *)&entry + (offset & 7), &value, min(bytes, 8 - (offset & 7)));
	emu->ggtt_writes++;
	if (entry == emu->ggtt[index])
		return;
	emu->ggtt[index] = entry;
	ggtt_mark_dirty(emu, index);
}

/*
 * The write flushes the write-combining buffers of the table, and invalidates the GGTT's TLBs (PRM
 * vol. 2c, "GFX_FLSH_CNTL").
 */
void emu_ggtt_flush(struct emu *emu)
{
	unsigned int i;

	for (i = 0; i < emu->nr_ggtt_dirty; i++) {
		u32 index = emu->ggtt_dirty[i];

		emu->ggtt_live[index] = emu->ggtt[index];
		emu->ggtt_is_dirty[index] = false;
	}
	emu->nr_ggtt_dirty = 0;
	for (i = 0; i < GHYVI_ENGINES; i++)
		emu->engines[i].cs.epoch++;
}

/* ---- the model of the TLBs ---- */

/*
 * Look up what hardware may still hold for @page, and put the result of a walk there. Returns false
 * if the two differ. In that case @address and @writable become the old translation if it is used.
 */
static bool model_check(struct emu_engine *engine, u64 page, u64 *address, bool *writable)
{
	struct emu_tlb_entry *entry = &engine->ppgtt_tlb[softgpu_tlb_index(page, EMU_TLB_ENTRIES)];
	struct emu *emu = engine->emu;

	if (entry->page == page && entry->generation == engine->tlb_generation &&
	    (entry->address != *address || entry->writable != *writable)) {
		if (emu_adversary_has(&emu->adversary, EMU_STALE_TLB)) {
			*address = entry->address;
			*writable = entry->writable;
		}
		return false;
	}
	*entry = (struct emu_tlb_entry){ .page = page,
					 .generation = engine->tlb_generation,
					 .address = *address,
					 .writable = *writable };
	return true;
}

void emu_tlb_invalidate(struct emu_engine *engine)
{
	engine->tlb_generation++;
	engine->cs.epoch++;
}

/* PIPE_CONTROL and MI_FLUSH_DW with TLB invalidation. */
void softgpu_tlb_flush(struct softgpu_engine *cs)
{
	emu_tlb_invalidate(emu_engine_from(cs));
}

/* ---- walks ---- */

/* Record the fault: RING_FAULT_REG (PRM vol. 2c). Nothing else tells the driver. */
static int fault(struct emu_engine *engine, u64 address, bool ggtt, const char *what)
{
	struct emu *emu = engine->emu;
	static const u8 hardware_ids[GHYVI_ENGINES] = {
		[GHYVI_RCS] = 0, [GHYVI_VCS] = 1, [GHYVI_BCS] = 2, [GHYVI_VECS] = 3
	};

	engine->faulted = true;
	*emu_reg(emu, GEN8_RING_FAULT_REG) = RING_FAULT_VALID | hardware_ids[engine->cs.id] << 12;
	*emu_reg(emu, GEN8_FAULT_TLB_DATA0) = address >> 12;
	*emu_reg(emu, GEN8_FAULT_TLB_DATA1) = (address >> 44 & 0xf) | (ggtt ? BIT(4) : 0);
	emu_violation(emu, ggtt ? EMU_GGTT_NOT_PRESENT : EMU_NOT_PRESENT,
		      "%s: %s address %#llx: %s", emu_engine_name(engine), ggtt ? "GGTT" : "PPGTT",
		      (unsigned long long)address, what);
	return SOFTGPU_ERROR;
}

static int not_ram(struct emu_engine *engine, u64 address, u64 physical)
{
	engine->faulted = true;
	emu_violation(engine->emu, EMU_NOT_RAM, "%s: address %#llx maps %#llx",
		      emu_engine_name(engine), (unsigned long long)address,
		      (unsigned long long)physical);
	return SOFTGPU_ERROR;
}

static int table_entry(struct emu_engine *engine, u64 table, unsigned int index, u64 *entry)
{
	const u64 *entries = (const u64 *)emu_ram_at(engine->emu, table, GHYVI_PAGE_BYTES);

	if (!entries)
		return not_ram(engine, index, table);
	*entry = READ_ONCE(entries[index]);
	emu_oracle_note(engine, false, table, EMU_ACCESS_TABLE);
	return 0;
}

/* Get the page directory pointer or PML4 entry that the context's roots give for @address. */
static u64 root_of(const struct emu_engine *engine, u64 address, unsigned int *levels)
{
	*levels = engine->four_levels ? LEVELS_4 : LEVELS_3 - 1;
	if (engine->four_levels)
		return engine->pdp[0] & EMU_ADDRESS_MASK;
	return engine->pdp[address >> 30 & 3] & EMU_ADDRESS_MASK;
}

static int walk_ppgtt(struct emu_engine *engine, u64 address, u64 *physical, bool *writable)
{
	unsigned int levels, level;
	u64 table = root_of(engine, address, &levels);
	u64 entry, within = 0;
	int err;

	*writable = true;
	for (level = levels; level; level--) {
		unsigned int shift = GHYVI_PAGE_SHIFT + 9 * (level - 1);
		unsigned int index = address >> shift & (GHYVI_ENTRIES - 1);

		if (level == GHYVI_LEVEL_PT)
			index -= within = index & within;
		err = table_entry(engine, table, index, &entry);
		if (err)
			return err;
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return fault(engine, address, false, "entry not present");
		*writable &= !!(entry & GHYVI_ENTRY_WRITE);
		table = entry & EMU_ADDRESS_MASK;
		if (level == GHYVI_LEVEL_PD && entry & GHYVI_ENTRY_LARGE) {
			table &= ~(u64)(GHYVI_LARGE_BYTES - 1);
			if (*emu_reg(engine->emu, HSW_GTT_CACHE_EN))
				emu_violation(engine->emu, EMU_GTT_CACHE, "%s: address %#llx",
					      emu_engine_name(engine), (unsigned long long)address);
			within = address >> GHYVI_PAGE_SHIFT & (GHYVI_ENTRIES - 1);
			break;
		}
		if (level == GHYVI_LEVEL_PD && entry & GHYVI_ENTRY_64K &&
		    *emu_reg(engine->emu, GEN8_GAMW_ECO_DEV_RW_IA) & GAMW_ECO_ENABLE_64K_IPS_FIELD)
			within = GHYVI_PTES_PER_64K - 1;
	}
	*physical = table + (within << GHYVI_PAGE_SHIFT);
	return 0;
}

static int translate_ppgtt(struct emu_engine *engine, u64 address, u64 *physical, bool *writable)
{
	u64 page = address >> GHYVI_PAGE_SHIFT;
	int err = walk_ppgtt(engine, address, physical, writable);

	if (!err && !model_check(engine, page, physical, writable))
		emu_violation(engine->emu, EMU_PPGTT_STALE, "%s: address %#llx, context %#x",
			      emu_engine_name(engine), (unsigned long long)address,
			      engine->image.lrca);
	return err;
}

static int translate_ggtt(struct emu_engine *engine, u64 address, u64 *physical)
{
	u32 index = address >> GHYVI_PAGE_SHIFT;
	struct emu *emu = engine->emu;
	u64 entry = emu->ggtt[index];

	if (entry != emu->ggtt_live[index]) {
		emu_violation(emu, EMU_GGTT_STALE, "%s: address %#llx", emu_engine_name(engine),
			      (unsigned long long)address);
		if (emu_adversary_has(&emu->adversary, EMU_STALE_TLB))
			entry = emu->ggtt_live[index];
	}
	if (!(entry & GHYVI_ENTRY_PRESENT))
		return fault(engine, address, true, "entry not present");
	*physical = entry & EMU_ADDRESS_MASK;
	return 0;
}

/* Never called: the emulated GPU has no log of the pages that it writes. */
void softgpu_log_write(struct softgpu_engine *cs, struct softgpu_tlb_entry *slot)
{
}

int softgpu_tlb_fill(struct softgpu_engine *cs, struct softgpu_tlb_entry *slot,
		     enum softgpu_space space, u64 address)
{
	struct emu_engine *engine = emu_engine_from(cs);
	bool writable = true;
	u64 physical = 0;
	int err;

	slot->epoch = 0; /* a walk that fails leaves no valid entry */
	err = space == SOFTGPU_GGTT ? translate_ggtt(engine, address, &physical) :
				      translate_ppgtt(engine, address, &physical, &writable);
	if (err)
		return err;
	slot->pointer = emu_ram_at(engine->emu, physical, GHYVI_PAGE_BYTES);
	if (!slot->pointer)
		return not_ram(engine, address, physical);
	slot->page = address >> GHYVI_PAGE_SHIFT;
	slot->writable = writable;
	slot->log = false;
	slot->epoch = cs->epoch;
	emu_oracle_filled(engine, slot, physical);
	return 0;
}

/* Each page is looked up by itself, so that the oracle notes it and the model checks it. */
u32 softgpu_contiguous(struct softgpu_engine *cs, u64 address, const u8 *pointer, u32 bytes,
		       bool write)
{
	return min_t(u32, bytes, GHYVI_PAGE_BYTES - (address & (GHYVI_PAGE_BYTES - 1)));
}

u8 *emu_engine_ggtt(struct emu_engine *engine, u64 address, bool write)
{
	u8 *pointer;

	if (softgpu_map(&engine->cs, SOFTGPU_GGTT, address, write, &pointer))
		return NULL;
	return pointer;
}

/* Where a byte of the rows of an X- or Y-tiled object is. */
static u32 tiled(const struct softgpu_tile *tile, u32 pitch, u32 linear)
{
	u32 x = linear % pitch, y = linear / pitch;
	u32 number =
		(y >> tile->rows_shift) * (pitch >> tile->width_shift) + (x >> tile->width_shift);

	x &= (1u << tile->width_shift) - 1;
	y &= (1u << tile->rows_shift) - 1;
	return number << tile->bits | x >> tile->run_shift << (tile->run_shift + tile->rows_shift) |
	       y << tile->run_shift | (x & ((1u << tile->run_shift) - 1));
}

/* In the range of a fence the CPU sees rows of a tiled object (PRM vol. 2c, "FENCE"). */
static u32 detiled(struct emu *emu, u32 offset)
{
	enum softgpu_tiling tiling;
	u32 low, high, start, pitch, i;

	for (i = 0; i < EMU_FENCES; i++) {
		low = *emu_reg(emu, FENCE_REG_GEN6_LO(i));
		high = *emu_reg(emu, FENCE_REG_GEN6_HI(i));
		start = low & (u32)GHYVI_PAGE_MASK;
		if (!(low & GEN6_FENCE_VALID) || offset < start ||
		    offset > (high | ~(u32)GHYVI_PAGE_MASK))
			continue;
		tiling = low & GEN6_FENCE_TILING_Y ? SOFTGPU_Y_TILED : SOFTGPU_X_TILED;
		pitch = GEN6_FENCE_PITCH_UNIT * ((high & GEN6_FENCE_PITCH) + 1);
		return start + tiled(&softgpu_tiles[tiling], pitch, offset - start);
	}
	return offset;
}

u8 *emu_aperture_at(struct emu *emu, u32 offset)
{
	u32 at = detiled(emu, offset);
	u64 entry = emu->ggtt[at >> GHYVI_PAGE_SHIFT];

	if (!(entry & GHYVI_ENTRY_PRESENT))
		return NULL;
	return emu_ram_at(emu, (entry & EMU_ADDRESS_MASK) + (at & (GHYVI_PAGE_BYTES - 1)), 8);
}

/* ---- accesses of the command code ---- */

static void store(u8 *memory, u64 value, bool qword)
{
	if (qword)
		WRITE_ONCE(*(u64 *)memory, value);
	else
		WRITE_ONCE(*(u32 *)memory, value);
}

void emu_late_writes_drain(struct emu_engine *engine)
{
	unsigned int i;

	for (i = 0; i < engine->nr_late_writes; i++)
		store(engine->late_writes[i].memory, engine->late_writes[i].value,
		      engine->late_writes[i].qword);
	engine->nr_late_writes = 0;
}

/*
 * Stores reach memory in order, and at the next flush at the latest (PRM vol. 2a, MI_FLUSH_DW and
 * PIPE_CONTROL). Only the adversary holds them back.
 */
static void engine_store(struct emu_engine *engine, u8 *memory, u64 value, bool qword)
{
	if (!emu_adversary_has(&engine->emu->adversary, EMU_LATE_WRITE)) {
		store(memory, value, qword);
		return;
	}
	if (engine->nr_late_writes == EMU_LATE_WRITES)
		emu_late_writes_drain(engine);
	engine->late_writes[engine->nr_late_writes++] =
		(struct emu_late_write){ .memory = memory, .value = value, .qword = qword };
}

u32 softgpu_load32(struct softgpu_engine *cs, const u8 *memory)
{
	emu_late_writes_drain(emu_engine_from(cs));
	return READ_ONCE(*(const u32 *)memory);
}

void softgpu_store32(struct softgpu_engine *cs, u8 *memory, u32 value)
{
	engine_store(emu_engine_from(cs), memory, value, false);
}

void softgpu_store64(struct softgpu_engine *cs, u8 *memory, u64 value)
{
	engine_store(emu_engine_from(cs), memory, value, true);
}
