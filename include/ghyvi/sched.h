/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler: which vGPU's workload an engine runs next.
 *
 * Each vGPU has one run queue per engine. A policy picks the next run queue; the core enqueues,
 * dispatches, measures and preempts workloads. The scheduler knows nothing of registers or guests.
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
 *
 * The owner sets @job, @owner and @complete before ghyvi_sched_queue(), and may read and clear
 * @overstayed_ns in @complete. All other members are private to the scheduler.
 */
struct ghyvi_workload {
	/** @job: what the pGPU runs; the scheduler sets @done in it */
	struct ghyvi_job job;
	/**
	 * @owner: the vGPU that GPU time is charged to. NULL: one anonymous entity that all such
	 * workloads share.
	 */
	struct ghyvi_sched_entity *owner;
	/**
	 * @complete: called exactly once per submission, unless ghyvi_sched_cancel() returned true.
	 * From then on the workload belongs to the owner again. After GHYVI_JOB_PREEMPTED the owner
	 * submits it again to continue it.
	 *
	 * Called without scheduler locks by a kernel worker, or by a thread of the pGPU that the
	 * pGPU does without meanwhile. It may sleep for any time: it delays no engine and no
	 * @complete of another workload. The engine may already run another workload, and is kicked
	 * afterwards. The status is GHYVI_JOB_ERROR also if the workload was stopped because
	 * it ignored a preemption request for preempt_timeout_us.
	 */
	void (*complete)(struct ghyvi_workload *workload, enum ghyvi_job_status status);
	/**
	 * @overstayed_ns: valid in @complete: for how long the workload kept the engine after it
	 * had begun, and had to yield to others, whether it yielded then, completed, or was
	 * stopped; 0: in time
	 */
	u64 overstayed_ns;
	/* private: */
	struct list_head link; /* in the run queue */
	struct list_head order; /* in the engine's order of arrival */
	struct ghyvi_sched *sched;
	struct work_struct done; /* calls @complete with @status */
	enum ghyvi_job_status status;
	u64 queued_ns; /* since when it waits for the engine */
	int state; /* enum workload_state */
	bool timed_out; /* the scheduler cancels it, after preempt_timeout_us */
	bool parking; /* ghyvi_sched_park() was called since it was queued */
};

#define GHYVI_SCHED_NEVER U64_MAX

/**
 * struct ghyvi_sched_clock - source of time and of timer calls
 *
 * Embedded in a structure of its owner, which the operations find with container_of().
 */
struct ghyvi_sched_clock {
	/** @now: the time in ns; never decreases. Any context. */
	u64 (*now)(struct ghyvi_sched_clock *clock);
	/**
	 * @arm: call ghyvi_sched_timer() for @engine as soon as the time @at (ns) is reached, from
	 * a context that may sleep. Replaces the previous @at of that engine. GHYVI_SCHED_NEVER
	 * disarms; a call that is already due may still come. Called with a spinlock held: must
	 * neither sleep nor call back.
	 */
	void (*arm)(struct ghyvi_sched_clock *clock, enum ghyvi_engine_id engine, u64 at);
};

/**
 * ghyvi_sched_create() - create a scheduler that runs on the host's clock.
 * @pgpu: the pGPU
 *
 * Creates a clock thread. Each entity gets a workqueue. The policy is "fair".
 *
 * Context: may sleep.
 * Return: the scheduler, or an ERR_PTR: -ENOMEM: out of memory; -EINTR: the calling thread was
 * killed while the clock thread was created.
 */
struct ghyvi_sched *ghyvi_sched_create(struct ghyvi_pgpu_device *pgpu);

/**
 * ghyvi_sched_create_on() - create a scheduler that runs on the caller's clock.
 * @pgpu: the pGPU
 * @clock: source of time and of timer calls; must outlive the scheduler
 *
 * Creates no threads: the calling threads call @complete, and ghyvi_sched_timer() the pGPU's
 * @cancel. For tests and simulations.
 *
 * Context: may sleep.
 * Return: the scheduler, or ERR_PTR(-ENOMEM).
 */
struct ghyvi_sched *ghyvi_sched_create_on(struct ghyvi_pgpu_device *pgpu,
					  struct ghyvi_sched_clock *clock);

/**
 * ghyvi_sched_destroy() - free a scheduler.
 * @sched: the scheduler; all run queues are empty, all engines idle, all entities destroyed
 *
 * Context: may sleep: waits for threads that are still inside of the scheduler.
 */
void ghyvi_sched_destroy(struct ghyvi_sched *sched);

/**
 * ghyvi_sched_timer() - handle an expired timer.
 * @sched: the scheduler
 * @engine: the engine that the clock's @arm was called for
 *
 * Requests or enforces preemption, or dispatches to a free engine. A spurious call is harmless.
 *
 * Context: process context; sleeps only on a caller's clock. Locks as for ghyvi_sched_kick().
 */
