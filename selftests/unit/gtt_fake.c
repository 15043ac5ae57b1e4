// SPDX-License-Identifier: GPL-2.0-only
#include <sys/mman.h>
#include "gtt_fake.h"

struct gtt_fake fake;

u64 kind_of(u64 dma)
{
	void *value = xa_load(&fake.owned, dma >> 12);

	return value ? xa_to_value(value) & 3 : 3;
}

static void reach_large(struct xarray *set, u64 dma, u64 bytes)
{
	u64 at;

	ASSERT(!(dma & (bytes - 1)));
	for (at = dma; at < dma + bytes; at += 4096) {
		ASSERT(kind_of(at) == GHYVI_PAGE_DATA);
		xa_store(set, at >> 12, xa_mk_value(1), __GFP_NOFAIL);
	}
}

/* The table at @dma, through an entry with the 64 KiB bit. */
static void reach_64k(struct xarray *set, u64 dma)
{
	u64 *table = host_of(dma);
	unsigned int i;

	for (i = 0; i < GHYVI_ENTRIES; i += GHYVI_PTES_PER_64K)
		if (table[i] & 1)
			reach_large(set, table[i] & GHYVI_SHADOW_ADDRESS_MASK, 16 << 12);
}

static void reach(struct xarray *set, u64 dma, unsigned int level, unsigned int entries)
{
	u64 entry, last = 0, *table = host_of(dma);
	unsigned int i;

	if (xa_load(set, dma >> 12))
		return;
	ASSERT(kind_of(dma) == GHYVI_PAGE_TABLE);
	xa_store(set, dma >> 12, xa_mk_value(1), __GFP_NOFAIL);
	for (i = 0; i < entries; i++) {
		entry = READ_ONCE(table[i]);
		if (!(entry & 1) || entry == last)
			continue;
		last = entry;
		if (level == GHYVI_LEVEL_PD && entry & GHYVI_ENTRY_LARGE) {
			reach_large(set, entry & GHYVI_SHADOW_ADDRESS_MASK, SPAN);
			continue;
		}
		if (level == GHYVI_LEVEL_PD && entry & GHYVI_ENTRY_64K)
			reach_64k(set, entry & GHYVI_SHADOW_ADDRESS_MASK);
		entry &= GHYVI_SHADOW_ADDRESS_MASK;
		if (level > GHYVI_LEVEL_PT) {
			reach(set, entry, level - 1, GHYVI_ENTRIES);
		} else {
			ASSERT(kind_of(entry) == GHYVI_PAGE_DATA ||
			       kind_of(entry) == GHYVI_PAGE_SCRATCH);
			xa_store(set, entry >> 12, xa_mk_value(1), __GFP_NOFAIL);
		}
	}
}

void reach_all(struct xarray *set)
{
	u64 dma;
	u32 i;

	xa_destroy(set);
	xa_init(set);
	if (fake.unchecked)
		return;
	for (i = 0; fake.nr_mapped && i < RAM_PAGES; i++)
		if (fake.mapped[i])
			xa_store(set, dma_page_of(i) >> 12, xa_mk_value(1), __GFP_NOFAIL);
	for (i = 0; i < fake.nr_held; i++)
		if (fake.held[i].dma)
			reach(set, fake.held[i].dma,
			      fake.held[i].levels == 3 ? GHYVI_LEVEL_PDP : GHYVI_LEVEL_PML4,
			      fake.held[i].levels == 3 ? 4 : GHYVI_ENTRIES);
	for (i = 0; i < (FIRST_GGTT_TABLE + fake.ggtt_tables) * GHYVI_ENTRIES; i++) {
		if (!(fake.ggtt[i] & 1))
			continue;
		dma = fake.ggtt[i] & GHYVI_SHADOW_ADDRESS_MASK;
		ASSERT(kind_of(dma) == GHYVI_PAGE_DATA || kind_of(dma) == GHYVI_PAGE_SCRATCH);
		xa_store(set, dma >> 12, xa_mk_value(1), __GFP_NOFAIL);
	}
}

static bool reachable(u64 dma)
{
	struct xarray now;
	bool there;

	xa_init(&now);
	reach_all(&now);
	there = xa_load(&now, dma >> 12);
	xa_destroy(&now);
	return there;
}

