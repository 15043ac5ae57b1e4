// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver finds, checks and writes when it takes a GPU: the self-test, workarounds, the
 * report of both, and GPUs that it refuses.
 */
#include "gen9_driver.h"

/* ---- translation ---- */

#define LARGE_VA (USER_BATCH + (2u << 20))

static void large_entries_are_used_without_the_gtt_cache(void **state)
{
	struct test_job *job = job_new(&guests[0], GHYVI_RCS);
	u64 start_of_ram = gen9_shim_emu.ram.regions[0].start;

	guests[0].tables[2][1] = start_of_ram | GHYVI_ENTRY_LARGE | GHYVI_ENTRY_PRESENT;
	RINGS(job, MI(0x29, 2), 0x2600, LO(LARGE_VA), HI(LARGE_VA));
	run_once(job);
	job_free(job);
	assert_int_equal(oracle_violations(), 1); /* the page is the host's */
}

/* ---- the self-test ---- */

/* As if engines did not look at the right to write. */
static void make_scratch_writable(u32 offset, u32 value)
{
	struct gen9 *gpu = pci_get_drvdata(&pdev);
	u64 *entries = page_address(gpu->scratch[1].page);
	unsigned int i;

	if (offset != GHYVI_BLITTER_BASE + RING_ELSP)
		return;
	for (i = 0; i < GHYVI_ENTRIES; i++)
		entries[i] |= GHYVI_ENTRY_WRITE;
}

/* As if accesses to the PPGTT went to the GGTT. */
static void map_ppgtt_to_ggtt(u32 offset, u32 value)
{
	struct gen9 *gpu = pci_get_drvdata(&pdev);
	u64 *entries = page_address(gpu->scratch[1].page);
	unsigned int i;

	if (offset != GHYVI_BLITTER_BASE + RING_ELSP)
		return;
	for (i = 0; i < GHYVI_ENTRIES; i++)
		entries[i] = gpu->engines[GHYVI_BCS].kernel_context->ring->backing[0].dma |
			     GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
}

static void expect_refusal(int error)
{
	assert_int_equal(gen9_shim_driver->probe(&pdev, gen9_shim_driver->id_table), error);
}

/* Expect that a probe fails during which each store calls @defect, and that one without passes. */
static void expect_refusal_with(void **state, void (*defect)(u32 offset, u32 value))
{
	tear_down(state);
	gen9_shim_written = defect;
	expect_refusal(-EIO);
	gen9_shim_written = NULL;
	set_up(state);
}

static void store_that_must_be_lost_is_found(void **state)
{
	void (*const defects[])(u32 offset, u32 value) = { make_scratch_writable,
							   map_ppgtt_to_ggtt };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(defects); i++)
		expect_refusal_with(state, defects[i]);
}

/* As if the render engine executed no indirect context batch. */
static void lose_restore_batch(u32 offset, u32 value)
{
	struct gen9 *gpu = pci_get_drvdata(&pdev);

	if (offset == GHYVI_RENDER_BASE + RING_ELSP)
		gen9_state(gpu->engines[GHYVI_RCS].kernel_context)[GHYVI_CTX_INDIRECT] = 0;
}

static void restore_without_the_hosts_batch_is_found(void **state)
{
	expect_refusal_with(state, lose_restore_batch);
}

/* ---- workarounds ---- */

static void lose_workaround(u32 offset, u32 value)
{
	*emu_reg(&gen9_shim_emu, GAM_ECOCHK) = 0;
}

static void register_that_does_not_keep_its_value_is_found(void **state)
{
	assert_int_equal(gen9_workarounds_verify(gen9_of(pgpu)), 0);
	expect_refusal_with(state, lose_workaround);
}

static void lose_multicast_workaround(u32 offset, u32 value)
{
	if (offset == GEN8_GARBCNTL)
		*emu_reg(&gen9_shim_emu, offset) = 0;
}

