// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadowed trees by their guest-physical root. The gtt keeps every tree that the guest has
 * announced or used, so that it is not built again for each submission. A tree is dropped when the
 * guest announces its destruction or resets the whole GPU, when its memory is removed, or when it
 * is evicted.
 *
 * Releasing a root can free tables, so here is also the end of each operation on a gtt:
 * ghyvi_gtt_unlock() reports, frees what has lost its last reference, and unlocks.
 *
 * DOC: eviction of trees
 *
 * A vGPU may have tables_max table pages. A tree that no workload holds is kept only to avoid
 * shadowing it again. The host can evict it, and shadows it again when a workload uses it, like a
 * tree that the guest never announced. If a submission needs more table pages than are left, the
 * least recently used trees are evicted until there are enough.
 *
 * No tree is evicted during a translation, because the translation may use a page of that tree. An
 * entry that is refused a table page maps scratch, is counted (ghyvi_tree.refused) and is deferred.
 * Trees are evicted after the pass over the tree, and the next pass retries the deferred entries.
 *
 * A guest may cycle through more trees than fit. Each submission then shadows what an earlier one
 * evicted. Two limits bound the cost for the host. A tree is young until GHYVI_EVICT_AGE
 * submissions have passed since its last use, and one operation evicts at most GHYVI_EVICT_YOUNG
 * pages of young trees. Old trees are evicted without limit. But each of them was built before the
 * last GHYVI_EVICT_AGE submissions, so these submissions together evict at most tables_max pages of
 * old trees. Nor has a sync more than SYNC_PASSES_MAX passes. An entry that is refused a table page
 * after that keeps mapping scratch.
 *
 * DOC: the policy "nested"
 *
 * It uses no shadows. The pGPU walks the guest's tables and faults on guest pages
 * that it does not know. The pages are pinned and mapped here. They stay mapped until the guest's
 * memory is removed or the pins are needed elsewhere.
 *
 * DOC: switching while jobs run
 *
 * A job ends in the mode in which it began. Its root records the mode and keeps what the job needs:
 *
 * - Shadowed roots: ghyvi_nested_enter() forgets all trees, so trees that no workload holds are
 *   freed at once. The tables of the remaining trees, and the GGTT, are unprotected and relaxed:
 *   they stay relaxed. Each sync updates them like any relaxed page. A running job therefore sees
 *   the entries that its lite restores need, and none that the guest has unmapped and flushed. When
 *   the last shadowed root is released, the GGTT's shadow is dropped and no page remains relaxed.
 * - Nested roots have no tables. Mapped pages stay mapped until the last nested root is put.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

#define ROOT_KEY_THREE_LEVEL BIT(62)

/*
 * Registers and context images may have more bits set than the address of an entry has. Only the
 * address bits identify a root.
 */
static void root_address(const u64 *gpa4, unsigned int levels, u64 *gpa)
{
	unsigned int i;

	for (i = 0; i < (levels == 3 ? 4 : 1); i++)
		gpa[i] = gpa4[i] & GHYVI_GUEST_ADDRESS_MASK;
}

static unsigned long root_key(const u64 *gpa, unsigned int levels)
{
	return (gpa[0] >> GHYVI_PAGE_SHIFT) | (levels == 3 ? ROOT_KEY_THREE_LEVEL : 0);
}

static bool root_matches(const struct ghyvi_root *root, const u64 *gpa)
{
	return root->levels == 4 || !memcmp(root->gpa, gpa, sizeof(root->gpa));
}

/*
 * Release the tables. The top page remains, because a job may have its address, and all its entries
 * map scratch.
 */
static void root_empty(struct ghyvi_root *root)
{
	struct ghyvi_gtt *gtt = root->gtt;
	unsigned int i;

	if (root->levels == 4) {
		ghyvi_shadow_detach(gtt, root->pages[0]);
		return;
	}
	root->retry = false;
	for (i = 0; i < 4; i++) {
		WRITE_ONCE(root->top[i], ghyvi_entry_scratch(gtt, GHYVI_LEVEL_PDP));
		if (root->pages[i])
			ghyvi_shadow_put(gtt, root->pages[i]);
		root->pages[i] = NULL;
	}
}

