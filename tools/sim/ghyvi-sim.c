// SPDX-License-Identifier: GPL-2.0-only
/* Command line of the policy simulator: replays page table traffic, recorded or generated. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "generator.h"
#include "multicall.h"
#include "rhythms.h"
#include "simulate.h"

#define POLICIES_MAX 32
#define COST_MAX_NS 1000000000
/* A changed entry of 720p in the lab (Documentation/policies.md, multicall). */
#define ENTRY_NS_DEFAULT 640

enum {
	OPT_TRACE = 0x100,
	OPT_GMEDIA,
	OPT_RHYTHM,
	OPT_LIST_RHYTHMS,
	OPT_SEED,
	OPT_CASE,
	OPT_FRAMES,
	OPT_ENTRY_BYTES,
	OPT_POLICY,
	OPT_TRAP_NS,
	OPT_SCAN_NS,
	OPT_PROTECT_NS,
	OPT_ENTRY_NS,
	OPT_COSTS,
	OPT_EXPERIENCED,
	OPT_AFTER,
	OPT_STATIC_PAGES,
	OPT_STATIC_PROFILE,
	OPT_OOS_THRESHOLD,
	OPT_BATCH,
	OPT_JSON,
	OPT_WRITE_TRACE,
};

struct arguments {
	const char *trace, *gmedia, *write_trace, *policy, *costs, *after;
	const struct rhythm_family *rhythm;
	uint32_t seed;
	bool normal, json, profile_given, experienced;
	enum sim_profile profile;
	unsigned int frames, entry_bytes, entry_ns, batch;
	struct ghyvi_shadow_tuning tuning;
	struct trace_source *before; /* of --after */
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "Input, one of:", 1 },
	{ "trace", OPT_TRACE, "FILE", 0, "a recorded trace (Documentation/trace-format.md)", 1 },
	{ "gmedia", OPT_GMEDIA, "480p|720p|1080p", 0, "the generator with this resolution", 1 },
	{ "rhythm", OPT_RHYTHM, "NAME", 0, "a generated rhythm", 1 },
	{ "list-rhythms", OPT_LIST_RHYTHMS, 0, 0, "list the rhythms, and stop", 1 },
	{ 0, 0, 0, 0, "Generator:", 2 },
	{ "seed", OPT_SEED, "N", 0, "of the rhythm's random numbers, default 1", 2 },
	{ "case", OPT_CASE, "heavy|normal", 0, "default heavy", 2 },
	{ "frames", OPT_FRAMES, "N", 0, "default: about 627,000 stores; normal case 1000 frames",
	  2 },
	{ "entry-bytes", OPT_ENTRY_BYTES, "4|8", 0, "size of a table entry, default 4", 2 },
	{ "write-trace", OPT_WRITE_TRACE, "FILE", 0,
	  "write the generated trace, or that of --trace, in the newest version, and stop", 2 },
	{ 0, 0, 0, 0, "Policies:", 3 },
	{ "policy", OPT_POLICY, "NAME[,NAME...]|all", 0, "default all", 3 },
	{ "trap-ns", OPT_TRAP_NS, "NS", 0, "cost of a trapped store", 3 },
	{ "scan-ns", OPT_SCAN_NS, "NS", 0, "cost of comparing a page", 3 },
	{ "protect-ns", OPT_PROTECT_NS, "NS", 0, "cost of protecting a page", 3 },
	{ "entry-ns", OPT_ENTRY_NS, "NS", 0, "cost of translating an entry outside of a trap", 3 },
	{ "costs", OPT_COSTS, "T/S/P[,...]", 0,
	  "combinations of the three costs, each simulated; prints one line of JSON for each", 3 },
	{ "experienced", OPT_EXPERIENCED, 0, 0,
	  "replay twice, and count the second time: what policies cost that know the trace", 3 },
	{ "after", OPT_AFTER, "FILE", 0,
	  "replay this trace first, and do not count it: what policies cost that know another one",
	  3 },
	{ "static-pages", OPT_STATIC_PAGES, "N", 0, "relaxed pages of static", 3 },
	{ "static-profile", OPT_STATIC_PROFILE, "pages|band", 0,
	  "the hottest pages, or the hottest consecutive pages (default for --gmedia)", 3 },
	{ "oos-threshold", OPT_OOS_THRESHOLD, "N", 0, "trapped store at which oos relaxes", 3 },
	{ "batch", OPT_BATCH, "N", 0, "updates that one exit of multicall hands over, 1 to 512",
	  3 },
	{ 0, 0, 0, 0, "Output:", 4 },
	{ "json", OPT_JSON, 0, 0, "JSON instead of a table", 4 },
	{ 0 },
};

