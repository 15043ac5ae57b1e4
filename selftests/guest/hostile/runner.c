// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the classes of attacks in rounds of trials, with a valid workload after each round, and
 * reports.
 */
#include <inttypes.h>
#include <string.h>

#include "attack.h"
#include "runner.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define CANARIES_PER_TRIAL 2u
#define PROGRESS_S 10

static const struct attack *const attacks[] = {
	&attack_toctou, &attack_table_race, &attack_to_absent, &attack_unmap,
	&attack_smram,	&attack_aliasing,   &attack_foreign,   &attack_split_entry,
	&attack_scan,	&attack_trap,	    &attack_exhaust,   &attack_commands,
	&attack_user,	&attack_infinite,   &attack_schedule,  &attack_registers,
	&attack_port,	&attack_image,	    &attack_ring,      &attack_multicall,
};

/* The result of one class. */
struct result {
	const struct attack *attack;
	uint64_t trials, ns, effects, resets, errors, timeouts, slowest_reset_ns;
	const char *trouble; /* failure of a valid workload, or NULL */
};

static bool is_chosen(const struct attack *attack, const char *chosen)
{
	return !chosen || !strncmp(attack->name, chosen, strlen(chosen));
}

void run_list(void)
{
	for (unsigned int i = 0; i < COUNT(attacks); i++)
		printf("%-20s %s\n", attacks[i]->name, attacks[i]->what);
}

static uint64_t name_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 0x100000001b3ull;
	return hash;
}

static void check_some_canaries(uint64_t trial)
{
	unsigned int first = trial * CANARIES_PER_TRIAL % CANARIES;
	unsigned int changed = canaries_changed(first, CANARIES_PER_TRIAL);

	if (changed)
		effect("%u pages that no table maps have changed", changed);
}

/* Runs trials @at to @end - 1 in one environment. */
static void run_round(const struct attack *attack, uint64_t seed, uint64_t at, uint64_t end)
{
	struct random random;
	uint64_t trial;

	random_seed(&random, seed ^ at);
	env_begin();
	if (attack->begin)
		attack->begin(&random);
	for (trial = at; trial < end; trial++) {
		/* The random numbers of a trial do not depend on other trials. */
		random_seed(&random, seed + trial);
		attack->trial(&random);
		check_some_canaries(trial);
	}
	if (attack->end)
		attack->end();
	env_end();
	if (canaries_changed(0, CANARIES)) {
		effect("pages that no table maps have changed");
		canaries_plant();
	}
}

static void run_class(struct result *result, const struct run *run)
{
	uint64_t seed = run->seed * 0x9e3779b97f4a7c15ull ^ name_hash(result->attack->name);
	uint64_t started = now_ns(), told = started, at = run->skip,
		 end = run->skip + result->trials;
	uint64_t resets_before = resets, errors_before = errors_seen,
		 timeouts_before = timeouts_seen;

	effects = 0;
	slowest_reset_ns = 0;
	while (at < end && !result->trouble) {
		uint64_t next = at - at % ROUND_TRIALS + ROUND_TRIALS;

		if (next > end)
			next = end;
		run_round(result->attack, seed, at, next);
		at = next;
		result->trouble = sanity_check();
		if (now_ns() - told > PROGRESS_S * 1000000000ull) {
			told = now_ns();
			printf("# %s: %" PRIu64 " of %" PRIu64 " trials, %" PRIu64 " s\n",
			       result->attack->name, at - run->skip, result->trials,
			       (told - started) / 1000000000);
			fflush(stdout);
		}
	}
	result->trials = at - run->skip;
	result->ns = now_ns() - started;
	result->effects = effects;
	result->resets = resets - resets_before;
	result->errors = errors_seen - errors_before;
	result->timeouts = timeouts_seen - timeouts_before;
	result->slowest_reset_ns = slowest_reset_ns;
}

static double rate(const struct result *result)
{
	return result->ns ? result->trials * 1e9 / result->ns : 0;
}

static bool passed(const struct result *result)
{
	return !result->trouble && !result->effects;
}

static void print_result(const struct result *result, unsigned int number)
{
	if (result->trouble)
		printf("# the vGPU is not usable afterwards: %s\n", result->trouble);
	printf("%s %u %s # %" PRIu64 " trials, %.0f/s, %" PRIu64 " effects, %" PRIu64
	       " errors, %" PRIu64 " time-outs, %" PRIu64 " resets (slowest %.1f ms)\n",
	       passed(result) ? "ok" : "not ok", number, result->attack->name, result->trials,
	       rate(result), result->effects, result->errors, result->timeouts, result->resets,
	       result->slowest_reset_ns / 1e6);
	fflush(stdout);
}

static void print_json(const struct run *run, const struct result *results, unsigned int count)
{
	fprintf(run->json, "{\"seed\": %" PRIu64 ", \"classes\": [", run->seed);
	for (unsigned int i = 0; i < count; i++) {
		const struct result *r = &results[i];

		fprintf(run->json,
			"%s\n {\"name\": \"%s\", \"trials\": %" PRIu64
			", \"seconds\": %.3f, \"trials_per_s\": %.1f, "
			"\"effects\": %" PRIu64 ", \"usable\": %s, \"errors\": %" PRIu64
			", \"timeouts\": %" PRIu64 ", \"resets\": %" PRIu64
			", \"slowest_reset_ms\": %.3f}",
			i ? "," : "", r->attack->name, r->trials, r->ns / 1e9, rate(r), r->effects,
			r->trouble ? "false" : "true", r->errors, r->timeouts, r->resets,
			r->slowest_reset_ns / 1e6);
	}
	fprintf(run->json, "\n]}\n");
}

int run_attacks(const struct run *run)
{
	struct result results[COUNT(attacks)] = { 0 };
	unsigned int i, count = 0, shares = 0;
	int failed = 0;

	for (i = 0; i < COUNT(attacks); i++)
		if (is_chosen(attacks[i], run->chosen)) {
			results[count++].attack = attacks[i];
			shares += attacks[i]->share;
		}
	if (!count)
		return -1;
	printf("KTAP version 1\n1..%u\n# seed %" PRIu64 ", %" PRIu64 " trials\n", count, run->seed,
	       run->trials);
	canaries_plant();
	for (i = 0; i < count; i++) {
		results[i].trials = run->trials * results[i].attack->share / shares;
		if (!results[i].trials)
			results[i].trials = 1;
		run_class(&results[i], run);
		print_result(&results[i], i + 1);
		failed += !passed(&results[i]);
	}
	printf("# Totals: pass:%d fail:%d skip:0\n", (int)count - failed, failed);
	if (run->json)
		print_json(run, results, count);
	return failed;
}
