// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU time of a thread, by preemption notifiers: the time on the clock, minus the time in which
 * the thread had no CPU. The kernel's own account of a thread that runs is up to a tick old, and
 * modules cannot bring it up to date.
 */
#include <linux/ktime.h>
#include <ghyvi/cpu_time.h>
#include <ghyvi/export.h>

static void thread_left(struct preempt_notifier *notifier, struct task_struct *next)
{
	struct ghyvi_cpu_time *time = container_of(notifier, struct ghyvi_cpu_time, notifier);

	time->left_ns = ktime_get_ns();
}

static void thread_is_back(struct preempt_notifier *notifier, int cpu)
{
	struct ghyvi_cpu_time *time = container_of(notifier, struct ghyvi_cpu_time, notifier);

	time->away_ns += ktime_get_ns() - time->left_ns;
}

static struct preempt_ops ops = { .sched_in = thread_is_back, .sched_out = thread_left };

/* Not preempted between the clock and the notifier. */
void ghyvi_cpu_time_begin(struct ghyvi_cpu_time *time)
{
	preempt_notifier_init(&time->notifier, &ops);
	time->away_ns = 0;
	preempt_disable();
	time->began_ns = ktime_get_ns();
	preempt_notifier_register(&time->notifier);
	preempt_enable();
}
GHYVI_EXPORT(ghyvi_cpu_time_begin);

u64 ghyvi_cpu_time_end(struct ghyvi_cpu_time *time)
{
	u64 ns;

	preempt_disable();
	preempt_notifier_unregister(&time->notifier);
	ns = ktime_get_ns() - time->began_ns - time->away_ns;
	preempt_enable();
	return ns;
}
GHYVI_EXPORT(ghyvi_cpu_time_end);
