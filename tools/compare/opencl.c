// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first OpenCL device. The environment selects the implementation: a driver of this machine, or
 * PoCL's driver of a device behind a server.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <errno.h>
#include <stdio.h>
#include "transfer.h"

static const char *const source = "__kernel void nothing(__global int *p) { }";

static cl_context context;
static cl_command_queue queue;
static cl_mem buffers[2];
static cl_program program;
static cl_kernel kernel;

static int check(cl_int status, const char *what)
{
	if (status != CL_SUCCESS)
		fprintf(stderr, "%s: OpenCL error %d\n", what, status);
	return status == CL_SUCCESS ? 0 : -EIO;
}

static int opencl_open(size_t bytes)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_int status;

	if (check(clGetPlatformIDs(1, &platform, NULL), "platform") ||
	    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device"))
		return -ENODEV;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	if (check(status, "context"))
		return -EIO;
	queue = clCreateCommandQueue(context, device, 0, &status);
	for (int i = 0; status == CL_SUCCESS && i < 2; i++)
		buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
	return check(status, "buffers");
}

static int opencl_write(const void *data, size_t bytes)
{
	return check(clEnqueueWriteBuffer(queue, buffers[0], CL_TRUE, 0, bytes, data, 0, NULL,
					  NULL),
		     "write");
}

static int opencl_read(void *data, size_t bytes)
{
	return check(clEnqueueReadBuffer(queue, buffers[1], CL_TRUE, 0, bytes, data, 0, NULL, NULL),
		     "read");
}

static int opencl_copy(size_t bytes)
{
	int ret = check(clEnqueueCopyBuffer(queue, buffers[0], buffers[1], 0, 0, bytes, 0, NULL,
					    NULL),
			"copy");

	return ret ? ret : check(clFinish(queue), "copy");
}

static int opencl_fill(uint8_t value, size_t bytes)
{
	int ret = check(clEnqueueFillBuffer(queue, buffers[1], &value, sizeof(value), 0, bytes, 0,
					    NULL, NULL),
			"fill");

	return ret ? ret : check(clFinish(queue), "fill");
}

static int build(void)
{
	cl_int status;

	program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &status);
	if (check(status, "program") ||
	    check(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), "build"))
		return -EIO;
	kernel = clCreateKernel(program, "nothing", &status);
	return check(status, "kernel");
}

static int opencl_launch(void)
{
	const size_t one = 1;
	int ret = kernel ? 0 : build();

	if (!ret)
		ret = check(clSetKernelArg(kernel, 0, sizeof(buffers[0]), &buffers[0]), "argument");
	if (!ret)
		ret = check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL,
						   NULL),
			    "launch");
	return ret ? ret : check(clFinish(queue), "launch");
}

/*
 * Releases nothing: PoCL 6.0's driver of remote devices sometimes fails an assertion of a mutex
 * when its device is released, also by the loader's destructors.
 */
static void opencl_close(void)
{
	if (queue)
		clFinish(queue);
}

const struct transfer_backend transfer_backend = {
	.name = "opencl",
	.open = opencl_open,
	.write = opencl_write,
	.read = opencl_read,
	.copy = opencl_copy,
	.fill = opencl_fill,
	.launch = opencl_launch,
	.close = opencl_close,
};
