// SPDX-License-Identifier: GPL-2.0-only
/* Meeting place of workers and engines: see workers.h. */
#include <linux/compiler.h>
#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <ghyvi/memcg.h>
#include "engine.h"
#include "workers.h"

#define OVERDUE HZ

/* Workers that wait for a client, and client->worker of all clients. A leaf. */
static DEFINE_SPINLOCK(softgpu_workers_lock);
static LIST_HEAD(softgpu_workers_offered);
static unsigned int softgpu_workers_free; /* workers that had no client */

struct softgpu_group *softgpu_group_create(size_t bytes)
{
	struct softgpu_group *group;

	/* At the limit of its cgroup, a VM loses the group rather than its life to the killer. */
	group = kvmalloc(sizeof(*group) + bytes,
			 GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (group)
		group->bytes = bytes;
	return group;
}

/* Its file will be closed when it has ended. */
static void end_overdue(struct work_struct *work)
{
	struct softgpu_worker *worker =
		container_of(to_delayed_work(work), struct softgpu_worker, overdue);
	bool late;

	spin_lock(&worker->lock);
	late = worker->state == WORKER_RUNNING && worker->next.number == worker->overdue_number;
	spin_unlock(&worker->lock);
	mutex_lock(&worker->insert);
	if (late && worker->ops)
		worker->ops->kill(worker->private);
	mutex_unlock(&worker->insert);
	softgpu_worker_put(worker);
}

void softgpu_worker_expect(struct softgpu_worker *worker)
{
	lockdep_assert_held(&worker->lock);
	if (worker->overdue_number == worker->next.number)
		return; /* a job that only waited for the worker gives up, too */
	worker->overdue_number = worker->next.number;
	kref_get(&worker->ref);
	if (mod_delayed_work(system_wq, &worker->overdue, OVERDUE))
		softgpu_worker_put(worker); /* not the last one: the caller has one */
}

struct softgpu_worker *softgpu_worker_create(const struct softgpu_worker_ops *ops, void *private)
{
	struct softgpu_worker *worker = kzalloc(sizeof(*worker), GFP_KERNEL_ACCOUNT);

	if (!worker)
		return NULL;
	worker->control = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!worker->control) {
		kfree(worker);
		return NULL;
	}
	kref_init(&worker->ref);
	worker->ops = ops;
	worker->private = private;
	mutex_init(&worker->insert);
	spin_lock_init(&worker->lock);
	INIT_LIST_HEAD(&worker->offered);
	INIT_DELAYED_WORK(&worker->overdue, end_overdue);
	init_waitqueue_head(&worker->wake);
	spin_lock(&softgpu_workers_lock);
	softgpu_workers_free++;
	spin_unlock(&softgpu_workers_lock);
	return worker;
}

static void worker_free(struct kref *ref)
{
	struct softgpu_worker *worker = container_of(ref, struct softgpu_worker, ref);

	mutex_destroy(&worker->insert);
	if (worker->thread)
		put_task_struct(worker->thread);
	kvfree(worker->group);
	free_page((unsigned long)worker->control);
	kfree(worker);
}

void softgpu_worker_put(struct softgpu_worker *worker)
{
	kref_put(&worker->ref, worker_free);
}

/* Wake both sides: the state has changed. */
static void worker_changed(struct softgpu_worker *worker)
{
	lockdep_assert_held(&worker->lock);
	wake_up_all(&worker->wake);
	if (worker->engine)
		wake_up_all(&worker->engine->passes);
}

static void take_pages(struct softgpu_worker *worker)
{
	lockdep_assert_held(&worker->insert);
	if (worker->ops)
		worker->ops->take_pages(worker->private);
}

static void worker_die(struct softgpu_worker *worker)
{
	spin_lock(&worker->lock);
	worker->left_posted |= worker->state == WORKER_POSTED;
	WRITE_ONCE(worker->state, WORKER_DEAD);
	WRITE_ONCE(worker->faulting, false);
	worker_changed(worker);
	spin_unlock(&worker->lock);
}

