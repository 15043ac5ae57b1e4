/* SPDX-License-Identifier: GPL-2.0-only */
/* A program on an OpenCL device, for tools/compare and selftests/eu/judges. */
#ifndef GHYVI_OPENCL_PROGRAM_H
#define GHYVI_OPENCL_PROGRAM_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#endif
#include <CL/cl.h>

struct opencl_program {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
};

/*
 * Builds the program in the file @path, which has text, or what ocloc made of it, for the first
 * device of a platform whose name contains @platform. Returns NULL, or why it cannot.
 */
const char *opencl_program_open(struct opencl_program *program, const char *platform,
				const char *path);

#endif
