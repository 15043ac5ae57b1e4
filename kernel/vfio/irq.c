// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts to user space: one MSI vector, and the request to release the device. There is no
 * INTx: the guest driver does not need it, and MSI needs no acknowledgement.
 */
#include <linux/err.h>
#include <ghyvi/compat.h>
#include "kvm/kvm.h"
#include "device.h"

unsigned int ghyvi_irq_count(u32 index)
{
	return index == VFIO_PCI_MSI_IRQ_INDEX || index == VFIO_PCI_REQ_IRQ_INDEX;
}

static void set_request(struct ghyvi_device *device, struct eventfd_ctx *trigger)
{
	spin_lock(&device->request_lock);
	swap(device->request, trigger);
	spin_unlock(&device->request_lock);
	if (trigger)
		eventfd_ctx_put(trigger);
}

bool ghyvi_irq_request(struct ghyvi_device *device)
{
	bool listening;

	spin_lock(&device->request_lock);
	listening = device->request;
	if (listening)
		ghyvi_eventfd_signal(device->request);
	spin_unlock(&device->request_lock);
	return listening;
}

static void set_trigger(struct ghyvi_device *device, u32 index, struct eventfd_ctx *trigger)
{
	if (index == VFIO_PCI_MSI_IRQ_INDEX)
		ghyvi_kvm_set_trigger(device->gvm, trigger);
	else
		set_request(device, trigger);
}

static void trigger_irq(struct ghyvi_device *device, u32 index)
{
	if (index == VFIO_PCI_MSI_IRQ_INDEX)
		ghyvi_kvm_interrupt(device->gvm);
	else
		ghyvi_irq_request(device);
}

static int set_eventfd(struct ghyvi_device *device, u32 index, s32 fd)
{
	struct eventfd_ctx *trigger = NULL;

	if (fd < -1)
		return -EINVAL;
	if (fd >= 0) {
		trigger = eventfd_ctx_fdget(fd);
		if (IS_ERR(trigger))
			return PTR_ERR(trigger);
	}
	set_trigger(device, index, trigger);
	return 0;
}

/*
 * @set has been validated: it has at most one vector, and @data has the size that its type
 * requires.
 */
int ghyvi_irq_set(struct ghyvi_device *device, const struct vfio_irq_set *set, const void *data)
{
	if ((set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) != VFIO_IRQ_SET_ACTION_TRIGGER)
		return -ENOTTY;

	switch (set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_NONE:
		if (set->count)
			trigger_irq(device, set->index);
		else
			set_trigger(device, set->index, NULL);
		return 0;
	case VFIO_IRQ_SET_DATA_BOOL:
		if (!set->count)
			return -EINVAL;
		if (*(const u8 *)data)
			trigger_irq(device, set->index);
		return 0;
	case VFIO_IRQ_SET_DATA_EVENTFD:
		return set->count ? set_eventfd(device, set->index, *(const s32 *)data) : -EINVAL;
	default:
		return -EINVAL;
	}
}

void ghyvi_irq_release(struct ghyvi_device *device)
{
	ghyvi_kvm_set_trigger(device->gvm, NULL);
	set_request(device, NULL);
}
