// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of a job: copies of its commands in a window of the host.
 *
 * DOC: places
 *
 * Commands are placed one after the other from the start of the window on, and the window never
 * wraps. So the engine never executes a place that is being written, whatever tails the guest
 * sets. When the window is full the tail cannot move any more until the job has left the engine.
 *
 * Behind the commands there are NOOPs. Hardware can hang if a context that it executes is submitted
 * with the tail that it already has (WaIdleLiteRestore). Then the tail moves by two NOOPs.
 *
 * The guest knows offsets in its own ring only; the pieces of a job translate.
 */
#include <linux/string.h>
#include "gen9.h"

#define RING_PAGES_MAX ((u32)RING_CTL_PAGES / GHYVI_PAGE_BYTES + 1)
#define NOOP_BYTES (8 * GEN9_TAIL_BYTES)
/* The window of an idle context; rings of drivers are not longer. */
#define KEPT_PAGES_MAX 8

static struct gen9_context *context_of(const struct ghyvi_job *job)
{
	return gen9_context(job->pgpu_context);
}

static u32 window_bytes(const struct ghyvi_job *job)
{
	return context_of(job)->ring->pages * GHYVI_PAGE_BYTES;
}

/* Stale commands must not stay in a ring: command streamers fetch ahead. */
int gen9_ring_begin(struct gen9 *gpu, struct ghyvi_job *base)
{
	struct gen9_context *context = context_of(base);
	struct gen9_job *job = gen9_job(base);
	u32 pages = min_t(u32, 2 * job->ring_bytes / GHYVI_PAGE_BYTES, RING_PAGES_MAX);

	if (context->ring && context->ring->pages != pages) {
		gen9_window_put(gpu, context->ring);
		context->ring = NULL;
	}
	if (!context->ring) {
		context->ring = gen9_window_get(gpu, gen9_client(base->client), pages);
		if (!context->ring)
			return -ENOMEM;
		context->ring_used = pages * GHYVI_PAGE_BYTES;
	}
	memset(context->ring->cpu, 0, context->ring_used);
	context->ring_used = 0;
	job->nr_pieces = 0;
	job->next = 0;
	job->end = 0;
	job->limit = 0;
	job->hw_tail = 0;
	return 0;
}

void gen9_ring_end(struct gen9 *gpu, struct gen9_context *context)
{
	if (!context->ring || context->ring->pages <= KEPT_PAGES_MAX)
		return;
	gen9_window_put(gpu, context->ring);
	context->ring = NULL;
}

bool gen9_ring_has_room(const struct ghyvi_job *base, u32 tail)
{
	const struct gen9_job *job = gen9_job(base);
	u32 bytes = (tail - job->tail + job->ring_bytes) % job->ring_bytes;

	return job->nr_pieces < GEN9_PIECES &&
	       bytes <= window_bytes(base) - GEN9_TAIL_BYTES - job->next;
}

static bool piece_continues(const struct gen9_job *job, const struct gen9_piece *piece, u32 offset)
{
	return piece->place + piece->bytes == job->next &&
	       (piece->offset + piece->bytes) % job->ring_bytes == offset;
}

int gen9_ring_reserve(struct ghyvi_job *base, u32 offset, u32 bytes, u32 *place)
{
	struct gen9_context *context = context_of(base);
	struct gen9_job *job = gen9_job(base);
	struct gen9_piece *piece = &job->pieces[job->nr_pieces];

	/* The tail stays below the end of the window. */
	if (bytes > window_bytes(base) - GEN9_TAIL_BYTES - job->next)
		return -ENOSPC;
	if (job->nr_pieces && piece_continues(job, piece - 1, offset)) {
		piece[-1].bytes += bytes;
	} else if (job->nr_pieces < GEN9_PIECES) {
		*piece = (struct gen9_piece){ job->next, offset, bytes };
		job->nr_pieces++;
	} else {
		return -ENOSPC;
	}
	*place = job->next;
	job->next += bytes;
	job->unpublished = true;
	context->ring_used = max(context->ring_used, job->next);
	return 0;
}

void gen9_ring_publish(struct ghyvi_job *base)
{
	struct gen9_job *job = gen9_job(base);

	if (!job->unpublished)
		return;
	job->unpublished = false;
	job->end = ALIGN(job->next, GEN9_TAIL_BYTES);
	job->limit = min(job->end + NOOP_BYTES, window_bytes(base) - GEN9_TAIL_BYTES);
	job->next = job->limit;
}

/* They may be incomplete, and are behind what the engine was given. */
void gen9_ring_withdraw(struct ghyvi_job *base)
{
	struct gen9_job *job = gen9_job(base);
	struct gen9_piece *last;

	memset(context_of(base)->ring->cpu + job->limit / sizeof(u32), 0, job->next - job->limit);
	while (job->nr_pieces && job->pieces[job->nr_pieces - 1].place >= job->limit)
		job->nr_pieces--;
	if (job->nr_pieces) {
		last = &job->pieces[job->nr_pieces - 1];
		last->bytes = min(last->bytes, job->limit - last->place);
	}
	job->next = job->limit;
	job->unpublished = false;
}

void gen9_ring_compact(struct ghyvi_job *base)
{
	struct gen9_context *context = context_of(base);
	u32 *state = gen9_state(context), *ring = context->ring->cpu;
	u32 head = state[GHYVI_CTX_RING_HEAD] & (u32)RING_HEAD_MASK;
	struct gen9_job *job = gen9_job(base);
	struct gen9_piece left = { .offset = gen9_ring_offset(base, head) };
	unsigned int i;

	for (i = 0; i < job->nr_pieces; i++) {
		const struct gen9_piece *piece = &job->pieces[i];
		u32 done = head > piece->place ? min(head - piece->place, piece->bytes) : 0;

		memmove(ring + left.bytes / sizeof(u32), ring + (piece->place + done) / sizeof(u32),
			piece->bytes - done);
		left.bytes += piece->bytes - done;
	}
	memset(ring + left.bytes / sizeof(u32), 0, context->ring_used - left.bytes);
	state[GHYVI_CTX_RING_HEAD] = 0;
	context->ring_used = left.bytes;
	job->pieces[0] = left;
	job->nr_pieces = 1;
	job->next = left.bytes;
	job->unpublished = true;
	job->hw_tail = 0;
}

u32 gen9_ring_offset(const struct ghyvi_job *base, u32 place)
{
	const struct gen9_job *job = gen9_job(base);
	const struct gen9_piece *piece;
	unsigned int i = job->nr_pieces;

	while (i > 1 && job->pieces[i - 1].place > place)
		i--;
	if (!i)
		return base->context[GHYVI_CTX_RING_HEAD];
	piece = &job->pieces[i - 1];
	return (piece->offset + min(place - piece->place, piece->bytes)) % job->ring_bytes;
}
