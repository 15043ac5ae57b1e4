// SPDX-License-Identifier: GPL-2.0-only
/* The media pipeline's commands: what they set, and the dispatch that a walker stands for. */
#include "eu_state.h"
#include "machine.h"

#include <stdio.h>
#include <string.h>

static enum eu_command error_of(struct eu_error *error, enum eu_status status, const char *text)
{
	memset(error, 0, sizeof(*error));
	error->status = status;
	snprintf(error->text, sizeof(error->text), "%s", text);
	return EU_COMMAND_ERROR;
}

static int read_state(const struct eu_memory *memory, uint64_t address, void *to, uint32_t bytes,
		      struct eu_error *error)
{
	uint8_t *out = to;

	while (bytes) {
		uint32_t offset = address & (EU_PAGE_BYTES - 1), part = EU_PAGE_BYTES - offset;
		uint64_t page = (address - offset) & 0xffffffffffffull;
		const uint8_t *from = memory->ops->map(memory->context, page, EU_ACCESS_STATE);

		if (!from) {
			error_of(error, EU_FAULT, "");
			snprintf(error->text, sizeof(error->text),
				 "a command loads from 0x%llx, which is not mapped",
				 (unsigned long long)address);
			error->access = EU_ACCESS_STATE;
			error->address = address;
			return -1;
		}
		if (part > bytes)
			part = bytes;
		memcpy(out, from + offset, part);
		out += part;
		address += part;
		bytes -= part;
	}
	return 0;
}

static void take_base(uint64_t *base, const uint32_t *dw)
{
	if (dw[0] & 1)
		*base = ((uint64_t)(dw[1] & 0xffff) << 32 | dw[0]) & ~0xfffull;
}

static void take_bound(uint64_t *bytes, uint32_t dw)
{
	if (dw & 1)
		*bytes = dw & ~0xfffu;
}

static void base_addresses(struct eu_state *s, const uint32_t *c)
{
	take_base(&s->general_base, c + 1);
	take_base(&s->surface_base, c + 4);
	take_base(&s->dynamic_base, c + 6);
	take_base(&s->indirect_base, c + 8);
	take_base(&s->instruction_base, c + 10);
	take_bound(&s->general_bytes, c[12]);
	take_bound(&s->dynamic_bytes, c[13]);
	take_bound(&s->indirect_bytes, c[14]);
	take_bound(&s->instruction_bytes, c[15]);
}

static enum eu_command load_constants(struct eu_state *s, const struct eu_memory *memory,
				      const uint32_t *c, struct eu_error *error)
{
	uint32_t bytes = c[2] & 0x1ffff;

	if (bytes > EU_CURBE_BYTES)
		return error_of(error, EU_ILLEGAL, "MEDIA_CURBE_LOAD: more than 64 KiB");
	if (read_state(memory, s->dynamic_base + c[3], s->curbe, bytes, error))
		return EU_COMMAND_ERROR;
	s->curbe_bytes = bytes;
	return EU_COMMAND_TAKEN;
}

static enum eu_command load_descriptors(struct eu_state *s, const struct eu_memory *memory,
					const uint32_t *c, struct eu_error *error)
{
	uint32_t count = (c[2] & 0x1ffff) / 32;

	if (count > EU_DESCRIPTORS)
		return error_of(error, EU_ILLEGAL,
				"MEDIA_INTERFACE_DESCRIPTOR_LOAD: more than 64 descriptors");
	if (read_state(memory, s->dynamic_base + c[3], s->descriptor, count * 32, error))
		return EU_COMMAND_ERROR;
	s->descriptors = count;
	return EU_COMMAND_TAKEN;
}

static struct eu_base base_of(uint64_t address, uint64_t bytes)
{
	return (struct eu_base){ .address = address, .bytes = bytes ? bytes : UINT64_MAX };
}

/* What walkers and media objects have in common: the bases, and an interface descriptor. */
static enum eu_command begin(const struct eu_state *s, uint32_t index, struct eu_dispatch *d,
			     struct eu_error *error)
{
	const uint32_t *id = s->descriptor[index];
	uint32_t slm = id[6] >> 16 & 31, offset = (id[5] & 0xffff) * EU_REG_BYTES;

	if (index >= s->descriptors)
		return error_of(error, EU_ILLEGAL, "a walker without an interface descriptor");
	if (slm > 7)
		return error_of(error, EU_ILLEGAL, "a descriptor with too much shared memory");
	memset(d, 0, sizeof(*d));
	d->general = base_of(s->general_base, s->general_bytes);
	d->surface = base_of(s->surface_base, 0);
	d->dynamic = base_of(s->dynamic_base, s->dynamic_bytes);
	d->indirect = base_of(s->indirect_base, s->indirect_bytes);
	d->instruction = base_of(s->instruction_base, s->instruction_bytes);
	d->kernel = (uint64_t)(id[1] & 0xffff) << 32 | (id[0] & ~63u);
	d->float_mode_alternate = id[2] >> 16 & 1;
	d->single_flow = id[2] >> 18 & 1;
	d->samplers = id[3] & ~31u;
	d->binding_table = id[4] & 0xffe0;
	d->per_thread_registers = id[5] >> 16;
	d->cross_thread_registers = id[7] & 0xff;
	d->slm_bytes = slm ? 512u << slm : 0;
	d->barrier = id[6] >> 21 & 1;
	d->rounding = id[6] >> 22 & 3;
	d->scratch = s->scratch;
	d->scratch_bytes = s->scratch_bytes;
	d->descriptor = index;
	if (offset < s->curbe_bytes) {
		d->constants = s->curbe + offset;
		d->constants_bytes = s->curbe_bytes - offset;
	}
	return EU_COMMAND_DISPATCH;
}

