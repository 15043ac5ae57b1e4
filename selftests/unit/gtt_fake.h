/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What translation and shadowing stand on, played by the test: a hypervisor with guest RAM, and a
 * pGPU client that knows what an engine could reach. Both abort when a rule of their seam is
 * broken. One copy a program.
 */
#ifndef GTT_FAKE_H
#define GTT_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include "gtt/gtt_types.h"
#include "rule.h"

#define RAM_PAGES 16384u
#define BAR_GFN 20000u /* where tests map the GGTT table */
#define GFNS 24000u
#define DATA 1000u /* tests take data pages from here on and tables below */
#define LARGE_WHOLE 4096u /* 2 MiB that lie side by side for the host */
#define LARGE_SCATTERED 4608u /* and that do not */
#define FIRST_GGTT_TABLE 2u
#define MAX_HELD 8192u
#define SPAN (512ull << 12)

struct held {
	struct ghyvi_root *root;
	u64 bus; /* as a job has it */
	u64 gpa[4];
	unsigned int levels;
};

static struct {
	struct ghyvi_gtt *gtt;
	struct ghyvi_stats stats;
	struct ghyvi_reporter reporter;
	struct device dev;

	/* the hypervisor */
	u8 *ram, *ram_mapping;
	bool scattered[RAM_PAGES / 16]; /* a guest's 64 KiB */
	bool absent[RAM_PAGES];
	_Atomic u64 generation; /* of this memory */
	u32 pins[RAM_PAGES];
	/* there was no room for its pin once: scratch is right from then on */
	bool excused[RAM_PAGES];
	_Atomic bool protected[GFNS];
	u32 pinned, pin_limit;
	int pin_error; /* of the next so many pins */
	u32 pin_errors;
	bool protect_broken, protect_broken_at[GFNS];
	u32 protect_calls;
	struct xarray pins_book;
	void (*race)(void); /* another vCPU, while the mm is at work */
	/* that the hypervisor takes for its pins, as VFIO does; or NULL */
	pthread_mutex_t *hv_lock;

	/* the pGPU client */
	struct xarray owned; /* bus page -> count * 4 + kind */
	struct xarray owners_book;
	struct xarray cached; /* pages an engine could reach at the last invalidation or since */
	u64 *ggtt, *guest_ggtt;
	bool mapped[RAM_PAGES]; /* guest pages that nested jobs can reach */
	u32 nr_mapped, map_limit;
	u32 ggtt_tables;
	u32 owned_pages, own_limit, invalidations, ggtt_writes;
	bool unchecked; /* too big, or a benchmark */
	struct held held[MAX_HELD];
	u32 nr_held;
} fake;

/* Where in fake.ram a guest page is, and which it is that is there. */
static inline u64 place_of(u64 gfn)
{
	return gfn < RAM_PAGES && fake.scattered[gfn / 16] ? gfn ^ 1 : gfn;
}

static inline u64 *page_of(u64 gfn)
{
	return (u64 *)(fake.ram + (place_of(gfn) << 12));
}

static inline u64 counter_of(const atomic64_t *counter)
{
	return (u64)atomic64_read(counter);
}
#define STAT(name) counter_of(&fake.stats.name)

/* Reachability: what engines could load with the entries as they are now. */

static inline u64 kind_of(u64 bus)
{
	void *value = xa_load(&fake.owned, bus >> 12);

	return value ? xa_to_value(value) & 3 : 3;
}

static inline void reach_large(struct xarray *set, u64 bus, u64 bytes)
{
	u64 at;

	ASSERT(!(bus & (bytes - 1)));
	for (at = bus; at < bus + bytes; at += 4096) {
		ASSERT(kind_of(at) == GHYVI_PAGE_DATA);
		xa_store(set, at >> 12, xa_mk_value(1), __GFP_NOFAIL);
	}
}

/* Through an entry that says that the table at @bus has pages of 64 KiB. */
static inline void reach_64k(struct xarray *set, u64 bus)
{
	u64 *table = phys_to_virt(bus);
	unsigned int i;

	for (i = 0; i < GHYVI_ENTRIES; i += GHYVI_PTES_PER_64K)
		if (table[i] & 1)
			reach_large(set, table[i] & GHYVI_SHADOW_ADDRESS_MASK, 16 << 12);
}