/*
 * Both interfaces need memory for their bookkeeping of pages. Here it is one allocation for 64
 * neighbouring pages, which is never freed.
 */
static bool has_book_page(struct xarray *book, u64 page)
{
	if (fake.unchecked || xa_load(book, page / 64))
		return true;
	if (shim_alloc_fails(GFP_KERNEL))
		return false;
	xa_store(book, page / 64, xa_mk_value(1), __GFP_NOFAIL);
	return true;
}

static void another_vcpu(void)
{
	if (fake.race)
		fake.race();
}

static int pin_locked(u64 gfn, u64 *hpa)
{
	int ret = 0;

	if (gfn >= RAM_PAGES)
		return -EFAULT;
	if (fake.absent[gfn])
		ret = -EFAULT;
	else if (!fake.pins[gfn] && fake.pinned >= fake.pin_limit)
		ret = -ENOMEM;
	if (ret == -ENOMEM)
		fake.excused[gfn] = true;
	if (ret)
		return ret;
	if (!fake.pins[gfn]++)
		fake.pinned++;
	*hpa = virt_to_phys(guest_page(gfn));
	return 0;
}

static void hv_enter(void)
{
	if (fake.hv_lock)
		pthread_mutex_lock(fake.hv_lock);
}

static void hv_leave(void)
{
	if (fake.hv_lock)
		pthread_mutex_unlock(fake.hv_lock);
}

static int fake_pin(struct ghyvi_hv *hv, u64 gfn, u64 *hpa)
{
	int ret;

	another_vcpu();
	if (!has_book_page(&fake.pins_book, gfn))
		return -ENOMEM;
	if (fake.pin_errors) {
		fake.pin_errors--;
		return fake.pin_error;
	}
	hv_enter();
	ret = pin_locked(gfn, hpa);
	hv_leave();
	return ret;
}

static u64 ggtt_pages(void)
{
	return (u64)(FIRST_GGTT_TABLE + fake.ggtt_tables) * GHYVI_ENTRIES;
}

static bool in_aperture(const void *memory)
{
	u64 i;

	for (i = 0; i < ggtt_pages(); i++)
		if (fake.aperture[i] == memory)
			return true;
	return false;
}

static void fake_aperture_unmap(struct ghyvi_aperture_user *user, u64 address, u64 bytes)
{
	u64 i;

	fake.aperture_unmaps++;
	ASSERT((address >> 12) + (bytes >> 12) <= ggtt_pages());
	for (i = address >> 12; i < (address + bytes) >> 12; i++)
		fake.aperture[i] = NULL;
}

static int map_in_aperture(void *data, u64 hpa)
{
	u8 **mapped = data;

	*mapped = phys_to_virt(hpa);
	return 0;
}

u8 *aperture_access(u64 page)
{
	unsigned int tries;

	for (tries = 0; !fake.aperture[page] && tries < 3; tries++)
		if (ghyvi_gtt_aperture_map(fake.gtt, page << 12, map_in_aperture,
					   &fake.aperture[page]) == -EAGAIN)
			ASSERT(!ghyvi_gtt_aperture_prepare(fake.gtt, page << 12));
	ASSERT(fake.aperture[page]);
	return fake.aperture[page];
}

static void unpin_locked(u64 gfn)
{
	ASSERT(gfn < RAM_PAGES && fake.pins[gfn]);
	if (--fake.pins[gfn])
		return;
	fake.pinned--;
	ASSERT(fake.unchecked || !in_aperture(guest_page(gfn)));
	/* unmap_page() has asserted that no entry points here. */
	ASSERT(kind_of(dma_page_of(gfn)) == 3);
}

static void fake_unpin(struct ghyvi_hv *hv, u64 gfn)
{
	hv_enter();
	unpin_locked(gfn);
	hv_leave();
}

static unsigned int fake_protect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	unsigned int i;

	another_vcpu();
	fake.protect_calls++;
	for (i = 0; i < count; i++) {
		ASSERT(gfns[i] < GFNS);
		if (fake.protect_broken || fake.protect_broken_at[gfns[i]])
			break;
		ASSERT(!atomic_exchange(&fake.protected[gfns[i]], true));
	}
	another_vcpu();
	return i;
}

