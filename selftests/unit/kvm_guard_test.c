// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel/kvm/guard.c under a model of vfio_dma_do_unmap() and vfio_notify_dma_unmap()
 * (drivers/vfio/vfio_iommu_type1.c of Linux 6.1): containers with devices, mappings whose memory is
 * reused at once, system calls that other threads interrupt wherever type 1 drops its locks. The
 * model's BUG_ON is the RULE in type1_unmap(). It takes its two locks one after the other, not
 * nested: gtt_unmap_test.c tests their order, this file the number of notifications.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include "../../userspace/guest/random.h"
#include "kvm/guard.h"
#include "rule.h"

#define RETRIES_MAX 10 /* type 1's */
#define DEVICES 24u
#define MAPPINGS 4u
#define PAGES 64u
#define RANGE 16u /* pages of one mapping */
#define SLOW_MS 70
#define TOGGLES 8u
#define SEEDS 400u
#define CROWD 1000u
#define WALK_MS_MAX 5000u
#define VISITS_MAX 20u /* of a few operations on hash tables and a list */

struct thread {
	const void *process;
	struct ghyvi_unmap_call *calls[1];
	u32 nr_calls; /* of the system call that it is in */
};

struct vgpu_model {
	struct ghyvi_guard guard;
	pthread_mutex_t mm;
	bool registered, slow, gives_up;
	bool pinned[PAGES];
};

struct mapping {
	bool there;
	u64 gfn;
	u32 pins;
};

static struct {
	pthread_mutex_t iommu, device_list;
	struct vgpu_model devices[DEVICES];
	struct mapping mappings[MAPPINGS];
	u32 asks, asks_max; /* of one system call */
	void (*meanwhile)(u32 ask); /* other threads, after an ask */
} type1;

static __thread struct thread *running;
static const char process[DEVICES + 1]; /* only their addresses count */

struct ghyvi_unmap_call *ghyvi_unmap_call_alloc(void)
{
	ASSERT(!running->nr_calls);
	return running->calls[running->nr_calls++] =
		       shim_page_alloc(PAGE_SIZE, __GFP_ZERO | __GFP_NOFAIL);
}

/* Some other thread may be the one that reports the return, at once. */
void ghyvi_unmap_call_arm(struct ghyvi_unmap_call *call)
{
	ASSERT(call->task && call->by_task.pprev && (call->nr_ranges || call->all));
}

static void call_returned(struct ghyvi_unmap_call *call)
{
	call->returned(call);
}

static struct mapping *mapping_of(u64 gfn)
{
	u32 i;

	for (i = 0; i < MAPPINGS; i++)
		if (type1.mappings[i].there && gfn - type1.mappings[i].gfn < RANGE)
			return &type1.mappings[i];
	return NULL;
}

/* vfio_pin_pages(), as kernel/gtt calls it. */
static bool pin(struct vgpu_model *device, u64 gfn)
{
	struct mapping *mapping = NULL;

	pthread_mutex_lock(&device->mm);
	if (!device->pinned[gfn] && ghyvi_guard_may_pin(&device->guard, gfn)) {
		pthread_mutex_lock(&type1.iommu);
		mapping = mapping_of(gfn);
		if (mapping)
			mapping->pins++;
		device->pinned[gfn] = mapping;
		pthread_mutex_unlock(&type1.iommu);
	}
	pthread_mutex_unlock(&device->mm);
	return mapping;
}

static void unpin_range(struct vgpu_model *device, u64 gfn, u64 count)
{
	u64 i;

	pthread_mutex_lock(&device->mm);
	for (i = gfn; i < gfn + count; i++) {
		if (!device->pinned[i])
			continue;
		pthread_mutex_lock(&type1.iommu);
		ASSERT(mapping_of(i) && mapping_of(i)->pins);
		mapping_of(i)->pins--;
		pthread_mutex_unlock(&type1.iommu);
		device->pinned[i] = false;
	}
	pthread_mutex_unlock(&device->mm);
}

/* .dma_unmap */
static void dma_unmap(struct vgpu_model *device, u64 gfn)
{
	ghyvi_guard_unmap(&device->guard, running, running->process, gfn, RANGE);
	if (device->gives_up && ghyvi_guard_may_give_up(running))
		return;
	unpin_range(device, gfn, RANGE);
	if (device->slow)
		usleep_range(SLOW_MS * 1000, SLOW_MS * 1000);
}

