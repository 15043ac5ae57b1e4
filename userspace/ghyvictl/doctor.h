/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVICTL_DOCTOR_H
#define GHYVICTL_DOCTOR_H

#include "ctl.h"

enum result { RESULT_PASS, RESULT_WARN, RESULT_FAIL, RESULTS };

struct doctor {
	struct ctl *ctl;
	const char *root; /* before every path; "": this host */
	const char *release; /* of the kernel to check */
	int counts[RESULTS];
	json_t *list; /* NULL: text */
};

/* Reports one check. @remedy: what to do, one line; not shown with RESULT_PASS. */
void doctor_say(struct doctor *doctor, enum result result, const char *check, const char *remedy,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A path under the root; the caller frees it. */
char *doctor_path(const struct doctor *doctor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Kernel options, modules, headers, Secure Boot. */
void doctor_check_kernel(struct doctor *doctor);
/* KVM, parents, memlock, mdevctl. */
void doctor_check_host(struct doctor *doctor);

#endif
