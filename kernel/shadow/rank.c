// SPDX-License-Identifier: GPL-2.0-only
/* Ranking of the leaf pages by the number of stores. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "../gtt/tables.h"
#include "shadow.h"

struct ranking {
	struct ghyvi_table_page **tables;
	u32 count;
};

static void rank_collect(struct ghyvi_gtt *gtt, struct ghyvi_table_page *table, void *data)
{
	struct ranking *ranking = data;

	if (table->history.leaf && table->history.heat)
		ranking->tables[ranking->count++] = table;
	else
		table->history.rank = GHYVI_RANK_UNKNOWN;
}

static int rank_compare(const void *a, const void *b)
{
	const struct ghyvi_table_page *first = *(struct ghyvi_table_page *const *)a;
	const struct ghyvi_table_page *second = *(struct ghyvi_table_page *const *)b;

	if (first->history.heat == second->history.heat)
		return 0;
	return first->history.heat > second->history.heat ? -1 : 1;
}

void ghyvi_tables_rank(struct ghyvi_gtt *gtt)
{
	struct ranking ranking = { NULL, 0 };
	u32 i;

	lockdep_assert_held(&gtt->lock);
	ranking.tables = kvmalloc_array(gtt->nr_tables + gtt->nr_ggtt_tables + 1,
					sizeof(*ranking.tables), GFP_KERNEL_ACCOUNT);
	if (!ranking.tables)
		return; /* the old ranks remain until the next ranking */
	ghyvi_tables_each(gtt, rank_collect, &ranking);
	sort(ranking.tables, ranking.count, sizeof(*ranking.tables), rank_compare, NULL);
	for (i = 0; i < ranking.count; i++)
		ranking.tables[i]->history.rank = i;
	kvfree(ranking.tables);
}