/* Part a client from its worker. Returns the worker, whose reference the caller has now. */
static struct softgpu_worker *client_part(struct softgpu_client *client)
{
	struct softgpu_worker *worker;

	spin_lock(&softgpu_workers_lock);
	worker = client->worker;
	WRITE_ONCE(client->worker, NULL);
	spin_unlock(&softgpu_workers_lock);
	return worker;
}

void softgpu_worker_close(struct softgpu_worker *worker)
{
	struct softgpu_worker *parted = NULL;

	mutex_lock(&worker->insert);
	spin_lock(&softgpu_workers_lock);
	list_del_init(&worker->offered);
	if (!worker->had_client) {
		WRITE_ONCE(worker->had_client, true);
		softgpu_workers_free--;
	}
	if (worker->client && worker->client->worker == worker) {
		parted = worker;
		WRITE_ONCE(worker->client->worker, NULL);
	}
	worker->client = NULL;
	spin_unlock(&softgpu_workers_lock);
	worker->ops = NULL;
	mutex_unlock(&worker->insert);
	worker_die(worker);
	if (cancel_delayed_work_sync(&worker->overdue))
		softgpu_worker_put(worker);
	if (parted)
		softgpu_worker_put(parted);
}

void softgpu_client_part(struct softgpu_client *client)
{
	struct softgpu_worker *worker = client_part(client);

	if (!worker)
		return;
	worker_die(worker);
	mutex_lock(&worker->insert);
	spin_lock(&softgpu_workers_lock);
	worker->client = NULL;
	spin_unlock(&softgpu_workers_lock);
	take_pages(worker);
	if (worker->ops)
		worker->ops->kill(worker->private);
	mutex_unlock(&worker->insert);
	softgpu_worker_put(worker);
}

void softgpu_client_take_pages(struct softgpu_client *client)
{
	struct softgpu_worker *worker;

	/* One that comes meanwhile maps only what is of the new generation. */
	if (!READ_ONCE(client->worker))
		return;
	spin_lock(&softgpu_workers_lock);
	worker = client->worker;
	if (worker)
		kref_get(&worker->ref);
	spin_unlock(&softgpu_workers_lock);
	if (!worker)
		return;
	mutex_lock(&worker->insert);
	take_pages(worker);
	mutex_unlock(&worker->insert);
	softgpu_worker_put(worker);
}

bool softgpu_workers_exist(void)
{
	return READ_ONCE(softgpu_workers_free);
}

struct softgpu_worker *softgpu_client_worker(struct softgpu_client *client)
{
	struct softgpu_worker *worker;

	spin_lock(&softgpu_workers_lock);
	worker = client->worker;
	if (!worker) {
		worker = list_first_entry_or_null(&softgpu_workers_offered, struct softgpu_worker,
						  offered);
		if (worker) {
			list_del_init(&worker->offered);
			kref_get(&worker->ref);
			worker->client = client;
			WRITE_ONCE(worker->had_client, true);
			softgpu_workers_free--;
			WRITE_ONCE(client->worker, worker);
			wake_up_all(&worker->wake);
		}
	}
	if (worker)
		kref_get(&worker->ref);
	spin_unlock(&softgpu_workers_lock);
	return worker;
}

/* ---- the worker's side ---- */

