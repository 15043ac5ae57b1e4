// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VFIO device: open, close and reset, and VFIO's requests to release the device or guest
 * memory.
 */
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <ghyvi/compat.h>
#include "kvm/kvm.h"
#include "vgpu/vgpu.h"
#include "device.h"

/* VFIO repeats the request every ten seconds. Log every sixth one. */
#define REQUEST_NOTICE_EVERY 6

static struct ghyvi_vgpu *vgpu_of(struct ghyvi_kvm_events *events)
{
	return container_of(events, struct ghyvi_device, kvm_events)->vgpu;
}

static void guest_stored(struct ghyvi_kvm_events *events, u64 gpa, const void *data,
			 unsigned int bytes)
{
	ghyvi_vgpu_route_store(vgpu_of(events), gpa, data, bytes);
}

static void guest_protection_lost(struct ghyvi_kvm_events *events, u64 gfn, u64 count)
{
	struct ghyvi_device *device = container_of(events, struct ghyvi_device, kvm_events);

	ghyvi_vgpu_protection_lost(device->vgpu, gfn, count);
	ghyvi_remap_moved(device);
}

static int bind_device(struct ghyvi_device *device)
{
	/*
	 * The pages of BAR 0 are not mapped while the device is closed. A remaining reference could
	 * be used to change the GGTT table of the next user.
	 */
	if (ghyvi_region_is_referenced(device)) {
		ghyvi_report(
			&device->reporter,
			"cannot be opened: the previous VM still uses memory of BAR 0; stop that VM, or remove and create the vGPU again");
		return -EBUSY;
	}
	device->kvm_events.store = guest_stored;
	device->kvm_events.lost = guest_protection_lost;
	return ghyvi_kvm_bind(device->gvm, &device->kvm_events);
}

static void set_opener(struct ghyvi_device *device, struct pid *opener)
{
	spin_lock(&device->request_lock);
	swap(device->opener, opener);
	spin_unlock(&device->request_lock);
	put_pid(opener);
}

/* The number of a process that has ended may be that of another one by now. */
pid_t ghyvi_device_open_pid(struct ghyvi_device *device)
{
	pid_t number = 0;

	spin_lock(&device->request_lock);
	if (device->opener && pid_has_task(device->opener, PIDTYPE_TGID))
		number = pid_nr(device->opener);
	spin_unlock(&device->request_lock);
	return number;
}

static int open_device(struct vfio_device *vdev)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);
	int err;

	ghyvi_report_forget(&device->reporter);
	if (!try_module_get(device->pgpu->owner)) {
		ghyvi_report(&device->reporter,
			     "cannot be opened: the pGPU's module is being unloaded");
		return -ENODEV;
	}
	mutex_lock(&device->lock);
	err = bind_device(device);
	if (!err) {
		ghyvi_device_reset(device);
		ghyvi_remap_start(device);
		device->open = true;
		WRITE_ONCE(device->open_time, ktime_get_real_seconds());
		set_opener(device, get_pid(task_tgid(current)));
	}
	mutex_unlock(&device->lock);
	if (err)
		module_put(device->pgpu->owner);
	return err;
}

/*
 * The user may have been killed at any point. After this function no page of the guest is pinned or
 * protected.
 */
static void close_device(struct vfio_device *vdev)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);

	mutex_lock(&device->lock);
	device->open = false;
	WRITE_ONCE(device->open_time, 0);
	set_opener(device, NULL);
	ghyvi_remap_stop(device);
	ghyvi_irq_release(device);
	ghyvi_kvm_refuse_pins(device->gvm);
	ghyvi_device_reset_with(device, ghyvi_vgpu_close);
	ghyvi_migration_close(device);
	ghyvi_display_close(device);
	/* Their mappings had references on the file. */
	WRITE_ONCE(device->ggtt_mapping, NULL);
	WRITE_ONCE(device->aperture_mapping, NULL);
	ghyvi_kvm_unbind(device->gvm);
	mutex_unlock(&device->lock);
	module_put(device->pgpu->owner);
}

static void request_unplug(struct vfio_device *vdev, unsigned int count)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);

	if (!ghyvi_irq_request(device)) {
		if (!count)
			dev_warn(
				vdev->dev,
				"removal is waiting: the program that uses this vGPU has set no device request interrupt; stop the VM\n");
	} else if (!(count % REQUEST_NOTICE_EVERY)) {
		dev_notice(
			vdev->dev,
			"removal: asked the VM to unplug this vGPU; if its machine type cannot (q35 without a root port), stop it\n");
	}
}

static void dma_unmap(struct vfio_device *vdev, u64 iova, u64 bytes)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);
	u64 gfn = iova >> PAGE_SHIFT, count = bytes >> PAGE_SHIFT;

	/* IOMMUFD refuses new pins itself, and holds no lock that pinning takes. */
	if (ghyvi_vfio_uses_iommufd(vdev)) {
		ghyvi_unmap(&device->unmap, gfn, count, NULL);
		return;
	}
	ghyvi_kvm_unmapping(device->gvm, gfn, count);
	ghyvi_unmap(&device->unmap, gfn, count, ghyvi_kvm_may_give_up);
}

#if GHYVI_HAVE_VFIO_FREE_DEVICE
static void mdev_release_dev(struct vfio_device *vdev)
{
	vfio_free_device(vdev);
}
#endif

const struct vfio_device_ops ghyvi_device_ops = { .name = "ghyvi",
						  .open_device = open_device,
						  .close_device = close_device,
						  .read = ghyvi_region_read,
						  .write = ghyvi_region_write,
						  .mmap = ghyvi_region_mmap,
						  .ioctl = ghyvi_device_ioctl,
						  .request = request_unplug,
						  .dma_unmap = dma_unmap,
#if !GHYVI_HAVE_VFIO_MIG_DATA_SIZE
						  .device_feature = ghyvi_migration_feature,
#endif
#if GHYVI_HAVE_VFIO_FREE_DEVICE
						  .release = mdev_release_dev,
#endif
#if GHYVI_HAVE_VFIO_REGION_INFO_OP
						  .get_region_info_caps = ghyvi_region_info,
#endif
						  GHYVI_VFIO_IOMMUFD_OPS };
