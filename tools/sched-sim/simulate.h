/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's scheduler under a virtual clock: closed-loop vGPUs on one simulated engine.
 */
#ifndef SCHED_SIM_SIMULATE_H
#define SCHED_SIM_SIMULATE_H

#include <ghyvi/sched.h>

#define SIM_VGPUS_MAX 64
#define SIM_ENDLESS_NS (U64_MAX / 4)

/**
 * struct sim_vgpu - a closed-loop vGPU
 */
struct sim_vgpu {
	/** @request_ns: GPU time of a request; SIM_ENDLESS_NS: never completes */
	u64 request_ns;
	/** @think_ns: time from the completion of a request to its next submission */
	u64 think_ns;
	/** @jitter_percent: uniform jitter of @request_ns and @think_ns */
	unsigned int jitter_percent;
	/** @depth: number of outstanding requests */
	unsigned int depth;
	/** @start_ns: time of the first submission */
	u64 start_ns;
	/** @prepare_ns: CPU time that preparing each request takes, before it is queued */
	u64 prepare_ns;
	/** @on_ns: length of a phase in which the vGPU submits */
	u64 on_ns;
	/** @off_ns: length of the phase without submissions that follows; 0: no such phases */
	u64 off_ns;
	/** @withdraws: cancel incomplete requests at the end of @on_ns */
	bool withdraws;
	/** @weight: 0: the default */
	unsigned int weight;
	/** @cap: as in struct ghyvi_sched_knobs */
	unsigned int cap;
	/** @priority: as in struct ghyvi_sched_knobs */
	unsigned int priority;
};

/**
 * struct sim_setup - an experiment
 */
struct sim_setup {
	/** @policy: name of the policy */
	const char *policy;
	/** @vgpus: number of vGPUs, 1 to SIM_VGPUS_MAX */
	unsigned int vgpus;
	/** @vgpu: the vGPUs */
	struct sim_vgpu vgpu[SIM_VGPUS_MAX];
	/** @duration_ns: end of the experiment */
	u64 duration_ns;
	/** @command_ns: a request can be preempted at multiples of this; 0: not at all */
	u64 command_ns;
	/**
	 * @switch_ns: time to switch the engine to a request of another vGPU, or to one that was
	 * preempted. It is charged to the vGPU that is switched to, and is no useful work.
	 */
	u64 switch_ns;
	/** @timeslice_us: 0: the default */
	unsigned int timeslice_us;
	/** @preempt_timeout_us: 0: the default */
	unsigned int preempt_timeout_us;
	/**
	 * @span: called, in order of time, whenever @vgpu has had the engine from @from_ns to
	 * @to_ns; or NULL
	 */
	void (*span)(void *span_data, unsigned int vgpu, u64 from_ns, u64 to_ns);
	/** @span_data: first argument for @span */
	void *span_data;
};

/**
 * struct sim_result - measurements
 *
 * The counters (@requests, @errors, @preemptions, @switches) cover the whole experiment, all other
 * members the time from the start of the last vGPU.
 */
struct sim_result {
	/** @share: share of the GPU time, by vGPU */
	double share[SIM_VGPUS_MAX];
	/** @jain: Jain's index of GPU time divided by weight */
	double jain;
	/** @jain_1s: the same over windows of 1 s, mean */
	double jain_1s;
	/** @jain_1s_min: the same, minimum */
	double jain_1s_min;
	/** @jain_500ms_p5: the same over windows of 500 ms, 5th percentile */
	double jain_500ms_p5;
	/** @jain_100ms_p5: the same over windows of 100 ms, 5th percentile */
	double jain_100ms_p5;
	/** @utilisation: share of time in which the engine did useful work */
	double utilisation;
	/** @max_lag: largest deviation of a vGPU's GPU time from its share, in longest requests */
	double max_lag;
	/** @max_wait_ns: longest time for which a request was queued; without endless requests */
	u64 max_wait_ns;
	/** @requests: number of requests that completed */
	u64 requests;
	/** @errors: number of requests that failed, by vGPU */
	u64 errors[SIM_VGPUS_MAX];
	/** @preemptions: number of preemptions */
	u64 preemptions;
	/** @switches: number of switches between vGPUs */
	u64 switches;
};

/* Returns 0; -EINVAL: the scheduler rejects the policy, a setting or a knob; -ENOMEM. */
int sim_run(const struct sim_setup *setup, struct sim_result *result);

#endif
