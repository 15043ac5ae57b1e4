// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs on the guest's own tables: pages are mapped by faults while the job runs, and are unmapped
 * meanwhile.
 */
#include <linux/delay.h>
#include "softgpu_fixture.h"

#define COPY_4K(dst, src, rows)                                                                  \
	0x54c00008 | 3 << 20, 3 << 24 | 0xcc << 16 | 4096, 0, (rows) << 16 | 1024, ADDRESS(dst), \
		0, 4096, ADDRESS(src)

static int nested_setup(void **state)
{
	struct rig *rig = rig_new(9);

	rig_nest(rig);
	*state = rig;
	return 0;
}

#define NESTED_TEST(f) cmocka_unit_test_setup_teardown(f, nested_setup, rig_teardown)

#define LARGE_OF(address) ((address) & ~(u64)(GHYVI_LARGE_BYTES - 1))

static u64 *rig_nested_directory_entry(struct rig *rig, u64 address)
{
	u64 *table = rig->pml4;
	unsigned int level;

	for (level = 4; level > 2; level--)
		table = phys_to_virt(
			rig->guest_bus[table[address >> (12 + 9 * (level - 1)) & 511] >> 12]);
	return &table[address >> 21 & 511];
}

static u64 count_of(const atomic64_t *counter)
{
	return (u64)atomic64_read(counter);
}

static void no_violations(struct rig *rig)
{
	assert_int_equal(count_of(&rig->stats.oracle_violations), 0);
}

static void ring_batch_and_posts_fault_their_pages_in(void **state)
{
	struct rig *rig = *state;
	int faults;

	batch(rig->batch, MI_STORE, ADDRESS(DATA + 4), 11, MI_BATCH_START | MI_SECOND_LEVEL,
	      ADDRESS(BATCH2), MI_STORE, ADDRESS(DATA + 4096), 33, MI_BATCH_END);
	batch(rig->batch2, MI_STORE_QWORD, ADDRESS(DATA + 8), 22, 1, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_STORE | MI_GGTT, ADDRESS(DATA_GGTT), 44);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 4), 11);
	assert_int_equal(data64(rig, 8), 1ull << 32 | 22);
	assert_int_equal(data32(rig, 4096), 33);
	assert_int_equal(*(u32 *)rig->ggtt_data, 44);
	/* Ring, GGTT data, PML4, 2 x (PDP, PD, PT), two batch pages and two of data; once. */
	faults = atomic_read(&rig->faults);
	assert_int_equal(faults, 2 + 1 + 6 + 2 + 2);
	assert_int_equal(rig->nr_mapped, faults);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic_read(&rig->faults), faults);
	no_violations(rig);
}

static void entries_that_the_guest_changes_count_without_any_call(void **state)
{
	struct rig *rig = *state;
	u64 *entry = NULL;
	u64 *table = rig->pml4;
	unsigned int level;

	for (level = 4; level; level--) {
		entry = &table[DATA >> (12 + 9 * (level - 1)) & 511];
		table = (u64 *)phys_to_virt(rig->guest_bus[*entry >> 12]);
	}
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	*entry += 4096;
	ring(rig, MI_STORE, ADDRESS(DATA), 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 1);
	assert_int_equal(data32(rig, 4096), 2);
}

static void a_blit_copies_between_pages_that_fault(void **state)
{
	struct rig *rig = *state;
	unsigned int i, pages = 24, src = 32;
	int round;

	rig->job.engine = GHYVI_BCS;
	/*
	 * The second run has room for so few pages that source and destination of a copy evict each
	 * other.
	 */
	for (round = 0; round < 3; round++) {
		rig->map_limit = round == 0 ? GUEST_PAGES : round == 1 ? 12 : 7;
		for (i = 0; i < pages * 1024; i++)
			((u32 *)rig->data)[src * 1024 + i] = i * 7 + (u32)round;
		ring(rig, COPY_4K(DATA, DATA + src * 4096, pages));
		assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
		assert_memory_equal(rig->data, rig->data + src * 4096, pages * 4096);
		rig_reset(rig);
	}
	no_violations(rig);
	assert_int_equal(count_of(&rig->stats.entries_rejected), 0);
}

#define TILED_SRC 32 /* page of DATA */
#define TILED_PAGES 20 /* those of 64 rows of 1 KiB, and what a linear pitch adds */

