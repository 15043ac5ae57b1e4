/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Translation state of one vGPU (kernel/gtt). It has the shadowed GGTT partition,
 * the shadowed PPGTT trees and the guest pages pinned for them, and decides when each table page is
 * synced.
 *
 * Locking: gtt->lock (a mutex) protects the state. A function that takes it may sleep. It is taken
 * after vgpu->lock, kvm->slots_lock and kvm->srcu (read side). With it held, only locks of the
 * hypervisor and of the pGPU are taken. No function waits for a job.
 */
#ifndef GHYVI_GTT_H
#define GHYVI_GTT_H

#include <ghyvi/hv.h>
#include <ghyvi/pgpu.h>
#include <ghyvi/shadow_policy.h>

struct ghyvi_gtt;
struct ghyvi_root; /* one PPGTT tree, reference-counted */
struct seq_file;

/**
 * struct ghyvi_aperture_user - the owner of the BAR through which a CPU accesses GGTT pages; it
 *	embeds this structure
 */
struct ghyvi_aperture_user {
	/**
	 * @unmap: remove all mappings of @bytes from GGTT address @address on. Called with
	 * gtt->lock held; may sleep; must not call the gtt.
	 */
	void (*unmap)(struct ghyvi_aperture_user *user, u64 address, u64 bytes);
};

/**
 * struct ghyvi_ggtt_user - the owner of the BAR through which the guest accesses its GGTT table; it
 *	embeds this structure
 */
struct ghyvi_ggtt_user {
	/**
	 * @unmap: remove all mappings of @count pages of the table from page @page on. The next
	 * access to one of them calls ghyvi_gtt_ggtt_map(). Called with gtt->lock held; may sleep;
	 * must not call the gtt.
	 */
	void (*unmap)(struct ghyvi_ggtt_user *user, u64 page, u64 count);
};

/**
 * struct ghyvi_gtt_params - parameters of ghyvi_gtt_create(), which copies them
 *
 * What the pointers refer to must outlive the gtt.
 */
struct ghyvi_gtt_params {
	/** @hv: the guest's hypervisor */
	struct ghyvi_hv *hv;
	/** @pgpu_ops: the pGPU's backend */
	const struct ghyvi_pgpu_ops *pgpu_ops;
	/** @client: the vGPU's client of the pGPU */
	struct ghyvi_pgpu_client *client;
	/**
	 * @ggtt: the guest's own GGTT table, host memory that the guest maps, with one entry per
	 * page of the whole global address space. The gtt reads it with READ_ONCE() and writes it
	 * only in ghyvi_gtt_ggtt_store().
	 */
	u64 *ggtt;
	/**
	 * @ggtt_ranges: the vGPU's partition, in multiples of 2 MiB (one table page). Entries
	 * outside are ignored.
	 */
	struct ghyvi_range ggtt_ranges[2];
	/** @nr_ggtt_ranges: number of @ggtt_ranges used, 0..2 */
	unsigned int nr_ggtt_ranges;
	/** @nested: the pGPU runs nested jobs, see struct ghyvi_pgpu_resources */
	bool nested;
	/** @pages_64k: the guest's GPU has page tables of 64 KiB pages */
	bool pages_64k;
	/** @aperture_user: maps pages of the aperture; NULL: nothing does */
	struct ghyvi_aperture_user *aperture_user;
	/**
	 * @aperture_copied: one page of the aperture, or empty: a copy of the guest page behind it
	 * is mapped, which is written back when its GGTT entry changes
	 */
	struct ghyvi_range aperture_copied;
	/** @ggtt_user: maps the GGTT table; NULL: pages cannot be protected by removing mappings */
	struct ghyvi_ggtt_user *ggtt_user;
	/** @untracked: the hypervisor cannot write-protect guest memory; @ggtt_user is used */
	bool untracked;
	/** @untracked_ggtt: never protect GGTT pages; each sync compares all (to measure) */
	bool untracked_ggtt;
	/** @reporter: where rejected entries and self-check differences are reported */
	struct ghyvi_reporter *reporter;
	/** @stats: the vGPU's counters */
	struct ghyvi_stats *stats;
};

/**
 * ghyvi_gtt_create() - Create the translation state of a vGPU.
 * @params: parameters, copied
 *
 * Nothing is shadowed at first. The policy is "adaptive", or "relaxed" if @untracked is set.
 *
 * Context: Process context, may sleep.
 * Return: the gtt, or an ERR_PTR: %-ENOMEM if memory is short, %-EINVAL if a range of the partition
 * is not a multiple of 2 MiB.
 */
