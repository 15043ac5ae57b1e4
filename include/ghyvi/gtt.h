/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All translation state of one vGPU: its shadowed GGTT partition, its shadowed PPGTT trees, the
 * guest pages pinned for them, and when each table page is brought up to date (kernel/gtt, kernel/shadow).
 *
 * Locking: every function takes the mm's own mutex and may sleep; it is a leaf except for the
 * hypervisor's and the pGPU's own locks. Nothing here waits for a job.
 */
#ifndef GHYVI_GTT_H
#define GHYVI_GTT_H

#include <ghyvi/hv.h>
#include <ghyvi/pgpu.h>
#include <ghyvi/shadow_policy.h>

struct ghyvi_gtt;
struct ghyvi_root; /* one shadowed PPGTT tree, counted */
struct seq_file;

/**
 * struct ghyvi_gtt_params - what an mm needs to know; copied
 * @ggtt: the guest's own GGTT table (host memory that the guest maps): one entry per page of the whole
 *	global address space. Read with READ_ONCE, written by ghyvi_gtt_ggtt_store() only.
 * @ggtt_ranges: the vGPU's partition; entries outside are ignored
 * @nested: the pGPU runs nested jobs, see struct ghyvi_pgpu_resources
 * @pages_64k: the guest's GPU has page tables of 64 KiB pages
 * @untracked_ggtt: never protect GGTT pages, compare all of them at each synchronisation (to measure against)
 */
struct ghyvi_gtt_params {
	const struct ghyvi_hv_ops *hv_ops;
	void *hv;
	const struct ghyvi_pgpu_ops *pgpu_ops;
	struct ghyvi_pgpu_client *client;
	u64 *ggtt;
	struct ghyvi_range ggtt_ranges[2];
	unsigned int nr_ggtt_ranges;
	bool nested;
	bool pages_64k;
	bool untracked_ggtt;
	struct ghyvi_reporter *reporter;
	struct ghyvi_stats *stats;
};

/** ghyvi_gtt_create() - nothing shadowed yet, policy "adaptive". ERR_PTR(-ENOMEM) on failure. */
struct ghyvi_gtt *ghyvi_gtt_create(const struct ghyvi_gtt_params *params);
/** ghyvi_gtt_destroy() - reset and free; nothing stays pinned, protected or owned. */
void ghyvi_gtt_destroy(struct ghyvi_gtt *gtt);
/**
 * ghyvi_gtt_reset() - drop every tree, every GGTT shadow entry, all pins and protection. Roots that
 * workloads still hold become empty shells (their jobs have been cancelled).
 */
