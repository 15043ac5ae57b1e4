// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images: the sampler's messages that compute kernels use, with nearest and linear filters, and the
 * data port's typed messages. Weights of the linear filter are floats, where hardware has 8 bits.
 */
#include "dataport.h"

#include <math.h>

/* Bits 16:12 of the descriptor. */
enum {
	SAMPLE_L = 0x02,
	LD = 0x07,
	RESINFO = 0x0a,
	SAMPLE_LZ = 0x18,
	LD_LZ = 0x1a,
};

enum { WRAP, MIRROR, CLAMP, CUBE, CLAMP_BORDER, MIRROR_ONCE, HALF_BORDER };
enum { FILTER_NEAREST, FILTER_LINEAR };
enum { MIP_NONE = 0, MIP_NEAREST = 1, MIP_LINEAR = 3 };

struct sampler {
	uint32_t mag, min, mip;
	float bias, min_lod, max_lod;
	bool texels; /* coordinates are not normalised */
	uint32_t wrap[3];
	uint32_t border[4];
};

static int sampler_of(struct eu_exec *x, const struct eu_insn *i, const struct eu_message *m,
		      struct sampler *s)
{
	const struct eu_dispatch *d = &x->run->dispatch;
	uint32_t table = d->samplers, dw[4], c;

	if (m->header)
		table = eu_data32(m->header, 3) & ~31u;
	if (eu_read(x, d->dynamic.address + table + (m->desc >> 8 & 15) * 16, dw, sizeof(dw),
		    EU_ACCESS_STATE))
		return -1;
	s->mip = dw[0] >> 20 & 3;
	s->mag = dw[0] >> 17 & 7;
	s->min = dw[0] >> 14 & 7;
	s->bias = (float)((int32_t)(dw[0] << 18) >> 19) / 256;
	s->min_lod = (float)(dw[1] >> 20) / 256;
	s->max_lod = (float)(dw[1] >> 8 & 0xfff) / 256;
	s->texels = dw[3] >> 10 & 1;
	for (c = 0; c < 3; c++)
		s->wrap[c] = dw[3] >> (6 - 3 * c) & 7;
	if (s->mag > FILTER_LINEAR || s->min > FILTER_LINEAR) {
		eu_fail(x, i, EU_UNSUPPORTED, "a filter that is neither nearest nor linear");
		return -1;
	}
	memset(s->border, 0, sizeof(s->border));
	for (c = 0; c < 3; c++)
		if (s->wrap[c] == CLAMP_BORDER || s->wrap[c] == HALF_BORDER)
			return eu_read(x, d->dynamic.address + (dw[2] & 0xffffc0), s->border,
				       sizeof(s->border), EU_ACCESS_STATE);
	return 0;
}

static int fetch(struct eu_exec *x, const struct eu_surface *s, uint32_t u, uint32_t v, uint32_t r,
		 uint32_t level, uint32_t channels[4])
{
	uint8_t texel[16];

	if (eu_read(x, eu_surface_texel(s, u, v, r, level), texel, s->texel_bytes, EU_ACCESS_READ))
		return -1;
	eu_texel_unpack(s->format, texel, channels);
	return 0;
}

static uint32_t one_of(const struct eu_surface *s)
{
	return s->format->type == EU_UINT || s->format->type == EU_SINT ? 1 : 0x3f800000;
}

/* What RENDER_SURFACE_STATE says each channel shows. */
static void select_channels(const struct eu_surface *s, uint32_t channels[4])
{
	uint32_t from[4], c;

	memcpy(from, channels, sizeof(from));
	for (c = 0; c < 4; c++)
		channels[c] = s->select[c] >= 4 ? from[s->select[c] - 4] :
			      s->select[c] == 1 ? one_of(s) :
						  0;
}

