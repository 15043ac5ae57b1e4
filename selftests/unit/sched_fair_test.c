// SPDX-License-Identifier: GPL-2.0-only
/* The arithmetic of "fair": think times, turns, slices, anticipation and virtual times. */
#include "sched_decide.h"

#define TIMESLICE_NS (1000ULL * GHYVI_SCHED_TIMESLICE_DEFAULT_US)
#define WINDOW_NS (1000ULL * GHYVI_SCHED_WINDOW_DEFAULT_US)
#define AWAIT_MAX_NS (500 * US)
#define MARGIN_NS (20 * US)
#define THINK_MAX_NS (8 * AWAIT_MAX_NS)

static u64 averaged(u64 old, u64 sample)
{
	return old ? old - old / 8 + sample / 8 : sample;
}

/* vGPU @i submits @think_ns from now, and its workload takes @service_ns. */
static void think_and_run(unsigned int i, u64 think_ns, u64 service_ns)
{
	now += think_ns;
	submit(i);
	assert_true(is_running(i));
	leave(service_ns);
}

static bool is_awaited(unsigned int i)
{
	return !hlist_unhashed(&runs[i]->fair.anticipated);
}

static void think_times_and_services_are_averaged(void **state)
{
	static const u64 thinks[] = { 100000,
				      200000,
				      50000,
				      50000,
				      0,
				      8,
				      THINK_MAX_NS - 1,
				      THINK_MAX_NS + 1,
				      10 * THINK_MAX_NS,
				      3000 };
	u64 think = 0, deviation = 0, service = 0, sample, taken;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(thinks); i++) {
		taken = (1 + i % 3) * 7 * MS;
		think_and_run(0, thinks[i], taken);
		service = averaged(service, taken);
		assert_int_equal(runs[0]->fair.service_ns, service);
		assert_int_equal(runs[0]->fair.served_ns, 0);
		assert_int_equal(runs[0]->fair.idle_since, now);
		if (i) { /* the first submission has no think time */
			sample = min(thinks[i], THINK_MAX_NS);
			if (think)
				deviation = averaged(deviation ?: 1, sample > think ?
									     sample - think :
									     think - sample);
			think = max(averaged(think, sample), 1);
		}
		assert_int_equal(runs[0]->fair.think_ns, think);
		assert_int_equal(runs[0]->fair.think_deviation_ns, deviation);
		assert_int_equal(is_awaited(0), think && 8 * think <= service);
		if (is_awaited(0))
			assert_int_equal(runs[0]->fair.await_until,
					 now + min(think + 4 * deviation + MARGIN_NS,
						   AWAIT_MAX_NS));
	}
}

static void an_immediate_submission_counts_as_one_nanosecond(void **state)
{
	think_and_run(0, 0, MS);
	think_and_run(0, 0, MS);
	assert_int_equal(runs[0]->fair.think_ns, 1);
	think_and_run(0, 0, MS);
	assert_int_equal(runs[0]->fair.think_ns, 1);
	assert_int_equal(runs[0]->fair.think_deviation_ns, 1);
}

static void a_vgpu_is_awaited_when_its_work_is_eight_times_its_think_time(void **state)
{
	think_and_run(0, 0, 8 * 50 * US);
	think_and_run(0, 50 * US, 8 * 50 * US);
	assert_true(is_awaited(0));
	think_and_run(1, 0, 8 * 50 * US - 8);
	think_and_run(1, 50 * US, 8 * 50 * US - 8);
	assert_false(is_awaited(1));
}

static void a_throttled_vgpu_is_not_awaited(void **state)
{
	set_knobs(0, 100, 1, 0);
	think_and_run(0, 0, WINDOW_NS / 200);
	assert_false(is_awaited(0));
	runs[0]->fair.think_ns = 10 * US;
	runs[0]->fair.idle_since = 0;
	now += WINDOW_NS;
	think_and_run(0, 0, WINDOW_NS / 200);
	assert_true(is_awaited(0));
	think_and_run(0, 0, WINDOW_NS / 200);
	assert_false(is_awaited(0));
}