static void notify(u64 gfn)
{
	u32 i;

	pthread_mutex_unlock(&type1.iommu);
	pthread_mutex_lock(&type1.device_list);
	for (i = 0; i < DEVICES; i++)
		if (type1.devices[i].registered)
			dma_unmap(&type1.devices[i], gfn);
	pthread_mutex_unlock(&type1.device_list);
}

static struct mapping *first_mapping(u64 gfn, u64 count)
{
	struct mapping *first = NULL, *mapping;
	u32 i;

	for (i = 0; i < MAPPINGS; i++) {
		mapping = &type1.mappings[i];
		if (mapping->there && mapping->gfn >= gfn && mapping->gfn < gfn + count &&
		    (!first || mapping->gfn < first->gfn))
			first = mapping;
	}
	return first;
}

/* VFIO_IOMMU_UNMAP_DMA by @thread, from the system call's beginning to its return. */
static void type1_unmap(struct thread *thread, u64 gfn, u64 count)
{
	struct mapping *mapping, *last = NULL;
	struct thread *caller = running;
	u32 retries = 0, asks = 0;

	running = thread;
	pthread_mutex_lock(&type1.iommu);
	while ((mapping = first_mapping(gfn, count))) {
		if (!mapping->pins) {
			mapping->there = false;
			continue;
		}
		if (mapping == last) {
			retries++;
			ASSERT(retries <= RETRIES_MAX);
		} else {
			last = mapping;
			retries = 0;
		}
		notify(mapping->gfn);
		asks++;
		if (type1.meanwhile)
			type1.meanwhile(asks);
		pthread_mutex_lock(&type1.iommu);
	}
	type1.asks = asks;
	type1.asks_max = max(type1.asks_max, asks);
	pthread_mutex_unlock(&type1.iommu);
	while (thread->nr_calls)
		call_returned(thread->calls[--thread->nr_calls]);
	running = caller;
}

/* VFIO_IOMMU_MAP_DMA: reuses the first free place, as an allocator reuses memory. */
static bool type1_map(u64 gfn)
{
	bool mapped = false;
	u32 i;

	pthread_mutex_lock(&type1.iommu);
	for (i = 0; i < MAPPINGS && !mapping_of(gfn); i++) {
		if (type1.mappings[i].there)
			continue;
		type1.mappings[i] = (struct mapping){ .there = true, .gfn = gfn };
		mapped = true;
		break;
	}
	pthread_mutex_unlock(&type1.iommu);
	return mapped;
}

static u32 pins_of(u64 gfn)
{
	u32 pins;

	pthread_mutex_lock(&type1.iommu);
	pins = mapping_of(gfn) ? mapping_of(gfn)->pins : 0;
	pthread_mutex_unlock(&type1.iommu);
	return pins;
}

static void device_open(struct vgpu_model *device, const void *of)
{
	ghyvi_guard_open(&device->guard, of);
	pthread_mutex_lock(&type1.device_list);
	device->registered = true;
	pthread_mutex_unlock(&type1.device_list);
}

static void device_close(struct vgpu_model *device)
{
	ghyvi_guard_close(&device->guard);
	unpin_range(device, 0, PAGES);
	pthread_mutex_lock(&type1.device_list);
	device->registered = false;
	pthread_mutex_unlock(&type1.device_list);
}

static int setup(void **state)
{
	u32 i;

	memset(&type1, 0, sizeof(type1));
	pthread_mutex_init(&type1.iommu, NULL);
	pthread_mutex_init(&type1.device_list, NULL);
	for (i = 0; i < DEVICES; i++)
		pthread_mutex_init(&type1.devices[i].mm, NULL);
	return 0;
}

static struct thread vcpu = { .process = process }, another = { .process = process };

static void pins_of_the_range_are_refused_until_the_call_returns(void **state)
{
	struct thread *caller = &vcpu;

	device_open(&type1.devices[0], process);
	type1_map(0);
	type1_map(RANGE);
	assert_true(pin(&type1.devices[0], 3));
	running = caller;
	assert_true(ghyvi_guard_unmap(&type1.devices[0].guard, caller, process, 0, RANGE));
	unpin_range(&type1.devices[0], 0, RANGE);
	assert_false(pin(&type1.devices[0], 3));
	assert_false(pin(&type1.devices[0], RANGE - 1));
	assert_true(pin(&type1.devices[0], RANGE));
	call_returned(caller->calls[--caller->nr_calls]);
	assert_true(pin(&type1.devices[0], 3));
}

