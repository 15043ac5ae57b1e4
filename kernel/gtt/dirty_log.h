/* SPDX-License-Identifier: GPL-2.0-only */
/* The log of guest pages that a vGPU writes. Locking as in gtt_types.h. */
#ifndef GHYVI_GTT_DIRTY_LOG_H
#define GHYVI_GTT_DIRTY_LOG_H

#include "gtt_types.h"

/* Record that the host, or a CPU, has written to page @gfn, or may do so until the log is read. */
void ghyvi_dirty_record(struct ghyvi_gtt *gtt, u64 gfn);

static inline void ghyvi_dirty_mark(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	if (unlikely(gtt->logging))
		ghyvi_dirty_record(gtt, ghyvi_pin_gfn(pin));
}

/* @pin is about to be released; no engine can write to its page any more. */
static inline void ghyvi_dirty_unpin(struct ghyvi_gtt *gtt, struct ghyvi_pin *pin)
{
	const struct ghyvi_gtt_params *p = &gtt->params;

	if (unlikely(gtt->logging && p->pgpu_ops->log_read(p->client, ghyvi_pin_dma(pin))))
		ghyvi_dirty_record(gtt, ghyvi_pin_gfn(pin));
}

#endif
