// SPDX-License-Identifier: GPL-2.0-only
/*
 * vgpu, gtt, shadow, audit, sched and softgpu together, with two guests. The checks: an engine
 * accesses only pages that are pinned for its guest; only audited commands are executed; the
 * self-check finds no difference; after a reset no page is pinned or write-protected.
 *
 * Each guest starts with a page table tree, four contexts, and a ring and batches for each context,
 * so that a single byte of input is a valid command at a valid position. Further bytes make it
 * invalid.
 *
 * Input: two bytes of choices, then moves. Bit 7 of the first byte of a move selects the guest.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include <ghyvi/multicall.h>
#include "whole_guest.h"

#define MOVES_MAX 300
#define BUDGET_MS 1

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
	state[GHYVI_CTX_RING_START] = ggtt(RINGS + context);
	state[GHYVI_CTX_RING_CTL] = (RING_BYTES - GHYVI_PAGE_BYTES) | 1;
	state[GHYVI_CTX_INDIRECT] = 0;
	state[GHYVI_CTX_PDP0_UDW] = 0;
	state[GHYVI_CTX_PDP0_LDW] =
		(u32)gpa(context == 3 ? PD : PML4); /* the last context has three levels */
	if (context == 3)
		for (unsigned int i = 1; i < 4; i++)
			state[GHYVI_CTX_PDP0_LDW - 4 * i] = (u32)gpa(PD2);
}

static u64 descriptor(struct vm *vm, unsigned int context)
{
	return (u64)(0x20 * (context + 1)) << 32 | ggtt(IMAGES + 2 * context) |
	       (context == 3 ? 0x109 : 0x119);
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
		element |= CTX_DESC_FORCE_RESTORE;
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
		store_ggtt(vm, (WINDOW >> GHYVI_PAGE_SHIFT) + i, gpa(i) | GHYVI_ENTRY_PRESENT);
		if (i >= USER_BATCH)
			store_ram(vm, PT, 8 * i, gpa(i) | flags);
	}
	store_ram(vm, PML4, 0, gpa(PDP) | flags);
	store_ram(vm, PDP, 0, gpa(PD) | flags);
	store_ram(vm, PD, 0, gpa(PT) | flags);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		base = ghyvi_engine_base(i);
		wr(vm, base + RING_HWS_PGA, ggtt(STATUS + i));
		wr(vm, base + RING_MODE, 0x80008000);
		wr(vm, base + RING_IMR, 0);
		wr(vm, base + RING_EMR, ~1u);
		wr(vm, GEN8_GT_ISR0 + i * GEN8_IRQ_BANK_SIZE + IRQ_IMR, 0);
		wr(vm, GEN8_GT_ISR0 + i * GEN8_IRQ_BANK_SIZE + IRQ_IER, ~0u);
	}
	wr(vm, GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
	for (i = 0; i < CONTEXTS; i++)
		make_context(vm, i);
}

/* moves */

/*
 * The guest handles the interrupt while the engine continues, so the guest or the host may act at
 * that moment.
 */
