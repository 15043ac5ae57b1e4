// SPDX-License-Identifier: GPL-2.0-only
/*
 * migrate-check: whether a guest could move from one vGPU to another, by what `show --json` says
 * about both. A vGPU of another host is a file with the output of that command there.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

/* The backend whose jobs can be saved. */
#define MOVING_BACKEND "ghyvi_softgpu-"

/* Settings whose values a target can lack. */
static const char *const chosen[] = { "policy/mode", "audit/mode" };

struct check {
	const json_t *source, *target;
	json_t *reasons;
};

static const char *text_of(const json_t *vgpu, const char *key)
{
	return json_string_value(json_object_get(vgpu, key)) ?: "?";
}

static const char *setting_of(const json_t *vgpu, const char *name)
{
	return json_string_value(json_object_get(json_object_get(vgpu, "settings"), name));
}

static void __attribute__((format(printf, 2, 3)))
refuse(struct check *check, const char *format, ...)
{
	char *text, *shown;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	shown = clean(text);
	json_array_append_new(check->reasons, json_string(shown));
	free(shown);
	free(text);
}

static void check_backend(struct check *check, const json_t *vgpu, const char *side)
{
	const char *type = text_of(vgpu, "type");

	if (strncmp(type, MOVING_BACKEND, strlen(MOVING_BACKEND)))
		refuse(check,
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
			refuse(check, "the source has %s \"%s\", which the target does not offer",
			       chosen[i], value);
	}
}

static void check_all(struct check *check)
{
	const char *from = text_of(check->source, "name"), *to = text_of(check->target, "name");

	check_backend(check, check->source, "source");
	check_backend(check, check->target, "target");
	if (strcmp(from, to))
		refuse(check, "the source is a %s, the target a %s; both must have the same type",
		       from, to);
	check_settings_known(check);
	if (!strcmp(text_of(check->source, "uuid"), text_of(check->target, "uuid")) &&
	    !strcmp(text_of(check->source, "path"), text_of(check->target, "path")))
		refuse(check, "source and target are the same vGPU");
	else if (strcmp(text_of(check->target, "state"), "created"))
		refuse(check, "the target is in use (state %s)", text_of(check->target, "state"));
}

/* The first vGPU of the output of `show --json`; a new reference, or NULL. */
static json_t *vgpu_of_file(const char *path)
{
	json_t *root = json_load_file(path, 0, NULL);
	json_t *vgpu = json_array_get(json_object_get(root, "vgpus"), 0);

	if (json_is_object(json_object_get(vgpu, "settings")))
		json_incref(vgpu);
	else
		vgpu = NULL;
	json_decref(root);
	return vgpu;
}

static int need_side(struct ctl *ctl, const char *word, json_t **json)
{
	struct ghyvi_vgpu *vgpu;
	int status = STATUS_OK;

	if (strchr(word, '/') || strchr(word, '.')) {
		*json = vgpu_of_file(word);
		if (*json)
			return STATUS_OK;
		complain("%s: not the output of ghyvictl show --json UUID", word);
		return STATUS_NOT_FOUND;
	}
	vgpu = need_vgpu(ctl, word, &status);
	if (!vgpu)
		return status;
	*json = json_vgpu_details(vgpu);
	ghyvi_vgpu_free(vgpu);
	return STATUS_OK;
}

static int print_result(const struct ctl *ctl, struct check *check)
{
	bool possible = !json_array_size(check->reasons);
	int status;
	size_t i;

	if (ctl->json) {
		status = json_print(json_pack("{s:s, s:s, s:b, s:O}", "source",
					      text_of(check->source, "uuid"), "target",
					      text_of(check->target, "uuid"), "possible", possible,
					      "reasons", check->reasons),
				    JSON_INDENT(2));
		return status ?: possible ? STATUS_OK : STATUS_ERROR;
	}
	if (possible)
		printf("%s can be migrated to %s\n", text_of(check->source, "uuid"),
		       text_of(check->target, "uuid"));
	for (i = 0; i < json_array_size(check->reasons); i++)
		printf("%s\n", json_string_value(json_array_get(check->reasons, i)));
	return possible ? STATUS_OK : STATUS_ERROR;
}

int cmd_migrate_check(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_uuids,
		.args_doc = "SOURCE TARGET",
		.doc = "Say whether the guest of one vGPU could be migrated to another one, and "
		       "if not, why. Each is a UUID, or, for a vGPU of another host, a file with "
		       "the output of ghyvictl show --json UUID there. Exit status 1: not "
		       "possible.",
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
		check = (struct check){ source, target, json_array() };
		check_all(&check);
		status = print_result(ctl, &check);
		json_decref(check.reasons);
	}
	json_decref(source);
	json_decref(target);
	return status;
}