static void root_put_locked(struct ghyvi_root *root)
{
	struct ghyvi_gtt *gtt = root->gtt;

	lockdep_assert_held(&gtt->lock);
	if (--root->refs)
		return;
	if (root->nested) {
		gtt->nr_nested_roots--;
		kfree(root);
		return;
	}
	list_move(&root->lru, &gtt->dying_roots);
	if (root->levels == 4)
		ghyvi_shadow_put(gtt, root->pages[0]);
	if (root->top)
		root_empty(root);
}

/*
 * Remove @root from gtt->roots and drop the gtt's reference. If it was the last one, gtt_reap()
 * frees the tables.
 */
static void root_forget(struct ghyvi_root *root)
{
	struct ghyvi_gtt *gtt = root->gtt;

	lockdep_assert_held(&gtt->lock);
	if (!root->known)
		return;
	root->known = false;
	xa_erase(&gtt->roots, root_key(root->gpa, root->levels));
	gtt->nr_roots--;
	root_put_locked(root);
}

static void root_drop(struct ghyvi_root *root)
{
	root_empty(root);
	root_forget(root);
}

/* Free the roots without references. The caller has freed their tables. */
static void roots_reap(struct ghyvi_gtt *gtt)
{
	struct ghyvi_root *root, *next;

	lockdep_assert_held(&gtt->lock);
	list_for_each_entry_safe(root, next, &gtt->dying_roots, lru) {
		WARN_ON_ONCE(!list_empty(&root->tree.relaxed));
		list_del(&root->lru);
		if (root->top) {
			gtt->params.pgpu_ops->unmap_page(gtt->params.client, root->top_dma);
			free_page((unsigned long)root->top);
		}
		kfree(root);
	}
}

/* If more than @max idle pins are left, release them until there are at most @keep. */
static void gtt_reap(struct ghyvi_gtt *gtt, u32 max, u32 keep)
{
	lockdep_assert_held(&gtt->lock);
	if (list_empty(&gtt->dying) && list_empty(&gtt->dying_larges) &&
	    list_empty(&gtt->dying_roots) && gtt->nr_idle_pins <= max)
		return;
	/*
	 * What is freed here was reachable only through objects that are freed here, too: children
	 * through their parents, the pins of their entries through them. One invalidation is
	 * enough.
	 */
	ghyvi_gtt_invalidate(gtt);
	ghyvi_tables_reap(gtt);
	ghyvi_larges_reap(gtt);
	roots_reap(gtt);
	if (gtt->nr_idle_pins > max)
		ghyvi_pins_trim(gtt, keep);
}

void ghyvi_gtt_reap_unused(struct ghyvi_gtt *gtt)
{
	gtt_reap(gtt, gtt->tuning.idle_pins, gtt->tuning.idle_pins / 2);
}

void ghyvi_gtt_reap_all(struct ghyvi_gtt *gtt)
{
	gtt_reap(gtt, 0, 0);
}

static void report_rejected(struct ghyvi_gtt *gtt)
{
	if (!gtt->rejected.error)
		return;
	ghyvi_report(gtt->params.reporter,
		     "table entry 0x%llx of level %u cannot be translated (%d), scratch page used",
		     gtt->rejected.guest_entry, gtt->rejected.level, gtt->rejected.error);
	gtt->rejected.error = 0;
}

void ghyvi_gtt_unlock(struct ghyvi_gtt *gtt)
{
	report_rejected(gtt);
	ghyvi_aperture_flush(gtt);
	ghyvi_gtt_reap_unused(gtt);
	mutex_unlock(&gtt->lock);
}

static bool root_is_young(const struct ghyvi_gtt *gtt, const struct ghyvi_root *root)
{
	return gtt->submissions - root->used < GHYVI_EVICT_AGE;
}

static bool root_may_go(const struct ghyvi_gtt *gtt, const struct ghyvi_root *root)
{
	/* The gtt holds one reference while the root is known. Further ones belong to workloads. */
	if (!root->known || root->refs > 1)
		return false;
	return !root_is_young(gtt, root) || root->tree.pages <= gtt->young_left;
}