static void a_call_with_many_ranges_refuses_all_memory(void **state)
{
	u64 i;

	device_open(&type1.devices[0], process);
	type1_map(PAGES - RANGE);
	running = &vcpu;
	for (i = 0; i < GHYVI_UNMAP_RANGES_MAX; i++) {
		ghyvi_guard_unmap(&type1.devices[0].guard, &vcpu, process, i, 1);
		ghyvi_guard_unmap(&type1.devices[0].guard, &vcpu, process, i, 1);
	}
	assert_true(pin(&type1.devices[0], PAGES - 1));
	ghyvi_guard_unmap(&type1.devices[0].guard, &vcpu, process, i, 1);
	assert_false(pin(&type1.devices[0], PAGES - 2));
	call_returned(vcpu.calls[--vcpu.nr_calls]);
	assert_true(pin(&type1.devices[0], PAGES - 2));
}

static _Atomic bool over;

/* Pins as many pages as possible, as fast as possible. */
static void *submit(void *device)
{
	u64 gfn;

	for (gfn = 0; !over; gfn = (gfn + 1) % RANGE)
		pin(device, gfn);
	return NULL;
}

static void two_slow_vgpus_under_a_vcpu_that_toggles_a_segment(void **state)
{
	pthread_t guests[2];
	u32 i, waits;

	over = false;
	type1_map(0);
	for (i = 0; i < 2; i++) {
		device_open(&type1.devices[i], process);
		type1.devices[i].slow = true;
		assert_true(pin(&type1.devices[i], 0));
		pthread_create(&guests[i], NULL, submit, &type1.devices[i]);
	}
	for (i = 0; i < TOGGLES; i++) {
		type1_unmap(&vcpu, 0, RANGE);
		assert_in_range(type1.asks, 0, 1);
		type1_map(0);
		/* No time has to pass before the memory is used again. */
		for (waits = 0; !pins_of(0); waits++) {
			assert_in_range(waits, 0, SLOW_MS / 2);
			usleep_range(1000, 1000);
		}
	}
	over = true;
	for (i = 0; i < 2; i++)
		pthread_join(guests[i], NULL);
	assert_int_equal(type1.asks_max, 1);
}

/* A new mapping is at the address of the one that was asked for, and has pinned pages. */
static void replace_mapping(u32 ask)
{
	void (*meanwhile)(u32 ask) = type1.meanwhile;
	u64 gfn = ask * RANGE % PAGES;

	type1.meanwhile = NULL;
	type1_unmap(&another, 0, PAGES);
	type1_map(gfn);
	pin(&type1.devices[0], gfn + 1);
	type1.meanwhile = meanwhile;
}

static void mappings_that_are_replaced_all_the_time(void **state)
{
	device_open(&type1.devices[0], process);
	type1_map(0);
	assert_true(pin(&type1.devices[0], 0));
	type1.meanwhile = replace_mapping;
	type1_unmap(&vcpu, 0, PAGES);
	assert_int_equal(type1.asks, GHYVI_UNMAP_RANGES_MAX + 1);
}

static void open_another_vgpu(u32 ask)
{
	if (ask >= DEVICES)
		return;
	device_open(&type1.devices[ask], process);
	pin(&type1.devices[ask], ask % RANGE);
}

static void vgpus_that_are_opened_one_after_the_other(void **state)
{
	device_open(&type1.devices[0], process);
	type1_map(0);
	assert_true(pin(&type1.devices[0], 0));
	type1.meanwhile = open_another_vgpu;
	type1_unmap(&vcpu, 0, RANGE);
	assert_int_equal(type1.asks, 1);
}

static void reopen_vgpu(u32 ask)
{
	device_close(&type1.devices[0]);
	device_open(&type1.devices[0], process);
	pin(&type1.devices[0], ask % RANGE);
}

