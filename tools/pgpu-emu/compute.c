// SPDX-License-Identifier: GPL-2.0-only
/*
 * Execution units: walkers and media objects, by userspace/eu, with the page walks of the engine.
 *
 * A dispatch is executed in slices, before the next command. Between two thread groups, or in the
 * middle of one, the engine may be preempted, if CS_CHICKEN1 says so (PRM vol. 2c, "CS_CHICKEN1",
 * "GPGPU preemption"); at the end of a dispatch always.
 *
 * The image of a context has the commands that set its state up, and the walker that was preempted
 * with the group to resume with ("Thread Group ID Starting/Resume", PRM vol. 2a, GPGPU_WALKER). A
 * group in progress is saved at GPGPU_CSR_BASE_ADDRESS, in the context's own memory. Hardware's
 * format is not public: this one is userspace/eu's, behind its length.
 * Constants and descriptors are not in the image: they are loaded from memory again, as in
 * hardware, here before the next dispatch.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <eu_state.h>
#include "emu.h"

#define CODE_BYTES (64u << 20) /* of decoded instructions */
#define SLICE_INSTRUCTIONS 32768
#define GPGPU_DISPATCHDIM 0x2500 /* X, Y, Z */
#define GEN9_PREEMPT_GPGPU_COMMAND_LEVEL BIT(2) /* not at groups or threads */
#define GEN9_PREEMPT_GPGPU_THREAD_GROUP_LEVEL BIT(1) /* not at threads */
#define CSR_BASE 0xfffffffff000ull
#define CSR_HAS_GROUP 1u /* in the image's GPGPU_CSR_BASE_ADDRESS */
#define CSR_BYTES (512u << 10) /* 64 threads, each below 7 KiB, and 64 KiB of shared memory */
#define RUN_NEVER (~0ull)

static_assert((int)EU_STATE_BASE_ADDRESS == STATE_BASE_ADDRESS &&
	      (int)EU_GPGPU_WALKER == GPGPU_WALKER);

enum { BASE_DWORDS = 19, VFE_DWORDS = 9, LOAD_DWORDS = 4, WALKER_DWORDS = 15 };

/* Commands as the image has them; a header of 0: there was none. */
struct commands {
	u32 base[BASE_DWORDS];
	u32 vfe[VFE_DWORDS];
	u32 constants[LOAD_DWORDS];
	u32 descriptors[LOAD_DWORDS];
	u32 walker[WALKER_DWORDS];
};

static_assert(sizeof(struct commands) == EMU_COMPUTE_IMAGE_DWORDS * sizeof(u32));

struct emu_compute {
	struct emu_engine *engine;
	struct eu_cache *cache;
	struct eu_memory memory;
	struct eu_state state;
	struct commands commands;
	bool to_load; /* constants and descriptors are not in @state yet */
	u64 resumes_at; /* number of the command that may be the preempted walker */
	struct eu_run *run; /* NULL: no dispatch */
	struct eu_dispatch dispatch; /* of @run */
	struct eu_counters before; /* what @run had done when it was begun here */
	bool group_saved; /* the one that @run has in progress */
	struct {
		u64 bytes;
		u8 group[CSR_BYTES - sizeof(u64)];
	} csr;
	struct emu_compute_counts counts;
	u8 dropped[EU_PAGE_BYTES]; /* what is stored to a page that may not be written */
};

/* Each page is looked up by itself, so that the oracle notes it and the model checks it. */
static void *map(void *context, uint64_t address, enum eu_access access)
{
	struct emu_compute *compute = context;
	struct softgpu_engine *cs = &compute->engine->cs;
	u8 *page;

	if (softgpu_map(cs, SOFTGPU_PPGTT, address, false, &page))
		return NULL;
	if (access != EU_ACCESS_WRITE)
		return page;
	if (softgpu_map(cs, SOFTGPU_PPGTT, address, true, &page))
		return NULL;
	if (page)
		return page;
	memset(compute->dropped, 0, sizeof(compute->dropped));
	return compute->dropped;
}

static const struct eu_memory_ops memory_ops = { .map = map };

int emu_compute_init(struct emu_engine *engine)
{
	struct emu_compute *compute = calloc(1, sizeof(*compute));

	engine->compute = compute;
	if (!compute)
		return -ENOMEM;
	compute->engine = engine;
	compute->memory = (struct eu_memory){ .ops = &memory_ops, .context = compute };
	compute->resumes_at = RUN_NEVER;
	compute->cache = eu_cache_create(CODE_BYTES);
	return compute->cache ? 0 : -ENOMEM;
}

