// SPDX-License-Identifier: GPL-2.0-only
/* The simulator: the paper's counts, the optimum against brute force, trace files good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ghyvi_shim.h>
#include <cmocka.h>

#include "../../tools/sim/generator.h"
#include "../../tools/sim/optimum.h"
#include "../../tools/sim/simulate.h"

#define RECORDS 64

static const struct ghyvi_shadow_tuning default_tuning = GHYVI_SHADOW_TUNING_DEFAULT;

static u32 seed;

static u32 any(u32 below)
{
	seed = seed * 1664525u + 1013904223u;
	return (u32)(((u64)seed * below) >> 32);
}

static unsigned int place(const char *name)
{
	unsigned int i;

	for (i = 0; strcmp(ghyvi_shadow_policies[i]->name, name); i++)
		;
	return i;
}

/* All policies over the generator; @counts in the order of ghyvi_shadow_policies. */
static void run_gmedia(const char *resolution, bool heavy, unsigned int entry_bytes,
		       const struct ghyvi_shadow_tuning *tuning, struct sim_result *result)
{
	struct generator g;

	assert_int_equal(generator_init(&g, resolution, heavy,
					generator_default_frames(resolution, heavy), entry_bytes), 0);
	assert_int_equal(simulate(&g.source, ghyvi_shadow_policies, ghyvi_shadow_policy_count, tuning,
				  SIM_PROFILE_BAND, result), 0);
	generator_free(&g);
}

/* Tables print so many digits: @value times @scale, rounded. */
static void assert_rounds(double value, double scale, u64 expected)
{
	assert_int_equal((u64)(value * scale + 0.5), expected);
}

static double per_store(const struct sim_result *r, const char *policy)
{
	return (double)r->policies[place(policy)].traps / (double)r->trace.stores;
}

static double compared_per_changed(const struct sim_result *r, const char *policy)
{
	return (double)r->policies[place(policy)].entries_compared / (double)r->trace.entries_changed;
}

static double scanned(const struct sim_result *r, const char *policy)
{
	return (double)r->policies[place(policy)].pages_scanned / (double)r->trace.submissions;
}

static void counts_equal_the_table_720p(void **state)
{
	struct sim_result r;

	run_gmedia("720p", true, 4, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 627328);
	assert_int_equal(r.trace.entries_changed, 627328);
	assert_int_equal(r.trace.pairs, 2464);
	assert_int_equal(r.trace.submissions, 928);
	assert_int_equal(r.trace.most_written, 7516);
	assert_int_equal(r.trace.pages_written, 163);
	assert_int_equal(r.policies[place("strict")].traps, 627328);
	assert_int_equal(r.policies[place("strict")].pages_scanned, 0);
	assert_int_equal(r.policies[place("full")].traps, 0);
	assert_int_equal(r.policies[place("full")].pages_scanned, 512 * 928);
	assert_int_equal(r.policies[place("segmented")].traps, 2464);
	assert_int_equal(r.policies[place("segmented")].pages_scanned, 2464);
	assert_int_equal(r.policies[place("oos")].traps, 2 * 2464);
	assert_int_equal(r.policies[place("dynamic")].traps, 163);
	assert_rounds(per_store(&r, "dynamic"), 1e5, 26);
	assert_rounds(per_store(&r, "segmented"), 1e5, 393);
	assert_rounds(per_store(&r, "oos"), 1e5, 786);
	assert_rounds(scanned(&r, "dynamic"), 1, 103);
	assert_rounds(scanned(&r, "segmented"), 1e2, 266);
	assert_rounds(scanned(&r, "oos"), 1e2, 266);
	assert_rounds(compared_per_changed(&r, "full"), 1, 776);
	assert_rounds(compared_per_changed(&r, "dynamic"), 1, 157);
	assert_rounds(compared_per_changed(&r, "segmented"), 1e2, 402);
	assert_rounds(compared_per_changed(&r, "oos"), 1e2, 402);
	sim_result_free(&r);
}

