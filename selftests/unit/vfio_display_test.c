// SPDX-License-Identifier: GPL-2.0-only
/* The display as QEMU asks for it: VFIO_DEVICE_QUERY_GFX_PLANE. */
#include "../fuzz/vfio_device.h"
#include "vgpu/display_regs.h"

#define PLANE_BYTES offsetofend(struct vfio_device_gfx_plane_info, region_index)

static struct vfio_device_gfx_plane_info plane;

/* @bytes: size of the user's memory, of which no more may be accessed. */
static long query_in(size_t bytes)
{
	long ret;

	shim_user.bytes = bytes;
	shim_user.at = memcpy(malloc(bytes), &plane, min(bytes, sizeof(plane)));
	ret = ghyvi_device_ops.ioctl(&it.vdev, VFIO_DEVICE_QUERY_GFX_PLANE,
				     (unsigned long)shim_user.at);
	memcpy(&plane, shim_user.at, min(bytes, sizeof(plane)));
	free(shim_user.at);
	return ret;
}

/* All other members have a value that is not 0. */
static long query(u32 flags)
{
	memset(&plane, 0xa5, sizeof(plane));
	plane.argsz = PLANE_BYTES;
	plane.flags = flags;
	return query_in(PLANE_BYTES);
}

static void a_region_is_supported_and_a_dma_buf_is_not(void **state)
{
	assert_int_equal(query(VFIO_GFX_PLANE_TYPE_PROBE | VFIO_GFX_PLANE_TYPE_REGION), 0);
	assert_int_equal(query(VFIO_GFX_PLANE_TYPE_PROBE | VFIO_GFX_PLANE_TYPE_DMABUF), -EINVAL);
	assert_int_equal(query(VFIO_GFX_PLANE_TYPE_DMABUF), -EINVAL);
	assert_int_equal(ghyvi_device_ops.ioctl(&it.vdev, VFIO_DEVICE_GET_GFX_DMABUF, 0), -ENOTTY);
}

static void the_plane_is_off(void **state)
{
	const struct vfio_device_gfx_plane_info off = {
		.argsz = PLANE_BYTES,
		.flags = VFIO_GFX_PLANE_TYPE_REGION,
		.drm_plane_type = 0xa5a5a5a5,
	};

	assert_int_equal(query(VFIO_GFX_PLANE_TYPE_REGION), 0);
	assert_memory_equal(&plane, &off, PLANE_BYTES);
}

static void other_flags_are_invalid(void **state)
{
	const u32 known = VFIO_GFX_PLANE_TYPE_PROBE | VFIO_GFX_PLANE_TYPE_REGION;
	u32 bit;

	assert_int_equal(query(0), -EINVAL);
	assert_int_equal(query(VFIO_GFX_PLANE_TYPE_PROBE), -EINVAL);
	for (bit = 1; bit; bit <<= 1) {
		if (bit & known)
			continue;
		assert_int_equal(query(VFIO_GFX_PLANE_TYPE_REGION | bit), -EINVAL);
		assert_int_equal(query(known | bit), -EINVAL);
	}
}

static void a_request_that_is_too_small_is_refused(void **state)
{
	memset(&plane, 0, sizeof(plane));
	plane.flags = VFIO_GFX_PLANE_TYPE_REGION;
	plane.argsz = PLANE_BYTES - 1;
	assert_int_equal(query_in(PLANE_BYTES), -EINVAL);
	plane.argsz = PLANE_BYTES;
	assert_int_equal(query_in(PLANE_BYTES - 1), -EFAULT);
	/* Later kernels' structure is longer. */
	plane.argsz = PLANE_BYTES + 64;
	assert_int_equal(query_in(PLANE_BYTES + 64), 0);
}

/* with a display */

#define WIDTH 640u
#define HEIGHT 400u
#define SURFACE HIDDEN_START
#define SURFACE_2 (HIDDEN_START + 0x200000)
#define REGION ((u64)VFIO_PCI_NUM_REGIONS << GHYVI_REGION_SHIFT)
#define REGION_BYTES (1920ull * 1080 * 4) /* whole pages */

