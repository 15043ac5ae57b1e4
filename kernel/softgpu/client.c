// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients of the software pGPU, and the ownership map of the isolation oracle: the host pages that
 * each client may access. The map is independent of the shadow tables. An access through a wrong
 * shadow entry must be checked against data that is not derived from that entry.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "engine.h"
#include "workers.h"

#define OWNER_KIND(owner) ((owner)&3)
#define OWNER_COUNT(owner) ((owner) >> 2)
#define OWNER(kind, count) ((u32)(kind) | (u32)(count) << 2)

static unsigned int owner_index(u64 hpa)
{
	return hpa >> GHYVI_PAGE_SHIFT & (SOFTGPU_OWNER_PAGES - 1);
}

struct softgpu_owners *softgpu_owners_find(struct softgpu_client *client, u64 hpa)
{
	return xa_load(&client->owners, hpa >> SOFTGPU_OWNERS_SHIFT);
}

int softgpu_owners_kind(const struct softgpu_owners *owners, u64 hpa)
{
	u32 owner = owners ? READ_ONCE(owners->pages[owner_index(hpa)]) : 0;

	return OWNER_COUNT(owner) ? (int)OWNER_KIND(owner) : -ENOENT;
}

static struct softgpu_owners *owners_create(struct softgpu_client *client, u64 hpa)
{
	struct softgpu_owners *owners = kzalloc(sizeof(*owners), GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&client->owners_lock);
	if (!owners)
		return NULL;
	owners->run = hpa >> SOFTGPU_OWNERS_SHIFT;
	if (xa_err(xa_store(&client->owners, owners->run, owners, GFP_KERNEL_ACCOUNT))) {
		kfree(owners);
		return NULL;
	}
	list_add(&owners->empty, &client->empty);
	return owners;
}

/* An engine in software accesses a page by its physical address. */
int softgpu_map_page(struct ghyvi_pgpu_client *handle, u64 hpa, enum ghyvi_page_kind kind,
		     dma_addr_t *dma)
{
	struct softgpu_client *client = softgpu_client(handle);
	struct softgpu_owners *owners;
	int err = 0;
	u32 owner;

	mutex_lock(&client->owners_lock);
	owners = softgpu_owners_find(client, hpa);
	if (!owners)
		owners = owners_create(client, hpa);
	if (!owners) {
		err = -ENOMEM;
		goto unlock;
	}
	owner = owners->pages[owner_index(hpa)];
	WARN_ON_ONCE(OWNER_COUNT(owner) && OWNER_KIND(owner) != kind);
	if (!OWNER_COUNT(owner) && !owners->mapped++)
		list_del(&owners->empty);
	WRITE_ONCE(owners->pages[owner_index(hpa)], OWNER(kind, OWNER_COUNT(owner) + 1));
	*dma = hpa;
unlock:
	mutex_unlock(&client->owners_lock);
	return err;
}

void softgpu_unmap_page(struct ghyvi_pgpu_client *handle, dma_addr_t hpa)
{
	struct softgpu_client *client = softgpu_client(handle);
	struct softgpu_owners *owners;
	u32 owner;

	mutex_lock(&client->owners_lock);
	owners = softgpu_owners_find(client, hpa);
	owner = owners ? owners->pages[owner_index(hpa)] : 0;
	if (!WARN_ON_ONCE(!OWNER_COUNT(owner))) {
		WRITE_ONCE(owners->pages[owner_index(hpa)],
			   OWNER(OWNER_KIND(owner), OWNER_COUNT(owner) - 1));
		if (OWNER_COUNT(owner) == 1 && !--owners->mapped)
			list_add(&owners->empty, &client->empty);
	}
	mutex_unlock(&client->owners_lock);
}

/* Move the records that describe no page to @gone: no engine finds them any more. */
static void owners_withdraw(struct softgpu_client *client, struct list_head *gone)
{
	struct softgpu_owners *owners;

	mutex_lock(&client->owners_lock);
	list_for_each_entry(owners, &client->empty, empty)
		xa_erase(&client->owners, owners->run);
	list_splice_init(&client->empty, gone);
	mutex_unlock(&client->owners_lock);
}

int softgpu_map_guest(struct ghyvi_pgpu_client *handle, u64 gfn, dma_addr_t hpa)
{
	struct softgpu_client *client = softgpu_client(handle);
	unsigned long index = gfn / SOFTGPU_OWNER_PAGES;
	struct softgpu_guest *guest;
	int err = 0;

	mutex_lock(&client->owners_lock);
	guest = xa_load(&client->guest, index);
	if (!guest) {
		guest = kzalloc(sizeof(*guest), GFP_KERNEL_ACCOUNT);
		err = guest ? xa_err(xa_store(&client->guest, index, guest, GFP_KERNEL_ACCOUNT)) :
			      -ENOMEM;
		if (err)
			kfree(guest);
	}
	if (!err)
		WRITE_ONCE(guest->hpa[gfn % SOFTGPU_OWNER_PAGES], hpa);
	mutex_unlock(&client->owners_lock);
	return err;
}

