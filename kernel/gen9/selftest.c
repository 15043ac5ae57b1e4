// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first thing that each engine executes: a store to memory by a context of the host. The test
 * stops with a line at the first unexpected value. What the context has left is the default state
 * of all others.
 */
#include <linux/delay.h>
#include "gen9.h"

#define STORED 0x67687976u
/* The render engine's workarounds, a store, an interrupt. */
#define COMMANDS_MAX 64
#define RESULT_DWORD \
	(GHYVI_PAGE_BYTES / sizeof(u32) - 16) /* of the ring's page, after the commands */

/* Wait until the engine has nothing to do. The interrupt handler or this loop sees the event. */
static bool wait_idle(struct gen9_engine *engine)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(GEN9_SELFTEST_MS);
	bool idle;

	do {
		usleep_range(100, 200);
		spin_lock_irq(&engine->lock);
		gen9_csb_process(engine);
		idle = !engine->active[0] && !engine->pending[0];
		spin_unlock_irq(&engine->lock);
	} while (!idle && time_before(jiffies, deadline));
	return idle;
}

static void execute(struct gen9_engine *engine)
{
	const struct gen9_window *ring = engine->kernel_context->ring;
	unsigned int at = 0;

	if (engine->id == GHYVI_RCS)
		at = gen9_context_workarounds(engine->gpu, ring->cpu);
	ring->cpu[at++] = MI_STORE_DWORD_IMM_GGTT;
	ring->cpu[at++] = ring->ggtt + RESULT_DWORD * sizeof(u32);
	ring->cpu[at++] = 0;
	ring->cpu[at++] = STORED;
	ring->cpu[at++] = MI_USER_INTERRUPT;
	spin_lock_irq(&engine->lock);
	gen9_submit_kernel(engine, ALIGN(at, 2) * sizeof(u32));
	spin_unlock_irq(&engine->lock);
}

static int fail(struct gen9_engine *engine, const char *what, u32 value, u32 expected)
{
	dev_err(&engine->gpu->pdev->dev, "self-test: %s: %s is 0x%08x, expected 0x%08x\n",
		ghyvi_engine_name(engine->id), what, value, expected);
	return -EIO;
}

static int test_engine(struct gen9_engine *engine)
{
	struct gen9_context *context = engine->kernel_context;
	bool idle;
	u32 value;

	execute(engine);
	idle = wait_idle(engine);
	value = READ_ONCE(context->ring->cpu[RESULT_DWORD]);
	if (value != STORED)
		return fail(engine, "the stored value", value, STORED);
	if (!idle)
		return fail(engine, "EXECLIST_STATUS after the store",
			    gen9_engine_read(engine, RING_EXECLIST_STATUS_LO), 0);
	if (!gen9_context_reached(context, engine->kernel_tail))
		return fail(engine, "RING_HEAD of the saved context",
			    gen9_state(context)[GHYVI_CTX_RING_HEAD], engine->kernel_tail);
	value = gen9_engine_read(engine, RING_EIR);
	if (value)
		return fail(engine, "RING_EIR", value, 0);
	/* From now on the ring contains NOOPs only. */
	memset(context->ring->cpu, 0, GHYVI_PAGE_BYTES);
	gen9_state(context)[GHYVI_CTX_CONTROL] &= ~(u32)CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT;
	return gen9_context_record_default(engine, context);
}

int gen9_selftest(struct gen9 *gpu)
{
	int err = gen9_workarounds_verify(gpu);
	unsigned int i;
	u32 fault;

	for (i = 0; i < GHYVI_ENGINES && !err; i++)
		err = test_engine(&gpu->engines[i]);
	fault = err ? 0 : gen9_read(gpu, GEN8_RING_FAULT_REG);
	if (fault & RING_FAULT_VALID)
		err = fail(&gpu->engines[0], "RING_FAULT_REG", fault, 0);
	if (gen9_read(gpu, FPGA_DBG) & FPGA_DBG_RM_NOCLAIM)
		dev_warn(&gpu->pdev->dev,
			 "self-test: an access to a register reached nothing (FPGA_DBG)\n");
	return err;
}
