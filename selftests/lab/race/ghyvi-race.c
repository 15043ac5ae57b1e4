// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with a data race, which ends when it has been loaded. KCSAN must report it, and the
 * check of the log must find the report: selftests/lab/run-debug --kcsan.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

#define RACE_MS 3000

static unsigned long ghyvi_raced;

static int race(void *unused)
{
	while (!kthread_should_stop()) {
		ghyvi_raced++;
		cond_resched();
	}
	return 0;
}

static int __init race_init(void)
{
	struct task_struct *one, *two;

	one = kthread_run(race, NULL, "ghyvi-race/1");
	if (IS_ERR(one))
		return PTR_ERR(one);
	two = kthread_run(race, NULL, "ghyvi-race/2");
	if (!IS_ERR(two)) {
		msleep(RACE_MS);
		kthread_stop(two);
	}
	kthread_stop(one);
	return PTR_ERR_OR_ZERO(two);
}
module_init(race_init);

static void __exit race_exit(void)
{
}
module_exit(race_exit);

MODULE_DESCRIPTION("A data race, for the self check of tests under KCSAN");
MODULE_LICENSE("GPL");