static inline void reach(struct xarray *set, u64 bus, unsigned int level, unsigned int entries)
{
	u64 entry, last = 0, *table = phys_to_virt(bus);
	unsigned int i;

	if (xa_load(set, bus >> 12))
		return;
	ASSERT(kind_of(bus) == GHYVI_PAGE_TABLE);
	xa_store(set, bus >> 12, xa_mk_value(1), __GFP_NOFAIL);
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

static inline void reach_all(struct xarray *set)
{
	u64 bus;
	u32 i;

	xa_destroy(set);
	xa_init(set);
	if (fake.unchecked)
		return;
	for (i = 0; fake.nr_mapped && i < RAM_PAGES; i++)
		if (fake.mapped[i])
			xa_store(set, virt_to_phys(page_of(i)) >> 12, xa_mk_value(1), __GFP_NOFAIL);
	for (i = 0; i < fake.nr_held; i++)
		if (fake.held[i].bus)
			reach(set, fake.held[i].bus,
			      fake.held[i].levels == 3 ? GHYVI_LEVEL_PDP : GHYVI_LEVEL_PML4,
			      fake.held[i].levels == 3 ? 4 : GHYVI_ENTRIES);
	for (i = 0; i < (FIRST_GGTT_TABLE + fake.ggtt_tables) * GHYVI_ENTRIES; i++) {
		if (!(fake.ggtt[i] & 1))
			continue;
		bus = fake.ggtt[i] & GHYVI_SHADOW_ADDRESS_MASK;
		ASSERT(kind_of(bus) == GHYVI_PAGE_DATA || kind_of(bus) == GHYVI_PAGE_SCRATCH);
		xa_store(set, bus >> 12, xa_mk_value(1), __GFP_NOFAIL);
	}
}

static inline bool reachable(u64 bus)
{
	struct xarray now;
	bool there;

	xa_init(&now);
	reach_all(&now);
	there = xa_load(&now, bus >> 12);
	xa_destroy(&now);
	return there;
}

/*
 * Both sides keep books of pages, which take memory: here one allocation for 64 neighbours, and
 * they keep it.
 */
static inline bool has_book_page(struct xarray *book, u64 page)
{
	if (fake.unchecked || xa_load(book, page / 64))
		return true;
	if (shim_alloc_fails(GFP_KERNEL))
		return false;
	xa_store(book, page / 64, xa_mk_value(1), __GFP_NOFAIL);
	return true;
}

/* the hypervisor's side */

static inline void another_vcpu(void)
{
	if (fake.race)
		fake.race();
}

static inline int pin_locked(u64 gfn, u64 *bus)
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
	*bus = virt_to_phys(page_of(gfn));
	return 0;
}

static inline void hv_enter(void)
{
	if (fake.hv_lock)
		pthread_mutex_lock(fake.hv_lock);
}

static inline void hv_leave(void)
{
	if (fake.hv_lock)
		pthread_mutex_unlock(fake.hv_lock);
}

static inline int fake_pin(void *hv, u64 gfn, u64 *bus)
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
	ret = pin_locked(gfn, bus);
	hv_leave();
	return ret;
}

static inline void unpin_locked(u64 gfn)
{
	ASSERT(gfn < RAM_PAGES && fake.pins[gfn]);
	if (--fake.pins[gfn])
		return;
	fake.pinned--;
	/* The rules of disown_page() saw to it that nothing points here. */
	ASSERT(kind_of(virt_to_phys(page_of(gfn))) == 3);
}

static inline void fake_unpin(void *hv, u64 gfn)
{
	hv_enter();
	unpin_locked(gfn);
	hv_leave();
}

static inline unsigned int fake_protect(void *hv, const u64 *gfns, unsigned int count)
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

static inline void fake_unprotect(void *hv, const u64 *gfns, unsigned int count)
{
	unsigned int i;

	another_vcpu();
	for (i = 0; i < count; i++)
		atomic_store(&fake.protected[gfns[i]], false);
	another_vcpu();
}

