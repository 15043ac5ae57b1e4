/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Backend interface: the physical GPU, or an emulation of one. A backend describes its resources,
 * keeps one client per vGPU, and runs jobs. A job executes the ring contents of one context from
 * head to tail through shadow tables.
 */
#ifndef GHYVI_PGPU_H
#define GHYVI_PGPU_H

#include <ghyvi/types.h>
#include <ghyvi/report.h>
#include <ghyvi/stats.h>

struct ghyvi_job;
struct ghyvi_pgpu;

/**
 * struct ghyvi_pgpu_resources - resources of a pGPU that are divided among vGPUs.
 * @engines: bit mask of enum ghyvi_engine_id
 * @ggtt_bytes: size of the GGTT address space (not of its table) in bytes; a power of two, at most
 *	4 GiB
 * @aperture_bytes: size in bytes of the part of the GGTT address space, starting at 0, that a CPU
 *	can access through a BAR; a power of two, smaller than @ggtt_bytes
 * @fences: number of fence registers
 * @timestamp_hz: frequency of the engines' TIMESTAMP registers in Hz
 * @nested: the pGPU can run nested jobs. A nested job walks the guest's own tables; the backend
 *	translates their guest-physical addresses per client. All that is said below about nested
 *	jobs applies only if this is true.
 */
struct ghyvi_pgpu_resources {
	u32 engines;
	u64 ggtt_bytes;
	u64 aperture_bytes;
	u32 fences;
	u32 timestamp_hz;
	bool nested;
};

/* How a client may use a host page that it owns; checked by the isolation oracle. */
enum ghyvi_page_kind {
	GHYVI_PAGE_DATA, /* a pinned guest page */
	GHYVI_PAGE_TABLE, /* a shadow page */
	GHYVI_PAGE_SCRATCH, /* reads return zero, writes are dropped */
};

/* Interrupt sources of an engine, at their bit positions in the hardware's 16 bits per engine. */
#define GHYVI_EVENT_USER_INTERRUPT BIT(0)
#define GHYVI_EVENT_CS_ERROR BIT(3)
#define GHYVI_EVENT_FLUSH_NOTIFY BIT(4)
#define GHYVI_EVENT_CONTEXT_SWITCH BIT(8)

/**
 * struct ghyvi_client_params - parameters of a client; a client is the backend's view of a vGPU.
 * @ggtt: ranges of the GGTT that belong to the client; an engine access outside of them is an error
 * @nr_ggtt: number of valid ranges in @ggtt, 0..2
 * @registers: the vGPU's register file, an array of 32-bit words indexed by offset / 4. Command
 *	streamers load and store those words that the access rules allow, and no other client's.
 * @registers_bytes: size of @registers in bytes
 * @gen: hardware generation, 8 or 9
 * @reporter: target of messages that say why a job was stopped
 * @stats: counters of the vGPU; the backend counts oracle_violations, budget_overruns, and
 *	entries_rejected of nested jobs
 * @ggtt_table: the guest's GGTT table, one entry per page of the whole GGTT address space; nested
 *	jobs use it instead of the entries installed by @ggtt_write
 * @fault: called when a nested job needs guest page @gfn and @map_guest has not been called for it.
 *	Returns 0 when the page has been mapped (it may be unmapped again soon), or a negative errno
 *	when it cannot be mapped. May sleep; the backend holds none of its locks.
 * @owner: first argument of @fault
 *
 * All pointers stay valid as long as the client.
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

/**
 * struct ghyvi_pgpu_client - a vGPU as the backend sees it; a backend embeds it in a structure of
 *	its own.
 * @params: copy of the parameters of @client_create of struct ghyvi_pgpu_ops
 */
struct ghyvi_pgpu_client {
	struct ghyvi_client_params params;
};

enum ghyvi_job_status {
	GHYVI_JOB_COMPLETE, /* ring head reached the tail */
	/* Stopped between two commands by @preempt; @run of the same job resumes it. */
	GHYVI_JOB_PREEMPTED,
	/*
	 * A bad command or address, or too much GPU time. RING_HEAD is the offset of the command.
	 */
	GHYVI_JOB_ERROR,
	GHYVI_JOB_CANCELLED, /* stopped by @cancel */
};

/* Dword indices of register values in the register state of a context image. */
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

struct ghyvi_commands; /* copies of audited commands in host memory; see <ghyvi/audit.h> */

/* Where an engine fetches commands from. */
enum ghyvi_fetch_source {
	GHYVI_FETCH_RING,
	GHYVI_FETCH_INDIRECT, /* the indirect context batch, run when the context is loaded */
	GHYVI_FETCH_GGTT, /* a batch in the GGTT */
	GHYVI_FETCH_PPGTT, /* a batch in the PPGTT */
};

