// SPDX-License-Identifier: GPL-2.0-only
/* export: Prometheus's text format, for the node exporter's textfile collector. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>
#include "ctl.h"

#define METRIC_BYTES 128
#define HELP_BYTES 256
#define PAGE_BYTES 4096 /* of a guest */
#define NS_PER_S UINT64_C(1000000000)

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

static void put_head(FILE *out, const char *metric, const char *kind, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric, kind);
}

/* ---- counters ---- */

/* How a counter is exported: in base units, and the engine as a label. */
struct metric {
	char name[METRIC_BYTES];
	char help[HELP_BYTES];
	const char *engine; /* NULL: not of an engine */
	bool seconds; /* the counter is in nanoseconds */
	unsigned int bytes; /* in a unit of the counter; 0: it is exported as it is */
	bool gauge;
};

static const struct {
	const char *suffix, *words;
} engines[] = {
	{ "_rcs", "render engine" },
	{ "_bcs", "blitter engine" },
	{ "_vcs", "video engine" },
	{ "_vecs", "video enhancement engine" },
};

/* Removes @suffix from the end of @text; false: it is not there. */
static bool cut(char *text, const char *suffix)
{
	size_t length = strlen(text), end = strlen(suffix);

	if (length <= end || strcmp(text + length - end, suffix))
		return false;
	text[length - end] = '\0';
	return true;
}

/* Replaces the first @from in @text, which has HELP_BYTES. */
static void replace(char *text, const char *from, const char *to)
{
	char copy[HELP_BYTES], *at = strstr(text, from);

	if (!at)
		return;
	snprintf(copy, sizeof(copy), "%s", at + strlen(from));
	snprintf(at, HELP_BYTES - (at - text), "%s%s", to, copy);
}

static void describe(const char *counter, struct metric *metric)
{
	const char *help = ghyvi_stat_help(counter);
	char base[METRIC_BYTES / 2];
	size_t i;

	*metric = (struct metric){};
	snprintf(base, sizeof(base), "%s", counter);
	snprintf(metric->help, sizeof(metric->help), "%s",
		 *help ? help : "unknown to this version of ghyvictl");
	metric->gauge = cut(base, "_now");
	for (i = 0; i < sizeof(engines) / sizeof(engines[0]) && !metric->engine; i++) {
		if (!cut(base, engines[i].suffix))
			continue;
		metric->engine = engines[i].suffix + 1;
		replace(metric->help, engines[i].words, "engine");
	}
	metric->seconds = cut(base, "_ns");
	if (metric->seconds)
		replace(metric->help, "nanoseconds", "seconds");
	if (!strcmp(base, "pinned_pages")) {
		snprintf(base, sizeof(base), "pinned_bytes");
		replace(metric->help, "pages", "memory");
		metric->bytes = PAGE_BYTES;
	}
	snprintf(metric->name, sizeof(metric->name), "ghyvi_%s%s%s%s",
		 metric->engine ? "engine_" : "", base, metric->seconds ? "_seconds" : "",
		 metric->gauge ? "" : "_total");
}

static void put_samples(FILE *out, const struct round *round, const char *counter,
			const struct metric *metric)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < round->count; i++) {
		if (!round->stats[i])
			continue;
		fputs(metric->name, out);
		put_vgpu_labels(out, ghyvi_vgpus_at(round->vgpus, i));
		if (metric->engine)
			put_label(out, ",", "engine", metric->engine);
		value = ghyvi_stats_get(round->stats[i], counter);
		if (metric->seconds)
			fprintf(out, "} %" PRIu64 ".%09" PRIu64 "\n", value / NS_PER_S,
				value % NS_PER_S);
		else
			fprintf(out, "} %" PRIu64 "\n",
				metric->bytes ? value * metric->bytes : value);
	}
}

