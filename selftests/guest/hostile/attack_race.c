// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two vCPUs: one submits, the other changes what was submitted. Whatever is checked must be what is used.
 */
#include "attack.h"

#define SLOTS 24u
#define SLOT_DWORDS 4u
#define FLIPS 64u /* in a batch that loops */
#define RACE_LIMIT_US 20000u /* jumps may make loops */

/* ---- (a) commands and images rewritten while they are checked and executed ---- */

enum place { IN_RING, IN_KERNEL_BATCH, IN_USER_BATCH, IN_INDIRECT, IN_IMAGE, PLACES };

static struct {
	volatile uint32_t
		*slots; /* SLOTS x SLOT_DWORDS; in a batch, behind them a jump back to them */
	unsigned int flips; /* until the jump becomes an end */
	enum place place;
	volatile uint32_t *state;
	struct context *context;
} race;

static void write_good(volatile uint32_t *slot)
{
	slot[1] = (uint32_t)STAGE_DATA;
	slot[2] = STAGE_DATA >> 32;
	slot[3] = 1;
	slot[0] = MI(MI_STORE_DATA, 4);
}

/* What must not happen, and is refused, dropped or harmless when it is seen in time. */
static void write_evil(volatile uint32_t *slot, struct random *random)
{
	uint32_t base = race.context->engine->base;

	switch (one_in(random, 8) ? random_range(random, 1, 5) : 0) {
	case 0: /* the vGPU's neighbours, or the guest's own kernel */
		slot[1] = race.place == IN_USER_BATCH ? stage.kernel_address :
							window_start + window_bytes;
		slot[2] = 0;
		slot[0] = MI(MI_STORE_DATA, 4) | MI_GGTT;
		break;
	case 1:
		slot[1] = base + RING_HWS_PGA;
		slot[2] = stage.kernel_address;
		slot[0] = MI(MI_LOAD_IMM, 3);
		break;
	case 2: /* a kernel's batch, which a user's must not start */
		slot[1] = stage.kernel_address;
		slot[2] = 0;
		slot[0] = MI(MI_BATCH_START, 3);
		break;
	case 3: /* longer than everything */
		slot[0] = MI_STORE_DATA << 23 | 0x3ff;
		break;
	case 4:
		slot[1] = (uint32_t)random_next(random);
		slot[2] = (uint32_t)random_next(random);
		break;
	default:
		slot[0] = MI(MI_UPDATE_GTT, 4);
	}
}

static void flip_image(struct random *random)
{
	static const unsigned int fields[] = { CTX_RING_START, CTX_RING_CTL, CTX_RING_HEAD,
					       CTX_INDIRECT,   CTX_PDP0_LOW, CTX_PDP0_HIGH };
	volatile uint32_t *field =
		&race.state[fields[random_range(random, 0, sizeof(fields) / sizeof(*fields) - 1)]];
	uint32_t good = *field;

	*field = (uint32_t)random_next(random) & (one_in(random, 2) ? ~0u : 0xfffff000u);
	machine_relax();
	*field = good;
}

static void flip(struct random *random)
{
	volatile uint32_t *slot = race.slots + SLOT_DWORDS * random_range(random, 0, SLOTS - 1);

	if (race.place == IN_IMAGE) {
		flip_image(random);
		return;
	}
	write_evil(slot, random);
	machine_relax();
	write_good(slot);
	if (race.flips && !--race.flips)
		race.slots[SLOTS * SLOT_DWORDS] = MI_BATCH_END;
}

static void toctou_begin(struct random *random)
{
	stage_set(random);
	other_start(flip, random_next(random));
}

