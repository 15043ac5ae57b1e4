// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predication. MI_PREDICATE computes a bit that makes later commands conditional. As in Mesa's
 * interpreter of MI commands (gen_mi_runner), the result goes to both result registers.
 * MI_BATCH_BUFFER_START tests MI_PREDICATE_RESULT_1, which drivers also write directly;
 * MI_STORE_REGISTER_MEM tests MI_PREDICATE_RESULT. 3DPRIMITIVE draws nothing, so it needs no
 * predicate.
 *
 * MI_SET_PREDICATE turns the commands that follow it into MI_NOOP, by a condition that it evaluates
 * once. The manual confines that to a batch and to a list of commands, none of which starts or ends
 * a batch. So a batch is followed as without the predicate, and its end restores normal execution:
 * a user batch cannot turn commands of the guest's kernel into MI_NOOP.
 */
#include "engine.h"

enum {
	COMPARE_TRUE,
	COMPARE_FALSE,
	COMPARE_SOURCES_EQUAL,
	COMPARE_DELTAS_EQUAL,
};

enum {
	COMBINE_SET,
	COMBINE_AND,
	COMBINE_OR,
	COMBINE_XOR,
};

enum {
	LOAD_KEEP = 0,
	LOAD_LOAD = 2,
	LOAD_INVERSE = 3,
};

static u64 predicate_read64(const struct softgpu_engine *engine, u32 offset)
{
	return (u64)softgpu_register_peek(engine, engine->base + offset + 4) << 32 |
	       softgpu_register_peek(engine, engine->base + offset);
}

bool softgpu_predicate(const struct softgpu_engine *engine, u32 offset)
{
	return softgpu_register_peek(engine, engine->base + offset) & 1;
}

/* The comparison of the sources stores their difference; that of differences uses it. */
static bool predicate_compare(struct softgpu_engine *engine, unsigned int compare)
{
	u64 delta = predicate_read64(engine, MI_PREDICATE_SRC0) -
		    predicate_read64(engine, MI_PREDICATE_SRC1);

	switch (compare) {
	case COMPARE_TRUE:
		return true;
	case COMPARE_FALSE:
		return false;
	case COMPARE_SOURCES_EQUAL:
		softgpu_register_poke(engine, engine->base + MI_PREDICATE_DATA,
				      lower_32_bits(delta));
		softgpu_register_poke(engine, engine->base + MI_PREDICATE_DATA + 4,
				      upper_32_bits(delta));
		return !delta;
	default:
		return delta == predicate_read64(engine, MI_PREDICATE_DATA);
	}
}

static bool predicate_combine(const struct softgpu_engine *engine, unsigned int combine, bool value)
{
	bool old = softgpu_predicate(engine, MI_PREDICATE_RESULT);

	switch (combine) {
	case COMBINE_AND:
		return old && value;
	case COMBINE_OR:
		return old || value;
	case COMBINE_XOR:
		return old != value;
	default:
		return value;
	}
}

int softgpu_mi_predicate(struct softgpu_engine *engine)
{
	u32 header = engine->packet[0];
	unsigned int load = MI_PREDICATE_LOAD(header);
	bool value = predicate_compare(engine, MI_PREDICATE_COMPARE(header));

	value = predicate_combine(engine, MI_PREDICATE_COMBINE(header), value);
	if (load != LOAD_LOAD && load != LOAD_INVERSE)
		return SOFTGPU_OK;
	value ^= load == LOAD_INVERSE;
	softgpu_register_poke(engine, engine->base + MI_PREDICATE_RESULT, value);
	softgpu_register_poke(engine, engine->base + MI_PREDICATE_RESULT_1, value);
	return SOFTGPU_OK;
}

static bool predicate_noop(const struct softgpu_engine *engine, unsigned int enable)
{
	switch (enable) {
	case MI_SET_PREDICATE_RESULT2_CLEAR:
		return !softgpu_predicate(engine, MI_PREDICATE_RESULT_2);
	case MI_SET_PREDICATE_RESULT2_SET:
		return softgpu_predicate(engine, MI_PREDICATE_RESULT_2);
	case MI_SET_PREDICATE_RESULT_CLEAR:
		return !softgpu_predicate(engine, MI_PREDICATE_RESULT);
	case MI_SET_PREDICATE_RESULT_SET:
		return softgpu_predicate(engine, MI_PREDICATE_RESULT);
	case MI_SET_PREDICATE_NOT_2_SLICES: /* a vGPU's fuses say that it has one */
	case MI_SET_PREDICATE_NOT_3_SLICES:
	case MI_SET_PREDICATE_ALWAYS:
		return true;
	default:
		return false;
	}
}

/* Only the render engine has it; the others skip it. */
int softgpu_mi_set_predicate(struct softgpu_engine *engine)
{
	if (engine->id == GHYVI_RCS && engine->level)
		softgpu_job(engine->job)->noop =
			predicate_noop(engine, MI_SET_PREDICATE_ENABLE(engine->packet[0]));
	return SOFTGPU_OK;
}
