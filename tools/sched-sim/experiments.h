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


/* Nanoseconds of this computer's CPU time per workload in the scheduler, when all vGPUs always want the engine. */
double sim_decision_ns(const char *policy, unsigned int vgpus);

#endif
