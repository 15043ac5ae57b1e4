// SPDX-License-Identifier: GPL-2.0-only
/* The log of guest pages that a vGPU writes, with the software engines. */
#include <string.h>
#include <ghyvi/multicall.h>
#include "gtt/internal.h"
#include "move_one.h"
#include "vgpu/vgpu_types.h"

static bool dirty[MOVE_RAM_PAGES];
static u8 before[MOVE_RAM_PAGES * GHYVI_PAGE_BYTES];

static void mark(void *data, u64 gfn)
{
	assert_ptr_equal(data, &host);
	assert_true(gfn - (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT) < MOVE_RAM_PAGES);
	dirty[gfn - (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT)] = true;
}

/* Returns the number of pages that the log has. */
static unsigned int read_log(void)
{
	unsigned int i, count = 0;

	memset(dirty, 0, sizeof(dirty));
	assert_int_equal(ghyvi_gtt_log_read(ghyvi_vgpu_gtt(host.vgpu),
					    MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT, MOVE_RAM_PAGES, mark,
					    &host),
			 0);
	for (i = 0; i < MOVE_RAM_PAGES; i++)
		count += dirty[i];
	return count;
}

static void start(void)
{
	assert_int_equal(ghyvi_gtt_log_start(ghyvi_vgpu_gtt(host.vgpu)), 0);
}

static void run_job(enum ghyvi_engine_id engine, unsigned int context)
{
	move_submit(&host, engine, context);
	move_await_idle(&host, engine);
	ghyvi_vgpu_pause(host.vgpu); /* the completion has written all */
	ghyvi_vgpu_resume(host.vgpu);
}

/* Pages that have changed since @before was taken are logged, and no page that is only read is. */
static void changes_are_logged(unsigned int expected)
{
	unsigned int i, count = read_log(), changed = 0;

	for (i = 0; i < MOVE_RAM_PAGES; i++) {
		if (!memcmp(before + i * GHYVI_PAGE_BYTES, move_page(i), GHYVI_PAGE_BYTES))
			continue;
		changed++;
		if (!dirty[i])
			fail_msg("page %u is written and not logged", i);
	}
	assert_int_equal(changed, expected);
	assert_int_equal(count, expected);
}

static void exactly_what_was_written_is_logged(void **state)
{
	start();
	MOVE_RING(0, MOVE_STORE(3, 0, 1), MOVE_CALL(0), MOVE_STORE(5, 0, 1));
	MOVE_BATCH(0, MOVE_STORE(7, 1, 1), MOVE_SAVE(GHYVI_RENDER_BASE + GEN8_RING_CS_GPR, 8, 0),
		   MOVE_AWAIT(9, 0, 0), MOVE_BATCH_END);
	*move_page(MOVE_DATA + 8) = 1;
	memcpy(before, move_ram, sizeof(before));
	run_job(GHYVI_RCS, 0);
	/* Four of data, the image's register state, and the status page. */
	changes_are_logged(6);
	assert_true(dirty[MOVE_DATA + 3] && dirty[MOVE_DATA + 8] && dirty[MOVE_IMAGES + 1]);
	assert_int_equal(read_log(), 0);
}

/* Translations are cached while a job runs; the log is read meanwhile. */
static void a_later_write_to_the_same_page_is_logged_again(void **state)
{
	u32 *flag = move_page(MOVE_DATA), *done = move_page(MOVE_DATA + 1);

	start();
	MOVE_RING(0, MOVE_CALL(0));
	MOVE_BATCH(0, MOVE_STORE(1, 0, 1), MOVE_AWAIT(0, 0, 1), MOVE_STORE(1, 0, 2),
		   MOVE_AWAIT(0, 0, 2), MOVE_BATCH_END);
	move_submit(&host, GHYVI_RCS, 0);
	move_await(done, 1);
	read_log();
	assert_true(dirty[MOVE_DATA + 1]);
	assert_int_equal(read_log(), 0);
	WRITE_ONCE(*flag, 1);
	move_await(done, 2);
	assert_int_equal(read_log(), 1);
	assert_true(dirty[MOVE_DATA + 1]);
	WRITE_ONCE(*flag, 2);
	move_await_idle(&host, GHYVI_RCS);
}

static void pages_that_are_released_stay_logged(void **state)
{
	unsigned int i;

	start();
	MOVE_RING(0, MOVE_STORE(3, 0, 1));
	run_job(GHYVI_RCS, 0);
	ghyvi_gtt_unmap(ghyvi_vgpu_gtt(host.vgpu), MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT,
			MOVE_RAM_PAGES);
	for (i = 0; i < MOVE_RAM_PAGES; i++)
		assert_int_equal(host.pins[i], 0);
	assert_int_equal(read_log(), 3);
	assert_true(dirty[MOVE_DATA + 3] && dirty[MOVE_STATUS] && dirty[MOVE_IMAGES + 1]);
}

