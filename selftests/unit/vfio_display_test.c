// SPDX-License-Identifier: GPL-2.0-only
/* The display as QEMU asks for it: VFIO_DEVICE_QUERY_GFX_PLANE. */
#include "../fuzz/vfio_device.h"

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

static int set_up(void **state)
{
	int err = setup_gen9(state);

	set_up_device();
	return err;
}

#define DISPLAY_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DISPLAY_TEST(a_region_is_supported_and_a_dma_buf_is_not),
		DISPLAY_TEST(the_plane_is_off),
		DISPLAY_TEST(other_flags_are_invalid),
		DISPLAY_TEST(a_request_that_is_too_small_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
