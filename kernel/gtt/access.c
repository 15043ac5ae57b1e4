// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host reads and writes on behalf of the guest: memory behind GGTT addresses, a context's
 * PPGTT, the aperture, and the log of pages that were written. Reads return what an engine would
 * read: zero where an entry could not be translated.
 *
 * DOC: the dirty log has three writers
 *
 * The log is for live migration: a page that was written after it was sent must be sent again.
 *
 * The backend logs what engines write, by page of the host. The host's own writes (context images,
 * status pages) go through ghyvi_gtt_ggtt_write(), which records them here. CPUs write through
 * mappings of the aperture; such a page is recorded when it is mapped. Reading the log first takes
 * what was logged, then invalidates the engines' cached translations and removes the mappings. A
 * write through one of these before they are gone belongs to a page that was just reported, and is
 * complete when the reader returns. A later write is logged again.
 *
 * A reader drops the lock to report pages. When a pin is released meanwhile, what the backend has
 * logged of its page is recorded. So what engines wrote is read first.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "internal.h"

static unsigned int index_at(u64 address, unsigned int level)
{
	return address >> (GHYVI_PAGE_SHIFT + 9 * (level - 1)) & (GHYVI_ENTRIES - 1);
}

/*
 * Walk the shadow of @root. Sets @page to NULL where it maps scratch. Entries hold addresses for
 * engines, so each entry only tells whether something is mapped; the snapshot that it was
 * translated from tells which guest page.
 */
static int walk_shadow(struct ghyvi_root *root, u64 address, const void **page)
{
	const struct ghyvi_shadow_page *shadow = root->pages[0];
	struct ghyvi_gtt *gtt = root->gtt;
	const struct ghyvi_table_page *table;
	unsigned int level, number, below;
	u64 entry, guest, gfn;
	struct ghyvi_pin *pin;

	*page = NULL;
	if (root->levels == GHYVI_LEVEL_PDP)
		shadow = root->pages[index_at(address, GHYVI_LEVEL_PDP)];
	for (;; shadow = table->shadows[below]) {
		if (!shadow || !shadow->table)
			return 0;
		level = shadow->level;
		number = index_at(address, max_t(unsigned int, level, GHYVI_LEVEL_PT));
		entry = READ_ONCE(shadow->entries[number]);
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return -EFAULT;
		if (entry == ghyvi_entry_scratch(gtt, level))
			return 0;
		if (level == GHYVI_LEVEL_PT_64K) {
			guest = shadow->table->snapshot[round_down(number, GHYVI_PTES_PER_64K)];
			gfn = ghyvi_entry_group_gfn(guest) + number % GHYVI_PTES_PER_64K;
			break;
		}
		guest = shadow->table->snapshot[number];
		gfn = ghyvi_entry_gfn(guest);
		if (level == GHYVI_LEVEL_PT)
			break;
		if (ghyvi_entry_is_large(level, guest)) {
			gfn = ghyvi_entry_large_gfn(guest) + index_at(address, GHYVI_LEVEL_PT);
			break;
		}
		below = ghyvi_entry_below(gtt, level, guest);
		table = xa_load(&gtt->tables, gfn);
		if (WARN_ON_ONCE(!table))
			return 0;
	}
	pin = ghyvi_pin_find(gtt, gfn);
	if (!WARN_ON_ONCE(!pin))
		*page = phys_to_virt(pin->hpa);
	return 0;
}

static int walk_guest(struct ghyvi_root *root, u64 address, const void **page)
{
	unsigned int level = root->levels;
	u64 gfn = root->gpa[0] >> GHYVI_PAGE_SHIFT, entry, number;
	bool groups = false;
	struct ghyvi_pin *pin;
	const u64 *entries;

	*page = NULL;
	/* A three-level context contains the addresses of its four page directories. */
	if (level == GHYVI_LEVEL_PDP)
		gfn = root->gpa[index_at(address, level--)] >> GHYVI_PAGE_SHIFT;
	for (;; level--) {
		pin = ghyvi_nested_pin(root->gtt, gfn);
		if (IS_ERR(pin))
			return 0;
		entries = phys_to_virt(pin->hpa);
		if (!level)
			break;
		number = index_at(address, level);
		entry = READ_ONCE(
			entries[groups ? round_down(number, GHYVI_PTES_PER_64K) : number]);
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return -EFAULT;
		gfn = groups ? ghyvi_entry_group_gfn(entry) + number % GHYVI_PTES_PER_64K :
			       ghyvi_entry_gfn(entry);
		groups = level == GHYVI_LEVEL_PD &&
			 ghyvi_entry_below(root->gtt, level, entry) == GHYVI_LEVEL_PT_64K;
		if (ghyvi_entry_is_large(level, entry))
			gfn = ghyvi_entry_large_gfn(entry) + index_at(address, --level);
		else if (level == GHYVI_LEVEL_PDP && entry & GHYVI_ENTRY_LARGE)
			return 0;
	}
	*page = entries;
	return 0;
}

