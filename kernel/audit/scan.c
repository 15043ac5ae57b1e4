// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scan of command streams: check each command in a copied page (copy.c), and follow batch
 * starts. No command is checked twice at one batch level, so loops end. Batches to scan are in a
 * list, so nothing recurses.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <ghyvi/gen8_cmds.h>
#include "audit.h"
#include "tables.h"

/* Copy the other pages that the current command spans. */
static int copy_packet(struct audit_scan *scan)
{
	unsigned int done = AUDIT_PAGE_DWORDS - audit_dword_in_page(scan->pos);
	struct audit_page *page;
	int err = 0;

	for (; done < scan->dwords && !err; done += AUDIT_PAGE_DWORDS)
		err = ghyvi_audit_copy_page(scan, audit_pos_after(scan, done), &page);
	return err;
}

/* Look up the command at scan->at and check its length. */
static int decode_header(struct audit_scan *scan)
{
	const struct ghyvi_command *command = ghyvi_command_in_tables(scan->engine, scan->header);

	scan->command = command;
	if (!command || command->gen > scan->audit->params.gen)
		return ghyvi_audit_refuse(scan, AUDIT_UNKNOWN);
	scan->dwords = ghyvi_command_length(command, scan->header);
	if (scan->dwords < command->least || scan->dwords > command->most)
		return ghyvi_audit_refuse(scan, AUDIT_LENGTH);
	if (4LL * scan->dwords > scan->left)
		return ghyvi_audit_refuse(scan, AUDIT_FIT);
	return 0;
}

/* Check the command at scan->at, plain or not. */
static int scan_command(struct audit_scan *scan)
{
	unsigned int index = audit_dword_in_page(scan->pos);
	int err;

	scan->header = scan->page->dwords[index];
	err = decode_header(scan);
	if (!err && scan->dwords > AUDIT_PAGE_DWORDS - index)
		err = copy_packet(scan);
	if (!err && !scan->command->plain)
		err = ghyvi_audit_check(scan);
	return err;
}

static void scan_advance(struct audit_scan *scan, unsigned int dwords, unsigned int commands)
{
	scan->pos = audit_pos_after(scan, dwords);
	scan->left -= 4LL * dwords;
	scan->commands_left -= commands;
}

/*
 * Check the commands that begin in scan->page from scan->at on, until the page or the stream ends.
 * There is at least one. The stream also ends where it joins commands that were checked before at
 * this batch level. For speed, state that changes with each command is in local variables; @done is
 * the index of scan->at.
 */
static int scan_page(struct audit_scan *scan)
{
	const struct ghyvi_audit_shortcuts *shortcuts = &scan->audit->shortcuts[scan->engine];
	const u32 *page = scan->page->dwords;
	unsigned int index = audit_dword_in_page(scan->pos), done = index, window = index / 64,
		     commands = 0, dwords;
	const unsigned int end = min_t(u64, AUDIT_PAGE_DWORDS, index + (u64)scan->left / 4);
	u64 *starts = scan->page->starts[scan->level == 2], seen = starts[window];
	const struct audit_shortcut *shortcut;
	int err;

	for (;;) {
		if (index / 64 != window) {
			starts[window] = seen;
			window = index / 64;
			seen = starts[window];
		}
		if (seen & BIT_ULL(index % 64)) {
			starts[window] = seen;
			scan_advance(scan, index - done, commands);
			scan->left = 0;
			return 0;
		}
		seen |= BIT_ULL(index % 64);
		commands++;
		shortcut = audit_shortcut_find(shortcuts, page[index]);
		dwords = audit_shortcut_length(shortcut, page[index]);
		if (likely(dwords >= shortcut->least && dwords <= shortcut->most &&
			   dwords < end - index)) {
			index += dwords;
			continue;
		}
		starts[window] = seen;
		scan_advance(scan, index - done, commands);
		done = index;
		commands = 0;
		err = scan_command(scan);
		if (err)
			starts[window] &= ~BIT_ULL(index % 64);
		if (err || !scan->left)
			return err;
		index += scan->dwords;
		if (index >= end)
			break;
	}
	starts[window] = seen;
	scan_advance(scan, index - done, commands);
	return 0;
}

