// SPDX-License-Identifier: GPL-2.0-only
/*
 * Positions at which a job can be preempted: in the indirect context batch, and between the bands
 * of a blit. Each preempted job goes through its state, as if the vGPU migrated, before it goes on.
 *
 * The engine's thread reads the clock when it begins a job, for each read of TIMESTAMP, and between
 * two slices of a job with a budget. The test's clock requests the preemption within a read whose
 * number the test chooses. So each position is reached, however slow the machine is.
 */
#include "softgpu_audited.h"

#define ALU(op, a, b) ((u32)(op) << 20 | (a) << 10 | (b))
#define READ_CLOCK MI_LRR, RCS + 0x358, GPR(2)
#define COUNT \
	MI(0x1a, 3), ALU(0x80, 0x20, 0), ALU(0x80, 0x21, 1), ALU(0x100, 0, 0), ALU(0x180, 0, 0x31)
#define COUNT_DWORDS 15 /* with a store and two reads of the clock */
#define LINES 63
#define COUNTS (LINES * 16 / COUNT_DWORDS)
#define FIRST_READ 2 /* read 1 is before the first command */
#define MOST_RUNS (4 * COUNTS)
#define BUDGET_NS (3600ULL * NSEC_PER_SEC)

static struct ghyvi_audit *with;

static void clear_job(struct rig *rig)
{
	memset(&rig->backend, 0, sizeof(rig->backend));
	ghyvi_commands_free(rig->job.commands);
	rig->job.commands = NULL;
}

/* Save the job's position and load it again. Returns what softgpu_job_load() returns. */
static int travel(struct rig *rig)
{
	u64 state[SOFTGPU_JOB_STATE_BYTES / 8];

	softgpu_job_save(&rig->job, state);
	memset(&rig->backend, 0, sizeof(rig->backend));
	return softgpu_job_load(&rig->job, state);
}

static struct rig *preempted;
static unsigned int reads_left; /* until the preemption; 0: there is none */

/* While a job runs, only the engine's thread reads the clock. */
static u64 preempting_clock(void)
{
	static u64 now;

	if (reads_left && !--reads_left)
		softgpu_ops.preempt(softgpu_device(preempted->gpu), &preempted->job);
	now += NSEC_PER_USEC;
	return now;
}

static int setup(void **state)
{
	shim_clock = preempting_clock;
	return rig_setup(state);
}

static int teardown(void **state)
{
	int err = rig_teardown(state);

	shim_clock = NULL;
	return err;
}

/* Run the job, and preempt it within read @read of the clock. */
static enum ghyvi_job_status run_to_read(struct rig *rig, unsigned int read)
{
	enum ghyvi_job_status status;

	preempted = rig;
	reads_left = read;
	status = rig_run(rig);
	reads_left = 0;
	return status;
}

/* Preempt the job within read @read of each run, until it is complete. */
static void preempt_to_the_end(struct rig *rig, unsigned int read,
			       bool (*looked_for)(struct rig *rig), unsigned int *found)
{
	enum ghyvi_job_status status;
	unsigned int runs = 0;

	while ((status = run_to_read(rig, read)) == GHYVI_JOB_PREEMPTED) {
		*found += looked_for(rig);
		assert_int_equal(travel(rig), 0);
		assert_true(++runs < MOST_RUNS); /* each run makes progress */
	}
	assert_int_equal(status, GHYVI_JOB_COMPLETE);
}

/* Each command of the batch counts and stores. */
static void write_indirect(struct rig *rig)
{
	unsigned int i;

	memset(rig->indirect, 0, PAGE_SIZE);
	for (i = 0; i < COUNTS; i++)
		batch((u32 *)rig->indirect + COUNT_DWORDS * i, COUNT, READ_CLOCK, MI_SRM, GPR(0),
		      ADDRESS(DATA + 4 * i), READ_CLOCK);
	rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | LINES;
	rig->context[GHYVI_CTX_GPR] = 0;
	rig->context[GHYVI_CTX_GPR + 4] = 1; /* GPR 1 */
}

