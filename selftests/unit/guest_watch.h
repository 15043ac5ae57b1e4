/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every access to one page of guest memory, as it happens: the page is out of reach, each access
 * faults, and the instruction is then stepped over. Nothing in the code under test has to know, and
 * no access escapes, however it is written. x86 only, and for one thread.
 */
#ifndef GUEST_WATCH_H
#define GUEST_WATCH_H

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <ghyvi_shim.h>
#include "rule.h"

#define WATCH_PAGE_BYTES 4096u
#define WATCH_TRAP_FLAG 0x100
#define WATCH_FAULT_WRITES 2

static struct {
	u8 *page;
	void (*before)(unsigned int entry); /* the page is within reach meanwhile */
	bool enough; /* further accesses are of no interest */
	u32 reads[WATCH_PAGE_BYTES / 8], all_reads;
	struct sigaction fault, step; /* of before */
} watched;

static inline void watch_lock(bool lock)
{
	ASSERT(!mprotect(watched.page, WATCH_PAGE_BYTES,
			 lock ? PROT_NONE : PROT_READ | PROT_WRITE));
}

static inline void watch_fault(int number, siginfo_t *info, void *data)
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

static inline void watch_step(int number, siginfo_t *info, void *data)
{
	ucontext_t *context = data;

	context->uc_mcontext.gregs[REG_EFL] &= ~WATCH_TRAP_FLAG;
	watch_lock(!watched.enough);
}

/*
 * The guest's table page at @page, a whole page of memory, until watch_end(). @before: each read,
 * of this entry.
 */
static inline void watch_begin(void *page, void (*before)(unsigned int entry))
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

static inline void watch_end(void)
{
	watch_lock(false);
	sigaction(SIGSEGV, &watched.fault, NULL);
	sigaction(SIGTRAP, &watched.step, NULL);
	watched.page = NULL;
}

#endif
