// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels that Intel's compiler made of kernels.cl, executed by the library and compared with the
 * same computations in C. Skipped if the compiler is not installed.
 */
#include "code.h"
#include "kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *program, *judges, *exact;

/* A launch of one kernel: buffers are made by buffer(), the rest by run(). */
struct test {
	struct gpu gpu;
	struct kernel kernel;
	struct argument argument[KERNEL_ARGUMENTS];
	unsigned int arguments;
	uint64_t seed;
};

static void begin_of(struct test *t, const char *file, const char *name)
{
	memset(t, 0, sizeof(*t));
	if (!file)
		skip();
	gpu_make(&t->gpu);
	t->seed = 88172645463325252ull;
	assert_int_equal(kernel_load(&t->kernel, file, name), 0);
}

static void begin(struct test *t, const char *name)
{
	begin_of(t, program, name);
}

static void end(struct test *t)
{
	kernel_free(&t->kernel);
	gpu_free(&t->gpu);
}

static uint64_t number(struct test *t)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 7;
	t->seed ^= t->seed << 17;
	return t->seed;
}

static void *buffer(struct test *t, size_t bytes)
{
	struct argument *a = &t->argument[t->arguments++];
	void *host;

	a->buffer = gpu_alloc(&t->gpu, bytes, &host);
	a->bytes = bytes;
	return host;
}

static void value(struct test *t, uint32_t v)
{
	t->argument[t->arguments++].value[0] = v;
}

static void run3(struct test *t, const uint32_t global[3], const uint32_t local[3])
{
	struct eu_memory memory = gpu_memory(&t->gpu);
	struct eu_cache *cache = eu_cache_create(64 << 20);
	struct eu_error error = { 0 };
	struct eu_dispatch d;
	enum eu_status status;
	struct eu_run *run;

	kernel_dispatch(&t->kernel, &t->gpu, global, local, t->argument, &d);
	run = eu_run_begin(cache, &memory, &d, &error);
	if (!run)
		fail_msg("%s", error.text);
	status = eu_run(run, 1ull << 32, &error);
	if (status)
		fail_msg("status %d: %s", status, error.text);
	assert_true(eu_run_at_boundary(run));
	eu_run_end(run);
	eu_cache_destroy(cache);
}

static void run(struct test *t, uint32_t global, uint32_t local)
{
	run3(t, (uint32_t[]){ global, 1, 1 }, (uint32_t[]){ local, 1, 1 });
}

static void computes_sum(void **state)
{
	enum { N = 1000 };
	struct test t;
	float *a, *b, *c;
	int k;

	(void)state;
	begin(&t, "sum");
	a = buffer(&t, N * 4);
	b = buffer(&t, N * 4);
	c = buffer(&t, 1024 * 4);
	value(&t, N);
	for (k = 0; k < N; k++) {
		a[k] = (float)k * 0.3f;
		b[k] = 1.0f / (float)(k + 1);
	}
	run(&t, 1024, 64);
	for (k = 0; k < N; k++)
		assert_int_equal(bits_of(c[k]), bits_of(a[k] + b[k]));
	for (; k < 1024; k++)
		assert_int_equal(bits_of(c[k]), 0);
	end(&t);
}

static uint32_t rotate(uint32_t v, unsigned int by)
{
	by &= 31;
	return by ? v << by | v >> (32 - by) : v;
}

static void computes_hash(void **state)
{
	struct test t;
	uint32_t *d, expected[512], k, r;

	(void)state;
	begin(&t, "hash");
	d = buffer(&t, sizeof(expected));
	value(&t, 40);
	for (k = 0; k < 512; k++) {
		uint32_t h;

		d[k] = (uint32_t)number(&t);
		h = d[k] + k * 2654435761u;
		for (r = 0; r < 40; r++) {
			h ^= h >> 15;
			h *= 0x2c1b3c6du;
			h ^= h << 7;
			h += rotate(h, 11) ^ r;
		}
		expected[k] = h;
	}
	run(&t, 512, 32);
	assert_memory_equal(d, expected, sizeof(expected));
	end(&t);
}

