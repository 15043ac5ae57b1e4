// SPDX-License-Identifier: GPL-2.0-only
/* Experiments with the scheduler under a virtual clock: prints a table, and writes JSON. */
#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "experiments.h"

static const char *const policies[] = { "fifo", "credit", "band", "fair" };
static const char *json_path;
static json_t *experiments;
static unsigned int goals_missed;

static json_t *last_experiment(void)
{
	return json_array_get(experiments, json_array_size(experiments) - 1);
}

/* A goal of the last experiment: @measure must be within @low and @high. */
static void goal(const char *measure, double value, double low, double high)
{
	bool missed = value < low || value > high;
	json_t *goals = json_object_get(last_experiment(), "goals");

	if (!goals) {
		goals = json_array();
		json_object_set_new(last_experiment(), "goals", goals);
	}
	json_object_set_new(last_experiment(), measure, json_real(value));
	json_array_append_new(goals, json_pack("{s:s, s:f, s:f, s:b}", "measure", measure, "low",
					       low, "high", high, "missed", missed));
	printf("    %-24s %9.4f  goal %.4f to %.4f%s\n", measure, value, low, high,
	       missed ? "  MISSED" : "");
	goals_missed += missed;
}

static void record(const char *name, const struct sim_setup *setup, const struct sim_result *r,
		   const char *measure, double value)
{
	json_t *shares = json_array(), *e;
	unsigned int i;

	for (i = 0; i < setup->vgpus; i++)
		json_array_append_new(shares, json_real(r->share[i]));
	e = json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:o}",
		      "name", name, "policy", setup->policy, "vgpus", setup->vgpus, "depth",
		      setup->vgpu[0].depth, "jain", r->jain, "jain_1s", r->jain_1s, "jain_1s_min",
		      r->jain_1s_min, "jain_500ms_p5", r->jain_500ms_p5, "jain_100ms_p5",
		      r->jain_100ms_p5, "utilisation", r->utilisation, "max_lag", r->max_lag,
		      "max_wait_ms", (double)r->max_wait_ns / 1e6, "preemptive",
		      setup->command_ns != 0, "shares", shares);
	if (measure)
		json_object_set_new(e, measure, json_real(value));
	json_array_append_new(experiments, e);
	printf("%-28s %-6s %3u %3u  %.4f  %.4f  %.4f  %.4f %8.2f", name, setup->policy,
	       setup->vgpus, setup->vgpu[0].depth, r->jain_1s, r->jain_1s_min, r->jain_100ms_p5,
	       r->utilisation, r->max_lag);
	if (measure)
		printf("  %s %.4f", measure, value);
	putchar('\n');
}

static void run(const struct sim_setup *setup, struct sim_result *result)
{
	if (sim_run(setup, result)) {
		fprintf(stderr, "sched-sim: cannot set up an experiment\n");
		exit(1);
	}
}

/* Add the bound of sim_even() to the last experiment. */
static void record_even(unsigned int vgpus, u64 long_ns)
{
	json_t *last = last_experiment();

	json_object_set_new(last, "even_jain_1s",
			    json_real(sim_even(vgpus, long_ns, 1000 * NSEC_PER_MSEC).jain_mean));
	json_object_set_new(last, "even_jain_100ms_p5",
			    json_real(sim_even(vgpus, long_ns, 100 * NSEC_PER_MSEC).jain_p5));
}

static void isolation(const char *name, u64 short_ns, u64 long_ns, u64 command_ns,
		      unsigned int timeslice_us)
{
	static const unsigned int vgpus[] = { 2, 4, 8, 16 };
	struct sim_result result;
	unsigned int i, depth, p;

	for (i = 0; i < ARRAY_SIZE(vgpus); i++)
		for (depth = 1; depth <= 2; depth++)
			for (p = 0; p < ARRAY_SIZE(policies); p++) {
				struct sim_setup setup = sim_isolation(policies[p], vgpus[i], depth,
								       short_ns, long_ns);

				setup.command_ns = command_ns;
				setup.timeslice_us = timeslice_us;
				if (command_ns && strcmp(policies[p], "fair"))
					continue; /* the others do not preempt */
				run(&setup, &result);
				record(name, &setup, &result, NULL, 0);
				if (!command_ns)
					record_even(vgpus[i], long_ns);
			}
}

static void starting_late(void)
{
	struct sim_result result;
	unsigned int p, late;

	for (late = 0; late < 2; late++)
		for (p = 0; p < ARRAY_SIZE(policies); p++) {
			struct sim_setup setup =
				sim_isolation(policies[p], 2, 1, SIM_SHORT_NS, SIM_LONG_NS);

			setup.vgpu[late].start_ns = 10 * NSEC_PER_SEC;
			run(&setup, &result);
			record(late ? "long starts late" : "short starts late", &setup, &result,
			       NULL, 0);
		}
}

