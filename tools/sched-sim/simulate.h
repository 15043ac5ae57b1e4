/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's scheduler under a virtual clock: closed-loop vGPUs on one pretended engine.
 */
#ifndef SCHED_SIM_SIMULATE_H
#define SCHED_SIM_SIMULATE_H

#include <ghyvi/sched.h>

#define SIM_VGPUS_MAX 64
#define SIM_DEPTH_MAX 64
#define SIM_ENDLESS_NS (U64_MAX / 4)

/**
 * struct sim_vgpu - @depth requests outstanding; each is submitted again @think_ns after it was seen to end
 * @jitter_percent: of @request_ns and @think_ns, uniform
 * @prepare_ns: the host needs this for each request, while it has the engine
 * @on_ns, @off_ns: submits for @on_ns, then not for @off_ns, and so on; 0: always
 * @withdraws: cancels at the end of @on_ns what is not complete
 * @weight: 0 is the default
 */
struct sim_vgpu {
	u64 request_ns;
	u64 think_ns;
	unsigned int jitter_percent;
	unsigned int depth;
	u64 start_ns;
	u64 prepare_ns;
	u64 on_ns, off_ns;
	bool withdraws;
	unsigned int weight, cap, priority;
};

/**
 * struct sim_setup
 * @command_ns: a running request can be preempted at multiples of this; 0: not at all
 * @switch_ns: the engine needs this to go from one vGPU's request to another's, or to one that it preempted; charged to
 *	the one it goes to, and not useful
 * @span: called with @span_data whenever @vgpu has had the engine from @from_ns to @to_ns, in order of
 *	time; or NULL
 */
struct sim_setup {
	const char *policy;
	unsigned int vgpus;
	struct sim_vgpu vgpu[SIM_VGPUS_MAX];
	u64 duration_ns;
	u64 command_ns;
	u64 switch_ns;
	unsigned int timeslice_us, preempt_timeout_us; /* 0: default */
	void (*span)(void *span_data, unsigned int vgpu, u64 from_ns, u64 to_ns);
	void *span_data;
};

/**
 * struct sim_result - counted from when the last vGPU started
 * @share: of GPU time given
 * @jain_1s: mean over the windows, by GPU time over weight; @jain_100ms_p5: 5th percentile
 * @utilisation: share of time in which the engine did work; switching is none
 * @max_lag: farthest that any vGPU was from its share, in longest requests
 * @max_wait_ns: longest that a request that ends was queued
 */
struct sim_result {
	double share[SIM_VGPUS_MAX];
	double jain, jain_1s, jain_1s_min, jain_500ms_p5, jain_100ms_p5;
	double utilisation;
	double max_lag;
	u64 max_wait_ns;
	u64 requests;
	u64 errors[SIM_VGPUS_MAX];
	u64 preemptions, switches;
};

/* Returns 0, or -EINVAL for a policy or knob that the scheduler refuses, or -ENOMEM. */
int sim_run(const struct sim_setup *setup, struct sim_result *result);

#endif
