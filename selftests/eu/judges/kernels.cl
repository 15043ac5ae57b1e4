// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels of opencl_run.c. Each is deterministic: its result does not depend on the order of work
 * items. Where a result is floating point, it has one rounding for each operation, or opencl_run.c
 * says how many ulps it may differ.
 */
#pragma OPENCL FP_CONTRACT OFF

__kernel void vadd(__global const float *a, __global const float *b, __global float *c, uint n)
{
	uint i = get_global_id(0);

	if (i < n)
		c[i] = a[i] + b[i];
}

#define TILE 16
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(__global const float *a, __global const float *b, __global float *c, uint n)
{
	__local float left[TILE][TILE], right[TILE][TILE];
	uint lx = get_local_id(0), ly = get_local_id(1);
	uint x = get_global_id(0), y = get_global_id(1);
	float sum = 0;

	for (uint t = 0; t < n; t += TILE) {
		left[ly][lx] = a[y * n + t + lx];
		right[ly][lx] = b[(t + ly) * n + x];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (uint k = 0; k < TILE; k++)
			sum += left[ly][k] * right[k][lx];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	c[y * n + x] = sum;
}

__kernel void reduce(__global const uint *in, __global const uint *unused, __global uint *out,
		     uint n)
{
	__local uint sums[128];
	uint l = get_local_id(0), g = get_global_id(0);

	sums[l] = g < n ? in[g] : 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint k = get_local_size(0) / 2; k > 0; k >>= 1) {
		if (l < k)
			sums[l] += sums[l + k];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (l == 0)
		atomic_add(&out[g / 1024], sums[0]);
}

__kernel void hist(__global const uchar *in, __global const uint *unused, __global uint *out,
		   uint n)
{
	__local uint bins[256];
	uint l = get_local_id(0);

	for (uint i = l; i < 256; i += get_local_size(0))
		bins[i] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint i = get_global_id(0); i < 4 * n; i += get_global_size(0))
		atomic_inc(&bins[in[i]]);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint i = l; i < 256; i += get_local_size(0))
		atomic_add(&out[i], bins[i]);
}

__kernel void hash_rounds(__global const uint *in, __global const uint *unused, __global uint *out,
		  uint n)
{
	uint i = get_global_id(0), h = in[i] ^ (i * 0x9e3779b9u);

	for (uint r = 0; r < 64; r++) {
		h ^= h >> 16;
		h *= 0x7feb352du;
		h ^= h >> 15;
		h *= 0x846ca68bu;
		h ^= h >> 16;
		h = rotate(h, 5u) + r;
	}
	out[i] = h;
}

/* Loops with continue and break, and a switch, all divergent. */
__kernel void diverge(__global const uint *in, __global const uint *unused, __global uint *out,
		      uint n)
{
	uint i = get_global_id(0), v = in[i] & 0xffff, c = 0;

	while (v > 1 && c < 200) {
		c++;
		if (v & 1) {
			v = 3 * v + 1;
			if ((c & 7) == 5)
				continue;
			c ^= v & 0xff;
		} else {
			v >>= 1;
		}
		if (v > 0x7fffff)
			break;
	}
	switch (i & 3) {
	case 0:
		c += v;
		break;
	case 1:
		c *= 3;
		break;
	case 2:
		c = ~c;
		break;
	default:
		for (uint k = 0; k < (i & 15); k++)
			c += in[k] ^ k;
	}
	out[i] = c;
}

__kernel void long_integers(__global const ulong *in, __global const uint *unused,
			    __global ulong *out, uint n)
{
	uint i = get_global_id(0) / 2;
	ulong a = in[i], b = in[(i * 7 + 3) % (n / 2)], r = a * b + mul_hi(a, b);

	r ^= a << (b & 63);
	r += a / (b | 1);
	r -= (ulong)((long)a >> 3);
	r += a % (b >> 40 | 1);
	r += a < b ? 3 : 5;
	out[i] = r;
}

__kernel void long_bits(__global const ulong *in, __global const uint *unused,
			__global ulong *out, uint n)
{
	uint i = get_global_id(0) / 2;

	out[i] = popcount(in[i]) << 8 | clz(in[i] >> (i & 63));
}

