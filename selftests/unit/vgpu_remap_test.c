// SPDX-License-Identifier: GPL-2.0-only
/*
 * The classes of pages of registers (policy/bar_remap): what the guest reads as memory is what a
 * trapped read would return, after the same writes.
 */
#include "vgpu_guest.h"
#include "vgpu/vgpu_types.h"

#define BAR0 0xf0000000ull
#define EVENT 0x100u
#define BANK(n, reg) (GEN8_GT_ISR0 + (n)*GEN8_IRQ_BANK_SIZE + (reg))

/* The guest's accesses, with the registers mapped as their classes say, or all trapped. */
static bool mapped;

static const u8 *memory_of(u32 offset)
{
	return mapped ? ghyvi_vgpu_register_page(vgpu, offset) : NULL;
}

static u32 guest_reads(u32 offset)
{
	const u8 *page = memory_of(offset);

	return page ? READ_ONCE(*(const u32 *)(page + offset % GHYVI_PAGE_BYTES)) : rd(offset);
}

/* As VFIO splits the access, or as KVM reports the store. */
static void guest_writes(u32 offset, u64 value, unsigned int bytes)
{
	unsigned int done, part;

	if (memory_of(offset)) {
		guest_stores(offset, value, bytes);
		return;
	}
	for (done = 0; done < bytes; done += part) {
		part = ghyvi_access_bytes(offset + done, bytes - done);
		ghyvi_vgpu_register_write(vgpu, offset + done, value >> 8 * done, part);
	}
}

static void begin(bool on)
{
	assert_int_equal(make_vgpu(&ghyvi_profile_gen9), 0);
	ghyvi_vgpu_set_remap(vgpu, on);
	mapped = on;
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	rd(PVINFO_MAGIC_LO);
}

static int setup_on(void **state)
{
	begin(true);
	return 0;
}

static int setup_off(void **state)
{
	begin(false);
	return 0;
}

/* classes */

static void the_table_is_in_order_and_has_reasons(void **state)
{
	const struct vgpu_page_rule *rule, *last = NULL;
	u32 offset, trapped = 0;

	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += GHYVI_PAGE_BYTES) {
		rule = vgpu_page_rule(offset);
		assert_true(strlen(rule->why) > 3);
		assert_int_equal(rule->class, ghyvi_bar_class(offset + 4092));
		if (rule->class == GHYVI_BAR_DIRECT)
			continue;
		assert_true(rule->first <= offset && offset <= rule->last);
		assert_true(!last || rule == last || (rule > last && rule->first > last->last));
		last = rule;
		trapped += rule->class == GHYVI_BAR_TRAPPED;
	}
	assert_int_equal(last->last, 0x145000);
	assert_int_equal(trapped, 2);
}

/*
 * Each register that behaves unlike storage is on a page whose stores the host sees. Stores of ones
 * find them: storage reads back as it was written.
 */
static void registers_on_direct_pages_are_storage(void **state)
{
	u32 offset;

	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4) {
		if (ghyvi_bar_class(offset) != GHYVI_BAR_DIRECT)
			continue;
		wr(offset, ~offset);
		assert_int_equal(rd(offset), ~offset);
	}
}

static void a_direct_page_is_the_register_file(void **state)
{
	s64 writes = atomic64_read(&stats.mmio_writes);

	assert_int_equal(ghyvi_bar_class(0xa180), GHYVI_BAR_DIRECT);
	assert_false(host_protects(0xa180));
	guest_writes(0xa180, 0x12345678, 4);
	assert_int_equal(vgpu_get(vgpu, 0xa180), 0x12345678);
	guest_writes(0xa181, 0xff, 1);
	assert_int_equal(rd(0xa180), 0x1234ff78);
	wr(0xa180, 5);
	assert_int_equal(guest_reads(0xa180), 5);
	assert_true(atomic64_read(&stats.mmio_writes) == writes + 1);
}

