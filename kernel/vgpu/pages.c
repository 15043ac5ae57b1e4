// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the guest accesses each page of registers: the classes of enum ghyvi_bar_class, and why.
 *
 * An access that traps takes a VM exit and a round trip to the VMM. A page of another class is
 * memory that the guest maps. A page is tracked, not direct, if one of its registers differs from
 * storage, or is needed by the host when it changes.
 */
#include <linux/kernel.h>
#include "vgpu_types.h"

/* Classes of the pages from @first to @last, in ascending order. Other pages are trapped. */
static const struct vgpu_page_rule page_rules[] = {
	{ 0x44000, 0x44000, GHYVI_BAR_TRACKED, "interrupts" },
};

const struct vgpu_page_rule *vgpu_page_rule(u32 offset)
{
	static const struct vgpu_page_rule other = { .class = GHYVI_BAR_TRAPPED, .why = "default" };
	u32 page = offset & GHYVI_PAGE_MASK;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(page_rules); i++)
		if (page >= page_rules[i].first && page <= page_rules[i].last)
			return &page_rules[i];
	return &other;
}

enum ghyvi_bar_class ghyvi_bar_class(u32 offset)
{
	return vgpu_page_rule(offset)->class;
}
