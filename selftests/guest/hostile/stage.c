// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>

#include "attack.h"

#define EFFECTS_PRINTED 10u

struct stage stage;
uint64_t effects;

void effect(const char *format, ...)
{
	va_list args;

	if (effects++ >= EFFECTS_PRINTED)
		return;
	printf("# EFFECT: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

void world_begin(void)
{
	ggtt_reset();
	engines_start();
}

void world_end(void)
{
	/* Before the memory is used for something else: the engines may still write to it. */
	for (unsigned int i = 0; i < ENGINES; i++)
		engine_reset(&engines[i]);
	roots_retire();
	ggtt_reset();
	memory_reset();
}

void stage_set(struct random *random)
{
	unsigned int i;

	(void)random;
	stage = (struct stage){ .tables = tables_make() };
	stage.batch = take_page();
	stage.batch_address = ggtt_map(machine.gpa[stage.batch]);
	tables_map(&stage.tables, STAGE_BATCH, machine.gpa[stage.batch]);
	for (i = 0; i < DATA_PAGES; i++) {
		stage.data[i] = take_page();
		tables_map(&stage.tables, STAGE_DATA + i * PAGE_BYTES, machine.gpa[stage.data[i]]);
	}
	stage.kernel = take_page();
	stage.kernel_address = ggtt_map(machine.gpa[stage.kernel]);
	for (i = 0; i < PAGE_DWORDS; i++)
		((uint32_t *)page_at(stage.kernel))[i] = KERNEL_MARK;
	root_announce(stage.tables.root, 4);
	for (i = 0; i < ENGINES; i++)
		context_make(&stage.contexts[i], i, &stage.tables);
}

void stage_check_kernel(const char *by)
{
	volatile uint32_t *kernel = page_at(stage.kernel);
	unsigned int changed = 0;

	for (unsigned int i = 0; i < PAGE_DWORDS; i++) {
		changed += kernel[i] != KERNEL_MARK;
		kernel[i] = KERNEL_MARK;
	}
	if (changed)
		effect("%s changed %u words of the kernel's page", by, changed);
}

enum outcome stage_store(enum engine_id id, uint64_t address, uint32_t value)
{
	struct context *context = &stage.contexts[id];

	context_rewind(context);
	emit_store(context, false, address, value);
	return context_run(context, HONEST_LIMIT_US);
}
