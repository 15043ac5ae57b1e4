// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands of execution units: STATE_BASE_ADDRESS, the media pipeline's, GPGPU_WALKER and
 * MEDIA_OBJECT. The engine keeps what the former say, in the context's image as hardware does, and
 * hands each of the latter to the client's worker (workers.h), with the state. While the worker
 * executes, the engine's thread translates what the worker needs, in slices of its own.
 *
 * A dispatch gives way at any instruction of a thread group: struct softgpu_job has the number of
 * those that have ended, and the one in progress, and the command is executed again from there. A
 * worker that does not answer in time costs the job, as any command that takes too long: the
 * scheduler cancels it.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/build_bug.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include "engine.h"
#include "workers.h"

#define GPGPU_DISPATCHDIM 0x2500 /* X, Y, Z */

#define OFFERS_MS 1000 /* for so long, a worker that exists may make an offer */
#define POLL_MS 10

/* Commands as the context has them; a header of 0: there was none. */
struct kept {
	u32 base[19];
	u32 vfe[9];
	u32 constants[4];
	u32 descriptors[4];
};

static struct kept *kept_of(struct softgpu_engine *engine)
{
	BUILD_BUG_ON(sizeof(struct kept) != GHYVI_COMPUTE_DWORDS * sizeof(u32));
	return (struct kept *)&engine->job->context[GHYVI_CTX_COMPUTE];
}

/* Addresses and bounds without their modify-enable bit stay. */
static void keep_bases(u32 *base, const u32 *packet, unsigned int dwords)
{
	static const u8 addresses[] = { 1, 4, 6, 8, 10, 16 };
	unsigned int i;

	base[0] = STATE_BASE_ADDRESS << 16 | (ARRAY_SIZE(((struct kept *)NULL)->base) - 2);
	for (i = 0; i < ARRAY_SIZE(addresses); i++)
		if (addresses[i] + 1u < dwords && packet[addresses[i]] & 1)
			memcpy(base + addresses[i], packet + addresses[i], 2 * sizeof(u32));
	for (i = 12; i < 16 && i < dwords; i++)
		if (packet[i] & 1)
			base[i] = packet[i];
}

static void keep_state(struct softgpu_engine *engine)
{
	struct kept *kept = kept_of(engine);
	const u32 *packet = engine->packet;
	const size_t bytes = engine->packet_dwords * sizeof(u32);

	switch (packet[0] >> 16) {
	case STATE_BASE_ADDRESS:
		keep_bases(kept->base, packet, engine->packet_dwords);
		break;
	case MEDIA_VFE_STATE:
		memcpy(kept->vfe, packet, min(bytes, sizeof(kept->vfe)));
		break;
	case MEDIA_CURBE_LOAD:
		memcpy(kept->constants, packet, min(bytes, sizeof(kept->constants)));
		break;
	case MEDIA_INTERFACE_DESCRIPTOR_LOAD:
		memcpy(kept->descriptors, packet, min(bytes, sizeof(kept->descriptors)));
		break;
	}
	engine->job->compute = true;
}

static enum softgpu_worker_state state_of(struct softgpu_worker *worker)
{
	return smp_load_acquire(&worker->state); /* what was answered, too */
}

/* ---- a dispatch that the worker has ---- */

/* Does the engine have to do something about the worker? */
static bool worker_calls(const struct softgpu_engine *engine, struct softgpu_worker *worker)
{
	return state_of(worker) == WORKER_ANSWERED || state_of(worker) == WORKER_DEAD ||
	       READ_ONCE(worker->faulting);
}

/*
 * Have the worker see @yield soon, however many others want its CPU: as much before its turn as the
 * host's scheduler calls fair.
 */
static void hurry(struct softgpu_worker *worker)
{
	struct task_struct *thread = NULL;

	spin_lock(&worker->lock);
	if (worker->thread)
		thread = get_task_struct(worker->thread);
	spin_unlock(&worker->lock);
	if (!thread)
		return;
	yield_to(thread, true);
	put_task_struct(thread);
}

