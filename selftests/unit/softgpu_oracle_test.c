// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random programs of MI commands against a second interpreter: memory, general purpose registers
 * and predicates must be the same at the end. SEED=n runs one program.
 */
#include "softgpu_program.h"
#include "random.h"

#define PROGRAMS 600
#define ROUNDS_MAX \
	20 /* until enough programs were preempted; how many are depends on the machine */
#define BUDGET_NS 200000000

static struct random numbers;
static unsigned int preemptions;

static unsigned int rnd(unsigned int n)
{
	return random_range(&numbers, 0, n - 1);
}

/*
 * Run what is in the ring. With @disturbed, the core stops and resumes the job, and invalidates
 * translations, at any time.
 */
static enum ghyvi_job_status run_program(struct rig *rig, bool disturbed)
{
	enum ghyvi_job_status status;
	unsigned int i, stops = 20;

	do {
		rig_start(rig);
		for (i = rnd(4); disturbed && i; i--) {
			if (rnd(2))
				softgpu_ops.invalidate(&rig->client, 1);
			else
				sched_yield();
		}
		if (disturbed && stops && stops--)
			softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		status = rig_wait(rig);
		preemptions += status == GHYVI_JOB_PREEMPTED;
	} while (status == GHYVI_JOB_PREEMPTED);
	return status;
}

static void compare_program(struct rig *rig, struct machine *m, unsigned int seed, bool disturbed)
{
	const char *difference;

	program_put(rig, m);
	rig->job.budget_ns = BUDGET_NS;
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	if (run_program(rig, disturbed) != GHYVI_JOB_COMPLETE)
		fail_msg("seed %u: %s", seed, rig_reason(rig));
	program_interpret(m);
	difference = program_difference(rig, m);
	if (difference)
		fail_msg("seed %u: %s", seed, difference);
}

static void run_programs(struct rig *rig, bool disturbed)
{
	unsigned int seed, last = getenv("SEED") ? strtoul(getenv("SEED"), NULL, 0) : PROGRAMS;
	struct machine *m = malloc(sizeof(*m));

	for (seed = getenv("SEED") ? last : 1; seed <= last; seed++) {
		random_seed(&numbers, seed);
		program_make(m, 9, seed);
		program_make_ring(m);
		compare_program(rig, m, seed, disturbed);
	}
	free(m);
}

static void programs_do_what_the_manual_says(void **state)
{
	run_programs(*state, false);
}

static void programs_that_are_preempted_do_the_same(void **state)
{
	unsigned int round;

	preemptions = 0;
	for (round = 0; round < ROUNDS_MAX && preemptions <= PROGRAMS / 10; round++)
		run_programs(*state, true);
	assert_true(getenv("SEED") || preemptions);
}

/* The guest's own tables, and pages that the core evicts. */
static int setup_nested(void **state)
{
	struct rig *rig = rig_new(9);

	rig_nest(rig);
	*state = rig;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(programs_do_what_the_manual_says),
		RIG_TEST(programs_that_are_preempted_do_the_same),
		cmocka_unit_test_setup_teardown(programs_that_are_preempted_do_the_same,
						setup_nested, rig_teardown),
	};

	return cmocka_run_group_tests_name("softgpu against a second interpreter", tests, NULL,
					   NULL);
}
