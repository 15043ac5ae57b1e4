// SPDX-License-Identifier: GPL-2.0-only
/*
 * An engine with its thread, while the core does what it may do at any time: preempt and resume,
 * move the tail, cancel, invalidate translations, and unmap pages of nested jobs. Random programs
 * (unit/softgpu_program.h) must do what the second interpreter does, whatever happened; a job that
 * was cancelled writes nothing any more. With tables of three and four levels, pages of 2 MiB,
 * nested tables, the auditor, and both generations.
 *
 * The result does not depend on the time that the threads take, so a finding is real; to repeat it
 * may take several runs.
 *
 * Input: one byte of choices, four of the program's seed, then one byte for each action.
 */
#include "../unit/softgpu_audited.h"
#include "../unit/softgpu_program.h"
#include "input.h"

#define BUDGET_NS (10 * NSEC_PER_SEC)
#define ACTIONS_MAX 200
#define CHUNKS_MAX 200
#define LOW_DATA 0x200000ULL /* the low half of DATA, which tables of three levels translate */
#define GATE 0xc00 /* in the data: the ring waits here */
#define MARKS 0x1000 /* what the chunks of the ring store */

enum { GEN8 = 1, NESTED = 2, LARGE = 4, THREE_LEVELS = 8, AUDITED = 16, GATED = 32 };

struct bench {
	struct rig *rig;
	struct ghyvi_audit *audit;
	struct machine program;
	unsigned int chunks; /* in the ring, after the program */
};

static struct bench *bench_new(unsigned int choice)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct rig *rig = rig_new(choice & GEN8 ? 8 : 9);

	b->rig = rig;
	if (choice & LARGE)
		rig->data = rig_large(rig, DATA, GHYVI_ENTRY_WRITE);
	if (choice & LARGE)
		*rig_directory_entry(rig, LOW_DATA) = *rig_directory_entry(rig, DATA);
	else
		rig_map(rig, LOW_DATA, rig->data, DATA_PAGES, GHYVI_ENTRY_WRITE);
	if (choice & NESTED)
		rig_nest(rig);
	if (choice & THREE_LEVELS) {
		rig->job.levels = 3;
		if (choice & NESTED) {
			u64 *pdp = phys_to_virt(rig->guest_bus[rig->pml4[0] >> 12]);
			unsigned int i;

			for (i = 0; i < 4; i++)
				rig->job.guest_root[i] = pdp[i] & GHYVI_SHADOW_ADDRESS_MASK;
		} else {
			rig->job.root = rig->pml4[0] & GHYVI_SHADOW_ADDRESS_MASK;
		}
	}
	b->audit = make_audit(rig, "full");
	return b;
}

static void add_chunk(struct bench *b)
{
	u32 number = b->chunks++;

	ring(b->rig, MI_STORE, ADDRESS(DATA + MARKS + 4 * number), number + 1);
	ring_pad(b->rig);
}

/* Begin a workload from the ring's head on. */
static void start(struct bench *b, bool audited)
{
	struct rig *rig = b->rig;

	ghyvi_commands_free(rig->job.commands);
	rig->job.commands = NULL;
	memset(&rig->backend, 0, sizeof(rig->backend));
	if (audited)
		audit(rig, b->audit);
	rig_start(rig);
}

/* Returns false if the workload ends at its old tail. */
static bool move_tail(struct bench *b)
{
	struct rig *rig = b->rig;

	if (rig->job.commands && ghyvi_audit_extend(rig->job.commands, rig->tail))
		return false;
	return !softgpu_ops.update_tail(softgpu_device(rig->gpu), &rig->job, rig->tail);
}

static void unmap_page(struct rig *rig, u64 gfn)
{
	if (!rig->job.nested || gfn >= GUEST_PAGES)
		return;
	pthread_mutex_lock(&rig->gtt);
	rig_unmap_guest(rig, gfn);
	pthread_mutex_unlock(&rig->gtt);
}

/* Nothing is written after the call has returned. */
static void cancel(struct rig *rig)
{
	u8 before[PAGE_SIZE];
	unsigned int i;

	softgpu_ops.cancel(softgpu_device(rig->gpu), &rig->job);
	memcpy(before, rig->data, sizeof(before));
	for (i = 0; i < 4; i++)
		sched_yield();
	assert_memory_equal(before, rig->data, sizeof(before));
}