static void knobs(void)
{
	static const unsigned int caps[] = { 5, 20, 45 };
	struct sim_result result;
	struct sim_setup setup;
	unsigned int i, depth;
	char name[40];

	for (depth = 1; depth <= 2; depth++) {
		setup = sim_weights(depth);
		run(&setup, &result);
		record("weights 50:100:300", &setup, &result, "error",
		       sim_weights_error(&setup, &result));
		for (i = 0; i < 2 * ARRAY_SIZE(caps); i++) {
			setup = sim_cap(caps[i / 2], i % 2, depth, SIM_SHORT_NS);
			run(&setup, &result);
			snprintf(name, sizeof(name), "cap %u %%%s", caps[i / 2],
				 i % 2 ? ", alone" : "");
			record(name, &setup, &result, "error", sim_cap_error(&setup, &result));
		}
	}
}

static void games(void)
{
	struct sim_result result;
	unsigned int i, depth;
	char name[40];

	for (i = 0; i < sim_nr_games; i++)
		for (depth = 1; depth <= 2; depth++) {
			struct sim_setup setup = sim_play(&sim_games[i], depth);

			run(&setup, &result);
			snprintf(name, sizeof(name), "game: %s", sim_games[i].name);
			record(name, &setup, &result, "gain",
			       2 * result.share[1] * result.utilisation - 1);
		}
}

static void endless(void)
{
	struct sim_result result;
	unsigned int p;

	for (p = 0; p < ARRAY_SIZE(policies); p++) {
		struct sim_setup setup = sim_endless(policies[p]);

		run(&setup, &result);
		record("endless", &setup, &result, "max_wait_ms", (double)result.max_wait_ns / 1e6);
	}
}

static const unsigned int lengths_ms[] = { 1, 10, 100, 1000, 10000, 60000 };
#define WINDOW_NS (100 * NSEC_PER_MSEC)
#define SETTLED_NS (200 * NSEC_PER_MSEC)

/* A newcomer and the incumbent get their shares at once, however long their workloads are. */
static void newcomer(unsigned int long_vgpu, unsigned int weight)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lengths_ms); i++) {
		u64 long_ns = lengths_ms[i] * NSEC_PER_MSEC;
		struct sim_setup setup = sim_newcomer(long_vgpu, long_ns, weight);
		struct sim_spans spans = { 0 };
		struct sim_result result;
		char name[64];

		setup.span = sim_spans_add;
		setup.span_data = &spans;
		run(&setup, &result);
		snprintf(name, sizeof(name), "%s %u ms, weight %u",
			 long_vgpu ? "newcomer" : "incumbent", lengths_ms[i], weight);
		record(name, &setup, &result, NULL, 0);
		goal("share_error",
		     sim_share_error(&spans, &setup, SIM_LATE_NS + SETTLED_NS, setup.duration_ns,
				     WINDOW_NS),
		     0, 0.02);
		sim_spans_free(&spans);
	}
}

static void on_off(void)
{
	unsigned int i, both;

	for (i = 0; i < ARRAY_SIZE(lengths_ms); i++)
		for (both = 0; both < 2; both++) {
			u64 long_ns = lengths_ms[i] * NSEC_PER_MSEC;
			struct sim_setup setup = sim_on_off(long_ns, both ? long_ns : SIM_SHORT_NS);
			struct sim_result result;
			char name[64];

			run(&setup, &result);
			snprintf(name, sizeof(name), "on and off, %u:%u ms",
				 both ? lengths_ms[i] : 1, lengths_ms[i]);
			record(name, &setup, &result, NULL, 0);
			goal("share", result.share[0], 0.74, 1);
		}
}

