// SPDX-License-Identifier: GPL-2.0-only
/* The simulator: trace files, good and bad. */
#include <zlib.h>

#include "../../tools/sim/generator.h"
#include "sim_listed.h"

/* The same bytes, with the checksum that they have now: what comes before it is checked, too. */
static void seal(char *bytes, size_t size)
{
	u32 crc = crc32(0, (void *)bytes, size - 4);
	unsigned int i;

	for (i = 0; i < 4; i++)
		bytes[size - 4 + i] = (char)(crc >> 8 * i);
}

static size_t write_listed(const struct listed *l, char **bytes)
{
	struct trace_writer writer;
	unsigned int i;
	size_t size;
	FILE *file = open_memstream(bytes, &size);

	assert_int_equal(
		trace_write_open(&writer, file, l->source.entry_bytes, l->source.table_pages), 0);
	for (i = 0; i < l->count; i++)
		assert_int_equal(trace_write(&writer, &l->records[i]), 0);
	assert_int_equal(trace_write_end(&writer), 0);
	fclose(file);
	return size;
}

/* Reads all; 0, or -1 with the message in reader->source.message. */
static int read_all(struct trace_reader *reader, void *bytes, size_t size,
		    struct trace_record *records)
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
	random_trace(l, RECORDS, 5, 3);
	l->records[3] = stores(TRACE_PAGE_MAX, 511, 1);
	l->records[4] = submission(TRACE_ROOT_MAX);
	l->records[5] = freed(300);
	l->records[6] = page_root(2, 200);
	l->records[7] = page_shared(1);
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

/* One bit of any byte: in the file, in a byte of the checksum itself, in the version. */
static void any_damage_is_noticed(void **state)
{
	struct trace_reader reader;
	struct listed l;
	size_t size, i;
	char *bytes;

	seed = 6;
	random_file(&l);
	size = write_listed(&l, &bytes);
	for (i = 0; i < size * 8; i++) {
		bytes[i / 8] ^= 1 << i % 8;
		assert_int_equal(read_all(&reader, bytes, size, NULL), -1);
		assert_non_null(strstr(reader.source.message, "offset "));
		bytes[i / 8] ^= 1 << i % 8;
	}
	assert_int_equal(read_all(&reader, bytes, size, NULL), 0);
	free(bytes);
}

/* What is checked besides the checksum; every second file has the right one. */
static void garbage_is_rejected(void **state)
{
	struct trace_record records[RECORDS * 4];
	unsigned int n, accepted = 0;
	struct trace_reader reader;
	struct listed l, copy;
	char *bytes, *damaged;
	struct sim_result r;
	size_t size, i;

	seed = 5;
	random_file(&l);
	size = write_listed(&l, &bytes);
	damaged = malloc(size);
	for (n = 0; n < 3000; n++) {
		memcpy(damaged, bytes, size);
		for (i = 0; i <= any(3); i++)
			damaged[any(size)] = any(256);
		if (n % 4 >= 2) /* nothing but noise behind a good header */
			for (i = TRACE_HEADER_BYTES; i < size; i++)
				damaged[i] = any(n % 8 < 4 ? 256 : 6);
		if (n % 2)
			seal(damaged, size);
		memset(records, 0, sizeof(records));
		if (read_all(&reader, damaged, size, records)) {
			assert_non_null(strstr(reader.source.message, "offset "));
			continue;
		}
		/* Another trace, by chance: whatever is accepted can be simulated. */
		accepted++;
		copy = l;
		copy.source.entry_bytes = reader.source.entry_bytes;
		copy.source.table_pages = min(reader.source.table_pages, 512u);
		memcpy(copy.records, records, RECORDS * sizeof(*records));
		listed_run(&copy, &default_tuning, &r);
		sim_result_free(&r);
	}
	assert_true(accepted > 100);
	free(damaged);
	free(bytes);
}

/* Without a checksum, and without what came with version 2. */
static void version_1_is_read(void **state)
{
	struct trace_record records[RECORDS];
	struct trace_reader reader;
	struct listed l;
	size_t size;
	char *bytes;

	seed = 7;
	random_file(&l);
	while (l.count--)
		if (l.records[l.count].type == TRACE_PAGE_SHARED)
			l.records[l.count] = page_root(1, 1);
	l.count = RECORDS;
	size = write_listed(&l, &bytes) - TRACE_FOOTER_BYTES;
	bytes[8] = 1;
	assert_int_equal(read_all(&reader, bytes, size, records), 0);
	assert_int_equal(reader.version, 1);
	assert_memory_equal(records, l.records, sizeof(records));
	free(bytes);
}