void ghyvi_gtt_reset(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_set_policy() - by name, also while the guest runs; takes effect page by page.
 * Jobs end in the mode that they were started in: a root says which, and is good until it is put.
 * Returns 0, -EINVAL (no such policy) or -EOPNOTSUPP (the pGPU does not offer nested jobs); then nothing changed.
 */
int ghyvi_gtt_set_policy(struct ghyvi_gtt *gtt, const char *name);
/**
 * ghyvi_gtt_set_tuning() - knobs and costs, also while the guest runs. Returns 0 or -EINVAL (one out of
 * range; nothing changed).
 */
int ghyvi_gtt_set_tuning(struct ghyvi_gtt *gtt, const struct ghyvi_shadow_tuning *tuning);
void ghyvi_gtt_tuning(struct ghyvi_gtt *gtt, struct ghyvi_shadow_tuning *tuning);
/** ghyvi_gtt_policy_list() - all names, the active one in brackets, newline at the end (sysfs). */
int ghyvi_gtt_policy_list(struct ghyvi_gtt *gtt, char *buffer, size_t bytes);

/**
 * ghyvi_gtt_set_ggtt_gfn() - where the guest sees its GGTT table now.
 * @gfn: guest page number of the table's first page, or GHYVI_INVALID_GFN while the BAR is not mapped.
 *	Protection on the old place is dropped; the pages count as relaxed until protected again.
 */
void ghyvi_gtt_set_ggtt_gfn(struct ghyvi_gtt *gtt, u64 gfn);
/** ghyvi_gtt_ggtt_live() - the BAR is really mapped into the guest: policies may protect its pages now. */
void ghyvi_gtt_ggtt_live(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_get_root() - the tree at @gpa, shadowed completely, every table page protected or relaxed.
 * @gpa: guest-physical address of the PML4 page (@levels 4), or @gpa4[0..3] of the four page
 *	directories (@levels 3)
 * Creates it when unknown. Returns a counted root, or ERR_PTR: -EFAULT (the root is not guest memory),
 * -ENOMEM, -ENOSPC (too many trees or table pages, and workloads hold them all; the limits bound what one guest can make
 * the host allocate). Where table pages run out below the root, ghyvi_gtt_sync() evicts other trees to complete it.
 * Under the policy "nested" it only remembers the addresses.
 */
struct ghyvi_root *ghyvi_gtt_get_root(struct ghyvi_gtt *gtt, const u64 *gpa4, unsigned int levels);
void ghyvi_gtt_put_root(struct ghyvi_root *root);
/**
 * ghyvi_gtt_forget_root() - the guest is about to free the tree (notification); unknown ones are ignored. Jobs that still
 * hold it find only scratch in it from now on.
 */
void ghyvi_gtt_forget_root(struct ghyvi_gtt *gtt, const u64 *gpa4, unsigned int levels);
/** ghyvi_gtt_forget_roots() - all trees likewise: those that are used again are shadowed again. */
void ghyvi_gtt_forget_roots(struct ghyvi_gtt *gtt);
/** ghyvi_root_bus() - bus address of the top shadow page; 0 for a nested root. */
u64 ghyvi_root_bus(const struct ghyvi_root *root);
/** ghyvi_root_job() - tell @job where its tables are: its root, levels and nested. */
void ghyvi_root_job(const struct ghyvi_root *root, struct ghyvi_job *job);

/** ghyvi_gtt_fault() - a nested job needs guest page @gfn; see @fault of struct ghyvi_client_params. */
int ghyvi_gtt_fault(struct ghyvi_gtt *gtt, u64 gfn);

/**
 * ghyvi_gtt_sync() - synchronisation point: afterwards each shadow entry that @root (NULL: any tree) or the
 * GGTT can reach equals the translation of the guest's entry as it was at some moment after the call began.
 */
void ghyvi_gtt_sync(struct ghyvi_gtt *gtt, struct ghyvi_root *root);
/** ghyvi_gtt_flush() - ghyvi_gtt_sync(mm, NULL), then no stale translation is usable by any engine. */
void ghyvi_gtt_flush(struct ghyvi_gtt *gtt);

/** ghyvi_gtt_trap() - the guest stored @bytes (any length) at @gpa on a protected page; memory has it. */
void ghyvi_gtt_trap(struct ghyvi_gtt *gtt, u64 gpa, unsigned int bytes);
/** ghyvi_gtt_unmap() - guest pages [@gfn, @gfn + @count) go away now: scrub, invalidate, unpin. */
void ghyvi_gtt_unmap(struct ghyvi_gtt *gtt, u64 gfn, u64 count);
/** ghyvi_gtt_protection_lost() - the hypervisor dropped protection of these pages (memslot gone). */
void ghyvi_gtt_protection_lost(struct ghyvi_gtt *gtt, u64 gfn, u64 count);

/**
 * ghyvi_gtt_ggtt_read() - copy from the vGPU's global address space, through the shadow (or, nested, the
 * guest's table).
 * Returns 0 or -EFAULT (outside the partition, or not mapped to guest memory).
 */
int ghyvi_gtt_ggtt_read(struct ghyvi_gtt *gtt, u64 address, void *buffer, size_t bytes);
int ghyvi_gtt_ggtt_write(struct ghyvi_gtt *gtt, u64 address, const void *buffer, size_t bytes);
/**
 * ghyvi_gtt_ggtt_store() - as if the guest's CPU stored @entry as number @index in its GGTT table, followed by a
 * synchronisation of that entry.
 */
void ghyvi_gtt_ggtt_store(struct ghyvi_gtt *gtt, u64 index, u64 entry);
/**
 * ghyvi_gtt_ppgtt_read() - copy from @root's address space, through the shadow (or, nested, the guest's tables).
 * Reads zero where an entry could not be translated. Returns 0 or -EFAULT (not present).
 */
int ghyvi_gtt_ppgtt_read(struct ghyvi_root *root, u64 address, void *buffer, size_t bytes);

/**
 * ghyvi_gtt_check() - the self-check: is each shadow entry that @root (NULL: none) or the GGTT can reach the translation of
 * the guest's entry, or, where stores do not trap, of what the last synchronisation for @root's sake read there; and
 * will what waits be tried again? Counts checks and check_differences; returns the differences. Call right after
 * ghyvi_gtt_sync() while the guest's vCPUs cannot change tables of @root (i915 does not touch those in use).
 * A nested root has nothing to compare, and is not counted.
 */
unsigned int ghyvi_gtt_check(struct ghyvi_gtt *gtt, struct ghyvi_root *root);

/** ghyvi_gtt_dump() - debugfs: roots, table pages with state, one line each. */
void ghyvi_gtt_dump(struct ghyvi_gtt *gtt, struct seq_file *m);

#endif
