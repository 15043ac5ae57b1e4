/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of the guests of fuzz_whole.c: tables, rings, batches and their commands. Also the
 * check of shadow page tables against the guest's tables.
 */
#ifndef FUZZ_WHOLE_GUEST_H
#define FUZZ_WHOLE_GUEST_H

#include "whole.h"

#define CONTEXTS 4
#define RING_BYTES GHYVI_PAGE_BYTES

/*
 * Pages of guest memory. Each table page has one level, so that a guest that is not wild never uses
 * a page in two roles.
 */
enum {
	PML4 = 1,
	PDP,
	PD,
	PT,
	PT2,
	PD2,
	STATUS = 8, /* four pages */
	IMAGES = 12, /* two per context */
	RINGS = 20, /* one per context */
	KERNEL_BATCH = 24,
	USER_BATCH = 28, /* twelve pages, used as two batches */
	DATA = 40,
	LAYOUT_PAGES = 64,
	LARGE = 512, /* 512 pages */
};

static const u8 table_levels[] = {
	[PML4] = 4, [PDP] = 3, [PD] = 2, [PT] = 1, [PT2] = 1, [PD2] = 2,
};
static const u8 tables[] = { PML4, PDP, PD, PT, PT2, PD2 };

static struct {
	bool wild; /* pages with several roles and random values: the self-check is not valid */
	u32 choice; /* the first bytes of the input */
	bool begun[VMS]; /* a guest that did nothing needs no reset, which is slow */
} run;

/* pages that an engine may access */

/* Combines an entry with the bits of the address that it does not translate, like the GPU. */
static u64 within(u64 entry, u64 address, u64 bytes)
{
	return (entry & ~(bytes - 1)) | (address & (bytes - 1));
}

/* Returns the number of the RAM page that the guest's tables map at @address, or -1. */
static int guest_page(struct vm *vm, u64 root, u64 address)
{
	unsigned int level, index;
	bool pages_64k = false;
	u64 gfn, entry = root;

	for (level = 4;; level--) {
		gfn = (entry & GHYVI_GUEST_ADDRESS_MASK) >> GHYVI_PAGE_SHIFT;
		if (!is_ram(gfn))
			return -1;
		if (!level)
			return page_of(gfn);
		index = address >> (GHYVI_PAGE_SHIFT + 9 * (level - 1)) & (GHYVI_ENTRIES - 1);
		if (pages_64k)
			index &= ~(GHYVI_PTES_PER_64K - 1);
		memcpy(&entry, ram(vm, page_of(gfn)) + 8 * index, 8);
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return -1;
		if (pages_64k)
			entry = within(entry, address, GHYVI_PTES_PER_64K * GHYVI_PAGE_BYTES);
		pages_64k = level == 2 && entry & GHYVI_ENTRY_64K && vm->gen9;
		if (level == 2 && entry & GHYVI_ENTRY_LARGE) {
			entry = within(entry, address, GHYVI_LARGE_BYTES);
			level = 1;
		}
	}
}

/*
 * Tables that map no guest memory on any level: scratch tables. All entries of a scratch table
 * point to the same scratch table of the next level, so each needs to be checked only once.
 */
static struct {
	u64 tables[16];
	unsigned int count;
} barren;

static bool is_barren(u64 table)
{
	unsigned int i;

	for (i = 0; i < min(barren.count, (unsigned int)ARRAY_SIZE(barren.tables)); i++)
		if (barren.tables[i] == table)
			return true;
	return false;
}

/*
 * Where a shadow table maps guest memory, the guest's tables must map the same page. Returns false
 * if
 * @table maps no guest memory.
 */
static bool check_shadow(struct vm *vm, u64 root, u64 table, unsigned int level, u64 address)
{
	const u64 *entries;
	unsigned int i;
	bool leads = false;
	u64 at, page;

	table &= GHYVI_SHADOW_ADDRESS_MASK;
	if (is_barren(table))
		return false;
	entries = phys_to_virt(table);
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		if (!(entries[i] & GHYVI_ENTRY_PRESENT))
			continue;
		at = address | (u64)i << (GHYVI_PAGE_SHIFT + 9 * (level - 1));
		if (level > 1 && !(level == 2 && entries[i] & GHYVI_ENTRY_LARGE)) {
			leads |= check_shadow(vm, root, entries[i], level - 1, at);
			continue;
		}
		page = (entries[i] & GHYVI_SHADOW_ADDRESS_MASK) - virt_to_phys(vm->host);
		if (page >= RAM_BYTES)
			continue;
		ASSERT(guest_page(vm, root, at) == (int)(page >> GHYVI_PAGE_SHIFT));
		leads = true;
	}
	if (!leads)
		barren.tables[barren.count++ % ARRAY_SIZE(barren.tables)] = table;
	return leads;
}

static struct vm *vm_of(const struct ghyvi_job *job)
{
	unsigned int i;

