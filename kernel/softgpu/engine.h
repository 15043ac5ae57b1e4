/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private types and functions of the software pGPU, for the files of this folder only.
 *
 * A job executes in its engine's thread. It accesses guest memory only between
 * softgpu_access_begin() and softgpu_access_end(), in slices bounded by SOFTGPU_SLICE_*. Because of
 * that, invalidate() and cancel() are synchronous and take bounded time, whatever the guest
 * submits.
 *
 * Locks, outermost first:
 *   softgpu_engine.access       protects the use of translations. Pointers to guest memory and
 *                               table pages are valid only while it is held.
 *   softgpu_engine.lock         protects @job, @left, @away, @relieved and struct softgpu_job. A
 *                               leaf, irq-safe.
 *   softgpu_client.owners_lock  protects changes of @owners and @guest, and @empty. Engines read
 *                               the first two without it.
 *
 * The fault callback of the core is called without locks. So softgpu_map() of a nested job may drop
 * and retake the access mutex. A pointer from an earlier softgpu_map() is invalid when @slice has
 * changed.
 */
#ifndef GHYVI_SOFTGPU_ENGINE_H
#define GHYVI_SOFTGPU_ENGINE_H

#include <linux/atomic.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>
#include <ghyvi/gen8_cmds.h>
#include <ghyvi/gen8_regs.h>
#include <ghyvi/pgpu.h>

#define SOFTGPU_GGTT_BYTES (4ULL << 30)
#define SOFTGPU_GGTT_ENTRIES (SOFTGPU_GGTT_BYTES >> GHYVI_PAGE_SHIFT)
#define SOFTGPU_APERTURE_BYTES (256ULL << 20)

/* A slice ends after so many commands or bytes: the engine drops and retakes its access mutex. */
#define SOFTGPU_SLICE_COMMANDS 128
#define SOFTGPU_SLICE_BYTES (64u << 10)

#define SOFTGPU_TLB_PPGTT 1024 /* enough for a source and a destination of 2 MiB */
#define SOFTGPU_TLB_GGTT 64
#define SOFTGPU_WALKS 16
#define SOFTGPU_RUNS 64

/* Upper bound of the number of optional dwords of any command. */
#define SOFTGPU_OPTIONAL_DWORDS 8

#define SOFTGPU_GPRS 16
/* Maximum number of pixels in a row (signed 16-bit coordinates) times the largest pixel size. */
#define SOFTGPU_ROW_BYTES (0x10000u * 16)
#define SOFTGPU_ROWS_MAX 0xffffu

/*
 * Result of executing a command. A negative value ends the job. SOFTGPU_ERROR has already been
 * reported.
 */
enum softgpu_cs_status {
	SOFTGPU_OK = 0,
	SOFTGPU_AGAIN = 1, /* condition not met: execute the same command again later */
	SOFTGPU_DONE = 2, /* the stream has ended, and there is none to return to */
	SOFTGPU_ERROR = -1,
	SOFTGPU_CANCELLED = -2,
	SOFTGPU_PREEMPTED = -3, /* at a position that can be saved */
};

enum softgpu_space {
	SOFTGPU_PPGTT,
	SOFTGPU_GGTT,
};

/*
 * Ownership (kind and count, packed; see client.c) of SOFTGPU_OWNER_PAGES contiguous host pages.
 * Engines cache pointers to it until their client is invalidated. So one without a page is freed
 * only by softgpu_invalidate(), when no engine has it any more.
 */
#define SOFTGPU_OWNER_PAGES 64
#define SOFTGPU_OWNERS_SHIFT (GHYVI_PAGE_SHIFT + 6)
struct softgpu_owners {
	u32 pages[SOFTGPU_OWNER_PAGES];
	atomic64_t written; /* bit n: an engine wrote page n; see dirty_log.c */
	/* Below: protected by softgpu_client.owners_lock. */
	unsigned int mapped; /* number of pages whose count is not 0 */
	unsigned long run; /* index in softgpu_client.owners */
	struct list_head empty; /* in softgpu_client.empty if @mapped is 0 */
};

