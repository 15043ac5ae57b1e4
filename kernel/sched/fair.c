// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fair shares of GPU time, whatever the lengths of workloads.
 *
 * DOC: model and limits
 *
 * Each vGPU has a *virtual time*: the GPU time it received, with that for preparing its work,
 * divided by its weight. It is up to date whenever it is used, also while a workload runs
 * (charge.c). The engine goes to the vGPU with the least virtual time, half of its next turn
 * counted. A turn is a workload, as long as usual, or what a workload has before it has left for
 * others, if that is less.
 *
 * That alone is not enough: a guest that submits its next workload only when it has seen the last
 * one end has nothing queued at the moment of decision, however far it is behind, and short
 * workloads lose against long ones. So the engine waits for a vGPU that is behind (anticipation),
 * if it
 *   - has been seen to come back at once: its think time is short against its workloads, so that
 *     waiting costs at most 1/FAIR_THINK_RATIO of the time it gets,
 *   - and its usual think time is not over; in no case longer than FAIR_AWAIT_MAX_NS.
 * In all other cases the engine never idles while a vGPU has work, but for caps (cap.c).
 *
 * A vGPU that was away longer comes back at most 1/FAIR_BEHIND_RATIO of a window behind the least
 * advanced active vGPU: sleeping saves up no GPU time, but a vGPU that is back soon does not lose
 * its turn. A new vGPU starts level with that one; if none is active, with the last that was. GPU
 * time received is never forgiven.
 *
 * A workload that others wait for is asked to leave after a timeslice, at the earliest when it is
 * ahead of them. A turn of all is FAIR_TURNS to a window at most, so the more vGPUs wait the
 * shorter the slices are. A workload whose vGPU has used up its cap is asked to leave at once, and
 * waits until the cap allows more.
 *
 * A decision costs O(log(vGPUs that wait)), and idle ones nothing; for a capped vGPU the parts of a
 * window on top. Those that the engine waits for are in a list, because they are few: each had the
 * engine for FAIR_THINK_RATIO times as long as it is waited for, one after the other.
 */
#include <linux/math64.h>
#include <linux/rbtree.h>
#include "sched_types.h"

#define FAIR_AWAIT_MAX_NS (500 * 1000ULL)
#define FAIR_AWAIT_MARGIN_NS (20 * 1000ULL) /* for timers and interrupts that are late */
#define FAIR_THINK_RATIO 8
#define FAIR_THINK_MAX_NS (8 * FAIR_AWAIT_MAX_NS) /* longer ones count as this */
#define FAIR_BEHIND_RATIO 10
#define FAIR_TURNS 8
#define FAIR_AVERAGE_SHIFT 3

/* Virtual time is GPU time at the default weight, in ns. */
static u64 to_virtual(const struct sched_run *run, u64 ns)
{
	return div_u64(ns * GHYVI_SCHED_WEIGHT_DEFAULT, run->entity->knobs.weight);
}

static u64 from_virtual(const struct sched_run *run, u64 vtime)
{
	return mul_u64_u32_div(vtime, run->entity->knobs.weight, GHYVI_SCHED_WEIGHT_DEFAULT);
}

static u64 timeslice_ns(const struct sched_engine *engine)
{
	return 1000ULL * engine->sched->settings.timeslice_us;
}

static u64 window_ns(const struct sched_engine *engine)
{
	return 1000ULL * engine->sched->settings.window_us;
}

/* So long may a workload stay that others wait for. */
static u64 slice_ns(const struct sched_engine *engine)
{
	return min(timeslice_ns(engine),
		   div_u64(window_ns(engine), FAIR_TURNS * (engine->nr_waiting + 1)));
}

/* How long will it have the engine? As long as usual, or until it has left for others. */
static u64 turn_ns(const struct sched_engine *engine, const struct sched_run *run)
{
	u64 workload_ns = max(run->fair.service_ns, run->fair.served_ns);

	return min(workload_ns, max(timeslice_ns(engine), run->fair.stay_ns));
}

/*
 * The key that a decision is made by: virtual time at the middle of the next turn, so that a vGPU
 * with long turns is ahead after one no farther than behind before it. Priority lets it be ahead.
 */
static s64 rank(const struct sched_engine *engine, const struct sched_run *run)
{
	u64 ahead = run->entity->knobs.priority * timeslice_ns(engine);

	return (s64)(run->fair.vtime + to_virtual(run, turn_ns(engine, run)) / 2 - ahead);
}

/* From when on does its cap allow @run, which does not run, to have the engine? Not before @now. */
static u64 eligible_at(struct sched_engine *engine, struct sched_run *run, u64 now)
{
	if (!run->entity->knobs.cap)
		return now;
	sched_cap_set_window(&run->fair.cap, window_ns(engine), now);
	return sched_cap_eligible_at(&run->fair.cap, run->entity->knobs.cap, turn_ns(engine, run),
				     now);
}

