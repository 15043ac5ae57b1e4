/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The auditor of one vGPU. Commands that its guest submits are read once, into host memory, and
 * checked there. The engine fetches the commands that passed from that copy (@commands of struct
 * ghyvi_job), so guest writes after the check have no effect.
 *
 * DOC: what is audited, and when
 *
 * An audit takes place when a workload is prepared for its engine, and when the tail of a running
 * workload moves. It covers the ring between head and tail, the indirect context batch, and every
 * batch that these can start, including chained and second-level batches. Batches in the GGTT are
 * always audited, batches in the PPGTT in the modes "full" and "log". The rules are in
 * <ghyvi/commands.h>.
 *
 * A workload with a refused command runs up to the ring's command that reaches it, and ends with an
 * error. The guest sees its engine stop at that command and resets it, as after a bad command on
 * hardware.
 *
 * DOC: limits
 *
 * Commands are executed as they were when they were copied. In the mode "full" this affects user
 * space: if the GPU or a CPU rewrites a batch after its submission, the copy is not what is to run.
 * An engine that can compare the copy with guest memory ends the job there, with an error; others
 * run the copy. The guest's kernel never writes commands that late.
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
	GHYVI_AUDIT_PRIVILEGED, /* what the guest's kernel wrote; engines restrict user space */
	GHYVI_AUDIT_FULL, /* all batches of the guest's user space, too */
	GHYVI_AUDIT_LOG, /* as "full", but violations are only reported */
};

/**
 * struct ghyvi_audit_budget - limits on the work that one submission causes in the host
 */
