// SPDX-License-Identifier: GPL-2.0-only
#include "opencl_program.h"
#include <stdio.h>
#include <string.h>

#define PLATFORMS 16

static char why[256];

static const char *failed(const char *what, cl_int err)
{
	snprintf(why, sizeof(why), "%s: error %d", what, err);
	return why;
}

static const char *find_device(struct opencl_program *program, const char *platform)
{
	cl_platform_id platforms[PLATFORMS];
	cl_uint count = 0;
	char text[256];
	cl_int err;

	clGetPlatformIDs(PLATFORMS, platforms, &count);
	for (cl_uint i = 0; i < count && i < PLATFORMS; i++) {
		clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(text), text, NULL);
		if (!strstr(text, platform) ||
		    clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &program->device, NULL))
			continue;
		program->context = clCreateContext(NULL, 1, &program->device, NULL, NULL, &err);
		if (err != CL_SUCCESS)
			return failed("clCreateContext", err);
		program->queue = clCreateCommandQueue(program->context, program->device, 0, &err);
		return err == CL_SUCCESS ? NULL : failed("clCreateCommandQueue", err);
	}
	snprintf(why, sizeof(why), "no platform %s has a device", platform);
	return why;
}

static const char *build(struct opencl_program *program, const char *path)
{
	static char source[1 << 20], log[8192];
	const char *text = source;
	FILE *file = fopen(path, "r");
	size_t bytes = file ? fread(source, 1, sizeof(source) - 1, file) : 0;
	cl_int err;

	if (file)
		fclose(file);
	if (!bytes) {
		snprintf(why, sizeof(why), "%s cannot be read", path);
		return why;
	}
	if (memchr(source, 0, bytes)) /* no text */
		program->program = clCreateProgramWithBinary(program->context, 1, &program->device,
							     &bytes, (const unsigned char **)&text,
							     NULL, &err);
	else
		program->program =
			clCreateProgramWithSource(program->context, 1, &text, &bytes, &err);
	if (err != CL_SUCCESS)
		return failed("clCreateProgram", err);
	err = clBuildProgram(program->program, 1, &program->device, "-cl-std=CL1.2", NULL, NULL);
	if (err == CL_SUCCESS)
		return NULL;
	clGetProgramBuildInfo(program->program, program->device, CL_PROGRAM_BUILD_LOG, sizeof(log),
			      log, NULL);
	fprintf(stderr, "%s\n", log);
	return failed("clBuildProgram", err);
}

const char *opencl_program_open(struct opencl_program *program, const char *platform,
				const char *path)
{
	const char *error = find_device(program, platform);

	return error ? error : build(program, path);
}
