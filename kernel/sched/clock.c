// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's clock: a thread that sleeps until the earliest expiry time of all engines and then
 * calls ghyvi_sched_timer(). It is a thread because ghyvi_sched_timer() takes locks with interrupts
 * enabled. Only this thread calls it, so no call is in progress after the thread has stopped. An
 * hrtimer for each engine and a kthread_worker would do the same with a hop more, and cancelling
 * them needs two steps. A delayed_work is too coarse: preemption needs better than a jiffy.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include "sched_types.h"

#define CLOCK_FAR_NS (1000ULL * 1000 * 1000)

struct sched_host_clock {
	struct ghyvi_sched_clock clock;
	struct ghyvi_sched *sched;
	struct task_struct *thread;
	wait_queue_head_t wake;
	bool changed; /* a timer was moved to an earlier time: read @at again */
	spinlock_t lock; /* protects @at */
	u64 at[GHYVI_ENGINES]; /* expiry times; GHYVI_SCHED_NEVER: disarmed */
};

static u64 host_now(struct ghyvi_sched_clock *clock)
{
	return ktime_get_ns();
}

static void host_arm(struct ghyvi_sched_clock *base, enum ghyvi_engine_id engine, u64 at)
{
	struct sched_host_clock *clock = container_of(base, struct sched_host_clock, clock);
	bool sooner;

	spin_lock(&clock->lock);
	sooner = at < clock->at[engine];
	clock->at[engine] = at;
	if (sooner)
		WRITE_ONCE(clock->changed, true);
	spin_unlock(&clock->lock);
	if (sooner)
		wake_up_all(&clock->wake);
}

/*
 * Returns an engine whose timer has expired, after disarming it; or GHYVI_ENGINES, and in *@first
 * the earliest expiry time.
 */
static unsigned int next_expired_engine(struct sched_host_clock *clock, u64 *first)
{
	u64 now = ktime_get_ns();
	unsigned int i;

	*first = GHYVI_SCHED_NEVER;
	spin_lock(&clock->lock);
	WRITE_ONCE(clock->changed, false);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		if (clock->at[i] <= now) {
			clock->at[i] = GHYVI_SCHED_NEVER;
			break;
		}
		*first = min(*first, clock->at[i]);
	}
	spin_unlock(&clock->lock);
	return i;
}

static void sleep_until(struct sched_host_clock *clock, u64 at)
{
	u64 now = ktime_get_ns();

	if (at == GHYVI_SCHED_NEVER)
		wait_event_idle(clock->wake, READ_ONCE(clock->changed) || kthread_should_stop());
	else if (at > now)
		(void)wait_event_interruptible_hrtimeout(
			clock->wake, READ_ONCE(clock->changed) || kthread_should_stop(),
			min(at - now, CLOCK_FAR_NS));
}

static int clock_thread(void *data)
{
	struct sched_host_clock *clock = data;
	unsigned int engine;
	u64 first;

	while (!kthread_should_stop()) {
		engine = next_expired_engine(clock, &first);
		if (engine < GHYVI_ENGINES)
			ghyvi_sched_timer(clock->sched, engine);
		else
			sleep_until(clock, first);
	}
	return 0;
}

struct ghyvi_sched_clock *ghyvi_sched_host_clock_create(struct ghyvi_sched *sched)
{
	struct sched_host_clock *clock = kzalloc(sizeof(*clock), GFP_KERNEL);
	struct task_struct *thread;
	unsigned int i;

	if (!clock)
		return ERR_PTR(-ENOMEM);
	clock->clock.now = host_now;
	clock->clock.arm = host_arm;
	clock->sched = sched;
	spin_lock_init(&clock->lock);
	init_waitqueue_head(&clock->wake);
	for (i = 0; i < GHYVI_ENGINES; i++)
		clock->at[i] = GHYVI_SCHED_NEVER;
	thread = kthread_run(clock_thread, clock, "ghyvi/sched");
	if (IS_ERR(thread)) {
		kfree(clock);
		return ERR_CAST(thread);
	}
	clock->thread = thread;
	return &clock->clock;
}

void ghyvi_sched_host_clock_destroy(struct ghyvi_sched_clock *base)
{
	struct sched_host_clock *clock = container_of(base, struct sched_host_clock, clock);

	kthread_stop(clock->thread);
	kfree(clock);
}
