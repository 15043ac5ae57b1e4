// SPDX-License-Identifier: GPL-2.0-only
/* kernel/gen9 on the emulated GPU: pages, entries of the GGTT, TLBs. Isolation, too. */
#include <unistd.h>
#include "gen9_guest.h"
#undef RING_NOPID /* the emulator's is relative */
#include "gen9/gen9.h"

/* ---- pages ---- */

/* Behind the tail there are NOOPs, also if another client had the ring before. */
static void expect_noops_behind_the_tail(struct test_job *job)
{
	u32 ring = engine_register(job->base.engine, RING_START);
	u32 bytes = (engine_register(job->base.engine, RING_CTL) & 0x1ff000) + 4096;
	u32 offset;

	for (offset = job->tail; offset < bytes; offset += 4)
		assert_int_equal(*host_memory(ring + offset), 0);
}

static void ring_contains_no_commands_of_an_earlier_job(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct test_job *job = job_new(&guests[0], GHYVI_RCS);
		unsigned int k;

		for (k = 0; k < 500; k++)
			RINGS(job, STORE_GGTT, DATA, 0, k);
		run_once(job);
		job_free(job);
		/* The same context, then a new one that gets the same pages. */
		if (i) {
			ops->context_destroy(guests[0].context[GHYVI_RCS]);
			ops->context_destroy(guests[1].context[GHYVI_RCS]);
			guests[1].context[GHYVI_RCS] = ops->context_create(
				guests[1].client, GHYVI_RCS, IMAGE(GHYVI_RCS) + guests[1].base);
		}
		job = job_new(&guests[i], GHYVI_RCS);
		RINGS(job, STORE_GGTT, DATA + guests[i].base, 0, 1);
		run_once(job);
		expect_noops_behind_the_tail(job);
		job_free(job);
	}
	guests[0].context[GHYVI_RCS] =
		ops->context_create(guests[0].client, GHYVI_RCS, IMAGE(GHYVI_RCS));
}

/* Pages without an entry: a guest may store there, and reads it back at most itself. */
static void unmapped_addresses_are_not_shared(void **state)
{
	u64 none = 0;
	unsigned int i;

	for (i = 0; i < 2; i++)
		ops->ggtt_write(guests[i].client, (DATA + guests[i].base + 0x10000) >> 12, &none,
				1);
	for (i = 0; i < 2; i++) {
		struct test_job *job = job_new(&guests[i], GHYVI_RCS);
		u32 unmapped = DATA + guests[i].base + 0x10000;

		RINGS(job, COPY_MEM | COPY_MEM_DST_GGTT | COPY_MEM_SRC_GGTT, DATA + guests[i].base,
		      0, unmapped, 0, STORE_GGTT, unmapped, 0, 0x5ec2e7);
		*(u32 *)guest_page(&guests[i], DATA) = 1;
		run_once(job);
		assert_int_equal(at(&guests[i], DATA), 0);
		job_free(job);
	}
}

/* Read an address without an entry, then store there. Returns what was read. */
static u32 exchange_unmapped(struct guest *guest)
{
	u32 unmapped = DATA + guest->base + 0x10000, value;
	struct test_job *job = job_new(guest, GHYVI_RCS);
	u64 none = 0;

	ops->ggtt_write(guest->client, unmapped >> 12, &none, 1);
	RINGS(job, COPY_MEM | COPY_MEM_DST_GGTT | COPY_MEM_SRC_GGTT, DATA + guest->base, 0,
	      unmapped, 0, STORE_GGTT, unmapped, 0, 0x5ec2e7);
	*(u32 *)guest_page(guest, DATA) = 1;
	run_once(job);
	value = at(guest, DATA);
	job_free(job);
	return value;
}

/* Its entries need not be written again, but for those that the former client has changed. */
static void next_client_of_a_part_finds_nothing_of_the_former(void **state)
{
	const u32 first = (GUEST_GGTT + guests[0].base) >> 12;
	u64 writes, entries;
	u32 i;

	assert_int_equal(exchange_unmapped(&guests[0]), 0);
	assert_int_equal(exchange_unmapped(&guests[0]), 0x5ec2e7);
	drop_guests();
	make_guests();
	assert_int_equal(exchange_unmapped(&guests[0]), 0);

	drop_guests();
	for (i = 1; i < GUEST_PAGES; i++)
		assert_int_equal(gen9_shim_emu.ggtt[first + i], gen9_shim_emu.ggtt[first]);
	entries = gen9_shim_emu.ggtt[first];
	writes = gen9_shim_emu.ggtt_writes;
	make_guests();
	assert_in_range(gen9_shim_emu.ggtt_writes - writes, 0, 3 * GUEST_PAGES - 1);
	assert_int_not_equal(gen9_shim_emu.ggtt[first], entries); /* the guest's page */
	assert_int_equal(exchange_unmapped(&guests[0]), 0);
}