__kernel void vectors(__global const float4 *in, __global const uchar4 *bytes,
		      __global float4 *out, uint n)
{
	uint i = get_global_id(0) / 4;
	float4 f = in[i];
	uchar4 q = bytes[i];
	short4 s = convert_short4_sat(f * 1000.0f);

	out[i] = convert_float4(add_sat(q, (uchar4)9)) + convert_float4(s) + f.wzyx +
		 (float4)(mad24((int)q.x, 3, (int)s.y), abs_diff(q.z, q.y), hadd(q.x, q.w),
			  rhadd(s.x, s.y));
}

/* An array that is indexed by data is in scratch memory. */
__kernel void private_array(__global const uint *in, __global const uint *unused,
			    __global uint *out, uint n)
{
	uint array[64], g = get_global_id(0), sum = 0;

	for (uint i = 0; i < 64; i++)
		array[(i * 5 + in[g]) & 63] = i ^ g;
	for (uint i = 0; i < (in[g] >> 8 & 63); i++)
		sum += array[i] * i;
	out[g] = sum;
}

__kernel void transcendental(__global const float *in, __global const uint *unused,
			     __global float *out, uint n)
{
	uint i = get_global_id(0);
	float x = in[i];

	switch (i & 7) {
	case 0:
		out[i] = sin(x);
		break;
	case 1:
		out[i] = exp(x);
		break;
	case 2:
		out[i] = log(fabs(x) + 1.0f);
		break;
	case 3:
		out[i] = pow(fabs(x), 1.7f);
		break;
	case 4:
		out[i] = rsqrt(x * x + 1.0f);
		break;
	case 5:
		out[i] = tanh(x);
		break;
	case 6:
		out[i] = sqrt(fabs(x)) / (x + 3.0f);
		break;
	default:
		out[i] = atan2(x, 0.5f) + floor(x);
	}
}

__kernel void sort_step(__global uint *data, uint j, uint k)
{
	uint i = get_global_id(0), x = i ^ j;

	if (x > i) {
		uint a = data[i], b = data[x];
		bool up = (i & k) == 0;

		if ((a > b) == up) {
			data[i] = b;
			data[x] = a;
		}
	}
}

/* Each work item adds to every cell, so that cells are shared by all groups. */
__kernel void atomics(__global const uint *in, __global const uint *unused,
		      volatile __global uint *out, uint n)
{
	uint i = get_global_id(0), v = in[i];

	atomic_add(&out[0], v);
	atomic_max(&out[1], v);
	atomic_min(&out[2], ~v);
	atomic_or(&out[3], 1u << (v & 31));
	atomic_xor(&out[4], v);
	atomic_inc(&out[5]);
	atomic_dec(&out[6]);
	atomic_and(&out[7], v | 0xffff);
	atomic_cmpxchg(&out[8 + i % 64], i % 64, v & 0xff00);
}

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void doubles(__global const uint *in, __global const uint *unused, __global double *out,
		      uint n)
{
	uint i = get_global_id(0) / 2;
	double x = (double)in[i] / 65536.0 - 20000.0, y = (double)(in[i + 1] & 0xffff) + 0.5;

	out[i] = fma(x, y, 1.0) / (x * x + 2.0) + sqrt(fabs(x)) + (double)(long)x;
}
#endif

__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |
			       CLK_FILTER_NEAREST;
__constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP |
			      CLK_FILTER_NEAREST;
__constant sampler_t bilinear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT |
				CLK_FILTER_LINEAR;

__kernel void image(read_only image2d_t from, write_only image2d_t to)
{
	int2 p = (int2)(get_global_id(0), get_global_id(1));
	float4 v = read_imagef(from, nearest, p) + read_imagef(from, nearest, p + (int2)(-3, 5)) +
		   read_imagef(from, border, p + (int2)(9, 9)) + read_imagef(from, p);

	write_imagef(to, p, v * 0.25f);
}

__kernel void image_linear(read_only image2d_t from, write_only image2d_t to)
{
	int2 p = (int2)(get_global_id(0), get_global_id(1));

	write_imagef(to, p, read_imagef(from, bilinear,
					(convert_float2(p) * 1.7f + 0.3f) /
						convert_float2(get_image_dim(from))));
}