static u8 *spare_page;
static u64 data_gfn;
static unsigned int next_moved;

static u8 *data_page(struct rig *rig, unsigned int page)
{
	return phys_to_virt(rig->guest_bus[data_gfn + page]);
}

/* With each fault another data page moves in the host. */
static void move_a_page(struct rig *rig, u64 gfn)
{
	unsigned int tries = DATA_PAGES;
	u8 *old;

	pthread_mutex_lock(&rig->gtt);
	do
		next_moved = (next_moved + 1) % DATA_PAGES;
	while (--tries && (data_gfn + next_moved == gfn || !rig->mapped[data_gfn + next_moved]));
	if (tries) {
		rig_unmap_guest(rig, data_gfn + next_moved);
		old = data_page(rig, next_moved);
		memcpy(spare_page, old, PAGE_SIZE);
		memset(old, 0xbd, PAGE_SIZE);
		rig->guest_bus[data_gfn + next_moved] = virt_to_phys(spare_page);
		spare_page = old;
	}
	pthread_mutex_unlock(&rig->gtt);
}

/* Tilings: 0 linear, 1 X, 2 Y. */
static void tiled_blit(struct rig *rig, unsigned int src, unsigned int dst, u32 rop)
{
	u32 i, n;

	rig->job.engine = GHYVI_BCS;
	for (n = 0; n < DATA_PAGES; n++)
		for (i = 0; i < 1024; i++)
			((u32 *)data_page(rig, n))[i] = (n * 1024 + i) * 0x9e3779b1u;
	ring(rig, MI_LRI(1), 0x22200, 3 << 16 | (src == 2) | (dst == 2) << 1);
	ring(rig, 0x54c00008 | 3 << 20 | (src ? 1 << 15 : 0) | (dst ? 1 << 11 : 0),
	     3 << 24 | rop << 16 | (dst ? 256 : 1028), 0, 64 << 16 | 256, ADDRESS(DATA), 0,
	     src ? 256 : 1028, ADDRESS(DATA + TILED_SRC * 4096));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	rig_reset(rig);
}

/* A blit maps several pages at once. While it does so, some of them move. */
static void a_tiled_blit_translates_its_pages_again_after_faults(void **state)
{
	static u8 expected[TILED_PAGES][PAGE_SIZE];
	struct rig *rig = *state;
	unsigned int src, dst, rop, page;
	u64 gfn;

	data_gfn = rig_gfn(rig, rig->data);
	spare_page = rig_alloc(rig, 1);
	for (src = 0; src < 3; src++)
		for (dst = 0; dst < 3; dst++)
			for (rop = 0x66; rop <= 0xcc; rop += 0x66) {
				rig->in_fault = NULL;
				tiled_blit(rig, src, dst, rop);
				tiled_blit(rig, src, dst, rop); /* without faults */
				for (page = 0; page < TILED_PAGES; page++)
					memcpy(expected[page], data_page(rig, page), PAGE_SIZE);
				pthread_mutex_lock(&rig->gtt);
				for (gfn = 0; gfn < GUEST_PAGES; gfn++)
					rig_unmap_guest(rig, gfn);
				pthread_mutex_unlock(&rig->gtt);
				rig->in_fault = move_a_page;
				tiled_blit(rig, src, dst, rop);
				for (page = 0; page < TILED_PAGES; page++)
					assert_memory_equal(data_page(rig, page), expected[page],
							    PAGE_SIZE);
			}
	no_violations(rig);
	assert_int_equal(count_of(&rig->stats.entries_rejected), 0);
}

/* The source's page moves while the engine faults on the destination's page. */
static u64 moving_gfn, asked_gfn;
static u8 *new_place;

static void move_the_source(struct rig *rig, u64 gfn)
{
	if (gfn != asked_gfn || !new_place)
		return;
	pthread_mutex_lock(&rig->gtt);
	rig_unmap_guest(rig, moving_gfn);
	memset(phys_to_virt(rig->guest_bus[moving_gfn]), 0xbd, PAGE_SIZE);
	rig->guest_bus[moving_gfn] = virt_to_phys(new_place);
	new_place = NULL;
	pthread_mutex_unlock(&rig->gtt);
}

