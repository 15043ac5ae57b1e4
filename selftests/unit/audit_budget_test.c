// SPDX-License-Identifier: GPL-2.0-only
/* The budget of an audit: what it limits, and its ranges. */
#include "audit_fixture.h"
#include "audit/audit.h"

static void set_budget(u32 bytes, u32 commands, u32 batches)
{
	const struct ghyvi_audit_budget budget = {
		.budget_bytes = bytes ?: GHYVI_AUDIT_BYTES_DEFAULT,
		.budget_commands = commands ?: GHYVI_AUDIT_COMMANDS_DEFAULT,
		.budget_batches = batches ?: GHYVI_AUDIT_BATCHES_DEFAULT,
	};

	assert_int_equal(ghyvi_audit_set_budget(guest.audit, &budget), 0);
}

/* The ring starts five batches by commands of 16 bytes. */
static void put_five_batches(void)
{
	unsigned int i;

	fresh();
	for (i = 0; i < 5; i++) {
		put(USER_BATCH + 64 * i, BATCH_END);
		ring(START_USER, LO(USER_BATCH + 64 * i), HI(USER_BATCH), NOOP);
	}
}

static void budgets_bound_the_work(void **state)
{
	/* The batch consists of NOOPs up to the end of memory. */
	set_budget(0, 0, 0);
	assert_user_batch_refused("budget-bytes");
	assert_true(atomic64_read(&guest.stats.audited_bytes) <= GHYVI_AUDIT_BYTES_DEFAULT);
	set_budget(GHYVI_AUDIT_BYTES_MAX, 0, 0);
	assert_user_batch_refused("budget-commands");
	/* One command too many, one batch too many. */
	set_budget(0, GHYVI_AUDIT_COMMANDS_MIN, 0);
	put(USER_BATCH + 4 * 8192, BATCH_END);
	assert_user_batch_refused("budget-commands");
	set_budget(0, 16384, 0);
	assert_user_batch_passes();
	put_five_batches();
	set_budget(0, 0, 5);
	assert_submit_passes();
	set_budget(0, 0, 4);
	submit();
	assert_int_equal(ghyvi_commands_tail(guest.commands), 4 * 16);
	/* A second start of the same batch does not count. */
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	set_budget(0, 0, 5);
	assert_submit_passes();
}

/*
 * Fill the ring with commands that store @entries GGTT entries each. Returns the sum of the
 * entries.
 */
static unsigned int put_ggtt_updates(unsigned int entries)
{
	const u32 entry[2] = { 3, 0 };
	unsigned int i, stored = 0;

	fresh();
	while (guest.tail + 4 * (2 + 2 * entries) < RING_BYTES) {
		ring(MI(0x23, 2 * entries), KERNEL_DATA);
		for (i = 0; i < entries; i++)
			put_ring_dwords(entry, 2);
		stored += entries;
	}
	return stored;
}

static void stores_to_the_ggtt_are_in_the_budgets(void **state)
{
	unsigned int entries = put_ggtt_updates(16);

	submit();
	assert_int_equal(guest.updates, 16);
	assert_in_range(atomic64_read(&guest.stats.audited_commands), 17, 20);
	assert_true(entries > 16);
}

/* For want of a CPU, or of memory. The work is bounded by its amount. */
static void a_submission_whose_thread_stalls_passes(void **state)
{
	const u32 entry[2] = { 3, 0 };
	unsigned int i;

	fresh();
	put(USER_BATCH, NOOP, BATCH_END);
	ring(MI(0x23, 2 * 16), KERNEL_DATA);
	for (i = 0; i < 16; i++)
		put_ring_dwords(entry, 2);
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	guest.update_us = 600000 / 16;
	guest.updates = 0;
	submit();
	guest.update_us = 0;
	assert_passed();
	assert_int_equal(guest.updates, 16);
}

static void *read_budget(void *budget)
{
	ghyvi_audit_get_budget(guest.audit, budget);
	return NULL;
}

/* All of one budget: it is read under the lock that changes it. */
static void a_budget_is_read_when_its_change_is_complete(void **state)
{
	struct ghyvi_audit_budget budget;
	pthread_t reader;

	set_budget(0, 0, 0);
	mutex_lock(&guest.audit->lock);
	assert_int_equal(pthread_create(&reader, NULL, read_budget, &budget), 0);
	usleep_range(50 * 1000, 50 * 1000); /* it waits for the lock by now */
	guest.audit->budget.budget_bytes = GHYVI_AUDIT_BYTES_MIN;
	mutex_unlock(&guest.audit->lock);
	pthread_join(reader, NULL);
	assert_int_equal(budget.budget_bytes, GHYVI_AUDIT_BYTES_MIN);
}

