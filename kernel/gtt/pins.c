// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest pages pinned because shadow entries point at them. One pin a page, counted by entries; a page that no
 * entry uses stays pinned for a while, since drivers unbind and rebind the same pages.
 */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "mm_types.h"

static void pin_free(struct ghyvi_mm *mm, struct ghyvi_pin *pin)
{
	const struct ghyvi_mm_params *p = &mm->params;

	if (mm->last_pin == pin)
		mm->last_pin = NULL;
	list_del(&pin->idle);
	mm->nr_idle_pins--;
	xa_erase(&mm->pins, pin->gfn);
	p->pgpu_ops->disown_page(p->client, pin->bus);
	p->hv_ops->unpin(p->hv, pin->gfn);
	atomic64_dec(&p->stats->pinned_pages_now);
	kfree(pin);
}

/* What the guest gave back and we still hold must not keep it from pinning something else. */
int ghyvi_pin_page(struct ghyvi_mm *mm, u64 gfn, u64 *bus)
{
	const struct ghyvi_mm_params *p = &mm->params;
	int ret = p->hv_ops->pin(p->hv, gfn, bus);

	if (ret == -ENOMEM && (mm->nr_idle_pins || mm->nr_mapped_pins)) {
		/* Half: the walk that needs this page has just mapped the tables above it. */
		ghyvi_nested_evict(mm, (mm->nr_mapped_pins + 1) / 2);
		/* The pGPU may still have GGTT entries that were replaced a moment ago. */
		if (mm->ggtt_updating)
			ghyvi_ggtt_publish(mm, mm->ggtt_updating, 0, GHYVI_ENTRIES - 1);
		ghyvi_pins_trim(mm, 0);
		ret = p->hv_ops->pin(p->hv, gfn, bus);
	}
	return ret;
}

static struct ghyvi_pin *pin_create(struct ghyvi_mm *mm, u64 gfn)
{
	const struct ghyvi_mm_params *p = &mm->params;
	struct ghyvi_pin *pin;
	int ret;

	pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		return ERR_PTR(-ENOMEM);
	pin->gfn = gfn;
	INIT_LIST_HEAD(&pin->idle);
	INIT_LIST_HEAD(&pin->mapped);

	ret = ghyvi_pin_page(mm, gfn, &pin->bus);
	if (ret)
		goto err_free;
	ret = p->pgpu_ops->own_page(p->client, pin->bus, GHYVI_PAGE_DATA);
	if (ret)
		goto err_unpin;
	ret = xa_err(xa_store(&mm->pins, gfn, pin, GFP_KERNEL_ACCOUNT));
	if (ret)
		goto err_disown;
	atomic64_inc(&p->stats->pinned_pages_now);
	return pin;

err_disown:
	p->pgpu_ops->disown_page(p->client, pin->bus);
err_unpin:
	p->hv_ops->unpin(p->hv, gfn);
err_free:
	kfree(pin);
	ghyvi_count(p->stats, pin_failures);
	return ERR_PTR(ret);
}

struct ghyvi_pin *ghyvi_pin_get(struct ghyvi_mm *mm, u64 gfn)
{
	struct ghyvi_pin *pin = mm->last_pin;

	if (!pin || pin->gfn != gfn)
		pin = xa_load(&mm->pins, gfn);
	if (!pin) {
		pin = pin_create(mm, gfn);
		if (IS_ERR(pin))
			return pin;
	} else if (!pin->refs) {
		list_del_init(&pin->idle);
		mm->nr_idle_pins--;
	}
	pin->refs++;
	mm->last_pin = pin;
	return pin;
}

void ghyvi_pin_put(struct ghyvi_mm *mm, u64 gfn)
{
	struct ghyvi_pin *pin = mm->last_pin;

	if (!pin || pin->gfn != gfn)
		pin = xa_load(&mm->pins, gfn);
	if (WARN_ON_ONCE(!pin || !pin->refs))
		return;
	if (--pin->refs)
		return;
	list_add_tail(&pin->idle, &mm->idle_pins);
	mm->nr_idle_pins++;
}

int ghyvi_pins_get(struct ghyvi_mm *mm, u64 gfn, unsigned int count, u64 *bus)
{
	bool contiguous = true;
	struct ghyvi_pin *pin;
	unsigned int i;

	for (i = 0; i < count; i++) {
		pin = ghyvi_pin_get(mm, gfn + i);
		if (IS_ERR(pin)) {
			ghyvi_pins_put(mm, gfn, i);
			return PTR_ERR(pin);
		}
		if (!i)
			*bus = pin->bus;
		contiguous &= pin->bus == *bus + i * GHYVI_PAGE_BYTES;
	}
	cond_resched();
	return contiguous && IS_ALIGNED(*bus, (u64)count * GHYVI_PAGE_BYTES);
}

void ghyvi_pins_put(struct ghyvi_mm *mm, u64 gfn, unsigned int count)
{
	while (count--)
		ghyvi_pin_put(mm, gfn + count);
}

void ghyvi_pins_trim(struct ghyvi_mm *mm, u32 keep)
{
	if (mm->nr_idle_pins <= keep)
		return;
	mm->params.pgpu_ops->invalidate(mm->params.client);
	while (mm->nr_idle_pins > keep)
		pin_free(mm, list_first_entry(&mm->idle_pins, struct ghyvi_pin, idle));
}