/* The read may come from a unit that is fused off. */
static void multicast_register_that_reads_as_another_value_is_tolerated(void **state)
{
	tear_down(state);
	gen9_shim_written = lose_multicast_workaround;
	assert_int_equal(set_up(state), 0);
	gen9_shim_written = NULL;
	tear_down(state);
	memset(gen9_shim_emu.violations, 0, sizeof(gen9_shim_emu.violations));
	set_up(state);
}

/* The lists of an image go on to its end, and contain what guests rely on. */
static void lists_of_saved_registers_are_complete(void **state)
{
	unsigned int i, k;
	u32 offset;

	for (i = 0; i < GHYVI_ENGINES; i++) {
		const struct gen9_engine *engine = engine_of(i);

		assert_int_equal(engine->default_state[engine->saved_end], MI_BATCH_BUFFER_END);
		for (k = 0; (offset = gen9_needed_register(engine, k)); k++)
			assert_non_null(gen9_saved_find(engine, offset));
		assert_in_range(k, i == GHYVI_RCS ? 32 + 10 : 32, i == GHYVI_RCS ? 32 + 20 : 32);
	}
}

static void report_has(const char *text)
{
	if (!strstr(gen9_shim_report, text))
		fail_msg("no \"%s\" in:\n%.4000s", text, gen9_shim_report);
}

/* Read the image of @engine from the report: lines of an index and eight dwords. */
static void assert_report_has_image(const struct gen9_engine *engine)
{
	u32 *state = calloc(gen9_state_dwords(engine), sizeof(*state)), at, d[8];
	const char *line;
	char head[64];

	snprintf(head, sizeof(head), "\n%s: the default image", ghyvi_engine_name(engine->id));
	line = strstr(gen9_shim_report, head);
	assert_non_null(line);
	for (line = strchr(line + 1, '\n'); line && line[1] != '\n';
	     line = strchr(line + 1, '\n')) {
		if (sscanf(line, "%x %x %x %x %x %x %x %x %x", &at, d, d + 1, d + 2, d + 3, d + 4,
			   d + 5, d + 6, d + 7) != 9)
			break;
		assert_true(at + 8 <= gen9_state_dwords(engine));
		memcpy(state + at, d, sizeof(d));
	}
	assert_memory_equal(state, engine->default_state, gen9_state_dwords(engine) * sizeof(u32));
	free(state);
}

static void report_has_values_and_images(void **state)
{
	char text[128];
	unsigned int i;

	report_has("self-test: 0\n");
	snprintf(text, sizeof(text), "\nregister 0x%x: 0x", GEN8_GARBCNTL);
	report_has(text);
	report_has("\nrcs: the stored value: 0x67687976, expected 0x67687976: ok\n");
	report_has("\nbcs: what a blit to the PPGTT has left in the GGTT: 0x00000000, ");
	assert_null(strstr(gen9_shim_report, "wrong"));
	assert_null(strstr(gen9_shim_report, "not saved"));
	for (i = 0; i < GHYVI_ENGINES; i++)
		assert_report_has_image(engine_of(i));
}

static void report_of_a_failed_probe_says_what_was_wrong(void **state)
{
	char text[128];

	tear_down(state);
	gen9_shim_written = lose_workaround;
	expect_refusal(-EIO);
	gen9_shim_written = NULL;
	report_has("self-test: -5\n");
	snprintf(text, sizeof(text), "\nregister 0x%x: 0x00000000, expected 0x", GAM_ECOCHK);
	report_has(text);
	report_has(": wrong\n");
	report_has("vecs: the default image, in dwords: the test has not come to it\n");
	set_up(state);
	report_has_values_and_images(state);
}

#define NO_COMMAND 0xe0000000u

