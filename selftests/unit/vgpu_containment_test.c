// SPDX-License-Identifier: GPL-2.0-only
/* Containment: what a guest loses after violations, and what restores it. */
#include <semaphore.h>
#include "vgpu_guest.h"

static void limit(u32 points_max, u32 window_ms)
{
	struct ghyvi_containment containment;

	ghyvi_vgpu_get_containment(vgpu, &containment);
	containment.points_max = points_max;
	containment.window_ms = window_ms;
	assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &containment), 0);
}

/*
 * A workload of context 0 that ends with @status; the guest's driver resets the engine afterwards.
 */
static void bad_workload(void)
{
	submit_work(0);
	finish(guest.id, GHYVI_JOB_ERROR);
	if (!ghyvi_vgpu_is_failsafe(vgpu))
		guest_reset();
	guest.has_pending = false;
}

static void malformed_submission(void)
{
	elsp(descriptor(0) & ~(u64)GEN8_CTX_PRIVILEGE, 0);
	if (!ghyvi_vgpu_is_failsafe(vgpu))
		guest_reset();
}

static void assert_dead(void)
{
	u64 aperture = 0;
	u32 runs = gpu.runs, syncs = gtt.syncs, flushes = gtt.flushes;

	assert_true(ghyvi_vgpu_is_failsafe(vgpu));
	assert_int_equal(rd(PVINFO_MAGIC_LO), ~0u);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, GHYVI_RENDER_BASE + RING_MI_MODE, 2),
			 0xffff);
	assert_int_equal(ghyvi_vgpu_register_read(vgpu, 0x8, 1), 0xff);
	assert_true(ghyvi_vgpu_register_read(vgpu, 0x8, 8) == ~0ull);
	ghyvi_vgpu_aperture_read(vgpu, 0, &aperture, sizeof(aperture));
	assert_true(aperture == ~0ull);

	wr(GEN8_RTCR, 1);
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
	ghyvi_vgpu_set_bar0(vgpu, 0x80000000);
	elsp(descriptor(1), 0);
	assert_int_equal(gpu.runs, runs);
	assert_int_equal(gtt.syncs, syncs);
	assert_int_equal(gtt.flushes, flushes);
	assert_true(gtt.ggtt_gfn == GHYVI_INVALID_GFN);
	assert_true(ghyvi_vgpu_is_failsafe(vgpu));
}

static void assert_alive(void)
{
	assert_false(ghyvi_vgpu_is_failsafe(vgpu));
	assert_int_equal(rd(PVINFO_MAGIC_LO), lower_32_bits(VGT_MAGIC));
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	submit_work(0);
	assert_int_equal(consume(), GEN8_CTX_STATUS_IDLE_ACTIVE);
	complete_last();
}

/* The owner of the vGPU hears of each violation and reset, and finds the reason in the counters. */
static void violations_and_resets_are_events(void **state)
{
	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	atomic_set(&events, 0);
	assert_alive();
	assert_int_equal(atomic_read(&events), 0);
	bad_workload();
	assert_int_equal(atomic_read(&events), 1);
	bad_workload();
	assert_int_equal(atomic_read(&events), 3); /* of failsafe state, too */
	assert_int_equal(failsafes_at_event, 1);
	ghyvi_vgpu_reset(vgpu);
	assert_int_equal(atomic_read(&events), 4);
	ghyvi_vgpu_reset_under_driver(vgpu);
	assert_int_equal(atomic_read(&events), 5);
}

static void pass_ms(u32 ms)
{
	mutex_lock(&vgpu->lock);
	vgpu->points_drained_ns -= ms * NSEC_PER_MSEC;
	mutex_unlock(&vgpu->lock);
}

static void read_pvinfo(void)
{
	rd(PVINFO_MAGIC_LO);
}

static sem_t in_fault, go_on;

static void slow_memory(u64 gfn)
{
	sem_post(&in_fault);
	sem_wait(&go_on);
}

static void a_fault_that_outlives_the_guest_leaves_no_pin(void **state)
{
	int resets;

	sem_init(&in_fault, 0, 0);
	sem_init(&go_on, 0, 0);
	gtt.in_fault = slow_memory;
	client.owner->fault(client.owner, GHYVI_RCS, 1);
	sem_wait(&in_fault);
	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	bad_workload();
	bad_workload();
	assert_int_equal(atomic64_read(&stats.failsafes), 1);
	resets = gtt.resets;
	sem_post(&go_on);
	while (client.owner->fault_status(client.owner, GHYVI_RCS) == -EINPROGRESS)
		usleep_range(10, 20);
	assert_int_equal(gtt.resets, resets + 1);
	gtt.in_fault = NULL;
}

static void wait_for_memory(struct work_struct *work)
{
	slow_memory(0);
}

