// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arithmetic of caps (kernel/sched/cap.c), to the nanosecond, against a model that keeps all
 * parts for ever and finds each answer by trying one nanosecond after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include "sched/sched_types.h"

#define PARTS 127 /* of a window */
#define WINDOW_NS (PARTS * 10ULL)
#define MODEL_PARTS 32768
#define ROUNDS 60
#define STEPS 40

static struct model {
	u64 part_ns;
	u64 paid_until;
	u64 latest;
	/* Of each part: GPU time, contiguous, and its end relative to the begin of the part. */
	u64 used[MODEL_PARTS], end[MODEL_PARTS];
} model;

static struct sched_cap cap, old_cap;

static void model_add(u64 from, u64 to)
{
	u64 at, end;

	for (at = from; at < to; at = end) {
		u64 number = at / model.part_ns;

		assert_in_range(number, 0, MODEL_PARTS - 1);
		end = min(to, (number + 1) * model.part_ns);
		model.used[number] += end - at;
		model.end[number] = end - number * model.part_ns;
	}
}

static void model_set_window(u64 window_ns, u64 now)
{
	static struct model old;
	u64 number, end;

	old = model;
	memset(&model, 0, sizeof(model));
	model.part_ns = DIV_ROUND_UP(window_ns, PARTS);
	model.paid_until = min(old.paid_until, now + window_ns);
	model.latest = now / model.part_ns;
	/* Parts older than a window are dropped. */
	for (number = old.latest - min_t(u64, old.latest, PARTS); number <= old.latest; number++) {
		end = number * old.part_ns + old.end[number];
		model_add(end - old.used[number], end);
	}
}

static void model_charge(u32 percent, s64 ns, u64 now)
{
	u64 window = model.part_ns * PARTS, back = -ns, from, number;

	model.latest = max(model.latest, now / model.part_ns);
	if (ns >= 0) {
		model_add(now - ns, now);
		from = now - ns;
		from = max(model.paid_until, from - min(from, window));
		model.paid_until = min(from + ns * 100 / percent, now + window);
		return;
	}
	model.paid_until -= min(model.paid_until, back * 100 / percent);
	for (number = model.latest + 1; back && number-- > 0 && model.latest - number <= PARTS;) {
		u64 part = min(model.used[number], back);

		model.used[number] -= part;
		back -= part;
	}
}

/* GPU time in the window that ends at @until, if nothing runs from now on. */
static u64 model_used(u64 until)
{
	u64 window = model.part_ns * PARTS;
	u64 from = until - min(until, window);
	u64 number, used = 0;

	for (number = from / model.part_ns; number <= model.latest; number++) {
		u64 end = number * model.part_ns + model.end[number];
		u64 begin = max(end - model.used[number], from);

		used += end > begin ? end - begin : 0;
	}
	return used;
}

static u64 model_allowed(u32 percent)
{
	return model.part_ns * PARTS * percent / 100;
}

static u64 model_eligible_at(u32 percent, u64 turn_ns, u64 now)
{
	u64 at = now, allowed = model_allowed(percent);

	turn_ns = min(turn_ns, allowed / 64);
	while (model_used(at + turn_ns) + turn_ns > allowed)
		at++;
	return max(at, model.paid_until);
}

static u64 model_used_up_at(u32 percent, u64 now)
{
	u64 at = now, allowed = model_allowed(percent);

	if (model_used(now) > allowed)
		return now;
	while (model_used(at + 1) + at + 1 - now <= allowed)
		at++;
	return at;
}

static void begin(u64 window_ns, u64 now)
{
	memset(&cap, 0, sizeof(cap));
	memset(&model, 0, sizeof(model));
	ghyvi_sched_cap_set_window(&cap, &old_cap, window_ns, now);
	model.part_ns = DIV_ROUND_UP(window_ns, PARTS);
	model.latest = now / model.part_ns;
}

static void charge(u32 percent, s64 ns, u64 now)
{
	ghyvi_sched_cap_charge(&cap, percent, ns, now);
	model_charge(percent, ns, now);
	assert_int_equal(cap.paid_until, model.paid_until);
}

static void assert_as_model(u32 percent, u64 turn_ns, u64 now)
{
	model.latest = max(model.latest, now / model.part_ns);
	assert_int_equal(ghyvi_sched_cap_eligible_at(&cap, percent, turn_ns, now),
			 model_eligible_at(percent, turn_ns, now));
	assert_int_equal(ghyvi_sched_cap_used_up_at(&cap, percent, now),
			 model_used_up_at(percent, now));
}

