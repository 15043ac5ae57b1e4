// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write protection of guest pages through KVM page tracking.
 *
 * Lock order: kvm->slots_lock -> mm mutex -> kvm->srcu (read) -> kvm->mmu_lock -> xarray. KVM calls
 * stores_on_page() with kvm->srcu held for reading, and removal of a slot with kvm->slots_lock. Nothing under
 * the mm mutex waits for either, so both may take the mm mutex. What waits for srcu readers
 * (ghyvi_kvm_track_stop()) runs without it.
 */
#include "internal.h"

static struct kvm *leave_vm(struct ghyvi_kvm *kvm)
{
	struct kvm *vm = kvm->vm;

	spin_lock(&kvm->vm_lock);
	WRITE_ONCE(kvm->vm, NULL);
	spin_unlock(&kvm->vm_lock);
	return vm;
}

#if GHYVI_CAN_TRACK

/* Pages per hold of mmu_lock: vCPUs that fault wait for it. */
#define GHYVI_TRACK_BATCH 64

static struct ghyvi_kvm *node_owner(struct kvm_page_track_notifier_node *node)
{
	return container_of(node, struct ghyvi_kvm, node);
}

/* KVM reports all stores that it emulates, on anybody's pages; a store can touch two pages. */
static void stores_on_page(GHYVI_TRACK_WRITE_ARGS)
{
	struct ghyvi_kvm *kvm = node_owner(node);
	u64 first = gpa >> PAGE_SHIFT, last = (gpa + bytes - 1) >> PAGE_SHIFT;

	if (xa_load(&kvm->protected, first) ||
	    (last != first && xa_load(&kvm->protected, last)))
		kvm->events->store(kvm->owner, gpa, value, bytes);
}

/* Caller is in a read section of kvm->srcu. */
static struct kvm_memory_slot *usable_slot(struct kvm *vm, u64 gfn)
{
	struct kvm_memory_slot *slot = __gfn_to_memslot(kvm_memslots(vm), gfn);

	/* KVM marks a slot invalid, and waits for readers, before it reports that it goes away. */
	return slot && !(slot->flags & KVM_MEMSLOT_INVALID) ? slot : NULL;
}

#if GHYVI_TRACK_BY_SLOT

static void track_in_slot(struct kvm *vm, struct kvm_memory_slot *slot, u64 gfn, bool on)
{
	if (on)
		kvm_slot_page_track_add_page(vm, slot, gfn, KVM_PAGE_TRACK_WRITE);
	else
		kvm_slot_page_track_remove_page(vm, slot, gfn, KVM_PAGE_TRACK_WRITE);
}

/* The slot goes away, and KVM's counts with it; but that may still fail, so leave them balanced. */
static void slot_goes_away(struct kvm *vm, struct kvm_memory_slot *slot,
			   struct kvm_page_track_notifier_node *node)
{
	struct ghyvi_kvm *kvm = node_owner(node);
	unsigned long gfn, end = slot->base_gfn + slot->npages;
	void *entry;
	bool any = false;

	/* SMM's view of memory comes and goes by itself, and has none of our counts. */
	if (slot->as_id)
		return;
	xa_for_each_range(&kvm->protected, gfn, entry, slot->base_gfn, end - 1) {
		write_lock(&vm->mmu_lock);
		if (xa_erase(&kvm->protected, gfn))
			track_in_slot(vm, slot, gfn, false);
		write_unlock(&vm->mmu_lock);
		any = true;
	}
	if (any)
		kvm->events->lost(kvm->owner, slot->base_gfn, slot->npages);
}

/* Returns how many of the batch, from the first on, are protected now. */
static unsigned int protect_batch(struct ghyvi_kvm *kvm, const u64 *gfns, unsigned int count)
{
	struct kvm *vm = kvm->vm;
	struct kvm_memory_slot *slot;
	unsigned int i, reserved;
	int idx;

	idx = srcu_read_lock(&vm->srcu);
	for (reserved = 0; reserved < count; reserved++)
		if (xa_reserve(&kvm->protected, gfns[reserved], GFP_KERNEL))
			break;

	write_lock(&vm->mmu_lock);
	for (i = 0; i < reserved; i++) {
		if (xa_load(&kvm->protected, gfns[i]))
			continue;
		slot = usable_slot(vm, gfns[i]);
		if (!slot)
			break;
		/* Cannot fail: the place is reserved. */
		xa_store(&kvm->protected, gfns[i], xa_mk_value(1), GFP_NOWAIT);
		track_in_slot(vm, slot, gfns[i], true);
	}
	write_unlock(&vm->mmu_lock);
	srcu_read_unlock(&vm->srcu, idx);

	while (reserved > i)
		xa_release(&kvm->protected, gfns[--reserved]);
	return i;
}

static void unprotect_batch(struct ghyvi_kvm *kvm, const u64 *gfns, unsigned int count)
{
	struct kvm *vm = kvm->vm;
	struct kvm_memory_slot *slot;
	unsigned int i;
	int idx;

	idx = srcu_read_lock(&vm->srcu);
	write_lock(&vm->mmu_lock);
	for (i = 0; i < count; i++) {
		slot = gfn_to_memslot(vm, gfns[i]);
		if (xa_erase(&kvm->protected, gfns[i]) && slot)
			track_in_slot(vm, slot, gfns[i], false);
	}
	write_unlock(&vm->mmu_lock);
	srcu_read_unlock(&vm->srcu, idx);
}