void ghyvi_sched_timer(struct ghyvi_sched *sched, enum ghyvi_engine_id engine);

/* Limits of struct ghyvi_sched_knobs. */
#define GHYVI_SCHED_WEIGHT_MIN 1
#define GHYVI_SCHED_WEIGHT_MAX 1000
#define GHYVI_SCHED_WEIGHT_DEFAULT 100
#define GHYVI_SCHED_CAP_MAX 100
#define GHYVI_SCHED_PRIORITY_MAX 7

/**
 * struct ghyvi_sched_knobs - scheduling parameters of a vGPU
 */
struct ghyvi_sched_knobs {
	/**
	 * @weight: share of a contended engine: @weight divided by the sum of the weights of the
	 * vGPUs that compete for it; GHYVI_SCHED_WEIGHT_MIN to GHYVI_SCHED_WEIGHT_MAX
	 */
	u32 weight;
	/**
	 * @cap: upper limit of GPU time per engine, also on an idle one, in percent;
	 * 0 (no limit) to GHYVI_SCHED_CAP_MAX. Only the policy "fair" enforces it.
	 */
	u32 cap;
	/**
	 * @priority: 0 to GHYVI_SCHED_PRIORITY_MAX. The vGPU is preferred as long as that puts it
	 * at most @priority timeslices ahead of its share. Only the policy "fair" uses it.
	 */
	u32 priority;
};

/**
 * ghyvi_sched_entity_create() - add a vGPU to a scheduler.
 * @sched: the scheduler
 * @stats: counters to update, or NULL; must outlive the entity
 * @reporter: for reports of stopped workloads, or NULL; must outlive the entity
 *
 * Context: may sleep.
 * Return: the entity, with default knobs, or NULL: out of memory.
 */
struct ghyvi_sched_entity *ghyvi_sched_entity_create(struct ghyvi_sched *sched,
						     struct ghyvi_stats *stats,
						     struct ghyvi_reporter *reporter);

/**
 * ghyvi_sched_entity_destroy() - remove a vGPU from its scheduler and free the entity.
 * @entity: the entity; none of its workloads is submitted
 *
 * Context: may sleep: waits for kernel workers that have called @complete. So @complete must not
 * call it, and the caller holds no lock that @complete takes.
 */
void ghyvi_sched_entity_destroy(struct ghyvi_sched_entity *entity);

/**
 * ghyvi_sched_get_knobs() - get the scheduling parameters of a vGPU.
 * @entity: the vGPU
 * @knobs: filled with the parameters
 *
 * Context: may sleep.
 */
void ghyvi_sched_get_knobs(struct ghyvi_sched_entity *entity, struct ghyvi_sched_knobs *knobs);

/**
 * ghyvi_sched_set_knobs() - change the scheduling parameters of a vGPU.
 * @entity: the vGPU
 * @knobs: the new parameters
 *
 * May be called at any time. GPU time until now is charged with the old parameters.
 *
 * Context: may sleep; locks as for ghyvi_sched_kick().
 * Return: 0, or -EINVAL: a parameter is out of range, and none was changed.
 */
int ghyvi_sched_set_knobs(struct ghyvi_sched_entity *entity, const struct ghyvi_sched_knobs *knobs);

/* Limits of struct ghyvi_sched_settings. */
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
 * struct ghyvi_sched_settings - settings of a scheduler, that is, of a pGPU
 */
struct ghyvi_sched_settings {
	/**
	 * @timeslice_us: how long a workload may run before it is preempted on behalf of another
	 * vGPU, in us; GHYVI_SCHED_TIMESLICE_MIN_US to GHYVI_SCHED_TIMESLICE_MAX_US.
	 *
	 * The policy "fair" preempts only for a vGPU that is behind, and shortens the timeslice if
	 * many vGPUs wait. The other policies preempt after the longer of @timeslice_us and
	 * @preempt_timeout_us.
	 */
	u32 timeslice_us;
	/**
	 * @preempt_timeout_us: how long a preemption may take, in us, before the workload is
	 * stopped with an error; GHYVI_SCHED_PREEMPT_TIMEOUT_MIN_US to
	 * GHYVI_SCHED_PREEMPT_TIMEOUT_MAX_US, or 0: for ever
	 */
	u32 preempt_timeout_us;
	/**
	 * @window_us: length of the bandwidth window over which caps are enforced, wherever it
	 * begins, in us; GHYVI_SCHED_WINDOW_MIN_US to GHYVI_SCHED_WINDOW_MAX_US. A vGPU that was
	 * idle is placed at most a tenth of it behind the active ones.
	 */
	u32 window_us;
};

/**
 * ghyvi_sched_get_settings() - get the settings of a scheduler.
 * @sched: the scheduler
 * @settings: filled with the settings
 *
 * Context: may sleep.
 */
void ghyvi_sched_get_settings(struct ghyvi_sched *sched, struct ghyvi_sched_settings *settings);