static void show(u32 width, u32 height)
{
	wr(PIPEASRC, (width - 1) << 16 | (height - 1));
	wr(PIPEACONF, 1u << 31);
	wr(PLANE_STRIDE_1_A, width * 4 / 64);
	wr(PLANE_SIZE_1_A, (height - 1) << 16 | (width - 1));
	wr(PLANE_CTL_1_A, 1u << 31 | 4u << 24);
	wr(PLANE_SURF_1_A, SURFACE);
}

static const u32 *shown_pixels(void)
{
	return it.screen.memory;
}

/* The region has the picture at @surface. */
static bool shows(u64 surface)
{
	u32 i;

	for (i = 0; i < WIDTH * HEIGHT; i++)
		if (shown_pixels()[i] !=
		    (*(u32 *)(gtt.memory + surface - HIDDEN_START + 4 * i) & 0xffffff))
			return false;
	return true;
}

static long ask(void)
{
	return query(VFIO_GFX_PLANE_TYPE_REGION);
}

static void assert_off(void)
{
	u32 i;

	assert_int_equal(ask(), 0);
	assert_int_equal(plane.drm_format, 0);
	assert_int_equal(plane.size, 0);
	for (i = 0; it.screen.memory && i < WIDTH * HEIGHT; i++)
		assert_int_equal(shown_pixels()[i], 0);
}

static void the_region_has_the_guests_picture(void **state)
{
	assert_off();
	show(WIDTH, HEIGHT);
	assert_int_equal(ask(), 0);
	assert_int_equal(plane.drm_format, 'X' | 'R' << 8 | '2' << 16 | '4' << 24);
	assert_int_equal(plane.drm_format_mod, 0);
	assert_int_equal(plane.width, WIDTH);
	assert_int_equal(plane.height, HEIGHT);
	assert_int_equal(plane.stride, WIDTH * 4);
	assert_int_equal(plane.size, WIDTH * HEIGHT * 4);
	assert_int_equal(plane.x_pos | plane.y_pos | plane.x_hot | plane.y_hot, 0);
	assert_int_equal(plane.region_index, VFIO_PCI_NUM_REGIONS);
	assert_true(shows(SURFACE));
}

static void a_flip_is_shown_at_once(void **state)
{
	show(WIDTH, HEIGHT);
	ask();
	wr(PLANE_SURF_1_A, SURFACE_2);
	ask();
	assert_true(shows(SURFACE_2));
}

/* The query that finds one of two changes shows both. */
static void a_changed_pixel_is_found(void **state)
{
	const u32 last = WIDTH * HEIGHT - 1;
	u32 *guest = (u32 *)gtt.memory, before[2];

	show(WIDTH, HEIGHT);
	ask();
	before[0] = shown_pixels()[0];
	before[1] = shown_pixels()[last];
	guest[0] ^= 1;
	guest[last] ^= 0x123456;
	while (shown_pixels()[0] == before[0] && shown_pixels()[last] == before[1])
		ask();
	assert_true(shows(SURFACE));
}

static unsigned int reads;

static void count_read(void)
{
	reads++;
}

/* A query that finds no change may use 1/64 of the time, and at last 1/256. */
static void an_idle_screen_is_not_read_as_a_whole(void **state)
{
	u64 began, spent = ~0ull;
	u32 i;

	show(WIDTH, HEIGHT);
	for (i = 0; i < 8; i++) { /* how long a whole picture takes */
		wr(PLANE_SURF_1_A, i % 2 ? SURFACE : SURFACE_2);
		began = ktime_get_ns();
		ask();
		spent = min(spent, ktime_get_ns() - began);
	}
	reads = 0;
	gtt.in_access = count_read;
	for (i = 0; i < 16; i++)
		ask();
	assert_in_range(reads, 0, 4 * HEIGHT); /* a row takes a read or two */
	it.screen.changed_ns -= 2 * NSEC_PER_SEC;
	it.screen.credit_ns = 0; /* a query may have been interrupted for long */
	it.screen.queried_ns -= 64 * spent; /* for a quarter of it */
	reads = 0;
	ask();
	assert_in_range(reads, 8, HEIGHT);
	it.screen.queried_ns -= 10000 * NSEC_PER_SEC;
	reads = 0;
	ask();
	gtt.in_access = NULL;
	assert_true(reads >= HEIGHT);
}

