/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One vGPU as user space sees it, with stand-ins for the kernel and for kernel/kvm. They include
 * the argument checks of the kernel's VFIO core (include/linux/vfio.h).
 */
#ifndef VFIO_DEVICE_H
#define VFIO_DEVICE_H

#include "../unit/vgpu_guest.h"

#include "../../kernel/vfio/config.c"
#include "../../kernel/vfio/display.c"
#include "../../kernel/vfio/opregion.c"
#include "../../kernel/vfio/ioctl.c"
#include "../../kernel/vfio/irq.c"
#include "../../kernel/vfio/migration.c"
#include "../../kernel/vfio/bar0.c"
#include "../../kernel/vfio/region.c"
#include "../../kernel/vfio/device.c"

#define EVENTFDS 4

struct shim_user shim_user;
struct pid shim_process;

static struct eventfd_ctx eventfds[EVENTFDS];
static struct eventfd_ctx *trigger;
static bool bound;

/* functions of the kernel */

struct eventfd_ctx *eventfd_ctx_fdget(int fd)
{
	assert_true(fd >= 0);
	if (fd >= EVENTFDS)
		return ERR_PTR(-EBADF);
	eventfds[fd].refs++;
	return &eventfds[fd];
}

struct file *anon_inode_getfile(const char *name, const struct file_operations *fops, void *data,
				int flags)
{
	struct file *filp = calloc(1, sizeof(*filp));

	filp->refs = 1;
	filp->private_data = data;
	filp->fops = fops;
	return filp;
}

void fput(struct file *filp)
{
	if (--filp->refs)
		return;
	filp->fops->release(NULL, filp);
	free(filp);
}

/* The last page that was reported, and the range that the user's bitmap is for. */
static struct {
	unsigned long iova;
	unsigned int count;
	unsigned long first, bytes;
} reported;

void iova_bitmap_set(struct iova_bitmap *bitmap, unsigned long iova, size_t length)
{
	assert_ptr_equal(bitmap, &reported);
	assert_int_equal(length, PAGE_SIZE);
	/* The kernel would compute the number of a bit that the bitmap does not have. */
	assert_true(iova >= reported.first && iova - reported.first < reported.bytes &&
		    length <= reported.bytes - (iova - reported.first));
	reported.iova = iova;
	reported.count++;
}

int vfio_check_feature(u32 flags, size_t bytes, u32 supported, size_t needed)
{
	u32 op = flags & (VFIO_DEVICE_FEATURE_GET | VFIO_DEVICE_FEATURE_SET);

	if (op & ~supported)
		return -EINVAL;
	if (flags & VFIO_DEVICE_FEATURE_PROBE)
		return 0;
	return !op || bytes < needed ? -EINVAL : 1;
}

/* The arcs that a driver has to implement; the core combines them to the shortest way. */
#define MIG_STATES 8
static const u8 mig_arcs[][2] = {
	{ VFIO_DEVICE_STATE_RESUMING, VFIO_DEVICE_STATE_STOP },
	{ VFIO_DEVICE_STATE_STOP, VFIO_DEVICE_STATE_RESUMING },
	{ VFIO_DEVICE_STATE_STOP, VFIO_DEVICE_STATE_STOP_COPY },
	{ VFIO_DEVICE_STATE_STOP_COPY, VFIO_DEVICE_STATE_STOP },
	{ VFIO_DEVICE_STATE_RUNNING, VFIO_DEVICE_STATE_RUNNING_P2P },
	{ VFIO_DEVICE_STATE_RUNNING_P2P, VFIO_DEVICE_STATE_RUNNING },
	{ VFIO_DEVICE_STATE_RUNNING_P2P, VFIO_DEVICE_STATE_STOP },
	{ VFIO_DEVICE_STATE_STOP, VFIO_DEVICE_STATE_RUNNING_P2P },
	{ VFIO_DEVICE_STATE_PRE_COPY, VFIO_DEVICE_STATE_RUNNING },
	{ VFIO_DEVICE_STATE_RUNNING, VFIO_DEVICE_STATE_PRE_COPY },
	{ VFIO_DEVICE_STATE_PRE_COPY_P2P, VFIO_DEVICE_STATE_RUNNING_P2P },
	{ VFIO_DEVICE_STATE_RUNNING_P2P, VFIO_DEVICE_STATE_PRE_COPY_P2P },
	{ VFIO_DEVICE_STATE_PRE_COPY, VFIO_DEVICE_STATE_PRE_COPY_P2P },
	{ VFIO_DEVICE_STATE_PRE_COPY_P2P, VFIO_DEVICE_STATE_PRE_COPY },
	{ VFIO_DEVICE_STATE_PRE_COPY_P2P, VFIO_DEVICE_STATE_STOP_COPY },
};

