// SPDX-License-Identifier: GPL-2.0-only
/*
 * User counts of tracked pages. KVM tracks a page while it has users.
 */
#include <linux/kernel.h>
#include <linux/sched.h>
#include "tracked.h"

void ghyvi_tracked_init(struct ghyvi_tracked *tracked)
{
	xa_init_flags(&tracked->users, XA_FLAGS_ACCOUNT);
	mutex_init(&tracked->lock);
}

void ghyvi_tracked_fini(struct ghyvi_tracked *tracked)
{
	xa_destroy(&tracked->users);
	mutex_destroy(&tracked->lock);
}

static unsigned long users_of(struct ghyvi_tracked *tracked, u64 gfn)
{
	void *users = xa_load(&tracked->users, gfn);

	return users ? xa_to_value(users) : 0;
}

static int set_users(struct ghyvi_tracked *tracked, u64 gfn, unsigned long users)
{
	return xa_err(xa_store(&tracked->users, gfn, users ? xa_mk_value(users) : NULL,
			       GFP_KERNEL_ACCOUNT));
}

static bool get_one(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops, void *vm,
		    u64 gfn)
{
	unsigned long users = users_of(tracked, gfn);

	/*
	 * ghyvi_tracked_has() decides about each store, so set the count before a store can trap.
	 */
	if (set_users(tracked, gfn, users + 1))
		return false;
	if (users || ops->add(vm, gfn))
		return true;
	set_users(tracked, gfn, 0);
	return false;
}

unsigned int ghyvi_tracked_get(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops,
			       void *vm, const u64 *gfns, unsigned int count)
{
	unsigned int done;

	mutex_lock(&tracked->lock);
	for (done = 0; done < count && get_one(tracked, ops, vm, gfns[done]); done++)
		cond_resched();
	mutex_unlock(&tracked->lock);
	return done;
}

void ghyvi_tracked_put(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops, void *vm,
		       const u64 *gfns, unsigned int count)
{
	unsigned long users;
	unsigned int i;

	mutex_lock(&tracked->lock);
	for (i = 0; i < count; i++) {
		users = users_of(tracked, gfns[i]);
		if (!users)
			continue;
		set_users(tracked, gfns[i], users - 1);
		if (users == 1)
			ops->remove(vm, gfns[i]);
		cond_resched();
	}
	mutex_unlock(&tracked->lock);
}

unsigned long ghyvi_tracked_drop(struct ghyvi_tracked *tracked, const struct ghyvi_tracked_ops *ops,
				 void *vm, u64 gfn, u64 last)
{
	unsigned long index, dropped = 0;
	void *users;

	mutex_lock(&tracked->lock);
	xa_for_each_range(&tracked->users, index, users, gfn, last) {
		set_users(tracked, index, 0);
		ops->remove(vm, index);
		dropped++;
		cond_resched();
	}
	mutex_unlock(&tracked->lock);
	return dropped;
}
