// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler (kernel/sched) under a virtual clock: arrivals, completions, preemptions,
 * cancellations, tail updates, knobs, settings and policy changes in any order. Engines may start
 * late, preempt late or never, report late, and take one job or two. After each step the accounting
 * of the scheduler is compared with the activity of the engines. At the end each vGPU must get its
 * share.
 */
#include "input.h"
#include "sched_engines.h"

#define MOVES_MAX 300
#define STEPS_MAX 3000
#define IDLE_MAX_NS (500 * 1000ULL) /* FAIR_AWAIT_MAX_NS, BAND_WAIT_NS */

static void charge_preparation(const struct item *item)
{
	struct fuzz_engine *engine = engine_of(&item->base.job);

	engine->books[item->owner].due += item->prepare_ns;
	ghyvi_sched_charge_preparation(owners[item->owner], engine->id, item->prepare_ns);
}

static void submit(struct item *item)
{
	struct ghyvi_sched_entity *owner = item->owner < VGPUS ? owners[item->owner] : NULL;

	ASSERT(!item->submitted);
	item->submitted = true;
	item->due_ns = NEVER;
	item->base.owner = owner;
	ghyvi_sched_queue(sched, &item->base);
	charge_preparation(item);
}

static void kick(struct item *item)
{
	ghyvi_sched_kick(sched, item->base.job.engine);
}

static void complete(struct ghyvi_workload *base, enum ghyvi_job_status status)
{
	struct item *item = container_of(base, struct item, base);

	ASSERT(item->submitted);
	item->submitted = false;
	if (ending)
		return;
	if (status == GHYVI_JOB_PREEMPTED) {
		submit(item);
	} else if (item->again) {
		item->left_ns = item->length_ns;
		item->due_ns = now + item->think_ns;
	}
}

/* Compares the state of the scheduler with that of the engine. */
static void check_engine(struct fuzz_engine *engine)
{
	struct sched_engine *believed = core_engine_of(engine);
	struct ghyvi_workload *current_workload = believed->current_workload;
	unsigned int o, enqueued = 0, uncapped = 0;

	ASSERT(!!current_workload == !!engine->job);
	ASSERT(!engine->job || engine->job == &current_workload->job);
	for (o = 0; o < OWNERS; o++) {
		struct sched_rq *rq = &owners[o]->rqs[engine->id];
		bool has = current_workload && sched_rq_of(current_workload) == rq;
		bool begun = has && engine->begun;
		s64 ahead = engine->books[o].charged - engine->books[o].due;

		ASSERT(rq->enqueued == (!list_empty(&rq->queue) && !has));
		enqueued += rq->enqueued;
		uncapped += rq->enqueued && !(fair && cap_of(o));
		if (begun && !engine->ended)
			ASSERT(ahead >= 0 && (u64)ahead <= now - engine->job->begun_ns);
		else if (begun)
			/* done() is pending: charged at most until the end, if that is known. */
			ASSERT(ahead <= (s64)(engine->job->busy_ns ? 0 : now - engine->end_ns) &&
			       -ahead <= (s64)(engine->end_ns - engine->job->begun_ns));
		else
			ASSERT(!ahead);
	}
	ASSERT(believed->nr_enqueued == enqueued);
	if (engine->job || engine->next || !uncapped)
		engine->idle_ns = NEVER;
	else if (engine->idle_ns == NEVER)
		engine->idle_ns = now;
	ASSERT(engine->idle_ns == NEVER || now <= engine->idle_ns + IDLE_MAX_NS + late_ns);
}

static void check(void)
{
	unsigned int e;

	for (e = 0; e < FUZZED_ENGINES; e++)
		check_engine(&engines[e]);
}

/*
 * The scheduler has updated the engine's charges at @looked_ns, so all time until then is charged.
 */
