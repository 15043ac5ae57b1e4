// SPDX-License-Identifier: GPL-2.0-only
/*
 * The general way to execute an instruction that computes: sources become lanes of one of three
 * kinds (64-bit integer, float, double), the operation is done, the result is converted, saturated
 * and stored. It knows each type, region and mode; fast.c knows what is frequent.
 */
#include "alu.h"

#include <math.h>
#include <string.h>

#pragma STDC FENV_ACCESS ON

/* The lanes of an operand or a result. */
union eu_values {
	int64_t i[EU_LANES];
	float f[EU_LANES];
	double d[EU_LANES];
};

static uint32_t rounding(const struct eu_exec *x)
{
	return eu_reg32(x->t, EU_REG_CR0) >> EU_CR0_ROUNDING_SHIFT & 3;
}

static bool keeps_denormals(const struct eu_exec *x, uint32_t bit)
{
	return eu_reg32(x->t, EU_REG_CR0) & bit;
}

/* Registers whose value is made when they are read. */
static void refresh(struct eu_exec *x, const struct eu_insn *i, const struct eu_operand *o)
{
	unsigned int at = o->at[0] / 32 * 32;

	if (at == EU_REG_IP) {
		eu_set_reg32(x->t, EU_REG_IP, i->ip);
	} else if (at == EU_REG_CE0) {
		eu_set_reg32(x->t, EU_REG_CE0, x->t->mask);
	} else if (at == EU_REG_TM0) {
		/* Time is instructions, so that runs are repeatable. */
		eu_set_reg32(x->t, EU_REG_TM0, (uint32_t)x->now);
		eu_set_reg32(x->t, EU_REG_TM0 + 4, (uint32_t)(x->now >> 32));
	}
}

/* Bytes of each lane of a source, whatever they mean. Returns -1 after eu_fail(). */
int eu_gather(struct eu_exec *x, const struct eu_insn *i, unsigned int n, uint64_t *to)
{
	const struct eu_operand *o = &i->src[n];
	const uint8_t *reg = x->t->reg;
	unsigned int lane;

	if (o->file == EU_FILE_IMM) {
		memcpy(to, o->values, i->lanes * sizeof(*to));
		return 0;
	}
	if (o->read_special)
		refresh(x, i, o);
	for (lane = 0; lane < i->lanes; lane++) {
		int at = o->at[lane];

		if (o->indirect) {
			unsigned int address = o->address + (o->rows ? lane / o->width : 0);
			uint16_t a;

			memcpy(&a, reg + EU_REG_A0 + (address & 15) * 2, 2);
			at += (int)a + o->offset;
			if (at < 0 || at + o->bytes > EU_GRF_BYTES) {
				to[lane] = 0;
				if (!(eu_lanes(x->t, i) >> lane & 1))
					continue;
				eu_fail(x, i, EU_ILLEGAL, "an indirect source past r127");
				return -1;
			}
		}
		switch (o->bytes) {
		case 1:
			to[lane] = reg[at];
			break;
		case 2: {
			uint16_t v;

			memcpy(&v, reg + at, 2);
			to[lane] = v;
			break;
		}
		case 4: {
			uint32_t v;

			memcpy(&v, reg + at, 4);
			to[lane] = v;
			break;
		}
		default:
			memcpy(&to[lane], reg + at, 8);
		}
	}
	return 0;
}

static int64_t widen(uint64_t v, unsigned int type)
{
	switch (type) {
	case EU_UD:
		return (uint32_t)v;
	case EU_D:
		return (int32_t)v;
	case EU_UW:
		return (uint16_t)v;
	case EU_W:
		return (int16_t)v;
	case EU_UB:
		return (uint8_t)v;
	case EU_B:
		return (int8_t)v;
	default:
		return (int64_t)v;
	}
}

static bool is_logic(unsigned int op)
{
	return op == EU_NOT || op == EU_AND || op == EU_OR || op == EU_XOR;
}

static bool is_float(unsigned int type)
{
	return type == EU_F || type == EU_HF || type == EU_DF;
}

