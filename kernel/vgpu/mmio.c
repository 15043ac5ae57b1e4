// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses of the guest's CPUs to registers: those that trap to the VMM, stores to the mirror that
 * trap to KVM, and stores that were missed. All are executed by the same table of rules. A register
 * without a rule is plain storage.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "display_regs.h"
#include "vgpu_types.h"

/*
 * Handlers of the dwords from @first to @last. If @read is NULL, a read returns the stored value.
 * Only a clock needs @read: the code that changes a state also stores the registers that show it.
 * Handlers are called without locks and take those that they need. @display: the dwords are plain
 * storage if there is no display.
 */
struct register_rule {
	u32 first;
	u32 last;
	u32 (*read)(struct ghyvi_vgpu *vgpu, u32 offset);
	void (*write)(struct ghyvi_vgpu *vgpu, u32 offset, u32 value);
	bool display;
};

static void write_ignore(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
}

static void write_masked(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	mutex_lock(&vgpu->lock);
	vgpu_set(vgpu, offset, vgpu_masked(vgpu_get(vgpu, offset), value));
	mutex_unlock(&vgpu->lock);
}

/*
 * A stop request is acknowledged at once, although the engine may still run. The guest driver
 * resets the engine next, and relies only on what that reset guarantees.
 */
static void mi_mode_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	mutex_lock(&vgpu->lock);
	value = vgpu_masked(vgpu_get(vgpu, offset), value) & ~(u32)MI_MODE_IDLE;
	if (!vgpu_engine_at(vgpu, offset)->nr_active || value & MI_MODE_STOP)
		value |= MI_MODE_IDLE;
	vgpu_set(vgpu, offset, value);
	mutex_unlock(&vgpu->lock);
}

/* Clearing an error in EIR also clears its cause in ESR. */
static void eir_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	struct vgpu_engine *engine = vgpu_engine_at(vgpu, offset);

	mutex_lock(&vgpu->lock);
	engine_set(engine, RING_EIR, engine_get(engine, RING_EIR) & ~value);
	engine_set(engine, RING_ESR, engine_get(engine, RING_ESR) & ~value);
	mutex_unlock(&vgpu->lock);
}

static void hws_pga_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	vgpu_set(vgpu, offset, value & ~(GHYVI_PAGE_BYTES - 1));
	/*
	 * The value is kept, as in hardware. Status entries to a page outside the partition are
	 * lost.
	 */
	if (value && !vgpu_owns_ggtt(vgpu, value & ~(GHYVI_PAGE_BYTES - 1), GHYVI_PAGE_BYTES))
		ghyvi_report(vgpu->params.reporter,
			     "status page 0x%x is outside the vGPU's address space", value);
}

static u32 timestamp_read(struct ghyvi_vgpu *vgpu, u32 offset)
{
	u64 ticks = vgpu_timestamp(vgpu);

	return (offset & 0xfff) == RING_TIMESTAMP ? lower_32_bits(ticks) : upper_32_bits(ticks);
}

/*
 * The guest polls the register until it reads 0. Reads always return 0, because the write returns
 * only after no stale translation can be used any more.
 */
static void invalidate_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	if (value)
		ghyvi_gtt_flush(vgpu->gtt);
}

static u32 power_well_requests(struct ghyvi_vgpu *vgpu, u32 offset)
{
	return vgpu_get(vgpu, offset) & POWER_WELL_REQUESTS;
}

/*
 * A power well is on while at least one of the four requesters requests it. All four registers show
 * the state.
 */
static void power_well_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	u32 requests, all;
	u32 i;

	value &= POWER_WELL_REQUESTS;
	all = value;
	mutex_lock(&vgpu->lock);
	for (i = HSW_PWR_WELL_CTL1; i <= HSW_PWR_WELL_CTL4; i += 4)
		if (i != offset)
			all |= power_well_requests(vgpu, i);
	for (i = HSW_PWR_WELL_CTL1; i <= HSW_PWR_WELL_CTL4; i += 4) {
		requests = i == offset ? value : power_well_requests(vgpu, i);
		vgpu_set(vgpu, i, requests | all >> 1);
	}
	mutex_unlock(&vgpu->lock);
}

/*
 * DBUF reaches the requested state at once. i915 6.1 does not use it while all pipes are fused off;
 * i915 5.10 does, and warns if the state does not follow the request.
 */
