/* SPDX-License-Identifier: GPL-2.0-only */
/* A rig with an auditor in front of the engine. */
#ifndef SOFTGPU_AUDITED_H
#define SOFTGPU_AUDITED_H

#include "softgpu_fixture.h"
#include <ghyvi/audit.h>

struct ghyvi_audit *make_audit(struct rig *rig, const char *mode);

/* Audit the ring and give the copy to the job, as the core does. */
void audit(struct rig *rig, struct ghyvi_audit *with);
void finish(struct rig *rig, struct ghyvi_audit *with);

#endif
