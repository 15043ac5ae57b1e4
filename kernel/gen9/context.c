// SPDX-License-Identifier: GPL-2.0-only
/*
 * Context images. Each context of a guest has a private image in host memory, which only hardware
 * and this file write. A guest contributes the values of registers that contexts save and commands
 * may write, and nothing else: no batch state, no commands of the image.
 *
 * The image of a new context is the default state, which a context of the host has left after the
 * last full reset. So no context inherits the registers of the one before it.
 */
#include <linux/bsearch.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <ghyvi/commands.h>
#include "gen9.h"

#define LRI_HEADER(count, flags) (MI_LOAD_REGISTER_IMM(count) | (flags))
#define LRI_COUNT(header) (((header) % 0x100) / 2 + 1)
#define ADDRESSING_4_LEVELS ((u64)INTEL_LEGACY_64B_CONTEXT << GEN8_CTX_ADDRESSING_MODE_SHIFT)
#define ID_SHIFT 37

/* Registers of the first two lists of an image (i915: gen9_xcs_offsets). */
static const u16 ring_list[] = { 0x244, 0x034, 0x030, 0x038, 0x03c, 0x168, 0x140,
				 0x110, 0x11c, 0x114, 0x118, 0x1c0, 0x1c4, 0x1c8 };
static const u16 ppgtt_list[] = { 0x3a8, 0x28c, 0x288, 0x284, 0x280, 0x27c, 0x278, 0x274, 0x270 };

u32 gen9_state_dwords(const struct gen9_engine *engine)
{
	return (engine->image_pages - 1) * (GHYVI_PAGE_BYTES / sizeof(u32));
}

/* The image of the render engine, and the batch behind it. */
static unsigned int window_pages(const struct gen9_engine *engine)
{
	return engine->image_pages + (engine->id == GHYVI_RCS ? 1 : 0);
}

/*
 * Hardware tells contexts apart by an id in bits 52:32, of which i915 uses 52:37; the bits behind
 * are reserved. No two contexts have an image at the same place.
 */
static u64 id_of(const struct gen9_window *image)
{
	u64 place = (image->ggtt >> GHYVI_PAGE_SHIFT) % GEN9_HOST_GGTT_PAGES;

	return (place + 1) << ID_SHIFT;
}

static void set_descriptor(struct gen9_context *context)
{
	context->descriptor = GEN8_CTX_VALID | GEN8_CTX_PRIVILEGE | ADDRESSING_4_LEVELS |
			      context->image->ggtt | id_of(context->image);
}

struct gen9_context *gen9_context_alloc(struct gen9_engine *engine, struct gen9_client *client)
{
	struct gen9_context *context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	struct gen9 *gpu = engine->gpu;

	if (!context)
		return NULL;
	INIT_LIST_HEAD(&context->batches);
	context->base.engine = engine->id;
	context->base.client = client ? &client->base : NULL;
	context->image = gen9_window_get(gpu, client, window_pages(engine));
	if (!context->image) {
		kfree(context);
		return NULL;
	}
	set_descriptor(context);
	return context;
}

void gen9_context_put_batches(struct gen9_context *context, struct gen9 *gpu)
{
	struct gen9_window *batch, *next;

	list_for_each_entry_safe(batch, next, &context->batches, node)
		gen9_window_put(gpu, batch);
}

void gen9_context_free(struct gen9_context *context, struct gen9 *gpu)
{
	gen9_context_put_batches(context, gpu);
	gen9_window_put(gpu, context->ring);
	gen9_window_put(gpu, context->pml4);
	gen9_window_put(gpu, context->image);
	kfree(context);
}

/* Contexts stay, so they leave a part of the share to rings and batches. */
static bool has_room(const struct gen9_engine *engine, struct gen9_client *client)
{
	return gen9_windows_have_room(client, window_pages(engine) + client->share / 2);
}