int ghyvi_gtt_ppgtt_read(struct ghyvi_root *root, u64 address, void *buffer, size_t bytes)
{
	struct ghyvi_gtt *gtt = root->gtt;
	const void *page;
	size_t offset, part;
	int err = 0;

	mutex_lock(&gtt->lock);
	for (offset = 0; offset < bytes; offset += part, address += part) {
		address &= root->levels == 3 ? GENMASK_ULL(31, 0) : GENMASK_ULL(47, 0);
		part = min_t(size_t, bytes - offset, GHYVI_PAGE_BYTES - address % GHYVI_PAGE_BYTES);
		err = root->nested ? walk_guest(root, address, &page) :
				     walk_shadow(root, address, &page);
		if (err)
			break;
		if (page)
			memcpy(buffer + offset, page + address % GHYVI_PAGE_BYTES, part);
		else
			memset(buffer + offset, 0, part);
	}
	ghyvi_gtt_unlock(gtt);
	return err;
}

/* The guest polls some words while the host writes them, so an aligned word is a single store. */
static void copy_to_guest(void *to, const void *from, size_t bytes)
{
	if (bytes == 8 && IS_ALIGNED((unsigned long)to, 8))
		WRITE_ONCE(*(u64 *)to, *(const u64 *)from);
	else if (bytes == 4 && IS_ALIGNED((unsigned long)to, 4))
		WRITE_ONCE(*(u32 *)to, *(const u32 *)from);
	else
		memcpy(to, from, bytes);
}

/*
 * Sync one entry of a relaxed page before the host accesses memory through it: the guest may have
 * changed it since the last sync. A deferred entry is retried here as well, because the sync of a
 * submission comes only after the context image has been read.
 */
static void refresh_entry(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, unsigned int index)
{
	ghyvi_ggtt_collect(gtt);
	if (list_empty(&table->relaxed_node))
		return;
	if (!ghyvi_table_update(gtt, table, index, table->guest + index, 1)) {
		if (!ghyvi_table_entry_deferred(table, index))
			return;
		ghyvi_table_retry_entry(gtt, table, index);
	}
	ghyvi_ggtt_publish(gtt, table, index, index);
}

/* Returns the pin of the page behind a GGTT address, or NULL if no guest memory is mapped there. */
static struct ghyvi_pin *ggtt_find_pin(struct ghyvi_gtt *gtt, u64 address)
{
	unsigned int index = (address >> GHYVI_PAGE_SHIFT) % GHYVI_ENTRIES;
	struct ghyvi_table_page *table;
	struct ghyvi_pin *pin;
	u64 entry;

	table = ghyvi_ggtt_table(gtt, address / GHYVI_GGTT_TABLE_SPAN);
	if (!table)
		return NULL;
	if (gtt->policy->nested) {
		entry = READ_ONCE(table->guest[index]);
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return NULL;
		pin = ghyvi_nested_pin(gtt, ghyvi_entry_gfn(entry));
		return IS_ERR(pin) ? NULL : pin;
	}
	refresh_entry(gtt, table, index);
	if (!ghyvi_leaf_is_mapped(gtt, table->shadows[GHYVI_LEVEL_PT]->entries[index]))
		return NULL;
	pin = ghyvi_pin_find(gtt, ghyvi_entry_gfn(table->snapshot[index]));
	WARN_ON_ONCE(!pin);
	return pin;
}

/* As ggtt_find_pin(), but the page is not refused for a link that is gone. */
static struct ghyvi_pin *ggtt_pin(struct ghyvi_gtt *gtt, u64 address)
{
	struct ghyvi_pin *pin;

	gtt->deferral.refused_gfn = GHYVI_INVALID_GFN;
	pin = ggtt_find_pin(gtt, address);
	if (!pin && ghyvi_gtt_drop_unlinked(gtt, gtt->deferral.refused_gfn))
		pin = ggtt_find_pin(gtt, address);
	return pin;
}