/* The list of registers is short then: nothing else would tell. */
static void unknown_command_in_an_image_is_reported(void **state)
{
	struct gen9_engine *engine = engine_of(GHYVI_RCS);
	u32 *header = gen9_state(engine->kernel_context) + CTX_LRI_HEADER_2, offset;
	char text[128];
	unsigned int i;

	assert_int_equal(*header, engine->default_state[CTX_LRI_HEADER_2]);
	*header = NO_COMMAND;
	vfree(engine->default_state);
	kvfree(engine->saved);
	assert_int_equal(gen9_context_record_default(engine, engine->kernel_context), 0);
	gen9_report_publish(gen9_of(pgpu), 0);
	snprintf(text, sizeof(text), "in dwords; %u registers, up to dword 0x%x: 0x%08x\n",
		 engine->nr_saved, CTX_LRI_HEADER_2, NO_COMMAND);
	report_has(text);
	for (i = 0; (offset = gen9_needed_register(engine, i)); i++) {
		snprintf(text, sizeof(text), "\nregister 0x%x is not saved\n", offset);
		report_has(text);
	}
	assert_in_range(i, 32 + 10, 32 + 20);
	tear_down(state);
	set_up(state);
}

static void probe_as(void **state, u16 device, u8 revision)
{
	tear_down(state);
	pdev.device = device;
	pdev.revision = revision;
	set_up(state);
}

/* Kaby Lake B0, C0 (revision 5, too), F0. */
static void workarounds_of_kaby_lake_follow_its_steppings(void **state)
{
	static const struct {
		u8 revision, poll;
		u32 clocks;
	} steppings[] = { { 1, 1, BIT(14) }, { 2, 1, 0 }, { 4, 0, 0 }, { 5, 1, 0 }, { 7, 0, 0 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steppings); i++) {
		*emu_reg(&gen9_shim_emu, GEN8_UCGCTL6) = 0;
		probe_as(state, 0x5912, steppings[i].revision);
		assert_int_equal(*emu_reg(&gen9_shim_emu, 0x22000 + RING_SEMA_WAIT_POLL),
				 steppings[i].poll);
		assert_int_equal(*emu_reg(&gen9_shim_emu, 0x2000 + RING_SEMA_WAIT_POLL), 0);
		assert_int_equal(*emu_reg(&gen9_shim_emu, GEN8_UCGCTL6), steppings[i].clocks);
	}
	*emu_reg(&gen9_shim_emu, GEN8_UCGCTL6) = 0;
	probe_as(state, 0x1912, 6);
}

/* WaToEnableHwFixForPushConstHWBug begins with the C0 stepping. */
static void replay_buffer_of_early_kaby_lake_is_left_alone(void **state)
{
	static const struct {
		u8 revision;
		u16 device;
		u32 bit;
	} gpus[] = {
		{ 0, 0x5912, 0 }, { 1, 0x5912, 0 }, { 2, 0x5912, BIT(8) }, { 0, 0x3e92, BIT(8) }
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gpus); i++) {
		const struct gen9_saved_register *chicken;
		struct gen9_engine *render;

		probe_as(state, gpus[i].device, gpus[i].revision);
		render = engine_of(GHYVI_RCS);
		chicken = gen9_saved_find(render, COMMON_SLICE_CHICKEN2);
		assert_int_equal(render->default_state[chicken->dword] & BIT(8), gpus[i].bit);
	}
	probe_as(state, 0x1912, 6);
}

/* User batches of three engines are not audited, and a former driver may have opened registers. */
static void slots_of_a_former_driver_are_cleared_on_each_engine(void **state)
{
	unsigned int i, slot;

	for (i = 0; i < GHYVI_ENGINES; i++)
		for (slot = 0; slot < RING_FORCE_TO_NONPRIV_SLOTS; slot++)
			*emu_reg(&gen9_shim_emu, ghyvi_engine_base(i) + 0x4d0 + 4 * slot) = 0x20c0;
	probe_as(state, 0x9bc5, 3);
	for (i = 0; i < GHYVI_ENGINES; i++)
		for (slot = i == GHYVI_RCS ? 5 : 1; slot < RING_FORCE_TO_NONPRIV_SLOTS; slot++)
			assert_int_equal(*emu_reg(&gen9_shim_emu,
						  ghyvi_engine_base(i) + 0x4d0 + 4 * slot),
					 ghyvi_engine_base(i) + 0x94);
	probe_as(state, 0x1912, 6);
}

