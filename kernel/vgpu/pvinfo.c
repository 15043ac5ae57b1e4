// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PVINFO page. From it the guest driver learns that its GPU is virtual and which partition of
 * the GGTT it owns. Through it the driver notifies the host when it creates and destroys page
 * tables.
 */
#include <linux/err.h>
#include <ghyvi/multicall.h>
#include "vgpu_types.h"

#define PVINFO_VERSION_MAJOR 1
/* A number of the host would change when the vGPU moves. i915 does not read it. */
#define PVINFO_ID_OF_ALL 1

void vgpu_pvinfo_reset(struct ghyvi_vgpu *vgpu)
{
	const struct ghyvi_vgpu_params *p = &vgpu->params;
	/*
	 * The guest driver checks that the mappable range lies in the aperture even if it is empty.
	 */
	u32 mappable = p->mappable.bytes ? (u32)p->mappable.start : 0;
	u32 mappable_bytes = (u32)p->mappable.bytes;

	/*
	 * i915 prefers the mappable range for what it shows, and writes its console through the
	 * aperture then. Each of these stores traps where the aperture cannot be mapped. Without
	 * the range, i915 writes it as memory, but a program that maps an object through the GTT
	 * hangs: i915 tries again and again to find a place for it.
	 */
	if (vgpu->display.on && p->aperture_copied.bytes)
		mappable_bytes = 0;

	vgpu_set(vgpu, PVINFO_MAGIC_LO, lower_32_bits(VGT_MAGIC));
	vgpu_set(vgpu, PVINFO_MAGIC_HI, upper_32_bits(VGT_MAGIC));
	vgpu_set(vgpu, PVINFO_VERSION, PVINFO_VERSION_MAJOR);
	vgpu_set(vgpu, PVINFO_ID, PVINFO_ID_OF_ALL);
	vgpu_set(vgpu, PVINFO_CAPS,
		 VGT_CAPS_FULL_PPGTT | VGT_CAPS_HWSP_EMULATION |
			 (p->profile->gen >= 9 ? VGT_CAPS_HUGE_GTT : 0) |
			 (vgpu->multicall ? GHYVI_CAPS_MULTICALL : 0));
	vgpu_set(vgpu, PVINFO_MAPPABLE_BASE, mappable);
	vgpu_set(vgpu, PVINFO_MAPPABLE_BYTES, mappable_bytes);
	vgpu_set(vgpu, PVINFO_HIDDEN_BASE, (u32)p->hidden.start);
	vgpu_set(vgpu, PVINFO_HIDDEN_BYTES, (u32)p->hidden.bytes);
	vgpu_set(vgpu, PVINFO_FENCES, 0);
}

/* The value of a pair of registers, of which @low is the lower one. */
static u64 get_pair(struct ghyvi_vgpu *vgpu, u32 low)
{
	return vgpu_get(vgpu, low) | (u64)vgpu_get(vgpu, low + 4) << 32;
}

static void g2v_multicall(struct ghyvi_vgpu *vgpu, u32 count)
{
	u64 gpa = get_pair(vgpu, PVINFO_MULTICALL_LO);
	u32 applied;
	int err = ghyvi_gtt_multicall(vgpu->gtt, gpa, count, &applied);

	if (err)
		ghyvi_report(
			vgpu->params.reporter,
			"multicall: %u of %u entries applied, records at guest address 0x%llx (error %d)",
			applied, count, (unsigned long long)gpa, err);
	vgpu_unpin_if_failsafe(vgpu); /* another vCPU may have caused it */
}

static void g2v_notify(struct ghyvi_vgpu *vgpu, u32 message)
{
	struct ghyvi_root *root;
	unsigned int levels;
	u64 gpa[4];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gpa); i++)
		gpa[i] = get_pair(vgpu, PVINFO_PDP0_LO + 8 * i);
	if (vgpu->multicall && (message & ~GHYVI_MULTICALL_COUNT) == GHYVI_G2V_MULTICALL) {
		g2v_multicall(vgpu, message & GHYVI_MULTICALL_COUNT);
		return;
	}
	levels = message == VGT_G2V_PPGTT_L3_PAGE_TABLE_CREATE ||
				 message == VGT_G2V_PPGTT_L3_PAGE_TABLE_DESTROY ?
			 3 :
			 4;

	switch (message) {
	case VGT_G2V_PPGTT_L3_PAGE_TABLE_CREATE:
	case VGT_G2V_PPGTT_L4_PAGE_TABLE_CREATE:
		/* Only a hint: loading a context with an unknown root creates its tree as well. */
		root = ghyvi_gtt_get_root(vgpu->gtt, gpa, levels);
		if (IS_ERR(root))
			ghyvi_report(vgpu->params.reporter,
				     "page tables at guest address 0x%llx not accepted (error %ld)",
				     (unsigned long long)gpa[0], PTR_ERR(root));
		else
			ghyvi_gtt_put_root(root);
		vgpu_unpin_if_failsafe(vgpu); /* another vCPU may have caused it */
		break;
	case VGT_G2V_PPGTT_L3_PAGE_TABLE_DESTROY:
	case VGT_G2V_PPGTT_L4_PAGE_TABLE_DESTROY:
		ghyvi_gtt_forget_root(vgpu->gtt, gpa, levels);
		break;
	case VGT_G2V_EXECLIST_CONTEXT_CREATE:
	case VGT_G2V_EXECLIST_CONTEXT_DESTROY:
		break; /* contexts are read when they are submitted */
	default:
		ghyvi_report(vgpu->params.reporter, "unknown notification %u ignored", message);
	}
}

void vgpu_pvinfo_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	switch (offset) {
	case PVINFO_NOTIFY:
		g2v_notify(vgpu, value);
		break;
	case PVINFO_DISPLAY_READY:
	case PVINFO_CURSOR_HOT_X:
	case PVINFO_CURSOR_HOT_Y:
	case PVINFO_PDP0_LO ... PVINFO_PDP3_HI:
	case PVINFO_DESCRIPTOR_LO:
	case PVINFO_DESCRIPTOR_HI:
	case PVINFO_MULTICALL_LO:
	case PVINFO_MULTICALL_HI:
		vgpu_set(vgpu, offset, value);
		break;
	default:
		ghyvi_report(vgpu->params.reporter,
			     "write of 0x%x to read-only register 0x%x ignored", value, offset);
	}
}
