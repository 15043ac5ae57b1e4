// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoded instructions, by page. A page is fetched when a worker of a run first gets to it: the
 * caller translates it, and the cache has instructions for what is there, or gets an empty page
 * that is filled as they are executed. Pages are found by their place in the kernel and by their
 * bytes, so contexts with the same addresses cannot see each other's, and share what is equal.
 *
 * A worker uses the pages in its slots; a page in no slot may be freed. Instructions point to each
 * other only within a page.
 */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

struct eu_cache *eu_cache_create(size_t bytes)
{
	struct eu_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	pthread_mutex_init(&cache->lock, NULL);
	cache->newest.older = cache->newest.newer = &cache->newest;
	cache->most = bytes;
	return cache;
}

static void unlink_page(struct eu_code_page *page)
{
	page->older->newer = page->newer;
	page->newer->older = page->older;
}

static void link_newest(struct eu_cache *cache, struct eu_code_page *page)
{
	page->newer = &cache->newest;
	page->older = cache->newest.older;
	page->older->newer = page;
	cache->newest.older = page;
}

static void free_page(struct eu_cache *cache, struct eu_code_page *page)
{
	struct eu_code_page **at = &cache->pages[page->hash % EU_CACHE_LISTS];
	unsigned int slot;

	while (*at != page)
		at = &(*at)->following;
	*at = page->following;
	unlink_page(page);
	cache->counters.bytes -= page->total_bytes;
	for (slot = 0; slot < EU_PAGE_SLOTS; slot++)
		free(page->insn[slot]);
	free(page);
}

