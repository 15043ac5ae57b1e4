/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the scheduler core and its policies share.
 */
#ifndef GHYVI_SCHED_TYPES_H
#define GHYVI_SCHED_TYPES_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <ghyvi/sched.h>

enum workload_state {
	WORKLOAD_IDLE, /* the owner's */
	WORKLOAD_QUEUED,
	WORKLOAD_PREPARING, /* prepare() is called, run() not yet */
	WORKLOAD_CANCELLED, /* cancelled while PREPARING, or while QUEUED and @preparing */
	WORKLOAD_RUNNING,
	WORKLOAD_DONE, /* complete() is or will be called */
};

#define SCHED_CAP_PARTS 128

/**
 * struct sched_cap - what a capped vGPU had of an engine; see cap.c
 * @part_ns: length of a part of a window; 0: no window was set yet
 * @latest: number of the latest part, counted from the clock's 0
 * @paid_until: what was received so far is within the cap from then on, in the long run
 * @parts: the last ones, by number modulo their count; of each the time on the engine, and when it
 *	ended, from the part's begin
 */
struct sched_cap {
	u32 part_ns;
	u64 latest;
	u64 paid_until;
	struct sched_cap_part {
		u32 used_ns;
		u32 end_ns;
	} parts[SCHED_CAP_PARTS];
};

/**
 * struct sched_rq - a vGPU on one engine; protected by the engine's lock
 * @queue: workloads, in order of submission
 * @ready: in the engine's list of those with something in @queue
 * @link: in the engine's list of all that ever had work, in an order that is the policy's
 * @waiting: could be given the engine, were it free: sched_is_ready(), and it does not have the
 *	engine
 * @fair, @budget: the policies'; zeroed when the policy is switched
 */
struct sched_rq {
	struct ghyvi_sched_entity *entity;
	struct list_head queue;
	struct list_head ready;
	struct list_head link;
	bool waiting;
	struct {
		struct rb_node by_rank; /* in the engine's tree, or in that of the throttled */
		struct rb_node by_vtime;
		struct list_head anticipated; /* in the engine's list of those worth waiting for */
		bool known;
		bool throttled;
		s64 rank; /* as long as in the tree */
		u64 vtime; /* charged, by weight; up to date also while it runs */
		u64 idle_since;
		u64 await_until;
		u64 think_ns; /* between completion and next arrival: average, deviation */
		u64 think_deviation_ns;
		u64 service_ns; /* per workload, average */
		u64 served_ns; /* the workload that is not through yet, in all its turns */
		u64 stay_ns; /* a timeslice and what it took to leave then: the longest, decaying */
		u64 eligible_at; /* within the cap again; as long as it waits */
		struct sched_cap cap;
	} fair;
	struct {
		s64 left_ns;
		u64 used_ns; /* in this window */
		u64 permille; /* used, at the last tick */
	} budget;
};

struct ghyvi_sched_entity {
	struct ghyvi_sched *sched;
	struct ghyvi_stats *stats;
	struct ghyvi_reporter *reporter;
	struct ghyvi_sched_knobs knobs; /* written under all engines' locks, read under any */
	struct sched_rq rqs[GHYVI_ENGINES];
};

/**
 * struct sched_engine - an engine and its queues
 * @start: see sched.c
 * @lock: protects all below, the runs and the states of their workloads
 * @order: all queued workloads, in order of arrival
 * @nr_waiting: runs that are @waiting
 * @current_workload: has the engine; NULL: the engine is free
 * @last: whose workload had the engine last
 * @given_ns: when the current workload got the engine, prepared or not
 * @started_ns: when the current workload was given to the pGPU
 * @charged_ns: so much of the time that it ran is charged; see charge.c
 * @preempt_requested_ns: when the pGPU was asked to take it off the engine; 0: it was not
 * @contended_since_ns: since when it is also other vGPUs that it must leave for; 0: it need not
 * @stopping: somebody is in the backend's cancel() with the current workload, which must not go away
 */
