/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Backend interface: the physical GPU, or an emulation of one. A backend describes its resources,
 * keeps one client per vGPU, and runs jobs. A job executes the ring contents of one context from
 * head to tail through shadow tables.
 */
#ifndef GHYVI_PGPU_H
#define GHYVI_PGPU_H

#include <linux/compiler.h>
#include <linux/wait.h>
#include <ghyvi/types.h>
#include <ghyvi/report.h>
#include <ghyvi/stats.h>

struct ghyvi_job;
struct ghyvi_pgpu;
struct ghyvi_pgpu_ops;

/**
 * struct ghyvi_pgpu_device - a pGPU as the core sees it; a backend embeds it in a structure of its
 *	own.
 * @ops: operations of the backend
 */
struct ghyvi_pgpu_device {
	const struct ghyvi_pgpu_ops *ops;
};

/* Maximum number of reserved ranges of a pGPU. */
#define GHYVI_RESERVED_RANGES 4

/**
 * struct ghyvi_pgpu_resources - resources of a pGPU that are divided among vGPUs.
 * @engines: bit mask of enum ghyvi_engine_id
 * @gens: bit mask of the hardware generations of the vGPUs that it runs: BIT(8), BIT(9)
 * @ggtt_bytes: size of the GGTT address space (not of its table) in bytes; a power of two, at most
 *	4 GiB
 * @aperture_bytes: size in bytes of the part of the GGTT address space, starting at 0, that a CPU
 *	can access through a BAR; a power of two, smaller than @ggtt_bytes
 * @reserved: ranges of the GGTT address space that the backend keeps for itself, for example for
 *	status pages, rings and context images; in multiples of pages, in any order. No vGPU gets an
 *	address in them: vGPUs share the largest range after the aperture that is left.
 * @nr_reserved: number of valid ranges in @reserved
 * @fences: number of fence registers
 * @timestamp_hz: frequency in Hz of @timestamp of struct ghyvi_pgpu_ops; at least that of the
 *	engines' TIMESTAMP registers, so that a CPU never reads less than an engine has stored
 * @jobs_per_engine: number of jobs that an engine takes at a time, at least 1: the one that it
 *	executes, and those that it executes next without waiting for the core
 * @audit_enforced: the engines execute whatever a ring contains, so a refused command must never
 *	reach one: the audit mode "log" acts like "full"
 * @audit_user_engines: bit mask of engines that let user batches do more than the rules allow: user
 *	batches of these are always audited, and the backend installs their copies
 * @private_ggtt: each client has a GGTT of its own, so several clients may have the same addresses.
 *	If false, all clients share one, and their ranges never overlap.
 * @nested: the pGPU can run nested jobs. A nested job walks the guest's own tables; the backend
 *	translates their guest-physical addresses per client. All that is said below about nested
 *	jobs applies only if this is true.
 */
struct ghyvi_pgpu_resources {
	u32 engines;
	u32 gens;
	u64 ggtt_bytes;
	u64 aperture_bytes;
	struct ghyvi_range reserved[GHYVI_RESERVED_RANGES];
	unsigned int nr_reserved;
	u32 fences;
	u32 timestamp_hz;
	unsigned int jobs_per_engine;
	bool audit_enforced;
	u32 audit_user_engines;
	bool private_ggtt;
	bool nested;
};

/* How a client may use a host page that it owns; checked by the isolation oracle. */
enum ghyvi_page_kind {
	GHYVI_PAGE_DATA, /* a pinned guest page */
	GHYVI_PAGE_TABLE, /* a shadow page */
	/*
	 * Engines may write to it through the GGTT, whose entries cannot forbid that, if the
	 * backend's hardware does not drop such writes. No other mapping allows writes.
	 */
	GHYVI_PAGE_SCRATCH,
};

/* Interrupt sources of an engine, at their bit positions in the hardware's 16 bits per engine. */
#define GHYVI_EVENT_USER_INTERRUPT BIT(0)
#define GHYVI_EVENT_CS_ERROR BIT(3)
#define GHYVI_EVENT_FLUSH_NOTIFY BIT(4)
#define GHYVI_EVENT_CONTEXT_SWITCH BIT(8)