struct ghyvi_gtt *ghyvi_gtt_create(const struct ghyvi_gtt_params *params);

/**
 * ghyvi_gtt_destroy() - Reset and free a gtt.
 * @gtt: the gtt; no other thread uses it, and all roots have been put
 *
 * Nothing remains pinned, write-protected or owned in the pGPU.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_destroy(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_reset() - Drop all trees, GGTT shadow entries, pins and protections.
 * @gtt: the gtt
 *
 * Roots that workloads still hold become empty. The caller has cancelled their jobs.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_reset(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_move_ggtt() - Replace the partition of the GGTT by another one.
 * @gtt: the gtt; it was reset, its BAR is not mapped, and no guest uses it until this returns
 * @ranges: the new partition, see struct ghyvi_gtt_params; no other vGPU's
 * @nr_ranges: number of @ranges, 0..2
 * @aperture_copied: see struct ghyvi_gtt_params
 *
 * For a pGPU whose clients share one GGTT.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: 0, or with nothing changed: %-ENOMEM if memory is short, %-EINVAL if a range is not a
 * multiple of 2 MiB.
 */
int ghyvi_gtt_move_ggtt(struct ghyvi_gtt *gtt, const struct ghyvi_range *ranges,
			unsigned int nr_ranges, const struct ghyvi_range *aperture_copied);

/**
 * ghyvi_gtt_forget_guest() - Forget what the policy has learnt from the guest.
 * @gtt: the gtt
 *
 * The next user of the vGPU pays for no decision of the former one, and learns nothing of it. The
 * measured costs are the host's, and stay.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_forget_guest(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_set_policy() - Select the shadowing policy.
 * @gtt: the gtt
 * @name: name of the policy, see ghyvi_gtt_policy_list()
 *
 * The guest may be running. The policy takes effect page by page. A job ends in the mode (nested or
 * shadowed) in which it was started: its root records the mode and remains valid until it is put.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: 0, or a negative errno with nothing changed. %-EINVAL: there is no such policy.
 * %-EOPNOTSUPP: the policy is "nested" and the pGPU does not run nested jobs.
 */
int ghyvi_gtt_set_policy(struct ghyvi_gtt *gtt, const char *name);

/**
 * ghyvi_gtt_set_tuning() - Set the costs and settings that decisions depend on.
 * @gtt: the gtt
 * @tuning: the new values, with the ranges given at struct ghyvi_shadow_tuning
 *
 * The guest may be running. If there are more table pages than the new tables_max, trees are
 * evicted.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: 0, or %-EINVAL with nothing changed if a value is out of its range.
 */
int ghyvi_gtt_set_tuning(struct ghyvi_gtt *gtt, const struct ghyvi_shadow_tuning *tuning);

/**
 * ghyvi_gtt_get_tuning() - Get the present costs and settings.
 * @gtt: the gtt
 * @tuning: filled with the values
 *
 * Context: Any context. Takes no lock: during a change, some values are old and some are new.
 */
void ghyvi_gtt_get_tuning(struct ghyvi_gtt *gtt, struct ghyvi_shadow_tuning *tuning);

/**
 * ghyvi_gtt_policy_list() - Format the names of all policies for sysfs.
 * @gtt: the gtt
 * @buffer: filled with one line that has the active policy in brackets and ends in a newline
 * @bytes: size of @buffer in bytes, at least 1
 *
 * Context: Any context. Takes no lock.
 * Return: the number of bytes written, without the terminating zero.
 */
int ghyvi_gtt_policy_list(struct ghyvi_gtt *gtt, char *buffer, size_t bytes);

/**
 * ghyvi_gtt_set_ggtt_gfn() - Set where the guest sees its GGTT table.
 * @gtt: the gtt
 * @gfn: guest page number of the table's first page, or GHYVI_INVALID_GFN while the BAR is not
 *	mapped
 *
 * If @gfn changes, protections at the old place are dropped. The pages are relaxed until they are
 * protected again.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_set_ggtt_gfn(struct ghyvi_gtt *gtt, u64 gfn);

/**
 * ghyvi_gtt_ggtt_live() - Allow policies to protect GGTT pages.
 * @gtt: the gtt
 *
 * The caller knows that the BAR is mapped into the guest. The permission ends when
 * ghyvi_gtt_set_ggtt_gfn() changes the gfn.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_ggtt_live(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_get_root() - Get a reference on the tree of a guest-physical root.
 * @gtt: the gtt
 * @gpa4: the guest-physical address of the PML4 page (@levels is 4), or the four of the page
 *	directories (@levels is 3). Bits outside an entry's address field are ignored
 * @levels: 3 or 4
 *
 * A tree that is not known yet is shadowed completely: each of its table pages is protected or
 * relaxed. Entries that find no table page left remain at scratch, and ghyvi_gtt_sync() evicts
 * other trees to complete the tree. Under the policy "nested" only the addresses are recorded.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: the root, to be released with ghyvi_gtt_put_root(), or an ERR_PTR. %-EFAULT: the PML4
 * page is not guest memory. %-ENOMEM: memory is short, or RLIMIT_MEMLOCK is reached. %-ENOSPC:
 * there are too many trees or table pages, and none can be evicted. Or another error of
 * ghyvi_hv_ops.pin or of @map_page of struct ghyvi_pgpu_ops. The limits bound what one guest can
 * make the host allocate.
 */
