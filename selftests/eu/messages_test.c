// SPDX-License-Identifier: GPL-2.0-only
/* Messages to the data port and the sampler, on surfaces and registers of the test's. */
#include "registers.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define STATE 0x10000ull /* binding table, surface state, sampler state */
#define DATA 0x20000ull
enum { DATA_DWORDS = 1024, SURFACE_AT = 64, SAMPLER_AT = 128 };
enum { UNTYPED_READ = 1, UNTYPED_WRITE = 9, MEDIA_READ = 4, MEDIA_WRITE = 10 };
enum { TYPED_READ = 5, TYPED_ATOMIC = 6, TYPED_WRITE = 13 };
enum { SAMPLE_L = 2, LD = 7, RESINFO = 10, SAMPLE_LZ = 0x18, LD_LZ = 0x1a };
enum { SFID_SAMPLER = 2, SFID_DATA_CACHE_1 = 12, STATELESS = 255 };
enum { TYPE_2D = 1, TYPE_3D = 2, TYPE_NULL = 7 };
enum {
	R8_UNORM = 0x140,
	R8G8B8A8_UNORM = 0x0c7,
	R8G8B8A8_UINT = 0x0cb,
	R32_UINT = 0x0d7,
	R32_FLOAT = 0x0d8
};
enum { LINEAR, TILE_X = 2, TILE_Y };
enum { WRAP, MIRROR, CLAMP, BORDER = 4, MIRROR_ONCE };

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

