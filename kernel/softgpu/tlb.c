// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation of graphics addresses to host pages. The engine walks the tables in memory as
 * hardware does. The isolation oracle checks each host page that a walk uses against the client's
 * ownership map.
 */
#include <linux/compiler.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include "engine.h"

/* Results of a nested walk besides those of enum softgpu_cs_status. */
#define WALK_FAULT 0x10 /* engine->fault_gfn is not mapped */
#define WALK_SCRATCH 0x11 /* an entry, at any level, cannot be translated */
/*
 * Maximum number of faults in one walk. A dozen would be enough, but the core may evict pages to
 * make room for others while the walk is in progress.
 */
#define WALK_FAULTS_MAX 64

/* Size of the region that one level-2 entry translates. */
#define REGION_SHIFT (GHYVI_PAGE_SHIFT + 9)

/* Reads of a scratch page return these zeros, whatever the page contains. */
static const u8 softgpu_zeroes[GHYVI_PAGE_BYTES] __aligned(8);

/* Get the kind of a host page from the client's current ownership map, or -ENOENT. */
static int softgpu_owns(struct softgpu_engine *engine, u64 hpa)
{
	u64 run = hpa >> SOFTGPU_OWNERS_SHIFT;
	typeof(engine->runs[0]) *slot = &engine->runs[softgpu_run_index(run)];

	if (slot->run != run || !slot->owners) {
		slot->run = run;
		slot->owners = softgpu_owners_find(engine->client, hpa);
	}
	return softgpu_owners_kind(slot->owners, hpa);
}

bool softgpu_is_zeros(const u8 *pointer)
{
	return pointer >= softgpu_zeroes && pointer < softgpu_zeroes + sizeof(softgpu_zeroes);
}

static int softgpu_violation(struct softgpu_engine *engine, u64 address, u64 hpa, int kind)
{
	ghyvi_count(engine->client->base.params.stats, oracle_violations);
	return softgpu_error(engine, "address %#llx maps page %#llx, which is %s: isolation oracle",
			     address, hpa,
			     kind < 0 ? "not owned by the client" :
					"owned by the client as another kind of page");
}

/* Get the host address of guest page @gfn; 0 if it is not mapped. */
static u64 softgpu_guest_page(struct softgpu_engine *engine, u64 gfn)
{
	u64 run = gfn / SOFTGPU_OWNER_PAGES;
	typeof(engine->guest_runs[0]) *slot = &engine->guest_runs[softgpu_run_index(run)];

	if (slot->run != run || !slot->guest) {
		slot->run = run;
		slot->guest = xa_load(&engine->client->guest, run);
	}
	return slot->guest ? READ_ONCE(slot->guest->hpa[gfn % SOFTGPU_OWNER_PAGES]) : 0;
}

/* Get the host page that an entry of a shadow or guest table maps. Returns 0 or WALK_FAULT. */
static int softgpu_entry_page(struct softgpu_engine *engine, u64 entry, u64 *hpa)
{
	if (!engine->job->nested) {
		*hpa = entry & GHYVI_SHADOW_ADDRESS_MASK;
		return 0;
	}
	engine->fault_gfn = (entry & GHYVI_GUEST_ADDRESS_MASK) >> GHYVI_PAGE_SHIFT;
	*hpa = softgpu_guest_page(engine, engine->fault_gfn);
	return *hpa ? 0 : WALK_FAULT;
}

/* Fill @slot from @entry, an entry of a level-1 table or of the GGTT. */
static int softgpu_translate(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot,
			     u64 address, u64 entry, bool writable)
{
	u64 hpa;
	int kind, err;

	err = softgpu_entry_page(engine, entry, &hpa);
	if (err)
		return err;
	kind = softgpu_owns(engine, hpa);
	switch (kind) {
	case GHYVI_PAGE_DATA:
		slot->pointer = phys_to_virt(hpa);
		slot->writable = writable;
		slot->log = writable && READ_ONCE(engine->client->logging);
		break;
	case GHYVI_PAGE_SCRATCH:
		slot->pointer = (u8 *)softgpu_zeroes;
		slot->writable = false;
		slot->log = false;
		break;
	default:
		return softgpu_violation(engine, address, hpa, kind);
	}
	slot->page = address >> GHYVI_PAGE_SHIFT;
	slot->epoch = engine->epoch;
	return 0;
}

