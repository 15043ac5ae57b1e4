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

/* State that all commands share. */
struct ctl {
	struct ghyvi *ghyvi;
	bool json;
	bool no_mdevctl;
	/* --output, --noheadings, --raw (table.c) */
	const char *columns;
	bool noheadings;
	bool raw;
};

/* Commands return an exit status. argv[0] is "ghyvictl NAME". */
int cmd_event(struct ctl *ctl, int argc, char **argv);
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
int cmd_screenshot(struct ctl *ctl, int argc, char **argv);
int cmd_export(struct ctl *ctl, int argc, char **argv);
int cmd_report(struct ctl *ctl, int argc, char **argv);
int cmd_doctor(struct ctl *ctl, int argc, char **argv);
int cmd_migrate_check(struct ctl *ctl, int argc, char **argv);
int cmd_silicon_report(struct ctl *ctl, int argc, char **argv);

/* ---- options (options.c) ---- */

/* --json and --no-mdevctl: the child of every command's argp; its input is a struct ctl. */
extern const struct argp_child ctl_children[];
/* The same, with --output, --noheadings and --raw. */
extern const struct argp_child table_children[];
/* For commands without JSON output: --json is hidden in --help, and the command rejects it. */
extern const struct argp_child text_children[];

/*
 * Parses the options of a command, then opens sysfs. The first member of *@input must be the
 * struct ctl *. Returns an exit status. On wrong usage argp exits the program.
 */
int parse_options(const struct argp *argp, int argc, char **argv, void *input);

/* True if one of --output, --noheadings, --raw was given. */
bool wants_table(const struct ctl *ctl);

/* The parser input of commands whose only arguments are UUIDs. */
struct uuid_options {
	struct ctl *ctl;
	char **uuids;
	int count;
};

error_t parse_uuids(int key, char *argument, struct argp_state *state);
/* Parses a positive number of seconds; exits the program with a usage message on error. */
double parse_seconds(const char *text, struct argp_state *state);
long parse_count(const char *text, struct argp_state *state);

/* ---- tables (table.c) ---- */

#define TABLE_COLUMNS_MAX 32

struct table_column {
	const char *name;
	bool right; /* a number */
};

struct table;

/*
 * Converts "name,name" to indexes in @columns, which ends with a NULL name; case does not matter.
 * @chosen has TABLE_COLUMNS_MAX. Prints a message on failure. Returns an exit status.
 */
int choose_columns(const struct table_column *columns, const char *text, size_t *chosen,
		   size_t *count);
/* @defaults: the columns if --output is not given. Returns an exit status. */
int table_new(struct table **table, const struct ctl *ctl, const struct table_column *columns,
	      const char *defaults);
/* @values: of all columns, in the order of @columns; NULL and "" are shown as "-" */
void table_row(struct table *table, const char *const *values);
/* Prints and frees the table. */
void table_print(struct table *table);

/* ---- messages (messages.c) ---- */

/* Prints "ghyvictl: ..." to standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Converts @error, a negative errno, to an exit status. */
int status_of(int error);
/* Like strerror(), with a remedy where one is known. */
const char *reason_of(int error);
/*
 * Returns a copy with "?" for each byte that is not printable ASCII, so that @text is safe for
 * terminals and JSON. The caller frees it.
 */
char *clean(const char *text);
/* The candidate that is most similar to @word, or NULL if none is similar. */
const char *nearest(const char *word, const char *const *candidates, size_t count);

json_t *json_text(const char *text);
/* Prints and frees @json. Returns an exit status. */
int json_print(json_t *json, size_t flags);
/*
 * Returns an exit status: STATUS_ERROR if output was lost. main() prints the message, so a command
 * that repeats its output only ends.
 */
int flush_output(void);

/* ---- vGPUs (vgpus.c) ---- */

/*
 * Finds a vGPU by its UUID, or by the beginning of its UUID, of at least 4 characters. If there is
 * none, prints a message, sets *status and returns NULL.
 */
