// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times kernels of compute.cl on an OpenCL device: launches without work, transfers, and what
 * papers on shared GPUs measure. Prints a line of JSON for each kernel and size. What the device
 * computes is compared with what the CPU does before anything is timed.
 */
#include <argp.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"
#include "opencl_program.h"
#include "options.h"

#define GROUP 64u
#define TILE 16u
#define BINS 256u
#define STEPS 32
#define WIDTH 64u
#define DISPARITIES 8u
#define RATE 0.02f
#define VOLATILITY 0.3f
#define STRIKE 50.0f
#define KEY_BITS 8u
#define TIMES_MAX 100000u
#define SIZES 2
#define EXIT_WRONG 1
#define EXIT_NO_DEVICE 2
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/*
 * @name: of the kernel, too
 * @level: 0 of the device, 1 of algorithms, 2 of applications
 * @run: once, to the end
 * @compute: what the CPU makes of the inputs; NULL: nothing to compare
 * @floats: results are floating point and may differ by a part in a thousand
 * @n: the size, for the kernel; SIZES of them
 */
struct work {
	const char *name;
	unsigned int level;
	int (*run)(void);
	void (*compute)(void);
	bool floats;
	uint32_t n[SIZES];
};

static struct opencl_program program;
static cl_kernel kernel;
static cl_mem mem[3]; /* two inputs, the result */
static void *host[3]; /* the inputs, what the CPU computed */
static void *got;
static size_t in_bytes, out_bytes, global[2], local[2];
static uint32_t size; /* of the problem */
static unsigned int milliseconds = 300;
static bool wait_for_line, step;
static const char *platform, *source;
static char *wanted;

static int check(cl_int status, const char *what)
{
	if (status != CL_SUCCESS)
		fprintf(stderr, "%s: OpenCL error %d\n", what, status);
	return status == CL_SUCCESS ? 0 : -1;
}

/* ---- on the CPU ---- */

static float *floats(unsigned int which)
{
	return host[which];
}

static uint32_t *numbers(unsigned int which)
{
	return host[which];
}

static void compute_triad(void)
{
	for (uint32_t i = 0; i < size; i++)
		floats(2)[i] = floats(0)[i] + 3.0f * floats(1)[i];
}

static void compute_reduce(void)
{
	for (uint32_t i = 0; i < size; i++)
		numbers(2)[i / GROUP] += numbers(0)[i];
}

static void compute_histogram(void)
{
	for (uint32_t i = 0; i < size; i++)
		numbers(2)[i / (GROUP * 16) * BINS + (numbers(0)[i] & 255)]++;
}

static void compute_matmul(void)
{
	for (uint32_t y = 0; y < size; y++)
		for (uint32_t x = 0; x < size; x++)
			for (uint32_t k = 0; k < size; k++)
				floats(2)[y * size + x] +=
					floats(0)[y * size + k] * floats(1)[k * size + x];
}

