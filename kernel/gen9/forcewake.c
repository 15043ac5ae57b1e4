// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forcewake: keeps the three domains of the GT awake. The backend holds all of them from probe to
 * remove, and does not use RC6.
 */
#include <linux/delay.h>
#include "gen9.h"

#define ACK_US 50000
#define FALLBACK_TRIES 10

static const struct gen9_domain {
	u32 request, ack;
	const char *name;
} domains[] = {
	{ FORCEWAKE_RENDER_GEN9, FORCEWAKE_ACK_RENDER_GEN9, "render" },
	{ FORCEWAKE_GT_GEN9, FORCEWAKE_ACK_GT_GEN9, "gt" },
	{ FORCEWAKE_MEDIA_GEN9, FORCEWAKE_ACK_MEDIA_GEN9, "media" },
};

static int wait_ack(struct gen9 *gpu, const struct gen9_domain *domain, u32 bit, bool set,
		    unsigned int us)
{
	return gen9_wait(gpu, domain->ack, bit, set ? bit : 0, us);
}

/*
 * Hardware may lose the acknowledgment of bit 0 when a domain that is about to sleep is woken up.
 * A request of another bit makes it look again (i915: WaRsForcewakeAddDelayForAck).
 */
static int wait_ack_with_fallback(struct gen9 *gpu, const struct gen9_domain *domain, bool set)
{
	unsigned int try;

	if (!wait_ack(gpu, domain, FORCEWAKE_KERNEL, set, ACK_US))
		return 0;
	for (try = 0; try < FALLBACK_TRIES; try++) {
		wait_ack(gpu, domain, FORCEWAKE_KERNEL_FALLBACK, false, ACK_US);
		gen9_write(gpu, domain->request, MASKED_BIT_ENABLE(FORCEWAKE_KERNEL_FALLBACK));
		udelay(10 + 10 * try);
		wait_ack(gpu, domain, FORCEWAKE_KERNEL_FALLBACK, true, ACK_US);
		gen9_write(gpu, domain->request, MASKED_BIT_DISABLE(FORCEWAKE_KERNEL_FALLBACK));
		if (!wait_ack(gpu, domain, FORCEWAKE_KERNEL, set, 1000))
			return 0;
	}
	dev_err(&gpu->pdev->dev, "forcewake of the %s domain is not acknowledged: 0x%x is 0x%08x\n",
		domain->name, domain->ack, gen9_read(gpu, domain->ack));
	return -ETIMEDOUT;
}

int gen9_forcewake_get(struct gen9 *gpu)
{
	unsigned int i;
	int err = 0;

	/* A previous owner may have left requests. */
	for (i = 0; i < ARRAY_SIZE(domains); i++)
		gen9_write(gpu, domains[i].request, MASKED_BIT_DISABLE(0xffff));
	for (i = 0; i < ARRAY_SIZE(domains) && !err; i++)
		err = wait_ack_with_fallback(gpu, &domains[i], false);
	for (i = 0; i < ARRAY_SIZE(domains) && !err; i++) {
		gen9_write(gpu, domains[i].request, MASKED_BIT_ENABLE(FORCEWAKE_KERNEL));
		err = wait_ack_with_fallback(gpu, &domains[i], true);
	}
	return err;
}

void gen9_forcewake_put(struct gen9 *gpu)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(domains); i++)
		gen9_write(gpu, domains[i].request, MASKED_BIT_DISABLE(FORCEWAKE_KERNEL));
}
