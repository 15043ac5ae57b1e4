// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frequency of the GPU. The firmware of the power unit limits it by power and temperature, but
 * without a request it stays at what i915 or the firmware has left: usually the lowest, a third of
 * the highest. So while an engine has a job the highest is asked for, and the lowest when none has
 * had one for a while. The administrator may change both, as with i915 (sysfs.c).
 */
#include <linux/errno.h>
#include <linux/string.h>
#include "gen9.h"

#define IDLE_JIFFIES (HZ / 10 ?: 1)

static void frequency_request(struct gen9 *gpu)
{
	u32 mhz = gpu->frequencies[gpu->fast];

	lockdep_assert_held(&gpu->frequency_lock);
	if (mhz && gpu->frequency_runs)
		gen9_write(gpu, GEN6_RPNSWREQ, mhz * GEN9_FREQ_SCALER / 50 << GEN9_FREQUENCY_SHIFT);
}

void gen9_frequency_start(struct gen9 *gpu)
{
	u32 cap = gen9_read(gpu, GEN6_RP_STATE_CAP);
	unsigned long flags;

	spin_lock_irqsave(&gpu->frequency_lock, flags);
	gpu->frequency_runs = true;
	if (!gpu->frequency_limits[true] && cap != ~0u) {
		gpu->frequency_limits[false] = (cap >> RPN_SHIFT & 0xff) * 50;
		gpu->frequency_limits[true] = (cap >> RP0_SHIFT & 0xff) * 50;
		memcpy(gpu->frequencies, gpu->frequency_limits, sizeof(gpu->frequencies));
	}
	frequency_request(gpu);
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
		frequency_request(gpu);
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
		frequency_request(gpu);
	}
	spin_unlock_irqrestore(&gpu->frequency_lock, flags);
}

u32 gen9_frequency_get(struct gen9 *gpu, bool fast)
{
	return READ_ONCE(gpu->frequencies[fast]);
}

int gen9_frequency_set(struct gen9 *gpu, bool fast, u32 mhz)
{
	unsigned long flags;
	u32 wanted[2];
	int err = -EINVAL;

	spin_lock_irqsave(&gpu->frequency_lock, flags);
	memcpy(wanted, gpu->frequencies, sizeof(wanted));
	wanted[fast] = mhz;
	if (!gpu->frequency_limits[true]) {
		err = -ENODEV;
	} else if (gpu->frequency_limits[false] <= wanted[false] && wanted[false] <= wanted[true] &&
		   wanted[true] <= gpu->frequency_limits[true]) {
		WRITE_ONCE(gpu->frequencies[fast], mhz);
		frequency_request(gpu);
		err = 0;
	}
	spin_unlock_irqrestore(&gpu->frequency_lock, flags);
	return err;
}

int gen9_frequency_actual(struct gen9 *gpu)
{
	unsigned long flags;
	u32 status = 0;

	spin_lock_irqsave(&gpu->frequency_lock, flags);
	if (gpu->frequency_runs)
		status = gen9_read(gpu, GEN6_RPSTAT1);
	spin_unlock_irqrestore(&gpu->frequency_lock, flags);
	if (status == ~0u)
		return -ENODEV;
	return (status >> GEN9_FREQUENCY_SHIFT) * 50 / GEN9_FREQ_SCALER;
}