static bool within_indirect(struct rig *rig)
{
	return rig->backend.indirect && rig->backend.batches[0].address > INDIRECT_GGTT;
}

static void each_command_of_the_indirect_batch_runs_once(void **state)
{
	struct rig *rig = *state;
	unsigned int i, found, read = FIRST_READ;

	with = make_audit(rig, "full");
	do {
		found = 0;
		rig_reset(rig);
		memset(rig->data, 0, PAGE_SIZE);
		write_indirect(rig);
		ring(rig, MI_STORE, ADDRESS(DATA + 4 * COUNTS), 99);
		audit(rig, with);
		preempt_to_the_end(rig, read, within_indirect, &found);
		for (i = 0; i < COUNTS; i++)
			assert_int_equal(data32(rig, 4 * i), i + 1);
		assert_int_equal(data32(rig, 4 * COUNTS), 99);
		clear_job(rig);
		/* Two reads for each count, and one at the beginning of each run. */
		assert_int_equal(found, 2 * COUNTS / (read - 1));
	} while (read++ <= 2 * COUNTS);
	assert_int_equal(found, 1);
	finish(rig, with);
}

/* The state comes from user space: only positions where commands begin are accepted. */
static void a_position_in_the_indirect_batch_is_checked(void **state)
{
	struct rig *rig = *state;
	struct softgpu_job job;
	unsigned int i;
	u32 indirect;

	with = make_audit(rig, "full");
	write_indirect(rig);
	ring(rig, MI_STORE, ADDRESS(DATA + 4 * COUNTS), 99);
	audit(rig, with);
	rig->context[GHYVI_CTX_RING_TAIL] = rig->tail;
	for (i = 0; i <= LINES * 16 + 1; i++) {
		bool begins = i < COUNT_DWORDS * COUNTS ?
				      i % COUNT_DWORDS == 0 || i % COUNT_DWORDS == 5 ||
					      i % COUNT_DWORDS == 8 || i % COUNT_DWORDS == 12 :
				      i <= LINES * 16;

		rig->backend =
			(struct softgpu_job){ .begun = true,
					      .level = 1,
					      .indirect = true,
					      .known_tail = rig->tail,
					      .batches[0] = { INDIRECT_GGTT + 4 * i, true } };
		job = rig->backend;
		assert_int_equal(travel(rig), begins ? 0 : -EINVAL);
	}
	/* What is before the batch, and what no such position has. */
	job.batches[0].address = INDIRECT_GGTT;
	rig->backend = job;
	assert_int_equal(travel(rig), 0);
	rig->backend = job;
	rig->backend.batches[0].address = INDIRECT_GGTT - 4;
	assert_int_equal(travel(rig), -EINVAL);
	rig->backend = job;
	rig->backend.batches[0].ggtt = false;
	assert_int_equal(travel(rig), -EINVAL);
	rig->backend = job;
	rig->backend.level = 2;
	assert_int_equal(travel(rig), -EINVAL);
	rig->backend = job;
	rig->backend.begun = false;
	assert_int_equal(travel(rig), -EINVAL);
	rig->backend = job;
	rig->backend.rows = 1;
	assert_int_equal(travel(rig), -EINVAL);
	rig->job.engine = GHYVI_BCS;
	rig->backend = job;
	assert_int_equal(travel(rig), -EINVAL);
	rig->job.engine = GHYVI_RCS;
	/* Without a batch there is no position in it. */
	indirect = rig->context[GHYVI_CTX_INDIRECT];
	rig->context[GHYVI_CTX_INDIRECT] = 0;
	rig->backend = job;
	rig->backend.batches[0].address = 0;
	assert_int_equal(travel(rig), -EINVAL);
	rig->context[GHYVI_CTX_INDIRECT] = indirect;
	/* It goes on where the state says. */
	rig->backend = job;
	rig->backend.batches[0].address = INDIRECT_GGTT + 4 * COUNT_DWORDS * (COUNTS - 1);
	assert_int_equal(travel(rig), 0);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 4 * (COUNTS - 2)), 0);
	assert_int_equal(data32(rig, 4 * (COUNTS - 1)), 1);
	assert_int_equal(data32(rig, 4 * COUNTS), 99);
	finish(rig, with);
}