static void computes_mads(void **state)
{
	struct test t;
	float *d, expected[256];
	int k, r;

	(void)state;
	begin(&t, "mads");
	d = buffer(&t, sizeof(expected));
	value(&t, bits_of(-0.37f));
	value(&t, 30);
	for (k = 0; k < 256; k++) {
		float a = -0.37f, x = (float)k / 77, y, z, w;

		d[k] = x;
		y = x + 1;
		z = x + 2;
		w = x + 3;
		for (r = 0; r < 30; r++) {
			x = fmaf(x, a, y);
			y = fmaf(y, a, z);
			z = fmaf(z, a, w);
			w = fmaf(w, a, x);
			x = fmaf(x, a, z);
			y = fmaf(y, a, w);
			z = fmaf(z, a, x);
			w = fmaf(w, a, y);
		}
		expected[k] = x + y + z + w;
	}
	run(&t, 256, 64);
	assert_memory_equal(d, expected, sizeof(expected));
	end(&t);
}

static void computes_product(void **state)
{
	enum { N = 48 };
	struct test t;
	float *a, *b, *c;
	int x, y, k;

	(void)state;
	begin(&t, "product");
	a = buffer(&t, N * N * 4);
	b = buffer(&t, N * N * 4);
	c = buffer(&t, N * N * 4);
	value(&t, N);
	for (k = 0; k < N * N; k++) {
		a[k] = (float)(number(&t) % 1000) / 7;
		b[k] = (float)(number(&t) % 1000) / 3;
	}
	run3(&t, (uint32_t[]){ N, N, 1 }, (uint32_t[]){ 16, 16, 1 });
	for (y = 0; y < N; y++)
		for (x = 0; x < N; x++) {
			float s = 0;

			for (k = 0; k < N; k++)
				s = fmaf(a[y * N + k], b[k * N + x], s);
			assert_int_equal(bits_of(c[y * N + x]), bits_of(s));
		}
	end(&t);
}

static int path(int i, int v, int limit)
{
	int steps = 0, odd = 0, k;

	while (v != 1 && steps < limit) {
		steps++;
		if (v & 1) {
			v = (int)(3u * (unsigned int)v + 1);
			if (odd++ % 5 == 3)
				continue;
			if (v < 0)
				break;
		} else {
			v >>= 1;
		}
		for (k = 0; k < (v & 3); k++)
			odd ^= k << 3;
	}
	switch (i % 5) {
	case 0:
		odd += v;
		break;
	case 1:
		odd = ~odd;
		/* fallthrough */
	case 2:
		odd *= 7;
		break;
	default:
		for (k = 0; k < (i & 7); k++) {
			if (k == (v & 7))
				break;
			odd -= k * steps;
		}
	}
	return steps * 1000 + odd;
}

static void computes_paths(void **state)
{
	struct test t;
	int *d, expected[256], k;

	(void)state;
	begin(&t, "paths");
	d = buffer(&t, sizeof(expected));
	value(&t, 90);
	for (k = 0; k < 256; k++) {
		d[k] = (int)(number(&t) % 30000) + 1;
		if (k % 17 == 0)
			d[k] = 2000000001;
		expected[k] = path(k, d[k], 90);
	}
	run(&t, 256, 64);
	for (k = 0; k < 256; k++)
		assert_int_equal(d[k], expected[k]);
	end(&t);
}

static void computes_histogram(void **state)
{
	enum { N = 5000 };
	struct test t;
	uint8_t *in;
	uint32_t *out, expected[256] = { 0 }, k;

	(void)state;
	begin(&t, "histogram");
	in = buffer(&t, N);
	out = buffer(&t, sizeof(expected));
	value(&t, N);
	for (k = 0; k < N; k++) {
		in[k] = (uint8_t)(number(&t) % 200);
		expected[in[k]]++;
	}
	run(&t, 512, 128);
	assert_memory_equal(out, expected, sizeof(expected));
	end(&t);
}

