// SPDX-License-Identifier: GPL-2.0-only
/*
 * VFIO migration, version 2.
 *
 * DOC: what the states mean for a vGPU
 *
 * In RUNNING and PRE_COPY the vGPU runs. In all other states it is paused (kernel/vgpu/pause.c). A
 * vGPU has no peer-to-peer DMA, so the _P2P states are the first in which it writes no memory by
 * itself, and its registers still work. PRE_COPY transfers only the identity of the vGPU, so that
 * an unsuitable target is refused before the VM stops; the rest is small. The state that was
 * received is checked and loaded on the way from RESUMING to STOP. Guest memory is first touched in
 * RUNNING. A state that is refused, like any other failure that leaves the vGPU unusable, ends in
 * ERROR, and a reset leads from there to RUNNING.
 *
 * Locks: device->lock protects the state and is taken before the lock of a file.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/iova_bitmap.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <ghyvi/compat.h>
#include "vgpu/vgpu.h"
#include "device.h"
#include "migration.h"

/**
 * struct ghyvi_migration_file - a transfer; freed with its file.
 * @filp: the file
 * @device: device of the transfer; valid while @open
 * @lock: protects all other members
 * @open: the transfer is in progress; afterwards reads and writes fail
 * @more: reading: there will be more data
 * @checked: writing: the identity was accepted
 * @state: the state of the vGPU; NULL after the transfer
 * @bytes: number of bytes in @state
 * @pos: number of bytes that were read
 */
struct ghyvi_migration_file {
	struct file *filp;
	struct ghyvi_device *device;
	struct mutex lock;
	bool open;
	bool more;
	bool checked;
	void *state;
	size_t bytes;
	size_t pos;
};

static int migration_release(struct inode *inode, struct file *filp)
{
	struct ghyvi_migration_file *file = filp->private_data;

	kvfree(file->state);
	mutex_destroy(&file->lock);
	kfree(file);
	return 0;
}

/*
 * The lock of a file is not held while user memory is accessed: the user can make a page fault take
 * any time, and resets and the administrator's settings would wait for it with device->lock held.
 */
#define CHUNK_BYTES ((size_t)64 << 10)

/* Get the next bytes of the state, at most @bytes. Returns how many, or an errno. */
static ssize_t read_chunk(struct ghyvi_migration_file *file, void *chunk, size_t bytes)
{
	ssize_t done;

	mutex_lock(&file->lock);
	done = min(bytes, file->bytes - file->pos);
	if (!file->open) {
		done = -ENODEV;
	} else if (done) {
		memcpy(chunk, file->state + file->pos, done);
		file->pos += done;
	} else if (file->more) {
		done = -ENOMSG;
	}
	mutex_unlock(&file->lock);
	return done;
}

/* The user's buffer could not be written: the next read gets these bytes. */
static void unread_chunk(struct ghyvi_migration_file *file, size_t bytes)
{
	mutex_lock(&file->lock);
	file->pos -= bytes;
	mutex_unlock(&file->lock);
}

/* Returns at most CHUNK_BYTES; 0 is the end, and -ENOMSG the end for now (PRE_COPY). */
static ssize_t migration_read(struct file *filp, char __user *buffer, size_t bytes, loff_t *pos)
{
	void *chunk;
	ssize_t done;

	if (pos)
		return -ESPIPE;
	bytes = min(bytes, CHUNK_BYTES);
	chunk = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return -ENOMEM;
	done = read_chunk(filp->private_data, chunk, bytes);
	if (done > 0 && copy_to_user(buffer, chunk, done)) {
		unread_chunk(filp->private_data, done);
		done = -EFAULT;
	}
	kvfree(chunk);
	return done;
}

/*
 * Append @chunk to the state. The user's write has @left bytes from there on: it is refused before
 * the state would become too large, not in the middle.
 */
static int write_locked(struct ghyvi_migration_file *file, const void *chunk, size_t bytes,
			size_t left)
{
	lockdep_assert_held(&file->lock);
	if (!file->open)
		return -ENODEV;
	if (left > GHYVI_STATE_BYTES_MAX - file->bytes)
		return -EFBIG;
	memcpy(file->state + file->bytes, chunk, bytes);
	file->bytes += bytes;
	if (!file->checked && file->bytes >= GHYVI_STATE_IDENTITY_BYTES) {
		if (ghyvi_vgpu_check_identity(file->device->vgpu, file->state))
			return -EINVAL;
		file->checked = true;
	}
	return 0;
}

