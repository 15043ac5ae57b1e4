// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows: host pages in the host's part of the GGTT. Windows that are given back are kept with
 * their entries, so that a submission usually writes no entry.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "gen9.h"

#define SPARE_PAGES_MAX 2048

static u64 host_index(const struct gen9 *gpu)
{
	return (gpu->ggtt_bytes - GEN9_HOST_GGTT_BYTES) >> GHYVI_PAGE_SHIFT;
}

static void *map_pages(const struct gen9_window *window)
{
	struct page **pages = kvmalloc_array(window->pages, sizeof(*pages), GFP_KERNEL);
	unsigned int i;
	void *cpu;

	if (!pages)
		return NULL;
	for (i = 0; i < window->pages; i++)
		pages[i] = window->backing[i].page;
	cpu = vmap(pages, window->pages, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return cpu;
}

/* The last page of the GGTT stays the scratch page. */
static int take_addresses(struct gen9 *gpu, struct gen9_window *window)
{
	unsigned long at;
	unsigned int i;

	lockdep_assert_held(&gpu->window_lock);
	at = bitmap_find_next_zero_area(gpu->host_used, GEN9_HOST_GGTT_PAGES - 1, 0, window->pages,
					0);
	if (at >= GEN9_HOST_GGTT_PAGES - 1)
		return -ENOMEM;
	bitmap_set(gpu->host_used, at, window->pages);
	window->ggtt = (u32)((host_index(gpu) + at) << GHYVI_PAGE_SHIFT);
	for (i = 0; i < window->pages; i++)
		gen9_ggtt_set(gpu, host_index(gpu) + at + i,
			      gen9_ggtt_entry(window->backing[i].dma));
	return 0;
}

static void free_pages_of(struct gen9 *gpu, struct gen9_window *window)
{
	unsigned int i;

	if (window->cpu)
		vunmap(window->cpu);
	for (i = 0; i < window->pages; i++)
		gen9_backing_free(gpu, &window->backing[i]);
	kvfree(window);
}

static struct gen9_window *window_create(struct gen9 *gpu, unsigned int pages)
{
	struct gen9_window *window = kvzalloc(struct_size(window, backing, pages), GFP_KERNEL);
	unsigned int i;
	int err = 0;

	if (!window)
		return NULL;
	INIT_LIST_HEAD(&window->node);
	window->pages = pages;
	for (i = 0; i < pages && !err; i++)
		err = gen9_backing_alloc(gpu, &window->backing[i]);
	if (!err)
		window->cpu = map_pages(window);
	if (window->cpu)
		err = take_addresses(gpu, window);
	if (window->cpu && !err)
		return window;
	free_pages_of(gpu, window);
	return NULL;
}

/* The entries change before the pages are freed, and the flush makes engines see it. */
static void window_destroy(struct gen9 *gpu, struct gen9_window *window)
{
	u64 index = window->ggtt >> GHYVI_PAGE_SHIFT;

	lockdep_assert_held(&gpu->window_lock);
	gen9_ggtt_set_scratch(gpu, index, window->pages);
	gen9_ggtt_flush(gpu);
	bitmap_clear(gpu->host_used, index - host_index(gpu), window->pages);
	free_pages_of(gpu, window);
}

struct gen9_window *gen9_window_get(struct gen9 *gpu, unsigned int pages)
{
	struct gen9_window *window;

	mutex_lock(&gpu->window_lock);
	list_for_each_entry(window, &gpu->spare_windows, node) {
		if (window->pages != pages)
			continue;
		list_del_init(&window->node);
		gpu->spare_pages -= pages;
		goto unlock;
	}
	window = window_create(gpu, pages);
unlock:
	mutex_unlock(&gpu->window_lock);
	return window;
}

void gen9_window_put(struct gen9 *gpu, struct gen9_window *window)
{
	if (!window)
		return;
	mutex_lock(&gpu->window_lock);
	list_del_init(&window->node);
	if (gpu->spare_pages + window->pages <= SPARE_PAGES_MAX) {
		list_add(&window->node, &gpu->spare_windows);
		gpu->spare_pages += window->pages;
	} else {
		window_destroy(gpu, window);
	}
	mutex_unlock(&gpu->window_lock);
}

void gen9_windows_free(struct gen9 *gpu)
{
	struct gen9_window *window, *next;

	mutex_lock(&gpu->window_lock);
	list_for_each_entry_safe(window, next, &gpu->spare_windows, node) {
		list_del(&window->node);
		window_destroy(gpu, window);
	}
	gpu->spare_pages = 0;
	mutex_unlock(&gpu->window_lock);
}
