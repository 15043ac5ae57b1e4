// SPDX-License-Identifier: GPL-2.0-only
/* Instructions, one class at a time: each is executed on registers of the test's. */
#include "step.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void integers_wrap_and_saturate(void **state)
{
	struct code c = { .count = 0 };
	unsigned int n;

	(void)state;
	fresh();
	for (n = 0; n < 8; n++) {
		set_dword(2, n, 0x7ffffff8u + n);
		set_dword(3, n, n * 3);
	}
	emit2(&c, EU_ADD, 8, VEC(EU_D, 4), VEC(EU_D, 2), VEC(EU_D, 3));
	assert_int_equal(last(&c), EU_NEXT);
	for (n = 0; n < 8; n++)
		assert_int_equal(dword(4, n), 0x7ffffff8u + n * 4);
	put_field(emit2(&c, EU_ADD, 8, VEC(EU_D, 4), VEC(EU_D, 2), VEC(EU_D, 3)), 31, 31, 1);
	last(&c);
	for (n = 0; n < 8; n++)
		assert_int_equal(dword(4, n), n < 2 ? 0x7ffffff8u + n * 4 : 0x7fffffffu);
	put_field(emit2(&c, EU_ADD, 8, VEC(EU_UD, 4), VEC(EU_D, 3), IMM(EU_D, (uint32_t)-6)), 31,
		  31, 1);
	last(&c);
	for (n = 0; n < 8; n++)
		assert_int_equal(dword(4, n), n < 2 ? 0 : n * 3 - 6);
}

static void regions_place_each_lane(void **state)
{
	struct code c = { .count = 0 };
	struct op columns = VEC(EU_D, 2), two = VEC(EU_D, 8);
	unsigned int n;

	(void)state;
	fresh();
	for (n = 0; n < 16; n++)
		set_dword(2, n, 100 + n);
	/* <8;2,4>: rows of two, four apart. */
	columns.v = 4;
	columns.w = 1;
	columns.h = 3;
	emit1(&c, EU_MOV, 4, VEC(EU_D, 6), columns);
	last(&c);
	assert_int_equal(dword(6, 0), 100);
	assert_int_equal(dword(6, 1), 104);
	assert_int_equal(dword(6, 2), 108);
	assert_int_equal(dword(6, 3), 112);
	two.h = 2;
	emit1(&c, EU_MOV, 8, two, ONE(EU_D, 2, 12));
	last(&c);
	for (n = 0; n < 16; n++)
		assert_int_equal(dword(8, n), n % 2 ? 0 : 103);
}

static void conversions_clamp(void **state)
{
	static const float in[8] = { 1.9f, -1.9f, 3e9f, -3e9f, NAN, INFINITY, 254.7f, -0.0f };
	static const int32_t out[8] = { 1, -1, INT32_MAX, INT32_MIN, 0, INT32_MAX, 254, 0 };
	struct code c = { .count = 0 };
	struct op bytes = VEC(EU_UB, 5);
	unsigned int n;

	(void)state;
	fresh();
	for (n = 0; n < 8; n++)
		set_dword(2, n, bits_of(in[n]));
	emit1(&c, EU_MOV, 8, VEC(EU_D, 4), VEC(EU_F, 2));
	last(&c);
	for (n = 0; n < 8; n++)
		assert_int_equal((int32_t)dword(4, n), out[n]);
	put_field(emit1(&c, EU_MOV, 8, bytes, VEC(EU_D, 4)), 31, 31, 1);
	last(&c);
	for (n = 0; n < 8; n++)
		assert_int_equal(thread.reg[5 * 32 + n], out[n] < 0   ? 0 :
							 out[n] > 255 ? 255 :
									out[n]);
}

/* It has an opposite as a float, in each way. */
static void the_largest_negative_integer_becomes_a_float(void **state)
{
	struct code c = { .count = 0 };
	unsigned int n;

	(void)state;
	fresh();
	eu_set_reg32(&thread, EU_REG_CR0, 0);
	for (n = 0; n < 8; n++)
		set_dword(2, n, 0x80000000);
	emit1(&c, EU_MOV, 8, VEC(EU_F, 4), VEC(EU_D, 2));
	last(&c);
	assert_int_equal(dword(4, 0), bits_of(-0x1p31f));
	emit1(&c, EU_MOV, 8, VEC(EU_F, 4), NEG(VEC(EU_D, 2)));
	last(&c);
	assert_int_equal(dword(4, 0), bits_of(0x1p31f));
	emit1(&c, EU_MOV, 8, VEC(EU_F, 4), ABS(VEC(EU_D, 2)));
	last(&c);
	assert_int_equal(dword(4, 0), bits_of(0x1p31f));
}

