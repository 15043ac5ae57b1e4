// SPDX-License-Identifier: GPL-2.0-only
/*
 * The RAM of the virtual machine. Each file that backs it is mapped once, as a whole, and stays
 * mapped while the virtual machine is connected, so pointers into it stay valid when the memory map
 * changes.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "emu.h"

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
	if (ram->nr_files == EMU_RAM_REGIONS)
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

static bool overlaps(const struct emu_ram *ram, const struct emu_ram_region *region)
{
	unsigned int i;

	for (i = 0; i < ram->count; i++) {
		const struct emu_ram_region *other = &ram->regions[i];

		if (region->start <= other->start + (other->bytes - 1) &&
		    other->start <= region->start + (region->bytes - 1))
			return true;
	}
	return false;
}

int emu_ram_add(struct emu *emu, struct emu_ram_region *region, int fd, u64 offset)
{
	struct emu_ram_file *file = fd < 0 ? NULL : ram_file(&emu->ram, fd);
	bool shared = fd >= 0;

	if (shared)
		close(fd);
	if (!region->bytes || region->start + (region->bytes - 1) < region->start)
		return -EINVAL;
	if (overlaps(&emu->ram, region))
		return -EEXIST;
	if (emu->ram.count == EMU_RAM_REGIONS)
		return -ENOSPC;
	if (shared && (!file || offset > file->bytes || region->bytes > file->bytes - offset))
		return -EINVAL;
	region->memory = shared ? file->memory + offset : NULL;
	emu->ram.regions[emu->ram.count++] = *region;
	return 0;
}

static void forget_translations(struct emu *emu)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		emu_tlb_invalidate(&emu->engines[i]);
}

int emu_ram_remove(struct emu *emu, u64 start, u64 bytes)
{
	struct emu_ram *ram = &emu->ram;
	unsigned int i;

	for (i = 0; i < ram->count; i++) {
		if (ram->regions[i].start != start || ram->regions[i].bytes != bytes)
			continue;
		ram->regions[i] = ram->regions[--ram->count];
		forget_translations(emu);
		return 0;
	}
	return -ENOENT;
}

void emu_ram_release(struct emu *emu)
{
	struct emu_ram *ram = &emu->ram;
	unsigned int i;

	for (i = 0; i < ram->nr_files; i++)
		munmap(ram->files[i].memory, ram->files[i].bytes);
	ram->nr_files = 0;
	ram->count = 0;
	forget_translations(emu);
}

u8 *emu_ram_at(struct emu *emu, u64 address, u64 bytes)
{
	unsigned int i;

	for (i = 0; i < emu->ram.count; i++) {
		const struct emu_ram_region *region = &emu->ram.regions[i];
		u64 at = address - region->start;

		if (address >= region->start && at < region->bytes && bytes <= region->bytes - at)
			return region->memory ? region->memory + at : NULL;
	}
	return NULL;
}
