/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which guest pages a vGPU has KVM track, and for how many users. Knows nothing of KVM, so that it
 * also builds in user space.
 */
#ifndef GHYVI_KVM_TRACKED_H
#define GHYVI_KVM_TRACKED_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>

/**
 * struct ghyvi_tracked - the pages
 * @users: frame number -> how many users protect the page, as a value. A page can have several: the
 *	guest may put BAR 0 over a table page. Written with @lock held; read without.
 * @lock: protects @users, and keeps them in step with KVM's tracking. Taken inside the mm's lock and
 *	outside kvm->mmu_lock; its holders do not wait for readers of kvm->srcu.
 */
struct ghyvi_tracked {
	struct xarray users;
	struct mutex lock;
};

/**
 * struct ghyvi_tracked_ops - KVM's part; called with the lock held
 * @add: track the page. Returns false when it is not guest memory (any more).
 * @remove: stop tracking it
 */
struct ghyvi_tracked_ops {
	bool (*add)(void *vm, u64 gfn);
	void (*remove)(void *vm, u64 gfn);
};

void ghyvi_tracked_init(struct ghyvi_tracked *tracked);
void ghyvi_tracked_fini(struct ghyvi_tracked *tracked);

/** ghyvi_tracked_has() - does any user protect @gfn? Any context. */
static inline bool ghyvi_tracked_has(struct ghyvi_tracked *tracked, u64 gfn)
{
	return xa_load(&tracked->users, gfn);
}

/**
 * ghyvi_tracked_get() - one more user for each of @count pages.
 * Return: for how many, from the first on, that succeeded.
 */
unsigned int ghyvi_tracked_get(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops,
			       void *vm, const u64 *gfns, unsigned int count);
/** ghyvi_tracked_put() - one user less for each page; pages without users are ignored. */
void ghyvi_tracked_put(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops, void *vm,
		       const u64 *gfns, unsigned int count);
/**
 * ghyvi_tracked_drop() - no user for any of these pages: their memory goes away.
 * @tracked: the pages
 * @ops: @remove is called for each page that had users
 * @vm: its argument
 * @gfn: first page
 * @last: last page
 *
 * Return: how many pages had users.
 */
unsigned long ghyvi_tracked_drop(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops,
				 void *vm, u64 gfn, u64 last);

#endif
