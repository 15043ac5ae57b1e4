// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data port: loads, stores and atomic operations of lanes. The types of messages and their
 * descriptors are those of the public manuals (volume "3D-Media-GPGPU", data port). blocks.c has
 * the messages of whole registers.
 */
#include "dataport.h"

/* Types of messages: bits 18:14 of the descriptor. */
enum {
	DC1_UNTYPED_READ = 0x01,
	DC1_UNTYPED_ATOMIC = 0x02,
	DC1_TYPED_READ = 0x05,
	DC1_TYPED_ATOMIC = 0x06,
	DC1_UNTYPED_WRITE = 0x09,
	DC1_TYPED_WRITE = 0x0d,
	DC1_A64_SCATTERED_READ = 0x10,
	DC1_A64_UNTYPED_READ = 0x11,
	DC1_A64_ATOMIC = 0x12,
	DC1_A64_BLOCK_READ = 0x14,
	DC1_A64_BLOCK_WRITE = 0x15,
	DC1_A64_UNTYPED_WRITE = 0x19,
	DC1_A64_SCATTERED_WRITE = 0x1a,
	DC1_UNTYPED_FLOAT_ATOMIC = 0x1b,
	DC1_A64_FLOAT_ATOMIC = 0x1d,
	DC0_DWORD_READ = 0x03,
	DC0_BYTE_READ = 0x04,
	DC0_FENCE = 0x07,
	DC0_DWORD_WRITE = 0x0b,
	DC0_BYTE_WRITE = 0x0c,
};

enum { SFID_CONSTANT_CACHE = 9, SFID_DATA_CACHE_0 = 10, SFID_DATA_CACHE_1 = 12 };

/**
 * eu_target_of() - what the binding table index of a message names
 *
 * Return: 0, or -1 after eu_fail().
 */
int eu_target_of(struct eu_exec *x, const struct eu_insn *i, const struct eu_message *m,
		 struct eu_target *t)
{
	const struct eu_dispatch *d = &x->run->dispatch;
	const struct eu_surface *s;
	uint32_t index = m->desc & 0xff;

	memset(t, 0, sizeof(*t));
	if (index == EU_BTI_SLM) {
		t->slm = true;
		t->bytes = x->slm_bytes;
		return 0;
	}
	if (index == EU_BTI_STATELESS || index == EU_BTI_STATELESS_2) {
		t->base = d->general.address;
		t->bytes = d->general.bytes;
		return 0;
	}
	if (index > EU_BTI_LAST) {
		eu_fail(x, i, EU_UNSUPPORTED, "binding table index %u", index);
		return -1;
	}
	s = eu_surface_get(x, i, index);
	if (!s)
		return -1;
	if (s->type == EU_SURFACE_NULL) {
		t->null = true;
		return 0;
	}
	if (s->type != EU_SURFACE_BUFFER && s->type != EU_SURFACE_STRUCTURED) {
		eu_fail(x, i, EU_UNSUPPORTED, "an untyped access of an image");
		return -1;
	}
	if (s->type == EU_SURFACE_STRUCTURED) {
		eu_fail(x, i, EU_UNSUPPORTED, "a structured buffer");
		return -1;
	}
	t->base = s->address;
	t->bytes = s->bytes;
	return 0;
}

/*
 * Where @bytes are, in one piece: NULL after eu_fail(), or with *dropped set if they are outside of
 * the surface. They must not cross a page.
 */
static void *target_pointer(struct eu_exec *x, const struct eu_target *t, uint64_t offset,
			    uint32_t bytes, bool *dropped)
{
	*dropped = false;
	if (t->slm)
		offset &= 0xffff;
	if (t->null || offset >= t->bytes || t->bytes - offset < bytes) {
		*dropped = true;
		return NULL;
	}
	if (t->slm)
		return x->slm + offset;
	return eu_map(x, t->base + offset, EU_ACCESS_WRITE);
}

int eu_target_read(struct eu_exec *x, const struct eu_target *t, uint64_t offset, void *to,
		   uint32_t bytes)
{
	if (t->slm)
		offset &= 0xffff;
	if (__builtin_expect(t->null || offset >= t->bytes || t->bytes - offset < bytes, 0)) {
		memset(to, 0, bytes);
		return 0;
	}
	if (t->slm) {
		memcpy(to, x->slm + offset, bytes);
		return 0;
	}
	return eu_read(x, t->base + offset, to, bytes, EU_ACCESS_READ);
}

