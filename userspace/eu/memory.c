// SPDX-License-Identifier: GPL-2.0-only
/* Memory of the GPU, through the caller's map(), with the pages of one call kept. */
#include "machine.h"

#include <string.h>

/**
 * eu_map() - where a byte of GPU memory is in this process
 * @x: keeps the error
 * @address: its address
 * @access: why
 *
 * Return: a pointer that is valid up to the end of the page, NULL after eu_fail().
 */
uint8_t *eu_map(struct eu_exec *x, uint64_t address, enum eu_access access)
{
	uint64_t page = address & 0xfffffffff000ull;
	struct eu_tlb_slot *slot = &x->tlb[access][page >> 12 & (EU_TLB_SLOTS - 1)];

	if (__builtin_expect(slot->page != (page | 1), 0)) {
		uint8_t *host = x->memory.ops->map(x->memory.context, page, access);

		if (!host) {
			static const char *const names[] = { "reads", "writes", "executes",
							     "reads state at" };

			eu_fail(x, NULL, EU_FAULT, "%s 0x%llx, which is not mapped", names[access],
				(unsigned long long)(page | (address & 0xfff)));
			if (x->error.status == EU_FAULT && !x->error.address) {
				x->error.access = access;
				x->error.address = page | (address & 0xfff);
			}
			return NULL;
		}
		slot->page = page | 1;
		slot->host = host;
	}
	return slot->host + (address & (EU_PAGE_BYTES - 1));
}

void eu_tlb_flush(struct eu_exec *x)
{
	memset(x->tlb, 0, sizeof(x->tlb));
}

/** eu_read() - copy from GPU memory; returns 0, or -1 after eu_fail() */
int eu_read(struct eu_exec *x, uint64_t address, void *to, size_t bytes, enum eu_access access)
{
	uint8_t *out = to;

	while (bytes) {
		size_t part = EU_PAGE_BYTES - (address & (EU_PAGE_BYTES - 1));
		uint8_t *from = eu_map(x, address, access);

		if (!from)
			return -1;
		if (part > bytes)
			part = bytes;
		memcpy(out, from, part);
		out += part;
		address += part;
		bytes -= part;
	}
	return 0;
}

/** eu_write() - copy to GPU memory; returns 0, or -1 after eu_fail() */
int eu_write(struct eu_exec *x, uint64_t address, const void *from, size_t bytes)
{
	const uint8_t *in = from;

	while (bytes) {
		size_t part = EU_PAGE_BYTES - (address & (EU_PAGE_BYTES - 1));
		uint8_t *to = eu_map(x, address, EU_ACCESS_WRITE);

		if (!to)
			return -1;
		if (part > bytes)
			part = bytes;
		memcpy(to, in, part);
		in += part;
		address += part;
		bytes -= part;
	}
	return 0;
}
