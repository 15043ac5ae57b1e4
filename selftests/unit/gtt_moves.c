// SPDX-License-Identifier: GPL-2.0-only
#include <ghyvi/multicall.h>
#include "gtt_moves.h"

/* Data in large pages. */
static const u64 larges[] = { LARGE_WHOLE, LARGE_SCATTERED };

bool alias;
static struct {
	u64 gpa;
} pending[64];
static unsigned int nr_pending;
static bool visited[TABLES][5];
/* The pages that the guest's trees use as tables now, one bit for each level. */
static u8 used_as[RAM_PAGES];
bool few_tables;

static unsigned int level_of(u64 gfn)
{
	return gfn < PDP(0) ? 4 : gfn < PD(0) ? 3 : gfn < PT(0) ? 2 : 1;
}

static u64 entry_of_anything(void)
{
	u64 entry = (u64)rnd(~0u) << 20;

	return entry | rnd(~0u);
}

static u64 some_entry(u64 gfn)
{
	static const u64 first[] = { 0, PT(0), PD(0), PDP(0) }, count[] = { 0, 5, 4, 3 };
	unsigned int level = level_of(gfn) - 1;
	u64 entry;

	switch (rnd(16)) {
	case 0:
		if (alias || !level)
			return entry_of_anything();
		return 0;
	case 1:
		return pte(RAM_PAGES + rnd(99));
	case 2:
		if (level == 1)
			return (pte(larges[rnd(2)]) | GHYVI_ENTRY_LARGE) &
			       ~(u64)(rnd(2) ? GHYVI_ENTRY_WRITE : 0);
		return pte(level == 3 ? PDP(0) : PD(rnd(4))) | GHYVI_ENTRY_LARGE;
	case 3:
	case 4:
	case 5:
		return 0;
	}
	if (alias && rnd(2))
		return pte(1 + rnd(TABLES - 1));
	if (level && !alias) {
		entry = pte(first[level] + rnd(count[level]));
		return level == 1 && rnd(3) == 0 ? entry | GHYVI_ENTRY_64K : entry;
	}
	entry = pte(DATA + rnd(DATAS));
	return rnd(2) ? entry & ~GHYVI_ENTRY_WRITE : entry;
}

void racing_store(void)
{
	u64 gfn = 1 + rnd(TABLES - 1), gpa = pte_gpa(gfn, rnd(6)), value = some_entry(gfn);

	if (rnd(24) || nr_pending == ARRAY_SIZE(pending) || fake.absent[gfn])
		return;
	if (guest_store(gpa, &value, 8))
		pending[nr_pending++].gpa = gpa;
}

void deliver(void)
{
	while (nr_pending)
		ghyvi_gtt_trap(fake.gtt, pending[--nr_pending].gpa, 8);
}

static bool is_memory(u64 gfn)
{
	return gfn < RAM_PAGES && !fake.absent[gfn];
}

static void find_tables_from(u64 gfn, unsigned int level)
{
	unsigned int i;
	u64 entry;

	if (!is_memory(gfn) || used_as[gfn] & BIT(level))
		return;
	used_as[gfn] |= BIT(level);
	for (i = 0; level > 1 && i < GHYVI_ENTRIES; i++) {
		entry = guest_page(gfn)[i];
		if (entry & 1 && !(level < 4 && entry & GHYVI_ENTRY_LARGE))
			find_tables_from((entry & GENMASK_ULL(38, 12)) >> 12, level - 1);
	}
}

/* Has the root lost its tables, or a page of them, since a job got it? */
static bool is_emptied(const struct ghyvi_root *root)
{
	if (root->levels == 4)
		return !root->pages[0]->table;
	return !root->known && !root->pages[0] && !root->pages[1] && !root->pages[2] &&
	       !root->pages[3];
}

/* Only a table of a tree that the host knows may be refused as data. The host knows the roots. */
static void find_tables(void)
{
	struct ghyvi_root *root;
	unsigned int i;

	memset(used_as, 0, sizeof(used_as));
	list_for_each_entry(root, &fake.gtt->root_lru, lru)
		for (i = 0; !is_emptied(root) && i < (root->levels == 3 ? 4 : 1); i++)
			find_tables_from(root->gpa[i] >> 12, root->levels == 3 ? 2 : 4);
}

