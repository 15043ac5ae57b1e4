// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw dumps for debugging, in ghyvi/<uuid>/ of debugfs. Not a stable interface.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <uapi/linux/ghyvi.h>
#include "vgpu/vgpu.h"
#include "device.h"

static struct dentry *root;

static int tables_show(struct seq_file *m, void *unused)
{
	struct ghyvi_device *device = m->private;

	ghyvi_gtt_dump(ghyvi_vgpu_gtt(device->vgpu), m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tables);

static int engines_show(struct seq_file *m, void *unused)
{
	struct ghyvi_device *device = m->private;

	ghyvi_vgpu_dump(device->vgpu, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(engines);

static int audit_show(struct seq_file *m, void *unused)
{
	struct ghyvi_device *device = m->private;

	ghyvi_audit_dump(ghyvi_vgpu_audit(device->vgpu), m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(audit);

static int config_show(struct seq_file *m, void *unused)
{
	struct ghyvi_device *device = m->private;

	mutex_lock(&device->lock);
	seq_hex_dump(m, "", DUMP_PREFIX_OFFSET, 16, 1, device->config.space, GHYVI_CONFIG_BYTES,
		     false);
	mutex_unlock(&device->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(config);

/* Any write clears it, as for the error state of i915. */
static ssize_t error_state_write(struct file *file, const char __user *buffer, size_t bytes,
				 loff_t *pos)
{
	const struct seq_file *m = file->private_data;
	struct ghyvi_device *device = m->private;

	ghyvi_vgpu_error_clear(device->vgpu);
	return (ssize_t)bytes;
}

static int error_state_show(struct seq_file *m, void *unused)
{
	struct ghyvi_device *device = m->private;

	ghyvi_vgpu_error_show(device->vgpu, m);
	return 0;
}

static int error_state_open(struct inode *inode, struct file *file)
{
	return single_open(file, error_state_show, inode->i_private);
}

static const struct file_operations error_state_fops = {
	.owner = THIS_MODULE,
	.open = error_state_open,
	.read = seq_read,
	.write = error_state_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* One picture: that of the moment when the file is opened. */
static int screen_open(struct inode *inode, struct file *file)
{
	ssize_t bytes = ghyvi_display_capture(inode->i_private, &file->private_data);

	return bytes < 0 ? (int)bytes : 0;
}

static ssize_t screen_read(struct file *file, char __user *buffer, size_t bytes, loff_t *pos)
{
	const struct ghyvi_screen_header *header = file->private_data;

	return simple_read_from_buffer(buffer, bytes, pos, header,
				       sizeof(*header) + (size_t)header->stride * header->height);
}

static int screen_release(struct inode *inode, struct file *file)
{
	vfree(file->private_data);
	return 0;
}

static const struct file_operations screen_fops = {
	.owner = THIS_MODULE,
	.open = screen_open,
	.read = screen_read,
	.llseek = default_llseek,
	.release = screen_release,
};

void ghyvi_debugfs_init(void)
{
	root = debugfs_create_dir("ghyvi", NULL);
}

void ghyvi_debugfs_exit(void)
{
	debugfs_remove(root);
}

void ghyvi_debugfs_add(struct ghyvi_device *device)
{
	device->debugfs = debugfs_create_dir(dev_name(device->vdev.dev), root);
	debugfs_create_file("tables", 0400, device->debugfs, device, &tables_fops);
	debugfs_create_file("engines", 0400, device->debugfs, device, &engines_fops);
	debugfs_create_file("audit", 0400, device->debugfs, device, &audit_fops);
	debugfs_create_file("config", 0400, device->debugfs, device, &config_fops);
	debugfs_create_file("error_state", 0600, device->debugfs, device, &error_state_fops);
	debugfs_create_file("screen", 0400, device->debugfs, device, &screen_fops);
	debugfs_create_bool("with_guest_data", 0600, device->debugfs,
			    ghyvi_vgpu_errors_with_commands(device->vgpu));
}

/* Waits for readers of the files. */
void ghyvi_debugfs_remove(struct ghyvi_device *device)
{
	debugfs_remove(device->debugfs);
}
