// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler core: order, one job per engine, cancel in every state, no kick lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/err.h>
#include <ghyvi/sched.h>

#define WORKLOADS 8

struct item {
	struct ghyvi_workload base;
	int number;
	int prepare_result;
	void (*in_prepare)(struct item *item);
	void (*in_complete)(struct item *item);
	_Atomic int prepared, completed;
	_Atomic int status;
	_Atomic bool off_limits; /* cancelled: must not come to an engine any more */
	pthread_t preparer, starter;
	u32 context[GHYVI_CTX_DWORDS];
};

static struct {
	pthread_mutex_t lock;
	struct ghyvi_job *running[GHYVI_ENGINES];
	int run_error, update_error;
	_Atomic int cancels, preempts;
	int updates;
	int order[1000];
	_Atomic int runs;
	bool never_begins; /* what it is given comes back without having run */
	void (*before_run)(void);
} gpu = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct ghyvi_sched *sched;
static struct ghyvi_stats stats;
static struct ghyvi_reporter reporter;
static struct device device = { "test" };
static struct item items[WORKLOADS];

static int gpu_run(void *pgpu, struct ghyvi_job *job)
{
	int err;

	sched_yield(); /* what comes between "will run" and "runs"? */
	if (gpu.before_run)
		gpu.before_run();
	assert_false(container_of(job, struct item, base.job)->off_limits);
	container_of(job, struct item, base.job)->starter = pthread_self();
	pthread_mutex_lock(&gpu.lock);
	err = gpu.run_error;
	if (!err) {
		assert_null(gpu.running[job->engine]);
		gpu.running[job->engine] = job;
		if (gpu.runs < 1000)
			gpu.order[gpu.runs] = container_of(job, struct item, base.job)->number;
		gpu.runs++;
	}
	pthread_mutex_unlock(&gpu.lock);
	return err;
}

static void gpu_cancel(void *pgpu, struct ghyvi_job *job)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.cancels++;
	pthread_mutex_unlock(&gpu.lock);
}

static void gpu_preempt(void *pgpu, struct ghyvi_job *job)
{
	gpu.preempts++;
}

static int gpu_update_tail(void *pgpu, struct ghyvi_job *job, u32 tail)
{
	gpu.updates++;
	return gpu.update_error;
}

static const struct ghyvi_pgpu_ops ops = {
	.run = gpu_run,
	.cancel = gpu_cancel,
	.preempt = gpu_preempt,
	.update_tail = gpu_update_tail,
};

static struct ghyvi_job *gpu_take(enum ghyvi_engine_id engine)
{
	struct ghyvi_job *job;

	pthread_mutex_lock(&gpu.lock);
	job = gpu.running[engine];
	gpu.running[engine] = NULL;
	pthread_mutex_unlock(&gpu.lock);
	return job;
}

static void wait_for(_Atomic int *counter)
{
	while (!*counter)
		usleep_range(100, 200); /* never: shows as a time-out of the test program */
}

static void wait_for_runs(int runs)
{
	while (gpu.runs < runs)
		usleep_range(100, 200);
}

/* Which one was the @n-th to run? */
static int ran(int n)
{
	wait_for_runs(n + 1);
	return gpu.order[n];
}

/* The engine leaves what it runs. */
static struct item *gpu_leave(enum ghyvi_engine_id engine, enum ghyvi_job_status status)
{
	struct ghyvi_job *job;

	/*
	 * It may come from the thread that prepared it. Never: shows as a time-out of the test
	 * program.
	 */
	while (!(job = gpu_take(engine)))
		usleep_range(100, 200);
	WRITE_ONCE(job->busy_ns, gpu.never_begins ? 0 : 1);
	job->done(job, status);
	return container_of(job, struct item, base.job);
}

/* And its owner has heard of it. */
static void gpu_finish(enum ghyvi_engine_id engine, enum ghyvi_job_status status)
{
	wait_for(&gpu_leave(engine, status)->completed);
}

static int item_prepare(struct ghyvi_workload *base)
{
	struct item *item = container_of(base, struct item, base);

	item->preparer = pthread_self();
	item->prepared++;
	if (item->in_prepare)
		item->in_prepare(item);
	return item->prepare_result;
}