void softgpu_unmap_guest(struct ghyvi_pgpu_client *handle, u64 gfn)
{
	struct softgpu_client *client = softgpu_client(handle);
	struct softgpu_guest *guest;

	mutex_lock(&client->owners_lock);
	guest = xa_load(&client->guest, gfn / SOFTGPU_OWNER_PAGES);
	if (!WARN_ON_ONCE(!guest || !guest->hpa[gfn % SOFTGPU_OWNER_PAGES]))
		WRITE_ONCE(guest->hpa[gfn % SOFTGPU_OWNER_PAGES], 0);
	mutex_unlock(&client->owners_lock);
}

/* Number of GGTT entries up to the end of the last range, at least 1. */
static size_t ggtt_entries(const struct ghyvi_client_params *params)
{
	u64 end = GHYVI_PAGE_BYTES;
	unsigned int i;

	for (i = 0; i < params->nr_ggtt; i++)
		end = max(end, params->ggtt[i].start + params->ggtt[i].bytes);
	return end >> GHYVI_PAGE_SHIFT;
}

struct ghyvi_pgpu_client *softgpu_client_create(struct ghyvi_pgpu_device *pgpu,
						const struct ghyvi_client_params *params)
{
	struct softgpu_client *client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);

	if (!client)
		return ERR_PTR(-ENOMEM);
	client->ggtt = kvcalloc(ggtt_entries(params), sizeof(u64), GFP_KERNEL_ACCOUNT);
	if (!client->ggtt) {
		kfree(client);
		return ERR_PTR(-ENOMEM);
	}
	client->gpu = softgpu_of(pgpu);
	client->base.params = *params;
	xa_init_flags(&client->owners, XA_FLAGS_ACCOUNT);
	xa_init_flags(&client->guest, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&client->empty);
	mutex_init(&client->owners_lock);
	atomic64_set(&client->generation, 1);
	return &client->base;
}

/*
 * What a kernel has made of its worker must not execute those of the vGPU's next user, whose memory
 * it would reach.
 */
void softgpu_client_reset(struct ghyvi_pgpu_client *handle)
{
	struct softgpu_client *client = softgpu_client(handle);

	softgpu_client_part(client);
	client->told = false;
}

void softgpu_client_destroy(struct ghyvi_pgpu_client *handle)
{
	struct softgpu_client *client = softgpu_client(handle);
	struct softgpu_owners *owners;
	struct softgpu_guest *guest;
	unsigned long index;

	softgpu_client_part(client);
	xa_for_each(&client->owners, index, owners)
		kfree(owners);
	xa_destroy(&client->owners);
	xa_for_each(&client->guest, index, guest)
		kfree(guest);
	xa_destroy(&client->guest);
	mutex_destroy(&client->owners_lock);
	kvfree(client->ggtt);
	kfree(client);
}

static bool engine_runs_one_of(struct softgpu_engine *engine,
			       struct ghyvi_pgpu_client *const *clients, unsigned int count)
{
	bool runs = false;
	unsigned long flags;
	unsigned int i;

	/*
	 * The engine takes engine->lock after engine->job was set and before its first slice. So if
	 * the job is not set yet, all its slices begin after the increment.
	 */
	spin_lock_irqsave(&engine->lock, flags);
	for (i = 0; engine->job && i < count; i++)
		runs |= engine->job->client == clients[i];
	spin_unlock_irqrestore(&engine->lock, flags);
	return runs;
}

/*
 * An engine reads the generation at the beginning of a slice. So each slice that begins after the
 * increment flushes the TLB, and one that began before must end. The engine does not wait for this
 * thread, which belongs to a guest and may get little CPU time.
 *
 * The core maps no page of a client meanwhile: it would get a new ownership record, while a slice
 * that began before still has the old one.
 */
void softgpu_invalidate(struct ghyvi_pgpu_client *const *clients, unsigned int count)
{
	struct softgpu *gpu = softgpu_client(clients[0])->gpu;
	struct softgpu_owners *owners, *next;
	LIST_HEAD(gone);
	unsigned int i;
	u64 slice;

	might_sleep();
	for (i = 0; i < count; i++)
		owners_withdraw(softgpu_client(clients[i]), &gone);
	for (i = 0; i < count; i++)
		atomic64_inc(&softgpu_client(clients[i])->generation);
	smp_mb(); /* pairs with the one in softgpu_access_begin() */
	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct softgpu_engine *engine = &gpu->engines[i];

		slice = READ_ONCE(engine->slice);
		if (engine_runs_one_of(engine, clients, count))
			/* What the engine did in the slice is visible: softgpu_access_end(). */
			wait_event(engine->slice_end, smp_load_acquire(&engine->ended) >= slice);
	}
	/* What a worker maps from now on is of the new generation. */
	for (i = 0; i < count; i++)
		softgpu_client_take_pages(softgpu_client(clients[i]));
	list_for_each_entry_safe(owners, next, &gone, empty)
		kfree(owners);
}
