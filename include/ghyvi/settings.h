/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The settings of vGPUs and pGPUs with their valid values: one list for the kernel's attributes and
 * for the tools, which check settings before they are stored. X(name, minimum, maximum).
 */
#ifndef GHYVI_SETTINGS_H
#define GHYVI_SETTINGS_H

#include <ghyvi/audit.h>
#include <ghyvi/sched.h>
#include <ghyvi/shadow_policy.h>

#define GHYVI_BUDGET_MAX_MS 3600000u
/* So that slices of 4096 instructions are counted in 32 bits. */
#define GHYVI_BUDGET_MAX_MINSN 4294967u
#define GHYVI_POINTS_MAX 1000000u
#define GHYVI_VIOLATION_WINDOW_MIN_MS 100u
#define GHYVI_VIOLATION_WINDOW_MAX_MS 3600000u

/* The last slot of the type with the smallest vGPUs; other types have fewer slots. */
#define GHYVI_SLOT_MAX 31u

/* Members of struct ghyvi_shadow_tuning, in policy/. */
#define GHYVI_TUNING_SETTINGS(X)                     \
	X(static_pages, 0, GHYVI_STATIC_PAGES_MAX)   \
	X(oos_threshold, 1, GHYVI_OOS_THRESHOLD_MAX) \
	X(idle_pins, 0, GHYVI_IDLE_PINS_MAX)         \
	X(tables_max, GHYVI_TABLES_MIN, GHYVI_TABLES_MAX)

/* Members of struct ghyvi_sched_knobs, in sched/. */
#define GHYVI_KNOB_SETTINGS(X)                                    \
	X(weight, GHYVI_SCHED_WEIGHT_MIN, GHYVI_SCHED_WEIGHT_MAX) \
	X(cap, 0, GHYVI_SCHED_CAP_MAX)                            \
	X(priority, 0, GHYVI_SCHED_PRIORITY_MAX)

/* Members of struct ghyvi_audit_budget, in audit/. */
#define GHYVI_AUDIT_SETTINGS(X)                                                \
	X(budget_bytes, GHYVI_AUDIT_BYTES_MIN, GHYVI_AUDIT_BYTES_MAX)          \
	X(budget_commands, GHYVI_AUDIT_COMMANDS_MIN, GHYVI_AUDIT_COMMANDS_MAX) \
	X(budget_batches, GHYVI_AUDIT_BATCHES_MIN, GHYVI_AUDIT_BATCHES_MAX)

/* Members of struct ghyvi_containment, in containment/. */
#define GHYVI_CONTAINMENT_SETTINGS(X)              \
	X(budget_ms, 0, GHYVI_BUDGET_MAX_MS)       \
	X(budget_minsn, 0, GHYVI_BUDGET_MAX_MINSN) \
	X(points_max, 0, GHYVI_POINTS_MAX)         \
	X(window_ms, GHYVI_VIOLATION_WINDOW_MIN_MS, GHYVI_VIOLATION_WINDOW_MAX_MS)

/*
 * Members of struct ghyvi_sched_settings, in ghyvi/ of the pGPU:
 * X(name, minimum, maximum, whether 0 is valid, too).
 */
#define GHYVI_PGPU_SETTINGS(X)                                                             \
	X(timeslice_us, GHYVI_SCHED_TIMESLICE_MIN_US, GHYVI_SCHED_TIMESLICE_MAX_US, false) \
	X(preempt_timeout_us, GHYVI_SCHED_PREEMPT_TIMEOUT_MIN_US,                          \
	  GHYVI_SCHED_PREEMPT_TIMEOUT_MAX_US, true)                                        \
	X(window_us, GHYVI_SCHED_WINDOW_MIN_US, GHYVI_SCHED_WINDOW_MAX_US, false)

/*
 * Names that policy/mode, audit/mode, display/resolution, ghyvi/scheduler and ghyvi/type_share
 * take. The kernel has tables of policies and modes; selftests/tools compares these lists with the
 * tables.
 */
#define GHYVI_POLICY_CHOICES "strict full static dynamic segmented oos adaptive relaxed nested"
#define GHYVI_BAR_REMAP_CHOICES "off on"
#define GHYVI_MULTICALL_CHOICES "off on"
#define GHYVI_AUDIT_CHOICES "privileged full log"
#define GHYVI_RESOLUTION_CHOICES                                                       \
	"1024x768 1280x720 1280x800 1280x1024 1600x900 1600x1200 1680x1050 1920x1080 " \
	"1920x1200 2560x1440"
#define GHYVI_SCHEDULER_CHOICES "fifo credit band fair"
#define GHYVI_TYPE_SHARE_CHOICES "none weight cap"

#endif
