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
 * A window needs consecutive addresses, so a share is not only a number: it is a home, one range of
 * addresses for each range of the client's part. Parts do not overlap, so homes do not. Windows in
 * a home are for its client only, so other clients cannot fragment it. What a client borrows is in
 * no home. Addresses that were borrowed before a new client's home contained them stay borrowed
 * until their window is freed.
 *
 * A client gets its own spares only. The number of their pages is divided like the shares, so no
 * client makes another one allocate at each submission.
 *
 * Guests' threads get and give back windows, too. They may be throttled, so nothing is allocated,
 * mapped or flushed with the lock held.
 */
#include <linux/bug.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "gen9.h"

#define SPARE_PAGES_MAX 2048
/* The last page of the GGTT stays the scratch page. */
#define PAGES_END (GEN9_HOST_GGTT_PAGES - 1)
/* The pages that clients share: all but spares, whose addresses so need not be waited for. */
#define USABLE_PAGES (PAGES_END - SPARE_PAGES_MAX)
/* The first page of a home. The host takes its windows first, so theirs are below. */
#define HOMES_START SPARE_PAGES_MAX

/* Pages of the host's part of the GGTT. */
struct home {
	unsigned int start, end;
};

static u64 host_index(const struct gen9 *gpu)
{
	return (gpu->ggtt_bytes - GEN9_HOST_GGTT_BYTES) >> GHYVI_PAGE_SHIFT;
}

/* It never decreases, so ranges that do not overlap have homes that do not. */
static unsigned int home_index(const struct gen9 *gpu, u64 address)
{
	return HOMES_START + (unsigned int)div64_u64(USABLE_PAGES * address, gpu->ggtt_bytes);
}

/* The part of the client's home for its range @i. */
static struct home home_of(const struct gen9_client *client, unsigned int i)
{
	const struct ghyvi_range *range = &client->base.params.ggtt[i];

