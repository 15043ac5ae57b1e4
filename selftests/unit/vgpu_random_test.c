// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random orders of operations: the guest's bookkeeping stays consistent, and no store of the guest
 * does harm.
 */
#include "vgpu_moves.h"

/* Assert that all submissions ran. */
static void expect_all_done(void)
{
	int c;

	assert_false(guest.has_pending);
	assert_int_equal(guest.active[0], -1);
	assert_int_equal(rd(guest.base + RING_EXECLIST_STATUS_HI), 0);
	for (c = 0; c < CONTEXTS; c++)
		assert_int_equal(peek(STATE(c, GHYVI_CTX_RING_HEAD)), guest.tails[c]);
}

/*
 * The next submission of i915: the context that it believes to be first, or others after that has
 * completed.
 */
static void random_submit(void)
{
	int c0 = guest.active[0];
	int c1 = rand() % CONTEXTS;

	if (c0 < 0 || rand() % 4 == 0)
		c0 = guest.active[1] >= 0 ? guest.active[1] : rand() % CONTEXTS;
	if (c1 == c0 || rand() % 2)
		c1 = -1;
	/*
	 * Promotion drops the second active element: a driver does that only after it has cancelled
	 * its requests.
	 */
	if (c0 == guest.active[0] && guest.active[1] >= 0)
		c1 = guest.active[1];
	if (rand() % 4)
		move_tail(c0);
	if (c1 >= 0 && rand() % 4)
		move_tail(c1);
	submit(c0, c1);
}

static void books_balance_under_random_sequences(void **state)
{
	int round, i;

	for (round = 0; round < 300; round++) {
		int submitted = 0, promotes = guest.promotes;

		srand(round);
		for (i = 0; i < 200; i++) {
			gpu.stale = rand() % 3 == 0;
			switch (rand() % 4) {
			case 0:
				if (!guest.has_pending) {
					random_submit();
					submitted++;
				}
				break;
			case 1:
				if (gpu.running[guest.id])
					finish(guest.id, rand() % 3 ? GHYVI_JOB_COMPLETE :
								      GHYVI_JOB_PREEMPTED);
				break;
			default:
				consume();
			}
			/* i915 consumes all before it submits: never more than six outstanding */
			if (rand() % 2)
				while (consume())
					;
		}
		if (round % 3 == 0) {
			guest_reset();
			settle();
			promotes = guest.promotes;
			submitted = 0;
			assert_int_equal(consume(), 0);
		}
		while (gpu.running[guest.id]) {
			while (consume())
				;
			finish(guest.id, GHYVI_JOB_COMPLETE);
		}
		while (consume())
			;
		assert_int_equal(guest.promotes - promotes, submitted);
		expect_all_done();
	}
	assert_true(atomic64_read(&stats.lite_restores) > 100);
	assert_true(guest.completes > 1000);
}

/* The same with a real engine thread, and without waiting. */
static _Atomic bool engine_stop;

static void *engine_thread(void *unused)
{
	unsigned int jobs = 0;

	while (!engine_stop) {
		struct ghyvi_job *job = take_job(guest.id);

		if (job && ++jobs % 3 == 0) {
			finish_job(job, GHYVI_JOB_PREEMPTED);
		} else if (job) {
			job->event(job, GHYVI_EVENT_USER_INTERRUPT);
			finish_job(job, GHYVI_JOB_COMPLETE);
		}
		sched_yield();
	}
	return NULL;
}

static void books_balance_with_an_engine_thread(void **state)
{
	pthread_t thread;
	int submitted = 0, i;

	srand(1);
	pthread_create(&thread, NULL, engine_thread, NULL);
	for (i = 0; i < 20000; i++) {
		if (!guest.has_pending) {
			random_submit();
			submitted++;
		}
		while (consume_concurrently())
			;
		if (i % 64 == 0) {
			guest_reset();
			settle();
			submitted = guest.promotes;
		}
	}
	for (i = 0; i < 10000000 && (guest.has_pending || guest.active[0] >= 0); i++)
		consume_concurrently();
	engine_stop = true;
	pthread_join(thread, NULL);
	assert_int_equal(submitted, guest.promotes);
	expect_all_done();
}

u32 rnd(u32 n)
{
	return ((u32)rand() << 16 ^ (u32)rand()) % n;
}

static void any_access_is_harmless(void **state)
{
	int i;

	srand(7);
	for (i = 0; i < 300000; i++)
		move();
	assert_true(gpu.runs > 1000);
	ghyvi_vgpu_reset(vgpu);
	settle();
	assert_int_equal(gtt.roots_live, 0);
}

static int setup_threads(void **state)
{
	sched_threads = true;
	return setup_rcs(state);
}

#define THREADS(f) cmocka_unit_test_setup_teardown(f, setup_threads, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(books_balance_under_random_sequences),
		BCS8(books_balance_under_random_sequences),
		RCS(any_access_is_harmless),
		THREADS(books_balance_with_an_engine_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
