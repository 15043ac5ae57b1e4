// SPDX-License-Identifier: GPL-2.0-only
/* The generated rhythms: valid traces, the same for the same seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ghyvi_shim.h>
#include <cmocka.h>

#include "../../tools/sim/rhythms.h"
#include "../../tools/sim/simulate.h"

static const struct rhythm_family *family_at(unsigned int i)
{
	unsigned int tuning;

	for (tuning = 0; rhythm_tuning[tuning].name; tuning++)
		if (tuning == i)
			return &rhythm_tuning[i];
	return rhythm_judging[i - tuning].name ? &rhythm_judging[i - tuning] : NULL;
}

static void names_are_unique_and_sets_disjoint(void **state)
{
	unsigned int i, j, judging = 0;

	for (i = 0; family_at(i); i++) {
		judging += family_at(i)->judging;
		assert_ptr_equal(rhythm_find(family_at(i)->name), family_at(i));
		for (j = 0; j < i; j++)
			assert_ptr_not_equal(family_at(i)->generate, family_at(j)->generate);
	}
	assert_true(i >= 16);
	assert_true(judging >= 8 && i - judging >= 8);
	assert_null(rhythm_find("no such rhythm"));
}

static void a_seed_decides_the_whole_trace(void **state)
{
	struct rhythm one, same, other;
	unsigned int i;

	for (i = 0; family_at(i); i++) {
		assert_int_equal(rhythm_init(&one, family_at(i), 3), 0);
		assert_int_equal(rhythm_init(&same, family_at(i), 3), 0);
		assert_int_equal(rhythm_init(&other, family_at(i), 4), 0);
		assert_int_equal(one.count, same.count);
		assert_memory_equal(one.records, same.records, one.count * sizeof(*one.records));
		assert_true(one.count != other.count ||
			    memcmp(one.records, other.records, one.count * sizeof(*one.records)));
		rhythm_free(&one);
		rhythm_free(&same);
		rhythm_free(&other);
	}
}

/* Every record is one that the trace file may contain, and a page is linked before its stores. */
static void records_are_valid(void **state)
{
	const struct ghyvi_shadow_policy *strict = ghyvi_shadow_policy_find("strict");
	struct ghyvi_shadow_tuning tuning = GHYVI_SHADOW_TUNING_DEFAULT;
	struct trace_record record;
	struct sim_result r;
	struct rhythm one;
	unsigned int i;

	for (i = 0; family_at(i); i++) {
		assert_int_equal(rhythm_init(&one, family_at(i), i), 0);
		while (one.source.next(&one.source, &record)) {
			assert_true(record.page <= TRACE_PAGE_MAX && record.root <= TRACE_ROOT_MAX);
			if (record.type == TRACE_STORES)
				assert_true(record.count && record.entry + record.count <= 512);
		}
		one.source.rewind(&one.source);
		assert_int_equal(simulate(&one.source, &strict, 1, &tuning, SIM_PROFILE_PAGES, &r),
				 0);
		assert_true(r.trace.submissions >= 1000);
		assert_true(r.trace.stores >= 100);
		sim_result_free(&r);
		rhythm_free(&one);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique_and_sets_disjoint),
		cmocka_unit_test(a_seed_decides_the_whole_trace),
		cmocka_unit_test(records_are_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
