// SPDX-License-Identifier: GPL-2.0-only
/*
 * The display of a vGPU: a pipe of a Skylake or Broadwell, and a monitor at DisplayPort B.
 *
 * A vGPU has none unless it is switched on. Without one, all pipes are fused off, and the registers
 * are plain storage.
 *
 * DOC: what the model is, and is not
 *
 * Registers hold what the guest wrote; nothing is scanned out here: plane.c reads the registers of
 * the planes and the cursor. Requests are granted at once: a PLL locks, a port becomes idle, a pipe
 * starts, and a message on an AUX channel has its answer, when the store returns. The other ports
 * have no monitor: messages time out, and the I2C of HDMI finds no device.
 *
 * display_kinds.c has what differs between generations. A Broadwell cannot have pipe B fused off.
 * Its driver drives the monitor by pipe A or B: the pipe that was switched on last is the display.
 * Registers that only one generation has work on both.
 *
 * DOC: time
 *
 * Frames are counted by the host's clock. A frame begins with the vertical blank, and takes the
 * time that the guest has programmed. A read of a counter computes it. A timer runs only while the
 * pipe is on and the guest has unmasked an interrupt of it, and then once per frame.
 *
 * DOC: CRCs
 *
 * While PIPE_CRC_CTL is enabled and its interrupt unmasked, each frame has a CRC. The interrupt
 * comes when the next frame begins. The CRC is computed when it is read, of what the buffers of the
 * frame that has ended hold then, by the thread that reads: it is the guest that pays and waits.
 * Lest it miss CRCs, the vertical blank lasts until it has read this one. If that takes longer than
 * a frame, it lasts for as long again, so that the guest's CPU does not only compute CRCs.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <ghyvi/compat.h>
#include "display_regs.h"
#include "vgpu_types.h"

/* Frames of 1/240 s to 1/10 s are possible; others get the time of the usual one. */
#define FRAME_MIN_NS (NSEC_PER_SEC / 240)
#define FRAME_MAX_NS (NSEC_PER_SEC / 10)
#define FRAME_USUAL_NS (NSEC_PER_SEC / 60)
#define TIMING_MASK 0x1fff

/*
 * How long a frame waits for its CRC to be read, also by a guest whose CPUs seldom run, and to be
 * computed. i915 waits 10 s for a flip.
 */
#define CRC_READ_NS (5 * NSEC_PER_SEC)
#define CRC_COMPUTE_NS (30 * NSEC_PER_SEC)

/* Reset values other than 0 of all kinds. */
static const struct ghyvi_register_value display_values[] = {
	{ CPU_VGACNTRL, VGA_DISP_DISABLE },
	{ DDI_BUF_CTL_A, DDI_BUF_IS_IDLE },
	{ DDI_BUF_CTL_A + 1 * DISPLAY_PORT_BYTES, DDI_BUF_IS_IDLE },
	{ DDI_BUF_CTL_A + 2 * DISPLAY_PORT_BYTES, DDI_BUF_IS_IDLE },
	{ DDI_BUF_CTL_A + 3 * DISPLAY_PORT_BYTES, DDI_BUF_IS_IDLE },
	{ DDI_BUF_CTL_A + 4 * DISPLAY_PORT_BYTES, DDI_BUF_IS_IDLE },
};

