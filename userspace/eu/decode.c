// SPDX-License-Identifier: GPL-2.0-only
/*
 * From 16 bytes to struct eu_insn. The places of all fields are those of the public manuals. An
 * instruction that cannot be executed is decoded, too: it is refused when a thread gets there.
 */
#include "machine.h"

#include <string.h>

static uint32_t field(const uint32_t raw[4], unsigned int high, unsigned int low)
{
	uint64_t two = raw[low / 32];

	if (high / 32 != low / 32)
		two |= (uint64_t)raw[low / 32 + 1] << 32;
	return two >> low % 32 & ((1ull << (high - low + 1)) - 1);
}

static void refuse(struct eu_insn *i, enum eu_status status, const char *why)
{
	if (i->refused)
		return;
	i->refused = why;
	i->refused_status = status;
}

static const uint8_t type_bytes[EU_TYPES] = {
	[EU_UD] = 4, [EU_D] = 4, [EU_UW] = 2, [EU_W] = 2, [EU_UB] = 1, [EU_B] = 1,
	[EU_DF] = 8, [EU_F] = 4, [EU_UQ] = 8, [EU_Q] = 8, [EU_HF] = 2,
};

static const char *const op_names[128] = {
	[EU_ILLEGAL_OP] = "illegal",
	[EU_MOV] = "mov",
	[EU_SEL] = "sel",
	[EU_MOVI] = "movi",
	[EU_NOT] = "not",
	[EU_AND] = "and",
	[EU_OR] = "or",
	[EU_XOR] = "xor",
	[EU_SHR] = "shr",
	[EU_SHL] = "shl",
	[EU_SMOV] = "smov",
	[EU_ASR] = "asr",
	[EU_CMP] = "cmp",
	[EU_CMPN] = "cmpn",
	[EU_CSEL] = "csel",
	[EU_BFREV] = "bfrev",
	[EU_BFE] = "bfe",
	[EU_BFI1] = "bfi1",
	[EU_BFI2] = "bfi2",
	[EU_JMPI] = "jmpi",
	[EU_BRD] = "brd",
	[EU_IF] = "if",
	[EU_BRC] = "brc",
	[EU_ELSE] = "else",
	[EU_ENDIF] = "endif",
	[EU_WHILE] = "while",
	[EU_BREAK] = "break",
	[EU_CONT] = "cont",
	[EU_HALT] = "halt",
	[EU_CALLA] = "calla",
	[EU_CALL] = "call",
	[EU_RET] = "ret",
	[EU_GOTO] = "goto",
	[EU_JOIN] = "join",
	[EU_WAIT] = "wait",
	[EU_SEND] = "send",
	[EU_SENDC] = "sendc",
	[EU_SENDS] = "sends",
	[EU_SENDSC] = "sendsc",
	[EU_MATH] = "math",
	[EU_ADD] = "add",
	[EU_MUL] = "mul",
	[EU_AVG] = "avg",
	[EU_FRC] = "frc",
	[EU_RNDU] = "rndu",
	[EU_RNDD] = "rndd",
	[EU_RNDE] = "rnde",
	[EU_RNDZ] = "rndz",
	[EU_MAC] = "mac",
	[EU_MACH] = "mach",
	[EU_LZD] = "lzd",
	[EU_FBH] = "fbh",
	[EU_FBL] = "fbl",
	[EU_CBIT] = "cbit",
	[EU_ADDC] = "addc",
	[EU_SUBB] = "subb",
	[EU_SAD2] = "sad2",
	[EU_SADA2] = "sada2",
	[EU_DP4] = "dp4",
	[EU_DPH] = "dph",
	[EU_DP3] = "dp3",
	[EU_DP2] = "dp2",
	[EU_LINE] = "line",
	[EU_PLN] = "pln",
	[EU_MAD] = "mad",
	[EU_LRP] = "lrp",
	[EU_MADM] = "madm",
	[EU_NOP] = "nop",
};

const char *eu_op_name(unsigned int op)
{
	return op < 128 && op_names[op] ? op_names[op] : NULL;
}

