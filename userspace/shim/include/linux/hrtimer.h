/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of this name: only what ghyvi uses. No thread runs the
 * timers: a test does, with shim_run_timers().
 */
#ifndef GHYVI_SHIM_HRTIMER_H
#define GHYVI_SHIM_HRTIMER_H

#include <ghyvi_shim.h>
#include <linux/list.h>

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum hrtimer_mode { HRTIMER_MODE_ABS_SOFT };

/* @node: in the list of timers that run; zeros: it has never run */
struct hrtimer {
	struct list_head node;
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	u64 expires_ns;
};

static inline ktime_t ns_to_ktime(u64 ns)
{
	return (ktime_t)ns;
}

static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *), int clock,
				 enum hrtimer_mode mode)
{
	(void)clock;
	(void)mode;
	timer->function = function;
}

void hrtimer_start(struct hrtimer *timer, ktime_t expires, enum hrtimer_mode mode);
/* Returns 1 if the timer ran. */
int hrtimer_cancel(struct hrtimer *timer);

/* Call the functions of timers that have expired. Returns how many there were. */
unsigned int shim_run_timers(void);

#endif