static unsigned int number(struct argp_state *state, const char *text, unsigned int min,
			   unsigned int max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < min || value > max)
		argp_error(state, "\"%s\" is not a number in %u..%u", text, min, max);
	return value;
}

static void complain_policy(struct argp_state *state, const char *text)
{
	char names[256] = "all " MULTICALL_NAME;
	size_t at = strlen(names);
	unsigned int i;

	for (i = 0; i < ghyvi_shadow_policy_count && at < sizeof(names); i++)
		if (!ghyvi_shadow_policies[i]->nested)
			at += snprintf(names + at, sizeof(names) - at, " %s",
				       ghyvi_shadow_policies[i]->name);
	argp_error(state, "\"%s\" is not one of: %s", text, names);
}

static void list_rhythms(const struct rhythm_family *family)
{
	for (; family->name; family++)
		printf("%s\t%s\t%s\n", family->name, family->judging ? "judging" : "tuning",
		       family->program);
}

/*
 * Reads one combination T/S/P of *@text, and sets *@text to the next one, or NULL after the last.
 * Returns false, without a change of *@text, if it is none.
 */
static bool next_costs(const char **text, struct ghyvi_shadow_tuning *tuning)
{
	unsigned int costs[3], used = 0;

	if (sscanf(*text, "%9u/%9u/%9u%n", &costs[0], &costs[1], &costs[2], &used) != 3 || !used ||
	    ((*text)[used] && (*text)[used] != ','))
		return false;
	tuning->trap_ns = costs[0];
	tuning->scan_ns = costs[1];
	tuning->protect_ns = costs[2];
	*text = (*text)[used] ? *text + used + 1 : NULL;
	return true;
}

/* Whether the list @names, separated by commas, contains @name. */
static bool listed(const char *names, const char *name)
{
	size_t length;

	if (!strcmp(names, "all"))
		return true;
	for (; *names; names += length + (names[length] == ',')) {
		length = strcspn(names, ",");
		if (length == strlen(name) && !strncmp(names, name, length))
			return true;
	}
	return false;
}

static void check_policies(struct argp_state *state, const char *names)
{
	char name[32];
	size_t length;

	if (!strcmp(names, "all"))
		return;
	do {
		length = strcspn(names, ",");
		snprintf(name, sizeof(name), "%.*s", (int)length, names);
		if (strcmp(name, MULTICALL_NAME) &&
		    (!ghyvi_shadow_policy_find(name) || ghyvi_shadow_policy_find(name)->nested))
			complain_policy(state, name);
		names += length;
	} while (*names++);
}