/*
 * vGPU 0 thinks for 100 us between its workloads of 10 ms. vGPU 1 submits 30 ms at once and is
 * ahead. vGPU 0 has just completed, vGPU 1 waits.
 */
static void leave_one_behind(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		think_and_run(0, i ? 100 * US : 0, 10 * MS);
	submit(1);
	assert_true(is_running(1));
	now += 100 * US;
	submit(0);
	leave(30 * MS - 100 * US);
	assert_true(is_running(0));
	submit(1);
	leave(10 * MS);
}

static void the_engine_idles_for_a_vgpu_that_is_behind_and_will_submit(void **state)
{
	u64 until;

	leave_one_behind();
	until = runs[0]->fair.await_until;
	assert_in_range(until - now, 100 * US + MARGIN_NS, AWAIT_MAX_NS);
	assert_null(job);
	assert_int_equal(armed, until);
	fire_at(until - 1);
	assert_null(job);
	assert_int_equal(armed, until);
	fire_at(until);
	assert_true(is_running(1));
	assert_false(is_awaited(0));
	leave(MS);
}

/* It submits at the last moment. */
static void a_vgpu_that_submits_in_time_keeps_its_virtual_time(void **state)
{
	u64 vtime;

	leave_one_behind();
	vtime = runs[0]->fair.vtime;
	now = runs[0]->fair.await_until;
	submit(0);
	assert_true(is_running(0));
	assert_int_equal(runs[0]->fair.vtime, vtime);
	assert_false(is_awaited(0));
	leave(MS);
	assert_false(is_awaited(1));
}

static void a_vgpu_that_submits_late_is_at_most_a_tenth_of_a_window_behind(void **state)
{
	leave_one_behind();
	set_knobs(0, 200, 0, 0);
	now = runs[0]->fair.await_until + 1;
	queue(0);
	assert_false(is_awaited(0));
	assert_int_equal(runs[0]->fair.vtime, runs[1]->fair.vtime - WINDOW_NS / 10 / 2);
}

static void the_engine_idles_only_if_the_think_time_is_less_than_the_lag(void **state)
{
	u64 until = GHYVI_SCHED_NEVER, lead;

	leave_one_behind();
	lead = runs[1]->fair.rank - (runs[0]->fair.vtime + TIMESLICE_NS / 2);
	assert_true(lead > 0);
	runs[0]->fair.think_ns = lead;
	assert_ptr_equal(ghyvi_sched_fair.pick_next(engine, now, &until), runs[1]);
	assert_int_equal(until, GHYVI_SCHED_NEVER);
	runs[0]->fair.think_ns = lead - 1;
	assert_null(ghyvi_sched_fair.pick_next(engine, now, &until));
	assert_int_equal(until, runs[0]->fair.await_until);
	until = GHYVI_SCHED_NEVER;
	/* Twice the weight halves the turn in the rank, and think_ns in virtual time. */
	set_knobs(0, 200, 0, 0);
	lead += TIMESLICE_NS / 4;
	runs[0]->fair.think_ns = 2 * lead;
	assert_ptr_equal(ghyvi_sched_fair.pick_next(engine, now, &until), runs[1]);
	runs[0]->fair.think_ns = 2 * lead - 2;
	assert_null(ghyvi_sched_fair.pick_next(engine, now, &until));
}

static void slices_are_shorter_the_more_wait(void **state)
{
	u64 begun = now;

	set_settings(100 * 1000, 1000 * 1000);
	submit(0);
	assert_int_equal(armed, GHYVI_SCHED_NEVER);
	queue(1);
	assert_int_equal(armed, begun + WINDOW_NS / 16);
	queue(2);
	assert_int_equal(armed, begun + WINDOW_NS / 24);
	set_settings(3000, 1000 * 1000);
	assert_int_equal(armed, begun + 3 * MS);
}

