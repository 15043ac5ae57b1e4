// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of a guest's rings and batches. Each page is read once from guest memory. It is checked
 * (scan.c), and the engine fetches it (cmd_cache.c), only from the copy.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "audit.h"

#define RESCHED_PAGES 16u

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
	*page = ghyvi_audit_page_add(scan->audit, scan->segment, key);
	if (!*page)
		return -ENOMEM;
	if (scan->source == GHYVI_FETCH_RING)
		return 0;
	err = copy_from_guest(scan, pos & GHYVI_PAGE_MASK, (*page)->dwords, GHYVI_PAGE_BYTES);
	if (err) {
		ghyvi_audit_page_drop(scan->audit, scan->segment, *page);
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
