// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE /* for the names of registers */
#include "guest_watch.h"

struct guest_watch watched;

void watch_lock(bool lock)
{
	ASSERT(!mprotect(watched.page, WATCH_PAGE_BYTES,
			 lock ? PROT_NONE : PROT_READ | PROT_WRITE));
}

static void watch_fault(int number, siginfo_t *info, void *data)
{
	size_t offset = (u8 *)info->si_addr - watched.page;
	ucontext_t *context = data;

	if (!watched.page || offset >= WATCH_PAGE_BYTES) {
		sigaction(number, &watched.fault, NULL);
		return; /* and faults again */
	}
	ASSERT(!(context->uc_mcontext.gregs[REG_ERR] & WATCH_FAULT_WRITES));
	watch_lock(false);
	if (watched.before)
		watched.before(offset / 8);
	watched.reads[offset / 8]++;
	watched.all_reads++;
	context->uc_mcontext.gregs[REG_EFL] |= WATCH_TRAP_FLAG;
}

static void watch_step(int number, siginfo_t *info, void *data)
{
	ucontext_t *context = data;

	context->uc_mcontext.gregs[REG_EFL] &= ~WATCH_TRAP_FLAG;
	watch_lock(!watched.enough);
}

void watch_begin(void *page, void (*before)(unsigned int entry))
{
	struct sigaction fault = { .sa_sigaction = watch_fault,
				   .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction step = { .sa_sigaction = watch_step, .sa_flags = SA_SIGINFO };

	memset(&watched, 0, sizeof(watched));
	watched.page = page;
	watched.before = before;
	ASSERT(!sigaction(SIGSEGV, &fault, &watched.fault) &&
	       !sigaction(SIGTRAP, &step, &watched.step));
	watch_lock(true);
}

void watch_end(void)
{
	watch_lock(false);
	sigaction(SIGSEGV, &watched.fault, NULL);
	sigaction(SIGTRAP, &watched.step, NULL);
	watched.page = NULL;
}
