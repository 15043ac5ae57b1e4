// SPDX-License-Identifier: GPL-2.0-only
/*
 * VFIO unmaps guest memory while others pin it. The test takes VFIO's locks as type 1 does
 * (drivers/vfio/vfio_iommu_type1.c of the kernel). ThreadSanitizer also checks the order of locks.
 */
#include "gtt_fake.h"
#include "vfio/unmap.h"

#define PAGES 24u
#define ROUNDS 300u
#define VFIO_RETRIES 10
#define GIVE_UPS_MAX 5 /* of one system call, as kernel/kvm/guard.c allows */
#define RANGES 20u /* more than the queue holds */
#define LONG_MS 600 /* more than any timeout */

static struct ghyvi_unmap unmapping;
static struct workqueue_struct *workers;
static struct ghyvi_root *root;
/*
 * VFIO's locks: of mappings and pins; and of the list of devices, held while devices are notified
 * of an unmap.
 */
static pthread_mutex_t iommu, device_list;
static _Atomic bool over, has_iommu;
static _Atomic int give_ups;

static int setup_vfio(void **state)
{
	int ret = setup(state);
	u32 i;

	pthread_mutex_init(&iommu, NULL);
	pthread_mutex_init(&device_list, NULL);
	workers = alloc_workqueue("unmap", WQ_UNBOUND, 1);
	ghyvi_unmap_init(&unmapping, fake.gtt, workers);
	over = has_iommu = false;
	give_ups = 0;
	build_tree(PML4_GFN);
	for (i = 0; i < PAGES; i++)
		write_pte(PT_GFN, i, pte(DATA + i));
	root = get_root4(PML4_GFN);
	fake.hv_lock = &iommu;
	return ret;
}

static int teardown_vfio(void **state)
{
	ghyvi_unmap_fini(&unmapping);
	destroy_workqueue(workers);
	return teardown(state);
}

static u32 pins(void)
{
	u32 i, pins = 0;

	for (i = 0; i < PAGES; i++)
		pins += fake.pins[DATA + i];
	return pins;
}

static void set_all_absent(bool absent)
{
	u32 i;

	for (i = 0; i < PAGES; i++)
		set_absent(DATA + i, absent);
}

static bool may_give_up(void)
{
	return give_ups++ < GIVE_UPS_MAX;
}

/*
 * VFIO_IOMMU_UNMAP_DMA; @meanwhile happens when the device is told the first time. Returns how
 * often it was told.
 */
static int vfio_unmap_dma(void (*meanwhile)(void))
{
	int told = 0;

	give_ups = 0;
	pthread_mutex_lock(&iommu);
	while (pins()) {
		ASSERT(told <= VFIO_RETRIES);
		/* kernel/kvm/guard.c refuses pins from the first ask on. */
		set_all_absent(true);
		pthread_mutex_lock(&device_list);
		pthread_mutex_unlock(&iommu);
		if (meanwhile && !told)
			meanwhile();
		told++;
		ghyvi_unmap(&unmapping, DATA, PAGES, may_give_up);
		pthread_mutex_unlock(&device_list);
		pthread_mutex_lock(&iommu);
	}
	set_all_absent(true);
	pthread_mutex_unlock(&iommu);
	return told;
}

/* VFIO_IOMMU_MAP_DMA */
static void vfio_map_dma(void)
{
	pthread_mutex_lock(&iommu);
	set_all_absent(false);
	pthread_mutex_unlock(&iommu);
}

/* Another vGPU of the same VM is opened. */
static void *open_another(void *unused)
{
	pthread_mutex_lock(&iommu);
	has_iommu = true;
	pthread_mutex_lock(&device_list);
	pthread_mutex_unlock(&device_list);
	pthread_mutex_unlock(&iommu);
	return NULL;
}

/* The guest rewrites its table and submits. */
static void *submit(void *unused)
{
	u32 i, round;

	for (round = 1; !over; round++) {
		for (i = 0; i < PAGES; i++)
			write_pte(PT_GFN, i, pte(DATA + (i + round) % PAGES));
		ghyvi_gtt_sync(fake.gtt, root);
	}
	return NULL;
}

static void nothing_of_the_range_is_pinned_afterwards(void **state)
{
	assert_int_equal(pins(), PAGES);
	assert_true(ghyvi_unmap(&unmapping, DATA + 1, 2, NULL));
	assert_int_equal(pins(), PAGES - 2);
	assert_int_equal(fake.pins[DATA + 1] + fake.pins[DATA + 2], 0);
	assert_true(is_scratch(shadow_pt(root)[1]) && is_scratch(shadow_pt(root)[2]));
	assert_true(shadow_pt(root)[0] == spte(DATA) && shadow_pt(root)[3] == spte(DATA + 3));
}

