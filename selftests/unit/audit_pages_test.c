// SPDX-License-Identifier: GPL-2.0-only
/*
 * The iterator over copies of pages, for backends whose engines fetch commands from memory: it must
 * return exactly what ghyvi_commands_fetch() would, and in time.
 */
#include "audit_fixture.h"

#define PAGES_MAX 64

static struct ghyvi_commands_iter iter;
static struct ghyvi_commands_page pages[PAGES_MAX];
static unsigned int nr_pages;

static int setup_privileged(void **state)
{
	make_audit(9, GHYVI_RCS, "privileged");
	return 0;
}

/* Collect what the iterator returns until it has nothing more. */
static void iterate(void)
{
	for (nr_pages = 0; ghyvi_commands_iter_next(&iter, &pages[nr_pages]);)
		assert_true(++nr_pages < PAGES_MAX);
	assert_false(ghyvi_commands_iter_next(&iter, &pages[nr_pages]));
}

static void iterate_from_start(void)
{
	iter = (struct ghyvi_commands_iter){ .commands = guest.commands };
	iterate();
}

static const struct ghyvi_commands_page *page_of(enum ghyvi_fetch_source source, u64 at)
{
	const struct ghyvi_commands_page *found = NULL;
	unsigned int i;

	for (i = 0; i < nr_pages; i++) {
		if (pages[i].source != source || pages[i].pos != (at & GHYVI_PAGE_MASK))
			continue;
		assert_null(found); /* each page once */
		found = &pages[i];
	}
	return found;
}

static u32 copied(enum ghyvi_fetch_source source, u64 at)
{
	const struct ghyvi_commands_page *page = page_of(source, at);

	assert_non_null(page);
	return page->dwords[at % GHYVI_PAGE_BYTES / 4];
}

/* Everything in the ring that an engine may fetch is in a page, and equal. */
static void compare_ring(void)
{
	u32 at, dword;

	for (at = guest.submission.head; at != guest.tail; at = (at + 4) % RING_BYTES) {
		assert_int_equal(fetch(GHYVI_FETCH_RING, at, 0, &dword), 1);
		assert_int_equal(copied(GHYVI_FETCH_RING, at), dword);
	}
}

static void each_copied_page_is_returned_once(void **state)
{
	put(USER_BATCH, STORE, LO(USER_START), HI(USER_START), 1, START_USER, LO(USER_BATCH2),
	    HI(USER_BATCH2));
	put(USER_BATCH2, BATCH_END);
	put(KERNEL_BATCH, LOAD_IMM(1), 0x2600, 1, BATCH_END);
	put(KERNEL_BATCH + 0x1000, NOOP);
	fresh();
	guest.submission.indirect = KERNEL_BATCH + 0x1000;
	guest.submission.indirect_bytes = 64;
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), START_KERNEL, KERNEL_BATCH, 0);
	assert_submit_passes();
	iterate_from_start();
	assert_int_equal(nr_pages, 5);
	compare_ring();
	assert_int_equal(copied(GHYVI_FETCH_PPGTT, USER_BATCH), STORE);
	assert_int_equal(copied(GHYVI_FETCH_PPGTT, USER_BATCH2), BATCH_END);
	assert_int_equal(copied(GHYVI_FETCH_GGTT, KERNEL_BATCH), LOAD_IMM(1));
	assert_int_equal(copied(GHYVI_FETCH_INDIRECT, KERNEL_BATCH + 0x1000), NOOP);
	assert_false(pages[0].refused);
	assert_int_equal(pages[0].stop, guest.tail);
	guest.submission.indirect_bytes = 0;
}

static void copies_do_not_follow_the_guest(void **state)
{
	put(USER_BATCH, BATCH_END);
	fresh();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	submit();
	put(USER_BATCH, BAD);
	iterate_from_start();
	assert_int_equal(copied(GHYVI_FETCH_PPGTT, USER_BATCH), BATCH_END);
}

static void pages_that_are_not_audited_are_not_returned(void **state)
{
	put(USER_BATCH, BATCH_END);
	fresh();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	submit();
	iterate_from_start();
	assert_int_equal(nr_pages, 1);
	assert_null(page_of(GHYVI_FETCH_PPGTT, USER_BATCH));
}