/* Pages end within pixels, and the mask of the bits that are written goes on with the next byte. */
static void a_masked_blit_goes_on_within_a_pixel_after_a_fault(void **state)
{
	struct rig *rig = *state;
	const u32 src = 0x8001, dst = 0x1003, bytes = 0x3000;
	unsigned int i;

	for (i = 0; i < bytes; i++) {
		rig->data[src + i] = 1 + i % 251;
		rig->data[dst + i] = 0xff;
	}
	rig->job.engine = GHYVI_BCS;
	ring(rig, 0x54c00008 | 1 << 20, 3 << 24 | 0xcc << 16 | bytes, 0, 1 << 16 | bytes / 4,
	     ADDRESS(DATA + dst), 0, bytes, ADDRESS(DATA + src));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	for (i = 0; i < bytes; i++)
		assert_int_equal(rig->data[dst + i], i % 4 == 3 ? 0xff : rig->data[src + i]);
	no_violations(rig);
}

static void a_copy_translates_its_source_again_after_a_fault(void **state)
{
	struct rig *rig = *state;

	rig->job.engine = GHYVI_BCS;
	new_place = rig_alloc(rig, 1);
	memset(new_place, 0x5a, PAGE_SIZE);
	memset(rig->data + 5 * PAGE_SIZE, 0x11, PAGE_SIZE);
	moving_gfn = rig_gfn(rig, rig->data + 5 * PAGE_SIZE);
	asked_gfn = rig_gfn(rig, rig->data + 9 * PAGE_SIZE);
	rig->in_fault = move_the_source;
	ring(rig, COPY_4K(DATA + 9 * PAGE_SIZE, DATA + 5 * PAGE_SIZE, 1));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_null(new_place);
	assert_int_equal(rig->data[9 * PAGE_SIZE], 0x5a);
	assert_int_equal(rig->data[10 * PAGE_SIZE - 1], 0x5a);
	no_violations(rig);
}

static void a_walk_that_keeps_faulting_ends(void **state)
{
	struct rig *rig = *state;

	rig->map_limit = 2;
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 0);
	assert_int_equal(count_of(&rig->stats.entries_rejected), 1);
}

static void unmapped_memory_reads_zero_and_drops_writes(void **state)
{
	struct rig *rig = *state;
	u64 data = rig_gfn(rig, rig->data), pt, pd, *pdp;
	u64 *table = rig->pml4;
	u64 bus = rig->guest_bus[data];

	ring(rig, MI_LRI(1), GPR(0), 5, MI_STORE, ADDRESS(DATA), 1, MI_LRM, GPR(0), ADDRESS(DATA));
	ring(rig, MI_SRM, GPR(0), ADDRESS(DATA + 4096));
	*(u32 *)rig->data = 99;
	rig->guest_bus[data] = 0;
	memset(rig->data + 4096, 0xff, 4);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 99);
	assert_int_equal(data32(rig, 4096), 0);
	assert_int_equal(count_of(&rig->stats.entries_rejected), 1);
	assert_non_null(strstr(rig_reason(rig), "cannot be translated"));
	rig->guest_bus[data] = bus;

	/* The same holds for a table outside guest memory. */
	pdp = phys_to_virt(rig->guest_bus[table[DATA >> 39 & 511] >> 12]);
	pd = pdp[DATA >> 30 & 511] >> 12;
	table = phys_to_virt(rig->guest_bus[pd]);
	pt = table[DATA >> 21 & 511];
	table[DATA >> 21 & 511] = (u64)(GUEST_PAGES + 3) << 12 | 3;
	ring(rig, MI_STORE, ADDRESS(DATA), 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 99);
	assert_int_equal(count_of(&rig->stats.entries_rejected), 2);
	table[DATA >> 21 & 511] = pt;
	/* And a page of 1 GiB, as in shadows. */
	pdp[DATA >> 30 & 511] |= GHYVI_ENTRY_LARGE;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	ring(rig, MI_STORE, ADDRESS(DATA), 3);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 99);
	assert_int_equal(count_of(&rig->stats.entries_rejected), 3);
	no_violations(rig);
}

