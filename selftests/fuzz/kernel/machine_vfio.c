// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine of the attacks (selftests/guest/hostile) on the VFIO device of a vGPU: a KVM VM with
 * memory and a vCPU, which makes the stores to memory that may have tables. Stores to the GGTT and
 * to registers are accesses to the region of BAR 0, as QEMU makes them for an instruction that it
 * emulates. As in QEMU, the VM has the mapping of the GGTT: pages that KVM does not know cannot be
 * protected, and each submission tries it again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest_env.h"
#include "machine_vfio.h"
#include "vcpu.h"

#define RAM_GPA 0x1000000ull
#define HIDDEN_GPA 0xa0000ull
#define HIDDEN_BYTES 0x20000u
#define BAR0_GPA 0xc0000000ull

struct machine machine;
int device_fd;
bool machine_traps = true;

static int container_fd, vm_fd;
static uint8_t *hidden;
static void *table; /* BAR 0's */

enum { RAM_SLOT, HIDDEN_SLOT, VCPU_SLOT, TABLE_SLOT };

static void need(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "fuzz_kernel: %s: %s\n", what, strerror(errno));
		_exit(3);
	}
}

static void *anonymous(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(memory != MAP_FAILED, "mmap");
	return memory;
}

static void slot(unsigned int number, uint64_t gpa, void *memory, uint64_t bytes)
{
	struct kvm_userspace_memory_region region = {
		.slot = number,
		.guest_phys_addr = gpa,
		.memory_size = bytes,
		.userspace_addr = (uintptr_t)memory,
	};

	ioctl(vm_fd, KVM_SET_USER_MEMORY_REGION, &region);
}

void machine_dma(uint64_t iova, uint64_t bytes, void *memory)
{
	struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)memory,
		.iova = iova,
		.size = bytes,
	};
	struct vfio_iommu_type1_dma_unmap unmap = {
		.argsz = sizeof(unmap),
		.iova = iova,
		.size = bytes,
	};

	if (memory)
		ioctl(container_fd, VFIO_IOMMU_MAP_DMA, &map);
	else
		ioctl(container_fd, VFIO_IOMMU_UNMAP_DMA, &unmap);
}

void machine_ram(bool present)
{
	machine_dma(RAM_GPA, (uint64_t)MACHINE_PAGES * PAGE_BYTES, present ? machine.memory : NULL);
}

static void config_write(unsigned int offset, uint32_t value, unsigned int bytes)
{
	(void)!pwrite(device_fd, &value, bytes,
		      region_offset(VFIO_PCI_CONFIG_REGION_INDEX) + offset);
}

uint64_t region_offset(unsigned int index)
{
	static struct vfio_region_info info[REGIONS_MAX];

	if (index >= REGIONS_MAX)
		return (uint64_t)index << 40;
	if (!info[index].argsz) {
		info[index] = (struct vfio_region_info){ .argsz = sizeof(info[0]), .index = index };
		ioctl(device_fd, VFIO_DEVICE_GET_REGION_INFO, &info[index]);
		info[index].argsz = sizeof(info[0]);
	}
	return info[index].offset;
}

static void show_table(bool present)
{
	slot(TABLE_SLOT, BAR0_GPA + GGTT_TABLE_OFFSET, table, present ? GGTT_TABLE_BYTES : 0);
}

static int group_fd;
static const char *vgpu_uuid;

void machine_open(void)
{
	device_fd = ioctl(group_fd, VFIO_GROUP_GET_DEVICE_FD, vgpu_uuid);
	need(device_fd >= 0, "the vGPU");
	table = mmap(NULL, GGTT_TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, device_fd,
		     region_offset(VFIO_PCI_BAR0_REGION_INDEX) + GGTT_TABLE_OFFSET);
	need(table != MAP_FAILED, "the GGTT");
	show_table(true);
}

void machine_close(void)
{
	show_table(false);
	munmap(table, GGTT_TABLE_BYTES);
	close(device_fd);
}

