// SPDX-License-Identifier: GPL-2.0-only
/* Which parts of BAR 0 a VMM may map, with policy/bar_remap on and off. */
#include "../fuzz/vfio_device.h"

#define TRAPPED_FIRST 0x9000u
#define TRAPPED_SECOND 0x78000u

static struct vfio_region_sparse_mmap_area areas[AREAS_MAX + 1];

static unsigned int find_areas(void)
{
	unsigned int n = 0;
	u64 at = 0;

	while (n < ARRAY_SIZE(areas) && next_area(&it, at, &areas[n])) {
		at = areas[n].offset + areas[n].size;
		n++;
	}
	return n;
}

static int map(u64 offset, u64 bytes)
{
	static struct address_space mapping;
	static struct file file = { .f_mapping = &mapping };
	u64 bar0 = ghyvi_region_offset(&it, VFIO_PCI_BAR0_REGION_INDEX);
	struct vm_area_struct vma = {
		.vm_start = 0x100000,
		.vm_end = 0x100000 + bytes,
		.vm_pgoff = (bar0 | offset) >> PAGE_SHIFT,
		.vm_flags = VM_SHARED,
		.vm_file = &file,
	};

	return ghyvi_device_ops.mmap(&it.vdev, &vma);
}

static void on_offers_all_pages_but_the_trapped_ones(void **state)
{
	assert_int_equal(find_areas(), 4);
	assert_true(areas[0].offset == 0 && areas[0].size == TRAPPED_FIRST);
	assert_true(areas[1].offset == TRAPPED_FIRST + PAGE_SIZE);
	assert_true(areas[1].offset + areas[1].size == TRAPPED_SECOND);
	assert_true(areas[2].offset == TRAPPED_SECOND + PAGE_SIZE);
	assert_true(areas[2].offset + areas[2].size == GHYVI_REGISTERS_BYTES);
	assert_true(areas[3].offset == GHYVI_GGTT_OFFSET);
	assert_true(areas[3].size == GHYVI_GGTT_TABLE_BYTES);
	assert_int_equal(map(areas[1].offset, areas[1].size), 0);
	assert_int_equal(map(TRAPPED_SECOND, PAGE_SIZE), -EINVAL);
	assert_int_equal(map(0, TRAPPED_FIRST + PAGE_SIZE), -EINVAL);
}

static void only_the_table_is_offered(void)
{
	assert_int_equal(find_areas(), 1);
	assert_true(areas[0].offset == GHYVI_GGTT_OFFSET);
	assert_int_equal(map(0, PAGE_SIZE), -EINVAL);
	assert_int_equal(map(GHYVI_GGTT_OFFSET, PAGE_SIZE), 0);
}

static void off_offers_the_table_only(void **state)
{
	ghyvi_vgpu_set_remap(vgpu, false);
	only_the_table_is_offered();
}

static void without_tracking_the_table_only_is_offered(void **state)
{
	can_track = false;
	only_the_table_is_offered();
	can_track = true;
}

/* A reference on a page of registers, taken while bar_remap was on. */
static void a_referenced_page_is_found_when_it_is_off(void **state)
{
	register_page.refs = 2;
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), -EBUSY);
	ghyvi_vgpu_set_remap(vgpu, false);
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), -EBUSY);
	register_page.refs = 1;
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
	ghyvi_device_ops.close_device(&it.vdev);
}

/* Nothing else protects the pages, if the guest only accesses memory. */
static void a_move_of_the_bar_is_followed(void **state)
{
	const u32 command = 2, address = 0xd0000000;
	unsigned int moves = bar0_moves;

	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
	mutex_lock(&it.lock);
	ghyvi_config_write(&it.config, 0x10, &address, 4);
	ghyvi_config_write(&it.config, 4, &command, 2);
	ghyvi_device_update_bar0(&it);
	assert_true(it.bar0 == address);
	mutex_unlock(&it.lock);
	assert_int_equal(bar0_moves, moves + 1);
	it.kvm_events.lost(&it.kvm_events, address >> PAGE_SHIFT, 1);
	assert_int_equal(bar0_moves, moves + 2);
	ghyvi_device_ops.close_device(&it.vdev);
}

static u64 bar0_at(u32 high, u32 low)
{
	ghyvi_config_write(&it.config, 0x10, &low, 4);
	ghyvi_config_write(&it.config, 0x14, &high, 4);
	return ghyvi_config_bar0(&it.config);
}

/*
 * OVMF places 64-bit BARs at the end of what the CPU addresses. What a driver stores to size a BAR
 * is no address of memory.
 */
static void the_bar_may_be_wherever_the_guest_can_access_it(void **state)
{
	const u32 command = 2;

	ghyvi_config_reset(&it.config, type.profile, pgpu.resources.aperture_bytes);
	ghyvi_config_write(&it.config, 4, &command, 2);
	assert_true(bar0_at(0, 0xd0000000) == 0xd0000000);
	assert_true(bar0_at(0x7000, 0x01000000) == 0x700001000000ull); /* 47 bits */
	assert_true(bar0_at(0xf0000, 0) == 0xf000000000000ull); /* 52 bits */
	assert_true(bar0_at(0x100000, 0) == GHYVI_BAR_UNMAPPED);
	assert_true(bar0_at(~0u, 0xd0000000) == GHYVI_BAR_UNMAPPED);
	assert_true(bar0_at(0, 0) == GHYVI_BAR_UNMAPPED);
}

/* KVM fails a vCPU if the page is not mapped any more, unless mmap_lock was dropped. */
static void a_fault_requests_a_retry_once(void **state)
{
	static struct mm_struct mm = { .locked = 1 };
	struct vm_area_struct vma = { .vm_start = 0x100000, .vm_end = 0x101000, .vm_mm = &mm };
	struct vm_fault vmf = { .vma = &vma,
				.address = vma.vm_start,
				.pgoff = GHYVI_GGTT_OFFSET >> PAGE_SHIFT,
				.flags = FAULT_FLAG_ALLOW_RETRY };

	vma.vm_private_data = &it;
	assert_int_equal(ggtt_fault(&vmf), VM_FAULT_RETRY);
	assert_int_equal(mm.locked, 0);
	vmf.flags |= FAULT_FLAG_TRIED;
	assert_int_equal(ggtt_fault(&vmf), VM_FAULT_NOPAGE);
	vmf.flags = FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_RETRY_NOWAIT;
	assert_int_equal(ggtt_fault(&vmf), VM_FAULT_NOPAGE);
	assert_int_equal(mm.locked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_device, teardown)
		TEST(on_offers_all_pages_but_the_trapped_ones),
		TEST(off_offers_the_table_only),
		TEST(without_tracking_the_table_only_is_offered),
		TEST(a_referenced_page_is_found_when_it_is_off),
		TEST(a_move_of_the_bar_is_followed),
		TEST(the_bar_may_be_wherever_the_guest_can_access_it),
		TEST(a_fault_requests_a_retry_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
