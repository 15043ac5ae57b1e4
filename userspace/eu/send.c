// SPDX-License-Identifier: GPL-2.0-only
/* SEND and SENDS: a payload of registers goes to a shared function, an answer comes back. */
#include "machine.h"

#include <string.h>

enum {
	SFID_NULL = 0,
	SFID_SAMPLER = 2,
	SFID_GATEWAY = 3,
	SFID_SAMPLER_CACHE = 4,
	SFID_RENDER_CACHE = 5,
	SFID_SPAWNER = 7,
	SFID_CONSTANT_CACHE = 9,
	SFID_DATA_CACHE_0 = 10,
	SFID_DATA_CACHE_1 = 12,
};

static enum eu_step gateway(struct eu_exec *x, const struct eu_insn *i, const struct eu_message *m)
{
	struct eu_group *g = x->group;
	uint32_t n;

	if ((m->desc & 7) != 4)
		return eu_fail(x, i, EU_UNSUPPORTED, "gateway message %u", m->desc & 7);
	if (++g->arrived < g->threads)
		return EU_NEXT;
	g->arrived = 0;
	for (n = 0; n < g->threads; n++) {
		struct eu_thread *t = &g->thread[n];

		eu_set_reg32(t, EU_REG_N0, eu_reg32(t, EU_REG_N0) + 1);
		if (t->state == EU_THREAD_WAITS)
			t->state = EU_THREAD_READY;
	}
	return EU_NEXT;
}

static int payload(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	uint32_t first = m->desc >> 25 & 15, second = 0, from = i->src[0].at[0];
	bool header = m->desc >> 19 & 1;

	if (i->op == EU_SENDS || i->op == EU_SENDSC) {
		second = m->ex_desc >> 6 & 15;
		if (second && i->src[1].null) {
			eu_fail(x, i, EU_ILLEGAL, "a payload of no register");
			return -1;
		}
		if (i->src[1].at[0] + second * EU_REG_BYTES > EU_GRF_BYTES) {
			eu_fail(x, i, EU_ILLEGAL, "a payload past r127");
			return -1;
		}
	}
	if (!first || from + first * EU_REG_BYTES > EU_GRF_BYTES) {
		eu_fail(x, i, EU_ILLEGAL, "a payload past r127, or none");
		return -1;
	}
	m->header = NULL;
	memcpy(m->data, x->t->reg + from, first * EU_REG_BYTES);
	memcpy(m->data + first * EU_REG_BYTES, x->t->reg + i->src[1].at[0], second * EU_REG_BYTES);
	m->registers = first + second;
	if (header) {
		m->header = m->data;
		m->registers--;
	}
	m->response = m->desc >> 20 & 31;
	m->answer = x->t->reg + i->dst.at[0];
	if (m->response &&
	    (i->dst.null || i->dst.at[0] + m->response * EU_REG_BYTES > EU_GRF_BYTES)) {
		/* An answer to null is dropped: nothing is left to write. */
		if (!i->dst.null) {
			eu_fail(x, i, EU_ILLEGAL, "an answer past r127");
			return -1;
		}
		eu_fail(x, i, EU_UNSUPPORTED, "an answer to no register");
		return -1;
	}
	return 0;
}

/**
 * eu_send() - execute SEND, SENDC, SENDS or SENDSC
 *
 * Return: EU_NEXT, EU_YIELD if the thread has ended, or EU_FAILED.
 */
enum eu_step eu_send(struct eu_exec *x, const struct eu_insn *i)
{
	struct eu_message m;
	enum eu_step step = EU_NEXT;

	m.desc = i->desc_register ? eu_reg32(x->t, EU_REG_A0) : i->desc;
	m.ex_desc = i->ex_desc_register ?
			    eu_reg32(x->t, EU_REG_A0 + i->ex_desc_address * 4) | i->condition :
			    i->ex_desc;
	m.sfid = m.ex_desc & 15;
	m.mask = eu_lanes(x->t, i);
	x->messages++;
	x->lanes += (unsigned int)__builtin_popcount(m.mask);
	if (payload(x, i, &m))
		return EU_FAILED;
	x->insn = i;
	if (m.mask || i->eot) {
		switch (m.sfid) {
		case SFID_NULL:
			break;
		case SFID_SPAWNER:
			if (!i->eot)
				return eu_fail(x, i, EU_UNSUPPORTED, "a message to the spawner");
			break;
		case SFID_GATEWAY:
			step = gateway(x, i, &m);
			break;
		case SFID_SAMPLER:
			step = eu_sampler(x, i, &m);
			break;
		case SFID_SAMPLER_CACHE:
		case SFID_CONSTANT_CACHE:
		case SFID_RENDER_CACHE:
		case SFID_DATA_CACHE_0:
		case SFID_DATA_CACHE_1:
			step = eu_dataport(x, i, &m);
			break;
		default:
			return eu_fail(x, i, EU_UNSUPPORTED, "a message 0x%x to shared function %u",
				       m.desc, m.sfid);
		}
	}
	if (step != EU_NEXT || !i->eot)
		return step;
	x->t->state = EU_THREAD_ENDED;
	return EU_YIELD;
}