static void item_complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct item *item = container_of(base, struct item, base);

	if (item->in_complete)
		item->in_complete(item);
	item->status = status;
	item->completed++;
}

static int setup(void **state)
{
	int i;

	memset(items, 0, sizeof(items));
	memset(gpu.running, 0, sizeof(gpu.running));
	gpu.run_error = gpu.update_error = gpu.cancels = gpu.updates = gpu.runs = 0;
	gpu.preempts = 0;
	memset(&stats, 0, sizeof(stats));
	shim_quiet = true;
	ghyvi_reporter_init(&reporter, &device);
	sched = ghyvi_sched_create(&ops, NULL);
	for (i = 0; i < WORKLOADS; i++) {
		items[i].number = i;
		items[i].base.prepare = item_prepare;
		items[i].base.complete = item_complete;
		items[i].base.job.context = items[i].context;
		items[i].status = -1;
	}
	return IS_ERR(sched);
}

static int teardown(void **state)
{
	ghyvi_sched_destroy(sched);
	return 0;
}

static void queue(int i)
{
	ghyvi_sched_queue(sched, &items[i].base);
}

static struct ghyvi_sched_entity *give_owner(struct item *item)
{
	struct ghyvi_sched_entity *entity = ghyvi_sched_entity_create(sched, &stats, &reporter);

	item->base.owner = entity;
	return entity;
}

/* As the thread of the guest whose workload that is. */
static void submit(int i)
{
	queue(i);
	ghyvi_sched_kick(sched, GHYVI_RCS, items[i].base.owner);
}

static void set_timeouts(u32 timeslice_us, u32 preempt_timeout_us)
{
	struct ghyvi_sched_settings settings;

	ghyvi_sched_settings(sched, &settings);
	settings.timeslice_us = timeslice_us;
	settings.preempt_timeout_us = preempt_timeout_us;
	assert_int_equal(ghyvi_sched_set_settings(sched, &settings), 0);
}

static void test_first_come_first_served_one_at_a_time(void **state)
{
	int i;

	for (i = 0; i < 4; i++)
		queue(i);
	assert_int_equal(gpu.runs, 0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(gpu.runs, 1);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(items[2].prepared, 0); /* only the next one is prepared early */
	for (i = 0; i < 4; i++) {
		assert_int_equal(ran(i), i);
		gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
		assert_int_equal(items[i].completed, 1);
		assert_int_equal(items[i].status, GHYVI_JOB_COMPLETE);
	}
	assert_int_equal(gpu.runs, 4);
}

static void test_engines_are_independent(void **state)
{
	items[1].base.job.engine = GHYVI_VECS;
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_VECS, NULL);
	assert_null(gpu.running[GHYVI_RCS]);
	assert_non_null(gpu.running[GHYVI_VECS]);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu_finish(GHYVI_VECS, GHYVI_JOB_COMPLETE);
}

static void test_a_failed_start_does_not_block_the_next_workload(void **state)
{
	items[0].prepare_result = -EFAULT;
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	wait_for(&items[0].completed);
	assert_int_equal(items[0].status, GHYVI_JOB_ERROR);
	assert_int_equal(ran(0), 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_ERROR);
	assert_int_equal(items[1].status, GHYVI_JOB_ERROR);

	gpu.run_error = -EIO;
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	wait_for(&items[2].completed);
	assert_int_equal(items[2].status, GHYVI_JOB_ERROR);
	assert_int_equal(items[2].completed, 1);
}

static void test_cancel_takes_a_queued_one_back(void **state)
{
	queue(0);
	queue(1);
	queue(2);
	assert_true(ghyvi_sched_cancel(sched, &items[1].base));
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].completed, 0);
	assert_int_equal(items[1].prepared, 0);
	assert_int_equal(ran(1), 2);
	assert_int_equal(gpu.cancels, 0);
}

static void cancel_in_prepare(struct item *item)
{
	assert_false(ghyvi_sched_cancel(sched, &item->base));
}

