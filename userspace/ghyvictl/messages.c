// SPDX-License-Identifier: GPL-2.0-only
/* Error messages, suggestions for misspelled words, and JSON output. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

/* Only this many characters of a word are compared. */
#define WORD_MAX 64

void complain(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("ghyvictl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int status_of(int error)
{
	switch (-error) {
	case 0:
		return STATUS_OK;
	case ENODEV:
	case ENOENT:
		return STATUS_NOT_FOUND;
	case EBUSY:
	case ENOSPC:
		return STATUS_BUSY;
	default:
		return STATUS_ERROR;
	}
}

const char *reason_of(int error)
{
	switch (-error) {
	case EACCES:
		return "not permitted; run this as root";
	case EROFS:
		return "it is read-only";
	case ENODEV:
		return "it has been removed";
	case ENOTREGULAR:
		return "it is not a regular file, and is kept";
	default:
		return strerror(-error);
	}
}

char *clean(const char *text)
{
	char *copy = strdup(text), *at;

	if (!copy)
		abort();
	for (at = copy; *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
			*at = '?';
	return copy;
}

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Levenshtein distance. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX + 1], i, j, diagonal, old;
	size_t na = strnlen(a, WORD_MAX), nb = strnlen(b, WORD_MAX);

	for (j = 0; j <= nb; j++)
		row[j] = j;
	for (i = 1; i <= na; i++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= nb; j++) {
			old = row[j];
			row[j] =
				min(diagonal + (a[i - 1] != b[j - 1]), min(row[j], row[j - 1]) + 1);
			diagonal = old;
		}
	}
	return row[nb];
}

const char *nearest(const char *word, const char *const *candidates, size_t count)
{
	size_t length = strnlen(word, WORD_MAX), i;
	unsigned int best = length / 3 + 1, now;
	const char *found = NULL;

	if (length < 2)
		return NULL;
	for (i = 0; i < count; i++) {
		now = distance(word, candidates[i]);
		/* A prefix of a candidate is an unfinished word. */
		if (length > 2 && !strncmp(word, candidates[i], length))
			now = 0;
		if (now < best || (now == best && !found)) {
			best = now;
			found = candidates[i];
		}
	}
	return found;
}

json_t *json_text(const char *text)
{
	char *copy = clean(text);
	json_t *json = json_string(copy);

	free(copy);
	return json;
}

int json_print(json_t *json, size_t flags)
{
	int ret = json_dumpf(json, stdout, flags | JSON_REAL_PRECISION(9));

	json_decref(json);
	putchar('\n');
	if (flush_output())
		return STATUS_ERROR;
	if (ret)
		complain("no memory to print JSON");
	return ret ? STATUS_ERROR : STATUS_OK;
}

int flush_output(void)
{
	return fflush(stdout) || ferror(stdout) ? STATUS_ERROR : STATUS_OK;
}
