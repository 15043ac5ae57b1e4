// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs: the instructions of a kernel, decoded when a thread first gets there, and a cache of
 * them. A program keeps a copy of each page that it was decoded from. At the start of each call of
 * eu_run() the pages are compared with memory; what has changed is decoded as a new program.
 */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

struct eu_cache *eu_cache_create(unsigned int kernels)
{
	struct eu_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	pthread_mutex_init(&cache->lock, NULL);
	cache->most = kernels ? kernels : 1;
	return cache;
}

static void program_free(struct eu_program *p)
{
	while (p->pages) {
		struct eu_code_page *page = p->pages;

		p->pages = page->following;
		free(page);
	}
	while (p->insns) {
		struct eu_insn *i = p->insns;

		p->insns = i->allocated;
		free(i);
	}
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void eu_cache_destroy(struct eu_cache *cache)
{
	if (!cache)
		return;
	while (cache->programs) {
		struct eu_program *p = cache->programs;

		cache->programs = p->following;
		program_free(p);
	}
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/*
 * Frees the program that was unused for longest if there are too many, and all unused stale ones.
 */
static void shrink(struct eu_cache *cache)
{
	struct eu_program **at = &cache->programs, **oldest = NULL;

	while (*at) {
		struct eu_program *p = *at;

		if (p->users) {
			at = &p->following;
		} else if (p->stale) {
			*at = p->following;
			program_free(p);
			cache->count--;
		} else {
			if (!oldest || p->used < (*oldest)->used)
				oldest = at;
			at = &p->following;
		}
	}
	if (cache->count > cache->most && oldest) {
		struct eu_program *p = *oldest;

		*oldest = p->following;
		program_free(p);
		cache->count--;
	}
}

/** eu_program_get() - the program of a kernel, to be put back; NULL without memory */
struct eu_program *eu_program_get(struct eu_cache *cache, uint64_t base, uint64_t kernel)
{
	struct eu_program *p;

	pthread_mutex_lock(&cache->lock);
	for (p = cache->programs; p; p = p->following)
		if (p->base == base && p->kernel == kernel && !p->stale)
			break;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (p) {
			p->base = base;
			p->kernel = kernel;
			pthread_mutex_init(&p->lock, NULL);
			p->following = cache->programs;
			cache->programs = p;
			cache->count++;
		}
	}
	if (p) {
		p->users++;
		p->used = ++cache->clock;
		shrink(cache);
	}
	pthread_mutex_unlock(&cache->lock);
	return p;
}

void eu_program_put(struct eu_cache *cache, struct eu_program *p)
{
	pthread_mutex_lock(&cache->lock);
	p->users--;
	shrink(cache);
	pthread_mutex_unlock(&cache->lock);
}

/** eu_program_stale() - no later eu_program_get() finds the program */
void eu_program_stale(struct eu_cache *cache, struct eu_program *p)
{
	pthread_mutex_lock(&cache->lock);
	p->stale = true;
	pthread_mutex_unlock(&cache->lock);
}

/** eu_program_current() - whether memory still has what was decoded */
bool eu_program_current(struct eu_exec *x, struct eu_program *p)
{
	struct eu_code_page *page;
	bool current = true;

	pthread_mutex_lock(&p->lock);
	for (page = p->pages; page && current; page = page->following) {
		const void *now =
			x->memory.ops->map(x->memory.context, page->address, EU_ACCESS_EXECUTE);

		current = now && !memcmp(now, page->bytes, EU_PAGE_BYTES);
	}
	pthread_mutex_unlock(&p->lock);
	return current;
}

static struct eu_code_page *page_of(struct eu_exec *x, uint64_t address)
{
	struct eu_program *p = x->program;
	struct eu_code_page *page;
	const uint8_t *bytes;

	address &= 0xfffffffff000ull;
	for (page = p->pages; page; page = page->following)
		if (page->address == address)
			return page;
	bytes = eu_map(x, address, EU_ACCESS_EXECUTE);
	if (!bytes)
		return NULL;
	page = calloc(1, sizeof(*page));
	if (!page) {
		eu_fail(x, NULL, EU_NO_MEMORY, "no memory for instructions");
		return NULL;
	}
	page->address = address;
	memcpy(page->bytes, bytes, EU_PAGE_BYTES);
	page->following = p->pages;
	p->pages = page;
	return page;
}

/* Lanes may wait for the instruction at @ip. */
static int mark(struct eu_exec *x, uint32_t ip)
{
	struct eu_code_page *page = page_of(x, x->program->base + ip);
	unsigned int slot = ip / 8 % EU_PAGE_SLOTS;

	if (!page)
		return -1;
	page->joins[slot / 8] |= 1u << slot % 8;
	if (page->insn[slot])
		__atomic_store_n(&page->insn[slot]->join, true, __ATOMIC_RELAXED);
	return 0;
}

/*
 * Marks where the lanes of @i may wait. A lane that breaks waits behind the loop's last
 * instruction, which UIP names.
 */
static int mark_targets(struct eu_exec *x, struct eu_insn *i)
{
	struct eu_code_page *page;
	uint32_t uip = i->ip + (uint32_t)i->uip, first;

	switch (i->op) {
	case EU_WHILE:
	case EU_CALL:
		return mark(x, i->ip + i->size);
	case EU_IF:
		return mark(x, i->ip + (uint32_t)i->jip);
	case EU_BREAK:
		if (uip % 8)
			return 0;
		page = page_of(x, x->program->base + uip);
		if (!page)
			return -1;
		memcpy(&first, page->bytes + uip % EU_PAGE_BYTES, sizeof(first));
		if ((first & 0x7f) == EU_WHILE)
			i->uip += first >> 29 & 1 ? 8 : 16;
		return mark(x, i->ip + (uint32_t)i->uip);
	case EU_ELSE:
	case EU_CONT:
	case EU_HALT:
		return mark(x, uip);
	case EU_GOTO:
		return mark(x, uip) || mark(x, i->ip + (uint32_t)i->jip) ? -1 : 0;
	default:
		return 0;
	}
}

static struct eu_insn *decode_at(struct eu_exec *x, uint32_t ip)
{
	struct eu_program *p = x->program;
	struct eu_code_page *page = page_of(x, p->base + ip), *after;
	unsigned int at = ip % EU_PAGE_BYTES, slot = at / 8;
	uint8_t bytes[16];
	struct eu_insn *i;

	if (!page)
		return NULL;
	if (page->insn[slot])
		return page->insn[slot];
	memcpy(bytes, page->bytes + at, 8);
	if (at + 16 <= EU_PAGE_BYTES) {
		memcpy(bytes + 8, page->bytes + at + 8, 8);
	} else if (!(bytes[3] & 0x20)) {
		after = page_of(x, p->base + ip + 8);
		if (!after)
			return NULL;
		memcpy(bytes + 8, after->bytes, 8);
	}
	i = aligned_alloc(64, (sizeof(*i) + 63) / 64 * 64);
	if (!i) {
		eu_fail(x, NULL, EU_NO_MEMORY, "no memory for instructions");
		return NULL;
	}
	eu_decode(bytes, 16, i);
	i->ip = ip;
	if ((i->jip | i->uip) & 7 && i->op >= EU_JMPI && i->op <= EU_JOIN) {
		i->refused = "a jump between instructions";
		i->refused_status = EU_ILLEGAL;
	}
	if (!i->refused && mark_targets(x, i)) {
		free(i);
		return NULL;
	}
	i->join = page->joins[slot / 8] >> slot % 8 & 1;
	eu_bind(i);
	i->allocated = p->insns;
	p->insns = i;
	page->insn[slot] = i;
	return i;
}

/**
 * eu_program_waits() - mark where lanes of @t wait
 *
 * The program may not be the one whose branches they took: its pages have changed since, or the run
 * was saved.
 *
 * Return: 0, or -1 after eu_fail().
 */
int eu_program_waits(struct eu_exec *x, const struct eu_thread *t)
{
	uint32_t rest = t->waiting;
	int err = 0;

	pthread_mutex_lock(&x->program->lock);
	for (; rest && !err; rest &= rest - 1)
		err = mark(x, t->at[__builtin_ctz(rest)]);
	pthread_mutex_unlock(&x->program->lock);
	return err;
}

/** eu_program_insn() - the instruction at @ip, NULL after eu_fail() */
struct eu_insn *eu_program_insn(struct eu_exec *x, uint32_t ip)
{
	struct eu_insn *i;

	pthread_mutex_lock(&x->program->lock);
	i = decode_at(x, ip & ~7u);
	pthread_mutex_unlock(&x->program->lock);
	return i;
}