static void test_cancel_while_preparing_keeps_it_off_the_engine(void **state)
{
	items[0].in_prepare = cancel_in_prepare;
	items[1].in_prepare = cancel_in_prepare;
	items[1].prepare_result = -ECANCELED;
	queue(0);
	queue(1);
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	wait_for(&items[0].completed);
	wait_for(&items[1].completed);
	assert_int_equal(items[0].status, GHYVI_JOB_CANCELLED);
	assert_int_equal(items[1].status, GHYVI_JOB_CANCELLED);
	assert_int_equal(ran(0), 2);
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(gpu.cancels, 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

static void test_cancel_of_a_running_one_stops_the_engine(void **state)
{
	queue(0);
	queue(1);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_false(ghyvi_sched_cancel(sched, &items[0].base));
	assert_int_equal(gpu.cancels, 1);
	assert_int_equal(items[0].completed, 0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(gpu.runs, 1); /* the engine is free only when its job is back */
	gpu_finish(GHYVI_RCS, GHYVI_JOB_CANCELLED);
	assert_int_equal(items[0].status, GHYVI_JOB_CANCELLED);
	assert_false(ghyvi_sched_cancel(sched, &items[0].base));
	assert_int_equal(gpu.cancels, 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

static void test_update_tail_in_every_state(void **state)
{
	queue(0);
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 8), 0);
	assert_int_equal(items[0].context[GHYVI_CTX_RING_TAIL], 8);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(gpu.updates, 0);
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 16), 0);
	assert_int_equal(gpu.updates, 1);
	gpu.update_error = -ESTALE;
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 24), -ESTALE);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(ghyvi_sched_update_tail(sched, &items[0].base, 32), -ESTALE);
	assert_int_equal(gpu.updates, 2);
}

/* Look-ahead. */

static void test_the_next_is_prepared_once_while_the_engine_runs(void **state)
{
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	queue(2);
	wait_for(&items[1].prepared);
	assert_int_equal(gpu.runs, 1);
	assert_int_equal(items[2].prepared, 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for_runs(2);
	wait_for(&items[2].prepared);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for_runs(3);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].prepared, 1);
	assert_int_equal(items[2].prepared, 1);
}

static _Atomic int go;

static void wait_to_go(struct item *item)
{
	wait_for(&go);
}

static void test_a_turn_that_comes_during_preparation_is_taken_after_it(void **state)
{
	go = 0;
	items[1].in_prepare = wait_to_go;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	wait_for(&items[1].prepared);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	assert_int_equal(gpu.runs, 1);
	go = 1;
	wait_for_runs(2);
	assert_int_equal(ran(1), 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for_runs(3);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].prepared, 1);
}