static void counts_equal_the_table_static(void **state)
{
	static const struct {
		u32 pages, traps, compared;
	} expected[] = { { 50, 4917, 76 }, { 100, 1633, 151 }, { 200, 0, 303 }, { 300, 0, 454 } };
	struct ghyvi_shadow_tuning tuning = default_tuning;
	struct sim_result r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		tuning.static_pages = expected[i].pages;
		run_gmedia("720p", true, 4, &tuning, &r);
		assert_rounds(per_store(&r, "static"), 1e4, expected[i].traps);
		assert_int_equal(r.policies[place("static")].pages_scanned, expected[i].pages * 928);
		assert_rounds(compared_per_changed(&r, "static"), 1, expected[i].compared);
		sim_result_free(&r);
	}
}

static void counts_equal_the_table_thresholds(void **state)
{
	struct ghyvi_shadow_tuning tuning = default_tuning;
	struct sim_result r;

	tuning.oos_threshold = 8;
	run_gmedia("720p", true, 4, &tuning, &r);
	assert_rounds(per_store(&r, "oos"), 1e4, 313);
	assert_rounds(scanned(&r, "oos"), 1e2, 263);
	assert_rounds(compared_per_changed(&r, "oos"), 1e2, 398);
	sim_result_free(&r);
	tuning.oos_threshold = 64;
	run_gmedia("720p", true, 4, &tuning, &r);
	assert_rounds(per_store(&r, "oos"), 1e3, 240);
	assert_rounds(scanned(&r, "oos"), 1e2, 242);
	assert_rounds(compared_per_changed(&r, "oos"), 1e2, 366);
	sim_result_free(&r);
}

static void counts_equal_the_table_other_sizes(void **state)
{
	struct sim_result r;

	run_gmedia("720p", true, 8, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 627328);
	assert_int_equal(r.trace.pairs, 3067);
	assert_rounds(per_store(&r, "segmented"), 1e5, 489);
	assert_rounds(compared_per_changed(&r, "segmented"), 1e2, 250);
	assert_rounds(compared_per_changed(&r, "full"), 1, 776);
	sim_result_free(&r);
	run_gmedia("1080p", true, 4, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 630360);
	assert_int_equal(r.trace.pairs, 1434);
	assert_rounds(per_store(&r, "segmented"), 1e5, 227);
	assert_rounds(compared_per_changed(&r, "segmented"), 1e2, 233);
	assert_rounds(compared_per_changed(&r, "full"), 1, 343);
	sim_result_free(&r);
}

static void normal_case_has_two_stores_per_frame(void **state)
{
	struct sim_result r;

	run_gmedia("720p", false, 4, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 2000);
	assert_int_equal(r.trace.submissions, 4000);
	assert_int_equal(r.trace.pairs, 1000);
	assert_int_equal(r.policies[place("strict")].traps, 2000);
	assert_int_equal(r.policies[place("segmented")].traps, 1000);
	assert_int_equal(r.policies[place("oos")].traps, 2000);
	sim_result_free(&r);
}

/* Corners and middle of the grid that tools/sim/sweep covers. */
static void adaptive_is_as_good_as_segmented_on_generated_traces(void **state)
{
	static const u32 costs[][3] = { { 5000, 100, 40000 }, { 5000, 3000, 6000 }, { 15000, 300, 6000 },
					{ 15000, 10000, 20000 }, { 40000, 1000, 20000 }, { 50000, 100, 1000 } };
	static const char *const resolutions[] = { "480p", "720p", "1080p" };
	const struct ghyvi_shadow_policy *two[] = { ghyvi_shadow_policy_find("adaptive"),
						    ghyvi_shadow_policy_find("segmented") };
	struct ghyvi_shadow_tuning tuning = default_tuning;
	struct generator g;
	struct sim_result r;
	unsigned int i, c;
	bool heavy;

	for (i = 0; i < 8; i++) {
		heavy = i < 6;
		assert_int_equal(generator_init(&g, resolutions[i % 3], heavy,
						generator_default_frames(resolutions[i % 3], heavy),
						heavy ? 4 + 4 * (i / 3) : 4 + 4 * (i % 2)), 0);
		for (c = 0; c < ARRAY_SIZE(costs); c++) {
			tuning.trap_ns = costs[c][0];
			tuning.scan_ns = costs[c][1];
			tuning.protect_ns = costs[c][2];
			g.source.rewind(&g.source);
			assert_int_equal(simulate(&g.source, two, 2, &tuning, SIM_PROFILE_BAND, &r), 0);
			assert_true(r.policies[0].cost_ns * 1000 <= r.policies[1].cost_ns * 1001);
			if (tuning.trap_ns >= tuning.scan_ns + tuning.protect_ns)
				assert_true(r.policies[0].traps <= r.policies[1].traps);
			if (tuning.trap_ns == default_tuning.trap_ns)
				assert_true(r.policies[0].cost_ns * 10 <= r.optimum_trap_ns * 13);
			sim_result_free(&r);
		}
		generator_free(&g);
	}
}

