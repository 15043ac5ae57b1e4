/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels since 6.1, so that the rest of the code is written for one interface.
 * The build detects them by compiling kernel/compat/probes.c. Differences of KVM page tracking are
 * in kernel/kvm/page_track.h, next to their only user.
 */
#ifndef GHYVI_COMPAT_H
#define GHYVI_COMPAT_H

#include <linux/eventfd.h>
#include <linux/workqueue.h>
#include <ghyvi-features.h>
#if GHYVI_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/*
 * With IOMMUFD a VFIO device needs bind and attach callbacks; VFIO has helpers for mediated
 * devices.
 */
#if IS_ENABLED(CONFIG_IOMMUFD) && GHYVI_HAVE_VFIO_DETACH_IOAS
#define GHYVI_VFIO_IOMMUFD_OPS                            \
	.bind_iommufd = vfio_iommufd_emulated_bind,       \
	.unbind_iommufd = vfio_iommufd_emulated_unbind,   \
	.attach_ioas = vfio_iommufd_emulated_attach_ioas, \
	.detach_ioas = vfio_iommufd_emulated_detach_ioas,
#elif IS_ENABLED(CONFIG_IOMMUFD) && GHYVI_HAVE_VFIO_ATTACH_IOAS
#define GHYVI_VFIO_IOMMUFD_OPS                          \
	.bind_iommufd = vfio_iommufd_emulated_bind,     \
	.unbind_iommufd = vfio_iommufd_emulated_unbind, \
	.attach_ioas = vfio_iommufd_emulated_attach_ioas,
#else
#define GHYVI_VFIO_IOMMUFD_OPS
#endif

/* True if the device pins memory through IOMMUFD, false if through a VFIO container (type 1). */
#if IS_ENABLED(CONFIG_IOMMUFD) && (GHYVI_HAVE_VFIO_DETACH_IOAS || GHYVI_HAVE_VFIO_ATTACH_IOAS)
#define ghyvi_vfio_uses_iommufd(vdev) ((vdev)->iommufd_access != NULL)
#else
#define ghyvi_vfio_uses_iommufd(vdev) false
#endif

/*
 * The user space interface of migration has numbers for what an earlier kernel does not know: a
 * program that was built for a later kernel uses them.
 */
#if !GHYVI_HAVE_VFIO_MIG_DATA_SIZE
#define VFIO_DEVICE_FEATURE_MIG_DATA_SIZE 9
struct vfio_device_feature_mig_data_size {
	__aligned_u64 stop_copy_length;
};
#endif

#if !GHYVI_HAVE_VFIO_PRE_COPY
#define VFIO_MIGRATION_PRE_COPY BIT(2)
#define VFIO_DEVICE_STATE_PRE_COPY 6
#define VFIO_DEVICE_STATE_PRE_COPY_P2P 7
#define VFIO_MIG_GET_PRECOPY_INFO _IO(VFIO_TYPE, VFIO_BASE + 21)
struct vfio_precopy_info {
	__u32 argsz;
	__u32 flags;
	__aligned_u64 initial_bytes;
	__aligned_u64 dirty_bytes;
};
#endif

#if GHYVI_HAVE_EVENTFD_SIGNAL_ONE
#define ghyvi_eventfd_signal(ctx) eventfd_signal(ctx)
#else
#define ghyvi_eventfd_signal(ctx) ((void)eventfd_signal(ctx, 1))
#endif

#if !GHYVI_HAVE_HRTIMER_SETUP
#define hrtimer_setup(timer, expired, clock, mode) \
	(hrtimer_init(timer, clock, mode), (void)((timer)->function = (expired)))
#endif

#if !GHYVI_HAVE_VM_FLAGS_SET
#define vm_flags_set(vma, flags) ((void)((vma)->vm_flags |= (flags)))
#define vm_flags_clear(vma, flags) ((void)((vma)->vm_flags &= ~(flags)))
#endif

#if GHYVI_HAVE_CONST_BIN_ATTRIBUTE
#define GHYVI_BIN_ATTRIBUTE_CONST const
#else
#define GHYVI_BIN_ATTRIBUTE_CONST
#endif

/* A fault holds the lock of the mapping, or of the whole address space. */
#if GHYVI_HAVE_RELEASE_FAULT_LOCK
#define ghyvi_release_fault_lock(vmf) release_fault_lock(vmf)
#else
#define ghyvi_release_fault_lock(vmf) mmap_read_unlock((vmf)->vma->vm_mm)
#endif

#if !GHYVI_HAVE_TIMER_DELETE_SYNC
#define timer_delete_sync(timer) del_timer_sync(timer)
#endif

#endif
