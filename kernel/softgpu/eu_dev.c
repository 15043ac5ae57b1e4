// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ghyvi-eu, by which workers meet engines: see <uapi/linux/ghyvi_eu.h>, workers.h. A worker's
 * faults become translations of its engine, inserted as page frames without references: they are
 * taken away before the guest's pages are unpinned, as translations of any engine.
 */
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <ghyvi/compat.h>
#include "engine.h"
#include "eu_dev.h"
#include "workers.h"

/* One instruction can store to two pages, and each of them may be replaced. */
#define EU_SINKS 4

/*
 * @base: the worker
 * @mapping: of this file alone; its pages are GPU addresses
 * @sinks: copies of pages whose stores have no effect, to take them; protected by @base->insert
 * @sinks.page: the copy
 * @sinks.address: of what it is a copy
 * @sinks.used: it is mapped
 * @next_sink: the one that is used longest
 * @process: of the first thread that asked for a dispatch, or NULL
 */
struct eu_file {
	struct softgpu_worker *base;
	struct address_space mapping;
	struct {
		struct page *page;
		u64 address;
		bool used;
	} sinks[EU_SINKS];
	unsigned int next_sink;
	struct pid *process;
};

/*
 * Copy a page into a sink. Called with the worker's insert mutex held, so the page stays: before
 * it is unpinned, the worker's pages are taken away.
 */
static struct page *eu_sink(struct eu_file *eu, const struct softgpu_worker_fault *fault)
{
	unsigned int index = eu->next_sink;
	void *copy = page_address(eu->sinks[index].page);

	eu->next_sink = (index + 1) % EU_SINKS;
	if (eu->sinks[index].used)
		unmap_mapping_range(&eu->mapping, (loff_t)eu->sinks[index].address, PAGE_SIZE, 1);
	if (fault->zeros)
		clear_page(copy);
	else
		copy_page(copy, fault->pointers[0]);
	eu->sinks[index].address = fault->address;
	eu->sinks[index].used = true;
	return eu->sinks[index].page;
}

static vm_fault_t eu_insert(struct eu_file *eu, struct vm_fault *vmf,
			    const struct softgpu_worker_fault *fault)
{
	/* Without write access, unless it was asked for: the first store must be seen. */
	pgprot_t prot = fault->write ? vm_get_page_prot(vmf->vma->vm_flags) :
				       vmf->vma->vm_page_prot;
	vm_fault_t result = VM_FAULT_NOPAGE;
	unsigned long pfn;
	unsigned int i;

	for (i = 0; i < fault->count && result == VM_FAULT_NOPAGE; i++) {
		if (fault->drops)
			pfn = page_to_pfn(eu_sink(eu, fault));
		else if (fault->zeros)
			pfn = page_to_pfn(ZERO_PAGE(0));
		else
			pfn = PHYS_PFN(virt_to_phys(fault->pointers[i]));
		result = vmf_insert_pfn_prot(vmf->vma, vmf->address + i * PAGE_SIZE, pfn, prot);
	}
	return result;
}

/*
 * Pages that are mapped for loads are replaced at once: an instruction that loads and stores would
 * fault for ever if each of its accesses took away what the other one needs.
 */
static vm_fault_t eu_map(struct vm_fault *vmf, bool write)
{
	struct eu_file *eu = vmf->vma->vm_file->private_data;
	unsigned long left = (vmf->vma->vm_end - vmf->address) >> PAGE_SHIFT;
	struct softgpu_worker_fault fault = {
		.address = (u64)vmf->pgoff << PAGE_SHIFT,
		.write = write,
		.pages = min_t(unsigned long, left, SOFTGPU_FAULT_PAGES),
	};
	vm_fault_t result;

	switch (softgpu_worker_translate(eu->base, &fault)) {
	case 0:
		break;
	case -EBUSY: /* another thread of the worker waits */
		schedule_timeout_killable(1);
		/* A fault in the kernel, of copy_to_user(), ends by an error only. */
		return fatal_signal_pending(current) ? VM_FAULT_SIGBUS : VM_FAULT_NOPAGE;
	default:
		return VM_FAULT_SIGBUS;
	}
	if (write)
		unmap_mapping_range(&eu->mapping, (loff_t)fault.address,
				    (loff_t)fault.count * PAGE_SIZE, 1);
	result = eu_insert(eu, vmf, &fault);
	mutex_unlock(&eu->base->insert);
	return result;
}

static vm_fault_t eu_fault(struct vm_fault *vmf)
{
	return eu_map(vmf, vmf->flags & FAULT_FLAG_WRITE);
}

/* A store to a page that is mapped for loads. */
static vm_fault_t eu_mkwrite(struct vm_fault *vmf)
{
	return eu_map(vmf, true);
}

static const struct vm_operations_struct eu_vm_ops = {
	.fault = eu_fault,
	.pfn_mkwrite = eu_mkwrite,
};

/* Called with the worker's insert mutex held. */
static void eu_take_pages(void *private)
{
	struct eu_file *eu = private;
	unsigned int i;

	unmap_mapping_range(&eu->mapping, 0, GHYVI_EU_CONTROL_OFFSET, 1);
	for (i = 0; i < EU_SINKS; i++)
		eu->sinks[i].used = false;
}

static void eu_kill(void *private)
{
	struct eu_file *eu = private;
	struct pid *process = READ_ONCE(eu->process);

	if (process)
		kill_pid(process, SIGKILL, 1);
}

