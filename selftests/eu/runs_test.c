// SPDX-License-Identifier: GPL-2.0-only
/* Runs: budgets, saving, faults, barriers, changed kernels. */
#include "code.h"
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { DATA_BYTES = 65536, CACHE_BYTES = 1 << 20 };

struct fixture {
	struct gpu gpu;
	struct eu_memory memory;
	struct eu_cache *cache;
	struct eu_dispatch d;
	struct eu_error error;
	uint8_t *code, *data;
	uint64_t data_address;
};

static void make(struct fixture *f, const struct code *c)
{
	memset(f, 0, sizeof(*f));
	gpu_make(&f->gpu);
	f->memory = gpu_memory(&f->gpu);
	f->cache = eu_cache_create(CACHE_BYTES);
	f->d.instruction.address = gpu_alloc(&f->gpu, 16384, &f->code);
	memcpy(f->code, c->dw, c->count * 16);
	f->data_address = gpu_alloc(&f->gpu, DATA_BYTES, &f->data);
	f->d.instruction.bytes = f->d.general.bytes = f->d.indirect.bytes = UINT64_MAX;
	f->d.general.address = f->data_address;
	f->d.simd = 8;
	f->d.end[0] = f->d.end[1] = f->d.end[2] = 1;
	f->d.threads[0] = f->d.threads[1] = f->d.threads[2] = 1;
	f->d.right_mask = f->d.bottom_mask = ~0u;
}

static void drop(struct fixture *f)
{
	eu_cache_destroy(f->cache);
	gpu_free(&f->gpu);
}

static struct eu_run *begin(struct fixture *f)
{
	struct eu_run *run = eu_run_begin(f->cache, &f->memory, &f->d, &f->error);

	if (!run)
		fail_msg("%s", f->error.text);
	return run;
}

static enum eu_status run_once(struct fixture *f)
{
	struct eu_run *run = begin(f);
	enum eu_status status = eu_run(run, 1 << 20, &f->error);

	eu_run_end(run);
	return status;
}

/* Each thread adds up in r10, waits for its group, and adds the sum to the group's counter. */
static void counting_kernel(struct code *c, unsigned int rounds)
{
	unsigned int sum;

	memset(c, 0, sizeof(*c));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 10), IMM(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 1, ONE(EU_UD, 11, 0), IMM(EU_UD, 0)));
	sum = c->count;
	emit2(c, EU_ADD, 8, VEC(EU_UD, 10), VEC(EU_UD, 10), ONE(EU_UD, 11, 0));
	emit_loop(c, 11, 0, rounds, sum);
	no_mask(emit1(c, EU_MOV, 1, ARF(EU_UD, 0x90), IMM(EU_UD, 0)));
	emit_barrier(c);
	/* Untyped atomic add to (group * 32 + 0..7 lanes * 4) through stateless offsets. */
	no_mask(emit2(c, EU_MUL, 8, VEC(EU_UD, 12), ONE(EU_UD, 127, 4), IMM(EU_UD, 32)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 13), VEC(EU_UD, 10)));
	emit_send(c, 8, 12, 0, 12, 2u << 25 | 2u << 14 | 1u << 12 | 7u << 8 | 255, false);
	emit_end(c);
}

static void counting_fixture(struct fixture *f)
{
	static struct code c;

	counting_kernel(&c, 100);
	make(f, &c);
	f->d.end[0] = 5;
	f->d.threads[0] = 3;
	f->d.barrier = true;
}

static void check_counts(const struct fixture *f)
{
	unsigned int group;
	uint32_t v;

	for (group = 0; group < 5; group++) {
		memcpy(&v, f->data + group * 32, 4);
		assert_int_equal(v, 4950 * 3 * 8);
	}
}

static void budgets_do_not_change_results(void **state)
{
	struct eu_counters whole, parts;
	struct fixture f;
	struct eu_run *run;
	unsigned int calls = 0;
	enum eu_status status;

	(void)state;
	counting_fixture(&f);
	run = begin(&f);
	status = eu_run(run, 1 << 20, &f.error);
	if (status)
		fail_msg("%s", f.error.text);
	eu_run_counters(run, &whole);
	eu_run_end(run);
	check_counts(&f);
	memset(f.data, 0, 4096);
	run = begin(&f);
	while ((status = eu_run(run, 7, &f.error)) == EU_AGAIN)
		calls++;
	assert_int_equal(status, EU_DONE);
	assert_true(calls > 700);
	eu_run_counters(run, &parts);
	assert_memory_equal(&whole, &parts, sizeof(whole));
	eu_run_end(run);
	check_counts(&f);
	drop(&f);
}