/* May data at these guest pages be scratch to engines? */
static bool is_refused(u64 gfn, unsigned int count)
{
	for (; count; gfn++, count--)
		if (!is_memory(gfn) || used_as[gfn] || fake.excused[gfn])
			return true;
	return false;
}

static bool entry_matches(u64 guest, u64 entry, unsigned int level, bool ggtt);

/* Entry @i of the shadow of a table of 64 KiB pages. */
static bool part_matches(u64 guest, u64 entry, unsigned int i)
{
	u64 gfn = (guest & GENMASK_ULL(38, 16)) >> 12, at;

	if (!(guest & 1))
		return !entry;
	if (is_scratch(entry))
		return is_refused(gfn, 16);
	for (at = gfn; at < gfn + 16; at++)
		if (!is_memory(at))
			return false;
	return entry == ((spte(gfn + i % 16) & ~2ull) | (guest & 2));
}

static bool table_matches(u64 gfn, u64 dma, unsigned int level)
{
	u64 *entries = host_of(dma);
	unsigned int i;

	if (gfn < TABLES) {
		if (visited[gfn][level])
			return true;
		visited[gfn][level] = true;
	}
	for (i = 0; i < GHYVI_ENTRIES; i++) {
		if (!(level ? entry_matches(guest_page(gfn)[i], entries[i], level, false) :
			      part_matches(guest_page(gfn)[i - i % 16], entries[i], i))) {
			fprintf(stderr,
				"%s: page %#llx level %u entry %u: guest %#llx shadow %#llx\n",
				fake.gtt->policy->name, (unsigned long long)gfn, level, i,
				(unsigned long long)guest_page(gfn)[i],
				(unsigned long long)entries[i]);
			return false;
		}
	}
	return true;
}

/* An entry for 2 MiB: one large page if contiguous in the host, otherwise a table. */
static bool large_matches(u64 guest, u64 entry)
{
	u64 gfn = (guest & GENMASK_ULL(38, 21)) >> 12, dma = entry & GHYVI_SHADOW_ADDRESS_MASK,
	    flags = 1 | (guest & 2), i;
	bool whole = true;

	if (maps_scratch(entry, 2))
		return is_refused(gfn, 512);
	for (i = gfn; i < gfn + 512; i++) {
		if (!is_memory(i))
			return false;
		whole = whole && dma_page_of(i) == dma_page_of(gfn) + ((i - gfn) << 12);
	}
	if (whole)
		return entry == (dma_page_of(gfn) | flags | GHYVI_ENTRY_LARGE);
	if (entry != (dma | flags))
		return false;
	for (i = 0; i < 512; i++)
		if (((u64 *)host_of(dma))[i] != spte(gfn + i))
			return false;
	return true;
}

static bool entry_matches(u64 guest, u64 entry, unsigned int level, bool ggtt)
{
	u64 gfn = (guest & GENMASK_ULL(38, 12)) >> 12;
	bool memory = is_memory(gfn);

	if (!(guest & 1))
		return !entry;
	if (level == 2 && (guest & GHYVI_ENTRY_LARGE))
		return large_matches(guest, entry);
	if (level == 3 && (guest & GHYVI_ENTRY_LARGE))
		return maps_scratch(entry, level);
	if (level == 1 && entry == (dma_page_of(gfn) | 1 | (ggtt ? 2 : guest & 2)))
		return memory;
	if (level == 1 && is_scratch(entry))
		return is_refused(gfn, 1);
	if (level > 1 && maps_scratch(entry, level) && (!memory || fake.excused[gfn] || few_tables))
		return true;
	if (level == 1 || !memory || !(entry & 1) || (entry & 2) != (guest & 2))
		return false;
	return table_matches(gfn, entry & GHYVI_SHADOW_ADDRESS_MASK,
			     level == 2 && guest & GHYVI_ENTRY_64K ? GHYVI_LEVEL_PT_64K :
								     level - 1);
}

/* Assert that the tree that an engine would walk for this job is the guest's translation. */
static void compare_root(const struct held *held)
{
	u64 *top = held->dma ? host_of(held->dma) : NULL;
	unsigned int p;

	if (!held->dma)
		return; /* nested */
	memset(visited, 0, sizeof(visited));
	if (is_emptied(held->root))
		return;
	find_tables();
	if (held->levels == 4)
		ASSERT(table_matches(held->gpa[0] >> 12, held->dma, 4));
	for (p = 0; held->levels == 3 && p < 4; p++)
		ASSERT(entry_matches(held->gpa[p] | 3, top[p], 3, false));
}

