// SPDX-License-Identifier: GPL-2.0-only
/* Reader and writer of trace files. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <zlib.h>

#include "trace.h"

#define RECORD_BYTES_MAX (1 + 3 * TRACE_VARINT_BYTES_MAX)

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

/* Adds the consumed bytes of the buffer to the checksum. */
static void sum_up(struct trace_reader *reader)
{
	reader->crc =
		crc32(reader->crc, reader->buffer + reader->summed, reader->at - reader->summed);
	reader->summed = reader->at;
}

static bool refill(struct trace_reader *reader)
{
	sum_up(reader);
	reader->at = reader->summed = 0;
	reader->filled = fread(reader->buffer, 1, sizeof(reader->buffer), reader->file);
	return reader->filled;
}

static int next_byte(struct trace_reader *reader)
{
	if (reader->at == reader->filled && !refill(reader))
		return EOF;
	reader->offset++;
	return reader->buffer[reader->at++];
}

/* Reports that the file ends at the position @what. */
static int fail_truncated(struct trace_reader *reader, const char *what)
{
	if (ferror(reader->file))
		return fail(reader, reader->offset, "cannot be read: %m");
	return fail(reader, reader->offset, "truncated: the file ends %s", what);
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

static int read_fixed(struct trace_reader *reader, const char *where, unsigned int bytes,
		      uint64_t *value)
{
	unsigned char taken[8];
	unsigned int i;
	int c;

	for (i = 0; i < bytes; i++) {
		c = next_byte(reader);
		if (c == EOF)
			return fail_truncated(reader, where);
		taken[i] = c;
	}
	*value = little_endian(taken, bytes);
	return 0;
}

static int read_magic(struct trace_reader *reader)
{
	unsigned int i;

	for (i = 0; i < TRACE_MAGIC_BYTES; i++)
		if (next_byte(reader) != TRACE_MAGIC[i])
			return ferror(reader->file) ?
				       fail_truncated(reader, "") :
				       fail(reader, 0, "not a trace: it does not begin with %s",
					    TRACE_MAGIC);
	return 0;
}

int trace_read_open(struct trace_reader *reader, FILE *file)
{
	uint64_t version, entry_bytes, table_pages;

	_Static_assert(offsetof(struct trace_reader, source) == 0,
		       "a source is cast to its reader");
	memset(reader, 0, sizeof(*reader));
	reader->file = file;
	reader->source.next = reader_source_next;
	reader->source.rewind = reader_source_rewind;
	if (read_magic(reader) || read_fixed(reader, "in the header", 4, &version) ||
	    read_fixed(reader, "in the header", 4, &entry_bytes) ||
	    read_fixed(reader, "in the header", 8, &table_pages))
		return -1;
	if (!version || version > TRACE_VERSION)
		return fail(reader, 8, "version %" PRIu64 ", only 1 to %d are known", version,
			    TRACE_VERSION);
	if (entry_bytes != 4 && entry_bytes != 8)
		return fail(reader, 12, "entries of %" PRIu64 " bytes, must be 4 or 8",
			    entry_bytes);
	if (table_pages > TRACE_TABLE_PAGES_MAX)
		return fail(reader, 16, "%" PRIu64 " table pages, at most %u", table_pages,
			    TRACE_TABLE_PAGES_MAX);
	reader->version = version;
	reader->source.entry_bytes = entry_bytes;
	reader->source.table_pages = table_pages;
	return 0;
}

/* Reads a varint of at most @max; @what is its name in error messages. */
static int read_varint(struct trace_reader *reader, const char *what, uint64_t max, uint64_t *value)
{
	uint64_t start = reader->offset;
	char where[48];
	unsigned int i;
	int c;

	*value = 0;
	for (i = 0; i < TRACE_VARINT_BYTES_MAX; i++) {
		c = next_byte(reader);
		if (c == EOF) {
			snprintf(where, sizeof(where), "in %s", what);
			return fail_truncated(reader, where);
		}
		if (i == TRACE_VARINT_BYTES_MAX - 1 && c > 1)
			break;
		*value |= (uint64_t)(c & 0x7f) << (7 * i);
		if (c & 0x80)
			continue;
		if (*value > max)
			return fail(reader, start, "%s is %" PRIu64 ", at most %" PRIu64, what,
				    *value, max);
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

/* The syntax was valid so far; the checksum shows whether the content is undamaged. */
static int read_footer(struct trace_reader *reader)
{
	uint64_t start = reader->offset, kind, sum;
	uint32_t crc;

	if (read_fixed(reader, "in the footer", 4, &kind))
		return -1;
	if (kind != TRACE_CHECKSUM_CRC32)
		return fail(reader, start,
			    "checksum of kind %" PRIu64 ", only %d (CRC-32) is known", kind,
			    TRACE_CHECKSUM_CRC32);
	sum_up(reader);
	crc = reader->crc;
	if (read_fixed(reader, "in the footer", 4, &sum))
		return -1;
	if (sum != crc)
		return fail(reader, start + 4,
			    "the checksum is 0x%08" PRIx64 ", the bytes before it have 0x%08" PRIx32
			    ": the file is damaged",
			    sum, crc);
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
			    "%" PRIu64 " stores and %" PRIu64
			    " submissions read, the end says %" PRIu64 " and %" PRIu64,
			    reader->stores, reader->submissions, stores, submissions);
	if (reader->version > 1 && read_footer(reader))
		return -1;
	start = reader->offset;
	if (next_byte(reader) != EOF)
		return fail(reader, start, "bytes after the end");
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
	type = next_byte(reader);
	if (type == EOF)
		return fail_truncated(reader, "without an end record");
	if (type >= TRACE_TYPES || (type == TRACE_PAGE_SHARED && reader->version == 1))
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

static unsigned char *put_varint(unsigned char *at, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		*at++ = 0x80 | (value & 0x7f);
	*at++ = value;
	return at;
}

static unsigned char *put_fixed(unsigned char *at, uint64_t value, unsigned int bytes)
{
	for (; bytes--; value >>= 8)
		*at++ = value & 0xff;
	return at;
}

static int write_bytes(struct trace_writer *writer, const unsigned char *bytes,
		       const unsigned char *end)
{
	size_t count = end - bytes;

	writer->crc = crc32(writer->crc, bytes, count);
	return fwrite(bytes, 1, count, writer->file) == count ? 0 : -1;
}

int trace_write_open(struct trace_writer *writer, FILE *file, unsigned int entry_bytes,
		     uint32_t table_pages)
{
	unsigned char header[TRACE_HEADER_BYTES], *at = header + TRACE_MAGIC_BYTES;

	*writer = (struct trace_writer){ .file = file };
	memcpy(header, TRACE_MAGIC, TRACE_MAGIC_BYTES);
	at = put_fixed(at, TRACE_VERSION, 4);
	at = put_fixed(at, entry_bytes, 4);
	at = put_fixed(at, table_pages, 8);
	return write_bytes(writer, header, at);
}

int trace_write(struct trace_writer *writer, const struct trace_record *record)
{
	unsigned char bytes[RECORD_BYTES_MAX], *at = bytes;

	*at++ = record->type;
	if (record->type != TRACE_SUBMISSION)
		at = put_varint(at, record->page);
	switch (record->type) {
	case TRACE_STORES:
	case TRACE_WIDE_STORE:
		at = put_varint(at, record->entry);
		at = put_varint(at, record->count);
		writer->stores += record->type == TRACE_STORES ? record->count : 1;
		break;
	case TRACE_SUBMISSION:
		writer->submissions++;
		/* fall through */
	case TRACE_PAGE_ROOT:
		at = put_varint(at, record->root);
		break;
	default:
		break;
	}
	return write_bytes(writer, bytes, at);
}

int trace_write_end(struct trace_writer *writer)
{
	unsigned char bytes[RECORD_BYTES_MAX], *at = bytes;

	*at++ = TRACE_END;
	at = put_varint(at, writer->stores);
	at = put_varint(at, writer->submissions);
	at = put_fixed(at, TRACE_CHECKSUM_CRC32, 4);
	if (write_bytes(writer, bytes, at) ||
	    write_bytes(writer, bytes, put_fixed(bytes, writer->crc, 4)))
		return -1;
	return fflush(writer->file) ? -1 : 0;
}
