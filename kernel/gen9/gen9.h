/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private types and functions of the backend for Gen9 hardware, for the files of this folder only.
 *
 * DOC: model
 *
 * The module owns the PCI function of the GPU. Whatever an engine executes or loads with privilege
 * is in *windows*: host pages at host-owned addresses of the GGTT. They are the context images, the
 * rings, the status pages, and the copies of audited batches. A guest's pages are reachable only
 * as data: through the shadow PPGTT, and through the guest's own part of the GGTT.
 *
 * An engine has up to two jobs: it executes the first, and switches to the second by itself. Each
 * submission replaces what both ports have, so a job is taken off by a submission without it. If no
 * job is left the engine is given the host's own context (@kernel_context), which has nothing to
 * do. A job is given back only when hardware has neither executed nor to execute its context.
 *
 * DOC: waiting
 *
 * A guest decides how long a command takes, so a thread that waits for a job to leave its engine
 * holds no lock that a thread of another guest takes. It waits for certain jobs, struct gen9_jobs.
 * If they do not leave in time their engine is reset, but only for one of them: a job that must
 * leave for another reason keeps the time that the scheduler gives it.
 *
 * Locks, outermost first:
 *   gen9.control       serialises resets of engines and of the function. Taken by threads of the
 *                      host only, see gen9_worker_call().
 *   gen9.parts_lock    protects the list of unused parts, and the entries of those that are dropped
 *   gen9.cache_lock    serialises what frees cached windows. Taken by threads of the host only.
 *   gen9.tlb_lock      serialises what hardware ends by itself: an invalidation of a TLB, the reset
 *                      of an engine. Not preemptible, because threads of guests take it.
 *   gen9_engine.lock   protects the ports and the jobs. Taken in the interrupt handler.
 *   gen9.window_lock   protects the allocation of windows. A leaf.
 *   gen9.ggtt_lock     protects the GGTT and its shadow. A leaf, irq-safe.
 *   gen9.clock_lock    protects what is known of the engines' clock. A leaf, irq-safe.
 *   gen9.frequency_lock  protects what is asked for. A leaf, irq-safe.
 */
#ifndef GHYVI_GEN9_H
#define GHYVI_GEN9_H

#include <linux/bitmap.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <ghyvi/backend.h>
#include <ghyvi/engines.h>
#include <ghyvi/pgpu.h>
#include "regs.h"

struct gen9;
struct gen9_client;
struct gen9_engine;

enum gen9_platform {
	GEN9_SKYLAKE,
	GEN9_KABYLAKE,
	GEN9_COFFEELAKE,
	GEN9_COMETLAKE,
};

/* The host's part of the GGTT: its last 128 MiB. Its last page is never mapped to anything. */
#define GEN9_HOST_GGTT_BYTES (128u << 20)
#define GEN9_HOST_GGTT_PAGES (GEN9_HOST_GGTT_BYTES >> GHYVI_PAGE_SHIFT)

/* What the host's part of the batch of a restore stores, see gen9_restore_workarounds(). */
#define GEN9_RESTORED 0x67683973u

/* Elements of a submission, and jobs of an engine. */
#define GEN9_PORTS 2

/* The crystal of Gen9. */
#define GEN9_TIMESTAMP_HZ 12000000

/* Time limits. Hardware needs a small part of each. */
#define GEN9_STOP_US 1000
#define GEN9_RESET_READY_US 700
#define GEN9_RESET_US 2000
#define GEN9_RESET_TRIES 3
#define GEN9_RESET_WRITES 6
/* In gen9_engine.errors, where no bit of RING_EIR is. */
#define GEN9_ERROR_FAULT BIT(31)

/* A job that would go on may have a long command; the limit is that of i915. */
#define GEN9_PREEMPT_TIMEOUT_MS 640
#define GEN9_PREEMPT_TIMEOUT_MIN_MS 50
#define GEN9_PREEMPT_TIMEOUT_MAX_MS 60000
/* A job that ends when it has left. */
#define GEN9_END_MS 50
/* Time between two looks for an event that is late, and their number until it is given up. */
#define GEN9_LATE_US 50
#define GEN9_LATE_LOOKS 1000
#define GEN9_SELFTEST_MS 1000

/*
 * Interrupts with events of a guest, per engine and tick: 10000 in a second, plus those of jobs.
 */
#define GEN9_IRQS_PER_TICK max(10000 / HZ, 1)

/*
 * Interrupts that may still have events of a job that has left its engine: one whose handler has
 * read them, and two of which the identity register has them.
 */
#define GEN9_IRQ_TURNS 3

/* Invalidations of a client per tick: 5000 in a second. */
#define GEN9_INVALIDATIONS_PER_TICK max(5000 / HZ, 1)

/* struct gen9_backing - a host page that the GPU accesses */
struct gen9_backing {
	struct page *page; /* the page */
	dma_addr_t dma; /* its address for the GPU */
};

