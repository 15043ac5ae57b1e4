// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers that commands may load and store, in privileged and in user streams: an allow-list.
 * Registers that control an engine, the GPU or the display are not listed. Commands must not bypass
 * the vGPU's model of them, and on hardware all vGPUs share them.
 *
 * Sources of the rows:
 *   nonpriv    nonpriv_registers[] in IGT's tests/i915/gem_ctx_isolation.c: what hardware lets user
 *              batches of Gen8 and Gen9 write, and whether a context saves it; checked on hardware
 *   genxml     Mesa's src/intel/genxml/gen8.xml and gen9.xml, for what its drivers write
 *   i915       gt/intel_workarounds.c and gt/intel_mocs.c of 4.3 to 6.1: what the kernel writes
 *   whitelist  what kernels or GVT-g let user batches write through a NONPRIV slot
 *
 * The last number of a row is that of its first dword among the context's registers, from 1 on; 0:
 * not saved. The order is that of the context image and does not change: an image can come from a
 * host with another version.
 */
#include <linux/kernel.h>
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>
#include <ghyvi/export.h>
#include <ghyvi/gen8_regs.h>

/* Registers of the engine itself, from its base; they are outside of the ranges below. */
static const struct ghyvi_register_rule engine_rules[] = {
	{ 0x028, 0x02b, GHYVI_REGISTER_CONTROL, true, 0 }, /* EXCC */
	{ 0x09c, 0x09f, GHYVI_REGISTER_CONTROL, true, 0 }, /* MI_MODE */
	{ 0x0c0, 0x0c3, GHYVI_REGISTER_CONTROL, true, 0 }, /* INSTPM; that of RCS is below */
	{ 0x400, 0x41f, GHYVI_REGISTER_ALL, false, 1 }, /* MI_PREDICATE: nonpriv */
	{ 0x600, 0x67f, GHYVI_REGISTER_GPR, false, 0 }, /* CS_GPR: nonpriv; saved by the engine */
};

/* The same registers of any engine, from its base: all engines share one clock. */
static const struct ghyvi_register_rule clock_rules[] = {
	{ 0x358, 0x35f, GHYVI_REGISTER_READ_ONLY, false, 0 }, /* TIMESTAMP */
	{ 0x3a8, 0x3ab, GHYVI_REGISTER_READ_ONLY, false, 0 }, /* CTX_TIMESTAMP */
};

/* All other registers: one table for each 4 KiB, so that a lookup searches few rules. */
#define RULES_BYTES 0x1000u

static const struct ghyvi_register_rule rules_0x0[] = {
	{ 0x0d80, 0x0d83, GHYVI_REGISTER_LISTED, false, 0 }, /* whitelist */
};

