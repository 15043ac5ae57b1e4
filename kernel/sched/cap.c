// SPDX-License-Identifier: GPL-2.0-only
/*
 * Caps of "fair": how much a vGPU had of an engine in the last window, and what follows from it.
 *
 * DOC: caps
 *
 * Two rules, both about time on the engine:
 *   - In no window, wherever it begins, is there more than the cap's share of a window. A vGPU that
 *     used none of it may use all of it at once. When it is used up the running workload is asked
 *     to leave, also when no other vGPU waits.
 *   - What a workload had beyond that, because it did not leave at once, is a debt, which later
 *     windows pay, so that the share is right in the long run. The debt is paid within one window,
 *     the rest of it is forgiven.
 *
 * The window is divided into parts. For each part it is known how much of it the vGPU had and when
 * that ended, but not whether there were pauses. It is assumed that there were none: then it leaves
 * the window as late as possible. So a vGPU may get a part less than its cap, and never more.
 */
#include <linux/math64.h>
#include <linux/string.h>
#include "sched_types.h"

#define WINDOW_PARTS (SCHED_CAP_PARTS - 1) /* one more can be partly in a window */
#define LEAST_TURN 64 /* the allowance by this is enough to begin with */

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

/* The parts up to the one of @now are there. */
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

void sched_cap_set_window(struct sched_cap *cap, u64 window_ns, u64 now)
{
	u32 part_ns = DIV_ROUND_UP(window_ns, WINDOW_PARTS);
	struct sched_cap old = *cap;
	u64 number;

	if (part_ns == old.part_ns)
		return;
	memset(cap, 0, sizeof(*cap));
	cap->part_ns = part_ns;
	cap_roll(cap, now);
	if (!old.part_ns)
		return;
	cap->paid_until = min(old.paid_until, now + window_ns);
	number = old.latest - min_t(u64, old.latest, WINDOW_PARTS);
	for (; number <= old.latest; number++) {
		const struct sched_cap_part *part = part_at(&old, number);
		u64 end = number * old.part_ns + part->end_ns;

		cap_add(cap, end - min_t(u64, end, part->used_ns), end);
	}
	cap_roll(cap, now);
}

void sched_cap_charge(struct sched_cap *cap, u32 percent, s64 ns, u64 now)
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
	/* What was not used for a window is gone. */
	from = max(cap->paid_until, from - min(from, window));
	cap->paid_until = min(from + div_u64(ns * GHYVI_SCHED_CAP_MAX, percent), now + window);
}

/**
 * struct view - a window, of what was used until now
 * @end_ns: when it ends
 * @number: of the part in which it ends; the part WINDOW_PARTS before is partly in the window
 * @used_ns: in it
 */
struct view {
	u64 end_ns;
	u64 number;
	u64 used_ns;
};

/*
 * Returns how much is still in the window of the part that is leaving it, and in *@from_ns where the
 * window ends when that begins to leave.
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

/* On to the end of the part. */
static void view_advance(struct sched_cap *cap, struct view *view)
{
	u64 from_ns;

	view->used_ns -= expiring_ns(cap, view, &from_ns);
	view->number++;
	view->end_ns = view->number * cap->part_ns;
}

u64 sched_cap_eligible_at(struct sched_cap *cap, u32 percent, u64 turn_ns, u64 now)
{
	u64 allowed = cap_allowance(cap, percent);
	struct view view;
	u64 from_ns;

	if (percent >= GHYVI_SCHED_CAP_MAX)
		return now;
	cap_roll(cap, now);
	/* Not for a moment only: to go to another vGPU costs, too. */
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

u64 sched_cap_used_up_at(struct sched_cap *cap, u32 percent, u64 now)
{
	u64 allowed = cap_allowance(cap, percent);
	struct view view;
	u64 from_ns;

	if (percent >= GHYVI_SCHED_CAP_MAX)
		return GHYVI_SCHED_NEVER;
	cap_roll(cap, now);
	view = view_at(cap, now);
	/* From now on the window gets as much as passes, and loses what leaves it. */
	while (view.used_ns + (view.end_ns - now) <= allowed) {
		u64 room = allowed - view.used_ns - (view.end_ns - now);
		u64 left = expiring_ns(cap, &view, &from_ns);
		u64 until = left ? from_ns : (view.number + 1) * cap->part_ns;

		if (until - view.end_ns > room)
			return view.end_ns + room;
		if (left) {
			/* As much leaves the window as passes; then the rest of the part. */
			view.used_ns -= left;
			view.end_ns = until + left;
		} else {
			view_advance(cap, &view);
		}
	}
	return max(now, view.end_ns);
}
