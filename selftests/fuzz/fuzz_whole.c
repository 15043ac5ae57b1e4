// SPDX-License-Identifier: GPL-2.0-only
/*
 * vgpu, gtt, shadow, audit, sched and softgpu together, with two guests. No engine may reach what its guest does not have
 * pinned, nothing that was not audited may run, the self-check finds no difference, a reset leaves no pin and no protection.
 *
 * Each guest begins with a tree, four contexts and a ring and batches for them, so that single bytes are good commands in
 * good places; what makes them bad comes from further bytes.
 *
 * Input: two bytes of choices, then moves. Bit 7 of a move's first byte says whose it is.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "whole.h"

#define MOVES_MAX 300
#define CONTEXTS 4
#define RING_BYTES GHYVI_PAGE_BYTES
#define BUDGET_MS 1

/* Pages of guest memory. Those of tables have one level each, so that a tame guest never uses one in two ways. */
enum {
	PML4 = 1,
	PDP,
	PD,
	PT,
	PT2,
	PD2,
	STATUS = 8, /* four */
	IMAGES = 12, /* two each */
	RINGS = 20, /* one each */
	KERNEL_BATCH = 24,
	USER_BATCH = 28, /* twelve, as two batches */
	DATA = 40,
	LAYOUT_PAGES = 64,
	LARGE = 512, /* as many */
};

static const u8 table_levels[] = { [PML4] = 4, [PDP] = 3, [PD] = 2, [PT] = 1, [PT2] = 1, [PD2] = 2 };
static const u8 tables[] = { PML4, PDP, PD, PT, PT2, PD2 };

static struct {
	bool wild; /* guests use pages in two ways, and any value: the self-check proves nothing */
	u32 choice; /* the input's first bytes */
	bool begun[VMS]; /* a reset takes longer than most inputs: not for a guest that does nothing */
} run;

/* what an engine may reach */

/* As the GPU forms an address: what an entry does not translate is the address's own. */
static u64 within(u64 entry, u64 address, u64 bytes)
{
	return (entry & ~(bytes - 1)) | (address & (bytes - 1));
}

/* The guest's page that its own tables map at @address, as a number of RAM pages, or -1. */
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
			index &= ~(GHYVI_GROUP - 1);
		memcpy(&entry, ram(vm, page_of(gfn)) + 8 * index, 8);
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return -1;
		if (pages_64k)
			entry = within(entry, address, GHYVI_GROUP * GHYVI_PAGE_BYTES);
		pages_64k = level == 2 && entry & GHYVI_ENTRY_64K && vm->gen9;
		if (level == 2 && entry & GHYVI_ENTRY_LARGE) {
			entry = within(entry, address, GHYVI_LARGE_BYTES);
			level = 1;
		}
	}
}

/* Tables from which nothing leads to a guest's memory: scratch tables, each of which is below all entries of another. */
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

/* Where a shadow leads to the guest's memory, its tables do, too, and to the same page. False: it does not. */
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
		RULE(guest_page(vm, root, at) == (int)(page >> GHYVI_PAGE_SHIFT));
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
		if (softgpu_client(job->client)->params.stats == &world.vms[i].stats)
			break;
	return &world.vms[i];
}

/* It was prepared a moment ago. */
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

static u32 ggtt(struct vm *vm, unsigned int page)
{
	return WINDOW(vm) + page * GHYVI_PAGE_BYTES;
}


static u64 any_data_page(void)
{
	return STATUS + rnd(LAYOUT_PAGES - STATUS);
}

/* An entry of a table page of @level; GGTT tables are of level 1. */
static u64 any_entry(unsigned int level)
{
	static const u16 flags[] = { GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE, GHYVI_ENTRY_PRESENT, 0,
				     GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE | GHYVI_ENTRY_LARGE,
				     GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE | GHYVI_ENTRY_64K };
	u32 choice = input_take(1);
	u64 entry = flags[(choice & 7) % ARRAY_SIZE(flags)];
	unsigned int i;

	if (run.wild && (choice & 0xf0) == 0xf0) {
		entry = (u64)input_take(4) << 32;
		return entry | input_take(4);
	}
	if ((choice & 0x30) == 0x30) /* no memory */
		return entry | (u64)rnd(1u << 16) << 32 | 0x800000;
	if (level == 2 && entry & GHYVI_ENTRY_LARGE)
		return entry | gpa(LARGE);
	if (run.wild)
		return entry | gpa(rnd(LAYOUT_PAGES));
	if (level == 1)
		return entry | gpa(choice & 8 ? LARGE + rnd(GHYVI_ENTRIES) : any_data_page());
	for (i = rnd(ARRAY_SIZE(tables)); table_levels[tables[i]] != level - 1; i = (i + 1) % ARRAY_SIZE(tables))
		;
	return entry | gpa(tables[i]);
}

