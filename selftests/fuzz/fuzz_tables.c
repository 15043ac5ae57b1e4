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
	write_pte(PML4(0), 0, pte(PDP(0)));
	write_pte(PDP(0), 0, pte(PD(0)));
	write_pte(PD(0), 0, pte(PT(0)));
	for (i = 0; i < 4; i++)
		write_pte(PT(0), i, pte(DATA + i));
	get_root4(PML4(0));
	fake.race = flags & 2 ? racing_store : NULL;
	for (i = 0; input.left && i < MOVES_MAX; i++)
		move();
	fake.race = NULL;
	ghyvi_gtt_sync(fake.gtt, NULL);
	compare_everything();
	fake_fini();
	return 0;
}