int eu_load_int(struct eu_exec *x, const struct eu_insn *i, unsigned int n, int64_t *to)
{
	const struct eu_operand *o = &i->src[n];
	unsigned int lane;

	if (eu_gather(x, i, n, (uint64_t *)to))
		return -1;
	for (lane = 0; lane < i->lanes; lane++) {
		int64_t v = widen((uint64_t)to[lane], o->type);

		if (o->accumulator && o->bytes == 4 && o->at[lane] < EU_REG_ACC0 + 64)
			v = (int64_t)((uint64_t)(uint32_t)
					      x->t->acc_high[(o->at[lane] - EU_REG_ACC0) / 4]
				      << 32) |
			    (uint32_t)v;
		if (o->absolute && !is_logic(i->op))
			v = v < 0 && o->type != EU_UQ ? (int64_t) - (uint64_t)v : v;
		if (o->negate)
			v = is_logic(i->op) ? ~v : (int64_t) - (uint64_t)v;
		to[lane] = v;
	}
	return 0;
}

static float flush_float(float f)
{
	return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f;
}

static double flush_double(double d)
{
	return fabs(d) < 0x1p-1022 ? copysign(0, d) : d;
}

int eu_load_float(struct eu_exec *x, const struct eu_insn *i, unsigned int n, float *to)
{
	const struct eu_operand *o = &i->src[n];
	uint64_t raw[EU_LANES];
	bool keep = keeps_denormals(x, o->type == EU_HF ? EU_CR0_HF_DENORMALS : EU_CR0_F_DENORMALS);
	unsigned int lane;

	if (eu_gather(x, i, n, raw))
		return -1;
	for (lane = 0; lane < i->lanes; lane++) {
		uint32_t bits;
		float f;

		if (o->type == EU_HF) {
			uint16_t h = (uint16_t)raw[lane];

			if (!keep && !(h & 0x7c00))
				h &= 0x8000;
			f = eu_half_to_float(h);
			memcpy(&bits, &f, 4);
		} else {
			bits = (uint32_t)raw[lane];
			if (!keep && !(bits & 0x7f800000))
				bits &= 0x80000000;
		}
		if (o->absolute)
			bits &= 0x7fffffff;
		if (o->negate)
			bits ^= 0x80000000;
		memcpy(&to[lane], &bits, 4);
	}
	return 0;
}

int eu_load_double(struct eu_exec *x, const struct eu_insn *i, unsigned int n, double *to)
{
	const struct eu_operand *o = &i->src[n];
	uint64_t raw[EU_LANES];
	unsigned int lane;

	if (o->type != EU_DF) {
		float f[EU_LANES];

		if (eu_load_float(x, i, n, f))
			return -1;
		for (lane = 0; lane < i->lanes; lane++)
			to[lane] = (double)f[lane];
		return 0;
	}
	if (eu_gather(x, i, n, raw))
		return -1;
	for (lane = 0; lane < i->lanes; lane++) {
		uint64_t bits = raw[lane];

		if (!keeps_denormals(x, EU_CR0_DF_DENORMALS) && !(bits & 0x7ff0000000000000ull))
			bits &= 1ull << 63;
		if (o->absolute)
			bits &= ~(1ull << 63);
		if (o->negate)
			bits ^= 1ull << 63;
		memcpy(&to[lane], &bits, 8);
	}
	return 0;
}

/* Lanes that align16's write mask leaves. */
static uint32_t written(const struct eu_insn *i, uint32_t lanes)
{
	if (i->dst.write_mask != 15)
		lanes &= i->dst.write_mask * 0x11111111u;
	return lanes;
}

/* memcpy() with a length that is not constant takes longer than most instructions. */
static void put(uint8_t *to, const uint64_t *from, unsigned int bytes)
{
	switch (bytes) {
	case 1:
		memcpy(to, from, 1);
		break;
	case 2:
		memcpy(to, from, 2);
		break;
	case 4:
		memcpy(to, from, 4);
		break;
	default:
		memcpy(to, from, 8);
	}
}

