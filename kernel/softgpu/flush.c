// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands with a post-sync operation (MI_FLUSH_DW, PIPE_CONTROL), and the store to a status page.
 * The software pGPU executes all commands in order, so a flush has nothing to wait for.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "engine.h"

enum {
	POST_NONE,
	POST_IMMEDIATE,
	POST_DEPTH_COUNT,
	POST_TIMESTAMP,
};

#define INDEX_MASK GENMASK(11, 2)

/* A post-sync write. */
struct post {
	enum softgpu_space space;
	u64 address;
	u64 value;
	bool qword;
};

static int softgpu_post(struct softgpu_engine *engine, const struct post *post)
{
	if (post->qword)
		return softgpu_write64(engine, post->space, post->address, post->value);
	return softgpu_write32(engine, post->space, post->address, lower_32_bits(post->value));
}

/*
 * The status page of a context is the first page of its image. The guest sets the address of the
 * engine's status page in RING_HWS_PGA.
 */
static u64 context_page(const struct softgpu_engine *engine)
{
	return engine->job->lrca & GHYVI_PAGE_MASK;
}

static u64 engine_page(const struct softgpu_engine *engine)
{
	u32 offset = engine->base + RING_HWS_PGA;

	if (offset >= engine->client->base.params.registers_bytes)
		return 0;
	return READ_ONCE(engine->client->base.params.registers[offset / 4]) & GHYVI_PAGE_MASK;
}

static void softgpu_flush(struct softgpu_engine *engine, u32 flags)
{
	if (flags & MI_INVALIDATE_TLB)
		softgpu_tlb_flush(engine);
}

/* A flush in a user batch raises no interrupt. */
static void softgpu_notify(struct softgpu_engine *engine, u32 flags)
{
	if (flags & MI_FLUSH_DW_NOTIFY && softgpu_stream(engine)->privileged)
		engine->events |= GHYVI_EVENT_FLUSH_NOTIFY;
}

/*
 * Set the target of a post-sync write. Returns false if the write must be dropped: a user batch
 * must not write to the GGTT, which maps the guest kernel's breadcrumbs and context status buffers.
 * Both status pages are in the GGTT: i915 of 5.8 and 5.9 keeps a context's breadcrumbs in its page.
 */
static bool post_target(struct softgpu_engine *engine, struct post *post, bool index, bool ggtt)
{
	bool privileged = softgpu_stream(engine)->privileged;

	if ((ggtt || index) && !privileged)
		return false;
	post->space = ggtt || index ? SOFTGPU_GGTT : SOFTGPU_PPGTT;
	/* The index is an offset within the status page. */
	if (index)
		post->address = (ggtt ? engine_page(engine) : context_page(engine)) +
				(post->address & (post->qword ? INDEX_MASK & ~7ull : INDEX_MASK));
	return true;
}

int softgpu_mi_store_index(struct softgpu_engine *engine)
{
	const u32 *packet = engine->packet;
	struct post post = {
		.address = packet[1],
		.value = (u64)packet[3] << 32 | packet[2],
		.qword = engine->packet_dwords == 4,
	};

	if (!post_target(engine, &post, true, !(packet[0] & MI_STORE_INDEX_PPHWSP)))
		return SOFTGPU_OK;
	return softgpu_post(engine, &post);
}

int softgpu_mi_flush_dw(struct softgpu_engine *engine)
{
	const u32 *packet = engine->packet;
	struct post post = {
		.address = gen8_cmd_qword_address(&packet[1]),
		.value = (u64)packet[4] << 32 | packet[3],
		.qword = engine->packet_dwords == 5,
	};
	u32 flags = packet[0];
	int err = 0;

	softgpu_flush(engine, flags);
	switch (GEN8_POST_SYNC(flags)) {
	case POST_NONE:
		break;
	case POST_TIMESTAMP:
		post.value = softgpu_engine_timestamp(engine);
		post.qword = true;
		fallthrough;
	case POST_IMMEDIATE:
		if (post_target(engine, &post, flags & GEN8_POST_STORE_INDEX,
				packet[1] & MI_FLUSH_DW_USE_GTT))
			err = softgpu_post(engine, &post);
		break;
	default:
		return softgpu_error(engine, "FLUSH_DW with a reserved post operation");
	}
	if (!err)
		softgpu_notify(engine, flags);
	return err;
}

int softgpu_pipe_control(struct softgpu_engine *engine)
{
	const u32 *packet = engine->packet;
	struct post post = {
		.address = gen8_cmd_qword_address(&packet[2]),
		.value = (u64)packet[5] << 32 | packet[4],
		.qword = true,
	};
	u32 flags = packet[1];
	int err = 0;

	if (engine->packet_dwords < engine->command->least ||
	    engine->packet_dwords > engine->command->most)
		return softgpu_error(engine, "PIPE_CONTROL of %u dwords", engine->packet_dwords);
	softgpu_flush(engine, flags);
	if (flags & PIPE_CONTROL_MMIO_WRITE) {
		if (softgpu_stream(engine)->privileged)
			return softgpu_error(engine, "PIPE_CONTROL that writes register %#x",
					     packet[2]);
		return SOFTGPU_OK;
	}
	switch (GEN8_POST_SYNC(flags)) {
	case POST_NONE:
		break;
	case POST_DEPTH_COUNT:
		post.value = 0; /* nothing is drawn */
		break;
	case POST_TIMESTAMP:
		post.value = softgpu_engine_timestamp(engine);
		break;
	}
	if (GEN8_POST_SYNC(flags) != POST_NONE &&
	    post_target(engine, &post, flags & GEN8_POST_STORE_INDEX,
			flags & PIPE_CONTROL_GLOBAL_GTT_IVB))
		err = softgpu_post(engine, &post);
	if (!err)
		softgpu_notify(engine, flags);
	return err;
}
