// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notifies the guard when the system call that a thread is in has returned.
 *
 * The kernel offers modules no callback for that event. The release of a file is a substitute:
 * fput() of the last reference queues the file's .release as task work of the current thread. Task
 * work runs when the thread returns to user space or exits (fs/file_table.c), and not during an
 * unmap in type1. A kernel thread has no task work, but never gets here, because only ioctl() makes
 * type1 unmap.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "guard.h"

/* Pause between attempts to allocate a file, while the host is at its limit of open files. */
#define GHYVI_FILE_PAUSE (HZ / 100 ?: 1)

static int release_unmap_call(struct inode *inode, struct file *file)
{
	struct ghyvi_unmap_call *call = file->private_data;

	call->returned(call);
	return 0;
}

static const struct file_operations unmap_call_fops = {
	.owner = THIS_MODULE,
	.release = release_unmap_call,
};

struct ghyvi_unmap_call *ghyvi_unmap_call_alloc(void)
{
	/* A VMM decides how many of its threads unmap, so its memory cgroup is charged. */
	struct ghyvi_unmap_call *call = kzalloc(sizeof(*call), GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	struct file *file;

	WARN_ON_ONCE(current->flags & PF_KTHREAD);
	/* Without a file the guard would never end. An unmap cannot fail, so retry. */
	while (IS_ERR(file = anon_inode_getfile("[ghyvi-unmap]", &unmap_call_fops, call, O_RDONLY)))
		schedule_timeout_uninterruptible(GHYVI_FILE_PAUSE);
	call->returning = file;
	return call;
}

void ghyvi_unmap_call_arm(struct ghyvi_unmap_call *call)
{
	fput(call->returning);
}