/* Where a command may want to go, in the PPGTT or the GGTT. */
static u64 any_address(struct vm *vm, bool global)
{
	u32 choice = input_take(1);
	u64 address;

	if (choice == 0xff) {
		address = (u64)rnd(1u << 16) << 32;
		return address | input_take(4);
	}
	if (choice == 0xfe) /* the other guest's */
		return WINDOW(vm) ^ WINDOW_BYTES;
	if (choice >= 0xf0)
		address = (u64)(choice & 0xf) << 21; /* by other entries of the page directory */
	else
		address = (DATA + choice % (LAYOUT_PAGES - DATA)) * (u64)GHYVI_PAGE_BYTES;
	address += rnd(256) * 16;
	return global ? WINDOW(vm) + address % WINDOW_BYTES : address;
}

/* commands */

struct cursor {
	struct vm *vm;
	unsigned int page, pages;
	u32 *at; /* offset in them */
};

static void emit(struct cursor *to, u32 dword)
{
	u32 bytes = to->pages * GHYVI_PAGE_BYTES;

	memcpy(ram(to->vm, to->page) + *to->at % bytes, &dword, 4);
	*to->at = (*to->at + 4) % bytes;
}

static void emit_address(struct cursor *to, bool global)
{
	u64 address = any_address(to->vm, global);

	emit(to, lower_32_bits(address));
	emit(to, upper_32_bits(address));
}

static void emit_batch_start(struct cursor *to, u32 choice)
{
	bool user = choice & 1;
	u32 page = user ? USER_BATCH + 6 * (choice >> 1 & 1) : KERNEL_BATCH;
	u32 address = page * GHYVI_PAGE_BYTES + (choice >> 4) * 64;

	emit(to, 0x31u << 23 | 1 | (user ? BIT(8) : 0) | (choice & 4 ? BIT(22) : 0));
	emit(to, user ? address : WINDOW(to->vm) + address);
	emit(to, 0);
}

