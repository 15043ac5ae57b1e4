// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two guests on one software pGPU: one attacks, the other one is interactive. It submits a small
 * store, waits for it, and pauses for a frame. What it waits for is counted in CPU time of the
 * process, so that other load of the machine does not matter.
 *
 * NEIGHBOUR_SECONDS=40: run each attack for so long, print the waits, and bound the wall time, too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "compute_kernels.h"
#include "move_fixture.h"

/* Sanitizers make the CPU's work so much longer. */
#ifdef __SANITIZE_THREAD__
#define SLOWER 10
#elif defined(__SANITIZE_ADDRESS__)
#define SLOWER 3
#else
#define SLOWER 1
#endif

#define FRAMES 60u
#define MEAN_NS (20ull * NSEC_PER_MSEC)
#define WORST_NS (150ull * NSEC_PER_MSEC)
#define FRAME_NS (16ull * NSEC_PER_MSEC)

/* Contexts: each guest has one of its own for each engine, but the guests share memory. */
enum { ATTACKER = 2, NEIGHBOUR = 1 };

static struct move_host bad, good;

struct attack {
	enum ghyvi_engine_id engine;
	/* Make a submission of the context ATTACKER that stores @n when it is complete. */
	void (*prepare)(u32 n);
	unsigned int completed, failed;
	u64 failsafe_ns; /* when the vGPU was put into failsafe state; 0: it was not */
	bool stop;
};

static void nap_ns(u64 ns)
{
	nanosleep(&(struct timespec){ .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC },
		  NULL);
}

static u64 cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static u32 *image(unsigned int context)
{
	return move_page(MOVE_IMAGES + 2 * context + 1);
}

static void empty_ring(unsigned int context)
{
	image(context)[GHYVI_CTX_RING_HEAD] = 0;
	image(context)[GHYVI_CTX_RING_TAIL] = 0;
}

/* The host has written the context's image for the last time, as this thread knows by its lock. */
static void await_end(struct move_host *host, enum ghyvi_engine_id engine)
{
	move_await_idle(host, engine);
	ghyvi_vgpu_set_remap(host->vgpu, true);
}

static void *attack_thread(void *of)
{
	struct attack *attack = of;
	u32 eir = ghyvi_engine_base(attack->engine) + RING_EIR, n = 0;
	u64 begin = ktime_get_ns();

	while (!READ_ONCE(attack->stop)) {
		empty_ring(ATTACKER);
		attack->prepare(++n);
		move_submit(&bad, attack->engine, ATTACKER);
		while (!READ_ONCE(attack->stop) && READ_ONCE(*move_data(3, 0)) != n &&
		       !(move_rd(&bad, eir) & 1) && !ghyvi_vgpu_is_failsafe(bad.vgpu))
			nap_ns(NSEC_PER_MSEC / 10);
		if (ghyvi_vgpu_is_failsafe(bad.vgpu)) {
			attack->failsafe_ns = ktime_get_ns() - begin;
			break;
		}
		if (READ_ONCE(attack->stop))
			break;
		if (READ_ONCE(*move_data(3, 0)) == n) {
			await_end(&bad, attack->engine);
			attack->completed++;
		} else { /* as a driver does after a hang */
			move_wr(&bad, GEN6_GDRST,
				attack->engine == GHYVI_RCS ? GEN6_GRDOM_RENDER : GEN6_GRDOM_BLT);
			attack->failed++;
		}
	}
	return NULL;
}

struct waits {
	unsigned int frames;
	u64 sum_ns, worst_ns, sum_cpu_ns, worst_cpu_ns;
};

static unsigned int seconds(void)
{
	const char *text = getenv("NEIGHBOUR_SECONDS");

	return text ? atoi(text) : 0;
}

static void one_frame(enum ghyvi_engine_id engine, struct waits *waits)
{
	u32 frame = ++waits->frames;
	u64 ns = ktime_get_ns(), cpu = cpu_ns();

	empty_ring(NEIGHBOUR);
	MOVE_RING(NEIGHBOUR, MOVE_STORE(NEIGHBOUR, 0, frame));
	move_submit(&good, engine, NEIGHBOUR);
	while (READ_ONCE(*move_data(NEIGHBOUR, 0)) != frame) {
		assert_false(move_rd(&good, ghyvi_engine_base(engine) + RING_EIR) & 1);
		nap_ns(NSEC_PER_MSEC / 10);
	}
	ns = ktime_get_ns() - ns;
	cpu = cpu_ns() - cpu;
	waits->sum_ns += ns;
	waits->worst_ns = max(waits->worst_ns, ns);
	waits->sum_cpu_ns += cpu;
	waits->worst_cpu_ns = max(waits->worst_cpu_ns, cpu);
	await_end(&good, engine);
}

