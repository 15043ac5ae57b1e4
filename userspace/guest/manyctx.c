// SPDX-License-Identifier: GPL-2.0-only
/*
 * manyctx: many contexts, each with an address space that maps the whole of one object. That needs
 * little memory for any amount of mappings. The blitter fills one line of the object through each
 * context in turn, and all lines must have the expected content.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gem.h"
#include "options.h"

#define BATCH_ADDRESS 0x40000000ull
#define TARGET_ADDRESS 0x100000000ull
#define LINE_PIXELS 16u
#define LINE_BYTES (LINE_PIXELS * 4)
#define CONTEXTS_MAX 4096u
#define MIB_MAX 1024u
#define ROUNDS_MAX 1000u
#define TIMEOUT_S 600
#define EXIT_WRONG 1
#define EXIT_NO_DEVICE 2

static unsigned int contexts = 512, mib = 32, rounds = 2;

static const struct argp_option options[] = {
	{ "contexts", 'c', "N", 0, "Number of contexts, 1 to 4096 (default 512)", 0 },
	{ "mib", 'm', "N", 0, "MiB that each context maps, 1 to 1024 (default 32)", 0 },
	{ "rounds", 'r', "N", 0, "Batches per context, 1 to 1000 (default 2)", 0 },
	{ 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'c':
		contexts = parse_number(state, argument, 1, CONTEXTS_MAX);
		return 0;
	case 'm':
		mib = parse_number(state, argument, 1, MIB_MAX);
		return 0;
	case 'r':
		rounds = parse_number(state, argument, 1, ROUNDS_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Submit batches in many GPU contexts, each of which maps one large object.\v"
	       "Exit status: 0 success, 1 a line is wrong or the driver failed, 2 no i915 GPU.",
};

/* Lines are distributed over the object, and therefore over its page tables. */
static uint32_t line_offset(unsigned int number)
{
	return (uint64_t)number * (((uint64_t)mib << 20) / contexts) / LINE_BYTES * LINE_BYTES;
}

static uint32_t color_of(unsigned int number, unsigned int round)
{
	return number << 12 | round << 1 | 1;
}

static int fill(struct gem *gem, uint32_t target, uint32_t commands, unsigned int number,
		unsigned int round)
{
	static struct batch batch;
	struct surface s = {
		.pixel_bytes = 4,
		.width = LINE_PIXELS,
		.height = 1,
		.pitch = LINE_BYTES,
		.offset = line_offset(number),
		.object_bytes = mib << 20,
	};
	const struct blit blit = {
		.op = BLIT_COLOR,
		.x2 = LINE_PIXELS,
		.y2 = 1,
		.rop = ROP_PATTERN,
		.color = color_of(number, round),
		.write_mask = ~0u,
	};
	int state = -1;

	batch_init(&batch, true);
	batch_object(&batch, target, TARGET_ADDRESS, true);
	batch_blit(&batch, &s, &blit, &state);
	return batch_submit(&batch, gem, commands, BATCH_ADDRESS, I915_EXEC_BLT);
}

static int check(const struct gem *gem, uint32_t target, unsigned int number, unsigned int round)
{
	uint32_t line[LINE_PIXELS];
	int ret = gem_read(gem, target, line_offset(number), line, sizeof(line));

	for (unsigned int i = 0; !ret && i < LINE_PIXELS; i++) {
		if (line[i] != color_of(number, round)) {
			printf("context %u, round %u: pixel %u is %08x, not %08x\n", number, round,
			       i, line[i], color_of(number, round));
			ret = -EILSEQ;
		}
	}
	return ret;
}

static int run_round(struct gem *gems, uint32_t target, const uint32_t *commands,
		     unsigned int round)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < contexts; i++)
		ret = fill(&gems[i], target, commands[i], i, round);
	if (!ret)
		ret = gem_wait(gems, target, TIMEOUT_S);
	for (i = 0; !ret && i < contexts; i++)
		ret = check(gems, target, i, round);
	return ret;
}

static int run(struct gem *gems, uint32_t *commands)
{
	unsigned int i, round;
	uint32_t target = 0;
	int ret;

	ret = gem_create(gems, (uint64_t)mib << 20, &target);
	for (i = 0; !ret && i < contexts; i++) {
		ret = i ? gem_another_context(gems, &gems[i]) : 0;
		if (!ret)
			ret = gem_create(gems, BATCH_BYTES, &commands[i]);
	}
	for (round = 0; !ret && round < rounds; round++)
		ret = run_round(gems, target, commands, round);
	return ret;
}

int main(int argc, char **argv)
{
	uint32_t *commands;
	struct gem *gems;
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	gems = calloc(contexts, sizeof(*gems));
	commands = calloc(contexts, sizeof(*commands));
	if (!gems || !commands)
		return EXIT_WRONG;
	ret = gem_open(gems);
	if (ret == -ENODEV)
		return EXIT_NO_DEVICE;
	if (!ret)
		ret = run(gems, commands);
	if (!ret)
		ret = gem_guilty(gems) ? -EIO : 0;
	printf("%u contexts, %u MiB mapped, %u batches: %s\n", contexts, contexts * mib,
	       contexts * rounds, ret ? strerror(-ret) : "all right");
	return ret ? EXIT_WRONG : 0;
}