/* Puts each lane's bytes in their place, and says where that is. */
int eu_scatter(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes, const uint64_t *from)
{
	const struct eu_operand *o = &i->dst;
	int base = 0;
	uint8_t *reg = x->t->reg;
	unsigned int lane;

	if (o->null)
		return 0;
	if (o->indirect) {
		uint16_t a;

		memcpy(&a, reg + EU_REG_A0 + (o->address & 15) * 2, 2);
		base = (int)a + o->offset;
	}
	lanes = written(i, lanes);
	for (lane = 0; lane < i->lanes && lanes >> lane; lane++) {
		int at = base + o->at[lane];

		if (!(lanes >> lane & 1))
			continue;
		if (o->indirect && (at < 0 || at + o->bytes > EU_GRF_BYTES)) {
			eu_fail(x, i, EU_ILLEGAL, "an indirect destination past r127");
			return -1;
		}
		put(reg + at, &from[lane], o->bytes);
	}
	if (o->file == EU_FILE_ARF && o->at[0] / 32 == EU_REG_CR0 / 32)
		eu_mode_set(x);
	return 0;
}

static uint64_t convert_int(const struct eu_exec *x, const struct eu_insn *i, int64_t v,
			    bool is_unsigned)
{
	static const int64_t low[EU_TYPES] = {
		[EU_D] = INT32_MIN, [EU_W] = INT16_MIN, [EU_B] = INT8_MIN
	};
	static const int64_t high[EU_TYPES] = {
		[EU_UD] = UINT32_MAX, [EU_D] = INT32_MAX,  [EU_UW] = UINT16_MAX,
		[EU_W] = INT16_MAX,   [EU_UB] = UINT8_MAX, [EU_B] = INT8_MAX
	};
	unsigned int type = i->dst.type;

	switch (type) {
	case EU_F: {
		float f = is_unsigned ? (float)(uint64_t)v : (float)v;
		uint32_t bits;

		if (i->saturate)
			f = f < 0 ? 0 : f > 1 ? 1 : f;
		memcpy(&bits, &f, 4);
		return bits;
	}
	case EU_HF: {
		double d = is_unsigned ? (double)(uint64_t)v : (double)v;

		if (i->saturate)
			d = d < 0 ? 0 : d > 1 ? 1 : d;
		return eu_double_to_half(d, rounding(x));
	}
	case EU_DF: {
		double d = is_unsigned ? (double)(uint64_t)v : (double)v;
		uint64_t bits;

		if (i->saturate)
			d = d < 0 ? 0 : d > 1 ? 1 : d;
		memcpy(&bits, &d, 8);
		return bits;
	}
	case EU_UQ:
		return i->saturate && !is_unsigned && v < 0 ? 0 : (uint64_t)v;
	case EU_Q:
		return i->saturate && is_unsigned && v < 0 ? INT64_MAX : (uint64_t)v;
	default:
		if (!i->saturate)
			return (uint64_t)v;
		if (is_unsigned && v < 0)
			return (uint64_t)high[type];
		return (uint64_t)(v < low[type] ? low[type] : v > high[type] ? high[type] : v);
	}
}

/* A double to an integer: towards zero, to the nearest that there is; no number is 0. */
static uint64_t double_to_int(double d, unsigned int type)
{
	static const double low[EU_TYPES] = {
		[EU_D] = -0x1p31, [EU_W] = -0x1p15, [EU_B] = -0x1p7, [EU_Q] = -0x1p63
	};
	static const double high[EU_TYPES] = {
		[EU_UD] = 0x1p32, [EU_D] = 0x1p31, [EU_UW] = 0x1p16, [EU_W] = 0x1p15,
		[EU_UB] = 0x1p8,  [EU_B] = 0x1p7,  [EU_UQ] = 0x1p64, [EU_Q] = 0x1p63
	};

	if (isnan(d))
		return 0;
	if (d >= high[type]) {
		if (type == EU_UQ)
			return UINT64_MAX;
		return type == EU_Q ? INT64_MAX : (uint64_t)high[type] - 1;
	}
	if (d <= low[type])
		return type == EU_Q ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)low[type];
	return d >= 0x1p63 ? (uint64_t)d : (uint64_t)(int64_t)d;
}

