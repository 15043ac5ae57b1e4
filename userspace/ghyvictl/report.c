// SPDX-License-Identifier: GPL-2.0-only
/* report: samples counters for a while and writes them as an HTML page. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"

#define ROUNDS_DEFAULT 30

struct report_options {
	struct uuid_options uuids; /* first: parse_uuids() takes this struct */
	const char *output;
	const char *from; /* a recording to use instead of live rounds */
	double interval_s;
	long count; /* number of rounds; with @compare, per policy */
	bool compare;
};

static error_t parse_report(int key, char *argument, struct argp_state *state)
{
	struct report_options *options = state->input;

	switch (key) {
	case 'o':
		options->output = argument;
		return 0;
	case 'f':
		options->from = argument;
		return 0;
	case 's':
		options->interval_s = parse_seconds(argument, state);
		return 0;
	case 'c':
		options->count = parse_count(argument, state);
		return 0;
	case 'p':
		options->compare = true;
		return 0;
	case ARGP_KEY_END:
		if (!options->output)
			argp_error(state, "--output FILE missing");
		if (options->from && options->compare)
			argp_error(state, "--policies needs vGPUs in use: not with --from");
		return 0;
	default:
		return parse_uuids(key, argument, state);
	}
}

static const struct argp_option report_argp_options[] = {
	{ "output", 'o', "FILE", 0, "The page; replaced atomically", 0 },
	{ "from", 'f', "FILE", 0, "Show the output of stat --seconds --json (-: standard input)",
	  0 },
	{ "seconds", 's', "SECONDS", 0, "Time between two rounds (default: 1)", 0 },
	{ "count", 'c', "N", 0, "Rounds (default: 30)", 0 },
	{ "policies", 'p', NULL, 0,
	  "Try every policy on vGPUs in use, N rounds each, then restore the old one", 0 },
	{}
};

static const struct argp report_argp = {
	.options = report_argp_options,
	.parser = parse_report,
	.args_doc = "[UUID...]",
	.doc = "Sample the counters of vGPUs (without a UUID, of all) and write a self-contained "
	       "HTML file: the cost of each policy, and counters over time.",
	.children = ctl_children,
};

static int watch(const struct report_options *options, json_t *rounds)
{
	struct round before;
	int ret, status;
	long i;

	for (i = 0; i < options->count && !stop_asked; i++) {
		ret = round_read(options->uuids.ctl, &before);
		if (ret) {
			complain("cannot read counters: %s", strerror(-ret));
			return STATUS_ERROR;
		}
		sleep_seconds(options->interval_s);
		status = json_round(&options->uuids, &before, options->interval_s, rounds);
		round_free(&before);
		if (status)
			return status;
	}
	return STATUS_OK;
}

/* ---- every policy in turn ---- */

/* Records the current policy of a vGPU in use, to restore it later. */
static int note_policy(struct ghyvi_vgpu *vgpu, void *data)
{
	char policy[GHYVI_VALUE_BYTES];

	if (ghyvi_vgpu_is_open(vgpu) == 1 && !ghyvi_vgpu_policy(vgpu, policy, sizeof(policy)))
		json_object_set_new(data, ghyvi_vgpu_uuid(vgpu), json_string(policy));
	return STATUS_OK;
}

/* Returns 0 if at least one vGPU accepted @policy, else the last error; -ENODEV if none is left. */
static int set_policies(const struct report_options *options, json_t *old, const char *policy)
{
	struct ghyvi_vgpu *vgpu;
	const char *uuid;
	json_t *before;
	int ret, refusal = -ENODEV;
	bool taken = false;

	json_object_foreach(old, uuid, before)
	{
		if (ghyvi_vgpu_find(options->uuids.ctl->ghyvi, uuid, &vgpu))
			continue;
		ret = ghyvi_vgpu_write(vgpu, "policy/mode", policy);
		if (ret)
			refusal = ret;
		else
			taken = true;
		ghyvi_vgpu_free(vgpu);
	}
	return taken ? 0 : refusal;
}

/* Skips vGPUs that have been removed. */
static int restore_policies(const struct report_options *options, json_t *old)
{
	struct ghyvi_vgpu *vgpu;
	int ret, status = STATUS_OK;
	const char *uuid;
	json_t *before;

	json_object_foreach(old, uuid, before)
	{
		if (ghyvi_vgpu_find(options->uuids.ctl->ghyvi, uuid, &vgpu))
			continue;
		ret = ghyvi_vgpu_write(vgpu, "policy/mode", json_string_value(before));
		ghyvi_vgpu_free(vgpu);
		if (!ret || ret == -ENODEV)
			continue;
		complain("%s keeps another policy; policy/mode=%s: %s", uuid,
			 json_string_value(before), reason_of(ret));
		status = STATUS_ERROR;
	}
	return status;
}

/* The policies that the first vGPU lists. */
static json_t *policies_to_try(const struct report_options *options, json_t *old)
{
	const char *uuid = json_object_iter_key(json_object_iter(old));
	struct ghyvi_vgpu *vgpu;
	json_t *details, *choices;

	if (!uuid || ghyvi_vgpu_find(options->uuids.ctl->ghyvi, uuid, &vgpu))
		return NULL;
	details = json_vgpu_details(vgpu);
	choices = json_incref(json_object_get(json_object_get(details, "choices"), "policy/mode"));
	json_decref(details);
	ghyvi_vgpu_free(vgpu);
	return choices;
}

