// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers outside of the engines' pages. Each offset is storage unless it is listed here. Reset
 * values describe a GT2 with one slice of three subslices.
 */
#include <linux/string.h>
#include "emu.h"

#define FUSE2_ONE_SLICE 0x02800000 /* slice 0 enabled, subslice 3 disabled */
#define CTC_MODE_12_MHZ 4
#define FUSE_STATUS_DISTRIBUTED 0x8e000000
#define RAWCLK_24_MHZ 24
#define DPLL_STATUS_LOCKED 0x01010101
#define RC6_CTX_INFO_VALID 1
#define LAST_IRQ_BANK_END (GEN8_PCU_ISR + GEN8_IRQ_BANK_SIZE - 4)
#define TLB_REGISTERS 5

void emu_regs_init(struct emu *emu)
{
	const struct {
		u32 offset, value;
	} values[] = {
		{ GEN8_FUSE2, FUSE2_ONE_SLICE },
		{ CTC_MODE, CTC_MODE_12_MHZ },
		{ FUSE_STATUS, FUSE_STATUS_DISTRIBUTED },
		{ PCH_RAWCLK, RAWCLK_24_MHZ },
		{ GUC_STATUS, GUC_STATUS_MIA_IN_RESET },
		{ GEN6_RP_STATE_CAP, emu->platform->rp_state_cap },
		{ RC6_CTX_INFO, RC6_CTX_INFO_VALID },
		{ DPLL_STATUS, DPLL_STATUS_LOCKED },
	};
	unsigned int i;

	memset(emu->regs, 0, EMU_REGISTERS_BYTES);
	for (i = 0; i < ARRAY_SIZE(values); i++)
		*emu_reg(emu, values[i].offset) = values[i].value;
	for (i = 0; i < GEN8_GT_IRQ_BANKS; i++)
		*emu_reg(emu, GEN8_GT_ISR0 + i * GEN8_IRQ_BANK_SIZE + IRQ_IMR) = ~0u;
	if (!emu->display)
		*emu_reg(emu, SKL_DFSM) = DISPLAY_FUSE_PIPES_OFF;
}

static bool is_masked(u32 offset)
{
	switch (offset) {
	case FF_SLICE_CHICKEN:
	case _3D_CHICKEN3:
	case GEN9_CSFE_CHICKEN1_RCS:
	case GEN9_CS_DEBUG_MODE2:
	case GEN7_FF_SLICE_CS_CHICKEN1:
	case FF_SLICE_CS_CHICKEN2:
	case GEN9_CS_DEBUG_MODE1:
	case GEN8_CS_CHICKEN1:
	case HDC_CHICKEN0:
	case GEN8_HDC_CHICKEN1:
	case VF_PREEMPTION:
	case GEN7_HALF_SLICE_CHICKEN1:
	case HALF_SLICE_CHICKEN2:
	case HALF_SLICE_CHICKEN2 + 4:
	case GEN9_HALF_SLICE_CHICKEN5:
	case GEN9_HALF_SLICE_CHICKEN7:
	case GEN8_ROW_CHICKEN:
	case BCS_SWCTRL:
		return true;
	default:
		return offset - CACHE_MODE_0_GEN7 <= HIZ_CHICKEN - CACHE_MODE_0_GEN7;
	}
}

/* Interrupt identity registers of the display: write one to clear; nothing sets them. */
static bool is_display_iir(u32 offset)
{
	bool banked = offset - GEN8_DE_PIPE_ISR_A <= LAST_IRQ_BANK_END - GEN8_DE_PIPE_ISR_A ||
		      offset - SDEISR < GEN8_IRQ_BANK_SIZE;

	return offset == EDP_PSR_IIR || (banked && (offset & (GEN8_IRQ_BANK_SIZE - 1)) == IRQ_IIR);
}

