// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mirror: pages of registers that the guest maps as memory. Reads cause no VM exit. The pages
 * are write-protected, so stores trap to KVM but need no round trip to the VMM. A page shows the
 * values of the register file. A store changes the shown value, is then executed as a register
 * write, and the resulting register value is shown again before the storing vCPU goes on.
 *
 * DOC: what other vCPUs see
 *
 * The values of the register file are the host's: no store changes them but through the function
 * that executes the write. A vCPU that reads while another one stores may see the stored value
 * before it is executed: bits that a register drops, the mask of a masked register, or the ones
 * that clear an interrupt. It is right when the storing vCPU goes on. Drivers serialise accesses to
 * such registers for the sake of hardware, where the result would be as undetermined.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "vgpu_types.h"

static u32 *shown_at(struct ghyvi_vgpu *vgpu, u32 offset)
{
	return &vgpu->shown[offset >> GHYVI_PAGE_SHIFT][offset % GHYVI_PAGE_BYTES / 4];
}

static bool is_engine_register(const struct ghyvi_vgpu *vgpu, u32 offset, u32 reg)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		if (offset == vgpu->engines[i].base + reg)
			return true;
	return false;
}

/*
 * Bits that an event sets and that the guest clears by writing ones. While the pages are not
 * protected, a store is detected only if it differs from the shown value. So these bits are shown
 * as 0 until then, and every store that has an effect differs. The guest sees no pending interrupt
 * meanwhile; vgpu_irq_remind() sends it again afterwards.
 */
static u32 event_bits(struct ghyvi_vgpu *vgpu, u32 offset)
{
	if (offset == GEN8_MASTER_IRQ)
		return ~(u32)GEN8_MASTER_IRQ_CONTROL;
	if (is_engine_register(vgpu, offset, RING_EIR))
		return ~0u;
	return offset >= GEN8_GT_ISR0 && offset <= GEN8_GT_IER3 &&
			       offset % GEN8_IRQ_BANK_SIZE == IRQ_IIR ?
		       ~0u :
		       0;
}

static u32 value_to_show(struct ghyvi_vgpu *vgpu, u32 offset)
{
	u32 value = vgpu_get(vgpu, offset);

	if (ghyvi_vgpu_failsafe(vgpu))
		return vgpu_failsafe_value(offset);
	if (!value || READ_ONCE(vgpu->mirror_caught_up))
		return value;
	return value & ~event_bits(vgpu, offset);
}

/*
 * Needs no lock: if another thread changes the value meanwhile, either this thread finds that and
 * shows the new value, or the other thread shows it afterwards.
 */
void vgpu_mirror_show(struct ghyvi_vgpu *vgpu, u32 offset)
{
	u32 value;

	do {
		value = value_to_show(vgpu, offset);
		WRITE_ONCE(*shown_at(vgpu, offset), value);
		smp_mb(); /* shown before the value is read again */
	} while (value_to_show(vgpu, offset) != value);
}

/*
 * Copy two registers that are one 64-bit clock, at once: a guest that reads the halves in any
 * order, and the first one again, finds out when they do not belong together. Only one thread
 * changes the clock at a time.
 */
void vgpu_mirror_show_clock(struct ghyvi_vgpu *vgpu, u32 offset)
{
	u64 *shown = (u64 *)shown_at(vgpu, offset);

	WRITE_ONCE(*shown, value_to_show(vgpu, offset) | (u64)value_to_show(vgpu, offset + 4)
								 << 32);
}

static void show_range(struct ghyvi_vgpu *vgpu, u32 first, u32 bytes)
{
	u32 offset;

	for (offset = first & ~3u; offset < first + bytes; offset += 4)
		vgpu_mirror_show(vgpu, offset);
}

