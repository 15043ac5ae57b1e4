// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounds every test case. The linker puts __wrap__cmocka_run_group_tests() before cmocka's function
 * (--wrap), which starts a clock at each case's setup. A case that ends too late, or that crashes,
 * is named before the program aborts.
 *
 * The clock counts what the case takes, not what other work on the machine takes from it. While a
 * thread of the program runs, waits for a CPU or waits for a disk, CPU time counts. While all
 * threads sleep, as in a deadlock, time counts.
 *
 * It also counts the threads that the cases start (--wrap, too), and says so at the end: `run`
 * wants TSan for programs that have some.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#define TICK_NS 200000000LL
#define NS_PER_S 1000000000LL

static struct {
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t changed;
	bool started;
	const char *name; /* NULL: no case runs */
	long long taken_ns; /* by that case */
	long long now_ns,
		cpu_ns; /* when taken_ns was counted last: the time, and CPU time by then */
} clock_of = { .lock = PTHREAD_MUTEX_INITIALIZER };

static long long limit_ns;
static unsigned int seconds;

static const struct CMUnitTest *this_test;

static unsigned int threads; /* started by cases */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
			  void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
			  void *arg)
{
	__atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
	return __real_pthread_create(thread, attr, function, arg);
}

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

static long long clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* The state of a thread of this process as in ps(1), or 0 if it has ended. */
static char thread_state(const char *id)
{
	char path[64], text[128];
	const char *end = NULL;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length > 0) {
		text[length] = 0;
		end = strrchr(text, ')'); /* of the thread's name */
	}
	return end && end[1] ? end[2] : 0;
}

/*
 * Do all threads but this one wait for an event? Allocates nothing: a case may hang in the
 * allocator.
 */
static bool all_sleep(void)
{
	char entries[4096] __attribute__((aligned(8)));
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool sleep = true;
	ssize_t bytes, at;

	while (sleep && (bytes = getdents64(fd, entries, sizeof(entries))) > 0) {
		for (at = 0; at < bytes; at += ((struct dirent64 *)&entries[at])->d_reclen) {
			const char *name = ((struct dirent64 *)&entries[at])->d_name;
			char state;

			if (name[0] == '.' || strtol(name, NULL, 10) == gettid())
				continue;
			state = thread_state(name);
			sleep = sleep && !(state && strchr("RDTt", state));
		}
	}
	if (fd >= 0)
		close(fd);
	return sleep;
}

static void count(void)
{
	long long now_ns = clock_ns(CLOCK_MONOTONIC), cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	long long taken_ns = now_ns - clock_of.now_ns;

	if (!all_sleep() && cpu_ns - clock_of.cpu_ns < taken_ns)
		taken_ns = cpu_ns - clock_of.cpu_ns;
	clock_of.taken_ns += taken_ns;
	clock_of.now_ns = now_ns;
	clock_of.cpu_ns = cpu_ns;
}

static void *watch(void *unused)
{
	pthread_mutex_lock(&clock_of.lock);
	for (;;) {
		long long until_ns = clock_ns(CLOCK_MONOTONIC) + TICK_NS;
		struct timespec until = { until_ns / NS_PER_S, until_ns % NS_PER_S };

		if (!clock_of.name) {
			pthread_cond_wait(&clock_of.changed, &clock_of.lock);
			continue;
		}
		if (pthread_cond_timedwait(&clock_of.changed, &clock_of.lock, &until) !=
			    ETIMEDOUT ||
		    !clock_of.name)
			continue;
		count();
		if (clock_of.taken_ns >= limit_ns)
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
	limit_ns = seconds * NS_PER_S;
	setvbuf(stdout, NULL, _IOLBF, 0); /* cases before a crash are seen */
	signal(SIGABRT, at_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(at_death);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&clock_of.changed, &monotonic);
	if (seconds && !__real_pthread_create(&thread, NULL, watch, NULL))
		pthread_detach(thread);
}

void bound_case(const char *name)
{
	pthread_mutex_lock(&clock_of.lock);
	if (!clock_of.started)
		start_watching();
	clock_of.started = true;
	clock_of.name = name;
	clock_of.taken_ns = 0;
	clock_of.now_ns = clock_ns(CLOCK_MONOTONIC);
	clock_of.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
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
	if (__atomic_load_n(&threads, __ATOMIC_RELAXED))
		printf("# %u threads\n", threads);
	return status;
}