static const struct softgpu_worker_ops eu_worker_ops = {
	.take_pages = eu_take_pages,
	.kill = eu_kill,
};

static int eu_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct eu_file *eu = file->private_data;
	u64 begin = (u64)vma->vm_pgoff << PAGE_SHIFT, bytes = vma->vm_end - vma->vm_start;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	vm_flags_clear(vma, VM_MAYEXEC);
	if (begin == GHYVI_EU_CONTROL_OFFSET && bytes == PAGE_SIZE) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		vm_flags_clear(vma, VM_MAYWRITE);
		return vm_insert_page(vma, vma->vm_start, virt_to_page(eu->base->control));
	}
	if (begin >= GHYVI_EU_CONTROL_OFFSET || bytes > GHYVI_EU_CONTROL_OFFSET - begin)
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &eu_vm_ops;
	return 0;
}

static long eu_accept(struct eu_file *eu, void __user *argument)
{
	struct ghyvi_eu_client name;
	int err = softgpu_worker_accept(eu->base, &name);

	if (!err && copy_to_user(argument, &name, sizeof(name)))
		err = -EFAULT;
	return err;
}

/* The thread group that the worker answers with; NULL: none. */
static struct softgpu_group *eu_group(struct eu_file *eu, const struct ghyvi_eu_next *next)
{
	struct softgpu_group *group;

	if (next->status != GHYVI_EU_YIELDED || !next->group_bytes)
		return NULL;
	if (!softgpu_group_fits(next->group_bytes))
		return ERR_PTR(-EINVAL);
	group = softgpu_worker_group(eu->base, next->group_bytes);
	if (!group)
		return ERR_PTR(-ENOMEM);
	if (!copy_from_user(group->data, u64_to_user_ptr(next->group), group->bytes))
		return group;
	kvfree(group);
	return ERR_PTR(-EFAULT);
}

static int eu_exchange(struct eu_file *eu, struct ghyvi_eu_next *next, void __user *argument)
{
	struct softgpu_group *group = eu_group(eu, next);
	void __user *buffer = u64_to_user_ptr(next->group);
	int err;

	if (IS_ERR(group))
		return PTR_ERR(group);
	err = softgpu_worker_next(eu->base, next, &group);
	if (!err && group && copy_to_user(buffer, group->data, group->bytes))
		err = -EFAULT;
	next->group = (uintptr_t)buffer;
	next->group_bytes = group ? group->bytes : 0;
	if (!err && copy_to_user(argument, next, sizeof(*next)))
		err = -EFAULT;
	kvfree(group);
	return err;
}

static long eu_next(struct eu_file *eu, void __user *argument)
{
	struct ghyvi_eu_next *next = memdup_user(argument, sizeof(*next));
	struct pid *process;
	int err;

	if (IS_ERR(next))
		return PTR_ERR(next);
	if (!READ_ONCE(eu->process)) {
		process = get_pid(task_tgid(current));
		if (cmpxchg(&eu->process, NULL, process))
			put_pid(process);
	}
	err = eu_exchange(eu, next, argument);
	kfree(next);
	return err;
}

static long eu_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	switch (command) {
	case GHYVI_EU_ACCEPT:
		return eu_accept(file->private_data, (void __user *)argument);
	case GHYVI_EU_NEXT:
		return eu_next(file->private_data, (void __user *)argument);
	}
	return -ENOTTY;
}

static void eu_free(struct eu_file *eu)
{
	unsigned int i;

	for (i = 0; i < EU_SINKS; i++)
		if (eu->sinks[i].page)
			__free_page(eu->sinks[i].page);
	kfree(eu);
}

static int eu_open(struct inode *inode, struct file *file)
{
	struct eu_file *eu = kzalloc(sizeof(*eu), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!eu)
		return -ENOMEM;
	for (i = 0; i < EU_SINKS; i++) {
		eu->sinks[i].page = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!eu->sinks[i].page)
			break;
	}
	if (i == EU_SINKS)
		eu->base = softgpu_worker_create(&eu_worker_ops, eu);
	if (!eu->base) {
		eu_free(eu);
		return -ENOMEM;
	}
	/* One of its own: pages of one file are taken away without a look at the others. */
	address_space_init_once(&eu->mapping);
	eu->mapping.host = inode;
	eu->mapping.a_ops = &empty_aops;
	file->f_mapping = &eu->mapping;
	file->private_data = eu;
	return nonseekable_open(inode, file);
}

static int eu_release(struct inode *inode, struct file *file)
{
	struct eu_file *eu = file->private_data;

	softgpu_worker_close(eu->base);
	softgpu_worker_put(eu->base);
	file->f_mapping = inode->i_mapping;
	put_pid(eu->process);
	eu_free(eu);
	return 0;
}

static const struct file_operations eu_fops = {
	.owner = THIS_MODULE,
	.open = eu_open,
	.release = eu_release,
	.unlocked_ioctl = eu_ioctl,
	.mmap = eu_mmap,
};

static struct miscdevice eu_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ghyvi-eu",
	.mode = 0600,
	.fops = &eu_fops,
};

int softgpu_eu_dev_init(void)
{
	return misc_register(&eu_device);
}

void softgpu_eu_dev_exit(void)
{
	misc_deregister(&eu_device);
}
