// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saved settings: one file for each pGPU, applied by a udev rule when the pGPU appears, and one for
 * each type of vGPU (a profile), applied by create and define. Lines are ATTRIBUTE=VALUE; "#"
 * begins a comment. See man 5 ghyvi-mdev.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "ctl.h"

#define DIRECTORY "/etc/ghyvi"
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_/"

bool is_pgpu_name(const char *word)
{
	size_t digits = strspn(word, "0123456789abcdef");

	return digits >= 4 && digits <= 8 && word[digits] == ':' &&
	       isxdigit((unsigned char)word[digits + 1]) &&
	       isxdigit((unsigned char)word[digits + 2]) && word[digits + 3] == ':' &&
	       isxdigit((unsigned char)word[digits + 4]) &&
	       isxdigit((unsigned char)word[digits + 5]) && word[digits + 6] == '.' &&
	       word[digits + 7] >= '0' && word[digits + 7] <= '7' && !word[digits + 8];
}

const char *type_of_word(const char *word)
{
	const char *dash = strrchr(word, '-'), *type = dash ? dash + 1 : word, *at = type + 3;
	size_t generation, divisor;

	if (strncmp(type, "gen", 3))
		return NULL;
	generation = strspn(at, "0123456789");
	divisor = at[generation] == '_' ? strspn(at + generation + 1, "0123456789") : 0;
	return generation && divisor && !at[generation + 1 + divisor] ? type : NULL;
}

/* The caller frees it. */
static char *path_of(const char *name)
{
	const char *directory = getenv("GHYVI_CONFIG");
	char *path;

	if (asprintf(&path, "%s/%s.conf", directory && *directory ? directory : DIRECTORY, name) <
	    0)
		abort();
	return path;
}

/* Removes blanks at both ends, in place. */
static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	for (end = text + strlen(text); end > text && isspace((unsigned char)end[-1]); end--)
		;
	*end = '\0';
	return text;
}

/* Splits a line in place. Returns 1, 0 for a line without a setting, or -1 for a wrong one. */
static int split(char *line, char **name, char **value)
{
	char *equals;

	line[strcspn(line, "#")] = '\0';
	line = trim(line);
	if (!*line)
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return -1;
	*equals = '\0';
	*name = trim(line);
	*value = trim(equals + 1);
	return **name && (*name)[strspn(*name, NAME_CHARACTERS)] == '\0' ? 1 : -1;
}

int saved_settings(const char *name, json_t **settings)
{
	char *path = path_of(name), *text = read_whole(path), *rest, *attribute, *value;
	int status = STATUS_OK, number = 0, found;

	*settings = json_array();
	if (!text && errno != ENOENT && errno != ENOTDIR) {
		complain("%s: %s", path, reason_of(-errno));
		status = STATUS_ERROR;
	}
	for (rest = text; rest && *rest && !status;) {
		found = split(strsep(&rest, "\n"), &attribute, &value);
		number++;
		if (found > 0) {
			json_array_append_new(*settings,
					      json_pack("{s:o}", attribute, json_text(value)));
		} else if (found < 0) {
			complain("%s, line %d: not ATTRIBUTE=VALUE", path, number);
			status = STATUS_ERROR;
		}
	}
	free(text);
	free(path);
	return status;
}

struct changed_file {
	char *text; /* the old content, or NULL */
	json_t *changes; /* attribute: new value; "": remove it */
};

/* Writes @line, or what replaces it; adds the attribute to @done. */
static void put_line(const struct changed_file *file, const char *line, json_t *done, FILE *out)
{
	char *copy = strdup(line), *name, *value;
	const char *changed = NULL;

	if (!copy)
		abort();
	if (split(copy, &name, &value) > 0)
		changed = json_string_value(json_object_get(file->changes, name));
	if (!changed) {
		fprintf(out, "%s\n", line);
	} else {
		if (*changed && !json_object_get(done, name))
			fprintf(out, "%s=%s\n", name, changed);
		json_object_set_new(done, name, json_true());
	}
	free(copy);
}

/* Keeps comments and the order of the lines. */
static int put_file(void *data, FILE *out)
{
	struct changed_file *file = data;
	char *rest = file->text;
	json_t *done = json_object(), *value;
	const char *name;

	if (!rest)
		fputs("# Written by ghyvictl set --save; man 5 ghyvi-mdev.\n", out);
	while (rest && *rest)
		put_line(file, strsep(&rest, "\n"), done, out);
	json_object_foreach(file->changes, name, value)
	{
		if (!json_object_get(done, name) && *json_string_value(value))
			fprintf(out, "%s=%s\n", name, json_string_value(value));
	}
	json_decref(done);
	return 0;
}

int save_settings(const char *name, json_t *list)
{
	struct changed_file file = { .changes = json_object() };
	char *path = path_of(name), *directory = strdup(path);
	json_t *each;
	size_t i;
	int ret;

	if (!directory)
		abort();
	*strrchr(directory, '/') = '\0';
	json_array_foreach(list, i, each)
	{
		json_object_update(file.changes, each);
	}
	file.text = read_whole(path);
	ret = file.text || errno == ENOENT ? 0 : -errno;
	if (!ret && mkdir(directory, 0755) && errno != EEXIST)
		ret = -errno;
	if (!ret)
		ret = replace_file(path, put_file, &file);
	if (ret)
		complain("%s: %s; nothing was saved", path, reason_of(ret));
	free(file.text);
	json_decref(file.changes);
	free(directory);
	free(path);
	return ret ? STATUS_ERROR : STATUS_OK;
}
