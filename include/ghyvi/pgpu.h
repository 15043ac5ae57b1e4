/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seam 2: the physical GPU, or what stands in for it. A backend describes its resources, keeps one
 * client per vGPU, and runs jobs: one context's ring contents from head to tail, through shadow tables.
 */
#ifndef GHYVI_PGPU_H
#define GHYVI_PGPU_H

#include <ghyvi/types.h>
#include <ghyvi/report.h>
#include <ghyvi/stats.h>

struct ghyvi_job;
struct ghyvi_pgpu;
struct ghyvi_pgpu_client; /* the backend's own; opaque to the core */

/**
 * struct ghyvi_pgpu_resources - what there is to divide
 * @engines: bit mask of enum ghyvi_engine_id
 * @ggtt_bytes: size of the global address space (not of its table); power of two, at most 4 GiB
 * @aperture_bytes: the part of it, from 0 on, that a CPU can reach through a BAR
 * @fences: fence registers
 * @timestamp_hz: frequency of the engines' TIMESTAMP registers
 * @nested: runs jobs on the guest's own tables, translating guest-physical addresses per client; what
 *	struct ghyvi_client_params and the operations below say about nested jobs only matters then
 */
struct ghyvi_pgpu_resources {
	u32 engines;
	u64 ggtt_bytes;
	u64 aperture_bytes;
	u32 fences;
	u32 timestamp_hz;
	bool nested;
};

/* What a host page is to the client that owns it (for the isolation oracle). */
enum ghyvi_page_kind {
	GHYVI_PAGE_DATA, /* a guest page, pinned */
	GHYVI_PAGE_TABLE, /* a shadow page */
	GHYVI_PAGE_SCRATCH, /* reads as zero, writes are dropped */
};

/* Sources of an engine's interrupt, the bit positions of the hardware's 16-bit engine bank. */
#define GHYVI_EVENT_USER_INTERRUPT BIT(0)
#define GHYVI_EVENT_CS_ERROR BIT(3)
#define GHYVI_EVENT_FLUSH_NOTIFY BIT(4)
#define GHYVI_EVENT_CONTEXT_SWITCH BIT(8)

/**
 * struct ghyvi_client_params - a vGPU as the pGPU sees it
 * @ggtt: the ranges of the global address space that belong to the client; engines fault outside
 * @nr_ggtt: how many of @ggtt are used
 * @registers: the vGPU's register file as an array of 32-bit words, indexed by offset / 4;
 *	command streamers load and store those that the access rules allow, and nobody else's
 * @registers_bytes: its size
 * @gen: 8 or 9
 * @reporter: where to say why a job was stopped
 * @stats: the backend counts oracle_violations, and entries_rejected of nested jobs
 * @ggtt_table: the guest's GGTT table, one entry per page of the whole global address space; nested jobs use
 *	it instead of what @ggtt_write installed
 * @fault: a nested job needs guest page @gfn, and @map_guest did not say yet where it is. Returns 0 when it is
 *	mapped now (it may be gone again soon), or a negative errno: not to be had. May sleep; called with none of
 *	the backend's locks held.
 * @owner: its first argument
 * The pointers outlive the client.
 */
struct ghyvi_client_params {
	struct ghyvi_range ggtt[2];
	unsigned int nr_ggtt;
	u32 *registers;
	u32 registers_bytes;
	unsigned int gen;
	struct ghyvi_reporter *reporter;
	struct ghyvi_stats *stats;
	const u64 *ggtt_table;
	int (*fault)(void *owner, u64 gfn);
	void *owner;
};

enum ghyvi_job_status {
	GHYVI_JOB_COMPLETE, /* ring head reached the tail */
	GHYVI_JOB_PREEMPTED, /* stopped between two commands on request; @run of the same job goes on there */
	GHYVI_JOB_ERROR, /* a bad command or address; the engine is stopped at it, RING_HEAD names it */
	GHYVI_JOB_CANCELLED, /* stopped by @cancel */
};

/* Dword indices of the values in the register state of a context image. */
enum ghyvi_context_index {
	GHYVI_CTX_CONTROL = 0x03,
	GHYVI_CTX_RING_HEAD = 0x05,
	GHYVI_CTX_RING_TAIL = 0x07,
	GHYVI_CTX_RING_START = 0x09,
	GHYVI_CTX_RING_CTL = 0x0b,
	GHYVI_CTX_INDIRECT = 0x1b,
	GHYVI_CTX_INDIRECT_OFFSET = 0x1d,
	GHYVI_CTX_TIMESTAMP = 0x23,
	GHYVI_CTX_PDP3_UDW = 0x25,
	GHYVI_CTX_PDP0_UDW = 0x31,
	GHYVI_CTX_PDP0_LDW = 0x33,
	GHYVI_CTX_GPR = 0x69, /* 16 x (lo, hi), every second dword; Gen9 */
	GHYVI_CTX_DWORDS = GHYVI_PAGE_BYTES / 4,
};

