/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adversary modes: what hardware may do and rarely does. All choices come from one seed. Each mode
 * is a word of --adversary.
 */
#ifndef PGPU_EMU_ADVERSARY_H
#define PGPU_EMU_ADVERSARY_H

#include <linux/types.h>

enum emu_adversary_mode {
	EMU_STALE_TLB, /* stale translations are used until software must have dropped them */
	EMU_LATE_WAKE, /* the acknowledgement of a forcewake request comes late */
	EMU_LOST_WAKE, /* some acknowledgements need the fallback request */
	EMU_COALESCE, /* interrupts are delayed, so that several become one */
	EMU_SPURIOUS, /* interrupts without a cause */
	EMU_NO_PREEMPT, /* arbitration points are ignored for some milliseconds */
	EMU_PREFETCH, /* the engine reads past the ring's tail */
	EMU_HANG, /* an engine hangs now and then */
	EMU_SLOW_RESET, /* some resets need a second try */
	EMU_UNREADY, /* an engine that is not idle does not get ready for its reset */
	EMU_LATE_WRITE, /* stores of commands reach memory at the next flush */
	EMU_LATE_CSB, /* status events, and the head that was saved, come after the interrupt */
	EMU_SLOW_DRAW, /* some draws and dispatches take long, and are not preempted meanwhile */
	EMU_SLOW_CLOCK, /* commands take longer if software asks for a lower frequency */
	EMU_DOUBLE_IIR, /* an IIR holds a second event, which shows when the first is cleared */
	EMU_STALE_TAIL, /* a save overwrites a tail that software has moved meanwhile */
	EMU_ADVERSARY_MODES,
};

struct emu_adversary {
	u32 modes; /* bit mask of enum emu_adversary_mode */
	u64 state; /* of the generator */
	u64 msi_at_ns; /* a delayed interrupt; 0: none */
	u64 ack_at_ns[3]; /* forcewake: when the acknowledgement follows the request */
};

static inline bool emu_adversary_has(const struct emu_adversary *adversary,
				     enum emu_adversary_mode mode)
{
	return adversary->modes >> mode & 1;
}

void emu_adversary_seed(struct emu_adversary *adversary, u64 seed);
/* Parse a comma-separated list of modes, or "all": see there. Returns 0 or -EINVAL. */
int emu_adversary_parse(struct emu_adversary *adversary, const char *modes);
u64 emu_random(struct emu_adversary *adversary, u64 limit);
/* True with probability 1 / @one_in if the mode is on. */
bool emu_adversary_strikes(struct emu_adversary *adversary, enum emu_adversary_mode mode,
			   unsigned int one_in);

#endif
