// SPDX-License-Identifier: GPL-2.0-only
/* The auditor of one vGPU: settings, submissions, reports. */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <ghyvi/choice.h>
#include "audit.h"

static const char *const modes[] = {
	[GHYVI_AUDIT_PRIVILEGED] = "privileged",
	[GHYVI_AUDIT_FULL] = "full",
	[GHYVI_AUDIT_LOG] = "log",
};

static const char *mode_name(unsigned int i)
{
	return modes[i];
}

static const struct ghyvi_choices mode_choices = { mode_name, ARRAY_SIZE(modes) };

struct ghyvi_audit *ghyvi_audit_create(const struct ghyvi_audit_params *params)
{
	struct ghyvi_audit *audit = kvzalloc(sizeof(*audit), GFP_KERNEL_ACCOUNT);

	if (!audit)
		return ERR_PTR(-ENOMEM);
	audit->params = *params;
	mutex_init(&audit->lock);
	audit->mode = GHYVI_AUDIT_PRIVILEGED;
	audit->shortcuts = ghyvi_audit_shortcuts(params->gen);
	audit->budget = (struct ghyvi_audit_budget){
		.budget_bytes = GHYVI_AUDIT_BYTES_DEFAULT,
		.budget_commands = GHYVI_AUDIT_COMMANDS_DEFAULT,
		.budget_batches = GHYVI_AUDIT_BATCHES_DEFAULT,
	};
	return audit;
}

void ghyvi_audit_destroy(struct ghyvi_audit *audit)
{
	ghyvi_audit_reset(audit);
	mutex_destroy(&audit->lock);
	kvfree(audit);
}

void ghyvi_audit_set_ggtt(struct ghyvi_audit *audit, const struct ghyvi_range *ggtt,
			  unsigned int nr_ggtt)
{
	memcpy(audit->params.ggtt, ggtt, nr_ggtt * sizeof(*ggtt));
	audit->params.nr_ggtt = nr_ggtt;
}

int ghyvi_audit_set_mode(struct ghyvi_audit *audit, const char *name)
{
	int mode = ghyvi_choice_find(&mode_choices, name);

	if (mode < 0)
		return mode;
	mutex_lock(&audit->lock);
	WRITE_ONCE(audit->mode, mode);
	mutex_unlock(&audit->lock);
	return 0;
}

int ghyvi_audit_mode_list(struct ghyvi_audit *audit, char *buffer, size_t bytes)
{
	return ghyvi_choice_list(&mode_choices, READ_ONCE(audit->mode), buffer, bytes);
}

void ghyvi_audit_get_budget(struct ghyvi_audit *audit, struct ghyvi_audit_budget *budget)
{
	mutex_lock(&audit->lock);
	*budget = audit->budget;
	mutex_unlock(&audit->lock);
}

int ghyvi_audit_set_budget(struct ghyvi_audit *audit, const struct ghyvi_audit_budget *budget)
{
	if (budget->budget_bytes < GHYVI_AUDIT_BYTES_MIN ||
	    budget->budget_bytes > GHYVI_AUDIT_BYTES_MAX ||
	    budget->budget_commands < GHYVI_AUDIT_COMMANDS_MIN ||
	    budget->budget_commands > GHYVI_AUDIT_COMMANDS_MAX ||
	    budget->budget_batches < GHYVI_AUDIT_BATCHES_MIN ||
	    budget->budget_batches > GHYVI_AUDIT_BATCHES_MAX)
		return -EINVAL;
	mutex_lock(&audit->lock);
	audit->budget = *budget;
	mutex_unlock(&audit->lock);
	return 0;
}

void ghyvi_audit_dump(struct ghyvi_audit *audit, struct seq_file *m)
{
	struct audit_reject last;

	mutex_lock(&audit->lock);
	seq_printf(m, "mode: %s\n", modes[audit->mode]);
	last = audit->last;
	mutex_unlock(&audit->lock);
	ghyvi_audit_print(&last, m);
}

static struct audit_segment *segment_create(u32 from, u32 to)
{
	struct audit_segment *segment = kzalloc(sizeof(*segment), GFP_KERNEL_ACCOUNT);

	if (!segment)
		return NULL;
	segment->from = from;
	segment->to = to;
	segment->stop = to;
	return segment;
}

/* Make a complete segment visible to the engine. */
static void segment_publish(struct ghyvi_commands *commands, struct audit_segment *segment)
{
	segment->older = commands->newest;
	smp_store_release(&commands->newest, segment); /* pairs with newest_segment() */
	commands->nr_segments++;
}