static void a_vgpu_that_is_opened_again_and_again(void **state)
{
	device_open(&type1.devices[0], process);
	type1_map(0);
	assert_true(pin(&type1.devices[0], 0));
	type1.meanwhile = reopen_vgpu;
	type1_unmap(&vcpu, 0, RANGE);
	assert_int_equal(type1.asks, 1);
}

static void open_foreign_vgpu(u32 ask)
{
	if (ask >= DEVICES)
		return;
	device_open(&type1.devices[ask], &process[ask]);
	pin(&type1.devices[ask], ask % RANGE);
	if (ask > 1) {
		device_close(&type1.devices[ask - 1]);
		device_open(&type1.devices[ask - 1], &process[ask - 1]);
		pin(&type1.devices[ask - 1], ask % RANGE);
	}
}

static void vgpus_of_other_processes_in_the_container(void **state)
{
	device_open(&type1.devices[0], process);
	type1_map(0);
	assert_true(pin(&type1.devices[0], 0));
	type1.meanwhile = open_foreign_vgpu;
	type1_unmap(&vcpu, 0, RANGE);
	assert_int_equal(type1.asks, 2);
	/* Its pins stay refused, because another process unmaps its VM's memory. */
	type1.meanwhile = NULL;
	type1_map(0);
	assert_true(pin(&type1.devices[0], 0));
	device_open(&type1.devices[1], &process[1]);
	assert_true(pin(&type1.devices[1], 1));
	type1_unmap(&vcpu, 0, RANGE);
	type1_map(0);
	assert_false(pin(&type1.devices[1], 1));
	device_close(&type1.devices[1]);
	device_open(&type1.devices[1], &process[1]);
	assert_true(pin(&type1.devices[1], 1));
}

static void reopen_foreign_vgpu(u32 ask)
{
	device_close(&type1.devices[1]);
	device_open(&type1.devices[1], &process[1]);
	pin(&type1.devices[1], ask % RANGE);
}

static void a_foreign_vgpu_that_is_opened_again(void **state)
{
	device_open(&type1.devices[1], &process[1]);
	type1_map(0);
	assert_true(pin(&type1.devices[1], 0));
	type1.meanwhile = reopen_foreign_vgpu;
	type1_unmap(&vcpu, 0, RANGE);
	assert_int_equal(type1.asks, 1);
}

static void a_foreign_process_is_reported_once(void **state)
{
	struct ghyvi_guard *guard = &type1.devices[0].guard;
	u32 i;

	device_open(&type1.devices[0], &process[1]);
	running = &vcpu;
	for (i = 0; i < 3; i++)
		assert_int_equal(ghyvi_guard_unmap(guard, &vcpu, process, i, 1), i > 0);
	call_returned(vcpu.calls[--vcpu.nr_calls]);
}

static void pins_of_another_vm_are_not_refused(void **state)
{
	device_open(&type1.devices[0], process);
	device_open(&type1.devices[1], &process[1]);
	type1_map(0);
	running = &vcpu;
	ghyvi_guard_unmap(&type1.devices[0].guard, &vcpu, process, 0, RANGE);
	assert_true(pin(&type1.devices[1], 1)); /* its first */
	assert_true(pin(&type1.devices[1], 2));
	assert_false(pin(&type1.devices[0], 3));
	call_returned(vcpu.calls[--vcpu.nr_calls]);
}

static void a_later_call_hides_no_earlier_one_of_a_foreign_process(void **state)
{
	u32 i;

	for (i = 0; i < 3; i++)
		device_open(&type1.devices[i], &process[i]);
	type1_map(0);
	running = &vcpu;
	ghyvi_guard_unmap(&type1.devices[1].guard, &vcpu, process, 0, 1);
	assert_true(pin(&type1.devices[2], 1)); /* its first */
	running = &another;
	ghyvi_guard_unmap(&type1.devices[0].guard, &another, process, 0, RANGE);
	assert_false(pin(&type1.devices[2], 0));
	call_returned(vcpu.calls[--vcpu.nr_calls]);
	assert_true(pin(&type1.devices[2], 0));
	call_returned(another.calls[--another.nr_calls]);
}

