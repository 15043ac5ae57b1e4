// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which parts of the GGTT address space vGPUs get, and which they never get; how many vGPUs a pGPU
 * has room for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include "random.h"
#include "vfio/partition.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)
#define TABLE_SPAN (2 * MIB)

static struct ghyvi_pgpu_resources resources_of_softgpu(void)
{
	return (struct ghyvi_pgpu_resources){ .ggtt_bytes = 4 * GIB, .aperture_bytes = 256 * MIB };
}

static void reserve(struct ghyvi_pgpu_resources *resources, u64 start, u64 bytes)
{
	assert_true(resources->nr_reserved < GHYVI_RESERVED_RANGES);
	resources->reserved[resources->nr_reserved++] =
		(struct ghyvi_range){ .start = start, .bytes = bytes };
}

static struct ghyvi_range slice(const struct ghyvi_pgpu_resources *resources, unsigned int first,
				unsigned int slices)
{
	const struct ghyvi_partition partition = { .first = first, .slices = slices };

	return ghyvi_partition_hidden(&partition, resources);
}

static bool overlap(const struct ghyvi_range *a, const struct ghyvi_range *b)
{
	return a->start < b->start + b->bytes && b->start < a->start + a->bytes;
}

/* All slices are in whole table pages, adjacent, after the aperture, and none is reserved. */
static void check_slices(const struct ghyvi_pgpu_resources *resources)
{
	struct ghyvi_range all = slice(resources, 0, GHYVI_SLICES), one;
	unsigned int i, r;

	for (i = 0; i < GHYVI_SLICES; i++) {
		one = slice(resources, i, 1);
		assert_true(one.bytes && one.bytes == all.bytes / GHYVI_SLICES);
		assert_true(one.start == all.start + i * one.bytes);
		assert_false(one.start % TABLE_SPAN || one.bytes % TABLE_SPAN);
		assert_true(one.start >= resources->aperture_bytes);
		assert_true(one.start + one.bytes <= resources->ggtt_bytes);
		for (r = 0; r < resources->nr_reserved; r++)
			assert_false(overlap(&one, &resources->reserved[r]));
	}
}

/* The same for the part that CPUs can access, which is in the aperture. */
static void check_mappable(const struct ghyvi_pgpu_resources *resources)
{
	struct ghyvi_range one, before = {};
	unsigned int i, r;

	for (i = 0; i < GHYVI_SLICES; i++) {
		const struct ghyvi_partition partition = { .first = i, .slices = 1 };

		one = ghyvi_partition_mappable(&partition, resources);
		if (!one.bytes)
			return;
		assert_false(one.start % TABLE_SPAN || one.bytes % TABLE_SPAN);
		assert_true(!i || one.start == before.start + before.bytes);
		assert_true(one.start + one.bytes <= resources->aperture_bytes);
		for (r = 0; r < resources->nr_reserved; r++)
			assert_false(overlap(&one, &resources->reserved[r]));
		before = one;
	}
}

static void the_aperture_is_divided_too(void **state)
{
	const struct ghyvi_partition quarter = { .first = 8, .slices = 8 };
	struct ghyvi_pgpu_resources resources = resources_of_softgpu();
	struct ghyvi_range range = ghyvi_partition_mappable(&quarter, &resources);

	assert_true(range.start == 64 * MIB && range.bytes == 64 * MIB);
	check_mappable(&resources);
	/* A page at its begin costs 2 MiB of each slice, a reserved aperture all of it. */
	reserve(&resources, 0, 4096);
	range = ghyvi_partition_mappable(&quarter, &resources);
	assert_true(range.start == 2 * MIB + 8 * 6 * MIB && range.bytes == 8 * 6 * MIB);
	check_mappable(&resources);
	resources.reserved[0].bytes = 256 * MIB;
	assert_true(!ghyvi_partition_mappable(&quarter, &resources).bytes);
}

static void without_reserved_ranges_all_after_the_aperture_is_divided(void **state)
{
	struct ghyvi_pgpu_resources resources = resources_of_softgpu();
	struct ghyvi_range range = slice(&resources, 3, 2);

	assert_true(ghyvi_partition_possible(&resources));
	check_slices(&resources);
	assert_true(range.start == 256 * MIB + 3 * 120 * MIB && range.bytes == 240 * MIB);
}

static void a_range_at_the_end_is_not_divided(void **state)
{
	struct ghyvi_pgpu_resources resources = resources_of_softgpu();
	struct ghyvi_range all;

	reserve(&resources, 0, 4096);
	reserve(&resources, 4 * GIB - 4096, 4096);
	reserve(&resources, 4 * GIB - 32 * MIB, 32 * MIB);
	assert_true(ghyvi_partition_possible(&resources));
	check_slices(&resources);
	all = slice(&resources, 0, GHYVI_SLICES);
	assert_true(all.start == 256 * MIB && all.bytes == 118 * MIB * GHYVI_SLICES);
}

