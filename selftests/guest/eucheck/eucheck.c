// SPDX-License-Identifier: GPL-2.0-only
/*
 * eucheck: kernels on the execution units, through i915. Each round dispatches a kernel whose lanes
 * add numbers of their own to memory, waits for the write behind it, and checks each dword. With
 * several contexts, their dispatches are in flight at the same time. With --kernel it dispatches
 * another kernel; of one that no good program has, it tells only whether the driver has blamed the
 * context. With --hostile, each dispatch has such a kernel, or a good one with random faults, in a
 * context of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emu_kernels.h"
#include "gem.h"
#include "options.h"
#include "random.h"

#define CONTEXTS 8u
#define GROUPS_MAX (1u << 20)
#define ROUNDS_MAX 1000u
#define HOSTILE_MAX 1000000u
#define FLIPS_MAX 8u
#define GROUP_BYTES 32u
#define PAGE_BYTES 4096u
/* Addresses of objects in each context's own address space. */
#define BATCH_ADDRESS 0x40000000ull
#define CODE_ADDRESS 0x41000000ull
#define STATE_ADDRESS 0x42000000ull
#define READ_ONLY_ADDRESS (OUTPUT_ADDRESS - PAGE_BYTES)
#define DONE_ADDRESS 0x43000000ull
#define SAVED_ADDRESS 0x44000000ull
#define SAVED_BYTES (512u << 10) /* for a thread group that is preempted */
#define OUTPUT_ADDRESS 0x100000000ull
#define DONE_VALUE 0x600dcafeu
#define TIMEOUT_S 300 /* where execution units are emulated twice */
#define EXIT_WRONG 1
#define EXIT_NO_DEVICE 2

#define PIPELINE_SELECT_GPGPU 0x69040302u
#define PIPE_CONTROL 0x7a000004u
#define PIPE_CONTROL_CS_STALL (1u << 20)
#define PIPE_CONTROL_WRITE (1u << 14)
#define PIPE_CONTROL_DC_FLUSH (1u << 5)
#define CS_CHICKEN1 0x2580u /* a register that i915 lets batches write */
#define CS_CHICKEN1_GPGPU_THREAD (6u << 16) /* preemption in the middle of threads */
#define CS_CHICKEN1_GPGPU_GROUP (6u << 16 | 2u) /* between thread groups */
#define GPGPU_CSR_BASE_ADDRESS 0x61040001u

struct job {
	struct gem gem;
	uint32_t batch, code, state, output, done, read_only, saved;
};

/* What a dispatch consists of. */
static struct {
	uint32_t code[PAGE_BYTES / 4], descriptor[8];
	uint32_t state[EMU_STATE_DWORDS], walker[EMU_WALKER_DWORDS];
} program;

static unsigned int groups = 4096, rounds = 1, contexts = 1, hostile, seed = 1;
static enum { AT_COMMANDS, AT_GROUPS, AT_THREADS } preemptible;
static const char *const kernel_names[] = {
	[EMU_KERNEL_ADDS] = "adds",	  [EMU_KERNEL_WILD] = "wild",
	[EMU_KERNEL_ENDLESS] = "endless", [EMU_KERNEL_UNSUPPORTED] = "unsupported",
	[EMU_KERNEL_SHARES] = "shares",	  [EMU_KERNEL_COPIES] = "copies",
};
static enum emu_kernel kernel = EMU_KERNEL_ADDS;
static struct batch batch;
static uint32_t page[PAGE_BYTES / 4] __attribute__((aligned(PAGE_BYTES))); /* the GPU may read it */

static const struct argp_option options[] = {
	{ "groups", 'g', "N", 0, "Thread groups of a dispatch, 1 to 1048576 (default 4096)", 0 },
	{ "rounds", 'r', "N", 0, "Rounds, 1 to 1000 (default 1)", 0 },
	{ "contexts", 'c', "N", 0, "Contexts, 1 to 8 (default 1)", 0 },
	{ "preemptible", 'p', NULL, 0, "Let the driver preempt between thread groups", 0 },
	{ "within", 'w', NULL, 0, "Let it preempt in the middle of thread groups, too", 0 },
	{ "kernel", 'k', "NAME", 0,
	  "adds (default), shares (long groups with barriers), copies (of a page to which it stores, "
	  "but may not), wild (stores where nothing is mapped), endless, or unsupported (an "
	  "instruction)",
	  0 },
	{ "hostile", 'h', "N", 0, "Dispatch N hostile kernels, 1 to 1000000, instead", 0 },
	{ "seed", 's', "N", 0, "Seed of their faults (default 1)", 0 },
	{ 0 },
};

