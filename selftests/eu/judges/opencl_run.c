// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs kernels of ours on an OpenCL platform, and writes what they computed, to be compared with
 * what another platform computes.
 *
 *   opencl_run PLATFORM SOURCE DIRECTORY [NAME...]
 *
 * PLATFORM is a part of the platform's name, SOURCE is kernels.cl, or what ocloc made of it. Each
 * test makes DIRECTORY/NAME.bin and prints a line "NAME done MILLISECONDS", "NAME skipped" or "NAME
 * failed REASON". --list prints the names, each with the type of its result and the ulps that it
 * may differ by.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "opencl_program.h"

#define ITEMS 8192u
#define BYTES (ITEMS * sizeof(uint32_t))
#define IMAGE_WIDTH 96u
#define IMAGE_HEIGHT 64u
#define GROUP 128u
#define MATRIX 64u
#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static char why[256];

static bool fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return false;
}

static bool check(cl_int err, const char *what)
{
	return err == CL_SUCCESS || fail("%s: error %d", what, err);
}

/* ---- inputs: the same everywhere ---- */

static uint32_t random_state;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8 ^ random_state << 16;
}

static void fill_integers(void *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes / 4; i++)
		((uint32_t *)memory)[i] = next_random();
}

/* Multiples of 2^-8 between -8 and 8. */
static void fill_floats(void *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes / 4; i++)
		((float *)memory)[i] = (float)((int)(next_random() & 0xfff) - 2048) / 256;
}

/* ---- tests ---- */

struct test {
	const char *name;
	const char *type; /* of the result; "double" needs a device that has it */
	unsigned int ulps;
	bool (*run)(const struct opencl_program *device, const struct test *test, void *result);
	void (*fill)(void *memory, size_t bytes);
	void (*fill2)(void *memory, size_t bytes); /* of the second input; NULL: as @fill */
	size_t bytes; /* of the result */
	size_t global[2];
	size_t local[2];
	uint32_t n;
};

static cl_mem buffer(const struct opencl_program *device, void *data, size_t bytes)
{
	cl_int err;
	cl_mem mem = clCreateBuffer(device->context,
				    CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0), bytes,
				    data, &err);

	return check(err, "clCreateBuffer") ? mem : NULL;
}

static cl_kernel kernel(const struct opencl_program *device, const char *name)
{
	cl_int err;
	cl_kernel made = clCreateKernel(device->program, name, &err);

	return check(err, "clCreateKernel") ? made : NULL;
}

static bool launch(const struct opencl_program *device, cl_kernel kernel, const size_t *global,
		   const size_t *local)
{
	return check(clEnqueueNDRangeKernel(device->queue, kernel, global[1] ? 2 : 1, NULL, global,
					    local && local[0] ? local : NULL, 0, NULL, NULL),
		     "clEnqueueNDRangeKernel");
}

static bool read_back(const struct opencl_program *device, cl_mem mem, void *result, size_t bytes)
{
	return check(clEnqueueReadBuffer(device->queue, mem, CL_TRUE, 0, bytes, result, 0, NULL,
					 NULL),
		     "clEnqueueReadBuffer");
}

/* Two inputs, one output that is 0 before, and a number. */
static bool run_plain(const struct opencl_program *device, const struct test *test, void *result)
{
	void *inputs = malloc(2 * BYTES);
	cl_kernel made = kernel(device, test->name);
	cl_mem mem[3];
	bool ok;

	if (!made)
		return false;
	test->fill(inputs, BYTES);
	(test->fill2 ?: test->fill)((char *)inputs + BYTES, BYTES);
	memset(result, 0, test->bytes);
	mem[0] = buffer(device, inputs, BYTES);
	mem[1] = buffer(device, (char *)inputs + BYTES, BYTES);
	mem[2] = buffer(device, result, test->bytes);
	for (cl_uint i = 0; i < 3; i++)
		clSetKernelArg(made, i, sizeof(mem[i]), &mem[i]);
	clSetKernelArg(made, 3, sizeof(test->n), &test->n);
	ok = mem[0] && mem[1] && mem[2] && launch(device, made, test->global, test->local) &&
	     read_back(device, mem[2], result, test->bytes);
	for (unsigned int i = 0; i < 3; i++)
		clReleaseMemObject(mem[i]);
	clReleaseKernel(made);
	free(inputs);
	return ok;
}

