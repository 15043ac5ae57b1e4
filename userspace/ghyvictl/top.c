// SPDX-License-Identifier: GPL-2.0-only
/* top: the activity of all vGPUs at an interval, on a terminal or as plain text. */
#define _GNU_SOURCE
#include <ncurses.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "ctl.h"

#define LINE_BYTES 512
#define UUID_BYTES (GHYVI_UUID_CHARS + 1)
#define SHORT_UUID_CHARS 12
#define FREQUENCY_ROW 1
#define FIRST_ROW 3
#define NS_PER_PERCENT 1e7 /* of a second */

enum source {
	SOURCE_UUID,
	SOURCE_TYPE,
	SOURCE_STATE,
	SOURCE_POLICY,
	SOURCE_PARENT,
	SOURCE_COUNTERS, /* the sum of the counters: rates per second or, for gauges, numbers */
	SOURCE_BUSY, /* of counters in nanoseconds: percent; 100 is one engine fully busy */
};

#define ENGINES 4

/* A column. In JSON, those of counters with a key. */
struct column {
	enum source source;
	int width;
	const char *key, *help;
	const char *counters[ENGINES];
};

/* Parallel to columns[]. */
static const struct table_column names[] = { { .name = "UUID" },
					     { .name = "TYPE" },
					     { .name = "STATE" },
					     { .name = "POLICY" },
					     { .name = "PARENT" },
					     { .name = "JOBS/s", .right = true },
					     { .name = "RCS/s", .right = true },
					     { .name = "BCS/s", .right = true },
					     { .name = "VCS/s", .right = true },
					     { .name = "VECS/s", .right = true },
					     { .name = "BUSY%", .right = true },
					     { .name = "EXITS/s", .right = true },
					     { .name = "SYNCS/s", .right = true },
					     { .name = "RELAXED", .right = true },
					     { .name = "PROTECTED", .right = true },
					     { .name = "PINNED", .right = true },
					     {} };

