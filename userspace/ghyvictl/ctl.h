/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVICTL_CTL_H
#define GHYVICTL_CTL_H

#include <argp.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include "ghyvi.h"

/* Exit statuses; the man page declares them stable. */
enum {
	STATUS_OK = 0,
	STATUS_ERROR = 1,
	STATUS_USAGE = 2,
	STATUS_NOT_FOUND = 3,
	STATUS_BUSY = 4,
};

/* What all commands share. */
struct ctl {
	struct ghyvi *ghyvi;
	bool json;
	bool no_mdevctl;
};

/* Commands return an exit status. argv[0] is "ghyvictl NAME". */
int cmd_list(struct ctl *ctl, int argc, char **argv);
int cmd_types(struct ctl *ctl, int argc, char **argv);
int cmd_show(struct ctl *ctl, int argc, char **argv);
int cmd_create(struct ctl *ctl, int argc, char **argv);
int cmd_define(struct ctl *ctl, int argc, char **argv);
int cmd_set(struct ctl *ctl, int argc, char **argv);
int cmd_remove(struct ctl *ctl, int argc, char **argv);
int cmd_reset(struct ctl *ctl, int argc, char **argv);
int cmd_stat(struct ctl *ctl, int argc, char **argv);
int cmd_top(struct ctl *ctl, int argc, char **argv);
int cmd_dump(struct ctl *ctl, int argc, char **argv);
int cmd_record(struct ctl *ctl, int argc, char **argv);
int cmd_export(struct ctl *ctl, int argc, char **argv);
int cmd_report(struct ctl *ctl, int argc, char **argv);
int cmd_doctor(struct ctl *ctl, int argc, char **argv);

/* ---- options (options.c) ---- */

/* --json, --no-mdevctl: the child of every command's argp, with a struct ctl as its input. */
extern const struct argp_child ctl_children[];
/* The same of a command that has no JSON, and says so itself: --help does not list it. */
extern const struct argp_child text_children[];

/*
 * Parses a command's options, then opens sysfs. The first member of what @input points to is the struct ctl *.
 * Returns an exit status; wrong usage ends the program.
 */
int parse_options(const struct argp *argp, int argc, char **argv, void *input);

/* The input of commands that take UUIDs and nothing else. */
struct uuid_options {
	struct ctl *ctl;
	char **uuids;
	int count;
};

error_t parse_uuids(int key, char *argument, struct argp_state *state);
/* Seconds, more than 0; ends the program with a usage message otherwise. */
double parse_seconds(const char *text, struct argp_state *state);
long parse_count(const char *text, struct argp_state *state);

/* ---- messages (messages.c) ---- */

/* "ghyvictl: ..." on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The exit status that says what @error (a negative errno) does. */
int status_of(int error);
/* strerror(), but with what to do about it where that is known. */
const char *reason_of(int error);
/* A copy without anything a terminal or JSON could choke on; the caller frees it. */
char *clean(const char *text);
/* The candidate that @word was probably meant to be, or NULL. */
const char *nearest(const char *word, const char *const *candidates, size_t count);

json_t *json_text(const char *text);
/* Prints and frees it. Returns an exit status. */
int json_print(json_t *json, size_t flags);

/* ---- vGPUs (vgpus.c) ---- */

/* Complains if there is none of that UUID; sets *status then. */
struct ghyvi_vgpu *need_vgpu(struct ctl *ctl, const char *uuid, int *status);

/*
 * Calls @each for the vGPUs named, or for all if none is. Goes on after a failure. Returns the first exit status that
 * was not 0. A vGPU that vanishes in between is no failure if none was named.
 */
int each_vgpu(const struct uuid_options *options, int (*each)(struct ghyvi_vgpu *vgpu, void *data),
	      void *data);

/* uuid, type, name, parent, state, policy */
json_t *json_vgpu(const struct ghyvi_vgpu *vgpu);
/* When last_error was said, since the epoch; 0: never, or the module does not tell. */
time_t last_error_time(const struct ghyvi_vgpu *vgpu);
/* json_vgpu(), and path, last_error, last_error_time, settings, choices */
json_t *json_vgpu_details(const struct ghyvi_vgpu *vgpu);
/* "?" where it cannot be read. @value has GHYVI_VALUE_BYTES. */
const char *value_or_unknown(const struct ghyvi_vgpu *vgpu, const char *attribute, char *value);
const char *policy_or_unknown(const struct ghyvi_vgpu *vgpu, char *value);

/* ---- settings (settings.c) ---- */

/* What has settings: a vGPU or a pGPU; the other one is NULL. */
struct target {
	const struct ghyvi_vgpu *vgpu;
	const struct ghyvi_parent *parent;
};

/* @word is a UUID or a pGPU's name. Complains and returns an exit status; free it with target_free(). */
int need_target(struct ctl *ctl, const char *word, struct target *target);
void target_free(struct target *target);
/* As ghyvi_vgpu_each_attribute(). */
int each_setting(const struct target *target,
		 int (*each)(void *data, const char *attribute, bool writable), void *data);
