// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: engine sources -> RING_IMR and IMR -> IIR (sticky) -> IER -> master -> one MSI
 * message.
 *
 * The line is high when the master is enabled and any bit of IIR & IER is set. Each rising edge of
 * the line sends one message. The guest's handler disables and re-enables the master, so an event
 * that arrives in between causes a new rising edge.
 */
#include "display_regs.h"
#include "vgpu_types.h"

static u32 bank_reg(unsigned int n, u32 reg)
{
	return GEN8_GT_ISR0 + n * GEN8_IRQ_BANK_SIZE + reg;
}

/* Bank and bit position of each engine's 16 interrupt sources. */
static const struct {
	u8 bank;
	u8 shift;
} places[GHYVI_ENGINES] = {
	[GHYVI_RCS] = { 0, 0 },
	[GHYVI_BCS] = { 0, 16 },
	[GHYVI_VCS] = { 1, 0 },
	[GHYVI_VECS] = { 3, 0 },
};

static u32 pending_in_bank(struct ghyvi_vgpu *vgpu, u32 isr)
{
	return vgpu_get(vgpu, isr + IRQ_IIR) & vgpu_get(vgpu, isr + IRQ_IER);
}

static u32 pending_display(struct ghyvi_vgpu *vgpu)
{
	return (pending_in_bank(vgpu, GEN8_DE_PIPE_ISR_A) ? GEN8_DE_PIPE_A_IRQ : 0) |
	       (pending_in_bank(vgpu, GEN8_DE_PIPE_ISR_A + GEN8_IRQ_BANK_SIZE) ?
			GEN8_DE_PIPE_B_IRQ :
			0) |
	       (pending_in_bank(vgpu, GEN8_DE_PORT_ISR) ? GEN8_DE_PORT_IRQ : 0) |
	       (pending_in_bank(vgpu, SDEISR) ? GEN8_DE_PCH_IRQ : 0);
}

/* The bits of the master register for which IIR & IER is not 0. */
static u32 pending_units(struct ghyvi_vgpu *vgpu)
{
	static const struct {
		u8 bank;
		u32 sources;
		u32 bit;
	} bits[] = {
		{ 0, 0x0000ffff, GEN8_GT_RCS_IRQ },  { 0, 0xffff0000, GEN8_GT_BCS_IRQ },
		{ 1, 0x0000ffff, GEN8_GT_VCS0_IRQ }, { 1, 0xffff0000, GEN8_GT_VCS1_IRQ },
		{ 3, 0x0000ffff, GEN8_GT_VECS_IRQ },
	};
	u32 result = READ_ONCE(vgpu->display.on) ? pending_display(vgpu) : 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bits); i++)
		if (pending_in_bank(vgpu, bank_reg(bits[i].bank, IRQ_ISR)) & bits[i].sources)
			result |= bits[i].bit;
	return result;
}

/*
 * Update the line. Caller holds irq_lock, and sends a message after dropping it if true is
 * returned.
 */
static bool update_line(struct ghyvi_vgpu *vgpu)
{
	u32 enabled = vgpu_get(vgpu, GEN8_MASTER_IRQ) & GEN8_MASTER_IRQ_CONTROL;
	u32 units = pending_units(vgpu);
	bool line = enabled && units;
	bool rises = line && !vgpu->line;

	lockdep_assert_held(&vgpu->irq_lock);
	vgpu_set(vgpu, GEN8_MASTER_IRQ, enabled | units);
	WRITE_ONCE(vgpu->line, line); /* ghyvi_vgpu_dump() reads it without the lock */
	return rises;
}

static void send_interrupt(struct ghyvi_vgpu *vgpu)
{
	ghyvi_count(vgpu->params.stats, interrupts);
	vgpu->params.hv->ops->interrupt(vgpu->params.hv);
}

/* Update the line and release irq_lock. */
static void end_change(struct ghyvi_vgpu *vgpu, unsigned long flags) __releases(&vgpu->irq_lock)
{
	bool rises = update_line(vgpu);

	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	if (rises)
		send_interrupt(vgpu);
}

/* Write the master register or a register of the interrupt banks of engines and the display. */
void vgpu_irq_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	unsigned long flags;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	if (offset == GEN8_MASTER_IRQ) {
		vgpu_set(vgpu, offset, value & GEN8_MASTER_IRQ_CONTROL);
	} else {
		switch (offset % GEN8_IRQ_BANK_SIZE) {
		case IRQ_ISR:
			break; /* read-only */
		case IRQ_IIR:
			vgpu_set(vgpu, offset, vgpu_get(vgpu, offset) & ~value);
			break;
		default:
			vgpu_set(vgpu, offset, value);
		}
	}
	end_change(vgpu, flags);
}

void vgpu_irq_raise(struct vgpu_engine *engine, u32 events)
{
	struct ghyvi_vgpu *vgpu = engine->vgpu;
	unsigned int n = places[engine->id].bank;
	unsigned long flags;

	events = (events & 0xffff) << places[engine->id].shift;
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	events &= ~engine_get(engine, RING_IMR) & ~vgpu_get(vgpu, bank_reg(n, IRQ_IMR));
	vgpu_set(vgpu, bank_reg(n, IRQ_IIR), vgpu_get(vgpu, bank_reg(n, IRQ_IIR)) | events);
	vgpu_show_clock(vgpu); /* no earlier than what caused the event */
	end_change(vgpu, flags);
}

void vgpu_irq_raise_bank(struct ghyvi_vgpu *vgpu, u32 isr, u32 events)
{
	unsigned long flags;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	events &= ~vgpu_get(vgpu, isr + IRQ_IMR);
	vgpu_set(vgpu, isr + IRQ_IIR, vgpu_get(vgpu, isr + IRQ_IIR) | events);
	end_change(vgpu, flags);
}

void vgpu_irq_restore(struct ghyvi_vgpu *vgpu)
{
	unsigned long flags;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	WRITE_ONCE(vgpu->line, false);
	vgpu_show_clock(vgpu);
	(void)update_line(vgpu);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

void vgpu_irq_remind(struct ghyvi_vgpu *vgpu)
{
	unsigned long flags;
	bool line;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	line = vgpu->line;
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	if (line)
		send_interrupt(vgpu);
}

void vgpu_irq_reset(struct ghyvi_vgpu *vgpu)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	vgpu_set(vgpu, GEN8_MASTER_IRQ, 0);
	for (i = 0; i < GEN8_GT_IRQ_BANKS; i++) {
		vgpu_set(vgpu, bank_reg(i, IRQ_IMR), ~0u);
		vgpu_set(vgpu, bank_reg(i, IRQ_IIR), 0);
		vgpu_set(vgpu, bank_reg(i, IRQ_IER), 0);
	}
	WRITE_ONCE(vgpu->line, false);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}
