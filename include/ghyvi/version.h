/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_VERSION_H
#define GHYVI_VERSION_H

/* Of all parts, as in debian/changelog. libghyvi's own is that of its ABI. */
#define GHYVI_VERSION "0.1"

#endif
