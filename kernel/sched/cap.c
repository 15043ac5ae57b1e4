// SPDX-License-Identifier: GPL-2.0-only
/*
 * Caps of the policy "fair": bandwidth control over a sliding window, per vGPU and engine.
 *
 * DOC: caps
 *
 * Two rules limit the GPU time of a capped vGPU:
 *   - No window, wherever it begins, contains more GPU time than the cap's share of its length. A
 *     vGPU that received none in a window may use its whole share at once. When the share is used
 *     up, the running workload is preempted, even if no other vGPU is enqueued.
 *   - A preemption takes time. The excess that a workload receives meanwhile is a debt, which
 *     reduces what the vGPU may use in later windows, so that its long-term share is right. The
 *     debt is limited to what one window can repay; the rest of the excess is forgiven.
 *
 * The window is divided into parts. Each part records how much GPU time the vGPU received in it and
 * when the last use ended, but no gaps between uses. The use is taken as contiguous, so it leaves
 * the window as late as possible. The vGPU may therefore receive up to one part less than its cap
 * allows, and never more.
 */
#include <linux/math64.h>
#include <linux/string.h>
#include "sched_types.h"

#define WINDOW_PARTS (SCHED_CAP_PARTS - 1) /* a window can overlap one more part */
#define LEAST_TURN 64 /* a turn may begin when 1/64 of the allowance is available */

static struct sched_cap_part *part_at(struct sched_cap *cap, u64 number)
{
	return &cap->parts[number % SCHED_CAP_PARTS];
}

static u64 window_of(const struct sched_cap *cap)
{
	return (u64)cap->part_ns * WINDOW_PARTS;
}

static u64 cap_allowance(const struct sched_cap *cap, u32 percent)
{
	return div_u64(window_of(cap) * percent, GHYVI_SCHED_CAP_MAX);
}

/* Make the part that contains @now the latest one; parts in between are empty. */
static void cap_roll(struct sched_cap *cap, u64 now)
{
	u64 number = div_u64(now, cap->part_ns);

	if (number >= cap->latest + SCHED_CAP_PARTS) {
		memset(cap->parts, 0, sizeof(cap->parts));
		cap->latest = number;
	}
	while (cap->latest < number)
		*part_at(cap, ++cap->latest) = (struct sched_cap_part){ 0 };
}

static void cap_add(struct sched_cap *cap, u64 from, u64 to)
{
	u64 oldest, at;

	cap_roll(cap, to);
	oldest = cap->latest >= WINDOW_PARTS ? (cap->latest - WINDOW_PARTS) * cap->part_ns : 0;
	for (at = max(from, oldest); at < to;) {
		u64 number = div_u64(at, cap->part_ns);
		u64 end = min(to, (number + 1) * cap->part_ns);
		struct sched_cap_part *part = part_at(cap, number);

		part->used_ns += end - at;
		part->end_ns = end - number * cap->part_ns;
		at = end;
	}
}

static void take_back(struct sched_cap *cap, u64 ns, u64 now)
{
	unsigned int i;

	cap_roll(cap, now);
	for (i = 0; ns && i < SCHED_CAP_PARTS && i <= cap->latest; i++) {
		struct sched_cap_part *part = part_at(cap, cap->latest - i);
		u32 back = min_t(u64, part->used_ns, ns);

		part->used_ns -= back;
		ns -= back;
	}
}

void ghyvi_sched_cap_set_window(struct sched_cap *cap, struct sched_cap *old, u64 window_ns,
				u64 now)
{
	u32 part_ns = DIV_ROUND_UP(window_ns, WINDOW_PARTS);
	u64 number;

	if (part_ns == cap->part_ns)
		return;
	*old = *cap;
	memset(cap, 0, sizeof(*cap));
	cap->part_ns = part_ns;
	cap_roll(cap, now);
	if (!old->part_ns)
		return;
	cap->paid_until = min(old->paid_until, now + window_ns);
	number = old->latest - min_t(u64, old->latest, WINDOW_PARTS);
	for (; number <= old->latest; number++) {
		const struct sched_cap_part *part = part_at(old, number);
		u64 end = number * old->part_ns + part->end_ns;

		cap_add(cap, end - min_t(u64, end, part->used_ns), end);
	}
	cap_roll(cap, now);
}

