// SPDX-License-Identifier: GPL-2.0-only
/* The families of rhythms that adaptive was designed with. */
#include "rhythms.h"

#define SUBMISSIONS 3000u

/* The working set exceeds the space: each submission evicts the objects used least recently. */
static void generate_evict(struct rhythm *r)
{
	struct space *space = space_new(r, 1, true);
	uint32_t objects = rhythm_any(r, 40, 120), pages = rhythm_any(r, 60, 400), i, at = 0;
	uint32_t fit = objects * rhythm_any(r, 60, 95) / 100, slot, first = 0;
	struct object slots[128] = { 0 };

	for (i = 0; i < fit; i++)
		slots[i] = (struct object){ .at = 1 + i * pages, .pages = pages };
	for (i = 0; i < SUBMISSIONS; i++) {
		/* A part of the objects is used in turn, which is what makes LRU fail. */
		for (slot = 0; slot < rhythm_any(r, 1, 3); slot++) {
			at = first++ % fit;
			object_unbind(r, space, &slots[at]);
			object_bind(r, space, &slots[at]);
		}
		space_submit(r, space);
	}
	space_end(r, space);
}

/* Buffers come and go. Those idle for more than a second are closed, once a second. */
static void generate_bo_cache(struct rhythm *r)
{
	struct space *space = space_new(r, 1, rhythm_chance(r, 50));
	struct object cache[256] = { 0 };
	uint32_t second = rhythm_any(r, 50, 70), busy = rhythm_any(r, 5, 40), i, j;

	for (i = 0; i < SUBMISSIONS; i++) {
		for (j = 0; j < 256; j++) {
			struct object *o = &cache[j];

			if (i % second == 0 && o->bound && i > o->when + second)
				object_unbind(r, space, o);
		}
		for (j = 0; space && j < 3; j++) {
			struct object *o = &cache[rhythm_any(r, 0, 255)];

			if (o->bound && i < o->when)
				continue;
			if (!rhythm_chance(r, busy))
				continue;
			if (!o->bound) {
				o->pages = 1u << rhythm_any(r, 0, 7);
				o->at = space_hole(space, o->pages, 100 * 512);
				object_bind(r, space, o);
			}
			o->when = i + rhythm_any(r, 1, 90);
		}
		space_submit(r, space);
	}
	space_end(r, space);
}

/* Tiles come into view on one side and go on the other while the view scrolls; then it rests. */
static void generate_tiles(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t wide = rhythm_any(r, 4, 8), tall = rhythm_any(r, 6, 12),
		 keep = rhythm_any(r, 5, 80);
	struct object tiles[4096] = { 0 };
	uint32_t i, j, top = 0, speed = 0, left = 0;

	for (i = 0; i < SUBMISSIONS; i++) {
		if (!left--) {
			speed = rhythm_chance(r, 40) ? rhythm_any(r, 1, 3) : 0;
			left = rhythm_any(r, 20, 150);
		}
		if (i % 4 == 0)
			top += speed;
		if (top >= 300)
			top = 0;
		for (j = 0; space && j < 330 * wide; j++) {
			struct object *o = &tiles[j];
			bool seen = j / wide >= top && j / wide < top + tall;

			if (seen && !o->bound) {
				o->pages = 64;
				o->at = space_hole(space, 64, 120 * 512);
				object_bind(r, space, o);
			} else if (!seen && o->bound && i > o->when + keep) {
				object_unbind(r, space, o);
			}
			if (seen)
				o->when = i;
		}
		space_submit(r, space);
	}
	space_end(r, space);
}

/* Small pixmaps of many clients: single stores without memory, each page at a rate of its own. */
static void generate_pixmaps(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t pages = rhythm_any(r, 20, 100), i, j, rate[100];

	for (j = 0; j < pages; j++) {
		rate[j] = 1u << rhythm_any(r, 0, 9); /* of 1024 */
		space_bind(r, space, j * 512, 500);
	}
	for (i = 0; i < SUBMISSIONS; i++) {
		for (j = 0; j < pages; j++)
			if (rhythm_any(r, 0, 1023) < rate[j])
				space_bind(r, space, j * 512 + rhythm_any(r, 0, 499), 1);
		space_submit(r, space);
	}
	space_end(r, space);
}

