/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interfaces below kernel/gtt and kernel/shadow, as fakes: a hypervisor with guest RAM, and a
 * pGPU client that knows which pages an engine could reach. Both abort when the code under test
 * breaks a rule of the interface.
 */
#ifndef GTT_FAKE_H
#define GTT_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include "gtt/internal.h"
#include "rule.h"

#define RAM_PAGES 16384u
#define BAR_GFN 20000u /* where tests map the GGTT table */
#define GFNS 24000u
/* Tables: the tree that build_tree(PML4_GFN) builds, more tables for it, and a second tree. */
#define PML4_GFN 1u
#define PDP_GFN 2u
#define PD_GFN 3u
#define PT_GFN 4u
#define PT2_GFN 5u
#define PT3_GFN 6u
#define PT4_GFN 7u
#define PD2_GFN 8u
#define PD3_GFN 9u
#define PD4_GFN 10u
#define PML4_B_GFN 11u
#define PDP_B_GFN 12u
#define PD_B_GFN 13u
#define PT_B_GFN 14u
#define FIRST_FREE_GFN 20u /* up to DATA: what a test makes of them */
#define DATA 1000u /* the first data page */
#define LARGE_WHOLE 4096u /* 2 MiB, physically contiguous in the host */
#define LARGE_SCATTERED 4608u /* 2 MiB, not contiguous */
#define FIRST_GGTT_TABLE 2u
#define APERTURE_COPIED (FIRST_GGTT_TABLE * 512ull) /* GGTT page that is mapped as a copy */
#define MAX_HELD 8192u
#define SPAN (512ull << 12)

struct held {
	struct ghyvi_root *root;
	u64 dma; /* as a job has it */
	u64 gpa[4];
	unsigned int levels;
};

struct gtt_fake {
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
	/* a pin failed once for lack of room: scratch is correct from then on */
	bool excused[RAM_PAGES];
	_Atomic bool protected[GFNS];
	u32 pinned, pin_limit;
	int pin_error; /* of the next @pin_errors pins */
	u32 pin_errors;
	bool protect_broken, protect_broken_at[GFNS];
	u32 protect_calls;
	struct xarray pins_book;
	void (*race)(void); /* another vCPU, while the code under test runs */
	/* the lock that the hypervisor takes to pin, as VFIO does; or NULL */
	pthread_mutex_t *hv_lock;

	/* the user of the GGTT table */
	struct ghyvi_ggtt_user ggtt_user;
	_Atomic bool ggtt_unmapped[GHYVI_GGTT_TABLES_MAX];
	u32 ggtt_unmaps, ggtt_faults;

	/* the user of the aperture */
	struct ghyvi_aperture_user aperture_user;
	u8 **aperture; /* by GGTT page number: what is mapped there, or NULL */
	u32 aperture_unmaps;

	/* the pGPU client */
	struct xarray owned; /* DMA page -> count * 4 + kind */
	struct xarray owners_book;
	struct xarray cached; /* pages an engine could reach at the last invalidation or since */
	u64 *ggtt, *guest_ggtt;
	struct ghyvi_range partition; /* the client's, one range */
	bool mapped[RAM_PAGES]; /* guest pages that nested jobs can reach */
	u32 nr_mapped, map_limit;
	u32 ggtt_tables;
	u32 owned_pages, own_limit, invalidations, ggtt_writes, client_resets;
	bool unchecked; /* no checks: the test is too big, or a benchmark */
	struct held held[MAX_HELD];
	u32 nr_held;
};
extern struct gtt_fake fake;

/* Returns the position of guest page @gfn in fake.ram; also the inverse. */
static inline u64 host_index(u64 gfn)
{
	return gfn < RAM_PAGES && fake.scattered[gfn / 16] ? gfn ^ 1 : gfn;
}

static inline u64 *guest_page(u64 gfn)
{
	return (u64 *)(fake.ram + (host_index(gfn) << 12));
}

static inline u64 counter_of(const atomic64_t *counter)
{
	return (u64)atomic64_read(counter);
}
#define STAT(name) counter_of(&fake.stats.name)

/*
 * Engines use other addresses than the host, as behind an IOMMU. An entry that holds the host's
 * address maps no page of the client, and a CPU cannot use the address in an entry.
 */
#define DMA_BIT BIT_ULL(47)

static inline u64 dma_of(const void *page)
{
	return virt_to_phys(page) | DMA_BIT;
}

/* Returns the host's pointer to the page that engines access at the address in @entry. */
static inline void *host_of(u64 entry)
{
	ASSERT(entry & DMA_BIT);
	return phys_to_virt(entry & GHYVI_SHADOW_ADDRESS_MASK & ~DMA_BIT);
}

static inline u64 dma_page_of(u64 gfn)
{
	return dma_of(guest_page(gfn));
}

/* Reachability: the pages that engines could reach with the current entries. */

u64 kind_of(u64 dma);
void reach_all(struct xarray *set);

/* the hypervisor's side */

void set_absent(u64 gfn, bool absent);

/*
 * Access GGTT page @page through the aperture, as a guest does: map it if it is not. Returns the
 * memory.
 */
u8 *aperture_access(u64 page);

/* the pGPU's side */

/* the guest's side */

u8 *guest_byte(u64 gpa);

/* Changes memory only. Returns true if the write must be reported as a trap. */
bool guest_store(u64 gpa, const void *buffer, unsigned int bytes);
void guest_write_bytes(u64 gpa, const void *buffer, unsigned int bytes);
void guest_write(u64 gpa, unsigned int bytes, u64 value);

static inline u64 pte_gpa(u64 gfn, unsigned int index)
{
	return (gfn << 12) + index * 8;
}

void write_pte(u64 gfn, unsigned int index, u64 value);

static inline u64 pte(u64 gfn)
{
	return gfn << 12 | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

/*
 * Link four table pages from @pml4 on, PML4, PDP, PD and PT, by their first entries. The PT is
 * empty.
 */
void build_tree(u64 pml4);
/* Fill @directories page directories, from PD4_GFN on, with page tables from gfn 100 on. */
void build_full_directories(u32 directories);
struct ghyvi_root *get_root(const u64 *gpa4, unsigned int levels);
struct ghyvi_root *get_root4(u64 pml4);
struct ghyvi_root *get_synced_root4(u64 pml4);
void put_root(u32 i);
void put_all_roots(void);
void forget_root4(u64 pml4);

/* The shadow table of @levels_down entries below @dma. */
u64 *shadow_table(u64 dma, unsigned int levels_down, ...);

/* The shadow of the page table of build_tree(). */
u64 *shadow_pt(struct ghyvi_root *root);
u64 spte(u64 gfn);
bool is_scratch(u64 entry);

/* Does an entry of @level map the scratch page for all addresses? */
bool maps_scratch(u64 entry, unsigned int level);

/* life */

void fake_init(u32 ggtt_tables);
void limit_tables(u32 tables_max);

/* Destroy the gtt and assert that no page is pinned, owned, protected or mapped. */
void fake_fini(void);
int setup(void **state);
int teardown(void **state);

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
