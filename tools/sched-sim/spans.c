// SPDX-License-Identifier: GPL-2.0-only
/* Spans of time in which a vGPU had the engine, and measures over all windows of such spans. */
#include <math.h>
#include <stdlib.h>
#include "experiments.h"

#define STEP_NS NSEC_PER_MSEC

void sim_spans_add(void *data, unsigned int vgpu, u64 from, u64 to)
{
	struct sim_spans *spans = data;

	if (spans->count == spans->room) {
		spans->room = 2 * spans->room + 1024;
		spans->span = realloc(spans->span, spans->room * sizeof(*spans->span));
	}
	spans->span[spans->count++] = (struct sim_span){ .vgpu = vgpu, .from = from, .to = to };
}

void sim_spans_free(struct sim_spans *spans)
{
	free(spans->span);
	*spans = (struct sim_spans){ 0 };
}

/* GPU time of @vgpu in each step of STEP_NS. */
static void fill_steps(const struct sim_spans *spans, unsigned int vgpu, double *steps, u64 count)
{
	unsigned int i;

	for (i = 0; i < spans->count; i++) {
		u64 at = spans->span[i].from, step;

		if (spans->span[i].vgpu != vgpu)
			continue;
		for (step = at / STEP_NS; at < spans->span[i].to && step < count; step++) {
			u64 end = min(spans->span[i].to, (step + 1) * STEP_NS);

			steps[step] += end - at;
			at = end;
		}
	}
}

double sim_share_error(const struct sim_spans *spans, const struct sim_setup *setup, u64 begin_ns,
		       u64 end_ns, u64 window_ns)
{
	u64 count = end_ns / STEP_NS, window = window_ns / STEP_NS, step;
	double *steps = calloc(setup->vgpus * count, sizeof(*steps));
	double sum[SIM_VGPUS_MAX] = { 0 }, due[SIM_VGPUS_MAX], weights = 0, error = 0;
	unsigned int v;

	for (v = 0; v < setup->vgpus; v++) {
		fill_steps(spans, v, steps + v * count, count);
		due[v] = setup->vgpu[v].weight ?: GHYVI_SCHED_WEIGHT_DEFAULT;
		weights += due[v];
	}
	for (step = begin_ns / STEP_NS; step < count; step++) {
		double all = 0;

		for (v = 0; v < setup->vgpus; v++) {
			sum[v] += steps[v * count + step];
			if (step >= begin_ns / STEP_NS + window)
				sum[v] -= steps[v * count + step - window];
			all += sum[v];
		}
		if (step + 1 < begin_ns / STEP_NS + window)
			continue;
		for (v = 0; v < setup->vgpus; v++)
			error = max(error, fabs(sum[v] / max(all, 1.0) - due[v] / weights));
	}
	free(steps);
	return error;
}

/* A window with the maximum ends with a span, or begins with one. */
u64 sim_most_in_window(const struct sim_spans *spans, unsigned int vgpu, u64 window_ns)
{
	u64 most = 0, whole = 0;
	unsigned int i, first = 0;

	for (i = 0; i < spans->count; i++) {
		const struct sim_span *last = &spans->span[i];
		u64 from, begun = 0;

		if (last->vgpu != vgpu)
			continue;
		whole += last->to - last->from;
		from = last->to > window_ns ? last->to - window_ns : 0;
		for (; spans->span[first].vgpu != vgpu || spans->span[first].to <= from; first++)
			if (spans->span[first].vgpu == vgpu)
				whole -= spans->span[first].to - spans->span[first].from;
		if (spans->span[first].from < from)
			begun = from - spans->span[first].from;
		most = max(most, whole - begun);
	}
	return most;
}

u64 sim_longest_pause(const struct sim_spans *spans, unsigned int vgpu)
{
	u64 longest = 0, ended = 0;
	unsigned int i;

	for (i = 0; i < spans->count; i++) {
		if (spans->span[i].vgpu != vgpu)
			continue;
		longest = max(longest, spans->span[i].from - ended);
		ended = spans->span[i].to;
	}
	return longest;
}