static void a_tracked_page_shows_the_value_after_a_write(void **state)
{
	static const struct {
		u32 offset, written, read;
	} cases[] = {
		{ GHYVI_RENDER_BASE + RING_MODE, 0x80008000, 0x8000 }, /* masked */
		{ GHYVI_RENDER_BASE + RING_MODE, 0x00010001, 0x8000 | 1 },
		{ GHYVI_RENDER_BASE + RING_HWS_PGA, HIDDEN_START | 0xfff, HIDDEN_START },
		{ GHYVI_RENDER_BASE + RING_ESR, ~0u, 0 }, /* read-only */
		{ GHYVI_RENDER_BASE + RING_RESET_CTL, 0x00010001,
		  RESET_CTL_REQUEST | RESET_CTL_READY }, /* answered at once */
		{ GHYVI_RENDER_BASE + RING_ELSP, ~0u, 0 }, /* write-only */
		{ GEN8_RTCR, 1, 0 }, /* clears itself */
		{ GFX_FLSH_CNTL_GEN6, 1, 0 },
		{ GEN6_PCODE_MAILBOX, GEN6_PCODE_READY | 0x500, 0x500 },
		{ SKL_DFSM, 0, 0x50200000 },
		{ HSW_PWR_WELL_CTL1 + 4, POWER_WELL_REQUESTS, ~0u },
		{ DBUF_CTL_S1, DBUF_POWER_REQUEST, DBUF_POWER_REQUEST | DBUF_POWER_STATE },
		{ LCPLL1_CTL, DBUF_POWER_REQUEST, DBUF_POWER_REQUEST | DBUF_POWER_STATE },
		{ EDP_PSR_IIR, ~0u, 0 },
		{ SDEISR + IRQ_IIR, ~0u, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(ghyvi_bar_class(cases[i].offset), GHYVI_BAR_TRACKED);
		assert_true(host_protects(cases[i].offset));
		guest_writes(cases[i].offset, cases[i].written, 4);
		assert_int_equal(guest_reads(cases[i].offset), cases[i].read);
		assert_int_equal(rd(cases[i].offset), cases[i].read);
	}
	assert_int_equal(gtt.flushes, 2);
	assert_true(atomic64_read(&stats.mmio_writes_in_kernel) == ARRAY_SIZE(cases));
}

static void a_trapped_page_has_no_memory(void **state)
{
	assert_null(ghyvi_vgpu_register_page(vgpu, GEN6_GDRST));
	assert_null(ghyvi_vgpu_register_page(vgpu, PVINFO_NOTIFY));
	assert_null(ghyvi_vgpu_register_page(vgpu, PVINFO_MAGIC_LO));
}

static void off_protects_no_page(void **state)
{
	u32 offset;

	assert_false(ghyvi_vgpu_get_remap(vgpu));
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += GHYVI_PAGE_BYTES)
		assert_false(host_protects(offset));
	assert_true(ghyvi_vgpu_try_remap(vgpu));
	assert_false(host_protects(GEN8_MASTER_IRQ));
}

/* submissions */

static void four_stores_are_one_submission(void **state)
{
	u32 elsp_at = GHYVI_RENDER_BASE + RING_ELSP;
	u64 element = descriptor(0);

	move_tail(0);
	guest_writes(elsp_at, 0, 4);
	guest_writes(elsp_at, 0, 4);
	guest_writes(elsp_at, upper_32_bits(element), 4);
	assert_false(gpu_busy(GHYVI_RCS));
	guest_writes(elsp_at, lower_32_bits(element), 4);
	assert_true(gpu_busy(GHYVI_RCS));
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(guest_reads(elsp_at), 0);
	assert_int_equal(guest_reads(GHYVI_RENDER_BASE + RING_EXECLIST_STATUS_HI),
			 upper_32_bits(element));
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(guest_reads(GHYVI_RENDER_BASE + RING_EXECLIST_STATUS_HI), 0);
	assert_true(guest_reads(GHYVI_RENDER_BASE + RING_MI_MODE) & MI_MODE_IDLE);
}

/* the clock */

static void the_clock_is_as_new_as_the_first_store_since_a_tick_or_an_interrupt(void **state)
{
	u32 at = GHYVI_RENDER_BASE + RING_TIMESTAMP;

	ghyvi_vgpu_tick(vgpu);
	gpu.clock = 10000000;
	guest_writes(0x44f00, 1, 4);
	assert_int_equal(guest_reads(at), 12000000);
	gpu.clock = 20000000;
	guest_writes(0x44f00, 1, 4);
	assert_int_equal(guest_reads(at), 12000000);
	vgpu_irq_raise(&vgpu->engines[GHYVI_RCS], EVENT);
	assert_int_equal(guest_reads(at), 24000000);
	assert_int_equal(guest_reads(GHYVI_BLITTER_BASE + RING_TIMESTAMP), 24000000);
	gpu.clock = 5000000000;
	assert_true(ghyvi_vgpu_tick(vgpu));
	assert_int_equal(guest_reads(at), (u32)6000000000ull);
	assert_int_equal(guest_reads(at + 4), 1);
	assert_int_equal(rd(at), (u32)6000000000ull); /* a trapped read is exact */
	gpu.clock++;
	assert_false(ghyvi_vgpu_tick(vgpu)); /* the guest was idle */
	guest_writes(at, 7, 4); /* read-only */
	assert_int_equal(guest_reads(at), (u32)(gpu.clock * 12 / 10));
}

