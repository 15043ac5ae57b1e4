// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "fair": weighted fair sharing of GPU time, independent of the lengths of workloads.
 *
 * DOC: model and limits
 *
 * Each vGPU has a *virtual time*: the GPU time that it received, plus the CPU time that preparing
 * its workloads took, divided by its weight. It is up to date whenever it is used, also while a
 * workload runs (rq.c). The vGPU with the smallest virtual time at the middle of its next turn
 * is picked. The length of a turn is the shorter of two times: the usual length of the vGPU's
 * workloads, and the time after which a preemption of a workload takes effect.
 *
 * *Anticipation.* A guest may submit its next workload only after it has seen the previous one
 * complete. It then has nothing queued when the decision is made, however far it is behind. Short
 * workloads would lose against long ones. The policy is therefore not work-conserving: the engine
 * idles for a vGPU that is behind if
 *   - its think time is short compared with its workloads, so that idling costs at most
 *     1/FAIR_THINK_RATIO of the GPU time that the vGPU receives,
 *   - and its usual think time has not elapsed yet; never longer than FAIR_AWAIT_MAX_NS.
 * In all other cases the engine never idles while a vGPU has work, except for caps (cap.c).
 *
 * *Placement.* A vGPU that was idle is placed at most 1/FAIR_BEHIND_RATIO of a window behind the
 * minimum virtual time, that of the least advanced active vGPU. Idle time earns no GPU time, but a
 * vGPU that wakes soon keeps its position. A new vGPU is placed at the minimum virtual time; if no
 * vGPU is active, the last known minimum counts. Received GPU time is never forgiven.
 *
 * *Preemption.* A workload is preempted on behalf of others after its timeslice, but not before it
 * is ahead of them. FAIR_TURNS turns of all vGPUs must fit into a window, so slices get shorter as
 * more vGPUs wait. A workload whose vGPU has used up its cap is preempted at once, and the vGPU is
 * throttled until its cap allows it to run.
 *
 * *Cost.* A decision takes O(log n) for n enqueued vGPUs. Idle vGPUs cost nothing, a capped vGPU
 * costs a walk over the parts of a window. Anticipated vGPUs are in a list, which is short: each of
 * them had the engine for FAIR_THINK_RATIO times its think time, one after the other.
 */
#include <linux/math64.h>
#include <linux/rbtree.h>
#include "sched_types.h"

#define FAIR_AWAIT_MAX_NS (500 * 1000ULL)
#define FAIR_AWAIT_MARGIN_NS (20 * 1000ULL) /* for late timers and interrupts */
#define FAIR_THINK_RATIO 8
#define FAIR_THINK_MAX_NS (8 * FAIR_AWAIT_MAX_NS) /* longer think times count as this */
#define FAIR_BEHIND_RATIO 10
#define FAIR_TURNS 8
#define FAIR_AVERAGE_SHIFT 3

/* Virtual time is in ns of GPU time at the default weight. */
static u64 to_virtual(const struct sched_rq *rq, u64 ns)
{
	return div_u64(ns * GHYVI_SCHED_WEIGHT_DEFAULT, rq->entity->knobs.weight);
}

static u64 from_virtual(const struct sched_rq *rq, u64 vtime)
{
	return mul_u64_u32_div(vtime, rq->entity->knobs.weight, GHYVI_SCHED_WEIGHT_DEFAULT);
}

static u64 timeslice_ns(const struct sched_engine *engine)
{
	return 1000ULL * engine->sched->settings.timeslice_us;
}

static u64 window_ns(const struct sched_engine *engine)
{
	return 1000ULL * engine->sched->settings.window_us;
}

/* The timeslice while other vGPUs wait. */
static u64 slice_ns(const struct sched_engine *engine)
{
	return min(timeslice_ns(engine),
		   div_u64(window_ns(engine), FAIR_TURNS * (engine->nr_enqueued + 1)));
}