static void fake_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	unsigned int i;

	another_vcpu();
	for (i = 0; i < count; i++)
		atomic_store(&fake.protected[gfns[i]], false);
	another_vcpu();
}

static u64 fake_memory_generation(struct ghyvi_hv *hv)
{
	another_vcpu();
	return atomic_load(&fake.generation);
}

void set_absent(u64 gfn, bool absent)
{
	fake.absent[gfn] = absent;
	atomic_fetch_add(&fake.generation, 1);
}

static const struct ghyvi_hv_ops fake_hv_ops = {
	.pin = fake_pin,
	.unpin = fake_unpin,
	.memory_generation = fake_memory_generation,
	.protect = fake_protect,
	.unprotect = fake_unprotect,
};
static struct ghyvi_hv fake_hv = { .ops = &fake_hv_ops };

static int fake_map_page(struct ghyvi_pgpu_client *client, u64 hpa, enum ghyvi_page_kind kind,
			 dma_addr_t *mapped)
{
	u64 dma = dma_of(phys_to_virt(hpa));
	void *value = xa_load(&fake.owned, dma >> 12);

	another_vcpu();
	ASSERT(!(hpa & 4095) && !(hpa & DMA_BIT));
	if (!has_book_page(&fake.owners_book, dma >> 12))
		return -ENOMEM;
	if (fake.owned_pages >= fake.own_limit) {
		if (hpa - virt_to_phys(fake.ram) < (u64)RAM_PAGES << 12)
			fake.excused[host_index((hpa - virt_to_phys(fake.ram)) >> 12)] = true;
		return -ENOMEM;
	}
	fake.owned_pages++;
	if (value)
		ASSERT((xa_to_value(value) & 3) == kind);
	xa_store(&fake.owned, dma >> 12, xa_mk_value((value ? xa_to_value(value) : kind) + 4),
		 __GFP_NOFAIL);
	*mapped = dma;
	return 0;
}

/*
 * The pages of a large page are disowned together. The search for reachable pages is slow, so it is
 * done for one of 32.
 */
static bool looks_where_engines_reach(u64 dma)
{
	u64 place = (dma - dma_of(fake.ram)) >> 12;
	bool in_large = place >= LARGE_WHOLE && place < LARGE_SCATTERED + GHYVI_ENTRIES;

	return !in_large || place % 32 == 0;
}

static void fake_unmap_page(struct ghyvi_pgpu_client *client, dma_addr_t dma)
{
	void *value = xa_load(&fake.owned, dma >> 12);

	ASSERT(value);
	fake.owned_pages--;
	if (xa_to_value(value) >= 8) {
		xa_store(&fake.owned, dma >> 12, xa_mk_value(xa_to_value(value) - 4), __GFP_NOFAIL);
		return;
	}
	/* The page is unreachable now, and was at the last invalidation. */
	ASSERT(!xa_load(&fake.cached, dma >> 12));
	ASSERT(!looks_where_engines_reach(dma) || !reachable(dma));
	xa_erase(&fake.owned, dma >> 12);
}

static void fake_invalidate(struct ghyvi_pgpu_client *const *clients, unsigned int count)
{
	ASSERT(count == 1);
	fake.invalidations++;
	reach_all(&fake.cached);
}

static void fake_ggtt_write(struct ghyvi_pgpu_client *client, u64 first, const u64 *entries,
			    unsigned int count)
{
	unsigned int i;
	u64 *entry;

	ASSERT(ghyvi_range_contains_range(&fake.partition, first << GHYVI_PAGE_SHIFT,
					  (u64)count << GHYVI_PAGE_SHIFT));
	fake.ggtt_writes++;
	for (i = 0; i < count; i++) {
		entry = &fake.ggtt[first + i];
		/* A TLB may hold the old entry. */
		if (!fake.unchecked && (*entry & 1) && *entry != entries[i])
			xa_store(&fake.cached, (*entry & GHYVI_SHADOW_ADDRESS_MASK) >> 12,
				 xa_mk_value(1), __GFP_NOFAIL);
		*entry = entries[i];
	}
}

static void fake_client_set_ggtt(struct ghyvi_pgpu_client *client, const struct ghyvi_range *ggtt,
				 unsigned int nr_ggtt)
{
	u64 i;

	ASSERT(nr_ggtt == 1);
	for (i = 0; i < ggtt_pages(); i++)
		ASSERT(!fake.ggtt[i]);
	fake.partition = *ggtt;
}

