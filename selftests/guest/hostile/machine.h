/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the attacks stand on: BAR 0 of a vGPU that no driver has, and guest memory whose physical addresses are
 * known. machine_pci.c is the real one; selftests/unit/hostile_test.c has the whole core in its own process.
 */
#ifndef HOSTILE_MACHINE_H
#define HOSTILE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_PAGES 10240u

/**
 * struct machine
 * @memory: MACHINE_PAGES pages, zero at first
 * @gpa: guest-physical address of each of them; consecutive pages need not be neighbours
 * @ggtt: the GGTT table, BAR 0's upper half
 * @bar0: guest-physical address of BAR 0
 */
struct machine {
	uint8_t *memory;
	uint64_t gpa[MACHINE_PAGES];
	volatile uint64_t *ggtt;
	uint64_t bar0;
};

extern struct machine machine;

/** machine_read() - a register, 4 bytes. */
uint32_t machine_read(uint32_t offset);
/** machine_write() - @bytes 1, 2, 4 or 8, @offset a multiple. */
void machine_write(uint32_t offset, uint64_t value, unsigned int bytes);
/** machine_store() - a store to what may be a table page, of 4 or 8 bytes. */
void machine_store(volatile void *to, uint64_t value, unsigned int bytes);
/** machine_relax() - a moment for the other side; called in loops that wait. */
void machine_relax(void);

/**
 * machine_hide() - take memory away from the device, as a guest can by programming its chipset. The pages of
 * machine_hidden_page() cannot be used by the vGPU until it is shown again; nor can BAR 0, for @bar.
 */
void machine_hide(bool hide, bool bar);
/** machine_hidden_page() - memory that machine_hide() can take away, or NULL; its address to @gpa. */
volatile uint32_t *machine_hidden_page(uint64_t *gpa);
/**
 * machine_smram() - where the CPU sees the memory of system management mode.
 * @choice: any number; 0 as it was
 */
void machine_smram(unsigned int choice);
/** machine_low_page() - memory that machine_smram() leaves in place, with other neighbours; or NULL. */
volatile uint64_t *machine_low_page(uint64_t *gpa);

#endif
