// SPDX-License-Identifier: GPL-2.0-only
/*
 * Look-ahead: while an engine runs, the workload that will probably be next is prepared (audited, its shadow
 * synchronised), so that the engine need not wait for that. By a thread of its own: preparing may take long, and neither the
 * engine's thread nor the clock's may be late. One a pGPU, because what it does is bound by the CPU's speed, not the engines'.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include "sched_types.h"

#define AHEAD_STOP_POLL_US 50

struct sched_ahead {
	struct ghyvi_sched *sched;
	struct task_struct *thread;
	wait_queue_head_t wake;
	bool stopping;
	bool any; /* of @wanted */
	spinlock_t lock; /* protects @wanted; taken under an engine's */
	bool wanted[GHYVI_ENGINES];
};

void sched_ahead_want(struct sched_ahead *ahead, enum ghyvi_engine_id engine)
{
	spin_lock(&ahead->lock);
	ahead->wanted[engine] = true;
	WRITE_ONCE(ahead->any, true);
	spin_unlock(&ahead->lock);
	wake_up_all(&ahead->wake);
}

/* Returns an engine to look ahead for, or GHYVI_ENGINES. */
static unsigned int next_wanted(struct sched_ahead *ahead)
{
	unsigned int i;

	spin_lock(&ahead->lock);
	for (i = 0; i < GHYVI_ENGINES && !ahead->wanted[i]; i++)
		;
	if (i < GHYVI_ENGINES)
		ahead->wanted[i] = false;
	else
		WRITE_ONCE(ahead->any, false);
	spin_unlock(&ahead->lock);
	return i;
}

static int ahead_thread(void *data)
{
	struct sched_ahead *ahead = data;
	unsigned int engine;

	while (!READ_ONCE(ahead->stopping)) {
		wait_event_idle(ahead->wake, READ_ONCE(ahead->any) || READ_ONCE(ahead->stopping));
		engine = next_wanted(ahead);
		if (engine < GHYVI_ENGINES)
			sched_look_ahead(ahead->sched, engine);
	}
	/* kthread_stop() must find the thread alive; it is on its way. */
	while (!kthread_should_stop())
		usleep_range(AHEAD_STOP_POLL_US, 2 * AHEAD_STOP_POLL_US);
	return 0;
}

struct sched_ahead *sched_ahead_create(struct ghyvi_sched *sched)
{
	struct sched_ahead *ahead = kzalloc(sizeof(*ahead), GFP_KERNEL);
	struct task_struct *thread;

	if (!ahead)
		return ERR_PTR(-ENOMEM);
	ahead->sched = sched;
	spin_lock_init(&ahead->lock);
	init_waitqueue_head(&ahead->wake);
	thread = kthread_run(ahead_thread, ahead, "ghyvi/ahead");
	if (IS_ERR(thread)) {
		kfree(ahead);
		return ERR_CAST(thread);
	}
	ahead->thread = thread;
	return ahead;
}

void sched_ahead_destroy(struct sched_ahead *ahead)
{
	WRITE_ONCE(ahead->stopping, true);
	wake_up_all(&ahead->wake);
	kthread_stop(ahead->thread);
	kfree(ahead);
}
