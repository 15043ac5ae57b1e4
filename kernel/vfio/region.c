// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VFIO regions: configuration space, BAR 0 (registers and GGTT table), BAR 2 (aperture), the
 * display, and the OpRegion.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pci_ids.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "kvm/kvm.h"
#include "vgpu/vgpu.h"
#include "device.h"

/* Maximum number of parts of BAR 0 that can be mapped. */
#define AREAS_MAX 16 /* ranges of BAR 0 that do not trap, one more than those that do */

/* VFIO_REGION_TYPE_PCI_VENDOR_TYPE, without its overflow of an int. */
#define VENDOR_REGIONS BIT(31)

static u32 region_index(const struct ghyvi_device *device, u64 pos)
{
	u64 upper = pos >> GHYVI_REGION_SHIFT;

	if (upper == GHYVI_APERTURE_INDEX_FIRST + (u32)device->id)
		return VFIO_PCI_BAR2_REGION_INDEX;
	if (upper == GHYVI_BAR0_INDEX_FIRST + (u32)device->id)
		return VFIO_PCI_BAR0_REGION_INDEX;
	return upper;
}

/* One access to a region. @bytes is 1, 2, 4 or 8 and divides @offset. @data is little endian. */
struct access {
	u64 offset;
	unsigned int bytes;
	bool write;
	u64 data;
};

static void access_config(struct ghyvi_device *device, struct access *access)
{
	mutex_lock(&device->lock);
	if (access->write) {
		ghyvi_config_write(&device->config, access->offset, &access->data, access->bytes);
		if (device->open)
			ghyvi_device_update_bar0(device);
	} else {
		ghyvi_config_read(&device->config, access->offset, &access->data, access->bytes);
	}
	mutex_unlock(&device->lock);
}

static void access_registers(struct ghyvi_device *device, struct access *access)
{
	if (access->write)
		ghyvi_vgpu_register_write(device->vgpu, access->offset, access->data,
					  access->bytes);
	else
		access->data =
			ghyvi_vgpu_register_read(device->vgpu, access->offset, access->bytes);
}

static void copy_once(void *to, const void *from, unsigned int bytes)
{
	switch (bytes) {
	case 8:
		WRITE_ONCE(*(u64 *)to, READ_ONCE(*(const u64 *)from));
		break;
	case 4:
		WRITE_ONCE(*(u32 *)to, READ_ONCE(*(const u32 *)from));
		break;
	case 2:
		WRITE_ONCE(*(u16 *)to, READ_ONCE(*(const u16 *)from));
		break;
	default:
		WRITE_ONCE(*(u8 *)to, READ_ONCE(*(const u8 *)from));
	}
}

/*
 * Access by a user that does not mmap the table. KVM's page tracking does not report these stores,
 * so call ghyvi_gtt_trap() here.
 */
static void access_ggtt_table(struct ghyvi_device *device, struct access *access)
{
	void *entry = ghyvi_vgpu_ggtt_table(device->vgpu) + access->offset - GHYVI_GGTT_OFFSET;
	u64 bar0;

	if (!access->write) {
		copy_once(&access->data, entry, access->bytes);
		return;
	}
	copy_once(entry, &access->data, access->bytes);
	/*
	 * A move of the BAR sets the address before it relaxes the pages of the table. So if the
	 * old address is read here, a later sync compares the page with this entry.
	 */
	smp_mb();
	bar0 = READ_ONCE(device->bar0);
	if (bar0 != GHYVI_BAR_UNMAPPED)
		ghyvi_gtt_trap(ghyvi_vgpu_gtt(device->vgpu), bar0 + access->offset, access->bytes);
}

static void access_bar0(struct ghyvi_device *device, struct access *access)
{
	if (access->offset < GHYVI_REGISTERS_BYTES)
		access_registers(device, access);
	else if (access->offset >= GHYVI_GGTT_OFFSET)
		access_ggtt_table(device, access);
	else if (!access->write)
		access->data = 0;
}

static void access_aperture(struct ghyvi_device *device, struct access *access)
{
	if (access->write)
		ghyvi_vgpu_aperture_write(device->vgpu, access->offset, &access->data,
					  access->bytes);
	else
		ghyvi_vgpu_aperture_read(device->vgpu, access->offset, &access->data,
					 access->bytes);
}

static void access_display(struct ghyvi_device *device, struct access *access)
{
	const void *memory = ghyvi_display_memory(device);

	if (memory && !access->write)
		copy_once(&access->data, memory + access->offset, access->bytes);
}

static void access_opregion(struct ghyvi_device *device, struct access *access)
{
	if (!access->write)
		ghyvi_opregion_read(access->offset, &access->data, access->bytes);
}

struct region {
	u64 bytes;
	u32 flags;
	void (*access)(struct ghyvi_device *device, struct access *access);
};

