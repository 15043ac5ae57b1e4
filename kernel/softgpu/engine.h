/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the software pGPU. Only files of this folder include this.
 *
 * A job runs in its engine's thread. Guest memory is touched only between softgpu_access_begin() and
 * softgpu_access_end(), in slices bounded by SOFTGPU_SLICE_*: that is what makes @invalidate and @cancel
 * synchronous and bounded whatever the guest submits.
 *
 * Locks, outermost first:
 *   softgpu_engine.access  the right to use translations; pointers into guest memory and table pages
 *                          live only while it is held
 *   softgpu_engine.lock    which job the engine has, and its backend words. A leaf, irq-safe.
 *   softgpu_client.owners_lock  changes of @owners and @guest (reading is lock-free)
 *
 * The core's fault callback is called with none of them: softgpu_map() of a nested job may let go of the access
 * mutex and take it again, so that pointers from an earlier softgpu_map() are void when @slice has changed.
 */
#ifndef GHYVI_SOFTGPU_ENGINE_H
#define GHYVI_SOFTGPU_ENGINE_H

#include <linux/atomic.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>
#include <ghyvi/pgpu.h>

#define SOFTGPU_GGTT_BYTES (4ULL << 30)
#define SOFTGPU_GGTT_ENTRIES (SOFTGPU_GGTT_BYTES >> GHYVI_PAGE_SHIFT)
#define SOFTGPU_APERTURE_BYTES (256ULL << 20)

/* After this many commands or bytes an engine lets go of its access mutex for a moment. */
#define SOFTGPU_SLICE_COMMANDS 128
#define SOFTGPU_SLICE_BYTES (64u << 10)

#define SOFTGPU_TLB_PPGTT 1024 /* a source and a destination of 2 MiB */
#define SOFTGPU_TLB_GGTT 64
#define SOFTGPU_WALKS 16
#define SOFTGPU_RUNS 64

/* More than any command has optional dwords. */
#define SOFTGPU_OPTIONAL_DWORDS 8

#define SOFTGPU_GPRS 16
/* Pixels of a row (signed 16-bit coordinates) times the deepest pixel. */
#define SOFTGPU_ROW_BYTES (0x10000u * 16)

/*
 * What executing a command says to the engine. Anything below 0 ends the job; an error was reported
 * where it was found.
 */
enum softgpu_cs_status {
	SOFTGPU_OK = 0,
	SOFTGPU_AGAIN = 1, /* not satisfied: the same command again, later */
	SOFTGPU_DONE = 2, /* this buffer has ended and there is none to return to */
	SOFTGPU_ERROR = -1,
	SOFTGPU_CANCELLED = -2,
};

enum softgpu_space {
	SOFTGPU_PPGTT,
	SOFTGPU_GGTT,
};

/*
 * The kind and count of a run of host pages, packed; see client.c. A run lives as long as its client, so
 * that engines may keep pointers to it: they always see the owners of now. At most 0.1 % of the memory
 * that the client ever owned.
 */
#define SOFTGPU_OWNER_PAGES 64
#define SOFTGPU_OWNERS_SHIFT (GHYVI_PAGE_SHIFT + 6)
struct softgpu_owners {
	u32 pages[SOFTGPU_OWNER_PAGES];
};

/* Where a run of guest pages is, host address or 0; as long-lived. */
struct softgpu_guest {
	u64 bus[SOFTGPU_OWNER_PAGES];
};

struct softgpu_client {
	struct softgpu *gpu;
	struct ghyvi_client_params params;
	/* Host address >> SOFTGPU_OWNERS_SHIFT -> struct softgpu_owners. */
	struct xarray owners;
	struct mutex owners_lock;
	/* Grows with every @invalidate. */
	atomic64_t generation;
	/* For nested jobs: guest page number / SOFTGPU_OWNER_PAGES -> struct softgpu_guest. */
	struct xarray guest;
};

/* A translation. Valid while @epoch is the engine's. */
struct softgpu_tlb_entry {
	u64 page; /* graphics page number */
	u64 epoch;
	u8 *pointer;
	bool writable;
};

/* What translates 2 MiB, so that neighbouring pages need no whole walk. Valid as above. */
struct softgpu_walk_entry {
	u64 region; /* graphics address >> 21 */
	u64 epoch;
	const u64 *entries; /* the level-1 table, or &@large */
	u64 large; /* the level-2 entry of a page of 2 MiB */
	u64 within; /* those bits of a page number that are offsets in what an entry translates */
	bool writable; /* on all levels above */
};

/* Where commands come from. The ring is stream 0, the second-level batch stream 2. */
struct softgpu_stream {
	enum softgpu_space space;
	bool privileged; /* written by the guest's kernel: domain R of the audit rules */
	u64 address; /* batches: the next command */
	u64 end; /* batches: 0, or the address at which the batch ends by itself */
};