int eu_target_write(struct eu_exec *x, const struct eu_target *t, uint64_t offset, const void *from,
		    uint32_t bytes)
{
	if (t->slm)
		offset &= 0xffff;
	if (__builtin_expect(t->null || offset >= t->bytes || t->bytes - offset < bytes, 0))
		return 0;
	if (t->slm) {
		memcpy(x->slm + offset, from, bytes);
		return 0;
	}
	return eu_write(x, t->base + offset, from, bytes);
}

/* What the lanes of a message access: the same number of elements of the same size each. */
struct lanes {
	uint32_t count; /* lanes: 8 or 16 */
	uint32_t elements; /* of each lane */
	uint32_t bytes; /* of an element */
	uint32_t apart; /* bytes between the elements of a lane in memory */
	uint32_t slot; /* bytes of an element in a register */
	uint8_t channel[8]; /* place of each element in memory, in elements */
	uint64_t address[16];
	uint32_t mask;
	const uint8_t *data; /* payload behind the addresses */
};

static int take_addresses(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m,
			  struct lanes *l, bool a64)
{
	uint32_t bytes = l->count * (a64 ? 8 : 4), lane;
	const uint8_t *payload = eu_payload(m);
	uint32_t registers = (bytes + EU_REG_BYTES - 1) / EU_REG_BYTES;

	if (m->registers < registers) {
		eu_fail(x, i, EU_ILLEGAL, "message 0x%x without all addresses", m->desc);
		return -1;
	}
	for (lane = 0; lane < l->count; lane++)
		l->address[lane] = a64 ? eu_data64(payload, lane) : eu_data32(payload, lane);
	l->mask = m->mask & ((1u << l->count) - 1);
	l->data = payload + registers * EU_REG_BYTES;
	m->registers -= registers;
	return 0;
}

static uint32_t rows_of(const struct lanes *l)
{
	return l->elements * ((l->count * l->slot + EU_REG_BYTES - 1) / EU_REG_BYTES);
}

/* Bytes of a register row of one element of all lanes. */
static uint32_t row_bytes(const struct lanes *l)
{
	return (l->count * l->slot + EU_REG_BYTES - 1) / EU_REG_BYTES * EU_REG_BYTES;
}

/* Consecutive dwords of all lanes, within a page: one copy. NULL if they are not that. */
static uint8_t *consecutive(struct eu_exec *x, const struct eu_target *t, const struct lanes *l,
			    enum eu_access access)
{
	uint64_t first = l->address[0], offset, wrong = 0;
	uint32_t lane, all = l->count * 4;

	if (l->elements != 1 || l->channel[0] || l->bytes != 4 || l->slot != 4 ||
	    l->mask != (1u << l->count) - 1)
		return NULL;
	for (lane = 0; lane < l->count; lane++)
		wrong |= l->address[lane] ^ (first + lane * 4);
	if (wrong)
		return NULL;
	offset = t->slm ? first & 0xffff : first;
	if (t->null || offset >= t->bytes || t->bytes - offset < all)
		return NULL;
	if (t->slm)
		return x->slm + offset;
	if (((t->base + offset) & (EU_PAGE_BYTES - 1)) + all > EU_PAGE_BYTES)
		return NULL;
	return eu_map(x, t->base + offset, access);
}

static enum eu_step load_lanes(struct eu_exec *x, const struct eu_insn *i,
			       const struct eu_message *m, const struct eu_target *t,
			       const struct lanes *l)
{
	uint32_t lane, n, row = row_bytes(l);
	uint8_t *block;

	if (m->response < rows_of(l))
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x with a short answer", m->desc);
	block = consecutive(x, t, l, EU_ACCESS_READ);
	if (block) {
		memcpy(m->answer, block, l->count * 4);
		return EU_NEXT;
	}
	if (x->error.status)
		return EU_FAILED;
	for (lane = 0; lane < l->count; lane++) {
		if (!(l->mask >> lane & 1))
			continue;
		for (n = 0; n < l->elements; n++) {
			uint64_t v = 0;

			if (eu_target_read(x, t, l->address[lane] + l->channel[n] * l->apart, &v,
					   l->bytes))
				return EU_FAILED;
			memcpy(m->answer + n * row + lane * l->slot, &v, l->slot);
		}
	}
	return EU_NEXT;
}

