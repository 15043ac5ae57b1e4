// SPDX-License-Identifier: GPL-2.0-only
/* The migration protocol as VFIO's user speaks it: every arc, legal and not, and the file. */
#include "../fuzz/vfio_device.h"

#define SCRATCH_REGISTER 0x81234u
#define TRACKED_REGISTER (0x44f00u)

static int setup(void **state)
{
	int err;

	memset(&it, 0, sizeof(it));
	it.bar0 = GHYVI_BAR_UNMAPPED;
	err = set_up_device(state);
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
	return err;
}

static int end(void **state)
{
	ghyvi_device_ops.close_device(&it.vdev);
	assert_null(it.migration.file);
	ghyvi_unmap_fini(&it.unmap);
	return teardown(state);
}

static void write_config(u32 offset, u16 value)
{
	mutex_lock(&it.lock);
	ghyvi_config_write(&it.config, offset, &value, sizeof(value));
	ghyvi_device_update_bar0(&it);
	mutex_unlock(&it.lock);
}

static struct file *go(int wanted)
{
	return it.vdev.mig_ops->migration_set_state(&it.vdev, wanted);
}

static int state_now(void)
{
	enum vfio_device_mig_state state;

	assert_int_equal(it.vdev.mig_ops->migration_get_state(&it.vdev, &state), 0);
	return state;
}

static void reset(void)
{
	assert_int_equal(ghyvi_device_ops.ioctl(&it.vdev, VFIO_DEVICE_RESET, 0), 0);
	assert_int_equal(state_now(), VFIO_DEVICE_STATE_RUNNING);
	assert_false(vgpu->paused);
}

static void go_and_drop(int wanted)
{
	struct file *filp = go(wanted);

	assert_false(IS_ERR(filp));
	assert_int_equal(state_now(), wanted);
	if (filp)
		fput(filp);
}

static ssize_t transfer(struct file *filp, void *data, size_t bytes)
{
	ssize_t done;

	shim_user.at = data;
	shim_user.bytes = bytes;
	done = filp->fops->read ? filp->fops->read(filp, data, bytes, NULL) :
				  filp->fops->write(filp, data, bytes, NULL);
	shim_user.at = NULL;
	return done;
}

/* Reads to the end; returns the number of bytes. */
static size_t read_all(struct file *filp, u8 *data, size_t bytes)
{
	size_t at = 0;
	ssize_t done;

	while ((done = transfer(filp, data + at, min_t(size_t, 777, bytes - at))) > 0)
		at += done;
	assert_int_equal(done, 0);
	return at;
}

static void write_all(struct file *filp, u8 *data, size_t bytes)
{
	size_t at, part;

	for (at = 0; at < bytes; at += part) {
		part = min_t(size_t, 501, bytes - at);
		assert_int_equal(transfer(filp, data + at, part), part);
	}
}

static bool paused_in(int state)
{
	return state != VFIO_DEVICE_STATE_RUNNING && state != VFIO_DEVICE_STATE_PRE_COPY;
}

static void the_number_of_a_process_that_has_ended_is_not_told(void **state)
{
	assert_int_equal(ghyvi_device_open_pid(&it), getpid());
	shim_process.ended = true;
	assert_int_equal(ghyvi_device_open_pid(&it), 0);
	shim_process.ended = false;
	ghyvi_device_ops.close_device(&it.vdev);
	assert_int_equal(ghyvi_device_open_pid(&it), 0);
	assert_int_equal(shim_process.refs, 0);
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
}

static void every_arc(void **state)
{
	static u8 saved[1 << 20];
	int from, to, legal = 0;
	struct file *filp;
	size_t bytes;

	filp = go(VFIO_DEVICE_STATE_STOP_COPY);
	bytes = read_all(filp, saved, sizeof(saved));
	fput(filp);
	for (from = 1; from < MIG_STATES; from++) {
		for (to = 0; to < MIG_STATES + 3; to++) {
			enum vfio_device_mig_state next;
			bool blocked = from == VFIO_DEVICE_STATE_STOP_COPY && mig_is_precopy(to);
			bool ok = from == to ||
				  (!blocked && !vfio_mig_get_next_state(&it.vdev, from, to, &next));

			reset();
			filp = go(from);
			assert_false(IS_ERR(filp));
			if (from == VFIO_DEVICE_STATE_RESUMING)
				write_all(filp, saved, bytes);
			if (filp)
				fput(filp);
			filp = go(to);
			legal += ok;
			assert_int_equal(IS_ERR(filp), !ok);
			assert_int_equal(state_now(), ok ? to : from);
			assert_int_equal(vgpu->paused, paused_in(ok ? to : from));
			assert_int_equal(!!it.migration.file,
					 is_saving(ok ? to : from) ||
						 (ok ? to : from) == VFIO_DEVICE_STATE_RESUMING);
			if (!IS_ERR_OR_NULL(filp))
				fput(filp);
		}
	}
	assert_true(legal > 30);
}

