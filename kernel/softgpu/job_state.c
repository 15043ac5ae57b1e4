// SPDX-License-Identifier: GPL-2.0-only
/*
 * A preempted job as state of a migrated vGPU. The state comes from user space of the host. So each
 * position must be one where audited commands begin; what is not audited is checked when it runs.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/string.h>
#include "engine.h"
#include "workers.h"

/* @begun. Ghyvi that does not know the last ones refuses them, instead of repeating the command. */
enum {
	JOB_NOT_BEGUN,
	JOB_BETWEEN_COMMANDS,
	JOB_WITHIN_A_BLIT, /* @rows of it are done */
	JOB_WITHIN_A_DISPATCH, /* @rows and @groups_high have how many of its groups are done */
	JOB_WITHIN_A_GROUP, /* the same, and the next one is in progress */
};

struct softgpu_job_state {
	u32 begun;
	u32 known_tail;
	u64 spent_ns;
	u32 level;
	u32 noop;
	struct {
		u64 address;
		u32 ggtt;
		u32 extra; /* of the first: it is the indirect one; of the second: @slices */
	} batches[GHYVI_BATCH_LEVELS];
	struct softgpu_blt_setup setup;
	u32 rows;
	u32 groups_high; /* 0 within a blit */
};

void softgpu_job_save(const struct ghyvi_job *job, void *to)
{
	const struct softgpu_job *from = softgpu_job(job);
	struct softgpu_job_state *state = to;
	unsigned int i;

	BUILD_BUG_ON(sizeof(*state) != SOFTGPU_JOB_STATE_BYTES);
	*state = (struct softgpu_job_state){
		.begun = from->rows   ? JOB_WITHIN_A_BLIT :
			 from->group  ? JOB_WITHIN_A_GROUP :
			 from->groups ? JOB_WITHIN_A_DISPATCH :
			 from->begun  ? JOB_BETWEEN_COMMANDS :
					JOB_NOT_BEGUN,
		.known_tail = from->known_tail,
		.spent_ns = from->spent_ns,
		.level = from->level,
		.noop = from->noop,
		.setup = from->setup,
		.rows = from->rows ?: lower_32_bits(from->groups),
		.groups_high = upper_32_bits(from->groups),
	};
	state->batches[0].extra = from->indirect;
	state->batches[1].extra = from->slices;
	for (i = 0; i < from->level; i++) {
		state->batches[i].address = from->batches[i].address;
		state->batches[i].ggtt = from->batches[i].ggtt;
	}
}

/* Would an engine find a command at this position? One that is refused stops the job there. */
static bool is_command(const struct ghyvi_job *job, enum ghyvi_fetch_source source,
		       unsigned int level, u64 pos)
{
	u32 head = job->context[GHYVI_CTX_RING_HEAD] & RING_HEAD_MASK;
	struct ghyvi_cmd_prefetch window;
	int count;

	if (pos & 3)
		return false;
	count = ghyvi_commands_fetch(job->commands, source, level, pos, head, &window);
	return count > 0 ? window.starts & 1 : !count || count == -EACCES;
}

/* The indirect context batch runs on the render engine, and ends without a command at its end. */
static bool indirect_ok(const struct ghyvi_job *job, const struct softgpu_job_state *state)
{
	u32 value = job->context[GHYVI_CTX_INDIRECT];
	u64 begin = ghyvi_indirect_begin(value), end = ghyvi_indirect_end(value);
	u64 pos = state->batches[0].address;

	return state->level == 1 && state->batches[0].ggtt && job->engine == GHYVI_RCS &&
	       begin < end && pos >= begin && pos <= end &&
	       (pos == end || is_command(job, GHYVI_FETCH_INDIRECT, 1, pos));
}

/*
 * Of the rows of a blit, only those of its rectangle count; there are no more coordinates. Thread
 * groups of a dispatch beyond its last one do not count either.
 */
static bool rows_ok(const struct ghyvi_job *job, const struct softgpu_job_state *state)
{
	if (state->begun == JOB_WITHIN_A_GROUP)
		return job->engine == GHYVI_RCS;
	if (state->begun == JOB_WITHIN_A_DISPATCH)
		return (state->rows || state->groups_high) && job->engine == GHYVI_RCS;
	if (state->groups_high)
		return false;
	if (state->begun != JOB_WITHIN_A_BLIT)
		return !state->rows;
	return state->rows && state->rows <= SOFTGPU_ROWS_MAX && job->engine == GHYVI_BCS;
}

