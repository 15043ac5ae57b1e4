// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mirror: a page of registers that the guest maps as memory. Reads cause no VM exit. The page
 * is write-protected, so stores trap to KVM but need no round trip to the VMM. The page shows the
 * values of the register file. A store changes the shown value, is then executed as a register
 * write, and the resulting register value is shown again.
 */
#include <linux/string.h>
#include "vgpu_types.h"

static u32 *shown_at(struct ghyvi_vgpu *vgpu, u32 offset)
{
	return &vgpu->mirror[(offset - GHYVI_MIRROR_OFFSET) / 4];
}

/*
 * Bits that an event sets and that the guest clears by writing ones. While the page is not
 * protected, a store is detected only if it differs from the shown value. So these bits are shown
 * as 0 until then, and every store that has an effect differs. The guest sees no pending interrupt
 * meanwhile; vgpu_irq_remind() sends it again afterwards.
 */
static u32 event_bits(u32 offset)
{
	if (offset == GEN8_MASTER_IRQ)
		return ~(u32)GEN8_MASTER_IRQ_CONTROL;
	return offset >= GEN8_GT_ISR0 && offset <= GEN8_GT_IER3 &&
			       offset % GEN8_IRQ_BANK_SIZE == IRQ_IIR ?
		       ~0u :
		       0;
}

/* Caller holds irq_lock if @offset is an interrupt register. */
static u32 value_to_show(struct ghyvi_vgpu *vgpu, u32 offset)
{
	u32 value = vgpu_get(vgpu, offset);

	if (ghyvi_vgpu_failsafe(vgpu))
		return vgpu_failsafe_value(offset);
	return vgpu->mirror_caught_up ? value : value & ~event_bits(offset);
}

void vgpu_mirror_show(struct ghyvi_vgpu *vgpu, u32 offset)
{
	WRITE_ONCE(*shown_at(vgpu, offset), value_to_show(vgpu, offset));
}

static void show_range(struct ghyvi_vgpu *vgpu, u32 first, u32 bytes)
{
	unsigned long flags;
	u32 offset;

	for (offset = first & ~3u; offset < first + bytes; offset += 4) {
		spin_lock_irqsave(&vgpu->irq_lock, flags);
		vgpu_mirror_show(vgpu, offset);
		spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	}
}

