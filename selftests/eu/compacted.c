// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the compacted instructions of a file of kernels and writes them twice: as they are, and as
 * the library makes 16 bytes of them. Intel's disassembler must see the same in both.
 */
#include "../../userspace/eu/machine.h"
#include "kernel.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	unsigned int n, count = 0;
	FILE *compact, *native;

	if (argc < 5)
		return 2;
	compact = fopen(argv[1], "wb");
	native = fopen(argv[2], "wb");
	if (!compact || !native)
		return 1;
	for (n = 4; n < (unsigned int)argc; n++) {
		struct kernel k;
		uint32_t at = 0;

		if (kernel_load(&k, argv[3], argv[n]))
			return 1;
		while (at + 8 <= k.code_bytes) {
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