/* State bits follow the requests of all four requesters (PRM vol. 12, "PWR_WELL_CTL"). */
static u32 power_well_read(struct emu *emu, u32 offset)
{
	u32 requests = 0, at;

	for (at = HSW_PWR_WELL_CTL1; at <= HSW_PWR_WELL_CTL4; at += 4)
		requests |= *emu_reg(emu, at) & POWER_WELL_REQUESTS;
	return (*emu_reg(emu, offset) & POWER_WELL_REQUESTS) | requests >> 1;
}

/* The mailbox completes at once, with success. The data are what the commands of i915 expect. */
static void pcode_write(struct emu *emu, u32 value)
{
	u32 *data = emu_reg(emu, GEN6_PCODE_DATA);

	*emu_reg(emu, GEN6_PCODE_MAILBOX) = value & ~(u32)(GEN6_PCODE_READY | PCODE_STATUS);
	switch (value & 0xff) {
	case GEN9_PCODE_READ_MEM_LATENCY:
		*data = 0x01010101;
		break;
	case SKL_PCODE_CDCLK_CONTROL:
	case GEN9_PCODE_SAGV_CONTROL:
		*data = 1;
		break;
	case GEN6_PCODE_WRITE_MIN_FREQ_TABLE:
		emu->min_freq[*data & 0xff] = *data >> 8;
		break;
	case GEN6_PCODE_READ_MIN_FREQ_TABLE:
		*data = emu->min_freq[*data & 0xff];
		break;
	default:
		*data = 0;
	}
}

static bool is_aux(u32 offset)
{
	return offset - DP_AUX_CH_CTL_A < DP_AUX_CHANNELS * DP_AUX_CH_CTL_STEP &&
	       offset % DP_AUX_CH_CTL_STEP == DP_AUX_CH_CTL_A % DP_AUX_CH_CTL_STEP;
}

/* A transaction ends at once, with a time-out: nothing is connected. */
static u32 aux_written(u32 value)
{
	if (!(value & DP_AUX_CH_CTL_SEND_BUSY))
		return value & ~(u32)(DP_AUX_CH_CTL_DONE | DP_AUX_CH_CTL_TIME_OUT_ERROR |
				      DP_AUX_CH_CTL_RECEIVE_ERROR);
	value &= ~(u32)(DP_AUX_CH_CTL_SEND_BUSY | DP_AUX_CH_CTL_RECEIVE_ERROR);
	return value | DP_AUX_CH_CTL_DONE | DP_AUX_CH_CTL_TIME_OUT_ERROR;
}

/* A status bit follows a request bit. */
static u32 follow(u32 value, u32 request, u32 state)
{
	return (value & ~state) | (value & request ? state : 0);
}

u32 emu_tlb_register(enum ghyvi_engine_id id)
{
	static const u32 registers[GHYVI_ENGINES] = {
		[GHYVI_RCS] = GEN8_RTCR,
		[GHYVI_BCS] = GEN8_BTCR,
		[GHYVI_VCS] = GEN8_M1TCR,
		[GHYVI_VECS] = GEN8_VTCR,
	};

	return registers[id];
}

static void tlb_write(struct emu *emu, u32 offset)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		if (emu_tlb_register(i) == offset)
			emu_tlb_invalidate(&emu->engines[i]);
}

/* What software asks for, within the limits; RP1 after a reset (i915: gen6_rps_init()). */
u32 emu_frequency(struct emu *emu)
{
	u32 cap = *emu_reg(emu, GEN6_RP_STATE_CAP);
	u32 wanted = *emu_reg(emu, GEN6_RPNSWREQ) >> GEN9_FREQUENCY_SHIFT;
	u32 highest = GEN9_FREQ_SCALER * (cap & 0xff),
	    lowest = GEN9_FREQ_SCALER * (cap >> 16 & 0xff);

	if (!wanted)
		wanted = GEN9_FREQ_SCALER * (cap >> 8 & 0xff);
	return min(max(wanted, lowest), highest);
}