int softgpu_worker_accept(struct softgpu_worker *worker, struct ghyvi_eu_client *name)
{
	const struct ghyvi_reporter *reporter;
	int err;

	spin_lock(&softgpu_workers_lock);
	err = worker->had_client ? -EBUSY : 0;
	if (!err && list_empty(&worker->offered))
		list_add_tail(&worker->offered, &softgpu_workers_offered);
	spin_unlock(&softgpu_workers_lock);
	if (err)
		return err;
	err = wait_event_interruptible(worker->wake, READ_ONCE(worker->had_client));
	spin_lock(&softgpu_workers_lock);
	list_del_init(&worker->offered);
	memset(name, 0, sizeof(*name));
	if (worker->had_client)
		err = worker->client ? 0 : -ENODEV;
	if (worker->client) {
		reporter = worker->client->base.params.reporter;
		if (reporter && reporter->dev)
			strscpy(name->name, dev_name(reporter->dev), sizeof(name->name));
	}
	spin_unlock(&softgpu_workers_lock);
	if (err)
		return err;
	spin_lock(&worker->lock);
	if (worker->state == WORKER_OFFERED)
		WRITE_ONCE(worker->state, WORKER_BUSY);
	spin_unlock(&worker->lock);
	return 0;
}

struct softgpu_group *softgpu_worker_group(struct softgpu_worker *worker, size_t bytes)
{
	struct mem_cgroup *memcg = NULL, *before;
	struct softgpu_group *group;

	spin_lock(&worker->lock);
	if (worker->state == WORKER_RUNNING && worker->engine) {
		memcg = worker->engine->job->memcg;
		ghyvi_memcg_hold(memcg);
	}
	spin_unlock(&worker->lock);
	before = ghyvi_memcg_use(memcg);
	group = softgpu_group_create(bytes);
	ghyvi_memcg_use(before);
	ghyvi_memcg_put(memcg);
	return group;
}

/* Messages of workers are ASCII. Other bytes could control a terminal that shows last_error. */
static void clean_text(char *text)
{
	for (; *text; text++)
		if (!isascii(*text))
			*text = '?';
}

/* Take the answer, if an engine waits for it. *@group becomes NULL if it is the worker's now. */
static int answer_engine(struct softgpu_worker *worker, const struct ghyvi_eu_next *next,
			 struct softgpu_group **group)
{
	int err = 0;

	spin_lock(&worker->lock);
	if (worker->state == WORKER_DEAD) {
		err = -ENODEV;
	} else if (worker->state == WORKER_OFFERED) {
		err = -EINVAL;
	} else if (worker->state == WORKER_RUNNING) {
		if (!worker->engine || next->number != worker->next.number) {
			WRITE_ONCE(worker->state, WORKER_BUSY); /* given up */
		} else if (next->status == GHYVI_EU_NONE || next->status > GHYVI_EU_ERROR) {
			err = -EINVAL;
		} else {
			worker->next.status = next->status;
			worker->next.groups = next->groups;
			worker->next.slices = next->slices;
			worker->group = *group;
			*group = NULL;
			memcpy(worker->next.text, next->text, sizeof(next->text));
			worker->next.text[sizeof(next->text) - 1] = 0;
			clean_text(worker->next.text);
			/* Pairs with state_of(): the engine reads the answer without the lock. */
			smp_store_release(&worker->state, WORKER_ANSWERED);
			worker_changed(worker);
		}
	}
	spin_unlock(&worker->lock);
	return err;
}

/* The engine has taken the last answer, or given the dispatch up. */
static void make_ready(struct softgpu_worker *worker)
{
	spin_lock(&worker->lock);
	if (worker->state == WORKER_BUSY) {
		WRITE_ONCE(worker->state, WORKER_READY);
		worker_changed(worker);
	}
	spin_unlock(&worker->lock);
}

static bool calls_engine(const struct softgpu_worker *worker)
{
	enum softgpu_worker_state state = READ_ONCE(worker->state);

	return state == WORKER_BUSY || state == WORKER_POSTED || state == WORKER_DEAD;
}