static void slow_read(void)
{
	now_ns += 20 * NSEC_PER_MSEC;
}

/* A guest can make each of its pages take long. QEMU's other work must not wait for all of them. */
static void a_slow_picture_takes_several_queries(void **state)
{
	unsigned int queries;
	u64 began;

	stop_clock();
	show(WIDTH, HEIGHT);
	gtt.in_access = slow_read;
	for (queries = 0; !queries || it.screen.due; queries++) {
		began = now_ns;
		assert_int_equal(ask(), 0);
		assert_int_equal(plane.height, HEIGHT);
		assert_in_range(now_ns - began, 1, 3 * NSEC_PER_SEC);
		assert_in_range(queries, 0, 20);
	}
	gtt.in_access = NULL;
	assert_in_range(queries, 3, 20);
	assert_true(shows(SURFACE));

	/* The next change is found as soon as any. */
	((u32 *)gtt.memory)[0] ^= 1;
	for (queries = 0; queries < 10 * 30 && !shows(SURFACE); queries++) {
		now_ns += NSEC_PER_SEC / 30;
		ask();
	}
	shim_clock = NULL;
	assert_true(shows(SURFACE));
}

static unsigned int reads;

static void very_slow_read(void)
{
	now_ns += 200 * NSEC_PER_MSEC;
	reads++;
}

static void read_until_killed(void)
{
	shim_killed = ++reads == 5;
}

static void a_band_ends_in_time(void **state)
{
	s64 faults = atomic64_read(&vgpu->params.stats->display_faults);
	u64 began;

	stop_clock();
	show(WIDTH, HEIGHT);
	gtt.in_access = very_slow_read;
	reads = 0;
	began = now_ns;
	assert_int_equal(ask(), 0);
	assert_in_range(now_ns - began, 2 * NSEC_PER_SEC, 2200 * NSEC_PER_MSEC);
	assert_int_equal(reads, 10);
	assert_true(atomic64_read(&vgpu->params.stats->display_faults) > faults);
	reads = 0;
	gtt.in_access = read_until_killed;
	ask();
	shim_killed = false;
	assert_int_equal(reads, 5);
	gtt.in_access = NULL;
	shim_clock = NULL;
	do
		ask();
	while (it.screen.due);
	assert_true(shows(SURFACE)); /* what has changed is drawn once more */
}

static void a_display_that_is_switched_off_is_blank(void **state)
{
	show(WIDTH, HEIGHT);
	ask();
	wr(PIPEACONF, 0);
	assert_off();
	show(WIDTH, HEIGHT);
	ask();
	assert_true(shows(SURFACE));
	ghyvi_vgpu_reset(vgpu);
	assert_off();
}

/* The guest's memory may be on its way from another host. */
static void a_paused_screen_stays_as_it_is(void **state)
{
	show(WIDTH, HEIGHT);
	ask();
	ghyvi_vgpu_pause(vgpu);
	reads = 0;
	gtt.in_access = count_read;
	assert_int_equal(ask(), 0);
	gtt.in_access = NULL;
	assert_int_equal(reads, 0);
	assert_int_equal(plane.width, WIDTH);
	assert_true(shows(SURFACE));
	ghyvi_vgpu_resume(vgpu);
}

static void a_picture_of_another_size_leaves_nothing_behind(void **state)
{
	u32 i;

	show(WIDTH, HEIGHT);
	ask();
	show(320, 200);
	ask();
	assert_int_equal(plane.size, 320 * 200 * 4);
	for (i = 320 * 200; i < WIDTH * HEIGHT; i++)
		assert_int_equal(shown_pixels()[i], 0);
}

static struct vfio_region_info info;

static long get_info_of(u32 index)
{
	info = (struct vfio_region_info){ .argsz = sizeof(info), .index = index };
	shim_user.at = (void *)&info;
	shim_user.bytes = sizeof(info);
	return ghyvi_device_ops.ioctl(&it.vdev, VFIO_DEVICE_GET_REGION_INFO, (unsigned long)&info);
}

static u32 regions(void)
{
	struct vfio_device_info device_info = { .argsz = sizeof(device_info) };

	shim_user.at = (void *)&device_info;
	shim_user.bytes = sizeof(device_info);
	assert_int_equal(ghyvi_device_ops.ioctl(&it.vdev, VFIO_DEVICE_GET_INFO,
						(unsigned long)&device_info),
			 0);
	return device_info.num_regions;
}

