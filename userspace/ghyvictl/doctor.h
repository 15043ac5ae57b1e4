/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVICTL_DOCTOR_H
#define GHYVICTL_DOCTOR_H

#include "ctl.h"

enum result { RESULT_PASS, RESULT_WARN, RESULT_FAIL, RESULTS };

struct doctor {
	struct ctl *ctl;
	const char *root; /* prefix of every path; "": this host */
	const char *release; /* release of the kernel to check */
	int counts[RESULTS];
	json_t *list; /* NULL: text */
};

/* Reports the result of one check. @remedy: one line, not shown with RESULT_PASS. */
void doctor_say(struct doctor *doctor, enum result result, const char *check, const char *remedy,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Prefixes a path with the root; the caller frees it. */
char *doctor_path(const struct doctor *doctor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Checks kernel options, modules, headers and Secure Boot. */
void doctor_check_kernel(struct doctor *doctor);
/* Checks KVM, parents, memlock and mdevctl. */
void doctor_check_host(struct doctor *doctor);

#endif
