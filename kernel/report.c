// SPDX-License-Identifier: GPL-2.0-only
/*
 * One-line reports about a vGPU: rate-limited in the kernel log, and the last one kept for the
 * attribute last_error. For the error state, the last one that stopped an engine is kept for each:
 * other threads report other things meanwhile.
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
	memset(reporter->stops, 0, sizeof(reporter->stops));
	ghyvi_report_forget(reporter);
	ratelimit_state_init(&reporter->limit, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);
}

/* @stop: where to keep the message, too, or NULL */
static __printf(3, 0) void report(struct ghyvi_reporter *reporter, char *stop, const char *format,
				  va_list args)
{
	char text[GHYVI_REPORT_BYTES];
	unsigned long flags;
	char *c;

	vsnprintf(text, sizeof(text), format, args);
	for (c = text; *c; c++)
		if (iscntrl(*c)) /* a name in the text may contain any character */
			*c = '?';

	spin_lock_irqsave(&reporter->lock, flags);
	strscpy(reporter->last, text, sizeof(reporter->last));
	reporter->last_at = ktime_get_real_seconds();
	if (stop)
		strscpy(stop, text, GHYVI_REPORT_BYTES);
	spin_unlock_irqrestore(&reporter->lock, flags);

	if (__ratelimit(&reporter->limit))
		dev_warn(reporter->dev, "%s\n", text);
}

void ghyvi_report(struct ghyvi_reporter *reporter, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(reporter, NULL, format, args);
	va_end(args);
}
GHYVI_EXPORT(ghyvi_report);

void ghyvi_report_stop(struct ghyvi_reporter *reporter, enum ghyvi_engine_id engine,
		       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(reporter, reporter->stops[engine], format, args);
	va_end(args);
}
GHYVI_EXPORT(ghyvi_report_stop);

void ghyvi_report_stop_take(struct ghyvi_reporter *reporter, enum ghyvi_engine_id engine,
			    char *buffer)
{
	unsigned long flags;

	spin_lock_irqsave(&reporter->lock, flags);
	if (buffer)
		strscpy(buffer, reporter->stops[engine], GHYVI_REPORT_BYTES);
	reporter->stops[engine][0] = '\0';
	spin_unlock_irqrestore(&reporter->lock, flags);
}
GHYVI_EXPORT(ghyvi_report_stop_take);

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
