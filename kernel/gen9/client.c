// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients: the pages that they map for DMA, their part of the GGTT, and the invalidation of what
 * engines have cached of their tables.
 */
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "gen9.h"

/* ---- parts of the GGTT ---- */

static void fill_part(struct gen9 *gpu, const struct gen9_part *part, dma_addr_t dma)
{
	unsigned int i;

	for (i = 0; i < part->nr_ggtt; i++)
		gen9_ggtt_fill(gpu, part->ggtt[i].start >> GHYVI_PAGE_SHIFT,
			       part->ggtt[i].bytes >> GHYVI_PAGE_SHIFT, dma);
	gen9_ggtt_flush_sync(gpu);
}

static void set_ranges(struct gen9_part *part, const struct ghyvi_range *ggtt, unsigned int nr_ggtt)
{
	memcpy(part->ggtt, ggtt, nr_ggtt * sizeof(*ggtt));
	part->nr_ggtt = nr_ggtt;
}

static bool has_ranges(const struct gen9_part *part, const struct ghyvi_range *ggtt,
		       unsigned int nr_ggtt)
{
	unsigned int i;

	for (i = 0; i < nr_ggtt && i < part->nr_ggtt; i++)
		if (part->ggtt[i].start != ggtt[i].start || part->ggtt[i].bytes != ggtt[i].bytes)
			return false;
	return nr_ggtt == part->nr_ggtt;
}

static bool part_overlaps(const struct gen9_part *part, const struct ghyvi_range *ggtt,
			  unsigned int nr_ggtt)
{
	unsigned int i, k;

	for (i = 0; i < part->nr_ggtt; i++)
		for (k = 0; k < nr_ggtt; k++)
			if (part->ggtt[i].start < ggtt[k].start + ggtt[k].bytes &&
			    ggtt[k].start < part->ggtt[i].start + part->ggtt[i].bytes)
				return true;
	return false;
}

/* No entry maps its page any more. */
static void part_free(struct gen9 *gpu, struct gen9_part *part)
{
	gen9_backing_free(gpu, &part->scratch);
	kfree(part);
}

/*
 * Take the unused part with exactly these ranges, if any; drop others that they overlap. Another
 * new client may have the rest of a dropped part. It waits here, so that its entries are written
 * last.
 */
static struct gen9_part *take_unused_part(struct gen9 *gpu, const struct ghyvi_range *ggtt,
					  unsigned int nr_ggtt)
{
	struct gen9_part *part, *next, *same = NULL;

	mutex_lock(&gpu->parts_lock);
	list_for_each_entry_safe(part, next, &gpu->unused_parts, node) {
		if (has_ranges(part, ggtt, nr_ggtt)) {
			list_del_init(&part->node);
			same = part;
		} else if (part_overlaps(part, ggtt, nr_ggtt)) {
			list_del(&part->node);
			fill_part(gpu, part, gpu->scratch[0].dma);
			part_free(gpu, part);
		}
	}
	mutex_unlock(&gpu->parts_lock);
	return same;
}

/* Entries of a previous owner must not be reachable. */
static struct gen9_part *part_get(struct gen9 *gpu, const struct ghyvi_range *ggtt,
				  unsigned int nr_ggtt)
{
	struct gen9_part *part = take_unused_part(gpu, ggtt, nr_ggtt);

	if (part)
		return part;
	part = kzalloc(sizeof(*part), GFP_KERNEL); /* outlives its client */
	if (!part)
		return NULL;
	INIT_LIST_HEAD(&part->node);
	if (gen9_backing_alloc(gpu, &part->scratch, GFP_KERNEL)) {
		kfree(part);
		return NULL;
	}
	set_ranges(part, ggtt, nr_ggtt);
	fill_part(gpu, part, part->scratch.dma);
	return part;
}

/* Its page becomes that of a new part. No job of its client runs. */
static void part_clear(struct gen9_part *part)
{
	memset(page_address(part->scratch.page), 0, GHYVI_PAGE_BYTES);
}

/* Its entries and its page become those of a new part. */
static void part_put(struct gen9 *gpu, struct gen9_part *part)
{
	fill_part(gpu, part, part->scratch.dma);
	part_clear(part);
	mutex_lock(&gpu->parts_lock);
	list_add(&part->node, &gpu->unused_parts);
	mutex_unlock(&gpu->parts_lock);
}

