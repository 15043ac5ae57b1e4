/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches each access to one page of guest memory. The page is inaccessible: each access faults,
 * and the instruction is then single-stepped. The code under test needs no change, and no access is
 * missed. x86 only, and for one thread.
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

struct guest_watch {
	u8 *page;
	void (*before)(unsigned int entry); /* the page is accessible during the call */
	bool enough; /* further accesses are of no interest */
	u32 reads[WATCH_PAGE_BYTES / 8], all_reads;
	struct sigaction fault, step; /* of before */
};
extern struct guest_watch watched;

void watch_lock(bool lock);

/*
 * Watch the page of memory at @page until watch_end(). @before is called before each read of an
 * entry.
 */
void watch_begin(void *page, void (*before)(unsigned int entry));
void watch_end(void);

#endif