static void a_state_travels_with_the_configuration_space(void **state)
{
	static u8 saved[1 << 20];
	u8 space[GHYVI_CONFIG_BYTES];
	struct file *filp;
	size_t bytes;

	write_config(PCI_COMMAND, PCI_COMMAND_MEMORY);
	write_config(PCI_BASE_ADDRESS_0 + 2, 0xe000);
	wr(SCRATCH_REGISTER, 0x12345678);
	wr(TRACKED_REGISTER, 0x8765);
	filp = go(VFIO_DEVICE_STATE_STOP_COPY);
	bytes = read_all(filp, saved, sizeof(saved));
	assert_int_equal(transfer(filp, saved, 8), 0);
	memcpy(space, it.config.space, sizeof(space));
	go_and_drop(VFIO_DEVICE_STATE_STOP);
	assert_int_equal(transfer(filp, saved, 8), -ENODEV);
	fput(filp);

	reset();
	assert_int_equal(rd(SCRATCH_REGISTER), 0);
	filp = go(VFIO_DEVICE_STATE_RESUMING);
	write_all(filp, saved, bytes);
	go_and_drop(VFIO_DEVICE_STATE_RUNNING);
	assert_int_equal(transfer(filp, saved, 8), -ENODEV);
	fput(filp);
	/* What the guest maps, before an access traps. */
	assert_true(host_protects(TRACKED_REGISTER));
	assert_int_equal(shown(TRACKED_REGISTER), 0x8765);
	assert_int_equal(shown(SCRATCH_REGISTER), 0x12345678);
	assert_int_equal(rd(SCRATCH_REGISTER), 0x12345678);
	assert_memory_equal(space, it.config.space, sizeof(space));
	assert_int_equal(it.bar0, 0xe0000000);
	assert_int_equal(gtt.ggtt_gfn, (0xe0000000ull + GHYVI_GGTT_OFFSET) >> 12);
}

static void precopy_sends_the_identity_first(void **state)
{
	static u8 first[1 << 20], whole[1 << 20];
	struct vfio_precopy_info info = { .argsz = sizeof(info) };
	struct file *filp = go(VFIO_DEVICE_STATE_PRE_COPY), *other;
	size_t bytes;

	assert_false(vgpu->paused);
	shim_user.at = (void *)&info;
	shim_user.bytes = sizeof(info);
	assert_int_equal(filp->fops->unlocked_ioctl(filp, VFIO_MIG_GET_PRECOPY_INFO,
						    (unsigned long)&info),
			 0);
	assert_int_equal(info.initial_bytes, GHYVI_STATE_IDENTITY_BYTES);
	assert_int_equal(transfer(filp, first, sizeof(first)), GHYVI_STATE_IDENTITY_BYTES);
	assert_int_equal(transfer(filp, first + GHYVI_STATE_IDENTITY_BYTES, 8), -ENOMSG);
	assert_null(go(VFIO_DEVICE_STATE_STOP_COPY)); /* the same file goes on */
	assert_true(vgpu->paused);
	assert_int_equal(filp->fops->unlocked_ioctl(filp, VFIO_MIG_GET_PRECOPY_INFO,
						    (unsigned long)&info),
			 -EFAULT);
	bytes = GHYVI_STATE_IDENTITY_BYTES +
		read_all(filp, first + GHYVI_STATE_IDENTITY_BYTES, sizeof(first) / 2);
	fput(filp);
	go_and_drop(VFIO_DEVICE_STATE_STOP);
	other = go(VFIO_DEVICE_STATE_STOP_COPY);
	assert_int_equal(read_all(other, whole, sizeof(whole)), bytes);
	fput(other);
	go_and_drop(VFIO_DEVICE_STATE_STOP);
	filp = go(VFIO_DEVICE_STATE_RESUMING);
	write_all(filp, first, bytes);
	fput(filp);
	go_and_drop(VFIO_DEVICE_STATE_RUNNING);
}