void gen9_parts_free(struct gen9 *gpu)
{
	struct gen9_part *part, *next;

	list_for_each_entry_safe(part, next, &gpu->unused_parts, node) {
		list_del(&part->node);
		part_free(gpu, part);
	}
}

/* ---- clients ---- */

struct ghyvi_pgpu_client *gen9_client_create(struct ghyvi_pgpu_device *pgpu,
					     const struct ghyvi_client_params *params)
{
	struct gen9_client *client;

	if (WARN_ON_ONCE(params->gen != 9))
		return ERR_PTR(-EINVAL);
	client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	if (!client)
		return ERR_PTR(-ENOMEM);
	client->gpu = gen9_of(pgpu);
	client->base.params = *params;
	spin_lock_init(&client->rate_lock);
	client->part = part_get(client->gpu, params->ggtt, params->nr_ggtt);
	if (!client->part) {
		kfree(client);
		return ERR_PTR(-ENOMEM);
	}
	gen9_windows_add_client(client);
	return &client->base;
}

void gen9_client_destroy(struct ghyvi_pgpu_client *handle)
{
	struct gen9_client *client = gen9_client(handle);

	gen9_windows_remove_client(client);
	part_put(client->gpu, client->part);
	kfree(client);
}

/*
 * The page is all that outlives the jobs of a client. Its images and rings were given back with its
 * contexts, at addresses of the host; the next user of each fills or clears it.
 */
void gen9_client_reset(struct ghyvi_pgpu_client *handle)
{
	part_clear(gen9_client(handle)->part);
}

void gen9_client_set_ggtt(struct ghyvi_pgpu_client *handle, const struct ghyvi_range *ggtt,
			  unsigned int nr_ggtt)
{
	struct gen9_client *client = gen9_client(handle);
	struct gen9_part *part = client->part, *unused;

	fill_part(client->gpu, part, client->gpu->scratch[0].dma);
	gen9_windows_remove_client(client);
	memcpy(handle->params.ggtt, ggtt, nr_ggtt * sizeof(*ggtt));
	handle->params.nr_ggtt = nr_ggtt;
	gen9_windows_add_client(client);
	unused = take_unused_part(client->gpu, ggtt, nr_ggtt);
	if (unused) {
		part_free(client->gpu, part);
		client->part = unused;
		return;
	}
	set_ranges(part, ggtt, nr_ggtt);
	fill_part(client->gpu, part, part->scratch.dma);
}

int gen9_map_page(struct ghyvi_pgpu_client *handle, u64 hpa, enum ghyvi_page_kind kind,
		  dma_addr_t *dma)
{
	struct device *dev = &gen9_client(handle)->gpu->pdev->dev;

	*dma = dma_map_page(dev, pfn_to_page(hpa >> GHYVI_PAGE_SHIFT), 0, GHYVI_PAGE_BYTES,
			    DMA_BIDIRECTIONAL);
	return dma_mapping_error(dev, *dma) ? -ERANGE : 0;
}

void gen9_unmap_page(struct ghyvi_pgpu_client *handle, dma_addr_t dma)
{
	dma_unmap_page(&gen9_client(handle)->gpu->pdev->dev, dma, GHYVI_PAGE_BYTES,
		       DMA_BIDIRECTIONAL);
}

void gen9_ggtt_write(struct ghyvi_pgpu_client *handle, u64 first, const u64 *entries,
		     unsigned int count)
{
	const struct ghyvi_client_params *params = &handle->params;
	struct gen9_client *client = gen9_client(handle);
	unsigned int i;

	if (WARN_ON_ONCE(!ghyvi_ranges_contain(params->ggtt, params->nr_ggtt,
					       first << GHYVI_PAGE_SHIFT,
					       (u64)count << GHYVI_PAGE_SHIFT)))
		return;
	for (i = 0; i < count; i++) {
		dma_addr_t dma = entries[i] & GHYVI_ENTRY_PRESENT ?
					 entries[i] & GHYVI_SHADOW_ADDRESS_MASK :
					 client->part->scratch.dma;

		gen9_ggtt_set(client->gpu, first + i, gen9_ggtt_entry(dma));
	}
}