static void test_a_workload_prepared_ahead_can_fail_or_be_cancelled(void **state)
{
	items[2].prepare_result = -EFAULT;
	items[3].in_prepare = cancel_in_prepare;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	wait_for(&items[1].prepared);
	usleep_range(1000, 2000);
	assert_true(ghyvi_sched_cancel(sched, &items[1].base));
	queue(2);
	wait_for(&items[2].completed);
	assert_int_equal(items[2].status, GHYVI_JOB_ERROR);
	queue(3);
	wait_for(&items[3].completed);
	assert_int_equal(items[3].status, GHYVI_JOB_CANCELLED);
	queue(4);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	wait_for_runs(2);
	assert_int_equal(ran(1), 4);
	assert_int_equal(items[1].completed, 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

/* Whose thread prepares. */

#define PATIENCE_MS 10000

/* Fails when @counter does not become @value. */
static void assert_becomes(_Atomic int *counter, int value)
{
	unsigned int ms;

	for (ms = 0; *counter != value && ms < PATIENCE_MS; ms++)
		usleep_range(1000, 1100);
	assert_int_equal(*counter, value);
}

static void test_a_guests_thread_prepares_and_starts_its_own_workload(void **state)
{
	struct ghyvi_sched_entity *entity = give_owner(&items[0]);

	submit(0);
	assert_int_equal(gpu.runs, 1);
	assert_true(pthread_equal(items[0].preparer, pthread_self()));
	assert_true(pthread_equal(items[0].starter, pthread_self()));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(entity);
}

/* That guest's process may be about to be killed, or have no time on a CPU left. */
static void test_a_guests_thread_leaves_anothers_workload_to_the_host(void **state)
{
	struct ghyvi_sched_entity *one = give_owner(&items[0]), *other = give_owner(&items[1]);

	assert_int_equal(ghyvi_sched_set_policy(sched, "fifo"), 0);
	set_timeouts(GHYVI_SCHED_TIMESLICE_MAX_US, 0);
	queue(0);
	submit(1);
	assert_becomes(&gpu.runs, 1);
	assert_int_equal(ran(0), 0);
	assert_false(pthread_equal(items[0].preparer, pthread_self()));
	assert_false(pthread_equal(items[0].starter, pthread_self()));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(one);
	ghyvi_sched_entity_destroy(other);
}

static void queue_1_and_have_it_prepared(struct item *item)
{
	queue(1);
	items[1].base.preparing = false; /* as if it had been looked ahead for */
	items[1].base.prepared = true;
}

/*
 * Two vGPUs; the second one's workload is already prepared when a thread of the first one's guest
 * gives it the engine.
 */
static void test_a_guests_thread_does_not_start_anothers_prepared_workload(void **state)
{
	struct ghyvi_sched_entity *one = give_owner(&items[0]), *other = give_owner(&items[1]);

	assert_int_equal(ghyvi_sched_set_policy(sched, "fifo"), 0);
	items[0].prepare_result = -EFAULT;
	items[0].in_prepare = queue_1_and_have_it_prepared;
	submit(0);
	assert_becomes(&gpu.runs, 1);
	assert_false(pthread_equal(items[1].starter, pthread_self()));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(one);
	ghyvi_sched_entity_destroy(other);
}

/* An engine is kept by a workload that is being prepared only as long as others can spare it. */

static void prepare_until_told(struct item *item)
{
	int ms;

	for (ms = 0; !go && ms < 2 * PATIENCE_MS; ms++)
		usleep_range(1000, 1100);
}

/* The first one gets the engine, and its preparation does not come to an end. */
static void give_engine_to_a_slow_one(struct ghyvi_sched_entity *entities[2])
{
	unsigned int i;

	go = 0;
	for (i = 0; i < 2; i++)
		entities[i] = give_owner(&items[i]);
	items[0].in_prepare = prepare_until_told;
	queue(0);
	/* As the other's thread, which does not prepare. */
	ghyvi_sched_kick(sched, GHYVI_RCS, items[1].base.owner);
	assert_becomes(&items[0].prepared, 1);
}

static void forget_owners(struct ghyvi_sched_entity *entities[2])
{
	ghyvi_sched_entity_destroy(entities[0]);
	ghyvi_sched_entity_destroy(entities[1]);
}

static void the_slow_one_gives_way(const char *policy, u32 timeslice_us, u32 preempt_timeout_us)
{
	struct ghyvi_sched_entity *entities[2];

	assert_int_equal(ghyvi_sched_set_policy(sched, policy), 0);
	set_timeouts(timeslice_us, preempt_timeout_us);
	give_engine_to_a_slow_one(entities);
	submit(1);
	assert_becomes(&gpu.runs, 1);
	assert_int_equal(ran(0), 1);
	assert_int_equal(items[0].completed, 0);
	go = 1;
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_becomes(&gpu.runs, 2);
	assert_int_equal(ran(1), 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[0].status, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].status, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[0].prepared, 1);
	assert_true(atomic64_read(&stats.prepare_ns_rcs) > 0);
	forget_owners(entities);
}

static void test_a_workload_prepared_for_longer_than_a_timeslice_gives_way(void **state)
{
	static const char *const names[] = { "fifo", "credit", "band", "fair" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		the_slow_one_gives_way(names[i], 100, 0);
	}
}

static void test_a_workload_prepared_for_longer_than_the_timeout_gives_way(void **state)
{
	the_slow_one_gives_way("fair", GHYVI_SCHED_TIMESLICE_MAX_US,
			       GHYVI_SCHED_PREEMPT_TIMEOUT_MIN_US);
}

static void test_a_workload_prepared_while_no_other_waits_keeps_the_engine(void **state)
{
	struct ghyvi_sched_entity *entities[2];

	set_timeouts(100, 1000);
	give_engine_to_a_slow_one(entities);
	usleep_range(10000, 11000);
	go = 1;
	assert_becomes(&gpu.runs, 1);
	assert_int_equal(atomic64_read(&stats.switches_rcs), 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	forget_owners(entities);
}

static void test_workloads_of_one_vgpu_stay_in_order_when_the_first_is_late(void **state)
{
	struct ghyvi_sched_entity *entities[2];
	int i;

	set_timeouts(100, 1000);
	give_engine_to_a_slow_one(entities);
	items[2].base.owner = items[0].base.owner;
	queue(2);
	submit(1);
	assert_becomes(&gpu.runs, 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	submit(1);
	assert_becomes(&gpu.runs, 2); /* the other vGPU still has the engine for itself */
	go = 1;
	for (i = 2; i <= 4; i++) {
		gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
		if (i < 4)
			assert_becomes(&gpu.runs, i + 1);
	}
	assert_int_equal(ran(1), 1);
	assert_int_equal(ran(2), 0);
	assert_int_equal(ran(3), 2);
	forget_owners(entities);
}

static void test_a_late_workload_can_fail(void **state)
{
	struct ghyvi_sched_entity *entities[2];

	set_timeouts(100, 1000);
	give_engine_to_a_slow_one(entities);
	items[0].prepare_result = -EFAULT;
	items[2].base.owner = items[0].base.owner;
	queue(2);
	submit(1);
	assert_becomes(&gpu.runs, 1);
	go = 1;
	assert_becomes(&items[0].completed, 1);
	assert_int_equal(items[0].status, GHYVI_JOB_ERROR);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_becomes(&gpu.runs, 2); /* what was behind it has its turn */
	assert_int_equal(ran(1), 2);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	forget_owners(entities);
}

/* Before the engine is given to another, and after. */
static void test_a_late_workload_can_be_cancelled(void **state)
{
	struct ghyvi_sched_entity *entities[2];
	bool after;

	for (after = false;; after = true) {
		set_timeouts(100, 1000);
		give_engine_to_a_slow_one(entities);
		if (!after)
			assert_false(ghyvi_sched_cancel(sched, &items[0].base));
		submit(1);
		assert_becomes(&gpu.runs, 1);
		assert_int_equal(ran(0), 1);
		if (after)
			assert_false(ghyvi_sched_cancel(sched, &items[0].base));
		assert_int_equal(items[0].completed, 0);
		go = 1;
		assert_becomes(&items[0].completed, 1);
		assert_int_equal(items[0].status, GHYVI_JOB_CANCELLED);
		gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
		assert_int_equal(gpu.runs, 1);
		forget_owners(entities);
		if (after)
			break;
		teardown(state);
		setup(state);
	}
}

static void prepare_for_2_ms(struct item *item)
{
	usleep_range(2000, 2100);
}

static void test_preparation_is_counted_also_ahead_and_in_vain(void **state)
{
	struct ghyvi_sched_entity *entity = give_owner(&items[1]);

	items[1].in_prepare = prepare_for_2_ms;
	items[1].prepare_result = -EFAULT;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	wait_for(&items[1].completed);
	assert_int_equal(items[1].status, GHYVI_JOB_ERROR);
	assert_int_equal(atomic64_read(&stats.prepared_ahead_rcs), 1);
	assert_true(atomic64_read(&stats.prepare_ns_rcs) >= 2000000);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(entity);
}

/* Completion. */

static void test_an_owner_that_stays_away_does_not_block_others(void **state)
{
	int i;

	go = 0;
	for (i = 0; i < 3; i++)
		items[i].in_complete = wait_to_go;
	items[1].prepare_result =
		-EFAULT; /* comes back from the look-ahead, the next from a kick */
	items[2].prepare_result = -EFAULT;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(1);
	wait_for(&items[1].prepared);
	gpu_leave(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	queue(2);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	queue(3);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(ran(1), 3);
	assert_int_equal(items[0].completed + items[1].completed + items[2].completed, 0);
	go = 1;
	for (i = 0; i < 3; i++)
		wait_for(&items[i].completed);
	assert_int_equal(items[0].status, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].status, GHYVI_JOB_ERROR);
	assert_int_equal(items[2].status, GHYVI_JOB_ERROR);
}

/* Submits the next workload in complete(), as the device model does; no other thread kicks. */
static void queue_again(struct item *item)
{
	if (item->completed < 2)
		ghyvi_sched_queue(sched, &item->base);
}

static void test_a_workload_queued_in_complete_gets_the_engine(void **state)
{
	int i;

	items[0].in_complete = queue_again;
	queue(0);
	ghyvi_sched_kick(sched, GHYVI_RCS, NULL);
	for (i = 1; i <= 3; i++) {
		wait_for_runs(i);
		gpu_leave(GHYVI_RCS, i == 2 ? GHYVI_JOB_PREEMPTED : GHYVI_JOB_COMPLETE);
	}
	while (items[0].completed < 3)
		usleep_range(100, 200);
	assert_int_equal(gpu.runs, 3);
}

static void test_preemption_is_requested_then_enforced_and_reported(void **state)
{
	struct ghyvi_sched_entity *hog = give_owner(&items[0]), *other = give_owner(&items[1]);
	char text[GHYVI_REPORT_BYTES];

	set_timeouts(100, 1000);
	submit(0);
	usleep_range(10000, 20000);
	assert_int_equal(gpu.preempts, 0); /* no other vGPU is enqueued */
	queue(1);
	wait_for(&gpu.preempts);
	wait_for(&gpu.cancels);
	assert_int_equal(gpu.runs, 1);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_CANCELLED);
	assert_int_equal(items[0].status, GHYVI_JOB_ERROR);
	assert_int_equal(ran(1), 1);
	assert_int_equal(atomic64_read(&stats.preempt_requests_rcs), 1);
	assert_int_equal(atomic64_read(&stats.preempt_timeouts_rcs), 1);
	ghyvi_report_last(&reporter, text, sizeof(text));
	assert_non_null(strstr(text, "preemption timed out"));
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	assert_int_equal(items[1].status, GHYVI_JOB_COMPLETE);
	assert_true(atomic64_read(&stats.busy_ns_rcs) > 0);
	assert_true(atomic64_read(&stats.wait_ns_rcs) > 0);
	ghyvi_sched_entity_destroy(hog);
	ghyvi_sched_entity_destroy(other);
}

/* It was given to a backend that is still busy with what came before. */
static void test_a_workload_that_never_began_is_not_stopped(void **state)
{
	struct ghyvi_sched_entity *late = give_owner(&items[0]), *other = give_owner(&items[1]);
	char text[GHYVI_REPORT_BYTES];

	set_timeouts(100, 1000);
	submit(0);
	queue(1);
	wait_for(&gpu.cancels);
	gpu.never_begins = true;
	gpu_finish(GHYVI_RCS, GHYVI_JOB_CANCELLED);
	gpu.never_begins = false;
	assert_int_equal(items[0].status, GHYVI_JOB_PREEMPTED);
	assert_int_equal(atomic64_read(&stats.preempt_timeouts_rcs), 0);
	ghyvi_report_last(&reporter, text, sizeof(text));
	assert_string_equal(text, "");
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(late);
	ghyvi_sched_entity_destroy(other);
}

static void let_timeslice_pass(void)
{
	gpu.before_run = NULL;
	queue(1);
	wait_for(&gpu.preempts);
	gpu.preempts = 0;
}

/* The backend does not know the job yet. */
static void test_an_early_preemption_request_is_repeated(void **state)
{
	struct ghyvi_sched_entity *late = give_owner(&items[0]), *other = give_owner(&items[1]);

	set_timeouts(100, 0);
	gpu.before_run = let_timeslice_pass;
	submit(0);
	wait_for(&gpu.preempts);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_PREEMPTED);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(late);
	ghyvi_sched_entity_destroy(other);
}

static void test_without_a_timeout_no_workload_is_stopped(void **state)
{
	struct ghyvi_sched_entity *hog = give_owner(&items[0]), *other = give_owner(&items[1]);

	set_timeouts(100, 0);
	submit(0);
	queue(1);
	wait_for(&gpu.preempts);
	usleep_range(10000, 20000);
	assert_int_equal(gpu.cancels, 0);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_PREEMPTED);
	assert_int_equal(items[0].status, GHYVI_JOB_PREEMPTED);
	gpu_finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	ghyvi_sched_entity_destroy(hog);
	ghyvi_sched_entity_destroy(other);
}