static const struct column columns[] = {
	{ SOURCE_UUID, GHYVI_UUID_CHARS, NULL, "the UUID; on a narrow screen its ends", {} },
	{ SOURCE_TYPE, 8, NULL, "the type, without \"ghyvi-\"", {} },
	{ SOURCE_STATE, 8, NULL, "created, open or failsafe", {} },
	{ SOURCE_POLICY, 9, NULL, "the active shadowing policy", {} },
	{ SOURCE_PARENT, 12, NULL, "the pGPU", {} },
	{ SOURCE_COUNTERS,
	  7,
	  NULL,
	  "submissions to all engines",
	  { "submissions_rcs", "submissions_bcs", "submissions_vcs", "submissions_vecs" } },
	{ SOURCE_COUNTERS,
	  7,
	  "submissions_rcs_per_s",
	  "to the render engine",
	  { "submissions_rcs" } },
	{ SOURCE_COUNTERS, 7, "submissions_bcs_per_s", "to the blitter", { "submissions_bcs" } },
	{ SOURCE_COUNTERS,
	  7,
	  "submissions_vcs_per_s",
	  "to the video engine",
	  { "submissions_vcs" } },
	{ SOURCE_COUNTERS,
	  7,
	  "submissions_vecs_per_s",
	  "to the video enhancement engine",
	  { "submissions_vecs" } },
	{ SOURCE_BUSY,
	  5,
	  "busy_percent",
	  "time on the engines; 100 is one engine all the time",
	  { "busy_ns_rcs", "busy_ns_bcs", "busy_ns_vcs", "busy_ns_vecs" } },
	{ SOURCE_COUNTERS,
	  8,
	  "table_write_traps_per_s",
	  "VM exits because of stores to page tables",
	  { "table_write_traps" } },
	{ SOURCE_COUNTERS, 7, "syncs_per_s", "synchronisation points", { "syncs" } },
	{ SOURCE_COUNTERS, 7, "relaxed", "table pages relaxed, now", { "relaxed_now" } },
	{ SOURCE_COUNTERS, 9, "protected", "pages write-protected, now", { "protected_now" } },
	{ SOURCE_COUNTERS,
	  8,
	  "pinned_pages",
	  "pages of guests pinned, now",
	  { "pinned_pages_now" } },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
_Static_assert(sizeof(names) / sizeof(names[0]) == COLUMNS + 1, "names[] and columns[]");

/* For a screen of 80 columns, and for a wider one. */
#define NARROW_COLUMNS "UUID,TYPE,STATE,POLICY,JOBS/s,BUSY%,EXITS/s,SYNCS/s,PINNED"
#define ALL_COLUMNS                                                                      \
	"UUID,TYPE,STATE,POLICY,RCS/s,BCS/s,VCS/s,VECS/s,BUSY%,EXITS/s,SYNCS/s,RELAXED," \
	"PROTECTED,PINNED"
#define WIDE_CHARS 150

struct top_options {
	struct ctl *ctl;
	double interval_s;
	long batch; /* rounds of plain text; 0: a terminal */
	const char *output, *sort;
};

/* What is shown, and in which order. */
struct view {
	size_t chosen[TABLE_COLUMNS_MAX], count;
	size_t sort; /* an index in columns[] */
	bool reverse, is_short, help;
};

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
	case 'o':
		options->output = argument;
		return 0;
	case 'S':
		options->sort = argument;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option top_argp_options[] = {
	{ "seconds", 's', "SECONDS", 0, "Interval between rounds (default 1)", 0 },
	{ "batch", 'b', "N", 0, "Print N rounds as plain text, for scripts", 0 },
	{ "output", 'o', "COLUMN,...", 0, "These columns; the help on the screen explains them",
	  0 },
	{ "sort", 'S', "[-]COLUMN", 0,
	  "Sort by this column, the largest number first; -: the other way (default UUID)", 0 },
	{}
};

static const struct argp top_argp = {
	.options = top_argp_options,
	.parser = parse_top,
	.doc = "Show the activity of all vGPUs live: submissions per second, time on the engines, "
	       "VM exits caused by page table writes, syncs, and the pages that are pinned now; "
	       "on a wide screen more. \"h\" shows the keys and columns, \"q\" quits.",
	.children = ctl_children,
};

/* Returns an exit status. */
static int make_view(const struct top_options *options, const char *defaults, struct view *view)
{
	const char *sort = options->sort ?: "UUID";
	size_t chosen[TABLE_COLUMNS_MAX], count;
	int status;

	*view = (struct view){ .reverse = *sort == '-' };
	status = choose_columns(names, options->output ?: defaults, view->chosen, &view->count);
	if (status)
		return status;
	status = choose_columns(names, sort + view->reverse, chosen, &count);
	if (!status && count != 1) {
		complain("--sort takes one column");
		status = STATUS_USAGE;
	}
	view->sort = status ? 0 : chosen[0];
	return status;
}

static int width_of(const struct view *view, size_t index)
{
	return view->is_short && columns[index].source == SOURCE_UUID ? SHORT_UUID_CHARS :
									columns[index].width;
}

static void put_cell(const struct view *view, size_t at, const char *text, FILE *out)
{
	size_t index = view->chosen[at];
	int width = width_of(view, index);

	if (names[index].right)
		fprintf(out, "%s%*s", at ? " " : "", width, text);
	else
		fprintf(out, "%s%-*.*s", at ? " " : "", width, width, text);
}

static void format_header(char *line, const struct view *view)
{
	FILE *out = fmemopen(line, LINE_BYTES, "w");
	size_t i;

	*line = '\0';
	for (i = 0; out && i < view->count; i++)
		put_cell(view, i, names[view->chosen[i]].name, out);
	if (out)
		fclose(out);
}

static double column_value(const struct column *column, const struct ghyvi_stats *now,
			   const struct ghyvi_stats *before)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < ENGINES && column->counters[i]; i++) {
		const char *counter = column->counters[i];

		sum += ghyvi_stat_is_now(counter) ? (double)ghyvi_stats_get(now, counter) :
						    rate(now, before, counter);
	}
	return column->source == SOURCE_BUSY ? sum / NS_PER_PERCENT : sum;
}

/* One vGPU in one round. */
struct line {
	const struct ghyvi_vgpu *vgpu;
	const struct ghyvi_stats *now, *before;
	const struct view *view;
};

/* @text has GHYVI_VALUE_BYTES. */
static const char *cell_text(const struct line *line, size_t index, char *text)
{
	const char *uuid = ghyvi_vgpu_uuid(line->vgpu), *dash;

	switch (columns[index].source) {
	case SOURCE_UUID:
		if (line->view->is_short)
			snprintf(text, UUID_BYTES, "%.4s..%s", uuid, uuid + GHYVI_UUID_CHARS - 6);
		return line->view->is_short ? text : uuid;
	case SOURCE_TYPE:
		dash = strchr(ghyvi_vgpu_type_name(line->vgpu), '-');
		return dash ? dash + 1 : "?";
	case SOURCE_STATE:
		return value_or_unknown(line->vgpu, "state", text);
	case SOURCE_POLICY:
		return policy_or_unknown(line->vgpu, text);
	case SOURCE_PARENT:
		return ghyvi_vgpu_parent(line->vgpu);
	default:
		snprintf(text, GHYVI_VALUE_BYTES, "%.0f",
			 column_value(&columns[index], line->now, line->before));
		return text;
	}
}