struct ghyvi_pgpu_context *gen9_context_create(struct ghyvi_pgpu_client *handle,
					       enum ghyvi_engine_id id, u32 lrca)
{
	struct gen9_client *client = gen9_client(handle);
	struct gen9_engine *engine = &client->gpu->engines[id];
	struct gen9_context *context;

	if (!has_room(engine, client))
		return ERR_PTR(-ENOMEM);
	context = gen9_context_alloc(engine, client);
	if (!context)
		return ERR_PTR(-ENOMEM);
	context->base.lrca = lrca;
	return &context->base;
}

void gen9_context_destroy(struct ghyvi_pgpu_context *context)
{
	gen9_context_free(gen9_context(context), gen9_client(context->client)->gpu);
}

/*
 * The state is in the pages of the image. Addresses for them are scarce, memory is not, and is the
 * guest's.
 */
void gen9_context_unmap(struct ghyvi_pgpu_context *base)
{
	struct gen9_context *context = gen9_context(base);
	struct gen9 *gpu = gen9_client(base->client)->gpu;

	gen9_context_put_batches(context, gpu);
	gen9_window_put(gpu, context->ring);
	gen9_window_put(gpu, context->pml4);
	context->ring = NULL;
	context->pml4 = NULL;
	gen9_window_unmap(gpu, context->image);
}

int gen9_context_map(struct ghyvi_pgpu_context *base)
{
	struct gen9_context *context = gen9_context(base);
	struct gen9_client *client = gen9_client(base->client);
	int err = -ENOMEM;

	if (has_room(&client->gpu->engines[base->engine], client))
		err = gen9_window_map(client->gpu, context->image);
	if (!err)
		set_descriptor(context);
	return err;
}

/* ---- the first image ---- */

static void fill_list(u32 *state, unsigned int dword, u32 base, const u16 *offsets,
		      unsigned int count)
{
	unsigned int i;

	state[dword] = LRI_HEADER(count, MI_LRI_FORCE_POSTED);
	for (i = 0; i < count; i++)
		state[dword + 1 + 2 * i] = base + offsets[i];
}

/*
 * Without a request, power gating may have left a part of the execution units off. Gen9 has up to
 * eight of them in a subslice. Images of other engines have another register there, which is not
 * the host's: that of the blitter is BCS_SWCTRL, whose upper half selects the bits to change.
 */
static void request_power(const struct gen9_engine *engine, u32 *state)
{
	if (engine->id == GHYVI_RCS)
		state[CTX_R_PWR_CLK_STATE + 1] = GEN8_RPCS_ENABLE | GEN8_RPCS_EU_MIN(8) |
						 GEN8_RPCS_EU_MAX(8);
}

static void set_root(u32 *state, dma_addr_t root)
{
	state[GHYVI_CTX_PDP0_UDW] = upper_32_bits(root);
	state[GHYVI_CTX_PDP0_LDW] = lower_32_bits(root);
}

static u32 context_control(bool inhibit)
{
	return MASKED_BIT_ENABLE(CTX_CTRL_INHIBIT_SYN_CTX_SWITCH) |
	       MASKED_BIT_DISABLE(CTX_CTRL_ENGINE_CTX_SAVE_INHIBIT | CTX_CTRL_RS_CTX_ENABLE |
				  CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT) |
	       (inhibit ? CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT : 0);
}

/*
 * The guest's commands are in the middle: hardware has one such batch, and nothing of the host's
 * may depend on the guest.
 */
int gen9_context_set_restore(const struct gen9_engine *engine, const struct gen9_context *context,
			     const u32 *commands, unsigned int lines)
{
	u32 offset = engine->image_pages * GHYVI_PAGE_BYTES, *batch, *state = gen9_state(context);
	unsigned int count;

	state[GHYVI_CTX_INDIRECT] = 0;
	state[GHYVI_CTX_INDIRECT_OFFSET] = GEN9_INDIRECT_CTX_OFFSET;
	if (engine->id != GHYVI_RCS)
		return 0;
	batch = context->image->cpu + offset / sizeof(u32);
	count = gen9_restore_workarounds(batch);
	if (count + lines + 1 > GHYVI_INDIRECT_LINES)
		return -ENOSPC;
	if (lines)
		memcpy((u8 *)batch + count * GHYVI_INDIRECT_LINE_BYTES, commands,
		       lines * GHYVI_INDIRECT_LINE_BYTES);
	count += lines;
	count += gen9_restore_end(batch + count * GHYVI_INDIRECT_LINE_BYTES / sizeof(u32));
	state[GHYVI_CTX_INDIRECT] = (context->image->ggtt + offset) | count;
	return 0;
}

