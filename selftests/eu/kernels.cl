// SPDX-License-Identifier: GPL-2.0-only
// Kernels for kernels_test.c, which has each of them in C, too.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

kernel void sum(global const float *a, global const float *b, global float *c, uint n)
{
	uint i = get_global_id(0);

	if (i < n)
		c[i] = a[i] + b[i];
}

// Integer loop of the benchmark.
kernel void hash(global uint *d, uint rounds)
{
	uint i = get_global_id(0), h = d[i] + i * 2654435761u;

	for (uint r = 0; r < rounds; r++) {
		h ^= h >> 15;
		h *= 0x2c1b3c6du;
		h ^= h << 7;
		h += rotate(h, 11u) ^ r;
	}
	d[i] = h;
}

// Multiply-add of the benchmark.
kernel void mads(global float *d, float a, uint rounds)
{
	uint i = get_global_id(0);
	float x = d[i], y = x + 1, z = x + 2, w = x + 3;

	for (uint r = 0; r < rounds; r++) {
		x = mad(x, a, y);
		y = mad(y, a, z);
		z = mad(z, a, w);
		w = mad(w, a, x);
		x = mad(x, a, z);
		y = mad(y, a, w);
		z = mad(z, a, x);
		w = mad(w, a, y);
	}
	d[i] = x + y + z + w;
}

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
product(global const float *a, global const float *b, global float *c, int n)
{
	local float p[16][16], q[16][16];
	int lx = get_local_id(0), ly = get_local_id(1);
	int x = get_global_id(0), y = get_global_id(1);
	float s = 0;

	for (int t = 0; t < n; t += 16) {
		p[ly][lx] = a[y * n + t + lx];
		q[ly][lx] = b[(t + ly) * n + x];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k = 0; k < 16; k++)
			s = mad(p[ly][k], q[k][lx], s);
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	c[y * n + x] = s;
}

// Loops of different lengths for each lane, with break, continue and switch.
kernel void paths(global int *d, int limit)
{
	int i = get_global_id(0), v = d[i], steps = 0, odd = 0;

	while (v != 1 && steps < limit) {
		steps++;
		if (v & 1) {
			v = 3 * v + 1;
			if (odd++ % 5 == 3)
				continue;
			if (v < 0)
				break;
		} else {
			v >>= 1;
		}
		for (int k = 0; k < (v & 3); k++)
			odd ^= k << 3;
	}
	switch (i % 5) {
	case 0:
		odd += v;
		break;
	case 1:
		odd = ~odd;
		// fall through
	case 2:
		odd *= 7;
		break;
	default:
		for (int k = 0; k < (i & 7); k++) {
			if (k == (v & 7))
				break;
			odd -= k * steps;
		}
	}
	d[i] = steps * 1000 + odd;
}

kernel void histogram(global const uchar *in, global uint *out, uint n)
{
	local uint h[256];

	for (uint k = get_local_id(0); k < 256; k += get_local_size(0))
		h[k] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint k = get_global_id(0); k < n; k += get_global_size(0))
		atomic_inc(&h[in[k]]);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint k = get_local_id(0); k < 256; k += get_local_size(0))
		atomic_add(&out[k], h[k]);
}

kernel void total(global const int *in, global int *out, local int *s, uint n)
{
	uint l = get_local_id(0), g = get_global_id(0);

	s[l] = g < n ? in[g] : 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint k = get_local_size(0) / 2; k > 0; k >>= 1) {
		if (l < k)
			s[l] += s[l + k];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (l == 0) {
		atomic_add(&out[0], s[0]);
		atomic_max(&out[1], s[0]);
		atomic_min(&out[2], s[0]);
		atomic_xor(&out[3], s[0]);
	}
}

kernel void wide(global ulong *d, global const ulong *e)
{
	size_t i = get_global_id(0);
	ulong a = d[i], b = e[i], r = a * b + mul_hi(a, b);

	r ^= a << (b & 63);
	r += a / (b | 1) + a % (b | 3);
	r -= (long)a >> (b & 31);
	r += (long)a / ((long)b | 1);
	r += a < b ? popcount(a) : clz(b);
	r ^= (ulong)mul_hi((long)a, (long)b);
	r += mul_hi((uint)a, (uint)b) ^ (uint)mul_hi((int)a, (int)b);
	d[i] = r;
}

