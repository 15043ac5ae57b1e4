// SPDX-License-Identifier: GPL-2.0-only
/*
 * ghyvi-eud: execution units of the software pGPU. For each vGPU that dispatches kernels, a process
 * of its own executes them with userspace/eu: one that can do nothing else. What a guest's kernel
 * could make of it reaches the memory of that guest, and nothing else of the host.
 *
 * A page that the vGPU's context does not have ends the process by SIGBUS: the host's kernel has
 * reported it, and ended the job. The vGPU's next dispatch gets a new process.
 */
#include <argp.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <linux/ghyvi_eu.h>
#include "execute.h"

#define CODE_BYTES (64u << 20) /* of decoded instructions */
#define DATA_BYTES (512u << 20) /* of a process */
#define WINDOW_SHIFT 30 /* GPU memory is mapped in pieces of 1 GiB */
#define WINDOWS 256 /* bounds the page tables, too: 2 MiB for each */
#define ADDRESS_BYTES (((uint64_t)WINDOWS << WINDOW_SHIFT) + 2ull * DATA_BYTES)

struct unit {
	int file;
	struct eud eud;
	struct {
		uint64_t number; /* + 1 */
		char *begin;
	} windows[WINDOWS];
	unsigned int nr_windows;
};

static struct {
	const char *device;
	const char *user;
} options = { .device = "/dev/ghyvi-eu", .user = "nobody" };

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'd':
		options.device = argument;
		return 0;
	case 'u':
		options.user = argument;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: no argument is expected", argument);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option option_table[] = {
	{ "device", 'd', "FILE", 0, "the kernel's device (/dev/ghyvi-eu)", 0 },
	{ "user", 'u', "NAME", 0, "the user of the processes that execute kernels (nobody)", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = option_table,
	.parser = parse,
	.doc = "Executes the kernels (OpenCL and others) of guests on the software pGPU, in a sandboxed "
	       "process for each vGPU.",
};

/* ---- memory ---- */

/* The pages themselves appear when they are touched. */
static void *map(void *context, uint64_t address, enum eu_access access)
{
	struct unit *unit = context;
	const uint64_t number = address >> WINDOW_SHIFT,
		       within = address & ((1ull << WINDOW_SHIFT) - 1);
	unsigned int slot = number * 0x9e3779b97f4a7c15ull >> 56;
	char *begin;

	(void)access;
	while (unit->windows[slot].number && unit->windows[slot].number != number + 1)
		slot = (slot + 1) % WINDOWS;
	if (unit->windows[slot].number)
		return unit->windows[slot].begin + within;
	if (unit->nr_windows == WINDOWS - 1)
		return NULL;
	begin = mmap(NULL, 1ull << WINDOW_SHIFT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		     unit->file, number << WINDOW_SHIFT);
	if (begin == MAP_FAILED)
		return NULL;
	unit->windows[slot].number = number + 1;
	unit->windows[slot].begin = begin;
	unit->nr_windows++;
	return begin + within;
}

static const struct eu_memory_ops memory_ops = { .map = map };

/* A kernel that wanders about uses windows up. */
static void forget_windows(struct unit *unit)
{
	unsigned int i;

	if (unit->nr_windows < WINDOWS / 2)
		return;
	for (i = 0; i < WINDOWS; i++)
		if (unit->windows[i].number)
			munmap(unit->windows[i].begin, 1ull << WINDOW_SHIFT);
	memset(unit->windows, 0, sizeof(unit->windows));
	unit->nr_windows = 0;
}

/* ---- the control group ---- */

/* The rest of the first line that begins with @prefix, without its end; -1: none. */
static int read_after(const char *path, const char *prefix, char *rest)
{
	char line[PATH_MAX];
	FILE *file = fopen(path, "re");
	int found = -1;

	while (file && found && fgets(line, sizeof(line), file))
		if (!strncmp(line, prefix, strlen(prefix))) {
			line[strcspn(line, "\n")] = '\0';
			strcpy(rest, line + strlen(prefix));
			found = 0;
		}
	if (file)
		fclose(file);
	return found;
}

/*
 * Enter the control group (v2) of the virtual machine, so that its limits are those of its kernels,
 * too. Memory that this process has already stays charged to the daemon. @report: say why not
 */
static void enter_group_of_vm(const struct ghyvi_eu_client *client, bool report)
{
	char path[PATH_MAX + 64], pid[PATH_MAX], group[PATH_MAX];
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%.*s/open_pid",
		 (int)sizeof(client->name), client->name);
	if (read_after(path, "", pid))
		return; /* it is being removed */
	snprintf(path, sizeof(path), "/proc/%.20s/cgroup", pid);
	if (read_after(path, "0::", group))
		return; /* it has just ended, or there is no v2 */
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cgroup.procs", group);
	file = fopen(path, "we");
	err = !file || fputs("0", file) < 0;
	if (((file && fclose(file)) || err) && report)
		error(0, errno, "%.*s: not in the control group of process %s: %s",
		      (int)sizeof(client->name), client->name, pid, path);
}

/* ---- the process of a vGPU ---- */