struct sched_engine {
	struct ghyvi_sched *sched;
	enum ghyvi_engine_id id;
	struct mutex start;
	spinlock_t lock;
	const struct sched_policy *policy;
	struct list_head rqs;
	struct list_head ready;
	struct list_head order;
	unsigned int nr_waiting;
	struct ghyvi_workload *current_workload;
	struct sched_rq *last;
	u64 given_ns;
	u64 started_ns;
	u64 charged_ns;
	u64 preempt_requested_ns;
	u64 contended_since_ns;
	u64 armed; /* as told to the clock */
	u64 next_tick;
	bool stopping;
	wait_queue_head_t stopped;
	struct {
		u64 vtime; /* no active vGPU is behind this */
		struct rb_root_cached by_rank, by_vtime; /* those that wait, but for the throttled */
		struct rb_root_cached throttled; /* by eligible_at */
		struct list_head anticipated;
	} fair;
	struct {
		u64 window_start;
		u64 wait_until;
		struct sched_rq *from, *arrived; /* who completed last; who came while nobody had it */
		bool completed;
	} budget;
};

struct ghyvi_sched {
	const struct ghyvi_pgpu_ops *ops;
	void *pgpu;
	const struct ghyvi_sched_clock *clock;
	void *clock_data;
	struct sched_host_clock *host_clock; /* ours to destroy, or NULL */
	/*
	 * Run prepare() and complete(); NULL on a caller's clock: the calling threads do all, and
	 * nothing is prepared ahead.
	 */
	struct workqueue_struct *workers;
	/*
	 * Threads in here after the owner may have seen its last complete(): destroy waits for
	 * them.
	 */
	atomic_t active_calls;
	struct mutex settings_lock; /* outermost; serialises changes */
	struct ghyvi_sched_settings settings; /* written under all engines' locks, read under any */
	struct ghyvi_sched_entity *anon_entity; /* charged for workloads without owner */
	struct sched_engine engines[GHYVI_ENGINES];
};

/**
 * struct sched_policy - decisions, all under the engine's lock
 * @name: as in sysfs
 * @tick_ns: @tick is called once for each that passed, before the next decision, so that an idle
 *	engine needs no timer
 * @on_arrival: @rq has one more workload; @woke: it had none queued or running, or only one that
 *	was late and is prepared now
 * @on_complete: the engine is free again; it was @rq's for @busy_ns (0: did not start), which is
 *	charged. @preempted: the workload will be queued again at once
 * @charge: @rq had the engine for @ns, or cost others as much in another way; negative: so much was
 *	too much. @rq does not wait meanwhile
 * @ran: after @charge, for time on the engine only, up to @now
 * @enqueue, @dequeue: @rq waits from now on, or no longer; after @on_arrival or @on_complete. What a waiting run is ordered by
 *	does not change but between @dequeue and @enqueue.
 * @pick_next: somebody waits and the engine is free: who gets it? NULL: nobody before *@until
 * @peek_next: somebody waits: who will probably be next?
 * @yield_at: others wait: from when on should the running vGPU let them? NULL: when it has had the longer of timeslice and
 *	preempt_timeout
 * @used_up_at: when will the running vGPU have had all that it may have, also if no other waits? NULL:
 *	never
 * @remove: @rq is about to go
 */
struct sched_policy {
	const char *name;
	u64 tick_ns;
	void (*tick)(struct sched_engine *engine, u64 now);
	void (*on_arrival)(struct sched_engine *engine, struct sched_rq *rq, bool woke, u64 now);
	void (*on_complete)(struct sched_engine *engine, struct sched_rq *rq, u64 busy_ns,
			    bool preempted, u64 now);
	void (*charge)(struct sched_rq *rq, s64 ns);
	void (*ran)(struct sched_engine *engine, struct sched_rq *rq, s64 ns, u64 now);
	void (*enqueue)(struct sched_engine *engine, struct sched_rq *rq, u64 now);
	void (*dequeue)(struct sched_engine *engine, struct sched_rq *rq);
	struct sched_rq *(*pick_next)(struct sched_engine *engine, u64 now, u64 *until);
	struct sched_rq *(*peek_next)(struct sched_engine *engine);
	u64 (*yield_at)(struct sched_engine *engine, struct sched_rq *rq, u64 now);
	u64 (*used_up_at)(struct sched_engine *engine, struct sched_rq *rq, u64 now);
	void (*remove)(struct sched_engine *engine, struct sched_rq *rq);
};

extern const struct sched_policy sched_fair, sched_fifo, sched_credit, sched_band;

static inline struct sched_rq *sched_rq_of(struct ghyvi_workload *workload)
{
	struct ghyvi_sched_entity *entity = workload->owner ?: workload->sched->anon_entity;

	return &entity->rqs[workload->job.engine];
}