struct ghyvi_commands; /* what the auditor let pass, in the host's memory; see <ghyvi/audit.h> */

/* Where an engine fetches commands from. */
enum ghyvi_fetch_source {
	GHYVI_FETCH_RING,
	GHYVI_FETCH_INDIRECT, /* the batch that the context asks for when it is loaded */
	GHYVI_FETCH_GGTT, /* a batch in the GGTT */
	GHYVI_FETCH_PPGTT, /* a batch in the PPGTT */
};

#define GHYVI_WINDOW_DWORDS 64

/**
 * struct ghyvi_cmd_prefetch - commands ahead of an engine
 * @at: of the first, an offset in the ring or a graphics address
 * @count: dwords that are there; 0: none
 * @starts: by dword: a command may begin here
 */
struct ghyvi_cmd_prefetch {
	u64 at;
	unsigned int count;
	u64 starts;
	u32 dwords[GHYVI_WINDOW_DWORDS];
};

/**
 * ghyvi_commands_fetch() - what an engine executes, as it was audited
 * @level: 0 in the ring, 1 in batches that it starts, 2 in batches that these call
 * @at: offset in the ring, or graphics address; a multiple of 4
 * @ring_head: for batches: the engine's place in the ring, behind the command that led to the batch
 * @window: gets what is at @at, and of the commands that begin there only those that passed may run
 *
 * Any context, also while more is added for a tail that the engine does not know yet.
 * Returns how many there are before the page or the ring ends; 0: not audited, they are in the guest's memory;
 * -EACCES: refused, which was reported, and the job ends here with GHYVI_JOB_ERROR; -EFAULT: nothing that was
 * audited leads there, which must not happen.
 */
int ghyvi_commands_fetch(const struct ghyvi_commands *commands, enum ghyvi_fetch_source source,
			 unsigned int level, u64 at, u32 ring_head, struct ghyvi_cmd_prefetch *window);

/* The value at GHYVI_CTX_INDIRECT: where the batch is, and how long. */
#define GHYVI_INDIRECT_ADDRESS GENMASK(31, 6)
#define GHYVI_INDIRECT_LINES GENMASK(5, 0)
#define GHYVI_INDIRECT_LINE_BYTES 64u

/* A batch that the ring starts, and one that this one calls. */
#define GHYVI_BATCH_LEVELS 2

/**
 * struct ghyvi_job - one workload as an engine sees it; embedded in the core's workload
 * @client: whose tables, registers and pages it may touch
 * @engine: which engine
 * @root: bus address of the shadow PML4, or of the shadow PDP page (4 entries used) when @levels is 3
 * @levels: 4 or 3
 * @nested: walk the guest's tables instead of @root's. An entry that cannot be translated reads as zero and drops
 *	writes; that much they have in common with shadows.
 * @guest_root: @nested: guest-physical address of the PML4 page, or of the four page directories
 * @context: the host's copy of the context's register state (GHYVI_CTX_DWORDS dwords). The engine loads
 *	ring registers, timestamp and GPRs from it and saves RING_HEAD, CTX_TIMESTAMP and GPRs to it
 *	before @done. The core puts the tail to run to into RING_TAIL before @run; of a preempted job the
 *	engine does, the last one that it was told.
 * @commands: commands are fetched from here, not from the guest's memory; NULL: nothing is audited (tests of backends)
 * @lrca: GGTT address of the context image; its first page (PPHWSP) is the target of STORE_INDEX posts
 * @restore: false for a context whose CONTROL says restore-inhibit: GPRs start at 0
 * @budget_ns: time on the engine after which the backend stops the job, with ERROR, as soon as it can: between
 *	commands, at the latest; counted again from 0 for what @update_tail added, when the
 *	engine comes to it. 0: no limit
 * @done: called once by the backend when the engine has left the job, from a context that may sleep,
 *	with none of the backend's locks held. From then on the backend does not touch the job.
 * @event: called by the backend, GHYVI_EVENT_*. Does not sleep; any context but NMI, hard interrupts
 *	included, also with the backend's spinlocks held. It calls nothing of the backend.
 * @begun_ns: when the engine began this @run of it, in ns of ktime_get_ns(); 0: it did not yet. Set by
 *	the backend with WRITE_ONCE() as soon as it has, because the vGPU is charged from then on
 * @busy_ns: time on the engine, set by the backend with WRITE_ONCE() when the job has ended, before
 *	@done; 0: it did not end, or it never began
 * @backend: for the backend: words of its own, which are all 0 before the first @run, and which the core leaves alone
 *	when a job was preempted: they say where in which batch it was. So no guest can change that.
 */