static inline u64 fake_memory_generation(void *hv)
{
	another_vcpu();
	return atomic_load(&fake.generation);
}

static inline void set_absent(u64 gfn, bool absent)
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

/* the pGPU's side */

static inline int fake_own(struct ghyvi_pgpu_client *client, u64 bus, enum ghyvi_page_kind kind)
{
	void *value = xa_load(&fake.owned, bus >> 12);

	another_vcpu();
	ASSERT(!(bus & 4095));
	if (!has_book_page(&fake.owners_book, bus >> 12))
		return -ENOMEM;
	if (fake.owned_pages >= fake.own_limit) {
		if (bus - virt_to_phys(fake.ram) < (u64)RAM_PAGES << 12)
			fake.excused[place_of((bus - virt_to_phys(fake.ram)) >> 12)] = true;
		return -ENOMEM;
	}
	fake.owned_pages++;
	if (value)
		ASSERT((xa_to_value(value) & 3) == kind);
	xa_store(&fake.owned, bus >> 12, xa_mk_value((value ? xa_to_value(value) : kind) + 4),
		 __GFP_NOFAIL);
	return 0;
}

/*
 * The pages of a large one are let go of together; it takes long to look where engines could reach,
 * so once in a while.
 */
static inline bool looks_where_engines_reach(u64 bus)
{
	u64 place = (bus - virt_to_phys(fake.ram)) >> 12;
	bool in_large = place >= LARGE_WHOLE && place < LARGE_SCATTERED + GHYVI_ENTRIES;

	return !in_large || place % 32 == 0;
}

static inline void fake_disown(struct ghyvi_pgpu_client *client, u64 bus)
{
	void *value = xa_load(&fake.owned, bus >> 12);

	ASSERT(value);
	fake.owned_pages--;
	if (xa_to_value(value) >= 8) {
		xa_store(&fake.owned, bus >> 12, xa_mk_value(xa_to_value(value) - 4), __GFP_NOFAIL);
		return;
	}
	/* Unreachable now, and when engines last forgot what they had loaded. */
	ASSERT(!xa_load(&fake.cached, bus >> 12));
	ASSERT(!looks_where_engines_reach(bus) || !reachable(bus));
	xa_erase(&fake.owned, bus >> 12);
}

static inline void fake_invalidate(struct ghyvi_pgpu_client *client)
{
	fake.invalidations++;
	reach_all(&fake.cached);
}

static inline void fake_ggtt_write(struct ghyvi_pgpu_client *client, u64 first, const u64 *entries,
				   unsigned int count)
{
	unsigned int i;
	u64 *entry;

	ASSERT(first >= FIRST_GGTT_TABLE * GHYVI_ENTRIES &&
	       first + count <= (FIRST_GGTT_TABLE + fake.ggtt_tables) * GHYVI_ENTRIES);
	fake.ggtt_writes++;
	for (i = 0; i < count; i++) {
		entry = &fake.ggtt[first + i];
		/* An engine may have loaded what stood here. */
		if (!fake.unchecked && (*entry & 1) && *entry != entries[i])
			xa_store(&fake.cached, (*entry & GHYVI_SHADOW_ADDRESS_MASK) >> 12,
				 xa_mk_value(1), __GFP_NOFAIL);
		*entry = entries[i];
	}
}

static inline u64 fake_ggtt_read(struct ghyvi_pgpu_client *client, u64 index)
{
	return fake.ggtt[index];
}

static inline int fake_map_guest(struct ghyvi_pgpu_client *client, u64 gfn, u64 bus)
{
	ASSERT(gfn < RAM_PAGES && !fake.mapped[gfn] && fake.pins[gfn]);
	ASSERT(bus == virt_to_phys(page_of(gfn)) && kind_of(bus) == GHYVI_PAGE_DATA);
	if (fake.nr_mapped >= fake.map_limit || shim_alloc_fails(GFP_KERNEL))
		return -ENOMEM;
	fake.mapped[gfn] = true;
	fake.nr_mapped++;
	return 0;
}

