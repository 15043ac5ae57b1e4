// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two rules of shadowing that only another vCPU can break, tested at each moment instead of by
 * chance. Each entry of the guest is read once into the snapshot, and shadows are derived from
 * that. Before a page is read, it is protected or on the relaxed list, so a store at any moment is
 * found.
 */
#include "gtt_fake.h"
#include "guest_watch.h"

#define GGTT_GFN (BAR_GFN + FIRST_GGTT_TABLE)
#define MANY GHYVI_ENTRIES

static struct ghyvi_table_page *table_of(u64 gfn)
{
	return gfn == GGTT_GFN ? fake.gtt->ggtt_tables[FIRST_GGTT_TABLE] :
				 xa_load(&fake.gtt->tables, gfn);
}

static u64 *table_memory(u64 gfn)
{
	return (u64 *)guest_byte(gfn << 12);
}

/* No entry maps scratch here: all pages can be pinned. */
static u64 translation(unsigned int level, u64 guest)
{
	struct ghyvi_table_page *child;

	if (!(guest & GHYVI_ENTRY_PRESENT))
		return 0;
	if (level == GHYVI_LEVEL_PT)
		return spte(ghyvi_entry_gfn(guest));
	child = table_of(ghyvi_entry_gfn(guest));
	assert_non_null(child);
	assert_non_null(child->shadows[level - 1]);
	return child->shadows[level - 1]->dma | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

static void assert_shadows_are_of_the_snapshot(u64 gfn, unsigned int level)
{
	const struct ghyvi_table_page *table = table_of(gfn);
	unsigned int i;
	u64 expected;

	for (i = 0; i < GHYVI_ENTRIES; i++) {
		expected = translation(level, table->snapshot[i]);
		assert_int_equal(table->shadows[level]->entries[i], expected);
		if (gfn == GGTT_GFN)
			assert_int_equal(fake.ggtt[FIRST_GGTT_TABLE * GHYVI_ENTRIES + i], expected);
	}
}

/*
 * A scene: what the guest does before its page is watched, and what makes the host read the page.
 */
struct scene {
	const char *policy;
	u64 gfn; /* of the page that is read */
	unsigned int level;
	void (*prepare)(void);
	void (*read)(void);
	u64 first; /* the first of many guest pages that entries may map: tables below @level */
};

static struct ghyvi_root *root;

static void hold_root(void)
{
	root = get_root4(PML4_GFN);
}

static void sync_root(void)
{
	ghyvi_gtt_sync(fake.gtt, root);
}

static void prepare_tree(void)
{
	build_tree(PML4_GFN);
	hold_root();
	sync_root();
}

/* On the relaxed list, and not protected any more. */
static void prepare_relaxed(void)
{
	prepare_tree();
	write_pte(PT_GFN, 9, pte(DATA));
	ASSERT(!fake.protected[PT_GFN]);
}

static void prepare_root(void)
{
	build_tree(PML4_GFN);
}

static void prepare_ggtt(void)
{
	prepare_tree();
	ghyvi_gtt_ggtt_live(fake.gtt);
	sync_root();
	ASSERT(fake.protected[GGTT_GFN]);
	write_pte(GGTT_GFN, 9, pte(DATA));
	ASSERT(!fake.protected[GGTT_GFN]);
}

/* One trap for all entries, of which some have changed. */
static void trap_page(void)
{
	ghyvi_gtt_trap(fake.gtt, PT_GFN << 12, GHYVI_PAGE_BYTES);
}

static void link_table(void)
{
	write_pte(PD_GFN, 1, pte(PT2_GFN));
}

/* A table also becomes a page directory without tables below it. */
static void link_directory(void)
{
	write_pte(PDP_GFN, 1, pte(PT_GFN));
}

static void read_ggtt(void)
{
	u64 word;

	ghyvi_gtt_ggtt_read(fake.gtt, (FIRST_GGTT_TABLE * (u64)GHYVI_ENTRIES + 7) << 12, &word, 8);
}

/* Each instruction that reads an entry gets a different value. */
static const struct scene *now;

static void change_page(unsigned int entry)
{
	u64 *page = table_memory(now->gfn);
	unsigned int i;

	for (i = 0; i < GHYVI_ENTRIES; i++)
		page[i] = pte(now->first + watched.all_reads % 16);
}

/*
 * @reads: of one entry, at most: a scan compares it and, where its line differs, reads it for good.
 */
static void read_while_it_changes(const struct scene *scene, u32 reads)
{
	unsigned int i;

	fake_init(4);
	ghyvi_gtt_set_policy(fake.gtt, scene->policy);
	now = scene;
	scene->prepare();
	watch_begin(table_memory(scene->gfn), change_page);
	scene->read();
	watch_end();
	assert_true(watched.all_reads);
	for (i = 0; i < GHYVI_ENTRIES; i++)
		assert_in_range(watched.reads[i], 0, reads);
	assert_shadows_are_of_the_snapshot(scene->gfn, scene->level);
	/*
	 * No store is reported late: each trapped if the page was protected.
	 */
	if (fake.protected[scene->gfn])
		ghyvi_gtt_trap(fake.gtt, scene->gfn << 12, GHYVI_PAGE_BYTES);
	sync_root();
	assert_memory_equal(table_of(scene->gfn)->snapshot, table_memory(scene->gfn),
			    GHYVI_PAGE_BYTES);
	assert_shadows_are_of_the_snapshot(scene->gfn, scene->level);
	fake_fini();
}

static void a_scan_derives_the_shadow_from_one_read(void **state)
{
	const struct scene table = { "segmented",     4,	 GHYVI_LEVEL_PT,
				     prepare_relaxed, sync_root, DATA };
	const struct scene ggtt = { "segmented",  GGTT_GFN,  GHYVI_LEVEL_PT,
				    prepare_ggtt, sync_root, DATA };

	read_while_it_changes(&table, 2);
	read_while_it_changes(&ggtt, 2);
}

static void a_new_table_is_read_once(void **state)
{
	const struct scene table = {
		"segmented", 5, GHYVI_LEVEL_PT, prepare_tree, link_table, DATA
	};
	const struct scene directory = {
		"segmented", 3, GHYVI_LEVEL_PD, prepare_root, hold_root, 40
	};

	read_while_it_changes(&table, 1);
	read_while_it_changes(&directory, 1);
}

static void a_trap_reads_each_entry_once(void **state)
{
	const struct scene table = { "strict", 4, GHYVI_LEVEL_PT, prepare_tree, trap_page, DATA };

	read_while_it_changes(&table, 1);
}

static void a_read_of_the_host_reads_the_entry_once(void **state)
{
	const struct scene ggtt = { "segmented",  GGTT_GFN,  GHYVI_LEVEL_PT,
				    prepare_ggtt, read_ggtt, DATA };

	read_while_it_changes(&ggtt, 1);
}

/* Without a change every entry is read once, and no other guest page is read. */
static void a_scan_of_an_unchanged_page_reads_it_once(void **state)
{
	unsigned int i;

	prepare_relaxed();
	watch_begin(guest_page(PT_GFN), NULL);
	ghyvi_gtt_flush(fake.gtt); /* it stays relaxed */
	watch_end();
	for (i = 0; i < GHYVI_ENTRIES; i++)
		assert_in_range(watched.reads[i], 0, 1);
	assert_in_range(watched.all_reads, 1, GHYVI_ENTRIES);
}

/*
 * One store by another vCPU, at event number @when. Events are reads of the page and calls of the
 * hypervisor or the pGPU. If it traps, the trap waits for the lock.
 */
static struct {
	u32 events, when;
	unsigned int entry;
	u64 value;
	bool pending;
	void (*first_read)(void);
} race;

static void race_event(bool reading)
{
	if (race.events++ != race.when)
		return;
	watched.enough = true;
	if (!reading)
		watch_lock(false);
	race.pending = guest_store(pte_gpa(now->gfn, race.entry), &race.value, 8);
}

static void race_read(unsigned int entry)
{
	if (race.first_read)
		race.first_read();
	race.first_read = NULL;
	race_event(true);
}

static void race_call(void)
{
	if (watched.page && !watched.enough)
		race_event(false);
}

static u32 store_at(const struct scene *scene, u32 when, unsigned int entry,
		    void (*first_read)(void))
{
	fake_init(4);
	ghyvi_gtt_set_policy(fake.gtt, scene->policy);
	now = scene;
	memset(&race, 0, sizeof(race));
	race.when = when;
	race.entry = entry;
	race.value = pte(scene->first + 5);
	race.first_read = first_read;
	scene->prepare();
	fake.race = race_call;
	watch_begin(table_memory(scene->gfn), race_read);
	scene->read();
	fake.race = NULL;
	watch_end();
	if (race.pending)
		ghyvi_gtt_trap(fake.gtt, pte_gpa(scene->gfn, entry), 8);
	sync_root();
	assert_memory_equal(table_of(scene->gfn)->snapshot, table_memory(scene->gfn),
			    GHYVI_PAGE_BYTES);
	if (when < race.events)
		assert_int_equal(table_memory(scene->gfn)[entry], race.value);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	fake_fini();
	return race.events;
}

/*
 * The store comes before and after each call of the hypervisor, and at some reads of the page. It
 * changes the entry that is read first or last.
 */
static void store_at_any_moment(const struct scene *scene, void (*first_read)(void))
{
	u32 when, events = store_at(scene, ~0u, 0, first_read);

	assert_true(events > MANY);
	for (when = 0; when < events; when += when < 8 || when + 12 > events ? 1 : 41) {
		store_at(scene, when, 0, first_read);
		store_at(scene, when, GHYVI_ENTRIES - 1, first_read);
	}
}

static void a_store_during_a_synchronisation_is_found(void **state)
{
	const struct scene table = { "segmented",     4,	 GHYVI_LEVEL_PT,
				     prepare_relaxed, sync_root, DATA };
	const struct scene ggtt = { "segmented",  GGTT_GFN,  GHYVI_LEVEL_PT,
				    prepare_ggtt, sync_root, DATA };

	store_at_any_moment(&table, NULL);
	store_at_any_moment(&ggtt, NULL);
}

static void a_store_while_a_table_is_linked_is_found(void **state)
{
	static const char *const policies[] = { "strict", "full" };
	struct scene table = { NULL, 5, GHYVI_LEVEL_PT, prepare_tree, link_table, DATA };
	const struct scene directory = {
		"segmented", 3, GHYVI_LEVEL_PD, prepare_root, hold_root, 40
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		table.policy = policies[i];
		store_at_any_moment(&table, NULL);
	}
	store_at_any_moment(&directory, NULL);
}

static void a_store_while_a_table_becomes_a_directory_is_found(void **state)
{
	const struct scene both = { "dynamic",	    4, GHYVI_LEVEL_PT, prepare_relaxed,
				    link_directory, 40 };

	store_at_any_moment(&both, NULL);
}

/*
 * The root cannot be protected at first. During its scan it also becomes a page directory, through
 * page FIRST_FREE_GFN, and can be protected now. The entries read until then may have changed.
 */
static void prepare_unprotected(void)
{
	build_tree(PML4_GFN);
	fake.protect_broken_at[PML4_GFN] = true;
	hold_root();
	sync_root();
	write_pte(FIRST_FREE_GFN, 0, pte(PML4_GFN));
	write_pte(PML4_GFN, 300, pte(FIRST_FREE_GFN));
	ASSERT(!fake.protected[PML4_GFN]);
}

static void mend_protection(void)
{
	fake.protect_broken_at[PML4_GFN] = false;
}

static void a_store_to_a_page_protected_while_it_is_scanned_is_found(void **state)
{
	const struct scene top = { "segmented",		1,	   GHYVI_LEVEL_PML4,
				   prepare_unprotected, sync_root, 40 };

	store_at_any_moment(&top, mend_protection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_derives_the_shadow_from_one_read),
		cmocka_unit_test(a_new_table_is_read_once),
		cmocka_unit_test(a_trap_reads_each_entry_once),
		cmocka_unit_test(a_read_of_the_host_reads_the_entry_once),
		TEST(a_scan_of_an_unchanged_page_reads_it_once),
		cmocka_unit_test(a_store_during_a_synchronisation_is_found),
		cmocka_unit_test(a_store_while_a_table_is_linked_is_found),
		cmocka_unit_test(a_store_while_a_table_becomes_a_directory_is_found),
		cmocka_unit_test(a_store_to_a_page_protected_while_it_is_scanned_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
