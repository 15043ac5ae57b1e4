/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_EU_MACHINE_H
#define GHYVI_EU_MACHINE_H

#include "eu.h"

#include <pthread.h>

/*
 * The inside of the library. A thread of the GPU (struct eu_thread) has registers and a mask of
 * lanes. A decoded instruction (struct eu_insn) belongs to a page (struct eu_code_page), which all
 * threads of a kernel share. What one thread of this process needs to execute threads of the GPU, a
 * worker, is a struct eu_exec.
 *
 * All registers are one array of bytes: the general ones, then the architecture's, 32 bytes each.
 * So an operand is an offset into that array for each lane, whatever it is.
 */

enum {
	EU_GRF_BYTES = 4096,
	EU_REG_BYTES = 32,
	EU_LANES = 32,
	/* Where architecture registers are in the array. */
	EU_REG_NULL = EU_GRF_BYTES,
	EU_REG_A0 = EU_REG_NULL + 64,
	EU_REG_ACC0 = EU_REG_A0 + 32, /* acc0 to acc9 */
	EU_REG_F0 = EU_REG_ACC0 + 320, /* f0 and f1, 4 bytes each, kept together */
	EU_REG_CE0 = EU_REG_F0 + 32,
	EU_REG_SR0 = EU_REG_CE0 + 32,
	EU_REG_CR0 = EU_REG_SR0 + 32,
	EU_REG_N0 = EU_REG_CR0 + 32,
	EU_REG_IP = EU_REG_N0 + 32,
	EU_REG_TDR = EU_REG_IP + 32,
	EU_REG_TM0 = EU_REG_TDR + 32,
	EU_REG_SP = EU_REG_TM0 + 32,
	/* A load of a whole vector may go past the last register. */
	EU_REGS_BYTES = EU_REG_SP + 32 + 128,
};

enum eu_type {
	EU_UD,
	EU_D,
	EU_UW,
	EU_W,
	EU_UB,
	EU_B,
	EU_DF,
	EU_F,
	EU_UQ,
	EU_Q,
	EU_HF,
	EU_TYPES,
};

enum eu_file { EU_FILE_ARF, EU_FILE_GRF, EU_FILE_RESERVED, EU_FILE_IMM };

/* Opcodes that have a number in the instruction. */
enum eu_op {
	EU_ILLEGAL_OP = 0x00,
	EU_MOV = 0x01,
	EU_SEL = 0x02,
	EU_MOVI = 0x03,
	EU_NOT = 0x04,
	EU_AND = 0x05,
	EU_OR = 0x06,
	EU_XOR = 0x07,
	EU_SHR = 0x08,
	EU_SHL = 0x09,
	EU_SMOV = 0x0a,
	EU_ASR = 0x0c,
	EU_CMP = 0x10,
	EU_CMPN = 0x11,
	EU_CSEL = 0x12,
	EU_BFREV = 0x17,
	EU_BFE = 0x18,
	EU_BFI1 = 0x19,
	EU_BFI2 = 0x1a,
	EU_JMPI = 0x20,
	EU_BRD = 0x21,
	EU_IF = 0x22,
	EU_BRC = 0x23,
	EU_ELSE = 0x24,
	EU_ENDIF = 0x25,
	EU_WHILE = 0x27,
	EU_BREAK = 0x28,
	EU_CONT = 0x29,
	EU_HALT = 0x2a,
	EU_CALLA = 0x2b,
	EU_CALL = 0x2c,
	EU_RET = 0x2d,
	EU_GOTO = 0x2e,
	EU_JOIN = 0x2f,
	EU_WAIT = 0x30,
	EU_SEND = 0x31,
	EU_SENDC = 0x32,
	EU_SENDS = 0x33,
	EU_SENDSC = 0x34,
	EU_MATH = 0x38,
	EU_ADD = 0x40,
	EU_MUL = 0x41,
	EU_AVG = 0x42,
	EU_FRC = 0x43,
	EU_RNDU = 0x44,
	EU_RNDD = 0x45,
	EU_RNDE = 0x46,
	EU_RNDZ = 0x47,
	EU_MAC = 0x48,
	EU_MACH = 0x49,
	EU_LZD = 0x4a,
	EU_FBH = 0x4b,
	EU_FBL = 0x4c,
	EU_CBIT = 0x4d,
	EU_ADDC = 0x4e,
	EU_SUBB = 0x4f,
	EU_SAD2 = 0x50,
	EU_SADA2 = 0x51,
	EU_DP4 = 0x54,
	EU_DPH = 0x55,
	EU_DP3 = 0x56,
	EU_DP2 = 0x57,
	EU_LINE = 0x59,
	EU_PLN = 0x5a,
	EU_MAD = 0x5b,
	EU_LRP = 0x5c,
	EU_MADM = 0x5d,
	EU_NOP = 0x7e,
};

