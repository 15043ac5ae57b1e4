// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first thing that each engine executes: a batch of a context of the host, in the GGTT as the
 * copies of guests' batches. What isolation relies on is tried: the batch accesses the GGTT and the
 * PPGTT as its commands say, the PPGTT drops stores to entries without the right to write, and the
 * end of the batch is the end of its state. The test stops with a line at the first unexpected
 * value; those before it are in the report (report.c). What the context has left is the default
 * state of all others.
 */
#include <linux/delay.h>
#include <linux/string.h>
#include "gen9.h"

#define STORED 0x67687976u
#define LOST 0x6c6f7374u
/* Indices in the ring's page: the batch, and what commands store or must not store. */
#define BATCH_DWORD (GHYVI_PAGE_BYTES / sizeof(u32) / 2)
#define RESULT_DWORD (GHYVI_PAGE_BYTES / sizeof(u32) - 16)
#define LOST_DWORD (RESULT_DWORD + 1)
#define LOST_BLIT_DWORD (RESULT_DWORD + 2)

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

static u32 address_of(const struct gen9_window *ring, unsigned int dword)
{
	return ring->ggtt + dword * sizeof(u32);
}

/* All addresses of the host's PPGTT are the scratch page, which is read-only. */
static void put_batch(struct gen9_engine *engine, u32 *batch)
{
	const struct gen9_window *ring = engine->kernel_context->ring;

	*batch++ = MI_STORE_DWORD_IMM_PPGTT;
	*batch++ = address_of(ring, LOST_DWORD);
	*batch++ = 0;
	*batch++ = LOST;
	if (engine->id == GHYVI_BCS) { /* one pixel */
		*batch++ = XY_COLOR_BLT_32;
		*batch++ = BLT_DEPTH_32 | BLT_ROP_PATCOPY | sizeof(u32);
		*batch++ = 0;
		*batch++ = 1 << 16 | 1;
		*batch++ = address_of(ring, LOST_BLIT_DWORD);
		*batch++ = 0;
		*batch++ = LOST;
	}
	*batch++ = MI_STORE_DWORD_IMM_GGTT;
	*batch++ = address_of(ring, RESULT_DWORD);
	*batch++ = 0;
	*batch++ = STORED;
	*batch++ = MI_BATCH_BUFFER_END;
}

static void execute_batch(struct gen9_engine *engine)
{
	const struct gen9_window *ring = engine->kernel_context->ring;
	unsigned int count = 0;

	put_batch(engine, ring->cpu + BATCH_DWORD);
	if (engine->id == GHYVI_RCS)
		count = gen9_context_workarounds(engine->gpu, ring->cpu);
	ring->cpu[count++] = MI_BATCH_BUFFER_START_GGTT;
	ring->cpu[count++] = address_of(ring, BATCH_DWORD);
	ring->cpu[count++] = 0;
	ring->cpu[count++] = MI_USER_INTERRUPT;
	spin_lock_irq(&engine->lock);
	gen9_submit_kernel(engine, ALIGN(count, 2) * sizeof(u32));
	spin_unlock_irq(&engine->lock);
}

/* Returns 0 or, unless @ok, -EIO. */
static int judge_value(struct gen9_engine *engine, const char *what, u32 value, u32 expected,
		       bool ok)
{
	gen9_note(engine->gpu, &(struct gen9_finding){ .engine = engine->id,
						       .what = what,
						       .value = value,
						       .expected = expected,
						       .ok = ok });
	if (ok)
		return 0;
	dev_err(&engine->gpu->pdev->dev, "self-test: %s: %s is 0x%08x, expected 0x%08x\n",
		ghyvi_engine_name(engine->id), what, value, expected);
	return -EIO;
}

static int compare_value(struct gen9_engine *engine, const char *what, u32 value, u32 expected)
{
	return judge_value(engine, what, value, expected, value == expected);
}

/* What the batch has stored, and what it has not. */
static int check_stores(struct gen9_engine *engine)
{
	const u32 *ring = engine->kernel_context->ring->cpu;
	u8 *other = memchr_inv(page_address(engine->gpu->scratch[0].page), 0, GHYVI_PAGE_BYTES);
	int err = compare_value(engine, "the stored value", READ_ONCE(ring[RESULT_DWORD]), STORED);

	if (!err)
		err = compare_value(engine, "what a store to the PPGTT has left in the GGTT",
				    READ_ONCE(ring[LOST_DWORD]), 0);
	if (!err && engine->id == GHYVI_BCS)
		err = compare_value(engine, "what a blit to the PPGTT has left in the GGTT",
				    READ_ONCE(ring[LOST_BLIT_DWORD]), 0);
	if (!err)
		err = compare_value(engine, "what a store has left in a read-only page",
				    other ? *other : 0, 0);
	return err;
}