/* The host makes the stores, and the result is its own. */
static void a_multicall_is_logged(void **state)
{
	struct ghyvi_multicall_record *records = (void *)move_page(MOVE_DATA + 5);
	u64 *table = (u64 *)move_page(MOVE_PT), entry = table[MOVE_DATA];
	unsigned int policy;

	ghyvi_vgpu_set_multicall(host.vgpu, true);
	for (policy = 0; policy < 2; policy++) {
		assert_int_equal(ghyvi_gtt_set_policy(ghyvi_vgpu_gtt(host.vgpu),
						      policy ? "strict" : "segmented"),
				 0);
		run_job(GHYVI_RCS, 0);
		start();
		move_wr(&host, PVINFO_MULTICALL_LO,
			MOVE_RAM_GPA + (MOVE_DATA + 5) * GHYVI_PAGE_BYTES);
		records[0].address = MOVE_RAM_GPA + MOVE_PT * GHYVI_PAGE_BYTES + 8 * MOVE_DATA;
		records[0].value = policy ? entry : 0;
		memcpy(before, move_ram, sizeof(before));
		move_wr(&host, PVINFO_NOTIFY, GHYVI_G2V_MULTICALL + 1);
		assert_true(table[MOVE_DATA] == records[0].value);
		assert_true(records[0].address == (GHYVI_MULTICALL_DONE | 1));
		changes_are_logged(2);
		ghyvi_gtt_log_stop(ghyvi_vgpu_gtt(host.vgpu));
	}
}

static void each_policy_logs_the_same(void **state)
{
	unsigned int policy;

	for (policy = 0; policy < ghyvi_shadow_policy_count; policy++) {
		ghyvi_vgpu_reset(host.vgpu);
		move_guest_begin(&host);
		assert_int_equal(ghyvi_gtt_set_policy(ghyvi_vgpu_gtt(host.vgpu),
						      ghyvi_shadow_policies[policy]->name),
				 0);
		start();
		MOVE_RING(0, MOVE_STORE(3, 0, 1), MOVE_STORE(4, 5, 6));
		memcpy(before, move_ram, sizeof(before));
		run_job(GHYVI_RCS, 0);
		changes_are_logged(4);
		ghyvi_gtt_log_stop(ghyvi_vgpu_gtt(host.vgpu));
	}
}

static void a_part_of_the_log_is_read(void **state)
{
	struct ghyvi_gtt *gtt = ghyvi_vgpu_gtt(host.vgpu);
	u64 gfn = (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT) + MOVE_DATA;

	start();
	MOVE_RING(0, MOVE_STORE(3, 0, 1), MOVE_STORE(4, 0, 1));
	run_job(GHYVI_RCS, 0);
	memset(dirty, 0, sizeof(dirty));
	assert_int_equal(ghyvi_gtt_log_read(gtt, gfn + 4, 1, mark, &host), 0);
	assert_true(dirty[MOVE_DATA + 4] && !dirty[MOVE_DATA + 3]);
	assert_int_equal(read_log(), 3);
	assert_true(dirty[MOVE_DATA + 3]);
}

static void a_log_begins_and_ends(void **state)
{
	struct ghyvi_gtt *gtt = ghyvi_vgpu_gtt(host.vgpu);

	assert_int_equal(ghyvi_gtt_log_read(gtt, 0, 1, mark, &host), -EINVAL);
	MOVE_RING(0, MOVE_STORE(3, 0, 1));
	run_job(GHYVI_RCS, 0);
	start();
	assert_int_equal(ghyvi_gtt_log_start(gtt), -EBUSY);
	assert_int_equal(read_log(), 0); /* written before it began */
	ghyvi_gtt_log_stop(gtt);
	ghyvi_gtt_log_stop(gtt);
	assert_int_equal(ghyvi_gtt_log_read(gtt, 0, 1, mark, &host), -EINVAL);
	start();
	ghyvi_gtt_log_stop(gtt);
}

/* Memory is short while the host records a write: a report would lack that page. */
static void a_log_that_was_lost_is_not_reported(void **state)
{
	struct ghyvi_gtt *gtt = ghyvi_vgpu_gtt(host.vgpu);

	start();
	host.vgpu->gtt->log_lost = true;
	/* Any range that a user may ask for. */
	assert_int_equal(ghyvi_gtt_log_read(gtt, 0, 1ull << 52, mark, &host), -ENOMEM);
	ghyvi_gtt_log_stop(gtt);
	start();
	assert_int_equal(read_log(), 0);
}

static unsigned int calls;

static void mark_slowly(void *data, u64 gfn)
{
	struct ghyvi_shadow_tuning tuning;

	calls++;
	ghyvi_gtt_get_tuning(ghyvi_vgpu_gtt(host.vgpu), &tuning);
	mark(data, gfn);
}