/* Conditions, as encoded. */
enum eu_condition {
	EU_COND_NONE,
	EU_COND_Z,
	EU_COND_NZ,
	EU_COND_G,
	EU_COND_GE,
	EU_COND_L,
	EU_COND_LE,
	EU_COND_O = 8,
	EU_COND_U,
};

/* How a fast handler reads a source of 32 bits. */
enum eu_source_kind {
	EU_KIND_OTHER, /* only the general way */
	EU_KIND_VECTOR, /* consecutive dwords */
	EU_KIND_SCALAR, /* one value for all lanes; an immediate has it in the instruction */
	EU_KIND_UW, /* consecutive words, to be widened */
	EU_KIND_W,
	/* What EU_KIND_SCALAR becomes in struct eu_near. */
	EU_KIND_IMMEDIATE,
	EU_KIND_SCALAR32,
	EU_KIND_SCALAR16,
};

/* Operands of macros without more bits than those of their type. */
enum { EU_NO_MACRO = 8 };

struct eu_operand {
	uint8_t file;
	uint8_t type;
	uint8_t bytes; /* of one element */
	uint8_t kind;
	bool null;
	bool negate;
	bool absolute;
	bool accumulator;
	bool read_special; /* a register whose value is made when it is read: ip, ce0, tm0 */
	/* Indirect: the base is a0.address plus @offset; VxH: each row of @width has its own a0. */
	bool indirect;
	bool rows;
	uint8_t address;
	uint8_t width;
	uint8_t write_mask; /* Align16: components that are written */
	uint8_t macro; /* of acc2 to acc9, which has more bits of it; EU_NO_MACRO */
	int16_t offset;
	uint16_t last; /* bytes from the base to the end of the last element */
	uint64_t imm;
	uint32_t scalar; /* an immediate as a dword */
	/* Bytes from the base (indirect) or from the first register (direct) to each lane. */
	uint16_t at[EU_LANES];
	/* An immediate as one value for each lane, in the element's own size. */
	uint64_t values[EU_LANES];
};

struct eu_exec;
struct eu_insn;

/* What a handler returns. */
enum eu_step {
	EU_NEXT, /* go on with the next instruction */
	EU_JUMP, /* go on at the thread's ip */
	EU_CLOCK, /* not executed: eu_alu() needs the time */
	EU_YIELD, /* the thread waits or has ended */
	EU_FAILED, /* x->error says why */
};

typedef enum eu_step (*eu_handler)(struct eu_exec *x, const struct eu_insn *i);

/* What a fast handler reads of a source: 8 bytes, so that all are near the instruction's start. */
struct eu_near {
	uint16_t at;
	uint8_t kind;
	bool negate, absolute, is_signed;
	uint16_t spare;
};

struct eu_insn {
	/* The first 128 bytes are what fast handlers and the loop around them touch. */
	eu_handler run; /* for threads with the usual floating-point mode */
	eu_handler general; /* right for each mode */
	struct eu_insn *next;
	struct eu_insn *jump; /* where EU_JUMP led last time */
	struct eu_near near[3];
	uint32_t ip; /* from the instruction base */
	uint32_t all; /* a bit for each lane */
	uint32_t scalar[3]; /* immediates */
	uint16_t dst_at;
	bool dst_null;
	bool across; /* in two pages */
	uint8_t op;
	uint8_t size; /* 8 or 16 bytes */
	uint8_t lanes;
	uint8_t first; /* channel of lane 0 */
	uint8_t predicate;
	uint8_t condition; /* a function for math, the shared function for sends */
	uint8_t flag; /* first bit of the flag register, of 64 */
	bool inverted;
	bool no_mask;
	bool saturate;
	bool write_acc;
	bool branch_control;
	bool align16;
	bool eot;
	uint8_t sources;
	uint8_t exec_type; /* of an integer operation: its width and sign */
	int32_t jip, uip;
	/* Sends. */
	bool desc_register, ex_desc_register;
	uint8_t desc_address, ex_desc_address;
	uint32_t desc, ex_desc;
	struct eu_operand dst;
	struct eu_operand src[3];
	uint32_t raw[4];
	const char *refused; /* decoded, but not executed: why */
	enum eu_status refused_status;
};

