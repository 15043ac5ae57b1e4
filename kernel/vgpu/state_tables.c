// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sparse tables in the state of a vGPU: the register file and the guest's GGTT table. Most words
 * are 0, and most of the others equal their neighbours (i915 fills the GGTT with scratch entries).
 * A saved table is at most 8 bytes longer than the table.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include "state_io.h"

/* So many equal words take no more bytes as a repetition, whose run may split another run. */
#define REPEAT_MIN 3

/* What the guest writes to a page while it is looked at may be missed, and stays. */
#define PAGE_WORDS (GHYVI_PAGE_BYTES / 8)

static bool page_is_zero(const u64 *page)
{
	return !memchr_inv(page, 0, GHYVI_PAGE_BYTES);
}

void vgpu_table_clear(u64 *table, u32 words)
{
	u32 first, i;

	for (first = 0; first < words; first += PAGE_WORDS) {
		if (page_is_zero(table + first))
			continue;
		for (i = 0; i < PAGE_WORDS; i++)
			WRITE_ONCE(table[first + i], 0);
	}
}

/* The guest may write to the table at any time, so each word is read once here. */
static u32 count_repeats(const u64 *table, u32 first, u32 words, u64 value)
{
	u32 count = 1;

	while (first + count < words && READ_ONCE(table[first + count]) == value)
		count++;
	return count;
}

static void put_run(struct state_writer *writer, u32 first, u32 count)
{
	const struct state_run run = { .first = first, .count = count };

	state_put(writer, &run, sizeof(run));
}

void vgpu_table_save(struct state_writer *writer, const u64 *table, u32 words)
{
	size_t literal = 0; /* offset of the header of the last run, if words can be added to it */
	u32 first, count;
	u64 value;

	for (first = 0; first < words; first += count) {
		if (!(first % PAGE_WORDS) && page_is_zero(table + first)) {
			literal = 0;
			count = PAGE_WORDS;
			cond_resched();
			continue;
		}
		value = READ_ONCE(table[first]);
		count = count_repeats(table, first, value ? words : (first | (PAGE_WORDS - 1)) + 1,
				      value);
		if (value && count < REPEAT_MIN) {
			if (!literal) {
				literal = writer->bytes;
				put_run(writer, first, 0);
			}
			state_put(writer, &value, sizeof(value));
			if (writer->to && !writer->full)
				((struct state_run *)(writer->to + literal))->count++;
			count = 1;
			continue;
		}
		literal = 0;
		if (value) {
			put_run(writer, first, count | STATE_REPEAT);
			state_put(writer, &value, sizeof(value));
		}
		cond_resched();
	}
}

int vgpu_table_load(struct state_reader *reader, u64 *table, u32 words)
{
	const struct state_run *run;
	const u64 *values;
	u32 next = 0, count, i;

	while ((run = state_take(reader, sizeof(*run)))) {
		bool repeat = run->count & STATE_REPEAT;

		count = run->count & ~STATE_REPEAT;
		values = state_take(reader, (repeat ? 1 : (size_t)count) * sizeof(*values));
		if (!count || !values || run->first < next || run->first > words ||
		    count > words - run->first)
			return -EINVAL;
		for (i = 0; i < count; i++)
			WRITE_ONCE(table[run->first + i], values[repeat ? 0 : i]);
		next = run->first + count;
	}
	return reader->left ? -EINVAL : 0;
}