int ghyvi_audit_add_segment(struct ghyvi_commands *commands, u32 from, u32 to,
			    const struct audit_saved *saved)
{
	struct ghyvi_audit *audit = commands->audit;
	struct ghyvi_audit_budget budget;
	u64 started_ns = ktime_get_ns();
	struct audit_scan scan = {
		.audit = audit,
		.commands = commands,
		.saved = saved,
		.engine = commands->submission.engine,
	};
	int err;

	scan.segment = segment_create(from, to);
	if (!scan.segment)
		return -ENOMEM;
	ghyvi_audit_get_budget(audit, &budget);
	if (saved) { /* bounded by the size of the state */
		budget.budget_commands = GHYVI_AUDIT_COMMANDS_MAX;
		budget.budget_batches = GHYVI_AUDIT_BATCHES_MAX;
	}
	scan.commands_left = budget.budget_commands;
	scan.batches_left = budget.budget_batches;
	err = ghyvi_audit_scan_segment(&scan);
	if (err)
		ghyvi_audit_segment_free(audit, scan.segment);
	else
		segment_publish(commands, scan.segment);
	ghyvi_count_add(audit->params.stats, audited_commands,
			budget.budget_commands - scan.commands_left);
	ghyvi_count_add(audit->params.stats, audit_ns, ktime_get_ns() - started_ns);
	return err;
}

/* What is audited of a submission to @engine: at least what the pGPU needs. */
static enum ghyvi_audit_mode mode_for(struct ghyvi_audit *audit, enum ghyvi_engine_id engine)
{
	lockdep_assert_held(&audit->lock);
	if (audit->mode == GHYVI_AUDIT_LOG && audit->params.enforced)
		return GHYVI_AUDIT_FULL;
	if (audit->mode == GHYVI_AUDIT_PRIVILEGED && audit->params.user_engines & BIT(engine))
		return GHYVI_AUDIT_FULL;
	return audit->mode;
}

int ghyvi_audit_saved_mode(struct ghyvi_audit *audit, enum ghyvi_engine_id engine, u32 mode)
{
	enum ghyvi_audit_mode ours;

	mutex_lock(&audit->lock);
	ours = mode_for(audit, engine);
	mutex_unlock(&audit->lock);
	switch (mode) {
	case GHYVI_AUDIT_PRIVILEGED: /* user batches were not copied */
		return audit->params.user_engines & BIT(engine) ? -EINVAL : (int)mode;
	case GHYVI_AUDIT_FULL:
		return mode;
	case GHYVI_AUDIT_LOG: /* the same copies */
		return ours == GHYVI_AUDIT_LOG ? ours : GHYVI_AUDIT_FULL;
	}
	return -EINVAL;
}

struct ghyvi_commands *ghyvi_audit_submission(struct ghyvi_audit *audit,
					      const struct ghyvi_submission *submission)
{
	struct ghyvi_commands *commands = kzalloc(sizeof(*commands), GFP_KERNEL_ACCOUNT);
	int err;

	if (!commands)
		return ERR_PTR(-ENOMEM);
	commands->audit = audit;
	commands->submission = *submission;
	mutex_lock(&audit->lock);
	commands->mode = mode_for(audit, submission->engine);
	commands->bytes_left = audit->budget.budget_bytes;
	mutex_unlock(&audit->lock);
	err = ghyvi_audit_add_segment(commands, submission->head, submission->tail, NULL);
	if (err) {
		ghyvi_commands_free(commands);
		return ERR_PTR(err);
	}
	commands->ring_left =
		submission->ring_bytes -
		audit_ring_distance(submission, submission->head, ghyvi_commands_tail(commands));
	return commands;
}

u32 ghyvi_commands_tail(const struct ghyvi_commands *commands)
{
	return commands->newest->to;
}

int ghyvi_audit_extend(struct ghyvi_commands *commands, u32 tail)
{
	const struct ghyvi_submission *submission = &commands->submission;
	const struct audit_segment *newest = commands->newest;
	u32 bytes = audit_ring_distance(submission, newest->to, tail);
	int err;

	if (newest->refused || commands->nr_segments >= AUDIT_SEGMENTS_MAX ||
	    bytes >= commands->ring_left)
		return -ENOSPC;
	err = ghyvi_audit_add_segment(commands, newest->to, tail, NULL);
	if (!err)
		commands->ring_left -= bytes;
	return err;
}
