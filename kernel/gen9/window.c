// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows: host pages in the host's part of the GGTT. Windows that are given back are kept with
 * their entries, so that a submission usually writes no entry.
 *
 * DOC: shares
 *
 * A guest decides how many contexts it has, how long rings and batches are, and how long they are
 * in use. So each client has a share of the pages, in proportion to its part of the GGTT. It can
 * take more, as long as enough is left for the shares of all others.
 *
 * A window needs consecutive addresses, so a share is not only a number: it is a client range of
 * addresses for each range of the client's part. Parts do not overlap, so client ranges do not.
 * Windows in a client range are for its client only, so other clients cannot fragment it. What a
 * client borrows is in no client range. Addresses that were borrowed before a new client's range
 * contained them stay borrowed until their window is freed.
 *
 * Windows that are given back are cached. A client gets its own cached windows only. The number of
 * their pages is divided like the shares, so no client makes another one allocate at each
 * submission. A new one replaces the oldest ones of its client, whose sizes may not be in use any
 * more. Those of others are freed for their addresses only: how much memory a client has is no
 * matter of others.
 *
 * Guests' threads get and give back windows, too. They may be throttled, so nothing is allocated,
 * mapped or flushed with the lock held.
 */
#include <linux/bug.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "gen9.h"

#define CACHE_PAGES_MAX 2048
/* The last page of the GGTT stays the scratch page. */
#define PAGES_END (GEN9_HOST_GGTT_PAGES - 1)
/* The pages that clients share: all but the cache's, whose addresses so need not be waited for. */
#define USABLE_PAGES (PAGES_END - CACHE_PAGES_MAX)
/* The first page of a client range. The host takes its windows first, so theirs are below. */
#define CLIENT_RANGES_START CACHE_PAGES_MAX

/* Pages of the host's part of the GGTT. */
struct client_range {
	unsigned int start, end;
};

static u64 host_index(const struct gen9 *gpu)
{
	return (gpu->ggtt_bytes - GEN9_HOST_GGTT_BYTES) >> GHYVI_PAGE_SHIFT;
}

/* It never decreases, so the client ranges of ranges that do not overlap do not, either. */
static unsigned int range_index(const struct gen9 *gpu, u64 address)
{
	return CLIENT_RANGES_START +
	       (unsigned int)div64_u64(USABLE_PAGES * address, gpu->ggtt_bytes);
}

/* The client range for range @i of the client's part. */
static struct client_range client_range_of(const struct gen9_client *client, unsigned int i)
{
	const struct ghyvi_range *range = &client->base.params.ggtt[i];

	return (struct client_range){
		.start = range_index(client->gpu, range->start),
		.end = range_index(client->gpu, range->start + range->bytes),
	};
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

static unsigned long find_outside_client_ranges(struct gen9 *gpu, unsigned int pages)
{
	unsigned long first = 0, reserved;

	lockdep_assert_held(&gpu->window_lock);
	for (;;) {
		first = bitmap_find_next_zero_area(gpu->host_used, PAGES_END, first, pages, 0);
		if (first >= PAGES_END)
			return PAGES_END;
		reserved = find_next_bit(gpu->client_ranges, first + pages, first);
		if (reserved >= first + pages)
			return first;
		first = find_next_zero_bit(gpu->client_ranges, PAGES_END, reserved);
	}
}

/* Returns PAGES_END if there are no such addresses. */
static unsigned long find_addresses(struct gen9 *gpu, const struct gen9_client *client,
				    unsigned int pages)
{
	unsigned long first;
	unsigned int i;

	lockdep_assert_held(&gpu->window_lock);
	for (i = 0; client && i < client->base.params.nr_ggtt; i++) {
		struct client_range range = client_range_of(client, i);

		first = bitmap_find_next_zero_area(gpu->host_used, range.end, range.start, pages,
						   0);
		if (first < range.end)
			return first;
	}
	return find_outside_client_ranges(gpu, pages);
}

/* Returns 0, -ENOSPC. */
static int take_addresses(struct gen9 *gpu, const struct gen9_client *client,
			  struct gen9_window *window)
{
	unsigned long first;
	unsigned int i;

