// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetching of commands from the ring and from batches. Each dword is read once, so the engine
 * executes what it decoded, whatever the guest writes concurrently. Audited commands come from the
 * auditor's copy. For those of user batches, guest memory is only compared with the copy.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "engine.h"

#define WINDOW_BYTES (GHYVI_WINDOW_DWORDS * 4u)

void softgpu_stream_drop_window(struct softgpu_engine *engine)
{
	engine->window.count = 0;
}

int softgpu_stream_push(struct softgpu_engine *engine, unsigned int level,
			const struct softgpu_stream *stream)
{
	engine->level = level;
	engine->streams[level] = *stream;
	softgpu_stream_drop_window(engine);
	return SOFTGPU_OK;
}

/*
 * MI_SET_PREDICATE does not outlast the last batch, nor a user batch that a privileged one called:
 * see predicate.c.
 */
void softgpu_stream_pop(struct softgpu_engine *engine)
{
	bool user = !softgpu_stream(engine)->privileged;

	engine->level--;
	if (!engine->level || (user && softgpu_stream(engine)->privileged))
		softgpu_job(engine->job)->noop = false;
	softgpu_stream_drop_window(engine);
}

void softgpu_stream_rewind(struct softgpu_engine *engine)
{
	if (engine->level)
		softgpu_stream(engine)->address = engine->command_pos;
	else
		engine->ring_head = engine->command_pos;
	softgpu_stream_drop_window(engine);
}

static u64 stream_position(struct softgpu_engine *engine)
{
	return engine->level ? softgpu_stream(engine)->address : engine->ring_head;
}

/* Number of bytes that may be fetched from the current position on. */
static u64 stream_left(struct softgpu_engine *engine)
{
	const struct softgpu_stream *stream = softgpu_stream(engine);

	if (engine->level)
		return stream->end ? stream->end - stream->address : U64_MAX;
	if (engine->ring_tail >= engine->ring_head)
		return engine->ring_tail - engine->ring_head;
	return engine->ring_bytes - engine->ring_head + engine->ring_tail;
}

static enum ghyvi_fetch_source stream_source(struct softgpu_engine *engine)
{
	if (!engine->level)
		return GHYVI_FETCH_RING;
	if (softgpu_stream(engine)->end)
		return GHYVI_FETCH_INDIRECT;
	return softgpu_stream(engine)->space == SOFTGPU_GGTT ? GHYVI_FETCH_GGTT : GHYVI_FETCH_PPGTT;
}

static int stream_not_audited(struct softgpu_engine *engine)
{
	ghyvi_count(engine->client->base.params.stats, oracle_violations);
	return softgpu_error(engine, "this command was not audited");
}

static void stream_copy_dwords(u32 *to, const u8 *from, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		to[i] = READ_ONCE(((const u32 *)from)[i]);
}

/*
 * Fill the window from the auditor's copy. Returns SOFTGPU_AGAIN if there is none because these
 * commands are not audited.
 */
static int stream_fill_audited(struct softgpu_engine *engine, u64 pos)
{
	const struct ghyvi_commands *commands = engine->job->commands;
	enum ghyvi_fetch_source source = stream_source(engine);
	int count, err;
	u8 *p;

	if (!commands)
		return SOFTGPU_AGAIN;
	count = ghyvi_commands_fetch(commands, source, engine->level, pos, engine->ring_head,
				     &engine->window);
	if (count == -EACCES)
		return SOFTGPU_ERROR;
	if (count < 0)
		return stream_not_audited(engine);
	if (!count)
		return SOFTGPU_AGAIN;
	if (source != GHYVI_FETCH_PPGTT)
		return SOFTGPU_OK;
	err = softgpu_map(engine, SOFTGPU_PPGTT, pos, false, &p);
	if (err) {
		softgpu_stream_drop_window(engine);
		return err;
	}
	stream_copy_dwords(engine->memory, p, count);
	engine->check_window = true;
	return SOFTGPU_OK;
}

/*
 * A GPU or a CPU has changed a user batch since its audit. The copy is not what the guest wants to
 * run any more, and the new commands are not audited: the job ends.
 */
static int stream_changed(struct softgpu_engine *engine)
{
	ghyvi_count(engine->client->base.params.stats, audit_rejects);
	return softgpu_error(engine, "audit: the batch was changed after its submission");
}

