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
#include <pwd.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <eu_state.h>
#include <linux/ghyvi_eu.h>

#define CODE_BYTES (64u << 20) /* of decoded instructions */
#define DATA_BYTES (512u << 20) /* of a process */
#define SLICE_INSTRUCTIONS 4096
#define WINDOW_SHIFT 30 /* GPU memory is mapped in pieces of 1 GiB */
#define WINDOWS 256 /* bounds the page tables, too: 2 MiB for each */
#define ADDRESS_BYTES (((uint64_t)WINDOWS << WINDOW_SHIFT) + 2ull * DATA_BYTES)

struct unit {
	int file;
	const volatile struct ghyvi_eu_control *control;
	struct eu_cache *cache;
	struct eu_memory memory;
	struct eu_state state;
	uint8_t *group; /* a thread group in progress, from the kernel or for it */
	uint32_t no_room; /* number of the dispatch for whose group the kernel has no memory */
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

/* ---- dispatches ---- */

static void refuse(struct ghyvi_eu_next *next, const struct eu_error *error)
{
	next->status = GHYVI_EU_ERROR;
	if (error->ip)
		snprintf(next->text, sizeof(next->text), "%.60s, instruction at %#llx", error->text,
			 (unsigned long long)error->ip);
	else
		snprintf(next->text, sizeof(next->text), "%.119s", error->text);
}

/* A command of the context's image, which is the guest's memory: another header is no command. */
static bool take_kept(struct unit *unit, uint32_t opcode, const uint32_t *command, uint32_t dwords,
		      struct eu_error *error)
{
	struct eu_dispatch none;

	return command[0] >> 16 != opcode ||
	       eu_state_command(&unit->state, &unit->memory, command, dwords, &none, error) !=
		       EU_COMMAND_ERROR;
}

static bool take_state(struct unit *unit, const struct ghyvi_eu_next *next, struct eu_error *error)
{
	memset(&unit->state, 0, sizeof(unit->state));
	memcpy(unit->state.dispatch_dim, next->dispatch_dim, sizeof(next->dispatch_dim));
	return take_kept(unit, 0x6101, next->base, 19, error) &&
	       take_kept(unit, 0x7000, next->vfe, 9, error) &&
	       take_kept(unit, 0x7001, next->constants, 4, error) &&
	       take_kept(unit, 0x7002, next->descriptors, 4, error);
}

/* Whether the run may stop here. Without a group in progress that costs little. */
static bool give_way(struct unit *unit, struct eu_run *run, struct ghyvi_eu_next *next)
{
	bool within = !eu_run_at_boundary(run);

	if (within && unit->no_room == next->number)
		return false;
	next->status = GHYVI_EU_YIELDED;
	next->group_bytes = within ? eu_run_save(run, unit->group, GHYVI_EU_GROUP_BYTES) : 0;
	return true;
}

/*
 * A dispatch that is to give way executes one more slice, so that each of them gets somewhere, and
 * most end a group.
 */
static void execute_run(struct unit *unit, struct eu_run *run, struct ghyvi_eu_next *next)
{
	struct eu_error error = { .status = EU_DONE };
	struct eu_counters before, now;
	enum eu_status status;
	bool yield;

	eu_run_counters(run, &before);
	do {
		if (unit->control->abort == next->number)
			return; /* any answer is right */
		yield = unit->control->yield == next->number;
		status = yield ? eu_run_to_boundary(run, SLICE_INSTRUCTIONS, &error) :
				 eu_run(run, SLICE_INSTRUCTIONS, &error);
	} while (status == EU_AGAIN && !(yield && give_way(unit, run, next)));
	eu_run_counters(run, &now);
	if (status == EU_AGAIN)
		next->groups += now.groups - before.groups;
	else if (status != EU_DONE)
		refuse(next, &error);
}

static void execute(struct unit *unit, struct ghyvi_eu_next *next)
{
	struct eu_error error = { .status = EU_DONE };
	struct eu_dispatch dispatch;
	struct eu_run *run;

	next->status = GHYVI_EU_DONE;
	forget_windows(unit);
	if (!take_state(unit, next, &error)) {
		refuse(next, &error);
		return;
	}
	switch (eu_state_command(&unit->state, &unit->memory, next->command, next->dwords,
				 &dispatch, &error)) {
	case EU_COMMAND_DISPATCH:
		break;
	case EU_COMMAND_ERROR:
		refuse(next, &error);
		return;
	default:
		return;
	}
	dispatch.skip = next->groups;
	run = eu_run_begin(unit->cache, &unit->memory, &dispatch, &error);
	if (!run) {
		refuse(next, &error);
		return;
	}
	if (next->group_bytes && eu_run_restore(run, unit->group, next->group_bytes)) {
		snprintf(error.text, sizeof(error.text), "a saved thread group does not fit");
		refuse(next, &error);
	} else {
		execute_run(unit, run, next);
	}
	eu_run_end(run);
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
		error(1, 0, "no memory for a filter of system calls");
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0))
			error(1, 0, "system call %d cannot be allowed", calls[i]);
	if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 2,
			     SCMP_A0(SCMP_CMP_EQ, unit->file),
			     SCMP_A1(SCMP_CMP_EQ, GHYVI_EU_NEXT)) ||
	    /* neither what is executable, nor other files */
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
			     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
			     SCMP_A4(SCMP_CMP_EQ, unit->file)) ||
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
			     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
			     SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS | MAP_SHARED | MAP_HUGETLB,
				     MAP_ANONYMOUS)) ||
	    /* what malloc() gives back, but no page that is merged with others' */
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1,
			     SCMP_A2(SCMP_CMP_EQ, MADV_DONTNEED)) ||
	    seccomp_load(filter))
		error(1, 0, "system calls cannot be filtered");
	seccomp_release(filter);
}