/*
 * Host addresses of SOFTGPU_OWNER_PAGES contiguous guest pages, 0 where none is mapped. Freed only
 * with the client: a guest's memory has a size.
 */
struct softgpu_guest {
	u64 hpa[SOFTGPU_OWNER_PAGES];
};

struct softgpu_client {
	struct ghyvi_pgpu_client base;
	struct softgpu *gpu;
	/* The installed entries, up to the end of the client's last range. */
	u64 *ggtt;
	/* Maps host address >> SOFTGPU_OWNERS_SHIFT to struct softgpu_owners. */
	struct xarray owners;
	struct list_head empty;
	struct mutex owners_lock;
	/* Incremented by each invalidate(). */
	atomic64_t generation;
	bool logging; /* which pages engines write; see dirty_log.c */
	/* For nested jobs: maps gfn / SOFTGPU_OWNER_PAGES to struct softgpu_guest. */
	struct xarray guest;
	struct softgpu_worker *worker; /* executes kernels; see workers.c */
	bool told; /* RCS: the report about commands without effect has been made */
};

/* struct softgpu_blt_setup - operands that XY_SETUP_BLT and its like keep for later blits */
struct softgpu_blt_setup {
	u32 header; /* dword 0 of the command */
	u32 br13; /* dword 1: raster operation, depth, pitch */
	u32 clip[2]; /* upper left and lower right corner of the clip rectangle */
	u32 dst[2]; /* address of the destination */
	u32 colors[2]; /* background and foreground */
	u32 pattern[2]; /* address of a color pattern, or the bits of a mono pattern */
};

/*
 * struct softgpu_job - softgpu's part of a job; protected by softgpu_engine.lock.
 * @rows: rows of the blit at the position that are done; belongs to the engine's thread
 * @slices: of instructions of kernels, that count against the budget; as @rows
 * @group: the one in which the dispatch gave way, NULL: none; as @rows. See workers.h
 * @batches: position in each batch at the preemption; @address is that of the next command
 * @setup: operands of later blits; belongs to the engine's thread while the job runs
 */
struct softgpu_job {
	int state; /* JOB_QUEUED, JOB_RUNNING or JOB_LEAVING (engine.c) */
	u32 tail; /* the last ring tail that the core gave */
	u32 known_tail; /* the ring tail that the engine knew when the job was preempted */
	bool stop; /* the core has cancelled the job */
	bool preempt; /* the core has requested that the job stops before its next command */
	u64 since_ns; /* when the time that counts against the budget began */
	bool begun; /* the job has run before; the members below are valid */
	u64 spent_ns; /* time on the engine that counts against the budget, up to the preemption */
	unsigned int level; /* number of valid elements of @batches */
	bool indirect; /* @batches[0] is the indirect context batch */
	u32 rows;
	u64 groups; /* thread groups of the dispatch at the position that have ended; as @rows */
	u32 slices;
	struct softgpu_group *group;
	bool group_missing; /* job_load() has returned 1 */
	bool given_up; /* a worker may still execute a dispatch of the job, which has ended */
	struct {
		u64 address;
		bool ggtt;
	} batches[GHYVI_BATCH_LEVELS];
	struct softgpu_blt_setup setup;
	bool noop; /* MI_SET_PREDICATE turns the commands of the batch into MI_NOOP; as @setup */
};

static inline struct softgpu_job *softgpu_job(const struct ghyvi_job *job)
{
	return job->backend;
}

/* A TLB entry. Valid while @epoch equals the engine's. */
struct softgpu_tlb_entry {
	u64 page; /* graphics page number */
	u64 epoch;
	u8 *pointer;
	bool writable;
	bool log; /* the next write must be logged */
};

/*
 * Cached result of a walk of the upper levels, so that other pages of the same 2 MiB need no full
 * walk. Valid while @epoch equals the engine's.
 */
struct softgpu_walk_entry {
	u64 region; /* graphics address >> 21 */
	u64 epoch;
	const u64 *entries; /* the level-1 table, or &@large */
	u64 large; /* the level-2 entry of a 2 MiB page */
	u64 within; /* mask of the page number bits that are an offset within the mapped page */
	bool writable; /* all entries above level 1 permit writes */
};

