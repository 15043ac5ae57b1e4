// SPDX-License-Identifier: GPL-2.0-only
/*
 * migrate-check: whether a guest could move from one vGPU to another, by the output of
 * `show --json` for both. For a vGPU of another host, a file has the output of that command there.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"

/* The backend whose jobs can be saved. */
#define MOVING_BACKEND "ghyvi_softgpu-"

/* Settings whose values another version of ghyvi may lack. */
static const char *const chosen[] = { "policy/mode", "audit/mode" };

/*
 * Settings of which the stricter value applies after the move (limit_settings() in
 * kernel/vgpu/state.c): single ones, and all of a group.
 */
static const char *const limits[] = { "audit/", "containment/", "sched/", "policy/idle_pins",
				      "policy/tables_max" };

struct check {
	const json_t *source, *target;
	json_t *reasons; /* why it is not possible */
	json_t *notes; /* settings that the move would change */
};

static const char *text_of(const json_t *vgpu, const char *key)
{
	return json_string_value(json_object_get(vgpu, key)) ?: "?";
}

static const char *setting_of(const json_t *vgpu, const char *name)
{
	return json_string_value(json_object_get(json_object_get(vgpu, "settings"), name));
}

static void __attribute__((format(printf, 2, 3))) add_text(json_t *texts, const char *format, ...)
{
	char *text, *shown;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	shown = clean(text);
	json_array_append_new(texts, json_string(shown));
	free(shown);
	free(text);
}

static void check_backend(struct check *check, const json_t *vgpu, const char *side)
{
	const char *type = text_of(vgpu, "type");

	if (strncmp(type, MOVING_BACKEND, strlen(MOVING_BACKEND)))
		add_text(check->reasons,
			 "the %s is of type %s; only vGPUs of the software pGPU can be migrated",
			 side, type);
}

static bool offers(const json_t *vgpu, const char *setting, const char *value)
{
	const json_t *list = json_object_get(json_object_get(vgpu, "choices"), setting);
	size_t i;

	for (i = 0; i < json_array_size(list); i++)
		if (!strcmp(json_string_value(json_array_get(list, i)) ?: "", value))
			return true;
	return false;
}

static void check_settings_known(struct check *check)
{
	size_t i;

	for (i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++) {
		const char *value = setting_of(check->source, chosen[i]);

		if (value && !offers(check->target, chosen[i], value))
			add_text(check->reasons,
				 "the source has %s \"%s\", which the target does not offer",
				 chosen[i], value);
	}
}

/*
 * What the guest's driver has found when it was loaded must be the same. Versions of ghyvi without
 * the setting have its first value.
 */
static void check_same(struct check *check, const char *name, const char *first)
{
	const char *from = setting_of(check->source, name) ?: first;
	const char *to = setting_of(check->target, name) ?: first;

	if (strcmp(from, to))
		add_text(check->reasons,
			 "%s is %s at the source, %s at the target; both must have the same choice",
			 name, from, to);
}

static bool is_limit(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (!strncmp(name, limits[i], strlen(limits[i])))
			return true;
	return false;
}

static void note_changes(struct check *check)
{
	const char *name, *from, *to;
	json_t *value;

	json_object_foreach(json_object_get(check->source, "settings"), name, value)
	{
		from = json_string_value(value);
		to = setting_of(check->target, name);
		if (!from || !to || !strcmp(from, to))
			continue;
		if (is_limit(name))
			add_text(check->notes,
				 "%s is %s at the source, %s at the target; the stricter one will "
				 "apply",
				 name, from, to);
		else if (!strcmp(name, "policy/mode") && !strcmp(from, "nested"))
			add_text(check->notes, "policy/mode will be %s, that of the target, not %s",
				 to, from);
	}
}

static void check_all(struct check *check)
{
	const char *from = text_of(check->source, "name"), *to = text_of(check->target, "name");

	check_backend(check, check->source, "source");
	check_backend(check, check->target, "target");
	if (strcmp(from, to))
		add_text(check->reasons,
			 "the source is a %s, the target a %s; both must have the same type", from,
			 to);
	check_settings_known(check);
	check_same(check, "policy/multicall", "off");
	check_same(check, "display/enabled", "0");
	if (!strcmp(text_of(check->source, "uuid"), text_of(check->target, "uuid")) &&
	    !strcmp(text_of(check->source, "path"), text_of(check->target, "path")))
		add_text(check->reasons, "source and target are the same vGPU");
	else if (strcmp(text_of(check->target, "state"), "created"))
		add_text(check->reasons, "the target is in use (state %s)",
			 text_of(check->target, "state"));
	if (!json_array_size(check->reasons))
		note_changes(check);
}