static void toctou_trial(struct random *random)
{
	enum place place = random_range(random, 0, PLACES - 1);
	enum engine_id id = place == IN_INDIRECT ? RCS : random_range(random, 0, ENGINES - 1);
	struct context *context = &stage.contexts[id];
	volatile uint32_t *batch = page_at(stage.batch);
	uint32_t status_page;

	context_fill(context, &stage.tables);
	race.context = context;
	race.place = place;
	race.state = context->state;
	race.slots = place == IN_RING ? context->ring : batch;
	for (unsigned int i = 0; i < SLOTS; i++)
		write_good(race.slots + SLOT_DWORDS * i);
	race.flips = 0;
	if (place == IN_RING) {
		context->tail = SLOTS * SLOT_DWORDS * 4;
	} else if (place == IN_INDIRECT) {
		/* Six lines of 64 bytes; the slots fill exactly that. */
		context->state[CTX_INDIRECT] = stage.batch_address | SLOTS * SLOT_DWORDS * 4 / 64;
		context->state[CTX_INDIRECT_OFFSET] = CTX_INDIRECT_OFFSET_GEN9;
		emit_store(context, false, STAGE_DATA, 2);
	} else {
		bool user = place == IN_USER_BATCH;
		uint64_t address = user ? STAGE_BATCH : stage.batch_address;

		batch[SLOTS * SLOT_DWORDS + 1] = (uint32_t)address;
		batch[SLOTS * SLOT_DWORDS + 2] = address >> 32;
		batch[SLOTS * SLOT_DWORDS] = MI(MI_BATCH_START, 3) | (user ? BATCH_PPGTT : 0);
		race.flips = FLIPS;
		emit_batch(context, user, address);
	}
	other_resume();
	context_run(context, RACE_LIMIT_US);
	other_pause();
	status_page = machine_read(context->engine->base + RING_HWS_PGA);
	if (status_page != context->engine->status_page)
		effect("commands moved the status page to 0x%x", status_page);
	stage_check_kernel("commands changed in flight");
}

const struct attack attack_toctou = {
	.name = "a-toctou",
	.what = "ring, batch, indirect batch and image rewritten by another vCPU while they are executed",
	.share = 12,
	.begin = toctou_begin,
	.trial = toctou_trial,
	.end = other_stop,
};

/* ---- (b) tables rewritten while they are translated ---- */

#define RACE_VA 0x80000000ull
#define NEIGHBOUR_VA (RACE_VA + 0x200000) /* in another table */

static struct {
	volatile uint64_t *entry, *neighbours, *upper;
	uint64_t above, above_neighbours;
} race_tables;

/* Two of the stage's pages, absent, or garbage. */
static uint64_t any_target(struct random *random)
{
	switch (random_range(random, 0, 4)) {
	case 0:
		return 0;
	case 1:
		return random_next(random);
	default:
		return entry_of(machine.gpa[stage.data[random_range(random, 0, 1)]]);
	}
}

static void rewrite(struct random *random)
{
	entry_write(race_tables.entry, any_target(random));
	entry_write(&race_tables.neighbours[random_range(random, 0, ENTRIES - 1)],
		    any_target(random));
	if (one_in(random, 16))
		entry_write(race_tables.upper,
			    one_in(random, 2) ? race_tables.above : race_tables.above_neighbours);
}

static void table_race_begin(struct random *random)
{
	stage_set(random);
	race_tables.entry = tables_entry(&stage.tables, RACE_VA, 1);
	race_tables.neighbours = tables_entry(&stage.tables, NEIGHBOUR_VA, 1);
	race_tables.upper = tables_entry(&stage.tables, RACE_VA, 2);
	race_tables.above = *race_tables.upper;
	race_tables.above_neighbours = *tables_entry(&stage.tables, NEIGHBOUR_VA, 2);
	other_start(rewrite, random_next(random));
}

/* First in the middle of the storm, where only bounds hold; then in the calm after it, where the last word counts. */
static void table_race_trial(struct random *random)
{
	enum engine_id id = random_range(random, 0, ENGINES - 1);
	uint32_t value = (uint32_t)random_next(random) | 1;
	unsigned int chosen = random_range(random, 0, 2); /* one of the two pages, or none */
	volatile uint32_t *word[2] = { stage_data(0), stage_data(1) };
	enum outcome outcome;

	other_resume();
	stage_store(id, RACE_VA, 1);
	other_pause();

	entry_write(race_tables.upper, race_tables.above);
	entry_write(race_tables.entry, chosen < 2 ? entry_of(machine.gpa[stage.data[chosen]]) : 0);
	*word[0] = *word[1] = 0;
	outcome = stage_store(id, RACE_VA, value);
	if (outcome == TIMED_OUT || (outcome == RAN) != (chosen < 2))
		effect("a store through a table that was rewritten before ended with %d", outcome);
	for (unsigned int i = 0; i < 2; i++)
		if (*word[i] != (i == chosen ? value : 0))
			effect("page %u is 0x%x, the table names page %u", i, *word[i], chosen);
}

const struct attack attack_table_race = {
	.name = "b-table-race",
	.what = "table entries, also above the last level, rewritten by another vCPU while they are translated",
	.share = 10,
	.begin = table_race_begin,
	.trial = table_race_trial,
	.end = other_stop,
};
