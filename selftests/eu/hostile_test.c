// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile_test [DISPATCHES [SEED]]: what a guest may do to harm others. Each dispatch has a kernel
 * of one kind: random instructions, an endless loop, messages to wild addresses, barriers that do
 * not complete, code that changes itself, or commands with random fields. A neighbour has the same
 * GPU addresses and shares the cache of kernels. Its results and all its bytes stay right.
 *
 * Each page is an allocation of its own, so that ASan finds an access past its end. From 600
 * dispatches on, each way to end occurs, or the test fails.
 */
#include "../../userspace/eu/eu_state.h"
#include "code.h"

#include <stdio.h>
#include <stdlib.h>

enum { DISPATCHES = 600, PAGES = 24, CODE_PAGES = 4, BUDGET = 6000, SLACK = 64, THREADS_MOST = 8 };
#define BASE 0x100000ull
#define DATA_ADDRESS (BASE + CODE_PAGES * EU_PAGE_BYTES)

struct guest {
	uint8_t *page[PAGES];
	struct eu_memory memory;
	struct eu_dispatch d;
	struct code code;
};

static uint64_t state;
static unsigned int trial;

/* xorshift64* */
static uint32_t any(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)(state * 0x2545f4914f6cdd1dull >> 32);
}

static uint32_t below(uint32_t limit)
{
	return any() % limit;
}

static void broken(const char *what)
{
	fprintf(stderr, "hostile_test: dispatch %u: %s\n", trial, what);
	abort();
}

static void *map(void *context, uint64_t address, enum eu_access access)
{
	struct guest *g = context;
	uint64_t page = (address - BASE) / EU_PAGE_BYTES;

	(void)access;
	return address >= BASE && page < PAGES ? g->page[page] : NULL;
}

static const struct eu_memory_ops ops = { .map = map };

static void guest_make(struct guest *g)
{
	unsigned int n;

	for (n = 0; n < PAGES; n++)
		g->page[n] = aligned_alloc(64, EU_PAGE_BYTES);
	g->memory = (struct eu_memory){ .ops = &ops, .context = g };
}

static void guest_free(struct guest *g)
{
	unsigned int n;

	for (n = 0; n < PAGES; n++)
		free(g->page[n]);
}

/* Fresh memory: the code, and data that is @random or zero. */
static void guest_reset(struct guest *g, bool random)
{
	unsigned int n, k;
	uint32_t v;

	for (n = 0; n < PAGES; n++)
		memset(g->page[n], 0, EU_PAGE_BYTES);
	for (n = 0; n < g->code.count; n++)
		memcpy(g->page[n / 256] + n % 256 * 16, g->code.dw[n], 16);
	for (n = CODE_PAGES; random && n < PAGES; n++)
		for (k = 0; k < EU_PAGE_BYTES; k += 4) {
			v = any();
			memcpy(g->page[n] + k, &v, 4);
		}
	memset(&g->d, 0, sizeof(g->d));
	g->d.instruction = (struct eu_base){ BASE, UINT64_MAX };
	g->d.general = g->d.surface = g->d.dynamic = g->d.indirect =
		(struct eu_base){ DATA_ADDRESS, UINT64_MAX };
	g->d.simd = 16;
	for (n = 0; n < 3; n++)
		g->d.end[n] = g->d.threads[n] = 1;
	g->d.threads[0] = 1 + below(THREADS_MOST);
	g->d.end[0] = 1 + below(3);
	g->d.slm_bytes = 1024;
	g->d.right_mask = g->d.bottom_mask = ~0u;
}

/* ---- kinds of kernels ---- */

/* Valid opcodes more often than not, messages with random descriptors. */
static void random_instruction(struct code *c)
{
	static const uint8_t some[] = { EU_MOV,	  EU_SEL,   EU_AND,   EU_SHL,	EU_CMP,
					EU_ADD,	  EU_MUL,   EU_MAD,   EU_IF,	EU_ELSE,
					EU_ENDIF, EU_WHILE, EU_BREAK, EU_GOTO,	EU_JOIN,
					EU_CALL,  EU_RET,   EU_SEND,  EU_SENDS, EU_MATH,
					EU_MACH,  EU_BFE,   EU_SMOV,  EU_WAIT,	EU_CONT };
	static const uint8_t shared[] = { 2, 3, 4, 5, 7, 9, 10, 12 };
	uint32_t *dw = c->dw[c->count++];
	unsigned int n;

	for (n = 0; n < 4; n++)
		dw[n] = any();
	if (below(16))
		put_field(dw, 6, 0, some[below(sizeof(some))]);
	/* Neither compacted nor with many lanes, mostly; registers, not r200. */
	if (below(8))
		put_field(dw, 29, 29, 0);
	put_field(dw, 23, 21, below(6));
	put_field(dw, 13, 11, 0);
	if (below(4)) {
		put_field(dw, 60, 60, 0);
		put_field(dw, 76, 76, 0);
		put_field(dw, 108, 108, 0);
		put_field(dw, 63, 63, 0);
		put_field(dw, 36, 35, EU_FILE_GRF);
		put_field(dw, 42, 41, EU_FILE_GRF);
	}
	if ((dw[0] & 0x70) == 0x20 && below(2)) {
		dw[3] = (below(64) - 32) * 16;
		dw[2] = (below(64) - 32) * 16;
	}
	if ((dw[0] & 0x7f) == EU_SEND && below(2)) {
		put_field(dw, 27, 24, shared[below(8)]);
		put_field(dw, 90, 89, EU_FILE_IMM);
		put_field(dw, 103, 96, below(2) ? 255 - below(3) : below(8));
	}
}

