/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A virtual clock, the engines of a pGPU that runs on it, and the account of what each vGPU has
 * received from them and was charged for.
 */
#ifndef FUZZ_SCHED_ENGINES_H
#define FUZZ_SCHED_ENGINES_H

#include <ghyvi_shim.h>
#include <linux/err.h>
#include "sched/sched_types.h"
#include "../unit/rule.h"
#include "input.h"

/* Wrappers of all selectable policies that record the charged time. */
static struct sched_policy spied_fair, spied_fifo, spied_credit, spied_band;
#define ghyvi_sched_fair spied_fair
#define ghyvi_sched_fifo spied_fifo
#define ghyvi_sched_credit spied_credit
#define ghyvi_sched_band spied_band
#include "sched/settings.c"
#undef ghyvi_sched_fair
#undef ghyvi_sched_fifo
#undef ghyvi_sched_credit
#undef ghyvi_sched_band

#define VGPUS 5
#define OWNERS (VGPUS + 1) /* the last one: workloads without an owner */
#define DEPTH 2
#define ITEMS (OWNERS * DEPTH)
#define FUZZED_ENGINES 2
#define SPANS_MAX 2048
#define BEGIN_NS NSEC_PER_SEC
#define NEVER U64_MAX

struct item {
	struct ghyvi_workload base;
	unsigned int owner;
	u64 length_ns, left_ns;
	u64 due_ns; /* time of the next submission */
	u64 think_ns;
	bool submitted; /* complete() must follow */
	bool again; /* submit it again after its completion */
	u64 prepare_ns; /* CPU time that it is charged for when it is queued */
};

struct span {
	u64 from, to;
};

/* The account of an owner on an engine. */
struct book {
	s64 charged; /* by the scheduler, for engine time and preparation */
	s64 due; /* actual engine time and preparation */
	u64 had_ns;
	struct span spans[SPANS_MAX];
	unsigned int nr_spans;
	u64 steady_ns; /* time of the last change of policy, cap or window */
};

static struct fuzz_engine {
	enum ghyvi_engine_id id;
	struct ghyvi_job *job, *next; /* @next waits for @job */
	bool next_back; /* @next is given back, with @next_status, at @next_back_ns */
	bool next_cancelled;
	enum ghyvi_job_status next_status;
	u64 next_back_ns;
	u64 begin_ns, end_ns, done_ns;
	u64 preempt_requested_ns;
	bool begun, ended;
	enum ghyvi_job_status status;
	u64 timer;
	u64 idle_ns; /* since when it idles while an uncapped vGPU waits; NEVER: it does not */
	struct book books[OWNERS];
} engines[FUZZED_ENGINES];

static struct ghyvi_sched *sched;
static struct ghyvi_sched_entity *owners[OWNERS];
static struct item items[ITEMS];
static u64 now, late_ns;
static u64 begin_delay_ns, leave_delay_ns, done_delay_ns; /* leave_delay_ns NEVER: no preemption */
static bool ending, fair, tells_late; /* tells_late: busy_ns is reported only with done() */
static u64 window_ns;
static unsigned int jobs_per_engine;

static struct fuzz_engine *engine_of(const struct ghyvi_job *job)
{
	return &engines[job->engine == GHYVI_RCS ? 0 : 1];
}

static struct sched_engine *core_engine_of(const struct fuzz_engine *engine)
{
	return &sched->engines[engine->id];
}

static const struct {
	struct sched_policy *spied;
	const struct sched_policy *real;
} both[] = {
	{ &spied_fair, &ghyvi_sched_fair },
	{ &spied_fifo, &ghyvi_sched_fifo },
	{ &spied_credit, &ghyvi_sched_credit },
	{ &spied_band, &ghyvi_sched_band },
};

