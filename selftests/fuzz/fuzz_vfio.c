// SPDX-License-Identifier: GPL-2.0-only
/*
 * The user space interface of kernel/vfio: ioctls with arbitrary arguments in buffers that may be
 * too small, reads and writes of any part of any region, mmap, DMA unmap, open and close. This file
 * also implements the argument checks of the kernel's VFIO core (include/linux/vfio.h).
 */
#include "../unit/vgpu_guest.h"
#include "input.h"

#include "../../kernel/vfio/config.c"
#include "../../kernel/vfio/ioctl.c"
#include "../../kernel/vfio/irq.c"
#include "../../kernel/vfio/region.c"
#include "../../kernel/vfio/device.c"

#define MOVES_MAX 200
#define USER_MAX 256
#define EVENTFDS 4

struct shim_user shim_user;

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

static struct page bar_page = { .refs = 1 };

struct page *vmalloc_to_page(const void *memory)
{
	static struct page others = { .refs = 1 };

	/* The last page of the table represents all pages. */
	return memory == ghyvi_vgpu_ggtt_table(vgpu) + GHYVI_GGTT_TABLE_BYTES - PAGE_SIZE ?
		       &bar_page :
		       &others;
}

unsigned long vmalloc_to_pfn(const void *memory)
{
	u64 at = (const u8 *)memory - (const u8 *)ghyvi_vgpu_ggtt_table(vgpu);

	assert_true(at < GHYVI_GGTT_TABLE_BYTES);
	return at >> PAGE_SHIFT;
}

int remap_pfn_range(struct vm_area_struct *vma, unsigned long at, unsigned long pfn,
		    unsigned long bytes, unsigned long protection)
{
	assert_true(at >= vma->vm_start && bytes <= vma->vm_end - at);
	return 0;
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

bool ghyvi_kvm_can_track(void)
{
	return true;
}

int ghyvi_kvm_bind(struct ghyvi_vm *gvm, const struct ghyvi_kvm_events *events, void *owner)
{
	assert_false(bound);
	bound = true;
	return 0;
}

void ghyvi_kvm_unbind(struct ghyvi_vm *gvm)
{
	assert_true(bound);
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

void ghyvi_kvm_interrupt(void *hv)
{
	if (trigger)
		eventfd_signal(trigger, 1);
}

/* functions of the mm */

void ghyvi_gtt_unmap(struct ghyvi_gtt *m, u64 gfn, u64 count)
{
	assert_true(gfn + count >= gfn);
}

/* the user space program */

static struct ghyvi_pgpu pgpu = { .resources.aperture_bytes = HIDDEN_START };
static const struct ghyvi_type type = { .profile = &ghyvi_profile_gen9 };
static struct ghyvi_device it;

static void put_up_memory(void)
{
	u32 i;

	shim_user.bytes = rnd(USER_MAX);
	shim_user.at = malloc(shim_user.bytes ?: 1);
	for (i = 0; i < shim_user.bytes; i++)
		shim_user.at[i] = 0;
	for (i = 0; i < min_t(size_t, shim_user.bytes, 32) && input.left; i++)
		shim_user.at[i] = input_take(1);
	/* Mostly a correct argsz. */
	if (shim_user.bytes >= 4 && rnd(2))
		*(u32 *)shim_user.at = shim_user.bytes;
}

static void ask(void)
{
	static const unsigned int commands[] = {
		VFIO_DEVICE_GET_INFO, VFIO_DEVICE_GET_REGION_INFO, VFIO_DEVICE_GET_IRQ_INFO,
		VFIO_DEVICE_SET_IRQS, VFIO_DEVICE_SET_IRQS,	   VFIO_DEVICE_RESET,
	};
	u32 which = rnd(ARRAY_SIZE(commands) + 1);
	long ret;

	ret = ghyvi_device_ops.ioctl(&it.vdev,
				     which < ARRAY_SIZE(commands) ? commands[which] : rnd(~0u),
				     (unsigned long)shim_user.at);
	assert_true(ret <= 0);
}

static u64 somewhere(void)
{
	static const u64 near[] = { 0,
				    0x10,
				    0x18,
				    0x40,
				    0xac,
				    0xf8,
				    0x2230,
				    0x78000,
				    GHYVI_REGISTERS_BYTES - 8,
				    GHYVI_GGTT_OFFSET - 8,
				    GHYVI_BAR0_BYTES - 8,
				    HIDDEN_START - 8 };
	u64 region = (u64)rnd(12) << REGION_SHIFT;
	u64 offset = near[rnd(ARRAY_SIZE(near))];

	offset += rnd(256);
	if (!rnd(16))
		offset = (u64)rnd(~0u) << 8;
	return region | offset;
}

static void transfer(bool write)
{
	loff_t at = somewhere();
	size_t bytes = rnd(USER_MAX);
	ssize_t done;

	done = write ? ghyvi_device_ops.write(&it.vdev, shim_user.at, bytes, &at) :
		       ghyvi_device_ops.read(&it.vdev, shim_user.at, bytes, &at);
	assert_true(done <= (ssize_t)bytes);
	if (done > 0)
		assert_true((at & REGION_OFFSET_MASK) <= region_of(&it, at >> REGION_SHIFT).bytes);
}

static void map(void)
{
	struct vm_area_struct vma = {
		.vm_pgoff = somewhere() >> PAGE_SHIFT,
		.vm_flags = rnd(4) ? VM_SHARED : 0,
	};

	vma.vm_start = 0x7f0000000000;
	vma.vm_end = vma.vm_start + ((u64)(1 + rnd(1u << 16)) << PAGE_SHIFT);
	if (rnd(2)) /* near the end of BAR 0 */
		vma.vm_pgoff =
			((u64)VFIO_PCI_BAR0_REGION_INDEX << REGION_SHIFT | GHYVI_GGTT_OFFSET) /
				PAGE_SIZE +
			rnd(4096);
	(void)ghyvi_device_ops.mmap(&it.vdev, &vma);
}

/* @referenced: the previous VM still references a page of BAR 0, so the open must fail. */
static void open_it(bool referenced)
{
	bar_page.refs += referenced;
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), referenced ? -EBUSY : 0);
	bar_page.refs -= referenced;
	assert_true(it.open != referenced && bound != referenced);
}

