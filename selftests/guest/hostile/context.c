// SPDX-License-Identifier: GPL-2.0-only
/* Contexts: image, ring and submission. */
#include "guest_env.h"

#define RING_BYTES PAGE_BYTES
#define RING_ENABLE 1u

static uint32_t next_id;

unsigned int image_pages = 2;

static void write_pdp(struct context *context, unsigned int pdp, uint64_t gpa)
{
	context->state[CTX_PDP0_HIGH - 4 * pdp] = gpa >> 32;
	context->state[CTX_PDP0_LOW - 4 * pdp] = (uint32_t)gpa;
}

void context_fill(struct context *context, const struct tables *tables)
{
	volatile uint32_t *state = context->state;

	for (unsigned int i = 0; i < PAGE_DWORDS; i++)
		state[i] = 0;
	state[CTX_CONTROL] = CTX_CONTROL_FIRST_LOAD;
	state[CTX_RING_START] = context->ring_start;
	state[CTX_RING_CTL] = (RING_BYTES - PAGE_BYTES) | RING_ENABLE;
	for (unsigned int pdp = 0; pdp < 4; pdp++)
		write_pdp(context, pdp, machine.gpa[tables->root]);
	context->tail = 0;
}

void context_make(struct context *context, enum engine_id id, const struct tables *tables)
{
	unsigned int first = take_page(), state = take_page(), ring = take_page();

	*context = (struct context){
		.engine = &engines[id],
		.status = page_at(first),
		.state = page_at(state),
		.ring = page_at(ring),
		.lrca = ggtt_map(machine.gpa[first]),
	};
	ggtt_map(machine.gpa[state]); /* the second page of the image */
	for (unsigned int i = 2; i < image_pages; i++)
		ggtt_map(machine.gpa[take_page()]);
	context->ring_start = ggtt_map(machine.gpa[ring]);
	next_id = next_id % 1000 + 1;
	context->descriptor = (uint64_t)next_id << 37 | context->lrca | GEN8_CTX_VALID |
			      DESC_64BIT | GEN8_CTX_PRIVILEGE;
	context_fill(context, tables);
	root_used(tables->root, 4);
}

void emit(struct context *context, const uint32_t *dwords, unsigned int count)
{
	if (context->tail + 4 * count > RING_BYTES - 8)
		give_up("a ring is full");
	for (unsigned int i = 0; i < count; i++)
		context->ring[context->tail / 4 + i] = dwords[i];
	context->tail += 4 * count;
}

void emit_store(struct context *context, bool global, uint64_t address, uint32_t value)
{
	const uint32_t store[] = {
		MI(MI_STORE_DATA, 4) | (global ? MI_GGTT : 0),
		(uint32_t)address,
		address >> 32,
		value,
	};

	emit(context, store, 4);
}

void emit_batch(struct context *context, bool user, uint64_t address)
{
	const uint32_t start[] = {
		MI(MI_BATCH_START, 3) | (user ? BATCH_PPGTT : 0),
		(uint32_t)address,
		address >> 32,
	};

	emit(context, start, 3);
}

void context_rewind(struct context *context)
{
	context->state[CTX_RING_HEAD] = 0;
	context->state[CTX_RING_TAIL] = 0;
	context->tail = 0;
}

void context_submit(struct context *context)
{
	const uint32_t noop = MI_NOOP;

	if (context->tail & 4)
		emit(context, &noop, 1);
	/* Write the commands before the tail that makes them visible. */
	__atomic_store_n(&context->state[CTX_RING_TAIL], context->tail, __ATOMIC_RELEASE);
	engine_submit(context->engine, context->descriptor, 0);
}

enum outcome context_run(struct context *context, unsigned int limit_us)
{
	context_submit(context);
	return engine_settle(context->engine, 1, limit_us);
}