static inline void fake_unmap_guest(struct ghyvi_pgpu_client *client, u64 gfn)
{
	ASSERT(gfn < RAM_PAGES && fake.mapped[gfn]);
	fake.mapped[gfn] = false;
	fake.nr_mapped--;
	/* An engine may have used it until now. */
	if (!fake.unchecked)
		xa_store(&fake.cached, virt_to_phys(page_of(gfn)) >> 12, xa_mk_value(1),
			 __GFP_NOFAIL);
}

static const struct ghyvi_pgpu_ops fake_pgpu_ops = {
	.map_guest = fake_map_guest,
	.unmap_guest = fake_unmap_guest,
	.own_page = fake_own,
	.disown_page = fake_disown,
	.ggtt_write = fake_ggtt_write,
	.ggtt_read = fake_ggtt_read,
	.invalidate = fake_invalidate,
};

/* the guest's side */

static inline u8 *guest_byte(u64 gpa)
{
	u64 gfn = gpa >> 12;

	if (gfn < RAM_PAGES)
		return (u8 *)page_of(gfn) + gpa % 4096;
	ASSERT(gfn >= BAR_GFN && gfn < BAR_GFN + FIRST_GGTT_TABLE + fake.ggtt_tables);
	return (u8 *)fake.guest_ggtt + (gpa - ((u64)BAR_GFN << 12));
}

/* Changes memory only. Returns true if the write must be reported as a trap. */
static inline bool guest_store(u64 gpa, const void *buffer, unsigned int bytes)
{
	unsigned int i;

	if (bytes == 8 && !(gpa & 7))
		__atomic_store_n((u64 *)guest_byte(gpa), *(const u64 *)buffer, __ATOMIC_RELAXED);
	else
		for (i = 0; i < bytes; i++)
			*guest_byte(gpa + i) = ((const u8 *)buffer)[i];
	return fake.protected[gpa >> 12] || fake.protected[(gpa + bytes - 1) >> 12];
}

static inline void guest_write_bytes(u64 gpa, const void *buffer, unsigned int bytes)
{
	if (guest_store(gpa, buffer, bytes))
		ghyvi_gtt_trap(fake.gtt, gpa, bytes);
}

static inline void guest_write(u64 gpa, unsigned int bytes, u64 value)
{
	guest_write_bytes(gpa, &value, bytes);
}

static inline u64 at(u64 gfn, unsigned int index)
{
	return (gfn << 12) + index * 8;
}

static inline void set(u64 gfn, unsigned int index, u64 value)
{
	guest_write(at(gfn, index), 8, value);
}

