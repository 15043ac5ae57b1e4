// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs: thread groups in the order of the walker, their threads in turns, their payload. A run with
 * one worker stops between any two instructions; its state is plain data and can be saved.
 */
#include "machine.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_THREADS = 64,
	MAX_WORKERS = EU_MAX_WORKERS,
	/*
	 * Threads that Skylake GT2 has at a time: 24 execution units of 7. Scratch is sized for it.
	 */
	HARDWARE_THREADS = 168,
	/* Bytes of a media object's indirect data: 496 dwords. */
	INDIRECT_MOST = 1984,
	/* A thread of a group runs that long before another one of it does. */
	TURN = 65536,
};

static struct eu_run *refuse(struct eu_run *run, struct eu_error *error, const char *why)
{
	if (error) {
		memset(error, 0, sizeof(*error));
		error->status = run ? EU_ILLEGAL : EU_NO_MEMORY;
		strncpy(error->text, why, sizeof(error->text) - 1);
	}
	eu_run_end(run);
	return NULL;
}

static uint32_t group_threads(const struct eu_dispatch *d)
{
	return d->media ? 1 : d->threads[0] * d->threads[1] * d->threads[2];
}

/* Constants come from memory, not from MEDIA_CURBE_LOAD. */
static bool constants_in_memory(const struct eu_dispatch *d)
{
	return d->indirect_bytes && !d->media;
}

/* Registers behind the constants: the inline or indirect data of a media object. */
static uint32_t object_registers(const struct eu_dispatch *d)
{
	uint32_t bytes = d->inline_dwords * 4 + (d->media ? d->indirect_bytes : 0);

	return (bytes + EU_REG_BYTES - 1) / EU_REG_BYTES;
}

static const char *wrong(const struct eu_dispatch *d)
{
	unsigned int n;

	if (d->simd != 8 && d->simd != 16 && d->simd != 32)
		return "a walker of other than 8, 16 or 32 lanes";
	if (d->kernel & 63 || d->kernel >> 32)
		return "a kernel that is not aligned, or past 4 GiB";
	for (n = 0; n < 3; n++)
		if (!d->media && (!d->threads[n] || d->threads[n] > MAX_THREADS))
			return "a walker of other than 1 to 64 threads";
	if (!d->media && group_threads(d) > MAX_THREADS)
		return "a walker of groups of more than 64 threads";
	if (d->slm_bytes > 65536 || (d->slm_bytes & (d->slm_bytes - 1)))
		return "a size of shared memory that is not there";
	if (d->float_mode_alternate)
		return "the alternate floating-point mode";
	if (d->inline_dwords > EU_INLINE_DWORDS || (d->media && d->indirect_bytes > INDIRECT_MOST))
		return "a media object with too much data";
	if (d->per_thread_registers > 127 || d->cross_thread_registers > 127 ||
	    1 + d->per_thread_registers + d->cross_thread_registers + object_registers(d) > 128)
		return "a payload past r127";
	if (d->scratch_bytes > 2 << 20 || (d->scratch_bytes & (d->scratch_bytes - 1)))
		return "a size of scratch space that is not there";
	return NULL;
}

struct eu_run *eu_run_begin(struct eu_cache *cache, const struct eu_memory *memory,
			    const struct eu_dispatch *dispatch, struct eu_error *error)
{
	struct eu_run *run = calloc(1, sizeof(*run));
	const struct eu_dispatch *d = dispatch;
	const char *why;
	unsigned int n;

	if (!run)
		return refuse(NULL, error, "no memory for a run");
	pthread_mutex_init(&run->lock, NULL);
	run->cache = cache;
	run->memory = *memory;
	run->dispatch = *dispatch;
	run->dispatch.constants = NULL;
	why = wrong(d);
	if (why)
		return refuse(run, error, why);
	run->workers = 1;
	run->total = 1;
	for (n = 0; n < 3 && !d->media; n++) {
		uint64_t groups = d->end[n] > d->start[n] ? d->end[n] - d->start[n] : 0;

		if (groups && run->total > UINT64_MAX / groups)
			return refuse(run, error, "too many thread groups");
		run->total *= groups;
	}
	if (d->skip > run->total)
		return refuse(run, error, "more thread groups to skip than there are");
	run->next = d->skip;
	if (d->constants_bytes && !constants_in_memory(d)) {
		run->constants = malloc(d->constants_bytes);
		if (!run->constants) {
			eu_run_end(run);
			return refuse(NULL, error, "no memory for constants");
		}
		memcpy(run->constants, d->constants, d->constants_bytes);
	}
	return run;
}

