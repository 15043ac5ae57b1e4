/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes of an input as choices. After its last byte, choices are pseudo-random numbers. */
#ifndef FUZZ_CHOICES_H
#define FUZZ_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void choices_begin(const uint8_t *data, size_t bytes);
bool choices_left(void);
uint64_t take(unsigned int bytes);
uint32_t below(uint32_t n);

#endif
