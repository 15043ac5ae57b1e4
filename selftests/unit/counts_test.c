// SPDX-License-Identifier: GPL-2.0-only
/*
 * What fixed work costs in counts: traps, syncs, entries compared, bytes audited, register
 * accesses, pins and allocations, on the software GPU. They do not depend on the machine or its
 * load. So each that changes fails here, also to the better: `counts.golden` has them, and
 * GHYVI_RENEW=1 writes it, for the commit that means the change. Policies whose decisions depend
 * on measured times are left out. Planted faults, each of which makes a count worse, must be seen.
 */
#include <stdlib.h>
#include <string.h>
#include "move_one.h"
#include "vgpu/vgpu_types.h"

#define GOLDEN "counts.golden"
#define LINE_BYTES 128
#define DIFFERENCE_BYTES (2 * LINE_BYTES + 16)
#define ROUNDS 60u
#define FIRST_ENTRY 128u /* behind those that the guest needs */
#define STORES 16u

static struct ghyvi_hv_ops ops;
static bool is_protected[MOVE_RAM_PAGES];

/* A planted fault: @work costs more of @count under @policy. */
struct fault {
	const char *policy;
	const char *work;
	const char *count;
	void (*after_submission)(void);
	bool checks_itself; /* each submission walks all tables once more */
	bool protects_nothing; /* all tables are compared at each submission */
	bool stays_protected; /* relaxed tables trap, too */
};

static const struct fault no_fault, *fault = &no_fault;
static unsigned long map_allocs; /* softgpu allocates per 256 KiB of host addresses: chance */

static bool is_ram(u64 gfn)
{
	return gfn - (MOVE_RAM_GPA >> GHYVI_PAGE_SHIFT) < MOVE_RAM_PAGES;
}

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
	if (fault->protects_nothing && is_ram(*gfns))
		return 0;
	return mark(gfns, count, true);
}

static void hv_unprotect(struct ghyvi_hv *hv, const u64 *gfns, unsigned int count)
{
	if (!fault->stays_protected)
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
	ghyvi_vgpu_set_check(host.vgpu, fault->checks_itself);
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
	if (fault->after_submission)
		fault->after_submission();
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

static void count_policy(FILE *to, const char *policy)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} works[] = {
		{ "submissions", submissions },
		{ "new_entries", submissions_with_new_entries },
		{ "user_batches", batches_of_user_space },
		{ "lite_restores", lite_restores },
	};
	unsigned int work;

	for (work = 0; work < ARRAY_SIZE(works); work++) {
		begin(policy);
		shim_fail_allocs(~0ul, 1); /* none fails; all are counted */
		map_allocs = 0;
		works[work].run();
		print_counts(to, policy, works[work].name);
		shim_fail_allocs(0, 0);
		move_host_end(&host);
	}
	fflush(to);
}

static FILE *open_golden(void)
{
	FILE *was = fopen(GOLDEN, "r");

	assert_non_null(was);
	return was;
}

/* Returns the number of lines that differ. @first: the first of them, and the one in the table */
static unsigned int differences(FILE *is, char first[DIFFERENCE_BYTES])
{
	char line[LINE_BYTES], golden[LINE_BYTES];
	FILE *was = open_golden();
	unsigned int count = 0, lines = 0;

	rewind(is);
	first[0] = 0;
	while (fgets(golden, sizeof(golden), was)) {
		lines++;
		if (!fgets(line, sizeof(line), is))
			line[0] = 0;
		if (strcmp(line, golden) && !count++)
			snprintf(first, DIFFERENCE_BYTES, "%s  now: %s", golden, line);
	}
	while (fgets(line, sizeof(line), is))
		count++;
	fclose(was);
	assert_true(lines > 100);
	return count;
}

static void fixed_work_costs_what_it_did(void **state)
{
	static const char *const policies[] = { "strict",    "full", "static", "dynamic",
						"segmented", "oos",  "relaxed" };
	FILE *is = getenv("GHYVI_RENEW") ? fopen(GOLDEN, "w+") : tmpfile();
	char first[DIFFERENCE_BYTES];
	unsigned int i;

	assert_non_null(is);
	for (i = 0; i < ARRAY_SIZE(policies); i++)
		count_policy(is, policies[i]);
	if (differences(is, first))
		fail_msg(GOLDEN ": %s", first);
	fclose(is);
}

