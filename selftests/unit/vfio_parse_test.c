// SPDX-License-Identifier: GPL-2.0-only
/* The values that can be written to attributes: kernel/vfio/parse.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ghyvi_shim.h"
#include "vfio/parse.h"

static const struct ghyvi_value_range hundred = { .min = 1, .max = 100 };
static const struct ghyvi_value_range timeout = { .min = 10, .max = 100, .or_zero = true };

static char reason[GHYVI_PARSE_REASON_BYTES];

static int parse(const char *text, size_t bytes, const struct ghyvi_value_range *range, u32 *value)
{
	/* On the heap and without a NUL behind it: a read beyond @bytes is reported. */
	char *buffer = memcpy(malloc(bytes + 1), text, bytes);
	int ret;

	buffer = realloc(buffer, bytes ?: 1);
	ret = ghyvi_parse_u32(buffer, bytes, range, value, reason);
	free(buffer);
	return ret;
}

static void takes(const char *text, const struct ghyvi_value_range *range, u32 expected)
{
	u32 value = ~0u;

	assert_int_equal(parse(text, strlen(text), range, &value), 0);
	assert_int_equal(value, expected);
}

static void refuses(const char *text, size_t bytes, const struct ghyvi_value_range *range,
		    const char *why)
{
	u32 value;

	memset(reason, 0, sizeof(reason));
	assert_int_equal(parse(text, bytes, range, &value), -EINVAL);
	assert_string_equal(reason, why);
}

#define REFUSES(text, range, why) refuses(text, sizeof(text) - 1, range, why)

static void numbers_are_decimal_or_hexadecimal(void **state)
{
	takes("1", &hundred, 1);
	takes("100\n", &hundred, 100);
	takes("010", &hundred, 10);
	takes("0x10", &hundred, 16);
	takes("0X1f\n", &hundred, 31);
}

static void the_message_for_a_number_out_of_range_names_the_range(void **state)
{
	REFUSES("0", &hundred, "0 is not in 1..100");
	REFUSES("101\n", &hundred, "101 is not in 1..100");
	REFUSES("4294967297", &hundred, "4294967297 is not in 1..100");
	REFUSES("9", &timeout, "9 is not in 0 and 10..100");
	takes("0", &timeout, 0);
}

static void text_that_is_no_number_is_refused(void **state)
{
	REFUSES("", &hundred, "\"\" is not a number; 1..100 are possible");
	REFUSES("\n", &hundred, "\"\" is not a number; 1..100 are possible");
	REFUSES("-1", &hundred, "\"-1\" is not a number; 1..100 are possible");
	REFUSES("+1", &hundred, "\"+1\" is not a number; 1..100 are possible");
	REFUSES(" 1", &hundred, "\" 1\" is not a number; 1..100 are possible");
	REFUSES("1 ", &hundred, "\"1 \" is not a number; 1..100 are possible");
	REFUSES("1\n\n", &hundred, "\"1\n\" is not a number; 1..100 are possible");
	REFUSES("0x", &hundred, "\"0x\" is not a number; 1..100 are possible");
	REFUSES("1e1", &timeout, "\"1e1\" is not a number; 0 and 10..100 are possible");
	REFUSES("nonsense", &hundred, "\"nonsense\" is not a number; 1..100 are possible");
}

static void a_nul_does_not_end_a_value(void **state)
{
	char name[GHYVI_PARSE_NAME_BYTES];

	REFUSES("1\0", &hundred, "\"1\" is not a number; 1..100 are possible");
	REFUSES("1\0nonsense\n", &hundred, "\"1\" is not a number; 1..100 are possible");
	assert_int_equal(ghyvi_parse_name("strict\0x", 8, name), -EINVAL);
}

static void a_long_value_is_cut_in_the_message(void **state)
{
	static char text[5000];
	char name[GHYVI_PARSE_NAME_BYTES];

	memset(text, '1', sizeof(text));
	refuses(text, sizeof(text), &hundred,
		"\"111111111111111\" is not a number; 1..100 are possible");
	assert_int_equal(ghyvi_parse_name(text, sizeof(text), name), -EINVAL);
	assert_int_equal(strlen(name), sizeof(name) - 1);
	assert_int_equal(ghyvi_parse_name(text, sizeof(name) - 1, name), 0);
	assert_int_equal(ghyvi_parse_name(text, sizeof(name), name), -EINVAL);
}

static void names_must_match_exactly(void **state)
{
	char name[GHYVI_PARSE_NAME_BYTES];

	assert_int_equal(ghyvi_parse_name("fifo", 4, name), 0);
	assert_string_equal(name, "fifo");
	assert_int_equal(ghyvi_parse_name("fifo\n", 5, name), 0);
	assert_string_equal(name, "fifo");
	assert_int_equal(ghyvi_parse_name("fifo ", 5, name), 0);
	assert_string_equal(name, "fifo ");
	assert_int_equal(ghyvi_parse_name("", 0, name), 0);
	assert_string_equal(name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_decimal_or_hexadecimal),
		cmocka_unit_test(the_message_for_a_number_out_of_range_names_the_range),
		cmocka_unit_test(text_that_is_no_number_is_refused),
		cmocka_unit_test(a_nul_does_not_end_a_value),
		cmocka_unit_test(a_long_value_is_cut_in_the_message),
		cmocka_unit_test(names_must_match_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