/* Adds how many instructions lie between two readings of the clock, and the first, to counters. */
static void clock_kernel(struct code *c)
{
	static const unsigned int add = 2u << 25 | 2u << 14 | 1u << 12 | 7u << 8 | 255;
	unsigned int n;

	memset(c, 0, sizeof(*c));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 1, ONE(EU_UD, 20, 0), ARF(EU_UD, 0xc0)));
	for (n = 0; n < 3; n++)
		no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 12), IMM(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 1, ONE(EU_UD, 20, 4), ARF(EU_UD, 0xc0)));
	no_mask(emit2(c, EU_ADD, 8, VEC(EU_UD, 13), ONE(EU_UD, 20, 4), NEG(ONE(EU_UD, 20, 0))));
	emit_send(c, 8, 12, 0, 12, add, false);
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 12), IMM(EU_UD, 4)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 13), ONE(EU_UD, 20, 0)));
	emit_send(c, 8, 12, 0, 12, add, false);
	emit_end(c);
}

static void the_clock_counts_instructions_over_all_runs(void **state)
{
	static const uint64_t budgets[] = { 1 << 20, 1, 3 };
	struct code c;
	struct fixture f;
	uint32_t v[2], before = 0;
	unsigned int n;

	(void)state;
	clock_kernel(&c);
	make(&f, &c);
	for (n = 0; n < 3; n++) {
		struct eu_run *run = begin(&f);

		memset(f.data, 0, sizeof(v));
		while (eu_run(run, budgets[n], &f.error) == EU_AGAIN)
			;
		eu_run_end(run);
		memcpy(v, f.data, sizeof(v));
		assert_int_equal(v[0], 8 * 4);
		assert_true(v[1] > before);
		before = v[1];
	}
	drop(&f);
}

static void a_saved_run_goes_on(void **state)
{
	struct fixture f;
	struct eu_run *run;
	unsigned int moves = 0;
	enum eu_status status;

	(void)state;
	counting_fixture(&f);
	run = begin(&f);
	while ((status = eu_run(run, 331, &f.error)) == EU_AGAIN) {
		size_t bytes = eu_run_save(run, NULL, 0);
		uint8_t *saved = malloc(bytes);

		assert_int_equal(eu_run_save(run, saved, bytes), bytes);
		eu_run_end(run);
		run = begin(&f);
		assert_int_equal(eu_run_restore(run, saved, bytes), 0);
		free(saved);
		moves++;
	}
	assert_int_equal(status, EU_DONE);
	assert_true(moves > 10);
	eu_run_end(run);
	check_counts(&f);
	drop(&f);
}

/* Lanes 0 to 3 add 10, all lanes add 100; the sum of the lanes is added to the counter. */
static void divergent_kernel(struct code *c)
{
	uint32_t *dw;
	unsigned int n;

	memset(c, 0, sizeof(*c));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 10), IMM(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 12), IMM(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 1, ARF(EU_UD, 0x30), IMM(EU_UD, 0x0f)));
	dw = emit(c, EU_IF, 8);
	predicate(dw, 0, false);
	put_field(dw, 127, 96, 11 * 16);
	put_field(dw, 95, 64, 11 * 16);
	for (n = 0; n < 10; n++)
		emit2(c, EU_ADD, 8, VEC(EU_UD, 10), VEC(EU_UD, 10), IMM(EU_UD, 1));
	put_field(emit(c, EU_ENDIF, 8), 127, 96, 16);
	emit2(c, EU_ADD, 8, VEC(EU_UD, 13), VEC(EU_UD, 10), IMM(EU_UD, 100));
	emit_send(c, 8, 12, 0, 12, 2u << 25 | 2u << 14 | 1u << 12 | 7u << 8 | 255, false);
	emit_end(c);
}

