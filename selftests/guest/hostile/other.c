// SPDX-License-Identifier: GPL-2.0-only
/* A second thread, which the guest's kernel puts on the second vCPU. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "attack.h"

static struct {
	pthread_t thread;
	void (*step)(struct random *random);
	struct random random;
	atomic_bool pause, paused, stop;
} other;

static void *other_thread(void *unused)
{
	(void)unused;
	while (!atomic_load(&other.stop)) {
		if (atomic_load(&other.pause)) {
			atomic_store(&other.paused, true);
			sched_yield();
			continue;
		}
		other.step(&other.random);
	}
	return NULL;
}

void other_start(void (*step)(struct random *random), uint64_t seed)
{
	other.step = step;
	random_seed(&other.random, seed);
	atomic_store(&other.pause, true);
	atomic_store(&other.paused, false);
	atomic_store(&other.stop, false);
	if (pthread_create(&other.thread, NULL, other_thread, NULL))
		give_up("no second thread");
}

void other_pause(void)
{
	atomic_store(&other.paused, false);
	atomic_store(&other.pause, true);
	while (!atomic_load(&other.paused))
		machine_relax();
}

void other_resume(void)
{
	atomic_store(&other.pause, false);
}

void other_stop(void)
{
	atomic_store(&other.stop, true);
	pthread_join(other.thread, NULL);
}
