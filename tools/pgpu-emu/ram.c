// SPDX-License-Identifier: GPL-2.0-only
/*
 * The RAM of the virtual machine. Each file that backs it is mapped once, as a whole, and stays
 * mapped while the virtual machine is connected, so pointers into it stay valid when the memory map
 * changes.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "emu.h"

/* ---- files that lose their pages ---- */

static struct emu_ram *guarded;

/*
 * Put zeros in the place of the file. As a whole: pages can be large, and the mappings of a process
 * are limited.
 */
static bool replace_file(struct emu_ram *ram, const u8 *address)
{
	unsigned int i;

	for (i = 0; i < ram->nr_files; i++) {
		const struct emu_ram_file *file = &ram->files[i];

		if (address < file->memory || address >= file->memory + file->bytes)
			continue;
		ram->lost = true;
		return mmap(file->memory, file->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			    0) != MAP_FAILED;
	}
	return false;
}

/* An access outside of the files happens again, and ends the process. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	if (!replace_file(guarded, info->si_addr))
		signal(SIGBUS, SIG_DFL);
}

void emu_ram_guard(struct emu *emu)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	guarded = &emu->ram;
	sigaction(SIGBUS, &action, NULL);
}

/* ---- regions ---- */

static struct emu_ram_file *ram_file(struct emu_ram *ram, int fd)
{
	struct emu_ram_file *file;
	struct stat info;
	unsigned int i;

	if (fstat(fd, &info))
		return NULL;
	for (i = 0; i < ram->nr_files; i++)
		if (ram->files[i].inode == info.st_ino && ram->files[i].device == info.st_dev)
			return &ram->files[i];
	if (ram->nr_files == EMU_RAM_FILES)
		return NULL;
	file = &ram->files[ram->nr_files];
	file->memory = mmap(NULL, info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file->memory == MAP_FAILED)
		return NULL;
	file->bytes = info.st_size;
	file->inode = info.st_ino;
	file->device = info.st_dev;
	ram->nr_files++;
	return file;
}

/* The address of a region's last byte. Regions are not empty, and can end with the last address. */
static u64 region_last(const struct emu_ram_region *region)
{
	return region->start + (region->bytes - 1);
}

/* Returns the index of the first region that does not end before @address. */
static unsigned int find_region(const struct emu_ram *ram, u64 address)
{
	unsigned int first = 0, last = ram->count;

	while (first < last) {
		unsigned int middle = (first + last) / 2;

		if (region_last(&ram->regions[middle]) < address)
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

int emu_ram_insert(struct emu *emu, const struct emu_ram_region *region)
{
	struct emu_ram *ram = &emu->ram;
	unsigned int index = find_region(ram, region->start);
	struct emu_ram_region *regions = ram->regions;

	if (index < ram->count && regions[index].start <= region_last(region))
		return -EEXIST;
	if (ram->count == EMU_RAM_REGIONS)
		return -ENOSPC;
	if (ram->count == ram->allocated) {
		regions = realloc(regions, 2 * (ram->allocated + 1) * sizeof(*regions));
		if (!regions)
			return -ENOMEM;
		ram->allocated = 2 * (ram->allocated + 1);
		ram->regions = regions;
	}
	memmove(regions + index + 1, regions + index, (ram->count - index) * sizeof(*regions));
	regions[index] = *region;
	ram->count++;
	return 0;
}

int emu_ram_add(struct emu *emu, struct emu_ram_region *region, int fd, u64 offset)
{
	struct emu_ram_file *file = fd < 0 ? NULL : ram_file(&emu->ram, fd);
	bool shared = fd >= 0;

	if (shared)
		close(fd);
	if (!region->bytes || region_last(region) < region->start)
		return -EINVAL;
	if (shared && (!file || offset > file->bytes || region->bytes > file->bytes - offset))
		return -EINVAL;
	region->memory = shared ? file->memory + offset : NULL;
	return emu_ram_insert(emu, region);
}

static void forget_translations(struct emu *emu)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		emu_tlb_invalidate(&emu->engines[i]);
}

int emu_ram_remove(struct emu *emu, u64 start, u64 last, u64 *removed)
{
	struct emu_ram *ram = &emu->ram;
	unsigned int first = find_region(ram, start), end = first;

	*removed = 0;
	if (last < start)
		return -EINVAL;
	for (; end < ram->count && ram->regions[end].start <= last; end++)
		*removed += ram->regions[end].bytes;
	if (first == end)
		return 0;
	if (ram->regions[first].start < start || region_last(&ram->regions[end - 1]) > last)
		return -ENOENT;
	memmove(ram->regions + first, ram->regions + end,
		(ram->count - end) * sizeof(*ram->regions));
	ram->count -= end - first;
	forget_translations(emu);
	return 0;
}

void emu_ram_release(struct emu *emu)
{
	struct emu_ram *ram = &emu->ram;
	unsigned int i;

	for (i = 0; i < ram->nr_files; i++)
		munmap(ram->files[i].memory, ram->files[i].bytes);
	ram->nr_files = 0;
	ram->lost = false;
	free(ram->regions);
	ram->regions = NULL;
	ram->count = ram->allocated = 0;
	forget_translations(emu);
}

u8 *emu_ram_at(struct emu *emu, u64 address, u64 bytes)
{
	unsigned int index = find_region(&emu->ram, address);
	const struct emu_ram_region *region = &emu->ram.regions[index];

	if (index == emu->ram.count || region->start > address ||
	    bytes > region->bytes - (address - region->start) || !region->memory)
		return NULL;
	return region->memory + (address - region->start);
}
