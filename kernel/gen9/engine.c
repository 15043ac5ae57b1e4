// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up of the GT and its engines: what i915 writes after a reset, in its order.
 */
#include <linux/iopoll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "gen9.h"

#define INVALIDATE_US 4000

/* Index 0 is write-back in the LLC; all entries that the backend writes have it. */
#define PRIVATE_PAT_LO 0x00030907
#define PRIVATE_PAT_HI 0x3b2b1b0b

int gen9_wait(const struct gen9 *gpu, u32 offset, u32 mask, u32 value, unsigned int us)
{
	u32 read;

	return readl_poll_timeout_atomic(gpu->regs + offset, read, (read & mask) == value, 2, us);
}

static void power_start(struct gen9 *gpu)
{
	/* Gen9 corrupts contexts if RC6 is on while one is loaded (CVE-2019-0154). */
	gen9_write(gpu, GEN6_RC_CONTROL, 0);
	gen9_write(gpu, GEN6_RC_STATE, 0);
	gen9_write(gpu, GEN9_PG_ENABLE, 0);
	gen9_write(gpu, GEN6_RP_CONTROL, 0);
}

/* Resets leave them as they are. They concern accesses by the CPU only, which no vGPU has. */
static void clear_fences(struct gen9 *gpu)
{
	unsigned int i;

	for (i = 0; i < FENCES; i++) {
		gen9_write(gpu, FENCE_REG_GEN6_LO(i), 0);
		gen9_read(gpu, FENCE_REG_GEN6_LO(i)); /* invalid before the end changes */
		gen9_write(gpu, FENCE_REG_GEN6_HI(i), 0);
	}
}

/* The first fault stays in the register, and resets leave it there. */
u32 gen9_clear_fault(struct gen9 *gpu)
{
	u32 fault = gen9_read(gpu, GEN8_RING_FAULT_REG);

	if (!(fault & RING_FAULT_VALID) || fault == ~0u)
		return 0;
	gen9_write(gpu, GEN8_RING_FAULT_REG, fault & ~(u32)RING_FAULT_VALID);
	gen9_read(gpu, GEN8_RING_FAULT_REG);
	return fault;
}

void gen9_gt_start(struct gen9 *gpu)
{
	power_start(gpu);
	gen9_clear_fault(gpu);
	clear_fences(gpu);
	gen9_gt_workarounds(gpu);
	gen9_write(gpu, GEN8_PRIVATE_PAT_LO, PRIVATE_PAT_LO);
	gen9_write(gpu, GEN8_PRIVATE_PAT_HI, PRIVATE_PAT_HI);
	/* WaGttCachingOffByDefault: the cache must be off if tables have entries of 2 MiB. */
	gen9_write(gpu, HSW_GTT_CACHE_EN, 0);
	gen9_read(gpu, HSW_GTT_CACHE_EN);
	gen9_write(gpu, GEN8_GAMW_ECO_DEV_RW_IA,
		   gen9_read(gpu, GEN8_GAMW_ECO_DEV_RW_IA) | GAMW_ECO_ENABLE_64K_IPS_FIELD);
	gen9_clock_start(gpu);
	gen9_frequency_start(gpu);
}

static void errors_start(struct gen9_engine *engine)
{
	WRITE_ONCE(engine->errors, 0);
	engine->late_sources = 0;
	engine->blames = false;
	engine->error_context = NULL;
	engine->fault_context = NULL;
	gen9_engine_write(engine, RING_EMR, ~0u);
	gen9_engine_write(engine, RING_EIR, ~0u);
	if (gen9_engine_read(engine, RING_ESR))
		dev_warn(&engine->gpu->pdev->dev, "%s: still in error after the reset: 0x%08x\n",
			 ghyvi_engine_name(engine->id), gen9_engine_read(engine, RING_ESR));
	/* Other errors than that of an instruction do not stop the engine. */
	gen9_engine_write(engine, RING_EMR, ~(u32)RING_ERROR_INSTRUCTION);
}

