/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A vGPU as user space sees it: an mdev device, a VFIO device, and a directory in sysfs.
 */
#ifndef GHYVI_DEVICE_H
#define GHYVI_DEVICE_H

#include <linux/mdev.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vfio.h>
#include <linux/workqueue.h>
#include <ghyvi/gtt.h>
#include <ghyvi/report.h>
#include <ghyvi/stats.h>
#include "kvm/kvm.h"
#include "vgpu/vgpu.h"
#include "config.h"
#include "migration.h"
#include "parent.h"
#include "unmap.h"

struct address_space;
struct dentry;
struct eventfd_ctx;
struct ghyvi_vm;
struct ghyvi_vgpu;

/*
 * struct ghyvi_events - uevents of a vGPU (events.c). The counters are those of the last event;
 * only @work accesses them.
 */
struct ghyvi_events {
	struct delayed_work work;
	s64 failsafes, budget_overruns, device_resets;
};

/*
 * struct ghyvi_remap - upkeep of registers that the guest maps (remap.c). BAR 0 has moved at
 * @moved, and @work rests until @rests (jiffies).
 */
struct ghyvi_remap {
	struct timer_list clock;
	struct delayed_work work;
	unsigned long moved;
	unsigned long rests;
};

/*
 * struct ghyvi_screen - the guest's picture as the user of the device sees it (display.c).
 * @memory: the display region, and scratch memory behind it; NULL: not used since the device was
 *	opened. Set without a lock; freed when nothing can use it.
 * @picture: what the region shows; height 0: the plane is off
 * @next: first row of the band that is drawn next
 * @due: number of bands that are drawn whatever time that takes
 * @queried_ns, @changed_ns: when the plane was queried last, and when that found a change
 * @credit_ns: time that may be used to look for changes
 *
 * device->lock protects all members but @memory. Nothing of it moves: the first query after a move
 * draws the whole picture.
 */
struct ghyvi_screen {
	void *memory;
	struct ghyvi_picture picture;
	u32 next;
	u32 due;
	u64 queried_ns, changed_ns;
	s64 credit_ns;
};

/*
 * struct ghyvi_device - one vGPU, from the creation of its mdev to the removal.
 * @partition: the vGPU's part of the GGTT address space; changes only under @lock and while the
 *	device is not open; slot_show() reads it without
 * @lock: serialises open, close, resets, writers of settings and configuration accesses; protects
 *	@config, @bar0, @open and @migration. Outermost: vgpu->lock and that of struct ghyvi_gtt
 *	nest inside. Accesses to registers and BARs do not take it.
 * @bar0: guest-physical address of BAR 0 as last passed to @vgpu, or GHYVI_BAR_UNMAPPED. Written
 *	with @lock held, read without.
 * @open_time: when it was opened, in seconds since the epoch; 0 if it is not open. As @open.
 * @opener: the process that opened it; NULL: it is not open
 * @ggtt_user: for the gtt, to remove mappings of the GGTT table in BAR 0
 * @ggtt_mapping: the address space in which the table is mapped; NULL: it has not been
 * @aperture_mapping: the address space in which BAR 2 is mapped; NULL: it has not been
 */
struct ghyvi_device {
	struct vfio_device vdev; /* the VFIO device */
	struct ghyvi_pgpu *pgpu; /* pGPU of the vGPU; constant */
	const struct ghyvi_type *type; /* mdev type; constant */
	struct ghyvi_partition partition;
	int id; /* small number, unique on the host; constant. The guest does not see it. */
	struct ghyvi_reporter reporter; /* messages about the vGPU */
	struct ghyvi_stats stats; /* counters of the vGPU */
	struct ghyvi_vm *gvm; /* binding to the VM; constant */
	struct ghyvi_kvm_events kvm_events; /* callbacks of @gvm */
	struct ghyvi_vgpu *vgpu; /* device model; constant */
	struct ghyvi_migration migration; /* state of a migration */
	struct ghyvi_unmap unmap; /* ranges of guest memory that VFIO unmaps */
	struct dentry *debugfs; /* directory in debugfs */
	struct ghyvi_events events; /* uevents */
	struct ghyvi_remap remap; /* upkeep of registers that the guest maps */
	struct ghyvi_screen screen; /* the guest's picture */

