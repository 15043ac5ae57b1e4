// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <time.h>
#include "move_fixture.h"

u8 *move_ram;

static bool is_ram(u64 gfn)
{
	return gfn - (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT) < MOVE_RAM_PAGES;
}

static int hv_pin(struct ghyvi_hv *hv, u64 gfn, u64 *hpa)
{
	struct move_host *host = container_of(hv, struct move_host, hv);
	unsigned int page = gfn - (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT);

	host->pinned++;
	if (!is_ram(gfn))
		return -EFAULT;
	host->pins[page]++;
	*hpa = virt_to_phys(move_page(page));
	return 0;
}

static void hv_unpin(struct ghyvi_hv *hv, u64 gfn)
{
	struct move_host *host = container_of(hv, struct move_host, hv);

	assert_true(is_ram(gfn) && host->pins[gfn - (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT)]);
	host->pins[gfn - (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT)]--;
}

static u64 hv_memory_generation(struct ghyvi_hv *hv)
{
	return 1;
}

/* Table pages stay relaxed unless a test wants protection. */
static unsigned int hv_protect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	return container_of(hv, struct move_host, hv)->protects ? count : 0;
}

static void hv_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
}

static void hv_interrupt(struct ghyvi_hv *hv)
{
	container_of(hv, struct move_host, hv)->interrupts++;
}

static const struct ghyvi_hv_ops hv_ops = {
	.pin = hv_pin,
	.unpin = hv_unpin,
	.memory_generation = hv_memory_generation,
	.protect = hv_protect,
	.unprotect = hv_unprotect,
	.interrupt = hv_interrupt,
};

void move_host_begin(struct move_host *host, void (*change)(struct ghyvi_vgpu_params *params))
{
	struct ghyvi_vgpu_params params = {
		.profile = &ghyvi_profile_gen9,
		.hv = &host->hv,
		.hidden = { MOVE_WINDOW, MOVE_WINDOW_BYTES },
		.aperture_bytes = 256u << 20,
		.reporter = &host->reporter,
		.stats = &host->stats,
	};

	shim_quiet = true;
	memset(host, 0, sizeof(*host));
	if (!move_ram)
		move_ram = shim_page_alloc(MOVE_RAM_PAGES * GHYVI_PAGE_BYTES,
					   __GFP_ZERO | __GFP_NOFAIL);
	host->hv.ops = &hv_ops;
	host->dev.name = "move";
	ghyvi_reporter_init(&host->reporter, &host->dev);
	host->gpu = softgpu_create();
	assert_false(IS_ERR(host->gpu));
	host->ops = softgpu_ops;
	softgpu_device(host->gpu)->ops = &host->ops;
	host->sched = ghyvi_sched_create(softgpu_device(host->gpu));
	params.pgpu = softgpu_device(host->gpu);
	params.sched = host->sched;
	if (change)
		change(&params);
	host->vgpu = ghyvi_vgpu_create(&params);
	assert_false(IS_ERR(host->vgpu));
	ghyvi_vgpu_set_remap(host->vgpu, true);
}

void move_host_end(struct move_host *host)
{
	unsigned int i;

	ghyvi_vgpu_destroy(host->vgpu);
	ghyvi_sched_destroy(host->sched);
	softgpu_destroy(host->gpu);
	for (i = 0; i < MOVE_RAM_PAGES; i++)
		assert_int_equal(host->pins[i], 0);
	assert_int_equal(atomic64_read(&host->stats.oracle_violations), 0);
}

const char *move_report(struct move_host *host)
{
	static char text[GHYVI_REPORT_BYTES];

	ghyvi_report_last(&host->reporter, text, sizeof(text));
	return text;
}

u32 *move_page(unsigned int page)
{
	return (u32 *)(move_ram + page * (size_t)GHYVI_PAGE_BYTES);
}

static u64 entry_of(unsigned int page)
{
	return (MOVE_RAM_GPA + page * (u64)GHYVI_PAGE_BYTES) | GHYVI_ENTRY_PRESENT |
	       GHYVI_ENTRY_WRITE;
}

void move_wr(struct move_host *host, u32 offset, u32 value)
{
	ghyvi_vgpu_register_write(host->vgpu, offset, value, 4);
}

u32 move_rd(struct move_host *host, u32 offset)
{
	return ghyvi_vgpu_register_read(host->vgpu, offset, 4);
}

void move_store(struct move_host *host, u32 offset, u32 value)
{
	u8 *page = ghyvi_vgpu_register_page(host->vgpu, offset & ~(GHYVI_PAGE_BYTES - 1));

	assert_non_null(page);
	memcpy(page + offset % GHYVI_PAGE_BYTES, &value, sizeof(value));
	ghyvi_vgpu_route_store(host->vgpu, MOVE_BAR0_GPA + offset, &value, sizeof(value));
}

u64 move_descriptor(unsigned int context)
{
	return (u64)(0x20 * (context + 1)) << 32 | move_ggtt(MOVE_IMAGES + 2 * context) | 0x119;
}

static u32 *image(unsigned int context)
{
	return move_page(MOVE_IMAGES + 2 * context + 1);
}

