// SPDX-License-Identifier: GPL-2.0-only
/* Mappings of GGTT pages through the aperture: what they show, and when they end. */
#include "gtt_fake.h"

#define FIRST (FIRST_GGTT_TABLE * 512u)

static void set_entry(unsigned int index, u64 value)
{
	write_pte(BAR_GFN, FIRST + index, value);
}

/* The guest's driver writes to GFX_FLSH_CNTL after entries. */
static void set_and_flush(unsigned int index, u64 value)
{
	set_entry(index, value);
	ghyvi_gtt_flush(fake.gtt);
}

static void a_mapping_shows_the_page_of_its_entry(void **state)
{
	set_and_flush(3, pte(DATA));
	assert_ptr_equal(aperture_access(FIRST + 3), guest_page(DATA));
	set_and_flush(4, pte(DATA + 1));
	assert_ptr_equal(aperture_access(FIRST + 4), guest_page(DATA + 1));
	assert_non_null(fake.aperture[FIRST + 3]); /* other entries do not matter */
	/* Later accesses reach it without the host. */
	assert_int_equal(fake.aperture_unmaps, 0);
}

static void each_policy_shows_the_new_page_after_a_flush(void **state)
{
	unsigned int i, round;

	for (i = 0; i < ghyvi_shadow_policy_count; i++) {
		ghyvi_gtt_set_policy(fake.gtt, ghyvi_shadow_policies[i]->name);
		for (round = 0; round < 8; round++) {
			set_and_flush(7, pte(DATA + 8 * i + round));
			assert_ptr_equal(aperture_access(FIRST + 7),
					 guest_page(DATA + 8 * i + round));
		}
	}
}

static void where_nothing_is_mapped_is_a_page_of_zeros(void **state)
{
	u8 *scratch = aperture_access(FIRST + 9);

	assert_ptr_equal(scratch, aperture_access(FIRST + 10));
	assert_int_equal(scratch[0] | scratch[4095], 0);
	/* Engines do not see what the guest stores there. */
	assert_ptr_not_equal(scratch, fake.gtt->scratch[0]);
	scratch[5] = 1;
	set_and_flush(9, pte(DATA));
	assert_ptr_equal(aperture_access(FIRST + 9), guest_page(DATA));
	set_and_flush(9, pte(RAM_PAGES + 5)); /* no memory of the guest */
	assert_ptr_equal(aperture_access(FIRST + 9), scratch);
	/* The next guest gets another one. */
	ghyvi_gtt_reset(fake.gtt);
	assert_null(fake.aperture[FIRST + 10]);
	assert_int_equal(aperture_access(FIRST + 10)[5], 0);
}

/* fake_unpin() asserts that no mapping is left. */
static void mappings_end_before_their_pages_are_released(void **state)
{
	set_and_flush(1, pte(DATA));
	set_and_flush(2, pte(DATA + 1));
	aperture_access(FIRST + 1);
	aperture_access(FIRST + 2);
	set_absent(DATA, true);
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	assert_null(fake.aperture[FIRST + 1]);
	assert_int_equal(fake.pins[DATA], 0);
	assert_ptr_not_equal(aperture_access(FIRST + 1), guest_page(DATA));
	assert_ptr_equal(aperture_access(FIRST + 2), guest_page(DATA + 1));
	/* The memory comes back. */
	set_absent(DATA, false);
	fake.generation++;
	ghyvi_gtt_flush(fake.gtt);
	assert_ptr_equal(aperture_access(FIRST + 1), guest_page(DATA));
	ghyvi_gtt_reset(fake.gtt);
	assert_null(fake.aperture[FIRST + 1]);
	assert_null(fake.aperture[FIRST + 2]);
	assert_int_equal(fake.pinned, 0);
}

/* RLIMIT_MEMLOCK: idle pins are released in the middle of an update. */
static void a_page_that_is_replaced_for_lack_of_pins_is_not_mapped(void **state)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		set_entry(1 + i, pte(DATA + i));
	ghyvi_gtt_flush(fake.gtt);
	for (i = 0; i < 8; i++)
		aperture_access(FIRST + 1 + i);
	fake.pin_limit = fake.pinned;
	for (i = 0; i < 8; i++)
		set_entry(1 + i, pte(DATA + 100 + i));
	ghyvi_gtt_flush(fake.gtt);
	for (i = 0; i < 8; i++)
		assert_ptr_not_equal(aperture_access(FIRST + 1 + i), guest_page(DATA + i));
}

static void a_nested_page_that_is_evicted_is_not_mapped(void **state)
{
	ghyvi_gtt_set_policy(fake.gtt, "nested");
	set_and_flush(1, pte(DATA));
	assert_ptr_equal(aperture_access(FIRST + 1), guest_page(DATA));
	set_absent(DATA, true);
	ghyvi_gtt_unmap(fake.gtt, DATA, 1);
	assert_null(fake.aperture[FIRST + 1]);
	set_absent(DATA, false);
	ghyvi_gtt_flush(fake.gtt);
	assert_ptr_equal(aperture_access(FIRST + 1), guest_page(DATA));
	ghyvi_gtt_set_policy(fake.gtt, "strict");
	assert_ptr_equal(aperture_access(FIRST + 1), guest_page(DATA));
}