static void set_caught_up(struct ghyvi_vgpu *vgpu, bool caught_up)
{
	unsigned long flags;
	u32 offset;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	vgpu->mirror_caught_up = caught_up;
	for (offset = GHYVI_MIRROR_OFFSET; vgpu_in_mirror(offset); offset += 4)
		if (event_bits(offset))
			vgpu_mirror_show(vgpu, offset);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

void vgpu_mirror_show_all(struct ghyvi_vgpu *vgpu)
{
	show_range(vgpu, GHYVI_MIRROR_OFFSET, GHYVI_MIRROR_BYTES);
}

/*
 * Test whether the page is protected, as far as the hypervisor has reported. Caller holds
 * vgpu->lock.
 */
static bool is_protected(struct ghyvi_vgpu *vgpu)
{
	lockdep_assert_held(&vgpu->lock);
	if (xchg(&vgpu->mirror_lost, 0))
		vgpu->mirror_protected = false;
	return vgpu->mirror_protected;
}

void vgpu_mirror_move(struct ghyvi_vgpu *vgpu, u64 gpa)
{
	const struct ghyvi_vgpu_params *params = &vgpu->params;

	lockdep_assert_held(&vgpu->lock);
	/* Do this first: a store right after the end of the protection must already differ. */
	set_caught_up(vgpu, false);
	if (is_protected(vgpu))
		params->hv->ops->unprotect(params->hv, &vgpu->mirror_gfn, 1);
	vgpu->mirror_protected = false;
	WRITE_ONCE(vgpu->mirror_gfn, gpa == GHYVI_BAR_UNMAPPED ?
					     GHYVI_INVALID_GFN :
					     (gpa + GHYVI_MIRROR_OFFSET) >> GHYVI_PAGE_SHIFT);
}

/*
 * Execute stores that were missed before the page was protected: they differ from the shown value.
 */
static void mirror_replay_missed_writes(struct ghyvi_vgpu *vgpu)
{
	unsigned long flags;
	u32 offset, value;
	bool stored;

	for (offset = GHYVI_MIRROR_OFFSET; vgpu_in_mirror(offset); offset += 4) {
		spin_lock_irqsave(&vgpu->irq_lock, flags);
		value = READ_ONCE(*shown_at(vgpu, offset));
		stored = value != value_to_show(vgpu, offset);
		spin_unlock_irqrestore(&vgpu->irq_lock, flags);
		if (stored) {
			ghyvi_vgpu_register_write(vgpu, offset, value, 4);
			show_range(vgpu, offset, 4);
		}
	}
	set_caught_up(vgpu, true);
}

/* Returns false if the page cannot be protected, because the VMM has not mapped it. */
static bool protect_mirror(struct ghyvi_vgpu *vgpu)
{
	const struct ghyvi_vgpu_params *params = &vgpu->params;
	bool protected;

	mutex_lock(&vgpu->lock);
	if (!is_protected(vgpu) && !vgpu->failsafe && vgpu->mirror_gfn != GHYVI_INVALID_GFN)
		vgpu->mirror_protected =
			params->hv->ops->protect(params->hv, &vgpu->mirror_gfn, 1) == 1;
	protected = vgpu->mirror_protected;
	mutex_unlock(&vgpu->lock);
	return protected;
}

void vgpu_mirror_live(struct ghyvi_vgpu *vgpu)
{
	protect_mirror(vgpu); /* else every access traps through VFIO */
	mirror_replay_missed_writes(vgpu);
	vgpu_irq_remind(vgpu);
}

void vgpu_mirror_resume(struct ghyvi_vgpu *vgpu)
{
	if (READ_ONCE(vgpu->bar_moved) && protect_mirror(vgpu))
		mirror_replay_missed_writes(vgpu);
}

static void mirror_store(struct ghyvi_vgpu *vgpu, u32 first, const void *data, unsigned int bytes)
{
	unsigned int done, part;

	for (done = 0; done < bytes; done += part) {
		u64 value = 0; /* little endian, like the guest */

		part = ghyvi_access_bytes(first + done, bytes - done);
		memcpy(&value, data + done, part);
		ghyvi_vgpu_register_write(vgpu, first + done, value, part);
	}
	show_range(vgpu, first, bytes);
}

/* KVM reports a store that crosses a page boundary once per page. */
void ghyvi_vgpu_store(struct ghyvi_vgpu *vgpu, u64 gpa, const void *data, unsigned int bytes)
{
	u32 in_page = gpa & (GHYVI_PAGE_BYTES - 1);

	if (gpa >> GHYVI_PAGE_SHIFT == READ_ONCE(vgpu->mirror_gfn))
		mirror_store(vgpu, GHYVI_MIRROR_OFFSET + in_page, data,
			     min_t(u32, bytes, GHYVI_PAGE_BYTES - in_page));
	else
		ghyvi_gtt_trap(vgpu->gtt, gpa, bytes);
}

void ghyvi_vgpu_protection_lost(struct ghyvi_vgpu *vgpu, u64 gfn, u64 count)
{
	u64 mirror = READ_ONCE(vgpu->mirror_gfn);

	/*
	 * KVM removes a slot after all stores to it. A later store, through a new slot, is compared
	 * with the values that are shown from here on.
	 */
	if (mirror >= gfn && mirror - gfn < count) {
		set_caught_up(vgpu, false);
		WRITE_ONCE(vgpu->mirror_lost, 1);
		WRITE_ONCE(vgpu->bar_moved, 1);
	}
	ghyvi_gtt_protection_lost(vgpu->gtt, gfn, count);
}

void *ghyvi_vgpu_mirror(struct ghyvi_vgpu *vgpu)
{
	return vgpu->mirror;
}
