/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GEN9_SHIM_LINUX_BSEARCH_H
#define GEN9_SHIM_LINUX_BSEARCH_H

#include <stdlib.h>

/* The kernel's may be given no array, of 0 elements; that of libc may not. */
static inline void *gen9_shim_bsearch(const void *key, const void *base, size_t count, size_t bytes,
				      int (*compare)(const void *a, const void *b))
{
	return count ? bsearch(key, base, count, bytes, compare) : NULL;
}

#define bsearch gen9_shim_bsearch

#endif
