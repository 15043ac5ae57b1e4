// SPDX-License-Identifier: GPL-2.0-only
/*
 * registers: a register that user batches may set must keep its value while another context has
 * the engine, and the other context must not see it. i915's indirect context batch clears the bit
 * each time a context is loaded; hardware restores the register after that batch.
 *
 * Exit status: 0 as expected, 1 not, 77 no i915 device.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "gem.h"

#define MI_STORE_REGISTER_MEM (0x24u << 23 | 2)
#define COMMON_SLICE_CHICKEN2 0x7014u
#define OWN_BIT (1u << 12)
#define COMMANDS_ADDRESS 0x40000000ull
#define VALUE_ADDRESS 0x44000000ull
#define VALUE_BYTES 4096
#define SWITCHES 5
#define WAIT_S 60

static struct batch batch;
static uint32_t commands, value;

static int run(const struct gem *gem)
{
	int ret = batch_submit(&batch, gem, commands, COMMANDS_ADDRESS, I915_EXEC_RENDER);

	return ret ?: gem_wait(gem, commands, WAIT_S);
}

static int set_bit(const struct gem *gem)
{
	batch_init(&batch, true);
	batch_emit(&batch, MI_LOAD_REGISTER_IMM);
	batch_emit(&batch, COMMON_SLICE_CHICKEN2);
	batch_emit(&batch, OWN_BIT << 16 | OWN_BIT);
	return run(gem);
}

/* Whether the bit is @expected. */
static int expect_bit(const struct gem *gem, const char *name, uint32_t expected)
{
	uint32_t found;
	int ret;

	batch_init(&batch, true);
	batch_object(&batch, value, VALUE_ADDRESS, true);
	batch_emit(&batch, MI_STORE_REGISTER_MEM);
	batch_emit(&batch, COMMON_SLICE_CHICKEN2);
	batch_emit(&batch, (uint32_t)VALUE_ADDRESS);
	batch_emit(&batch, VALUE_ADDRESS >> 32);
	ret = run(gem) ?: gem_read(gem, value, 0, &found, sizeof(found));
	if (ret)
		return ret;
	printf("%s: %#x\n", name, found);
	return (found & OWN_BIT) == expected ? 0 : -EPROTO;
}

int main(void)
{
	struct gem one, other;
	int ret = gem_open(&one);

	if (ret == -ENODEV)
		return 77;
	if (!ret)
		ret = gem_another_context(&one, &other);
	if (!ret)
		ret = gem_create(&one, BATCH_BYTES, &commands);
	if (!ret)
		ret = gem_create(&one, VALUE_BYTES, &value);
	if (!ret)
		ret = set_bit(&one);
	for (unsigned int i = 0; !ret && i < SWITCHES; i++)
		ret = expect_bit(&other, "the other context", 0) ?:
			      expect_bit(&one, "the context that has set the bit", OWN_BIT);
	if (ret)
		printf("%s\n", strerror(-ret));
	return ret ? 1 : 0;
}