static bool position_ok(const struct ghyvi_job *job, const struct softgpu_job_state *state)
{
	const u32 *context = job->context;
	u32 head = context[GHYVI_CTX_RING_HEAD] & RING_HEAD_MASK;
	u32 bytes = (context[GHYVI_CTX_RING_CTL] & RING_CTL_PAGES) + GHYVI_PAGE_BYTES;
	u32 left = (context[GHYVI_CTX_RING_TAIL] + bytes - head) % bytes;
	unsigned int i;

	if (left && !is_command(job, GHYVI_FETCH_RING, 0, head))
		return false;
	if (!rows_ok(job, state) || state->batches[0].extra > 1)
		return false;
	if (!state->begun)
		return !state->level && !state->batches[0].extra;
	if (state->level > GHYVI_BATCH_LEVELS || state->known_tail >= bytes ||
	    state->known_tail & 3 || (state->known_tail + bytes - head) % bytes > left)
		return false;
	if (state->batches[0].extra)
		return indirect_ok(job, state);
	for (i = 0; i < state->level; i++)
		if (state->batches[i].ggtt > 1 ||
		    !is_command(job, state->batches[i].ggtt ? GHYVI_FETCH_GGTT : GHYVI_FETCH_PPGTT,
				i + 1, state->batches[i].address))
			return false;
	return true;
}

int softgpu_job_load(struct ghyvi_job *job, const void *from)
{
	const struct softgpu_job_state *state = from;
	struct softgpu_job *to = softgpu_job(job);
	unsigned int i;

	if (state->begun > JOB_WITHIN_A_GROUP || state->noop > 1 || !position_ok(job, state))
		return -EINVAL;
	to->begun = state->begun != JOB_NOT_BEGUN;
	to->known_tail = state->known_tail;
	to->spent_ns = state->spent_ns;
	to->level = state->level;
	to->indirect = state->batches[0].extra;
	to->slices = state->batches[1].extra;
	to->rows = state->begun == JOB_WITHIN_A_BLIT ? state->rows : 0;
	to->groups = 0;
	if (state->begun >= JOB_WITHIN_A_DISPATCH)
		to->groups = (u64)state->groups_high << 32 | state->rows;
	job->compute = job->engine == GHYVI_RCS; /* perhaps: see struct ghyvi_job */
	to->noop = state->noop;
	to->setup = state->setup;
	for (i = 0; i < state->level; i++) {
		to->batches[i].address = state->batches[i].address;
		to->batches[i].ggtt = state->batches[i].ggtt;
	}
	to->group_missing = state->begun == JOB_WITHIN_A_GROUP;
	return to->group_missing;
}

/* ---- the thread group in progress: what it is, the worker checks that gets it ---- */

void softgpu_job_free(struct ghyvi_job *job)
{
	struct softgpu_job *backend = softgpu_job(job);

	kvfree(backend->group);
	backend->group = NULL;
	/* Nothing is stored for a job that has ended, nor while its vGPU is paused. */
	if (backend->given_up)
		softgpu_client_take_pages(softgpu_client(job->client));
	backend->given_up = false;
}

size_t softgpu_job_group_bytes(const struct ghyvi_job *job)
{
	const struct softgpu_group *group = softgpu_job(job)->group;

	return group ? group->bytes : 0;
}

void softgpu_job_group_save(const struct ghyvi_job *job, void *state)
{
	const struct softgpu_group *group = softgpu_job(job)->group;

	memcpy(state, group->data, group->bytes);
}

int softgpu_job_group_load(struct ghyvi_job *job, const void *state, size_t bytes)
{
	struct softgpu_job *to = softgpu_job(job);

	if (!to->group_missing || !softgpu_group_fits(bytes))
		return -EINVAL;
	to->group = softgpu_group_create(bytes);
	if (!to->group)
		return -ENOMEM;
	memcpy(to->group->data, state, bytes);
	to->group_missing = false;
	return 0;
}