static void spy_charge(struct sched_rq *rq, s64 ns)
{
	unsigned int e, o, i;

	for (e = 0; e < FUZZED_ENGINES; e++)
		for (o = 0; o < OWNERS; o++)
			if (rq == &owners[o]->rqs[engines[e].id])
				goto found;
	ASSERT(false);
found:
	engines[e].books[o].charged += ns;
	for (i = 0; i < ARRAY_SIZE(both); i++)
		if (core_engine_of(&engines[e])->policy == both[i].spied && both[i].real->charge)
			both[i].real->charge(rq, ns);
}

static void set_policy(unsigned int which)
{
	unsigned int e, o;

	for (e = 0; e < FUZZED_ENGINES; e++)
		for (o = 0; o < OWNERS; o++)
			engines[e].books[o].steady_ns = now;
	fair = both[which].real == &ghyvi_sched_fair;
	ASSERT(!ghyvi_sched_set_policy(sched, both[which].real->name));
}

/* The clock and the pGPU. */

static u64 clock_now(struct ghyvi_sched_clock *clock)
{
	return now;
}

static void clock_arm(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id engine, u64 at)
{
	unsigned int e;

	for (e = 0; e < FUZZED_ENGINES; e++)
		if (engines[e].id == engine)
			engines[e].timer = at;
}

static struct ghyvi_sched_clock fuzz_clock = { .now = clock_now, .arm = clock_arm };

static void resources(struct ghyvi_pgpu_device *pgpu, struct ghyvi_pgpu_resources *resources)
{
	resources->jobs_per_engine = jobs_per_engine;
}

static void start(struct fuzz_engine *engine, struct ghyvi_job *job)
{
	engine->job = job;
	engine->begun = engine->ended = false;
	engine->status = GHYVI_JOB_COMPLETE;
	engine->begin_ns = now + begin_delay_ns;
	engine->end_ns = NEVER;
	engine->preempt_requested_ns = 0;
}

static int run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct fuzz_engine *engine = engine_of(job);

	ASSERT(!engine->next);
	ASSERT(!engine->job || jobs_per_engine > 1);
	ASSERT(!job->begun_ns && !job->busy_ns);
	engine->idle_ns = NEVER; /* assigned, even if the job is refused */
	if (rnd(64) == 63)
		return -EIO;
	engine->next_cancelled = false;
	if (engine->job)
		engine->next = job;
	else
		start(engine, job);
	return 0;
}

static void give_back_next(struct fuzz_engine *engine, enum ghyvi_job_status status)
{
	if (engine->next_back)
		return;
	engine->next_back = true;
	engine->next_status = status;
	engine->next_back_ns = now + done_delay_ns;
}

static void preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct fuzz_engine *engine = engine_of(job);
	u64 at;

	if (engine->next == job)
		give_back_next(engine, GHYVI_JOB_PREEMPTED);
	if (engine->job != job || engine->ended)
		return;
	engine->preempt_requested_ns = now;
	if (!engine->begun || leave_delay_ns == NEVER)
		return; /* see begin() */
	at = max(now + leave_delay_ns, job->begun_ns + 1);
	if (at < engine->end_ns) {
		engine->end_ns = at;
		engine->status = GHYVI_JOB_PREEMPTED;
	}
}

static void cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job)
{
	struct fuzz_engine *engine = engine_of(job);

	if (engine->next == job) {
		give_back_next(engine, GHYVI_JOB_CANCELLED);
		engine->next_cancelled = true;
	}
	if (engine->job != job || engine->ended)
		return;
	engine->status = GHYVI_JOB_CANCELLED;
	if (engine->begun) {
		engine->end_ns = max(now, job->begun_ns + 1);
	} else {
		engine->ended = true;
		engine->done_ns = now;
	}
}

static int update_tail(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job, u32 tail)
{
	struct fuzz_engine *engine = engine_of(job);
	struct item *item = container_of(job, struct item, base.job);

	if (engine->next == job ?
		    engine->next_back :
		    engine->job != job || engine->ended || engine->status == GHYVI_JOB_CANCELLED)
		return -ESTALE;
	item->left_ns += tail;
	if (engine->next == job)
		return 0;
	if (engine->begun && engine->status == GHYVI_JOB_COMPLETE)
		engine->end_ns += tail;
	return 0;
}

