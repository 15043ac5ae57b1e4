// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saved runs: where the walk is, and the threads and shared memory of each group in flight. A saved
 * run need not be trusted: what is restored is checked so far that executing it is safe, as any
 * kernel is.
 */
#include "machine.h"

#include <errno.h>
#include <string.h>

enum { MAGIC = 0x31757565, TURN_MOST = 65536 };

struct saved_run {
	uint32_t magic;
	uint32_t thread_bytes; /* of struct eu_thread: its layout is the version */
	uint32_t threads;
	uint32_t slm_bytes;
	uint32_t groups; /* in flight, behind this */
	uint32_t spare;
	uint64_t next, total;
	uint64_t time; /* instructions that worker 0 has executed: its clock */
	struct eu_counters counters;
};

struct saved_group {
	uint32_t worker;
	uint32_t id[3];
	uint32_t arrived, current, turn, spare;
};

static size_t group_bytes(const struct eu_run *run)
{
	return sizeof(struct saved_group) + eu_run_group_threads(run) * sizeof(struct eu_thread) +
	       run->dispatch.slm_bytes;
}

size_t eu_run_save(const struct eu_run *run, void *buffer, size_t bytes)
{
	struct saved_run s = { .magic = MAGIC,
			       .thread_bytes = sizeof(struct eu_thread),
			       .threads = eu_run_group_threads(run),
			       .slm_bytes = run->dispatch.slm_bytes,
			       .next = run->next,
			       .total = run->total,
			       .time = run->exec ? run->exec[0].instructions : 0,
			       .counters = run->counters };
	uint8_t *out = buffer;
	unsigned int n;
	size_t needed;

	for (n = 0; run->group && n < run->workers; n++)
		s.groups += run->group[n].active;
	needed = sizeof(s) + s.groups * group_bytes(run);
	if (!buffer || needed > bytes)
		return needed;
	memcpy(out, &s, sizeof(s));
	out += sizeof(s);
	for (n = 0; run->group && n < run->workers; n++) {
		const struct eu_group *g = &run->group[n];
		struct saved_group sg = {
			.worker = n, .arrived = g->arrived, .current = g->current, .turn = g->turn
		};

		if (!g->active)
			continue;
		memcpy(sg.id, g->id, sizeof(sg.id));
		memcpy(out, &sg, sizeof(sg));
		out += sizeof(sg);
		memcpy(out, g->thread, g->threads * sizeof(*g->thread));
		out += g->threads * sizeof(*g->thread);
		memcpy(out, g->slm, s.slm_bytes);
		out += s.slm_bytes;
	}
	return needed;
}

/* Looks at all groups of a saved run. */
static bool fits(const struct eu_run *run, const uint8_t *in, uint32_t groups)
{
	uint32_t threads = eu_run_group_threads(run), workers = 0, n, ended;
	struct saved_group sg;
	struct eu_thread t;

	for (; groups; groups--, in += group_bytes(run)) {
		memcpy(&sg, in, sizeof(sg));
		/* Ascending workers: no two are the same. */
		if (sg.worker < workers || sg.worker >= run->workers || sg.current >= threads ||
		    sg.arrived >= threads || !sg.turn || sg.turn > TURN_MOST)
			return false;
		workers = sg.worker + 1;
		for (n = 0, ended = 0; n < threads; n++) {
			memcpy(&t, in + sizeof(sg) + n * sizeof(t), sizeof(t));
			if (t.index != n || t.state > EU_THREAD_ENDED)
				return false;
			ended += t.state == EU_THREAD_ENDED;
		}
		if (ended == threads)
			return false;
	}
	return true;
}

int eu_run_restore(struct eu_run *run, const void *buffer, size_t bytes)
{
	const uint8_t *in = buffer;
	struct saved_run s;
	uint32_t threads = eu_run_group_threads(run), n;

	if (bytes < sizeof(s) || run->group)
		return -EINVAL;
	memcpy(&s, in, sizeof(s));
	in += sizeof(s);
	if (s.magic != MAGIC || s.thread_bytes != sizeof(struct eu_thread) ||
	    s.threads != threads || s.slm_bytes != run->dispatch.slm_bytes ||
	    s.total != run->total || s.next > s.total || s.groups > EU_MAX_WORKERS ||
	    bytes - sizeof(s) != s.groups * group_bytes(run))
		return -EINVAL;
	if (!fits(run, in, s.groups) || eu_run_allocate(run))
		return -EINVAL;
	run->next = s.next;
	run->counters = s.counters;
	if (run->exec[0].instructions < s.time)
		run->exec[0].instructions = run->exec[0].counted_instructions = s.time;
	for (; s.groups; s.groups--) {
		struct saved_group sg;
		struct eu_group *g;

		memcpy(&sg, in, sizeof(sg));
		in += sizeof(sg);
		g = &run->group[sg.worker];
		memcpy(g->id, sg.id, sizeof(g->id));
		g->arrived = sg.arrived;
		g->current = sg.current;
		g->turn = sg.turn;
		g->active = true;
		memcpy(g->thread, in, threads * sizeof(*g->thread));
		in += threads * sizeof(*g->thread);
		memcpy(g->slm, in, s.slm_bytes);
		in += s.slm_bytes;
		for (n = 0, g->ended = 0; n < threads; n++)
			g->ended += g->thread[n].state == EU_THREAD_ENDED;
	}
	return 0;
}