static void flags_and_predicates(void **state)
{
	struct code c = { .count = 0 };
	unsigned int n;

	(void)state;
	fresh();
	for (n = 0; n < 16; n++)
		set_dword(2, n, n);
	condition(emit2(&c, EU_CMP, 16, ARF(EU_D, 0), VEC(EU_D, 2), IMM(EU_W, 5)), EU_COND_L, 2);
	last(&c);
	assert_int_equal(eu_flags(&thread)[1], 0x1f);
	predicate(emit1(&c, EU_MOV, 16, VEC(EU_D, 4), IMM(EU_D, 7)), 2, false);
	last(&c);
	predicate(emit1(&c, EU_MOV, 16, VEC(EU_D, 4), IMM(EU_D, 9)), 2, true);
	last(&c);
	for (n = 0; n < 16; n++)
		assert_int_equal(dword(4, n), n < 5 ? 7 : 9);
	/* Lanes that do not execute keep their flags and registers. */
	thread.mask = 0xff00;
	condition(emit2(&c, EU_ADD, 16, VEC(EU_D, 4), VEC(EU_D, 2), IMM(EU_D, 1)), EU_COND_NZ, 2);
	last(&c);
	assert_int_equal(eu_flags(&thread)[1], 0xff1f);
	assert_int_equal(dword(4, 3), 7);
	assert_int_equal(dword(4, 9), 10);
}

/* What a predicate control makes of the flags, for one lane. */
static bool controlled(unsigned int control, uint32_t f0, uint32_t f1, unsigned int lane)
{
	unsigned int size = 1u << control / 2 >> 1, n; /* from 4 on */
	bool any = false, all = true;

	if (control == 2)
		return (f0 | f1) >> lane & 1;
	if (control == 3)
		return f0 >> lane & f1 >> lane & 1;
	for (n = lane / size * size; n < lane / size * size + size; n++) {
		any |= f0 >> n & 1;
		all &= f0 >> n & 1;
	}
	return control % 2 ? all : any;
}

static void any_and_all_are_inverted_as_a_whole(void **state)
{
	static const uint32_t flags[] = { 0, 1, 0x0ff1, 0xfffe, 0xffff, 0xfffeffff, ~0u };
	unsigned int control, n, lane, inverted;

	(void)state;
	for (control = 2; control < 14; control++) {
		for (n = 0; n < 2 * (sizeof(flags) / sizeof(flags[0])); n++) {
			struct code c = { .count = 0 };
			uint32_t f0 = flags[n / 2],
				 f1 = flags[(n + 3) % (sizeof(flags) / sizeof(flags[0]))];

			inverted = n % 2;
			fresh();
			eu_flags(&thread)[0] = f0;
			eu_flags(&thread)[1] = f1;
			predicate(emit1(&c, EU_MOV, 16, VEC(EU_D, 4), IMM(EU_D, 7)), 0, inverted);
			put_field(c.dw[0], 19, 16, control);
			last(&c);
			for (lane = 0; lane < 16; lane++)
				assert_int_equal(dword(4, lane),
						 controlled(control, f0, f1, lane) != inverted ? 7 :
												 0);
		}
	}
}

static void a_vector_immediate_has_nibbles(void **state)
{
	struct code c = { .count = 0 };
	unsigned int n;

	(void)state;
	fresh();
	put_field(emit2(&c, EU_ADD, 8, VEC(EU_D, 4), VEC(EU_D, 2), IMM(EU_D, 0x99999999)), 94, 91,
		  6);
	last(&c);
	for (n = 0; n < 8; n++)
		assert_int_equal((int32_t)dword(4, n), -7);
	put_field(emit1(&c, EU_MOV, 1, ONE(EU_D, 4, 0), IMM(EU_D, 0x76543213)), 46, 43, 6);
	last(&c);
	assert_int_equal(dword(4, 0), 3);
}

static void each_of_three_sources_has_its_precision(void **state)
{
	unsigned int n;

	(void)state;
	for (n = 0; n < 8; n++) {
		struct code c = { .count = 0 };
		uint32_t *dw = emit(&c, EU_MAD, 8);
		struct eu_insn i;

		put_field(dw, 8, 8, 1);
		put_field(dw, 45, 43, n & 4 ? 4 : 0);
		put_field(dw, 36, 36, n & 1);
		put_field(dw, 35, 35, n >> 1 & 1);
		assert_int_equal(eu_decode((const uint8_t *)dw, 16, &i), 16);
		assert_int_equal(i.src[0].type, n & 4 ? EU_HF : EU_F);
		assert_int_equal(i.src[1].type, n & 1 ? EU_HF : EU_F);
		assert_int_equal(i.src[2].type, n & 2 ? EU_HF : EU_F);
	}
}