/* All items that a vGPU may have wait, and those of the next one begin. */
static void items_that_wait_for_memory_keep_no_other_waiting(void **state)
{
	struct ghyvi_vgpu *both[2] = { vgpu, create_vgpu(&ghyvi_profile_gen9) };
	struct work_struct works[2][GHYVI_VGPU_OWNER_WORKS];
	unsigned int i, j, engine;

	sem_init(&in_fault, 0, 0);
	sem_init(&go_on, 0, 0);
	gtt.in_fault = slow_memory;
	for (i = 0; i < 2; i++) {
		for (j = 0; j < GHYVI_VGPU_OWNER_WORKS; j++) {
			INIT_WORK(&works[i][j], wait_for_memory);
			queue_work(ghyvi_vgpu_workers(both[i]), &works[i][j]);
			sem_wait(&in_fault);
		}
		for (engine = 0; engine < GHYVI_ENGINES; engine++) {
			both[i]->client_owner.fault(&both[i]->client_owner, engine, 1);
			sem_wait(&in_fault);
		}
	}
	for (i = 0; i < 2 * (GHYVI_ENGINES + GHYVI_VGPU_OWNER_WORKS); i++)
		sem_post(&go_on);
	for (i = 0; i < 2; i++)
		for (j = 0; j < GHYVI_VGPU_OWNER_WORKS; j++)
			cancel_work_sync(&works[i][j]);
	ghyvi_vgpu_destroy(both[1]);
	for (engine = 0; engine < GHYVI_ENGINES; engine++)
		while (vgpu->client_owner.fault_status(&vgpu->client_owner, engine) == -EINPROGRESS)
			usleep_range(10, 20);
	gtt.in_fault = NULL;
}

static void fail_meanwhile(void)
{
	gtt.in_access = NULL;
	bad_workload();
	bad_workload();
	assert_true(ghyvi_vgpu_is_failsafe(vgpu));
	gtt.resets = 0;
}

/* The access pins its page, if the policy is "nested", although the state has begun meanwhile. */
static void a_read_that_outlives_the_guest_leaves_no_pin(void **state)
{
	u64 value;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	gtt.in_access = fail_meanwhile;
	ghyvi_vgpu_aperture_read(vgpu, 0, &value, sizeof(value));
	assert_int_equal(gtt.resets, 1);
}

static void a_write_that_outlives_the_guest_leaves_no_pin(void **state)
{
	const u64 value = 1;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	gtt.in_access = fail_meanwhile;
	ghyvi_vgpu_aperture_write(vgpu, 0, &value, sizeof(value));
	assert_int_equal(gtt.resets, 1);
}

static void *hold_faults(void *of)
{
	struct ghyvi_vgpu *held = of;

	spin_lock(&held->fault_lock);
	sem_post(&in_fault);
	usleep_range(20000, 20000);
	spin_unlock(&held->fault_lock);
	return NULL;
}

/*
 * A worker counts itself out before its function ends. It stands at a lock here, because nothing
 * can stop it after the count.
 */
static void the_destruction_waits_for_a_worker_that_is_still_in_its_function(void **state)
{
	struct ghyvi_vgpu *other = create_vgpu(&ghyvi_profile_gen9);
	pthread_t thread;

	sem_init(&in_fault, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, hold_faults, other), 0);
	sem_wait(&in_fault);
	vgpu_work_get(other);
	queue_work(other->workers, &other->faults[GHYVI_RCS].work);
	usleep_range(5000, 5000);
	ghyvi_vgpu_destroy(other);
	pthread_join(thread, NULL);
}

/* The owner of the vGPU would handle an event of it when it is freed. */
static void the_destruction_is_no_event(void **state)
{
	struct ghyvi_vgpu *other = create_vgpu(&ghyvi_profile_gen9);

	atomic_set(&events, 0);
	ghyvi_vgpu_destroy(other);
	assert_int_equal(atomic_read(&events), 0);
}

static void a_vgpu_survives_violations_up_to_the_limit(void **state)
{
	int i;

	limit(5, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 0; i < 5; i++)
		bad_workload();
	assert_int_equal(atomic64_read(&stats.violations), 5);
	assert_int_equal(atomic64_read(&stats.failsafes), 0);
	assert_alive();
	bad_workload();
	assert_int_equal(atomic64_read(&stats.failsafes), 1);
	assert_dead();
}

/* Another vCPU resets the engine while a bad workload is being completed. */
static void a_reset_does_not_undo_earlier_violations(void **state)
{
	struct ghyvi_job *job;
	int i;

	limit(2, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 1; i <= 3; i++) {
		submit_work(0);
		job = take_job(guest.id);
		guest_reset();
		job->done(job, GHYVI_JOB_ERROR);
		assert_int_equal(atomic64_read(&stats.violations), i);
		assert_int_equal(ghyvi_vgpu_is_failsafe(vgpu), i > 2);
	}
	assert_dead();
}

