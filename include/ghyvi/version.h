/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_VERSION_H
#define GHYVI_VERSION_H

/* Version of all components, as in debian/changelog. The ABI of libghyvi has its own version. */
#define GHYVI_VERSION "0.1"

#endif
