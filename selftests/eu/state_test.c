// SPDX-License-Identifier: GPL-2.0-only
/* Commands of the media pipeline, and the dispatch that they make. */
#include "../../userspace/eu/eu_state.h"
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
	struct gpu gpu;
	struct eu_memory memory;
	struct eu_state *state;
	struct eu_dispatch d;
	struct eu_error error;
	uint32_t *dynamic;
	uint64_t dynamic_address;
};

static enum eu_command command(struct fixture *f, const uint32_t *dw, uint32_t dwords)
{
	return eu_state_command(f->state, &f->memory, dw, dwords, &f->d, &f->error);
}

static void make(struct fixture *f)
{
	uint32_t base[19] = { 0x61010011 }, vfe[9] = { 0x70000007 };
	uint32_t load[4] = { 0x70020002, 0, 64, 128 }, constants[4] = { 0x70010002, 0, 256, 1024 };
	uint32_t descriptor[8] = {
		0x1c0, 1, 0, 0x60, 0x40, 2u << 16 | 1, 5u << 16 | 1u << 21 | 8, 3
	};

	memset(f, 0, sizeof(*f));
	gpu_make(&f->gpu);
	f->memory = gpu_memory(&f->gpu);
	f->state = calloc(1, sizeof(*f->state));
	f->dynamic_address = gpu_alloc(&f->gpu, 8192, &f->dynamic);
	base[4] = 0x5000001;
	base[6] = (uint32_t)f->dynamic_address | 1;
	base[10] = 0x7000001;
	base[11] = 2;
	base[13] = 0x2001;
	assert_int_equal(command(f, base, 19), EU_COMMAND_TAKEN);
	vfe[1] = 0x8000 | 2;
	assert_int_equal(command(f, vfe, 9), EU_COMMAND_TAKEN);
	memcpy(f->dynamic + 32 + 8, descriptor, sizeof(descriptor));
	f->dynamic[256 + 8] = 0x1234;
	assert_int_equal(command(f, load, 4), EU_COMMAND_TAKEN);
	assert_int_equal(command(f, constants, 4), EU_COMMAND_TAKEN);
}

static void drop(struct fixture *f)
{
	free(f->state);
	gpu_free(&f->gpu);
}

static void a_walker_becomes_a_dispatch(void **state)
{
	uint32_t walker[15] = { 0x7105000d, 1, 0, 0, 1u << 30 | 3, 2,	  0, 9, 0,
				0,	    4, 0, 1, 0x00ff,	   0xffff };
	struct fixture f;

	(void)state;
	make(&f);
	assert_int_equal(command(&f, walker, 15), EU_COMMAND_DISPATCH);
	assert_int_equal(f.d.simd, 16);
	assert_int_equal(f.d.kernel, 0x1000001c0);
	assert_int_equal(f.d.instruction.address, 0x207000000);
	assert_int_equal(f.d.surface.address, 0x5000000);
	assert_int_equal(f.d.dynamic.bytes, 0x2000);
	assert_int_equal(f.d.samplers, 0x60);
	assert_int_equal(f.d.binding_table, 0x40);
	assert_int_equal(f.d.threads[0], 4);
	assert_int_equal(f.d.start[0], 2);
	assert_int_equal(f.d.end[0], 9);
	assert_int_equal(f.d.end[1], 4);
	assert_int_equal(f.d.slm_bytes, 16384);
	assert_true(f.d.barrier);
	assert_int_equal(f.d.per_thread_registers, 2);
	assert_int_equal(f.d.cross_thread_registers, 3);
	assert_int_equal(f.d.scratch, 0x8000);
	assert_int_equal(f.d.scratch_bytes, 4096);
	assert_int_equal(f.d.right_mask, 0xff);
	/* Constants begin at the descriptor's offset. */
	assert_int_equal(f.d.constants_bytes, 224);
	assert_int_equal(*(const uint32_t *)f.d.constants, 0x1234);
	/* No groups: nothing to do, and no descriptor to read. */
	walker[7] = 2;
	walker[1] = 63;
	assert_int_equal(command(&f, walker, 15), EU_COMMAND_TAKEN);
	drop(&f);
}

static void a_media_object_carries_its_data(void **state)
{
	uint32_t object[10] = { 0x71000008, 1, 0, 0, 0, 0, 11, 22, 33, 44 };
	struct fixture f;

	(void)state;
	make(&f);
	assert_int_equal(command(&f, object, 10), EU_COMMAND_DISPATCH);
	assert_true(f.d.media);
	assert_int_equal(f.d.inline_dwords, 4);
	assert_int_equal(f.d.inline_data[3], 44);
	drop(&f);
}

static void a_media_object_names_its_data(void **state)
{
	uint32_t object[7] = { 0x71000004, 1, 64, 0x340, 0, 0, 11 };
	struct fixture f;

	(void)state;
	make(&f);
	assert_int_equal(command(&f, object, 6), EU_COMMAND_DISPATCH);
	assert_true(f.d.media);
	assert_int_equal(f.d.inline_dwords, 0);
	assert_int_equal(f.d.indirect_bytes, 64);
	assert_int_equal(f.d.indirect_data, 0x340);
	assert_int_equal(command(&f, object, 7), EU_COMMAND_ERROR);
	assert_int_equal(f.error.status, EU_UNSUPPORTED);
	drop(&f);
}

static void bad_commands_are_errors(void **state)
{
	uint32_t walker[15] = { 0x7105000d, 7, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1 };
	uint32_t load[4] = { 0x70020002, 0, 64, 0x10000000 }, other[2] = { 0x79000000, 0 };
	struct fixture f;

	(void)state;
	make(&f);
	assert_int_equal(command(&f, walker, 15), EU_COMMAND_ERROR);
	assert_int_equal(f.error.status, EU_ILLEGAL);
	assert_int_equal(command(&f, walker, 14), EU_COMMAND_ERROR);
	assert_int_equal(command(&f, load, 4), EU_COMMAND_ERROR);
	assert_int_equal(f.error.status, EU_FAULT);
	load[2] = 0x10000;
	assert_int_equal(command(&f, load, 4), EU_COMMAND_ERROR);
	assert_int_equal(f.error.status, EU_ILLEGAL);
	walker[0] |= 1 << 8;
	walker[1] = 1;
	assert_int_equal(command(&f, walker, 15), EU_COMMAND_ERROR);
	assert_int_equal(f.error.status, EU_UNSUPPORTED);
	assert_int_equal(command(&f, other, 2), EU_COMMAND_OTHER);
	drop(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walker_becomes_a_dispatch),
		cmocka_unit_test(a_media_object_carries_its_data),
		cmocka_unit_test(a_media_object_names_its_data),
		cmocka_unit_test(bad_commands_are_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
