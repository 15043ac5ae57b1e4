// SPDX-License-Identifier: GPL-2.0-only
/* Instructions that are refused: what the library does not know, or hardware does not define. */
#include "step.h"

static void assert_refused(struct code *c, enum eu_status status)
{
	assert_int_equal(last(c), EU_FAILED);
	assert_int_equal(exec.error.status, status);
}

/* The accumulator's elements would have another size. */
static void mac_of_words_and_halves_is_refused(void **state)
{
	static const unsigned int types[] = { EU_W, EU_UW, EU_HF };
	struct code c = { .count = 0 };
	unsigned int n;

	(void)state;
	for (n = 0; n < 3; n++) {
		fresh();
		emit2(&c, EU_MAC, 8, VEC(types[n], 4), VEC(types[n], 2), VEC(types[n], 3));
		assert_refused(&c, EU_UNSUPPORTED);
	}
}

static void regions_past_the_last_register_are_refused(void **state)
{
	struct code c = { .count = 0 };

	(void)state;
	fresh();
	emit2(&c, EU_ADD, 16, VEC(EU_D, 127), VEC(EU_D, 2), VEC(EU_D, 3));
	assert_refused(&c, EU_ILLEGAL);
	assert_non_null(strstr(exec.error.text, "add"));
	assert_non_null(strstr(exec.error.text, "r127"));
}

static void what_is_not_known_is_named(void **state)
{
	struct code c = { .count = 0 };

	(void)state;
	fresh();
	emit2(&c, EU_PLN, 8, VEC(EU_F, 4), VEC(EU_F, 2), VEC(EU_F, 3));
	assert_refused(&c, EU_UNSUPPORTED);
	assert_non_null(strstr(exec.error.text, "pln"));
	fresh();
	emit(&c, 0x6b, 8);
	assert_int_equal(last(&c), EU_FAILED);
	assert_non_null(strstr(exec.error.text, "0x6b"));
}

/* It has no accumulator with more bits of it. */
static void a_macro_of_an_immediate_is_refused(void **state)
{
	struct code c = { .count = 0 };
	uint32_t *dw;

	(void)state;
	fresh();
	dw = emit2(&c, EU_MATH, 8, VEC(EU_F, 4), VEC(EU_F, 2), IMM(EU_F, bits_of(3)));
	put_field(dw, 8, 8, 1);
	put_field(dw, 27, 24, 14);
	assert_refused(&c, EU_UNSUPPORTED);
}

/* The number of an architecture register is none of a general one. */
static void a_macro_of_an_architecture_register_is_refused(void **state)
{
	static const unsigned int registers[] = { 0x00, 0x20, 0x9a };
	struct code c = { .count = 0 };
	unsigned int n, k;
	uint32_t *dw;

	(void)state;
	for (n = 0; n < 2; n++)
		for (k = 0; k < 3; k++) {
			fresh();
			dw = emit2(&c, EU_MATH, 8, VEC(EU_F, 4), VEC(EU_F, 2), VEC(EU_F, 3));
			put_source(dw, n, ARF(EU_F, registers[k]));
			put_field(dw, 27, 24, 14);
			assert_refused(&c, EU_UNSUPPORTED);
		}
}

/* Registers beside those that there are have no values: neither those of sr0 nor of n0. */
static void other_state_registers_are_refused(void **state)
{
	static const unsigned int registers[] = { 0x71, 0x91, 0x92 };
	struct code c = { .count = 0 };
	unsigned int n;

	(void)state;
	for (n = 0; n < 3; n++) {
		fresh();
		emit1(&c, EU_MOV, 1, ONE(EU_UD, 4, 0), ARF(EU_UD, registers[n]));
		assert_refused(&c, EU_UNSUPPORTED);
	}
}

/* As floats, small integers would be zeros, and of doubles a half would be read. */
static void csel_of_other_than_floats_is_refused(void **state)
{
	const struct op sources[3] = { VEC(EU_D, 2), VEC(EU_D, 3), VEC(EU_D, 6) };
	struct code c = { .count = 0 };
	unsigned int type;
	uint32_t *dw;

	(void)state;
	for (type = 0; type < 5; type++) {
		fresh();
		dw = emit_mad(&c, 8, EU_F, 10, sources);
		put_field(dw, 6, 0, EU_CSEL);
		put_field(dw, 45, 43, type);
		put_field(dw, 48, 46, type);
		put_field(dw, 36, 35, type == 4 ? 3 : 0);
		condition(dw, EU_COND_NZ, 0);
		if (type == 0 || type == 4) {
			assert_int_equal(last(&c), EU_NEXT);
			continue;
		}
		assert_refused(&c, EU_UNSUPPORTED);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mac_of_words_and_halves_is_refused),
		cmocka_unit_test(regions_past_the_last_register_are_refused),
		cmocka_unit_test(what_is_not_known_is_named),
		cmocka_unit_test(a_macro_of_an_immediate_is_refused),
		cmocka_unit_test(a_macro_of_an_architecture_register_is_refused),
		cmocka_unit_test(other_state_registers_are_refused),
		cmocka_unit_test(csel_of_other_than_floats_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
