// SPDX-License-Identifier: GPL-2.0-only
#include "multicall.h"

/* One exit for all updates in the queue. */
static void hand_over(struct multicall *m)
{
	m->exits += m->queued > 0;
	m->entries += m->queued;
	m->queued = 0;
}

static void queue_updates(struct multicall *m, uint32_t count)
{
	uint32_t room;

	while (count) {
		room = m->batch - m->queued;
		if (room > count)
			room = count;
		m->queued += room;
		count -= room;
		if (m->queued == m->batch)
			hand_over(m);
	}
}

int multicall_replay(struct multicall *m, struct trace_source *source)
{
	struct trace_record record;
	int got;

	while ((got = source->next(source, &record)) > 0) {
		if (record.type == TRACE_STORES || record.type == TRACE_WIDE_STORE)
			queue_updates(m, record.count);
		else if (record.type == TRACE_SUBMISSION)
			hand_over(m);
	}
	hand_over(m);
	return got;
}
