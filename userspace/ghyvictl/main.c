// SPDX-License-Identifier: GPL-2.0-only
/*
 * ghyvictl: command line tool for the vGPUs of this host. It reads and writes sysfs through
 * libghyvi; only `set --save` stores something. See Documentation/man/ghyvictl.8.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ghyvi/version.h>
#include "ctl.h"

struct command {
	const char *name;
	const char *what;
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

static const struct command commands[] = {
	{ "list", "list the vGPUs of this host", cmd_list },
	{ "types", "list the types of vGPUs that can be created", cmd_types },
	{ "create", "create a vGPU", cmd_create },
	{ "define", "define a vGPU in mdevctl", cmd_define },
	{ "show", "show details of vGPUs and pGPUs", cmd_show },
	{ "set", "change settings of a vGPU, also while its guest runs", cmd_set },
	{ "stat", "print counters; with -s, also rates per second", cmd_stat },
	{ "top", "show the activity of all vGPUs live", cmd_top },
	{ "dump", "print page tables and engines, for debugging", cmd_dump },
	{ "screenshot", "write a guest's screen to a PNG file", cmd_screenshot },
	{ "reset", "reset a vGPU", cmd_reset },
	{ "remove", "remove a vGPU", cmd_remove },
	{ "doctor", "check this host for the requirements of ghyvi", cmd_doctor },
	{ "export", "write counters as a Prometheus text file", cmd_export },
	{ "report", "record counters and write a page with charts", cmd_report },
	{ "record", "record a trace for ghyvi-sim", cmd_record },
	{ "migrate-check", "say whether a guest could move to another vGPU", cmd_migrate_check },
	{ "silicon-report", "show what the silicon stick found on a machine", cmd_silicon_report },
	{ "event", NULL, cmd_event }, /* for a udev rule */
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

struct synonym {
	const char *word, *command;
};

static const struct synonym synonyms[] = {
	{ "ls", "list" },
	{ "start", "create" },
	{ "stop", "remove" },
	{ "rm", "remove" },
};

/* Names that similar tools use for similar commands. */
static const struct synonym hints[] = {
	{ "delete", "remove" }, { "destroy", "remove" }, { "undefine", "mdevctl undefine" },
	{ "modify", "set" },	{ "info", "show" },	 { "stats", "stat" },
};

/* Of the command, if it has ended. */
static int exit_status;

static const char *look_up(const struct synonym *words, size_t count, const char *word)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(words[i].word, word))
			return words[i].command;
	return NULL;
}

const char *argp_program_version = "ghyvictl " GHYVI_VERSION;

struct main_options {
	struct ctl *ctl;
	int at; /* index of the command in argv; 0: none */
};

static char *list_commands(int key, const char *text, void *input)
{
	char *all = NULL;
	size_t bytes, i;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = open_memstream(&all, &bytes);
	if (!out)
		return NULL;
	fprintf(out, "Commands (each has its own --help):\n\n");
	for (i = 0; i < COMMANDS; i++)
		if (commands[i].what)
			fprintf(out, "  %-14s %s\n", commands[i].name, commands[i].what);
	fprintf(out, "\nls is list, start is create, stop and rm are remove.\n");
	fprintf(out,
		"\nExit status: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 busy or no room.");
	fclose(out);
	return all;
}

static error_t parse_main(int key, char *argument, struct argp_state *state)
{
	struct main_options *options = state->input;

	(void)argument;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options->ctl;
		return 0;
	case ARGP_KEY_ARG:
		/* The command parses the remaining arguments. */
		options->at = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp main_argp = {
	.parser = parse_main,
	.args_doc = "COMMAND [ARGUMENT...]",
	.doc = "Manage the vGPUs that share this host's GPU.\v",
	.children = ctl_children,
	.help_filter = list_commands,
};

static int unknown_command(const char *word)
{
	const char *names[COMMANDS], *meant, *use;
	size_t i;

	use = look_up(hints, sizeof(hints) / sizeof(hints[0]), word);
	if (use) {
		complain("no command \"%s\": use %s", word, use);
		return STATUS_USAGE;
	}
	for (i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	meant = nearest(word, names, COMMANDS);
	if (meant)
		complain("no command \"%s\"; did you mean \"%s\"?", word, meant);
	else
		complain("no command \"%s\"; ghyvictl --help lists them", word);
	return STATUS_USAGE;
}

/* argp ends the program after --help and --version, whether or not these were written. */
static void check_output(void)
{
	if (!flush_output())
		return;
	complain("cannot write to standard output");
	_exit(exit_status ?: STATUS_ERROR);
}

/*
 * A file that is opened later must not get the number of a standard one, which a child process has
 * for something else. What is printed to a file that was closed fails as before.
 */
static void occupy_standard_files(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			abort();
}

int main(int argc, char **argv)
{
	struct ctl ctl = {};
	struct main_options options = { .ctl = &ctl };
	int status = STATUS_USAGE;
	const char *command;
	char *name;
	size_t i;

	occupy_standard_files();
	argp_err_exit_status = STATUS_USAGE;
	atexit(check_output);
	search_sbin();
	/* If the caller ignored it, the status of mdevctl would be lost. */
	signal(SIGCHLD, SIG_DFL);
	if (argc < 1)
		return STATUS_USAGE;
	argv[0] = (char *)"ghyvictl";
	if (argp_parse(&main_argp, argc, argv, ARGP_IN_ORDER, NULL, &options) || !options.at)
		return STATUS_USAGE;
	argc -= options.at;
	argv += options.at;
	command = look_up(synonyms, sizeof(synonyms) / sizeof(synonyms[0]), argv[0]) ?: argv[0];
	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(command, commands[i].name))
			break;
	if (i == COMMANDS) {
		char *word = clean(argv[0]);

		status = unknown_command(word);
		free(word);
		return status;
	}
	if (asprintf(&name, "ghyvictl %s", commands[i].name) < 0)
		return STATUS_ERROR;
	argv[0] = name;
	status = commands[i].run(&ctl, argc, argv);
	ghyvi_close(ctl.ghyvi);
	free(name);
	exit_status = status;
	return status;
}
