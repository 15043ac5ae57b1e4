// SPDX-License-Identifier: GPL-2.0-only
/*
 * The most frequent messages: untyped reads and writes of 8 or 16 lanes, of buffers and of shared
 * memory. What the descriptor says is known when the instruction is decoded. Everything that is not
 * plain goes the general way: eu_send().
 */
#include "dataport.h"

enum { UNTYPED_READ = 1, UNTYPED_WRITE = 9, SFID_DATA_CACHE_1 = 12 };

/* The bytes that offsets are relative to, and how many there are; false: the general way. */
static bool target(struct eu_exec *x, const struct eu_insn *i, struct eu_target *t)
{
	struct eu_message m;
	uint32_t index = i->desc & 0xff;
	const struct eu_surface *s;

	if (index == EU_BTI_SLM) {
		t->slm = true;
		t->bytes = x->slm_bytes;
		return true;
	}
	t->slm = t->null = false;
	if (index <= EU_BTI_LAST && x->surfaces[index].valid) {
		s = &x->surfaces[index];
		if (s->type != EU_SURFACE_BUFFER)
			return false;
		t->base = s->address;
		t->bytes = s->bytes;
		return true;
	}
	m.desc = i->desc;
	/* A surface that is not valid yet takes the general way, which makes it so. */
	return index > EU_BTI_LAST && !eu_target_of(x, i, &m, t);
}

/* All lanes, their dwords next to each other and within the bounds and a page: where they are. */
static uint8_t *block(struct eu_exec *x, const struct eu_target *t, const uint8_t *addresses,
		      uint32_t lanes, enum eu_access access)
{
	uint32_t first, lane, wrong = 0;
	uint64_t offset;

	memcpy(&first, addresses, 4);
	for (lane = 1; lane < lanes; lane++)
		wrong |= eu_data32(addresses, lane) ^ (first + lane * 4);
	if (wrong)
		return NULL;
	offset = t->slm ? first & 0xffff : first;
	if (offset + lanes * 4 > t->bytes)
		return NULL;
	if (t->slm)
		return x->slm + offset;
	if (((t->base + offset) & (EU_PAGE_BYTES - 1)) + lanes * 4 > EU_PAGE_BYTES)
		return NULL;
	return eu_map(x, t->base + offset, access);
}

/* A lane's @bytes, or NULL if they are not all there in one page. */
static inline uint8_t *place(struct eu_exec *x, const struct eu_target *t, uint32_t address,
			     uint32_t bytes, enum eu_access access)
{
	uint64_t offset = t->slm ? address & 0xffff : address, at;
	const struct eu_tlb_slot *slot;

	if (offset + bytes > t->bytes)
		return NULL;
	if (t->slm)
		return x->slm + offset;
	at = t->base + offset;
	if ((at & (EU_PAGE_BYTES - 1)) + bytes > EU_PAGE_BYTES)
		return NULL;
	slot = &x->tlb[access][at >> 12 & (EU_TLB_SLOTS - 1)];
	if (slot->page != ((at & 0xfffffffff000ull) | 1))
		return NULL;
	return slot->host + (at & (EU_PAGE_BYTES - 1));
}

static inline __attribute__((always_inline)) enum eu_step
loads(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes, uint32_t channels)
{
	uint32_t mask = eu_lanes(x->t, i), lane, n, address[16];
	uint8_t *reg = x->t->reg, *answer = reg + i->dst_at, *where[16];
	struct eu_target t = { 0 };

	if (!mask)
		return EU_NEXT;
	if (!target(x, i, &t))
		return x->error.status ? EU_FAILED : eu_send(x, i);
	x->insn = i;
	memcpy(address, reg + i->src[0].at[0], lanes * 4);
	if (channels == 1 && (mask & i->all) == i->all && i->lanes == lanes) {
		uint8_t *from = block(x, &t, (const uint8_t *)address, lanes, EU_ACCESS_READ);

		if (from) {
			memcpy(answer, from, lanes * 4);
			x->messages++;
			x->lanes += lanes;
			return EU_NEXT;
		}
		if (x->error.status)
			return EU_FAILED;
	}
	/* Find all places first: if one is not plain, nothing has happened yet. */
	mask &= (1u << lanes) - 1;
	for (lane = 0; lane < lanes; lane++) {
		if (!(mask >> lane & 1))
			continue;
		where[lane] = place(x, &t, address[lane], channels * 4, EU_ACCESS_READ);
		if (!where[lane])
			return eu_send(x, i);
	}
	x->messages++;
	x->lanes += (unsigned int)__builtin_popcount(mask);
	for (lane = 0; lane < lanes; lane++) {
		if (!(mask >> lane & 1))
			continue;
		for (n = 0; n < channels; n++)
			memcpy(answer + (n * lanes + lane) * 4, where[lane] + n * 4, 4);
	}
	return EU_NEXT;
}

