// SPDX-License-Identifier: GPL-2.0-only
/* The simulation: events in order of time. It is independent of policies. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "simulate.h"

#define BIN_NS (100 * NSEC_PER_MSEC)
#define ENGINE GHYVI_RCS

struct simulation;

struct request {
	struct ghyvi_workload base;
	struct simulation *sim;
	unsigned int vgpu;
	u64 left_ns; /* remaining work if it was preempted */
	u64 queued_ns;
	u64 due_ns; /* time of the next submission; key of the heap */
};

struct simulation {
	struct ghyvi_pgpu_device pgpu;
	struct ghyvi_sched_clock clock;
	const struct sim_setup *setup;
	struct sim_result *result;
	struct ghyvi_sched *sched;
	struct ghyvi_sched_entity *entities[SIM_VGPUS_MAX];
	struct ghyvi_stats stats[SIM_VGPUS_MAX];
	struct request *requests;
	unsigned int nr_requests;
	struct request **heap; /* requests in think time */
	unsigned int nr_heap;
	u64 now, timer;
	u64 withdraw_ns; /* next time at which a vGPU withdraws its requests */
	struct ghyvi_job *running;
	u64 started_ns, work_ns, done_ns; /* run() called; switch completed; end of the work */
	struct request *last;
	u64 switching_ns; /* total switch time since @from_ns */
	enum ghyvi_job_status status;
	u64 from_ns; /* when the last vGPU starts; measurement begins */
	u64 longest_ns;
	double *bins; /* [bin][vgpu] */
	unsigned int nr_bins;
	double served[SIM_VGPUS_MAX], base[SIM_VGPUS_MAX], total, base_total;
	bool based, ending;
	u32 context[GHYVI_CTX_DWORDS];
	unsigned int seed;
};

static void heap_push(struct simulation *sim, struct request *r)
{
	unsigned int i = sim->nr_heap++;

	for (; i && sim->heap[(i - 1) / 2]->due_ns > r->due_ns; i = (i - 1) / 2)
		sim->heap[i] = sim->heap[(i - 1) / 2];
	sim->heap[i] = r;
}

static struct request *heap_pop(struct simulation *sim)
{
	struct request *top = sim->heap[0], *last = sim->heap[--sim->nr_heap];
	unsigned int i = 0, child;

	while ((child = 2 * i + 1) < sim->nr_heap) {
		if (child + 1 < sim->nr_heap &&
		    sim->heap[child + 1]->due_ns < sim->heap[child]->due_ns)
			child++;
		if (sim->heap[child]->due_ns >= last->due_ns)
			break;
		sim->heap[i] = sim->heap[child];
		i = child;
	}
	sim->heap[i] = last;
	return top;
}

static u64 jittered(struct simulation *sim, u64 ns, unsigned int percent)
{
	if (!percent)
		return ns;
	return ns + ns * percent / 100 * (rand_r(&sim->seed) % 2001) / 1000 - ns * percent / 100;
}

/* Schedule the next submission: after think time and preparation, and not in an off phase. */
static void think(struct request *r)
{
	struct simulation *sim = r->sim;
	const struct sim_vgpu *v = &sim->setup->vgpu[r->vgpu];

	r->due_ns = sim->now + jittered(sim, v->think_ns, v->jitter_percent) + v->prepare_ns;
	if (v->off_ns && r->due_ns > v->start_ns) {
		u64 phase = (r->due_ns - v->start_ns) % (v->on_ns + v->off_ns);

		if (phase >= v->on_ns)
			r->due_ns += v->on_ns + v->off_ns - phase;
	}
	heap_push(sim, r);
}

static void submit(struct request *r)
{
	struct simulation *sim = r->sim;
	u64 prepare_ns = sim->setup->vgpu[r->vgpu].prepare_ns;

	r->queued_ns = sim->now;
	ghyvi_sched_queue(sim->sched, &r->base);
	if (prepare_ns)
		ghyvi_sched_charge_preparation(r->base.owner, ENGINE, prepare_ns);
}

static void account(struct simulation *sim, unsigned int vgpu, u64 from, u64 to)
{
	sim->served[vgpu] += to - from;
	sim->total += to - from;
	if (sim->setup->span)
		sim->setup->span(sim->setup->span_data, vgpu, from, to);
	while (from < to) {
		unsigned int bin = from / BIN_NS;
		u64 end = min(to, (bin + 1) * BIN_NS);

		if (bin < sim->nr_bins)
			sim->bins[bin * sim->setup->vgpus + vgpu] += end - from;
		from = end;
	}
}

