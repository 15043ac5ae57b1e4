/* SPDX-License-Identifier: GPL-2.0-only */
/* Executes the dispatches that the kernel hands out, whatever memory and the kernel are. */
#ifndef GHYVI_EUD_EXECUTE_H
#define GHYVI_EUD_EXECUTE_H

#include <stdint.h>
#include <eu_state.h>
#include <linux/ghyvi_eu.h>

/**
 * struct eud - execution units of one vGPU
 * @control: what the kernel asks of a dispatch; it changes at any time
 * @cache: of its kernels
 * @memory: of the context whose dispatch it is
 * @group: GHYVI_EU_GROUP_BYTES: a thread group in progress, from the kernel or for it
 * @no_room: number of the dispatch for whose group the kernel has no memory: it goes on to the end
 *	of the group
 * @state: as the dispatch has it
 */
struct eud {
	const struct ghyvi_eu_control *control;
	struct eu_cache *cache;
	struct eu_memory memory;
	uint8_t *group;
	uint32_t no_room;
	struct eu_state state;
};

/* Execute @next, and fill in the answer: @status and what belongs to it. */
void eud_execute(struct eud *eud, struct ghyvi_eu_next *next);

#endif