static void a_reset_does_not_undo_an_alarm_of_the_oracle(void **state)
{
	struct ghyvi_job *job;

	limit(0, GHYVI_VIOLATION_WINDOW_MAX_MS);
	submit_work(0);
	job = take_job(guest.id);
	guest_reset();
	ghyvi_count(&stats, oracle_violations);
	job->done(job, GHYVI_JOB_ERROR);
	assert_dead();
}

/* What others lose in a window is bounded, however the workload ends that does not yield. */
static void time_that_others_lose_costs_points(void **state)
{
	struct vgpu_workload late = { .engine = &vgpu->engines[GHYVI_RCS] };
	unsigned int i;

	limit(100, GHYVI_VIOLATION_WINDOW_MAX_MS);
	mutex_lock(&vgpu->lock);
	late.base.overstayed_ns = GHYVI_OVERSTAY_FREE_MS * NSEC_PER_MSEC - 1;
	for (i = 0; i < 1000; i++)
		assert_null(vgpu_overstay(&late));
	assert_int_equal(vgpu->violation_points, 0);
	assert_int_equal(atomic64_read(&stats.violations), 0);
	late.base.overstayed_ns = GHYVI_OVERSTAY_FREE_MS * NSEC_PER_MSEC;
	assert_null(vgpu_overstay(&late));
	assert_int_equal(vgpu->violation_points, 2);
	/* Stopped after two seconds: an error, and the time. */
	late.base.overstayed_ns = 2000 * NSEC_PER_MSEC;
	assert_null(vgpu_violation(&late));
	assert_int_equal(vgpu->violation_points, 2 + 1 + 40);
	late.base.overstayed_ns = (100 - 2 - 1 - 40) * GHYVI_OVERSTAY_POINT_MS * NSEC_PER_MSEC;
	assert_null(vgpu_overstay(&late));
	late.base.overstayed_ns = GHYVI_OVERSTAY_FREE_MS * NSEC_PER_MSEC;
	assert_non_null(vgpu_overstay(&late));
	mutex_unlock(&vgpu->lock);
	assert_int_equal(atomic64_read(&stats.violations), 4);
}

static void points_do_not_wrap(void **state)
{
	struct vgpu_workload late = { .engine = &vgpu->engines[GHYVI_RCS] };

	limit(GHYVI_POINTS_MAX, GHYVI_VIOLATION_WINDOW_MAX_MS);
	mutex_lock(&vgpu->lock);
	vgpu->violation_points = ~0u; /* a state that was loaded */
	vgpu->points_drained_ns = ktime_get_ns();
	late.base.overstayed_ns = ~0ull;
	assert_non_null(vgpu_overstay(&late));
	mutex_unlock(&vgpu->lock);
}

/* A workload of another vGPU waits for that of context 0. */
static void wait_behind_context_0(void)
{
	submit_work(0);
	foreign.job.engine = guest.id;
	ghyvi_sched_queue(sched, &foreign);
	calm_ahead_ns += 20 * NSEC_PER_MSEC;
	ghyvi_sched_timer(sched, guest.id);
	calm_ahead_ns += GHYVI_OVERSTAY_FREE_MS * NSEC_PER_MSEC;
}

/* While one waits, that of context 0 stays until it ends by @end. */
static void overstay(void (*end)(void))
{
	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	wait_behind_context_0();
	gpu.running[guest.id]->busy_ns = 1; /* it had begun */
	end();
	settle();
	assert_int_equal(atomic64_read(&stats.violations), 1);
	assert_non_null(strstr(last_report(), "failsafe"));
	assert_ptr_equal(gpu.running[guest.id], &foreign.job);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_dead();
}

static void yield_late(void)
{
	finish(guest.id, GHYVI_JOB_PREEMPTED);
}

static void a_workload_that_yields_late_counts(void **state)
{
	overstay(yield_late);
}

/*
 * The guest has handled all interrupts. The job has events that its backend has not taken back: the
 * guest must not get them while its other accesses have no effect.
 */
static void yield_late_with_an_event(void)
{
	int before;

	wr(GEN8_GT_ISR0 + IRQ_IIR, ~0u);
	before = atomic_read(&interrupts);
	gpu.running[guest.id]->events = GHYVI_EVENT_USER_INTERRUPT;
	yield_late();
	assert_true(ghyvi_vgpu_is_failsafe(vgpu));
	assert_int_equal(atomic_read(&interrupts), before);
	assert_int_equal(vgpu_get(vgpu, GEN8_GT_ISR0 + IRQ_IIR), 0);
}