/* Get the table that @entry of a level above it points to. @address: what the walk is for. */
static int softgpu_table(struct softgpu_engine *engine, u64 address, u64 entry, const u64 **entries)
{
	/* To the oracle, a guest's own tables are data pages of that guest. */
	int wanted = engine->job->nested ? GHYVI_PAGE_DATA : GHYVI_PAGE_TABLE;
	u64 table;
	int kind, err = softgpu_entry_page(engine, entry, &table);

	if (err)
		return err;
	kind = softgpu_owns(engine, table);
	if (kind != wanted)
		return softgpu_violation(engine, address, table, kind);
	*entries = phys_to_virt(table);
	return 0;
}

/* Walk the upper levels for @address, down to its level-1 table or 2 MiB page. */
static int softgpu_walk_upper(struct softgpu_engine *engine, struct softgpu_walk_entry *walk,
			      u64 address)
{
	const struct ghyvi_job *job = engine->job;
	unsigned int level, levels = job->levels;
	u64 entry = job->nested ? job->guest_root[0] : job->root;

	walk->epoch = 0;
	walk->writable = true;
	walk->within = 0;
	/*
	 * The four page directories of a nested 3-level context are in its image, not in a table.
	 */
	if (job->nested && levels == GHYVI_LEVEL_PDP) {
		entry = job->guest_root[address >> (GHYVI_PAGE_SHIFT + 18) & 3];
		levels = GHYVI_LEVEL_PD;
	}
	for (level = levels;; level--) {
		unsigned int shift = GHYVI_PAGE_SHIFT + 9 * (level - 1);
		const u64 *entries = NULL;
		int err = softgpu_table(engine, address, entry, &entries);

		if (err)
			return err;
		if (level == GHYVI_LEVEL_PT) {
			walk->entries = entries;
			break;
		}
		entry = READ_ONCE(entries[address >> shift & (GHYVI_ENTRIES - 1)]);
		if (!(entry & GHYVI_ENTRY_PRESENT))
			return softgpu_error(engine, "PPGTT address %#llx not present at level %u",
					     address, level);
		/*
		 * The four PDP entries of a 3-level context have neither permission nor size bits.
		 */
		if (levels != GHYVI_LEVEL_PDP || level != levels) {
			walk->writable &= !!(entry & GHYVI_ENTRY_WRITE);
			if (level == GHYVI_LEVEL_PDP && entry & GHYVI_ENTRY_LARGE)
				return job->nested ?
					       WALK_SCRATCH :
					       softgpu_error(engine,
							     "PPGTT address %#llx: page of 1 GiB",
							     address);
		}
		if (level == GHYVI_LEVEL_PD && entry & GHYVI_ENTRY_LARGE) {
			walk->large = entry;
			walk->entries = &walk->large;
			walk->within = GHYVI_ENTRIES - 1;
			break;
		}
		if (level == GHYVI_LEVEL_PD && entry & GHYVI_ENTRY_64K &&
		    engine->client->base.params.gen >= 9)
			walk->within = GHYVI_PTES_PER_64K - 1;
	}
	walk->region = address >> REGION_SHIFT;
	walk->epoch = engine->epoch;
	return 0;
}

/*
 * Get the entry of a level-1 table, or of a larger page, that translates page @number of the
 * region. Each 4 KiB of a larger page is translated separately: the oracle checks each of them, and
 * in a nested job they need not be contiguous in host memory.
 */