static void batches_of_comet_lake_read_the_time_of_their_context(void **state)
{
	static const u32 bases[] = { 0x12000, 0x1a000, 0x22000 };
	unsigned int i;

	probe_as(state, 0x9bc5, 3);
	for (i = 0; i < ARRAY_SIZE(bases); i++)
		assert_int_equal(*emu_reg(&gen9_shim_emu, bases[i] + 0x4d0),
				 (bases[i] + RING_CTX_TIMESTAMP) | BIT(28));
	assert_int_equal(*emu_reg(&gen9_shim_emu, 0x24d0), GEN9_CTX_PREEMPT_REG);
	probe_as(state, 0x1912, 6);
	for (i = 0; i < ARRAY_SIZE(bases); i++)
		assert_int_equal(*emu_reg(&gen9_shim_emu, bases[i] + 0x4d0), bases[i] + 0x94);
}

/* ---- parameters ---- */

static void time_to_leave_has_bounds(void **state)
{
	static const struct {
		const char *text;
		int err;
	} values[] = { { "0", -EINVAL }, { "49", -EINVAL },    { "50", 0 },
		       { "60000", 0 },	 { "60001", -EINVAL }, { "-1", -EINVAL },
		       { "x", -EINVAL }, { "640", 0 },	       { "4294967295", -EINVAL } };
	const struct kernel_param *param = gen9_shim_param_preempt_timeout_ms;
	unsigned int i, before;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		before = gen9_preempt_timeout_ms;
		assert_int_equal(param->ops->set(values[i].text, param), values[i].err);
		assert_int_equal(gen9_preempt_timeout_ms,
				 values[i].err ? before : strtoul(values[i].text, NULL, 10));
	}
	assert_int_equal(gen9_preempt_timeout_ms, GEN9_PREEMPT_TIMEOUT_MS);
}

/* ---- functions that are refused ---- */

static void gpu_that_cannot_be_owned_is_refused(void **state)
{
	tear_down(state);
	gen9_shim_regions_error = -EBUSY; /* a framebuffer has the aperture */
	expect_refusal(-EBUSY);
	gen9_shim_regions_error = 0;
	gen9_shim_dma_max = 256 << 10; /* swiotlb=force */
	expect_refusal(-EOPNOTSUPP);
	gen9_shim_dma_max = SIZE_MAX;
	*emu_reg(&gen9_shim_emu, GUC_WOPCM_SIZE) = GUC_WOPCM_SIZE_LOCKED;
	expect_refusal(-EBUSY);
	*emu_reg(&gen9_shim_emu, GUC_WOPCM_SIZE) = 0;
	set_up(state);
}

/* gen9_probe_test [MODES SEED]: adversary modes of the emulator */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(large_entries_are_used_without_the_gtt_cache),
		TEST(store_that_must_be_lost_is_found),
		TEST(restore_without_the_hosts_batch_is_found),
		TEST(register_that_does_not_keep_its_value_is_found),
		TEST(multicast_register_that_reads_as_another_value_is_tolerated),
		TEST(lists_of_saved_registers_are_complete),
		TEST(report_has_values_and_images),
		TEST(report_of_a_failed_probe_says_what_was_wrong),
		TEST(unknown_command_in_an_image_is_reported),
		TEST(workarounds_of_kaby_lake_follow_its_steppings),
		TEST(replay_buffer_of_early_kaby_lake_is_left_alone),
		TEST(slots_of_a_former_driver_are_cleared_on_each_engine),
		TEST(batches_of_comet_lake_read_the_time_of_their_context),
		TEST(time_to_leave_has_bounds),
		TEST(gpu_that_cannot_be_owned_is_refused),
	};

	if (!parse_options(argc, argv))
		return 2;
	return run_all_tests(tests, ARRAY_SIZE(tests));
}