static enum eu_command walker(struct eu_state *s, const uint32_t *c, struct eu_dispatch *d,
			      struct eu_error *error)
{
	uint32_t start[3] = { c[5], c[8], c[11] }, end[3] = { c[7], c[10], c[12] };
	enum eu_command result;
	unsigned int n;

	if (c[0] & 1 << 10)
		memcpy(end, s->dispatch_dim, sizeof(end));
	for (n = 0; n < 3; n++)
		if (end[n] <= start[n])
			return EU_COMMAND_TAKEN;
	result = begin(s, c[1] & 63, d, error);
	if (result != EU_COMMAND_DISPATCH)
		return result;
	if (c[0] & 1 << 8)
		return error_of(error, EU_UNSUPPORTED, "GPGPU_WALKER under a predicate");
	d->indirect_bytes = c[2] & 0x1ffff;
	d->indirect_data = c[3] & ~63u;
	d->simd = 8u << (c[4] >> 30);
	d->threads[0] = (c[4] & 63) + 1;
	d->threads[1] = (c[4] >> 8 & 63) + 1;
	d->threads[2] = (c[4] >> 16 & 63) + 1;
	memcpy(d->start, start, sizeof(start));
	memcpy(d->end, end, sizeof(end));
	d->right_mask = c[13];
	d->bottom_mask = c[14];
	return EU_COMMAND_DISPATCH;
}

static enum eu_command media_object(struct eu_state *s, const uint32_t *c, uint32_t dwords,
				    struct eu_dispatch *d, struct eu_error *error)
{
	enum eu_command result = begin(s, c[1] & 63, d, error);

	if (result != EU_COMMAND_DISPATCH)
		return result;
	d->indirect_bytes = c[2] & 0x1ffff;
	d->indirect_data = c[3];
	/* Public manuals do not say clearly which comes first. */
	if (d->indirect_bytes && dwords > 6)
		return error_of(error, EU_UNSUPPORTED,
				"MEDIA_OBJECT with inline and indirect data");
	if (dwords - 6 > EU_INLINE_DWORDS)
		return error_of(error, EU_UNSUPPORTED, "MEDIA_OBJECT with too much data");
	d->media = true;
	d->simd = 16;
	d->inline_dwords = dwords - 6;
	memcpy(d->inline_data, c + 6, d->inline_dwords * 4);
	return EU_COMMAND_DISPATCH;
}

enum eu_command eu_state_command(struct eu_state *state, const struct eu_memory *memory,
				 const uint32_t *command, uint32_t dwords,
				 struct eu_dispatch *dispatch, struct eu_error *error)
{
	static const struct {
		uint16_t command;
		uint16_t least;
	} lengths[] = {
		{ EU_STATE_BASE_ADDRESS, 16 }, { EU_MEDIA_VFE_STATE, 9 },
		{ EU_MEDIA_CURBE_LOAD, 4 },    { EU_MEDIA_INTERFACE_DESCRIPTOR_LOAD, 4 },
		{ EU_GPGPU_WALKER, 15 },       { EU_MEDIA_OBJECT, 6 },
	};
	uint32_t code = dwords ? command[0] >> 16 : 0;
	unsigned int n;

	for (n = 0; n < sizeof(lengths) / sizeof(lengths[0]); n++)
		if (lengths[n].command == code && dwords < lengths[n].least)
			return error_of(error, EU_ILLEGAL, "a command that is too short");
	switch (code) {
	case EU_STATE_BASE_ADDRESS:
		base_addresses(state, command);
		return EU_COMMAND_TAKEN;
	case EU_MEDIA_VFE_STATE:
		state->scratch = (uint64_t)(command[2] & 0xffff) << 32 | (command[1] & ~0x3ffu);
		state->scratch_bytes = 1024u << (command[1] & 15);
		if (state->scratch_bytes > 2 << 20)
			return error_of(error, EU_ILLEGAL, "MEDIA_VFE_STATE: too much scratch");
		return EU_COMMAND_TAKEN;
	case EU_MEDIA_CURBE_LOAD:
		return load_constants(state, memory, command, error);
	case EU_MEDIA_INTERFACE_DESCRIPTOR_LOAD:
		return load_descriptors(state, memory, command, error);
	case EU_MEDIA_STATE_FLUSH:
		return EU_COMMAND_TAKEN;
	case EU_GPGPU_WALKER:
		return walker(state, command, dispatch, error);
	case EU_MEDIA_OBJECT:
		return media_object(state, command, dwords, dispatch, error);
	case EU_MEDIA_OBJECT_PRT:
	case EU_MEDIA_OBJECT_WALKER:
	case EU_MEDIA_OBJECT_GRPID:
		return error_of(error, EU_UNSUPPORTED, "this kind of media object");
	default:
		return EU_COMMAND_OTHER;
	}
}
