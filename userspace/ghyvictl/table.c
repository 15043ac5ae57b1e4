// SPDX-License-Identifier: GPL-2.0-only
/* Tables for people and scripts, by libsmartcols: --output, --noheadings, --raw. */
#define _GNU_SOURCE
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

struct table {
	struct libscols_table *scols;
	const struct table_column *columns; /* all, ends with a NULL name */
	size_t chosen[TABLE_COLUMNS_MAX]; /* indexes in @columns */
	size_t count;
};

static size_t find_column(const struct table_column *columns, const char *name, size_t length)
{
	size_t i;

	for (i = 0; columns[i].name; i++)
		if (strlen(columns[i].name) == length &&
		    !strncasecmp(columns[i].name, name, length))
			break;
	return i;
}

static int complain_column(const struct table_column *columns, const char *name, size_t length)
{
	char *word = strndup(name, length), *shown = word ? clean(word) : NULL, *all = NULL;
	size_t i, bytes;
	FILE *out = open_memstream(&all, &bytes);

	if (!shown || !out)
		abort();
	for (i = 0; columns[i].name; i++)
		fprintf(out, "%s%s", i ? "," : "", columns[i].name);
	fclose(out);
	complain("there is no column \"%s\"; columns: %s", shown, all);
	free(all);
	free(shown);
	free(word);
	return STATUS_USAGE;
}

int choose_columns(const struct table_column *columns, const char *text, size_t *chosen,
		   size_t *count)
{
	const char *at = text;

	*count = 0;
	for (;;) {
		size_t length = strcspn(at, ","), index = find_column(columns, at, length);

		if (!columns[index].name)
			return complain_column(columns, at, length);
		if (*count == TABLE_COLUMNS_MAX) {
			complain("more than %d columns", TABLE_COLUMNS_MAX);
			return STATUS_USAGE;
		}
		chosen[(*count)++] = index;
		if (!at[length])
			return STATUS_OK;
		at += length + 1;
	}
}

int table_new(struct table **out, const struct ctl *ctl, const struct table_column *columns,
	      const char *defaults)
{
	struct table *table = calloc(1, sizeof(*table));
	int status;
	size_t i;

	if (!table)
		abort();
	table->columns = columns;
	status = choose_columns(columns, ctl->columns ?: defaults, table->chosen, &table->count);
	table->scols = status ? NULL : scols_new_table();
	if (!table->scols) {
		free(table);
		return status ?: STATUS_ERROR;
	}
	scols_table_enable_noheadings(table->scols, ctl->noheadings);
	scols_table_enable_raw(table->scols, ctl->raw);
	for (i = 0; i < table->count; i++) {
		const struct table_column *column = &columns[table->chosen[i]];

		scols_table_new_column(table->scols, column->name, 0,
				       column->right ? SCOLS_FL_RIGHT : 0);
	}
	*out = table;
	return STATUS_OK;
}

void table_row(struct table *table, const char *const *values)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);
	size_t i;

	for (i = 0; line && i < table->count; i++) {
		const char *value = values[table->chosen[i]];
		char *shown = clean(value && *value ? value : "-");

		scols_line_set_data(line, i, shown);
		free(shown);
	}
}

void table_print(struct table *table)
{
	scols_print_table(table->scols);
	scols_unref_table(table->scols);
	free(table);
}