/**
 * ghyvi_sched_set_settings() - change the settings of a scheduler.
 * @sched: the scheduler
 * @settings: the new settings
 *
 * May be called at any time.
 *
 * Context: may sleep; locks as for ghyvi_sched_kick().
 * Return: 0, or -EINVAL: a setting is out of range, and none was changed.
 */
int ghyvi_sched_set_settings(struct ghyvi_sched *sched,
			     const struct ghyvi_sched_settings *settings);

/**
 * ghyvi_sched_set_policy() - switch to another policy.
 * @sched: the scheduler
 * @name: name of the policy, one of those that ghyvi_sched_policy_list() lists
 *
 * May be called at any time. Workloads stay in their run queues; the new policy starts without
 * history.
 *
 * Context: may sleep; locks as for ghyvi_sched_kick().
 * Return: 0, or -EINVAL: there is no such policy.
 */
int ghyvi_sched_set_policy(struct ghyvi_sched *sched, const char *name);

/**
 * ghyvi_sched_policy_list() - list the names of all policies.
 * @sched: the scheduler
 * @buffer: receives one line of names, the active one in brackets, and a NUL
 * @bytes: size of @buffer in bytes
 *
 * Context: may sleep.
 * Return: the length of the line in bytes, without the NUL.
 */
int ghyvi_sched_policy_list(struct ghyvi_sched *sched, char *buffer, size_t bytes);

/**
 * ghyvi_sched_queue() - append a workload to the run queue of its vGPU.
 * @sched: the scheduler
 * @workload: the workload; not submitted at present. Its job is ready to run: @run of the pGPU may
 *	be called at any time.
 *
 * Does not dispatch: the caller calls ghyvi_sched_kick() afterwards.
 *
 * Context: process context; does not sleep.
 */
void ghyvi_sched_queue(struct ghyvi_sched *sched, struct ghyvi_workload *workload);

/**
 * ghyvi_sched_kick() - start a workload on an engine if it is free and the policy picks one.
 * @sched: the scheduler
 * @engine: the engine
 *
 * To be called after a workload was queued. Any thread may call it; it starts workloads of any
 * vGPU.
 *
 * Context: process context; does not sleep. On a caller's clock (ghyvi_sched_create_on()) it may
 * call @complete, if the pGPU refuses a job; then the caller holds no lock that @complete takes.
 */
void ghyvi_sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id engine);

/**
 * ghyvi_sched_charge_preparation() - charge a vGPU for the preparation of its workloads.
 * @entity: the vGPU
 * @engine: the engine that the workloads are for
 * @ns: CPU time in ns that was spent, see struct ghyvi_cpu_time
 *
 * A vGPU that is idle, because nothing was queued, is placed first, as if a workload were: idle
 * time pays for no preparation.
 *
 * Context: process context; does not sleep.
 */
void ghyvi_sched_charge_preparation(struct ghyvi_sched_entity *entity, enum ghyvi_engine_id engine,
				    u64 ns);

/**
 * ghyvi_sched_cancel() - withdraw a workload.
 * @sched: the scheduler
 * @workload: the workload
 *
 * When it returns, the workload is in no run queue, and no engine runs it or will run it.
 *
 * Does not wait for @complete. So the caller may hold locks that @complete takes.
 *
 * Context: may sleep.
 * Return: true if @complete will not be called, because the pGPU did not have the job. False if
 * @complete was called, is being called or will be called.
 */
bool ghyvi_sched_cancel(struct ghyvi_sched *sched, struct ghyvi_workload *workload);

/**
 * ghyvi_sched_park() - withdraw a workload so that its owner can queue it again later.
 * @sched: the scheduler
 * @workload: the workload
 *
 * A workload that did not begin is withdrawn. A running one is preempted: @complete is called when
 * its engine has stopped it between two commands, or with another status if it ended before. Its
 * owner may call ghyvi_sched_cancel() if that takes too long. @complete is called with
 * GHYVI_JOB_PREEMPTED instead of GHYVI_JOB_CANCELLED if the workload did not begin.
 *
 * Context: process context; does not sleep. The caller may hold locks that @complete takes.
 * Return: as ghyvi_sched_cancel().
 */
bool ghyvi_sched_park(struct ghyvi_sched *sched, struct ghyvi_workload *workload);

/**
 * ghyvi_sched_update_tail() - move the ring tail of a submitted workload (lite restore).
 * @sched: the scheduler
 * @workload: the workload. The caller ensures that it is not freed meanwhile.
 * @tail: the new tail, as an offset in the ring in bytes
 *
 * Context: may sleep.
 * Return: 0: the engine will run to @tail before @complete is called; -ESTALE: it is too late for
 * that, and @complete was or will be called.
 */
int ghyvi_sched_update_tail(struct ghyvi_sched *sched, struct ghyvi_workload *workload, u32 tail);

#endif
