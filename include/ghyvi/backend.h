/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a pGPU backend (a module of its own) joins the core: afterwards its device is an mdev parent.
 */
#ifndef GHYVI_BACKEND_H
#define GHYVI_BACKEND_H

#include <linux/module.h>
#include <ghyvi/pgpu.h>

struct device;

struct ghyvi_pgpu *__ghyvi_pgpu_register(struct module *owner, struct device *parent,
					 const struct ghyvi_pgpu_ops *ops, void *pgpu);

/**
 * ghyvi_pgpu_register() - offer a pGPU to guests
 * @parent: its device; its driver's name becomes part of the type ids. Must be bound to that driver, or being
 *	probed by it.
 * @ops: the backend; called from now on
 * @pgpu: first argument for @ops
 *
 * The backend's module cannot be unloaded while a vGPU of it is open.
 *
 * Returns a handle for ghyvi_pgpu_unregister(), or ERR_PTR: -ENOMEM; -EINVAL (resources that cannot be divided:
 * a global address space of more than 4 GiB, not a power of two, or no larger than the aperture); what the mdev
 * core said. May sleep.
 */
#define ghyvi_pgpu_register(parent, ops, pgpu)                                                     \
	__ghyvi_pgpu_register(THIS_MODULE, parent, ops, pgpu)

/**
 * ghyvi_pgpu_unregister() - take it back: removes all vGPUs
 *
 * Where a vGPU is open, asks its user to let go (VFIO_PCI_REQ_IRQ_INDEX) and waits. When it returns, @ops will
 * not be called any more. May sleep, for as long as a user keeps a vGPU open.
 */
void ghyvi_pgpu_unregister(struct ghyvi_pgpu *pgpu);

#endif
