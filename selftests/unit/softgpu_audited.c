// SPDX-License-Identifier: GPL-2.0-only
#include "softgpu_audited.h"

static int rig_read(struct ghyvi_audit_owner *owner, struct ghyvi_root *root, u64 address,
		    void *buffer, size_t bytes)
{
	struct rig *rig = container_of(owner, struct rig, audit_owner);
	const u8 *from = NULL;
	size_t i;

	if (root && address >= BATCH && address + bytes <= BATCH + BATCH_PAGES * PAGE_SIZE)
		from = (u8 *)rig->batch + (address - BATCH);
	else if (!root && address >= RING_GGTT && address + bytes <= RING_GGTT + RING_BYTES)
		from = rig->ring + (address - RING_GGTT);
	else if (!root && address == INDIRECT_GGTT)
		from = rig->indirect;
	for (i = 0; from && i < bytes / 4; i++)
		((u32 *)buffer)[i] = READ_ONCE(((const u32 *)from)[i]);
	return from ? 0 : -EFAULT;
}

struct ghyvi_audit *make_audit(struct rig *rig, const char *mode)
{
	const struct ghyvi_audit_params params = {
		.gen = rig->client->params.gen,
		.ggtt = { { 0, GGTT_BYTES } },
		.nr_ggtt = 1,
		.owner = &rig->audit_owner,
		.reporter = &rig->reporter,
		.stats = &rig->stats,
	};
	struct ghyvi_audit *audit;

	rig->audit_owner.read = rig_read;
	audit = ghyvi_audit_create(&params);
	assert_false(IS_ERR(audit));
	assert_int_equal(ghyvi_audit_set_mode(audit, mode), 0);
	return audit;
}

void audit(struct rig *rig, struct ghyvi_audit *with)
{
	struct ghyvi_submission submission = {
		.engine = rig->job.engine,
		.root = (struct ghyvi_root *)rig,
		.ppgtt_mask = GENMASK_ULL(47, 0),
		.lrca = CONTEXT_GGTT,
		.ring_start = RING_GGTT,
		.ring_bytes = RING_BYTES,
		.head = rig->context[GHYVI_CTX_RING_HEAD],
		.indirect = rig->context[GHYVI_CTX_INDIRECT] & GHYVI_INDIRECT_ADDRESS,
		.indirect_bytes = (rig->context[GHYVI_CTX_INDIRECT] & GHYVI_INDIRECT_LINES) *
				  GHYVI_INDIRECT_LINE_BYTES,
	};

	ring_pad(rig);
	submission.tail = rig->tail;
	rig->job.commands = ghyvi_audit_submission(with, &submission);
	assert_false(IS_ERR(rig->job.commands));
}

void finish(struct rig *rig, struct ghyvi_audit *with)
{
	ghyvi_commands_free(rig->job.commands);
	rig->job.commands = NULL;
	ghyvi_audit_destroy(with);
	assert_int_equal(atomic64_read(&rig->stats.oracle_violations), 0);
}
