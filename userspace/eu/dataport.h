/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_EU_DATAPORT_H
#define GHYVI_EU_DATAPORT_H

#include "machine.h"

#include <string.h>

/* What the addresses of a message are relative to. */
struct eu_target {
	bool slm;
	bool null;
	uint64_t base;
	uint64_t bytes; /* accesses at this offset or above read 0 and write nothing */
};

enum { EU_BTI_SLM = 254, EU_BTI_STATELESS = 255, EU_BTI_STATELESS_2 = 253, EU_BTI_LAST = 239 };

int eu_target_of(struct eu_exec *x, const struct eu_insn *i, const struct eu_message *m,
		 struct eu_target *t);
int eu_target_read(struct eu_exec *x, const struct eu_target *t, uint64_t offset, void *to,
		   uint32_t bytes);
int eu_target_write(struct eu_exec *x, const struct eu_target *t, uint64_t offset, const void *from,
		    uint32_t bytes);
uint32_t eu_atomic_sources(uint32_t op);
uint64_t eu_atomic(void *where, uint32_t op, uint64_t a, uint64_t b, bool wide, bool floats);

static inline uint32_t eu_data32(const uint8_t *data, uint32_t index)
{
	uint32_t v;

	memcpy(&v, data + index * 4, sizeof(v));
	return v;
}

static inline uint64_t eu_data64(const uint8_t *data, uint32_t index)
{
	uint64_t v;

	memcpy(&v, data + index * 8, sizeof(v));
	return v;
}

/* The payload behind the header. */
static inline const uint8_t *eu_payload(const struct eu_message *m)
{
	return m->data + (m->header ? EU_REG_BYTES : 0);
}

#endif
