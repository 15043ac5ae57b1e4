/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the auditor. Only files of this folder include this.
 *
 * DOC: copies
 *
 * A workload's commands are a list of segments, one for each time its tail moved. A segment has the ring between two
 * tails, and all batches that it leads to, in pages that are never written once they were read from the guest; it is
 * published complete. No part of the ring is in two segments of a workload, so an engine's place in the ring says which
 * copies are meant, although a batch may have changed between two tails.
 */
#ifndef GHYVI_AUDIT_INTERNAL_H
#define GHYVI_AUDIT_INTERNAL_H

#include <linux/mutex.h>
#include <ghyvi/audit.h>
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>
#include "shortcuts.h"

#define AUDIT_PAGE_DWORDS (GHYVI_PAGE_BYTES / 4)
#define AUDIT_BUCKETS 64
/* Pages kept between submissions, 4 KiB each: to get them anew costs more than to copy and check what is in them. */
#define AUDIT_SPARE_PAGES 256
/* Segments that an engine may have to look through. */
#define AUDIT_SEGMENTS_MAX 64
/* First-level and second-level batches end differently, so what was seen on one level was not on the other. */
#define AUDIT_LEVELS 2

/*
 * X(identifier, name in reports, reason). What a guest's administrator reads, and what tests look for.
 */
#define AUDIT_RULES(X)                                                                             \
	X(UNKNOWN, "unknown-command", "this engine has no such command")                           \
	X(LENGTH, "length", "the command cannot have this length")                                 \
	X(FIT, "fit", "the command does not fit into what holds it")                               \
	X(DOMAIN, "domain", "not allowed here: the command acts on what other vGPUs share")        \
	X(REGISTER, "register", "commands must not write this register")                           \
	X(REGISTER_BYTES, "register-bytes", "the register cannot be written in bytes")             \
	X(REGISTER_FILE, "register-file", "there is no such register")                             \
	X(GGTT_RANGE, "ggtt-range", "the global address is not the vGPU's")                        \
	X(BATCH_SPACE, "batch-space", "a user batch must not start a privileged one")              \
	X(BATCH_LEVEL, "batch-level", "second-level batches start from first-level batches only")  \
	X(BATCH_PLACE, "batch-place", "batches neither start nor end here")                        \
	X(SEMAPHORE, "semaphore-mode", "only memory can be waited for, with a known comparison")   \
	X(MMIO_WRITE, "mmio-write", "a flush must not write registers")                            \
	X(UNMAPPED, "unmapped", "the commands are not in the guest's memory")                      \
	X(BYTES, "budget-bytes", "more commands than audit/budget_bytes")                          \
	X(COMMANDS, "budget-commands", "more commands than audit/budget_commands")                 \
	X(BATCHES, "budget-batches", "more batches than audit/budget_batches")                     \
	X(TIME, "budget-us", "auditing took longer than audit/budget_us")

#define AUDIT_RULE_ENUM(identifier, name, reason) AUDIT_##identifier,
enum audit_rule {
	AUDIT_PASSED,
	AUDIT_RULES(AUDIT_RULE_ENUM)
};

/* Copies are of whole pages, except of the ring, where they grow with its tail. */
struct audit_page {
	struct audit_page *next; /* in its bucket */
	u64 key;
	u32 *dwords;
	u64 starts[AUDIT_LEVELS][AUDIT_PAGE_DWORDS / 64]; /* where commands begin that passed */
};

/**
 * struct audit_segment
 * @from, @to: offsets in the ring
 * @stop: how far the engine may go; @to, or the command that is, or leads to, a refused one
 */
struct audit_segment {
	struct audit_segment *older;
	u32 from, to, stop;
	bool refused;
	struct audit_page *buckets[AUDIT_BUCKETS];
};

/**
 * struct ghyvi_commands
 * @mode: of when the workload began
 * @newest: segments, never changed once they are in the list; engines read it
 * @ring_left: bytes of the ring that further segments may have
 * @bytes_left: of the budget
 */
struct ghyvi_commands {
	struct ghyvi_audit *audit;
	struct ghyvi_submission submission;
	enum ghyvi_audit_mode mode;
	struct audit_segment *newest;
	unsigned int nr_segments;
	u32 ring_left;
	s64 bytes_left;
};

/* A place that a batch is started at. */
struct audit_target {
	u64 address;
	u32 ring_at; /* the ring's command that leads there */
	u8 source; /* GHYVI_FETCH_GGTT, GHYVI_FETCH_PPGTT */
	u8 level; /* 1 or 2 */
};

struct audit_reject {
	enum audit_rule rule;
	enum ghyvi_engine_id engine;
	u32 lrca;
	u32 ring_at;
	u64 at;
	u8 source;
	u32 header;
	const char *command;
};

/**
 * struct ghyvi_audit
 * @lock: protects @mode, @budget and @last
 * @shortcuts: of the generation, by engine
 * @targets, @packet: used by the one scan at a time
 * @spare, @nr_spare: pages of submissions that are through, for the next ones
 */