	for (i = 0; i < VMS - 1; i++)
		if (softgpu_client(job->client)->base.params.stats == &world.vms[i].stats)
			break;
	return &world.vms[i];
}

/* Called when a job starts, directly after its preparation. */
static void check_job(struct ghyvi_job *job)
{
	u64 root = (u64)job->context[GHYVI_CTX_PDP0_UDW] << 32 | job->context[GHYVI_CTX_PDP0_LDW];

	barren.count = 0;
	if (!run.wild && !job->nested && job->levels == GHYVI_LEVEL_PML4)
		check_shadow(vm_of(job), root, job->root, GHYVI_LEVEL_PML4, 0);
}

/* addresses and values */

static u64 gpa(unsigned int page)
{
	return RAM_GPA + page * (u64)GHYVI_PAGE_BYTES;
}

static u32 ggtt(unsigned int page)
{
	return WINDOW + page * GHYVI_PAGE_BYTES;
}

static u64 any_data_page(void)
{
	return STATUS + rnd(LAYOUT_PAGES - STATUS);
}

/* An entry of a table page of @level; GGTT tables are of level 1. */
static u64 any_entry(unsigned int level)
{
	static const u16 flags[] = { GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE, GHYVI_ENTRY_PRESENT,
				     0, GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE | GHYVI_ENTRY_LARGE,
				     GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE | GHYVI_ENTRY_64K };
	u32 choice = input_take(1);
	u64 entry = flags[(choice & 7) % ARRAY_SIZE(flags)];
	unsigned int i;

	if (run.wild && (choice & 0xf0) == 0xf0) {
		entry = (u64)input_take(4) << 32;
		return entry | input_take(4);
	}
	if ((choice & 0x30) == 0x30) /* outside of guest memory */
		return entry | (u64)rnd(1u << 16) << 32 | 0x800000;
	if (level == 2 && entry & GHYVI_ENTRY_LARGE)
		return entry | gpa(LARGE);
	if (run.wild)
		return entry | gpa(rnd(LAYOUT_PAGES));
	if (level == 1)
		return entry | gpa(choice & 8 ? LARGE + rnd(GHYVI_ENTRIES) : any_data_page());
	for (i = rnd(ARRAY_SIZE(tables)); table_levels[tables[i]] != level - 1;
	     i = (i + 1) % ARRAY_SIZE(tables))
		;
	return entry | gpa(tables[i]);
}

/* An address for a command, in the PPGTT or the GGTT. */
static u64 any_address(bool global)
{
	u32 choice = input_take(1);
	u64 address;

	if (choice == 0xff) {
		address = (u64)rnd(1u << 16) << 32;
		return address | input_take(4);
	}
	if (choice == 0xfe) /* outside the window */
		return WINDOW ^ WINDOW_BYTES;
	if (choice >= 0xf0)
		address = (u64)(choice & 0xf) << 21; /* other entries of the page directory */
	else
		address = (DATA + choice % (LAYOUT_PAGES - DATA)) * (u64)GHYVI_PAGE_BYTES;
	address += rnd(256) * 16;
	return global ? WINDOW + address % WINDOW_BYTES : address;
}

/* commands */

struct cursor {
	struct vm *vm;
	unsigned int page, pages;
	u32 *at; /* byte offset in these pages */
};

static void emit(struct cursor *to, u32 dword)
{
	u32 bytes = to->pages * GHYVI_PAGE_BYTES;

	memcpy(ram(to->vm, to->page) + *to->at % bytes, &dword, 4);
	*to->at = (*to->at + 4) % bytes;
}

static void emit_address(struct cursor *to, bool global)
{
	u64 address = any_address(global);

	emit(to, lower_32_bits(address));
	emit(to, upper_32_bits(address));
}

static void emit_batch_start(struct cursor *to, u32 choice)
{
	bool user = choice & 1;
	u32 page = user ? USER_BATCH + 6 * (choice >> 1 & 1) : KERNEL_BATCH;
	u32 address = page * GHYVI_PAGE_BYTES + (choice >> 4) * 64;

	emit(to, 0x31u << 23 | 1 | (user ? BIT(8) : 0) | (choice & 4 ? BIT(22) : 0));
	emit(to, user ? address : WINDOW + address);
	emit(to, 0);
}

static void emit_update_gtt(struct cursor *to, u32 choice)
{
	unsigned int i, count = 1 + (choice & 3);
	u64 entry;

	emit(to, 0x23u << 23 | (2 * count));
	emit(to, ggtt(choice & 4 ? rnd(WINDOW_BYTES >> GHYVI_PAGE_SHIFT) : any_data_page()));
	for (i = 0; i < count; i++) {
		entry = any_entry(1);
		emit(to, lower_32_bits(entry));
		emit(to, upper_32_bits(entry));
	}
}