static _Atomic bool stop;

#define CLOCK_ROUNDS 100

/* The lower half wraps every 13 ticks; the clock itself does not in one round. */
static void *tick_thread(void *unused)
{
	int i;

	for (i = 0; i < 200; i++) {
		gpu.clock += 0x10000001;
		ghyvi_vgpu_tick(vgpu);
	}
	stop = true;
	return NULL;
}

/* Both ways to read it: at once, and upper, lower, upper half. */
static void the_clock_never_goes_backwards(void **state)
{
	const u8 *page = ghyvi_vgpu_register_page(vgpu, GHYVI_RENDER_BASE);
	const u32 *half = (const u32 *)(page + RING_TIMESTAMP);
	bool backwards = false;
	u32 upper, lower;
	pthread_t thread;
	u64 now, last;
	int round;

	for (round = 0; round < CLOCK_ROUNDS; round++) {
		gpu.clock = last = 0;
		ghyvi_vgpu_tick(vgpu);
		stop = false;
		pthread_create(&thread, NULL, tick_thread, NULL);
		while (!stop) {
			now = READ_ONCE(*(const u64 *)half);
			backwards |= now < last;
			do {
				upper = READ_ONCE(half[1]);
				smp_mb();
				lower = READ_ONCE(half[0]);
				smp_mb();
			} while (upper != READ_ONCE(half[1]));
			last = lower | (u64)upper << 32;
			backwards |= last < now;
		}
		pthread_join(thread, NULL);
	}
	assert_false(backwards);
}

/* protection */

static void pages_are_protected_without_a_trapped_access(void **state)
{
	int sent;

	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	gtt.lives = 0;
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	host_bar.refuse = true; /* the VMM has not mapped it */
	assert_false(ghyvi_vgpu_try_remap(vgpu));
	assert_int_equal(gtt.lives, 0);
	guest_writes(GHYVI_RENDER_BASE + RING_MODE, 0x00020002, 4); /* missed */
	host_bar.refuse = false;
	assert_true(ghyvi_vgpu_try_remap(vgpu));
	assert_true(host_protects(GEN8_MASTER_IRQ));
	assert_int_equal(gtt.lives, 1);
	assert_int_equal(guest_reads(GHYVI_RENDER_BASE + RING_MODE) & 3, 2);
	assert_true(ghyvi_vgpu_try_remap(vgpu));
	assert_int_equal(gtt.lives, 1);
	/* Nothing was missed, so no interrupt is sent again. */
	guest_writes(BANK(0, IRQ_IER), ~0u, 4);
	vgpu_irq_raise(&vgpu->engines[GHYVI_RCS], EVENT);
	assert_true(vgpu->line);
	sent = atomic_read(&interrupts);
	assert_true(ghyvi_vgpu_try_remap(vgpu));
	assert_int_equal(atomic_read(&interrupts), sent);
}

/* A worker does it, whose memory is the host's. */
static void a_replay_is_charged_to_the_guest(void **state)
{
	u32 offset;

	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	host_bar.refuse = true;
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	guest_writes(GFX_FLSH_CNTL_GEN6, 1, 4); /* missed */
	for (offset = GEN8_RTCR; offset <= GEN8_VTCR; offset += 4)
		guest_writes(offset, 1, 4);
	host_bar.refuse = false;
	gtt.uncharged = 0;
	gtt.lives = gtt.flushes = 0;
	assert_true(ghyvi_vgpu_try_remap(vgpu));
	assert_int_equal(gtt.lives, 1);
	assert_int_equal(gtt.flushes, 1); /* for all of them */
	assert_int_equal(gtt.uncharged, 0);
	assert_int_equal(charged, 0);
}

static pthread_t other_vcpu;
static _Atomic int store_done;

static void *store_ier(void *unused)
{
	guest_writes(BANK(0, IRQ_IER), 2, 4);
	store_done = 1;
	return NULL;
}

static void store_during_the_replay(void)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };

	gtt.in_flush = NULL;
	pthread_create(&other_vcpu, NULL, store_ier, NULL);
	nanosleep(&pause, NULL);
	assert_int_equal(store_done, 0);
}

