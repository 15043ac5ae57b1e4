// SPDX-License-Identifier: GPL-2.0-only
/* Errors of commands. The user-space programs that execute commands have their own. */
#include <linux/kernel.h>
#include "engine.h"

int softgpu_error(struct softgpu_engine *engine, const char *format, ...)
{
	char text[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	ghyvi_report_stop(engine->client->base.params.reporter, engine->id,
			  "%s: context %#x, %s at %#llx: %s", ghyvi_engine_name(engine->id),
			  engine->job->lrca, engine->level ? "batch" : "ring", engine->command_pos,
			  text);
	return SOFTGPU_ERROR;
}
