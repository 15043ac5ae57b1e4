/* SPDX-License-Identifier: GPL-2.0-only */
#include <vfio_shim.h>
