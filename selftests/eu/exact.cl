// SPDX-License-Identifier: GPL-2.0-only
// Quotients and square roots that must be IEEE's, bit by bit: compiled with
// -cl-fp32-correctly-rounded-divide-sqrt.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void exact_floats(global const float *a, global const float *b, global float *quotient,
			 global float *root)
{
	int i = get_global_id(0);

	quotient[i] = a[i] / b[i];
	root[i] = sqrt(a[i]);
}

kernel void exact_doubles(global const double *a, global const double *b, global double *quotient,
			  global double *root)
{
	int i = get_global_id(0);

	quotient[i] = a[i] / b[i];
	root[i] = sqrt(a[i]);
}