/* A source of commands. Stream 0 is the ring, 1 a batch, 2 a second-level batch. */
struct softgpu_stream {
	enum softgpu_space space;
	bool privileged; /* written by the guest kernel: domain R of the audit rules */
	u64 address; /* batches: address of the next command */
	u64 end; /* indirect context batch: its end address; else 0 */
};

#define SOFTGPU_STREAMS (1 + GHYVI_BATCH_LEVELS)

/*
 * Limits of a cell, the part of a blit for which pages are mapped at once: rows of a linear surface
 * (of GHYVI_PAGE_BYTES at most), and pages: two for each such row, or those that a row of as many
 * bytes has in tiles.
 */
#define SOFTGPU_CELL_ROWS 16
#define SOFTGPU_CELL_PAGES 65 /* tiles have pages of 64 bytes or more, and may be split */

struct softgpu_engine {
	struct softgpu *gpu;
	enum ghyvi_engine_id id;
	u32 base; /* byte offset of its registers */
	struct task_struct *thread;

	spinlock_t lock;
	struct ghyvi_job *job; /* under @lock; NULL when idle */
	u64 left; /* under @lock: number of jobs that the engine has ended */
	bool stopping; /* no job is accepted any more */
	bool away; /* under @lock: @thread may wait for a guest, see the file comment of engine.c */
	bool relieved; /* under @lock: @relief executes @job, and @thread does not */
	struct work_struct relief;
	wait_queue_head_t wake; /* the thread waits for @job */
	/* The thread waits for a worker, see compute.c, or for a value in memory. */
	wait_queue_head_t passes;
	wait_queue_head_t gone; /* softgpu_cancel() waits for a change of @left */

	struct mutex access;
	wait_queue_head_t slice_end; /* softgpu_invalidate() waits for a change of @ended */
	/* Both are written by the engine's thread alone, and also read by softgpu_invalidate(). */
	u64 slice; /* the number of this slice, or of the last one: older pointers are invalid */
	u64 ended; /* the last slice that has ended */

	/* All members below belong to the engine's thread (or to a test that has no thread). */
	struct softgpu_client *client;
	u64 client_generation;
	u64 epoch;
	u64 ppgtt_mask; /* address bits that the job's tables translate */
	struct softgpu_tlb_entry ppgtt[SOFTGPU_TLB_PPGTT];
	struct softgpu_tlb_entry ggtt[SOFTGPU_TLB_GGTT];
	struct softgpu_walk_entry walks[SOFTGPU_WALKS];
	struct {
		u64 run; /* host address >> SOFTGPU_OWNERS_SHIFT */
		struct softgpu_owners *owners; /* of the job's client; NULL: slot unused */
	} runs[SOFTGPU_RUNS];
	struct {
		u64 run; /* gfn / SOFTGPU_OWNER_PAGES */
		struct softgpu_guest *guest; /* of the job's client; NULL: slot unused */
	} guest_runs[SOFTGPU_RUNS];
	int commands_left; /* in this slice */
	s64 bytes_left; /* in this slice */
	u32 pause_ns; /* before the next poll of a value in memory */
	u64 fault_gfn; /* guest page that a nested walk needs and that is not mapped */

	u32 ring_start, ring_bytes, ring_head, ring_tail;
	u32 gpr[2 * SOFTGPU_GPRS];
	u32 events; /* of the job, not raised yet: see softgpu_raise() */
	bool excused; /* the host has caused the job's error */
	u64 started_ns;
	u32 context_timestamp; /* CTX_TIMESTAMP when the job was loaded */

	unsigned int level; /* index of the current stream in @streams */
	u64 command_pos; /* ring offset or address of the command in @packet */
	struct softgpu_stream streams[SOFTGPU_STREAMS];

	/* Private copy of the next commands: each dword is read from guest memory once. */
	struct ghyvi_cmd_prefetch window;
	/* Audited user batches: the same dwords as they are in guest memory now. */
	bool check_window;
	u32 memory[GHYVI_WINDOW_DWORDS];
	u32 packet[GHYVI_PACKET_DWORDS_MAX + SOFTGPU_OPTIONAL_DWORDS];
	unsigned int packet_dwords;
	const struct ghyvi_command *command; /* table entry of @packet; NULL: unknown command */
	bool redo; /* the command may be executed again: no part of a blit is done */

