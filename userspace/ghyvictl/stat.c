// SPDX-License-Identifier: GPL-2.0-only
/* stat */
#include <inttypes.h>
#include <string.h>
#include "ctl.h"

struct stat_options {
	struct uuid_options uuids; /* first: parse_uuids() takes this struct */
	double interval_s; /* 0: once, without rates */
	long count; /* number of rounds; 0: unlimited */
	bool all;
};

static error_t parse_stat(int key, char *argument, struct argp_state *state)
{
	struct stat_options *options = state->input;

	switch (key) {
	case 's':
		options->interval_s = parse_seconds(argument, state);
		return 0;
	case 'c':
		options->count = parse_count(argument, state);
		return 0;
	case 'a':
		options->all = true;
		return 0;
	default:
		return parse_uuids(key, argument, state);
	}
}

static const struct argp_option stat_argp_options[] = {
	{ "seconds", 's', "SECONDS", 0, "Repeat at this interval, with rates, until Ctrl-C", 0 },
	{ "count", 'c', "N", 0, "With -s: stop after N rounds", 0 },
	{ "all", 'a', NULL, 0, "Also counters that are 0", 0 },
	{}
};

static const struct argp stat_argp = {
	.options = stat_argp_options,
	.parser = parse_stat,
	.args_doc = "[UUID...]",
	.doc = "Print counters of vGPUs; without a UUID, of all.",
	.children = table_children,
};

static const struct table_column columns[] = { { .name = "UUID" },
					       { .name = "COUNTER" },
					       { .name = "VALUE", .right = true },
					       { .name = "RATE", .right = true },
					       { .name = "TYPE" },
					       { .name = "HELP" },
					       {} };

#define DEFAULT_COLUMNS "UUID,COUNTER,VALUE"
#define DEFAULT_COLUMNS_OF_ROUNDS "UUID,COUNTER,VALUE,RATE"

/* State of the output of one round. */
struct printing {
	const struct stat_options *options;
	const struct round *before; /* NULL: no rates */
	json_t *list; /* NULL: text */
	struct table *table; /* instead of text */
};

static void add_rows(struct table *table, const struct ghyvi_vgpu *vgpu,
		     const struct ghyvi_stats *stats, const struct ghyvi_stats *before,
		     const struct stat_options *options)
{
	char value[32], per_s[32];
	size_t i;

	for (i = 0; i < ghyvi_stats_count(stats); i++) {
		const char *name = ghyvi_stats_name(stats, i);
		const char *row[] = {
			ghyvi_vgpu_uuid(vgpu), name, value, per_s, ghyvi_vgpu_type_name(vgpu),
			ghyvi_stat_help(name)
		};

		if (!ghyvi_stats_value(stats, i) && !options->all)
			continue;
		snprintf(value, sizeof(value), "%" PRIu64, ghyvi_stats_value(stats, i));
		*per_s = '\0';
		if (options->interval_s && !ghyvi_stat_is_now(name))
			snprintf(per_s, sizeof(per_s), "%.1f", rate(stats, before, name));
		table_row(table, row);
	}
}

static json_t *json_stats(const struct ghyvi_vgpu *vgpu, const struct ghyvi_stats *stats,
			  const struct ghyvi_stats *before, bool rates)
{
	json_t *json = json_vgpu(vgpu), *counters = json_object(), *per_s = json_object();
	size_t i;

	for (i = 0; i < ghyvi_stats_count(stats); i++) {
		const char *name = ghyvi_stats_name(stats, i);

		json_object_set_new(counters, name, json_integer(ghyvi_stats_value(stats, i)));
		if (!ghyvi_stat_is_now(name))
			json_object_set_new(per_s, name, json_real(rate(stats, before, name)));
	}
	json_object_set_new(json, "counters", counters);
	if (rates)
		json_object_set(json, "rates_per_s", per_s);
	json_decref(per_s);
	return json;
}