static inline __attribute__((always_inline)) enum eu_step
stores(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes, uint32_t channels)
{
	uint32_t mask = eu_lanes(x->t, i), lane, n;
	uint8_t *reg = x->t->reg, *where[16];
	const uint8_t *addresses = reg + i->src[0].at[0], *data = reg + i->src[1].at[0];
	struct eu_target t = { 0 };

	if (!mask)
		return EU_NEXT;
	if (!target(x, i, &t))
		return x->error.status ? EU_FAILED : eu_send(x, i);
	x->insn = i;
	if (channels == 1 && (mask & i->all) == i->all && i->lanes == lanes) {
		uint8_t *to = block(x, &t, addresses, lanes, EU_ACCESS_WRITE);

		if (to) {
			memcpy(to, data, lanes * 4);
			x->messages++;
			x->lanes += lanes;
			return EU_NEXT;
		}
		if (x->error.status)
			return EU_FAILED;
	}
	mask &= (1u << lanes) - 1;
	for (lane = 0; lane < lanes; lane++) {
		if (!(mask >> lane & 1))
			continue;
		where[lane] =
			place(x, &t, eu_data32(addresses, lane), channels * 4, EU_ACCESS_WRITE);
		if (!where[lane])
			return eu_send(x, i);
	}
	x->messages++;
	x->lanes += (unsigned int)__builtin_popcount(mask);
	for (lane = 0; lane < lanes; lane++) {
		if (!(mask >> lane & 1))
			continue;
		for (n = 0; n < channels; n++)
			memcpy(where[lane] + n * 4, data + (n * lanes + lane) * 4, 4);
	}
	return EU_NEXT;
}

#define HANDLERS(lanes, channels)                                                                  \
	static enum eu_step load_##lanes##_##channels(struct eu_exec *x, const struct eu_insn *i)  \
	{                                                                                          \
		return loads(x, i, lanes, channels);                                               \
	}                                                                                          \
	static enum eu_step store_##lanes##_##channels(struct eu_exec *x, const struct eu_insn *i) \
	{                                                                                          \
		return stores(x, i, lanes, channels);                                              \
	}

HANDLERS(8, 1)
HANDLERS(8, 2)
HANDLERS(8, 3)
HANDLERS(8, 4)
HANDLERS(16, 1)
HANDLERS(16, 2)
HANDLERS(16, 3)
HANDLERS(16, 4)

/** eu_fast_send() - the handler of a plain message, NULL if it is not plain */
eu_handler eu_fast_send(const struct eu_insn *i)
{
	static const eu_handler load[2][4] = { { load_8_1, load_8_2, load_8_3, load_8_4 },
					       { load_16_1, load_16_2, load_16_3, load_16_4 } };
	static const eu_handler store[2][4] = { { store_8_1, store_8_2, store_8_3, store_8_4 },
						{ store_16_1, store_16_2, store_16_3,
						  store_16_4 } };
	uint32_t type = i->desc >> 14 & 31, mode = i->desc >> 12 & 3, off = i->desc >> 8 & 15;
	uint32_t channels = 4 - (uint32_t)__builtin_popcount(off), rows = mode == 1 ? 2 : 1;
	uint32_t first = i->desc >> 25 & 15, second = i->ex_desc >> 6 & 15;
	uint32_t response = i->desc >> 20 & 31, index = i->desc & 0xff;

	if (i->desc_register || i->ex_desc_register || i->eot || (i->ex_desc & 15) != 12)
		return NULL;
	/* Channels from x on, no header; an index that eu_target_of() knows. */
	if ((mode != 1 && mode != 2) || !channels || off != (0xfu << channels & 0xf) ||
	    i->desc >> 19 & 1 ||
	    (index > EU_BTI_LAST && index != EU_BTI_SLM && index != EU_BTI_STATELESS &&
	     index != EU_BTI_STATELESS_2))
		return NULL;
	if (first != rows || i->src[0].at[0] + rows * EU_REG_BYTES > EU_GRF_BYTES)
		return NULL;
	if (type == UNTYPED_READ) {
		if (second || i->dst.null || response != rows * channels ||
		    i->dst.at[0] + response * EU_REG_BYTES > EU_GRF_BYTES)
			return NULL;
		return load[mode == 1][channels - 1];
	}
	if (type != UNTYPED_WRITE || response || i->src[1].null || second != rows * channels ||
	    (i->op != EU_SENDS && i->op != EU_SENDSC) ||
	    i->src[1].at[0] + second * EU_REG_BYTES > EU_GRF_BYTES)
		return NULL;
	return store[mode == 1][channels - 1];
}
