/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which vGPU's workload an engine runs next. One queue per vGPU and engine; a policy decides, this core only queues,
 * dispatches, measures and takes back. Knows nothing of registers or guests.
 */
#ifndef GHYVI_SCHED_H
#define GHYVI_SCHED_H

#include <linux/list.h>
#include <linux/workqueue.h>
#include <ghyvi/pgpu.h>

struct ghyvi_sched;
struct ghyvi_sched_entity; /* a vGPU as the scheduler sees it */

/**
 * struct ghyvi_workload - one context's ring contents between head and tail, as submitted
 * @job: what the pGPU gets; the scheduler sets @done in it
 * @owner: the vGPU that GPU time, and the time that @prepare takes, is charged to; NULL: nobody's (one entity that all such workloads share)
 * @prepare: called once before the job goes to the engine, often while another job still runs on
 *	it: audit, synchronise the shadow, fill the host's context copy. Called by
 *	ghyvi_sched_kick() with this @owner as its guest, or by a kernel worker. No scheduler lock
 *	held; may sleep: after some time the engine goes to others that wait, and no other
 *	workload's @prepare or @complete is delayed. Non-zero: the workload is not run and @complete
 *	is called with GHYVI_JOB_ERROR.
 * @complete: called exactly once for each submitted workload by a kernel worker, no scheduler lock
 *	held, may sleep, for as long as it likes: it delays no engine and no other workload's
 *	@prepare or @complete. The engine may have gone on before it is called.
 *	GHYVI_JOB_ERROR also for one that did not leave the engine in time while others waited.
 *	The workload belongs to the owner again.
 */
struct ghyvi_workload {
	struct ghyvi_job job;
	struct ghyvi_sched_entity *owner;
	int (*prepare)(struct ghyvi_workload *workload);
	void (*complete)(struct ghyvi_workload *workload, enum ghyvi_job_status status);
	/* The scheduler's: */
	struct list_head link; /* in the vGPU's queue */
	struct list_head order; /* in the engine's order of arrival */
	struct ghyvi_sched *sched;
	struct work_struct preparation; /* calls @prepare, starts the job */
	struct work_struct done; /* calls @complete with @status */
	enum ghyvi_job_status status;
	u64 queued_ns;
	int state;
	bool preparing; /* a thread is in @prepare or about to call it */
	bool prepared;
	bool late; /* lost the engine because @prepare took too long; still queued, and @preparing */
	bool timed_out;
};

#define GHYVI_SCHED_NEVER U64_MAX

/**
 * struct ghyvi_sched_clock - where time comes from
 * @now: nanoseconds; any context, never goes back
 * @arm: call ghyvi_sched_timer() for @engine, from a context that may sleep, as soon as @at is reached; replaces what
 *	was armed for that engine. GHYVI_SCHED_NEVER: disarm; a call may still come. Must not sleep or call back.
 */
struct ghyvi_sched_clock {
	u64 (*now)(void *clock);
	void (*arm)(void *clock, enum ghyvi_engine_id engine, u64 at);
};

/** ghyvi_sched_create() - on the host's clock, with threads of its own. ERR_PTR(-ENOMEM), or why one could not be made. */
struct ghyvi_sched *ghyvi_sched_create(const struct ghyvi_pgpu_ops *ops, void *pgpu);
/**
 * ghyvi_sched_create_on() - on the caller's clock; all is done in the calling threads, @prepare and
 * @complete, too. ERR_PTR(-ENOMEM).
 */
struct ghyvi_sched *ghyvi_sched_create_on(const struct ghyvi_pgpu_ops *ops, void *pgpu,
					  const struct ghyvi_sched_clock *clock, void *clock_data);
/** ghyvi_sched_destroy() - all queues are empty, all engines idle, all entities destroyed. */
void ghyvi_sched_destroy(struct ghyvi_sched *sched);
/** ghyvi_sched_timer() - the time that was armed has come. May sleep, as ghyvi_sched_kick(). */
void ghyvi_sched_timer(struct ghyvi_sched *sched, enum ghyvi_engine_id engine);

/* Knobs of a vGPU. */
#define GHYVI_SCHED_WEIGHT_MIN 1
#define GHYVI_SCHED_WEIGHT_MAX 1000
#define GHYVI_SCHED_WEIGHT_DEFAULT 100
#define GHYVI_SCHED_CAP_MAX 100
#define GHYVI_SCHED_PRIORITY_MAX 7

/**
 * struct ghyvi_sched_knobs - per vGPU
 * @weight: its share of a contended engine is @weight by the sum of those that want it; 1..1000
 * @cap: percent of each engine that it gets at most, also of an idle one; 0: no limit. Only "fair" heeds it.
 * @priority: 0..7; goes first as long as that puts it at most @priority timeslices ahead of its share; "fair" only
 */
struct ghyvi_sched_knobs {
	u32 weight;
	u32 cap;
	u32 priority;
};

