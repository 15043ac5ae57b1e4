// SPDX-License-Identifier: GPL-2.0-only
/*
 * decoded DIRECTORY FILE...: how the library decodes each instruction of each kernel in the files,
 * a JSON object a line. The code of each kernel is written to the directory, so that Intel's
 * disassembler can read it; decode_check compares both. A file whose name ends in .expected has
 * the bytes of instructions in hexadecimal, as tests of Mesa's assembler have them.
 */
#include "../../userspace/eu/machine.h"
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[EU_TYPES] = { "ud", "d", "uw", "w", "ub", "b",
					     "df", "f", "uq", "q", "hf" };

/* The architecture's registers in the array of all: where each kind begins. */
static const struct {
	const char *name;
	unsigned int first;
} registers[] = {
	{ "r", 0 },	     { "null", EU_REG_NULL }, { "a", EU_REG_A0 },    { "acc", EU_REG_ACC0 },
	{ "f", EU_REG_F0 },  { "ce", EU_REG_CE0 },    { "sr", EU_REG_SR0 },  { "cr", EU_REG_CR0 },
	{ "n", EU_REG_N0 },  { "ip", EU_REG_IP },     { "tdr", EU_REG_TDR }, { "tm", EU_REG_TM0 },
	{ "sp", EU_REG_SP },
};

static void print_operand(const struct eu_insn *i, const struct eu_operand *o)
{
	unsigned int n, kind = 0;

	printf("{\"type\": \"%s\", \"negate\": %d, \"absolute\": %d", types[o->type], o->negate,
	       o->absolute);
	if (o->file == EU_FILE_IMM) {
		printf(", \"values\": [");
		for (n = 0; n < i->lanes; n++)
			printf("%s%llu", n ? ", " : "", (unsigned long long)o->values[n]);
		printf("]}");
		return;
	}
	if (o->indirect)
		printf(", \"address\": %u, \"offset\": %d, \"rows\": %u", o->address, o->offset,
		       o->rows ? o->width : 0);
	if (i->align16 && i->sources < 3 && o != &i->dst)
		printf(", \"swizzled\": 1");
	if (i->op == EU_MADM || (i->op == EU_MATH && i->condition >= 14))
		printf(", \"macro\": %u", o->macro);
	for (n = 1; n < sizeof(registers) / sizeof(registers[0]); n++)
		if (o->at[0] >= registers[n].first)
			kind = n;
	printf(", \"file\": \"%s\", \"at\": [", registers[kind].name);
	for (n = 0; n < i->lanes; n++)
		printf("%s%u", n ? ", " : "", o->at[n] - registers[kind].first);
	printf("]}");
}

static bool is_send(const struct eu_insn *i)
{
	return i->op >= EU_SEND && i->op <= EU_SENDSC;
}

static void print_instruction(const struct eu_insn *i, uint32_t pc)
{
	bool flow = i->op >= EU_JMPI && i->op <= EU_JOIN;
	unsigned int n;

	printf("{\"pc\": %u, \"size\": %u, \"op\": \"%s\", \"lanes\": %u, \"first\": %u", pc,
	       i->size, eu_op_name(i->op) ? eu_op_name(i->op) : "none", i->lanes, i->first);
	printf(", \"no_mask\": %d, \"predicate\": %u, \"inverted\": %d, \"flag\": %u", i->no_mask,
	       i->predicate, i->inverted, i->flag);
	printf(", \"condition\": %u, \"saturate\": %d, \"acc\": %d", i->condition, i->saturate,
	       i->write_acc);
	if (is_send(i)) {
		printf(", \"dst\": %d, \"payload\": %u, \"second\": %d",
		       i->dst.null ? -1 : i->dst.at[0] / EU_REG_BYTES,
		       i->src[0].at[0] / EU_REG_BYTES,
		       i->src[1].at[0] ? i->src[1].at[0] / EU_REG_BYTES : -1);
		printf(", \"desc\": %u, \"ex_desc\": %u, \"eot\": %d, \"registers\": %d", i->desc,
		       i->ex_desc, i->eot, i->desc_register + 2 * i->ex_desc_register);
	} else if (flow) {
		printf(", \"jip\": %d, \"uip\": %d", i->jip, i->uip);
	} else if (i->op != EU_NOP && eu_op_name(i->op)) {
		printf(", \"dst\": ");
		print_operand(i, &i->dst);
		printf(", \"src\": [");
		for (n = 0; n < i->sources; n++) {
			printf("%s", n ? ", " : "");
			print_operand(i, &i->src[n]);
		}
		printf("]");
	}
	printf("}\n");
}

static int print_kernel(const struct kernel *k, const char *directory, unsigned int number)
{
	char path[4096];
	uint32_t pc = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u.%s.bin", directory, number, k->name);
	f = fopen(path, "wb");
	if (!f || fwrite(k->code, 1, k->code_used, f) != k->code_used || fclose(f)) {
		perror(path);
		return 1;
	}
	printf("{\"kernel\": \"%s\"}\n", path);
	while (pc < k->code_used) {
		struct eu_insn i;
		int size = eu_decode(k->code + pc, k->code_used - pc, &i);

		if (!size)
			return 1;
		print_instruction(&i, pc);
		pc += (uint32_t)size;
	}
	return 0;
}

static int load_bytes(struct kernel *k, const char *path)
{
	enum { MOST_BYTES = 1 << 20 };
	FILE *f = fopen(path, "r");
	unsigned int byte;

	*k = (struct kernel){ .name = "assembled", .file = malloc(MOST_BYTES) };
	if (!f || !k->file) {
		perror(path);
		exit(1);
	}
	while (k->code_used < MOST_BYTES && fscanf(f, "%2x", &byte) == 1)
		k->file[k->code_used++] = (uint8_t)byte;
	k->code = k->file;
	fclose(f);
	return k->code_used ? 0 : -1;
}

static int load(struct kernel *k, const char *path, unsigned int number)
{
	const char *dot = strrchr(path, '.');

	if (!dot || strcmp(dot, ".expected"))
		return kernel_load_nth(k, path, number);
	return number ? -1 : load_bytes(k, path);
}

int main(int argc, char **argv)
{
	unsigned int n, number;

	if (argc < 3) {
		fprintf(stderr, "usage: %s DIRECTORY FILE...\n", argv[0]);
		return 2;
	}
	for (n = 2; n < (unsigned int)argc; n++) {
		struct kernel k;

		for (number = 0; !load(&k, argv[n], number); number++) {
			if (print_kernel(&k, argv[1], n - 2))
				return 1;
			kernel_free(&k);
		}
		if (!number) {
			fprintf(stderr, "decoded: no kernel in %s\n", argv[n]);
			return 1;
		}
	}
	return 0;
}
