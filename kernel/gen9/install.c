// SPDX-License-Identifier: GPL-2.0-only
#include "gen9.h"

int gen9_install_commands(struct gen9_engine *engine, struct ghyvi_job *job)
{
	return -EOPNOTSUPP;
}
