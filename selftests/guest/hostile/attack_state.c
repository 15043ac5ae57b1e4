// SPDX-License-Identifier: GPL-2.0-only
/* State around the commands: registers, submit ports, context images, rings. */
#include "attack.h"

#define STATE_LIMIT_US 3000u

/* ---- registers ---- */

#define ACCESSES 4u

static void any_access(struct random *random)
{
	unsigned int bytes = 1u << random_range(random, 0, 3);
	uint64_t value = one_in(random, 2) ? random_next(random) :
					     1ull << random_range(random, 0, 31);
	uint32_t offset = random_range(random, 0, REGISTERS_BYTES - 1);

	if (one_in(random, 2)) /* registers of an engine */
		offset = engines[random_range(random, 0, ENGINES - 1)].base + (offset & 0xfff);
	else if (one_in(random, 4))
		offset = PVINFO + (offset & 0xfff);
	offset &= ~(bytes - 1);
	/* any_notification() writes these. */
	if (offset + bytes > PVINFO_NOTIFY && offset < PVINFO_PDP0 + 4 * 8)
		return;
	if (one_in(random, 3))
		machine_read(offset & ~3u);
	else
		machine_write(offset, value, bytes);
}

/* Notifications name pages of this program, so that roots_retire() can destroy their trees. */
static void any_notification(struct random *random)
{
	unsigned int page = random_range(random, 0, PAGES - 1), levels = one_in(random, 2) ? 3 : 4;

	if (one_in(random, 2))
		root_announce(page, levels);
	else
		machine_write(PVINFO_NOTIFY, random_range(random, 0, 9), 4);
}

static void registers_trial(struct random *random)
{
	for (unsigned int i = 0; i < ACCESSES; i++)
		any_access(random);
	if (one_in(random, 16))
		any_notification(random);
}

const struct attack attack_registers = {
	.name = "registers",
	.what = "reads and writes of every width in all 2 MiB of registers; notifications",
	.share = 5,
	.begin = fixture_setup,
	.trial = registers_trial,
};

/* ---- the submit port ---- */

static uint64_t any_descriptor(struct random *random, const struct context *context)
{
	uint64_t descriptor = context->descriptor;

	switch (random_range(random, 0, 4)) {
	case 0:
		return random_next(random);
	case 1:
		return descriptor ^ 1ull << random_range(random, 0, 63);
	case 2: /* an LRCA without a context image */
		return (descriptor & ~0xfffff000ull) |
		       (window_start + PAGE_BYTES * random_range(random, 0, 64));
	case 3:
		return (descriptor & ~0xfffff000ull) | (window_start + window_bytes - PAGE_BYTES);
	default:
		return descriptor;
	}
}

static void port_trial(struct random *random)
{
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];
	struct engine *engine = context->engine;

	context_fill(context, &fixture.tables);
	emit_store(context, false, FIXTURE_DATA, 1);
	context->state[CTX_RING_TAIL] = context->tail;
	for (unsigned int n = random_range(random, 1, 3); n; n--)
		engine_submit(engine, any_descriptor(random, context),
			      any_descriptor(random, context));
	/* Leave an incomplete submission in the port. */
	for (unsigned int n = random_range(random, 0, 3); n; n--)
		machine_write(engine->base + RING_ELSP, random_next(random), 4);
	if (one_in(random, 2))
		engine_wait(engine, 1, STATE_LIMIT_US);
	engine_reset(engine);
}

const struct attack attack_port = {
	.name = "submit-port",
	.what = "descriptors with random bits, without an image, without waiting, and incomplete",
	.share = 6,
	.begin = fixture_setup,
	.trial = port_trial,
};

/* ---- context images ---- */

