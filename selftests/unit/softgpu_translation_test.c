// SPDX-License-Identifier: GPL-2.0-only
/* Translation, ownership of pages, and invalidation of the software pGPU. */
#include <signal.h>

#include "softgpu_fixture.h"

static void read_only_pages_drop_writes(void **state)
{
	struct rig *rig = *state;

	rig->read_only[0] = 42;
	ring(rig, MI_STORE, ADDRESS(READ_ONLY), 1, MI_LRM, GPR(0), ADDRESS(READ_ONLY));
	ring(rig, MI_SRM, GPR(0), ADDRESS(DATA));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->read_only[0], 42);
	assert_int_equal(data32(rig, 0), 42);
}

static void write_permission_is_needed_on_every_level(void **state)
{
	struct rig *rig = *state;

	rig->pml4[DATA >> 39 & 511] &= ~GHYVI_ENTRY_WRITE;
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 0);
}

static void scratch_reads_zero_and_drops_writes(void **state)
{
	struct rig *rig = *state;

	rig->scratch[0] = 9; /* even if the page was overwritten */
	rig->data[0] = 1;
	ring(rig, MI_STORE, ADDRESS(SCRATCH + 8), 1, MI_LRM, GPR(0), ADDRESS(SCRATCH));
	ring(rig, MI_SRM, GPR(0), ADDRESS(DATA));
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->scratch[8], 0);
	assert_int_equal(data32(rig, 0), 0);
}

static void an_address_that_is_not_present_is_an_error(void **state)
{
	struct rig *rig = *state;

	ring(rig, MI_NOOP, MI_NOOP, MI_STORE, ADDRESS(HOLE), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), "0x400000 not present"));
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], 8);
	rig_reset(rig);
	ring(rig, MI_STORE | MI_GGTT, ADDRESS(HOLE_GGTT), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 0);
}

static void the_ggtt_outside_the_clients_ranges_is_an_error(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(softgpu_ops.ggtt_read(rig->client, OUTSIDE_GGTT >> 12), 0);
	ring(rig, MI_STORE | MI_GGTT, ADDRESS(OUTSIDE_GGTT), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), "outside the vGPU's ranges"));
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 0);
}

static void map_in_ggtt(struct ghyvi_pgpu_client *client, u64 address, u8 *p)
{
	u64 entry = virt_to_phys(p) | GHYVI_ENTRY_PRESENT;

	assert_int_equal(rig_map_page(client, virt_to_phys(p), GHYVI_PAGE_DATA), 0);
	softgpu_ops.ggtt_write(client, address >> 12, &entry, 1);
}

/* The jobs follow each other on one engine, whose TLB has the translations of the last client. */
static void clients_with_the_same_addresses_reach_their_own_pages(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_pgpu_client *other =
		softgpu_ops.client_create(softgpu_device(rig->gpu), &rig->params);
	u8 *page = rig_alloc(rig, 2);

	assert_false(IS_ERR(other));
	map_in_ggtt(other, RING_GGTT, rig->ring);
	map_in_ggtt(other, DATA_GGTT, page);
	map_in_ggtt(other, HOLE_GGTT, page + PAGE_SIZE);

	ring(rig, MI_STORE | MI_GGTT, ADDRESS(DATA_GGTT), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	rig->job.client = other;
	ring(rig, MI_STORE | MI_GGTT, ADDRESS(DATA_GGTT), 2);
	ring(rig, MI_STORE | MI_GGTT, ADDRESS(HOLE_GGTT), 3);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)rig->ggtt_data, 1);
	assert_int_equal(*(u32 *)page, 2);
	assert_int_equal(*(u32 *)(page + PAGE_SIZE), 3);

	rig->job.client = rig->client;
	ring(rig, MI_STORE | MI_GGTT, ADDRESS(HOLE_GGTT), 4);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(*(u32 *)(page + PAGE_SIZE), 3);
	softgpu_ops.client_destroy(other);
	assert_true(softgpu_ops.ggtt_read(rig->client, DATA_GGTT >> 12) ==
		    (virt_to_phys(rig->ggtt_data) | GHYVI_ENTRY_PRESENT));
}

static void an_access_to_a_foreign_page_is_refused_and_counted(void **state)
{
	struct rig *rig = *state;
	u8 *foreign = rig_alloc(rig, 1);

	rig_map(rig, HOLE, foreign, 1, GHYVI_ENTRY_WRITE);
	ring(rig, MI_STORE, ADDRESS(HOLE), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(foreign[0], 0);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 1);
	assert_non_null(strstr(rig_reason(rig), "oracle"));
}

