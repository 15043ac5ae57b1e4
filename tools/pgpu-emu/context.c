// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load and save of context images. The register state is a sequence of MI_LOAD_REGISTER_IMM
 * commands that the engine executes, whatever they name, and rewrites at each save (PRM vol. 7,
 * "Register State Context"; i915: gen9_rcs_offsets, gen9_xcs_offsets).
 *
 * Beside the lists there are commands that set the state of the 3D pipeline, up to the end. They
 * are of a few kinds here: software must skip what is no list.
 *
 * The first lists are the execution list's part of the context: ring, batch position, PDPs. They
 * are loaded always. The rest is the engine's part, which restore-inhibit skips: the registers then
 * keep the values of whichever context ran before.
 *
 * The indirect context batch runs in the middle of a restore, at its offset in the image. i915 has
 * 0x26 lines for Gen9, which is after the command streamer's registers and before those of other
 * units. So the batch cannot change a register of another unit that the image has. Here, the offset
 * is the end of the first page, whatever INDIRECT_CTX_OFFSET says. The per-context batch runs after
 * the restore.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <ghyvi/gen8_cmds.h>
#include "emu.h"

#define MI_NOOP 0
#define MI_BATCH_BUFFER_END (0x0au << 23)
#define LRI_HEADER(count, flags) (MI_LOAD_REGISTER_IMM(count) | (flags))
#define LRI_POSTED BIT(12)
#define LRI_COUNT(header) (((header)&0xff) / 2 + 1)
#define LRI_LIST_MAX 64u

#define STATE_DWORDS (GHYVI_PAGE_BYTES / 4)
#define RENDER_PAGE 2 /* the render engine's part continues there */
#define MASKED_ALL 0xffff0000u

/* Dword indices of the lists, each beginning with its header. */
#define RING_LIST 0x01
#define PPGTT_LIST 0x21
#define POWER_LIST 0x41
#define CSR_COMMAND 0x44 /* of the render engine */
#define ENGINE_LIST 0x51
/*
 * Registers of the render engine that software finds at fixed places: the OA control, and the flex
 * EU counters (i915: ctx_oactxctrl_offset, ctx_flexeu0_offset; kvmgt: sr_oa_regs()).
 */
#define OA_LIST 0x127
#define FLEX_EU_LIST 0x3dd
#define BATCH_FIRST 0x0c /* register and value of six batch registers */

static const u16 ring_list[] = { RING_CONTEXT_CONTROL,
				 RING_HEAD,
				 RING_TAIL,
				 RING_START,
				 RING_CTL,
				 RING_BBADDR_UDW,
				 RING_BBADDR,
				 RING_BBSTATE,
				 RING_SBBADDR_UDW,
				 RING_SBBADDR,
				 RING_SBBSTATE,
				 RING_BB_PER_CTX_PTR,
				 RING_INDIRECT_CTX,
				 RING_INDIRECT_CTX_OFFSET };
/* Those of @ring_list whose pairs begin at BATCH_FIRST. */
static const u16 batch_list[EMU_BATCH_DWORDS] = { RING_BBADDR_UDW,  RING_BBADDR,  RING_BBSTATE,
						  RING_SBBADDR_UDW, RING_SBBADDR, RING_SBBSTATE };
static const u16 ppgtt_list[] = {
	RING_CTX_TIMESTAMP, 0x28c, 0x288, 0x284, 0x280, 0x27c, 0x278, 0x274, 0x270
};
static const u16 engine_list[] = {
	RING_EXCC, RING_MI_MODE,   RING_INSTPM,		 0x178, 0x17c, RING_TIMESTAMP, 0x170, 0x150,
	0x154,	   RING_BB_OFFSET, RING_PREDICATE_RESULT
};

static const u32 oa_list[] = { GEN8_OACTXCONTROL };
static const u32 flex_eu_list[] = { 0xe458, 0xe558, 0xe658, 0xe758, 0xe45c, 0xe55c, 0xe65c };