/* A texel's index by the wrap mode; -1: the border. */
static int64_t wrapped(int64_t n, int64_t size, uint32_t mode)
{
	int64_t twice = 2 * size;

	switch (mode) {
	case WRAP:
		n %= size;
		return n < 0 ? n + size : n;
	case MIRROR:
		n %= twice;
		n = n < 0 ? n + twice : n;
		return n < size ? n : twice - 1 - n;
	case MIRROR_ONCE:
		n = n < 0 ? -1 - n : n;
		return n < size ? n : size - 1;
	case CLAMP_BORDER:
	case HALF_BORDER:
		return n < 0 || n >= size ? -1 : n;
	default:
		return n < 0 ? 0 : n >= size ? size - 1 : n;
	}
}

static uint32_t smaller(uint32_t v, uint32_t level)
{
	v >>= level;
	return v ? v : 1;
}

static unsigned int dimensions(const struct eu_surface *s)
{
	return s->type == EU_SURFACE_1D ? 1 : s->type == EU_SURFACE_3D ? 3 : 2;
}

/* Floats far outside of an image are as good as just outside, and have no integer. */
static int64_t whole(float f)
{
	if (!(f > -1e6f))
		return f < 0 ? -1000000 : 0;
	return f < 1e6f ? (int64_t)floorf(f) : 1000000;
}

/* One level of detail: a texel, or the weighted texels around a place. */
static int level_of(struct eu_exec *x, const struct eu_surface *s, const struct sampler *p,
		    const float place[3], uint32_t slice, uint32_t level, uint32_t filter,
		    uint32_t channels[4])
{
	unsigned int n, count = dimensions(s), corner, c;
	int64_t first[3] = { 0 };
	uint32_t size[3] = { smaller(s->width, level), smaller(s->height, level),
			     smaller(s->depth, level) };
	float weight[3] = { 0 }, sum[4] = { 0 };
	bool integer = s->format->type == EU_UINT || s->format->type == EU_SINT;

	if (integer)
		filter = FILTER_NEAREST;
	for (n = 0; n < count; n++) {
		float f = p->texels ? place[n] : place[n] * (float)size[n];

		if (filter == FILTER_LINEAR)
			f -= 0.5f;
		first[n] = whole(f);
		weight[n] = filter == FILTER_LINEAR && f == f && fabsf(f) < 1e6f ? f - floorf(f) :
										   0;
	}
	for (corner = 0; corner < (filter == FILTER_LINEAR ? 1u << count : 1); corner++) {
		uint32_t texel[4];
		float share = 1;
		int64_t at[3] = { 0 };
		bool border = false;

		for (n = 0; n < count; n++) {
			bool second = corner >> n & 1;

			share *= second ? weight[n] : 1 - weight[n];
			at[n] = wrapped(first[n] + second, size[n], p->wrap[n]);
			border |= at[n] < 0;
		}
		if (share == 0 && filter == FILTER_LINEAR)
			continue;
		if (border)
			memcpy(texel, p->border, sizeof(texel));
		else if (fetch(x, s, (uint32_t)at[0], (uint32_t)at[1],
			       count == 3 ? (uint32_t)at[2] : slice, level, texel))
			return -1;
		if (filter == FILTER_NEAREST) {
			memcpy(channels, texel, sizeof(texel));
			return 0;
		}
		for (c = 0; c < 4; c++) {
			float f;

			memcpy(&f, &texel[c], 4);
			sum[c] += f * share;
		}
	}
	memcpy(channels, sum, sizeof(sum));
	return 0;
}

static float as_float(uint32_t v)
{
	float f;

	memcpy(&f, &v, sizeof(f));
	return f;
}