	spin_lock(&gpu->window_lock);
	first = find_addresses(gpu, client, window->pages);
	if (first < PAGES_END)
		bitmap_set(gpu->host_used, first, window->pages);
	spin_unlock(&gpu->window_lock);
	if (first >= PAGES_END)
		return -ENOSPC;
	window->ggtt = (u32)((host_index(gpu) + first) << GHYVI_PAGE_SHIFT);
	for (i = 0; i < window->pages; i++)
		gen9_ggtt_set(gpu, host_index(gpu) + first + i,
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

/* Returns the window, or ERR_PTR(): -ENOMEM; -ENOSPC: there are no addresses. */
static struct gen9_window *window_create(struct gen9 *gpu, const struct gen9_client *client,
					 unsigned int pages)
{
	gfp_t flags = client ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	struct gen9_window *window = kvzalloc(struct_size(window, backing, pages), flags);
	unsigned int i;
	int err = 0;

	if (!window)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&window->node);
	window->pages = pages;
	for (i = 0; i < pages && !err; i++)
		err = gen9_backing_alloc(gpu, &window->backing[i], flags);
	if (!err) {
		window->cpu = map_pages(window);
		err = window->cpu ? take_addresses(gpu, client, window) : -ENOMEM;
	}
	if (!err)
		return window;
	free_pages_of(gpu, window);
	return ERR_PTR(err);
}

/* The entries change before the addresses get other pages, and the flush makes engines see it. */
static void release_addresses(struct gen9 *gpu, struct gen9_window *window)
{
	u64 index = window->ggtt >> GHYVI_PAGE_SHIFT;

	gen9_ggtt_set_scratch(gpu, index, window->pages);
	gen9_ggtt_flush_sync(gpu);
	spin_lock(&gpu->window_lock);
	bitmap_clear(gpu->host_used, index - host_index(gpu), window->pages);
	spin_unlock(&gpu->window_lock);
	window->ggtt = 0;
}

static void window_destroy(struct gen9 *gpu, struct gen9_window *window)
{
	release_addresses(gpu, window);
	free_pages_of(gpu, window);
}

/* The pages that are kept for @client. */
static unsigned int unused_share(const struct gen9_client *client)
{
	return client->share > client->taken ? client->share - client->taken : 0;
}

static bool may_take(const struct gen9 *gpu, const struct gen9_client *client, unsigned int pages)
{
	lockdep_assert_held(&gpu->window_lock);
	return !client || pages <= unused_share(client) ||
	       pages + gpu->taken_pages + gpu->unused_share_pages - unused_share(client) <=
		       USABLE_PAGES;
}

static void count_pages(struct gen9 *gpu, struct gen9_client *client, int pages)
{
	lockdep_assert_held(&gpu->window_lock);
	gpu->taken_pages += pages;
	if (!client)
		return;
	gpu->unused_share_pages -= unused_share(client);
	client->taken += pages;
	gpu->unused_share_pages += unused_share(client);
}

/* Test whether the addresses are in a range of the client, or of none. */
static bool may_have(const struct gen9 *gpu, const struct gen9_client *client,
		     const struct gen9_window *window)
{
	unsigned int start = (window->ggtt >> GHYVI_PAGE_SHIFT) - host_index(gpu);
	unsigned int end = start + window->pages, i;

	lockdep_assert_held(&gpu->window_lock);
	for (i = 0; client && i < client->base.params.nr_ggtt; i++) {
		struct client_range range = client_range_of(client, i);

		if (start >= range.start && end <= range.end)
			return true;
	}
	return find_next_bit(gpu->client_ranges, end, start) >= end;
}

static void cache_remove(struct gen9_window *window)
{
	list_del_init(&window->node);
	window->client->cached -= window->pages;
}

/* The number of pages that cached windows of the client may have. */
static unsigned int cache_quota(const struct gen9 *gpu, const struct gen9_client *client)
{
	return client->share ? CACHE_PAGES_MAX * client->share / gpu->share_pages : 0;
}

static bool may_cache(const struct gen9 *gpu, const struct gen9_window *window)
{
	const struct gen9_client *client = window->client;

	lockdep_assert_held(&gpu->window_lock);
	return client && !client->address_waiters && may_have(gpu, client, window) &&
	       window->pages <= cache_quota(gpu, client);
}

/* Move cached windows of the client, the oldest first, to @evicted until @pages have room. */
static void evict_cached(struct gen9 *gpu, const struct gen9_client *client, unsigned int pages,
			 struct list_head *evicted)
{
	struct gen9_window *window, *newer;

