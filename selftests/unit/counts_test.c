// SPDX-License-Identifier: GPL-2.0-only
/*
 * What fixed work costs in counts: traps, syncs, entries compared, bytes audited, register
 * accesses, pins and allocations, on the software GPU. They do not depend on the machine or its
 * load. So each that changes fails here, also to the better: `counts.golden` has them, and
 * GHYVI_RENEW=1 writes it, for the commit that means the change. Policies whose decisions depend
 * on measured times are left out.
 */
#include <string.h>
#include "move_one.h"
#include "vgpu/vgpu_types.h"

#define GOLDEN "counts.golden"
#define LINE_BYTES 128
#define ROUNDS 60u
#define FIRST_ENTRY 128u /* behind those that the guest needs */
#define STORES 16u

static struct ghyvi_hv_ops ops;
static bool is_protected[MOVE_RAM_PAGES];
static bool check_itself; /* a planted fault: each submission walks all tables once more */
static unsigned long map_allocs; /* softgpu allocates per 256 KiB of host addresses: chance */

static unsigned int mark(const u64 *gfns, unsigned int count, bool protect)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		u64 page = gfns[i] - (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT);

		if (page < MOVE_RAM_PAGES)
			is_protected[page] = protect;
	}
	return count;
}

static unsigned int hv_protect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	return mark(gfns, count, true);
}

static void hv_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	mark(gfns, count, false);
}

static int map_page(struct ghyvi_pgpu_client *client, u64 hpa, enum ghyvi_page_kind kind,
		    dma_addr_t *dma)
{
	const unsigned long before = shim_made_allocs();
	const int err = softgpu_ops.map_page(client, hpa, kind, dma);

	map_allocs += shim_made_allocs() - before;
	return err;
}

static void begin(const char *policy)
{
	memset(is_protected, 0, sizeof(is_protected));
	move_host_begin(&host, NULL);
	ops = *host.hv.ops;
	ops.protect = hv_protect;
	ops.unprotect = hv_unprotect;
	host.hv.ops = &ops;
	host.ops.map_page = map_page;
	assert_int_equal(ghyvi_vgpu_set_policy(host.vgpu, policy), 0);
	ghyvi_vgpu_set_check(host.vgpu, check_itself);
	move_guest_begin(&host);
	assert_true(ghyvi_vgpu_try_remap(host.vgpu));
}

static void table_store(unsigned int entry, u64 value)
{
	((u64 *)move_page(MOVE_PT))[entry] = value;
	if (is_protected[MOVE_PT])
		ghyvi_vgpu_route_store(host.vgpu,
				       MOVE_RAM_GPA + MOVE_PT * (u64)GHYVI_PAGE_BYTES + 8 * entry,
				       &value, sizeof(value));
}

static void submit(void)
{
	const u64 descriptor = move_descriptor(GHYVI_RCS);
	const u32 port = GHYVI_RENDER_BASE + RING_ELSP;

	move_store(&host, port, 0);
	move_store(&host, port, 0);
	move_store(&host, port, upper_32_bits(descriptor));
	move_store(&host, port, lower_32_bits(descriptor));
}

static void submit_and_wait(u32 value)
{
	MOVE_RING(GHYVI_RCS, MOVE_STORE(0, 5, value));
	submit();
	move_await(move_data(0, 5), value);
	move_await_idle(&host, GHYVI_RCS);
}

static void submissions(void)
{
	unsigned int i;

	for (i = 1; i <= ROUNDS; i++)
		submit_and_wait(i);
}

/* Each before its submission, as a driver that binds a buffer. */
static void submissions_with_new_entries(void)
{
	unsigned int i, entry;

	for (i = 1; i <= ROUNDS; i++) {
		for (entry = 0; entry < STORES; entry++)
			table_store(FIRST_ENTRY + entry,
				    ((u64 *)move_page(MOVE_PT))[MOVE_DATA + i % 2]);
		submit_and_wait(i);
	}
}