/* Registers of the render engine's part of the image, beyond those of all engines. */
static const struct {
	u32 first, last;
	bool masked;
} render_registers[] = {
	{ 0x2088, 0x2088, true },  { 0x2090, 0x2090, true },  { 0x20d8, 0x20d8, true },
	{ 0x2290, 0x2294, false }, { 0x22c8, 0x22cc, false }, { 0x22d8, 0x22dc, false },
	{ 0x22f0, 0x22fc, false }, { 0x2300, 0x2354, false }, { 0x2364, 0x2364, false },
	{ 0x2400, 0x2418, false }, { 0x2420, 0x2420, false }, { 0x2430, 0x2440, false },
	{ 0x2448, 0x2454, false }, { 0x2500, 0x2508, false }, { 0x2580, 0x2580, true },
	{ 0x4de0, 0x4df4, false }, { 0x4dfc, 0x4dfc, false }, { 0x5200, 0x521c, false },
	{ 0x5240, 0x525c, false }, { 0x5280, 0x528c, false }, { 0x7000, 0x7018, true },
	{ 0x7034, 0x7034, false }, { 0x7300, 0x7304, true },  { 0x83a4, 0x83a4, true },
	{ 0xe100, 0xe100, true },  { 0xe180, 0xe188, true },  { 0xe194, 0xe194, true },
	{ 0xe400, 0xe404, false }, { 0xe4f0, 0xe4f0, true },
};

/* State of the 3D pipeline, as its commands: PIPELINE_SELECT, MULTISAMPLE, DRAWING_RECTANGLE. */
static const u32 pipeline_state[] = { 0x69040300, 0x780d0000, 0, 0x79000002, 0, 0, 0 };

/* What a load has found in the image. */
struct load {
	u32 batch[EMU_BATCH_DWORDS];
	u32 control;
	bool inhibit;
	bool ended; /* BATCH_BUFFER_END, or what restore-inhibit skips */
};

static u32 *state_page(struct emu_engine *engine, unsigned int page)
{
	return (u32 *)emu_engine_ggtt(engine, engine->image.lrca + page * GHYVI_PAGE_BYTES, true);
}

static struct emu_image_note *note_of(struct emu_engine *engine)
{
	struct emu *emu = engine->emu;
	u64 entry = emu->ggtt[(engine->image.lrca + CONTEXT_STATE_OFFSET) >> GHYVI_PAGE_SHIFT];
	u64 address = entry & EMU_ADDRESS_MASK;
	struct emu_image_note *note =
		&emu->images.notes[(address >> GHYVI_PAGE_SHIFT) % EMU_IMAGE_NOTES];

	if (note->address != address)
		*note = (struct emu_image_note){ .address = address, .lost = note->address };
	return note;
}

/* ---- load ---- */

static int batch_index(u32 at)
{
	unsigned int i;

	for (i = 0; i < EMU_BATCH_DWORDS; i++)
		if (batch_list[i] == at)
			return i;
	return -1;
}

static void load_ring_register(struct emu_engine *engine, struct load *load, u32 at, u32 value)
{
	struct softgpu_engine *cs = &engine->cs;
	int batch = batch_index(at);

	if (batch >= 0)
		load->batch[batch] = value;
	switch (at) {
	case RING_CONTEXT_CONTROL:
		load->control = emu_masked(0, value);
		load->inhibit = load->control & CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT;
		if (load->inhibit)
			emu_oracle_context(engine, true);
		break;
	case RING_HEAD:
		cs->ring_head = value & RING_HEAD_MASK;
		break;
	case RING_TAIL:
		cs->ring_tail = value & RING_TAIL_MASK;
		break;
	case RING_START:
		cs->ring_start = value;
		break;
	case RING_CTL:
		cs->ring_bytes =
			value & RING_CTL_ENABLE ? (value & RING_CTL_PAGES) + GHYVI_PAGE_BYTES : 0;
		break;
	default: /* software can name any register of the engine */
		emu_reg_write(engine->emu, cs->base + at, value, EMU_CS);
		return;
	}
	*emu_reg(engine->emu, cs->base + at) = value;
}