/* struct gen9_window - host pages at consecutive addresses of the host's part of the GGTT */
struct gen9_window {
	struct list_head node; /* in a list of its user, or in gen9.window_cache */
	u32 ggtt; /* GGTT address of the first page; 0: it has none now */
	unsigned int pages; /* number of pages */
	struct gen9_client *client; /* the client that it counts for; NULL: the host */
	u32 *cpu; /* the pages, mapped contiguously */
	struct gen9_backing backing[]; /* the pages */
};

/* struct gen9_context - a context of the hardware, with its image in host memory */
struct gen9_context {
	/* as the core sees it; @base.client is NULL if the context is the host's own */
	struct ghyvi_pgpu_context base;
	/*
	 * page 0 is the PPHWSP, page 1 the register state, then what hardware needs; behind the
	 * image of the render engine is the batch that it executes in each restore
	 */
	struct gen9_window *image;
	struct gen9_window *ring; /* copies of the job's commands; see ring.c */
	u32 ring_used; /* number of bytes at the start of @ring that may not be 0 */
	/* windows with the copies of batches that the job's ring starts */
	struct list_head batches;
	/* the host's PML4 page for a context with three levels; NULL: none yet */
	struct gen9_window *pml4;
	u64 descriptor; /* what is written to the submit port */
	bool valid; /* the image contains the state that earlier jobs have left */
};

struct batch_page;

/*
 * struct gen9_copies - memory for copies of commands that a guest has added
 *
 * A job is not given back while commands are copied to it, so the memory is allocated before: that
 * may take long if the guest has none left.
 */
struct gen9_copies {
	struct list_head windows; /* for the batches of each segment, in order */
	/* room for the pages of the segment with the most; NULL: it has none */
	struct batch_page *batches;
	unsigned int left; /* number of pages that are to be copied; more may have been added */
};

/* struct gen9_saved_register - a register that images save */
struct gen9_saved_register {
	u32 offset; /* of the register */
	u32 dword; /* index of its value from the register state page on */
};

/* struct gen9_piece - commands that are contiguous in the guest's ring and in the copy */
struct gen9_piece {
	u32 place; /* offset of their copy in the window */
	u32 offset; /* offset in the guest's ring */
	u32 bytes; /* their length; the guest's ring may wrap in between */
};

/* Hardware takes multiples as tails of rings. */
#define GEN9_TAIL_BYTES 8u

/* Number of times that the tail of a job on its engine can move before the job has to end. */
#define GEN9_PIECES 32

/*
 * struct gen9_job - the backend's part of a job; protected by gen9_engine.lock while the engine has
 *	the job. Only run() and update_tail(), which the core does not call at the same time, change
 *	@pieces and @next.
 */
struct gen9_job {
	struct ghyvi_commands_iter iter; /* position in the audited commands */
	bool prepared; /* the image, the ring and the batches are complete */
	u32 ring_bytes; /* size of the guest's ring */
	u32 tail; /* end of the commands that were installed; before a refused command */
	struct gen9_piece pieces[GEN9_PIECES]; /* the commands that were copied, in order */
	unsigned int nr_pieces; /* number of valid elements of @pieces */
	u32 next; /* place of the next commands */
	bool unpublished; /* @end and @limit do not follow from @next yet */
	u32 end; /* place behind the last command; a multiple of 8 */
	u32 limit; /* place behind the NOOPs that follow @end */
	u32 hw_tail; /* last tail that hardware was given: up to @limit, or before @end was moved */
	bool refused; /* the job ends with an error when it reaches @tail */
	bool sealed; /* commands were lost, so no more can be added */
	int stop; /* why the job must leave the engine: a status, or -1 */
	bool overran; /* its budget was used up, which is why it must leave the engine */
	bool faulted; /* it has made a page fault at @fault_address of its PPGTT */
	u64 fault_address; /* see @faulted */
	bool extending; /* update_tail() installs commands; the job is not given back meanwhile */
	/*
	 * number of interrupts that may still be about events of the job, because the engine has
	 * executed it
	 */
	unsigned int irq_turns;
	bool ended; /* the job has left the engine with @status, and will be given back */
	int status; /* enum ghyvi_job_status */
	u64 since_ns; /* time at which the engine began to execute it; 0: it does not */
	u64 spent_ns; /* time on the engine in this run, up to @since_ns */
	u64 left_ns; /* what is left of the job's budget while the engine does not execute it */
	u64 deadline_ns; /* when the budget is used up; 0: no limit, or not being executed */
};