/* Film at 24 frames per second on a display of 60: 3 and 2 refreshes in turn, and an interface. */
static void generate_pulldown(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t surfaces = rhythm_any(r, 3, 16), pages = rhythm_any(r, 127, 765), i, frame = 0;
	uint32_t slow = rhythm_any(r, 20, 90), next = 0;

	for (i = 0; i < SUBMISSIONS; i++) {
		if (i == next) {
			uint32_t at = 1 + frame % surfaces * pages;

			space_unbind(r, space, at, pages);
			space_bind(r, space, at, pages);
			next += frame++ % 2 ? 2 : 3;
		}
		if (i % slow == 0)
			space_bind(r, space, 200 * 512 + i / slow % 5 * 512, 40);
		space_submit(r, space);
	}
	space_end(r, space);
}

/* A game loads a level, which binds much in order, and then plays, which binds little. */
static void generate_levels(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t i = 0, j, at, size, until;

	while (i < SUBMISSIONS) {
		size = rhythm_any(r, 40, 150) * 512;
		for (at = 0; at < size; at += j, i++) {
			j = rhythm_any(r, 64, 2048);
			space_bind(r, space, at, at + j < SPACE_ENTRIES ? j : SPACE_ENTRIES - at);
			space_submit(r, space);
		}
		until = i + rhythm_any(r, 300, 900);
		for (; i < until; i++) {
			if (rhythm_chance(r, 20))
				space_bind(r, space, rhythm_any(r, 0, size - 32),
					   rhythm_any(r, 1, 32));
			space_submit(r, space);
		}
		space_unbind(r, space, 0, size);
	}
	space_end(r, space);
}

/* Contexts that live for a few submissions. */
static void generate_short_contexts(struct rhythm *r)
{
	uint32_t i = 0, j, k, root = 1, lives = rhythm_any(r, 3, 60), tables = rhythm_any(r, 2, 24);
	struct space *space;

	while (i < SUBMISSIONS) {
		space = space_new(r, root++, true);
		for (j = 0; j < tables; j++)
			space_bind(r, space, j * 512 + 16, rhythm_any(r, 1, 300));
		k = rhythm_any(r, 1, lives);
		for (j = 0; j < k; j++, i++) {
			if (j && rhythm_chance(r, 30))
				space_bind(r, space, rhythm_any(r, 0, tables - 1) * 512 + 400, 10);
			space_submit(r, space);
		}
		space_end(r, space);
	}
}

/* Memory runs short now and then: the shrinker unbinds all idle objects; use brings them back. */
static void generate_shrinker(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t objects = rhythm_any(r, 50, 200), pages = rhythm_any(r, 30, 300), i, j, next = 0;
	struct object list[200] = { 0 };

	for (j = 0; j < objects; j++)
		list[j] = (struct object){ .at = 1 + j * pages, .pages = pages };
	for (i = 0; i < SUBMISSIONS; i++) {
		if (i == next) {
			for (j = 0; j < objects; j++)
				if (list[j].when + 10 < i)
					object_unbind(r, space, &list[j]);
			next += rhythm_any(r, 200, 700);
		}
		for (j = 0; j < 4; j++) {
			/* Low numbers are used more. */
			uint32_t at = rhythm_any(r, 0, rhythm_any(r, 0, objects - 1));

			object_bind(r, space, &list[at]);
			list[at].when = i;
		}
		space_submit(r, space);
	}
	space_end(r, space);
}

/* A program reads big objects through the aperture: views of 1 MiB are bound in the GGTT. */
static void generate_aperture(struct rhythm *r)
{
	struct space *ggtt = space_new(r, 0, false), *space = space_new(r, 1, false);
	uint32_t views = rhythm_any(r, 16, 128), i, view = 0, left = 0, active = 0;

	for (i = 0; i < SUBMISSIONS; i++) {
		if (!left--) {
			active = !active;
			left = rhythm_any(r, 30, 300);
		}
		if (active) {
			space_unbind(r, ggtt, 1024 + view % views * 256, 256);
			space_bind(r, ggtt, 1024 + view % views * 256, 256);
			view++;
		}
		space_submit(r, space);
	}
	space_end(r, ggtt);
	space_end(r, space);
}

