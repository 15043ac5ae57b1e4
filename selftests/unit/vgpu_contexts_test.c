// SPDX-License-Identifier: GPL-2.0-only
/* How long the backend's state of a context lives, and to which jobs it belongs. */
#include "vgpu_guest.h"

static u64 *image_entry(u64 lrca)
{
	return (u64 *)ghyvi_vgpu_ggtt_table(vgpu) + ((lrca + 4096) >> 12);
}

static struct ghyvi_pgpu_context *run(int c)
{
	struct ghyvi_pgpu_context *context;

	submit_work(c);
	assert_non_null(gpu.running[guest.id]);
	context = gpu.running[guest.id]->pgpu_context;
	finish(guest.id, GHYVI_JOB_COMPLETE);
	while (consume())
		;
	return context;
}

static unsigned int jobs_of(struct ghyvi_pgpu_context *context)
{
	return container_of(context, struct fake_context, base)->jobs;
}

static void a_context_keeps_its_state_across_jobs(void **state)
{
	struct ghyvi_pgpu_context *first = run(0), *second = run(1);

	assert_ptr_not_equal(first, second);
	assert_ptr_equal(run(0), first);
	assert_ptr_equal(run(1), second);
	assert_int_equal(jobs_of(first), 2);
	assert_int_equal(gpu.contexts, 2);
	assert_int_equal(gpu.contexts_created, 2);
}

static void a_preempted_job_keeps_its_context(void **state)
{
	struct ghyvi_pgpu_context *context;

	submit_work(0);
	context = gpu.running[guest.id]->pgpu_context;
	finish(guest.id, GHYVI_JOB_PREEMPTED);
	ghyvi_sched_kick(sched, guest.id);
	assert_ptr_equal(gpu.running[guest.id]->pgpu_context, context);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(gpu.contexts_created, 1);
}

static void engines_share_no_context(void **state)
{
	struct ghyvi_pgpu_context *render = run(0);

	start_engine(GHYVI_BCS, GHYVI_BLITTER_BASE);
	assert_ptr_not_equal(run(0), render);
	assert_int_equal(gpu.contexts, 2);
}

static void another_image_at_the_address_is_another_context(void **state)
{
	*image_entry(LRCA(0)) = 0x5000 | 1;
	run(0);
	run(0);
	assert_int_equal(gpu.contexts_created, 1);
	*image_entry(LRCA(0)) = 0x6000 | 1;
	run(0);
	assert_int_equal(gpu.contexts_created, 2);
	assert_int_equal(gpu.contexts, 1);
	*image_entry(LRCA(0)) = 0x6000 | 3; /* not part of the address */
	run(0);
	assert_int_equal(gpu.contexts_created, 2);
}

static void resets_end_all_contexts(void **state)
{
	run(0);
	run(1);
	guest_reset(); /* of one engine: the guest goes on with its contexts */
	assert_int_equal(gpu.contexts, 2);
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	assert_int_equal(gpu.contexts, 0);
	reset_books();
	run(0);
	ghyvi_vgpu_reset_under_driver(vgpu);
	assert_int_equal(gpu.contexts, 0);
	run(0);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(gpu.contexts, 0);
}

/* The job is still on its way back when the guest's reset is complete. */
static void a_reset_does_not_destroy_the_context_of_a_job(void **state)
{
	run(1);
	submit_work(0);
	assert_int_equal(gpu.contexts, 2);
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	settle();
	assert_int_equal(gpu.contexts, 0);
	reset_books();
	run(0);
	assert_int_equal(gpu.contexts_created, 3);
}

/* The backend has room for two. What was not used for longer makes room, and keeps its state. */
static void a_context_makes_room_for_another_one(void **state)
{
	struct ghyvi_pgpu_context *first, *second;

	gpu.contexts_max = 2;
	first = run(0);
	second = run(1);
	assert_ptr_equal(run(0), first);
	start_engine(GHYVI_BCS, GHYVI_BLITTER_BASE);
	run(0);
	assert_int_equal(gpu.contexts_mapped, 2);
	assert_false(container_of(second, struct fake_context, base)->mapped);
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	assert_ptr_equal(run(0), first);
	assert_ptr_equal(run(1), second);
	assert_int_equal(jobs_of(second), 2);
	assert_int_equal(gpu.contexts, 3);
	assert_int_equal(gpu.contexts_created, 3);
	gpu.contexts_max = 0;
}

/* A guest can put contexts at any number of addresses. */
static void the_number_of_contexts_is_limited(void **state)
{
	unsigned int i;
	u32 lrca;

	run(0);
	for (i = 0; i < 2 * VGPU_CONTEXT_HANDLES_MAX; i++) {
		lrca = HIDDEN_START + 0x200000 + i * 0x1000;
		memcpy(fake_memory(lrca + 4096, 4096), fake_memory(LRCA(1) + 4096, 4096), 4096);
		poke(lrca + 4096 + 4 * GHYVI_CTX_RING_TAIL, 8);
		elsp((u64)0x1000 << 32 | lrca | 0x119, 0);
		assert_non_null(gpu.running[guest.id]);
		finish(guest.id, GHYVI_JOB_COMPLETE);
		assert_true(gpu.contexts <= VGPU_CONTEXT_HANDLES_MAX);
		if (i % 32 == 0) {
			reset_books();
			wr(guest.base + RING_CSB_POINTER, 0xffff0505);
			run(0);
		}
	}
	assert_int_equal(gpu.contexts, VGPU_CONTEXT_HANDLES_MAX);
	/* The one that was used now and then is the same as ever. */
	reset_books();
	wr(guest.base + RING_CSB_POINTER, 0xffff0505);
	assert_int_equal(jobs_of(run(0)), 2 + 2 * VGPU_CONTEXT_HANDLES_MAX / 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(a_context_keeps_its_state_across_jobs),
		RCS(a_preempted_job_keeps_its_context),
		RCS(engines_share_no_context),
		RCS(another_image_at_the_address_is_another_context),
		RCS(resets_end_all_contexts),
		RCS(a_reset_does_not_destroy_the_context_of_a_job),
		RCS(a_context_makes_room_for_another_one),
		RCS(the_number_of_contexts_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