static void check_charged(struct fuzz_engine *engine, u64 looked_ns)
{
	struct item *item;
	struct book *book;

	if (!engine->job || !engine->begun || engine->ended || looked_ns != now)
		return;
	item = container_of(engine->job, struct item, base.job);
	book = &engine->books[item->owner];
	ASSERT((u64)(book->charged - book->due) == now - engine->job->begun_ns);
}

static u64 next_event(const struct fuzz_engine *engine)
{
	u64 at = engine->next_back ? engine->next_back_ns : NEVER;

	if (!engine->job)
		return at;
	return min(at, engine->ended ? engine->done_ns :
		       engine->begun ? engine->end_ns :
				       engine->begin_ns);
}

static void happen(struct fuzz_engine *engine)
{
	if (engine->next_back && engine->next_back_ns <= now) {
		next_done(engine);
		return;
	}
	if (engine->begun && !engine->ended)
		engine->end_ns = now; /* stop_all() serves one engine after the other */
	if (engine->ended)
		done(engine);
	else if (engine->begun)
		end(engine);
	else
		begin(engine);
}

static void fire(struct fuzz_engine *engine)
{
	u64 looked_ns = now;

	late_ns = max(late_ns, now - engine->timer);
	engine->timer = GHYVI_SCHED_NEVER;
	ghyvi_sched_timer(sched, engine->id);
	check_charged(engine, looked_ns);
}

/* Executes the next event. Returns false if there is none until @until. */
static bool step(u64 until)
{
	u64 at = NEVER;
	unsigned int e, i;

	for (e = 0; e < FUZZED_ENGINES; e++)
		at = min(at, min(next_event(&engines[e]), engines[e].timer));
	for (i = 0; i < ITEMS; i++)
		at = min(at, items[i].due_ns);
	if (at > until)
		return false;
	now = max(now, at);
	for (e = 0; e < FUZZED_ENGINES; e++) {
		if (next_event(&engines[e]) <= now) {
			happen(&engines[e]);
			return true;
		}
		if (engines[e].timer <= now) {
			fire(&engines[e]);
			return true;
		}
	}
	for (i = 0; i < ITEMS; i++)
		if (items[i].due_ns <= now) {
			submit(&items[i]);
			check_charged(engine_of(&items[i].base.job), now);
			kick(&items[i]);
			return true;
		}
	return true;
}

static void pass(u64 ns)
{
	u64 until = now + ns;
	unsigned int steps = 0;

	for (; step(until); check())
		if (++steps == STEPS_MAX)
			return; /* very short workloads for a long time */
	now = max(now, until);
	check();
}

/* A time from 1 us to 60 s. */
static u64 some_ns(void)
{
	static const u64 scales[] = {
		1000, 20000, 300000, 1000000, 20000000, 300000000, 1000000000
	};
	u64 scale = scales[rnd(ARRAY_SIZE(scales))];

	return scale + scale * rnd(60);
}

static void set_knobs(unsigned int owner, u32 weight, u32 cap, u32 priority)
{
	struct ghyvi_sched_knobs knobs = { .weight = weight, .cap = cap, .priority = priority };
	u64 looked_ns = now;
	unsigned int e;

	if (knobs.cap != cap_of(owner))
		for (e = 0; e < FUZZED_ENGINES; e++)
			engines[e].books[owner].steady_ns = now;
	ASSERT(!ghyvi_sched_set_knobs(owners[owner], &knobs));
	for (e = 0; e < FUZZED_ENGINES; e++)
		check_charged(&engines[e], looked_ns);
}

static void set_settings(void)
{
	static const u32 slices[] = { 100, 1000, 2000, 50000, 1000000 };
	static const u32 timeouts[] = { 0, 1000, 100000, 2000000, 60000000 };
	static const u32 windows[] = { 1000, 10000, 100000, 1000000 };
	struct ghyvi_sched_settings settings = {
		.timeslice_us = slices[rnd(ARRAY_SIZE(slices))],
		.preempt_timeout_us = timeouts[rnd(ARRAY_SIZE(timeouts))],
		.window_us = windows[rnd(ARRAY_SIZE(windows))],
	};
	u64 looked_ns = now;
	unsigned int e, o;

	ASSERT(!ghyvi_sched_set_settings(sched, &settings));
	window_ns = 1000ULL * settings.window_us;
	for (e = 0; e < FUZZED_ENGINES; e++) {
		for (o = 0; o < OWNERS; o++)
			engines[e].books[o].steady_ns = now;
		check_charged(&engines[e], looked_ns);
	}
}

