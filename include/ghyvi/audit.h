/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The auditor of one vGPU. What its guest submits is read once, into the host's memory, and looked at there; what
 * passed is what the engine fetches (see @commands of struct ghyvi_job), whatever the guest writes meanwhile.
 *
 * DOC: what is audited, and when
 *
 * When an engine takes a workload, and when a running one's tail moves on: the ring between head and tail, the
 * indirect context batch, and every batch that they can lead to, chained and second-level ones included. Batches in
 * the GGTT always, batches in the PPGTT in the modes "full" and "log". The rules are in <ghyvi/commands.h>.
 *
 * A workload with a refused command runs up to the command of the ring that leads there, and ends with an error: the
 * guest sees its engine stop at it and resets it, as after a bad command on hardware.
 *
 * DOC: limits
 *
 * Commands run as they were when the tail was seen to cover them. In the mode "full" that concerns user space: a batch
 * that the GPU or another CPU rewrites after it was submitted, even a spinning one that waits to be overwritten with
 * its end, does not notice. (Commands of the guest's kernel are never written that late.)
 */
#ifndef GHYVI_AUDIT_H
#define GHYVI_AUDIT_H

#include <ghyvi/hv.h>
#include <ghyvi/pgpu.h>

struct ghyvi_audit;
struct ghyvi_root;
struct seq_file;

/* What is audited; in the order of their names in ghyvi_audit_mode_list(). */
enum ghyvi_audit_mode {
	GHYVI_AUDIT_PRIVILEGED, /* what the guest's kernel wrote; isolation from its user space is the engine's */
	GHYVI_AUDIT_FULL, /* and all batches of its user space */
	GHYVI_AUDIT_LOG, /* as "full", but report and let pass */
};

/**
 * struct ghyvi_audit_budget - how much one submission may make the host read and look at
 * @budget_bytes: commands copied, in whole pages; of all submissions that one workload was extended by, too
 * @budget_commands: commands looked at; each entry of the GGTT that one stores counts as a command, too
 * @budget_batches: different places that batches are started at. Whatever it says, a submission cannot start
 *	more than GHYVI_AUDIT_BATCHES_MAX.
 * @budget_us: microseconds; a safety net for when the host is slow, the others bound the work
 */
struct ghyvi_audit_budget {
	u32 budget_bytes;
	u32 budget_commands;
	u32 budget_batches;
	u32 budget_us;
};

#define GHYVI_AUDIT_BYTES_MIN (64u << 10)
#define GHYVI_AUDIT_BYTES_MAX (64u << 20)
#define GHYVI_AUDIT_BYTES_DEFAULT (4u << 20)
#define GHYVI_AUDIT_COMMANDS_MIN 1024u
#define GHYVI_AUDIT_COMMANDS_MAX (16u << 20)
#define GHYVI_AUDIT_COMMANDS_DEFAULT (1u << 20)
#define GHYVI_AUDIT_BATCHES_MIN 1u
#define GHYVI_AUDIT_BATCHES_MAX 1024u
#define GHYVI_AUDIT_BATCHES_DEFAULT 1024u
#define GHYVI_AUDIT_US_MIN 1000u
#define GHYVI_AUDIT_US_MAX 10000000u
#define GHYVI_AUDIT_US_DEFAULT 500000u

/**
 * struct ghyvi_audit_params - copied
 * @gen: 8 or 9
 * @ggtt: the vGPU's partition
 * @read: copy commands: @bytes at @address, all in one page, of the GGTT (@root NULL) or of the PPGTT that @root is
 *	the top of. Reads each byte once. 0, or -EFAULT: not mapped.
 * @update_ggtt: by command the guest stores @entry as number @index, of @ggtt, in its table
 * @owner: their first argument
 */
struct ghyvi_audit_params {
	unsigned int gen;
	struct ghyvi_range ggtt[2];
	unsigned int nr_ggtt;
	int (*read)(void *owner, struct ghyvi_root *root, u64 address, void *buffer, size_t bytes);
	void (*update_ggtt)(void *owner, u64 index, u64 entry);
	void *owner;
	struct ghyvi_reporter *reporter;
	struct ghyvi_stats *stats;
};

/** ghyvi_audit_create() - mode "privileged", default budget. ERR_PTR(-ENOMEM). */
struct ghyvi_audit *ghyvi_audit_create(const struct ghyvi_audit_params *params);
/** ghyvi_audit_destroy() - every struct ghyvi_commands of it was freed. */
void ghyvi_audit_destroy(struct ghyvi_audit *audit);

/** ghyvi_audit_set_mode() - by name, at any time, for workloads that begin from now on. -EINVAL: no such mode. */
int ghyvi_audit_set_mode(struct ghyvi_audit *audit, const char *name);
/** ghyvi_audit_mode_list() - all names in one line, the active one in brackets. Returns bytes written. */
int ghyvi_audit_mode_list(struct ghyvi_audit *audit, char *buffer, size_t bytes);
void ghyvi_audit_budget(struct ghyvi_audit *audit, struct ghyvi_audit_budget *budget);
/** ghyvi_audit_set_budget() - at any time. -EINVAL: one is out of its range, nothing changes. */
int ghyvi_audit_set_budget(struct ghyvi_audit *audit, const struct ghyvi_audit_budget *budget);
/** ghyvi_audit_dump() - debugfs: the mode and the command that was refused last. */
void ghyvi_audit_dump(struct ghyvi_audit *audit, struct seq_file *m);

/**
 * struct ghyvi_submission - what an engine is about to run
 * @root: the context's tables, synchronised; used until the commands are freed
 * @ppgtt_mask: the bits of an address that they translate
 * @lrca: names the context
 * @ring_start, @ring_bytes: the ring in the GGTT, all of it the vGPU's
 * @head, @tail: the commands in it, as offsets; different, both smaller than @ring_bytes,
 *	multiples of 4
 * @indirect, @indirect_bytes: the batch that runs when the context is loaded; 0 bytes: none
 */
struct ghyvi_submission {
	enum ghyvi_engine_id engine;
	struct ghyvi_root *root;
	u64 ppgtt_mask;
	u32 lrca;
	u32 ring_start, ring_bytes;
	u32 head, tail;
	u32 indirect, indirect_bytes;
};

/*
 * The four below may sleep. The caller makes sure that only one of them runs for one vGPU at a time; engines may
 * fetch meanwhile. A vGPU keeps up to 1 MiB of pages for the next submissions.
 */

/**
 * ghyvi_audit_submission() - copy and audit. Returns the commands for the job, to be freed with
 * ghyvi_commands_free(), or ERR_PTR(-ENOMEM). What was refused is reported, and in the commands.
 */
struct ghyvi_commands *ghyvi_audit_submission(struct ghyvi_audit *audit,
					      const struct ghyvi_submission *submission);
/**
 * ghyvi_audit_extend() - the tail moves on to @tail; the engine must not run that far before this returns 0.
 * Returns 0, -ENOMEM, or -ENOSPC: @commands cannot take it (the ring comes round, budgets, a refused command before).
 * The caller then lets the workload end where it would have and submits the rest anew.
 */
int ghyvi_audit_extend(struct ghyvi_commands *commands, u32 tail);
/** ghyvi_audit_reset() - keep no pages: the next submissions are another guest's. */
void ghyvi_audit_reset(struct ghyvi_audit *audit);
/** ghyvi_commands_free() - the engine has left the job. NULL is ignored. */
void ghyvi_commands_free(struct ghyvi_commands *commands);

#endif