/* Copies the table, but for line @changed: one more of its count if @more, else it is left out. */
static FILE *changed_golden(unsigned int changed, bool more)
{
	FILE *was = open_golden(), *is = tmpfile();
	char line[LINE_BYTES], *value;
	unsigned int i;

	assert_non_null(is);
	for (i = 0; fgets(line, sizeof(line), was); i++) {
		if (i != changed) {
			fputs(line, is);
		} else if (more) {
			value = strrchr(line, ' ');
			assert_non_null(value);
			fprintf(is, "%.*s %lld\n", (int)(value - line), line,
				strtoll(value, NULL, 10) + 1);
		}
	}
	fclose(was);
	fflush(is);
	assert_true(i > changed || changed == ~0u);
	return is;
}

static unsigned int golden_lines(void)
{
	FILE *was = open_golden();
	char line[LINE_BYTES];
	unsigned int count = 0;

	while (fgets(line, sizeof(line), was))
		count++;
	fclose(was);
	return count;
}

static void each_count_is_compared(void **state)
{
	const unsigned int lines = golden_lines();
	char first[DIFFERENCE_BYTES];
	unsigned int i;
	FILE *is;

	for (i = 0; i < lines; i++) {
		is = changed_golden(i, true);
		assert_int_equal(differences(is, first), 1);
		fclose(is);
		is = changed_golden(i, false);
		assert_int_not_equal(differences(is, first), 0);
		fclose(is);
	}
	is = changed_golden(~0u, false);
	assert_int_equal(differences(is, first), 0);
	fputs("strict submissions evicted_trees 1\n", is);
	fflush(is);
	assert_int_equal(differences(is, first), 1);
	fclose(is);
}

/* 0: there is no such line, because nothing was counted. */
static long long count_of(FILE *in, const struct fault *of)
{
	char policy[LINE_BYTES], work[LINE_BYTES], name[LINE_BYTES];
	long long value;

	rewind(in);
	while (fscanf(in, "%127s %127s %127s %lld", policy, work, name, &value) == 4)
		if (!strcmp(policy, of->policy) && !strcmp(work, of->work) &&
		    !strcmp(name, of->count))
			return value;
	return 0;
}

static void read_a_register(void)
{
	move_rd(&host, GHYVI_RENDER_BASE + RING_MODE);
}

static void write_a_register(void)
{
	move_wr(&host, GHYVI_RENDER_BASE + RING_IMR, 0);
}

static void forget_trees(void)
{
	mutex_lock(&host.vgpu->lock);
	ghyvi_gtt_forget_roots(host.vgpu->gtt);
	mutex_unlock(&host.vgpu->lock);
}

static void each_fault_is_seen_in_its_count(void **state)
{
	static const struct fault faults[] = {
		{ "strict", "submissions", "checks", .checks_itself = true },
		{ "strict", "submissions", "scans", .protects_nothing = true },
		{ "strict", "submissions", "entries_compared", .protects_nothing = true },
		{ "dynamic", "new_entries", "table_write_traps", .stays_protected = true },
		{ "dynamic", "new_entries", "table_write_bytes", .stays_protected = true },
		{ "strict", "submissions", "mmio_reads", .after_submission = read_a_register },
		{ "strict", "submissions", "mmio_writes", .after_submission = write_a_register },
		{ "strict", "submissions", "protects", .after_submission = forget_trees },
		{ "strict", "submissions", "pins", .after_submission = forget_trees },
		{ "strict", "submissions", "allocations", .after_submission = forget_trees },
	};
	FILE *was = open_golden();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		FILE *is = tmpfile();

		assert_non_null(is);
		fault = &faults[i];
		count_policy(is, fault->policy);
		print_message("%s: %lld, with a fault %lld\n", fault->count, count_of(was, fault),
			      count_of(is, fault));
		assert_true(count_of(is, fault) > count_of(was, fault));
		fault = &no_fault;
		fclose(is);
	}
	fclose(was);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_work_costs_what_it_did),
		cmocka_unit_test(each_count_is_compared),
		cmocka_unit_test(each_fault_is_seen_in_its_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
