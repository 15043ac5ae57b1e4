// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers that commands may load and store, in privileged and in user streams: an allow-list.
 * Registers that control an engine, the GPU or the display are not listed. Commands must not bypass
 * the vGPU's model of them, and on hardware all vGPUs share them.
 */
#include <linux/kernel.h>
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>
#include <ghyvi/export.h>
#include <ghyvi/gen8_regs.h>

/* Registers of the engine itself, from its base; they are outside of the ranges below. */
static const struct ghyvi_register_rule engine_rules[] = {
	{ 0x028, 0x02b, GHYVI_REGISTER_CONTROL, true }, /* EXCC */
	{ 0x09c, 0x09f, GHYVI_REGISTER_CONTROL, true }, /* MI_MODE */
	{ 0x0c0, 0x0c3, GHYVI_REGISTER_CONTROL, true }, /* INSTPM */
	{ 0x400, 0x41f, GHYVI_REGISTER_ALL, false }, /* predicates */
	{ 0x600, 0x67f, GHYVI_REGISTER_GPR, false },
};

/* The same registers of any engine, from its base: all engines share one clock. */
static const struct ghyvi_register_rule clock_rules[] = {
	{ 0x358, 0x35f, GHYVI_REGISTER_READ_ONLY, false }, /* TIMESTAMP */
	{ 0x3a8, 0x3ab, GHYVI_REGISTER_READ_ONLY, false }, /* CTX_TIMESTAMP */
};

/* All other registers: one table for each 4 KiB, so that a lookup searches few rules. */
#define RULES_BYTES 0x1000u

static const struct ghyvi_register_rule rules_0x0[] = {
	{ 0x0d80, 0x0d83, GHYVI_REGISTER_LISTED, false },
};

static const struct ghyvi_register_rule rules_0x2[] = {
	{ 0x2088, 0x208b, GHYVI_REGISTER_KERNEL, true },
	{ 0x2090, 0x2093, GHYVI_REGISTER_KERNEL, true },
	{ 0x20d8, 0x20db, GHYVI_REGISTER_KERNEL, true },
	{ 0x20e4, 0x20e7, GHYVI_REGISTER_KERNEL, true },
	{ 0x20ec, 0x20ef, GHYVI_REGISTER_LISTED, true },
	{ 0x2248, 0x224b, GHYVI_REGISTER_LISTED, false },
	{ 0x2290, 0x2297, GHYVI_REGISTER_ALL, false }, /* counters */
	{ 0x2300, 0x2357, GHYVI_REGISTER_ALL, false },
	{ 0x2420, 0x2423, GHYVI_REGISTER_ALL, false }, /* indirect draw and dispatch */
	{ 0x2430, 0x2443, GHYVI_REGISTER_ALL, false },
	{ 0x2500, 0x250b, GHYVI_REGISTER_ALL, false },
	{ 0x2580, 0x2583, GHYVI_REGISTER_LISTED, true },
	{ 0x2690, 0x269b, GHYVI_REGISTER_LISTED, false },
	{ 0x2754, 0x2757, GHYVI_REGISTER_LISTED, false },
	{ 0x28a0, 0x28a3, GHYVI_REGISTER_LISTED, false },
};

static const struct ghyvi_register_rule rules_0x4[] = {
	{ 0x4de0, 0x4de7, GHYVI_REGISTER_LISTED, false },
	{ 0x4dfc, 0x4dff, GHYVI_REGISTER_LISTED, false },
};

static const struct ghyvi_register_rule rules_0x5[] = {
	{ 0x5200, 0x521f, GHYVI_REGISTER_ALL, false }, /* stream out */
	{ 0x5240, 0x525f, GHYVI_REGISTER_ALL, false },
	{ 0x5280, 0x528f, GHYVI_REGISTER_ALL, false },
};

static const struct ghyvi_register_rule rules_0x7[] = {
	{ 0x7000, 0x700b, GHYVI_REGISTER_KERNEL, true },
	{ 0x7010, 0x7013, GHYVI_REGISTER_LISTED, true },
	{ 0x7014, 0x7017, GHYVI_REGISTER_LISTED, true },
	{ 0x7018, 0x701b, GHYVI_REGISTER_KERNEL, true },
	{ 0x7300, 0x7307, GHYVI_REGISTER_LISTED, true },
	{ 0x7700, 0x770f, GHYVI_REGISTER_LISTED, false },
};

static const struct ghyvi_register_rule rules_0x8[] = {
	{ 0x83a4, 0x83a7, GHYVI_REGISTER_KERNEL, true },
	{ 0x83a8, 0x83ab, GHYVI_REGISTER_LISTED, false },
};

static const struct ghyvi_register_rule rules_0xb[] = {
	{ 0xb010, 0xb013, GHYVI_REGISTER_GEN8, false }, /* L3 partitions */
	{ 0xb020, 0xb027, GHYVI_REGISTER_GEN8, false },
	{ 0xb110, 0xb113, GHYVI_REGISTER_LISTED, false },
	{ 0xb118, 0xb11b, GHYVI_REGISTER_LISTED, false },
};

static const struct ghyvi_register_rule rules_0xe[] = {
	{ 0xe100, 0xe103, GHYVI_REGISTER_LISTED, true },
	{ 0xe180, 0xe18b, GHYVI_REGISTER_KERNEL, true },
	{ 0xe18c, 0xe18f, GHYVI_REGISTER_LISTED, true },
	{ 0xe194, 0xe197, GHYVI_REGISTER_KERNEL, true },
	{ 0xe48c, 0xe48f, GHYVI_REGISTER_LISTED, true },
	{ 0xe4f0, 0xe4f7, GHYVI_REGISTER_KERNEL, true }, /* the second: Gen8 only */
	{ 0xe5f4, 0xe5f7, GHYVI_REGISTER_LISTED, false },
};

static const struct ghyvi_register_rule rules_0x22[] = {
	{ 0x22200, 0x22203, GHYVI_REGISTER_BLITTER, true }, /* BCS_SWCTRL */
};

static const struct ghyvi_register_rule rules_0x64[] = {
	{ 0x64844, 0x64847, GHYVI_REGISTER_LISTED, false },
};

#define RULES(number)                                      \
	{                                                  \
		rules_##number, ARRAY_SIZE(rules_##number) \
	}
static const struct {
	const struct ghyvi_register_rule *rules;
	unsigned int count;
} rules[] = {
	[0x0] = RULES(0x0),   [0x2] = RULES(0x2),   [0x4] = RULES(0x4), [0x5] = RULES(0x5),
	[0x7] = RULES(0x7),   [0x8] = RULES(0x8),   [0xb] = RULES(0xb), [0xe] = RULES(0xe),
	[0x22] = RULES(0x22), [0x64] = RULES(0x64),
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

const struct ghyvi_register_rule *ghyvi_register_find(enum ghyvi_engine_id engine, u32 offset)
{
	const struct ghyvi_register_rule *rule = NULL;
	u32 own = offset - ghyvi_engine_base(engine), number = offset / RULES_BYTES;

	if (own < RULES_BYTES)
		rule = find_rule(engine_rules, ARRAY_SIZE(engine_rules), own);
	if (!rule)
		rule = find_clock(offset);
	if (!rule && number < ARRAY_SIZE(rules))
		rule = find_rule(rules[number].rules, rules[number].count, offset);
	return rule;
}
GHYVI_EXPORT(ghyvi_register_find);