/**
 * struct ghyvi_client_owner - the core's side of a client that runs nested jobs; the core embeds it
 *	in a structure of its own.
 * @fault: called when a nested job on @engine needs guest page @gfn and @map_guest has not been
 *	called for it. A thread of the core maps the page, which may take any time: the memory can
 *	be a file whose pages a program of the user supplies. Does not sleep. Ends the fault before
 *	it on the same engine. The backend holds none of its locks.
 * @fault_status: returns -EINPROGRESS until the last @fault on @engine has ended. Then 0 if the
 *	page was mapped (it may be unmapped again soon), or a negative errno if it cannot be mapped.
 *	Does not sleep.
 * @faulted: woken when @fault_status changes. The backend sleeps here, but no longer than until the
 *	job is to be stopped: other clients may wait for the engine.
 */
struct ghyvi_client_owner {
	void (*fault)(struct ghyvi_client_owner *owner, enum ghyvi_engine_id engine, u64 gfn);
	int (*fault_status)(struct ghyvi_client_owner *owner, enum ghyvi_engine_id engine);
	wait_queue_head_t faulted;
};

/* A whole number of TIMESTAMP ticks of both generations. */
#define GHYVI_CLOCK_STEP_NS 2000

/**
 * struct ghyvi_client_params - parameters of a client; a client is the backend's view of a vGPU.
 * @ggtt: ranges of the GGTT that belong to the client; an engine access outside of them is an
 *	error. See @private_ggtt of struct ghyvi_pgpu_resources
 * @nr_ggtt: number of valid ranges in @ggtt, 0..2
 * @registers: the vGPU's register file, an array of 32-bit words indexed by offset / 4. Command
 *	streamers load and store those words that the access rules allow, and no other client's.
 * @registers_bytes: size of @registers in bytes
 * @shown: copies of pages of @registers that the guest maps, by page number; NULL for the other
 *	pages. NULL: there are none. Use ghyvi_client_set_register().
 * @gen: hardware generation, 8 or 9
 * @reporter: target of messages that say why a job was stopped
 * @stats: counters of the vGPU; the backend counts oracle_violations, budget_overruns, and
 *	entries_rejected of nested jobs
 * @ggtt_table: the guest's GGTT table, one entry per page of the whole GGTT address space; nested
 *	jobs use it instead of the entries installed by @ggtt_write
 * @owner: handles faults of nested jobs; NULL: the client runs none
 * @clock_offset_ns: what the client's TIMESTAMP is ahead of the host's clock, in ns, modulo 2^64;
 *	may change while no job runs; a multiple of GHYVI_CLOCK_STEP_NS. NULL: 0. A backend whose
 *	jobs can be saved adds it; the core adds it to @timestamp of struct ghyvi_pgpu_ops.
 *
 * All pointers stay valid as long as the client.
 */
struct ghyvi_client_params {
	struct ghyvi_range ggtt[2];
	unsigned int nr_ggtt;
	u32 *registers;
	u32 registers_bytes;
	u32 *const *shown;
	unsigned int gen;
	struct ghyvi_reporter *reporter;
	struct ghyvi_stats *stats;
	const u64 *ggtt_table;
	struct ghyvi_client_owner *owner;
	const u64 *clock_offset_ns;
};

/**
 * ghyvi_client_set_register() - store a register, also in the copy that the guest maps.
 * @params: parameters of the client
 * @offset: offset of the register, below @registers_bytes of @params
 * @value: value to store
 *
 * Context: any.
 */
static inline void ghyvi_client_set_register(const struct ghyvi_client_params *params, u32 offset,
					     u32 value)
{
	u32 *page = params->shown ? params->shown[offset >> GHYVI_PAGE_SHIFT] : NULL;

	WRITE_ONCE(params->registers[offset / 4], value);
	if (!page)
		return;
	/* As in vgpu_mirror_show(): the last thread that stores the register shows it. */
	do {
		value = READ_ONCE(params->registers[offset / 4]);
		WRITE_ONCE(page[offset % GHYVI_PAGE_BYTES / 4], value);
		smp_mb(); /* shown before the value is read again */
	} while (READ_ONCE(params->registers[offset / 4]) != value);
}

/**
 * struct ghyvi_pgpu_client - a vGPU as the backend sees it; a backend embeds it in a structure of
 *	its own.
 * @params: copy of the parameters of @client_create of struct ghyvi_pgpu_ops
 */
struct ghyvi_pgpu_client {
	struct ghyvi_client_params params;
};