/* Whether the dword begins a command of the 3D pipeline, which images of the render engine have. */
static bool is_pipeline_state(const struct emu_engine *engine, u32 header)
{
	return engine->cs.id == GHYVI_RCS && header >> 29 == COMMAND_TYPE_3D;
}

/* Returns the number of its dwords. */
static unsigned int load_pipeline_state(struct emu_engine *engine, const u32 *command)
{
	unsigned int dwords = (command[0] & 0xff) + 2;

	if (command[0] >> 16 == PIPELINE_SELECT >> 16)
		return 1;
	if (command[0] == GPGPU_CSR_BASE_ADDRESS)
		memcpy(engine->csr_base, command + 1, sizeof(engine->csr_base));
	if (emu_compute_takes(command[0]))
		emu_compute_load(engine, command, dwords);
	return dwords;
}

static void load_register(struct emu_engine *engine, struct load *load, u32 offset, u32 value,
			  bool engine_part)
{
	offset &= GHYVI_REGISTER_MASK;
	if (!engine_part && offset - engine->cs.base < ENGINE_REGISTERS_BYTES)
		load_ring_register(engine, load, offset - engine->cs.base, value);
	else if (!engine_part || !load->inhibit)
		emu_reg_write(engine->emu, offset, value, EMU_CS);
}

/* Execute the lists in @state. Returns false at a command that images do not have. */
static bool load_lists(struct emu_engine *engine, struct load *load, const u32 *state,
		       unsigned int engine_part)
{
	unsigned int i = 0, n;

	while (i < STATE_DWORDS) {
		u32 header = state[i];

		/* The engine's part of an image that was never saved is not valid. */
		load->ended = header == MI_BATCH_BUFFER_END || (i >= engine_part && load->inhibit);
		if (load->ended)
			break;
		if (header == MI_NOOP) {
			i++;
			continue;
		}
		if (is_pipeline_state(engine, header) && i + (header & 0xff) + 2 <= STATE_DWORDS) {
			i += load_pipeline_state(engine, state + i);
			continue;
		}
		if (MI_OPCODE(header) != MI_OPCODE(MI_LOAD_REGISTER_IMM(1)) || header >> 29 ||
		    i + 2 * LRI_COUNT(header) >= STATE_DWORDS) {
			emu_violation(engine->emu, EMU_INVALID_CONTEXT,
				      "%s: context %#x: %#010x at dword %#x of its state",
				      emu_engine_name(engine), engine->image.lrca, header, i);
			return false;
		}
		for (n = 0; n < LRI_COUNT(header); n++)
			load_register(engine, load, state[i + 1 + 2 * n], state[i + 2 + 2 * n],
				      i >= engine_part);
		i += 1 + 2 * LRI_COUNT(header);
	}
	return true;
}

/* Software sets the batch registers to 0 or leaves them as hardware saved them. */
static void check_batch_state(struct emu_engine *engine, const struct load *load,
			      const struct emu_image_note *note)
{
	unsigned int i;

	for (i = 0; i < EMU_BATCH_DWORDS; i++)
		if (load->batch[i] && load->batch[i] != note->batch[i] && !note->lost)
			emu_violation(engine->emu, EMU_BBSTATE,
				      "%s: context %#x: dword %#x is %#x, not %#x",
				      emu_engine_name(engine), engine->image.lrca,
				      BATCH_FIRST + 1 + 2 * i, load->batch[i], note->batch[i]);
}

/*
 * Hardware may not load the image of the context that it has had last. Software that has written to
 * it forces a restore (i915: lrc_update_regs()).
 */
