// SPDX-License-Identifier: GPL-2.0-only
/*
 * pgpu-emu [OPTIONS] -- QEMU ARGUMENTS...: runs QEMU with an emulated Gen9 GPU at 00:02.0. The
 * exit status is QEMU's. The log ends with the number of violations.
 * pgpu-emu --vfio-user SOCKET [OPTIONS]: serves the GPU to the vfio-user clients of others.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include "emu.h"
#include "transport.h"

/* q35: RAM below 4 GiB ends at 2 GiB if there is more of it than fits below the PCI hole. */
#define LOW_RAM_MB 2048
#define LOW_RAM_MAX_MB 2816

static volatile sig_atomic_t ending, ended_by_signal;
static struct emu_proxy proxy;
static struct emu_vfio_user vfio_user;

static void on_signal(int signal)
{
	ended_by_signal = 1;
	ending = 1;
}

/* QEMU has ended, perhaps before it connected. */
static void on_child(int signal)
{
	ending = 1;
}

static const struct argp_option options[] = {
	{ "log", 'l', "FILE", 0, "Write the log there (default: standard error)", 0 },
	{ "trace", 't', "FILE", 0, "Write each access to registers there", 0 },
	{ "oracle", 'o', "FILE", 0, "Write the pages that each context accessed there", 0 },
	{ "seed", 's', "N", 0, "Seed of the adversary", 0 },
	{ "adversary", 'a', "MODES", 0, "Comma-separated adversary modes, or all", 0 },
	{ "platform", 'p', "NAME", 0, "skylake (default), kabylake, coffeelake or cometlake", 0 },
	{ "display", 'd', NULL, 0, "Do not fuse off the pipes (GVT-g needs them)", 0 },
	{ "no-stolen", 'n', NULL, 0, "No stolen memory", 0 },
	{ "vfio-user", 'u', "SOCKET", 0,
	  "Listen there for a vfio-user client, such as QEMU 10.1 and later; without stolen memory",
	  0 },
	{ "hwsp", 'h', "START-END", 0, "Report status pages outside of these GGTT addresses", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 }
};

struct settings {
	struct emu *emu;
	char **qemu; /* NULL: none */
	const char *socket;
	bool stolen;
};

static FILE *open_output(struct argp_state *state, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		argp_failure(state, 1, errno, "%s", path);
	return file;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct settings *settings = state->input;
	struct emu *emu = settings->emu;
	unsigned long long start, end;

	switch (key) {
	case 'l':
		emu->log = open_output(state, argument);
		break;
	case 't':
		emu->trace = open_output(state, argument);
		break;
	case 'o':
		emu->oracle.file = open_output(state, argument);
		break;
	case 's':
		emu_adversary_seed(&emu->adversary, strtoull(argument, NULL, 0));
		break;
	case 'a':
		if (emu_adversary_parse(&emu->adversary, argument))
			argp_error(state, "unknown adversary mode in '%s'", argument);
		break;
	case 'p':
		emu->platform = emu_platform_find(argument);
		if (!emu->platform)
			argp_error(state, "unknown platform '%s'", argument);
		break;
	case 'd':
		emu->display = true;
		break;
	case 'n':
		settings->stolen = false;
		break;
	case 'h':
		if (sscanf(argument, "%lli-%lli", &start, &end) != 2)
			argp_error(state, "--hwsp needs START-END");
		emu->hwsp_start = start;
		emu->hwsp_end = end;
		break;
	case ARGP_KEY_ARGS:
		settings->qemu = state->argv + state->next;
		break;
	case 'u':
		if (strpbrk(argument, "\"\\"))
			argp_error(state, "a quote or backslash in '%s'", argument);
		settings->socket = argument;
		break;
	case ARGP_KEY_NO_ARGS:
		if (!settings->socket)
			argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp parser = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[QEMU ARGUMENTS...]",
	.doc = "Runs QEMU with an emulated Gen9 GPU at 00:02.0.",
};

/* Stolen memory is the top of the RAM below 4 GiB; the kernel must not use it (memmap=). */
static u32 stolen_base(char **qemu)
{
	unsigned long mb = emu_launch_memory_mb(qemu);

	if (mb >= LOW_RAM_MAX_MB)
		mb = LOW_RAM_MB;
	return (u32)mb << 20 > EMU_STOLEN_BYTES ? ((u32)mb << 20) - EMU_STOLEN_BYTES : 0;
}

/* Signals arrive while the emulator waits, and only then. */
static void catch_signals(sigset_t *waiting)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGCHLD };
	sigset_t blocked;
	unsigned int i;

	sigemptyset(&blocked);
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaddset(&blocked, signals[i]);
		signal(signals[i], signals[i] == SIGCHLD ? on_child : on_signal);
	}
	sigprocmask(SIG_BLOCK, &blocked, waiting);
}

/* With a socket the VM may be started by others. */
static int start(struct emu *emu, const struct settings *settings)
{
	int err;

	if (!settings->socket)
		return emu_proxy_start(&proxy, emu, settings->qemu);
	err = emu_vfio_user_start(&vfio_user, emu, settings->socket);
	return err || !settings->qemu ? err : emu_vfio_user_run_qemu(&vfio_user, settings->qemu);
}

static int stop(const struct settings *settings)
{
	pid_t qemu = settings->socket ? vfio_user.qemu : proxy.qemu;

	if (ended_by_signal && qemu)
		kill(qemu, SIGTERM);
	return settings->socket ? emu_vfio_user_stop(&vfio_user) : emu_proxy_stop(&proxy);
}

int main(int argc, char **argv)
{
	static struct emu emu;
	struct settings settings = { .emu = &emu, .stolen = true };
	sigset_t waiting;
	int err;

	emu.log = stderr;
	emu_adversary_seed(&emu.adversary, 1);
	argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &settings);
	if (settings.stolen && settings.qemu && !settings.socket)
		emu.stolen_base = stolen_base(settings.qemu);
	catch_signals(&waiting);
	err = emu_init(&emu);
	if (!err)
		err = start(&emu, &settings);
	if (err) {
		fprintf(stderr, "pgpu-emu: cannot start: %s\n", strerror(-err));
		return 1;
	}
	prctl(PR_SET_TIMERSLACK, 1); /* polls of semaphores, which i915 takes the time of */
	emu_serve(&emu, &ending, &waiting);
	emu_oracle_write(&emu);
	emu_log_summary(&emu);
	return stop(&settings);
}
