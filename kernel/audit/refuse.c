// SPDX-License-Identifier: GPL-2.0-only
/* Refused commands: which rule they break, and how that is reported. */
#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <trace/events/ghyvi.h>
#include "audit.h"

#define AUDIT_RULE_TEXT(identifier, name, reason) { name, reason },
/* By enum audit_rule. */
static const struct {
	const char *name, *reason;
} rules[] = { { "passed", "" }, AUDIT_RULES(AUDIT_RULE_TEXT) };

static const char *const sources[] = {
	[GHYVI_FETCH_RING] = "ring",
	[GHYVI_FETCH_INDIRECT] = "context batch",
	[GHYVI_FETCH_GGTT] = "privileged batch",
	[GHYVI_FETCH_PPGTT] = "user batch",
};

int ghyvi_audit_refuse(struct audit_scan *scan, enum audit_rule rule)
{
	/* An extension: the workload can end at its old tail instead. */
	if (rule >= AUDIT_SPLITS && scan->commands->newest)
		return -ENOSPC;
	scan->rule = rule;
	return -EACCES;
}

struct audit_reject ghyvi_audit_rejected(const struct audit_scan *scan)
{
	return (struct audit_reject){
		.rule = scan->rule,
		.engine = scan->engine,
		.lrca = scan->commands->submission.lrca,
		.ring_pos = scan->source == GHYVI_FETCH_RING ? (u32)scan->pos : scan->ring_pos,
		.pos = scan->pos,
		.source = scan->source,
		.header = scan->header,
		.command = scan->command ? scan->command->name : "command",
	};
}

void ghyvi_audit_report(const struct audit_scan *scan, const struct audit_reject *reject)
{
	const struct ghyvi_audit_params *params = &scan->audit->params;

	if (scan->saved)
		return;
	ghyvi_count(params->stats, audit_rejects);
	trace_ghyvi_reject(params->reporter, reject->engine, reject->lrca, reject->source,
			   reject->pos, reject->header, rules[reject->rule].name);
	ghyvi_report_stop(params->reporter, reject->engine,
			  "audit: %s: context %#x, %s at %#llx: %s %#010x %s: %s (%s)",
			  ghyvi_engine_name(reject->engine), reject->lrca, sources[reject->source],
			  (unsigned long long)reject->pos, reject->command, reject->header,
			  scan->commands->mode == GHYVI_AUDIT_LOG ? "would be refused" : "refused",
			  rules[reject->rule].name, rules[reject->rule].reason);
	if (scan->commands->mode == GHYVI_AUDIT_LOG)
		ghyvi_report_stop_take(params->reporter, reject->engine, NULL);
	mutex_lock(&scan->audit->lock);
	scan->audit->last = *reject;
	mutex_unlock(&scan->audit->lock);
}

void ghyvi_audit_print(const struct audit_reject *reject, struct seq_file *m)
{
	if (reject->rule == AUDIT_PASSED) {
		seq_puts(m, "refused: nothing\n");
		return;
	}
	seq_printf(
		m,
		"refused: engine=%s context=0x%x ring=0x%x %s=0x%llx command=%s header=0x%08x rule=%s\n",
		ghyvi_engine_name(reject->engine), reject->lrca, reject->ring_pos,
		sources[reject->source], (unsigned long long)reject->pos, reject->command,
		reject->header, rules[reject->rule].name);
}
