/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOSTILE_MACHINE_PCI_H
#define HOSTILE_MACHINE_PCI_H

#include <stdint.h>

/**
 * machine_open() - map BAR 0 of the PCI function @address ("0000:00:02.0"; NULL: the first Intel display function),
 * and memory. Ends the program with a message when that does not work.
 */
void machine_open(const char *address);
/** machine_open_second() - BAR 0 of the second Intel display function, likewise. */
volatile uint8_t *machine_open_second(void);

#endif