/* What is left: the device's ioctls, its memory, and memory of its own. */
static void confine(const struct unit *unit, const struct passwd *user, pid_t parent)
{
	static const int calls[] = { SCMP_SYS(munmap),	       SCMP_SYS(brk),
				     SCMP_SYS(mremap),	       SCMP_SYS(futex),
				     SCMP_SYS(exit_group),     SCMP_SYS(rt_sigreturn),
				     SCMP_SYS(restart_syscall) };
	const struct rlimit none = { 0, 0 }, data = { DATA_BYTES, DATA_BYTES },
			    addresses = { ADDRESS_BYTES, ADDRESS_BYTES };
	scmp_filter_ctx filter;
	unsigned int i;

	if (setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_DATA, &data) ||
	    setrlimit(RLIMIT_AS, &addresses))
		error(1, errno, "limits");
	if (setgroups(0, NULL) || setgid(user->pw_gid) || setuid(user->pw_uid))
		error(1, errno, "cannot become user %s", user->pw_name);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_DUMPABLE, 0))
		error(1, errno, "prctl");
	if (getppid() != parent)
		_exit(1); /* it ended before it could take this process with it */
	filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!filter)
		error(1, 0, "system calls cannot be filtered: no memory, or no CONFIG_SECCOMP");
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0))
			error(1, 0, "system call %d cannot be allowed", calls[i]);
	if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 2,
			     SCMP_A0(SCMP_CMP_EQ, unit->file),
			     SCMP_A1(SCMP_CMP_EQ, GHYVI_EU_NEXT)) ||
	    /* neither what is executable, nor other files, nor what DATA_BYTES does not bound */
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 3,
			     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
			     SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0),
			     SCMP_A4(SCMP_CMP_EQ, unit->file)) ||
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
			     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
			     SCMP_A3(SCMP_CMP_MASKED_EQ,
				     MAP_ANONYMOUS | MAP_SHARED | MAP_HUGETLB | MAP_GROWSDOWN,
				     MAP_ANONYMOUS)) ||
	    /* what malloc() gives back, but no page that is merged with others' */
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1,
			     SCMP_A2(SCMP_CMP_EQ, MADV_DONTNEED)) ||
	    seccomp_load(filter))
		error(1, 0, "system calls cannot be filtered");
	seccomp_release(filter);
}

static void execute(struct unit *unit, struct ghyvi_eu_next *next)
{
	forget_windows(unit);
	eud_execute(&unit->eud, next);
}

static _Noreturn void serve(int file, const struct ghyvi_eu_client *client, bool report,
			    const struct passwd *user, pid_t parent)
{
	struct unit *unit = calloc(1, sizeof(*unit));
	struct ghyvi_eu_next next = { .status = GHYVI_EU_NONE };

	enter_group_of_vm(client, report);
	if (!unit)
		error(1, errno, "execution units");
	unit->eud.group = malloc(GHYVI_EU_GROUP_BYTES);
	if (!unit->eud.group)
		error(1, errno, "a thread group");
	next.group = (uintptr_t)unit->eud.group;
	unit->file = file;
	unit->eud.control = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, GHYVI_EU_CONTROL_OFFSET);
	if (unit->eud.control == MAP_FAILED)
		error(1, errno, "control page");
	unit->eud.memory = (struct eu_memory){ .ops = &memory_ops, .context = unit };
	unit->eud.cache = eu_cache_create(CODE_BYTES);
	if (!unit->eud.cache)
		error(1, errno, "cache");
	confine(unit, user, parent);
	for (;;) {
		while (ioctl(file, GHYVI_EU_NEXT, &next)) {
			if (errno == ENOMEM && next.status == GHYVI_EU_YIELDED) {
				unit->eud.no_room = next.number; /* until the group has ended */
				execute(unit, &next);
			} else if (errno != EINTR) {
				_exit(errno != ENODEV);
			}
		}
		execute(unit, &next);
	}
}

/*
 * What guests use up may pass, so it must not end the processes of all of them: meanwhile those
 * without a process wait.
 */
static int open_device(void)
{
	int file;

	while ((file = open(options.device, O_RDWR | O_CLOEXEC)) < 0) {
		if (errno != ENOMEM && errno != EMFILE && errno != ENFILE && errno != EINTR)
			error(1, errno, "%s", options.device);
		sleep(1);
	}
	return file;
}

/* At most once a second: a guest can end its processes as fast as they begin. */
static bool report_client(const struct ghyvi_eu_client *client)
{
	static time_t last;
	time_t now = time(NULL);
	bool report = now != last;

	if (report)
		printf("%.*s: execution units\n", (int)sizeof(client->name), client->name);
	last = now;
	return report;
}

int main(int argc, char **argv)
{
	/* One file always waits for a vGPU: the kernel skips dispatches if there is none. */
	int file, spare, other;
	const struct passwd *user;
	struct ghyvi_eu_client client;
	const pid_t parent = getpid();
	bool report;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	user = getpwnam(options.user);
	if (!user)
		error(1, 0, "no user %s", options.user);
	signal(SIGCHLD, SIG_IGN); /* no zombies */
	file = open_device();
	spare = open_device();
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	for (;;) {
		if (ioctl(file, GHYVI_EU_ACCEPT, &client)) {
			if (errno == EINTR)
				continue;
			if (errno != ENODEV) /* the vGPU was removed meanwhile */
				error(1, errno, "%s", options.device);
		} else {
			report = report_client(&client);
			switch (fork()) {
			case -1:
				error(0, errno, "%.*s: fork", (int)sizeof(client.name),
				      client.name);
				break;
			case 0:
				close(spare);
				serve(file, &client, report, user, parent);
			}
		}
		other = file;
		file = spare;
		close(other);
		spare = open_device();
	}
}
