// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells the guard when the system call that a thread is in has returned.
 *
 * The kernel offers modules no callback for that, but a file that is closed: fput() of the last
 * reference queues the file's .release as task work of the current thread, which runs on its way
 * back to user space, or when it dies (fs/file_table.c). Nothing in a type 1 unmap runs task work.
 * A kernel thread has none, and never gets here: only ioctl() asks type 1 to unmap.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "guard.h"

/* Between attempts to get a file, when the host has none left for the user. */
#define GHYVI_FILE_PAUSE (HZ / 100 ?: 1)

static int release_unmap_call(struct inode *inode, struct file *file)
{
	ghyvi_guard_returned(file->private_data);
	return 0;
}

static const struct file_operations unmap_call_fops = {
	.owner = THIS_MODULE,
	.release = release_unmap_call,
};

struct ghyvi_unmap_call *ghyvi_unmap_call_alloc(void)
{
	struct ghyvi_unmap_call *call = kzalloc(sizeof(*call), GFP_KERNEL | __GFP_NOFAIL);
	struct file *file;

	WARN_ON_ONCE(current->flags & PF_KTHREAD);
	/* Without a file the guard would never end. The unmap cannot fail, so it waits. */
	while (IS_ERR(file = anon_inode_getfile("[ghyvi-unmap]", &unmap_call_fops, call, O_RDONLY)))
		schedule_timeout_uninterruptible(GHYVI_FILE_PAUSE);
	fput(file);
	return call;
}
