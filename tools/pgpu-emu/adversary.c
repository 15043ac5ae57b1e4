// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/kernel.h>
#include "adversary.h"

static const char *const modes[EMU_ADVERSARY_MODES] = {
	[EMU_STALE_TLB] = "stale-tlb",	 [EMU_LATE_WAKE] = "late-wake",
	[EMU_LOST_WAKE] = "lost-wake",	 [EMU_COALESCE] = "coalesce",
	[EMU_SPURIOUS] = "spurious",	 [EMU_NO_PREEMPT] = "no-preempt",
	[EMU_PREFETCH] = "prefetch",	 [EMU_HANG] = "hang",
	[EMU_SLOW_RESET] = "slow-reset", [EMU_LATE_WRITE] = "late-write",
	[EMU_DOUBLE_IIR] = "double-iir", [EMU_UNREADY] = "unready",
	[EMU_LATE_CSB] = "late-csb",	 [EMU_SLOW_DRAW] = "slow-draw",
	[EMU_SLOW_CLOCK] = "slow-clock", [EMU_STALE_TAIL] = "stale-tail",
};

void emu_adversary_seed(struct emu_adversary *adversary, u64 seed)
{
	adversary->state = seed * 0x9e3779b97f4a7c15ull + 1;
}

static bool is_name(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && !strncmp(name, text, length);
}

/*
 * Modes that must be asked for by name, because i915 does not pass its live selftests with them:
 *   hang        every program fails that the hang hits.
 *   unready     i915 reports an engine that does not get ready.
 *   lost-wake   i915 asks again after 50 ms, the time that igt_reset_engines_atomic() has.
 *   slow-reset  i915 tries once to reset an engine, and then resets the whole GPU.
 *   late-csb    i915 finds the event at the next interrupt or heartbeat.
 *   stale-tail  i915 waits for ever for the requests behind the stale tail.
 */
#define NOT_IN_ALL                                                                         \
	(1u << EMU_HANG | 1u << EMU_UNREADY | 1u << EMU_LOST_WAKE | 1u << EMU_SLOW_RESET | \
	 1u << EMU_LATE_CSB | 1u << EMU_STALE_TAIL)

/* Returns a bit mask of modes; 0: there is no such mode. */
static u32 modes_of(const char *text, size_t length)
{
	unsigned int i;

	if (is_name("all", text, length))
		return ((1u << EMU_ADVERSARY_MODES) - 1) & ~NOT_IN_ALL;
	for (i = 0; i < EMU_ADVERSARY_MODES; i++)
		if (is_name(modes[i], text, length))
			return 1u << i;
	return 0;
}

int emu_adversary_parse(struct emu_adversary *adversary, const char *list)
{
	size_t length;
	u32 add;

	for (; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		add = modes_of(list, length);
		if (!add)
			return -EINVAL;
		adversary->modes |= add;
	}
	return 0;
}

/* splitmix64 */
u64 emu_random(struct emu_adversary *adversary, u64 limit)
{
	u64 z = adversary->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (z ^ (z >> 31)) % limit;
}

bool emu_adversary_strikes(struct emu_adversary *adversary, enum emu_adversary_mode mode,
			   unsigned int one_in)
{
	return emu_adversary_has(adversary, mode) && !emu_random(adversary, one_in);
}