/*
 * Check all commands from scan->at to the end of the stream. A batch must end before its address
 * space does: hardware executes a copy, which is at other addresses and does not continue with the
 * first page.
 */
static int scan_stream(struct audit_scan *scan)
{
	u64 from;
	int err = 0;

	while (!err && scan->left > 0) {
		from = scan->pos;
		err = ghyvi_audit_copy_page(scan, from, &scan->page);
		if (!err)
			err = scan_page(scan);
		if (!err && scan->left > 0 && scan->pos < from && scan->source != GHYVI_FETCH_RING)
			err = ghyvi_audit_refuse(scan, AUDIT_FIT);
	}
	return err;
}

static void start_stream(struct audit_scan *scan, u8 source, u8 level, u64 pos, s64 left)
{
	scan->source = source;
	scan->level = level;
	scan->privileged = source != GHYVI_FETCH_PPGTT;
	scan->mask = scan->privileged ? GENMASK_ULL(31, 0) : scan->commands->submission.ppgtt_mask;
	scan->pos = pos;
	scan->left = left;
	scan->command = NULL;
	scan->header = 0;
	scan->dwords = 0;
}

static int scan_indirect(struct audit_scan *scan)
{
	const struct ghyvi_submission *submission = &scan->commands->submission;

	/* It runs once per workload, and only if the ring is not empty. */
	if (scan->commands->newest || !submission->indirect_bytes ||
	    scan->segment->from == scan->segment->to)
		return 0;
	start_stream(scan, GHYVI_FETCH_INDIRECT, 0, submission->indirect,
		     submission->indirect_bytes);
	return scan_stream(scan);
}

static int scan_ring(struct audit_scan *scan)
{
	const struct audit_segment *segment = scan->segment;

	start_stream(scan, GHYVI_FETCH_RING, 0, segment->from,
		     audit_ring_distance(&scan->commands->submission, segment->from, segment->to));
	return scan_stream(scan);
}

static int scan_batch(struct audit_scan *scan, const struct audit_target *target)
{
	if (ghyvi_audit_target_seen(scan, target->address, target->source, target->level))
		return 0;
	scan->ring_pos = target->ring_pos;
	start_stream(scan, target->source, target->level, target->address, S64_MAX);
	if (!scan->batches_left)
		return ghyvi_audit_refuse(scan, AUDIT_BATCHES);
	scan->batches_left--;
	if (scan->commands_left < 0)
		return ghyvi_audit_refuse(scan, AUDIT_COMMANDS);
	cond_resched();
	return scan_stream(scan);
}

/*
 * A budget was exceeded by the ring's command at @limit, or by a batch that it starts; or the
 * command is MI_UPDATE_GTT. If a part of the submission before it can run, let the segment end
 * there; the rest is another submission. Tails are multiples of AUDIT_TAIL_BYTES.
 */
static bool split_before(struct audit_scan *scan, u32 limit)
{
	const struct ghyvi_submission *submission = &scan->commands->submission;
	struct audit_segment *segment = scan->segment;
	u32 bytes = audit_ring_distance(submission, segment->from, limit), pos;
	const struct audit_page *page;

	if (scan->rule < AUDIT_SPLITS || scan->commands->newest)
		return false;
	for (; bytes; bytes -= sizeof(u32)) {
		pos = (segment->from + bytes) % submission->ring_bytes;
		page = ghyvi_audit_page_find(segment, audit_key(GHYVI_FETCH_RING, pos));
		if (pos % AUDIT_TAIL_BYTES || !page ||
		    (pos != limit && !audit_start_seen(page, 0, audit_dword_in_page(pos))))
			continue;
		segment->to = pos;
		segment->stop = pos;
		segment->refused = false; /* a command of the ring that is in the rest */
		return true;
	}
	return false;
}

