/* SPDX-License-Identifier: GPL-2.0-only */
/* Setups that the benchmark and the tests share. */
#ifndef SCHED_SIM_EXPERIMENTS_H
#define SCHED_SIM_EXPERIMENTS_H

#include "simulate.h"

#define SIM_SHORT_NS 1000000ULL
#define SIM_LONG_NS 5900000ULL
#define SIM_THINK_NS 50000ULL
/* A parameter of all setups. Documentation/scheduling.md says what `make bench-switch` measures. */
#define SIM_SWITCH_NS 5000ULL
/* A long command: the software pGPU can be preempted between two commands. */
#define SIM_COMMAND_NS 50000ULL

/* The isolation experiment: half of @vgpus submit @short_ns, half @long_ns. */
struct sim_setup sim_isolation(const char *policy, unsigned int vgpus, unsigned int depth,
			       u64 short_ns, u64 long_ns);

/*
 * A bound for isolation without preemption: Jain's index over windows of @window_ns if each vGPU
 * with long requests gets the engine at perfectly even distances, and the vGPUs with short requests
 * share the rest to the nanosecond.
 */
struct sim_even {
	double jain_mean, jain_p5;
};
struct sim_even sim_even(unsigned int vgpus, u64 long_ns, u64 window_ns);

/*
 * Strategies by which a guest may try to get more than half of the engine, beside a guest that
 * keeps @honest_depth requests of 1 ms outstanding.
 */
struct sim_game {
	const char *name;
	struct sim_vgpu vgpu;
};
extern const struct sim_game sim_games[];
extern const unsigned int sim_nr_games;
struct sim_setup sim_play(const struct sim_game *game, unsigned int honest_depth);

/*
 * vGPUs with the weights 50, 100 and 300. The error is the largest relative deviation of GPU time
 * from the share.
 */
struct sim_setup sim_weights(unsigned int depth);
double sim_weights_error(const struct sim_setup *setup, const struct sim_result *result);
/* vGPU 0 is capped; @alone, or beside another vGPU. */
struct sim_setup sim_cap(unsigned int percent, bool alone, unsigned int depth, u64 request_ns);
double sim_cap_error(const struct sim_setup *setup, const struct sim_result *result);
/* vGPU 1 submits requests that never end. */
struct sim_setup sim_endless(const char *policy);

/*
 * vGPU 0 submits from the beginning, vGPU 1 from SIM_LATE_NS on. The requests of @long_vgpu take
 * @long_ns, those of the other vGPU SIM_SHORT_NS. vGPU 1 has @weight.
 */
#define SIM_LATE_NS (10 * NSEC_PER_SEC)
struct sim_setup sim_newcomer(unsigned int long_vgpu, u64 long_ns, unsigned int weight);
/*
 * vGPU 0 always has requests of @always_ns. vGPU 1 has requests of @other_ns in every other period
 * of SIM_ON_OFF_NS; at the end of such a period it withdraws the incomplete ones.
 */
#define SIM_ON_OFF_NS (20 * NSEC_PER_SEC)
struct sim_setup sim_on_off(u64 always_ns, u64 other_ns);

/**
 * struct sim_spans - spans of time in which a vGPU had the engine; to be initialised with zeroes
 */
struct sim_spans {
	/** @span: the spans in order of time; times in ns */
	struct sim_span {
		unsigned int vgpu;
		u64 from, to;
	} * span;
	/** @count: number of spans */
	unsigned int count;
	/** @room: allocated elements of @span */
	unsigned int room;
};

/* To be used as @span of struct sim_setup; @spans is a struct sim_spans. */
void sim_spans_add(void *spans, unsigned int vgpu, u64 from_ns, u64 to_ns);
void sim_spans_free(struct sim_spans *spans);
/*
 * Returns the largest deviation of a vGPU's share from that of its weight, over all windows of
 * @window_ns between @begin_ns and @end_ns, in steps of 1 ms.
 */
double sim_share_error(const struct sim_spans *spans, const struct sim_setup *setup, u64 begin_ns,
		       u64 end_ns, u64 window_ns);
/* Returns the maximum GPU time of @vgpu in any window of @window_ns, in ns. */
u64 sim_most_in_window(const struct sim_spans *spans, unsigned int vgpu, u64 window_ns);
/* Returns the longest time for which @vgpu did not have the engine, in ns. */
u64 sim_longest_pause(const struct sim_spans *spans, unsigned int vgpu);

/*
 * Returns the CPU time that the scheduler takes per workload on this computer, in ns, while all
 * vGPUs always have a workload queued.
 */
double sim_decision_ns(const char *policy, unsigned int vgpus);

#endif