static void computes_total(void **state)
{
	enum { N = 900 };
	struct test t;
	int *in, *out, all = 0, most = INT32_MIN, least = INT32_MAX, mixed = 0, k, sum = 0;

	(void)state;
	begin(&t, "total");
	in = buffer(&t, N * 4);
	out = buffer(&t, 16);
	t.argument[t.arguments++].local = 128 * 4;
	value(&t, N);
	out[1] = INT32_MIN;
	out[2] = INT32_MAX;
	for (k = 0; k < 1024; k++) {
		if (k < N) {
			in[k] = (int)number(&t) >> 8;
			sum += in[k];
		}
		if (k % 128 == 127) {
			all += sum;
			most = sum > most ? sum : most;
			least = sum < least ? sum : least;
			mixed ^= sum;
			sum = 0;
		}
	}
	run(&t, 1024, 128);
	assert_int_equal(out[0], all);
	assert_int_equal(out[1], most);
	assert_int_equal(out[2], least);
	assert_int_equal(out[3], mixed);
	end(&t);
}

static uint64_t wide(uint64_t a, uint64_t b)
{
	uint64_t r = a * b + (uint64_t)((unsigned __int128)a * b >> 64);

	r ^= a << (b & 63);
	r += a / (b | 1) + a % (b | 3);
	r -= (uint64_t)((int64_t)a >> (b & 31));
	r += (uint64_t)((int64_t)a / ((int64_t)b | 1));
	r += a < b ? (uint64_t)__builtin_popcountll(a) : b ? (uint64_t)__builtin_clzll(b) : 64;
	r ^= (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64);
	r += ((a & 0xffffffff) * (b & 0xffffffff) >> 32) ^
	     (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32);
	return r;
}

static void computes_wide(void **state)
{
	struct test t;
	uint64_t *d, *e, expected[256];
	int k;

	(void)state;
	begin(&t, "wide");
	d = buffer(&t, sizeof(expected));
	e = buffer(&t, sizeof(expected));
	for (k = 0; k < 256; k++) {
		d[k] = number(&t) >> (k % 3 * 20);
		e[k] = number(&t) >> (k % 7 * 9);
		expected[k] = wide(d[k], e[k]);
	}
	run(&t, 256, 64);
	for (k = 0; k < 256; k++)
		if (d[k] != expected[k])
			fail_msg("item %d: %llx, not %llx", k, (unsigned long long)d[k],
				 (unsigned long long)expected[k]);
	end(&t);
}

static void computes_doubles(void **state)
{
	struct test t;
	double *d, *e, expected[128];
	int64_t *n, whole[128];
	int k;

	(void)state;
	begin(&t, "doubles");
	d = buffer(&t, sizeof(expected));
	e = buffer(&t, sizeof(expected));
	n = buffer(&t, sizeof(expected));
	for (k = 0; k < 128; k++) {
		double x = (double)(int64_t)(number(&t) % 2000001) / 777 - 1000;
		double y = (double)(int64_t)(number(&t) % 3000001) / 555 - 2000;

		d[k] = x;
		e[k] = y;
		whole[k] = (int64_t)(x * y) + (int)x + (x < y) +
			   (y < 0	     ? 0 :
			    y > 4294967295.0 ? 4294967295u :
					       (uint32_t)y);
		expected[k] = fma(x, y, 1.0) / (x * x + 2.0) + sqrt(fabs(x)) + floor(y) +
			      (double)whole[k] + (double)(float)(x / y) + (double)(uint64_t)fabs(y);
	}
	run(&t, 128, 32);
	for (k = 0; k < 128; k++) {
		assert_int_equal(n[k], whole[k]);
		/* The compiler may fuse the last sums. */
		if (fabs(d[k] - expected[k]) > fabs(expected[k]) * 0x1p-50)
			fail_msg("item %d: %a, not %a", k, d[k], expected[k]);
	}
	end(&t);
}