static void no_number_is_unordered(void **state)
{
	struct code c = { .count = 0 };

	(void)state;
	fresh();
	set_dword(2, 0, bits_of(NAN));
	set_dword(2, 1, bits_of(1));
	set_dword(3, 1, bits_of(NAN));
	condition(emit2(&c, EU_CMP, 8, ARF(EU_F, 0), VEC(EU_F, 2), VEC(EU_F, 3)), EU_COND_NZ, 0);
	last(&c);
	assert_int_equal(eu_flags(&thread)[0] & 3, 3);
	condition(emit2(&c, EU_CMP, 8, ARF(EU_F, 0), VEC(EU_F, 2), VEC(EU_F, 3)), EU_COND_GE, 0);
	last(&c);
	assert_int_equal(eu_flags(&thread)[0] & 7, 4);
	/* The smaller of a number and none is the number. */
	condition(emit2(&c, EU_SEL, 8, VEC(EU_F, 4), VEC(EU_F, 2), VEC(EU_F, 3)), EU_COND_L, 0);
	last(&c);
	assert_int_equal(dword(4, 0), 0);
	assert_int_equal(dword(4, 1), bits_of(1));
}

static struct op accumulator(unsigned int type)
{
	struct op acc = ARF(type, 0x20);

	acc.v = 4;
	acc.w = 3;
	return acc;
}

static void upper_halves_of_products(void **state)
{
	static const uint32_t a[4] = { 0xffffffff, 0x12345678, 0x80000000, 3 };
	static const uint32_t b[4] = { 0xffffffff, 0x9abcdef0, 0x80000001, 5 };
	struct code c = { .count = 0 };
	struct op low = VEC(EU_UW, 3);
	unsigned int n;

	(void)state;
	fresh();
	for (n = 0; n < 4; n++) {
		set_dword(2, n, a[n]);
		set_dword(3, n, b[n]);
	}
	low.v = 5;
	low.h = 2;
	emit2(&c, EU_MUL, 8, ARF(EU_UD, 0x20), VEC(EU_UD, 2), low);
	last(&c);
	put_field(emit2(&c, EU_MACH, 8, VEC(EU_UD, 4), VEC(EU_UD, 2), VEC(EU_UD, 3)), 28, 28, 1);
	last(&c);
	for (n = 0; n < 4; n++)
		assert_int_equal(dword(4, n), (uint64_t)a[n] * b[n] >> 32);
	put_field(emit2(&c, EU_ADDC, 8, VEC(EU_UD, 5), VEC(EU_UD, 2), VEC(EU_UD, 3)), 28, 28, 1);
	last(&c);
	emit1(&c, EU_MOV, 8, VEC(EU_UD, 6), accumulator(EU_UD));
	last(&c);
	for (n = 0; n < 4; n++)
		assert_int_equal(dword(6, n), ((uint64_t)a[n] + b[n]) >> 32);
}

static void each_write_of_the_accumulator_has_an_upper_half(void **state)
{
	struct code c = { .count = 0 };
	struct op low = VEC(EU_UW, 3);
	unsigned int way;

	(void)state;
	low.v = 5;
	low.h = 2;
	for (way = 0; way < 3; way++) {
		fresh();
		memset(thread.acc_high, 0x55, sizeof(thread.acc_high));
		set_dword(2, 0, 0x12345678);
		set_dword(3, 0, 0x9abcdef0);
		/* On the side; as the destination, too; one that clamps. */
		if (way == 0)
			put_field(emit2(&c, EU_MUL, 8, VEC(EU_UD, 4), VEC(EU_UD, 2), low), 28, 28,
				  1);
		else if (way == 1)
			emit2(&c, EU_MUL, 8, ARF(EU_UD, 0x20), VEC(EU_UD, 2), low);
		else
			put_field(emit2(&c, EU_MUL, 8, ARF(EU_UD, 0x20), VEC(EU_UD, 2), low), 31,
				  31, 1);
		last(&c);
		if (way == 2) {
			assert_int_equal(thread.acc_high[0], 0);
			continue;
		}
		put_field(emit2(&c, EU_MACH, 8, VEC(EU_UD, 5), VEC(EU_UD, 2), VEC(EU_UD, 3)), 28,
			  28, 1);
		last(&c);
		assert_int_equal(dword(5, 0), 0x12345678ull * 0x9abcdef0 >> 32);
	}
	/* A float, and an overflow that sets a flag. */
	memset(thread.acc_high, 0x55, sizeof(thread.acc_high));
	emit1(&c, EU_MOV, 8, ARF(EU_F, 0x20), VEC(EU_F, 2));
	last(&c);
	assert_int_equal(thread.acc_high[0], 0);
	set_dword(2, 0, (uint32_t)-2);
	condition(emit2(&c, EU_ADD, 8, ARF(EU_D, 0x20), VEC(EU_D, 2), IMM(EU_D, 1)), EU_COND_O, 0);
	last(&c);
	assert_int_equal(thread.acc_high[0], -1);
}