static int sample(struct eu_exec *x, const struct eu_surface *s, const struct sampler *p,
		  const uint32_t coordinates[3], float lod, uint32_t channels[4])
{
	float place[3] = { as_float(coordinates[0]), as_float(coordinates[1]),
			   as_float(coordinates[2]) };
	uint32_t slice = 0, filter, level, lower[4], c;
	float fraction;

	if (s->array) {
		float index = place[dimensions(s)];
		int64_t n = whole(index + 0.5f);

		slice = n < 0 ? 0 : n >= s->depth ? s->depth - 1 : (uint32_t)n;
	}
	lod += p->bias;
	lod = lod > p->max_lod ? p->max_lod : lod;
	lod = lod > p->min_lod ? lod : p->min_lod;
	filter = lod <= 0 ? p->mag : p->min;
	if (p->mip == MIP_NONE || lod != lod)
		lod = 0;
	lod += (float)s->min_level;
	if (lod > (float)(s->levels - 1))
		lod = (float)(s->levels - 1);
	if (lod > 14)
		lod = 14;
	if (p->mip != MIP_LINEAR)
		lod = floorf(lod + 0.5f);
	level = (uint32_t)lod;
	fraction = lod - floorf(lod);
	if (level_of(x, s, p, place, slice, level, filter, channels))
		return -1;
	if (fraction == 0)
		return 0;
	if (level_of(x, s, p, place, slice, level + 1, filter, lower))
		return -1;
	for (c = 0; c < 4; c++) {
		float f = as_float(channels[c]) * (1 - fraction) + as_float(lower[c]) * fraction;

		memcpy(&channels[c], &f, 4);
	}
	return 0;
}

/* Whether a level has this texel, and in which slice. */
static bool is_inside(const struct eu_surface *s, const uint32_t at[3], uint32_t level,
		      uint32_t *slice)
{
	unsigned int count = dimensions(s);

	*slice = 0;
	if (s->type == EU_SURFACE_BUFFER)
		return at[0] < s->width;
	if (level > 14)
		return false;
	if (s->array || count == 3) {
		*slice = at[count == 1 ? 1 : 2];
		if (*slice >= (count == 3 ? smaller(s->depth, level) : s->depth))
			return false;
	}
	return at[0] < smaller(s->width, level) &&
	       (count == 1 || at[1] < smaller(s->height, level));
}

/* ld: a texel by integers; 0 outside. */
static int load(struct eu_exec *x, const struct eu_surface *s, const uint32_t at[3], uint32_t lod,
		uint32_t channels[4])
{
	uint32_t level = lod + s->min_level, slice;

	memset(channels, 0, 16);
	if ((s->type != EU_SURFACE_BUFFER && lod >= s->levels) || !is_inside(s, at, level, &slice))
		return 0;
	return fetch(x, s, at[0], dimensions(s) > 1 ? at[1] : 0, slice, level, channels);
}

/* Where the parameters of a message are, in the order of its payload. */
struct order {
	int u, v, r, lod;
};

static bool order_of(uint32_t type, struct order *o)
{
	switch (type) {
	case SAMPLE_LZ:
	case LD_LZ:
		*o = (struct order){ 0, 1, 2, -1 };
		return true;
	case SAMPLE_L:
		*o = (struct order){ 1, 2, 3, 0 };
		return true;
	case LD:
		*o = (struct order){ 0, 1, 3, 2 };
		return true;
	case RESINFO:
		*o = (struct order){ -1, -1, -1, 0 };
		return true;
	default:
		return false;
	}
}

static uint32_t parameter(const struct eu_message *m, uint32_t lanes, int number, uint32_t lane)
{
	uint32_t row = lanes / 8;

	if (number < 0 || ((uint32_t)number + 1) * row > m->registers)
		return 0;
	return eu_data32(eu_payload(m), (uint32_t)number * lanes + lane);
}