static void check_restore(struct emu_engine *engine, const u32 *state,
			  const struct emu_image_note *note)
{
	if (!engine->image.again || note->lost ||
	    (state[GHYVI_CTX_RING_HEAD] == note->ring_head &&
	     state[GHYVI_CTX_RING_START] == note->ring_start &&
	     state[GHYVI_CTX_RING_CTL] == note->ring_control))
		return;
	emu_violation(engine->emu, EMU_NO_RESTORE,
		      "%s: context %#x: ring %#x head %#x, not %#x %#x", emu_engine_name(engine),
		      engine->image.lrca, state[GHYVI_CTX_RING_START], state[GHYVI_CTX_RING_HEAD],
		      note->ring_start, note->ring_head);
}

/* Continue the batch in which the context was preempted. */
static void resume_batches(struct emu_engine *engine, const struct load *load)
{
	struct softgpu_engine *cs = &engine->cs;
	unsigned int level;

	for (level = 1; level <= GHYVI_BATCH_LEVELS; level++) {
		const u32 *batch = &load->batch[3 * (level - 1)];
		struct softgpu_stream stream = {
			.address = (u64)(batch[0] & 0xffff) << 32 | (batch[1] & ~3u),
			.space = batch[2] & RING_BB_PPGTT ? SOFTGPU_PPGTT : SOFTGPU_GGTT,
			.privileged = !(batch[2] & RING_BB_PPGTT),
		};

		if (!(batch[1] & RING_BB_VALID))
			return;
		softgpu_stream_push(cs, level, &stream);
		engine->predicated = note_of(engine)->predicated;
	}
}

static void load_roots(struct emu_engine *engine)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(engine->pdp); i++) {
		u32 offset = engine->cs.base + RING_CTX_PDP(i);

		engine->pdp[i] = (u64)*emu_reg(engine->emu, offset + 4) << 32 |
				 *emu_reg(engine->emu, offset);
	}
	engine->four_levels = (engine->image.descriptor & GEN8_CTX_ADDRESSING_MODE_MASK) >>
				      GEN8_CTX_ADDRESSING_MODE_SHIFT ==
			      INTEL_LEGACY_64B_CONTEXT;
	engine->cs.ppgtt_mask = engine->four_levels ? GENMASK_ULL(47, 0) : GENMASK_ULL(31, 0);
}

static void run_indirect_batch(struct emu_engine *engine)
{
	u32 indirect = *emu_reg(engine->emu, engine->cs.base + RING_INDIRECT_CTX);
	u32 address = indirect & GHYVI_INDIRECT_ADDRESS;

	if (indirect & GHYVI_INDIRECT_LINES)
		emu_run_restore_batch(engine, address,
				      address + (indirect & GHYVI_INDIRECT_LINES) *
							GHYVI_INDIRECT_LINE_BYTES);
}

static void run_per_context_batch(struct emu_engine *engine)
{
	u32 per_context = *emu_reg(engine->emu, engine->cs.base + RING_BB_PER_CTX_PTR);

	if (per_context & RING_BB_PER_CTX_VALID)
		emu_run_restore_batch(engine, per_context & GHYVI_PAGE_MASK, 0);
}

static void begin_load(struct emu_engine *engine, u64 descriptor)
{
	struct softgpu_engine *cs = &engine->cs;

	/* No switch clears the execution units (CVE-2019-14615). */
	if ((descriptor ^ engine->image.descriptor) & DESC_SAME_CONTEXT)
		engine->eu_foreign = engine->eu_used;
	engine->image.again = !((descriptor ^ engine->image.descriptor) & DESC_SAME_CONTEXT) &&
			      !(descriptor & CTX_DESC_FORCE_RESTORE);
	engine->image.descriptor = descriptor;
	engine->image.lrca = descriptor & DESC_LRCA;
	engine->job.lrca = engine->image.lrca;
	emu_oracle_context(engine, false);
	engine->arbitration = true;
	engine->arbitration_point = false;
	engine->faulted = false;
	cs->level = 0;
	cs->streams[0] = (struct softgpu_stream){ .space = SOFTGPU_GGTT, .privileged = true };
	cs->ring_bytes = 0;
	softgpu_stream_drop_window(cs);
	/* A restore walks the new context's tables (PRM vol. 5, "TLB Invalidations"). */
	emu_tlb_invalidate(engine);
}