/* struct gen9_engine - a command streamer */
struct gen9_engine {
	struct gen9 *gpu; /* the GPU */
	enum ghyvi_engine_id id; /* which engine */
	u32 base; /* offset of its registers */
	unsigned int image_pages; /* size of its context images */
	struct gen9_window *status; /* its hardware status page */
	struct gen9_context *kernel_context; /* the host's own context */
	u32 kernel_tail; /* tail of its ring */
	u32 *default_state; /* the image without PPHWSP of a context that has done nothing */
	struct gen9_saved_register *saved; /* the registers that images save, by offset */
	unsigned int nr_saved; /* number of elements of @saved */
	u32 saved_end; /* dword of the image at which their lists end */

	spinlock_t lock; /* protects the members below */
	/* the contexts that were submitted and are not promoted yet */
	struct gen9_context *pending[GEN9_PORTS];
	/* the context that the engine executes, and the one that it executes next */
	struct gen9_context *active[GEN9_PORTS];
	unsigned int csb_head; /* index of the last status entry that was processed */
	/* the jobs in the order of run(); NULL: none, after the others */
	struct ghyvi_job *jobs[GEN9_PORTS];
	bool works; /* it executes a job, as gen9.working counts it */
	bool paused; /* all jobs must stay away from the engine, and continue later */
	/*
	 * nothing may be submitted, and no job ends by itself, because of a reset or because the
	 * GPU is dead
	 */
	bool blocked;
	wait_queue_head_t left; /* the ports have changed */

	/* number of looks at the status page for which an event was late */
	unsigned int late_looks;
	/* the context at the last look at a page fault; NULL: there was none */
	const struct gen9_context *fault_context;
	u64 fault_address; /* where it was */

	u32 late_sources; /* interrupts that came before the events up to @sources_event */
	unsigned int sources_event; /* index of a status entry */

	/* errors that it has reported, or GEN9_ERROR_FAULT; its reset ends them; 0: none */
	u32 errors;
	bool blames; /* the event of @error_event is late; then @error_context is known */
	unsigned int error_event; /* index of the status entry before the error */
	/* the context that the engine executed then; NULL: its job has ended */
	const struct gen9_context *error_context;
	bool muted; /* the events of guests are masked until @unmute_work runs */

	struct work_struct done_work; /* gives back jobs that have ended */
	struct delayed_work unmute_work; /* ends @muted */
	/* runs when the budget of the job that the engine executes is used up */
	struct delayed_work watchdog;
	/* looks for what no interrupt tells, while the engine has a job */
	struct delayed_work watch;
	struct work_struct error_work; /* resets an engine that has reported an error */
};

/* struct gen9_finding - a value that the self-test has compared */
struct gen9_finding {
	enum ghyvi_engine_id engine; /* whose value it is, if @what is not NULL */
	const char *what; /* a constant; NULL: a register */
	u32 offset; /* of the register */
	u32 value; /* what was found */
	u32 expected; /* what was expected */
	bool ok; /* the value is as good as that */
};

#define GEN9_FINDINGS_MAX 96u

/* struct gen9 - a GPU */
struct gen9 {
	struct ghyvi_pgpu_device base; /* as the core sees it */
	struct pci_dev *pdev; /* its PCI function */
	enum gen9_platform platform; /* which one */
	struct ghyvi_pgpu *pgpu; /* handle of the core */
	void __iomem *regs; /* the registers */
	bool dead; /* a full reset has failed; nothing runs any more */
	/* the hardware has answered nonsense, which was reported */
	struct ratelimit_state unreliable;
	unsigned int nr_findings; /* number of @findings */
	/* what the self-test has compared; only the thread in probe accesses them */
	struct gen9_finding findings[GEN9_FINDINGS_MAX];
	struct mutex control; /* see above */
	spinlock_t tlb_lock; /* see above */
	struct workqueue_struct *wq; /* for the works of the engines */
	struct gen9_engine engines[GHYVI_ENGINES]; /* by id */

	u64 __iomem *gtt; /* the GGTT's entries */
	u64 ggtt_bytes; /* size of the address space */
	spinlock_t ggtt_lock; /* protects @ggtt and @gtt */
	u64 *ggtt; /* what was written to @gtt; 0: nothing yet */
	bool ggtt_dirty; /* an entry has changed since the last flush */
	/* scratch page, then the page table, directory, PDP and PML4 that map it */
	struct gen9_backing scratch[5];
	struct mutex parts_lock; /* protects @unused_parts; a submission never waits for it */
	/* parts of the GGTT whose every entry maps the scratch page of the part */
	struct list_head unused_parts;
	spinlock_t window_lock; /* protects the members below */
	/* pages of the host's part of the GGTT in use */
	DECLARE_BITMAP(host_used, GEN9_HOST_GGTT_PAGES);
	/* pages of it that only one client gets */
	DECLARE_BITMAP(client_ranges, GEN9_HOST_GGTT_PAGES);
	struct list_head window_cache; /* windows without a user */
	/* a thread that gets it knows that addresses of freed windows are free */
	struct mutex cache_lock;
	/* number of pages that windows with a user have or are about to have */
	unsigned int taken_pages;
	unsigned int unused_share_pages; /* sum of what clients have not taken of their shares */
	unsigned int share_pages; /* sum of the shares */

