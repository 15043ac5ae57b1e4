// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write protection of guest pages through KVM page tracking.
 *
 * Lock order: kvm->slots_lock -> mutex of struct ghyvi_gtt -> kvm->srcu (read) -> tracked->lock ->
 * kvm->mmu_lock.
 *
 * KVM calls track_write() with kvm->srcu held for reading, and the callback for a removed slot
 * with kvm->slots_lock held. Code under the mutex of struct ghyvi_gtt or tracked->lock waits for
 * neither of them, so both callbacks may take these two locks. track_write() also takes
 * vgpu->lock, and passes work to the scheduler, for which the same holds.
 * ghyvi_kvm_track_stop() waits for srcu readers, and is called without these locks.
 */
#include <linux/moduleparam.h>
#include "internal.h"

static struct kvm *detach_vm(struct ghyvi_vm *gvm)
{
	struct kvm *kvm = gvm->kvm;

	spin_lock(&gvm->vm_lock);
	WRITE_ONCE(gvm->kvm, NULL);
	spin_unlock(&gvm->vm_lock);
	return kvm;
}

#if GHYVI_CAN_TRACK

static struct ghyvi_vm *node_owner(struct kvm_page_track_notifier_node *node)
{
	return container_of(node, struct ghyvi_vm, node);
}

/* KVM reports every store that it emulates to every tracker. A store can touch two pages. */
static void track_write(GHYVI_TRACK_WRITE_ARGS)
{
	struct ghyvi_vm *gvm = node_owner(node);
	u64 first = gpa >> PAGE_SHIFT, last = (gpa + bytes - 1) >> PAGE_SHIFT;

	if (ghyvi_tracked_has(&gvm->tracked, first) ||
	    (last != first && ghyvi_tracked_has(&gvm->tracked, last)))
		gvm->events->store(gvm->events, gpa, value, bytes);
}

/* Find the memory slot of @gfn. Caller is in a read-side critical section of kvm->srcu. */
static struct kvm_memory_slot *usable_slot(struct kvm *kvm, u64 gfn)
{
	struct kvm_memory_slot *slot = __gfn_to_memslot(kvm_memslots(kvm), gfn);

	/* KVM marks a slot invalid, and waits for readers, before it reports its removal. */
	return slot && !(slot->flags & KVM_MEMSLOT_INVALID) ? slot : NULL;
}

#if GHYVI_TRACK_BY_SLOT

static void track_in_slot(struct kvm *kvm, struct kvm_memory_slot *slot, u64 gfn, bool on)
{
	write_lock(&kvm->mmu_lock);
	if (on)
		kvm_slot_page_track_add_page(kvm, slot, gfn, KVM_PAGE_TRACK_WRITE);
	else
		kvm_slot_page_track_remove_page(kvm, slot, gfn, KVM_PAGE_TRACK_WRITE);
	write_unlock(&kvm->mmu_lock);
}

static bool track_page(void *kvm, u64 gfn)
{
	struct kvm_memory_slot *slot = usable_slot(kvm, gfn);

	if (slot)
		track_in_slot(kvm, slot, gfn, true);
	return slot;
}

static void untrack_page(void *kvm, u64 gfn)
{
	struct kvm_memory_slot *slot = gfn_to_memslot(kvm, gfn);

	if (slot)
		track_in_slot(kvm, slot, gfn, false);
}

struct ghyvi_slot {
	struct kvm *kvm;
	struct kvm_memory_slot *slot;
};

static void untrack_page_of_slot(void *slot, u64 gfn)
{
	struct ghyvi_slot *of = slot;

	track_in_slot(of->kvm, of->slot, gfn, false);
}

/*
 * KVM removes a slot, and its page track counts with it. The removal may still fail, so leave the
 * counts balanced.
 */
static void track_flush_slot(struct kvm *kvm, struct kvm_memory_slot *slot,
			     struct kvm_page_track_notifier_node *node)
{
	static const struct ghyvi_tracked_ops ops = { .remove = untrack_page_of_slot };
	struct ghyvi_vm *gvm = node_owner(node);
	struct ghyvi_slot of = { kvm, slot };

	/*
	 * The slots of the SMM address space are removed independently, and are not tracked here.
	 */
	if (slot->as_id)
		return;
	if (ghyvi_tracked_drop(&gvm->tracked, &ops, &of, slot->base_gfn,
			       slot->base_gfn + slot->npages - 1))
		gvm->events->lost(gvm->events, slot->base_gfn, slot->npages);
}