static enum eu_step store_lanes(struct eu_exec *x, const struct eu_insn *i,
				const struct eu_message *m, const struct eu_target *t,
				const struct lanes *l)
{
	uint32_t lane, n, row = row_bytes(l);
	uint8_t *block;

	if (m->registers < rows_of(l))
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x without all data", m->desc);
	block = consecutive(x, t, l, EU_ACCESS_WRITE);
	if (block) {
		memcpy(block, l->data, l->count * 4);
		return EU_NEXT;
	}
	if (x->error.status)
		return EU_FAILED;
	for (lane = 0; lane < l->count; lane++) {
		if (!(l->mask >> lane & 1))
			continue;
		for (n = 0; n < l->elements; n++)
			if (eu_target_write(x, t, l->address[lane] + l->channel[n] * l->apart,
					    l->data + n * row + lane * l->slot, l->bytes))
				return EU_FAILED;
	}
	return EU_NEXT;
}

/* Untyped: up to four dwords for each lane; a set bit disables a channel. */
static int untyped(struct eu_exec *x, const struct eu_insn *i, const struct eu_message *m,
		   struct lanes *l)
{
	uint32_t mode = m->desc >> 12 & 3, off = m->desc >> 8 & 15, n;

	memset(l, 0, sizeof(*l));
	if (mode != 1 && mode != 2) {
		eu_fail(x, i, EU_UNSUPPORTED, "an untyped message 0x%x of SIMD4x2", m->desc);
		return -1;
	}
	l->count = mode == 1 ? 16 : 8;
	l->bytes = l->apart = l->slot = 4;
	for (n = 0; n < 4; n++)
		if (!(off >> n & 1))
			l->channel[l->elements++] = (uint8_t)n;
	return 0;
}

/* Scattered through 64-bit addresses: 1 to 8 bytes, dwords or qwords. */
static int scattered64(struct eu_exec *x, const struct eu_insn *i, const struct eu_message *m,
		       struct lanes *l)
{
	uint32_t size = m->desc >> 8 & 3, count = 1u << (m->desc >> 10 & 3), n;

	memset(l, 0, sizeof(*l));
	l->count = m->desc >> 12 & 1 ? 16 : 8;
	if (size == 3) {
		eu_fail(x, i, EU_ILLEGAL, "message 0x%x of a size that is not there", m->desc);
		return -1;
	}
	if (size == 0) {
		if (count > 4) {
			eu_fail(x, i, EU_ILLEGAL, "message 0x%x of 8 bytes", m->desc);
			return -1;
		}
		l->bytes = count;
		l->slot = 4;
		l->elements = 1;
		return 0;
	}
	l->elements = count;
	l->bytes = l->slot = l->apart = size == 1 ? 4 : 8;
	for (n = 0; n < count; n++)
		l->channel[n] = (uint8_t)n;
	return 0;
}

enum {
	AOP_AND = 1,
	AOP_OR,
	AOP_XOR,
	AOP_MOV,
	AOP_INC,
	AOP_DEC,
	AOP_ADD,
	AOP_SUB,
	AOP_REVSUB,
	AOP_IMAX,
	AOP_IMIN,
	AOP_UMAX,
	AOP_UMIN,
	AOP_CMPWR,
	AOP_PREDEC,
};

/* eu_atomic_sources() - operands of an operation on integers */
uint32_t eu_atomic_sources(uint32_t op)
{
	return op == AOP_CMPWR ? 2 : op == AOP_INC || op == AOP_DEC || op == AOP_PREDEC ? 0 : 1;
}

static uint64_t atomic_result(uint32_t op, uint64_t old, uint64_t a, uint64_t b, bool wide)
{
	int64_t signed_old = wide ? (int64_t)old : (int32_t)old;
	int64_t signed_a = wide ? (int64_t)a : (int32_t)a;

	switch (op) {
	case AOP_AND:
		return old & a;
	case AOP_OR:
		return old | a;
	case AOP_XOR:
		return old ^ a;
	case AOP_MOV:
		return a;
	case AOP_INC:
		return old + 1;
	case AOP_DEC:
	case AOP_PREDEC:
		return old - 1;
	case AOP_ADD:
		return old + a;
	case AOP_SUB:
		return old - a;
	case AOP_REVSUB:
		return a - old;
	case AOP_IMAX:
		return signed_old > signed_a ? old : a;
	case AOP_IMIN:
		return signed_old < signed_a ? old : a;
	case AOP_UMAX:
		return old > a ? old : a;
	case AOP_UMIN:
		return old < a ? old : a;
	default:
		return old == a ? b : old;
	}
}