/**
 * struct ghyvi_pgpu_context - a guest's context as the backend sees it; a backend embeds it in a
 *	structure of its own.
 * @client: client that the context belongs to
 * @engine: engine that the context is for
 * @lrca: GGTT address of the guest's context image
 *
 * It lives across jobs, so a backend can keep there what hardware saves and restores.
 */
struct ghyvi_pgpu_context {
	struct ghyvi_pgpu_client *client;
	enum ghyvi_engine_id engine;
	u32 lrca;
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
	/*
	 * An MI_LOAD_REGISTER_IMM with the context's other registers: header, then offset and value
	 * of each slot of ghyvi_register_slots(). The place is ghyvi's; drivers do not look there.
	 */
	GHYVI_CTX_REGISTERS = 0x200,
	/*
	 * The last STATE_BASE_ADDRESS, MEDIA_VFE_STATE, MEDIA_CURBE_LOAD and
	 * MEDIA_INTERFACE_DESCRIPTOR_LOAD of an RCS context, for backends whose hardware has no
	 * image of its own: see compute.c of softgpu. GHYVI_COMPUTE_DWORDS, all 0 in a new context.
	 */
	GHYVI_CTX_COMPUTE = 0x300,
	GHYVI_CTX_DWORDS = GHYVI_PAGE_BYTES / 4,
};

/* Number of dwords at GHYVI_CTX_COMPUTE. */
#define GHYVI_COMPUTE_DWORDS 36

struct ghyvi_commands; /* copies of audited commands in host memory; see <ghyvi/audit.h> */

/* Where an engine fetches commands from. */
enum ghyvi_fetch_source {
	GHYVI_FETCH_RING,
	GHYVI_FETCH_INDIRECT, /* the indirect context batch, run when the context is loaded */
	GHYVI_FETCH_GGTT, /* a batch in the GGTT */
	GHYVI_FETCH_PPGTT, /* a batch in the PPGTT */
};

/* Index of the value of a context register, by its slot. */
static inline unsigned int ghyvi_context_value(unsigned int slot)
{
	return GHYVI_CTX_REGISTERS + 2 + 2 * slot;
}

#define GHYVI_WINDOW_DWORDS 64

/**
 * struct ghyvi_cmd_prefetch - prefetched commands.
 * @pos: position of @dwords[0]: an offset in the ring or a graphics address, in bytes
 * @count: number of valid dwords, 0..GHYVI_WINDOW_DWORDS
 * @starts: bit i is set if a command may begin at @dwords[i]
 * @dwords: the commands
 */
struct ghyvi_cmd_prefetch {
	u64 pos;
	unsigned int count;
	u64 starts;
	u32 dwords[GHYVI_WINDOW_DWORDS];
};

/**
 * ghyvi_commands_fetch() - fetch audited commands for an engine.
 * @commands: commands of the job
 * @source: where the engine would fetch from
 * @level: 0 in the ring, 1 in a batch that the ring starts, 2 in a second-level batch
 * @pos: position of the first command: an offset in the ring or a graphics address; a multiple of 4
 * @ring_head: for batches, the engine's offset in the ring, after the command that started the
 *	batch
 * @window: filled with the commands at @pos. The engine may execute only commands that begin where
 *	@window->starts allows it.
 *
 * Context: any; may run concurrently with ghyvi_audit_extend(), which adds commands for a tail that
 * the engine does not know yet.
 * Return: the number of dwords in @window, which ends at the end of the page or the ring. 0:
 * commands of @source are not audited, and the engine must fetch from guest memory. -EACCES: the
 * auditor has refused (and reported) the commands, and the job must end with GHYVI_JOB_ERROR.
 * -EFAULT: @pos was never audited, which is an isolation violation.
 */
int ghyvi_commands_fetch(const struct ghyvi_commands *commands, enum ghyvi_fetch_source source,
			 unsigned int level, u64 pos, u32 ring_head,
			 struct ghyvi_cmd_prefetch *window);

/* A batch that the ring starts, and a second-level batch that this batch calls. */
#define GHYVI_BATCH_LEVELS 2