/* The replay may have read the register before the store, and would execute the older value. */
static void a_trapped_store_waits_for_the_replay(void **state)
{
	ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
	host_bar.refuse = true;
	ghyvi_vgpu_set_bar0(vgpu, BAR0);
	guest_writes(BANK(0, IRQ_IER), 1, 4);
	guest_writes(GFX_FLSH_CNTL_GEN6, 1, 4);
	host_bar.refuse = false;
	store_done = 0;
	gtt.in_flush = store_during_the_replay;
	assert_true(ghyvi_vgpu_try_remap(vgpu));
	assert_null(gtt.in_flush);
	pthread_join(other_vcpu, NULL);
	assert_int_equal(rd(BANK(0, IRQ_IER)), 2);
	assert_int_equal(guest_reads(BANK(0, IRQ_IER)), 2);
}

/* A store that traps proves that its own page is mapped, not the others. */
static void a_store_does_not_prove_that_all_pages_are_mapped(void **state)
{
	memset(host_bar.users, 0, sizeof(host_bar.users));
	ghyvi_vgpu_protection_lost(vgpu, host_bar.gfn, GHYVI_REGISTER_PAGES);
	host_bar.users[GHYVI_RENDER_BASE >> GHYVI_PAGE_SHIFT] = 1; /* of another user */
	guest_writes(GHYVI_RENDER_BASE + RING_MODE, 0x00020002, 4);
	assert_false(host_protects(GEN8_MASTER_IRQ));
	host_bar.users[GHYVI_RENDER_BASE >> GHYVI_PAGE_SHIFT] = 0;
	rd(PVINFO_MAGIC_LO);
	assert_true(host_protects(GEN8_MASTER_IRQ));
}

/* concurrency */

static void *store_thread(void *seed)
{
	u32 x = (u32)(long)seed, offset;
	int i;

	for (i = 0; i < 30000; i++) {
		x = x * 1664525 + 1013904223;
		offset = x >> 31 ? GHYVI_RENDER_BASE + RING_MODE :
				   BANK(x >> 29 & 3, (x >> 28 & 1) ? IRQ_IIR : IRQ_IER);
		guest_writes(offset, x, 4);
	}
	return NULL;
}

static void *event_thread(void *unused)
{
	unsigned int i = 0;

	while (!stop) {
		vgpu_irq_raise(&vgpu->engines[i % GHYVI_ENGINES], 1u << i % 16);
		i++;
		mutex_lock(&vgpu->lock);
		vgpu_update_port_regs(&vgpu->engines[i % GHYVI_ENGINES]);
		mutex_unlock(&vgpu->lock);
	}
	return NULL;
}

/*
 * Two vCPUs store to the same tracked registers while the host changes them. When all are done, the
 * memory is the register file.
 */
static void memory_agrees_after_concurrent_stores(void **state)
{
	pthread_t vcpus[2], host;
	unsigned int i;
	u32 offset;

	stop = false;
	pthread_create(&host, NULL, event_thread, NULL);
	for (i = 0; i < 2; i++)
		pthread_create(&vcpus[i], NULL, store_thread, (void *)(long)(i + 1));
	for (i = 0; i < 2; i++)
		pthread_join(vcpus[i], NULL);
	stop = true;
	pthread_join(host, NULL);
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4)
		if (ghyvi_bar_class(offset) == GHYVI_BAR_TRACKED)
			assert_int_equal(guest_reads(offset), vgpu_get(vgpu, offset));
	assert_int_equal(guest_reads(GHYVI_RENDER_BASE + RING_MODE) >> 16, 0);
}

static void *read_thread(void *bad)
{
	while (!stop)
		if (guest_reads(SKL_DFSM) != 0x50200000 || guest_reads(BANK(0, IRQ_IMR)) != ~EVENT)
			*(int *)bad = 1;
	return NULL;
}

/* Registers that no vCPU stores to are right at any time. */
static void other_registers_are_right_during_stores(void **state)
{
	pthread_t reader, vcpu;
	int bad = 0;

	guest_writes(BANK(0, IRQ_IMR), ~EVENT, 4);
	stop = false;
	pthread_create(&reader, NULL, read_thread, &bad);
	pthread_create(&vcpu, NULL, store_thread, (void *)3l);
	pthread_join(vcpu, NULL);
	stop = true;
	pthread_join(reader, NULL);
	assert_int_equal(bad, 0);
}

/* both modes */

#define OPERATIONS 1000000u
#define SEEDS 4u

