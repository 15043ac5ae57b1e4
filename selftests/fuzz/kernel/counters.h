/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of executed points, which libFuzzer reads after each input and clears before it. */
#ifndef FUZZ_COUNTERS_H
#define FUZZ_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

#define COUNTERS_BYTES (1u << 16)

/* Maps a file at @at, or anywhere if that is NULL; exits if that fails. */
void *file_map(const char *path, void *at, size_t bytes, off_t offset);
/* Puts those that a file has at @offset into set @set of libFuzzer's, 0 or 1. */
void counters_map(unsigned int set, const char *path, off_t offset);

#endif
