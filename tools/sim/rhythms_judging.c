// SPDX-License-Identifier: GPL-2.0-only
/* The families of rhythms that judge adaptive. Nothing in kernel/shadow was chosen by them. */
#include "rhythms.h"

#define SUBMISSIONS 3000u

/* A window is resized: each frame has new buffers of another size; then nothing happens. */
static void generate_resize(struct rhythm *r)
{
	struct space *space = space_new(r, 1, rhythm_chance(r, 50));
	struct object last[3] = { 0 };
	uint32_t i, left = 0, resizing = 1, size = 800;

	for (i = 0; space && i < SUBMISSIONS; i++) {
		struct object *o = &last[i % 3];

		if (!left--) {
			resizing = !resizing;
			left = resizing ? rhythm_any(r, 20, 120) : rhythm_any(r, 50, 500);
		}
		if (resizing || !o->bound) {
			object_unbind(r, space, o);
			size = size + rhythm_any(r, 0, 40) - 20;
			if (size < 200 || size > 2000)
				size = 800;
			o->pages = size;
			o->at = space_hole(space, size, 60 * 512);
			object_bind(r, space, o);
		}
		space_submit(r, space);
	}
	space_end(r, space);
}

/* A playlist of short clips: each has a pool of surfaces, bound at first use, closed at its end. */
static void generate_playlist(struct rhythm *r)
{
	struct space *space = space_new(r, 1, true);
	struct object pool[24] = { 0 };
	uint32_t i = 0, j, k, surfaces, length;

	while (space && i < SUBMISSIONS) {
		surfaces = rhythm_any(r, 6, 24);
		length = rhythm_any(r, 60, 500);
		for (j = 0; j < surfaces; j++)
			pool[j] = (struct object){ .pages = rhythm_any(r, 0, 1) ? 338 : 127 };
		for (j = 0; j < length; j++, i++) {
			k = j % surfaces;
			if (!pool[k].bound) {
				pool[k].at = space_hole(space, pool[k].pages, 100 * 512);
				object_bind(r, space, &pool[k]);
			}
			space_submit(r, space);
		}
		for (j = 0; j < surfaces; j++)
			object_unbind(r, space, &pool[j]);
	}
	space_end(r, space);
}

/* Textures are streamed by distance: few are popular, a cache keeps those used last. */
static void generate_streaming(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	struct object textures[600] = { 0 };
	uint32_t count = rhythm_any(r, 200, 600), budget = rhythm_any(r, 3000, 20000), bound = 0, i,
		 j;
	uint32_t at, oldest;

	for (j = 0; j < count; j++)
		textures[j].pages = 16u << rhythm_any(r, 0, 5);
	for (i = 1; space && i < SUBMISSIONS; i++) {
		for (j = 0; j < 5; j++) {
			at = rhythm_any(r, 0, rhythm_any(r, 0, rhythm_any(r, 0, count - 1)));
			textures[at].when = i;
			if (textures[at].bound)
				continue;
			textures[at].at = space_hole(space, textures[at].pages, 100 * 512);
			object_bind(r, space, &textures[at]);
			bound += textures[at].pages;
			while (bound > budget) {
				oldest = at;
				for (uint32_t k = 0; k < count; k++)
					if (textures[k].bound &&
					    textures[k].when < textures[oldest].when)
						oldest = k;
				if (oldest == at)
					break;
				object_unbind(r, space, &textures[oldest]);
				bound -= textures[oldest].pages;
			}
		}
		space_submit(r, space);
	}
	space_end(r, space);
}

/* Layers allocate going forward and free going backward: a page's gaps depend on its place. */
static void generate_training(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t layers = rhythm_any(r, 10, 60), pages = rhythm_any(r, 100, 1500), i = 0, j;

	while (i < SUBMISSIONS) {
		for (j = 0; j < layers; j++, i++) {
			space_bind(r, space, 1 + j * pages, pages);
			space_submit(r, space);
		}
		for (j = layers; j--; i++) {
			space_unbind(r, space, 1 + j * pages, pages);
			space_submit(r, space);
		}
	}
	space_end(r, space);
}

