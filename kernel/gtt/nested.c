// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "nested" uses no shadows. The pGPU walks the guest's tables and faults on guest pages
 * that it does not know. The pages are pinned and mapped here. They stay mapped until the guest's
 * memory is removed or the pins are needed elsewhere.
 *
 * DOC: switching while jobs run
 *
 * A job ends in the mode in which it began. Its root records the mode and keeps what the job needs:
 *
 * - Shadowed roots: ghyvi_nested_enter() forgets all trees, so trees that no workload holds are
 *   freed at once. The tables of the remaining trees, and the GGTT, are unprotected and listed:
 *   they stay relaxed. Each sync updates them like any relaxed page. A running job therefore sees
 *   the entries that its lite restores need, and none that the guest has unmapped and flushed. When
 *   the last shadowed root is released, the GGTT's shadow is dropped and no page remains listed.
 * - Nested roots have no tables. Mapped pages stay mapped until the last nested root is put.
 */
#include <linux/err.h>
#include <linux/kernel.h>

#include "pins.h"
#include "tables.h"
#include "trees.h"

static void pin_unmap(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	if (list_empty(&pin->mapped))
		return;
	ghyvi_aperture_remove_all(gtt);
	gtt->params.pgpu_ops->unmap_guest(gtt->params.client, ghyvi_pin_gfn(pin));
	list_del_init(&pin->mapped);
	gtt->nr_mapped_pins--;
	/* If the pin is idle now, it is released only after an invalidation. */
	ghyvi_pin_put(gtt, ghyvi_pin_gfn(pin));
}

struct ghyvi_pin *ghyvi_nested_pin(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin *pin;
	int ret;

	lockdep_assert_held(&gtt->lock);
	pin = ghyvi_pin_get(gtt, gfn);
	if (IS_ERR(pin))
		return pin;
	if (!list_empty(&pin->mapped)) {
		ghyvi_pin_put(gtt, gfn);
		return pin;
	}
	ret = gtt->params.pgpu_ops->map_guest(gtt->params.client, gfn, ghyvi_pin_dma(pin));
	if (ret) {
		ghyvi_pin_put(gtt, gfn);
		return ERR_PTR(ret);
	}
	list_add_tail(&pin->mapped, &gtt->mapped_pins);
	gtt->nr_mapped_pins++;
	return pin;
}

int ghyvi_gtt_fault(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin *pin;

	mutex_lock(&gtt->lock);
	pin = ghyvi_nested_pin(gtt, gfn);
	ghyvi_gtt_unlock(gtt);
	return IS_ERR(pin) ? (int)PTR_ERR(pin) : 0;
}

void ghyvi_nested_evict(struct ghyvi_gtt *gtt, u32 count)
{
	lockdep_assert_held(&gtt->lock);
	while (count--)
		pin_unmap(gtt, list_first_entry(&gtt->mapped_pins, struct ghyvi_pin, mapped));
}

void ghyvi_nested_unmap(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	struct ghyvi_pin *pin;
	u64 at;

	lockdep_assert_held(&gtt->lock);
	if (!gtt->nr_mapped_pins)
		return;
	for (at = gfn; (pin = ghyvi_pin_next(gtt, &at, gfn + count - 1)); at++)
		pin_unmap(gtt, pin);
}

static void table_release(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, void *data)
{
	if (ghyvi_table_is_ggtt(table)) {
		ghyvi_ggtt_relax(gtt, table);
		return;
	}
	ghyvi_table_unprotect(gtt, table);
	ghyvi_table_mark_relaxed(gtt, table);
}

void ghyvi_nested_enter(struct ghyvi_gtt *gtt)
{
	lockdep_assert_held(&gtt->lock);
	ghyvi_roots_forget_all(gtt);
	ghyvi_gtt_reap(gtt);
	ghyvi_tables_each(gtt, table_release, NULL);
	ghyvi_nested_cleanup(gtt);
}

void ghyvi_nested_leave(struct ghyvi_gtt *gtt)
{
	lockdep_assert_held(&gtt->lock);
	ghyvi_ggtt_shadow(gtt, true);
	ghyvi_nested_cleanup(gtt);
}

void ghyvi_nested_cleanup(struct ghyvi_gtt *gtt)
{
	lockdep_assert_held(&gtt->lock);
	if (gtt->policy->nested) {
		if (list_empty(&gtt->root_lru))
			ghyvi_ggtt_shadow(gtt, false);
	} else if (!gtt->nr_nested_roots) {
		ghyvi_nested_evict(gtt, gtt->nr_mapped_pins);
	}
}