/**
 * struct ghyvi_commands_page - the copy of one page of audited commands.
 * @source: where the engine would fetch the original from
 * @pos: address of the original page, page aligned; an offset in the ring if @source is
 *	GHYVI_FETCH_RING
 * @dwords: the copy, a page of host memory. It is never written again, and stays until
 *	ghyvi_commands_free().
 * @starts: bit maps of the dwords at which commands begin that passed the audit; of a page of a
 *	batch, the first is for first-level and the second for second-level batches, of other pages
 *	only the first is used. They stay as long as @dwords.
 * @from: offset in the ring at which the commands begin that the page was copied with
 * @to: offset in the ring at which they end; the ring may wrap in between. Of a page of the ring,
 *	only dwords from @from to @to are valid.
 * @refused: a command was refused. The engine may execute the ring up to @stop only; then the job
 *	must end with GHYVI_JOB_ERROR and RING_HEAD @stop.
 * @stop: offset in the ring; @to if no command was refused. If it equals @from, the indirect
 *	context batch must not run either.
 */
struct ghyvi_commands_page {
	enum ghyvi_fetch_source source;
	u64 pos;
	const u32 *dwords;
	const unsigned long *starts[GHYVI_BATCH_LEVELS];
	u32 from;
	u32 to;
	u32 stop;
	bool refused;
};

struct audit_segment;
struct audit_page;

/**
 * struct ghyvi_commands_iter - position in the pages of a job's audited commands.
 * @commands: the commands
 *
 * The other members are private.
 */
struct ghyvi_commands_iter {
	const struct ghyvi_commands *commands;
	/* private: */
	const struct audit_segment *segment;
	const struct audit_page *copy;
	unsigned int bucket;
};

/**
 * ghyvi_commands_iter_next() - get the next page of audited commands.
 * @iter: the position; initially all members but @commands are 0
 * @page: filled with the next page
 *
 * For a backend whose engines fetch from memory and cannot call ghyvi_commands_fetch(): it installs
 * each copy where the engine looks for the original. Pages of commands that are not audited (see
 * audit/mode) are not among them. Before @run of the job all pages are returned. After an extension
 * the same iterator goes on with the pages that were added, which @update_tail must install before
 * the engine knows the tail. The same @pos may be returned again then, with a later copy; commands
 * before the extension's @from keep the earlier one.
 *
 * Context: any; as for ghyvi_commands_fetch().
 * Return: true if @page was filled; false if no page is left at present.
 */
bool ghyvi_commands_iter_next(struct ghyvi_commands_iter *iter, struct ghyvi_commands_page *page);

/* The value at GHYVI_CTX_INDIRECT: address and length of the indirect context batch. */
#define GHYVI_INDIRECT_ADDRESS GENMASK(31, 6)
#define GHYVI_INDIRECT_LINES GENMASK(5, 0)
#define GHYVI_INDIRECT_LINE_BYTES 64u

/**
 * ghyvi_indirect_begin() - get where an indirect context batch begins.
 * @value: the value at GHYVI_CTX_INDIRECT
 *
 * Return: its GGTT address.
 */
static inline u64 ghyvi_indirect_begin(u32 value)
{
	return value & GHYVI_INDIRECT_ADDRESS;
}

/**
 * ghyvi_indirect_end() - get where an indirect context batch ends.
 * @value: the value at GHYVI_CTX_INDIRECT
 *
 * Return: the GGTT address behind it; if there is no batch, that of its begin.
 */
static inline u64 ghyvi_indirect_end(u32 value)
{
	return ghyvi_indirect_begin(value) +
	       (value & GHYVI_INDIRECT_LINES) * GHYVI_INDIRECT_LINE_BYTES;
}

#define GHYVI_NR_FAULT_REGISTERS 23

/**
 * struct ghyvi_job_fault - where an engine was when it stopped a job early.
 * @valid: the backend has set the other members
 * @excused: the host has caused it: it costs the vGPU no points of containment
 * @acthd: graphics address that the engine had reached: in the batch that it executed, or in the
 *	GGTT if it executed the ring
 * @ipehr: header of the last command that it fetched
 * @instdone: INSTDONE of the engine; 0 if there is no such register
 * @ring_head: offset in the ring of the command that it stopped at; if it executed a batch, after
 *	the command that started the batch
 * @has_registers: @registers are set, too
 * @registers: the registers ghyvi_fault_register() of the hardware's engine at that time, for the
 *	administrator
 *
 * The core shows the other values in the guest's registers, from where the guest's driver reports
 * them.
 */
struct ghyvi_job_fault {
	bool valid;
	bool excused;
	u64 acthd;
	u32 ipehr;
	u32 instdone;
	u32 ring_head;
	bool has_registers;
	u32 registers[GHYVI_NR_FAULT_REGISTERS];
};

