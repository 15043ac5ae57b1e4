// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: Why vfio_iommu_type1 cannot reach its BUG_ON
 *
 * While a mapping has a pinned page, vfio_dma_do_unmap() notifies the devices of its container to
 * unpin the pages of the mapping. It has "if (dma_last == dma) BUG_ON(++retries > 10)" for each
 * repeated notification for the same struct vfio_dma. (Functions are named as in
 * drivers/vfio/vfio_iommu_type1.c of 6.1; newer kernels have the same loop.) Guests decide when
 * pages are pinned, and a VMM may unmap in many threads. So from the first notification until the
 * system call has *returned*, no vGPU of the container pins a page of the range. The return is an
 * event of the calling thread (see unmap_call.c). Neither a timeout nor KVM's memslots can replace
 * that event. type1 does not announce that a range is mapped again. To a vGPU, a guest that toggles
 * a PAM segment looks like a system call that repeats its notification.
 *
 * At most 9 notifications after the first one are for the same struct vfio_dma:
 *
 * 1. vfio_notify_dma_unmap() notifies all devices on device_list, with device_list_lock held. A
 *    notified vGPU first refuses new pins of the range (ghyvi_guard_unmap()), then unpins under the
 *    lock of struct ghyvi_gtt. A pin is checked and recorded under the same lock. So a pin that
 *    passed the check earlier is unpinned, and a later pin is refused. A vGPU that does not give up
 *    thus leaves no page of the range pinned.
 * 2. type1 tests the mapping again before the system call returns. Pages of its range can be pinned
 *    at that time only for these reasons:
 *    a) A vGPU gave up waiting during the previous notification. That happens at most
 *       GHYVI_UNMAP_GIVE_UPS_MAX times per system call, over all vGPUs.
 *    b) The struct vfio_dma is a new mapping whose allocation has reused the address. Its range
 *       differs from those of the notifications so far. The guard remembers GHYVI_UNMAP_RANGES_MAX
 *       ranges; a further one makes it refuse pins of all memory. A mapping created after that
 *       notification has no pinned page.
 *    c) The vGPU was not notified. If its VM belongs to the calling process, its pins were refused
 *       all the same. If its VM belongs to another process, and it pinned a page before the first
 *       notification, it was notified. For vfio puts a device on device_list before it returns the
 *       file descriptor through which the first pin is caused. Otherwise its first pin is later
 *       than the first notification. It can cause one more notification, in which it is on the
 *       list. From then on the guard refuses every vGPU whose first pin is later. A vGPU that was
 *       notified by a foreign process does not pin until it is closed. If it is opened again, its
 *       first pin is a later one.
 * 3. The sum, 5 + 3 + 1, is compared with type1's limit by the static_assert() below.
 *
 * Drivers of other devices in the same container are responsible for their own pins. IOMMUFD does
 * not need the guard: it refuses new accesses to an area (prevent_access) before it notifies.
 */
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "guard.h"

#define TYPE1_RETRIES_MAX 10

static_assert(GHYVI_UNMAP_GIVE_UPS_MAX + GHYVI_UNMAP_RANGES_MAX + 1 <= TYPE1_RETRIES_MAX);

#define CALL_HASH_BITS 10

/*
 * Protects the variables below and all guards. Innermost; not taken in interrupts. A VMM can keep
 * thousands of calls in progress. So a pin is a reader, and tests only those that can refuse it.
 */
static DEFINE_RWLOCK(guards_lock);
static DEFINE_HASHTABLE(calls_by_task, CALL_HASH_BITS);
static DEFINE_HASHTABLE(calls_by_process, CALL_HASH_BITS);
static LIST_HEAD(calls); /* the earliest first */
static unsigned int nr_calls; /* also read without the lock */
static u64 moments; /* logical time */

void ghyvi_guard_open(struct ghyvi_guard *guard, const void *process)
{
	write_lock(&guards_lock);
	WRITE_ONCE(guard->process, process);
	WRITE_ONCE(guard->first_pin, 0);
	WRITE_ONCE(guard->foreign, false);
	write_unlock(&guards_lock);
}

void ghyvi_guard_close(struct ghyvi_guard *guard)
{
	ghyvi_guard_open(guard, NULL);
}

static struct ghyvi_unmap_call *find_call(const void *task)
{
	struct ghyvi_unmap_call *call;

	hash_for_each_possible(calls_by_task, call, by_task, (unsigned long)task)
		if (call->task == task)
			return call;
	return NULL;
}