static ssize_t migration_write(struct file *filp, const char __user *buffer, size_t bytes,
			       loff_t *pos)
{
	struct ghyvi_migration_file *file = filp->private_data;
	size_t done = 0, part;
	void *chunk;
	int err = 0;

	if (pos)
		return -ESPIPE;
	chunk = kvmalloc(min(bytes, CHUNK_BYTES), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return -ENOMEM;
	for (; done < bytes; done += part) {
		part = min(bytes - done, CHUNK_BYTES);
		err = -EFAULT;
		if (copy_from_user(chunk, buffer + done, part))
			break;
		mutex_lock(&file->lock);
		err = write_locked(file, chunk, part, bytes - done);
		mutex_unlock(&file->lock);
		if (err)
			break;
	}
	kvfree(chunk);
	return done ? (ssize_t)done : err;
}

static long migration_ioctl(struct file *filp, unsigned int command, unsigned long argument)
{
	const size_t bytes = offsetofend(struct vfio_precopy_info, dirty_bytes);
	struct ghyvi_migration_file *file = filp->private_data;
	void __user *user = (void __user *)argument;
	struct vfio_precopy_info info;
	int err = 0;

	if (command != VFIO_MIG_GET_PRECOPY_INFO)
		return -ENOTTY;
	if (copy_from_user(&info, user, bytes))
		return -EFAULT;
	if (info.argsz < bytes)
		return -EINVAL;
	mutex_lock(&file->lock);
	if (!file->open)
		err = -ENODEV;
	else if (!file->more)
		err = -EINVAL; /* not in PRE_COPY */
	info.flags = 0;
	info.initial_bytes = file->bytes - file->pos;
	info.dirty_bytes = 0;
	mutex_unlock(&file->lock);
	if (err)
		return err;
	return copy_to_user(user, &info, bytes) ? -EFAULT : 0;
}

static const struct file_operations save_fops = {
	.owner = THIS_MODULE,
	.read = migration_read,
	.unlocked_ioctl = migration_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = migration_release,
};

static const struct file_operations resume_fops = {
	.owner = THIS_MODULE,
	.write = migration_write,
	.release = migration_release,
};

/*
 * Begin a transfer of @state, which the file frees. Returns the file for the user; the device keeps
 * a reference of its own.
 */
static struct file *file_open(struct ghyvi_device *device, const struct file_operations *fops,
			      int flags, void *state, size_t bytes)
{
	struct ghyvi_migration_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	struct file *filp = ERR_PTR(-ENOMEM);

	if (file)
		filp = anon_inode_getfile("ghyvi-migration", fops, file, flags);
	if (IS_ERR(filp)) {
		kvfree(state);
		kfree(file);
		return filp;
	}
	stream_open(filp->f_inode, filp);
	mutex_init(&file->lock);
	file->filp = filp;
	file->device = device;
	file->state = state;
	file->bytes = bytes;
	file->open = true;
	get_file(filp);
	device->migration.file = file;
	return filp;
}

/*
 * End the transfer, if there is one. The user may keep the file, but not the memory of the state.
 * Returns the state, of *@bytes bytes, to be freed with kvfree().
 */
static void *file_take(struct ghyvi_device *device, size_t *bytes)
{
	struct ghyvi_migration_file *file = device->migration.file;
	void *state = NULL;

	lockdep_assert_held(&device->lock);
	*bytes = 0;
	if (!file)
		return NULL;
	device->migration.file = NULL;
	mutex_lock(&file->lock);
	file->open = false;
	swap(file->state, state);
	*bytes = file->bytes;
	mutex_unlock(&file->lock);
	fput(file->filp);
	return state;
}

static void file_close(struct ghyvi_device *device)
{
	size_t bytes;

	kvfree(file_take(device, &bytes));
}

static struct file *precopy_begin(struct ghyvi_device *device)
{
	void *identity = kvzalloc(GHYVI_STATE_IDENTITY_BYTES, GFP_KERNEL_ACCOUNT);
	struct file *filp;

	if (!identity)
		return ERR_PTR(-ENOMEM);
	ghyvi_vgpu_get_identity(device->vgpu, identity);
	filp = file_open(device, &save_fops, O_RDONLY, identity, GHYVI_STATE_IDENTITY_BYTES);
	if (!IS_ERR(filp))
		device->migration.file->more = true;
	return filp;
}

/* The state begins with the identity, which the user may have read in PRE_COPY. */
static void precopy_end(struct ghyvi_migration_file *file, void *state, size_t bytes)
{
	mutex_lock(&file->lock);
	swap(file->state, state);
	file->bytes = bytes;
	file->more = false;
	mutex_unlock(&file->lock);
	kvfree(state);
}

/* Returns the new file, or NULL if that of PRE_COPY goes on. */
static struct file *save_begin(struct ghyvi_device *device)
{
	size_t bytes;
	void *state;
	int err;

	err = ghyvi_vgpu_save(device->vgpu, device->config.space, GHYVI_CONFIG_BYTES, &state,
			      &bytes);
	if (err)
		return ERR_PTR(err);
	if (device->migration.file) {
		precopy_end(device->migration.file, state, bytes);
		return NULL;
	}
	return file_open(device, &save_fops, O_RDONLY, state, bytes);
}

static struct file *resume_begin(struct ghyvi_device *device)
{
	void *state = kvzalloc(GHYVI_STATE_BYTES_MAX, GFP_KERNEL_ACCOUNT);

	return state ? file_open(device, &resume_fops, O_WRONLY, state, 0) : ERR_PTR(-ENOMEM);
}

/* Load the state that the user has written. file_take() ends writes, so the state is constant. */
static int resume_end(struct ghyvi_device *device)
{
	u8 space[GHYVI_CONFIG_BYTES];
	size_t bytes;
	void *state = file_take(device, &bytes);
	int err;

	WRITE_ONCE(device->bar0, GHYVI_BAR_UNMAPPED); /* as ghyvi_vgpu_load() leaves it */
	err = ghyvi_vgpu_load(device->vgpu, state, bytes, space, sizeof(space));
	kvfree(state);
	ghyvi_config_reset(&device->config, device->type->profile,
			   device->pgpu->resources.aperture_bytes);
	if (err)
		return err;
	ghyvi_config_write(&device->config, 0, space, sizeof(space));
	ghyvi_device_update_bar0(device);
	return 0;
}

/* The casts: the enum of Linux 6.1 has no states of PRE_COPY (compat.h). */
static bool is_running(enum vfio_device_mig_state state)
{
	return state == VFIO_DEVICE_STATE_RUNNING || (int)state == VFIO_DEVICE_STATE_PRE_COPY;
}

static bool is_precopy(enum vfio_device_mig_state state)
{
	return (int)state == VFIO_DEVICE_STATE_PRE_COPY ||
	       (int)state == VFIO_DEVICE_STATE_PRE_COPY_P2P;
}

static bool is_saving(enum vfio_device_mig_state state)
{
	return state == VFIO_DEVICE_STATE_STOP_COPY || is_precopy(state);
}

/* One arc of the state machine. Returns a file for the user, NULL, or an ERR_PTR. */
static struct file *migration_step(struct ghyvi_device *device, enum vfio_device_mig_state next)
{
	enum vfio_device_mig_state state = device->migration.state;

	if (!is_running(next))
		ghyvi_vgpu_pause(device->vgpu);
	if (is_saving(state) && !is_saving(next))
		file_close(device);
	if (state == VFIO_DEVICE_STATE_RESUMING)
		return ERR_PTR(resume_end(device));
	if (next == VFIO_DEVICE_STATE_STOP_COPY)
		return save_begin(device);
	if (is_precopy(next) && !is_saving(state))
		return precopy_begin(device);
	if (next == VFIO_DEVICE_STATE_RESUMING)
		return resume_begin(device);
	if (is_running(next) && !is_running(state)) {
		ghyvi_remap_running(device);
		ghyvi_vgpu_resume(device->vgpu);
	}
	return NULL;
}

static struct file *migration_steps(struct ghyvi_device *device, enum vfio_device_mig_state wanted)
{
	struct ghyvi_migration *migration = &device->migration;
	enum vfio_device_mig_state next;
	struct file *filp = NULL;
	int err;

	while (migration->state != wanted) {
		/*
		 * The core warns of a driver that asks for a way out of ERROR. From Linux 6.2 on it
		 * loops for ever when asked for the arcs from STOP_COPY that it does not have.
		 */
		if (migration->state == VFIO_DEVICE_STATE_ERROR ||
		    (migration->state == VFIO_DEVICE_STATE_STOP_COPY && is_precopy(wanted)))
			return ERR_PTR(-EINVAL);
		err = vfio_mig_get_next_state(&device->vdev, migration->state, wanted, &next);
		if (err)
			return ERR_PTR(err);
		filp = migration_step(device, next);
		if (IS_ERR(filp)) {
			/* The vGPU has lost its state, and the file is closed. */
			if (migration->state == VFIO_DEVICE_STATE_RESUMING)
				migration->state = VFIO_DEVICE_STATE_ERROR;
			return filp;
		}
		migration->state = next;
	}
	return filp;
}

static struct file *migration_set_state(struct vfio_device *vdev, enum vfio_device_mig_state wanted)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);
	struct file *filp;

	mutex_lock(&device->lock);
	filp = migration_steps(device, wanted);
	mutex_unlock(&device->lock);
	return filp;
}

