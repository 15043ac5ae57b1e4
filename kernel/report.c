// SPDX-License-Identifier: GPL-2.0-only
/*
 * One-line reports about a vGPU: rate-limited in the kernel log, and the last one kept for the
 * attribute last_error.
 */
#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <ghyvi/export.h>
#include <ghyvi/report.h>

void ghyvi_reporter_init(struct ghyvi_reporter *reporter, struct device *dev)
{
	reporter->dev = dev;
	spin_lock_init(&reporter->lock);
	ghyvi_report_forget(reporter);
	ratelimit_state_init(&reporter->limit, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);
}

void ghyvi_report(struct ghyvi_reporter *reporter, const char *format, ...)
{
	char text[GHYVI_REPORT_BYTES];
	unsigned long flags;
	va_list args;
	char *at;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (at = text; *at; at++)
		if (iscntrl(*at)) /* a name in the text may contain any character */
			*at = '?';

	spin_lock_irqsave(&reporter->lock, flags);
	strscpy(reporter->last, text, sizeof(reporter->last));
	reporter->last_at = ktime_get_real_seconds();
	spin_unlock_irqrestore(&reporter->lock, flags);

	if (__ratelimit(&reporter->limit))
		dev_warn(reporter->dev, "%s\n", text);
}
GHYVI_EXPORT(ghyvi_report);

s64 ghyvi_report_last(struct ghyvi_reporter *reporter, char *buffer, size_t bytes)
{
	unsigned long flags;
	s64 at;

	spin_lock_irqsave(&reporter->lock, flags);
	strscpy(buffer, reporter->last, bytes);
	at = reporter->last_at;
	spin_unlock_irqrestore(&reporter->lock, flags);
	return at;
}

void ghyvi_report_forget(struct ghyvi_reporter *reporter)
{
	unsigned long flags;

	spin_lock_irqsave(&reporter->lock, flags);
	reporter->last[0] = '\0';
	reporter->last_at = 0;
	spin_unlock_irqrestore(&reporter->lock, flags);
}
