// SPDX-License-Identifier: GPL-2.0-only
/* Segments: the copies of commands that engines fetch from. */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <ghyvi/export.h>
#include "audit.h"

static unsigned int bucket_of(u64 key)
{
	return (key ^ key >> 6) % AUDIT_BUCKETS;
}

struct audit_page *ghyvi_audit_page_find(const struct audit_segment *segment, u64 key)
{
	struct audit_page *page = segment->buckets[bucket_of(key)];

	while (page && page->key != key)
		page = page->next;
	return page;
}

static struct audit_page *page_alloc(void)
{
	struct audit_page *page = kmalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);

	if (!page)
		return NULL;
	page->dwords = (u32 *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (page->dwords)
		return page;
	kfree(page);
	return NULL;
}

static void page_free(struct audit_page *page)
{
	free_page((unsigned long)page->dwords);
	kfree(page);
}

struct audit_page *ghyvi_audit_page_add(struct ghyvi_audit *audit, struct audit_segment *segment,
					u64 key)
{
	struct audit_page **bucket = &segment->buckets[bucket_of(key)];
	struct audit_page *page = audit->spare;

	if (page) {
		audit->spare = page->next;
		audit->nr_spare--;
	} else {
		page = page_alloc();
		if (!page)
			return NULL;
	}
	memset(page->starts, 0, sizeof(page->starts));
	page->key = key;
	page->next = *bucket;
	*bucket = page;
	return page;
}

static void page_put(struct ghyvi_audit *audit, struct audit_page *page)
{
	if (audit->nr_spare >= AUDIT_SPARE_PAGES) {
		page_free(page);
		return;
	}
	page->next = audit->spare;
	audit->spare = page;
	audit->nr_spare++;
}

void ghyvi_audit_page_drop(struct ghyvi_audit *audit, struct audit_segment *segment,
			   struct audit_page *page)
{
	segment->buckets[bucket_of(page->key)] = page->next;
	page_put(audit, page);
}

void ghyvi_audit_spare_free(struct ghyvi_audit *audit)
{
	struct audit_page *page;

	while ((page = audit->spare)) {
		audit->spare = page->next;
		page_free(page);
	}
	audit->nr_spare = 0;
}

struct audit_segment *ghyvi_audit_segment_create(u32 from, u32 to)
{
	struct audit_segment *segment = kzalloc(sizeof(*segment), GFP_KERNEL_ACCOUNT);

	if (!segment)
		return NULL;
	segment->from = from;
	segment->to = to;
	segment->stop = to;
	return segment;
}

void ghyvi_audit_segment_free(struct ghyvi_audit *audit, struct audit_segment *segment)
{
	struct audit_page *page, *next;
	unsigned int i;

	for (i = 0; i < AUDIT_BUCKETS; i++)
		for (page = segment->buckets[i]; page; page = next) {
			next = page->next;
			page_put(audit, page);
		}
	kfree(segment);
}

void ghyvi_audit_segment_publish(struct ghyvi_commands *commands, struct audit_segment *segment)
{
	segment->older = commands->newest;
	smp_store_release(&commands->newest, segment); /* pairs with newest_segment() */
	commands->nr_segments++;
}

void ghyvi_commands_free(struct ghyvi_commands *commands)
{
	struct audit_segment *segment, *older;

	if (!commands)
		return;
	for (segment = commands->newest; segment; segment = older) {
		older = segment->older;
		ghyvi_audit_segment_free(commands->audit, segment);
	}
	kfree(commands);
}

static const struct audit_segment *newest_segment(const struct ghyvi_commands *commands)
{
	return smp_load_acquire(&commands->newest); /* pairs with ghyvi_audit_segment_publish() */
}

static const struct audit_segment *segment_at(const struct ghyvi_commands *commands, u32 pos)
{
	const struct audit_segment *segment = newest_segment(commands);
	const struct ghyvi_submission *submission = &commands->submission;

	while (segment && audit_ring_distance(submission, segment->from, pos) >=
				  audit_ring_distance(submission, segment->from, segment->to))
		segment = segment->older;
	return segment;
}

static const struct audit_segment *oldest_segment(const struct ghyvi_commands *commands)
{
	const struct audit_segment *segment = newest_segment(commands);

	while (segment && segment->older)
		segment = segment->older;
	return segment;
}

static bool is_audited(const struct ghyvi_commands *commands, enum ghyvi_fetch_source source)
{
	if (commands->mode == GHYVI_AUDIT_LOG)
		return false;
	return source != GHYVI_FETCH_PPGTT || commands->mode == GHYVI_AUDIT_FULL;
}

