// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feature probes for the kernel that the modules are built for. kernel/compat/probe compiles this
 * file once for each PROBE_<NAME>. If that succeeds, it writes "#define GHYVI_HAVE_<NAME> 1" into
 * ghyvi-features.h, otherwise "0". The file is not part of any module. Features are probed instead
 * of versions, because vendors backport interfaces to earlier kernels.
 *
 * SANITY must compile and ABSENT must not. Otherwise the results are meaningless and the build
 * stops.
 */
#include <linux/types.h>

#if defined(PROBE_SANITY)
#include <linux/kvm_host.h>
#include <linux/mdev.h>
#include <linux/vfio.h>

#elif defined(PROBE_ABSENT)
void ghyvi_probe(void)
{
	ghyvi_no_kernel_has_this(1);
}

/* Up to 6.12 a symbol namespace is a bare word; 6.13 made it a string */
#elif defined(PROBE_NS_BARE_WORD)
#include <linux/module.h>
MODULE_IMPORT_NS(GHYVI);

/* 6.12: <asm/unaligned.h> became <linux/unaligned.h> */
#elif defined(PROBE_LINUX_UNALIGNED)
#include <linux/unaligned.h>

/* 6.8: eventfd_signal() lost its parameter for the count */
#elif defined(PROBE_EVENTFD_SIGNAL_ONE)
#include <linux/eventfd.h>
void ghyvi_probe(struct eventfd_ctx *ctx)
{
	eventfd_signal(ctx);
}

/* 6.2: the new name of del_timer_sync(), which 6.15 dropped */
#elif defined(PROBE_TIMER_DELETE_SYNC)
#include <linux/timer.h>
int ghyvi_probe(struct timer_list *timer)
{
	return timer_delete_sync(timer);
}

/* 6.13: a timer and its function are set in one call; 6.15 has no other */
#elif defined(PROBE_HRTIMER_SETUP)
#include <linux/hrtimer.h>
void ghyvi_probe(struct hrtimer *timer, enum hrtimer_restart (*expired)(struct hrtimer *))
{
	hrtimer_setup(timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}

/* 6.3: the flags of a VMA are changed by functions */
#elif defined(PROBE_VM_FLAGS_SET)
#include <linux/mm.h>
void ghyvi_probe(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_IO);
}

/* 6.6: a fault may hold only the lock of its VMA */
#elif defined(PROBE_RELEASE_FAULT_LOCK)
#include <linux/mm.h>
void ghyvi_probe(struct vm_fault *vmf)
{
	release_fault_lock(vmf);
}

/* 6.17: binary attributes are constant */
#elif defined(PROBE_CONST_BIN_ATTRIBUTE)
#include <linux/sysfs.h>
ssize_t ghyvi_probe(struct file *filp, struct kobject *kobj, const struct bin_attribute *attr,
		    char *buffer, loff_t pos, size_t bytes);
const struct bin_attribute ghyvi_probed = { .read = ghyvi_probe };

/*
 * 6.13: KVM maps pages of VM_PFNMAP mappings without a reference on them. The function came with
 * that change.
 */
#elif defined(PROBE_KVM_UNREFERENCED_PFNS)
#include <linux/kvm_host.h>
void ghyvi_probe(struct kvm *kvm, struct page *page)
{
	kvm_release_faultin_page(kvm, page, false, false);
}

/*
 * 6.10: __assign_str() has no source parameter, the source of __string() is used. The macro is only
 * expanded to text here, because its code needs a complete trace event.
 */
#elif defined(PROBE_ASSIGN_STR_ONE)
#include <trace/stages/stage6_event_callback.h>
#define GHYVI_TEXT(...) #__VA_ARGS__
#define GHYVI_EXPANDED(...) GHYVI_TEXT(__VA_ARGS__)
const char ghyvi_probe[] = GHYVI_EXPANDED(__assign_str(text));

/*
 * Until 6.1: .release frees the VFIO device. Later the core does, and drivers must not call this.
 */
#elif defined(PROBE_VFIO_FREE_DEVICE)
#include <linux/vfio.h>
void ghyvi_probe(struct vfio_device *vdev)
{
	vfio_free_device(vdev);
}

/* 6.2: emulated devices attach to an IOAS of iommufd */
#elif defined(PROBE_VFIO_ATTACH_IOAS)
#include <linux/vfio.h>
const struct vfio_device_ops ghyvi_probe = {
	.attach_ioas = vfio_iommufd_emulated_attach_ioas,
};

/* 6.6: and detach from it */
#elif defined(PROBE_VFIO_DETACH_IOAS)
#include <linux/vfio.h>
const struct vfio_device_ops ghyvi_probe = {
	.detach_ioas = vfio_iommufd_emulated_detach_ioas,
};

/* 6.19: the core decodes VFIO_DEVICE_GET_REGION_INFO */
#elif defined(PROBE_VFIO_REGION_INFO_OP)
#include <linux/vfio.h>
const struct vfio_device_ops ghyvi_probe = {
	.get_region_info_caps = NULL,
};

/* 6.2: VFIO_DEVICE_FEATURE_MIG_DATA_SIZE; before, a driver can answer it itself */
#elif defined(PROBE_VFIO_MIG_DATA_SIZE)
#include <linux/vfio.h>
const struct vfio_migration_ops ghyvi_probe = {
	.migration_get_data_size = NULL,
};

/* 6.2: the migration states PRE_COPY and PRE_COPY_P2P */
#elif defined(PROBE_VFIO_PRE_COPY)
#include <linux/vfio.h>
const enum vfio_device_mig_state ghyvi_probe = VFIO_DEVICE_STATE_PRE_COPY_P2P;

/*
 * The helpers that report dirty pages to the user. With CONFIG_VFIO but without
 * CONFIG_IOMMUFD_DRIVER, later kernels (6.7) have only stubs, which this definition collides with,
 * and every report fails. Kernels that have them in IOMMUFD export them to a namespace, which is
 * not probed for.
 */
#elif defined(PROBE_IOVA_BITMAP)
#include <linux/vfio.h>
#include <linux/iova_bitmap.h>
#if IS_ENABLED(CONFIG_IOMMUFD_DRIVER)
#error "in IOMMUFD"
#endif
void iova_bitmap_set(struct iova_bitmap *bitmap, unsigned long iova, size_t length)
{
}
const struct vfio_log_ops ghyvi_probe = { .log_start = NULL };

/*
 * Charging a VM's memory cgroup from a kernel thread. All kernels so far declare the functions for
 * modules, but a later one may not.
 */
#elif defined(PROBE_ACTIVE_MEMCG)
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
void ghyvi_probe(struct mm_struct *mm)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(mm);

	set_active_memcg(set_active_memcg(memcg));
	mem_cgroup_put(memcg);
}

/* 6.6: page tracking by gfn; before, by memslot */
#elif defined(PROBE_KVM_TRACK_BY_GFN)
#include <linux/kvm_host.h>
#include <asm/kvm_page_track.h>
void ghyvi_probe(struct kvm_page_track_notifier_node *node)
{
	node->track_remove_region = NULL;
}
#endif