static int ggtt_copy(struct ghyvi_gtt *gtt, u64 address, void *read, const void *write,
		     size_t bytes)
{
	struct ghyvi_pin *pin;
	size_t part, offset;
	int err = 0;
	void *byte;

	mutex_lock(&gtt->lock);
	for (offset = 0; offset < bytes; offset += part) {
		part = min_t(size_t, bytes - offset,
			     GHYVI_PAGE_BYTES - (address + offset) % GHYVI_PAGE_BYTES);
		pin = ggtt_pin(gtt, address + offset);
		if (!pin) {
			err = -EFAULT;
			break;
		}
		byte = phys_to_virt(pin->hpa) + (address + offset) % GHYVI_PAGE_BYTES;
		if (read) {
			memcpy(read + offset, byte, part);
			continue;
		}
		copy_to_guest(byte, write + offset, part);
		ghyvi_dirty_mark(gtt, pin);
	}
	ghyvi_gtt_unlock(gtt);
	return err;
}

int ghyvi_gtt_ggtt_read(struct ghyvi_gtt *gtt, u64 address, void *buffer, size_t bytes)
{
	return ggtt_copy(gtt, address, buffer, NULL, bytes);
}

int ghyvi_gtt_ggtt_write(struct ghyvi_gtt *gtt, u64 address, const void *buffer, size_t bytes)
{
	return ggtt_copy(gtt, address, NULL, buffer, bytes);
}

void ghyvi_gtt_ggtt_store(struct ghyvi_gtt *gtt, u64 index, u64 entry)
{
	struct ghyvi_table_page *table;

	mutex_lock(&gtt->lock);
	table = ghyvi_ggtt_table(gtt, index / GHYVI_ENTRIES);
	if (table) {
		WRITE_ONCE(table->guest[index % GHYVI_ENTRIES], entry);
		if (gtt->ggtt_shadowed) {
			ghyvi_table_update(gtt, table, index % GHYVI_ENTRIES, &entry, 1);
			ghyvi_ggtt_publish(gtt, table, index % GHYVI_ENTRIES,
					   index % GHYVI_ENTRIES);
		}
	}
	ghyvi_gtt_unlock(gtt);
}

/*
 * The policy "nested" reads the guest's table, which remains when a gtt is reset, and would pin the
 * pages of a vGPU in failsafe state again. The table has no address then. Nor has it one while the
 * guest decodes no memory of the device; it cannot reach the aperture then, either.
 */
static bool maps_nothing(const struct ghyvi_gtt *gtt)
{
	return gtt->policy->nested && gtt->ggtt_gfn == GHYVI_INVALID_GFN;
}

int ghyvi_gtt_aperture_prepare(struct ghyvi_gtt *gtt, u64 address)
{
	u64 page = address >> GHYVI_PAGE_SHIFT;
	struct ghyvi_pin *pin;
	void *memory;
	int err;

	if (!gtt->params.aperture_user || page >= (u64)gtt->nr_ggtt_tables * GHYVI_ENTRIES)
		return -EINVAL;
	mutex_lock(&gtt->lock);
	pin = maps_nothing(gtt) ? NULL : ggtt_pin(gtt, page << GHYVI_PAGE_SHIFT);
	/* If the entry has changed just now, the copy is still that of another page. */
	ghyvi_aperture_flush(gtt);
	/* While the page is mapped, stores are not seen. */
	if (pin)
		ghyvi_dirty_mark(gtt, pin);
	memory = ghyvi_aperture_backing(gtt, page, pin ? phys_to_virt(pin->hpa) : NULL);
	err = memory ? ghyvi_aperture_add(gtt, page, virt_to_phys(memory) >> GHYVI_PAGE_SHIFT) :
		       -ENOMEM;
	ghyvi_gtt_unlock(gtt);
	return err;
}

void ghyvi_gtt_aperture_close(struct ghyvi_gtt *gtt)
{
	mutex_lock(&gtt->lock);
	ghyvi_aperture_remove_all(gtt);
	ghyvi_gtt_unlock(gtt);
}

bool ghyvi_gtt_can_log(const struct ghyvi_gtt *gtt)
{
	return gtt->params.pgpu_ops->log_set && gtt->params.pgpu_ops->log_read;
}

static void forget_all(struct ghyvi_gtt *gtt)
{
	xa_destroy(&gtt->dirty);
	gtt->log_lost = false;
}