/* The guest's 2 MiB may be anywhere in the host, page by page. */
static void each_part_of_a_large_page_is_found_by_itself(void **state)
{
	struct rig *rig = *state;
	u64 *entry = rig_nested_directory_entry(rig, DATA),
	    first = round_up(rig->nr_guest + 1, 512);
	u8 *p = rig_alloc(rig, 2);
	int faults;

	assert_true(first + 512 < GUEST_PAGES);
	rig->guest_bus[first + 5] = virt_to_phys(p + 4096);
	rig->guest_bus[first + 6] = virt_to_phys(p);
	*entry = first << 12 | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE | GHYVI_ENTRY_LARGE;
	ring(rig, MI_STORE, ADDRESS(LARGE_OF(DATA) + 0x5004), 5, MI_STORE,
	     ADDRESS(LARGE_OF(DATA) + 0x6004), 6);
	ring(rig, MI_STORE, ADDRESS(LARGE_OF(DATA) + 0x7004), 7);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)(p + 4096 + 4), 5);
	assert_int_equal(*(u32 *)(p + 4), 6);
	assert_int_equal(count_of(&rig->stats.entries_rejected), 1);
	faults = atomic_read(&rig->faults);
	/* Only pages that faulted are mapped. */
	ring(rig, MI_STORE, ADDRESS(LARGE_OF(DATA) + 0x6008), 8);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic_read(&rig->faults), faults);
	assert_int_equal(*(u32 *)(p + 8), 8);
	no_violations(rig);
}

static void each_part_of_64k_is_found_by_itself(void **state)
{
	struct rig *rig = *state;
	u64 *entry = rig_nested_directory_entry(rig, DATA), first = round_up(rig->nr_guest + 1, 16),
	    *table;
	u8 *p = rig_alloc(rig, 2);

	assert_true(first + 16 < GUEST_PAGES);
	rig->guest_bus[first + 5] = virt_to_phys(p + 4096);
	rig->guest_bus[first + 6] = virt_to_phys(p);
	table = phys_to_virt(rig->guest_bus[*entry >> 12]);
	table[32] = first << 12 | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
	*entry |= GHYVI_ENTRY_64K;
	ring(rig, MI_STORE, ADDRESS(LARGE_OF(DATA) + 0x25004), 5, MI_STORE,
	     ADDRESS(LARGE_OF(DATA) + 0x26004), 6);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)(p + 4096 + 4), 5);
	assert_int_equal(*(u32 *)(p + 4), 6);
	no_violations(rig);
}

static void bits_beyond_the_guests_addresses_are_ignored(void **state)
{
	struct rig *rig = *state;

	rig->pml4[DATA >> 39 & 511] |= BIT_ULL(63) | BIT_ULL(45);
	ring(rig, MI_STORE, ADDRESS(DATA), 7);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 7);
}

static void nested_permissions_and_holes_equal_those_of_shadows(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_STORE, ADDRESS(READ_ONLY), 5);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)rig->read_only, 0);
	ring(rig, MI_STORE | MI_GGTT, ADDRESS(HOLE_GGTT), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	rig_reset(rig);
	ring(rig, MI_STORE | MI_GGTT, ADDRESS(OUTSIDE_GGTT), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	rig_reset(rig);
	ring(rig, MI_STORE, ADDRESS(HOLE), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	rig_reset(rig);
	rig->pml4[DATA >> 39 & 511] &= ~GHYVI_ENTRY_WRITE;
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 0);
	no_violations(rig);
}

static void three_levels_begin_at_four_directories(void **state)
{
	struct rig *rig = *state;
	u64 *pdp = phys_to_virt(rig->guest_bus[rig->pml4[0] >> 12]);

	rig->job.levels = 3;
	rig->job.guest_root[0] = (u64)(GUEST_PAGES + 1) << 12;
	rig->job.guest_root[2] = pdp[0] & GHYVI_GUEST_ADDRESS_MASK;
	ring(rig, MI_STORE, ADDRESS(0x80000000ULL + BATCH), 6, MI_STORE, ADDRESS(BATCH), 7);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->batch[0], 6);
	assert_int_equal(count_of(&rig->stats.entries_rejected), 1);
}

static void a_client_without_guest_tables_runs_no_nested_job(void **state)
{
	struct rig *rig = *state;

	softgpu_client(rig->client)->base.params.owner = NULL;
	ring(rig, MI_NOOP);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
}

/* The batch stores to DATA for ever. */
static void start_endless_stores(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < 40; i++)
		batch(rig->batch + 4 * i, MI_STORE, ADDRESS(DATA), i + 1);
	batch(rig->batch + 4 * i, MI_BATCH_START, ADDRESS(BATCH));
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	rig_start(rig);
}

