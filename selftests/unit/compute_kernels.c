// SPDX-License-Identifier: GPL-2.0-only
#include "compute_kernels.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <linux/mm.h>
#include "../../userspace/eud/execute.h"
#include "../native/emu_kernels.h"

#define CODE_BYTES (1u << 20)

static void *map(void *context, uint64_t address, enum eu_access access)
{
	static u8 zeros[EU_PAGE_BYTES], sink[EU_PAGE_BYTES];
	struct unit *unit = context;
	struct softgpu_worker_fault fault = {
		.address = address,
		.write = access == EU_ACCESS_WRITE,
		.pages = 1,
	};

	if (softgpu_worker_translate(unit->worker, &fault))
		return NULL;
	mutex_unlock(&unit->worker->insert);
	if (!fault.drops)
		return fault.zeros ? zeros : fault.pointers[0];
	memcpy(sink, fault.zeros ? zeros : fault.pointers[0], sizeof(sink));
	return sink;
}

static const struct eu_memory_ops memory_ops = { .map = map };

void kernels_execute(struct unit *unit, struct ghyvi_eu_next *next)
{
	struct eud *eud = calloc(1, sizeof(*eud));

	*eud = (struct eud){
		.control = unit->worker->control,
		.cache = eu_cache_create(CODE_BYTES),
		.memory = { .ops = &memory_ops, .context = unit },
		.group = malloc(GHYVI_EU_GROUP_BYTES),
	};
	next->group_bytes = unit->group ? unit->group->bytes : 0;
	if (unit->group)
		memcpy(eud->group, unit->group->data, next->group_bytes);
	eud_execute(eud, next);
	kvfree(unit->group);
	unit->group = NULL;
	if (next->status == GHYVI_EU_YIELDED && next->group_bytes) {
		unit_yield(unit, next, next->group_bytes, 0);
		memcpy(unit->group->data, eud->group, next->group_bytes);
	}
	eu_cache_destroy(eud->cache);
	free(eud->group);
	free(eud);
}

void kernels_put(void *code, void *descriptor, bool endless)
{
	emu_kernel_put(endless ? EMU_KERNEL_ENDLESS : EMU_KERNEL_SHARES, code);
	emu_kernel_descriptor(descriptor);
	emu_kernel_share(descriptor, NULL);
}

unsigned int kernels_commands(u32 *commands, u64 output, u64 descriptor, u64 code, u32 groups)
{
	emu_kernel_state(commands, output, descriptor, code);
	emu_kernel_walker(commands + EMU_STATE_DWORDS, groups);
	emu_kernel_share(NULL, commands + EMU_STATE_DWORDS);
	return EMU_STATE_DWORDS + EMU_WALKER_DWORDS;
}

u32 kernels_result(u32 group, unsigned int lane)
{
	uint32_t result[8];

	emu_kernel_shares_result(group, result);
	return result[lane];
}

static void flip_bits(u32 *dwords, unsigned int count, unsigned int *seed)
{
	unsigned int flips = 1 + rand_r(seed) % 4;

	while (flips--)
		dwords[rand_r(seed) % count] ^= 1u << rand_r(seed) % 32;
}

unsigned int kernels_hostile(void *code, void *descriptor, u32 *commands, u64 output,
			     u64 descriptor_address, u64 code_address, unsigned int *seed)
{
	const enum emu_kernel kernel = rand_r(seed) % (EMU_KERNEL_COPIES + 1);
	const size_t bytes = emu_kernel_put(kernel, code);
	u32 *walker = commands + EMU_STATE_DWORDS;

	emu_kernel_descriptor(descriptor);
	emu_kernel_state(commands, output, descriptor_address, code_address);
	emu_kernel_walker(walker, 4);
	if (kernel == EMU_KERNEL_SHARES)
		emu_kernel_share(descriptor, walker);
	/* Headers stay as they are: the rest is what a guest can do by kernels alone. */
	switch (rand_r(seed) % 5) {
	case 0:
		flip_bits(descriptor, 8, seed);
		break;
	case 1:
		flip_bits(walker + 1, EMU_WALKER_DWORDS - 1, seed);
		break;
	case 2:
		flip_bits(commands + 1, 18, seed); /* STATE_BASE_ADDRESS */
		break;
	default:
		flip_bits(code, bytes / sizeof(u32), seed);
	}
	return EMU_STATE_DWORDS + EMU_WALKER_DWORDS;
}