static void computes_halves(void **state)
{
	struct test t;
	_Float16 *d, *e, expected[256], factor = (_Float16)1.7;
	uint16_t bits;
	int k;

	(void)state;
	begin(&t, "halves");
	d = buffer(&t, sizeof(expected));
	e = buffer(&t, sizeof(expected));
	memcpy(&bits, &factor, 2);
	value(&t, bits);
	for (k = 0; k < 256; k++) {
		_Float16 x = (_Float16)((float)(number(&t) % 4000) / 16 - 100);
		_Float16 y = (_Float16)((float)(number(&t) % 4000) / 64 - 30);
		_Float16 r = (_Float16)fma((double)x, (double)factor, (double)y);

		d[k] = x;
		e[k] = y;
		if (x > y)
			r = (_Float16)((float)(_Float16)((float)x * (float)y) - (float)factor);
		r = (_Float16)((float)r + (float)((int)x & 7));
		expected[k] = (_Float16)((float)(r < (_Float16)1000 ? r : (_Float16)1000) +
					 (float)(_Float16)((float)x * 0.125f));
	}
	run(&t, 256, 32);
	for (k = 0; k < 256; k++)
		if (d[k] != expected[k])
			fail_msg("item %d: %a, not %a", k, (double)d[k], (double)expected[k]);
	end(&t);
}

static void computes_private_array(void **state)
{
	struct test t;
	int *d, expected[256], k, n;

	(void)state;
	begin(&t, "private_array");
	d = buffer(&t, sizeof(expected));
	value(&t, 40);
	for (k = 0; k < 256; k++) {
		int a[48], s = 0;

		d[k] = (int)(number(&t) % 48);
		for (n = 0; n < 48; n++)
			a[(n * 5 + d[k]) % 48] = n * k ^ n;
		for (n = 0; n < 40; n++)
			s += a[n] * (n + 1);
		expected[k] = s;
	}
	run(&t, 256, 64);
	for (k = 0; k < 256; k++)
		assert_int_equal(d[k], expected[k]);
	end(&t);
}

static int clamped(int v, int low, int high)
{
	return v < low ? low : v > high ? high : v;
}

static void computes_narrow(void **state)
{
	static const int add[4] = { 200, 3, 100, 9 }, flip[4] = { 1, 0, 3, 2 };
	enum { N = 128 };
	struct test t;
	uint8_t *p, pe[N][4];
	int16_t *s, se[N][4];
	float *f, fe[N][4];
	int k, n;

	(void)state;
	begin(&t, "narrow");
	p = buffer(&t, sizeof(pe));
	s = buffer(&t, sizeof(se));
	f = buffer(&t, sizeof(fe));
	for (k = 0; k < N * 4; k++) {
		p[k] = (uint8_t)number(&t);
		s[k] = (int16_t)number(&t);
		f[k] = (float)(int)(number(&t) % 200000) / 2 - 50000;
		if (k % 3)
			f[k] = f[k] / 65536 * 3;
	}
	for (k = 0; k < N; k++) {
		const uint8_t *a = p + k * 4;
		const int16_t *b = s + k * 4;
		const float *c = f + k * 4;

		for (n = 0; n < 4; n++) {
			pe[k][n] = (uint8_t)(clamped(a[n] + add[n], 0, 255) - (a[n] >> 2) +
					     abs(a[n] - a[3 - n]));
			se[k][n] = (int16_t)(clamped(b[n] - clamped((int)c[n], -32768, 32767),
						     -32768, 32767) +
					     (int16_t)(b[0] * a[1]) +
					     ((b[n] + b[flip[n]]) >> 1) * a[n]);
			fe[k][n] = fmaf((float)b[n], 0.5f, (float)a[n]) +
				   fmaxf(-1, fminf(c[n], 1)) + rintf(c[n]) + truncf(c[n]) +
				   ceilf(c[n]) - floorf(c[n] * 0.3f);
		}
	}
	run(&t, N, 32);
	for (k = 0; k < N * 4; k++) {
		assert_int_equal(p[k], ((uint8_t *)pe)[k]);
		assert_int_equal(s[k], ((int16_t *)se)[k]);
		assert_true(fabsf(f[k] - ((float *)fe)[k]) <= fabsf(f[k]) * 0x1p-21f);
	}
	end(&t);
}