static void budgets_limit_log_mode_too(void **state)
{
	put_five_batches();
	set_budget(0, 0, 2);
	submit();
	assert_int_equal(ghyvi_commands_tail(guest.commands), 2 * 16);
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 0);
	/* The first command alone exceeds it. */
	set_budget(0, 0, 1);
	put(USER_BATCH, START_SECOND, LO(USER_BATCH + 64), HI(USER_BATCH), BATCH_END);
	submit();
	assert_int_equal(ghyvi_commands_tail(guest.commands), 16);
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 1);
	assert_non_null(strstr(last(), "budget-batches"));
}

/* Audit as often as the submission is split. Returns the number of parts. */
static unsigned int submit_in_parts(u32 *cuts)
{
	unsigned int parts = 0;

	do {
		if (parts)
			guest.submission.head = cuts[parts - 1];
		submit();
		assert_int_equal(stops_at(), ghyvi_commands_tail(guest.commands));
		cuts[parts++] = ghyvi_commands_tail(guest.commands);
		assert_true(parts < 16);
	} while (ghyvi_commands_tail(guest.commands) != guest.tail);
	guest.submission.head = 0;
	return parts;
}

/* Also where the ring wraps, and not within 8 bytes, of which tails are multiples. */
static void a_submission_over_budget_is_split(void **state)
{
	u32 cuts[16];
	unsigned int i;

	for (i = 0; i < 5; i++)
		put(USER_BATCH + 64 * i, BATCH_END);
	set_budget(0, 0, 2);
	guest.submission.head = RING_BYTES - 32;
	guest.tail = RING_BYTES - 32;
	for (i = 0; i < 5; i++)
		ring(START_USER, LO(USER_BATCH + 64 * i), HI(USER_BATCH));
	ring(NOOP);
	assert_int_equal(submit_in_parts(cuts), 3);
	/* Starts are at -32, -20, -8, 4 and 16 bytes: those at -20 and 4 are no place to end. */
	assert_int_equal(cuts[0], RING_BYTES - 8);
	assert_int_equal(cuts[1], 16);
	assert_int_equal(cuts[2], 32);
	/* A refused command refuses, however the budget is. */
	guest.submission.head = guest.tail = 0;
	for (i = 0; i < 3; i++)
		ring(START_USER, LO(USER_BATCH + 64 * i), HI(USER_BATCH), NOOP);
	put(USER_BATCH, BAD);
	assert_submit_refused("unknown-command");
	assert_int_equal(stops_at(), 0);
}

/* Each is the first command of its part, so all before it have run when the auditor executes it. */
static void a_submission_is_split_before_an_update_of_the_ggtt(void **state)
{
	u32 cuts[16];

	fresh();
	ring(MI(0x02, 0), MI(0x23, 2), KERNEL_DATA, 3, 0, NOOP);
	ring(STORE | GLOBAL, KERNEL_DATA, 0, 7, MI(0x23, 2), KERNEL_DATA, 3, 0);
	ring(MI(0x23, 2), KERNEL_DATA + 0x1000, 3, 0);
	guest.updates = 0;
	submit();
	assert_int_equal(guest.updates, 1);
	assert_int_equal(submit_in_parts(cuts), 3);
	assert_int_equal(cuts[0], 4 * 10);
	assert_int_equal(cuts[1], 4 * 14);
	assert_int_equal(cuts[2], 4 * 18);
	assert_int_equal(guest.updates, 4);
}

static void an_update_of_the_ggtt_does_not_run_before_its_workload(void **state)
{
	u32 first;

	fresh();
	ring(NOOP, NOOP);
	first = guest.tail;
	submit();
	ring(MI(0x23, 2), KERNEL_DATA, 3, 0);
	guest.updates = 0;
	assert_int_equal(ghyvi_audit_extend(guest.commands, guest.tail), -ENOSPC);
	assert_int_equal(guest.updates, 0);
	assert_int_equal(ghyvi_commands_tail(guest.commands), first);
}

/* A backend stops with an error at the end of a segment that is refused. */
static void a_command_after_the_split_refuses_only_the_rest(void **state)
{
	struct ghyvi_commands_iter iter = {};
	struct ghyvi_commands_page page;

	put_five_batches();
	ring(BAD, NOOP);
	set_budget(0, 0, 2);
	submit();
	assert_int_equal(ghyvi_commands_tail(guest.commands), 2 * 16);
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 0);
	assert_string_equal(last(), "");
	iter.commands = guest.commands;
	while (ghyvi_commands_iter_next(&iter, &page)) {
		assert_false(page.refused);
		assert_int_equal(page.stop, 2 * 16);
	}
	guest.submission.head = 4 * 16;
	assert_submit_refused("unknown-command");
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 1);
	assert_int_equal(stops_at(), 5 * 16);
}