/* The vGPU stays, and with it the client, while one VM after the other uses it. */
static void reset_client_finds_nothing_of_its_former_user(void **state)
{
	assert_int_equal(exchange_unmapped(&guests[0]), 0);
	assert_int_equal(exchange_unmapped(&guests[1]), 0);
	ops->client_reset(guests[0].client);
	assert_int_equal(exchange_unmapped(&guests[0]), 0);
	assert_int_equal(exchange_unmapped(&guests[1]), 0x5ec2e7);
}

/* Windows of copies may have come in the host's part. */
static void expect_entries(const u64 *entries)
{
	unsigned int i;

	for (i = 0; i < HOST_GGTT >> 12; i++)
		assert_int_equal(gen9_shim_emu.ggtt[i], entries[i]);
}

static void ggtt_entries_are_the_clients_own(void **state)
{
	u64 *before = malloc(SOFTGPU_GGTT_ENTRIES * sizeof(u64));
	struct test_job *job;
	unsigned int i;

	memcpy(before, gen9_shim_emu.ggtt, SOFTGPU_GGTT_ENTRIES * sizeof(u64));
	for (i = 0; i < GHYVI_ENGINES; i++) {
		run_everywhere(i, DWORDS(UPDATE_GTT, DATA, 0x1000 | 1, 0));
		run_everywhere(i, DWORDS(UPDATE_GTT, DATA + GUEST_PAGES * 4096, 0x1000 | 1, 0));
		run_everywhere(i, DWORDS(UPDATE_GTT, 0xfffff000, 0x1000 | 1, 0));
	}
	expect_entries(before);
	/* After resets the entries are the same. */
	job = endless_job(&guests[0], GHYVI_RCS);
	job->base.budget_ns = 20 * NSEC_PER_MSEC;
	start(job);
	finish(job, GHYVI_JOB_ERROR);
	job_free(job);
	assert_int_equal(gen9_shim_driver->driver.pm->suspend(&pdev.dev), 0);
	memset(gen9_shim_emu.ggtt + (GUEST_GGTT >> 12), 0, GUEST_PAGES * sizeof(u64));
	assert_int_equal(gen9_shim_driver->driver.pm->resume(&pdev.dev), 0);
	expect_entries(before);
	free(before);
}

/* The self-check of a vGPU compares them (kernel/gtt/check.c). */
static void ggtt_entries_read_as_they_were_written(void **state)
{
	struct ghyvi_pgpu_client *client = guests[0].client;
	u64 index = client->params.ggtt[0].start >> 12, before = ops->ggtt_read(client, index);
	static const u64 entries[] = { 0x5000 | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE, 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		ops->ggtt_write(client, index, &entries[i], 1);
		assert_int_equal(ops->ggtt_read(client, index), entries[i]);
	}
	ops->ggtt_write(client, index, &before, 1);
	assert_int_equal(ops->ggtt_read(client, index), before);
	assert_int_equal(ops->ggtt_read(client, SOFTGPU_GGTT_ENTRIES), 0);
}

static void prefetch_behind_a_ring_hits_valid_entries(void **state)
{
	u32 modes = gen9_shim_emu.adversary.modes;
	unsigned int i, engine;

	for (i = HOST_GGTT >> 12; i < SOFTGPU_GGTT_ENTRIES; i++)
		assert_true(gen9_shim_emu.ggtt[i] & 1);
	gen9_shim_emu.adversary.modes |= BIT(EMU_PREFETCH);
	for (engine = 0; engine < GHYVI_ENGINES; engine++) {
		struct test_job *job = job_new(&guests[0], engine);

		for (i = 0; i < RING_BYTES / 16 - 1; i++)
			RINGS(job, STORE_GGTT, DATA, 0, i);
		run_once(job);
		job_free(job);
	}
	gen9_shim_emu.adversary.modes = modes;
	assert_int_equal(violations(), 0);
}

/* ---- TLBs ---- */

static u32 tlbs_written;
static bool tlb_in_use;

/* Jobs of the client have left the engine before. */
static void note_tlb(u32 offset, u32 value)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		const struct emu_engine *engine = &gen9_shim_emu.engines[i];

		if (emu_tlb_register(i) != offset || !(value & 1))
			continue;
		tlbs_written |= BIT(i);
		tlb_in_use |= engine->state != EMU_IDLE &&
			      engine->pdp[0] == (uintptr_t)guests[0].tables[0];
	}
}

static void invalidation_reaches_each_used_tlb(void **state)
{
	struct test_job *jobs[2], *ended = job_new(&guests[0], GHYVI_VCS);
	unsigned int i;

	ops->invalidate(&guests[0].client, 1);
	RINGS(ended, STORE_GGTT, DATA, 0, 1);
	run_once(ended);
	jobs[0] = waiting_job(&guests[0], GHYVI_RCS);
	jobs[1] = waiting_job(&guests[0], GHYVI_BCS);
	for (i = 0; i < 2; i++)
		start(jobs[i]);
	pump(20);
	tlbs_written = 0;
	tlb_in_use = false;
	gen9_shim_written = note_tlb;
	ops->invalidate(&guests[0].client, 1);
	gen9_shim_written = NULL;
	assert_int_equal(tlbs_written, BIT(GHYVI_RCS) | BIT(GHYVI_BCS) | BIT(GHYVI_VCS));
	assert_false(tlb_in_use);
	release_guest(&guests[0]);
	for (i = 0; i < 2; i++) {
		finish(jobs[i], GHYVI_JOB_COMPLETE);
		job_free(jobs[i]);
	}
	job_free(ended);
}

