// SPDX-License-Identifier: GPL-2.0-only
#include "sched_items.h"

struct items_gpu gpu = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct ghyvi_sched *sched;

struct ghyvi_stats stats;

struct ghyvi_reporter reporter;

struct device device = { "test" };

struct item items[WORKLOADS];

static int gpu_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	int err;

	sched_yield(); /* what comes between "will run" and "runs"? */
	if (gpu.before_run)
		gpu.before_run();
	assert_false(container_of(job, struct item, base.job)->off_limits);
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

static void gpu_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.cancels++;
	pthread_mutex_unlock(&gpu.lock);
	if (gpu.in_cancel)
		gpu.in_cancel();
}

static void gpu_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	gpu.preempts++;
}

static int gpu_update_tail(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job, u32 tail)
{
	gpu.updates++;
	if (gpu.in_update)
		gpu.in_update();
	return gpu.update_error;
}

static const struct ghyvi_pgpu_ops ops = {
	.run = gpu_run,
	.cancel = gpu_cancel,
	.preempt = gpu_preempt,
	.update_tail = gpu_update_tail,
};
static struct ghyvi_pgpu_device gpu_device = { .ops = &ops };

struct ghyvi_job *gpu_take(enum ghyvi_engine_id engine)
{
	struct ghyvi_job *job;

	pthread_mutex_lock(&gpu.lock);
	job = gpu.running[engine];
	gpu.running[engine] = NULL;
	pthread_mutex_unlock(&gpu.lock);
	return job;
}

void wait_for(_Atomic int *counter)
{
	while (!*counter)
		usleep_range(100, 200); /* never: shows as a time-out of the test program */
}

void wait_for_runs(int runs)
{
	while (gpu.runs < runs)
		usleep_range(100, 200);
}

int ran(int n)
{
	wait_for_runs(n + 1);
	return gpu.order[n];
}

struct item *gpu_leave(enum ghyvi_engine_id engine, enum ghyvi_job_status status)
{
	struct ghyvi_job *job;

	/* Another thread may still start it. A lost job shows as a time-out of the test program. */
	while (!(job = gpu_take(engine)))
		usleep_range(100, 200);
	WRITE_ONCE(job->busy_ns, gpu.never_begins ? 0 : 1);
	job->done(job, status);
	return container_of(job, struct item, base.job);
}

void gpu_finish(enum ghyvi_engine_id engine, enum ghyvi_job_status status)
{
	wait_for(&gpu_leave(engine, status)->completed);
}

static void item_complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct item *item = container_of(base, struct item, base);

	if (item->in_complete)
		item->in_complete(item);
	item->status = status;
	item->completed++;
}

int setup(void **state)
{
	int i;

	memset(items, 0, sizeof(items));
	memset(gpu.running, 0, sizeof(gpu.running));
	gpu.run_error = gpu.update_error = gpu.cancels = gpu.updates = gpu.runs = 0;
	gpu.preempts = 0;
	gpu.in_update = gpu.in_cancel = NULL;
	memset(&stats, 0, sizeof(stats));
	shim_quiet = true;
	ghyvi_reporter_init(&reporter, &device);
	sched = ghyvi_sched_create(&gpu_device);
	for (i = 0; i < WORKLOADS; i++) {
		items[i].number = i;
		items[i].base.complete = item_complete;
		items[i].base.job.context = items[i].context;
		items[i].status = -1;
	}
	return IS_ERR(sched);
}

int teardown(void **state)
{
	ghyvi_sched_destroy(sched);
	return 0;
}

bool becomes(_Atomic int *counter, int value)
{
	unsigned int ms;

	for (ms = 0; *counter != value && ms < PATIENCE_MS; ms++)
		usleep_range(1000, 1100);
	return *counter == value;
}

void queue(int i)
{
	ghyvi_sched_queue(sched, &items[i].base);
}

struct ghyvi_sched_entity *give_owner(struct item *item)
{
	struct ghyvi_sched_entity *entity = ghyvi_sched_entity_create(sched, &stats, &reporter);

	item->base.owner = entity;
	return entity;
}

void submit_to(enum ghyvi_engine_id engine, int i)
{
	queue(i);
	ghyvi_sched_kick(sched, engine);
}

void submit(int i)
{
	submit_to(GHYVI_RCS, i);
}

void set_timeouts(u32 timeslice_us, u32 preempt_timeout_us)
{
	struct ghyvi_sched_settings settings;

	ghyvi_sched_get_settings(sched, &settings);
	settings.timeslice_us = timeslice_us;
	settings.preempt_timeout_us = preempt_timeout_us;
	assert_int_equal(ghyvi_sched_set_settings(sched, &settings), 0);
}

_Atomic int go;

void wait_to_go(struct item *item)
{
	wait_for(&go);
}
