// SPDX-License-Identifier: GPL-2.0-only
/*
 * The OpRegion as QEMU finds it, and as a driver reads it: by the offsets of Intel's descriptions,
 * not by the structures of opregion.c.
 */
#include "../fuzz/vfio_device.h"

#define BYTES 8192u
#define VBT 0x400u
#define TYPE_OPREGION 1u

static struct {
	struct vfio_region_info info;
	struct vfio_region_info_cap_type type;
} found;
static u8 opregion[BYTES];

static long ask(u32 command, void *request, size_t bytes)
{
	shim_user.at = request;
	shim_user.bytes = bytes;
	return ghyvi_device_ops.ioctl(&it.vdev, command, (unsigned long)request);
}

/* The number of the region with the type of an OpRegion; 0: there is none. */
static u32 find_region(void)
{
	struct vfio_device_info info = { .argsz = sizeof(info) };
	u32 i;

	assert_int_equal(ask(VFIO_DEVICE_GET_INFO, &info, sizeof(info)), 0);
	for (i = VFIO_PCI_NUM_REGIONS; i < info.num_regions; i++) {
		memset(&found, 0, sizeof(found));
		found.info.argsz = sizeof(found);
		found.info.index = i;
		assert_int_equal(ask(VFIO_DEVICE_GET_REGION_INFO, &found, sizeof(found)), 0);
		if (found.info.flags & VFIO_REGION_INFO_FLAG_CAPS &&
		    found.type.header.id == VFIO_REGION_INFO_CAP_TYPE &&
		    found.type.type == 0x80008086u && found.type.subtype == TYPE_OPREGION)
			return i;
	}
	return 0;
}

static ssize_t read_region(void *to, size_t bytes, loff_t at)
{
	shim_user.at = to;
	shim_user.bytes = bytes;
	at += (loff_t)found.info.offset;
	return ghyvi_device_ops.read(&it.vdev, to, bytes, &at);
}

static u32 get(u32 offset, unsigned int bytes)
{
	u32 value = 0;

	assert_true(offset + bytes <= BYTES);
	memcpy(&value, opregion + offset, bytes);
	return value;
}

/* The offset of the data of a block, whose size is returned in @bytes. */
static u32 find_block(u8 id, u32 *bytes)
{
	u32 bdb = VBT + get(VBT + 28, 4), at = bdb + get(bdb + 18, 2);
	u32 end = bdb + get(bdb + 20, 2);

	for (; at < end; at += 3 + get(at + 1, 2))
		if (get(at, 1) == id) {
			*bytes = get(at + 1, 2);
			assert_true(at + 3 + *bytes <= end);
			return at + 3;
		}
	assert_int_equal(at, end);
	fail_msg("there is no block %u", id);
	return 0;
}

static void there_is_one_with_a_display(void **state)
{
	u8 before[16], ones[16];
	loff_t at;

	assert_int_equal(find_region(), VFIO_PCI_NUM_REGIONS + 1);
	assert_int_equal(found.info.size, BYTES);
	assert_int_equal(found.info.flags, VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_CAPS);
	assert_int_equal(read_region(opregion, BYTES, 0), BYTES);
	assert_int_equal(read_region(opregion, 4, BYTES), -EINVAL);
	/* Stores are ignored. */
	assert_int_equal(read_region(before, sizeof(before), VBT), sizeof(before));
	shim_user.at = (char *)memset(ones, 0xff, sizeof(ones));
	at = (loff_t)found.info.offset + VBT;
	ghyvi_device_ops.write(&it.vdev, (char *)ones, sizeof(ones), &at);
	assert_int_equal(read_region(ones, sizeof(ones), VBT), sizeof(ones));
	assert_memory_equal(before, ones, sizeof(ones));
}

static void there_is_none_without_a_display(void **state)
{
	loff_t at = (loff_t)(VFIO_PCI_NUM_REGIONS + 1) << GHYVI_REGION_SHIFT;

	assert_int_equal(find_region(), 0);
	shim_user.at = (char *)opregion;
	shim_user.bytes = 4;
	assert_int_equal(ghyvi_device_ops.read(&it.vdev, (char *)opregion, 4, &at), -EINVAL);
}

static void its_header_names_the_vbt_and_nothing_else(void **state)
{
	u32 i;

	assert_memory_equal(opregion, "IntelGraphicsMem", 16);
	assert_int_equal(get(16, 4), BYTES / 1024);
	assert_int_equal(get(23, 1), 2); /* major version */
	assert_int_equal(get(88, 4), 1 << 3); /* mailboxes */
	for (i = 0x100; i < VBT; i++)
		assert_int_equal(opregion[i], 0);
}

static void its_vbt_is_well_formed(void **state)
{
	u32 bytes = get(VBT + 24, 2), bdb = VBT + get(VBT + 28, 4), i;
	u8 sum = 0;

	assert_memory_equal(opregion + VBT, "$VBT", 4);
	assert_true(bytes <= 0x1800); /* of mailbox 4 */
	for (i = 0; i < bytes; i++)
		sum += opregion[VBT + i];
	assert_int_equal(sum, 0);
	assert_true(opregion[VBT + 26]); /* the checksum */
	assert_memory_equal(opregion + bdb, "BIOS_DATA_BLOCK ", 16);
	assert_int_equal(bdb + get(bdb + 20, 2), VBT + bytes);
	for (i = VBT + bytes; i < BYTES; i++)
		assert_int_equal(opregion[i], 0);
}

static void its_only_port_is_that_of_the_monitor(void **state)
{
	u32 bdb = VBT + get(VBT + 28, 4), bytes, port;
	u32 at = find_block(2, &bytes);

	/* Versions 196 to 215 have ports of 38 bytes. */
	assert_in_range(get(bdb + 16, 2), 196, 215);
	assert_int_equal(get(at + 4, 1), 38);
	assert_int_equal(bytes, 5 + 38);
	port = at + 5;
	assert_int_equal(get(port + 2, 2), 0x68c6); /* a DisplayPort */
	assert_int_equal(get(port + 16, 1), 7); /* DP-B */
	assert_int_equal(get(port + 24, 1), 2); /* no HDMI, no DVI */
	assert_int_equal(get(port + 25, 1), 0x10); /* AUX channel B */
	at = find_block(1, &bytes);
	assert_int_equal(bytes, 5);
	assert_int_equal(get(at + 4, 1) & 1, 0); /* no analog monitor */
}

static int set_up_display(void **state)
{
	int err = set_up_device(state);

	ghyvi_vgpu_set_display(vgpu, true);
	assert_true(find_region());
	assert_int_equal(read_region(opregion, BYTES, 0), BYTES);
	return err;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(there_is_none_without_a_display, set_up_device,
						teardown),
#define DISPLAY_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_display, teardown)
		DISPLAY_TEST(there_is_one_with_a_display),
		DISPLAY_TEST(its_header_names_the_vbt_and_nothing_else),
		DISPLAY_TEST(its_vbt_is_well_formed),
		DISPLAY_TEST(its_only_port_is_that_of_the_monitor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
