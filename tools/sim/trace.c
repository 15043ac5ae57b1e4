// SPDX-License-Identifier: GPL-2.0-only
/* The trace file: reader and writer. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "trace.h"

#define VARINT_BYTES_MAX 10

static int fail(struct trace_reader *reader, uint64_t offset, const char *format, ...)
{
	char *message = reader->source.message;
	int used = snprintf(message, TRACE_MESSAGE_BYTES, "offset %" PRIu64 ": ", offset);
	va_list args;

	va_start(args, format);
	vsnprintf(message + used, TRACE_MESSAGE_BYTES - used, format, args);
	va_end(args);
	reader->failed = true;
	return -1;
}

static uint64_t little_endian(const unsigned char *bytes, unsigned int count)
{
	uint64_t value = 0;

	while (count--)
		value = value << 8 | bytes[count];
	return value;
}

static int reader_source_next(struct trace_source *source, struct trace_record *record)
{
	return trace_read_next((struct trace_reader *)source, record);
}

static int reader_source_rewind(struct trace_source *source)
{
	struct trace_reader *reader = (struct trace_reader *)source;
	FILE *file = reader->file;

	if (fseek(file, 0, SEEK_SET))
		return fail(reader, reader->offset, "the trace cannot be read twice (a pipe?): %m");
	return trace_read_open(reader, file);
}

int trace_read_open(struct trace_reader *reader, FILE *file)
{
	unsigned char header[TRACE_HEADER_BYTES];
	uint64_t version, entry_bytes, table_pages;
	size_t got;

	_Static_assert(offsetof(struct trace_reader, source) == 0, "a source is cast to its reader");
	memset(reader, 0, sizeof(*reader));
	reader->file = file;
	reader->source.next = reader_source_next;
	reader->source.rewind = reader_source_rewind;
	got = fread(header, 1, sizeof(header), file);
	if (got < TRACE_MAGIC_BYTES || memcmp(header, TRACE_MAGIC, TRACE_MAGIC_BYTES))
		return fail(reader, 0, "not a trace: it does not begin with %s", TRACE_MAGIC);
	if (got < sizeof(header))
		return fail(reader, got, "truncated header");
	version = little_endian(header + 8, 4);
	entry_bytes = little_endian(header + 12, 4);
	table_pages = little_endian(header + 16, 8);
	if (version != TRACE_VERSION)
		return fail(reader, 8, "version %" PRIu64 ", only %d is known", version, TRACE_VERSION);
	if (entry_bytes != 4 && entry_bytes != 8)
		return fail(reader, 12, "entries of %" PRIu64 " bytes, must be 4 or 8", entry_bytes);
	if (table_pages > TRACE_TABLE_PAGES_MAX)
		return fail(reader, 16, "%" PRIu64 " table pages, at most %u", table_pages,
			    TRACE_TABLE_PAGES_MAX);
	reader->source.entry_bytes = entry_bytes;
	reader->source.table_pages = table_pages;
	reader->offset = sizeof(header);
	return 0;
}

/* A varint of at most @max; @what names it in errors. */
static int read_varint(struct trace_reader *reader, const char *what, uint64_t max, uint64_t *value)
{
	uint64_t start = reader->offset;
	unsigned int i;
	int c;

	*value = 0;
	for (i = 0; i < VARINT_BYTES_MAX; i++) {
		c = getc(reader->file);
		if (c == EOF)
			return fail(reader, reader->offset, "truncated: the file ends in %s", what);
		reader->offset++;
		if (i == VARINT_BYTES_MAX - 1 && c > 1)
			break;
		*value |= (uint64_t)(c & 0x7f) << (7 * i);
		if (c & 0x80)
			continue;
		if (*value > max)
			return fail(reader, start, "%s is %" PRIu64 ", at most %" PRIu64, what, *value,
				    max);
		return 0;
	}
	return fail(reader, start, "%s does not fit 64 bits", what);
}