static void a_table_page_is_not_a_data_page_and_vice_versa(void **state)
{
	struct rig *rig = *state;

	rig_map(rig, HOLE, rig->pml4, 1, GHYVI_ENTRY_WRITE);
	ring(rig, MI_STORE, ADDRESS(HOLE), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	rig_reset(rig);
	*(u64 *)rig->data = virt_to_phys(rig->data) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
	rig->pml4[1] = virt_to_phys(rig->data) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
	ring(rig, MI_STORE, ADDRESS(1ULL << 39), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 2);
}

static void a_page_can_be_owned_twice(void **state)
{
	struct rig *rig = *state;
	u64 bus = virt_to_phys(rig->data);

	rig_map_page(rig->client, bus, GHYVI_PAGE_DATA);
	softgpu_ops.unmap_page(rig->client, bus);
	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
}

#define LARGE (1ULL << 32)

static void large_pages_are_walked(void **state)
{
	struct rig *rig = *state;
	u8 *p = rig_large(rig, LARGE, GHYVI_ENTRY_WRITE),
	   *read_only = rig_large(rig, LARGE + GHYVI_LARGE_BYTES, 0);

	ring(rig, MI_STORE, ADDRESS(LARGE), 1, MI_STORE, ADDRESS(LARGE + 0x123008), 2, MI_STORE,
	     ADDRESS(LARGE + 0x1ffffc), 3, MI_STORE, ADDRESS(LARGE + 0x200000), 4);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)p, 1);
	assert_int_equal(*(u32 *)(p + 0x123008), 2);
	assert_int_equal(*(u32 *)(p + 0x1ffffc), 3);
	assert_int_equal(*(u32 *)read_only, 0);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 0);
}

/* Of 64 KiB pages: each 16th entry of their table counts. */
static void tables_of_64k_pages_are_walked(void **state)
{
	struct rig *rig = *state;
	u8 *p = rig_large(rig, LARGE, GHYVI_ENTRY_WRITE);

	*rig_entry(rig, 2 * LARGE) = virt_to_phys(p) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
	*rig_entry(rig, 2 * LARGE + 0x10000) = virt_to_phys(p + 0x50000) | GHYVI_ENTRY_PRESENT;
	*rig_entry(rig, 2 * LARGE + 0x3000) = virt_to_phys(p + 0x80000) | GHYVI_ENTRY_PRESENT |
					      GHYVI_ENTRY_WRITE;
	*rig_directory_entry(rig, 2 * LARGE) |= GHYVI_ENTRY_64K;
	ring(rig, MI_STORE, ADDRESS(2 * LARGE + 0x3000), 1, MI_STORE, ADDRESS(2 * LARGE + 0xfffc),
	     2);
	ring(rig, MI_STORE, ADDRESS(2 * LARGE + 0x1f000), 3);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(*(u32 *)(p + 0x3000), 1);
	assert_int_equal(*(u32 *)(p + 0xfffc), 2);
	assert_int_equal(*(u32 *)(p + 0x80000), 0);
	assert_int_equal(*(u32 *)(p + 0x5f000), 0);
	softgpu_ops.unmap_page(rig->client, virt_to_phys(p + 0x4000));
	ring(rig, MI_STORE, ADDRESS(2 * LARGE + 0x4000), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 1);
	rig_map_page(rig->client, virt_to_phys(p + 0x4000), GHYVI_PAGE_DATA);
}

