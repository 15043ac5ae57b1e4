// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forcewake: three domains, each with a request and an acknowledge register. The ranges are those
 * of i915's table for Gen9, which the access check of a driver without faults proves.
 */
#include <linux/ktime.h>
#include "emu.h"

enum domain {
	RENDER,
	MEDIA,
	GT,
	DOMAINS,
};

/* Bits of struct range. */
#define R BIT(RENDER)
#define M BIT(MEDIA)
#define G BIT(GT)

static const struct {
	u32 request, ack;
} registers[DOMAINS] = {
	[RENDER] = { FORCEWAKE_RENDER_GEN9, FORCEWAKE_ACK_RENDER_GEN9 },
	[MEDIA] = { FORCEWAKE_MEDIA_GEN9, FORCEWAKE_ACK_MEDIA_GEN9 },
	[GT] = { FORCEWAKE_GT_GEN9, FORCEWAKE_ACK_GT_GEN9 },
};

/* Offsets from the end of the previous range up to @last need the domains @domains awake. */
static const struct range {
	u32 last;
	u8 domains;
} ranges[] = {
	{ 0xaff, G },	{ 0x1fff, 0 },	{ 0x26ff, R },	   { 0x2fff, G },  { 0x3fff, R },
	{ 0x51ff, G },	{ 0x7fff, R },	{ 0x812f, G },	   { 0x813f, M },  { 0x815f, R },
	{ 0x82ff, G },	{ 0x84ff, R },	{ 0x87ff, G },	   { 0x89ff, M },  { 0x8bff, G },
	{ 0x8cff, R },	{ 0x93ff, G },	{ 0x97ff, R | M }, { 0xafff, G },  { 0xb47f, R },
	{ 0xcfff, G },	{ 0xd7ff, M },	{ 0xdfff, G },	   { 0xe8ff, R },  { 0x11fff, G },
	{ 0x13fff, M }, { 0x19fff, G }, { 0x1e9ff, M },	   { 0x243ff, G }, { 0x247ff, R },
	{ 0x2ffff, G }, { 0x3ffff, M },
};

/* Acknowledgements of the adversary come this late at most; drivers wait for 50 ms. */
#define LATE_ACK_NS (2 * NSEC_PER_MSEC)
#define LOST_ACK_ONE_IN 50
#define LATE_ACK_ONE_IN 20

static int domain_of(u32 offset, bool ack)
{
	unsigned int i;

	for (i = 0; i < DOMAINS; i++)
		if (offset == (ack ? registers[i].ack : registers[i].request))
			return i;
	return -1;
}

/*
 * The low half of the request becomes the acknowledgement at once. The adversary delays it, or
 * loses the change of bit 0 until the driver asks again with the fallback bit
 * (WaRsForcewakeAddDelayForAck).
 */
bool emu_forcewake_write(struct emu *emu, u32 offset, u32 value)
{
	struct emu_adversary *adversary = &emu->adversary;
	int domain = domain_of(offset, false);
	u32 *request;

	if (domain < 0)
		return false;
	request = emu_reg(emu, offset);
	*request = emu_masked(*request, value);
	adversary->ack_at_ns[domain] = 0;
	if (emu_adversary_strikes(adversary, EMU_LATE_WAKE, LATE_ACK_ONE_IN))
		adversary->ack_at_ns[domain] = ktime_get_ns() + emu_random(adversary, LATE_ACK_NS);
	if (!(value & FORCEWAKE_KERNEL_FALLBACK << 16) &&
	    emu_adversary_strikes(adversary, EMU_LOST_WAKE, LOST_ACK_ONE_IN))
		adversary->ack_at_ns[domain] = U64_MAX;
	if (!adversary->ack_at_ns[domain])
		*emu_reg(emu, registers[domain].ack) = *request;
	return true;
}

