// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the data port that move whole registers: blocks of OWords, scratch space, blocks of
 * an image's bytes (media blocks).
 */
#include "dataport.h"

enum {
	BLOCK_READ = 0x00,
	BLOCK_UNALIGNED_READ = 0x01,
	BLOCK_WRITE = 0x08,
	MEDIA_READ = 0x04,
	MEDIA_WRITE = 0x0a,
	A64_BLOCK_READ = 0x14,
	A64_BLOCK_WRITE = 0x15,
	SCRATCH = 0x10, /* bit 18 of a message to data cache 0 */
};

enum {
	SFID_SAMPLER_CACHE = 4,
	SFID_RENDER_CACHE = 5,
	SFID_CONSTANT_CACHE = 9,
	SFID_DATA_CACHE_0 = 10,
	SFID_DATA_CACHE_1 = 12
};

/* Reads dword by dword: the bounds of a surface are checked for each. */
static enum eu_step copy_block(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m,
			       const struct eu_target *t, uint64_t offset, uint32_t bytes,
			       uint32_t at, bool write)
{
	uint32_t done;

	if (write) {
		if (m->registers * EU_REG_BYTES < bytes)
			return eu_fail(x, i, EU_ILLEGAL, "message 0x%x without all data", m->desc);
		for (done = 0; done < bytes; done += 4)
			if (eu_target_write(x, t, offset + done, eu_payload(m) + at + done, 4))
				return EU_FAILED;
		return EU_NEXT;
	}
	if (m->response * EU_REG_BYTES < at + bytes)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x with a short answer", m->desc);
	for (done = 0; done < bytes; done += 4)
		if (eu_target_read(x, t, offset + done, m->answer + at + done, 4))
			return EU_FAILED;
	return EU_NEXT;
}

/* 1, 2, 4 or 8 OWords; one is in the lower or the upper half of a register. */
static enum eu_step owords(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m,
			   bool write, bool unaligned, bool a64)
{
	static const uint8_t counts[8] = { 1, 1, 2, 4, 8, 16 };
	uint32_t size = m->desc >> 8 & 7, bytes = counts[size] * 16u, at = size == 1 ? 16 : 0;
	struct eu_target t = { .bytes = UINT64_MAX };
	uint64_t offset;

	if (!m->header)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x without a header", m->desc);
	if (!bytes)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x of a size that is not there",
			       m->desc);
	if (a64) {
		uint32_t kind = m->desc >> 11 & 3;

		if (kind > 1)
			return eu_fail(x, i, EU_UNSUPPORTED, "message 0x%x of this kind of block",
				       m->desc);
		offset = eu_data64(m->header, 0);
		if (kind == 0)
			offset &= ~15ull;
		return copy_block(x, i, m, &t, offset, bytes, at, write);
	}
	if (eu_target_of(x, i, m, &t))
		return EU_FAILED;
	offset = eu_data32(m->header, 2);
	if (!unaligned)
		offset *= 16;
	if ((m->desc & 0xff) == EU_BTI_STATELESS || (m->desc & 0xff) == EU_BTI_STATELESS_2)
		t.base += eu_data32(m->header, 5) & ~0x3ffu;
	return copy_block(x, i, m, &t, offset, bytes, at, write);
}

/* Registers that do not fit: at the thread's part of scratch space, which the header names. */
static enum eu_step scratch(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	const struct eu_dispatch *d = &x->run->dispatch;
	struct eu_target t = { .base = d->general.address, .bytes = d->general.bytes };
	uint32_t registers = 1u << (m->desc >> 12 & 3), offset = (m->desc & 0xfff) * EU_REG_BYTES;
	bool write = m->desc >> 17 & 1, dwords = m->desc >> 16 & 1;

	if (!m->header)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x without a header", m->desc);
	t.base += eu_data32(m->header, 5) & ~0x3ffu;
	if (write && dwords && m->mask != i->all) {
		/* Channel by channel: lanes that are off keep their dwords. */
		uint32_t dword, lanes = i->lanes ? i->lanes : 1;

		if (m->registers < registers)
			return eu_fail(x, i, EU_ILLEGAL, "message 0x%x without all data", m->desc);
		for (dword = 0; dword < registers * 8; dword++)
			if (m->mask >> dword % lanes & 1 &&
			    eu_target_write(x, &t, offset + dword * 4, eu_payload(m) + dword * 4,
					    4))
				return EU_FAILED;
		return EU_NEXT;
	}
	return copy_block(x, i, m, &t, offset, registers * EU_REG_BYTES, 0, write);
}