static bool has_asked_for(const struct ghyvi_unmap_call *call, u64 gfn, u64 count)
{
	unsigned int i;

	for (i = 0; i < call->nr_ranges; i++)
		if (call->ranges[i].gfn == gfn && call->ranges[i].count == count)
			return true;
	return false;
}

static void remember_range(struct ghyvi_unmap_call *call, u64 gfn, u64 count)
{
	if (has_asked_for(call, gfn, count))
		return;
	if (call->nr_ranges == GHYVI_UNMAP_RANGES_MAX) {
		call->all = true;
		return;
	}
	call->ranges[call->nr_ranges].gfn = gfn;
	call->ranges[call->nr_ranges].count = count;
	call->nr_ranges++;
}

static void call_returned(struct ghyvi_unmap_call *call)
{
	write_lock(&guards_lock);
	hash_del(&call->by_task);
	hash_del(&call->by_process);
	list_del(&call->node);
	WRITE_ONCE(nr_calls, nr_calls - 1);
	write_unlock(&guards_lock);
	kfree(call);
}

/*
 * Only the thread itself adds and removes its call, so the call cannot appear between the two
 * critical sections.
 */
static struct ghyvi_unmap_call *begin_call(const void *task, const void *process, bool *begun)
{
	struct ghyvi_unmap_call *call;

	read_lock(&guards_lock);
	call = find_call(task);
	read_unlock(&guards_lock);
	*begun = !call;
	if (call)
		return call;
	call = ghyvi_unmap_call_alloc();
	call->task = task;
	call->process = process;
	call->returned = call_returned;
	write_lock(&guards_lock);
	call->began = ++moments;
	hash_add(calls_by_task, &call->by_task, (unsigned long)task);
	hash_add(calls_by_process, &call->by_process, (unsigned long)process);
	list_add_tail(&call->node, &calls);
	WRITE_ONCE(nr_calls, nr_calls + 1);
	write_unlock(&guards_lock);
	return call;
}

bool ghyvi_guard_unmap(struct ghyvi_guard *guard, const void *task, const void *process, u64 gfn,
		       u64 count)
{
	bool foreign, first, begun;
	struct ghyvi_unmap_call *call = begin_call(task, process, &begun);

	write_lock(&guards_lock);
	remember_range(call, gfn, count);
	foreign = guard->process && guard->process != process;
	first = foreign && !guard->foreign;
	if (foreign)
		WRITE_ONCE(guard->foreign, true);
	call->foreign |= foreign;
	write_unlock(&guards_lock);
	if (begun)
		ghyvi_unmap_call_arm(call);
	return !first;
}

bool ghyvi_guard_may_give_up(const void *task)
{
	struct ghyvi_unmap_call *call;
	bool may;

	write_lock(&guards_lock);
	call = find_call(task);
	may = !WARN_ON_ONCE(!call) && call->given_up < GHYVI_UNMAP_GIVE_UPS_MAX;
	if (may)
		call->given_up++;
	write_unlock(&guards_lock);
	return may;
}

static bool call_unmaps(const struct ghyvi_unmap_call *call, u64 gfn)
{
	unsigned int i;

	if (call->all)
		return true;
	for (i = 0; i < call->nr_ranges; i++)
		if (gfn - call->ranges[i].gfn < call->ranges[i].count) /* wraps below the range */
			return true;
	return false;
}

static bool is_refused(const struct ghyvi_guard *guard, u64 gfn)
{
	const struct ghyvi_unmap_call *call;

	if (guard->foreign)
		return true;
	hash_for_each_possible(calls_by_process, call, by_process, (unsigned long)guard->process)
		if (call->process == guard->process && call_unmaps(call, gfn))
			return true;
	list_for_each_entry(call, &calls, node) {
		if (call->began > guard->first_pin)
			break;
		if (call->foreign && call_unmaps(call, gfn))
			return true;
	}
	return false;
}

bool ghyvi_guard_may_pin(struct ghyvi_guard *guard, u64 gfn)
{
	bool may;

	if (!READ_ONCE(guard->process))
		return false;
	/*
	 * The first pin is recorded under the lock, and before others of the guard, because the
	 * caller holds a lock. So either a call that began before it is on the list and is found
	 * below, or call->began is later than first_pin.
	 */
	if (!READ_ONCE(guard->first_pin)) {
		write_lock(&guards_lock);
		WRITE_ONCE(guard->first_pin, ++moments);
		write_unlock(&guards_lock);
	}
	if (!READ_ONCE(nr_calls) && !READ_ONCE(guard->foreign))
		return true;
	read_lock(&guards_lock);
	may = !is_refused(guard, gfn);
	read_unlock(&guards_lock);
	return may;
}
