// SPDX-License-Identifier: GPL-2.0-only
/* The software pGPU behind the auditor: it executes what was audited, and nothing else. */
#include "softgpu_audited.h"

#define BAD_COMMAND MI(0x16, 0)
#define ROUNDS 500

static void audited_commands_run(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");

	/*
	 * A call, a chain, a loop that ends, the indirect context batch, and a ring that is
	 * extended.
	 */
	batch(rig->indirect, MI_LRI(1), GPR(3), 33, MI_NOOP);
	memset(rig->indirect + 16, 0, 48);
	rig->context[GHYVI_CTX_INDIRECT] = INDIRECT_GGTT | 1;
	batch(rig->batch, MI_BATCH_START | MI_SECOND_LEVEL, ADDRESS(BATCH2), MI_BATCH_START,
	      ADDRESS(BATCH3));
	batch(rig->batch2, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_END);
	batch(rig->batch3, MI_SRM, GPR(3), ADDRESS(DATA + 4), MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_STORE, ADDRESS(DATA + 8), 3);
	audit(rig, with);
	/* The guest rewrites what its kernel wrote. */
	batch(rig->indirect, BAD_COMMAND);
	batch(rig->ring, BAD_COMMAND, BAD_COMMAND, BAD_COMMAND, BAD_COMMAND, BAD_COMMAND);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 1);
	assert_int_equal(data32(rig, 4), 33);
	assert_int_equal(data32(rig, 8), 3);
	finish(rig, with);
}

/* MI_STORE_DATA_IMM with as many dwords as its length can say. */
static void the_longest_packet_runs(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");
	unsigned int i;

	batch(rig->batch, MI(0x20, 0x3ff), ADDRESS(DATA));
	for (i = 3; i < GHYVI_PACKET_DWORDS_MAX; i++)
		rig->batch[i] = i;
	rig->batch[i] = MI_BATCH_END;
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	audit(rig, with);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	for (i = 3; i < GHYVI_PACKET_DWORDS_MAX; i++)
		assert_int_equal(data32(rig, 4 * (i - 3)), i);
	finish(rig, with);
}

static void a_refused_command_stops_the_engine_before_it(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");

	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_END);
	batch(rig->batch2, MI_STORE, ADDRESS(DATA + 4), 2, BAD_COMMAND);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_NOOP, MI_BATCH_START, ADDRESS(BATCH2));
	audit(rig, with);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(data32(rig, 0), 1);
	assert_int_equal(data32(rig, 4), 0);
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], 16);
	assert_non_null(strstr(rig_reason(rig), "unknown-command"));
	finish(rig, with);
}

/* The first command of the ring reaches a batch that only the second seemed to start. */
static void a_joined_batch_runs_only_if_its_rest_is_audited(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");

	batch(rig->batch, MI_NOOP, MI_BATCH_START, ADDRESS(BATCH2 + 8));
	batch(rig->batch2, MI_NOOP, MI_NOOP, MI_NOOP, MI_BATCH_START | MI_SECOND_LEVEL,
	      ADDRESS(BATCH3), MI_STORE, ADDRESS(DATA), 1, MI_BATCH_END);
	batch(rig->batch3, MI_STORE, ADDRESS(DATA + 4), 2, BAD_COMMAND);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_NOOP, MI_BATCH_START, ADDRESS(BATCH2),
	     MI_NOOP);
	audit(rig, with);
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(rig->context[GHYVI_CTX_RING_HEAD], 0);
	assert_int_equal(data32(rig, 0) + data32(rig, 4), 0);
	finish(rig, with);
}

#define OLD_GGTT (RING_GGTT + 0x3000)

/*
 * Pages of the submission before serve again; what could not be read must not have what they held.
 */
static void stale_copies_do_not_run(struct rig *rig, const char *mode)
{
	struct ghyvi_audit *with = make_audit(rig, mode);
	unsigned int i;

	for (i = 0x1000; i < 0x4000; i += 0x1000)
		batch(rig->ring + i, MI_STORE, ADDRESS(DATA), 0x5ec7e7, MI_BATCH_END);
	ring(rig, MI_STORE, ADDRESS(DATA), 0x5ec7e7, MI_BATCH_START_GGTT,
	     ADDRESS(RING_GGTT + 0x1000), MI_BATCH_START_GGTT, ADDRESS(RING_GGTT + 0x2000),
	     MI_BATCH_START_GGTT, ADDRESS(OLD_GGTT), MI_NOOP);
	audit(rig, with);
	ghyvi_commands_free(rig->job.commands);
	memset(rig->ring, 0, RING_BYTES);
	rig->tail = 0;
	rig->job.budget_ns = NSEC_PER_SEC; /* stale commands could go on for ever */
	batch(rig->ring + 0x1000, MI_NOOP, MI_BATCH_START_GGTT, ADDRESS(RING_GGTT + 0x2000 + 8));
	batch(rig->ring + 0x2000, MI_NOOP, MI_NOOP, MI_NOOP, MI_BATCH_START_GGTT,
	      ADDRESS(HOLE_GGTT));
	ring(rig, MI_BATCH_START_GGTT, ADDRESS(RING_GGTT + 0x1000), MI_NOOP, MI_BATCH_START_GGTT,
	     ADDRESS(RING_GGTT + 0x2000), MI_NOOP);
	audit(rig, with);
	assert_non_null(strstr(rig_reason(rig), "unmapped"));
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_int_equal(data32(rig, 0), 0);
	finish(rig, with);
}

