// SPDX-License-Identifier: GPL-2.0-only
/* Workloads for a vGPU in any state: see work.h. */
#include <string.h>
#include <unistd.h>

#include "attack.h"
#include "choices.h"
#include "commands.h"
#include "emu_kernels.h"
#include "work.h"

#define KERNELS 6u /* enum emu_kernel */
#define FLIPS 4u
#define GO 0x600du /* ends the wait of work_begin() */
#define BEGIN_US_MAX 20000u
#define RECORDS 256u

/* Pages of the fixture's data. */
enum { CODE, STATE, OUTPUT, WORD = DATA_PAGES - 1 };

static uint64_t data_address(unsigned int i)
{
	return FIXTURE_DATA + i * PAGE_BYTES;
}

/* A kernel of the tests, mostly with some bits changed: of its code, its state or its commands. */
static void compose_dispatch(void)
{
	uint32_t *batch = page_at(fixture.batch), *walker = batch + EMU_STATE_DWORDS;
	uint32_t *code = page_at(fixture.data[CODE]), *state = page_at(fixture.data[STATE]);
	enum emu_kernel kernel = below(2) ? EMU_KERNEL_ADDS : below(KERNELS);

	memset(batch, 0, PAGE_BYTES);
	emu_kernel_put(kernel, code);
	emu_kernel_descriptor(state);
	emu_kernel_state(batch, data_address(OUTPUT), data_address(STATE), data_address(CODE));
	emu_kernel_walker(walker, 1 + (below(8) ? below(16) : take(3)));
	if (kernel == EMU_KERNEL_SHARES)
		emu_kernel_share(state, walker);
	for (unsigned int n = below(FLIPS); n; n--) {
		uint32_t *const places[] = { batch, code, state };
		static const uint16_t dwords[] = { EMU_STATE_DWORDS + EMU_WALKER_DWORDS, 64, 8 };
		unsigned int i = below(3);

		places[i][below(dwords[i])] ^= 1u << below(32);
	}
	walker[EMU_WALKER_DWORDS] = MI_BATCH_END;
}

void work_dispatch(void)
{
	struct context *context = &fixture.contexts[RCS];

	context_fill(context, &fixture.tables);
	compose_dispatch();
	emit_batch(context, true, FIXTURE_BATCH);
	context_run(context, DISPATCH_LIMIT_US);
}

struct context *work_begin(void)
{
	struct context *context = &fixture.contexts[below(ENGINES)];
	const uint32_t wait[] = { MI(MI_SEMAPHORE_WAIT, 4) | SEMAPHORE_POLL | SEMAPHORE_EQUAL, GO,
				  (uint32_t)data_address(WORD), 0 };
	bool user = below(2);

	context_fill(context, &fixture.tables);
	*fixture_data(WORD) = 0;
	if (context->engine->id == RCS && below(2))
		compose_dispatch();
	else
		batch_compose(context->engine, page_at(fixture.batch));
	if (below(4))
		emit(context, wait, 4);
	emit_batch(context, user, user ? FIXTURE_BATCH : fixture.batch_address);
	context_submit(context);
	usleep(below(BEGIN_US_MAX));
	return context;
}

void work_end(struct context *context)
{
	*fixture_data(WORD) = GO;
	engine_settle(context->engine, 1, BATCH_LIMIT_US);
}

/* The address of a table of the fixture. */
static uint64_t any_table(void)
{
	volatile uint64_t *entry = tables_entry(&fixture.tables, FIXTURE_DATA, 1 + below(LEVELS));

	return machine.gpa[((uint8_t *)entry - machine.memory) / PAGE_BYTES];
}

void work_declare(void)
{
	unsigned int page = fixture.data[below(DATA_PAGES)];
	uint64_t *records = page_at(page);
	uint32_t count = below(8) ? below(16) : take(2);

	for (unsigned int i = 0; i < count && i < RECORDS; i++) {
		records[2 * i] = any_table() + 8 * below(ENTRIES);
		if (!below(WILD))
			records[2 * i] ^= take(8);
		records[2 * i + 1] =
			below(4) ? entry_of(machine.gpa[fixture.data[below(DATA_PAGES)]]) : 0;
	}
	machine_write(PVINFO_MULTICALL, (uint32_t)machine.gpa[page], 4);
	machine_write(PVINFO_MULTICALL + 4, machine.gpa[page] >> 32, 4);
	machine_write(PVINFO_NOTIFY, VGT_G2V_MULTICALL + count, 4);
}
