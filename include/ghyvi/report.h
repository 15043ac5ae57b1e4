/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the administrator is told about a vGPU: one rate-limited kernel log line, and the same text kept
 * for the `last_error` attribute. Used for everything a guest can cause.
 */
#ifndef GHYVI_REPORT_H
#define GHYVI_REPORT_H

#include <linux/device.h>
#include <linux/ratelimit.h>
#include <linux/spinlock.h>

#define GHYVI_REPORT_BYTES 200

struct ghyvi_reporter {
	struct device *dev; /* names the vGPU in the log (its UUID) */
	struct ratelimit_state limit;
	spinlock_t lock; /* protects all below */
	char last[GHYVI_REPORT_BYTES];
	s64 last_at; /* seconds since the epoch; 0: never */
};

void ghyvi_reporter_init(struct ghyvi_reporter *reporter, struct device *dev);

/** ghyvi_report() - say why something of this vGPU was refused, in one line whatever is in it. Any context but NMI. */
__printf(2, 3) void ghyvi_report(struct ghyvi_reporter *reporter, const char *format, ...);

/** ghyvi_report_last() - copy the last reason, empty if none, into @buffer. Returns when: seconds since the epoch, or 0. */
s64 ghyvi_report_last(struct ghyvi_reporter *reporter, char *buffer, size_t bytes);

/** ghyvi_report_forget() - the last reason was a former user's. */
void ghyvi_report_forget(struct ghyvi_reporter *reporter);

#endif
