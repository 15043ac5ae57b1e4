// SPDX-License-Identifier: GPL-2.0-only
/*
 * The implementation for a guest: a PCI function in sysfs, huge pages whose addresses are in
 * /proc/self/pagemap, and the chipset registers that map the memory below 1 MiB.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bar0_pci.h"
#include "guest_env.h"

#define HUGE_BYTES (2u << 20)
#define HUGE_PAGES (MACHINE_PAGES * PAGE_BYTES / HUGE_BYTES)
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_FRAME ((1ull << 55) - 1)

#define PCI_COMMAND 0x04
#define PCI_COMMAND_MEMORY 2u
#define PCI_COMMAND_MASTER 4u
#define PCI_BAR0 0x10

/*
 * Programmable attribute maps, see the 82G33 (q35) datasheet, 5.1.18. Register 0x93 is for 0xd0000
 * to 0xd7fff, two areas of 16 KiB.
 */
#define HOST_BRIDGE "/sys/bus/pci/devices/0000:00:00.0"
#define HOST_BRIDGE_Q35 0x29c0u
#define PAM3 0x93
#define PAM3_MEMORY 0x33u /* reads and writes of both areas access memory */
#define PAM3_BUS 0x00u
#define PAM3_AREA 0xd0000u

/*
 * The SMRAM control register, see 5.1.20. Only the two bits that change the system address space
 * are defined here.
 */
#define SMRAM 0x9d
#define SMRAM_ENABLE 0x08u
#define SMRAM_OPEN 0x40u
#define LOW_PAGE 0x50000u

_Static_assert(!(MACHINE_PAGES * PAGE_BYTES % HUGE_BYTES), "whole huge pages");

struct machine machine;

static volatile uint8_t *bar0;
static int config = -1, bridge = -1;
static uint8_t smram;
static volatile uint32_t *hidden_page;
static volatile uint64_t *low_page;

uint32_t machine_read(uint32_t offset)
{
	return *(volatile uint32_t *)(bar0 + offset);
}

void machine_write(uint32_t offset, uint64_t value, unsigned int bytes)
{
	machine_store(bar0 + offset, value, bytes);
}

void machine_store(volatile void *to, uint64_t value, unsigned int bytes)
{
	switch (bytes) {
	case 8:
		*(volatile uint64_t *)to = value;
		break;
	case 4:
		*(volatile uint32_t *)to = value;
		break;
	case 2:
		*(volatile uint16_t *)to = value;
		break;
	default:
		*(volatile uint8_t *)to = value;
	}
}

void machine_relax(void)
{
	for (unsigned int i = 0; i < 16; i++)
		__builtin_ia32_pause();
}

static void write_config(int fd, unsigned int at, uint32_t value, unsigned int bytes)
{
	if (pwrite(fd, &value, bytes, at) != (ssize_t)bytes)
		give_up("PCI configuration space: %s", strerror(errno));
}

void machine_hide(bool hide, bool bar)
{
	if (bridge >= 0)
		write_config(bridge, PAM3, hide ? PAM3_BUS : PAM3_MEMORY, 1);
	write_config(config, PCI_COMMAND,
		     PCI_COMMAND_MASTER | (hide && bar ? 0 : PCI_COMMAND_MEMORY), 2);
}

volatile uint32_t *machine_hidden_page(uint64_t *gpa)
{
	*gpa = PAM3_AREA;
	return hidden_page;
}

void machine_smram(unsigned int choice)
{
	uint8_t value = smram;

	if (choice)
		value ^= (choice & 1 ? SMRAM_ENABLE : 0) | (choice & 2 ? SMRAM_OPEN : 0);
	if (bridge >= 0)
		write_config(bridge, SMRAM, value, 1);
}

volatile uint64_t *machine_low_page(uint64_t *gpa)
{
	*gpa = LOW_PAGE;
	return low_page;
}

static void *map_physical(int memory, off_t address)
{
	void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, address);

	return page == MAP_FAILED ? NULL : page;
}

/* If it fails (no q35, no /dev/mem), machine_hide() can remove only BAR 0. */
static void open_chipset(void)
{
	uint16_t id = 0;
	int fd = open(HOST_BRIDGE "/config", O_RDWR), memory;

	if (fd < 0 || pread(fd, &id, 2, 2) != 2 || id != HOST_BRIDGE_Q35)
		return;
	memory = open("/dev/mem", O_RDWR | O_SYNC);
	if (memory < 0)
		return;
	write_config(fd, PAM3, PAM3_MEMORY, 1);
	hidden_page = map_physical(memory, PAM3_AREA);
	if (!hidden_page || pread(fd, &smram, 1, SMRAM) != 1)
		return;
	low_page = map_physical(memory, LOW_PAGE);
	bridge = fd;
}

