// SPDX-License-Identifier: GPL-2.0-only
/* doctor: checks of the kernel and its modules. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "doctor.h"

#define SECURE_BOOT "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define EFI_ATTRIBUTE_BYTES 4 /* precede the value of the variable */

static char *read_gzip(const char *path)
{
	const char *const argv[] = { "gzip", "-dc", path, NULL };

	return access(path, R_OK) ? NULL : program_output(argv);
}

static char *kernel_config(const struct doctor *doctor, char **path)
{
	char *text;

	*path = doctor_path(doctor, "/boot/config-%s", doctor->release);
	text = read_whole(*path);
	if (text)
		return text;
	free(*path);
	*path = doctor_path(doctor, "/lib/modules/%s/config", doctor->release);
	text = read_whole(*path);
	if (text)
		return text;
	free(*path);
	*path = doctor_path(doctor, "/proc/config.gz");
	return read_gzip(*path);
}

/* Returns 'y', 'm', or 0. */
static char option_value(const char *config, const char *option)
{
	size_t length = strlen(option);
	const char *line;

	for (line = config; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, option, length) && line[length] == '=')
			return line[length + 1];
	}
	return 0;
}

/* @lacking: the result if the option is not set. */
static void check_option(struct doctor *doctor, const char *config, const char *option,
			 enum result lacking, const char *what, const char *remedy)
{
	char value = option_value(config, option);

	if (value == 'y' || value == 'm')
		doctor_say(doctor, RESULT_PASS, "kernel", NULL, "%s=%c", option, value);
	else
		doctor_say(doctor, lacking, "kernel", remedy, "%s has no %s (%s)", doctor->release,
			   option, what);
}

static void check_config(struct doctor *doctor)
{
	char *path, *config = kernel_config(doctor, &path);

	if (config) {
		check_option(doctor, config, "CONFIG_KVM_EXTERNAL_WRITE_TRACKING", RESULT_WARN,
			     "page tables cannot be write-protected: the policy is relaxed, which "
			     "compares all tables of a context, and accesses to registers exit",
			     "optional: boot a kernel that has it: Debian's linux-image-amd64 or "
			     "-rt-amd64");
		check_option(
			doctor, config, "CONFIG_VFIO_MDEV", RESULT_FAIL,
			"vGPUs are mediated devices",
			"boot a kernel that has it: Debian's linux-image-amd64 or -rt-amd64, not "
			"-cloud-amd64");
	} else {
		doctor_say(
			doctor, RESULT_WARN, "kernel",
			"check CONFIG_KVM_EXTERNAL_WRITE_TRACKING=y and CONFIG_VFIO_MDEV yourself",
			"no configuration of %s in /boot, /lib/modules or /proc/config.gz",
			doctor->release);
	}
	free(config);
	free(path);
}

static bool is_loaded(const struct doctor *doctor, const char *module)
{
	char *path = doctor_path(doctor, "/sys/module/%s", module);
	bool loaded = doctor->running && !access(path, F_OK);

	free(path);
	return loaded;
}

/* True if modprobe would find @module in the list; like modprobe, treats "-" and "_" as equal. */
static bool is_listed(char *text, const char *module)
{
	char *line, *rest, *name, *at;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line[strcspn(line, ":")] = '\0';
		name = strrchr(line, '/');
		name = name ? name + 1 : line;
		name[strcspn(name, ".")] = '\0';
		for (at = name; *at; at++)
			if (*at == '-')
				*at = '_';
		if (!strcmp(name, module))
			return true;
	}
	return false;
}

static bool is_installed(const struct doctor *doctor, const char *module)
{
	static const char *const lists[] = { "modules.dep", "modules.builtin" };
	bool found = false;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]) && !found; i++) {
		char *path = doctor_path(doctor, "/lib/modules/%s/%s", doctor->release, lists[i]);
		char *text = read_whole(path);

		found = text && is_listed(text, module);
		free(text);
		free(path);
	}
	return found;
}

static void check_module(struct doctor *doctor, const char *module, const char *remedy)
{
	char *load;

	if (is_loaded(doctor, module)) {
		doctor_say(doctor, RESULT_PASS, "modules", NULL, "%s is loaded", module);
	} else if (is_installed(doctor, module) && !doctor->running) {
		doctor_say(doctor, RESULT_PASS, "modules", NULL, "%s is installed for %s", module,
			   doctor->release);
	} else if (is_installed(doctor, module)) {
		if (asprintf(&load, "modprobe %s", module) < 0)
			abort();
		doctor_say(doctor, RESULT_WARN, "modules", load, "%s is installed but not loaded",
			   module);
		free(load);
	} else {
		doctor_say(doctor, RESULT_FAIL, "modules", remedy,
			   "%s is not installed for kernel %s", module, doctor->release);
	}
}

