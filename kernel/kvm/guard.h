/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Refuses pins of guest memory while a system call unmaps that memory. It is independent of KVM and
 * VFIO, so that it also builds in user space, where a test emulates vfio_iommu_type1.
 */
#ifndef GHYVI_KVM_GUARD_H
#define GHYVI_KVM_GUARD_H

#include <linux/list.h>
#include <linux/types.h>

/*
 * Number of ranges that are remembered per system call. With a further one, pins of any memory are
 * refused.
 */
#define GHYVI_UNMAP_RANGES_MAX 3
/* Notifications per system call, over all vGPUs, that may return before the pages are unpinned. */
#define GHYVI_UNMAP_GIVE_UPS_MAX 5

/*
 * struct ghyvi_guard - state of one vGPU; protected by a lock that is common to all guards.
 * @process: address space of the VM; NULL while the vGPU is closed. Also read without the lock.
 * @first_pin: logical time of the first pin since the vGPU was opened; 0 before. Written once per
 *	open, also read without the lock.
 * @foreign: a process other than @process unmapped its memory; all pins are refused until the vGPU
 *	is closed. Also read without the lock.
 */
struct ghyvi_guard {
	const void *process;
	u64 first_pin;
	bool foreign;
};

/*
 * struct ghyvi_unmap_call - a system call that has notified at least one vGPU to unpin pages, and
 * has not returned yet.
 * @ranges: ranges of guest pages that were to be unpinned, in page numbers
 * @given_up: number of notifications that returned too early, up to GHYVI_UNMAP_GIVE_UPS_MAX
 */
struct ghyvi_unmap_call {
	struct list_head node; /* in the list of all such calls, in the order of @began */
	struct hlist_node by_task; /* in the hash table of all such calls by @task */
	struct hlist_node by_process; /* in the hash table of all such calls by @process */
	const void *task; /* the calling thread; only compared */
	const void *process; /* address space of the calling thread; only compared */
	u64 began; /* logical time of the first notification */
	struct {
		u64 gfn;
		u64 count;
	} ranges[GHYVI_UNMAP_RANGES_MAX];
	unsigned int nr_ranges; /* number of valid entries in @ranges */
	bool all; /* there were more ranges than fit; pins of any page are refused */
	bool foreign; /* a notified vGPU's VM belongs to another process */
	unsigned int given_up;
	/* removes and frees it, when it has returned */
	void (*returned)(struct ghyvi_unmap_call *call);
	void *returning; /* of kernel/kvm/unmap_call.c */
};

/*
 * Start guarding a vGPU that is opened for a VM. @process: address space of the VM, not NULL;
 * remains allocated until ghyvi_guard_close(). Takes an rwlock, as the other functions of guard.c.
 */
void ghyvi_guard_open(struct ghyvi_guard *guard, const void *process);
/*
 * Refuse pins of a vGPU until it is opened. A pin that was not refused has been recorded when its
 * lock can be taken (ghyvi_guard_may_pin()): what releases the vGPU's pins afterwards finds it.
 */
void ghyvi_guard_close(struct ghyvi_guard *guard);

/*
 * Refuse pins of a range that the system call of @task, in the address space @process, unmaps. Must
 * be called before the notified vGPU unpins the range. A pin of the range that begins afterwards
 * fails until the system call has returned. May sleep; a thread of a user process in a system call.
 * Returns false if the vGPU is open for a VM of another process, and this call was the first to
 * stop it from pinning until it is closed.
 */
bool ghyvi_guard_unmap(struct ghyvi_guard *guard, const void *task, const void *process, u64 gfn,
		       u64 count);
/*
 * Test whether a notification may return with pages still pinned. @task has called
 * ghyvi_guard_unmap() in the same system call. Counts the permissions that it grants, at most
 * GHYVI_UNMAP_GIVE_UPS_MAX per system call.
 */
bool ghyvi_guard_may_give_up(const void *task);

/*
 * Test whether a vGPU may pin a page now: not while it is closed, or while a system call that may
 * unmap the page has not returned, or after a foreign process has unmapped memory of the VM. The
 * caller holds the lock of struct ghyvi_gtt, under which ghyvi_gtt_unmap() unpins, from before this
 * call until the pin has been recorded.
 */
bool ghyvi_guard_may_pin(struct ghyvi_guard *guard, u64 gfn);

/*
 * Allocate the record of the system call that the calling thread is in: zeroed, but for @returning,
 * and never NULL. May sleep. In kernel/kvm/unmap_call.c, or in a test.
 */
struct ghyvi_unmap_call *ghyvi_unmap_call_alloc(void);

/*
 * Have @returned of @call called when the system call has returned. @call: what
 * ghyvi_unmap_call_alloc() returned to the same thread. The guard can find it already: it may be
 * gone when this function returns. May sleep.
 */
void ghyvi_unmap_call_arm(struct ghyvi_unmap_call *call);

#endif
