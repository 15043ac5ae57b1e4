// SPDX-License-Identifier: GPL-2.0-only
/*
 * pgpu-emu [OPTIONS] -- QEMU ARGUMENTS...: runs QEMU with an emulated Gen9 GPU at 00:02.0. The
 * exit status is QEMU's. The log ends with the number of violations.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "emu.h"
#include "transport.h"

#define POLL_NS (20 * 1000)
#define FDS_MAX 4

/* q35: RAM below 4 GiB ends at 2 GiB if there is more of it than fits below the PCI hole. */
#define LOW_RAM_MB 2048
#define LOW_RAM_MAX_MB 2816

static volatile sig_atomic_t ending;

static void on_signal(int signal)
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
	{ "hwsp", 'h', "START-END", 0, "Report status pages outside of these GGTT addresses", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 }
};

struct settings {
	struct emu *emu;
	char **qemu;
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
	case ARGP_KEY_NO_ARGS:
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
	.args_doc = "QEMU ARGUMENTS...",
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

/* Returns false when QEMU has ended. */
static bool serve(struct emu *emu, struct emu_proxy *proxy, int timeout_ms,
		  const struct timespec *timeout)
{
	int fds[FDS_MAX], count = emu_proxy_fds(proxy, fds), i;
	struct pollfd polled[FDS_MAX];

	for (i = 0; i < count; i++)
		polled[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (ppoll(polled, count, timeout, NULL) < 0)
		return errno == EINTR;
	for (i = 0; i < count; i++)
		if (polled[i].revents && !emu_proxy_handle(proxy, emu, polled[i].fd))
			return false;
	return true;
}

static void run(struct emu *emu, struct emu_proxy *proxy)
{
	static const struct timespec now = { 0, 0 }, soon = { 0, POLL_NS };
	bool timers = emu->adversary.modes;

	for (;;) {
		enum emu_work work = emu_run_engines(emu);
		const struct timespec *timeout = work == EMU_WORK_NOW	? &now :
						 work == EMU_WORK_LATER ? &soon :
						 timers			? &soon :
									  NULL;

		if (timers)
			emu_irq_spurious(emu);
		if (ending || !serve(emu, proxy, 0, timeout))
			return;
	}
}

int main(int argc, char **argv)
{
	static struct emu emu;
	struct settings settings = { .emu = &emu, .stolen = true };
	struct emu_proxy proxy;
	int err;

	emu.log = stderr;
	emu_adversary_seed(&emu.adversary, 1);
	argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &settings);
	emu.stolen_base = settings.stolen ? stolen_base(settings.qemu) : 0;
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	err = emu_init(&emu);
	if (!err)
		err = emu_proxy_start(&proxy, &emu, settings.qemu);
	if (err) {
		fprintf(stderr, "pgpu-emu: cannot start: %s\n", strerror(-err));
		return 1;
	}
	run(&emu, &proxy);
	emu_oracle_write(&emu);
	emu_log_summary(&emu);
	if (ending)
		kill(proxy.qemu, SIGTERM);
	return emu_proxy_stop(&proxy);
}
