/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The operations that `make compare` times on each system: copies, fills, launches without work.
 */
#ifndef GHYVI_COMPARE_TRANSFER_H
#define GHYVI_COMPARE_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

/*
 * struct transfer_backend - a way to a device, or the absence of one
 * @open: allocates two buffers of @bytes on the device, or one if there is no @copy. The launch
 *	needs none of them
 * @write: copies @bytes from memory to the first buffer
 * @read: copies @bytes from the last buffer to memory
 * @copy: copies @bytes from the first buffer to the second
 * @fill: sets @bytes of the second buffer to the byte @value
 * @launch: starts the smallest job of the device
 * @close: frees everything
 *
 * Each function returns after the device has completed the operation: 0, or a negative errno after
 * a line on stderr. Memory has the alignment of a page. @copy, @fill and @launch may be NULL: the
 * device does not have them.
 */
struct transfer_backend {
	const char *name;
	int (*open)(size_t bytes);
	int (*write)(const void *data, size_t bytes);
	int (*read)(void *data, size_t bytes);
	int (*copy)(size_t bytes);
	int (*fill)(uint8_t value, size_t bytes);
	int (*launch)(void);
	void (*close)(void);
};

/* Each program is linked with one of the files memory.c, opencl.c, i915.c and block.c. */
extern const struct transfer_backend transfer_backend;

#endif