static void free_workers(struct eu_run *run)
{
	unsigned int n;

	for (n = 0; run->exec && n < run->workers; n++)
		if (run->exec[n].run)
			eu_program_leave(&run->exec[n]);
	for (n = 0; run->group && n < run->workers; n++) {
		free(run->group[n].thread);
		free(run->group[n].slm);
	}
	free(run->group);
	free(run->exec);
	run->group = NULL;
	run->exec = NULL;
}

void eu_run_end(struct eu_run *run)
{
	if (!run)
		return;
	free_workers(run);
	free(run->constants);
	pthread_mutex_destroy(&run->lock);
	free(run);
}

/* eu_run_group_threads() - threads of a group */
uint32_t eu_run_group_threads(const struct eu_run *run)
{
	return group_threads(&run->dispatch);
}

/* How many groups can be in flight: the hardware has so many threads. */
static unsigned int most_workers(const struct eu_run *run)
{
	unsigned int most = HARDWARE_THREADS / group_threads(&run->dispatch);

	return most > MAX_WORKERS ? MAX_WORKERS : most;
}

void eu_run_threads(struct eu_run *run, unsigned int threads)
{
	unsigned int most = most_workers(run);

	if (run->group)
		return;
	if (threads > most)
		threads = most;
	run->workers = threads < 1 ? 1 : threads > MAX_WORKERS ? MAX_WORKERS : threads;
}

void eu_run_counters(const struct eu_run *run, struct eu_counters *counters)
{
	*counters = run->counters;
}

/* eu_run_allocate() - memory of all workers; 0 or -1 */
int eu_run_allocate(struct eu_run *run)
{
	uint32_t threads = group_threads(&run->dispatch);
	uint64_t now = eu_cache_clock(run->cache, 0);
	unsigned int n;

	if (run->group)
		return 0;
	run->exec = calloc(run->workers, sizeof(*run->exec));
	run->group = calloc(run->workers, sizeof(*run->group));
	if (!run->exec || !run->group)
		goto fail;
	for (n = 0; n < run->workers; n++) {
		run->group[n].thread = aligned_alloc(64, threads * sizeof(struct eu_thread));
		run->group[n].slm = malloc(65536);
		if (!run->group[n].thread || !run->group[n].slm)
			goto fail;
		memset(run->group[n].slm, 0, 65536);
		run->group[n].threads = threads;
		run->group[n].worker = n;
		run->exec[n].run = run;
		run->exec[n].memory = run->memory;
		run->exec[n].instructions = run->exec[n].counted_instructions = now;
		run->exec[n].slm = run->group[n].slm;
		run->exec[n].slm_bytes = run->dispatch.slm_bytes;
	}
	return 0;
fail:
	free_workers(run);
	return -1;
}

static int indirect(struct eu_exec *x, uint64_t offset, void *to, uint32_t bytes)
{
	const struct eu_dispatch *d = &x->run->dispatch;

	if (offset >= d->indirect_bytes)
		return 0;
	if (bytes > d->indirect_bytes - offset)
		bytes = (uint32_t)(d->indirect_bytes - offset);
	offset += d->indirect_data;
	if (offset + bytes > d->indirect.bytes) {
		eu_fail(x, NULL, EU_ILLEGAL, "indirect data past its bound");
		return -1;
	}
	return eu_read(x, d->indirect.address + offset, to, bytes, EU_ACCESS_STATE);
}

/* Constant data: from memory, or as MEDIA_CURBE_LOAD took it. What is not there is 0. */
static int constants(struct eu_exec *x, uint64_t offset, void *to, uint32_t bytes)
{
	const struct eu_dispatch *d = &x->run->dispatch;

	memset(to, 0, bytes);
	if (constants_in_memory(d))
		return indirect(x, offset, to, bytes);
	if (offset >= d->constants_bytes)
		return 0;
	if (bytes > d->constants_bytes - offset)
		bytes = (uint32_t)(d->constants_bytes - offset);
	memcpy(to, x->run->constants + offset, bytes);
	return 0;
}

