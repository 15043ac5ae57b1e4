// SPDX-License-Identifier: GPL-2.0-only
/*
 * gttmap: objects that the CPU accesses through the GPU's aperture (GTT mappings). What is written
 * through the mapping must be what the kernel reads from the object's pages and what the blitter
 * copies, and the reverse. Objects that exceed the aperture together move in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>
#include "gem.h"
#include "options.h"

#define OBJECTS 64u
#define KIB_MAX (256u << 10)
#define ROUNDS_MAX 1000u
#define STRIDE_MAX (1u << 20)
#define PAGE_BYTES 4096u
#define BATCH_ADDRESS 0x40000000ull
#define OBJECT_ADDRESS 0x100000000ull
#define LINE_PIXELS 16u
#define TIMEOUT_S 60
#define EXIT_WRONG 1
#define EXIT_NO_DEVICE 2
#define EXIT_REFUSED 3

struct object {
	uint32_t handle;
	volatile uint32_t *map;
};

static unsigned int objects = 1, kib = 64, rounds = 1, stride = 64;
static int hold;
static unsigned long accesses;

static const struct argp_option options[] = {
	{ "objects", 'o', "N", 0, "Number of objects, 1 to 64 (default 1)", 0 },
	{ "kib", 'k', "N", 0, "KiB of each object, 4 to 262144 (default 64)", 0 },
	{ "rounds", 'r', "N", 0, "Rounds, 1 to 1000 (default 1)", 0 },
	{ "stride", 's', "BYTES", 0, "Bytes between words, 4 to 1048576 (default 64)", 0 },
	{ "hold", 'h', NULL, 0, "Access the mapping until the program is killed", 0 },
	{ 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	switch (key) {
	case 'o':
		objects = parse_number(state, argument, 1, OBJECTS);
		return 0;
	case 'k':
		kib = parse_number(state, argument, 4, KIB_MAX) & ~3u;
		return 0;
	case 'r':
		rounds = parse_number(state, argument, 1, ROUNDS_MAX);
		return 0;
	case 's':
		stride = parse_number(state, argument, 4, STRIDE_MAX) & ~3u;
		return 0;
	case 'h':
		hold = 1;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Access GEM objects through GTT mappings, and compare with other accesses.\v"
	       "Exit status: 0 success, 1 a word is wrong or the driver failed, 2 no i915 GPU, "
	       "3 the driver refuses GTT mappings.",
};

static uint64_t bytes(void)
{
	return (uint64_t)kib << 10;
}

static int map_object(const struct gem *gem, struct object *object)
{
	struct drm_i915_gem_mmap_offset offset = { .handle = object->handle,
						   .flags = I915_MMAP_OFFSET_GTT };
	void *map;

	if (drmIoctl(gem->fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset))
		return -errno;
	map = mmap(NULL, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, gem->fd, offset.offset);
	if (map == MAP_FAILED)
		return -errno;
	object->map = map;
	return 0;
}

/* The driver may have evicted the object from the aperture, or the GPU may be using it. */
static int begin_access(const struct gem *gem, const struct object *object)
{
	struct drm_i915_gem_set_domain domain = { .handle = object->handle,
						  .read_domains = I915_GEM_DOMAIN_GTT,
						  .write_domain = I915_GEM_DOMAIN_GTT };

	return drmIoctl(gem->fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain) ? -errno : 0;
}

static uint32_t word_of(unsigned int number, unsigned int round, uint64_t offset)
{
	return (number + 1) * 0x01000193u ^ round * 0x9e3779b9u ^ (uint32_t)offset;
}

static int differs(const char *access, unsigned int number, unsigned int round, uint64_t offset,
		   uint32_t is)
{
	uint32_t should = word_of(number, round, offset);

	if (is == should)
		return 0;
	printf("object %u, round %u: word at %#llx is %08x %s, not %08x\n", number, round,
	       (unsigned long long)offset, is, access, should);
	return -EILSEQ;
}

static int write_by_mapping(const struct gem *gem, const struct object *object, unsigned int number,
			    unsigned int round)
{
	uint64_t at;
	int ret = begin_access(gem, object);

	for (at = 0; !ret && at < bytes(); at += stride, accesses++)
		object->map[at / 4] = word_of(number, round, at);
	return ret;
}

static int check_by_mapping(const struct gem *gem, const struct object *object, unsigned int number,
			    unsigned int round)
{
	uint64_t at;
	int ret = begin_access(gem, object);

	for (at = 0; !ret && at < bytes(); at += stride, accesses++)
		ret = differs("through the aperture", number, round, at, object->map[at / 4]);
	return ret;
}

