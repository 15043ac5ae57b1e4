/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_EU_TEST_STEP_H
#define GHYVI_EU_TEST_STEP_H

#include "registers.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Executions by fast handlers: of integers, of floats. */
static unsigned int fast[2][128];

static inline void fresh(void)
{
	memset(&thread, 0, sizeof(thread));
	memset(&exec, 0, sizeof(exec));
	exec.t = &thread;
	thread.mask = ~0u;
	eu_set_reg32(&thread, EU_REG_CR0, 0x4c0);
	eu_mode_set(&exec);
}

static inline bool no_number(uint32_t v)
{
	return (v & 0x7fffffff) > 0x7f800000;
}

/* Executes one instruction in both ways, if it has two; the results must be the same. */
static inline enum eu_step step(const uint32_t *dw)
{
	struct eu_thread before = thread, general;
	struct eu_insn i;
	enum eu_step result;
	unsigned int n;

	assert_int_equal(eu_decode((const uint8_t *)dw, 16, &i), 16);
	eu_bind(&i);
	eu_mode_set(&exec);
	result = i.general(&exec, &i);
	if (i.run == i.general || !exec.plain)
		return result;
	general = thread;
	thread = before;
	assert_int_equal(i.run(&exec, &i), result);
	fast[i.src[0].type == EU_F][i.op]++;
	for (n = 0; i.dst.type == EU_F && n < EU_GRF_BYTES; n += 4)
		/* What is no number may be quiet in one and signal in the other. */
		if (no_number(eu_reg32(&thread, n)) && no_number(eu_reg32(&general, n)))
			eu_set_reg32(&thread, n, eu_reg32(&general, n));
	assert_memory_equal(&thread, &general, sizeof(thread));
	return result;
}

static inline enum eu_step last(struct code *c)
{
	return step(c->dw[c->count - 1]);
}

#endif