/* Let the neighbour work beside the attack, and bound what it waits for. */
static struct waits attack(struct attack *by)
{
	u64 until = ktime_get_ns() + seconds() * NSEC_PER_SEC;
	struct waits waits = {};
	pthread_t thread;

	pthread_create(&thread, NULL, attack_thread, by);
	while (seconds() ? ktime_get_ns() < until : waits.frames < FRAMES) {
		one_frame(by->engine, &waits);
		nap_ns(FRAME_NS);
	}
	WRITE_ONCE(by->stop, true);
	pthread_join(thread, NULL);
	if (seconds())
		printf("# neighbour: %u frames, mean %.2f ms, worst %.2f ms; attacker: %u complete, %u failed, %lld violations, failsafe after %.2f s\n",
		       waits.frames, waits.sum_ns / 1e6 / waits.frames, waits.worst_ns / 1e6,
		       by->completed, by->failed, (long long)atomic64_read(&bad.stats.violations),
		       by->failsafe_ns / 1e9);
	assert_true(waits.sum_cpu_ns / waits.frames < SLOWER * MEAN_NS);
	assert_true(waits.worst_cpu_ns < SLOWER * WORST_NS);
	if (seconds()) {
		assert_true(waits.sum_ns / waits.frames < MEAN_NS);
		assert_true(waits.worst_ns < WORST_NS);
	}
	return waits;
}

/* The indirect context batch waits for a value that never comes. */
static void endless_indirect(u32 n)
{
	u32 *batch = move_page(MOVE_BATCHES + ATTACKER);

	memset(batch, 0, 64);
	batch[0] = 0x1cu << 23 | 2 | BIT(22) | BIT(15) | 4 << 12;
	batch[1] = 1;
	batch[2] = move_ggtt(MOVE_DATA + 5);
	image(ATTACKER)[GHYVI_CTX_INDIRECT] = move_ggtt(MOVE_BATCHES + ATTACKER) | 1;
	MOVE_RING(ATTACKER, MOVE_STORE(3, 0, n));
}

static void a_context_that_waits_costs_the_attacker_its_vgpu(void **state)
{
	struct attack by = { .engine = GHYVI_RCS, .prepare = endless_indirect };

	attack(&by);
	while (!seconds() && !ghyvi_vgpu_is_failsafe(bad.vgpu) && by.failed < 300) {
		by.stop = false;
		attack(&by);
	}
	assert_true(ghyvi_vgpu_is_failsafe(bad.vgpu));
	assert_true(by.failsafe_ns < 60 * NSEC_PER_SEC);
	assert_int_equal(by.completed, 0);
}

#define LOW_16(v) ((v)&0xffffu)
/* From -32768 on: as many rows as the coordinates have. */
#define CORNERS(width, rows) 0x80008000u, LOW_16((rows)-32768u) << 16 | LOW_16((width)-32768u)
#define BLIT(opcode, dwords) (2u << 29 | (opcode) << 22 | 3 << 20 | ((dwords)-2))
/* With a pitch of 0, all rows are the same bytes. */
#define MANY_TIMES ((64u + 32u) * 4096u)

static void blit_ring(u32 n)
{
	memset(move_page(MOVE_BATCHES + ATTACKER), 0, GHYVI_PAGE_BYTES);
	MOVE_RING(ATTACKER, MOVE_CALL_USER(ATTACKER), MOVE_STORE(3, 0, n));
}

static void huge_fill(u32 n)
{
	blit_ring(n);
	MOVE_BATCH(ATTACKER, BLIT(0x50, 7), 3u << 24 | 0xf0u << 16, CORNERS(65535u, 14000u),
		   MANY_TIMES, 0, 0x55555555, MOVE_BATCH_END);
}

/* A raster operation of a mono pattern, a color source and the destination: the slowest rows. */
static void huge_operation(u32 n)
{
	blit_ring(n);
	MOVE_BATCH(ATTACKER, BLIT(0x57, 14), 3u << 24 | 0x96u << 16, CORNERS(65535u, 14000u),
		   MANY_TIMES, 0, 0, 0x80008000u, MANY_TIMES, 0, 0x11111111, 0x22222222, 0xaa55aa55,
		   0xaa55aa55, MOVE_BATCH_END);
}

