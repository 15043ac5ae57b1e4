// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workarounds, with the names of Intel's list, as i915 applies them (gt/intel_workarounds.c).
 * Guests apply theirs to registers of their own; of those only what contexts save reaches the
 * hardware.
 */
#include <linux/string.h>
#include "gen9.h"

/* Revisions at which a workaround begins or ends. Those of Kaby Lake are not in their order. */
#define SKL_REVISION_H0 7
#define KBL_REVISION_B0 1
#define KBL_REVISION_F0 4
#define KBL_REVISION_G0 7

/* A pass over the registers with workarounds: either writes them, or compares. */
struct pass {
	struct gen9 *gpu;
	bool verify;
	bool failed;
};

/*
 * Reads of these come from one of several units, which may be fused off: Intel's own machines have
 * read such a register as 0 although the workaround was there.
 */
static bool is_multicast(u32 offset)
{
	static const struct {
		u32 first, last;
	} ranges[] = { { 0x5500, 0x55ff },
		       { 0x7000, 0x7fff },
		       { 0x9400, 0x97ff },
		       { 0xb000, 0xb3ff },
		       { 0xe000, 0xe7ff } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		if (offset >= ranges[i].first && offset <= ranges[i].last)
			return true;
	return false;
}

static void report_register(struct pass *pass, u32 offset, u32 value, u32 expected)
{
	if (is_multicast(offset)) {
		dev_warn(&pass->gpu->pdev->dev,
			 "self-test: register 0x%x reads as 0x%08x, expected 0x%08x\n", offset,
			 value, expected);
		return;
	}
	dev_err(&pass->gpu->pdev->dev, "self-test: register 0x%x is 0x%08x, expected 0x%08x\n",
		offset, value, expected);
	pass->failed = true;
}

/* As i915 applies its lists: what has the value already is not written. */
static void change_bits(struct pass *pass, u32 offset, u32 clear, u32 set)
{
	u32 old, value;

	if (pass->failed)
		return;
	old = gen9_read(pass->gpu, offset);
	value = (old & ~clear) | set;
	if (pass->verify)
		gen9_note(pass->gpu, &(struct gen9_finding){ .offset = offset,
							     .value = old,
							     .expected = value,
							     .ok = old == value });
	if (value == old)
		return;
	if (pass->verify)
		report_register(pass, offset, old, value);
	else
		gen9_write(pass->gpu, offset, value);
}

static void set_bits(struct pass *pass, u32 offset, u32 bits)
{
	change_bits(pass, offset, 0, bits);
}

static void clear_bits(struct pass *pass, u32 offset, u32 bits)
{
	change_bits(pass, offset, bits, 0);
}

static void set_masked_bits(struct pass *pass, u32 offset, u32 bits)
{
	if (pass->verify)
		set_bits(pass, offset, bits);
	else
		gen9_write(pass->gpu, offset, MASKED_BIT_ENABLE(bits));
}

static bool has_dispatch_workarounds(const struct gen9 *gpu)
{
	return gpu->platform == GEN9_COFFEELAKE || gpu->platform == GEN9_COMETLAKE;
}

/* A0 and B0. */
static bool is_early_kaby_lake(const struct gen9 *gpu)
{
	return gpu->platform == GEN9_KABYLAKE && gpu->pdev->revision <= KBL_REVISION_B0;
}

/* WaProgramMgsrForCorrectSliceSpecificMmioReads: read from a subslice that exists. */
static void select_subslice(struct gen9 *gpu)
{
	u32 disabled = (gen9_read(gpu, GEN8_FUSE2) & GEN9_F2_SS_DIS_MASK) >> GEN9_F2_SS_DIS_SHIFT;
	u32 value = gen9_read(gpu, GEN8_MCR_SELECTOR);

	value &= ~(u32)(GEN8_MCR_SLICE_MASK | GEN8_MCR_SUBSLICE_MASK);
	gen9_write(gpu, GEN8_MCR_SELECTOR, value | GEN8_MCR_SUBSLICE(ffz(disabled) & 3));
}

static void gt_bits(struct pass *pass)
{
	const struct gen9 *gpu = pass->gpu;
	u8 revision = gpu->pdev->revision;

	/* WaCompressedResourceSamplerPbeMediaNewHashMode */
	set_bits(pass, MMCD_MISC_CTRL, MMCD_PCLA | MMCD_HOTSPOT_EN);
	/* WaDisableHDCInvalidation, WaDisableKillLogic */
	set_bits(pass, GAM_ECOCHK,
		 BDW_DISABLE_HDC_INVALIDATION |
			 (has_dispatch_workarounds(gpu) ? 0 : ECOCHK_DIS_TLB));
	if (is_early_kaby_lake(gpu)) {
		/* WaDisableDynamicCreditSharing */
		set_bits(pass, GAMT_CHKN_BIT_REG, GAMT_CHKN_DISABLE_DYNAMIC_CREDIT_SHARING);
		/* WaDisableSDEUnitClockGating, WaDisableGamClockGating */
		set_bits(pass, GEN8_UCGCTL6, GEN8_SDEUNIT_CLOCK_GATE_DISABLE);
		set_bits(pass, GEN6_UCGCTL1, GEN6_GAMUNIT_CLOCK_GATE_DISABLE);
	}
	/* WaDisableGafsUnitClkGating */
	set_bits(pass, GEN7_UCGCTL4, GEN8_EU_GAUNIT_CLOCK_GATE_DISABLE);
	if (gpu->platform != GEN9_SKYLAKE || revision < SKL_REVISION_H0)
		set_bits(pass, GEN9_GAMT_ECO_REG_RW_IA, /* WaInPlaceDecompressionHang */
			 GAMT_ECO_ENABLE_IN_PLACE_DECOMPRESS);
}

void gen9_gt_workarounds(struct gen9 *gpu)
{
	struct pass pass = { .gpu = gpu };

	select_subslice(gpu);
	gt_bits(&pass);
	gen9_write(gpu, GEN8_L3_LRA_1_GPGPU, L3_LRA_1_GPGPU_SKL); /* WaIncreaseDefaultTLBEntries */
	if (gpu->platform == GEN9_SKYLAKE) /* WaDisableDopClockGating */
		gen9_write(gpu, GEN7_MISCCPCTL,
			   gen9_read(gpu, GEN7_MISCCPCTL) & ~(u32)GEN7_DOP_CLOCK_GATE_ENABLE);
}

static void render_bits(struct pass *pass)
{
	/* FtrPerCtxtPreemptionGranularityControl */
	set_masked_bits(pass, GEN7_FF_SLICE_CS_CHICKEN1, GEN9_FFSC_PERCTX_PREEMPT_CTRL);
	/* WaEnableGapsTsvCreditFix */
	set_bits(pass, GEN8_GARBCNTL, GEN9_GAPS_TSV_CREDIT_DISABLE);
	/* WaContextSwitchWithConcurrentTLBInvalidate */
	set_masked_bits(pass, GEN9_CSFE_CHICKEN1_RCS, GEN9_PREEMPT_GPGPU_SYNC_SWITCH_DISABLE);
	/* WaEnableLbsSlaRetryTimerDecrement */
	set_bits(pass, GEN9_SCRATCH1, GEN9_LBS_SLA_RETRY_TIMER_DECREMENT_ENABLE);
	/* WaOCLCoherentLineFlush */
	set_bits(pass, GEN8_L3SQCREG4, GEN8_LQSC_FLUSH_COHERENT_LINES);
	/* Atomics in the L3 cache can hang the GPU. */
	clear_bits(pass, GEN9_SCRATCH_LNCF1, GEN9_LNCF_NONIA_COHERENT_ATOMICS_ENABLE);
	clear_bits(pass, GEN8_L3SQCREG4, GEN8_LQSQ_NONIA_COHERENT_ATOMICS_ENABLE);
	clear_bits(pass, GEN9_SCRATCH1, EVICTION_PERF_FIX_ENABLE);
}

/* WaKBLVECSSemaphoreWaitPoll: before F0. */
static bool polls_semaphores(const struct gen9 *gpu)
{
	u8 revision = gpu->pdev->revision;

	return gpu->platform == GEN9_KABYLAKE && revision != KBL_REVISION_F0 &&
	       revision < KBL_REVISION_G0;
}

/* What a slot without use names: a register without effect. */
static u32 no_slot(const struct gen9_engine *engine)
{
	return engine->base + RING_NOPID;
}

/* Returns the value of FORCE_TO_NONPRIV slot @slot of the render engine; 0: it has no use. */
static u32 nonpriv_slot(const struct gen9 *gpu, unsigned int slot)
{
	switch (slot) {
	case 0:
		return GEN9_CTX_PREEMPT_REG; /* WaVFEStateAfterPipeControlwithMediaStateClear */
	case 1:
		return GEN8_CS_CHICKEN1; /* WaEnablePreemptionGranularityControlByUMD */
	case 2:
		return COMMON_SLICE_CHICKEN2; /* WaSendPushConstantsFromMMIO */
	case 3:
		return GEN8_HDC_CHICKEN1; /* WaAllowUMDToModifyHDCChicken1 */
	case 4:
		/* WaAllowPMDepthAndInvocationCountAccessFromUMD */
		if (has_dispatch_workarounds(gpu))
			return PS_INVOCATION_COUNT | RING_FORCE_TO_NONPRIV_ACCESS_RD |
			       RING_FORCE_TO_NONPRIV_RANGE_4;
		/*
		 * WaDisableLSQCROPERFforOCL is for L3SQCREG4, which no context saves: its value is
		 * the host's, so user batches do not get it.
		 */
		return 0;
	default:
		return 0;
	}
}

bool gen9_is_whitelisted(const struct gen9 *gpu, u32 offset)
{
	unsigned int i;

	for (i = 0; i < RING_FORCE_TO_NONPRIV_SLOTS; i++)
		if (offset && nonpriv_slot(gpu, i) == offset)
			return true;
	return false;
}

/*
 * User batches of the render engine can read how long their context ran. i915 lets those of Comet
 * Lake's other engines, too.
 */
static u32 context_timestamp_slot(const struct gen9_engine *engine)
{
	return engine->gpu->platform == GEN9_COMETLAKE ?
		       (engine->base + RING_CTX_TIMESTAMP) | RING_FORCE_TO_NONPRIV_ACCESS_RD :
		       0;
}

/* A former driver may have left slots, and user batches of most engines are not audited. */
static void write_slots(struct gen9_engine *engine)
{
	unsigned int i;

	for (i = 0; i < RING_FORCE_TO_NONPRIV_SLOTS; i++) {
		u32 value = engine->id == GHYVI_RCS ? nonpriv_slot(engine->gpu, i) :
			    i			    ? 0 :
						      context_timestamp_slot(engine);

		gen9_engine_write(engine, (RING_FORCE_TO_NONPRIV_FIRST & 0xfff) + 4 * i,
				  value ?: no_slot(engine));
	}
}

void gen9_engine_workarounds(struct gen9_engine *engine)
{
	struct pass pass = { .gpu = engine->gpu };

	if (engine->id == GHYVI_RCS)
		render_bits(&pass);
	else if (polls_semaphores(engine->gpu))
		gen9_engine_write(engine, RING_SEMA_WAIT_POLL, 1);
	write_slots(engine);
}

int gen9_workarounds_verify(struct gen9 *gpu)
{
	struct pass pass = { .gpu = gpu, .verify = true };

	gt_bits(&pass);
	render_bits(&pass);
	return pass.failed ? -EIO : 0;
}

/* Bits of masked registers that contexts save. */
static const struct {
	u32 offset, set, clear;
	bool not_skylake, not_early_kaby_lake;
} context_bits[] = {
	/* WaCompressedResourceSamplerPbeMediaNewHashMode */
	{ COMMON_SLICE_CHICKEN2, GEN9_PBE_COMPRESSED_HASH_SELECTION, 0, false, false },
	/* and WaEnableYV12BugFixInHalfSliceChicken7, WaEnableSamplerGPGPUPreemptionSupport */
	{ GEN9_HALF_SLICE_CHICKEN7,
	  GEN9_SAMPLER_HASH_COMPRESSED_READ_ADDR | GEN9_ENABLE_YV12_BUGFIX |
		  GEN9_ENABLE_GPGPU_PREEMPTION,
	  0, false, false },
	/* WaClearFlowControlGpgpuContextSave, WaDisablePartialInstShootdown */
	{ GEN8_ROW_CHICKEN, FLOW_CONTROL_ENABLE | PARTIAL_INSTRUCTION_SHOOTDOWN_DISABLE, 0, false,
	  false },
	/* Wa4x4STCOptimizationDisable, WaDisablePartialResolveInVc */
	{ CACHE_MODE_1, GEN8_4x4_STC_OPTIMIZATION_DISABLE | GEN9_PARTIAL_RESOLVE_IN_VC_DISABLE, 0,
	  false, false },
	/* WaCcsTlbPrefetchDisable */
	{ GEN9_HALF_SLICE_CHICKEN5, 0, GEN9_CCS_TLB_PREFETCH_ENABLE, false, false },
	/* WaForceContextSaveRestoreNonCoherent, WaForceEnableNonCoherent */
	{ HDC_CHICKEN0,
	  HDC_FORCE_CONTEXT_SAVE_RESTORE_NON_COHERENT | HDC_FORCE_CSR_NON_COHERENT_OVR_DISABLE |
		  HDC_FORCE_NON_COHERENT,
	  0, false, false },
	/* WaDisableSamplerPowerBypassForSOPingPong */
	{ HALF_SLICE_CHICKEN3, GEN8_SAMPLER_POWER_BYPASS_DIS, 0, false, false },
	/* WaDisableSTUnitPowerOptimization */
	{ HALF_SLICE_CHICKEN2, GEN8_ST_PO_DISABLE, 0, false, false },
	/* WaDisable3DMidCmdPreemption, WaDisableGPGPUMidCmdPreemption */
	{ GEN8_CS_CHICKEN1, GEN9_PREEMPT_GPGPU_COMMAND_LEVEL,
	  GEN9_PREEMPT_3D_OBJECT_LEVEL | GEN9_PREEMPT_GPGPU_LEVEL_MASK, false, false },
	/* WaToEnableHwFixForPushConstHWBug */
	{ COMMON_SLICE_CHICKEN2, GEN8_SBE_DISABLE_REPLAY_BUF_OPTIMIZATION, 0, true, true },
	/* WaDisableSbeCacheDispatchPortSharing */
	{ GEN7_HALF_SLICE_CHICKEN1, GEN7_SBE_SS_CACHE_DISPATCH_PORT_SHARING_DISABLE, 0, true,
	  false },
};

u32 gen9_context_workaround(unsigned int i)
{
	return i < ARRAY_SIZE(context_bits) ? context_bits[i].offset : 0;
}

#define LINE_DWORDS (GHYVI_INDIRECT_LINE_BYTES / sizeof(u32))

static unsigned int pad_to_line(u32 *commands, unsigned int count)
{
	while (count % LINE_DWORDS)
		commands[count++] = MI_NOOP;
	return count / LINE_DWORDS;
}

static unsigned int pipe_control(u32 *commands, u32 flags, u32 address, u32 value)
{
	const u32 packet[] = { PIPE_CONTROL_6, flags, address, 0, value, 0 };

	memcpy(commands, packet, sizeof(packet));
	return ARRAY_SIZE(packet);
}

/*
 * Threads begin with the registers and the local memory of those before them, and no switch of
 * contexts clears them (CVE-2019-14615). Only the second PIPE_CONTROL does. A guest's own batch,
 * which does the same on Linux, is no protection of others from it.
 *
 * The registers are those that i915 writes in each restore. Hardware restores those that the image
 * has afterwards.
 */
unsigned int gen9_restore_workarounds(u32 *commands)
{
	const u32 registers[] = {
		MI_LOAD_REGISTER_IMM(3),
		COMMON_SLICE_CHICKEN2, /* WaDisableGatherAtSetShaderCommonSlice */
		MASKED_BIT_DISABLE(GEN9_DISABLE_GATHER_AT_SET_SHADER_COMMON_SLICE),
		FF_SLICE_CHICKEN,
		MASKED_BIT_ENABLE(FF_SLICE_CHICKEN_CL_PROVOKING_VERTEX_FIX),
		_3D_CHICKEN3,
		MASKED_BIT_ENABLE(_3D_CHICKEN_SF_PROVOKING_VERTEX_FIX),
	};
	unsigned int at = 0;

	commands[at++] = MI_ARB_OFF;
	/* WaFlushCoherentL3CacheLinesAtContextSwitch; L3SQCREG4 has what it needs. */
	at += pipe_control(commands + at, PIPE_CONTROL_CS_STALL | PIPE_CONTROL_DC_FLUSH_ENABLE, 0,
			   0);
	/* WaClearSlmSpaceAtContextSwitch */
	at += pipe_control(commands + at,
			   PIPE_CONTROL_FLUSH_L3 | GEN8_POST_STORE_INDEX | PIPE_CONTROL_CS_STALL |
				   PIPE_CONTROL_QW_WRITE,
			   LRC_PPHWSP_SCRATCH * sizeof(u32), GEN9_RESTORED);
	memcpy(commands + at, registers, sizeof(registers));
	return pad_to_line(commands, at + ARRAY_SIZE(registers));
}

unsigned int gen9_restore_end(u32 *commands)
{
	commands[0] = MI_ARB_ON;
	return pad_to_line(commands, 1);
}

unsigned int gen9_context_workarounds(const struct gen9 *gpu, u32 *commands)
{
	unsigned int i, at = 1;

	for (i = 0; i < ARRAY_SIZE(context_bits); i++) {
		if (context_bits[i].not_skylake && gpu->platform == GEN9_SKYLAKE)
			continue;
		if (context_bits[i].not_early_kaby_lake && is_early_kaby_lake(gpu))
			continue;
		commands[at++] = context_bits[i].offset;
		commands[at++] = (context_bits[i].set | context_bits[i].clear) << 16 |
				 context_bits[i].set;
	}
	commands[0] = MI_LOAD_REGISTER_IMM((at - 1) / 2);
	return at;
}
