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

/* In a program of its own, because its bound is read once. */
static void a_case_without_an_end_is_named(void **state)
{
	char command[1024], path[512], line[256] = "";
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	FILE *output;

	assert_true(length > 0);
	path[length] = 0;
	snprintf(command, sizeof(command),
		 "GHYVI_CASE_SECONDS=1 GHYVI_NO_END=1 %s 2>&1 | grep 'no end'", path);
	output = popen(command, "r");
	assert_non_null(fgets(line, sizeof(line), output));
	pclose(output);
	assert_string_equal(line, "# has_no_end: no end within 1 s (GHYVI_CASE_SECONDS)\n");
}

static void has_no_end(void **state)
{
	wait_event(queue, false);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_lock_is_not_recursive),	       TEST(only_the_owner_of_a_lock_unlocks_it),
		TEST(lockdep_assert_held_asserts),     TEST(sleeping_under_a_spinlock_aborts),
		TEST(locks_live_from_init_to_destroy), TEST(a_case_without_an_end_is_named),
	};
	const struct CMUnitTest endless[] = { TEST(has_no_end) };

	if (getenv("GHYVI_NO_END"))
		return cmocka_run_group_tests(endless, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