/* Nobody waits for the answer any more, and no page is translated. */
static void give_up(struct softgpu_worker *worker)
{
	struct softgpu_group *group;

	spin_lock(&worker->lock);
	group = worker->group;
	worker->group = NULL;
	if (worker->state == WORKER_RUNNING)
		softgpu_worker_expect(worker);
	WRITE_ONCE(worker->control->abort, worker->next.number);
	WRITE_ONCE(worker->engine, NULL);
	if (worker->state == WORKER_POSTED || worker->state == WORKER_ANSWERED)
		WRITE_ONCE(worker->state, WORKER_BUSY);
	wake_up_all(&worker->wake);
	spin_unlock(&worker->lock);
	kvfree(group);
}

/* Translate the page that the worker needs, and those behind it, which it may need next. */
static int serve_fault(struct softgpu_engine *engine, struct softgpu_worker *worker)
{
	struct softgpu_worker_fault fault;
	int err;

	spin_lock(&worker->lock);
	fault = worker->fault;
	spin_unlock(&worker->lock);
	err = softgpu_map(engine, SOFTGPU_PPGTT, fault.address, fault.write, &fault.pointers[0]);
	fault.drops = !err && !fault.pointers[0];
	if (fault.drops) /* loads still read the page */
		err = softgpu_map(engine, SOFTGPU_PPGTT, fault.address, false, &fault.pointers[0]);
	fault.err = err ? -EFAULT : 0;
	fault.count = 1;
	fault.zeros = !err && softgpu_is_zeros(fault.pointers[0]);
	fault.generation = engine->client_generation;
	if (!err && !fault.drops && !fault.zeros)
		fault.count = softgpu_pages_behind(engine, fault.address, fault.pointers,
						   fault.pages, fault.write);
	spin_lock(&worker->lock);
	if (worker->faulting && worker->fault.address == fault.address &&
	    worker->fault.write == fault.write) {
		worker->fault = fault;
		WRITE_ONCE(worker->faulting, false);
		wake_up_all(&worker->wake);
	}
	spin_unlock(&worker->lock);
	return err;
}

/*
 * Slices that the job's kernels may still execute, with the one that is too many; 0: any number. It
 * may have executed more than this budget where it came from.
 */
static u32 slices_allowed(const struct ghyvi_job *job)
{
	u64 budget = div_u64((u64)job->budget_minsn * 1000000 + GHYVI_EU_SLICE_INSTRUCTIONS - 1,
			     GHYVI_EU_SLICE_INSTRUCTIONS);

	return budget ? budget - min_t(u64, softgpu_job(job)->slices, budget) + 1 : 0;
}

/* Count what the worker has executed. Returns 0, or SOFTGPU_ERROR: more than the job may. */
static int count_slices(struct softgpu_engine *engine, u32 left)
{
	struct ghyvi_job *job = engine->job;
	u32 allowed = slices_allowed(job);

	softgpu_job(job)->slices += allowed - min(allowed, left);
	if (!allowed || left)
		return SOFTGPU_OK;
	ghyvi_count(engine->client->base.params.stats, budget_overruns);
	return softgpu_error(engine, "%u million instructions used up", job->budget_minsn);
}

/* What the worker's answer means for the job. *@again: there are groups left to do. */
static int take_answer(struct softgpu_engine *engine, struct softgpu_worker *worker, bool *again)
{
	struct softgpu_job *job = softgpu_job(engine->job);
	struct ghyvi_eu_next *next = &worker->next;
	int err;

	/* What is ANSWERED is the engine's alone. */
	err = next->status == GHYVI_EU_ERROR ? 0 : count_slices(engine, next->slices);
	if (err)
		return err;
	switch (next->status) {
	case GHYVI_EU_DONE:
		job->groups = 0;
		return SOFTGPU_OK;
	case GHYVI_EU_YIELDED:
		if (next->groups < job->groups ||
		    (next->groups == job->groups && !READ_ONCE(job->preempt)))
			return softgpu_error(engine, "execution units have no progress");
		job->groups = next->groups;
		swap(job->group, worker->group);
		*again = true;
		return SOFTGPU_OK;
	default:
		return softgpu_error(engine, "%s", next->text);
	}
}

