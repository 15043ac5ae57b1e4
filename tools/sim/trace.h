/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of a guest's accesses to its table pages, their sources, and the trace file, whose format
 * is described in Documentation/trace-format.md.
 */
#ifndef GHYVI_SIM_TRACE_H
#define GHYVI_SIM_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TRACE_MAGIC "GHYVITRC"
#define TRACE_MAGIC_BYTES 8
#define TRACE_VERSION 2 /* the version that is written; version 1 can be read */
#define TRACE_HEADER_BYTES 24
#define TRACE_FOOTER_BYTES 8 /* since version 2 */
#define TRACE_CHECKSUM_CRC32 1 /* zlib's crc32() of all preceding bytes */
#define TRACE_VARINT_BYTES_MAX 10
#define TRACE_TABLE_PAGE_BYTES 4096u
#define TRACE_PAGE_MAX ((1ull << 52) - 1) /* a 64-bit address in pages */
/*
 * In page numbers with this bit, the other bits are the position of the page in its page directory:
 * directory * TRACE_PLACES + index.
 */
#define TRACE_PAGE_PLACED (1ull << 51)
#define TRACE_PLACES 512u
#define TRACE_ROOT_MAX 0xffffffffull
#define TRACE_TABLE_PAGES_MAX (1u << 18) /* distinct pages in a trace; bounds the memory */
#define TRACE_ROOTS_MAX 65536u /* distinct roots in one trace */
#define TRACE_MESSAGE_BYTES 160

enum trace_type {
	TRACE_END,
	TRACE_STORES,
	TRACE_WIDE_STORE,
	TRACE_SUBMISSION,
	TRACE_PAGE_FREED,
	TRACE_PAGE_ROOT,
	TRACE_PAGE_SHARED, /* since version 2 */
	TRACE_TYPES,
};

/**
 * struct trace_record - One event
 * @type: type of the event
 * @page: number of the table page; not for TRACE_SUBMISSION and TRACE_END
 * @entry: index of the first written entry
 * @count: number of written entries: one store each (TRACE_STORES), or one store to all of them
 *	(TRACE_WIDE_STORE)
 * @root: the root of the submission (TRACE_SUBMISSION), or the only root that reaches the page
 *	(TRACE_PAGE_ROOT)
 */
struct trace_record {
	enum trace_type type;
	uint64_t page;
	uint32_t entry;
	uint32_t count;
	uint64_t root;
};

/**
 * struct trace_source - A stream of records that can be rewound
 * @next: read a record; returns 1, 0 at the end, or -1 with @message set
 * @rewind: go back to the start; returns 0, or -1 with @message set
 * @entry_bytes: 4 or 8
 * @table_pages: pages 0..table_pages-1 exist from the start, others from their first record on
 * @message: description of an error
 */
struct trace_source {
	int (*next)(struct trace_source *source, struct trace_record *record);
	int (*rewind)(struct trace_source *source);
	unsigned int entry_bytes;
	uint32_t table_pages;
	char message[TRACE_MESSAGE_BYTES];
};

static inline uint32_t trace_entries(const struct trace_source *source)
{
	return TRACE_TABLE_PAGE_BYTES / source->entry_bytes;
}

/*
 * struct trace_reader - a trace file as a source
 * @version: version 1 has no checksum: damage that keeps the syntax valid is not detected
 */
struct trace_reader {
	struct trace_source source;
	FILE *file;
	unsigned int version;
	uint64_t offset; /* of the next byte */
	uint64_t stores, submissions;
	bool ended, failed;
	unsigned char buffer[16384];
	size_t at, filled; /* in the buffer: the next byte, and the end */
	size_t summed; /* @crc includes all bytes before this index of the buffer */
	uint32_t crc;
};

/**
 * trace_read_open() - Start to read a trace: read and check the header.
 * @reader: to be initialized
 * @file: remains owned by the caller
 *
 * Return: 0, or -1 with reader->source.message set.
 */
int trace_read_open(struct trace_reader *reader, FILE *file);
/**
 * trace_read_next() - Read and check the next record.
 * @reader: of trace_read_open()
 * @record: set to the record
 *
 * Every field is in range. At the end the counts and the checksum are verified. The input is
 * untrusted: any sequence of bytes is safe.
 *
 * Return: 1; 0 at the end; -1, also for all further calls, with reader->source.message set. After
 * -1 the records that were read before are not reliable either.
 */
int trace_read_next(struct trace_reader *reader, struct trace_record *record);

struct trace_writer {
	FILE *file;
	uint64_t stores, submissions;
	uint32_t crc;
};

/* These return 0, or -1 with errno set. trace_write_end() flushes the file and leaves it open. */
int trace_write_open(struct trace_writer *writer, FILE *file, unsigned int entry_bytes,
		     uint32_t table_pages);
int trace_write(struct trace_writer *writer, const struct trace_record *record);
int trace_write_end(struct trace_writer *writer);

#endif
