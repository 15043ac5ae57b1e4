// SPDX-License-Identifier: GPL-2.0-only
/* Helpers of the commands: lookup of vGPUs by name, and their description as JSON. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

#define NAMES_MAX 64
#define BEGINNING_MIN 4 /* characters of a UUID */

static void complain_unknown(struct ctl *ctl, const char *word, bool is_uuid)
{
	const char *uuids[NAMES_MAX], *meant = NULL;
	struct ghyvi_vgpus *vgpus = NULL;
	char *shown = clean(word);
	size_t i, count = 0;

	if (!ghyvi_vgpus_read(ctl->ghyvi, &vgpus)) {
		for (i = 0; i < ghyvi_vgpus_count(vgpus) && count < NAMES_MAX; i++)
			uuids[count++] = ghyvi_vgpu_uuid(ghyvi_vgpus_at(vgpus, i));
		meant = nearest(word, uuids, count);
	}
	if (meant)
		complain("there is no vGPU %s; did you mean %s?", shown, meant);
	else if (!is_uuid)
		complain("\"%s\" is not a UUID; ghyvictl list shows them", shown);
	else if (count)
		complain("there is no vGPU %s; ghyvictl list shows all", shown);
	else
		complain("there is no vGPU %s, nor any other; ghyvictl create makes one", shown);
	ghyvi_vgpus_free(vgpus);
	free(shown);
}

/* True for the first characters of a UUID, enough of them to be no accident. */
static bool is_beginning(const char *word)
{
	size_t length = strlen(word);

	return length >= BEGINNING_MIN && length < GHYVI_UUID_CHARS &&
	       word[strspn(word, "0123456789abcdefABCDEF-")] == '\0';
}

/* Returns the number of vGPUs whose UUID begins with @word, and the UUID of the first. */
static size_t count_beginnings(struct ctl *ctl, const char *word, char *uuid)
{
	struct ghyvi_vgpus *vgpus;
	size_t i, count = 0;

	if (!is_beginning(word) || ghyvi_vgpus_read(ctl->ghyvi, &vgpus))
		return 0;
	for (i = 0; i < ghyvi_vgpus_count(vgpus); i++) {
		const char *each = ghyvi_vgpu_uuid(ghyvi_vgpus_at(vgpus, i));

		if (!strncasecmp(each, word, strlen(word)) && !count++)
			snprintf(uuid, GHYVI_UUID_CHARS + 1, "%s", each);
	}
	ghyvi_vgpus_free(vgpus);
	return count;
}

char *full_uuid(struct ctl *ctl, const char *word)
{
	char uuid[GHYVI_UUID_CHARS + 1], *copy, *at;

	copy = strdup(count_beginnings(ctl, word, uuid) == 1 ? uuid : word);
	if (!copy)
		abort();
	for (at = copy; ghyvi_is_uuid(word) && *at; at++)
		*at = tolower((unsigned char)*at);
	return copy;
}

struct ghyvi_vgpu *need_vgpu(struct ctl *ctl, const char *word, int *status)
{
	char found[GHYVI_UUID_CHARS + 1];
	size_t count = count_beginnings(ctl, word, found);
	const char *uuid = count == 1 ? found : word;
	struct ghyvi_vgpu *vgpu;
	int ret;

	if (count > 1) {
		complain("%zu vGPUs have a UUID that begins with %s: give more of it", count, word);
		*status = STATUS_USAGE;
		return NULL;
	}
	ret = ghyvi_vgpu_find(ctl->ghyvi, uuid, &vgpu);
	if (!ret)
		return vgpu;
	*status = ret == -EINVAL ? STATUS_USAGE : status_of(ret);
	if (ret == -EINVAL || ret == -ENODEV)
		complain_unknown(ctl, uuid, ret == -ENODEV);
	else
		complain("%s: %s", uuid, strerror(-ret));
	return NULL;
}

int need_target(struct ctl *ctl, const char *word, struct target *target)
{
	struct ghyvi_parent *parent;
	struct ghyvi_vgpu *vgpu;
	int status = STATUS_OK;

	*target = (struct target){};
	if (!ghyvi_is_uuid(word) && !ghyvi_parent_find(ctl->ghyvi, word, &parent)) {
		target->parent = parent;
		return STATUS_OK;
	}
	if (is_pgpu_name(word)) {
		complain("there is no pGPU %s; ghyvictl types lists the parents", word);
		return STATUS_NOT_FOUND;
	}
	vgpu = need_vgpu(ctl, word, &status);
	target->vgpu = vgpu;
	return status;
}

void target_free(struct target *target)
{
	ghyvi_vgpu_free((struct ghyvi_vgpu *)target->vgpu);
	ghyvi_parent_free((struct ghyvi_parent *)target->parent);
}

