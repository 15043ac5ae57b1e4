// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random batches that jump into the middle of each other. On every path, each command that the
 * engine executes was audited as it is decoded there. SEED= runs one seed only.
 */
#include "random.h"
#include "softgpu_audited.h"

#define SEEDS 1500u
#define AREAS 3 /* of commands, one after the other */
#define AREA_DWORDS 96u
#define BUDGET_NS (2 * NSEC_PER_MSEC) /* many batches loop */
#define BAD_COMMAND MI(0x16, 0)

static struct random numbers;

static u32 rnd(u32 n)
{
	return random_range(&numbers, 0, n - 1);
}

static u64 any_place(void)
{
	u64 area = BATCH + (BATCH2 - BATCH) * rnd(AREAS);

	return area + 4 * rnd(AREA_DWORDS);
}

/* The same dwords as a command when executed in sequence, and when a jump enters its middle. */
static u32 any_header(void)
{
	static const u32 headers[] = {
		MI_NOOP,
		MI_STORE,
		MI_LRI(1),
		MI_BATCH_START,
		MI_BATCH_START | MI_SECOND_LEVEL,
		MI_BATCH_START | MI_PREDICATED,
		MI_BATCH_START | MI_SECOND_LEVEL | MI_PREDICATED,
		MI_BATCH_END,
	};

	return rnd(40) ? headers[rnd(ARRAY_SIZE(headers))] : BAD_COMMAND;
}

static unsigned int any_command(u32 *dwords)
{
	u64 place = any_place();
	u32 header = any_header();

	dwords[0] = header;
	switch (header) {
	case MI_STORE:
		batch(dwords + 1, ADDRESS(DATA + 4 * rnd(1024)));
		dwords[3] = any_header();
		return 4;
	case MI_LRI(1):
		dwords[1] = rnd(2) ? GPR(rnd(16)) : PREDICATE_RESULT_1;
		dwords[2] = any_header();
		return 3;
	case MI_BATCH_START:
	case MI_BATCH_START | MI_SECOND_LEVEL:
	case MI_BATCH_START | MI_PREDICATED:
	case MI_BATCH_START | MI_SECOND_LEVEL | MI_PREDICATED:
		batch(dwords + 1, ADDRESS(place));
		return 3;
	default:
		return 1;
	}
}

static void fill_area(u32 *area)
{
	unsigned int at;

	for (at = 0; at < AREA_DWORDS;)
		at += any_command(area + at);
	area[at] = MI_BATCH_END;
}

static void fill_ring(struct rig *rig)
{
	unsigned int n;
	u64 place;

	for (n = 2 + rnd(5); n; n--) {
		place = any_place();
		ring(rig, MI_BATCH_START, ADDRESS(place), MI_NOOP);
	}
}

/* The engine stops at the command that the auditor refused, or its budget is used up before. */
static void play(struct rig *rig, struct ghyvi_audit *with, u64 seed)
{
	s64 refused = atomic64_read(&rig->stats.audit_rejects);
	enum ghyvi_job_status status;

	random_seed(&numbers, seed);
	rig_reset(rig);
	fill_area(rig->batch);
	fill_area(rig->batch2);
	fill_area(rig->batch3);
	fill_ring(rig);
	audit(rig, with);
	rig->job.budget_ns = BUDGET_NS;
	status = rig_run(rig);
	ghyvi_commands_free(rig->job.commands);
	rig->job.commands = NULL;
	if (atomic64_read(&rig->stats.oracle_violations))
		fail_msg("seed %llu: %s", (unsigned long long)seed, rig_reason(rig));
	if (atomic64_read(&rig->stats.audit_rejects) > refused)
		assert_int_equal(status, GHYVI_JOB_ERROR);
}

static void every_command_that_joined_batches_execute_was_audited(void **test)
{
	u64 seed, last = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : SEEDS;
	struct rig *rig = *test;
	struct ghyvi_audit *with = make_audit(rig, "full");

	for (seed = getenv("SEED") ? last : 1; seed <= last; seed++)
		play(rig, with, seed);
	/* It came to something. */
	assert_true(getenv("SEED") || atomic64_read(&rig->stats.audit_rejects) > SEEDS / 10);
	finish(rig, with);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(every_command_that_joined_batches_execute_was_audited),
	};

	shim_quiet = true;
	return cmocka_run_group_tests_name("batches that join each other", tests, NULL, NULL);
}