/* Expected length of the next turn: as usual, or until a preemption takes effect. */
static u64 turn_ns(const struct sched_engine *engine, const struct sched_rq *rq)
{
	u64 workload_ns = max(rq->fair.service_ns, rq->fair.served_ns);

	return min(workload_ns, max(timeslice_ns(engine), rq->fair.stay_ns));
}

/*
 * Key of a decision: the virtual time at the middle of the next turn. So a vGPU with long turns is
 * no further ahead after a turn than it was behind before it. Priority lets it be further ahead.
 */
static s64 entity_rank(const struct sched_engine *engine, const struct sched_rq *rq)
{
	u64 ahead = rq->entity->knobs.priority * timeslice_ns(engine);

	return (s64)(rq->fair.vtime + to_virtual(rq, turn_ns(engine, rq)) / 2 - ahead);
}

static void set_cap_window(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	ghyvi_sched_cap_set_window(&rq->fair.cap, &engine->fair.old_cap, window_ns(engine), now);
}

/* When does the cap allow @rq, which does not own the engine, to run? Not before @now. */
static u64 eligible_at(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	if (!rq->entity->knobs.cap)
		return now;
	set_cap_window(engine, rq, now);
	return ghyvi_sched_cap_eligible_at(&rq->fair.cap, rq->entity->knobs.cap,
					   turn_ns(engine, rq), now);
}

static void expire_anticipation(struct sched_engine *engine, u64 now)
{
	struct hlist_node *next;
	struct sched_rq *rq;

	hlist_for_each_entry_safe(rq, next, &engine->fair.anticipated, fair.anticipated)
		if (now >= rq->fair.await_until)
			hlist_del_init(&rq->fair.anticipated);
}

static struct sched_rq *first_by_rank(struct sched_engine *engine)
{
	struct rb_node *node = rb_first_cached(&engine->fair.by_rank);

	return node ? rb_entry(node, struct sched_rq, fair.by_rank) : NULL;
}

static struct sched_rq *first_throttled(const struct sched_engine *engine)
{
	struct rb_node *node = rb_first_cached(&engine->fair.throttled);

	return node ? rb_entry(node, struct sched_rq, fair.by_rank) : NULL;
}

static bool less_rank(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct sched_rq, fair.by_rank)->fair.rank <
	       rb_entry(b, struct sched_rq, fair.by_rank)->fair.rank;
}

static bool less_vtime(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct sched_rq, fair.by_vtime)->fair.vtime <
	       rb_entry(b, struct sched_rq, fair.by_vtime)->fair.vtime;
}

static bool less_throttled(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct sched_rq, fair.by_rank)->fair.eligible_at <
	       rb_entry(b, struct sched_rq, fair.by_rank)->fair.eligible_at;
}

/*
 * Update and return the minimum virtual time, that of the least advanced active vGPU. @leaving (or
 * NULL) owned the engine until now and counts as active. If no vGPU is active, the last known value
 * stays.
 */
static u64 update_min_vtime(struct sched_engine *engine, const struct sched_rq *leaving, u64 now)
{
	struct rb_node *node = rb_first_cached(&engine->fair.by_vtime);
	struct sched_rq *rq;
	u64 vtime = U64_MAX;

	expire_anticipation(engine, now);
	if (node)
		vtime = rb_entry(node, struct sched_rq, fair.by_vtime)->fair.vtime;
	if (engine->current_workload)
		vtime = min(vtime, sched_rq_of(engine->current_workload)->fair.vtime);
	if (leaving)
		vtime = min(vtime, leaving->fair.vtime);
	hlist_for_each_entry(rq, &engine->fair.anticipated, fair.anticipated)
		vtime = min(vtime, rq->fair.vtime);
	if (vtime != U64_MAX)
		engine->fair.vtime = max(engine->fair.vtime, vtime);
	return engine->fair.vtime;
}

/* Place @rq, which was idle or throttled; it is in none of the trees. */
static void place_entity(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	u64 floor = update_min_vtime(engine, NULL, now);
	u64 behind = to_virtual(rq, window_ns(engine) / FAIR_BEHIND_RATIO);

	if (rq->fair.known)
		floor -= min(floor, behind);
	rq->fair.known = true;
	rq->fair.vtime = max(rq->fair.vtime, floor);
}