static void random_kernel(struct code *c)
{
	while (c->count < 48)
		random_instruction(c);
}

static void endless_kernel(struct code *c)
{
	uint32_t n = below(6), k;

	for (k = 0; k < n; k++)
		no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 10 + k), VEC(EU_UD, 11 + below(20)),
			      IMM(EU_UD, any())));
	emit_jump(c, -(int32_t)(16 * (n + 1)));
}

/* A64 and stateless messages with addresses that may be near, far, or across the end. */
static void wild_message(struct code *c)
{
	static const uint8_t a64[] = { 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x19, 0x1a, 0x1b, 0x1c };
	uint64_t address = below(2) ? BASE + below(PAGES * EU_PAGE_BYTES + 64) :
				      (uint64_t)any() << 32 | any();
	uint32_t desc = (1 + below(8)) << 25 | below(5) << 20 | below(2) << 19 | below(64) << 8 |
			(255 - below(3));
	unsigned int n;

	if (below(3))
		desc = (desc & ~(31u << 14)) | (uint32_t)a64[below(sizeof(a64))] << 14;
	for (n = 0; n < 8; n++) {
		no_mask(emit1(c, EU_MOV, 1, ONE(EU_UD, 20 + n / 4, n % 4 * 8),
			      IMM(EU_UD, (uint32_t)address + n * below(9))));
		no_mask(emit1(c, EU_MOV, 1, ONE(EU_UD, 20 + n / 4, n % 4 * 8 + 4),
			      IMM(EU_UD, (uint32_t)(address >> 32))));
	}
	emit_send(c, 8, below(4) ? 12 : 10, below(4) ? 30 : 0, 20, desc, false);
}

static void wild_kernel(struct code *c)
{
	unsigned int n = 1 + below(8);

	while (n--)
		wild_message(c);
	emit_end(c);
}

/* Threads whose slot is odd may leave out a barrier, wait once more, or end. */
static void barrier_kernel(struct code *c)
{
	unsigned int n = 1 + below(4);
	uint32_t *dw;

	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	while (n--) {
		dw = emit2(c, EU_AND, 1, ONE(EU_UD, 12, 0), ONE(EU_UD, 0, 20),
			   IMM(EU_UD, 1 + below(2)));
		condition(dw, EU_COND_NZ, 0);
		no_mask(dw);
		dw = c->dw[c->count];
		emit_jump(c, (int32_t)(16 * below(3)));
		predicate(dw, 0, below(2));
		if (below(4))
			emit_send(c, 1, 3, 0, 127, 0x02000004, false);
		no_mask(c->dw[c->count - 1]);
		dw = emit(c, EU_WAIT, 1);
		put_source(dw, 0, ARF(EU_UD, 0x90));
		no_mask(dw);
	}
	emit_end(c);
}

/* A loop that stores anything into the page of its own code. */
static void changing_kernel(struct code *c)
{
	uint32_t at = below(256) * 16, n;

	for (n = 0; n < 4; n++)
		no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 24 + n), IMM(EU_UD, any())));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 20),
		      IMM(EU_UD, (uint32_t)(BASE - DATA_ADDRESS) + at)));
	for (n = 0; n < 8; n++)
		no_mask(emit2(c, EU_ADD, 1, ONE(EU_UD, 20, n * 4), ONE(EU_UD, 20, n * 4),
			      IMM(EU_UD, n * 4)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 21), VEC(EU_UD, 24 + below(4))));
	emit_send(c, 8, 12, 0, 20, 2u << 25 | 9u << 14 | 2u << 12 | 14u << 8 | 255, false);
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 20), VEC(EU_UD, 20), IMM(EU_UD, 16 * below(3))));
	random_instruction(c);
	emit_jump(c, -64);
}

