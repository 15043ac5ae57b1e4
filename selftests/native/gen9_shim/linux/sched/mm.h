/* SPDX-License-Identifier: GPL-2.0-only */
#include "../../gen9_shim.h"