void gen9_context_init_kernel(struct gen9_engine *engine)
{
	struct gen9_context *context = engine->kernel_context;
	u32 *state = gen9_state(context);

	memset(context->image->cpu, 0, engine->image_pages * GHYVI_PAGE_BYTES);
	memset(context->ring->cpu, 0, GHYVI_PAGE_BYTES);
	fill_list(state, CTX_LRI_HEADER_0, engine->base, ring_list, ARRAY_SIZE(ring_list));
	fill_list(state, CTX_LRI_HEADER_1, engine->base, ppgtt_list, ARRAY_SIZE(ppgtt_list));
	state[CTX_LRI_HEADER_2] = LRI_HEADER(1, engine->id == GHYVI_RCS ? 0 : MI_LRI_FORCE_POSTED);
	state[CTX_R_PWR_CLK_STATE] = engine->base + (engine->id == GHYVI_RCS ? 0xc8 : 0x200);
	request_power(engine, state);
	state[GHYVI_CTX_CONTROL] = context_control(true);
	state[GHYVI_CTX_RING_START] = context->ring->ggtt;
	state[GHYVI_CTX_RING_CTL] = RING_CTL_ENABLE;
	gen9_context_set_restore(engine, context, NULL, 0);
	set_root(state, engine->gpu->scratch[ARRAY_SIZE(engine->gpu->scratch) - 1].dma);
	engine->kernel_tail = 0;
}

/* ---- what images save ---- */

static int compare_saved(const void *a, const void *b)
{
	u32 left = ((const struct gen9_saved_register *)a)->offset;
	u32 right = ((const struct gen9_saved_register *)b)->offset;

	return left < right ? -1 : left > right;
}

const struct gen9_saved_register *gen9_saved_find(const struct gen9_engine *engine, u32 offset)
{
	const struct gen9_saved_register key = { .offset = offset };

	return bsearch(&key, engine->saved, engine->nr_saved, sizeof(key), compare_saved);
}

static u32 gpr_offset(const struct gen9_engine *engine, unsigned int i)
{
	return engine->base + GEN8_RING_CS_GPR + 4 * i;
}

u32 gen9_needed_register(const struct gen9_engine *engine, unsigned int i)
{
	if (i < 2 * CONTEXT_GPRS)
		return gpr_offset(engine, i);
	return engine->id == GHYVI_RCS ? gen9_context_workaround(i - 2 * CONTEXT_GPRS) : 0;
}

/*
 * Visit the registers of the lists in the default state. A command that is no list ends nothing;
 * its length is known. Returns their number, and sets @saved_end; fills @saved if it is not NULL.
 */
static unsigned int list_saved(struct gen9_engine *engine, struct gen9_saved_register *saved)
{
	const u32 *state = engine->default_state;
	u32 dword = 0, end = gen9_state_dwords(engine), dwords;
	unsigned int count = 0, i;

	while (dword < end && state[dword] != MI_BATCH_BUFFER_END) {
		const struct ghyvi_command *command = ghyvi_command_find(engine->id, state[dword]);

		dwords = ghyvi_command_dwords(engine->id, command, state[dword]);
		if (!dwords || dword + dwords > end)
			break;
		if (command && command->check == GHYVI_CHECK_LOAD_IMM)
			for (i = 0; i < LRI_COUNT(state[dword]); i++, count++)
				if (saved)
					saved[count] = (struct gen9_saved_register){
						.offset = state[dword + 1 + 2 * i],
						.dword = dword + 2 + 2 * i,
					};
		dword += dwords;
	}
	engine->saved_end = min(dword, end - 1);
	return count;
}

