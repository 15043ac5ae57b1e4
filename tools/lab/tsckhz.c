// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the frequency of this machine's TSC in kHz. QEMU's TCG shows the same TSC to its virtual
 * machines. On a busy machine their kernels measure it wrongly by a factor of five, and then all
 * time-outs of drivers are as much too short.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define NS_PER_S 1000000000ull
#define ROUNDS 5

static unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int main(void)
{
	const struct timespec pause = { 0, 100 * 1000 * 1000 };
	unsigned long long start_ns = now_ns(), start = __rdtsc(), khz = 0;

	for (int i = 0; i < ROUNDS; i++) {
		nanosleep(&pause, NULL);
		khz = (__rdtsc() - start) * 1000000ull / (now_ns() - start_ns);
	}
	printf("%llu\n", khz);
	return 0;
}
