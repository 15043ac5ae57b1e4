// SPDX-License-Identifier: GPL-2.0-only
/* The arguments of create and define: a type, a parent and settings. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "wanted.h"

#define NAMES_MAX 64

static void add_setting(struct wanted *wanted, const char *text, struct argp_state *state)
{
	if (wanted->settings_count == WANTED_SETTINGS_MAX)
		argp_error(state, "more than %d settings", WANTED_SETTINGS_MAX);
	if (!strchr(text, '=') || *text == '=')
		argp_error(state, "\"%s\" is not ATTRIBUTE=VALUE, such as policy/mode=segmented",
			   text);
	wanted->settings[wanted->settings_count++] = text;
}

error_t parse_wanted(int key, char *argument, struct argp_state *state)
{
	struct wanted *wanted = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = wanted->ctl;
		return 0;
	case 'p':
		wanted->parent = argument;
		return 0;
	case 'u':
		if (!ghyvi_is_uuid(argument))
			argp_error(state, "\"%s\" is not a UUID", argument);
		snprintf(wanted->uuid, sizeof(wanted->uuid), "%s", argument);
		return 0;
	case 'm':
		free(wanted->policy);
		if (asprintf(&wanted->policy, "policy/mode=%s", argument) < 0)
			abort();
		return 0;
	case 's':
		add_setting(wanted, argument, state);
		return 0;
	case ARGP_KEY_ARG:
		if (wanted->type)
			argp_error(state, "more than one TYPE: \"%s\"", argument);
		wanted->type = argument;
		return 0;
	case ARGP_KEY_END:
		if (!wanted->type)
			argp_error(state, "TYPE missing; ghyvictl types lists them");
		if (wanted->policy)
			add_setting(wanted, wanted->policy, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int wanted_uuid(struct wanted *wanted)
{
	if (!*wanted->uuid && ghyvi_new_uuid(wanted->uuid)) {
		complain("cannot generate a random UUID; give one with --uuid");
		return STATUS_ERROR;
	}
	return STATUS_OK;
}

void wanted_free(struct wanted *wanted)
{
	free(wanted->policy);
	ghyvi_types_free(wanted->types);
}

/* Prints a message about an unknown parent or type. */
static int no_such_type(const struct wanted *wanted, const struct ghyvi_types *types)
{
	const char *names[NAMES_MAX], *parents[NAMES_MAX], *meant;
	bool parent_seen = !wanted->parent;
	size_t i, count = ghyvi_types_count(types);
	char *word;

	if (!count) {
		complain("no parent offers vGPUs; ghyvictl doctor says what is missing");
		return STATUS_NOT_FOUND;
	}
	if (count > NAMES_MAX)
		count = NAMES_MAX;
	for (i = 0; i < count; i++) {
		const struct ghyvi_type *type = ghyvi_types_at(types, i);

		parents[i] = ghyvi_type_parent(type);
		names[i] = ghyvi_type_id(type);
		if (strchr(wanted->type, '-') == NULL)
			names[i] = strrchr(ghyvi_type_name(type), '-') + 1;
		else if (!strncmp(wanted->type, "ghyvi-", 6))
			names[i] = ghyvi_type_name(type);
		if (wanted->parent && !strcmp(parents[i], wanted->parent))
			parent_seen = true;
	}
	word = clean(parent_seen ? wanted->type : wanted->parent);
	meant = nearest(word, parent_seen ? names : parents, count);
	if (meant)
		complain("there is no %s %s; did you mean %s?", parent_seen ? "type" : "parent",
			 word, meant);
	else
		complain("there is no %s %s; ghyvictl types lists them",
			 parent_seen ? "type" : "parent", word);
	free(word);
	return STATUS_NOT_FOUND;
}

int wanted_type(struct wanted *wanted, const struct ghyvi_type **chosen)
{
	const struct ghyvi_type *full = NULL;
	size_t i;
	int ret;

	ret = ghyvi_types_read(wanted->ctl->ghyvi, &wanted->types);
	if (ret) {
		complain("cannot list types: %s", strerror(-ret));
		return STATUS_ERROR;
	}
	for (i = 0; i < ghyvi_types_count(wanted->types); i++) {
		const struct ghyvi_type *type = ghyvi_types_at(wanted->types, i);

		if (!ghyvi_type_is(type, wanted->type))
			continue;
		if (wanted->parent && strcmp(wanted->parent, ghyvi_type_parent(type)))
			continue;
		if (ghyvi_type_available(type)) {
			*chosen = type;
			return STATUS_OK;
		}
		full = full ?: type;
	}
	*chosen = full;
	return full ? STATUS_OK : no_such_type(wanted, wanted->types);
}
