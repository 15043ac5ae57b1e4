// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flow of control. Each lane that does not execute waits for an instruction: it goes on when the
 * thread gets there at the same depth of calls. An instruction that leaves none of its channels
 * executing jumps to the nearest place where lanes may wait, its JIP.
 */
#include "machine.h"

static void park(struct eu_exec *x, uint32_t lanes, uint32_t ip)
{
	struct eu_thread *t = x->t;
	uint32_t rest = lanes;

	while (rest) {
		unsigned int lane = (unsigned int)__builtin_ctz(rest);

		t->at[lane] = ip;
		t->depth_of[lane] = t->depth;
		rest &= rest - 1;
	}
	t->mask &= ~lanes;
	t->waiting |= lanes;
	x->waits |= eu_wait_bit(ip);
}

/** eu_flow_resume() - @x goes on with another thread */
void eu_flow_resume(struct eu_exec *x)
{
	uint32_t rest;

	x->waits = 0;
	for (rest = x->t->waiting; rest; rest &= rest - 1)
		x->waits |= eu_wait_bit(x->t->at[__builtin_ctz(rest)]);
}

/**
 * eu_flow_wake() - lanes that wait for @i go on
 *
 * break names the end of its loop, which would take them back: they wait for what follows.
 */
void eu_flow_wake(struct eu_exec *x, const struct eu_insn *i)
{
	struct eu_thread *t = x->t;
	uint32_t rest, woken = 0;

	for (rest = t->waiting; rest; rest &= rest - 1) {
		unsigned int lane = (unsigned int)__builtin_ctz(rest);

		if ((t->at[lane] & ~(uint32_t)EU_AFTER_LOOP) != i->ip ||
		    t->depth_of[lane] != t->depth)
			continue;
		if (t->at[lane] & EU_AFTER_LOOP && i->op == EU_WHILE)
			t->at[lane] = i->ip + i->size;
		else
			woken |= 1u << lane;
	}
	t->mask |= woken;
	t->waiting &= ~woken;
	eu_flow_resume(x);
}

static bool waits_for(const struct eu_thread *t, uint32_t lanes, uint32_t ip)
{
	uint32_t rest = t->waiting & lanes;

	while (rest) {
		unsigned int lane = (unsigned int)__builtin_ctz(rest);

		if (t->at[lane] == ip && t->depth_of[lane] == t->depth)
			return true;
		rest &= rest - 1;
	}
	return false;
}

static enum eu_step jump(struct eu_thread *t, uint32_t ip)
{
	t->ip = ip;
	return EU_JUMP;
}

/* Goes on with the next instruction if a lane does; else to JIP. */
static enum eu_step go_on(struct eu_thread *t, const struct eu_insn *i, uint32_t channels)
{
	uint32_t next = i->ip + i->size;

	if (t->mask & channels || waits_for(t, channels, next))
		return EU_NEXT;
	return jump(t, i->ip + (uint32_t)i->jip);
}

static enum eu_step call(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	struct eu_thread *t = x->t;
	uint32_t next = i->ip + i->size;

	if (!lanes)
		return EU_NEXT;
	if (i->dst.null || i->dst.indirect || i->dst.at[0] + 8u > EU_GRF_BYTES)
		return eu_fail(x, i, EU_UNSUPPORTED, "a call without a register to return from");
	if (t->depth == UINT16_MAX)
		return eu_fail(x, i, EU_ILLEGAL, "more than 65535 calls");
	eu_set_reg32(t, i->dst.at[0], next);
	eu_set_reg32(t, i->dst.at[0] + 4, t->mask);
	/* All lanes meet after the call: those that call, when they return. */
	park(x, t->mask & ~lanes, next);
	t->depth++;
	return jump(t, i->ip + (uint32_t)i->jip);
}

static enum eu_step ret(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes)
{
	struct eu_thread *t = x->t;
	uint32_t target, rest, lane;

	if (!lanes)
		return EU_NEXT;
	if (i->src[0].file != EU_FILE_GRF || i->src[0].indirect)
		return eu_fail(x, i, EU_UNSUPPORTED, "a return from elsewhere than a register");
	if (!t->depth)
		return eu_fail(x, i, EU_ILLEGAL, "a return without a call");
	target = eu_reg32(t, i->src[0].at[0]) & ~7u;
	/* Returned lanes wait outside; the last one of this call takes the thread there. */
	t->depth--;
	park(x, lanes, target);
	t->depth++;
	if (t->mask)
		return EU_NEXT;
	for (rest = t->waiting; rest; rest &= rest - 1) {
		lane = (uint32_t)__builtin_ctz(rest);
		if (t->depth_of[lane] == t->depth)
			return EU_NEXT;
	}
	t->depth--;
	return jump(t, target);
}

/**
 * eu_flow() - execute an instruction that changes the flow of control
 *
 * Return: EU_NEXT, EU_JUMP with the thread's ip set, or EU_FAILED.
 */
enum eu_step eu_flow(struct eu_exec *x, const struct eu_insn *i)
{
	struct eu_thread *t = x->t;
	uint32_t channels = i->all << i->first;
	uint32_t active = (i->no_mask ? i->all : t->mask >> i->first & i->all) << i->first;
	uint32_t chosen = active;
	uint32_t jip = i->ip + (uint32_t)i->jip, uip = i->ip + (uint32_t)i->uip;

	if (i->predicate)
		chosen &= eu_predicate(t, i) << i->first;
	x->lanes += (unsigned int)__builtin_popcount(chosen);
	if (i->op == EU_JMPI)
		return chosen ? jump(t, i->ip + i->size + (uint32_t)i->jip) : EU_NEXT;
	if (eu_reg32(t, EU_REG_CR0) & EU_CR0_SINGLE_FLOW)
		return eu_fail(x, i, EU_UNSUPPORTED, "in single program flow");
	switch (i->op) {
	case EU_IF:
		park(x, active & ~chosen, jip);
		return t->mask & channels ? EU_NEXT : jump(t, jip);
	case EU_ELSE:
		park(x, active, uip);
		return go_on(t, i, channels);
	case EU_ENDIF:
	case EU_JOIN:
		return go_on(t, i, channels);
	case EU_WHILE:
		if (!chosen)
			return EU_NEXT;
		park(x, active & ~chosen, i->ip + i->size);
		return jump(t, jip);
	case EU_BREAK:
		park(x, chosen, uip | EU_AFTER_LOOP);
		return go_on(t, i, channels);
	case EU_CONT:
	case EU_HALT:
		park(x, chosen, uip);
		return go_on(t, i, channels);
	case EU_GOTO:
		if (i->branch_control) {
			park(x, active & ~chosen, jip);
			park(x, chosen, uip);
			return jump(t, chosen ? uip : jip);
		}
		park(x, active & ~chosen, uip);
		return go_on(t, i, channels);
	case EU_CALL:
		return call(x, i, chosen);
	case EU_RET:
		return ret(x, i, chosen);
	default:
		return eu_fail(x, i, EU_UNSUPPORTED, "this jump");
	}
}
