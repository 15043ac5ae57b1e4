// SPDX-License-Identifier: GPL-2.0-only
/* The best possible distribution of long requests that cannot be preempted. */
#include <math.h>
#include <stdlib.h>
#include "experiments.h"

#define PHASES 4000

/* GPU time from 0 to @t of a vGPU that has the engine for @pulse at the start of every @period. */
static double received(double t, double period, double pulse)
{
	double rounds = floor(t / period);

	return rounds * pulse + fmin(pulse, t - rounds * period);
}

static double jain_at(double at, unsigned int vgpus, double pulse, double window)
{
	unsigned int nr_long = vgpus - vgpus / 2, i;
	double period = vgpus * pulse, left = window, squares = 0;

	for (i = 0; i < nr_long; i++) {
		double from = at - period * i / nr_long;
		double x = received(from + window, period, pulse) - received(from, period, pulse);

		left -= x;
		squares += x * x;
	}
	squares += left * left / (vgpus - nr_long);
	return window * window / (vgpus * squares);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct sim_even sim_even(unsigned int vgpus, u64 long_ns, u64 window_ns)
{
	double values[PHASES], sum = 0;
	unsigned int i;

	for (i = 0; i < PHASES; i++) {
		values[i] =
			jain_at((double)long_ns * vgpus * i / PHASES, vgpus, long_ns, window_ns);
		sum += values[i];
	}
	qsort(values, PHASES, sizeof(*values), by_value);
	return (struct sim_even){ .jain_mean = sum / PHASES, .jain_p5 = values[PHASES / 20] };
}