static double function(int n, float x)
{
	double d = (double)x, a = fabs(d);

	switch (n) {
	case 0:
		return sin(d);
	case 10:
		return cos(d);
	case 1:
		return exp(d);
	case 2:
		return log(a);
	case 3:
		return pow(a, (double)1.7f);
	case 4:
		return 1 / sqrt(a);
	case 5:
		return sqrt(a);
	case 6:
		return d / (d * d + 3);
	case 7:
		return tanh(d);
	case 8:
		return 1 / d;
	case 9:
		return d * d + (double)0.3f;
	default:
		return fmod(d, (double)1.3f);
	}
}

/* Units in the last place of a float near @exact, between both. */
static double ulps(double got, double exact)
{
	int exponent;

	frexp(exact, &exponent);
	return fabs(got - exact) / ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
}

/*
 * What OpenCL allows for functions that the compiler makes of several instructions, and what
 * Documentation/results/eu.md says of those that are one.
 */
static void computes_functions(void **state)
{
	static const double most[] = { 0.51, 3, 3, 0.51, 0.51, 0.51, 2.5, 5, 0.51, 0.51, 0.51, 0 };
	enum { N = 256 };
	struct test t;
	float *in, *out;
	int k, n;

	(void)state;
	begin(&t, "functions");
	in = buffer(&t, N * 4);
	out = buffer(&t, 12 * N * 4);
	value(&t, N);
	for (k = 0; k < N; k++)
		in[k] = (float)(number(&t) % 100003) / 5000 - 10.0001f;
	run(&t, N, 64);
	for (n = 0; n < 12; n++)
		for (k = 0; k < N; k++) {
			double exact = function(n, in[k]), got = (double)out[n * N + k];

			if (!(ulps(got, exact) <= most[n]))
				fail_msg("function %d of %a: %a, not %a", n, (double)in[k], got,
					 exact);
		}
	end(&t);
}

static uint32_t bits(uint32_t a, int b)
{
	int64_t product, sum;

	a = (a & 0xff00ff00u) | ((~a & 0x00ff00ffu) ^ (a ? (uint32_t)__builtin_clz(a) : 32) ^
				 (uint32_t)__builtin_popcount(a) << 8);
	a += (uint32_t)(b >> (a & 31)) + (a >> (b & 31)) +
	     (((uint32_t)b & ~0x0f0f0f0fu) | (a & 0x0f0f0f0f));
	a ^= (uint32_t)(b / 7) + (uint32_t)(b % 13) + a / ((uint32_t)b | 1) + a % 77;
	a += (uint32_t)((b > -5 ? b : -5) + (b < 9 ? b : 9)) + (a > (uint32_t)b ? 3 : 4) +
	     (uint32_t)(((uint64_t)a + (uint32_t)b + 1) >> 1);
	product = (int64_t)(int32_t)a * b + 5;
	product = product > INT32_MAX ? INT32_MAX : product < INT32_MIN ? INT32_MIN : product;
	sum = (int64_t)a + (uint32_t)b;
	return a + (uint32_t)product + (uint32_t)abs(b) +
	       (sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum);
}

static void computes_bits(void **state)
{
	struct test t;
	uint32_t *d, expected[256], k;
	int *e;

	(void)state;
	begin(&t, "bits");
	d = buffer(&t, sizeof(expected));
	e = buffer(&t, sizeof(expected));
	for (k = 0; k < 256; k++) {
		d[k] = (uint32_t)number(&t) >> k % 5;
		e[k] = (int)number(&t) >> k % 29;
		expected[k] = bits(d[k], e[k]);
	}
	run(&t, 256, 64);
	for (k = 0; k < 256; k++)
		assert_int_equal(d[k], expected[k]);
	end(&t);
}