/* As value_or_unknown(). */
const char *target_value(const struct target *target, const char *attribute, char *value);
/* Adds settings, choices, read_only. */
void json_add_settings(json_t *json, const struct target *target);
/* json_vgpu_details(), or of a pGPU: name, settings, choices, read_only */
json_t *json_target(const struct target *target);
/* Sets "attribute=value"; complains with its last_error and what would have been right. */
int set_attribute(const struct target *target, const char *assignment);

/* ---- changes (change.c, remove.c) ---- */

/* Of several vGPUs. @done: the UUIDs for which it was done; the others: see remove_vgpu(). */
struct change {
	struct ctl *ctl;
	bool force;
	double timeout_s;
	json_t *done;
};

/*
 * each_vgpu(), but for what must never be done to all vGPUs because a variable in a script was
 * empty. Prints @change->done as JSON, named @key, where that is asked for. Returns an exit status.
 */
int change_each(const struct uuid_options *options, struct change *change, const char *key,
		int (*each)(struct ghyvi_vgpu *vgpu, void *data));

/*
 * Removes it, through mdevctl where that is installed; complains and returns an exit status. One in
 * use is refused; with @change->force, or NULL for one that is not, its VM is first asked to unplug
 * it, and waited for up to @change->timeout_s.
 */
int remove_vgpu(struct ctl *ctl, const struct ghyvi_vgpu *vgpu, const struct change *change);

/* ---- VMs (holder.c) ---- */

/*
 * The process that has a vGPU open. @vm: the VM's name, or NULL; @stuck: why its QEMU can never
 * unplug the vGPU, or NULL.
 */
struct holder {
	long pid; /* 0: not found; other users' are only for root to see */
	char *program;
	char *vm;
	const char *stuck;
};

void holder_find(const struct ghyvi_vgpu *vgpu, struct holder *holder);
void holder_free(struct holder *holder);
#define HOLDER_TEXT_BYTES 160
/* "VM name (pid 12)", "qemu (pid 12)", or that it is not known. @text has HOLDER_TEXT_BYTES. */
const char *holder_text(const struct holder *holder, char *text);

/* ---- mdevctl's form of settings (definition.c) ---- */

/* The settings that can be written, as [{"attribute": "value"}, ...]. */
json_t *json_attributes(const struct target *target);
/* Sets those of such a list, or of a whole definition, in the file @path or, with "-", standard input. Complains. */
int set_from_file(const struct target *target, const char *path);

/* ---- other programs (program.c) ---- */

/* mdevctl's name if it shall be used, else NULL. */
const char *mdevctl_program(const struct ctl *ctl);
/* Whether @name (no slash) is executable in $PATH or in /usr/sbin, /sbin. */
bool program_exists(const char *name);
/* Runs it, without its standard output; returns its exit status, or 127. */
int program_run(const char *const *argv);
/* What it prints, or NULL if it fails; the caller frees it. */
char *program_output(const char *const *argv);
/* A file whole, or NULL; the caller frees it. */
char *read_whole(const char *path);

/* ---- files that are written (output.c) ---- */

/* A file in memory with that text, for a child, as /proc/self/fd/N; -1: none. Closing it frees it. */
int text_file(const char *text);
/* Writes @file by renaming what @put (0 or a negative errno) wrote. Returns 0 or a negative errno. */
int replace_file(const char *file, int (*put)(void *data, FILE *out), void *data);

/* ---- counters over time, and waiting (rounds.c, stat.c) ---- */

/* All vGPUs' counters, read once. */
struct round {
	struct ghyvi_vgpus *vgpus;
	struct ghyvi_stats **stats; /* NULL: gone meanwhile */
	size_t count;
};

int round_read(struct ctl *ctl, struct round *round);
void round_free(struct round *round);
/* The counters of that vGPU in @round, or NULL. */
const struct ghyvi_stats *round_find(const struct round *round, const char *uuid);
/* Per second; 0 without an earlier round. */
double rate(const struct ghyvi_stats *now, const struct ghyvi_stats *before, const char *name);
/* Ends early if a signal came. */
void sleep_seconds(double seconds);

double seconds_now(void);

enum news {
	NEWS_TIME_IS_UP,
	NEWS_VGPUS, /* came or went */
	NEWS_INPUT, /* or its end */
	NEWS_SIGNAL,
};

/* Waits until seconds_now() is @until. @watch may be NULL; @input is a file that is waited for, too, or -1. */
enum news wait_for_news(struct ghyvi_watch *watch, int input, double until);

/* From now on SIGINT and SIGTERM only set stop_asked, and end what program_run() runs. */
void stop_on_signals(void);
extern volatile sig_atomic_t stop_asked;
extern volatile sig_atomic_t stop_child; /* its process id; 0: none */

/* Appends a round as `stat --seconds --json` prints it. Complains and returns an exit status. */
int json_round(const struct uuid_options *uuids, const struct round *before, double interval_s,
	       json_t *rounds);

#endif
