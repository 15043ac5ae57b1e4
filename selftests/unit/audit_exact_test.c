// SPDX-License-Identifier: GPL-2.0-only
/* The text of refusal reports, and what ghyvi_commands_fetch() returns, dword by dword. */
#include "audit_fixture.h"

static void assert_told(const char *text, const char *dump)
{
	static char dumped[1024];
	struct seq_file m = { fmemopen(dumped, sizeof(dumped), "w") };

	ghyvi_audit_dump(guest.audit, &m);
	fclose(m.f);
	if (!strstr(last(), text))
		fail_msg("%s, not %s", last(), text);
	if (!strstr(dumped, dump))
		fail_msg("%s, not %s", dumped, dump);
}

static void a_refusal_names_the_command_and_where_it_is(void **state)
{
	static const char nothing[] = "mode: full\nrefused: nothing\n";
	static char dumped[256];
	struct seq_file m = { fmemopen(dumped, sizeof(dumped), "w") };

	ghyvi_audit_dump(guest.audit, &m);
	fclose(m.f);
	assert_string_equal(dumped, nothing);

	fresh();
	ring(NOOP, NOOP, LOAD_IMM(1), 0x2030, 1);
	submit();
	assert_told("audit: rcs: context 0x10100000, ring at 0x8: ",
		    "context=0x10100000 ring=0x8 ring=0x8 command=");
	assert_told("0x11000001 refused", "header=0x11000001 rule=");

	/* In a batch: the ring command that starts it, and the address in the batch. */
	fresh();
	ring(NOOP, START_USER, LO(USER_BATCH), HI(USER_BATCH));
	put(USER_BATCH, NOOP, NOOP, MI(0x16, 1), 0, BATCH_END);
	submit();
	assert_told("at 0x7fff00000008: command 0x0b000001 refused: unknown-command",
		    "ring=0x4 user batch=0x7fff00000008 command=command "
		    "header=0x0b000001 rule=unknown-command\n");
	assert_int_equal(stops_at(), 4);

	/* Nothing was read of an unmapped batch: the report names no command and no header. */
	fresh();
	ring(NOOP, NOOP, NOOP, START_USER, LO(0x1000), HI(0x1000));
	submit();
	assert_told("at 0x1000: command 0",
		    "ring=0xc user batch=0x1000 command=command header=0x00000000 rule=");
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 3);
}

static struct ghyvi_cmd_prefetch window;

static int fetch_window(enum ghyvi_fetch_source source, u64 at, u32 ring_head)
{
	memset(&window, 0xee, sizeof(window));
	return ghyvi_commands_fetch(guest.commands, source, 1, at, ring_head, &window);
}

/* A window ends at the end of the page. */
static void a_window_ends_with_its_page(void **state)
{
	unsigned int i, k, count;

	fresh();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	for (i = 0; i < 1024; i++)
		guest.user[i] = MI(0x08, i & 1); /* of one dword */
	guest.user[1024] = BATCH_END;
	assert_submit_passes();
	for (i = 0; i < 1024; i += 13) {
		count = min(64u, 1024 - i);
		assert_int_equal(fetch_window(GHYVI_FETCH_PPGTT, USER_BATCH + 4 * i, 16), count);
		assert_int_equal(window.count, count);
		assert_true(window.pos == USER_BATCH + 4 * i);
		for (k = 0; k < count; k++)
			assert_int_equal(window.dwords[k], MI(0x08, (i + k) & 1));
		if (count == 64)
			assert_true(window.starts == ~0ull);
		else
			assert_true((window.starts & (BIT_ULL(count) - 1)) == BIT_ULL(count) - 1);
	}
	assert_int_equal(fetch_window(GHYVI_FETCH_PPGTT, USER_BATCH + 4096, 16), 64);
	assert_true(window.starts == 1);
	assert_int_equal(fetch_window(GHYVI_FETCH_PPGTT, USER_BATCH2, 16), -EFAULT);
	assert_int_equal(fetch_window(GHYVI_FETCH_GGTT, KERNEL_BATCH, 16), -EFAULT);
}

static void a_window_of_the_ring_ends_with_the_segment(void **state)
{
	unsigned int i;

	fresh();
	for (i = 0; i < 1030; i++)
		ring(MI(0x08, i & 1));
	assert_submit_passes();
	assert_int_equal(fetch_window(GHYVI_FETCH_RING, 0, 0), 64);
	assert_int_equal(fetch_window(GHYVI_FETCH_RING, 4 * 1000, 0), 24);
	assert_int_equal(fetch_window(GHYVI_FETCH_RING, 4 * 1024, 0), 6);
	assert_int_equal(fetch_window(GHYVI_FETCH_RING, 4 * 1029, 0), 1);
	assert_int_equal(window.dwords[0], MI(0x08, 1));
	assert_int_equal(fetch_window(GHYVI_FETCH_RING, 4 * 1030, 0), -EFAULT);
	assert_int_equal(fetch_window(GHYVI_FETCH_RING, RING_BYTES - 4, 0), -EFAULT);
	/* The next segment begins exactly at the old tail. */
	ring(MI(0x08, 0), MI(0x08, 1));
	assert_int_equal(ghyvi_audit_extend(guest.commands, guest.tail), 0);
	assert_int_equal(fetch_window(GHYVI_FETCH_RING, 4 * 1029, 0), 1);
	assert_int_equal(fetch_window(GHYVI_FETCH_RING, 4 * 1030, 0), 2);
	assert_int_equal(window.dwords[1], MI(0x08, 1));
	assert_int_equal(fetch_window(GHYVI_FETCH_RING, 4 * 1032, 0), -EFAULT);
}