static void fair_enqueue(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	rq->fair.eligible_at = eligible_at(engine, rq, now);
	rq->fair.throttled = now < rq->fair.eligible_at;
	if (rq->fair.throttled) {
		rb_add_cached(&rq->fair.by_rank, &engine->fair.throttled, less_throttled);
		return;
	}
	rq->fair.rank = entity_rank(engine, rq);
	rb_add_cached(&rq->fair.by_rank, &engine->fair.by_rank, less_rank);
	rb_add_cached(&rq->fair.by_vtime, &engine->fair.by_vtime, less_vtime);
}

static void fair_dequeue(struct sched_engine *engine, struct sched_rq *rq)
{
	if (rq->fair.throttled) {
		rb_erase_cached(&rq->fair.by_rank, &engine->fair.throttled);
		return;
	}
	rb_erase_cached(&rq->fair.by_rank, &engine->fair.by_rank);
	rb_erase_cached(&rq->fair.by_vtime, &engine->fair.by_vtime);
}

/*
 * Place and enqueue the throttled run queues whose caps allow them to run. Returns when the next
 * one becomes eligible.
 */
static u64 unthrottle_eligible(struct sched_engine *engine, u64 now)
{
	struct sched_rq *rq;

	while ((rq = first_throttled(engine)) && now >= rq->fair.eligible_at) {
		fair_dequeue(engine, rq);
		place_entity(engine, rq, now);
		fair_enqueue(engine, rq, now);
	}
	return rq ? rq->fair.eligible_at : GHYVI_SCHED_NEVER;
}

static u64 ewma(u64 old, u64 sample)
{
	return old ? old - (old >> FAIR_AVERAGE_SHIFT) + (sample >> FAIR_AVERAGE_SHIFT) : sample;
}

static void measure_think(struct sched_rq *rq, u64 now)
{
	u64 think = min_t(u64, now - rq->fair.idle_since, FAIR_THINK_MAX_NS);
	u64 usual = rq->fair.think_ns;

	if (usual)
		rq->fair.think_deviation_ns = ewma(rq->fair.think_deviation_ns ?: 1,
						   think > usual ? think - usual : usual - think);
	rq->fair.think_ns = max_t(u64, ewma(usual, think), 1);
}

static void fair_on_arrival(struct sched_engine *engine, struct sched_rq *rq, bool woke, u64 now)
{
	bool awaited = !hlist_unhashed(&rq->fair.anticipated) && now <= rq->fair.await_until;

	if (!woke)
		return;
	hlist_del_init(&rq->fair.anticipated);
	if (rq->fair.idle_since)
		measure_think(rq, now);
	if (!awaited)
		place_entity(engine, rq, now);
}

/* @rq has nothing queued: begin to anticipate it if that is worthwhile. */
static void start_anticipation(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	u64 think = rq->fair.think_ns;
	u64 wait = think + 4 * rq->fair.think_deviation_ns + FAIR_AWAIT_MARGIN_NS;

	rq->fair.idle_since = now;
	if (!think || think * FAIR_THINK_RATIO > rq->fair.service_ns ||
	    now < eligible_at(engine, rq, now))
		return;
	rq->fair.await_until = now + min(wait, FAIR_AWAIT_MAX_NS);
	hlist_add_head(&rq->fair.anticipated, &engine->fair.anticipated);
}

static void fair_charge(struct sched_rq *rq, s64 ns)
{
	if (ns < 0)
		rq->fair.vtime -= min(rq->fair.vtime, to_virtual(rq, -ns));
	else
		rq->fair.vtime += to_virtual(rq, ns);
}