	spinlock_t frequency_lock; /* protects the members below */
	bool frequency_runs; /* the registers are accessible */
	bool fast; /* that of an engine with a job is asked for, not that of idle ones */
	u32 frequency_limits[2]; /* the lowest and the highest possible, in MHz; 0: unknown */
	u32 frequencies[2]; /* what is asked for while all engines are idle, and else, in MHz */
	unsigned int working; /* number of engines that execute a job */
	/* asks for the lowest when no engine has had a job for a while */
	struct delayed_work frequency_work;

	spinlock_t clock_lock; /* protects the members below */
	u64 clock_ticks; /* the engines' clock when it was last read */
	u64 clock_ns; /* the host's clock at that time */
	/* the engines' clock follows from its registers, not from the host's alone */
	bool clock_runs;
};

/*
 * struct gen9_part - a part of the GGTT that is, or was, a client's
 *
 * Parts without a client are kept, so that the next one with the same ranges need not write all
 * their entries.
 */
struct gen9_part {
	struct list_head node; /* in gen9.unused_parts if it has no client */
	/*
	 * page for addresses without an entry. Entries of the GGTT cannot forbid stores, so clients
	 * do not share one. It contains zeros when the part gets a client.
	 */
	struct gen9_backing scratch;
	struct ghyvi_range ggtt[2]; /* the ranges */
	unsigned int nr_ggtt; /* number of valid elements of @ggtt */
};

/* struct gen9_irqs - interrupts that an engine has raised for a client */
struct gen9_irqs {
	unsigned int count; /* number of interrupts with events of guests in the tick @tick */
	unsigned long tick; /* of jiffies */
};

/* struct gen9_client - a vGPU */
struct gen9_client {
	struct ghyvi_pgpu_client base; /* as the core sees it */
	struct gen9 *gpu; /* the GPU */
	struct gen9_part *part; /* its part of the GGTT */
	unsigned long engines; /* engines that may have translations of the client in their TLBs */
	/*
	 * number of calls for which jobs must stay away from engines, and continue later, see
	 * gen9_invalidate()
	 */
	atomic_t held;
	struct gen9_irqs irqs[GHYVI_ENGINES]; /* by engine; protected by gen9_engine.lock */
	spinlock_t rate_lock; /* protects the two members below. A leaf. */
	/* number of its invalidations in the tick @invalidations_tick */
	unsigned int invalidations;
	unsigned long invalidations_tick; /* see @invalidations; of jiffies */
	/* number of pages of its client ranges; changes only while it has no window */
	unsigned int share;
	/* number of pages of its windows that have addresses; protected by gen9.window_lock */
	unsigned int taken;
	unsigned int cached; /* number of pages of its cached windows; as @taken */
	/* threads of it that need addresses of cached windows; as @taken */
	unsigned int address_waiters;
};

/*
 * struct gen9_jobs - jobs that a thread waits for until they have left their engines
 *
 * Those of @clients, or @job, or all that must leave.
 */
struct gen9_jobs {
	struct ghyvi_pgpu_client *const *clients; /* clients that are held; NULL: see @job */
	unsigned int nr_clients; /* number of elements of @clients */
	const struct ghyvi_job *job; /* a job that ends when it has left; NULL: all jobs */
};

static inline struct gen9 *gen9_of(struct ghyvi_pgpu_device *pgpu)
{
	return container_of(pgpu, struct gen9, base);
}

static inline struct gen9_client *gen9_client(struct ghyvi_pgpu_client *client)
{
	return container_of(client, struct gen9_client, base);
}

static inline struct gen9_context *gen9_context(struct ghyvi_pgpu_context *context)
{
	return container_of(context, struct gen9_context, base);
}

static inline struct gen9_job *gen9_job(const struct ghyvi_job *job)
{
	return job->backend;
}

static inline u32 gen9_read(const struct gen9 *gpu, u32 offset)
{
	return readl(gpu->regs + offset);
}

static inline void gen9_write(struct gen9 *gpu, u32 offset, u32 value)
{
	writel(value, gpu->regs + offset);
}

static inline u32 gen9_engine_read(const struct gen9_engine *engine, u32 offset)
{
	return gen9_read(engine->gpu, engine->base + offset);
}

static inline void gen9_engine_write(struct gen9_engine *engine, u32 offset, u32 value)
{
	gen9_write(engine->gpu, engine->base + offset, value);
}

/* The register state of a context image. */
static inline u32 *gen9_state(const struct gen9_context *context)
{
	return context->image->cpu + GHYVI_PAGE_BYTES / sizeof(u32);
}

/* Poll a register until @mask of it is @value. Returns 0 or -ETIMEDOUT. */
int gen9_wait(const struct gen9 *gpu, u32 offset, u32 mask, u32 value, unsigned int us);

