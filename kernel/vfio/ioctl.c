// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VFIO_DEVICE_* ioctls.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <ghyvi/compat.h>
#include "vgpu/vgpu.h"
#include "device.h"

/*
 * Copy in the fixed part of a request, whose first word is argsz, and check that argsz covers it.
 */
static int get_request(void *request, const void __user *user, size_t bytes)
{
	if (copy_from_user(request, user, bytes))
		return -EFAULT;
	return *(u32 *)request < bytes ? -EINVAL : 0;
}

static long get_info(struct ghyvi_device *device, void __user *user)
{
	const size_t bytes = offsetofend(struct vfio_device_info, num_irqs);
	struct vfio_device_info info;
	int err = get_request(&info, user, bytes);

	if (err)
		return err;
	info.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
	info.num_regions = ghyvi_vgpu_has_display(device->vgpu) ? GHYVI_OPREGION_REGION_INDEX + 1 :
								  VFIO_PCI_NUM_REGIONS;
	info.num_irqs = VFIO_PCI_NUM_IRQS;
	return copy_to_user(user, &info, bytes) ? -EFAULT : 0;
}

#if !GHYVI_HAVE_VFIO_REGION_INFO_OP
/* Append the capabilities if argsz is large enough; else return the required size in argsz. */
static int put_capabilities(struct vfio_region_info *info, struct vfio_info_cap *caps,
			    void __user *user)
{
	u32 needed = sizeof(*info) + caps->size;

	info->flags |= VFIO_REGION_INFO_FLAG_CAPS;
	if (info->argsz < needed) {
		info->argsz = needed;
		info->cap_offset = 0;
		return 0;
	}
	vfio_info_cap_shift(caps, sizeof(*info));
	info->cap_offset = sizeof(*info);
	return copy_to_user(user + sizeof(*info), caps->buf, caps->size) ? -EFAULT : 0;
}

static long get_region_info(struct vfio_device *vdev, void __user *user)
{
	const size_t bytes = offsetofend(struct vfio_region_info, offset);
	struct vfio_info_cap caps = { .buf = NULL, .size = 0 };
	struct vfio_region_info info;
	int err = get_request(&info, user, bytes);

	if (err)
		return err;
	info.cap_offset = 0;
	err = ghyvi_region_info(vdev, &info, &caps);
	if (!err && caps.size)
		err = put_capabilities(&info, &caps, user);
	kfree(caps.buf);
	if (err)
		return err;
	return copy_to_user(user, &info, bytes) ? -EFAULT : 0;
}
#else
static long get_region_info(struct vfio_device *vdev, void __user *user)
{
	return -ENOTTY;
}
#endif

static long get_irq_info(void __user *user)
{
	const size_t bytes = offsetofend(struct vfio_irq_info, count);
	struct vfio_irq_info info;
	int err = get_request(&info, user, bytes);

	if (err)
		return err;
	/*
	 * Reject the error interrupt, as vfio-pci does for conventional PCI: QEMU warns about one
	 * that exists but has no vector.
	 */
	if (info.index >= VFIO_PCI_NUM_IRQS || info.index == VFIO_PCI_ERR_IRQ_INDEX)
		return -EINVAL;
	info.count = ghyvi_irq_count(info.index);
	info.flags = info.count ? VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE : 0;
	return copy_to_user(user, &info, bytes) ? -EFAULT : 0;
}

static long set_irqs(struct ghyvi_device *device, void __user *user)
{
	const size_t bytes = offsetofend(struct vfio_irq_set, count);
	struct vfio_irq_set set;
	size_t data_bytes = 0;
	void *data = NULL;
	int err = get_request(&set, user, bytes);

	if (err)
		return err;
	if (set.index >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	err = vfio_set_irqs_validate_and_prepare(&set, ghyvi_irq_count(set.index),
						 VFIO_PCI_NUM_IRQS, &data_bytes);
	if (err)
		return err;
	if (data_bytes) {
		data = memdup_user(user + bytes, data_bytes);
		if (IS_ERR(data))
			return PTR_ERR(data);
	}
	err = ghyvi_irq_set(device, &set, data);
	kfree(data);
	return err;
}

static long query_gfx_plane(struct ghyvi_device *device, void __user *user)
{
	const size_t bytes = offsetofend(struct vfio_device_gfx_plane_info, region_index);
	struct vfio_device_gfx_plane_info plane;
	int err = get_request(&plane, user, bytes);

	if (!err)
		err = ghyvi_display_query(device, &plane);
	if (err)
		return err;
	return copy_to_user(user, &plane, bytes) ? -EFAULT : 0;
}

static long device_reset_ioctl(struct ghyvi_device *device)
{
	mutex_lock(&device->lock);
	ghyvi_device_reset(device);
	mutex_unlock(&device->lock);
	return 0;
}

long ghyvi_device_ioctl(struct vfio_device *vdev, unsigned int command, unsigned long argument)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);
	void __user *user = (void __user *)argument;

	switch (command) {
	case VFIO_DEVICE_GET_INFO:
		return get_info(device, user);
	case VFIO_DEVICE_GET_REGION_INFO:
		return get_region_info(vdev, user);
	case VFIO_DEVICE_GET_IRQ_INFO:
		return get_irq_info(user);
	case VFIO_DEVICE_SET_IRQS:
		return set_irqs(device, user);
	case VFIO_DEVICE_RESET:
		return device_reset_ioctl(device);
	case VFIO_DEVICE_QUERY_GFX_PLANE:
		return query_gfx_plane(device, user);
	default:
		return -ENOTTY;
	}
}