static const struct ghyvi_register_rule rules_0x2[] = {
	{ 0x2088, 0x208b, GHYVI_REGISTER_KERNEL, true, 0 }, /* FF_SLICE_CHICKEN: i915 */
	{ 0x2090, 0x2093, GHYVI_REGISTER_KERNEL, true, 0 }, /* _3D_CHICKEN3: i915 */
	{ 0x2094, 0x2097, GHYVI_REGISTER_ALL, false, 0 }, /* NOPID: nonpriv */
	{ 0x20c0, 0x20c3, GHYVI_REGISTER_ALL, true, 9 }, /* INSTPM: nonpriv, gen8.xml */
	{ 0x20d4, 0x20d7, GHYVI_REGISTER_READ_ONLY, true, 0 }, /* CSFE_CHICKEN1: i915 */
	{ 0x20d8, 0x20db, GHYVI_REGISTER_ALL, true, 10 }, /* CS_DEBUG_MODE2: gen9.xml */
	{ 0x20e0, 0x20e3, GHYVI_REGISTER_READ_ONLY, true, 0 }, /* FF_SLICE_CS_CHICKEN1: i915 */
	{ 0x20e4, 0x20e7, GHYVI_REGISTER_KERNEL, true, 0 }, /* FF_SLICE_CS_CHICKEN2: i915 */
	{ 0x20ec, 0x20ef, GHYVI_REGISTER_LISTED, true, 0 }, /* CS_DEBUG_MODE1: whitelist */
	{ 0x2158, 0x215b, GHYVI_REGISTER_ALL, false, 11 }, /* BB_OFFSET: nonpriv */
	{ 0x2248, 0x224b, GHYVI_REGISTER_LISTED, false, 0 }, /* CTX_PREEMPT: nonpriv, by a slot */
	{ 0x2290, 0x2297, GHYVI_REGISTER_ALL, false, 12 }, /* GPGPU threads: nonpriv */
	{ 0x22c8, 0x22cf, GHYVI_REGISTER_ALL, false, 14 }, /* PS_INVOCATION_COUNT_0: nonpriv */
	{ 0x22d8, 0x22df, GHYVI_REGISTER_ALL, false, 16 }, /* PS_DEPTH_COUNT_0: nonpriv */
	{ 0x22f0, 0x22ff, GHYVI_REGISTER_ALL, false, 18 }, /* the same, _1: nonpriv */
	{ 0x2300, 0x2357, GHYVI_REGISTER_ALL, false, 22 }, /* statistics: nonpriv, genxml */
	{ 0x2360, 0x2367, GHYVI_REGISTER_ALL, false, 44 }, /* OA_CTX_CONTROL, OACTXID: nonpriv */
	{ 0x23bc, 0x23bf, GHYVI_REGISTER_ALL, false, 0 }, /* MI_PREDICATE_RESULT_2: nonpriv */
	{ 0x2420, 0x2423, GHYVI_REGISTER_ALL, false, 46 }, /* 3DPRIM_END_OFFSET: nonpriv */
	{ 0x2430, 0x2443, GHYVI_REGISTER_ALL, false, 47 }, /* 3DPRIM_*: nonpriv */
	{ 0x2448, 0x2457, GHYVI_REGISTER_ALL, false, 52 }, /* PS counts _2: nonpriv */
	{ 0x24d0, 0x24ff, GHYVI_REGISTER_KERNEL, false, 0 }, /* FORCE_TO_NONPRIV: i915 to 4.17 */
	{ 0x2500, 0x250b, GHYVI_REGISTER_ALL, false, 56 }, /* GPGPU_DISPATCHDIM: nonpriv */
	{ 0x2580, 0x2583, GHYVI_REGISTER_LISTED, true, 59 }, /* CS_CHICKEN1: nonpriv, by a slot */
	{ 0x2690, 0x269b, GHYVI_REGISTER_LISTED, false, 0 }, /* whitelist, also the next two */
	{ 0x2754, 0x2757, GHYVI_REGISTER_LISTED, false, 0 },
	{ 0x28a0, 0x28a3, GHYVI_REGISTER_LISTED, false, 0 },
	{ 0x2b00, 0x2b03, GHYVI_REGISTER_ALL, false, 0 }, /* OA_CONTROL: nonpriv; no effect here */
};

static const struct ghyvi_register_rule rules_0x4[] = {
	{ 0x4de0, 0x4de7, GHYVI_REGISTER_LISTED, false, 0 }, /* whitelist */
	{ 0x4dfc, 0x4dff, GHYVI_REGISTER_LISTED, false, 0 }, /* whitelist */
};

static const struct ghyvi_register_rule rules_0x5[] = {
	{ 0x5200, 0x521f, GHYVI_REGISTER_ALL, false, 60 }, /* SO_NUM_PRIMS_WRITTEN: nonpriv */
	{ 0x5240, 0x525f, GHYVI_REGISTER_ALL, false, 68 }, /* SO_PRIM_STORAGE_NEEDED: nonpriv */
	{ 0x5280, 0x528f, GHYVI_REGISTER_ALL, false, 76 }, /* SO_WRITE_OFFSET: nonpriv */
};

static const struct ghyvi_register_rule rules_0x7[] = {
	{ 0x7000, 0x700b, GHYVI_REGISTER_ALL, true, 80 }, /* CACHE_MODE_0, _1, GT_MODE: nonpriv */
	{ 0x7010, 0x7013, GHYVI_REGISTER_LISTED, true, 83 }, /* COMMON_SLICE_CHICKEN1: whitelist */
	{ 0x7014, 0x7017, GHYVI_REGISTER_LISTED, true, 84 }, /* COMMON_SLICE_CHICKEN2: nonpriv */
	{ 0x7018, 0x701b, GHYVI_REGISTER_KERNEL, true, 85 }, /* HIZ_CHICKEN: i915 */
	{ 0x7034, 0x7037, GHYVI_REGISTER_ALL, false, 86 }, /* L3CNTLREG: nonpriv, genxml */
	{ 0x7300, 0x7303, GHYVI_REGISTER_LISTED, true, 87 }, /* HDC_CHICKEN0: i915, whitelist */
	{ 0x7304, 0x7307, GHYVI_REGISTER_LISTED, true, 88 }, /* HDC_CHICKEN1: nonpriv, by a slot */
	{ 0x731c, 0x731f, GHYVI_REGISTER_LISTED, true, 89 }, /* SLICE_COMMON_ECO_CHICKEN1 */
	{ 0x7700, 0x770f, GHYVI_REGISTER_LISTED, false, 0 }, /* whitelist */
};

