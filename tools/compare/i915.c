// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blitter of an i915 GPU: in a guest, that of a vGPU. A buffer is a surface of whole rows.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "gem.h"
#include "transfer.h"

#define ROW_BYTES 16384u /* a pitch has 15 bits */
#define ROWS_MAX 32767u /* a coordinate, too */
#define WAIT_S 60

static struct gem gem;
static uint32_t buffers[2], commands;

static int check(int ret, const char *what)
{
	if (ret)
		fprintf(stderr, "%s: %s\n", what, strerror(-ret));
	return ret;
}

static int i915_open(size_t bytes)
{
	int ret;

	if (bytes % ROW_BYTES || bytes / ROW_BYTES > ROWS_MAX)
		return check(-EINVAL, "size");
	ret = check(gem_open(&gem), "device");
	for (int i = 0; !ret && i < 2; i++)
		ret = gem_create(&gem, bytes, &buffers[i]);
	return ret ? ret : check(gem_create(&gem, BATCH_BYTES, &commands), "buffers");
}

static int i915_write(const void *data, size_t bytes)
{
	return check(gem_write(&gem, buffers[0], 0, data, bytes), "write");
}

static int i915_read(void *data, size_t bytes)
{
	return check(gem_read(&gem, buffers[1], 0, data, bytes), "read");
}

/* From the first buffer to the second one, or a fill of the second one. */
static int blit(enum blit_op op, uint8_t value, size_t bytes)
{
	static struct batch batch;
	const struct surface surface = {
		.pixel_bytes = 4,
		.width = ROW_BYTES / 4,
		.height = bytes / ROW_BYTES,
		.pitch = ROW_BYTES,
		.object_bytes = bytes,
	};
	const struct surface surfaces[2] = { surface, surface };
	const struct blit one = {
		.op = op,
		.dst = 1,
		.x2 = surface.width,
		.y2 = surface.height,
		.rop = op == BLIT_COLOR ? ROP_PATTERN : ROP_SOURCE,
		.color = value * 0x01010101u,
		.write_mask = ~0u,
	};
	int ret, state = -1;

	batch_init(&batch, false);
	batch_object(&batch, buffers[0], 0, false);
	batch_object(&batch, buffers[1], 0, true);
	batch_blit(&batch, surfaces, &one, &state);
	ret = batch_submit(&batch, &gem, commands, 0, I915_EXEC_BLT);
	return check(ret ? ret : gem_wait(&gem, buffers[1], WAIT_S), "blit");
}

static int i915_copy(size_t bytes)
{
	return blit(BLIT_COPY, 0, bytes);
}

static int i915_fill(uint8_t value, size_t bytes)
{
	return blit(BLIT_COLOR, value, bytes);
}

static int i915_launch(void)
{
	static struct batch batch;
	int ret;

	batch_init(&batch, false);
	ret = batch_submit(&batch, &gem, commands, 0, I915_EXEC_BLT);
	return check(ret ? ret : gem_wait(&gem, commands, WAIT_S), "launch");
}

static void i915_close(void)
{
	gem_close(&gem);
}

const struct transfer_backend transfer_backend = {
	.name = "i915",
	.open = i915_open,
	.write = i915_write,
	.read = i915_read,
	.copy = i915_copy,
	.fill = i915_fill,
	.launch = i915_launch,
	.close = i915_close,
};