static void a_cancelled_migration_goes_on(void **state)
{
	wr(SCRATCH_REGISTER, 7);
	go_and_drop(VFIO_DEVICE_STATE_PRE_COPY);
	go_and_drop(VFIO_DEVICE_STATE_RUNNING);
	go_and_drop(VFIO_DEVICE_STATE_STOP_COPY);
	go_and_drop(VFIO_DEVICE_STATE_RUNNING);
	assert_int_equal(rd(SCRATCH_REGISTER), 7);
	assert_false(vgpu->paused);
}

static void a_bad_state_ends_in_error_until_a_reset(void **state)
{
	static u8 saved[1 << 20];
	struct file *filp = go(VFIO_DEVICE_STATE_STOP_COPY);
	size_t bytes = read_all(filp, saved, sizeof(saved));

	fput(filp);
	go_and_drop(VFIO_DEVICE_STATE_STOP);
	filp = go(VFIO_DEVICE_STATE_RESUMING);
	write_all(filp, saved, bytes - 8);
	assert_true(IS_ERR(go(VFIO_DEVICE_STATE_RUNNING)));
	assert_int_equal(state_now(), VFIO_DEVICE_STATE_ERROR);
	assert_true(vgpu->paused);
	assert_int_equal(transfer(filp, saved, 8), -ENODEV);
	fput(filp);
	assert_true(IS_ERR(go(VFIO_DEVICE_STATE_STOP)));
	reset();
	/* A foreign state is refused as soon as it is known. */
	saved[0] ^= 1;
	filp = go(VFIO_DEVICE_STATE_RESUMING);
	assert_int_equal(transfer(filp, saved, GHYVI_STATE_IDENTITY_BYTES - 1),
			 GHYVI_STATE_IDENTITY_BYTES - 1);
	assert_int_equal(transfer(filp, saved + GHYVI_STATE_IDENTITY_BYTES - 1, 1), -EINVAL);
	assert_non_null(strstr(last_report(), "not the state of a ghyvi vGPU"));
	fput(filp);
	/* An empty one, too. */
	reset();
	go_and_drop(VFIO_DEVICE_STATE_RESUMING);
	assert_true(IS_ERR(go(VFIO_DEVICE_STATE_STOP)));
	reset();
}

static void a_state_is_bounded(void **state)
{
	struct file *filp = go(VFIO_DEVICE_STATE_STOP_COPY), *other;
	u8 *data = calloc(1, GHYVI_STATE_BYTES_MAX);
	size_t bytes = read_all(filp, data, GHYVI_STATE_BYTES_MAX);

	fput(filp);
	other = go(VFIO_DEVICE_STATE_RESUMING);
	write_all(other, data, bytes);
	assert_int_equal(transfer(other, data, GHYVI_STATE_BYTES_MAX - bytes + 1), -EFBIG);
	assert_int_equal(transfer(other, data, GHYVI_STATE_BYTES_MAX - bytes),
			 GHYVI_STATE_BYTES_MAX - bytes);
	assert_int_equal(transfer(other, data, 1), -EFBIG);
	fput(other);
	free(data);
}

static void the_size_is_answered_on_every_kernel(void **state)
{
	struct vfio_device_feature_mig_data_size size = {};
	const u32 get = VFIO_DEVICE_FEATURE_GET;
	static u8 saved[1 << 20];
	struct file *filp;

	shim_user.at = (void *)&size;
	shim_user.bytes = sizeof(size);
	assert_int_equal(ghyvi_device_ops.device_feature(&it.vdev,
							 get | VFIO_DEVICE_FEATURE_MIG_DATA_SIZE,
							 &size, sizeof(size)),
			 0);
	assert_int_equal(ghyvi_device_ops.device_feature(
				 &it.vdev, get | VFIO_DEVICE_FEATURE_MIG_DATA_SIZE, &size, 4),
			 -EINVAL);
	assert_int_equal(ghyvi_device_ops.device_feature(&it.vdev, get | 77, &size, sizeof(size)),
			 -ENOTTY);
	filp = go(VFIO_DEVICE_STATE_STOP_COPY);
	assert_int_equal(read_all(filp, saved, sizeof(saved)), size.stop_copy_length);
	fput(filp);
}

static void closing_ends_a_transfer(void **state)
{
	struct file *filp = go(VFIO_DEVICE_STATE_STOP_COPY);
	u8 byte;

	ghyvi_device_ops.close_device(&it.vdev);
	assert_int_equal(transfer(filp, &byte, 1), -ENODEV);
	fput(filp);
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
	assert_int_equal(state_now(), VFIO_DEVICE_STATE_RUNNING);
}