/** eu_sampler() - a message to the sampler */
enum eu_step eu_sampler(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	uint32_t type = m->desc >> 12 & 31, mode = m->desc >> 17 & 3, off = 0, lanes, lane, c;
	uint32_t index = m->desc & 0xff, enabled = 0;
	const struct eu_surface *s;
	struct sampler p;
	struct order order;

	if (mode != 1 && mode != 2)
		return eu_fail(x, i, EU_UNSUPPORTED, "sampler message 0x%x of this width", m->desc);
	if (!order_of(type, &order))
		return eu_fail(x, i, EU_UNSUPPORTED, "sampler message type 0x%x", type);
	if (m->desc >> 30 & 1)
		return eu_fail(x, i, EU_UNSUPPORTED, "a sampler's answer of 16 bits");
	if (index > EU_BTI_LAST)
		return eu_fail(x, i, EU_UNSUPPORTED, "a sampler's binding table index %u", index);
	lanes = mode * 8;
	if (m->header) {
		off = eu_data32(m->header, 2) >> 12 & 15;
		if (eu_data32(m->header, 2) & 0xfff)
			return eu_fail(x, i, EU_UNSUPPORTED, "a sampler's offsets");
	}
	for (c = 0; c < 4; c++)
		enabled += !(off >> c & 1);
	/* An answer of fewer channels drops the last ones. */
	if (m->response < lanes / 8)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x with a short answer", m->desc);
	s = eu_surface_get(x, i, index);
	if (!s)
		return EU_FAILED;
	if (s->type != EU_SURFACE_NULL && (!s->format || s->type == EU_SURFACE_STRUCTURED))
		return eu_fail(x, i, EU_UNSUPPORTED, "sampling a buffer without a format");
	if (type == SAMPLE_L || type == SAMPLE_LZ) {
		if (s->type == EU_SURFACE_BUFFER)
			return eu_fail(x, i, EU_ILLEGAL, "filtering a buffer");
		if (sampler_of(x, i, m, &p))
			return EU_FAILED;
	}
	for (lane = 0; lane < lanes; lane++) {
		uint32_t channels[4] = { 0 }, row = 0, at[3];
		uint32_t lod = parameter(m, lanes, order.lod, lane);
		int wrong = 0;

		if (!(m->mask >> lane & 1))
			continue;
		at[0] = parameter(m, lanes, order.u, lane);
		at[1] = parameter(m, lanes, order.v, lane);
		at[2] = parameter(m, lanes, order.r, lane);
		if (s->type == EU_SURFACE_NULL) {
			;
		} else if (type == RESINFO) {
			channels[0] = smaller(s->width, lod & 15);
			channels[1] = smaller(s->height, lod & 15);
			channels[2] = s->array ? s->depth : smaller(s->depth, lod & 15);
			channels[3] = s->levels;
		} else if (type == LD || type == LD_LZ) {
			wrong = load(x, s, at, lod, channels);
			select_channels(s, channels);
		} else {
			wrong = sample(x, s, &p, at, order.lod < 0 ? 0 : as_float(lod), channels);
			select_channels(s, channels);
		}
		if (wrong)
			return EU_FAILED;
		for (c = 0; c < 4; c++) {
			if (off >> c & 1)
				continue;
			if ((row + 1) * (lanes / 8) > m->response)
				break;
			memcpy(m->answer + (row * lanes + lane) * 4, &channels[c], 4);
			row++;
		}
	}
	return EU_NEXT;
}

enum { TYPED_READ = 0x05, TYPED_ATOMIC = 0x06, TYPED_WRITE = 0x0d };
enum { R32_SINT = 0x0d6, R32_UINT = 0x0d7 };

static uint64_t place_of(const struct eu_surface *s, const uint32_t at[3], uint32_t slice)
{
	return eu_surface_texel(s, at[0], dimensions(s) > 1 ? at[1] : 0, slice, s->min_level);
}

/* Where each lane's texel is, in x, y, z. */
static void typed_place(const struct eu_message *m, uint32_t parameters, uint32_t lane,
			uint32_t at[3])
{
	uint32_t c;

	memset(at, 0, 3 * sizeof(*at));
	for (c = 0; c < 3 && c < parameters; c++)
		at[c] = eu_data32(eu_payload(m), c * 8 + lane);
}