struct ghyvi_root *ghyvi_gtt_get_root(struct ghyvi_gtt *gtt, const u64 *gpa4, unsigned int levels);

/**
 * ghyvi_gtt_put_root() - Release a reference from ghyvi_gtt_get_root().
 * @root: the root; no job uses it on behalf of the caller any more
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_put_root(struct ghyvi_root *root);

/**
 * ghyvi_gtt_forget_root() - Drop a tree that the guest is about to free.
 * @gtt: the gtt
 * @gpa4: see ghyvi_gtt_get_root()
 * @levels: 3 or 4
 *
 * Unknown trees are ignored. For jobs that still hold the tree it maps only scratch from now on.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_forget_root(struct ghyvi_gtt *gtt, const u64 *gpa4, unsigned int levels);

/**
 * ghyvi_gtt_forget_roots() - Drop all trees as ghyvi_gtt_forget_root() does.
 * @gtt: the gtt
 *
 * A tree that is used again is shadowed again.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_forget_roots(struct ghyvi_gtt *gtt);

/**
 * ghyvi_root_dma() - Get the address of a tree's top shadow page.
 * @root: the root, a reference on which the caller holds
 *
 * Context: Any context. Takes no lock.
 * Return: the DMA address, as for @root of struct ghyvi_job, or 0 for a nested root.
 */
dma_addr_t ghyvi_root_dma(const struct ghyvi_root *root);

/**
 * ghyvi_root_job() - Set the members of a job that describe its tables.
 * @root: the root, a reference on which the caller holds until the job has ended
 * @job: the job; sets @root, @levels, @nested and @guest_root of it
 *
 * Context: Any context. Takes no lock.
 */
void ghyvi_root_job(const struct ghyvi_root *root, struct ghyvi_job *job);

/**
 * ghyvi_gtt_fault() - Pin and map a guest page that a nested job needs.
 * @gtt: the gtt
 * @gfn: guest page number, any value
 *
 * See @fault of struct ghyvi_client_owner.
 *
 * Context: Process context, may sleep. Takes gtt->lock. Engine threads call it with no lock held.
 * Return: 0, or a negative errno: an error of ghyvi_hv_ops.pin, or %-ENOMEM if memory is short.
 */
int ghyvi_gtt_fault(struct ghyvi_gtt *gtt, u64 gfn);

/**
 * ghyvi_gtt_sync() - Sync the shadows of a tree, or of all trees, and of the GGTT.
 * @gtt: the gtt
 * @root: the tree, which is about to be used; NULL or a nested root: all trees
 *
 * Afterwards each shadow entry that @root or the GGTT can reach is current: it equals the
 * translation of the guest's entry at some moment after the call began. An entry that cannot be
 * translated maps scratch.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_sync(struct ghyvi_gtt *gtt, struct ghyvi_root *root);

/**
 * ghyvi_gtt_flush() - Sync all shadows and invalidate the pGPU's cached translations.
 * @gtt: the gtt
 *
 * Afterwards no engine uses a translation older than the call. Relaxed pages stay relaxed.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_flush(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_trap() - Handle a guest store to a write-protected page.
 * @gtt: the gtt
 * @gpa: guest-physical address of the store
 * @bytes: its size in bytes, any; pages that are no table pages are ignored
 *
 * Guest memory has the new value already.
 *
 * Context: Process context, may sleep. Takes gtt->lock. May be called with kvm->srcu held for
 * reading.
 */
void ghyvi_gtt_trap(struct ghyvi_gtt *gtt, u64 gpa, unsigned int bytes);

