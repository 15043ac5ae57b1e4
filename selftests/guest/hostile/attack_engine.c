// SPDX-License-Identifier: GPL-2.0-only
/* Workloads that never end, and unusual sequences of submissions. */
#include "attack.h"

/* ---- (l) ---- */

#define SPIN_NS 200000u
#define RESET_LIMIT_NS 500000000u /* hardware needs 2 ms; this is a nested emulator under load */

enum endless { LOOP, PING_PONG, SEMAPHORE, GIANT_BLIT, LONG_BATCH, ENDLESS };

static unsigned int put(volatile uint32_t *at, const uint32_t *dwords, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		at[i] = dwords[i];
	return count;
}

static void write_endless(enum endless kind, volatile uint32_t *batch)
{
	const uint32_t again[] = { MI(MI_BATCH_START, 3) | BATCH_PPGTT, (uint32_t)FIXTURE_BATCH,
				   0 };
	const uint32_t there[] = { MI(MI_BATCH_START, 3) | BATCH_PPGTT | BATCH_SECOND_LEVEL,
				   (uint32_t)FIXTURE_BATCH + 0x800, 0 };
	const uint32_t wait[] = { MI(MI_SEMAPHORE_WAIT, 4) | SEMAPHORE_POLL | SEMAPHORE_EQUAL,
				  0xdead, (uint32_t)FIXTURE_DATA, FIXTURE_DATA >> 32 };
	const uint32_t fill[] = { XY_COLOR,   BLIT_32BPP | ROP_FILL | 64, 0,
				  0x7fff0010, (uint32_t)FIXTURE_DATA,	  FIXTURE_DATA >> 32,
				  0 };
	unsigned int n = 0;

	switch (kind) {
	case PING_PONG:
		n += put(batch, there, 3);
		put(batch + 0x200, (const uint32_t[]){ MI_BATCH_END }, 1);
		break;
	case SEMAPHORE:
		n += put(batch, wait, 4);
		break;
	case GIANT_BLIT: /* with pitch 0, so that all rows are the same line */
		n += put(batch, fill, 7);
		batch[1] = BLIT_32BPP | ROP_FILL;
		break;
	case LONG_BATCH:
		for (; n < 0x180; n++)
			batch[n] = MI_ARB_CHECK;
		break;
	default:
		break;
	}
	put(batch + n, again, 3);
}

static void infinite_trial(struct random *random)
{
	enum endless kind = random_range(random, 0, ENDLESS - 1);
	enum engine_id id = kind == GIANT_BLIT ? BCS : random_range(random, 0, ENGINES - 1);
	struct context *context = &fixture.contexts[id];
	uint64_t started;

	write_endless(kind, page_at(fixture.batch));
	context_rewind(context);
	emit_batch(context, true, FIXTURE_BATCH);
	context_submit(context);
	if (engine_wait(context->engine, 1, SPIN_NS / 1000) == RAN)
		effect("an endless request of kind %d completed", kind);
	started = now_ns();
	engine_reset(context->engine);
	if (now_ns() - started > (uint64_t)RESET_LIMIT_NS * slowness)
		effect("kind %d: %llu ms until the engine was reset", kind,
		       (unsigned long long)(now_ns() - started) / 1000000);
}

const struct attack attack_infinite = {
	.name = "l-infinite",
	.what = "endless loops, chains, semaphores and blits; a reset must end them at once",
	.share = 1,
	.begin = fixture_setup,
	.trial = infinite_trial,
};

/* ---- (m) ---- */

#define PIECES 6u

/*
 * Submits one request in pieces, each before the previous one has completed: lite restores in an
 * order that a driver does not use.
 */
static void split_request(struct context *context, struct random *random)
{
	uint32_t tail = 0;

	context_rewind(context);
	for (unsigned int i = 0; i < PIECES; i++) {
		emit_store(context, false, FIXTURE_DATA + 4 * i, i + 1);
		tail = context->tail;
		if (one_in(random, 2))
			context_submit(context);
	}
	context->tail = tail;
	context_submit(context);
}

/* Submits two elements. The second one is the same context, one with another id, or random. */
static void pair_requests(struct context *context, struct random *random)
{
	struct engine *engine = context->engine;
	uint64_t second = one_in(random, 2) ? context->descriptor ^ 1ull << 40 :
					      random_next(random);

	context_rewind(context);
	for (unsigned int i = 0; i < PIECES; i++)
		emit_store(context, false, FIXTURE_DATA + 4 * i, i + 1);
	context->state[CTX_RING_TAIL] = context->tail;
	engine_submit(engine, context->descriptor,
		      one_in(random, 2) ? context->descriptor : second);
}

static bool arrived(void)
{
	for (unsigned int i = 0; i < PIECES; i++)
		if (fixture_data(0)[i] != i + 1)
			return false;
	return true;
}

static void schedule_trial(struct random *random)
{
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];
	uint64_t started = now_ns();
	bool split = one_in(random, 2);
	bool there;

	for (unsigned int i = 0; i < PIECES; i++)
		fixture_data(0)[i] = 0;
	if (split)
		split_request(context, random);
	else
		pair_requests(context, random);
	do {
		there = arrived();
		machine_relax();
	} while (!there && now_ns() - started < VALID_LIMIT_US * 1000ull &&
		 engine_wait(context->engine, ~0u, 200) == TIMED_OUT);
	if (!there && !arrived())
		effect("%s requests did not all run", split ? "split" : "paired");
	engine_reset(context->engine);
}

const struct attack attack_schedule = {
	.name = "m-schedule",
	.what = "requests split, merged, repeated and submitted faster than by a driver",
	.share = 4,
	.begin = fixture_setup,
	.trial = schedule_trial,
};
