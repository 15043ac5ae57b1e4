// SPDX-License-Identifier: GPL-2.0-only
/* Finds the process that has a vGPU open, and properties of the VM in QEMU's command line. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"

#define COMMAND_LINE_MAX (1 << 20)
#define WORDS_MAX 4096

/* The VFIO files of a vGPU. A process that uses the vGPU has one of them open. */
struct files {
	char group[64];
	char device[NAME_MAX + 32];
};

/* The first entry of @directory that begins with @prefix, or "". */
static void first_entry(const char *directory, const char *prefix, char *name, size_t bytes)
{
	const struct dirent *entry;
	DIR *dir = opendir(directory);

	*name = '\0';
	while (dir && !*name && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			snprintf(name, bytes, "%s", entry->d_name);
	if (dir)
		closedir(dir);
}

static void files_of(const struct ghyvi_vgpu *vgpu, struct files *files)
{
	char path[PATH_MAX], link[PATH_MAX], name[NAME_MAX + 1];
	ssize_t length;

	*files = (struct files){};
	snprintf(path, sizeof(path), "%s/iommu_group", ghyvi_vgpu_path(vgpu));
	length = readlink(path, link, sizeof(link) - 1);
	if (length > 0) {
		link[length] = '\0';
		snprintf(files->group, sizeof(files->group), "/dev/vfio/%.20s", basename(link));
	}
	snprintf(path, sizeof(path), "%s/vfio-dev", ghyvi_vgpu_path(vgpu));
	first_entry(path, "vfio", name, sizeof(name));
	if (*name)
		snprintf(files->device, sizeof(files->device), "/dev/vfio/devices/%s", name);
}

/* Compares the end of the path only: /dev may differ in the mount namespace of a process. */
static bool ends_with(const char *path, const char *file)
{
	size_t length = strlen(path), wanted = strlen(file);

	return wanted && length >= wanted && !strcmp(path + length - wanted, file);
}

static bool has_open(const char *pid, const struct files *files)
{
	char path[PATH_MAX], link[PATH_MAX];
	const struct dirent *entry;
	bool found = false;
	ssize_t length;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, entry->d_name);
		length = readlink(path, link, sizeof(link) - 1);
		if (length <= 0)
			continue;
		link[length] = '\0';
		found = ends_with(link, files->group) || ends_with(link, files->device);
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * The process that the kernel names, if it is the one that has the number here. Only if it has
 * given the vGPU to another one, all are looked at: any user can open a file with such a name.
 */
static long find_process(const struct ghyvi_vgpu *vgpu, const struct files *files)
{
	char opener[GHYVI_VALUE_BYTES];
	const struct dirent *entry;
	long pid = 0;
	DIR *dir;

	if (!ghyvi_vgpu_read(vgpu, "open_pid", opener, sizeof(opener)) && has_open(opener, files))
		return strtol(opener, NULL, 10);
	dir = opendir("/proc/");
	while (dir && !pid && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) && has_open(entry->d_name, files))
			pid = strtol(entry->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return pid;
}

/* ---- QEMU's command line ---- */

/* Splits off the next part of "a,b=c"; ",," stands for a comma within a part. */
static char *next_part(char **rest)
{
	char *part = *rest, *from = part, *to = part;

	if (!part)
		return NULL;
	for (*rest = NULL; *from; from++) {
		if (*from == ',' && from[1] == ',')
			from++;
		else if (*from == ',') {
			*rest = from + 1;
			break;
		}
		*to++ = *from;
	}
	*to = '\0';
	return part;
}

/* libvirt passes options as JSON: '{"driver": "vfio-pci", ...}'. */
static char *json_property(const char *text, const char *key)
{
	json_t *json = json_loads(text, 0, NULL);
	const char *value = json_string_value(json_object_get(json, key));
	char *copy = value ? strdup(value) : NULL;

	json_decref(json);
	return copy;
}

/*
 * The value of @key in the argument of an option, or NULL. @implied: key of a first part without
 * one.
 */
static char *property(const char *text, const char *key, const char *implied)
{
	char *copy, *rest, *part, *value, *found = NULL;
	bool first = true;

	if (*text == '{')
		return json_property(text, key);
	copy = rest = strdup(text);
	while (copy && (part = next_part(&rest))) {
		value = strchr(part, '=');
		if (value)
			*value++ = '\0';
		else if (first)
			value = part;
		if (value && !strcmp(value == part ? implied : part, key)) {
			free(found);
			found = strdup(value);
		}
		first = false;
	}
	free(copy);
	return found;
}

struct command_line {
	const char *at[WORDS_MAX];
	size_t count;
};

static bool is_option(const struct command_line *line, size_t index, const char *name)
{
	const char *word = line->at[index];

	if (word[0] != '-' || index + 1 == line->count)
		return false;
	return !strcmp(word + 1 + (word[1] == '-'), name);
}

/* The value of @key in the last option @name that has it, or NULL. */
static char *last_of(const struct command_line *line, const char *name, const char *key,
		     const char *implied)
{
	char *found = NULL, *value;
	size_t i;

	for (i = 0; i < line->count; i++) {
		if (!is_option(line, i, name))
			continue;
		value = property(line->at[i + 1], key, implied);
		if (value) {
			free(found);
			found = value;
		}
	}
	return found;
}

/* The argument of the -device whose @key ends with @value, ignoring case, or NULL. */
static const char *device_with(const struct command_line *line, const char *key, const char *value)
{
	size_t i, length, wanted = strlen(value);
	char *found;
	bool same;

	for (i = 0; i < line->count; i++) {
		if (!is_option(line, i, "device"))
			continue;
		found = property(line->at[i + 1], key, "driver");
		length = found ? strlen(found) : 0;
		same = length >= wanted && !strcasecmp(found + length - wanted, value);
		free(found);
		if (same)
			return line->at[i + 1];
	}
	return NULL;
}

static bool is_q35(const struct command_line *line)
{
	char *machine = last_of(line, "machine", "type", "type");
	bool q35;

	if (!machine)
		machine = last_of(line, "M", "type", "type");
	q35 = machine && (!strcmp(machine, "q35") || !strncmp(machine, "pc-q35", strlen("pc-q35")));
	free(machine);
	return q35;
}

/* True for a port with hotplug=off. */
static bool is_fixed_port(const struct command_line *line, const char *bus)
{
	const char *device = device_with(line, "id", bus);
	char *hotplug = device ? property(device, "hotplug", "driver") : NULL;
	bool fixed = hotplug && (!strcmp(hotplug, "off") || !strcmp(hotplug, "false"));

	free(hotplug);
	return fixed;
}

/* True for the kind of device that has ramfb. */
static bool is_nohotplug(const char *device)
{
	char *driver = property(device, "driver", "driver");
	bool nohotplug = driver && !strcmp(driver, "vfio-pci-nohotplug");

	free(driver);
	return nohotplug;
}

/*
 * The reason why this QEMU can never unplug the vGPU. NULL if it can, or if the command line does
 * not show a reason.
 */
static const char *why_stuck(const struct command_line *line, const char *uuid)
{
	const char *device = device_with(line, "sysfsdev", uuid), *why = NULL;
	char *bus;

	/* The vGPU was hot-plugged, so it can be unplugged. */
	if (!device)
		return NULL;
	bus = property(device, "bus", "driver");
	if (is_q35(line) && (!bus || !strcmp(bus, "pcie.0")))
		why = "it is on the root bus of a q35 machine, and not behind a pcie-root-port";
	else if (bus && is_fixed_port(line, bus))
		why = "its port has hotplug=off";
	else if (is_nohotplug(device))
		why = "it is a vfio-pci-nohotplug device, as ramfb requires";
	free(bus);
	return why;
}

/* Reads as much as fits. @line points into the returned text, which the caller frees. */
static char *read_command_line(long pid, struct command_line *line)
{
	char path[64], *text, *at;
	size_t bytes = 0;
	FILE *file;

	line->count = 0;
	text = malloc(COMMAND_LINE_MAX + 1);
	snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
	file = text ? fopen(path, "re") : NULL;
	if (file) {
		bytes = fread(text, 1, COMMAND_LINE_MAX, file);
		fclose(file);
	}
	if (text)
		text[bytes] = '\0';
	for (at = text; at && at < text + bytes && line->count < WORDS_MAX; at += strlen(at) + 1)
		line->at[line->count++] = at;
	return text;
}

void holder_find(const struct ghyvi_vgpu *vgpu, struct holder *holder)
{
	struct command_line line;
	struct files files;
	char *text, *name;

	*holder = (struct holder){};
	files_of(vgpu, &files);
	holder->pid = find_process(vgpu, &files);
	if (!holder->pid)
		return;
	text = read_command_line(holder->pid, &line);
	if (line.count)
		holder->program = clean(basename(line.at[0]));
	name = last_of(&line, "name", "guest", "guest");
	if (name)
		holder->vm = clean(name);
	free(name);
	holder->stuck = why_stuck(&line, ghyvi_vgpu_uuid(vgpu));
	free(text);
}

void holder_free(struct holder *holder)
{
	free(holder->program);
	free(holder->vm);
	*holder = (struct holder){};
}

const char *holder_text(const struct holder *holder, char *text)
{
	if (!holder->pid)
		snprintf(text, HOLDER_TEXT_BYTES, "a process that is not visible from here");
	else if (holder->vm)
		snprintf(text, HOLDER_TEXT_BYTES, "VM %.100s (pid %ld)", holder->vm, holder->pid);
	else
		snprintf(text, HOLDER_TEXT_BYTES, "%.100s (pid %ld)",
			 holder->program ?: "a program", holder->pid);
	return text;
}
