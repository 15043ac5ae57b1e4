// SPDX-License-Identifier: GPL-2.0-only
/*
 * silicon-report: what tools/silicon-stick found on a machine with a real GPU: a table of its
 * steps, and the figures of guests relative to those of i915 on the machine itself.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define KIND "ghyvi-silicon-report"
#define FORMAT 1
#define NATIVE_BOOT "i915"

static const char *const outcomes[] = { "passed", "failed", "hung", "skipped" };

#define OUTCOMES (sizeof(outcomes) / sizeof(outcomes[0]))

/* "" for what is not a text. */
static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key)) ?: "";
}

/* Only the figures of such steps count. */
static bool passed(const json_t *step)
{
	return !strcmp(text_of(step, "result"), "passed");
}

/* The same figure of i915 without a guest, or NULL. */
static const json_t *native_of(const json_t *steps, const char *figure)
{
	const json_t *step, *value;
	size_t i;

	for (i = 0; i < json_array_size(steps); i++) {
		step = json_array_get(steps, i);
		value = json_object_get(json_object_get(step, "figures"), figure);
		if (passed(step) && !strcmp(text_of(step, "boot"), NATIVE_BOOT) &&
		    json_is_number(value) && json_number_value(value) > 0)
			return value;
	}
	return NULL;
}

static json_t *json_figures(const json_t *steps, const json_t *step)
{
	json_t *figures = json_object(), *one, *value;
	const json_t *native;
	const char *name;

	if (!passed(step))
		return figures;
	json_object_foreach(json_object_get(step, "figures"), name, value)
	{
		if (!json_is_number(value))
			continue;
		one = json_pack("{s:O}", "value", value);
		native = native_of(steps, name);
		if (native && strcmp(text_of(step, "boot"), NATIVE_BOOT)) {
			json_object_set_new(one, "native", json_real(json_number_value(native)));
			json_object_set_new(one, "percent_of_native",
					    json_real(100 * json_number_value(value) /
						      json_number_value(native)));
		}
		json_object_set_new(figures, name, one);
	}
	return figures;
}

/* The report without output and logs. */
static json_t *summary_of(const json_t *report)
{
	const json_t *steps = json_object_get(report, "steps"), *step;
	json_t *list = json_array(), *counts = json_object();
	size_t count[OUTCOMES] = {}, i, k;

	for (i = 0; i < json_array_size(steps); i++) {
		step = json_array_get(steps, i);
		for (k = 0; k < OUTCOMES; k++)
			count[k] += !strcmp(text_of(step, "result"), outcomes[k]);
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:s, s:s, s:f, s:o}", "name", text_of(step, "name"),
				  "boot", text_of(step, "boot"), "result", text_of(step, "result"),
				  "reason", text_of(step, "reason"), "seconds",
				  json_number_value(json_object_get(step, "seconds")), "figures",
				  json_figures(steps, step)));
	}
	for (k = 0; k < OUTCOMES; k++)
		json_object_set_new(counts, outcomes[k], json_integer((json_int_t)count[k]));
	return json_pack("{s:s, s:O?, s:o, s:o}", "ghyvi", text_of(report, "ghyvi"), "machine",
			 json_object_get(report, "machine"), "counts", counts, "steps", list);
}

/* ---- text ---- */

static void print_machine(const json_t *summary)
{
	json_t *machine = json_object_get(summary, "machine"), *value;
	char *version = clean(text_of(summary, "ghyvi")), *shown;
	const char *name;

	printf("ghyvi %s\n", version);
	free(version);
	json_object_foreach(machine, name, value)
	{
		char *key = clean(name);

		shown = clean(json_string_value(value) ?: "");
		if (*shown)
			printf("%s: %s\n", key, shown);
		free(shown);
		free(key);
	}
	putchar('\n');
}

static int print_steps(const struct ctl *ctl, const json_t *summary)
{
	static const struct table_column columns[] = {
		{ "STEP", false }, { "RESULT", false }, { "SECONDS", true }, { "REASON", false }, {}
	};
	const json_t *steps = json_object_get(summary, "steps"), *step;
	struct table *table;
	int status = table_new(&table, ctl, columns, "STEP,RESULT,SECONDS,REASON");
	char seconds[32];
	size_t i;

	if (status)
		return status;
	for (i = 0; i < json_array_size(steps); i++) {
		/* The first line of a reason says what was wrong. */
		char *reason;

		step = json_array_get(steps, i);
		reason = strdup(text_of(step, "reason"));
		if (!reason)
			abort();
		reason[strcspn(reason, "\n")] = '\0';
		snprintf(seconds, sizeof(seconds), "%.1f",
			 json_number_value(json_object_get(step, "seconds")));
		const char *const values[] = { text_of(step, "name"), text_of(step, "result"),
					       seconds, reason };

		table_row(table, values);
		free(reason);
	}
	table_print(table);
	return STATUS_OK;
}