static void spoil(struct random *random, volatile uint32_t *state)
{
	static const unsigned int fields[] = {
		CTX_CONTROL,
		CTX_RING_HEAD,
		CTX_RING_TAIL,
		CTX_RING_START,
		CTX_RING_CTL,
		CTX_INDIRECT,
		CTX_INDIRECT_OFFSET,
		CTX_TIMESTAMP,
		CTX_PDP0_HIGH,
		CTX_GPR,
		0x0d,
		0x19,
		0x65,
	};
	const uint32_t values[] = {
		0,
		~0u,
		0xfff,
		PAGE_BYTES,
		window_start,
		window_start - PAGE_BYTES,
		window_start + window_bytes - PAGE_BYTES,
		window_start + window_bytes,
		fixture.kernel_address,
		fixture.batch_address | 1,
		0x1ff001,
		0x1ffff8,
		(uint32_t)random_next(random),
	};
	unsigned int field = fields[random_range(random, 0, sizeof(fields) / sizeof(*fields) - 1)];

	if (one_in(random, 8))
		field = random_range(random, 0, 0xff);
	/* Only spoil_tree() changes the root, so that roots_retire() knows all trees. */
	if (field >= CTX_PDP3_HIGH && field <= CTX_PDP0_LOW)
		return;
	state[field] = values[random_range(random, 0, sizeof(values) / sizeof(*values) - 1)];
}

static void spoil_tree(struct random *random, volatile uint32_t *state)
{
	unsigned int page = random_range(random, 0, PAGES - 1);
	uint64_t gpa = machine.gpa[page];

	/* Either outside of memory, or with bits that the host ignores. */
	if (one_in(random, 4))
		gpa |= 1ull << random_range(random, 36, 63);
	root_used(page, 4);
	state[CTX_PDP0_LOW] = (uint32_t)gpa;
	state[CTX_PDP0_HIGH] = gpa >> 32;
}

static void image_trial(struct random *random)
{
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];

	context_fill(context, &fixture.tables);
	for (unsigned int i = random_range(random, 1, 6); i; i--)
		emit_store(context, false, FIXTURE_DATA, i);
	context->state[CTX_RING_TAIL] = context->tail;
	for (unsigned int n = random_range(random, 1, 4); n; n--)
		spoil(random, context->state);
	if (one_in(random, 4))
		spoil_tree(random, context->state);
	engine_submit(context->engine, context->descriptor, 0);
	/* Change and resubmit the image while it may be running. */
	if (one_in(random, 4)) {
		spoil(random, context->state);
		engine_submit(context->engine, context->descriptor, 0);
	}
	engine_settle(context->engine, 1, STATE_LIMIT_US);
}

const struct attack attack_image = {
	.name = "context-image",
	.what = "images with fields out of range, other trees, and unmapped rings",
	.share = 9,
	.begin = fixture_setup,
	.trial = image_trial,
};

/* ---- rings ---- */

/* Commands of any length that cross the end of the ring or the tail. */
static void ring_trial(struct random *random)
{
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];
	uint32_t head = random_range(random, 0, PAGE_DWORDS - 1) * 4;
	uint32_t tail = random_range(random, 0, PAGE_DWORDS / 2 - 1) * 8;

	context_fill(context, &fixture.tables);
	for (unsigned int i = 0; i < PAGE_DWORDS; i++)
		context->ring[i] = one_in(random, PAGE_DWORDS) ? (uint32_t)random_next(random) :
								 MI_NOOP;
	/* A store that wraps at the end of the ring, with a correct or an excessive length. */
	context->ring[PAGE_DWORDS - 1] = MI(MI_STORE_DATA, 4) | (one_in(random, 4) ? 0x3ff : 0);
	context->ring[0] = (uint32_t)FIXTURE_DATA;
	if (tail >= 8 && one_in(random, 4))
		context->ring[tail / 4 - 1 - random_range(random, 0, 1)] = MI(MI_LOAD_IMM, 5);
	context->state[CTX_RING_HEAD] = head;
	context->state[CTX_RING_TAIL] = tail;
	engine_submit(context->engine, context->descriptor, 0);
	engine_settle(context->engine, 1, STATE_LIMIT_US);
}

const struct attack attack_ring = {
	.name = "ring",
	.what = "rings of random dwords, commands that cross the end of the ring or the tail",
	.share = 5,
	.begin = fixture_setup,
	.trial = ring_trial,
};