static void self_check(struct ghyvi_root *root)
{
	if (!ghyvi_gtt_check(fake.gtt, root))
		return;
	fprintf(stderr, "%s\n", fake.reporter.last);
	ASSERT(false);
}

/* What is mapped through the aperture is what the GGTT maps for engines. */
static void compare_aperture(void)
{
	u32 i;

	for (i = FIRST_GGTT_TABLE * 512; i < (FIRST_GGTT_TABLE + fake.ggtt_tables) * 512; i++) {
		if (!fake.aperture[i])
			continue;
		if (i == APERTURE_COPIED && fake.aperture[i] != fake.gtt->aperture.scratch)
			ASSERT(fake.aperture[i] == (u8 *)fake.gtt->aperture.copy &&
			       (void *)fake.gtt->aperture.copied == host_of(fake.ggtt[i]));
		else if (fake.ggtt[i] && !is_scratch(fake.ggtt[i]))
			ASSERT(fake.aperture[i] == host_of(fake.ggtt[i]));
		else
			ASSERT(fake.aperture[i] == fake.gtt->aperture.scratch);
	}
}

void compare_everything(void)
{
	u32 i, n = fake.nr_held;

	reach_all(&fake.cached); /* asserts that the client owns every reachable page */
	for (i = 0; i < n; i++)
		compare_root(&fake.held[i]);
	for (i = 0; fake.gtt->policy->nested && i < GFNS; i++)
		ASSERT(!fake.protected[i]);
	if (!fake.gtt->ggtt_shadowed) {
		for (i = 0; i < n; i++)
			ASSERT(!fake.held[i].dma);
		for (i = FIRST_GGTT_TABLE * 512; i < (FIRST_GGTT_TABLE + fake.ggtt_tables) * 512;
		     i++)
			ASSERT(!fake.ggtt[i]);
		ASSERT(!STAT(relaxed_now) && !STAT(tables_now));
		return;
	}
	find_tables();
	for (i = FIRST_GGTT_TABLE * 512; i < (FIRST_GGTT_TABLE + fake.ggtt_tables) * 512; i++)
		if (!entry_matches(fake.guest_ggtt[i], fake.ggtt[i], 1, true)) {
			fprintf(stderr, "%s; table %d; GGTT entry %u: guest %#llx shadow %#llx\n",
				fake.reporter.last,
				!!xa_load(&fake.gtt->tables, ghyvi_entry_gfn(fake.guest_ggtt[i])),
				i, (unsigned long long)fake.guest_ggtt[i],
				(unsigned long long)fake.ggtt[i]);
			ASSERT(false);
		}
	if (!fake.gtt->policy->nested)
		compare_aperture();
	for (i = 0; i < n; i++)
		self_check(fake.held[i].root);
}

void edit(void)
{
	u64 gfn = 1 + rnd(TABLES - 1), gpa, four[4];
	unsigned int i;

	if (!rnd(5)) {
		i = rnd(1024);
		write_pte(BAR_GFN, FIRST_GGTT_TABLE * 512 + i, some_entry(PT(3)));
		return;
	}
	if (fake.absent[gfn])
		return;
	for (i = 0; i < 4; i++)
		four[i] = some_entry(gfn);
	/* Stores of parts of entries may turn data pages into tables. */
	switch (rnd(8) | (alias || gfn >= PT(0) ? 0 : 2)) {
	case 0:
		gpa = pte_gpa(gfn, rnd(6));
		gpa += 4 * rnd(2);
		guest_write(gpa, 4, four[0] >> 32 * rnd(2));
		break;
	case 1:
		gpa = pte_gpa(gfn, rnd(6));
		guest_write(gpa + rnd(8), 8, four[0]);
		break;
	case 2:
		guest_write_bytes(pte_gpa(gfn, rnd(3)), four, 32);
		break;
	case 3:
		if (gfn + 1 < TABLES && (alias || level_of(gfn) == level_of(gfn + 1)) &&
		    !fake.absent[gfn + 1])
			guest_write_bytes(pte_gpa(gfn, 510), four, 32);
		break;
	default:
		guest_write(pte_gpa(gfn, rnd(3) ? rnd(6) : 16 * rnd(3)), 8, four[0]);
	}
}