/**
 * ghyvi_gtt_multicall() - Make stores to page tables that the guest has declared.
 * @gtt: the gtt
 * @gpa: guest-physical address of the page of records, see ghyvi/multicall.h; any value
 * @count: number of records, any value
 * @applied: set to the number of records that were applied
 *
 * Each store is made in guest memory and translated as a trapped store is. Protected pages stay
 * protected. The result is written to the page of records, unless that page cannot be used.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: 0 if all records were applied. %-EINVAL: @gpa is no page address, @count is not in
 * 1..GHYVI_MULTICALL_RECORDS, or the address in a record is no multiple of 8. %-ENOENT: the address
 * in a record is in no PPGTT table page that is shadowed. %-EBUSY: the page of records is a table
 * page. %-EOPNOTSUPP: the policy is "nested". Or another error of ghyvi_hv_ops.pin or of @map_page
 * of struct ghyvi_pgpu_ops.
 */
int ghyvi_gtt_multicall(struct ghyvi_gtt *gtt, u64 gpa, u32 count, u32 *applied);

/**
 * ghyvi_gtt_unmap() - Remove guest pages that are about to disappear.
 * @gtt: the gtt
 * @gfn: first guest page
 * @count: number of guest pages; 0 does nothing
 *
 * Entries that refer to the pages map scratch, the pGPU is invalidated, and the pages are unpinned.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_unmap(struct ghyvi_gtt *gtt, u64 gfn, u64 count);

/**
 * ghyvi_gtt_protection_lost() - Relax pages whose protection the hypervisor has dropped.
 * @gtt: the gtt
 * @gfn: first guest page
 * @count: number of guest pages, at least 1
 *
 * Called when a memslot is removed.
 *
 * Context: Process context, may sleep. Takes gtt->lock. May be called with kvm->slots_lock held.
 */
void ghyvi_gtt_protection_lost(struct ghyvi_gtt *gtt, u64 gfn, u64 count);

/**
 * ghyvi_gtt_ggtt_read() - Read from the vGPU's global address space.
 * @gtt: the gtt
 * @address: byte address in the global address space
 * @buffer: filled with the data
 * @bytes: number of bytes, may cross pages
 *
 * Uses the shadow or, under the policy "nested", the guest's table. The entries used are synced
 * first.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: 0, or %-EFAULT if a page is outside the partition or not mapped to guest memory. The data
 * before that page has been copied.
 */
int ghyvi_gtt_ggtt_read(struct ghyvi_gtt *gtt, u64 address, void *buffer, size_t bytes);

/**
 * ghyvi_gtt_ggtt_write() - Write to the vGPU's global address space.
 * @gtt: the gtt
 * @address: byte address in the global address space
 * @buffer: the data
 * @bytes: number of bytes, may cross pages
 *
 * Like ghyvi_gtt_ggtt_read(). Four or eight naturally aligned bytes are written with a single
 * store.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: 0, or %-EFAULT if a page is outside the partition or not mapped to guest memory. The data
 * before that page has been written.
 */
int ghyvi_gtt_ggtt_write(struct ghyvi_gtt *gtt, u64 address, const void *buffer, size_t bytes);

/**
 * ghyvi_gtt_aperture_prepare() - Find the guest page behind a page of the aperture.
 * @gtt: the gtt
 * @address: address in the global address space
 *
 * Where the GGTT maps no guest memory, a page is used that belongs to the vGPU and contains zeros
 * at first. The result is for ghyvi_gtt_aperture_map(), and valid until the GGTT entry changes.
 *
 * Context: Process context, may sleep. Takes gtt->lock; pins. The caller holds no lock that pinning
 * takes, such as mmap_lock.
 * Return: 0; %-ENOMEM; or %-EINVAL if the gtt has no aperture_user or does not reach @address.
 */
int ghyvi_gtt_aperture_prepare(struct ghyvi_gtt *gtt, u64 address);

/**
 * ghyvi_gtt_aperture_map() - Map the page that ghyvi_gtt_aperture_prepare() found.
 * @gtt: the gtt
 * @address: as there
 * @map: maps the page; @hpa is its host-physical address, and remains valid until @unmap of struct
 *	ghyvi_aperture_user
 * @data: passed to @map
 *
 * Context: Process context, may sleep. Takes no gtt->lock, so that the caller may hold mmap_lock.
 * Return: what @map returned, or %-EAGAIN: no page was prepared, or its GGTT entry changed.
 */
int ghyvi_gtt_aperture_map(struct ghyvi_gtt *gtt, u64 address, int (*map)(void *data, u64 hpa),
			   void *data);