enum { AOP_FMAX = 1, AOP_FMIN, AOP_FCMPWR };

static uint64_t float_atomic_result(uint32_t op, uint64_t old, uint64_t a, uint64_t b)
{
	uint32_t old32 = (uint32_t)old, a32 = (uint32_t)a;
	float p, q;

	memcpy(&p, &old32, 4);
	memcpy(&q, &a32, 4);
	switch (op) {
	case AOP_FMAX:
		return q > p || p != p ? a : old;
	case AOP_FMIN:
		return q < p || p != p ? a : old;
	default:
		return p == q ? b : old;
	}
}

/* eu_atomic() - an operation on what is aligned; returns what the kernel sees */
uint64_t eu_atomic(void *where, uint32_t op, uint64_t a, uint64_t b, bool wide, bool floats)
{
	if (wide) {
		uint64_t *p = where, old = __atomic_load_n(p, __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n(p, &old, atomic_result(op, old, a, b, true),
						    true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		return op == AOP_PREDEC ? old - 1 : old;
	} else {
		uint32_t *p = where, old = __atomic_load_n(p, __ATOMIC_RELAXED), new;

		do {
			new = (uint32_t)(floats ? float_atomic_result(op, old, a, b) :
						  atomic_result(op, old, a, b, false));
		} while (!__atomic_compare_exchange_n(p, &old, new, true, __ATOMIC_SEQ_CST,
						      __ATOMIC_RELAXED));
		return op == AOP_PREDEC && !floats ? old - 1 : old;
	}
}

static enum eu_step atomics(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m,
			    const struct eu_target *t, bool a64, bool floats)
{
	struct lanes l = { 0 };
	uint32_t op = m->desc >> 8 & 15, sources, lane, row;
	bool wide = a64 && m->desc >> 12 & 1, answers = m->desc >> 13 & 1;

	/* Bit 12: the width of data for 64-bit addresses, else the number of lanes. */
	l.count = a64 || m->desc >> 12 & 1 ? 8 : 16;
	l.bytes = l.slot = wide ? 8 : 4;
	l.elements = 1;
	if (floats ? !op || op > AOP_FCMPWR : !op)
		return eu_fail(x, i, EU_UNSUPPORTED, "atomic operation %u", op);
	if (take_addresses(x, i, m, &l, a64))
		return EU_FAILED;
	sources = floats ? (op == AOP_FCMPWR ? 2 : 1) : eu_atomic_sources(op);
	row = row_bytes(&l);
	if (m->registers * EU_REG_BYTES < sources * row)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x without all data", m->desc);
	if (answers && m->response * EU_REG_BYTES < row)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x with a short answer", m->desc);
	for (lane = 0; lane < l.count; lane++) {
		uint64_t a = 0, b = 0, old = 0,
			 address = l.address[lane] & ~(uint64_t)(l.bytes - 1);
		bool dropped;
		void *where;

		if (!(l.mask >> lane & 1))
			continue;
		if (sources > 0)
			memcpy(&a, l.data + lane * l.slot, l.slot);
		if (sources > 1)
			memcpy(&b, l.data + row + lane * l.slot, l.slot);
		where = target_pointer(x, t, address, l.bytes, &dropped);
		if (where && ((uintptr_t)where & (l.bytes - 1)))
			return eu_fail(x, i, EU_ILLEGAL, "an atomic operation that is not aligned");
		if (where)
			old = eu_atomic(where, op, a, b, wide, floats);
		else if (!dropped)
			return EU_FAILED;
		if (answers)
			memcpy(m->answer + lane * l.slot, &old, l.slot);
	}
	return EU_NEXT;
}

/* Scattered through 32-bit offsets: bytes, words and dwords; or dwords counted in dwords. */
static enum eu_step scattered32(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m,
				struct eu_target *t, bool write, bool dwords)
{
	struct lanes l = { 0 };
	uint32_t size = m->desc >> 10 & 3, lane, global = 0;

	l.count = m->desc >> 8 & 1 ? 16 : 8;
	l.elements = 1;
	l.slot = 4;
	l.bytes = dwords ? 4 : 1u << size;
	if (!dwords && size == 3)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x of a size that is not there",
			       m->desc);
	if (dwords && (m->desc >> 8 & 3) < 2)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x of a size that is not there",
			       m->desc);
	if (take_addresses(x, i, m, &l, false))
		return EU_FAILED;
	if (m->header) {
		uint32_t index = m->desc & 0xff;

		global = eu_data32(m->header, 2);
		if (index == EU_BTI_STATELESS || index == EU_BTI_STATELESS_2)
			t->base += eu_data32(m->header, 5) & ~0x3ffu;
	}
	for (lane = 0; lane < l.count; lane++)
		l.address[lane] = (uint32_t)(l.address[lane] + global) * (dwords ? 4ull : 1);
	return write ? store_lanes(x, i, m, t, &l) : load_lanes(x, i, m, t, &l);
}