static void check_headers(struct doctor *doctor)
{
	char *path = doctor_path(doctor, "/lib/modules/%s/build/Makefile", doctor->release);
	char *remedy;

	if (asprintf(&remedy,
		     "apt install linux-headers-%s (without it, DKMS silently builds nothing)",
		     doctor->release) < 0)
		abort();
	if (!access(path, R_OK))
		doctor_say(doctor, RESULT_PASS, "headers", NULL, "headers of %s are installed",
			   doctor->release);
	else
		doctor_say(doctor, RESULT_WARN, "headers", remedy,
			   "no headers of %s: the modules cannot be built for it", doctor->release);
	free(remedy);
	free(path);
}

static void check_secure_boot(struct doctor *doctor)
{
	char *path = doctor_path(doctor, "/sys/firmware/efi/efivars/" SECURE_BOOT);
	char value[EFI_ATTRIBUTE_BYTES + 1];
	FILE *file = fopen(path, "r");
	bool on = false;

	if (file) {
		on = fread(value, 1, sizeof(value), file) == sizeof(value) &&
		     value[EFI_ATTRIBUTE_BYTES] == 1;
		fclose(file);
	}
	free(path);
	if (!on)
		doctor_say(doctor, RESULT_PASS, "secureboot", NULL, "Secure Boot is off");
	else if (is_loaded(doctor, "ghyvi"))
		doctor_say(doctor, RESULT_PASS, "secureboot", NULL,
			   "Secure Boot is on, and ghyvi is loaded");
	else
		doctor_say(doctor, RESULT_WARN, "secureboot",
			   "sign the modules and enrol the key: mokutil --import "
			   "/var/lib/dkms/mok.pub, then reboot",
			   "Secure Boot is on: only signed modules load");
}

static int is_release(const struct dirent *entry)
{
	return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

static int list_kernels(const struct doctor *doctor, struct dirent ***entries)
{
	char *path = doctor_path(doctor, "/lib/modules");
	int count = scandir(path, entries, is_release, versionsort);

	free(path);
	return count;
}

char *doctor_newest_kernel(const struct doctor *doctor)
{
	struct dirent **entries;
	int count = list_kernels(doctor, &entries), i;
	char *newest = count > 0 ? strdup(entries[count - 1]->d_name) : NULL;

	for (i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return newest;
}

/* True if there is such a kernel; otherwise the result names those that there are. */
static bool check_installed(struct doctor *doctor)
{
	char *names = NULL, *path;
	struct dirent **entries;
	bool found = doctor->running;
	int count, i;
	size_t bytes;
	FILE *out;

	path = doctor_path(doctor, "/lib/modules/%s", doctor->release);
	found = found || !access(path, F_OK);
	free(path);
	path = doctor_path(doctor, "/boot/config-%s", doctor->release);
	found = found || !access(path, F_OK);
	free(path);
	if (found)
		return true;
	out = open_memstream(&names, &bytes);
	if (!out)
		abort();
	count = list_kernels(doctor, &entries);
	for (i = 0; i < count; i++) {
		fprintf(out, "%s%s", i ? ", " : "", entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	fclose(out);
	doctor_say(doctor, RESULT_FAIL, "kernel",
		   count > 0 ? "give one of these to --kernel, or install that kernel" :
			       "install a kernel, or give another --root",
		   "there is no kernel %s in %s/lib/modules; installed: %s", doctor->release,
		   doctor->root, count > 0 ? names : "none");
	free(names);
	return false;
}

/* Since 6.7 the helpers for such a log are in IOMMUFD, where ghyvi does not use them. */
static void check_dirty_log(struct doctor *doctor)
{
	unsigned int major, minor;

	if (sscanf(doctor->release, "%u.%u", &major, &minor) != 2)
		return;
	if (major < 6 || (major == 6 && minor < 7))
		doctor_say(doctor, RESULT_PASS, "migration", NULL,
			   "%s can log the pages that vGPUs write", doctor->release);
	else
		doctor_say(doctor, RESULT_WARN, "migration",
			   "only to migrate VMs: give QEMU's vfio-pci enable-migration=on; "
			   "Documentation/migration.md has the lines for libvirt",
			   "%s has no log of the pages that vGPUs write: QEMU sends all pinned "
			   "pages while the VM is stopped, and only if told to",
			   doctor->release);
}

void doctor_check_kernel(struct doctor *doctor)
{
	if (!check_installed(doctor))
		return;
	check_config(doctor);
	check_dirty_log(doctor);
	check_headers(doctor);
	check_secure_boot(doctor);
	check_module(doctor, "kvm", "install a kernel with KVM");
	check_module(doctor, "mdev", "boot a kernel with CONFIG_VFIO_MDEV");
	check_module(doctor, "vfio_iommu_type1", "boot a kernel with CONFIG_VFIO_IOMMU_TYPE1");
	check_module(doctor, "ghyvi", "install ghyvi-dkms, or make modules in ghyvi's source tree");
}