/* A trace held in memory. */
struct listed {
	struct trace_source source;
	struct trace_record records[RECORDS];
	unsigned int count, at;
};

static int listed_next(struct trace_source *source, struct trace_record *record)
{
	struct listed *l = (struct listed *)source;

	if (l->at == l->count)
		return 0;
	*record = l->records[l->at++];
	return 1;
}

static int listed_rewind(struct trace_source *source)
{
	((struct listed *)source)->at = 0;
	return 0;
}

static void listed_init(struct listed *l, u32 table_pages)
{
	memset(l, 0, sizeof(*l));
	l->source.next = listed_next;
	l->source.rewind = listed_rewind;
	l->source.entry_bytes = 8;
	l->source.table_pages = table_pages;
}

static void listed_run(struct listed *l, const struct ghyvi_shadow_tuning *tuning, struct sim_result *r)
{
	l->at = 0;
	assert_int_equal(simulate(&l->source, ghyvi_shadow_policies, ghyvi_shadow_policy_count, tuning,
				  SIM_PROFILE_PAGES, r), 0);
}

static struct trace_record stores(u64 page, u32 entry, u32 count)
{
	return (struct trace_record){ .type = TRACE_STORES, .page = page, .entry = entry, .count = count };
}

static struct trace_record submission(u64 root)
{
	return (struct trace_record){ .type = TRACE_SUBMISSION, .root = root };
}

static void random_trace(struct listed *l, unsigned int count, u32 pages)
{
	unsigned int i;

	listed_init(l, 0);
	l->count = count;
	for (i = 0; i < count; i++) {
		switch (any(5)) {
		case 0:
		case 1:
			l->records[i] = submission(0);
			break;
		case 2:
			l->records[i] = stores(any(pages), any(500), 1 + any(3));
			l->records[i].type = any(2) ? TRACE_STORES : TRACE_WIDE_STORE;
			break;
		default:
			l->records[i] = stores(any(pages), any(500), 1);
			break;
		}
	}
}

/* Every course of one page from record @at on, cheapest first choice last; nothing shared with the optimum. */
static u64 cheapest(const struct listed *l, const struct ghyvi_shadow_tuning *t, bool foresight, bool relaxed,
		    unsigned int at, u32 store)
{
	const struct trace_record *record = &l->records[at];
	u64 cost, other;

	if (at == l->count)
		return 0;
	if (record->type == TRACE_SUBMISSION) {
		if (!relaxed) {
			cost = cheapest(l, t, foresight, false, at + 1, 0);
			other = foresight ? cheapest(l, t, foresight, true, at + 1, 0) : cost;
			return min(cost, other);
		}
		cost = cheapest(l, t, foresight, true, at + 1, 0);
		other = cheapest(l, t, foresight, false, at + 1, 0) + t->protect_ns;
		return min(cost, other) + t->scan_ns;
	}
	if (relaxed)
		return cheapest(l, t, foresight, true, at + 1, 0);
	cost = cheapest(l, t, foresight, true, at + 1, 0);
	if (record->type == TRACE_STORES && store + 1 < record->count)
		other = cheapest(l, t, foresight, false, at, store + 1);
	else
		other = cheapest(l, t, foresight, false, at + 1, 0);
	return min(cost, other) + t->trap_ns;
}

static struct ghyvi_shadow_tuning random_tuning(void)
{
	struct ghyvi_shadow_tuning tuning = default_tuning;