/* In failsafe state the table has no address, and no page of the guest may be pinned. */
static void without_an_address_of_the_table_a_nested_page_is_not_pinned(void **state)
{
	u8 *scratch;

	ghyvi_gtt_set_policy(fake.gtt, "nested");
	set_and_flush(1, pte(DATA));
	assert_ptr_equal(aperture_access(FIRST + 1), guest_page(DATA));
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, GHYVI_INVALID_GFN);
	ghyvi_gtt_reset(fake.gtt);
	scratch = aperture_access(FIRST + 1);
	assert_int_equal(scratch[0] | scratch[4095], 0);
	assert_int_equal(fake.pinned, 0);
	ghyvi_gtt_set_ggtt_gfn(fake.gtt, BAR_GFN);
	assert_ptr_equal(aperture_access(FIRST + 1), guest_page(DATA));
}

static void commands_that_change_the_ggtt_end_mappings(void **state)
{
	set_and_flush(1, pte(DATA));
	aperture_access(FIRST + 1);
	ghyvi_gtt_ggtt_store(fake.gtt, FIRST + 1, pte(DATA + 1));
	assert_null(fake.aperture[FIRST + 1]);
	assert_ptr_equal(aperture_access(FIRST + 1), guest_page(DATA + 1));
}

/* The first page of the aperture. */
static void the_copied_page_is_current_and_written_back(void **state)
{
	u64 *copy;

	guest_page(DATA)[7] = 77;
	guest_page(DATA + 1)[7] = 78;
	set_and_flush(0, pte(DATA));
	copy = (u64 *)aperture_access(FIRST);
	assert_ptr_not_equal(copy, guest_page(DATA));
	assert_true(copy[7] == 77);
	copy[8] = 1;
	guest_page(DATA)[9] = 2; /* by another mapping of the guest */
	set_and_flush(0, pte(DATA + 1));
	assert_true(guest_page(DATA)[8] == 1 && guest_page(DATA)[9] == 2);
	copy = (u64 *)aperture_access(FIRST);
	assert_true(copy[7] == 78 && copy[8] == 0);
	/* The page is released together with what was stored last. */
	copy[8] = 3;
	set_absent(DATA + 1, true);
	ghyvi_gtt_unmap(fake.gtt, DATA + 1, 1);
	assert_true(guest_page(DATA + 1)[8] == 3);
	assert_true(*(u64 *)aperture_access(FIRST) == 0);
	ghyvi_gtt_reset(fake.gtt);
}

/* Two vCPUs have faulted, and the second finds the entry changed: the page is mapped at once. */
static void the_copied_page_is_written_back_after_two_faults(void **state)
{
	u64 *copy;

	set_and_flush(0, pte(DATA));
	ghyvi_gtt_set_policy(fake.gtt, "full");
	copy = (u64 *)aperture_access(FIRST);
	copy[8] = 1;
	set_entry(0, pte(DATA + 1)); /* relaxed: seen by the next access */
	assert_int_equal(ghyvi_gtt_aperture_prepare(fake.gtt, (u64)FIRST << 12), 0);
	assert_true(guest_page(DATA)[8] == 1);
	copy = (u64 *)aperture_access(FIRST);
	assert_true(copy[8] == 0);
	copy[8] = 2;
	set_and_flush(0, pte(DATA + 2));
	assert_true(guest_page(DATA + 1)[8] == 2);
	assert_true(guest_page(DATA)[8] == 1);
	ghyvi_gtt_reset(fake.gtt);
}

static void addresses_outside_are_refused(void **state)
{
	assert_int_equal(ghyvi_gtt_aperture_prepare(fake.gtt, 1ull << 32), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_mapping_shows_the_page_of_its_entry),
		TEST(each_policy_shows_the_new_page_after_a_flush),
		TEST(where_nothing_is_mapped_is_a_page_of_zeros),
		TEST(mappings_end_before_their_pages_are_released),
		TEST(a_page_that_is_replaced_for_lack_of_pins_is_not_mapped),
		TEST(a_nested_page_that_is_evicted_is_not_mapped),
		TEST(without_an_address_of_the_table_a_nested_page_is_not_pinned),
		TEST(commands_that_change_the_ggtt_end_mappings),
		TEST(the_copied_page_is_current_and_written_back),
		TEST(the_copied_page_is_written_back_after_two_faults),
		TEST(addresses_outside_are_refused),
	};

	return cmocka_run_group_tests_name("aperture", tests, NULL, NULL);
}
