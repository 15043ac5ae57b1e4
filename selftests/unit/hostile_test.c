// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hostile guest (selftests/guest/hostile) against the whole core in one process: device model,
 * translation, shadowing, scheduler and software pGPU. This file replaces KVM and VFIO. It finds in
 * seconds, with sanitizer reports, what takes hours in the lab.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <ghyvi/audit.h>
#include <linux/err.h>
#include "bounded.h"
#include "hostile/attack.h"
#include "hostile/runner.h"
#include "rule.h"
#include "softgpu/softgpu.h"
#include "vfio/unmap.h"
#include "vgpu/vgpu.h"

#define TRIALS_DEFAULT 60
#define RAM_GPA 0x1000000ull
#define HIDDEN_GPA 0xd0000ull
#define BAR0_GPA 0xc0000000ull
#define BAR_GFN ((BAR0_GPA + GGTT_TABLE_OFFSET) >> 12)
#define BAR_PAGES (GGTT_TABLE_BYTES >> 12)
#define REGISTERS_GFN (BAR0_GPA >> 12)
#define HIDDEN MACHINE_PAGES /* number of the page that can be hidden */
#define HIDDEN_START (256u << 20) /* of the window, in the global address space */
#define HIDDEN_BYTES (64u << 20)
#define NEIGHBOUR_PAGES 16u /* of another vGPU, at the same addresses as the window */

struct machine machine;

static struct {
	struct softgpu *gpu;
	struct ghyvi_sched *sched;
	struct ghyvi_vgpu *vgpu;
	struct ghyvi_gtt *gtt;
	struct ghyvi_unmap unmapping;
	struct ghyvi_stats stats;
	struct ghyvi_reporter reporter;
	struct device dev;
	struct ghyvi_pgpu_client *neighbour;
	u8 *neighbours_memory;
	_Atomic u32 pins[MACHINE_PAGES + 1];
	_Atomic bool protected[MACHINE_PAGES + 1], bar_protected[BAR_PAGES];
	_Atomic bool registers_protected[GHYVI_REGISTER_PAGES];
	_Atomic bool hidden, bar_off;
	_Atomic u64 generation; /* of memory */
} host;

/* ---- the hypervisor ---- */

/* Number of a page of guest memory, or -1. */
static int page_of(u64 gfn)
{
	if (gfn == HIDDEN_GPA >> 12)
		return HIDDEN;
	if (gfn < RAM_GPA >> 12 || gfn - (RAM_GPA >> 12) >= MACHINE_PAGES)
		return -1;
	return gfn - (RAM_GPA >> 12);
}

static int hv_pin(struct ghyvi_hv *hv, u64 gfn, u64 *hpa)
{
	int page = page_of(gfn);

	if (page < 0 || (page == HIDDEN && host.hidden))
		return -EFAULT;
	host.pins[page]++;
	*hpa = virt_to_phys(page_at(page));
	return 0;
}

static void hv_unpin(struct ghyvi_hv *hv, u64 gfn)
{
	ASSERT(page_of(gfn) >= 0 && host.pins[page_of(gfn)]);
	host.pins[page_of(gfn)]--;
}

static _Atomic bool *protection_of(u64 gfn)
{
	int page = page_of(gfn);

	if (page >= 0)
		return &host.protected[page];
	if (gfn >= BAR_GFN && gfn - BAR_GFN < BAR_PAGES)
		return &host.bar_protected[gfn - BAR_GFN];
	if (gfn >= REGISTERS_GFN && gfn - REGISTERS_GFN < GHYVI_REGISTER_PAGES)
		return &host.registers_protected[gfn - REGISTERS_GFN];
	return NULL;
}

static unsigned int hv_protect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		_Atomic bool *protection = protection_of(gfns[i]);

		if (!protection || (page_of(gfns[i]) < 0 && host.bar_off))
			break;
		atomic_store(protection, true);
	}
	return i;
}

static void hv_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		_Atomic bool *protection = protection_of(gfns[i]);

		if (protection)
			atomic_store(protection, false);
	}
}

static u64 hv_memory_generation(struct ghyvi_hv *hv)
{
	return host.generation;
}

