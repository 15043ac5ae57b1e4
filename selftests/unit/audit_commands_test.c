// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables: every command once, decodable, with operands inside it, and lengths as the
 * hardware's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ghyvi_shim.h>
#include <cmocka.h>
#include <ghyvi/commands.h>
#include <ghyvi/engines.h>
#include "audit/shortcuts.h"
#include "audit/tables.h"

static unsigned int dwords_of(enum ghyvi_engine_id engine, u32 header)
{
	return ghyvi_command_dwords(engine, ghyvi_command_find(engine, header), header);
}

static void lengths_follow_the_table(void **state)
{
	static const struct {
		enum ghyvi_engine_id engine;
		u32 header;
		unsigned int dwords;
	} rows[] = {
		{ GHYVI_RCS, 0x00000000, 1 },
		{ GHYVI_RCS, 0x05000000, 1 }, /* NOOP, BATCH_BUFFER_END */
		{ GHYVI_RCS, 0x07ffffff, 1 }, /* opcode 0x0f */
		{ GHYVI_RCS, 0x100003ff, 1025 },
		{ GHYVI_RCS, 0x118003ff, 1025 },
		{ GHYVI_RCS, 0x138003ff, 1025 }, /* STORE_DATA_IMM, UPDATE_GTT, CLFLUSH */
		{ GHYVI_VCS, 0x13000082, 4 }, /* FLUSH_DW: bit 7 is a flag */
		{ GHYVI_RCS, 0x14000042, 4 },
		{ GHYVI_RCS, 0x09000041, 3 },
		{ GHYVI_RCS, 0x09800041, 3 },
		{ GHYVI_RCS, 0x110000ff, 257 },
		{ GHYVI_BCS, 0x18800101, 3 },
		{ GHYVI_BCS, 0x54000005, 7 },
		{ GHYVI_RCS, 0x54000005, 0 },
		{ GHYVI_RCS, 0x7a000004, 6 },
		{ GHYVI_BCS, 0x7a000004, 0 },
		{ GHYVI_RCS, 0x69040001, 1 },
		{ GHYVI_RCS, 0x680b0000, 1 }, /* PIPELINE_SELECT, ... */
		{ GHYVI_RCS, 0x61010011, 19 }, /* STATE_BASE_ADDRESS */
		{ GHYVI_RCS, 0x70000107, 0x109 },
		{ GHYVI_RCS, 0x71050f0f, 0x11 }, /* media; WALKER */
		{ GHYVI_RCS, 0x791701ff, 0x201 },
		{ GHYVI_RCS, 0x784301ff, 0x201 },
		{ GHYVI_RCS, 0x783907ff, 0x801 },
		{ GHYVI_RCS, 0x7b000005, 7 },
		{ GHYVI_VCS, 0x70000fff, 0x1001 },
		{ GHYVI_VECS, 0x7000f001, 3 },
		{ GHYVI_VCS, 0x68000100, 1 },
		{ GHYVI_VCS, 0x68000101, 2 }, /* MFX_WAIT */
		{ GHYVI_RCS, 0x20000000, 0 },
		{ GHYVI_RCS, 0x80000000, 0 },
		{ GHYVI_RCS, 0xffffffff, 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		if (dwords_of(rows[i].engine, rows[i].header) != rows[i].dwords)
			fail_msg("%#x on engine %d: %u", rows[i].header, rows[i].engine,
				 dwords_of(rows[i].engine, rows[i].header));
	(void)state;
}

/* Of all headers that differ in the bits that identify a command. */
static void each_command(void (*visit)(enum ghyvi_engine_id engine, u32 header,
				       const struct ghyvi_command *command))
{
	unsigned int engine;
	u32 name;

	for (engine = 0; engine < GHYVI_ENGINES; engine++)
		for (name = 0; name < 0x10000; name++) {
			const struct ghyvi_command *command;

			command = ghyvi_command_find(engine, name << 16);
			if (command)
				visit(engine, name << 16, command);
		}
}

static unsigned int seen;

static void check_row(enum ghyvi_engine_id engine, u32 header, const struct ghyvi_command *command)
{
	unsigned int i, shortest, longest;

	seen++;
	assert_non_null(command->name);
	assert_true(command->engines & BIT(engine));
	assert_true(command->gen == 8 || command->gen == 9);
	assert_true(command->least >= 1 && command->least <= command->most);
	if (!command->length_bits) {
		assert_int_equal(command->least, 1);
		assert_int_equal(command->most, 1);
		assert_int_equal(dwords_of(engine, header | 0xffff), 1);
		return;
	}
	shortest = command->least == 1 ? 1 : 2;
	longest = (1u << command->length_bits) - 1 + shortest;
	assert_true(command->least <= longest);
	assert_int_equal(dwords_of(engine, header), shortest);
	assert_int_equal(dwords_of(engine, header | (longest - shortest)), longest);
	assert_true(command->reads_register < command->least);
	assert_true(command->writes_register < command->least);
	for (i = 0; i < ARRAY_SIZE(command->addresses); i++)
		if (command->addresses[i].space) {
			assert_true(command->addresses[i].dword > 0);
			assert_true(command->addresses[i].access);
		}
}

static void rows_are_sound(void **state)
{
	each_command(check_row);
	assert_true(seen >
		    1000); /* 64 MI opcodes come once for each value of the bits below them */
}

static void check_source(enum ghyvi_engine_id engine, u32 header,
			 const struct ghyvi_command *command)
{
	if (command->source == GHYVI_SOURCE_NONE || command->source > GHYVI_SOURCE_GVT)
		fail_msg("%s on %s: source %u", command->name, ghyvi_engine_name(engine),
			 command->source);
}

static void each_command_has_a_source(void **state)
{
	each_command(check_source);
}

static const char *name_of(enum ghyvi_engine_id engine, u32 header)
{
	const struct ghyvi_command *command = ghyvi_command_find(engine, header);

	return command ? command->name : "";
}

static void each_engine_has_only_its_commands(void **state)
{
	assert_string_equal(name_of(GHYVI_RCS, 0x7a000004), "PIPE_CONTROL");
	assert_string_equal(name_of(GHYVI_BCS, 0x7a000004), "");
	assert_string_equal(name_of(GHYVI_VCS, 0x7a000004), "");
	assert_string_equal(name_of(GHYVI_BCS, 0x54c00008), "XY_SRC_COPY_BLT");
	assert_string_equal(name_of(GHYVI_RCS, 0x54c00008), "");
	assert_string_equal(name_of(GHYVI_RCS, 0x61010011), "STATE_BASE_ADDRESS");
	assert_string_equal(name_of(GHYVI_RCS, 0x70000007), "MEDIA_VFE_STATE");
	assert_string_equal(name_of(GHYVI_VCS, 0x70000003), "MFX_PIPE_MODE_SELECT");
	assert_string_equal(name_of(GHYVI_VCS, 0x73a00001), "HCP_BSD_OBJECT");
	assert_string_equal(name_of(GHYVI_VECS, 0x74020000), "VEBOX_STATE");
	assert_string_equal(name_of(GHYVI_VECS, 0x74030012), "VEB_DI_IECP");
	assert_string_equal(name_of(GHYVI_VECS, 0x70000003), "");
	assert_string_equal(name_of(GHYVI_VCS, 0x11000001), "MI_LOAD_REGISTER_IMM");
	assert_string_equal(name_of(GHYVI_VCS, 0x70880000), "VDENC_WEIGHTSOFFSETS_STATE");
	assert_string_equal(name_of(GHYVI_RCS, 0x0b000000), ""); /* SEMAPHORE_MBOX */
	assert_string_equal(name_of(GHYVI_RCS, 0x0c000000), ""); /* SET_CONTEXT */
}

static void kernel_and_user_rules_differ_where_the_hardware_does(void **state)
{
	const struct ghyvi_command *store = ghyvi_command_find(GHYVI_RCS, 0x10000002);
	const struct ghyvi_command *wait = ghyvi_command_find(GHYVI_RCS, 0x0e000002);

	assert_int_equal(ghyvi_command_rule(store, 0x10400002, true), GHYVI_ALLOWED);
	assert_int_equal(ghyvi_command_rule(store, 0x10400002, false), GHYVI_DROPPED);
	assert_int_equal(ghyvi_command_rule(store, 0x10000002, false), GHYVI_ALLOWED);
	assert_int_equal(ghyvi_command_rule(wait, 0x0e400002, false), GHYVI_REFUSED);
	assert_int_equal(ghyvi_command_rule(wait, 0x0e400002, true), GHYVI_ALLOWED);
}

static int right_of(enum ghyvi_engine_id engine, u32 offset)
{
	const struct ghyvi_register_rule *rule = ghyvi_register_find(engine, offset);

	return rule ? rule->right : -1;
}

static void registers_are_an_allow_list(void **state)
{
	static const u32 never[] = {
		0x2230,	  0x2234,  0x2080,  0x2030,   0x2034,  0x2038,	  0x203c, 0x20d0,
		0x229c,	  0x24cc,  0x2270,  0x941c,   0x44200, 0x44304,	  0x4260, 0x101008,
		0x100000, 0x78000, 0x78818, 0x138124, 0x45400, 0x1fffffc, 0,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(never); i++)
		assert_int_equal(right_of(GHYVI_RCS, never[i]), -1);
	assert_int_equal(right_of(GHYVI_RCS, 0x2600), GHYVI_REGISTER_GPR);
	assert_int_equal(right_of(GHYVI_RCS, 0x267c), GHYVI_REGISTER_GPR);
	assert_int_equal(right_of(GHYVI_RCS, 0x2680), -1);
	assert_int_equal(right_of(GHYVI_BCS, 0x2600), -1); /* another engine's */
	assert_int_equal(right_of(GHYVI_BCS, 0x22600), GHYVI_REGISTER_GPR);
	assert_int_equal(right_of(GHYVI_VCS, 0x22358), GHYVI_REGISTER_READ_ONLY);
	assert_int_equal(right_of(GHYVI_RCS, 0x20d4), GHYVI_REGISTER_READ_ONLY);
	assert_int_equal(right_of(GHYVI_RCS, 0x20e0), GHYVI_REGISTER_READ_ONLY);
	assert_int_equal(right_of(GHYVI_VECS, 0x1a09c), GHYVI_REGISTER_CONTROL);
	assert_int_equal(right_of(GHYVI_RCS, 0x7014), GHYVI_REGISTER_LISTED);
	assert_int_equal(right_of(GHYVI_RCS, 0x2088), GHYVI_REGISTER_KERNEL);
}

/* Each register that a context saves has a slot, and each slot a register. */
static void slots_of_registers_are_their_own(void **state)
{
	u32 offsets[GHYVI_CONTEXT_SLOTS], offset, saved;
	const struct ghyvi_register_rule *rule;
	unsigned int engine, i;
	int slot;

	for (engine = 0; engine < GHYVI_ENGINES; engine++) {
		ghyvi_register_slots(engine, offsets);
		for (offset = 0, saved = 0; offset < GHYVI_REGISTERS_END; offset += 4) {
			rule = ghyvi_register_find(engine, offset);
			slot = rule ? ghyvi_register_slot(engine, rule, offset) : -1;
			if (slot < 0)
				continue;
			assert_int_equal(offsets[slot], offset);
			saved++;
		}
		for (i = 0; i < GHYVI_CONTEXT_SLOTS; i++)
			saved -= !!offsets[i];
		assert_int_equal(saved, 0);
		assert_int_equal(offsets[0], ghyvi_engine_base(engine) + 0x400);
		assert_true(engine != GHYVI_RCS || offsets[GHYVI_CONTEXT_SLOTS - 1]);
	}
}

/*
 * Each plain command has a shortcut with the values of its row. No other command has one.
 */
static void shortcuts_are_the_plain_commands(void **state)
{
	const struct ghyvi_command *command;
	const struct audit_shortcut *shortcut;
	unsigned int gen, engine;
	u32 name, header;

	for (gen = 8; gen <= 9; gen++)
		for (engine = 0; engine < GHYVI_ENGINES; engine++)
			for (name = 0; name < 0x10000; name++) {
				header = name << 16 | 0x5a5a;
				command = ghyvi_command_find(engine, header);
				shortcut = audit_shortcut_find(&ghyvi_audit_shortcuts(gen)[engine],
							       header);
				if (!command || !command->plain || command->gen > gen) {
					assert_true(shortcut->least > shortcut->most);
					continue;
				}
				assert_int_equal(shortcut->least, command->least);
				assert_int_equal(shortcut->most, command->most);
				assert_int_equal(audit_shortcut_length(shortcut, header),
						 ghyvi_command_length(command, header));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_follow_the_table),
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(each_command_has_a_source),
		cmocka_unit_test(each_engine_has_only_its_commands),
		cmocka_unit_test(kernel_and_user_rules_differ_where_the_hardware_does),
		cmocka_unit_test(registers_are_an_allow_list),
		cmocka_unit_test(slots_of_registers_are_their_own),
		cmocka_unit_test(shortcuts_are_the_plain_commands),
	};

	return cmocka_run_group_tests_name("audit commands", tests, NULL, NULL);
}
