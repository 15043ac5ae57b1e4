// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of the engines. Its upper half changes once in six minutes, so only the lower one is
 * read. A read of a register takes about a microsecond, and the clock is read at each interrupt of
 * a vGPU.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include "gen9.h"

static u64 read_both_halves(struct gen9 *gpu)
{
	u32 high, low, again = gen9_read(gpu, GHYVI_RENDER_BASE + RING_TIMESTAMP_UDW);

	do {
		high = again;
		low = gen9_read(gpu, GHYVI_RENDER_BASE + RING_TIMESTAMP);
		again = gen9_read(gpu, GHYVI_RENDER_BASE + RING_TIMESTAMP_UDW);
	} while (high != again && high != ~0u);
	return (u64)high << 32 | low;
}

void gen9_clock_start(struct gen9 *gpu)
{
	u64 ticks = read_both_halves(gpu);
	unsigned long flags;

	spin_lock_irqsave(&gpu->clock_lock, flags);
	gpu->clock_ticks = ticks;
	gpu->clock_ns = ktime_get_ns();
	gpu->clock_runs = true;
	spin_unlock_irqrestore(&gpu->clock_lock, flags);
}

void gen9_clock_stop(struct gen9 *gpu)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->clock_lock, flags);
	gpu->clock_runs = false;
	spin_unlock_irqrestore(&gpu->clock_lock, flags);
}

/*
 * The host's clock tells the upper half: it would have to be wrong by three minutes between two
 * calls. Bits above those of the registers are counted, too.
 */
u64 gen9_timestamp(struct ghyvi_pgpu_device *pgpu)
{
	struct gen9 *gpu = gen9_of(pgpu);
	unsigned long flags;
	u64 now, ticks;
	u32 low;

	spin_lock_irqsave(&gpu->clock_lock, flags);
	now = ktime_get_ns();
	low = gpu->clock_runs ? gen9_read(gpu, GHYVI_RENDER_BASE + RING_TIMESTAMP) : ~0u;
	ticks = gpu->clock_ticks +
		mul_u64_u32_div(now - gpu->clock_ns, GEN9_TIMESTAMP_HZ, NSEC_PER_SEC);
	if (low != ~0u) /* as it reads while the function is being reset */
		ticks += (s32)(low - lower_32_bits(ticks));
	gpu->clock_ticks = ticks;
	gpu->clock_ns = now;
	spin_unlock_irqrestore(&gpu->clock_lock, flags);
	return ticks;
}
