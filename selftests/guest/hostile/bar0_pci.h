/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOSTILE_BAR0_PCI_H
#define HOSTILE_BAR0_PCI_H

#include <stdint.h>

/*
 * Maps BAR 0 of the PCI function @address ("0000:00:02.0"; NULL: the first Intel display function)
 * and memory. Exits the program with a message on failure.
 */
void machine_open(const char *address);
/* Maps BAR 0 of the second Intel display function. Exits the program with a message on failure. */
volatile uint8_t *machine_open_second(void);

#endif
