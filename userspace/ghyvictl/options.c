// SPDX-License-Identifier: GPL-2.0-only
/* Options that are common to all commands, and parsers of option arguments. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define SECONDS_MAX 86400

enum {
	KEY_JSON = 'j',
	KEY_NO_MDEVCTL = 0x100,
	KEY_NOHEADINGS = 'n',
	KEY_OUTPUT = 'o',
	KEY_RAW = 'r'
};

static const struct argp_option common_options[] = {
	{ "json", KEY_JSON, NULL, 0, "Print JSON; its keys are stable, the text is not", -2 },
	{ "no-mdevctl", KEY_NO_MDEVCTL, NULL, 0, "Create and remove through sysfs in any case",
	  -2 },
	{}
};

static const struct argp_option table_options[] = {
	{ "output", KEY_OUTPUT, "COLUMN,...", 0, "These columns, as a table; a wrong one lists all",
	  -3 },
	{ "noheadings", KEY_NOHEADINGS, NULL, 0, "Without the line of names", -3 },
	{ "raw", KEY_RAW, NULL, 0, "For scripts: one blank between columns, blanks as \\x20", -3 },
	{ "json", KEY_JSON, NULL, 0, "Print JSON; its keys are stable, the text is not", -2 },
	{ "no-mdevctl", KEY_NO_MDEVCTL, NULL, 0, "Create and remove through sysfs in any case",
	  -2 },
	{}
};

static const struct argp_option text_options[] = {
	{ "json", KEY_JSON, NULL, OPTION_HIDDEN, NULL, -2 },
	{ "no-mdevctl", KEY_NO_MDEVCTL, NULL, 0, "Create and remove through sysfs in any case",
	  -2 },
	{}
};

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
	struct ctl *ctl = state->input;

	switch (key) {
	case KEY_OUTPUT:
		ctl->columns = argument;
		return 0;
	case KEY_NOHEADINGS:
		ctl->noheadings = true;
		return 0;
	case KEY_RAW:
		ctl->raw = true;
		return 0;
	case KEY_JSON:
		ctl->json = true;
		return 0;
	case KEY_NO_MDEVCTL:
		ctl->no_mdevctl = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp common_argp = { .options = common_options, .parser = parse_common };

static const struct argp table_argp = { .options = table_options, .parser = parse_common };

static const struct argp text_argp = { .options = text_options, .parser = parse_common };

const struct argp_child ctl_children[] = { { &common_argp, 0, NULL, 0 }, {} };
const struct argp_child table_children[] = { { &table_argp, 0, NULL, 0 }, {} };
const struct argp_child text_children[] = { { &text_argp, 0, NULL, 0 }, {} };

int parse_options(const struct argp *argp, int argc, char **argv, void *input)
{
	struct ctl *ctl = *(struct ctl **)input;
	int ret;

	if (argp_parse(argp, argc, argv, 0, NULL, input))
		return STATUS_USAGE;
	if (ctl->json && wants_table(ctl)) {
		complain("--json prints all keys; --output, --noheadings and --raw are for text");
		return STATUS_USAGE;
	}
	ret = ghyvi_open(&ctl->ghyvi, NULL);
	if (ret) {
		complain("sysfs is not mounted at /sys: %s", strerror(-ret));
		return STATUS_ERROR;
	}
	return STATUS_OK;
}

bool wants_table(const struct ctl *ctl)
{
	return ctl->columns || ctl->noheadings || ctl->raw;
}

error_t parse_uuids(int key, char *argument, struct argp_state *state)
{
	struct uuid_options *options = state->input;

	(void)argument;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options->ctl;
		return 0;
	case ARGP_KEY_ARGS:
		options->uuids = state->argv + state->next;
		options->count = state->argc - state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

double parse_seconds(const char *text, struct argp_state *state)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(seconds) || seconds <= 0 || seconds > SECONDS_MAX)
		argp_error(state, "\"%s\" is not a time in seconds, more than 0 and at most %d",
			   text, SECONDS_MAX);
	return seconds;
}

long parse_count(const char *text, struct argp_state *state)
{
	char *end;
	long count;

	errno = 0;
	count = strtol(text, &end, 10);
	if (end == text || *end || errno || count < 1)
		argp_error(state, "\"%s\" is not a count of 1 or more", text);
	return count;
}