static enum emu_kernel parse_kernel(struct argp_state *state, const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(kernel_names) / sizeof(kernel_names[0]); i++)
		if (!strcmp(name, kernel_names[i]))
			return i;
	argp_error(state, "no kernel %s", name);
	return EMU_KERNEL_ADDS;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'g':
		groups = parse_number(state, argument, 1, GROUPS_MAX);
		return 0;
	case 'r':
		rounds = parse_number(state, argument, 1, ROUNDS_MAX);
		return 0;
	case 'c':
		contexts = parse_number(state, argument, 1, CONTEXTS);
		return 0;
	case 'p':
		preemptible = AT_GROUPS;
		return 0;
	case 'w':
		preemptible = AT_THREADS;
		return 0;
	case 'k':
		kernel = parse_kernel(state, argument);
		if (kernel == EMU_KERNEL_COPIES)
			groups = EMU_COPIES_BYTES / GROUP_BYTES;
		return 0;
	case 'h':
		hostile = parse_number(state, argument, 1, HOSTILE_MAX);
		return 0;
	case 's':
		seed = parse_number(state, argument, 0, UINT32_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Dispatch kernels and compare what they store.\v"
	       "Exit status: 0 success, 1 a dword is wrong or the driver failed, 2 no i915 GPU.",
};

