// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest memory through VFIO: pins.
 */
#include <linux/iommu.h>
#include <linux/mm.h>
#include "internal.h"

#define GHYVI_MEMLOCK_PAUSE HZ

/*
 * Changes whenever the VM is given memory, or memory is taken from it; QEMU tells VFIO of new
 * memory before it tells KVM. Caller holds vm_lock, so the VM stays.
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

	spin_lock(&kvm->vm_lock);
	generation = memory_generation(kvm);
	spin_unlock(&kvm->vm_lock);
	return generation;
}

void ghyvi_kvm_unmapping(struct ghyvi_kvm *kvm, u64 gfn, u64 count)
{
	if (!ghyvi_guard_unmap(&kvm->guard, current, current->mm, gfn, count))
		ghyvi_report(kvm->reporter,
			     "its memory is unmapped by a process that does not own the VM: nothing is pinned until the VM is restarted");
}

bool ghyvi_kvm_may_give_up(void)
{
	return ghyvi_guard_may_give_up(current);
}

static int may_pin(struct ghyvi_kvm *kvm, u64 gfn)
{
	unsigned long until = READ_ONCE(kvm->memlock_until);

	if (until && time_before(jiffies, until))
		return -ENOMEM;
	return ghyvi_guard_may_pin(&kvm->guard, gfn) ? 0 : -EAGAIN;
}

/* VFIO writes a log line for each pin beyond the limit: give the guest no way to flood the log with them. */
static void pause_pinning(struct ghyvi_kvm *kvm)
{
	spin_lock(&kvm->vm_lock);
	WRITE_ONCE(kvm->memlock_until, (jiffies + GHYVI_MEMLOCK_PAUSE) ?: 1);
	spin_unlock(&kvm->vm_lock);
	ghyvi_report(kvm->reporter,
		     "cannot pin guest memory: RLIMIT_MEMLOCK of the VM's process is too small (ulimit -l: guest memory + 1 GiB)");
}

/* There is room again. */
static void resume_pinning(struct ghyvi_kvm *kvm)
{
	if (!READ_ONCE(kvm->memlock_until))
		return;
	spin_lock(&kvm->vm_lock);
	if (kvm->memlock_until && time_before(jiffies, kvm->memlock_until) && __ratelimit(&kvm->memlock_resumes))
		kvm->memlock_until = 0;
	spin_unlock(&kvm->vm_lock);
}

/*
 * Memory of processes and files only: both have a mapping. Not the memory of a BAR (ours, or
 * another device's: the guest's own GGTT table would be one), nor of a device.
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
