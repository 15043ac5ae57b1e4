// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile: root in a guest, without a driver. Drives the vGPU's registers, tables, contexts and rings as no driver
 * does, checks that nothing comes of it that must not, and that the vGPU is still good for honest work.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "accomplice_pci.h"
#include "machine_pci.h"
#include "options.h"
#include "run.h"

#define TRIALS_MAX 1000000000ul

static struct run run = { .seed = 1, .trials = 1000 };
static const char *device;
static bool accomplice;

static const struct argp_option options[] = {
	{ "seed", 's', "N", 0, "of everything random (1)", 0 },
	{ "trials", 't', "N", 0,
	  "over all classes (1000); a trial is one submission with what leads to it, or one group of "
	  "stores or register accesses",
	  0 },
	{ "class", 'c', "NAME", 0, "only classes whose names begin so; --list shows all", 0 },
	{ "skip", 'k', "N", 0, "leave out the first N trials of each class (0)", 0 },
	{ "device", 'd', "ADDRESS", 0,
	  "of the vGPU in the guest's PCI tree (the first Intel display function)", 0 },
	{ "accomplice", 'a', NULL, 0,
	  "meanwhile the guest's second vGPU (the second Intel display function) pins and unpins the same "
	  "memory",
	  0 },
	{ "json", 'j', "FILE", 0, "write a summary there", 0 },
	{ "list", 'l', NULL, 0, "name and describe the classes", 0 },
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
	case 'a':
		accomplice = true;
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
	.doc = "Attacks the vGPU of this guest; no driver may be bound to it. Exit status: 0 nothing came of it, 1 something "
	       "did, 2 the attacks could not be made.",
};

int main(int argc, char **argv)
{
	int failed;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	machine_open(device);
	if (accomplice)
		accomplice_start(machine_open_second());
	failed = run_attacks(&run);
	if (accomplice)
		printf("# accomplice: %llu rounds\n", (unsigned long long)accomplice_rounds());
	if (failed < 0) {
		fprintf(stderr, "hostile: no class is called %s\n", run.chosen);
		return 2;
	}
	return failed != 0;
}