static u64 softgpu_walk_entry(const struct softgpu_walk_entry *walk, u64 number)
{
	u64 within = number & walk->within, entry = READ_ONCE(walk->entries[number - within]);

	return (entry & ~(walk->within << GHYVI_PAGE_SHIFT)) | within << GHYVI_PAGE_SHIFT;
}

static int softgpu_walk_ppgtt(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot,
			      u64 address)
{
	u64 region = address >> REGION_SHIFT,
	    number = address >> GHYVI_PAGE_SHIFT & (GHYVI_ENTRIES - 1);
	struct softgpu_walk_entry *walk = &engine->walks[softgpu_tlb_index(region, SOFTGPU_WALKS)];
	u64 entry;
	int err;

	if (walk->region != region || walk->epoch != engine->epoch) {
		err = softgpu_walk_upper(engine, walk, address);
		if (err)
			return err;
	}
	entry = softgpu_walk_entry(walk, number);
	if (!(entry & GHYVI_ENTRY_PRESENT))
		return softgpu_error(engine, "PPGTT address %#llx not present at level %u", address,
				     GHYVI_LEVEL_PT);
	return softgpu_translate(engine, slot, address, entry,
				 walk->writable && entry & GHYVI_ENTRY_WRITE);
}

/*
 * Get the page that follows PPGTT address @address by @pages, if it has data, may be accessed so,
 * and is in the same region, whose tables have just been walked. Returns NULL otherwise.
 */
static u8 *softgpu_page_behind(struct softgpu_engine *engine, u64 address, unsigned int pages,
			       bool write)
{
	u64 page = (address & engine->ppgtt_mask) >> GHYVI_PAGE_SHIFT,
	    region = page / GHYVI_ENTRIES;
	u64 number = page % GHYVI_ENTRIES + pages, entry, hpa;
	const struct softgpu_walk_entry *walk =
		&engine->walks[softgpu_tlb_index(region, SOFTGPU_WALKS)];

	lockdep_assert_held(&engine->access);
	if (number >= GHYVI_ENTRIES || walk->region != region || walk->epoch != engine->epoch)
		return NULL;
	/* softgpu_map() logs each page. */
	if (write && (!walk->writable || READ_ONCE(engine->client->logging)))
		return NULL;
	entry = softgpu_walk_entry(walk, number);
	if (!(entry & GHYVI_ENTRY_PRESENT) || (write && !(entry & GHYVI_ENTRY_WRITE)) ||
	    softgpu_entry_page(engine, entry, &hpa) || softgpu_owns(engine, hpa) != GHYVI_PAGE_DATA)
		return NULL;
	return phys_to_virt(hpa);
}

u32 softgpu_contiguous(struct softgpu_engine *engine, u64 address, const u8 *pointer, u32 bytes,
		       bool write)
{
	const u8 *page = pointer - (address & (GHYVI_PAGE_BYTES - 1));
	unsigned int pages = 1;

	while (pages * GHYVI_PAGE_BYTES - (pointer - page) < bytes &&
	       softgpu_page_behind(engine, address, pages, write) ==
		       page + pages * GHYVI_PAGE_BYTES)
		pages++;
	return min_t(u32, pages * GHYVI_PAGE_BYTES - (pointer - page), bytes);
}

unsigned int softgpu_pages_behind(struct softgpu_engine *engine, u64 address, u8 **pointers,
				  unsigned int pages, bool write)
{
	unsigned int count = 1;

	for (; count < pages; count++) {
		pointers[count] = softgpu_page_behind(engine, address, count, write);
		if (!pointers[count])
			break;
	}
	return count;
}

