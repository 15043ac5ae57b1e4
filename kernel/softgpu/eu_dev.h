/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/ghyvi-eu: see <uapi/linux/ghyvi_eu.h>. */
#ifndef GHYVI_SOFTGPU_EU_DEV_H
#define GHYVI_SOFTGPU_EU_DEV_H

int softgpu_eu_dev_init(void);
void softgpu_eu_dev_exit(void);

#endif
