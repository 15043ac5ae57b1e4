// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compacted instructions: 8 bytes whose indices select bits of the 16-byte form from tables. The
 * tables and the bits' places are those of the public manuals (volume "3D-Media-GPGPU", EU compact
 * instructions); selftests/eu compares each entry with Intel's disassembler.
 */
#include "machine.h"

static const uint32_t control_table[32] = {
	0x00002, 0x04000, 0x04001, 0x04002, 0x04003, 0x04004, 0x04005, 0x04007,
	0x04008, 0x04009, 0x0400d, 0x06000, 0x06001, 0x06002, 0x06003, 0x06004,
	0x06005, 0x06007, 0x06009, 0x0600d, 0x06010, 0x06100, 0x08000, 0x08002,
	0x08004, 0x08100, 0x16000, 0x16010, 0x18000, 0x18100, 0x28000, 0x28100,
};

static const uint32_t type_table[32] = {
	0x040001, 0x040040, 0x040041, 0x0400c1, 0x04015d, 0x0405dd, 0x040741, 0x040745,
	0x04075d, 0x041041, 0x043040, 0x043041, 0x045145, 0x047144, 0x047145, 0x05c75d,
	0x05d71d, 0x05d75c, 0x05d75d, 0x05f75c, 0x00040c, 0x04005d, 0x040145, 0x041040,
	0x045144, 0x047104, 0x049209, 0x05775d, 0x05f75d, 0x04f34c, 0x049248, 0x04b248,
};

static const uint16_t subregister_table[32] = {
	0x0000, 0x0001, 0x0008, 0x000f, 0x0010, 0x0080, 0x0100, 0x0180, 0x0200, 0x0210, 0x0280,
	0x1000, 0x1001, 0x1081, 0x1082, 0x1083, 0x1084, 0x1087, 0x1088, 0x108e, 0x108f, 0x1180,
	0x11e8, 0x2000, 0x2180, 0x3000, 0x3c87, 0x4000, 0x5000, 0x6000, 0x7000, 0x701c,
};

static const uint16_t source_table[32] = {
	0x000, 0x002, 0x010, 0x012, 0x018, 0x020, 0x028, 0x048, 0x050, 0x070, 0x078,
	0x300, 0x302, 0x308, 0x310, 0x312, 0x320, 0x328, 0x338, 0x340, 0x342, 0x348,
	0x350, 0x360, 0x368, 0x370, 0x371, 0x378, 0x468, 0x469, 0x46a, 0x588,
};

static const uint32_t control3_table[4] = { 0x0806001, 0x0006001, 0x0008001, 0x0008021 };

static const uint64_t source3_table[4] = {
	0x007272720f000,
	0x007272720f002,
	0x007272720f008,
	0x007272720f020,
};

static void put(uint32_t raw[4], unsigned int high, unsigned int low, uint64_t value)
{
	unsigned int bit;

	for (bit = low; bit <= high; bit++, value >>= 1)
		raw[bit / 32] |= (uint32_t)(value & 1) << bit % 32;
}

static uint64_t get(uint64_t from, unsigned int high, unsigned int low)
{
	return from >> low & ((1ull << (high - low + 1)) - 1);
}

static void three_sources(uint64_t c, uint32_t raw[4])
{
	uint64_t control = control3_table[get(c, 9, 8)], source = source3_table[get(c, 11, 10)];

	put(raw, 28, 8, get(control, 20, 0));
	put(raw, 34, 32, get(control, 23, 21));
	put(raw, 36, 35, get(control, 25, 24));
	put(raw, 55, 37, get(source, 18, 0));
	put(raw, 72, 65, get(source, 26, 19));
	put(raw, 93, 86, get(source, 34, 27));
	put(raw, 114, 107, get(source, 42, 35));
	put(raw, 83, 83, get(source, 43, 43));
	put(raw, 84, 84, get(source, 44, 44));
	put(raw, 105, 104, get(source, 46, 45));
	put(raw, 126, 125, get(source, 48, 47));
	put(raw, 63, 56, get(c, 18, 12));
	put(raw, 64, 64, get(c, 28, 28));
	put(raw, 30, 30, get(c, 30, 30));
	put(raw, 31, 31, get(c, 31, 31));
	put(raw, 85, 85, get(c, 32, 32));
	put(raw, 106, 106, get(c, 33, 33));
	put(raw, 75, 73, get(c, 36, 34));
	put(raw, 96, 94, get(c, 39, 37));
	put(raw, 117, 115, get(c, 42, 40));
	put(raw, 82, 76, get(c, 49, 43));
	put(raw, 103, 97, get(c, 56, 50));
	put(raw, 124, 118, get(c, 63, 57));
}

static void two_sources(uint64_t c, uint32_t raw[4])
{
	uint32_t control = control_table[get(c, 12, 8)], types = type_table[get(c, 17, 13)];
	uint32_t subregisters = subregister_table[get(c, 22, 18)];
	uint32_t source0 = source_table[get(c, 34, 30)], source1;
	bool immediate = get(types, 7, 6) == EU_FILE_IMM || get(types, 13, 12) == EU_FILE_IMM;

	put(raw, 33, 31, get(control, 18, 16));
	put(raw, 23, 12, get(control, 15, 4));
	put(raw, 10, 9, get(control, 3, 2));
	put(raw, 34, 34, get(control, 1, 1));
	put(raw, 8, 8, get(control, 0, 0));
	put(raw, 63, 61, get(types, 20, 18));
	put(raw, 94, 89, get(types, 17, 12));
	put(raw, 46, 35, get(types, 11, 0));
	put(raw, 52, 48, get(subregisters, 4, 0));
	put(raw, 68, 64, get(subregisters, 9, 5));
	put(raw, 28, 28, get(c, 23, 23));
	put(raw, 27, 24, get(c, 27, 24));
	put(raw, 88, 77, source0);
	put(raw, 60, 53, get(c, 47, 40));
	put(raw, 76, 69, get(c, 55, 48));
	if (immediate) {
		int32_t value = (int32_t)((get(c, 39, 35) << 8 | get(c, 63, 56)) << 19) >> 19;

		put(raw, 127, 96, (uint32_t)value);
		return;
	}
	source1 = source_table[get(c, 39, 35)];
	put(raw, 100, 96, get(subregisters, 14, 10));
	put(raw, 120, 109, source1);
	put(raw, 108, 101, get(c, 63, 56));
}

/*
 * eu_decompact() - the 16 bytes of a compacted instruction. Each of the 2^64 inputs has one: that
 * an instruction makes sense is for the decoder to say.
 */
void eu_decompact(uint64_t compact, uint32_t raw[4])
{
	unsigned int op = get(compact, 6, 0);

	raw[0] = raw[1] = raw[2] = raw[3] = 0;
	put(raw, 6, 0, op);
	if (op == EU_CSEL || op == EU_BFE || op == EU_BFI2 || op == EU_MAD || op == EU_LRP ||
	    op == EU_MADM)
		three_sources(compact, raw);
	else
		two_sources(compact, raw);
}
