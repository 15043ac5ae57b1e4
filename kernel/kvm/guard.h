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

/**
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

/**
 * struct ghyvi_unmap_call - a system call that has notified at least one vGPU to unpin pages, and
 * has not returned yet.
 * @node: in the list of all such calls, in the order of @began
 * @by_task: in the hash table of all such calls by @task
 * @by_process: in the hash table of all such calls by @process
 * @task: the calling thread; only compared
 * @process: address space of the calling thread; only compared
 * @began: logical time of the first notification
 * @ranges: ranges of guest pages that were to be unpinned, in page numbers
 * @nr_ranges: number of valid entries in @ranges
 * @all: there were more ranges than fit; pins of any page are refused
 * @foreign: a notified vGPU's VM belongs to another process
 * @given_up: number of notifications that returned too early, up to GHYVI_UNMAP_GIVE_UPS_MAX
 * @returning: of kernel/kvm/unmap_call.c
 */
struct ghyvi_unmap_call {
	struct list_head node;
	struct hlist_node by_task;
	struct hlist_node by_process;
	const void *task;
	const void *process;
	u64 began;
	struct {
		u64 gfn;
		u64 count;
	} ranges[GHYVI_UNMAP_RANGES_MAX];
	unsigned int nr_ranges;
	bool all;
	bool foreign;
	unsigned int given_up;
	void *returning;
};

/**
 * ghyvi_guard_open() - start guarding a vGPU that is opened for a VM.
 * @guard: guard of the vGPU
 * @process: address space of the VM, not NULL; remains allocated until ghyvi_guard_close()
 *
 * Context: process context; takes an rwlock.
 */
void ghyvi_guard_open(struct ghyvi_guard *guard, const void *process);
/**
 * ghyvi_guard_close() - refuse pins of a vGPU until it is opened.
 * @guard: guard of the vGPU
 *
 * A pin that was not refused has been recorded when its lock can be taken (ghyvi_guard_may_pin()):
 * what releases the vGPU's pins afterwards finds it.
 *
 * Context: process context; takes an rwlock.
 */
void ghyvi_guard_close(struct ghyvi_guard *guard);

/**
 * ghyvi_guard_unmap() - refuse pins of a range that a system call unmaps.
 * @guard: guard of the notified vGPU
 * @task: the calling thread
 * @process: address space of the calling thread
 * @gfn: first page
 * @count: number of pages
 *
 * Must be called before the vGPU unpins the range. A pin of the range that begins afterwards fails
 * until the system call has returned.
 *
 * Context: may sleep; a thread of a user process in a system call.
 * Return: false if the vGPU is open for a VM of another process, and this call was the first to
 * stop it from pinning until it is closed. Otherwise true.
 */
bool ghyvi_guard_unmap(struct ghyvi_guard *guard, const void *task, const void *process, u64 gfn,
		       u64 count);
/**
 * ghyvi_guard_may_give_up() - test whether a notification may return with pages still pinned.
 * @task: the calling thread, which has called ghyvi_guard_unmap() in the same system call
 *
 * Counts the permissions that it grants.
 *
 * Context: process context; takes an rwlock.
 * Return: true at most GHYVI_UNMAP_GIVE_UPS_MAX times per system call.
 */
bool ghyvi_guard_may_give_up(const void *task);
/**
 * ghyvi_guard_returned() - remove and free a system call that has returned.
 * @call: the system call
 *
 * Context: process context; takes an rwlock.
 */
void ghyvi_guard_returned(struct ghyvi_unmap_call *call);

/**
 * ghyvi_guard_may_pin() - test whether a vGPU may pin a page now.
 * @guard: guard of the vGPU
 * @gfn: the page
 *
 * Context: the caller holds the lock of struct ghyvi_gtt, under which ghyvi_gtt_unmap() unpins,
 * from before this call until the pin has been recorded.
 * Return: false while the vGPU is closed, or a system call that may unmap the page has not
 * returned, and after a foreign process has unmapped memory of the VM; else true.
 */
bool ghyvi_guard_may_pin(struct ghyvi_guard *guard, u64 gfn);

/**
 * ghyvi_unmap_call_alloc() - allocate the record of the system call that the calling thread is in.
 *
 * Implemented in kernel/kvm/unmap_call.c, or by a test.
 *
 * Context: may sleep.
 * Return: a zeroed record, but for @returning, never NULL.
 */
struct ghyvi_unmap_call *ghyvi_unmap_call_alloc(void);

/**
 * ghyvi_unmap_call_arm() - have ghyvi_guard_returned() called when the system call has returned.
 * @call: what ghyvi_unmap_call_alloc() returned to the same thread. The guard can find it already:
 *	it may be gone when this function returns.
 *
 * Context: may sleep.
 */
void ghyvi_unmap_call_arm(struct ghyvi_unmap_call *call);

#endif