/**
 * ghyvi_sched_entity_create() - make a vGPU known. @stats is counted in, @reporter told why workloads were stopped; both may
 * be NULL, and outlive the entity. NULL: no memory.
 */
struct ghyvi_sched_entity *ghyvi_sched_entity_create(struct ghyvi_sched *sched,
						     struct ghyvi_stats *stats,
						     struct ghyvi_reporter *reporter);
/** ghyvi_sched_entity_destroy() - none of its workloads is submitted any more. */
void ghyvi_sched_entity_destroy(struct ghyvi_sched_entity *entity);
void ghyvi_sched_knobs(struct ghyvi_sched_entity *entity, struct ghyvi_sched_knobs *knobs);
/** ghyvi_sched_set_knobs() - at any time. -EINVAL: one is out of range, nothing changes. May sleep. */
int ghyvi_sched_set_knobs(struct ghyvi_sched_entity *entity, const struct ghyvi_sched_knobs *knobs);

#define GHYVI_SCHED_TIMESLICE_MIN_US 100
#define GHYVI_SCHED_TIMESLICE_MAX_US 1000000
#define GHYVI_SCHED_TIMESLICE_DEFAULT_US 2000
#define GHYVI_SCHED_PREEMPT_TIMEOUT_MIN_US 1000
#define GHYVI_SCHED_PREEMPT_TIMEOUT_MAX_US 60000000
#define GHYVI_SCHED_PREEMPT_TIMEOUT_DEFAULT_US 2000000
#define GHYVI_SCHED_WINDOW_MIN_US 1000
#define GHYVI_SCHED_WINDOW_MAX_US 1000000
#define GHYVI_SCHED_WINDOW_DEFAULT_US 100000

/**
 * struct ghyvi_sched_settings - per pGPU
 * @timeslice_us: how long a workload may stay on its engine, before it is asked to leave for another vGPU that
 *	waits and is behind ("fair", which makes it shorter when many wait; under the other policies
 *	the longer of @timeslice_us and @preempt_timeout_us). Under every policy, how long it may
 *	keep the engine while it is prepared and another vGPU waits, unless @preempt_timeout_us is
 *	shorter
 * @preempt_timeout_us: how long it may take to leave; then it is stopped with an error. 0: for ever
 * @window_us: span over which caps are kept, wherever it begins; a vGPU that was away comes back at
 *	most a tenth of it behind
 */
struct ghyvi_sched_settings {
	u32 timeslice_us;
	u32 preempt_timeout_us;
	u32 window_us;
};

void ghyvi_sched_settings(struct ghyvi_sched *sched, struct ghyvi_sched_settings *settings);
/** ghyvi_sched_set_settings() - at any time. -EINVAL: one is out of range, nothing changes. May sleep. */
int ghyvi_sched_set_settings(struct ghyvi_sched *sched, const struct ghyvi_sched_settings *settings);
/** ghyvi_sched_set_policy() - at any time; queues stay. -EINVAL: there is no such policy. May sleep. */
int ghyvi_sched_set_policy(struct ghyvi_sched *sched, const char *name);
/** ghyvi_sched_policy_list() - all names in one line, the active one in brackets. Returns bytes written. */
int ghyvi_sched_policy_list(struct ghyvi_sched *sched, char *buffer, size_t bytes);

/** ghyvi_sched_queue() - put a workload at the end of its vGPU's queue; does not dispatch. Does not sleep. */
void ghyvi_sched_queue(struct ghyvi_sched *sched, struct ghyvi_workload *workload);
/**
 * ghyvi_sched_kick() - dispatch to an idle engine, if the policy says so, after a workload of
 * @guest was queued. If the policy chooses a workload of @guest, the calling thread prepares and
 * starts it; another vGPU's is left to a kernel worker. So the calling thread should be one of the
 * guest's VM. @guest NULL: the workloads without owner. May sleep (runs @prepare); the caller holds
 * no lock that @prepare or @complete of @guest's workloads takes.
 */
void ghyvi_sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id engine,
		      const struct ghyvi_sched_entity *guest);
/**
 * ghyvi_sched_cancel() - take back a workload. When it returns the workload is on no queue and no engine runs it.
 * If it was still queued, @complete will not be called (returns true); otherwise @complete is called,
 * was called or is being called by somebody else (returns false); this does not wait for it, so the caller
 * may hold the lock that @complete takes.
 * A workload that a thread prepares is not run any more; its @complete comes with CANCELLED, after
 * @prepare.
 */
bool ghyvi_sched_cancel(struct ghyvi_sched *sched, struct ghyvi_workload *workload);
/**
 * ghyvi_sched_update_tail() - move the tail of a submitted workload on (lite restore). May sleep; the caller makes sure
 * that the workload is not freed meanwhile and that its @prepare is not under way.
 * Returns 0 when the engine will run to @tail before @complete, -ESTALE when it no longer can.
 */
int ghyvi_sched_update_tail(struct ghyvi_sched *sched, struct ghyvi_workload *workload, u32 tail);

#endif