/* The host reads what the guest has at a GGTT address, even before the next sync. */
static void host_read(u64 index)
{
	u64 entry = fake.guest_ggtt[index], gfn, word;
	int err;

	if (!fake.ggtt_tables || nr_pending || fake.race)
		return;
	err = ghyvi_gtt_ggtt_read(fake.gtt, index << 12, &word, sizeof(word));
	find_tables();
	gfn = (entry & GENMASK_ULL(38, 12)) >> 12;
	if (!err)
		ASSERT(entry & 1 && is_memory(gfn) && word == *guest_page(gfn));
	else
		ASSERT(err == -EFAULT && (!(entry & 1) || is_refused(gfn, 1)));
}

/*
 * The guest unlinks a table, frees it, and makes something else of it at once: data of a tree or of
 * the GGTT, as a page of 4 KiB or as a part of a larger one, or another table.
 */
static void reuse(void)
{
	u64 gfn = PDP(0) + rnd(TABLES - PDP(0)), from, user = PT(rnd(5)), flags = 1 + 2 * rnd(2);
	u64 gpa[4] = { gfn << 12 };
	unsigned int i;

	for (from = 1; from < TABLES; from++)
		for (i = 0; !fake.absent[from] && i < GHYVI_ENTRIES; i++)
			if ((guest_page(from)[i] & GENMASK_ULL(38, 12)) == gfn << 12)
				write_pte(from, i, 0);
	ghyvi_gtt_forget_root(fake.gtt, gpa, 3);
	ghyvi_gtt_forget_root(fake.gtt, gpa, 4);
	switch (rnd(8)) {
	case 0:
		i = FIRST_GGTT_TABLE * 512 + rnd(1024);
		write_pte(BAR_GFN, i, gfn << 12 | flags);
		if (rnd(2))
			host_read(i);
		break;
	case 1: /* all tables together: there is no tree */
		ghyvi_gtt_forget_roots(fake.gtt);
		gfn = 0;
		if (rnd(2))
			write_pte(PD(0), rnd(6), GHYVI_ENTRY_LARGE | flags);
		fallthrough;
	case 2:
		write_pte(user, 16 * rnd(2), gfn << 12 | flags);
		break;
	case 3:
		if (alias)
			write_pte(1 + rnd(TABLES - 1), rnd(6), pte(gfn));
		break;
	default:
		write_pte(user, rnd(6), gfn << 12 | flags);
	}
}

/* A call with records in a page of their own or, without any, in a table. */
static void multicall_operation(void)
{
	struct ghyvi_multicall_record *records = (void *)guest_page(RECORDS_GFN);
	u32 i, n = rnd(6), applied;
	u64 gfn;

	for (i = 0; i < n; i++) {
		gfn = 1 + rnd(rnd(16) ? TABLES - 1 : RAM_PAGES);
		records[i].address = pte_gpa(gfn, rnd(6)) + !rnd(16);
		records[i].value = some_entry(gfn < TABLES ? gfn : PT(0));
	}
	gfn = rnd(16) ? RECORDS_GFN : 1 + rnd(TABLES - 1);
	ghyvi_gtt_multicall(fake.gtt, gfn << 12, n, &applied);
	ASSERT(applied <= n);
}

void root_operation(void)
{
	u64 gpa[4] = { (u64)PML4(rnd(2)) << 12 };
	unsigned int i, levels = rnd(3) ? 4 : 3;

	for (i = 0; levels == 3 && i < 4; i++)
		gpa[i] = (u64)PD(rnd(4)) << 12;
	if (rnd(40) == 0)
		ghyvi_gtt_forget_roots(fake.gtt);
	else if (rnd(3) == 0)
		ghyvi_gtt_forget_root(fake.gtt, gpa, levels);
	else if (fake.nr_held < 5)
		get_root(gpa, levels);
	else
		put_root(rnd(fake.nr_held));
}

