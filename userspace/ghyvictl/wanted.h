/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVICTL_WANTED_H
#define GHYVICTL_WANTED_H

#include "ctl.h"

#define WANTED_SETTINGS_MAX 32

/* What create and define are asked for. */
struct wanted {
	struct ctl *ctl; /* first: for parse_options() */
	const char *type; /* for define also the UUID of a vGPU that is there */
	const char *parent; /* NULL: any */
	char uuid[GHYVI_UUID_CHARS + 1]; /* "": any */
	const char *settings[WANTED_SETTINGS_MAX]; /* "attribute=value", in the order given */
	size_t settings_count;
	char *policy; /* the setting of --policy, last of them */
	struct ghyvi_types *types; /* where wanted_type() found it */
};

#define WANTED_OPTIONS                                                                             \
	{ "parent", 'p', "PARENT", 0,                                                              \
	  "The pGPU, such as 1000:00:00.0 (default: the first with room)", 0 },                    \
	{ "uuid", 'u', "UUID", 0, "Its name (default: random)", 0 },                               \
	{ "policy", 'm', "POLICY", 0, "Short for --set policy/mode=POLICY", 0 },                   \
	{ "set", 's', "ATTRIBUTE=VALUE", 0, "Set this at once; can be given several times", 0 }

error_t parse_wanted(int key, char *argument, struct argp_state *state);

/* A random UUID where none was asked for. Complains and returns an exit status. */
int wanted_uuid(struct wanted *wanted);

/*
 * Finds the type that is meant, one with room if there is one; it is there until wanted_free(). Complains and returns an
 * exit status if there is no such type.
 */
int wanted_type(struct wanted *wanted, const struct ghyvi_type **chosen);
void wanted_free(struct wanted *wanted);

#endif
