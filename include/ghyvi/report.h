/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages to the administrator about a vGPU. Each message is one rate-limited line in the kernel
 * log and is kept for the `last_error` attribute. All messages that a guest can cause are reported
 * here.
 */
#ifndef GHYVI_REPORT_H
#define GHYVI_REPORT_H

#include <linux/device.h>
#include <linux/ratelimit.h>
#include <linux/spinlock.h>
#include <ghyvi/types.h>

#define GHYVI_REPORT_BYTES 200

/**
 * struct ghyvi_reporter - messages about one vGPU or pGPU.
 * @dev: device whose name (of a vGPU: its UUID) prefixes the lines in the log
 * @limit: rate limit of the lines in the log
 * @lock: protects the members that follow
 * @last: the last message; empty if there is none
 * @last_at: time of the last message in seconds since the epoch; 0 if there is none
 * @stops: for each engine, why its last workload was refused or stopped; empty if there is none
 */
struct ghyvi_reporter {
	struct device *dev;
	struct ratelimit_state limit;
	spinlock_t lock;
	char last[GHYVI_REPORT_BYTES];
	s64 last_at;
	char stops[GHYVI_ENGINES][GHYVI_REPORT_BYTES];
};

/**
 * ghyvi_reporter_init() - initialize a reporter without a last message.
 * @reporter: reporter to initialize
 * @dev: device whose name prefixes the messages; must outlive the reporter
 */
void ghyvi_reporter_init(struct ghyvi_reporter *reporter, struct device *dev);

/**
 * ghyvi_report() - report why a request of a guest or an administrator was refused.
 * @reporter: reporter of the vGPU or pGPU
 * @format: format string, without a newline. The message is cut to GHYVI_REPORT_BYTES - 1
 *	characters. Control characters become '?', so that it is always one line.
 * @...: arguments of @format
 *
 * Context: any but NMI.
 */
__printf(2, 3) void ghyvi_report(struct ghyvi_reporter *reporter, const char *format, ...);

/**
 * ghyvi_report_stop() - report why a workload of a guest is refused or stopped.
 * @reporter: reporter of the vGPU
 * @engine: engine of the workload
 * @format: as for ghyvi_report(), which keeps the message, too
 * @...: arguments of @format
 *
 * Context: any but NMI.
 */
__printf(3, 4) void ghyvi_report_stop(struct ghyvi_reporter *reporter, enum ghyvi_engine_id engine,
				      const char *format, ...);

/**
 * ghyvi_report_stop_take() - take the last message of ghyvi_report_stop() for an engine.
 * @reporter: reporter to change
 * @engine: engine of the workload
 * @buffer: filled with the message, GHYVI_REPORT_BYTES; an empty string if there is none since the
 *	last call. NULL: the message is discarded.
 *
 * Context: any but NMI.
 */
void ghyvi_report_stop_take(struct ghyvi_reporter *reporter, enum ghyvi_engine_id engine,
			    char *buffer);

/**
 * ghyvi_report_last() - copy the last message.
 * @reporter: reporter to read
 * @buffer: filled with the last message; an empty string if there is none
 * @bytes: size of @buffer
 *
 * Context: any but NMI.
 * Return: time of the message in seconds since the epoch; 0 if there is none.
 */
s64 ghyvi_report_last(struct ghyvi_reporter *reporter, char *buffer, size_t bytes);

/**
 * ghyvi_report_forget() - discard the last message, because the vGPU has a new user.
 * @reporter: reporter to clear
 *
 * Context: any but NMI.
 */
void ghyvi_report_forget(struct ghyvi_reporter *reporter);

#endif
