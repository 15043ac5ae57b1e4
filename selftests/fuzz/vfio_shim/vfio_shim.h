/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-ins for kernel services that kernel/vfio needs in addition to userspace/shim:
 * VFIO, mdev, sysfs, eventfd and user memory. The user memory is only the buffer that the fuzz
 * target provides.
 */
#ifndef VFIO_SHIM_H
#define VFIO_SHIM_H

#include <unistd.h>
#include <ghyvi_shim.h>

#define offsetofend(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* The process that uses the device. */
struct pid {
	int refs;
	bool ended;
};
extern struct pid shim_process;
#define task_tgid(task) ((void)(task), &shim_process)
#define PIDTYPE_TGID 0
#define pid_has_task(pid, type) ((void)(type), !(pid)->ended)
#define pid_nr(pid) ((void)(pid), getpid())

static inline struct pid *get_pid(struct pid *pid)
{
	pid->refs++;
	return pid;
}

static inline void put_pid(struct pid *pid)
{
	if (pid)
		pid->refs--;
}

/* user memory */
extern struct shim_user {
	char *at;
	size_t bytes;
	void (*fault)(void); /* NULL, or called before each copy: it can take any time */
} shim_user;

static inline bool shim_user_ok(const void *p, size_t bytes)
{
	size_t offset = (uintptr_t)p - (uintptr_t)shim_user.at;

	if (shim_user.fault)
		shim_user.fault();
	return offset <= shim_user.bytes && bytes <= shim_user.bytes - offset;
}

/* Returns the number of bytes that could not be copied. */
static inline unsigned long copy_from_user(void *to, const void *from, size_t bytes)
{
	if (!shim_user_ok(from, bytes))
		return bytes;
	memcpy(to, from, bytes);
	return 0;
}

static inline unsigned long copy_to_user(void *to, const void *from, size_t bytes)
{
	if (!shim_user_ok(to, bytes))
		return bytes;
	memcpy(to, from, bytes);
	return 0;
}

static inline void *memdup_user(const void *from, size_t bytes)
{
	void *copy = malloc(bytes);

	if (copy_from_user(copy, from, bytes)) {
		free(copy);
		return (void *)-EFAULT;
	}
	return copy;
}

static inline u16 get_unaligned_le16(const void *p)
{
	const u8 *b = p;

	return b[0] | b[1] << 8;
}

static inline u64 get_unaligned_le64(const void *p)
{
	u64 value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* eventfd */
struct eventfd_ctx {
	int refs;
	int signals;
};
struct eventfd_ctx *eventfd_ctx_fdget(int fd);
static inline void eventfd_ctx_put(struct eventfd_ctx *ctx)
{
	ctx->refs--;
}

static inline void eventfd_signal(struct eventfd_ctx *ctx, int n)
{
	ctx->signals += n;
}

/* modules, devices, sysfs, mdev */
struct module;
#define try_module_get(m) true
#define module_put(m) ((void)0)
#define dev_notice dev_warn
struct attribute {
	const char *name;
};
struct attribute_group {
	const char *name;
	struct attribute **attrs;
};
struct device_attribute {
	struct attribute attr;
};
struct mdev_parent {
	int unused;
};
struct mdev_type {
	const char *sysfs_name, *pretty_name;
	struct mdev_parent *parent;
};
#define sysfs_emit(buffer, ...) sprintf(buffer, __VA_ARGS__)
#define sysfs_emit_at(buffer, at, ...) sprintf((buffer) + (at), __VA_ARGS__)

/* mmap */
#define VM_WRITE 2u
#define VM_SHARED 8u
#define VM_MAYWRITE 0x20u
#define VM_PFNMAP 0x400u
#define VM_IO 0x4000u
#define VM_DONTEXPAND 0x40000u
#define VM_DONTDUMP 0x4000000u
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags, vm_page_prot;
	struct file *vm_file;
	struct mm_struct *vm_mm;
	void *vm_private_data;
	const struct vm_operations_struct *vm_ops;
};
struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long address, pgoff;
	unsigned int flags;
};
#define FAULT_FLAG_ALLOW_RETRY 4u
#define FAULT_FLAG_RETRY_NOWAIT 8u
#define FAULT_FLAG_TRIED 0x20u
#define FAULT_FLAG_USER 0x40u
#define FAULT_FLAG_REMOTE 0x80u
#define FAULT_FLAG_INTERRUPTIBLE 0x200u
static inline bool fault_flag_allow_retry_first(unsigned int flags)
{
	return (flags & (FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_TRIED)) == FAULT_FLAG_ALLOW_RETRY;
}
struct mm_struct {
	int locked;
};
static inline void mmap_read_unlock(struct mm_struct *mm)
{
	mm->locked--;
}
typedef unsigned int vm_fault_t;
#define VM_FAULT_SIGBUS 2u
#define VM_FAULT_NOPAGE 0x100u
#define VM_FAULT_RETRY 0x400u
struct vm_operations_struct {
	vm_fault_t (*fault)(struct vm_fault *vmf);
};
struct address_space {
	int unused;
};
vm_fault_t vmf_insert_pfn(struct vm_area_struct *vma, unsigned long at, unsigned long pfn);
void unmap_mapping_range(struct address_space *mapping, u64 offset, u64 bytes, int even_cows);
unsigned long vmalloc_to_pfn(const void *memory);
struct page {
	int refs;
};
struct page *vmalloc_to_page(const void *memory);
#define page_count(page) ((page)->refs)
int remap_pfn_range(struct vm_area_struct *vma, unsigned long at, unsigned long pfn,
		    unsigned long bytes, unsigned long protection);

