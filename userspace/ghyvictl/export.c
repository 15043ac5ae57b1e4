// SPDX-License-Identifier: GPL-2.0-only
/* export: Prometheus's text format, for the node exporter's textfile collector. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define METRIC_BYTES 128
#define NOW_CHARS 4 /* "_now" */

struct export_options {
	struct ctl *ctl;
	const char *file;
};

static error_t parse_export(int key, char *argument, struct argp_state *state)
{
	struct export_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options->ctl;
		return 0;
	case 'o':
		options->file = argument;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option export_argp_options[] = {
	{ "output", 'o', "FILE", 0, "Replace FILE atomically (default: stdout)", 0 },
	{}
};

static const struct argp export_argp = {
	.options = export_argp_options,
	.parser = parse_export,
	.doc = "Write the counters of all vGPUs in Prometheus's text format, for the textfile "
	       "collector.",
	.children = text_children,
};

/* Escapes a label value. clean() has replaced newlines, which would need escaping as well. */
static void put_escaped(FILE *out, const char *text)
{
	char *copy = clean(text), *at;

	for (at = copy; *at; at++) {
		if (*at == '"' || *at == '\\')
			putc('\\', out);
		putc(*at, out);
	}
	free(copy);
}

static void put_label(FILE *out, const char *before, const char *name, const char *value)
{
	fprintf(out, "%s%s=\"", before, name);
	put_escaped(out, value);
	putc('"', out);
}

static void put_vgpu_labels(FILE *out, const struct ghyvi_vgpu *vgpu)
{
	put_label(out, "{", "uuid", ghyvi_vgpu_uuid(vgpu));
	put_label(out, ",", "type", ghyvi_vgpu_type_name(vgpu));
	put_label(out, ",", "parent", ghyvi_vgpu_parent(vgpu));
}

static void metric_name(const char *counter, char *metric)
{
	if (ghyvi_stat_is_now(counter))
		snprintf(metric, METRIC_BYTES, "ghyvi_%.*s", (int)(strlen(counter) - NOW_CHARS),
			 counter);
	else
		snprintf(metric, METRIC_BYTES, "ghyvi_%s_total", counter);
}

static void put_head(FILE *out, const char *metric, const char *kind, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric, kind);
}

/* The format requires that all samples of a metric are consecutive. */
static void put_counter(FILE *out, const struct round *round, const char *counter)
{
	const char *help = ghyvi_stat_help(counter);
	char metric[METRIC_BYTES];
	size_t i;

	metric_name(counter, metric);
	put_head(out, metric, ghyvi_stat_is_now(counter) ? "gauge" : "counter",
		 *help ? help : "unknown to this version of ghyvictl");
	for (i = 0; i < round->count; i++) {
		if (!round->stats[i])
			continue;
		fputs(metric, out);
		put_vgpu_labels(out, ghyvi_vgpus_at(round->vgpus, i));
		fprintf(out, "} %" PRIu64 "\n", ghyvi_stats_get(round->stats[i], counter));
	}
}

static void put_info(FILE *out, const struct round *round)
{
	char value[GHYVI_VALUE_BYTES];
	size_t i;

	put_head(out, "ghyvi_vgpu_info", "gauge", "always 1; policy and state are labels");
	for (i = 0; i < round->count; i++) {
		const struct ghyvi_vgpu *vgpu = ghyvi_vgpus_at(round->vgpus, i);

		fputs("ghyvi_vgpu_info", out);
		put_vgpu_labels(out, vgpu);
		put_label(out, ",", "policy", policy_or_unknown(vgpu, value));
		put_label(out, ",", "state", value_or_unknown(vgpu, "state", value));
		fputs("} 1\n", out);
	}
}

static void put_types(FILE *out, const struct ghyvi_types *types)
{
	size_t i;

	put_head(out, "ghyvi_available_instances", "gauge",
		 "vGPUs of this type that could be created now");
	for (i = 0; i < ghyvi_types_count(types); i++) {
		const struct ghyvi_type *type = ghyvi_types_at(types, i);

		put_label(out, "ghyvi_available_instances{", "type", ghyvi_type_name(type));
		put_label(out, ",", "parent", ghyvi_type_parent(type));
		fprintf(out, "} %u\n", ghyvi_type_available(type));
	}
}

static int put_all(void *data, FILE *out)
{
	struct ctl *ctl = data;
	const struct ghyvi_stats *first = NULL;
	struct ghyvi_types *types;
	struct round round;
	size_t i;
	int ret;

	ret = ghyvi_types_read(ctl->ghyvi, &types);
	if (ret)
		return ret;
	ret = round_read(ctl, &round);
	if (ret)
		goto free_types;
	put_types(out, types);
	put_info(out, &round);
	/* All vGPUs belong to the same module, so they have the same counters. */
	for (i = 0; i < round.count && !first; i++)
		first = round.stats[i];
	for (i = 0; first && i < ghyvi_stats_count(first); i++)
		put_counter(out, &round, ghyvi_stats_name(first, i));
	round_free(&round);
free_types:
	ghyvi_types_free(types);
	return ret;
}

int cmd_export(struct ctl *ctl, int argc, char **argv)
{
	struct export_options options = { .ctl = ctl };
	int status, ret;

	status = parse_options(&export_argp, argc, argv, &options);
	if (status)
		return status;
	if (ctl->json) {
		complain("export prints Prometheus's format; for JSON: ghyvictl stat --json");
		return STATUS_USAGE;
	}
	ret = options.file ? replace_file(options.file, put_all, ctl) : put_all(ctl, stdout);
	if (ret && options.file)
		complain("%s: %s", options.file, reason_of(ret));
	else if (ret)
		complain("cannot read counters: %s", strerror(-ret));
	return ret ? STATUS_ERROR : STATUS_OK;
}