static void mac_writes_the_accumulator_if_it_says_so(void **state)
{
	struct code c = { .count = 0 };
	unsigned int writes;

	(void)state;
	for (writes = 0; writes < 2; writes++) {
		fresh();
		set_dword(2, 0, 100);
		set_dword(3, 0, 7);
		emit1(&c, EU_MOV, 8, ARF(EU_D, 0x20), VEC(EU_D, 2));
		last(&c);
		put_field(emit2(&c, EU_MAC, 8, VEC(EU_D, 4), VEC(EU_D, 3), VEC(EU_D, 3)), 28, 28,
			  writes);
		last(&c);
		assert_int_equal(dword(4, 0), 149);
		emit1(&c, EU_MOV, 8, VEC(EU_D, 5), accumulator(EU_D));
		last(&c);
		assert_int_equal(dword(5, 0), writes ? 149 : 100);
	}
}

static void bits_are_counted_and_moved(void **state)
{
	struct code c = { .count = 0 };

	(void)state;
	fresh();
	set_dword(2, 0, 0x00f0a005);
	set_dword(2, 1, 0);
	set_dword(2, 2, 0xff000000);
	emit1(&c, EU_LZD, 8, VEC(EU_UD, 4), VEC(EU_UD, 2));
	last(&c);
	assert_int_equal(dword(4, 0), 8);
	assert_int_equal(dword(4, 1), 32);
	emit1(&c, EU_FBH, 8, VEC(EU_D, 4), VEC(EU_D, 2));
	last(&c);
	assert_int_equal(dword(4, 2), 8);
	assert_int_equal(dword(4, 1), 0xffffffff);
	emit1(&c, EU_FBL, 8, VEC(EU_UD, 4), VEC(EU_UD, 2));
	last(&c);
	assert_int_equal(dword(4, 0), 0);
	assert_int_equal(dword(4, 2), 24);
	emit1(&c, EU_CBIT, 8, VEC(EU_UD, 4), VEC(EU_UD, 2));
	last(&c);
	assert_int_equal(dword(4, 0), 8);
	emit1(&c, EU_BFREV, 8, VEC(EU_UD, 4), VEC(EU_UD, 2));
	last(&c);
	assert_int_equal(dword(4, 0), 0xa0050f00);
	emit2(&c, EU_BFI1, 8, VEC(EU_UD, 4), IMM(EU_UD, 0), VEC(EU_UD, 2));
	put_source(c.dw[c.count - 1], 0, ONE(EU_UD, 2, 0));
	put_source(c.dw[c.count - 1], 1, IMM(EU_UD, 8));
	last(&c);
	assert_int_equal(dword(4, 0), 0x1f00);
}

static void a_bit_field_is_inserted_where_its_mask_begins(void **state)
{
	static const struct {
		uint32_t mask, insert, base, expected;
	} cases[] = { { 0xff0, 0xabc, 0x12345678, 0x12345bc8 },
		      { 0x80000000, 3, 0, 0x80000000 },
		      { 0xffffffff, 0x89abcdef, 0, 0x89abcdef },
		      { 0, 0xffffffff, 0x12345678, 0x12345678 } };
	unsigned int n, signs;

	(void)state;
	for (signs = 0; signs < 2; signs++) {
		const unsigned int type = signs ? EU_D : EU_UD;
		const struct op sources[3] = { VEC(type, 2), VEC(type, 3), VEC(type, 5) };
		struct code c = { .count = 0 };

		fresh();
		for (n = 0; n < 4; n++) {
			set_dword(2, n, cases[n].mask);
			set_dword(3, n, cases[n].insert);
			set_dword(5, n, cases[n].base);
		}
		put_field(emit_mad(&c, 8, type, 4, sources), 6, 0, EU_BFI2);
		last(&c);
		for (n = 0; n < 4; n++)
			assert_int_equal(dword(4, n), cases[n].expected);
	}
}

static void rounding_follows_cr0(void **state)
{
	static const uint32_t expected[4] = { 0x3f800000, 0x3f800001, 0x3f800000, 0x3f800000 };
	struct code c = { .count = 0 };
	unsigned int mode;

	(void)state;
	for (mode = 0; mode < 4; mode++) {
		fresh();
		eu_set_reg32(&thread, EU_REG_CR0, 0x4c0 | mode << 4);
		set_dword(2, 0, bits_of(1));
		set_dword(3, 0, bits_of(0x1p-30f));
		emit2(&c, EU_ADD, 8, VEC(EU_F, 4), VEC(EU_F, 2), VEC(EU_F, 3));
		last(&c);
		assert_int_equal(dword(4, 0), expected[mode]);
	}
	fresh();
	eu_mode_set(&exec);
}