struct ghyvi_audit_budget {
	/**
	 * @budget_bytes: bytes of commands copied, in whole pages, over a submission and all
	 * extensions of it; GHYVI_AUDIT_BYTES_MIN to GHYVI_AUDIT_BYTES_MAX
	 */
	u32 budget_bytes;
	/**
	 * @budget_commands: commands checked, plus GGTT entries that commands store;
	 * GHYVI_AUDIT_COMMANDS_MIN to GHYVI_AUDIT_COMMANDS_MAX
	 */
	u32 budget_commands;
	/**
	 * @budget_batches: distinct addresses at which batches are started;
	 * GHYVI_AUDIT_BATCHES_MIN to GHYVI_AUDIT_BATCHES_MAX. A submission can never start more
	 * than GHYVI_AUDIT_BATCHES_MAX.
	 */
	u32 budget_batches;
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

/**
 * struct ghyvi_audit_owner - the vGPU of an auditor; it embeds this structure
 */
struct ghyvi_audit_owner {
	/**
	 * @read: copy @bytes of commands at @address to @buffer. They are in one page of the PPGTT
	 * whose root is @root, or of the GGTT if @root is NULL. Reads each byte of guest memory
	 * once. May sleep. Returns 0, or -EFAULT: not mapped.
	 */
	int (*read)(struct ghyvi_audit_owner *owner, struct ghyvi_root *root, u64 address,
		    void *buffer, size_t bytes);
	/**
	 * @update_ggtt: store @entry at @index of the guest's GGTT table, on behalf of a command.
	 * @index is in the vGPU's partition. May sleep.
	 */
	void (*update_ggtt)(struct ghyvi_audit_owner *owner, u64 index, u64 entry);
};

/**
 * struct ghyvi_audit_params - parameters of an auditor; copied by ghyvi_audit_create()
 */
struct ghyvi_audit_params {
	/** @gen: 8 or 9 */
	unsigned int gen;
	/** @ggtt: the vGPU's partition of the GGTT */
	struct ghyvi_range ggtt[2];
	/** @nr_ggtt: number of ranges in @ggtt, 0 to 2 */
	unsigned int nr_ggtt;
	/** @enforced: as @audit_enforced of struct ghyvi_pgpu_resources */
	bool enforced;
	/** @user_engines: as @audit_user_engines of struct ghyvi_pgpu_resources */
	u32 user_engines;
	/** @owner: reads and updates the guest's memory */
	struct ghyvi_audit_owner *owner;
	/** @reporter: for reports of refused commands */
	struct ghyvi_reporter *reporter;
	/** @stats: counters to update */
	struct ghyvi_stats *stats;
};

/**
 * ghyvi_audit_create() - create an auditor.
 * @params: its parameters; what they point to must outlive the auditor
 *
 * The mode is "privileged", the budget has its default values.
 *
 * Context: may sleep.
 * Return: the auditor, or ERR_PTR(-ENOMEM).
 */
struct ghyvi_audit *ghyvi_audit_create(const struct ghyvi_audit_params *params);

/**
 * ghyvi_audit_destroy() - free an auditor.
 * @audit: the auditor; all its struct ghyvi_commands are freed
 *
 * Context: may sleep.
 */
void ghyvi_audit_destroy(struct ghyvi_audit *audit);

/**
 * ghyvi_audit_set_mode() - change what is audited.
 * @audit: the auditor
 * @name: name of the mode: "privileged", "full" or "log"
 *
 * May be called at any time. Applies to later calls of ghyvi_audit_submission().
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL: there is no such mode.
 */
int ghyvi_audit_set_mode(struct ghyvi_audit *audit, const char *name);

/**
 * ghyvi_audit_mode_list() - list the names of all modes.
 * @audit: the auditor
 * @buffer: receives one line of names, the active one in brackets, and a NUL
 * @bytes: size of @buffer in bytes
 *
 * Context: any.
 * Return: the length of the line in bytes, without the NUL.
 */
int ghyvi_audit_mode_list(struct ghyvi_audit *audit, char *buffer, size_t bytes);

/**
 * ghyvi_audit_get_budget() - get the budget of submissions.
 * @audit: the auditor
 * @budget: filled with the budget
 *
 * Context: may sleep.
 */
void ghyvi_audit_get_budget(struct ghyvi_audit *audit, struct ghyvi_audit_budget *budget);

/**
 * ghyvi_audit_set_budget() - change the budget of submissions.
 * @audit: the auditor
 * @budget: the new budget
 *
 * May be called at any time.
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL: a limit is out of its range, and none was changed.
 */
int ghyvi_audit_set_budget(struct ghyvi_audit *audit, const struct ghyvi_audit_budget *budget);

/**
 * ghyvi_audit_dump() - print the mode and the last refused command, for debugfs.
 * @audit: the auditor
 * @m: where to print
 *
 * Context: may sleep.
 */
void ghyvi_audit_dump(struct ghyvi_audit *audit, struct seq_file *m);

/**
 * struct ghyvi_submission - the commands that an engine is about to run
 */
struct ghyvi_submission {
	/** @engine: which engine */
	enum ghyvi_engine_id engine;
	/** @root: the context's PPGTT, synced; used until the commands are freed */
	struct ghyvi_root *root;
	/** @ppgtt_mask: the bits of a graphics address that the PPGTT translates */
	u64 ppgtt_mask;
	/** @lrca: GGTT address of the context image; names the context in reports */
	u32 lrca;
	/** @ring_start: GGTT address of the ring */
	u32 ring_start;
	/** @ring_bytes: size of the ring, which is in the vGPU's partition as a whole */
	u32 ring_bytes;
	/** @head: offset of the first command in the ring; a multiple of 4, below @ring_bytes */
	u32 head;
	/** @tail: offset after the last command; as @head, and different from it */
	u32 tail;
	/** @indirect: GGTT address of the batch that runs when the context is loaded */
	u32 indirect;
	/** @indirect_bytes: size of that batch; 0: there is none */
	u32 indirect_bytes;
};

/*
 * The functions below may sleep. The caller ensures that only one of them runs for one vGPU at
 * a time. Engines may fetch commands meanwhile. A vGPU keeps up to 1 MiB of pages between
 * submissions.
 */

/**
 * ghyvi_audit_submission() - copy and audit the commands of a submission.
 * @audit: the auditor
 * @submission: the commands; copied
 *
 * A refused command is reported, and recorded in the returned commands. A submission that exceeds
 * the budget is split, if its ring has a place before the command that exceeds it: the commands end
 * there, see ghyvi_commands_tail(), and the caller submits the rest as a new workload. If the part
 * of the ring alone has more bytes than the budget, all of it is refused.
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 * Return: the commands for struct ghyvi_job, to be freed with ghyvi_commands_free(), or
 * ERR_PTR(-ENOMEM).
 */
struct ghyvi_commands *ghyvi_audit_submission(struct ghyvi_audit *audit,
					      const struct ghyvi_submission *submission);

/**
 * ghyvi_commands_tail() - get the place in the ring up to which commands were audited.
 * @commands: the commands of a workload
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 * Return: the tail of the submission or of its last extension; an earlier multiple of 8 if the
 * submission was split.
 */
u32 ghyvi_commands_tail(const struct ghyvi_commands *commands);

/**
 * ghyvi_audit_extend() - copy and audit the commands that a tail move adds to a workload.
 * @commands: the commands of the workload
 * @tail: the new tail, as an offset in the ring in bytes; a multiple of 4, below the ring's size
 *
 * The engine must not run beyond the old tail before this function has returned 0.
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 * Return: 0; -ENOMEM; or -ENOSPC if @commands cannot be extended. The reason is that the ring would
 * wrap onto commands of the same workload, that a budget or the number of extensions is used up, or
 * that a command was refused before. After an error the caller lets the workload end at the old
 * tail and submits the rest as a new workload.
 */
int ghyvi_audit_extend(struct ghyvi_commands *commands, u32 tail);

/**
 * ghyvi_audit_reset() - free the pages that are kept between submissions.
 * @audit: the auditor
 *
 * To be called when the next submissions may be those of another guest.
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 */
void ghyvi_audit_reset(struct ghyvi_audit *audit);

/**
 * ghyvi_audit_set_ggtt() - replace the vGPU's partition of the GGTT by another one.
 * @audit: the auditor; there is no submission
 * @ggtt: as @ggtt of struct ghyvi_audit_params
 * @nr_ggtt: number of ranges in @ggtt, 0 to 2
 *
 * Context: any; no other call for the vGPU's submissions until it returns.
 */
void ghyvi_audit_set_ggtt(struct ghyvi_audit *audit, const struct ghyvi_range *ggtt,
			  unsigned int nr_ggtt);

/**
 * ghyvi_commands_state_bytes() - get the size of the state of a workload's commands.
 * @commands: the commands
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 * Return: the size in bytes, a multiple of 8.
 */
size_t ghyvi_commands_state_bytes(const struct ghyvi_commands *commands);

/**
 * ghyvi_commands_save() - save the copies of a workload's commands.
 * @commands: the commands; no engine runs them
 * @state: filled with ghyvi_commands_state_bytes() bytes; aligned to 8
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 */
void ghyvi_commands_save(const struct ghyvi_commands *commands, void *state);

/**
 * ghyvi_audit_load() - audit saved commands again.
 * @audit: the auditor
 * @submission: the commands; copied. @tail is ignored. @root is set later, see
 *	ghyvi_commands_set_root().
 * @state: what ghyvi_commands_save() has written, from an untrusted source; aligned to 8
 * @bytes: size of @state
 *
 * Reads no guest memory, and does not repeat what the commands did to the GGTT when they were
 * audited first.
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 * Return: the commands, as ghyvi_audit_submission() and ghyvi_audit_extend() have left them, or
 * ERR_PTR: -EINVAL: @state is not valid; -ENOMEM.
 */
struct ghyvi_commands *ghyvi_audit_load(struct ghyvi_audit *audit,
					const struct ghyvi_submission *submission,
					const void *state, size_t bytes);

/**
 * ghyvi_commands_reach() - test whether an engine can have got to a place in the ring.
 * @commands: commands from ghyvi_audit_load()
 * @head: the place, as an offset in the ring in bytes, below its size
 *
 * An engine stops at the ring's command that is refused, or that starts a batch with a refused
 * command. So it is in no such batch either.
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 * Return: false if @head is after the audited commands, or after that command.
 */
bool ghyvi_commands_reach(const struct ghyvi_commands *commands, u32 head);

/**
 * ghyvi_commands_set_root() - set the PPGTT of commands from ghyvi_audit_load().
 * @commands: the commands, not extended before
 * @root: as in struct ghyvi_submission
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 */
void ghyvi_commands_set_root(struct ghyvi_commands *commands, struct ghyvi_root *root);

/**
 * ghyvi_commands_free() - free the commands of a job that has left its engine.
 * @commands: the commands, or NULL
 *
 * Context: may sleep; one call per vGPU at a time, see above.
 */
void ghyvi_commands_free(struct ghyvi_commands *commands);

#endif