/* A cap holds in every window, also during a workload; an excess is repaid within one window. */
static void caps_in_windows(bool preemptive)
{
	static const unsigned int caps[] = { 5, 10, 45 };
	unsigned int i, c, alone;

	for (c = 0; c < ARRAY_SIZE(caps); c++)
		for (i = 0; i < ARRAY_SIZE(lengths_ms); i++)
			for (alone = 0; alone < 2; alone++) {
				u64 request_ns = lengths_ms[i] * NSEC_PER_MSEC;
				struct sim_setup setup = sim_cap(caps[c], alone, 1, request_ns);
				struct sim_spans spans = { 0 };
				struct sim_result result;
				char name[64];
				u64 most;

				setup.command_ns = preemptive ? SIM_COMMAND_NS : 0;
				setup.span = sim_spans_add;
				setup.span_data = &spans;
				run(&setup, &result);
				snprintf(name, sizeof(name), "cap %u %%, %u ms%s%s", caps[c],
					 lengths_ms[i], alone ? ", alone" : "",
					 preemptive ? "" : ", whole");
				record(name, &setup, &result, "error",
				       sim_cap_error(&setup, &result));
				most = sim_most_in_window(&spans, 0, WINDOW_NS);
				if (preemptive) {
					goal("most_in_window_ms", most / 1e6, 0,
					     caps[c] + (SIM_COMMAND_NS + SIM_SWITCH_NS) / 1e6);
					goal("cap_error", sim_cap_error(&setup, &result), 0, 0.02);
				}
				if (preemptive || alone)
					goal("longest_pause_ms", sim_longest_pause(&spans, 0) / 1e6,
					     0,
					     (WINDOW_NS + (alone ? SIM_COMMAND_NS : SIM_LONG_NS)) /
						     1e6);
				sim_spans_free(&spans);
			}
}

/* One busy guest beside idle ones; then an increasing number of busy guests. */
static void neighbours(void)
{
	static const unsigned int idle[] = { 0, 1, 7, 63 };
	struct sim_result result;
	unsigned int i, p;

	for (p = 0; p < ARRAY_SIZE(policies); p++)
		for (i = 0; i < ARRAY_SIZE(idle); i++) {
			struct sim_setup setup = sim_isolation(policies[p], 1 + idle[i], 0,
							       SIM_SHORT_NS, SIM_SHORT_NS);

			setup.vgpu[0].depth = 1;
			run(&setup, &result);
			record("idle neighbours", &setup, &result, "requests_per_s",
			       (double)result.requests / 60);
		}
	for (p = 0; p < ARRAY_SIZE(policies); p++)
		for (i = 1; i <= 64; i = i < 8 ? i + 1 : 2 * i) {
			struct sim_setup setup =
				sim_isolation(policies[p], i, 2, SIM_SHORT_NS, SIM_SHORT_NS);

			run(&setup, &result);
			record("saturation", &setup, &result, "decision_ns",
			       sim_decision_ns(policies[p], i));
		}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	json_path = arg;
	return 0;
}

static const struct argp_option options[] = {
	{ "json", 'j', "FILE", 0, "write all results there", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Run the scheduler of the module under a virtual clock: isolation, late start, knobs, games, "
	       "endless work, newcomers, caps, neighbours. Exit status 1: a goal was missed.",
};

int main(int argc, char **argv)
{
	json_t *root;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	experiments = json_array();
	printf("%-28s %-6s %3s %3s  %-6s  %-6s  %-6s  %-6s %8s\n", "experiment", "policy", "vGP",
	       "dep", "1s", "1s min", "100 p5", "util", "lag/Lmax");
	isolation("isolation 1:5.9", SIM_SHORT_NS, SIM_LONG_NS, 0, 0);
	isolation("isolation 1:20", SIM_SHORT_NS, 20 * SIM_SHORT_NS, 0, 0);
	isolation("isolation 1:100", SIM_SHORT_NS, 100 * SIM_SHORT_NS, 0, 0);
	isolation("isolation 0.1:10", SIM_SHORT_NS / 10, 10 * SIM_SHORT_NS, 0, 0);
	isolation("isolation 1:5.9, preemptive", SIM_SHORT_NS, SIM_LONG_NS, SIM_COMMAND_NS, 0);
	isolation("isolation 1:20, preemptive", SIM_SHORT_NS, 20 * SIM_SHORT_NS, SIM_COMMAND_NS, 0);
	isolation("isolation 1:100, preemptive", SIM_SHORT_NS, 100 * SIM_SHORT_NS, SIM_COMMAND_NS,
		  0);
	isolation("isolation 0.1:10, preemptive", SIM_SHORT_NS / 10, 10 * SIM_SHORT_NS,
		  SIM_COMMAND_NS, 100);
	starting_late();
	knobs();
	games();
	endless();
	newcomer(0, GHYVI_SCHED_WEIGHT_DEFAULT);
	newcomer(1, GHYVI_SCHED_WEIGHT_DEFAULT);
	newcomer(0, 3 * GHYVI_SCHED_WEIGHT_DEFAULT);
	on_off();
	caps_in_windows(true);
	caps_in_windows(false);
	neighbours();

	root = json_pack("{s:o}", "experiments", experiments);
	if (json_path && json_dump_file(root, json_path, JSON_INDENT(1) | JSON_REAL_PRECISION(6))) {
		fprintf(stderr, "sched-sim: cannot write %s\n", json_path);
		return 1;
	}
	json_decref(root);
	if (goals_missed)
		printf("sched-sim: %u goals missed\n", goals_missed);
	return goals_missed != 0;
}