#define GHYVI_WINDOW_DWORDS 64

/**
 * struct ghyvi_cmd_prefetch - prefetched commands.
 * @at: position of @dwords[0]: an offset in the ring or a graphics address, in bytes
 * @count: number of valid dwords, 0..GHYVI_WINDOW_DWORDS
 * @starts: bit i is set if a command may begin at @dwords[i]
 * @dwords: the commands
 */
struct ghyvi_cmd_prefetch {
	u64 at;
	unsigned int count;
	u64 starts;
	u32 dwords[GHYVI_WINDOW_DWORDS];
};

/**
 * ghyvi_commands_fetch() - fetch audited commands for an engine.
 * @commands: commands of the job
 * @source: where the engine would fetch from
 * @level: 0 in the ring, 1 in a batch that the ring starts, 2 in a second-level batch
 * @at: position of the first command: an offset in the ring or a graphics address; a multiple of 4
 * @ring_head: for batches, the engine's offset in the ring, after the command that started the
 *	batch
 * @window: filled with the commands at @at. The engine may execute only commands that begin where
 *	@window->starts allows it.
 *
 * Context: any; may run concurrently with ghyvi_audit_extend(), which adds commands for a tail that
 * the engine does not know yet.
 * Return: the number of dwords in @window, which ends at the end of the page or the ring; 0 when
 * commands of @source are not audited, and the engine must fetch from guest memory; -EACCES when
 * the auditor has refused (and reported) the commands, and the job must end with GHYVI_JOB_ERROR;
 * -EFAULT when @at was never audited, which is an isolation violation.
 */
int ghyvi_commands_fetch(const struct ghyvi_commands *commands, enum ghyvi_fetch_source source,
			 unsigned int level, u64 at, u32 ring_head,
			 struct ghyvi_cmd_prefetch *window);

/* The value at GHYVI_CTX_INDIRECT: address and length of the indirect context batch. */
#define GHYVI_INDIRECT_ADDRESS GENMASK(31, 6)
#define GHYVI_INDIRECT_LINES GENMASK(5, 0)
#define GHYVI_INDIRECT_LINE_BYTES 64u

/* A batch that the ring starts, and a second-level batch that this batch calls. */
#define GHYVI_BATCH_LEVELS 2

/**
 * struct ghyvi_job - one workload as the backend sees it; embedded in the core's workload.
 * @client: client whose tables, registers and pages the job may access
 * @engine: engine that executes the job
 * @root: host address of the shadow PML4 page, or of the shadow PDP page (4 entries used) if
 *	@levels is 3
 * @levels: number of table levels, 4 or 3
 * @nested: walk the guest's tables instead of @root. As in a shadow, an entry that cannot be
 *	translated maps a page that reads as zero and drops writes.
 * @guest_root: if @nested, guest-physical address of the PML4 page, or of the four page directories
 * @context: the host's copy of the context's register state (GHYVI_CTX_DWORDS dwords). The engine
 *	loads ring registers, timestamp and GPRs from it, and saves RING_HEAD, CTX_TIMESTAMP and
 *	GPRs to it before @done. The core stores the ring tail in RING_TAIL before @run. The backend
 *	stores there the last tail that it was given when it returns a job that was preempted or had
 *	not begun.
 * @commands: audited commands, which the engine fetches instead of those in guest memory; NULL when
 *	no command is audited (tests of backends only)
 * @lrca: GGTT address of the context image; its first page (PPHWSP) is the target of STORE_INDEX
 *	writes
 * @restore: false if CONTEXT_CONTROL of the context says restore-inhibit: GPRs start at 0
 * @budget_ns: limit of the job's time on the engine in ns; 0: no limit. Past it the backend stops
 *	the job with GHYVI_JOB_ERROR as soon as it can, between two commands at the latest. When the
 *	engine reaches commands that @update_tail added, the time restarts from 0.
 * @done: called once per @run, when the engine has stopped executing the job. The backend calls it
 *	from a context that may sleep, with none of its locks held, and not from within @run. After
 *	the call the backend does not access the job.
 * @event: called by the backend with GHYVI_EVENT_* to raise interrupts. Does not sleep and calls no
 *	function of the backend. May be called in any context but NMI, also in hard interrupts and
 *	with the backend's spinlocks held.
 * @begun_ns: time at which the engine began this @run of the job, in ns of ktime_get_ns(); 0
 *	before. The backend sets it with WRITE_ONCE() at once, because the vGPU is charged from then
 *	on.
 * @busy_ns: time on the engine in ns; 0 if the job did not begin or has not ended. The backend sets
 *	it with WRITE_ONCE() when the job has ended, before @done.
 * @backend: the backend's part of the job: @job_bytes of struct ghyvi_pgpu_ops, allocated by the
 *	core. All 0 before the first @run; the core leaves it alone while the job is preempted. It
 *	is not accessible to a guest.
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
	void *backend;
};

/**
 * struct ghyvi_pgpu_ops - operations of a pGPU backend.
 *
 * The argument @pgpu of an operation is the pointer given to ghyvi_pgpu_register(). Unless stated
 * otherwise an operation may sleep. The core may hold its mutexes while it calls one.
 */