static void give_ups_are_counted_over_all_vgpus_of_a_call(void **state)
{
	u32 i, calls, given_up;

	for (i = 0; i < 3; i++)
		device_open(&type1.devices[i], process);
	for (calls = 0; calls < 2; calls++) {
		running = &vcpu;
		for (i = given_up = 0; i < 30; i++) {
			ghyvi_guard_unmap(&type1.devices[i % 3].guard, &vcpu, process, 0, RANGE);
			given_up += ghyvi_guard_may_give_up(&vcpu);
		}
		assert_int_equal(given_up, GHYVI_UNMAP_GIVE_UPS_MAX);
		call_returned(vcpu.calls[--vcpu.nr_calls]);
	}
}

/* Calls in progress of a hostile VMM. Each is inaccessible until its first access, a visit. */
static struct {
	struct thread threads[CROWD];
	struct sigaction fault; /* of before */
	_Atomic u32 visits;
	_Atomic bool pauses; /* at the first visit, at most WALK_MS_MAX */
	_Atomic bool paused_too_long;
} crowd;

static void crowd_protect(int access)
{
	u32 i;

	for (i = 0; i < CROWD; i++)
		ASSERT(!mprotect(crowd.threads[i].calls[0], PAGE_SIZE, access));
}

static void visit(int number, siginfo_t *info, void *data)
{
	void *page = (void *)((uintptr_t)info->si_addr & PAGE_MASK);
	u32 ms;

	ASSERT(!mprotect(page, PAGE_SIZE, PROT_READ | PROT_WRITE));
	if (crowd.visits++)
		return;
	for (ms = 0; crowd.pauses && ms < WALK_MS_MAX; ms++)
		usleep_range(1000, 1000);
	crowd.paused_too_long = crowd.pauses;
}

static void crowd_hide(void)
{
	crowd.visits = 0;
	crowd_protect(PROT_NONE);
}

static void crowd_begin(struct vgpu_model *device)
{
	struct sigaction fault = { .sa_sigaction = visit, .sa_flags = SA_SIGINFO };
	u32 i;

	memset(&crowd, 0, sizeof(crowd));
	for (i = 0; i < CROWD; i++) {
		running = &crowd.threads[i];
		ghyvi_guard_unmap(&device->guard, running, device->guard.process, 0, RANGE);
	}
	ASSERT(!sigaction(SIGSEGV, &fault, &crowd.fault));
	crowd_hide();
}

static void crowd_end(void)
{
	u32 i;

	crowd_protect(PROT_READ | PROT_WRITE);
	sigaction(SIGSEGV, &crowd.fault, NULL);
	for (i = 0; i < CROWD; i++)
		call_returned(crowd.threads[i].calls[0]);
}

static void a_pin_visits_no_calls_of_another_process(void **state)
{
	bool in_range, elsewhere, returned;
	u32 visits[3];

	device_open(&type1.devices[0], process);
	device_open(&type1.devices[1], &process[1]);
	type1_map(0);
	type1_map(RANGE);
	assert_true(pin(&type1.devices[1], 0));
	crowd_begin(&type1.devices[0]);
	elsewhere = pin(&type1.devices[1], 1);
	visits[0] = crowd.visits;

	crowd_hide();
	running = &vcpu;
	ghyvi_guard_unmap(&type1.devices[1].guard, &vcpu, &process[1], 0, RANGE);
	visits[1] = crowd.visits;

	crowd_hide();
	in_range = pin(&type1.devices[1], 2);
	elsewhere &= pin(&type1.devices[1], RANGE);
	visits[2] = crowd.visits;
	call_returned(vcpu.calls[--vcpu.nr_calls]);
	returned = pin(&type1.devices[1], 2);
	crowd_end();
	assert_true(elsewhere);
	assert_false(in_range);
	assert_true(returned);
	/* The oldest call shows that all are later than the first pin. */
	assert_in_range(visits[0], 0, 1);
	assert_in_range(visits[1], 0, VISITS_MAX);
	assert_in_range(visits[2], 0, 1);
}

static void *pin_in_another_thread(void *device)
{
	return (void *)(uintptr_t)pin(device, RANGE);
}

