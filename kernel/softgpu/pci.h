/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emulated PCI functions: a root bus in a PCI domain of its own, with one function per slot.
 */
#ifndef GHYVI_SOFTGPU_PCI_H
#define GHYVI_SOFTGPU_PCI_H

#define SOFTGPU_PCI_SLOTS 32

/*
 * Create the bus and @count functions, 1..SOFTGPU_PCI_SLOTS, and bind their drivers. May sleep.
 * Returns 0; -ENOSPC (no free PCI domain); -ENOMEM; another errno of pci_scan_root_bus_bridge().
 */
int softgpu_bus_create(unsigned int count);
/* Unbind the drivers, and remove the functions and the bus. May sleep. */
void softgpu_bus_destroy(void);

#endif