/* Which lanes of a thread exist: the walker's masks cut the last ones in x and y. */
static uint32_t lanes_of(const struct eu_dispatch *d, uint32_t thread)
{
	uint32_t all = d->simd == 32 ? ~0u : (1u << d->simd) - 1;

	if (d->media)
		return all;
	if (thread % d->threads[0] == d->threads[0] - 1)
		all &= d->right_mask;
	if (thread / d->threads[0] % d->threads[1] == d->threads[1] - 1)
		all &= d->bottom_mask;
	return all;
}

/* Scratch sizes are encoded as powers of two from 1 KiB. */
static uint32_t scratch_code(uint32_t bytes)
{
	uint32_t code = 0;

	while (bytes > 1024) {
		bytes >>= 1;
		code++;
	}
	return code;
}

static int start_thread(struct eu_exec *x, struct eu_group *g, uint32_t index)
{
	const struct eu_dispatch *d = &x->run->dispatch;
	struct eu_thread *t = &g->thread[index];
	uint32_t slot = g->worker * g->threads + index;
	uint32_t cross = d->cross_thread_registers * EU_REG_BYTES;
	uint32_t own = d->per_thread_registers * EU_REG_BYTES;
	uint8_t *cross_to, *own_to;

	memset(t, 0, sizeof(*t));
	x->t = t;
	t->index = (uint16_t)index;
	t->mask = lanes_of(d, index);
	t->ip = (uint32_t)d->kernel;
	/* r0, the header. */
	eu_set_reg32(t, 0, d->media ? 0 : g->threads);
	eu_set_reg32(t, 4, d->media ? 0 : g->id[0]);
	eu_set_reg32(t, 8, d->media ? d->descriptor : 0);
	eu_set_reg32(t, 12,
		     (d->samplers & ~31u) |
			     (d->scratch_bytes ? scratch_code(d->scratch_bytes) : 0));
	eu_set_reg32(t, 16, d->binding_table & ~31u);
	eu_set_reg32(t, 20,
		     ((uint32_t)(d->scratch + (uint64_t)slot * d->scratch_bytes) & ~0x3ffu) | slot);
	eu_set_reg32(t, 24, d->media ? 0 : g->id[1]);
	eu_set_reg32(t, 28, d->media ? 0 : g->id[2]);
	/*
	 * Cross-thread data is first in memory. In registers it is last if it comes from memory,
	 * and first if it comes from MEDIA_CURBE_LOAD.
	 */
	if (constants_in_memory(d)) {
		own_to = t->reg + EU_REG_BYTES;
		cross_to = own_to + own;
	} else {
		cross_to = t->reg + EU_REG_BYTES;
		own_to = cross_to + cross;
	}
	if (cross && constants(x, 0, cross_to, cross))
		return -1;
	if (own && constants(x, cross + (uint64_t)index * own, own_to, own))
		return -1;
	if (d->inline_dwords)
		memcpy(t->reg + EU_REG_BYTES + cross + own, d->inline_data, d->inline_dwords * 4);
	else if (d->media && indirect(x, 0, t->reg + EU_REG_BYTES + cross + own, d->indirect_bytes))
		return -1;
	eu_set_reg32(t, EU_REG_CR0,
		     (d->rounding & 3) << EU_CR0_ROUNDING_SHIFT |
			     (d->single_flow ? EU_CR0_SINGLE_FLOW : 0));
	/* State registers: which of the hardware's threads this is. */
	eu_set_reg32(t, EU_REG_SR0, (slot / 7 & 0xf) << 8 | (slot % 7) | (slot / 7 >> 4) << 12);
	eu_set_reg32(t, EU_REG_SR0 + 8, t->mask);
	return 0;
}

static int start_group(struct eu_exec *x, struct eu_group *g, uint64_t number)
{
	const struct eu_dispatch *d = &x->run->dispatch;
	uint32_t n;

	x->group = g;
	x->insn = NULL;
	if (!d->media) {
		uint32_t wide = d->end[0] - d->start[0], high = d->end[1] - d->start[1];

		g->id[0] = d->start[0] + (uint32_t)(number % wide);
		g->id[1] = d->start[1] + (uint32_t)(number / wide % high);
		g->id[2] = d->start[2] + (uint32_t)(number / wide / high);
	}
	g->ended = g->arrived = g->current = 0;
	g->turn = TURN;
	/* The hardware does not clear it, but results must not depend on which worker has it. */
	memset(g->slm, 0, d->slm_bytes);
	for (n = 0; n < g->threads; n++)
		if (start_thread(x, g, n))
			return -1;
	g->active = true;
	return 0;
}

