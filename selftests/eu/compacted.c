// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the compacted instructions of all kernels of a file and writes them twice: as they are, and
 * as the library makes 16 bytes of them. Intel's disassembler must see the same in both.
 */
#include "../../userspace/eu/machine.h"
#include "kernel.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	unsigned int n, count = 0;
	struct kernel k;
	FILE *compact, *native;

	if (argc < 4)
		return 2;
	compact = fopen(argv[1], "wb");
	native = fopen(argv[2], "wb");
	if (!compact || !native)
		return 1;
	for (n = 0; !kernel_load_nth(&k, argv[3], n); n++) {
		uint32_t at = 0;

		while (at + 8 <= k.code_used) {
			uint32_t raw[4];
			uint64_t eight;

			memcpy(&eight, k.code + at, 8);
			if (!(eight >> 29 & 1)) {
				at += 16;
				continue;
			}
			eu_decompact(eight, raw);
			fwrite(&eight, 8, 1, compact);
			fwrite(raw, 16, 1, native);
			at += 8;
			count++;
		}
		kernel_free(&k);
	}
	printf("%u compacted instructions\n", count);
	return fclose(compact) || fclose(native) || !count;
}