static bool run_sort(const struct opencl_program *device, const struct test *test, void *result)
{
	cl_kernel made = kernel(device, "sort_step");
	cl_mem mem;
	bool ok = true;

	if (!made)
		return false;
	fill_integers(result, test->bytes);
	mem = buffer(device, result, test->bytes);
	clSetKernelArg(made, 0, sizeof(mem), &mem);
	for (cl_uint k = 2; k <= test->global[0] && ok; k *= 2)
		for (cl_uint j = k / 2; j && ok; j /= 2) {
			clSetKernelArg(made, 1, sizeof(j), &j);
			clSetKernelArg(made, 2, sizeof(k), &k);
			ok = launch(device, made, test->global, test->local);
		}
	ok = ok && read_back(device, mem, result, test->bytes);
	clReleaseMemObject(mem);
	clReleaseKernel(made);
	return ok;
}

/* Copies of ranges at odd offsets, fills, rectangles, and a mapping. */
static bool run_copies(const struct opencl_program *device, const struct test *test, void *result)
{
	static const uint32_t pattern[4] = { 1, 2, 0xdeadbeef, 4 };
	const size_t from[3] = { 4, 3, 0 }, to[3] = { 8, 1, 0 }, region[3] = { 40, 20, 1 };
	cl_command_queue queue = device->queue;
	cl_mem a, b;
	void *mapped;
	cl_int err;
	bool ok;

	fill_integers(result, test->bytes);
	a = buffer(device, result, test->bytes);
	b = buffer(device, NULL, test->bytes);
	ok = check(clEnqueueFillBuffer(queue, b, pattern, sizeof(pattern), 0, test->bytes, 0, NULL,
				       NULL),
		   "clEnqueueFillBuffer") &&
	     check(clEnqueueCopyBuffer(queue, a, b, 13, 4099, 9001, 0, NULL, NULL),
		   "clEnqueueCopyBuffer") &&
	     check(clEnqueueCopyBufferRect(queue, a, b, from, to, region, 64, 0, 96, 0, 0, NULL,
					   NULL),
		   "clEnqueueCopyBufferRect");
	if (!ok)
		return false;
	mapped = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, test->bytes,
				    0, NULL, NULL, &err);
	if (!check(err, "clEnqueueMapBuffer"))
		return false;
	memset((char *)mapped + 20000, 0x5a, 33);
	ok = check(clEnqueueUnmapMemObject(queue, b, mapped, 0, NULL, NULL),
		   "clEnqueueUnmapMemObject") &&
	     read_back(device, b, result, test->bytes);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	return ok;
}

static bool run_image(const struct opencl_program *device, const struct test *test, void *result)
{
	const cl_image_format format = { CL_RGBA, CL_UNORM_INT8 };
	const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D,
				     .image_width = IMAGE_WIDTH,
				     .image_height = IMAGE_HEIGHT };
	const size_t origin[3] = {}, region[3] = { IMAGE_WIDTH, IMAGE_HEIGHT, 1 };
	cl_kernel made = kernel(device, test->name);
	cl_mem from, to;
	cl_int err, err2;
	bool ok;

	if (!made)
		return false;
	fill_integers(result, test->bytes);
	from = clCreateImage(device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format,
			     &desc, result, &err);
	to = clCreateImage(device->context, CL_MEM_WRITE_ONLY, &format, &desc, NULL, &err2);
	if (!check(err, "clCreateImage") || !check(err2, "clCreateImage"))
		return false;
	clSetKernelArg(made, 0, sizeof(from), &from);
	clSetKernelArg(made, 1, sizeof(to), &to);
	ok = launch(device, made, test->global, test->local) &&
	     check(clEnqueueReadImage(device->queue, to, CL_TRUE, origin, region, 0, 0, result, 0,
				      NULL, NULL),
		   "clEnqueueReadImage");
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	clReleaseKernel(made);
	return ok;
}

#define COMMON(test_name, test_type, test_bytes) \
	.name = test_name, .type = test_type, .bytes = test_bytes
