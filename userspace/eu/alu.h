/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GHYVI_EU_ALU_H
#define GHYVI_EU_ALU_H

#include "machine.h"

/* What an operation computes with: halves are floats, all integers are 64 bits. */
enum eu_kind { EU_KIND_INT, EU_KIND_FLOAT, EU_KIND_DOUBLE, EU_KIND_MIXED };

enum eu_kind eu_kind_of(const struct eu_insn *i);
int eu_gather(struct eu_exec *x, const struct eu_insn *i, unsigned int n, uint64_t *to);
int eu_load_int(struct eu_exec *x, const struct eu_insn *i, unsigned int n, int64_t *to);
int eu_load_float(struct eu_exec *x, const struct eu_insn *i, unsigned int n, float *to);
int eu_load_double(struct eu_exec *x, const struct eu_insn *i, unsigned int n, double *to);
int eu_scatter(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes, const uint64_t *from);
enum eu_step eu_finish_int(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			   const int64_t *exact);
enum eu_step eu_finish_float(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			     const float *exact);
enum eu_step eu_finish_double(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes,
			      const double *exact);

/* In a switch of operations: the result of a lane, by those of the operands in a, b and c. */
#define EACH(what)                              \
	for (lane = 0; lane < i->lanes; lane++) \
		a[lane] = (what);               \
	break

/* alu_int.c, alu_float.c */
enum eu_step eu_alu_int(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes);
enum eu_step eu_alu_float(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes);
enum eu_step eu_alu_double(struct eu_exec *x, const struct eu_insn *i, uint32_t lanes);

#endif