bool ghyvi_trees_can_evict(struct ghyvi_gtt *gtt)
{
	const struct ghyvi_root *root;

	lockdep_assert_held(&gtt->lock);
	list_for_each_entry(root, &gtt->root_lru, lru)
		if (root_may_go(gtt, root))
			return true;
	return false;
}

static void evict_root(struct ghyvi_gtt *gtt, struct ghyvi_root *root)
{
	if (root_is_young(gtt, root))
		gtt->young_left -= min(gtt->young_left, root->tree.pages);
	root_forget(root);
	ghyvi_count(gtt->params.stats, evicted_trees);
}

static bool tables_fit(const struct ghyvi_gtt *gtt, u32 tables, u32 wanted)
{
	return (u64)tables + wanted <= gtt->tuning.tables_max;
}

/* Evict as many trees as should suffice, with one invalidation. Returns true if any was evicted. */
static bool evict_some(struct ghyvi_gtt *gtt, u32 wanted)
{
	struct ghyvi_root *root, *next;
	u32 tables = gtt->nr_tables;
	bool any = false;

	list_for_each_entry_safe(root, next, &gtt->root_lru, lru) {
		if (tables_fit(gtt, tables, wanted))
			break;
		if (!root_may_go(gtt, root))
			continue;
		/*
		 * An estimate: a table page may be used at several levels, and a table page that
		 * trees share is freed with the last of them.
		 */
		tables -= min(tables, root->tree.pages);
		evict_root(gtt, root);
		any = true;
	}
	ghyvi_gtt_reap_unused(gtt);
	return any;
}

bool ghyvi_trees_evict(struct ghyvi_gtt *gtt, u32 wanted)
{
	u32 before = gtt->nr_tables;

	lockdep_assert_held(&gtt->lock);
	while (!tables_fit(gtt, gtt->nr_tables, wanted) && evict_some(gtt, wanted))
		;
	return gtt->nr_tables < before;
}

void ghyvi_root_fill_top(struct ghyvi_root *root)
{
	struct ghyvi_gtt *gtt = root->gtt;
	struct ghyvi_translation translation;
	unsigned int i;

	lockdep_assert_held(&gtt->lock);
	root->retry = false;
	for (i = 0; i < 4; i++) {
		if (root->pages[i])
			continue;
		translation = ghyvi_entry_translate(
			gtt, GHYVI_LEVEL_PDP,
			root->gpa[i] | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE, &root->tree);
		WRITE_ONCE(root->top[i], translation.entry);
		if (translation.entry != ghyvi_entry_scratch(gtt, GHYVI_LEVEL_PDP))
			root->pages[i] = ((struct ghyvi_table_page *)xa_load(
						  &gtt->tables, ghyvi_entry_gfn(root->gpa[i])))
						 ->shadows[GHYVI_LEVEL_PD];
		root->retry |= translation.err != 0;
	}
}

static int root_create_top(struct ghyvi_root *root)
{
	struct ghyvi_gtt *gtt = root->gtt;
	int err;

	root->top = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!root->top)
		return -ENOMEM;
	/* Hardware that walks the page from an upper level finds all its entries. */
	memset64(root->top, ghyvi_entry_scratch(gtt, GHYVI_LEVEL_PDP), GHYVI_ENTRIES);
	err = gtt->params.pgpu_ops->map_page(gtt->params.client, virt_to_phys(root->top),
					     GHYVI_PAGE_TABLE, &root->top_dma);
	if (err) {
		free_page((unsigned long)root->top);
		root->top = NULL;
		return err;
	}
	ghyvi_root_fill_top(root);
	return 0;
}

static struct ghyvi_root *root_create(struct ghyvi_gtt *gtt, const u64 *gpa, unsigned int levels)
{
	struct ghyvi_shadow_page *page;
	struct ghyvi_root *root;
	int err;

	root = kzalloc(sizeof(*root), GFP_KERNEL_ACCOUNT);
	if (!root)
		return ERR_PTR(-ENOMEM);
	root->gtt = gtt;
	root->tree.id = ++gtt->last_tree;
	root->levels = levels;
	memcpy(root->gpa, gpa, (levels == 3 ? 4 : 1) * sizeof(*gpa));
	root->refs = 1;
	INIT_LIST_HEAD(&root->lru);
	INIT_LIST_HEAD(&root->tree.relaxed);

