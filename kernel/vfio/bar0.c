// SPDX-License-Identifier: GPL-2.0-only
/*
 * BAR 0: its address, its place in the file of the device, and mappings of the GGTT table, which is
 * host memory in it.
 *
 * A page of the GGTT table is mapped when it is accessed first, and again after the gtt had its
 * mapping removed to see the next store (kernel/gtt/ggtt.c). The fault handler takes only the
 * gtt's lock for mappings, so it can serve every caller, VFIO and KVM included. mmap() maps no page
 * of it: a mapping could not be removed before mmap() has returned.
 *
 * It is mapped as device memory, so that for example io_uring and XDP cannot take references on the
 * pages. A reference would still give access to the table when the next user owns it; see
 * ghyvi_region_is_referenced().
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <ghyvi/compat.h>
#include "vgpu/vgpu.h"
#include "device.h"

u64 ghyvi_region_offset(const struct ghyvi_device *device, u32 index)
{
	u64 upper = index;

	if (index == VFIO_PCI_BAR2_REGION_INDEX)
		upper = GHYVI_APERTURE_INDEX_FIRST + (u32)device->id;
	else if (index == VFIO_PCI_BAR0_REGION_INDEX)
		upper = GHYVI_BAR0_INDEX_FIRST + (u32)device->id;
	return upper << GHYVI_REGION_SHIFT;
}

struct ggtt_fault {
	struct vm_fault *vmf;
	unsigned long pfn;
	vm_fault_t result;
};

static int map_fault(void *data)
{
	struct ggtt_fault *fault = data;

	fault->result = vmf_insert_pfn(fault->vmf->vma, fault->vmf->address, fault->pfn);
	return 0;
}

/*
 * KVM looks the page up after the handler has returned, and fails the vCPU if the mapping was
 * removed in between, unless mmap_lock has been dropped: then it starts again. So drop it.
 */
vm_fault_t ghyvi_fault_result(struct vm_fault *vmf, vm_fault_t result)
{
	if (result != VM_FAULT_NOPAGE || !fault_flag_allow_retry_first(vmf->flags) ||
	    vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return result;
	ghyvi_release_fault_lock(vmf);
	return VM_FAULT_RETRY;
}

static vm_fault_t ggtt_fault(struct vm_fault *vmf)
{
	struct ghyvi_device *device = vmf->vma->vm_private_data;
	u64 offset = ((u64)vmf->pgoff << PAGE_SHIFT) & GHYVI_REGION_OFFSET_MASK;
	u64 page = (offset - GHYVI_GGTT_OFFSET) >> PAGE_SHIFT;
	struct ggtt_fault fault = { .vmf = vmf, .result = VM_FAULT_SIGBUS };

	fault.pfn = vmalloc_to_pfn(ghyvi_vgpu_ggtt_table(device->vgpu) + (page << PAGE_SHIFT));
	ghyvi_gtt_ggtt_map(ghyvi_vgpu_gtt(device->vgpu), page, map_fault, &fault);
	return ghyvi_fault_result(vmf, fault.result);
}

static const struct vm_operations_struct ggtt_vm_ops = { .fault = ggtt_fault };

void ghyvi_bar0_mmap_ggtt(struct ghyvi_device *device, struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_private_data = device;
	vma->vm_ops = &ggtt_vm_ops;
	/* All mappings of an open device have the same one. */
	WRITE_ONCE(device->ggtt_mapping, vma->vm_file->f_mapping);
}

static void bar0_unmap(struct ghyvi_ggtt_user *user, u64 page, u64 count)
{
	struct ghyvi_device *device = container_of(user, struct ghyvi_device, ggtt_user);
	struct address_space *mapping = READ_ONCE(device->ggtt_mapping);

	if (mapping)
		unmap_mapping_range(mapping,
				    ghyvi_region_offset(device, VFIO_PCI_BAR0_REGION_INDEX) +
					    GHYVI_GGTT_OFFSET + (page << PAGE_SHIFT),
				    count << PAGE_SHIFT, 1);
}

void ghyvi_bar0_init(struct ghyvi_device *device)
{
	device->ggtt_user.unmap = bar0_unmap;
}

void ghyvi_device_update_bar0(struct ghyvi_device *device)
{
	u64 bar0 = ghyvi_config_bar0(&device->config);

	lockdep_assert_held(&device->lock);
	if (bar0 == device->bar0)
		return;
	WRITE_ONCE(device->bar0, bar0);
	ghyvi_vgpu_set_bar0(device->vgpu, bar0);
	if (bar0 != GHYVI_BAR_UNMAPPED)
		ghyvi_remap_moved(device);
}