/* Caps limit GPU time only, not preparation. */
static void fair_ran(struct sched_engine *engine, struct sched_rq *rq, s64 ns, u64 now)
{
	rq->fair.served_ns = max_t(s64, rq->fair.served_ns + ns, 0);
	if (!rq->entity->knobs.cap)
		return;
	set_cap_window(engine, rq, now);
	ghyvi_sched_cap_charge(&rq->fair.cap, rq->entity->knobs.cap, ns, now);
}

/*
 * @rq released the engine after a preemption request: update the length of its turns under
 * preemption. That is at most a timeslice, plus the time that the preemption took. The time that
 * the workload ran before other vGPUs waited does not count.
 */
static void measure_stay(struct sched_engine *engine, struct sched_rq *rq, u64 now)
{
	u64 stay = min(engine->preempt_requested_ns - engine->started_ns, slice_ns(engine));

	stay += now - engine->preempt_requested_ns;
	rq->fair.stay_ns = max(stay, ewma(rq->fair.stay_ns, stay));
}

static void fair_on_complete(struct sched_engine *engine, struct sched_rq *rq, u64 busy_ns,
			     bool preempted, u64 now)
{
	update_min_vtime(engine, rq, now);
	if (busy_ns && engine->preempt_requested_ns)
		measure_stay(engine, rq, now);
	if (preempted) {
		rq->fair.idle_since = 0; /* the time until it is queued again is no think time */
		return;
	}
	if (rq->fair.served_ns)
		rq->fair.service_ns = ewma(rq->fair.service_ns, rq->fair.served_ns);
	rq->fair.served_ns = 0;
	if (list_empty(&rq->queue))
		start_anticipation(engine, rq, now);
}

static struct sched_rq *fair_pick_next(struct sched_engine *engine, u64 now, u64 *until)
{
	struct sched_rq *best;
	struct sched_rq *rq;
	bool await = false;

	*until = unthrottle_eligible(engine, now);
	best = first_by_rank(engine);
	if (!best)
		return NULL;
	expire_anticipation(engine, now);
	hlist_for_each_entry(rq, &engine->fair.anticipated, fair.anticipated) {
		s64 lead = best->fair.rank - entity_rank(engine, rq);

		/* Idle only if the vGPU is further behind than idling costs. */
		if (lead > (s64)to_virtual(rq, rq->fair.think_ns)) {
			*until = min(*until, rq->fair.await_until);
			await = true;
		}
	}
	return await ? NULL : best;
}

static u64 fair_yield_at(struct sched_engine *engine, struct sched_rq *running, u64 now)
{
	/* A job that has not begun is not charged, but must yield nevertheless. */
	u64 from = engine->charged_ns ? now : engine->started_ns;
	u64 at = engine->started_ns + slice_ns(engine);
	u64 unthrottled = unthrottle_eligible(engine, now);
	struct sched_rq *first = first_by_rank(engine);
	s64 ahead;

	if (!first)
		return max(at, unthrottled);
	ahead = first->fair.rank - entity_rank(engine, running);
	if (ahead > 0)
		at = max(at, from + from_virtual(running, ahead));
	return at;
}

static u64 fair_used_up_at(struct sched_engine *engine, struct sched_rq *running, u64 now)
{
	if (!running->entity->knobs.cap)
		return GHYVI_SCHED_NEVER;
	set_cap_window(engine, running, now);
	return ghyvi_sched_cap_used_up_at(&running->fair.cap, running->entity->knobs.cap, now);
}

static void fair_remove(struct sched_engine *engine, struct sched_rq *rq)
{
	hlist_del_init(&rq->fair.anticipated);
}

const struct sched_policy ghyvi_sched_fair = {
	.name = "fair",
	.on_arrival = fair_on_arrival,
	.on_complete = fair_on_complete,
	.charge = fair_charge,
	.place = place_entity,
	.ran = fair_ran,
	.enqueue = fair_enqueue,
	.dequeue = fair_dequeue,
	.pick_next = fair_pick_next,
	.peek_next = first_by_rank,
	.yield_at = fair_yield_at,
	.used_up_at = fair_used_up_at,
	.remove = fair_remove,
};