static void a_wait_in_the_indirect_batch_ends_the_job(void **state)
{
	struct rig *rig = *state;

	batch(rig->indirect, MI_SEMAPHORE(4) | MI_GGTT, 1, ADDRESS(DATA_GGTT));
	memset(rig->indirect + 16, 0, 48);
	rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | 1;
	ring(rig, MI_STORE, ADDRESS(DATA + 4), 1);
	assert_error(rig, "SEMAPHORE_WAIT in an indirect context batch");
}

#define PITCH 1024u
#define ROWS 240u
#define SHIFT 3u /* rows between source and destination of a copy that overlaps */
#define COLOR 0xa5c3f00fu
#define BLIT(opcode, dwords) (2u << 29 | (opcode) << 22 | 3 << 20 | ((dwords)-2))
#define BR13(rop) (3u << 24 | (rop) << 16 | PITCH)
#define CORNER(y, x) ((y) << 16 | (x))
#define LEAST_BANDS (ROWS * PITCH / SOFTGPU_SLICE_BYTES)

static u32 pixel_before(unsigned int row, unsigned int x)
{
	return row << 16 | x;
}

static void exclusive_or(struct rig *rig)
{
	batch(rig->batch, BLIT(0x50, 7), BR13(0x5au), CORNER(0, 0), CORNER(ROWS, PITCH / 4),
	      ADDRESS(DATA), COLOR, MI_BATCH_END);
}

/* Row by row, with a pattern of bits. */
static void exclusive_or_with_a_pattern(struct rig *rig)
{
	batch(rig->batch, BLIT(0x52, 10), BR13(0x5au), CORNER(0, 0), CORNER(ROWS, PITCH / 4),
	      ADDRESS(DATA), 0, COLOR, ~0u, ~0u, MI_BATCH_END);
}

static u32 xored(unsigned int row, unsigned int x)
{
	return pixel_before(row, x) ^ COLOR;
}

/* From the last row to the first: the destination is below the source. */
static void copy_down(struct rig *rig)
{
	batch(rig->batch, BLIT(0x53, 10), BR13(0xccu), CORNER(SHIFT, 0), CORNER(ROWS, PITCH / 4),
	      ADDRESS(DATA), CORNER(0, 0), PITCH, ADDRESS(DATA), MI_BATCH_END);
}

static u32 copied_down(unsigned int row, unsigned int x)
{
	return pixel_before(row < SHIFT ? row : row - SHIFT, x);
}

static bool within_blit(struct rig *rig)
{
	return rig->backend.rows;
}

static void blit_in_parts(struct rig *rig, void (*write)(struct rig *rig),
			  u32 (*pixel)(unsigned int row, unsigned int x))
{
	unsigned int i, found, read = FIRST_READ;
	u32 *pixels = (u32 *)rig->data;

	with = make_audit(rig, "full");
	rig->job.engine = GHYVI_BCS;
	rig->job.budget_ns = BUDGET_NS;
	do {
		found = 0;
		rig_reset(rig);
		write(rig);
		for (i = 0; i < ROWS * PITCH / 4; i++)
			pixels[i] = pixel_before(i / (PITCH / 4), i % (PITCH / 4));
		ring(rig, MI_BATCH_START, ADDRESS(BATCH));
		audit(rig, with);
		preempt_to_the_end(rig, read, within_blit, &found);
		assert_int_equal(rig->backend.rows, 0);
		for (i = 0; i < ROWS * PITCH / 4; i++)
			if (pixels[i] != pixel(i / (PITCH / 4), i % (PITCH / 4)))
				fail_msg("read %u, pixel %u of row %u", read, i % (PITCH / 4),
					 i / (PITCH / 4));
		clear_job(rig);
		assert_true(found || read > LEAST_BANDS);
	} while (read++ && found);
	finish(rig, with);
}

