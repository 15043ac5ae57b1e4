/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parser for values that are written to ghyvi's attributes.
 */
#ifndef GHYVI_PARSE_H
#define GHYVI_PARSE_H

#include <linux/types.h>

#define GHYVI_PARSE_REASON_BYTES 80
/* Maximum size of the name of a policy, scheduler or mode, with its NUL. */
#define GHYVI_PARSE_NAME_BYTES 32

/*
 * struct ghyvi_value_range - the valid values of an attribute.
 * @min: minimum, inclusive
 */
struct ghyvi_value_range {
	u32 min, max; /* maximum, inclusive */
	bool or_zero; /* 0 is valid even if it is less than @min */
};

/**
 * ghyvi_parse_u32() - parse a number that must be in a range.
 * @buffer: decimal number, or hexadecimal number after "0x"; one trailing newline is ignored
 * @bytes: length of @buffer
 * @range: valid values
 * @value: set to the number
 * @reason: buffer of GHYVI_PARSE_REASON_BYTES; on an error set to a message for last_error, for
 *	example "0 is not in 1..1000"
 *
 * Return: 0, or -EINVAL.
 */
int ghyvi_parse_u32(const char *buffer, size_t bytes, const struct ghyvi_value_range *range,
		    u32 *value, char *reason);

/**
 * ghyvi_parse_name() - parse a name.
 * @buffer: the name; one trailing newline is ignored
 * @bytes: length of @buffer
 * @name: buffer of GHYVI_PARSE_NAME_BYTES; set to the name, also (truncated) on an error
 *
 * Return: 0; -EINVAL if it is longer than any name or contains a NUL.
 */
int ghyvi_parse_name(const char *buffer, size_t bytes, char *name);

#endif