/* The engine's cached owner of a page belongs to another client. */
static void the_oracle_looks_owners_up_for_each_client(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_client_params params = rig->params;
	struct ghyvi_stats stats = { 0 };

	ring(rig, MI_STORE, ADDRESS(DATA), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	params.stats = &stats;
	rig->job.client = softgpu_ops.client_create(softgpu_device(rig->gpu), &params);
	map_in_ggtt(rig->job.client, RING_GGTT, rig->ring);
	ring(rig, MI_STORE, ADDRESS(DATA), 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(data32(rig, 0), 1);
	assert_int_equal(atomic64_read(&stats.oracle_violations), 1);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 0);
	softgpu_ops.client_destroy(rig->job.client);
}

#define RECORD_BYTES (1u << SOFTGPU_OWNERS_SHIFT)

/*
 * Memory of which two pages have a record of ownership each: *@first and the page RECORD_BYTES on.
 */
static void *two_records(u8 **first)
{
	u8 *memory = shim_page_alloc(3 * RECORD_BYTES, __GFP_ZERO | __GFP_NOFAIL);

	*first = phys_to_virt((virt_to_phys(memory) | (RECORD_BYTES - 1)) + 1);
	return memory;
}

static bool has_record(struct rig *rig, const void *page)
{
	return softgpu_owners_find(softgpu_client(rig->client), virt_to_phys(page));
}

/* A balloon takes pages and gives others: what is kept must not grow with the host's memory. */
static void records_of_unmapped_pages_are_freed_by_an_invalidation(void **state)
{
	struct rig *rig = *state;
	u8 *page, *memory = two_records(&page);
	u64 hpa = virt_to_phys(page);

	rig_map_page(rig->client, hpa, GHYVI_PAGE_DATA);
	rig_map_page(rig->client, hpa, GHYVI_PAGE_DATA);
	rig_map_page(rig->client, hpa + PAGE_SIZE, GHYVI_PAGE_DATA);
	softgpu_ops.unmap_page(rig->client, hpa);
	softgpu_ops.unmap_page(rig->client, hpa + PAGE_SIZE);
	softgpu_ops.invalidate(&rig->client, 1);
	assert_true(has_record(rig, page));
	softgpu_ops.unmap_page(rig->client, hpa);
	softgpu_ops.invalidate(&rig->client, 1);
	assert_false(has_record(rig, page));
	free(memory);
}

static void a_page_that_is_mapped_again_keeps_its_record(void **state)
{
	struct rig *rig = *state;
	u8 *page, *memory = two_records(&page);
	u64 hpa = virt_to_phys(page);

	rig_map_page(rig->client, hpa, GHYVI_PAGE_DATA);
	softgpu_ops.unmap_page(rig->client, hpa);
	rig_map_page(rig->client, hpa, GHYVI_PAGE_DATA);
	softgpu_ops.invalidate(&rig->client, 1);
	assert_true(has_record(rig, page));
	softgpu_ops.unmap_page(rig->client, hpa);
	free(memory);
}

/* The job goes on while the record of a page that it used is freed, and a new one is made. */
static void an_engine_forgets_records_that_are_freed(void **state)
{
	struct rig *rig = *state;
	u64 *entry = rig_entry(rig, DATA), was = *entry;
	u8 *pages[2], *memory = two_records(&pages[0]);
	unsigned int round, i;

	pages[1] = pages[0] + RECORD_BYTES;
	rig_start_endless(rig);
	for (round = 0; round < 200; round++) {
		i = round % 2;
		rig_map_page(rig->client, virt_to_phys(pages[i]), GHYVI_PAGE_DATA);
		WRITE_ONCE(*(u32 *)pages[i], 0);
		WRITE_ONCE(*entry,
			   virt_to_phys(pages[i]) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE);
		softgpu_ops.invalidate(&rig->client, 1);
		if (round)
			softgpu_ops.unmap_page(rig->client, virt_to_phys(pages[!i]));
		while (!READ_ONCE(*(u32 *)pages[i]))
			sched_yield();
	}
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 0);
	WRITE_ONCE(*entry, was);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	rig_wait(rig);
	softgpu_ops.unmap_page(rig->client, virt_to_phys(pages[i]));
	free(memory);
}

static void the_oracle_looks_at_each_part_of_a_large_page(void **state)
{
	struct rig *rig = *state;
	u8 *p = rig_large(rig, LARGE, GHYVI_ENTRY_WRITE);
	u64 stolen = virt_to_phys(p + 0x123000);

	softgpu_ops.unmap_page(rig->client, stolen);
	ring(rig, MI_STORE, ADDRESS(LARGE + 0x122000), 1, MI_STORE, ADDRESS(LARGE + 0x124000), 2);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	ring(rig, MI_STORE, ADDRESS(LARGE + 0x123000), 3);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(*(u32 *)(p + 0x123000), 0);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 1);
	rig_map_page(rig->client, stolen, GHYVI_PAGE_DATA);
}

static void pages_of_1_gib_are_an_error(void **state)
{
	struct rig *rig = *state;
	u64 *pdp;

	rig_entry(rig, HOLE);
	pdp = phys_to_virt(rig->pml4[0] & GHYVI_SHADOW_ADDRESS_MASK);
	pdp[HOLE >> 30 & 511] |= GHYVI_ENTRY_LARGE;
	ring(rig, MI_STORE, ADDRESS(HOLE), 1);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), "1 GiB"));
}

