/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access to BAR 0 of a vGPU without a driver, and to guest memory with known physical addresses.
 * bar0_pci.c implements it in a guest; selftests/unit/hostile_test.c implements it with the whole
 * core of the host in its own process.
 */
#ifndef HOSTILE_PCI_BAR0_H
#define HOSTILE_PCI_BAR0_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_PAGES 10240u

/*
 * struct machine
 * @memory: MACHINE_PAGES pages, initially zero
 * @gpa: guest-physical address of each page; the pages need not be physically contiguous
 * @ggtt: the GGTT, the upper half of BAR 0
 * @bar0: guest-physical address of BAR 0
 */
struct machine {
	uint8_t *memory;
	uint64_t gpa[MACHINE_PAGES];
	volatile uint64_t *ggtt;
	uint64_t bar0;
};

extern struct machine machine;

/* Reads a register, 4 bytes. */
uint32_t machine_read(uint32_t offset);
/* Writes a register; @bytes is 1, 2, 4 or 8, @offset is a multiple of it. */
void machine_write(uint32_t offset, uint64_t value, unsigned int bytes);
/* Stores 4 or 8 bytes to memory that may be a table page. */
void machine_store(volatile void *to, uint64_t value, unsigned int bytes);
/* Relaxes the CPU in a loop that waits. */
void machine_relax(void);

/*
 * Removes memory from the guest-physical address space, as a guest can by programming its chipset,
 * or restores it. Affects the pages of machine_hidden_page() and, with @bar, BAR 0.
 */
void machine_hide(bool hide, bool bar);
/* Returns memory that machine_hide() can remove, or NULL; *gpa is its address. */
volatile uint32_t *machine_hidden_page(uint64_t *gpa);
/* Changes how the CPU sees the memory of system management mode; @choice 0 restores the default. */
void machine_smram(unsigned int choice);
/*
 * Returns memory that machine_smram() does not change itself, but whose memslot it rearranges; or
 * NULL. *gpa is its address.
 */
volatile uint64_t *machine_low_page(uint64_t *gpa);

#endif