/* Fill the window from @pos up to the end of the page, of the ring or batch, or to the tail. */
static int stream_fill_window(struct softgpu_engine *engine, u64 pos)
{
	const struct softgpu_stream *stream = softgpu_stream(engine);
	unsigned int bytes;
	u64 address = pos;
	u64 limit = WINDOW_BYTES;
	u8 *p;
	int err;

	engine->check_window = false;
	err = stream_fill_audited(engine, pos);
	if (err != SOFTGPU_AGAIN)
		return err;
	if (!engine->level) {
		address += engine->ring_start;
		/* The guest may still be writing commands after the tail. */
		limit = (pos < engine->ring_tail ? engine->ring_tail : engine->ring_bytes) - pos;
	} else if (stream->end) {
		limit = stream->end - pos;
	}
	err = softgpu_map(engine, stream->space, address, false, &p);
	if (err)
		return err;
	bytes = min_t(u64, limit, WINDOW_BYTES);
	bytes = min_t(u32, bytes, GHYVI_PAGE_BYTES - (address & (GHYVI_PAGE_BYTES - 1)));
	stream_copy_dwords(engine->window.dwords, p, bytes / 4);
	engine->window.pos = pos;
	engine->window.count = bytes / 4;
	engine->window.starts = U64_MAX;
	return 0;
}

static int stream_dword(struct softgpu_engine *engine, unsigned int index, u32 *value)
{
	const struct ghyvi_cmd_prefetch *window = &engine->window;
	u64 pos = stream_position(engine) + 4ULL * index;
	unsigned int i;
	int err;

	if (!engine->level && pos >= engine->ring_bytes)
		pos -= engine->ring_bytes;
	if (pos < window->pos || pos - window->pos >= 4ULL * window->count) {
		err = stream_fill_window(engine, pos);
		if (err)
			return err;
	}
	i = (pos - window->pos) / 4;
	*value = window->dwords[i];
	if (unlikely(engine->check_window && engine->memory[i] != *value))
		return stream_changed(engine);
	return 0;
}

/* Fetch the header. A command may begin only where the auditor has seen one begin. */
static int stream_header(struct softgpu_engine *engine, u32 *header)
{
	int err = stream_dword(engine, 0, header);

	if (!err &&
	    unlikely(
		    !(engine->window.starts >> (engine->command_pos - engine->window.pos) / 4 & 1)))
		return stream_not_audited(engine);
	return err;
}

static void stream_advance(struct softgpu_engine *engine, unsigned int dwords)
{
	if (engine->level) {
		softgpu_stream(engine)->address += 4ULL * dwords;
		return;
	}
	engine->ring_head += 4 * dwords;
	if (engine->ring_head >= engine->ring_bytes)
		engine->ring_head -= engine->ring_bytes;
}

int softgpu_stream_fetch(struct softgpu_engine *engine)
{
	u64 left = stream_left(engine);
	unsigned int dwords, i;
	u32 header;
	int err;

	engine->command_pos = stream_position(engine);
	if (!left)
		return SOFTGPU_DONE;
	err = stream_header(engine, &header);
	if (err)
		return err;
	engine->packet[0] = header;
	engine->command = ghyvi_command_find(engine->id, header);
	dwords = ghyvi_command_dwords(engine->id, engine->command, header);
	engine->packet_dwords = dwords;
	if (!dwords)
		return softgpu_error(engine, "command %#010x has an invalid type for this engine",
				     header);
	if (4ULL * dwords > left)
		return softgpu_error(engine, "command %#010x: %u dwords do not fit into the %s",
				     header, dwords, engine->level ? "batch" : "ring");
	if (!softgpu_packet_skipped(engine->command, header)) {
		if (dwords > GHYVI_PACKET_DWORDS_MAX)
			return softgpu_error(engine, "command %#010x is too long", header);
		for (i = 1; i < dwords; i++) {
			err = stream_dword(engine, i, &engine->packet[i]);
			if (err)
				return err;
		}
		/*
		 * Clear optional dwords that a short packet omits: they hold data of earlier
		 * packets.
		 */
		if (dwords > 1)
			memset(&engine->packet[dwords], 0, SOFTGPU_OPTIONAL_DWORDS * sizeof(u32));
	}
	stream_advance(engine, dwords);
	return SOFTGPU_OK;
}

int softgpu_check_command(struct softgpu_engine *engine, const char *type)
{
	const struct ghyvi_command *command = engine->command;

	if (!command || command->gen > engine->client->base.params.gen)
		return softgpu_error(engine, "%scommand %#010x is unknown", type,
				     engine->packet[0]);
	if (engine->packet_dwords < command->least || engine->packet_dwords > command->most)
		return softgpu_error(engine, "%s of %u dwords", command->name,
				     engine->packet_dwords);
	return SOFTGPU_OK;
}
