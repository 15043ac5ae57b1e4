// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables (kernel/gtt, kernel/shadow): stores, trees, policies and removal of memory in any
 * order. After each synchronisation the shadows are compared with an independent translation and
 * with the self-check. The fakes of the pGPU and the hypervisor abort if a page is unpinned while
 * an engine could reach it.
 */
#include "../unit/gtt_moves.h"
#include "input.h"

#define MOVES_MAX 400
#define GGTT_TABLES 2

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	unsigned int i;
	u32 flags;

	input_init(data, bytes);
	fake_init(GGTT_TABLES);
	flags = rnd(4);
	alias = flags & 1;
	ghyvi_gtt_set_policy(fake.gtt, ghyvi_shadow_policies[rnd(ghyvi_shadow_policy_count)]->name);
	set(1, 0, to(3));
	set(3, 0, to(6));
	set(6, 0, to(10));
	for (i = 0; i < 4; i++)
		set(10, i, to(DATA + i));
	hold4(1);
	fake.race = flags & 2 ? racing_store : NULL;
	for (i = 0; input.left && i < MOVES_MAX; i++)
		move();
	fake.race = NULL;
	ghyvi_gtt_sync(fake.gtt, NULL);
	compare_everything();
	fake_fini();
	return 0;
}
