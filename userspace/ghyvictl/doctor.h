/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVICTL_DOCTOR_H
#define GHYVICTL_DOCTOR_H

#include "ctl.h"

enum result { RESULT_PASS, RESULT_WARN, RESULT_FAIL, RESULTS };

struct doctor {
	struct ctl *ctl;
	const char *root; /* prefix of every path; "": this host */
	const char *release; /* release of the kernel to check */
	bool running; /* that kernel runs on the host: its /sys says what is loaded */
	int counts[RESULTS];
	json_t *list; /* NULL: text */
};

/* Reports the result of one check. @remedy: one line, not shown with RESULT_PASS. */
void doctor_say(struct doctor *doctor, enum result result, const char *check, const char *remedy,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Prefixes a path with the root; the caller frees it. */
char *doctor_path(const struct doctor *doctor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The newest release in /lib/modules, or NULL. The caller frees it. */
char *doctor_newest_kernel(const struct doctor *doctor);
/* Checks kernel options, modules, headers and Secure Boot. */
void doctor_check_kernel(struct doctor *doctor);
/* Checks KVM, parents, memlock and mdevctl. */
void doctor_check_host(struct doctor *doctor);
/* Checks the versions of QEMU and libvirt (doctor_programs.c). */
void doctor_check_programs(struct doctor *doctor);

#endif
