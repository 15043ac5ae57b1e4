// SPDX-License-Identifier: GPL-2.0-only
/* The charts of a report, drawn by gnuplot. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "report.h"

#define PERCENT_OF_NS_PER_S 1e-7

const struct chart report_charts[] = {
	{ "VM exits caused by page table writes", "per second", "table_write_traps", 1 },
	{ "Submissions", "per second", "submissions_*", 1 },
	{ "Engine utilisation (100: one engine fully busy)", "%", "busy_ns_*",
	  PERCENT_OF_NS_PER_S },
	{ "Synchronisations", "per second", "synchronisations", 1 },
	{ "Table entries compared", "per second", "entries_compared", 1 },
	{ "Relaxed table pages", "pages", "relaxed_now", 1 },
	{ "Pinned guest pages", "pages", "pinned_pages_now", 1 },
	{}
};

double sum_of(json_t *counters, const char *name)
{
	size_t length = strcspn(name, "*");
	const char *each;
	double sum = 0;
	json_t *value;

	json_object_foreach(counters, each, value)
	{
		if (name[length] ? !strncmp(each, name, length) : !strcmp(each, name))
			sum += json_number_value(value);
	}
	return sum;
}

/* The UUIDs in @rounds, as keys, in the order of their first appearance. */
static json_t *uuids_of(json_t *rounds)
{
	json_t *uuids = json_object(), *round, *vgpu;
	size_t i, j;

	json_array_foreach(rounds, i, round)
	{
		json_array_foreach(json_object_get(round, "vgpus"), j, vgpu)
		{
			const char *uuid = json_string_value(json_object_get(vgpu, "uuid"));

			if (uuid)
				json_object_set(uuids, uuid, json_object_get(vgpu, "name"));
		}
	}
	return uuids;
}

/* Replaces characters that have a meaning in gnuplot. */
static void write_word(FILE *out, const char *text)
{
	for (; text && *text; text++)
		fputc(isalnum((unsigned char)*text) || strchr(".-_", *text) ? *text : '_', out);
}

/* Writes the inline data block $d<chart>_<vGPU> with lines of seconds and value. */
static void write_data(FILE *out, json_t *rounds, const char *uuid, const struct chart *chart,
		       size_t chart_index, size_t vgpu_index)
{
	bool now = ghyvi_stat_is_now(chart->counter);
	json_t *round, *vgpu;
	double seconds = 0;
	size_t i, j;

	fprintf(out, "$d%zu_%zu << end\n", chart_index, vgpu_index);
	json_array_foreach(rounds, i, round)
	{
		seconds += json_number_value(json_object_get(round, "interval_s"));
		json_array_foreach(json_object_get(round, "vgpus"), j, vgpu)
		{
			json_t *counters = json_object_get(vgpu, now ? "counters" : "rates_per_s");
			const char *this = json_string_value(json_object_get(vgpu, "uuid"));

			if (this && !strcmp(this, uuid))
				fprintf(out, "%g %g\n", seconds,
					sum_of(counters, chart->counter) * chart->scale);
		}
	}
	/* gnuplot rejects an empty block, but @uuid is in at least one round. */
	fputs("end\n", out);
}

static void write_chart(FILE *out, json_t *rounds, json_t *uuids, size_t index)
{
	const struct chart *chart = &report_charts[index];
	const char *uuid;
	json_t *name;
	size_t i = 0;

	json_object_foreach(uuids, uuid, name) write_data(out, rounds, uuid, chart, index, i++);
	fprintf(out, "set title '%s'\nset ylabel '%s'\nplot ", chart->title, chart->unit);
	i = 0;
	json_object_foreach(uuids, uuid, name)
	{
		fprintf(out, "%s$d%zu_%zu with linespoints pointsize 0.3 linewidth 1.5 title '",
			i ? ", " : "", index, i);
		write_word(out, uuid);
		fputc(' ', out);
		write_word(out, json_string_value(name));
		fputc('\'', out);
		i++;
	}
	fputc('\n', out);
}

static char *script_of(json_t *rounds)
{
	json_t *uuids = uuids_of(rounds);
	char *text = NULL;
	size_t bytes, i;
	FILE *out;

	out = open_memstream(&text, &bytes);
	if (!out || !json_object_size(uuids)) {
		complain("nothing to draw: no round has a vGPU in it");
	} else {
		fputs("set terminal svg size 840,260 dynamic background 'white' noenhanced font "
		      "'sans,11'\n"
		      "set key outside bottom center\nset grid\nset yrange [0:*]\nset xlabel "
		      "'seconds'\n",
		      out);
		for (i = 0; report_charts[i].title; i++)
			write_chart(out, rounds, uuids, i);
	}
	if (out)
		fclose(out);
	if (!json_object_size(uuids)) {
		free(text);
		text = NULL;
	}
	json_decref(uuids);
	return text;
}

/* Splits the output into one string per chart, each without the XML prologue. */
static char **split(const char *text)
{
	size_t count = sizeof(report_charts) / sizeof(report_charts[0]), i;
	char **drawings = calloc(count, sizeof(*drawings));
	const char *start, *end;

	for (i = 0; drawings && report_charts[i].title; i++) {
		start = strstr(text, "<svg");
		end = start ? strstr(start, "</svg>") : NULL;
		if (!end)
			break;
		text = end + strlen("</svg>");
		drawings[i] = strndup(start, text - start);
	}
	return drawings;
}

char **report_draw(json_t *rounds)
{
	char *script = script_of(rounds), *path = NULL, *output = NULL;
	char **drawings;
	int fd;

	if (!script)
		return NULL;
	fd = text_file(script);
	if (fd >= 0 && asprintf(&path, "/proc/self/fd/%d", fd) > 0) {
		const char *const argv[] = { "gnuplot", "--default-settings", path, NULL };

		output = program_output(argv);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	free(script);
	if (!output) {
		complain(program_exists("gnuplot") ?
				 "gnuplot failed; gnuplot --version should be 5" :
				 "the charts need gnuplot, which is not installed: apt install "
				 "gnuplot-nox");
		return NULL;
	}
	drawings = split(output);
	free(output);
	return drawings;
}
