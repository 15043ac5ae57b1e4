// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the guest accesses each page of registers: the classes of enum ghyvi_bar_class, and why.
 *
 * An access that traps takes a VM exit and a round trip to the VMM. A page of another class is
 * memory that the guest maps. A page is tracked, not direct, if one of its registers differs from
 * storage, or is needed by the host when it changes.
 */
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include "vgpu_types.h"

/*
 * DOC: what is lost on pages that mix kinds
 *
 * The TIMESTAMP of an engine is a clock on a page of registers that every submission uses. In
 * memory it is as old as the last interrupt, the last tick of the VFIO device's clock, or the first
 * store to a tracked page since that tick, whichever was latest. It never goes backwards. i915 does
 * not read it for itself, only for the ioctl I915_REG_READ (render engine); programs may map the
 * registers. IGT's gem_latency does, and does not run if the clock stands still while it sleeps for
 * a microsecond.
 *
 * The pages 0x4000 and 0x101000 have registers that invalidate translations. The store waits until
 * no stale translation is in use, as a store to a table page does; others that poll the register
 * read 1 until then, as on hardware.
 *
 * The page of GDRST also has the read-only fuses. A driver reads them once.
 *
 * A direct page keeps its contents in failsafe state.
 *
 * DOC: what other vCPUs see
 *
 * Trapped: accesses are ordered by the locks of the device model; no other value is ever read.
 * Tracked: the stored value, until the storing vCPU goes on; see regfile.c. A register that no vCPU
 * stores to always has its right value.
 * Direct: what the last store left, as of any memory. Only stores of less than a dword differ from
 * trapped ones, which read and write the whole dword.
 */

/* Classes of the pages from @first to @last, in ascending order. Other pages are direct. */
static const struct vgpu_page_rule page_rules[] = {
	{ 0x2000, 0x2000, GHYVI_BAR_TRACKED, "render engine" },
	{ 0x4000, 0x4000, GHYVI_BAR_TRACKED, "invalidates translations" },
	{ 0x7000, 0x8000, GHYVI_BAR_TRACKED, "masked registers" },
	{ 0x9000, 0x9000, GHYVI_BAR_TRAPPED, "GDRST waits for engines" },
	{ 0xc000, 0xc000, GHYVI_BAR_TRACKED, "read-only registers" },
	{ 0xe000, 0xe000, GHYVI_BAR_TRACKED, "masked registers" },
	{ 0x12000, 0x12000, GHYVI_BAR_TRACKED, "video engine" },
	{ 0x1a000, 0x1a000, GHYVI_BAR_TRACKED, "video enhancement engine" },
	{ 0x22000, 0x22000, GHYVI_BAR_TRACKED, "blitter engine" },
	{ 0x42000, 0x42000, GHYVI_BAR_TRACKED, "read-only registers" },
	{ 0x44000, 0x44000, GHYVI_BAR_TRACKED, "interrupts" },
	{ 0x45000, 0x46000, GHYVI_BAR_TRACKED, "power wells, display state" },
	{ 0x51000, 0x51000, GHYVI_BAR_TRACKED, "read-only registers" },
	{ 0x64000, 0x64000, GHYVI_BAR_TRACKED, "read-only registers" },
	/*
	 * A driver reads this page first. Until an access traps, nothing may prove that the other
	 * pages are mapped.
	 */
	{ 0x78000, 0x78000, GHYVI_BAR_TRAPPED, "PVINFO: first access; builds and frees trees" },
	{ 0xc2000, 0xc2000, GHYVI_BAR_TRACKED, "read-only registers" },
	{ 0xc4000, 0xc4000, GHYVI_BAR_TRACKED, "write-one-to-clear registers" },
	{ 0x100000, 0x100000, GHYVI_BAR_TRACKED, "read-only registers" },
	{ 0x101000, 0x101000, GHYVI_BAR_TRACKED, "invalidates translations" },
	{ 0x120000, 0x120000, GHYVI_BAR_TRACKED, "read-only registers" },
	{ 0x138000, 0x138000, GHYVI_BAR_TRACKED, "mailbox" },
	{ 0x145000, 0x145000, GHYVI_BAR_TRACKED, "read-only registers" },
};

const struct vgpu_page_rule *vgpu_page_rule(u32 offset)
{
	static const struct vgpu_page_rule other = { .class = GHYVI_BAR_DIRECT, .why = "storage" };
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

void vgpu_pages_dump(struct ghyvi_vgpu *vgpu, struct seq_file *m)
{
	static const char *const names[] = { [GHYVI_BAR_TRAPPED] = "trapped",
					     [GHYVI_BAR_TRACKED] = "tracked",
					     [GHYVI_BAR_DIRECT] = "direct" };
	unsigned int i, number = 0;

	lockdep_assert_held(&vgpu->lock);
	for (i = 0; i < vgpu->nr_tracked; i++)
		number += vgpu->tracked_protected[i];
	seq_printf(m, "registers: bar_remap=%s, %u of %u tracked pages are protected\n",
		   vgpu->remap ? "on" : "off", number, vgpu->nr_tracked);
	for (i = 0; i < ARRAY_SIZE(page_rules); i++)
		seq_printf(m, "  0x%06x-0x%06x %s: %s\n", page_rules[i].first,
			   page_rules[i].last + GHYVI_PAGE_BYTES - 1, names[page_rules[i].class],
			   page_rules[i].why);
}
