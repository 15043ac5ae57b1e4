// SPDX-License-Identifier: GPL-2.0-only
/*
 * The RAM of the virtual machine. Each file that backs it is mapped once, as a whole, and stays
 * mapped, so pointers into it stay valid when the memory map changes.
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

int emu_ram_add(struct emu *emu, struct emu_ram_region *region, int fd, u64 offset)
{
	struct emu_ram_file *file = ram_file(&emu->ram, fd);

	close(fd);
	if (!file || emu->ram.count == EMU_RAM_REGIONS || offset > file->bytes ||
	    region->bytes > file->bytes - offset)
		return -EINVAL;
	region->memory = file->memory + offset;
	emu->ram.regions[emu->ram.count++] = *region;
	return 0;
}

u8 *emu_ram_at(struct emu *emu, u64 address, u64 bytes)
{
	unsigned int i;

	for (i = 0; i < emu->ram.count; i++) {
		const struct emu_ram_region *region = &emu->ram.regions[i];
		u64 at = address - region->start;

		if (address >= region->start && at < region->bytes && bytes <= region->bytes - at)
			return region->memory + at;
	}
	return NULL;
}
