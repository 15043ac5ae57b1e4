// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mirror: a page of registers that the guest reads as memory, without an exit, and whose stores are caught by write
 * protection, without a round trip to the VMM. It shows what the register file holds; a store changes what is shown, then
 * acts as a register write, and what the register holds afterwards is shown again.
 */
#include <linux/module.h>
#include <linux/string.h>
#include "vgpu_types.h"

static u32 *shown_at(struct ghyvi_vgpu *vgpu, u32 offset)
{
	return &vgpu->mirror[(offset - GHYVI_MIRROR_OFFSET) / 4];
}

void vgpu_mirror_show(struct ghyvi_vgpu *vgpu, u32 offset)
{
	u32 value = ghyvi_vgpu_failsafe(vgpu) ? ~0u : vgpu_get(vgpu, offset);

	WRITE_ONCE(*shown_at(vgpu, offset), value);
}

static void show_range(struct ghyvi_vgpu *vgpu, u32 first, u32 bytes)
{
	u32 offset;

	for (offset = first & ~3u; offset < first + bytes; offset += 4) {
		spin_lock(&vgpu->irq_lock);
		vgpu_mirror_show(vgpu, offset);
		spin_unlock(&vgpu->irq_lock);
	}
}

void vgpu_mirror_show_all(struct ghyvi_vgpu *vgpu)
{
	show_range(vgpu, GHYVI_MIRROR_OFFSET, GHYVI_MIRROR_BYTES);
}

void vgpu_mirror_move(struct ghyvi_vgpu *vgpu, u64 gpa)
{
	const struct ghyvi_vgpu_params *params = &vgpu->params;

	lockdep_assert_held(&vgpu->lock);
	if (vgpu->mirror_protected)
		params->hv_ops->unprotect(params->hv, &vgpu->mirror_gfn, 1);
	vgpu->mirror_protected = false;
	WRITE_ONCE(vgpu->mirror_gfn, gpa == GHYVI_BAR_UNMAPPED ?
					     GHYVI_INVALID_GFN :
					     (gpa + GHYVI_MIRROR_OFFSET) >> GHYVI_PAGE_SHIFT);
}

/* What the guest stored before the page was protected shows as a difference. */
static void catch_up(struct ghyvi_vgpu *vgpu)
{
	u32 offset, value;
	bool stored;

	for (offset = GHYVI_MIRROR_OFFSET; vgpu_in_mirror(offset); offset += 4) {
		spin_lock(&vgpu->irq_lock);
		value = READ_ONCE(*shown_at(vgpu, offset));
		stored = value != vgpu_get(vgpu, offset);
		spin_unlock(&vgpu->irq_lock);
		if (stored) {
			ghyvi_vgpu_register_write(vgpu, offset, value, 4);
			show_range(vgpu, offset, 4);
		}
	}
}

void vgpu_mirror_live(struct ghyvi_vgpu *vgpu)
{
	const struct ghyvi_vgpu_params *params = &vgpu->params;

	mutex_lock(&vgpu->lock);
	/* Fails where the VMM did not map it: then every access is a trapped one. */
	if (!vgpu->failsafe && vgpu->mirror_gfn != GHYVI_INVALID_GFN)
		vgpu->mirror_protected =
			params->hv_ops->protect(params->hv, &vgpu->mirror_gfn, 1) == 1;
	mutex_unlock(&vgpu->lock);
	catch_up(vgpu);
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

/* KVM reports a store that crosses pages once for each. */
void ghyvi_vgpu_store(struct ghyvi_vgpu *vgpu, u64 gpa, const void *data, unsigned int bytes)
{
	u32 in_page = gpa & (GHYVI_PAGE_BYTES - 1);

	if (gpa >> GHYVI_PAGE_SHIFT == READ_ONCE(vgpu->mirror_gfn))
		mirror_store(vgpu, GHYVI_MIRROR_OFFSET + in_page, data,
			     min_t(u32, bytes, GHYVI_PAGE_BYTES - in_page));
	else
		ghyvi_mm_trap(vgpu->mm, gpa, bytes);
}
EXPORT_SYMBOL_GPL(ghyvi_vgpu_store);

void ghyvi_vgpu_protection_lost(struct ghyvi_vgpu *vgpu, u64 gfn, u64 count)
{
	u64 mirror = READ_ONCE(vgpu->mirror_gfn);

	if (mirror >= gfn && mirror - gfn < count)
		WRITE_ONCE(vgpu->bar_moved, 1);
	ghyvi_mm_protection_lost(vgpu->mm, gfn, count);
}
EXPORT_SYMBOL_GPL(ghyvi_vgpu_protection_lost);

void *ghyvi_vgpu_mirror(struct ghyvi_vgpu *vgpu)
{
	return vgpu->mirror;
}
EXPORT_SYMBOL_GPL(ghyvi_vgpu_mirror);