	u8 *rows; /* BCS: two rows of SOFTGPU_ROW_BYTES */
	/* BCS: the pages of a cell of the destination and of the source (surface.c) */
	u8 *cell_pages[2][SOFTGPU_CELL_PAGES];
};

struct softgpu {
	struct ghyvi_pgpu_device base;
	struct softgpu_engine engines[GHYVI_ENGINES];
	struct workqueue_struct *workers; /* of @relief of the engines; constant */
};

static inline struct softgpu *softgpu_of(struct ghyvi_pgpu_device *pgpu)
{
	return container_of(pgpu, struct softgpu, base);
}

static inline u64 softgpu_gpr(const struct softgpu_engine *engine, unsigned int gpr)
{
	return (u64)engine->gpr[2 * gpr + 1] << 32 | engine->gpr[2 * gpr];
}

/* error.c: report why the job must end at the current command. Returns SOFTGPU_ERROR. */
__printf(2, 3) int softgpu_error(struct softgpu_engine *engine, const char *format, ...);

/* clock.c */
/* Convert ns to TIMESTAMP ticks of generation @gen. */
u64 softgpu_ticks(unsigned int gen, u64 ns);
/* Current value of TIMESTAMP for the engine's client. */
u64 softgpu_engine_timestamp(const struct softgpu_engine *engine);
/* Current value of CTX_TIMESTAMP of the engine's job. */
u32 softgpu_context_timestamp(const struct softgpu_engine *engine);

/* slice.c */
/* Begin a slice: take the access mutex, and flush the TLB if it is stale. May sleep. */
void softgpu_access_begin(struct softgpu_engine *engine);
/* End a slice: update the engine's registers, and drop the access mutex. */
void softgpu_access_end(struct softgpu_engine *engine);
/*
 * Raise the events of the commands so far. Commands set their events in engine->events. They are
 * raised when the engine begins to wait, and at the end of each slice. What the job has at its end
 * is raised with its completion.
 */
void softgpu_raise(struct softgpu_engine *engine);
/*
 * Decide, at a position that can be saved, whether the job ends there. Returns as
 * softgpu_checkpoint().
 */
int softgpu_decide(struct softgpu_engine *engine);
/*
 * End the slice and begin a new one, where the position can be saved. The access mutex is held, and
 * dropped meanwhile; may sleep. Returns SOFTGPU_OK; SOFTGPU_CANCELLED, SOFTGPU_ERROR (GPU time used
 * up) or SOFTGPU_PREEMPTED when the job must end.
 */
int softgpu_checkpoint(struct softgpu_engine *engine);
/* The same within a command: does not return SOFTGPU_PREEMPTED. */
int softgpu_yield(struct softgpu_engine *engine);
/* Account data moved by a command, and yield when the slice is used up; as softgpu_yield(). */
static inline int softgpu_spend(struct softgpu_engine *engine, u32 bytes)
{
	engine->bytes_left -= bytes;
	return likely(engine->bytes_left > 0) ? SOFTGPU_OK : softgpu_yield(engine);
}

/*
 * Account a part of a command after which the position can be saved; as softgpu_checkpoint().
 */
static inline int softgpu_part_done(struct softgpu_engine *engine, u32 bytes)
{
	engine->bytes_left -= bytes;
	return likely(engine->bytes_left > 0) ? SOFTGPU_OK : softgpu_checkpoint(engine);
}

/* Drop all cached state of the previous job, which may be another client's. */
void softgpu_tlb_reset(struct softgpu_engine *engine);
/* Drop all cached translations. */
void softgpu_tlb_flush(struct softgpu_engine *engine);

/* engine.c: threads and jobs */
int softgpu_engine_init(struct softgpu_engine *engine, struct softgpu *gpu,
			enum ghyvi_engine_id id);