bool vgpu_display_has_page(u32 offset)
{
	static const u32 registers[] = {
		PIPE_CRC_CTL_A, PIPE_CRC_CTL_A + PIPE_NEXT_BYTES, DPLL_STATUS,	PIPEADSL,
		PCH_GMBUS1,	PIPEADSL + PIPE_NEXT_BYTES,	  SBI_CTL_STAT, PCH_DP_AUX_CH_CTL_B,
		LCPLL_CTL,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		if (offset >> GHYVI_PAGE_SHIFT == registers[i] >> GHYVI_PAGE_SHIFT)
			return true;
	return false;
}

bool ghyvi_vgpu_traps_page(const struct ghyvi_vgpu *vgpu, u32 offset)
{
	return ghyvi_vgpu_has_display(vgpu) && vgpu_display_has_page(offset);
}

/* time */

/* Take over the timings that the guest has programmed. */
static void read_timings(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_display *display = &vgpu->display;
	u32 vertical = vgpu_pipe_get(vgpu, VTOTAL_A);
	u32 m = vgpu_pipe_get(vgpu, PIPEA_LINK_M1) & GENMASK(23, 0);
	u32 n = vgpu_pipe_get(vgpu, PIPEA_LINK_N1) & GENMASK(23, 0);
	u32 columns = (vgpu_pipe_get(vgpu, HTOTAL_A) >> 16 & TIMING_MASK) + 1;
	u64 pixel_khz = n ? div_u64((u64)vgpu->params.profile->display->symbol_khz(vgpu) * m, n) :
			    0;

	lockdep_assert_held(&vgpu->irq_lock);
	display->lines = (vertical >> 16 & TIMING_MASK) + 1;
	display->active_lines = (vertical & TIMING_MASK) + 1;
	display->frame_ns =
		pixel_khz ? div64_u64((u64)columns * display->lines * NSEC_PER_MSEC, pixel_khz) : 0;
	if (display->frame_ns < FRAME_MIN_NS || display->frame_ns > FRAME_MAX_NS)
		display->frame_ns = FRAME_USUAL_NS;
}

/* The age of the frame; 0 if it waits. */
static u64 age_ns(const struct vgpu_display *display, u64 now)
{
	return now > display->began_ns ? now - display->began_ns : 0;
}

/* @frames begin: each shows what was stored before it, so that all but the first show the same. */
static void begin_frames(struct vgpu_display *display, u64 frames)
{
	display->crc_picture = frames > 1 ? display->next : display->shown;
	display->shown = display->next;
	display->frame += (u32)frames;
}

/*
 * Let the time pass until now, which is returned. Caller holds irq_lock: a clock that was read
 * before the lock was taken may be behind @began_ns.
 */
static u64 pass_time(struct vgpu_display *display)
{
	u64 now = ktime_get_ns(), frames;

	if (!display->running || display->stopped)
		return now;
	frames = div64_u64(age_ns(display, now), display->frame_ns);
	/* No frame is left out, however late the timer is. */
	if (frames && display->armed && display->crc_wanted) {
		if (display->frame == display->armed_frame)
			begin_frames(display, 1);
		display->began_ns = now;
	} else if (frames) {
		begin_frames(display, frames);
		display->began_ns += frames * display->frame_ns;
	}
	return now;
}

/* The interrupt registers of the pipe. */
static u32 pipe_isr(const struct ghyvi_vgpu *vgpu)
{
	return GEN8_DE_PIPE_ISR_A + vgpu->display.pipe * GEN8_IRQ_BANK_SIZE;
}

/* The interrupts of the pipe that the guest has enabled. */
static u32 enabled_events(struct ghyvi_vgpu *vgpu)
{
	u32 isr = pipe_isr(vgpu);

	return vgpu_get(vgpu, isr + IRQ_IER) & ~vgpu_get(vgpu, isr + IRQ_IMR);
}

/* The event of a flip that is pending. */
static u32 flip_event(const struct ghyvi_vgpu *vgpu)
{
	return vgpu->display.flip ? vgpu->params.profile->display->flip_done : 0;
}

static bool crc_is_wanted(struct ghyvi_vgpu *vgpu)
{
	return vgpu_pipe_get(vgpu, PIPE_CRC_CTL_A) & PIPE_CRC_ENABLE &&
	       enabled_events(vgpu) & GEN8_PIPE_CDCLK_CRC_DONE;
}

/* Does the guest wait for an interrupt of the next vertical blank? */
static bool is_awaited(struct ghyvi_vgpu *vgpu)
{
	return enabled_events(vgpu) & (GEN8_PIPE_VBLANK | flip_event(vgpu)) || crc_is_wanted(vgpu);
}

/* Let the frame begin in @ns only: its timer, if there is one, has to start again. */
static void delay_frame(struct vgpu_display *display, u64 ns)
{
	display->began_ns = ktime_get_ns() + ns;
	display->armed = false;
}

/* A frame has ended. Returns the events of its CRC. */
static u32 begin_crc(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_display *display = &vgpu->display;

	lockdep_assert_held(&vgpu->irq_lock);
	if (!crc_is_wanted(vgpu))
		return 0;
	display->crc_due = true;
	display->crc_number++;
	delay_frame(display, CRC_READ_NS);
	return GEN8_PIPE_CDCLK_CRC_DONE;
}

/* Nothing waits for the CRC any more, which may be being computed. */
static void end_crc(struct vgpu_display *display)
{
	if (display->running && !display->stopped && !age_ns(display, ktime_get_ns()))
		delay_frame(display, 0);
	display->crc_due = false;
	display->crc_number++;
}

/* Start the timer if it has to run. Once it does not, it is not started again when it expires. */
static void start_timer(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_display *display = &vgpu->display;

	lockdep_assert_held(&vgpu->irq_lock);
	if (display->crc_due && !crc_is_wanted(vgpu))
		end_crc(display);
	if (!display->running || display->stopped || display->armed || vgpu_is_failsafe(vgpu) ||
	    !is_awaited(vgpu))
		return;
	pass_time(display);
	display->armed = true;
	display->armed_frame = display->frame;
	display->crc_wanted = crc_is_wanted(vgpu);
	hrtimer_start(&display->timer, ns_to_ktime(display->began_ns + display->frame_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

/* Let the time pass. Returns the events of the frame for which the timer runs, if it has begun. */
static u32 begin_frame(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_display *display = &vgpu->display;
	u32 events;

	pass_time(display);
	/* The pipe may have been switched off and on again meanwhile. */
	if (!display->armed || !display->running || display->stopped ||
	    display->frame == display->armed_frame)
		return 0;
	display->armed = false;
	events = GEN8_PIPE_VBLANK | flip_event(vgpu) | begin_crc(vgpu);
	display->flip = false;
	return events;
}

/* Release irq_lock and raise the events of the pipe. Starts the timer for the next ones. */
static void end_change(struct ghyvi_vgpu *vgpu, u32 events, unsigned long flags)
	__releases(&vgpu->irq_lock)
{
	u32 isr = pipe_isr(vgpu);

	start_timer(vgpu);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	if (events)
		vgpu_irq_raise_bank(vgpu, isr, events);
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	struct vgpu_display *display = container_of(timer, struct vgpu_display, timer);
	struct ghyvi_vgpu *vgpu = container_of(display, struct ghyvi_vgpu, display);
	unsigned long flags;
	u32 events;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	events = begin_frame(vgpu);
	display->armed = false;
	end_change(vgpu, events, flags);
	return HRTIMER_NORESTART; /* start_timer() has done it */
}

/* The guest's frames stand still while it does. */
void vgpu_display_pause(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_display *display = &vgpu->display;
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	if (!display->stopped) {
		now = pass_time(display);
		display->phase_ns = display->running ? age_ns(display, now) : 0;
		display->stopped = true;
	}
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	hrtimer_cancel(&display->timer);
}

void vgpu_display_resume(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_display *display = &vgpu->display;
	unsigned long flags;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	if (display->stopped) {
		display->began_ns = ktime_get_ns() - display->phase_ns;
		if (display->crc_due)
			delay_frame(display, CRC_READ_NS);
		display->stopped = false;
		display->armed = false; /* vgpu_display_pause() has cancelled it */
	}
	start_timer(vgpu);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

void vgpu_display_restore(struct ghyvi_vgpu *vgpu, u64 phase_ns)
{
	struct vgpu_display *display = &vgpu->display;

	WRITE_ONCE(display->pipe,
		   !(vgpu_get(vgpu, PIPEACONF) & PIPECONF_ENABLE) &&
			   vgpu_get(vgpu, PIPEACONF + PIPE_NEXT_BYTES) & PIPECONF_ENABLE);
	read_timings(vgpu);
	display->running = vgpu_pipe_get(vgpu, PIPEACONF) & PIPECONF_ENABLE;
	display->phase_ns = min(phase_ns, display->frame_ns);
	WRITE_ONCE(display->connected, vgpu_get(vgpu, SDEISR) & SDE_PORTB_HOTPLUG_CPT);
	vgpu_get_planes(vgpu, &display->next);
	display->shown = display->next;
	/* The guest may be about to read one. That it is of the frame before is not saved. */
	display->crc_picture = display->next;
	display->crc_due = display->running && crc_is_wanted(vgpu);
	display->crc_number++;
}

/* registers */

void vgpu_display_irq_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	unsigned long flags;

	vgpu_irq_write(vgpu, offset, value);
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	start_timer(vgpu);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

static unsigned int pipe_of(u32 offset)
{
	return offset & PIPE_NEXT_BYTES ? 1 : 0;
}

/* The other pipe is the display from now on. One is on at a time, and the registers say which. */
static void change_pipe(struct ghyvi_vgpu *vgpu, unsigned int pipe)
{
	struct vgpu_display *display = &vgpu->display;
	u32 old = PIPEACONF + display->pipe * PIPE_NEXT_BYTES;

	lockdep_assert_held(&vgpu->irq_lock);
	end_crc(display);
	vgpu_set(vgpu, old, vgpu_get(vgpu, old) & ~(u32)(PIPECONF_ENABLE | PIPECONF_STATE_ENABLE));
	WRITE_ONCE(display->pipe, pipe);
	display->running = false;
	display->flip = false;
	vgpu_get_planes(vgpu, &display->next);
}

static void switch_pipe(struct ghyvi_vgpu *vgpu, unsigned int pipe, bool on)
{
	struct vgpu_display *display = &vgpu->display;
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	now = pass_time(display);
	if (on && pipe != display->pipe)
		change_pipe(vgpu, pipe);
	if (on && !display->running) {
		read_timings(vgpu);
		display->shown = display->next;
		display->began_ns = now;
		display->phase_ns = 0;
	}
	if (!on && pipe == display->pipe)
		end_crc(display);
	if (pipe == display->pipe)
		display->running = on;
	start_timer(vgpu);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

/*
 * A plane has another surface, and all that has been stored to its registers before, in the next
 * frame: not in one that has begun but whose timer is late.
 */
static void plane_flip(struct ghyvi_vgpu *vgpu, unsigned int pipe, unsigned int plane, u32 surface)
{
	u32 count = PIPEA_FLIPCOUNT_G4X + pipe * PIPE_NEXT_BYTES, events;
	unsigned long flags;

	vgpu_set(vgpu, PLANE_SURFLIVE_1_A + pipe * PIPE_NEXT_BYTES + plane * PLANE_NEXT_BYTES,
		 surface);
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	events = begin_frame(vgpu);
	if (!plane)
		vgpu_set(vgpu, count, vgpu_get(vgpu, count) + 1);
	if (pipe == vgpu->display.pipe) {
		vgpu_get_plane(vgpu, &vgpu->display.next, plane);
		vgpu->display.flip |= !plane;
	}
	end_change(vgpu, events, flags);
}

static void set_cursor(struct ghyvi_vgpu *vgpu, u32 offset, u32 base)
{
	unsigned long flags;
	u32 events;

	vgpu_set(vgpu, offset, base);
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	events = begin_frame(vgpu);
	if (pipe_of(offset) == vgpu->display.pipe)
		vgpu_get_cursor(vgpu, &vgpu->display.next);
	end_change(vgpu, events, flags);
}

static void set_crc_control(struct ghyvi_vgpu *vgpu, u32 offset, u32 control)
{
	unsigned long flags;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	vgpu_set(vgpu, offset, control);
	/* One of another source is not the one that is asked for now. */
	if (pipe_of(offset) == vgpu->display.pipe)
		end_crc(&vgpu->display);
	start_timer(vgpu);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

/* The CRC of @number, which register @offset shows, is @crc, after @ns. */
static void finish_crc(struct ghyvi_vgpu *vgpu, u32 offset, u32 number, u32 crc, u64 ns)
{
	struct vgpu_display *display = &vgpu->display;
	unsigned long flags;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	if (display->crc_number == number) {
		vgpu_set(vgpu, offset, crc);
		if (display->running && !display->stopped)
			delay_frame(display, ns > display->frame_ns ? ns : 0);
		start_timer(vgpu);
	}
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

/* A read by another vCPU while one computes the CRC returns the last one. */
u32 vgpu_display_crc_read(struct ghyvi_vgpu *vgpu, u32 offset)
{
	struct vgpu_display *display = &vgpu->display;
	struct ghyvi_picture picture;
	unsigned long flags;
	u32 control, number, crc;
	u64 began;
	bool due;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	/* While the vGPU is paused, the guest's memory may not be there. */
	due = display->crc_due && !display->stopped && pipe_of(offset) == display->pipe;
	if (due) {
		display->crc_due = false;
		delay_frame(display, CRC_COMPUTE_NS);
		start_timer(vgpu);
	}
	number = display->crc_number;
	control = vgpu_pipe_get(vgpu, PIPE_CRC_CTL_A);
	picture = display->crc_picture;
	vgpu_get_size(vgpu, &picture);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	if (due) {
		began = ktime_get_ns();
		crc = vgpu_crc(vgpu, &picture, control);
		finish_crc(vgpu, offset, number, crc, ktime_get_ns() - began);
	}
	return vgpu_get(vgpu, offset);
}

/* The line that is scanned out, or the number of the frame, which is the same for all pipes. */
u32 vgpu_display_pipe_read(struct ghyvi_vgpu *vgpu, u32 offset)
{
	struct vgpu_display *display = &vgpu->display;
	u64 now, phase;
	unsigned long flags;
	u32 value;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	now = pass_time(display);
	value = display->frame;
	if (offset - pipe_of(offset) * PIPE_NEXT_BYTES == PIPEADSL) {
		value = 0;
		phase = display->stopped ? display->phase_ns : age_ns(display, now);
		if (display->running && pipe_of(offset) == display->pipe)
			value = (display->active_lines +
				 (u32)div64_u64(phase * display->lines, display->frame_ns)) %
				display->lines;
	}
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	return value;
}

void vgpu_display_pipe_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	unsigned int pipe = pipe_of(offset);
	u32 of_pipe_a = offset - pipe * PIPE_NEXT_BYTES;

	switch (of_pipe_a) {
	case PIPEACONF:
		value &= ~(u32)PIPECONF_STATE_ENABLE;
		if (value & PIPECONF_ENABLE)
			value |= PIPECONF_STATE_ENABLE;
		vgpu_set(vgpu, offset, value);
		switch_pipe(vgpu, pipe, value & PIPECONF_ENABLE);
		break;
	case PIPE_CRC_CTL_A:
		set_crc_control(vgpu, offset, value);
		break;
	case CURABASE:
		set_cursor(vgpu, offset, value);
		break;
	case PLANE_SURF_1_A:
	case PLANE_SURF_1_A + PLANE_NEXT_BYTES:
	case PLANE_SURF_1_A + 2 * PLANE_NEXT_BYTES:
		vgpu_set(vgpu, offset, value);
		plane_flip(vgpu, pipe, (of_pipe_a - PLANE_SURF_1_A) / PLANE_NEXT_BYTES, value);
		break;
	default: /* read-only */
		break;
	}
}

/* A PLL locks when it is enabled. LCPLL1 shows that itself, too. */
void vgpu_display_pll_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	static const u32 plls[] = { LCPLL1_CTL, LCPLL2_CTL, WRPLL_CTL1, WRPLL_CTL2 };
	u32 status = 0;
	unsigned int i;

	if (offset == LCPLL1_CTL) {
		value &= ~(u32)LCPLL_PLL_LOCK;
		if (value & LCPLL_PLL_ENABLE)
			value |= LCPLL_PLL_LOCK;
	}
	mutex_lock(&vgpu->lock);
	vgpu_set(vgpu, offset, value);
	for (i = 0; i < ARRAY_SIZE(plls); i++)
		if (vgpu_get(vgpu, plls[i]) & LCPLL_PLL_ENABLE)
			status |= 1u << DPLL_LOCK_SHIFT * i;
	if (ghyvi_vgpu_has_display(vgpu))
		vgpu_set(vgpu, DPLL_STATUS, status);
	mutex_unlock(&vgpu->lock);
}

/* The PLL of a Broadwell, from which the display takes its clock unless that is the slow one. */
void vgpu_display_lcpll_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	value &= ~(u32)(LCPLL_PLL_LOCK | LCPLL_CD_SOURCE_FCLK_DONE);
	value |= value & LCPLL_PLL_DISABLE ? 0 : LCPLL_PLL_LOCK;
	value |= value & LCPLL_CD_SOURCE_FCLK ? LCPLL_CD_SOURCE_FCLK_DONE : 0;
	vgpu_set(vgpu, offset, value);
}

/* The PCH of a Broadwell has registers that are reached by messages, which end at once. */
void vgpu_display_sbi_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	vgpu_set(vgpu, offset, value & ~(u32)SBI_BUSY);
}

/* The bytes of a message are in the data registers, the first one in the highest bits. */
static void aux_load(struct ghyvi_vgpu *vgpu, u32 data, u8 *bytes)
{
	unsigned int i;

	for (i = 0; i < AUX_BYTES; i++)
		bytes[i] = vgpu_get(vgpu, data + (i & ~3u)) >> (24 - 8 * (i & 3));
}

static void aux_store(struct ghyvi_vgpu *vgpu, u32 data, const u8 *bytes)
{
	unsigned int i;

	for (i = 0; i < AUX_BYTES; i += 4)
		vgpu_set(vgpu, data + i,
			 (u32)bytes[i] << 24 | bytes[i + 1] << 16 | bytes[i + 2] << 8 |
				 bytes[i + 3]);
}

/* Send a message, and return the bits of the control register that tell how it ended. */
static u32 aux_send(struct ghyvi_vgpu *vgpu, unsigned int port, u32 data, u32 control)
{
	u32 bytes = (control & DP_AUX_CH_CTL_MESSAGE_SIZE_MASK) >> DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT;
	u8 message[AUX_BYTES], reply[AUX_BYTES] = {};

	lockdep_assert_held(&vgpu->lock);
	if (port != MONITOR_PORT || bytes > AUX_BYTES || !vgpu->display.connected)
		return DP_AUX_CH_CTL_DONE | DP_AUX_CH_CTL_TIME_OUT_ERROR;
	aux_load(vgpu, data, message);
	bytes = vgpu_monitor_transfer(&vgpu->display.monitor, message, bytes, reply);
	if (!bytes)
		return DP_AUX_CH_CTL_DONE | DP_AUX_CH_CTL_TIME_OUT_ERROR;
	aux_store(vgpu, data, reply);
	return DP_AUX_CH_CTL_DONE | bytes << DP_AUX_CH_CTL_MESSAGE_SIZE_SHIFT;
}

static void aux_write(struct ghyvi_vgpu *vgpu, unsigned int port, u32 offset, u32 value)
{
	/* Of ports A to D. */
	static const u32 done[] = { GEN8_AUX_CHANNEL_A, GEN9_AUX_CHANNEL_B, GEN9_AUX_CHANNEL_C,
				    GEN9_AUX_CHANNEL_D };
	const u32 ends = DP_AUX_CH_CTL_DONE | DP_AUX_CH_CTL_TIME_OUT_ERROR |
			 DP_AUX_CH_CTL_RECEIVE_ERROR;
	bool send = value & DP_AUX_CH_CTL_SEND_BUSY;

	mutex_lock(&vgpu->lock);
	if (send) {
		value &= ~(ends | (u32)DP_AUX_CH_CTL_SEND_BUSY);
		value = (value & ~(u32)DP_AUX_CH_CTL_MESSAGE_SIZE_MASK) |
			aux_send(vgpu, port, offset + DP_AUX_CH_DATA_A - DP_AUX_CH_CTL_A, value);
	} else {
		value = (value & ~ends) | (vgpu_get(vgpu, offset) & ends & ~value);
	}
	vgpu_set(vgpu, offset, value);
	mutex_unlock(&vgpu->lock);
	if (send && value & DP_AUX_CH_CTL_INTERRUPT && port < ARRAY_SIZE(done))
		vgpu_irq_raise_bank(vgpu, offset < PCH_DP_AUX_CH_CTL_B ? GEN8_DE_PORT_ISR : SDEISR,
				    done[port]);
}

void vgpu_display_pch_aux_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	aux_write(vgpu, 1 + (offset - PCH_DP_AUX_CH_CTL_B) / DISPLAY_PORT_BYTES, offset, value);
}

void vgpu_display_port_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	unsigned int port = (offset - DDI_BUF_CTL_A) / DISPLAY_PORT_BYTES;

	switch (offset - port * DISPLAY_PORT_BYTES) {
	case DDI_BUF_CTL_A:
		value &= ~(u32)DDI_BUF_IS_IDLE;
		if (!(value & DDI_BUF_CTL_ENABLE))
			value |= DDI_BUF_IS_IDLE;
		vgpu_set(vgpu, offset, value);
		break;
	case DP_AUX_CH_CTL_A:
		aux_write(vgpu, port, offset, value);
		break;
	case DP_TP_CTL_A:
		vgpu_set(vgpu, offset, value);
		vgpu_set(vgpu, offset + DP_TP_STATUS_A - DP_TP_CTL_A,
			 (value & DP_TP_CTL_LINK_TRAIN_MASK) == DP_TP_CTL_LINK_TRAIN_IDLE ?
				 DP_TP_STATUS_IDLE_DONE :
				 0);
		break;
	case DP_TP_STATUS_A:
		break;
	default:
		vgpu_set(vgpu, offset, value);
	}
}

/* Ones clear what was detected at a port. */
void vgpu_display_hotplug_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	unsigned long flags;

	spin_lock_irqsave(&vgpu->irq_lock, flags);
	value = (value & ~PORT_HOTPLUG_STATUS_MASK) |
		(vgpu_get(vgpu, offset) & ~value & PORT_HOTPLUG_STATUS_MASK);
	vgpu_set(vgpu, offset, value);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

/* Show at the port whether there is a monitor. */
static void show_connection(struct ghyvi_vgpu *vgpu)
{
	const struct vgpu_display *display = &vgpu->display;

	vgpu_set(vgpu, SDEISR, display->on && display->connected ? SDE_PORTB_HOTPLUG_CPT : 0);
}

/* No device answers on the I2C of HDMI. */
void vgpu_display_gmbus_write(struct ghyvi_vgpu *vgpu, u32 offset, u32 value)
{
	vgpu_set(vgpu, offset, value);
	vgpu_set(vgpu, PCH_GMBUS2,
		 value & GMBUS_CYCLE_WAIT && !(value & GMBUS_SW_CLR_INT) ? GMBUS_SATOER : 0);
}

u32 vgpu_display_mailbox(struct ghyvi_vgpu *vgpu, u32 command)
{
	/* Latencies of the memory in us, for eight levels of power saving, as of a Skylake. */
	static const u32 latencies[] = { 0x201c1302, 0x63534d3f };

	if (!ghyvi_vgpu_has_display(vgpu))
		return 0;
	switch (command) {
	case GEN9_PCODE_READ_MEM_LATENCY:
		vgpu_set(vgpu, GEN6_PCODE_DATA, latencies[vgpu_get(vgpu, GEN6_PCODE_DATA) & 1]);
		return 0;
	case GEN9_PCODE_SAGV_CONTROL: /* the clock of the memory is not the guest's affair */
		return GEN6_PCODE_ILLEGAL_CMD;
	default:
		return 0;
	}
}

/* life */

void vgpu_display_init(struct ghyvi_vgpu *vgpu)
{
	vgpu->display.connected = true;
	vgpu_monitor_choose(&vgpu->display, GHYVI_RESOLUTION_DEFAULT, NULL, 0);
	hrtimer_setup(&vgpu->display.timer, timer_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

/* After a reset: the pipe is off, so the timer does not start again. */
void vgpu_display_fini(struct ghyvi_vgpu *vgpu)
{
	hrtimer_cancel(&vgpu->display.timer);
}

static void set_reset_values(struct ghyvi_vgpu *vgpu)
{
	const struct vgpu_display_value *value = vgpu->params.profile->display->values;
	bool on = vgpu->display.on;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(display_values); i++)
		vgpu_set(vgpu, display_values[i].offset, on ? display_values[i].value : 0);
	for (; value->offset; value++)
		vgpu_set(vgpu, value->offset, on ? value->on : value->off);
	show_connection(vgpu);
}

void vgpu_display_reset(struct ghyvi_vgpu *vgpu)
{
	struct vgpu_display *display = &vgpu->display;
	unsigned long flags;

	lockdep_assert_held(&vgpu->lock);
	set_reset_values(vgpu);
	vgpu_monitor_reset(display);
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	end_crc(display);
	memset(&display->next, 0, sizeof(display->next));
	WRITE_ONCE(display->pipe, 0);
	display->running = false;
	display->flip = false;
	display->frame = 0;
	display->phase_ns = 0;
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
}

void ghyvi_vgpu_set_display(struct ghyvi_vgpu *vgpu, bool on)
{
	mutex_lock(&vgpu->lock);
	WRITE_ONCE(vgpu->display.on, on);
	vgpu_display_reset(vgpu);
	mutex_unlock(&vgpu->lock);
}

bool ghyvi_vgpu_has_display(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->display.on);
}

static void choose_monitor(struct ghyvi_vgpu *vgpu, unsigned int resolution, const u8 *edid,
			   size_t bytes)
{
	unsigned long flags;

	lockdep_assert_held(&vgpu->lock);
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	vgpu_monitor_choose(&vgpu->display, resolution, edid, bytes);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	vgpu_display_reset(vgpu);
}

void ghyvi_vgpu_set_resolution(struct ghyvi_vgpu *vgpu, unsigned int resolution)
{
	mutex_lock(&vgpu->lock);
	choose_monitor(vgpu, resolution, NULL, 0);
	mutex_unlock(&vgpu->lock);
}

unsigned int ghyvi_vgpu_get_resolution(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->display.resolution);
}

const char *ghyvi_vgpu_set_edid(struct ghyvi_vgpu *vgpu, const u8 *edid, size_t bytes)
{
	const char *wrong = vgpu_monitor_check_edid(edid, bytes);

	if (wrong)
		return wrong;
	mutex_lock(&vgpu->lock);
	choose_monitor(vgpu, vgpu->display.resolution, edid, bytes);
	mutex_unlock(&vgpu->lock);
	return NULL;
}

size_t ghyvi_vgpu_get_edid(struct ghyvi_vgpu *vgpu, u8 *edid)
{
	unsigned long flags;
	size_t bytes;

	/* Any user may read it: not with a lock that vCPUs wait for while a holder is preempted. */
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	bytes = vgpu->display.edid_bytes;
	memcpy(edid, vgpu->display.edid, bytes);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	return bytes;
}

bool ghyvi_vgpu_has_edid(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->display.edid_written);
}

/* The guest sees a long pulse at the port: the first of several events is enough. */
void ghyvi_vgpu_set_connected(struct ghyvi_vgpu *vgpu, bool connected)
{
	struct vgpu_display *display = &vgpu->display;
	unsigned long flags;
	u32 control;
	bool pulse = false;

	mutex_lock(&vgpu->lock);
	if (connected != display->connected) {
		WRITE_ONCE(display->connected, connected);
		vgpu_monitor_plug(&display->monitor);
		spin_lock_irqsave(&vgpu->irq_lock, flags);
		show_connection(vgpu);
		control = vgpu_get(vgpu, PCH_PORT_HOTPLUG);
		pulse = display->on && control & PORTB_HOTPLUG_ENABLE;
		if (pulse)
			vgpu_set(vgpu, PCH_PORT_HOTPLUG, control | PORTB_HOTPLUG_LONG_DETECT);
		spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	}
	mutex_unlock(&vgpu->lock);
	if (pulse)
		vgpu_irq_raise_bank(vgpu, SDEISR, SDE_PORTB_HOTPLUG_CPT);
}

bool ghyvi_vgpu_is_connected(const struct ghyvi_vgpu *vgpu)
{
	return READ_ONCE(vgpu->display.connected);
}
