// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory object control state: the table that all Linux drivers use on these GPUs (i915:
 * skl_mocs_table). It is the host's. What a guest writes there stays in its registers.
 */
#include "gen9.h"

#define LE_1_UC BIT(0)
#define LE_3_WB (3 << 0)
#define LE_TC_1_LLC BIT(2)
#define LE_TC_2_LLC_ELLC (2 << 2)
#define LE_LRUM_3 (3 << 4)
#define L3_1_UC BIT(4)
#define L3_3_WB (3 << 4)

struct mocs_entry {
	u16 control, l3cc;
};

static const struct mocs_entry uncached = { LE_1_UC | LE_TC_2_LLC_ELLC, L3_1_UC };
static const struct mocs_entry pagetable = { LE_LRUM_3, L3_3_WB };
static const struct mocs_entry cached = { LE_3_WB | LE_TC_2_LLC_ELLC | LE_LRUM_3, L3_3_WB };
static const struct mocs_entry eviction = { LE_3_WB | LE_TC_1_LLC | LE_LRUM_3, L3_1_UC };

static const struct mocs_entry *mocs_entry(unsigned int index)
{
	switch (index) {
	case 0:
		return &uncached;
	case 2:
		return &cached;
	case GEN9_NUM_MOCS_ENTRIES - 1:
		return &eviction;
	default:
		return &pagetable;
	}
}

void gen9_mocs_init(struct gen9_engine *engine)
{
	static const u32 first[GHYVI_ENGINES] = {
		[GHYVI_RCS] = GEN9_GFX_MOCS0,
		[GHYVI_BCS] = GEN9_BLT_MOCS0,
		[GHYVI_VCS] = GEN9_MFX0_MOCS0,
		[GHYVI_VECS] = GEN9_VEBOX_MOCS0,
	};
	unsigned int i;

	for (i = 0; i < GEN9_NUM_MOCS_ENTRIES; i++)
		gen9_write(engine->gpu, first[engine->id] + 4 * i, mocs_entry(i)->control);
	for (i = 0; engine->id == GHYVI_RCS && i < GEN9_NUM_MOCS_ENTRIES; i += 2)
		gen9_write(engine->gpu, GEN9_LNCFCMOCS0 + 2 * i,
			   mocs_entry(i)->l3cc | (u32)mocs_entry(i + 1)->l3cc << 16);
}