static void computes_far_atomics(void **state)
{
	enum { N = 256 };
	struct test t;
	int *d, *c, k, sum = 0;
	int64_t *q, total = 0;

	(void)state;
	begin(&t, "far_atomics");
	d = buffer(&t, N * 4);
	q = buffer(&t, 8);
	c = buffer(&t, 64);
	for (k = 0; k < N; k++) {
		total += (int64_t)k << 20;
		sum += k;
	}
	run(&t, N, 64);
	assert_int_equal(*q, total);
	assert_int_equal(c[4], -1);
	assert_int_equal(c[5], -sum);
	assert_int_equal(c[6], N);
	for (k = 0; k < N; k++)
		assert_int_equal(d[k], 3);
	end(&t);
}

static void computes_copy3(void **state)
{
	static const uint32_t size[3] = { 20, 6, 4 }, local[3] = { 5, 3, 2 };
	struct test t;
	int *a, *b;
	uint32_t x, y, z, k = 0;

	(void)state;
	begin(&t, "copy3");
	a = buffer(&t, 480 * 4);
	b = buffer(&t, 480 * 4);
	for (k = 0; k < 480; k++)
		a[k] = (int)number(&t);
	run3(&t, size, local);
	k = 0;
	for (z = 0; z < 4; z++)
		for (y = 0; y < 6; y++)
			for (x = 0; x < 20; x++, k++)
				assert_int_equal(b[k],
						 a[k] + (int)(x % 5 + 10 * (y % 3) + 100 * (z % 2) +
							      1000 * (x / 5 + 10 * (y / 3) +
								      100 * (z / 2))));
	end(&t);
}

static void *image(struct test *t, uint32_t width, uint32_t height)
{
	struct argument *a = &t->argument[t->arguments];

	a->width = width;
	a->height = height;
	a->pitch = 256;
	a->format = 0; /* R32G32B32A32_FLOAT */
	return buffer(t, height * a->pitch);
}

/*
 * The judges' kernel: texels at their places, past the edges, from beyond the border and by
 * integers. Of small integers, no result is rounded.
 */
static void computes_image(void **state)
{
	enum { SIZE = 16, CHANNELS = 4 };
	float(*in)[SIZE][CHANNELS], (*out)[SIZE][CHANNELS];
	struct test t;
	int x, y, c;

	(void)state;
	begin_of(&t, judges, "image");
	in = image(&t, SIZE, SIZE);
	out = image(&t, SIZE, SIZE);
	for (y = 0; y < SIZE; y++)
		for (x = 0; x < SIZE; x++)
			for (c = 0; c < CHANNELS; c++)
				in[y][x][c] = (float)(int)(number(&t) % 1000 * 4);
	run3(&t, (uint32_t[]){ SIZE, SIZE, 1 }, (uint32_t[]){ SIZE, 4, 1 });
	for (y = 0; y < SIZE; y++)
		for (x = 0; x < SIZE; x++)
			for (c = 0; c < CHANNELS; c++) {
				int edge_x = clamped(x - 3, 0, SIZE - 1);
				int edge_y = clamped(y + 5, 0, SIZE - 1);
				float want = 2 * in[y][x][c] + in[edge_y][edge_x][c];

				if (x + 9 < SIZE && y + 9 < SIZE)
					want += in[y + 9][x + 9][c];
				assert_int_equal(bits_of(out[y][x][c]), bits_of(want / 4));
			}
	end(&t);
}

enum { EXACT = 8192 };