/* Operations on texels that are integers of 32 bits; outside of the image, on nothing. */
static enum eu_step typed_atomics(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	uint32_t op = m->desc >> 8 & 15, sources = eu_atomic_sources(op), lane, parameters;
	bool answers = m->desc >> 13 & 1;
	const struct eu_surface *s;
	const uint8_t *data;

	if (!op)
		return eu_fail(x, i, EU_UNSUPPORTED, "typed atomic operation %u", op);
	if (m->registers <= sources || (answers && !m->response))
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x without all registers", m->desc);
	s = eu_surface_get(x, i, m->desc & 0xff);
	if (!s)
		return EU_FAILED;
	if (s->type != EU_SURFACE_NULL &&
	    (!s->format || s->type == EU_SURFACE_STRUCTURED ||
	     (s->format->code != R32_SINT && s->format->code != R32_UINT)))
		return eu_fail(x, i, EU_UNSUPPORTED, "a typed atomic of other than R32 integers");
	if (m->header)
		m->mask &= eu_data32(m->header, 7);
	if (m->desc >> 12 & 1 && i->lanes == 16)
		m->mask >>= 8;
	parameters = m->registers - sources;
	data = eu_payload(m) + parameters * EU_REG_BYTES;
	for (lane = 0; lane < 8; lane++) {
		uint32_t at[3], old = 0, slice;

		if (!(m->mask >> lane & 1))
			continue;
		typed_place(m, parameters, lane, at);
		if (s->type != EU_SURFACE_NULL && is_inside(s, at, s->min_level, &slice)) {
			uint64_t address = place_of(s, at, slice);
			void *where = eu_map(x, address, EU_ACCESS_WRITE);

			if (!where)
				return EU_FAILED;
			if (address & 3)
				return eu_fail(x, i, EU_ILLEGAL,
					       "an atomic operation that is not aligned");
			old = (uint32_t)eu_atomic(where, op, sources ? eu_data32(data, lane) : 0,
						  sources > 1 ? eu_data32(data, 8 + lane) : 0,
						  false, false);
		}
		if (answers)
			memcpy(m->answer + lane * 4, &old, 4);
	}
	return EU_NEXT;
}

/** eu_typed() - a typed message of the data port: texels by integers, without a filter */
enum eu_step eu_typed(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	uint32_t type = m->desc >> 14 & 31, half = m->desc >> 12 & 3, off = m->desc >> 8 & 15;
	uint32_t lane, c, count = 4 - (uint32_t)__builtin_popcount(off), parameters;
	bool write = type == TYPED_WRITE;
	const struct eu_surface *s;
	const uint8_t *data;

	if ((m->desc & 0xff) > EU_BTI_LAST)
		return eu_fail(x, i, EU_UNSUPPORTED, "binding table index %u", m->desc & 0xff);
	if (type == TYPED_ATOMIC)
		return typed_atomics(x, i, m);
	if (half != 1 && half != 2)
		return eu_fail(x, i, EU_UNSUPPORTED, "a typed message 0x%x of SIMD4x2", m->desc);
	if (write ? m->registers <= count : m->response < count)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x without all registers", m->desc);
	s = eu_surface_get(x, i, m->desc & 0xff);
	if (!s)
		return EU_FAILED;
	if (s->type != EU_SURFACE_NULL && (!s->format || s->type == EU_SURFACE_STRUCTURED))
		return eu_fail(x, i, EU_UNSUPPORTED, "a typed access without a format");
	if (m->header)
		m->mask &= eu_data32(m->header, 7);
	/* The upper half of a message for 16 lanes is an instruction of its own. */
	if (half == 2 && i->lanes == 16)
		m->mask >>= 8;
	parameters = write ? m->registers - count : m->registers;
	data = eu_payload(m) + parameters * EU_REG_BYTES;
	for (lane = 0; lane < 8; lane++) {
		uint32_t at[3], channels[4] = { 0 }, row = 0, slice;
		uint8_t texel[16];

		if (!(m->mask >> lane & 1))
			continue;
		typed_place(m, parameters, lane, at);
		if (!write) {
			if (s->type != EU_SURFACE_NULL && load(x, s, at, 0, channels))
				return EU_FAILED;
			for (c = 0; c < 4; c++)
				if (!(off >> c & 1))
					memcpy(m->answer + (row++ * 8 + lane) * 4, &channels[c], 4);
			continue;
		}
		for (c = 0; c < 4; c++)
			if (!(off >> c & 1))
				channels[c] = eu_data32(data, row++ * 8 + lane);
		if (s->type == EU_SURFACE_NULL || !is_inside(s, at, s->min_level, &slice))
			continue;
		eu_texel_pack(s->format, channels, texel);
		if (eu_write(x, place_of(s, at, slice), texel, s->texel_bytes))
			return EU_FAILED;
	}
	return EU_NEXT;
}