static void settle(struct emu *emu, unsigned int domain)
{
	u64 *at = &emu->adversary.ack_at_ns[domain];

	if (!*at || ktime_get_ns() < *at)
		return;
	*at = 0;
	*emu_reg(emu, registers[domain].ack) = *emu_reg(emu, registers[domain].request);
}

bool emu_forcewake_read(struct emu *emu, u32 offset, u32 *value)
{
	int domain = domain_of(offset, true);

	if (domain < 0)
		return false;
	settle(emu, domain);
	*value = *emu_reg(emu, offset);
	return true;
}

/*
 * Writes to these need no request: the tails (i915: gen8_shadowed_regs), and the registers of the
 * power management unit, by which i915 leaves RC6 and sets frequencies without one.
 */
static bool is_shadowed(u32 offset)
{
	switch (offset) {
	case 0x2030:
	case 0x12030:
	case 0x1a030:
	case 0x22030:
	case GEN6_RPNSWREQ ... GEN6_PM_LAST:
		return true;
	default:
		return false;
	}
}

static const char *const domain_names[BIT(DOMAINS)] = {
	"-", "R", "M", "RM", "G", "RG", "MG", "RMG"
};

/* The bits of a request belong to several users; each of them keeps the domain awake. */
static unsigned int held(struct emu *emu)
{
	unsigned int domains = 0, i;

	for (i = 0; i < DOMAINS; i++) {
		settle(emu, i);
		domains |= *emu_reg(emu, registers[i].ack) ? BIT(i) : 0;
	}
	return domains;
}

const char *emu_forcewake_held(struct emu *emu)
{
	return domain_names[held(emu)];
}

static unsigned int needed(u32 offset, bool write)
{
	unsigned int i;

	/* Requests can be written and read while all domains sleep. */
	if ((write && is_shadowed(offset)) || domain_of(offset, false) >= 0)
		return 0;
	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		if (offset <= ranges[i].last)
			return ranges[i].domains;
	return 0;
}

const char *emu_forcewake_needed(u32 offset, bool write)
{
	return domain_names[needed(offset, write)];
}

/*
 * Without RC6 the GT does not sleep. i915 turns RC6 off by hand while an engine has work, and then
 * submits without a forcewake request (intel_rc6_unpark(), execlists_submit_ports()).
 */
static bool may_sleep(struct emu *emu)
{
	return *emu_reg(emu, GEN6_RC_CONTROL) & (GEN6_RC_CTL_HW_ENABLE | GEN6_RC_CTL_RC6_ENABLE);
}

/* Requests of software; an engine that is busy keeps its domain awake, but software cannot tell. */
bool emu_awake(struct emu *emu, u32 offset, bool write)
{
	return !may_sleep(emu) || !(needed(offset, write) & ~held(emu));
}

/* Whether the GT is in RC6: nothing keeps it awake, and timers or software send it there. */
static bool is_in_rc6(struct emu *emu)
{
	u32 control = *emu_reg(emu, GEN6_RC_CONTROL);
	unsigned int i;

	if (!(control & GEN6_RC_CTL_RC6_ENABLE) ||
	    !(control & GEN6_RC_CTL_HW_ENABLE || *emu_reg(emu, GEN6_RC_STATE) & RC_SW_TARGET_RC6) ||
	    held(emu))
		return false;
	for (i = 0; i < GHYVI_ENGINES; i++)
		if (emu->engines[i].state == EMU_RUNNING || emu->engines[i].state == EMU_WAITING)
			return false;
	return true;
}

void emu_rc6_settle(struct emu *emu)
{
	u64 now = ktime_get_ns();

	if (emu->rc6_since_ns)
		emu->rc6_ns += now - emu->rc6_since_ns;
	emu->rc6_since_ns = is_in_rc6(emu) ? now : 0;
}

u32 emu_rc6_residency(struct emu *emu)
{
	emu_rc6_settle(emu);
	return emu->rc6_ns / RC6_UNIT_NS;
}
