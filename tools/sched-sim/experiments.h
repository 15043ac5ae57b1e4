/* SPDX-License-Identifier: GPL-2.0-only */
/* Setups that the benchmark and the tests share. */
#ifndef SCHED_SIM_EXPERIMENTS_H
#define SCHED_SIM_EXPERIMENTS_H

#include "simulate.h"

#define SIM_SHORT_NS 1000000ULL
#define SIM_LONG_NS 5900000ULL
#define SIM_THINK_NS 50000ULL
/* What the engine idles between two workloads in `make bench-switch`. All setups below have it. */
#define SIM_SWITCH_NS 5000ULL
/* A command that takes long: the software pGPU can be preempted between two. */
#define SIM_COMMAND_NS 50000ULL

/* The isolation experiment: half of @vgpus submit @short_ns, half @long_ns. */
struct sim_setup sim_isolation(const char *policy, unsigned int vgpus, unsigned int depth, u64 short_ns,
			       u64 long_ns);

/*
 * Isolation without preemption has limits that no policy can beat: Jain's index of windows of @window_ns when each long
 * vGPU gets the engine in perfectly even distances, and the short ones share what is left to the nanosecond.
 */
struct sim_even {
	double jain_mean, jain_p5;
};
struct sim_even sim_even(unsigned int vgpus, u64 long_ns, u64 window_ns);

/* What a guest may try, to get more than its half against one that submits @honest_depth x 1 ms. */
struct sim_game {
	const char *name;
	struct sim_vgpu vgpu;
};
extern const struct sim_game sim_games[];
extern const unsigned int sim_nr_games;
struct sim_setup sim_play(const struct sim_game *game, unsigned int honest_depth);

/* GPU time for weights 50, 100, 300 against what they entitle to: the largest deviation, relative. */
struct sim_setup sim_weights(unsigned int depth);
double sim_weights_error(const struct sim_setup *setup, const struct sim_result *result);
/* vGPU 0 is capped; alone, or against another. */
struct sim_setup sim_cap(unsigned int percent, bool alone, unsigned int depth, u64 request_ns);
double sim_cap_error(const struct sim_setup *setup, const struct sim_result *result);
/* vGPU 1 submits work that never ends. */
struct sim_setup sim_endless(const char *policy);

/*
 * vGPU 0 is there from the beginning, vGPU 1 comes SIM_LATE_NS later. One of them (@long_vgpu)
 * submits @long_ns, the other SIM_SHORT_NS. vGPU 1 has @weight.
 */
#define SIM_LATE_NS (10 * NSEC_PER_SEC)
struct sim_setup sim_newcomer(unsigned int long_vgpu, u64 long_ns, unsigned int weight);
/*
 * vGPU 0 always has work of @always_ns; vGPU 1 of @other_ns for SIM_ON_OFF_NS, then for as long
 * not, for which it takes back what is not complete, and so on.
 */
#define SIM_ON_OFF_NS (20 * NSEC_PER_SEC)
struct sim_setup sim_on_off(u64 always_ns, u64 other_ns);

/**
 * struct sim_spans - which vGPU had the engine from when to when; begins zeroed
 */
struct sim_spans {
	struct sim_span {
		unsigned int vgpu;
		u64 from, to;
	} *span;
	unsigned int count, room;
};

/* For struct sim_setup's @span. */
void sim_spans_add(void *spans, unsigned int vgpu, u64 from_ns, u64 to_ns);
void sim_spans_free(struct sim_spans *spans);
/*
 * Farthest that any vGPU's share is from its weight's, in any window between @begin_ns and @end_ns, to
 * the millisecond.
 */
double sim_share_error(const struct sim_spans *spans, const struct sim_setup *setup, u64 begin_ns,
		       u64 end_ns, u64 window_ns);
/* Nanoseconds that @vgpu had in the window in which it had most. */
u64 sim_most_in_window(const struct sim_spans *spans, unsigned int vgpu, u64 window_ns);
/* Nanoseconds that @vgpu did not have the engine, the longest time. */
u64 sim_longest_pause(const struct sim_spans *spans, unsigned int vgpu);

/* Nanoseconds of this computer's CPU time per workload in the scheduler, when all vGPUs always want the engine. */
double sim_decision_ns(const char *policy, unsigned int vgpus);

#endif