static int softgpu_walk_ggtt(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot,
			     u64 address)
{
	const struct ghyvi_client_params *params = &engine->client->base.params;
	const u64 *ggtt;
	u64 entry;

	if (!ghyvi_ranges_contain(params->ggtt, params->nr_ggtt, address, 1))
		return softgpu_error(engine, "GGTT address %#llx is outside the vGPU's ranges",
				     address);
	ggtt = engine->job->nested ? params->ggtt_table : engine->client->ggtt;
	entry = READ_ONCE(ggtt[address >> GHYVI_PAGE_SHIFT]);
	if (!(entry & GHYVI_ENTRY_PRESENT))
		return softgpu_error(engine, "GGTT address %#llx not present", address);
	/* GGTT entries have no write permission bit: all pages are writable. */
	return softgpu_translate(engine, slot, address, entry, true);
}

static int softgpu_walk(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot,
			enum softgpu_space space, u64 address)
{
	/* A walk that fails must not leave a partly filled entry that looks valid. */
	slot->epoch = 0;
	if (space == SOFTGPU_GGTT)
		return softgpu_walk_ggtt(engine, slot, address);
	return softgpu_walk_ppgtt(engine, slot, address);
}

/* The core may ask at any time for how long the job has waited. */
static void softgpu_add_wait(struct ghyvi_job *job, s64 ns)
{
	WRITE_ONCE(job->waited_ns, job->waited_ns + ns);
}

/*
 * Ask the core to map the guest page that a walk needs, and sleep until it has, or until the job is
 * cancelled, or must give way and can. The core may be in invalidate(), which waits for the end of
 * the slice: end it first. Others' wait for the page is no fault of the guest, whose memory the
 * host may have swapped out.
 */
static int softgpu_fault(struct softgpu_engine *engine)
{
	struct ghyvi_client_owner *owner = engine->client->base.params.owner;
	const struct softgpu_job *job = softgpu_job(engine->job);
	int err;

	softgpu_raise(engine);
	softgpu_access_end(engine);
	softgpu_add_wait(engine->job, -(s64)ktime_get_ns());
	owner->fault(owner, engine->id, engine->fault_gfn);
	wait_event_idle(owner->faulted,
			(err = owner->fault_status(owner, engine->id)) != -EINPROGRESS ||
				READ_ONCE(job->stop) || (engine->redo && READ_ONCE(job->preempt)));
	softgpu_add_wait(engine->job, ktime_get_ns());
	softgpu_access_begin(engine);
	if (READ_ONCE(job->stop))
		return SOFTGPU_CANCELLED;
	if (err == -EINPROGRESS)
		return SOFTGPU_PREEMPTED;
	if (READ_ONCE(job->preempt))
		engine->bytes_left = 0; /* softgpu_part_done() decides */
	return err ? WALK_SCRATCH : SOFTGPU_OK;
}

/* Map zeros, as a shadow maps the scratch page for an entry that cannot be translated. */
static void softgpu_scratch(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot,
			    u64 address)
{
	const struct ghyvi_client_params *params = &engine->client->base.params;

	ghyvi_count(params->stats, entries_rejected);
	ghyvi_report(params->reporter,
		     "address %#llx cannot be translated (guest page %#llx), reads as zero",
		     address, engine->fault_gfn);
	slot->pointer = (u8 *)softgpu_zeroes;
	slot->writable = false;
	slot->log = false;
	slot->page = address >> GHYVI_PAGE_SHIFT;
	slot->epoch = engine->epoch;
}

int softgpu_tlb_fill(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot,
		     enum softgpu_space space, u64 address)
{
	unsigned int faults = 0;
	int err;

	lockdep_assert_held(&engine->access);
	err = softgpu_walk(engine, slot, space, address);
	while (unlikely(err == WALK_FAULT)) {
		err = faults++ < WALK_FAULTS_MAX ? softgpu_fault(engine) : WALK_SCRATCH;
		if (!err)
			err = softgpu_walk(engine, slot, space, address);
	}
	if (likely(err != WALK_SCRATCH))
		return err;
	softgpu_scratch(engine, slot, address);
	return 0;
}