/* forcewake.c: all registers are accessible between the two. Returns 0 or -ETIMEDOUT. */
int gen9_forcewake_get(struct gen9 *gpu);
void gen9_forcewake_put(struct gen9 *gpu);

/* clock.c */
/* Read the clock of the engines, which may have been reset. All domains are awake. */
void gen9_clock_start(struct gen9 *gpu);
/* A reset may let the clock of the engines begin again. The host's is used until it starts. */
void gen9_clock_stop(struct gen9 *gpu);
u64 gen9_timestamp(struct ghyvi_pgpu_device *pgpu);

/* frequency.c */
/* The registers are accessible, and the request may have been lost. */
void gen9_frequency_start(struct gen9 *gpu);
/* They are not any more. */
void gen9_frequency_stop(struct gen9 *gpu);
/* The engine executes a job, or none. The caller holds the lock of the engine. */
void gen9_frequency_update(struct gen9_engine *engine, bool works);
void gen9_frequency_work(struct work_struct *work);
/* What is asked for while an engine has a job, or (@fast false) none has, in MHz; 0: unknown. */
u32 gen9_frequency_get(struct gen9 *gpu, bool fast);
/*
 * Returns 0; -EINVAL: outside of the hardware's limits, or the lower one would be above the other;
 * -ENODEV: the limits are unknown.
 */
int gen9_frequency_set(struct gen9 *gpu, bool fast, u32 mhz);
/* The frequency in MHz; 0: the registers are not accessible now; -ENODEV: they do not answer. */
int gen9_frequency_actual(struct gen9 *gpu);

/* sysfs.c: attributes of the function, in the folder of the registered pGPU. */
int gen9_sysfs_create(struct gen9 *gpu);
void gen9_sysfs_remove(struct gen9 *gpu);

/* display.c */
/* Test whether there are pipes: they are not fused off. */
bool gen9_has_display(const struct gen9 *gpu);
/* Test whether the registers of a pipe are accessible: its power well is on. */
bool gen9_pipe_has_power(const struct gen9 *gpu, unsigned int pipe);
/* Stop all scan-out. Returns 0 or -ETIMEDOUT. */
int gen9_display_off(struct gen9 *gpu);

/* ggtt.c */
int gen9_ggtt_init(struct gen9 *gpu);
void gen9_ggtt_fini(struct gen9 *gpu);
void gen9_ggtt_set(struct gen9 *gpu, u64 index, u64 entry);
/* Let @count entries from @index on map the page at @dma. May sleep. */
void gen9_ggtt_fill(struct gen9 *gpu, u64 index, u64 count, dma_addr_t dma);
/* Let them map the page that no context may store to. May sleep. */
void gen9_ggtt_set_scratch(struct gen9 *gpu, u64 index, u64 count);
/* Write all entries again that were ever written: after a suspend. */
void gen9_ggtt_restore(struct gen9 *gpu);
/* Make changed entries visible to engines. Any context. */
void gen9_ggtt_flush(struct gen9 *gpu);
/* As above, and wait: pages that entries have mapped can be freed then. */
void gen9_ggtt_flush_sync(struct gen9 *gpu);
u64 gen9_ggtt_entry(dma_addr_t dma);
int gen9_backing_alloc(struct gen9 *gpu, struct gen9_backing *backing, gfp_t flags);
void gen9_backing_free(struct gen9 *gpu, struct gen9_backing *backing);

/*
 * window.c. Windows contain zeros at first, and anything if they were in use before. @client: NULL
 * for the host.
 */
struct gen9_window *gen9_window_get(struct gen9 *gpu, struct gen9_client *client,
				    unsigned int pages);
void gen9_window_put(struct gen9 *gpu, struct gen9_window *window);
/* Give up the addresses, and keep the pages. Nothing of the window is in use by an engine. */
void gen9_window_unmap(struct gen9 *gpu, struct gen9_window *window);
/* Get addresses again, others than before. Returns 0 or -ENOMEM. */
int gen9_window_map(struct gen9 *gpu, struct gen9_window *window);
/* Test whether @client could get windows of @pages pages in all. */
bool gen9_windows_have_room(struct gen9_client *client, unsigned int pages);
/* A client's ranges and share begin and end. It has no window. Its part of the GGTT is set. */
void gen9_windows_add_client(struct gen9_client *client);
void gen9_windows_remove_client(struct gen9_client *client);

/* workarounds.c, mocs.c */
void gen9_gt_workarounds(struct gen9 *gpu);
void gen9_engine_workarounds(struct gen9_engine *engine);
/* Compare the registers with what was written. Returns 0 or -EIO, with a line in the log. */
int gen9_workarounds_verify(struct gen9 *gpu);
/* Emit an MI_LOAD_REGISTER_IMM with the workarounds that contexts save. Returns the dwords. */
unsigned int gen9_context_workarounds(const struct gen9 *gpu, u32 *commands);
/* The register of workaround @i that contexts save; 0: there is none. */
u32 gen9_context_workaround(unsigned int i);
/*
 * Emit what the render engine executes in each restore, in whole lines. The batch ends with the
 * line of gen9_restore_end(). Both return the number of lines.
 */