#define SOFTGPU_STREAMS (1 + GHYVI_BATCH_LEVELS)

struct softgpu_engine {
	struct softgpu *gpu;
	enum ghyvi_engine_id id;
	u32 base; /* of its registers */
	struct task_struct *thread;

	spinlock_t lock;
	struct ghyvi_job *job; /* under @lock; NULL when idle */
	u64 left; /* under @lock: jobs that the engine has left */
	bool stopping; /* the thread is to end */
	wait_queue_head_t wake; /* the thread: @job or @stopping */
	wait_queue_head_t gone; /* cancellers: @left */

	struct mutex access;
	atomic_t waiters; /* of @access; a running engine lets them in between slices */

	/* All below belongs to the thread (or to a test that runs without one). */
	struct softgpu_client *client;
	u64 client_generation;
	u64 epoch;
	u64 ppgtt_mask; /* of the bits that the job's tables translate */
	struct softgpu_tlb_entry ppgtt[SOFTGPU_TLB_PPGTT];
	struct softgpu_tlb_entry ggtt[SOFTGPU_TLB_GGTT];
	struct softgpu_walk_entry walks[SOFTGPU_WALKS];
	struct {
		u64 run; /* host address >> SOFTGPU_OWNERS_SHIFT */
		struct softgpu_owners *owners; /* of the job's client; NULL: empty */
	} runs[SOFTGPU_RUNS];
	struct {
		u64 run; /* guest page number / SOFTGPU_OWNER_PAGES */
		struct softgpu_guest *guest; /* of the job's client; NULL: empty */
	} guest_runs[SOFTGPU_RUNS];
	int commands_left; /* in this slice */
	s64 bytes_left;
	u64 slice; /* grows when the access mutex is taken: pointers from before are void */
	u64 fault_gfn; /* the guest page that a nested walk lacks */

	u32 ring_start, ring_bytes, ring_head, ring_tail;
	u32 gpr[2 * SOFTGPU_GPRS];
	u64 started_ns;
	u32 context_timestamp; /* of the context when the job came on the engine */

	unsigned int level; /* of @streams in use */
	u64 command_at; /* ring offset or address of the command in @packet */
	struct softgpu_stream streams[SOFTGPU_STREAMS];

	/* A private copy of the commands ahead: each dword is read from guest memory once. */
	struct ghyvi_cmd_prefetch window;
	u32 packet[GHYVI_PACKET_DWORDS_MAX + SOFTGPU_OPTIONAL_DWORDS];
	unsigned int packet_dwords;
	const struct ghyvi_command *command; /* what it is; NULL: unknown */

	u8 *rows; /* BCS: two rows of SOFTGPU_ROW_BYTES */
};

struct softgpu {
	u64 *ggtt; /* SOFTGPU_GGTT_ENTRIES; each range written only by its client */
	struct softgpu_engine engines[GHYVI_ENGINES];
};

/* engine.c: threads and jobs */
int softgpu_engine_init(struct softgpu_engine *engine, struct softgpu *gpu, enum ghyvi_engine_id id);
int softgpu_engine_start(struct softgpu_engine *engine);
void softgpu_engine_fini(struct softgpu_engine *engine);
/* The engine's part of the operations of the same names in struct ghyvi_pgpu_ops. */
int softgpu_engine_run(struct softgpu_engine *engine, struct ghyvi_job *job);
int softgpu_engine_update_tail(struct softgpu_engine *engine, struct ghyvi_job *job, u32 tail);
void softgpu_engine_preempt(struct softgpu_engine *engine, struct ghyvi_job *job);
void softgpu_engine_cancel(struct softgpu_engine *engine, struct ghyvi_job *job);
/**
 * softgpu_engine_work() - run the engine's job in this thread and hand it back
 * @engine: one that no other thread works for
 *
 * Context: may sleep; calls the job's @done without a lock held.
 * Return: false if the engine had none.
 */
bool softgpu_engine_work(struct softgpu_engine *engine);
void softgpu_access_begin(struct softgpu_engine *engine);
void softgpu_access_end(struct softgpu_engine *engine);
/** softgpu_yield() - end of a slice: let others in. 0, or the job ends here: SOFTGPU_CANCELLED or _ERROR. */
int softgpu_yield(struct softgpu_engine *engine);
/** softgpu_spend() - account @bytes moved; yields when the slice is used up. Returns as softgpu_yield(). */
static inline int softgpu_spend(struct softgpu_engine *engine, u32 bytes)
{
	engine->bytes_left -= bytes;
	return likely(engine->bytes_left > 0) ? SOFTGPU_OK : softgpu_yield(engine);
}