static void unreadable_commands_do_not_run(void **state)
{
	stale_copies_do_not_run(*state, "privileged");
}

static void unreadable_commands_do_not_run_in_log_mode(void **state)
{
	stale_copies_do_not_run(*state, "log");
}

/* Stores of the guest to the ring, while its workload is preempted, have no effect either. */
static void a_preempted_job_goes_on_with_what_was_audited(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");
	unsigned int i;

	batch(rig->batch, MI_BATCH_START | MI_SECOND_LEVEL, ADDRESS(BATCH2), MI_STORE,
	      ADDRESS(DATA + 12), 3, MI_BATCH_END);
	batch(rig->batch2, MI_STORE, ADDRESS(DATA + 4), 1, MI_SEMAPHORE(4), 1, ADDRESS(DATA),
	      MI_STORE, ADDRESS(DATA + 8), 2, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH), MI_STORE, ADDRESS(DATA + 16), 4);
	audit(rig, with);
	rig_start(rig);
	while (!data32(rig, 4))
		sched_yield();
	rig_preempt(rig);
	for (i = 0; i < 64; i++)
		((u32 *)rig->ring)[i] = BAD_COMMAND;
	*(u32 *)rig->data = 1;
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 8), 2);
	assert_int_equal(data32(rig, 12), 3);
	assert_int_equal(data32(rig, 16), 4);
	finish(rig, with);
}

static void user_batches_come_from_memory_in_privileged_mode(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "privileged");

	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	audit(rig, with);
	batch(rig->batch, MI_STORE, ADDRESS(DATA), 5, MI_BATCH_END);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 5);
	finish(rig, with);
}

static void assert_changed(struct rig *rig)
{
	assert_int_equal(rig_run(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), "the batch was changed after its submission"));
	assert_int_equal(atomic64_read(&rig->stats.audit_rejects), 1);
	assert_int_equal(data32(rig, 0), 0);
}