static void batches_of_user_space(void)
{
	unsigned int i;

	assert_int_equal(ghyvi_audit_set_mode(host.vgpu->audit, "full"), 0);
	MOVE_BATCH(GHYVI_RCS, MOVE_STORE(0, 6, 1), MOVE_STORE(0, 7, 1), MOVE_BATCH_END);
	for (i = 1; i <= ROUNDS / 2; i++) {
		MOVE_RING(GHYVI_RCS, MOVE_CALL_USER(GHYVI_RCS));
		submit_and_wait(i);
	}
}

static void lite_restores(void)
{
	unsigned int i;

	move_begin_waiting(&host, GHYVI_RCS, false);
	for (i = 1; i <= ROUNDS; i++) {
		MOVE_RING(GHYVI_RCS, MOVE_STORE(0, 5, i));
		submit();
	}
	move_end_waiting(&host, GHYVI_RCS);
	move_await(move_data(0, 5), ROUNDS);
	move_await_idle(&host, GHYVI_RCS);
}

/* Not times, gauges, or what depends on the engine's thread. */
static bool is_count(const char *name)
{
	static const char *const others[] = { "_ns", "_now", "switches", "interrupts" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (strstr(name, others[i]))
			return false;
	return true;
}

static void print_counts(FILE *to, const char *policy, const char *work)
{
	const struct {
		const char *name;
		s64 value;
	} counts[] = {
#define COUNT(name, what) { #name, atomic64_read(&host.stats.name) },
		GHYVI_STATS(COUNT)
#undef COUNT
			{ "pins", host.pinned },
		{ "allocations", (s64)(shim_made_allocs() - map_allocs) },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i].value && is_count(counts[i].name))
			fprintf(to, "%s %s %s %lld\n", policy, work, counts[i].name,
				(long long)counts[i].value);
}

static void count_all(FILE *to)
{
	static const char *const policies[] = { "strict",    "full", "static", "dynamic",
						"segmented", "oos",  "relaxed" };
	static const struct {
		const char *name;
		void (*run)(void);
	} works[] = {
		{ "submissions", submissions },
		{ "new_entries", submissions_with_new_entries },
		{ "user_batches", batches_of_user_space },
		{ "lite_restores", lite_restores },
	};
	unsigned int policy, work;

	for (policy = 0; policy < ARRAY_SIZE(policies); policy++)
		for (work = 0; work < ARRAY_SIZE(works); work++) {
			begin(policies[policy]);
			shim_fail_allocs(~0ul, 1); /* none fails; all are counted */
			map_allocs = 0;
			works[work].run();
			print_counts(to, policies[policy], works[work].name);
			shim_fail_allocs(0, 0);
			move_host_end(&host);
		}
}

/* Returns the number of lines that differ, and prints the first. */
static unsigned int differences(FILE *is)
{
	char line[LINE_BYTES], golden[LINE_BYTES];
	FILE *was = fopen(GOLDEN, "r");
	unsigned int count = 0, lines = 0;

	assert_non_null(was);
	rewind(is);
	while (fgets(golden, sizeof(golden), was)) {
		lines++;
		if (!fgets(line, sizeof(line), is))
			line[0] = 0;
		if (strcmp(line, golden) && !count++)
			print_message(GOLDEN ": %s  now: %s", golden, line);
	}
	while (fgets(line, sizeof(line), is))
		count++;
	fclose(was);
	assert_true(lines > 100);
	return count;
}

static void fixed_work_costs_what_it_did(void **state)
{
	FILE *is = getenv("GHYVI_RENEW") ? fopen(GOLDEN, "w+") : tmpfile();

	assert_non_null(is);
	count_all(is);
	fflush(is);
	assert_int_equal(differences(is), 0);
	fclose(is);
}

static void a_walk_too_many_is_seen(void **state)
{
	FILE *is = tmpfile();

	assert_non_null(is);
	check_itself = true;
	count_all(is);
	check_itself = false;
	assert_int_not_equal(differences(is), 0);
	fclose(is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_work_costs_what_it_did),
		cmocka_unit_test(a_walk_too_many_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