/* Returns the bytes from ring offset @pos to the end of its page or to the segment's stop. */
static u32 ring_left_in(const struct audit_segment *segment, u32 pos)
{
	u32 left = GHYVI_PAGE_BYTES - pos % GHYVI_PAGE_BYTES;

	return segment->stop > pos ? min(left, segment->stop - pos) : left;
}

/* Returns 64 bits of @starts, from dword @index on. */
static u64 starts_from(const u64 *starts, unsigned int index)
{
	u64 found = starts[index / 64] >> index % 64;

	if (index % 64 && index / 64 + 1 < AUDIT_PAGE_DWORDS / 64)
		found |= starts[index / 64 + 1] << (64 - index % 64);
	return found;
}

int ghyvi_commands_fetch(const struct ghyvi_commands *commands, enum ghyvi_fetch_source source,
			 unsigned int level, u64 pos, u32 ring_head,
			 struct ghyvi_cmd_prefetch *window)
{
	const struct ghyvi_submission *submission = &commands->submission;
	const struct audit_segment *segment;
	const struct audit_page *page = NULL;
	unsigned int index;
	u32 bytes;

	BUILD_BUG_ON(GHYVI_WINDOW_DWORDS != 64); /* bits of starts_from() */
	window->pos = pos;
	window->count = 0;
	/* Nothing is refused in the mode "log", so user batches run as in "privileged". */
	if (source == GHYVI_FETCH_PPGTT && commands->mode == GHYVI_AUDIT_LOG)
		return 0;
	switch (source) {
	case GHYVI_FETCH_RING:
		segment = segment_at(commands, (u32)pos);
		break;
	case GHYVI_FETCH_INDIRECT:
		pos &= GENMASK_ULL(31, 0);
		segment = oldest_segment(commands);
		if (segment && segment->refused && segment->stop == segment->from)
			return -EACCES;
		break;
	default:
		pos &= source == GHYVI_FETCH_GGTT ? GENMASK_ULL(31, 0) : submission->ppgtt_mask;
		segment = segment_at(commands,
				     (ring_head ?: submission->ring_bytes) - (u32)sizeof(u32));
	}
	bytes = GHYVI_PAGE_BYTES - pos % GHYVI_PAGE_BYTES;
	if (segment && source == GHYVI_FETCH_RING) {
		if (segment->refused &&
		    audit_ring_distance(submission, segment->from, (u32)pos) >=
			    audit_ring_distance(submission, segment->from, segment->stop))
			return -EACCES;
		bytes = ring_left_in(segment, (u32)pos);
	}
	if (segment)
		page = ghyvi_audit_page_find(segment, audit_key(source, pos));
	if (!page)
		return is_audited(commands, source) ? -EFAULT : 0;
	index = audit_dword_in_page(pos);
	window->count = min_t(u32, GHYVI_WINDOW_DWORDS, bytes / sizeof(u32));
	window->starts = is_audited(commands, source) ?
				 starts_from(page->starts[level == 2], index) :
				 U64_MAX;
	memcpy(window->dwords, page->dwords + index, window->count * sizeof(u32));
	return window->count;
}
GHYVI_EXPORT(ghyvi_commands_fetch);

/* Returns the segment that was published after @seen (NULL: the oldest one), or NULL. */
static const struct audit_segment *segment_after(const struct ghyvi_commands *commands,
						 const struct audit_segment *seen)
{
	const struct audit_segment *segment = newest_segment(commands);

	if (segment == seen)
		return NULL;
	while (segment->older != seen)
		segment = segment->older;
	return segment;
}

bool ghyvi_commands_iter_next(struct ghyvi_commands_iter *iter, struct ghyvi_commands_page *page)
{
	const struct audit_page *copy = iter->copy ? iter->copy->next : NULL;
	const struct audit_segment *segment = iter->segment;

	while (!copy) {
		if (!segment || iter->bucket == AUDIT_BUCKETS) {
			segment = segment_after(iter->commands, segment);
			iter->copy = NULL;
			if (!segment)
				return false;
			iter->segment = segment;
			iter->bucket = 0;
		}
		copy = segment->buckets[iter->bucket++];
	}
	iter->copy = copy;
	*page = (struct ghyvi_commands_page){
		.source = audit_key_source(copy->key),
		.pos = audit_key_address(copy->key),
		.dwords = copy->dwords,
		.starts = { (const unsigned long *)copy->starts[0],
			    (const unsigned long *)copy->starts[1] },
		.from = segment->from,
		.to = segment->to,
		.stop = segment->stop,
		.refused = segment->refused,
	};
	return true;
}
GHYVI_EXPORT(ghyvi_commands_iter_next);