void emu_compute_free(struct emu_engine *engine)
{
	if (!engine->compute)
		return;
	eu_run_end(engine->compute->run);
	eu_cache_destroy(engine->compute->cache);
	free(engine->compute);
	engine->compute = NULL;
}

void emu_compute_forget(struct emu_engine *engine)
{
	struct emu_compute *compute = engine->compute;

	memset(&compute->state, 0, sizeof(compute->state));
	memset(&compute->commands, 0, sizeof(compute->commands));
	compute->to_load = false;
	compute->resumes_at = RUN_NEVER;
}

void emu_compute_reset(struct emu_engine *engine)
{
	if (!engine->compute)
		return;
	eu_run_end(engine->compute->run);
	engine->compute->run = NULL;
	engine->compute->group_saved = false;
	emu_compute_forget(engine);
}

struct emu_compute_counts emu_compute_counts(const struct emu_engine *engine)
{
	return engine->compute ? engine->compute->counts : (struct emu_compute_counts){ 0 };
}

/* ---- commands ---- */

bool emu_compute_takes(u32 header)
{
	u32 opcode = header >> 16;

	return opcode == STATE_BASE_ADDRESS || gen8_is_dispatch(header) ||
	       (opcode >= MEDIA_VFE_STATE && opcode <= MEDIA_STATE_FLUSH);
}

/* Addresses and bounds without their modify-enable bit stay. */
static void keep_bases(u32 *base, const u32 *packet, unsigned int dwords)
{
	static const u8 addresses[] = { 1, 4, 6, 8, 10, 16 };
	unsigned int i;

	base[0] = STATE_BASE_ADDRESS << 16 | (BASE_DWORDS - 2);
	for (i = 0; i < ARRAY_SIZE(addresses) && addresses[i] + 1u < dwords; i++)
		if (packet[addresses[i]] & 1)
			memcpy(base + addresses[i], packet + addresses[i], 2 * sizeof(u32));
	for (i = 12; i < 16 && i < dwords; i++)
		if (packet[i] & 1)
			base[i] = packet[i];
}

static void keep(struct commands *commands, const u32 *packet, unsigned int dwords)
{
	const size_t bytes = dwords * sizeof(u32);

	switch (packet[0] >> 16) {
	case STATE_BASE_ADDRESS:
		keep_bases(commands->base, packet, dwords);
		break;
	case MEDIA_VFE_STATE:
		memcpy(commands->vfe, packet, min(bytes, sizeof(commands->vfe)));
		break;
	case MEDIA_CURBE_LOAD:
		memcpy(commands->constants, packet, min(bytes, sizeof(commands->constants)));
		break;
	case MEDIA_INTERFACE_DESCRIPTOR_LOAD:
		memcpy(commands->descriptors, packet, min(bytes, sizeof(commands->descriptors)));
		break;
	}
}

static int refuse(struct emu_engine *engine, const struct eu_error *error)
{
	if (error->ip)
		return softgpu_error(&engine->cs,
				     "%s, instruction at %#llx, group %u,%u,%u thread %u",
				     error->text, (unsigned long long)error->ip, error->group[0],
				     error->group[1], error->group[2], error->thread);
	return softgpu_error(&engine->cs, "%s", error->text);
}

/* Load again what a command of the image says. */
static bool load_again(struct emu_compute *compute, const u32 *command, struct eu_error *error)
{
	return !command[0] ||
	       eu_state_command(&compute->state, &compute->memory, command, LOAD_DWORDS,
				&compute->dispatch, error) != EU_COMMAND_ERROR;
}

/* Whether the packet is the walker that the image has; only where it resumes may differ. */
static bool is_preempted_walker(const struct emu_compute *compute, const u32 *packet)
{
	const u32 *walker = compute->commands.walker;
	unsigned int i;

	for (i = 0; i < WALKER_DWORDS; i++)
		if (i != 5 && i != 8 && i != 11 && walker[i] != packet[i])
			return false;
	return true;
}

static u64 groups_before(const struct eu_dispatch *dispatch, const u32 *walker)
{
	const u32 at[3] = { walker[5], walker[8], walker[11] };
	u64 groups = 0;
	int n;

	for (n = 2; n >= 0; n--) {
		if (at[n] < dispatch->start[n] || at[n] >= dispatch->end[n])
			return 0;
		groups = groups * (dispatch->end[n] - dispatch->start[n]) +
			 (at[n] - dispatch->start[n]);
	}
	return groups;
}