void eu_cache_destroy(struct eu_cache *cache)
{
	if (!cache)
		return;
	while (cache->newest.newer != &cache->newest)
		free_page(cache, cache->newest.newer);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

uint64_t eu_cache_clock(struct eu_cache *cache, uint64_t least)
{
	pthread_mutex_lock(&cache->lock);
	if (cache->clock < least)
		cache->clock = least;
	least = cache->clock;
	pthread_mutex_unlock(&cache->lock);
	return least;
}

void eu_cache_counters(struct eu_cache *cache, struct eu_cache_counters *counters)
{
	pthread_mutex_lock(&cache->lock);
	*counters = cache->counters;
	pthread_mutex_unlock(&cache->lock);
}

/* Frees pages in no slot, those first that were fetched longest ago, until the rest fits. */
static void evict(struct eu_cache *cache)
{
	struct eu_code_page *page = cache->newest.newer, *next;

	for (; page != &cache->newest && cache->counters.bytes > cache->most; page = next) {
		next = page->newer;
		if (page->users)
			continue;
		free_page(cache, page);
		cache->counters.evicted++;
	}
}

static void empty_slots(struct eu_exec *x, const struct eu_code_page *but)
{
	unsigned int n;

	for (n = 0; n < EU_CODE_SLOTS; n++)
		if (x->code[n] && x->code[n] != but) {
			x->code[n]->users--;
			x->code[n] = NULL;
		}
}

/* Accounts for what @page got. A worker keeps its other pages as long as there is room for them. */
static void grow(struct eu_exec *x, struct eu_code_page *page, size_t bytes)
{
	struct eu_cache *cache = x->run->cache;

	page->total_bytes += bytes;
	cache->counters.bytes += bytes;
	evict(cache);
	if (cache->counters.bytes > cache->most) {
		empty_slots(x, page);
		evict(cache);
	}
}

/** eu_program_leave() - the worker executes no instruction any more */
void eu_program_leave(struct eu_exec *x)
{
	pthread_mutex_lock(&x->run->cache->lock);
	empty_slots(x, NULL);
	evict(x->run->cache);
	pthread_mutex_unlock(&x->run->cache->lock);
}

static uint64_t hash_of(uint32_t number, const uint8_t *bytes)
{
	uint64_t hash = number, part;
	unsigned int at;

	for (at = 0; at < EU_PAGE_BYTES; at += sizeof(part)) {
		memcpy(&part, bytes + at, sizeof(part));
		hash = (hash ^ part) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	return hash;
}

/* Finds or makes the page of these bytes, and gives it a slot of the worker. */
static struct eu_code_page *insert(struct eu_exec *x, uint32_t number, const uint8_t *bytes)
{
	struct eu_cache *cache = x->run->cache;
	uint64_t hash = hash_of(number, bytes);
	struct eu_code_page **list = &cache->pages[hash % EU_CACHE_LISTS], *page;
	struct eu_code_page **slot = &x->code[number % EU_CODE_SLOTS];

	for (page = *list; page; page = page->following)
		if (page->hash == hash && page->number == number &&
		    !memcmp(page->bytes, bytes, EU_PAGE_BYTES))
			break;
	if (page) {
		unlink_page(page);
	} else {
		page = calloc(1, sizeof(*page));
		if (!page) {
			eu_fail(x, NULL, EU_NO_MEMORY, "no memory for instructions");
			return NULL;
		}
		page->hash = hash;
		page->number = number;
		memcpy(page->bytes, bytes, EU_PAGE_BYTES);
		page->following = *list;
		*list = page;
	}
	link_newest(cache, page);
	page->users++;
	if (*slot)
		(*slot)->users--;
	*slot = page;
	if (!page->total_bytes)
		grow(x, page, sizeof(*page));
	return page;
}

/* The page that @ip is in; the caller's map() is asked for it unless the worker has it. */
static struct eu_code_page *fetch(struct eu_exec *x, uint32_t ip)
{
	uint32_t number = ip / EU_PAGE_BYTES;
	struct eu_code_page *page = x->code[number % EU_CODE_SLOTS];
	const uint8_t *bytes;

	if (page && page->number == number)
		return page;
	/* The page of the instruction before may be freed. */
	x->insn = NULL;
	bytes = eu_map(x, x->run->dispatch.instruction.address + number * (uint64_t)EU_PAGE_BYTES,
		       EU_ACCESS_EXECUTE);
	if (!bytes)
		return NULL;
	pthread_mutex_lock(&x->run->cache->lock);
	page = insert(x, number, bytes);
	pthread_mutex_unlock(&x->run->cache->lock);
	return page;
}

static void decode(struct eu_insn *i, uint32_t ip, const uint8_t *bytes)
{
	eu_decode(bytes, 16, i);
	i->ip = ip;
	if ((i->jip | i->uip) & 7 && i->op >= EU_JMPI && i->op <= EU_JOIN) {
		i->refused = "a jump between instructions";
		i->refused_status = EU_ILLEGAL;
	}
	eu_bind(i);
}

/* An instruction in two pages, which change without each other: the worker decodes it itself. */
static struct eu_insn *decode_across(struct eu_exec *x, uint32_t ip, const uint8_t *first)
{
	struct eu_insn *i = &x->across[ip / EU_PAGE_BYTES % EU_ACROSS_SLOTS];
	struct eu_code_page *after;
	uint8_t bytes[16];

	memcpy(bytes, first, 8);
	after = fetch(x, ip + 8);
	if (!after)
		return NULL;
	memcpy(bytes + 8, after->bytes, 8);
	if (!i->run || i->ip != ip || memcmp(i->raw, bytes, sizeof(bytes))) {
		decode(i, ip, bytes);
		i->across = true;
	}
	return i;
}

static struct eu_insn *decode_at(struct eu_exec *x, struct eu_code_page *page, uint32_t ip)
{
	unsigned int slot = ip / 8 % EU_PAGE_SLOTS;
	struct eu_insn *i = page->insn[slot];
	uint8_t bytes[16] = { 0 };

	if (i)
		return i;
	i = aligned_alloc(64, (sizeof(*i) + 63) / 64 * 64);
	if (!i) {
		eu_fail(x, NULL, EU_NO_MEMORY, "no memory for instructions");
		return NULL;
	}
	memcpy(bytes, page->bytes + slot * 8, slot == EU_PAGE_SLOTS - 1 ? 8 : 16);
	decode(i, ip, bytes);
	__atomic_store_n(&page->insn[slot], i, __ATOMIC_RELEASE);
	grow(x, page, sizeof(*i));
	return i;
}

/** eu_program_insn() - the instruction at @ip, NULL after eu_fail() */
struct eu_insn *eu_program_insn(struct eu_exec *x, uint32_t ip)
{
	struct eu_code_page *page;
	const uint8_t *bytes;
	struct eu_insn *i;

	ip &= ~7u;
	page = fetch(x, ip);
	if (!page)
		return NULL;
	i = __atomic_load_n(&page->insn[ip / 8 % EU_PAGE_SLOTS], __ATOMIC_ACQUIRE);
	if (i)
		return i;
	bytes = page->bytes + ip % EU_PAGE_BYTES;
	/* Not compacted, the second half is in the next page. */
	if (ip / 8 % EU_PAGE_SLOTS == EU_PAGE_SLOTS - 1 && !(bytes[3] & 0x20))
		return decode_across(x, ip, bytes);
	x->insn = NULL;
	pthread_mutex_lock(&x->run->cache->lock);
	i = decode_at(x, page, ip);
	pthread_mutex_unlock(&x->run->cache->lock);
	return i;
}