struct ghyvi_pgpu_ops {
	/** @name: short ASCII name of the backend, for example "softgpu" */
	const char *name;
	/** @job_bytes: size in bytes of the backend's part of a job; may be 0 */
	size_t job_bytes;
	/** @resources: fill in the resources, which are constant. */
	void (*resources)(void *pgpu, struct ghyvi_pgpu_resources *resources);

	/**
	 * @client_create: create a client. Copies @params. Returns the client or ERR_PTR(-ENOMEM).
	 */
	struct ghyvi_pgpu_client *(*client_create)(void *pgpu,
						   const struct ghyvi_client_params *params);
	/** @client_destroy: free a client. No job of the client is queued or running. */
	void (*client_destroy)(struct ghyvi_pgpu_client *client);

	/**
	 * @own_page: allow the client to access the host page at @bus as @kind. Counted: a page may
	 * be owned several times with the same kind. Returns 0 or -ENOMEM.
	 */
	int (*own_page)(struct ghyvi_pgpu_client *client, u64 bus, enum ghyvi_page_kind kind);
	/**
	 * @disown_page: undo one @own_page. The core has removed all table entries that map the
	 * page and called @invalidate.
	 */
	void (*disown_page)(struct ghyvi_pgpu_client *client, u64 bus);

	/**
	 * @ggtt_write: install @count GGTT entries, starting at index @first (GGTT address / 4
	 * KiB), within the client's ranges.
	 */
	void (*ggtt_write)(struct ghyvi_pgpu_client *client, u64 first, const u64 *entries,
			   unsigned int count);
	/** @ggtt_read: return the installed GGTT entry at @index. */
	u64 (*ggtt_read)(struct ghyvi_pgpu_client *client, u64 index);

	/**
	 * @map_guest: map the client's guest page @gfn to the host page at @bus, which the client
	 * owns, until @unmap_guest. For nested jobs; it and @unmap_guest are NULL if the backend
	 * has none. Returns 0 or -ENOMEM.
	 */
	int (*map_guest)(struct ghyvi_pgpu_client *client, u64 gfn, u64 bus);
	/**
	 * @unmap_guest: undo @map_guest. Engines may use the page until the next @invalidate
	 * returns.
	 */
	void (*unmap_guest)(struct ghyvi_pgpu_client *client, u64 gfn);

	/**
	 * @invalidate: drop cached translations. On return no engine uses, or will use, a
	 * translation of this client that was read from its tables (or the guest's) before the
	 * call. This includes accesses in progress. Waits for a bounded time.
	 */
	void (*invalidate)(struct ghyvi_pgpu_client *client);

	/**
	 * @run: put the job on its engine. The core gives an engine one job at a time. Must neither
	 * wait for the engine nor call @done. Returns 0, and then @done is called once; -EBUSY (the
	 * engine has a job); -EIO (the engine is dead).
	 */
	int (*run)(void *pgpu, struct ghyvi_job *job);
	/**
	 * @update_tail: move the ring tail of a job on the engine forward (lite restore). Does not
	 * wait for the engine. Returns 0 if the engine will execute up to @tail before the job
	 * completes, or -ESTALE if it cannot any more; then @done has been or will be called.
	 */
	int (*update_tail)(void *pgpu, struct ghyvi_job *job, u32 tail);
	/**
	 * @preempt: request that the job stops before its next command, in the ring or in a batch.
	 * @done reports the outcome. A request for a job that the engine does not have is ignored.
	 * Called with a spinlock of the core held: must not sleep. NULL if the backend cannot
	 * preempt.
	 */
	void (*preempt)(void *pgpu, struct ghyvi_job *job);
	/**
	 * @cancel: stop a job. On return the engine does not execute the job, and causes no further
	 * memory write or event for it. @done has been called, or is called with the status with
	 * which the job ended: GHYVI_JOB_CANCELLED, or another one if the job ended before it was
	 * stopped.
	 *
	 * The job may have ended before the call; it stays valid during the call. May be called
	 * with locks held that @done takes. It waits, for a bounded time, until the engine no
	 * longer executes the job, but never for @done of this or another job to return.
	 */
	void (*cancel)(void *pgpu, struct ghyvi_job *job);

	/** @timestamp: return the engines' clock in ticks of timestamp_hz. Any context. */
	u64 (*timestamp)(void *pgpu);
};

#endif