static double weight(const struct sim_setup *setup, unsigned int vgpu)
{
	return setup->vgpu[vgpu].weight ?: GHYVI_SCHED_WEIGHT_DEFAULT;
}

static void measure_lag(struct simulation *sim)
{
	const struct sim_setup *setup = sim->setup;
	double all = 0, total;
	unsigned int i;

	if (!sim->based || sim->ending)
		return;
	for (i = 0; i < setup->vgpus; i++)
		all += weight(setup, i);
	total = sim->total - sim->base_total;
	for (i = 0; i < setup->vgpus; i++) {
		double lag = fabs(total * weight(setup, i) / all - (sim->served[i] - sim->base[i]));

		sim->result->max_lag = max(sim->result->max_lag, lag / sim->longest_ns);
	}
}

static void complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct request *r = container_of(base, struct request, base);
	struct simulation *sim = r->sim;

	measure_lag(sim);
	if (sim->ending)
		return;
	if (status == GHYVI_JOB_PREEMPTED) {
		sim->result->preemptions++;
		submit(r);
		return;
	}
	sim->result->requests++;
	sim->result->errors[r->vgpu] += status == GHYVI_JOB_ERROR;
	r->left_ns = 0;
	think(r);
}

static int engine_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct simulation *sim = container_of(pgpu, struct simulation, pgpu);
	struct request *r = container_of(job, struct request, base.job);
	const struct sim_vgpu *v = &sim->setup->vgpu[r->vgpu];

	if (sim->running)
		return -EBUSY;
	if (sim->now >= sim->from_ns && v->request_ns != SIM_ENDLESS_NS)
		sim->result->max_wait_ns = max(sim->result->max_wait_ns, sim->now - r->queued_ns);
	if (!r->left_ns)
		r->left_ns = v->request_ns == SIM_ENDLESS_NS ?
				     SIM_ENDLESS_NS :
				     jittered(sim, v->request_ns, v->jitter_percent);
	sim->running = job;
	sim->started_ns = sim->work_ns = sim->now;
	if (!sim->last || sim->last->vgpu != r->vgpu || sim->status == GHYVI_JOB_PREEMPTED)
		sim->work_ns += sim->setup->switch_ns;
	sim->result->switches += sim->last && sim->last->vgpu != r->vgpu;
	sim->last = r;
	sim->done_ns = sim->work_ns + r->left_ns;
	sim->status = GHYVI_JOB_COMPLETE;
	job->begun_ns = sim->now ?: 1; /* 0: not begun */
	return 0;
}

static void engine_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct simulation *sim = container_of(pgpu, struct simulation, pgpu);
	struct request *r = container_of(job, struct request, base.job);
	u64 worked_ns, at;

	if (job != sim->running || !sim->setup->command_ns || r->left_ns > SIM_ENDLESS_NS / 2)
		return;
	worked_ns = sim->now > sim->work_ns ? sim->now - sim->work_ns : 0;
	at = sim->work_ns +
	     DIV_ROUND_UP(worked_ns, sim->setup->command_ns) * sim->setup->command_ns;
	if (at < sim->done_ns) {
		sim->done_ns = at;
		sim->status = GHYVI_JOB_PREEMPTED;
	}
}

static void engine_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct simulation *sim = container_of(pgpu, struct simulation, pgpu);

	if (job != sim->running)
		return;
	sim->done_ns = sim->now;
	sim->status = GHYVI_JOB_CANCELLED;
}

static const struct ghyvi_pgpu_ops engine_ops = {
	.run = engine_run,
	.preempt = engine_preempt,
	.cancel = engine_cancel,
};

static void engine_done(struct simulation *sim)
{
	struct ghyvi_job *job = sim->running;
	struct request *r = container_of(job, struct request, base.job);

	u64 worked_ns = sim->now > sim->work_ns ? sim->now - sim->work_ns : 0;

	job->busy_ns = sim->now - sim->started_ns;
	r->left_ns -= min(r->left_ns, worked_ns);
	if (sim->now >= sim->from_ns)
		sim->switching_ns += job->busy_ns - worked_ns;
	account(sim, r->vgpu, sim->started_ns, sim->now);
	sim->running = NULL;
	job->done(job, sim->status);
}

/* Returns the next time after @now at which @v withdraws all its requests. */
static u64 withdraws_at(const struct sim_vgpu *v, u64 now)
{
	u64 period = v->on_ns + v->off_ns, rounds;

	if (!v->withdraws)
		return U64_MAX;
	rounds = now < v->start_ns + v->on_ns ? 0 : (now - v->start_ns - v->on_ns) / period + 1;
	return v->start_ns + v->on_ns + rounds * period;
}

