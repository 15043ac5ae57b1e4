// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>

#include "attack.h"

#define EFFECTS_PRINTED 10u

struct fixture fixture;
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

void env_begin(void)
{
	ggtt_reset();
	engines_start();
}

void env_end(void)
{
	/* Reset the engines first: they may still write to memory that is freed below. */
	for (unsigned int i = 0; i < ENGINES; i++)
		engine_reset(&engines[i]);
	roots_retire();
	ggtt_reset();
	memory_reset();
}

void fixture_setup(struct random *random)
{
	unsigned int i;

	(void)random;
	fixture = (struct fixture){ .tables = tables_make() };
	fixture.batch = take_page();
	fixture.batch_address = ggtt_map(machine.gpa[fixture.batch]);
	tables_map(&fixture.tables, FIXTURE_BATCH, machine.gpa[fixture.batch]);
	for (i = 0; i < DATA_PAGES; i++) {
		fixture.data[i] = take_page();
		tables_map(&fixture.tables, FIXTURE_DATA + i * PAGE_BYTES,
			   machine.gpa[fixture.data[i]]);
	}
	fixture.kernel = take_page();
	fixture.kernel_address = ggtt_map(machine.gpa[fixture.kernel]);
	for (i = 0; i < PAGE_DWORDS; i++)
		((uint32_t *)page_at(fixture.kernel))[i] = KERNEL_MARK;
	root_announce(fixture.tables.root, 4);
	for (i = 0; i < ENGINES; i++)
		context_make(&fixture.contexts[i], i, &fixture.tables);
}

void fixture_check_kernel(const char *by)
{
	volatile uint32_t *kernel = page_at(fixture.kernel);
	unsigned int changed = 0;

	for (unsigned int i = 0; i < PAGE_DWORDS; i++) {
		changed += kernel[i] != KERNEL_MARK;
		kernel[i] = KERNEL_MARK;
	}
	if (changed)
		effect("%s changed %u dwords of the kernel's page", by, changed);
}

enum outcome fixture_store(enum engine_id id, uint64_t address, uint32_t value)
{
	struct context *context = &fixture.contexts[id];

	context_rewind(context);
	emit_store(context, false, address, value);
	return context_run(context, VALID_LIMIT_US);
}