void ghyvi_sched_cap_charge(struct sched_cap *cap, u32 percent, s64 ns, u64 now)
{
	u64 window = window_of(cap);
	u64 from;

	if (ns < 0) {
		u64 back = div_u64((u64)-ns * GHYVI_SCHED_CAP_MAX, percent);

		take_back(cap, -ns, now);
		cap->paid_until -= min(cap->paid_until, back);
		return;
	}
	from = now - min_t(u64, now, ns);
	cap_add(cap, from, now);
	/* Unused time expires after one window. */
	from = max(cap->paid_until, from - min(from, window));
	cap->paid_until = min(from + div_u64(ns * GHYVI_SCHED_CAP_MAX, percent), now + window);
}

/**
 * struct view - one position of the window, and the recorded use that it contains
 */
struct view {
	/** @end_ns: end of the window */
	u64 end_ns;
	/**
	 * @number: number of the part in which the window ends; it begins in the part
	 * @number - WINDOW_PARTS
	 */
	u64 number;
	/** @used_ns: GPU time received in the window */
	u64 used_ns;
};

/*
 * Returns how much of the use recorded in the window's first part is still in the window. Stores in
 * *@from_ns the end of the window at which that use begins to leave it.
 */
static u64 expiring_ns(struct sched_cap *cap, const struct view *view, u64 *from_ns)
{
	const struct sched_cap_part *part;
	u64 used, end;

	*from_ns = view->end_ns;
	if (view->number < WINDOW_PARTS || view->number - WINDOW_PARTS > cap->latest)
		return 0;
	part = part_at(cap, view->number - WINDOW_PARTS);
	end = view->number * cap->part_ns + part->end_ns;
	if (end <= view->end_ns)
		return 0;
	used = min_t(u64, part->used_ns, end - view->end_ns);
	*from_ns = end - used;
	return used;
}

static struct view view_at(struct sched_cap *cap, u64 end_ns)
{
	struct view view = { .end_ns = end_ns, .number = div_u64(end_ns, cap->part_ns) };
	u64 number, from_ns;

	view.used_ns = expiring_ns(cap, &view, &from_ns);
	number = view.number - min_t(u64, view.number, WINDOW_PARTS - 1);
	for (; number <= cap->latest; number++)
		view.used_ns += part_at(cap, number)->used_ns;
	return view;
}

/* Move the end of the window to the end of its last part. */
static void view_advance(struct sched_cap *cap, struct view *view)
{
	u64 from_ns;

	view->used_ns -= expiring_ns(cap, view, &from_ns);
	view->number++;
	view->end_ns = view->number * cap->part_ns;
}

u64 ghyvi_sched_cap_eligible_at(struct sched_cap *cap, u32 percent, u64 turn_ns, u64 now)
{
	u64 allowed = cap_allowance(cap, percent);
	struct view view;
	u64 from_ns;

	if (percent >= GHYVI_SCHED_CAP_MAX)
		return now;
	cap_roll(cap, now);
	/* Require room for a turn of some length: switching to this vGPU costs time, too. */
	turn_ns = min(turn_ns, allowed / LEAST_TURN);
	view = view_at(cap, now + turn_ns);
	while (view.used_ns + turn_ns > allowed) {
		u64 excess = view.used_ns + turn_ns - allowed;

		if (excess <= expiring_ns(cap, &view, &from_ns)) {
			view.end_ns = from_ns + excess;
			break;
		}
		view_advance(cap, &view);
	}
	return max(cap->paid_until, view.end_ns - turn_ns);
}

u64 ghyvi_sched_cap_used_up_at(struct sched_cap *cap, u32 percent, u64 now)
{
	u64 allowed = cap_allowance(cap, percent);
	struct view view;
	u64 from_ns;

	if (percent >= GHYVI_SCHED_CAP_MAX)
		return GHYVI_SCHED_NEVER;
	cap_roll(cap, now);
	view = view_at(cap, now);
	/* While the vGPU runs, the window gains all the time that elapses, and loses old use. */
	while (view.used_ns + (view.end_ns - now) <= allowed) {
		u64 room = allowed - view.used_ns - (view.end_ns - now);
		u64 left = expiring_ns(cap, &view, &from_ns);
		u64 until = left ? from_ns : (view.number + 1) * cap->part_ns;

		if (until - view.end_ns > room)
			return view.end_ns + room;
		if (left) {
			/* As much use leaves as is gained, until the first part's use has left. */
			view.used_ns -= left;
			view.end_ns = until + left;
		} else {
			view_advance(cap, &view);
		}
	}
	return max(now, view.end_ns);
}
