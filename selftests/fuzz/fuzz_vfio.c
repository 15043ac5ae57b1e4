// SPDX-License-Identifier: GPL-2.0-only
/*
 * The user space interface of kernel/vfio: ioctls with arbitrary arguments in buffers that may be
 * too small, reads and writes of any part of any region, mmap, DMA unmap, open and close.
 */
#include "vfio_device.h"
#include "input.h"

#define MOVES_MAX 200
#define USER_MAX 256

/* the user space program */

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
		VFIO_DEVICE_GET_INFO,	     VFIO_DEVICE_GET_REGION_INFO, VFIO_DEVICE_GET_IRQ_INFO,
		VFIO_DEVICE_SET_IRQS,	     VFIO_DEVICE_SET_IRQS,	  VFIO_DEVICE_RESET,
		VFIO_DEVICE_QUERY_GFX_PLANE,
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
	u64 region = ghyvi_region_offset(&it, rnd(12));
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
		assert_true((at & GHYVI_REGION_OFFSET_MASK) <=
			    region_of(&it, region_index(&it, at)).bytes);
}

static void map(void)
{
	static struct address_space mapping;
	static struct file file = { .f_mapping = &mapping };
	struct vm_area_struct vma = {
		.vm_pgoff = somewhere() >> PAGE_SHIFT,
		.vm_flags = rnd(4) ? VM_SHARED : 0,
		.vm_file = &file,
	};
	struct vm_fault fault = { .vma = &vma };
	u64 page;

	vma.vm_start = 0x7f0000000000;
	vma.vm_end = vma.vm_start + ((u64)(1 + rnd(1u << 16)) << PAGE_SHIFT);
	if (rnd(2)) /* near the end of BAR 0 */
		vma.vm_pgoff =
			(ghyvi_region_offset(&it, VFIO_PCI_BAR0_REGION_INDEX) | GHYVI_GGTT_OFFSET) /
				PAGE_SIZE +
			rnd(4096);
	if (ghyvi_device_ops.mmap(&it.vdev, &vma) || !vma.vm_ops)
		return;
	page = rnd((vma.vm_end - vma.vm_start) >> PAGE_SHIFT);
	fault.address = vma.vm_start + (page << PAGE_SHIFT);
	fault.pgoff = vma.vm_pgoff + page;
	assert_int_equal(vma.vm_ops->fault(&fault), VM_FAULT_NOPAGE);
}

/* @referenced: the previous VM still references a page of BAR 0, so the open must fail. */
static void open_it(bool referenced)
{
	bar_page.refs += referenced;
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), referenced ? -EBUSY : 0);
	bar_page.refs -= referenced;
	assert_true(it.open != referenced && bound != referenced);
}

/* The program goes to some state, and reads from or writes to the file that it gets. */
static void migrate(void)
{
	struct file *filp = it.vdev.mig_ops->migration_set_state(&it.vdev, rnd(10));
	size_t bytes = rnd(USER_MAX);
	enum vfio_device_mig_state state;

	assert_int_equal(it.vdev.mig_ops->migration_get_state(&it.vdev, &state), 0);
	if (IS_ERR_OR_NULL(filp))
		return;
	if (!rnd(4))
		it.vdev.mig_ops->migration_set_state(&it.vdev, rnd(8));
	if (filp->fops->read) {
		assert_true(filp->fops->read(filp, shim_user.at, bytes, NULL) <= (ssize_t)bytes);
		filp->fops->unlocked_ioctl(filp, VFIO_MIG_GET_PRECOPY_INFO,
					   (unsigned long)shim_user.at);
	} else {
		assert_true(filp->fops->write(filp, shim_user.at, bytes, NULL) <= (ssize_t)bytes);
	}
	fput(filp);
}

static void user_move(void)
{
	u64 iova;

	put_up_memory();
	switch (rnd(9)) {
	case 8:
		if (it.open)
			migrate();
		break;
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
		assert_int_equal(set_up_device(&state), 0);
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