struct ghyvi_audit {
	struct ghyvi_audit_params params;
	struct mutex lock;
	enum ghyvi_audit_mode mode;
	struct ghyvi_audit_budget budget;
	struct audit_reject last;
	const struct audit_shortcuts *shortcuts;
	struct audit_target targets[GHYVI_AUDIT_BATCHES_MAX];
	u32 packet[GHYVI_PACKET_DWORDS_MAX];
	struct audit_page *spare;
	unsigned int nr_spare;
};

/**
 * struct audit_scan - one pass over one segment
 * @source, @level, @privileged: of the stream that is being looked at
 * @mask: the bits of its addresses
 * @at: its current command
 * @left: bytes until the stream ends by itself; S64_MAX for batches
 * @ring_at: of a batch: the ring's command that led there
 * @page: copy of the page that @at is in
 * @header, @command, @dwords: of the current command
 * @rule: why it is refused
 */
struct audit_scan {
	struct ghyvi_audit *audit;
	struct ghyvi_commands *commands;
	struct audit_segment *segment;
	enum ghyvi_engine_id engine;
	u8 source;
	u8 level;
	bool privileged;
	u64 mask;
	u64 at;
	s64 left;
	u32 ring_at;
	struct audit_page *page;
	u32 header;
	const struct ghyvi_command *command;
	unsigned int dwords;
	unsigned int nr_targets;
	s64 commands_left;
	u32 batches_left;
	u64 deadline_ns;
	enum audit_rule rule;
};

static inline unsigned int audit_dword_in_page(u64 at)
{
	return at % GHYVI_PAGE_BYTES / 4;
}

/* cmd_cache.c */
struct audit_page *audit_page_find(const struct audit_segment *segment, u64 key);
/** audit_page_add() - a page without contents; NULL: no memory. */
struct audit_page *audit_page_add(struct ghyvi_audit *audit, struct audit_segment *segment, u64 key);
/** audit_page_drop() - the page that was added last: it got no contents. */
void audit_page_drop(struct ghyvi_audit *audit, struct audit_segment *segment, struct audit_page *page);
struct audit_segment *audit_segment_create(u32 from, u32 to);
void audit_segment_free(struct ghyvi_audit *audit, struct audit_segment *segment);
/** audit_spare_free() - the pages that are kept for the next submissions. */
void audit_spare_free(struct ghyvi_audit *audit);
void audit_segment_publish(struct ghyvi_commands *commands, struct audit_segment *segment);
static inline u64 audit_key(enum ghyvi_fetch_source source, u64 at)
{
	return at >> GHYVI_PAGE_SHIFT << 2 | source;
}
static inline bool audit_start_seen(const struct audit_page *page, unsigned int level,
				    unsigned int index)
{
	return page->starts[level == 2][index / 64] & BIT_ULL(index % 64);
}

/**
 * audit_ring_distance() - bytes from @from on to @to, around the ring.
 */
static inline u32 audit_ring_distance(const struct ghyvi_submission *submission, u32 from, u32 to)
{
	return to >= from ? to - from : to + submission->ring_bytes - from;
}

/*
 * scan.c. Where they return errors: -EACCES: refused, and scan->rule says why; -ENOSPC: an extension that does not
 * fit into the workload's budget; -ENOMEM.
 */
/** audit_scan_segment() - fill and check scan->segment; what was refused is reported and marked. 0, -ENOSPC, -ENOMEM. */
int audit_scan_segment(struct audit_scan *scan);
/** audit_check_time() - refuses when too much of it has gone. */
int audit_check_time(struct audit_scan *scan);
bool audit_owns_ggtt(const struct audit_scan *scan, u64 address, u64 bytes);
/** audit_scan_target() - a batch begins at @address: look at it, too. */
int audit_scan_target(struct audit_scan *scan, u64 address, u8 source, u8 level);
/** audit_scan_parts() - a copy of the current command, which is in several pages; NULL and why not in @err. */
const u32 *audit_scan_parts(struct audit_scan *scan, int *err);
/** audit_scan_packet() - the current command's dwords, side by side; NULL and why not in @err. */
static inline const u32 *audit_scan_packet(struct audit_scan *scan, int *err)
{
	unsigned int index = audit_dword_in_page(scan->at);

	if (likely(scan->dwords <= AUDIT_PAGE_DWORDS - index))
		return scan->page->dwords + index;
	return audit_scan_parts(scan, err);
}

/* check.c */
/** audit_check() - the current command, whose length is known to be good, by the rules for it. As above. */
int audit_check(struct audit_scan *scan);

/* audit.c */
/** audit_refuse() - the current command breaks @rule. Returns -EACCES, or -ENOSPC for an extension's budget. */
int audit_refuse(struct audit_scan *scan, enum audit_rule rule);
/** audit_report() - tell the administrator what audit_refuse() was called with. */
void audit_report(const struct audit_scan *scan);

#endif