/* A choice depends on the seed only, not on what was read. */
static u32 choices;

static u32 rnd_below(u32 n)
{
	choices = choices * 1664525 + 1013904223;
	return (u32)((u64)(choices >> 4) * n >> 28);
}

static bool is_clock(u32 offset)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		if ((offset & ~7u) == vgpu->engines[i].base + RING_TIMESTAMP)
			return true;
	return false;
}

/* Offsets near registers with rules, any offset of their pages, and any offset at all. */
static u32 any_offset(void)
{
	static const u32 near[] = {
		GHYVI_RENDER_BASE,
		GHYVI_VIDEO_BASE,
		GHYVI_VIDEO_ENHANCE_BASE,
		GHYVI_BLITTER_BASE,
		GEN8_MASTER_IRQ,
		GEN8_GT_ISR0,
		0x7000,
		0x7300,
		0x4260,
		GEN6_GDRST,
		PVINFO_NOTIFY,
		HSW_PWR_WELL_CTL1,
		DBUF_CTL_S1,
		LCPLL1_CTL,
		GEN6_PCODE_MAILBOX,
		GFX_FLSH_CNTL_GEN6,
		EDP_PSR_IIR,
		SDEISR,
		GEN8_FUSE2,
		0xe180,
		PVINFO_PDP0_LO,
	};
	static const u32 ring[] = {
		RING_HWS_PGA, RING_EIR, RING_MI_MODE,	  RING_RESET_CTL, RING_CONTEXT_CONTROL,
		RING_MODE,    RING_IMR, RING_CSB_POINTER, RING_EMR,	  RING_ESR,
	};
	u32 base = near[rnd_below(ARRAY_SIZE(near))];

	switch (rnd_below(8)) {
	case 0:
		return rnd_below(GHYVI_REGISTERS_BYTES);
	case 1:
		return (base & GHYVI_PAGE_MASK) + rnd_below(GHYVI_PAGE_BYTES);
	case 2:
	case 3:
		return near[rnd_below(GHYVI_ENGINES)] + ring[rnd_below(ARRAY_SIZE(ring))];
	default:
		return base + rnd_below(0x40);
	}
}

static u64 any_value(void)
{
	u64 value = rnd_below(1u << 16);

	value = value << 16 | rnd_below(1u << 16);
	switch (rnd_below(4)) {
	case 0:
		return 1ull << rnd_below(32);
	case 1:
		return HWSP(rnd_below(GHYVI_ENGINES));
	default:
		return value << 32 | value;
	}
}

static void any_write(u32 *where, unsigned int *length)
{
	unsigned int bytes = 1u << rnd_below(4);
	u32 offset = any_offset();
	u64 value = any_value();

	if (rnd_below(8))
		bytes = 4;
	if (rnd_below(16))
		offset &= ~(bytes - 1);
	/* KVM reports a store that crosses a page once for each page. */
	bytes = min(bytes, GHYVI_PAGE_BYTES - offset % GHYVI_PAGE_BYTES);
	guest_writes(offset, value, bytes);
	*where = offset;
	*length = bytes;
}

/* A submission, the end of a job, a reset, a pause: what changes registers without a write. */
static void any_event(void)
{
	static const enum ghyvi_job_status ends[] = { GHYVI_JOB_COMPLETE, GHYVI_JOB_PREEMPTED,
						      GHYVI_JOB_ERROR };
	enum ghyvi_engine_id id = rnd_below(GHYVI_ENGINES);
	u32 elsp_at = vgpu->engines[id].base + RING_ELSP;
	u32 kind = rnd_below(256), status = rnd_below(ARRAY_SIZE(ends));
	int c = rnd_below(CONTEXTS);

	if (kind < 96) {
		poke(STATE(c, GHYVI_CTX_RING_TAIL), 8 * rnd_below(512));
		guest_writes(elsp_at, 0, 4);
		guest_writes(elsp_at, 0, 4);
		guest_writes(elsp_at, upper_32_bits(descriptor(c)), 4);
		guest_writes(elsp_at, lower_32_bits(descriptor(c)), 4);
	} else if (kind < 192) {
		if (gpu_busy(id))
			finish(id, ends[status]);
	} else if (kind < 240) {
		vgpu_irq_raise(&vgpu->engines[id], 1u << rnd_below(16));
	} else if (kind < 246) {
		guest_writes(GEN6_GDRST, GEN6_GRDOM_FULL, 4);
		make_context(c);
	} else if (kind < 248) {
		ghyvi_vgpu_reset(vgpu);
	} else if (kind < 250) {
		ghyvi_vgpu_reset_under_driver(vgpu);
	} else if (kind < 253) {
		ghyvi_vgpu_set_bar0(vgpu, GHYVI_BAR_UNMAPPED);
		ghyvi_vgpu_set_bar0(vgpu, BAR0 + ((u64)rnd_below(8) << 24));
		rd(PVINFO_MAGIC_LO);
	} else {
		memset(host_bar.users, 0, sizeof(host_bar.users));
		ghyvi_vgpu_protection_lost(vgpu, host_bar.gfn, GHYVI_REGISTER_PAGES);
		rd(PVINFO_MAGIC_LO);
	}
	settle();
}