/* Counts what was done here. */
static void end_run(struct emu_compute *compute)
{
	struct eu_counters counters;

	eu_run_counters(compute->run, &counters);
	compute->counts.groups += counters.groups - compute->before.groups;
	compute->counts.instructions += counters.instructions - compute->before.instructions;
	eu_run_end(compute->run);
	compute->run = NULL;
}

/* A page that may not be written stays as it is. */
static int copy_csr(struct emu_engine *engine, u64 bytes, bool save)
{
	u8 *data = (u8 *)&engine->compute->csr, *page;
	u64 base = ((u64)engine->csr_base[1] << 32 | engine->csr_base[0]) & CSR_BASE, at, count;
	int status;

	for (at = 0; at < bytes; at += count) {
		count = min_t(u64, bytes - at, GHYVI_PAGE_BYTES);
		status = softgpu_map(&engine->cs, SOFTGPU_PPGTT, base + at, save, &page);
		if (status)
			return status;
		if (save && page)
			memcpy(page, data + at, count);
		else if (!save)
			memcpy(data + at, page, count);
	}
	return SOFTGPU_OK;
}

static int save_group(struct emu_engine *engine)
{
	struct emu_compute *compute = engine->compute;
	int status;

	compute->csr.bytes =
		eu_run_save(compute->run, compute->csr.group, sizeof(compute->csr.group));
	if (compute->csr.bytes > sizeof(compute->csr.group))
		return SOFTGPU_OK; /* it goes on to the end of the group */
	status = copy_csr(engine, sizeof(u64) + compute->csr.bytes, true);
	compute->group_saved = !status;
	engine->arbitration_point = !status;
	return status;
}

static int restore_group(struct emu_engine *engine)
{
	struct emu_compute *compute = engine->compute;
	int status = copy_csr(engine, sizeof(u64), false);
	u64 bytes = compute->csr.bytes; /* software may change it meanwhile */

	if (status)
		return status;
	if (bytes > sizeof(compute->csr.group))
		return softgpu_error(&engine->cs, "a saved thread group of %llu bytes",
				     (unsigned long long)bytes);
	status = copy_csr(engine, sizeof(u64) + bytes, false);
	if (!status && eu_run_restore(compute->run, compute->csr.group, bytes))
		status = softgpu_error(&engine->cs, "a saved thread group does not fit");
	return status;
}

static int begin(struct emu_engine *engine)
{
	struct emu_compute *compute = engine->compute;
	struct eu_error error = { .status = EU_DONE };
	u32 *walker = compute->commands.walker;
	bool resumes = engine->commands == compute->resumes_at &&
		       is_preempted_walker(compute, engine->cs.packet);
	int status = SOFTGPU_OK;

	compute->resumes_at = RUN_NEVER;
	if (resumes)
		compute->dispatch.skip = groups_before(&compute->dispatch, walker);
	memset(walker, 0, sizeof(compute->commands.walker));
	compute->run = eu_run_begin(compute->cache, &compute->memory, &compute->dispatch, &error);
	engine->moved_much = true;
	if (!compute->run)
		return refuse(engine, &error);
	if (resumes && engine->csr_base[0] & CSR_HAS_GROUP)
		status = restore_group(engine);
	engine->csr_base[0] &= ~CSR_HAS_GROUP;
	eu_run_counters(compute->run, &compute->before);
	if (status)
		end_run(compute);
	return status;
}

int emu_compute_command(struct emu_engine *engine)
{
	struct emu_compute *compute = engine->compute;
	struct eu_error error = { .status = EU_DONE };
	const u32 *packet = engine->cs.packet;
	unsigned int i;

	if (!compute || !emu_compute_takes(packet[0]))
		return SOFTGPU_OK;
	keep(&compute->commands, packet, engine->cs.packet_dwords);
	if (compute->to_load && gen8_is_dispatch(packet[0])) {
		compute->to_load = false;
		if (!load_again(compute, compute->commands.constants, &error) ||
		    !load_again(compute, compute->commands.descriptors, &error))
			return refuse(engine, &error);
	}
	for (i = 0; i < ARRAY_SIZE(compute->state.dispatch_dim); i++)
		compute->state.dispatch_dim[i] = *emu_reg(engine->emu, GPGPU_DISPATCHDIM + 4 * i);
	switch (eu_state_command(&compute->state, &compute->memory, packet,
				 engine->cs.packet_dwords, &compute->dispatch, &error)) {
	case EU_COMMAND_DISPATCH:
		return begin(engine);
	case EU_COMMAND_ERROR:
		return refuse(engine, &error);
	default:
		return SOFTGPU_OK;
	}
}

