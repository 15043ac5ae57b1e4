// SPDX-License-Identifier: GPL-2.0-only
/* Parsing of values that are written to attributes. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include "parse.h"

/* Size of the longest number in any notation, with its NUL. */
#define NUMBER_BYTES 16

/*
 * Copy @buffer without a trailing newline, as a string. A write to sysfs may be empty, and may
 * contain NUL bytes.
 */
static int copy_word(const char *buffer, size_t bytes, char *word, size_t size)
{
	size_t length;

	if (bytes && buffer[bytes - 1] == '\n')
		bytes--;
	length = min(bytes, size - 1);
	memcpy(word, buffer, length);
	word[length] = 0;
	return bytes < size && strlen(word) == bytes ? 0 : -EINVAL;
}

int ghyvi_parse_name(const char *buffer, size_t bytes, char *name)
{
	return copy_word(buffer, bytes, name, GHYVI_PARSE_NAME_BYTES);
}

static int parse_number(const char *buffer, size_t bytes, u32 *value, char *word)
{
	bool hexadecimal;

	if (copy_word(buffer, bytes, word, NUMBER_BYTES) || word[0] < '0' || word[0] > '9' ||
	    strchr(word, '\n'))
		return -EINVAL;
	hexadecimal = word[0] == '0' && (word[1] | 0x20) == 'x';
	return kstrtou32(word, hexadecimal ? 16 : 10, value);
}

int ghyvi_parse_u32(const char *buffer, size_t bytes, const struct ghyvi_value_range *range,
		    u32 *value, char *reason)
{
	const char *zero = range->or_zero && range->min ? "0 and " : "";
	char word[NUMBER_BYTES];
	int err = parse_number(buffer, bytes, value, word);

	if (!err && ((*value >= range->min && *value <= range->max) || (range->or_zero && !*value)))
		return 0;
	if (err == -EINVAL)
		snprintf(reason, GHYVI_PARSE_REASON_BYTES,
			 "\"%s\" is not a number; %s%u..%u are possible", word, zero, range->min,
			 range->max);
	else
		snprintf(reason, GHYVI_PARSE_REASON_BYTES, "%s is not in %s%u..%u", word, zero,
			 range->min, range->max);
	return -EINVAL;
}
