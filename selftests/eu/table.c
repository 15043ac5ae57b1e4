// SPDX-License-Identifier: GPL-2.0-only
/* Writes Documentation/results/eu.md: what the execution units know, and how exactly. */
#include "../../userspace/eu/machine.h"

#include <stdio.h>
#include <string.h>

static const char *exactness(unsigned int op)
{
	switch (op) {
	case EU_MAC:
		return "exact for integers; floats: sums rounded in another order than hardware may";
	case EU_LRP:
	case EU_DP2:
	case EU_DP3:
	case EU_DP4:
	case EU_DPH:
		return "sums rounded in another order than hardware may";
	case EU_MADM:
		return "exact, floats and doubles, with two more bits of exponent in acc2 to acc9";
	case EU_MATH:
		return "see below";
	case EU_MACH:
	case EU_ADDC:
	case EU_SUBB:
		return "exact, with the accumulator of dwords";
	case EU_SMOV:
		return "exact; without conversion of floats";
	case EU_SENDC:
	case EU_SENDSC:
		return "as send: nothing is to be waited for";
	case EU_WAIT:
		return "exact, for n0";
	default:
		return "exact";
	}
}

static bool supported(unsigned int op)
{
	struct eu_insn i;

	memset(&i, 0, sizeof(i));
	i.op = (uint8_t)op;
	i.lanes = 8;
	eu_bind(&i);
	return !i.refused && op != EU_ILLEGAL_OP;
}

static const char *const functions[][2] = {
	{ "inv, fdiv, sqt", "exact (IEEE, one rounding), for floats and halves" },
	{ "log, exp, rsqt, sin, cos, pow",
	  "within 0.51 ulp to nearest, 1.01 in other rounding modes: computed in double, rounded once; "
	  "the manual allows hardware more. Infinities and NaNs as C's functions; pow of the absolute "
	  "value" },
	{ "idiv, iqot, irem", "exact; a division by zero gives the largest number" },
	{ "invm, rsqtm",
	  "zeros, infinities, NaNs: the result, with the early-out flag; else an estimate of 24 bits, "
	  "from which compilers' sequences of madm reach the correctly rounded result" },
};

static const char *const messages[][2] = {
	{ "data cache 1: untyped read, write", "exact, SIMD8 and SIMD16" },
	{ "data cache 1: untyped atomics, integers and floats, 32 bits", "exact" },
	{ "data cache 1: A64 scattered and untyped read, write", "exact" },
	{ "data cache 1: A64 atomics, 32 and 64 bits", "exact" },
	{ "data cache 1: A64 OWord block read, write", "exact" },
	{ "data cache 1: typed read, write", "exact, SIMD8" },
	{ "data cache 1: typed atomics of R32_UINT and R32_SINT", "exact, SIMD8" },
	{ "data cache 0: byte scattered and DWord scattered read, write", "exact" },
	{ "data cache 0: OWord block read, aligned and not, write", "exact" },
	{ "data cache 0: scratch block read, write", "exact" },
	{ "data cache 0: fence", "nothing to do: memory is coherent" },
	{ "constant cache, sampler cache: OWord block read, DWord scattered read", "exact" },
	{ "render cache, data cache 1: media block read, write", "exact, whole frames" },
	{ "gateway: barrier", "exact" },
	{ "spawner: end of thread", "exact" },
	{ "sampler: ld, ld_lz, resinfo", "exact" },
	{ "sampler: sample_lz, sample_l",
	  "nearest: exact; linear: weights are floats, hardware's have 8 bits" },
	{ "sampler: sample, sample_b, sample_d, sample_c, gather4", "unsupported" },
	{ "typed atomics of other formats, SIMD4x2 forms, URB, render targets, pixel interpolator, VME",
	  "unsupported" },
};

int main(void)
{
	unsigned int op, n;

	printf("# What the execution units know\n\n");
	printf("`userspace/eu` executes kernels of Gen9 (Skylake to Comet Lake). This table is generated\n"
	       "by `make -C selftests/eu table`. *Exact*: each bit is what the manual says. What is\n"
	       "unsupported ends the job as an error that names the instruction or message.\n\n");
	printf("Operands: Align1 with all regions, Align16, indirect addressing by a0 (also one address\n"
	       "for each row), types B to Q, HF, F, DF, vector immediates, accumulators acc0 and acc1,\n"
	       "predicates of all forms. Rounding and denormals follow cr0. Integers and floats in one\n"
	       "operation, 64-bit Align16 swizzles, indirect payloads are unsupported.\n\n");
	printf("| instruction | |\n| --- | --- |\n");
	for (op = 0; op < 128; op++)
		if (eu_op_name(op) && op != EU_ILLEGAL_OP)
			printf("| %s | %s |\n", eu_op_name(op),
			       supported(op) ? exactness(op) : "unsupported");
	printf("\n| math function | |\n| --- | --- |\n");
	for (n = 0; n < sizeof(functions) / sizeof(functions[0]); n++)
		printf("| %s | %s |\n", functions[n][0], functions[n][1]);
	printf("\n| message | |\n| --- | --- |\n");
	for (n = 0; n < sizeof(messages) / sizeof(messages[0]); n++)
		printf("| %s | %s |\n", messages[n][0], messages[n][1]);
	printf("\nCommands: STATE_BASE_ADDRESS, MEDIA_VFE_STATE, MEDIA_CURBE_LOAD,\n"
	       "MEDIA_INTERFACE_DESCRIPTOR_LOAD, GPGPU_WALKER, MEDIA_OBJECT with inline or indirect data\n"
	       "(with both: unsupported). Of a single program flow, only jmpi may branch.\n\n");
	printf("Threads of a group take turns of 65536 instructions; groups run in the walker's order.\n"
	       "The time stamp register counts instructions. Shared memory starts as zeros.\n");
	return 0;
}