static bool ring_is_valid(struct emu_engine *engine)
{
	const struct softgpu_engine *cs = &engine->cs;

	if (cs->ring_bytes && IS_ALIGNED(cs->ring_start, GHYVI_PAGE_BYTES) &&
	    cs->ring_head < cs->ring_bytes && cs->ring_tail < cs->ring_bytes)
		return true;
	emu_violation(engine->emu, EMU_INVALID_CONTEXT,
		      "%s: context %#x: ring start %#x size %#x head %#x tail %#x",
		      emu_engine_name(engine), engine->image.lrca, cs->ring_start, cs->ring_bytes,
		      cs->ring_head, cs->ring_tail);
	return false;
}

static bool load_first_page(struct emu_engine *engine, struct load *load)
{
	u32 copy[STATE_DWORDS];
	const u32 *state = state_page(engine, 1);
	unsigned int i;

	if (!state)
		return false;
	/* Hardware sees what it has saved. */
	for (i = 0; i < engine->nr_late_events; i++)
		if (engine->late_events[i].head == state + GHYVI_CTX_RING_HEAD)
			emu_late_events_settle(engine, true);
	memcpy(copy, state, sizeof(copy));
	if (!load_lists(engine, load, copy, ENGINE_LIST))
		return false;
	check_batch_state(engine, load, note_of(engine));
	check_restore(engine, copy, note_of(engine));
	*emu_reg(engine->emu, engine->cs.base + RING_CONTEXT_CONTROL) = load->control;
	return ring_is_valid(engine);
}

static bool load_render_page(struct emu_engine *engine, struct load *load)
{
	u32 copy[STATE_DWORDS];
	const u32 *state;

	if (engine->cs.id != GHYVI_RCS || load->ended)
		return true;
	state = state_page(engine, RENDER_PAGE);
	if (!state)
		return false;
	memcpy(copy, state, sizeof(copy));
	emu_compute_forget(engine);
	return load_lists(engine, load, copy, 0);
}

bool emu_context_load(struct emu_engine *engine, u64 descriptor)
{
	struct load load = { .inhibit = false };

	begin_load(engine, descriptor);
	if (!load_first_page(engine, &load))
		return false;
	engine->cs.command_pos = engine->cs.ring_head;
	engine->cs.started_ns = ktime_get_ns();
	engine->image.first_tail = engine->cs.ring_tail;
	load_roots(engine);
	run_indirect_batch(engine);
	if (engine->state == EMU_HUNG || !load_render_page(engine, &load))
		return false;
	run_per_context_batch(engine);
	if (engine->state != EMU_HUNG)
		resume_batches(engine, &load);
	emu_compute_loaded(engine);
	return engine->state != EMU_HUNG;
}

void emu_context_update_tail(struct emu_engine *engine)
{
	const u32 *state = state_page(engine, 1);

	if (state)
		engine->cs.ring_tail = READ_ONCE(state[GHYVI_CTX_RING_TAIL]) & RING_TAIL_MASK;
	softgpu_stream_drop_window(&engine->cs);
}

/* ---- save ---- */

static void save_pair(u32 *state, unsigned int index, u32 offset, u32 value)
{
	WRITE_ONCE(state[index], offset);
	WRITE_ONCE(state[index + 1], value);
}

static void save_offsets(struct emu_engine *engine, u32 *state, unsigned int list,
			 const u16 *offsets, unsigned int count)
{
	unsigned int i;

	state[list] = LRI_HEADER(count, LRI_POSTED);
	for (i = 0; i < count; i++)
		state[list + 1 + 2 * i] = engine->cs.base + offsets[i];
}