#define PLAIN .run = run_plain, .global = { ITEMS }, .local = { GROUP }
#define INTEGERS PLAIN, .fill = fill_integers, .n = ITEMS
#define FLOATS PLAIN, .fill = fill_floats
#define IMAGE .run = run_image, .global = { IMAGE_WIDTH, IMAGE_HEIGHT }
#define IMAGE_BYTES (IMAGE_WIDTH * IMAGE_HEIGHT * 4)

static const struct test tests[] = {
	{ COMMON("vadd", "float", BYTES), FLOATS, .n = ITEMS - 5 },
	{ COMMON("matmul", "float", MATRIX *MATRIX * 4), .run = run_plain, .fill = fill_floats,
	  .global = { MATRIX, MATRIX }, .local = { 16, 16 }, .n = MATRIX },
	{ COMMON("reduce", "integer", BYTES), INTEGERS },
	{ COMMON("hist", "integer", 1024), INTEGERS },
	{ COMMON("hash_rounds", "integer", BYTES), INTEGERS },
	{ COMMON("diverge", "integer", BYTES), INTEGERS },
	{ COMMON("long_integers", "integer", BYTES), INTEGERS },
	{ COMMON("long_bits", "integer", BYTES), INTEGERS },
	{ COMMON("vectors", "float", BYTES), FLOATS, .fill2 = fill_integers, .n = ITEMS },
	{ COMMON("private_array", "integer", BYTES), INTEGERS },
	{ COMMON("atomics", "integer", 4096), INTEGERS },
	{ COMMON("transcendental", "float", BYTES), FLOATS, .ulps = 8, .n = ITEMS },
	{ COMMON("doubles", "double", BYTES - 16), INTEGERS },
	{ COMMON("sort", "integer", 4096), .run = run_sort, .global = { 1024 } },
	{ COMMON("image", "unorm8", IMAGE_BYTES), IMAGE, .ulps = 1 },
	{ COMMON("image_linear", "unorm8", IMAGE_BYTES), IMAGE, .ulps = 1 },
	{ COMMON("copies", "bytes", BYTES), .run = run_copies },
};

/* ---- one after the other ---- */

static bool write_result(const char *directory, const char *name, const void *data, size_t bytes)
{
	char path[4096];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s.bin", directory, name);
	file = fopen(path, "w");
	ok = file && fwrite(data, 1, bytes, file) == bytes;
	if (file && fclose(file))
		ok = false;
	return ok || fail("%s cannot be written", path);
}

static bool has_doubles(const struct opencl_program *device)
{
	cl_device_fp_config config = 0;

	clGetDeviceInfo(device->device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(config), &config, NULL);
	return config;
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static bool picked(const struct test *test, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (!strcmp(argv[i], test->name))
			return true;
	return argc == 4;
}

int main(int argc, char **argv)
{
	static uint64_t result[BYTES / 8 + IMAGE_WIDTH * IMAGE_HEIGHT];
	struct opencl_program device = {};
	const char *error;
	int status = 0;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < ARRAY_LENGTH(tests); i++)
			printf("%s %s %u\n", tests[i].name, tests[i].type, tests[i].ulps);
		return 0;
	}
	if (argc < 4) {
		fprintf(stderr, "usage: opencl_run PLATFORM SOURCE DIRECTORY [NAME...]\n");
		return 2;
	}
	error = opencl_program_open(&device, argv[1], argv[2]);
	if (error) {
		printf("build failed %s\n", error);
		return 1;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(tests); i++) {
		const struct test *test = &tests[i];
		double start = now_ms();

		if (!picked(test, argc, argv))
			continue;
		if (!strcmp(test->type, "double") && !has_doubles(&device)) {
			printf("%s skipped\n", test->name);
			continue;
		}
		random_state = 12345 + i;
		if (test->run(&device, test, result) &&
		    write_result(argv[3], test->name, result, test->bytes)) {
			printf("%s done %.1f\n", test->name, now_ms() - start);
		} else {
			printf("%s failed %s\n", test->name, why);
			status = 1;
		}
		fflush(stdout);
	}
	return status;
}