	struct mutex lock;
	struct ghyvi_config config; /* PCI configuration space */
	u64 bar0;
	bool open; /* the device is open. Written with @lock held, also read without. */
	s64 open_time;
	struct pid *opener;

	struct ghyvi_ggtt_user ggtt_user;
	struct address_space *ggtt_mapping;
	struct ghyvi_aperture_user aperture_user; /* for the gtt, to remove mappings of BAR 2 */
	struct address_space *aperture_mapping;

	spinlock_t request_lock; /* protects @request and @opener */
	struct eventfd_ctx *request; /* eventfd that asks the user to release the device, or NULL */
};

static inline struct ghyvi_device *ghyvi_device_of(struct vfio_device *vdev)
{
	return container_of(vdev, struct ghyvi_device, vdev);
}

/* device.c */
extern const struct vfio_device_ops ghyvi_device_ops;
/* What has opened it, in the initial PID namespace; 0: it is not open, or the process has ended. */
pid_t ghyvi_device_open_pid(struct ghyvi_device *device);

/* region.c */
ssize_t ghyvi_region_read(struct vfio_device *vdev, char __user *buffer, size_t bytes, loff_t *pos);
ssize_t ghyvi_region_write(struct vfio_device *vdev, const char __user *buffer, size_t bytes,
			   loff_t *pos);
int ghyvi_region_mmap(struct vfio_device *vdev, struct vm_area_struct *vma);
/*
 * Test whether memory of BAR 0 has other references, while the device is closed. Caller holds
 * device->lock.
 */
bool ghyvi_region_is_referenced(struct ghyvi_device *device);
int ghyvi_region_info(struct vfio_device *vdev, struct vfio_region_info *info,
		      struct vfio_info_cap *caps);

/* bar0.c */
#define GHYVI_REGION_SHIFT 40
#define GHYVI_REGION_OFFSET_MASK (BIT_ULL(GHYVI_REGION_SHIFT) - 1)
/*
 * The upper bits of the file offset are the region's index, as in vfio-pci. For BAR 0 and 2 they
 * are unique on the host: on kernels where all device files share one address space, mappings are
 * found there by the offset, see bar0_unmap() and bar2_unmap(). Reads and writes also accept the
 * index of BAR 0.
 */
#define GHYVI_APERTURE_INDEX_FIRST 0x100ull
#define GHYVI_BAR0_INDEX_FIRST 0x400000ull
/* The offset of a region in the device's file. */
u64 ghyvi_region_offset(const struct ghyvi_device *device, u32 index);
/* Pass the address of BAR 0 to the vGPU if it has changed. Caller holds device->lock. */
void ghyvi_device_update_bar0(struct ghyvi_device *device);
void ghyvi_bar0_init(struct ghyvi_device *device);
/* Prepare a mapping of a part of the GGTT table, which contains all of @vma. */
void ghyvi_bar0_mmap_ggtt(struct ghyvi_device *device, struct vm_area_struct *vma);
/*
 * What a fault handler returns whose mapping, with @result, may be removed at any time. Drops the
 * lock of the fault if the caller may retry.
 */
vm_fault_t ghyvi_fault_result(struct vm_fault *vmf, vm_fault_t result);

/* bar2.c */
/* The part of BAR 2 that a vGPU gets; may be empty. */
struct ghyvi_range ghyvi_bar2_range(const struct ghyvi_partition *partition,
				    const struct ghyvi_pgpu_resources *resources);
void ghyvi_bar2_init(struct ghyvi_device *device);
/* The part of it whose first page is mapped as a copy; may be empty. */
struct ghyvi_range ghyvi_bar2_copied(const struct ghyvi_partition *partition,
				     const struct ghyvi_pgpu_resources *resources);
/* The part of BAR 2 that is mapped, other accesses exit; may be empty. */
struct ghyvi_range ghyvi_bar2_area(const struct ghyvi_device *device);
/* Prepare a mapping of BAR 2 from @offset on. Returns 0 or -EINVAL. */
int ghyvi_bar2_mmap(struct ghyvi_device *device, struct vm_area_struct *vma, u64 offset);

/* ioctl.c */
long ghyvi_device_ioctl(struct vfio_device *vdev, unsigned int command, unsigned long argument);