/* It runs until its virtual time has caught up. */
static void a_vgpu_that_is_behind_runs_longer_than_its_slice(void **state)
{
	u64 ahead;

	think_and_run(1, 0, 40 * MS);
	runs[1]->fair.vtime += 20 * MS; /* as if a third vGPU had pushed the minimum */
	submit(0);
	runs[0]->fair.vtime = 5 * MS;
	queue(1);
	ahead = runs[1]->fair.rank - 5 * MS;
	assert_int_equal(runs[1]->fair.rank, 60 * MS + TIMESLICE_NS / 2);
	assert_int_equal(armed, now + ahead);
	set_knobs(0, 50, 0, 0);
	assert_int_equal(armed, now + ahead / 2);
	set_knobs(0, 100, 0, 2); /* may be two slices ahead */
	assert_int_equal(armed, now + ahead + 2 * TIMESLICE_NS);
	/* Level with the other, or ahead of it: one slice. */
	set_knobs(0, 100, 0, 0);
	runs[0]->fair.vtime = runs[1]->fair.rank;
	set_knobs(0, 100, 0, 0);
	assert_int_equal(armed, now + TIMESLICE_NS);
	runs[0]->fair.vtime = runs[1]->fair.rank + 9 * MS;
	set_knobs(0, 100, 0, 0);
	assert_int_equal(armed, now + TIMESLICE_NS);
}

static void a_job_that_has_not_begun_may_not_stay_for_ever(void **state)
{
	u64 given = now;

	think_and_run(1, 0, 40 * MS);
	submit(0);
	given = now;
	job->begun_ns = 0;
	runs[0]->fair.vtime = 0;
	queue(1);
	assert_int_equal(armed, given + 40 * MS + TIMESLICE_NS / 2);
	now += 3 * MS;
	set_knobs(2, 100, 0, 0);
	assert_int_equal(armed, given + 40 * MS + TIMESLICE_NS / 2);
}

static void preemption_time_is_part_of_a_turn(void **state)
{
	u64 asked, stay;

	submit(0);
	queue(1);
	fire_at(armed);
	assert_int_equal(preempts, 1);
	asked = now;
	leave_as(5 * MS, GHYVI_JOB_PREEMPTED);
	stay = TIMESLICE_NS + 5 * MS;
	assert_int_equal(now - asked, 5 * MS);
	assert_int_equal(runs[0]->fair.stay_ns, stay);
	assert_int_equal(runs[0]->fair.served_ns, stay);
	assert_int_equal(runs[0]->fair.idle_since, 0);
	assert_int_equal(runs[0]->fair.service_ns, 0);
	/* The next turn is assumed to be as long. */
	queue(0);
	assert_int_equal(runs[0]->fair.rank, runs[0]->fair.vtime + stay / 2);
	assert_true(is_running(1));
	leave(MS);
	assert_true(is_running(0));
	queue(1);
	fire_at(armed);
	leave_as(MS, GHYVI_JOB_PREEMPTED);
	/* The maximum, decaying. */
	assert_int_equal(runs[0]->fair.stay_ns, averaged(stay, TIMESLICE_NS + MS));
	assert_int_equal(runs[1]->fair.stay_ns, 0);
}

/* The time before another vGPU waited does not count. */
static void a_turn_counts_at_most_one_slice_before_the_request(void **state)
{
	submit(0);
	now += 70 * MS;
	queue(1);
	assert_int_equal(preempts, 1);
	leave_as(3 * MS, GHYVI_JOB_PREEMPTED);
	assert_int_equal(runs[0]->fair.stay_ns, TIMESLICE_NS + 3 * MS);
}

static void equal_vgpus_are_served_in_order_of_arrival(void **state)
{
	submit(0);
	queue(2);
	queue(1);
	assert_int_equal(runs[1]->fair.rank, runs[2]->fair.rank);
	assert_ptr_equal(ghyvi_sched_fair.peek_next(engine), runs[2]);
	leave(MS);
	assert_true(is_running(2));
	leave(0);
	assert_true(is_running(1));
	leave(0);
}