static void schedule_withdrawal(struct simulation *sim)
{
	unsigned int i;

	sim->withdraw_ns = U64_MAX;
	for (i = 0; i < sim->setup->vgpus; i++)
		sim->withdraw_ns =
			min(sim->withdraw_ns, withdraws_at(&sim->setup->vgpu[i], sim->now));
}

static void withdraw(struct simulation *sim)
{
	unsigned int i;

	for (i = 0; i < sim->nr_requests; i++) {
		struct request *r = &sim->requests[i];

		const struct sim_vgpu *v = &sim->setup->vgpu[r->vgpu];

		if (r->base.sched && withdraws_at(v, sim->now - 1) == sim->now &&
		    ghyvi_sched_cancel(sim->sched, &r->base)) {
			r->left_ns = 0;
			think(r);
		}
	}
	schedule_withdrawal(sim);
}

static u64 clock_now(struct ghyvi_sched_clock *clock)
{
	return container_of(clock, struct simulation, clock)->now;
}

static void clock_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id engine, u64 at)
{
	container_of(clock, struct simulation, clock)->timer = at;
}

/* Start to measure lag. */
static void begin_lag(struct simulation *sim)
{
	memcpy(sim->base, sim->served, sizeof(sim->base));
	sim->base_total = sim->total;
	sim->based = true;
	if (sim->running) {
		struct request *r = container_of(sim->running, struct request, base.job);

		sim->base[r->vgpu] += sim->now - sim->started_ns;
		sim->base_total += sim->now - sim->started_ns;
	}
}

/* Handle one event. Order at the same time: completion, withdrawal, submission, timer. */
static void step(struct simulation *sim)
{
	u64 done = sim->running ? sim->done_ns : U64_MAX;
	u64 due = sim->nr_heap ? sim->heap[0]->due_ns : U64_MAX;
	struct request *r;

	sim->now = max(sim->now, min(min(done, sim->withdraw_ns), min(due, sim->timer)));
	if (!sim->based && sim->now >= sim->from_ns)
		begin_lag(sim);
	if (done <= sim->now) {
		engine_done(sim);
	} else if (sim->withdraw_ns <= sim->now) {
		withdraw(sim);
	} else if (due <= sim->now) {
		r = heap_pop(sim);
		submit(r);
		ghyvi_sched_kick(sim->sched, ENGINE);
	} else {
		sim->timer = GHYVI_SCHED_NEVER;
		ghyvi_sched_timer(sim->sched, ENGINE);
	}
}