static int migration_get_state(struct vfio_device *vdev, enum vfio_device_mig_state *state)
{
	struct ghyvi_device *device = ghyvi_device_of(vdev);

	mutex_lock(&device->lock);
	*state = device->migration.state;
	mutex_unlock(&device->lock);
	return 0;
}

static int migration_get_data_size(struct vfio_device *vdev, unsigned long *bytes)
{
	*bytes = ghyvi_vgpu_state_bytes(ghyvi_device_of(vdev)->vgpu, GHYVI_CONFIG_BYTES);
	return 0;
}

static const struct vfio_migration_ops migration_ops = {
	.migration_set_state = migration_set_state,
	.migration_get_state = migration_get_state,
#if GHYVI_HAVE_VFIO_MIG_DATA_SIZE
	.migration_get_data_size = migration_get_data_size,
#endif
};

int ghyvi_migration_feature(struct vfio_device *vdev, u32 flags, void __user *argument,
			    size_t bytes)
{
	struct vfio_device_feature_mig_data_size size = {};
	unsigned long length;
	int err, get;

	if ((flags & VFIO_DEVICE_FEATURE_MASK) != VFIO_DEVICE_FEATURE_MIG_DATA_SIZE ||
	    !vdev->mig_ops)
		return -ENOTTY;
	get = vfio_check_feature(flags, bytes, VFIO_DEVICE_FEATURE_GET, sizeof(size));
	if (get != 1)
		return get;
	err = migration_get_data_size(vdev, &length);
	if (err)
		return err;
	size.stop_copy_length = length;
	return copy_to_user(argument, &size, sizeof(size)) ? -EFAULT : 0;
}

