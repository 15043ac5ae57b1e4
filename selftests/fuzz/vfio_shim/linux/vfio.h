/* SPDX-License-Identifier: GPL-2.0-only */
#include_next <linux/vfio.h>
#include <vfio_shim.h>