/* The vGPU in the output of `show --json UUID`; a new reference, or NULL. */
static json_t *vgpu_of_file(const char *path)
{
	json_t *root = json_of_file(path), *found = NULL;
	json_t *vgpus = json_object_get(root, "vgpus");
	json_t *vgpu = json_array_get(vgpus, 0);

	if (!root)
		return NULL;
	if (json_array_size(vgpus) > 1)
		complain("%s has %zu vGPUs; use the output of ghyvictl show --json UUID", path,
			 json_array_size(vgpus));
	else if (json_is_object(json_object_get(vgpu, "settings")))
		found = json_incref(vgpu);
	else
		complain("%s: not the output of ghyvictl show --json UUID", path);
	json_decref(root);
	return found;
}

/* A UUID is a vGPU of this host, even if a file has that name. */
static bool is_file(const char *word)
{
	return !strcmp(word, "-") || strpbrk(word, "/.") ||
	       (!ghyvi_is_uuid(word) && !access(word, F_OK));
}

static int need_side(struct ctl *ctl, const char *word, json_t **json)
{
	struct ghyvi_vgpu *vgpu;
	int status = STATUS_OK;

	if (is_file(word)) {
		*json = vgpu_of_file(word);
		return *json ? STATUS_OK : STATUS_USAGE;
	}
	vgpu = need_vgpu(ctl, word, &status);
	if (!vgpu)
		return status;
	*json = json_vgpu_details(vgpu);
	ghyvi_vgpu_free(vgpu);
	return STATUS_OK;
}

static void print_texts(const char *prefix, const json_t *texts)
{
	size_t i;

	for (i = 0; i < json_array_size(texts); i++)
		printf("%s%s\n", prefix, json_string_value(json_array_get(texts, i)));
}

static int print_result(const struct ctl *ctl, struct check *check)
{
	bool possible = !json_array_size(check->reasons);
	int status;

	if (ctl->json) {
		status = json_print(json_pack("{s:s, s:s, s:b, s:O, s:O}", "source",
					      text_of(check->source, "uuid"), "target",
					      text_of(check->target, "uuid"), "possible", possible,
					      "reasons", check->reasons, "notes", check->notes),
				    JSON_INDENT(2));
		return status ?: possible ? STATUS_OK : STATUS_ERROR;
	}
	if (possible) {
		char *source = clean(text_of(check->source, "uuid"));
		char *target = clean(text_of(check->target, "uuid"));

		printf("%s can be migrated to %s\n", source, target);
		free(source);
		free(target);
	}
	print_texts("", check->reasons);
	print_texts("note: ", check->notes);
	return possible ? STATUS_OK : STATUS_ERROR;
}

int cmd_migrate_check(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_uuids,
		.args_doc = "SOURCE TARGET",
		.doc = "Say whether the guest of one vGPU could be migrated to another one, if "
		       "not, why, and which settings would change. Each is a UUID, or, for a vGPU "
		       "of another host, a file (-: standard input) with the output of ghyvictl "
		       "show --json UUID there. Exit status 1: not possible.",
		.children = ctl_children,
	};
	json_t *source = NULL, *target = NULL;
	struct uuid_options options = { .ctl = ctl };
	struct check check;
	int status;

	status = parse_options(&argp, argc, argv, &options);
	if (status)
		return status;
	if (options.count != 2) {
		complain("migrate-check takes two vGPUs: the source and the target");
		return STATUS_USAGE;
	}
	status = need_side(ctl, options.uuids[0], &source);
	if (!status)
		status = need_side(ctl, options.uuids[1], &target);
	if (!status) {
		check = (struct check){ source, target, json_array(), json_array() };
		check_all(&check);
		status = print_result(ctl, &check);
		json_decref(check.reasons);
		json_decref(check.notes);
	}
	json_decref(source);
	json_decref(target);
	return status;
}
