// SPDX-License-Identifier: GPL-2.0-only
/* The simulator: the model of a paravirtual guest, and the exits of the policies beside it. */
#include "../../tools/sim/generator.h"
#include "../../tools/sim/multicall.h"
#include "sim_listed.h"

/* The queue as the guest would keep it, one update at a time. */
struct queue {
	u32 updates[MULTICALL_BATCH_MAX], used;
	u64 exits, entries;
};

static void drain(struct queue *q)
{
	if (!q->used)
		return;
	q->exits++;
	while (q->used) {
		q->used--;
		q->entries += q->updates[q->used];
	}
}

static void replay_slowly(struct queue *q, const struct listed *l, u32 batch)
{
	unsigned int i;
	u32 n;

	for (i = 0; i < l->count; i++) {
		const struct trace_record *record = &l->records[i];

		if (record->type == TRACE_SUBMISSION)
			drain(q);
		if (record->type != TRACE_STORES && record->type != TRACE_WIDE_STORE)
			continue;
		for (n = 0; n < record->count; n++) {
			q->updates[q->used++] = 1;
			if (q->used == batch)
				drain(q);
		}
	}
	drain(q);
}

static void a_batch_is_handed_over_when_full_and_at_a_submission(void **state)
{
	unsigned int i;
	struct listed l;

	seed = 1;
	for (i = 0; i < 2000; i++) {
		struct multicall m = { .batch = 1 + any(i % 2 ? 5 : MULTICALL_BATCH_MAX) };
		struct queue q = { 0 };

		random_trace(&l, 1 + any(RECORDS), 3, 2);
		list(&l, stores(1, 0, 1 + any(400)));
		replay_slowly(&q, &l, m.batch);
		assert_int_equal(multicall_replay(&m, &l.source), 0);
		assert_int_equal(m.exits, q.exits);
		assert_int_equal(m.entries, q.entries);
		assert_int_equal(m.queued, 0);
	}
}

static void an_exit_for_each_update_is_what_strict_has(void **state)
{
	struct multicall m = { .batch = 1 };
	struct sim_result r;
	struct generator g;

	assert_int_equal(generator_init(&g, "480p", true, 5, 8), 0);
	assert_int_equal(multicall_replay(&m, &g.source), 0);
	assert_int_equal(g.source.rewind(&g.source), 0);
	assert_int_equal(simulate(&g.source, ghyvi_shadow_policies, ghyvi_shadow_policy_count,
				  &default_tuning, SIM_PROFILE_PAGES, &r),
			 0);
	assert_int_equal(m.exits, r.policies[place("strict")].traps);
	assert_int_equal(m.entries, r.trace.stores);
	sim_result_free(&r);
	generator_free(&g);
}

static int broken_next(struct trace_source *source, struct trace_record *record)
{
	return -1;
}

static void a_damaged_trace_is_reported(void **state)
{
	struct trace_source source = { .next = broken_next };
	struct multicall m = { .batch = 1 };

	assert_int_equal(multicall_replay(&m, &source), -1);
}

static u64 faults(const struct sim_result *r, const char *policy)
{
	return r->policies[place(policy)].faults;
}

/* The trap that relaxes a page leaves it unwritable; the next store makes it writable. */
static void the_store_after_the_trap_faults_once(void **state)
{
	struct sim_result r;
	struct listed l;

	listed_init(&l, 0);
	list(&l, stores(7, 0, 1));
	list(&l, submission(0));
	listed_run(&l, &default_tuning, &r);
	assert_int_equal(faults(&r, "segmented"), 0);
	assert_int_equal(faults(&r, "dynamic"), 0);
	sim_result_free(&r);

	list(&l, stores(7, 0, 10));
	list(&l, stores(7, 0, 10));
	list(&l, submission(0));
	list(&l, stores(7, 0, 10));
	listed_run(&l, &default_tuning, &r);
	assert_int_equal(faults(&r, "strict"), 0);
	assert_int_equal(faults(&r, "full"), 0);
	assert_int_equal(faults(&r, "relaxed"), 0);
	assert_int_equal(faults(&r, "dynamic"), 1);
	assert_int_equal(faults(&r, "segmented"), 2);
	assert_int_equal(faults(&r, "oos"), 2);
	sim_result_free(&r);
}

/* A page that starts relaxed was never protected. */
static void a_page_that_starts_relaxed_does_not_fault(void **state)
{
	struct sim_result r;
	struct listed l;

	listed_init(&l, 0);
	list(&l, page_root(7, 1));
	list(&l, stores(7, 0, 10));
	listed_run(&l, &default_tuning, &r);
	assert_int_equal(faults(&r, "adaptive"), 0);
	assert_int_equal(faults(&r, "segmented"), 1);
	sim_result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_is_handed_over_when_full_and_at_a_submission),
		cmocka_unit_test(an_exit_for_each_update_is_what_strict_has),
		cmocka_unit_test(a_damaged_trace_is_reported),
		cmocka_unit_test(the_store_after_the_trap_faults_once),
		cmocka_unit_test(a_page_that_starts_relaxed_does_not_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