/* As firmware: BAR 0 has an address, and memory decoding is on. */
void machine_power_on(void)
{
	ioctl(device_fd, VFIO_DEVICE_RESET);
	config_write(PCI_BASE_ADDRESS_0, (uint32_t)BAR0_GPA, 4);
	config_write(PCI_BASE_ADDRESS_0 + 4, BAR0_GPA >> 32, 4);
	config_write(PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
}

void machine_begin(const char *uuid, const char *group)
{
	struct kvm_create_device kvm_vfio = { .type = KVM_DEV_TYPE_VFIO };
	struct kvm_device_attr attr = {
		.group = KVM_DEV_VFIO_GROUP,
		.attr = KVM_DEV_VFIO_GROUP_ADD,
		.addr = (uintptr_t)&group_fd,
	};
	int kvm = open("/dev/kvm", O_RDWR);
	unsigned int i;
	void *low;

	vgpu_uuid = uuid;
	vm_fd = ioctl(kvm, KVM_CREATE_VM, 0);
	container_fd = open("/dev/vfio/vfio", O_RDWR);
	group_fd = open(group, O_RDWR);
	need(kvm >= 0 && vm_fd >= 0 && container_fd >= 0 && group_fd >= 0, "KVM or VFIO");
	need(!ioctl(vm_fd, KVM_CREATE_DEVICE, &kvm_vfio), "KVM's VFIO device");
	need(!ioctl(kvm_vfio.fd, KVM_SET_DEVICE_ATTR, &attr), "the group for KVM");
	need(!ioctl(group_fd, VFIO_GROUP_SET_CONTAINER, &container_fd), "the container");
	need(!ioctl(container_fd, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), "type1");
	machine.memory = anonymous((size_t)MACHINE_PAGES * PAGE_BYTES);
	machine.ggtt = anonymous(GGTT_TABLE_BYTES);
	machine.bar0 = BAR0_GPA;
	hidden = anonymous(HIDDEN_BYTES);
	low = anonymous(VCPU_BYTES);
	for (i = 0; i < MACHINE_PAGES; i++)
		machine.gpa[i] = RAM_GPA + (uint64_t)i * PAGE_BYTES;
	slot(RAM_SLOT, RAM_GPA, machine.memory, (uint64_t)MACHINE_PAGES * PAGE_BYTES);
	machine_ram(true);
	slot(VCPU_SLOT, VCPU_GPA, low, VCPU_BYTES);
	need(vcpu_begin(kvm, vm_fd, low), "a vCPU");
	machine_open();
	machine_hide(false, false);
	need(!ioctl(device_fd, VFIO_DEVICE_RESET), "a reset");
}

uint32_t machine_read(uint32_t offset)
{
	uint32_t value = ~0u;

	(void)!pread(device_fd, &value, 4, region_offset(VFIO_PCI_BAR0_REGION_INDEX) + offset);
	return value;
}

void machine_write(uint32_t offset, uint64_t value, unsigned int bytes)
{
	(void)!pwrite(device_fd, &value, bytes, region_offset(VFIO_PCI_BAR0_REGION_INDEX) + offset);
}

/* The vCPU's, if it can. */
static bool store_traps(volatile void *to, uint64_t value, unsigned int bytes)
{
	uintptr_t offset = (uintptr_t)to - (uintptr_t)machine.memory;
	uintptr_t hidden_offset = (uintptr_t)to - (uintptr_t)hidden;

	if (!machine_traps)
		return false;
	if (offset < (size_t)MACHINE_PAGES * PAGE_BYTES)
		return vcpu_store(RAM_GPA + offset, value, bytes);
	return hidden_offset < HIDDEN_BYTES && vcpu_store(HIDDEN_GPA + hidden_offset, value, bytes);
}

void machine_store(volatile void *to, uint64_t value, unsigned int bytes)
{
	uintptr_t offset = (uintptr_t)to - (uintptr_t)machine.ggtt;

	if (store_traps(to, value, bytes))
		return;
	if (offset < GGTT_TABLE_BYTES)
		machine_write(GGTT_TABLE_OFFSET + (uint32_t)offset, value, bytes);
	if (bytes == 8)
		__atomic_store_n((volatile uint64_t *)to, value, __ATOMIC_RELAXED);
	else
		__atomic_store_n((volatile uint32_t *)to, (uint32_t)value, __ATOMIC_RELAXED);
}

void machine_relax(void)
{
	usleep(50);
}

void machine_hide(bool hide, bool bar)
{
	slot(HIDDEN_SLOT, HIDDEN_GPA, hidden, hide ? 0 : HIDDEN_BYTES);
	machine_dma(HIDDEN_GPA, HIDDEN_BYTES, hide ? NULL : hidden);
	if (hide && !bar)
		return;
	show_table(!hide);
	config_write(PCI_COMMAND, hide ? 0 : PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
}

volatile uint32_t *machine_hidden_page(uint64_t *gpa)
{
	*gpa = HIDDEN_GPA;
	return (volatile uint32_t *)hidden;
}

/* There is no chipset. */
void machine_smram(unsigned int choice)
{
	(void)choice;
}

volatile uint64_t *machine_low_page(uint64_t *gpa)
{
	(void)gpa;
	return NULL;
}
