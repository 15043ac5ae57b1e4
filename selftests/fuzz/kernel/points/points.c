// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records the points that other modules execute. Modules that are compiled with
 * -fsanitize-coverage=trace-pc call TRACE_PC() at each. KCOV records only threads that ask for it,
 * and this all threads and interrupts.
 *
 * The device points has counters, to be mapped; reading it gives a table with the addresses after
 * the calls, and 0 in free places.
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#ifndef TRACE_PC
#define TRACE_PC __sanitizer_cov_trace_pc
#endif

#define COUNTER_BITS 16
#define PLACE_BITS 18
#define PLACES (1ul << PLACE_BITS)
#define TRIES 64

static bool one_thread;
module_param(one_thread, bool, 0444);
MODULE_PARM_DESC(one_thread, "count only for the thread that has mapped the counters");

static uint plant;
module_param(plant, uint, 0444);
MODULE_PARM_DESC(plant,
		 "warn at this one of the new points after the counters were mapped; 0: never");

static u8 *counters;
static unsigned long *places;
static struct task_struct *thread; /* only compared */
static atomic_t executed;

void TRACE_PC(void);

notrace void TRACE_PC(void)
{
	unsigned long pc = _RET_IP_, was, i;

	if (!one_thread || (in_task() && current == READ_ONCE(thread))) {
		u8 *counter = &counters[hash_64(pc, COUNTER_BITS)];

		if (READ_ONCE(*counter) < U8_MAX)
			WRITE_ONCE(*counter, READ_ONCE(*counter) + 1);
	}
	for (i = hash_64(pc, PLACE_BITS); i < PLACES + TRIES; i++) {
		was = READ_ONCE(places[i % PLACES]);
		if (!was)
			was = cmpxchg(&places[i % PLACES], 0, pc);
		if (was == pc)
			return;
		if (!was) {
			WARN(plant && READ_ONCE(thread) && atomic_inc_return(&executed) == plant,
			     "planted\n");
			return;
		}
	}
}
EXPORT_SYMBOL_GPL(TRACE_PC);

static int points_mmap(struct file *file, struct vm_area_struct *vma)
{
	WRITE_ONCE(thread, current);
	atomic_set(&executed, 0);
	return remap_vmalloc_range(vma, counters, vma->vm_pgoff);
}

static ssize_t points_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	return simple_read_from_buffer(to, bytes, at, places, PLACES * sizeof(*places));
}

static const struct file_operations points_fops = {
	.owner = THIS_MODULE,
	.mmap = points_mmap,
	.read = points_read,
	.llseek = default_llseek,
};

static struct miscdevice points_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "points",
	.fops = &points_fops,
};

static int __init points_init(void)
{
	int ret = -ENOMEM;

	counters = vmalloc_user(1ul << COUNTER_BITS);
	places = vzalloc(PLACES * sizeof(*places));
	if (counters && places)
		ret = misc_register(&points_device);
	if (ret) {
		vfree(places);
		vfree(counters);
	}
	return ret;
}

static void __exit points_exit(void)
{
	misc_deregister(&points_device);
	vfree(places);
	vfree(counters);
}

module_init(points_init);
module_exit(points_exit);
MODULE_DESCRIPTION("Recorder of the executed points of modules");
MODULE_LICENSE("GPL");
