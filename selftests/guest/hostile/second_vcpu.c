// SPDX-License-Identifier: GPL-2.0-only
/* A second thread, which the guest's kernel runs on the second vCPU. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "attack.h"

static struct {
	pthread_t thread;
	void (*step)(struct random *random);
	struct random random;
	atomic_bool pause, paused, stop;
} vcpu;

static void *vcpu_thread(void *unused)
{
	(void)unused;
	while (!atomic_load(&vcpu.stop)) {
		if (atomic_load(&vcpu.pause)) {
			atomic_store(&vcpu.paused, true);
			sched_yield();
			continue;
		}
		vcpu.step(&vcpu.random);
	}
	return NULL;
}

void second_vcpu_start(void (*step)(struct random *random), uint64_t seed)
{
	vcpu.step = step;
	random_seed(&vcpu.random, seed);
	atomic_store(&vcpu.pause, true);
	atomic_store(&vcpu.paused, false);
	atomic_store(&vcpu.stop, false);
	if (pthread_create(&vcpu.thread, NULL, vcpu_thread, NULL))
		give_up("no second thread");
}

void second_vcpu_pause(void)
{
	atomic_store(&vcpu.paused, false);
	atomic_store(&vcpu.pause, true);
	while (!atomic_load(&vcpu.paused))
		machine_relax();
}

void second_vcpu_resume(void)
{
	atomic_store(&vcpu.pause, false);
}

void second_vcpu_stop(void)
{
	atomic_store(&vcpu.stop, true);
	pthread_join(vcpu.thread, NULL);
}
