// SPDX-License-Identifier: GPL-2.0-only
/* How a run ends that cannot go on. */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * eu_fail() - note why and where; @i is NULL if no instruction is to blame. The first error stays.
 */
enum eu_step eu_fail(struct eu_exec *x, const struct eu_insn *i, enum eu_status status,
		     const char *format, ...)
{
	struct eu_error *e = &x->error;
	int used = 0;
	va_list list;

	if (e->status)
		return EU_FAILED;
	e->status = status;
	if (!i)
		i = x->insn;
	if (i) {
		e->ip = (x->run ? x->run->dispatch.instruction.address : 0) + i->ip;
		memcpy(e->instruction, i->raw, sizeof(e->instruction));
		if (eu_op_name(i->op))
			used = snprintf(e->text, sizeof(e->text),
					"%s (%u) at 0x%x: ", eu_op_name(i->op), i->lanes, i->ip);
		else
			used = snprintf(e->text, sizeof(e->text), "opcode 0x%02x at 0x%x: ", i->op,
					i->ip);
	}
	va_start(list, format);
	vsnprintf(e->text + used, sizeof(e->text) - (size_t)used, format, list);
	va_end(list);
	if (x->group)
		memcpy(e->group, x->group->id, sizeof(e->group));
	if (x->t)
		e->thread = x->t->index;
	return EU_FAILED;
}
