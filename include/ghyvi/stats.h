/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-vGPU counters. The struct, the files in sysfs `stats/` and the tests are generated from one
 * list. Counters whose names end in "now" are gauges; all others only grow.
 */
#ifndef GHYVI_STATS_H
#define GHYVI_STATS_H

#include <linux/atomic.h>
#include <ghyvi/types.h>

/* The counters of one engine: X(name, description). Their names end in @suffix. */
#define GHYVI_ENGINE_STATS(X, suffix, engine)                                                   \
	X(submissions##suffix, "execlist submissions, " engine)                                 \
	X(busy_ns##suffix, "nanoseconds on the " engine)                                        \
	X(wait_ns##suffix, "nanoseconds that workloads spent waiting for the " engine)          \
	X(switches##suffix, "times the " engine " was switched to this vGPU from another")      \
	X(prepare_ns##suffix, "nanoseconds spent preparing workloads for the " engine)          \
	X(preempt_requests##suffix, "workloads asked to yield the " engine " for another vGPU") \
	X(preemptions##suffix, "workloads preempted on the " engine " before their end")        \
	X(preempt_timeouts##suffix,                                                             \
	  "workloads stopped because they did not yield the " engine " in time")                \
	X(queued##suffix##_now, "contexts submitted to the " engine " and not completed, now")

/*
 * The counters of a vGPU: X(name, description). Those of the engines are in the order of enum
 * ghyvi_engine_id.
 */
#define GHYVI_STATS(X)                                                                           \
	X(table_write_traps, "guest stores to write-protected table pages that trapped")         \
	X(table_write_bytes, "bytes stored by those traps")                                      \
	X(multicalls, "batches of stores to table pages that the guest declared")                \
	X(multicall_entries, "table entries stored by those batches")                            \
	X(relaxes, "table pages switched from strict to relaxed")                                \
	X(protects, "table pages write-protected")                                               \
	X(unprotects, "table pages whose write protection was lifted")                           \
	X(syncs, "synchronisation points reached")                                               \
	X(scans, "relaxed table pages compared with their snapshot")                             \
	X(entries_compared, "entries compared with their snapshot")                              \
	X(entries_changed, "entries that differed and were translated again")                    \
	X(entries_rejected, "guest entries that could not be translated and point at scratch")   \
	X(evicted_trees, "page table trees evicted to make room for others (policy/tables_max)") \
	X(pin_failures, "guest pages that could not be pinned")                                  \
	X(tables_64k, "page tables of 64 KiB pages shadowed")                                    \
	X(ips_set, "times the shadow of such a table was switched to 64 KiB pages")              \
	X(mmio_reads, "register reads that trapped")                                             \
	X(mmio_writes, "register writes that trapped")                                           \
	X(mmio_writes_in_kernel, "those of mmio_writes that took no round trip to the VMM")      \
	X(aperture_accesses, "accesses through the aperture")                                    \
	X(display_faults,                                                                        \
	  "pages of the guest's screen, each time read, that are none of its memory")            \
	X(interrupts, "interrupts sent to the guest")                                            \
	X(workloads, "workloads completed")                                                      \
	X(lite_restores, "running workloads whose ring tail was moved forward")                  \
	X(engine_errors, "workloads stopped because of a bad command or address")                \
	X(budget_overruns, "workloads stopped because they used up a budget of containment/")    \
	X(violations, "workloads that count against the guest (containment/points_max)")         \
	X(failsafes, "times the vGPU went into failsafe state")                                  \
	X(engine_resets, "engine resets requested by the guest")                                 \
	X(device_resets, "full resets, by the guest or the user")                                \
	X(oracle_violations,                                                                     \
	  "foreign pages and unaudited commands that stopped engines; anything but 0 is a bug")  \
	X(check_differences,                                                                     \
	  "shadow entries found wrong by the self-check; anything but 0 is a bug")               \
	X(checks, "table trees walked by the self-check")                                        \
	GHYVI_ENGINE_STATS(X, _rcs, "render engine")                                             \
	GHYVI_ENGINE_STATS(X, _bcs, "blitter engine")                                            \
	GHYVI_ENGINE_STATS(X, _vcs, "video engine")                                              \
	GHYVI_ENGINE_STATS(X, _vecs, "video enhancement engine")                                 \
	X(audited_commands, "commands audited, and GGTT entries stored by commands")             \
	X(audited_bytes, "bytes of commands copied for the auditor")                             \
	X(audit_rejects, "commands that the auditor refused")                                    \
	X(audit_ns, "nanoseconds spent auditing")                                                \
	X(tables_now, "guest table pages (PPGTT) shadowed, now")                                 \
	X(large_pages_now, "2 MiB guest pages mapped by one shadow entry, now")                  \
	X(split_pages_now, "2 MiB guest pages mapped by 4 KiB shadow entries, now")              \
	X(ips_set_now, "page tables of 64 KiB pages whose shadow has 64 KiB pages, now")         \
	X(relaxed_now, "table pages relaxed, now")                                               \
	X(protected_now, "guest pages write-protected, now")                                     \
	X(pinned_pages_now, "guest pages pinned, now")

#define GHYVI_STATS_MEMBER(name, what) atomic64_t name;
struct ghyvi_engine_stats {
	GHYVI_ENGINE_STATS(GHYVI_STATS_MEMBER, /* no suffix */, "engine")
};

struct ghyvi_stats {
	GHYVI_STATS(GHYVI_STATS_MEMBER)
};
#undef GHYVI_STATS_MEMBER

/* Each engine's counters are contiguous and have the layout of struct ghyvi_engine_stats. */
static_assert(offsetof(struct ghyvi_stats, queued_vecs_now) -
		      offsetof(struct ghyvi_stats, submissions_rcs) + sizeof(atomic64_t) ==
	      GHYVI_ENGINES * sizeof(struct ghyvi_engine_stats));

/**
 * ghyvi_engine_stats() - get the counters of one engine.
 * @stats: counters of the vGPU
 * @id: engine, below GHYVI_ENGINES
 *
 * Return: the part of @stats that belongs to the engine.
 */
static inline struct ghyvi_engine_stats *ghyvi_engine_stats(struct ghyvi_stats *stats,
							    enum ghyvi_engine_id id)
{
	return (struct ghyvi_engine_stats *)&stats->submissions_rcs + id;
}

/**
 * ghyvi_count() - increment a counter.
 * @stats: struct ghyvi_stats or struct ghyvi_engine_stats
 * @name: member of @stats
 *
 * Context: any.
 */
#define ghyvi_count(stats, name) atomic64_inc(&(stats)->name)
/**
 * ghyvi_count_add() - add to a counter.
 * @stats: struct ghyvi_stats or struct ghyvi_engine_stats
 * @name: member of @stats
 * @n: amount to add, in the unit of the counter
 *
 * Context: any.
 */
#define ghyvi_count_add(stats, name, n) atomic64_add((n), &(stats)->name)

#endif
