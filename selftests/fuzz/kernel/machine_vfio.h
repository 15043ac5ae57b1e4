/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FUZZ_MACHINE_VFIO_H
#define FUZZ_MACHINE_VFIO_H

#include <linux/vfio.h>
#include <stdbool.h>
#include <stdint.h>

#define REGIONS_MAX 16u

extern int device_fd; /* of the vGPU */
extern bool machine_traps; /* stores to memory are the vCPU's: slow, but trapped */

/* Makes a VM with the vGPU @uuid, whose VFIO group is the file @group; exits if that fails. */
void machine_begin(const char *uuid, const char *group);
/* Closes and opens the vGPU. */
void machine_close(void);
void machine_open(void);
/* Resets the vGPU and gives BAR 0 its address. */
void machine_power_on(void);
/* Maps the memory of the VM for VFIO, or unmaps it. */
void machine_ram(bool present);
/* Maps any memory at @iova, or unmaps what is there if @memory is NULL. */
void machine_dma(uint64_t iova, uint64_t bytes, void *memory);
/* Returns the offset of region @index in device_fd. */
uint64_t region_offset(unsigned int index);

#endif
