// SPDX-License-Identifier: GPL-2.0-only
/* The log, the reports of broken rules, the access trace, and the summary at the end. */
#include <inttypes.h>
#include <stdarg.h>
#include <linux/kernel.h>
#include "emu.h"

/* Lines per kind of violation. All are counted. */
#define VIOLATION_LINES 20

/* Other lines: so many at once, and one more each second. The virtual machine can cause them. */
#define LOG_BURST 200
#define LOG_LINE_NS NSEC_PER_SEC

static const struct {
	const char *name, *text;
} violations[EMU_VIOLATIONS] = {
	[EMU_SUSPENDED] = { "suspended", "access to a BAR while the function is not in D0" },
	[EMU_ASLEEP] = { "asleep", "access in a forcewake domain that is not awake" },
	[EMU_ELSP_EARLY] = { "elsp-early", "ELSP written before the last write was promoted" },
	[EMU_SAME_TAIL] = { "same-tail",
			    "context resubmitted with its tail, without force restore" },
	[EMU_NO_RESTORE] = { "no-restore",
			     "image of the last context changed, without force restore" },
	[EMU_IDLE_PROMOTION] = { "idle-promotion", "second context begins without a command" },
	[EMU_RESET_RUNNING] = { "reset-running",
				"reset of an engine that is not stopped and ready" },
	[EMU_CSB_POINTER] = { "csb-pointer", "context status pointer not preset since the reset" },
	[EMU_GGTT_STALE] = { "ggtt-stale", "GGTT entry changed and used without GFX_FLSH_CNTL" },
	[EMU_PPGTT_STALE] = { "ppgtt-stale",
			      "PPGTT entry changed and used without TLB invalidation" },
	[EMU_GTT_CACHE] = { "gtt-cache", "PPGTT entry of 2 MiB used with the GTT cache on" },
	[EMU_WORKAROUND] = { "workaround", "workaround missing at a submission" },
	[EMU_BBSTATE] = { "bbstate", "batch state of a context image written by software" },
	[EMU_HWSP] = { "hwsp", "status page outside of the allowed range" },
	[EMU_RUN_LIST_OFF] = { "run-list-off", "ELSP written while RING_MODE has run lists off" },
	[EMU_EU_STATE] = { "eu-state", "threads find the state of another context's in the EUs" },
	[EMU_INVALID_CONTEXT] = { "invalid-context", "context that cannot be loaded" },
	[EMU_GGTT_NOT_PRESENT] = { "ggtt-not-present",
				   "engine access to a GGTT address without an entry" },
	[EMU_NOT_PRESENT] = { "not-present", "engine access to a PPGTT address without an entry" },
	[EMU_NOT_RAM] = { "not-ram", "engine access to an address that is not RAM" },
};

static double seconds(void)
{
	return (double)ktime_get_ns() / NSEC_PER_SEC;
}

static void log_line(struct emu *emu, const char *prefix, const char *format, va_list args)
{
	if (!emu->log)
		return;
	fprintf(emu->log, "[%12.6f] %s", seconds(), prefix);
	vfprintf(emu->log, format, args);
	fputc('\n', emu->log);
	fflush(emu->log);
}

__printf(2, 3) static void tell(struct emu *emu, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(emu, "", format, args);
	va_end(args);
}

static bool take_line(struct emu *emu)
{
	u64 now = ktime_get_ns();

	if (emu->log_paid_ns > now + (LOG_BURST - 1) * LOG_LINE_NS) {
		emu->log_left_out++;
		return false;
	}
	emu->log_paid_ns = max(emu->log_paid_ns, now) + LOG_LINE_NS;
	return true;
}

static void tell_left_out(struct emu *emu)
{
	if (emu->log_left_out)
		tell(emu, "%" PRIu64 " lines are left out here", (uint64_t)emu->log_left_out);
	emu->log_left_out = 0;
}

void emu_log(struct emu *emu, const char *format, ...)
{
	va_list args;

	if (!take_line(emu))
		return;
	tell_left_out(emu);
	va_start(args, format);
	log_line(emu, "", format, args);
	va_end(args);
}

void emu_violation(struct emu *emu, enum emu_violation kind, const char *format, ...)
{
	char prefix[64];
	va_list args;

	if (emu->violations[kind]++ >= VIOLATION_LINES)
		return;
	snprintf(prefix, sizeof(prefix), "VIOLATION %s: ", violations[kind].name);
	va_start(args, format);
	log_line(emu, prefix, format, args);
	va_end(args);
}

/*
 * One line per access by the CPU: operation (r, w: register or GGTT; c, d: read and write of
 * configuration space; m: interrupt), offset, value; for registers the domains that are awake and
 * those that the access needs.
 */
void emu_trace(struct emu *emu, char operation, u32 offset, u64 value)
{
	if (emu->trace)
		fprintf(emu->trace, "%c %06x %" PRIx64 "\n", operation, offset, (uint64_t)value);
}

void emu_trace_register(struct emu *emu, char operation, u32 offset, u32 value)
{
	if (emu->trace)
		fprintf(emu->trace, "%c %06x %x %s %s\n", operation, offset, value,
			emu_forcewake_held(emu), emu_forcewake_needed(offset, operation == 'w'));
}

static void log_count(struct emu *emu, const char *name, u64 count)
{
	tell(emu, "count %s %" PRIu64, name, (uint64_t)count);
}

void emu_log_summary(struct emu *emu)
{
	struct emu_compute_counts kernels = emu_compute_counts(&emu->engines[GHYVI_RCS]);
	u64 sum = 0;
	unsigned int i;

	tell_left_out(emu);
	log_count(emu, "reads", emu->reads);
	log_count(emu, "writes", emu->writes);
	log_count(emu, "ggtt_writes", emu->ggtt_writes);
	log_count(emu, "aperture", emu->aperture_accesses);
	log_count(emu, "interrupts", emu->interrupts);
	log_count(emu, "resets", emu->resets);
	for (i = 0; i < GHYVI_ENGINES; i++) {
		const struct emu_engine *engine = &emu->engines[i];

		tell(emu,
		     "count %s submissions %" PRIu64 " commands %" PRIu64 " idles %" PRIu64
		     " idle_us %" PRIu64,
		     emu_engine_name(engine), (uint64_t)engine->submissions,
		     (uint64_t)engine->commands, (uint64_t)engine->idles,
		     (uint64_t)engine->idle_ns / 1000);
	}
	tell(emu,
	     "count rcs dispatches %" PRIu64 " groups %" PRIu64 " instructions %" PRIu64
	     " preempted %" PRIu64 " within %" PRIu64,
	     (uint64_t)kernels.dispatches, (uint64_t)kernels.groups, (uint64_t)kernels.instructions,
	     (uint64_t)kernels.preempted, (uint64_t)kernels.within);
	for (i = 0; i < EMU_VIOLATIONS; i++) {
		sum += emu->violations[i];
		if (emu->violations[i])
			tell(emu, "%" PRIu64 " times: %s (%s)", (uint64_t)emu->violations[i],
			     violations[i].text, violations[i].name);
	}
	tell(emu, "%" PRIu64 " violations", (uint64_t)sum);
}