	tuning.trap_ns = any(30);
	tuning.scan_ns = any(10);
	tuning.protect_ns = any(30);
	tuning.static_pages = any(4);
	tuning.oos_threshold = 1 + any(4);
	return tuning;
}

static void optimum_equals_brute_force(void **state)
{
	struct ghyvi_shadow_tuning tuning;
	struct sim_result r;
	struct listed l;
	unsigned int i;

	seed = 1;
	for (i = 0; i < 400; i++) {
		random_trace(&l, 1 + any(12), 1);
		tuning = random_tuning();
		listed_run(&l, &tuning, &r);
		assert_int_equal(r.optimum_ns, min(cheapest(&l, &tuning, true, false, 0, 0),
						   cheapest(&l, &tuning, true, true, 0, 0)));
		assert_int_equal(r.optimum_trap_ns, min(cheapest(&l, &tuning, false, false, 0, 0),
							cheapest(&l, &tuning, false, true, 0, 0)));
		sim_result_free(&r);
	}
}

static void no_policy_beats_the_optimum(void **state)
{
	struct ghyvi_shadow_tuning tuning;
	struct sim_result r;
	struct listed l;
	unsigned int i, p;

	seed = 2;
	for (i = 0; i < 400; i++) {
		random_trace(&l, RECORDS, 4);
		tuning = random_tuning();
		listed_run(&l, &tuning, &r);
		assert_true(r.optimum_ns <= r.optimum_trap_ns);
		for (p = 0; p < ghyvi_shadow_policy_count; p++) {
			assert_true(r.optimum_ns <= r.policies[p].cost_ns);
			/* Who relaxes neighbours does not only relax at traps. */
			if (!ghyvi_shadow_policies[p]->ahead)
				assert_true(r.optimum_trap_ns <= r.policies[p].cost_ns);
		}
		sim_result_free(&r);
	}
}

static void a_submission_scans_only_what_its_root_reaches(void **state)
{
	struct sim_result r;
	struct listed l;

	listed_init(&l, 0);
	l.records[0] = (struct trace_record){ .type = TRACE_PAGE_ROOT, .page = 7, .root = 1 };
	l.records[1] = stores(7, 0, 10);
	l.records[2] = submission(2);
	l.records[3] = submission(1);
	l.records[4] = submission(2);
	l.count = 5;
	listed_run(&l, &default_tuning, &r);
	assert_int_equal(r.policies[place("full")].pages_scanned, 1);
	assert_int_equal(r.policies[place("segmented")].pages_scanned, 1);
	assert_int_equal(r.policies[place("dynamic")].pages_scanned, 1);
	sim_result_free(&r);
}

static void a_freed_page_is_not_scanned_and_starts_over(void **state)
{
	struct sim_result r;
	struct listed l;

	listed_init(&l, 0);
	l.records[0] = stores(7, 0, 10);
	l.records[1] = submission(0);
	l.records[2] = (struct trace_record){ .type = TRACE_PAGE_FREED, .page = 7 };
	l.records[3] = submission(0);
	l.records[4] = stores(7, 0, 10);
	l.records[5] = submission(0);
	l.count = 6;
	listed_run(&l, &default_tuning, &r);
	assert_int_equal(r.policies[place("full")].pages_scanned, 2);
	assert_int_equal(r.policies[place("dynamic")].pages_scanned, 2);
	assert_int_equal(r.policies[place("dynamic")].traps, 2);
	sim_result_free(&r);
}

static void one_wide_store_is_one_trap(void **state)
{
	struct sim_result r;
	struct listed l;

	listed_init(&l, 0);
	l.records[0] = stores(7, 0, 4);
	l.records[0].type = TRACE_WIDE_STORE;
	l.records[1] = submission(0);
	l.count = 2;
	listed_run(&l, &default_tuning, &r);
	assert_int_equal(r.trace.stores, 1);
	assert_int_equal(r.trace.entries_changed, 4);
	assert_int_equal(r.policies[place("strict")].traps, 1);
	assert_int_equal(r.policies[place("full")].entries_found, 4);
	sim_result_free(&r);
}

