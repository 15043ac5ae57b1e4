// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of a guest's rings and batches. Each page is read once from guest memory. It is checked
 * (scan.c), and the engine fetches it, only from the copy.
 *
 * In this order: pages and segments; what is copied to them; what engines fetch from them.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <ghyvi/export.h>
#include "audit.h"

#define RESCHED_PAGES 16u

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

/* Add a page to @segment; the caller fills it. Returns NULL if out of memory. */
static struct audit_page *page_add(struct ghyvi_audit *audit, struct audit_segment *segment,
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

/* Remove the page that was added last, because it could not be filled. */
static void page_drop(struct ghyvi_audit *audit, struct audit_segment *segment,
		      struct audit_page *page)
{
	segment->buckets[bucket_of(page->key)] = page->next;
	page_put(audit, page);
}

void ghyvi_audit_reset(struct ghyvi_audit *audit)
{
	struct audit_page *page;

	while ((page = audit->spare)) {
		audit->spare = page->next;
		page_free(page);
	}
	audit->nr_spare = 0;
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

bool ghyvi_audit_owns_ggtt(const struct audit_scan *scan, u64 address, u64 bytes)
{
	const struct ghyvi_audit_params *params = &scan->audit->params;

	return ghyvi_ranges_contain(params->ggtt, params->nr_ggtt, address, bytes);
}

/* Copy @bytes at @offset of the saved page with @key. Returns 0 or -EFAULT. */
static int saved_read(const struct audit_saved *saved, u64 key, unsigned int offset, void *to,
		      size_t bytes)
{
	const struct audit_saved_page *page = saved->pages;
	u32 i;

	for (i = 0; i < saved->nr_pages; i++, page++)
		if (page->key == key) {
			memcpy(to, (const u8 *)page->dwords + offset, bytes);
			return 0;
		}
	return -EFAULT;
}

/* Copy @bytes of guest memory at @address, all in one page. They are never read again. */
static int copy_from_guest(struct audit_scan *scan, u64 address, void *to, size_t bytes)
{
	const struct ghyvi_audit_params *params = &scan->audit->params;
	struct ghyvi_root *root = NULL;
	u64 pos = address;

	if (scan->source == GHYVI_FETCH_PPGTT)
		root = scan->commands->submission.root;
	else if (!ghyvi_audit_owns_ggtt(scan, address, bytes))
		return ghyvi_audit_refuse(scan, AUDIT_GGTT_RANGE);
	if (scan->saved && scan->source == GHYVI_FETCH_RING)
		pos -= scan->commands->submission.ring_start;
	if (scan->saved ? saved_read(scan->saved, audit_key(scan->source, pos),
				     pos % GHYVI_PAGE_BYTES, to, bytes) :
			  params->owner->read(params->owner, root, address, to, bytes))
		return ghyvi_audit_refuse(scan, AUDIT_UNMAPPED);
	ghyvi_count_add(params->stats, audited_bytes, bytes);
	return 0;
}

int ghyvi_audit_copy_page(struct audit_scan *scan, u64 pos, struct audit_page **page)
{
	u64 key = audit_key(scan->source, pos);
	int err;

	if (scan->commands_left < 0)
		return ghyvi_audit_refuse(scan, AUDIT_COMMANDS);
	*page = ghyvi_audit_page_find(scan->segment, key);
	if (*page)
		return 0;
	if (scan->commands->bytes_left < GHYVI_PAGE_BYTES)
		return ghyvi_audit_refuse(scan, AUDIT_BYTES);
	scan->commands->bytes_left -= GHYVI_PAGE_BYTES;
	*page = page_add(scan->audit, scan->segment, key);
	if (!*page)
		return -ENOMEM;
	if (scan->source == GHYVI_FETCH_RING)
		return 0;
	err = copy_from_guest(scan, pos & GHYVI_PAGE_MASK, (*page)->dwords, GHYVI_PAGE_BYTES);
	if (err) {
		page_drop(scan->audit, scan->segment, *page);
		return err;
	}
	if (scan->commands->bytes_left / GHYVI_PAGE_BYTES % RESCHED_PAGES == 0)
		cond_resched();
	return 0;
}

/*
 * Clear what was not copied, in pages that exist: those kept from earlier submissions have old
 * contents, which must not run in any mode. If the ring wraps, its first page has its last part.
 */
static void clear_ring(const struct audit_scan *scan, u32 pos, u32 left)
{
	const struct audit_page *page;
	u32 part;

	for (; left; left -= part) {
		part = min(left, GHYVI_PAGE_BYTES - pos % GHYVI_PAGE_BYTES);
		page = ghyvi_audit_page_find(scan->segment, audit_key(GHYVI_FETCH_RING, pos));
		if (page)
			memset(page->dwords + audit_dword_in_page(pos), 0, part);
		pos = (pos + part) % scan->commands->submission.ring_bytes;
	}
}

int ghyvi_audit_copy_ring(struct audit_scan *scan)
{
	const struct ghyvi_submission *submission = &scan->commands->submission;
	u32 pos = scan->segment->from, left, part;
	struct audit_page *page;
	int err = 0;

	left = audit_ring_distance(submission, pos, scan->segment->to);
	for (; left; left -= part) {
		part = min(left, GHYVI_PAGE_BYTES - pos % GHYVI_PAGE_BYTES);
		err = ghyvi_audit_copy_page(scan, pos, &page);
		if (!err)
			err = copy_from_guest(scan, submission->ring_start + pos,
					      page->dwords + audit_dword_in_page(pos), part);
		if (err)
			break;
		pos = (pos + part) % submission->ring_bytes;
	}
	if (err)
		clear_ring(scan, pos, left);
	return err;
}

const u32 *ghyvi_audit_scan_parts(struct audit_scan *scan, int *err)
{
	u32 *packet = scan->audit->packet;
	unsigned int index, i, part;
	struct audit_page *page;
	u64 pos;

	if (scan->dwords > GHYVI_PACKET_DWORDS_MAX) {
		*err = ghyvi_audit_refuse(scan, AUDIT_LENGTH);
		return NULL;
	}
	for (i = 0; i < scan->dwords; i += part) {
		pos = audit_pos_after(scan, i);
		index = audit_dword_in_page(pos);
		part = min(AUDIT_PAGE_DWORDS - index, scan->dwords - i);
		*err = ghyvi_audit_copy_page(scan, pos, &page);
		if (*err)
			return NULL;
		memcpy(packet + i, page->dwords + index, 4 * part);
	}
	return packet;
}

bool ghyvi_audit_target_seen(const struct audit_scan *scan, u64 address, u8 source, u8 level)
{
	const struct audit_page *page =
		ghyvi_audit_page_find(scan->segment, audit_key(source, address));

	return page && audit_start_seen(page, level, audit_dword_in_page(address));
}

int ghyvi_audit_scan_target(struct audit_scan *scan, u64 address, u8 source, u8 level)
{
	struct audit_target *target = &scan->audit->targets[scan->nr_targets];

	if (source == GHYVI_FETCH_PPGTT) {
		if (scan->commands->mode == GHYVI_AUDIT_PRIVILEGED)
			return 0;
		address &= scan->commands->submission.ppgtt_mask;
	} else if (!ghyvi_audit_owns_ggtt(scan, address, sizeof(u32))) {
		return ghyvi_audit_refuse(scan, AUDIT_GGTT_RANGE);
	}
	if (ghyvi_audit_target_seen(scan, address, source, level))
		return 0;
	if (scan->nr_targets >= ARRAY_SIZE(scan->audit->targets))
		return ghyvi_audit_refuse(scan, AUDIT_BATCHES);
	*target = (struct audit_target){
		.address = address,
		.source = source,
		.level = level,
		.ring_pos = scan->source == GHYVI_FETCH_RING ? (u32)scan->pos : scan->ring_pos,
	};
	scan->nr_targets++;
	return 0;
}

static const struct audit_segment *newest_segment(const struct ghyvi_commands *commands)
{
	return smp_load_acquire(&commands->newest); /* pairs with segment_publish() */
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