/* What a thread continues in is decoded again when its page changes, or elsewhere after a move. */
static void waiting_lanes_go_on_in_a_program_that_is_new(void **state)
{
	struct eu_cache *other = eu_cache_create(CACHE_BYTES);
	static struct code c;
	struct fixture f;
	struct eu_run *run;
	unsigned int moves;
	enum eu_status status = EU_AGAIN;
	uint32_t sum;

	(void)state;
	divergent_kernel(&c);
	for (moves = 0; moves < 2; moves++) {
		make(&f, &c);
		run = begin(&f);
		while ((status = eu_run(run, 1, &f.error)) == EU_AGAIN) {
			size_t bytes = eu_run_save(run, NULL, 0);
			uint8_t *saved = malloc(bytes);

			f.code[4000] += !moves;
			assert_int_equal(eu_run_save(run, saved, bytes), bytes);
			eu_run_end(run);
			if (moves) {
				eu_cache_destroy(other);
				other = eu_cache_create(CACHE_BYTES);
			}
			run = eu_run_begin(moves ? other : f.cache, &f.memory, &f.d, &f.error);
			assert_int_equal(eu_run_restore(run, saved, bytes), 0);
			free(saved);
		}
		if (status)
			fail_msg("%s", f.error.text);
		eu_run_end(run);
		memcpy(&sum, f.data, sizeof(sum));
		assert_int_equal(sum, 4 * 10 + 8 * 100);
		drop(&f);
	}
	eu_cache_destroy(other);
}

static void put_jump(uint32_t *dw, int32_t jip, int32_t uip)
{
	put_field(dw, 127, 96, (uint32_t)jip);
	put_field(dw, 95, 64, (uint32_t)uip);
}

/* Stores r@reg to @offset of the data, a dword for each of eight lanes. */
static void store_lanes(struct code *c, unsigned int reg, uint32_t offset)
{
	unsigned int n;

	for (n = 0; n < 8; n++)
		no_mask(emit1(c, EU_MOV, 1, ONE(EU_UD, 20, n * 4), IMM(EU_UD, offset + n * 4)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 21), VEC(EU_UD, reg)));
	emit_send(c, 8, 12, 0, 20, 2u << 25 | 9u << 14 | 2u << 12 | 14u << 8 | 255, false);
}

/* Lane n breaks in round n + 1, and waits behind the loop. */
static void lanes_that_break_go_on_behind_the_loop(void **state)
{
	struct code c = { .count = 0 };
	struct fixture f;
	unsigned int n;
	uint32_t *dw, v;

	(void)state;
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 10), IMM(EU_UD, 0)));
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 13), IMM(EU_UD, 0)));
	for (n = 0; n < 8; n++)
		no_mask(emit1(&c, EU_MOV, 1, ONE(EU_UD, 11, n * 4), IMM(EU_UD, n)));
	emit2(&c, EU_ADD, 8, VEC(EU_UD, 10), VEC(EU_UD, 10), IMM(EU_UD, 1));
	condition(emit2(&c, EU_CMP, 8, ARF(EU_UD, 0), VEC(EU_UD, 10), VEC(EU_UD, 11)), EU_COND_G,
		  0);
	dw = emit(&c, EU_BREAK, 8);
	predicate(dw, 0, false);
	put_jump(dw, 32, 32);
	emit2(&c, EU_ADD, 8, VEC(EU_UD, 13), VEC(EU_UD, 13), IMM(EU_UD, 2));
	put_jump(emit(&c, EU_WHILE, 8), -64, 0);
	emit2(&c, EU_ADD, 8, VEC(EU_UD, 10), VEC(EU_UD, 10), IMM(EU_UD, 100));
	store_lanes(&c, 10, 0);
	store_lanes(&c, 13, 32);
	emit_end(&c);
	make(&f, &c);
	assert_int_equal(run_once(&f), EU_DONE);
	for (n = 0; n < 8; n++) {
		memcpy(&v, f.data + n * 4, 4);
		assert_int_equal(v, n + 101);
		memcpy(&v, f.data + 32 + n * 4, 4);
		assert_int_equal(v, n * 2);
	}
	drop(&f);
}

static void start_of_lanes(struct code *c)
{
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 10), IMM(EU_UD, 0)));
	no_mask(emit1(c, EU_MOV, 8, VEC(EU_UD, 13), IMM(EU_UD, 0)));
}

static void set_flag(struct code *c, unsigned int reg, uint32_t lanes)
{
	no_mask(emit1(c, EU_MOV, 1, ARF(EU_UD, 0x30 + reg), IMM(EU_UD, lanes)));
}