	lockdep_assert_held(&gpu->window_lock);
	list_for_each_entry_safe_reverse(window, newer, &gpu->window_cache, node) {
		if (client->cached + pages <= cache_quota(gpu, client))
			return;
		if (window->client != client)
			continue;
		cache_remove(window);
		list_add(&window->node, evicted);
	}
}

/* What free_cached() frees. */
enum cached {
	CACHED_OF_CLIENT, /* all of the client */
	CACHED_FOR_CLIENT, /* those of any client whose addresses the client may have */
	CACHED_IN_EXCESS, /* those that their clients may not have any more */
};

static bool must_free(const struct gen9 *gpu, const struct gen9_client *client,
		      const struct gen9_window *window, enum cached which)
{
	switch (which) {
	case CACHED_OF_CLIENT:
		return window->client == client;
	case CACHED_FOR_CLIENT:
		return may_have(gpu, client, window);
	default:
		return !may_have(gpu, window->client, window) ||
		       window->client->cached > cache_quota(gpu, window->client);
	}
}

static bool has_excess(const struct gen9 *gpu)
{
	const struct gen9_window *window;

	lockdep_assert_held(&gpu->window_lock);
	list_for_each_entry(window, &gpu->window_cache, node)
		if (must_free(gpu, window->client, window, CACHED_IN_EXCESS))
			return true;
	return false;
}

static void destroy_windows(struct gen9 *gpu, struct list_head *windows)
{
	struct gen9_window *window, *next;

	list_for_each_entry_safe(window, next, windows, node) {
		list_del(&window->node);
		window_destroy(gpu, window);
	}
}

static void free_cached(struct gen9 *gpu, const struct gen9_client *client, enum cached which)
{
	struct gen9_window *window, *newer;
	LIST_HEAD(evicted);

	mutex_lock(&gpu->cache_lock);
	spin_lock(&gpu->window_lock);
	list_for_each_entry_safe_reverse(window, newer, &gpu->window_cache, node) {
		if (!must_free(gpu, client, window, which))
			continue;
		cache_remove(window);
		list_add(&window->node, &evicted);
	}
	spin_unlock(&gpu->window_lock);
	destroy_windows(gpu, &evicted);
	mutex_unlock(&gpu->cache_lock);
}

struct cache_call {
	struct work_struct work;
	const struct gen9_client *client;
	enum cached which;
};

static void cache_work(struct work_struct *work)
{
	struct cache_call *call = container_of(work, struct cache_call, work);

	free_cached(call->client->gpu, call->client, call->which);
}

/* Others may wait for their addresses, and a guest's thread might be throttled with them. */
static void let_free_cached(const struct gen9_client *client, enum cached which)
{
	struct cache_call call = { .client = client, .which = which };

	gen9_worker_call(client->gpu, &call.work, cache_work);
}

static void count_waiter(struct gen9 *gpu, struct gen9_client *client, int change)
{
	spin_lock(&gpu->window_lock);
	client->address_waiters += change;
	spin_unlock(&gpu->window_lock);
}

/*
 * The addresses that are left may be too short. The client's other threads could fill its ranges
 * with cached windows again, so they cache none until cache_resume().
 */
static void cache_stop(struct gen9 *gpu, struct gen9_client *client)
{
	count_waiter(gpu, client, 1);
	let_free_cached(client, CACHED_FOR_CLIENT);
}

static void cache_resume(struct gen9 *gpu, struct gen9_client *client)
{
	count_waiter(gpu, client, -1);
}

/* Cached windows are freed for what the new one needs: addresses, or memory of the client. */
static struct gen9_window *create_without_cache(struct gen9 *gpu, struct gen9_client *client,
						unsigned int pages, int err)
{
	struct gen9_window *window;

	if (err == -ENOMEM) {
		let_free_cached(client, CACHED_OF_CLIENT);
		return window_create(gpu, client, pages);
	}
	cache_stop(gpu, client);
	window = window_create(gpu, client, pages);
	cache_resume(gpu, client);
	return window;
}

static struct gen9_window *cache_find(struct gen9 *gpu, const struct gen9_client *client,
				      unsigned int pages)
{
	struct gen9_window *window;

	lockdep_assert_held(&gpu->window_lock);
	list_for_each_entry(window, &gpu->window_cache, node) {
		if (window->client != client || window->pages != pages ||
		    !may_have(gpu, client, window))
			continue;
		cache_remove(window);
		return window;
	}
	return NULL;
}

struct gen9_window *gen9_window_get(struct gen9 *gpu, struct gen9_client *client,
				    unsigned int pages)
{
	struct gen9_window *window;

	spin_lock(&gpu->window_lock);
	if (!may_take(gpu, client, pages)) {
		spin_unlock(&gpu->window_lock);
		return NULL;
	}
	count_pages(gpu, client, pages);
	window = cache_find(gpu, client, pages);
	spin_unlock(&gpu->window_lock);
	window = window ?: window_create(gpu, client, pages);
	if (IS_ERR(window) && client)
		window = create_without_cache(gpu, client, pages, PTR_ERR(window));
	if (!IS_ERR(window)) {
		window->client = client;
		return window;
	}
	spin_lock(&gpu->window_lock);
	count_pages(gpu, client, -(int)pages);
	spin_unlock(&gpu->window_lock);
	return NULL;
}

void gen9_window_unmap(struct gen9 *gpu, struct gen9_window *window)
{
	release_addresses(gpu, window);
	spin_lock(&gpu->window_lock);
	count_pages(gpu, window->client, -(int)window->pages);
	spin_unlock(&gpu->window_lock);
}

int gen9_window_map(struct gen9 *gpu, struct gen9_window *window)
{
	struct gen9_client *client = window->client;
	int err;

	spin_lock(&gpu->window_lock);
	err = may_take(gpu, client, window->pages) ? 0 : -ENOMEM;
	if (!err)
		count_pages(gpu, client, window->pages);
	spin_unlock(&gpu->window_lock);
	if (err)
		return err;
	err = take_addresses(gpu, client, window);
	if (err) {
		cache_stop(gpu, client);
		err = take_addresses(gpu, client, window);
		cache_resume(gpu, client);
	}
	if (!err)
		return 0;
	spin_lock(&gpu->window_lock);
	count_pages(gpu, client, -(int)window->pages);
	spin_unlock(&gpu->window_lock);
	return -ENOMEM;
}

/*
 * Cache the window as the newest one, or find that it cannot be cached. Windows that have to be
 * destroyed are moved to @rest. Until they are they count as taken: their addresses are not free.
 * Returns the number of their pages.
 */
static unsigned int cache_add(struct gen9 *gpu, struct gen9_window *window, struct list_head *rest)
{
	struct gen9_client *client = window->client;
	struct gen9_window *evicted;
	unsigned int pages = 0;

	lockdep_assert_held(&gpu->window_lock);
	if (!may_cache(gpu, window)) {
		list_add(&window->node, rest);
		return window->pages;
	}
	evict_cached(gpu, client, window->pages, rest);
	list_for_each_entry(evicted, rest, node)
		pages += evicted->pages;
	count_pages(gpu, client, (int)pages - (int)window->pages);
	list_add(&window->node, &gpu->window_cache);
	client->cached += window->pages;
	return pages;
}

void gen9_window_put(struct gen9 *gpu, struct gen9_window *window)
{
	struct gen9_client *client;
	unsigned int pages;
	LIST_HEAD(rest);

	if (!window)
		return;
	if (!window->ggtt) {
		free_pages_of(gpu, window);
		return;
	}
	client = window->client;
	list_del_init(&window->node);
	spin_lock(&gpu->window_lock);
	pages = cache_add(gpu, window, &rest);
	spin_unlock(&gpu->window_lock);
	if (!pages)
		return;
	destroy_windows(gpu, &rest);
	spin_lock(&gpu->window_lock);
	count_pages(gpu, client, -(int)pages);
	spin_unlock(&gpu->window_lock);
}

bool gen9_windows_have_room(struct gen9_client *client, unsigned int pages)
{
	bool room;

	spin_lock(&client->gpu->window_lock);
	room = may_take(client->gpu, client, pages);
	spin_unlock(&client->gpu->window_lock);
	return room;
}

void gen9_windows_add_client(struct gen9_client *client)
{
	struct gen9 *gpu = client->gpu;
	unsigned int i;
	bool excess;

	client->share = 0;
	spin_lock(&gpu->window_lock);
	for (i = 0; i < client->base.params.nr_ggtt; i++) {
		struct client_range range = client_range_of(client, i);

		bitmap_set(gpu->client_ranges, range.start, range.end - range.start);
		client->share += range.end - range.start;
	}
	gpu->share_pages += client->share;
	gpu->unused_share_pages += unused_share(client);
	excess = has_excess(gpu);
	spin_unlock(&gpu->window_lock);
	if (excess)
		let_free_cached(client, CACHED_IN_EXCESS);
}

void gen9_windows_remove_client(struct gen9_client *client)
{
	struct gen9 *gpu = client->gpu;
	unsigned int i;

	let_free_cached(client, CACHED_OF_CLIENT);
	spin_lock(&gpu->window_lock);
	WARN_ON_ONCE(client->taken);
	gpu->share_pages -= client->share;
	gpu->unused_share_pages -= unused_share(client);
	for (i = 0; i < client->base.params.nr_ggtt; i++) {
		struct client_range range = client_range_of(client, i);

		bitmap_clear(gpu->client_ranges, range.start, range.end - range.start);
	}
	spin_unlock(&gpu->window_lock);
}
