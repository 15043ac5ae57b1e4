/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_EU_TEST_KERNEL_H
#define GHYVI_EU_TEST_KERNEL_H

#include "../../userspace/eu/eu.h"

/*
 * Memory of a test: one piece, mapped at GPU addresses from GPU_BASE on, with what the library
 * mapped counted per kind of access.
 */
enum { GPU_BYTES = 64 << 20 };
#define GPU_BASE 0x100000ull

struct gpu {
	uint8_t *host;
	uint64_t used;
	uint64_t maps[4];
};

void gpu_make(struct gpu *gpu);
void gpu_free(struct gpu *gpu);
/* A piece of memory, aligned to a page; *host is where it is here. */
uint64_t gpu_alloc(struct gpu *gpu, size_t bytes, void *host);
struct eu_memory gpu_memory(struct gpu *gpu);

/* A kernel that ocloc compiled, and what its launch needs. */
struct kernel {
	uint8_t *file;
	size_t file_bytes;
	const char *name;
	const uint8_t *code, *dynamic, *surfaces, *patches;
	uint32_t code_bytes, code_used, dynamic_bytes, surfaces_bytes, patches_bytes;
	uint32_t simd, slm_bytes, cross_bytes, binding_table, samplers, ids;
	bool barrier;
};

enum { KERNEL_ARGUMENTS = 16 };

struct argument {
	uint64_t buffer; /* GPU address, or 0: a value */
	uint64_t bytes;
	uint32_t value[4];
	uint32_t local; /* bytes of local memory */
	/* Of an image, which is at @buffer: rows of @pitch bytes, one behind the other. */
	uint32_t width, height, pitch, format;
};

/* The kernel @name of a file that ocloc made; -1 if it is not there. */
int kernel_load(struct kernel *k, const char *path, const char *name);
/* The @n-th one, or -1. */
int kernel_load_nth(struct kernel *k, const char *path, unsigned int n);
void kernel_free(struct kernel *k);
/* Puts code, state and payload of a launch into memory and describes it. */
void kernel_dispatch(const struct kernel *k, struct gpu *gpu, const uint32_t global[3],
		     const uint32_t local[3], const struct argument *arguments,
		     struct eu_dispatch *d);

#endif