static void dbuf_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	value &= ~(u32)DBUF_POWER_STATE;
	if (value & DBUF_POWER_REQUEST)
		value |= DBUF_POWER_STATE;
	vgpu_set(vgpu, offset, value);
}

/*
 * Every mailbox command ends at once. Those that are not of the display succeed, and the data
 * registers keep their values.
 */
static void pcode_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	u32 status;

	if (value & GEN6_PCODE_READY) {
		status = vgpu_display_mailbox(vgpu, value & PCODE_STATUS);
		value &= ~(u32)(GEN6_PCODE_READY | PCODE_STATUS);
		value |= status;
	}
	vgpu_set(vgpu, offset, value);
}

/* Rows of a table. */
/* clang-format off */
#define RULE(first, last, read, write) { first, last, read, write, false }
#define MASKED(first, last) RULE(first, last, NULL, write_masked)
#define READ_ONLY(first, last) RULE(first, last, NULL, write_ignore)

#define ENGINE_RULES(base)                                                                         \
	MASKED(base + RING_EXCC, base + RING_EXCC),                                                \
	MASKED(base + RING_PSMI_CTL, base + RING_PSMI_CTL),                                        \
	RULE(base + RING_HWS_PGA, base + RING_HWS_PGA, NULL, hws_pga_write),                       \
	RULE(base + RING_MI_MODE, base + RING_MI_MODE, NULL, mi_mode_write),                       \
	RULE(base + RING_EIR, base + RING_EIR, NULL, eir_write),                                   \
	READ_ONLY(base + RING_ESR, base + RING_ESR),                                               \
	MASKED(base + RING_INSTPM, base + RING_INSTPM),                                            \
	RULE(base + RING_RESET_CTL, base + RING_RESET_CTL, NULL, vgpu_reset_ctl_write),            \
	RULE(base + RING_ELSP, base + RING_ELSP, NULL, vgpu_elsp_write),                           \
	READ_ONLY(base + RING_EXECLIST_STATUS_LO, base + RING_EXECLIST_STATUS_HI),                 \
	MASKED(base + RING_CONTEXT_CONTROL, base + RING_CONTEXT_CONTROL),                          \
	MASKED(base + RING_MODE, base + RING_MODE),                                                \
	RULE(base + RING_TIMESTAMP, base + RING_TIMESTAMP_UDW, timestamp_read, write_ignore),      \
	READ_ONLY(base + RING_CSB, base + RING_CSB + 8 * GEN8_CSB_ENTRIES - 4),                    \
	RULE(base + RING_CSB_POINTER, base + RING_CSB_POINTER, NULL, vgpu_csb_pointer_write)

#define DISPLAY_RULE(first, last, read, write) { first, last, read, write, true }
#define PIPE_RULE(offset, read) DISPLAY_RULE(offset, offset, read, vgpu_display_pipe_write)

#define CRC_RULES(offset)                                                                          \
	PIPE_RULE(PIPE_CRC_CTL_A + offset, NULL),                                                  \
	PIPE_RULE(PIPE_CRC_RES_1_A + offset, vgpu_display_crc_read)

#define PIPE_RULES(offset)                                                                         \
	PIPE_RULE(PIPEADSL + offset, vgpu_display_pipe_read),                                      \
	PIPE_RULE(PIPEACONF + offset, NULL),                                                       \
	PIPE_RULE(PIPEA_FRMCOUNT_G4X + offset, vgpu_display_pipe_read),                            \
	PIPE_RULE(CURABASE + offset, NULL),                                                        \
	PIPE_RULE(PLANE_SURF_1_A + offset, NULL),                                                  \
	PIPE_RULE(PLANE_SURF_1_A + PLANE_NEXT_BYTES + offset, NULL),                               \
	PIPE_RULE(PLANE_SURF_1_A + 2 * PLANE_NEXT_BYTES + offset, NULL)

#define PCH_AUX_RULE(offset) DISPLAY_RULE(offset, offset, NULL, vgpu_display_pch_aux_write)
/* clang-format on */

/* Interrupt banks without a source: ISR and IIR always read 0, so writes to them have no effect. */
static void other_irq_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	switch (offset % GEN8_IRQ_BANK_SIZE) {
	case IRQ_ISR:
	case IRQ_IIR:
		break;
	default:
		vgpu_set(vgpu, offset, value);
	}
}

