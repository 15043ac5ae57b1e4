/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Refuses pins of guest memory while a system call takes that memory away. Knows neither KVM nor
 * VFIO, so that it also builds in user space, where a test plays vfio_iommu_type1.
 */
#ifndef GHYVI_KVM_GUARD_H
#define GHYVI_KVM_GUARD_H

#include <linux/list.h>
#include <linux/types.h>

/* Ranges that one system call asks for one by one; the next one makes it ask for all memory. */
#define GHYVI_UNMAP_RANGES_MAX 3
/* Asks of one system call, over all vGPUs, that may return before the pages are unpinned. */
#define GHYVI_UNMAP_GIVE_UPS_MAX 5

/**
 * struct ghyvi_guard - one vGPU's part; all fields are protected by the guards' common lock
 * @process: the address space of the VM; NULL while the vGPU is closed
 * @first_pin: the moment of the first pin since it was opened; 0 before. Written once, also
 *	read without the lock.
 * @foreign: a process other than @process took its memory away: it pins nothing until it is
 *	closed. Also read without the lock.
 */
struct ghyvi_guard {
	const void *process;
	u64 first_pin;
	bool foreign;
};

/**
 * struct ghyvi_unmap_call - a system call that has asked at least one vGPU to unpin pages, and has
 * not returned yet
 * @task, @process: the thread and its address space; only compared
 * @began: the moment of its first ask
 * @ranges: what it has asked for
 * @all: more ranges than fit: no page may be pinned
 * @foreign: it asked a vGPU whose VM belongs to another process
 * @given_up: asks that returned too early, up to GHYVI_UNMAP_GIVE_UPS_MAX
 */
struct ghyvi_unmap_call {
	struct list_head node;
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
};

/**
 * ghyvi_guard_open() - the vGPU is opened for a VM.
 * @guard: the vGPU's
 * @process: the VM's address space, not NULL; it stays allocated until ghyvi_guard_close()
 */
void ghyvi_guard_open(struct ghyvi_guard *guard, const void *process);
void ghyvi_guard_close(struct ghyvi_guard *guard);

/**
 * ghyvi_guard_unmap() - a system call asks the vGPU to unpin a range; to be called before the
 * unpinning begins.
 * @guard: the vGPU's
 * @task: the calling thread
 * @process: its address space
 * @gfn: first page
 * @count: number of pages
 *
 * No pin that begins afterwards succeeds in the range until the system call has returned.
 *
 * Context: may sleep; a user's thread within a system call.
 * Return: false when the vGPU was open for another process's VM and has just stopped pinning for
 * good.
 */
bool ghyvi_guard_unmap(struct ghyvi_guard *guard, const void *task, const void *process, u64 gfn, u64 count);
/**
 * ghyvi_guard_may_give_up() - may the system call that @task is in go on although pages of its
 * range are still pinned? Counts what it allows. Only after ghyvi_guard_unmap() by the same thread
 * in the same system call.
 */
bool ghyvi_guard_may_give_up(const void *task);
/** ghyvi_guard_returned() - the system call is over; frees @call. */
void ghyvi_guard_returned(struct ghyvi_unmap_call *call);

/**
 * ghyvi_guard_may_pin() - may the vGPU pin @gfn now? The caller holds, from before this call until
 * its pin is in the books of the mm, the lock under which ghyvi_gtt_unmap() unpins.
 */
bool ghyvi_guard_may_pin(struct ghyvi_guard *guard, u64 gfn);

/**
 * ghyvi_unmap_call_alloc() - supplied by the surroundings (kernel/kvm/unmap_call.c, or a test): a
 * zeroed system call, for which ghyvi_guard_returned() is called once the system call that the
 * calling thread is in has returned.
 * Context: may sleep. Return: never NULL.
 */
struct ghyvi_unmap_call *ghyvi_unmap_call_alloc(void);

#endif