/* The instruction at @ip, after @i, which may be freed. @link keeps it if both stay together. */
static struct eu_insn *follow(struct eu_exec *x, const struct eu_insn *i, uint32_t ip,
			      struct eu_insn **link)
{
	bool together = !i->across && (i->ip ^ ip) < EU_PAGE_BYTES;
	struct eu_insn *next = eu_program_insn(x, ip);

	if (next && together && !next->across)
		__atomic_store_n(link, next, __ATOMIC_RELEASE);
	return next;
}

static inline struct eu_insn *following(struct eu_exec *x, struct eu_insn *i)
{
	struct eu_insn *next = __atomic_load_n(&i->next, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!next, 0))
		next = follow(x, i, i->ip + i->size, &i->next);
	return next;
}

/*
 * Executes the thread until it yields, fails or has used *budget. A handler that is not for the
 * thread's floating-point mode is replaced by the general one.
 */
static enum eu_step run_thread(struct eu_exec *x, struct eu_thread *t, uint64_t *budget)
{
	uint64_t left = *budget;
	enum eu_step step = EU_NEXT;
	struct eu_insn *i;

	x->t = t;
	x->insn = NULL;
	eu_flow_resume(x);
	i = eu_program_insn(x, t->ip);
	if (!i)
		return EU_FAILED;
	eu_mode_set(x);
	while (left) {
		struct eu_insn *next;

		left--;
		if (__builtin_expect(t->waiting && x->waits & eu_wait_bit(i->ip), 0))
			eu_flow_wake(x, i);
		step = __builtin_expect(x->plain, 1) ? i->run(x, i) : i->general(x, i);
		if (__builtin_expect(step == EU_NEXT, 1)) {
			next = following(x, i);
		} else if (step == EU_JUMP) {
			next = __atomic_load_n(&i->jump, __ATOMIC_ACQUIRE);
			if (!next || next->ip != t->ip)
				next = follow(x, i, t->ip, &i->jump);
			step = EU_NEXT;
		} else if (step == EU_CLOCK) {
			x->now = x->instructions + *budget - left;
			step = eu_alu(x, i);
			if (step != EU_NEXT)
				break;
			next = following(x, i);
		} else {
			break;
		}
		i = next;
		if (__builtin_expect(!i, 0)) {
			step = EU_FAILED;
			break;
		}
	}
	if (i)
		t->ip = i->ip;
	x->instructions += *budget - left;
	*budget = left;
	return step;
}

/* Executes a group until it ends or the budget is used; returns EU_FAILED, or EU_NEXT. */
static enum eu_step run_group(struct eu_exec *x, struct eu_group *g, uint64_t *budget)
{
	uint32_t idle = 0;

	x->group = g;
	while (g->ended < g->threads && *budget) {
		struct eu_thread *t = &g->thread[g->current];
		uint64_t turn = *budget < g->turn ? *budget : g->turn, left = turn;
		enum eu_step step;

		if (t->state == EU_THREAD_READY) {
			idle = 0;
			step = run_thread(x, t, &left);
			*budget -= turn - left;
			g->turn -= (uint32_t)(turn - left);
			if (step == EU_FAILED)
				return EU_FAILED;
			if (t->state == EU_THREAD_ENDED)
				g->ended++;
			/* A turn that the budget has cut goes on with the next call. */
			if (t->state == EU_THREAD_READY && g->turn)
				break;
		} else if (++idle > g->threads) {
			x->t = t;
			x->insn = NULL;
			return eu_fail(x, NULL, EU_STUCK,
				       "%u of %u threads wait for a barrier, the others have ended",
				       g->threads - g->ended, g->threads);
		}
		g->current = (g->current + 1) % g->threads;
		g->turn = TURN;
	}
	if (g->ended == g->threads)
		g->active = false;
	return EU_NEXT;
}