/* Clients that are on and off for times with a heavy tail. Each has a few pages of its own. */
static void generate_on_off(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t clients = rhythm_any(r, 5, 30), i, j, until[30] = { 0 };
	bool on[30] = { 0 };

	for (i = 0; i < SUBMISSIONS; i++) {
		for (j = 0; j < clients; j++) {
			if (i >= until[j]) {
				on[j] = !on[j];
				/* Pareto with the exponent 1 */
				until[j] = i + 10000 / rhythm_any(r, 10, 2000);
			}
			if (on[j] && rhythm_chance(r, 60))
				space_bind(r, space, j * 2048 + rhythm_any(r, 0, 3) * 512 + 40,
					   rhythm_any(r, 1, 200));
		}
		space_submit(r, space);
	}
	space_end(r, space);
}

/* The process forks to save its data: all its memory is invalidated at once, and bound at need. */
static void generate_fork(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t buffers = rhythm_any(r, 20, 100), period = rhythm_any(r, 60, 800), i, j;
	struct object list[100] = { 0 };

	for (j = 0; j < buffers; j++)
		list[j] = (struct object){ .at = 1 + j * 512, .pages = rhythm_any(r, 30, 500) };
	for (i = 0; i < SUBMISSIONS; i++) {
		if (i % period == 0)
			for (j = 0; j < buffers; j++)
				object_unbind(r, space, &list[j]);
		for (j = 0; j < 3; j++)
			object_bind(r, space, &list[rhythm_any(r, 0, buffers - 1)]);
		space_submit(r, space);
	}
	space_end(r, space);
}

/* Tabs: a context that is filled at once, then nearly idle while it is submitted, then closed. */
static void generate_tabs(struct rhythm *r)
{
	struct space *tabs[8] = { 0 };
	uint32_t i, j, k, root = 1, tables;

	for (i = 0; i < SUBMISSIONS; i++) {
		j = rhythm_any(r, 0, rhythm_any(r, 0, 7));
		if (tabs[j] && rhythm_chance(r, 1)) {
			space_end(r, tabs[j]);
			tabs[j] = NULL;
		}
		if (!tabs[j]) {
			tabs[j] = space_new(r, root++, true);
			tables = rhythm_any(r, 10, 60);
			for (k = 0; k < tables; k++)
				space_bind(r, tabs[j], k * 512, rhythm_any(r, 100, 512));
		} else if (rhythm_chance(r, 5)) {
			space_bind(r, tabs[j], rhythm_any(r, 0, 60 * 512), rhythm_any(r, 1, 20));
		}
		space_submit(r, tabs[j]);
	}
	for (j = 0; j < 8; j++)
		space_end(r, tabs[j]);
}

/* An arena grows: one entry after another, at a rate that varies. */
static void generate_arena(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t arenas = rhythm_any(r, 1, 6), every = rhythm_any(r, 1, 12), i, j, at[6] = { 0 };

	for (i = 0; i < SUBMISSIONS; i++) {
		for (j = 0; j < arenas; j++)
			if (rhythm_any(r, 1, every) == 1)
				space_bind(r, space, j * 40 * 512 + at[j]++, 1);
		space_submit(r, space);
	}
	space_end(r, space);
}

/* A text cursor blinks, a clock ticks: regular single stores with some jitter. */
static void generate_ticks(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t timers = rhythm_any(r, 2, 12), i, j, period[12], next[12];

	for (j = 0; j < timers; j++) {
		period[j] = rhythm_any(r, 5, 150);
		next[j] = j;
	}
	for (i = 0; i < SUBMISSIONS; i++) {
		for (j = 0; j < timers; j++) {
			if (i < next[j])
				continue;
			space_bind(r, space, j * 512 + rhythm_any(r, 0, 511), 1);
			next[j] += period[j] + rhythm_any(r, 0, period[j] / 8);
		}
		space_submit(r, space);
	}
	space_end(r, space);
}