/* Threads: an engine, and vGPUs that submit, kick, cancel and wait. */

#define VGPUS 4
#define ROUNDS 3000

static _Atomic bool stop_engine;

static void *engine_thread(void *unused)
{
	while (!stop_engine) {
		struct ghyvi_job *job = gpu_take(GHYVI_RCS);

		if (job)
			job->done(job, GHYVI_JOB_COMPLETE);
		else
			sched_yield();
	}
	return NULL;
}

static void *switcher_thread(void *unused)
{
	static const char *const names[] = { "fifo", "credit", "band", "fair" };
	unsigned int i;

	for (i = 0; !stop_engine; i++) {
		ghyvi_sched_set_policy(sched, names[i % ARRAY_SIZE(names)]);
		usleep_range(100, 200);
	}
	return NULL;
}

static void *vgpu_thread(void *data)
{
	struct item *item = data;
	unsigned int seed = item->number;
	int i, expected = 0;

	for (i = 0; i < ROUNDS; i++) {
		item->off_limits = false;
		ghyvi_sched_queue(sched, &item->base);
		if (rand_r(&seed) % 4 == 0)
			sched_yield();
		ghyvi_sched_kick(sched, GHYVI_RCS, item->base.owner);
		if (rand_r(&seed) % 3 == 0) {
			if (ghyvi_sched_cancel(sched, &item->base))
				continue;
			item->off_limits = true;
		}
		expected++;
		/* a lost kick shows as a time-out of the test program */
		while (item->completed != expected)
			sched_yield();
	}
	return (void *)(long)expected;
}