/* Also in the mode "log", in which nothing stops the engine before it. */
static void a_command_in_the_rest_would_be_refused_once(void **state)
{
	u32 cuts[16];

	put_five_batches();
	ring(BAD, NOOP);
	set_budget(0, 0, 2);
	assert_int_equal(submit_in_parts(cuts), 3);
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 1);
	assert_non_null(strstr(last(), "unknown-command"));
}

/* The workload ends at its old tail, and the guest's next one contains the command again. */
static void a_command_of_an_extension_over_budget_is_refused_once(void **state)
{
	put_five_batches();
	set_budget(0, 0, 2);
	guest.tail = 16;
	submit();
	guest.tail = 5 * 16;
	ring(BAD, NOOP);
	assert_int_equal(ghyvi_audit_extend(guest.commands, guest.tail), -ENOSPC);
	assert_int_equal(atomic64_read(&guest.stats.audit_rejects), 0);
	assert_string_equal(last(), "");
}

static void an_extension_over_budget_is_submitted_again(void **state)
{
	set_budget(GHYVI_AUDIT_BYTES_MIN, 0, 0);
	put(USER_BATCH + 8 * 4096, BATCH_END);
	assert_user_batch_passes();
	ring(START_USER, LO(USER_BATCH), HI(USER_BATCH), NOOP);
	assert_int_equal(ghyvi_audit_extend(guest.commands, guest.tail), -ENOSPC);
	assert_string_equal(last(), "");
	guest.submission.head = 16;
	assert_submit_passes();
}

static void budgets_out_of_range_change_nothing(void **state)
{
	struct ghyvi_audit_budget good, bad, now;
	u32 *members = (u32 *)&bad;
	unsigned int i;

	ghyvi_audit_get_budget(guest.audit, &good);
	for (i = 0; i < sizeof(bad) / 4; i++) {
		bad = good;
		members[i] = 0;
		assert_int_equal(ghyvi_audit_set_budget(guest.audit, &bad), -EINVAL);
		members[i] = U32_MAX;
		assert_int_equal(ghyvi_audit_set_budget(guest.audit, &bad), -EINVAL);
		ghyvi_audit_get_budget(guest.audit, &now);
		assert_memory_equal(&now, &good, sizeof(now));
	}
}

static void each_limit_of_a_budget_is_in_range(void **state)
{
	static const struct {
		size_t member;
		u32 least, most;
	} ranges[] = {
		{ offsetof(struct ghyvi_audit_budget, budget_bytes), GHYVI_AUDIT_BYTES_MIN,
		  GHYVI_AUDIT_BYTES_MAX },
		{ offsetof(struct ghyvi_audit_budget, budget_commands), GHYVI_AUDIT_COMMANDS_MIN,
		  GHYVI_AUDIT_COMMANDS_MAX },
		{ offsetof(struct ghyvi_audit_budget, budget_batches), GHYVI_AUDIT_BATCHES_MIN,
		  GHYVI_AUDIT_BATCHES_MAX },
	};
	struct ghyvi_audit_budget budget;
	unsigned int i;
	u32 *value;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		ghyvi_audit_get_budget(guest.audit, &budget);
		value = (u32 *)((u8 *)&budget + ranges[i].member);
		*value = ranges[i].least;
		assert_int_equal(ghyvi_audit_set_budget(guest.audit, &budget), 0);
		*value = ranges[i].most;
		assert_int_equal(ghyvi_audit_set_budget(guest.audit, &budget), 0);
		*value = ranges[i].least - 1;
		assert_int_equal(ghyvi_audit_set_budget(guest.audit, &budget), -EINVAL);
		*value = ranges[i].most + 1;
		assert_int_equal(ghyvi_audit_set_budget(guest.audit, &budget), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(budgets_bound_the_work),
		TEST(stores_to_the_ggtt_are_in_the_budgets),
		TEST(a_submission_whose_thread_stalls_passes),
		TEST(a_budget_is_read_when_its_change_is_complete),
		LOG_TEST(budgets_limit_log_mode_too),
		TEST(a_submission_over_budget_is_split),
		TEST(a_command_after_the_split_refuses_only_the_rest),
		TEST(a_submission_is_split_before_an_update_of_the_ggtt),
		TEST(an_update_of_the_ggtt_does_not_run_before_its_workload),
		LOG_TEST(a_command_in_the_rest_would_be_refused_once),
		TEST(a_command_of_an_extension_over_budget_is_refused_once),
		TEST(an_extension_over_budget_is_submitted_again),
		TEST(budgets_out_of_range_change_nothing),
		TEST(each_limit_of_a_budget_is_in_range),
	};

	return cmocka_run_group_tests_name("audit scan", tests, NULL, NULL);
}
