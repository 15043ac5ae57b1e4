// SPDX-License-Identifier: GPL-2.0-only
/* The loop of the emulator: accesses as they arrive, and slices of the engines between them. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include "emu.h"
#include "transport.h"

#define POLL_NS (20 * 1000)

/* Returns false at the end of the service. */
static bool answer(struct emu *emu, const struct timespec *timeout, const sigset_t *mask)
{
	int fds[EMU_TRANSPORT_FDS], count = emu->transport->fds(emu, fds), i;
	struct pollfd polled[EMU_TRANSPORT_FDS];

	for (i = 0; i < count; i++)
		polled[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (ppoll(polled, count, timeout, mask) < 0)
		return errno == EINTR;
	for (i = 0; i < count; i++)
		if (polled[i].revents && !emu->transport->handle(emu, polled[i].fd))
			return false;
	return true;
}

void emu_serve(struct emu *emu, const volatile sig_atomic_t *ending, const sigset_t *mask)
{
	static const struct timespec now = { 0, 0 }, soon = { 0, POLL_NS };
	bool timers = emu->adversary.modes;

	while (!*ending) {
		enum emu_work work = emu_run_engines(emu);
		const struct timespec *timeout = work == EMU_WORK_NOW	? &now :
						 work == EMU_WORK_LATER ? &soon :
						 timers			? &soon :
									  NULL;

		if (timers)
			emu_irq_spurious(emu);
		if (*ending || !answer(emu, timeout, mask))
			return;
	}
}
