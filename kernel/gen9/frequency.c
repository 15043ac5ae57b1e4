// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frequency of the GPU. The firmware of the power unit limits it by power and temperature, but
 * without a request it stays at what i915 or the firmware has left: usually the lowest, a third of
 * the highest. So while an engine has a job the highest is asked for, and the lowest when none has
 * had one for a while.
 */
#include "gen9.h"

#define IDLE_JIFFIES (HZ / 10 ?: 1)

/* In units of 50 MHz; 0: unknown. */
static u32 limit(const struct gen9 *gpu, unsigned int shift)
{
	u32 limits = gen9_read(gpu, GEN6_RP_STATE_CAP);

	return limits == ~0u ? 0 : limits >> shift & 0xff;
}

static void request(struct gen9 *gpu)
{
	u32 frequency = limit(gpu, gpu->fast ? RP0_SHIFT : RPN_SHIFT);

	lockdep_assert_held(&gpu->frequency_lock);
	if (frequency && gpu->frequency_runs)
		gen9_write(gpu, GEN6_RPNSWREQ, GEN9_FREQUENCY(frequency * GEN9_FREQ_SCALER));
}

void gen9_frequency_start(struct gen9 *gpu)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->frequency_lock, flags);
	gpu->frequency_runs = true;
	request(gpu);
	spin_unlock_irqrestore(&gpu->frequency_lock, flags);
}

void gen9_frequency_stop(struct gen9 *gpu)
{
	unsigned long flags;

	spin_lock_irqsave(&gpu->frequency_lock, flags);
	gpu->frequency_runs = false;
	spin_unlock_irqrestore(&gpu->frequency_lock, flags);
}

void gen9_frequency_update(struct gen9_engine *engine, bool works)
{
	struct gen9 *gpu = engine->gpu;
	unsigned long flags;

	lockdep_assert_held(&engine->lock);
	if (engine->works == works)
		return;
	engine->works = works;
	spin_lock_irqsave(&gpu->frequency_lock, flags);
	gpu->working += works ? 1 : -1;
	if (!gpu->working) {
		mod_delayed_work(gpu->wq, &gpu->frequency_work, IDLE_JIFFIES);
	} else if (!gpu->fast) {
		gpu->fast = true;
		request(gpu);
	}
	spin_unlock_irqrestore(&gpu->frequency_lock, flags);
}

void gen9_frequency_work(struct work_struct *work)
{
	struct gen9 *gpu = container_of(to_delayed_work(work), struct gen9, frequency_work);
	unsigned long flags;

	spin_lock_irqsave(&gpu->frequency_lock, flags);
	if (!gpu->working && gpu->fast) {
		gpu->fast = false;
		request(gpu);
	}
	spin_unlock_irqrestore(&gpu->frequency_lock, flags);
}
