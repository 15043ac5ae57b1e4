// SPDX-License-Identifier: GPL-2.0-only
/*
 * What this kernel offers, found out by compiling: for each PROBE_<NAME> here, kernel/compat/probe writes
 * "#define GHYVI_HAVE_<NAME> 1" (it compiles) or "0" into ghyvi-features.h. Not part of any module. Features, not versions,
 * because vendors bring later interfaces to earlier kernels.
 *
 * SANITY must compile and ABSENT must not: otherwise the compiler's answers mean nothing and the build stops.
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

/* Until 6.12 a symbol namespace is a bare word; later it is a string. */
#elif defined(PROBE_NS_BARE_WORD)
#include <linux/module.h>
MODULE_IMPORT_NS(GHYVI);

/* 6.12: moved out of asm/ */
#elif defined(PROBE_LINUX_UNALIGNED)
#include <linux/unaligned.h>

/* 6.8: the count is gone */
#elif defined(PROBE_EVENTFD_SIGNAL_ONE)
#include <linux/eventfd.h>
void ghyvi_probe(struct eventfd_ctx *ctx)
{
	eventfd_signal(ctx);
}

/* 6.17: what system_unbound_wq is called; by its old name the kernel complains from 7.2 on */
#elif defined(PROBE_SYSTEM_DFL_WQ)
#include <linux/workqueue.h>
struct workqueue_struct *ghyvi_probe(void)
{
	return system_dfl_wq;
}

/* 6.10: the source is remembered from __string(). Expanded as text only: its code needs a whole trace event. */
#elif defined(PROBE_ASSIGN_STR_ONE)
#include <trace/stages/stage6_event_callback.h>
#define GHYVI_TEXT(...) #__VA_ARGS__
#define GHYVI_EXPANDED(...) GHYVI_TEXT(__VA_ARGS__)
const char ghyvi_probe[] = GHYVI_EXPANDED(__assign_str(text));

/* Until 6.1 .release frees the VFIO device; later the core does, and this is not for drivers any more. */
#elif defined(PROBE_VFIO_FREE_DEVICE)
#include <linux/vfio.h>
void ghyvi_probe(struct vfio_device *vdev)
{
	vfio_free_device(vdev);
}

/* 6.2 */
#elif defined(PROBE_VFIO_ATTACH_IOAS)
#include <linux/vfio.h>
const struct vfio_device_ops ghyvi_probe = {
	.attach_ioas = vfio_iommufd_emulated_attach_ioas,
};

/* 6.6 */
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

/*
 * Charge a VM's memory cgroup from a thread of the kernel's; all kernels so far, but the core may
 * keep it for itself.
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

/* 6.6: tracking by frame number; before, by memory slot */
#elif defined(PROBE_KVM_TRACK_BY_GFN)
#include <linux/kvm_host.h>
#include <asm/kvm_page_track.h>
void ghyvi_probe(struct kvm_page_track_notifier_node *node)
{
	node->track_remove_region = NULL;
}
#endif
