/* SPDX-License-Identifier: GPL-2.0-only */
/* Context images: what the engine loads and saves at a context switch. */
#ifndef PGPU_EMU_CONTEXT_H
#define PGPU_EMU_CONTEXT_H

#include <linux/types.h>

struct emu;
struct emu_engine;

/* Where the batch of a context was interrupted: RING_BBADDR and friends, two levels. */
#define EMU_BATCH_DWORDS 6

struct emu_image {
	u64 descriptor;
	u32 lrca; /* GGTT address */
	u32 life; /* for the oracle */
	bool again; /* it was the last one on the engine, too, and no restore was forced */
	u32 first_tail; /* RING_TAIL at the last load or lite restore */
};

/*
 * What the hardware last saved as the batch state of an image, by the physical address of its
 * register page. Software must not change it (EMU_BBSTATE).
 */
#define EMU_IMAGE_NOTES 65536
struct emu_image_note {
	u64 address;
	bool lost; /* another image had this note since the last save */
	u32 batch[EMU_BATCH_DWORDS];
	bool predicated; /* the batch was, by MI_SET_PREDICATE */
	u32 ring_head, ring_start, ring_control; /* as they were saved */
	u32 tail;
};

struct emu_image_notes {
	struct emu_image_note *notes; /* EMU_IMAGE_NOTES, indexed by a hash of the address */
};

/* Load the context of a descriptor. Returns false if it cannot be loaded. */
bool emu_context_load(struct emu_engine *engine, u64 descriptor);
/* Save the loaded context. */
void emu_context_save(struct emu_engine *engine);
/* The loaded context is submitted again: read its tail. */
void emu_context_update_tail(struct emu_engine *engine);

#endif
