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

#define INVALIDATE_US 4000

/* Entries of a previous owner must not be reachable. */
static void fill_ggtt(struct gen9_client *client, dma_addr_t dma)
{
	const struct ghyvi_client_params *params = &client->base.params;
	unsigned int i;

	for (i = 0; i < params->nr_ggtt; i++)
		gen9_ggtt_fill(client->gpu, params->ggtt[i].start >> GHYVI_PAGE_SHIFT,
			       params->ggtt[i].bytes >> GHYVI_PAGE_SHIFT, dma);
	gen9_ggtt_flush_sync(client->gpu);
}

static void leave_ggtt(struct gen9_client *client)
{
	fill_ggtt(client, client->gpu->scratch[0].dma);
}

struct ghyvi_pgpu_client *gen9_client_create(struct ghyvi_pgpu_device *pgpu,
					     const struct ghyvi_client_params *params)
{
	struct gen9_client *client;

	if (params->gen != 9) {
		ghyvi_report(params->reporter, "this GPU runs vGPUs of generation 9 only");
		return ERR_PTR(-EOPNOTSUPP);
	}
	client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	if (!client)
		return ERR_PTR(-ENOMEM);
	client->gpu = gen9_of(pgpu);
	client->base.params = *params;
	if (gen9_backing_alloc(client->gpu, &client->scratch)) {
		kfree(client);
		return ERR_PTR(-ENOMEM);
	}
	fill_ggtt(client, client->scratch.dma);
	gen9_windows_add_client(client);
	return &client->base;
}

void gen9_client_destroy(struct ghyvi_pgpu_client *handle)
{
	struct gen9_client *client = gen9_client(handle);

	gen9_windows_remove_client(client);
	leave_ggtt(client);
	gen9_backing_free(client->gpu, &client->scratch);
	kfree(client);
}

void gen9_client_set_ggtt(struct ghyvi_pgpu_client *handle, const struct ghyvi_range *ggtt,
			  unsigned int nr_ggtt)
{
	struct gen9_client *client = gen9_client(handle);

	leave_ggtt(client);
	memcpy(handle->params.ggtt, ggtt, nr_ggtt * sizeof(*ggtt));
	handle->params.nr_ggtt = nr_ggtt;
	fill_ggtt(client, client->scratch.dma);
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
					 client->scratch.dma;

		gen9_ggtt_set(client->gpu, first + i, gen9_ggtt_entry(dma));
	}
}

u64 gen9_ggtt_read(struct ghyvi_pgpu_client *handle, u64 index)
{
	struct gen9 *gpu = gen9_client(handle)->gpu;

	return index < gpu->ggtt_bytes >> GHYVI_PAGE_SHIFT ? READ_ONCE(gpu->ggtt[index]) : 0;
}

/* ---- invalidation ---- */

/* Keep the jobs of the clients away from all engines, or let them return. */
static void hold(struct gen9 *gpu, struct ghyvi_pgpu_client *const *clients, unsigned int count,
		 bool held)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		WRITE_ONCE(gen9_client(clients[i])->held, held);
	/* An engine that takes a submission afterwards sees it. */
	for (i = 0; i < GHYVI_ENGINES; i++)
		gen9_engine_kick(&gpu->engines[i]);
}

static void invalidate_tlb(struct gen9_engine *engine)
{
	static const u32 registers[GHYVI_ENGINES] = {
		[GHYVI_RCS] = GEN8_RTCR,
		[GHYVI_BCS] = GEN8_BTCR,
		[GHYVI_VCS] = GEN8_M1TCR,
		[GHYVI_VECS] = GEN8_VTCR,
	};
	u32 offset = registers[engine->id];

	gen9_write(engine->gpu, offset, 1);
	if (!gen9_wait(engine->gpu, offset, 1, 0, INVALIDATE_US))
		return;
	if (__ratelimit(&engine->gpu->unreliable))
		dev_warn(&engine->gpu->pdev->dev, "%s: a TLB invalidation does not complete\n",
			 ghyvi_engine_name(engine->id));
	gen9_engine_reset(engine);
}

/*
 * A job that is on an engine leaves it: its context's save flushes what the engine has cached. Then
 * the TLB of each engine that has executed a job of the clients since the last time is invalidated.
 */
void gen9_invalidate(struct ghyvi_pgpu_client *const *clients, unsigned int count)
{
	struct gen9 *gpu = gen9_client(clients[0])->gpu;
	unsigned long used = 0;
	unsigned int i;

	mutex_lock(&gpu->control);
	gen9_ggtt_flush_sync(gpu);
	hold(gpu, clients, count, true);
	for (i = 0; i < GHYVI_ENGINES; i++)
		gen9_engine_wait_left(&gpu->engines[i]);
	for (i = 0; i < count; i++)
		used |= xchg(&gen9_client(clients[i])->engines, 0);
	for_each_set_bit(i, &used, GHYVI_ENGINES)
		if (!gpu->dead)
			invalidate_tlb(&gpu->engines[i]);
	hold(gpu, clients, count, false);
	mutex_unlock(&gpu->control);
}
