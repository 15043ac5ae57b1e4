/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types and functions shared by the scheduler core and its policies.
 */
#ifndef GHYVI_SCHED_TYPES_H
#define GHYVI_SCHED_TYPES_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include <ghyvi/sched.h>

enum workload_state {
	WORKLOAD_IDLE, /* not submitted yet, or its owner has taken it back */
	WORKLOAD_QUEUED, /* in its run queue; may be staged */
	WORKLOAD_RUNNING, /* owns the engine */
	WORKLOAD_DONE, /* in neither; complete() was called, or will be when its job is done */
};

#define SCHED_CAP_PARTS 128

/* struct sched_cap - GPU time that a capped vGPU received on one engine; see cap.c */
struct sched_cap {
	u32 part_ns; /* length of one part of the bandwidth window; 0: no window was set yet */
	u64 latest; /* number of the latest part; part 0 begins at time 0 of the clock */
	/*
	 * time in ns from which the GPU time received so far does not exceed the cap's long-term
	 * share
	 */
	u64 paid_until;
	/* the latest SCHED_CAP_PARTS parts; part n is at index n % SCHED_CAP_PARTS */
	struct sched_cap_part {
		u32 used_ns; /* GPU time received in this part */
		u32 end_ns; /* when the last use in this part ended, from the start of the part */
	} parts[SCHED_CAP_PARTS];
};

/*
 * struct sched_rq - the run queue of one vGPU on one engine
 *
 * The engine's lock protects all members.
 */
struct sched_rq {
	struct ghyvi_sched_entity *entity; /* the vGPU */
	struct list_head queue; /* QUEUED workloads, in order of submission */
	struct list_head ready; /* entry in engine->ready; linked while @queue is not empty */
	/*
	 * entry in engine->rqs; linked since the first submission. The policy chooses the order of
	 * that list.
	 */
	struct list_head link;
	bool enqueued; /* @queue is not empty, and none of its workloads owns the engine */
	/* cancels the job of this run queue's workload that ignored a preemption request */
	struct work_struct stop;
	/* state of the policy "fair", all zero at first; zeroed when the policy is switched */
	struct {
		struct rb_node by_rank; /* in engine->fair.by_rank, or in .throttled */
		struct rb_node by_vtime; /* in engine->fair.by_vtime, unless @throttled */
		struct hlist_node anticipated; /* in engine->fair.anticipated while anticipated */
		bool known; /* was placed before; see join() */
		bool throttled; /* enqueued, but its cap does not allow it to run yet */
		s64 rank; /* key of @by_rank; valid while enqueued and not @throttled */
		u64 vtime; /* virtual time; up to date also while a workload runs */
		u64 idle_since; /* when @queue became empty by a completion; 0: unknown */
		u64 await_until; /* end of the anticipation */
		u64 think_ns; /* think time (completion to next arrival), average */
		u64 think_deviation_ns; /* average deviation from @think_ns */
		u64 service_ns; /* GPU time per workload, average */
		u64 served_ns; /* GPU time of the incomplete workload, over all its turns */
		u64 stay_ns; /* length of a preempted turn: decaying maximum */
		u64 eligible_at; /* when the cap allows it to run; valid while enqueued */
		struct sched_cap cap;
	} fair;
	u64 priv[3]; /* state of another policy; zeroed as @fair is */
};

/* struct ghyvi_sched_entity - a vGPU, with one run queue per engine */
struct ghyvi_sched_entity {
	struct ghyvi_sched *sched; /* the scheduler of the vGPU's pGPU */
	struct ghyvi_stats *stats; /* the vGPU's counters, or NULL */
	struct ghyvi_reporter *reporter; /* for reports and tracepoints, or NULL */
	/* written with all engines' locks held, read with any one of them */
	struct ghyvi_sched_knobs knobs;
	/*
	 * run the work items of the vGPU's workloads, which wait for its guest's memory and locks.
	 * NULL on a caller's clock.
	 */
	struct workqueue_struct *workers;
	struct sched_rq rqs[GHYVI_ENGINES]; /* by engine */
};