static struct region region_of(const struct ghyvi_device *device, u32 index)
{
	const u32 rw = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;

	switch (index) {
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return (struct region){ GHYVI_CONFIG_BYTES, rw, access_config };
	case VFIO_PCI_BAR0_REGION_INDEX:
		return (struct region){ GHYVI_BAR0_BYTES, rw | VFIO_REGION_INFO_FLAG_MMAP,
					access_bar0 };
	case VFIO_PCI_BAR2_REGION_INDEX:
		return (struct region){ device->pgpu->resources.aperture_bytes, rw,
					access_aperture };
	case GHYVI_DISPLAY_REGION_INDEX:
		return (struct region){ ghyvi_display_bytes(device),
					VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_MMAP,
					access_display };
	case GHYVI_OPREGION_REGION_INDEX:
		return (struct region){ ghyvi_vgpu_has_display(device->vgpu) ?
						GHYVI_OPREGION_BYTES :
						0,
					VFIO_REGION_INFO_FLAG_READ, access_opregion };
	default:
		return (struct region){ 0 };
	}
}

/* Returns the number of bytes of the request that are in the region, or -EINVAL. */
static ssize_t clamp_to_region(const struct region *region, u64 offset, size_t bytes)
{
	if (!region->access || offset >= region->bytes)
		return -EINVAL;
	return min_t(u64, bytes, region->bytes - offset);
}

/* Serves a read or write of userspace, one access of at most 8 bytes at a time. */
static ssize_t region_rw(struct vfio_device *vdev, char __user *buffer, size_t bytes, loff_t *pos,
			 bool write)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);
	struct region region = region_of(device, region_index(device, *pos));
	struct access access = { .offset = *pos & GHYVI_REGION_OFFSET_MASK, .write = write };
	ssize_t left = clamp_to_region(&region, access.offset, bytes), done = 0;

	if (left < 0)
		return left;
	while (left && !fatal_signal_pending(current)) {
		access.bytes = ghyvi_access_bytes(access.offset, left);
		access.data = 0;
		if (write && copy_from_user(&access.data, buffer + done, access.bytes))
			return -EFAULT;
		region.access(device, &access);
		if (!write && copy_to_user(buffer + done, &access.data, access.bytes))
			return -EFAULT;
		access.offset += access.bytes;
		done += access.bytes;
		left -= access.bytes;
		cond_resched();
	}
	*pos += done;
	return done;
}

ssize_t ghyvi_region_read(struct vfio_device *vdev, char __user *buffer, size_t bytes, loff_t *pos)
{
	return region_rw(vdev, buffer, bytes, pos, false);
}

ssize_t ghyvi_region_write(struct vfio_device *vdev, const char __user *buffer, size_t bytes,
			   loff_t *pos)
{
	return region_rw(vdev, (char __user *)buffer, bytes, pos, true);
}

/* The memory of the page at @offset of BAR 0; NULL: it has none. */
static void *bar0_memory(struct ghyvi_device *device, u64 offset)
{
	if (offset >= GHYVI_GGTT_OFFSET && offset - GHYVI_GGTT_OFFSET < GHYVI_GGTT_TABLE_BYTES)
		return ghyvi_vgpu_ggtt_table(device->vgpu) + offset - GHYVI_GGTT_OFFSET;
	/* Pages of registers are mapped only if KVM can track stores to them. */
	if (offset >= GHYVI_REGISTERS_BYTES || !ghyvi_kvm_can_track())
		return NULL;
	return ghyvi_vgpu_register_page(device->vgpu, offset);
}

/* The same, but NULL if the page cannot be mapped. */
static void *bar0_page(struct ghyvi_device *device, u64 offset)
{
	if (offset < GHYVI_REGISTERS_BYTES &&
	    (!ghyvi_vgpu_get_remap(device->vgpu) || ghyvi_vgpu_traps_page(device->vgpu, offset)))
		return NULL;
	return bar0_memory(device, offset);
}

/*
 * Find the first part of BAR 0 from @offset on that can be mapped. Returns false if there is none.
 * For each of them QEMU adds a memory region, a memslot of KVM and a DMA mapping, so adjacent pages
 * are one part.
 */
static bool next_area(struct ghyvi_device *device, u64 offset,
		      struct vfio_region_sparse_mmap_area *area)
{
	u64 end;

	while (offset < GHYVI_BAR0_BYTES && !bar0_page(device, offset))
		offset += PAGE_SIZE;
	for (end = offset; end < GHYVI_BAR0_BYTES && bar0_page(device, end);)
		end += PAGE_SIZE;
	area->offset = offset;
	area->size = end - offset;
	return area->size;
}

/*
 * For a guest that is a hypervisor itself, KVM takes page references even on device memory
 * (kvm_vcpu_map()). It drops them when the nested guest or its vCPU ends.
 */
