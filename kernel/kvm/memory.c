// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinning of guest memory through VFIO.
 */
#include <linux/iommu.h>
#include <linux/mm.h>
#include "internal.h"

#define GHYVI_MEMLOCK_PAUSE HZ
/*
 * More pins than can fail by chance while a VMM has announced a change of memory to VFIO, and not
 * yet to KVM.
 */
#define GHYVI_STRANGE_PINS 64

/*
 * Generation of KVM's memslots. It changes whenever memory is added to the VM or removed from it.
 * QEMU announces new memory to VFIO before it does to KVM. So when the generation changes, the new
 * memory can already be pinned. Caller holds vm_lock, so the VM remains bound.
 */
static u64 memory_generation(struct ghyvi_vm *gvm)
{
	struct kvm *kvm = gvm->kvm;
	u64 generation;
	int idx;

	lockdep_assert_held(&gvm->vm_lock);
	if (!kvm)
		return 0;
	idx = srcu_read_lock(&kvm->srcu);
	generation = kvm_memslots(kvm)->generation;
	srcu_read_unlock(&kvm->srcu, idx);
	return generation;
}

u64 ghyvi_kvm_memory_generation(struct ghyvi_hv *hv)
{
	struct ghyvi_vm *gvm = ghyvi_vm_of(hv);
	u64 generation;

	spin_lock(&gvm->vm_lock);
	generation = memory_generation(gvm);
	spin_unlock(&gvm->vm_lock);
	return generation;
}

void ghyvi_kvm_unmapping(struct ghyvi_vm *gvm, u64 gfn, u64 count)
{
	if (!ghyvi_guard_unmap(&gvm->guard, current, current->mm, gfn, count))
		ghyvi_report(
			gvm->reporter,
			"guest memory is unmapped by a process that does not own the VM: no page is pinned until the VM is restarted");
}

bool ghyvi_kvm_may_give_up(void)
{
	return ghyvi_guard_may_give_up(current);
}

static int may_pin(struct ghyvi_vm *gvm, u64 gfn)
{
	unsigned long until = READ_ONCE(gvm->memlock_until);

	if (until && time_before(jiffies, until))
		return -ENOMEM;
	return ghyvi_guard_may_pin(&gvm->guard, gfn) ? 0 : -EAGAIN;
}

/*
 * VFIO logs a line for each pin that exceeds RLIMIT_MEMLOCK. Pause pinning, so that the guest
 * cannot flood the log.
 */
static void pin_backoff_start(struct ghyvi_vm *gvm)
{
	spin_lock(&gvm->vm_lock);
	WRITE_ONCE(gvm->memlock_until, (jiffies + GHYVI_MEMLOCK_PAUSE) ?: 1);
	spin_unlock(&gvm->vm_lock);
	ghyvi_report(
		gvm->reporter,
		"cannot pin guest memory: RLIMIT_MEMLOCK of the VM's process is too small (ulimit -l: guest memory + 1 GiB)");
}

/* A page was unpinned, so the next pin can succeed: end the pause, but not too often. */
static void pin_backoff_clear(struct ghyvi_vm *gvm)
{
	if (!READ_ONCE(gvm->memlock_until))
		return;
	spin_lock(&gvm->vm_lock);
	if (gvm->memlock_until && time_before(jiffies, gvm->memlock_until) &&
	    __ratelimit(&gvm->memlock_resumes))
		gvm->memlock_until = 0;
	spin_unlock(&gvm->vm_lock);
}

/*
 * Accept only memory of processes and files: both have a mapping. Reject the memory of a BAR (of
 * this vGPU, such as the guest's own GGTT table, or of another device) and device memory.
 */
static bool is_guest_ram(struct page *page)
{
	return !PageReserved(page) && !is_zone_device_page(page) &&
	       READ_ONCE(compound_head(page)->mapping);
}

/*
 * Test whether KVM has a memory slot for @gfn. Write protection takes guest-physical addresses, and
 * VFIO takes addresses as the device uses them. They differ behind a guest IOMMU, which ghyvi does
 * not support. Only writable slots count, because VFIO has pinned the page for writing.
 */
static bool has_memory_for_kvm(struct ghyvi_vm *gvm, u64 gfn)
{
	const struct kvm_memory_slot *slot;
	struct kvm *kvm = gvm->kvm;
	bool has;
	int idx;

	idx = srcu_read_lock(&kvm->srcu);
	slot = __gfn_to_memslot(kvm_memslots(kvm), gfn);
	has = slot && !(slot->flags & (KVM_MEMSLOT_INVALID | KVM_MEM_READONLY));
	srcu_read_unlock(&kvm->srcu, idx);
	return has;
}

/*
 * A page without a memory slot is not an error at once. A VMM announces memory to VFIO and KVM one
 * after the other, so the state is transient. With a guest IOMMU it is permanent, which
 * GHYVI_STRANGE_PINS detects.
 */
static int check_address(struct ghyvi_vm *gvm, u64 gfn)
{
	if (has_memory_for_kvm(gvm, gfn)) {
		if (atomic_read(&gvm->strange_pins))
			atomic_set(&gvm->strange_pins, 0);
		return 0;
	}
	if (atomic_inc_return(&gvm->strange_pins) == GHYVI_STRANGE_PINS)
		ghyvi_report(
			gvm->reporter,
			"behind a guest IOMMU, which is not supported: the guest's GPU reads zeros; remove the IOMMU device from the VM, or boot the guest with iommu=pt");
	return -EAGAIN;
}

/*
 * Errors of type1, of IOMMUFD, and of a page without a mapping in the VMM that mean that no memory
 * is mapped there. Other errors do not depend on the guest's memory. A pin fails with -EINTR if the
 * calling thread is being killed, and with -EBUSY while the VMM changes.
 */
static bool is_absent(int err)
{
	return err == -EINVAL || err == -ENOENT || err == -EFAULT;
}

int ghyvi_kvm_pin(struct ghyvi_hv *hv, u64 gfn, u64 *hpa)
{
	struct ghyvi_vm *gvm = ghyvi_vm_of(hv);
	struct page *page;
	int err, pinned;

	if (!READ_ONCE(gvm->kvm) || gfn > (U64_MAX >> PAGE_SHIFT))
		return -EFAULT;
	err = may_pin(gvm, gfn);
	if (err)
		return err;
	pinned = vfio_pin_pages(gvm->vdev, gfn << PAGE_SHIFT, 1, IOMMU_READ | IOMMU_WRITE, &page);
	if (pinned == -ENOMEM)
		pin_backoff_start(gvm);
	if (pinned != 1)
		return pinned >= 0 || is_absent(pinned) ? -EFAULT : pinned;
	err = is_guest_ram(page) ? check_address(gvm, gfn) : -EFAULT;
	if (err) {
		vfio_unpin_pages(gvm->vdev, gfn << PAGE_SHIFT, 1);
		return err;
	}
	*hpa = page_to_phys(page);
	return 0;
}

void ghyvi_kvm_unpin(struct ghyvi_hv *hv, u64 gfn)
{
	struct ghyvi_vm *gvm = ghyvi_vm_of(hv);

	if (WARN_ON_ONCE(!READ_ONCE(gvm->kvm)))
		return;
	vfio_unpin_pages(gvm->vdev, gfn << PAGE_SHIFT, 1);
	pin_backoff_clear(gvm);
}
