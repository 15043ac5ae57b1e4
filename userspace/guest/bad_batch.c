// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invalid batches. The driver must recover the engine, and the next batch must work as usual.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "blitcheck.h"
#include "clock.h"
#include "gem.h"

#define RECOVERY_TIMEOUT_S 100 /* five heartbeats and a reset, on a slow machine */
#define BATCH_ADDRESS 0x40000000ull
#define TARGET_ADDRESS 0x48000000ull
#define NOWHERE 0x123456789000ull /* not mapped */
#define FILL_PIXELS 64
#define FILL_VALUE 0xa55a1234u

const char bad_batch_kinds[] = "unknown, loop, nowhere, badaddr, bogus-ggtt";

/*
 * Returns 0 if a fill on the blitter and an empty batch on the render engine work in a new context.
 */
static int works(void)
{
	struct surface s = {
		.pixel_bytes = 4,
		.width = FILL_PIXELS,
		.height = FILL_PIXELS,
		.pitch = FILL_PIXELS * 4,
		.object_bytes = FILL_PIXELS * FILL_PIXELS * 4,
	};
	const struct blit fill = {
		.op = BLIT_COLOR,
		.x2 = FILL_PIXELS,
		.y2 = FILL_PIXELS,
		.rop = ROP_PATTERN,
		.color = FILL_VALUE,
		.write_mask = ~0u,
	};
	static uint32_t pixels[FILL_PIXELS * FILL_PIXELS];
	static struct batch batch;
	uint32_t target = 0, commands = 0, nothing = 0;
	int ret, state = -1;
	struct gem gem;

	ret = gem_open(&gem);
	if (ret)
		return ret;
	ret = gem_create(&gem, s.object_bytes, &target);
	if (!ret)
		ret = gem_create(&gem, BATCH_BYTES, &commands);
	if (!ret)
		ret = gem_create(&gem, BATCH_BYTES, &nothing);
	if (ret)
		goto out;
	batch_init(&batch, true);
	batch_object(&batch, target, TARGET_ADDRESS, true);
	batch_blit(&batch, &s, &fill, &state);
	ret = batch_submit(&batch, &gem, commands, BATCH_ADDRESS, I915_EXEC_BLT);
	if (!ret)
		ret = gem_wait(&gem, target, RECOVERY_TIMEOUT_S);
	if (!ret)
		ret = gem_read(&gem, target, 0, pixels, sizeof(pixels));
	for (unsigned int i = 0; !ret && i < FILL_PIXELS * FILL_PIXELS; i++) {
		if (pixels[i] != FILL_VALUE) {
			printf("pixel %u is %08x, not %08x\n", i, pixels[i], FILL_VALUE);
			ret = -EILSEQ;
		}
	}
	if (ret)
		goto out;
	batch_init(&batch, true);
	ret = batch_submit(&batch, &gem, nothing, BATCH_ADDRESS, I915_EXEC_RENDER);
	if (!ret)
		ret = gem_wait(&gem, nothing, RECOVERY_TIMEOUT_S);
	if (!ret && gem_guilty(&gem))
		ret = -EIO;
out:
	gem_close(&gem);
	return ret;
}

static void emit_address(struct batch *batch, uint64_t address)
{
	batch_emit(batch, address);
	batch_emit(batch, address >> 32);
}

/* Returns the engine to submit to, or -EINVAL for an unknown @kind. */
static int64_t compose(struct batch *batch, const char *kind)
{
	if (!strcmp(kind, "unknown")) {
		/*
		 * The render engine does not support 2D commands. The reverse, a 3D command for the
		 * blitter, would not reach the engine: on Gen9 the driver's own parser rejects it.
		 */
		batch_emit(batch, XY_COLOR_BLT);
		for (int i = 0; i < 6; i++)
			batch_emit(batch, 0);
		return I915_EXEC_RENDER;
	}
	if (!strcmp(kind, "loop")) {
		batch_emit(batch, MI_ARB_CHECK);
		batch_emit(batch, MI_BATCH_BUFFER_START_PPGTT);
		emit_address(batch, BATCH_ADDRESS);
		return I915_EXEC_RENDER;
	}
	if (!strcmp(kind, "badaddr")) {
		batch_emit(batch, MI_STORE_DATA_IMM);
		emit_address(batch, NOWHERE);
		batch_emit(batch, FILL_VALUE);
		return I915_EXEC_RENDER;
	}
	if (!strcmp(kind, "nowhere")) {
		batch_emit(batch, MI_BATCH_BUFFER_START_PPGTT);
		emit_address(batch, NOWHERE);
		return I915_EXEC_RENDER;
	}
	return -EINVAL;
}