static void memory_operation(void)
{
	u64 gfn = rnd(3) ? 1 + rnd(TABLES - 1) : DATA + rnd(DATAS), i, n = 1 + rnd(4);

	if (rnd(4) == 0)
		gfn = larges[rnd(2)] + 100 * rnd(2);
	for (i = gfn; i < gfn + n; i++) {
		if (fake.absent[i])
			set_absent(i, false);
		else if (rnd(2))
			set_absent(i, true);
	}
	ghyvi_gtt_unmap(fake.gtt, gfn, n);
	/*
	 * Without other vCPUs no page of the range is pinned now. Otherwise it may be in use again.
	 */
	for (i = gfn; !fake.race && i < gfn + n; i++)
		ASSERT(!fake.pins[i]);
}

/* A nested job faults on a page. It may have started under an earlier policy. */
static void fault_operation(void)
{
	u64 gfn = rnd(4) ? DATA + rnd(DATAS) : rnd(RAM_PAGES + 9), value;
	int err;
	u32 i;

	for (i = 0; i < fake.nr_held && fake.held[i].dma; i++)
		;
	if (i == fake.nr_held && !fake.gtt->policy->nested)
		return; /* no such job */
	if (rnd(4) == 0) {
		ghyvi_gtt_ggtt_read(fake.gtt, FIRST_GGTT_TABLE * SPAN + ((u64)rnd(1024) << 12),
				    &value, 8);
		return;
	}
	err = ghyvi_gtt_fault(fake.gtt, gfn);
	if (!err)
		ASSERT(gfn < RAM_PAGES && fake.mapped[gfn]);
	else if (gfn < RAM_PAGES)
		ASSERT(err == (fake.absent[gfn] ? -EFAULT : -ENOMEM));
}

static void protection_operation(void)
{
	u64 gfn = rnd(TABLES), i;

	fake.protect_broken_at[1 + rnd(TABLES - 1)] ^= 1;
	if (rnd(3))
		return;
	for (i = gfn; i < gfn + 5; i++)
		fake.protected[i] = false;
	ghyvi_gtt_protection_lost(fake.gtt, gfn, 5);
}

/* Only pages that the root reaches are synced, and must be correct. */
static void submission(void)
{
	struct held *held;

	if (!fake.nr_held)
		return;
	held = &fake.held[rnd(fake.nr_held)];
	ghyvi_gtt_sync(fake.gtt, held->root);
	compare_root(held);
	self_check(held->root);
}

void move(void)
{
	static const char *const always[] = { "nested", "strict", "relaxed" };
	void (*race)(void) = fake.race;

	switch (rnd(30)) {
	case 0:
	case 1:
		ghyvi_gtt_sync(fake.gtt, fake.nr_held ? fake.held[0].root : NULL);
		deliver();
		fake.race = NULL;
		submission();
		ghyvi_gtt_sync(fake.gtt, NULL);
		compare_everything();
		fake.race = race;
		break;
	case 2:
		ghyvi_gtt_flush(fake.gtt);
		break;
	case 3:
		ghyvi_gtt_set_policy(fake.gtt,
				     ghyvi_shadow_policies[rnd(ghyvi_shadow_policy_count)]->name);
		break;
	case 4:
	case 5:
	case 6:
		root_operation();
		break;
	case 7:
		memory_operation();
		break;
	case 8:
		ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
		ghyvi_gtt_ggtt_live(fake.gtt);
		break;
	case 9:
		protection_operation();
		break;
	case 10:
		fake.pin_limit = rnd(3) ? ~0u : fake.pinned + rnd(3);
		if (fake.pin_limit != ~0u)
			break;
		/*
		 * What failed for lack of room is due at the next sync. If there is none before
		 * room is short again, the sync gives up after some entries.
		 */
		ghyvi_gtt_sync(fake.gtt, NULL);
		memset(fake.excused, 0, sizeof(fake.excused));
		break;
	case 11:
		ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN + 500 * rnd(2));
		ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
		break;
	case 13:
		multicall_operation();
		break;
	case 14:
		fault_operation();
		break;
	case 15:
		ghyvi_gtt_set_policy(fake.gtt, always[rnd(3)]);
		break;
	case 12:
		if (!rnd(5))
			ghyvi_gtt_reset(fake.gtt);
		break;
	case 16:
		if (fake.ggtt_tables)
			aperture_access(FIRST_GGTT_TABLE * 512 + rnd(1024));
		break;
	case 17:
	case 18:
		reuse();
		break;
	case 19:
		host_read(FIRST_GGTT_TABLE * 512 + rnd(1024));
		break;
	default:
		edit();
	}
	deliver();
}