static void submit_late(void)
{
	in_unbind = NULL;
	move_tail(0);
	elsp(descriptor(0), 0);
}

/* A store that trapped before may be executed late. Its work would outlive the VM. */
static void closing_accepts_no_late_submission(void **state)
{
	start_engine(GHYVI_RCS, GHYVI_RENDER_BASE);
	in_unbind = submit_late;
	ghyvi_device_ops.close_device(&it.vdev);
	assert_null(in_unbind);
	assert_false(gpu_busy(GHYVI_RCS));
	assert_int_equal(atomic_read(&vgpu->outstanding), 0);
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
	assert_false(vgpu->paused);
	assert_false(vgpu->engines[GHYVI_RCS].has_pending);
	submit(0, -1);
	assert_true(gpu_busy(GHYVI_RCS));
	finish(GHYVI_RCS, GHYVI_JOB_COMPLETE);
}

/* A pin of a store that is late would outlive the VM, too. The reset releases those before. */
static void closing_refuses_pins_before_it_releases_them(void **state)
{
	ghyvi_device_ops.close_device(&it.vdev);
	assert_true(refusal.before_reset);
	assert_true(vgpu->paused);
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
}

static void closing_ends_the_effect_of_loaded_settings(void **state)
{
	const struct ghyvi_containment ours = GHYVI_CONTAINMENT_DEFAULT;
	struct ghyvi_containment limits = ours;
	static u8 saved[1 << 20];
	struct file *filp;
	size_t bytes;

	limits.budget_ms = 1;
	assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &limits), 0);
	filp = go(VFIO_DEVICE_STATE_STOP_COPY);
	bytes = read_all(filp, saved, sizeof(saved));
	fput(filp);
	assert_int_equal(ghyvi_vgpu_set_containment(vgpu, &ours), 0);
	filp = go(VFIO_DEVICE_STATE_RESUMING);
	write_all(filp, saved, bytes);
	fput(filp);
	go_and_drop(VFIO_DEVICE_STATE_RUNNING);
	reset();
	ghyvi_vgpu_get_containment(vgpu, &limits);
	assert_int_equal(limits.budget_ms, 1);
	ghyvi_device_ops.close_device(&it.vdev);
	ghyvi_vgpu_get_containment(vgpu, &limits);
	assert_memory_equal(&limits, &ours, sizeof(ours));
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
}

static void reset_in_fault(void)
{
	shim_user.fault = NULL;
	reset();
}

/* The memory of the user may be slow (userfaultfd, FUSE). Resets and sysfs must not wait for it. */
static void no_lock_is_held_while_user_memory_is_accessed(void **state)
{
	struct vfio_precopy_info info = { .argsz = sizeof(info) };
	static u8 data[4096];
	struct file *filp = go(VFIO_DEVICE_STATE_STOP_COPY);

	shim_user.fault = reset_in_fault;
	assert_true(transfer(filp, data, sizeof(data)) > 0);
	assert_int_equal(transfer(filp, data, sizeof(data)), -ENODEV);
	fput(filp);
	filp = go(VFIO_DEVICE_STATE_RESUMING);
	shim_user.fault = reset_in_fault;
	assert_int_equal(transfer(filp, data, sizeof(data)), -ENODEV);
	fput(filp);
	filp = go(VFIO_DEVICE_STATE_PRE_COPY);
	shim_user.at = (void *)&info;
	shim_user.bytes = sizeof(info);
	shim_user.fault = reset_in_fault;
	assert_int_equal(filp->fops->unlocked_ioctl(filp, VFIO_MIG_GET_PRECOPY_INFO,
						    (unsigned long)&info),
			 -ENODEV);
	fput(filp);
}

/* A write of any size is taken as a whole, or refused as a whole if it is too long. */
static void long_writes(void **state)
{
	struct ghyvi_migration_file *file;
	struct file *filp = go(VFIO_DEVICE_STATE_STOP_COPY), *other;
	u8 *data = calloc(1, 1 << 20);
	size_t bytes = read_all(filp, data, 1 << 20), i;

	fput(filp);
	other = go(VFIO_DEVICE_STATE_RESUMING);
	for (i = bytes; i < 1 << 20; i++)
		data[i] = i ^ i >> 9;
	assert_int_equal(transfer(other, data, (1 << 20) - 5), (1 << 20) - 5);
	file = other->private_data;
	assert_int_equal(file->bytes, (1 << 20) - 5);
	assert_memory_equal(file->state, data, file->bytes);
	shim_user.bytes = 0; /* not mapped */
	assert_int_equal(other->fops->write(other, (void *)data, 8, NULL), -EFAULT);
	fput(other);
	free(data);
}