enum { EU_PAGE_SLOTS = EU_PAGE_BYTES / 8 };

/* Instructions of one page, decoded when they are first executed. */
struct eu_code_page {
	struct eu_code_page *following; /* in its list of the cache */
	struct eu_code_page *older, *newer; /* by the last fetch */
	uint64_t hash; /* of number and bytes */
	uint32_t number; /* in pages from the instruction base */
	unsigned int users; /* slots of workers */
	size_t total_bytes; /* with its instructions */
	struct eu_insn *insn[EU_PAGE_SLOTS];
	uint8_t bytes[EU_PAGE_BYTES]; /* what they were decoded from */
};

enum { EU_CACHE_LISTS = 1024 };

struct eu_cache {
	pthread_mutex_t lock; /* all below, and what is in a page; instructions never change */
	struct eu_code_page *pages[EU_CACHE_LISTS]; /* by hash */
	struct eu_code_page newest; /* the ends of the order of fetches */
	size_t most;
	uint64_t clock; /* never less than that of a run before */
	struct eu_cache_counters counters;
};

enum eu_thread_state { EU_THREAD_READY, EU_THREAD_WAITS, EU_THREAD_ENDED };

/* A thread of the GPU: no pointers, so that it is saved by copying. */
struct eu_thread {
	_Alignas(64) uint8_t reg[EU_REGS_BYTES];
	int32_t acc_high[16]; /* upper halves of the accumulators' dwords */
	uint32_t mask; /* lanes that execute */
	uint32_t waiting; /* lanes that wait for ip at[] at call depth depth_of[]; EU_AFTER_LOOP */
	uint32_t at[EU_LANES];
	uint16_t depth_of[EU_LANES];
	uint16_t depth;
	uint16_t index; /* in its group */
	uint32_t ip;
	uint32_t state;
};

/* In at[]: the instruction ends a loop, and the lane goes on behind it. */
enum { EU_AFTER_LOOP = 1 };

enum { EU_TLB_SLOTS = 64, EU_CODE_SLOTS = 16, EU_ACROSS_SLOTS = 4 };

struct eu_tlb_slot {
	uint64_t page; /* address with bit 0 set if valid */
	uint8_t *host;
};

/* Surfaces and samplers as the hardware would cache them: for one call of eu_run(). */
struct eu_surface {
	bool valid;
	uint8_t type, tile;
	uint8_t select[4]; /* channels, as RENDER_SURFACE_STATE encodes them */
	uint8_t texel_bytes;
	const struct eu_format *format; /* NULL for RAW */
	uint32_t width, height, depth; /* in texels; of an array, depth is its length */
	uint32_t pitch; /* bytes */
	uint32_t qpitch; /* rows from one slice to the next */
	uint32_t halign, valign;
	uint32_t levels, min_level, min_slice;
	bool array;
	uint64_t address;
	uint64_t bytes; /* of a buffer */
};

enum {
	EU_SURFACE_1D,
	EU_SURFACE_2D,
	EU_SURFACE_3D,
	EU_SURFACE_CUBE,
	EU_SURFACE_BUFFER,
	EU_SURFACE_STRUCTURED,
	EU_SURFACE_NULL = 7
};

enum eu_format_type { EU_UNORM, EU_SNORM, EU_UINT, EU_SINT, EU_FLOAT };

/* A format of texels: up to four channels of 0 to 32 bits each, from bit 0 up. */
struct eu_format {
	uint16_t code; /* of RENDER_SURFACE_STATE */
	uint8_t type;
	uint8_t bits[4]; /* of red, green, blue, alpha */
	uint8_t shift[4]; /* first bit */
	uint8_t texel_bytes;
	bool srgb;
	uint8_t luminance; /* red is green and blue, too; with 2, alpha as well */
};