static void open_gate(struct rig *rig)
{
	WRITE_ONCE(*(u32 *)(rig->data + GATE), 1);
}

/*
 * Do actions until the input ends or the workload. Returns whether it was cancelled: then it may
 * have ended at any place.
 */
static bool disturb(struct bench *b)
{
	struct rig *rig = b->rig;
	unsigned int actions;
	bool extends = true;
	u32 action;

	for (actions = 0; input.left && actions < ACTIONS_MAX; actions++) {
		action = input_take(1);
		switch (action & 7) {
		case 0:
			sched_yield();
			break;
		case 1:
		case 2:
			softgpu_ops.invalidate(&rig->client, 1);
			break;
		case 3:
			softgpu_ops.preempt(softgpu_device(rig->gpu), &rig->job);
			break;
		case 4:
			if (b->chunks == CHUNKS_MAX)
				break;
			add_chunk(b);
			extends = extends && move_tail(b);
			break;
		case 5:
			unmap_page(rig, action >> 3);
			break;
		case 6:
			usleep_range(action >> 3, action >> 3);
			break;
		default:
			if (action == 0xff) {
				cancel(rig);
				return true;
			}
			if (action >= 0xf0)
				open_gate(rig);
		}
		if (sem_trywait(&rig->done))
			continue;
		if (rig->status != GHYVI_JOB_PREEMPTED) {
			sem_post(&rig->done);
			return false;
		}
		/* Resume. The tail that the guest moved meanwhile is in the context already. */
		assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &rig->job), 0);
	}
	return false;
}

static void finish_workload(struct bench *b, unsigned int choice)
{
	struct rig *rig = b->rig;
	enum ghyvi_job_status status;
	bool cancelled = disturb(b);

	open_gate(rig);
	while ((status = rig_wait(rig)) == GHYVI_JOB_PREEMPTED)
		assert_int_equal(softgpu_ops.run(softgpu_device(rig->gpu), &rig->job), 0);
	if (status == GHYVI_JOB_CANCELLED) {
		assert_true(cancelled);
		return;
	}
	if (status != GHYVI_JOB_COMPLETE)
		fail_msg("%s", rig_reason(rig));
	/* The rest of the ring is another workload. */
	while (rig->context[GHYVI_CTX_RING_HEAD] != rig->tail) {
		start(b, choice & AUDITED);
		if (rig_wait(rig) != GHYVI_JOB_COMPLETE)
			fail_msg("%s", rig_reason(rig));
	}
}

static void check_result(struct bench *b)
{
	const char *difference;
	unsigned int i;

	program_interpret(&b->program);
	/* The context of Gen8 keeps no general purpose registers, which the program may store. */
	difference = program_difference(b->rig, &b->program);
	if (difference)
		fail_msg("%s", difference);
	for (i = 0; i < b->chunks; i++)
		assert_int_equal(data32(b->rig, MARKS + 4 * i), i + 1);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	static struct bench *benches[32];
	unsigned int choice;
	struct bench *b;

	input_init(data, bytes);
	choice = input_take(1);
	if (choice & NESTED)
		choice &= ~LARGE; /* the rig has no large guest pages */
	b = benches[choice & 31];
	if (!b)
		b = benches[choice & 31] = bench_new(choice);
	program_make(&b->program, choice & GEN8 ? 8 : 9, input_take(4) + 1);
	program_put(b->rig, &b->program);
	memset(b->rig->data + GATE, 0, 4);
	memset(b->rig->data + MARKS, 0, 4 * CHUNKS_MAX);
	b->chunks = 0;
	b->rig->job.budget_ns = BUDGET_NS;
	ring(b->rig, MI_BATCH_START, ADDRESS(BATCH));
	if (choice & GATED)
		ring(b->rig, MI_SEMAPHORE(4), 1, ADDRESS(DATA + GATE));
	ring_pad(b->rig);
	start(b, choice & AUDITED);
	finish_workload(b, choice);
	if (b->rig->status == GHYVI_JOB_COMPLETE)
		check_result(b);
	assert_int_equal(atomic64_read(&b->rig->stats.oracle_violations), 0);
	ghyvi_commands_free(b->rig->job.commands);
	b->rig->job.commands = NULL;
	return 0;
}