static void test_nothing_is_lost_between_threads(void **state)
{
	struct ghyvi_sched_entity *entities[VGPUS];
	pthread_t engine, switcher, vgpus[VGPUS];
	int i;

	stop_engine = false;
	set_timeouts(100, 1000);
	for (i = 0; i < VGPUS; i++)
		entities[i] = give_owner(&items[i]);
	pthread_create(&engine, NULL, engine_thread, NULL);
	pthread_create(&switcher, NULL, switcher_thread, NULL);
	for (i = 0; i < VGPUS; i++)
		pthread_create(&vgpus[i], NULL, vgpu_thread, &items[i]);
	for (i = 0; i < VGPUS; i++) {
		void *expected;

		pthread_join(vgpus[i], &expected);
		assert_int_equal(items[i].completed, (long)expected);
	}
	stop_engine = true;
	pthread_join(engine, NULL);
	pthread_join(switcher, NULL);
	assert_null(gpu.running[GHYVI_RCS]);
	for (i = 0; i < VGPUS; i++)
		ghyvi_sched_entity_destroy(entities[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_first_come_first_served_one_at_a_time),
		TEST(test_engines_are_independent),
		TEST(test_a_failed_start_does_not_block_the_next_workload),
		TEST(test_cancel_takes_a_queued_one_back),
		TEST(test_cancel_while_preparing_keeps_it_off_the_engine),
		TEST(test_cancel_of_a_running_one_stops_the_engine),
		TEST(test_update_tail_in_every_state),
		TEST(test_the_next_is_prepared_once_while_the_engine_runs),
		TEST(test_a_guests_thread_prepares_and_starts_its_own_workload),
		TEST(test_a_guests_thread_leaves_anothers_workload_to_the_host),
		TEST(test_a_guests_thread_does_not_start_anothers_prepared_workload),
		TEST(test_a_workload_prepared_for_longer_than_a_timeslice_gives_way),
		TEST(test_a_workload_prepared_for_longer_than_the_timeout_gives_way),
		TEST(test_a_workload_prepared_while_no_other_waits_keeps_the_engine),
		TEST(test_workloads_of_one_vgpu_stay_in_order_when_the_first_is_late),
		TEST(test_a_late_workload_can_fail),
		TEST(test_a_late_workload_can_be_cancelled),
		TEST(test_preparation_is_counted_also_ahead_and_in_vain),
		TEST(test_a_turn_that_comes_during_preparation_is_taken_after_it),
		TEST(test_a_workload_prepared_ahead_can_fail_or_be_cancelled),
		TEST(test_an_owner_that_stays_away_does_not_block_others),
		TEST(test_a_workload_queued_in_complete_gets_the_engine),
		TEST(test_preemption_is_requested_then_enforced_and_reported),
		TEST(test_a_workload_that_never_began_is_not_stopped),
		TEST(test_an_early_preemption_request_is_repeated),
		TEST(test_without_a_timeout_no_workload_is_stopped),
		TEST(test_nothing_is_lost_between_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
