/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is written to an attribute, as a value: one parser for all of ghyvi's.
 */
#ifndef GHYVI_PARSE_H
#define GHYVI_PARSE_H

#include <linux/types.h>

#define GHYVI_PARSE_REASON_BYTES 80
/* The longest name of a policy, scheduler or mode, its NUL included. */
#define GHYVI_PARSE_NAME_BYTES 32

/**
 * struct ghyvi_value_range - the values that an attribute takes
 * @min, @max: inclusive
 * @or_zero: 0 as well, below @min
 */
struct ghyvi_value_range {
	u32 min, max;
	bool or_zero;
};

/**
 * ghyvi_parse_u32() - the whole of @buffer is one number of @range
 * @buffer: @bytes of it count; one newline at its end is left out
 * @value: the number: decimal, or hexadecimal after "0x"
 * @reason: GHYVI_PARSE_REASON_BYTES; for the reader of last_error, if it is refused: "0 is not in 1..1000"
 *
 * Return: 0, or -EINVAL.
 */
int ghyvi_parse_u32(const char *buffer, size_t bytes, const struct ghyvi_value_range *range, u32 *value,
		    char *reason);

/**
 * ghyvi_parse_name() - the whole of @buffer is one name
 * @buffer: @bytes of it count; one newline at its end is left out
 * @name: GHYVI_PARSE_NAME_BYTES. Holds the beginning, for a message, also when -EINVAL is returned.
 *
 * Return: 0, or -EINVAL: longer than any name, or with a NUL in it.
 */
int ghyvi_parse_name(const char *buffer, size_t bytes, char *name);

#endif