/* Take a dispatch back that the worker has not begun: it gets no CPU time, or has ended. */
static bool worker_unpost(struct softgpu_engine *engine, struct softgpu_worker *worker)
{
	bool unposted;

	spin_lock(&worker->lock);
	unposted = worker->state == WORKER_POSTED ||
		   (worker->state == WORKER_DEAD && worker->left_posted);
	if (unposted) {
		worker->left_posted = false;
		if (worker->state == WORKER_POSTED)
			WRITE_ONCE(worker->state, WORKER_BUSY);
		swap(softgpu_job(engine->job)->group, worker->group);
	}
	spin_unlock(&worker->lock);
	return unposted;
}

static int units_have_gone(struct softgpu_engine *engine, bool excused)
{
	engine->excused = excused;
	return softgpu_error(engine, "execution units have gone");
}

/*
 * Wait for the worker's answer, and translate meanwhile. *@again: there is more to do, perhaps by
 * another worker.
 */
static int worker_await(struct softgpu_engine *engine, struct softgpu_worker *worker, bool *again)
{
	struct softgpu_job *job = softgpu_job(engine->job);
	bool asked = false;
	int verdict;

	for (;;) {
		softgpu_raise(engine);
		softgpu_access_end(engine);
		if (asked)
			hurry(worker);
		wait_event_idle_timeout(engine->passes,
					worker_calls(engine, worker) || READ_ONCE(job->stop) ||
						(READ_ONCE(job->preempt) && !asked),
					msecs_to_jiffies(10 * POLL_MS));
		softgpu_access_begin(engine);
		verdict = softgpu_decide(engine);
		if (verdict == SOFTGPU_PREEMPTED && worker_unpost(engine, worker))
			return verdict;
		if (verdict == SOFTGPU_PREEMPTED && !asked) {
			WRITE_ONCE(worker->control->yield, worker->next.number);
			asked = true;
		}
		if (verdict && verdict != SOFTGPU_PREEMPTED)
			return verdict;
		if (state_of(worker) == WORKER_DEAD) {
			*again = worker_unpost(engine, worker);
			/*
			 * What a guest can do to its process leaves those that wait for a client.
			 * They end before it when the host ends ghyvi-eud.
			 */
			return *again ? SOFTGPU_OK :
					units_have_gone(engine, !softgpu_workers_exist());
		}
		if (state_of(worker) == WORKER_ANSWERED)
			return take_answer(engine, worker, again);
		if (READ_ONCE(worker->faulting)) {
			verdict = serve_fault(engine, worker);
			if (verdict)
				return verdict;
		}
	}
}

/* ---- giving a worker the command ---- */

static void worker_post(struct softgpu_engine *engine, struct softgpu_worker *worker)
{
	const struct kept *kept = kept_of(engine);
	struct softgpu_job *job = softgpu_job(engine->job);
	struct ghyvi_eu_next *next = &worker->next;
	unsigned int i;

	next->status = GHYVI_EU_NONE;
	if (!++next->number)
		next->number = 1;
	next->groups = job->groups;
	next->slices = slices_allowed(engine->job);
	WARN_ON_ONCE(worker->group);
	swap(job->group, worker->group);
	memcpy(next->base, kept->base, sizeof(next->base));
	memcpy(next->vfe, kept->vfe, sizeof(next->vfe));
	memcpy(next->constants, kept->constants, sizeof(next->constants));
	memcpy(next->descriptors, kept->descriptors, sizeof(next->descriptors));
	for (i = 0; i < ARRAY_SIZE(next->dispatch_dim); i++)
		next->dispatch_dim[i] = softgpu_register_peek(engine, GPGPU_DISPATCHDIM + 4 * i);
	next->dwords = engine->packet_dwords;
	memcpy(next->command, engine->packet, next->dwords * sizeof(u32));
	WRITE_ONCE(worker->control->yield, 0);
	WRITE_ONCE(worker->engine, engine);
	WRITE_ONCE(worker->faulting, false);
	WRITE_ONCE(worker->state, WORKER_POSTED);
	wake_up_all(&worker->wake);
}