/*
 * A command was refused: set @reject to it, and let the engine stop at @stop. In the mode "log" the
 * scan continues (0). If the segment is split instead, @reject stays as it is.
 */
static int refuse_unreported(struct audit_scan *scan, u32 stop, struct audit_reject *reject)
{
	if (split_before(scan, stop))
		return -EACCES;
	*reject = ghyvi_audit_rejected(scan);
	if (scan->commands->mode == GHYVI_AUDIT_LOG)
		return 0;
	scan->segment->stop = stop;
	scan->segment->refused = true;
	return -EACCES;
}

/* As refuse_unreported(), and report the command. */
static int refuse_from(struct audit_scan *scan, u32 stop)
{
	struct audit_reject reject = { .rule = AUDIT_PASSED };
	int err = refuse_unreported(scan, stop, &reject);

	if (reject.rule != AUDIT_PASSED)
		ghyvi_audit_report(scan, &reject);
	return err;
}

/*
 * Report the refused command of the ring, unless the segment was split before it: then the command
 * is in the rest, and is reported with that.
 */
static void report_in_ring(struct audit_scan *scan, const struct audit_reject *reject)
{
	const struct ghyvi_submission *submission = &scan->commands->submission;
	const struct audit_segment *segment = scan->segment;

	if (reject->rule != AUDIT_PASSED &&
	    audit_ring_distance(submission, segment->from, reject->ring_pos) <
		    audit_ring_distance(submission, segment->from, segment->to))
		ghyvi_audit_report(scan, reject);
}

/* Scan a batch that the ring starts, and all batches that this one starts, directly or not. */
static int scan_target(struct audit_scan *scan, unsigned int target)
{
	u32 ring_pos = scan->audit->targets[target].ring_pos;
	unsigned int next = scan->nr_targets; /* grows while batches are scanned */
	int err;

	for (;;) {
		err = scan_batch(scan, &scan->audit->targets[target]);
		if (err == -EACCES)
			err = refuse_from(scan, ring_pos);
		if (err || next == scan->nr_targets)
			return err;
		target = next++;
	}
}

/* Is the batch started from the segment, which may have been split before that place? */
static bool target_in_segment(const struct audit_scan *scan, unsigned int target)
{
	const struct ghyvi_submission *submission = &scan->commands->submission;
	const struct audit_segment *segment = scan->segment;

	return audit_ring_distance(submission, segment->from,
				   scan->audit->targets[target].ring_pos) <
	       audit_ring_distance(submission, segment->from, segment->to);
}

static int scan_segment(struct audit_scan *scan)
{
	struct audit_segment *segment = scan->segment;
	struct audit_reject reject = { .rule = AUDIT_PASSED };
	unsigned int i, in_ring;
	int err;

	start_stream(scan, GHYVI_FETCH_RING, 0, segment->from, 0);
	err = ghyvi_audit_copy_ring(scan);
	if (err == -EACCES)
		refuse_from(scan, segment->from); /* in the mode "log" it runs unchecked */
	if (err)
		return err;
	err = scan_indirect(scan);
	if (err == -EACCES)
		err = refuse_from(scan, segment->from);
	if (err)
		return err;
	err = scan_ring(scan);
	if (err == -EACCES)
		refuse_unreported(scan, (u32)scan->pos, &reject); /* batches before it come first */
	else if (err)
		return err;

	/*
	 * Scan all batches that one command of the ring starts before those of the next one. So a
	 * batch that joins commands checked before joins commands that may run. After a refused
	 * command nothing is checked, and nothing runs.
	 */
	in_ring = scan->nr_targets;
	for (i = 0, err = 0; i < in_ring && !err && target_in_segment(scan, i); i++)
		err = scan_target(scan, i);
	if (!err || err == -EACCES)
		report_in_ring(scan, &reject);
	return err;
}

int ghyvi_audit_scan_segment(struct audit_scan *scan)
{
	int err = scan_segment(scan);

	return err == -EACCES ? 0 : err;
}
