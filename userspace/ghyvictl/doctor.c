// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor: checks this host for the requirements of ghyvi, and prints a remedy for what is missing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"
#include "doctor.h"

struct doctor_options {
	struct ctl *ctl;
	const char *root;
	const char *release;
};

static error_t parse_doctor(int key, char *argument, struct argp_state *state)
{
	struct doctor_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options->ctl;
		return 0;
	case 'r':
		options->root = argument;
		return 0;
	case 'k':
		if (!*argument || strchr(argument, '/'))
			argp_error(state, "\"%s\" is not a kernel release", argument);
		options->release = argument;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option doctor_argp_options[] = {
	{ "root", 'r', "DIR", 0, "Check the host whose root directory is DIR", 0 },
	{ "kernel", 'k', "RELEASE", 0,
	  "Check this kernel, as in uname -r (default: the running one)", 0 },
	{}
};

static const struct argp doctor_argp = {
	.options = doctor_argp_options,
	.parser = parse_doctor,
	.doc = "Check this host for the requirements of ghyvi. Exit status 1 if a check failed; "
	       "warnings are about optional features.",
	.children = ctl_children,
};

static const char *const
	result_names[] = { [RESULT_PASS] = "PASS", [RESULT_WARN] = "WARN", [RESULT_FAIL] = "FAIL" };

static char *format_text(const char *format, va_list args)
{
	char *text, *cleaned;

	if (vasprintf(&text, format, args) < 0)
		abort();
	cleaned = clean(text);
	free(text);
	return cleaned;
}

void doctor_say(struct doctor *doctor, enum result result, const char *check, const char *remedy,
		const char *format, ...)
{
	va_list args;
	char *detail;

	va_start(args, format);
	detail = format_text(format, args);
	va_end(args);
	if (result == RESULT_PASS)
		remedy = NULL;
	doctor->counts[result]++;
	if (doctor->list) {
		json_array_append_new(doctor->list,
				      json_pack("{s:s, s:s, s:o, s:o}", "check", check, "result",
						result_names[result], "detail", json_text(detail),
						"remedy",
						remedy ? json_text(remedy) : json_null()));
	} else {
		printf("%s  %-12s %s\n", result_names[result], check, detail);
		if (remedy)
			printf("      %-12s -> %s\n", "", remedy);
	}
	free(detail);
}

char *doctor_path(const struct doctor *doctor, const char *format, ...)
{
	char *rest, *path;
	va_list args;

	va_start(args, format);
	if (vasprintf(&rest, format, args) < 0)
		abort();
	va_end(args);
	if (asprintf(&path, "%s%s", doctor->root, rest) < 0)
		abort();
	free(rest);
	return path;
}

/*
 * The kernel to check: @wanted, the running one, or, in another root directory without it, the
 * newest one there. The caller frees it.
 */
static char *choose_kernel(struct doctor *doctor, const char *wanted)
{
	char *path = doctor_path(doctor, "/proc/sys/kernel/osrelease");
	char *running = read_whole(path), *chosen;

	free(path);
	if (running)
		running[strcspn(running, "\n")] = '\0';
	if (wanted)
		chosen = strdup(wanted);
	else if (running)
		chosen = strdup(running);
	else
		chosen = doctor_newest_kernel(doctor) ?: strdup("unknown");
	if (!chosen)
		abort();
	doctor->running = running && !strcmp(chosen, running);
	free(running);
	return chosen;
}

int cmd_doctor(struct ctl *ctl, int argc, char **argv)
{
	struct doctor_options options = { .ctl = ctl, .root = "" };
	struct doctor doctor = { .ctl = ctl };
	char *release = NULL;
	int status;

	status = parse_options(&doctor_argp, argc, argv, &options);
	if (status)
		return status;
	if (strcmp(options.root, "/"))
		doctor.root = options.root;
	else
		doctor.root = "";
	if (*doctor.root && access(doctor.root, X_OK)) {
		complain("--root=%s: %s", doctor.root, reason_of(-errno));
		return STATUS_USAGE;
	}
	release = choose_kernel(&doctor, options.release);
	doctor.release = release;
	if (ctl->json)
		doctor.list = json_array();
	doctor_check_kernel(&doctor);
	doctor_check_host(&doctor);
	doctor_check_programs(&doctor);
	free(release);
	if (ctl->json)
		status = json_print(json_pack("{s:o, s:i, s:i, s:i}", "checks", doctor.list,
					      "passed", doctor.counts[RESULT_PASS], "warnings",
					      doctor.counts[RESULT_WARN], "failed",
					      doctor.counts[RESULT_FAIL]),
				    JSON_INDENT(2));
	else
		printf("%d passed, %d warning%s, %d failed\n", doctor.counts[RESULT_PASS],
		       doctor.counts[RESULT_WARN], doctor.counts[RESULT_WARN] == 1 ? "" : "s",
		       doctor.counts[RESULT_FAIL]);
	return doctor.counts[RESULT_FAIL] ? STATUS_ERROR : status;
}
