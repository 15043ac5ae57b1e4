/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCI functions that exist in software only: a root bus in a PCI domain of its own, one function per slot.
 */
#ifndef GHYVI_SOFTGPU_PCI_H
#define GHYVI_SOFTGPU_PCI_H

#define SOFTGPU_PCI_SLOTS 32

/**
 * softgpu_bus_create() - the bus with @count functions (1 .. SOFTGPU_PCI_SLOTS); drivers are bound when it
 * returns. Returns 0, -ENOSPC (no free PCI domain) or -ENOMEM.
 */
int softgpu_bus_create(unsigned int count);
/** softgpu_bus_destroy() - unbinds drivers, removes functions and bus. */
void softgpu_bus_destroy(void);

#endif