static error_t parse(int key, char *given, struct argp_state *state)
{
	const char *text = given;
	struct arguments *a = state->input;

	switch (key) {
	case OPT_TRACE:
		a->trace = text;
		return 0;
	case OPT_GMEDIA:
		if (!generator_default_frames(text, true))
			argp_error(state, "\"%s\" is not one of: 480p 720p 1080p", text);
		a->gmedia = text;
		return 0;
	case OPT_CASE:
		a->normal = !strcmp(text, "normal");
		if (!a->normal && strcmp(text, "heavy"))
			argp_error(state, "\"%s\" is not one of: heavy normal", text);
		return 0;
	case OPT_FRAMES:
		a->frames = number(state, text, 1, 10000000);
		return 0;
	case OPT_ENTRY_BYTES:
		a->entry_bytes = number(state, text, 4, 8);
		if (a->entry_bytes % 4)
			argp_error(state, "\"%s\" is not one of: 4 8", text);
		return 0;
	case OPT_WRITE_TRACE:
		a->write_trace = text;
		return 0;
	case OPT_RHYTHM:
		a->rhythm = rhythm_find(text);
		if (!a->rhythm)
			argp_error(state, "%s: no such rhythm", text);
		return 0;
	case OPT_LIST_RHYTHMS:
		list_rhythms(rhythm_tuning);
		list_rhythms(rhythm_judging);
		exit(0);
	case OPT_SEED:
		a->seed = number(state, text, 0, UINT_MAX);
		return 0;
	case OPT_COSTS:
		a->costs = text;
		while (text && next_costs(&text, &a->tuning))
			;
		if (text)
			argp_error(state, "%s: not costs in ns, T/S/P", text);
		return 0;
	case OPT_EXPERIENCED:
		a->experienced = true;
		return 0;
	case OPT_AFTER:
		a->after = text;
		return 0;
	case OPT_POLICY:
		check_policies(state, text);
		a->policy = text;
		return 0;
	case OPT_TRAP_NS:
		a->tuning.trap_ns = number(state, text, 0, COST_MAX_NS);
		return 0;
	case OPT_SCAN_NS:
		a->tuning.scan_ns = number(state, text, 0, COST_MAX_NS);
		return 0;
	case OPT_PROTECT_NS:
		a->tuning.protect_ns = number(state, text, 0, COST_MAX_NS);
		return 0;
	case OPT_ENTRY_NS:
		a->entry_ns = number(state, text, 0, COST_MAX_NS);
		return 0;
	case OPT_BATCH:
		a->batch = number(state, text, 1, MULTICALL_BATCH_MAX);
		return 0;
	case OPT_STATIC_PAGES:
		a->tuning.static_pages = number(state, text, 0, GHYVI_STATIC_PAGES_MAX);
		return 0;
	case OPT_STATIC_PROFILE:
		a->profile = !strcmp(text, "band") ? SIM_PROFILE_BAND : SIM_PROFILE_PAGES;
		if (a->profile == SIM_PROFILE_PAGES && strcmp(text, "pages"))
			argp_error(state, "\"%s\" is not one of: pages band", text);
		a->profile_given = true;
		return 0;
	case OPT_OOS_THRESHOLD:
		a->tuning.oos_threshold = number(state, text, 1, GHYVI_OOS_THRESHOLD_MAX);
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_END:
		if (!!a->trace + !!a->gmedia + !!a->rhythm != 1)
			argp_error(state, "give one of --trace, --gmedia and --rhythm");
		if (a->after && a->experienced)
			argp_error(state, "--after and --experienced exclude each other");
		if (!a->profile_given)
			a->profile = a->gmedia ? SIM_PROFILE_BAND : SIM_PROFILE_PAGES;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

/* Ratio of two costs. 0/0 is optimal, so the ratio is 1; x/0 has no value. */
static json_t *json_cost_ratio(uint64_t cost, uint64_t optimum)
{
	if (optimum)
		return json_real(ratio(cost, optimum));
	return cost ? json_null() : json_real(1);
}

static json_t *policy_json(const struct arguments *a, const struct sim_result *r,
			   const struct sim_policy_counts *c)
{
	uint64_t exits = c->traps + c->faults;

	return json_pack(
		"{s:I,s:f,s:I,s:f,s:I,s:I,s:I,s:f,s:I,s:I,s:I,s:f,s:I,s:I,s:I,s:o,s:o,s:o}",
		"traps", (json_int_t)c->traps, "traps_per_write", ratio(c->traps, r->trace.stores),
		"exits", (json_int_t)exits, "exits_per_write", ratio(exits, r->trace.stores),
		"entries_ns", (json_int_t)(c->entries_found * a->entry_ns), "table_writes",
		(json_int_t)r->trace.stores, "pages_scanned", (json_int_t)c->pages_scanned,
		"pages_scanned_per_submission", ratio(c->pages_scanned, r->trace.submissions),
		"entries_compared", (json_int_t)c->entries_compared, "entries_changed",
		(json_int_t)r->trace.entries_changed, "entries_found", (json_int_t)c->entries_found,
		"compared_per_changed", ratio(c->entries_compared, r->trace.entries_changed),
		"protects", (json_int_t)c->protects, "submissions",
		(json_int_t)r->trace.submissions, "cost_ns", (json_int_t)c->cost_ns, "ratio",
		json_cost_ratio(c->cost_ns, r->optimum_ns), "ratio_trap",
		json_cost_ratio(c->cost_ns, r->optimum_trap_ns), "ratio_started",
		json_cost_ratio(c->cost_ns, r->optimum_started_ns));
}

/* There is no ratio to an optimum: the optima are those of pages that are strict or relaxed. */
static json_t *multicall_json(const struct arguments *a, const struct sim_result *r,
			      const struct multicall *m)
{
	return json_pack("{s:I,s:f,s:I,s:I,s:I,s:I,s:I}", "exits", (json_int_t)m->exits,
			 "exits_per_write", ratio(m->exits, r->trace.stores), "entries",
			 (json_int_t)m->entries, "entries_ns",
			 (json_int_t)(m->entries * a->entry_ns), "cost_ns",
			 (json_int_t)(m->exits * a->tuning.trap_ns), "table_writes",
			 (json_int_t)r->trace.stores, "submissions",
			 (json_int_t)r->trace.submissions);
}

static int print_json(const struct arguments *a, const struct trace_source *source,
		      const struct ghyvi_shadow_policy *const *policies, unsigned int count,
		      const struct sim_result *r, const struct multicall *m)
{
	json_t *list = json_object(), *top;
	unsigned int i;
	int err;

	for (i = 0; i < count; i++)
		json_object_set_new(list, policies[i]->name, policy_json(a, r, &r->policies[i]));
	if (m->batch)
		json_object_set_new(list, MULTICALL_NAME, multicall_json(a, r, m));
	top = json_pack("{s:{s:s?,s:s?,s:s?,s:s?,s:i,s:i,s:i,s:I,s:I,s:I,s:I,s:I,s:I},"
			"s:{s:i,s:i,s:i,s:i,s:i,s:i,s:i},s:{s:I,s:I,s:I},s:{s:o,s:b,s:I,s:o},s:o}",
			"trace", "file", a->trace, "gmedia", a->gmedia, "case",
			!a->gmedia ? NULL :
			a->normal  ? "normal" :
				     "heavy",
			"rhythm", a->rhythm ? a->rhythm->name : NULL, "seed", (int)a->seed,
			"entry_bytes", (int)source->entry_bytes, "table_pages",
			(int)source->table_pages, "table_writes", (json_int_t)r->trace.stores,
			"submissions", (json_int_t)r->trace.submissions, "page_submission_pairs",
			(json_int_t)r->trace.pairs, "entries_changed",
			(json_int_t)r->trace.entries_changed, "pages_written",
			(json_int_t)r->trace.pages_written, "most_written",
			(json_int_t)r->trace.most_written, "tuning", "trap_ns",
			(int)a->tuning.trap_ns, "scan_ns", (int)a->tuning.scan_ns, "protect_ns",
			(int)a->tuning.protect_ns, "static_pages", (int)a->tuning.static_pages,
			"oos_threshold", (int)a->tuning.oos_threshold, "entry_ns", (int)a->entry_ns,
			"batch", (int)a->batch, "optimum", "cost_ns", (json_int_t)r->optimum_ns,
			"cost_trap_ns", (json_int_t)r->optimum_trap_ns, "cost_started_ns",
			(json_int_t)r->optimum_started_ns, "limit", "scans",
			r->limit.scans == UINT64_MAX ? json_null() :
						       json_integer((json_int_t)r->limit.scans),
			"relaxed", r->limit.relaxed, "cost_ns", (json_int_t)r->limit.cost_ns,
			"ratio_started", json_cost_ratio(r->limit.cost_ns, r->optimum_started_ns),
			"policies", list);
	if (!top) {
		json_decref(list);
		return -1;
	}
	err = json_dumpf(top, stdout,
			 (a->costs ? JSON_COMPACT : JSON_INDENT(2)) | JSON_REAL_PRECISION(8));
	json_decref(top);
	putchar('\n');
	return err;
}

static int print_table(const struct arguments *a, const struct ghyvi_shadow_policy *const *policies,
		       unsigned int count, const struct sim_result *r, const struct multicall *m)
{
	const struct sim_policy_counts *c;
	unsigned int i;

	printf("%" PRIu64 " stores to %" PRIu64 " table pages (at most %" PRIu64
	       " to one), %" PRIu64 " submissions, %" PRIu64
	       " pairs of page and submission, %" PRIu64 " entries changed\n",
	       r->trace.stores, r->trace.pages_written, r->trace.most_written, r->trace.submissions,
	       r->trace.pairs, r->trace.entries_changed);
	printf("trap %u ns, scan %u ns, protect %u ns; entry %u ns; static %u pages, oos at store %u, "
	       "multicall of %u\n\n",
	       a->tuning.trap_ns, a->tuning.scan_ns, a->tuning.protect_ns, a->entry_ns,
	       a->tuning.static_pages, a->tuning.oos_threshold, a->batch);
	printf("%-10s %9s %8s %9s %9s %11s %8s %9s %12s %8s %8s %12s\n", "policy", "traps",
	       "exits/U", "scanned", "per subm.", "compared", "/changed", "protects", "cost us",
	       "/optimum", "/trapopt", "entries us");
	for (i = 0; i < count; i++) {
		c = &r->policies[i];
		printf("%-10s %9" PRIu64 " %8.5f %9" PRIu64 " %9.2f %11" PRIu64 " %8.2f %9" PRIu64
		       " %12.1f %8.2f %8.2f %12.1f\n",
		       policies[i]->name, c->traps, ratio(c->traps + c->faults, r->trace.stores),
		       c->pages_scanned, ratio(c->pages_scanned, r->trace.submissions),
		       c->entries_compared, ratio(c->entries_compared, r->trace.entries_changed),
		       c->protects, c->cost_ns / 1e3, ratio(c->cost_ns, r->optimum_ns),
		       ratio(c->cost_ns, r->optimum_trap_ns), c->entries_found * a->entry_ns / 1e3);
	}
	if (m->batch)
		printf("%-10s %9s %8.5f %9s %9s %11s %8s %9s %12.1f %8s %8s %12.1f\n",
		       MULTICALL_NAME, "-", ratio(m->exits, r->trace.stores), "-", "-", "-", "-",
		       "-", m->exits * a->tuning.trap_ns / 1e3, "-", "-",
		       m->entries * a->entry_ns / 1e3);
	printf("%-10s %*.1f   with foresight\n", "optimum", 80, r->optimum_ns / 1e3);
	printf("%-10s %*.1f   relaxing at traps only, as policies do\n", "trapopt", 80,
	       r->optimum_trap_ns / 1e3);
	return 0;
}

static const char *source_name(const struct arguments *a)
{
	return a->trace ? a->trace : a->gmedia ? a->gmedia : a->rhythm->name;
}

static int replay(const struct arguments *a, struct trace_source *source,
		  const struct ghyvi_shadow_policy *const *policies, unsigned int count,
		  struct sim_result *result, struct multicall *multicall)
{
	if (listed(a->policy, MULTICALL_NAME)) {
		multicall->batch = a->batch;
		if (multicall_replay(multicall, source) || source->rewind(source))
			return -1;
	}
	if (a->before)
		return simulate_experienced(source, a->before, policies, count, &a->tuning,
					    a->profile, result);
	return simulate(source, policies, count, &a->tuning, a->profile, result);
}

static int run_once(const struct arguments *a, struct trace_source *source)
{
	struct multicall multicall = { 0 };
	const struct ghyvi_shadow_policy *policies[POLICIES_MAX];
	unsigned int count = 0, i;
	struct sim_result result;
	int err;

	for (i = 0; i < ghyvi_shadow_policy_count && count < POLICIES_MAX; i++)
		if (!ghyvi_shadow_policies[i]->nested && /* has no shadow tables, so no costs */
		    listed(a->policy, ghyvi_shadow_policies[i]->name))
			policies[count++] = ghyvi_shadow_policies[i];
	if (replay(a, source, policies, count, &result, &multicall)) {
		bool after = a->after && *a->before->message;

		fprintf(stderr, "ghyvi-sim: %s: %s\n", after ? a->after : source_name(a),
			after ? a->before->message : source->message);
		return 1;
	}
	err = a->json ? print_json(a, source, policies, count, &result, &multicall) :
			print_table(a, policies, count, &result, &multicall);
	sim_result_free(&result);
	return !!err;
}

static int run(const struct arguments *a, struct trace_source *source)
{
	struct arguments one = *a;
	const char *costs = a->costs;
	int err = 0;

	if (a->experienced)
		one.before = source;
	if (!costs)
		return run_once(&one, source);
	one.json = true;
	while (!err && costs) {
		next_costs(&costs, &one.tuning);
		err = run_once(&one, source);
		if (!err && costs && source->rewind(source)) {
			fprintf(stderr, "ghyvi-sim: %s: %s\n", source_name(a), source->message);
			err = 1;
		}
	}
	return err;
}

static int write_trace(struct trace_source *source, const char *name, const char *path)
{
	struct trace_writer writer;
	struct trace_record record;
	FILE *file = fopen(path, "wb");
	int err, got = 0;

	if (!file) {
		fprintf(stderr, "ghyvi-sim: %s: %m\n", path);
		return 1;
	}
	err = trace_write_open(&writer, file, source->entry_bytes, source->table_pages);
	while (!err && (got = source->next(source, &record)) > 0)
		err = trace_write(&writer, &record);
	/*
	 * Write no end record for a damaged trace, so that the copy is not taken for a valid trace.
	 */
	if (!err && !got)
		err = trace_write_end(&writer);
	if (fclose(file))
		err = -1;
	if (err)
		fprintf(stderr, "ghyvi-sim: %s: cannot write: %m\n", path);
	else if (got)
		fprintf(stderr, "ghyvi-sim: %s: %s\n", name, source->message);
	return err || got;
}

/* Returns the file, to be closed after the last use of @reader, or NULL after a message. */
static FILE *open_trace(struct trace_reader *reader, const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file) {
		fprintf(stderr, "ghyvi-sim: %s: %m\n", path);
		return NULL;
	}
	if (trace_read_open(reader, file)) {
		fprintf(stderr, "ghyvi-sim: %s: %s\n", path, reader->source.message);
		fclose(file);
		return NULL;
	}
	if (reader->version == 1)
		fprintf(stderr,
			"ghyvi-sim: %s: note: a trace of version 1 has no checksum; --write-trace adds one\n",
			path);
	return file;
}

static int run_trace(const struct arguments *a)
{
	struct trace_reader reader;
	FILE *file = open_trace(&reader, a->trace);
	int err;

	if (!file)
		return 1;
	err = a->write_trace ? write_trace(&reader.source, a->trace, a->write_trace) :
			       run(a, &reader.source);
	fclose(file);
	return err;
}

static int run_gmedia(const struct arguments *a)
{
	struct generator generator;
	unsigned int frames = a->frames ? a->frames :
					  generator_default_frames(a->gmedia, !a->normal);
	int err;

	if (generator_init(&generator, a->gmedia, !a->normal, frames, a->entry_bytes)) {
		fprintf(stderr, "ghyvi-sim: out of memory\n");
		return 1;
	}
	err = a->write_trace ? write_trace(&generator.source, a->gmedia, a->write_trace) :
			       run(a, &generator.source);
	generator_free(&generator);
	return err;
}

static int run_rhythm(const struct arguments *a)
{
	struct rhythm rhythm;
	int err;

	if (rhythm_init(&rhythm, a->rhythm, a->seed)) {
		fprintf(stderr, "ghyvi-sim: out of memory\n");
		return 1;
	}
	err = a->write_trace ? write_trace(&rhythm.source, a->rhythm->name, a->write_trace) :
			       run(a, &rhythm.source);
	rhythm_free(&rhythm);
	return err;
}

static int run_source(const struct arguments *a)
{
	if (a->rhythm)
		return run_rhythm(a);
	return a->trace ? run_trace(a) : run_gmedia(a);
}

static int run_after(struct arguments *a)
{
	struct trace_reader reader;
	FILE *file = open_trace(&reader, a->after);
	int err;

	if (!file)
		return 1;
	a->before = &reader.source;
	err = run_source(a);
	fclose(file);
	return err;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "Replay a guest's stores to its table pages under each shadowing policy. "
		       "Prints traps, scans, protections, their cost, and the ratio to the offline "
		       "optimum.",
	};
	struct arguments a = {
		.policy = "all",
		.entry_bytes = 4,
		.entry_ns = ENTRY_NS_DEFAULT,
		.batch = MULTICALL_BATCH_DEFAULT,
		.seed = 1,
		.tuning = GHYVI_SHADOW_TUNING_DEFAULT,
	};

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	return a.after ? run_after(&a) : run_source(&a);
}
