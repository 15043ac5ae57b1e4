/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOSTILE_ACCOMPLICE_PCI_H
#define HOSTILE_ACCOMPLICE_PCI_H

#include <stdint.h>

/**
 * accomplice_start() - have a second vGPU of this guest pin and unpin memory all the time: pages that the
 * attacks take away, and others. It has no checks of its own: what it stores is undone by other threads.
 * @bar0: its BAR 0
 */
void accomplice_start(volatile uint8_t *bar0);
/** accomplice_rounds() - how often it has changed its entries and flushed so far. */
uint64_t accomplice_rounds(void);

#endif
