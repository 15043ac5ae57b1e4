// SPDX-License-Identifier: GPL-2.0-only
/* Which function executes an instruction: decided once, when it is decoded. */
#include "machine.h"

static enum eu_step refused(struct eu_exec *x, const struct eu_insn *i)
{
	/* An instruction that no lane executes does no harm. */
	if (i->refused_status == EU_UNSUPPORTED && eu_op_name(i->op) &&
	    !(i->op >= EU_SEND && i->op <= EU_SENDSC) && !eu_lanes(x->t, i))
		return EU_NEXT;
	return eu_fail(x, i, i->refused_status, "%s", i->refused);
}

static enum eu_step nothing(struct eu_exec *x, const struct eu_insn *i)
{
	(void)x;
	(void)i;
	return EU_NEXT;
}

/* A notification register counts barriers that completed; wait takes one, or waits. */
static enum eu_step wait(struct eu_exec *x, const struct eu_insn *i)
{
	uint32_t at = i->src[0].at[0], count;

	if (at != EU_REG_N0)
		return eu_fail(x, i, EU_UNSUPPORTED, "another notification than the barrier's");
	count = eu_reg32(x->t, at);
	if (!count) {
		x->t->state = EU_THREAD_WAITS;
		return EU_YIELD;
	}
	eu_set_reg32(x->t, at, count - 1);
	return EU_NEXT;
}

static enum eu_step needs_clock(struct eu_exec *x, const struct eu_insn *i)
{
	(void)x;
	(void)i;
	return EU_CLOCK;
}

static bool reads_clock(const struct eu_insn *i)
{
	for (unsigned int n = 0; n < i->sources; n++)
		if (i->src[n].read_special && i->src[n].at[0] / 32 * 32 == EU_REG_TM0)
			return true;
	return false;
}

static const char *unknown(const struct eu_insn *i)
{
	switch (i->op) {
	case EU_MOVI:
	case EU_CMPN:
	case EU_BRD:
	case EU_BRC:
	case EU_CALLA:
	case EU_SAD2:
	case EU_SADA2:
	case EU_LINE:
	case EU_PLN:
		return "not supported";
	default:
		return NULL;
	}
}

static eu_handler fast_handler(const struct eu_insn *i)
{
#ifdef EU_WIDE
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return eu_fast_handler_v3(i);
#endif
	return eu_fast_handler_any(i);
}

/* Gathers what fast handlers read. */
static void bring_near(struct eu_insn *i)
{
	unsigned int n;

	for (n = 0; n < i->sources; n++) {
		const struct eu_operand *o = &i->src[n];
		struct eu_near *to = &i->near[n];

		to->at = o->at[0];
		to->kind = o->kind;
		if (o->kind == EU_KIND_SCALAR)
			to->kind = o->file == EU_FILE_IMM ? EU_KIND_IMMEDIATE :
				   o->bytes == 4	  ? EU_KIND_SCALAR32 :
							    EU_KIND_SCALAR16;
		to->negate = o->negate;
		to->absolute = o->absolute;
		to->is_signed = o->type == EU_D || o->type == EU_W;
		i->scalar[n] = o->scalar;
	}
	i->dst_at = i->dst.at[0];
	i->dst_null = i->dst.null;
}

/** eu_bind() - give a decoded instruction its handlers */
void eu_bind(struct eu_insn *i)
{
	if (!i->refused && unknown(i)) {
		i->refused = unknown(i);
		i->refused_status = EU_UNSUPPORTED;
	}
	if (i->refused)
		i->general = refused;
	else if (i->op == EU_NOP)
		i->general = nothing;
	else if (i->op == EU_WAIT)
		i->general = wait;
	else if (i->op >= EU_JMPI && i->op <= EU_JOIN)
		i->general = eu_flow;
	else if (i->op >= EU_SEND && i->op <= EU_SENDSC)
		i->general = eu_send;
	else if (i->op == EU_MATH)
		i->general = eu_math;
	else if (i->op == EU_MADM)
		i->general = eu_madm;
	else if (reads_clock(i))
		i->general = needs_clock;
	else
		i->general = eu_alu;
	bring_near(i);
	i->run = NULL;
	if (i->general == eu_send)
		i->run = eu_fast_send(i);
	if (i->general == eu_alu)
		i->run = fast_handler(i);
	if (!i->run)
		i->run = i->general;
}