static int submit_bad(const char *kind)
{
	/* A store to an unmapped address may be an error, or it may go to the scratch page. */
	bool must_be_guilty = strcmp(kind, "badaddr");
	static struct batch batch;
	uint32_t commands = 0;
	double started = now_s();
	int64_t engine;
	struct gem gem;
	int ret, guilty;

	ret = gem_open(&gem);
	if (ret)
		return ret;
	batch_init(&batch, true);
	engine = compose(&batch, kind);
	ret = engine < 0 ? (int)engine : gem_create(&gem, BATCH_BYTES, &commands);
	if (!ret)
		ret = batch_submit(&batch, &gem, commands, BATCH_ADDRESS, engine);
	if (!ret)
		ret = gem_wait(&gem, commands, RECOVERY_TIMEOUT_S);
	if (ret) {
		printf("%s: %s\n", kind,
		       ret == -ETIME ? "the engine did not come back" : strerror(-ret));
		gem_close(&gem);
		return ret;
	}
	guilty = gem_guilty(&gem);
	printf("%s: the engine came back after %.1f s, context found guilty %d times\n", kind,
	       now_s() - started, guilty);
	gem_close(&gem);
	return must_be_guilty && guilty < 1 ? -ENOMSG : 0;
}

/* ---- GGTT entries that map addresses outside of guest memory (needs root in the guest) ---- */

#define BAR0 "/sys/bus/pci/devices/0000:00:02.0/resource0"
#define PVINFO 0x78000
#define PVINFO_HIDDEN_BASE 0x48
#define PVINFO_HIDDEN_SIZE 0x4c
#define GGTT_OFFSET (8u << 20)
#define BAR0_BYTES (16u << 20)
#define ENTRY_PRESENT 1u
#define BOGUS 64 /* number of entries */

static volatile uint8_t *map_bar0(void)
{
	int fd = open(BAR0, O_RDWR | O_SYNC | O_CLOEXEC);
	void *bar = MAP_FAILED;

	if (fd >= 0) {
		bar = mmap(NULL, BAR0_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	return bar == MAP_FAILED ? NULL : bar;
}

static int bogus_ggtt(void)
{
	/* Beyond all memory; local APIC; possible BAR0; I/O APIC; beyond memory; possible BAR0. */
	static const uint64_t targets[] = { 0x7ffffff000, 0xfee00000,	0xfe000000,
					    0xfec00000,	  0x7f00000000, 0xfd800000 };
	volatile uint8_t *bar = map_bar0();
	volatile uint64_t *entries;
	uint64_t saved[BOGUS];
	uint32_t base, size;
	int ret;

	/* i915 maps the GGTT write-combining; then the kernel rejects a mapping of another type. */
	if (!bar) {
		printf("bogus-ggtt: cannot map BAR0: %s (must begin without i915 loaded)\n",
		       strerror(errno));
		return -EBUSY;
	}
	if (system("modprobe i915"))
		return -ENODEV;
	base = *(volatile uint32_t *)(bar + PVINFO + PVINFO_HIDDEN_BASE);
	size = *(volatile uint32_t *)(bar + PVINFO + PVINFO_HIDDEN_SIZE);
	if (size < 2 * BOGUS * PAGE_BYTES) {
		printf("bogus-ggtt: hidden range of %u bytes\n", size);
		return -ERANGE;
	}
	/* The driver allocates from both ends of the range, so its middle is unused. */
	entries =
		(volatile uint64_t *)(bar + GGTT_OFFSET) + (base + (uint64_t)size / 2) / PAGE_BYTES;
	for (int i = 0; i < BOGUS; i++) {
		saved[i] = entries[i];
		entries[i] = targets[i % (sizeof(targets) / sizeof(targets[0]))] | ENTRY_PRESENT;
	}
	ret = works();
	for (int i = 0; i < BOGUS; i++)
		entries[i] = saved[i];
	printf("bogus-ggtt: %d entries at %#x: %s\n", BOGUS, base + size / 2,
	       ret ? strerror(-ret) : "no harm");
	return ret;
}

int bad_batch(const char *kind)
{
	int ret = strcmp(kind, "bogus-ggtt") ? submit_bad(kind) : bogus_ggtt();

	if (ret == -ENODEV)
		return EXIT_NO_DEVICE;
	if (ret == -EINVAL)
		printf("%s is none of: %s\n", kind, bad_batch_kinds);
	if (ret == -ENOMSG)
		printf("%s: no reset was needed: the batch was not seen as bad\n", kind);
	if (ret && ret != -ENOMSG)
		return EXIT_TROUBLE;
	if (works()) {
		printf("%s: the next batch does not work\n", kind);
		return EXIT_TROUBLE;
	}
	printf("%s: the next batch works\n", kind);
	return ret ? EXIT_MISMATCH : EXIT_RIGHT;
}
