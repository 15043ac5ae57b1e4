// SPDX-License-Identifier: GPL-2.0-only
/*
 * The display in the state of a vGPU: what is not in its registers. A vGPU without a display has no
 * such section.
 */
#include "state_io.h"

void vgpu_display_save(struct ghyvi_vgpu *vgpu, struct state_writer *writer)
{
	const struct vgpu_display *display = &vgpu->display;
	const struct vgpu_monitor *monitor = &display->monitor;
	struct state_display state;
	unsigned long flags;

	lockdep_assert_held(&vgpu->lock);
	if (!display->on)
		return;
	memset(&state, 0, sizeof(state));
	memcpy(state.edid, monitor->edid, sizeof(state.edid));
	memcpy(state.link, monitor->link, sizeof(state.link));
	state.power = monitor->power;
	state.edid_offset = monitor->edid_offset;
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	state.phase_ns = display->phase_ns;
	state.frame = display->frame;
	state.flip = display->flip;
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	state_section(writer, STATE_DISPLAY, &state, sizeof(state));
	if (monitor->edid_bytes > sizeof(state.edid))
		state_section(writer, STATE_EDID, monitor->edid + sizeof(state.edid),
			      monitor->edid_bytes - sizeof(state.edid));
}

int vgpu_display_load(struct ghyvi_vgpu *vgpu, struct state_reader *reader)
{
	const struct state_display *state = state_take(reader, sizeof(*state));
	struct vgpu_display *display = &vgpu->display;
	unsigned long flags;

	lockdep_assert_held(&vgpu->lock);
	if (!state || reader->left || state->flip > 1)
		return -EINVAL;
	memcpy(display->monitor.edid, state->edid, sizeof(state->edid));
	display->monitor.edid_bytes = sizeof(state->edid);
	memcpy(display->monitor.link, state->link, sizeof(state->link));
	display->monitor.power = state->power;
	display->monitor.edid_offset = state->edid_offset;
	spin_lock_irqsave(&vgpu->irq_lock, flags);
	display->frame = state->frame;
	display->flip = state->flip;
	vgpu_display_restore(vgpu, state->phase_ns);
	spin_unlock_irqrestore(&vgpu->irq_lock, flags);
	return 0;
}

int vgpu_edid_load(struct ghyvi_vgpu *vgpu, struct state_reader *reader)
{
	struct vgpu_monitor *monitor = &vgpu->display.monitor;
	const void *block = state_take(reader, GHYVI_EDID_BYTES);

	lockdep_assert_held(&vgpu->lock);
	if (!block || reader->left)
		return -EINVAL;
	memcpy(monitor->edid + GHYVI_EDID_BYTES, block, GHYVI_EDID_BYTES);
	monitor->edid_bytes = GHYVI_EDID_BYTES_MAX;
	return 0;
}