static int write_by_kernel(const struct gem *gem, const struct object *object, unsigned int number,
			   unsigned int round)
{
	uint32_t word;
	uint64_t at;
	int ret = 0;

	for (at = 0; !ret && at < bytes(); at += stride) {
		word = word_of(number, round, at);
		ret = gem_write(gem, object->handle, at, &word, sizeof(word));
	}
	return ret;
}

static int check_by_kernel(const struct gem *gem, const struct object *object, unsigned int number,
			   unsigned int round)
{
	uint32_t word;
	uint64_t at;
	int ret = 0;

	for (at = 0; !ret && at < bytes(); at += stride) {
		ret = gem_read(gem, object->handle, at, &word, sizeof(word));
		if (!ret)
			ret = differs("in memory", number, round, at, word);
	}
	return ret;
}

/* The blitter fills a line of the last page; the CPU sees it through the mapping. */
static int check_blit(const struct gem *gem, const struct object *object, uint32_t commands,
		      uint32_t color)
{
	static struct batch batch;
	uint32_t offset = bytes() - PAGE_BYTES;
	struct surface s = {
		.pixel_bytes = 4,
		.width = LINE_PIXELS,
		.height = 1,
		.pitch = LINE_PIXELS * 4,
		.offset = offset,
		.object_bytes = bytes(),
	};
	const struct blit blit = {
		.op = BLIT_COLOR,
		.x2 = LINE_PIXELS,
		.y2 = 1,
		.rop = ROP_PATTERN,
		.color = color,
		.write_mask = ~0u,
	};
	unsigned int i;
	int state = -1, ret;

	batch_init(&batch, true);
	batch_object(&batch, object->handle, OBJECT_ADDRESS, true);
	batch_blit(&batch, &s, &blit, &state);
	ret = batch_submit(&batch, gem, commands, BATCH_ADDRESS, I915_EXEC_BLT);
	if (!ret)
		ret = gem_wait(gem, object->handle, TIMEOUT_S);
	if (!ret)
		ret = begin_access(gem, object);
	for (i = 0; !ret && i < LINE_PIXELS; i++, accesses++) {
		if (object->map[offset / 4 + i] == color)
			continue;
		printf("pixel %u is %08x, not %08x\n", i, object->map[offset / 4 + i], color);
		ret = -EILSEQ;
	}
	return ret;
}

static int run_round(const struct gem *gem, const struct object *all, uint32_t commands,
		     unsigned int round)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < objects; i++)
		ret = write_by_mapping(gem, &all[i], i, 2 * round);
	for (i = 0; !ret && i < objects; i++)
		ret = check_by_mapping(gem, &all[i], i, 2 * round);
	for (i = 0; !ret && i < objects; i++)
		ret = check_by_kernel(gem, &all[i], i, 2 * round);
	for (i = 0; !ret && i < objects; i++)
		ret = write_by_kernel(gem, &all[i], i, 2 * round + 1);
	for (i = 0; !ret && i < objects; i++)
		ret = check_by_mapping(gem, &all[i], i, 2 * round + 1);
	for (i = 0; !ret && i < objects; i++)
		ret = check_blit(gem, &all[i], commands, 0xc0000000 | round << 8 | i);
	return ret;
}

static void access_for_ever(const struct object *object)
{
	uint64_t at;

	printf("accessing\n");
	fflush(stdout);
	for (at = 0;; at = (at + PAGE_BYTES) % bytes())
		object->map[at / 4]++;
}

static int run(const struct gem *gem)
{
	struct object all[OBJECTS] = { 0 };
	unsigned int i, round;
	uint32_t commands = 0;
	int ret;

	ret = gem_create(gem, BATCH_BYTES, &commands);
	for (i = 0; !ret && i < objects; i++) {
		ret = gem_create(gem, bytes(), &all[i].handle);
		if (!ret)
			ret = map_object(gem, &all[i]);
	}
	if (!ret && hold)
		access_for_ever(&all[0]);
	for (round = 0; !ret && round < rounds; round++)
		ret = run_round(gem, all, commands, round);
	return ret;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double begin;
	struct gem gem;
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	ret = gem_open(&gem);
	if (ret == -ENODEV)
		return EXIT_NO_DEVICE;
	begin = seconds();
	if (!ret)
		ret = run(&gem);
	if (ret == -ENODEV || ret == -EOPNOTSUPP) {
		printf("GTT mappings are refused: %s\n", strerror(-ret));
		return EXIT_REFUSED;
	}
	printf("%u objects of %u KiB, %u rounds, %lu accesses in %.2f s: %s\n", objects, kib,
	       rounds, accesses, seconds() - begin, ret ? strerror(-ret) : "all right");
	return ret ? EXIT_WRONG : 0;
}
