// SPDX-License-Identifier: GPL-2.0-only
/*
 * The software pGPU with arbitrary rings and batches on any engine, with nested or shadow page
 * tables. Pages that the job may not write must not change: pages of other owners, tables, and
 * read-only pages. With the auditor, every command that the engine executes must have been audited.
 *
 * Input: one byte of choices, one byte with the number of dwords in the ring, the ring, and the
 * batch.
 */
#include "../unit/softgpu_audited.h"
#include "input.h"

#define BUDGET_NS (4 * NSEC_PER_MSEC)
#define FOREIGN 0x500000ULL /* maps a page without an owner; a valid shadow never does */
#define TABLE_AS_DATA 0x501000ULL

struct machine {
	struct rig *rig;
	u8 *foreign;
	u8 kept[PAGE_SIZE]; /* original content of the table page */
	bool nested;
	struct ghyvi_audit *audit;
};

static struct machine *machine_new(unsigned int gen, bool nested)
{
	struct machine *m = calloc(1, sizeof(*m));
	struct rig *rig = rig_new(gen);

	m->rig = rig;
	m->nested = nested;
	m->audit = make_audit(rig, "full");
	m->foreign = rig_alloc(rig, 1);
	memset(m->foreign, 0xa5, PAGE_SIZE);
	if (nested) {
		rig_nest(rig);
		return m;
	}
	rig_map(rig, FOREIGN, m->foreign, 1, GHYVI_ENTRY_WRITE);
	rig_map(rig, TABLE_AS_DATA, rig->pml4, 1, GHYVI_ENTRY_WRITE);
	memcpy(m->kept, rig->pml4, PAGE_SIZE);
	return m;
}

static void clear(struct rig *rig)
{
	memset(rig->ring, 0, RING_BYTES);
	memset(rig->batch, 0, BATCH_PAGES * PAGE_SIZE);
	memset(rig->data, 0, DATA_PAGES * PAGE_SIZE);
	memset(rig->ggtt_data, 0, PAGE_SIZE);
	memset(rig->read_only, 0x3c, PAGE_SIZE);
	rig_reset(rig);
}

static void assert_filled(const u8 *page, u8 value)
{
	unsigned int i;

	for (i = 0; i < PAGE_SIZE; i++)
		assert_int_equal(page[i], value);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	static struct machine *machines[4];
	struct machine *m;
	struct rig *rig;
	u32 choice, dwords;

	input_init(data, bytes);
	choice = input_take(1);
	m = machines[choice & 3];
	if (!m)
		m = machines[choice & 3] = machine_new(choice & 1 ? 8 : 9, choice & 2);
	rig = m->rig;
	clear(rig);
	dwords = input_take(1);
	bytes = min_t(size_t, 4 * dwords, input.left);
	memcpy(rig->ring, input.at, bytes);
	rig->tail = (bytes + 7) & ~7ul;
	input.at += bytes;
	input.left -= bytes;
	memcpy(rig->batch, input.at, min_t(size_t, input.left, BATCH_PAGES * PAGE_SIZE));
	if (choice & 16)
		ring(rig, choice & 32 ? MI_BATCH_START_GGTT : MI_BATCH_START, ADDRESS(BATCH));
	rig->job.engine = choice >> 2 & 3;
	rig->job.budget_ns = BUDGET_NS;
	if (choice & 64)
		audit(rig, m->audit);
	rig_run(rig);
	ghyvi_commands_free(rig->job.commands);
	rig->job.commands = NULL;
	assert_null(strstr(rig_reason(rig), "not audited"));

	assert_filled(rig->read_only, 0x3c);
	if (!m->nested) { /* with nested tables the scratch page is an ordinary page */
		assert_filled(rig->scratch, 0);
		assert_filled(m->foreign, 0xa5);
		assert_memory_equal(rig->pml4, m->kept, PAGE_SIZE);
	}
	return 0;
}
