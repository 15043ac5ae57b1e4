/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOSTILE_SECOND_VGPU_PCI_H
#define HOSTILE_SECOND_VGPU_PCI_H

#include <stdint.h>

/*
 * Starts a thread that makes a second vGPU of this guest pin and unpin memory all the time: pages
 * that the attacks remove, and others. It checks nothing, because other threads change the same
 * memory.
 * @bar0: BAR 0 of the second vGPU
 */
void second_vgpu_start(volatile uint8_t *bar0);
/* Returns how many times the thread has changed its entries and flushed. */
uint64_t second_vgpu_rounds(void);

#endif
