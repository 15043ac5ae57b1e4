// SPDX-License-Identifier: GPL-2.0-only
/* top: the activity of all vGPUs at an interval, on a terminal or as plain text. */
#include <ncurses.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "ctl.h"

#define LINE_BYTES 256
#define KEY_QUIT 'q'
#define WIDE_CHARS 160
#define SHORT_UUID_CHARS 12
#define UUID_BYTES (GHYVI_UUID_CHARS + 1)

struct top_options {
	struct ctl *ctl;
	double interval_s;
	long batch; /* rounds of plain text; 0: a terminal */
};

/* Stands for the sum of busy_ns_* of all engines; 100 % is one engine fully busy. */
#define BUSY "busy_ns"
#define NS_PER_PERCENT 1e7 /* of a second */

static const char *const busy_counters[] = { "busy_ns_rcs", "busy_ns_bcs", "busy_ns_vcs",
					     "busy_ns_vecs" };

/* A column that shows a counter: its rate per second or, for a gauge, its current value. */
struct column {
	const char *title;
	const char *key; /* in JSON */
	const char *counter;
	int width;
};

static const struct column columns[] = {
	{ "RCS/s", "submissions_rcs_per_s", "submissions_rcs", 8 },
	{ "BCS/s", "submissions_bcs_per_s", "submissions_bcs", 8 },
	{ "VCS/s", "submissions_vcs_per_s", "submissions_vcs", 8 },
	{ "VECS/s", "submissions_vecs_per_s", "submissions_vecs", 8 },
	{ "BUSY%", "busy_percent", BUSY, 6 },
	{ "EXITS/s", "table_write_traps_per_s", "table_write_traps", 9 },
	{ "SYNCS/s", "synchronisations_per_s", "synchronisations", 9 },
	{ "RELAXED", "relaxed", "relaxed_now", 8 },
	{ "PROTECTED", "protected", "protected_now", 10 },
	{ "PINNED", "pinned_pages", "pinned_pages_now", 8 },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static error_t parse_top(int key, char *argument, struct argp_state *state)
{
	struct top_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options->ctl;
		return 0;
	case 's':
		options->interval_s = parse_seconds(argument, state);
		return 0;
	case 'b':
		options->batch = parse_count(argument, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option top_argp_options[] = {
	{ "seconds", 's', "SECONDS", 0, "Interval between rounds (default 1)", 0 },
	{ "batch", 'b', "N", 0, "Print N rounds as plain text, for scripts", 0 },
	{}
};

static const struct argp top_argp = {
	.options = top_argp_options,
	.parser = parse_top,
	.doc = "Show the activity of all vGPUs live: submissions per second and engine, VM exits "
	       "caused by page table writes, synchronisations, and the pages that are relaxed, "
	       "write-protected and pinned now. \"q\" quits.",
	.children = ctl_children,
};

/* @is_short: only the first 4 and last 6 characters, for terminals narrower than WIDE_CHARS. */
static void format_uuid(char *text, const char *uuid, bool is_short)
{
	if (is_short)
		snprintf(text, UUID_BYTES, "%.4s..%s", uuid, uuid + GHYVI_UUID_CHARS - 6);
	else
		snprintf(text, UUID_BYTES, "%s", uuid);
}

static int uuid_width(bool is_short)
{
	return is_short ? SHORT_UUID_CHARS : GHYVI_UUID_CHARS;
}

static void format_header(char *line, bool is_short)
{
	int at = snprintf(line, LINE_BYTES, "%-*s %-13s %-8s %-10s", uuid_width(is_short), "UUID",
			  "TYPE", "STATE", "POLICY");
	size_t i;

	for (i = 0; i < COLUMNS; i++)
		at += snprintf(line + at, LINE_BYTES - at, " %*s", columns[i].width,
			       columns[i].title);
}

static double column_value(const struct column *column, const struct ghyvi_stats *now,
			   const struct ghyvi_stats *before)
{
	double ns_per_s = 0;
	size_t i;

	if (ghyvi_stat_is_now(column->counter))
		return (double)ghyvi_stats_get(now, column->counter);
	if (!strcmp(column->counter, BUSY)) {
		for (i = 0; i < sizeof(busy_counters) / sizeof(busy_counters[0]); i++)
			ns_per_s += rate(now, before, busy_counters[i]);
		return ns_per_s / NS_PER_PERCENT;
	}
	return rate(now, before, column->counter);
}

static void format_vgpu(char *line, const struct ghyvi_vgpu *vgpu, const struct ghyvi_stats *now,
			const struct ghyvi_stats *before, bool is_short)
{
	char state[GHYVI_VALUE_BYTES], policy[GHYVI_VALUE_BYTES], uuid[UUID_BYTES];
	size_t i;
	int at;

	format_uuid(uuid, ghyvi_vgpu_uuid(vgpu), is_short);
	at = snprintf(line, LINE_BYTES, "%-*s %-13.13s %-8.8s %-10.10s", uuid_width(is_short), uuid,
		      ghyvi_vgpu_type_name(vgpu), value_or_unknown(vgpu, "state", state),
		      policy_or_unknown(vgpu, policy));
	for (i = 0; i < COLUMNS && at < LINE_BYTES; i++)
		at += snprintf(line + at, LINE_BYTES - at, " %*.0f", columns[i].width,
			       column_value(&columns[i], now, before));
}

static json_t *json_top(const struct ghyvi_vgpu *vgpu, const struct ghyvi_stats *now,
			const struct ghyvi_stats *before)
{
	json_t *json = json_vgpu(vgpu);
	size_t i;

	for (i = 0; i < COLUMNS; i++) {
		double value = column_value(&columns[i], now, before);
		bool whole = ghyvi_stat_is_now(columns[i].counter);

		json_object_set_new(json, columns[i].key,
				    whole ? json_integer((json_int_t)value) : json_real(value));
	}
	return json;
}

static int print_round(const struct top_options *options, const struct round *now,
		       const struct round *before)
{
	json_t *list = json_array();
	char line[LINE_BYTES];
	size_t i;

	format_header(line, false);
	if (!options->ctl->json)
		printf("%s\n", line);
	for (i = 0; i < now->count; i++) {
		const struct ghyvi_vgpu *vgpu = ghyvi_vgpus_at(now->vgpus, i);
		const struct ghyvi_stats *old = round_find(before, ghyvi_vgpu_uuid(vgpu));

		if (!now->stats[i])
			continue;
		if (options->ctl->json) {
			json_array_append_new(list, json_top(vgpu, now->stats[i], old));
			continue;
		}
		format_vgpu(line, vgpu, now->stats[i], old, false);
		printf("%s\n", line);
	}
	if (options->ctl->json)
		return json_print(json_pack("{s:f, s:o}", "interval_s", options->interval_s,
					    "vgpus", list),
				  JSON_COMPACT);
	json_decref(list);
	fflush(stdout);
	return STATUS_OK;
}

static void draw_round(const struct round *now, const struct round *before)
{
	char line[LINE_BYTES], clock[32];
	time_t seconds = time(NULL);
	struct tm parts;
	bool is_short = COLS < WIDE_CHARS;
	int row = 3;
	size_t i;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&seconds, &parts));
	erase();
	mvprintw(0, 0, "ghyvi %s  %zu vGPUs  q: quit", clock, now->count);
	format_header(line, is_short);
	attron(A_REVERSE);
	mvaddnstr(2, 0, line, COLS);
	attroff(A_REVERSE);
	for (i = 0; i < now->count && row < LINES; i++) {
		const struct ghyvi_vgpu *vgpu = ghyvi_vgpus_at(now->vgpus, i);

		if (!now->stats[i])
			continue;
		format_vgpu(line, vgpu, now->stats[i], round_find(before, ghyvi_vgpu_uuid(vgpu)),
			    is_short);
		mvaddnstr(row++, 0, line, COLS);
	}
	if (!now->count)
		mvaddnstr(3, 0, "no vGPUs; ghyvictl create makes one", COLS);
	refresh();
}

enum next { NEXT_ROUND, NEXT_REDRAW, NEXT_END };

/* Waits until the interval is over or an event requires a redraw. */
static enum next wait_on_screen(struct ghyvi_watch *watch, double interval_s)
{
	enum news news = wait_for_news(watch, STDIN_FILENO, seconds_now() + interval_s);
	int key = getch(), last = ERR;

	for (; key != ERR; key = getch()) {
		last = key;
		if (key == KEY_QUIT || key == 'Q')
			return NEXT_END;
	}
	/* The terminal is readable but has no input: it was closed. */
	if (news == NEWS_INPUT && last == ERR)
		return NEXT_END;
	return news == NEWS_TIME_IS_UP ? NEXT_ROUND : NEXT_REDRAW;
}

static int top_on_screen(const struct top_options *options)
{
	struct ghyvi_watch *watch = NULL;
	struct round before = {}, now;
	enum next next;
	int ret = 0;

	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)) {
		complain("not a terminal; use --batch N");
		return STATUS_USAGE;
	}
	if (!newterm(NULL, stdout, stdin)) {
		complain("this terminal ($TERM) is not supported; use --batch N");
		return STATUS_ERROR;
	}
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	timeout(0);
	/* Without netlink, created and removed vGPUs appear in the next round. */
	ghyvi_watch_open(&watch);
	do {
		ret = round_read(options->ctl, &now);
		if (ret)
			break;
		draw_round(&now, &before);
		next = wait_on_screen(watch, options->interval_s);
		/* A redraw keeps @before, so that rates cover at least one interval. */
		if (next == NEXT_ROUND) {
			round_free(&before);
			before = now;
		} else {
			round_free(&now);
		}
	} while (next != NEXT_END);
	endwin();
	ghyvi_watch_close(watch);
	round_free(&before);
	if (ret)
		complain("cannot read counters: %s", strerror(-ret));
	return ret ? STATUS_ERROR : STATUS_OK;
}

static int top_in_batch(const struct top_options *options)
{
	struct round before, now;
	int ret, status = STATUS_OK;
	long i;

	ret = round_read(options->ctl, &before);
	for (i = 0; !ret && !status && i < options->batch; i++) {
		sleep_seconds(options->interval_s);
		ret = round_read(options->ctl, &now);
		if (ret)
			break;
		if (i && !options->ctl->json)
			putchar('\n');
		status = print_round(options, &now, &before);
		round_free(&before);
		before = now;
	}
	if (ret)
		complain("cannot read counters: %s", strerror(-ret));
	round_free(&before);
	return ret ? STATUS_ERROR : status;
}

int cmd_top(struct ctl *ctl, int argc, char **argv)
{
	struct top_options options = { .ctl = ctl, .interval_s = 1 };
	int status;

	status = parse_options(&top_argp, argc, argv, &options);
	if (status)
		return status;
	if (ctl->json && !options.batch) {
		complain("top --json needs --batch N");
		return STATUS_USAGE;
	}
	return options.batch ? top_in_batch(&options) : top_on_screen(&options);
}
