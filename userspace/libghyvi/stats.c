// SPDX-License-Identifier: GPL-2.0-only
/* Reading of counters. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "internal.h"

#define NS_PER_S 1000000000ULL

struct counter {
	char *name;
	uint64_t value;
	size_t order; /* index in known_stats[]; known_stats_count: unknown counter */
};

struct ghyvi_stats {
	struct counter *at;
	size_t count;
	uint64_t time_ns;
};

static size_t order_of(const char *name)
{
	size_t i;

	for (i = 0; i < known_stats_count; i++)
		if (!strcmp(known_stats[i].name, name))
			break;
	return i;
}

static int by_order(const void *a, const void *b)
{
	const struct counter *one = a, *two = b;

	if (one->order != two->order)
		return one->order < two->order ? -1 : 1;
	return strcmp(one->name, two->name);
}

GHYVI_API int ghyvi_stats_read(const struct ghyvi_vgpu *vgpu, struct ghyvi_stats **out)
{
	char text[GHYVI_VALUE_BYTES], *path, *attribute;
	struct ghyvi_stats *stats;
	struct names files = {};
	struct timespec now;
	size_t i;
	int ret;

	stats = calloc(1, sizeof(*stats));
	path = path_of("%s/stats", vgpu->path);
	ret = stats && path ? names_read(&files, path) : -ENOMEM;
	free(path);
	if (!ret) {
		stats->at = calloc(files.count + 1, sizeof(*stats->at));
		ret = stats->at ? 0 : -ENOMEM;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (i = 0; !ret && i < files.count; i++) {
		struct counter *counter = &stats->at[stats->count];

		attribute = path_of("stats/%s", files.at[i]);
		ret = attribute ? ghyvi_vgpu_read(vgpu, attribute, text, sizeof(text)) : -ENOMEM;
		free(attribute);
		if (ret)
			break;
		counter->name = strdup(files.at[i]);
		if (!counter->name) {
			ret = -ENOMEM;
			break;
		}
		counter->value = strtoull(text, NULL, 10);
		counter->order = order_of(counter->name);
		stats->count++;
	}
	names_free(&files);
	/* Counters disappear only with the vGPU. Its directory may stay until its VM ends. */
	if (ret) {
		ghyvi_stats_free(stats);
		return ret == -ENOENT ? -ENODEV : ret;
	}
	stats->time_ns = now.tv_sec * NS_PER_S + now.tv_nsec;
	qsort(stats->at, stats->count, sizeof(*stats->at), by_order);
	*out = stats;
	return 0;
}

GHYVI_API void ghyvi_stats_free(struct ghyvi_stats *stats)
{
	size_t i;

	if (!stats)
		return;
	for (i = 0; i < stats->count; i++)
		free(stats->at[i].name);
	free(stats->at);
	free(stats);
}

GHYVI_API size_t ghyvi_stats_count(const struct ghyvi_stats *stats)
{
	return stats->count;
}

GHYVI_API const char *ghyvi_stats_name(const struct ghyvi_stats *stats, size_t index)
{
	return stats->at[index].name;
}

GHYVI_API uint64_t ghyvi_stats_value(const struct ghyvi_stats *stats, size_t index)
{
	return stats->at[index].value;
}

GHYVI_API uint64_t ghyvi_stats_get(const struct ghyvi_stats *stats, const char *name)
{
	size_t i;

	for (i = 0; i < stats->count; i++)
		if (!strcmp(stats->at[i].name, name))
			return stats->at[i].value;
	return 0;
}

GHYVI_API uint64_t ghyvi_stats_time_ns(const struct ghyvi_stats *stats)
{
	return stats->time_ns;
}

GHYVI_API const char *ghyvi_stat_help(const char *name)
{
	size_t i = order_of(name);

	return i < known_stats_count ? known_stats[i].what : "";
}

GHYVI_API bool ghyvi_stat_is_now(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, "_now");
}