static void on_interrupt(struct ghyvi_hv *hv)
{
	struct softgpu_engine *engine = world.executing;
	struct vm *vm = container_of(hv, struct vm, hv);

	/* After the engine has completed the job, the interrupt comes from the device model. */
	if (!engine || !engine->job || vm_of(engine->job) != vm)
		return;
	switch (rnd(4)) {
	case 1:
		softgpu_ops.preempt(softgpu_device(world.gpu), engine->job);
		break;
	case 2: /* change the commands that the engine has not read yet */
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

	wr(vm, GEN8_MASTER_IRQ, 0);
	for (i = 0; i < GEN8_GT_IRQ_BANKS; i++)
		wr(vm, GEN8_GT_ISR0 + i * GEN8_IRQ_BANK_SIZE + IRQ_IIR, ~0u);
	wr(vm, GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
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

/* Where an entry may be stored. Returns the page, and its level in @level. */
static unsigned int any_slot(unsigned int *index, unsigned int *level)
{
	unsigned int table = tables[rnd(ARRAY_SIZE(tables))];

	if (run.wild && rnd(8) == 7)
		table = rnd(LAYOUT_PAGES);
	*index = rnd(256);
	if (*index >= 128)
		*index = 512 - (*index - 127);
	*level = table < ARRAY_SIZE(table_levels) ? table_levels[table] ?: 1 : 1;
	return table;
}

static void store_entry(struct vm *vm)
{
	unsigned int index, level, table = any_slot(&index, &level);

	store_ram(vm, table, 8 * index, any_entry(level));
}

/* The same stores, declared. A wild guest has any number of records, perhaps in a table. */
static void multicall(struct vm *vm, u32 count)
{
	unsigned int page = DATA + 1, index, level, table, i;

	if (run.wild && rnd(8) == 7)
		page = rnd(LAYOUT_PAGES);
	for (i = 0; i < count; i++) {
		table = any_slot(&index, &level);
		store_ram(vm, page, 16 * i, gpa(table) + 8 * index);
		store_ram(vm, page, 16 * i + 8, any_entry(level));
	}
	if (run.wild && rnd(8) == 7)
		count = rnd(1u << 16);
	wr(vm, PVINFO_MULTICALL_LO, (u32)gpa(page));
	wr(vm, PVINFO_NOTIFY, GHYVI_G2V_MULTICALL + count);
}

static void store_image(struct vm *vm)
{
	unsigned int context = rnd(CONTEXTS), index = rnd(128);

	image(vm, context)[index] = input_take(4);
}

static void write_register(struct vm *vm)
{
	static const u32 bases[] = { GHYVI_RENDER_BASE, GHYVI_BLITTER_BASE,
				     GHYVI_VIDEO_BASE,	GHYVI_VIDEO_ENHANCE_BASE,
				     GEN8_MASTER_IRQ,	GEN8_RTCR,
				     GEN6_GDRST,	PVINFO_NOTIFY & ~0xffu };
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

	if ((choice & 0x30) == 0x30) {
		multicall(vm, choice & 0xf);
		return;
	}
	wr(vm, PVINFO_PDP0_LO, (u32)gpa(choice & 8 ? PD : PML4));
	wr(vm, PVINFO_NOTIFY, choice & 7);
}

static void reset_engines(struct vm *vm)
{
	unsigned int i;

	wr(vm, GEN6_GDRST, 1u << rnd(5));
	for (i = 0; i < CONTEXTS; i++)
		make_context(vm, i);
}

static void set_policy(struct vm *vm)
{
	unsigned int policy = rnd(ghyvi_shadow_policy_count);

	ASSERT(!ghyvi_gtt_set_policy(vm->gtt, ghyvi_shadow_policies[policy]->name));
}

static void set_audit(struct vm *vm)
{
	static const char *const modes[] = { "privileged", "full", "log" };
	struct ghyvi_audit *audit = ghyvi_vgpu_audit(vm->vgpu);
	struct ghyvi_audit_budget budget;
	u32 choice = input_take(1);

	ASSERT(!ghyvi_audit_set_mode(audit, modes[(choice & 3) % ARRAY_SIZE(modes)]));
	ghyvi_audit_get_budget(audit, &budget);
	budget.budget_bytes = choice & 4 ? GHYVI_AUDIT_BYTES_MIN : GHYVI_AUDIT_BYTES_DEFAULT;
	budget.budget_batches = choice & 8 ? GHYVI_AUDIT_BATCHES_MIN : GHYVI_AUDIT_BATCHES_DEFAULT;
	ASSERT(!ghyvi_audit_set_budget(audit, &budget));
}

static void set_sched(struct vm *vm)
{
	static const char *const policies[] = { "fair", "fifo", "band", "credit" };
	struct ghyvi_sched_knobs knobs;
	u32 choice = input_take(1);

	ASSERT(!ghyvi_sched_set_policy(world.sched, policies[choice & 3]));
	ghyvi_sched_get_knobs(ghyvi_vgpu_sched_entity(vm->vgpu), &knobs);
	knobs.cap = choice & 4 ? 10 : 0;
	knobs.priority = choice >> 3 & 7;
	ASSERT(!ghyvi_sched_set_knobs(ghyvi_vgpu_sched_entity(vm->vgpu), &knobs));
}

static void use_aperture(struct vm *vm)
{
	u32 choice = input_take(1);
	u64 offset = WINDOW + (choice & 0x3f) * GHYVI_PAGE_BYTES - 4;
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
	offset += 0x44000; /* interrupts */
	memcpy((u8 *)ghyvi_vgpu_register_page(vm->vgpu, offset) + offset % GHYVI_PAGE_BYTES, &value,
	       4);
	if (vm->registers_protected[offset >> GHYVI_PAGE_SHIFT])
		ghyvi_vgpu_route_store(vm->vgpu, BAR0_GPA + offset, &value, 4);
}

static void rare_move(struct vm *vm)
{
	struct ghyvi_containment containment = { .budget_ms = BUDGET_MS,
						 .window_ms = GHYVI_VIOLATION_WINDOW_MAX_MS };

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
		ASSERT(!ghyvi_vgpu_set_containment(vm->vgpu, &containment));
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
	struct ghyvi_containment containment = { .budget_ms = BUDGET_MS,
						 .window_ms = GHYVI_VIOLATION_WINDOW_MAX_MS };
	u32 choice = run.choice >> 4 * vm->number;
	unsigned int policy = (choice & 0xf) % ghyvi_shadow_policy_count;

	run.begun[vm->number] = true;
	ASSERT(!ghyvi_vgpu_set_containment(vm->vgpu, &containment));
	ASSERT(!ghyvi_gtt_set_policy(vm->gtt, ghyvi_shadow_policies[policy]->name));
	ASSERT(!ghyvi_audit_set_mode(ghyvi_vgpu_audit(vm->vgpu),
				     choice & 0x10 ? "full" : "privileged"));
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
		store_ggtt(vm, (WINDOW >> GHYVI_PAGE_SHIFT) + any_data_page(), any_entry(1));
		break;
	case 14:
		wr(vm, GEN8_RTCR + 4 * rnd(5), 1);
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
	default: /* often enough that engines do not starve */
		work(input_take(1) & 3);
	}
	settle();
}

/* Checks the state at the end of the input. */
static void finish(struct vm *vm)
{
	u64 root4[4] = { gpa(PML4) };
	struct ghyvi_root *root;

	give_pages(vm);
	if (run.wild || ghyvi_vgpu_is_failsafe(vm->vgpu))
		return;
	root = ghyvi_gtt_get_root(vm->gtt, root4, 4);
	if (IS_ERR(root))
		return;
	ghyvi_gtt_sync(vm->gtt, root);
	ASSERT(!ghyvi_gtt_check(vm->gtt, root));
	ghyvi_gtt_put_root(root);
}

static void end(struct vm *vm)
{
	if (ghyvi_vgpu_is_failsafe(vm->vgpu))
		ASSERT(!atomic64_read(&vm->stats.pinned_pages_now) &&
		       !atomic64_read(&vm->stats.protected_now));
	finish(vm);
	ASSERT(!atomic64_read(&vm->stats.oracle_violations));
	ASSERT(run.wild || !atomic64_read(&vm->stats.check_differences));
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