static void a_workload_that_enters_failsafe_state_raises_no_event(void **state)
{
	overstay(yield_late_with_an_event);
}

static void complete_late(void)
{
	finish(guest.id, GHYVI_JOB_COMPLETE);
}

static void a_workload_that_completes_late_counts(void **state)
{
	overstay(complete_late);
}

/* As guest_reset(), which expects answers: failsafe state may have begun by then. */
static void reset_late(void)
{
	wr(guest.base + RING_RESET_CTL, 0x00010001);
	wr(GEN6_GDRST, GEN6_GRDOM_RENDER);
}

static void a_workload_that_its_guest_resets_late_counts(void **state)
{
	overstay(reset_late);
}

static void reset_device_late(void)
{
	ghyvi_vgpu_reset(vgpu);
}

static void a_workload_that_a_device_reset_stops_late_counts(void **state)
{
	overstay(reset_device_late);
}

/* A guest reboots, or resets the bus, each time before its endless workload would be stopped. */
static void a_guest_that_resets_its_bus_again_and_again_is_stopped(void **state)
{
	const u32 each = GHYVI_OVERSTAY_FREE_MS / GHYVI_OVERSTAY_POINT_MS;
	const u64 now = ktime_get_ns();
	u32 i;

	stop_clock(); /* on a busy machine, others would lose more */
	now_ns = now;
	limit(3 * each, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 1; i <= 4; i++) {
		start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
		wait_behind_context_0();
		gpu.running[guest.id]->busy_ns = 1;
		ghyvi_vgpu_reset(vgpu);
		settle();
		assert_int_equal(vgpu->violation_points, i * each);
		assert_int_equal(ghyvi_vgpu_is_failsafe(vgpu), i > 3);
		finish(guest.id, GHYVI_JOB_COMPLETE); /* of the other vGPU */
	}
	assert_dead();
	pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS);
	ghyvi_vgpu_set_bar0(vgpu, 0x80000000);
	read_pvinfo();
	assert_alive();
	shim_clock = NULL;
}

static void *fail_soon(void *job)
{
	usleep_range(5000, 6000);
	finish_job(job, GHYVI_JOB_ERROR);
	return NULL;
}

static void a_device_reset_does_not_undo_earlier_violations(void **state)
{
	pthread_t thread;
	int i;

	limit(2, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 1; i <= 3; i++) {
		start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
		submit_work(0);
		pthread_create(&thread, NULL, fail_soon, take_job(guest.id));
		ghyvi_vgpu_reset(vgpu);
		pthread_join(thread, NULL);
		assert_int_equal(atomic64_read(&stats.violations), i);
		assert_int_equal(ghyvi_vgpu_is_failsafe(vgpu), i > 2);
	}
	assert_dead();
}

/* What no guest can cause: points and alarms are forgotten. */
static void (*const forget[])(struct ghyvi_vgpu *vgpu) = { ghyvi_vgpu_reset_under_driver,
							   ghyvi_vgpu_close };

static void what_an_administrator_resets_late_is_free(void **state)
{
	unsigned int i;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 0; i < ARRAY_SIZE(forget); i++) {
		start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
		wait_behind_context_0();
		gpu.running[guest.id]->busy_ns = 1;
		forget[i](vgpu);
		settle();
		assert_int_equal(atomic64_read(&stats.violations), 0);
		assert_int_equal(atomic64_read(&stats.failsafes), 0);
		finish(guest.id, GHYVI_JOB_COMPLETE); /* of the other vGPU */
		ghyvi_vgpu_reset(vgpu);
	}
	assert_alive();
}

/* What fails afterwards for want of memory fails for free. */
static void time_that_others_lose_counts_once(void **state)
{
	u32 points;

	fake_prepares_jobs(true);
	/* The same workload, when it is prepared again. */
	wait_behind_context_0();
	gpu.prepare_error = -ENOMEM;
	finish(guest.id, GHYVI_JOB_PREEMPTED);
	gpu.prepare_error = 0;
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic64_read(&stats.violations), 1);
	guest_reset();
	/* The next one, which has the same object. */
	wait_behind_context_0();
	finish(guest.id, GHYVI_JOB_ERROR);
	finish(guest.id, GHYVI_JOB_COMPLETE);
	assert_int_equal(atomic64_read(&stats.violations), 2);
	points = vgpu->violation_points;
	guest_reset();
	gpu.prepare_error = -ENOMEM;
	submit_work(0);
	assert_true(rd(guest.base + RING_EIR) & RING_ERROR_INSTRUCTION);
	gpu.prepare_error = 0;
	fake_prepares_jobs(false);
	assert_int_equal(vgpu->violation_points, points);
	assert_int_equal(atomic64_read(&stats.violations), 2);
}

