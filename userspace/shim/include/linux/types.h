/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: the kernel's short type names on top of the real <linux/types.h>. */
#ifndef GHYVI_SHIM_TYPES_H
#define GHYVI_SHIM_TYPES_H
#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef __u32 u32;
typedef __u64 u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef __s64 s64;
typedef u64 dma_addr_t;
#endif