/* Take the dispatch that is posted. Returns -EAGAIN if there is none (any more). */
static int take_posted(struct softgpu_worker *worker, struct ghyvi_eu_next *next,
		       struct softgpu_group **group, int err)
{
	spin_lock(&worker->lock);
	if (worker->state == WORKER_POSTED && fatal_signal_pending(current)) {
		err = -EINTR; /* another worker's, when the process has ended */
	} else if (worker->state == WORKER_POSTED) {
		WRITE_ONCE(worker->state, WORKER_RUNNING);
		if (worker->thread)
			put_task_struct(worker->thread);
		worker->thread = get_task_struct(current);
		*next = worker->next;
		*group = worker->group;
		worker->group = NULL;
		err = 0;
	} else if (worker->state == WORKER_DEAD) {
		err = -ENODEV;
	} else if (worker->state == WORKER_READY && err) {
		WRITE_ONCE(worker->state, WORKER_BUSY);
		worker_changed(worker); /* another thread may wait in softgpu_worker_next() */
	} else if (!err) {
		err = -EAGAIN;
	}
	spin_unlock(&worker->lock);
	return err;
}

int softgpu_worker_next(struct softgpu_worker *worker, struct ghyvi_eu_next *next,
			struct softgpu_group **group)
{
	int err;

	/* Before the engine goes on: what the worker reaches belongs to the old dispatch. */
	mutex_lock(&worker->insert);
	take_pages(worker);
	err = answer_engine(worker, next, group);
	mutex_unlock(&worker->insert);
	if (err)
		return err;
	kvfree(*group); /* of a dispatch that was given up */
	*group = NULL;
	do {
		make_ready(worker);
		err = wait_event_interruptible(worker->wake, calls_engine(worker));
		err = take_posted(worker, next, group, err);
	} while (err == -EAGAIN);
	return err;
}

static bool fault_answered(const struct softgpu_worker *worker)
{
	return !READ_ONCE(worker->faulting) || READ_ONCE(worker->state) != WORKER_RUNNING ||
	       !READ_ONCE(worker->engine);
}

/* Returns as softgpu_worker_translate(); the answer may be stale. */
static int ask_engine(struct softgpu_worker *worker, struct softgpu_worker_fault *fault)
{
	int err = 0;

	fault->err = -EAGAIN;
	spin_lock(&worker->lock);
	if (worker->in_fault) {
		err = -EBUSY;
	} else if (worker->state != WORKER_RUNNING || !worker->engine) {
		err = -EAGAIN; /* what is in worker->fault is not the answer */
	} else {
		worker->in_fault = true;
		fault->number = worker->next.number;
		worker->fault = *fault;
		WRITE_ONCE(worker->faulting, true);
		worker_changed(worker);
	}
	spin_unlock(&worker->lock);
	if (err)
		return err;
	err = wait_event_killable(worker->wake, fault_answered(worker));
	spin_lock(&worker->lock);
	if (!worker->faulting && worker->state == WORKER_RUNNING && worker->engine)
		*fault = worker->fault;
	WRITE_ONCE(worker->faulting, false);
	worker->in_fault = false;
	spin_unlock(&worker->lock);
	return err ?: fault->err;
}

bool softgpu_worker_current(struct softgpu_worker *worker, const struct softgpu_worker_fault *fault)
{
	struct softgpu_client *client;
	bool current_dispatch;

	lockdep_assert_held(&worker->insert);
	spin_lock(&worker->lock);
	current_dispatch = worker->state == WORKER_RUNNING && worker->engine &&
			   worker->next.number == fault->number;
	spin_unlock(&worker->lock);
	spin_lock(&softgpu_workers_lock);
	client = worker->client;
	spin_unlock(&softgpu_workers_lock);
	/* softgpu_client_part() needs @insert before the client goes. */
	return current_dispatch && client &&
	       atomic64_read(&client->generation) == fault->generation;
}

int softgpu_worker_translate(struct softgpu_worker *worker, struct softgpu_worker_fault *fault)
{
	int err = ask_engine(worker, fault);

	if (err)
		return err;
	mutex_lock(&worker->insert);
	while (!err && !softgpu_worker_current(worker, fault))
		err = ask_engine(worker, fault);
	if (err)
		mutex_unlock(&worker->insert);
	return err;
}