static uint64_t convert_double(const struct eu_exec *x, const struct eu_insn *i, double d)
{
	uint64_t bits;
	float f;

	if (i->saturate && is_float(i->dst.type))
		d = d > 0 ? (d > 1 ? 1 : d) : 0;
	switch (i->dst.type) {
	case EU_DF:
		if (!keeps_denormals(x, EU_CR0_DF_DENORMALS))
			d = flush_double(d);
		memcpy(&bits, &d, 8);
		return bits;
	case EU_F:
		f = (float)d;
		if (!keeps_denormals(x, EU_CR0_F_DENORMALS))
			f = flush_float(f);
		bits = 0;
		memcpy(&bits, &f, 4);
		return bits;
	case EU_HF:
		bits = eu_double_to_half(d, rounding(x));
		if (!keeps_denormals(x, EU_CR0_HF_DENORMALS) && !(bits & 0x7c00))
			bits &= 0x8000;
		return bits;
	default:
		return double_to_int(d, i->dst.type);
	}
}

static bool condition_holds(unsigned int condition, int order, bool unordered)
{
	if (unordered)
		return condition == EU_COND_NZ || condition == EU_COND_U;
	switch (condition) {
	case EU_COND_Z:
		return order == 0;
	case EU_COND_NZ:
		return order != 0;
	case EU_COND_G:
		return order > 0;
	case EU_COND_GE:
		return order >= 0;
	case EU_COND_L:
		return order < 0;
	case EU_COND_LE:
		return order <= 0;
	default:
		return false;
	}
}

/* The bits of a flag register that belong to an instruction's lanes. */
static int order_of(uint64_t bits, unsigned int type, bool *unordered)
{
	double d;
	float f;
	int64_t v;

	switch (type) {
	case EU_F:
		memcpy(&f, &bits, 4);
		d = (double)f;
		break;
	case EU_HF:
		d = (double)eu_half_to_float((uint16_t)bits);
		break;
	case EU_DF:
		memcpy(&d, &bits, 8);
		break;
	case EU_UQ:
		return bits != 0;
	default:
		v = widen(bits, type);
		return v < 0 ? -1 : v > 0;
	}
	*unordered = isnan(d);
	return d < 0 ? -1 : d > 0;
}

/*
 * Keeps the upper half of what was written at byte @at of the accumulators, which are wider than
 * their dwords: mach goes on with a product that mul left there.
 */
static void keep_upper(struct eu_exec *x, const struct eu_insn *i, unsigned int at, int64_t value)
{
	unsigned int dword, end = (at + i->dst.bytes + 3) / 4;

	for (dword = at / 4; dword < end && dword < 16; dword++) {
		value >>= 32;
		x->t->acc_high[dword] = (int32_t)value;
	}
}

/* Stores converted results, also in the accumulator if the instruction says so. */
static int store(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes, const uint64_t *result,
		 const int64_t *exact)
{
	unsigned int lane, at;

	if (eu_scatter(x, i, lanes, result))
		return -1;
	if (!i->write_acc && !i->dst.accumulator)
		return 0;
	lanes = written(i, lanes);
	for (lane = 0; lane < i->lanes; lane++) {
		int64_t value = exact && i->dst.bytes == 4 && !i->saturate ?
					exact[lane] :
					widen(result[lane], i->dst.type);

		if (!(lanes >> lane & 1))
			continue;
		if (i->dst.accumulator)
			keep_upper(x, i, i->dst.at[lane] - EU_REG_ACC0, value);
		at = lane * i->dst.bytes;
		if (i->write_acc && at + i->dst.bytes <= 64) {
			put(x->t->reg + EU_REG_ACC0 + at, &result[lane], i->dst.bytes);
			keep_upper(x, i, at, value);
		}
	}
	return 0;
}

/*
 * Stores results that are converted already, and sets the flags. @exact: integers before they were
 * converted, or NULL.
 */
static enum eu_step finish(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			   const uint64_t *result, const int64_t *exact)
{
	uint32_t bits = 0;
	unsigned int lane;

