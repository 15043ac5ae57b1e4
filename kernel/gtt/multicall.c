// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores to page tables that the guest declares in a page of records, see ghyvi/multicall.h. The
 * host makes them and translates them as trapped stores. No exit is saved by relaxing the pages, so
 * the policy is not asked: a strict page stays protected.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/sched.h>
#include <ghyvi/multicall.h>

#include "internal.h"

static int apply_record(struct ghyvi_gtt *gtt, u64 address, u64 value)
{
	unsigned int index = address % GHYVI_PAGE_BYTES / 8;
	struct ghyvi_table_page *table;

	if (address % 8)
		return -EINVAL;
	table = xa_load(&gtt->tables, address >> GHYVI_PAGE_SHIFT);
	if (!table)
		return -ENOENT;
	WRITE_ONCE(table->guest[index], value);
	if (unlikely(gtt->logging))
		ghyvi_dirty_record(gtt, table->gfn);
	ghyvi_table_stored(gtt, table, index, index);
	return 0;
}

/* Each record is read once: other vCPUs may change the page meanwhile. */
static int apply_records(struct ghyvi_gtt *gtt, const struct ghyvi_multicall_record *records,
			 u32 count, u32 *applied)
{
	int err;

	for (; *applied < count; ++*applied) {
		err = apply_record(gtt, READ_ONCE(records[*applied].address),
				   READ_ONCE(records[*applied].value));
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

static int multicall_apply(struct ghyvi_gtt *gtt, u64 gpa, u32 count, u32 *applied)
{
	struct ghyvi_pin *pin;
	u64 *result;
	int err;

	if (gtt->policy->nested)
		return -EOPNOTSUPP;
	pin = ghyvi_pin_get(gtt, gpa >> GHYVI_PAGE_SHIFT);
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	if (ghyvi_pin_is_table(pin))
		ghyvi_gtt_drop_unlinked(gtt, gpa >> GHYVI_PAGE_SHIFT);
	result = phys_to_virt(pin->hpa);
	err = apply_records(gtt, (struct ghyvi_multicall_record *)result, count, applied);
	/*
	 * The host's own store does not trap, so it must not change a table page. A record may have
	 * made the page one.
	 */
	if (ghyvi_pin_is_table(pin)) {
		err = -EBUSY;
	} else {
		WRITE_ONCE(*result, GHYVI_MULTICALL_DONE |
					    (u64)-err << GHYVI_MULTICALL_ERROR_SHIFT | *applied);
		ghyvi_dirty_mark(gtt, pin);
	}
	ghyvi_pin_put(gtt, gpa >> GHYVI_PAGE_SHIFT);
	return err;
}

int ghyvi_gtt_multicall(struct ghyvi_gtt *gtt, u64 gpa, u32 count, u32 *applied)
{
	int err;

	BUILD_BUG_ON(GHYVI_MULTICALL_RECORDS * sizeof(struct ghyvi_multicall_record) !=
		     GHYVI_PAGE_BYTES);
	*applied = 0;
	if (!count || count > GHYVI_MULTICALL_RECORDS || gpa & ~GHYVI_GUEST_ADDRESS_MASK)
		return -EINVAL;
	mutex_lock(&gtt->lock);
	err = multicall_apply(gtt, gpa, count, applied);
	ghyvi_count(gtt->params.stats, multicalls);
	ghyvi_count_add(gtt->params.stats, multicall_entries, *applied);
	ghyvi_gtt_unlock(gtt);
	return err;
}