static int map(u64 offset, u64 bytes, unsigned long flags)
{
	struct vm_area_struct vma = {
		.vm_start = 0x10000,
		.vm_end = 0x10000 + bytes,
		.vm_pgoff = (REGION + offset) >> PAGE_SHIFT,
		.vm_flags = flags,
	};
	int ret = ghyvi_device_ops.mmap(&it.vdev, &vma);

	assert_true(ret || !(vma.vm_flags & (VM_MAYWRITE | VM_WRITE)));
	return ret;
}

static void the_region_can_only_be_read(void **state)
{
	u32 pixels[4];
	loff_t at = REGION + 16;

	assert_int_equal(regions(), VFIO_PCI_NUM_REGIONS + 2);
	assert_int_equal(get_info_of(VFIO_PCI_NUM_REGIONS), 0);
	assert_int_equal(info.size, REGION_BYTES);
	assert_int_equal(info.offset, REGION);
	assert_int_equal(info.flags, VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_MMAP);
	assert_int_equal(get_info_of(VFIO_PCI_NUM_REGIONS + 2), -EINVAL);
	assert_int_equal(map(0, REGION_BYTES, VM_SHARED | VM_MAYWRITE), 0);
	assert_int_equal(map(PAGE_SIZE, PAGE_SIZE, VM_SHARED | VM_MAYWRITE), 0);
	assert_int_equal(map(0, REGION_BYTES, VM_SHARED | VM_WRITE | VM_MAYWRITE), -EPERM);
	assert_int_equal(map(0, REGION_BYTES, 0), -EINVAL);
	assert_int_equal(map(0, REGION_BYTES + PAGE_SIZE, VM_SHARED), -EINVAL);
	assert_int_equal(map(REGION_BYTES, PAGE_SIZE, VM_SHARED), -EINVAL);

	show(WIDTH, HEIGHT);
	ask();
	shim_user.at = memset(pixels, 0xa5, sizeof(pixels));
	shim_user.bytes = sizeof(pixels);
	ghyvi_device_ops.write(&it.vdev, (char *)pixels, sizeof(pixels), &at);
	at = REGION + 16;
	assert_int_equal(ghyvi_device_ops.read(&it.vdev, (char *)pixels, sizeof(pixels), &at),
			 sizeof(pixels));
	assert_memory_equal(pixels, shown_pixels() + 4, sizeof(pixels));
	assert_true(shows(SURFACE));
	at = REGION + REGION_BYTES;
	assert_int_equal(ghyvi_device_ops.read(&it.vdev, (char *)pixels, 4, &at), -EINVAL);
}

static void without_a_display_there_is_no_region(void **state)
{
	loff_t at = REGION;
	u32 pixel;

	show(WIDTH, HEIGHT);
	ask();
	mutex_lock(&it.lock);
	ghyvi_display_close(&it);
	mutex_unlock(&it.lock);
	ghyvi_vgpu_set_display(vgpu, false);
	assert_off();
	assert_null(it.screen.memory);
	assert_int_equal(regions(), VFIO_PCI_NUM_REGIONS);
	assert_int_equal(get_info_of(VFIO_PCI_NUM_REGIONS), -EINVAL);
	assert_int_equal(map(0, PAGE_SIZE, VM_SHARED), -EINVAL);
	shim_user.at = (char *)&pixel;
	shim_user.bytes = 4;
	assert_int_equal(ghyvi_device_ops.read(&it.vdev, (char *)&pixel, 4, &at), -EINVAL);
}

static void the_next_user_does_not_see_the_picture(void **state)
{
	u32 i;

	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
	show(WIDTH, HEIGHT);
	ask();
	assert_true(shows(SURFACE));
	ghyvi_device_ops.close_device(&it.vdev);
	assert_null(it.screen.memory);
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
	assert_int_equal(map(0, REGION_BYTES, VM_SHARED), 0);
	for (i = 0; i < REGION_BYTES / 4; i++)
		assert_int_equal(shown_pixels()[i], 0);
	assert_off();
	ghyvi_device_ops.close_device(&it.vdev);
}