	if (i->condition && i->op != EU_SEL && i->op != EU_CSEL) {
		for (lane = 0; lane < i->lanes; lane++) {
			bool unordered = false, holds;
			int order = order_of(result[lane], i->dst.type, &unordered);

			if (exact && i->condition == EU_COND_O)
				holds = widen(result[lane], i->dst.type) != exact[lane];
			else
				holds = condition_holds(i->condition, order, unordered);
			bits |= (uint32_t)holds << lane;
		}
		eu_set_flags(x->t, i, lanes, bits);
	}
	return store(x, i, lanes, result, exact) ? EU_FAILED : EU_NEXT;
}

static enum eu_step finish_int(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			       const int64_t *exact)
{
	uint64_t result[EU_LANES];
	unsigned int lane;
	bool is_unsigned = i->exec_type == EU_UQ;

	for (lane = 0; lane < i->lanes; lane++)
		result[lane] = convert_int(x, i, exact[lane], is_unsigned);
	return finish(x, i, lanes, result, is_float(i->dst.type) ? NULL : exact);
}

static enum eu_step finish_float(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
				 const float *exact)
{
	uint64_t result[EU_LANES];
	unsigned int lane;

	for (lane = 0; lane < i->lanes; lane++) {
		float f = exact[lane];

		if (i->dst.type != EU_F) {
			result[lane] = convert_double(x, i, (double)f);
			continue;
		}
		/* Without a detour through double, which would quieten a signalling NaN. */
		if (i->saturate)
			f = f > 0 ? (f > 1 ? 1 : f) : 0;
		if (!keeps_denormals(x, EU_CR0_F_DENORMALS))
			f = flush_float(f);
		result[lane] = 0;
		memcpy(&result[lane], &f, sizeof(f));
	}
	return finish(x, i, lanes, result, NULL);
}

static enum eu_step finish_double(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
				  const double *exact)
{
	uint64_t result[EU_LANES];
	unsigned int lane;

	for (lane = 0; lane < i->lanes; lane++)
		result[lane] = convert_double(x, i, exact[lane]);
	return finish(x, i, lanes, result, NULL);
}

enum eu_step eu_finish_float(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			     const float *exact)
{
	return finish_float(x, i, lanes, exact);
}

enum eu_step eu_finish_int(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			   const int64_t *exact)
{
	return finish_int(x, i, lanes, exact);
}

enum eu_step eu_finish_double(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			      const double *exact)
{
	return finish_double(x, i, lanes, exact);
}

enum eu_kind eu_kind_of(const struct eu_insn *i)
{
	unsigned int n, floats = 0, integers = 0, doubles = 0;

	for (n = 0; n < i->sources && !(n && i->op == EU_SMOV); n++) {
		doubles += i->src[n].type == EU_DF;
		floats += i->src[n].type == EU_F || i->src[n].type == EU_HF;
		integers += !is_float(i->src[n].type);
	}
	if (integers && (floats || doubles))
		return EU_KIND_MIXED;
	return doubles ? EU_KIND_DOUBLE : floats ? EU_KIND_FLOAT : EU_KIND_INT;
}

static enum eu_step move_raw(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	uint64_t raw[EU_LANES];

	if (eu_gather(x, i, 0, raw))
		return EU_FAILED;
	return finish(x, i, lanes, raw, NULL);
}

/*
 * mov without a change of type, a modifier or saturation copies bits: a signalling NaN stays one,
 * and denormals are kept whatever cr0 says.
 */
static bool raw_move(const struct eu_insn *i)
{
	const struct eu_operand *o = &i->src[0];

	return i->op == EU_MOV && o->type == i->dst.type && is_float(o->type) && !o->negate &&
	       !o->absolute && !i->saturate;
}

static int load_as(enum eu_kind kind, struct eu_exec *x, const struct eu_insn *i, unsigned int n,
		   union eu_values *to)
{
	switch (kind) {
	case EU_KIND_INT:
		return eu_load_int(x, i, n, to->i);
	case EU_KIND_FLOAT:
		return eu_load_float(x, i, n, to->f);
	case EU_KIND_DOUBLE:
		return eu_load_double(x, i, n, to->d);
	default:
		eu_fail(x, i, EU_UNSUPPORTED, "integers and floats in one operation");
		return -1;
	}
}