struct record {
	u32 *values;
	u32 *offsets;
	u32 count;
};

static void note(struct record *record, u32 offset)
{
	offset &= ~3u;
	if (offset >= GHYVI_REGISTERS_BYTES || is_clock(offset))
		return;
	record->offsets[record->count] = offset;
	record->values[record->count++] = guest_reads(offset);
}

#define NOTES_PER_OPERATION 5

/* Returns a hash of all registers at the end. */
static u64 play(bool on, u32 seed, struct record *record)
{
	u64 hash = 0;
	u32 i, offset;
	unsigned int bytes;

	begin(on);
	choices = seed;
	record->count = 0;
	for (i = 0; i < OPERATIONS / SEEDS; i++) {
		gpu.clock += rnd_below(1000);
		if (rnd_below(16)) {
			any_write(&offset, &bytes);
			note(record, offset);
			note(record, offset + bytes - 1);
		} else {
			any_event();
		}
		settle();
		note(record, any_offset());
		note(record, GEN8_MASTER_IRQ);
		note(record, vgpu->engines[i % GHYVI_ENGINES].base + RING_CSB_POINTER);
	}
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += 4)
		if (!is_clock(offset))
			hash = hash * 0x100000001b3ull ^ guest_reads(offset);
	ghyvi_vgpu_reset(vgpu);
	teardown(NULL);
	return hash;
}

/* Each seed is a test case of its own, with its own time limit. */
static void both_modes_read_the_same_after_the_same_writes(void **state)
{
	u32 most = OPERATIONS / SEEDS * NOTES_PER_OPERATION, seed = *(const u32 *)*state, i;
	struct record records[2];
	u64 hashes[2];
	int mode;

	for (mode = 0; mode < 2; mode++) {
		records[mode].values = calloc(most, sizeof(u32));
		records[mode].offsets = calloc(most, sizeof(u32));
		hashes[mode] = play(mode, seed, &records[mode]);
	}
	assert_int_equal(records[0].count, records[1].count);
	for (i = 0; i < records[0].count; i++)
		if (records[0].offsets[i] != records[1].offsets[i] ||
		    records[0].values[i] != records[1].values[i])
			fail_msg("seed %u, read %u: register 0x%x is 0x%x trapped, 0x%x mapped",
				 seed, i, records[0].offsets[i], records[0].values[i],
				 records[1].values[i]);
	assert_true(hashes[0] == hashes[1]);
	for (mode = 0; mode < 2; mode++) {
		free(records[mode].values);
		free(records[mode].offsets);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ON(name) cmocka_unit_test_setup_teardown(name, setup_on, teardown)
#define OFF(name) cmocka_unit_test_setup_teardown(name, setup_off, teardown)
		ON(the_table_is_in_order_and_has_reasons),
		ON(registers_on_direct_pages_are_storage),
		ON(a_direct_page_is_the_register_file),
		ON(a_tracked_page_shows_the_value_after_a_write),
		ON(a_trapped_page_has_no_memory),
		OFF(off_protects_no_page),
		ON(four_stores_are_one_submission),
		OFF(four_stores_are_one_submission),
		ON(the_clock_is_as_new_as_the_first_store_since_a_tick_or_an_interrupt),
		ON(the_clock_never_goes_backwards),
		ON(pages_are_protected_without_a_trapped_access),
		ON(a_replay_is_charged_to_the_guest),
		ON(a_trapped_store_waits_for_the_replay),
		ON(a_store_does_not_prove_that_all_pages_are_mapped),
		ON(memory_agrees_after_concurrent_stores),
		ON(other_registers_are_right_during_stores),
#define SEED(n) \
	cmocka_unit_test_prestate(both_modes_read_the_same_after_the_same_writes, &(u32){ n })
		SEED(1),
		SEED(2),
		SEED(3),
		SEED(4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