	if (levels == 3) {
		err = root_create_top(root);
		if (err)
			goto err_free;
	} else {
		page = ghyvi_shadow_get(gtt, gpa[0] >> GHYVI_PAGE_SHIFT, GHYVI_LEVEL_PML4,
					&root->tree);
		if (IS_ERR(page)) {
			err = PTR_ERR(page);
			goto err_free;
		}
		root->pages[0] = page;
	}
	err = xa_err(xa_store(&gtt->roots, root_key(gpa, levels), root, GFP_KERNEL_ACCOUNT));
	if (err) {
		root_put_locked(root);
		return ERR_PTR(err);
	}
	root->known = true;
	list_add_tail(&root->lru, &gtt->root_lru);
	gtt->nr_roots++;
	return root;

err_free:
	kfree(root);
	return ERR_PTR(err);
}

/*
 * Make room for another root: if there are GHYVI_MAX_ROOTS, forget the least recently used tree
 * that no workload holds.
 */
static int roots_make_room(struct ghyvi_gtt *gtt)
{
	struct ghyvi_root *root;

	if (gtt->nr_roots < GHYVI_MAX_ROOTS)
		return 0;
	list_for_each_entry(root, &gtt->root_lru, lru) {
		if (root->known && root->refs == 1) {
			root_forget(root);
			ghyvi_count(gtt->params.stats, evicted_trees);
			return 0;
		}
	}
	return -ENOSPC;
}

/*
 * Evicts only if there is no room for the top page of the tree. The sync that precedes each use
 * makes room for the tables below.
 */
static struct ghyvi_root *root_create_in_room(struct ghyvi_gtt *gtt, const u64 *gpa,
					      unsigned int levels)
{
	struct ghyvi_root *root;
	int err;

	err = roots_make_room(gtt);
	if (err)
		return ERR_PTR(err);
	root = root_create(gtt, gpa, levels);
	if (root != ERR_PTR(-ENOSPC))
		return root;
	ghyvi_trees_evict_begin(gtt);
	return ghyvi_trees_evict(gtt, 1) ? root_create(gtt, gpa, levels) : root;
}

static struct ghyvi_root *root_nested(struct ghyvi_gtt *gtt, const u64 *gpa, unsigned int levels)
{
	struct ghyvi_root *root;
	struct ghyvi_pin *pin;

	if (levels == 4) {
		/* As for a shadowed tree, fail if the root is not guest memory. */
		pin = ghyvi_nested_pin(gtt, gpa[0] >> GHYVI_PAGE_SHIFT);
		if (IS_ERR(pin))
			return ERR_CAST(pin);
	}
	root = kzalloc(sizeof(*root), GFP_KERNEL_ACCOUNT);
	if (!root)
		return ERR_PTR(-ENOMEM);
	root->gtt = gtt;
	root->nested = true;
	root->levels = levels;
	memcpy(root->gpa, gpa, (levels == 3 ? 4 : 1) * sizeof(*gpa));
	root->refs = 1;
	gtt->nr_nested_roots++;
	return root;
}

void ghyvi_roots_drop_all(struct ghyvi_gtt *gtt)
{
	struct ghyvi_root *root, *next;

	lockdep_assert_held(&gtt->lock);
	list_for_each_entry_safe(root, next, &gtt->root_lru, lru)
		root_drop(root);
}