static bool mig_is_precopy(int state)
{
	return state == VFIO_DEVICE_STATE_PRE_COPY || state == VFIO_DEVICE_STATE_PRE_COPY_P2P;
}

int vfio_mig_get_next_state(struct vfio_device *vdev, enum vfio_device_mig_state state,
			    enum vfio_device_mig_state wanted, enum vfio_device_mig_state *next)
{
	u8 distance[MIG_STATES], round, i;

	assert_true(state != VFIO_DEVICE_STATE_ERROR); /* WARN_ON() in the kernel */
	if (wanted == VFIO_DEVICE_STATE_ERROR || (u32)wanted >= MIG_STATES)
		return -EINVAL;
	if (mig_is_precopy(wanted) && !(vdev->migration_flags & VFIO_MIGRATION_PRE_COPY))
		return -EINVAL;
	/* The kernel does not return. */
	assert_false(mig_is_precopy(wanted) && state == VFIO_DEVICE_STATE_STOP_COPY);
	memset(distance, MIG_STATES, sizeof(distance));
	distance[wanted] = 0;
	for (round = 0; round < MIG_STATES; round++)
		for (i = 0; i < ARRAY_SIZE(mig_arcs); i++)
			distance[mig_arcs[i][0]] =
				min_t(u8, distance[mig_arcs[i][0]], distance[mig_arcs[i][1]] + 1);
	for (i = 0; i < ARRAY_SIZE(mig_arcs); i++)
		if (mig_arcs[i][0] == state && distance[mig_arcs[i][1]] < distance[state]) {
			*next = mig_arcs[i][1];
			return 0;
		}
	return -EINVAL;
}

/* kernel/vfio/bar2.c, which needs page faults */
static const struct ghyvi_range aperture_area = { .start = 0x200000, .bytes = 0x200000 };

struct ghyvi_range ghyvi_bar2_area(const struct ghyvi_device *device)
{
	return aperture_area;
}

int ghyvi_bar2_mmap(struct ghyvi_device *device, struct vm_area_struct *vma, u64 offset)
{
	return ghyvi_range_contains_range(&aperture_area, offset, vma->vm_end - vma->vm_start) ?
		       0 :
		       -EINVAL;
}

/* kernel/vfio/remap.c, which needs timers */
static unsigned int bar0_moves;

void ghyvi_remap_start(struct ghyvi_device *device)
{
}

void ghyvi_remap_stop(struct ghyvi_device *device)
{
}

void ghyvi_remap_moved(struct ghyvi_device *device)
{
	bar0_moves++;
}

void ghyvi_remap_running(struct ghyvi_device *device)
{
	ghyvi_vgpu_try_remap(device->vgpu);
}

static struct page bar_page = { .refs = 1 };
static struct page register_page = { .refs = 1 };

struct page *vmalloc_to_page(const void *memory)
{
	static struct page others = { .refs = 1 };

	/* The last page of the table represents all its pages, one of registers all of those. */
	if (memory == ghyvi_vgpu_ggtt_table(vgpu) + GHYVI_GGTT_TABLE_BYTES - PAGE_SIZE)
		return &bar_page;
	return memory == ghyvi_vgpu_register_page(vgpu, GEN8_MASTER_IRQ) ? &register_page : &others;
}

static struct ghyvi_device it;

unsigned long vmalloc_to_pfn(const void *memory)
{
	u64 in_display = (const u8 *)memory - (const u8 *)it.screen.memory;
	u64 at = (const u8 *)memory - (const u8 *)ghyvi_vgpu_ggtt_table(vgpu);
	u32 offset;

	if (at < GHYVI_GGTT_TABLE_BYTES)
		return at >> PAGE_SHIFT;
	for (offset = 0; offset < GHYVI_REGISTERS_BYTES; offset += PAGE_SIZE)
		if (memory == ghyvi_vgpu_register_page(vgpu, offset))
			return offset >> PAGE_SHIFT;
	if (it.screen.memory && in_display < ghyvi_display_bytes(&it))
		return in_display >> PAGE_SHIFT;
	fail_msg("%p is no memory of BAR 0 or the display", memory);
	return 0;
}

int remap_pfn_range(struct vm_area_struct *vma, unsigned long at, unsigned long pfn,
		    unsigned long bytes, unsigned long protection)
{
	assert_true(at >= vma->vm_start && bytes <= vma->vm_end - at);
	return 0;
}