static int compare_keys(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Keys have KEY_BITS bits: the order of equal ones cannot be seen. */
static void compute_radix(void)
{
	memcpy(host[2], host[0], in_bytes);
	for (uint32_t g = 0; g < size; g += GROUP)
		qsort(numbers(2) + g, GROUP, sizeof(uint32_t), compare_keys);
}

static float normal(float d)
{
	return 0.5f * erfcf(-d * 0.70710678f);
}

static void compute_black_scholes(void)
{
	for (uint32_t i = 0; i < size; i++) {
		float price = floats(0)[i], years = floats(1)[i], root = sqrtf(years);
		float d1 =
			(logf(price / STRIKE) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * years) /
			(VOLATILITY * root);

		floats(2)[i] = price * normal(d1) -
			       STRIKE * expf(-RATE * years) * normal(d1 - VOLATILITY * root);
	}
}

static void compute_binomial(void)
{
	double value[STEPS + 1];

	for (uint32_t i = 0; i < size; i++) {
		double step = floats(1)[i] / STEPS, up = exp(VOLATILITY * sqrt(step));
		double grow = exp(RATE * step), p = (grow - 1 / up) / (up - 1 / up);

		for (int k = 0; k <= STEPS; k++)
			value[k] = fmax(floats(0)[i] * pow(up, 2 * k - STEPS) - STRIKE, 0);
		for (int t = STEPS; t; t--)
			for (int k = 0; k < t; k++)
				value[k] = (p * value[k + 1] + (1 - p) * value[k]) / grow;
		floats(2)[i] = value[0];
	}
}

static void compute_stereo(void)
{
	for (uint32_t i = 0; i < size; i++) {
		const uint32_t *left = numbers(0) + i / WIDTH * WIDTH;
		const uint32_t *right = numbers(1) + i / WIDTH * WIDTH;
		uint32_t x = i % WIDTH, best = UINT32_MAX;

		for (uint32_t d = 0; d < DISPARITIES; d++) {
			uint32_t sum = 0;

			for (uint32_t k = 0; k < 5; k++)
				sum += abs((int)(left[(x + k) % WIDTH] & 255) -
					   (int)(right[(x + k + d) % WIDTH] & 255));
			if (sum < best) {
				best = sum;
				numbers(2)[i] = d;
			}
		}
	}
}

static void compute_nbody(void)
{
	const float *at = floats(0);

	for (uint32_t i = 0; i < size; i++)
		for (uint32_t k = 0; k < size; k++) {
			double far = 0.5, near;

			for (int d = 0; d < 3; d++)
				far += pow(at[4 * k + d] - at[4 * i + d], 2);
			near = 1 / sqrt(far);
			for (int d = 0; d < 4; d++)
				floats(2)[4 * i + d] +=
					(at[4 * k + d] - at[4 * i + d]) * near * near * near;
		}
}

/* ---- on the device ---- */

static int launch(void)
{
	return check(clEnqueueNDRangeKernel(program.queue, kernel, global[1] ? 2 : 1, NULL, global,
					    local, 0, NULL, NULL),
		     "launch");
}

static int run_kernel(void)
{
	return launch() || check(clFinish(program.queue), "finish");
}

static int run_radix(void)
{
	for (cl_uint bit = 0; bit < KEY_BITS; bit++) {
		clSetKernelArg(kernel, 0, sizeof(mem[0]), &mem[bit ? 1 + (bit - 1) % 2 : 0]);
		clSetKernelArg(kernel, 2, sizeof(mem[0]), &mem[1 + bit % 2]);
		clSetKernelArg(kernel, 3, sizeof(bit), &bit);
		if (launch())
			return -1;
	}
	return check(clFinish(program.queue), "finish");
}

static int run_write(void)
{
	return check(clEnqueueWriteBuffer(program.queue, mem[0], CL_TRUE, 0, in_bytes, host[0], 0,
					  NULL, NULL),
		     "write");
}

static int run_read(void)
{
	return check(clEnqueueReadBuffer(program.queue, mem[0], CL_TRUE, 0, in_bytes, got, 0, NULL,
					 NULL),
		     "read");
}

static const struct work works[] = {
	{ "nothing", 0, run_kernel, NULL, false, { GROUP } },
	{ "write", 0, run_write, NULL, false, { 16384, 262144 } },
	{ "read", 0, run_read, NULL, false, { 16384, 262144 } },
	{ "triad", 1, run_kernel, compute_triad, true, { 16384, 65536 } },
	{ "reduce", 1, run_kernel, compute_reduce, false, { 16384, 65536 } },
	{ "histogram", 1, run_kernel, compute_histogram, false, { 16384, 65536 } },
	{ "matmul", 1, run_kernel, compute_matmul, true, { 32, 64 } },
	{ "radix_step", 1, run_radix, compute_radix, false, { 2048, 8192 } },
	{ "black_scholes", 2, run_kernel, compute_black_scholes, true, { 4096, 16384 } },
	{ "binomial", 2, run_kernel, compute_binomial, true, { 128, 512 } },
	{ "stereo", 2, run_kernel, compute_stereo, false, { 4096, 16384 } },
	{ "nbody", 2, run_kernel, compute_nbody, true, { 128, 256 } },
};

/* ---- one after the other ---- */

static void make_inputs(const struct work *work)
{
	uint32_t random = 12345;

	for (unsigned int which = 0; which < 2; which++)
		for (size_t i = 0; i < in_bytes / 4; i++) {
			random = random * 1664525u + 1013904223u;
			if (!work->floats)
				numbers(which)[i] = random >> (32 - KEY_BITS);
			else /* prices around the strike, and years */
				floats(which)[i] =
					(which ? 0.5f : 30) +
					(which ? 4 : 40) * (float)(random >> 8) / (1 << 24);
		}
}

static int is_right(const struct work *work)
{
	if (!work->compute)
		return 1;
	memset(host[2], 0, out_bytes);
	work->compute();
	if (check(clEnqueueReadBuffer(program.queue, mem[2], CL_TRUE, 0, out_bytes, got, 0, NULL,
				      NULL),
		  "read"))
		return 0;
	for (size_t i = 0; i < out_bytes / 4; i++) {
		float is = ((float *)got)[i], should = floats(2)[i];

		if (work->floats ? fabsf(is - should) > 1e-3f * (1 + fabsf(should)) || isnan(is) :
				   ((uint32_t *)got)[i] != numbers(2)[i]) {
			fprintf(stderr, "%s: wrong at %zu: %g, not %g\n", work->name, i,
				work->floats ? is : ((uint32_t *)got)[i],
				work->floats ? should : numbers(2)[i]);
			return 0;
		}
	}
	return 1;
}

static bool is_kernel(const struct work *work)
{
	return work->run == run_kernel || work->run == run_radix;
}

static void choose_sizes(const struct work *work, unsigned int which)
{
	const bool matrix = work->compute == compute_matmul,
		   bodies = work->compute == compute_nbody;

	size = work->n[which];
	in_bytes = sizeof(float) * size * (matrix ? size : bodies ? 4 : 1);
	out_bytes = in_bytes;
	if (work->compute == compute_reduce)
		out_bytes = in_bytes / GROUP;
	if (work->compute == compute_histogram)
		out_bytes = in_bytes / (GROUP * 16) * BINS;
	global[0] = work->compute == compute_histogram ? size / 16 : size;
	global[1] = matrix ? size : 0;
	local[0] = matrix ? TILE : GROUP;
	local[1] = matrix ? TILE : 0;
}

static int begin(const struct work *work)
{
	cl_int status = CL_SUCCESS;

	for (unsigned int i = 0; i < 3; i++)
		host[i] = calloc(1, in_bytes);
	got = calloc(1, in_bytes);
	make_inputs(work);
	for (unsigned int i = 0; i < 3 && status == CL_SUCCESS; i++)
		mem[i] = clCreateBuffer(program.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
					i == 2 ? out_bytes : in_bytes, host[i], &status);
	if (check(status, "buffers") || !is_kernel(work))
		return status == CL_SUCCESS ? 0 : -1;
	kernel = clCreateKernel(program.program, work->name, &status);
	if (check(status, work->name))
		return -1;
	for (cl_uint i = 0; i < 3; i++)
		clSetKernelArg(kernel, i, sizeof(mem[i]), &mem[i]);
	clSetKernelArg(kernel, 3, sizeof(size), &size);
	return 0;
}

static void end(const struct work *work)
{
	if (is_kernel(work))
		clReleaseKernel(kernel);
	for (unsigned int i = 0; i < 3; i++) {
		clReleaseMemObject(mem[i]);
		free(host[i]);
	}
	free(got);
}

static int compare_times(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static int measure(const struct work *work)
{
	static double times[TIMES_MAX];
	double started = now_s(), now = started;
	unsigned int count = 0;

	while (count < TIMES_MAX && (count < 3 || now - started < milliseconds / 1e3)) {
		const double before = now;

		if (work->run())
			return -1;
		now = now_s();
		times[count++] = now - before;
	}
	qsort(times, count, sizeof(times[0]), compare_times);
	printf("{\"kernel\": \"%s\", \"level\": %u, \"size\": %u, \"runs\": %u, \"seconds\": %.6f, "
	       "\"us\": %.1f, \"p99_us\": %.1f}\n",
	       work->name, work->level, size, count, now - started, times[count / 2] * 1e6,
	       times[count - 1 - count / 100] * 1e6);
	fflush(stdout);
	return 0;
}

static int wait_after(const char *state)
{
	char line[16];

	printf("%s\n", state);
	fflush(stdout);
	return !fgets(line, sizeof(line), stdin);
}

static int run(const struct work *work, unsigned int which)
{
	int err;

	choose_sizes(work, which);
	err = begin(work);
	if (!err)
		err = work->run() || !is_right(work);
	if (!err && wait_for_line)
		err = wait_after("ready");
	wait_for_line = step;
	if (!err)
		err = measure(work);
	if (!err && step)
		err = wait_after("done");
	end(work);
	return err;
}

/* ---- options ---- */

static const struct argp_option options[] = {
	{ "kernels", 'k', "NAME,...", 0, "Only these (default all)", 0 },
	{ "milliseconds", 'm', "N", 0, "Repeat for this time, and thrice at least (default 300)",
	  0 },
	{ "wait", 'w', NULL, 0, "Print \"ready\" and wait for a line on stdin before timing", 0 },
	{ "step", 's', NULL, 0,
	  "The same for each kernel and size, and \"done\" and a line after its timing", 0 },
	{ 0 },
};

static bool is_wanted(const struct work *work)
{
	const size_t length = strlen(work->name);
	const char *found = wanted;

	while (found && (found = strstr(found, work->name))) {
		if ((found == wanted || found[-1] == ',') &&
		    (!found[length] || found[length] == ','))
			return true;
		found += length;
	}
	return !wanted;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'k':
		wanted = argument;
		return 0;
	case 'm':
		milliseconds = parse_number(state, argument, 1, 600000);
		return 0;
	case 's':
		step = true;
		/* fall through */
	case 'w':
		wait_for_line = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			argp_usage(state);
		*(state->arg_num ? &source : &platform) = argument;
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "PLATFORM SOURCE",
	.doc = "Time kernels on the first device of a platform whose name contains PLATFORM. SOURCE is "
	       "compute.cl, or what ocloc made of it.\v"
	       "Exit status: 0 success, 1 a result is wrong or the device failed, 2 no device.",
};

int main(int argc, char **argv)
{
	const char *error;
	bool found = false;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	error = opencl_program_open(&program, platform, source);
	if (error) {
		fprintf(stderr, "%s\n", error);
		return EXIT_NO_DEVICE;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(works); i++)
		for (unsigned int which = 0; which < SIZES && is_wanted(&works[i]); which++) {
			if (!works[i].n[which])
				continue;
			found = true;
			if (run(&works[i], which))
				return EXIT_WRONG;
		}
	if (!found)
		fprintf(stderr, "no such kernel: %s\n", wanted);
	return found ? 0 : EXIT_WRONG;
}