static void fake_client_reset(struct ghyvi_pgpu_client *client)
{
	u64 i;

	for (i = 0; i < ggtt_pages(); i++)
		ASSERT(!fake.ggtt[i]);
	fake.client_resets++;
}

static u64 fake_ggtt_read(struct ghyvi_pgpu_client *client, u64 index)
{
	return fake.ggtt[index];
}

static int fake_map_guest(struct ghyvi_pgpu_client *client, u64 gfn, dma_addr_t dma)
{
	ASSERT(gfn < RAM_PAGES && !fake.mapped[gfn] && fake.pins[gfn]);
	ASSERT(dma == dma_page_of(gfn) && kind_of(dma) == GHYVI_PAGE_DATA);
	if (fake.nr_mapped >= fake.map_limit || shim_alloc_fails(GFP_KERNEL))
		return -ENOMEM;
	fake.mapped[gfn] = true;
	fake.nr_mapped++;
	return 0;
}

static void fake_unmap_guest(struct ghyvi_pgpu_client *client, u64 gfn)
{
	ASSERT(gfn < RAM_PAGES && fake.mapped[gfn]);
	fake.mapped[gfn] = false;
	fake.nr_mapped--;
	/* A TLB may hold the translation. */
	if (!fake.unchecked)
		xa_store(&fake.cached, dma_page_of(gfn) >> 12, xa_mk_value(1), __GFP_NOFAIL);
}

static const struct ghyvi_pgpu_ops fake_pgpu_ops = {
	.map_guest = fake_map_guest,
	.unmap_guest = fake_unmap_guest,
	.map_page = fake_map_page,
	.unmap_page = fake_unmap_page,
	.client_reset = fake_client_reset,
	.client_set_ggtt = fake_client_set_ggtt,
	.ggtt_write = fake_ggtt_write,
	.ggtt_read = fake_ggtt_read,
	.invalidate = fake_invalidate,
};

static void fake_ggtt_unmap(struct ghyvi_ggtt_user *user, u64 page, u64 count)
{
	u64 i;

	fake.ggtt_unmaps++;
	ASSERT(count && page >= FIRST_GGTT_TABLE &&
	       page + count <= FIRST_GGTT_TABLE + fake.ggtt_tables);
	for (i = page; i < page + count; i++)
		fake.ggtt_unmapped[i] = true;
}

static int map_ggtt_page(void *data)
{
	*(_Atomic bool *)data = false;
	return 0;
}

/* The fault that precedes a store to a page of the GGTT table that is not mapped. */
static void ggtt_fault(u64 gpa)
{
	u64 page = (gpa >> 12) - BAR_GFN;

	if (gpa >> 12 < BAR_GFN || page >= GHYVI_GGTT_TABLES_MAX || !fake.ggtt_unmapped[page])
		return;
	fake.ggtt_faults++;
	ASSERT(!ghyvi_gtt_ggtt_map(fake.gtt, page, map_ggtt_page, &fake.ggtt_unmapped[page]));
}

u8 *guest_byte(u64 gpa)
{
	u64 gfn = gpa >> 12;

	if (gfn < RAM_PAGES)
		return (u8 *)guest_page(gfn) + gpa % 4096;
	ASSERT(gfn >= BAR_GFN && gfn < BAR_GFN + FIRST_GGTT_TABLE + fake.ggtt_tables);
	return (u8 *)fake.guest_ggtt + (gpa - ((u64)BAR_GFN << 12));
}

bool guest_store(u64 gpa, const void *buffer, unsigned int bytes)
{
	unsigned int i;

	ggtt_fault(gpa);
	ggtt_fault(gpa + bytes - 1);
	if (bytes == 8 && !(gpa & 7))
		__atomic_store_n((u64 *)guest_byte(gpa), *(const u64 *)buffer, __ATOMIC_RELAXED);
	else
		for (i = 0; i < bytes; i++)
			*guest_byte(gpa + i) = ((const u8 *)buffer)[i];
	return fake.protected[gpa >> 12] || fake.protected[(gpa + bytes - 1) >> 12];
}

