// SPDX-License-Identifier: GPL-2.0-only
/*
 * The register file: storage, with reset value 0 unless the device profile says otherwise.
 *
 * The mirror: pages of registers that the guest maps as memory. Reads cause no VM exit. The pages
 * are write-protected, so stores trap to KVM but need no round trip to the VMM. A page shows the
 * values of the register file. A store changes the shown value, is then executed as a register
 * write (mmio.c), and the resulting register value is shown again before the storing vCPU goes on.
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
#include <linux/math64.h>
#include <linux/vmalloc.h>
#include "vgpu_types.h"

/*
 * The upper half of a value written to a masked register selects the bits of the lower half that
 * change.
 */
u32 vgpu_masked(u32 old, u32 value)
{
	u32 mask = value >> 16;

	return (old & ~mask & 0xffff) | (value & mask);
}

static u32 *shown_at(struct ghyvi_vgpu *vgpu, u32 offset)
{
	return &vgpu->shown[offset >> GHYVI_PAGE_SHIFT][offset % GHYVI_PAGE_BYTES / 4];
}

static bool is_eir(const struct ghyvi_vgpu *vgpu, u32 offset)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		if (offset == vgpu->engines[i].base + RING_EIR)
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
	if (is_eir(vgpu, offset))
		return ~0u;
	if (offset % GEN8_IRQ_BANK_SIZE != IRQ_IIR)
		return 0;
	return (offset >= GEN8_GT_ISR0 && offset <= GEN8_GT_IER3) ||
			       (offset >= GEN8_DE_PIPE_ISR_A && offset <= DISPLAY_IRQ_LAST) ?
		       ~0u :
		       0;
}

static u32 value_to_show(struct ghyvi_vgpu *vgpu, u32 offset)
{
	u32 value = vgpu_get(vgpu, offset);

	if (vgpu_is_failsafe(vgpu))
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
static void show_clock(struct ghyvi_vgpu *vgpu, u32 offset)
{
	u64 *shown = (u64 *)shown_at(vgpu, offset);

	WRITE_ONCE(*shown, value_to_show(vgpu, offset) | (u64)value_to_show(vgpu, offset + 4)
								 << 32);
}

u64 vgpu_timestamp(struct ghyvi_vgpu *vgpu)
{
	u64 ticks = vgpu->params.pgpu->ops->timestamp(vgpu->params.pgpu);
	u32 hz = vgpu->params.profile->timestamp_hz;

	/* GHYVI_CLOCK_STEP_NS is a whole number of ticks. */
	ticks += (u64)((s64)READ_ONCE(vgpu->clock_offset_ns) / GHYVI_CLOCK_STEP_NS *
		       (vgpu->timestamp_hz / (s64)(NSEC_PER_SEC / GHYVI_CLOCK_STEP_NS)));
	if (vgpu->timestamp_hz != hz)
		ticks = mul_u64_u32_div(ticks, hz, vgpu->timestamp_hz);
	return ticks & GENMASK_ULL(TIMESTAMP_BITS - 1, 0);
}

void vgpu_show_clock(struct ghyvi_vgpu *vgpu)
{
	unsigned int i;
	u64 ticks;
	u32 offset;

	lockdep_assert_held(&vgpu->irq_lock);
	if (!vgpu->remap)
		return;
	WRITE_ONCE(vgpu->clock_used, true);
	ticks = vgpu_timestamp(vgpu); /* under the lock, so that the registers never go backwards */
	for (i = 0; i < GHYVI_ENGINES; i++) {
		offset = vgpu->engines[i].base + RING_TIMESTAMP;
		WRITE_ONCE(vgpu->registers[offset / 4], lower_32_bits(ticks));
		WRITE_ONCE(vgpu->registers[offset / 4 + 1], upper_32_bits(ticks));
		show_clock(vgpu, offset);
	}
}

void vgpu_mirror_set_caught_up(struct ghyvi_vgpu *vgpu, bool caught_up)
{
	unsigned long flags;
	unsigned int i;
	u32 offset;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	WRITE_ONCE(vgpu->mirror_caught_up, caught_up);
	smp_mb(); /* before the values are read; see vgpu_mirror_show() */
	for (offset = GEN8_MASTER_IRQ; offset <= DISPLAY_IRQ_LAST; offset += 4)
		if (event_bits(vgpu, offset))
			vgpu_mirror_show(vgpu, offset);
	for (i = 0; i < GHYVI_ENGINES; i++)
		vgpu_mirror_show(vgpu, vgpu->engines[i].base + RING_EIR);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

bool vgpu_mirror_missed(struct ghyvi_vgpu *vgpu, u32 offset, u32 *value)
{
	*value = READ_ONCE(*shown_at(vgpu, offset));
	return *value != value_to_show(vgpu, offset);
}

/*
 * Most registers are 0, and shown as 0: only the others need a look and a barrier each. Needs no
 * lock: a thread that changes the failsafe state shows all registers afterwards.
 */
void vgpu_mirror_show_all(struct ghyvi_vgpu *vgpu)
{
	bool failsafe = vgpu_is_failsafe(vgpu);
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

static void mirror_move(struct ghyvi_vgpu *vgpu, u64 gpa)
{
	const struct ghyvi_vgpu_params *params = &vgpu->params;
	unsigned int i;
	u64 gfn;

	lockdep_assert_held(&vgpu->lock);
	/* Do this first: a store right after the end of the protection must already differ. */
	vgpu_mirror_set_caught_up(vgpu, false);
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

void vgpu_place_ggtt(struct ghyvi_vgpu *vgpu)
{
	bool mapped = vgpu->bar0 != GHYVI_BAR_UNMAPPED;
	u64 table = vgpu->bar0 + GHYVI_GGTT_OFFSET;

	lockdep_assert_held(&vgpu->lock);
	ghyvi_gtt_set_ggtt_gfn(vgpu->gtt, mapped ? table >> GHYVI_PAGE_SHIFT : GHYVI_INVALID_GFN);
	WRITE_ONCE(vgpu->bar_moved, mapped);
}

void ghyvi_vgpu_set_bar0(struct ghyvi_vgpu *vgpu, u64 gpa)
{
	mutex_lock(&vgpu->lock);
	vgpu->bar0 = gpa;
	if (!vgpu->failsafe)
		vgpu_place_ggtt(vgpu);
	mirror_move(vgpu, gpa);
	mutex_unlock(&vgpu->lock);
}

/* The hypervisor fails where the VMM mapped no page; then each access to it traps through VFIO. */
bool vgpu_mirror_protect(struct ghyvi_vgpu *vgpu, bool *fresh)
{
	const struct ghyvi_vgpu_params *params = &vgpu->params;
	bool all = true;
	unsigned int i;
	u64 gfn;

	lockdep_assert_held(&vgpu->lock);
	*fresh = false;
	forget_lost(vgpu);
	/* While points drain, a store to one of the pages may end failsafe state. */
	if (!vgpu->remap || (vgpu->failsafe && !vgpu->failsafe_drains) ||
	    vgpu->bar0_gfn == GHYVI_INVALID_GFN)
		return true;
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
			vgpu_mirror_set_caught_up(vgpu, false);
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

bool ghyvi_vgpu_get_remap(const struct ghyvi_vgpu *vgpu)
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