static void a_capture_is_the_whole_picture(void **state)
{
	const struct ghyvi_screen_header *header;
	void *frame;
	u32 i;

	assert_int_equal(ghyvi_display_capture(&it, &frame), -ENODATA);
	show(WIDTH, HEIGHT);
	assert_int_equal(ghyvi_display_capture(&it, &frame), 16 + WIDTH * HEIGHT * 4);
	header = frame;
	assert_int_equal(header->format, 'X' | 'R' << 8 | '2' << 16 | '4' << 24);
	assert_int_equal(header->width, WIDTH);
	assert_int_equal(header->height, HEIGHT);
	assert_int_equal(header->stride, WIDTH * 4);
	for (i = 0; i < WIDTH * HEIGHT; i++)
		assert_int_equal(((u32 *)(header + 1))[i], ((u32 *)gtt.memory)[i] & 0xffffff);
	vfree(frame);
	assert_null(it.screen.memory);
	/* However long the guest makes it take, the process that looks can be killed. */
	shim_killed = true;
	reads = 0;
	gtt.in_access = count_read;
	assert_int_equal(ghyvi_display_capture(&it, &frame), -EINTR);
	gtt.in_access = NULL;
	shim_killed = false;
	assert_int_equal(reads, 0);
}

static void a_capture_ends_in_time_and_the_rest_is_black(void **state)
{
	const u32 *pixels;
	void *frame;
	u64 began;

	stop_clock();
	show(WIDTH, HEIGHT);
	gtt.in_access = very_slow_read;
	began = now_ns;
	assert_int_equal(ghyvi_display_capture(&it, &frame), 16 + WIDTH * HEIGHT * 4);
	gtt.in_access = NULL;
	shim_clock = NULL;
	assert_in_range(now_ns - began, 10 * NSEC_PER_SEC, 12 * NSEC_PER_SEC);
	pixels = frame + 16;
	assert_int_equal(pixels[1], ((u32 *)gtt.memory)[1] & 0xffffff);
	assert_int_equal(pixels[WIDTH * HEIGHT - 1], 0);
	vfree(frame);
}

static int set_up_display(void **state)
{
	int err = set_up_device(state);
	u32 i;

	for (i = 0; i < HIDDEN_BYTES; i += 4)
		*(u32 *)(gtt.memory + i) = i / 4 * 2654435761u;
	ghyvi_vgpu_set_display(vgpu, true);
	return err;
}

static int tear_down(void **state)
{
	mutex_lock(&it.lock);
	ghyvi_display_close(&it);
	mutex_unlock(&it.lock);
	return teardown(state);
}

#define OFF_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_device, teardown)
#define DISPLAY_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_display, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OFF_TEST(a_region_is_supported_and_a_dma_buf_is_not),
		OFF_TEST(the_plane_is_off),
		OFF_TEST(other_flags_are_invalid),
		OFF_TEST(a_request_that_is_too_small_is_refused),
		DISPLAY_TEST(a_region_is_supported_and_a_dma_buf_is_not),
		DISPLAY_TEST(the_plane_is_off),
		DISPLAY_TEST(other_flags_are_invalid),
		DISPLAY_TEST(the_region_has_the_guests_picture),
		DISPLAY_TEST(a_flip_is_shown_at_once),
		DISPLAY_TEST(a_changed_pixel_is_found),
		DISPLAY_TEST(an_idle_screen_is_not_read_as_a_whole),
		DISPLAY_TEST(a_slow_picture_takes_several_queries),
		DISPLAY_TEST(a_band_ends_in_time),
		DISPLAY_TEST(a_display_that_is_switched_off_is_blank),
		DISPLAY_TEST(a_paused_screen_stays_as_it_is),
		DISPLAY_TEST(a_picture_of_another_size_leaves_nothing_behind),
		DISPLAY_TEST(the_region_can_only_be_read),
		DISPLAY_TEST(without_a_display_there_is_no_region),
		DISPLAY_TEST(the_next_user_does_not_see_the_picture),
		DISPLAY_TEST(a_capture_is_the_whole_picture),
		DISPLAY_TEST(a_capture_ends_in_time_and_the_rest_is_black),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
