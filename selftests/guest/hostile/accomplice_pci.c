// SPDX-License-Identifier: GPL-2.0-only
/*
 * A second vGPU in the same guest. Host structures that the vGPUs of one VM share (VFIO's container, KVM's
 * memory slots and tracking) are used by both at the same time.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "accomplice_pci.h"
#include "machine.h"
#include "world.h"

#define HIDDEN_PAGES 8u /* from machine_hidden_page() on */
#define LOW_PAGES 8u
#define PAUSE_US 100

static struct {
	_Atomic uint64_t rounds;
	volatile uint8_t *bar0;
	pthread_t thread;
} accomplice;

static uint32_t read_register(uint32_t offset)
{
	return *(volatile uint32_t *)(accomplice.bar0 + offset);
}

static void write_register(uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(accomplice.bar0 + offset) = value;
}

/* Entries for the memory that comes and goes, then none; each flush makes the host bring its pins up to date. */
static void *pin_and_unpin(void *unused)
{
	volatile uint64_t *ggtt = (volatile uint64_t *)(accomplice.bar0 + GGTT_TABLE_OFFSET);
	uint32_t first = read_register(PVINFO_HIDDEN_BASE) / PAGE_BYTES;
	uint64_t hidden, low, page;

	(void)unused;
	machine_hidden_page(&hidden);
	machine_low_page(&low);
	for (;;) {
		for (page = 0; page < HIDDEN_PAGES; page++)
			ggtt[first + page] = (hidden + page * PAGE_BYTES) | ENTRY_PRESENT;
		for (page = 0; page < LOW_PAGES; page++)
			ggtt[first + HIDDEN_PAGES + page] = (low + page * PAGE_BYTES) | ENTRY_PRESENT;
		ggtt[first + HIDDEN_PAGES + LOW_PAGES] = machine.gpa[0] | ENTRY_PRESENT;
		write_register(GGTT_FLUSH, 1);
		usleep(PAUSE_US);
		for (page = 0; page <= HIDDEN_PAGES + LOW_PAGES; page++)
			ggtt[first + page] = 0;
		write_register(GGTT_FLUSH, 1);
		atomic_fetch_add(&accomplice.rounds, 1);
	}
	return NULL;
}

void accomplice_start(volatile uint8_t *bar0)
{
	accomplice.bar0 = bar0;
	if (read_register(PVINFO) != PVINFO_MAGIC_LOW)
		give_up("the second device is not a vGPU");
	if (pthread_create(&accomplice.thread, NULL, pin_and_unpin, NULL))
		give_up("no thread for the second vGPU");
}

uint64_t accomplice_rounds(void)
{
	return atomic_load(&accomplice.rounds);
}