static void set_pgpu(void)
{
	static const u64 leave[] = { 0, 50000, 3000000, NEVER };

	begin_delay_ns = rnd(4) ? 0 : 1000 * rnd(5000);
	leave_delay_ns = leave[rnd(ARRAY_SIZE(leave))];
	done_delay_ns = rnd(4) ? 0 : 1000 * rnd(1000);
	tells_late = rnd(2);
}

static void submit_new(struct item *item)
{
	u32 flags = rnd(256);

	if (item->submitted || item->due_ns != NEVER)
		return;
	item->length_ns = item->left_ns = some_ns();
	item->again = flags & 1;
	item->think_ns = flags & 2 ? 0 : 1000 * rnd(400);
	item->prepare_ns = (flags & 0xc) == 0xc ? 1000 * rnd(100) : 0;
	submit(item);
	check_charged(engine_of(&item->base.job), now);
	if (flags & 0x30)
		kick(item);
}

static void cancel_item(struct item *item)
{
	item->again = false;
	item->due_ns = NEVER;
	if (item->submitted && ghyvi_sched_cancel(sched, &item->base))
		item->submitted = false;
}

static void move(void)
{
	struct item *item = &items[rnd(ITEMS)];

	switch (rnd(12)) {
	case 0:
	case 1:
	case 2:
		submit_new(item);
		break;
	case 3:
		cancel_item(item);
		break;
	case 4:
		if (item->submitted)
			ghyvi_sched_update_tail(sched, &item->base, 8 * rnd(1 << 20));
		break;
	case 5:
		if (item->owner < VGPUS)
			set_knobs(item->owner, 1 + rnd(1000), rnd(2) ? 0 : rnd(101), rnd(8));
		break;
	case 6:
		set_settings();
		break;
	case 7:
		set_policy(rnd(ARRAY_SIZE(both)));
		break;
	case 8:
		set_pgpu();
		break;
	default:
		pass(some_ns() >> rnd(8));
	}
	/*
	 * A workload whose guest does not kick the engine is started by the next kick of another.
	 */
	ghyvi_sched_kick(sched, engines[0].id);
	ghyvi_sched_kick(sched, engines[1].id);
	check();
}

static void stop_all(void)
{
	unsigned int i, e;

	ending = true;
	for (i = 0; i < ITEMS; i++)
		cancel_item(&items[i]);
	for (e = 0; e < FUZZED_ENGINES; e++)
		while (engines[e].job || engines[e].next) {
			now = max(now, next_event(&engines[e]));
			happen(&engines[e]);
			check();
		}
	for (i = 0; i < ITEMS; i++)
		ASSERT(!items[i].submitted);
	ending = false;
}

/*
 * The parameters of check_shares(), taken from the start of the input, which may be used up at the
 * end.
 */
static struct {
	u32 weight;
	u64 length_ns, pause_ns;
} plan[VGPUS];

static void choose_plan(void)
{
	unsigned int o;

	for (o = 0; o < VGPUS; o++) {
		plan[o].weight = 100 + rnd(300);
		plan[o].length_ns = some_ns() + 1000000;
		plan[o].pause_ns = rnd(2) ? 0 : 1000000 * (u64)rnd(300);
	}
}

/*
 * No vGPU starves: all vGPUs always have work of any length, with weights of at most 1:4, and start
 * one after the other. Each gets its share of the time since its start, minus one turn of all vGPUs
 * and the time by which the others may be behind.
 */
