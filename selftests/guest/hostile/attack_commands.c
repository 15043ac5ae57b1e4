// SPDX-License-Identifier: GPL-2.0-only
/* (k) Command streams: valid, almost valid, and random. */
#include "attack.h"

#define STREAM_LIMIT_US 3000u /* semaphores and jumps may never end */
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
	struct context *context = &fixture.contexts[random_range(random, 0, ENGINES - 1)];
	uint64_t start = user ? FIXTURE_BATCH : fixture.batch_address;

	context_fill(context, &fixture.tables);
	stream_write(random, context->engine, page_at(fixture.batch));
	emit_batch(context, user, start);
	/*
	 * Jump into the batch again, to commands that were already checked and into the middle of
	 * commands.
	 */
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
	fixture_check_kernel("a user batch");
}

const struct attack attack_commands = {
	.name = "k-commands",
	.what = "streams of random commands with kernel privileges: lengths, jumps, registers, "
		"addresses",
	.share = 12,
	.begin = fixture_setup,
	.trial = commands_trial,
};

const struct attack attack_user = {
	.name = "k-user-commands",
	.what = "the same in user batches, which also must not access the guest's kernel",
	.share = 12,
	.begin = fixture_setup,
	.trial = user_trial,
};