static void no_rule_is_broken(void (*prepare)(u32 n))
{
	struct attack by = { .engine = GHYVI_BCS, .prepare = prepare };

	attack(&by);
	if (by.failed)
		fail_msg("%s", move_report(&bad));
	/* A machine that is late costs it a few points. */
	assert_false(ghyvi_vgpu_is_failsafe(bad.vgpu));
}

static void a_blit_of_any_size_makes_no_neighbour_wait(void **state)
{
	no_rule_is_broken(huge_fill);
}

static void a_blit_with_all_operands_makes_no_neighbour_wait(void **state)
{
	no_rule_is_broken(huge_operation);
}

static void endless_group(u32 n)
{
	u32 commands[64] = { 0 };
	unsigned int count;

	kernels_put(move_page(MOVE_BATCHES + ATTACKER), move_page(MOVE_DATA + 6), true);
	count = kernels_commands(commands, (MOVE_DATA + 5) * GHYVI_PAGE_BYTES,
				 (MOVE_DATA + 6) * GHYVI_PAGE_BYTES,
				 (MOVE_BATCHES + ATTACKER) * GHYVI_PAGE_BYTES, 1);
	move_ring(ATTACKER, round_up(count, 2), commands);
	MOVE_RING(ATTACKER, MOVE_STORE(3, 0, n));
}

/* It gives way each time, and is not stopped for it. */
static void a_thread_group_without_end_makes_no_neighbour_wait(void **state)
{
	struct attack by = { .engine = GHYVI_RCS, .prepare = endless_group };
	struct unit unit;

	unit_start(&unit, kernels_execute);
	attack(&by);
	assert_true(unit.dispatches > FRAMES / 2);
	if (by.failed || by.completed)
		fail_msg("%s", move_report(&bad));
	assert_int_equal(atomic64_read(&bad.stats.preempt_timeouts_rcs), 0);
	assert_false(ghyvi_vgpu_is_failsafe(bad.vgpu));
	move_wr(&bad, GEN6_GDRST, GEN6_GRDOM_RENDER);
	unit_stop(&unit);
}

static bool slept_too_long;

/* As a process that maps a page, and gets no CPU time: its VM may have used up what it has. */
static void sleep_while_mapping(struct unit *unit, struct ghyvi_eu_next *next)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 30;
	mutex_lock(&unit->worker->insert);
	WRITE_ONCE(slept_too_long, sem_timedwait(&unit->go, &end));
	mutex_unlock(&unit->worker->insert);
}

/* It costs the attacker the job, after the timeout of preemptions, and the neighbour no more. */
static void a_worker_without_cpu_time_makes_no_neighbour_wait(void **state)
{
	struct waits waits = {};
	struct unit unit;
	bool too_long;

	slept_too_long = false;
	unit_start(&unit, sleep_while_mapping);
	empty_ring(ATTACKER);
	endless_group(1);
	move_submit(&bad, GHYVI_RCS, ATTACKER);
	while (!unit.dispatches)
		nap_ns(NSEC_PER_MSEC);
	one_frame(GHYVI_RCS, &waits);
	too_long = READ_ONCE(slept_too_long);
	sem_post(&unit.go);
	move_wr(&bad, GEN6_GDRST, GEN6_GRDOM_RENDER);
	unit_stop(&unit);
	assert_false(too_long);
	assert_int_equal(atomic64_read(&bad.stats.preempt_timeouts_rcs), 1);
}

static void share(struct ghyvi_vgpu_params *params)
{
	params->pgpu = softgpu_device(bad.gpu);
	params->sched = bad.sched;
}

static int setup(void **state)
{
	unsigned int i;

	move_host_begin(&bad, NULL);
	move_guest_begin(&bad);
	for (i = 0; i < 128; i++)
		((u64 *)move_page(MOVE_PT))[64 + i] =
			(MOVE_RAM_GPA + (MOVE_DATA + 7) * GHYVI_PAGE_BYTES) | GHYVI_ENTRY_PRESENT |
			GHYVI_ENTRY_WRITE;
	move_host_begin(&good, share);
	move_vgpu_begin(&good);
	return 0;
}

static int teardown(void **state)
{
	ghyvi_vgpu_reset(bad.vgpu); /* before the other guest's memory is looked at */
	move_host_end(&good);
	move_host_end(&bad);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_context_that_waits_costs_the_attacker_its_vgpu),
		TEST(a_blit_of_any_size_makes_no_neighbour_wait),
		TEST(a_blit_with_all_operands_makes_no_neighbour_wait),
		TEST(a_thread_group_without_end_makes_no_neighbour_wait),
		TEST(a_worker_without_cpu_time_makes_no_neighbour_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
