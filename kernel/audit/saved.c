// SPDX-License-Identifier: GPL-2.0-only
/*
 * Audited commands as state of a migrated vGPU. Only the copies of pages travel. Where commands
 * begin, and which of them are refused, is not believed: the copies are audited again as they were
 * first, with the saved pages in place of guest memory.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "audit.h"

/* The layout of the state: a header; of each segment, oldest first, a header and its pages. */
struct saved_commands {
	u32 mode;
	u32 nr_segments;
	s64 bytes_left;
};

struct saved_segment {
	u32 from;
	u32 to;
	u32 nr_pages;
	u32 reserved;
};

static u32 count_pages(const struct audit_segment *segment)
{
	const struct audit_page *page;
	unsigned int i;
	u32 count = 0;

	for (i = 0; i < AUDIT_BUCKETS; i++)
		for (page = segment->buckets[i]; page; page = page->next)
			count++;
	return count;
}

size_t ghyvi_commands_state_bytes(const struct ghyvi_commands *commands)
{
	const struct audit_segment *segment;
	size_t bytes = sizeof(struct saved_commands);

	for (segment = commands->newest; segment; segment = segment->older)
		bytes += sizeof(struct saved_segment) +
			 count_pages(segment) * sizeof(struct audit_saved_page);
	return bytes;
}

/* The rest of a page of the ring is not a copy of anything, and host memory must not leak. */
static void save_ring_page(const struct ghyvi_commands *commands,
			   const struct audit_segment *segment, const struct audit_page *page,
			   u32 *to)
{
	const struct ghyvi_submission *submission = &commands->submission;
	u32 pos = (u32)audit_key_address(page->key), i;
	u32 bytes = audit_ring_distance(submission, segment->from, segment->to);

	for (i = 0; i < AUDIT_PAGE_DWORDS; i++, pos += sizeof(u32))
		to[i] = audit_ring_distance(submission, segment->from, pos) < bytes ?
				page->dwords[i] :
				0;
}

static void *save_segment(const struct ghyvi_commands *commands,
			  const struct audit_segment *segment, void *to)
{
	struct audit_saved_page *saved = to + sizeof(struct saved_segment);
	const struct audit_page *page;
	unsigned int i;

	*(struct saved_segment *)to = (struct saved_segment){
		.from = segment->from,
		.to = segment->to,
		.nr_pages = count_pages(segment),
	};
	for (i = 0; i < AUDIT_BUCKETS; i++)
		for (page = segment->buckets[i]; page; page = page->next, saved++) {
			saved->key = page->key;
			if (audit_key_source(page->key) == GHYVI_FETCH_RING)
				save_ring_page(commands, segment, page, saved->dwords);
			else
				memcpy(saved->dwords, page->dwords, GHYVI_PAGE_BYTES);
		}
	return saved;
}

void ghyvi_commands_save(const struct ghyvi_commands *commands, void *state)
{
	const struct audit_segment *segment, *saved = NULL;
	void *to = state + sizeof(struct saved_commands);

	*(struct saved_commands *)state = (struct saved_commands){
		.mode = commands->mode,
		.nr_segments = commands->nr_segments,
		.bytes_left = commands->bytes_left,
	};
	while (saved != commands->newest) {
		for (segment = commands->newest; segment->older != saved; segment = segment->older)
			;
		to = save_segment(commands, segment, to);
		saved = segment;
	}
}

/*
 * Does the segment begin where the last one ends, and fit into the rest of the ring? The first one
 * is not empty: it has the context's batch, which is audited only before other commands.
 */
static bool segment_ok(const struct ghyvi_commands *commands, const struct saved_segment *segment)
{
	const struct ghyvi_submission *submission = &commands->submission;
	u32 from = commands->newest ? commands->newest->to : submission->head;

	return segment->from == from && segment->to < submission->ring_bytes &&
	       !(segment->to & 3) && (commands->newest || segment->to != from) &&
	       audit_ring_distance(submission, segment->from, segment->to) < commands->ring_left;
}

/* Audit the next segment at *@from, of *@left bytes, and advance them. */
static int load_segment(struct ghyvi_commands *commands, const void **from, size_t *left)
{
	const struct saved_segment *segment = *from;
	struct audit_saved saved;
	int err;

	if (*left < sizeof(*segment) || !segment_ok(commands, segment) ||
	    segment->nr_pages > (*left - sizeof(*segment)) / sizeof(struct audit_saved_page))
		return -EINVAL;
	saved.pages = segment + 1;
	saved.nr_pages = segment->nr_pages;
	err = ghyvi_audit_add_segment(commands, segment->from, segment->to, &saved);
	if (err)
		return err == -ENOMEM ? err : -EINVAL;
	if (commands->newest->to != segment->to)
		return -EINVAL;
	commands->ring_left -=
		audit_ring_distance(&commands->submission, segment->from, segment->to);
	*from = (const struct audit_saved_page *)saved.pages + saved.nr_pages;
	*left -= sizeof(*segment) + saved.nr_pages * sizeof(struct audit_saved_page);
	return 0;
}

static int load_segments(struct ghyvi_commands *commands, const void *state, size_t bytes)
{
	const struct saved_commands *header = state;
	const void *from = header + 1;
	size_t left = bytes - sizeof(*header);
	u32 i;
	int err = 0;

	if (!header->nr_segments || header->nr_segments > AUDIT_SEGMENTS_MAX)
		return -EINVAL;
	for (i = 0; i < header->nr_segments && !err; i++)
		err = load_segment(commands, &from, &left);
	return err ?: left ? -EINVAL : 0;
}

struct ghyvi_commands *ghyvi_audit_load(struct ghyvi_audit *audit,
					const struct ghyvi_submission *submission,
					const void *state, size_t bytes)
{
	const struct saved_commands *header = state;
	struct ghyvi_audit_budget budget;
	struct ghyvi_commands *commands;
	int mode, err;

	if (bytes < sizeof(*header))
		return ERR_PTR(-EINVAL);
	mode = ghyvi_audit_saved_mode(audit, submission->engine, header->mode);
	if (mode < 0)
		return ERR_PTR(mode);
	commands = kzalloc(sizeof(*commands), GFP_KERNEL_ACCOUNT);
	if (!commands)
		return ERR_PTR(-ENOMEM);
	commands->audit = audit;
	commands->submission = *submission;
	/* The first audit had a budget; now there are not more pages than the state has. */
	commands->bytes_left = S64_MAX;
	commands->ring_left = submission->ring_bytes;
	commands->mode = mode;
	err = load_segments(commands, state, bytes);
	if (err) {
		ghyvi_commands_free(commands);
		return ERR_PTR(err);
	}
	ghyvi_audit_get_budget(audit, &budget);
	commands->bytes_left = max_t(s64, min_t(s64, header->bytes_left, budget.budget_bytes), 0);
	return commands;
}

bool ghyvi_commands_reach(const struct ghyvi_commands *commands, u32 head)
{
	const struct ghyvi_submission *submission = &commands->submission;
	const struct audit_segment *newest = commands->newest; /* no other can be refused */

	return audit_ring_distance(submission, submission->head, head) <=
	       audit_ring_distance(submission, submission->head, newest->stop);
}

void ghyvi_commands_set_root(struct ghyvi_commands *commands, struct ghyvi_root *root)
{
	commands->submission.root = root;
}