static void no_interrupt(struct ghyvi_hv *hv)
{
}

static const struct ghyvi_hv_ops hv_ops = {
	.pin = hv_pin,
	.unpin = hv_unpin,
	.memory_generation = hv_memory_generation,
	.protect = hv_protect,
	.unprotect = hv_unprotect,
	.interrupt = no_interrupt,
};
static struct ghyvi_hv hv = { .ops = &hv_ops };

/* ---- the guest ---- */

/* Registers that are memory to the guest, or NULL. */
static volatile u8 *mirror_at(uint32_t offset)
{
	volatile u8 *page = NULL;

	if (offset < GHYVI_REGISTERS_BYTES)
		page = ghyvi_vgpu_register_page(host.vgpu, offset);
	return page ? page + offset % GHYVI_PAGE_BYTES : NULL;
}

uint32_t machine_read(uint32_t offset)
{
	volatile u8 *shown = mirror_at(offset & ~3u);

	if (host.bar_off)
		return ~0u;
	return shown ? *(volatile u32 *)shown :
		       (uint32_t)ghyvi_vgpu_register_read(host.vgpu, offset, 4);
}

void machine_write(uint32_t offset, uint64_t value, unsigned int bytes)
{
	volatile u8 *shown = mirror_at(offset);

	if (host.bar_off)
		return;
	if (!shown) {
		ghyvi_vgpu_register_write(host.vgpu, offset, value, bytes);
		return;
	}
	for (unsigned int i = 0; i < bytes; i++)
		shown[i] = value >> 8 * i;
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&host.registers_protected[offset >> GHYVI_PAGE_SHIFT]))
		ghyvi_vgpu_route_store(host.vgpu, BAR0_GPA + offset, &value, bytes);
}

static u64 gpa_of(const volatile void *p)
{
	const volatile u8 *byte = p, *table = (const volatile u8 *)machine.ggtt;

	if (byte >= table && byte - table < GGTT_TABLE_BYTES)
		return BAR0_GPA + GGTT_TABLE_OFFSET + (byte - table);
	ASSERT(byte >= machine.memory && byte - machine.memory < (HIDDEN + 1) * 4096l);
	if (byte - machine.memory >= HIDDEN * 4096l)
		return HIDDEN_GPA + (byte - machine.memory) % 4096;
	return RAM_GPA + (byte - machine.memory);
}

void machine_store(volatile void *to, uint64_t value, unsigned int bytes)
{
	_Atomic bool *protection = protection_of(gpa_of(to) >> 12);

	if (bytes == 8)
		*(volatile uint64_t *)to = value;
	else
		*(volatile uint32_t *)to = value;
	/* Protection that comes later finds the store in its scan. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(protection))
		ghyvi_gtt_trap(host.gtt, gpa_of(to), bytes);
}

void machine_relax(void)
{
	sched_yield();
}

void machine_hide(bool hide, bool bar)
{
	bool bar_off = hide && bar;

	host.hidden = hide;
	host.generation++;
	if (hide) {
		atomic_store(&host.protected[HIDDEN], false);
		ghyvi_gtt_protection_lost(host.gtt, HIDDEN_GPA >> 12, 1);
		/* As VFIO requires, no page of the range is pinned on return. */
		ghyvi_unmap(&host.unmapping, HIDDEN_GPA >> 12, 1, NULL);
		ASSERT(!host.pins[HIDDEN]);
	}
	if (bar_off == host.bar_off)
		return;
	host.bar_off = bar_off;
	if (bar_off) {
		for (unsigned int i = 0; i < GHYVI_REGISTER_PAGES; i++)
			atomic_store(&host.registers_protected[i], false);
		for (unsigned int i = 0; i < BAR_PAGES; i++)
			atomic_store(&host.bar_protected[i], false);
		ghyvi_gtt_protection_lost(host.gtt, BAR_GFN, BAR_PAGES);
	}
	ghyvi_vgpu_set_bar0(host.vgpu, bar_off ? GHYVI_BAR_UNMAPPED : BAR0_GPA);
	if (!bar_off)
		ASSERT(ghyvi_vgpu_try_remap(host.vgpu)); /* as kernel/vfio/remap.c */
}

