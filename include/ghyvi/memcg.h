/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose memory cgroup a kernel thread charges with GFP_KERNEL_ACCOUNT. */
#ifndef GHYVI_MEMCG_H
#define GHYVI_MEMCG_H

#include <ghyvi-features.h>
#if GHYVI_HAVE_ACTIVE_MEMCG
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#endif

struct mem_cgroup;
struct mm_struct;

#if GHYVI_HAVE_ACTIVE_MEMCG

/**
 * ghyvi_memcg_get() - get the group of a process.
 * @mm: memory of the process; NULL: the group that the calling thread charges at present
 *
 * Return: the group, or NULL if there are none. The caller calls ghyvi_memcg_put().
 */
static inline struct mem_cgroup *ghyvi_memcg_get(struct mm_struct *mm)
{
	return get_mem_cgroup_from_mm(mm);
}

/**
 * ghyvi_memcg_hold() - get a group once more.
 * @group: a group, or NULL; the caller puts it twice
 */
static inline void ghyvi_memcg_hold(struct mem_cgroup *group)
{
#ifdef CONFIG_MEMCG
	if (group)
		css_get(&group->css);
#endif
}

/**
 * ghyvi_memcg_put() - put a group.
 * @group: as returned by ghyvi_memcg_get()
 */
static inline void ghyvi_memcg_put(struct mem_cgroup *group)
{
	mem_cgroup_put(group);
}

/**
 * ghyvi_memcg_use() - let the calling thread charge a group.
 * @group: the group, which stays valid; NULL: that of the thread itself
 *
 * Return: what the thread has charged up to now, for a later call.
 */
static inline struct mem_cgroup *ghyvi_memcg_use(struct mem_cgroup *group)
{
	return set_active_memcg(group);
}

#else

static inline struct mem_cgroup *ghyvi_memcg_get(struct mm_struct *mm)
{
	return NULL;
}

static inline void ghyvi_memcg_hold(struct mem_cgroup *group)
{
}

static inline void ghyvi_memcg_put(struct mem_cgroup *group)
{
}

static inline struct mem_cgroup *ghyvi_memcg_use(struct mem_cgroup *group)
{
	return NULL;
}

#endif

#endif
