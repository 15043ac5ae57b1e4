/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of what a guest does to its table pages, and where they come from. The file format is described in
 * Documentation/trace-format.md.
 */
#ifndef GHYVI_SIM_TRACE_H
#define GHYVI_SIM_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TRACE_MAGIC "GHYVITRC"
#define TRACE_MAGIC_BYTES 8
#define TRACE_VERSION 2 /* as written; 1 is read, too */
#define TRACE_HEADER_BYTES 24
#define TRACE_FOOTER_BYTES 8 /* from version 2 on */
#define TRACE_CHECKSUM_CRC32 1 /* zlib's crc32(), of all bytes before it */
#define TRACE_VARINT_BYTES_MAX 10
#define TRACE_TABLE_PAGE_BYTES 4096u
#define TRACE_PAGE_MAX ((1ull << 52) - 1) /* a 64-bit address in pages */
/* Page numbers with this bit say where the page is linked: a page directory, times the places in it, and the place. */
#define TRACE_PAGE_PLACED (1ull << 51)
#define TRACE_PLACES 512u
#define TRACE_ROOT_MAX 0xffffffffull
#define TRACE_TABLE_PAGES_MAX (1u << 18) /* distinct pages in one trace: what bounds the simulator's memory */
#define TRACE_ROOTS_MAX 65536u /* distinct roots in one trace */
#define TRACE_MESSAGE_BYTES 160

enum trace_type {
	TRACE_END,
	TRACE_STORES,
	TRACE_WIDE_STORE,
	TRACE_SUBMISSION,
	TRACE_PAGE_FREED,
	TRACE_PAGE_ROOT,
	TRACE_PAGE_SHARED, /* from version 2 on */
	TRACE_TYPES,
};

/**
 * struct trace_record - one event
 * @page: number of the table page (all but submissions and the end)
 * @entry: first entry written; @count: entries written, one store each (STORES) or all by one store (WIDE_STORE)
 * @root: which root is submitted (SUBMISSION), or the only one that reaches the page (PAGE_ROOT)
 */
struct trace_record {
	enum trace_type type;
	uint64_t page;
	uint32_t entry;
	uint32_t count;
	uint64_t root;
};

/**
 * struct trace_source - a stream of records that can be read again from the start
 * @next: 1: a record; 0: the end; -1: an error, described in @message
 * @rewind: 0, or -1 with @message set
 * @entry_bytes: 4 or 8
 * @table_pages: pages 0..table_pages-1 exist from the start; others exist from their first record on
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

/**
 * struct trace_reader - a trace file as a source
 * @version: 1 has no checksum: what keeps the form can be damaged without being noticed
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
	size_t summed; /* up to here @crc has the bytes of the buffer, and all before */
	uint32_t crc;
};

/**
 * trace_read_open() - read the header. @file stays the caller's. Returns 0, or -1 with reader->source.message set.
 */
int trace_read_open(struct trace_reader *reader, FILE *file);
/**
 * trace_read_next() - the next record, checked: every field is in range, and the counts and the checksum at the end agree.
 * Any sequence of bytes is safe. Returns 1, 0 at the end, -1 with reader->source.message set (and from then on): what was
 * read until then cannot be trusted either.
 */
int trace_read_next(struct trace_reader *reader, struct trace_record *record);

struct trace_writer {
	FILE *file;
	uint64_t stores, submissions;
	uint32_t crc;
};

/** Write functions return 0, or -1 with errno set. trace_write_end() flushes, and leaves the file open. */
int trace_write_open(struct trace_writer *writer, FILE *file, unsigned int entry_bytes,
		     uint32_t table_pages);
int trace_write(struct trace_writer *writer, const struct trace_record *record);
int trace_write_end(struct trace_writer *writer);

#endif
