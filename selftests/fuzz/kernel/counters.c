// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters.h"

__attribute__((section("__libfuzzer_extra_counters"),
	       aligned(4096))) static uint8_t counters[2][COUNTERS_BYTES];

void *file_map(const char *path, void *at, size_t bytes, off_t offset)
{
	int fd = open(path ? path : "", O_RDWR);
	void *memory = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0),
			    fd, offset);

	if (memory == MAP_FAILED) {
		fprintf(stderr, "fuzzer: %s: %s\n", path, strerror(errno));
		_exit(3);
	}
	close(fd);
	return memory;
}

void counters_map(unsigned int set, const char *path, off_t offset)
{
	file_map(path, counters[set], COUNTERS_BYTES, offset);
}