static void check_shares(void)
{
	struct ghyvi_sched_settings settings = {
		.timeslice_us = GHYVI_SCHED_TIMESLICE_DEFAULT_US,
		.preempt_timeout_us = GHYVI_SCHED_PREEMPT_TIMEOUT_DEFAULT_US,
		.window_us = GHYVI_SCHED_WINDOW_DEFAULT_US,
	};
	u64 came_ns[VGPUS], had_ns[VGPUS], weights = 0;
	struct fuzz_engine *engine = &engines[0];
	unsigned int o;

	set_policy(1);
	set_policy(0);
	ASSERT(!ghyvi_sched_set_settings(sched, &settings));
	window_ns = 1000ULL * settings.window_us;
	begin_delay_ns = done_delay_ns = 0;
	leave_delay_ns = 50000;
	for (o = 0; o < VGPUS; o++) {
		struct item *item = &items[o * DEPTH];

		set_knobs(o, plan[o].weight, 0, 0);
		weights += owners[o]->knobs.weight;
		item->length_ns = item->left_ns = plan[o].length_ns;
		item->again = true;
		item->think_ns = 0;
		item->prepare_ns = 0;
		came_ns[o] = now;
		had_ns[o] = engine->books[o].had_ns;
		submit(item);
		kick(item);
		pass(plan[o].pause_ns);
	}
	for (o = 0; o < 20; o++)
		pass(window_ns);
	for (o = 0; o < VGPUS; o++) {
		u64 had = engine->books[o].had_ns - had_ns[o];
		u64 share = (now - came_ns[o]) * owners[o]->knobs.weight / weights;

		/* The time of the running workload is not in the account yet. */
		if (engine->job && container_of(engine->job, struct item, base.job)->owner == o &&
		    engine->begun)
			had += now - engine->job->begun_ns;
		ASSERT(had >= share - share / 20 - min(share - share / 20, window_ns / 2));
	}
}

static void init(void)
{
	unsigned int e, o, i;

	jobs_per_engine = 1 + rnd(2);
	now = BEGIN_NS;
	late_ns = 0;
	memset(items, 0, sizeof(items));
	memset(engines, 0, sizeof(engines));
	begin_delay_ns = done_delay_ns = 0;
	tells_late = false;
	leave_delay_ns = 50000;
	window_ns = 1000ULL * GHYVI_SCHED_WINDOW_DEFAULT_US;
	sched = ghyvi_sched_create_on(&gpu_device, &fuzz_clock);
	for (o = 0; o < VGPUS; o++)
		owners[o] = ghyvi_sched_entity_create(sched, NULL, NULL);
	owners[VGPUS] = sched->anon_entity;
	for (e = 0; e < FUZZED_ENGINES; e++) {
		engines[e].id = e ? GHYVI_BCS : GHYVI_RCS;
		engines[e].timer = GHYVI_SCHED_NEVER;
		engines[e].idle_ns = NEVER;
	}
	for (i = 0; i < ITEMS; i++) {
		static u32 context[GHYVI_CTX_DWORDS];

		items[i].owner = i / DEPTH;
		items[i].due_ns = NEVER;
		items[i].base.complete = complete;
		items[i].base.job.engine = i % DEPTH && i % 3 == 0 ? GHYVI_BCS : GHYVI_RCS;
		items[i].base.job.context = context;
	}
	for (i = 0; i < ARRAY_SIZE(both); i++) {
		*both[i].spied = *both[i].real;
		both[i].spied->charge = spy_charge;
	}
	set_policy(0);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	unsigned int i;

	input_init(data, bytes);
	shim_quiet = true;
	init();
	choose_plan();
	for (i = 0; input.left && i < MOVES_MAX; i++)
		move();
	stop_all();
	check_shares();
	stop_all();
	for (i = 0; i < VGPUS; i++)
		ghyvi_sched_entity_destroy(owners[i]);
	ghyvi_sched_destroy(sched);
	return 0;
}