/* display.c */
/* A region that a vGPU with a display has behind those of VFIO's PCI devices. */
#define GHYVI_DISPLAY_REGION_INDEX VFIO_PCI_NUM_REGIONS
/* Size of the region in bytes; 0: the vGPU has no display. */
u64 ghyvi_display_bytes(const struct ghyvi_device *device);
/*
 * Get the region's memory, while the device is open. Returns NULL if there is none left. May sleep;
 * takes no lock.
 */
void *ghyvi_display_memory(struct ghyvi_device *device);
/*
 * Map the region from @offset on. Returns 0, -EINVAL outside of it, -EPERM for a writable mapping,
 * or -ENOMEM.
 */
int ghyvi_display_mmap(struct ghyvi_device *device, struct vm_area_struct *vma, u64 offset);
/* Forget the picture. Nothing maps the region. Caller holds device->lock. */
void ghyvi_display_close(struct ghyvi_device *device);
/*
 * Fill @plane and bring the region up to date, or answer a probe, as its flags request. Returns 0,
 * -EINVAL for a dma-buf and for other flags, or -ENOMEM.
 */
int ghyvi_display_query(struct ghyvi_device *device, struct vfio_device_gfx_plane_info *plane);
/*
 * Allocate the picture with its header, struct ghyvi_screen_header, to be freed by vfree(). Returns
 * the size in bytes, -ENOMEM, -EINTR (killed), or an errno of ghyvi_vgpu_get_picture().
 */
ssize_t ghyvi_display_capture(struct ghyvi_device *device, void **frame);

/* opregion.c */
/* Another region that a vGPU with a display has, for reading only. */
#define GHYVI_OPREGION_REGION_INDEX (GHYVI_DISPLAY_REGION_INDEX + 1)
#define GHYVI_OPREGION_BYTES 0x2000u
/* Get @bytes bytes from @offset on, all of which are in the region. */
void ghyvi_opregion_read(u32 offset, void *to, u32 bytes);

/* irq.c */
unsigned int ghyvi_irq_count(u32 index);
/* VFIO_DEVICE_SET_IRQS. Returns 0, -EINVAL, -ENOTTY, or an errno of eventfd_ctx_fdget(). */
int ghyvi_irq_set(struct ghyvi_device *device, const struct vfio_irq_set *set, const void *data);
/* Drop all eventfds. */
void ghyvi_irq_release(struct ghyvi_device *device);
/* Ask the user to release the device. Returns false if the user has set no request interrupt. */
bool ghyvi_irq_request(struct ghyvi_device *device);

/* events.c */
void ghyvi_events_init(struct ghyvi_device *device);
/* Waits for a running work, which accesses the vGPU. Nothing uses the vGPU but its destruction. */
void ghyvi_events_fini(struct ghyvi_device *device);
/* struct ghyvi_vgpu_params.event */
void ghyvi_event(struct ghyvi_reporter *reporter);

/* remap.c */
void ghyvi_remap_init(struct ghyvi_device *device);
/* Waits for a running work. Caller does not hold device->lock. */
void ghyvi_remap_fini(struct ghyvi_device *device);
/* Start and stop the clock, while the device is open. */
void ghyvi_remap_start(struct ghyvi_device *device);
void ghyvi_remap_stop(struct ghyvi_device *device);
/* BAR 0 has a new address, or its pages lost their protection. Any context but NMI. */
void ghyvi_remap_moved(struct ghyvi_device *device);
/* The guest is about to run, and the VMM has mapped BAR 0. Caller holds device->lock. */
void ghyvi_remap_running(struct ghyvi_device *device);

/* sysfs.c */
extern const struct attribute_group *ghyvi_device_groups[];
/* The attribute state. */
const char *ghyvi_device_state(const struct ghyvi_device *device);

/* sysfs_slot.c */
extern const struct attribute_group ghyvi_slot_group;

/* sysfs_audit.c */
extern const struct attribute_group ghyvi_audit_group;

/* sysfs_sched.c */
extern const struct attribute_group ghyvi_sched_group;

/* sysfs_containment.c */
extern const struct attribute_group ghyvi_containment_group;
extern const struct attribute_group ghyvi_display_group;

/* sysfs_stats.c */
extern const struct attribute_group ghyvi_stats_group, ghyvi_usage_group;

/* debugfs.c */
void ghyvi_debugfs_init(void);
void ghyvi_debugfs_exit(void);
void ghyvi_debugfs_add(struct ghyvi_device *device);
void ghyvi_debugfs_remove(struct ghyvi_device *device);

#endif