static void an_extension_goes_on_with_its_own_pages(void **state)
{
	u32 first = 4 * 4;

	put(USER_BATCH, BATCH_END);
	fresh();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	submit();
	iterate_from_start();
	assert_int_equal(nr_pages, 2);
	/* The guest reuses the batch, and adds a request. */
	put(USER_BATCH, STORE, LO(USER_START), HI(USER_START), 2, BATCH_END);
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	assert_int_equal(ghyvi_audit_extend(guest.commands, guest.tail), 0);
	iterate();
	assert_int_equal(nr_pages, 2);
	assert_int_equal(copied(GHYVI_FETCH_PPGTT, USER_BATCH), STORE);
	assert_int_equal(copied(GHYVI_FETCH_RING, first), START_USER);
	assert_int_equal(pages[0].from, first);
	assert_int_equal(pages[0].to, guest.tail);
	/* From the start, oldest first: the engine runs the first request before the second. */
	iterate_from_start();
	assert_int_equal(nr_pages, 4);
	assert_int_equal(pages[0].from, 0);
	assert_int_equal(pages[3].from, first);
}

static void a_ring_that_wraps_is_returned_whole(void **state)
{
	unsigned int i;

	fresh();
	guest.submission.head = guest.tail = RING_BYTES - 64;
	for (i = 0; i < 32; i++)
		ring(NOOP);
	submit();
	iterate_from_start();
	assert_int_equal(nr_pages, 2);
	assert_int_equal(pages[0].from, RING_BYTES - 64);
	assert_int_equal(pages[0].to, 64);
	compare_ring();
	guest.submission.head = 0;
}

static void a_refused_command_ends_the_ring(void **state)
{
	put(KERNEL_BATCH, BAD);
	fresh();
	ring(NOOP, NOOP, START_KERNEL, KERNEL_BATCH, 0, NOOP);
	submit();
	iterate_from_start();
	assert_true(pages[0].refused);
	assert_int_equal(pages[0].stop, 8);
	assert_int_equal(pages[0].stop, stops_at());
	assert_int_equal(pages[0].to, guest.tail);
}

static void pages_tell_where_commands_begin(void **state)
{
	const struct ghyvi_commands_page *page;

	put(USER_BATCH, STORE, LO(USER_START), HI(USER_START), 1, NOOP, BATCH_END);
	fresh();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	submit();
	iterate_from_start();
	page = page_of(GHYVI_FETCH_PPGTT, USER_BATCH);
	assert_int_equal(page->starts[0][0] & 0x3f, BIT(0) | BIT(4) | BIT(5));
	assert_int_equal(page->starts[1][0], 0);
	page = page_of(GHYVI_FETCH_RING, 0);
	assert_int_equal(page->starts[0][0] & 0xf, BIT(0) | BIT(3));
}

static int setup_blitter(void **state)
{
	make_hardware_audit(GHYVI_BCS, "privileged");
	return 0;
}

static void user_batches_are_audited_where_the_engine_does_not(void **state)
{
	put(USER_BATCH, BATCH_END);
	fresh();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	submit();
	iterate_from_start();
	assert_int_equal(copied(GHYVI_FETCH_PPGTT, USER_BATCH), BATCH_END);
}

static int setup_enforced_log(void **state)
{
	make_hardware_audit(GHYVI_RCS, "log");
	return 0;
}

static void log_refuses_where_the_engine_would_execute(void **state)
{
	fresh();
	ring(NOOP, NOOP, BAD, NOOP);
	submit();
	iterate_from_start();
	assert_true(pages[0].refused);
	assert_int_equal(pages[0].stop, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_copied_page_is_returned_once),
		TEST(copies_do_not_follow_the_guest),
		cmocka_unit_test_setup_teardown(pages_that_are_not_audited_are_not_returned,
						setup_privileged, teardown),
		TEST(an_extension_goes_on_with_its_own_pages),
		TEST(pages_tell_where_commands_begin),
		cmocka_unit_test_setup_teardown(user_batches_are_audited_where_the_engine_does_not,
						setup_blitter, teardown),
		cmocka_unit_test_setup_teardown(log_refuses_where_the_engine_would_execute,
						setup_enforced_log, teardown),
		TEST(a_ring_that_wraps_is_returned_whole),
		TEST(a_refused_command_ends_the_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
