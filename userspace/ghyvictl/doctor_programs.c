// SPDX-License-Identifier: GPL-2.0-only
/* doctor: the versions of QEMU and libvirt. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "doctor.h"

struct program {
	const char *check; /* also its name in messages */
	const char *at_least; /* the oldest version that was tested */
	const char *packages[2]; /* of Debian, any of them */
	const char *commands[2]; /* which print the version, any of them */
	const char *without; /* what a host without it cannot do */
	const char *install;
};

static const struct program programs[] = {
	{ "qemu",
	  "7.2",
	  { "qemu-system-x86" },
	  { "qemu-system-x86_64" },
	  "there are no guests",
	  "apt install qemu-system-x86" },
	{ "libvirt",
	  "9.0",
	  { "libvirt-daemon", "libvirt-daemon-driver-qemu" },
	  { "libvirtd", "virtqemud" },
	  "guests are started by hand, or by ghyvi-qemu",
	  "optional: apt install libvirt-daemon-system" },
};

/* Cuts the text to its first version number, such as "7.2.19"; NULL: there is none. */
static char *first_version(char *text)
{
	char *at;

	for (at = text; *at; at++) {
		at += strcspn(at, "0123456789");
		if (!*at)
			return NULL;
		text = at;
		at += strspn(at, "0123456789");
		if (*at == '.' && isdigit((unsigned char)at[1])) {
			at[strspn(at, ".0123456789")] = '\0';
			return text;
		}
		if (!*at)
			return NULL;
	}
	return NULL;
}

/* What the installed program prints; the caller frees it. */
static char *ask(const struct program *program)
{
	char *text = NULL;
	size_t i;

	for (i = 0; i < 2 && !text && program->commands[i]; i++) {
		const char *const argv[] = { program->commands[i], "--version", NULL };

		if (program_exists(program->commands[i]))
			text = program_output(argv);
	}
	return text;
}

/* The version of an installed package; the caller frees it. */
static char *look_up(const struct doctor *doctor, const struct program *program)
{
	char *root, *text = NULL, *version = NULL;
	size_t i;

	if (asprintf(&root, "--root=%s", doctor->root) < 0)
		abort();
	for (i = 0; i < 2 && !version && program->packages[i]; i++) {
		const char *const argv[] = {
			"dpkg-query",	      root, "-W", "-f=${db:Status-Abbrev}|${Version}",
			program->packages[i], NULL
		};

		text = program_output(argv);
		/* The epoch is not part of the version. */
		if (text && !strncmp(text, "ii ", 3) && strchr(text, '|')) {
			version = strchr(text, '|') + 1;
			version = strdup(strchr(version, ':') ? strchr(version, ':') + 1 : version);
		}
		free(text);
	}
	free(root);
	return version;
}

static void check_program(struct doctor *doctor, const struct program *program)
{
	/* The package first: QEMU loads many libraries before it prints its version. */
	char *text = look_up(doctor, program);
	char *version;

	/* A program of another root directory need not run here. */
	if (!text && !*doctor->root)
		text = ask(program);
	version = text ? first_version(text) : NULL;
	if (!text)
		doctor_say(doctor, RESULT_WARN, program->check, program->install,
			   "it is not installed: %s", program->without);
	else if (!version)
		doctor_say(doctor, RESULT_WARN, program->check, program->install,
			   "its version is not known");
	else if (strverscmp(version, program->at_least) < 0)
		doctor_say(doctor, RESULT_WARN, program->check, program->install,
			   "version %s is older than %s, the oldest that was tested", version,
			   program->at_least);
	else
		doctor_say(doctor, RESULT_PASS, program->check, NULL, "version %s", version);
	free(text);
}

void doctor_check_programs(struct doctor *doctor)
{
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		check_program(doctor, &programs[i]);
}