static void resets_of_good_workloads_are_free(void **state)
{
	int i;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 0; i < 5; i++) {
		submit_work(0);
		guest_reset();
		settle();
	}
	for (; i < 10; i++) {
		start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
		submit_work(0);
		ghyvi_vgpu_reset(vgpu);
	}
	assert_int_equal(gpu.cancels, 10);
	assert_int_equal(atomic64_read(&stats.violations), 0);
	assert_alive();
}

static void a_malformed_submission_counts_as_many(void **state)
{
	limit(GHYVI_MALFORMED_POINTS, GHYVI_VIOLATION_WINDOW_MAX_MS);
	malformed_submission();
	assert_false(ghyvi_vgpu_is_failsafe(vgpu));
	malformed_submission();
	assert_dead();
}

/* No more than points_max pass the border of a window, wherever that is. */
static void points_drain_with_time(void **state)
{
	struct vgpu_workload late = { .engine = &vgpu->engines[GHYVI_RCS] };
	const u64 window_ns = GHYVI_VIOLATION_WINDOW_MAX_MS * NSEC_PER_MSEC;

	limit(100, GHYVI_VIOLATION_WINDOW_MAX_MS);
	mutex_lock(&vgpu->lock);
	late.base.overstayed_ns = 100 * GHYVI_OVERSTAY_POINT_MS * NSEC_PER_MSEC;
	assert_null(vgpu_overstay(&late));
	assert_int_equal(vgpu->violation_points, 100);
	/* Two and a half points drain, the half is not lost. */
	vgpu->points_drained_ns -= window_ns / 40;
	late.base.overstayed_ns = 2 * GHYVI_OVERSTAY_POINT_MS * NSEC_PER_MSEC;
	assert_null(vgpu_overstay(&late));
	assert_int_equal(vgpu->violation_points, 100);
	vgpu->points_drained_ns -= window_ns / 40;
	late.base.overstayed_ns = 3 * GHYVI_OVERSTAY_POINT_MS * NSEC_PER_MSEC;
	assert_null(vgpu_overstay(&late));
	assert_int_equal(vgpu->violation_points, 100);
	vgpu->points_drained_ns -= window_ns - window_ns / 100;
	late.base.overstayed_ns = 100 * GHYVI_OVERSTAY_POINT_MS * NSEC_PER_MSEC;
	assert_non_null(vgpu_overstay(&late));
	mutex_unlock(&vgpu->lock);
}

static void violations_outside_the_window_do_not_count(void **state)
{
	int i;

	limit(1, GHYVI_VIOLATION_WINDOW_MIN_MS);
	for (i = 0; i < 3; i++) {
		bad_workload();
		usleep_range(GHYVI_VIOLATION_WINDOW_MIN_MS * 1100,
			     GHYVI_VIOLATION_WINDOW_MIN_MS * 1200);
	}
	assert_int_equal(atomic64_read(&stats.failsafes), 0);
	bad_workload();
	bad_workload();
	assert_dead();
}

static void without_a_limit_no_vgpu_enters_failsafe_state(void **state)
{
	int i;

	limit(0, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 0; i < 300; i++)
		malformed_submission();
	assert_alive();
}

/* The pGPU says that the host has caused the error of the first workload, and not of the second. */
static void a_job_that_the_host_ends_is_no_violation(void **state)
{
	unsigned int i;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 0; i < 2; i++) {
		struct ghyvi_job *job;

		submit_work(0);
		job = take_job(guest.id);
		job->fault = (struct ghyvi_job_fault){ .valid = true, .excused = !i };
		finish_job(job, GHYVI_JOB_ERROR);
		guest_reset();
		guest.has_pending = false;
		assert_int_equal(atomic64_read(&stats.violations), i);
	}
}

/* Memory that the host cannot pin or find is not the guest's fault. */
static void errors_of_the_host_are_no_violations(void **state)
{
	const int errors[] = { -ENOMEM, -EFAULT };
	unsigned int i;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 0; i < 2 * ARRAY_SIZE(errors); i++) {
		gtt.root_error = errors[i / 2];
		submit_work(0);
		guest_reset();
	}
	gtt.root_error = 0;
	assert_int_equal(atomic64_read(&stats.engine_errors), 2 * ARRAY_SIZE(errors));
	assert_int_equal(atomic64_read(&stats.violations), 0);
	assert_alive();
}

/*
 * The failsafe state has one cause, which is not the guest's: neither its points nor a second entry
 * add to it.
 */
static void an_alarm_of_the_oracle_is_counted_once(void **state)
{
	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	bad_workload();
	submit_work(0);
	ghyvi_count(&stats, oracle_violations);
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_dead();
	assert_int_equal(atomic64_read(&stats.failsafes), 1);
	assert_int_equal(atomic64_read(&stats.violations), 1);
}