/* Trace files */

static size_t write_listed(const struct listed *l, char **bytes)
{
	struct trace_writer writer;
	unsigned int i;
	size_t size;
	FILE *file = open_memstream(bytes, &size);

	assert_int_equal(trace_write_open(&writer, file, l->source.entry_bytes, l->source.table_pages), 0);
	for (i = 0; i < l->count; i++)
		assert_int_equal(trace_write(&writer, &l->records[i]), 0);
	assert_int_equal(trace_write_end(&writer), 0);
	fclose(file);
	return size;
}

/* Reads all; 0, or -1 with the message in reader->source.message. */
static int read_all(struct trace_reader *reader, void *bytes, size_t size, struct trace_record *records)
{
	struct trace_record record;
	FILE *file = fmemopen(bytes, size, "rb");
	int got;

	if (trace_read_open(reader, file)) {
		fclose(file);
		return -1;
	}
	while ((got = trace_read_next(reader, &record)) > 0)
		if (records)
			*records++ = record;
	fclose(file);
	return got;
}

static void random_file(struct listed *l)
{
	random_trace(l, RECORDS, 5);
	l->records[3] = stores(TRACE_PAGE_MAX, 511, 1);
	l->records[4] = submission(TRACE_ROOT_MAX);
	l->records[5] = (struct trace_record){ .type = TRACE_PAGE_FREED, .page = 300 };
	l->records[6] = (struct trace_record){ .type = TRACE_PAGE_ROOT, .page = 2, .root = 200 };
	l->source.table_pages = 512;
}

static void a_trace_survives_the_file(void **state)
{
	struct trace_record records[RECORDS];
	struct trace_reader reader;
	struct listed l;
	char *bytes;
	size_t size;

	seed = 3;
	random_file(&l);
	size = write_listed(&l, &bytes);
	assert_int_equal(read_all(&reader, bytes, size, records), 0);
	assert_int_equal(reader.source.entry_bytes, 8);
	assert_int_equal(reader.source.table_pages, 512);
	assert_memory_equal(records, l.records, sizeof(records));
	free(bytes);
}

static void truncated_files_are_rejected(void **state)
{
	struct trace_reader reader;
	struct listed l;
	char *bytes;
	size_t size, cut;

	seed = 4;
	random_file(&l);
	size = write_listed(&l, &bytes);
	for (cut = 1; cut < size; cut++) {
		assert_int_equal(read_all(&reader, bytes, cut, NULL), -1);
		assert_non_null(strstr(reader.source.message, "offset "));
	}
	free(bytes);
}

static void garbage_is_rejected(void **state)
{
	struct trace_record records[RECORDS * 4];
	struct trace_reader reader;
	struct listed l, copy;
	char *bytes, *damaged;
	size_t size, i;
	unsigned int n;

	seed = 5;
	random_file(&l);
	size = write_listed(&l, &bytes);
	damaged = malloc(size);
	for (n = 0; n < 1500; n++) {
		memcpy(damaged, bytes, size);
		for (i = 0; i <= any(3); i++)
			damaged[any(size)] = any(256);
		if (n % 2) /* nothing but noise behind a good header */
			for (i = TRACE_HEADER_BYTES; i < size; i++)
				damaged[i] = any(n % 4 == 1 ? 256 : 6);
		memset(records, 0, sizeof(records));
		if (read_all(&reader, damaged, size, records)) {
			assert_non_null(strstr(reader.source.message, "offset "));
			continue;
		}
		/* Another trace, by chance: whatever is accepted can be simulated. */
		copy = l;
		copy.source.entry_bytes = reader.source.entry_bytes;
		copy.source.table_pages = min(reader.source.table_pages, 512u);
		memcpy(copy.records, records, sizeof(copy.records));
		{
			struct sim_result r;

			listed_run(&copy, &default_tuning, &r);
			sim_result_free(&r);
		}
	}
	free(damaged);
	free(bytes);
}