/* The inverse of gen9_ggtt_write(). Entries of the GGTT have no bit for the right to write. */
u64 gen9_ggtt_read(struct ghyvi_pgpu_client *handle, u64 index)
{
	struct gen9_client *client = gen9_client(handle);
	u64 entry;

	if (index >= client->gpu->ggtt_bytes >> GHYVI_PAGE_SHIFT)
		return 0;
	entry = READ_ONCE(client->gpu->ggtt[index]);
	return entry == gen9_ggtt_entry(client->part->scratch.dma) ? 0 : entry | GHYVI_ENTRY_WRITE;
}

/* ---- invalidation ---- */

/* Keep the jobs of the clients away from all engines, or let them return. */
static void clients_hold(struct gen9 *gpu, struct ghyvi_pgpu_client *const *clients,
			 unsigned int count, int change)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		atomic_add(change, &gen9_client(clients[i])->held);
	/* An engine that takes a submission afterwards sees it. */
	for (i = 0; i < GHYVI_ENGINES; i++)
		gen9_engine_kick(&gpu->engines[i]);
}

/*
 * A call that finds no bit set returns when another one has cleared it, so the bits stay until the
 * translations are gone. An engine that is suspended, dead or being reset drops its translations
 * before it executes anything.
 */
static int drop_translations(struct gen9_engine *engine, struct ghyvi_pgpu_client *const *clients,
			     unsigned int count)
{
	struct gen9 *gpu = engine->gpu;
	bool any = false;
	unsigned int i;
	int err = 0;

	spin_lock(&gpu->tlb_lock);
	for (i = 0; i < count; i++)
		any |= test_bit(engine->id, &gen9_client(clients[i])->engines);
	if (any && !READ_ONCE(engine->blocked))
		err = gen9_engine_invalidate(engine);
	for (i = 0; i < count && any && !err; i++)
		clear_bit(engine->id, &gen9_client(clients[i])->engines);
	spin_unlock(&gpu->tlb_lock);
	return err;
}

struct recovery {
	struct work_struct work;
	struct gen9_engine *engine;
};

static void recovery_work(struct work_struct *work)
{
	gen9_engine_recover(container_of(work, struct recovery, work)->engine, true);
}

/* The reset of the engine drops its translations, too. */
static void engine_recover(struct gen9_engine *engine, struct ghyvi_pgpu_client *const *clients,
			   unsigned int count)
{
	struct recovery call = { .engine = engine };
	unsigned int i;

	gen9_worker_call(engine->gpu, &call.work, recovery_work);
	for (i = 0; i < count; i++)
		clear_bit(engine->id, &gen9_client(clients[i])->engines);
}

/*
 * Each call may take a job off its engine, so a guest could keep engines busy with nothing else.
 * Its thread waits for the next tick then. GPU time is not charged for a call: the job's time has
 * its save and its restore, and the job of another guest that begins meanwhile stays.
 */
static void limit_rate(struct gen9_client *client)
{
	for (;;) {
		unsigned long tick = jiffies;

		spin_lock(&client->rate_lock);
		if (client->invalidations_tick != tick) {
			client->invalidations_tick = tick;
			client->invalidations = 0;
		}
		if (client->invalidations < GEN9_INVALIDATIONS_PER_TICK) {
			client->invalidations++;
			spin_unlock(&client->rate_lock);
			return;
		}
		spin_unlock(&client->rate_lock);
		schedule_timeout_uninterruptible(1);
	}
}

/*
 * A job of the clients that is on an engine leaves it: its context's save flushes what the engine
 * has cached. Then the TLB of each engine that has executed a job of the clients since the last
 * time is invalidated. The thread does that itself, so the time is that of the guest. What others
 * wait for is not preemptible.
 */
void gen9_invalidate(struct ghyvi_pgpu_client *const *clients, unsigned int count)
{
	const struct gen9_jobs jobs = { .clients = clients, .nr_clients = count };
	struct gen9 *gpu = gen9_client(clients[0])->gpu;
	unsigned int i;

	for (i = 0; i < count; i++)
		limit_rate(gen9_client(clients[i]));
	gen9_ggtt_flush_sync(gpu);
	clients_hold(gpu, clients, count, 1);
	gen9_wait_left(gpu, BIT(GHYVI_ENGINES) - 1, &jobs, READ_ONCE(gen9_preempt_timeout_ms));
	for (i = 0; i < GHYVI_ENGINES; i++)
		if (drop_translations(&gpu->engines[i], clients, count))
			engine_recover(&gpu->engines[i], clients, count);
	clients_hold(gpu, clients, count, -1);
}