static double jain(const struct simulation *sim, unsigned int first, unsigned int bins)
{
	const struct sim_setup *setup = sim->setup;
	double sum = 0, squares = 0;
	unsigned int i, b;

	for (i = 0; i < setup->vgpus; i++) {
		double x = 0;

		for (b = first; b < first + bins; b++)
			x += sim->bins[b * setup->vgpus + i];
		x /= weight(setup, i);
		sum += x;
		squares += x * x;
	}
	return squares ? sum * sum / (setup->vgpus * squares) : 1;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Jain's index over windows of @bins bins: mean, minimum, 5th percentile. */
static void windows(const struct simulation *sim, unsigned int bins, double *mean, double *least,
		    double *p5)
{
	unsigned int first = DIV_ROUND_UP(sim->from_ns, BIN_NS);
	unsigned int n = (sim->nr_bins - first) / bins, i;
	double *values = calloc(n + 1, sizeof(*values)), sum = 0;

	for (i = 0; i < n; i++) {
		values[i] = jain(sim, first + i * bins, bins);
		sum += values[i];
	}
	qsort(values, n, sizeof(*values), by_value);
	*mean = sum / max(n, 1u);
	*least = values[0];
	*p5 = values[n / 20];
	free(values);
}

static void summarise(struct simulation *sim)
{
	struct sim_result *result = sim->result;
	unsigned int first = DIV_ROUND_UP(sim->from_ns, BIN_NS), i, b;
	double total = 0, mean, least, p5;

	for (b = first; b < sim->nr_bins; b++)
		for (i = 0; i < sim->setup->vgpus; i++) {
			result->share[i] += sim->bins[b * sim->setup->vgpus + i];
			total += sim->bins[b * sim->setup->vgpus + i];
		}
	for (i = 0; i < sim->setup->vgpus; i++)
		result->share[i] /= max(total, 1.0);
	result->utilisation =
		(total - (double)sim->switching_ns) / ((double)(sim->nr_bins - first) * BIN_NS);
	result->jain = jain(sim, first, sim->nr_bins - first);
	windows(sim, 10, &result->jain_1s, &result->jain_1s_min, &p5);
	windows(sim, 5, &mean, &least, &result->jain_500ms_p5);
	windows(sim, 1, &mean, &least, &result->jain_100ms_p5);
}

static int setup_vgpu(struct simulation *sim, unsigned int i, unsigned int *at)
{
	const struct sim_vgpu *v = &sim->setup->vgpu[i];
	struct ghyvi_sched_knobs knobs = {
		.weight = v->weight ?: GHYVI_SCHED_WEIGHT_DEFAULT,
		.cap = v->cap,
		.priority = v->priority,
	};
	unsigned int d;
	int err;

	sim->entities[i] = ghyvi_sched_entity_create(sim->sched, &sim->stats[i], NULL);
	if (!sim->entities[i])
		return -ENOMEM;
	err = ghyvi_sched_set_knobs(sim->entities[i], &knobs);
	for (d = 0; d < v->depth; d++) {
		struct request *r = &sim->requests[(*at)++];

		r->sim = sim;
		r->vgpu = i;
		r->base.owner = sim->entities[i];
		r->base.complete = complete;
		r->base.job.engine = ENGINE;
		r->base.job.context = sim->context;
		r->due_ns = v->start_ns;
		heap_push(sim, r);
	}
	sim->from_ns = max(sim->from_ns, v->start_ns);
	if (v->request_ns != SIM_ENDLESS_NS)
		sim->longest_ns =
			max(sim->longest_ns, v->request_ns * (100 + v->jitter_percent) / 100);
	return err;
}

static int setup_sched(struct simulation *sim)
{
	struct ghyvi_sched_settings settings;
	unsigned int i, at = 0;
	int err;

	err = ghyvi_sched_set_policy(sim->sched, sim->setup->policy);
	ghyvi_sched_get_settings(sim->sched, &settings);
	if (sim->setup->timeslice_us)
		settings.timeslice_us = sim->setup->timeslice_us;
	if (sim->setup->preempt_timeout_us)
		settings.preempt_timeout_us = sim->setup->preempt_timeout_us;
	err = err ?: ghyvi_sched_set_settings(sim->sched, &settings);
	for (i = 0; !err && i < sim->setup->vgpus; i++)
		err = setup_vgpu(sim, i, &at);
	return err;
}

static void run_events(struct simulation *sim)
{
	unsigned int i;

	schedule_withdrawal(sim);
	while (sim->now < sim->setup->duration_ns)
		step(sim);
	sim->ending = true;
	for (i = 0; i < sim->nr_requests; i++)
		if (&sim->requests[i].base.job != sim->running && sim->requests[i].base.sched)
			ghyvi_sched_cancel(sim->sched, &sim->requests[i].base);
	if (sim->running)
		engine_done(sim);
}

int sim_run(const struct sim_setup *setup, struct sim_result *result)
{
	struct simulation *sim = calloc(1, sizeof(*sim));
	unsigned int i;
	int err;

	memset(result, 0, sizeof(*result));
	sim->setup = setup;
	sim->result = result;
	sim->timer = GHYVI_SCHED_NEVER;
	sim->seed = 1;
	sim->nr_bins = setup->duration_ns / BIN_NS;
	sim->bins = calloc((size_t)sim->nr_bins * setup->vgpus, sizeof(*sim->bins));
	for (i = 0; i < setup->vgpus; i++)
		sim->nr_requests += setup->vgpu[i].depth;
	sim->requests = calloc(sim->nr_requests, sizeof(*sim->requests));
	sim->heap = calloc(sim->nr_requests, sizeof(struct request *));
	sim->pgpu.ops = &engine_ops;
	sim->clock.now = clock_now;
	sim->clock.arm = clock_arm;
	sim->sched = ghyvi_sched_create_on(&sim->pgpu, &sim->clock);
	err = setup_sched(sim);
	if (!err) {
		run_events(sim);
		summarise(sim);
	}
	for (i = 0; i < setup->vgpus; i++)
		if (sim->entities[i])
			ghyvi_sched_entity_destroy(sim->entities[i]);
	ghyvi_sched_destroy(sim->sched);
	free(sim->heap);
	free(sim->requests);
	free(sim->bins);
	free(sim);
	return err;
}