static void three_levels_translate_32_bits(void **state)
{
	struct rig *rig = *state;
	u64 address = 0xc0001000ULL; /* the last of four PDPs */
	u8 *p = rig_ppgtt(rig, address, 1, GHYVI_ENTRY_WRITE);

	rig->job.levels = 3;
	rig->job.root = rig->pml4[0] & GHYVI_SHADOW_ADDRESS_MASK;
	ring(rig, MI_STORE, ADDRESS(address), 0x33);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(p[0], 0x33);
}

static void after_invalidate_an_old_translation_is_not_used(void **state)
{
	struct rig *rig = *state;
	u64 *entry = rig_entry(rig, DATA);
	u32 *old = (u32 *)rig->data, *new = (u32 *)(rig->data + PAGE_SIZE);
	unsigned int round;

	rig_start_endless(rig);
	for (round = 0; round < 200; round++) {
		WRITE_ONCE(*entry, virt_to_phys(new) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE);
		softgpu_ops.invalidate(&rig->client, 1);
		WRITE_ONCE(*old, 0);
		WRITE_ONCE(*new, 0);
		while (!READ_ONCE(*new))
			sched_yield();
		assert_int_equal(READ_ONCE(*old), 0);
		swap(old, new);
	}
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	rig_wait(rig);
}

/* The other client is given first, so that the engine's client is not found by chance. */
static void invalidate_covers_each_client_of_the_call(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_pgpu_client *other =
		softgpu_ops.client_create(softgpu_device(rig->gpu), &rig->params);
	struct ghyvi_pgpu_client *const clients[] = { other, rig->client };
	u64 *entry = rig_entry(rig, DATA);
	u32 *old = (u32 *)rig->data, *new = (u32 *)(rig->data + PAGE_SIZE);
	s64 generation = atomic64_read(&softgpu_client(other)->generation);
	unsigned int round;

	assert_false(IS_ERR(other));
	rig_start_endless(rig);
	for (round = 0; round < 50; round++) {
		WRITE_ONCE(*entry, virt_to_phys(new) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE);
		softgpu_ops.invalidate(clients, 2);
		WRITE_ONCE(*old, 0);
		WRITE_ONCE(*new, 0);
		while (!READ_ONCE(*new))
			sched_yield();
		assert_int_equal(READ_ONCE(*old), 0);
		swap(old, new);
	}
	assert_true(atomic64_read(&softgpu_client(other)->generation) > generation);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	rig_wait(rig);
	softgpu_ops.client_destroy(other);
}

static void invalidate_waits_for_accesses_in_flight(void **state)
{
	struct rig *rig = *state;
	u64 *entry = rig_entry(rig, DATA);
	/*
	 * A retired page is not reused, so that it shows only what the engine wrote to it before.
	 */
	u8 *pages = rig_ppgtt(rig, 0x40000000, 300, GHYVI_ENTRY_WRITE);
	u8 *old = rig->data, *new;
	unsigned int round, i;

	/*
	 * The blitter fills the page over and over. Its writes to the old page must end before the
	 * call.
	 */
	batch(rig->batch, MI_STORE, ADDRESS(DATA + 4 * PAGE_SIZE), 1, 0x54300005,
	      3 << 24 | 0xf0 << 16, 0, 0x7fff << 16 | 1024, ADDRESS(DATA), ~0u, MI_BATCH_START,
	      ADDRESS(BATCH));
	rig->job.engine = GHYVI_BCS;
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	rig_start(rig);
	while (!data32(rig, 4 * PAGE_SIZE))
		sched_yield();
	for (round = 0; round < 300; round++) {
		new = pages + round *PAGE_SIZE;
		WRITE_ONCE(*entry, virt_to_phys(new) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE);
		softgpu_ops.invalidate(&rig->client, 1);
		memset(old, 0, PAGE_SIZE);
		usleep_range(20, 20);
		for (i = 0; i < PAGE_SIZE; i++)
			assert_int_equal(old[i], 0);
		old = new;
	}
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	rig_wait(rig);
}

/* A slice of the engine that does not end, and a guest's thread that a signal stops. */
static struct {
	atomic_t slices, slice_may_end, stopped, thread_goes_on;
} held;

static void end_slice(struct ghyvi_job *job, u32 events)
{
	atomic_inc(&held.slices);
	while (!atomic_read(&held.slice_may_end))
		sched_yield();
}

static void stop_thread(int signal)
{
	atomic_set(&held.stopped, 1);
	while (!atomic_read(&held.thread_goes_on))
		sched_yield();
}

