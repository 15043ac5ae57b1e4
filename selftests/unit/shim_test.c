// SPDX-License-Identifier: GPL-2.0-only
/*
 * All tests rely on these: the shim's locks report what lockdep would, and a case that does not end
 * is aborted.
 */
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <setjmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "bounded.h"

static struct mutex mutex;
static spinlock_t spinlock;
static DEFINE_RWLOCK(rwlock);
static wait_queue_head_t queue;
static struct xarray array;

static int setup(void **state)
{
	mutex_init(&mutex);
	spin_lock_init(&spinlock);
	init_waitqueue_head(&queue);
	xa_init(&array);
	return 0;
}

/* @defect in a process of its own, which has to abort; what it says goes to @said. */
static void assert_aborts_saying(void (*defect)(void), const char *expected)
{
	char said[512] = "";
	size_t length = 0;
	ssize_t part;
	int pipes[2], status;
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		dup2(pipes[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		defect();
		_exit(0);
	}
	close(pipes[1]);
	while ((part = read(pipes[0], said + length, sizeof(said) - 1 - length)) > 0)
		length += part;
	close(pipes[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!strstr(said, expected))
		fail_msg("said: %s", said);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void lock_mutex_twice(void)
{
	mutex_lock(&mutex);
	mutex_lock(&mutex);
}

static void lock_spinlock_twice(void)
{
	spin_lock(&spinlock);
	spin_lock(&spinlock);
}

static void lock_rwlock_twice(void)
{
	write_lock(&rwlock);
	write_lock(&rwlock);
}

static void a_lock_is_not_recursive(void **state)
{
	assert_aborts_saying(lock_mutex_twice, "mutex_lock(&mutex): its owner takes");
	assert_aborts_saying(lock_spinlock_twice, "spin_lock(&spinlock): its owner takes");
	assert_aborts_saying(lock_rwlock_twice, "write_lock(&rwlock): its owner takes");
}

static void unlock_mutex(void)
{
	mutex_unlock(&mutex);
}

static void *take_mutex(void *unused)
{
	mutex_lock(&mutex);
	return unused;
}

static void let_another_thread_take_mutex(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, take_mutex, NULL);
	pthread_join(thread, NULL);
}

static void unlock_free_spinlock(void)
{
	spin_unlock(&spinlock);
}

static void unlock_free_rwlock(void)
{
	read_unlock(&rwlock);
}

static void only_the_owner_of_a_lock_unlocks_it(void **state)
{
	assert_aborts_saying(unlock_mutex, "does not hold");
	assert_aborts_saying(unlock_free_spinlock, "does not hold");
	assert_aborts_saying(unlock_free_rwlock, "does not hold");
	let_another_thread_take_mutex();
	assert_aborts_saying(unlock_mutex, "does not hold");
}

static void assert_mutex_held(void)
{
	lockdep_assert_held(&mutex);
}

static void lockdep_assert_held_asserts(void **state)
{
	mutex_lock(&mutex);
	lockdep_assert_held(&mutex);
	mutex_unlock(&mutex);
	spin_lock(&spinlock);
	lockdep_assert_held(&spinlock);
	spin_unlock(&spinlock);
	assert_aborts_saying(assert_mutex_held, "not held");
	let_another_thread_take_mutex();
	assert_aborts_saying(assert_mutex_held, "not held");
}

static void lock_mutex_under_spinlock(void)
{
	spin_lock(&spinlock);
	mutex_lock(&mutex);
}

static void lock_mutex_under_rwlock(void)
{
	read_lock(&rwlock);
	mutex_lock(&mutex);
}

static void wait_under_spinlock(void)
{
	spin_lock(&spinlock);
	wait_event(queue, true);
}

static void sleeping_under_a_spinlock_aborts(void **state)
{
	spin_lock(&spinlock);
	spin_unlock(&spinlock);
	read_lock(&rwlock);
	read_unlock(&rwlock);
	mutex_lock(&mutex);
	mutex_unlock(&mutex);
	assert_aborts_saying(lock_mutex_under_spinlock, "holds a spinlock");
	assert_aborts_saying(lock_mutex_under_rwlock, "holds a spinlock");
	assert_aborts_saying(wait_under_spinlock, "holds a spinlock");
}

static void lock_zeroes(void)
{
	memset(&mutex, 0, sizeof(mutex));
	mutex_lock(&mutex);
}

static void wait_on_zeroes(void)
{
	memset(&queue, 0, sizeof(queue));
	wake_up(&queue);
}

static void load_from_zeroes(void)
{
	memset(&array, 0, sizeof(array));
	xa_load(&array, 0);
}

static void destroy_held_mutex(void)
{
	mutex_lock(&mutex);
	mutex_destroy(&mutex);
}

static void lock_destroyed_mutex(void)
{
	mutex_destroy(&mutex);
	mutex_lock(&mutex);
}

static void locks_live_from_init_to_destroy(void **state)
{
	assert_aborts_saying(lock_zeroes, "not initialized");
	assert_aborts_saying(wait_on_zeroes, "not initialized");
	assert_aborts_saying(load_from_zeroes, "not initialized");
	assert_aborts_saying(destroy_held_mutex, "held");
	assert_aborts_saying(lock_destroyed_mutex, "not initialized");
}

/*
 * What this program says when it runs only case @name, for at most 1 s. It is a process of its own,
 * because the limit is read once. @by: the program that starts it.
 */
static void run_limited(const char *name, const char *by, char *line, size_t bytes)
{
	const char *limits = "CMOCKA_MESSAGE_OUTPUT=STDOUT GHYVI_CASE_SECONDS=1";
	char command[1024], path[512];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	FILE *output;

	assert_true(length > 0);
	path[length] = 0;
	snprintf(command, sizeof(command),
		 "%s GHYVI_LIMITED=%s %s %s 2>&1 | grep -e 'no end' -e '   OK'", limits, name, by,
		 path);
	output = popen(command, "r");
	assert_non_null(fgets(line, bytes, output));
	pclose(output);
}

static void a_case_without_an_end_is_named(void **state)
{
	char line[256] = "";

	run_limited("sleeps_forever", "", line, sizeof(line));
	assert_string_equal(line, "# sleeps_forever: no end within 1 s (GHYVI_CASE_SECONDS)\n");
	run_limited("runs_forever", "", line, sizeof(line));
	assert_string_equal(line, "# runs_forever: no end within 1 s (GHYVI_CASE_SECONDS)\n");
}

static void *hog(void *stop)
{
	while (!READ_ONCE(*(bool *)stop))
		;
	return NULL;
}

/* Threads of normal priority leave next to nothing of a CPU to one that shall use it when idle. */
static void a_case_that_waits_for_a_cpu_has_time(void **state)
{
	char line[256] = "";
	bool stop = false;
	pthread_t thread;
	cpu_set_t before, one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(pthread_create(&thread, NULL, hog, &stop), 0);
	run_limited("is_busy_for_3_s", "chrt -i 0", line, sizeof(line));
	WRITE_ONCE(stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_string_equal(line, "[       OK ] is_busy_for_3_s\n");
}

static void sleeps_forever(void **state)
{
	wait_event(queue, false);
}

static void runs_forever(void **state)
{
	for (;;)
		;
}

static void is_busy_for_3_s(void **state)
{
	u64 end = ktime_get_ns() + 3 * NSEC_PER_SEC;

	while (ktime_get_ns() < end)
		;
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_lock_is_not_recursive),
		TEST(only_the_owner_of_a_lock_unlocks_it),
		TEST(lockdep_assert_held_asserts),
		TEST(sleeping_under_a_spinlock_aborts),
		TEST(locks_live_from_init_to_destroy),
		TEST(a_case_without_an_end_is_named),
		TEST(a_case_that_waits_for_a_cpu_has_time),
	};
	const struct CMUnitTest limited[] = { TEST(sleeps_forever), TEST(runs_forever),
					      TEST(is_busy_for_3_s) };
	const char *name = getenv("GHYVI_LIMITED");

	if (!name)
		return cmocka_run_group_tests(tests, NULL, NULL);
	cmocka_set_test_filter(name);
	return cmocka_run_group_tests(limited, NULL, NULL);
}