/* Huge pages are formed in the background: a range is invalidated and bound again, in order. */
static void generate_khugepaged(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t tables = rhythm_any(r, 16, 60), wakes = rhythm_any(r, 10, 80), i, j, at = 0;

	for (i = 0; i < SUBMISSIONS; i++) {
		if (i % wakes == 0)
			for (j = 0; j < 8; j++, at++)
				space_unbind(r, space, at % tables * 512, 512);
		else if (i % wakes == 1)
			for (j = 0; j < 8; j++)
				space_bind(r, space, (at - 1 - j) % tables * 512, 512);
		space_submit(r, space);
	}
	space_end(r, space);
}

/* Images and rings of contexts are bound in the GGTT at first use, and unbound when it is idle. */
static void generate_rings(struct rhythm *r)
{
	struct space *ggtt = space_new(r, 0, false), *space = space_new(r, 1, false);
	struct object contexts[64] = { 0 };
	uint32_t count = rhythm_any(r, 8, 64), i, j, idle = rhythm_any(r, 30, 300);

	for (i = 0; ggtt && i < SUBMISSIONS; i++) {
		if (i % idle == 0)
			for (j = 0; j < count; j++)
				object_unbind(r, ggtt, &contexts[j]);
		j = rhythm_any(r, 0, rhythm_any(r, 0, count - 1));
		if (!contexts[j].bound) {
			contexts[j].pages = 26;
			contexts[j].at = space_hole(ggtt, 26, 6 * 512);
			object_bind(r, ggtt, &contexts[j]);
		}
		space_submit(r, space);
	}
	space_end(r, ggtt);
	space_end(r, space);
}

/* Two processes take turns in a small memory: what the one in front uses displaces the other's. */
static void generate_focus(struct rhythm *r)
{
	struct space *spaces[2] = { space_new(r, 1, false), space_new(r, 2, false) };
	uint32_t tables = rhythm_any(r, 10, 80), turn = rhythm_any(r, 100, 600), i, front = 0,
		 at = 0;

	for (i = 0; i < SUBMISSIONS; i++) {
		if (i % turn == 0) {
			front = !front;
			at = 0;
		}
		if (at < tables) {
			space_unbind(r, spaces[!front], at * 512, 512);
			space_bind(r, spaces[front], at++ * 512, 512);
		}
		space_submit(r, spaces[rhythm_chance(r, 90) ? front : !front]);
	}
	space_end(r, spaces[0]);
	space_end(r, spaces[1]);
}

const struct rhythm_family rhythm_judging[] = {
	{ "resize", true,
	  "a window that is resized (weston, gl-renderer.c, gl_renderer_attach_dmabuf)",
	  generate_resize },
	{ "playlist", true, "a pool of surfaces for each clip (mpv, --hwdec-extra-frames)",
	  generate_playlist },
	{ "streaming", true,
	  "textures streamed within a budget (Unreal Engine, r.Streaming.PoolSize)",
	  generate_streaming },
	{ "training", true, "forward and backward passes (PyTorch, CUDACachingAllocator.cpp)",
	  generate_training },
	{ "on-off", true,
	  "clients on and off for times with a heavy tail (Crovella, Bestavros 1997)",
	  generate_on_off },
	{ "fork", true, "a fork to save data (Redis, rdb.c; i915_gem_userptr_invalidate)",
	  generate_fork },
	{ "tabs", true, "a context for each tab (Chromium, gpu/command_buffer)", generate_tabs },
	{ "arena", true, "a heap that grows by pages (glibc, malloc/arena.c, in a shared heap)",
	  generate_arena },
	{ "ticks", true, "a blinking cursor (GTK, gtk-cursor-blink-time)", generate_ticks },
	{ "khugepaged", true, "huge pages formed in order (mm/khugepaged.c, scan_sleep_millisecs)",
	  generate_khugepaged },
	{ "rings", true, "contexts pinned in the GGTT (intel_context.c, intel_context_post_unpin)",
	  generate_rings },
	{ "focus", true, "the process in front gets the memory (WDDM, VidMm budgets)",
	  generate_focus },
	{ 0 },
};