/* VFIO may pin a page of the user's bitmap here. Others must not wait for that. */
static void no_lock_is_held_while_pages_are_reported(void **state)
{
	struct ghyvi_gtt *gtt = ghyvi_vgpu_gtt(host.vgpu);
	unsigned int i, count = 0;

	start();
	MOVE_RING(0, MOVE_STORE(3, 0, 1), MOVE_STORE(4, 0, 1));
	run_job(GHYVI_RCS, 0);
	mutex_lock(&gtt->lock);
	for (i = 0; i < MOVE_RAM_PAGES; i++)
		ghyvi_dirty_record(gtt, (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT) + i);
	mutex_unlock(&gtt->lock);
	memset(dirty, 0, sizeof(dirty));
	calls = 0;
	assert_int_equal(ghyvi_gtt_log_read(gtt, (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT) + 1,
					    MOVE_RAM_PAGES - 2, mark_slowly, &host),
			 0);
	for (i = 0; i < MOVE_RAM_PAGES; i++)
		count += dirty[i];
	assert_int_equal(count, MOVE_RAM_PAGES - 2);
	assert_int_equal(calls, MOVE_RAM_PAGES - 2 + 2); /* the two that an engine wrote, twice */
	assert_int_equal(read_log(), 2);
	assert_true(dirty[0] && dirty[MOVE_RAM_PAGES - 1]);
}

/* One page is reported at a time, or as many as were logged together: 32. */
static void the_last_page_of_a_range_is_reported(void **state)
{
	const u64 ram = MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT, last = round_up(ram + 1, 32);
	struct ghyvi_gtt *gtt = ghyvi_vgpu_gtt(host.vgpu);

	assert_true(last - ram < MOVE_RAM_PAGES);
	start();
	mutex_lock(&gtt->lock);
	ghyvi_dirty_record(gtt, last - 1);
	ghyvi_dirty_record(gtt, last);
	mutex_unlock(&gtt->lock);
	memset(dirty, 0, sizeof(dirty));
	assert_int_equal(ghyvi_gtt_log_read(gtt, last - 1, 2, mark, &host), 0);
	assert_true(dirty[last - 1 - ram] && dirty[last - ram]);
}

static void mark_and_release(void *data, u64 gfn)
{
	mark(data, gfn);
	ghyvi_gtt_unmap(ghyvi_vgpu_gtt(host.vgpu), MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT,
			MOVE_RAM_PAGES);
}

/* More pages than are reported at a time. */
static void pages_that_are_released_while_others_are_reported_are_not_lost(void **state)
{
	unsigned int page;

	start();
	MOVE_RING(0, MOVE_CALL(0));
	/* All but those of the first context, and the tables. */
	for (page = MOVE_IMAGES + 2; page < MOVE_RAM_PAGES; page++)
		if (page != MOVE_RINGS && page != MOVE_BATCHES)
			MOVE_BATCH(0, MOVE_STORE(page - MOVE_DATA, 0, 1));
	MOVE_BATCH(0, MOVE_BATCH_END);
	memcpy(before, move_ram, sizeof(before));
	run_job(GHYVI_RCS, 0);
	memset(dirty, 0, sizeof(dirty));
	assert_int_equal(ghyvi_gtt_log_read(ghyvi_vgpu_gtt(host.vgpu),
					    MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT, MOVE_RAM_PAGES,
					    mark_and_release, &host),
			 0);
	for (page = 0; page < MOVE_RAM_PAGES; page++)
		if (memcmp(before + page * GHYVI_PAGE_BYTES, move_page(page), GHYVI_PAGE_BYTES))
			assert_true(dirty[page]);
	assert_true(dirty[MOVE_IMAGES + 2] && dirty[MOVE_RAM_PAGES - 1]);
}

/* A blit maps pages that are contiguous at once. */
static void every_page_of_a_copy_is_logged(void **state)
{
	enum { PAGES = 4, SOURCE = 8 };

	start();
	memset(move_page(MOVE_DATA + SOURCE), 0x5a, PAGES * GHYVI_PAGE_BYTES);
	/* XY_SRC_COPY_BLT of 32-bit pixels: PAGES rows of a page each. */
	MOVE_RING(0, 2u << 29 | 0x53u << 22 | 3u << 20 | 8,
		  3u << 24 | 0xccu << 16 | GHYVI_PAGE_BYTES, 0,
		  PAGES << 16 | (u32)GHYVI_PAGE_BYTES / 4, MOVE_AT(0, 0), 0, 0, GHYVI_PAGE_BYTES,
		  MOVE_AT(SOURCE, 0), 0);
	memcpy(before, move_ram, sizeof(before));
	run_job(GHYVI_BCS, 0);
	assert_int_equal(*move_page(MOVE_DATA + PAGES - 1), 0x5a5a5a5a);
	/* The destination, the image's register state, and the status page. */
	changes_are_logged(PAGES + 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, one_setup, one_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(exactly_what_was_written_is_logged),
		TEST(a_later_write_to_the_same_page_is_logged_again),
		TEST(pages_that_are_released_stay_logged),
		TEST(a_multicall_is_logged),
		TEST(each_policy_logs_the_same),
		TEST(a_part_of_the_log_is_read),
		TEST(a_log_begins_and_ends),
		TEST(a_log_that_was_lost_is_not_reported),
		TEST(the_last_page_of_a_range_is_reported),
		TEST(no_lock_is_held_while_pages_are_reported),
		TEST(pages_that_are_released_while_others_are_reported_are_not_lost),
		TEST(every_page_of_a_copy_is_logged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
