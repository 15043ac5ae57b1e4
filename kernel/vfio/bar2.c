// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of BAR 2, the aperture. A page is mapped when it is accessed first; the gtt has the
 * mapping removed when the GGTT entry of the page changes (kernel/gtt/aperture.c).
 *
 * DOC: which faults are served
 *
 * Finding the page takes gtt->lock, and pins: the handler drops mmap_lock for that. The holder of
 * gtt->lock may be in VFIO, which takes locks of its own and may itself fault on these mappings,
 * when a guest points a GPU table to its BAR 2. So only two kinds of callers are served, which hold
 * none of these locks: accesses of a program to its own memory, and KVM's, for a guest. VFIO's
 * (FAULT_FLAG_REMOTE), and accesses of the kernel to a program's buffer, fail.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <ghyvi/compat.h>
#include "vgpu/vgpu.h"
#include "device.h"

enum aperture_mode {
	APERTURE_NONE,
	APERTURE_TRAP,
	APERTURE_MAP,
};
static const char *const mode_names[] = { "none", "trap", "map" };

/*
 * Up to 6.12, KVM takes a reference on each page that it maps, and fails for pages that have none
 * of their own: those inside of a huge page, of which the memory of most guests consists. Then
 * accesses exit, except to the first page, of which a copy is mapped (kernel/gtt/aperture.c).
 */
static enum aperture_mode mode = GHYVI_HAVE_KVM_UNREFERENCED_PFNS ? APERTURE_MAP : APERTURE_TRAP;

static int mode_set(const char *value, const struct kernel_param *param)
{
	int found = sysfs_match_string(mode_names, value);

	if (found < 0)
		return found;
	mode = found;
	return 0;
}

static int mode_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", mode_names[mode]);
}

static const struct kernel_param_ops mode_ops = { .set = mode_set, .get = mode_get };
module_param_cb(aperture, &mode_ops, NULL, 0444);
MODULE_PARM_DESC(
	aperture,
	"what guests get of the aperture: map (accesses reach memory; before Linux 6.13 only if the memory of guests is in pages of 4 KiB), trap (each access exits), none. Default: map from 6.13 on, before trap");

struct ghyvi_range ghyvi_bar2_range(const struct ghyvi_partition *partition,
				    const struct ghyvi_pgpu_resources *resources)
{
	return mode == APERTURE_NONE ? (struct ghyvi_range){} :
				       ghyvi_partition_mappable(partition, resources);
}

struct ghyvi_range ghyvi_bar2_copied(const struct ghyvi_partition *partition,
				     const struct ghyvi_pgpu_resources *resources)
{
	struct ghyvi_range range = ghyvi_bar2_range(partition, resources);

	return (struct ghyvi_range){
		.start = range.start,
		.bytes = mode == APERTURE_TRAP && range.bytes ? PAGE_SIZE : 0,
	};
}

struct ghyvi_range ghyvi_bar2_area(const struct ghyvi_device *device)
{
	return mode == APERTURE_MAP ?
		       ghyvi_bar2_range(&device->partition, &device->pgpu->resources) :
		       ghyvi_bar2_copied(&device->partition, &device->pgpu->resources);
}

static struct ghyvi_gtt *gtt_of(const struct ghyvi_device *device)
{
	return ghyvi_vgpu_gtt(device->vgpu);
}

static bool may_wait(const struct vm_fault *vmf)
{
	if (vmf->flags & FAULT_FLAG_REMOTE)
		return false;
	/* fixup_user_fault(), which KVM calls, does not set FAULT_FLAG_INTERRUPTIBLE. */
	return vmf->flags & FAULT_FLAG_USER || !(vmf->flags & FAULT_FLAG_INTERRUPTIBLE);
}

struct mapping {
	struct vm_fault *vmf;
	vm_fault_t result;
};

static int map_page(void *data, u64 hpa)
{
	struct mapping *mapping = data;
	struct vm_fault *vmf = mapping->vmf;

	mapping->result = vmf_insert_pfn(vmf->vma, vmf->address, hpa >> PAGE_SHIFT);
	return 0;
}

static vm_fault_t bar2_fault(struct vm_fault *vmf)
{
	struct mapping mapping = { .vmf = vmf };
	struct vm_area_struct *vma = vmf->vma;
	struct ghyvi_device *device = vma->vm_private_data;
	u64 address = ((u64)vmf->pgoff << PAGE_SHIFT) & GHYVI_REGION_OFFSET_MASK;
	struct file *file;

	if (!may_wait(vmf))
		return VM_FAULT_SIGBUS;
	if (!ghyvi_gtt_aperture_map(gtt_of(device), address, map_page, &mapping))
		return ghyvi_fault_result(vmf, mapping.result);
	if (!fault_flag_allow_retry_first(vmf->flags)) /* the entry changed between two attempts */
		return vmf->flags & FAULT_FLAG_TRIED ? VM_FAULT_NOPAGE : VM_FAULT_SIGBUS;
	if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_RETRY;
	file = get_file(vma->vm_file); /* keeps the device open */
	ghyvi_release_fault_lock(vmf);
	ghyvi_count(&device->stats, aperture_accesses);
	/* If memory is short, the access is repeated until there is some, or the task is killed. */
	(void)ghyvi_gtt_aperture_prepare(gtt_of(device), address);
	fput(file);
	return VM_FAULT_RETRY;
}

static const struct vm_operations_struct bar2_vm_ops = { .fault = bar2_fault };

int ghyvi_bar2_mmap(struct ghyvi_device *device, struct vm_area_struct *vma, u64 offset)
{
	struct ghyvi_range area = ghyvi_bar2_area(device);

	if (!ghyvi_range_contains_range(&area, offset, vma->vm_end - vma->vm_start))
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_private_data = device;
	vma->vm_ops = &bar2_vm_ops;
	/* All mappings of an open device have the same one. */
	WRITE_ONCE(device->aperture_mapping, vma->vm_file->f_mapping);
	return 0;
}

static void bar2_unmap(struct ghyvi_aperture_user *user, u64 address, u64 bytes)
{
	struct ghyvi_device *device = container_of(user, struct ghyvi_device, aperture_user);
	struct address_space *mapping = READ_ONCE(device->aperture_mapping);

	if (mapping)
		unmap_mapping_range(
			mapping, ghyvi_region_offset(device, VFIO_PCI_BAR2_REGION_INDEX) + address,
			bytes, 1);
}

void ghyvi_bar2_init(struct ghyvi_device *device)
{
	device->aperture_user.unmap = bar2_unmap;
}
