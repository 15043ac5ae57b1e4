/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest pages for which a vGPU uses KVM's write tracking, with a user count for each. It is
 * independent of KVM, so that it also builds in user space.
 */
#ifndef GHYVI_KVM_TRACKED_H
#define GHYVI_KVM_TRACKED_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>

/*
 * struct ghyvi_tracked - the tracked pages of one vGPU.
 * @users: maps a gfn to the number of users that protect the page, as an XArray value. A page can
 *	have several users: the guest may place BAR 0 over a table page. Written with @lock held;
 *	read without.
 * @lock: protects @users, and keeps them consistent with KVM's tracking. Nests inside the lock of
 *	struct ghyvi_gtt, outside kvm->mmu_lock. Its holders do not wait for readers of kvm->srcu.
 */
struct ghyvi_tracked {
	struct xarray users;
	struct mutex lock;
};

/*
 * struct ghyvi_tracked_ops - operations on KVM's tracking; called with the lock held.
 * @add: start tracking the page. Returns false if it is not guest memory (any more).
 * @remove: stop tracking the page
 */
struct ghyvi_tracked_ops {
	bool (*add)(void *vm, u64 gfn);
	void (*remove)(void *vm, u64 gfn);
};

void ghyvi_tracked_init(struct ghyvi_tracked *tracked);
/* It has no tracked pages. */
void ghyvi_tracked_fini(struct ghyvi_tracked *tracked);

/* Test whether any user protects a page. Any context. */
static inline bool ghyvi_tracked_has(struct ghyvi_tracked *tracked, u64 gfn)
{
	return xa_load(&tracked->users, gfn);
}

/*
 * Add one user to each of @count pages. @vm: first argument of @ops, whose @add is called for each
 * page that had no user. May sleep. Returns the number of pages, from the first on, that got a
 * user. It is less than @count if the next page is not guest memory, or for lack of memory.
 */
unsigned int ghyvi_tracked_get(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops,
			       void *vm, const u64 *gfns, unsigned int count);
/*
 * Remove one user from each; pages without users are ignored. @remove is called for each page that
 * lost its last user. May sleep.
 */
void ghyvi_tracked_put(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops, void *vm,
		       const u64 *gfns, unsigned int count);
/*
 * Remove all users of the pages [@gfn, @last], because their memory is removed. @remove is called
 * for each page that had users. May sleep. Returns the number of these.
 */
unsigned long ghyvi_tracked_drop(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops,
				 void *vm, u64 gfn, u64 last);

#endif