static int print_figures(const struct ctl *ctl, const json_t *summary)
{
	static const struct table_column columns[] = { { "FIGURE", false }, { "STEP", false },
						       { "VALUE", true },   { "NATIVE", true },
						       { "%NATIVE", true }, {} };
	const json_t *steps = json_object_get(summary, "steps"), *step;
	struct table *table;
	int status = table_new(&table, ctl, columns, "FIGURE,STEP,VALUE,NATIVE,%NATIVE");
	char value[32], native[32], percent[32];
	const char *name;
	json_t *figure;
	size_t i;

	if (status)
		return status;
	for (i = 0; i < json_array_size(steps); i++) {
		step = json_array_get(steps, i);
		json_object_foreach(json_object_get(step, "figures"), name, figure)
		{
			const json_t *base = json_object_get(figure, "native");
			const char *const values[] = { name, text_of(step, "name"), value,
						       base ? native : NULL,
						       base ? percent : NULL };

			snprintf(value, sizeof(value), "%.5g",
				 json_number_value(json_object_get(figure, "value")));
			snprintf(native, sizeof(native), "%.5g", json_number_value(base));
			snprintf(percent, sizeof(percent), "%.1f",
				 json_number_value(json_object_get(figure, "percent_of_native")));
			table_row(table, values);
		}
	}
	table_print(table);
	return STATUS_OK;
}

static void print_counts(const json_t *summary)
{
	json_t *counts = json_object_get(summary, "counts");
	size_t k;

	for (k = 0; k < OUTCOMES; k++)
		printf("%s%lld %s", k ? ", " : "",
		       (long long)json_integer_value(json_object_get(counts, outcomes[k])),
		       outcomes[k]);
	putchar('\n');
}

static bool all_well(const json_t *summary)
{
	json_t *counts = json_object_get(summary, "counts");

	return !json_integer_value(json_object_get(counts, "failed")) &&
	       !json_integer_value(json_object_get(counts, "hung"));
}

static int print_summary(const struct ctl *ctl, json_t *summary)
{
	int status;

	if (ctl->json) {
		status = json_print(json_incref(summary), JSON_INDENT(2));
	} else {
		print_machine(summary);
		status = print_steps(ctl, summary);
		putchar('\n');
		status = status ?: print_figures(ctl, summary);
		putchar('\n');
		print_counts(summary);
		status = status ?: flush_output();
	}
	return status ?: all_well(summary) ? STATUS_OK : STATUS_ERROR;
}

/* The report in a file, a new reference, or NULL after a message. */
static json_t *report_of(const char *path)
{
	json_t *report = json_of_file(path);
	json_int_t format = json_integer_value(json_object_get(report, "format"));

	if (!report)
		return NULL;
	if (!strcmp(text_of(report, "kind"), KIND) && format == FORMAT)
		return report;
	if (!strcmp(text_of(report, "kind"), KIND))
		complain("%s has format %lld; this ghyvictl knows format %d", path,
			 (long long)format, FORMAT);
	else
		complain("%s: not a report; use report.json of the silicon stick", path);
	json_decref(report);
	return NULL;
}

int cmd_silicon_report(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_uuids,
		.args_doc = "FILE",
		.doc = "Show what the silicon stick found on a machine: FILE is its report.json "
		       "(-: standard input). Exit status 1: a step failed or hung.",
		.children = ctl_children,
	};
	struct uuid_options options = { .ctl = ctl };
	json_t *report, *summary;
	int status;

	status = parse_options(&argp, argc, argv, &options);
	if (status)
		return status;
	if (options.count != 1) {
		complain("silicon-report takes one file; use report.json of the stick");
		return STATUS_USAGE;
	}
	report = report_of(options.uuids[0]);
	if (!report)
		return STATUS_USAGE;
	summary = summary_of(report);
	json_decref(report);
	if (!summary)
		abort();
	status = print_summary(ctl, summary);
	json_decref(summary);
	return status;
}