unsigned int gen9_restore_workarounds(u32 *commands);
unsigned int gen9_restore_end(u32 *commands);
/* Test whether user batches of the render engine may write the register at @offset. */
bool gen9_is_whitelisted(const struct gen9 *gpu, u32 offset);
void gen9_mocs_init(struct gen9_engine *engine);

/* engine.c */
int gen9_engines_init(struct gen9 *gpu);
/* No interrupt comes any more. */
void gen9_engines_cancel_delayed(struct gen9 *gpu);
/* No work of an engine is queued or runs. */
void gen9_engines_fini(struct gen9 *gpu);
/* Registers of the GT that all engines need; after a full reset. */
void gen9_gt_start(struct gen9 *gpu);
/* Take the page fault that the GPU has recorded. Returns RING_FAULT_REG; 0: there is none. */
u32 gen9_clear_fault(struct gen9 *gpu);
/* Registers of an engine; after a reset of it. */
void gen9_engine_start(struct gen9_engine *engine);
/*
 * Drop what the engine has cached of tables. Returns 0 or -ETIMEDOUT. Caller holds gen9.tlb_lock.
 */
int gen9_engine_invalidate(struct gen9_engine *engine);

/* reset.c */
int gen9_reset_all(struct gen9 *gpu);
/* Forget what the engine executes: it was reset. */
void gen9_ports_clear(struct gen9_engine *engine);
/* End all jobs, and accept none any more. */
void gen9_die(struct gen9 *gpu);
/*
 * Reset an engine, or all of them if that fails. If the engine executes one of @jobs, that job
 * ends, and so does one that has made it report an error. If it executes another job, which goes
 * on, there is no reset. @jobs: NULL: none. Caller holds gen9.control.
 */
void gen9_engine_reset(struct gen9_engine *engine, const struct gen9_jobs *jobs);
/*
 * Reset an engine. Jobs get time to leave before, and go on afterwards. If the job that it executes
 * does not leave in time it ends, if @forced, or there is no reset.
 */
void gen9_engine_recover(struct gen9_engine *engine, bool forced);
void gen9_error_work(struct work_struct *work);

/* watch.c */
void gen9_watch(struct work_struct *work);
/* The engine begins a job. The caller holds the lock of the engine. */
void gen9_watch_start(struct gen9_engine *engine);
/* An event is on its way to the status page. The caller holds the lock of the engine. */
void gen9_watch_soon(struct gen9_engine *engine);
/* Test whether the value of GEN8_RING_FAULT_REG is about the engine. */
bool gen9_fault_is_of(const struct gen9_engine *engine, u32 fault);

/* irq.c */
int gen9_irq_init(struct gen9 *gpu);
void gen9_irq_fini(struct gen9 *gpu);
void gen9_irq_start(struct gen9 *gpu);
void gen9_irq_stop(struct gen9 *gpu);
/* Open the sources that are used. The caller holds the lock of the engine, or nothing runs yet. */
void gen9_irq_unmask(struct gen9_engine *engine);
void gen9_irq_unmute(struct work_struct *work);
/* The engine executes the job. The caller holds the lock of the engine. */
void gen9_irq_job_runs(struct gen9_engine *engine, const struct ghyvi_job *job);
/* Take the events of guests that the engine has raised, without an interrupt. */
u32 gen9_irq_take(struct gen9_engine *engine);
/*
 * Deliver events that were taken before the last gen9_csb_process(). The caller holds the lock of
 * the engine.
 */
void gen9_irq_deliver(struct gen9_engine *engine, u32 sources);
/* Wait until no interrupt handler has events that it did not deliver. */
void gen9_irq_synchronize(struct gen9 *gpu);

/* context.c */
struct gen9_context *gen9_context_alloc(struct gen9_engine *engine, struct gen9_client *client);
/* Give back the copies of batches. No job of the context is on the engine. */
void gen9_context_put_batches(struct gen9_context *context, struct gen9 *gpu);
void gen9_context_free(struct gen9_context *context, struct gen9 *gpu);
struct ghyvi_pgpu_context *gen9_context_create(struct ghyvi_pgpu_client *client,
					       enum ghyvi_engine_id engine, u32 lrca);
void gen9_context_destroy(struct ghyvi_pgpu_context *context);
void gen9_context_unmap(struct ghyvi_pgpu_context *context);
int gen9_context_map(struct ghyvi_pgpu_context *context);
/*
 * Let the render engine execute @lines lines of @commands in each restore of the context, behind
 * the host's. @lines: 0: @commands is not used. Returns 0, -ENOSPC.
 */