void gen9_engine_start(struct gen9_engine *engine)
{
	gen9_mocs_init(engine);
	gen9_engine_workarounds(engine);
	gen9_engine_write(engine, RING_HWSTAM, ~0u);
	gen9_engine_write(engine, RING_MODE, MASKED_BIT_ENABLE(RING_MODE_RUN_LIST_ENABLE));
	gen9_engine_write(engine, RING_MI_MODE, MASKED_BIT_DISABLE(MI_MODE_STOP));
	gen9_engine_write(engine, RING_HWS_PGA, engine->status->ggtt);
	gen9_engine_read(engine, RING_HWS_PGA);
	gen9_csb_reset(engine);
	errors_start(engine);
	gen9_irq_unmask(engine);
}

int gen9_engine_invalidate(struct gen9_engine *engine)
{
	static const u32 registers[GHYVI_ENGINES] = {
		[GHYVI_RCS] = GEN8_RTCR,
		[GHYVI_BCS] = GEN8_BTCR,
		[GHYVI_VCS] = GEN8_M1TCR,
		[GHYVI_VECS] = GEN8_VTCR,
	};
	u32 offset = registers[engine->id];
	int err;

	lockdep_assert_held(&engine->gpu->tlb_lock);
	gen9_write(engine->gpu, offset, 1);
	err = gen9_wait(engine->gpu, offset, 1, 0, INVALIDATE_US);
	if (err && __ratelimit(&engine->gpu->unreliable))
		dev_warn(&engine->gpu->pdev->dev, "%s: a TLB invalidation does not complete\n",
			 ghyvi_engine_name(engine->id));
	return err;
}

static int engine_init(struct gen9 *gpu, enum ghyvi_engine_id id)
{
	struct gen9_engine *engine = &gpu->engines[id];

	engine->gpu = gpu;
	engine->id = id;
	engine->base = ghyvi_engine_base(id);
	engine->image_pages = id == GHYVI_RCS ? GEN9_LR_CONTEXT_RENDER_PAGES :
						GEN8_LR_CONTEXT_OTHER_PAGES;
	engine->blocked = true;
	spin_lock_init(&engine->lock);
	init_waitqueue_head(&engine->left);
	INIT_WORK(&engine->done_work, gen9_done_work);
	INIT_WORK(&engine->error_work, gen9_error_work);
	INIT_DELAYED_WORK(&engine->watchdog, gen9_watchdog);
	INIT_DELAYED_WORK(&engine->watch, gen9_watch);
	INIT_DELAYED_WORK(&engine->unmute_work, gen9_irq_unmute);
	engine->status = gen9_window_get(gpu, NULL, 1);
	if (!engine->status)
		return -ENOMEM;
	engine->kernel_context = gen9_context_alloc(engine, NULL);
	if (!engine->kernel_context)
		return -ENOMEM;
	engine->kernel_context->ring = gen9_window_get(gpu, NULL, 1);
	if (!engine->kernel_context->ring)
		return -ENOMEM;
	gen9_context_init_kernel(engine);
	return 0;
}

int gen9_engines_init(struct gen9 *gpu)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < GHYVI_ENGINES && !err; i++)
		err = engine_init(gpu, i);
	if (err)
		gen9_engines_fini(gpu);
	return err;
}

void gen9_engines_cancel_delayed(struct gen9 *gpu)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		cancel_delayed_work_sync(&gpu->engines[i].watchdog);
		cancel_delayed_work_sync(&gpu->engines[i].watch);
		cancel_delayed_work_sync(&gpu->engines[i].unmute_work);
	}
	cancel_delayed_work_sync(&gpu->frequency_work);
}

void gen9_engines_fini(struct gen9 *gpu)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		struct gen9_engine *engine = &gpu->engines[i];

		if (!engine->gpu)
			continue;
		if (engine->kernel_context)
			gen9_context_free(engine->kernel_context, gpu);
		gen9_window_put(gpu, engine->status);
		vfree(engine->default_state);
		kvfree(engine->saved);
	}
}