static void make_context(unsigned int context)
{
	u32 *to = image(context);
	u64 root = MOVE_RAM_GPA + MOVE_PML4 * (u64)GHYVI_PAGE_BYTES;

	to[GHYVI_CTX_CONTROL] = 0x000f0009;
	to[GHYVI_CTX_RING_START] = move_ggtt(MOVE_RINGS + context);
	to[GHYVI_CTX_RING_CTL] = 1;
	to[GHYVI_CTX_PDP0_UDW] = upper_32_bits(root);
	to[GHYVI_CTX_PDP0_LDW] = lower_32_bits(root);
}

void move_vgpu_begin(struct move_host *host)
{
	u64 *table = ghyvi_vgpu_ggtt_table(host->vgpu);
	unsigned int i;
	u32 base;

	for (i = 0; i < MOVE_RAM_PAGES; i++)
		table[(MOVE_WINDOW >> GHYVI_PAGE_SHIFT) + i] = entry_of(i);
	ghyvi_vgpu_set_bar0(host->vgpu, MOVE_BAR0_GPA);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		base = ghyvi_engine_base(i);
		move_wr(host, base + RING_HWS_PGA, move_ggtt(MOVE_STATUS + i));
		move_wr(host, base + RING_MODE, 0x80008000);
		move_wr(host, base + RING_IMR, 0);
		move_wr(host, base + RING_EMR, ~1u);
		move_wr(host, GEN8_GT_ISR0 + i * GEN8_IRQ_BANK_SIZE + IRQ_IMR, 0);
		move_wr(host, GEN8_GT_ISR0 + i * GEN8_IRQ_BANK_SIZE + IRQ_IER, ~0u);
	}
	move_wr(host, GEN8_MASTER_IRQ, GEN8_MASTER_IRQ_CONTROL);
}

void move_guest_begin(struct move_host *host)
{
	unsigned int i;

	memset(move_ram, 0, MOVE_RAM_PAGES * GHYVI_PAGE_BYTES);
	for (i = MOVE_STATUS; i < MOVE_RAM_PAGES; i++)
		((u64 *)move_page(MOVE_PT))[i] = entry_of(i);
	*(u64 *)move_page(MOVE_PML4) = entry_of(MOVE_PDP);
	*(u64 *)move_page(MOVE_PDP) = entry_of(MOVE_PD);
	*(u64 *)move_page(MOVE_PD) = entry_of(MOVE_PT);
	move_vgpu_begin(host);
	for (i = 0; i < 4; i++)
		make_context(i);
}

static void append(u32 *page, unsigned int count, const u32 *dwords)
{
	/* The last dword of the page counts what is in use. */
	u32 *used = page + GHYVI_PAGE_BYTES / 4 - 1;

	memcpy(page + *used, dwords, 4 * count);
	*used += count;
}

void move_ring(unsigned int context, unsigned int count, const u32 *dwords)
{
	u32 *tail = &image(context)[GHYVI_CTX_RING_TAIL];

	memcpy(move_page(MOVE_RINGS + context) + *tail / 4, dwords, 4 * count);
	*tail += 4 * count;
	assert_true(*tail % 8 == 0);
}

void move_batch(unsigned int context, unsigned int count, const u32 *dwords)
{
	append(move_page(MOVE_BATCHES + context), count, dwords);
}

void move_submit(struct move_host *host, enum ghyvi_engine_id engine, unsigned int context)
{
	u32 port = ghyvi_engine_base(engine) + RING_ELSP;

	move_wr(host, port, 0);
	move_wr(host, port, 0);
	move_wr(host, port, upper_32_bits(move_descriptor(context)));
	move_wr(host, port, lower_32_bits(move_descriptor(context)));
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

void move_await(const u32 *at, u32 value)
{
	unsigned int i;

	for (i = 0; i < 50000 && READ_ONCE(*at) != value; i++)
		nap();
	assert_int_equal(READ_ONCE(*at), value);
}

void move_await_idle(struct move_host *host, enum ghyvi_engine_id engine)
{
	struct ghyvi_engine_stats *stats = ghyvi_engine_stats(&host->stats, engine);
	unsigned int i;

	for (i = 0; i < 50000 && atomic64_read(&stats->queued_now); i++)
		nap();
	assert_int_equal(atomic64_read(&stats->queued_now), 0);
}

void move_begin_waiting(struct move_host *host, enum ghyvi_engine_id engine, bool user)
{
	u32 gpr = ghyvi_engine_base(engine) + GEN8_RING_CS_GPR;

	MOVE_RING(engine, MOVE_STORE(engine, 1, 1));
	if (user)
		MOVE_RING(engine, MOVE_CALL_USER(engine));
	else
		MOVE_RING(engine, MOVE_CALL(engine));
	MOVE_RING(engine, MOVE_STORE(engine, 4, 4), MOVE_INTERRUPT);
	MOVE_BATCH(engine, MOVE_LOAD(gpr, 0x1234), 0, MOVE_STORE(engine, 2, 2),
		   MOVE_AWAIT(engine, 0, 1), MOVE_SAVE(gpr, engine, 3), MOVE_BATCH_END);
	move_submit(host, engine, engine);
	move_await(move_data(engine, 2), 2);
}

void move_end_waiting(struct move_host *host, enum ghyvi_engine_id engine)
{
	WRITE_ONCE(*move_data(engine, 0), 1);
	move_await(move_data(engine, 4), 4);
	assert_int_equal(READ_ONCE(*move_data(engine, 3)), 0x1234);
	assert_int_equal(READ_ONCE(*move_data(engine, 1)), 1);
	move_await_idle(host, engine);
	assert_int_equal(atomic64_read(&host->stats.engine_errors), 0);
}
