// SPDX-License-Identifier: GPL-2.0-only
/* doctor: checks of the machine and of the installed programs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <ghyvi/gen9_ids.h>
#include "doctor.h"

/* A guest with a GPU has at least this much memory, so a lower limit is certainly too low. */
#define MEMLOCK_USEFUL_BYTES (1ULL << 30)

static void check_kvm(struct doctor *doctor)
{
	char *path = doctor_path(doctor, "/dev/kvm");
	char *sys = doctor_path(doctor, "/sys/module");

	if (*doctor->root && access(sys, F_OK))
		doctor_say(doctor, RESULT_WARN, "kvm", "run doctor on that host, too",
			   "%s is not the root of a running host: KVM, loaded modules and parents "
			   "were not checked",
			   doctor->root);
	else if (access(path, F_OK))
		doctor_say(
			doctor, RESULT_FAIL, "kvm",
			"switch virtualisation on in the firmware, or, in a VM, nesting on its "
			"host (kvm_intel.nested=1, -cpu host); then modprobe kvm_intel or kvm_amd",
			"there is no /dev/kvm");
	else if (access(path, R_OK | W_OK))
		doctor_say(doctor, RESULT_WARN, "kvm", "usermod -aG kvm USER, and log in again",
			   "/dev/kvm exists, but this user may not open it");
	else
		doctor_say(doctor, RESULT_PASS, "kvm", NULL, "/dev/kvm can be used");
	free(sys);
	free(path);
}

static void check_parents(struct doctor *doctor)
{
	struct ghyvi_types *types;
	const char *last = "";
	size_t i;

	/* libudev finds the devices of this host only, and another kernel may have others. */
	if (!doctor->running)
		return;
	if (ghyvi_types_read(doctor->ctl->ghyvi, &types)) {
		doctor_say(doctor, RESULT_FAIL, "parent", "see dmesg", "types cannot be read");
		return;
	}
	for (i = 0; i < ghyvi_types_count(types); i++) {
		const char *parent = ghyvi_type_parent(ghyvi_types_at(types, i));

		if (!strcmp(parent, last))
			continue;
		last = parent;
		doctor_say(doctor, RESULT_PASS, "parent", NULL, "%s offers vGPUs", parent);
	}
	if (!i)
		doctor_say(doctor, RESULT_FAIL, "parent",
			   "modprobe ghyvi_softgpu adds a software pGPU; dmesg says why a GPU was "
			   "rejected",
			   "no parent offers vGPUs");
	ghyvi_types_free(types);
}

#define GPU_FUNCTION "0000:00:02.0"
#define INTEL 0x8086

/* Returns a number in a file of the GPU's directory in sysfs, or 0. */
static unsigned int gpu_id(const struct doctor *doctor, const char *name)
{
	char *path = doctor_path(doctor, "/sys/bus/pci/devices/%s/%s", GPU_FUNCTION, name);
	FILE *file = fopen(path, "re");
	unsigned int value = 0;

	if (file && fscanf(file, "%x", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	free(path);
	return value;
}

static const char *supported_gpu(unsigned int device)
{
#define GPU(id, platform, name) { id, name },
	static const struct {
		unsigned int id;
		const char *name;
	} gpus[] = { GHYVI_GEN9_IDS(GPU) };
#undef GPU
	unsigned int i;

	for (i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++)
		if (gpus[i].id == device)
			return gpus[i].name;
	return NULL;
}

/* Returns the name of the driver that has the GPU, or NULL; the caller frees it. */
static char *gpu_driver(const struct doctor *doctor)
{
	char *path = doctor_path(doctor, "/sys/bus/pci/devices/%s/driver", GPU_FUNCTION);
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	free(path);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	return strdup(strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

/* A GPU that ghyvi-gen9 supports, by the driver that has it. */
static void say_supported_gpu(struct doctor *doctor, const char *name, unsigned int device)
{
	char *driver = gpu_driver(doctor);

	if (driver && !strcmp(driver, "ghyvi_gen9"))
		doctor_say(doctor, RESULT_PASS, "gpu", NULL,
			   "ghyvi-gen9 drives %s (%s, %04x): vGPUs of generation 9, without "
			   "display, aperture and migration",
			   GPU_FUNCTION, name, device);
	else if (driver)
		doctor_say(doctor, RESULT_PASS, "gpu", NULL,
			   "ghyvi-gen9 supports %s (%s, %04x), but %s has it: unbind it, and name "
			   "ghyvi_gen9 in driver_override",
			   GPU_FUNCTION, name, device, driver);
	else
		doctor_say(doctor, RESULT_PASS, "gpu", NULL,
			   "ghyvi-gen9 drives %s (%s, %04x) if it is bound", GPU_FUNCTION, name,
			   device);
	free(driver);
}

/* What ghyvi can do with the processor's GPU; silent if it has none of Intel's. */
static void check_gpu(struct doctor *doctor)
{
	unsigned int device = gpu_id(doctor, "device");
	const char *name = supported_gpu(device);

	if (gpu_id(doctor, "vendor") != INTEL || gpu_id(doctor, "class") >> 16 != 3)
		return;
	if (name)
		say_supported_gpu(doctor, name, device);
	else
		doctor_say(doctor, RESULT_WARN, "gpu",
			   "modprobe ghyvi_softgpu adds a software pGPU",
			   "%s (%04x) is no GT2 of Skylake to Comet Lake, which ghyvi-gen9 drives",
			   GPU_FUNCTION, device);
}

static void check_memlock(struct doctor *doctor)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		doctor_say(doctor, RESULT_PASS, "memlock", NULL, "locked memory is not limited");
	else if (!geteuid())
		doctor_say(doctor, RESULT_PASS, "memlock", NULL,
			   "the limit does not apply to root");
	else
		doctor_say(doctor,
			   limit.rlim_cur < MEMLOCK_USEFUL_BYTES ? RESULT_WARN : RESULT_PASS,
			   "memlock",
			   "for plain QEMU: \"USER - memlock unlimited\" in "
			   "/etc/security/limits.conf; libvirt sets it itself",
			   "this user may lock %" PRIu64 " MiB; a guest needs its memory and 1 GiB",
			   (uint64_t)limit.rlim_cur >> 20);
}

/* The program that mdevctl's udev rule runs; the caller frees it and *rule. */
static char *udev_rule_program(const struct doctor *doctor, char **rule)
{
	static const char *const places[] = { "/etc/udev/rules.d/60-mdevctl.rules",
					      "/usr/lib/udev/rules.d/60-mdevctl.rules",
					      "/lib/udev/rules.d/60-mdevctl.rules" };
	char *text = NULL, *start, *end, *program = NULL;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]) && !text; i++) {
		*rule = doctor_path(doctor, "%s", places[i]);
		text = read_whole(*rule);
		if (!text) {
			free(*rule);
			*rule = NULL;
		}
	}
	end = text ? strstr(text, "/mdevctl ") : NULL;
	if (end) {
		/* Go back to the start of the word; a quotation mark may precede it. */
		for (start = end; start > text && !strchr("\"' =\n\t", start[-1]); start--)
			;
		program = strndup(start, end + strlen("/mdevctl") - start);
	}
	free(text);
	return program;
}