static uint64_t output_bytes(void)
{
	return ((uint64_t)groups * GROUP_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static void write_program(void)
{
	memset(&program, 0, sizeof(program));
	emu_kernel_put(kernel, program.code);
	emu_kernel_descriptor(program.descriptor);
	emu_kernel_state(program.state,
			 kernel == EMU_KERNEL_COPIES ? READ_ONLY_ADDRESS : OUTPUT_ADDRESS,
			 STATE_ADDRESS, CODE_ADDRESS);
	emu_kernel_walker(program.walker, groups);
	if (kernel == EMU_KERNEL_SHARES)
		emu_kernel_share(program.descriptor, program.walker);
}

static int make_objects(struct job *job)
{
	const struct gem *gem = &job->gem;
	int ret = gem_create(gem, BATCH_BYTES, &job->batch);

	if (!ret)
		ret = gem_create(gem, PAGE_BYTES, &job->code);
	if (!ret)
		ret = gem_create(gem, PAGE_BYTES, &job->state);
	if (!ret)
		ret = gem_create(gem, PAGE_BYTES, &job->done);
	if (!ret)
		ret = gem_create(gem, output_bytes(), &job->output);
	if (!ret && preemptible == AT_THREADS)
		ret = gem_create(gem, SAVED_BYTES, &job->saved);
	if (!ret && kernel == EMU_KERNEL_COPIES)
		ret = gem_read_only(gem, page, PAGE_BYTES, &job->read_only);
	if (!ret)
		ret = gem_write(gem, job->code, 0, program.code, sizeof(program.code));
	if (!ret)
		ret = gem_write(gem, job->state, 0, program.descriptor, sizeof(program.descriptor));
	return ret;
}

static void emit(const uint32_t *dwords, unsigned int count)
{
	while (count--)
		batch_emit(&batch, *dwords++);
}

static int submit(const struct job *job)
{
	const uint32_t before[] = {
		PIPE_CONTROL,	      PIPE_CONTROL_CS_STALL | PIPE_CONTROL_DC_FLUSH, 0, 0, 0, 0,
		PIPELINE_SELECT_GPGPU
	};
	const uint32_t after[] = { PIPE_CONTROL,
				   PIPE_CONTROL_CS_STALL | PIPE_CONTROL_DC_FLUSH |
					   PIPE_CONTROL_WRITE,
				   (uint32_t)DONE_ADDRESS,
				   DONE_ADDRESS >> 32,
				   DONE_VALUE,
				   0 };

	batch_init(&batch, true);
	batch_object(&batch, job->code, CODE_ADDRESS, false);
	batch_object(&batch, job->state, STATE_ADDRESS, false);
	batch_object(&batch, job->done, DONE_ADDRESS, true);
	batch_object(&batch, job->output, OUTPUT_ADDRESS, true);
	if (kernel == EMU_KERNEL_COPIES)
		batch_object(&batch, job->read_only, READ_ONLY_ADDRESS, false);
	if (preemptible == AT_THREADS)
		batch_object(&batch, job->saved, SAVED_ADDRESS, true);
	emit(before, sizeof(before) / sizeof(before[0]));
	if (preemptible == AT_THREADS)
		emit((const uint32_t[]){ GPGPU_CSR_BASE_ADDRESS, SAVED_ADDRESS, 0 }, 3);
	if (preemptible) {
		batch_emit(&batch, MI_LOAD_REGISTER_IMM);
		batch_emit(&batch, CS_CHICKEN1);
		batch_emit(&batch, preemptible == AT_THREADS ? CS_CHICKEN1_GPGPU_THREAD :
							       CS_CHICKEN1_GPGPU_GROUP);
	}
	emit(program.state, EMU_STATE_DWORDS);
	emit(program.walker, EMU_WALKER_DWORDS);
	emit(after, sizeof(after) / sizeof(after[0]));
	return batch_submit(&batch, &job->gem, job->batch, BATCH_ADDRESS, I915_EXEC_RENDER);
}

static uint32_t page_content(unsigned int dword)
{
	return 0x01010101u * (dword + 1);
}

/* What the kernel leaves of dword @i of an object that was zero. */
static uint32_t expected(uint32_t i)
{
	static uint32_t shared[8];

	if (i >= 8 * groups)
		return 0;
	switch (kernel) {
	case EMU_KERNEL_SHARES:
		if (i % 8 == 0)
			emu_kernel_shares_result(i / 8, shared);
		return shared[i % 8];
	case EMU_KERNEL_COPIES:
		return page_content(EMU_COPIES_BYTES / 4 + i);
	default:
		return 4 * i + 7;
	}
}

static int check_read_only(void)
{
	unsigned int i;

	for (i = 0; i < PAGE_BYTES / 4; i++)
		if (page[i] != page_content(i)) {
			printf("eucheck: dword %u of the page is %#x\n", i, page[i]);
			return -EILSEQ;
		}
	return 0;
}

static int check(const struct job *job, uint32_t *output, uint32_t *hash)
{
	uint32_t done = 0, i;
	int ret = gem_wait(&job->gem, job->batch, TIMEOUT_S);

	if (!ret && kernel != EMU_KERNEL_ADDS && kernel != EMU_KERNEL_SHARES &&
	    kernel != EMU_KERNEL_COPIES) {
		printf("eucheck: %s: %s\n", kernel_names[kernel],
		       gem_guilty(&job->gem) ? "guilty" : "innocent");
		return 0;
	}
	if (!ret)
		ret = gem_read(&job->gem, job->done, 0, &done, sizeof(done));
	if (!ret)
		ret = gem_read(&job->gem, job->output, 0, output, output_bytes());
	if (ret)
		return ret;
	for (i = 0; i < output_bytes() / 4; i++) {
		uint32_t want = expected(i);

		if (output[i] != want) {
			printf("eucheck: dword %u of group %u is %#x, not %#x\n", i % 8, i / 8,
			       output[i], want);
			return -EILSEQ;
		}
		*hash = (*hash ^ output[i]) * 16777619u;
	}
	if (done != DONE_VALUE) {
		printf("eucheck: %#x was written behind the dispatch\n", done);
		return -EILSEQ;
	}
	if (gem_guilty(&job->gem))
		return -EIO;
	return kernel == EMU_KERNEL_COPIES ? check_read_only() : 0;
}

static int run_round(const struct job *jobs, uint32_t *output, uint32_t *hash)
{
	const uint32_t none = 0;
	unsigned int i;
	int ret = 0;

	memset(output, 0, output_bytes());
	for (i = 0; i < contexts && !ret; i++) {
		ret = gem_write(&jobs[i].gem, jobs[i].output, 0, output, output_bytes());
		if (!ret)
			ret = gem_write(&jobs[i].gem, jobs[i].done, 0, &none, sizeof(none));
	}
	for (i = 0; i < contexts && !ret; i++)
		ret = submit(&jobs[i]);
	for (i = 0; i < contexts && !ret; i++)
		ret = check(&jobs[i], output, hash);
	return ret;
}

/* ---- hostile dispatches ---- */

/* In the descriptor of a group that waits at barriers. */
static void one_thread_more(void)
{
	program.descriptor[6]++;
}

static void output_is_code(void)
{
	emu_kernel_state(program.state, CODE_ADDRESS, STATE_ADDRESS, CODE_ADDRESS);
}

static const struct {
	const char *name;
	enum emu_kernel kernel;
	void (*change)(void);
	uint32_t *random; /* a few bits of it are the other way round */
	unsigned int dwords;
} kinds[] = {
	{ "wild stores", EMU_KERNEL_WILD, NULL, NULL, 0 },
	{ "no instruction", EMU_KERNEL_UNSUPPORTED, NULL, NULL, 0 },
	{ "no end", EMU_KERNEL_ENDLESS, NULL, NULL, 0 },
	{ "too few threads for a barrier", EMU_KERNEL_SHARES, one_thread_more, NULL, 0 },
	{ "code that changes itself", EMU_KERNEL_ADDS, output_is_code, NULL, 0 },
	{ "random code", EMU_KERNEL_ADDS, NULL, program.code, 24 * 4 },
	{ "random code with barriers", EMU_KERNEL_SHARES, NULL, program.code, 64 * 4 },
	{ "a random descriptor", EMU_KERNEL_SHARES, NULL, program.descriptor, 8 },
	/* The headers stay: these are about kernels. */
	{ "a random walker", EMU_KERNEL_ADDS, NULL, program.walker + 1, EMU_WALKER_DWORDS - 1 },
	{ "random base addresses", EMU_KERNEL_ADDS, NULL, program.state + 1, 18 },
	{ "a random state of the pipeline", EMU_KERNEL_SHARES, NULL, program.state + 20, 8 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void write_hostile(struct random *random, unsigned int kind)
{
	unsigned int flips = kinds[kind].random ? random_range(random, 1, FLIPS_MAX) : 0;

	kernel = kinds[kind].kernel;
	write_program();
	if (kinds[kind].change)
		kinds[kind].change();
	while (flips--)
		kinds[kind].random[random_range(random, 0, kinds[kind].dwords - 1)] ^=
			1u << random_range(random, 0, 31);
}

/* In a file of its own: i915 bans one whose contexts hang too often. */
static int dispatch_hostile(unsigned int *guilty)
{
	struct job job;
	int ret = gem_open(&job.gem);

	if (ret)
		return ret;
	ret = make_objects(&job);
	if (!ret)
		ret = submit(&job);
	if (!ret)
		ret = gem_wait(&job.gem, job.batch, TIMEOUT_S);
	if (!ret)
		ret = gem_guilty(&job.gem);
	gem_close(&job.gem);
	if (ret > 0)
		++*guilty;
	return ret < 0 ? ret : 0;
}

static int run_hostile(void)
{
	unsigned int guilty[KINDS] = { 0 }, n;
	struct random random;
	int ret = 0;

	random_seed(&random, seed);
	for (n = 0; n < hostile && !ret; n++) {
		write_hostile(&random, (seed + n) % KINDS);
		ret = dispatch_hostile(&guilty[(seed + n) % KINDS]);
	}
	for (n = 0; n < KINDS; n++)
		printf("eucheck: %s: %u guilty\n", kinds[n].name, guilty[n]);
	if (ret)
		printf("eucheck: %s\n", strerror(-ret));
	return ret ? EXIT_WRONG : 0;
}

int main(int argc, char **argv)
{
	static struct job jobs[CONTEXTS];
	uint32_t *output, hash = 2166136261u;
	unsigned int i;
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (hostile)
		return run_hostile();
	for (i = 0; i < PAGE_BYTES / 4; i++)
		page[i] = page_content(i);
	write_program();
	ret = gem_open(&jobs[0].gem);
	if (ret == -ENODEV)
		return EXIT_NO_DEVICE;
	for (i = 1; i < contexts && !ret; i++)
		ret = gem_another_context(&jobs[0].gem, &jobs[i].gem);
	for (i = 0; i < contexts && !ret; i++)
		ret = make_objects(&jobs[i]);
	output = malloc(output_bytes());
	if (!output)
		ret = -ENOMEM;
	for (i = 0; i < rounds && !ret; i++)
		ret = run_round(jobs, output, &hash);
	if (ret)
		printf("eucheck: %s\n", strerror(-ret));
	else
		printf("eucheck: %u dispatches of %u groups, hash %08x\n", rounds * contexts,
		       groups, hash);
	free(output);
	return ret ? EXIT_WRONG : 0;
}