/* Sources of each instruction that reads operands; 0 for what is decoded in its own way. */
static unsigned int sources_of(unsigned int op)
{
	switch (op) {
	case EU_MOV:
	case EU_MOVI:
	case EU_NOT:
	case EU_BFREV:
	case EU_FRC:
	case EU_RNDU:
	case EU_RNDD:
	case EU_RNDE:
	case EU_RNDZ:
	case EU_LZD:
	case EU_FBH:
	case EU_FBL:
	case EU_CBIT:
		return 1;
	case EU_CSEL:
	case EU_BFE:
	case EU_BFI2:
	case EU_MAD:
	case EU_LRP:
	case EU_MADM:
		return 3;
	default:
		return 2;
	}
}

/* Where an architecture register is in the array of all registers. */
static int arf_offset(struct eu_insn *i, unsigned int number, unsigned int subregister, bool write)
{
	unsigned int low = number & 15;

	switch (number >> 4) {
	case 0x0:
		return EU_REG_NULL;
	case 0x1:
		return low == 0 ? (int)(EU_REG_A0 + subregister) : -1;
	case 0x2:
		return low < 10 ? (int)(EU_REG_ACC0 + low * 32 + subregister) : -1;
	case 0x3:
		return low < 2 && subregister < 4 ? (int)(EU_REG_F0 + low * 4 + subregister) : -1;
	case 0x4:
		return low == 0 && !write ? (int)(EU_REG_CE0 + subregister) : -1;
	case 0x6:
		return low == 0 ? (int)(EU_REG_SP + subregister) : -1;
	case 0x7:
		return low == 0 ? (int)(EU_REG_SR0 + subregister) : -1;
	case 0x8:
		return low == 0 ? (int)(EU_REG_CR0 + subregister) : -1;
	case 0x9:
		return low == 0 ? (int)(EU_REG_N0 + subregister) : -1;
	case 0xa:
		return low == 0 && !write ? (int)(EU_REG_IP + subregister) : -1;
	case 0xb:
		return low == 0 ? (int)(EU_REG_TDR + subregister) : -1;
	case 0xc:
		return low == 0 ? (int)(EU_REG_TM0 + subregister) : -1;
	default:
		refuse(i, EU_UNSUPPORTED, "an architecture register that is not there");
		return -1;
	}
}

/* Fills at[] and last; all distances are in elements. */
static void place(struct eu_insn *i, struct eu_operand *o, int base, unsigned int rows,
		  unsigned int width, unsigned int column, const uint8_t *swizzle)
{
	unsigned int lane, end, most = 0;

	for (lane = 0; lane < i->lanes; lane++) {
		unsigned int element = swizzle ? lane / 4 * rows + swizzle[lane % 4] :
						 lane / width * rows + lane % width * column;

		element *= o->bytes;
		if (o->indirect && o->rows)
			element = lane % width * column * o->bytes;
		if (element > most)
			most = element;
		if ((unsigned int)base + element > EU_REGS_BYTES) {
			refuse(i, EU_ILLEGAL, "a register region past the last register");
			return;
		}
		o->at[lane] = base + element;
	}
	end = most + o->bytes;
	o->last = end;
	if (o->indirect)
		return;
	if (o->file == EU_FILE_GRF && base + end > EU_GRF_BYTES)
		refuse(i, EU_ILLEGAL, "a register region past r127");
	if (o->file == EU_FILE_ARF && !o->null) {
		int room = base < EU_REG_ACC0 ? EU_REG_ACC0 :
			   base < EU_REG_F0   ? EU_REG_F0 :
			   base < EU_REG_CE0  ? EU_REG_F0 + 8 :
						base / 32 * 32 + 32;

		if (base + (int)end > room)
			refuse(i, EU_ILLEGAL, "a region past an architecture register");
	}
}

static void arf_place(struct eu_insn *i, struct eu_operand *o, unsigned int number,
		      unsigned int subregister, bool write, unsigned int rows, unsigned int width,
		      unsigned int column)
{
	int base = arf_offset(i, number, subregister, write);

	if (base < 0) {
		refuse(i, EU_UNSUPPORTED, "an architecture register that is not there");
		base = EU_REG_NULL;
	}
	o->null = number >> 4 == 0;
	o->accumulator = number >> 4 == 2;
	o->read_special = !write && (number >> 4 == 4 || number >> 4 >= 0xa);
	if (o->null) {
		rows = column = 0;
		width = 1;
	}
	place(i, o, base, rows, width, column, NULL);
}