/**
 * struct ghyvi_job - one workload as the backend sees it; embedded in the core's workload.
 * @client: client whose tables, registers and pages the job may access
 * @engine: engine that executes the job
 * @root: address (see @map_page of struct ghyvi_pgpu_ops) of the shadow PML4 page, or of the
 *	shadow PDP page if @levels is 3: 4 entries are the guest's, the others map the scratch page
 * @levels: number of table levels, 4 or 3
 * @nested: walk the guest's tables instead of @root. As in a shadow, an entry that cannot be
 *	translated maps a page that reads as zero and drops writes.
 * @guest_root: if @nested, guest-physical address of the PML4 page, or of the four page directories
 * @context: the host's copy of the context's register state (GHYVI_CTX_DWORDS dwords). The engine
 *	loads ring registers, timestamp and GPRs from it, and saves RING_HEAD, CTX_TIMESTAMP and
 *	GPRs to it before @done. The values at ghyvi_context_value() are the context's registers,
 *	also if @restore is false; at @done they are those that the commands have left. The core
 *	stores the ring tail in RING_TAIL before @run. The backend stores there the last tail that
 *	it was given when it returns a job that was preempted or had not begun.
 * @pgpu_context: the backend's state of the context; NULL if the backend has no @context_create
 * @commands: audited commands, which the engine fetches instead of those in guest memory; NULL when
 *	no command is audited (tests of backends only)
 * @lrca: GGTT address of the context image; its first page (PPHWSP) is the target of STORE_INDEX
 *	writes
 * @restore: false if CONTEXT_CONTROL of the context says restore-inhibit: GPRs start at 0, and
 *	what @pgpu_context has from earlier jobs is void
 * @compute: set by the backend: it has changed what @context has at GHYVI_CTX_COMPUTE
 * @budget_ns: limit of the job's time on the engine in ns; 0: no limit. Past it the backend stops
 *	the job with GHYVI_JOB_ERROR as soon as it can, between two commands at the latest. When the
 *	engine reaches commands that @update_tail added, the time restarts from 0.
 * @budget_minsn: limit of the instructions that the job's kernels execute, in millions; 0: no
 *	limit. As @budget_ns; for backends that count instructions
 * @done: called once per @run, when the engine has stopped executing the job. The backend calls it
 *	from a context that may sleep, with none of its locks held, and not from within @run. After
 *	the call the backend does not access the job.
 * @event: called by the backend with GHYVI_EVENT_* to raise interrupts. Does not sleep and calls no
 *	function of the backend. May be called in any context but NMI, also in hard interrupts and
 *	with the backend's spinlocks held.
 * @events: GHYVI_EVENT_* of the job's last commands that the backend leaves to the core: it sets
 *	them before @done reports GHYVI_JOB_COMPLETE, instead of a call of @event. The guest gets
 *	one interrupt for them and for the completion. 0 with any other status.
 * @begun_ns: time at which the engine began this @run of the job, in ns of ktime_get_ns(); 0
 *	before. The backend sets it with WRITE_ONCE() at once, because the vGPU is charged from then
 *	on.
 * @busy_ns: time on the engine in ns; 0 if the job did not begin or has not ended. The backend sets
 *	it with WRITE_ONCE() when the job has ended, before @done.
 * @waited_ns: time of this @run in ns, before @done, for which the job waited for pages of the
 *	guest that the core had to map, see ghyvi_job_waited_ns(). The backend sets it with
 *	WRITE_ONCE(): when a wait begins it subtracts the time in ns of ktime_get_ns(), which makes
 *	it negative, and when the wait ends it adds the time.
 * @worker_ns: CPU time in ns that threads of the backend have spent in @update_tail. The backend
 *	adds to it, the core charges it and sets it to 0.
 * @fault: set by the backend before @done reports GHYVI_JOB_ERROR or GHYVI_JOB_CANCELLED, if the
 *	job had begun. The core clears @valid of it before @run.
 * @memcg: the guest's memory cgroup, for memory that the backend allocates for the job from
 *	threads that are not the guest's; valid from @run to @done; NULL: there is none
 * @backend: the backend's part of the job: @job_bytes of struct ghyvi_pgpu_ops, allocated by the
 *	core. All 0 before the first @prepare or @run; the core leaves it alone while the job is
 *	preempted. It is not accessible to a guest.
 */