/* The notification of KVM for guest frames; the memory itself stays. */
void machine_smram(unsigned int choice)
{
	atomic_store(&host.protected[HIDDEN], false);
	ghyvi_gtt_protection_lost(host.gtt, HIDDEN_GPA >> 12, 1);
}

volatile uint64_t *machine_low_page(uint64_t *gpa)
{
	*gpa = HIDDEN_GPA;
	return (volatile uint64_t *)page_at(HIDDEN);
}

volatile uint32_t *machine_hidden_page(uint64_t *gpa)
{
	*gpa = HIDDEN_GPA;
	return page_at(HIDDEN);
}

/* ---- life ---- */

/*
 * Memory of another vGPU on the same pGPU, which has the same GGTT addresses: the oracle counts
 * accesses to it.
 */
static void neighbour_make(void)
{
	static struct ghyvi_reporter reporter;
	static struct ghyvi_stats stats;
	const struct ghyvi_client_params params = {
		.ggtt = { { HIDDEN_START, NEIGHBOUR_PAGES << 12 } },
		.nr_ggtt = 1,
		.reporter = &reporter,
		.stats = &stats,
	};
	dma_addr_t dma;
	u64 entry, first = HIDDEN_START >> 12;

	host.neighbour = softgpu_ops.client_create(softgpu_device(host.gpu), &params);
	host.neighbours_memory = shim_page_alloc(NEIGHBOUR_PAGES << 12, __GFP_ZERO | __GFP_NOFAIL);
	for (unsigned int i = 0; i < NEIGHBOUR_PAGES; i++) {
		ASSERT(!softgpu_ops.map_page(host.neighbour,
					     virt_to_phys(host.neighbours_memory + (i << 12)),
					     GHYVI_PAGE_DATA, &dma));
		entry = dma | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
		softgpu_ops.ggtt_write(host.neighbour, first + i, &entry, 1);
	}
}

static void neighbour_end(void)
{
	for (unsigned int i = 0; i < NEIGHBOUR_PAGES; i++)
		softgpu_ops.unmap_page(host.neighbour,
				       virt_to_phys(host.neighbours_memory + (i << 12)));
	softgpu_ops.client_destroy(host.neighbour);
	free(host.neighbours_memory);
}