/*
 * What keeps the state of threads from those of other contexts is in a batch that the render engine
 * has to execute in each restore. The ring contains NOOPs, and the image is valid.
 */
static int test_restore(struct gen9_engine *engine)
{
	u32 *stored = engine->kernel_context->image->cpu + LRC_PPHWSP_SCRATCH;

	if (engine->id != GHYVI_RCS)
		return 0;
	WRITE_ONCE(*stored, 0);
	spin_lock_irq(&engine->lock);
	gen9_submit_kernel(engine, engine->kernel_tail + GEN9_TAIL_BYTES);
	spin_unlock_irq(&engine->lock);
	wait_idle(engine);
	return compare_value(engine, "what the batch of a restore has stored", READ_ONCE(*stored),
			     GEN9_RESTORED);
}

/*
 * Which registers images save follows from the image itself, whose rest may be unknown. A register
 * that is not found is safe: no guest may write it. But guests lose its value.
 */
static void check_saved(const struct gen9_engine *engine)
{
	struct device *dev = &engine->gpu->pdev->dev;
	const char *name = ghyvi_engine_name(engine->id);
	unsigned int i;
	u32 offset;

	dev_info(dev, "%s: images save %u registers, up to dword 0x%x: 0x%08x\n", name,
		 engine->nr_saved, engine->saved_end, engine->default_state[engine->saved_end]);
	for (i = 0; (offset = gen9_needed_register(engine, i)); i++)
		if (!gen9_saved_find(engine, offset))
			dev_warn(dev, "self-test: %s: images do not save register 0x%x\n", name,
				 offset);
}

static int test_engine(struct gen9_engine *engine)
{
	struct gen9_context *context = engine->kernel_context;
	const u32 *state = gen9_state(context);
	bool idle;
	u32 value;
	int err;

	execute_batch(engine);
	idle = wait_idle(engine);
	err = check_stores(engine);
	value = err || idle ? 0 : gen9_engine_read(engine, RING_EXECLIST_STATUS_LO);
	if (!err)
		err = judge_value(engine, "EXECLIST_STATUS after the store", value, 0, idle);
	value = state[CTX_BB_HEAD_L];
	if (!err)
		err = compare_value(engine, "RING_BBADDR of the saved context", value,
				    value & ~(u32)CTX_BB_HEAD_VALID);
	value = state[GHYVI_CTX_RING_HEAD];
	if (!err)
		err = judge_value(engine, "RING_HEAD of the saved context", value,
				  engine->kernel_tail,
				  gen9_context_reached(context, engine->kernel_tail));
	if (!err)
		err = compare_value(engine, "RING_EIR", gen9_engine_read(engine, RING_EIR), 0);
	if (err)
		return err;
	/* From now on the ring contains NOOPs only. */
	memset(context->ring->cpu, 0, GHYVI_PAGE_BYTES);
	gen9_state(context)[GHYVI_CTX_CONTROL] &= ~(u32)CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT;
	err = gen9_context_record_default(engine, context);
	if (err)
		return err;
	check_saved(engine);
	return test_restore(engine);
}

int gen9_selftest(struct gen9 *gpu)
{
	int err = gen9_workarounds_verify(gpu);
	unsigned int i;
	u32 fault;

	for (i = 0; i < GHYVI_ENGINES && !err; i++)
		err = test_engine(&gpu->engines[i]);
	fault = err ? 0 : gen9_read(gpu, GEN8_RING_FAULT_REG);
	if (!err)
		err = judge_value(&gpu->engines[0], "RING_FAULT_REG", fault, 0,
				  !(fault & RING_FAULT_VALID));
	if (gen9_read(gpu, FPGA_DBG) & FPGA_DBG_RM_NOCLAIM)
		dev_warn(&gpu->pdev->dev,
			 "self-test: an access to a register reached nothing (FPGA_DBG)\n");
	return err;
}