void ghyvi_roots_zap_range(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	struct ghyvi_root *root, *next;
	unsigned int i;
	u64 root_gfn;

	lockdep_assert_held(&gtt->lock);
	list_for_each_entry_safe(root, next, &gtt->root_lru, lru) {
		for (i = 0; i < (root->levels == 3 ? 4 : 1); i++) {
			root_gfn = root->gpa[i] >> GHYVI_PAGE_SHIFT;
			if (root_gfn >= gfn && root_gfn - gfn < count) {
				root_drop(root);
				break;
			}
		}
	}
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

/*
 * Call it after a root was released or the policy changed. If no root of the other mode is left, it
 * releases what only that mode needs: the GGTT's shadow, or mapped guest pages.
 */
static void nested_cleanup(struct ghyvi_gtt *gtt)
{
	lockdep_assert_held(&gtt->lock);
	if (gtt->policy->nested) {
		if (list_empty(&gtt->root_lru))
			ghyvi_ggtt_shadow(gtt, false);
	} else if (!gtt->nr_nested_roots) {
		ghyvi_nested_evict(gtt, gtt->nr_mapped_pins);
	}
}

void ghyvi_nested_enter(struct ghyvi_gtt *gtt)
{
	struct ghyvi_root *root, *next;

	lockdep_assert_held(&gtt->lock);
	list_for_each_entry_safe(root, next, &gtt->root_lru, lru)
		root_forget(root);
	ghyvi_gtt_reap_unused(gtt);
	ghyvi_tables_each(gtt, table_release, NULL);
	nested_cleanup(gtt);
}

void ghyvi_nested_leave(struct ghyvi_gtt *gtt)
{
	lockdep_assert_held(&gtt->lock);
	ghyvi_ggtt_shadow(gtt, true);
	nested_cleanup(gtt);
}

int ghyvi_gtt_fault(struct ghyvi_gtt *gtt, u64 gfn)
{
	struct ghyvi_pin *pin;

	mutex_lock(&gtt->lock);
	pin = ghyvi_nested_pin(gtt, gfn);
	ghyvi_gtt_unlock(gtt);
	return IS_ERR(pin) ? (int)PTR_ERR(pin) : 0;
}

struct ghyvi_root *ghyvi_gtt_get_root(struct ghyvi_gtt *gtt, const u64 *gpa4, unsigned int levels)
{
	struct ghyvi_root *root;
	u64 gpa[4];

	root_address(gpa4, levels, gpa);
	mutex_lock(&gtt->lock);
	if (gtt->policy->nested) {
		root = root_nested(gtt, gpa, levels);
		goto out;
	}
	root = xa_load(&gtt->roots, root_key(gpa, levels));
	if (root && !root_matches(root, gpa)) {
		root_forget(root);
		root = NULL;
	}
	if (!root)
		root = root_create_in_room(gtt, gpa, levels);
	else
		list_move_tail(&root->lru, &gtt->root_lru);
	if (!IS_ERR(root)) {
		root->refs++;
		root->used = gtt->submissions;
	}
out:
	ghyvi_gtt_unlock(gtt);
	return root;
}

void ghyvi_gtt_put_root(struct ghyvi_root *root)
{
	struct ghyvi_gtt *gtt = root->gtt;

	mutex_lock(&gtt->lock);
	root_put_locked(root);
	nested_cleanup(gtt);
	ghyvi_gtt_unlock(gtt);
}

void ghyvi_gtt_forget_root(struct ghyvi_gtt *gtt, const u64 *gpa4, unsigned int levels)
{
	struct ghyvi_root *root, *next;
	u64 gpa[4];

	root_address(gpa4, levels, gpa);
	mutex_lock(&gtt->lock);
	/*
	 * Workloads that are being completed may still hold the tree, and a tree that a switch to
	 * "nested" has forgotten. But the guest is about to reuse the table pages for data, which
	 * must not be interpreted as tables.
	 */
	list_for_each_entry_safe(root, next, &gtt->root_lru, lru) {
		if (root->levels == levels && root->gpa[0] == gpa[0])
			root_drop(root);
	}
	ghyvi_gtt_unlock(gtt);
}

void ghyvi_gtt_forget_roots(struct ghyvi_gtt *gtt)
{
	mutex_lock(&gtt->lock);
	ghyvi_roots_drop_all(gtt);
	ghyvi_gtt_unlock(gtt);
}

dma_addr_t ghyvi_root_dma(const struct ghyvi_root *root)
{
	if (root->nested)
		return 0;
	return root->levels == 3 ? root->top_dma : root->pages[0]->dma;
}

void ghyvi_root_job(const struct ghyvi_root *root, struct ghyvi_job *job)
{
	job->root = ghyvi_root_dma(root);
	job->levels = root->levels;
	job->nested = root->nested;
	memcpy(job->guest_root, root->gpa, sizeof(job->guest_root));
}