static void set_caught_up(struct ghyvi_vgpu *vgpu, bool caught_up)
{
	unsigned long flags;
	unsigned int i;
	u32 offset;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	WRITE_ONCE(vgpu->mirror_caught_up, caught_up);
	smp_mb(); /* before the values are read; see vgpu_mirror_show() */
	for (offset = GEN8_MASTER_IRQ; offset <= GEN8_GT_IER3; offset += 4)
		if (event_bits(vgpu, offset))
			vgpu_mirror_show(vgpu, offset);
	for (i = 0; i < GHYVI_ENGINES; i++)
		vgpu_mirror_show(vgpu, vgpu->engines[i].base + RING_EIR);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

/*
 * Most registers are 0, and shown as 0: only the others need a look and a barrier each. Needs no
 * lock: a thread that changes the failsafe state shows all registers afterwards.
 */
void vgpu_mirror_show_all(struct ghyvi_vgpu *vgpu)
{
	bool failsafe = ghyvi_vgpu_failsafe(vgpu);
	u32 first, offset, *shown;
	unsigned int i;

	smp_mb(); /* the caller changed registers before the shown values are read */
	for (i = 0; i < vgpu->nr_tracked; i++) {
		first = vgpu->tracked[i] << GHYVI_PAGE_SHIFT;
		shown = shown_at(vgpu, first);
		for (offset = first; offset < first + GHYVI_PAGE_BYTES; offset += 4, shown++)
			if (failsafe || READ_ONCE(*shown) | vgpu_get(vgpu, offset))
				vgpu_mirror_show(vgpu, offset);
	}
}

/*
 * Forget the protection of pages that the hypervisor has reported as lost, unless the report is
 * about the former address of BAR 0. Caller holds vgpu->lock.
 */
static void forget_lost(struct ghyvi_vgpu *vgpu)
{
	unsigned int i;

	lockdep_assert_held(&vgpu->lock);
	for (i = 0; i < vgpu->nr_tracked; i++)
		if (xchg(&vgpu->tracked_lost[i], 0) == vgpu->bar0_gfn + vgpu->tracked[i])
			vgpu->tracked_protected[i] = false;
}

void vgpu_mirror_move(struct ghyvi_vgpu *vgpu, u64 gpa)
{
	const struct ghyvi_vgpu_params *params = &vgpu->params;
	unsigned int i;
	u64 gfn;

	lockdep_assert_held(&vgpu->lock);
	/* Do this first: a store right after the end of the protection must already differ. */
	set_caught_up(vgpu, false);
	forget_lost(vgpu);
	for (i = 0; i < vgpu->nr_tracked; i++) {
		gfn = vgpu->bar0_gfn + vgpu->tracked[i];
		if (vgpu->tracked_protected[i])
			params->hv->ops->unprotect(params->hv, &gfn, 1);
		vgpu->tracked_protected[i] = false;
	}
	WRITE_ONCE(vgpu->bar0_gfn,
		   gpa == GHYVI_BAR_UNMAPPED ? GHYVI_INVALID_GFN : gpa >> GHYVI_PAGE_SHIFT);
}

/*
 * Execute stores that were missed before the pages were protected: they differ from the shown
 * value. A store to a submit port is dropped: of the four of a submission, only the last one is
 * left, and the guest could never complete a submission that began with it. One invalidation stands
 * for all, since it costs a scan of each relaxed table page.
 */
static void mirror_replay_missed_writes(struct ghyvi_vgpu *vgpu)
{
	u32 first, offset, value, invalidation = 0;
	unsigned int i;

	lockdep_assert_held(&vgpu->live_lock);

	for (i = 0; i < vgpu->nr_tracked; i++) {
		first = vgpu->tracked[i] << GHYVI_PAGE_SHIFT;
		for (offset = first; offset < first + GHYVI_PAGE_BYTES; offset += 4) {
			value = READ_ONCE(*shown_at(vgpu, offset));
			if (value == value_to_show(vgpu, offset))
				continue;
			if (value && vgpu_register_invalidates(vgpu, offset))
				invalidation = offset;
			else if (!is_engine_register(vgpu, offset, RING_ELSP))
				vgpu_register_write(vgpu, offset, value, 4);
			show_range(vgpu, offset, 4);
		}
	}
	if (invalidation)
		vgpu_register_write(vgpu, invalidation, 1, 4);
	set_caught_up(vgpu, true);
}

/*
 * Protect the pages that are not. The hypervisor fails where the VMM did not map a page; each
 * access to that page traps through VFIO then. Sets @fresh if it protected a page. Returns true if
 * all are protected. Caller holds vgpu->lock.
 */
static bool protect_pages(struct ghyvi_vgpu *vgpu, bool *fresh)
{
	const struct ghyvi_vgpu_params *params = &vgpu->params;
	bool all = true;
	unsigned int i;
	u64 gfn;

	lockdep_assert_held(&vgpu->lock);
	for (i = 0; i < vgpu->nr_tracked; i++) {
		if (vgpu->tracked_protected[i])
			continue;
		gfn = vgpu->bar0_gfn + vgpu->tracked[i];
		vgpu->tracked_protected[i] = params->hv->ops->protect(params->hv, &gfn, 1) == 1;
		*fresh |= vgpu->tracked_protected[i];
		all &= vgpu->tracked_protected[i];
	}
	return all;
}

/*
 * Protect pages, and execute the stores that were missed, if all pages are protected, or if the BAR
 * is @proven to be mapped. Returns true if all pages are protected, or need not be.
 */
static bool mirror_live(struct ghyvi_vgpu *vgpu, bool proven)
{
	bool all = true, fresh = false, replay;

	mutex_lock(&vgpu->live_lock); /* a missed store must be executed once */
	mutex_lock(&vgpu->lock);
	forget_lost(vgpu);
	if (vgpu->remap && !vgpu->failsafe && vgpu->bar0_gfn != GHYVI_INVALID_GFN)
		all = protect_pages(vgpu, &fresh);
	mutex_unlock(&vgpu->lock);
	replay = (all || proven) && (fresh || !READ_ONCE(vgpu->mirror_caught_up));
	if (replay)
		mirror_replay_missed_writes(vgpu);
	mutex_unlock(&vgpu->live_lock);
	if (replay)
		vgpu_irq_remind(vgpu);
	return all;
}

void vgpu_mirror_live(struct ghyvi_vgpu *vgpu)
{
	mirror_live(vgpu, true);
}

bool ghyvi_vgpu_try_remap(struct ghyvi_vgpu *vgpu)
{
	struct ghyvi_hv_charge charge;
	bool moved, all;

	/* In a worker: a store that was missed may sync all trees. */
	vgpu_charge(vgpu, &charge);
	/* Clear it first: what is lost meanwhile sets it again. */
	moved = xchg(&vgpu->bar_moved, 0);
	all = mirror_live(vgpu, false);
	if (moved && all)
		ghyvi_gtt_ggtt_live(vgpu->gtt);
	else if (moved)
		WRITE_ONCE(vgpu->bar_moved, 1);
	vgpu_uncharge(vgpu, &charge);
	return all;
}

/*
 * KVM's callback: the caller is in a read-side critical section of kvm->srcu, in which an update of
 * the memslots waits for it, but holds no lock of KVM that this code takes. A store to a submit
 * port may pin guest pages, as one to a table page may. It prepares work of this vGPU only, see
 * ghyvi_sched_kick().
 */
static void mirror_store(struct ghyvi_vgpu *vgpu, u32 first, const void *data, unsigned int bytes)
{
	bool replaying = !READ_ONCE(vgpu->mirror_caught_up);
	unsigned int done, part;
	unsigned long flags;

	ghyvi_count(vgpu->params.stats, mmio_stores);
	/*
	 * The replay of missed stores may have read an older value of the register. It executes
	 * that before this one. If it finds this store in the page, the store is executed twice.
	 * That is as good as once, also for a store that clears events: the vCPU that stores goes
	 * on after the second time only. So to the guest, an event between the two came before its
	 * store, and hardware would clear it as well.
	 */
	if (replaying)
		mutex_lock(&vgpu->live_lock);
	for (done = 0; done < bytes; done += part) {
		u64 value = 0; /* little endian, like the guest */

		part = ghyvi_access_bytes(first + done, bytes - done);
		memcpy(&value, data + done, part);
		vgpu_register_write(vgpu, first + done, value, part);
	}
	show_range(vgpu, first, bytes);
	if (replaying)
		mutex_unlock(&vgpu->live_lock);
	/*
	 * Once per tick is enough: the event that ends the work of this store shows the clock
	 * again. A pGPU may have to read registers for it.
	 */
	if (READ_ONCE(vgpu->clock_used))
		return;
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	vgpu_show_clock(vgpu);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

/* KVM reports a store that crosses a page boundary once per page. */
void ghyvi_vgpu_store(struct ghyvi_vgpu *vgpu, u64 gpa, const void *data, unsigned int bytes)
{
	u64 bar0 = READ_ONCE(vgpu->bar0_gfn), page = (gpa >> GHYVI_PAGE_SHIFT) - bar0;
	u32 in_page = gpa & (GHYVI_PAGE_BYTES - 1);

	if (bar0 != GHYVI_INVALID_GFN && page < GHYVI_REGISTER_PAGES && vgpu->shown[page])
		mirror_store(vgpu, (page << GHYVI_PAGE_SHIFT) + in_page, data,
			     min_t(u32, bytes, GHYVI_PAGE_BYTES - in_page));
	else
		ghyvi_gtt_trap(vgpu->gtt, gpa, bytes);
}

void ghyvi_vgpu_protection_lost(struct ghyvi_vgpu *vgpu, u64 gfn, u64 count)
{
	u64 bar0 = READ_ONCE(vgpu->bar0_gfn);
	bool lost = false;
	unsigned int i;
	u64 page;

	/*
	 * KVM removes a slot after all stores to it. A later store, through a new slot, is compared
	 * with the values that are shown from here on. The BAR may move meanwhile, and its pages be
	 * protected at the new address.
	 */
	for (i = 0; bar0 != GHYVI_INVALID_GFN && i < vgpu->nr_tracked; i++) {
		page = bar0 + vgpu->tracked[i];
		if (page < gfn || page - gfn >= count)
			continue;
		if (!lost)
			set_caught_up(vgpu, false);
		lost = true;
		WRITE_ONCE(vgpu->tracked_lost[i], page);
	}
	if (lost)
		WRITE_ONCE(vgpu->bar_moved, 1);
	ghyvi_gtt_protection_lost(vgpu->gtt, gfn, count);
}

void *ghyvi_vgpu_register_page(struct ghyvi_vgpu *vgpu, u32 offset)
{
	switch (ghyvi_bar_class(offset)) {
	case GHYVI_BAR_TRACKED:
		return shown_at(vgpu, offset & GHYVI_PAGE_MASK);
	case GHYVI_BAR_DIRECT:
		return &vgpu->registers[(offset & GHYVI_PAGE_MASK) / 4];
	default:
		return NULL;
	}
}

int vgpu_mirror_create(struct ghyvi_vgpu *vgpu)
{
	unsigned int i, n = 0;

	for (i = 0; i < GHYVI_REGISTER_PAGES; i++)
		n += ghyvi_bar_class(i << GHYVI_PAGE_SHIFT) == GHYVI_BAR_TRACKED;
	if (WARN_ON(n > ARRAY_SIZE(vgpu->tracked)))
		return -EINVAL;
	vgpu->shown_memory = vmalloc_user(n * GHYVI_PAGE_BYTES);
	if (!vgpu->shown_memory)
		return -ENOMEM;
	for (i = 0; i < GHYVI_REGISTER_PAGES; i++) {
		if (ghyvi_bar_class(i << GHYVI_PAGE_SHIFT) != GHYVI_BAR_TRACKED)
			continue;
		vgpu->shown[i] = vgpu->shown_memory + vgpu->nr_tracked * GHYVI_PAGE_BYTES;
		vgpu->tracked[vgpu->nr_tracked++] = i;
	}
	vgpu->bar0_gfn = GHYVI_INVALID_GFN;
	mutex_init(&vgpu->live_lock);
	return 0;
}

void ghyvi_vgpu_set_remap(struct ghyvi_vgpu *vgpu, bool on)
{
	mutex_lock(&vgpu->lock);
	WRITE_ONCE(vgpu->remap, on);
	mutex_unlock(&vgpu->lock);
}

bool ghyvi_vgpu_remap(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->remap);
}

bool ghyvi_vgpu_tick(struct ghyvi_vgpu *vgpu)
{
	unsigned long flags;
	bool used;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	used = vgpu->clock_used;
	vgpu_show_clock(vgpu);
	WRITE_ONCE(vgpu->clock_used, false);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	return used;
}

void vgpu_mirror_destroy(struct ghyvi_vgpu *vgpu)
{
	vfree(vgpu->shown_memory);
	mutex_destroy(&vgpu->live_lock);
}