static void add_to(struct code *c, unsigned int reg, uint32_t v)
{
	emit2(c, EU_ADD, 8, VEC(EU_UD, reg), VEC(EU_UD, reg), IMM(EU_UD, v));
}

/* Jumps of instruction @from to instructions, as halt, if, call and others count them. */
static void put_targets(struct code *c, unsigned int from, unsigned int jip, unsigned int uip)
{
	put_jump(c->dw[from], ((int32_t)jip - (int32_t)from) * 16,
		 ((int32_t)uip - (int32_t)from) * 16);
}

/*
 * Lanes 0 to 3 take the branch, and those of @halted stop in it: they skip what is left of it, and
 * what follows, until the instruction that UIP names, where all meet. If none is left in the
 * branch, the thread goes on at JIP, its end.
 */
static void halted(uint32_t lanes)
{
	struct code c = { .count = 0 };
	unsigned int branch, halt, end, meet, n;
	struct fixture f;
	uint32_t v;

	start_of_lanes(&c);
	set_flag(&c, 0, 0x0f);
	set_flag(&c, 1, lanes);
	branch = c.count;
	predicate(emit(&c, EU_IF, 8), 0, false);
	add_to(&c, 10, 1);
	halt = c.count;
	predicate(emit(&c, EU_HALT, 8), 2, false);
	add_to(&c, 10, 20);
	/* Not under the mask: only if the thread comes here. */
	no_mask(emit2(&c, EU_ADD, 8, VEC(EU_UD, 13), VEC(EU_UD, 13), IMM(EU_UD, 1)));
	end = c.count;
	emit(&c, EU_ENDIF, 8);
	put_targets(&c, end, end + 1, 0);
	add_to(&c, 10, 300);
	meet = c.count;
	emit(&c, EU_HALT, 8);
	put_targets(&c, meet, meet + 1, meet + 1);
	add_to(&c, 10, 4000);
	put_targets(&c, branch, end, end);
	put_targets(&c, halt, end, meet);
	store_lanes(&c, 10, 0);
	store_lanes(&c, 13, 32);
	emit_end(&c);
	make(&f, &c);
	assert_int_equal(run_once(&f), EU_DONE);
	for (n = 0; n < 8; n++) {
		bool stops = n < 4 && lanes >> n & 1;

		memcpy(&v, f.data + n * 4, 4);
		assert_int_equal(v, stops ? 4001 : n < 4 ? 4321 : 4300);
		memcpy(&v, f.data + 32 + n * 4, 4);
		assert_int_equal(v, (lanes & 0x0f) != 0x0f);
	}
	drop(&f);
}

static void halted_lanes_meet_at_the_end(void **state)
{
	uint32_t lanes;

	(void)state;
	for (lanes = 0; lanes < 32; lanes++)
		halted(lanes);
}

/*
 * Lanes @called call a function, in which lanes @early return at once. The others call another one
 * from there. No lane goes on behind the call before all have returned.
 */
static void called(uint32_t called, uint32_t early)
{
	struct code c = { .count = 0 };
	unsigned int first, second, function, nested, n;
	uint32_t *dw, v;
	struct fixture f;

	start_of_lanes(&c);
	set_flag(&c, 0, called);
	set_flag(&c, 1, early);
	first = c.count;
	dw = emit2(&c, EU_CALL, 8, ONE(EU_UD, 30, 0), VEC(EU_UD, 0), IMM(EU_UD, 0));
	predicate(dw, 0, false);
	add_to(&c, 10, 1);
	/* How often the thread itself is here. */
	no_mask(emit2(&c, EU_ADD, 8, VEC(EU_UD, 13), VEC(EU_UD, 13), IMM(EU_UD, 1)));
	store_lanes(&c, 10, 0);
	store_lanes(&c, 13, 32);
	emit_end(&c);
	function = c.count;
	add_to(&c, 10, 20);
	predicate(emit1(&c, EU_RET, 8, ARF(EU_UD, 0), ONE(EU_UD, 30, 0)), 2, false);
	add_to(&c, 10, 300);
	second = c.count;
	emit2(&c, EU_CALL, 8, ONE(EU_UD, 32, 0), VEC(EU_UD, 0), IMM(EU_UD, 0));
	add_to(&c, 10, 4000);
	emit1(&c, EU_RET, 8, ARF(EU_UD, 0), ONE(EU_UD, 30, 0));
	nested = c.count;
	add_to(&c, 10, 50000);
	emit1(&c, EU_RET, 8, ARF(EU_UD, 0), ONE(EU_UD, 32, 0));
	put_field(c.dw[first], 127, 96, (function - first) * 16);
	put_field(c.dw[second], 127, 96, (nested - second) * 16);
	make(&f, &c);
	if (run_once(&f))
		fail_msg("%s", f.error.text);
	for (n = 0; n < 8; n++) {
		memcpy(&v, f.data + n * 4, 4);
		assert_int_equal(v, !(called >> n & 1) ? 1 : early >> n & 1 ? 21 : 54321);
		memcpy(&v, f.data + 32 + n * 4, 4);
		assert_int_equal(v, 1);
	}
	drop(&f);
}