/* The virtual machine can write to the image meanwhile, so no offset is read back from it. */
static void save_batches(struct emu_engine *engine, u32 *state)
{
	struct emu_image_note *note = note_of(engine);
	unsigned int i;

	for (i = 0; i < EMU_BATCH_DWORDS; i++) {
		note->batch[i] = emu_engine_read(engine, engine->cs.base + batch_list[i]);
		state[BATCH_FIRST + 1 + 2 * i] = note->batch[i];
	}
	/* The predicate of a batch leaves with it; that of a ring stays in the engine. */
	note->predicated = engine->cs.level && engine->predicated;
	if (engine->cs.level)
		engine->predicated = false;
}

/* Adversary: the event that follows brings it (execlist.c). */
static void save_head(struct emu_engine *engine, u32 *head)
{
	if (emu_adversary_has(&engine->emu->adversary, EMU_LATE_CSB)) {
		engine->saved_head = head;
		engine->saved_head_value = engine->cs.ring_head;
	} else {
		WRITE_ONCE(*head, engine->cs.ring_head);
	}
}

/* Software owns R_PWR_CLK_STATE of the render engine. The blitter has BCS_SWCTRL there. */
static void save_power_list(struct emu_engine *engine, u32 *state)
{
	u32 offset = engine->cs.base + 0x200;

	if (engine->cs.id == GHYVI_RCS) {
		state[POWER_LIST] = LRI_HEADER(1, 0);
		state[POWER_LIST + 1] = engine->cs.base + 0xc8;
		return;
	}
	state[POWER_LIST] = LRI_HEADER(1, LRI_POSTED);
	save_pair(state, POWER_LIST + 1, offset,
		  *emu_reg(engine->emu, offset) | (offset == BCS_SWCTRL ? MASKED_ALL : 0));
}

/*
 * Of the ring registers the head and the batch position change. All that software owns stays, the
 * tail among it: i915 moves it while the context ends, and looks no more at a context that has
 * ended. Adversary: hardware that left a context which software had submitted again overwrote the
 * new tail with the one that it had (drm/intel 1501).
 */
static void save_ring_part(struct emu_engine *engine, u32 *state)
{
	u32 control = *emu_reg(engine->emu, engine->cs.base + RING_CONTEXT_CONTROL);

	save_offsets(engine, state, RING_LIST, ring_list, ARRAY_SIZE(ring_list));
	save_offsets(engine, state, PPGTT_LIST, ppgtt_list, ARRAY_SIZE(ppgtt_list));
	control &= ~(u32)CTX_CTRL_ENGINE_CTX_RESTORE_INHIBIT;
	WRITE_ONCE(state[GHYVI_CTX_CONTROL], MASKED_ALL | control);
	save_head(engine, state + GHYVI_CTX_RING_HEAD);
	if (emu_adversary_has(&engine->emu->adversary, EMU_STALE_TAIL))
		WRITE_ONCE(state[GHYVI_CTX_RING_TAIL], engine->cs.ring_tail);
	WRITE_ONCE(state[GHYVI_CTX_TIMESTAMP], softgpu_context_timestamp(&engine->cs));
	save_batches(engine, state);
	note_of(engine)->lost = false;
	note_of(engine)->ring_head = engine->cs.ring_head;
	note_of(engine)->ring_start = state[GHYVI_CTX_RING_START];
	note_of(engine)->ring_control = state[GHYVI_CTX_RING_CTL];
	save_power_list(engine, state);
	if (engine->cs.id == GHYVI_RCS) {
		state[CSR_COMMAND] = GPGPU_CSR_BASE_ADDRESS;
		memcpy(state + CSR_COMMAND + 1, engine->csr_base, sizeof(engine->csr_base));
	}
}