static u32 special_read(struct emu *emu, u32 offset)
{
	switch (offset) {
	case GEN6_RPSTAT1:
		return emu_frequency(emu) << GEN9_FREQUENCY_SHIFT;
	case GEN6_GT_GFX_RC6:
		return emu_rc6_residency(emu);
	case GEN8_MASTER_IRQ:
		return emu_irq_master_read(emu);
	case GEN6_GDRST:
		return emu_gdrst_read(emu);
	case GFX_FLSH_CNTL_GEN6:
		return 0;
	case PCH_GMBUS2:
		return GMBUS_HW_RDY | GMBUS_SATOER;
	}
	if (offset - HSW_PWR_WELL_CTL1 <= HSW_PWR_WELL_CTL4 - HSW_PWR_WELL_CTL1)
		return power_well_read(emu, offset);
	return *emu_reg(emu, offset);
}

static void special_write(struct emu *emu, u32 offset, u32 value)
{
	switch (offset) {
	case GEN8_MASTER_IRQ:
		emu_irq_master_write(emu, value);
		return;
	case GEN6_GDRST:
		emu_gdrst_write(emu, value);
		return;
	case GFX_FLSH_CNTL_GEN6:
		emu_ggtt_flush(emu);
		return;
	case GEN6_PCODE_MAILBOX:
		pcode_write(emu, value);
		return;
	case DBUF_CTL_S1:
		value = follow(value, DBUF_POWER_REQUEST, DBUF_POWER_STATE);
		break;
	case LCPLL1_CTL:
		value = follow(value, LCPLL_PLL_ENABLE, LCPLL_PLL_LOCK);
		break;
	}
	if (offset - GEN8_RTCR < 4 * TLB_REGISTERS)
		tlb_write(emu, offset); /* reads as 0: the invalidation is complete */
	else if (offset - GEN8_GT_ISR0 < GEN8_GT_IRQ_BANKS * GEN8_IRQ_BANK_SIZE)
		emu_irq_bank_write(emu, offset, value);
	else if (is_display_iir(offset))
		*emu_reg(emu, offset) &= ~value;
	else if (is_aux(offset))
		*emu_reg(emu, offset) = aux_written(value);
	else if (is_masked(offset))
		*emu_reg(emu, offset) = emu_masked(*emu_reg(emu, offset), value);
	else
		*emu_reg(emu, offset) = value;
}

/*
 * A register in a domain that is asleep reads as 0 and drops writes; hardware may do so (PRM vol.
 * 2c, "Force Wake"). A posting read needs no value: i915 does it after it has dropped its request.
 */
static bool reachable(struct emu *emu, u32 offset, bool write, enum emu_source source)
{
	bool posting = !write && offset == emu->last_write;

	if (source == EMU_CS || emu_awake(emu, offset, write) || posting)
		return true;
	emu_violation(emu, EMU_ASLEEP, "%s of %#x", write ? "write" : "read", offset);
	return false;
}

static u32 reg_read(struct emu *emu, u32 offset, enum emu_source source)
{
	struct emu_engine *engine = emu_engine_of(emu, offset);
	u32 value;

	if (offset >= EMU_REGISTERS_BYTES || !reachable(emu, offset, false, source))
		return 0;
	if (emu_forcewake_read(emu, offset, &value))
		return value;
	/* The page of the render engine has registers of other units, which are masked storage. */
	if (engine && !is_masked(offset))
		return emu_engine_read(engine, offset);
	return special_read(emu, offset);
}

u32 emu_reg_read(struct emu *emu, u32 offset, enum emu_source source)
{
	u32 value = reg_read(emu, offset, source);

	if (source == EMU_CPU)
		emu_trace_register(emu, 'r', offset, value);
	return value;
}

void emu_reg_write(struct emu *emu, u32 offset, u32 value, enum emu_source source)
{
	struct emu_engine *engine = emu_engine_of(emu, offset);

	if (source == EMU_CPU)
		emu_trace_register(emu, 'w', offset, value);
	if (offset >= EMU_REGISTERS_BYTES || !reachable(emu, offset, true, source))
		return;
	if (emu_forcewake_write(emu, offset, value))
		return;
	if (source == EMU_CPU)
		emu->last_write = offset;
	if (engine && !is_masked(offset))
		emu_engine_write(engine, offset, value, source);
	else
		special_write(emu, offset, value);
}
