// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: Why vfio_iommu_type1 cannot reach its BUG_ON
 *
 * vfio_dma_do_unmap() asks the devices of its container for a mapping's pages while the mapping has
 * any pinned page, and has "if (dma_last == dma) BUG_ON(++retries > 10)" for each further ask of
 * the same struct vfio_dma. (The functions below are those of drivers/vfio/vfio_iommu_type1.c of
 * 6.1; newer kernels have the same loop.) Guests decide when pages are pinned, and a VMM may call
 * from many threads. So from the first ask until the system call has *returned*, no vGPU of the
 * container pins a page of the range. The return is an event of the calling thread (see
 * unmap_call.c); neither a clock nor KVM's memslots could tell it: type 1 does not announce that a
 * range is mapped again, and a guest that toggles a PAM segment looks the same to a vGPU as a
 * system call that asks again.
 *
 * At most 9 asks after the first one meet the same struct vfio_dma:
 *
 * 1. vfio_notify_dma_unmap() asks all devices on device_list, under device_list_lock. Each ask
 *    first refuses new pins of the range (ghyvi_guard_unmap()), then unpins under the mm's lock.
 *    Pins are checked and entered in the books under that lock: one that passed the check before is
 *    unpinned, a later one is refused. So an ask without give-up leaves no page of the range pinned
 *    by a vGPU that it asked.
 * 2. The next look at the mapping comes before the system call returns. Pages of its range can be
 *    pinned at that moment for these reasons only:
 *    a) A vGPU gave up waiting during the ask before: GHYVI_UNMAP_GIVE_UPS_MAX times in one system
 *       call, over all vGPUs.
 *    b) The mapping is another one, and the allocator has reused the address. Its range differs
 *       from those asked for so far. GHYVI_UNMAP_RANGES_MAX ranges are remembered; the next one
 *       makes the guard refuse all memory. A mapping made after that ask has no pinned page.
 *    c) The vGPU was not asked. If its VM belongs to the calling process, its pins were refused
 *       all the same. If it belongs to another process and pinned a page before the first ask, it
 *       was asked: vfio puts a device on device_list before it hands out the descriptor through
 *       which the first pin is provoked. Otherwise its first pin is later than the first ask. It
 *       can cost one more ask, in which it is on the list; from then on the guard refuses every
 *       vGPU whose first pin is later. A vGPU that was asked by a foreign process pins nothing
 *       until it is closed; opened again, its first pin is a later one.
 * 3. The sum, 5 + 3 + 1, is what the static_assert() below compares with type 1's limit.
 *
 * Devices of other drivers in the same container are their own drivers' business. IOMMUFD needs
 * none of this: it refuses new accesses of an area (prevent_access) before it asks.
 */
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "guard.h"

#define TYPE1_RETRIES_MAX 10

static_assert(GHYVI_UNMAP_GIVE_UPS_MAX + GHYVI_UNMAP_RANGES_MAX + 1 <= TYPE1_RETRIES_MAX);

/* Protects what follows and all guards; innermost. */
static DEFINE_SPINLOCK(guards_lock);
static LIST_HEAD(calls);
static unsigned int nr_calls; /* also read without the lock */
static u64 moments;

void ghyvi_guard_open(struct ghyvi_guard *guard, const void *process)
{
	spin_lock(&guards_lock);
	guard->process = process;
	WRITE_ONCE(guard->first_pin, 0);
	WRITE_ONCE(guard->foreign, false);
	spin_unlock(&guards_lock);
}

void ghyvi_guard_close(struct ghyvi_guard *guard)
{
	ghyvi_guard_open(guard, NULL);
}

static struct ghyvi_unmap_call *find_call(const void *task)
{
	struct ghyvi_unmap_call *call;

	list_for_each_entry(call, &calls, node)
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

/* Only the thread itself adds and removes its call, so it cannot appear between the two sections. */
static void begin_call(const void *task, const void *process)
{
	struct ghyvi_unmap_call *call;

	spin_lock(&guards_lock);
	call = find_call(task);
	spin_unlock(&guards_lock);
	if (call)
		return;
	call = ghyvi_unmap_call_alloc();
	call->task = task;
	call->process = process;
	spin_lock(&guards_lock);
	call->began = ++moments;
	list_add(&call->node, &calls);
	WRITE_ONCE(nr_calls, nr_calls + 1);
	spin_unlock(&guards_lock);
}

bool ghyvi_guard_unmap(struct ghyvi_guard *guard, const void *task, const void *process, u64 gfn,
		       u64 count)
{
	struct ghyvi_unmap_call *call;
	bool foreign, first;

	begin_call(task, process);
	spin_lock(&guards_lock);
	call = find_call(task);
	remember_range(call, gfn, count);
	foreign = guard->process && guard->process != process;
	first = foreign && !guard->foreign;
	if (foreign)
		WRITE_ONCE(guard->foreign, true);
	call->foreign |= foreign;
	spin_unlock(&guards_lock);
	return !first;
}

bool ghyvi_guard_may_give_up(const void *task)
{
	struct ghyvi_unmap_call *call;
	bool may;

	spin_lock(&guards_lock);
	call = find_call(task);
	may = !WARN_ON_ONCE(!call) && call->given_up < GHYVI_UNMAP_GIVE_UPS_MAX;
	if (may)
		call->given_up++;
	spin_unlock(&guards_lock);
	return may;
}

void ghyvi_guard_returned(struct ghyvi_unmap_call *call)
{
	spin_lock(&guards_lock);
	list_del(&call->node);
	WRITE_ONCE(nr_calls, nr_calls - 1);
	spin_unlock(&guards_lock);
	kfree(call);
}

static bool call_refuses(const struct ghyvi_unmap_call *call, const struct ghyvi_guard *guard, u64 gfn)
{
	unsigned int i;

	if (guard->process != call->process && !(call->foreign && guard->first_pin > call->began))
		return false;
	if (call->all)
		return true;
	for (i = 0; i < call->nr_ranges; i++)
		if (gfn - call->ranges[i].gfn < call->ranges[i].count) /* wraps below the range */
			return true;
	return false;
}

bool ghyvi_guard_may_pin(struct ghyvi_guard *guard, u64 gfn)
{
	const struct ghyvi_unmap_call *call;
	bool may;

	/* Under the lock, so that either the call began first and is seen, or first_pin is earlier. */
	if (READ_ONCE(guard->first_pin) && !READ_ONCE(nr_calls) && !READ_ONCE(guard->foreign))
		return true;
	spin_lock(&guards_lock);
	if (!guard->first_pin)
		WRITE_ONCE(guard->first_pin, ++moments);
	may = !guard->foreign;
	list_for_each_entry(call, &calls, node)
		may = may && !call_refuses(call, guard, gfn);
	spin_unlock(&guards_lock);
	return may;
}