static const struct ghyvi_pgpu_ops ops = {
	.resources = resources,
	.run = run,
	.preempt = preempt,
	.cancel = cancel,
	.update_tail = update_tail,
};
static struct ghyvi_pgpu_device gpu_device = { .ops = &ops };

static u32 cap_of(unsigned int owner)
{
	return owners[owner]->knobs.cap;
}

/* The engine time in the window that ends with the last span. */
static u64 in_window(const struct book *book)
{
	u64 to = book->spans[book->nr_spans - 1].to, from = to - min(to, window_ns), sum = 0;
	unsigned int i;

	for (i = book->nr_spans; i-- > 0 && book->spans[i].to > from;)
		sum += book->spans[i].to - max(book->spans[i].from, from);
	return sum;
}

/*
 * The window that ends with the last span has the maximum engine time, because later windows only
 * lose time. It may have the cap plus the time of the preemption.
 */
static void check_cap(struct fuzz_engine *engine, unsigned int owner, u64 end)
{
	struct book *book = &engine->books[owner];
	u32 cap = cap_of(owner);
	u64 allowed, over;

	/* stop_all() advances the time past timers, so that no preemption is requested. */
	if (ending || !fair || !cap || end < book->steady_ns + window_ns ||
	    book->nr_spans == SPANS_MAX)
		return;
	allowed = window_ns * cap / 100;
	over = engine->preempt_requested_ns ?
		       end - max(engine->preempt_requested_ns, engine->job->begun_ns) :
		       0;
	ASSERT(in_window(book) <= allowed + over + late_ns + 1000);
}

static void begin(struct fuzz_engine *engine)
{
	struct item *item = container_of(engine->job, struct item, base.job);

	engine->begun = true;
	engine->job->begun_ns = now;
	engine->end_ns = now + max(item->left_ns, 1ull);
	if (engine->preempt_requested_ns && now + leave_delay_ns + 1 < engine->end_ns &&
	    leave_delay_ns != NEVER) {
		engine->end_ns = now + leave_delay_ns + 1;
		engine->status = GHYVI_JOB_PREEMPTED;
	}
}

static void end(struct fuzz_engine *engine)
{
	struct item *item = container_of(engine->job, struct item, base.job);
	struct book *book = &engine->books[item->owner];
	u64 busy_ns = now - engine->job->begun_ns;

	ASSERT(now == engine->end_ns);
	engine->ended = true;
	engine->done_ns = now + done_delay_ns;
	if (!tells_late)
		engine->job->busy_ns = busy_ns;
	book->due += busy_ns;
	book->had_ns += busy_ns;
	item->left_ns -= min(item->left_ns, busy_ns);
	if (book->nr_spans < SPANS_MAX)
		book->spans[book->nr_spans++] = (struct span){ engine->job->begun_ns, now };
	check_cap(engine, item->owner, now);
}

static void done(struct fuzz_engine *engine)
{
	enum ghyvi_job_status status = engine->status;
	struct ghyvi_job *job = engine->job;

	engine->job = NULL;
	if (engine->begun)
		job->busy_ns = engine->end_ns - job->begun_ns;
	if (engine->next && !engine->next_cancelled) {
		start(engine, engine->next);
		engine->ended = engine->next_back; /* recalled: the scheduler does not know yet */
		engine->done_ns = engine->next_back_ns;
		if (engine->next_back)
			engine->status = engine->next_status;
		engine->next = NULL;
		engine->next_back = false;
	}
	job->done(job, status);
}

static void next_done(struct fuzz_engine *engine)
{
	struct ghyvi_job *job = engine->next;

	engine->next = NULL;
	engine->next_back = false;
	job->done(job, engine->next_status);
}

#endif