int softgpu_engine_start(struct softgpu_engine *engine);
void softgpu_engine_fini(struct softgpu_engine *engine);
/* Operations of struct ghyvi_pgpu_ops. */
int softgpu_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
int softgpu_update_tail(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job, u32 tail);
void softgpu_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
void softgpu_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
void softgpu_stop(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
bool softgpu_done_may_wait(struct ghyvi_pgpu_device *pgpu, enum ghyvi_engine_id id);
/*
 * Execute the engine's job in the calling thread, and return it to the core. No other thread works
 * for the engine. May sleep; calls done() without a lock. Returns false if there is no job.
 */
bool softgpu_engine_work(struct softgpu_engine *engine);

/* stream.c: fetching commands */
/* Fetch the next command into engine->packet. SOFTGPU_DONE: the stream has ended. */
int softgpu_stream_fetch(struct softgpu_engine *engine);
/* Start a batch as stream @level. */
int softgpu_stream_push(struct softgpu_engine *engine, unsigned int level,
			const struct softgpu_stream *stream);
/* End the current batch: continue with the stream that it was started from. */
void softgpu_stream_pop(struct softgpu_engine *engine);
/* Execute the command in engine->packet again, or go on with it, when the engine continues. */
void softgpu_stream_rewind(struct softgpu_engine *engine);
/* Discard prefetched commands: the position changed, or memory was written. */
void softgpu_stream_drop_window(struct softgpu_engine *engine);
/* The current stream. */
static inline struct softgpu_stream *softgpu_stream(struct softgpu_engine *engine)
{
	return &engine->streams[engine->level];
}

/*
 * Test whether the client's generation has the command in engine->packet, with a length that the
 * tables allow. @type: what the report calls it before "command": "MI ", or "". Returns SOFTGPU_OK
 * or SOFTGPU_ERROR.
 */
int softgpu_check_command(struct softgpu_engine *engine, const char *type);

/* dirty_log.c: which pages engines write */
void softgpu_log_write(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot);
void softgpu_log_set(struct ghyvi_pgpu_client *client, bool on);
bool softgpu_log_read(struct ghyvi_pgpu_client *client, dma_addr_t dma);

/* packet.c: whether compute.c executes @command with @header */
bool softgpu_is_compute(const struct ghyvi_command *command, u32 header);

/* compute.c: commands of execution units */
int softgpu_compute(struct softgpu_engine *engine);

/* tlb.c: a pointer of softgpu_map() to what reads as zeros, instead of a page */
bool softgpu_is_zeros(const u8 *pointer);

/* job_state.c: see struct ghyvi_pgpu_ops */
#define SOFTGPU_JOB_STATE_BYTES 104
void softgpu_job_save(const struct ghyvi_job *job, void *state);
int softgpu_job_load(struct ghyvi_job *job, const void *state);
void softgpu_job_free(struct ghyvi_job *job);
size_t softgpu_job_group_bytes(const struct ghyvi_job *job);
void softgpu_job_group_save(const struct ghyvi_job *job, void *state);
int softgpu_job_group_load(struct ghyvi_job *job, const void *state, size_t bytes);

/* Types of packets, as headers have them. */
enum {
	SOFTGPU_PACKET_MI = 0,
	SOFTGPU_PACKET_2D = 2,
	SOFTGPU_PACKET_3D = 3,
};

static inline unsigned int softgpu_packet_type(u32 header)
{
	return header >> 29;
}

static inline bool softgpu_is_pipe_control(const struct ghyvi_command *command)
{
	return command && command->check == GHYVI_CHECK_PIPE_CONTROL;
}

/*
 * packet.c: whether a packet has no effect, so that only its length matters, and its body need not
 * be fetched. @command: result of ghyvi_command_find() for @header; may be NULL
 */
bool softgpu_packet_skipped(const struct ghyvi_command *command, u32 header);

/*
 * commands.c: execute the command in engine->packet. The access mutex is held; it may be dropped
 * meanwhile. Returns a value of enum softgpu_cs_status.
 */
int softgpu_command(struct softgpu_engine *engine);

/* mi.c, predicate.c, flush.c, math.c, atomic.c, blt.c: execute the command in engine->packet */
int softgpu_mi(struct softgpu_engine *engine);
int softgpu_mi_predicate(struct softgpu_engine *engine);
int softgpu_mi_set_predicate(struct softgpu_engine *engine);
int softgpu_mi_store_index(struct softgpu_engine *engine);
int softgpu_mi_flush_dw(struct softgpu_engine *engine);
int softgpu_pipe_control(struct softgpu_engine *engine);
int softgpu_mi_math(struct softgpu_engine *engine);
int softgpu_mi_atomic(struct softgpu_engine *engine);
int softgpu_blt(struct softgpu_engine *engine);

/* predicate.c: test bit 0 of a predicate register, MI_PREDICATE_RESULT, _RESULT_1 or _RESULT_2. */
bool softgpu_predicate(const struct softgpu_engine *engine, u32 offset);

/*
 * cs_regs.c: the word of a register, without checks; @offset is below GHYVI_REGISTERS_END and a
 * multiple of 4.
 */
u32 softgpu_register_peek(const struct softgpu_engine *engine, u32 offset);
void softgpu_register_poke(struct softgpu_engine *engine, u32 offset, u32 value);
/* cs_regs.c: register accesses by commands. Return SOFTGPU_OK or SOFTGPU_ERROR. */
int softgpu_register_read(struct softgpu_engine *engine, u32 offset, u32 *value);
int softgpu_register_write(struct softgpu_engine *engine, u32 offset, u32 value, u32 byte_disables);
/* The graphics address that the engine has reached. */
u64 softgpu_acthd(struct softgpu_engine *engine);
/* Show the engine's position in its registers. Caller holds engine->access. */
void softgpu_registers_publish(struct softgpu_engine *engine);

/*
 * tlb.c: translation and memory access. Callers hold engine->access. Functions return SOFTGPU_OK,
 * SOFTGPU_ERROR or SOFTGPU_CANCELLED.
 */
/* Translate @address into @slot. May drop and retake the access mutex (nested jobs). */
int softgpu_tlb_fill(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot,
		     enum softgpu_space space, u64 address);

/*
 * Index of a page in a TLB. Surfaces tend to begin at round addresses. Neighbouring pages get
 * different slots, and a hash of the upper bits shifts each 2 MiB region as a whole. So the source
 * and the destination of a copy rarely evict each other's entries.
 */
#define SOFTGPU_MIX 0x61c8864680b583ebULL
static inline unsigned int softgpu_tlb_index(u64 page, unsigned int slots)
{
	return (page + ((page >> 9) * SOFTGPU_MIX >> 48)) % slots;
}

/* Index of a run of pages in a cache. Runs that are in use together may be at any distance. */
static inline unsigned int softgpu_run_index(u64 run)
{
	return (run * SOFTGPU_MIX >> 48) % SOFTGPU_RUNS;
}

/*
 * tools/pgpu-emu reuses the command code in user space, and records each page that an engine
 * accesses.
 */
#ifdef SOFTGPU_EMULATOR
void softgpu_note_access(struct softgpu_engine *engine, const struct softgpu_tlb_entry *slot,
			 bool write);
#else
static inline void softgpu_note_access(struct softgpu_engine *engine,
				       const struct softgpu_tlb_entry *slot, bool write)
{
}
#endif

/*
 * Get a pointer to guest memory. @write: the caller writes through it. @pointer: set to the byte at
 * @address, valid up to the end of its page and of the slice, or to NULL if @write is true and the
 * page drops writes. In nested jobs the access mutex may be dropped and retaken, which ends the
 * slice.
 */
static inline int softgpu_map(struct softgpu_engine *engine, enum softgpu_space space, u64 address,
			      bool write, u8 **pointer)
{
	struct softgpu_tlb_entry *slot;
	u64 page;
	int err;

	if (space == SOFTGPU_GGTT) {
		address &= SOFTGPU_GGTT_BYTES - 1;
		page = address >> GHYVI_PAGE_SHIFT;
		slot = &engine->ggtt[softgpu_tlb_index(page, SOFTGPU_TLB_GGTT)];
	} else {
		address &= engine->ppgtt_mask;
		page = address >> GHYVI_PAGE_SHIFT;
		slot = &engine->ppgtt[softgpu_tlb_index(page, SOFTGPU_TLB_PPGTT)];
	}
	if (unlikely(slot->page != page || slot->epoch != engine->epoch)) {
		err = softgpu_tlb_fill(engine, slot, space, address);
		if (err)
			return err;
	}
	softgpu_note_access(engine, slot, write);
	if (unlikely(write && slot->log))
		softgpu_log_write(engine, slot);
	*pointer = write && !slot->writable ? NULL :
					      slot->pointer + (address & (GHYVI_PAGE_BYTES - 1));
	return 0;
}

/*
 * Returns the number of bytes, at most @bytes, that are valid at @pointer, the result of
 * softgpu_map() for PPGTT address @address and @write; not NULL. The range ends at the latest with
 * the region of a level-1 table.
 */
u32 softgpu_contiguous(struct softgpu_engine *engine, u64 address, const u8 *pointer, u32 bytes,
		       bool write);

/*
 * Translate up to @pages pages from PPGTT address @address on, for @write. softgpu_map() has just
 * translated the first one; @pointers[1] and so on are set as far as pages have data, may be
 * accessed so, and are in the same region. Returns how many are translated, with the first.
 */
unsigned int softgpu_pages_behind(struct softgpu_engine *engine, u64 address, u8 **pointers,
				  unsigned int pages, bool write);

/* What access.c does with memory. tools/pgpu-emu holds stores back. */
#ifdef SOFTGPU_EMULATOR
u32 softgpu_load32(struct softgpu_engine *engine, const u8 *memory);
void softgpu_store32(struct softgpu_engine *engine, u8 *memory, u32 value);
void softgpu_store64(struct softgpu_engine *engine, u8 *memory, u64 value);
#else
static inline u32 softgpu_load32(struct softgpu_engine *engine, const u8 *memory)
{
	return READ_ONCE(*(const u32 *)memory);
}

static inline void softgpu_store32(struct softgpu_engine *engine, u8 *memory, u32 value)
{
	/* A reader that sees a sequence number sees what was stored before it. */
	smp_store_release((u32 *)memory, value);
}

static inline void softgpu_store64(struct softgpu_engine *engine, u8 *memory, u64 value)
{
	/* A reader that sees a sequence number sees what was stored before it. */
	smp_store_release((u64 *)memory, value);
}
#endif

/* access.c: as softgpu_map() */
int softgpu_read32(struct softgpu_engine *engine, enum softgpu_space space, u64 address,
		   u32 *value);
int softgpu_write32(struct softgpu_engine *engine, enum softgpu_space space, u64 address,
		    u32 value);
int softgpu_write64(struct softgpu_engine *engine, enum softgpu_space space, u64 address,
		    u64 value);

/* client.c: clients and the ownership of host pages */
/* The ownership record of a host page; NULL: the client owns no page that it describes. */
struct softgpu_owners *softgpu_owners_find(struct softgpu_client *client, u64 hpa);
/*
 * Returns enum ghyvi_page_kind of a host page, or -ENOENT if the client does not own it. @owners:
 * result of softgpu_owners_find()
 */
int softgpu_owners_kind(const struct softgpu_owners *owners, u64 hpa);
/* Operations of struct ghyvi_pgpu_ops. */
int softgpu_map_page(struct ghyvi_pgpu_client *client, u64 hpa, enum ghyvi_page_kind kind,
		     dma_addr_t *dma);
void softgpu_unmap_page(struct ghyvi_pgpu_client *client, dma_addr_t hpa);
int softgpu_map_guest(struct ghyvi_pgpu_client *client, u64 gfn, dma_addr_t hpa);
void softgpu_unmap_guest(struct ghyvi_pgpu_client *client, u64 gfn);
struct ghyvi_pgpu_client *softgpu_client_create(struct ghyvi_pgpu_device *pgpu,
						const struct ghyvi_client_params *params);
void softgpu_client_destroy(struct ghyvi_pgpu_client *client);
void softgpu_client_reset(struct ghyvi_pgpu_client *client);
void softgpu_invalidate(struct ghyvi_pgpu_client *const *clients, unsigned int count);

static inline struct softgpu_client *softgpu_client(struct ghyvi_pgpu_client *client)
{
	return container_of(client, struct softgpu_client, base);
}

#endif