static void an_alarm_of_the_oracle_enters_failsafe_state(void **state)
{
	limit(0, GHYVI_VIOLATION_WINDOW_MAX_MS);
	submit_work(0);
	ghyvi_count(&stats, oracle_violations);
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_dead();
	assert_non_null(strstr(last_report(), "failsafe"));
}

/* The jobs of this vGPU on other engines are stopped before its memory is released. */
static void failsafe_state_stops_the_other_engines_first(void **state)
{
	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	bad_workload();
	start_engine(GHYVI_BCS, GHYVI_BLITTER_BASE);
	submit_work(1);
	assert_true(gpu_busy(GHYVI_BCS));
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	bad_workload();
	assert_false(gpu_busy(GHYVI_BCS));
	settle();
	assert_int_equal(gtt.resets, 1);
	assert_int_equal(gtt.roots_live, 0);
	assert_dead();
}

/* The guest has found a defect of the host, and can reboot to use it again. */
static void an_alarm_of_the_oracle_outlasts_reboots(void **state)
{
	unsigned int i;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 0; i < ARRAY_SIZE(forget); i++) {
		bad_workload();
		submit_work(0);
		ghyvi_count(&stats, oracle_violations);
		finish(guest.id, GHYVI_JOB_ERROR);
		assert_dead();
		ghyvi_vgpu_reset(vgpu);
		assert_dead();
		pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS);
		assert_dead();
		ghyvi_vgpu_reset(vgpu);
		assert_dead();
		forget[i](vgpu);
		ghyvi_vgpu_reset(vgpu);
		ghyvi_vgpu_set_bar0(vgpu, 0x80000000);
		assert_true(gtt.ggtt_gfn == (0x80000000 + GHYVI_GGTT_OFFSET) >> GHYVI_PAGE_SHIFT);
		assert_alive();
	}
}

static void read_aperture(void)
{
	u32 value;

	ghyvi_vgpu_aperture_read(vgpu, 0, &value, sizeof(value));
}

static void write_aperture(void)
{
	ghyvi_vgpu_aperture_write(vgpu, 0, "guest", 4);
}

static void write_register(void)
{
	wr(GEN6_GDRST, GEN6_GRDOM_FULL);
}

static void after_a_reboot_failsafe_state_ends_with_the_points(void **state)
{
	void (*const accesses[])(void) = { read_pvinfo, read_aperture, write_aperture,
					   write_register };
	unsigned int i;

	limit(GHYVI_MALFORMED_POINTS, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 0; i < ARRAY_SIZE(accesses); i++) {
		malformed_submission();
		malformed_submission();
		pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS / 2);
		assert_dead();
		ghyvi_vgpu_reset(vgpu);
		assert_dead();
		pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS / 2);
		accesses[i]();
		assert_true(gtt.ggtt_gfn == (0x80000000 + GHYVI_GGTT_OFFSET) >> GHYVI_PAGE_SHIFT);
		assert_alive();
		assert_in_range(vgpu->violation_points, GHYVI_MALFORMED_POINTS - 1,
				GHYVI_MALFORMED_POINTS);
	}
	/* The administrator can raise the limit. */
	malformed_submission();
	ghyvi_vgpu_reset(vgpu);
	assert_dead();
	limit(0, GHYVI_VIOLATION_WINDOW_MAX_MS);
	read_pvinfo();
	assert_alive();
}

/* The guest maps its registers: an access that traps to the VMM may not come for long. */
static void a_store_to_a_mapped_register_ends_drained_failsafe_state(void **state)
{
	const u32 hws = GHYVI_RENDER_BASE + RING_HWS_PGA;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	malformed_submission();
	ghyvi_vgpu_reset(vgpu);
	ghyvi_vgpu_set_bar0(vgpu, 0x80000000);
	assert_true(ghyvi_vgpu_try_remap(vgpu));
	guest_stores(hws, HWSP(GHYVI_RCS), 4);
	assert_int_equal(shown(hws), ~0u);
	pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS);
	guest_stores(hws, HWSP(GHYVI_RCS), 4);
	assert_int_equal(shown(hws), HWSP(GHYVI_RCS));
	assert_int_equal(vgpu_get(vgpu, hws), HWSP(GHYVI_RCS));
	assert_true(gtt.ggtt_gfn == (0x80000000 + GHYVI_GGTT_OFFSET) >> GHYVI_PAGE_SHIFT);
	assert_false(vgpu->bar_moved);
	assert_alive();
}

static void *ask(void *answer)
{
	*(bool *)answer = ghyvi_vgpu_is_failsafe(vgpu);
	return NULL;
}