int gen9_context_set_restore(const struct gen9_engine *engine, const struct gen9_context *context,
			     const u32 *commands, unsigned int lines);
/* Fill the image of the host's own context, which has no state yet. */
void gen9_context_init_kernel(struct gen9_engine *engine);
/* Keep the image of @context as the default state. Returns 0 or -ENOMEM, -EIO. */
int gen9_context_record_default(struct gen9_engine *engine, struct gen9_context *context);
/* Number of dwords of an image without its first page. */
u32 gen9_state_dwords(const struct gen9_engine *engine);
/*
 * Register @i of those that images must save, or guests lose its value: general-purpose registers,
 * and those of workarounds. 0: there are no more.
 */
u32 gen9_needed_register(const struct gen9_engine *engine, unsigned int i);
/* Find a register that images save. NULL: they do not. */
const struct gen9_saved_register *gen9_saved_find(const struct gen9_engine *engine, u32 offset);
/* Fill the image before the first run of a job. Returns 0 or -ENOMEM. */
int gen9_context_load(struct gen9_engine *engine, struct ghyvi_job *job);
/* The context may have been saved while its engine was stopped. It is not on the engine. */
void gen9_context_clear_stop(const struct gen9_engine *engine, const struct gen9_context *context);
/* Copy what the job has left to the core's copy of the register state. */
void gen9_context_store(struct gen9_engine *engine, struct ghyvi_job *job);
/* Test whether the context has executed everything up to the place @end of its ring. */
bool gen9_context_reached(const struct gen9_context *context, u32 end);

/* execlist.c; callers hold the engine's lock */
void gen9_csb_reset(struct gen9_engine *engine);
void gen9_csb_process(struct gen9_engine *engine);
/* Test whether an event is on its way to the status page. */
bool gen9_csb_is_late(const struct gen9_engine *engine);
/*
 * Deliver events of guests that the engine has raised. If it has begun the job that they are for by
 * an event that is late, they are delivered again then.
 */
void gen9_deliver_soon(struct gen9_engine *engine, u32 sources);
/*
 * The engine has reported an error. Find the context that it was executing, which later events do
 * not change, and queue the reset.
 */
void gen9_blame_soon(struct gen9_engine *engine);
/* Submit the host's own context with commands up to @tail of its ring. */
void gen9_submit_kernel(struct gen9_engine *engine, u32 tail);
/* End jobs that have left, and submit what the engine should execute, if it takes a submission. */
void gen9_engine_update(struct gen9_engine *engine);
/* Test whether hardware executes the context, or will. */
bool gen9_has_context(const struct gen9_engine *engine, const struct gen9_context *context);
/* The job that the engine executes; NULL: none. */
struct ghyvi_job *gen9_running_job(const struct gen9_engine *engine);
/* The job that the engine executes or, if it executes nothing, should begin; NULL: none. */
struct ghyvi_job *gen9_present_job(const struct gen9_engine *engine);
/* The ports have changed: the time of a job on the engine begins or ends. */
void gen9_jobs_account(struct gen9_engine *engine);
void gen9_job_end(struct gen9_engine *engine, struct ghyvi_job *job, enum ghyvi_job_status status);
/* The time on the engine of the commands up to the job's tail restarts from 0. */
void gen9_job_restart_budget(struct gen9_engine *engine, struct ghyvi_job *job);
/* Record where the engine is, in its job, from its registers. */
void gen9_job_record_fault(struct gen9_engine *engine, struct ghyvi_job *job);