static void errors_say_what_and_where(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *message;
	} bad[] = {
#define HEADER_OF(version) "GHYVITRC" version "\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0"
#define HEADER HEADER_OF("\2")
#define BAD(bytes, message) { bytes, sizeof(bytes) - 1, message }
		BAD("PK\3\4 not a trace at all, but long",
		    "offset 0: not a trace: it does not begin with GHYVITRC"),
		BAD("GHYV", "offset 0: not a trace: it does not begin with GHYVITRC"),
		BAD("GHYVITRC\2\0\0\0\10", "offset 13: truncated: the file ends in the header"),
		BAD(HEADER_OF("\3"), "offset 8: version 3, only 1 to 2 are known"),
		BAD(HEADER_OF("\0"), "offset 8: version 0, only 1 to 2 are known"),
		BAD("GHYVITRC\2\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0",
		    "offset 12: entries of 5 bytes, must be 4 or 8"),
		BAD("GHYVITRC\2\0\0\0\4\0\0\0\0\0\0\0\0\0\0\1",
		    "offset 16: 72057594037927936 table pages, at most 262144"),
		BAD(HEADER, "offset 24: truncated: the file ends without an end record"),
		BAD(HEADER "\11", "offset 24: unknown record type 9"),
		BAD(HEADER_OF("\1") "\6\0", "offset 24: unknown record type 6"),
		BAD(HEADER "\1\0\200", "offset 27: truncated: the file ends in the entry index"),
		BAD(HEADER "\1\0\200\4\1", "offset 26: the entry index is 512, at most 511"),
		BAD(HEADER "\1\0\377\3\2", "offset 28: the number of entries is 2, at most 1"),
		BAD(HEADER "\1\0\0\0", "offset 27: no entry written"),
		BAD(HEADER "\4\377\377\377\377\377\377\377\377\377\2",
		    "offset 25: the page number does not fit 64 bits"),
		BAD(HEADER "\3\0\0\0\2",
		    "offset 27: 0 stores and 1 submissions read, the end says 0 and 2"),
		BAD(HEADER "\0\0\0\1\0", "offset 29: truncated: the file ends in the footer"),
		BAD(HEADER "\0\0\0\2\0\0\0\1\2\3\4",
		    "offset 27: checksum of kind 2, only 1 (CRC-32) is known"),
		BAD(HEADER "\0\0\0\1\0\0\0\1\2\3\4",
		    "offset 31: the checksum is 0x04030201, the bytes before it have 0x3b8b7d82: the file is damaged"),
		BAD(HEADER_OF("\1") "\0\0\0x", "offset 27: bytes after the end"),
	};
	struct trace_reader reader;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(read_all(&reader, (void *)bad[i].bytes, bad[i].size, NULL), -1);
		assert_string_equal(reader.source.message, bad[i].message);
	}
}

static void bytes_after_the_checksum_are_rejected(void **state)
{
	struct trace_reader reader;
	struct listed l;
	char *bytes, *more, message[64];
	size_t size;

	listed_init(&l, 0);
	size = write_listed(&l, &bytes);
	more = calloc(1, size + 1);
	memcpy(more, bytes, size);
	assert_int_equal(read_all(&reader, more, size, NULL), 0);
	assert_int_equal(read_all(&reader, more, size + 1, NULL), -1);
	snprintf(message, sizeof(message), "offset %zu: bytes after the end", size);
	assert_string_equal(reader.source.message, message);
	free(more);
	free(bytes);
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
				  &default_tuning, SIM_PROFILE_PAGES, &direct),
			 0);
	assert_int_equal(simulate(&reader.source, ghyvi_shadow_policies, ghyvi_shadow_policy_count,
				  &default_tuning, SIM_PROFILE_PAGES, &replayed),
			 0);
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
		cmocka_unit_test(a_trace_survives_the_file),
		cmocka_unit_test(truncated_files_are_rejected),
		cmocka_unit_test(any_damage_is_noticed),
		cmocka_unit_test(garbage_is_rejected),
		cmocka_unit_test(version_1_is_read),
		cmocka_unit_test(errors_say_what_and_where),
		cmocka_unit_test(bytes_after_the_checksum_are_rejected),
		cmocka_unit_test(a_trace_replays_as_it_was_generated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
