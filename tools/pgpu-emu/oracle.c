// SPDX-License-Identifier: GPL-2.0-only
/*
 * The isolation oracle: which pages each hardware context has read, written, or walked as a table.
 * It lives outside of the kernel under test. --oracle writes one line per context and page:
 *
 *   ENGINE LRCA LIFE ROOT SPACE PAGE r|w|t...
 *
 * LRCA is the GGTT address of the image, ROOT the PML4 or first page directory, SPACE ggtt or
 * ppgtt, PAGE a guest-physical address. Software can use the place of an image again for another
 * context, which begins with its registers not restored: LIFE is the number of such a beginning.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "emu.h"

struct emu_oracle_entry {
	u64 page; /* physical address; bits 11:0: see KEY_* */
	u64 root;
	u32 lrca;
	u32 life;
	u8 access; /* 0: free */
};

/* In the low bits of @page. */
#define KEY_ENGINE(id) ((u64)(id))
#define KEY_GGTT BIT(4)

#define FIRST_ENTRIES 4096u

static struct emu_oracle_entry *find(struct emu_oracle *oracle, u64 page, u64 root, u32 lrca,
				     u32 life)
{
	u64 hash = (page ^ root * SOFTGPU_MIX ^ lrca ^ (u64)life << 32) * SOFTGPU_MIX;
	u64 i = hash >> 32;

	for (;; i++) {
		struct emu_oracle_entry *entry = &oracle->entries[i & (oracle->size - 1)];

		if (!entry->access || (entry->page == page && entry->root == root &&
				       entry->lrca == lrca && entry->life == life))
			return entry;
	}
}

static void grow(struct emu_oracle *oracle)
{
	struct emu_oracle old = *oracle;
	unsigned int i;

	oracle->size = old.size ? 2 * old.size : FIRST_ENTRIES;
	oracle->entries = calloc(oracle->size, sizeof(*oracle->entries));
	if (!oracle->entries)
		abort();
	for (i = 0; i < old.size; i++) {
		const struct emu_oracle_entry *entry = &old.entries[i];

		if (entry->access)
			*find(oracle, entry->page, entry->root, entry->lrca, entry->life) = *entry;
	}
	free(old.entries);
}

void emu_oracle_context(struct emu_engine *engine, bool begins)
{
	struct emu_oracle *oracle = &engine->emu->oracle;
	u32 *life;

	if (!oracle->file)
		return;
	if (!oracle->lives)
		oracle->lives = calloc(SOFTGPU_GGTT_ENTRIES, sizeof(*oracle->lives));
	if (!oracle->lives)
		abort();
	life = &oracle->lives[engine->image.lrca >> GHYVI_PAGE_SHIFT];
	if (begins)
		*life = ++oracle->last_life;
	engine->image.life = *life;
}

void emu_oracle_note(struct emu_engine *engine, bool ggtt, u64 address, u8 access)
{
	struct emu_oracle *oracle = &engine->emu->oracle;
	u64 page = (address & EMU_ADDRESS_MASK) | KEY_ENGINE(engine->cs.id) | (ggtt ? KEY_GGTT : 0);
	u64 root = engine->pdp[0] & EMU_ADDRESS_MASK;
	struct emu_oracle_entry *entry;

	if (!oracle->file)
		return;
	if (2 * oracle->used >= oracle->size)
		grow(oracle);
	entry = find(oracle, page, root, engine->image.lrca, engine->image.life);
	if (!entry->access) {
		entry->page = page;
		entry->root = root;
		entry->lrca = engine->image.lrca;
		entry->life = engine->image.life;
		oracle->used++;
	}
	entry->access |= access;
}

/* Notes are kept per TLB slot, so that most accesses cost a comparison only. */
void softgpu_note_access(struct softgpu_engine *cs, const struct softgpu_tlb_entry *slot,
			 bool write)
{
	struct emu_engine *engine = emu_engine_from(cs);
	bool ggtt = slot >= cs->ggtt && slot < cs->ggtt + SOFTGPU_TLB_GGTT;
	struct emu_slot_note *note = ggtt ? &engine->ggtt_notes[slot - cs->ggtt] :
					    &engine->ppgtt_notes[slot - cs->ppgtt];
	u8 access = write ? EMU_ACCESS_WRITE : EMU_ACCESS_READ;

	if (note->access & access || (write && !slot->writable))
		return;
	note->access |= access;
	emu_oracle_note(engine, ggtt, note->address, access);
}

void emu_oracle_filled(struct emu_engine *engine, const struct softgpu_tlb_entry *slot, u64 address)
{
	struct softgpu_engine *cs = &engine->cs;
	bool ggtt = slot >= cs->ggtt && slot < cs->ggtt + SOFTGPU_TLB_GGTT;
	struct emu_slot_note *note = ggtt ? &engine->ggtt_notes[slot - cs->ggtt] :
					    &engine->ppgtt_notes[slot - cs->ppgtt];

	*note = (struct emu_slot_note){ .address = address };
}

void emu_oracle_write(struct emu *emu)
{
	struct emu_oracle *oracle = &emu->oracle;
	unsigned int i;

	if (!oracle->file)
		return;
	rewind(oracle->file);
	for (i = 0; i < oracle->size; i++) {
		const struct emu_oracle_entry *entry = &oracle->entries[i];

		if (!entry->access)
			continue;
		fprintf(oracle->file, "%s %08x %u %010" PRIx64 " %s %010" PRIx64 " %s%s%s\n",
			ghyvi_engine_name(entry->page & 3), entry->lrca, entry->life,
			(uint64_t)entry->root, entry->page & KEY_GGTT ? "ggtt" : "ppgtt",
			(uint64_t)(entry->page & EMU_ADDRESS_MASK),
			entry->access & EMU_ACCESS_READ ? "r" : "",
			entry->access & EMU_ACCESS_WRITE ? "w" : "",
			entry->access & EMU_ACCESS_TABLE ? "t" : "");
	}
	fflush(oracle->file);
}
