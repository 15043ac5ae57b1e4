// SPDX-License-Identifier: GPL-2.0-only
/* Faults of a guest, and of others, on the mapping of BAR 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <linux/mm_types.h>

struct kernel_param {
	int unused;
};
struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *buffer, const struct kernel_param *param);
};
#define module_param_cb(name, ops, argument, mode) \
	static const void *const name##_ops __attribute__((unused)) = (ops)
#define MODULE_PARM_DESC(name, text) extern int vfio_aperture_unused
#define sysfs_match_string(names, text) ((void)(names), (void)(text), -EINVAL)

#include "../../kernel/vfio/bar0.c"
#include "../../kernel/vfio/bar2.c"

#define FIRST 0x100000ul
#define ADDRESS 0x3000ul

static struct {
	bool prepared; /* the gtt has the page behind ADDRESS */
	unsigned int prepares, maps;
} gtt;
static struct mm_struct mm;
static struct file file;
static struct ghyvi_device device;
static struct vm_area_struct vma;

struct ghyvi_gtt *ghyvi_vgpu_gtt(struct ghyvi_vgpu *vgpu)
{
	return NULL;
}

void *ghyvi_vgpu_ggtt_table(struct ghyvi_vgpu *vgpu)
{
	return NULL;
}

/* Nothing here moves BAR 0. */
u64 ghyvi_config_bar0(const struct ghyvi_config *config)
{
	return GHYVI_BAR_UNMAPPED;
}

void ghyvi_vgpu_set_bar0(struct ghyvi_vgpu *vgpu, u64 gpa)
{
	fail();
}

void ghyvi_remap_moved(struct ghyvi_device *device)
{
	fail();
}

unsigned long vmalloc_to_pfn(const void *memory)
{
	return 0;
}

void unmap_mapping_range(struct address_space *mapping, u64 offset, u64 bytes, int even_cows)
{
}

vm_fault_t vmf_insert_pfn(struct vm_area_struct *area, unsigned long at, unsigned long pfn)
{
	assert_ptr_equal(area, &vma);
	assert_true(mm.locked == 1); /* the lock of the fault */
	assert_int_equal(pfn, 7);
	gtt.maps++;
	return VM_FAULT_NOPAGE;
}

void fput(struct file *filp)
{
	filp->refs--;
}

int ghyvi_gtt_aperture_map(struct ghyvi_gtt *unused, u64 address, int (*map)(void *data, u64 hpa),
			   void *data)
{
	assert_int_equal(address, ADDRESS);
	return gtt.prepared ? map(data, 7 << PAGE_SHIFT) : -EAGAIN;
}

int ghyvi_gtt_aperture_prepare(struct ghyvi_gtt *unused, u64 address)
{
	assert_int_equal(address, ADDRESS);
	assert_int_equal(mm.locked, 0); /* it may take any time, and locks of VFIO */
	assert_int_equal(file.refs, 2); /* the mapping may end meanwhile */
	gtt.prepared = true;
	gtt.prepares++;
	return 0;
}

/* For the faults on BAR 0, which vfio_remap_test has. */
int ghyvi_gtt_ggtt_map(struct ghyvi_gtt *unused, u64 page, int (*map)(void *data), void *data)
{
	return -EINVAL;
}

static int set_up(void **state)
{
	memset(&gtt, 0, sizeof(gtt));
	file.refs = 1;
	mm.locked = 1;
	vma = (struct vm_area_struct){
		.vm_start = FIRST,
		.vm_end = FIRST + (1 << 20),
		.vm_mm = &mm,
		.vm_file = &file,
		.vm_private_data = &device,
	};
	return 0;
}

static vm_fault_t fault(unsigned int flags)
{
	struct vm_fault vmf = {
		.vma = &vma,
		.address = FIRST + ADDRESS,
		.pgoff = ADDRESS >> PAGE_SHIFT,
		.flags = flags,
	};

	return bar2_fault(&vmf);
}

static void the_page_is_prepared_without_the_lock_of_the_fault(void **state)
{
	assert_int_equal(fault(FAULT_FLAG_ALLOW_RETRY), VM_FAULT_RETRY);
	assert_int_equal(gtt.prepares, 1);
	assert_int_equal(mm.locked, 0);
	assert_int_equal(file.refs, 1);
	mm.locked = 1; /* the caller takes it again */
	assert_int_equal(fault(FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_TRIED), VM_FAULT_NOPAGE);
	assert_int_equal(gtt.maps, 1);
	assert_int_equal(mm.locked, 1);
}

/*
 * Another vCPU has prepared the page. KVM fails this one if the mapping is removed before it looks
 * the page up, unless the lock was dropped.
 */
static void a_prepared_page_is_mapped_and_looked_up_again(void **state)
{
	gtt.prepared = true;
	assert_int_equal(fault(FAULT_FLAG_ALLOW_RETRY), VM_FAULT_RETRY);
	assert_int_equal(gtt.maps, 1);
	assert_int_equal(gtt.prepares, 0);
	assert_int_equal(mm.locked, 0);
}

static void without_a_retry_the_lock_is_kept(void **state)
{
	assert_int_equal(fault(FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_RETRY_NOWAIT), VM_FAULT_RETRY);
	assert_int_equal(fault(FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_TRIED), VM_FAULT_NOPAGE);
	assert_int_equal(fault(0), VM_FAULT_SIGBUS);
	assert_int_equal(gtt.prepares, 0);
	gtt.prepared = true;
	assert_int_equal(fault(FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_RETRY_NOWAIT), VM_FAULT_NOPAGE);
	assert_int_equal(fault(0), VM_FAULT_NOPAGE);
	assert_int_equal(mm.locked, 1);
}

/* Their callers may hold locks that prepare() takes. */
static void vfio_and_copies_of_the_kernel_are_refused(void **state)
{
	gtt.prepared = true;
	assert_int_equal(fault(FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_REMOTE), VM_FAULT_SIGBUS);
	assert_int_equal(fault(FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_INTERRUPTIBLE), VM_FAULT_SIGBUS);
	assert_int_equal(gtt.maps, 0);
	assert_int_equal(fault(FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_INTERRUPTIBLE | FAULT_FLAG_USER),
			 VM_FAULT_RETRY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, set_up)
		TEST(the_page_is_prepared_without_the_lock_of_the_fault),
		TEST(a_prepared_page_is_mapped_and_looked_up_again),
		TEST(without_a_retry_the_lock_is_kept),
		TEST(vfio_and_copies_of_the_kernel_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