static _Noreturn void serve(int file, const struct passwd *user, pid_t parent)
{
	struct unit *unit = calloc(1, sizeof(*unit));
	struct ghyvi_eu_next next = { .status = GHYVI_EU_NONE };

	if (!unit)
		error(1, errno, "execution units");
	unit->group = malloc(GHYVI_EU_GROUP_BYTES);
	if (!unit->group)
		error(1, errno, "a thread group");
	next.group = (uintptr_t)unit->group;
	unit->file = file;
	unit->control = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, GHYVI_EU_CONTROL_OFFSET);
	if (unit->control == MAP_FAILED)
		error(1, errno, "control page");
	unit->memory = (struct eu_memory){ .ops = &memory_ops, .context = unit };
	unit->cache = eu_cache_create(CODE_BYTES);
	if (!unit->cache)
		error(1, errno, "cache");
	confine(unit, user, parent);
	for (;;) {
		while (ioctl(file, GHYVI_EU_NEXT, &next)) {
			if (errno == ENOMEM && next.status == GHYVI_EU_YIELDED) {
				unit->no_room = next.number; /* until the group has ended */
				execute(unit, &next);
			} else if (errno != EINTR) {
				_exit(errno != ENODEV);
			}
		}
		execute(unit, &next);
	}
}

static int open_device(void)
{
	int file = open(options.device, O_RDWR | O_CLOEXEC);

	if (file < 0)
		error(1, errno, "%s", options.device);
	return file;
}

int main(int argc, char **argv)
{
	/* One file always waits for a vGPU: the kernel skips dispatches if there is none. */
	int file, spare, other;
	const struct passwd *user;
	struct ghyvi_eu_client client;
	const pid_t parent = getpid();

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
			printf("%.*s: execution units\n", (int)sizeof(client.name), client.name);
			switch (fork()) {
			case -1:
				error(0, errno, "%.*s: fork", (int)sizeof(client.name),
				      client.name);
				break;
			case 0:
				close(spare);
				serve(file, user, parent);
			}
		}
		other = file;
		file = spare;
		close(other);
		spare = open_device();
	}
}