int ghyvi_gtt_log_start(struct ghyvi_gtt *gtt)
{
	int err = 0;

	if (!ghyvi_gtt_can_log(gtt))
		return -EOPNOTSUPP;
	mutex_lock(&gtt->lock);
	if (gtt->logging) {
		err = -EBUSY;
	} else {
		gtt->logging = true;
		gtt->params.pgpu_ops->log_set(gtt->params.client, true);
		ghyvi_aperture_remove_all(gtt);
	}
	ghyvi_gtt_unlock(gtt);
	return err;
}

void ghyvi_gtt_log_stop(struct ghyvi_gtt *gtt)
{
	mutex_lock(&gtt->lock);
	if (gtt->logging) {
		gtt->logging = false;
		gtt->params.pgpu_ops->log_set(gtt->params.client, false);
		forget_all(gtt);
	}
	ghyvi_gtt_unlock(gtt);
}

/* Pages that were taken from the log, to be reported. @next: the first one not looked at. */
struct taken {
	u64 next;
	unsigned int count;
	u64 gfns[GHYVI_DIRTY_BITS];
};

/* Take what the host has written: one value of the XArray. */
static void take_recorded(struct ghyvi_gtt *gtt, struct taken *taken, u64 last)
{
	unsigned long index;
	void *entry;
	u64 gfn, kept = 0;

	xa_for_each_range(&gtt->dirty, index, entry, taken->next / GHYVI_DIRTY_BITS,
			  last / GHYVI_DIRTY_BITS) {
		for (gfn = (u64)index * GHYVI_DIRTY_BITS; gfn < ((u64)index + 1) * GHYVI_DIRTY_BITS;
		     gfn++) {
			if (!(xa_to_value(entry) & BIT(gfn % GHYVI_DIRTY_BITS)))
				continue;
			if (gfn >= taken->next && gfn <= last)
				taken->gfns[taken->count++] = gfn;
			else
				kept |= BIT(gfn % GHYVI_DIRTY_BITS);
		}
		if (kept)
			xa_store(&gtt->dirty, index, xa_mk_value(kept), GFP_KERNEL_ACCOUNT);
		else
			xa_erase(&gtt->dirty, index);
		taken->next = ((u64)index + 1) * GHYVI_DIRTY_BITS;
		return;
	}
	taken->next = last + 1;
}

/* Take what engines have written. */
static void take_logged(struct ghyvi_gtt *gtt, struct taken *taken, u64 last)
{
	const struct ghyvi_gtt_params *p = &gtt->params;
	struct ghyvi_pin *pin;
	u64 gfn;

	for (gfn = taken->next; gfn <= last && (pin = ghyvi_pin_next(gtt, &gfn, last)); gfn++) {
		if (p->pgpu_ops->log_read(p->client, ghyvi_pin_dma(pin)))
			taken->gfns[taken->count++] = gfn;
		if (taken->count == ARRAY_SIZE(taken->gfns)) {
			taken->next = gfn + 1;
			return;
		}
		cond_resched();
	}
	taken->next = last + 1;
}

/*
 * Report the pages that @take finds. @dirty is called without the lock, because it may access
 * memory of the user, and a page fault there takes any time.
 */
static int report_pages(struct ghyvi_gtt *gtt, u64 first, u64 last,
			void (*take)(struct ghyvi_gtt *gtt, struct taken *taken, u64 last),
			void (*dirty)(void *data, u64 gfn), void *data)
{
	struct taken taken = { .next = first };
	unsigned int i;
	int err;

	do {
		taken.count = 0;
		mutex_lock(&gtt->lock);
		err = !gtt->logging ? -EINVAL : gtt->log_lost ? -ENOMEM : 0;
		if (!err)
			take(gtt, &taken, last);
		mutex_unlock(&gtt->lock);
		for (i = 0; i < taken.count; i++)
			dirty(data, taken.gfns[i]);
	} while (!err && taken.next <= last);
	return err;
}

int ghyvi_gtt_log_read(struct ghyvi_gtt *gtt, u64 gfn, u64 count,
		       void (*dirty)(void *data, u64 gfn), void *data)
{
	u64 last = gfn + count - 1;
	int err;

	if (!count || last < gfn)
		return -EINVAL;
	err = report_pages(gtt, gfn, last, take_logged, dirty, data);
	if (!err)
		err = report_pages(gtt, gfn, last, take_recorded, dirty, data);
	if (err)
		return err;
	mutex_lock(&gtt->lock);
	ghyvi_aperture_remove_all(gtt);
	gtt->params.pgpu_ops->invalidate(&gtt->params.client, 1);
	ghyvi_gtt_unlock(gtt);
	return 0;
}