/* The format requires that all samples of a metric are consecutive. */
static void put_counters(FILE *out, const struct round *round, const struct ghyvi_stats *list)
{
	struct metric metric, other;
	size_t i, k;

	for (i = 0; i < ghyvi_stats_count(list); i++) {
		describe(ghyvi_stats_name(list, i), &metric);
		for (k = 0; k < i; k++) {
			describe(ghyvi_stats_name(list, k), &other);
			if (!strcmp(metric.name, other.name))
				break;
		}
		if (k < i)
			continue; /* it was put with that one */
		put_head(out, metric.name, metric.gauge ? "gauge" : "counter", metric.help);
		for (k = i; k < ghyvi_stats_count(list); k++) {
			describe(ghyvi_stats_name(list, k), &other);
			if (!strcmp(metric.name, other.name))
				put_samples(out, round, ghyvi_stats_name(list, k), &other);
		}
	}
}

/* ---- vGPUs ---- */

static void put_info(FILE *out, const struct round *round)
{
	char value[GHYVI_VALUE_BYTES];
	struct holder holder;
	size_t i;

	put_head(out, "ghyvi_vgpu_info", "gauge", "always 1; policy and VM are labels");
	for (i = 0; i < round->count; i++) {
		const struct ghyvi_vgpu *vgpu = ghyvi_vgpus_at(round->vgpus, i);

		if (!round->stats[i])
			continue;
		holder = (struct holder){};
		if (ghyvi_vgpu_is_open(vgpu) > 0)
			holder_find(vgpu, &holder);
		fputs("ghyvi_vgpu_info", out);
		put_vgpu_labels(out, vgpu);
		put_label(out, ",", "policy", policy_or_unknown(vgpu, value));
		put_label(out, ",", "vm", holder.vm ?: "");
		fputs("} 1\n", out);
		holder_free(&holder);
	}
}

static void put_state(FILE *out, const struct round *round)
{
	static const char *const states[] = { "created", "open", "failsafe" };
	char value[GHYVI_VALUE_BYTES];
	size_t i, k;

	put_head(out, "ghyvi_vgpu_state", "gauge", "1 for the state that the vGPU is in, else 0");
	for (i = 0; i < round->count; i++) {
		const struct ghyvi_vgpu *vgpu = ghyvi_vgpus_at(round->vgpus, i);
		const char *state = value_or_unknown(vgpu, "state", value);

		if (!round->stats[i])
			continue;
		for (k = 0; k < sizeof(states) / sizeof(states[0]); k++) {
			fputs("ghyvi_vgpu_state", out);
			put_vgpu_labels(out, vgpu);
			put_label(out, ",", "state", states[k]);
			fprintf(out, "} %d\n", !strcmp(state, states[k]));
		}
	}
}

static void put_times(FILE *out, const struct round *round, const char *metric, const char *help,
		      time_t (*read)(const struct ghyvi_vgpu *vgpu))
{
	size_t i;

	put_head(out, metric, "gauge", help);
	for (i = 0; i < round->count; i++) {
		if (!round->stats[i])
			continue;
		fputs(metric, out);
		put_vgpu_labels(out, ghyvi_vgpus_at(round->vgpus, i));
		fprintf(out, "} %lld\n", (long long)read(ghyvi_vgpus_at(round->vgpus, i)));
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

struct frequency_output {
	FILE *out;
	bool any;
};

static void put_frequency(const struct frequencies *frequencies, void *data)
{
	struct frequency_output *output = data;

	if (!output->any)
		put_head(output->out, "ghyvi_frequency_hertz", "gauge", "frequency of the pGPU");
	output->any = true;
	put_label(output->out, "ghyvi_frequency_hertz{", "parent", frequencies->parent);
	fprintf(output->out, "} %lu000000\n", frequencies->act_mhz);
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
	each_frequency(ctl, types, put_frequency, &(struct frequency_output){ .out = out });
	put_info(out, &round);
	put_state(out, &round);
	put_times(out, &round, "ghyvi_vgpu_open_timestamp_seconds",
		  "when a VM opened the vGPU; 0: it is not open", open_time);
	put_times(out, &round, "ghyvi_vgpu_last_error_timestamp_seconds",
		  "when a request of this vGPU was refused last; 0: never", last_error_time);
	/* All vGPUs belong to the same module, so they have the same counters. */
	for (i = 0; i < round.count && !first; i++)
		first = round.stats[i];
	if (first)
		put_counters(out, &round, first);
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
