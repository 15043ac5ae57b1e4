/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internals of the auditor. Only files of this folder include this header.
 *
 * DOC: copies
 *
 * The commands of a workload are a list of segments: one for the submission, and one for each tail
 * move. A segment contains copies of the ring between two tails and of all batches that this part
 * of the ring can start. Pages of a segment are read from the guest once and never written
 * afterwards; the segment is published when it is complete. No part of the ring is in two segments
 * of a workload. So the engine's position in the ring determines which copies it executes, even if
 * the guest changed a batch between two tail moves.
 */
#ifndef GHYVI_AUDIT_INTERNAL_H
#define GHYVI_AUDIT_INTERNAL_H

#include <linux/mutex.h>
#include <ghyvi/audit.h>
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>
#include "shortcuts.h"

#define AUDIT_PAGE_DWORDS (GHYVI_PAGE_BYTES / 4)
#define AUDIT_TAIL_BYTES 8 /* tails of a ring are multiples of it */
#define AUDIT_BUCKETS 64
/*
 * Pages of 4 KiB that are kept between submissions: allocating a page costs more than copying and
 * checking its contents.
 */
#define AUDIT_SPARE_PAGES 256
/* Limits the length of the list that an engine searches. */
#define AUDIT_SEGMENTS_MAX 64
/* Batch levels, which are checked separately: first- and second-level batches end differently. */
#define AUDIT_LEVELS 2

/* X(identifier, name in reports, reason). Administrators read the texts, tests search for them. */
#define AUDIT_RULES(X)                                                                            \
	X(UNKNOWN, "unknown-command", "this engine has no such command")                          \
	X(LENGTH, "length", "the command cannot have this length")                                \
	X(FIT, "fit", "commands extend beyond the ring's tail, the batch or the address space")   \
	X(DOMAIN, "domain", "the command is not allowed in such a ring or batch")                 \
	X(UNSUPPORTED, "not-supported", "vGPUs do not have this command")                         \
	X(REGISTER, "register", "commands must not write this register")                          \
	X(REGISTER_BYTES, "register-bytes", "the register does not support byte writes")          \
	X(REGISTER_FILE, "register-file", "there is no such register")                            \
	X(GGTT_RANGE, "ggtt-range", "the GGTT address is outside of the vGPU's partition")        \
	X(BATCH_LEVEL, "batch-level", "second-level batches start from first-level batches only") \
	X(BATCH_PLACE, "batch-place", "batches cannot start or end here")                         \
	X(BATCH_OFFSET, "batch-offset", "the address of an audited batch must be constant")       \
	X(SEMAPHORE, "semaphore-mode", "only memory can be polled, with a valid comparison")      \
	X(WAIT_PLACE, "wait-place", "the load of a context must not wait")                        \
	X(ATOMIC, "atomic", "there is no such atomic operation, or its address is not aligned")   \
	X(POST, "post-sync", "the flush has a reserved post-sync operation")                      \
	X(MMIO_WRITE, "mmio-write", "a flush must not write registers")                           \
	X(UNMAPPED, "unmapped", "the commands are not mapped to guest memory")                    \
	X(UPDATE_GTT, "update-gtt", "commands before it run first, and no batch can be split")    \
	X(BYTES, "budget-bytes", "more commands than audit/budget_bytes")                         \
	X(COMMANDS, "budget-commands", "more commands than audit/budget_commands")                \
	X(BATCHES, "budget-batches", "more batches than audit/budget_batches")

#define AUDIT_RULE_ENUM(identifier, name, reason) AUDIT_##identifier,
enum audit_rule { AUDIT_PASSED, AUDIT_RULES(AUDIT_RULE_ENUM) };
/* From this rule on, commands that come first in a submission of their own may pass. */
#define AUDIT_SPLITS AUDIT_UPDATE_GTT

/*
 * The copy of a page of commands. Pages of batches are copied as a whole, of pages of the ring only
 * the part between the segment's tails.
 */
struct audit_page {
	struct audit_page *next; /* in the bucket of @key */
	u64 key; /* see audit_key() */
	u32 *dwords;
	/* By batch level: bit n is set if a command that passed begins at dword n. */
	u64 starts[AUDIT_LEVELS][AUDIT_PAGE_DWORDS / 64];
};

/* struct audit_segment - copies of the ring between two tails and of the batches that it starts */
struct audit_segment {
	struct audit_segment *older; /* the previous segment, or NULL */
	u32 from; /* offset in the ring at which the segment begins */
	u32 to; /* offset in the ring at which the segment ends */
	/*
	 * offset up to which the engine may execute: @to, or that of the ring's command that is
	 * refused or reaches a refused one
	 */
	u32 stop;
	bool refused; /* a command was refused */
	struct audit_page *buckets[AUDIT_BUCKETS]; /* hash table of the copied pages */
};