static void a_pin_does_not_wait_for_one_that_visits_many_calls(void **state)
{
	pthread_t walker;
	void *walked;
	bool pinned;

	device_open(&type1.devices[0], process);
	device_open(&type1.devices[1], &process[1]);
	type1_map(0);
	type1_map(RANGE);
	assert_true(pin(&type1.devices[0], 0));
	assert_true(pin(&type1.devices[1], 0));
	crowd_begin(&type1.devices[0]);
	crowd.pauses = true;
	pthread_create(&walker, NULL, pin_in_another_thread, &type1.devices[0]);
	while (!crowd.visits)
		usleep_range(1000, 1000);
	pinned = pin(&type1.devices[1], 1);
	crowd.pauses = false;
	pthread_join(walker, &walked);
	crowd_end();
	assert_true(pinned);
	assert_true(walked);
	assert_false(crowd.paused_too_long);
	assert_in_range(crowd.visits, CROWD, CROWD); /* its own process's */
}

static struct random rng;

static u32 rnd(u32 below)
{
	return random_range(&rng, 0, below - 1);
}

/* What other threads of one or several VMMs do while type 1 has dropped its locks. */
static void anything(u32 ask)
{
	void (*meanwhile)(u32 ask) = type1.meanwhile;
	static const struct thread none;
	struct thread *caller = running;
	struct thread thread = none;
	struct vgpu_model *device;
	u32 i;

	for (i = rnd(6); i; i--) {
		device = &type1.devices[rnd(DEVICES)];
		switch (rnd(6)) {
		case 0:
			if (device->registered)
				device_close(device);
			device_open(device, &process[rnd(4) ? 0 : rnd(DEVICES)]);
			device->gives_up = !rnd(4);
			break;
		case 1:
			type1_map(rnd(PAGES - RANGE));
			break;
		case 2:
			type1.meanwhile = rnd(4) ? NULL : meanwhile;
			thread.process = &process[rnd(4) ? 0 : rnd(DEVICES)];
			type1_unmap(&thread, 0, PAGES);
			type1.meanwhile = meanwhile;
			running = caller;
			break;
		default:
			if (device->registered)
				pin(device, rnd(PAGES));
		}
	}
}

/*
 * No device is left that type 1 could ask to unpin: BUG_ON(list_empty(...)) in vfio_dma_do_unmap().
 */
static void a_vgpu_that_is_being_closed_pins_nothing(void **state)
{
	struct vgpu_model *device = &type1.devices[0];

	assert_false(pin(device, 3)); /* not open yet */
	device_open(device, process);
	type1_map(0);
	assert_true(pin(device, 3));
	ghyvi_guard_close(&device->guard);
	assert_false(pin(device, 4)); /* before its pins are released, and after */
	device_close(device);
	assert_false(pin(device, 3));
	assert_int_equal(pins_of(0), 0);
	device_open(device, process);
	assert_true(pin(device, 3));
}

static void an_unmap_call_ends_in_time(void **state)
{
	u32 seed, i, asks = 0;

	for (seed = 1; seed <= SEEDS; seed++) {
		setup(NULL);
		random_seed(&rng, seed);
		for (i = 0; i < 20; i++)
			anything(0);
		type1.meanwhile = anything;
		type1_unmap(&vcpu, 0, PAGES);
		asks = max(asks, type1.asks_max);
	}
	assert_true(asks > 3);
}

#define GUARD_TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GUARD_TEST(pins_of_the_range_are_refused_until_the_call_returns),
		GUARD_TEST(a_call_with_many_ranges_refuses_all_memory),
		GUARD_TEST(two_slow_vgpus_under_a_vcpu_that_toggles_a_segment),
		GUARD_TEST(mappings_that_are_replaced_all_the_time),
		GUARD_TEST(vgpus_that_are_opened_one_after_the_other),
		GUARD_TEST(a_vgpu_that_is_opened_again_and_again),
		GUARD_TEST(vgpus_of_other_processes_in_the_container),
		GUARD_TEST(a_foreign_vgpu_that_is_opened_again),
		GUARD_TEST(a_foreign_process_is_reported_once),
		GUARD_TEST(pins_of_another_vm_are_not_refused),
		GUARD_TEST(a_later_call_hides_no_earlier_one_of_a_foreign_process),
		GUARD_TEST(give_ups_are_counted_over_all_vgpus_of_a_call),
		GUARD_TEST(a_pin_visits_no_calls_of_another_process),
		GUARD_TEST(a_pin_does_not_wait_for_one_that_visits_many_calls),
		GUARD_TEST(a_vgpu_that_is_being_closed_pins_nothing),
		GUARD_TEST(an_unmap_call_ends_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