	return (struct home){
		.start = home_index(client->gpu, range->start),
		.end = home_index(client->gpu, range->start + range->bytes),
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

static unsigned long find_outside_homes(struct gen9 *gpu, unsigned int pages)
{
	unsigned long at = 0, home;

	lockdep_assert_held(&gpu->window_lock);
	for (;;) {
		at = bitmap_find_next_zero_area(gpu->host_used, PAGES_END, at, pages, 0);
		if (at >= PAGES_END)
			return PAGES_END;
		home = find_next_bit(gpu->host_homes, at + pages, at);
		if (home >= at + pages)
			return at;
		at = find_next_zero_bit(gpu->host_homes, PAGES_END, home);
	}
}

/* Returns PAGES_END if there are no such addresses. */
static unsigned long find_addresses(struct gen9 *gpu, const struct gen9_client *client,
				    unsigned int pages)
{
	unsigned long at;
	unsigned int i;

	lockdep_assert_held(&gpu->window_lock);
	for (i = 0; client && i < client->base.params.nr_ggtt; i++) {
		struct home home = home_of(client, i);

		at = bitmap_find_next_zero_area(gpu->host_used, home.end, home.start, pages, 0);
		if (at < home.end)
			return at;
	}
	return find_outside_homes(gpu, pages);
}

static int take_addresses(struct gen9 *gpu, const struct gen9_client *client,
			  struct gen9_window *window)
{
	unsigned long at;
	unsigned int i;

	spin_lock(&gpu->window_lock);
	at = find_addresses(gpu, client, window->pages);
	if (at < PAGES_END)
		bitmap_set(gpu->host_used, at, window->pages);
	spin_unlock(&gpu->window_lock);
	if (at >= PAGES_END)
		return -ENOMEM;
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

static struct gen9_window *window_create(struct gen9 *gpu, const struct gen9_client *client,
					 unsigned int pages)
{
	gfp_t flags = client ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	struct gen9_window *window = kvzalloc(struct_size(window, backing, pages), flags);
	unsigned int i;
	int err = 0;

	if (!window)
		return NULL;
	INIT_LIST_HEAD(&window->node);
	window->pages = pages;
	for (i = 0; i < pages && !err; i++)
		err = gen9_backing_alloc(gpu, &window->backing[i], flags);
	if (!err)
		window->cpu = map_pages(window);
	if (window->cpu)
		err = take_addresses(gpu, client, window);
	if (window->cpu && !err)
		return window;
	free_pages_of(gpu, window);
	return NULL;
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
static unsigned int claim_of(const struct gen9_client *client)
{
	return client->share > client->taken ? client->share - client->taken : 0;
}

static bool may_take(const struct gen9 *gpu, const struct gen9_client *client, unsigned int pages)
{
	lockdep_assert_held(&gpu->window_lock);
	return !client || pages <= claim_of(client) ||
	       pages + gpu->taken_pages + gpu->claimed_pages - claim_of(client) <= USABLE_PAGES;
}

static void count_pages(struct gen9 *gpu, struct gen9_client *client, int pages)
{
	lockdep_assert_held(&gpu->window_lock);
	gpu->taken_pages += pages;
	if (!client)
		return;
	gpu->claimed_pages -= claim_of(client);
	client->taken += pages;
	gpu->claimed_pages += claim_of(client);
}

/* Test whether the addresses are in the client's home, or in none. */
static bool may_have(const struct gen9 *gpu, const struct gen9_client *client,
		     const struct gen9_window *window)
{
	unsigned int start = (window->ggtt >> GHYVI_PAGE_SHIFT) - host_index(gpu);
	unsigned int end = start + window->pages, i;

	lockdep_assert_held(&gpu->window_lock);
	for (i = 0; client && i < client->base.params.nr_ggtt; i++) {
		struct home home = home_of(client, i);

		if (start >= home.start && end <= home.end)
			return true;
	}
	return find_next_bit(gpu->host_homes, end, start) >= end;
}

static void spare_remove(struct gen9_window *window)
{
	list_del_init(&window->node);
	window->client->spares -= window->pages;
}

/* The number of pages that spares of the client may have. */
static unsigned int spares_part(const struct gen9 *gpu, const struct gen9_client *client)
{
	return client->share ? SPARE_PAGES_MAX * client->share / gpu->home_pages : 0;
}

static bool may_spare(const struct gen9 *gpu, const struct gen9_window *window)
{
	const struct gen9_client *client = window->client;

	lockdep_assert_held(&gpu->window_lock);
	return client && !client->address_waiters && may_have(gpu, client, window) &&
	       client->spares + window->pages <= spares_part(gpu, client);
}

/* Free the spares of @client, or those of any client whose addresses it may have. */
static void free_spares(struct gen9 *gpu, const struct gen9_client *client, bool for_addresses)
{
	struct gen9_window *window, *next;
	LIST_HEAD(spares);

	mutex_lock(&gpu->spares_lock);
	spin_lock(&gpu->window_lock);
	list_for_each_entry_safe(window, next, &gpu->spare_windows, node) {
		if (for_addresses ? !may_have(gpu, client, window) : window->client != client)
			continue;
		spare_remove(window);
		list_add(&window->node, &spares);
	}
	spin_unlock(&gpu->window_lock);
	list_for_each_entry_safe(window, next, &spares, node) {
		list_del(&window->node);
		window_destroy(gpu, window);
	}
	mutex_unlock(&gpu->spares_lock);
}

struct spares_call {
	struct work_struct work;
	const struct gen9_client *client;
	bool for_addresses;
};

static void spares_work(struct work_struct *work)
{
	struct spares_call *call = container_of(work, struct spares_call, work);

	free_spares(call->client->gpu, call->client, call->for_addresses);
}

/* Others may wait for their addresses, and a guest's thread might be throttled with them. */
static void let_free_spares(const struct gen9_client *client, bool for_addresses)
{
	struct spares_call call = { .client = client, .for_addresses = for_addresses };

	gen9_worker_call(client->gpu, &call.work, spares_work);
}

static void count_waiter(struct gen9 *gpu, struct gen9_client *client, int change)
{
	spin_lock(&gpu->window_lock);
	client->address_waiters += change;
	spin_unlock(&gpu->window_lock);
}

/*
 * The addresses that are left may be too short. The client's other threads could fill its home with
 * spares again, so they keep none until have_spares().
 */
static void drop_spares(struct gen9 *gpu, struct gen9_client *client)
{
	count_waiter(gpu, client, 1);
	let_free_spares(client, true);
}

static void have_spares(struct gen9 *gpu, struct gen9_client *client)
{
	count_waiter(gpu, client, -1);
}

static struct gen9_window *create_without_spares(struct gen9 *gpu, struct gen9_client *client,
						 unsigned int pages)
{
	struct gen9_window *window;

	drop_spares(gpu, client);
	window = window_create(gpu, client, pages);
	have_spares(gpu, client);
	return window;
}

static struct gen9_window *spare_find(struct gen9 *gpu, const struct gen9_client *client,
				      unsigned int pages)
{
	struct gen9_window *window;

	lockdep_assert_held(&gpu->window_lock);
	list_for_each_entry(window, &gpu->spare_windows, node) {
		if (window->client != client || window->pages != pages ||
		    !may_have(gpu, client, window))
			continue;
		spare_remove(window);
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
	window = spare_find(gpu, client, pages);
	spin_unlock(&gpu->window_lock);
	window = window ?: window_create(gpu, client, pages);
	if (!window && client)
		window = create_without_spares(gpu, client, pages);
	if (window) {
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
		drop_spares(gpu, client);
		err = take_addresses(gpu, client, window);
		have_spares(gpu, client);
	}
	if (!err)
		return 0;
	spin_lock(&gpu->window_lock);
	count_pages(gpu, client, -(int)window->pages);
	spin_unlock(&gpu->window_lock);
	return err;
}

void gen9_window_put(struct gen9 *gpu, struct gen9_window *window)
{
	struct gen9_client *client;
	unsigned int pages;
	bool kept;

	if (!window)
		return;
	if (!window->ggtt) {
		free_pages_of(gpu, window);
		return;
	}
	client = window->client;
	pages = window->pages;
	list_del_init(&window->node);
	spin_lock(&gpu->window_lock);
	kept = may_spare(gpu, window);
	if (kept) {
		count_pages(gpu, client, -(int)pages);
		list_add(&window->node, &gpu->spare_windows);
		client->spares += pages;
	}
	spin_unlock(&gpu->window_lock);
	if (kept)
		return;
	window_destroy(gpu, window);
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

	client->share = 0;
	spin_lock(&gpu->window_lock);
	for (i = 0; i < client->base.params.nr_ggtt; i++) {
		struct home home = home_of(client, i);

		bitmap_set(gpu->host_homes, home.start, home.end - home.start);
		client->share += home.end - home.start;
	}
	gpu->home_pages += client->share;
	gpu->claimed_pages += claim_of(client);
	spin_unlock(&gpu->window_lock);
}

void gen9_windows_remove_client(struct gen9_client *client)
{
	struct gen9 *gpu = client->gpu;
	unsigned int i;

	let_free_spares(client, false);
	spin_lock(&gpu->window_lock);
	WARN_ON_ONCE(client->taken);
	gpu->home_pages -= client->share;
	gpu->claimed_pages -= claim_of(client);
	for (i = 0; i < client->base.params.nr_ggtt; i++) {
		struct home home = home_of(client, i);

		bitmap_clear(gpu->host_homes, home.start, home.end - home.start);
	}
	spin_unlock(&gpu->window_lock);
}