static void the_larger_side_of_a_range_in_the_middle_is_divided(void **state)
{
	struct ghyvi_pgpu_resources resources = resources_of_softgpu();
	struct ghyvi_range all;

	reserve(&resources, GIB, 4096);
	assert_true(ghyvi_partition_possible(&resources));
	check_slices(&resources);
	all = slice(&resources, 0, GHYVI_SLICES);
	/* The table page that contains the reserved page is not shared. */
	assert_true(all.start == GIB + TABLE_SPAN);
	resources.reserved[0].start = 3 * GIB;
	check_slices(&resources);
	assert_true(slice(&resources, 0, 1).start == 256 * MIB);
}

static void a_range_in_the_aperture_costs_nothing(void **state)
{
	struct ghyvi_pgpu_resources resources = resources_of_softgpu();

	reserve(&resources, 255 * MIB, MIB);
	check_slices(&resources);
	assert_true(slice(&resources, 0, GHYVI_SLICES).bytes == 4 * GIB - 256 * MIB);
}

static void no_slice_is_reserved_whatever_the_ranges(void **state)
{
	struct random random = { 14 };
	unsigned int i, n, possible = 0;

	for (i = 0; i < 20000; i++) {
		struct ghyvi_pgpu_resources resources = resources_of_softgpu();

		for (n = random_next(&random) % (GHYVI_RESERVED_RANGES + 1); n; n--) {
			u64 start = random_next(&random) % (1 << 20) * 4096;
			u64 bytes = 1 + random_next(&random) % (1 << random_next(&random) % 20);

			reserve(&resources, start, min(bytes * 4096, 4 * GIB - start));
		}
		if (!ghyvi_partition_possible(&resources))
			continue;
		possible++;
		check_slices(&resources);
		check_mappable(&resources);
	}
	assert_true(possible > 10000);
}

static void resources_that_cannot_be_divided_are_refused(void **state)
{
	struct ghyvi_pgpu_resources good = resources_of_softgpu(), bad = good;

	assert_true(ghyvi_partition_possible(&good));
	bad.ggtt_bytes = 3 * GIB;
	assert_false(ghyvi_partition_possible(&bad));
	bad.ggtt_bytes = 8 * GIB;
	assert_false(ghyvi_partition_possible(&bad));
	bad = good;
	bad.aperture_bytes = 4 * GIB;
	assert_false(ghyvi_partition_possible(&bad));
	bad = good;
	reserve(&bad, 4096 + 8, 4096);
	assert_false(ghyvi_partition_possible(&bad));
	bad.reserved[0].start = 4 * GIB - 4096;
	assert_true(ghyvi_partition_possible(&bad));
	bad.reserved[0].bytes = 8192;
	assert_false(ghyvi_partition_possible(&bad));
	bad.reserved[0].bytes = 100;
	assert_false(ghyvi_partition_possible(&bad));
	bad = good;
	bad.nr_reserved = GHYVI_RESERVED_RANGES + 1;
	assert_false(ghyvi_partition_possible(&bad));
	/* One page less than 32 slices of 2 MiB. */
	bad = good;
	reserve(&bad, 256 * MIB + 64 * MIB, 4 * GIB - 320 * MIB);
	assert_true(ghyvi_partition_possible(&bad));
	bad.reserved[0].start -= 4096;
	bad.reserved[0].bytes += 4096;
	assert_false(ghyvi_partition_possible(&bad));
}

/* Fill @used with partitions of @slices. Returns how many there are. */
static unsigned int fill(struct ghyvi_partitions *used, unsigned int slices,
			 struct ghyvi_partition *partitions)
{
	unsigned int n = 0;

	while (!ghyvi_partition_alloc(used, slices, &partitions[n]))
		n++;
	return n;
}

static void in_one_ggtt_partitions_are_apart(void **state)
{
	struct ghyvi_partitions used = {};
	struct ghyvi_partition made[GHYVI_SLICES + 1], half;
	unsigned int i;

	assert_int_equal(fill(&used, 1, made), GHYVI_SLICES);
	for (i = 0; i < GHYVI_SLICES; i++)
		assert_int_equal(made[i].first, i);
	/* Every second slice is free: enough for half of the pGPU, but not contiguous. */
	for (i = 0; i < GHYVI_SLICES; i += 2)
		ghyvi_partition_free(&used, &made[i]);
	assert_int_equal(ghyvi_partition_available(&used, GHYVI_SLICES / 2), 0);
	assert_int_equal(ghyvi_partition_available(&used, 1), GHYVI_SLICES / 2);
	assert_int_equal(ghyvi_partition_alloc(&used, GHYVI_SLICES / 2, &half), -ENOSPC);
}