static enum eu_step finish_as(enum eu_kind kind, struct eu_exec *x, const struct eu_insn *i,
			      uint32_t lanes, const union eu_values *from)
{
	switch (kind) {
	case EU_KIND_INT:
		return finish_int(x, i, lanes, from->i);
	case EU_KIND_FLOAT:
		return finish_float(x, i, lanes, from->f);
	default:
		return finish_double(x, i, lanes, from->d);
	}
}

static enum eu_step compare(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			    enum eu_kind kind)
{
	union eu_values a, b;
	uint64_t result[EU_LANES];
	uint32_t bits = 0;
	unsigned int lane;

	if (load_as(kind, x, i, 0, &a) || load_as(kind, x, i, 1, &b))
		return EU_FAILED;
	for (lane = 0; lane < i->lanes; lane++) {
		bool unordered = false, less, equal, holds;

		if (kind == EU_KIND_INT && i->exec_type == EU_UQ) {
			less = (uint64_t)a.i[lane] < (uint64_t)b.i[lane];
			equal = a.i[lane] == b.i[lane];
		} else if (kind == EU_KIND_INT) {
			less = a.i[lane] < b.i[lane];
			equal = a.i[lane] == b.i[lane];
		} else if (kind == EU_KIND_FLOAT) {
			less = a.f[lane] < b.f[lane];
			equal = a.f[lane] == b.f[lane];
			unordered = isunordered(a.f[lane], b.f[lane]);
		} else {
			less = a.d[lane] < b.d[lane];
			equal = a.d[lane] == b.d[lane];
			unordered = isunordered(a.d[lane], b.d[lane]);
		}
		holds = condition_holds(i->condition, less ? -1 : !equal, unordered);
		bits |= (uint32_t)holds << lane;
		result[lane] = holds ? ~0ull : 0;
	}
	if (store(x, i, lanes, result, NULL))
		return EU_FAILED;
	eu_set_flags(x->t, i, lanes, bits);
	return EU_NEXT;
}

/* sel with a condition: the smaller or larger; a number wins over no number. */
static bool first_is_selected(const struct eu_insn *i, enum eu_kind kind, const union eu_values *a,
			      const union eu_values *b, unsigned int lane)
{
	if (kind == EU_KIND_INT) {
		int64_t p = a->i[lane], q = b->i[lane];
		int order = i->exec_type == EU_UQ ? ((uint64_t)p < (uint64_t)q ? -1 : p != q) :
						    (p < q ? -1 : p != q);

		return condition_holds(i->condition, order, false);
	} else {
		double p = kind == EU_KIND_FLOAT ? (double)a->f[lane] : a->d[lane];
		double q = kind == EU_KIND_FLOAT ? (double)b->f[lane] : b->d[lane];

		if (i->condition >= EU_COND_G && i->condition <= EU_COND_LE) {
			if (isnan(p))
				return false;
			if (isnan(q))
				return true;
		}
		return condition_holds(i->condition, p < q ? -1 : p != q, isunordered(p, q));
	}
}

static enum eu_step select_lanes(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
				 enum eu_kind kind)
{
	uint32_t choice = i->predicate ? eu_predicate(x->t, i) : 0;
	union eu_values a, b;
	unsigned int lane;

	if (load_as(kind, x, i, 0, &a) || load_as(kind, x, i, 1, &b))
		return EU_FAILED;
	for (lane = 0; lane < i->lanes; lane++) {
		bool first = i->condition ? first_is_selected(i, kind, &a, &b, lane) :
					    choice >> lane & 1;

		if (first)
			continue;
		if (kind == EU_KIND_FLOAT)
			a.f[lane] = b.f[lane];
		else
			a.i[lane] = b.i[lane];
	}
	return finish_as(kind, x, i, lanes, &a);
}