static void drop_late_thinkers(struct sched_engine *engine, u64 now)
{
	struct sched_run *run, *next;

	list_for_each_entry_safe(run, next, &engine->fair.thinking, fair.thinking)
		if (now >= run->fair.await_until)
			list_del_init(&run->fair.thinking);
}

static struct sched_run *first_by_rank(struct sched_engine *engine)
{
	struct rb_node *node = rb_first_cached(&engine->fair.by_rank);

	return node ? rb_entry(node, struct sched_run, fair.by_rank) : NULL;
}

static struct sched_run *first_throttled(const struct sched_engine *engine)
{
	struct rb_node *node = rb_first_cached(&engine->fair.throttled);

	return node ? rb_entry(node, struct sched_run, fair.by_rank) : NULL;
}

static bool less_rank(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct sched_run, fair.by_rank)->fair.rank <
	       rb_entry(b, struct sched_run, fair.by_rank)->fair.rank;
}

static bool less_vtime(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct sched_run, fair.by_vtime)->fair.vtime <
	       rb_entry(b, struct sched_run, fair.by_vtime)->fair.vtime;
}

static bool less_throttled(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct sched_run, fair.by_rank)->fair.eligible_at <
	       rb_entry(b, struct sched_run, fair.by_rank)->fair.eligible_at;
}

/*
 * The virtual time of the least advanced active vGPU, @leaving (or NULL) among them, which has had
 * the engine until now; the last known, if there is none.
 */
static u64 least(struct sched_engine *engine, const struct sched_run *leaving, u64 now)
{
	struct rb_node *node = rb_first_cached(&engine->fair.by_vtime);
	struct sched_run *run;
	u64 vtime = U64_MAX;

	drop_late_thinkers(engine, now);
	if (node)
		vtime = rb_entry(node, struct sched_run, fair.by_vtime)->fair.vtime;
	if (engine->current_workload)
		vtime = min(vtime, sched_run_of(engine->current_workload)->fair.vtime);
	if (leaving)
		vtime = min(vtime, leaving->fair.vtime);
	list_for_each_entry(run, &engine->fair.thinking, fair.thinking)
		vtime = min(vtime, run->fair.vtime);
	if (vtime != U64_MAX)
		engine->fair.vtime = max(engine->fair.vtime, vtime);
	return engine->fair.vtime;
}

/* @run was not in the competition and is back; it is on none of the lists yet. */
static void join(struct sched_engine *engine, struct sched_run *run, u64 now)
{
	u64 floor = least(engine, NULL, now);
	u64 behind = to_virtual(run, window_ns(engine) / FAIR_BEHIND_RATIO);

	if (run->fair.known)
		floor -= min(floor, behind);
	run->fair.known = true;
	run->fair.vtime = max(run->fair.vtime, floor);
}

static void fair_wait(struct sched_engine *engine, struct sched_run *run, u64 now)
{
	run->fair.eligible_at = eligible_at(engine, run, now);
	run->fair.throttled = now < run->fair.eligible_at;
	if (run->fair.throttled) {
		rb_add_cached(&run->fair.by_rank, &engine->fair.throttled, less_throttled);
		return;
	}
	run->fair.rank = rank(engine, run);
	rb_add_cached(&run->fair.by_rank, &engine->fair.by_rank, less_rank);
	rb_add_cached(&run->fair.by_vtime, &engine->fair.by_vtime, less_vtime);
}

static void fair_unwait(struct sched_engine *engine, struct sched_run *run)
{
	if (run->fair.throttled) {
		rb_erase_cached(&run->fair.by_rank, &engine->fair.throttled);
		return;
	}
	rb_erase_cached(&run->fair.by_rank, &engine->fair.by_rank);
	rb_erase_cached(&run->fair.by_vtime, &engine->fair.by_vtime);
}

/* Returns when the next of those that are throttled will not be any more. */
static u64 unthrottle(struct sched_engine *engine, u64 now)
{
	struct sched_run *run;

	while ((run = first_throttled(engine)) && now >= run->fair.eligible_at) {
		fair_unwait(engine, run);
		join(engine, run, now);
		fair_wait(engine, run, now);
	}
	return run ? run->fair.eligible_at : GHYVI_SCHED_NEVER;
}

static u64 average(u64 old, u64 sample)
{
	return old ? old - (old >> FAIR_AVERAGE_SHIFT) + (sample >> FAIR_AVERAGE_SHIFT) : sample;
}

static void measure_think(struct sched_run *run, u64 now)
{
	u64 think = min_t(u64, now - run->fair.idle_since, FAIR_THINK_MAX_NS);
	u64 usual = run->fair.think_ns;

	if (usual)
		run->fair.think_deviation_ns =
			average(run->fair.think_deviation_ns ?: 1,
				think > usual ? think - usual : usual - think);
	run->fair.think_ns = max_t(u64, average(usual, think), 1);
}