static void each_row_of_a_blit_is_combined_once(void **state)
{
	blit_in_parts(*state, exclusive_or, xored);
}

static void each_row_of_a_blit_with_a_pattern_is_combined_once(void **state)
{
	blit_in_parts(*state, exclusive_or_with_a_pattern, xored);
}

static void a_copy_that_overlaps_goes_on_where_it_was(void **state)
{
	blit_in_parts(*state, copy_down, copied_down);
}

static void rows_that_are_done_are_checked(void **state)
{
	struct rig *rig = *state;
	const u32 rows[] = { 0, 1, ROWS, ROWS + 1, SOFTGPU_ROWS_MAX, SOFTGPU_ROWS_MAX + 1, ~0u };
	u32 *pixels = (u32 *)rig->data;
	u32 saved[SOFTGPU_JOB_STATE_BYTES / 4];
	unsigned int i, row, ok;

	with = make_audit(rig, "full");
	rig->job.engine = GHYVI_BCS;
	exclusive_or(rig);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rig_reset(rig);
		memset(pixels, 0, ROWS * PITCH);
		ring(rig, MI_BATCH_START, ADDRESS(BATCH));
		audit(rig, with);
		rig->context[GHYVI_CTX_RING_TAIL] = rig->tail;
		rig->context[GHYVI_CTX_RING_HEAD] = rig->tail - 4;
		rig->backend = (struct softgpu_job){ .begun = true,
						     .level = 1,
						     .known_tail = rig->tail,
						     .rows = rows[i],
						     .batches[0] = { BATCH, false } };
		softgpu_ops.job_save(&rig->job, saved);
		/* More than 1 is refused by ghyvi that would begin the blit again. */
		assert_int_equal(saved[0], rows[i] ? 2 : 1);
		saved[0] ^= 3;
		assert_int_equal(softgpu_ops.job_load(&rig->job, saved), -EINVAL);
		ok = rows[i] <= SOFTGPU_ROWS_MAX;
		assert_int_equal(travel(rig), ok ? 0 : -EINVAL);
		if (ok) {
			assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
			for (row = 0; row < ROWS; row++)
				assert_int_equal(pixels[row * PITCH / 4],
						 row < rows[i] ? 0 : COLOR);
		}
		clear_job(rig);
	}
	finish(rig, with);
}

/* A wait for the next band is a wait for 2 MiB at most, whatever the blit's size. */
static void a_huge_blit_is_preempted_after_a_band(void **state)
{
	struct rig *rig = *state;

	rig->job.engine = GHYVI_BCS;
	batch(rig->batch, BLIT(0x50, 7), 3u << 24 | 0xf0u << 16, CORNER(0x8000u, 0x8000u),
	      CORNER(0x7fffu, 0x8100u), ADDRESS(DATA + 0x20000), COLOR, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	rig->job.budget_ns = BUDGET_NS;
	assert_int_equal(run_to_read(rig, FIRST_READ), GHYVI_JOB_PREEMPTED);
	assert_in_range(rig->backend.rows, 1, 2048);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_command_of_the_indirect_batch_runs_once),
		TEST(a_position_in_the_indirect_batch_is_checked),
		TEST(a_wait_in_the_indirect_batch_ends_the_job),
		TEST(each_row_of_a_blit_is_combined_once),
		TEST(each_row_of_a_blit_with_a_pattern_is_combined_once),
		TEST(a_copy_that_overlaps_goes_on_where_it_was),
		TEST(rows_that_are_done_are_checked),
		TEST(a_huge_blit_is_preempted_after_a_band),
	};

	return cmocka_run_group_tests_name("softgpu positions", tests, NULL, NULL);
}