struct ghyvi_job {
	struct ghyvi_pgpu_client *client;
	enum ghyvi_engine_id engine;
	dma_addr_t root;
	unsigned int levels;
	bool nested;
	u64 guest_root[4];
	u32 *context;
	struct ghyvi_pgpu_context *pgpu_context;
	struct ghyvi_commands *commands;
	u32 lrca;
	bool restore;
	bool compute;
	u64 budget_ns;
	u32 budget_minsn;
	void (*done)(struct ghyvi_job *job, enum ghyvi_job_status status);
	void (*event)(struct ghyvi_job *job, u32 events);
	u32 events;
	u64 begun_ns;
	u64 busy_ns;
	s64 waited_ns;
	u64 worker_ns;
	struct ghyvi_job_fault fault;
	struct mem_cgroup *memcg;
	void *backend;
};

/**
 * ghyvi_job_waited_ns() - for how long has a job waited for pages of the guest?
 * @job: the job, whose @run was called
 * @now: the time in ns of ktime_get_ns()
 *
 * Context: any; the job may be on its engine.
 * Return: the time in ns, with the part before @now of a wait that has not ended.
 */
static inline u64 ghyvi_job_waited_ns(const struct ghyvi_job *job, u64 now)
{
	s64 waited_ns = READ_ONCE(job->waited_ns);

	return waited_ns < 0 ? now + waited_ns : (u64)waited_ns;
}

/**
 * struct ghyvi_pgpu_ops - operations of a pGPU backend.
 *
 * The argument @pgpu of an operation is the device given to ghyvi_pgpu_register(). Unless stated
 * otherwise an operation may sleep. The core may hold its mutexes while it calls one.
 */
struct ghyvi_pgpu_ops {
	/** @name: short ASCII name of the backend, for example "softgpu" */
	const char *name;
	/** @job_bytes: size in bytes of the backend's part of a job; may be 0 */
	size_t job_bytes;
	/** @resources: fill in the resources, which are constant. */
	void (*resources)(struct ghyvi_pgpu_device *pgpu, struct ghyvi_pgpu_resources *resources);

	/**
	 * @client_create: create a client. Copies @params. Returns the client or ERR_PTR(-ENOMEM).
	 */
	struct ghyvi_pgpu_client *(*client_create)(struct ghyvi_pgpu_device *pgpu,
						   const struct ghyvi_client_params *params);
	/**
	 * @client_destroy: free a client. No job of the client is queued or running, and its
	 * contexts are destroyed.
	 */
	void (*client_destroy)(struct ghyvi_pgpu_client *client);
	/**
	 * @client_reset: clear what the client's jobs can have left in memory of the backend that
	 * later jobs of the client can read: the vGPU may get another user. No job of the client
	 * runs, and its installed entries are not present. NULL if the backend has no such memory.
	 */
	void (*client_reset)(struct ghyvi_pgpu_client *client);
	/**
	 * @client_set_ggtt: give the client the ranges @ggtt of the GGTT instead of those it has.
	 * No job or context of the client exists, and its installed entries are not present. The
	 * ranges are no other client's. NULL if @private_ggtt of the resources is true.
	 */
	void (*client_set_ggtt)(struct ghyvi_pgpu_client *client, const struct ghyvi_range *ggtt,
				unsigned int nr_ggtt);

	/**
	 * @context_create: create the state of a context, with all members of struct
	 * ghyvi_pgpu_context set. The core calls it before the first job of the context, and again
	 * when the guest has put another context at the same address. A client has at most one
	 * state for each engine and address, and a limited number in total. Returns the state or
	 * ERR_PTR(-ENOMEM); then the core calls @context_unmap for a state of the client that is
	 * not in use, and tries again. It, @context_destroy, @context_unmap and @context_map are
	 * NULL if the backend keeps no such state.
	 */
	struct ghyvi_pgpu_context *(*context_create)(struct ghyvi_pgpu_client *client,
						     enum ghyvi_engine_id engine, u32 lrca);
	/**
	 * @context_destroy: free the state of a context. No job of the context is queued, running
	 * or preempted. The guest may submit the context again afterwards, without restore-inhibit.
	 */
	void (*context_destroy)(struct ghyvi_pgpu_context *context);
	/**
	 * @context_unmap: give up what is scarce of the state of a context, not its contents. No
	 * job of the context is queued, running or preempted. Before its next job the core calls
	 * @context_map; it may destroy the state without.
	 */
	void (*context_unmap)(struct ghyvi_pgpu_context *context);
	/** @context_map: undo @context_unmap. Returns 0 or -ENOMEM, as @context_create. */
	int (*context_map)(struct ghyvi_pgpu_context *context);