/* struct sched_engine - an engine and its run queues */
struct sched_engine {
	struct ghyvi_sched *sched; /* the scheduler */
	enum ghyvi_engine_id id; /* which engine */
	/*
	 * protects all members below, the run queues of this engine, and the states of their
	 * workloads
	 */
	spinlock_t lock;
	const struct sched_policy *policy; /* the policy */
	/* run queues that ever had a workload, in the order that the policy chooses */
	struct list_head rqs;
	struct list_head ready; /* run queues with QUEUED workloads */
	struct list_head order; /* all QUEUED workloads, in order of arrival */
	unsigned int nr_enqueued; /* number of enqueued run queues (@enqueued of struct sched_rq) */
	struct ghyvi_workload *current_workload; /* owns the engine; NULL: the engine is free */
	/* given to the pGPU behind the current workload; see core.c */
	struct ghyvi_workload *staged;
	struct sched_rq *last; /* run queue of the workload that owned the engine last, or NULL */
	u64 started_ns; /* when the current workload got the engine */
	u64 charged_ns; /* GPU time of the current workload that is charged already; see rq.c */
	u64 preempt_requested_ns; /* time of the preemption request; 0: none */
	/*
	 * since when the current workload has to yield to other vGPUs; preempt_timeout_us counts
	 * from here. 0: it need not, but its cap may be used up.
	 */
	u64 contended_since_ns;
	/* for how long the current job had waited at @contended_since_ns */
	u64 contended_waited_ns;
	u64 armed; /* when the clock was told to call ghyvi_sched_timer() */
	u64 next_tick; /* time of the policy's next tick */
	/*
	 * a thread is in the backend's cancel() with the current workload. job_done() waits for
	 * that thread, so that the workload stays valid.
	 */
	bool stopping;
	wait_queue_head_t stopped; /* wait queue for @stopping to become false */
	/* state of the policy "fair", all zero at first; zeroed when the policy is switched */
	struct {
		u64 vtime; /* minimum virtual time of the active vGPUs; never decreases */
		struct rb_root_cached by_rank, by_vtime; /* enqueued and not throttled */
		struct rb_root_cached throttled; /* enqueued and throttled, by eligible_at */
		struct hlist_head anticipated; /* anticipated run queues */
		struct sched_cap old_cap; /* for a change of the window; too large for the stack */
	} fair;
	u64 priv[5]; /* state of another policy; zeroed as @fair is */
};

/* struct ghyvi_sched - the scheduler of one pGPU */
struct ghyvi_sched {
	struct ghyvi_pgpu_device *pgpu; /* the pGPU */
	const struct ghyvi_pgpu_ops *ops; /* operations of @pgpu */
	struct ghyvi_sched_clock *clock; /* source of time and of timer calls */
	/*
	 * work items call complete() and cancel(), in a workqueue of each entity. False on a
	 * caller's clock: the calling threads do.
	 */
	bool has_workers;
	/*
	 * number of threads that execute scheduler code and may still do so after the owner saw its
	 * last complete(). ghyvi_sched_destroy() waits for 0.
	 */
	atomic_t active_calls;
	bool stages; /* the pGPU takes more than one job per engine */
	struct mutex policy_lock; /* outermost lock; serialises changes of the policy */
	/* written with all engines' locks held, read with any one of them */
	struct ghyvi_sched_settings settings;
	/* anonymous entity, charged for workloads without owner */
	struct ghyvi_sched_entity *anon_entity;
	struct sched_engine engines[GHYVI_ENGINES]; /* by id */
};

/*
 * struct sched_policy - the decisions of a policy
 *
 * Each operation is called with the engine's lock held. Operations that are described as optional
 * may be NULL.
 */