static void user_move(void)
{
	u64 iova;

	put_up_memory();
	switch (rnd(8)) {
	case 0:
		if (!it.open)
			open_it(!rnd(4));
		else if (!rnd(4))
			ghyvi_device_ops.close_device(&it.vdev);
		break;
	case 1:
		transfer(false);
		break;
	case 2:
	case 3:
		transfer(true);
		break;
	case 4:
		map();
		break;
	case 5:
		iova = (u64)rnd(~0u) << PAGE_SHIFT;
		ghyvi_device_ops.dma_unmap(&it.vdev, iova, (1ull + rnd(~0u)) << PAGE_SHIFT);
		break;
	default:
		ask();
	}
	if (!rnd(16))
		ghyvi_device_ops.request(&it.vdev, rnd(8));
	free(shim_user.at);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	static bool there;
	void *state = NULL;
	int i;

	input_init(data, bytes);
	if (!there) {
		assert_int_equal(setup_gen9(&state), 0);
		it.vdev.dev = &device;
		it.pgpu = &pgpu;
		it.type = &type;
		it.vgpu = vgpu;
		mutex_init(&it.lock);
		spin_lock_init(&it.request_lock);
		ghyvi_unmap_init(&it.unmap, ghyvi_vgpu_gtt(vgpu));
		ghyvi_reporter_init(&it.reporter, &device);
		there = true;
	}
	it.bar0 = GHYVI_BAR_UNMAPPED;
	ghyvi_config_reset(&it.config, type.profile, pgpu.resources.aperture_bytes);
	for (i = 0; input.left && i < MOVES_MAX; i++)
		user_move();
	if (!it.open)
		assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
	ghyvi_device_ops.close_device(&it.vdev);
	settle();
	for (i = 0; i < EVENTFDS; i++)
		assert_int_equal(eventfds[i].refs, 0);
	assert_false(bound);
	assert_int_equal(gtt.roots_live, 0);
	return 0;
}
