// SPDX-License-Identifier: GPL-2.0-only
/* The page of a report: a self-contained HTML file. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "report.h"

static const char style[] =
	"body{font:15px/1.4 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
	"table{border-collapse:collapse;margin:1em 0}"
	"th,td{padding:.2em .8em;border-bottom:1px solid #ccc;text-align:right}"
	"th:first-child,td:first-child,td.text{text-align:left}"
	"svg{display:block;width:100%;height:auto;margin:1em 0}";

static void escape(FILE *out, const char *text)
{
	for (; text && *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

/* ---- the cost of each policy ---- */

struct cost {
	double seconds, exits, submissions, synchronisations, compared, busy_ns;
};

static void add_cost(struct cost *cost, json_t *rates, double seconds)
{
	cost->seconds += seconds;
	cost->exits += sum_of(rates, "table_write_traps") * seconds;
	cost->submissions += sum_of(rates, "submissions_*") * seconds;
	cost->synchronisations += sum_of(rates, "synchronisations") * seconds;
	cost->compared += sum_of(rates, "entries_compared") * seconds;
	cost->busy_ns += sum_of(rates, "busy_ns_*") * seconds;
}

static struct cost cost_of(json_t *rounds, const char *policy)
{
	struct cost cost = {};
	json_t *round, *vgpu;
	size_t i, j;

	json_array_foreach(rounds, i, round)
	{
		double seconds = json_number_value(json_object_get(round, "interval_s"));

		json_array_foreach(json_object_get(round, "vgpus"), j, vgpu)
		{
			const char *this = json_string_value(json_object_get(vgpu, "policy"));

			if (this && !strcmp(this, policy))
				add_cost(&cost, json_object_get(vgpu, "rates_per_s"), seconds);
		}
	}
	return cost;
}

/* The policies that were active in @rounds, as keys. */
static json_t *policies_of(json_t *rounds)
{
	json_t *policies = json_object(), *round, *vgpu;
	size_t i, j;

	json_array_foreach(rounds, i, round)
	{
		json_array_foreach(json_object_get(round, "vgpus"), j, vgpu)
		{
			const char *policy = json_string_value(json_object_get(vgpu, "policy"));

			if (policy)
				json_object_set_new(policies, policy, json_true());
		}
	}
	return policies;
}

static double per(double amount, double base)
{
	return base > 0 ? amount / base : 0;
}

static void write_policies(json_t *rounds, FILE *out)
{
	json_t *policies = policies_of(rounds), *unused;
	const char *policy;

	fputs("<h2>Policies</h2>\n<p>Sums over all vGPUs while the policy was active. Compare the "
	      "costs per submission, because workloads differ in their number of submissions.</p>\n"
	      "<table id=\"policies\"><tr><th>policy</th><th>vGPU "
	      "seconds</th><th>submissions/s</th><th>exits/s</th>"
	      "<th>exits per submission</th><th>synchronisations per submission</th>"
	      "<th>entries compared per submission</th><th>engine time per submission, "
	      "&micro;s</th></tr>\n",
	      out);
	json_object_foreach(policies, policy, unused)
	{
		struct cost cost = cost_of(rounds, policy);

		fputs("<tr><td>", out);
		escape(out, policy);
		fprintf(out,
			"</td><td>%.1f</td><td>%.1f</td><td>%.1f</td><td>%.2f</td><td>%.2f</td><td>%.1f</td><td>%.1f</td></tr>\n",
			cost.seconds, per(cost.submissions, cost.seconds),
			per(cost.exits, cost.seconds), per(cost.exits, cost.submissions),
			per(cost.synchronisations, cost.submissions),
			per(cost.compared, cost.submissions),
			per(cost.busy_ns / 1e3, cost.submissions));
	}
	fputs("</table>\n", out);
	json_decref(policies);
}

/* ---- all counters at the end ---- */

static void write_counters(json_t *rounds, FILE *out)
{
	json_t *round = json_array_get(rounds, json_array_size(rounds) - 1), *vgpu, *value;
	const char *name;
	size_t i;

	fputs("<h2>Counters at the end</h2>\n", out);
	json_array_foreach(json_object_get(round, "vgpus"), i, vgpu)
	{
		fputs("<h3>", out);
		escape(out, json_string_value(json_object_get(vgpu, "uuid")));
		fputs(" ", out);
		escape(out, json_string_value(json_object_get(vgpu, "name")));
		fputs("</h3>\n<table><tr><th>counter</th><th>value</th><th></th></tr>\n", out);
		json_object_foreach(json_object_get(vgpu, "counters"), name, value)
		{
			if (!json_number_value(value))
				continue;
			fputs("<tr><td>", out);
			escape(out, name);
			fprintf(out, "</td><td>%.0f</td><td class=\"text\">",
				json_number_value(value));
			escape(out, ghyvi_stat_help(name));
			fputs("</td></tr>\n", out);
		}
		fputs("</table>\n", out);
	}
}

int report_put(void *data, FILE *out)
{
	const struct page *page = data;
	time_t now = time(NULL);
	char when[64];
	size_t i;

	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", gmtime(&now));
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
		"charset=\"utf-8\"><title>ghyvi</title><style>%s</style></head><body>\n"
		"<h1>ghyvi</h1>\n<p>%s, %zu rounds.</p>\n",
		style, when, json_array_size(page->rounds));
	write_policies(page->rounds, out);
	fputs("<h2>Over time</h2>\n", out);
	for (i = 0; page->drawings[i]; i++)
		fprintf(out, "%s\n", page->drawings[i]);
	write_counters(page->rounds, out);
	fputs("</body></html>\n", out);
	return 0;
}