static void a_batch_that_rewrites_its_commands_ends_with_a_reason(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");

	batch(rig->batch, MI_STORE, ADDRESS(BATCH + 16), BAD_COMMAND, MI_STORE, ADDRESS(DATA), 7,
	      MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	audit(rig, with);
	assert_changed(rig);
	finish(rig, with);
}

/* As a call does: it stores the address to return to into the callee's last command. */
static void a_batch_that_stores_a_jump_ends_with_a_reason(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");

	batch(rig->batch, MI_STORE_QWORD, ADDRESS(BATCH2 + 8), ADDRESS(BATCH3), MI_BATCH_START,
	      ADDRESS(BATCH2));
	batch(rig->batch2, MI_NOOP, MI_BATCH_START, ADDRESS(BATCH2 + 16), MI_STORE, ADDRESS(DATA),
	      1, MI_BATCH_END);
	batch(rig->batch3, MI_STORE, ADDRESS(DATA), 2, MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	audit(rig, with);
	assert_changed(rig);
	finish(rig, with);
}

static void a_batch_that_a_cpu_changes_ends_with_a_reason(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");

	/* A loop, and the store that is to end it. */
	batch(rig->batch, MI_STORE, ADDRESS(DATA + 4), 1, MI_BATCH_START, ADDRESS(BATCH));
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	audit(rig, with);
	rig_start(rig);
	while (!data32(rig, 4))
		sched_yield();
	WRITE_ONCE(rig->batch[0], MI_BATCH_END);
	assert_int_equal(rig_wait(rig), GHYVI_JOB_ERROR);
	assert_non_null(strstr(rig_reason(rig), "the batch was changed after its submission"));
	finish(rig, with);
}

static void data_beside_the_commands_of_a_batch_may_change(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");

	batch(rig->batch, MI_STORE, ADDRESS(BATCH + 20), 6, MI_BATCH_END, 5, MI_NOOP);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	audit(rig, with);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(rig->batch[5], 6);
	finish(rig, with);
}

/* The auditor has copied what the engine executes: the batch of the PPGTT. */
static void a_start_without_the_ppgtt_bit_is_audited_where_it_leads(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");
	unsigned int second;

	for (second = 0; second <= 1; second++) {
		rig_reset(rig);
		batch(rig->batch, MI_BATCH_START_GGTT | (second ? MI_SECOND_LEVEL : 0),
		      ADDRESS(BATCH2), MI_BATCH_END);
		batch(rig->batch2, MI_STORE, ADDRESS(DATA), 5 + second, MI_BATCH_END);
		ring(rig, MI_BATCH_START, ADDRESS(BATCH));
		audit(rig, with);
		assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
		assert_int_equal(data32(rig, 0), 5 + second);
		ghyvi_commands_free(rig->job.commands);
	}
	rig->job.commands = NULL;
	assert_int_equal(atomic64_read(&rig->stats.audit_rejects), 0);
	finish(rig, with);
}

static void changed_user_batches_run_in_log_mode(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "log");

	batch(rig->batch, MI_STORE, ADDRESS(BATCH + 28), 8, MI_STORE, ADDRESS(DATA), 7,
	      MI_BATCH_END);
	ring(rig, MI_BATCH_START, ADDRESS(BATCH));
	audit(rig, with);
	assert_int_equal(rig_run(rig), GHYVI_JOB_COMPLETE);
	assert_int_equal(data32(rig, 0), 8);
	finish(rig, with);
}

static int rewriting;

/* Another CPU of the guest: a store of 1 becomes the start of a batch that is not mapped. */
static void *rewrite(void *data)
{
	u32 *batch = data;

	while (READ_ONCE(rewriting)) {
		WRITE_ONCE(batch[0], MI_BATCH_START_GGTT);
		WRITE_ONCE(batch[3], 2);
		WRITE_ONCE(batch[0], MI_STORE);
		WRITE_ONCE(batch[3], 1);
	}
	return NULL;
}

/*
 * The audit reads either state. The batch runs completely, or the auditor refuses it; the engine
 * never finds a bad command.
 */
static void changing_batches_have_no_effect_once_audited(void **state)
{
	struct rig *rig = *state;
	struct ghyvi_audit *with = make_audit(rig, "full");
	enum ghyvi_job_status status;
	unsigned int i, ran = 0;
	pthread_t thread;
	s64 refused;

	batch(rig->batch, MI_STORE, ADDRESS(DATA), 1, MI_BATCH_END);
	rewriting = 1;
	assert_int_equal(pthread_create(&thread, NULL, rewrite, rig->batch), 0);
	for (i = 0; i < ROUNDS; i++) {
		rig_reset(rig);
		ring(rig, MI_BATCH_START, ADDRESS(BATCH));
		refused = atomic64_read(&rig->stats.audit_rejects);
		audit(rig, with);
		status = rig_run(rig);
		assert_int_equal(status == GHYVI_JOB_ERROR,
				 atomic64_read(&rig->stats.audit_rejects) > refused);
		ran += status == GHYVI_JOB_COMPLETE;
		ghyvi_commands_free(rig->job.commands);
		rig->job.commands = NULL;
	}
	WRITE_ONCE(rewriting, 0);
	pthread_join(thread, NULL);
	assert_true(ran);
	finish(rig, with);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(audited_commands_run),
		RIG_TEST(the_longest_packet_runs),
		RIG_TEST(a_refused_command_stops_the_engine_before_it),
		RIG_TEST(a_joined_batch_runs_only_if_its_rest_is_audited),
		RIG_TEST(unreadable_commands_do_not_run),
		RIG_TEST(unreadable_commands_do_not_run_in_log_mode),
		RIG_TEST(a_preempted_job_goes_on_with_what_was_audited),
		RIG_TEST(user_batches_come_from_memory_in_privileged_mode),
		RIG_TEST(a_batch_that_rewrites_its_commands_ends_with_a_reason),
		RIG_TEST(a_batch_that_stores_a_jump_ends_with_a_reason),
		RIG_TEST(a_batch_that_a_cpu_changes_ends_with_a_reason),
		RIG_TEST(data_beside_the_commands_of_a_batch_may_change),
		RIG_TEST(a_start_without_the_ppgtt_bit_is_audited_where_it_leads),
		RIG_TEST(changed_user_batches_run_in_log_mode),
		RIG_TEST(changing_batches_have_no_effect_once_audited),
	};

	shim_quiet = true;
	return cmocka_run_group_tests_name("softgpu behind the auditor", tests, NULL, NULL);
}
