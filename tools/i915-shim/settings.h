/* SPDX-License-Identifier: GPL-2.0-only */
/* Environment variables, messages, and what is counted. */
#ifndef I915_SHIM_SETTINGS_H
#define I915_SHIM_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum audit_setting {
	AUDIT_LOG, /* refused commands are reported, and executed */
	AUDIT_FULL, /* the engine executes what the auditor has copied and accepted, as on a vGPU */
	AUDIT_OFF,
};

/**
 * struct settings - what the environment says; see ghyvi-i915(1)
 * @log_batches: GHYVI_I915_LOG contains "batches"
 * @log_commands: it contains "commands"
 * @log_ioctls: it contains "ioctls"
 * @synchronous: GHYVI_I915_SYNC=1: EXECBUFFER2 returns when the batch has ended
 * @scratch: GHYVI_I915_UNMAPPED=scratch: addresses without an object read as zero
 * @skip_draws: GHYVI_I915_3D=skip: a batch that draws goes on, and nothing is drawn
 * @audit: GHYVI_I915_AUDIT
 * @threads: GHYVI_I915_THREADS: host threads of a dispatch
 */
struct settings {
	bool log_batches;
	bool log_commands;
	bool log_ioctls;
	bool synchronous;
	bool scratch;
	bool skip_draws;
	enum audit_setting audit;
	unsigned int threads;
};

const struct settings *shim_settings(void);

/* One line on stderr, with the library's name. */
__attribute__((format(printf, 1, 2))) void shim_error(const char *format, ...);
/* As shim_error(), for what GHYVI_I915_LOG asks for. */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

/*
 * What is written to GHYVI_I915_STATS at the end.
 */
struct counts {
	_Atomic uint64_t batches;
	_Atomic uint64_t failed;
	_Atomic uint64_t unknown_ioctls;
	_Atomic uint64_t audited; /* commands */
	_Atomic uint64_t refused; /* commands */
	_Atomic uint64_t unmapped; /* accesses of engines that went to the scratch page */
	_Atomic uint64_t draws; /* that were skipped */
	_Atomic uint64_t dispatches;
	_Atomic uint64_t groups;
	_Atomic uint64_t instructions;
	_Atomic uint64_t lanes;
	_Atomic uint64_t dispatch_ns;
};

extern struct counts counts;

/* Count a command by its name, a static string. Any thread. */
void count_command(const char *name, uint64_t times);

#endif
