// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile: attacks a vGPU as root in a guest without a GPU driver. Uses registers, tables, contexts
 * and rings in invalid ways, checks that this has no forbidden effects, and that the vGPU still
 * runs valid workloads afterwards.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "second_vgpu_pci.h"
#include "attack.h"
#include "bar0_pci.h"
#include "options.h"
#include "runner.h"

#define TRIALS_MAX 1000000000ul

static struct run run = { .seed = 1, .trials = 1000 };
static const char *device;
static bool second_vgpu;

static const struct argp_option options[] = {
	{ "seed", 's', "N", 0, "Random seed (default 1)", 0 },
	{ "trials", 't', "N", 0,
	  "Number of trials of all classes (default 1000); a trial is one submission with its "
	  "preparation, or one group of stores or register accesses",
	  0 },
	{ "class", 'c', "NAME", 0, "Run only classes whose names begin with NAME; see --list", 0 },
	{ "skip", 'k', "N", 0, "Skip the first N trials of each class (default 0)", 0 },
	{ "device", 'd', "ADDRESS", 0,
	  "PCI address of the vGPU in the guest (default: the first Intel display function)", 0 },
	{ "second-vgpu", '2', NULL, 0,
	  "During the attacks, pin and unpin the same memory by the second vGPU of the guest (the "
	  "second Intel display function)",
	  0 },
	{ "slowness", 'n', "N", 0, "How many times slower the host is than usual (default 1)", 0 },
	{ "json", 'j', "FILE", 0, "Write a summary to FILE", 0 },
	{ "list", 'l', NULL, 0, "List the classes", 0 },
	{ 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 's':
		run.seed = parse_number(state, argument, 0, ~0ul);
		break;
	case 't':
		run.trials = parse_number(state, argument, 1, TRIALS_MAX);
		break;
	case 'k':
		run.skip = parse_number(state, argument, 0, TRIALS_MAX);
		break;
	case 'c':
		run.chosen = argument;
		break;
	case 'd':
		device = argument;
		break;
	case '2':
		second_vgpu = true;
		break;
	case 'n':
		slowness = parse_number(state, argument, 1, SLOWNESS_MAX);
		break;
	case 'j':
		run.json = fopen(argument, "w");
		if (!run.json)
			argp_error(state, "%s: %s", argument, strerror(errno));
		break;
	case 'l':
		run_list();
		exit(0);
	case ARGP_KEY_ARG:
		argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Attack the vGPU of this guest; no driver may be bound to it. Exit status: 0 the "
	       "attacks had no effect, 1 an attack had an effect, 2 the attacks could not be run.",
};

int main(int argc, char **argv)
{
	int failed;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	machine_open(device);
	if (second_vgpu)
		second_vgpu_start(machine_open_second());
	failed = run_attacks(&run);
	if (second_vgpu)
		printf("# second vGPU: %llu rounds\n", (unsigned long long)second_vgpu_rounds());
	if (failed < 0) {
		fprintf(stderr, "hostile: no class has the name %s\n", run.chosen);
		return 2;
	}
	return failed != 0;
}