/* Memory of the process is used by the GPU; writing to it invalidates the mapping. */
static void generate_userptr(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t buffers = rhythm_any(r, 2, 30), every = rhythm_any(r, 2, 25), i, j;
	struct object list[30] = { 0 };

	for (j = 0; j < buffers; j++)
		list[j] = (struct object){ .at = 1 + j * 700, .pages = rhythm_any(r, 8, 600) };
	for (i = 0; i < SUBMISSIONS; i++) {
		for (j = 0; j < buffers; j++) {
			if (!list[j].bound && rhythm_chance(r, 70))
				object_bind(r, space, &list[j]);
			else if ((i + j * 3) % every == 0)
				object_unbind(r, space, &list[j]);
		}
		space_submit(r, space);
	}
	space_end(r, space);
}

/* Two rhythms on pages of one kind: a fast stream, and one that comes rarely. */
static void generate_two_streams(struct rhythm *r)
{
	struct space *space = space_new(r, 1, false);
	uint32_t fast = rhythm_any(r, 1, 6), slow = rhythm_any(r, 40, 400),
		 tables = rhythm_any(r, 6, 40);
	uint32_t i, j;

	for (i = 0; i < SUBMISSIONS; i++) {
		for (j = 0; j < tables; j++)
			if (j < tables / 2 ? (i + j) % fast == 0 : (i + j * 7) % slow == 0)
				space_bind(r, space, j * 1024 + rhythm_any(r, 0, 400),
					   rhythm_any(r, 1, 60));
		space_submit(r, space);
	}
	space_end(r, space);
}

/*
 * Jobs of a batch system, several at a time: each links all its tables at once, is submitted for a
 * while, and ends. How long a while is differs between traces by three orders of magnitude.
 */
static void generate_jobs(struct rhythm *r)
{
	uint32_t slots = rhythm_any(r, 1, 12), tables = rhythm_any(r, 4, 50), root = 1, i, j, k;
	uint32_t life = rhythm_any(r, 3, 9) << rhythm_any(r, 0, 8), writes = rhythm_any(r, 0, 8);
	struct space *jobs[12] = { 0 };
	uint32_t left[12] = { 0 };

	for (i = 0; i < SUBMISSIONS; i++) {
		j = rhythm_any(r, 0, slots - 1);
		if (!left[j]--) {
			space_end(r, jobs[j]);
			jobs[j] = space_new(r, root++, true);
			left[j] = rhythm_any(r, life / 2, life + life / 2);
			for (k = 0; k < tables; k++)
				space_bind(r, jobs[j], k * 512, rhythm_any(r, 50, 500));
		} else if (rhythm_chance(r, writes)) {
			space_bind(r, jobs[j], rhythm_any(r, 0, tables - 1) * 512, 8);
		}
		space_submit(r, jobs[j]);
	}
	for (j = 0; j < slots; j++)
		space_end(r, jobs[j]);
}

const struct rhythm_family rhythm_tuning[] = {
	{ "evict", false, "i915 evicts the objects used least recently (i915_gem_evict.c)",
	  generate_evict },
	{ "bo-cache", false,
	  "Mesa closes buffers that were idle for a second (iris_bufmgr.c, cleanup_bo_cache)",
	  generate_bo_cache },
	{ "tiles", false,
	  "Chromium's tiles while scrolling, and their expiry (cc/resources/resource_pool.cc)",
	  generate_tiles },
	{ "pixmaps", false, "small pixmaps of X clients (xf86-video-intel, sna/kgem.c)",
	  generate_pixmaps },
	{ "pulldown", false, "film on a 60 Hz display (mpv, video/out; 3:2 pulldown)",
	  generate_pulldown },
	{ "levels", false, "a game that loads levels (ioquake3, renderergl1/tr_image.c)",
	  generate_levels },
	{ "short-contexts", false,
	  "contexts that live briefly (igt-gpu-tools, tests/gem_ctx_create.c)",
	  generate_short_contexts },
	{ "shrinker", false, "i915 gives memory back (i915_gem_shrinker.c)", generate_shrinker },
	{ "aperture", false, "views of 1 MiB in the GGTT (i915_gem_mman.c, MIN_CHUNK_PAGES)",
	  generate_aperture },
	{ "userptr", false, "user memory that the process writes (i915_gem_userptr.c)",
	  generate_userptr },
	{ "two-streams", false, "a video beside a page that changes rarely (weston, libweston)",
	  generate_two_streams },
	{ "jobs", false, "contexts of compute jobs (intel-compute-runtime, drm_context; Slurm)",
	  generate_jobs },
	{ 0 },
};
