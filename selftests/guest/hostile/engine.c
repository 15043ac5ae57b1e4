// SPDX-License-Identifier: GPL-2.0-only
/* Start, submission, wait and reset of engines, as in a driver. */
#include <time.h>

#include "guest_env.h"

#ifndef READY_LIMIT_NS
#define READY_LIMIT_NS 500000000u /* this is a nested emulator under load */
#endif

/* Interval of reads of the error register, which trap. Reads of the status page do not. */
#define ERROR_POLL_NS 300000u

static const uint32_t bases[ENGINES] = { 0x2000, 0x22000, 0x12000, 0x1a000 };
static const uint32_t reset_bits[ENGINES] = { 1u << 1, 1u << 3, 1u << 2, 1u << 4 };

struct engine engines[ENGINES];
unsigned int slowness = 1;
uint64_t resets, errors_seen, timeouts_seen, slowest_reset_ns;

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void write_engine(const struct engine *engine, uint32_t offset, uint32_t value)
{
	machine_write(engine->base + offset, value, 4);
}

static void csb_reset(struct engine *engine)
{
	for (unsigned int i = 0; i < 2 * GEN8_CSB_ENTRIES; i++)
		engine->status[HWSP_CSB / 4 + i] = ~0u;
	engine->status[HWSP_CSB_WRITE / 4] = GEN8_CSB_ENTRIES - 1;
	engine->csb_read = GEN8_CSB_ENTRIES - 1;
}

/*
 * The writes of i915 when an engine resumes, without the workaround registers that are plain
 * storage.
 */
static void resume(struct engine *engine)
{
	write_engine(engine, RING_MODE, RUN_LISTS);
	write_engine(engine, RING_HWS_PGA, engine->status_page);
	write_engine(engine, RING_EMR, ~0u);
	write_engine(engine, RING_EIR, ~0u);
	write_engine(engine, RING_EMR, EMR_BAD_COMMAND_ONLY);
	write_engine(engine, RING_CSB_POINTER, CSB_POINTERS_RESET);
	csb_reset(engine);
}

static void reset_domain(uint32_t bits)
{
	uint64_t started = now_ns();

	machine_write(GEN6_GDRST, bits, 4);
	if (machine_read(GEN6_GDRST))
		give_up("GDRST does not read 0 after a reset");
	if (now_ns() - started > slowest_reset_ns)
		slowest_reset_ns = now_ns() - started;
	resets++;
}

void engines_start(void)
{
	unsigned int i;

	reset_domain(GEN6_GRDOM_FULL);
	for (i = 0; i < ENGINES; i++) {
		unsigned int page = take_page();

		engines[i] = (struct engine){
			.id = i,
			.base = bases[i],
			.status_page = ggtt_map(machine.gpa[page]),
			.status = page_at(page),
		};
	}
	for (i = 0; i < ENGINES; i++)
		resume(&engines[i]);
}

/*
 * After a move of BAR 0 the host executes a store to a mapped register at the next trapped access,
 * or after some ticks of its clock. So this waits for longer than i915 does, which reads PVINFO
 * first.
 */
void engine_reset(struct engine *engine)
{
	uint64_t started = now_ns();

	write_engine(engine, RING_RESET_CTL, 0x00010001);
	while (!(machine_read(engine->base + RING_RESET_CTL) & 2)) {
		if (now_ns() - started > READY_LIMIT_NS)
			give_up("RESET_CTL does not become ready");
		machine_relax();
	}
	reset_domain(reset_bits[engine->id]);
	write_engine(engine, RING_RESET_CTL, 0x00010000);
	resume(engine);
}

void engine_submit(const struct engine *engine, uint64_t element0, uint64_t element1)
{
	write_engine(engine, RING_ELSP, element1 >> 32);
	write_engine(engine, RING_ELSP, (uint32_t)element1);
	write_engine(engine, RING_ELSP, element0 >> 32);
	write_engine(engine, RING_ELSP, (uint32_t)element0);
}

/* As in i915, either of the two low bits indicates a promotion; other events are completions. */
static unsigned int completions_consume(struct engine *engine)
{
	uint32_t write = __atomic_load_n(&engine->status[HWSP_CSB_WRITE / 4], __ATOMIC_ACQUIRE);
	unsigned int completions = 0;

	/* Commands of an attack may have overwritten the write pointer. */
	while (write < GEN8_CSB_ENTRIES && engine->csb_read != write) {
		volatile uint32_t *entry;

		engine->csb_read = (engine->csb_read + 1) % GEN8_CSB_ENTRIES;
		entry = &engine->status[HWSP_CSB / 4 + 2 * engine->csb_read];
		completions += !(entry[0] & CSB_PROMOTED);
		entry[0] = ~0u;
		entry[1] = ~0u;
	}
	return completions;
}

enum outcome engine_wait(struct engine *engine, unsigned int completions, unsigned int limit_us)
{
	uint64_t started = now_ns(), look = started + ERROR_POLL_NS, now;
	unsigned int done = 0;

	for (;;) {
		done += completions_consume(engine);
		if (done >= completions)
			return RAN;
		now = now_ns();
		if (now >= look) {
			if (machine_read(engine->base + RING_EIR) & 1)
				return STOPPED;
			look = now_ns() + ERROR_POLL_NS;
		}
		if (now - started > limit_us * 1000ull * slowness)
			return TIMED_OUT;
		machine_relax();
	}
}

enum outcome engine_settle(struct engine *engine, unsigned int completions, unsigned int limit_us)
{
	enum outcome outcome = engine_wait(engine, completions, limit_us);

	errors_seen += outcome == STOPPED;
	timeouts_seen += outcome == TIMED_OUT;
	if (outcome != RAN)
		engine_reset(engine);
	return outcome;
}
