// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels of compute.c: what papers on shared GPUs measure. Arguments: two inputs, a result, and
 * how large the problem is. compute.c has each of them a second time, for the CPU.
 */
#pragma OPENCL FP_CONTRACT OFF

#define GROUP 64
#define TILE 16

__kernel void nothing(__global const float *a, __global const float *b, __global float *c, uint n)
{
}

__kernel void triad(__global const float *a, __global const float *b, __global float *c, uint n)
{
	uint i = get_global_id(0);

	c[i] = a[i] + 3.0f * b[i];
}

__kernel void reduce(__global const uint *a, __global const uint *b, __global uint *c, uint n)
{
	__local uint sums[GROUP];
	uint l = get_local_id(0);

	sums[l] = a[get_global_id(0)];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint k = GROUP / 2; k; k >>= 1) {
		if (l < k)
			sums[l] += sums[l + k];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (!l)
		c[get_group_id(0)] = sums[0];
}

__kernel void histogram(__global const uint *a, __global const uint *b, __global uint *c, uint n)
{
	__local uint bins[256];
	uint l = get_local_id(0);

	for (uint i = l; i < 256; i += GROUP)
		bins[i] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint i = 0; i < 16; i++)
		atomic_inc(&bins[a[get_group_id(0) * GROUP * 16 + i * GROUP + l] & 255]);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint i = l; i < 256; i += GROUP)
		c[get_group_id(0) * 256 + i] = bins[i];
}

__kernel void matmul(__global const float *a, __global const float *b, __global float *c, uint n)
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

/* One bit of a key: each work item counts the zeros before its own key, and puts the key there. */
__kernel void radix_step(__global const uint *a, __global const uint *b, __global uint *c, uint bit)
{
	__local uint zeros[GROUP];
	uint l = get_local_id(0), g = get_group_id(0) * GROUP, key = a[g + l];
	uint zero = ~key >> bit & 1, before;

	zeros[l] = zero;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint k = 1; k < GROUP; k *= 2) {
		uint left = l >= k ? zeros[l - k] : 0;

		barrier(CLK_LOCAL_MEM_FENCE);
		zeros[l] += left;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	before = zeros[l] - zero;
	c[g + (zero ? before : zeros[GROUP - 1] + l - before)] = key;
}

/* The cumulative normal distribution, by Abramowitz and Stegun's formula 26.2.17. */
static float normal(float d)
{
	float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
	float sum = k * (0.31938153f +
			 k * (-0.356563782f +
			      k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
	float tail = 0.39894228f * exp(-0.5f * d * d) * sum;

	return d > 0 ? 1.0f - tail : tail;
}

#define RATE 0.02f
#define VOLATILITY 0.3f

__kernel void black_scholes(__global const float *a, __global const float *b, __global float *c,
			    uint n)
{
	uint i = get_global_id(0);
	float price = a[i], years = b[i], strike = 50.0f, root = sqrt(years);
	float d1 = (log(price / strike) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * years) /
		   (VOLATILITY * root);

	c[i] = price * normal(d1) -
	       strike * exp(-RATE * years) * normal(d1 - VOLATILITY * root);
}

#define STEPS 32

/* One option for each work item, in private memory. */
__kernel void binomial(__global const float *a, __global const float *b, __global float *c, uint n)
{
	uint i = get_global_id(0);
	float step = b[i] / STEPS, up = exp(VOLATILITY * sqrt(step)), down = 1.0f / up;
	float grow = exp(RATE * step), p = (grow - down) / (up - down);
	float value[STEPS + 1], price = a[i] * exp(-VOLATILITY * sqrt(step) * STEPS);

	for (uint k = 0; k <= STEPS; k++, price *= up * up)
		value[k] = fmax(price - 50.0f, 0.0f);
	for (uint t = STEPS; t; t--)
		for (uint k = 0; k < t; k++)
			value[k] = (p * value[k + 1] + (1.0f - p) * value[k]) / grow;
	c[i] = value[0];
}

#define WIDTH 64
#define DISPARITIES 8

/* Sums of absolute differences over 5 pixels. */
__kernel void stereo(__global const uint *a, __global const uint *b, __global uint *c, uint n)
{
	uint i = get_global_id(0), x = i % WIDTH, y = i / WIDTH, best = ~0u, found = 0;

	for (uint d = 0; d < DISPARITIES; d++) {
		uint sum = 0;

		for (uint k = 0; k < 5; k++) {
			uint left = (x + k) % WIDTH, right = (x + k + d) % WIDTH;

			sum += abs_diff(a[y * WIDTH + left] & 255, b[y * WIDTH + right] & 255);
		}
		if (sum < best) {
			best = sum;
			found = d;
		}
	}
	c[i] = found;
}

__kernel void nbody(__global const float4 *a, __global const float4 *b, __global float4 *c, uint n)
{
	uint i = get_global_id(0);
	float4 own = a[i], pull = 0;

	for (uint k = 0; k < n; k++) {
		float4 way = a[k] - own;
		float far = way.x * way.x + way.y * way.y + way.z * way.z + 0.5f;
		float near = rsqrt(far);

		pull += way * (near * near * near);
	}
	c[i] = pull;
}