static void format_line(char *text, const struct line *line)
{
	FILE *out = fmemopen(text, LINE_BYTES, "w");
	char value[GHYVI_VALUE_BYTES];
	size_t i;

	*text = '\0';
	for (i = 0; out && i < line->view->count; i++)
		put_cell(line->view, i, cell_text(line, line->view->chosen[i], value), out);
	if (out)
		fclose(out);
}

static int compare_lines(const void *a, const void *b)
{
	char text[GHYVI_VALUE_BYTES], other[GHYVI_VALUE_BYTES];
	const struct line *one = a, *two = b;
	size_t sort = one->view->sort;
	double difference;
	int order;

	if (names[sort].right) {
		difference = column_value(&columns[sort], two->now, two->before) -
			     column_value(&columns[sort], one->now, one->before);
		order = (difference > 0) - (difference < 0);
	} else if (columns[sort].source == SOURCE_UUID) {
		order = 0;
	} else {
		order = strcmp(cell_text(one, sort, text), cell_text(two, sort, other));
	}
	if (!order)
		order = strcmp(ghyvi_vgpu_uuid(one->vgpu), ghyvi_vgpu_uuid(two->vgpu));
	return one->view->reverse ? -order : order;
}

/* The vGPUs of a round in the order of the view. The caller frees them. */
static struct line *sorted(const struct round *now, const struct round *before,
			   const struct view *view, size_t *count)
{
	struct line *lines = calloc(now->count + 1, sizeof(*lines));
	size_t i;

	if (!lines)
		abort();
	for (*count = 0, i = 0; i < now->count; i++) {
		const struct ghyvi_vgpu *vgpu = ghyvi_vgpus_at(now->vgpus, i);

		if (now->stats[i])
			lines[(*count)++] =
				(struct line){ vgpu, now->stats[i],
					       round_find(before, ghyvi_vgpu_uuid(vgpu)), view };
	}
	if (*count)
		qsort(lines, *count, sizeof(*lines), compare_lines);
	return lines;
}

static json_t *json_top(const struct line *line)
{
	json_t *json = json_vgpu(line->vgpu);
	size_t i;

	for (i = 0; i < COLUMNS; i++) {
		double value;

		if (!columns[i].key)
			continue;
		value = column_value(&columns[i], line->now, line->before);
		json_object_set_new(json, columns[i].key,
				    ghyvi_stat_is_now(columns[i].counters[0]) ?
					    json_integer((json_int_t)value) :
					    json_real(value));
	}
	return json;
}

/* Calls @each for each pGPU that tells its frequencies. */
static void each_frequency_now(struct ctl *ctl,
			       void (*each)(const struct frequencies *frequencies, void *data),
			       void *data)
{
	struct ghyvi_types *types;

	if (ghyvi_types_read(ctl->ghyvi, &types))
		return;
	each_frequency(ctl, types, each, data);
	ghyvi_types_free(types);
}

static void print_frequency(const struct frequencies *frequencies, void *out)
{
	fprintf(out, "# pGPU %s: %lu MHz (min %lu, max %lu)\n", frequencies->parent,
		frequencies->act_mhz, frequencies->min_mhz, frequencies->max_mhz);
}

static void json_frequency(const struct frequencies *frequencies, void *list)
{
	json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:I}", "parent",
					      json_text(frequencies->parent), "freq_act_mhz",
					      (json_int_t)frequencies->act_mhz, "freq_min_mhz",
					      (json_int_t)frequencies->min_mhz, "freq_max_mhz",
					      (json_int_t)frequencies->max_mhz));
}

/* Beside those drawn before: the cursor is where they end. */
static void draw_frequency(const struct frequencies *frequencies, void *window)
{
	wprintw(window, "%s: %lu MHz (min %lu, max %lu)  ", frequencies->parent,
		frequencies->act_mhz, frequencies->min_mhz, frequencies->max_mhz);
}