static enum eu_step data_cache_1(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	static const struct eu_target everything = { .bytes = UINT64_MAX };
	uint32_t type = m->desc >> 14 & 31;
	struct eu_target t;
	struct lanes l;

	switch (type) {
	case DC1_UNTYPED_READ:
	case DC1_UNTYPED_WRITE:
		if (eu_target_of(x, i, m, &t) || untyped(x, i, m, &l) ||
		    take_addresses(x, i, m, &l, false))
			return EU_FAILED;
		if (m->header)
			l.mask &= eu_data32(m->header, 7);
		return type == DC1_UNTYPED_READ ? load_lanes(x, i, m, &t, &l) :
						  store_lanes(x, i, m, &t, &l);
	case DC1_UNTYPED_ATOMIC:
	case DC1_UNTYPED_FLOAT_ATOMIC:
		if (eu_target_of(x, i, m, &t))
			return EU_FAILED;
		if (m->header)
			m->mask &= eu_data32(m->header, 7);
		return atomics(x, i, m, &t, false, type == DC1_UNTYPED_FLOAT_ATOMIC);
	case DC1_A64_SCATTERED_READ:
	case DC1_A64_SCATTERED_WRITE:
		if (scattered64(x, i, m, &l) || take_addresses(x, i, m, &l, true))
			return EU_FAILED;
		return type == DC1_A64_SCATTERED_READ ? load_lanes(x, i, m, &everything, &l) :
							store_lanes(x, i, m, &everything, &l);
	case DC1_A64_UNTYPED_READ:
	case DC1_A64_UNTYPED_WRITE:
		if (untyped(x, i, m, &l) || take_addresses(x, i, m, &l, true))
			return EU_FAILED;
		return type == DC1_A64_UNTYPED_READ ? load_lanes(x, i, m, &everything, &l) :
						      store_lanes(x, i, m, &everything, &l);
	case DC1_A64_ATOMIC:
	case DC1_A64_FLOAT_ATOMIC:
		return atomics(x, i, m, &everything, true, type == DC1_A64_FLOAT_ATOMIC);
	case DC1_TYPED_READ:
	case DC1_TYPED_WRITE:
	case DC1_TYPED_ATOMIC:
		return eu_typed(x, i, m);
	default:
		return eu_blocks(x, i, m);
	}
}

static enum eu_step data_cache_0(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	uint32_t type = m->desc >> 14 & 31;
	struct eu_target t;

	switch (type) {
	case DC0_DWORD_WRITE:
	case DC0_BYTE_READ:
	case DC0_BYTE_WRITE:
		if (m->sfid == SFID_CONSTANT_CACHE)
			break;
		/* fallthrough */
	case DC0_DWORD_READ:
		if (eu_target_of(x, i, m, &t))
			return EU_FAILED;
		return scattered32(x, i, m, &t, type == DC0_DWORD_WRITE || type == DC0_BYTE_WRITE,
				   type == DC0_DWORD_READ || type == DC0_DWORD_WRITE);
	case DC0_FENCE:
		/* Memory is coherent here. The answer only says that it happened. */
		memset(m->answer, 0, m->response * EU_REG_BYTES);
		return EU_NEXT;
	default:
		break;
	}
	return eu_blocks(x, i, m);
}

/** eu_dataport() - a message to one of the data port's shared functions */
enum eu_step eu_dataport(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	switch (m->sfid) {
	case SFID_DATA_CACHE_1:
		return data_cache_1(x, i, m);
	case SFID_DATA_CACHE_0:
	case SFID_CONSTANT_CACHE:
		return data_cache_0(x, i, m);
	default:
		return eu_blocks(x, i, m);
	}
}
