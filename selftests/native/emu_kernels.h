/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernels for the tests of the emulated GPU, and the state and the batch that dispatch them. */
#ifndef EMU_KERNELS_H
#define EMU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum emu_kernel {
	/* Lane l of group g adds 32 g + 4 l + 7 to the dword 32 g + 4 l after the general base. */
	EMU_KERNEL_ADDS,
	/* One lane stores at the general base + 0x7fff0000. */
	EMU_KERNEL_WILD,
	EMU_KERNEL_ENDLESS,
	EMU_KERNEL_UNSUPPORTED, /* its first instruction is */
	/*
	 * The four threads of a group exchange numbers by shared memory and barriers, again and
	 * again, for 94,000 instructions. Each lane of a group adds to its dword, which is where
	 * EMU_KERNEL_ADDS has it; see emu_kernel_shares_result().
	 */
	EMU_KERNEL_SHARES,
	/*
	 * Each lane stores to the first EMU_COPIES_BYTES, as EMU_KERNEL_ADDS, and then copies the
	 * dword that is EMU_COPIES_BYTES further on to another EMU_COPIES_BYTES further on.
	 */
	EMU_KERNEL_COPIES,
};

#define EMU_COPIES_BYTES 2048u

/* Write the instructions to @code; returns their bytes. */
size_t emu_kernel_put(enum emu_kernel kernel, void *code);
/* The interface descriptor of a kernel at the instruction base. */
void emu_kernel_descriptor(uint32_t descriptor[8]);

#define EMU_STATE_DWORDS (19 + 9 + 4)
/* STATE_BASE_ADDRESS, MEDIA_VFE_STATE and MEDIA_INTERFACE_DESCRIPTOR_LOAD */
void emu_kernel_state(uint32_t *batch, uint64_t general, uint64_t dynamic, uint64_t instruction);
#define EMU_WALKER_DWORDS 15
void emu_kernel_walker(uint32_t *batch, uint32_t groups);
/* Make them those of EMU_KERNEL_SHARES; either may be NULL. */
void emu_kernel_share(uint32_t *descriptor, uint32_t *walker);
/* What each lane of a group adds. */
void emu_kernel_shares_result(uint32_t group, uint32_t result[8]);

#endif