/* Whether any bits but those of a NaN differ; @bytes of each. */
static void check_exact(const void *got, const void *want, unsigned int bytes, const char *what)
{
	const uint8_t *p = got, *q = want;
	unsigned int n;

	for (n = 0; n < EXACT; n++, p += bytes, q += bytes) {
		double a, b;
		float c, d;

		memcpy(&c, p, sizeof(c));
		memcpy(&d, q, sizeof(d));
		if (bytes == sizeof(float)) {
			a = (double)c;
			b = (double)d;
		} else {
			memcpy(&a, p, sizeof(a));
			memcpy(&b, q, sizeof(b));
		}
		if (memcmp(p, q, bytes) && !(isnan(a) && isnan(b)))
			fail_msg("%s %u: %a, not %a", what, n, a, b);
	}
}

/* Operands, and where the kernel puts quotients and roots, @bytes each. */
struct exact {
	struct test t;
	void *a, *b, *quotient, *root;
};

static void exact_begin(struct exact *e, const char *name, unsigned int bytes)
{
	void **const buffers[] = { &e->a, &e->b, &e->quotient, &e->root };
	unsigned int n;

	begin_of(&e->t, exact, name);
	for (n = 0; n < 4; n++)
		*buffers[n] = buffer(&e->t, EXACT * bytes);
}

static void exact_end(struct exact *e, const void *quotients, const void *roots, unsigned int bytes)
{
	run(&e->t, EXACT, 32);
	check_exact(e->quotient, quotients, bytes, "quotient");
	check_exact(e->root, roots, bytes, "root");
	end(&e->t);
}

static void computes_exact_floats(void **state)
{
	static float quotients[EXACT], roots[EXACT];
	struct exact e;
	float *a, *b;
	unsigned int n;

	(void)state;
	exact_begin(&e, "exact_floats", sizeof(float));
	a = e.a;
	b = e.b;
	for (n = 0; n < EXACT; n++) {
		uint32_t v = (uint32_t)number(&e.t), w = (uint32_t)number(&e.t);

		memcpy(&a[n], &v, 4);
		memcpy(&b[n], &w, 4);
		quotients[n] = a[n] / b[n];
		roots[n] = sqrtf(a[n]);
	}
	exact_end(&e, quotients, roots, sizeof(float));
}

static void computes_exact_doubles(void **state)
{
	static double quotients[EXACT], roots[EXACT];
	struct exact e;
	double *a, *b;
	unsigned int n;

	(void)state;
	exact_begin(&e, "exact_doubles", sizeof(double));
	a = e.a;
	b = e.b;
	for (n = 0; n < EXACT; n++) {
		/* All exponents, denormals more often. */
		uint64_t mask = n % 8 ? UINT64_MAX : 0x800fffffffffffffull;
		uint64_t v = number(&e.t) & mask;
		uint64_t w = number(&e.t) & (n % 16 == 1 ? mask : UINT64_MAX);

		memcpy(&a[n], &v, 8);
		memcpy(&b[n], &w, 8);
		quotients[n] = a[n] / b[n];
		roots[n] = sqrt(a[n]);
	}
	exact_end(&e, quotients, roots, sizeof(double));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(computes_sum),		  cmocka_unit_test(computes_hash),
		cmocka_unit_test(computes_mads),	  cmocka_unit_test(computes_product),
		cmocka_unit_test(computes_paths),	  cmocka_unit_test(computes_histogram),
		cmocka_unit_test(computes_total),	  cmocka_unit_test(computes_wide),
		cmocka_unit_test(computes_doubles),	  cmocka_unit_test(computes_halves),
		cmocka_unit_test(computes_private_array), cmocka_unit_test(computes_narrow),
		cmocka_unit_test(computes_functions),	  cmocka_unit_test(computes_bits),
		cmocka_unit_test(computes_far_atomics),	  cmocka_unit_test(computes_copy3),
		cmocka_unit_test(computes_image),	  cmocka_unit_test(computes_exact_floats),
		cmocka_unit_test(computes_exact_doubles),
	};

	program = argc > 1 ? argv[1] : NULL;
	judges = argc > 2 ? argv[2] : NULL;
	exact = argc > 3 ? argv[3] : NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