/* Only dwords that the audit decoded as headers are valid starts. */
static void a_window_tells_where_commands_begin(void **state)
{
	fresh();
	ring(STORE | GLOBAL, KERNEL_DATA, 0, 7, NOOP, STORE | GLOBAL, KERNEL_DATA, 0, 7, NOOP);
	assert_submit_passes();
	assert_int_equal(ghyvi_commands_fetch(guest.commands, GHYVI_FETCH_RING, 0, 0, 0, &window),
			 10);
	assert_true((window.starts & 0x3ff) == 0x231);
	assert_int_equal(ghyvi_commands_fetch(guest.commands, GHYVI_FETCH_RING, 0, 4, 0, &window),
			 9);
	assert_true((window.starts & 0x1ff) == 0x118);
	/* Nothing was audited on the second level. */
	assert_int_equal(ghyvi_commands_fetch(guest.commands, GHYVI_FETCH_RING, 2, 0, 0, &window),
			 10);
	assert_true(window.starts == 0);
}

/* The longest packets, which cross the end of a page. */
static void packets_of_any_length_are_whole(void **state)
{
	unsigned int dwords, i, begin;

	for (dwords = 1022; dwords <= 1025; dwords++)
		for (begin = 0; begin < 3; begin++) {
			fresh();
			ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
			memset(guest.user, 0, 4096 * 3);
			i = begin;
			guest.user[i] = MI(0x20, dwords - 2) | (dwords % 2 ? 0 : 0);
			guest.user[i + 1] = LO(USER_BATCH + 0x8000);
			guest.user[i + 2] = HI(USER_BATCH);
			guest.user[i + dwords] = BATCH_END;
			assert_submit_passes();
		}
}

/* The indirect batch runs although a later command of the ring is refused. */
static void an_indirect_batch_runs_unless_it_is_refused(void **state)
{
	guest.submission.indirect = KERNEL_BATCH;
	guest.submission.indirect_bytes = 64;
	put(KERNEL_BATCH, LOAD_IMM(1), 0x7014, 0x00010001);
	fresh();
	ring(NOOP, NOOP, MI(0x16, 1), 0);
	submit();
	assert_int_equal(stops_at(), 8);
	assert_int_equal(fetch_window(GHYVI_FETCH_INDIRECT, KERNEL_BATCH, 0), 64);
	assert_int_equal(window.dwords[0], LOAD_IMM(1));
	/* A refused indirect batch stops the ring at its first command. */
	put(KERNEL_BATCH, MI(0x16, 1), 0, 0);
	fresh();
	ring(NOOP, NOOP);
	submit();
	assert_int_equal(stops_at(), 0);
	assert_int_equal(fetch_window(GHYVI_FETCH_INDIRECT, KERNEL_BATCH, 0), -EACCES);
	assert_told("context batch at 0x10008000", "context batch=0x10008000");
	/* With an empty ring the indirect batch is not audited. */
	fresh();
	submit();
	assert_int_equal(fetch_window(GHYVI_FETCH_INDIRECT, KERNEL_BATCH, 0), -EFAULT);
	guest.submission.indirect_bytes = 0;
}

/* A partition of two ranges: addresses before, between and after them are refused. */
static void each_range_of_a_partition_counts(void **state)
{
	static const struct {
		u32 address;
		bool good;
	} rows[] = {
		{ 0x100000, true },	   { 0x100ffc, true },
		{ 0x101000, false },	   { 0xffffc, false },
		{ GGTT_START, true },	   { GGTT_START + GGTT_BYTES - 4, true },
		{ GGTT_START - 4, false }, { GGTT_START + GGTT_BYTES, false },
	};
	const struct ghyvi_audit_params params = {
		.gen = 9,
		.ggtt = { { 0x100000, 0x1000 }, { GGTT_START, GGTT_BYTES } },
		.nr_ggtt = 2,
		.owner = &fixture_owner,
		.reporter = &guest.reporter,
		.stats = &guest.stats,
	};
	unsigned int i;

	drop_audit();
	guest.audit = ghyvi_audit_create(&params);
	assert_int_equal(ghyvi_audit_set_mode(guest.audit, "full"), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		fresh();
		ring(STORE | GLOBAL, rows[i].address, 0, 1);
		submit();
		if (rows[i].good)
			assert_passed();
		else
			assert_refused("ggtt-range");
	}
}

static void register_ranges_end_at_their_last_byte(void **state)
{
	fresh();
	ring(MI(0x24, 2) | GLOBAL, GHYVI_REGISTERS_END - 4, KERNEL_DATA, 0);
	assert_submit_passes();
	fresh();
	ring(MI(0x24, 2) | GLOBAL, GHYVI_REGISTERS_END, KERNEL_DATA, 0);
	submit();
	assert_int_equal(stops_at(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_refusal_names_the_command_and_where_it_is),
		TEST(a_window_ends_with_its_page),
		TEST(a_window_of_the_ring_ends_with_the_segment),
		TEST(a_window_tells_where_commands_begin),
		TEST(packets_of_any_length_are_whole),
		TEST(an_indirect_batch_runs_unless_it_is_refused),
		TEST(each_range_of_a_partition_counts),
		TEST(register_ranges_end_at_their_last_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
