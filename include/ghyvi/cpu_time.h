/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPU time that a thread spends on something. */
#ifndef GHYVI_CPU_TIME_H
#define GHYVI_CPU_TIME_H

#include <linux/preempt.h>
#include <ghyvi/types.h>

/**
 * struct ghyvi_cpu_time - measures CPU time of the calling thread; all members are private.
 *
 * The time does not count in which the thread sleeps or another one has the CPU.
 */
struct ghyvi_cpu_time {
	/* private: */
	struct preempt_notifier notifier;
	u64 began_ns;
	u64 left_ns; /* when the thread lost the CPU */
	u64 away_ns; /* total time without CPU */
};

/**
 * ghyvi_cpu_time_begin() - begin to measure.
 * @time: filled in; in use until the same thread calls ghyvi_cpu_time_end(). Calls nest.
 *
 * Context: process context; does not sleep.
 */
void ghyvi_cpu_time_begin(struct ghyvi_cpu_time *time);

/**
 * ghyvi_cpu_time_end() - end a measurement.
 * @time: as filled by ghyvi_cpu_time_begin()
 *
 * Context: process context; does not sleep.
 * Return: the CPU time of the calling thread since then, in ns.
 */
u64 ghyvi_cpu_time_end(struct ghyvi_cpu_time *time);

#endif