vm_fault_t vmf_insert_pfn(struct vm_area_struct *vma, unsigned long at, unsigned long pfn)
{
	assert_true(at >= vma->vm_start && at < vma->vm_end);
	return VM_FAULT_NOPAGE;
}

void unmap_mapping_range(struct address_space *mapping, u64 offset, u64 bytes, int even_cows)
{
	assert_true(bytes && !((offset | bytes) % PAGE_SIZE));
}

int vfio_info_add_capability(struct vfio_info_cap *caps, struct vfio_info_cap_header *cap,
			     size_t bytes)
{
	assert_null(caps->buf);
	caps->buf = malloc(bytes);
	memcpy(caps->buf, cap, bytes);
	caps->size = bytes;
	return 0;
}

void vfio_info_cap_shift(struct vfio_info_cap *caps, size_t offset)
{
	if (caps->buf->next)
		caps->buf->next += offset;
}

int vfio_set_irqs_validate_and_prepare(struct vfio_irq_set *set, int vectors, int indices,
				       size_t *data_bytes)
{
	size_t each = 0;

	*data_bytes = 0;
	if (set->index >= (u32)indices || (u64)set->start + set->count > (u64)vectors ||
	    set->start >= (u32)vectors ||
	    set->flags & ~(u32)(VFIO_IRQ_SET_DATA_TYPE_MASK | VFIO_IRQ_SET_ACTION_TYPE_MASK))
		return -EINVAL;
	switch (set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_NONE:
		return 0;
	case VFIO_IRQ_SET_DATA_BOOL:
		each = 1;
		break;
	case VFIO_IRQ_SET_DATA_EVENTFD:
		each = 4;
		break;
	default:
		return -EINVAL;
	}
	*data_bytes = each * set->count;
	return set->argsz - offsetofend(struct vfio_irq_set, count) < *data_bytes ? -EINVAL : 0;
}

/* functions of kernel/kvm */

static bool can_track = true;

bool ghyvi_kvm_can_track(void)
{
	return can_track;
}

int ghyvi_kvm_bind(struct ghyvi_vm *gvm, struct ghyvi_kvm_events *events)
{
	assert_false(bound);
	bound = true;
	return 0;
}

static struct {
	bool now, before_reset; /* of the device that is being closed */
} refusal;

void ghyvi_kvm_refuse_pins(struct ghyvi_vm *gvm)
{
	assert_true(bound);
	refusal.now = true;
	refusal.before_reset = !vgpu->paused;
}

/* What vCPUs still do in callbacks that KVM waits for. */
static void (*in_unbind)(void);

void ghyvi_kvm_unbind(struct ghyvi_vm *gvm)
{
	assert_true(bound);
	assert_true(refusal.now);
	if (in_unbind)
		in_unbind();
	refusal.now = false;
	bound = false;
}

void ghyvi_kvm_unmapping(struct ghyvi_vm *gvm, u64 gfn, u64 count)
{
}

bool ghyvi_kvm_may_give_up(void)
{
	return false;
}

void ghyvi_kvm_set_trigger(struct ghyvi_vm *gvm, struct eventfd_ctx *ctx)
{
	swap(trigger, ctx);
	if (ctx)
		eventfd_ctx_put(ctx);
}

void ghyvi_kvm_interrupt(struct ghyvi_vm *gvm)
{
	if (trigger)
		eventfd_signal(trigger, 1);
}

/* functions of the mm */

void ghyvi_gtt_unmap(struct ghyvi_gtt *m, u64 gfn, u64 count)
{
	assert_true(gfn + count >= gfn);
}

/* the device */

static struct ghyvi_pgpu pgpu = { .resources.aperture_bytes = HIDDEN_START };
static const struct ghyvi_type type = { .profile = &ghyvi_profile_gen9 };

static int set_up_device(void **state)
{
	int err = setup_gen9(state);

	it.vdev.dev = &device;
	it.pgpu = &pgpu;
	it.type = &type;
	it.vgpu = vgpu;
	mutex_init(&it.lock);
	spin_lock_init(&it.request_lock);
	ghyvi_unmap_init(&it.unmap, ghyvi_vgpu_gtt(vgpu), ghyvi_vgpu_workers(vgpu));
	ghyvi_reporter_init(&it.reporter, &device);
	ghyvi_migration_init(&it);
	/* The fake backend cannot save jobs, and there are none. */
	it.vdev.mig_ops = &migration_ops;
	it.vdev.log_ops = &log_ops;
	it.vdev.migration_flags = VFIO_MIGRATION_STOP_COPY | VFIO_MIGRATION_P2P |
				  VFIO_MIGRATION_PRE_COPY;
	return err;
}

#endif
