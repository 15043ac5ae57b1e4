// SPDX-License-Identifier: GPL-2.0-only
/* Checks that the vGPU is still usable: runs a workload like a GPU driver's on each engine. */
#include <stdio.h>
#include <string.h>

#include "attack.h"
#include "guest_env.h"

#define BATCH 0x100000ull
#define DATA 0x40200000ull
#define SOURCE 0x40300000ull
#define PIXELS 16u
#define COLOR 0xc01055a1u
#define SEQNO 0x5e9u

static char trouble[120];

static const char *fail(enum engine_id id, const char *what)
{
	static const char *const names[ENGINES] = { "rcs", "bcs", "vcs", "vecs" };

	snprintf(trouble, sizeof(trouble), "%s: %s", names[id], what);
	return trouble;
}

/* Writes a user batch with a qword store and, on the blitter, a fill and a copy. */
static unsigned int write_batch(uint32_t *batch, enum engine_id id)
{
	const uint32_t store[] = { MI(MI_STORE_DATA, 5) | MI_QWORD, (uint32_t)DATA, DATA >> 32,
				   0x1234567, 0x89abcde };
	const uint32_t blits[] = {
		XY_COLOR,
		BLIT_32BPP | ROP_FILL | PIXELS * 4,
		0,
		PIXELS << 16 | PIXELS,
		(uint32_t)SOURCE,
		SOURCE >> 32,
		COLOR,
		XY_COPY,
		BLIT_32BPP | ROP_COPY | PIXELS * 4,
		0,
		PIXELS << 16 | PIXELS,
		(uint32_t)DATA + 64,
		DATA >> 32,
		0,
		PIXELS * 4,
		(uint32_t)SOURCE,
		SOURCE >> 32,
	};
	unsigned int n = 0;

	memcpy(batch, store, sizeof(store));
	n += sizeof(store) / 4;
	if (id == BCS) {
		memcpy(batch + n, blits, sizeof(blits));
		n += sizeof(blits) / 4;
	}
	batch[n++] = MI_BATCH_END;
	return n;
}

static const char *work_on(enum engine_id id)
{
	struct tables tables = tables_make();
	unsigned int batch = take_page(), data = take_page(), source = take_page(),
		     line = take_page();
	uint32_t line_address = ggtt_map(machine.gpa[line]);
	volatile uint32_t *result = page_at(data), *seqno = page_at(line);
	struct context context;
	uint32_t head;

	tables_map(&tables, BATCH, machine.gpa[batch]);
	tables_map(&tables, DATA, machine.gpa[data]);
	tables_map(&tables, SOURCE, machine.gpa[source]);
	root_announce(tables.root, 4);
	write_batch(page_at(batch), id);
	context_make(&context, id, &tables);
	emit_batch(&context, true, BATCH);
	emit_store(&context, true, line_address, SEQNO);
	switch (context_run(&context, VALID_LIMIT_US)) {
	case STOPPED:
		return fail(id, "a valid workload is rejected");
	case TIMED_OUT:
		return fail(id, "a valid workload does not complete");
	case RAN:
		break;
	}
	head = context.state[CTX_RING_HEAD] & RING_HEAD_MASK;
	if (head != context.tail)
		return fail(id, "the head was not saved");
	if (seqno[0] != SEQNO)
		return fail(id, "the breadcrumb was not written");
	if (result[0] != 0x1234567 || result[1] != 0x89abcde)
		return fail(id, "the store was not executed");
	for (unsigned int i = 0; id == BCS && i < PIXELS * PIXELS; i++)
		if (result[16 + i] != COLOR)
			return fail(id, "a pixel is wrong");
	return NULL;
}

const char *sanity_check(void)
{
	const char *wrong = NULL;

	env_begin();
	for (unsigned int id = 0; id < ENGINES && !wrong; id++)
		wrong = work_on(id);
	env_end();
	return wrong;
}
