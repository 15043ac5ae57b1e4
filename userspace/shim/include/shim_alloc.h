/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory allocation on libc, with fault injection. Each function that fails in a kernel without
 * free memory calls shim_alloc_fails() first. __GFP_NOFAIL exempts an allocation that belongs to
 * the test itself. ghyvi_shim.h includes this file.
 */
#ifndef SHIM_ALLOC_H
#define SHIM_ALLOC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

typedef unsigned int gfp_t;
#define GFP_KERNEL 0u
#define __GFP_ACCOUNT 2u
#define GFP_KERNEL_ACCOUNT (GFP_KERNEL | __GFP_ACCOUNT)
#define __GFP_ZERO 4u
#define __GFP_NOWARN 0u
#define __GFP_RETRY_MAYFAIL 0u
#define __GFP_NOFAIL 1u

/**
 * shim_fail_allocs() - Inject allocation failures.
 * @first: number of the first allocation to fail, counted from this call; 1 is the next one
 * @count: number of consecutive allocations to fail; 0 stops the injection
 *
 * Allocations of all threads are counted together. The count of failures restarts at 0.
 */
void shim_fail_allocs(unsigned long first, unsigned long count);

/**
 * shim_made_allocs() - Number of allocations.
 *
 * Return: the number since shim_fail_allocs(), with a @count that is not 0.
 */
unsigned long shim_made_allocs(void);

/**
 * shim_failed_allocs() - Number of injected failures.
 *
 * Return: the number of allocations that have failed since shim_fail_allocs().
 */
unsigned long shim_failed_allocs(void);

/**
 * shim_alloc_fails() - Count an allocation and decide whether it fails.
 * @flags: of the allocation; one with __GFP_NOFAIL is not counted and does not fail
 *
 * Return: true if the allocation must fail.
 */
bool shim_alloc_fails(gfp_t flags);

/* pages: the physical address of a page is its user-space address */
#define PAGE_SHIFT 12
#define PAGE_SIZE 4096UL
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define PAGE_ALIGN(n) (((n) + PAGE_SIZE - 1) & PAGE_MASK)
/* Without __GFP_ZERO they have what another user has left. */
static inline void *shim_page_alloc(size_t n, gfp_t f)
{
	void *p = shim_alloc_fails(f) ? NULL : aligned_alloc(PAGE_SIZE, PAGE_ALIGN(n));

	if (p)
		memset(p, f & __GFP_ZERO ? 0 : 0xa5, n);
	return p;
}
#define __get_free_page(f) ((unsigned long)shim_page_alloc(PAGE_SIZE, f))
#define get_zeroed_page(f) __get_free_page((f) | __GFP_ZERO)
static inline void free_page(unsigned long p)
{
	free((void *)p);
}
static inline void *phys_to_virt(u64 hpa)
{
	return (void *)(uintptr_t)hpa;
}
static inline u64 virt_to_phys(const volatile void *p)
{
	return (u64)(uintptr_t)p;
}

#define kcalloc(n, s, f) (shim_alloc_fails(f) ? NULL : calloc((n), (s)))
#define kzalloc(n, f) kcalloc(1, n, f)
#define kmalloc(n, f) (shim_alloc_fails(f) ? NULL : malloc(n))
#define kvzalloc kzalloc
#define kvcalloc kcalloc
#define kvmalloc kmalloc
#define kvmalloc_array kcalloc
#define vzalloc(n) kzalloc(n, GFP_KERNEL)
#define __vmalloc shim_page_alloc
#define vmalloc_user(n) __vmalloc(n, GFP_KERNEL | __GFP_ZERO)
#define kfree(p) free((void *)(p))
#define kvfree kfree
#define vfree kfree

#endif