struct ghyvi_job {
	struct ghyvi_pgpu_client *client;
	enum ghyvi_engine_id engine;
	u64 root;
	unsigned int levels;
	bool nested;
	u64 guest_root[4];
	u32 *context;
	struct ghyvi_commands *commands;
	u32 lrca;
	bool restore;
	u64 budget_ns;
	void (*done)(struct ghyvi_job *job, enum ghyvi_job_status status);
	void (*event)(struct ghyvi_job *job, u32 events);
	u64 begun_ns;
	u64 busy_ns;
	struct {
		int state;
		u32 tail;
		u32 known_tail;
		bool stop;
		bool preempt;
		u64 since_ns;
		bool begun;
		u64 spent_ns;
		unsigned int level;
		struct {
			u64 address;
			bool ggtt;
		} batches[GHYVI_BATCH_LEVELS];
	} backend;
};

/**
 * struct ghyvi_pgpu_ops - a pGPU backend. The first argument is what was given at registration.
 */
struct ghyvi_pgpu_ops {
	const char *name; /* short, ASCII: "softgpu" */
	void (*resources)(void *pgpu, struct ghyvi_pgpu_resources *resources);

	/** @client_create: returns the client or ERR_PTR(-ENOMEM). */
	struct ghyvi_pgpu_client *(*client_create)(void *pgpu, const struct ghyvi_client_params *params);
	/** @client_destroy: no job of the client is queued or running any more. */
	void (*client_destroy)(struct ghyvi_pgpu_client *client);

	/**
	 * @own_page: the client may reach the host page at @bus from now on. Counted: a page can be owned
	 * several times, as long as the kind is the same. Returns 0 or -ENOMEM.
	 */
	int (*own_page)(struct ghyvi_pgpu_client *client, u64 bus, enum ghyvi_page_kind kind);
	/** @disown_page: undo one @own_page. Caller has made it unreachable and called @invalidate. */
	void (*disown_page)(struct ghyvi_pgpu_client *client, u64 bus);

	/** @ggtt_write: install @count entries from number @first (address / 4 KiB) on. */
	void (*ggtt_write)(struct ghyvi_pgpu_client *client, u64 first, const u64 *entries,
			   unsigned int count);
	/** @ggtt_read: what was installed. */
	u64 (*ggtt_read)(struct ghyvi_pgpu_client *client, u64 index);

	/**
	 * @map_guest: the client's guest page @gfn is the host page at @bus, which it owns, until
	 * @unmap_guest. Returns 0 or -ENOMEM. Both NULL when nested jobs are not offered.
	 */
	int (*map_guest)(struct ghyvi_pgpu_client *client, u64 gfn, u64 bus);
	/** @unmap_guest: no longer; engines may use it until the next @invalidate returns. */
	void (*unmap_guest)(struct ghyvi_pgpu_client *client, u64 gfn);

	/**
	 * @invalidate: when it returns, no engine uses or will use a translation of this client that
	 * was read from its tables (or the guest's) before the call, in-flight accesses included. May sleep; bounded.
	 */
	void (*invalidate)(struct ghyvi_pgpu_client *client);

	/**
	 * @run: put the job on its engine. The core gives an engine one job at a time. Never blocks for the
	 * engine. Returns 0 (and @done will be called), -EBUSY, -EIO (engine dead).
	 */
	int (*run)(void *pgpu, struct ghyvi_job *job);
	/**
	 * @update_tail: move the tail of a running job on (lite restore). Returns 0 when the engine will
	 * run to @tail before it completes, -ESTALE when it no longer can; then @done comes or came.
	 */
	int (*update_tail)(void *pgpu, struct ghyvi_job *job, u32 tail);
	/** @preempt: ask the job to stop at the next command, in the ring or a batch; @done tells. Does not wait. */
	void (*preempt)(void *pgpu, struct ghyvi_job *job);
	/**
	 * @cancel: stop a job. When it returns the engine has left the job (no later memory write, no event);
	 * @done was called, or is being called, with COMPLETE or CANCELLED or ERROR. Sleeps, bounded.
	 * The caller must not hold locks that @done takes.. except that @done may be waiting for them:
	 * @cancel does not wait for @done to return.
	 */
	void (*cancel)(void *pgpu, struct ghyvi_job *job);

	/** @timestamp: the engines' clock, in its own ticks. Any context. */
	u64 (*timestamp)(void *pgpu);
};

#endif