static void set_callbacks(struct kvm_page_track_notifier_node *node)
{
	node->track_write = track_write;
	node->track_flush_slot = track_flush_slot;
}

#else /* by gfn */

static bool track_page(void *kvm, u64 gfn)
{
	return usable_slot(kvm, gfn) && !kvm_write_track_add_gfn(kvm, gfn);
}

/*
 * If the slot of the page was removed, KVM does not find it. The count was removed with the slot.
 */
static void untrack_page(void *kvm, u64 gfn)
{
	kvm_write_track_remove_gfn(kvm, gfn);
}

static void track_remove_region(gfn_t gfn, unsigned long count,
				struct kvm_page_track_notifier_node *node)
{
	static const struct ghyvi_tracked_ops ops = { .remove = untrack_page };
	struct ghyvi_vm *gvm = node_owner(node);

	/*
	 * KVM does not say whether the region is removed from the SMM address space only. The count
	 * would survive that, so remove it here.
	 */
	if (ghyvi_tracked_drop(&gvm->tracked, &ops, gvm->kvm, gfn, gfn + count - 1))
		gvm->events->lost(gvm->events, gfn, count);
}

static void set_callbacks(struct kvm_page_track_notifier_node *node)
{
	node->track_write = track_write;
	node->track_remove_region = track_remove_region;
}

#endif

static const struct ghyvi_tracked_ops track_ops = { .add = track_page, .remove = untrack_page };

static bool write_tracking = true;
module_param(write_tracking, bool, 0444);
MODULE_PARM_DESC(
	write_tracking,
	"use KVM's write tracking. 0: as on kernels without CONFIG_KVM_EXTERNAL_WRITE_TRACKING (a test)");

bool ghyvi_kvm_can_track(void)
{
	return write_tracking;
}

int ghyvi_kvm_track_start(struct ghyvi_vm *gvm, struct kvm *kvm)
{
	memset(&gvm->node, 0, sizeof(gvm->node));
	set_callbacks(&gvm->node);
	return ghyvi_track_register(kvm, &gvm->node);
}

static void untrack_all(struct ghyvi_vm *gvm)
{
	unsigned long count;
	int idx;

	idx = srcu_read_lock(&gvm->kvm->srcu);
	count = ghyvi_tracked_drop(&gvm->tracked, &track_ops, gvm->kvm, 0, U64_MAX >> PAGE_SHIFT);
	srcu_read_unlock(&gvm->kvm->srcu, idx);
	if (count)
		ghyvi_report(gvm->reporter,
			     "%lu pages were still protected when the VM closed the device", count);
}

void ghyvi_kvm_track_stop(struct ghyvi_vm *gvm)
{
	untrack_all(gvm);
	ghyvi_track_unregister(detach_vm(gvm), &gvm->node);
}

/*
 * ghyvi_kvm_protect() and ghyvi_kvm_unprotect() run in a read-side critical section of kvm->srcu.
 * So no slot is removed and added again between the change of the users and that of KVM's count.
 * Otherwise a page of the new slot could lose the tracking that another user has requested.
 */
unsigned int ghyvi_kvm_protect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	struct ghyvi_vm *gvm = ghyvi_vm_of(hv);
	int idx;

	if (!READ_ONCE(gvm->kvm) || !write_tracking)
		return 0;
	idx = srcu_read_lock(&gvm->kvm->srcu);
	count = ghyvi_tracked_get(&gvm->tracked, &track_ops, gvm->kvm, gfns, count);
	srcu_read_unlock(&gvm->kvm->srcu, idx);
	return count;
}

void ghyvi_kvm_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	struct ghyvi_vm *gvm = ghyvi_vm_of(hv);
	int idx;

	if (!READ_ONCE(gvm->kvm))
		return;
	idx = srcu_read_lock(&gvm->kvm->srcu);
	ghyvi_tracked_put(&gvm->tracked, &track_ops, gvm->kvm, gfns, count);
	srcu_read_unlock(&gvm->kvm->srcu, idx);
}

#else /* !GHYVI_CAN_TRACK: all table pages stay relaxed */

bool ghyvi_kvm_can_track(void)
{
	return false;
}

int ghyvi_kvm_track_start(struct ghyvi_vm *gvm, struct kvm *kvm)
{
	if (kvm->mm != current->mm)
		return -ESRCH;
	kvm_get_kvm(kvm);
	return 0;
}

void ghyvi_kvm_track_stop(struct ghyvi_vm *gvm)
{
	kvm_put_kvm(detach_vm(gvm));
}

unsigned int ghyvi_kvm_protect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	return 0;
}

void ghyvi_kvm_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
}

#endif