struct sched_policy {
	const char *name; /* as in sysfs */
	/* optional; @engine uses the policy from @now on, and its state is zeroed */
	void (*init)(struct sched_engine *engine, u64 now);
	u64 tick_ns; /* period of @tick */
	/*
	 * optional; called once for each period that elapsed, before the next decision. An idle
	 * engine needs no timer for that.
	 */
	void (*tick)(struct sched_engine *engine, u64 now);
	/*
	 * optional; a workload was added to @rq. @woke: @rq had no workload QUEUED or running
	 * before.
	 */
	void (*on_arrival)(struct sched_engine *engine, struct sched_rq *rq, bool woke, u64 now);
	/*
	 * optional; a workload of @rq released the engine after @busy_ns of GPU time, which is
	 * charged already (0: it did not start). @preempted: the workload will be queued again at
	 * once.
	 */
	void (*on_complete)(struct sched_engine *engine, struct sched_rq *rq, u64 busy_ns,
			    bool preempted, u64 now);
	/*
	 * optional; charge @rq for @ns of GPU time, or of preparation. A negative @ns is a refund.
	 * @rq is not enqueued during the call.
	 */
	void (*charge)(struct sched_rq *rq, s64 ns);
	/* optional; @rq, which is idle, is charged next: its idle time must not pay */
	void (*place)(struct sched_engine *engine, struct sched_rq *rq, u64 now);
	/* optional; called after @charge, but for GPU time only, received until @now */
	void (*ran)(struct sched_engine *engine, struct sched_rq *rq, s64 ns, u64 now);
	/* optional; enqueue @rq; after @on_arrival or @on_complete if one is due */
	void (*enqueue)(struct sched_engine *engine, struct sched_rq *rq, u64 now);
	/*
	 * optional; dequeue @rq. The keys of an enqueued run queue never change: a change is
	 * bracketed by @dequeue and @enqueue.
	 */
	void (*dequeue)(struct sched_engine *engine, struct sched_rq *rq);
	/*
	 * pick the next run queue; the engine is free, and at least one run queue is enqueued.
	 * NULL: keep the engine idle until *@until, or until the next event.
	 */
	struct sched_rq *(*pick_next)(struct sched_engine *engine, u64 now, u64 *until);
	/* the enqueued run queue that @pick_next is expected to pick, or NULL */
	struct sched_rq *(*peek_next)(struct sched_engine *engine);
	/*
	 * optional; when the running vGPU should yield to the enqueued ones. If NULL, it should
	 * yield after the longer of timeslice and preempt_timeout, and never if preempt_timeout_us
	 * is 0.
	 */
	u64 (*yield_at)(struct sched_engine *engine, struct sched_rq *rq, u64 now);
	/*
	 * optional; when the cap of the running vGPU is used up. Then it is preempted also if no
	 * other vGPU is enqueued. NULL: never.
	 */
	u64 (*used_up_at)(struct sched_engine *engine, struct sched_rq *rq, u64 now);
	/* optional; drop all references to @rq, which is about to be freed */
	void (*remove)(struct sched_engine *engine, struct sched_rq *rq);
};

extern const struct sched_policy ghyvi_sched_fair, ghyvi_sched_fifo, ghyvi_sched_credit,
	ghyvi_sched_band;

static inline struct sched_rq *sched_rq_of(struct ghyvi_workload *workload)
{
	struct ghyvi_sched_entity *entity = workload->owner ?: workload->sched->anon_entity;

	return &entity->rqs[workload->job.engine];
}

/* The entity must have stats. */
static inline struct ghyvi_engine_stats *sched_stats_of(const struct sched_rq *rq)
{
	return ghyvi_engine_stats(rq->entity->stats, rq - rq->entity->rqs);
}

static inline struct sched_engine *sched_engine_of(struct ghyvi_sched *sched,
						   struct ghyvi_workload *workload)
{
	return &sched->engines[workload->job.engine];
}

static inline u64 sched_now(struct ghyvi_sched *sched)
{
	return sched->clock->now(sched->clock);
}

/* The scheduler may be freed as soon as the counter is 0. Pairs with ghyvi_sched_destroy(). */
static inline void sched_exit(struct ghyvi_sched *sched)
{
	if (atomic_dec_and_test(&sched->active_calls))
		wake_up_var(&sched->active_calls); /* uses only the address */
}

