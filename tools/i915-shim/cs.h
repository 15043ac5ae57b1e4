/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command streamer as the rest of the library sees it. Only cs.c, behind this header, includes
 * the kernel's headers; the others include DRM's.
 */
#ifndef I915_SHIM_CS_H
#define I915_SHIM_CS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;
struct cs;

/* In the order of enum drm_i915_gem_engine_class. */
enum cs_engine {
	CS_RENDER,
	CS_COPY,
	CS_VIDEO,
	CS_VIDEO_ENHANCE,
	CS_ENGINES,
};

#define CS_TIMESTAMP_HZ 12000000u
#define CS_ERROR_BYTES 256

/* The engine's clock: 36 bits. */
uint64_t cs_timestamp(void);

/**
 * cs_create() - make the engine of a context, with the state that a context keeps.
 * @engine: which engine
 * @vm: address space of its batches; outlives the engine
 *
 * Return: the engine, NULL if out of memory.
 */
struct cs *cs_create(enum cs_engine engine, struct vm *vm);
void cs_destroy(struct cs *cs);

/**
 * cs_run() - audit a batch and execute it to its end, in the calling thread.
 * @cs: the engine; one thread at a time
 * @batch: address of the batch
 * @error: says why the batch failed
 *
 * Return: 0, or -EIO: the engine stopped at a command.
 */
int cs_run(struct cs *cs, uint64_t batch, char error[CS_ERROR_BYTES]);

/**
 * vm_translate() - get a pointer to what an address of a VM maps.
 * @vm: the address space
 * @address: address, 48 bits
 * @bytes: set to the number of bytes that are valid at the pointer
 * @writable: set to whether engines may write there
 *
 * Context: any thread; the pointer stays valid while a request uses the object.
 * Return: the pointer; NULL: nothing is bound there.
 */
uint8_t *vm_translate(struct vm *vm, uint64_t address, uint64_t *bytes, bool *writable);

#endif