static void denormals_follow_cr0(void **state)
{
	struct code c = { .count = 0 };

	(void)state;
	fresh();
	set_dword(2, 0, 0x00000007);
	set_dword(2, 1, 0x80000007);
	emit2(&c, EU_ADD, 8, VEC(EU_F, 4), VEC(EU_F, 2), VEC(EU_F, 2));
	last(&c);
	assert_int_equal(dword(4, 0), 14);
	/* Doubles keep theirs: only the general way can do that. */
	eu_set_reg32(&thread, EU_REG_CR0, EU_CR0_DF_DENORMALS);
	last(&c);
	assert_int_equal(dword(4, 0), 0);
	assert_int_equal(dword(4, 1), 0x80000000);
	eu_set_reg32(&thread, EU_REG_CR0, 0);
	last(&c);
	assert_int_equal(dword(4, 0), 0);
	/* A raw move copies bits; one with a modifier does not. */
	emit1(&c, EU_MOV, 8, VEC(EU_F, 4), VEC(EU_F, 2));
	last(&c);
	assert_int_equal(dword(4, 0), 7);
	emit1(&c, EU_MOV, 8, VEC(EU_F, 4), NEG(VEC(EU_F, 2)));
	last(&c);
	assert_int_equal(dword(4, 0), 0x80000000);
	fresh();
}

static void indirect_registers(void **state)
{
	struct code c = { .count = 0 };
	uint32_t *dw;
	unsigned int n;

	(void)state;
	fresh();
	for (n = 0; n < 8; n++)
		set_dword(20, n, 50 + n);
	memcpy(thread.reg + EU_REG_A0 + 2 * 2, &(uint16_t){ 20 * 32 + 8 }, 2);
	dw = emit1(&c, EU_MOV, 4, VEC(EU_D, 4), VEC(EU_D, 0));
	put_field(dw, 79, 79, 1);
	put_field(dw, 76, 73, 2);
	put_field(dw, 72, 64, 4);
	last(&c);
	for (n = 0; n < 4; n++)
		assert_int_equal(dword(4, n), 53 + n);
	memcpy(thread.reg + EU_REG_A0 + 2 * 2, &(uint16_t){ 4090 }, 2);
	assert_int_equal(last(&c), EU_FAILED);
	assert_int_equal(exec.error.status, EU_ILLEGAL);
}

static void a_qword_without_a_sign_is_shifted_as_such(void **state)
{
	const uint64_t v = 1ull << 63;
	struct code c = { .count = 0 };

	(void)state;
	fresh();
	memcpy(thread.reg + 2 * 32, &v, sizeof(v));
	emit2(&c, EU_ASR, 1, ONE(EU_UQ, 4, 0), ONE(EU_UQ, 2, 0), IMM(EU_UD, 63));
	assert_int_equal(last(&c), EU_NEXT);
	assert_int_equal(dword(4, 0), 1);
	assert_int_equal(dword(4, 1), 0);
}

static void halves_round_once(void **state)
{
	unsigned int n;

	(void)state;
	for (n = 0; n < 65536; n++) {
		float f = eu_half_to_float((uint16_t)n);

		if (f == f)
			assert_int_equal(eu_float_to_half(f, 0), n);
	}
	assert_int_equal(eu_float_to_half(65519.0f, 0), 0x7bff);
	assert_int_equal(eu_float_to_half(65520.0f, 0), 0x7c00);
	assert_int_equal(eu_float_to_half(65520.0f, 3), 0x7bff);
	assert_int_equal(eu_float_to_half(0x1p-25f, 0), 0);
	assert_int_equal(eu_float_to_half(0x1.8p-25f, 0), 1);
	assert_int_equal(eu_float_to_half(-0x1p-30f, 2), 0x8001);
}

static struct op random_operand(bool floats)
{
	static const unsigned int types[] = { EU_D, EU_UD, EU_W, EU_UW };
	unsigned int type = floats ? EU_F : types[random64() % 4];
	struct op o = VEC(type, 2 + random64() % 6);

	if (random64() % 3 == 0)
		o = ONE(type, 2 + random64() % 6, random64() % 8 * 4);
	if (type == EU_W || type == EU_UW) {
		o.v = o.v ? 5 : 0;
		o.w = o.w ? 4 : 0;
	}
	o.neg = random64() % 4 == 0;
	o.abs = random64() % 6 == 0;
	return o;
}

/* The result of one lane, saturated. */
static uint64_t saturated(unsigned int op, unsigned int type, struct op a, struct op b)
{
	struct code c = { .count = 0 };
	uint64_t v = 0;

	put_field(emit2(&c, op, 1, ONE(type, 4, 0), a, b), 31, 31, 1);
	assert_int_equal(last(&c), EU_NEXT);
	memcpy(&v, thread.reg + 4 * 32, type == EU_UQ || type == EU_Q ? 8 : 4);
	return v;
}