struct eu_exec {
	struct eu_thread *t;
	const struct eu_run *run;
	struct eu_group *group;
	struct eu_code_page *code[EU_CODE_SLOTS]; /* by number: what the worker may execute */
	struct eu_insn across[EU_ACROSS_SLOTS];
	uint64_t waits; /* a bit for some places: no lane of @t waits where it is clear */
	uint8_t *slm;
	uint32_t slm_bytes;
	bool plain; /* the current thread's floating-point mode is the usual one */
	uint64_t lanes, messages, instructions, counted_instructions;
	uint64_t now; /* the clock of the instruction that reads it */
	struct eu_memory memory;
	const struct eu_insn *insn; /* to blame for a fault; NULL while state is read */
	struct eu_tlb_slot tlb[4][EU_TLB_SLOTS];
	struct eu_surface surfaces[256];
	struct eu_error error;
};

/* A thread group in flight. */
struct eu_group {
	uint32_t id[3];
	uint32_t threads, ended, arrived;
	uint32_t current; /* thread that goes on first */
	uint32_t worker;
	uint32_t turn; /* instructions left before another thread's turn */
	bool active;
	struct eu_thread *thread;
	uint8_t *slm;
};

enum { EU_MAX_WORKERS = 64 };

struct eu_run {
	struct eu_cache *cache;
	struct eu_memory memory;
	struct eu_dispatch dispatch;
	uint8_t *constants;
	unsigned int workers;
	struct eu_counters counters;
	uint64_t next; /* group that is started next, in the walker's order */
	uint64_t total; /* groups */
	enum eu_status status;
	struct eu_exec *exec; /* one for each worker */
	struct eu_group *group;
	pthread_mutex_t lock; /* next, counters while workers run */
	uint64_t budget; /* of this call, what is left; under the lock with workers */
};

/* run.c */
int eu_run_allocate(struct eu_run *run);
uint32_t eu_run_group_threads(const struct eu_run *run);
/* compact.c */
void eu_decompact(uint64_t compact, uint32_t raw[4]);
/* decode.c */
int eu_decode(const uint8_t *bytes, size_t room, struct eu_insn *i);
const char *eu_op_name(unsigned int op);
/* program.c */
struct eu_insn *eu_program_insn(struct eu_exec *x, uint32_t ip);
void eu_program_leave(struct eu_exec *x);
/* The clock, after it is set to @least if it was less. */
uint64_t eu_cache_clock(struct eu_cache *cache, uint64_t least);
/* bind.c: which handlers an instruction has */
void eu_bind(struct eu_insn *i);
eu_handler eu_fast_handler_any(const struct eu_insn *i);
eu_handler eu_fast_handler_v3(const struct eu_insn *i); /* x86-64-v3 */
/* alu.c */
enum eu_step eu_alu(struct eu_exec *x, const struct eu_insn *i);
void eu_mode_set(struct eu_exec *x);
/* math.c */
enum eu_step eu_math(struct eu_exec *x, const struct eu_insn *i);
/* macro.c */
enum eu_step eu_macro(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes);
enum eu_step eu_madm(struct eu_exec *x, const struct eu_insn *i);
/* flow.c */
enum eu_step eu_flow(struct eu_exec *x, const struct eu_insn *i);
void eu_flow_resume(struct eu_exec *x);
void eu_flow_wake(struct eu_exec *x, const struct eu_insn *i);
/* send.c */
enum eu_step eu_send(struct eu_exec *x, const struct eu_insn *i);
/* fast_send.c */
eu_handler eu_fast_send(const struct eu_insn *i);

/* A message as a shared function sees it. */
struct eu_message {
	uint32_t desc, ex_desc;
	uint32_t sfid;
	uint32_t mask; /* lanes */
	uint32_t registers; /* of the payload, without header */
	uint32_t response; /* registers */
	const uint8_t *header; /* NULL without one */
	uint8_t *answer; /* response registers in the thread */
	/* The payload, copied: an answer may overlap it. */
	_Alignas(64) uint8_t data[31 * EU_REG_BYTES + EU_REG_BYTES];
};

