// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace reader (tools/sim) with arbitrary bytes. A trace that it accepts must be accepted again
 * after a rewind, and must have the same records after it was written and read again.
 *
 * The fuzzer cannot guess a checksum. Records are returned before the checksum is verified, so they
 * are reached anyway. For the code after the records each input is read twice: unchanged, and with
 * the correct checksum in its last four bytes. Version 1 has no checksum.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "../../tools/sim/trace.h"
#include "input.h"
#include "../unit/rule.h"

struct outcome {
	int end; /* of trace_read_next() */
	u64 records;
	u64 sum;
};

static void read_all(struct trace_source *source, struct trace_writer *writer,
		     struct outcome *outcome)
{
	struct trace_record record;

	memset(outcome, 0, sizeof(*outcome));
	while ((outcome->end = source->next(source, &record)) == 1) {
		outcome->records++;
		outcome->sum = outcome->sum * 31 + record.type + record.page * 3 + record.root * 5;
		if (record.type == TRACE_STORES || record.type == TRACE_WIDE_STORE) {
			ASSERT(record.count &&
			       record.entry + record.count <= trace_entries(source));
			outcome->sum += 7 * record.entry + 11 * record.count;
		}
		if (writer)
			ASSERT(!trace_write(writer, &record));
	}
	ASSERT(outcome->end == 0 || source->message[0]);
}

/* @written: the output of the writer for the same records */
static void read_back(char *written, size_t bytes, const struct outcome *before)
{
	struct trace_reader reader;
	struct outcome after;
	FILE *file = fmemopen(written, bytes, "rb");

	ASSERT(file && !trace_read_open(&reader, file));
	read_all(&reader.source, NULL, &after);
	ASSERT(after.end == 0 && after.records == before->records && after.sum == before->sum);
	fclose(file);
}

static void read_and_copy(const u8 *data, size_t bytes)
{
	struct outcome first, second;
	struct trace_reader reader;
	struct trace_writer writer;
	char *written = NULL;
	size_t written_bytes;
	FILE *file, *copy;

	file = fmemopen((void *)data, bytes, "rb");
	copy = open_memstream(&written, &written_bytes);
	ASSERT(file && copy);
	if (!trace_read_open(&reader, file)) {
		ASSERT(!trace_write_open(&writer, copy, reader.source.entry_bytes,
					 reader.source.table_pages));
		read_all(&reader.source, &writer, &first);
		ASSERT(!trace_write_end(&writer));
		ASSERT(!reader.source.rewind(&reader.source));
		read_all(&reader.source, NULL, &second);
		ASSERT(!memcmp(&first, &second, sizeof(first)));
		fflush(copy);
		if (!first.end)
			read_back(written, written_bytes, &first);
	} else {
		ASSERT(reader.source.message[0]);
	}
	fclose(file);
	fclose(copy);
	free(written);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	u32 crc, i;
	u8 *sealed;

	if (!bytes)
		return 0;
	read_and_copy(data, bytes);
	if (bytes < TRACE_HEADER_BYTES + TRACE_FOOTER_BYTES)
		return 0;
	sealed = malloc(bytes);
	ASSERT(sealed);
	memcpy(sealed, data, bytes);
	crc = crc32(0, data, bytes - 4);
	for (i = 0; i < 4; i++)
		sealed[bytes - 4 + i] = crc >> 8 * i;
	read_and_copy(sealed, bytes);
	free(sealed);
	return 0;
}