/** softgpu_error() - report why the job ends here. Returns SOFTGPU_ERROR. */
__printf(2, 3) int softgpu_error(struct softgpu_engine *engine, const char *format, ...);
u64 softgpu_ticks(unsigned int gen, u64 ns);
u64 softgpu_engine_timestamp(const struct softgpu_engine *engine);
u32 softgpu_context_timestamp(const struct softgpu_engine *engine);

/* stream.c: fetching commands */
int softgpu_stream_fetch(struct softgpu_engine *engine);
int softgpu_stream_push(struct softgpu_engine *engine, unsigned int level,
			const struct softgpu_stream *stream);
void softgpu_stream_drop_window(struct softgpu_engine *engine);
static inline struct softgpu_stream *softgpu_stream(struct softgpu_engine *engine)
{
	return &engine->streams[engine->level];
}

/* commands.c: who executes what */
/** softgpu_packet_skipped() - the packet has no effect here, so that its body need not be fetched. */
bool softgpu_packet_skipped(const struct ghyvi_command *command, u32 header);
/** softgpu_command() - execute engine->packet. */
int softgpu_command(struct softgpu_engine *engine);

/* mi.c, flush.c, math.c, atomic.c, blt.c: one command each, in engine->packet */
int softgpu_mi(struct softgpu_engine *engine);
int softgpu_mi_store_index(struct softgpu_engine *engine);
int softgpu_mi_flush_dw(struct softgpu_engine *engine);
int softgpu_pipe_control(struct softgpu_engine *engine);
int softgpu_mi_math(struct softgpu_engine *engine);
int softgpu_mi_atomic(struct softgpu_engine *engine);
int softgpu_blt(struct softgpu_engine *engine);

/* cs_regs.c: which registers a command streamer may touch */
int softgpu_register_read(struct softgpu_engine *engine, u32 offset, u32 *value);
int softgpu_register_write(struct softgpu_engine *engine, u32 offset, u32 value, u32 byte_disables);
void softgpu_registers_publish(struct softgpu_engine *engine);

/* tlb.c: translation and access. 0, SOFTGPU_ERROR or SOFTGPU_CANCELLED. Under engine->access. */
/** softgpu_tlb_reset() - the engine begins a job of another client, perhaps. */
void softgpu_tlb_reset(struct softgpu_engine *engine);
void softgpu_tlb_flush(struct softgpu_engine *engine);
int softgpu_tlb_fill(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot,
		     enum softgpu_space space, u64 address);

/*
 * Surfaces like to begin at round addresses. Neighbours keep different slots, and the higher bits, all
 * of them mixed, move a region as a whole, so that source and destination of a copy rarely evict each other.
 */
#define SOFTGPU_MIX 0x61c8864680b583ebULL
static inline unsigned int softgpu_tlb_index(u64 page, unsigned int slots)
{
	return (page + ((page >> 9) * SOFTGPU_MIX >> 48)) % slots;
}

/**
 * softgpu_map() - the bytes from @address to the end of its page. May end the slice.
 * @pointer: NULL when @write and the page drops writes
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
	*pointer = write && !slot->writable ? NULL :
					      slot->pointer + (address & (GHYVI_PAGE_BYTES - 1));
	return 0;
}

int softgpu_read32(struct softgpu_engine *engine, enum softgpu_space space, u64 address, u32 *value);
int softgpu_write32(struct softgpu_engine *engine, enum softgpu_space space, u64 address, u32 value);
int softgpu_write64(struct softgpu_engine *engine, enum softgpu_space space, u64 address, u64 value);

/* client.c: who owns which host page */
/** softgpu_owners_find() - the run of pages that holds @bus; NULL: none of them was ever owned. */
struct softgpu_owners *softgpu_owners_find(struct softgpu_client *client, u64 bus);
/** softgpu_owners_kind() - the kind of the page at @bus, or -ENOENT when it is not the client's. */
int softgpu_owners_kind(const struct softgpu_owners *owners, u64 bus);
int softgpu_own_page(struct ghyvi_pgpu_client *client, u64 bus, enum ghyvi_page_kind kind);
void softgpu_disown_page(struct ghyvi_pgpu_client *client, u64 bus);
int softgpu_map_guest(struct ghyvi_pgpu_client *client, u64 gfn, u64 bus);
void softgpu_unmap_guest(struct ghyvi_pgpu_client *client, u64 gfn);
struct ghyvi_pgpu_client *softgpu_client_create(void *pgpu, const struct ghyvi_client_params *params);
void softgpu_client_destroy(struct ghyvi_pgpu_client *client);
void softgpu_invalidate(struct ghyvi_pgpu_client *client);

static inline struct softgpu_client *softgpu_client(struct ghyvi_pgpu_client *client)
{
	return (struct softgpu_client *)client;
}

#endif