	/**
	 * @map_page: allow the client to access the host page at physical address @hpa as @kind,
	 * and map it for DMA. Stores in *@dma the address by which engines access the page: page
	 * aligned, below 2^48, and at most what the pGPU can address. Entries of tables hold this
	 * address, never @hpa. A page may be mapped several times with the same kind; each call has
	 * its @unmap_page. Returns 0; -ENOMEM; -ERANGE (the pGPU cannot address the page).
	 */
	int (*map_page)(struct ghyvi_pgpu_client *client, u64 hpa, enum ghyvi_page_kind kind,
			dma_addr_t *dma);
	/**
	 * @unmap_page: undo one @map_page that returned @dma. The core has removed all table
	 * entries that hold @dma and called @invalidate.
	 */
	void (*unmap_page)(struct ghyvi_pgpu_client *client, dma_addr_t dma);

	/**
	 * @ggtt_write: install @count GGTT entries, starting at index @first (GGTT address / 4
	 * KiB), within the client's ranges.
	 */
	void (*ggtt_write)(struct ghyvi_pgpu_client *client, u64 first, const u64 *entries,
			   unsigned int count);
	/** @ggtt_read: return the installed GGTT entry at @index, as @ggtt_write was given it. */
	u64 (*ggtt_read)(struct ghyvi_pgpu_client *client, u64 index);

	/**
	 * @map_guest: map the client's guest page @gfn to the page at @dma, an address that
	 * @map_page returned for a page of kind GHYVI_PAGE_DATA, until @unmap_guest. For nested
	 * jobs; it and @unmap_guest are NULL if the backend has none. Returns 0 or -ENOMEM.
	 */
	int (*map_guest)(struct ghyvi_pgpu_client *client, u64 gfn, dma_addr_t dma);
	/**
	 * @unmap_guest: undo @map_guest. Engines may use the page until the next @invalidate
	 * returns.
	 */
	void (*unmap_guest)(struct ghyvi_pgpu_client *client, u64 gfn);

	/**
	 * @invalidate: drop cached translations of @count clients, at least 1, each listed once. On
	 * return no engine uses, or will use, a translation of these clients that was read from
	 * their tables (or the guests') before the call. This includes accesses in progress.
	 *
	 * It may have to stop the clients' jobs for a moment; a later job of another client that
	 * begins meanwhile stays before them. So the core collects pages and calls it once before
	 * it gives them all back with @unmap_page. Sleeps for a bounded time: as
	 * long as the engines need to give way, or to be reset, whatever the jobs do. It never
	 * waits for @done or @fault, whose locks the caller may hold.
	 */
	void (*invalidate)(struct ghyvi_pgpu_client *const *clients, unsigned int count);

	/**
	 * @log_set: from now on log which pages of kind GHYVI_PAGE_DATA the client's jobs write, or
	 * stop logging. No page is logged as written at first. It and @log_read are NULL if the
	 * backend cannot log.
	 */
	void (*log_set)(struct ghyvi_pgpu_client *client, bool on);
	/**
	 * @log_read: return whether a job has written to the page at @dma (from @map_page) since
	 * logging began or since the last call for this page. A translation that an engine has
	 * cached may be used for further writes that are not logged, until the next @invalidate
	 * returns.
	 */
	bool (*log_read)(struct ghyvi_pgpu_client *client, dma_addr_t dma);