/* The entries of the GPU's table as the device has them: no address of a former client stays. */
static void client_is_moved_to_other_ranges(void **state)
{
	const u32 old = (GUEST_GGTT >> 12) + 2 * GUEST_PAGES, new = old + GUEST_PAGES;
	struct ghyvi_client_params params = guests[0].client->params;
	const struct ghyvi_range range = { (u64) new << 12, GUEST_PAGES * 4096u };
	const u64 *table = gen9_shim_emu.ggtt;
	struct ghyvi_pgpu_client *moved;
	u8 *page = (u8 *)gen9_shim_page_alloc();
	const u64 scratch = table[0]; /* the host's */
	u64 entry, own;
	dma_addr_t dma;
	unsigned int i;

	params.ggtt[0] = (struct ghyvi_range){ (u64)old << 12, GUEST_PAGES * 4096u };
	moved = ops->client_create(pgpu, &params);
	assert_false(IS_ERR(moved));
	assert_int_equal(ops->map_page(moved, (uintptr_t)page, GHYVI_PAGE_DATA, &dma), 0);
	entry = dma | 1;
	own = table[old + 1];
	assert_int_not_equal(own, scratch);
	ops->ggtt_write(moved, old, &entry, 1);
	assert_int_equal(table[old], entry);
	ops->client_set_ggtt(moved, &range, 1);
	for (i = 0; i < GUEST_PAGES; i++) {
		assert_int_equal(table[old + i], scratch);
		assert_int_equal(table[new + i], own);
	}
	ops->ggtt_write(moved, new + GUEST_PAGES - 1, &entry, 1);
	assert_int_equal(table[new + GUEST_PAGES - 1], entry);
	ops->invalidate(&moved, 1);
	ops->unmap_page(moved, dma);
	ops->client_destroy(moved);
	assert_int_equal(table[new + GUEST_PAGES - 1], own);
	gen9_shim_page_free((struct page *)page);
	expect_working_engines();
}

/* ---- clients that are created at the same time ---- */

#define PART 0x60000000u

static struct ghyvi_pgpu_client *upper_half;
static pthread_t creator;

static void *create_upper_half(void *unused)
{
	struct ghyvi_pgpu_client *client = client_of(PART + SHARE_BYTES / 2, SHARE_BYTES / 2);

	__atomic_store_n(&upper_half, client, __ATOMIC_RELEASE);
	return NULL;
}

/* Give the other thread time to complete, unless it waits for this one. */
static void let_other_thread_run(void)
{
	unsigned int ms;

	gen9_shim_preempted = NULL;
	assert_int_equal(pthread_create(&creator, NULL, create_upper_half, NULL), 0);
	for (ms = 0; ms < 500 && !__atomic_load_n(&upper_half, __ATOMIC_ACQUIRE); ms++)
		usleep(1000);
}

static void expect_one_entry(u32 first, u32 bytes)
{
	const u64 *table = gen9_shim_emu.ggtt + (first >> 12);
	unsigned int i;

	assert_int_not_equal(table[0], gen9_shim_emu.ggtt[0]); /* the host's scratch page */
	for (i = 1; i < bytes >> 12; i++)
		assert_int_equal(table[i], table[0]);
}

/* One of them drops the unused part, of which the other one has the rest. */
static void clients_divide_an_unused_part_at_the_same_time(void **state)
{
	struct ghyvi_pgpu_client *lower_half;

	upper_half = NULL;
	ops->client_destroy(client_of(PART, SHARE_BYTES));
	gen9_shim_preempted = let_other_thread_run;
	lower_half = client_of(PART, SHARE_BYTES / 2);
	pthread_join(creator, NULL);
	expect_one_entry(PART, SHARE_BYTES / 2);
	expect_one_entry(PART + SHARE_BYTES / 2, SHARE_BYTES / 2);
	assert_int_not_equal(gen9_shim_emu.ggtt[PART >> 12],
			     gen9_shim_emu.ggtt[(PART + SHARE_BYTES / 2) >> 12]);
	ops->client_destroy(upper_half);
	ops->client_destroy(lower_half);
}

/* gen9_memory_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(ring_contains_no_commands_of_an_earlier_job),
		TEST(unmapped_addresses_are_not_shared),
		TEST(next_client_of_a_part_finds_nothing_of_the_former),
		TEST(reset_client_finds_nothing_of_its_former_user),
		TEST(ggtt_entries_are_the_clients_own),
		TEST(ggtt_entries_read_as_they_were_written),
		TEST(prefetch_behind_a_ring_hits_valid_entries),
		TEST(invalidation_reaches_each_used_tlb),
		TEST(client_is_moved_to_other_ranges),
		TEST(clients_divide_an_unused_part_at_the_same_time),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