static void print_stats(const struct ghyvi_vgpu *vgpu, const struct ghyvi_stats *stats,
			const struct ghyvi_stats *before, const struct stat_options *options)
{
	size_t i, shown = 0;

	printf("%s  %s\n", ghyvi_vgpu_uuid(vgpu), ghyvi_vgpu_type_name(vgpu));
	for (i = 0; i < ghyvi_stats_count(stats); i++) {
		const char *name = ghyvi_stats_name(stats, i);
		uint64_t value = ghyvi_stats_value(stats, i);

		if (!value && !options->all)
			continue;
		shown++;
		printf("  %-20s %14" PRIu64, name, value);
		if (options->interval_s && ghyvi_stat_is_now(name))
			printf(" %14s", "");
		else if (options->interval_s)
			printf(" %12.1f/s", rate(stats, before, name));
		printf("%s%s\n", *ghyvi_stat_help(name) ? "  " : "", ghyvi_stat_help(name));
	}
	if (!shown)
		printf("  all counters are 0 (--all shows them)\n");
}

static int stat_one(struct ghyvi_vgpu *vgpu, void *data)
{
	struct printing *printing = data;
	const struct ghyvi_stats *before = NULL;
	struct ghyvi_stats *stats;
	int ret;

	ret = ghyvi_stats_read(vgpu, &stats);
	if (ret) {
		complain("%s: %s", ghyvi_vgpu_uuid(vgpu), reason_of(ret));
		return status_of(ret);
	}
	if (printing->before)
		before = round_find(printing->before, ghyvi_vgpu_uuid(vgpu));
	if (printing->list)
		json_array_append_new(printing->list,
				      json_stats(vgpu, stats, before, printing->before));
	else if (printing->table)
		add_rows(printing->table, vgpu, stats, before, printing->options);
	else
		print_stats(vgpu, stats, before, printing->options);
	ghyvi_stats_free(stats);
	return STATUS_OK;
}

static int stat_once(const struct stat_options *options, const struct round *before)
{
	struct printing printing = { options, before, NULL, NULL };
	json_t *list, *json;
	int status;

	if (wants_table(options->uuids.ctl)) {
		status = table_new(&printing.table, options->uuids.ctl, columns,
				   before ? DEFAULT_COLUMNS_OF_ROUNDS : DEFAULT_COLUMNS);
		if (status)
			return status;
		status = each_vgpu(&options->uuids, stat_one, &printing);
		table_print(printing.table);
		return status;
	}
	if (!options->uuids.ctl->json)
		return each_vgpu(&options->uuids, stat_one, &printing);
	if (before) {
		/* A series of rounds is printed as one object per line. */
		list = json_array();
		status = json_round(&options->uuids, before, options->interval_s, list);
		json = json_incref(json_array_get(list, 0));
		json_decref(list);
		return json_print(json, JSON_COMPACT) ?: status;
	}
	printing.list = json_array();
	status = each_vgpu(&options->uuids, stat_one, &printing);
	return json_print(json_pack("{s:o}", "vgpus", printing.list), JSON_INDENT(2)) ?: status;
}

int json_round(const struct uuid_options *uuids, const struct round *before, double interval_s,
	       json_t *rounds)
{
	struct printing printing = { NULL, before, json_array(), NULL };
	int status = each_vgpu(uuids, stat_one, &printing);

	json_array_append_new(rounds, json_pack("{s:o, s:f}", "vgpus", printing.list, "interval_s",
						interval_s));
	return status;
}

int cmd_stat(struct ctl *ctl, int argc, char **argv)
{
	struct stat_options options = { .uuids = { .ctl = ctl } };
	struct round before;
	int status, ret;
	long i;

	status = parse_options(&stat_argp, argc, argv, &options);
	if (!status && options.count && !options.interval_s) {
		complain("--count needs --seconds");
		status = STATUS_USAGE;
	}
	if (status || !options.interval_s)
		return status ?: stat_once(&options, NULL);
	for (i = 0; !status && (!options.count || i < options.count); i++) {
		ret = round_read(ctl, &before);
		if (ret) {
			complain("cannot read counters: %s", strerror(-ret));
			return STATUS_ERROR;
		}
		sleep_seconds(options.interval_s);
		if (i && !ctl->json)
			putchar('\n');
		status = stat_once(&options, &before) ?: flush_output();
		round_free(&before);
	}
	return status;
}
