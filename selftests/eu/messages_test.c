// SPDX-License-Identifier: GPL-2.0-only
/* Messages to the data port and the sampler, on surfaces and registers of the test's. */
#include "code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define STATE 0x10000ull /* binding table, surface state, sampler state */
#define DATA 0x20000ull
enum { DATA_DWORDS = 1024, SURFACE_AT = 64, SAMPLER_AT = 128 };
enum { UNTYPED_READ = 1, UNTYPED_WRITE = 9, TYPED_WRITE = 13, MEDIA_READ = 4, SAMPLE_LZ = 0x18 };
enum { SFID_SAMPLER = 2, SFID_DATA_CACHE_1 = 12, STATELESS = 255 };
enum { TYPE_2D = 1, TYPE_3D = 2, TYPE_NULL = 7 };
enum { R32_UINT = 0x0d7 };

static struct eu_thread thread;
static struct eu_exec exec;
static struct eu_run run;
static uint32_t state_page[EU_PAGE_BYTES / 4], data[DATA_DWORDS];

static void *map(void *context, uint64_t address, enum eu_access access)
{
	(void)context;
	(void)access;
	return address == STATE ? (void *)state_page : address == DATA ? (void *)data : NULL;
}

static const struct eu_memory_ops ops = { .map = map };

/* Each register has 0x77777777, each dword of the data its number. */
static void fresh(void)
{
	unsigned int n;

	memset(&thread, 0x77, EU_GRF_BYTES);
	memset(&exec, 0, sizeof(exec));
	memset(&run, 0, sizeof(run));
	memset(state_page, 0, sizeof(state_page));
	for (n = 0; n < DATA_DWORDS; n++)
		data[n] = n;
	thread.mask = ~0u;
	run.dispatch.surface.address = run.dispatch.dynamic.address = STATE;
	run.dispatch.samplers = SAMPLER_AT;
	run.dispatch.general = (struct eu_base){ DATA, UINT64_MAX };
	exec.run = &run;
	exec.t = &thread;
	exec.memory.ops = &ops;
}

/* The surface at binding table index 0, of 8 by 8 dwords with 16 in a row of memory. */
static void put_surface(unsigned int type, bool array)
{
	uint32_t *dw = state_page + SURFACE_AT / 4;

	state_page[0] = SURFACE_AT;
	dw[0] = type << 29 | (uint32_t)array << 28 | R32_UINT << 18 | 1u << 16 | 1u << 14;
	dw[2] = 7u << 16 | 7;
	dw[3] = 63;
	dw[7] = 4u << 25 | 5u << 22 | 6u << 19 | 7u << 16;
	dw[8] = DATA;
}

static enum eu_step message(unsigned int sfid, uint32_t desc)
{
	struct code c = { .count = 0 };
	struct eu_insn i;

	emit_send(&c, 8, sfid, 40, 20, desc, false);
	eu_decode((const uint8_t *)c.dw[0], 16, &i);
	eu_bind(&i);
	return i.run(&exec, &i);
}

static uint32_t dword(unsigned int reg, unsigned int n)
{
	return eu_reg32(&thread, reg * 32 + n * 4);
}

static void set_dword(unsigned int reg, unsigned int n, uint32_t v)
{
	eu_set_reg32(&thread, reg * 32 + n * 4, v);
}

/* Lanes next to each other, as one copy could move them. */
static void a_channel_has_its_place_in_memory_even_alone(void **state)
{
	unsigned int channel, n;

	(void)state;
	for (channel = 0; channel < 4; channel++) {
		uint32_t off = (15u & ~(1u << channel)) << 8 | 2u << 12 | STATELESS;

		fresh();
		for (n = 0; n < 8; n++) {
			set_dword(20, n, 256 + n * 4);
			set_dword(21, n, 0x1000 + n);
		}
		assert_int_equal(message(SFID_DATA_CACHE_1,
					 1u << 25 | 1u << 20 | UNTYPED_READ << 14 | off),
				 EU_NEXT);
		for (n = 0; n < 8; n++)
			assert_int_equal(dword(40, n), 64 + n + channel);
		assert_int_equal(message(SFID_DATA_CACHE_1, 2u << 25 | UNTYPED_WRITE << 14 | off),
				 EU_NEXT);
		for (n = 0; n < 8; n++)
			assert_int_equal(data[64 + n + channel], 0x1000 + n);
		assert_int_equal(data[63 + channel], 63 + channel);
	}
}

static void an_array_of_3d_images_is_refused(void **state)
{
	unsigned int n;

	(void)state;
	fresh();
	put_surface(TYPE_3D, true);
	assert_int_equal(message(SFID_SAMPLER, 3u << 25 | 4u << 20 | SAMPLE_LZ << 12 | 1u << 17),
			 EU_FAILED);
	assert_int_equal(exec.error.status, EU_ILLEGAL);
	fresh();
	put_surface(TYPE_3D, false);
	for (n = 0; n < 24; n++)
		set_dword(20, n, 0);
	assert_int_equal(message(SFID_SAMPLER, 3u << 25 | 4u << 20 | SAMPLE_LZ << 12 | 1u << 17),
			 EU_NEXT);
	assert_int_equal(dword(40, 0), 0);
}

static void a_null_surface_reads_as_zeros_in_blocks_too(void **state)
{
	unsigned int n;

	(void)state;
	fresh();
	put_surface(TYPE_NULL, false);
	set_dword(20, 0, 0);
	set_dword(20, 1, 0);
	set_dword(20, 2, 1u << 16 | 31);
	assert_int_equal(message(SFID_DATA_CACHE_1,
				 1u << 25 | 2u << 20 | 1u << 19 | MEDIA_READ << 14),
			 EU_NEXT);
	for (n = 0; n < 16; n++)
		assert_int_equal(dword(40, n), 0);
}

/* Level 1 is 4 by 4 texels below level 0. */
static void a_typed_store_ends_at_its_level(void **state)
{
	const uint32_t desc = 3u << 25 | TYPED_WRITE << 14 | 1u << 12 | 14u << 8;
	unsigned int n, changed = 0;

	(void)state;
	fresh();
	put_surface(TYPE_2D, false);
	state_page[SURFACE_AT / 4 + 5] = 1u << 4; /* of its levels, the second */
	for (n = 0; n < 8; n++) {
		set_dword(20, n, n);
		set_dword(21, n, 1);
		set_dword(22, n, 0x1000 + n);
	}
	assert_int_equal(message(SFID_DATA_CACHE_1, desc), EU_NEXT);
	for (n = 0; n < DATA_DWORDS; n++)
		changed += data[n] != n;
	assert_int_equal(changed, 4);
	for (n = 0; n < 4; n++)
		assert_int_equal(data[9 * 16 + n], 0x1000 + n);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_channel_has_its_place_in_memory_even_alone),
		cmocka_unit_test(an_array_of_3d_images_is_refused),
		cmocka_unit_test(a_null_surface_reads_as_zeros_in_blocks_too),
		cmocka_unit_test(a_typed_store_ends_at_its_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
