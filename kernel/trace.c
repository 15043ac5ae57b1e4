// SPDX-License-Identifier: GPL-2.0-only
/* Instantiates the tracepoints of <trace/events/ghyvi.h>. */
#define CREATE_TRACE_POINTS
#include <trace/events/ghyvi.h>
