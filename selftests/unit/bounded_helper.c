// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounds every test case. The linker puts __wrap__cmocka_run_group_tests() before cmocka's function
 * (--wrap), which starts a clock at each case's setup. A case that ends too late, or that crashes,
 * is named before the program aborts.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "bounded.h"

#define DEFAULT_SECONDS 120

static struct {
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t changed;
	bool started;
	const char *name; /* NULL: no case runs */
	struct timespec until;
} clock_of = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned int seconds;

static const struct CMUnitTest *this_test;

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void name_case(const char *what)
{
	const char *name = clock_of.name; /* without its lock: the program ends here */

	if (!name)
		return;
	say("# ");
	say(name);
	say(what);
}

static void at_death(void)
{
	name_case(": the program ends here\n");
}

static void at_abort(int signal)
{
	at_death();
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void expire(void)
{
	char text[128];

	snprintf(text, sizeof(text), ": no end within %u s (GHYVI_CASE_SECONDS)\n", seconds);
	name_case(text);
	signal(SIGABRT, SIG_DFL);
	abort();
}

static void *watch(void *unused)
{
	pthread_mutex_lock(&clock_of.lock);
	for (;;) {
		if (!clock_of.name)
			pthread_cond_wait(&clock_of.changed, &clock_of.lock);
		else if (pthread_cond_timedwait(&clock_of.changed, &clock_of.lock,
						&clock_of.until) == ETIMEDOUT &&
			 clock_of.name)
			expire();
	}
	return unused;
}

static void start_watching(void)
{
	const char *text = getenv("GHYVI_CASE_SECONDS");
	pthread_condattr_t monotonic;
	pthread_t thread;

	seconds = text ? strtoul(text, NULL, 0) : DEFAULT_SECONDS;
	setvbuf(stdout, NULL, _IOLBF, 0); /* cases before a crash are seen */
	signal(SIGABRT, at_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(at_death);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&clock_of.changed, &monotonic);
	if (seconds && !pthread_create(&thread, NULL, watch, NULL))
		pthread_detach(thread);
}

void bound_case(const char *name)
{
	pthread_mutex_lock(&clock_of.lock);
	if (!clock_of.started)
		start_watching();
	clock_of.started = true;
	clock_of.name = name;
	clock_gettime(CLOCK_MONOTONIC, &clock_of.until);
	clock_of.until.tv_sec += seconds;
	pthread_cond_signal(&clock_of.changed);
	pthread_mutex_unlock(&clock_of.lock);
}

/* A case's initial state leads here: cmocka has no other way to tell which one it runs. */
static int bounded_setup(void **state)
{
	this_test = *state;
	*state = this_test->initial_state;
	bound_case(this_test->name);
	return this_test->setup_func ? this_test->setup_func(state) : 0;
}

static int bounded_teardown(void **state)
{
	int err = this_test->teardown_func ? this_test->teardown_func(state) : 0;

	bound_case("the end of the program");
	return err;
}

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *const tests,
				   const size_t count, CMFixtureFunction setup,
				   CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *const tests,
				   const size_t count, CMFixtureFunction setup,
				   CMFixtureFunction teardown);

/* State that a group's setup makes would be lost; no group has one. */
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *const tests,
				   const size_t count, CMFixtureFunction setup,
				   CMFixtureFunction teardown)
{
	struct CMUnitTest *all = calloc(count, sizeof(*all));
	int status;
	size_t i;

	if (!all || setup || teardown)
		abort();
	for (i = 0; i < count; i++) {
		all[i] = tests[i];
		all[i].setup_func = bounded_setup;
		all[i].teardown_func = bounded_teardown;
		all[i].initial_state = (void *)&tests[i];
	}
	bound_case("the start of the program");
	status = __real__cmocka_run_group_tests(name, all, count, setup, teardown);
	free(all);
	return status;
}
