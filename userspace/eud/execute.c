// SPDX-License-Identifier: GPL-2.0-only
/* What a process of ghyvi-eud does with a dispatch: see execute.h. */
#include <stdio.h>
#include <string.h>
#include "execute.h"

static void refuse(struct ghyvi_eu_next *next, const struct eu_error *error)
{
	next->status = GHYVI_EU_ERROR;
	if (error->ip)
		snprintf(next->text, sizeof(next->text), "%.60s, instruction at %#llx", error->text,
			 (unsigned long long)error->ip);
	else
		snprintf(next->text, sizeof(next->text), "%.119s", error->text);
}

/* A command of the context's image, which is the guest's memory: another header is no command. */
static bool take_kept(struct eud *eud, uint32_t opcode, const uint32_t *command, uint32_t dwords,
		      struct eu_error *error)
{
	struct eu_dispatch none;

	return command[0] >> 16 != opcode ||
	       eu_state_command(&eud->state, &eud->memory, command, dwords, &none, error) !=
		       EU_COMMAND_ERROR;
}

static bool take_state(struct eud *eud, const struct ghyvi_eu_next *next, struct eu_error *error)
{
	memset(&eud->state, 0, sizeof(eud->state));
	memcpy(eud->state.dispatch_dim, next->dispatch_dim, sizeof(next->dispatch_dim));
	return take_kept(eud, EU_STATE_BASE_ADDRESS, next->base, 19, error) &&
	       take_kept(eud, EU_MEDIA_VFE_STATE, next->vfe, 9, error) &&
	       take_kept(eud, EU_MEDIA_CURBE_LOAD, next->constants, 4, error) &&
	       take_kept(eud, EU_MEDIA_INTERFACE_DESCRIPTOR_LOAD, next->descriptors, 4, error);
}

static bool asks(const uint32_t *word, const struct ghyvi_eu_next *next)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED) == next->number;
}

/* Whether the run may stop here. Without a group in progress that costs little. */
static bool give_way(struct eud *eud, struct eu_run *run, struct ghyvi_eu_next *next)
{
	bool within = !eu_run_at_boundary(run);

	if (within && eud->no_room == next->number)
		return false;
	next->status = GHYVI_EU_YIELDED;
	next->group_bytes = within ? eu_run_save(run, eud->group, GHYVI_EU_GROUP_BYTES) : 0;
	return true;
}

/*
 * A dispatch that is to give way executes one more slice, so that each of them gets somewhere, and
 * most end a group.
 */
static void execute_run(struct eud *eud, struct eu_run *run, struct ghyvi_eu_next *next)
{
	struct eu_error error = { .status = EU_DONE };
	struct eu_counters before, now;
	bool yield, limited = next->slices, spent = false;
	enum eu_status status;

	eu_run_counters(run, &before);
	do {
		if (asks(&eud->control->abort, next))
			return; /* any answer is right */
		yield = asks(&eud->control->yield, next);
		status = yield ? eu_run_to_boundary(run, GHYVI_EU_SLICE_INSTRUCTIONS, &error) :
				 eu_run(run, GHYVI_EU_SLICE_INSTRUCTIONS, &error);
		if (limited)
			spent = !--next->slices;
	} while (status == EU_AGAIN && !spent && !(yield && give_way(eud, run, next)));
	if (status == EU_AGAIN && spent) { /* it costs the job: nothing goes on */
		next->status = GHYVI_EU_YIELDED;
		next->group_bytes = 0;
	}
	eu_run_counters(run, &now);
	if (status == EU_AGAIN)
		next->groups += now.groups - before.groups;
	else if (status != EU_DONE)
		refuse(next, &error);
}

void eud_execute(struct eud *eud, struct ghyvi_eu_next *next)
{
	struct eu_error error = { .status = EU_DONE };
	struct eu_dispatch dispatch;
	struct eu_run *run;

	next->status = GHYVI_EU_DONE;
	if (!take_state(eud, next, &error)) {
		refuse(next, &error);
		return;
	}
	switch (eu_state_command(&eud->state, &eud->memory, next->command, next->dwords, &dispatch,
				 &error)) {
	case EU_COMMAND_DISPATCH:
		break;
	case EU_COMMAND_ERROR:
		refuse(next, &error);
		return;
	default:
		return;
	}
	dispatch.skip = next->groups;
	run = eu_run_begin(eud->cache, &eud->memory, &dispatch, &error);
	if (!run) {
		refuse(next, &error);
		return;
	}
	if (next->group_bytes && eu_run_restore(run, eud->group, next->group_bytes)) {
		snprintf(error.text, sizeof(error.text), "a saved thread group does not fit");
		refuse(next, &error);
	} else {
		execute_run(eud, run, next);
	}
	eu_run_end(run);
}