static int print_round(const struct top_options *options, const struct view *view,
		       const struct round *now, const struct round *before)
{
	json_t *list = json_array(), *pgpus = json_array();
	struct line *lines;
	char text[LINE_BYTES];
	size_t i, count;

	if (options->ctl->json)
		each_frequency_now(options->ctl, json_frequency, pgpus);
	else
		each_frequency_now(options->ctl, print_frequency, stdout);
	lines = sorted(now, before, view, &count);
	format_header(text, view);
	if (!options->ctl->json)
		printf("%s\n", text);
	for (i = 0; i < count; i++) {
		if (options->ctl->json) {
			json_array_append_new(list, json_top(&lines[i]));
			continue;
		}
		format_line(text, &lines[i]);
		printf("%s\n", text);
	}
	free(lines);
	if (options->ctl->json)
		return json_print(json_pack("{s:f, s:o, s:o}", "interval_s", options->interval_s,
					    "vgpus", list, "pgpus", pgpus),
				  JSON_COMPACT);
	json_decref(list);
	json_decref(pgpus);
	return flush_output();
}

static void draw_help(void)
{
	size_t i;
	int row = 0;

	mvaddnstr(row++, 0,
		  "q: quit   < >: sort by the column before, after   r: reverse   h: back", COLS);
	for (i = 0; i < COLUMNS && row < LINES; i++)
		mvprintw(++row, 0, "%-10s %s", names[i].name, columns[i].help);
}

static void draw_round(struct ctl *ctl, const struct round *now, const struct round *before,
		       const struct view *view)
{
	char text[LINE_BYTES], clock[32];
	time_t seconds = time(NULL);
	struct line *lines;
	struct tm parts;
	size_t i, count;

	erase();
	if (view->help) {
		draw_help();
		refresh();
		return;
	}
	lines = sorted(now, before, view, &count);
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&seconds, &parts));
	mvprintw(0, 0, "ghyvi %s  %zu vGPUs  by %s%s  h: help  q: quit", clock, now->count,
		 view->reverse ? "-" : "", names[view->sort].name);
	move(FREQUENCY_ROW, 0);
	each_frequency_now(ctl, draw_frequency, stdscr);
	format_header(text, view);
	attron(A_REVERSE);
	mvaddnstr(FIRST_ROW - 1, 0, text, COLS);
	attroff(A_REVERSE);
	for (i = 0; i < count && FIRST_ROW + (int)i < LINES; i++) {
		format_line(text, &lines[i]);
		mvaddnstr(FIRST_ROW + i, 0, text, COLS);
	}
	free(lines);
	if (!now->count)
		mvaddnstr(FIRST_ROW, 0, "no vGPUs; ghyvictl create makes one", COLS);
	refresh();
}

/* Moves the sort column by @step among the columns shown. */
static void move_sort(struct view *view, int step)
{
	size_t at;

	for (at = 0; at < view->count && view->chosen[at] != view->sort; at++)
		;
	if (at == view->count)
		at = 0;
	else
		at = (at + view->count + step) % view->count;
	view->sort = view->chosen[at];
}

enum next { NEXT_ROUND, NEXT_REDRAW, NEXT_END };

/* Waits until the interval is over or an event requires a redraw. */
static enum next wait_on_screen(struct ghyvi_watch *watch, double interval_s, struct view *view)
{
	enum news news = wait_for_news(watch, STDIN_FILENO, seconds_now() + interval_s);
	int key = getch(), last = ERR;

	for (; key != ERR; key = getch()) {
		last = key;
		switch (key) {
		case 'q':
		case 'Q':
			return NEXT_END;
		case '<':
			move_sort(view, -1);
			break;
		case '>':
			move_sort(view, 1);
			break;
		case 'r':
			view->reverse = !view->reverse;
			break;
		case 'h':
		case '?':
			view->help = !view->help;
			break;
		}
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
	struct view view;
	enum next next;
	int ret = 0;

	ret = make_view(options, NARROW_COLUMNS, &view);
	if (ret)
		return ret;
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
	view.is_short = COLS < WIDE_CHARS && !options->output;
	if (!view.is_short && !options->output)
		choose_columns(names, ALL_COLUMNS, view.chosen, &view.count);
	/* Without netlink, created and removed vGPUs appear in the next round. */
	ghyvi_watch_open(&watch);
	do {
		ret = round_read(options->ctl, &now);
		if (ret)
			break;
		draw_round(options->ctl, &now, &before, &view);
		next = wait_on_screen(watch, options->interval_s, &view);
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
	struct view view;
	int ret, status;
	long i;

	status = make_view(options, ALL_COLUMNS, &view);
	if (status)
		return status;
	ret = round_read(options->ctl, &before);
	for (i = 0; !ret && !status && i < options->batch; i++) {
		sleep_seconds(options->interval_s);
		ret = round_read(options->ctl, &now);
		if (ret)
			break;
		if (i && !options->ctl->json)
			putchar('\n');
		status = print_round(options, &view, &now, &before);
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
