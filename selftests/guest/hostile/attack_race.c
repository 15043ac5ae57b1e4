// SPDX-License-Identifier: GPL-2.0-only
/*
 * Races of two vCPUs: one submits, the other changes the submitted data. The host must use the same
 * data that it has checked.
 */
#include "attack.h"

#define SLOTS 24u
#define SLOT_DWORDS 4u
#define FLIPS 64u /* number of changes of a batch that loops */
#define RACE_LIMIT_US 20000u /* jumps may create loops */

/* ---- (a) commands and images that change while they are checked and executed ---- */

enum place { IN_RING, IN_KERNEL_BATCH, IN_USER_BATCH, IN_INDIRECT, IN_IMAGE, PLACES };

static struct {
	volatile uint32_t
		*slots; /* SLOTS x SLOT_DWORDS; in a batch, a jump back to the first one follows */
	unsigned int flips; /* number of changes until an end of the batch replaces the jump */
	enum place place;
	volatile uint32_t *state;
	struct context *context;
} race;

static void write_good(volatile uint32_t *slot)
{
	slot[1] = (uint32_t)FIXTURE_DATA;
	slot[2] = FIXTURE_DATA >> 32;
	slot[3] = 1;
	slot[0] = MI(MI_STORE_DATA, 4);
}

/* Commands that must have no effect: the host rejects or drops them, or they are harmless. */
static void write_evil(volatile uint32_t *slot, struct random *random)
{
	uint32_t base = race.context->engine->base;

	switch (one_in(random, 8) ? random_range(random, 1, 5) : 0) {
	case 0: /* a store to another vGPU's range, or to the guest's kernel */
		slot[1] = race.place == IN_USER_BATCH ? fixture.kernel_address :
							window_start + window_bytes;
		slot[2] = 0;
		slot[0] = MI(MI_STORE_DATA, 4) | MI_GGTT;
		break;
	case 1:
		slot[1] = base + RING_HWS_PGA;
		slot[2] = fixture.kernel_address;
		slot[0] = MI(MI_LOAD_IMM, 3);
		break;
	case 2: /* a privileged batch, which a user batch must not start */
		slot[1] = fixture.kernel_address;
		slot[2] = 0;
		slot[0] = MI(MI_BATCH_START, 3);
		break;
	case 3: /* longer than the ring or batch */
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
	fixture_setup(random);
	second_vcpu_start(flip, random_next(random));
}

static void toctou_trial(struct random *random)
{
	enum place place = random_range(random, 0, PLACES - 1);
	enum engine_id id = place == IN_INDIRECT ? RCS : random_range(random, 0, ENGINES - 1);
	struct context *context = &fixture.contexts[id];
	volatile uint32_t *batch = page_at(fixture.batch);
	uint32_t status_page;

	context_fill(context, &fixture.tables);
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
		/* The size is in cache lines of 64 bytes, which the slots fill exactly. */
		context->state[CTX_INDIRECT] = fixture.batch_address | SLOTS * SLOT_DWORDS * 4 / 64;
		context->state[CTX_INDIRECT_OFFSET] = CTX_INDIRECT_OFFSET_GEN9;
		emit_store(context, false, FIXTURE_DATA, 2);
	} else {
		bool user = place == IN_USER_BATCH;
		uint64_t address = user ? FIXTURE_BATCH : fixture.batch_address;

		batch[SLOTS * SLOT_DWORDS + 1] = (uint32_t)address;
		batch[SLOTS * SLOT_DWORDS + 2] = address >> 32;
		batch[SLOTS * SLOT_DWORDS] = MI(MI_BATCH_START, 3) | (user ? BATCH_PPGTT : 0);
		race.flips = FLIPS;
		emit_batch(context, user, address);
	}
	second_vcpu_resume();
	context_run(context, RACE_LIMIT_US);
	second_vcpu_pause();
	status_page = machine_read(context->engine->base + RING_HWS_PGA);
	if (status_page != context->engine->status_page)
		effect("commands moved the status page to 0x%x", status_page);
	fixture_check_kernel("commands changed in flight");
}

const struct attack attack_toctou = {
	.name = "a-toctou",
	.what = "ring, batch, indirect batch and image that another vCPU changes during execution",
	.share = 12,
	.begin = toctou_begin,
	.trial = toctou_trial,
	.end = second_vcpu_stop,
};

/* ---- (b) tables that change while they are translated ---- */

#define RACE_VA 0x80000000ull
#define NEIGHBOUR_VA (RACE_VA + 0x200000) /* in another table */

static struct {
	volatile uint64_t *entry, *neighbours, *upper;
	uint64_t above, above_neighbours;
} race_tables;

/* An entry for one of two data pages, absent, or random. */
static uint64_t any_target(struct random *random)
{
	switch (random_range(random, 0, 4)) {
	case 0:
		return 0;
	case 1:
		return random_next(random);
	default:
		return entry_of(machine.gpa[fixture.data[random_range(random, 0, 1)]]);
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
	fixture_setup(random);
	race_tables.entry = tables_entry(&fixture.tables, RACE_VA, 1);
	race_tables.neighbours = tables_entry(&fixture.tables, NEIGHBOUR_VA, 1);
	race_tables.upper = tables_entry(&fixture.tables, RACE_VA, 2);
	race_tables.above = *race_tables.upper;
	race_tables.above_neighbours = *tables_entry(&fixture.tables, NEIGHBOUR_VA, 2);
	second_vcpu_start(rewrite, random_next(random));
}

/*
 * The first store runs during the changes, so only the isolation can be checked. The second store
 * runs after them and must use the last value of the entries.
 */
static void table_race_trial(struct random *random)
{
	enum engine_id id = random_range(random, 0, ENGINES - 1);
	uint32_t value = (uint32_t)random_next(random) | 1;
	unsigned int chosen = random_range(random, 0, 2); /* one of the two pages, or none */
	volatile uint32_t *word[2] = { fixture_data(0), fixture_data(1) };
	enum outcome outcome;

	second_vcpu_resume();
	fixture_store(id, RACE_VA, 1);
	second_vcpu_pause();

	entry_write(race_tables.upper, race_tables.above);
	entry_write(race_tables.entry,
		    chosen < 2 ? entry_of(machine.gpa[fixture.data[chosen]]) : 0);
	*word[0] = *word[1] = 0;
	outcome = fixture_store(id, RACE_VA, value);
	if (outcome == TIMED_OUT || (outcome == RAN) != (chosen < 2))
		effect("a store through a table that was changed before ended with %d", outcome);
	for (unsigned int i = 0; i < 2; i++)
		if (*word[i] != (i == chosen ? value : 0))
			effect("page %u is 0x%x, the table maps page %u", i, *word[i], chosen);
}

const struct attack attack_table_race = {
	.name = "b-table-race",
	.what = "table entries of all levels that another vCPU changes during translation",
	.share = 10,
	.begin = table_race_begin,
	.trial = table_race_trial,
	.end = second_vcpu_stop,
};