int each_vgpu(const struct uuid_options *options, int (*each)(struct ghyvi_vgpu *vgpu, void *data),
	      void *data)
{
	struct ghyvi_vgpus *vgpus;
	int ret, i, status = STATUS_OK;
	size_t at;

	for (i = 0; i < options->count; i++) {
		int found = STATUS_OK;
		struct ghyvi_vgpu *vgpu = need_vgpu(options->ctl, options->uuids[i], &found);

		if (vgpu)
			found = each(vgpu, data);
		ghyvi_vgpu_free(vgpu);
		status = status ?: found;
	}
	if (options->count)
		return status;
	ret = ghyvi_vgpus_read(options->ctl->ghyvi, &vgpus);
	if (ret) {
		complain("cannot list vGPUs: %s", strerror(-ret));
		return STATUS_ERROR;
	}
	for (at = 0; at < ghyvi_vgpus_count(vgpus); at++) {
		ret = each(ghyvi_vgpus_at(vgpus, at), data);
		if (ret != STATUS_NOT_FOUND)
			status = status ?: ret;
	}
	ghyvi_vgpus_free(vgpus);
	return status;
}

int check_present(const struct ghyvi_vgpu *vgpu)
{
	if (ghyvi_vgpu_is_open(vgpu) != -ENODEV)
		return STATUS_OK;
	complain("%s: %s", ghyvi_vgpu_uuid(vgpu), reason_of(-ENODEV));
	return STATUS_NOT_FOUND;
}

const char *value_or_unknown(const struct ghyvi_vgpu *vgpu, const char *attribute, char *value)
{
	const struct target target = { .vgpu = vgpu };

	return target_value(&target, attribute, value);
}

const char *policy_or_unknown(const struct ghyvi_vgpu *vgpu, char *value)
{
	if (ghyvi_vgpu_policy(vgpu, value, GHYVI_VALUE_BYTES))
		strcpy(value, "?");
	return value;
}

json_t *json_vgpu(const struct ghyvi_vgpu *vgpu)
{
	char state[GHYVI_VALUE_BYTES], policy[GHYVI_VALUE_BYTES];

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "uuid", json_text(ghyvi_vgpu_uuid(vgpu)),
			 "type", json_text(ghyvi_vgpu_type_id(vgpu)), "name",
			 json_text(ghyvi_vgpu_type_name(vgpu)), "parent",
			 json_text(ghyvi_vgpu_parent(vgpu)), "state",
			 json_text(value_or_unknown(vgpu, "state", state)), "policy",
			 json_text(policy_or_unknown(vgpu, policy)));
}

static time_t read_time(const struct ghyvi_vgpu *vgpu, const char *attribute)
{
	char text[GHYVI_VALUE_BYTES];

	return ghyvi_vgpu_read(vgpu, attribute, text, sizeof(text)) ? 0 : strtoll(text, NULL, 10);
}

time_t last_error_time(const struct ghyvi_vgpu *vgpu)
{
	return read_time(vgpu, "last_error_time");
}

time_t open_time(const struct ghyvi_vgpu *vgpu)
{
	return read_time(vgpu, "open_time");
}

const char *time_text(time_t time, char separator, char *text)
{
	const char format[] = { '%', 'F', separator, '%', 'T', '\0' };
	struct tm parts;

	if (!time || !localtime_r(&time, &parts) || !strftime(text, TIME_BYTES, format, &parts))
		*text = '\0';
	return text;
}

json_t *json_vgpu_user(const struct ghyvi_vgpu *vgpu)
{
	json_t *json = json_vgpu(vgpu);
	struct holder holder = {};

	if (ghyvi_vgpu_is_open(vgpu) > 0)
		holder_find(vgpu, &holder);
	json_object_set_new(json, "pid", holder.pid ? json_integer(holder.pid) : json_null());
	json_object_set_new(json, "vm", holder.vm ? json_text(holder.vm) : json_null());
	json_object_set_new(json, "open_time", json_integer(open_time(vgpu)));
	holder_free(&holder);
	return json;
}

json_t *json_vgpu_details(const struct ghyvi_vgpu *vgpu)
{
	const struct target target = { .vgpu = vgpu };
	char value[GHYVI_VALUE_BYTES];
	json_t *json = json_vgpu_user(vgpu);

	json_object_set_new(json, "path", json_text(ghyvi_vgpu_path(vgpu)));
	json_object_set_new(json, "last_error",
			    json_text(value_or_unknown(vgpu, "last_error", value)));
	json_object_set_new(json, "last_error_time", json_integer(last_error_time(vgpu)));
	json_add_settings(json, &target);
	return json;
}