static int setup(void **state)
{
	struct ghyvi_vgpu_params params = {
		.profile = &ghyvi_profile_gen9,
		.hv = &hv,
		.hidden = { HIDDEN_START, HIDDEN_BYTES },
		.aperture_bytes = HIDDEN_START,
		.reporter = &host.reporter,
		.stats = &host.stats,
	};

	/*
	 * Otherwise one class of attacks would enter failsafe state, and the others would have no
	 * effect.
	 */
	const struct ghyvi_containment tolerant = { .points_max = 0, .window_ms = 1000 };

	memset(&host, 0, sizeof(host));
	shim_quiet = true;
	machine.memory = mmap(NULL, (HIDDEN + 1) * 4096ul, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	machine.bar0 = BAR0_GPA;
	for (unsigned int page = 0; page < MACHINE_PAGES; page++)
		machine.gpa[page] = RAM_GPA + page * 4096ull;
	ghyvi_reporter_init(&host.reporter, &host.dev);
	host.gpu = softgpu_create();
	neighbour_make();
	params.pgpu = softgpu_device(host.gpu);
	host.sched = ghyvi_sched_create(softgpu_device(host.gpu));
	params.sched = host.sched;
	host.vgpu = ghyvi_vgpu_create(&params);
	if (IS_ERR(host.vgpu))
		return -1;
	ghyvi_vgpu_set_remap(host.vgpu, true);
	ghyvi_vgpu_set_multicall(host.vgpu, true);
	ghyvi_vgpu_set_containment(host.vgpu, &tolerant);
	host.gtt = ghyvi_vgpu_gtt(host.vgpu);
	ghyvi_unmap_init(&host.unmapping, host.gtt, ghyvi_vgpu_workers(host.vgpu));
	machine.ggtt = ghyvi_vgpu_ggtt_table(host.vgpu);
	ghyvi_vgpu_set_bar0(host.vgpu, BAR0_GPA);
	return 0;
}

/* Assert that no page is pinned, tracked or owned, whatever the guest did. */
static int teardown(void **state)
{
	ghyvi_unmap_fini(&host.unmapping);
	ghyvi_vgpu_destroy(host.vgpu);
	ghyvi_sched_destroy(host.sched);
	neighbour_end();
	softgpu_destroy(host.gpu);
	for (unsigned int page = 0; page <= HIDDEN; page++)
		ASSERT(!host.pins[page] && !host.protected[page]);
	for (unsigned int i = 0; i < BAR_PAGES; i++)
		ASSERT(!host.bar_protected[i]);
	ASSERT(!atomic64_read(&host.stats.tables_now) && !atomic64_read(&host.stats.relaxed_now));
	ASSERT(!atomic64_read(&host.stats.protected_now) &&
	       !atomic64_read(&host.stats.pinned_pages_now));
	munmap(machine.memory, (HIDDEN + 1) * 4096ul);
	return 0;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* HOSTILE_TRIALS=, HOSTILE_SEED= for longer runs and other numbers. */
static void attack(const char *chosen, const char *policy)
{
	struct run run = {
		.seed = number("HOSTILE_SEED", 1),
		.trials = number("HOSTILE_TRIALS", TRIALS_DEFAULT),
		.skip = number("HOSTILE_SKIP", 0),
		.chosen = chosen,
	};

	if (getenv("HOSTILE_TRIALS"))
		bound_case(NULL); /* the caller sets the duration */
	assert_int_equal(ghyvi_gtt_set_policy(host.gtt, policy), 0);
	assert_int_equal(run_attacks(&run), 0);
	assert_int_equal(atomic64_read(&host.stats.oracle_violations), 0);
}

static void all_batches_audited(void **state)
{
	assert_int_equal(ghyvi_audit_set_mode(ghyvi_vgpu_audit(host.vgpu), "full"), 0);
	attack("k-", "segmented");
}

/* Attacks that depend on the time of a sync, under each policy. */
static void tables_under(const char *policy)
{
	static const char *const classes[] = { "b-", "c-", "d-", "e-", "g-", "i-", "multicall" };

	for (unsigned int i = 0; i < ARRAY_SIZE(classes); i++)
		attack(classes[i], policy);
}

#define UNDER(policy)                                   \
	static void tables_under_##policy(void **state) \
	{                                               \
		tables_under(#policy);                  \
	}
UNDER(strict)
UNDER(full)
UNDER(static)
UNDER(dynamic)
UNDER(segmented)
UNDER(oos)
UNDER(adaptive)
UNDER(nested)

#define ATTACK(test, class)                 \
	static void test(void **state)      \
	{                                   \
		attack(class, "segmented"); \
	}
ATTACK(toctou, "a-")
ATTACK(foreign_pages, "f-")
ATTACK(scan, "h-")
ATTACK(exhaust, "j-")
ATTACK(commands, "k-")
ATTACK(infinite, "l-")
ATTACK(schedule, "m-")
ATTACK(registers, "registers")
ATTACK(submit_port, "submit-port")
ATTACK(context_image, "context-image")
ATTACK(ring, "ring")
ATTACK(multicall, "multicall")

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(toctou),
		TEST(foreign_pages),
		TEST(scan),
		TEST(exhaust),
		TEST(commands),
		TEST(all_batches_audited),
		TEST(infinite),
		TEST(schedule),
		TEST(registers),
		TEST(submit_port),
		TEST(context_image),
		TEST(ring),
		TEST(multicall),
		TEST(tables_under_strict),
		TEST(tables_under_full),
		TEST(tables_under_static),
		TEST(tables_under_dynamic),
		TEST(tables_under_segmented),
		TEST(tables_under_oos),
		TEST(tables_under_adaptive),
		TEST(tables_under_nested),
	};

	cmocka_set_test_filter(getenv("HOSTILE_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
