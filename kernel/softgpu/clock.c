// SPDX-License-Identifier: GPL-2.0-only
/* What the clocks of the engines show. */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include "engine.h"

/* Gen9: 12 MHz, which corresponds to the vGPU's CTC_MODE register. Gen8: 80 ns per tick. */
u64 softgpu_ticks(unsigned int gen, u64 ns)
{
	return gen == 8 ? div_u64(ns, 80) : mul_u64_u32_div(ns, 3, 250);
}

u64 softgpu_engine_timestamp(const struct softgpu_engine *engine)
{
	const struct ghyvi_client_params *params = &engine->client->base.params;
	u64 ns = ktime_get_ns();

	if (params->clock_offset_ns)
		ns += READ_ONCE(*params->clock_offset_ns);
	return softgpu_ticks(params->gen, ns) & GENMASK_ULL(TIMESTAMP_BITS - 1, 0);
}

u32 softgpu_context_timestamp(const struct softgpu_engine *engine)
{
	u64 ns = ktime_get_ns() - engine->started_ns;

	return engine->context_timestamp + (u32)softgpu_ticks(engine->client->base.params.gen, ns);
}
