/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVICTL_WANTED_H
#define GHYVICTL_WANTED_H

#include "ctl.h"

#define WANTED_SETTINGS_MAX 32

/* The arguments of create and define. */
struct wanted {
	struct ctl *ctl; /* first: parse_options() requires it */
	const char *type; /* for define, alternatively the UUID of an existing vGPU */
	const char *parent; /* NULL: any */
	char uuid[GHYVI_UUID_CHARS + 1]; /* "": any */
	const char *settings[WANTED_SETTINGS_MAX]; /* "attribute=value", in the order given */
	size_t settings_count;
	char *policy; /* the setting of --policy; applied last */
	struct ghyvi_types *types; /* owns the type that wanted_type() returned */
};

#define WANTED_OPTIONS                                                                             \
	{ "parent",                                                                                \
	  'p',                                                                                     \
	  "PARENT",                                                                                \
	  0,                                                                                       \
	  "The pGPU, such as 1000:00:00.0 (default: the first with room)",                         \
	  0 },                                                                                     \
		{ "uuid", 'u', "UUID", 0, "UUID of the vGPU (default: random)", 0 },               \
		{ "policy", 'm', "POLICY", 0, "Short for --set policy/mode=POLICY", 0 },           \
	{                                                                                          \
		"set", 's', "ATTRIBUTE=VALUE", 0, "Initial setting; can be given several times", 0 \
	}

error_t parse_wanted(int key, char *argument, struct argp_state *state);

/*
 * Generates a random UUID if none was given. Prints a message on failure. Returns an exit status.
 */
int wanted_uuid(struct wanted *wanted);

/*
 * Finds the type, preferably on a parent that has room for it. *chosen is valid until
 * wanted_free(). Prints a message if there is no such type. Returns an exit status.
 */
int wanted_type(struct wanted *wanted, const struct ghyvi_type **chosen);
void wanted_free(struct wanted *wanted);

#endif