kernel void doubles(global double *d, global const double *e, global long *n)
{
	size_t i = get_global_id(0);
	double x = d[i], y = e[i];

	n[i] = convert_long(x * y) + convert_int_rtz(x) + (x < y) + convert_uint_sat(y);
	d[i] = fma(x, y, 1.0) / (x * x + 2.0) + sqrt(fabs(x)) + floor(y) + (double)n[i] +
	       (double)(float)(x / y) + convert_double(convert_ulong(fabs(y)));
}

kernel void halves(global half *d, global const half *e, half k)
{
	size_t i = get_global_id(0);
	half x = d[i], y = e[i], r = fma(x, k, y);

	if (x > y)
		r = x * y - k;
	r += convert_half(convert_int(x) & 7);
	d[i] = fmin(r, (half)1000) + (half)((float)x * 0.125f);
}

kernel void private_array(global int *d, int n)
{
	int a[48], i = get_global_id(0), s = 0;

	for (int k = 0; k < 48; k++)
		a[(k * 5 + d[i]) % 48] = k * i ^ k;
	for (int k = 0; k < n; k++)
		s += a[k] * (k + 1);
	d[i] = s;
}

kernel void narrow(global uchar4 *p, global short4 *s, global float4 *f)
{
	size_t i = get_global_id(0);
	uchar4 a = p[i];
	short4 b = s[i];
	float4 c = f[i];

	p[i] = add_sat(a, (uchar4)(200, 3, 100, 9)) - (a >> (uchar4)2) + abs_diff(a, a.wzyx);
	s[i] = sub_sat(b, convert_short4_sat(c)) + (short4)(mul24((int)b.x, (int)a.y)) +
	       hadd(b, b.yxwz) * convert_short4(a);
	f[i] = convert_float4(b) * 0.5f + convert_float4(a) + clamp(c, -1.0f, 1.0f) + rint(c) +
	       trunc(c) + ceil(c) - floor(c * 0.3f);
}

kernel void functions(global const float *in, global float *out, uint n)
{
	uint i = get_global_id(0);
	float x = in[i];

	out[i] = native_sin(x);
	out[n + i] = exp(x);
	out[2 * n + i] = log(fabs(x));
	out[3 * n + i] = native_powr(fabs(x), 1.7f);
	out[4 * n + i] = rsqrt(fabs(x));
	out[5 * n + i] = sqrt(fabs(x));
	out[6 * n + i] = x / (x * x + 3.0f);
	out[7 * n + i] = tanh(x);
	out[8 * n + i] = native_recip(x);
	out[9 * n + i] = fma(x, x, 0.3f);
	out[10 * n + i] = native_cos(x);
	out[11 * n + i] = fmod(x, 1.3f);
}

kernel void bits(global uint *d, global const int *e)
{
	uint i = get_global_id(0), a = d[i];
	int b = e[i];

	a = (a & 0xff00ff00u) | (~a & 0x00ff00ffu) ^ clz(a) ^ (popcount(a) << 8);
	a += (uint)(b >> (a & 31)) + (a >> (b & 31)) + (uint)bitselect(b, (int)a, 0x0f0f0f0f);
	a ^= (uint)(b / 7) + (uint)(b % 13) + a / ((uint)b | 1) + a % 77;
	a += (uint)(max(b, -5) + min(b, 9)) + (a > (uint)b ? 3u : 4u) + rhadd(a, (uint)b);
	d[i] = a + mad_sat((int)a, b, 5) + (uint)abs(b) + add_sat(a, (uint)b);
}

kernel void far_atomics(global int *d, global long *q, volatile global int *c)
{
	int i = get_global_id(0);
	int old = atomic_cmpxchg(&c[i & 3], i & 7, i);

	atom_add(q, (long)i << 20);
	atomic_or(&c[4], 1 << (i & 31));
	atomic_sub(&c[5], i);
	d[i] = (int)(atomic_inc(&c[6]) >= 0) + (old >= 0 ? 2 : 4);
}

kernel void copy3(global const int *a, global int *b)
{
	size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
	size_t i = (z * get_global_size(1) + y) * get_global_size(0) + x;

	b[i] = a[i] + (int)(get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2)) +
	       1000 * (int)(get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2));
}
