// SPDX-License-Identifier: GPL-2.0-only
/* Reports to administrators: always one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <ghyvi/report.h>

static struct device device = { "test" };
static struct ghyvi_reporter reporter;

static int setup(void **state)
{
	shim_quiet = true;
	ghyvi_reporter_init(&reporter, &device);
	return 0;
}

static const char *last(void)
{
	static char text[GHYVI_REPORT_BYTES];

	ghyvi_report_last(&reporter, text, sizeof(text));
	return text;
}

static void the_last_report_is_kept(void **state)
{
	assert_string_equal(last(), "");
	ghyvi_report(&reporter, "number %d", 1);
	ghyvi_report(&reporter, "number %d", 2);
	assert_string_equal(last(), "number 2");
}

/* Names that were written to attributes are in reports. */
static void a_report_is_one_line(void **state)
{
	ghyvi_report(&reporter, "there is no mode \"%s\"", "a\nb\tc\033[2J\177\r");
	assert_string_equal(last(), "there is no mode \"a?b?c?[2J??\"");
	ghyvi_report(&reporter, "there is no mode \"%s\"", "gr\303\274n");
	assert_string_equal(last(), "there is no mode \"gr\303\274n\"");
}

static void a_long_report_is_cut(void **state)
{
	ghyvi_report(&reporter, "%*d\n", 2 * GHYVI_REPORT_BYTES, 1);
	assert_int_equal(strlen(last()), GHYVI_REPORT_BYTES - 1);
}

/* Reports of other engines, and of other things, come in between. */
static void the_reason_why_an_engine_stopped_is_kept_apart(void **state)
{
	char text[GHYVI_REPORT_BYTES];

	ghyvi_report_stop(&reporter, GHYVI_VCS, "command %d", 3);
	assert_string_equal(last(), "command 3");
	ghyvi_report_stop(&reporter, GHYVI_RCS, "command %d", 4);
	ghyvi_report(&reporter, "number %d", 5);
	assert_string_equal(last(), "number 5");
	ghyvi_report_stop_take(&reporter, GHYVI_VCS, text);
	assert_string_equal(text, "command 3");
	ghyvi_report_stop_take(&reporter, GHYVI_VCS, text);
	assert_string_equal(text, "");
	ghyvi_report_stop_take(&reporter, GHYVI_RCS, NULL);
	ghyvi_report_stop_take(&reporter, GHYVI_RCS, text);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_last_report_is_kept, setup),
		cmocka_unit_test_setup(a_report_is_one_line, setup),
		cmocka_unit_test_setup(a_long_report_is_cut, setup),
		cmocka_unit_test_setup(the_reason_why_an_engine_stopped_is_kept_apart, setup),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
