// SPDX-License-Identifier: GPL-2.0-only
/*
 * A second vGPU in the same guest. Both vGPUs concurrently use host structures that the vGPUs of a
 * VM share: VFIO's container, KVM's memslots and page tracking.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "second_vgpu_pci.h"
#include "pci_bar0.h"
#include "guest_env.h"

#define HIDDEN_PAGES 8u /* from machine_hidden_page() on */
#define LOW_PAGES 8u
#define PAUSE_US 100

static struct {
	_Atomic uint64_t rounds;
	volatile uint8_t *bar0;
	pthread_t thread;
} second;

static uint32_t read_register(uint32_t offset)
{
	return *(volatile uint32_t *)(second.bar0 + offset);
}

static void write_register(uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(second.bar0 + offset) = value;
}

/*
 * Maps and unmaps memory that the attacks remove and restore. Each flush makes the host sync its
 * pins.
 */
static void *pin_and_unpin(void *unused)
{
	volatile uint64_t *ggtt = (volatile uint64_t *)(second.bar0 + GGTT_TABLE_OFFSET);
	uint32_t first = read_register(PVINFO_HIDDEN_BASE) / PAGE_BYTES;
	uint64_t hidden, low, page;

	(void)unused;
	machine_hidden_page(&hidden);
	machine_low_page(&low);
	for (;;) {
		for (page = 0; page < HIDDEN_PAGES; page++)
			ggtt[first + page] = (hidden + page * PAGE_BYTES) | ENTRY_PRESENT;
		for (page = 0; page < LOW_PAGES; page++)
			ggtt[first + HIDDEN_PAGES + page] = (low + page * PAGE_BYTES) |
							    ENTRY_PRESENT;
		ggtt[first + HIDDEN_PAGES + LOW_PAGES] = machine.gpa[0] | ENTRY_PRESENT;
		write_register(GGTT_FLUSH, 1);
		usleep(PAUSE_US);
		for (page = 0; page <= HIDDEN_PAGES + LOW_PAGES; page++)
			ggtt[first + page] = 0;
		write_register(GGTT_FLUSH, 1);
		atomic_fetch_add(&second.rounds, 1);
	}
	return NULL;
}

void second_vgpu_start(volatile uint8_t *bar0)
{
	second.bar0 = bar0;
	if (read_register(PVINFO) != PVINFO_MAGIC_LOW)
		give_up("the second device is not a vGPU");
	if (pthread_create(&second.thread, NULL, pin_and_unpin, NULL))
		give_up("no thread for the second vGPU");
}

uint64_t second_vgpu_rounds(void)
{
	return atomic_load(&second.rounds);
}