/* Rules of one page are adjacent, and pages are in ascending order; see vgpu_registers_init(). */
static const struct register_rule rules[] = {
	ENGINE_RULES(GHYVI_RENDER_BASE),
	MASKED(FF_SLICE_CHICKEN, FF_SLICE_CHICKEN),
	MASKED(_3D_CHICKEN3, _3D_CHICKEN3),
	MASKED(GEN9_CSFE_CHICKEN1_RCS, GEN9_CSFE_CHICKEN1_RCS),
	MASKED(GEN9_CS_DEBUG_MODE2, GEN9_CS_DEBUG_MODE2),
	MASKED(GEN7_FF_SLICE_CS_CHICKEN1, GEN7_FF_SLICE_CS_CHICKEN1),
	MASKED(FF_SLICE_CS_CHICKEN2, FF_SLICE_CS_CHICKEN2),
	MASKED(GEN9_CS_DEBUG_MODE1, GEN9_CS_DEBUG_MODE1),
	MASKED(GEN8_CS_CHICKEN1, GEN8_CS_CHICKEN1),
	RULE(GEN8_RTCR, GEN8_VTCR, NULL, invalidate_write),
	MASKED(CACHE_MODE_0_GEN7, HIZ_CHICKEN),
	MASKED(HDC_CHICKEN0, GEN8_HDC_CHICKEN1),
	MASKED(SLICE_COMMON_ECO_CHICKEN1, SLICE_COMMON_ECO_CHICKEN1),
	MASKED(VF_PREEMPTION, VF_PREEMPTION),
	READ_ONLY(GEN8_FUSE2, GEN8_FUSE2),
	READ_ONLY(GEN8_EU_DISABLE0, GEN8_EU_DISABLE2),
	RULE(GEN6_GDRST, GEN6_GDRST, NULL, vgpu_reset_write),
	READ_ONLY(GUC_STATUS, GUC_STATUS),
	READ_ONLY(GUC_WOPCM_SIZE, GUC_WOPCM_SIZE),
	READ_ONLY(DMA_GUC_WOPCM_OFFSET, DMA_GUC_WOPCM_OFFSET),
	MASKED(GEN7_HALF_SLICE_CHICKEN1, GEN7_HALF_SLICE_CHICKEN1),
	MASKED(HALF_SLICE_CHICKEN2, GEN10_SAMPLER_MODE),
	MASKED(GEN9_HALF_SLICE_CHICKEN7, GEN9_HALF_SLICE_CHICKEN7),
	MASKED(GEN8_ROW_CHICKEN, GEN7_ROW_CHICKEN2),
	ENGINE_RULES(GHYVI_VIDEO_BASE),
	ENGINE_RULES(GHYVI_VIDEO_ENHANCE_BASE),
	ENGINE_RULES(GHYVI_BLITTER_BASE),
	MASKED(BCS_SWCTRL, BCS_SWCTRL),
	READ_ONLY(FUSE_STATUS, FUSE_STATUS),
	READ_ONLY(FUSE_STRAP, FUSE_STRAP),
	READ_ONLY(FPGA_DBG, FPGA_DBG),
	RULE(GEN8_MASTER_IRQ, GEN8_MASTER_IRQ, NULL, vgpu_irq_write),
	RULE(GEN8_GT_ISR0, GEN8_GT_IER3, NULL, vgpu_irq_write),
	RULE(GEN8_DE_PIPE_ISR_A, DISPLAY_IRQ_LAST, NULL, vgpu_display_irq_write),
	RULE(GEN8_PCU_ISR, GEN8_PCU_ISR + IRQ_IER, NULL, other_irq_write),
	RULE(DBUF_CTL_S1, DBUF_CTL_S1, NULL, dbuf_write),
	RULE(HSW_PWR_WELL_CTL1, HSW_PWR_WELL_CTL4, NULL, power_well_write),
	RULE(LCPLL1_CTL, LCPLL2_CTL, NULL, vgpu_display_pll_write),
	RULE(WRPLL_CTL1, WRPLL_CTL1, NULL, vgpu_display_pll_write),
	RULE(WRPLL_CTL2, WRPLL_CTL2, NULL, vgpu_display_pll_write),
	READ_ONLY(SKL_DFSM, SKL_DFSM),
	CRC_RULES(0),
	CRC_RULES(PIPE_NEXT_BYTES),
	DISPLAY_RULE(DDI_BUF_CTL_A, DISPLAY_PORTS_LAST, NULL, vgpu_display_port_write),
	READ_ONLY(EDP_PSR_IIR, EDP_PSR_IIR), /* interrupts without a source */
	DISPLAY_RULE(DPLL_STATUS, DPLL_STATUS, NULL, write_ignore),
	PIPE_RULES(0),
	PIPE_RULES(PIPE_NEXT_BYTES),
	RULE(PVINFO_FIRST, PVINFO_LAST, NULL, vgpu_pvinfo_write),
	READ_ONLY(SOUTH_FUSE_STRAP, SOUTH_FUSE_STRAP),
	RULE(SDEISR, SDEISR + IRQ_IER, NULL, vgpu_irq_write),
	DISPLAY_RULE(PCH_PORT_HOTPLUG, PCH_PORT_HOTPLUG, NULL, vgpu_display_hotplug_write),
	DISPLAY_RULE(PCH_GMBUS1, PCH_GMBUS1, NULL, vgpu_display_gmbus_write),
	DISPLAY_RULE(SBI_CTL_STAT, SBI_CTL_STAT, NULL, vgpu_display_sbi_write),
	PCH_AUX_RULE(PCH_DP_AUX_CH_CTL_B),
	PCH_AUX_RULE(PCH_DP_AUX_CH_CTL_B + DISPLAY_PORT_BYTES),
	PCH_AUX_RULE(PCH_DP_AUX_CH_CTL_B + 2 * DISPLAY_PORT_BYTES),
	READ_ONLY(FENCE_REG_GEN6_LO0,
		  FENCE_REG_GEN6_HI31), /* PVINFO_FENCES says that there are none */
	RULE(GFX_FLSH_CNTL_GEN6, GFX_FLSH_CNTL_GEN6, NULL, invalidate_write),
	READ_ONLY(HSW_EDRAM_CAP, HSW_EDRAM_CAP),
	DISPLAY_RULE(LCPLL_CTL, LCPLL_CTL, NULL, vgpu_display_lcpll_write),
	RULE(GEN6_PCODE_MAILBOX, GEN6_PCODE_MAILBOX, NULL, pcode_write),
	READ_ONLY(GEN6_RP_STATE_CAP, GEN6_RP_STATE_CAP),
};