struct ghyvi_vgpu *need_vgpu(struct ctl *ctl, const char *word, int *status);
/*
 * The UUID in lower case, if @word is a UUID or the beginning of that of one vGPU, else @word. The
 * caller frees it.
 */
char *full_uuid(struct ctl *ctl, const char *word);

/*
 * Calls @each for the vGPUs in @options, or for all vGPUs if @options lists none. Continues after a
 * failure. Returns the first exit status other than 0. Without a list, a vGPU that is removed in
 * the meantime is not a failure.
 */
int each_vgpu(const struct uuid_options *options, int (*each)(struct ghyvi_vgpu *vgpu, void *data),
	      void *data);

/*
 * For what was read of a vGPU: if the vGPU has been removed meanwhile, prints a message. Returns an
 * exit status.
 */
int check_present(const struct ghyvi_vgpu *vgpu);
/*
 * Prints why @path, a debugfs file of the vGPU, could not be read, by errno. Returns an exit
 * status.
 */
int complain_debugfs(const struct ghyvi_vgpu *vgpu, const char *path);

/* uuid, type, name, parent, state, policy */
json_t *json_vgpu(const struct ghyvi_vgpu *vgpu);
/* The time at which a VM opened the vGPU, since the epoch; 0: none, or an old module. */
time_t open_time(const struct ghyvi_vgpu *vgpu);
/* json_vgpu(), and pid, vm, open_time */
json_t *json_vgpu_user(const struct ghyvi_vgpu *vgpu);
#define TIME_BYTES 32
/*
 * "2026-11-23T02:19:48", if @separator is 'T', or "" for 0 and for a year that does not fit.
 * @text has TIME_BYTES.
 */
const char *time_text(time_t time, char separator, char *text);
/* The time of last_error, since the epoch; 0: no error yet, or the module has no such attribute. */
time_t last_error_time(const struct ghyvi_vgpu *vgpu);
/* json_vgpu_user(), and path, last_error, last_error_time, settings, choices, read_only */
json_t *json_vgpu_details(const struct ghyvi_vgpu *vgpu);
/* Both return "?", also in @value, if it cannot be read. @value has GHYVI_VALUE_BYTES. */
const char *value_or_unknown(const struct ghyvi_vgpu *vgpu, const char *attribute, char *value);
const char *policy_or_unknown(const struct ghyvi_vgpu *vgpu, char *value);

/* ---- settings (settings.c) ---- */

/* The object whose settings are accessed: a vGPU or a pGPU; the other pointer is NULL. */
struct target {
	const struct ghyvi_vgpu *vgpu;
	const struct ghyvi_parent *parent;
};

/*
 * Finds the object named @word, a UUID or the name of a pGPU. Prints a message on failure. Returns
 * an exit status. Free @target with target_free().
 */
int need_target(struct ctl *ctl, const char *word, struct target *target);
void target_free(struct target *target);
/* Like ghyvi_vgpu_each_attribute(). */
int each_setting(const struct target *target,
		 int (*each)(void *data, const char *attribute, bool writable), void *data);
/* Like ghyvi_vgpu_read(). @value has GHYVI_VALUE_BYTES, here and below. */
int target_read(const struct target *target, const char *attribute, char *value);
/* Like value_or_unknown(). */
const char *target_value(const struct target *target, const char *attribute, char *value);
/* The choice that is in brackets in @value, which it cuts, or else all of @value. */
const char *active_value(char *value);
/* Adds the keys settings, choices and read_only. */
void json_add_settings(json_t *json, const struct target *target);
/* json_vgpu_details(); for a pGPU: name, settings, choices, read_only */
json_t *json_target(const struct target *target);
/* The UUID, or the name of the pGPU. */
const char *target_name(const struct target *target);

/*
 * Lists of settings are arrays of objects, [{"attribute": "value"}, ...], as in mdevctl's
 * definitions. The functions print a message on failure and return an exit status.
 */

/* Appends "attribute=value". */
int append_assignment(json_t *list, const char *assignment);
/* Applies a list in its order, until a setting is rejected. */
int set_settings(const struct target *target, json_t *list);