static void memory_comes_and_goes_while_the_guest_submits(void **state)
{
	pthread_t guest;
	u32 i;

	pthread_create(&guest, NULL, submit, NULL);
	for (i = 0; i < ROUNDS; i++) {
		vfio_unmap_dma(NULL);
		assert_int_equal(pins(), 0);
		vfio_map_dma();
	}
	over = true;
	pthread_join(guest, NULL);
	/*
	 * The memory is mapped again, and the guest writes the entry again, because retries are
	 * limited.
	 */
	for (i = 0; i < PAGES; i++)
		write_pte(PT_GFN, i, 0);
	ghyvi_gtt_sync(fake.gtt, root);
	for (i = 0; i < PAGES; i++)
		write_pte(PT_GFN, i, pte(DATA + i));
	ghyvi_gtt_sync(fake.gtt, root);
	assert_int_equal(ghyvi_gtt_check(fake.gtt, root), 0);
	assert_true(shadow_pt(root)[5] == spte(DATA + 5));
}

static pthread_t opener;

/* This thread holds one of VFIO's locks and waits for the other. */
static void open_another_meanwhile(void)
{
	pthread_create(&opener, NULL, open_another, NULL);
	while (!has_iommu)
		usleep_range(100, 100);
}

/*
 * The first thread holds device_list and waits for pages to be unpinned. The second holds iommu and
 * waits for device_list. The third waits for iommu to pin pages.
 */
static void three_threads_do_not_wait_for_each_other(void **state)
{
	pthread_t guest;

	pthread_create(&guest, NULL, submit, NULL);
	assert_in_range(vfio_unmap_dma(open_another_meanwhile), 1, VFIO_RETRIES);
	assert_int_equal(pins(), 0);
	pthread_join(opener, NULL);
	over = true;
	pthread_join(guest, NULL);
}

static _Atomic bool returned;

static void *unmap_once(void *range)
{
	ghyvi_unmap(&unmapping, range ? (u64)(uintptr_t)range : DATA, range ? 1 : PAGES,
		    may_give_up);
	returned = true;
	return NULL;
}

static void a_caller_that_may_not_give_up_waits(void **state)
{
	pthread_t waiting;
	u32 i;

	pthread_mutex_lock(&iommu);
	for (i = 0; i < GIVE_UPS_MAX; i++)
		assert_false(ghyvi_unmap(&unmapping, DATA, PAGES, may_give_up));
	returned = false;
	pthread_create(&waiting, NULL, unmap_once, NULL);
	usleep_range(LONG_MS * 1000, LONG_MS * 1000);
	assert_false(returned);
	pthread_mutex_unlock(&iommu);
	pthread_join(waiting, NULL);
	assert_int_equal(pins(), 0);
}

static void ranges_beyond_the_queue_are_unmapped_too(void **state)
{
	pthread_t threads[RANGES];
	u64 i;

	pthread_mutex_lock(&iommu);
	for (i = 0; i < RANGES; i++)
		pthread_create(&threads[i], NULL, unmap_once, (void *)(uintptr_t)(DATA + i));
	usleep_range(LONG_MS * 1000, LONG_MS * 1000);
	pthread_mutex_unlock(&iommu);
	for (i = 0; i < RANGES; i++)
		pthread_join(threads[i], NULL);
	/* A call that gave up may have found no room for its range; type 1 repeats it. */
	for (i = 0; i <= RANGES; i++)
		assert_true(ghyvi_unmap(&unmapping, DATA + i, 1, NULL));
	assert_int_equal(pins(), PAGES - RANGES - 1);
}

static bool always(void)
{
	return true;
}

static void a_caller_without_room_may_give_up_too(void **state)
{
	u64 i;

	pthread_mutex_lock(&iommu);
	for (i = 0; i <= GHYVI_UNMAP_RANGES; i++)
		assert_false(ghyvi_unmap(&unmapping, DATA + i, 1, always));
	pthread_mutex_unlock(&iommu);
	assert_true(ghyvi_unmap(&unmapping, DATA + GHYVI_UNMAP_RANGES, 1, NULL));
	assert_int_equal(pins(), PAGES - GHYVI_UNMAP_RANGES - 1);
}

#define VFIO_TEST(f) cmocka_unit_test_setup_teardown(f, setup_vfio, teardown_vfio)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VFIO_TEST(nothing_of_the_range_is_pinned_afterwards),
		VFIO_TEST(memory_comes_and_goes_while_the_guest_submits),
		VFIO_TEST(three_threads_do_not_wait_for_each_other),
		VFIO_TEST(a_caller_that_may_not_give_up_waits),
		VFIO_TEST(ranges_beyond_the_queue_are_unmapped_too),
		VFIO_TEST(a_caller_without_room_may_give_up_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