/* Only of an entity that has stats. */
static inline struct ghyvi_engine_stats *sched_stats_of(const struct sched_rq *rq)
{
	return ghyvi_engine_stats(rq->entity->stats, rq - rq->entity->rqs);
}

/*
 * Can the policy choose it for its first workload? Not while that is late: it lost the engine, and
 * is being prepared.
 */
static inline bool sched_is_ready(const struct sched_rq *rq)
{
	return !list_empty(&rq->queue) &&
	       !list_first_entry(&rq->queue, struct ghyvi_workload, link)->late;
}

/* sched.c */
void sched_arm(struct sched_engine *engine, u64 at);
/* ghyvi_sched_kick() by a thread of the host's: it prepares nothing. */
void sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id id);
/*
 * Take the engine back if the current workload has been preparing for too long and others wait.
 * Caller holds engine->lock, and kicks.
 */
void sched_revoke_late(struct sched_engine *engine, u64 now);

/* lookahead.c: with engine->lock held */
/* Have the workload that is probably next prepared by a worker while the engine runs. */
void sched_look_ahead(struct sched_engine *engine);
/* Until when the current workload, which is being prepared, may keep the engine if others wait. */
u64 sched_late_at(const struct sched_engine *engine);
/* Arm the clock for sched_revoke_late(). */
void sched_check_late(struct sched_engine *engine);

/* What the policy orders @rq by is about to change, and has changed. */
void sched_dequeue(struct sched_engine *engine, struct sched_rq *rq);
void sched_requeue(struct sched_engine *engine, struct sched_rq *rq, u64 now);

static inline u64 sched_now(struct ghyvi_sched *sched)
{
	return sched->clock->now(sched->clock_data);
}

/* The scheduler may be gone then. */
static inline void sched_exit(struct ghyvi_sched *sched)
{
	(void)atomic_dec_return_release(&sched->active_calls);
}

/* charge.c; callers hold engine->lock */
/* Returns what time it is. Does the ticks that passed, charges the running workload up to now. */
u64 sched_update_clock(struct sched_engine *engine);
/* The current workload left the pGPU after @busy_ns in all: charge or give back the rest. */
void sched_settle(struct sched_engine *engine, u64 busy_ns, u64 now);

/* cap.c; @percent is the cap, not 0 */
/* Before the others, and when the setting has changed. What was used stays known. */
void sched_cap_set_window(struct sched_cap *cap, u64 window_ns, u64 now);
/* The vGPU had the engine for @ns until @now; negative: so much was too much. */
void sched_cap_charge(struct sched_cap *cap, u32 percent, s64 ns, u64 now);
/* From when on can the vGPU, which does not run, do so for @turn_ns? Not before @now. */
u64 sched_cap_eligible_at(struct sched_cap *cap, u32 percent, u64 turn_ns, u64 now);
/* When must it stop, if it runs on from @now? GHYVI_SCHED_NEVER: it need not. */
u64 sched_cap_used_up_at(struct sched_cap *cap, u32 percent, u64 now);

/* preempt.c */
/* When must the running workload be looked at again? @now as returned by sched_update_clock(). */
void sched_check_preempt(struct sched_engine *engine, u64 now);
/* @workload was on the engine and was stopped, because it did not make way. */
void sched_report_preempt_timeout(struct sched_engine *engine, struct ghyvi_workload *workload);

/* entity.c */
struct ghyvi_sched_entity *sched_entity_alloc(struct ghyvi_sched *sched);

/* settings.c */
void sched_settings_init(struct ghyvi_sched *sched);

/* credit.c: budgets of credit and band */
void sched_budget_tick(struct sched_engine *engine, u64 now);
void sched_budget_charge(struct sched_rq *rq, s64 ns);
void sched_budget_remove(struct sched_engine *engine, struct sched_rq *rq);
struct sched_rq *sched_first_ready(struct sched_engine *engine);
u64 sched_total_weight(struct sched_engine *engine);
#define SCHED_BUDGET_PERIOD_NS (30 * 1000 * 1000ULL)

/* clock.c */
extern const struct ghyvi_sched_clock sched_host_clock_ops;
struct sched_host_clock *sched_host_clock_create(struct ghyvi_sched *sched);
/* No timer runs any more when it returns, and none will. */
void sched_host_clock_destroy(struct sched_host_clock *clock);

#endif