static void *invalidate_once(void *data)
{
	struct rig *rig = data;

	softgpu_ops.invalidate(&rig->client, 1);
	return NULL;
}

static void the_engine_does_not_wait_for_a_thread_in_invalidate(void **state)
{
	struct rig *rig = *state;
	const struct sigaction stop = { .sa_handler = stop_thread };
	pthread_t thread;
	int i;

	memset(&held, 0, sizeof(held));
	rig->job.event = end_slice;
	batch(rig->batch, MI_USER_INTERRUPT, MI_BATCH_START, ADDRESS(BATCH));
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	rig_start(rig);
	while (!atomic_read(&held.slices))
		sched_yield();
	assert_int_equal(sigaction(SIGUSR1, &stop, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, invalidate_once, rig), 0);
	usleep_range(50000, 50000); /* until it waits */
	/* Now a CPU quota, for example, lets the thread get no time. */
	pthread_kill(thread, SIGUSR1);
	while (!atomic_read(&held.stopped))
		sched_yield();
	atomic_set(&held.slice_may_end, 1);
	for (i = 0; i < 1000 && atomic_read(&held.slices) < 4; i++)
		usleep_range(1000, 1000);
	atomic_set(&held.thread_goes_on, 1);
	pthread_join(thread, NULL);
	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	rig_wait(rig);
	assert_true(i < 1000);
}

static void a_page_unmapped_after_invalidate_is_a_violation(void **state)
{
	struct rig *rig = *state;

	rig_start_endless(rig);
	softgpu_ops.unmap_page(rig->client, virt_to_phys(rig->data));
	softgpu_ops.invalidate(&rig->client, 1);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 1);
	rig_map_page(rig->client, virt_to_phys(rig->data), GHYVI_PAGE_DATA);
}

static void tlb_commands_make_new_entries_visible(void **state)
{
	struct rig *rig = *state;
	u64 *entry = rig_entry(rig, DATA);
	u64 new = virt_to_phys(rig->data + PAGE_SIZE) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;

	ring(rig, MI_STORE, ADDRESS(DATA), 1, MI_SEMAPHORE(4), 1, ADDRESS(DATA + 3 * PAGE_SIZE));
	ring(rig, PIPE_CONTROL, 1 << 18, 0, 0, 0, 0, MI_STORE, ADDRESS(DATA), 2);
	rig_start(rig);
	while (!data32(rig, 0))
		sched_yield();
	WRITE_ONCE(*entry, new);
	WRITE_ONCE(*(u32 *)(rig->data + 3 * PAGE_SIZE), 1);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 1);
	assert_int_equal(data32(rig, PAGE_SIZE), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(read_only_pages_drop_writes),
		RIG_TEST(write_permission_is_needed_on_every_level),
		RIG_TEST(scratch_reads_zero_and_drops_writes),
		RIG_TEST(an_address_that_is_not_present_is_an_error),
		RIG_TEST(the_ggtt_outside_the_clients_ranges_is_an_error),
		RIG_TEST(clients_with_the_same_addresses_reach_their_own_pages),
		RIG_TEST(an_access_to_a_foreign_page_is_refused_and_counted),
		RIG_TEST(a_table_page_is_not_a_data_page_and_vice_versa),
		RIG_TEST(a_page_can_be_owned_twice),
		RIG_TEST(large_pages_are_walked),
		RIG_TEST(tables_of_64k_pages_are_walked),
		RIG_TEST(the_oracle_looks_owners_up_for_each_client),
		RIG_TEST(records_of_unmapped_pages_are_freed_by_an_invalidation),
		RIG_TEST(a_page_that_is_mapped_again_keeps_its_record),
		RIG_TEST(an_engine_forgets_records_that_are_freed),
		RIG_TEST(the_oracle_looks_at_each_part_of_a_large_page),
		RIG_TEST(pages_of_1_gib_are_an_error),
		RIG_TEST(three_levels_translate_32_bits),
		RIG_TEST(after_invalidate_an_old_translation_is_not_used),
		RIG_TEST(invalidate_covers_each_client_of_the_call),
		RIG_TEST(invalidate_waits_for_accesses_in_flight),
		RIG_TEST(the_engine_does_not_wait_for_a_thread_in_invalidate),
		RIG_TEST(a_page_unmapped_after_invalidate_is_a_violation),
		RIG_TEST(tlb_commands_make_new_entries_visible),
	};

	return cmocka_run_group_tests_name("softgpu translation", tests, NULL, NULL);
}