static void called_lanes_return_behind_the_call(void **state)
{
	(void)state;
	called(0xff, 0);
	called(0xff, 0x0f);
	called(0xff, 0xff);
	called(0x3c, 0x0c);
	called(0x3c, 0x30);
	called(0x01, 0xfe);
	called(0, 0xff);
}

/* r1 has the constants, r2 and half of r3 what the command names, and what follows is 0. */
static void indirect_data_follows_the_constants(void **state)
{
	static const uint32_t constants[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct code c = { .count = 0 };
	struct eu_run *run;
	struct fixture f;
	uint32_t v, n;

	(void)state;
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	for (n = 0; n < 4; n++)
		store_lanes(&c, 1 + n, n * 32);
	emit_end(&c);
	make(&f, &c);
	for (n = 0; n < 32; n++) {
		v = 0x1000 + n;
		memcpy(f.data + 4096 + n * 4, &v, 4);
	}
	f.d.media = true;
	f.d.simd = 16;
	f.d.cross_thread_registers = 1;
	f.d.constants = constants;
	f.d.constants_bytes = sizeof(constants);
	f.d.indirect.address = f.data_address;
	f.d.indirect_data = 4096 + 4 * 4;
	f.d.indirect_bytes = 12 * 4;
	if (run_once(&f))
		fail_msg("%s", f.error.text);
	for (n = 0; n < 32; n++) {
		memcpy(&v, f.data + n * 4, 4);
		assert_int_equal(v, n < 8 ? n + 1 : n < 20 ? 0x1004 + n - 8 : 0);
	}
	/* Past its bound, past the last register, or more than there can be. */
	f.d.indirect.bytes = 4096;
	assert_int_equal(run_once(&f), EU_ILLEGAL);
	f.d.indirect.bytes = UINT64_MAX;
	f.d.indirect_data = 0x7fffff00;
	assert_int_equal(run_once(&f), EU_FAULT);
	f.d.cross_thread_registers = 127 - 62 + 1;
	f.d.indirect_bytes = 496 * 4;
	run = eu_run_begin(f.cache, &f.memory, &f.d, &f.error);
	assert_null(run);
	assert_int_equal(f.error.status, EU_ILLEGAL);
	f.d.cross_thread_registers = 0;
	f.d.indirect_bytes += 4;
	assert_null(eu_run_begin(f.cache, &f.memory, &f.d, &f.error));
	drop(&f);
}

/* In a single program flow all lanes execute alike; a branch, which differs there, is refused. */
static void a_single_program_flow_has_no_branches(void **state)
{
	struct code c = { .count = 0 };
	struct fixture f;
	uint32_t *dw, v;

	(void)state;
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit2(&c, EU_AND, 1, ONE(EU_UD, 10, 0), ARF(EU_UD, 0x80), IMM(EU_UD, 4)));
	emit1(&c, EU_MOV, 8, VEC(EU_UD, 11), ONE(EU_UD, 10, 0));
	store_lanes(&c, 11, 0);
	dw = emit(&c, EU_ENDIF, 8);
	put_jump(dw, 16, 16);
	emit_end(&c);
	make(&f, &c);
	assert_int_equal(run_once(&f), EU_DONE);
	f.d.single_flow = true;
	assert_int_equal(run_once(&f), EU_UNSUPPORTED);
	assert_non_null(strstr(f.error.text, "single program flow"));
	memcpy(&v, f.data + 28, 4);
	assert_int_equal(v, 4);
	drop(&f);
}

