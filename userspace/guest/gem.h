/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wrappers of i915's GEM ioctls, and construction of batches.
 */
#ifndef GHYVI_GUEST_GEM_H
#define GHYVI_GUEST_GEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <i915_drm.h>
#include "surface.h"

#define BATCH_BYTES 8192u
#define BATCH_DWORDS (BATCH_BYTES / 4)
#define OBJECTS_MAX 16
#define RELOCATIONS_MAX 256

/* An open DRM file with its own address space, and a context in it that has another one. */
struct gem {
	int fd;
	unsigned int gen; /* 8, 9 */
	uint32_t context;
};

/*
 * The functions gem_*() return 0 or a negative errno. gem_open() returns -ENODEV if there is no
 * i915 GPU.
 */
int gem_open(struct gem *gem);
void gem_close(struct gem *gem);
/**
 * gem_another_context() - Create a context with its own address space in an open file.
 * @gem: an open file
 * @another: set to the new context, which shares the file of @gem
 *
 * gem_close() on @gem destroys both contexts.
 *
 * Return: 0 or a negative errno.
 */
int gem_another_context(const struct gem *gem, struct gem *another);
int gem_create(const struct gem *gem, uint64_t bytes, uint32_t *handle);
/* Make an object of whole pages of the program, which the GPU may only read. */
int gem_read_only(const struct gem *gem, void *pages, uint64_t bytes, uint32_t *handle);
void gem_destroy(const struct gem *gem, uint32_t handle);
int gem_write(const struct gem *gem, uint32_t handle, uint64_t offset, const void *data,
	      uint64_t bytes);
int gem_read(const struct gem *gem, uint32_t handle, uint64_t offset, void *data, uint64_t bytes);
/**
 * gem_wait() - Wait until no engine uses an object.
 * @gem: an open file
 * @handle: the object
 * @timeout_s: in seconds
 *
 * Return: 0, -ETIME after the timeout, or another negative errno.
 */
int gem_wait(const struct gem *gem, uint32_t handle, double timeout_s);
/**
 * gem_guilty() - Read how many engine resets the context has caused.
 * @gem: an open file and its context
 *
 * Return: the number of resets, or a negative errno.
 */
int gem_guilty(const struct gem *gem);

/*
 * struct batch - commands, and the objects that they use
 *
 * Objects are numbered in the order of batch_object(). With @softpin the caller chooses their
 * addresses, otherwise the kernel does (relocations).
 */
struct batch {
	bool softpin;
	bool overflow;
	unsigned int dwords;
	uint32_t dword[BATCH_DWORDS];
	unsigned int objects;
	struct drm_i915_gem_exec_object2
		object[OBJECTS_MAX + 1]; /* the last used entry is the batch itself */
	unsigned int relocations;
	struct drm_i915_gem_relocation_entry relocation[RELOCATIONS_MAX];
};

void batch_init(struct batch *batch, bool softpin);
/**
 * batch_object() - Add an object to a batch.
 * @batch: the batch
 * @handle: of the object
 * @address: with softpin, page aligned and below 2^47; ignored otherwise
 * @write: the batch writes the object
 *
 * Return: the number of the object in the batch.
 */
unsigned int batch_object(struct batch *batch, uint32_t handle, uint64_t address, bool write);
void batch_emit(struct batch *batch, uint32_t dword);
/**
 * batch_address() - Emit the two dwords of an address.
 * @batch: the batch
 * @object: number of the object
 * @delta: offset in the object, in bytes
 * @write: the command writes the object
 */
void batch_address(struct batch *batch, unsigned int object, uint32_t delta, bool write);
void batch_flush(struct batch *batch); /* MI_FLUSH_DW */
/**
 * batch_blit() - Emit a blit.
 * @batch: the batch
 * @surfaces: surface i is in object i of the batch
 * @blit: the blit
 * @state: the current value of BCS_SWCTRL, -1 if unknown; updated
 */
void batch_blit(struct batch *batch, const struct surface *surfaces, const struct blit *blit,
		int *state);
/**
 * batch_submit() - Terminate a batch, write it to an object and submit it.
 * @batch: the batch
 * @gem: file and context of the submission
 * @handle: the object for the commands, BATCH_BYTES long
 * @address: with softpin, the address of that object
 * @engine: I915_EXEC_*
 *
 * Return: 0, -E2BIG if the batch is too long, or another negative errno.
 */
int batch_submit(struct batch *batch, const struct gem *gem, uint32_t handle, uint64_t address,
		 uint64_t engine);

#define MI_NOOP 0
#define MI_ARB_CHECK (0x05u << 23)
#define MI_BATCH_BUFFER_END (0x0au << 23)
#define MI_STORE_DATA_IMM (0x20u << 23 | 2)
#define MI_LOAD_REGISTER_IMM (0x22u << 23 | 1)
#define MI_FLUSH_DW (0x26u << 23 | 2)
#define MI_BATCH_BUFFER_START_PPGTT (0x31u << 23 | 1u << 8 | 1)

#define XY_COLOR_BLT (2u << 29 | 0x50u << 22 | 5)
#define XY_SRC_COPY_BLT (2u << 29 | 0x53u << 22 | 8)
#define XY_FAST_COPY_BLT (2u << 29 | 0x42u << 22 | 8)
#define XY_WRITE_ALPHA (1u << 21)
#define XY_WRITE_RGB (1u << 20)
#define XY_SRC_TILED (1u << 15)
#define XY_DST_TILED (1u << 11)

#define BCS_SWCTRL 0x22200u
#define BCS_SWCTRL_SRC_Y (1u << 0)
#define BCS_SWCTRL_DST_Y (1u << 1)
#define BCS_SWCTRL_MASK (3u << 16)

#endif