/* Without an access: the administrator asks before the guest has its driver loaded. */
static void drained_failsafe_state_is_not_reported(void **state)
{
	bool answer = true;
	pthread_t thread;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	malformed_submission();
	ghyvi_vgpu_reset(vgpu);
	assert_true(ghyvi_vgpu_is_failsafe(vgpu));
	pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS);
	mutex_lock(&vgpu->lock); /* as while it waits for guest memory */
	pthread_create(&thread, NULL, ask, &answer);
	pthread_join(thread, NULL);
	mutex_unlock(&vgpu->lock);
	assert_false(answer);
	/* Any user may ask: not with a lock that vCPUs wait for. */
	spin_lock(&vgpu->irq_lock);
	assert_false(ghyvi_vgpu_is_failsafe(vgpu));
	spin_unlock(&vgpu->irq_lock);
	assert_alive();
}

/* Time alone does not end it, because the guest's driver goes on where it was. */
static void without_a_reset_failsafe_state_does_not_end(void **state)
{
	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	malformed_submission();
	pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS);
	assert_dead();
	ghyvi_vgpu_reset(vgpu);
	assert_alive();
}

/* However bad the last workload was. */
static void a_reboot_ends_failsafe_state_within_a_window(void **state)
{
	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	malformed_submission();
	ghyvi_vgpu_reset(vgpu);
	assert_dead();
	pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS);
	read_pvinfo();
	assert_alive();
}

/* The administrator has lowered the limit: what is left drains at the new rate. */
static void failsafe_state_ends_within_a_window_of_a_lower_limit(void **state)
{
	limit(4 * GHYVI_MALFORMED_POINTS, GHYVI_VIOLATION_WINDOW_MAX_MS);
	while (!ghyvi_vgpu_is_failsafe(vgpu))
		malformed_submission();
	ghyvi_vgpu_reset(vgpu);
	pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS / (4 * GHYVI_MALFORMED_POINTS));
	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	assert_dead();
	pass_ms(GHYVI_VIOLATION_WINDOW_MAX_MS - 1000);
	assert_dead(); /* the time before the change drained points at the old rate */
	pass_ms(1000);
	read_pvinfo();
	assert_alive();
}

/* It can reboot, but only the host's administrator can reset the vGPU otherwise, or close it. */
static void a_guest_cannot_clear_its_points(void **state)
{
	unsigned int i;

	limit(1, GHYVI_VIOLATION_WINDOW_MAX_MS);
	for (i = 0; i < ARRAY_SIZE(forget); i++) {
		bad_workload();
		ghyvi_vgpu_reset(vgpu);
		assert_alive();
		bad_workload();
		assert_dead();
		ghyvi_vgpu_reset(vgpu);
		assert_dead();
		forget[i](vgpu);
		ghyvi_vgpu_reset(vgpu);
		bad_workload();
		assert_false(ghyvi_vgpu_is_failsafe(vgpu));
		ghyvi_vgpu_reset_under_driver(vgpu);
	}
}

/* As it is created: no setting was made. */
static void a_new_vgpu_is_limited(void **state)
{
	struct ghyvi_vgpu *mine = vgpu;
	struct ghyvi_containment now;
	int i;

	vgpu = create_vgpu(&ghyvi_profile_gen9);
	ghyvi_vgpu_get_containment(vgpu, &now);
	assert_int_equal(now.budget_ms, 60000);
	assert_int_equal(now.points_max, 256);
	assert_int_equal(now.window_ms, 60000);
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	submit_work(0);
	assert_true(gpu.running[GHYVI_RCS]->budget_ns == 60 * NSEC_PER_SEC);
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
	for (i = 0; i < 256 / 32; i++) {
		assert_false(ghyvi_vgpu_is_failsafe(vgpu));
		malformed_submission();
	}
	assert_false(ghyvi_vgpu_is_failsafe(vgpu));
	malformed_submission();
	assert_dead();
	ghyvi_vgpu_destroy(vgpu);
	vgpu = mine;
}

/* The workload's memory is used again: what was wrong with its last use is forgotten. */
static void an_error_in_the_last_use_of_a_workload_is_not_counted_again(void **state)
{
	limit(0, GHYVI_VIOLATION_WINDOW_MAX_MS);
	malformed_submission();
	assert_int_equal(vgpu->violation_points, GHYVI_MALFORMED_POINTS);
	guest_reset();
	submit_work(0);
	finish(guest.id, GHYVI_JOB_ERROR);
	assert_int_equal(vgpu->violation_points, GHYVI_MALFORMED_POINTS + 1);
}

static void the_largest_limits_are_accepted(void **state)
{
	const struct ghyvi_containment most = { GHYVI_BUDGET_MAX_MS, GHYVI_POINTS_MAX,
						GHYVI_VIOLATION_WINDOW_MAX_MS,
						GHYVI_BUDGET_MAX_MINSN };
	struct ghyvi_containment now;

	assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &most), 0);
	ghyvi_vgpu_get_containment(vgpu, &now);
	assert_memory_equal(&now, &most, sizeof(now));
}