static void what_64_bits_do_not_hold_saturates(void **state)
{
	static const uint64_t values[] = { 5, 3, 1ull << 63, 0xffffffff };
	const struct op small = VEC(EU_UD, 2), sources[] = { small, small, small };
	struct code c = { .count = 0 };
	struct op five, three, most;
	unsigned int n;

	(void)state;
	fresh();
	memcpy(thread.reg + 2 * 32, values, sizeof(values));
	five = ONE(EU_UQ, 2, 0);
	three = ONE(EU_UQ, 2, 8);
	assert_true(saturated(EU_ADD, EU_UQ, five, NEG(three)) == 2);
	assert_true(saturated(EU_ADD, EU_UQ, three, NEG(five)) == 0);
	assert_true(saturated(EU_ADD, EU_UQ, three, five) == 8);
	assert_true(saturated(EU_ADD, EU_Q, ONE(EU_Q, 2, 0), NEG(ONE(EU_Q, 2, 16))) == INT64_MAX);
	most = ONE(EU_UD, 2, 24);
	assert_true(saturated(EU_MUL, EU_UD, most, most) == UINT32_MAX);
	assert_true(saturated(EU_MUL, EU_D, most, most) == INT32_MAX);
	assert_true(saturated(EU_MUL, EU_D, most, NEG(most)) == (uint32_t)INT32_MIN);
	for (n = 0; n < 8; n++)
		set_dword(2, n, ~0u);
	put_field(emit_mad(&c, 8, EU_UD, 4, sources), 31, 31, 1);
	assert_int_equal(last(&c), EU_NEXT);
	assert_int_equal(dword(4, 7), ~0u);
}

/* Align16: the components of each four lanes in the order of @swizzle, x first. */
static void put_align16(uint32_t *dw, unsigned int n, unsigned int reg, unsigned int swizzle)
{
	unsigned int at = n ? 96 : 64;

	put_field(dw, 8, 8, 1);
	put_field(dw, 51, 48, 15);
	put_source(dw, n, ONE(EU_F, reg, 0));
	put_field(dw, at + 3, at, swizzle & 15);
	put_field(dw, at + 19, at + 16, swizzle >> 4);
	put_field(dw, at + 24, at + 21, 3);
}

enum { XYZW = 0xe4, WZYX = 0x1b };

/*
 * dp4, dp3 and dp2 sum the products of four, three or two components, dph takes 1 as the first
 * source's fourth. Each component that is written has the sum of its four lanes. All sums here are
 * exact, whatever the order.
 */
static void dot_products_are_of_components(void **state)
{
	static const unsigned int ops[] = { EU_DP4, EU_DPH, EU_DP3, EU_DP2 };
	static const unsigned int components[] = { 4, 3, 3, 2 };
	unsigned int op, way, lane, k;

	(void)state;
	for (op = 0; op < 4; op++) {
		/* As they are; the first source backwards; negated, and two components written. */
		for (way = 0; way < 3; way++) {
			float a[8], b[8];
			struct code c = { .count = 0 };
			uint32_t *dw;

			fresh();
			for (lane = 0; lane < 8; lane++) {
				a[lane] = (float)(int)(lane * lane) - 5;
				b[lane] = (float)(int)(3 * lane) - 7;
				set_dword(2, lane, bits_of(a[lane]));
				set_dword(3, lane, bits_of(b[lane]));
				set_dword(4, lane, 0x55555555);
			}
			dw = emit2(&c, ops[op], 8, VEC(EU_F, 4), VEC(EU_F, 2), VEC(EU_F, 3));
			put_align16(dw, 0, 2, way == 1 ? WZYX : XYZW);
			put_align16(dw, 1, 3, XYZW);
			if (way == 2) {
				put_field(dw, 78, 78, 1);
				put_field(dw, 51, 48, 5);
			}
			assert_int_equal(last(&c), EU_NEXT);
			for (lane = 0; lane < 8; lane++) {
				unsigned int four = lane / 4 * 4;
				float want = 0;

				for (k = 0; k < components[op]; k++)
					want += (way == 2 ? -1.0f : 1.0f) *
						a[four + (way == 1 ? 3 - k : k)] * b[four + k];
				if (ops[op] == EU_DPH)
					want += b[four + 3];
				assert_int_equal(dword(4, lane),
						 way == 2 && lane % 2 ? 0x55555555 : bits_of(want));
			}
		}
	}
}