void guest_write_bytes(u64 gpa, const void *buffer, unsigned int bytes)
{
	if (guest_store(gpa, buffer, bytes))
		ghyvi_gtt_trap(fake.gtt, gpa, bytes);
}

void guest_write(u64 gpa, unsigned int bytes, u64 value)
{
	guest_write_bytes(gpa, &value, bytes);
}

void write_pte(u64 gfn, unsigned int index, u64 value)
{
	guest_write(pte_gpa(gfn, index), 8, value);
}

void build_tree(u64 pml4)
{
	write_pte(pml4, 0, pte(pml4 + 1));
	write_pte(pml4 + 1, 0, pte(pml4 + 2));
	write_pte(pml4 + 2, 0, pte(pml4 + 3));
}

void build_full_directories(u32 directories)
{
	u32 i;

	write_pte(PML4_GFN, 0, pte(PDP_GFN));
	for (i = 0; i < directories; i++)
		write_pte(PDP_GFN, i, pte(PD4_GFN + i));
	for (i = 0; i < directories * GHYVI_ENTRIES; i++)
		write_pte(PD4_GFN + i / GHYVI_ENTRIES, i % GHYVI_ENTRIES, pte(100 + i));
}

struct ghyvi_root *get_root(const u64 *gpa4, unsigned int levels)
{
	struct ghyvi_root *root = ghyvi_gtt_get_root(fake.gtt, gpa4, levels);
	struct held *held = &fake.held[fake.nr_held];

	if (IS_ERR(root))
		return root;
	held->root = root;
	held->dma = ghyvi_root_dma(root);
	held->levels = levels;
	memcpy(held->gpa, gpa4, (levels == 3 ? 4 : 1) * sizeof(*gpa4));
	fake.nr_held++;
	return root;
}

struct ghyvi_root *get_root4(u64 pml4)
{
	u64 gpa = pml4 << 12;

	return get_root(&gpa, 4);
}

struct ghyvi_root *get_synced_root4(u64 pml4)
{
	struct ghyvi_root *root = get_root4(pml4);

	ghyvi_gtt_sync(fake.gtt, root);
	return root;
}

void put_root(u32 i)
{
	struct ghyvi_root *root = fake.held[i].root;

	/* The job is complete: engines do not walk the tree any more, but TLBs may hold entries. */
	fake.held[i] = fake.held[--fake.nr_held];
	ghyvi_gtt_put_root(root);
}

void put_all_roots(void)
{
	while (fake.nr_held)
		put_root(fake.nr_held - 1);
}

void forget_root4(u64 pml4)
{
	u64 gpa = pml4 << 12;

	ghyvi_gtt_forget_root(fake.gtt, &gpa, 4);
}

u64 *shadow_table(u64 dma, unsigned int levels_down, ...)
{
	va_list indices;
	u64 entry;

	va_start(indices, levels_down);
	while (levels_down--) {
		entry = ((u64 *)host_of(dma))[va_arg(indices, unsigned int)];
		ASSERT(entry & 1);
		dma = entry & GHYVI_SHADOW_ADDRESS_MASK;
	}
	va_end(indices);
	return host_of(dma);
}

u64 *shadow_pt(struct ghyvi_root *root)
{
	return shadow_table(ghyvi_root_dma(root), 3, 0u, 0u, 0u);
}

