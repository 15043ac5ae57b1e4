// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers for what is frequent: 1, 8 or 16 lanes of dwords or floats that are next to each other.
 * The compiler makes vector instructions of them; no intrinsics but the one that gathers signs.
 * Built twice where the processor may have wider vectors and a fused multiply-add: see EU_FAST.
 *
 * A handler reads all of its sources before it writes, so overlaps need no care.
 */
#include "machine.h"

#include <math.h>
#include <string.h>

#ifndef EU_FAST
#define EU_FAST eu_fast_handler_any
#endif

/* A dword of a source that all lanes share. */
static inline uint32_t eu_scalar(const struct eu_thread *t, const struct eu_insn *i, unsigned int n)
{
	const struct eu_near *o = &i->near[n];
	uint32_t v;
	uint16_t half;

	if (o->kind == EU_KIND_IMMEDIATE)
		return i->scalar[n];
	if (o->kind == EU_KIND_SCALAR32) {
		memcpy(&v, t->reg + o->at, sizeof(v));
		return v;
	}
	memcpy(&half, t->reg + o->at, sizeof(half));
	return o->is_signed ? (uint32_t)(int16_t)half : half;
}

/* Lanes of a vector of the processor. */
#ifdef __AVX2__
#define FAST_WIDTH 8
#else
#define FAST_WIDTH 4
#endif

#define LANES 1
#include "fast_lanes.h"
#undef LANES
#define LANES 8
#include "fast_lanes.h"
#undef LANES
#define LANES 16
#include "fast_lanes.h"
#undef LANES

static bool is_int32(unsigned int type)
{
	return type == EU_D || type == EU_UD;
}

static bool integers(const struct eu_insn *i)
{
	unsigned int n;

	for (n = 0; n < i->sources; n++)
		if (!is_int32(i->src[n].type) && i->src[n].type != EU_W && i->src[n].type != EU_UW)
			return false;
	return true;
}

static bool floats(const struct eu_insn *i)
{
	unsigned int n;

	for (n = 0; n < i->sources; n++)
		if (i->src[n].type != EU_F)
			return false;
	return true;
}

static bool modifiers(const struct eu_insn *i)
{
	unsigned int n;

	for (n = 0; n < i->sources; n++)
		if (i->src[n].negate || i->src[n].absolute)
			return true;
	return false;
}

/* Whether an integer comparison is one of 32 bits, and with signs or without. */
static bool comparable(const struct eu_insn *i, bool *is_signed)
{
	unsigned int n;
	bool with = true, without = true;

	for (n = 0; n < i->sources; n++) {
		const struct eu_operand *o = &i->src[n];
		bool small = o->file == EU_FILE_IMM && !(o->scalar >> 31);

		with &= o->type != EU_UD || small;
		without &= o->type == EU_UD || o->type == EU_UW || small;
	}
	*is_signed = with;
	return with || without;
}

#define PICK(op) (i->lanes == 16 ? op##_16 : i->lanes == 8 ? op##_8 : op##_1)

static eu_handler integer_handler(const struct eu_insn *i)
{
	bool is_signed;

	if (i->dst.type != EU_D && i->dst.type != EU_UD)
		return NULL;
	switch (i->op) {
	case EU_MOV:
		return PICK(fast_mov);
	case EU_NOT:
		return PICK(fast_not);
	case EU_AND:
		return PICK(fast_and);
	case EU_OR:
		return PICK(fast_or);
	case EU_XOR:
		return PICK(fast_xor);
	case EU_ADD:
		return PICK(fast_add);
	case EU_MUL:
		return PICK(fast_mul);
	case EU_MAD:
		return PICK(fast_imad);
	case EU_SHL:
		return i->src[0].bytes == 4 && !modifiers(i) ? PICK(fast_shl) : NULL;
	case EU_SHR:
		return i->src[0].bytes == 4 && !modifiers(i) ? PICK(fast_shr) : NULL;
	case EU_ASR:
		if (i->src[0].bytes != 4 || modifiers(i))
			return NULL;
		return i->src[0].type == EU_D ? PICK(fast_asr) : PICK(fast_shr);
	case EU_SEL:
		if (!i->condition)
			return PICK(fast_sel);
		if (modifiers(i) || !comparable(i, &is_signed))
			return NULL;
		if (i->condition == EU_COND_L)
			return is_signed ? PICK(fast_imin) : PICK(fast_umin);
		if (i->condition == EU_COND_GE)
			return is_signed ? PICK(fast_imax) : PICK(fast_umax);
		return NULL;
	case EU_CMP:
		if (modifiers(i) || !comparable(i, &is_signed))
			return NULL;
		return is_signed ? PICK(fast_icmp) : PICK(fast_ucmp);
	default:
		return NULL;
	}
}

static eu_handler float_handler(const struct eu_insn *i)
{
	if (i->dst.type != EU_F) {
		if (i->op == EU_MOV && i->dst.type == EU_D && !i->condition && !i->saturate)
			return PICK(fast_to_int);
		return NULL;
	}
	switch (i->op) {
	case EU_MOV:
		if (i->condition)
			return NULL;
		return modifiers(i) || i->saturate ? PICK(fast_number) : PICK(fast_fmov);
	case EU_ADD:
		return PICK(fast_fadd);
	case EU_MUL:
		return PICK(fast_fmul);
	case EU_MAD:
		return PICK(fast_fmad);
	case EU_RNDD:
		return PICK(fast_rndd);
	case EU_RNDZ:
		return PICK(fast_rndz);
	case EU_CMP:
		return PICK(fast_fcmp);
	case EU_SEL:
		if (i->saturate)
			return NULL;
		if (!i->condition)
			return PICK(fast_fsel);
		if (i->condition == EU_COND_L)
			return PICK(fast_fmin);
		return i->condition == EU_COND_GE ? PICK(fast_fmax) : NULL;
	default:
		return NULL;
	}
}

/**
 * EU_FAST() - the handler of an instruction for threads with the usual mode
 *
 * Return: NULL if only the general one will do.
 */
eu_handler EU_FAST(const struct eu_insn *i)
{
	unsigned int n, lane;

	if (i->lanes != 1 && i->lanes != 8 && i->lanes != 16)
		return NULL;
	if (i->write_acc || i->align16 != (i->sources == 3) || i->dst.indirect ||
	    i->dst.write_mask != 15 || i->dst.accumulator || i->dst.bytes != 4)
		return NULL;
	if (i->dst.file == EU_FILE_ARF && !i->dst.null)
		return NULL;
	if (!i->dst.null)
		for (lane = 1; lane < i->lanes; lane++)
			if (i->dst.at[lane] != i->dst.at[0] + lane * 4)
				return NULL;
	for (n = 0; n < i->sources; n++) {
		if (i->src[n].kind == EU_KIND_OTHER || i->src[n].bytes == 1 || i->src[n].bytes == 8)
			return NULL;
		if (i->src[n].file == EU_FILE_ARF)
			return NULL;
	}
	if (i->condition > EU_COND_LE)
		return NULL;
	if (floats(i))
		return float_handler(i);
	if (!integers(i) || i->saturate)
		return NULL;
	/* The largest negative integer has an opposite, which 32 bits do not hold. */
	if (i->dst.type == EU_F && i->op == EU_MOV && i->src[0].type != EU_UD && !i->condition &&
	    !modifiers(i))
		return PICK(fast_to_float);
	return integer_handler(i);
}