/* For settings that are stored and applied later. */
enum setting_kind { SETTING_OF_VGPU, SETTING_OF_PGPU };

/* Check the names and values, by the ranges of this version of the module. */
int check_setting(const char *attribute, const char *value, enum setting_kind kind);
int check_settings(json_t *list, enum setting_kind kind);

/* ---- saved settings of pGPUs and of types (store.c) ---- */

/* True for a PCI address, such as "1000:00:00.0". */
bool is_pgpu_name(const char *word);
/* The part of @word that names a type, such as "gen9_4" of "ghyvi-gen9_4", or NULL. */
const char *type_of_word(const char *word);
/* Sets *settings, a new reference, to the saved settings of a pGPU or a type; often empty. */
int saved_settings(const char *name, json_t **settings);
/* Saves settings; an empty value removes the saved one. */
int save_settings(const char *name, json_t *list);

/* ---- definitions in mdevctl (mdevctl.c) ---- */

struct defined {
	char *parent; /* NULL: there is no definition */
	json_t *definition;
};

/* Looks for a definition of @uuid, of any parent. */
void defined_find(const char *mdevctl, const char *uuid, struct defined *defined);
void defined_free(struct defined *defined);
/*
 * Stores a definition; replaces @old, if there is one. If that fails, @old is restored. A slot that
 * the type does not have is refused. Prints a message on failure. Returns an exit status.
 */
int define_with_mdevctl(const char *mdevctl, const char *uuid, const char *parent,
			json_t *definition, const struct defined *old);

/* ---- changes (change.c, remove.c) ---- */

/* A change of several vGPUs. @done: the UUIDs of the changed ones; others: see remove_vgpu(). */
struct change {
	struct ctl *ctl;
	bool force;
	double timeout_s;
	json_t *done;
};

/*
 * Like each_vgpu(), but requires at least one UUID: an empty variable in a script must not change
 * all vGPUs. With --json prints @change->done under the name @key. Returns an exit status.
 */
int change_each(const struct uuid_options *options, struct change *change, const char *key,
		int (*each)(struct ghyvi_vgpu *vgpu, void *data));

/*
 * Removes a vGPU, through mdevctl if it is installed. Fails if a VM uses the vGPU, unless
 * @change->force is set: then requests that the VM unplugs it and waits for @change->timeout_s at
 * most. @change is NULL for a vGPU that is not in use. Prints a message on failure. Returns an exit
 * status.
 */
int remove_vgpu(struct ctl *ctl, const struct ghyvi_vgpu *vgpu, const struct change *change);

/* ---- VMs (holder.c) ---- */

/*
 * The process that has a vGPU open. @vm: the name of the VM, or NULL; @stuck: the reason why this
 * QEMU can never unplug the vGPU, or NULL.
 */
struct holder {
	long pid; /* 0: not found; only root can see processes of other users */
	char *program;
	char *vm;
	const char *stuck;
};

void holder_find(const struct ghyvi_vgpu *vgpu, struct holder *holder);
void holder_free(struct holder *holder);
#define HOLDER_TEXT_BYTES 160
/*
 * "VM name (pid 12)", "qemu (pid 12)", or a text for a process that is not visible. @text has
 * HOLDER_TEXT_BYTES.
 */
const char *holder_text(const struct holder *holder, char *text);

/* ---- settings in the format of mdevctl (definition.c) ---- */

/*
 * The JSON of the file @path, a new reference; "-" is standard input. Prints a message on failure
 * and returns NULL.
 */
json_t *json_of_file(const char *path);
/*
 * The writable settings, as [{"attribute": "value"}, ...], without those that cannot be read. If
 * the object has been removed, prints a message and returns NULL. *status is an exit status.
 */
json_t *json_attributes(const struct target *target, int *status);
/*
 * Appends the settings of such a list, or of a whole definition, in the file @path, as
 * json_of_file() reads it. Prints a message on failure. Returns an exit status.
 */
int append_file(json_t *list, const char *path);

/* ---- other programs (program.c) ---- */

