// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of commands and registers, line by line, as audit_tables.golden has them: a change of
 * a right, a length or a mask shows as a difference, to be read against the manuals. `GHYVI_RENEW=1
 * audit_tables_test` writes the file from the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>

#define GOLDEN "audit_tables.golden"
#define LINE_BYTES 256

static const char *const rules[] = { "refused", "dropped", "allowed", "own-space",
				     "own-or-refused" };
static const char *const spaces[] = { "none", "ppgtt", "bit22", "bit21", "dword1-bit0", "post" };
static const char *const checks[] = { "none",	    "batch-start", "batch-end", "batch-may-end",
				      "load-imm",   "semaphore",   "flush-dw",	"pipe-control",
				      "update-gtt", "store-data",  "atomic" };
static const char *const hardware[] = { "unknown", "context", "operands", "shared" };
static const char *const rights[] = { "read-only", "kernel", "control", "listed", "all", "gpr" };

static void list_command(FILE *to, u32 first, u32 last, const struct ghyvi_command *command)
{
	const struct ghyvi_command_address *address = command->addresses;
	unsigned int i;

	fprintf(to, "%08x-%08x %s engines=%x gen=%u dwords=%u..%u bits=%u kernel=%s user=%s%s",
		first, last, command->name, command->engines, command->gen, command->least,
		command->most, command->length_bits, rules[command->kernel], rules[command->user],
		command->plain ? " plain" : "");
	fprintf(to, " hardware=%s", hardware[command->hardware]);
	if (command->check)
		fprintf(to, " check=%s", checks[command->check]);
	if (command->reads_register || command->writes_register)
		fprintf(to, " registers=%u,%u", command->reads_register, command->writes_register);
	for (i = 0; i < ARRAY_SIZE(command->addresses); i++)
		if (address[i].space)
			fprintf(to, " address=%u,%s,%s%s,%u", address[i].dword,
				spaces[address[i].space],
				address[i].access & GHYVI_ADDRESS_READ ? "r" : "",
				address[i].access & GHYVI_ADDRESS_WRITE ? "w" : "",
				address[i].bytes);
	fputc('\n', to);
}

/* Each command with the headers, without their lower halves, that select it on @engine. */
static void list_commands(FILE *to, enum ghyvi_engine_id engine)
{
	const struct ghyvi_command *command, *before = NULL;
	u32 name, first = 0;

	fprintf(to, "commands of %s\n", ghyvi_engine_name(engine));
	for (name = 0; name <= 0x10000; name++) {
		command = name < 0x10000 ? ghyvi_command_find(engine, name << 16) : NULL;
		if (command == before)
			continue;
		if (before)
			list_command(to, first << 16, (name << 16) - 1, before);
		before = command;
		first = name;
	}
}

static void list_registers(FILE *to, enum ghyvi_engine_id engine)
{
	const struct ghyvi_register_rule *rule, *before = NULL;
	u32 offset, first = 0;

	fprintf(to, "registers of %s\n", ghyvi_engine_name(engine));
	for (offset = 0; offset <= GHYVI_REGISTERS_END; offset += 4) {
		rule = ghyvi_register_find(engine, offset);
		if (rule == before)
			continue;
		if (before)
			fprintf(to, "%06x-%06x %s%s slot=%d\n", first, offset - 1,
				rights[before->right], before->masked ? " masked" : "",
				ghyvi_register_slot(engine, before, first));
		before = rule;
		first = offset;
	}
}

static void list_all(FILE *to)
{
	unsigned int engine;

	for (engine = 0; engine < GHYVI_ENGINES; engine++)
		list_commands(to, engine);
	for (engine = 0; engine < GHYVI_ENGINES; engine++)
		list_registers(to, engine);
}

static void command_tables_match_the_golden_file(void **state)
{
	char line[LINE_BYTES], golden[LINE_BYTES];
	FILE *is = tmpfile(), *was = fopen(GOLDEN, "r");
	unsigned int number = 1;
	bool more, more_golden;

	assert_non_null(is);
	assert_non_null(was);
	list_all(is);
	rewind(is);
	for (;; number++) {
		more = fgets(line, sizeof(line), is);
		more_golden = fgets(golden, sizeof(golden), was);
		if (!more || !more_golden)
			break;
		if (strcmp(line, golden))
			fail_msg(GOLDEN ":%u is\n%sand the tables say\n%s", number, golden, line);
	}
	assert_int_equal(more, more_golden);
	assert_true(number > 600);
	fclose(is);
	fclose(was);
}

/* In a ring hardware restricts nothing, so a new row must say how far the command reaches. */
static void each_allowed_command_says_what_hardware_does(void **state)
{
	const struct ghyvi_command *command;
	unsigned int engine, known = 0;
	u32 name;

	for (engine = 0; engine < GHYVI_ENGINES; engine++)
		for (name = 0; name < 0x10000; name++) {
			command = ghyvi_command_find(engine, name << 16);
			if (!command ||
			    (command->kernel < GHYVI_ALLOWED && command->user < GHYVI_ALLOWED))
				continue;
			known++;
			if (!command->name) /* an empty row of a block */
				fail_msg("no name: %08x", name << 16);
			if (command->hardware == GHYVI_HARDWARE_UNKNOWN)
				fail_msg("%s does not say what hardware does", command->name);
		}
	assert_true(known > 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_tables_match_the_golden_file),
		cmocka_unit_test(each_allowed_command_says_what_hardware_does),
	};
	FILE *golden;

	if (getenv("GHYVI_RENEW")) {
		golden = fopen(GOLDEN, "w");
		if (!golden)
			return 1;
		list_all(golden);
		fclose(golden);
	}
	return cmocka_run_group_tests_name("audit tables", tests, NULL, NULL);
}
