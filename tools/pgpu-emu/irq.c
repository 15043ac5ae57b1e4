// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: engine sources -> RING_IMR -> bank IMR -> IIR -> IER -> master -> MSI. An MSI is sent
 * at each rising edge of the master line (PRM vol. 2c, "Master Interrupt Control"; a driver that
 * re-enables the master with a bank pending needs that edge).
 */
#include <linux/ktime.h>
#include "emu.h"

#define COALESCE_ONE_IN 4
#define COALESCE_NS (500 * 1000)

static const struct {
	u8 bank, shift;
} wiring[GHYVI_ENGINES] = {
	[GHYVI_RCS] = { 0, 0 },
	[GHYVI_BCS] = { 0, 16 },
	[GHYVI_VCS] = { 1, 0 },
	[GHYVI_VECS] = { 3, 0 },
};

static u32 bank_offset(unsigned int bank, u32 which)
{
	return GEN8_GT_ISR0 + bank * GEN8_IRQ_BANK_SIZE + which;
}

static u32 summary(struct emu *emu)
{
	u32 pending[GEN8_GT_IRQ_BANKS], bits = 0;
	unsigned int i;

	for (i = 0; i < GEN8_GT_IRQ_BANKS; i++)
		pending[i] = *emu_reg(emu, bank_offset(i, IRQ_IIR)) &
			     *emu_reg(emu, bank_offset(i, IRQ_IER));
	bits |= pending[0] & 0xffff ? GEN8_GT_RCS_IRQ : 0;
	bits |= pending[0] >> 16 ? GEN8_GT_BCS_IRQ : 0;
	bits |= pending[1] & 0xffff ? GEN8_GT_VCS0_IRQ : 0;
	bits |= pending[1] >> 16 ? GEN8_GT_VCS1_IRQ : 0;
	bits |= pending[2] ? BIT(4) : 0;
	bits |= pending[3] & 0xffff ? GEN8_GT_VECS_IRQ : 0;
	return bits;
}

static void send(struct emu *emu)
{
	u64 address;
	u32 data;

	if (!emu_config_msi(emu, &address, &data))
		return;
	emu->interrupts++;
	emu_trace(emu, 'm', 0, data);
	emu->transport->msi(emu, address, data);
}

static void update_line(struct emu *emu)
{
	struct emu_adversary *adversary = &emu->adversary;
	bool line = *emu_reg(emu, GEN8_MASTER_IRQ) & GEN8_MASTER_IRQ_CONTROL && summary(emu);
	bool edge = line && !emu->irq_line;

	if (line != emu->irq_line && emu->transport->intx)
		emu->transport->intx(emu, line);
	emu->irq_line = line;
	if (!edge)
		return;
	if (emu_adversary_strikes(adversary, EMU_COALESCE, COALESCE_ONE_IN)) {
		adversary->msi_at_ns = ktime_get_ns() + emu_random(adversary, COALESCE_NS);
		return;
	}
	send(emu);
}

void emu_irq_raise(struct emu_engine *engine, unsigned int bit)
{
	struct emu *emu = engine->emu;
	unsigned int bank = wiring[engine->cs.id].bank;
	u32 source = 1u << (bit + wiring[engine->cs.id].shift);

	source &= ~*emu_reg(emu, engine->cs.base + RING_IMR);
	source &= ~*emu_reg(emu, bank_offset(bank, IRQ_IMR));
	if (!source)
		return;
	if (emu_adversary_has(&emu->adversary, EMU_DOUBLE_IIR))
		emu->iir_second[bank] |= *emu_reg(emu, bank_offset(bank, IRQ_IIR)) & source;
	*emu_reg(emu, bank_offset(bank, IRQ_IIR)) |= source;
	update_line(emu);
}

u32 emu_irq_master_read(struct emu *emu)
{
	return (*emu_reg(emu, GEN8_MASTER_IRQ) & GEN8_MASTER_IRQ_CONTROL) | summary(emu);
}

void emu_irq_master_write(struct emu *emu, u32 value)
{
	*emu_reg(emu, GEN8_MASTER_IRQ) = value & GEN8_MASTER_IRQ_CONTROL;
	update_line(emu);
}

/*
 * Only masking or clearing the error ends its source (PRM vol. 2c, "Error Identity Register"; i915
 * masks it in the interrupt handler).
 */
static void raise_errors_again(struct emu *emu, unsigned int bank)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		u32 base = emu->engines[i].cs.base;

		if (wiring[i].bank == bank &&
		    *emu_reg(emu, base + RING_ESR) & ~*emu_reg(emu, base + RING_EMR))
			emu_irq_raise(&emu->engines[i], EMU_IRQ_ERROR);
	}
}

void emu_irq_bank_write(struct emu *emu, u32 offset, u32 value)
{
	u32 *second = &emu->iir_second[(offset - GEN8_GT_ISR0) / GEN8_IRQ_BANK_SIZE];
	u32 *reg = emu_reg(emu, offset);

	switch (offset & (GEN8_IRQ_BANK_SIZE - 1)) {
	case IRQ_ISR:
		return;
	case IRQ_IIR:
		*reg = (*reg & ~value) | (*second & value);
		*second &= ~value;
		raise_errors_again(emu, (offset - GEN8_GT_ISR0) / GEN8_IRQ_BANK_SIZE);
		break;
	default:
		*reg = value;
	}
	update_line(emu);
}

/* Called regularly: delayed interrupts, and those without a cause. */
void emu_irq_spurious(struct emu *emu)
{
	struct emu_adversary *adversary = &emu->adversary;

	if (adversary->msi_at_ns && ktime_get_ns() >= adversary->msi_at_ns) {
		adversary->msi_at_ns = 0;
		send(emu);
	}
	if (emu_adversary_strikes(adversary, EMU_SPURIOUS, 1000))
		send(emu);
}