/* struct ghyvi_commands - the audited commands of a workload */
struct ghyvi_commands {
	struct ghyvi_audit *audit; /* the auditor */
	struct ghyvi_submission submission; /* as passed to ghyvi_audit_submission() */
	enum ghyvi_audit_mode mode; /* mode of the auditor at that time */
	/*
	 * list of segments. Engines read it without lock; a segment never changes once it is in the
	 * list.
	 */
	struct audit_segment *newest;
	unsigned int nr_segments; /* length of that list */
	u32 ring_left; /* bytes of the ring that are in no segment yet */
	s64 bytes_left; /* rest of budget_bytes */
};

/* An address at which a batch is started. */
struct audit_target {
	u64 address;
	u32 ring_pos; /* offset of the ring's command that starts the batch, directly or not */
	u8 source; /* GHYVI_FETCH_GGTT, GHYVI_FETCH_PPGTT */
	u8 level; /* 1 or 2 */
};

/* A refused command. */
struct audit_reject {
	enum audit_rule rule;
	enum ghyvi_engine_id engine;
	u32 lrca;
	u32 ring_pos;
	u64 pos;
	u8 source;
	u32 header;
	const char *command;
};

/* struct ghyvi_audit - the auditor of one vGPU */
struct ghyvi_audit {
	struct ghyvi_audit_params params; /* as passed to ghyvi_audit_create() */
	struct mutex lock; /* protects @mode, @budget and @last */
	enum ghyvi_audit_mode mode; /* for the next submissions */
	struct ghyvi_audit_budget budget; /* for the next submissions and extensions */
	struct audit_reject last; /* the command that was refused last */
	const struct ghyvi_audit_shortcuts *shortcuts; /* those of the generation, by engine */
	/* batches to scan; used by one scan at a time */
	struct audit_target targets[GHYVI_AUDIT_BATCHES_MAX];
	/* contiguous copy of a packet; used by one scan at a time */
	u32 packet[GHYVI_PACKET_DWORDS_MAX];
	struct audit_page *spare; /* pages of completed submissions, kept for the next ones */
	unsigned int nr_spare; /* number of pages in @spare, up to AUDIT_SPARE_PAGES */
};

/* A page of a saved segment, as it is in the state of a vGPU (saved.c). */
struct audit_saved_page {
	u64 key;
	u32 dwords[AUDIT_PAGE_DWORDS];
};

/* Pages of a saved segment, to be audited again in place of guest memory. */
struct audit_saved {
	const void *pages;
	u32 nr_pages;
};

/* struct audit_scan - one pass over one segment */
struct audit_scan {
	struct ghyvi_audit *audit; /* the auditor */
	struct ghyvi_commands *commands; /* the workload's commands */
	struct audit_segment *segment; /* the segment, which is not published yet */
	/*
	 * where the pages are copied from; NULL: guest memory. What the commands do to the GGTT has
	 * been done, and refused commands have been reported.
	 */
	const struct audit_saved *saved;
	enum ghyvi_engine_id engine; /* the engine */
	u8 source; /* enum ghyvi_fetch_source of the current stream */
	u8 level; /* 0 in the ring and the indirect context batch, 1 or 2 in batches */
	bool privileged; /* the guest's kernel wrote the current stream */
	u64 mask; /* valid bits of addresses in the current stream */
	u64 pos; /* address of the current command, or its offset in the ring */
	s64 left; /* bytes until the current stream ends by its size; S64_MAX: only by a command */
	u32 ring_pos; /* in a batch: offset of the ring's command that starts it, directly or not */
	struct audit_page *page; /* copy of the page that contains @pos */
	u32 header; /* first dword of the current command */
	const struct ghyvi_command *command; /* table entry of the current command; NULL: unknown */
	unsigned int dwords; /* length of the current command */
	unsigned int nr_targets; /* number of elements used in audit->targets */
	s64 commands_left; /* rest of budget_commands; negative: exceeded */
	u32 batches_left; /* rest of budget_batches */
	enum audit_rule rule; /* the rule that the current command breaks */
};

static inline unsigned int audit_dword_in_page(u64 pos)
{
	return pos % GHYVI_PAGE_BYTES / 4;
}

/* Returns the position @dwords after the current one; the ring wraps. */
static inline u64 audit_pos_after(const struct audit_scan *scan, unsigned int dwords)
{
	u64 pos = scan->pos + 4ULL * dwords;

	if (scan->source == GHYVI_FETCH_RING && pos >= scan->commands->submission.ring_bytes)
		pos -= scan->commands->submission.ring_bytes;
	return pos & scan->mask;
}

