// SPDX-License-Identifier: GPL-2.0-only
/*
 * What idle vGPUs cost a busy one, in instructions, which have no noise: bench_idle IDLE
 * SUBMISSIONS [SCREENS], for a tool that counts them (tools/bench/sched). The device model and the
 * scheduler are real, the pGPU is not. Each idle one has run something before. With a third
 * argument that is not 0, each vGPU shows a screen.
 */
#include "vgpu/display_regs.h"
#include "vgpu_guest.h"

static void show_screen(void)
{
	ghyvi_vgpu_set_display(vgpu, true);
	ghyvi_vgpu_reset(vgpu);
	wr(PLANE_CTL_1_A, PLANE_CTL_ENABLE | PLANE_CTL_FORMAT_XRGB_8888);
	wr(PLANE_SURF_1_A, HIDDEN_START);
	wr(PIPEACONF, PIPECONF_ENABLE);
}

static void submit_and_finish(void)
{
	poke(STATE(0, GHYVI_CTX_RING_TAIL),
	     (peek(STATE(0, GHYVI_CTX_RING_TAIL)) + 64) % RING_BYTES);
	elsp(descriptor(0), 0);
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

int main(int argc, char **argv)
{
	unsigned int idle = argc >= 3 ? atoi(argv[1]) : 0,
		     submissions = argc >= 3 ? atoi(argv[2]) : 0, i;
	bool screens = argc > 3 && atoi(argv[3]);
	struct ghyvi_vgpu **all = calloc(idle + 1, sizeof(*all));

	if (!submissions || make_vgpu(&ghyvi_profile_gen9)) {
		fprintf(stderr, "usage: bench_idle IDLE SUBMISSIONS [SCREENS]\n");
		return 2;
	}
	all[0] = vgpu;
	for (i = 1; i <= idle; i++)
		all[i] = create_vgpu(&ghyvi_profile_gen9);
	for (i = idle + 1; i--;) {
		vgpu = all[i];
		if (screens)
			show_screen();
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