/* src0 * src1 + (1 - src0) * src2, without a rounding here. */
static void lrp_is_between_two_values(void **state)
{
	static const float share[8] = { 0, 1, 0.5f, 0.25f, 0.75f, 2, -1, 0.125f };
	const struct op sources[3] = { VEC(EU_F, 2), VEC(EU_F, 3), ONE(EU_F, 6, 8) };
	struct code c = { .count = 0 };
	unsigned int lane, negated;
	uint32_t *dw;

	(void)state;
	for (negated = 0; negated < 2; negated++) {
		fresh();
		for (lane = 0; lane < 8; lane++) {
			set_dword(2, lane, bits_of(share[lane]));
			set_dword(3, lane, bits_of((float)(int)(lane * 24) - 40));
		}
		set_dword(6, 2, bits_of(64));
		dw = emit_mad(&c, 8, EU_F, 4, sources);
		put_field(dw, 6, 0, EU_LRP);
		put_field(dw, 40, 40, negated); /* src1 */
		assert_int_equal(last(&c), EU_NEXT);
		for (lane = 0; lane < 8; lane++) {
			float to = (negated ? -1.0f : 1.0f) * ((float)(int)(lane * 24) - 40);

			assert_int_equal(dword(4, lane),
					 bits_of(share[lane] * to + (1 - share[lane]) * 64));
		}
	}
}

/* Sums and differences of 64 bits by dwords; a lane that does not execute keeps its accumulator. */
static void carry_and_borrow_are_in_the_accumulator(void **state)
{
	static const uint64_t a[8] = { 0,
				       1,
				       0xffffffff,
				       0x100000000,
				       0xfffffffeffffffff,
				       0x123456789abcdef0,
				       ~0ull,
				       0x8000000080000000 };
	static const uint64_t b[8] = { 0, 0xffffffff,	      1,
				       1, 0xffffffff00000001, 0xfedcba9876543210,
				       1, 0x8000000080000000 };
	unsigned int lane, borrow;

	(void)state;
	for (borrow = 0; borrow < 2; borrow++) {
		struct code c = { .count = 0 };

		fresh();
		for (lane = 0; lane < 8; lane++) {
			set_dword(2, lane, (uint32_t)a[lane]);
			set_dword(3, lane, (uint32_t)(a[lane] >> 32));
			set_dword(6, lane, (uint32_t)b[lane]);
			set_dword(7, lane, (uint32_t)(b[lane] >> 32));
		}
		emit1(&c, EU_MOV, 8, ARF(EU_UD, 0x20), IMM(EU_UD, 0x77));
		assert_int_equal(last(&c), EU_NEXT);
		thread.mask = 0x7f;
		put_field(emit2(&c, borrow ? EU_SUBB : EU_ADDC, 8, VEC(EU_UD, 10), VEC(EU_UD, 2),
				VEC(EU_UD, 6)),
			  28, 28, 1);
		assert_int_equal(last(&c), EU_NEXT);
		thread.mask = ~0u;
		emit1(&c, EU_MOV, 8, VEC(EU_UD, 12), accumulator(EU_UD));
		assert_int_equal(last(&c), EU_NEXT);
		assert_int_equal(dword(12, 7), 0x77);
		emit2(&c, EU_ADD, 8, VEC(EU_UD, 11), VEC(EU_UD, 3),
		      borrow ? NEG(VEC(EU_UD, 7)) : VEC(EU_UD, 7));
		last(&c);
		emit2(&c, EU_ADD, 8, VEC(EU_UD, 11), VEC(EU_UD, 11),
		      borrow ? NEG(VEC(EU_UD, 12)) : VEC(EU_UD, 12));
		last(&c);
		for (lane = 0; lane < 7; lane++) {
			uint64_t want = borrow ? a[lane] - b[lane] : a[lane] + b[lane];

			assert_int_equal(
				dword(12, lane),
				borrow ? (uint32_t)a[lane] < (uint32_t)b[lane] :
					 ((a[lane] & 0xffffffff) + (b[lane] & 0xffffffff)) >> 32);
			assert_int_equal(dword(10, lane), (uint32_t)want);
			assert_int_equal(dword(11, lane), want >> 32);
		}
		assert_int_equal(dword(10, 7), 0);
	}
}

/* One of those that have fast handlers, with random operands. */
static unsigned int random_instruction(struct code *c, bool floats)
{
	static const unsigned int ops[] = { EU_MOV, EU_NOT, EU_AND, EU_OR,  EU_XOR, EU_SHL, EU_SHR,
					    EU_ASR, EU_ADD, EU_MUL, EU_SEL, EU_CMP, EU_MAD };
	static const unsigned int float_ops[] = { EU_MOV, EU_ADD,  EU_MUL,  EU_SEL,
						  EU_CMP, EU_RNDD, EU_RNDZ, EU_MAD };
	static const unsigned int sizes[] = { 1, 8, 16 };
	unsigned int op = floats ? float_ops[random64() % 8] : ops[random64() % 13];
	unsigned int lanes = sizes[random64() % 3];
	unsigned int type = floats ? EU_F : random64() % 2 ? EU_D : EU_UD;
	unsigned int dst = 4 + random64() % 2, n;
	struct op o[3];
	uint32_t *dw;

	for (n = 0; n < 3; n++)
		o[n] = random_operand(floats);
	if (op == EU_MAD) {
		emit_mad(c, lanes, type, dst, o);
		return op;
	}
	dw = emit2(c, op, lanes, VEC(type, dst), o[0], o[1]);
	if (!floats && op != EU_MOV && op != EU_NOT && random64() % 3 == 0)
		put_source(dw, 1, IMM(random64() % 2 ? EU_W : EU_D, (uint32_t)random64()));
	return op;
}

