// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest memory through VFIO: pins.
 */
#include <linux/iommu.h>
#include <linux/mm.h>
#include "internal.h"

#define GHYVI_UNMAP_REPEATS 2
#define GHYVI_UNMAP_WINDOW (HZ / 20)
#define GHYVI_MEMLOCK_PAUSE HZ

/*
 * Changes whenever the VM is given memory, or memory is taken from it; QEMU tells VFIO of new memory before it tells KVM. Caller
 * holds guard_lock, so the VM stays.
 */
static u64 memory_generation(struct ghyvi_kvm *kvm)
{
	struct kvm *vm = kvm->vm;
	u64 generation;
	int idx;

	if (!vm)
		return 0;
	idx = srcu_read_lock(&vm->srcu);
	generation = kvm_memslots(vm)->generation;
	srcu_read_unlock(&vm->srcu, idx);
	return generation;
}

u64 ghyvi_kvm_memory_generation(void *hv)
{
	struct ghyvi_kvm *kvm = hv;
	u64 generation;

	spin_lock(&kvm->guard_lock);
	generation = memory_generation(kvm);
	spin_unlock(&kvm->guard_lock);
	return generation;
}

/*
 * VFIO asks again and again to drop the pins of a range that it unmaps, and gives up with a BUG after ten times.
 * A guest that keeps submitting meanwhile could have pages pinned again in between. So when a range is asked
 * for right after it was dropped, and again, nothing in it is pinned meanwhile and for a moment after. A guest that has
 * memory taken away and brought back is not meant, however fast it is: KVM has then been given that memory in between.
 */
void ghyvi_kvm_unmapping(struct ghyvi_kvm *kvm, u64 gfn, u64 count)
{
	u64 generation;

	spin_lock(&kvm->guard_lock);
	generation = memory_generation(kvm);
	if (kvm->unmap.gfn == gfn && kvm->unmap.count == count &&
	    kvm->unmap.generation == generation &&
	    time_before(jiffies, kvm->unmap.at + GHYVI_UNMAP_WINDOW))
		kvm->unmap.repeats++;
	else
		kvm->unmap.repeats = 0;
	kvm->unmap.gfn = gfn;
	kvm->unmap.count = count;
	kvm->unmap.generation = generation;
	kvm->unmaps_under_way++;
	spin_unlock(&kvm->guard_lock);
}

void ghyvi_kvm_unmapped(struct ghyvi_kvm *kvm)
{
	spin_lock(&kvm->guard_lock);
	kvm->unmap.at = jiffies;
	kvm->unmaps_under_way--;
	spin_unlock(&kvm->guard_lock);
}

/* Caller holds guard_lock. */
static bool is_being_unmapped(struct ghyvi_kvm *kvm, u64 gfn)
{
	if (kvm->unmap.repeats < GHYVI_UNMAP_REPEATS || gfn < kvm->unmap.gfn ||
	    gfn - kvm->unmap.gfn >= kvm->unmap.count)
		return false;
	return kvm->unmaps_under_way ||
	       (time_before(jiffies, kvm->unmap.at + GHYVI_UNMAP_WINDOW) &&
		kvm->unmap.generation == memory_generation(kvm));
}

static int may_pin(struct ghyvi_kvm *kvm, u64 gfn)
{
	int ret = 0;

	spin_lock(&kvm->guard_lock);
	if (kvm->memlock_until && time_before(jiffies, kvm->memlock_until))
		ret = -ENOMEM;
	else if (is_being_unmapped(kvm, gfn))
		ret = -EAGAIN;
	spin_unlock(&kvm->guard_lock);
	return ret;
}

/* VFIO writes a log line for each pin beyond the limit: give the guest no way to flood the log with them. */
static void pause_pinning(struct ghyvi_kvm *kvm)
{
	spin_lock(&kvm->guard_lock);
	WRITE_ONCE(kvm->memlock_until, (jiffies + GHYVI_MEMLOCK_PAUSE) ?: 1);
	spin_unlock(&kvm->guard_lock);
	ghyvi_report(kvm->reporter,
		     "cannot pin guest memory: RLIMIT_MEMLOCK of the VM's process is too small (ulimit -l: guest memory + 1 GiB)");
}

/* There is room again. */
static void resume_pinning(struct ghyvi_kvm *kvm)
{
	if (!READ_ONCE(kvm->memlock_until))
		return;
	spin_lock(&kvm->guard_lock);
	if (kvm->memlock_until && time_before(jiffies, kvm->memlock_until) && __ratelimit(&kvm->memlock_resumes))
		kvm->memlock_until = 0;
	spin_unlock(&kvm->guard_lock);
}

/*
 * Memory of processes and files only: both have a mapping. Not the memory of a BAR (ours, or another
 * device's: the guest's own GGTT table would be one), nor of a device.
 */
static bool is_guest_ram(struct page *page)
{
	return !PageReserved(page) && !is_zone_device_page(page) &&
	       READ_ONCE(compound_head(page)->mapping);
}

int ghyvi_kvm_pin(void *hv, u64 gfn, u64 *bus)
{
	struct ghyvi_kvm *kvm = hv;
	struct page *page;
	int ret;

	if (!READ_ONCE(kvm->vm) || gfn > (U64_MAX >> PAGE_SHIFT))
		return -EFAULT;
	ret = may_pin(kvm, gfn);
	if (ret)
		return ret;
	ret = vfio_pin_pages(kvm->vdev, gfn << PAGE_SHIFT, 1, IOMMU_READ | IOMMU_WRITE, &page);
	if (ret == -ENOMEM)
		pause_pinning(kvm);
	if (ret != 1)
		return ret == -ENOMEM ? -ENOMEM : -EFAULT;
	if (!is_guest_ram(page)) {
		vfio_unpin_pages(kvm->vdev, gfn << PAGE_SHIFT, 1);
		return -EFAULT;
	}
	*bus = page_to_phys(page);
	return 0;
}

void ghyvi_kvm_unpin(void *hv, u64 gfn)
{
	struct ghyvi_kvm *kvm = hv;

	if (WARN_ON_ONCE(!READ_ONCE(kvm->vm)))
		return;
	vfio_unpin_pages(kvm->vdev, gfn << PAGE_SHIFT, 1);
	resume_pinning(kvm);
}