/* files */
#define O_RDONLY 0
#define O_WRONLY 1
#define THIS_MODULE NULL
struct module;
struct inode;
struct file {
	int refs;
	struct inode *f_inode;
	struct address_space *f_mapping;
	void *private_data;
	const struct file_operations *fops;
};
struct file_operations {
	struct module *owner;
	ssize_t (*read)(struct file *filp, char *buffer, size_t bytes, loff_t *at);
	ssize_t (*write)(struct file *filp, const char *buffer, size_t bytes, loff_t *at);
	long (*unlocked_ioctl)(struct file *filp, unsigned int command, unsigned long argument);
	long (*compat_ioctl)(struct file *filp, unsigned int command, unsigned long argument);
	int (*release)(struct inode *inode, struct file *filp);
};
#define compat_ptr_ioctl NULL
#define stream_open(inode, filp) ((void)(inode))
struct file *anon_inode_getfile(const char *name, const struct file_operations *fops, void *data,
				int flags);
static inline struct file *get_file(struct file *filp)
{
	filp->refs++;
	return filp;
}
void fput(struct file *filp);

struct vfio_device;

/* The log of dirty pages, as Linux 6.1 has it. */
#define GHYVI_HAVE_IOVA_BITMAP 1
/* KVM takes a reference on each page that it maps, also as Linux 6.1. */
#define GHYVI_HAVE_KVM_UNREFERENCED_PFNS 0
struct rb_root_cached;
struct iova_bitmap;
void iova_bitmap_set(struct iova_bitmap *bitmap, unsigned long iova, size_t length);

/* VFIO */
struct vfio_log_ops {
	int (*log_start)(struct vfio_device *vdev, struct rb_root_cached *ranges, u32 nr_ranges,
			 u64 *page_bytes);
	int (*log_stop)(struct vfio_device *vdev);
	int (*log_read_and_clear)(struct vfio_device *vdev, unsigned long iova,
				  unsigned long length, struct iova_bitmap *bitmap);
};
struct vfio_device {
	struct device *dev;
	void *kvm;
	const struct vfio_migration_ops *mig_ops;
	const struct vfio_log_ops *log_ops;
	unsigned int migration_flags;
};
enum vfio_device_mig_state;
struct vfio_migration_ops {
	struct file *(*migration_set_state)(struct vfio_device *vdev,
					    enum vfio_device_mig_state state);
	int (*migration_get_state)(struct vfio_device *vdev, enum vfio_device_mig_state *state);
};
int vfio_mig_get_next_state(struct vfio_device *vdev, enum vfio_device_mig_state state,
			    enum vfio_device_mig_state wanted, enum vfio_device_mig_state *next);
int vfio_check_feature(u32 flags, size_t bytes, u32 supported, size_t needed);
struct vfio_device_ops {
	const char *name;
	int (*open_device)(struct vfio_device *vdev);
	void (*close_device)(struct vfio_device *vdev);
	ssize_t (*read)(struct vfio_device *vdev, char *buffer, size_t bytes, loff_t *at);
	ssize_t (*write)(struct vfio_device *vdev, const char *buffer, size_t bytes, loff_t *at);
	int (*mmap)(struct vfio_device *vdev, struct vm_area_struct *vma);
	long (*ioctl)(struct vfio_device *vdev, unsigned int command, unsigned long argument);
	void (*request)(struct vfio_device *vdev, unsigned int count);
	void (*dma_unmap)(struct vfio_device *vdev, u64 iova, u64 bytes);
	int (*device_feature)(struct vfio_device *vdev, u32 flags, void *argument, size_t bytes);
};
struct vfio_info_cap {
	struct vfio_info_cap_header *buf;
	size_t size;
};
struct vfio_info_cap_header;
struct vfio_irq_set;
int vfio_info_add_capability(struct vfio_info_cap *caps, struct vfio_info_cap_header *cap,
			     size_t bytes);
void vfio_info_cap_shift(struct vfio_info_cap *caps, size_t offset);
int vfio_set_irqs_validate_and_prepare(struct vfio_irq_set *set, int vectors, int indices,
				       size_t *data_bytes);

#endif