static void limits_out_of_range_change_nothing(void **state)
{
	const struct ghyvi_containment good = { 1, 2, GHYVI_VIOLATION_WINDOW_MIN_MS, 3 };
	const struct ghyvi_containment bad[] = {
		{ GHYVI_BUDGET_MAX_MS + 1, 2, GHYVI_VIOLATION_WINDOW_MIN_MS, 0 },
		{ 1, GHYVI_POINTS_MAX + 1, GHYVI_VIOLATION_WINDOW_MIN_MS, 0 },
		{ 1, 2, GHYVI_VIOLATION_WINDOW_MIN_MS - 1, 0 },
		{ 1, 2, GHYVI_VIOLATION_WINDOW_MAX_MS + 1, 0 },
		{ 1, 2, GHYVI_VIOLATION_WINDOW_MIN_MS, GHYVI_BUDGET_MAX_MINSN + 1 },
	};
	struct ghyvi_containment now;
	unsigned int i;

	assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &good), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &bad[i]), -EINVAL);
	ghyvi_vgpu_get_containment(vgpu, &now);
	assert_memory_equal(&now, &good, sizeof(now));
}

static void jobs_get_the_budgets(void **state)
{
	struct ghyvi_containment containment = { 250, 0, GHYVI_VIOLATION_WINDOW_MAX_MS, 7 };

	assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &containment), 0);
	submit_work(0);
	assert_int_equal(gpu.running[GHYVI_RCS]->budget_ns, 250 * NSEC_PER_MSEC);
	assert_int_equal(gpu.running[GHYVI_RCS]->budget_minsn, 7);
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RCS(violations_and_resets_are_events),
		RCS(the_destruction_waits_for_a_worker_that_is_still_in_its_function),
		RCS(the_destruction_is_no_event),
		RCS(a_fault_that_outlives_the_guest_leaves_no_pin),
		RCS(items_that_wait_for_memory_keep_no_other_waiting),
		RCS(a_read_that_outlives_the_guest_leaves_no_pin),
		RCS(a_write_that_outlives_the_guest_leaves_no_pin),
		RCS(a_vgpu_survives_violations_up_to_the_limit),
		RCS(a_reset_does_not_undo_earlier_violations),
		RCS(a_reset_does_not_undo_an_alarm_of_the_oracle),
		RCS(time_that_others_lose_costs_points),
		RCS(points_do_not_wrap),
		RCS(a_workload_that_yields_late_counts),
		RCS(a_workload_that_enters_failsafe_state_raises_no_event),
		RCS(a_workload_that_completes_late_counts),
		RCS(a_workload_that_its_guest_resets_late_counts),
		RCS(a_workload_that_a_device_reset_stops_late_counts),
		RCS(a_guest_that_resets_its_bus_again_and_again_is_stopped),
		RCS(a_device_reset_does_not_undo_earlier_violations),
		RCS(what_an_administrator_resets_late_is_free),
		RCS(time_that_others_lose_counts_once),
		RCS(resets_of_good_workloads_are_free),
		RCS(a_malformed_submission_counts_as_many),
		RCS(points_drain_with_time),
		RCS(violations_outside_the_window_do_not_count),
		RCS(without_a_limit_no_vgpu_enters_failsafe_state),
		RCS(a_job_that_the_host_ends_is_no_violation),
		RCS(errors_of_the_host_are_no_violations),
		RCS(an_alarm_of_the_oracle_is_counted_once),
		RCS(an_alarm_of_the_oracle_enters_failsafe_state),
		RCS(a_new_vgpu_is_limited),
		RCS(an_error_in_the_last_use_of_a_workload_is_not_counted_again),
		RCS(failsafe_state_stops_the_other_engines_first),
		RCS(an_alarm_of_the_oracle_outlasts_reboots),
		RCS(after_a_reboot_failsafe_state_ends_with_the_points),
		RCS(a_reboot_ends_failsafe_state_within_a_window),
		RCS(a_store_to_a_mapped_register_ends_drained_failsafe_state),
		RCS(drained_failsafe_state_is_not_reported),
		RCS(without_a_reset_failsafe_state_does_not_end),
		RCS(failsafe_state_ends_within_a_window_of_a_lower_limit),
		RCS(a_guest_cannot_clear_its_points),
		RCS(the_largest_limits_are_accepted),
		RCS(limits_out_of_range_change_nothing),
		RCS(jobs_get_the_budgets),
	};

	return cmocka_run_group_tests_name("vgpu containment", tests, NULL, NULL);
}