static void fair_on_arrival(struct sched_engine *engine, struct sched_run *run, bool woke, u64 now)
{
	bool awaited = !list_empty(&run->fair.thinking) && now <= run->fair.await_until;

	if (!woke)
		return;
	list_del_init(&run->fair.thinking);
	if (run->fair.idle_since)
		measure_think(run, now);
	if (!awaited)
		join(engine, run, now);
}

/* It has nothing queued. Is it worth waiting for? */
static void await_back(struct sched_engine *engine, struct sched_run *run, u64 now)
{
	u64 think = run->fair.think_ns;
	u64 wait = think + 4 * run->fair.think_deviation_ns + FAIR_AWAIT_MARGIN_NS;

	run->fair.idle_since = now;
	if (!think || think * FAIR_THINK_RATIO > run->fair.service_ns ||
	    now < eligible_at(engine, run, now))
		return;
	run->fair.await_until = now + min(wait, FAIR_AWAIT_MAX_NS);
	list_add_tail(&run->fair.thinking, &engine->fair.thinking);
}

static void fair_charge(struct sched_run *run, s64 ns)
{
	if (ns < 0)
		run->fair.vtime -= min(run->fair.vtime, to_virtual(run, -ns));
	else
		run->fair.vtime += to_virtual(run, ns);
}

/* Caps are of time on the engine only. */
static void fair_ran(struct sched_engine *engine, struct sched_run *run, s64 ns, u64 now)
{
	run->fair.served_ns = max_t(s64, run->fair.served_ns + ns, 0);
	if (!run->entity->knobs.cap)
		return;
	sched_cap_set_window(&run->fair.cap, window_ns(engine), now);
	sched_cap_charge(&run->fair.cap, run->entity->knobs.cap, ns, now);
}

/* It was asked to leave, and has left. What it had before others waited does not count. */
static void measure_stay(struct sched_engine *engine, struct sched_run *run, u64 now)
{
	u64 stay = min(engine->asked_ns - engine->started_ns, slice_ns(engine));

	stay += now - engine->asked_ns;
	run->fair.stay_ns = max(stay, average(run->fair.stay_ns, stay));
}

static void fair_on_complete(struct sched_engine *engine, struct sched_run *run, u64 busy_ns,
			     bool preempted, u64 now)
{
	least(engine, run, now);
	if (busy_ns && engine->asked_ns)
		measure_stay(engine, run, now);
	if (preempted) {
		run->fair.idle_since = 0; /* the guest does not think until it is back */
		return;
	}
	if (run->fair.served_ns)
		run->fair.service_ns = average(run->fair.service_ns, run->fair.served_ns);
	run->fair.served_ns = 0;
	if (list_empty(&run->queue))
		await_back(engine, run, now);
}

static struct sched_run *fair_next(struct sched_engine *engine, u64 now, u64 *until)
{
	struct sched_run *best;
	struct sched_run *run;
	bool await = false;

	*until = unthrottle(engine, now);
	best = first_by_rank(engine);
	if (!best)
		return NULL;
	drop_late_thinkers(engine, now);
	list_for_each_entry(run, &engine->fair.thinking, fair.thinking) {
		s64 lead = best->fair.rank - rank(engine, run);

		/* For less than the wait costs, do not. */
		if (lead > (s64)to_virtual(run, run->fair.think_ns)) {
			*until = min(*until, run->fair.await_until);
			await = true;
		}
	}
	return await ? NULL : best;
}

static u64 fair_yield_at(struct sched_engine *engine, struct sched_run *running, u64 now)
{
	/* A job that has not begun is not charged, but must not stay for ever. */
	u64 from = engine->charged_ns ? now : engine->started_ns;
	u64 at = engine->started_ns + slice_ns(engine);
	u64 unthrottled = unthrottle(engine, now);
	struct sched_run *first = first_by_rank(engine);
	s64 ahead;

	if (!first)
		return max(at, unthrottled);
	ahead = first->fair.rank - rank(engine, running);
	if (ahead > 0)
		at = max(at, from + from_virtual(running, ahead));
	return at;
}

static u64 fair_used_up_at(struct sched_engine *engine, struct sched_run *running, u64 now)
{
	if (!running->entity->knobs.cap)
		return GHYVI_SCHED_NEVER;
	sched_cap_set_window(&running->fair.cap, window_ns(engine), now);
	return sched_cap_used_up_at(&running->fair.cap, running->entity->knobs.cap, now);
}

static void fair_forget(struct sched_engine *engine, struct sched_run *run)
{
	list_del_init(&run->fair.thinking);
}

const struct sched_policy sched_fair = {
	.name = "fair",
	.on_arrival = fair_on_arrival,
	.on_complete = fair_on_complete,
	.charge = fair_charge,
	.ran = fair_ran,
	.wait = fair_wait,
	.unwait = fair_unwait,
	.next = fair_next,
	.peek = first_by_rank,
	.yield_at = fair_yield_at,
	.used_up_at = fair_used_up_at,
	.forget = fair_forget,
};