static void the_clock_is_armed_for_the_first_that_may_run_again(void **state)
{
	u64 first, second, until = 0;

	set_knobs(0, 100, 10, 0);
	set_knobs(1, 100, 10, 0);
	think_and_run(0, 0, WINDOW_NS / 10);
	think_and_run(1, 0, WINDOW_NS / 10);
	submit(1);
	assert_null(job);
	second = armed;
	submit(0);
	first = armed;
	assert_null(job);
	assert_int_equal(first, runs[0]->fair.eligible_at);
	assert_int_equal(second, runs[1]->fair.eligible_at);
	assert_true(now < first && first < second);
	fire_at(first - 1);
	assert_null(job);
	assert_int_equal(armed, first);
	fire_at(first);
	assert_true(is_running(0));
	assert_false(runs[0]->fair.throttled);
	assert_true(runs[1]->fair.throttled);
	leave(0);
	assert_int_equal(armed, second);
	fire_at(second);
	assert_true(is_running(1));
	leave(0);
	assert_null(ghyvi_sched_fair.pick_next(engine, now, &until));
	assert_int_equal(until, GHYVI_SCHED_NEVER);
}

/* Charges and refunds are divided by weight; virtual time does not wrap below 0. */
static void charges_go_by_weight(void **state)
{
	set_knobs(0, 300, 0, 0);
	ghyvi_sched_fair.charge(runs[0], 3000);
	assert_int_equal(runs[0]->fair.vtime, 1000);
	ghyvi_sched_fair.charge(runs[0], -300);
	assert_int_equal(runs[0]->fair.vtime, 900);
	ghyvi_sched_fair.charge(runs[0], 0);
	assert_int_equal(runs[0]->fair.vtime, 900);
	ghyvi_sched_fair.charge(runs[0], -3 * 1000);
	assert_int_equal(runs[0]->fair.vtime, 0);
	ghyvi_sched_fair.ran(engine, runs[0], 50, now);
	assert_int_equal(runs[0]->fair.served_ns, 50);
	ghyvi_sched_fair.ran(engine, runs[0], -60, now);
	assert_int_equal(runs[0]->fair.served_ns, 0);
}

/* Also when only one vGPU is active. */
static void virtual_time_never_goes_back(void **state)
{
	think_and_run(0, 0, 50 * MS);
	assert_int_equal(engine->fair.vtime, 50 * MS);
	think_and_run(1, 0, MS);
	assert_int_equal(runs[1]->fair.vtime,
			 51 * MS); /* new: level with the last that was active */
	assert_int_equal(engine->fair.vtime, 51 * MS);
	now += NSEC_PER_SEC;
	queue(0);
	assert_int_equal(runs[0]->fair.vtime, 50 * MS); /* less than a tenth of a window behind */
	assert_true(runs[0]->fair.known);
	assert_false(runs[2]->fair.known);
	queue(2);
	assert_int_equal(runs[2]->fair.vtime, 51 * MS);
}

static void a_destroyed_vgpu_is_not_awaited(void **state)
{
	think_and_run(0, 0, MS);
	think_and_run(0, US, MS);
	assert_true(is_awaited(0));
	ghyvi_sched_fair.remove(engine, runs[0]);
	assert_false(is_awaited(0));
	assert_true(hlist_empty(&engine->fair.anticipated));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(think_times_and_services_are_averaged),
		TEST(an_immediate_submission_counts_as_one_nanosecond),
		TEST(a_vgpu_is_awaited_when_its_work_is_eight_times_its_think_time),
		TEST(a_throttled_vgpu_is_not_awaited),
		TEST(the_engine_idles_for_a_vgpu_that_is_behind_and_will_submit),
		TEST(a_vgpu_that_submits_in_time_keeps_its_virtual_time),
		TEST(a_vgpu_that_submits_late_is_at_most_a_tenth_of_a_window_behind),
		TEST(the_engine_idles_only_if_the_think_time_is_less_than_the_lag),
		TEST(slices_are_shorter_the_more_wait),
		TEST(a_vgpu_that_is_behind_runs_longer_than_its_slice),
		TEST(a_job_that_has_not_begun_may_not_stay_for_ever),
		TEST(preemption_time_is_part_of_a_turn),
		TEST(a_turn_counts_at_most_one_slice_before_the_request),
		TEST(equal_vgpus_are_served_in_order_of_arrival),
		TEST(the_clock_is_armed_for_the_first_that_may_run_again),
		TEST(charges_go_by_weight),
		TEST(virtual_time_never_goes_back),
		TEST(a_destroyed_vgpu_is_not_awaited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
