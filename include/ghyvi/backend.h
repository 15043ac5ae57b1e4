/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registration of a pGPU backend, which is a module of its own with its own folder in kernel/.
 * kernel/softgpu is one. Registration makes its device an mdev parent.
 */
#ifndef GHYVI_BACKEND_H
#define GHYVI_BACKEND_H

#include <linux/module.h>
#include <ghyvi/pgpu.h>

struct device;

struct ghyvi_pgpu *__ghyvi_pgpu_register(struct module *owner, struct device *parent,
					 struct ghyvi_pgpu_device *pgpu);

/**
 * ghyvi_pgpu_register() - register a pGPU, so that vGPUs can be created on it.
 * @parent: device of the pGPU. The name of its driver becomes part of the type ids. The device must
 *	be bound to that driver, or in its probe function.
 * @pgpu: the pGPU; its operations may be called from now on
 *
 * The backend's module cannot be unloaded while one of its vGPUs is open.
 *
 * Context: may sleep.
 * Return: a handle for ghyvi_pgpu_unregister(), or an ERR_PTR. -ENOMEM. -EINVAL: the resources
 * cannot be divided (see the limits in struct ghyvi_pgpu_resources). Or another errno of
 * kthread_run(), sysfs or mdev_register_parent().
 */
#define ghyvi_pgpu_register(parent, pgpu) __ghyvi_pgpu_register(THIS_MODULE, parent, pgpu)

/**
 * ghyvi_pgpu_unregister() - remove all vGPUs of a pGPU and the pGPU itself.
 * @pgpu: handle returned by ghyvi_pgpu_register()
 *
 * If a vGPU is open, its user is asked to release it (VFIO_PCI_REQ_IRQ_INDEX), and the call waits
 * until the vGPU is closed. No operation of the backend is called after the return.
 *
 * Context: may sleep, for as long as a user keeps a vGPU open.
 */
void ghyvi_pgpu_unregister(struct ghyvi_pgpu *pgpu);

#endif
