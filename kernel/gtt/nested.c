// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy "nested": no shadows. The pGPU walks the guest's tables and asks for guest pages when it meets them;
 * they are pinned and mapped here, and stay so until the guest's memory goes away or the pins are needed elsewhere.
 *
 * DOC: switching while jobs run
 *
 * A job ends in the mode in which it began; its root says which, and holds what it needs:
 *
 * - Shadowed roots. Entering forgets all trees, so that those that no workload holds go away at once. What a held one
 *   leads to, and the GGTT, is unprotected and listed; that is, relaxed for good. It is brought up to date at each
 *   synchronisation like any relaxed page, so that a running job sees what its lite restores bring and nothing that the
 *   guest unmapped and flushed. With the last held root the GGTT's shadow goes, too, and nothing is listed any more.
 * - Nested roots have nothing of their own. Mapped pages stay until the last one is put.
 */
#include <linux/err.h>
#include <linux/kernel.h>

#include "mm_types.h"

static void pin_unmap(struct ghyvi_mm *mm, struct ghyvi_pin *pin)
{
	if (list_empty(&pin->mapped))
		return;
	mm->params.pgpu_ops->unmap_guest(mm->params.client, pin->gfn);
	list_del_init(&pin->mapped);
	mm->nr_mapped_pins--;
	/* Idle: released after the next invalidation. */
	ghyvi_pin_put(mm, pin->gfn);
}

struct ghyvi_pin *ghyvi_nested_pin(struct ghyvi_mm *mm, u64 gfn)
{
	struct ghyvi_pin *pin = ghyvi_pin_get(mm, gfn);
	int ret;

	if (IS_ERR(pin))
		return pin;
	if (!list_empty(&pin->mapped)) {
		ghyvi_pin_put(mm, gfn);
		return pin;
	}
	ret = mm->params.pgpu_ops->map_guest(mm->params.client, gfn, pin->bus);
	if (ret) {
		ghyvi_pin_put(mm, gfn);
		return ERR_PTR(ret);
	}
	list_add_tail(&pin->mapped, &mm->mapped_pins);
	mm->nr_mapped_pins++;
	return pin;
}

int ghyvi_mm_fault(struct ghyvi_mm *mm, u64 gfn)
{
	struct ghyvi_pin *pin;

	mutex_lock(&mm->lock);
	pin = ghyvi_nested_pin(mm, gfn);
	ghyvi_mm_unlock(mm);
	return IS_ERR(pin) ? (int)PTR_ERR(pin) : 0;
}

void ghyvi_nested_evict(struct ghyvi_mm *mm, u32 count)
{
	while (count--)
		pin_unmap(mm, list_first_entry(&mm->mapped_pins, struct ghyvi_pin, mapped));
}

void ghyvi_nested_unmap(struct ghyvi_mm *mm, u64 gfn, u64 count)
{
	struct ghyvi_pin *pin;
	u64 at;

	if (!mm->nr_mapped_pins)
		return;
	for (at = gfn; (pin = ghyvi_pin_next(mm, &at, gfn + count - 1)); at++)
		pin_unmap(mm, pin);
}

static void table_release(struct ghyvi_mm *mm, struct ghyvi_table_page *table, void *data)
{
	if (ghyvi_table_is_ggtt(table)) {
		ghyvi_ggtt_relax(mm, table);
		return;
	}
	ghyvi_table_unprotect(mm, table);
	ghyvi_table_mark_relaxed(mm, table);
}

void ghyvi_nested_enter(struct ghyvi_mm *mm)
{
	ghyvi_roots_forget_all(mm);
	ghyvi_tables_reap(mm);
	ghyvi_tables_each(mm, table_release, NULL);
	ghyvi_nested_cleanup(mm);
}

void ghyvi_nested_leave(struct ghyvi_mm *mm)
{
	ghyvi_ggtt_shadow(mm, true);
	ghyvi_nested_cleanup(mm);
}

void ghyvi_nested_cleanup(struct ghyvi_mm *mm)
{
	if (mm->policy->nested) {
		if (list_empty(&mm->root_lru))
			ghyvi_ggtt_shadow(mm, false);
	} else if (!mm->nr_nested_roots) {
		ghyvi_nested_evict(mm, mm->nr_mapped_pins);
	}
}