	/**
	 * @prepare: make a job ready for @run: copy what it needs. Called before the job is queued,
	 * and again after it was preempted, usually by a guest's thread, which may be throttled or
	 * killed meanwhile: no other client may wait for that thread. No other job of the context
	 * is prepared or on the engine. Returns 0; -ENOMEM, which is no fault of the guest's;
	 * another negative errno if the commands cannot be installed. It and @unprepare are NULL if
	 * the backend need not prepare jobs.
	 */
	int (*prepare)(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
	/**
	 * @unprepare: give up what @prepare has taken for a job that will not be run (again):
	 * whatever its end was. Called before another job of the context is prepared.
	 */
	void (*unprepare)(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
	/**
	 * @run: give the job to its engine, which executes its jobs in the order of @run, whatever
	 * clients they belong to (but see @invalidate). Must neither wait for the engine nor call
	 * @done. Called with a spinlock of the core held: must not sleep. Returns 0, and then @done
	 * is called once; -EBUSY (the engine has as many jobs as it takes; it takes another one as
	 * soon as @done was called for one of them); -EIO (the engine is dead).
	 */
	int (*run)(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
	/**
	 * @update_tail: move the ring tail of a job on the engine forward (lite restore); if there
	 * is @prepare, also of one that was prepared and is not on the engine yet. Does not wait
	 * for the engine. Returns 0 if the engine will execute up to @tail before the job
	 * completes. Returns -ESTALE if it cannot any more; then @done has been or will be called.
	 * Called by a guest's thread, as @prepare; @run, @preempt and the end of the job may come
	 * meanwhile.
	 */
	int (*update_tail)(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job, u32 tail);
	/**
	 * @preempt: request that the job stops before its next command, in the ring or in a batch.
	 * @done reports the outcome. A job that waits for others on its engine is given back with
	 * GHYVI_JOB_PREEMPTED and without waiting for them. A request for a job that the engine
	 * does not have is ignored. Called with a spinlock of the core held: must not sleep. NULL
	 * if the backend cannot preempt.
	 */
	void (*preempt)(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
	/**
	 * @cancel: stop a job. On return the engine does not execute the job, and causes no further
	 * memory write or event for it. @done has been called, or is called with the status with
	 * which the job ended: GHYVI_JOB_CANCELLED, or another one if the job ended before it was
	 * stopped.
	 *
	 * The job may have ended before the call; it stays valid during the call. May be called
	 * with locks held that @done takes. It waits, for a bounded time, until the engine no
	 * longer executes the job, but never for @done of this or another job to return, nor for
	 * the jobs before it on the engine. Other jobs of the engine go on.
	 */
	void (*cancel)(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
	/**
	 * @stop: as @cancel, for a job that keeps others from the engine, but does not wait. What a
	 * process of the client's VM can delay is left to @job_free. NULL: nothing can.
	 */
	void (*stop)(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);

	/**
	 * @done_may_wait: called by the core from within @done, in its thread: may @done wait for
	 * locks of one guest? Returns true if another thread executes the jobs that the engine is
	 * given until @done returns, so that no other guest waits. Returns false if the thread is
	 * needed, as when the engine has its next job already; then @done returns without waiting
	 * for a guest. NULL: always false.
	 */
	bool (*done_may_wait)(struct ghyvi_pgpu_device *pgpu, enum ghyvi_engine_id engine);

	/**
	 * @job_state_bytes: size in bytes of what @job_save writes, a multiple of 8. Together with
	 * @job_save and @job_load it is set if vGPUs of this backend can be moved to another host.
	 */
	size_t job_state_bytes;
	/**
	 * @job_save: write the backend's part of a job that was preempted, or did not begin, to
	 * @state, in a form that @job_load on any host understands.
	 */
	void (*job_save)(const struct ghyvi_job *job, void *state);
	/**
	 * @job_load: set the backend's part of @job, which is all 0, from @state, whose source is
	 * untrusted. @engine, @client, @context and @commands of the job are set; the ring state in
	 * @context is valid and in the audited part of the ring. Returns 0, -EINVAL, or 1: the job
	 * may run only after @job_group_load.
	 */
	int (*job_load)(struct ghyvi_job *job, const void *state);
	/**
	 * @job_free: free what the backend's part of a job has allocated. The job will not be run
	 * (again). It and the next three are NULL if that is nothing.
	 */
	void (*job_free)(struct ghyvi_job *job);
	/**
	 * @job_group_bytes: size of the thread group in which a job was preempted, a multiple of 8;
	 * 0: in none. @job_save is about the rest.
	 */
	size_t (*job_group_bytes)(const struct ghyvi_job *job);
	/** @job_group_save: write the thread group to @state. */
	void (*job_group_save)(const struct ghyvi_job *job, void *state);
	/**
	 * @job_group_load: give @job, for which @job_load has returned 1, the thread group in
	 * @bytes of @state, whose source is untrusted. Returns 0, -EINVAL or -ENOMEM.
	 */
	int (*job_group_load)(struct ghyvi_job *job, const void *state, size_t bytes);

	/** @timestamp: return the engines' clock in units of 1 / timestamp_hz. Any context. */
	u64 (*timestamp)(struct ghyvi_pgpu_device *pgpu);
};

#endif