/* rq.c; callers hold engine->lock */
/* Set the time of the next ghyvi_sched_timer() call. */
void ghyvi_sched_arm(struct sched_engine *engine, u64 at);
/* Set the state of @workload, whose place (run queue, engine) it must describe already. */
void ghyvi_sched_set_state(struct sched_engine *engine, struct ghyvi_workload *workload, int state);
/*
 * Update the clock, and append @workload to its run queue: it becomes QUEUED. Returns the present
 * time.
 */
u64 ghyvi_sched_link(struct sched_engine *engine, struct ghyvi_workload *workload);
/* Remove @workload, which is QUEUED, from its run queue. */
void ghyvi_sched_unlink(struct sched_engine *engine, struct ghyvi_workload *workload);
/* Give the free engine to @workload, which is QUEUED: it becomes RUNNING. */
void ghyvi_sched_dispatch(struct sched_engine *engine, struct ghyvi_workload *workload, u64 now);
/*
 * Dequeue @rq before its keys change, and enqueue it again afterwards. Both do nothing if it is
 * not, or must not be, enqueued.
 */
void ghyvi_sched_dequeue(struct sched_engine *engine, struct sched_rq *rq);
void ghyvi_sched_requeue(struct sched_engine *engine, struct sched_rq *rq, u64 now);
/* Run the policy ticks that are due, charge the running workload, and return the current time. */
u64 ghyvi_sched_update_clock(struct sched_engine *engine);
/*
 * The current workload released the pGPU after @busy_ns in total: charge, or refund, the difference
 * to what was charged before.
 */
void ghyvi_sched_settle(struct sched_engine *engine, u64 busy_ns, u64 now);
/* Charge @rq for @busy_ns of GPU time until @now, of a workload that is not the current one. */
void ghyvi_sched_charge_run(struct sched_engine *engine, struct sched_rq *rq, u64 busy_ns, u64 now);

/* cap.c; @percent is the cap: 1 to 100 */
/*
 * Set the length of the bandwidth window. Must be called before the functions below, and when the
 * setting has changed. Recorded use is kept. @old: room for a copy of @cap
 */
void ghyvi_sched_cap_set_window(struct sched_cap *cap, struct sched_cap *old, u64 window_ns,
				u64 now);
/* Record that the vGPU received @ns of GPU time until @now; a negative @ns is a refund. */
void ghyvi_sched_cap_charge(struct sched_cap *cap, u32 percent, s64 ns, u64 now);
/*
 * When may the vGPU, which does not run, begin a turn of @turn_ns? Not before @now. Long turns are
 * shortened to a fraction of what the cap allows per window.
 */
u64 ghyvi_sched_cap_eligible_at(struct sched_cap *cap, u32 percent, u64 turn_ns, u64 now);
/* When is the cap used up if the vGPU keeps running from @now? GHYVI_SCHED_NEVER: not at all. */
u64 ghyvi_sched_cap_used_up_at(struct sched_cap *cap, u32 percent, u64 now);

/* preempt.c */
/*
 * Check whether the current workload must be preempted, request that, and arm the clock for the
 * next check. @now as returned by ghyvi_sched_update_clock(). Caller holds engine->lock.
 */
void ghyvi_sched_check_preempt(struct sched_engine *engine, u64 now);
/*
 * The same, but returns true instead if the workload has ignored a request for too long: then it
 * must be stopped. Caller holds engine->lock.
 */
bool ghyvi_sched_should_stop(struct sched_engine *engine, u64 now);
/* Cancel the job of @rq, the current one, that has ignored the preemption request. May sleep. */
void ghyvi_sched_stop_current(struct sched_rq *rq);
/* The work item @stop of every run queue. */
void ghyvi_sched_stop_work(struct work_struct *work);
/* Report that running @workload was stopped because it ignored the preemption request. */
void ghyvi_sched_report_preempt_timeout(struct sched_engine *engine,
					struct ghyvi_workload *workload);

/* clock.c */
struct ghyvi_sched_clock *ghyvi_sched_host_clock_create(struct ghyvi_sched *sched);
/* When it returns, ghyvi_sched_timer() is not running and will not be called again. */
void ghyvi_sched_host_clock_destroy(struct ghyvi_sched_clock *clock);

#endif