static float restricted_float(uint8_t v)
{
	uint32_t bits = v & 0x7f ? (uint32_t)(v & 0x80) << 24 | ((v >> 4 & 7) + 124) << 23 |
					   (uint32_t)(v & 15) << 19 :
				   (uint32_t)(v & 0x80) << 24;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static void immediate(struct eu_insn *i, struct eu_operand *o, unsigned int type)
{
	static const uint8_t types[16] = { EU_UD, EU_D, EU_UW, EU_W, EU_UW, EU_F,
					   EU_W,  EU_F, EU_UQ, EU_Q, EU_DF, EU_HF };
	bool vector = type == 4 || type == 5 || type == 6;
	unsigned int lane;

	if (type > 11) {
		refuse(i, EU_ILLEGAL, "an immediate of a type that is not there");
		type = 0;
	}
	o->type = types[type];
	o->bytes = type_bytes[o->type];
	o->imm = o->bytes == 8 ? (uint64_t)i->raw[3] << 32 | i->raw[2] : i->raw[3];
	if (o->bytes == 2 && !vector)
		o->imm &= 0xffff;
	for (lane = 0; lane < EU_LANES; lane++) {
		uint64_t value = o->imm;

		if (type == 5) {
			float f = restricted_float(o->imm >> (lane & 3) * 8);
			uint32_t bits;

			memcpy(&bits, &f, sizeof(bits));
			value = bits;
		} else if (vector) {
			/* Nibbles are counted in words of the destination. */
			unsigned int words = i->dst.bytes > 2 ? i->dst.bytes / 2u : 1;

			value = o->imm >> (lane * words & 7) * 4 & 15;
			if (type == 6)
				value = (uint16_t)((int16_t)(value << 12) >> 12);
		}
		o->values[lane] = value;
	}
	o->last = o->bytes;
	o->scalar = o->type == EU_W ? (uint32_t)(int16_t)o->values[0] : (uint32_t)o->values[0];
}

static void source_kind(struct eu_insn *i, struct eu_operand *o)
{
	unsigned int lane;
	bool vector = true, scalar = true;

	o->kind = EU_KIND_OTHER;
	if (o->accumulator || o->indirect || o->read_special)
		return;
	if (o->file == EU_FILE_IMM) {
		for (lane = 1; lane < i->lanes; lane++)
			if (o->values[lane] != o->values[0])
				return;
		o->kind = EU_KIND_SCALAR;
		return;
	}
	for (lane = 1; lane < i->lanes; lane++) {
		vector &= o->at[lane] == o->at[0] + lane * o->bytes;
		scalar &= o->at[lane] == o->at[0];
	}
	if (scalar)
		o->kind = EU_KIND_SCALAR;
	else if (vector && o->bytes == 4)
		o->kind = EU_KIND_VECTOR;
	else if (vector && o->type == EU_UW)
		o->kind = EU_KIND_UW;
	else if (vector && o->type == EU_W)
		o->kind = EU_KIND_W;
}

/* math.invm and math.rsqtm */
static bool is_macro(const struct eu_insn *i)
{
	return i->op == EU_MATH && i->condition >= 14;
}

/*
 * Macros: what would be components of align16 names the accumulator that has more bits of an
 * operand.
 */
static void macro_operand(struct eu_insn *i, struct eu_operand *o, unsigned int accumulator)
{
	o->macro = accumulator;
	if (accumulator > EU_NO_MACRO)
		refuse(i, EU_ILLEGAL, "an accumulator past acc9");
	if (o->file != EU_FILE_GRF || o->indirect)
		refuse(i, EU_UNSUPPORTED, "a macro of other than general registers");
	if (o->type != i->dst.type || (o->type != EU_F && o->type != EU_DF))
		refuse(i, EU_UNSUPPORTED, "a macro of other types than floats or doubles");
	if (i->lanes * o->bytes > EU_REG_BYTES)
		refuse(i, EU_UNSUPPORTED, "a macro of more than one register");
}

static void macro(struct eu_insn *i)
{
	if (!i->align16)
		refuse(i, EU_ILLEGAL, "a macro in align1");
	if (i->saturate || i->write_acc || (i->op == EU_MADM && i->condition))
		refuse(i, EU_UNSUPPORTED, "a macro that saturates, compares or writes acc0");
}

static const uint8_t strides[16] = { 0, 1, 2, 4, 8, 16, 32 };

static void source(struct eu_insn *i, unsigned int n)
{
	struct eu_operand *o = &i->src[n];
	const uint32_t *raw = i->raw;
	unsigned int type = n ? field(raw, 94, 91) : field(raw, 46, 43);
	unsigned int at = n ? 96 : 64, rows, width, column, number;

	o->file = n ? field(raw, 90, 89) : field(raw, 42, 41);
	if (o->file == EU_FILE_RESERVED) {
		refuse(i, EU_ILLEGAL, "an operand in a register file that is not there");
		o->file = EU_FILE_GRF;
	}
	if (o->file == EU_FILE_IMM) {
		if (is_macro(i))
			refuse(i, EU_UNSUPPORTED, "a macro of other than general registers");
		immediate(i, o, type);
		source_kind(i, o);
		return;
	}
	if (type > EU_HF) {
		refuse(i, EU_ILLEGAL, "a source of a type that is not there");
		type = EU_UD;
	}
	o->type = type;
	o->bytes = type_bytes[type];
	o->absolute = field(raw, at + 13, at + 13);
	o->negate = field(raw, at + 14, at + 14);
	rows = field(raw, at + 24, at + 21);
	number = field(raw, at + 12, at + 5);
	if (field(raw, at + 15, at + 15)) {
		o->indirect = true;
		o->address = n ? field(raw, 108, 105) : field(raw, 76, 73);
		o->offset = (int16_t)((field(raw, at + 8, at) |
				       field(raw, n ? 121 : 95, n ? 121 : 95) << 9)
				      << 6) >>
			    6;
	}
	if (is_macro(i)) {
		macro_operand(i, o, field(raw, at + 3, at));
		place(i, o, number * EU_REG_BYTES, 4, 4, 1, NULL);
		return;
	}
	if (i->align16) {
		uint8_t swizzle[4] = { field(raw, at + 1, at), field(raw, at + 3, at + 2),
				       field(raw, at + 17, at + 16), field(raw, at + 19, at + 18) };
		unsigned int base = number * EU_REG_BYTES + field(raw, at + 4, at + 4) * 16;

		if (o->indirect || o->bytes == 8)
			refuse(i, EU_UNSUPPORTED, "an indirect or 64-bit source in align16");
		if (o->file == EU_FILE_ARF)
			arf_place(i, o, number, 0, false, 4, 4, 1);
		else
			place(i, o, base, rows == 3 ? 4 : 0, 4, 1, swizzle);
		if (rows != 3 && rows != 0)
			refuse(i, EU_ILLEGAL, "a vertical stride of align16 that is not there");
		source_kind(i, o);
		return;
	}
	width = 1u << field(raw, at + 20, at + 18);
	column = strides[field(raw, at + 17, at + 16)];
	if (width > 16) {
		refuse(i, EU_ILLEGAL, "a region width that is not there");
		width = 1;
	}
	o->width = width;
	if (rows == 15 && o->indirect) {
		o->rows = true;
		if (o->address + (i->lanes - 1) / width > 15)
			refuse(i, EU_ILLEGAL, "address registers past a0.15");
	} else if (rows > 6) {
		refuse(i, EU_ILLEGAL, "a vertical stride that is not there");
		rows = 0;
	}
	rows = strides[rows];
	if (o->indirect) {
		if (o->file != EU_FILE_GRF)
			refuse(i, EU_UNSUPPORTED, "an indirect architecture register");
		place(i, o, 0, rows, width, column, NULL);
	} else if (o->file == EU_FILE_ARF) {
		arf_place(i, o, number, field(raw, at + 4, at), false, rows, width, column);
	} else {
		place(i, o, number * EU_REG_BYTES + field(raw, at + 4, at), rows, width, column,
		      NULL);
	}
	source_kind(i, o);
}

static void destination(struct eu_insn *i)
{
	struct eu_operand *o = &i->dst;
	const uint32_t *raw = i->raw;
	unsigned int type = field(raw, 40, 37), column = strides[field(raw, 62, 61)];
	unsigned int number = field(raw, 60, 53), subregister = field(raw, 52, 48);

	o->file = field(raw, 36, 35);
	if (o->file > EU_FILE_GRF) {
		refuse(i, EU_ILLEGAL, "a destination in a register file that is not there");
		o->file = EU_FILE_GRF;
	}
	if (type > EU_HF) {
		refuse(i, EU_ILLEGAL, "a destination of a type that is not there");
		type = EU_UD;
	}
	o->type = type;
	o->bytes = type_bytes[type];
	o->write_mask = 15;
	o->width = 1;
	if (is_macro(i)) {
		macro_operand(i, o, field(raw, 51, 48));
		subregister = 0;
		column = 1;
	} else if (i->align16) {
		o->write_mask = field(raw, 51, 48);
		subregister = field(raw, 52, 52) * 16;
		column = 1;
	}
	if (!column)
		column = 1;
	if (field(raw, 63, 63)) {
		o->indirect = true;
		o->address = field(raw, 60, 57);
		o->offset = (int16_t)((field(raw, 56, 48) | field(raw, 47, 47) << 9) << 6) >> 6;
		if (o->file != EU_FILE_GRF || i->align16)
			refuse(i, EU_UNSUPPORTED, "this kind of indirect destination");
		place(i, o, 0, column, 1, 0, NULL);
		return;
	}
	if (o->file == EU_FILE_ARF)
		arf_place(i, o, number, subregister, true, column, 1, 0);
	else
		place(i, o, number * EU_REG_BYTES + subregister, column, 1, 0, NULL);
}

/* The form of instructions with three sources: align16, each source whole or one value. */
static void three_sources(struct eu_insn *i)
{
	static const uint8_t types[8] = { EU_F, EU_D, EU_UD, EU_DF, EU_HF, EU_UD, EU_UD, EU_UD };
	const uint32_t *raw = i->raw;
	unsigned int type = field(raw, 45, 43), n;
	static const uint8_t identity[4] = { 0, 1, 2, 3 };

	if (type > 4 || field(raw, 48, 46) > 4)
		refuse(i, EU_ILLEGAL, "a type that is not there");
	if (!i->align16)
		refuse(i, EU_ILLEGAL, "three sources in align1");
	i->dst.file = EU_FILE_GRF;
	i->dst.type = types[field(raw, 48, 46)];
	i->dst.bytes = type_bytes[i->dst.type];
	i->dst.write_mask = field(raw, 52, 49);
	i->dst.width = 1;
	if (i->op == EU_MADM) {
		macro_operand(i, &i->dst, i->dst.write_mask);
		i->dst.write_mask = 15;
	}
	if (i->dst.bytes == 8) {
		/* Components are pairs of dwords here: all of them or none. */
		if (i->dst.write_mask != 15)
			refuse(i, EU_UNSUPPORTED, "a write mask of 64-bit components");
	}
	place(i, &i->dst, field(raw, 63, 56) * EU_REG_BYTES + field(raw, 55, 53) * 4, 1, 1, 0,
	      NULL);
	for (n = 0; n < 3; n++) {
		unsigned int at = n == 0 ? 64 : n == 1 ? 85 : 106;
		struct eu_operand *o = &i->src[n];
		uint8_t swizzle[4];
		unsigned int c, base;

		o->file = EU_FILE_GRF;
		o->type = types[type];
		if (n && (o->type == EU_F || o->type == EU_HF))
			o->type = field(raw, n == 1 ? 36 : 35, n == 1 ? 36 : 35) ? EU_HF : EU_F;
		o->bytes = type_bytes[o->type];
		o->absolute = field(raw, 37 + 2 * n, 37 + 2 * n);
		o->negate = field(raw, 38 + 2 * n, 38 + 2 * n);
		o->width = 4;
		for (c = 0; c < 4; c++)
			swizzle[c] = i->op == EU_MADM ? c :
							field(raw, at + 2 + 2 * c, at + 1 + 2 * c);
		base = field(raw, at + 19, at + 12) * EU_REG_BYTES +
		       field(raw, at + 11, at + 9) * 4;
		if (o->bytes == 2)
			base += field(raw, at + 20, at + 20) * 2;
		if (i->op == EU_MADM) {
			macro_operand(i, o, field(raw, at + 4, at + 1));
			if (field(raw, at, at))
				refuse(i, EU_UNSUPPORTED, "a macro of one value for all lanes");
		}
		if (field(raw, at, at)) {
			place(i, o, base, 0, 1, 0, NULL);
		} else {
			if (o->bytes == 8 && memcmp(swizzle, identity, 4))
				refuse(i, EU_UNSUPPORTED, "a swizzle of 64-bit components");
			place(i, o, base, 4, 4, 1, swizzle);
		}
		source_kind(i, o);
	}
}

static void send(struct eu_insn *i)
{
	const uint32_t *raw = i->raw;
	bool split = i->op == EU_SENDS || i->op == EU_SENDSC;
	unsigned int file = split ? field(raw, 35, 35) : field(raw, 36, 35);

	i->eot = field(raw, 127, 127);
	i->dst.file = file & 1;
	i->dst.null = !(file & 1);
	i->dst.at[0] = field(raw, 60, 53) * EU_REG_BYTES;
	if (field(raw, 63, 63))
		refuse(i, EU_UNSUPPORTED, "an indirect destination of a message");
	i->src[0].at[0] = field(raw, 76, 69) * EU_REG_BYTES;
	if (field(raw, 79, 79))
		refuse(i, EU_UNSUPPORTED, "an indirect payload of a message");
	if (!split) {
		i->desc_register = field(raw, 90, 89) != EU_FILE_IMM;
		i->ex_desc = i->condition | field(raw, 67, 64) << 16 | field(raw, 83, 80) << 20 |
			     field(raw, 88, 85) << 24 | field(raw, 94, 91) << 28;
		i->src[0].file = field(raw, 42, 41);
	} else {
		i->desc_register = field(raw, 77, 77);
		i->ex_desc_register = field(raw, 61, 61);
		i->ex_desc = field(raw, 67, 64) << 6 | field(raw, 95, 80) << 16 | i->condition;
		i->ex_desc_address = field(raw, 82, 80);
		i->src[0].file = EU_FILE_GRF;
		i->src[1].file = field(raw, 36, 36);
		i->src[1].null = !i->src[1].file;
		i->src[1].at[0] = field(raw, 51, 44) * EU_REG_BYTES;
	}
	if (i->src[0].file != EU_FILE_GRF)
		refuse(i, EU_UNSUPPORTED, "a payload outside of the general registers");
	i->desc = field(raw, 126, 96);
}

static void control_flow(struct eu_insn *i)
{
	if (i->op == EU_RET) {
		source(i, 0);
		return;
	}
	if (i->op == EU_CALL || i->op == EU_CALLA)
		destination(i);
	i->jip = (int32_t)i->raw[3];
	i->uip = (int32_t)i->raw[2];
	if (i->op == EU_JMPI || i->op == EU_CALL || i->op == EU_CALLA || i->op == EU_BRD ||
	    i->op == EU_BRC) {
		unsigned int file = field(i->raw, 90, 89);

		/* A distance in a register is in src1 for jmpi. */
		if (file != EU_FILE_IMM)
			refuse(i, EU_UNSUPPORTED, "a jump to an address in a register");
	}
}

/* Math functions of one source: the second is not looked at. */
static bool one_source(unsigned int function)
{
	return function < 9 || function == 15;
}

static bool is_flow(unsigned int op)
{
	return op >= EU_JMPI && op <= EU_JOIN;
}

/* Integer operations are done in the widest type of the sources, at least words. */
static void execution_type(struct eu_insn *i)
{
	unsigned int n, bytes = 2;
	bool is_signed = false;

	for (n = 0; n < i->sources; n++) {
		if (i->src[n].bytes > bytes)
			bytes = i->src[n].bytes;
		is_signed |= i->src[n].type == EU_D || i->src[n].type == EU_W ||
			     i->src[n].type == EU_B || i->src[n].type == EU_Q;
	}
	i->exec_type = bytes == 8 ? (is_signed ? EU_Q : EU_UQ) :
		       bytes == 4 ? (is_signed ? EU_D : EU_UD) :
				    (is_signed ? EU_W : EU_UW);
}

/**
 * eu_decode() - decode one instruction
 * @bytes: where it is
 * @room: bytes that can be read there
 * @i: filled, but for its place in a program and its handlers
 *
 * Return: its size, 8 or 16, or 0 if it needs more than @room bytes.
 */
int eu_decode(const uint8_t *bytes, size_t room, struct eu_insn *i)
{
	const uint32_t *raw = i->raw;
	unsigned int n;

	memset(i, 0, sizeof(*i));
	if (room < 8)
		return 0;
	memcpy(i->raw, bytes, 8);
	i->size = 16;
	if (raw[0] >> 29 & 1) {
		uint64_t compact;

		memcpy(&compact, bytes, 8);
		eu_decompact(compact, i->raw);
		i->size = 8;
	} else if (room < 16) {
		return 0;
	} else {
		memcpy(i->raw, bytes, 16);
	}
	i->op = field(raw, 6, 0);
	i->align16 = field(raw, 8, 8);
	i->first = field(raw, 13, 12) * 8 + field(raw, 11, 11) * 4;
	i->predicate = field(raw, 19, 16);
	i->inverted = field(raw, 20, 20);
	i->lanes = 1u << field(raw, 23, 21);
	i->condition = field(raw, 27, 24);
	i->write_acc = field(raw, 28, 28);
	i->branch_control = field(raw, 28, 28);
	i->saturate = field(raw, 31, 31);
	i->flag = field(raw, 33, 33) * 32 + field(raw, 32, 32) * 16;
	i->no_mask = field(raw, 34, 34);
	if (i->lanes > EU_LANES) {
		refuse(i, EU_ILLEGAL, "more lanes than 32");
		i->lanes = 1;
	}
	i->all = i->lanes == 32 ? ~0u : (1u << i->lanes) - 1;
	if (i->first + i->lanes > EU_LANES && i->op != EU_NOP) {
		refuse(i, EU_ILLEGAL, "channels past the last one");
		i->first = 0;
	}
	if (i->lanes <= 16 || i->first)
		i->flag = (i->flag & 32) | ((i->flag + i->first) & 31);
	else if (i->flag & 16)
		refuse(i, EU_ILLEGAL, "32 lanes from the upper half of a flag register");
	if (!eu_op_name(i->op)) {
		refuse(i, EU_UNSUPPORTED, "an opcode that is not there");
		return i->size;
	}
	if (i->op == EU_ILLEGAL_OP) {
		refuse(i, EU_ILLEGAL, "the illegal instruction");
		return i->size;
	}
	if (i->op == EU_NOP)
		return i->size;
	if (i->op >= EU_SEND && i->op <= EU_SENDSC) {
		send(i);
		return i->size;
	}
	if (is_flow(i->op)) {
		control_flow(i);
		return i->size;
	}
	i->sources = sources_of(i->op);
	if (i->op == EU_WAIT || (i->op == EU_MATH && one_source(i->condition)))
		i->sources = 1;
	if (i->sources == 3) {
		three_sources(i);
	} else {
		destination(i);
		for (n = 0; n < i->sources; n++)
			source(i, n);
		if (i->sources == 2 && i->src[0].file == EU_FILE_IMM && i->op != EU_MATH)
			refuse(i, EU_ILLEGAL, "an immediate as the first of two sources");
	}
	if (is_macro(i) || i->op == EU_MADM)
		macro(i);
	execution_type(i);
	return i->size;
}