enum kind { RANDOM, ENDLESS, WILD, BARRIER, CHANGING, COMMANDS, KINDS };

static void make_kernel(struct code *c, enum kind kind)
{
	static void (*const make[KINDS])(struct code *) = { random_kernel,   endless_kernel,
							    wild_kernel,     barrier_kernel,
							    changing_kernel, random_kernel };

	c->count = 0;
	make[kind](c);
}

/* ---- commands with random fields ---- */

/* A field that is mostly in range, and sometimes anything. */
static uint32_t field(uint32_t good)
{
	static const uint32_t ends[] = { 0, 1, 0x7fffffff, 0x80000000, ~0u };

	return below(8) ? good : below(2) ? any() : ends[below(5)];
}

static enum eu_command put(struct guest *g, struct eu_state *s, const uint32_t *command,
			   uint32_t dwords)
{
	struct eu_error error = { .status = EU_DONE };
	enum eu_command result = eu_state_command(
		s, &g->memory, command, below(32) ? dwords : below(dwords + 1), &g->d, &error);

	if (result == EU_COMMAND_ERROR && !error.text[0])
		broken("an error without a text");
	return result;
}

/* Returns whether the guest has a dispatch. */
static bool random_commands(struct guest *g, struct eu_state *s)
{
	uint32_t base[19] = { 0x61010011 }, vfe[9] = { 0x70000007, field(0), field(0) }, n, v;
	uint32_t curbe[4] = { 0x70010002, 0, field(below(4096)), field(below(4096)) };
	uint32_t load[4] = { 0x70020002, 0, field(32 * below(65)), field(below(2048)) };
	uint32_t walker[15] = { 0x7105000d | field(0), field(below(64)), field(below(256)),
				field(below(4096)), field(below(2) << 30 | below(8)) };
	uint32_t object[22] = { 0x71000014, field(0), field(below(2) * 4 * below(500)),
				field(below(PAGES * EU_PAGE_BYTES)) };

	memset(s, 0, sizeof(*s));
	for (n = 1; n < 12; n++)
		base[n] = field(n % 2 == 0 && n != 2 ? (uint32_t)DATA_ADDRESS | 1 : 0);
	for (n = 12; n < 19; n++)
		base[n] = field(0);
	if (below(8)) {
		base[10] = (uint32_t)BASE | 1;
		base[11] = 0;
	}
	/* Descriptors: mostly of the kernel, with few registers. */
	for (n = 0; n < 512; n++) {
		v = field(n % 8 == 5 ? below(3) << 16 : n % 8 == 6 ? below(8) << 16 | below(4) : 0);
		memcpy(g->page[CODE_PAGES] + n * 4, &v, 4);
	}
	for (n = 5; n < 15; n++)
		walker[n] = field(below(4));
	walker[13] = walker[14] = field(~0u);
	put(g, s, base, 19);
	put(g, s, vfe, 9);
	put(g, s, curbe, 4);
	put(g, s, load, 4);
	if (below(4))
		return put(g, s, walker, 15) == EU_COMMAND_DISPATCH;
	return put(g, s, object, below(2) ? 22 : 6) == EU_COMMAND_DISPATCH;
}

/* ---- dispatches ---- */

/* Saves the run, and goes on with what may be damaged. */
static struct eu_run *moved(struct eu_cache *cache, struct guest *g, struct eu_run *run)
{
	size_t bytes = eu_run_save(run, NULL, 0);
	uint8_t *saved = malloc(bytes);
	struct eu_error error;
	unsigned int n;

	if (eu_run_save(run, saved, bytes) != bytes)
		broken("the size of a saved run changes");
	for (n = below(8) ? below(2) * below(4) : below(1000); n; n--)
		saved[n < 4 && below(2) ? below(200) % bytes : below((uint32_t)bytes)] =
			(uint8_t)any();
	eu_run_end(run);
	run = eu_run_begin(cache, &g->memory, &g->d, &error);
	if (run)
		eu_run_restore(run, saved, bytes);
	free(saved);
	return run;
}

static enum eu_status run(struct eu_cache *cache, struct guest *g)
{
	uint64_t slice = below(2) ? BUDGET : 1 + below(BUDGET), left = BUDGET;
	struct eu_error error = { .status = EU_DONE };
	struct eu_run *r = eu_run_begin(cache, &g->memory, &g->d, &error);
	enum eu_status status = EU_AGAIN;
	struct eu_counters before, after;

