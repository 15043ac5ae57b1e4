// SPDX-License-Identifier: GPL-2.0-only
/* Images: not there yet, each access ends the run as an error. */
#include "machine.h"
enum eu_step eu_sampler(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	return eu_fail(x, i, EU_UNSUPPORTED, "sampler %x", m->desc);
}
enum eu_step eu_typed(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	return eu_fail(x, i, EU_UNSUPPORTED, "typed %x", m->desc);
}
const struct eu_format *eu_format_of(uint32_t code)
{
	(void)code;
	return 0;
}