static void read_sysfs(const char *directory, const char *name, char *text, size_t bytes)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "r");
	if (!file || !fgets(text, bytes, file))
		give_up("%s: %s", path, strerror(errno));
	fclose(file);
}

static bool is_vgpu(const char *directory)
{
	char text[32];

	read_sysfs(directory, "vendor", text, sizeof(text));
	if (strtoul(text, NULL, 0) != 0x8086)
		return false;
	read_sysfs(directory, "class", text, sizeof(text));
	return strtoul(text, NULL, 0) >> 16 == 3;
}

/* Finds the PCI function @address or, if it is NULL, Intel display function number @which. */
static void find_device(const char *address, unsigned int which, char *directory, size_t bytes)
{
	glob_t found;
	size_t i;

	if (address) {
		snprintf(directory, bytes, "/sys/bus/pci/devices/%s", address);
		return;
	}
	if (glob("/sys/bus/pci/devices/*", 0, NULL, &found))
		give_up("no PCI devices");
	for (i = 0; i < found.gl_pathc; i++)
		if (is_vgpu(found.gl_pathv[i]) && !which--)
			break;
	if (i == found.gl_pathc)
		give_up("too few Intel display functions");
	snprintf(directory, bytes, "%s", found.gl_pathv[i]);
	globfree(&found);
}

/* Maps BAR 0. *address is its guest-physical address, *fd is the open configuration space. */
static volatile uint8_t *open_bar0(const char *directory, uint64_t *address, int *fd)
{
	char path[300];
	uint64_t bar = 0;
	void *memory;
	int resource;

	snprintf(path, sizeof(path), "%s/driver", directory);
	if (!access(path, F_OK))
		give_up("%s has a driver: unload it", directory);
	snprintf(path, sizeof(path), "%s/config", directory);
	*fd = open(path, O_RDWR);
	if (*fd < 0 || pread(*fd, &bar, 8, PCI_BAR0) != 8)
		give_up("%s: %s", path, strerror(errno));
	write_config(*fd, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	*address = bar & ~0xfull;
	snprintf(path, sizeof(path), "%s/resource0", directory);
	resource = open(path, O_RDWR | O_SYNC);
	memory = resource < 0 ?
			 MAP_FAILED :
			 mmap(NULL, BAR0_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, resource, 0);
	if (memory == MAP_FAILED)
		give_up("%s: %s", path, strerror(errno));
	close(resource);
	return memory;
}

static void reserve_huge_pages(void)
{
	FILE *file = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "w");

	if (!file || fprintf(file, "%u\n", HUGE_PAGES) < 0 || fclose(file))
		give_up("huge pages: %s", strerror(errno));
}

static void find_addresses(void)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);

	for (unsigned int page = 0; page < MACHINE_PAGES; page++) {
		off_t at = (uintptr_t)page_at(page) / PAGE_BYTES * 8;
		uint64_t entry = 0;

		if (pread(fd, &entry, 8, at) != 8 || !(entry & PAGEMAP_PRESENT) ||
		    !(entry & PAGEMAP_FRAME))
			give_up("the physical address of page %u is not available", page);
		machine.gpa[page] = (entry & PAGEMAP_FRAME) * PAGE_BYTES;
	}
	close(fd);
}

void machine_open(const char *address)
{
	char directory[256];

	find_device(address, 0, directory, sizeof(directory));
	bar0 = open_bar0(directory, &machine.bar0, &config);
	machine.ggtt = (volatile uint64_t *)(bar0 + GGTT_TABLE_OFFSET);
	if (machine_read(PVINFO) != PVINFO_MAGIC_LOW)
		give_up("%s is not a vGPU", directory);
	reserve_huge_pages();
	machine.memory = mmap(NULL, HUGE_PAGES * (size_t)HUGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
	if (machine.memory == MAP_FAILED)
		give_up("%u huge pages: %s", HUGE_PAGES, strerror(errno));
	memset(machine.memory, 0, HUGE_PAGES * (size_t)HUGE_BYTES);
	find_addresses();
	open_chipset();
}

volatile uint8_t *machine_open_second(void)
{
	char directory[256];
	uint64_t address;
	int fd;

	find_device(NULL, 1, directory, sizeof(directory));
	return open_bar0(directory, &address, &fd);
}