bool ghyvi_region_is_referenced(struct ghyvi_device *device)
{
	void *memory;
	u64 offset;

	lockdep_assert_held(&device->lock);
	for (offset = 0; offset < GHYVI_BAR0_BYTES; offset += PAGE_SIZE) {
		/* It may have been mapped before policy/bar_remap was set. */
		memory = bar0_memory(device, offset);
		if (memory && page_count(vmalloc_to_page(memory)) > 1)
			return true;
	}
	return false;
}

static int map_registers(struct ghyvi_device *device, struct vm_area_struct *vma, u64 offset)
{
	unsigned long address;
	int err = 0;

	for (address = vma->vm_start; address < vma->vm_end && !err;
	     address += PAGE_SIZE, offset += PAGE_SIZE)
		err = remap_pfn_range(vma, address, vmalloc_to_pfn(bar0_page(device, offset)),
				      PAGE_SIZE, vma->vm_page_prot);
	return err;
}

int ghyvi_region_mmap(struct vfio_device *vdev, struct vm_area_struct *vma)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);
	u64 pos = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 offset = pos & GHYVI_REGION_OFFSET_MASK;
	u64 bytes = vma->vm_end - vma->vm_start;
	struct vfio_region_sparse_mmap_area area;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (pos - offset == ghyvi_region_offset(device, VFIO_PCI_BAR2_REGION_INDEX))
		return ghyvi_bar2_mmap(device, vma, offset);
	if (pos - offset == ghyvi_region_offset(device, GHYVI_DISPLAY_REGION_INDEX))
		return ghyvi_display_mmap(device, vma, offset);
	if (pos - offset != ghyvi_region_offset(device, VFIO_PCI_BAR0_REGION_INDEX))
		return -EINVAL;
	if (!next_area(device, offset, &area) || area.offset != offset || bytes > area.size)
		return -EINVAL;
	if (offset < GHYVI_REGISTERS_BYTES)
		return map_registers(device, vma, offset);
	ghyvi_bar0_mmap_ggtt(device, vma);
	return 0;
}

static int add_aperture_mmap(struct vfio_info_cap *caps, const struct ghyvi_range *area)
{
	struct {
		struct vfio_region_info_cap_sparse_mmap cap;
		struct vfio_region_sparse_mmap_area area;
	} sparse = {
		.cap.header.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP,
		.cap.header.version = 1,
		.cap.nr_areas = 1,
		.area = { .offset = area->start, .size = area->bytes },
	};

	return vfio_info_add_capability(caps, &sparse.cap.header, sizeof(sparse));
}

static int add_sparse_mmap(struct ghyvi_device *device, struct vfio_info_cap *caps)
{
	struct {
		struct vfio_region_info_cap_sparse_mmap cap;
		struct vfio_region_sparse_mmap_area areas[AREAS_MAX];
	} sparse = {
		.cap.header.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP,
		.cap.header.version = 1,
	};
	u32 n = 0;
	u64 offset = 0;

	while (n < AREAS_MAX && next_area(device, offset, &sparse.areas[n])) {
		offset = sparse.areas[n].offset + sparse.areas[n].size;
		n++;
	}
	sparse.cap.nr_areas = n;
	return vfio_info_add_capability(caps, &sparse.cap.header,
					sizeof(sparse.cap) + n * sizeof(*sparse.areas));
}

/* The number of the region may be any: users look for this type. */
static int add_opregion_type(struct vfio_info_cap *caps)
{
	struct vfio_region_info_cap_type type = {
		.header.id = VFIO_REGION_INFO_CAP_TYPE,
		.header.version = 1,
		.type = VENDOR_REGIONS | PCI_VENDOR_ID_INTEL,
		.subtype = VFIO_REGION_SUBTYPE_INTEL_IGD_OPREGION,
	};

	return vfio_info_add_capability(caps, &type.header, sizeof(type));
}

int ghyvi_region_info(struct vfio_device *vdev, struct vfio_region_info *info,
		      struct vfio_info_cap *caps)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);
	struct ghyvi_range area;
	struct region region;

	region = region_of(device, info->index);
	if (info->index >= VFIO_PCI_NUM_REGIONS && !region.bytes)
		return -EINVAL;
	info->offset = ghyvi_region_offset(device, info->index);
	info->size = region.bytes;
	info->flags = region.flags;
	if (info->index == VFIO_PCI_BAR0_REGION_INDEX)
		return add_sparse_mmap(device, caps);
	if (info->index == GHYVI_OPREGION_REGION_INDEX)
		return add_opregion_type(caps);
	area = ghyvi_bar2_area(device);
	if (info->index == VFIO_PCI_BAR2_REGION_INDEX && area.bytes) {
		info->flags |= VFIO_REGION_INFO_FLAG_MMAP;
		return add_aperture_mmap(caps, &area);
	}
	return 0;
}