/* refuse.c */
/*
 * Refuse the current command, because it breaks @rule. Returns -EACCES, or -ENOSPC if the budget of
 * an extension is used up.
 */
int ghyvi_audit_refuse(struct audit_scan *scan, enum audit_rule rule);
/* The command that was passed to ghyvi_audit_refuse(). */
struct audit_reject ghyvi_audit_rejected(const struct audit_scan *scan);
/* Count a refused command, and report it to the administrator. */
void ghyvi_audit_report(const struct audit_scan *scan, const struct audit_reject *reject);
/* Print the command that was refused last; its rule is AUDIT_PASSED if there is none. */
void ghyvi_audit_print(const struct audit_reject *reject, struct seq_file *m);

/* copy.c */
/* Returns the copy of the page with @key, or NULL. */
struct audit_page *ghyvi_audit_page_find(const struct audit_segment *segment, u64 key);
void ghyvi_audit_segment_free(struct ghyvi_audit *audit, struct audit_segment *segment);
static inline u64 audit_key(enum ghyvi_fetch_source source, u64 pos)
{
	return pos >> GHYVI_PAGE_SHIFT << 2 | source;
}
static inline enum ghyvi_fetch_source audit_key_source(u64 key)
{
	return key & 3;
}
static inline u64 audit_key_address(u64 key)
{
	return key >> 2 << GHYVI_PAGE_SHIFT;
}
static inline bool audit_start_seen(const struct audit_page *page, unsigned int level,
				    unsigned int index)
{
	return page->starts[level == 2][index / 64] & BIT_ULL(index % 64);
}

/* Returns the number of bytes from @from to @to in the ring, which may wrap between them. */
static inline u32 audit_ring_distance(const struct ghyvi_submission *submission, u32 from, u32 to)
{
	return to >= from ? to - from : to + submission->ring_bytes - from;
}

/* The functions that follow return 0 or an error, as those of scan.c. */
/*
 * Find the copy of the page that contains @pos in the current stream, or make it. A new page of the
 * ring is left empty: ghyvi_audit_copy_ring() fills it.
 */
int ghyvi_audit_copy_page(struct audit_scan *scan, u64 pos, struct audit_page **page);
/* Copy the segment's part of the ring to its pages. The ring is the current stream. */
int ghyvi_audit_copy_ring(struct audit_scan *scan);
/* Are all @bytes at @address in the vGPU's partition of the GGTT? */
bool ghyvi_audit_owns_ggtt(const struct audit_scan *scan, u64 address, u64 bytes);
/* Was a command that begins at @address scanned already, in a batch of @level? */
bool ghyvi_audit_target_seen(const struct audit_scan *scan, u64 address, u8 source, u8 level);
/* Schedule the batch at @address for scanning, unless it is not audited or was scanned already. */
int ghyvi_audit_scan_target(struct audit_scan *scan, u64 address, u8 source, u8 level);
/* Returns a contiguous copy of the current packet, which spans pages; NULL: error in *@err. */
const u32 *ghyvi_audit_scan_parts(struct audit_scan *scan, int *err);
/* Returns the contiguous dwords of the current packet; NULL: error in *@err. */
static inline const u32 *audit_scan_packet(struct audit_scan *scan, int *err)
{
	unsigned int index = audit_dword_in_page(scan->pos);

	if (likely(scan->dwords <= AUDIT_PAGE_DWORDS - index))
		return scan->page->dwords + index;
	return ghyvi_audit_scan_parts(scan, err);
}

/*
 * scan.c. The functions return 0 or an error: -EACCES: refused, scan->rule says why; -ENOSPC: an
 * extension that exceeds the workload's budget; -ENOMEM.
 */
/*
 * Fill scan->segment and check its commands. A refused command is reported and marked in the
 * segment. Returns 0, -ENOSPC or -ENOMEM.
 */
int ghyvi_audit_scan_segment(struct audit_scan *scan);

/* check.c */
/* Check the current command, whose length is valid, by its rules. Returns as the above. */
int ghyvi_audit_check(struct audit_scan *scan);

/* audit.c */
/*
 * Copy and audit the ring from @from to @to as a new segment, and publish that. The pages come from
 * @saved, or from guest memory if that is NULL. Returns 0, -ENOSPC or -ENOMEM.
 */
int ghyvi_audit_add_segment(struct ghyvi_commands *commands, u32 from, u32 to,
			    const struct audit_saved *saved);
/*
 * The mode in which saved commands of @engine that were audited in @mode are audited again: "log"
 * only in a vGPU that has this mode now. Returns -EINVAL if they cannot be audited here.
 */
int ghyvi_audit_saved_mode(struct ghyvi_audit *audit, enum ghyvi_engine_id engine, u32 mode);

#endif