/* @burst_ns: upper bound of each time on the engine and of each pause. */
static void play(unsigned int *seed, u64 now, u64 burst_ns)
{
	u32 percent = 1 + rand_r(seed) % 99;
	unsigned int step;

	begin(WINDOW_NS, now);
	for (step = 0; step < STEPS; step++) {
		u64 ns = rand_r(seed) % burst_ns;

		now += rand_r(seed) % burst_ns;
		if (rand_r(seed) % 16 == 0)
			now += WINDOW_NS;
		assert_as_model(percent, rand_r(seed) % WINDOW_NS, now);
		now += ns;
		charge(percent, ns, now);
		if (rand_r(seed) % 4 == 0 && ns)
			charge(percent, -(s64)(rand_r(seed) % ns), now);
		assert_as_model(percent, rand_r(seed) % WINDOW_NS, now);
	}
}

static void caps_are_exact_with_short_and_long_workloads(void **state)
{
	static const u64 bursts[] = { 3, 10, 40, 300, 2000 };
	unsigned int seed = 1, round;

	for (round = 0; round < ROUNDS; round++)
		play(&seed, rand_r(&seed) % (round % 2 ? 30 : 3 * WINDOW_NS),
		     bursts[round % ARRAY_SIZE(bursts)]);
}

static void a_new_window_keeps_what_was_used_in_the_old_one(void **state)
{
	static const u64 windows[] = { WINDOW_NS / 2, 3 * WINDOW_NS, WINDOW_NS, WINDOW_NS + 1,
				       2 * WINDOW_NS };
	unsigned int seed = 1, round, i;
	u64 now;

	for (round = 0; round < 10; round++) {
		u32 percent = 5 + 9 * round;

		now = round % 2 ? 0 : 5000;
		begin(WINDOW_NS, now);
		for (i = 0; i < ARRAY_SIZE(windows); i++) {
			u64 ns = rand_r(&seed) % 300;

			now += rand_r(&seed) % 100 + ns;
			charge(percent, ns, now);
			now += rand_r(&seed) % 100;
			ghyvi_sched_cap_set_window(&cap, &old_cap, windows[i], now);
			model_set_window(windows[i], now);
			assert_int_equal(cap.paid_until, model.paid_until);
			assert_as_model(percent, 1, now);
			assert_as_model(percent, WINDOW_NS, now + 20);
		}
	}
}

static void the_same_window_changes_nothing(void **state)
{
	struct sched_cap before;

	begin(WINDOW_NS, 100);
	charge(10, 90, 100);
	before = cap;
	ghyvi_sched_cap_set_window(&cap, &old_cap, WINDOW_NS, 5000);
	assert_memory_equal(&cap, &before, sizeof(cap));
	/* The length of a part is rounded up. */
	ghyvi_sched_cap_set_window(&cap, &old_cap, WINDOW_NS - PARTS + 1, 5000);
	assert_memory_equal(&cap, &before, sizeof(cap));
}

static void a_cap_of_100_percent_does_not_throttle(void **state)
{
	begin(WINDOW_NS, 10 * WINDOW_NS);
	charge(100, 2 * WINDOW_NS, 10 * WINDOW_NS);
	assert_int_equal(ghyvi_sched_cap_eligible_at(&cap, 100, WINDOW_NS, 10 * WINDOW_NS),
			 10 * WINDOW_NS);
	assert_int_equal(ghyvi_sched_cap_used_up_at(&cap, 100, 10 * WINDOW_NS), GHYVI_SCHED_NEVER);
	assert_true(ghyvi_sched_cap_used_up_at(&cap, 99, 10 * WINDOW_NS) < GHYVI_SCHED_NEVER);
	/* A debt from a lower cap does not count either. */
	charge(1, WINDOW_NS, 12 * WINDOW_NS);
	assert_int_equal(ghyvi_sched_cap_eligible_at(&cap, 1, 1, 12 * WINDOW_NS), 13 * WINDOW_NS);
	assert_int_equal(ghyvi_sched_cap_eligible_at(&cap, 100, 1, 12 * WINDOW_NS), 12 * WINDOW_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caps_are_exact_with_short_and_long_workloads),
		cmocka_unit_test(a_new_window_keeps_what_was_used_in_the_old_one),
		cmocka_unit_test(the_same_window_changes_nothing),
		cmocka_unit_test(a_cap_of_100_percent_does_not_throttle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
