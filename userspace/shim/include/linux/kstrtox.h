/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_SHIM_KSTRTOX_H
#define GHYVI_SHIM_KSTRTOX_H

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include "ghyvi_shim.h"

/*
 * Like the kernel's: rejects blanks, accepts one newline at the end, returns -ERANGE if the number
 * has more than 32 bits.
 */
static inline int kstrtou32(const char *text, unsigned int base, u32 *value)
{
	unsigned long long number;
	char *end;

	if (!isxdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, base);
	if (end == text || (*end && strcmp(end, "\n")))
		return -EINVAL;
	if (errno || number > U32_MAX)
		return -ERANGE;
	*value = number;
	return 0;
}

#endif
