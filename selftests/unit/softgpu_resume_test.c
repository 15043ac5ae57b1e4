// SPDX-License-Identifier: GPL-2.0-only
/*
 * Positions at which a job can be preempted: in the indirect context batch, and between the bands
 * of a blit. Each preempted job goes through its state, as if the vGPU migrated, before it goes on.
 */
#include "softgpu_audited.h"

#define ALU(op, a, b) ((u32)(op) << 20 | (a) << 10 | (b))
#define COUNT \
	MI(0x1a, 3), ALU(0x80, 0x20, 0), ALU(0x80, 0x21, 1), ALU(0x100, 0, 0), ALU(0x180, 0, 0x31)
#define COUNT_DWORDS 9
#define LINES 63
#define COUNTS (LINES * 16 / COUNT_DWORDS)
#define MOST_ROUNDS 20000
#define WANTED 20

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

/* Preempt the job up to @most_ns after its start, and again, until it is complete. */
static void preempt_to_the_end(struct rig *rig, u64 most_ns, bool (*looked_for)(struct rig *rig),
			       unsigned int *found)
{
	enum ghyvi_job_status status;
	u64 until;

	do {
		rig_start(rig);
		until = ktime_get_ns() + rand() % most_ns;
		while (ktime_get_ns() < until)
			;
		softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		status = rig_wait(rig);
		if (status != GHYVI_JOB_PREEMPTED)
			break;
		*found += looked_for(rig);
		assert_int_equal(travel(rig), 0);
	} while (true);
	assert_int_equal(status, GHYVI_JOB_COMPLETE);
}

/* Each command of the batch counts and stores. */
static void write_indirect(struct rig *rig)
{
	unsigned int i;

	memset(rig->indirect, 0, PAGE_SIZE);
	for (i = 0; i < COUNTS; i++)
		batch((u32 *)rig->indirect + COUNT_DWORDS * i, COUNT, MI_SRM, GPR(0),
		      ADDRESS(DATA + 4 * i));
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
	unsigned int i, found = 0, round;

	with = make_audit(rig, "full");
	for (round = 0; round < MOST_ROUNDS && found < WANTED; round++) {
		rig_reset(rig);
		memset(rig->data, 0, PAGE_SIZE);
		write_indirect(rig);
		ring(rig, MI_STORE, ADDRESS(DATA + 4 * COUNTS), 99);
		audit(rig, with);
		preempt_to_the_end(rig, 60000, within_indirect, &found);
		for (i = 0; i < COUNTS; i++)
			assert_int_equal(data32(rig, 4 * i), i + 1);
		assert_int_equal(data32(rig, 4 * COUNTS), 99);
		clear_job(rig);
	}
	assert_true(found >= WANTED);
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
				      i % COUNT_DWORDS == 0 || i % COUNT_DWORDS == 5 :
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
	unsigned int i, found = 0, round;
	u32 *pixels = (u32 *)rig->data;

	with = make_audit(rig, "full");
	rig->job.engine = GHYVI_BCS;
	for (round = 0; round < MOST_ROUNDS && found < WANTED; round++) {
		rig_reset(rig);
		write(rig);
		for (i = 0; i < ROWS * PITCH / 4; i++)
			pixels[i] = pixel_before(i / (PITCH / 4), i % (PITCH / 4));
		ring(rig, MI_BATCH_START, ADDRESS(BATCH));
		audit(rig, with);
		preempt_to_the_end(rig, 100000, within_blit, &found);
		assert_int_equal(rig->backend.rows, 0);
		for (i = 0; i < ROWS * PITCH / 4; i++)
			if (pixels[i] != pixel(i / (PITCH / 4), i % (PITCH / 4)))
				fail_msg("round %u, pixel %u of row %u", round, i % (PITCH / 4),
					 i / (PITCH / 4));
		clear_job(rig);
	}
	assert_true(found >= WANTED);
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
	do {
		rig_start(rig);
		softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		assert_int_equal(rig_wait(rig), GHYVI_JOB_PREEMPTED);
	} while (!rig->backend.level);
	do {
		softgpu_ops.run(softgpu_device(rig->gpu), &rig->job);
		usleep_range(1000, 1000);
		softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
		assert_int_equal(rig_wait(rig), GHYVI_JOB_PREEMPTED);
	} while (!rig->backend.rows);
	assert_in_range(rig->backend.rows, 1, 65534);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(each_command_of_the_indirect_batch_runs_once),
		RIG_TEST(a_position_in_the_indirect_batch_is_checked),
		RIG_TEST(a_wait_in_the_indirect_batch_ends_the_job),
		RIG_TEST(each_row_of_a_blit_is_combined_once),
		RIG_TEST(each_row_of_a_blit_with_a_pattern_is_combined_once),
		RIG_TEST(a_copy_that_overlaps_goes_on_where_it_was),
		RIG_TEST(rows_that_are_done_are_checked),
		RIG_TEST(a_huge_blit_is_preempted_after_a_band),
	};

	return cmocka_run_group_tests_name("softgpu positions", tests, NULL, NULL);
}