/* ghyvi's own rule starts the defined vGPUs if mdevctl's rule does not. */
static bool restore_rule_exists(const struct doctor *doctor)
{
	static const char *const places[] = { "/etc/udev/rules.d", "/usr/lib/udev/rules.d",
					      "/lib/udev/rules.d", "/usr/local/lib/udev/rules.d" };
	bool found = false;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = doctor_path(doctor, "%s/61-ghyvi-restore.rules", places[i]);

		found = found || !access(path, R_OK);
		free(path);
	}
	return found;
}

static void check_mdevctl_rule(struct doctor *doctor)
{
	char *rule = NULL, *program = udev_rule_program(doctor, &rule), *path = NULL;

	if (!rule) {
		doctor_say(doctor, RESULT_WARN, "mdevctl", "apt install --reinstall mdevctl",
			   "its udev rule is missing: defined vGPUs are not started at boot");
	} else if (!program) {
		doctor_say(doctor, RESULT_WARN, "mdevctl", "apt install --reinstall mdevctl",
			   "%s does not run mdevctl", rule);
	} else {
		path = doctor_path(doctor, "%s", program);
		if (access(path, X_OK) && restore_rule_exists(doctor))
			doctor_say(doctor, RESULT_PASS, "mdevctl", NULL,
				   "its udev rule runs %s, which does not exist; "
				   "ghyvi-restore@.service starts vGPUs instead",
				   program);
		else if (access(path, X_OK))
			doctor_say(
				doctor, RESULT_WARN, "mdevctl",
				"install ghyvi's own rule (package ghyvi-tools, or make install): "
				"the defect is in Debian 12's mdevctl",
				"its udev rule runs %s, which does not exist: defined vGPUs are "
				"not started at boot",
				program);
		else
			doctor_say(doctor, RESULT_PASS, "mdevctl", NULL,
				   "it is installed, and its udev rule finds it");
	}
	free(path);
	free(program);
	free(rule);
}

static void check_mdevctl(struct doctor *doctor)
{
	static const char *const places[] = { "/usr/bin/mdevctl", "/usr/sbin/mdevctl" };
	bool found = false;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = doctor_path(doctor, "%s", places[i]);

		found = found || !access(path, X_OK);
		free(path);
	}
	if (found)
		check_mdevctl_rule(doctor);
	else
		doctor_say(doctor, RESULT_WARN, "mdevctl", "apt install mdevctl",
			   "it is not installed: vGPUs do not persist across reboots");
}

void doctor_check_host(struct doctor *doctor)
{
	check_kvm(doctor);
	check_gpu(doctor);
	check_parents(doctor);
	/* The limit of this process says nothing about a host in another root directory. */
	if (!*doctor->root)
		check_memlock(doctor);
	check_mdevctl(doctor);
}