void vgpu_registers_init(struct ghyvi_vgpu *vgpu)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		u32 page = rules[i].first >> GHYVI_PAGE_SHIFT;

		WARN_ON(i && page < rules[i - 1].first >> GHYVI_PAGE_SHIFT);
		WARN_ON(page != rules[i].last >> GHYVI_PAGE_SHIFT);
		WARN_ON(ghyvi_bar_class(rules[i].first) == GHYVI_BAR_DIRECT &&
			!vgpu_display_has_page(rules[i].first));
		if (!vgpu->rules_count[page])
			vgpu->rules_first[page] = i;
		vgpu->rules_count[page]++;
	}
}

static const struct register_rule *rule_of(const struct ghyvi_vgpu *vgpu, u32 offset)
{
	u32 page = offset >> GHYVI_PAGE_SHIFT;
	const struct register_rule *rule = &rules[vgpu->rules_first[page]];
	const struct register_rule *end = rule + vgpu->rules_count[page];

	for (; rule < end; rule++)
		if (offset >= rule->first && offset <= rule->last)
			return rule;
	return NULL;
}

static bool is_handled(const struct ghyvi_vgpu *vgpu, const struct register_rule *rule)
{
	return rule && (!rule->display || ghyvi_vgpu_has_display(vgpu));
}

static u32 read_dword(struct ghyvi_vgpu *vgpu, u32 offset)
{
	const struct register_rule *rule = rule_of(vgpu, offset);

	return is_handled(vgpu, rule) && rule->read ? rule->read(vgpu, offset) :
						      vgpu_get(vgpu, offset);
}

static void write_dword(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	const struct register_rule *rule = rule_of(vgpu, offset);

	if (is_handled(vgpu, rule))
		rule->write(vgpu, offset, value);
	else
		vgpu_set(vgpu, offset, value);
}

