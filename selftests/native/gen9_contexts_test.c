// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: their numbers, what their images ask for, and a status event that comes late.
 */
#include "gen9_driver.h"

/* A guest decides how many contexts there ever are. The emulator reports reserved bits. */
static void ids_of_contexts_stay_in_their_field(void **state)
{
	struct ghyvi_pgpu_context **context = &guests[0].context[GHYVI_BCS];
	unsigned int i;

	for (i = 0; i <= 1u << 16; i++) {
		ops->context_destroy(*context);
		*context = ops->context_create(guests[0].client, GHYVI_BCS,
					       IMAGE(GHYVI_BCS) + guests[0].base);
		assert_false(IS_ERR(*context));
	}
	expect_working(GHYVI_BCS);
}

static void render_contexts_request_all_execution_units(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	const u32 *image = gen9_state(gen9_context(job->base.pgpu_context));

	RINGS(job, NOOP, NOOP);
	run_once(job);
	assert_int_equal(image[CTX_R_PWR_CLK_STATE], 0x20c8);
	assert_int_equal(image[CTX_R_PWR_CLK_STATE + 1], 0x80000088); /* as i915 */
	job_free(job);
}

static void run_again(struct test_job *job)
{
	ghyvi_commands_free(job->base.commands);
	job->base.commands = NULL;
	memset(job->base.backend, 0, ops->job_bytes);
	run_once(job);
}

static u32 blitter_control(struct test_job *job)
{
	RINGS(job, SRM_GGTT, BCS_SWCTRL, DATA + job->guest->base, 0);
	run_again(job);
	return at(job->guest, DATA) & 0xffff;
}

/* Its place in the image is that of the power state in an image of the render engine. */
static void each_context_has_its_own_tiling_of_blits(void **state)
{
	struct test_job *jobs[] = { job_new(&guests[0], GHYVI_BCS),
				    job_new(&guests[1], GHYVI_BCS) };

	RINGS(jobs[0], LRI(1), BCS_SWCTRL, 0x00030001, NOOP);
	run_once(jobs[0]);
	jobs[1]->base.restore = false; /* a new context */
	assert_int_equal(blitter_control(jobs[1]), 0);
	jobs[1]->base.restore = true;
	RINGS(jobs[1], LRI(1), BCS_SWCTRL, 0x00030002, NOOP);
	run_again(jobs[1]);
	assert_int_equal(blitter_control(jobs[0]), 1);
	assert_int_equal(blitter_control(jobs[1]), 2);
	job_free(jobs[0]);
	job_free(jobs[1]);
}

/* What hardware has written to the status page of an engine is taken back, and comes later. */
static struct late_event {
	u64 entries[GEN8_CSB_ENTRIES];
	u32 pointer;
} late_event;

static void take_back_event(struct gen9_engine *engine, bool pointer)
{
	u64 *entries = (u64 *)((u8 *)engine->status->cpu + HWSP_CSB);
	u32 *write = engine->status->cpu + HWSP_CSB_WRITE / 4, i;

	memcpy(late_event.entries, entries, sizeof(late_event.entries));
	late_event.pointer = *write;
	for (i = engine->csb_head; i != late_event.pointer; i = (i + 1) % GEN8_CSB_ENTRIES)
		entries[(i + 1) % GEN8_CSB_ENTRIES] = ~0ull;
	if (pointer)
		*write = engine->csb_head;
}

static void give_event(struct gen9_engine *engine)
{
	memcpy((u8 *)engine->status->cpu + HWSP_CSB, late_event.entries,
	       sizeof(late_event.entries));
	engine->status->cpu[HWSP_CSB_WRITE / 4] = late_event.pointer;
}

/*
 * The event of the end of a job arrives after its interrupt. Its entry in the register is not the
 * one that counts: an older one would stay behind in the page, and be taken for one a lap later.
 */
static void late_status_event_is_waited_for(void **state)
{
	struct gen9_engine *engine = engine_of(GHYVI_BCS);
	const struct emu_engine *hardware = &gen9_shim_emu.engines[GHYVI_BCS];
	struct emu_adversary *adversary = &gen9_shim_emu.adversary;
	const u32 modes = adversary->modes;
	unsigned int round, i;
	u64 began;

	adversary->modes &= ~BIT(EMU_LATE_CSB); /* what is late here is for the test to say */
	for (round = 0; round < 4 * GEN8_CSB_ENTRIES; round++) {
		struct test_job *job = waiting_job(&guests[0], GHYVI_BCS);

		start(job);
		pump(20);
		for (i = 0; i < 100000 && engine->csb_head != hardware->csb_write; i++)
			pump(1); /* adversaries delay interrupts */
		assert_int_equal(engine->csb_head, hardware->csb_write);
		release_guest(&guests[0]);
		for (i = 0; i < 100000 && hardware->state != EMU_IDLE; i++)
			gen9_shim_step();
		assert_int_not_equal(engine->csb_head, hardware->csb_write);
		take_back_event(engine, round % 2);
		pump(20);
		assert_int_equal(job->status, -1);
		give_event(engine);
		began = ktime_get_ns(); /* no interrupt comes any more */
		finish(job, GHYVI_JOB_COMPLETE);
		assert_true(ktime_get_ns() - began <
			    (gen9_shim_emu.adversary.modes ? 50 : 5) * NSEC_PER_MSEC);
		job_free(job);
	}
	adversary->modes = modes;
}

/* gen9_contexts_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(ids_of_contexts_stay_in_their_field),
		TEST(render_contexts_request_all_execution_units),
		TEST(each_context_has_its_own_tiling_of_blits),
		TEST(late_status_event_is_waited_for),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
