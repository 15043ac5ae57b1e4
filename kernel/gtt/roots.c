// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadowed trees by their guest-physical root. The gtt keeps every tree that the guest has
 * announced or used, so that it is not built again for each submission. A tree is dropped when the
 * guest announces its destruction or resets the whole GPU, when its memory is removed, or when it
 * is evicted (evict.c).
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "entries.h"
#include "tables.h"
#include "trees.h"

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

void ghyvi_roots_reap(struct ghyvi_gtt *gtt)
{
	struct ghyvi_root *root;

	lockdep_assert_held(&gtt->lock);
	while (!list_empty(&gtt->dying_roots)) {
		root = list_first_entry(&gtt->dying_roots, struct ghyvi_root, lru);
		WARN_ON_ONCE(!list_empty(&root->tree.relaxed));
		list_del(&root->lru);
		if (root->top) {
			gtt->params.pgpu_ops->unmap_page(gtt->params.client, root->top_dma);
			free_page((unsigned long)root->top);
		}
		kfree(root);
	}
}

void ghyvi_root_forget(struct ghyvi_root *root)
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

void ghyvi_root_fill_top(struct ghyvi_root *root)
{
	struct ghyvi_gtt *gtt = root->gtt;
	unsigned int i;
	u64 entry;

	lockdep_assert_held(&gtt->lock);
	if (!root->retry)
		return;
	root->retry = false;
	for (i = 0; i < 4; i++) {
		if (root->pages[i])
			continue;
		entry = ghyvi_entry_translate(
			gtt, GHYVI_LEVEL_PDP,
			root->gpa[i] | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE, &root->tree);
		WRITE_ONCE(root->top[i], entry);
		if (entry != ghyvi_entry_scratch(gtt, GHYVI_LEVEL_PDP))
			root->pages[i] = ((struct ghyvi_table_page *)xa_load(
						  &gtt->tables, ghyvi_entry_gfn(root->gpa[i])))
						 ->shadows[GHYVI_LEVEL_PD];
		root->retry |= gtt->deferral.err != 0;
		gtt->deferral.err = 0;
	}
}

static int root_create_top(struct ghyvi_root *root)
{
	struct ghyvi_gtt *gtt = root->gtt;
	int ret;

	root->top = (u64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!root->top)
		return -ENOMEM;
	ret = gtt->params.pgpu_ops->map_page(gtt->params.client, virt_to_phys(root->top),
					     GHYVI_PAGE_TABLE, &root->top_dma);
	if (ret) {
		free_page((unsigned long)root->top);
		root->top = NULL;
		return ret;
	}
	root->retry = true;
	ghyvi_root_fill_top(root);
	return 0;
}

static struct ghyvi_root *root_create(struct ghyvi_gtt *gtt, const u64 *gpa, unsigned int levels)
{
	struct ghyvi_shadow_page *page;
	struct ghyvi_root *root;
	int ret;

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
		ret = root_create_top(root);
		if (ret)
			goto err_free;
	} else {
		page = ghyvi_shadow_get(gtt, gpa[0] >> GHYVI_PAGE_SHIFT, GHYVI_LEVEL_PML4,
					&root->tree);
		if (IS_ERR(page)) {
			ret = PTR_ERR(page);
			goto err_free;
		}
		root->pages[0] = page;
	}
	ret = xa_err(xa_store(&gtt->roots, root_key(gpa, levels), root, GFP_KERNEL_ACCOUNT));
	if (ret) {
		root_put_locked(root);
		return ERR_PTR(ret);
	}
	root->known = true;
	list_add_tail(&root->lru, &gtt->root_lru);
	gtt->nr_roots++;
	return root;

err_free:
	kfree(root);
	return ERR_PTR(ret);
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
			ghyvi_root_forget(root);
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
	int ret;

	ret = roots_make_room(gtt);
	if (ret)
		return ERR_PTR(ret);
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
		ghyvi_root_forget(root);
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
	ghyvi_nested_cleanup(gtt);
	ghyvi_gtt_unlock(gtt);
}

void ghyvi_gtt_forget_root(struct ghyvi_gtt *gtt, const u64 *gpa4, unsigned int levels)
{
	struct ghyvi_root *root;
	u64 gpa[4];

	root_address(gpa4, levels, gpa);
	mutex_lock(&gtt->lock);
	root = xa_load(&gtt->roots, root_key(gpa, levels));
	if (root) {
		/*
		 * A workload that is being completed may still hold the tree. But the guest is
		 * about to reuse the table pages for data, which must not be interpreted as tables.
		 */
		root_empty(root);
		ghyvi_root_forget(root);
	}
	ghyvi_gtt_unlock(gtt);
}

void ghyvi_gtt_forget_roots(struct ghyvi_gtt *gtt)
{
	mutex_lock(&gtt->lock);
	ghyvi_roots_empty_all(gtt);
	ghyvi_roots_forget_all(gtt);
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

void ghyvi_roots_empty_all(struct ghyvi_gtt *gtt)
{
	struct ghyvi_root *root;

	lockdep_assert_held(&gtt->lock);
	list_for_each_entry(root, &gtt->root_lru, lru)
		root_empty(root);
}

void ghyvi_roots_forget_all(struct ghyvi_gtt *gtt)
{
	struct ghyvi_root *root, *next;

	lockdep_assert_held(&gtt->lock);
	list_for_each_entry_safe(root, next, &gtt->root_lru, lru)
		ghyvi_root_forget(root);
}

void ghyvi_roots_zap_range(struct ghyvi_gtt *gtt, u64 gfn, u64 count)
{
	struct ghyvi_root *root, *next;
	unsigned int i;
	u64 at;

	lockdep_assert_held(&gtt->lock);
	list_for_each_entry_safe(root, next, &gtt->root_lru, lru) {
		for (i = 0; i < (root->levels == 3 ? 4 : 1); i++) {
			at = root->gpa[i] >> GHYVI_PAGE_SHIFT;
			if (at >= gfn && at - gfn < count) {
				root_empty(root);
				ghyvi_root_forget(root);
				break;
			}
		}
	}
}