int gen9_context_record_default(struct gen9_engine *engine, struct gen9_context *context)
{
	size_t bytes = gen9_state_dwords(engine) * sizeof(u32);

	engine->default_state = vmalloc(bytes);
	if (!engine->default_state)
		return -ENOMEM;
	memcpy(engine->default_state, gen9_state(context), bytes);
	engine->nr_saved = list_saved(engine, NULL);
	engine->saved = kvmalloc_array(engine->nr_saved, sizeof(*engine->saved), GFP_KERNEL);
	if (!engine->saved)
		return -ENOMEM;
	list_saved(engine, engine->saved);
	sort(engine->saved, engine->nr_saved, sizeof(*engine->saved), compare_saved, NULL);
	return 0;
}

/* ---- jobs ---- */

/*
 * Values that commands left, and those of the guest's copy of the image. Registers that no rule
 * lets commands write keep the host's values.
 */
static bool is_guests(const struct gen9_engine *engine, u32 offset)
{
	const struct ghyvi_register_rule *rule = ghyvi_register_find(engine->id, offset);

	return rule && rule->right != GHYVI_REGISTER_READ_ONLY &&
	       rule->right != GHYVI_REGISTER_CONTROL;
}

static bool is_masked(const struct gen9_engine *engine, u32 offset)
{
	const struct ghyvi_register_rule *rule = ghyvi_register_find(engine->id, offset);

	return rule && rule->masked;
}

static void load_registers(struct gen9_engine *engine, const struct ghyvi_job *job, u32 *state)
{
	const struct gen9_saved_register *saved;
	u32 offsets[GHYVI_CONTEXT_SLOTS];
	unsigned int i;

	for (i = 0; i < 2 * CONTEXT_GPRS; i++) {
		saved = gen9_saved_find(engine, gpr_offset(engine, i));
		if (saved)
			state[saved->dword] = job->context[GHYVI_CTX_GPR + 2 * i];
	}
	ghyvi_register_slots(engine->id, offsets);
	for (i = 0; i < GHYVI_CONTEXT_SLOTS; i++) {
		saved = offsets[i] ? gen9_saved_find(engine, offsets[i]) : NULL;
		if (saved && is_guests(engine, offsets[i]))
			state[saved->dword] = job->context[ghyvi_context_value(i)] |
					      (is_masked(engine, offsets[i]) ? 0xffff0000 : 0);
	}
}

static void store_registers(struct gen9_engine *engine, struct ghyvi_job *job, const u32 *state)
{
	const struct gen9_saved_register *saved;
	u32 offsets[GHYVI_CONTEXT_SLOTS];
	unsigned int i;

	for (i = 0; i < 2 * CONTEXT_GPRS; i++) {
		saved = gen9_saved_find(engine, gpr_offset(engine, i));
		if (saved)
			job->context[GHYVI_CTX_GPR + 2 * i] = state[saved->dword];
	}
	ghyvi_register_slots(engine->id, offsets);
	for (i = 0; i < GHYVI_CONTEXT_SLOTS; i++) {
		saved = offsets[i] ? gen9_saved_find(engine, offsets[i]) : NULL;
		if (saved)
			job->context[ghyvi_context_value(i)] =
				state[saved->dword] &
				(is_masked(engine, offsets[i]) ? 0xffff : ~0u);
	}
}

/*
 * The tables of a context with three levels begin at four page directory pointers. They are the
 * first entries of a page of them, to which a PML4 of the host points: one kind of context is
 * enough. Its addresses end at 4 GiB.
 */