static const struct ghyvi_register_rule rules_0x8[] = {
	{ 0x83a4, 0x83a7, GHYVI_REGISTER_KERNEL, true, 90 }, /* VF_PREEMPTION: i915 */
	{ 0x83a8, 0x83ab, GHYVI_REGISTER_LISTED, false, 0 }, /* whitelist */
};

static const struct ghyvi_register_rule rules_0x9[] = {
	{ 0x91b8, 0x91c7, GHYVI_REGISTER_ALL, false, 0 }, /* PERFCNT1, 2: nonpriv, genxml */
};

static const struct ghyvi_register_rule rules_0xb[] = {
	{ 0xb020, 0xb09f, GHYVI_REGISTER_KERNEL, false, 0 }, /* LNCFCMOCS of Gen9: i915 to 5.4 */
	{ 0xb110, 0xb113, GHYVI_REGISTER_LISTED, false, 0 }, /* whitelist */
	{ 0xb118, 0xb11b, GHYVI_REGISTER_LISTED, false, 0 }, /* L3SQCREG4: nonpriv, by a slot */
};

static const struct ghyvi_register_rule rules_0xc[] = {
	/* MOCS of each engine, also written by RCS for the others: i915 of 4.3 to 5.4. */
	{ 0xc800, 0xccff, GHYVI_REGISTER_KERNEL, false, 0 },
};

static const struct ghyvi_register_rule rules_0xe[] = {
	{ 0xe100, 0xe103, GHYVI_REGISTER_LISTED, true, 91 }, /* HALF_SLICE_CHICKEN1: whitelist */
	{ 0xe180, 0xe18b, GHYVI_REGISTER_KERNEL, true, 92 }, /* HALF_SLICE_CHICKEN2, 3, 5: i915 */
	{ 0xe18c, 0xe18f, GHYVI_REGISTER_LISTED, true, 95 }, /* SAMPLER_MODE: whitelist */
	{ 0xe194, 0xe197, GHYVI_REGISTER_KERNEL, true, 96 }, /* HALF_SLICE_CHICKEN7: i915 */
	{ 0xe400, 0xe407, GHYVI_REGISTER_ALL, false, 97 }, /* TD_CTL, TD_CTL2: nonpriv */
	{ 0xe48c, 0xe48f, GHYVI_REGISTER_LISTED, true, 0 }, /* whitelist */
	{ 0xe4f0, 0xe4f7, GHYVI_REGISTER_KERNEL, true, 99 }, /* ROW_CHICKEN, 2: i915 */
	{ 0xe5f4, 0xe5f7, GHYVI_REGISTER_LISTED, false, 0 }, /* whitelist */
};

static const struct ghyvi_register_rule rules_0x12[] = {
	{ 0x12800, 0x128ff, GHYVI_REGISTER_ALL, false, 0 }, /* MFC_VDBOX1: nonpriv */
};

static const struct ghyvi_register_rule rules_0x22[] = {
	{ 0x22200, 0x22203, GHYVI_REGISTER_ALL, true, 9 }, /* BCS_SWCTRL: nonpriv */
};

static const struct ghyvi_register_rule rules_0x64[] = {
	{ 0x64844, 0x64847, GHYVI_REGISTER_LISTED, false, 0 }, /* whitelist */
};

#define RULES(number)                                      \
	{                                                  \
		rules_##number, ARRAY_SIZE(rules_##number) \
	}
static const struct {
	const struct ghyvi_register_rule *rules;
	unsigned int count;
} rules[] = {
	[0x0] = RULES(0x0),   [0x2] = RULES(0x2), [0x4] = RULES(0x4),	[0x5] = RULES(0x5),
	[0x7] = RULES(0x7),   [0x8] = RULES(0x8), [0x9] = RULES(0x9),	[0xb] = RULES(0xb),
	[0xc] = RULES(0xc),   [0xe] = RULES(0xe), [0x12] = RULES(0x12), [0x22] = RULES(0x22),
	[0x64] = RULES(0x64),
};

