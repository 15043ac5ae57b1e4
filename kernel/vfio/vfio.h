/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_VFIO_H
#define GHYVI_VFIO_H

int ghyvi_vfio_init(void);
void ghyvi_vfio_exit(void);

#endif