static int read_entries(struct trace_reader *reader, struct trace_record *record)
{
	uint32_t entries = trace_entries(&reader->source);
	uint64_t start, entry, count;

	if (read_varint(reader, "the entry index", entries - 1, &entry))
		return -1;
	start = reader->offset;
	if (read_varint(reader, "the number of entries", entries - entry, &count))
		return -1;
	if (!count)
		return fail(reader, start, "no entry written");
	record->entry = entry;
	record->count = count;
	return 0;
}

static int read_end(struct trace_reader *reader)
{
	uint64_t start = reader->offset, stores, submissions;

	if (read_varint(reader, "the number of stores", UINT64_MAX, &stores) ||
	    read_varint(reader, "the number of submissions", UINT64_MAX, &submissions))
		return -1;
	if (stores != reader->stores || submissions != reader->submissions)
		return fail(reader, start,
			    "%" PRIu64 " stores and %" PRIu64 " submissions read, the end says %" PRIu64
			    " and %" PRIu64, reader->stores, reader->submissions, stores, submissions);
	if (getc(reader->file) != EOF)
		return fail(reader, reader->offset, "bytes after the end record");
	reader->ended = true;
	return 0;
}

int trace_read_next(struct trace_reader *reader, struct trace_record *record)
{
	uint64_t start = reader->offset;
	int type;

	if (reader->failed)
		return -1;
	if (reader->ended)
		return 0;
	type = getc(reader->file);
	if (type == EOF)
		return fail(reader, start, "truncated: the file ends without an end record");
	reader->offset++;
	if (type >= TRACE_TYPES)
		return fail(reader, start, "unknown record type %d", type);
	memset(record, 0, sizeof(*record));
	record->type = type;
	if (type == TRACE_END)
		return read_end(reader);
	if (type != TRACE_SUBMISSION &&
	    read_varint(reader, "the page number", TRACE_PAGE_MAX, &record->page))
		return -1;
	if ((type == TRACE_STORES || type == TRACE_WIDE_STORE) && read_entries(reader, record))
		return -1;
	if ((type == TRACE_SUBMISSION || type == TRACE_PAGE_ROOT) &&
	    read_varint(reader, "the root", TRACE_ROOT_MAX, &record->root))
		return -1;
	if (type == TRACE_STORES)
		reader->stores += record->count;
	reader->stores += type == TRACE_WIDE_STORE;
	reader->submissions += type == TRACE_SUBMISSION;
	return 1;
}

static void write_varint(FILE *file, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		putc(0x80 | (value & 0x7f), file);
	putc(value, file);
}

static void write_fixed(FILE *file, uint64_t value, unsigned int bytes)
{
	for (; bytes--; value >>= 8)
		putc(value & 0xff, file);
}

int trace_write_open(struct trace_writer *writer, FILE *file, unsigned int entry_bytes,
		     uint32_t table_pages)
{
	*writer = (struct trace_writer){ .file = file };
	fwrite(TRACE_MAGIC, 1, TRACE_MAGIC_BYTES, file);
	write_fixed(file, TRACE_VERSION, 4);
	write_fixed(file, entry_bytes, 4);
	write_fixed(file, table_pages, 8);
	return ferror(file) ? -1 : 0;
}

int trace_write(struct trace_writer *writer, const struct trace_record *record)
{
	FILE *file = writer->file;

	putc(record->type, file);
	if (record->type != TRACE_SUBMISSION)
		write_varint(file, record->page);
	switch (record->type) {
	case TRACE_STORES:
	case TRACE_WIDE_STORE:
		write_varint(file, record->entry);
		write_varint(file, record->count);
		writer->stores += record->type == TRACE_STORES ? record->count : 1;
		break;
	case TRACE_SUBMISSION:
		writer->submissions++;
		/* fall through */
	case TRACE_PAGE_ROOT:
		write_varint(file, record->root);
		break;
	default:
		break;
	}
	return ferror(file) ? -1 : 0;
}

int trace_write_end(struct trace_writer *writer)
{
	putc(TRACE_END, writer->file);
	write_varint(writer->file, writer->stores);
	write_varint(writer->file, writer->submissions);
	return fflush(writer->file) || ferror(writer->file) ? -1 : 0;
}