/* *restored is STATUS_OK if all vGPUs have their old policy again. */
static int try_policies(const struct report_options *options, json_t *rounds, int *restored)
{
	json_t *old = json_object(), *choices, *choice;
	int status, ret = 0;
	bool tried = false;
	size_t i;

	status = each_vgpu(&options->uuids, note_policy, old);
	choices = policies_to_try(options, old);
	if (!status && !choices) {
		complain("no VM uses a vGPU: there is nothing to compare policies on");
		status = STATUS_NOT_FOUND;
	}
	json_array_foreach(choices, i, choice)
	{
		if (status || stop_asked)
			break;
		ret = set_policies(options, old, json_string_value(choice));
		if (ret == -EACCES || ret == -ENODEV)
			break;
		/* A pGPU without support for nested jobs rejects "nested". */
		if (ret) {
			complain("policy/mode=%s: %s; skipped", json_string_value(choice),
				 reason_of(ret));
			continue;
		}
		tried = true;
		status = watch(options, rounds);
	}
	if (!status && !tried && ret) {
		complain("no policy could be tried; %s", reason_of(ret));
		status = status_of(ret);
	}
	*restored = tried ? restore_policies(options, old) : STATUS_OK;
	json_decref(choices);
	json_decref(old);
	return status;
}

/* ---- a recording ---- */

static int read_rounds(const char *path, json_t *rounds)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	json_error_t error;
	json_t *round;

	if (!in) {
		complain("%s: %s", path, strerror(errno));
		return STATUS_ERROR;
	}
	for (;;) {
		round = json_loadf(in, JSON_DISABLE_EOF_CHECK, &error);
		if (!round)
			break;
		json_array_append_new(rounds, round);
	}
	if (in != stdin)
		fclose(in);
	/* End of file. A last round that is incomplete because stat was interrupted is ignored. */
	if (json_error_code(&error) == json_error_premature_end_of_input && json_array_size(rounds))
		return STATUS_OK;
	complain("%s: round %zu: %s; it must be output of ghyvictl stat --seconds --json", path,
		 json_array_size(rounds) + 1, error.text);
	return STATUS_ERROR;
}

/* ---- the page ---- */

#define PAGE_PROGRAM "ghyvi-report"

static int put_text(void *text, FILE *out)
{
	return fputs(text, out) < 0 ? -errno : 0;
}

/* What each counter of the last round counts. */
static json_t *help_of(json_t *rounds)
{
	json_t *round = json_array_get(rounds, json_array_size(rounds) - 1);
	json_t *help = json_object(), *vgpu, *value;
	const char *name, *text;
	size_t i;

	json_array_foreach(json_object_get(round, "vgpus"), i, vgpu)
	{
		json_object_foreach(json_object_get(vgpu, "counters"), name, value)
		{
			text = ghyvi_stat_help(name);
			if (text)
				json_object_set_new(help, name, json_string(text));
		}
	}
	return help;
}

/* The page as HTML, which the caller frees. On failure a message was printed, and it is NULL. */
static char *page_of(json_t *rounds)
{
	json_t *given = json_pack("{s:O, s:o}", "rounds", rounds, "help", help_of(rounds));
	char *text = json_dumps(given, 0), *program, *path = NULL, *page = NULL;
	int fd = text ? text_file(text) : -1;

	program = find_helper(PAGE_PROGRAM);
	if (!program) {
		complain(PAGE_PROGRAM
			 " is not installed; see userspace/ghyvictl in ghyvi's source tree");
	} else if (fd < 0 || asprintf(&path, "/proc/self/fd/%d", fd) < 0) {
		complain("%s", strerror(errno));
	} else {
		const char *const argv[] = { program, path, NULL };

		page = program_answer(argv);
		free(path);
	}
	if (fd >= 0)
		close(fd);
	free(program);
	free(text);
	json_decref(given);
	return page;
}

static int write_report(const struct report_options *options, json_t *rounds)
{
	char *page = page_of(rounds);
	int ret;

	if (!page)
		return STATUS_ERROR;
	ret = replace_file(options->output, put_text, page);
	if (ret)
		complain("%s: %s", options->output, reason_of(ret));
	free(page);
	return ret ? STATUS_ERROR : STATUS_OK;
}

int cmd_report(struct ctl *ctl, int argc, char **argv)
{
	struct report_options options = { .uuids = { .ctl = ctl },
					  .interval_s = 1,
					  .count = ROUNDS_DEFAULT };
	json_t *rounds = json_array();
	int status, restored = STATUS_OK;

	status = parse_options(&report_argp, argc, argv, &options);
	/* Ctrl-C ends the sampling; the report is written all the same. */
	if (!status && !options.from)
		stop_on_signals();
	if (!status && options.from)
		status = read_rounds(options.from, rounds);
	else if (!status)
		status = options.compare ? try_policies(&options, rounds, &restored) :
					   watch(&options, rounds);
	if (!status)
		status = write_report(&options, rounds);
	if (!status && ctl->json)
		status = json_print(json_pack("{s:o, s:i}", "file", json_text(options.output),
					      "rounds", (int)json_array_size(rounds)),
				    JSON_INDENT(2));
	json_decref(rounds);
	return status ?: restored;
}