/* step() compares the vectors' way with the general one. */
static void both_ways_are_equal(void **state)
{
	static const unsigned int least[2][128] = {
		{ [EU_MOV] = 100,
		  [EU_NOT] = 100,
		  [EU_AND] = 100,
		  [EU_OR] = 100,
		  [EU_XOR] = 100,
		  [EU_SHL] = 100,
		  [EU_SHR] = 100,
		  [EU_ASR] = 100,
		  [EU_ADD] = 100,
		  [EU_MUL] = 100,
		  [EU_SEL] = 100,
		  [EU_CMP] = 100,
		  [EU_MAD] = 100 },
		{ [EU_MOV] = 100,
		  [EU_ADD] = 100,
		  [EU_MUL] = 100,
		  [EU_MAD] = 100,
		  [EU_SEL] = 100,
		  [EU_CMP] = 100,
		  [EU_RNDD] = 100,
		  [EU_RNDZ] = 100 },
	};
	unsigned int n, k;

	(void)state;
	memset(fast, 0, sizeof(fast));
	for (n = 0; n < 20000; n++) {
		struct code c = { .count = 0 };
		bool floats = n % 3 == 0;
		unsigned int op = random_instruction(&c, floats);
		uint32_t *dw = c.dw[0];

		fresh();
		thread.mask = random64() % 2 ? ~0u : (uint32_t)random64();
		for (k = 0; k < 12 * 32; k++)
			thread.reg[2 * 32 + k] = (uint8_t)random64();
		/* With denormals, which are kept or flushed. */
		for (k = 0; floats && k < 8; k++)
			set_dword(2 + random64() % 12, random64() % 8, random64() & 0x807fffff);
		if (random64() % 2)
			eu_set_reg32(&thread, EU_REG_CR0, 0);
		eu_flags(&thread)[0] = (uint32_t)random64();
		if (op == EU_CMP)
			condition(dw, 1 + random64() % 6, 0);
		else if (op == EU_SEL && random64() % 2)
			condition(dw, random64() % 2 ? EU_COND_L : EU_COND_GE, 0);
		else if (op == EU_SEL || random64() % 4 == 0)
			predicate(dw, 0, random64() % 2);
		else if (random64() % 4 == 0 && !(floats && op == EU_MOV))
			condition(dw, 1 + random64() % 6, 0);
		put_field(dw, 34, 34, random64() % 4 == 0);
		if (floats && op != EU_CMP)
			put_field(dw, 31, 31, random64() % 5 == 0);
		assert_int_equal(last(&c), EU_NEXT);
	}
	for (n = 0; n < 2; n++)
		for (k = 0; k < 128; k++)
			if (fast[n][k] < least[n][k])
				fail_msg("%s of %s: %u by a fast handler", eu_op_name(k),
					 n ? "floats" : "integers", fast[n][k]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_wrap_and_saturate),
		cmocka_unit_test(regions_place_each_lane),
		cmocka_unit_test(conversions_clamp),
		cmocka_unit_test(the_largest_negative_integer_becomes_a_float),
		cmocka_unit_test(flags_and_predicates),
		cmocka_unit_test(any_and_all_are_inverted_as_a_whole),
		cmocka_unit_test(a_vector_immediate_has_nibbles),
		cmocka_unit_test(each_of_three_sources_has_its_precision),
		cmocka_unit_test(no_number_is_unordered),
		cmocka_unit_test(upper_halves_of_products),
		cmocka_unit_test(each_write_of_the_accumulator_has_an_upper_half),
		cmocka_unit_test(mac_writes_the_accumulator_if_it_says_so),
		cmocka_unit_test(bits_are_counted_and_moved),
		cmocka_unit_test(a_bit_field_is_inserted_where_its_mask_begins),
		cmocka_unit_test(rounding_follows_cr0),
		cmocka_unit_test(denormals_follow_cr0),
		cmocka_unit_test(indirect_registers),
		cmocka_unit_test(what_64_bits_do_not_hold_saturates),
		cmocka_unit_test(a_qword_without_a_sign_is_shifted_as_such),
		cmocka_unit_test(halves_round_once),
		cmocka_unit_test(dot_products_are_of_components),
		cmocka_unit_test(lrp_is_between_two_values),
		cmocka_unit_test(carry_and_borrow_are_in_the_accumulator),
		cmocka_unit_test(both_ways_are_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