	if (!r) {
		if (!error.text[0])
			broken("a refusal without a text");
		return error.status;
	}
	while (left && status == EU_AGAIN && r) {
		slice = slice > left ? left : slice;
		eu_run_counters(r, &before);
		status = below(4) ? eu_run(r, slice, &error) : eu_run_to_boundary(r, slice, &error);
		eu_run_counters(r, &after);
		if (after.instructions - before.instructions > slice + SLACK)
			broken("a budget is exceeded");
		left -= slice;
		if (status == EU_AGAIN && !below(8))
			r = moved(cache, g, r);
	}
	if (r && status > EU_AGAIN && (error.status != status || !error.text[0]))
		broken("an error without a text");
	eu_run_end(r);
	return status;
}

/* The neighbour's kernel: each lane of each group stores a number of its own. */
static void neighbour_make(struct guest *g)
{
	struct code *c = &g->code;
	unsigned int n;

	guest_make(g);
	c->count = 0;
	no_mask(emit2(c, EU_MUL, 8, VEC(EU_UD, 10), ONE(EU_UD, 0, 4), IMM(EU_UD, 32)));
	for (n = 0; n < 8; n++)
		no_mask(emit2(c, EU_ADD, 1, ONE(EU_UD, 10, n * 4), ONE(EU_UD, 10, n * 4),
			      IMM(EU_UD, n * 4)));
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 11), VEC(EU_UD, 10), IMM(EU_UD, 7)));
	emit_send(c, 8, 12, 0, 10, 2u << 25 | 9u << 14 | 2u << 12 | 14u << 8 | 255, false);
	no_mask(c->dw[c->count - 1]);
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	emit_end(c);
	guest_reset(g, false);
	g->d.simd = 8;
	g->d.threads[0] = 1;
	g->d.end[0] = 64;
}

static void neighbour_check(struct guest *g, uint32_t groups)
{
	uint32_t v, n, k;

	for (n = 0; n < PAGES; n++)
		for (k = 0; k < EU_PAGE_BYTES; k += 4) {
			uint32_t at = (n - CODE_PAGES) * EU_PAGE_BYTES + k, want = 0;

			memcpy(&v, g->page[n] + k, 4);
			if (n == 0 && k < g->code.count * 16)
				want = g->code.dw[k / 16][k / 4 % 4];
			else if (n >= CODE_PAGES && at < groups * 32)
				want = at + 7;
			if (v != want)
				broken("a byte of the neighbour is wrong");
		}
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "done",	"again", "fault", "unsupported",
					     "illegal", "stuck", "memory" };
	unsigned int trials = argc > 1 ? (unsigned int)atoi(argv[1]) : DISPATCHES;
	unsigned int n, seen[7] = { 0 };
	struct eu_cache *cache = eu_cache_create(1 << 20);
	struct eu_state *commands = calloc(1, sizeof(*commands));
	static struct guest hostile, neighbour;
	struct eu_counters counters;
	struct eu_error error;
	struct eu_run *beside;

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	guest_make(&hostile);
	neighbour_make(&neighbour);
	beside = eu_run_begin(cache, &neighbour.memory, &neighbour.d, &error);
	for (trial = 0; trial < trials; trial++) {
		enum kind kind = below(KINDS);

		make_kernel(&hostile.code, kind);
		guest_reset(&hostile, kind == RANDOM || kind == WILD);
		if (kind != COMMANDS || random_commands(&hostile, commands))
			seen[run(cache, &hostile)]++;
		/* The neighbour goes on by a few instructions, in the middle of its groups. */
		if (eu_run(beside, 1 + below(40), &error) == EU_AGAIN && (trial + 1) % 32)
			continue;
		if (eu_run(beside, 1 << 20, &error) != EU_DONE)
			broken("the neighbour does not end");
		eu_run_counters(beside, &counters);
		neighbour_check(&neighbour, 64);
		if (counters.groups != 64)
			broken("the neighbour has lost groups");
		eu_run_end(beside);
		for (n = CODE_PAGES; n < PAGES; n++)
			memset(neighbour.page[n], 0, EU_PAGE_BYTES);
		beside = eu_run_begin(cache, &neighbour.memory, &neighbour.d, &error);
	}
	for (n = 0; trials >= DISPATCHES && n < EU_NO_MEMORY; n++)
		if (!seen[n]) {
			fprintf(stderr, "hostile_test: no dispatch ends as \"%s\"\n", names[n]);
			abort();
		}
	printf("ok %u hostile dispatches #", trials);
	for (n = 0; n < 7; n++)
		printf(" %u %s", seen[n], names[n]);
	printf("\n");
	eu_run_end(beside);
	eu_cache_destroy(cache);
	free(commands);
	guest_free(&hostile);
	guest_free(&neighbour);
	return 0;
}