/* A user that reads again would miss the bytes, and send a state with a hole. */
static void a_read_that_faults_takes_no_bytes(void **state)
{
	static u8 saved[1 << 20], again[1 << 20];
	struct file *filp = go(VFIO_DEVICE_STATE_STOP_COPY);
	size_t bytes = read_all(filp, saved, sizeof(saved));

	fput(filp);
	go_and_drop(VFIO_DEVICE_STATE_STOP);
	filp = go(VFIO_DEVICE_STATE_STOP_COPY);
	assert_int_equal(transfer(filp, again, 16), 16);
	shim_user.bytes = 0; /* not mapped */
	assert_int_equal(filp->fops->read(filp, (void *)again, 16, NULL), -EFAULT);
	assert_int_equal(16 + read_all(filp, again + 16, sizeof(again) - 16), bytes);
	assert_memory_equal(again, saved, GHYVI_STATE_IDENTITY_BYTES);
	fput(filp);
}

/* Else a user could make the host keep one state for each open file. */
static void a_file_keeps_no_state_after_the_transfer(void **state)
{
	static const int states[] = { VFIO_DEVICE_STATE_STOP_COPY, VFIO_DEVICE_STATE_PRE_COPY,
				      VFIO_DEVICE_STATE_RESUMING };
	struct ghyvi_migration_file *file;
	struct file *filp;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		filp = go(states[i]);
		file = filp->private_data;
		assert_non_null(file->state);
		reset();
		assert_null(file->state);
		fput(filp);
	}
}

static int report(u64 iova, u64 bytes)
{
	reported.first = iova;
	reported.bytes = bytes;
	return it.vdev.log_ops->log_read_and_clear(&it.vdev, iova, bytes, (void *)&reported);
}

static void the_log_of_written_pages(void **state)
{
	u64 page_bytes = 2 << 20; /* what the user would like */

	gtt.written = 0x100123;
	memset(&reported, 0, sizeof(reported));
	assert_int_equal(report(0, PAGE_SIZE), -EINVAL);
	assert_int_equal(it.vdev.log_ops->log_start(&it.vdev, NULL, 0, &page_bytes), 0);
	assert_int_equal(page_bytes, PAGE_SIZE);
	assert_int_equal(it.vdev.log_ops->log_start(&it.vdev, NULL, 0, &page_bytes), -EBUSY);
	assert_int_equal(report(0, 0x100123000), 0);
	assert_int_equal(report(0x100124000, 0x100000), 0);
	assert_int_equal(reported.count, 0);
	assert_int_equal(report(0x100100000, 0x24000), 0);
	assert_int_equal(reported.count, 1);
	assert_int_equal(reported.iova, 0x100123000);
	/* A part of a page would be reported outside of the range. */
	assert_int_equal(report(0x100123ff8, 8), -EINVAL);
	assert_int_equal(report(0x100123800, PAGE_SIZE), -EINVAL);
	assert_int_equal(report(0x100123000, PAGE_SIZE / 2), -EINVAL);
	assert_int_equal(report(0, 0), -EINVAL);
	assert_int_equal(reported.count, 1);
	/* It outlives a reset, and ends with the last user. */
	reset();
	assert_int_equal(report(0, PAGE_SIZE), 0);
	ghyvi_device_ops.close_device(&it.vdev);
	assert_int_equal(ghyvi_device_ops.open_device(&it.vdev), 0);
	assert_int_equal(report(0, PAGE_SIZE), -EINVAL);
	assert_int_equal(it.vdev.log_ops->log_stop(&it.vdev), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_number_of_a_process_that_has_ended_is_not_told),
		TEST(every_arc),
		TEST(a_state_travels_with_the_configuration_space),
		TEST(precopy_sends_the_identity_first),
		TEST(a_cancelled_migration_goes_on),
		TEST(a_bad_state_ends_in_error_until_a_reset),
		TEST(a_state_is_bounded),
		TEST(the_size_is_answered_on_every_kernel),
		TEST(closing_ends_a_transfer),
		TEST(closing_accepts_no_late_submission),
		TEST(closing_refuses_pins_before_it_releases_them),
		TEST(closing_ends_the_effect_of_loaded_settings),
		TEST(a_read_that_faults_takes_no_bytes),
		TEST(a_file_keeps_no_state_after_the_transfer),
		TEST(no_lock_is_held_while_user_memory_is_accessed),
		TEST(long_writes),
		TEST(the_log_of_written_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