u64 spte(u64 gfn)
{
	return dma_page_of(gfn) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

bool is_scratch(u64 entry)
{
	return (entry & 1) && !(entry & 2) &&
	       kind_of(entry & GHYVI_SHADOW_ADDRESS_MASK) == GHYVI_PAGE_SCRATCH;
}

bool maps_scratch(u64 entry, unsigned int level)
{
	u64 *table;
	unsigned int i;

	if (level == GHYVI_LEVEL_PT)
		return is_scratch(entry);
	if (!(entry & 1) || entry & GHYVI_ENTRY_LARGE)
		return false;
	table = host_of(entry);
	for (i = 1; i < GHYVI_ENTRIES; i++)
		if (table[i] != table[0])
			return false;
	return maps_scratch(table[0], level - 1);
}

void fake_init(u32 ggtt_tables)
{
	struct ghyvi_gtt_params params = {
		.hv = &fake_hv,
		.pgpu_ops = &fake_pgpu_ops,
		.ggtt_ranges = { { FIRST_GGTT_TABLE * SPAN, ggtt_tables * SPAN } },
		.nr_ggtt_ranges = ggtt_tables ? 1 : 0,
		.nested = true,
		.pages_64k = true,
		.ggtt_user = &fake.ggtt_user,
		.aperture_user = &fake.aperture_user,
		.aperture_copied = { APERTURE_COPIED * GHYVI_PAGE_BYTES, GHYVI_PAGE_BYTES },
		.reporter = &fake.reporter,
		.stats = &fake.stats,
	};

	memset(&fake, 0, sizeof(fake));
	shim_quiet = true;
	fake.ram_mapping = mmap(NULL, ((size_t)RAM_PAGES << 12) + SPAN, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fake.ram = fake.ram_mapping + (-(uintptr_t)fake.ram_mapping & (SPAN - 1));
	fake.scattered[LARGE_SCATTERED / 16 + 5] = true;
	fake.scattered[DATA / 16 + 1] = true;
	fake.pin_limit = fake.own_limit = fake.map_limit = ~0u;
	fake.ggtt_tables = ggtt_tables;
	fake.partition = params.ggtt_ranges[0];
	fake.ggtt_user.unmap = fake_ggtt_unmap;
	fake.aperture_user.unmap = fake_aperture_unmap;
	fake.aperture = calloc(ggtt_pages(), sizeof(*fake.aperture));
	fake.ggtt = calloc(FIRST_GGTT_TABLE + ggtt_tables, GHYVI_PAGE_BYTES);
	fake.guest_ggtt = aligned_alloc(GHYVI_PAGE_BYTES,
					(FIRST_GGTT_TABLE + ggtt_tables) * GHYVI_PAGE_BYTES);
	memset(fake.guest_ggtt, 0, (FIRST_GGTT_TABLE + ggtt_tables) * GHYVI_PAGE_BYTES);
	xa_init(&fake.owned);
	xa_init(&fake.cached);
	xa_init(&fake.owners_book);
	xa_init(&fake.pins_book);
	ghyvi_reporter_init(&fake.reporter, &fake.dev);
	params.ggtt = fake.guest_ggtt;
	fake.gtt = ghyvi_gtt_create(&params);
	ASSERT(!IS_ERR(fake.gtt));
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
}

void limit_tables(u32 tables_max)
{
	struct ghyvi_shadow_tuning tuning;

	ghyvi_gtt_get_tuning(fake.gtt, &tuning);
	tuning.tables_max = tables_max;
	ASSERT(!ghyvi_gtt_set_tuning(fake.gtt, &tuning));
}

void fake_fini(void)
{
	u32 i;

	put_all_roots();
	ghyvi_gtt_destroy(fake.gtt);
	for (i = 0; i < GFNS; i++)
		ASSERT(!fake.protected[i]);
	for (i = 0; i < RAM_PAGES; i++)
		ASSERT(!fake.pins[i]);
	for (i = 0; i < (FIRST_GGTT_TABLE + fake.ggtt_tables) * GHYVI_ENTRIES; i++)
		ASSERT(!fake.ggtt[i]);
	for (i = 0; i < ggtt_pages(); i++)
		ASSERT(!fake.aperture[i]);
	ASSERT(!fake.nr_mapped);
	ASSERT(xa_empty(&fake.owned) && !fake.owned_pages);
	ASSERT(!STAT(ips_set_now) && !STAT(large_pages_now) && !STAT(split_pages_now));
	ASSERT(!STAT(tables_now) && !STAT(relaxed_now) && !STAT(protected_now) &&
	       !STAT(pinned_pages_now));
	xa_destroy(&fake.cached);
	xa_destroy(&fake.owners_book);
	xa_destroy(&fake.pins_book);
	munmap(fake.ram_mapping, ((size_t)RAM_PAGES << 12) + SPAN);
	free(fake.aperture);
	free(fake.ggtt);
	free(fake.guest_ggtt);
}

int setup(void **state)
{
	fake_init(4);
	/* The decisions of this policy do not depend on measured costs. */
	return ghyvi_gtt_set_policy(fake.gtt, "segmented");
}

int teardown(void **state)
{
	fake_fini();
	return 0;
}
