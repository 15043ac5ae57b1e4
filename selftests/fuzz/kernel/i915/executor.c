// SPDX-License-Identifier: GPL-2.0-only
/*
 * executor EXCHANGE: executes inputs of fuzz_i915.c, which are sequences of i915's ioctls, each on
 * a new file of the driver. After each a valid batch must do what it says, and memory of another
 * file must be what it was. EXCHANGE is struct exchange: a file, or the BAR of a PCI device.
 *
 * Where the module points is loaded (selftests/fuzz/kernel/points), its counters are passed on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exchange.h"
#include "executor.h"
#include "gem.h"

#define CALLS_MAX 32u
#define GUARD_BYTES (64u << 10)
#define GUARD_BYTE 0x5a
#define VALUE 0x600d0000u
#define VALID_LIMIT_S 60 /* in which i915 resets what the input has left hanging */
#define POLL_US 200

static struct exchange *exchange;
static uint8_t *counters;

static struct {
	struct gem gem;
	uint32_t object;
} guard;

static int guard_make(void)
{
	static uint8_t bytes[GUARD_BYTES];
	int ret = gem_open(&guard.gem);

	memset(bytes, GUARD_BYTE, sizeof(bytes));
	if (!ret)
		ret = gem_create(&guard.gem, GUARD_BYTES, &guard.object);
	return ret ? ret : gem_write(&guard.gem, guard.object, 0, bytes, GUARD_BYTES);
}

static bool guard_changed(void)
{
	static uint8_t bytes[GUARD_BYTES];

	if (gem_read(&guard.gem, guard.object, 0, bytes, GUARD_BYTES))
		return true;
	for (unsigned int i = 0; i < GUARD_BYTES; i++)
		if (bytes[i] != GUARD_BYTE)
			return true;
	return false;
}

/* A store by one engine after the other, in a new file and context. */
static int store(uint32_t value, uint32_t *found)
{
	static const uint64_t engines[] = { I915_EXEC_RENDER, I915_EXEC_BLT, I915_EXEC_BSD,
					    I915_EXEC_VEBOX };
	static struct batch batch;
	uint32_t target = 0, commands = 0;
	struct gem gem;
	int ret = gem_open(&gem);

	if (ret)
		return ret;
	ret = gem_create(&gem, 4096, &target);
	if (!ret)
		ret = gem_create(&gem, BATCH_BYTES, &commands);
	batch_init(&batch, false);
	batch_object(&batch, target, 0, true);
	batch_emit(&batch, MI_STORE_DATA_IMM);
	batch_address(&batch, 0, 0, true);
	batch_emit(&batch, value);
	if (!ret)
		ret = batch_submit(&batch, &gem, commands, 0, engines[value % 4]);
	if (!ret)
		ret = gem_wait(&gem, target, VALID_LIMIT_S);
	if (!ret)
		ret = gem_read(&gem, target, 0, found, 4);
	gem_close(&gem);
	return ret;
}

static enum verdict judge(uint32_t number)
{
	uint32_t value = VALUE + number % 0x10000, found = 0;
	int ret = store(value, &found);

	if (ret) {
		fprintf(stderr, "executor: a valid batch: %s\n", strerror(-ret));
		return I915_FAILED;
	}
	if (found != value) {
		fprintf(stderr, "executor: a store wrote 0x%x, not 0x%x\n", found, value);
		return STORE_MISSING;
	}
	return guard_changed() ? MEMORY_CHANGED : FINE;
}

static enum verdict execute(uint32_t number)
{
	static uint8_t input[INPUT_BYTES];
	uint32_t bytes = exchange->bytes < INPUT_BYTES ? exchange->bytes : INPUT_BYTES;

	memcpy(input, exchange->input, bytes);
	choices_begin(input, bytes);
	if (counters)
		memset(counters, 0, COUNTERS_BYTES);
	if (!calls_begin())
		return I915_FAILED;
	for (unsigned int i = 0; i < CALLS_MAX && choices_left(); i++)
		call_any();
	calls_end();
	if (counters)
		memcpy(exchange->counters, counters, COUNTERS_BYTES);
	return judge(number);
}

static void *map_file(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR);
	void *at = fd < 0 ? MAP_FAILED :
			    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

int main(int argc, char **argv)
{
	uint32_t asked;

	exchange = argc == 2 ? map_file(argv[1], EXCHANGE_BYTES) : NULL;
	if (!exchange || guard_make()) {
		fprintf(stderr, "executor: no exchange, or no i915: %s\n", strerror(errno));
		return 2;
	}
	counters = map_file("/dev/points", COUNTERS_BYTES);
	__atomic_store_n(&exchange->ready, 1, __ATOMIC_RELEASE);
	for (;;) {
		while ((asked = __atomic_load_n(&exchange->asked, __ATOMIC_ACQUIRE)) ==
		       exchange->done)
			usleep(POLL_US);
		exchange->verdict = execute(asked);
		__atomic_store_n(&exchange->done, asked, __ATOMIC_RELEASE);
	}
}