/* A rectangle of bytes of an image; rows of it fill the registers one after the other. */
static enum eu_step media(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m,
			  bool write)
{
	const struct eu_surface *s;
	uint32_t size, width, height, row, pitch, byte;
	int32_t left, top;

	if (!m->header)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x without a header", m->desc);
	if ((m->desc & 0xff) > EU_BTI_LAST)
		return eu_fail(x, i, EU_UNSUPPORTED, "binding table index %u", m->desc & 0xff);
	s = eu_surface_get(x, i, m->desc & 0xff);
	if (!s)
		return EU_FAILED;
	left = (int32_t)eu_data32(m->header, 0);
	top = (int32_t)eu_data32(m->header, 1);
	size = eu_data32(m->header, 2);
	width = (size & 63) + 1;
	height = (size >> 16 & 63) + 1;
	pitch = width <= 4 ? 4 : width <= 8 ? 8 : width <= 16 ? 16 : width <= 32 ? 32 : 64;
	if (height * pitch > (write ? m->registers : m->response) * EU_REG_BYTES)
		return eu_fail(x, i, EU_ILLEGAL, "message 0x%x of a block that is too large",
			       m->desc);
	if (m->desc >> 8 & 7)
		return eu_fail(x, i, EU_UNSUPPORTED, "message 0x%x of one field", m->desc);
	for (row = 0; row < height; row++) {
		for (byte = 0; byte < width; byte++) {
			int64_t column = (int64_t)left + byte, line = (int64_t)top + row;
			/* These messages take a surface's width as dwords, whatever its format. */
			uint32_t line_bytes = s->width * 4;
			uint64_t address;

			if (s->type == EU_SURFACE_NULL) {
				if (!write)
					m->answer[row * pitch + byte] = 0;
				continue;
			}
			/* Outside, the nearest byte of the image is read; nothing is written. */
			if (write &&
			    (column < 0 || line < 0 || column >= line_bytes || line >= s->height))
				continue;
			column = column < 0 ? 0 : column >= line_bytes ? line_bytes - 1 : column;
			line = line < 0 ? 0 : line >= s->height ? s->height - 1 : line;
			address = eu_surface_byte(s, (uint32_t)column, (uint32_t)line);
			if (write ? eu_write(x, address, eu_payload(m) + row * pitch + byte, 1) :
				    eu_read(x, address, m->answer + row * pitch + byte, 1,
					    EU_ACCESS_READ))
				return EU_FAILED;
		}
	}
	return EU_NEXT;
}

/** eu_blocks() - a message of whole registers */
enum eu_step eu_blocks(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m)
{
	uint32_t type = m->desc >> 14 & 31;

	if (m->sfid == SFID_DATA_CACHE_0 && type & SCRATCH)
		return scratch(x, i, m);
	switch (m->sfid) {
	case SFID_DATA_CACHE_0:
	case SFID_CONSTANT_CACHE:
	case SFID_SAMPLER_CACHE:
		if (type == BLOCK_READ || type == BLOCK_UNALIGNED_READ)
			return owords(x, i, m, false, type == BLOCK_UNALIGNED_READ, false);
		if (type == BLOCK_WRITE && m->sfid == SFID_DATA_CACHE_0)
			return owords(x, i, m, true, false, false);
		if (type == MEDIA_READ && m->sfid == SFID_SAMPLER_CACHE)
			return media(x, i, m, false);
		break;
	case SFID_RENDER_CACHE:
	case SFID_DATA_CACHE_1:
		if (type == MEDIA_READ || type == MEDIA_WRITE)
			return media(x, i, m, type == MEDIA_WRITE);
		if (m->sfid == SFID_DATA_CACHE_1 &&
		    (type == A64_BLOCK_READ || type == A64_BLOCK_WRITE))
			return owords(x, i, m, type == A64_BLOCK_WRITE, false, true);
		break;
	}
	return eu_fail(x, i, EU_UNSUPPORTED, "message 0x%x (type 0x%x) to shared function %u",
		       m->desc, type, m->sfid);
}