#if GHYVI_HAVE_IOVA_BITMAP

/* The log covers all memory of the VM, not only @ranges: the cost is the same. */
static int log_start(struct vfio_device *vdev, struct rb_root_cached *ranges, u32 nr_ranges,
		     u64 *page_bytes)
{
	int err = ghyvi_gtt_log_start(ghyvi_vgpu_gtt(ghyvi_device_of(vdev)->vgpu));

	if (!err)
		*page_bytes = PAGE_SIZE;
	return err;
}

static int log_stop(struct vfio_device *vdev)
{
	ghyvi_gtt_log_stop(ghyvi_vgpu_gtt(ghyvi_device_of(vdev)->vgpu));
	return 0;
}

static void log_dirty(void *bitmap, u64 gfn)
{
	iova_bitmap_set(bitmap, gfn << PAGE_SHIFT, PAGE_SIZE);
}

/*
 * VFIO does not check the alignment of the user's range, and not every version of iova_bitmap_set()
 * ignores pages outside of the range.
 */
static int log_read_and_clear(struct vfio_device *vdev, unsigned long iova, unsigned long length,
			      struct iova_bitmap *bitmap)
{
	if (!length || !IS_ALIGNED(iova | length, PAGE_SIZE))
		return -EINVAL;
	return ghyvi_gtt_log_read(ghyvi_vgpu_gtt(ghyvi_device_of(vdev)->vgpu), iova >> PAGE_SHIFT,
				  length >> PAGE_SHIFT, log_dirty, bitmap);
}

static const struct vfio_log_ops log_ops = {
	.log_start = log_start,
	.log_stop = log_stop,
	.log_read_and_clear = log_read_and_clear,
};

static void offer_log(struct ghyvi_device *device)
{
	if (ghyvi_gtt_can_log(ghyvi_vgpu_gtt(device->vgpu)))
		device->vdev.log_ops = &log_ops;
}

#else

static void offer_log(struct ghyvi_device *device)
{
}

#endif

void ghyvi_migration_close(struct ghyvi_device *device)
{
	lockdep_assert_held(&device->lock);
	ghyvi_vgpu_unload_settings(device->vgpu);
	ghyvi_gtt_log_stop(ghyvi_vgpu_gtt(device->vgpu));
}

void ghyvi_migration_init(struct ghyvi_device *device)
{
	device->migration.state = VFIO_DEVICE_STATE_RUNNING;
	if (!ghyvi_vgpu_can_move(device->vgpu))
		return;
	device->vdev.mig_ops = &migration_ops;
	device->vdev.migration_flags = VFIO_MIGRATION_STOP_COPY | VFIO_MIGRATION_P2P;
	offer_log(device);
#if GHYVI_HAVE_VFIO_PRE_COPY
	device->vdev.migration_flags |= VFIO_MIGRATION_PRE_COPY;
#endif
}

void ghyvi_device_reset_with(struct ghyvi_device *device,
			     void (*reset_vgpu)(struct ghyvi_vgpu *vgpu))
{
	lockdep_assert_held(&device->lock);
	ghyvi_config_reset(&device->config, device->type->profile,
			   device->pgpu->resources.aperture_bytes);
	ghyvi_device_update_bar0(device);
	file_close(device);
	device->migration.state = VFIO_DEVICE_STATE_RUNNING;
	reset_vgpu(device->vgpu);
}

void ghyvi_device_reset(struct ghyvi_device *device)
{
	ghyvi_device_reset_with(device, ghyvi_vgpu_reset);
}