static const struct ghyvi_register_rule *find_rule(const struct ghyvi_register_rule *table,
						   unsigned int count, u32 offset)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (offset >= table[i].first && offset <= table[i].last)
			return &table[i];
	return NULL;
}

/* Engines' bases are multiples of RULES_BYTES. */
static const struct ghyvi_register_rule *find_clock(u32 offset)
{
	const struct ghyvi_register_rule *rule;
	unsigned int i;

	rule = find_rule(clock_rules, ARRAY_SIZE(clock_rules), offset % RULES_BYTES);
	if (!rule)
		return NULL;
	for (i = 0; i < GHYVI_ENGINES; i++)
		if (ghyvi_engine_base(i) == offset / RULES_BYTES * RULES_BYTES)
			return rule;
	return NULL;
}

/*
 * Registers with a table of their own come first: INSTPM of RCS has another rule than that of the
 * other engines.
 */
const struct ghyvi_register_rule *ghyvi_register_find(enum ghyvi_engine_id engine, u32 offset)
{
	const struct ghyvi_register_rule *rule = NULL;
	u32 own = offset - ghyvi_engine_base(engine), number = offset / RULES_BYTES;

	if (number < ARRAY_SIZE(rules))
		rule = find_rule(rules[number].rules, rules[number].count, offset);
	if (!rule && own < RULES_BYTES)
		rule = find_rule(engine_rules, ARRAY_SIZE(engine_rules), own);
	return rule ?: find_clock(offset);
}
GHYVI_EXPORT(ghyvi_register_find);

static bool is_owner(enum ghyvi_engine_id engine, u32 offset)
{
	unsigned int i;

	for (i = 0; i < GHYVI_ENGINES; i++)
		if (i != GHYVI_RCS && offset - ghyvi_engine_base(i) < RULES_BYTES)
			return engine == i;
	return engine == GHYVI_RCS;
}

int ghyvi_register_slot(enum ghyvi_engine_id engine, const struct ghyvi_register_rule *rule,
			u32 offset)
{
	if (!rule->slot || !is_owner(engine, offset))
		return -1;
	return rule->slot - 1 + (offset - rule->first) % RULES_BYTES / 4;
}
GHYVI_EXPORT(ghyvi_register_slot);

enum ghyvi_command_rule ghyvi_register_write_rule(enum ghyvi_engine_id engine,
						  const struct ghyvi_register_rule *rule,
						  u32 offset, bool privileged, bool bytes,
						  bool listed)
{
	bool allowed = privileged;

	if (!rule)
		return privileged ? GHYVI_REFUSED : GHYVI_DROPPED;
	if (bytes && (rule->masked || rule->right == GHYVI_REGISTER_GPR))
		return GHYVI_REFUSED;
	switch (rule->right) {
	case GHYVI_REGISTER_READ_ONLY:
		allowed = false;
		break;
	case GHYVI_REGISTER_ALL:
	case GHYVI_REGISTER_GPR:
		allowed |= is_owner(engine, offset);
		break;
	case GHYVI_REGISTER_LISTED:
		allowed |= listed;
		break;
	}
	return allowed ? GHYVI_ALLOWED : GHYVI_DROPPED;
}
GHYVI_EXPORT(ghyvi_register_write_rule);

static void list_slots(u32 *offsets, enum ghyvi_engine_id engine,
		       const struct ghyvi_register_rule *table, unsigned int count, u32 base)
{
	unsigned int i;
	u32 offset;

	for (i = 0; i < count; i++)
		for (offset = table[i].first; offset <= table[i].last; offset += 4) {
			int slot = ghyvi_register_slot(engine, &table[i], base + offset);

			if (slot >= 0)
				offsets[slot] = base + offset;
		}
}

void ghyvi_register_slots(enum ghyvi_engine_id engine, u32 *offsets)
{
	unsigned int i;

	for (i = 0; i < GHYVI_CONTEXT_SLOTS; i++)
		offsets[i] = 0;
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		list_slots(offsets, engine, rules[i].rules, rules[i].count, 0);
	list_slots(offsets, engine, engine_rules, ARRAY_SIZE(engine_rules),
		   ghyvi_engine_base(engine));
}
GHYVI_EXPORT(ghyvi_register_slots);