static void emit_update_gtt(struct cursor *to, u32 choice)
{
	unsigned int i, count = 1 + (choice & 3);
	u64 entry;

	emit(to, 0x23u << 23 | (2 * count));
	emit(to, ggtt(to->vm, choice & 4 ? rnd(WINDOW_BYTES >> GHYVI_PAGE_SHIFT) : any_data_page()));
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

/* Whole, and mostly good. */
static void emit_command(struct cursor *to)
{
	static const u32 registers[] = { 0x2600, 0x2604, 0x2358, 0x22600, 0x12600, 0x7014, 0x2230, 0x2038, 0x44300, 0x78818 };
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
		emit(to, (choice & 1 ? 0x24u : 0x29u) << 23 | 2 | global); /* STORE_, LOAD_REGISTER_MEM */
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

/* the guest's driver */

static u32 *image(struct vm *vm, unsigned int context)
{
	return (u32 *)ram(vm, IMAGES + 2 * context + 1);
}

static void make_context(struct vm *vm, unsigned int context)
{
	u32 *state = image(vm, context);

	state[GHYVI_CTX_CONTROL] = 0x00090009;
	state[GHYVI_CTX_RING_HEAD] = vm->tails[context];
	state[GHYVI_CTX_RING_TAIL] = vm->tails[context];
	state[GHYVI_CTX_RING_START] = ggtt(vm, RINGS + context);
	state[GHYVI_CTX_RING_CTL] = (RING_BYTES - GHYVI_PAGE_BYTES) | 1;
	state[GHYVI_CTX_INDIRECT] = 0;
	state[GHYVI_CTX_PDP0_UDW] = 0;
	state[GHYVI_CTX_PDP0_LDW] = (u32)gpa(context == 3 ? PD : PML4); /* the last has three levels, below one directory */
	if (context == 3)
		for (unsigned int i = 1; i < 4; i++)
			state[GHYVI_CTX_PDP0_LDW - 4 * i] = (u32)gpa(PD2);
}

static u64 descriptor(struct vm *vm, unsigned int context)
{
	return (u64)(0x20 * (context + 1)) << 32 | ggtt(vm, IMAGES + 2 * context) | (context == 3 ? 0x109 : 0x119);
}

static void elsp(struct vm *vm, enum ghyvi_engine_id engine, u64 element0, u64 element1)
{
	u32 port = ghyvi_engine_base(engine) + RING_ELSP;

	wr(vm, port, upper_32_bits(element1));
	wr(vm, port, lower_32_bits(element1));
	wr(vm, port, upper_32_bits(element0));
	wr(vm, port, lower_32_bits(element0));
}

static void submit(struct vm *vm)
{
	u32 choice = input_take(1);
	unsigned int context = choice & 3, second = choice >> 2 & 3;
	enum ghyvi_engine_id engine = choice >> 4 & 3;
	u64 element = descriptor(vm, context);

	image(vm, context)[GHYVI_CTX_RING_TAIL] = vm->tails[context];
	image(vm, second)[GHYVI_CTX_RING_TAIL] = vm->tails[second];
	if (choice & 0x40)
		element |= DESC_FORCE_RESTORE;
	elsp(vm, engine, element, choice & 0x80 && second != context ? descriptor(vm, second) : 0);
}

static void start_guest(struct vm *vm)
{
	const u64 flags = GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
	unsigned int i;
	u32 base;

	memset(vm->tails, 0, sizeof(vm->tails));
	memset(vm->batch_at, 0, sizeof(vm->batch_at));
	move_bar(vm, false);
	for (i = STATUS; i < LAYOUT_PAGES; i++) {
		store_ggtt(vm, (WINDOW(vm) >> GHYVI_PAGE_SHIFT) + i, gpa(i) | GHYVI_ENTRY_PRESENT);
		if (i >= USER_BATCH)
			store_ram(vm, PT, 8 * i, gpa(i) | flags);
	}
	store_ram(vm, PML4, 0, gpa(PDP) | flags);
	store_ram(vm, PDP, 0, gpa(PD) | flags);
	store_ram(vm, PD, 0, gpa(PT) | flags);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		base = ghyvi_engine_base(i);
		wr(vm, base + RING_HWS_PGA, ggtt(vm, STATUS + i));
		wr(vm, base + RING_MODE, 0x80008000);
		wr(vm, base + RING_IMR, 0);
		wr(vm, base + RING_EMR, ~1u);
		wr(vm, IRQ_BANK_FIRST + i * IRQ_BANK_BYTES + IRQ_IMR, 0);
		wr(vm, IRQ_BANK_FIRST + i * IRQ_BANK_BYTES + IRQ_IER, ~0u);
	}
	wr(vm, MASTER_IRQ, MASTER_IRQ_ENABLE);
	for (i = 0; i < CONTEXTS; i++)
		make_context(vm, i);
}

/* moves */

/* The guest sees the interrupt while the engine goes on: it, or the host, may want something at that very moment. */
static void on_interrupt(void *hv)
{
	struct softgpu_engine *engine = world.executing;
	struct vm *vm = hv;

	/* Once the engine has left the job, interrupts are of the device model. */
	if (!engine || !engine->job || vm_of(engine->job) != vm)
		return;
	switch (rnd(4)) {
	case 1:
		softgpu_ops.preempt(world.gpu, engine->job);
		break;
	case 2: /* what it reads from now on is something else */
		memset(ram(vm, USER_BATCH + rnd(12)), 0, GHYVI_PAGE_BYTES);
		break;
	case 3:
		memset(ram(vm, RINGS), 0xff, CONTEXTS * GHYVI_PAGE_BYTES);
		break;
	}
}

static void acknowledge(struct vm *vm)
{
	unsigned int i;

	wr(vm, MASTER_IRQ, 0);
	for (i = 0; i < IRQ_BANKS; i++)
		wr(vm, IRQ_BANK_FIRST + i * IRQ_BANK_BYTES + IRQ_IIR, ~0u);
	wr(vm, MASTER_IRQ, MASTER_IRQ_ENABLE);
}

static void work(enum ghyvi_engine_id id)
{
	struct softgpu_engine *engine = &world.gpu->engines[id];

	if (!engine->job)
		return;
	acknowledge(vm_of(engine->job));
	world.executing = engine;
	softgpu_engine_work(engine);
	world.executing = NULL;
	pass_time(NSEC_PER_MSEC / 2);
}

static void store_entry(struct vm *vm)
{
	unsigned int table = tables[rnd(ARRAY_SIZE(tables))], index;

	if (run.wild && rnd(8) == 7)
		table = rnd(LAYOUT_PAGES);
	index = rnd(256);
	if (index >= 128)
		index = 512 - (index - 127);
	store_ram(vm, table, 8 * index, any_entry(table < ARRAY_SIZE(table_levels) ? table_levels[table] ?: 1 : 1));
}

static void store_image(struct vm *vm)
{
	unsigned int context = rnd(CONTEXTS), index = rnd(128);

	image(vm, context)[index] = input_take(4);
}

static void write_register(struct vm *vm)
{
	static const u32 bases[] = { GHYVI_RENDER_BASE, GHYVI_BLITTER_BASE, GHYVI_VIDEO_BASE, GHYVI_VIDEO_ENHANCE_BASE,
				     MASTER_IRQ,	TLB_INVALIDATE_FIRST, GEN_RESET, PVINFO_NOTIFY & ~0xffu };
	u32 offset = bases[rnd(ARRAY_SIZE(bases))];
	unsigned int bytes = 1u << rnd(4);

	offset += rnd(1024);
	offset &= ~(bytes - 1);
	if (rnd(4) == 3)
		ghyvi_vgpu_register_read(vm->vgpu, offset, bytes);
	else
		ghyvi_vgpu_register_write(vm->vgpu, offset, input_take(4), bytes);
}

static void notify(struct vm *vm)
{
	u32 choice = input_take(1);

	wr(vm, PVINFO_PDP0_LO, (u32)gpa(choice & 8 ? PD : PML4));
	wr(vm, PVINFO_NOTIFY, choice & 7);
}

static void reset_engines(struct vm *vm)
{
	unsigned int i;

	wr(vm, GEN_RESET, 1u << rnd(5));
	for (i = 0; i < CONTEXTS; i++)
		make_context(vm, i);
}

static void set_policy(struct vm *vm)
{
	unsigned int policy = rnd(ghyvi_shadow_policy_count);

	RULE(!ghyvi_mm_set_policy(vm->mm, ghyvi_shadow_policies[policy]->name));
}

static void set_audit(struct vm *vm)
{
	static const char *const modes[] = { "privileged", "full", "log" };
	struct ghyvi_audit *audit = ghyvi_vgpu_audit(vm->vgpu);
	struct ghyvi_audit_budget budget;
	u32 choice = input_take(1);

	RULE(!ghyvi_audit_set_mode(audit, modes[(choice & 3) % ARRAY_SIZE(modes)]));
	ghyvi_audit_budget(audit, &budget);
	budget.budget_bytes = choice & 4 ? GHYVI_AUDIT_BYTES_MIN : GHYVI_AUDIT_BYTES_DEFAULT;
	budget.budget_batches = choice & 8 ? GHYVI_AUDIT_BATCHES_MIN : GHYVI_AUDIT_BATCHES_DEFAULT;
	RULE(!ghyvi_audit_set_budget(audit, &budget));
}

static void set_sched(struct vm *vm)
{
	static const char *const policies[] = { "fair", "fifo", "band", "credit" };
	struct ghyvi_sched_knobs knobs;
	u32 choice = input_take(1);

	RULE(!ghyvi_sched_set_policy(world.sched, policies[choice & 3]));
	ghyvi_sched_knobs(ghyvi_vgpu_sched_entity(vm->vgpu), &knobs);
	knobs.cap = choice & 4 ? 10 : 0;
	knobs.priority = choice >> 3 & 7;
	RULE(!ghyvi_sched_set_knobs(ghyvi_vgpu_sched_entity(vm->vgpu), &knobs));
}

static void use_aperture(struct vm *vm)
{
	u32 choice = input_take(1);
	u64 offset = WINDOW(vm) + (choice & 0x3f) * GHYVI_PAGE_BYTES - 4;
	u8 buffer[8] = { choice };

	if (choice & 0x80)
		ghyvi_vgpu_aperture_write(vm->vgpu, offset, buffer, sizeof(buffer));
	else
		ghyvi_vgpu_aperture_read(vm->vgpu, offset, buffer, sizeof(buffer));
}

static void store_in_mirror(struct vm *vm)
{
	u32 offset = rnd(256) * 4, value;

	if (offset >= 0x100)
		offset += 0x200;
	value = input_take(4);
	if (vm->bar_off)
		return;
	memcpy((u8 *)ghyvi_vgpu_mirror(vm->vgpu) + offset, &value, 4);
	if (vm->mirror_protected)
		ghyvi_vgpu_store(vm->vgpu, BAR0_GPA + GHYVI_MIRROR_OFFSET + offset, &value, 4);
}

static void rare_move(struct vm *vm)
{
	struct ghyvi_containment containment = { .budget_ms = BUDGET_MS, .window_ms = GHYVI_VIOLATION_WINDOW_MAX_MS };

	switch (rnd(6)) {
	case 0:
		ghyvi_vgpu_reset(vm->vgpu);
		move_bar(vm, vm->bar_off);
		break;
	case 1:
		move_bar(vm, !vm->bar_off);
		break;
	case 2:
		containment.points_max = rnd(3) * 40;
		RULE(!ghyvi_vgpu_set_containment(vm->vgpu, &containment));
		break;
	case 3:
		use_aperture(vm);
		break;
	case 4:
		store_in_mirror(vm);
		break;
	default:
		start_guest(vm);
	}
}

static void begin(struct vm *vm)
{
	struct ghyvi_containment containment = { .budget_ms = BUDGET_MS, .window_ms = GHYVI_VIOLATION_WINDOW_MAX_MS };
	u32 choice = run.choice >> 4 * vm->number;
	unsigned int policy = (choice & 0xf) % ghyvi_shadow_policy_count;

	run.begun[vm->number] = true;
	RULE(!ghyvi_vgpu_set_containment(vm->vgpu, &containment));
	RULE(!ghyvi_mm_set_policy(vm->mm, ghyvi_shadow_policies[policy]->name));
	RULE(!ghyvi_audit_set_mode(ghyvi_vgpu_audit(vm->vgpu), choice & 0x10 ? "full" : "privileged"));
	ghyvi_vgpu_set_check(vm->vgpu, !run.wild);
	start_guest(vm);
}

static void move(void)
{
	u32 choice = input_take(1);
	struct vm *vm = &world.vms[choice >> 7];

	if (!run.begun[vm->number])
		begin(vm);
	switch (choice & 0x1f) {
	case 0:
	case 1:
	case 2:
	case 3:
		emit_commands(vm);
		break;
	case 4:
	case 5:
	case 6:
		submit(vm);
		break;
	case 7:
	case 8:
	case 9:
	case 10:
		work(choice & 3);
		break;
	case 11:
	case 12:
		store_entry(vm);
		break;
	case 13:
		store_ggtt(vm, (WINDOW(vm) >> GHYVI_PAGE_SHIFT) + any_data_page(), any_entry(1));
		break;
	case 14:
		wr(vm, TLB_INVALIDATE_FIRST + 4 * rnd(5), 1);
		break;
	case 15:
		pass_time(1ull << 12 << rnd(20));
		break;
	case 16:
		take_pages(vm, rnd(LAYOUT_PAGES), 1 + rnd(8));
		break;
	case 17:
		give_pages(vm);
		break;
	case 18:
		set_policy(vm);
		break;
	case 19:
		set_audit(vm);
		break;
	case 20:
		set_sched(vm);
		break;
	case 21:
		store_image(vm);
		break;
	case 22:
		write_register(vm);
		break;
	case 23:
		notify(vm);
		break;
	case 24:
		reset_engines(vm);
		break;
	case 25:
		take_pages(vm, LARGE + rnd(512), 1);
		break;
	case 26:
		rare_move(vm);
		break;
	case 27:
		make_context(vm, rnd(CONTEXTS));
		break;
	default: /* as often as anything else, so that engines do not starve */
		work(input_take(1) & 3);
	}
	settle();
}

/* What an input leaves behind is right. */
static void finish(struct vm *vm)
{
	u64 root4[4] = { gpa(PML4) };
	struct ghyvi_root *root;

	give_pages(vm);
	if (run.wild || ghyvi_vgpu_failsafe(vm->vgpu))
		return;
	root = ghyvi_mm_get_root(vm->mm, root4, 4);
	if (IS_ERR(root))
		return;
	ghyvi_mm_sync(vm->mm, root);
	RULE(!ghyvi_mm_check(vm->mm, root));
	ghyvi_mm_put_root(root);
}

static void end(struct vm *vm)
{
	if (ghyvi_vgpu_failsafe(vm->vgpu))
		RULE(!atomic64_read(&vm->stats.pinned_pages_now) && !atomic64_read(&vm->stats.protected_now));
	finish(vm);
	RULE(!atomic64_read(&vm->stats.oracle_violations));
	RULE(run.wild || !atomic64_read(&vm->stats.check_differences));
	vm_reset(vm);
	run.begun[vm->number] = false;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	static unsigned int gen8;
	unsigned int i, engine;

	input_init(data, bytes);
	run.choice = input_take(2);
	run.wild = run.choice & 0x100;
	if (world.gpu && gen8 != (run.choice >> 9 & 3))
		world_destroy();
	gen8 = run.choice >> 9 & 3;
	if (!world.gpu)
		world_create(gen8);
	for (i = 0; input.left && i < MOVES_MAX; i++)
		move();
	for (engine = 0; engine < GHYVI_ENGINES; engine++)
		for (i = 0; i < 2 * VMS; i++)
			work(engine);
	for (i = 0; i < VMS; i++)
		if (run.begun[i])
			end(&world.vms[i]);
	if (run.choice & 0x800)
		world_destroy();
	return 0;
}