static void emit_copy(struct cursor *to)
{
	u32 rows = 1 + rnd(4), width = 1 + rnd(1024), pitch = 4096;

	emit(to, 2u << 29 | 0x53 << 22 | 3 << 20 | 8); /* XY_SRC_COPY_BLT */
	emit(to, 3 << 24 | 0xcc << 16 | pitch);
	emit(to, 0);
	emit(to, rows << 16 | width);
	emit_address(to, false);
	emit(to, 0);
	emit(to, pitch);
	emit_address(to, false);
}

/* Emits a complete command, which is mostly valid. */
static void emit_command(struct cursor *to)
{
	static const u32 registers[] = { 0x2600, 0x2604, 0x2358, 0x22600, 0x12600,
					 0x7014, 0x2230, 0x2038, 0x44300, 0x78818 };
	u32 choice = input_take(1), global;
	unsigned int i;

	global = choice & 0x20 ? BIT(22) : 0;
	switch (choice & 0x1f) {
	case 0:
		emit(to, 0); /* NOOP */
		break;
	case 1:
		emit(to, 2u << 23); /* USER_INTERRUPT */
		break;
	case 2:
		emit(to, 0x0au << 23); /* BATCH_BUFFER_END */
		break;
	case 3:
	case 4:
	case 5:
		emit_batch_start(to, input_take(1));
		break;
	case 6:
		emit(to, 0x20u << 23 | 2 | global); /* STORE_DATA_IMM */
		emit_address(to, global);
		emit(to, input_take(1));
		break;
	case 7:
		emit(to, 0x22u << 23 | 1); /* LOAD_REGISTER_IMM */
		emit(to, registers[rnd(ARRAY_SIZE(registers))]);
		emit(to, input_take(4));
		break;
	case 8:
	case 9:
		emit(to, (choice & 1 ? 0x24u : 0x29u) << 23 | 2 |
				 global); /* STORE_, LOAD_REGISTER_MEM */
		emit(to, registers[rnd(ARRAY_SIZE(registers))]);
		emit_address(to, global);
		break;
	case 10:
		emit(to, 0x2au << 23 | 1); /* LOAD_REGISTER_REG */
		emit(to, registers[rnd(ARRAY_SIZE(registers))]);
		emit(to, registers[rnd(ARRAY_SIZE(registers))]);
		break;
	case 11:
		emit(to, 0x2fu << 23 | 1 | global | (1 + rnd(14)) << 8); /* ATOMIC */
		emit_address(to, global);
		break;
	case 12:
		emit(to, 0x1cu << 23 | 2 | BIT(15) | rnd(6) << 12 | global); /* SEMAPHORE_WAIT */
		emit(to, rnd(2));
		emit_address(to, global);
		break;
	case 13:
		emit_update_gtt(to, input_take(1));
		break;
	case 14:
		emit_copy(to);
		break;
	case 15:
		emit(to, 0x7a000004); /* PIPE_CONTROL: a post-sync write */
		emit(to, 1 << 14 | (global ? BIT(24) : 0) | rnd(2) << 8);
		emit_address(to, global);
		emit(to, 7);
		emit(to, 8);
		break;
	case 16:
		emit(to, 0x26u << 23 | 2 | 1 << 14 | BIT(18) * rnd(2)); /* FLUSH_DW */
		emit_address(to, global);
		emit(to, 9);
		break;
	case 17:
		emit(to, 0x36u << 23 | 2 | global); /* CONDITIONAL_BATCH_BUFFER_END */
		emit(to, rnd(2));
		emit_address(to, global);
		break;
	case 18:
		emit(to, 0x2eu << 23 | 3); /* COPY_MEM_MEM */
		emit_address(to, false);
		emit_address(to, false);
		break;
	case 19:
		emit(to, 0x05u << 23); /* ARB_CHECK */
		break;
	case 20:
		emit(to, 0x1au << 23 | 1); /* MATH */
		for (i = 0; i < 3; i++)
			emit(to, input_take(4));
		break;
	default:
		if (run.wild)
			for (i = rnd(16); i; i--)
				emit(to, input_take(4));
	}
}

static void emit_commands(struct vm *vm)
{
	u32 where = input_take(1), context = where & 3;
	struct cursor to = { .vm = vm };
	unsigned int i;

	switch (where >> 2 & 3) {
	case 0:
		to = (struct cursor){ vm, RINGS + context, 1, &vm->tails[context] };
		break;
	case 1:
		to = (struct cursor){ vm, KERNEL_BATCH, 4, &vm->batch_at[0] };
		break;
	default:
		to = (struct cursor){ vm, USER_BATCH, 12, &vm->batch_at[1] };
		break;
	}
	if (where & 0x80 && to.page != RINGS + context)
		*to.at = rnd(256) * 64;
	for (i = 0; i <= (where >> 4 & 7); i++)
		emit_command(&to);
	if (to.page == RINGS + context)
		while (*to.at & 4)
			emit(&to, 0);
}

#endif