static void unmapping_is_synchronous(void **state)
{
	struct rig *rig = *state;
	u64 gfn = rig_gfn(rig, rig->data), bus = rig->guest_bus[gfn];
	unsigned int i;

	start_endless_stores(rig);
	for (i = 0; i < 300; i++) {
		/*
		 * A fault that failed a moment ago may be remembered as scratch until the guest
		 * flushes again.
		 */
		while (!data32(rig, 0)) {
			softgpu_ops.invalidate(&rig->client, 1);
			usleep_range(10, 20);
		}
		pthread_mutex_lock(&rig->gtt);
		rig_unmap_guest(rig, gfn);
		/* As if the page had another owner for a while. */
		rig->guest_bus[gfn] = 0;
		memset(rig->data, 0, 4096);
		pthread_mutex_unlock(&rig->gtt);
		usleep_range(20, 30);
		assert_int_equal(data32(rig, 0), 0);
		pthread_mutex_lock(&rig->gtt);
		rig->guest_bus[gfn] = bus;
		pthread_mutex_unlock(&rig->gtt);
	}
	rig_cancel(rig);
	no_violations(rig);
}

static sem_t in_fault, go_on;

static void wait_in_fault(struct rig *rig, u64 gfn)
{
	sem_post(&in_fault);
	sem_wait(&go_on);
}

static void no_lock_is_held_in_a_fault(void **state)
{
	struct rig *rig = *state;

	sem_init(&in_fault, 0, 0);
	sem_init(&go_on, 0, 0);
	rig->in_fault = wait_in_fault;
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	rig_start(rig);
	sem_wait(&in_fault);
	rig->in_fault = NULL;
	pthread_mutex_lock(&rig->gtt);
	softgpu_ops.invalidate(&rig->client, 1);
	pthread_mutex_unlock(&rig->gtt);
	sem_post(&go_on);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 1);
}

static void wait_for_faults(struct rig *rig, int faults)
{
	while (atomic_read(&rig->faults) < faults)
		usleep_range(10, 20);
}

static void a_fault_that_ends_later_wakes_the_engine(void **state)
{
	struct rig *rig = *state;

	rig->fault_is_slow = true;
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	rig_start(rig);
	wait_for_faults(rig, 1);
	usleep_range(1000, 1100);
	assert_int_equal(atomic_read(&rig->faults), 1);
	rig->fault_is_slow = false;
	rig->fault_status = 0; /* but the page was unmapped again */
	wake_up_all(&rig->owner.faulted);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 1);
}

/* A program of the user can keep guest memory from being pinned for any time. */
static void cancelling_a_job_does_not_wait_for_its_fault(void **state)
{
	struct rig *rig = *state;

	rig->fault_is_slow = true;
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	rig_start(rig);
	wait_for_faults(rig, 1);
	rig_cancel(rig);
	assert_int_equal(rig->fault_status, -EINPROGRESS);
	assert_int_equal(data32(rig, 0), 0);
	assert_int_equal(atomic_read(&rig->faults), 1);
	/* The engine is free for others. */
	rig->fault_is_slow = false;
	rig_reset(rig);
	ring(rig, MI_STORE, ADDRESS(DATA), 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 2);
}

/* The job goes on where it was when the host has the page. */
static void a_job_that_waits_for_a_page_gives_way_at_once(void **state)
{
	struct rig *rig = *state;
	u64 waited_ns;

	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_STORE, ADDRESS(DATA + 4), 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	rig_reset(rig);
	batch(rig->batch, MI_STORE, ADDRESS(DATA + 4096), 3, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_STORE, ADDRESS(DATA + 4100), 4);
	rig->fault_is_slow = true;
	rig->faults = (atomic_t){ 0 };
	rig_start(rig);
	wait_for_faults(rig, 1);
	usleep_range(1000, 1100);
	waited_ns = ghyvi_job_waited_ns(&rig->job, ktime_get_ns());
	assert_in_range(waited_ns, NSEC_PER_MSEC, 1000 * NSEC_PER_MSEC);
	rig_preempt(rig);
	assert_int_equal(rig->fault_status, -EINPROGRESS);
	assert_in_range(rig->job.waited_ns, waited_ns, 2000 * NSEC_PER_MSEC);
	assert_int_equal(data32(rig, 4096), 0);
	rig->fault_is_slow = false;
	rig_start(rig);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 4096), 3);
	assert_int_equal(data32(rig, 4100), 4);
}