/* A block of two rows of 16 bytes, from the 20th byte on: the 8th dword of a row is the last. */
static void blocks_take_the_width_as_dwords(void **state)
{
	unsigned int n;

	(void)state;
	fresh();
	put_surface(TYPE_2D, false);
	state_page[SURFACE_AT / 4] ^= (R32_UINT ^ R8_UNORM) << 18;
	set_dword(20, 0, 20);
	set_dword(20, 1, 1);
	set_dword(20, 2, 1u << 16 | 15);
	for (n = 0; n < 8; n++)
		set_dword(21, n, 0x1000 + n);
	assert_int_equal(message(SFID_DATA_CACHE_1, 2u << 25 | 1u << 19 | MEDIA_WRITE << 14),
			 EU_NEXT);
	for (n = 0; n < 64; n++) {
		uint32_t row = n / 16 - 1, column = n % 16 - 5;

		assert_int_equal(data[n], row < 2 && column < 3 ? 0x1000 + row * 4 + column : n);
	}
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

/* ---- images ---- */

/* A message for 8 lanes to the image at index 0: @in registers from r20, @out to r40 on. */
static void typed(unsigned int type, unsigned int in, unsigned int out, uint32_t control)
{
	if (message(SFID_DATA_CACHE_1, in << 25 | out << 20 | type << 14 | control << 8))
		fail_msg("%s", exec.error.text);
}

static void sampled(unsigned int type, unsigned int in, unsigned int out)
{
	if (message(SFID_SAMPLER, in << 25 | out << 20 | 1u << 17 | type << 12))
		fail_msg("%s", exec.error.text);
}

/* A 2D image of @wide by @high texels of 4 bytes, rows of @pitch bytes. */
static void put_image(unsigned int format, unsigned int tile, uint32_t wide, uint32_t high,
		      uint32_t pitch)
{
	uint32_t *dw = state_page + SURFACE_AT / 4;

	put_surface(TYPE_2D, false);
	dw[0] = (dw[0] & ~(0x1ffu << 18)) | format << 18 | tile << 12;
	dw[2] = (high - 1) << 16 | (wide - 1);
	dw[3] = pitch - 1;
}

static void put_sampler(unsigned int filter, unsigned int wrap)
{
	uint32_t *dw = state_page + SAMPLER_AT / 4;

	memset(dw, 0, 16);
	dw[0] = filter << 17 | filter << 14;
	dw[3] = 1u << 10 | wrap << 6 | wrap << 3 | wrap;
	/* The border's colour is in a piece of the same state. */
	dw[2] = 512;
	state_page[512 / 4] = 0xb0;
}

/* The texel whose dword is the @n-th of a page, as the manual draws each tiling. */
static void texel_at(unsigned int tile, unsigned int n, uint32_t *x, uint32_t *y)
{
	switch (tile) {
	case TILE_X: /* 8 rows of 512 bytes */
		*x = n % 128;
		*y = n / 128;
		break;
	case TILE_Y: /* columns of 16 bytes, 32 rows high */
		*x = n / 128 * 4 + n % 4;
		*y = n / 4 % 32;
		break;
	default:
		*x = n % 32;
		*y = n / 32;
	}
}

static void each_tiling_has_its_order_of_texels(void **state)
{
	static const unsigned int tiles[] = { LINEAR, TILE_X, TILE_Y };
	unsigned int t, n, lane;
	uint32_t x, y;

	(void)state;
	for (t = 0; t < 3; t++) {
		uint32_t wide = tiles[t] == TILE_X ? 128 : 32, high = 1024 / wide;

		for (n = 0; n < DATA_DWORDS; n += 8) {
			fresh();
			put_image(R32_UINT, tiles[t], wide, high, wide * 4);
			for (lane = 0; lane < 8; lane++) {
				texel_at(tiles[t], n + lane, &x, &y);
				set_dword(20, lane, x);
				set_dword(21, lane, y);
				set_dword(22, lane, 0x5000 + n + lane);
			}
			typed(TYPED_READ, 2, 1, 1u << 4 | 14);
			for (lane = 0; lane < 8; lane++)
				assert_int_equal(dword(40, lane), n + lane);
			sampled(LD_LZ, 2, 4);
			for (lane = 0; lane < 8; lane++) {
				assert_int_equal(dword(40, lane), n + lane);
				/* What the format does not have. */
				assert_int_equal(dword(41, lane), 0);
				assert_int_equal(dword(42, lane), 0);
				assert_int_equal(dword(43, lane), 1);
			}
			typed(TYPED_WRITE, 3, 0, 1u << 4 | 14);
			for (lane = 0; lane < 8; lane++)
				assert_int_equal(data[n + lane], 0x5000 + n + lane);
			assert_int_equal(data[(n + 8) % DATA_DWORDS], (n + 8) % DATA_DWORDS);
		}
	}
}

/* Loads give 0, stores and atomics do nothing. */
static void texels_outside_are_not_there(void **state)
{
	static const int32_t x[8] = { -1, 0, 7, 8, 3, 3, 0x7fffffff, 2 };
	static const int32_t y[8] = { 0, -1, 7, 0, 8, 7, 0, 0x10000000 };
	unsigned int lane, way;

	(void)state;
	for (way = 0; way < 4; way++) {
		fresh();
		put_image(R32_UINT, LINEAR, 8, 8, 64);
		for (lane = 0; lane < 8; lane++) {
			set_dword(20, lane, (uint32_t)x[lane]);
			set_dword(21, lane, (uint32_t)y[lane]);
			set_dword(22, lane, 9999);
		}
		if (way == 0)
			typed(TYPED_READ, 2, 1, 1u << 4 | 14);
		else if (way == 1)
			sampled(LD_LZ, 2, 1);
		else if (way == 2)
			typed(TYPED_WRITE, 3, 0, 1u << 4 | 14);
		else
			typed(TYPED_ATOMIC, 3, 1, 1u << 5 | 4);
		for (lane = 0; lane < 8; lane++) {
			bool inside = x[lane] >= 0 && x[lane] < 8 && y[lane] >= 0 && y[lane] < 8;

			if (way != 2)
				assert_int_equal(dword(40, lane),
						 inside ? y[lane] * 16 + x[lane] : 0);
		}
		for (lane = 0; lane < DATA_DWORDS; lane++)
			assert_int_equal(data[lane],
					 way >= 2 && (lane == 7 * 16 + 7 || lane == 7 * 16 + 3) ?
						 9999 :
						 lane);
	}
}

/* The texel of eight that is nearest to a coordinate; 0xb0 for the border. */
static uint32_t nearest(int n, unsigned int wrap)
{
	int twice = ((n % 16) + 16) % 16;

	switch (wrap) {
	case WRAP:
		return (uint32_t)((n % 8) + 8) % 8;
	case MIRROR:
		return (uint32_t)(twice < 8 ? twice : 15 - twice);
	case CLAMP:
		return (uint32_t)(n < 0 ? 0 : n > 7 ? 7 : n);
	case MIRROR_ONCE:
		n = n < 0 ? -1 - n : n;
		return (uint32_t)(n > 7 ? 7 : n);
	default:
		return n < 0 || n > 7 ? 0xb0 : (uint32_t)n;
	}
}

static void each_wrap_mode_has_its_texels(void **state)
{
	static const unsigned int modes[] = { WRAP, MIRROR, CLAMP, BORDER, MIRROR_ONCE };
	unsigned int mode, lane;
	int first;

	(void)state;
	for (mode = 0; mode < 5; mode++)
		for (first = -24; first < 32; first += 8) {
			fresh();
			put_image(R32_UINT, LINEAR, 8, 8, 64);
			put_sampler(0, modes[mode]);
			for (lane = 0; lane < 8; lane++) {
				/* Anywhere in the texel. */
				set_dword(
					20, lane,
					bits_of((float)(first + (int)lane) + 0.12f * (float)lane));
				set_dword(21, lane, bits_of(0.5f));
			}
			sampled(SAMPLE_LZ, 2, 4);
			for (lane = 0; lane < 8; lane++)
				assert_int_equal(dword(40, lane),
						 nearest(first + (int)lane, modes[mode]));
		}
}

/* Weights of quarters of small integers: each sum is exact. */
static void a_linear_filter_has_four_texels(void **state)
{
	unsigned int lane, x, y;

	(void)state;
	for (y = 0; y < 28; y++) {
		fresh();
		put_image(R32_FLOAT, LINEAR, 8, 8, 64);
		put_sampler(1, CLAMP);
		for (x = 0; x < 64; x++) {
			float f = (float)(x * x % 37 * 4);

			memcpy(&data[x / 8 * 16 + x % 8], &f, 4);
		}
		for (lane = 0; lane < 8; lane++) {
			set_dword(20, lane, bits_of(0.5f + (float)lane * 0.75f));
			set_dword(21, lane, bits_of(0.5f + (float)y * 0.25f));
		}
		sampled(SAMPLE_LZ, 2, 4);
		for (lane = 0; lane < 8; lane++) {
			unsigned int left = lane * 3 / 4, top = y / 4;
			float right = (float)(lane * 3 % 4) / 4, down = (float)(y % 4) / 4;
			float sum = 0;
			unsigned int corner;

			for (corner = 0; corner < 4; corner++) {
				unsigned int tx = left + corner % 2, ty = top + corner / 2, n;

				tx = tx > 7 ? 7 : tx;
				ty = ty > 7 ? 7 : ty;
				n = ty * 8 + tx;
				sum += (corner % 2 ? right : 1 - right) *
				       (corner / 2 ? down : 1 - down) * (float)(n * n % 37 * 4);
			}
			assert_int_equal(dword(40, lane), bits_of(sum));
		}
	}
}

static void channels_have_their_places_and_scales(void **state)
{
	unsigned int lane, c;

	(void)state;
	fresh();
	put_image(R8G8B8A8_UNORM, LINEAR, 8, 8, 64);
	for (lane = 0; lane < 8; lane++) {
		data[lane] = lane | 255u << 8 | (100 + lane) << 16 | lane * 36 << 24;
		set_dword(20, lane, lane);
		set_dword(21, lane, 0);
	}
	sampled(LD_LZ, 2, 4);
	for (lane = 0; lane < 8; lane++)
		for (c = 0; c < 4; c++)
			assert_int_equal(dword(40 + c, lane),
					 bits_of((float)(data[lane] >> 8 * c & 255) / 255.0f));
	/* Blue for red: what the surface says each channel shows. */
	exec.surfaces[0].valid = false;
	state_page[SURFACE_AT / 4 + 7] = 6u << 25 | 5u << 22 | 4u << 19 | 1u << 16;
	sampled(LD_LZ, 2, 4);
	for (lane = 0; lane < 8; lane++) {
		assert_int_equal(dword(40, lane), bits_of((float)(100 + lane) / 255.0f));
		assert_int_equal(dword(42, lane), bits_of((float)lane / 255.0f));
		assert_int_equal(dword(43, lane), bits_of(1));
	}
	/* Stores clamp to what a channel holds. */
	fresh();
	put_image(R8G8B8A8_UINT, LINEAR, 8, 8, 64);
	for (lane = 0; lane < 8; lane++) {
		set_dword(20, lane, lane);
		set_dword(21, lane, 2);
		for (c = 0; c < 4; c++)
			set_dword(22 + c, lane, lane * 50 + c);
	}
	typed(TYPED_WRITE, 6, 0, 1u << 4);
	for (lane = 0; lane < 8; lane++)
		for (c = 0; c < 4; c++)
			assert_int_equal(data[32 + lane] >> 8 * c & 255,
					 lane * 50 + c > 255 ? 255 : lane * 50 + c);
}

static void a_surface_tells_its_size(void **state)
{
	unsigned int lane;

	(void)state;
	fresh();
	put_image(R32_UINT, LINEAR, 13, 6, 64);
	state_page[SURFACE_AT / 4 + 5] = 2; /* three levels */
	for (lane = 0; lane < 8; lane++)
		set_dword(20, lane, lane % 3);
	sampled(RESINFO, 1, 4);
	for (lane = 0; lane < 8; lane++) {
		assert_int_equal(dword(40, lane), lane % 3 == 0 ? 13 : lane % 3 == 1 ? 6 : 3);
		assert_int_equal(dword(41, lane), lane % 3 == 0 ? 6 : lane % 3 == 1 ? 3 : 1);
		assert_int_equal(dword(43, lane), 3);
	}
}

/* What each operation of the data port leaves, by the manual's words. */
static uint32_t left_by(unsigned int op, uint32_t old, uint32_t a, uint32_t b)
{
	switch (op) {
	case 1:
		return old & a;
	case 2:
		return old | a;
	case 3:
		return old ^ a;
	case 4:
		return a;
	case 5:
		return old + 1;
	case 6:
	case 15:
		return old - 1;
	case 7:
		return old + a;
	case 8:
		return old - a;
	case 9:
		return a - old;
	case 10:
		return (int32_t)old > (int32_t)a ? old : a;
	case 11:
		return (int32_t)old < (int32_t)a ? old : a;
	case 12:
		return old > a ? old : a;
	case 13:
		return old < a ? old : a;
	default: /* if it is the first, the second */
		return old == a ? b : old;
	}
}

static void typed_atomics_change_texels(void **state)
{
	unsigned int op, lane, answers, upper;

	(void)state;
	for (op = 1; op < 16; op++)
		for (answers = 0; answers < 2; answers++) {
			unsigned int sources = op == 14			      ? 2 :
					       op == 5 || op == 6 || op == 15 ? 0 :
										1;
			uint32_t old[8], a[8], b[8];

			fresh();
			put_image(R32_UINT, TILE_Y, 32, 32, 128);
			thread.mask = 0xf7;
			for (lane = 0; lane < 8; lane++) {
				old[lane] = lane * 0x10204081u ^ 0x80000000u;
				a[lane] = lane % 3 ? old[lane] : 0x40000000 + lane;
				b[lane] = 0x1234 + lane;
				set_dword(20, lane, 5);
				set_dword(21, lane, lane * 3);
				set_dword(22, lane, a[lane]);
				set_dword(23, lane, b[lane]);
				/* Column 5 is the second in the second OWord of its row. */
				data[128 + lane * 3 * 4 + 1] = old[lane];
			}
			typed(TYPED_ATOMIC, 2 + sources, answers, answers << 5 | op);
			for (lane = 0; lane < 8; lane++) {
				uint32_t left = lane == 3 ?
							old[lane] :
							left_by(op, old[lane], a[lane], b[lane]);

				assert_int_equal(data[128 + lane * 3 * 4 + 1], left);
				assert_int_equal(dword(40, lane), !answers || lane == 3 ?
									  0x77777777 :
								  op == 15 ? left :
									     old[lane]);
			}
		}
	/* All lanes the same texel; the upper half of 16 lanes is an instruction of its own. */
	for (upper = 0; upper < 2; upper++) {
		struct code c = { .count = 0 };
		struct eu_insn i;

		fresh();
		put_image(R32_UINT, LINEAR, 8, 8, 64);
		thread.mask = 0x070f;
		for (lane = 0; lane < 8; lane++) {
			set_dword(20, lane, 1);
			set_dword(21, lane, 1);
		}
		emit_send(&c, 16, SFID_DATA_CACHE_1, 0, 20,
			  2u << 25 | TYPED_ATOMIC << 14 | upper << 12 | 5u << 8, false);
		eu_decode((const uint8_t *)c.dw[0], 16, &i);
		eu_bind(&i);
		assert_int_equal(i.run(&exec, &i), EU_NEXT);
		assert_int_equal(data[17], 17 + (upper ? 3 : 4));
	}
}

/* @descriptor: registers and operation of a typed atomic */
static void typed_atomic_is_refused(uint32_t format, uint32_t descriptor, enum eu_status why)
{
	fresh();
	put_image(format, LINEAR, 8, 8, 64);
	assert_int_equal(message(SFID_DATA_CACHE_1, descriptor | TYPED_ATOMIC << 14), EU_FAILED);
	assert_int_equal(exec.error.status, why);
}

static void typed_atomics_of_other_texels_are_refused(void **state)
{
	(void)state;
	typed_atomic_is_refused(R8G8B8A8_UINT, 3u << 25 | 7u << 8, EU_UNSUPPORTED);
	typed_atomic_is_refused(R32_UINT, 3u << 25, EU_UNSUPPORTED);
	/* An operand is missing; no register for the answer; texels across pages. */
	typed_atomic_is_refused(R32_UINT, 2u << 25 | 14u << 8, EU_ILLEGAL);
	typed_atomic_is_refused(R32_UINT, 3u << 25 | 39u << 8, EU_ILLEGAL);
	fresh();
	put_image(R32_UINT, LINEAR, 8, 8, 64);
	state_page[SURFACE_AT / 4 + 8] = DATA + 2;
	set_dword(20, 0, 0);
	set_dword(21, 0, 0);
	thread.mask = 1;
	assert_int_equal(message(SFID_DATA_CACHE_1, 3u << 25 | TYPED_ATOMIC << 14 | 7u << 8),
			 EU_FAILED);
	assert_int_equal(exec.error.status, EU_ILLEGAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_channel_has_its_place_in_memory_even_alone),
		cmocka_unit_test(an_array_of_3d_images_is_refused),
		cmocka_unit_test(a_null_surface_reads_as_zeros_in_blocks_too),
		cmocka_unit_test(blocks_take_the_width_as_dwords),
		cmocka_unit_test(a_typed_store_ends_at_its_level),
		cmocka_unit_test(each_tiling_has_its_order_of_texels),
		cmocka_unit_test(texels_outside_are_not_there),
		cmocka_unit_test(each_wrap_mode_has_its_texels),
		cmocka_unit_test(a_linear_filter_has_four_texels),
		cmocka_unit_test(channels_have_their_places_and_scales),
		cmocka_unit_test(a_surface_tells_its_size),
		cmocka_unit_test(typed_atomics_change_texels),
		cmocka_unit_test(typed_atomics_of_other_texels_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