static bool access_ok_at(u32 offset, unsigned int bytes)
{
	return offset < GHYVI_REGISTERS_BYTES && !(offset & (bytes - 1)) &&
	       (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
}

/*
 * Write less than a dword. Plain storage is merged. A register with a handler gets 0 for the other
 * bytes, which is harmless for registers where only ones have an effect. No known driver writes
 * partial dwords.
 */
static void write_part(struct ghyvi_vgpu *vgpu, u32 offset, u32 value, unsigned int bytes)
{
	u32 shift = 8 * (offset & 3);
	u32 mask = (u32)GENMASK_ULL(8 * bytes - 1, 0) << shift;
	u32 dword = offset & ~3u;

	value = (value << shift) & mask;
	if (!rule_of(vgpu, dword))
		value |= vgpu_get(vgpu, dword) & ~mask;
	write_dword(vgpu, dword, value);
}

static void register_write(struct ghyvi_vgpu *vgpu, u32 offset, u64 value, unsigned int bytes)
{
	if (!access_ok_at(offset, bytes))
		return;
	ghyvi_count(vgpu->params.stats, mmio_writes);
	if (vgpu_is_failsafe(vgpu))
		return;

	switch (bytes) {
	case 8:
		write_dword(vgpu, offset, lower_32_bits(value));
		write_dword(vgpu, offset + 4, upper_32_bits(value));
		break;
	case 4:
		write_dword(vgpu, offset, lower_32_bits(value));
		break;
	default:
		write_part(vgpu, offset, lower_32_bits(value), bytes);
	}
}

/*
 * Execute stores that were missed before the pages were protected: they differ from the shown
 * value. A store to a submit port is dropped: of the four of a submission, only the last one is
 * left, and the guest could never complete a submission that began with it. One invalidation stands
 * for all, since it costs a scan of each relaxed table page.
 */
static void replay_missed_writes(struct ghyvi_vgpu *vgpu)
{
	const struct register_rule *rule;
	u32 first, offset, value, invalidation = 0;
	unsigned int i;

	lockdep_assert_held(&vgpu->live_lock);
	for (i = 0; i < vgpu->nr_tracked; i++) {
		first = vgpu->tracked[i] << GHYVI_PAGE_SHIFT;
		for (offset = first; offset < first + GHYVI_PAGE_BYTES; offset += 4) {
			if (!vgpu_mirror_missed(vgpu, offset, &value))
				continue;
			rule = rule_of(vgpu, offset);
			if (value && rule && rule->write == invalidate_write)
				invalidation = offset;
			else if (!rule || rule->write != vgpu_elsp_write)
				register_write(vgpu, offset, value, 4);
			vgpu_mirror_show(vgpu, offset);
		}
	}
	if (invalidation)
		register_write(vgpu, invalidation, 1, 4);
	vgpu_mirror_set_caught_up(vgpu, true);
}

/*
 * Protect pages, and execute the stores that were missed, if all pages are protected, or if the BAR
 * is @proven to be mapped; not in failsafe state, which drops them. Returns true if all pages are
 * protected, or need not be.
 */
static bool mirror_live(struct ghyvi_vgpu *vgpu, bool proven)
{
	bool all, fresh, failsafe, replay;

	mutex_lock(&vgpu->live_lock); /* a missed store must be executed once */
	mutex_lock(&vgpu->lock);
	all = vgpu_mirror_protect(vgpu, &fresh);
	failsafe = vgpu->failsafe;
	mutex_unlock(&vgpu->lock);
	replay = (all || proven) && !failsafe && (fresh || !READ_ONCE(vgpu->mirror_caught_up));
	if (replay)
		replay_missed_writes(vgpu);
	mutex_unlock(&vgpu->live_lock);
	if (replay)
		vgpu_irq_remind(vgpu);
	return all;
}

/*
 * The first trapped access after a move of BAR 0 proves that the BAR, with the GGTT table and the
 * mirror, is mapped at its new address. Before that, the hypervisor has no pages there that could
 * be protected.
 */
void vgpu_bar_is_live(struct ghyvi_vgpu *vgpu)
{
	if (unlikely(READ_ONCE(vgpu->bar_moved)) && xchg(&vgpu->bar_moved, 0)) {
		ghyvi_gtt_ggtt_live(vgpu->gtt);
		mirror_live(vgpu, true);
	}
}

bool ghyvi_vgpu_try_remap(struct ghyvi_vgpu *vgpu)
{
	struct ghyvi_hv_charge charge;
	bool moved, all;

	/* In a worker: a store that was missed may sync all trees. */
	vgpu_charge(vgpu, &charge);
	/* Clear it first: what is lost meanwhile sets it again. */
	moved = xchg(&vgpu->bar_moved, 0);
	all = mirror_live(vgpu, false);
	if (moved && all)
		ghyvi_gtt_ggtt_live(vgpu->gtt);
	else if (moved)
		WRITE_ONCE(vgpu->bar_moved, 1);
	vgpu_uncharge(vgpu, &charge);
	return all;
}

u64 ghyvi_vgpu_register_read(struct ghyvi_vgpu *vgpu, u32 offset, unsigned int bytes)
{
	u64 value;

	if (!access_ok_at(offset, bytes))
		return 0;
	ghyvi_count(vgpu->params.stats, mmio_reads);
	if (vgpu_access_is_refused(vgpu))
		return vgpu_failsafe_value(offset) ? GENMASK_ULL(8 * bytes - 1, 0) : 0;
	vgpu_bar_is_live(vgpu);

	if (bytes == 8)
		return read_dword(vgpu, offset) | (u64)read_dword(vgpu, offset + 4) << 32;
	value = read_dword(vgpu, offset & ~3u);
	if (bytes < 4)
		value = (value >> 8 * (offset & 3)) & GENMASK_ULL(8 * bytes - 1, 0);
	return value;
}

void ghyvi_vgpu_register_write(struct ghyvi_vgpu *vgpu, u32 offset, u64 value, unsigned int bytes)
{
	if (access_ok_at(offset, bytes) && !vgpu_access_is_refused(vgpu))
		vgpu_bar_is_live(vgpu);
	register_write(vgpu, offset, value, bytes);
}

/*
 * KVM's callback: the caller is in a read-side critical section of kvm->srcu, in which an update of
 * the memslots waits for it, but holds no lock of KVM that this code takes. A store to a submit
 * port may pin guest pages, as one to a table page may. It prepares work of this vGPU only, see
 * ghyvi_sched_kick().
 */
static void mirror_store(struct ghyvi_vgpu *vgpu, u32 first, const void *data, unsigned int bytes)
{
	unsigned int done, part;
	unsigned long flags;
	bool replaying;
	u32 offset;

	ghyvi_count(vgpu->params.stats, mmio_writes_in_kernel);
	/* The end of failsafe state: an access that traps to the VMM may never come. */
	if (unlikely(READ_ONCE(vgpu->failsafe_drains)) && !vgpu_access_is_refused(vgpu))
		ghyvi_vgpu_try_remap(vgpu);
	replaying = !READ_ONCE(vgpu->mirror_caught_up);
	/*
	 * The replay of missed stores may have read an older value of the register. It executes
	 * that before this one. If it finds this store in the page, the store is executed twice.
	 * That is as good as once, also for a store that clears events: the vCPU that stores goes
	 * on after the second time only. So to the guest, an event between the two came before its
	 * store, and hardware would clear it as well.
	 */
	if (replaying)
		mutex_lock(&vgpu->live_lock);
	for (done = 0; done < bytes; done += part) {
		u64 value = 0; /* little endian, like the guest */

		part = ghyvi_access_bytes(first + done, bytes - done);
		memcpy(&value, data + done, part);
		register_write(vgpu, first + done, value, part);
	}
	for (offset = first & ~3u; offset < first + bytes; offset += 4)
		vgpu_mirror_show(vgpu, offset);
	if (replaying)
		mutex_unlock(&vgpu->live_lock);
	/*
	 * Once per tick is enough: the event that ends the work of this store shows the clock
	 * again. A pGPU may have to read registers for it.
	 */
	if (READ_ONCE(vgpu->clock_used))
		return;
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	vgpu_show_clock(vgpu);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

/* KVM reports a store that crosses a page boundary once per page. */
void ghyvi_vgpu_route_store(struct ghyvi_vgpu *vgpu, u64 gpa, const void *data, unsigned int bytes)
{
	u64 bar0 = READ_ONCE(vgpu->bar0_gfn), page = (gpa >> GHYVI_PAGE_SHIFT) - bar0;
	u32 in_page = gpa & (GHYVI_PAGE_BYTES - 1);

	if (bar0 != GHYVI_INVALID_GFN && page < GHYVI_REGISTER_PAGES && vgpu->shown[page])
		mirror_store(vgpu, (page << GHYVI_PAGE_SHIFT) + in_page, data,
			     min_t(u32, bytes, GHYVI_PAGE_BYTES - in_page));
	else
		ghyvi_gtt_trap(vgpu->gtt, gpa, bytes);
}