/**
 * ghyvi_gtt_ggtt_map() - Map a page of the GGTT table for the guest.
 * @gtt: the gtt
 * @page: number of the page in the table
 * @map: maps it, writable
 * @data: passed to @map
 *
 * The page counts as written from now on, until @unmap of struct ghyvi_ggtt_user.
 *
 * Context: Process context, may sleep. Takes no gtt->lock, so that the caller may hold mmap_lock.
 * Return: what @map returned, or %-EINVAL if the table has no such page.
 */
int ghyvi_gtt_ggtt_map(struct ghyvi_gtt *gtt, u64 page, int (*map)(void *data), void *data);

/**
 * ghyvi_gtt_can_log() - Test whether writes to guest memory can be logged.
 * @gtt: the gtt
 *
 * Context: Any context. Takes no lock.
 * Return: false if the backend does not log.
 */
bool ghyvi_gtt_can_log(const struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_log_start() - Begin to log which guest pages the vGPU writes.
 * @gtt: the gtt
 *
 * Logged are writes by engines, by the host (context images, status pages), and by CPUs through the
 * aperture.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: 0; %-EBUSY: it has begun already; %-EOPNOTSUPP: the backend does not log.
 */
int ghyvi_gtt_log_start(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_log_stop() - Stop logging and forget what was logged.
 * @gtt: the gtt
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_log_stop(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_log_read() - Read and clear the log of a range of guest pages.
 * @gtt: the gtt
 * @gfn: first guest page
 * @count: number of guest pages
 * @dirty: called for each page that was written since the last call, or since logging began. May
 *	be called twice for a page. Called without locks; may sleep.
 * @data: passed to @dirty
 *
 * A write between the last @dirty call for its page and the return of this function may or may not
 * be logged for the next call. A copy of the page that is made after the return contains it.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: 0; %-EINVAL: logging has not begun; %-ENOMEM: the log is not complete, and will not be
 * until it begins again.
 */
int ghyvi_gtt_log_read(struct ghyvi_gtt *gtt, u64 gfn, u64 count,
		       void (*dirty)(void *data, u64 gfn), void *data);

/**
 * ghyvi_gtt_aperture_close() - Remove all mappings of the aperture.
 * @gtt: the gtt
 *
 * What the guest has stored in the copied page is in guest memory afterwards. Later accesses map
 * pages again.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_aperture_close(struct ghyvi_gtt *gtt);

/**
 * ghyvi_gtt_ggtt_store() - Store an entry in the guest's GGTT table and sync it.
 * @gtt: the gtt
 * @index: number of the entry; entries outside the partition are ignored
 * @entry: the guest's entry
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_ggtt_store(struct ghyvi_gtt *gtt, u64 index, u64 entry);

/**
 * ghyvi_gtt_ppgtt_read() - Read from the address space of a tree.
 * @root: the root, a reference on which the caller holds
 * @address: byte address; wraps at 32 bits (three levels) or 48 bits (four levels)
 * @buffer: filled with the data; zeroes where an entry could not be translated
 * @bytes: number of bytes, may cross pages
 *
 * Uses the shadow or, for a nested root, the guest's tables. Shadows are not synced.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: 0, or %-EFAULT if a page is not present. The data before that page has been copied.
 */
int ghyvi_gtt_ppgtt_read(struct ghyvi_root *root, u64 address, void *buffer, size_t bytes);

/**
 * ghyvi_gtt_check() - Verify the shadows that a tree and the GGTT can reach.
 * @gtt: the gtt
 * @root: the tree, or NULL for the GGTT only
 *
 * Each shadow entry must be the translation of the guest's entry or, on a relaxed page, of what the
 * last sync of the tree read there. Deferred entries must be due for a retry. Counts checks and
 * check_differences and reports the first difference. Nothing is checked or counted for a nested
 * root, or without a root under the policy "nested".
 *
 * Must be called right after ghyvi_gtt_sync(), while the guest's vCPUs cannot change tables of
 * @root (i915 does not change tables that are in use).
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 * Return: the number of differences.
 */
unsigned int ghyvi_gtt_check(struct ghyvi_gtt *gtt, struct ghyvi_root *root);

/**
 * ghyvi_gtt_dump() - Print the policy, roots and PPGTT table pages for debugfs.
 * @gtt: the gtt
 * @m: the file, one line per object
 *
 * The lock is dropped between groups of tables, which may change meanwhile.
 *
 * Context: Process context, may sleep. Takes gtt->lock.
 */
void ghyvi_gtt_dump(struct ghyvi_gtt *gtt, struct seq_file *m);

#endif
