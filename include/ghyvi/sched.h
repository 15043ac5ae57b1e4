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
 * The owner sets @job, @owner, @prepare and @complete before ghyvi_sched_queue(), and may read
 * @overstayed_ns in @complete. All other members are private to the scheduler.
 */
struct ghyvi_workload {
	/** @job: what the pGPU runs; the scheduler sets @done in it */
	struct ghyvi_job job;
	/**
	 * @owner: the vGPU that GPU time and the time in @prepare are charged to. NULL: one
	 * anonymous entity that all such workloads share.
	 */
	struct ghyvi_sched_entity *owner;
	/**
	 * @prepare: called at most once per submission, before the job is passed to the engine and
	 * often while another job still runs there. It audits the commands, syncs the shadow and
	 * fills the host's copy of the context.
	 *
	 * Called by ghyvi_sched_kick() if @owner is its @guest, otherwise by a kernel worker. No
	 * scheduler lock is held, and it may sleep. It delays no @prepare or @complete of another
	 * workload. If it takes too long, the engine is given to other vGPUs. If it returns
	 * non-zero, the workload is not run, and @complete is called with GHYVI_JOB_ERROR.
	 */
	int (*prepare)(struct ghyvi_workload *workload);
	/**
	 * @complete: called exactly once per submission, unless ghyvi_sched_cancel() returned true.
	 * From then on the workload belongs to the owner again. After GHYVI_JOB_PREEMPTED the owner
	 * submits it again to continue it.
	 *
	 * Called without scheduler locks by a kernel worker, or by a thread of the pGPU that the
	 * pGPU does without meanwhile. It may sleep for any time: it delays no engine and no
	 * @prepare or @complete of another workload. The engine may already run
	 * another workload. The status is GHYVI_JOB_ERROR also if the workload was stopped because
	 * it ignored a preemption request for preempt_timeout_us.
	 */
	void (*complete)(struct ghyvi_workload *workload, enum ghyvi_job_status status);
	/**
	 * @overstayed_ns: valid in @complete: for how long the workload kept the engine after it
	 * had to yield to others, whether it yielded then, completed, or was stopped; 0: in time
	 */
	u64 overstayed_ns;
	/* private: */
	struct list_head link; /* in the run queue */
	struct list_head order; /* in the engine's order of arrival */
	struct ghyvi_sched *sched;
	struct work_struct preparation; /* calls @prepare, starts the job */
	struct work_struct done; /* calls @complete with @status */
	enum ghyvi_job_status status;
	u64 queued_ns; /* since when it waits for the engine */
	int state; /* enum workload_state */
	bool preparing; /* a thread is in @prepare, or about to call it or to start the job */
	bool prepared; /* @prepare returned 0 */
	bool late; /* lost the engine because it did not start in time; QUEUED and @preparing */
	bool timed_out; /* cancelled by the scheduler after preempt_timeout_us */
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
 * Creates a clock thread. Each entity gets a workqueue for @prepare and @complete. The policy is
 * "fair".
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
 * Creates no threads: the calling threads run all @prepare and @complete callbacks, and nothing is
 * prepared ahead. For tests and simulations.
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
 * Requests or enforces preemption, takes the engine from a workload that was not prepared and
 * started in time, or dispatches to a free engine. A spurious call is harmless.
 *
 * Context: may sleep; locks as for ghyvi_sched_kick().
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
 * Context: may sleep: waits for kernel workers that have called @complete. So neither @prepare nor
 * @complete may call it, and the caller holds no lock that they take.
 */
void ghyvi_sched_entity_destroy(struct ghyvi_sched_entity *entity);

/**
 * ghyvi_sched_knobs() - get the scheduling parameters of a vGPU.
 * @entity: the vGPU
 * @knobs: filled with the parameters
 *
 * Context: may sleep.
 */
void ghyvi_sched_knobs(struct ghyvi_sched_entity *entity, struct ghyvi_sched_knobs *knobs);

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
	 *
	 * Under every policy, this is also how long a workload may keep the engine during its
	 * preparation while another vGPU waits, unless @preempt_timeout_us is shorter.
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
 * ghyvi_sched_settings() - get the settings of a scheduler.
 * @sched: the scheduler
 * @settings: filled with the settings
 *
 * Context: may sleep.
 */
void ghyvi_sched_settings(struct ghyvi_sched *sched, struct ghyvi_sched_settings *settings);

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
 * @workload: the workload; not submitted at present
 *
 * Does not dispatch: the caller calls ghyvi_sched_kick() afterwards.
 *
 * Context: process context; does not sleep.
 */
void ghyvi_sched_queue(struct ghyvi_sched *sched, struct ghyvi_workload *workload);

/**
 * ghyvi_sched_kick() - dispatch a workload to an engine if it is free and the policy picks one.
 * @sched: the scheduler
 * @engine: the engine
 * @guest: the vGPU that the calling thread works for; NULL: workloads without owner
 *
 * To be called after a workload of @guest was queued, by a thread of the guest's VM. If the policy
 * picks a workload of @guest, the calling thread prepares and starts it. A workload of another vGPU
 * is left to a kernel worker.
 *
 * Context: may sleep. The caller holds no lock that @prepare or @complete of @guest's workloads
 * takes. On a caller's clock (ghyvi_sched_create_on()) this applies to the workloads of all vGPUs.
 */
void ghyvi_sched_kick(struct ghyvi_sched *sched, enum ghyvi_engine_id engine,
		      const struct ghyvi_sched_entity *guest);

/**
 * ghyvi_sched_cancel() - withdraw a workload.
 * @sched: the scheduler
 * @workload: the workload
 *
 * When it returns, the workload is in no run queue, and no engine runs it or will run it. If a
 * thread is preparing the workload, its @complete is called with GHYVI_JOB_CANCELLED after
 * @prepare has returned.
 *
 * Does not wait for @complete. So the caller may hold locks that @complete takes.
 *
 * Context: may sleep.
 * Return: true if @complete will not be called, because the workload was queued and not being
 * prepared. False if @complete was called, is being called or will be called.
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
 * Does not wait for the engine or for @complete. So the caller may hold locks that @complete takes.
 *
 * Context: may sleep.
 * Return: as ghyvi_sched_cancel().
 */
bool ghyvi_sched_park(struct ghyvi_sched *sched, struct ghyvi_workload *workload);

/**
 * ghyvi_sched_update_tail() - move the ring tail of a submitted workload (lite restore).
 * @sched: the scheduler
 * @workload: the workload. The caller ensures that it is not freed meanwhile, and that its @prepare
 *	is not running.
 * @tail: the new tail, as an offset in the ring in bytes
 *
 * Context: may sleep.
 * Return: 0: the engine will run to @tail before @complete is called; -ESTALE: it is too late for
 * that, and @complete was or will be called.
 */
int ghyvi_sched_update_tail(struct ghyvi_sched *sched, struct ghyvi_workload *workload, u32 tail);

#endif
