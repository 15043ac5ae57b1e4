// SPDX-License-Identifier: GPL-2.0-only
/* (k) Command streams: well-formed, nearly so, and not at all. */
#include "attack.h"

#define STREAM_LIMIT_US 3000u /* semaphores and jumps may wait for ever */
#define REJOIN_DWORDS 64u /* most streams are longer */

static void check_registers(const struct engine *engine)
{
	uint32_t status_page = machine_read(engine->base + RING_HWS_PGA);

	if (status_page != engine->status_page)
		effect("commands moved the status page to 0x%x", status_page);
	if (machine_read(PVINFO) != PVINFO_MAGIC_LOW)
		effect("commands changed the PVINFO page");
}

static void run_stream(struct random *random, bool user)
{
	struct context *context = &stage.contexts[random_range(random, 0, ENGINES - 1)];
	uint64_t start = user ? STAGE_BATCH : stage.batch_address;

	context_fill(context, &stage.tables);
	stream_write(random, context->engine, page_at(stage.batch));
	emit_batch(context, user, start);
	/* And again, somewhere: into what was looked at before, and into the middle of commands. */
	while (one_in(random, 2))
		emit_batch(context, user, start + 4 * random_range(random, 0, REJOIN_DWORDS - 1));
	context_run(context, STREAM_LIMIT_US);
	if (one_in(random, 16))
		check_registers(context->engine);
}

static void commands_trial(struct random *random)
{
	run_stream(random, false);
}

static void user_trial(struct random *random)
{
	run_stream(random, true);
	stage_check_kernel("a user batch");
}

const struct attack attack_commands = {
	.name = "k-commands",
	.what = "streams of random commands with the kernel's rights: lengths, jumps, registers, addresses",
	.share = 12,
	.begin = stage_set,
	.trial = commands_trial,
};

const struct attack attack_user = {
	.name = "k-user-commands",
	.what = "the same in batches of user space: not the guest's kernel either may be reached",
	.share = 12,
	.begin = stage_set,
	.trial = user_trial,
};