static enum eu_step conditional_select(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	float a[EU_LANES], b[EU_LANES], c[EU_LANES];
	unsigned int lane;

	if (eu_kind_of(i) != EU_KIND_FLOAT)
		return eu_fail(x, i, EU_UNSUPPORTED, "not for other than floats and halves");
	if (eu_load_float(x, i, 0, a) || eu_load_float(x, i, 1, b) || eu_load_float(x, i, 2, c))
		return EU_FAILED;
	for (lane = 0; lane < i->lanes; lane++)
		if (!condition_holds(i->condition, c[lane] < 0 ? -1 : c[lane] > 0, isnan(c[lane])))
			a[lane] = b[lane];
	return finish_float(x, i, lanes, a);
}

/* The predicate of each lane, before it is inverted. */
static uint32_t predicate_of(const struct eu_thread *t, const struct eu_insn *i)
{
	uint32_t bits = eu_flag_bits(t, i), group, all, result = 0;
	unsigned int lane, size;

	if (i->predicate == 1)
		return bits;
	if (i->align16) {
		/* One component for all four, or any or all of four. */
		for (lane = 0; lane < 32; lane += 4) {
			group = bits >> lane & 15;
			if (i->predicate <= 5)
				all = group >> (i->predicate - 2) & 1;
			else
				all = i->predicate == 6 ? group != 0 : group == 15;
			result |= (all ? 15u : 0) << lane;
		}
		return result;
	}
	if (i->predicate == 2 || i->predicate == 3) {
		/* Vertical: both flags of the register. */
		uint32_t other = eu_reg32(t, EU_REG_F0 + (i->flag >> 5 ? 0 : 4)) >> (i->flag & 31);

		return i->predicate == 2 ? bits | other : bits & other;
	}
	size = 2u << (i->predicate - 4) / 2;
	for (lane = 0; lane < 32; lane += size) {
		all = size == 32 ? ~0u : (1u << size) - 1;
		group = bits >> lane & all;
		if (i->predicate & 1 ? group == all : group != 0)
			result |= all << lane;
	}
	return result;
}

/*
 * The predicate of each lane, before the mask of lanes. PredInv acts after PredCtrl: what any or
 * all of some lanes have is inverted as a whole.
 */
uint32_t eu_predicate_any(const struct eu_thread *t, const struct eu_insn *i)
{
	uint32_t bits;

	if (i->predicate > 13) /* reserved */
		return 0;
	bits = predicate_of(t, i);
	return i->inverted ? ~bits : bits;
}

/**
 * eu_alu() - execute an instruction that computes
 *
 * Return: EU_NEXT or EU_FAILED.
 */
enum eu_step eu_alu(struct eu_exec *x, const struct eu_insn *i)
{
	uint32_t lanes = eu_lanes(x->t, i);
	enum eu_kind kind;

	if (!lanes)
		return EU_NEXT;
	x->lanes += (unsigned int)__builtin_popcount(lanes);
	kind = eu_kind_of(i);
	if (i->op == EU_SMOV) {
		/* Scattered: a mask of lanes is the second source. */
		uint64_t raw[EU_LANES];

		if (i->src[0].type != i->dst.type && kind != EU_KIND_INT)
			return eu_fail(x, i, EU_UNSUPPORTED, "a scattered move that converts");
		if (eu_gather(x, i, 1, raw))
			return EU_FAILED;
		lanes &= (uint32_t)raw[0];
		if (kind != EU_KIND_INT)
			return move_raw(x, i, lanes);
	}
	if (raw_move(i))
		return move_raw(x, i, lanes);
	switch (i->op) {
	case EU_MOV:
	case EU_SMOV: {
		union eu_values a;

		if (load_as(kind, x, i, 0, &a))
			return EU_FAILED;
		return finish_as(kind, x, i, lanes, &a);
	}
	case EU_CMP:
		return compare(x, i, lanes, kind);
	case EU_SEL:
		return select_lanes(x, i, lanes, kind);
	case EU_CSEL:
		return conditional_select(x, i, lanes);
	default:
		break;
	}
	switch (kind) {
	case EU_KIND_INT:
		return eu_alu_int(x, i, lanes);
	case EU_KIND_FLOAT:
		return eu_alu_float(x, i, lanes);
	case EU_KIND_DOUBLE:
		return eu_alu_double(x, i, lanes);
	default:
		return eu_fail(x, i, EU_UNSUPPORTED, "integers and floats in one operation");
	}
}