/*
 * Group 1 goes to the second page; group 0 stays in the first, which names the third in jumps that
 * no lane takes.
 */
static void only_what_is_executed_is_fetched(void **state)
{
	struct code c = { .count = 0 };
	struct fixture f;
	struct eu_run *run;
	uint32_t *dw;

	(void)state;
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	dw = emit2(&c, EU_CMP, 1, ARF(EU_UD, 0), ONE(EU_UD, 0, 4), IMM(EU_UD, 0));
	condition(dw, EU_COND_NZ, 0);
	no_mask(dw);
	predicate(emit_jump(&c, EU_PAGE_BYTES - 48), 0, false);
	dw = emit(&c, EU_BREAK, 8);
	predicate(dw, 0, false);
	put_jump(dw, 16, 2 * EU_PAGE_BYTES);
	dw = emit(&c, EU_IF, 8);
	predicate(dw, 0, true);
	put_jump(dw, 2 * EU_PAGE_BYTES, 2 * EU_PAGE_BYTES);
	emit_end(&c);
	make(&f, &c);
	memcpy(f.code + EU_PAGE_BYTES, c.dw[c.count - 1], 16);
	f.d.start[0] = 1;
	f.d.end[0] = 2;
	assert_int_equal(run_once(&f), EU_DONE);
	assert_int_equal(f.gpu.maps[EU_ACCESS_EXECUTE], 2);
	f.gpu.maps[EU_ACCESS_EXECUTE] = 0;
	f.d.start[0] = 0;
	f.d.end[0] = 1;
	run = begin(&f);
	while (eu_run(run, 1, &f.error) == EU_AGAIN)
		;
	assert_int_equal(f.error.status, EU_DONE);
	assert_int_equal(f.gpu.maps[EU_ACCESS_EXECUTE], 1);
	eu_run_end(run);
	drop(&f);
}

/* Three rounds through three pages, in a cache that is too small for one. */
static void bounded(unsigned int workers)
{
	enum { ROUNDS = 3, ADDS = 600, BOUND = 128 << 10, PAGE_MOST = 1 << 20 };
	static struct code c;
	struct eu_cache_counters counters;
	struct fixture f;
	struct eu_run *run;
	enum eu_status status;
	unsigned int n;
	uint32_t *dw, v;

	c.count = 0;
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 127), VEC(EU_UD, 0)));
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 10), IMM(EU_UD, 0)));
	for (n = 0; n < ADDS; n++)
		no_mask(emit2(&c, EU_ADD, 8, VEC(EU_UD, 10), VEC(EU_UD, 10), IMM(EU_UD, 1)));
	condition(emit2(&c, EU_CMP, 8, ARF(EU_UD, 0), VEC(EU_UD, 10), IMM(EU_UD, ROUNDS * ADDS)),
		  EU_COND_L, 0);
	dw = emit(&c, EU_WHILE, 8);
	predicate(dw, 0, false);
	put_jump(dw, -16 * (ADDS + 1), 0);
	store_lanes(&c, 10, 0);
	emit_end(&c);
	make(&f, &c);
	eu_cache_destroy(f.cache);
	f.cache = eu_cache_create(BOUND);
	f.d.end[0] = 2 * workers;
	run = begin(&f);
	eu_run_threads(run, workers);
	do {
		status = eu_run(run, 50, &f.error);
		eu_cache_counters(f.cache, &counters);
		assert_in_range(counters.bytes, 1, BOUND + workers * PAGE_MOST);
	} while (status == EU_AGAIN);
	assert_int_equal(status, EU_DONE);
	/* Each round has fetched each page again, unless another worker has kept it. */
	if (workers == 1)
		assert_true(counters.evicted >= 2 * ROUNDS);
	eu_run_end(run);
	eu_cache_counters(f.cache, &counters);
	assert_in_range(counters.bytes, 0, BOUND);
	for (n = 0; n < 8; n++) {
		memcpy(&v, f.data + n * 4, 4);
		assert_int_equal(v, ROUNDS * ADDS);
	}
	drop(&f);
}

static void decoded_instructions_have_a_bound(void **state)
{
	(void)state;
	bounded(1);
	bounded(4);
}