static void a_slot_can_be_asked_for_if_it_is_free(void **state)
{
	struct ghyvi_partitions used = {};
	struct ghyvi_partition third, eighth, whole;
	unsigned int slot;

	assert_int_equal(ghyvi_partition_alloc_slot(&used, 8, 2, &third), 0);
	assert_int_equal(third.first, 16);
	assert_int_equal(third.slices, 8);
	assert_int_equal(ghyvi_partition_slot(&third), 2);
	assert_int_equal(ghyvi_partition_alloc_slot(&used, 8, 2, &third), -EBUSY);
	/* Slots of other sizes that have a part of it. */
	for (slot = 0; slot < 8; slot++) {
		if (slot == 4 || slot == 5) {
			assert_int_equal(ghyvi_partition_alloc_slot(&used, 4, slot, &eighth),
					 -EBUSY);
			continue;
		}
		assert_int_equal(ghyvi_partition_alloc_slot(&used, 4, slot, &eighth), 0);
		assert_int_equal(ghyvi_partition_slot(&eighth), slot);
		ghyvi_partition_free(&used, &eighth);
	}
	assert_int_equal(ghyvi_partition_alloc_slot(&used, 32, 0, &whole), -EBUSY);
	assert_int_equal(used.count, 8);
	ghyvi_partition_free(&used, &third);
	assert_int_equal(ghyvi_partition_alloc_slot(&used, 32, 0, &whole), 0);
}

static void in_private_ggtts_all_partitions_begin_alike(void **state)
{
	struct ghyvi_partitions used = { .private_ggtt = true };
	struct ghyvi_partition made[GHYVI_SLICES + 1], half;
	unsigned int i;

	assert_int_equal(fill(&used, 1, made), GHYVI_SLICES);
	for (i = 0; i < GHYVI_SLICES; i++)
		assert_int_equal(made[i].first, 0);
	/* Which of the slices are free does not matter. */
	for (i = 0; i < GHYVI_SLICES; i += 2)
		ghyvi_partition_free(&used, &made[i]);
	assert_int_equal(ghyvi_partition_available(&used, GHYVI_SLICES / 2), 1);
	assert_int_equal(ghyvi_partition_alloc(&used, GHYVI_SLICES / 2, &half), 0);
	assert_int_equal(half.first, 0);
	assert_int_equal(ghyvi_partition_available(&used, 1), 0);
	ghyvi_partition_free(&used, &half);
	for (i = 1; i < GHYVI_SLICES; i += 2)
		ghyvi_partition_free(&used, &made[i]);
	assert_int_equal(used.count, 0);
}

/* The guest sees 0 and the end of the aperture, whatever the type. */
static void in_private_ggtts_addresses_depend_on_the_type_only(void **state)
{
	struct ghyvi_pgpu_resources resources = resources_of_softgpu();
	struct ghyvi_partitions used = { .private_ggtt = true };
	struct ghyvi_partition partition;
	struct ghyvi_range mappable, hidden;
	unsigned int slices;

	resources.private_ggtt = true;
	for (slices = 1; slices < GHYVI_SLICES; slices *= 2) {
		assert_int_equal(ghyvi_partition_alloc(&used, slices, &partition), 0);
		mappable = ghyvi_partition_mappable(&partition, &resources);
		hidden = ghyvi_partition_hidden(&partition, &resources);
		assert_true(!mappable.start && mappable.bytes == slices * 8 * MIB);
		assert_true(hidden.start == 256 * MIB && hidden.bytes == slices * 120 * MIB);
	}
}

static void as_many_can_be_created_as_are_available(void **state)
{
	struct random random = { 11 };
	unsigned int round, n = 0, kind, slices, available;
	struct ghyvi_partitions used = {};
	struct ghyvi_partition made[GHYVI_SLICES], room[GHYVI_SLICES + 1];

	for (round = 0; round < 20000; round++) {
		if (!n && random_range(&random, 0, 1))
			used.private_ggtt = !used.private_ggtt;
		if (n && random_range(&random, 0, 1)) {
			kind = random_range(&random, 0, n - 1);
			ghyvi_partition_free(&used, &made[kind]);
			made[kind] = made[--n];
		} else if (!ghyvi_partition_alloc(&used, 1u << random_range(&random, 0, 5),
						  &made[n])) {
			n++;
		}
		assert_true(used.count <= GHYVI_SLICES);
		if (used.private_ggtt)
			assert_int_equal(used.mask, 0);
		else
			assert_int_equal(__builtin_popcount(used.mask), used.count);
		slices = 1u << random_range(&random, 0, 5);
		available = ghyvi_partition_available(&used, slices);
		assert_int_equal(fill(&used, slices, room), available);
		while (available)
			ghyvi_partition_free(&used, &room[--available]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_reserved_ranges_all_after_the_aperture_is_divided),
		cmocka_unit_test(the_aperture_is_divided_too),
		cmocka_unit_test(a_range_at_the_end_is_not_divided),
		cmocka_unit_test(the_larger_side_of_a_range_in_the_middle_is_divided),
		cmocka_unit_test(a_range_in_the_aperture_costs_nothing),
		cmocka_unit_test(no_slice_is_reserved_whatever_the_ranges),
		cmocka_unit_test(resources_that_cannot_be_divided_are_refused),
		cmocka_unit_test(in_one_ggtt_partitions_are_apart),
		cmocka_unit_test(a_slot_can_be_asked_for_if_it_is_free),
		cmocka_unit_test(in_private_ggtts_all_partitions_begin_alike),
		cmocka_unit_test(in_private_ggtts_addresses_depend_on_the_type_only),
		cmocka_unit_test(as_many_can_be_created_as_are_available),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