/* job.c: operations, and works */
int gen9_prepare(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
void gen9_unprepare(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
int gen9_run(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
int gen9_update_tail(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job, u32 tail);
void gen9_preempt(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
void gen9_cancel(struct ghyvi_pgpu_device *pgpu, struct ghyvi_job *job);
void gen9_done_work(struct work_struct *work);
void gen9_watchdog(struct work_struct *work);
/*
 * Let a worker make @call, which other guests may have to wait for, and wait until it has: the
 * calling thread may belong to a guest and get little CPU time, for example with a CPU quota. @work
 * is on the caller's stack. A call may make another one: each place has its own class for lockdep.
 */
#define gen9_worker_call(gpu, work, call)      \
	do {                                   \
		INIT_WORK_ONSTACK(work, call); \
		gen9_worker_wait(gpu, work);   \
	} while (0)
void gen9_worker_wait(struct gen9 *gpu, struct work_struct *work);
/* Process events, and do what is to be done now. */
void gen9_engine_kick(struct gen9_engine *engine);
/* How long jobs that go on afterwards may take to leave: a parameter of the module. */
extern unsigned int gen9_preempt_timeout_ms;
bool gen9_jobs_contain(const struct gen9_jobs *jobs, const struct ghyvi_job *job);
/*
 * Wait until @jobs, which must leave, have left the engines whose bits are in @engines. Those that
 * have not after @limit_ms, on all engines together, end by a reset. The calling thread need not be
 * the host's.
 */
void gen9_wait_left(struct gen9 *gpu, unsigned long engines, const struct gen9_jobs *jobs,
		    unsigned int limit_ms);
/* Keep jobs away from the engine until it is resumed. Callers hold gen9.control. */
void gen9_engines_pause(struct gen9 *gpu);
/*
 * Pause the engines that are neither blocked nor paused, and give their jobs time to leave. Returns
 * those that are to be resumed, as bits.
 */
unsigned long gen9_engines_pause_working(struct gen9 *gpu);
void gen9_engine_resume(struct gen9_engine *engine);

/* ring.c */
/* Get an empty ring for the job. Its context is not on the engine. Returns 0 or -ENOMEM. */
int gen9_ring_begin(struct gen9 *gpu, struct ghyvi_job *job);
/* The context has no job any more: give its ring back if it is long. */
void gen9_ring_end(struct gen9 *gpu, struct gen9_context *context);
/* Test whether there are places for the commands up to @tail of the guest's ring. */
bool gen9_ring_has_room(const struct ghyvi_job *job, u32 tail);
/*
 * Get a place for @bytes of commands from @offset of the guest's ring on. Returns 0, -ENOSPC.
 */
int gen9_ring_reserve(struct ghyvi_job *job, u32 offset, u32 bytes, u32 *place);
/* The engine may execute the commands for which places were reserved. */
void gen9_ring_publish(struct ghyvi_job *job);
/* Forget the places that were reserved since the last gen9_ring_publish(). */
void gen9_ring_withdraw(struct ghyvi_job *job);
/* Make room: forget what was executed. The job's context is not on the engine. */
void gen9_ring_compact(struct ghyvi_job *job);
/* The offset in the guest's ring of the command at @place. */
u32 gen9_ring_offset(const struct ghyvi_job *job, u32 place);

/* install.c */
/* Get memory for what gen9_install_commands() will copy next. Returns 0 or -ENOMEM. May sleep. */
int gen9_copies_get(struct gen9_copies *copies, const struct ghyvi_job *job);
/* Give back what was not used; also after an error. */
void gen9_copies_put(struct gen9_copies *copies, struct gen9 *gpu);
/* Before the first commands of a job: the one before it has left the engine. 0 or -errno. */
int gen9_install_begin(struct gen9_engine *engine, struct ghyvi_job *job);
/*
 * Install the commands that gen9_copies_get() has found, with those that update_tail() will be
 * called for. Sets @tail to their end. If one was refused, sets @refused, and @tail to the place up
 * to which the engine may execute. Allocates nothing.
 */
int gen9_install_commands(struct gen9_engine *engine, struct ghyvi_job *job,
			  struct gen9_copies *copies, u32 *tail, bool *refused);

/* client.c: operations */
struct ghyvi_pgpu_client *gen9_client_create(struct ghyvi_pgpu_device *pgpu,
					     const struct ghyvi_client_params *params);
void gen9_client_destroy(struct ghyvi_pgpu_client *client);
void gen9_client_reset(struct ghyvi_pgpu_client *client);
void gen9_client_set_ggtt(struct ghyvi_pgpu_client *client, const struct ghyvi_range *ggtt,
			  unsigned int nr_ggtt);
/* There is no client, and nothing runs. */
void gen9_parts_free(struct gen9 *gpu);
int gen9_map_page(struct ghyvi_pgpu_client *client, u64 hpa, enum ghyvi_page_kind kind,
		  dma_addr_t *dma);
void gen9_unmap_page(struct ghyvi_pgpu_client *client, dma_addr_t dma);
void gen9_ggtt_write(struct ghyvi_pgpu_client *client, u64 first, const u64 *entries,
		     unsigned int count);
u64 gen9_ggtt_read(struct ghyvi_pgpu_client *client, u64 index);
void gen9_invalidate(struct ghyvi_pgpu_client *const *clients, unsigned int count);

/* report.c */
/* Remember what the self-test has compared. */
void gen9_note(struct gen9 *gpu, const struct gen9_finding *finding);
/*
 * Describe what the self-test has found. @err: its result. Returns a text of *@bytes and a 0, which
 * the caller frees with kvfree(), or NULL: no memory.
 */
char *gen9_report_text(const struct gen9 *gpu, int err, size_t *bytes);

/* debugfs.c */
void gen9_debugfs_init(void);
void gen9_debugfs_exit(void);
/* Show gen9_report_text() in debugfs, if there is memory, instead of that of an earlier probe. */
void gen9_report_publish(const struct gen9 *gpu, int err);

/* selftest.c: let each engine execute a store, and record its default state. Returns 0 or -EIO. */
int gen9_selftest(struct gen9 *gpu);

#endif