static void errors_say_what_and_where(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *message;
	} bad[] = {
#define HEADER "GHYVITRC\1\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0"
#define BAD(bytes, message) { bytes, sizeof(bytes) - 1, message }
		BAD("PK\3\4 not a trace at all, but long", "offset 0: not a trace: it does not begin with GHYVITRC"),
		BAD("GHYVITRC\2\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0", "offset 8: version 2, only 1 is known"),
		BAD("GHYVITRC\1\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0",
		    "offset 12: entries of 5 bytes, must be 4 or 8"),
		BAD("GHYVITRC\1\0\0\0\4\0\0\0\0\0\0\0\0\0\0\1",
		    "offset 16: 72057594037927936 table pages, at most 262144"),
		BAD(HEADER, "offset 24: truncated: the file ends without an end record"),
		BAD(HEADER "\11", "offset 24: unknown record type 9"),
		BAD(HEADER "\1\0\200\4\1", "offset 26: the entry index is 512, at most 511"),
		BAD(HEADER "\1\0\377\3\2", "offset 28: the number of entries is 2, at most 1"),
		BAD(HEADER "\1\0\0\0", "offset 27: no entry written"),
		BAD(HEADER "\4\377\377\377\377\377\377\377\377\377\2", "offset 25: the page number does not fit 64 bits"),
		BAD(HEADER "\3\0\0\0\2",
		    "offset 27: 0 stores and 1 submissions read, the end says 0 and 2"),
		BAD(HEADER "\0\0\0x", "offset 27: bytes after the end record"),
	};
	struct trace_reader reader;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(read_all(&reader, (void *)bad[i].bytes, bad[i].size, NULL), -1);
		assert_string_equal(reader.source.message, bad[i].message);
	}
}

static void a_trace_replays_as_it_was_generated(void **state)
{
	struct sim_result direct, replayed;
	struct trace_writer writer;
	struct trace_reader reader;
	struct trace_record record;
	struct generator g;
	FILE *file = tmpfile();

	assert_int_equal(generator_init(&g, "480p", true, 50, 8), 0);
	assert_int_equal(trace_write_open(&writer, file, 8, g.source.table_pages), 0);
	while (g.source.next(&g.source, &record) > 0)
		assert_int_equal(trace_write(&writer, &record), 0);
	assert_int_equal(trace_write_end(&writer), 0);
	rewind(file);
	assert_int_equal(trace_read_open(&reader, file), 0);
	g.source.rewind(&g.source);
	assert_int_equal(simulate(&g.source, ghyvi_shadow_policies, ghyvi_shadow_policy_count,
				  &default_tuning, SIM_PROFILE_PAGES, &direct), 0);
	assert_int_equal(simulate(&reader.source, ghyvi_shadow_policies, ghyvi_shadow_policy_count,
				  &default_tuning, SIM_PROFILE_PAGES, &replayed), 0);
	assert_memory_equal(&direct.trace, &replayed.trace, sizeof(direct.trace));
	assert_memory_equal(direct.policies, replayed.policies,
			    ghyvi_shadow_policy_count * sizeof(*direct.policies));
	assert_int_equal(direct.optimum_ns, replayed.optimum_ns);
	sim_result_free(&direct);
	sim_result_free(&replayed);
	generator_free(&g);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_equal_the_table_720p),
		cmocka_unit_test(counts_equal_the_table_static),
		cmocka_unit_test(counts_equal_the_table_thresholds),
		cmocka_unit_test(counts_equal_the_table_other_sizes),
		cmocka_unit_test(normal_case_has_two_stores_per_frame),
		cmocka_unit_test(adaptive_is_as_good_as_segmented_on_generated_traces),
		cmocka_unit_test(optimum_equals_brute_force),
		cmocka_unit_test(no_policy_beats_the_optimum),
		cmocka_unit_test(a_submission_scans_only_what_its_root_reaches),
		cmocka_unit_test(a_freed_page_is_not_scanned_and_starts_over),
		cmocka_unit_test(one_wide_store_is_one_trap),
		cmocka_unit_test(a_trace_survives_the_file),
		cmocka_unit_test(truncated_files_are_rejected),
		cmocka_unit_test(garbage_is_rejected),
		cmocka_unit_test(errors_say_what_and_where),
		cmocka_unit_test(a_trace_replays_as_it_was_generated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
