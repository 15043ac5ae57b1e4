// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets by GDRST. An engine forgets its execution lists and its registers; the GGTT, fences, PPAT
 * and interrupt banks survive (PRM vol. 2c, "GDRST"; i915 rewrites what it expects to be lost).
 */
#include <linux/string.h>
#include "emu.h"

#define GEN9_GRDOM_GUC BIT(5)
#define SLOW_RESET_ONE_IN 4
#define SLOW_RESETS_MAX 2 /* i915 tries three times */

static u32 reset_bit(enum ghyvi_engine_id id)
{
	static const u32 bits[GHYVI_ENGINES] = {
		[GHYVI_RCS] = GEN6_GRDOM_RENDER,
		[GHYVI_BCS] = GEN6_GRDOM_BLT,
		[GHYVI_VCS] = GEN6_GRDOM_MEDIA,
		[GHYVI_VECS] = GEN6_GRDOM_VECS,
	};

	return bits[id];
}

static void clear(struct emu *emu, u32 first, u32 bytes)
{
	memset(emu_reg(emu, first), 0, bytes);
}

/* Registers outside of the engine's page that its reset loses. */
static void clear_domain(struct emu_engine *engine)
{
	struct emu *emu = engine->emu;

	switch (engine->cs.id) {
	case GHYVI_RCS:
		clear(emu, CACHE_MODE_0_GEN7, 0x1000);
		clear(emu, 0xb000, 0x200);
		clear(emu, 0xe000, 0x900);
		clear(emu, GEN9_GFX_MOCS, MOCS_BYTES);
		break;
	case GHYVI_VCS:
		clear(emu, GEN9_MFX0_MOCS, MOCS_BYTES);
		break;
	case GHYVI_VECS:
		clear(emu, GEN9_VEBOX_MOCS, MOCS_BYTES);
		break;
	case GHYVI_BCS:
		clear(emu, GEN9_BLT_MOCS, MOCS_BYTES);
		break;
	default:
		break;
	}
}

/* Reset values of an engine's page. RESET_CTL keeps the handshake. */
void emu_engine_reset(struct emu_engine *engine)
{
	struct emu *emu = engine->emu;
	u32 control = *emu_reg(emu, engine->cs.base + RING_RESET_CTL);
	unsigned int i;

	emu_execlist_reset(engine);
	emu_tlb_invalidate(engine);
	emu_compute_reset(engine);
	memset(engine->cs.gpr, 0, sizeof(engine->cs.gpr));
	clear(emu, engine->cs.base, ENGINE_REGISTERS_BYTES);
	clear_domain(engine);
	for (i = 0; i < RING_FORCE_TO_NONPRIV_SLOTS; i++)
		*emu_reg(emu, EMU_NONPRIV_SLOT(engine, i)) = engine->cs.base + RING_NOPID;
	*emu_reg(emu, engine->cs.base + RING_IMR) = ~0u;
	*emu_reg(emu, engine->cs.base + RING_EMR) = ~0u;
	*emu_reg(emu, engine->cs.base + RING_RESET_CTL) = control;
}

/*
 * Before its reset an engine is stopped and has acknowledged the request; a reset of a running
 * engine can hang the system (PRM vol. 2c, "RESET_CTL"; i915: gen8_engine_reset_prepare()).
 */
static void check_ready(struct emu_engine *engine)
{
	u32 control = *emu_reg(engine->emu, engine->cs.base + RING_RESET_CTL);
	bool stopped = emu_engine_stopped(engine) || engine->state == EMU_HUNG;

	if (engine->state == EMU_IDLE || (stopped && control & RESET_CTL_REQUEST))
		return;
	emu_violation(engine->emu, EMU_RESET_RUNNING, "%s: MI_MODE %#x RESET_CTL %#x",
		      emu_engine_name(engine),
		      *emu_reg(engine->emu, engine->cs.base + RING_MI_MODE), control);
}

void emu_gdrst_write(struct emu *emu, u32 value)
{
	unsigned int i;

	emu->resets++;
	/* i915 retries the resets of engines; that of the GuC has never failed it. */
	if (value != GEN9_GRDOM_GUC && emu->slow_resets < SLOW_RESETS_MAX &&
	    emu_adversary_strikes(&emu->adversary, EMU_SLOW_RESET, SLOW_RESET_ONE_IN)) {
		emu->slow_resets++;
		*emu_reg(emu, GEN6_GDRST) = value; /* never completes: software must try again */
		return;
	}
	emu->slow_resets = 0;
	*emu_reg(emu, GEN6_GDRST) = 0;
	for (i = 0; i < GHYVI_ENGINES; i++) {
		if (!(value & (GEN6_GRDOM_FULL | reset_bit(i))))
			continue;
		check_ready(&emu->engines[i]);
		emu_engine_reset(&emu->engines[i]);
	}
	if (value & (GEN6_GRDOM_FULL | GEN9_GRDOM_GUC))
		*emu_reg(emu, GUC_STATUS) |= GUC_STATUS_MIA_IN_RESET;
}

u32 emu_gdrst_read(struct emu *emu)
{
	return *emu_reg(emu, GEN6_GDRST);
}