static void a_boundary_is_between_groups(void **state)
{
	struct eu_counters counters;
	struct fixture f;
	struct eu_run *run;
	unsigned int n;

	(void)state;
	counting_fixture(&f);
	run = begin(&f);
	for (n = 1; n < 5; n++) {
		assert_int_equal(eu_run_to_boundary(run, 1 << 20, &f.error), EU_AGAIN);
		assert_true(eu_run_at_boundary(run));
		assert_true(eu_run_save(run, NULL, 0) < 4096);
		eu_run_counters(run, &counters);
		assert_int_equal(counters.groups, n);
	}
	assert_int_equal(eu_run_to_boundary(run, 1 << 20, &f.error), EU_DONE);
	eu_run_end(run);
	check_counts(&f);
	drop(&f);
}

static void groups_are_skipped(void **state)
{
	static const uint8_t none[3 * 32];
	struct fixture f;
	uint32_t v;

	(void)state;
	counting_fixture(&f);
	f.d.skip = 3;
	assert_int_equal(run_once(&f), EU_DONE);
	assert_memory_equal(f.data, none, sizeof(none));
	memcpy(&v, f.data + 3 * 32, 4);
	assert_int_equal(v, 4950 * 3 * 8);
	memcpy(&v, f.data + 4 * 32, 4);
	assert_int_equal(v, 4950 * 3 * 8);
	drop(&f);
}

static void threads_share_the_groups(void **state)
{
	struct fixture f;
	struct eu_run *run;

	(void)state;
	counting_fixture(&f);
	run = begin(&f);
	eu_run_threads(run, 4);
	assert_int_equal(eu_run(run, 1 << 20, &f.error), EU_DONE);
	eu_run_end(run);
	check_counts(&f);
	drop(&f);
}

static void damaged_saves_are_refused_or_harmless(void **state)
{
	struct fixture f;
	struct eu_run *run;
	uint8_t *saved, *bad;
	size_t bytes, n;

	(void)state;
	counting_fixture(&f);
	run = begin(&f);
	eu_run(run, 700, &f.error);
	bytes = eu_run_save(run, NULL, 0);
	saved = malloc(bytes);
	bad = malloc(bytes);
	eu_run_save(run, saved, bytes);
	eu_run_end(run);
	srand(1);
	for (n = 0; n < 300; n++) {
		unsigned int k;

		memcpy(bad, saved, bytes);
		for (k = 0; k < 4; k++)
			bad[(size_t)rand() % (n % 2 ? 200 : bytes)] = (uint8_t)rand();
		run = begin(&f);
		if (!eu_run_restore(run, bad, bytes))
			eu_run(run, 3000, &f.error);
		eu_run_end(run);
	}
	run = begin(&f);
	assert_int_not_equal(eu_run_restore(run, saved, bytes - 1), 0);
	/* The group in flight is the second thread's, and there is one: none is started for it. */
	saved[80] = 1;
	assert_int_not_equal(eu_run_restore(run, saved, bytes), 0);
	eu_run_threads(run, 2);
	assert_int_equal(eu_run_restore(run, saved, bytes), 0);
	eu_run_end(run);
	free(saved);
	free(bad);
	drop(&f);
}

static void an_endless_loop_costs_its_budget(void **state)
{
	struct code c = { .count = 0 };
	struct eu_counters counters;
	struct fixture f;
	struct eu_run *run;

	(void)state;
	emit_jump(&c, -16);
	make(&f, &c);
	run = begin(&f);
	assert_int_equal(eu_run(run, 100000, &f.error), EU_AGAIN);
	eu_run_counters(run, &counters);
	assert_in_range(counters.instructions, 100000, 100064);
	eu_run_end(run);
	drop(&f);
}

static void a_barrier_that_never_completes_is_stuck(void **state)
{
	struct code c = { .count = 0 };
	struct fixture f;
	uint32_t *dw;

	(void)state;
	dw = emit(&c, EU_WAIT, 1);
	put_source(dw, 0, ARF(EU_UD, 0x90));
	no_mask(dw);
	emit_end(&c);
	make(&f, &c);
	f.d.threads[0] = 4;
	assert_int_equal(run_once(&f), EU_STUCK);
	drop(&f);
}