/* One worker's part of a call: groups until there are none, or the budget is used. */
static void work(struct eu_exec *x, struct eu_group *g, uint64_t *budget, bool to_boundary)
{
	struct eu_run *run = (struct eu_run *)x->run;
	bool alone = run->workers == 1;

	for (;;) {
		uint64_t number, endless = UINT64_MAX;

		if (!g->active) {
			pthread_mutex_lock(&run->lock);
			number = run->next;
			if (number >= run->total || (!alone && !run->budget) || run->status) {
				pthread_mutex_unlock(&run->lock);
				return;
			}
			run->next++;
			pthread_mutex_unlock(&run->lock);
			if (start_group(x, g, number))
				return;
		}
		if (alone) {
			if (run_group(x, g, budget) == EU_FAILED)
				return;
		} else {
			uint64_t before = x->instructions, used;

			endless = *budget;
			if (run_group(x, g, &endless) == EU_FAILED)
				return;
			used = x->instructions - before;
			pthread_mutex_lock(&run->lock);
			run->budget = run->budget > used ? run->budget - used : 0;
			pthread_mutex_unlock(&run->lock);
			if (g->active)
				return;
		}
		if (!g->active) {
			__atomic_fetch_add(&run->counters.groups, 1, __ATOMIC_RELAXED);
			if (to_boundary && alone)
				return;
		}
		if (alone && !*budget)
			return;
	}
}

struct worker {
	struct eu_exec *x;
	struct eu_group *g;
	uint64_t budget;
};

static void *worker(void *argument)
{
	struct worker *w = argument;
	fenv_t before;

	fegetenv(&before);
	work(w->x, w->g, &w->budget, false);
	fesetenv(&before);
	return NULL;
}

static void run_workers(struct eu_run *run, uint64_t budget)
{
	pthread_t threads[MAX_WORKERS];
	struct worker workers[MAX_WORKERS];
	unsigned int n, started;

	run->budget = budget;
	for (n = 0; n < run->workers; n++)
		workers[n] = (struct worker){ &run->exec[n], &run->group[n], budget };
	for (started = 1; started < run->workers; started++)
		if (pthread_create(&threads[started], NULL, worker, &workers[started]))
			break;
	worker(&workers[0]);
	for (n = 1; n < started; n++)
		pthread_join(threads[n], NULL);
}

static enum eu_status run_some(struct eu_run *run, uint64_t budget, struct eu_error *error,
			       bool to_boundary)
{
	unsigned int n;
	bool active = false;
	fenv_t before;

	if (run->status)
		return run->status;
	if (eu_run_allocate(run)) {
		refuse(NULL, error, "no memory for threads");
		return run->status = EU_NO_MEMORY;
	}
	for (n = 0; n < run->workers; n++) {
		eu_tlb_flush(&run->exec[n]);
		memset(run->exec[n].surfaces, 0, sizeof(run->exec[n].surfaces));
	}
	fegetenv(&before);
	if (run->workers == 1)
		work(&run->exec[0], &run->group[0], &budget, to_boundary);
	else
		run_workers(run, budget);
	fesetenv(&before);
	for (n = 0; n < run->workers; n++) {
		struct eu_exec *x = &run->exec[n];

		run->counters.instructions += x->instructions - x->counted_instructions;
		run->counters.lanes += x->lanes;
		run->counters.messages += x->messages;
		x->counted_instructions = x->instructions;
		eu_cache_clock(run->cache, x->instructions);
		x->lanes = x->messages = 0;
		active |= run->group[n].active;
		if (x->error.status && !run->status) {
			run->status = x->error.status;
			if (error)
				*error = x->error;
		}
	}
	if (run->status)
		return run->status;
	return run->next >= run->total && !active ? EU_DONE : EU_AGAIN;
}

enum eu_status eu_run(struct eu_run *run, uint64_t budget, struct eu_error *error)
{
	return run_some(run, budget, error, false);
}

enum eu_status eu_run_to_boundary(struct eu_run *run, uint64_t budget, struct eu_error *error)
{
	return run_some(run, budget, error, true);
}

bool eu_run_at_boundary(const struct eu_run *run)
{
	unsigned int n;

	for (n = 0; run->group && n < run->workers; n++)
		if (run->group[n].active)
			return false;
	return true;
}
