// SPDX-License-Identifier: GPL-2.0-only
/* Saved commands: what an auditor has saved is loaded, and what none can have saved is refused. */
#include "audit_fixture.h"

/* The state begins with these; see kernel/audit/saved.c. */
struct state {
	u32 mode;
	u32 nr_segments;
	s64 bytes_left;
	u32 from;
	u32 to;
	u32 nr_pages;
	u32 reserved;
};

static int load(const void *state, size_t bytes)
{
	struct ghyvi_commands *commands =
		ghyvi_audit_load(guest.audit, &guest.submission, state, bytes);

	if (IS_ERR(commands))
		return (int)PTR_ERR(commands);
	assert_int_equal(ghyvi_commands_tail(commands), guest.tail);
	ghyvi_commands_free(commands);
	return 0;
}

static void saved_commands_are_loaded(void **state)
{
	struct state *saved;
	size_t bytes;

	put(USER_BATCH, BATCH_END);
	run_user_batch();
	bytes = ghyvi_commands_state_bytes(guest.commands);
	saved = test_malloc(bytes);
	ghyvi_commands_save(guest.commands, saved);
	assert_int_equal(saved->to, guest.tail);
	assert_int_equal(saved->nr_pages, 2);
	put(USER_BATCH, BAD);
	assert_int_equal(load(saved, bytes), 0);
	assert_int_equal(load(saved, bytes - 8), -EINVAL);
	test_free(saved);
}

/*
 * No workload without commands is saved. An engine would execute the context's batch, which is
 * audited only with commands.
 */
static void a_workload_without_commands_is_refused(void **state)
{
	struct state saved = { .mode = GHYVI_AUDIT_FULL, .nr_segments = 1 };

	guest.submission.indirect = KERNEL_BATCH;
	guest.submission.indirect_bytes = 64;
	fresh();
	assert_int_equal(load(&saved, sizeof(saved)), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(saved_commands_are_loaded),
		TEST(a_workload_without_commands_is_refused),
	};

	return cmocka_run_group_tests_name("saved commands", tests, NULL, NULL);
}