/* dataport.c */
enum eu_step eu_dataport(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m);
enum eu_step eu_blocks(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m);
/* sampler.c */
enum eu_step eu_sampler(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m);
enum eu_step eu_typed(struct eu_exec *x, const struct eu_insn *i, struct eu_message *m);
/* surface.c */
const struct eu_surface *eu_surface_get(struct eu_exec *x, const struct eu_insn *i, uint32_t index);
uint64_t eu_surface_byte(const struct eu_surface *s, uint32_t column, uint32_t row);
uint64_t eu_surface_texel(const struct eu_surface *s, uint32_t x, uint32_t y, uint32_t z,
			  uint32_t level);
/* format.c */
const struct eu_format *eu_format_of(uint32_t code);
void eu_texel_unpack(const struct eu_format *f, const uint8_t *texel, uint32_t channels[4]);
void eu_texel_pack(const struct eu_format *f, const uint32_t channels[4], uint8_t *texel);

/* memory.c */
uint8_t *eu_map(struct eu_exec *x, uint64_t address, enum eu_access access);
int eu_read(struct eu_exec *x, uint64_t address, void *to, size_t bytes, enum eu_access access);
int eu_write(struct eu_exec *x, uint64_t address, const void *from, size_t bytes);
void eu_tlb_flush(struct eu_exec *x);

/* error.c */
enum eu_step eu_fail(struct eu_exec *x, const struct eu_insn *i, enum eu_status status,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* float.c: conversions that depend on the rounding mode */
float eu_half_to_float(uint16_t h);
uint16_t eu_float_to_half(float f, unsigned int rounding);
uint16_t eu_double_to_half(double d, unsigned int rounding);

enum {
	EU_CR0_SINGLE_FLOW = 1 << 2,
	EU_CR0_ROUNDING_SHIFT = 4,
	EU_CR0_DF_DENORMALS = 1 << 6,
	EU_CR0_F_DENORMALS = 1 << 7,
	EU_CR0_HF_DENORMALS = 1 << 10
};

static inline uint32_t *eu_flags(struct eu_thread *t)
{
	return (uint32_t *)(void *)(t->reg + EU_REG_F0);
}

static inline uint32_t eu_reg32(const struct eu_thread *t, uint32_t offset)
{
	uint32_t v;

	__builtin_memcpy(&v, t->reg + offset, sizeof(v));
	return v;
}

static inline void eu_set_reg32(struct eu_thread *t, uint32_t offset, uint32_t v)
{
	__builtin_memcpy(t->reg + offset, &v, sizeof(v));
}

/* A flag register's bits for the lanes of an instruction, lane 0 first. */
static inline uint32_t eu_flag_bits(const struct eu_thread *t, const struct eu_insn *i)
{
	return eu_reg32(t, EU_REG_F0 + (i->flag >> 5) * 4) >> (i->flag & 31);
}

static inline void eu_set_flags(struct eu_thread *t, const struct eu_insn *i, uint32_t lanes,
				uint32_t bits)
{
	uint32_t at = EU_REG_F0 + (i->flag >> 5) * 4, shift = i->flag & 31;
	uint32_t old = eu_reg32(t, at);

	eu_set_reg32(t, at, (old & ~(lanes << shift)) | (bits & lanes) << shift);
}

/* The bit of eu_exec.waits for a place in a kernel. */
static inline uint64_t eu_wait_bit(uint32_t ip)
{
	return 1ull << (ip / 8 & 63);
}

uint32_t eu_predicate_any(const struct eu_thread *t, const struct eu_insn *i);

/* The predicate of each lane, before the mask of lanes. */
static inline uint32_t eu_predicate(const struct eu_thread *t, const struct eu_insn *i)
{
	uint32_t bits = eu_flag_bits(t, i);

	if (__builtin_expect(i->predicate == 1, 1))
		return i->inverted ? ~bits : bits;
	return eu_predicate_any(t, i);
}

/* Lanes for which an instruction is executed; the predicate of a sel selects instead. */
static inline uint32_t eu_lanes(const struct eu_thread *t, const struct eu_insn *i)
{
	uint32_t lanes = i->no_mask ? i->all : (t->mask >> i->first) & i->all;

	if (i->predicate && i->op != EU_SEL)
		lanes &= eu_predicate(t, i);
	return lanes;
}

#endif