static void a_page_that_is_not_mapped_is_a_fault(void **state)
{
	struct code c = { .count = 0 };
	struct fixture f;

	(void)state;
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 10), IMM(EU_UD, 0x70000000)));
	emit_send(&c, 8, 12, 20, 10, 1u << 25 | 1u << 20 | 1u << 14 | 2u << 12 | 14u << 8 | 255,
		  false);
	emit_end(&c);
	make(&f, &c);
	assert_int_equal(run_once(&f), EU_FAULT);
	assert_int_equal(f.error.address, f.data_address + 0x70000000);
	assert_int_equal(f.error.access, EU_ACCESS_READ);
	assert_int_equal(f.error.ip, f.d.instruction.address + 16);
	assert_non_null(strstr(f.error.text, "send"));
	drop(&f);
}

static void a_changed_kernel_is_decoded_again(void **state)
{
	struct code c = { .count = 0 };
	struct fixture f;
	uint32_t v, value;

	(void)state;
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 10), IMM(EU_UD, 64)));
	no_mask(emit1(&c, EU_MOV, 8, VEC(EU_UD, 11), IMM(EU_UD, 1)));
	emit_send(&c, 8, 12, 0, 10, 2u << 25 | 2u << 14 | 1u << 12 | 4u << 8 | 255, false);
	emit_end(&c);
	make(&f, &c);
	for (value = 1; value < 4; value++) {
		memcpy(f.code + 16 + 12, &value, 4);
		assert_int_equal(run_once(&f), EU_DONE);
		memcpy(&v, f.data + 64, 4);
		assert_int_equal(v, value);
	}
	drop(&f);
}

static void dispatches_out_of_range_are_refused(void **state)
{
	struct code c = { .count = 0 };
	struct fixture f;
	struct eu_dispatch good;

	(void)state;
	emit_end(&c);
	make(&f, &c);
	good = f.d;
#define REFUSED(change)                                                        \
	do {                                                                   \
		f.d = good;                                                    \
		change;                                                        \
		assert_null(eu_run_begin(f.cache, &f.memory, &f.d, &f.error)); \
		assert_int_equal(f.error.status, EU_ILLEGAL);                  \
		assert_true(f.error.text[0]);                                  \
	} while (0)
	REFUSED(f.d.simd = 12);
	REFUSED(f.d.threads[1] = 65);
	REFUSED(f.d.threads[0] = 0);
	REFUSED(f.d.threads[0] = f.d.threads[1] = 9);
	REFUSED(f.d.slm_bytes = 131072);
	REFUSED(f.d.slm_bytes = 3000);
	REFUSED(f.d.cross_thread_registers = 127; f.d.per_thread_registers = 1);
	REFUSED(f.d.kernel = 32);
	REFUSED(f.d.kernel = 1ull << 32);
	REFUSED(f.d.skip = 2);
	REFUSED(f.d.end[0] = f.d.end[1] = f.d.end[2] = UINT32_MAX);
#undef REFUSED
	drop(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(budgets_do_not_change_results),
		cmocka_unit_test(the_clock_counts_instructions_over_all_runs),
		cmocka_unit_test(a_saved_run_goes_on),
		cmocka_unit_test(waiting_lanes_go_on_in_a_program_that_is_new),
		cmocka_unit_test(lanes_that_break_go_on_behind_the_loop),
		cmocka_unit_test(halted_lanes_meet_at_the_end),
		cmocka_unit_test(called_lanes_return_behind_the_call),
		cmocka_unit_test(indirect_data_follows_the_constants),
		cmocka_unit_test(a_single_program_flow_has_no_branches),
		cmocka_unit_test(only_what_is_executed_is_fetched),
		cmocka_unit_test(decoded_instructions_have_a_bound),
		cmocka_unit_test(a_boundary_is_between_groups),
		cmocka_unit_test(groups_are_skipped),
		cmocka_unit_test(threads_share_the_groups),
		cmocka_unit_test(damaged_saves_are_refused_or_harmless),
		cmocka_unit_test(an_endless_loop_costs_its_budget),
		cmocka_unit_test(a_barrier_that_never_completes_is_stuck),
		cmocka_unit_test(a_page_that_is_not_mapped_is_a_fault),
		cmocka_unit_test(a_changed_kernel_is_decoded_again),
		cmocka_unit_test(dispatches_out_of_range_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
