// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of host pages that engines write, for live migration. While a client logs, the first
 * write through each TLB entry sets the page's bit; further writes cost nothing. invalidate()
 * flushes the TLB, so that the next write is logged again.
 */
#include <linux/compiler.h>
#include <linux/io.h>
#include "engine.h"

static unsigned int bit_of(u64 hpa)
{
	return hpa >> GHYVI_PAGE_SHIFT & (SOFTGPU_OWNER_PAGES - 1);
}

void softgpu_log_write(struct softgpu_engine *engine, struct softgpu_tlb_entry *slot)
{
	u64 hpa = virt_to_phys(slot->pointer);
	struct softgpu_owners *owners = softgpu_owners_find(engine->client, hpa);

	lockdep_assert_held(&engine->access);
	slot->log = false;
	if (!WARN_ON_ONCE(!owners))
		atomic64_or(BIT_ULL(bit_of(hpa)), &owners->written);
}

void softgpu_log_set(struct ghyvi_pgpu_client *handle, bool on)
{
	struct softgpu_client *client = softgpu_client(handle);
	struct softgpu_owners *owners;
	unsigned long run;

	WRITE_ONCE(client->logging, on);
	mutex_lock(&client->owners_lock);
	xa_for_each(&client->owners, run, owners)
		atomic64_set(&owners->written, 0);
	mutex_unlock(&client->owners_lock);
	softgpu_invalidate(&handle, 1);
}

bool softgpu_log_read(struct ghyvi_pgpu_client *handle, dma_addr_t hpa)
{
	struct softgpu_owners *owners = softgpu_owners_find(softgpu_client(handle), hpa);
	s64 bit = BIT_ULL(bit_of(hpa));

	return owners && atomic64_read(&owners->written) & bit &&
	       atomic64_fetch_andnot(bit, &owners->written) & bit;
}
