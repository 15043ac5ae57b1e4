// SPDX-License-Identifier: GPL-2.0-only
/* dump: prints the debugfs files of vGPUs. record: runs ghyvi-record. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"

struct dump_options {
	struct uuid_options uuids; /* first: parse_uuids() takes this struct */
	const char *only;
};

static const char *const dumps[] = { "engines", "tables", "audit", "config", "error_state" };

#define DUMPS (sizeof(dumps) / sizeof(dumps[0]))

static error_t parse_dump(int key, char *argument, struct argp_state *state)
{
	struct dump_options *options = state->input;
	size_t i;

	if (key != 'w')
		return parse_uuids(key, argument, state);
	for (i = 0; i < DUMPS; i++)
		if (!strcmp(argument, dumps[i]))
			options->only = dumps[i];
	if (!options->only)
		argp_error(state,
			   "\"%s\" is not one of: engines, tables, audit, config, error_state",
			   argument);
	return 0;
}

static const struct argp_option dump_argp_options[] = {
	{ "what", 'w', "WHAT", 0,
	  "Print only engines, tables, audit (the last rejected command), config (PCI "
	  "configuration space) or error_state (of the first engine that stopped)",
	  0 },
	{}
};

static const struct argp dump_argp = {
	.options = dump_argp_options,
	.parser = parse_dump,
	.args_doc = "[UUID...]",
	.doc = "Print the debugfs files of vGPUs, as root; without a UUID, of all. For debugging "
	       "of ghyvi: the text may change.",
	.children = ctl_children,
};

struct dumping {
	const struct dump_options *options;
	json_t *list; /* NULL: text */
};

int complain_debugfs(const struct ghyvi_vgpu *vgpu, const char *path)
{
	int error = errno;

	if (error == ENOENT && access(ghyvi_vgpu_path(vgpu), F_OK)) {
		complain("%s: %s", ghyvi_vgpu_uuid(vgpu), reason_of(-ENODEV));
		return STATUS_NOT_FOUND;
	}
	if (error == EACCES)
		complain("%s: only root can read debugfs", path);
	else if (error == ENOENT)
		complain("%s does not exist; is debugfs mounted? mount -t debugfs none "
			 "/sys/kernel/debug",
			 path);
	else
		complain("%s: %s", path, strerror(error));
	return STATUS_ERROR;
}

static json_t *json_lines(char *text)
{
	json_t *lines = json_array();
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(lines, json_text(line));
	return lines;
}

static int dump_one(struct ghyvi_vgpu *vgpu, void *data)
{
	struct dumping *dumping = data;
	json_t *json = json_pack("{s:o}", "uuid", json_text(ghyvi_vgpu_uuid(vgpu)));
	int status = STATUS_OK;
	char *path, *text;
	size_t i;

	for (i = 0; !status && i < DUMPS; i++) {
		if (dumping->options->only && dumping->options->only != dumps[i])
			continue;
		if (asprintf(&path, "%s/%s", ghyvi_vgpu_debugfs(vgpu), dumps[i]) < 0)
			abort();
		text = read_whole(path);
		if (!text)
			status = complain_debugfs(vgpu, path);
		else if (dumping->list)
			json_object_set_new(json, dumps[i], json_lines(text));
		else
			printf("# %s %s\n%s", ghyvi_vgpu_uuid(vgpu), dumps[i], text);
		free(text);
		free(path);
	}
	if (dumping->list && !status)
		json_array_append(dumping->list, json);
	json_decref(json);
	return status;
}

int cmd_dump(struct ctl *ctl, int argc, char **argv)
{
	struct dump_options options = { .uuids = { .ctl = ctl } };
	struct dumping dumping = { .options = &options };
	int status;

	status = parse_options(&dump_argp, argc, argv, &options);
	if (status)
		return status;
	if (ctl->json)
		dumping.list = json_array();
	status = each_vgpu(&options.uuids, dump_one, &dumping);
	if (dumping.list) {
		json_t *root = json_pack("{s:o}", "vgpus", dumping.list);

		return json_print(root, JSON_INDENT(2)) ?: status;
	}
	return status;
}

/* ---- record ---- */

#define RECORDER "ghyvi-record"

struct record_options {
	struct uuid_options uuids; /* first: parse_uuids() takes this struct */
	const char *output;
	const char *seconds;
};

static error_t parse_record(int key, char *argument, struct argp_state *state)
{
	struct record_options *options = state->input;

	switch (key) {
	case 'o':
		options->output = argument;
		return 0;
	case 's':
		parse_seconds(argument, state);
		options->seconds = argument;
		return 0;
	default:
		return parse_uuids(key, argument, state);
	}
}

static const struct argp_option record_argp_options[] = {
	{ "output", 'o', "FILE", 0, "Write the trace to FILE", 0 },
	{ "seconds", 's', "SECONDS", 0, "Duration (default: until Ctrl-C)", 0 },
	{}
};

static const struct argp record_argp = {
	.options = record_argp_options,
	.parser = parse_record,
	.args_doc = "UUID",
	.doc = "Record the page table writes and the submissions of a vGPU as a trace for "
	       "ghyvi-sim. The policy is strict while recording, so the guest is slow.",
	.children = ctl_children,
};

/* $GHYVI_RECORD names another one. */
static char *find_recorder(void)
{
	const char *other = getenv("GHYVI_RECORD");

	return other && *other ? strdup(other) : find_helper(RECORDER);
}

int cmd_record(struct ctl *ctl, int argc, char **argv)
{
	struct record_options options = { .uuids = { .ctl = ctl } };
	const char *arguments[8];
	struct ghyvi_vgpu *vgpu;
	char *recorder;
	int status, n = 0;

	status = parse_options(&record_argp, argc, argv, &options);
	if (status)
		return status;
	if (options.uuids.count != 1 || !options.output) {
		complain("give one UUID and -o FILE; see ghyvictl record --help");
		return STATUS_USAGE;
	}
	recorder = find_recorder();
	if (!recorder) {
		complain(RECORDER " is not installed; it is tools/sim/" RECORDER
				  " in ghyvi's source tree ($GHYVI_RECORD can name it)");
		return STATUS_NOT_FOUND;
	}
	vgpu = need_vgpu(ctl, options.uuids.uuids[0], &status);
	if (vgpu) {
		arguments[n++] = recorder;
		arguments[n++] = ghyvi_vgpu_uuid(vgpu);
		arguments[n++] = "-o";
		arguments[n++] = options.output;
		if (options.seconds) {
			arguments[n++] = "-s";
			arguments[n++] = options.seconds;
		}
		arguments[n] = NULL;
		/*
		 * The recorder restores the policy on Ctrl-C, so it must get the terminal's
		 * signals.
		 */
		if (!ctl->json) {
			execvp(recorder, (char *const *)arguments);
			complain("%s: %s", recorder, strerror(errno));
		}
		/* JSON is printed after the recorder has ended. */
		stop_on_signals();
		status = ctl->json ? program_run(arguments) : STATUS_ERROR;
		if (status && ctl->json)
			complain("%s ended with status %d", recorder, status);
		status = status ? STATUS_ERROR : STATUS_OK;
	}
	if (vgpu && !status && ctl->json)
		status =
			json_print(json_pack("{s:o, s:o}", "uuid", json_text(ghyvi_vgpu_uuid(vgpu)),
					     "file", json_text(options.output)),
				   JSON_INDENT(2));
	ghyvi_vgpu_free(vgpu);
	free(recorder);
	return status;
}