#define XOR_4K(dst, src)                                                                        \
	0x54c00008 | 3 << 20, 3 << 24 | 0x66 << 16 | 16384, 0, 1 << 16 | 4096, ADDRESS(dst), 0, \
		16384, ADDRESS(src)

/* The row has four pages. The host is slow from the fault of the third one on. */
static void be_slow_after_the_third(struct rig *rig, u64 gfn)
{
	if (gfn == rig_gfn(rig, rig->data + 2 * 4096))
		rig->fault_is_slow = true;
}

/* What is done of a band must not be done again. */
static void a_blit_that_waits_for_a_page_ends_its_band(void **state)
{
	struct rig *rig = *state;
	enum ghyvi_job_status status;

	rig->job.engine = GHYVI_BCS;
	memset(rig->data, 0x0f, 4 * 4096);
	memset(rig->data + 8 * 4096, 0x5a, 4 * 4096);
	rig->in_fault = be_slow_after_the_third;
	ring(rig, XOR_4K(DATA, DATA + 8 * 4096));
	rig_start(rig);
	while (!rig->fault_is_slow || rig->fault_status != -EINPROGRESS)
		usleep_range(10, 20);
	softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
	usleep_range(1000, 1100);
	assert_int_not_equal(sem_trywait(&rig->done), 0);
	rig->in_fault = NULL;
	rig->fault_is_slow = false;
	rig->fault_status = 0;
	wake_up_all(&rig->owner.faulted);
	status = rig_wait(rig);
	if (status == GHYVI_JOB_PREEMPTED)
		status = rig_run(rig);
	assert_int_equal(status, GHYVI_JOB_COMPLETE);
	for (u32 i = 0; i < 4 * 4096; i++)
		assert_int_equal(rig->data[i], 0x0f ^ 0x5a);
}

static void no_fault(struct ghyvi_client_owner *owner, enum ghyvi_engine_id engine, u64 gfn)
{
}

static int no_memory(struct ghyvi_client_owner *owner, enum ghyvi_engine_id engine)
{
	return -EFAULT;
}

/* Guest pages with the same number are other pages to another client. */
static void a_client_reaches_only_its_own_guest_pages(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_client_owner owner = { .fault = no_fault, .fault_status = no_memory };
	struct ghyvi_client_params params = rig->params;
	struct ghyvi_stats stats = { 0 };

	init_waitqueue_head(&owner.faulted);
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	params.stats = &stats;
	params.owner = &owner;
	rig->job.client = softgpu_ops.client_create(softgpu_device(rig->gpu), &params);
	ring(rig, MI_STORE, ADDRESS(DATA), 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 1);
	assert_int_equal(count_of(&stats.oracle_violations), 0);
	assert_true(count_of(&stats.entries_rejected) > 0);
	softgpu_ops.client_destroy(rig->job.client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NESTED_TEST(ring_batch_and_posts_fault_their_pages_in),
		NESTED_TEST(entries_that_the_guest_changes_count_without_any_call),
		NESTED_TEST(a_blit_copies_between_pages_that_fault),
		NESTED_TEST(a_tiled_blit_translates_its_pages_again_after_faults),
		NESTED_TEST(a_masked_blit_goes_on_within_a_pixel_after_a_fault),
		NESTED_TEST(a_copy_translates_its_source_again_after_a_fault),
		NESTED_TEST(a_walk_that_keeps_faulting_ends),
		NESTED_TEST(unmapped_memory_reads_zero_and_drops_writes),
		NESTED_TEST(each_part_of_a_large_page_is_found_by_itself),
		NESTED_TEST(each_part_of_64k_is_found_by_itself),
		NESTED_TEST(bits_beyond_the_guests_addresses_are_ignored),
		NESTED_TEST(nested_permissions_and_holes_equal_those_of_shadows),
		NESTED_TEST(three_levels_begin_at_four_directories),
		NESTED_TEST(a_client_without_guest_tables_runs_no_nested_job),
		NESTED_TEST(a_client_reaches_only_its_own_guest_pages),
		NESTED_TEST(unmapping_is_synchronous),
		NESTED_TEST(no_lock_is_held_in_a_fault),
		NESTED_TEST(a_fault_that_ends_later_wakes_the_engine),
		NESTED_TEST(a_job_that_waits_for_a_page_gives_way_at_once),
		NESTED_TEST(a_blit_that_waits_for_a_page_ends_its_band),
		NESTED_TEST(cancelling_a_job_does_not_wait_for_its_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