static int root_of(struct gen9_engine *engine, const struct ghyvi_job *job, dma_addr_t *root)
{
	struct gen9_context *context = gen9_context(job->pgpu_context);
	const struct gen9_backing *scratch = engine->gpu->scratch;
	u64 *entries;
	unsigned int i;

	*root = job->root;
	if (job->levels != GHYVI_LEVEL_PDP)
		return 0;
	if (!context->pml4)
		context->pml4 = gen9_window_get(engine->gpu, gen9_client(job->client), 1);
	if (!context->pml4)
		return -ENOMEM;
	entries = (u64 *)context->pml4->cpu;
	for (i = 0; i < GHYVI_ENTRIES; i++)
		entries[i] = scratch[GHYVI_LEVEL_PDP].dma | GHYVI_ENTRY_PRESENT;
	/* Of the page at @root four entries are those of the guest, the others are scratch. */
	entries[0] = job->root | GHYVI_ENTRY_PRESENT | GHYVI_ENTRY_WRITE;
	*root = context->pml4->backing[0].dma;
	return 0;
}

static void clear_batches(u32 *state)
{
	unsigned int i;

	for (i = 0; i < CTX_BB_REGISTERS; i++)
		state[CTX_BB_FIRST + 1 + 2 * i] = 0;
}

void gen9_context_clear_stop(const struct gen9_engine *engine, const struct gen9_context *context)
{
	const struct gen9_saved_register *saved =
		gen9_saved_find(engine, engine->base + RING_MI_MODE);
	u32 *value = saved ? gen9_state(context) + saved->dword : NULL;

	if (value)
		*value = (*value & ~(u32)MI_MODE_STOP) | MASKED_BIT_DISABLE(MI_MODE_STOP);
}

int gen9_context_load(struct gen9_engine *engine, struct ghyvi_job *job)
{
	struct gen9_context *context = gen9_context(job->pgpu_context);
	u32 *state = gen9_state(context);
	dma_addr_t root;
	int err = root_of(engine, job, &root);

	if (err)
		return err;
	if (!context->valid || !job->restore)
		memcpy(state, engine->default_state, gen9_state_dwords(engine) * sizeof(u32));
	/* The values of a new context are the host's; those of a known one may be newer. */
	if (job->restore)
		load_registers(engine, job, state);
	context->valid = true;
	clear_batches(state);
	gen9_context_clear_stop(engine, context);
	state[GHYVI_CTX_CONTROL] = context_control(false);
	state[GHYVI_CTX_RING_HEAD] = 0;
	state[GHYVI_CTX_RING_TAIL] = 0;
	state[GHYVI_CTX_RING_START] = context->ring->ggtt;
	state[GHYVI_CTX_RING_CTL] = (context->ring->pages - 1) * GHYVI_PAGE_BYTES | RING_CTL_ENABLE;
	state[CTX_BB_PER_CTX_PTR] = 0;
	state[GHYVI_CTX_TIMESTAMP] = job->context[GHYVI_CTX_TIMESTAMP];
	request_power(engine, state);
	set_root(state, root);
	return gen9_context_set_restore(engine, context, NULL, 0);
}

void gen9_context_store(struct gen9_engine *engine, struct ghyvi_job *job)
{
	const struct gen9_context *context = gen9_context(job->pgpu_context);
	const u32 *state = gen9_state(context);

	job->context[GHYVI_CTX_RING_HEAD] =
		gen9_ring_offset(job, READ_ONCE(state[GHYVI_CTX_RING_HEAD]) & (u32)RING_HEAD_MASK);
	job->context[GHYVI_CTX_TIMESTAMP] = state[GHYVI_CTX_TIMESTAMP];
	store_registers(engine, job, state);
}

/* A command of the ring has been parsed but is not complete while a batch is not. */
bool gen9_context_reached(const struct gen9_context *context, u32 end)
{
	const u32 *state = gen9_state(context);

	return (READ_ONCE(state[GHYVI_CTX_RING_HEAD]) & (u32)RING_HEAD_MASK) >= end &&
	       !(READ_ONCE(state[CTX_BB_HEAD_L]) & CTX_BB_HEAD_VALID);
}