/* ---- execution ---- */

bool emu_compute_runs(const struct emu_engine *engine)
{
	return engine->compute && engine->compute->run;
}

static bool stops_at_groups(const struct emu_engine *engine)
{
	return !engine->compute->dispatch.media &&
	       !(*emu_reg(engine->emu, GEN8_CS_CHICKEN1) & GEN9_PREEMPT_GPGPU_COMMAND_LEVEL);
}

static bool stops_within_groups(const struct emu_engine *engine)
{
	return stops_at_groups(engine) && (engine->csr_base[0] || engine->csr_base[1]) &&
	       !(*emu_reg(engine->emu, GEN8_CS_CHICKEN1) & GEN9_PREEMPT_GPGPU_THREAD_GROUP_LEVEL);
}

int emu_compute_slice(struct emu_engine *engine)
{
	struct emu_compute *compute = engine->compute;
	struct eu_error error = { .status = EU_DONE };
	enum eu_status status;

	engine->moved_much = true;
	engine->faulted = false;
	compute->group_saved = false;
	if (engine->has_pending && stops_at_groups(engine))
		status = eu_run_to_boundary(compute->run, SLICE_INSTRUCTIONS, &error);
	else
		status = eu_run(compute->run, SLICE_INSTRUCTIONS, &error);
	if (status == EU_AGAIN) {
		engine->arbitration_point = stops_at_groups(engine) &&
					    eu_run_at_boundary(compute->run);
		if (engine->has_pending && engine->arbitration && !engine->arbitration_point &&
		    stops_within_groups(engine))
			return save_group(engine);
		return SOFTGPU_OK;
	}
	end_run(compute);
	if (status != EU_DONE)
		return refuse(engine, &error);
	compute->counts.dispatches++;
	engine->arbitration_point = true;
	return SOFTGPU_OK;
}

/* ---- context images ---- */

void emu_compute_leave(struct emu_engine *engine)
{
	struct emu_compute *compute = engine->compute;
	const struct eu_dispatch *dispatch = &compute->dispatch;
	u32 *walker = compute->commands.walker;
	u64 wide = dispatch->end[0] - dispatch->start[0];
	u64 high = dispatch->end[1] - dispatch->start[1], groups;
	struct eu_counters counters;

	eu_run_counters(compute->run, &counters);
	groups = dispatch->skip + counters.groups - compute->before.groups;
	memcpy(walker, engine->cs.packet, sizeof(compute->commands.walker));
	walker[5] = dispatch->start[0] + groups % wide;
	walker[8] = dispatch->start[1] + groups / wide % high;
	walker[11] = dispatch->start[2] + groups / wide / high;
	if (compute->group_saved)
		engine->csr_base[0] |= CSR_HAS_GROUP;
	compute->counts.within += compute->group_saved;
	compute->group_saved = false;
	end_run(compute);
	compute->counts.preempted++;
	softgpu_stream_rewind(&engine->cs);
}

void emu_compute_save(struct emu_engine *engine, u32 *state)
{
	struct commands *commands = &engine->compute->commands;

	memcpy(state, commands, sizeof(*commands));
	memset(commands->walker, 0, sizeof(commands->walker));
}

void emu_compute_load(struct emu_engine *engine, const u32 *command, unsigned int dwords)
{
	struct emu_compute *compute = engine->compute;
	struct eu_error error;

	keep(&compute->commands, command, dwords);
	switch (command[0] >> 16) {
	case MEDIA_CURBE_LOAD:
	case MEDIA_INTERFACE_DESCRIPTOR_LOAD:
		compute->to_load = true;
		break;
	case GPGPU_WALKER:
		memcpy(compute->commands.walker, command,
		       min(dwords * sizeof(u32), sizeof(compute->commands.walker)));
		break;
	default:
		eu_state_command(&compute->state, &compute->memory, command, dwords,
				 &compute->dispatch, &error);
		break;
	}
}

void emu_compute_loaded(struct emu_engine *engine)
{
	if (engine->compute && engine->compute->commands.walker[0])
		engine->compute->resumes_at = engine->commands;
}
