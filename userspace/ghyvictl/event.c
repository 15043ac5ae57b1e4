// SPDX-License-Identifier: GPL-2.0-only
/*
 * event: called by a udev rule for the kernel module's uevents (failsafe, budget, reset). Their
 * properties are in the environment. Writes an entry with fields to the journal, by its native
 * protocol, or a line to syslog.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>
#include "ctl.h"

#define JOURNAL "/run/systemd/journal/socket"

static const struct {
	const char *event, *message;
	int priority;
	bool with_reason; /* the last error of the vGPU is about this event */
} kinds[] = {
	{ "failsafe", "entered failsafe state", LOG_ERR, true },
	{ "budget", "had a workload stopped that used up its GPU time", LOG_WARNING, true },
	{ "reset", "was reset", LOG_INFO, false },
};

/* A field of the protocol is one line; control characters become "?". */
static void put_field(FILE *out, const char *name, const char *value)
{
	char *shown = value && *value ? clean(value) : NULL;

	if (shown)
		fprintf(out, "%s=%s\n", name, shown);
	free(shown);
}

static bool send_to_journal(const char *text, size_t bytes)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *other = getenv("GHYVI_JOURNAL");
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool sent;

	if (fd < 0)
		return false;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", other ?: JOURNAL);
	sent = sendto(fd, text, bytes, MSG_NOSIGNAL, (struct sockaddr *)&address,
		      sizeof(address)) == (ssize_t)bytes;
	close(fd);
	return sent;
}

static int log_event(struct ctl *ctl, const char *uuid, size_t kind)
{
	char *reason = clean(kinds[kind].with_reason ? getenv("GHYVI_REASON") ?: "" : "");
	const char *message = kinds[kind].message;
	char vm[HOLDER_TEXT_BYTES] = "", pid[24] = "", *text = NULL;
	struct ghyvi_vgpu *vgpu = NULL;
	struct holder holder = {};
	size_t bytes;
	FILE *out;

	if (!ghyvi_vgpu_find(ctl->ghyvi, uuid, &vgpu))
		holder_find(vgpu, &holder);
	if (holder.pid) {
		holder_text(&holder, vm);
		snprintf(pid, sizeof(pid), "%ld", holder.pid);
	}
	out = open_memstream(&text, &bytes);
	if (!out)
		abort();
	fprintf(out, "MESSAGE=vGPU %s%s%s %s%s%s\nPRIORITY=%d\nSYSLOG_IDENTIFIER=ghyvi\n", uuid,
		*vm ? " of " : "", vm, message, *reason ? ": " : "", reason, kinds[kind].priority);
	put_field(out, "GHYVI_EVENT", kinds[kind].event);
	put_field(out, "GHYVI_UUID", uuid);
	put_field(out, "GHYVI_COUNT", getenv("GHYVI_COUNT"));
	put_field(out, "GHYVI_STATE", getenv("GHYVI_STATE"));
	put_field(out, "GHYVI_REASON", reason);
	put_field(out, "GHYVI_VM", holder.vm);
	put_field(out, "GHYVI_PID", pid);
	put_field(out, "GHYVI_TYPE", vgpu ? ghyvi_vgpu_type_name(vgpu) : NULL);
	put_field(out, "GHYVI_PARENT", vgpu ? ghyvi_vgpu_parent(vgpu) : NULL);
	fclose(out);
	if (!send_to_journal(text, bytes)) {
		openlog("ghyvi", 0, LOG_DAEMON);
		syslog(kinds[kind].priority, "vGPU %s%s%s %s%s%s", uuid, *vm ? " of " : "", vm,
		       message, *reason ? ": " : "", reason);
	}
	free(text);
	free(reason);
	holder_free(&holder);
	ghyvi_vgpu_free(vgpu);
	return STATUS_OK;
}

int cmd_event(struct ctl *ctl, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_uuids,
		.args_doc = "UUID",
		.doc = "Write the uevent in the environment ($GHYVI_EVENT, $GHYVI_COUNT, "
		       "$GHYVI_STATE, $GHYVI_REASON) to the journal. A udev rule calls this.",
		.children = text_children,
	};
	const char *event = getenv("GHYVI_EVENT") ?: "";
	struct uuid_options options = { .ctl = ctl };
	int status;
	size_t i;

	status = parse_options(&argp, argc, argv, &options);
	if (status)
		return status;
	if (options.count != 1 || !ghyvi_is_uuid(options.uuids[0])) {
		complain("event takes one UUID; a udev rule calls it");
		return STATUS_USAGE;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].event, event))
			return log_event(ctl, options.uuids[0], i);
	complain("$GHYVI_EVENT is not one of: failsafe budget reset");
	return STATUS_USAGE;
}