/* The name of mdevctl, or NULL if it is not to be used. */
const char *mdevctl_program(const struct ctl *ctl);
/*
 * Appends /usr/sbin and /sbin to $PATH, where mdevctl and libvirtd are on some systems: su(1) and
 * cron(8) leave them out.
 */
void search_sbin(void);
/* True if @name (without a slash) is executable in $PATH. */
bool program_exists(const char *name);
/*
 * The path of a program that belongs to ghyvictl, in $PATH or relative to this program: in
 * libexec/ghyvi if it is installed, in the source tree or build/ otherwise. NULL: not found. The
 * caller frees it.
 */
char *find_helper(const char *name);
/* Runs a program and discards its standard output. Returns its exit status, or 127. */
int program_run(const char *const *argv);
/* Runs a program and returns its standard output, or NULL if it fails. The caller frees it. */
char *program_output(const char *const *argv);
/* As program_output(), and the program's messages are shown. */
char *program_answer(const char *const *argv);
/* Reads a whole file; NULL on failure. The caller frees it. */
char *read_whole(const char *path);

/* ---- output files (output.c) ---- */

/*
 * Creates a file in memory with the content @text. A child process opens it as /proc/self/fd/N.
 * Returns the file descriptor, or -1. Closing it frees the file.
 */
int text_file(const char *text);
/* reason_of() explains it; no system call that ghyvictl makes fails with this one. */
#define ENOTREGULAR ENOTBLK
/*
 * Replaces @file atomically with the output of @put, which returns 0 or a negative errno. Returns 0
 * or a negative errno: -ENOTREGULAR if @file is a link, a device or another special file.
 */
int replace_file(const char *file, int (*put)(void *data, FILE *out), void *data);

/* ---- frequencies (frequency.c) ---- */

/* Of a pGPU: what it has, and what it is asked for when idle and when not. */
struct frequencies {
	const char *parent; /* the pGPU's name */
	unsigned long act_mhz, min_mhz, max_mhz;
};

/* Calls @each for each pGPU of @types whose frequencies can be read. */
void each_frequency(struct ctl *ctl, const struct ghyvi_types *types,
		    void (*each)(const struct frequencies *frequencies, void *data), void *data);

/* ---- counters over time, and waiting (rounds.c, stat.c) ---- */

/* The counters of all vGPUs at one time. */
struct round {
	struct ghyvi_vgpus *vgpus;
	struct ghyvi_stats **stats; /* NULL: removed in the meantime */
	size_t count;
};

int round_read(struct ctl *ctl, struct round *round);
void round_free(struct round *round);
/* The counters of a vGPU in @round, or NULL. */
const struct ghyvi_stats *round_find(const struct round *round, const char *uuid);
/* The increase per second; 0 if @before is NULL. */
double rate(const struct ghyvi_stats *now, const struct ghyvi_stats *before, const char *name);
/* Returns early when a signal arrives. */
void sleep_seconds(double seconds);

double seconds_now(void);

enum news {
	NEWS_TIME_IS_UP,
	NEWS_VGPUS, /* a vGPU was created or removed */
	NEWS_INPUT, /* input, or end of file */
	NEWS_SIGNAL,
};

/*
 * Waits for an event of @watch or of the file descriptor @input, until seconds_now() reaches
 * @until. @watch may be NULL, @input may be -1.
 */
enum news wait_for_news(struct ghyvi_watch *watch, int input, double until);

/*
 * Installs handlers for SIGINT, SIGTERM and SIGHUP that only set stop_asked and terminate the child
 * of program_run(). SIGHUP stays ignored if it was.
 */
void stop_on_signals(void);
extern volatile sig_atomic_t stop_asked;
extern volatile sig_atomic_t stop_child; /* process id of that child; 0: none */

/*
 * Appends a round in the format of `stat --seconds --json`. Prints messages for vGPUs that cannot
 * be read. Returns an exit status.
 */
int json_round(const struct uuid_options *uuids, const struct round *before, double interval_s,
	       json_t *rounds);

#endif
