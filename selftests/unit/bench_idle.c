// SPDX-License-Identifier: GPL-2.0-only
/*
 * What idle vGPUs cost a busy one, in instructions, which have no noise: bench_idle IDLE
 * SUBMISSIONS, for a tool that counts them (tools/bench/sched). The device model and the scheduler
 * are real, the pGPU is not. Each idle one has run something before.
 */
#include "vgpu_guest.h"

static void submit_and_finish(void)
{
	poke(STATE(0, GHYVI_CTX_RING_TAIL),
	     (peek(STATE(0, GHYVI_CTX_RING_TAIL)) + 64) % RING_BYTES);
	elsp(descriptor(0), 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

int main(int argc, char **argv)
{
	unsigned int idle = argc == 3 ? atoi(argv[1]) : 0,
		     submissions = argc == 3 ? atoi(argv[2]) : 0, i;
	struct ghyvi_vgpu **all = calloc(idle + 1, sizeof(*all));

	if (!submissions || make_vgpu(&ghyvi_profile_gen9)) {
		fprintf(stderr, "usage: bench_idle IDLE SUBMISSIONS\n");
		return 2;
	}
	all[0] = vgpu;
	for (i = 1; i <= idle; i++)
		all[i] = create_vgpu(&ghyvi_profile_gen9);
	for (i = idle + 1; i--;) {
		vgpu = all[i];
		start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
		submit_and_finish();
	}
	for (i = 0; i < submissions; i++)
		submit_and_finish();
	if (atomic64_read(&stats.workloads) != submissions + idle + 1)
		abort();
	for (i = 1; i <= idle; i++)
		ghyvi_vgpu_destroy(all[i]);
	free(all);
	return teardown(NULL);
}