/* Post the command if the worker waits for one. */
static bool try_post(struct softgpu_engine *engine, struct softgpu_worker *worker)
{
	bool posted;

	spin_lock(&worker->lock);
	posted = worker->state == WORKER_READY;
	if (posted)
		worker_post(engine, worker);
	else
		WRITE_ONCE(worker->engine,
			   worker->state == WORKER_BUSY ? engine : NULL); /* wakes it */
	spin_unlock(&worker->lock);
	return posted;
}

/* Let the job give way, be stopped, or run out of time, while it waits for a worker. */
static int pause_for(struct softgpu_engine *engine, struct softgpu_worker *worker)
{
	struct softgpu_job *job = softgpu_job(engine->job);

	softgpu_raise(engine);
	softgpu_access_end(engine);
	wait_event_idle_timeout(
		engine->passes,
		(worker && (state_of(worker) == WORKER_READY || state_of(worker) == WORKER_DEAD)) ||
			READ_ONCE(job->stop) || READ_ONCE(job->preempt),
		msecs_to_jiffies(POLL_MS));
	softgpu_access_begin(engine);
	return softgpu_decide(engine);
}

/* Get the client's worker, or one that offers itself soon. */
static int find_worker(struct softgpu_engine *engine, struct softgpu_worker **worker)
{
	unsigned int i;
	int verdict;

	for (i = 0;; i++) {
		*worker = softgpu_client_worker(engine->client);
		if (*worker || !softgpu_workers_exist() || i == OFFERS_MS / POLL_MS)
			return SOFTGPU_OK;
		verdict = pause_for(engine, NULL);
		if (verdict)
			return verdict;
	}
}

/* *@gone: the worker has ended before it was given the command, or what is left of it. */
static int worker_execute(struct softgpu_engine *engine, struct softgpu_worker *worker, bool *gone)
{
	bool again = true;
	int verdict = SOFTGPU_OK;

	while (again && !verdict) {
		again = false;
		while (!verdict && !try_post(engine, worker)) {
			*gone = state_of(worker) == WORKER_DEAD;
			if (*gone) {
				give_up(worker); /* try_post() may have left the engine there */
				return SOFTGPU_OK;
			}
			verdict = pause_for(engine, worker);
		}
		if (!verdict)
			verdict = worker_await(engine, worker, &again);
		give_up(worker);
		if (verdict && verdict != SOFTGPU_PREEMPTED)
			softgpu_job(engine->job)->given_up = true;
		if (!verdict && again)
			verdict = softgpu_decide(engine);
	}
	return verdict;
}

/*
 * As without execution units at all: the command has no effect. But one that a worker has begun,
 * here or before a move, is not taken for complete.
 */
static int do_without_worker(struct softgpu_engine *engine, const char *why)
{
	const struct softgpu_job *job = softgpu_job(engine->job);
	struct softgpu_client *client = engine->client;

	if (job->groups || job->group)
		return units_have_gone(engine, true);
	if (!client->told)
		ghyvi_report(client->base.params.reporter, "kernels are not executed: %s", why);
	client->told = true;
	return SOFTGPU_OK;
}

int softgpu_compute(struct softgpu_engine *engine)
{
	struct softgpu_worker *worker;
	int verdict;
	bool gone;

	if (engine->id != GHYVI_RCS || engine->client->base.params.gen < 9)
		return SOFTGPU_OK;
	keep_state(engine);
	if (!gen8_is_dispatch(engine->packet[0]))
		return SOFTGPU_OK;
	if (engine->job->nested)
		return do_without_worker(engine, "policy nested");
	do {
		verdict = find_worker(engine, &worker);
		if (verdict)
			return verdict;
		if (!worker)
			return do_without_worker(engine, "no process of ghyvi-eud");
		gone = false;
		if (engine->packet_dwords <= GHYVI_EU_COMMAND_DWORDS)
			verdict = worker_execute(engine, worker, &gone);
		else
			verdict = softgpu_error(engine, "%s of %u dwords", engine->command->name,
						engine->packet_dwords);
		softgpu_worker_put(worker);
		if (!verdict && gone) /* the next one may be there */
			verdict = softgpu_decide(engine);
	} while (!verdict && gone);
	softgpu_stream_drop_window(engine);
	return verdict;
}