static inline u64 to(u64 gfn)
{
	return gfn << 12 | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

/* The tree 1 -> 2 -> 3 -> 4, first entries, that most tests start with. */
static inline void plant(u64 pml4)
{
	set(pml4, 0, to(pml4 + 1));
	set(pml4 + 1, 0, to(pml4 + 2));
	set(pml4 + 2, 0, to(pml4 + 3));
}

static inline struct ghyvi_root *hold(const u64 *gpa4, unsigned int levels)
{
	struct ghyvi_root *root = ghyvi_gtt_get_root(fake.gtt, gpa4, levels);
	struct held *held = &fake.held[fake.nr_held];

	if (IS_ERR(root))
		return root;
	held->root = root;
	held->bus = ghyvi_root_bus(root);
	held->levels = levels;
	memcpy(held->gpa, gpa4, (levels == 3 ? 4 : 1) * sizeof(*gpa4));
	fake.nr_held++;
	return root;
}

static inline struct ghyvi_root *hold4(u64 pml4)
{
	u64 gpa = pml4 << 12;

	return hold(&gpa, 4);
}

static inline void release_number(u32 i)
{
	struct ghyvi_root *root = fake.held[i].root;

	/* The job is done: engines do not look here any more, but may remember. */
	fake.held[i] = fake.held[--fake.nr_held];
	ghyvi_gtt_put_root(root);
}

static inline void release_all(void)
{
	while (fake.nr_held)
		release_number(fake.nr_held - 1);
}

static inline void forget4(u64 pml4)
{
	u64 gpa = pml4 << 12;

	ghyvi_gtt_forget_root(fake.gtt, &gpa, 4);
}

/* The shadow table of @levels_down entries below @bus. */
static inline u64 *shadow(u64 bus, unsigned int levels_down, ...)
{
	va_list indices;
	u64 entry;

	va_start(indices, levels_down);
	while (levels_down--) {
		entry = ((u64 *)phys_to_virt(bus))[va_arg(indices, unsigned int)];
		ASSERT(entry & 1);
		bus = entry & GHYVI_SHADOW_ADDRESS_MASK;
	}
	va_end(indices);
	return phys_to_virt(bus);
}

/* The shadow of the page table of a planted tree. */
static inline u64 *shadow_pt(struct ghyvi_root *root)
{
	return shadow(ghyvi_root_bus(root), 3, 0u, 0u, 0u);
}

static inline u64 maps(u64 gfn)
{
	return virt_to_phys(page_of(gfn)) | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

static inline bool is_scratch(u64 entry)
{
	return (entry & 1) && !(entry & 2) &&
	       kind_of(entry & GHYVI_SHADOW_ADDRESS_MASK) == GHYVI_PAGE_SCRATCH;
}

/* Does an entry of @level lead to scratch, whatever the address? */
static inline bool leads_to_scratch(u64 entry, unsigned int level)
{
	u64 *table;
	unsigned int i;

	if (level == GHYVI_LEVEL_PT)
		return is_scratch(entry);
	if (!(entry & 1) || entry & GHYVI_ENTRY_LARGE)
		return false;
	table = phys_to_virt(entry & GHYVI_SHADOW_ADDRESS_MASK);
	for (i = 1; i < GHYVI_ENTRIES; i++)
		if (table[i] != table[0])
			return false;
	return leads_to_scratch(table[0], level - 1);
}

/* life */

static inline void fake_init(u32 ggtt_tables)
{
	struct ghyvi_gtt_params params = {
		.hv_ops = &fake_hv_ops,
		.pgpu_ops = &fake_pgpu_ops,
		.ggtt_ranges = { { FIRST_GGTT_TABLE * SPAN, ggtt_tables * SPAN } },
		.nr_ggtt_ranges = ggtt_tables ? 1 : 0,
		.nested = true,
		.pages_64k = true,
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

static inline void limit_tables(u32 tables_max)
{
	struct ghyvi_shadow_tuning tuning;

	ghyvi_gtt_tuning(fake.gtt, &tuning);
	tuning.tables_max = tables_max;
	ASSERT(!ghyvi_gtt_set_tuning(fake.gtt, &tuning));
}

/* Nothing may be left, whatever a test did. */
static inline void fake_fini(void)
{
	u32 i;

	release_all();
	ghyvi_gtt_destroy(fake.gtt);
	for (i = 0; i < GFNS; i++)
		ASSERT(!fake.protected[i]);
	for (i = 0; i < RAM_PAGES; i++)
		ASSERT(!fake.pins[i]);
	for (i = 0; i < (FIRST_GGTT_TABLE + fake.ggtt_tables) * GHYVI_ENTRIES; i++)
		ASSERT(!fake.ggtt[i]);
	ASSERT(!fake.nr_mapped);
	ASSERT(xa_empty(&fake.owned) && !fake.owned_pages);
	ASSERT(!STAT(kept_64k_now) && !STAT(large_pages_now) && !STAT(split_pages_now));
	ASSERT(!STAT(tables_now) && !STAT(relaxed_now) && !STAT(protected_now) &&
	       !STAT(pinned_pages_now));
	xa_destroy(&fake.cached);
	xa_destroy(&fake.owners_book);
	xa_destroy(&fake.pins_book);
	munmap(fake.ram_mapping, ((size_t)RAM_PAGES << 12) + SPAN);
	free(fake.ggtt);
	free(fake.guest_ggtt);
}

static inline int setup(void **state)
{
	fake_init(4);
	/* What it does depends on nothing that is measured. */
	return ghyvi_gtt_set_policy(fake.gtt, "segmented");
}

static inline int teardown(void **state)
{
	fake_fini();
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
