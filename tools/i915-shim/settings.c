// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings of the environment, read once, and counts. At its end a process appends one JSON object,
 * on one line, to the file that GHYVI_I915_STATS names.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "settings.h"

#define LINE_BYTES 512
#define THREADS_MAX 64

struct counts counts;

static struct {
	const char *name;
	uint64_t times;
} commands[512];
static pthread_mutex_t commands_lock = PTHREAD_MUTEX_INITIALIZER;

static struct settings settings;

static bool is_set(const char *name, const char *value)
{
	const char *set = getenv(name);

	return set && !strcmp(set, value);
}

static void wrong_value(const char *name)
{
	const char *set = getenv(name);

	if (set && *set)
		shim_error("%s=%s is no value of it: ignored", name, set);
}

static void read_settings(void)
{
	const char *log = getenv("GHYVI_I915_LOG") ?: "";
	const char *threads = getenv("GHYVI_I915_THREADS");

	settings.log_batches = strstr(log, "batches");
	settings.log_commands = strstr(log, "commands");
	settings.log_ioctls = strstr(log, "ioctls");
	settings.synchronous = is_set("GHYVI_I915_SYNC", "1");
	settings.scratch = is_set("GHYVI_I915_UNMAPPED", "scratch");
	settings.skip_draws = is_set("GHYVI_I915_3D", "skip");
	if (is_set("GHYVI_I915_AUDIT", "full"))
		settings.audit = AUDIT_FULL;
	else if (is_set("GHYVI_I915_AUDIT", "off"))
		settings.audit = AUDIT_OFF;
	else if (!is_set("GHYVI_I915_AUDIT", "log"))
		wrong_value("GHYVI_I915_AUDIT");
	settings.threads = threads ? strtoul(threads, NULL, 10) : 1;
	if (!settings.threads || settings.threads > THREADS_MAX) {
		wrong_value("GHYVI_I915_THREADS");
		settings.threads = 1;
	}
}

const struct settings *shim_settings(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_settings);
	return &settings;
}

static void print_line(const char *prefix, const char *format, va_list args)
{
	char line[LINE_BYTES];
	int bytes = snprintf(line, sizeof(line) - 1, "%s", prefix);

	bytes += vsnprintf(line + bytes, sizeof(line) - 1 - bytes, format, args);
	if (bytes > (int)sizeof(line) - 2)
		bytes = sizeof(line) - 2;
	line[bytes++] = '\n';
	if (write(STDERR_FILENO, line, bytes) != bytes)
		return; /* there is no other place to say so */
}

void shim_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("ghyvi-i915: ", format, args);
	va_end(args);
}

void log_line(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("ghyvi-i915: ", format, args);
	va_end(args);
}

void count_command(const char *name, uint64_t times)
{
	size_t i;

	pthread_mutex_lock(&commands_lock);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]) - 1; i++)
		if (!commands[i].name || commands[i].name == name)
			break;
	commands[i].name = name;
	commands[i].times += times;
	pthread_mutex_unlock(&commands_lock);
}

static void print_counts(FILE *to)
{
	static const struct {
		const char *name;
		_Atomic uint64_t *value;
	} values[] = {
		{ "batches", &counts.batches },	  { "failed", &counts.failed },
		{ "audited", &counts.audited },	  { "refused", &counts.refused },
		{ "unmapped", &counts.unmapped }, { "unknown_ioctls", &counts.unknown_ioctls },
		{ "draws", &counts.draws },	  { "dispatches", &counts.dispatches },
		{ "groups", &counts.groups },	  { "instructions", &counts.instructions },
		{ "lanes", &counts.lanes },	  { "dispatch_ns", &counts.dispatch_ns },
	};

	fprintf(to, "{\"program\": \"");
	for (const char *c = program_invocation_short_name; *c; c++)
		fputc(*c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? '?' : *c, to);
	fputc('"', to);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		fprintf(to, ", \"%s\": %" PRIu64, values[i].name, *values[i].value);
	fprintf(to, ", \"commands\": {");
	for (size_t i = 0; commands[i].name; i++)
		fprintf(to, "%s\"%s\": %" PRIu64, i ? ", " : "", commands[i].name,
			commands[i].times);
	fprintf(to, "}}\n");
}

/* Processes append at the same time, so it is one write. */
__attribute__((destructor)) static void write_counts(void)
{
	const char *path = getenv("GHYVI_I915_STATS");
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory;
	int fd;

	if (!path || !*path || !counts.batches)
		return;
	memory = open_memstream(&text, &bytes);
	if (!memory)
		return;
	print_counts(memory);
	fclose(memory);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes)
		shim_error("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(text);
}
