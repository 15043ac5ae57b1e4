/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Workers: processes of the host that execute the kernels of one vGPU each. See
 * <uapi/linux/ghyvi_eu.h> for what they do. workers.c is the meeting place of a worker and the
 * engine's thread; compute.c is the engine's side, eu_dev.c the worker's.
 *
 * The engine's thread waits for a worker only by flags, never for a lock that a worker may hold
 * while it sleeps: the host may give a worker little CPU time, and others want the engine. So the
 * engine's thread itself translates what a worker needs, and the worker's thread changes its own
 * page tables.
 *
 * Locks, outermost first:
 *   softgpu_worker.insert  a mutex, held while pages become visible to the worker or disappear.
 *                          A page of an older generation of the client than now, or of a dispatch
 *                          that has ended, is not inserted. With it held, allocation of page tables
 *                          may wait for memory, and a translation that was stale for the engine;
 *                          what waits for it then is the client's own guest.
 *   softgpu_worker.lock    protects the other members. A leaf.
 *
 * A dispatch gives way within a thread group by handing the group over: the worker's copy becomes a
 * struct softgpu_group, which is the job's while no worker has the dispatch, and a worker's between
 * an answer and the engine that takes it, or an engine and the worker that takes the dispatch. It
 * lives as long as its job: whatever ends the job (its completion, an error, a cancellation, the
 * guest's reset of the engine, failsafe state) frees it, and a pause keeps it. The context's image
 * has nothing of it: what a guest does to an image under way has no effect on its job, as always.
 */
#ifndef GHYVI_SOFTGPU_WORKERS_H
#define GHYVI_SOFTGPU_WORKERS_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/ghyvi_eu.h>

struct softgpu_client;
struct softgpu_engine;
struct softgpu_worker;

/**
 * struct softgpu_group - a thread group in progress, as a worker has saved it
 * @bytes: of @data, a multiple of 8, up to GHYVI_EU_GROUP_BYTES
 * @data: only workers look into it
 */
struct softgpu_group {
	size_t bytes;
	u8 data[];
};

static inline bool softgpu_group_fits(size_t bytes)
{
	return bytes && bytes <= GHYVI_EU_GROUP_BYTES && !(bytes % 8);
}

/* Charged to the caller's memory cgroup; may sleep. NULL without memory. Free it with kvfree(). */
struct softgpu_group *softgpu_group_create(size_t bytes);

/* Pages that one fault of a worker maps at most. */
#define SOFTGPU_FAULT_PAGES 64

/**
 * struct softgpu_worker_fault - a page that a worker needs, and the answer
 * @address: GPU address of a page
 * @write: it is written
 * @number: of the dispatch; set by softgpu_worker_translate()
 * @pages: how many pages the worker can take, 1 to SOFTGPU_FAULT_PAGES
 * @err: answer: 0, -EFAULT: not mapped, -EAGAIN: no dispatch is being executed
 * @generation: answer: generation of the client that @pointers belong to
 * @count: answer: how many pages from @address on are translated, 1 to @pages
 * @pointers: answer: these pages
 * @zeros: answer: the page reads as zeros; its pointer is not valid
 * @drops: answer: stores have no effect
 */
struct softgpu_worker_fault {
	u64 address;
	bool write;
	u32 number;
	unsigned int pages;
	int err;
	s64 generation;
	unsigned int count;
	u8 *pointers[SOFTGPU_FAULT_PAGES];
	bool zeros;
	bool drops;
};

enum softgpu_worker_state {
	WORKER_OFFERED, /* has no client; in softgpu_workers_offered */
	WORKER_BUSY, /* has a client; does not wait for a dispatch */
	WORKER_READY, /* waits for a dispatch */
	WORKER_POSTED, /* @next is a dispatch that it has not taken */
	WORKER_RUNNING, /* executes it */
	WORKER_ANSWERED, /* @next.status, groups, slices and text are about it */
	WORKER_DEAD, /* its file is closed, or its client is gone */
};

/**
 * struct softgpu_worker_ops - calls with @insert of the worker held; may sleep
 * @take_pages: take all pages of GPU memory away from the worker's process
 * @kill: end the process, which need not ask for anything any more: it executes what a guest wants
 */
struct softgpu_worker_ops {
	void (*take_pages)(void *private);
	void (*kill)(void *private);
};

/**
 * struct softgpu_worker - a worker
 * @ref: the file's, its client's, and one of each function that uses it
 * @had_client: it has had a client; protected by the lock of the list of offers, as @client
 * @ops: what becomes of the worker's process; NULL when its file is closed; protected by @insert
 * @private: of @ops
 * @insert: see above
 * @lock: protects all members below
 * @state: see above
 * @left_posted: DEAD: it had not begun the dispatch that was posted
 * @client: NULL before it has one, and after that is gone
 * @engine: the engine that waits, from POSTED to ANSWERED; NULL: nobody waits for an answer
 * @next: the dispatch
 * @group: its thread group in progress, in POSTED and ANSWERED, and as @left_posted
 * @control: what the worker reads
 * @thread: the last one that took a dispatch, with a reference, or NULL
 * @fault: what it needs
 * @faulting: @fault is to be answered by the engine
 * @in_fault: a thread waits for that
 * @offered: in the list of offers
 * @overdue: ends the process if it still executes @overdue_number; has a reference
 * @overdue_number: the last dispatch that was given up while it was executed
 * @wake: the worker's threads wait for changes of the above
 */
struct softgpu_worker {
	struct kref ref;
	bool had_client;
	const struct softgpu_worker_ops *ops;
	void *private;
	struct mutex insert;
	spinlock_t lock;
	enum softgpu_worker_state state;
	bool left_posted;
	struct softgpu_client *client;
	struct softgpu_engine *engine;
	struct ghyvi_eu_next next;
	struct softgpu_group *group;
	struct ghyvi_eu_control *control;
	struct task_struct *thread;
	struct softgpu_worker_fault fault;
	bool faulting;
	bool in_fault;
	struct list_head offered;
	struct delayed_work overdue;
	u32 overdue_number;
	wait_queue_head_t wake;
};

/* ---- the worker's side; all may sleep ---- */

/**
 * softgpu_worker_create() - make a worker without a client.
 * @ops: see struct softgpu_worker
 * @private: see there
 *
 * Return: the worker, or NULL without memory.
 */
struct softgpu_worker *softgpu_worker_create(const struct softgpu_worker_ops *ops, void *private);
void softgpu_worker_put(struct softgpu_worker *worker);
/* The worker's process is gone: a dispatch that it has ends as an error. */
void softgpu_worker_close(struct softgpu_worker *worker);
/**
 * softgpu_worker_accept() - wait for a client that needs execution units.
 * @worker: a worker without client
 * @name: filled with the client's name
 *
 * Return: 0; -EBUSY if it has or had a client; -ERESTARTSYS.
 */
int softgpu_worker_accept(struct softgpu_worker *worker, struct ghyvi_eu_client *name);
/**
 * softgpu_worker_group() - allocate a thread group that the worker answers with.
 * @worker: a worker
 * @bytes: its size
 *
 * It is charged to the VM of the client whose dispatch the worker has.
 *
 * Return: the group, or NULL without memory.
 */
struct softgpu_group *softgpu_worker_group(struct softgpu_worker *worker, size_t bytes);
/**
 * softgpu_worker_next() - take the answer of the last dispatch, wait for the next.
 * @worker: a worker with a client
 * @next: in and out as the ioctl has it
 * @group: in and out: the thread group in progress, or NULL; the caller frees it
 *
 * Return: 0; -EINVAL, -ENODEV, -ERESTARTSYS.
 */
int softgpu_worker_next(struct softgpu_worker *worker, struct ghyvi_eu_next *next,
			struct softgpu_group **group);
/**
 * softgpu_worker_translate() - have a page translated by the engine that waits for the worker.
 * @worker: a worker
 * @fault: in and out
 *
 * If the first answer is stale, @insert is held from before the next question on. So invalidations
 * that come then wait, and a guest that stores to its tables without a pause does not keep its own
 * kernel from giving way.
 *
 * Return: 0, with @insert held: the caller inserts the page and unlocks it. Otherwise the error of
 * the answer, -EAGAIN, too, if the engine gave the dispatch up meanwhile; -EBUSY if another thread
 * of the worker waits here; -ERESTARTSYS if the caller is being killed.
 */
int softgpu_worker_translate(struct softgpu_worker *worker, struct softgpu_worker_fault *fault);
/**
 * softgpu_worker_current() - test whether a translation may still be inserted.
 * @worker: its worker; @insert is held
 * @fault: the answer
 */
bool softgpu_worker_current(struct softgpu_worker *worker,
			    const struct softgpu_worker_fault *fault);

/* ---- the core's side ---- */

/**
 * softgpu_client_take_pages() - take all pages of a client away from its worker, if it has one.
 * @client: a client whose generation has been incremented
 *
 * Context: may sleep.
 */
void softgpu_client_take_pages(struct softgpu_client *client);
/* The client goes, and its worker's process ends. No engine has a job of it. May sleep. */
void softgpu_client_part(struct softgpu_client *client);
/* There is a worker without client, which may make an offer soon. Any context. */
bool softgpu_workers_exist(void);
/**
 * softgpu_client_worker() - get the worker of a client, or an offered one.
 * @client: the client of the engine's job
 *
 * Context: any; the caller puts the worker.
 * Return: the worker; NULL: there is none, nor one that could be.
 */
struct softgpu_worker *softgpu_client_worker(struct softgpu_client *client);
/**
 * softgpu_worker_expect() - end a worker that does not end the dispatch that is given up.
 * @worker: a worker that executes it; @lock is held
 *
 * It has a second. An honest process looks at its control page; one that a guest has taken over
 * would use a CPU for as long as the VM lives, and nothing would charge it.
 */
void softgpu_worker_expect(struct softgpu_worker *worker);

#endif
