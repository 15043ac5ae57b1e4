// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include "experiments.h"

#define SECONDS(n) ((n)*1000000000ULL)

struct sim_setup sim_isolation(const char *policy, unsigned int vgpus, unsigned int depth,
			       u64 short_ns, u64 long_ns)
{
	struct sim_setup setup = { .policy = policy,
				   .vgpus = vgpus,
				   .duration_ns = SECONDS(60),
				   .switch_ns = SIM_SWITCH_NS };
	unsigned int i;

	for (i = 0; i < vgpus; i++)
		setup.vgpu[i] = (struct sim_vgpu){
			.request_ns = i < vgpus / 2 ? short_ns : long_ns,
			.think_ns = SIM_THINK_NS,
			.depth = depth,
		};
	return setup;
}

const struct sim_game sim_games[] = {
	{ "honest", { .request_ns = 1000000, .think_ns = 50000, .depth = 2 } },
	{ "split", { .request_ns = 20000, .think_ns = 0, .depth = 64 } },
	{ "split, one at a time", { .request_ns = 20000, .think_ns = 1000, .depth = 1 } },
	{ "merge", { .request_ns = 30000000, .think_ns = 50000, .depth = 2 } },
	{ "merge, one at a time", { .request_ns = 30000000, .think_ns = 50000, .depth = 1 } },
	{ "deep queue", { .request_ns = 1000000, .think_ns = 0, .depth = 64 } },
	{ "sleep before refill",
	  { .request_ns = 1000000,
	    .think_ns = 0,
	    .depth = 8,
	    .on_ns = 25000000,
	    .off_ns = 5000000 } },
	{ "sleep a window",
	  { .request_ns = 1000000,
	    .think_ns = 0,
	    .depth = 8,
	    .on_ns = 300000000,
	    .off_ns = 100000000 } },
	{ "sleep a second",
	  { .request_ns = 1000000,
	    .think_ns = 0,
	    .depth = 8,
	    .on_ns = 4000000000,
	    .off_ns = 1000000000 } },
	{ "come back late", { .request_ns = 4000000, .think_ns = 480000, .depth = 1 } },
	{ "erratic",
	  { .request_ns = 2000000, .think_ns = 250000, .depth = 1, .jitter_percent = 100 } },
};
const unsigned int sim_nr_games = ARRAY_SIZE(sim_games);

struct sim_setup sim_play(const struct sim_game *game, unsigned int honest_depth)
{
	struct sim_setup setup = {
		.policy = "fair", .vgpus = 2, .duration_ns = SECONDS(60), .switch_ns = SIM_SWITCH_NS
	};

	setup.vgpu[0] = sim_games[0].vgpu;
	setup.vgpu[0].depth = honest_depth;
	setup.vgpu[1] = game->vgpu;
	return setup;
}

struct sim_setup sim_weights(unsigned int depth)
{
	static const unsigned int weights[] = { 50, 100, 300 };
	static const u64 lengths[] = { 1000000, 5900000, 2000000 };
	struct sim_setup setup = {
		.policy = "fair", .vgpus = 3, .duration_ns = SECONDS(60), .switch_ns = SIM_SWITCH_NS
	};
	unsigned int i;

	for (i = 0; i < 3; i++)
		setup.vgpu[i] = (struct sim_vgpu){
			.request_ns = lengths[i],
			.think_ns = SIM_THINK_NS,
			.depth = depth,
			.weight = weights[i],
		};
	return setup;
}

double sim_weights_error(const struct sim_setup *setup, const struct sim_result *result)
{
	double error = 0, all = 0;
	unsigned int i;

	for (i = 0; i < setup->vgpus; i++)
		all += setup->vgpu[i].weight;
	for (i = 0; i < setup->vgpus; i++)
		error = max(error, fabs(result->share[i] * all / setup->vgpu[i].weight - 1));
	return error;
}

struct sim_setup sim_cap(unsigned int percent, bool alone, unsigned int depth, u64 request_ns)
{
	struct sim_setup setup = { .policy = "fair",
				   .vgpus = alone ? 1 : 2,
				   .duration_ns = SECONDS(60),
				   .switch_ns = SIM_SWITCH_NS };

	setup.vgpu[0] = (struct sim_vgpu){
		.request_ns = request_ns, .think_ns = SIM_THINK_NS, .depth = depth, .cap = percent
	};
	setup.vgpu[1] = (struct sim_vgpu){ .request_ns = SIM_LONG_NS,
					   .think_ns = SIM_THINK_NS,
					   .depth = depth };
	return setup;
}

double sim_cap_error(const struct sim_setup *setup, const struct sim_result *result)
{
	return fabs(100 * result->share[0] * result->utilisation / setup->vgpu[0].cap - 1);
}

struct sim_setup sim_endless(const char *policy)
{
	struct sim_setup setup = { .policy = policy,
				   .vgpus = 3,
				   .duration_ns = SECONDS(60),
				   .switch_ns = SIM_SWITCH_NS,
				   .preempt_timeout_us = 100000 };

	setup.vgpu[0] = setup.vgpu[2] = sim_games[0].vgpu;
	setup.vgpu[1] =
		(struct sim_vgpu){ .request_ns = SIM_ENDLESS_NS, .think_ns = 1000000, .depth = 1 };
	return setup;
}

struct sim_setup sim_newcomer(unsigned int long_vgpu, u64 long_ns, unsigned int weight)
{
	struct sim_setup setup = sim_isolation("fair", 2, 1, SIM_SHORT_NS, SIM_SHORT_NS);

	setup.duration_ns = 3 * SIM_LATE_NS;
	setup.command_ns = SIM_COMMAND_NS;
	setup.vgpu[long_vgpu].request_ns = long_ns;
	setup.vgpu[1].start_ns = SIM_LATE_NS;
	setup.vgpu[1].weight = weight;
	return setup;
}

struct sim_setup sim_on_off(u64 always_ns, u64 other_ns)
{
	struct sim_setup setup = sim_isolation("fair", 2, 2, always_ns, other_ns);

	setup.duration_ns = 6 * SIM_ON_OFF_NS;
	setup.command_ns = SIM_COMMAND_NS;
	setup.vgpu[1].on_ns = SIM_ON_OFF_NS;
	setup.vgpu[1].off_ns = SIM_ON_OFF_NS;
	setup.vgpu[1].withdraws = true;
	return setup;
}