static void set_callbacks(struct kvm_page_track_notifier_node *node)
{
	node->track_write = stores_on_page;
	node->track_flush_slot = slot_goes_away;
}

#else /* by frame number */

static void region_goes_away(gfn_t gfn, unsigned long count,
			     struct kvm_page_track_notifier_node *node)
{
	struct ghyvi_kvm *kvm = node_owner(node);
	unsigned long index;
	void *entry;
	bool any = false;

	/* Perhaps it goes from SMM's view of memory only, so that the count would stay: KVM does not tell. */
	xa_for_each_range(&kvm->protected, index, entry, gfn, gfn + count - 1) {
		if (xa_erase(&kvm->protected, index))
			kvm_write_track_remove_gfn(kvm->vm, index);
		any = true;
	}
	if (any)
		kvm->events->lost(kvm->owner, gfn, count);
}

static unsigned int protect_batch(struct ghyvi_kvm *kvm, const u64 *gfns, unsigned int count)
{
	unsigned int i;
	int idx;

	idx = srcu_read_lock(&kvm->vm->srcu);
	for (i = 0; i < count; i++) {
		if (xa_load(&kvm->protected, gfns[i]))
			continue;
		if (!usable_slot(kvm->vm, gfns[i]) ||
		    xa_err(xa_store(&kvm->protected, gfns[i], xa_mk_value(1), GFP_KERNEL)))
			break;
		if (kvm_write_track_add_gfn(kvm->vm, gfns[i])) {
			xa_erase(&kvm->protected, gfns[i]);
			break;
		}
	}
	srcu_read_unlock(&kvm->vm->srcu, idx);
	return i;
}

static void unprotect_batch(struct ghyvi_kvm *kvm, const u64 *gfns, unsigned int count)
{
	unsigned int i;

	/* KVM does not find the slot of a page that went away; its count went with the slot. */
	for (i = 0; i < count; i++)
		if (xa_erase(&kvm->protected, gfns[i]))
			kvm_write_track_remove_gfn(kvm->vm, gfns[i]);
}

static void set_callbacks(struct kvm_page_track_notifier_node *node)
{
	node->track_write = stores_on_page;
	node->track_remove_region = region_goes_away;
}

#endif

bool ghyvi_kvm_can_track(void)
{
	return true;
}

int ghyvi_kvm_track_start(struct ghyvi_kvm *kvm, struct kvm *vm)
{
	memset(&kvm->node, 0, sizeof(kvm->node));
	set_callbacks(&kvm->node);
	return ghyvi_track_register(vm, &kvm->node);
}

static void drop_leftovers(struct ghyvi_kvm *kvm)
{
	unsigned long index, count = 0;
	void *entry;

	xa_for_each(&kvm->protected, index, entry) {
		u64 gfn = index;

		unprotect_batch(kvm, &gfn, 1);
		count++;
	}
	if (count)
		ghyvi_report(kvm->reporter, "%lu pages were still protected when the VM left", count);
}

void ghyvi_kvm_track_stop(struct ghyvi_kvm *kvm)
{
	drop_leftovers(kvm);
	ghyvi_track_unregister(leave_vm(kvm), &kvm->node);
}

unsigned int ghyvi_kvm_protect(void *hv, const u64 *gfns, unsigned int count)
{
	struct ghyvi_kvm *kvm = hv;
	unsigned int done = 0, batch, protected;

	if (!READ_ONCE(kvm->vm))
		return 0;
	while (done < count) {
		batch = min_t(unsigned int, count - done, GHYVI_TRACK_BATCH);
		protected = protect_batch(kvm, gfns + done, batch);
		done += protected;
		if (protected < batch)
			break;
		cond_resched();
	}
	return done;
}

void ghyvi_kvm_unprotect(void *hv, const u64 *gfns, unsigned int count)
{
	struct ghyvi_kvm *kvm = hv;
	unsigned int done, batch;

	if (!READ_ONCE(kvm->vm))
		return;
	for (done = 0; done < count; done += batch) {
		batch = min_t(unsigned int, count - done, GHYVI_TRACK_BATCH);
		unprotect_batch(kvm, gfns + done, batch);
		cond_resched();
	}
}

#else /* !GHYVI_CAN_TRACK: every table page stays relaxed */

bool ghyvi_kvm_can_track(void)
{
	return false;
}

int ghyvi_kvm_track_start(struct ghyvi_kvm *kvm, struct kvm *vm)
{
	if (vm->mm != current->mm)
		return -ESRCH;
	kvm_get_kvm(vm);
	return 0;
}

void ghyvi_kvm_track_stop(struct ghyvi_kvm *kvm)
{
	kvm_put_kvm(leave_vm(kvm));
}

unsigned int ghyvi_kvm_protect(void *hv, const u64 *gfns, unsigned int count)
{
	return 0;
}

void ghyvi_kvm_unprotect(void *hv, const u64 *gfns, unsigned int count)
{
}

#endif