static u32 engine_value(struct emu_engine *engine, u32 at)
{
	u32 value = emu_engine_read(engine, engine->cs.base + at);

	switch (at) {
	case RING_MI_MODE:
		return MASKED_ALL | (value & ~(u32)MI_MODE_IDLE);
	case RING_EXCC:
	case RING_INSTPM:
		return MASKED_ALL | value;
	default:
		return value;
	}
}

static unsigned int save_list(struct emu_engine *engine, u32 *state, unsigned int list,
			      const u32 *offsets, unsigned int count)
{
	unsigned int i, at = list + 1;

	state[list] = LRI_HEADER(count, 0);
	for (i = 0; i < count; i++, at += 2)
		save_pair(state, at, offsets[i], *emu_reg(engine->emu, offsets[i]));
	return at;
}

/*
 * The rest of the render engine's first page, from dword @at on. The image is one stream of
 * commands over all pages, with one BATCH_BUFFER_END; kvmgt scans it as such.
 */
static void save_fixed_part(struct emu_engine *engine, u32 *state, unsigned int at)
{
	while (at < OA_LIST)
		state[at++] = MI_NOOP;
	at = save_list(engine, state, OA_LIST, oa_list, ARRAY_SIZE(oa_list));
	while (at < FLEX_EU_LIST)
		state[at++] = MI_NOOP;
	at = save_list(engine, state, FLEX_EU_LIST, flex_eu_list, ARRAY_SIZE(flex_eu_list));
	while (at < STATE_DWORDS)
		state[at++] = MI_NOOP;
}

static void save_engine_part(struct emu_engine *engine, u32 *state)
{
	unsigned int i, at = ENGINE_LIST + 1;

	state[ENGINE_LIST] = LRI_HEADER(ARRAY_SIZE(engine_list) + 2 * SOFTGPU_GPRS + 1, LRI_POSTED);
	for (i = 0; i < ARRAY_SIZE(engine_list); i++, at += 2)
		save_pair(state, at, engine->cs.base + engine_list[i],
			  engine_value(engine, engine_list[i]));
	for (i = 0; i < 2 * SOFTGPU_GPRS; i++, at += 2)
		save_pair(state, at, engine->cs.base + GEN8_RING_CS_GPR + 4 * i, engine->cs.gpr[i]);
	save_pair(state, at, engine->cs.base + RING_IPEHR, engine->cs.packet[0]);
	if (engine->cs.id == GHYVI_RCS)
		save_fixed_part(engine, state, at + 2);
	else
		state[at + 2] = MI_BATCH_BUFFER_END;
}

static void save_render_part(struct emu_engine *engine, u32 *state)
{
	unsigned int i, at = 0, header = 0, count = 0;
	u32 offset;

	for (i = 0; i < ARRAY_SIZE(render_registers); i++) {
		u32 mask = render_registers[i].masked ? MASKED_ALL : 0;

		for (offset = render_registers[i].first; offset <= render_registers[i].last;
		     offset += 4) {
			if (count % LRI_LIST_MAX == 0)
				header = at++;
			save_pair(state, at, offset, *emu_reg(engine->emu, offset) | mask);
			at += 2;
			count++;
			state[header] = LRI_HEADER((at - header - 1) / 2, 0);
		}
	}
	memcpy(state + at, pipeline_state, sizeof(pipeline_state));
	at += ARRAY_SIZE(pipeline_state);
	emu_compute_save(engine, state + at);
	state[at + EMU_COMPUTE_IMAGE_DWORDS] = MI_BATCH_BUFFER_END;
}

void emu_context_save(struct emu_engine *engine)
{
	u32 *state = state_page(engine, 1);

	emu_late_writes_drain(engine);
	if (emu_compute_runs(engine))
		emu_compute_leave(engine);
	if (!state)
		return;
	save_ring_part(engine, state);
	save_engine_part(engine, state);
	if (engine->cs.id != GHYVI_RCS)
		return;
	state = state_page(engine, RENDER_PAGE);
	if (state)
		save_render_part(engine, state);
}
